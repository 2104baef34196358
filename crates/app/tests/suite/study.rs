//! A study of several people: packets assigned, labelled separately, submitted, and merged.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{create, import_into, open_in};
use dissensus_api::{
    ImportChoices, MergeConsent, MergedFile, MergedKind, NewAttentionCheck, NewDecision, NewGuideline,
    NewLabel, StudyReport, StudyRequest, TextOrder,
};
use dissensus_app::session::Session;
use dissensus_domain::{Answer, LabelSource, Outcome, QuestionId, Scale, ScaleKind, TextId};
use dissensus_editing::annotators;
use dissensus_editing::copy;
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_editing::texts;
use dissensus_editing::withdraw;
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_labelling::marks;
use dissensus_labelling::next_text;
use dissensus_labelling::progress;
use dissensus_labelling::reannotation;
use dissensus_labelling::record;
use dissensus_labelling::record::RecordLabel;
use dissensus_labelling::task;
use dissensus_labelling::undo;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_store::{NewAnnotator, NewQuestion, Store, StoreError};
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::{DecisionLayer, ExportChoices, Pseudonymised};
use dissensus_transfer::study;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A project with a number of texts and two questions, labelled by another annotator.
fn project(folder: &Path, texts: usize) -> PathBuf {
    let path = folder.join("study.dissensus");
    let session = create(&path);
    let rows: String =
        (1..=texts).map(|n| format!("t{n},Body of text {n},stranger,{}\n", n % 3 + 1)).collect();
    import_into(&session, "rude", &format!("text_id,text,annotator_id,label\n{rows}"));
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    questions::add(&session.project, AddQuestion::new("funny", "Is it funny?", scale)).unwrap();
    let rows: String = (1..=texts).map(|n| format!("t{n},Body of text {n},stranger,no\n")).collect();
    import_into(&session, "funny", &format!("text_id,text,annotator_id,label\n{rows}"));
    path
}

fn request(people: &[&str]) -> StudyRequest {
    StudyRequest {
        questions: Vec::new(),
        people: people.iter().map(|name| (*name).to_owned()).collect(),
        per_text: 3,
        per_person: None,
        anchors: 4,
        repeat: 0.1,
        again_after: 5,
        new_people: false,
        balance: None,
        seed: 3,
    }
}

fn hand_out(folder: &Path, project: &Path, request: &StudyRequest, out: &str) -> Vec<PathBuf> {
    let session = open_in(folder, project);
    let reported = study::hand_out(&session.study, request, &folder.join(out), &Silent).unwrap();
    reported.people.iter().filter_map(|person| person.file.as_ref()).map(PathBuf::from).collect()
}

/// Labels up to `most` texts of a packet like the window: the next text, both questions.
fn work(folder: &Path, packet: &Path, most: usize) -> Vec<(String, u16)> {
    let session = open_in(folder, packet);
    let questions: Vec<QuestionId> =
        info::read(&session.project).unwrap().questions.iter().map(|q| q.id).collect();
    let me = annotators::list(&session.project).unwrap()[0].id;
    let mut order = Vec::new();
    let mut after = None;
    while order.len() < most {
        let next = next_text::choose(&session.labelling, me, &questions, TextOrder::File, after).unwrap();
        let Some(task) = next else { break };
        assert!(task.answer.is_none(), "a text that is asked again comes as if for the first time");
        for question in &questions {
            let level = (task.external_id.len() as u16 + task.occasion) % 2;
            let new = NewLabel {
                question: *question,
                annotator: me,
                text: task.text,
                answer: Answer::from_level(level),
                duration_ms: Some(1_500),
            };
            let receipt = match task.occasion {
                1 => record::record_label(&session.labelling, &new).unwrap().receipt,
                again => reannotation::record(
                    &session.labelling,
                    &RecordLabel::new(&new, LabelSource::Window),
                    again,
                )
                .unwrap(),
            };
            assert!(receipt.reveal.is_none() && receipt.spans.is_none());
        }
        after = Some(task.text);
        order.push((task.external_id, task.occasion));
    }
    session.close();
    order
}

fn hand_in(folder: &Path, packet: &Path, name: &str) -> PathBuf {
    let file = folder.join(name);
    study::hand_in(&open_in(folder, packet).study, &file, false).unwrap();
    file
}

fn merge(folder: &Path, project: &Path, files: &[PathBuf]) -> Vec<MergedFile> {
    study::merge(&open_in(folder, project).study, files, &MergeConsent::all(), &Silent).unwrap().files
}

fn report(folder: &Path, project: &Path) -> StudyReport {
    study::report(&open_in(folder, project).study).unwrap()
}

/// All current answers and all answers of later rounds, by names.
fn answers(folder: &Path, project: &Path) -> BTreeMap<String, String> {
    answers_of(folder, &open_in(folder, project))
}

fn answers_of(folder: &Path, session: &Session) -> BTreeMap<String, String> {
    let file = folder.join("export.csv");
    exchange::export(
        &session.exchange,
        &file,
        &ExportChoices { replace: true, ..ExportChoices::default() },
        &Silent,
    )
    .unwrap();
    let all = std::fs::read_to_string(file).unwrap();
    all.lines().map(|line| (line.to_owned(), String::new())).collect()
}

fn refused<'a>(files: &'a [MergedFile], code: &str) -> &'a str {
    assert_eq!(files.len(), 1);
    let file = &files[0];
    assert!(file.refused && file.new == 0, "{file:?}");
    let problem = file.problems.iter().find(|problem| problem.problem.code == code);
    &problem.unwrap_or_else(|| panic!("no {code} in {:?}", file.problems)).problem.message
}

