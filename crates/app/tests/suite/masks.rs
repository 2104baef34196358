//! Texts that are handed out with names, addresses and numbers masked, and answers about them.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{OpenSession as _, Stopped, TestFolder, open};
use dissensus_api::{
    HistoryRequest, MaskQuery, MergeConsent, MergedFile, NewLabel, NewPracticeAnswer, NewPracticeText,
    PacketFormat, StudyRequest,
};
use dissensus_app::session::Session;
use dissensus_domain::{
    Answer, LevelId, MaskException, MaskRule, MaskRules, QuestionId, ScaleKind, Span, SpanSet, TextId,
};
use dissensus_editing::{annotators, history, withdraw};
use dissensus_labelling::{practice_answers, record};
use dissensus_project::jobs::Silent;
use dissensus_store::{CopyTarget, Store};
use dissensus_test_support::{TestProject, forge};
use dissensus_transfer::study::{self, PacketFolder, PageSettings};
use rstest::rstest;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Parts of texts that may never leave the project.
const SECRETS: [&str; 5] = ["Lovelace", "ada@example.org", "@lovelace", "+44 20 7946 0958", "李明"];

/// The texts with secrets, a harmless one, and a practice text.
fn texts() -> TestProject {
    TestProject::new()
        .question("insult", ScaleKind::Spans, ["insult", "threat"])
        .ordinal("rude", ["no", "a bit", "very"])
        .text("t1", "😀 Ada Lovelace is a fool!\r\nWrite to ada@example.org")
        .text("t2", "@lovelace: call +44 20 7946 0958 now, fool")
        .text("t3", "李明真傻 Lovelace")
        .text("t4", "nothing in here")
        .text("p1", "Lovelace practises")
        .annotators(["ben"])
}

fn rules() -> MaskRules {
    MaskRules {
        on: vec![MaskRule::Email, MaskRule::User, MaskRule::Phone, MaskRule::Words],
        words: vec!["Ada Lovelace".into(), "Lovelace".into(), "李明".into()],
        ..MaskRules::default()
    }
}

fn request(people: &[&str]) -> StudyRequest {
    StudyRequest {
        questions: Vec::new(),
        people: people.iter().map(|name| (*name).to_owned()).collect(),
        per_text: people.len() as u32,
        per_person: None,
        anchors: 0,
        repeat: 0.25,
        again_after: 1,
        new_people: false,
        balance: None,
        seed: 1,
    }
}

fn practice(session: &Session) {
    let answer = Some(Answer::Spans(spans([(0, 8)])));
    let new = NewPracticeText { question: QuestionId(1), text: TextId(5), answer, reason: "so".into() };
    study::set_practice(&session.study, &[new]).unwrap();
}

fn spans<const N: usize>(places: [(u32, u32); N]) -> SpanSet {
    SpanSet::new(places.map(|(start, end)| Span { start, end, kind: LevelId(0) })).unwrap()
}

/// Id and body of every text of a file.
fn bodies(file: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let store = Store::open_reader(file).unwrap();
    let mut add = |text: dissensus_domain::Text| -> Result<(), dissensus_store::StoreError> {
        found.push((text.external_id, text.body));
        Ok(())
    };
    store.for_each_text(&mut add).unwrap();
    found.sort();
    found
}

/// Files of a folder that contain a secret, or the list of words as JSON writes it.
fn leaking(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let leaks = |file: &PathBuf| {
        let bytes = std::fs::read(file).unwrap();
        SECRETS.iter().any(|secret| bytes.windows(secret.len()).any(|part| part == secret.as_bytes()))
    };
    files.filter(leaks).collect()
}

fn merge(session: &Session, file: &Path) -> MergedFile {
    let report = study::merge(&session.study, &[file.to_owned()], &MergeConsent::all(), &Silent).unwrap();
    report.files.into_iter().next().unwrap()
}

/// Marks these places in the text of this id, in a packet.
fn mark(packet: &Session, text: &str, places: SpanSet) {
    let store = Store::open_reader(packet.project.path()).unwrap();
    let text = store.text_by_external(text).unwrap().unwrap();
    let annotator = annotators::list(&packet.project).unwrap()[0].id;
    let new = NewLabel {
        question: QuestionId(1),
        annotator,
        text: text.id,
        answer: Answer::Spans(places),
        duration_ms: None,
    };
    record::record_label(&packet.labelling, &new).unwrap();
}

/// Answers the practice text in a packet as it should be.
fn practise(packet: &Session) {
    let store = Store::open_reader(packet.project.path()).unwrap();
    let text = store.text_by_external("p1").unwrap().unwrap().id;
    let annotator = annotators::list(&packet.project).unwrap()[0].id;
    let answer = Answer::Spans(spans([(0, 8)]));
    let new = NewPracticeAnswer { annotator, question: QuestionId(1), text, answer };
    assert!(practice_answers::record(&packet.labelling, &new).unwrap().right);
}

