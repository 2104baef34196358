//! The log in words: who did what, in which copy, with names hidden, and without revealing others' answers.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{create, open};
use dissensus_api::{
    HistoryEntry, HistoryRequest, MergeConsent, NewAttentionCheck, NewDecision, NewLabel, StudyRequest,
    TextQuery,
};
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, Answer, HistoryKind, LabelSource, QuestionId, Scale, ScaleKind, TextId};
use dissensus_editing::annotators;
use dissensus_editing::history;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_labelling::record;
use dissensus_labelling::undo;
use dissensus_project::jobs::Silent;
use dissensus_store::{CopyTarget, Store};
use dissensus_transfer::exchange;
use dissensus_transfer::study;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

const QUESTION: QuestionId = QuestionId(1);

/// Texts and two people, "Ada Lovelace" and "Ben".
fn project(folder: &Path) -> PathBuf {
    let path = folder.join("p.dissensus");
    let session = create(&path);
    let file = folder.join("texts.csv");
    let rows: String = (1..=6).map(|n| format!("t{n},Text number {n},stranger,{n}\n")).collect();
    std::fs::write(&file, format!("text_id,text,annotator_id,label\n{rows}")).unwrap();
    let choices = dissensus_api::ImportChoices { question: Some("rude".into()), ..Default::default() };
    exchange::import(&session.exchange, &file, &choices, None).unwrap();
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    questions::add(&session.project, AddQuestion::new("funny", "Is it funny?", scale)).unwrap();
    for name in ["Ada Lovelace", "Ben"] {
        annotators::add(&session.project, name, &Default::default()).unwrap();
    }
    session.close();
    path
}

fn person(session: &Session, name: &str) -> AnnotatorId {
    annotators::find(&session.project, name).unwrap().id
}

fn label(session: &Session, who: &str, text: u32, level: u16) {
    let annotator = person(session, who);
    let new = NewLabel {
        question: QUESTION,
        annotator,
        text: TextId(text),
        answer: Answer::from_level(level),
        duration_ms: None,
    };
    record::record_label(&session.labelling, &new).unwrap();
    next_millisecond();
}

/// Actions within one millisecond have no order in the log, and a test is faster than people.
fn next_millisecond() {
    std::thread::sleep(std::time::Duration::from_millis(3));
}

fn request() -> HistoryRequest {
    HistoryRequest { limit: 100, ..HistoryRequest::default() }
}

fn log(session: &Session, request: HistoryRequest) -> Vec<HistoryEntry> {
    let page = history::read(&session.project, &request).unwrap();
    assert!(!page.more);
    page.entries
}

/// Who did what, oldest first.
fn lines_of(entries: &[HistoryEntry]) -> Vec<String> {
    entries.iter().rev().map(|one| format!("{}: {}", one.who, one.what)).collect()
}

fn busy(session: &Session) {
    label(session, "Ada Lovelace", 1, 2);
    label(session, "Ada Lovelace", 1, 3);
    label(session, "Ben", 2, 1);
    let ada = person(session, "Ada Lovelace");
    undo::undo(&session.labelling, ada, QUESTION, LabelSource::Window).unwrap();
    next_millisecond();
    let (question, text) = (QUESTION, TextId(2));
    let (outcome, answer) = (dissensus_domain::Outcome::RealDifference, Some(Answer::from_level(4)));
    let (comment, by) = ("Ada Lovelace and Ben differ".to_owned(), "Ben".to_owned());
    study::decide(&session.study, &NewDecision { question, text, outcome, answer, comment, by }).unwrap();
}