#[test]
fn submissions_merge_in_any_order_and_twice() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 40);
    let people = ["ada", "ben", "cleo", "dora", "stranger"];
    let plan = |people: &[&str]| StudyRequest { anchors: 6, ..request(people) };
    let session = open_in(folder, &path);
    let draft = study::draft(&session.study, &plan(&people)).unwrap();
    // 34 texts x 3 and 6 anchors x 5, of which the other annotator has answered all, so that every text has
    // one of its three people.
    let asked: u32 = draft.people.iter().map(|person| person.texts).sum();
    assert_eq!((asked, draft.anchors, draft.texts), (34 * 2 + 6 * 4, 6, 40));
    assert!(draft.people[4].texts == 0 && draft.people[4].before == 40 && draft.people[4].known);
    assert_eq!(study::report(&session.study).unwrap().people.len(), 0, "a draft changes nothing");
    session.close();

    let packets = hand_out(folder, &path, &plan(&people), "packets");
    assert_eq!(packets.len(), 4, "nothing new for somebody who has everything");
    let copy = folder.join("copy.dissensus");
    std::fs::copy(&path, &copy).unwrap();
    let orders: Vec<_> = packets.iter().map(|packet| work(folder, packet, usize::MAX)).collect();
    assert!(orders[0] != orders[1], "everybody has an order of their own");
    for (packet, order) in packets.iter().zip(&orders) {
        let planned = Store::open_reader(packet).unwrap();
        let items = planned.own_packet().unwrap().unwrap().assignments;
        let name = |id: TextId| planned.text(id).unwrap().unwrap().external_id;
        let items: Vec<_> = items.iter().map(|item| (name(item.text), item.occasion)).collect();
        assert_eq!(*order, items, "texts come as they were handed out");
        let again: BTreeSet<_> = order.iter().filter(|(_, occasion)| *occasion == 2).collect();
        assert_eq!(again.len(), 2, "a tenth of 23 texts");
        assert_eq!(order.len(), 25);
    }
    let files: Vec<PathBuf> = packets.iter().zip(people).map(|(p, who)| hand_in(folder, p, who)).collect();

    let first = merge(folder, &path, &files);
    assert!(first.iter().all(|file| !file.refused && file.problems.is_empty()), "{first:?}");
    assert!(first.iter().all(|file| file.kind == Some(MergedKind::HandIn) && file.new == 50));
    let backwards: Vec<PathBuf> = files.iter().rev().chain(&packets).cloned().collect();
    merge(folder, &copy, &backwards);
    let once = answers(folder, &path);
    let again = merge(folder, &path, &files);
    assert!(again.iter().all(|file| file.new == 0 && !file.refused));
    assert_eq!(answers(folder, &path), once, "twice is once");
    assert_eq!(answers(folder, &copy), once, "in any order, hand-ins and packets alike");
    assert_eq!(once.len(), 1 + 40 * 2 + 92 * 2 + 8 * 2);

    let report = report(folder, &path);
    assert_eq!((report.given, report.wanted), (100, 100));
    assert_eq!((report.texts, report.texts_done, report.anchors), (40, 40, 6));
    assert!(report.people.iter().all(|person| person.handed_in.is_some() && person.repeated == 2));
    assert_eq!(report.people[0].seconds, Some(1.5));
    // Everyone answers by the text's id only: all agree on anchors. In re-annotations they answer the
    // opposite.
    let anchors = report.anchor_agreement.unwrap();
    assert!((anchors.share, anchors.of) == (1.0, 6) && anchors.low < 1.0, "{anchors:?}");
    let own = report.self_agreement.unwrap();
    assert_eq!((own.share, own.of), (0.0, 16));
}

#[test]
fn running_plan_only_grows() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 30);
    let two = StudyRequest { per_text: 2, anchors: 0, repeat: 0.0, ..request(&["ada", "ben", "cleo"]) };
    let packets = hand_out(folder, &path, &two, "first");
    work(folder, &packets[0], 5);
    merge(folder, &path, &[hand_in(folder, &packets[0], "ada-1")]);
    let nothing =
        study::hand_out(&open_in(folder, &path).study, &two, &folder.join("again"), &Silent).unwrap_err();
    assert_eq!(nothing.code(), "plan-nothing-new");

    let more = StudyRequest { per_text: 3, people: vec!["cleo".into(), "dora".into()], ..two };
    let added = hand_out(folder, &path, &more, "first");
    let names: Vec<_> =
        added.iter().map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect();
    assert_eq!(names, ["cleo-2.dissensus", "dora.dissensus"]);
    let report = report(folder, &path);
    assert_eq!(report.wanted, 90, "three people a text");
    assert_eq!(report.people.iter().map(|person| person.packets).collect::<Vec<_>>(), [1, 1, 2, 1]);
    for packet in packets.iter().chain(&added) {
        work(folder, packet, usize::MAX);
        assert!(merge(folder, &path, std::slice::from_ref(packet)).iter().all(|file| !file.refused));
    }
    assert_eq!(self::report(folder, &path).given, 90);
}

#[test]
fn lost_packet_is_written_again_and_both_merge() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 10);
    let packets = hand_out(folder, &path, &request(&["ada", "ben", "cleo"]), "packets");
    work(folder, &packets[0], 4);
    let session = open_in(folder, &path);
    let out = folder.join("again");
    let files = study::write_again(&session.study, &["ada".to_owned()], &out, &Silent).unwrap();
    assert_eq!(files.len(), 1);
    assert_eq!(
        study::write_again(&session.study, &["ada".to_owned()], &out, &Silent).unwrap_err().code(),
        "packet-exists"
    );
    let code = study::write_again(&session.study, &["stranger".to_owned()], &out, &Silent).unwrap_err();
    assert_eq!(code.code(), "no-packet");
    session.close();
    let again = PathBuf::from(&files[0]);
    // The first four are answered the same in both, and the new one continues.
    let order = first_of(folder, &again, 4);
    assert_eq!(work(folder, &again, 6)[..4], order);
    assert_eq!(first_of(folder, &packets[0], 4), order);
    let files = merge(folder, &path, &[packets[0].clone(), again]);
    assert!(files.iter().all(|file| !file.refused && file.problems.is_empty()), "{files:?}");
    assert_eq!(report(folder, &path).people[0].given, 6);
}