/// What a person marked, as words of the project's own texts.
fn marked(project: &Path) -> Vec<String> {
    let store = Store::open_reader(project).unwrap();
    let words = |label: &dissensus_domain::CurrentLabel| {
        let body: Vec<char> = store.text(label.text).unwrap().unwrap().body.chars().collect();
        let Answer::Spans(spans) = &label.answer else { panic!("{label:?}") };
        let word = |span: &Span| body[span.start as usize..span.end as usize].iter().collect::<String>();
        spans.as_slice().iter().map(word).collect::<Vec<_>>().join("|")
    };
    let mut found: Vec<String> = store.current_labels(QuestionId(1)).unwrap().iter().map(words).collect();
    found.sort();
    found
}

#[rstest]
#[case::submission(true)]
#[case::packet_file(false)]
fn masked_texts_are_labelled_and_come_back_to_the_originals(#[case] as_submission: bool) {
    let folder = TestFolder::new();
    let project = folder.path("study.dissensus");
    let session = texts().session(&project);
    practice(&session);
    let before = bodies(&project);
    study::set_masks(&session.study, &rules()).unwrap();
    study::hand_out(&session.study, &request(&["zoe"]), &folder.path("packets"), &Silent).unwrap();
    assert_eq!(leaking(&folder.path("packets")), Vec::<PathBuf>::new());
    let packet = folder.path("packets/zoe.dissensus");
    let masked = bodies(&packet);
    let shown: Vec<&str> = masked.iter().map(|(_, body)| body.as_str()).collect();
    assert_eq!(
        shown,
        [
            "████████ practises",
            "😀 ███ ████████ is a fool!\r\nWrite to ███████████████",
            "█████████: call ███ ██ ████ ████ now, fool",
            "██真傻 ████████",
            "nothing in here",
        ]
    );

    // The rules change, and the packet is written again: it is the packet that was handed out.
    study::set_masks(&session.study, &MaskRules { on: vec![MaskRule::Email], ..rules() }).unwrap();
    let people = ["zoe".to_owned()];
    study::write_again(&session.study, &people, &folder.path("again"), &Silent).unwrap();
    assert_eq!(bodies(&folder.path("again/zoe.dissensus")), masked);
    assert_eq!(leaking(&folder.path("again")), Vec::<PathBuf>::new());

    let work = open(&packet);
    practise(&work);
    mark(&work, "t1", spans([(2, 14), (20, 24)]));
    mark(&work, "t3", spans([(0, 2), (5, 13)]));
    let file = match as_submission {
        true => {
            study::hand_in(&work.study, &folder.path("zoe.handin"), true).unwrap();
            folder.path("zoe.handin")
        }
        false => packet,
    };
    work.close();
    study::set_masks(&session.study, &MaskRules::default()).unwrap();
    let merged = merge(&session, &file);
    assert!(!merged.refused, "{merged:?}");
    assert_eq!((merged.events, merge(&session, &file).new), (2, 0), "and merging again changes nothing");
    let talk = |text: u32| study::discussion(&session.study, QuestionId(1), TextId(text)).unwrap().answers;
    assert!(talk(1)[0].masked && talk(3)[0].masked, "it is shown that they saw masks");
    session.close();
    assert_eq!(marked(&project), ["Ada Lovelace|fool", "李明|Lovelace"]);
    assert_eq!(bodies(&project), before, "the project keeps its texts");
}

#[test]
fn packets_without_masks_stay_without() {
    let folder = TestFolder::new();
    let project = folder.path("study.dissensus");
    let session = texts().session(&project);
    study::hand_out(&session.study, &request(&["zoe"]), &folder.path("packets"), &Silent).unwrap();
    study::set_masks(&session.study, &rules()).unwrap();
    study::write_again(&session.study, &["zoe".to_owned()], &folder.path("again"), &Silent).unwrap();
    let packet = folder.path("again/zoe.dissensus");
    assert_eq!(bodies(&packet), bodies(&folder.path("packets/zoe.dissensus")));
    assert!(bodies(&packet)[0].1.contains("Lovelace"));
    let work = open(&packet);
    mark(&work, "t3", spans([(5, 13)]));
    work.close();
    assert!(!merge(&session, &packet).refused);
    let settings = study::mask_settings(&session.study).unwrap();
    assert_eq!((settings.packets, settings.masked_packets, settings.versions), (1, 0, 1));
    session.close();
    assert_eq!(marked(&project), ["Lovelace"]);
}