#[test]
fn history_is_in_order_across_pages() {
    let folder = tempfile::tempdir().unwrap();
    let session = open(&project(folder.path()));
    busy(&session);
    let kinds = vec![HistoryKind::Answer, HistoryKind::Retraction, HistoryKind::Decision];
    let found = log(&session, HistoryRequest { kinds, ..request() });
    assert_eq!(
        lines_of(&found),
        [
            "Ada Lovelace: answered 3",
            "Ada Lovelace: changed 3 to 4",
            "Ben: answered 2",
            "Ada Lovelace: took back 4",
            "Ben: decided: real difference: 5",
        ]
    );
    assert_eq!(
        (found[0].note.as_deref(), found[0].text_id.as_deref()),
        (Some("Ada Lovelace and Ben differ"), Some("t2"))
    );
    assert!(
        found[1].copy.as_deref() == Some("this copy") && found[1].snippet.as_deref() == Some("Text number 1")
    );
    assert!(found[1].time.len() == "2026-03-01 14:05:31 +01:00".len(), "{}", found[1].time);

    let whole = log(&session, request());
    assert!(
        whole.iter().any(|one| one.kind == HistoryKind::Job && one.what == "importing texts.csv: finished")
    );
    assert_eq!(whole.iter().filter(|one| one.kind == HistoryKind::ImportedAnswer).count(), 6);
    let mut joined: Vec<HistoryEntry> = Vec::new();
    loop {
        let after = joined.last().map(|last: &HistoryEntry| last.place.clone());
        let page = history::read(&session.project, &HistoryRequest { after, limit: 4, ..request() }).unwrap();
        joined.extend(page.entries);
        if !page.more {
            break;
        }
    }
    assert_eq!(joined, whole);
    let wrong = history::read(&session.project, &HistoryRequest { after: Some("1:2".into()), ..request() });
    assert!(wrong.is_err());

    let words = |words: &str| log(&session, HistoryRequest { words: words.into(), ..request() });
    assert_eq!(words("LOVELACE").len(), 4, "what she did, and what names her");
    assert_eq!(words("t2").len(), 3);
    assert!(words("nothing like it").is_empty());
}

#[test]
fn hidden_names_become_pseudonyms_and_cannot_be_searched() {
    let folder = tempfile::tempdir().unwrap();
    let session = open(&project(folder.path()));
    busy(&session);
    let hidden = || HistoryRequest { hide_names: true, ..request() };
    let found = log(&session, hidden());
    assert_eq!(found.len(), log(&session, request()).len());
    for one in &found {
        let reported = format!("{} {} {:?}", one.who, one.what, one.copy);
        assert!(
            !reported.contains("Ada") && !reported.contains("Ben") && !reported.contains("stranger"),
            "{reported}"
        );
        assert!(one.who.is_empty() || one.who.starts_with('A'), "{reported}");
        assert!(one.annotator.is_none());
    }
    let decision = found.iter().find(|one| one.kind == HistoryKind::Decision).unwrap();
    assert!(decision.who.starts_with('A'), "who signed is somebody: {}", decision.who);
    assert!(found.iter().all(|one| !one.what.contains("texts.csv")), "titles of jobs name people and files");
    let named = log(&session, HistoryRequest { words: "Ben".into(), ..hidden() });
    assert!(named.iter().all(|one| one.note.is_some()), "only what was written is searched");
}

#[test]
fn history_hides_others_until_the_own_answer() {
    let folder = tempfile::tempdir().unwrap();
    let session = open(&project(folder.path()));
    busy(&session);
    let ada = person(&session, "Ada Lovelace");
    let answered = vec![HistoryKind::Answer, HistoryKind::Decision, HistoryKind::ImportedAnswer];
    let read = || log(&session, HistoryRequest { reader: Some(ada), kinds: answered.clone(), ..request() });
    let of_text = |entries: &[HistoryEntry], text: &str| -> Vec<String> {
        let here = |one: &&HistoryEntry| one.text_id.as_deref() == Some(text);
        let mut reported: Vec<String> = entries
            .iter()
            .filter(here)
            .map(|one| format!("{}: {} {:?}", one.who, one.what, one.note))
            .collect();
        reported.sort();
        reported
    };
    let before = of_text(&read(), "t2");
    assert_eq!(before.len(), 3, "that something was done is shown");
    assert!(before.iter().all(|one| !one.contains(char::is_numeric) && one.ends_with("None")), "{before:?}");
    // Searching does not find it either, which would reveal it word by word.
    let found =
        |words: &str| log(&session, HistoryRequest { reader: Some(ada), words: words.into(), ..request() });
    let decided = |entries: &[HistoryEntry]| entries.iter().any(|one| one.kind == HistoryKind::Decision);
    assert!(!decided(&found("and ben differ")) && !decided(&found("differ")));
    let check = NewAttentionCheck {
        question: QUESTION,
        text: TextId(4),
        answer: Some(Answer::from_level(1)),
        reason: "plain".into(),
    };
    study::set_checks(&session.study, &[check]).unwrap();
    let checks =
        |reader| log(&session, HistoryRequest { reader, kinds: vec![HistoryKind::Check], ..request() }).len();
    assert_eq!(
        (checks(None), checks(Some(ada))),
        (1, 0),
        "nobody learns of a check before they have answered it"
    );
    label(&session, "Ada Lovelace", 4, 0);
    assert_eq!(checks(Some(ada)), 1);
    label(&session, "Ada Lovelace", 2, 0);
    assert!(decided(&found("differ")));
    let after = of_text(&read(), "t2");
    assert!(
        after.contains(&"Ben: answered 2 Some(\"\")".to_owned())
            || after.contains(&"Ben: answered 2 None".to_owned()),
        "{after:?}"
    );
    assert!(after.iter().any(|one| one.contains("real difference: 5 Some(\"Ada")), "{after:?}");
}