/// The first texts of a packet in its order.
fn first_of(folder: &Path, packet: &Path, count: u32) -> Vec<(String, u16)> {
    let session = open_in(folder, packet);
    let me = annotators::list(&session.project).unwrap()[0].id;
    let question = info::read(&session.project).unwrap().questions[0].id;
    let texts =
        (1..=count).map(|n| task::read(&session.labelling, me, question, TextId(n), 1).unwrap().external_id);
    texts.map(|text| (text, 1)).collect()
}

#[test]
fn undo_covers_reannotated_texts() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 10);
    let people = StudyRequest { per_text: 1, anchors: 10, repeat: 0.2, ..request(&["ada"]) };
    let packet = hand_out(folder, &path, &people, "packets").remove(0);
    let order = work(folder, &packet, usize::MAX);
    let session = open_in(folder, &packet);
    let me = annotators::list(&session.project).unwrap()[0].id;
    let questions: Vec<QuestionId> =
        info::read(&session.project).unwrap().questions.iter().map(|q| q.id).collect();
    assert_eq!(progress::count(&session.labelling, me, &questions).unwrap().done, 12);
    for (text, occasion) in order.iter().rev() {
        for question in questions.iter().rev() {
            let undone =
                undo::undo(&session.labelling, me, &questions, LabelSource::Window).unwrap().unwrap();
            let reported =
                task::read(&session.labelling, me, undone.question, undone.text, 1).unwrap().external_id;
            assert_eq!((&reported, undone.occasion, undone.question), (text, *occasion, *question));
            assert_eq!(undone.now, None);
        }
    }
    assert_eq!(undo::undo(&session.labelling, me, &questions, LabelSource::Window).unwrap(), None);
    let progress = progress::count(&session.labelling, me, &questions).unwrap();
    assert_eq!((progress.done, progress.total, progress.today), (0, 12, 0));
    session.close();
    // What was taken back can be given again, and counts.
    assert_eq!(work(folder, &packet, usize::MAX), order);
    merge(folder, &path, &[packet]);
    assert_eq!(report(folder, &path).given, 12);
}

#[test]
fn changed_reannotation_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 10);
    let one = StudyRequest { per_text: 1, anchors: 10, repeat: 0.1, ..request(&["ada"]) };
    let packet = hand_out(folder, &path, &one, "packets").remove(0);
    let order = work(folder, &packet, usize::MAX);
    let again = &order.iter().find(|(_, occasion)| *occasion == 2).unwrap().0;
    let session = open_in(folder, &packet);
    let label = |value| {
        by_name::record(
            &session.labelling,
            &LabelByName { occasion: 2, ..LabelByName::new("ada", again, value, Some("rude")) },
        )
        .unwrap()
    };
    for value in ["1", "2", "1", "3"] {
        assert_eq!(label(value).occasion, 2);
    }
    let me = annotators::list(&session.project).unwrap()[0].id;
    let undone = undo::undo(
        &session.labelling,
        me,
        questions::find(&session.project, Some("rude")).unwrap().id,
        LabelSource::Command,
    );
    let undone = undone.unwrap().unwrap();
    assert_eq!((undone.answer, undone.now), (Answer::from_level(2), Some(Answer::from_level(0))));
    let refused = reannotation::record(
        &session.labelling,
        &RecordLabel::new(
            &NewLabel {
                question: undone.question,
                annotator: me,
                text: undone.text,
                answer: Answer::from_level(9),
                duration_ms: None,
            },
            LabelSource::Window,
        ),
        2,
    );
    assert_eq!(refused.unwrap_err().code(), "level-removed");
}

#[test]
fn foreign_submissions_are_refused_entirely() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 10);
    let packets = hand_out(folder, &path, &request(&["ada", "ben", "cleo"]), "packets");
    work(folder, &packets[0], 6);
    let handed = hand_in(folder, &packets[0], "ada");
    let before = answers(folder, &path);
    let one = |file: &Path| merge(folder, &path, &[file.to_owned()]);

    let whole = std::fs::read(&handed).unwrap();
    let bad = folder.join("bad");
    std::fs::write(&bad, &whole[..whole.len() / 2]).unwrap();
    assert!(refused(&one(&bad), "merge-cut-off").contains("ask for it again"));
    let mut changed = whole.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    std::fs::write(&bad, &changed).unwrap();
    refused(&one(&bad), "merge-tampered");
    std::fs::write(&bad, "text_id,label\n").unwrap();
    refused(&one(&bad), "merge-not-ours");
    std::fs::write(&bad, "").unwrap();
    assert!(one(&bad)[0].refused);
    refused(&one(&folder.join("missing")), "io");
    refused(&one(folder), "merge-not-ours");
    refused(&one(&path), "merge-itself");

    // From another study, with people and texts of the same names.
    let other = folder.join("other");
    std::fs::create_dir(&other).unwrap();
    let foreign = project(&other, 10);
    let theirs = hand_out(&other, &foreign, &request(&["ada", "ben", "cleo"]), "packets");
    refused(&one(&theirs[0]), "merge-other-project");
    refused(&one(&hand_in(&other, &theirs[0], "ada")), "merge-other-project");
    refused(&one(&foreign), "merge-other-project");

    // A packet made by a later copy of this project.
    let copy = folder.join("copy.dissensus");
    std::fs::copy(&path, &copy).unwrap();
    let late = hand_out(
        folder,
        &copy,
        &StudyRequest { people: vec!["eve".into()], per_text: 4, ..request(&[]) },
        "late",
    );
    assert!(refused(&one(&late[0]), "merge-unknown-packet").contains("merge the copy"));
    assert_eq!(answers(folder, &path), before);
    assert!(!one(&copy)[0].refused);
    assert!(!one(&late[0])[0].refused, "known once the copy that made it was taken in");

    // Another person and foreign data in the packet, inserted by other means, all of it reported.
    let store = Store::open(&packets[1]).unwrap();
    store
        .write(|tx| -> Result<(), StoreError> {
            let (external_id, name) = ("mallory".to_owned(), "Mallory".to_owned());
            tx.add_annotator(&NewAnnotator { external_id, name, ..NewAnnotator::default() })?;
            let scale = Scale::new(ScaleKind::Binary, ["a", "b"]).unwrap();
            tx.add_question(&NewQuestion { name: "more".into(), prompt: "?".into(), scale }).map(drop)
        })
        .unwrap();
    store.close().unwrap();
    let report_lines = one(&packets[1]);
    assert!(
        refused(&report_lines, "merge-not-as-handed-out")
            .contains("\"mallory\" labelled in the packet of \"ben\"")
    );
    assert!(
        report_lines[0].problems.iter().any(|p| p.problem.message.contains("question \"more\"")),
        "{report_lines:?}"
    );

    let packet = open_in(folder, &packets[0]);
    assert_eq!(
        study::merge(&packet.study, std::slice::from_ref(&handed), &MergeConsent::all(), &Silent)
            .unwrap_err()
            .code(),
        "is-packet"
    );
    assert_eq!(study::draft(&packet.study, &request(&["x"])).unwrap_err().code(), "is-packet");
    packet.close();
    assert_eq!(study::hand_in(&open_in(folder, &path).study, &bad, true).unwrap_err().code(), "not-packet");
    // A good file among bad ones is merged.
    let files = merge(folder, &path, &[bad, handed, folder.join("missing")]);
    assert_eq!(files.iter().map(|file| file.refused).collect::<Vec<_>>(), [true, false, true]);
}