#[rstest]
#[case::another_text("██真好 ████████")]
// It would count as an answer of somebody who saw the mask.
#[case::the_original("李明真傻 Lovelace")]
fn a_text_that_was_changed_under_its_mask_is_refused(#[case] body: &str) {
    let folder = TestFolder::new();
    let session = texts().session(&folder.path("study.dissensus"));
    study::set_masks(&session.study, &rules()).unwrap();
    study::hand_out(&session.study, &request(&["zoe"]), &folder.path("packets"), &Silent).unwrap();
    let packet = folder.path("packets/zoe.dissensus");
    let work = open(&packet);
    mark(&work, "t3", spans([(0, 2)]));
    work.close();
    forge(&packet, |c| c.execute("UPDATE texts SET body = ?1 WHERE external_id = 't3'", [body]));
    let merged = merge(&session, &packet);
    assert!(merged.refused, "{merged:?}");
    assert_eq!(merged.problems[0].problem.code, "merge-not-as-handed-out");
    // Handed in, it is the answer to a text that the packet did not have.
    let work = open(&packet);
    study::hand_in(&work.study, &folder.path("zoe.handin"), true).unwrap();
    work.close();
    let merged = merge(&session, &folder.path("zoe.handin"));
    assert!(merged.refused, "{merged:?}");
    assert_eq!(merged.new, 0);
}

#[test]
fn pages_have_masked_texts_only() {
    let folder = TestFolder::new();
    let project = folder.path("study.dissensus");
    let session = texts().session(&project);
    practice(&session);
    study::set_masks(&session.study, &rules()).unwrap();
    let pages = folder.path("pages");
    let settings = PageSettings::default();
    let to =
        PacketFolder { folder: &pages, format: PacketFormat::Page, settings: &settings, passphrase: None };
    match study::hand_out(&session.study, &request(&["zoe"]), to, &Silent) {
        // This program was built without the user interface.
        Err(error) if error.code() == "no-pages" => return,
        done => drop(done.unwrap()),
    }
    let page = pages.join("join.html");
    study::write_join_page(&session.study, &request(&["x", "y"]), &page, &PageSettings::default()).unwrap();
    assert_eq!(leaking(&pages), Vec::<PathBuf>::new());
    assert!(std::fs::read_to_string(&page).unwrap().contains("nothing in here"));
    let link = study::links(&session.study).unwrap().remove(0);
    let served = study::linked_page(&session.study, link.packet, None).unwrap();
    assert!(SECRETS.iter().all(|secret| !served.contains(secret)) && served.contains("nothing in here"));
    // The packet and the page for everybody.
    assert_eq!(Store::open_reader(&project).unwrap().masked_packets().unwrap().len(), 2);
}

#[test]
fn copies_with_other_rules_keep_the_masks_of_their_packets() {
    let folder = TestFolder::new();
    let (one, other) = (folder.path("one.dissensus"), folder.path("other.dissensus"));
    texts().session(&one).close();
    let store = Store::open(&one).unwrap();
    store.copy_to(&other, CopyTarget::New, |_, _| ControlFlow::Continue(())).unwrap();
    store.close().unwrap();
    let mut packets = Vec::new();
    for (project, person, on) in [(&one, "zoe", MaskRule::Words), (&other, "yan", MaskRule::Email)] {
        let session = open(project);
        study::set_masks(&session.study, &MaskRules { on: vec![on], ..rules() }).unwrap();
        let packets_of = folder.path(person);
        study::hand_out(&session.study, &request(&[person]), &packets_of, &Silent).unwrap();
        session.close();
        let packet = packets_of.join(format!("{person}.dissensus"));
        let work = open(&packet);
        mark(&work, "t1", spans([(2, 5)]));
        work.close();
        packets.push(packet);
    }
    assert_ne!(bodies(&packets[0]), bodies(&packets[1]));
    for (into, from) in [(&one, &other), (&other, &one)] {
        let session = open(into);
        let merged = merge(&session, from);
        assert!(!merged.refused, "{merged:?}");
        for packet in &packets {
            let merged = merge(&session, packet);
            assert!(!merged.refused, "{merged:?}");
        }
        let again = folder.path(&format!("again-{}", into.file_stem().unwrap().display()));
        study::write_again(&session.study, &[], &again, &Silent).unwrap();
        for packet in &packets {
            assert_eq!(bodies(&again.join(packet.file_name().unwrap())), bodies(packet));
        }
        let settings = study::mask_settings(&session.study).unwrap();
        assert_eq!((settings.versions, settings.masked_packets), (2, 2));
        session.close();
    }
    let rules = |file: &Path| Store::open_reader(file).unwrap().mask_rules().unwrap();
    assert_eq!(rules(&one), rules(&other), "the later rules are in effect in both");
    assert_eq!(marked(&one), ["Ada", "Ada"]);
}