#[test]
fn history_names_copies_after_the_packets_person() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder);
    let session = open(&path);
    let plan = StudyRequest {
        questions: Vec::new(),
        people: vec!["Ben".to_owned()],
        per_text: 1,
        per_person: None,
        anchors: 0,
        repeat: 0.0,
        again_after: 0,
        new_people: false,
        balance: None,
        seed: 1,
    };
    let reported = study::hand_out(&session.study, &plan, &folder.join("packets"), &Silent).unwrap();
    let packet = PathBuf::from(reported.people[0].file.clone().unwrap());
    let whole = folder.join("whole.dissensus");
    session.close();
    let store = Store::open_reader(&path).unwrap();
    store.copy_to(&whole, CopyTarget::New, |_, _| ControlFlow::Continue(())).unwrap();
    store.close().unwrap();

    let at_bens = open(&packet);
    label(&at_bens, "Ben", 1, 1);
    // Study settings, including right answers of practice, are not in the log of a packet.
    assert_eq!(history::read(&at_bens.project, &request()).unwrap_err().code(), "in-packet");
    let bens = at_bens.texts.find(&TextQuery::default(), 0, 1, None).unwrap().rows[0].external_id.clone();
    let handed_in = folder.join("ben.handin");
    study::hand_in(&at_bens.study, &handed_in, false).unwrap();
    #[cfg(unix)]
    for file in [&packet, &handed_in] {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "a key and answers are for their owner alone: {}", file.display());
    }
    at_bens.close();
    let elsewhere = open(&whole);
    label(&elsewhere, "Ada Lovelace", 3, 1);
    elsewhere.close();

    let session = open(&path);
    label(&session, "Ada Lovelace", 4, 1);
    let merged = study::merge(&session.study, &[handed_in, whole], &MergeConsent::all(), &Silent).unwrap();
    assert!(merged.files.iter().all(|file| !file.refused), "{merged:?}");
    let found = log(&session, HistoryRequest { kinds: vec![HistoryKind::Answer], ..request() });
    let copy = |who: &str, text: &str| {
        let one = found.iter().find(|one| one.who == who && one.text_id.as_deref() == Some(text)).unwrap();
        one.copy.clone().unwrap()
    };
    assert_eq!(
        (copy("Ben", &bens).as_str(), copy("Ada Lovelace", "t4").as_str()),
        ("copy of Ben", "this copy")
    );
    let elsewhere = copy("Ada Lovelace", "t3");
    assert!(elsewhere.starts_with("another copy ("), "{elsewhere}");
    let packets = log(&session, HistoryRequest { kinds: vec![HistoryKind::Packet], ..request() });
    let what: Vec<&str> = packets.iter().map(|one| one.what.as_str()).collect();
    assert_eq!(what.len(), 2);
    assert!(what.contains(&"was handed out a packet of 6 texts"), "{what:?}");
}