#[test]
fn outdated_and_inconsistent_submissions_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 10);
    let packets = hand_out(folder, &path, &request(&["ada", "ben", "cleo"]), "packets");
    let second = folder.join("second copy.dissensus");
    std::fs::copy(&packets[0], &second).unwrap();
    work(folder, &packets[0], 3);
    let old = hand_in(folder, &packets[0], "old");
    work(folder, &packets[0], 3);
    let new = hand_in(folder, &packets[0], "new");
    assert!(merge(folder, &path, &[new])[0].problems.is_empty());
    let late = merge(folder, &path, &[old]);
    assert!(!late[0].refused && late[0].new == 0);
    assert!(late[0].problems[0].problem.message.contains("a later one of this packet"), "{late:?}");

    // Another person labelled a copy under the same name, with a clock that is ahead.
    {
        let store = Store::open(&second).unwrap();
        let ahead = 4_000_000_000_000;
        for text in 1..=2 {
            let question = store.question_by_name("rude").unwrap().unwrap().id;
            store
                .append_label(&dissensus_store::NewLabel {
                    question,
                    text: TextId(text),
                    annotator: store.annotators().unwrap()[0].id,
                    answer: Answer::from_level(2),
                    at_ms: ahead,
                    duration_ms: None,
                    source: LabelSource::Window,
                })
                .unwrap();
        }
        let who = store.annotators().unwrap()[0].id;
        store.write(move |tx| tx.rename_annotator(who, "Ada Lovelace", 1)).unwrap();
        store.close().unwrap();
    }
    let report_lines = merge(folder, &path, &[second]);
    assert!(!report_lines[0].refused && report_lines[0].new == 2);
    let messages: Vec<&str> = report_lines[0].problems.iter().map(|p| p.problem.message.as_str()).collect();
    assert!(messages.iter().any(|m| m.contains("2 answers were given differently")), "{messages:?}");
    assert!(messages.iter().any(|m| m.contains("2 answers are from a clock")), "{messages:?}");
    assert!(
        messages.iter().any(|m| m.contains("called \"Ada Lovelace\" in the packet and \"ada\" here")),
        "{messages:?}"
    );
    // What was reported is not reported again with later work.
    work(folder, &packets[0], 1);
    let later = hand_in(folder, &packets[0], "later");
    let report_lines = merge(folder, &path, &[later]);
    assert!(report_lines[0].new > 0 && report_lines[0].problems.is_empty(), "{report_lines:?}");
}

#[test]
fn impossible_plan_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 10);
    let session = open_in(folder, &path);
    let out = folder.join("out");
    let reported =
        |request: StudyRequest| study::hand_out(&session.study, &request, &out, &Silent).unwrap_err();
    let error = reported(StudyRequest { people: vec!["ada".into(), "ben".into()], ..request(&[]) });
    assert_eq!(error.code(), "plan-impossible");
    assert!(error.to_string().contains("3 people are needed for each text, and this plan has 2"), "{error}");
    assert_eq!(reported(request(&[])).code(), "plan-nobody");
    assert_eq!(reported(request(&["a", "b", "a"])).code(), "plan-twice");
    assert_eq!(reported(request(&["a", "b\u{202e}", "c"])).code(), "name");
    assert_eq!(reported(StudyRequest { repeat: f64::NAN, ..request(&["a", "b", "c"]) }).code(), "plan-range");
    assert_eq!(reported(StudyRequest { per_text: 0, ..request(&["a", "b", "c"]) }).code(), "plan-range");
    assert_eq!(
        reported(StudyRequest { balance: Some("age".into()), ..request(&["a", "b", "c"]) }).code(),
        "plan-balance"
    );
    let questions = vec![QuestionId(77)];
    assert_eq!(reported(StudyRequest { questions, ..request(&["a", "b", "c"]) }).code(), "no-question");
    std::fs::create_dir_all(&out).unwrap();
    std::fs::write(out.join("b.dissensus"), "mine").unwrap();
    let error = reported(request(&["a", "b", "c"]));
    assert_eq!(error.code(), "packet-exists");
    assert_eq!(study::report(&session.study).unwrap().people.len(), 0);
    assert_eq!(annotators::list(&session.project).unwrap().len(), 1, "nobody was added");
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(out.join("b.dissensus")).unwrap(), "mine");
}