#[test]
fn withdrawn_people_leave_no_masks_that_prevent_merging() {
    let folder = TestFolder::new();
    let session = texts().session(&folder.path("study.dissensus"));
    study::set_masks(&session.study, &rules()).unwrap();
    study::hand_out(&session.study, &request(&["zoe", "yan"]), &folder.path("packets"), &Silent).unwrap();
    let zoe = annotators::list(&session.project).unwrap().into_iter().find(|one| one.external_id == "zoe");
    withdraw::withdraw(&session.project, zoe.unwrap().id).unwrap();
    assert_eq!(study::mask_settings(&session.study).unwrap().masked_packets, 1);
    assert!(!merge(&session, &folder.path("packets/yan.dissensus")).refused);
    assert_eq!(
        merge(&session, &folder.path("packets/zoe.dissensus")).problems[0].problem.code,
        "merge-withdrawn"
    );
}

#[test]
fn a_preview_counts_findings_and_exceptions() {
    let folder = TestFolder::new();
    let session = texts().session(&folder.path("study.dissensus"));
    let preview = |query: &MaskQuery| study::preview_masks(&session.study, query, &Silent).unwrap();
    let empty = preview(&MaskQuery { most: 10, ..MaskQuery::default() });
    assert_eq!((empty.texts, empty.masked, empty.rules.len()), (5, 0, 0), "nothing is masked at first");
    let except = |found: &str, text: Option<&str>| MaskException {
        found: found.into(),
        text: text.map(str::to_owned),
    };
    let rules = MaskRules {
        except: vec![except("Lovelace", Some("p1")), except("@lovelace", None)],
        words: vec!["Lovelace".into(), "nothing in here".into()],
        ..rules()
    };
    let query = MaskQuery { rules: Some(rules.clone()), most: 2, ..MaskQuery::default() };
    let found = preview(&query);
    assert_eq!((found.masked, found.excepted, found.masked_texts, found.whole_texts), (6, 2, 4, 1));
    assert_eq!(found.whole_text_ids, ["t4"]);
    // "@lovelace" has the word too, which is masked.
    let count = |rule: MaskRule| found.rules.iter().find(|one| one.rule == rule).unwrap();
    assert_eq!((count(MaskRule::Words).places, count(MaskRule::Words).texts), (5, 5));
    let first = &found.found[0];
    assert_eq!((first.found.as_str(), first.places, first.excepted), ("Lovelace", 3, 1));
    assert_eq!((first.text.as_str(), first.before.as_str()), ("t1", "😀 Ada "));
    assert_eq!((found.found.len(), found.left_off), (2, 4));
    let of_user = MaskQuery { rule: Some(MaskRule::User), search: "LOVE".into(), ..query.clone() };
    let of_user = preview(&of_user);
    assert_eq!((of_user.found.len(), of_user.found[0].excepted, of_user.left_off), (1, 1, 0));
    let stopped = study::preview_masks(&session.study, &query, &Stopped);
    assert_eq!(stopped.unwrap_err().code(), "cancelled");
    assert_eq!(study::mask_settings(&session.study).unwrap().rules, MaskRules::default());
}

#[test]
fn invalid_rules_and_projects_are_refused() {
    let folder = TestFolder::new();
    let session = texts().session(&folder.path("study.dissensus"));
    let pattern = |pattern: &str| MaskRules {
        on: vec![MaskRule::Pattern],
        pattern: pattern.into(),
        ..MaskRules::default()
    };
    let code = |rules: &MaskRules| study::set_masks(&session.study, rules).unwrap_err().code();
    assert_eq!(code(&pattern("a(")), "mask-pattern");
    assert_eq!(code(&pattern(".*")), "mask-pattern-matches-nothing");
    assert_eq!(code(&pattern(".+")), "mask-pattern-everything");
    assert_eq!(study::words_of_column(&session.study, "author").unwrap_err().code(), "mask-column");
    study::set_masks(&session.study, &rules()).unwrap();
    study::hand_out(&session.study, &request(&["zoe"]), &folder.path("packets"), &Silent).unwrap();
    session.close();
    let packet = open(&folder.path("packets/zoe.dissensus"));
    assert!(study::set_masks(&packet.study, &rules()).is_err(), "a packet hands nothing out");
    packet.close();
}

#[test]
fn equal_rules_are_one_version_and_the_history_names_no_words() {
    let folder = TestFolder::new();
    let session = texts().session(&folder.path("study.dissensus"));
    let mut shuffled = rules();
    shuffled.on.reverse();
    shuffled.words.reverse();
    shuffled.words.push(" Lovelace ".into());
    study::set_masks(&session.study, &rules()).unwrap();
    assert_eq!(study::set_masks(&session.study, &shuffled).unwrap().versions, 1);
    let request = HistoryRequest { limit: 50, ..HistoryRequest::default() };
    let page = history::read(&session.project, &request).unwrap();
    let words = format!("{page:?}");
    assert!(words.contains("masked by 4 rules") && !words.contains("Lovelace"), "{words}");
}