#[test]
fn decision_on_a_contested_text_changes_no_label() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 3);
    let session = open_in(folder, &path);
    for (who, value) in [("ada", "1"), ("ben", "3"), ("ben", "2")] {
        by_name::record(&session.labelling, &LabelByName::new(who, "t1", value, Some("rude"))).unwrap();
    }
    by_name::record(
        &session.labelling,
        &LabelByName { occasion: 2, ..LabelByName::new("ada", "t1", "3", Some("rude")) },
    )
    .unwrap();
    let rude = questions::find(&session.project, Some("rude")).unwrap().id;
    let (text, _) = texts::find(&session.project, "t1").unwrap();
    let before = answers_of(folder, &session);
    let discussion = study::discussion(&session.study, rude, text).unwrap();
    let answers: Vec<_> = discussion
        .answers
        .iter()
        .map(|one| (one.name.as_str(), one.answer.clone(), one.again.clone()))
        .collect();
    let level = |level| Some(Answer::from_level(level));
    assert_eq!(answers, [("stranger", level(1), None), ("ada", level(0), level(2)), ("ben", level(1), None)]);
    assert_eq!(discussion.answers[2].before, [Answer::from_level(2)], "the first thought stays");

    let new = |outcome, answer: Option<u16>, comment: &str| NewDecision {
        question: rude,
        text,
        outcome,
        answer: answer.map(Answer::from_level),
        comment: comment.to_owned(),
        by: " ana ".to_owned(),
    };
    study::decide(&session.study, &new(Outcome::Ambiguous, None, "two readings")).unwrap();
    let discussion = study::decide(&session.study, &new(Outcome::Slip, Some(2), "ada meant 3")).unwrap();
    assert_eq!(
        (discussion.decisions[0].outcome, discussion.decisions[1].outcome),
        (Outcome::Slip, Outcome::Ambiguous)
    );
    assert_eq!(answers_of(folder, &session), before);
    let held = study::list_decisions(&session.study).unwrap();
    assert_eq!(held.len(), 1);
    assert_eq!((held[0].answer_name.as_deref(), held[0].by.as_str()), (Some("3"), "ana"));
    study::decide(&session.study, &new(Outcome::Reopened, None, "")).unwrap();
    assert!(study::list_decisions(&session.study).unwrap().is_empty());
    assert_eq!(
        study::decide(&session.study, &new(Outcome::Slip, Some(9), "")).unwrap_err().code(),
        "level-removed"
    );
    let long = "x".repeat(10_001);
    assert_eq!(
        study::decide(&session.study, &new(Outcome::Slip, None, &long)).unwrap_err().code(),
        "plan-range"
    );
    let nowhere = NewDecision { text: TextId(99), ..new(Outcome::Slip, None, "") };
    assert_eq!(study::decide(&session.study, &nowhere).unwrap_err().code(), "unknown");
}

#[test]
fn skipped_text_is_not_reannotated_immediately() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 12);
    let one = StudyRequest { per_text: 1, anchors: 12, repeat: 0.1, again_after: 5, ..request(&["ada"]) };
    let packet = hand_out(folder, &path, &one, "packets").remove(0);
    let planned = Store::open_reader(&packet).unwrap().own_packet().unwrap().unwrap().assignments;
    let again = planned.iter().find(|item| item.occasion == 2).unwrap().text;
    let session = open_in(folder, &packet);
    let me = annotators::list(&session.project).unwrap()[0].id;
    let questions: Vec<QuestionId> =
        info::read(&session.project).unwrap().questions.iter().map(|q| q.id).collect();
    marks::skip(&session.labelling, me, &questions, again).unwrap();
    marks::flag(&session.labelling, me, questions[0], again, true).unwrap();
    session.close();
    let order = work(folder, &packet, usize::MAX);
    assert_eq!(order.len(), 12, "it comes last, and then no others are left to come in between: {order:?}");
    let session = open_in(folder, &packet);
    let progress = progress::count(&session.labelling, me, &questions).unwrap();
    assert_eq!((progress.done, progress.total), (12, 12), "and it does not count as missing");
    assert!(task::read(&session.labelling, me, questions[0], again, 1).unwrap().flagged);
    let hidden = task::read(&session.labelling, me, questions[0], again, 2).unwrap();
    assert!(!hidden.flagged && !hidden.skipped, "nothing tells that it had come before");
}

#[test]
fn packet_accepts_no_other_people_or_imports() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 6);
    let packet = hand_out(
        folder,
        &path,
        &StudyRequest { again_after: 1, anchors: 0, per_text: 1, ..request(&["ada"]) },
        "packets",
    )
    .remove(0);
    let session = open_in(folder, &packet);
    let scale = Scale::new(ScaleKind::Binary, ["a", "b"]).unwrap();
    let other =
        by_name::record(&session.labelling, &LabelByName::new("adda", "t1", "1", Some("rude"))).unwrap_err();
    assert_eq!(other.code(), "packet-of-other");
    assert!(other.to_string().contains("this packet is for \"ada\""), "{other}");
    let asked = study::packet_texts(&session.study).unwrap();
    let again = &asked.iter().find(|text| text.occasion == 2).unwrap().text_id;
    assert_eq!((asked.len(), asked.iter().filter(|text| text.done).count()), (7, 0));
    let unplanned = by_name::record(
        &session.labelling,
        &LabelByName { occasion: 3, ..LabelByName::new("ada", again, "1", Some("rude")) },
    )
    .unwrap_err();
    assert_eq!(unplanned.code(), "packet-not-asked");
    assert_eq!(
        questions::add(&session.project, AddQuestion::new("more", "?", scale)).unwrap_err().code(),
        "in-packet"
    );
    let rude = questions::find(&session.project, Some("rude")).unwrap();
    let names = ["a", "b", "c"].map(String::from);
    assert_eq!(questions::rename_levels(&session.project, rude.id, &names).unwrap_err().code(), "in-packet");
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    let file = folder.join("labels.csv");
    let imported = exchange::import(&session.exchange, &file, &ImportChoices::default(), Some(&silent));
    assert_eq!(imported.unwrap_err().code(), "in-packet");
    by_name::record(&session.labelling, &LabelByName::new("ada", again, "1", Some("rude"))).unwrap();
    // The submission is never written over the packet, nor over another project.
    for file in [&packet, &path] {
        assert_eq!(study::hand_in(&session.study, file, true).unwrap_err().code(), "packet-exists");
    }
    let out = folder.join("ada.handin");
    study::hand_in(&session.study, &out, false).unwrap();
    study::hand_in(&session.study, &out, true).unwrap();
    let packet = study::open_packet(&session.study).unwrap().unwrap();
    assert_eq!((packet.since, packet.given), (0, 0), "one of two questions is answered");
    by_name::record(&session.labelling, &LabelByName::new("ada", again, "yes", Some("funny"))).unwrap();
    by_name::record(
        &session.labelling,
        &LabelByName { occasion: 2, ..LabelByName::new("ada", again, "2", Some("rude")) },
    )
    .unwrap();
    let packet = study::open_packet(&session.study).unwrap().unwrap();
    assert_eq!((packet.since, packet.given), (2, 1));
    session.close();
    assert_eq!(merge(folder, &path, &[out])[0].new, 1);
}

#[test]
fn second_question_is_handed_out_and_late_copy_merges() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 10);
    let session = open_in(folder, &path);
    let id = |name: &str| questions::find(&session.project, Some(name)).unwrap().id;
    let (rude, funny) = (id("rude"), id("funny"));
    session.close();
    let of =
        |questions| StudyRequest { questions, anchors: 0, repeat: 0.0, ..request(&["ada", "ben", "cleo"]) };
    hand_out(folder, &path, &of(vec![rude]), "packets");
    // A copy assigns the other question; its packet and the copy come back in the wrong order.
    let copy = folder.join("copy.dissensus");
    std::fs::copy(&path, &copy).unwrap();
    let added = hand_out(folder, &copy, &of(vec![funny]), "more");
    assert_eq!(added.len(), 3, "texts that were handed out with one question are asked the other");
    work(folder, &added[0], usize::MAX);
    let files = merge(folder, &path, &[hand_in(folder, &added[0], "ada"), copy]);
    assert!(files.iter().all(|file| !file.refused), "{files:?}");
    assert_eq!((files[0].new, files[1].new), (10, 3));
}

#[test]
fn packets_contain_attention_checks_without_answers() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 60);
    let session = open_in(folder, &path);
    let rude = questions::find(&session.project, Some("rude")).unwrap();
    let file = folder.join("checks.csv");
    let rows: String = (1..=8).map(|n| format!("t{n},2,SECRET-REASON {n}\n")).collect();
    std::fs::write(&file, format!("text_id,label,reason\n{rows}")).unwrap();
    let new = study::checks_from(&session.study, rude.id, &file).unwrap();
    study::set_checks(&session.study, &new).unwrap();
    let checks = study::list_checks(&session.study).unwrap();
    assert_eq!(checks.len(), 8);
    assert_eq!((checks[0].answer_name.as_str(), checks[0].given), ("2", 1), "the stranger has answered");
    session.close();
    drop(session);

    let request = StudyRequest { per_text: 1, anchors: 3, repeat: 0.0, ..request(&["ada", "ben"]) };
    let packets = hand_out(folder, &path, &request, "out");
    for (packet, level) in packets.iter().zip([1, 0]) {
        let bytes = std::fs::read(packet).unwrap();
        assert!(!bytes.windows(13).any(|at| at == b"SECRET-REASON"), "the right answers stay in the project");
        let own = open_in(folder, packet);
        assert!(study::list_checks(&own.study).unwrap().is_empty());
        let texts = study::packet_texts(&own.study).unwrap();
        let hidden: Vec<usize> = texts
            .iter()
            .enumerate()
            .filter(|(_, text)| (1..=8).any(|n| text.text_id == format!("t{n}")))
            .map(|(place, _)| place)
            .collect();
        assert_eq!(hidden.len(), 8, "everybody gets every check");
        assert!(hidden.last().unwrap() > &10, "they are spread among the others: {hidden:?}");
        let me = annotators::list(&own.project).unwrap()[0].clone();
        for n in 1..=8 {
            let value = (level + 1).to_string();
            by_name::record(
                &own.labelling,
                &LabelByName::new(&me.external_id, &format!("t{n}"), &value, Some("rude")),
            )
            .unwrap();
        }
        let handed = folder.join(format!("{}.handin", me.external_id));
        study::hand_in(&own.study, &handed, false).unwrap();
        own.close();
    }

    let session = open_in(folder, &path);
    let files = ["ada", "ben"].map(|name| folder.join(format!("{name}.handin")));
    study::merge(&session.study, &files, &MergeConsent::all(), &Silent).unwrap();
    let report = study::report(&session.study).unwrap();
    assert_eq!(report.checks, 8);
    let of = |name: &str| report.people.iter().find(|person| person.name == name).unwrap().attention.clone();
    let (ada, ben) = (of("ada").unwrap(), of("ben").unwrap());
    assert!((ada.share - 1.0).abs() < 1e-9 && ada.of == 8 && ada.low > 0.5, "{ada:?}");
    assert!(ben.share.abs() < 1e-9 && ben.high < 0.5, "{ben:?}");
    assert_eq!(info::read(&session.project).unwrap().labels, 2 * 60 + 16, "every label is stored");

    // A removed check counts for no one; its labels stay.
    let back: Vec<_> = new.iter().map(|check| NewAttentionCheck { answer: None, ..check.clone() }).collect();
    study::set_checks(&session.study, &back[..4]).unwrap();
    assert_eq!(study::list_checks(&session.study).unwrap().len(), 4);
    let report = study::report(&session.study).unwrap();
    assert!(report.people.iter().all(|person| person.attention.is_none()), "four are too few to tell");

    for (rows, why) in [
        ("text_id,label\nt1,9\n", "row 1 (line 2)"),
        ("text_id,label\nt1,2\nt99,2\n", "row 2 (line 3): there is no text \"t99\""),
        ("text,label\nt1,2\n", "no column text_id"),
    ] {
        std::fs::write(&file, rows).unwrap();
        let refused = study::checks_from(&session.study, rude.id, &file).unwrap_err();
        assert_eq!(refused.code(), "check-file");
        assert!(refused.to_string().contains(why), "{refused}");
    }
    // Copies agree on them, in any order of merging.
    let copy = folder.join("copy.dissensus");
    session.close();
    drop(session);
    std::fs::copy(&path, &copy).unwrap();
    let other = open_in(folder, &copy);
    study::set_checks(&other.study, &new[..2]).unwrap();
    other.close();
    drop(other);
    let session = open_in(folder, &path);
    study::merge(&session.study, std::slice::from_ref(&copy), &MergeConsent::all(), &Silent).unwrap();
    assert_eq!(study::list_checks(&session.study).unwrap().len(), 6);
}

#[test]
fn decisions_are_exported_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 6);
    let session = open_in(folder, &path);
    let rude = questions::find(&session.project, Some("rude")).unwrap();
    for (who, value) in [("ana", "3"), ("ben", "2")] {
        by_name::record(&session.labelling, &LabelByName::new(who, "t1", value, Some("rude"))).unwrap();
    }
    let text = |id: &str| texts::find(&session.project, id).unwrap().0;
    let decide = |id: &str, outcome, answer: Option<u16>| {
        let (question, answer, by) = (rude.id, answer.map(Answer::from_level), "ana".to_owned());
        let comment = "ben meant 3, \"surely\"".to_owned();
        study::decide(
            &session.study,
            &NewDecision { question, text: text(id), outcome, answer, comment, by },
        )
        .unwrap();
    };
    decide("t1", Outcome::RealDifference, None);
    decide("t1", Outcome::Slip, Some(2));
    decide("t2", Outcome::Ambiguous, None);
    decide("t3", Outcome::Slip, None);
    decide("t4", Outcome::Slip, Some(0));
    decide("t4", Outcome::Reopened, None);

    let export = |decisions, pseudonyms| {
        let file = folder.join("export.csv");
        let question = Some("rude".to_owned());
        let choices =
            ExportChoices { question, replace: true, decisions, pseudonyms, ..ExportChoices::default() };
        let done = exchange::export(&session.exchange, &file, &choices, &Silent).unwrap();
        let mut reader = csv::Reader::from_path(&file).unwrap();
        let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
        assert_eq!(rows.len() as u64, done.answers);
        rows
    };
    let plain = export(None, None);
    assert!(plain.len() == 8 && !plain[0].contains_key("decision"), "unchanged where it is not asked for");
    let cells = |row: &BTreeMap<String, String>| {
        ["decision", "decided_answer", "decided_by"].map(|name| row[name].clone()).join("/")
    };
    let of = |rows: &[BTreeMap<String, String>], id: &str| -> Vec<String> {
        rows.iter()
            .filter(|row| row["text_id"] == id)
            .map(|row| format!("{} {}", row["label"], cells(row)))
            .collect()
    };
    let with_columns = export(Some(DecisionLayer::Columns), None);
    assert_eq!(of(&with_columns, "t1"), ["2 slip/3/ana", "3 slip/3/ana", "2 slip/3/ana"], "labels stay");
    assert_eq!(of(&with_columns, "t2"), ["3 ambiguous//ana"]);
    assert_eq!(of(&with_columns, "t4"), ["2 //"], "it holds no more");
    assert!(
        with_columns[0]["decision_comment"].contains("\"surely\"")
            && with_columns[0]["decided_at"].ends_with('Z')
    );
    let only = export(Some(DecisionLayer::Only), None);
    assert_eq!(only.iter().map(|row| row["text_id"].as_str()).collect::<Vec<_>>(), ["t1", "t2", "t3"]);
    assert!(only.iter().all(|row| row["annotator_id"].is_empty()), "it is nobody's label");
    assert_eq!(of(&only, "t1"), ["3 slip/3/ana"]);
    let shared = export(Some(DecisionLayer::Columns), Some(Pseudonymised { notes: false }));
    // In the order of the pseudonyms, which are random.
    let mut of_first = of(&shared, "t1");
    of_first.sort();
    assert_eq!(of_first, ["2 slip/3/", "2 slip/3/", "3 slip/3/"]);
    assert!(shared.iter().all(|row| row["decision_comment"].is_empty() && row["decided_at"].is_empty()));
    let conll = ExportChoices { decisions: Some(DecisionLayer::Only), ..ExportChoices::default() };
    let refused = exchange::export(&session.exchange, &folder.join("x.conll"), &conll, &Silent).unwrap_err();
    assert_eq!(refused.code(), "conll");

    let all = study::all_decisions(&session.study).unwrap();
    let reported: Vec<(String, bool)> = all
        .iter()
        .map(|one| (format!("{} {}", one.text_id.clone().unwrap(), one.outcome), one.holds))
        .collect();
    let reported: Vec<(&str, bool)> = reported.iter().map(|(what, holds)| (what.as_str(), *holds)).collect();
    assert_eq!(
        reported,
        [
            ("t1 slip", true),
            ("t1 real-difference", false),
            ("t2 ambiguous", true),
            ("t3 slip", true),
            ("t4 reopened", false),
            ("t4 slip", false)
        ]
    );
    assert_eq!(study::list_decisions(&session.study).unwrap().len(), 3);
}

#[test]
fn packets_with_an_earlier_guideline_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 12);
    let request = StudyRequest { per_text: 1, anchors: 1, repeat: 0.0, ..request(&["ada", "ben"]) };
    let packets = hand_out(folder, &path, &request, "out");
    assert!(report(folder, &path).earlier.is_empty(), "nothing was changed since");
    // Ben is done before the change.
    work(folder, &packets[1], 100);
    let done = hand_in(folder, &packets[1], "ben.handin");
    merge(folder, &path, &[done]);
    let session = open_in(folder, &path);
    std::thread::sleep(std::time::Duration::from_millis(3));
    let new = NewGuideline {
        body: "# How".to_owned(),
        change: String::new(),
        by: "Eva".to_owned(),
        pictures: Vec::new(),
        after: None,
    };
    session.guideline.write(&new, None).unwrap();
    let rude = questions::find(&session.project, Some("rude")).unwrap();
    let text = texts::find(&session.project, "t1").unwrap().0;
    study::set_checks(
        &session.study,
        &[NewAttentionCheck {
            question: rude.id,
            text,
            answer: Some(Answer::from_level(1)),
            reason: String::new(),
        }],
    )
    .unwrap();
    let earlier = study::report(&session.study).unwrap().earlier;
    let reported: Vec<_> =
        earlier.iter().map(|one| (one.annotator.as_str(), one.changed[0].as_str())).collect();
    assert_eq!(reported, [("ada", "the guideline")]);
    session.close();
    work(folder, &packets[0], 100);
    let done = hand_in(folder, &packets[0], "ada.handin");
    merge(folder, &path, &[done]);
    assert!(report(folder, &path).earlier.is_empty(), "nothing is out any more");
}

#[test]
fn packet_keeps_the_guideline_number() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 12);
    let session = open_in(folder, &path);
    for body in ["# First", "# Second"] {
        let new = NewGuideline {
            body: body.to_owned(),
            change: String::new(),
            by: String::new(),
            pictures: Vec::new(),
            after: None,
        };
        session.guideline.write(&new, None).unwrap();
    }
    session.close();
    let request = StudyRequest { per_text: 1, anchors: 1, repeat: 0.0, ..request(&["ada", "ben"]) };
    let packets = hand_out(folder, &path, &request, "out");
    let packet = open_in(folder, &packets[0]);
    let newest = packet.guideline.newest().unwrap().unwrap();
    assert_eq!((newest.number, newest.body.as_str()), (2, "# Second"));
    assert_eq!(packet.guideline.version(None).unwrap().number, 2);
    assert_eq!(packet.guideline.version(Some(2)).unwrap().number, 2);
    assert_eq!(packet.guideline.versions().unwrap().len(), 1);
    let refused = packet.guideline.version(Some(1)).unwrap_err().to_string();
    assert!(refused.contains("there is only version 2"), "{refused}");
}

#[test]
fn texts_short_of_people_after_withdrawal_are_reassigned() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 12);
    let request = StudyRequest { per_text: 2, anchors: 0, repeat: 0.0, ..request(&["ada", "ben", "cleo"]) };
    hand_out(folder, &path, &request, "out");
    let before = report(folder, &path);
    assert_eq!((before.per_text, before.short_texts), (2, 0));
    let session = open_in(folder, &path);
    let cleo = annotators::find(&session.project, "cleo").unwrap().id;
    let texts = withdraw::traces(&session.project, cleo).unwrap().texts;
    assert_eq!(texts, 8, "12 texts of two people each by three people");
    assert_eq!(withdraw::withdraw(&session.project, cleo).unwrap().texts, texts);
    session.close();
    let after = report(folder, &path);
    assert_eq!((after.texts, after.short_texts > 0), (12, true));
    // As documented: the same number of people per text.
    hand_out(
        folder,
        &path,
        &StudyRequest { people: vec!["ada".into(), "ben".into(), "dora".into()], ..request },
        "more",
    );
    let filled = report(folder, &path);
    assert_eq!((filled.per_text, filled.short_texts), (2, 0));
}

#[test]
fn unwritten_packets_are_reported_by_the_next_plan() {
    struct StopsAfter(std::sync::atomic::AtomicU64, u64);
    impl Progress for StopsAfter {
        fn report(&self, done: u64, _: Option<u64>, _: &str) {
            self.0.store(done, std::sync::atomic::Ordering::SeqCst);
        }
        fn cancelled(&self) -> bool {
            self.0.load(std::sync::atomic::Ordering::SeqCst) >= self.1
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 12);
    let session = open_in(folder, &path);
    let out = folder.join("packets");
    let people = request(&["ada", "ben", "cleo"]);
    let stop = StopsAfter(0.into(), 1);
    let stopped = study::hand_out(&session.study, &people, &out, &stop).unwrap_err();
    assert_eq!(stopped.code(), "packets-unwritten");
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 1);
    // After being killed there, the next run reports what is missing and how to get it.
    for request in [people, request(&["dora", "emil", "fay"])] {
        let reported = study::hand_out(&session.study, &request, &out, &Silent).unwrap_err();
        assert_eq!(reported.code(), "packets-unwritten");
        let reported = reported.to_string();
        assert!(
            reported.contains("2 packets") && reported.contains("--write-again --annotators \"ben,cleo\""),
            "{reported}"
        );
    }
    let names = ["ben".to_owned(), "cleo".to_owned()];
    assert_eq!(study::write_again(&session.study, &names, &out, &Silent).unwrap().len(), 2);
    let more = StudyRequest { repeat: 0.0, ..request(&["dora", "emil", "fay"]) };
    study::hand_out(&session.study, &more, &out, &Silent).unwrap();
}

#[cfg(unix)]
#[test]
fn packets_copies_and_backups_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = project(folder, 10);
    let mode = |file: &Path| std::fs::metadata(file).unwrap().permissions().mode() & 0o777;
    let out = folder.join("packets");
    /// Inspects files while they are written.
    struct Looks(PathBuf, std::sync::Mutex<Vec<u32>>);
    impl Progress for Looks {
        fn report(&self, _: u64, _: Option<u64>, _: &str) {
            for entry in std::fs::read_dir(&self.0).unwrap().flatten() {
                self.1.lock().unwrap().push(entry.metadata().unwrap().permissions().mode() & 0o077);
            }
        }
        fn cancelled(&self) -> bool {
            false
        }
    }
    std::fs::create_dir(&out).unwrap();
    let looks = Looks(out.clone(), Vec::new().into());
    let session = open_in(folder, &path);
    study::hand_out(&session.study, &request(&["ada", "ben", "cleo"]), &out, &looks).unwrap();
    assert!(looks.1.lock().unwrap().iter().all(|others| *others == 0));
    let copy = folder.join("copy.dissensus");
    copy::save_copy(&session.project, &copy, Default::default(), &Silent).unwrap();
    session.close();
    assert_eq!(mode(&copy), 0o600);
    // Nor is the backup before a merge readable for others.
    let stranger = open_in(folder, &copy);
    let id = annotators::find(&stranger.project, "stranger").unwrap().id;
    withdraw::withdraw(&stranger.project, id).unwrap();
    stranger.close();
    let merged = merge(folder, &path, &[copy]);
    assert_eq!(mode(Path::new(merged[0].backup.as_ref().unwrap())), 0o600);
}
