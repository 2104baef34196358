//! Submissions as files of JSON lines: written here, by other programs, by earlier versions, and by forgers.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{TestFolder, authentication_code, create, import_into, open, write_former_submission};
use dissensus_api::{
    ImportChoices, MergeConsent, MergedFile, MergedKind, NewLabel, NewPracticeAnswer, NewPracticeText,
    StudyRequest, TextOrder,
};
use dissensus_domain::LabelSource;
use dissensus_domain::{Answer, Condition, LevelEdit, Scale, ScaleKind};
use dissensus_editing::questions::AddQuestion;
use dissensus_editing::{QuestionChange, annotators, info, questions};
use dissensus_labelling::record::RecordLabel;
use dissensus_labelling::{next_text, practice_answers, reannotation, record, undo};
use dissensus_project::jobs::{Progress, Silent};
use dissensus_store::{PacketKey, Store};
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use dissensus_transfer::study;
use rstest::rstest;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A project with `texts` texts that two people labelled, and ada's packet of all of them, a tenth of them
/// twice.
fn project(folder: &TestFolder, texts: usize) -> (PathBuf, PathBuf) {
    let project = folder.path("study.dissensus");
    let session = create(&project);
    let mut rows = "text_id,text,annotator_id,label\n".to_owned();
    for text in 1..=texts {
        for (person, label) in [("ben", text % 3 + 1), ("cleo", text % 2 + 1)] {
            rows += &format!("comment-{text:05},Body of text {text},{person},{label}\n");
        }
    }
    let file = folder.file("labels.csv", &rows);
    let choices = ImportChoices { question: Some("rude".into()), ..ImportChoices::default() };
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    exchange::import(&session.exchange, &file, &choices, Some(&silent)).unwrap();
    let request = StudyRequest {
        questions: Vec::new(),
        people: vec!["ada".into()],
        per_text: 3,
        per_person: None,
        anchors: 0,
        repeat: 0.1,
        again_after: 1,
        new_people: false,
        balance: None,
        seed: 3,
    };
    // The other two have labelled every text, so that ada gets all.
    let request = StudyRequest { people: ["ada", "ben", "cleo"].map(str::to_owned).to_vec(), ..request };
    study::hand_out(&session.study, &request, &folder.path("packets"), &Silent).unwrap();
    session.close();
    (project, folder.path("packets/ada.dissensus"))
}

/// Answers up to `most` texts, changes one answer and takes one back.
fn work(packet: &Path, most: usize) {
    let session = open(packet);
    let question = info::read(&session.project).unwrap().questions[0].id;
    let me = annotators::list(&session.project).unwrap()[0].id;
    let mut after = None;
    for at in 0..most {
        let next = next_text::choose(&session.labelling, me, [question], TextOrder::File, after).unwrap();
        let Some(task) = next else { break };
        let answer = Answer::from_level((at % 3) as u16);
        let new = NewLabel {
            question,
            annotator: me,
            text: task.text,
            answer,
            duration_ms: Some(1_500 + at as u32),
        };
        match task.occasion {
            1 => drop(record::record_label(&session.labelling, &new).unwrap()),
            again => drop(
                reannotation::record(&session.labelling, &RecordLabel::new(&new, LabelSource::Window), again)
                    .unwrap(),
            ),
        }
        if at == 2 {
            let answer = Answer::from_level(1);
            drop(record::record_label(&session.labelling, &NewLabel { answer, ..new }).unwrap());
        }
        after = Some(task.text);
    }
    if most > 3 {
        undo::undo(&session.labelling, me, [question], LabelSource::Window).unwrap();
    }
    session.close();
}

fn hand_in(packet: &Path, file: &Path) -> u64 {
    let session = open(packet);
    study::hand_in(&session.study, file, true).unwrap();
    session.close();
    std::fs::metadata(file).unwrap().len()
}

fn merge(project: &Path, file: &Path) -> MergedFile {
    let session = open(project);
    let report = study::merge(&session.study, &[file.to_owned()], &MergeConsent::all(), &Silent).unwrap();
    session.close();
    report.files.into_iter().next().unwrap()
}

/// All answers and everything that was done, by names.
fn state(project: &Path) -> Vec<String> {
    let session = open(project);
    let file = project.with_extension("csv");
    let choices = ExportChoices { replace: true, ..ExportChoices::default() };
    exchange::export(&session.exchange, &file, &choices, &Silent).unwrap();
    session.close();
    let mut lines: Vec<String> = std::fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect();
    let store = Store::open_reader(project).unwrap();
    lines.extend(store.submissions().unwrap().iter().map(|one| format!("{} {}", one.at_ms, one.answers)));
    lines
}

fn key(packet: &Path) -> PacketKey {
    Store::open_reader(packet).unwrap().own_packet_key().unwrap().unwrap()
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a submission as docs/src/reference/submission.md describes it.
fn write(file: &Path, mut header: Value, records: &[Value], key: &PacketKey) {
    let records: String = records.iter().map(|record| format!("{record}\n")).collect();
    header["bytes"] = json!(records.len());
    // The file begins with the name of the format.
    let version = header.as_object_mut().unwrap().remove("dissensus-submission").unwrap();
    let others = header.to_string();
    let signed = format!("{{\"dissensus-submission\":{version},{}\n{records}", &others[1..]);
    let code = digits(&authentication_code(key, signed.as_bytes()));
    std::fs::write(file, format!("{signed}{}\n", json!({ "hmac-sha256": code }))).unwrap();
}

/// The header and the records of a submission, without its code.
fn lines(file: &Path) -> (Value, Vec<Value>) {
    let content = std::fs::read_to_string(file).unwrap();
    let mut lines = content.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
    lines.pop();
    (lines.remove(0), lines)
}

#[test]
fn both_formats_merge_alike() {
    let folder = TestFolder::new();
    let (project, packet) = project(&folder, 20);
    work(&packet, 30);
    let (new, old) = (folder.path("new.handin"), folder.path("old.handin"));
    hand_in(&packet, &new);
    let (header, _) = lines(&new);
    let other = folder.path("other.dissensus");
    std::fs::copy(&project, &other).unwrap();
    let number = |name: &str| header[name].as_i64().unwrap();
    write_former_submission(&packet, &old, number("at_ms"), number("answers") as u32);
    let (here, there) = (merge(&project, &new), merge(&other, &old));
    assert!(!here.refused && !there.refused, "{here:?} {there:?}");
    assert_eq!(here.kind, Some(MergedKind::HandIn));
    assert_eq!((here.new, here.events), (there.new, there.events));
    assert!(here.new > 20, "{here:?}");
    assert_eq!(state(&project), state(&other));
    // Everything has the same identity: nothing is merged twice.
    let (again, back) = (merge(&project, &old), merge(&other, &new));
    assert_eq!(
        (again.refused, again.new, back.refused, back.new),
        (false, 0, false, 0),
        "{again:?} {back:?}"
    );
    assert_eq!(merge(&project, &packet).new, 0);
}

#[test]
fn submission_of_a_thousand_answers_has_less_than_200_kilobytes() {
    let folder = TestFolder::new();
    let (_, packet) = project(&folder, 1_000);
    work(&packet, 1_000);
    let bytes = hand_in(&packet, &folder.path("ada.handin"));
    assert!(bytes < 200_000, "{bytes} bytes");
}

#[test]
fn other_programs_can_write_submissions() {
    let folder = TestFolder::new();
    let (project, packet) = project(&folder, 10);
    let store = Store::open_reader(&packet).unwrap();
    let id = store.own_packet().unwrap().unwrap().id.0;
    let header = json!({
        "dissensus-submission": 2, "project": store.project_id().unwrap().0, "packet": id,
        "at_ms": 1_790_000_000_000_i64, "answers": 2,
    });
    let text = |n: usize| {
        let body = Sha256::digest(format!("Body of text {n}"));
        json!([format!("comment-{n:05}"), digits(&body[..8])])
    };
    let names = json!({
        "questions": [{ "name": "rude", "levels": ["1", "2", "3"] }],
        "texts": [text(4), text(7)],
        "copies": [{ "id": "0198f3a5-9c1e-7d42-8f3a-3f1f6f1f0a01", "made_at_ms": 1_789_000_000_000_i64 }],
    });
    let event = |sequence: u32, text: u16, mut event: Value| {
        event["key"] = json!([0, sequence]);
        event["question"] = json!(0);
        event["text"] = json!(text);
        event["at_ms"] = json!(1_789_000_000_000_i64 + i64::from(sequence));
        json!({ "event": event })
    };
    let level = |value: u16| json!({ "kind": "level", "value": value });
    let records = [
        names,
        event(1, 0, json!({ "answer": level(2) })),
        event(2, 1, json!({ "answer": level(0), "duration_ms": 900 })),
        event(3, 1, json!({ "answer": level(1), "replaces": [0, 2] })),
        event(4, 0, json!({ "mark": "flag" })),
    ];
    let file = folder.path("ada.handin");
    write(&file, header, &records, &key(&packet));
    let merged = merge(&project, &file);
    assert!(!merged.refused && merged.new == 4, "{merged:?}");
    let state = state(&project);
    let of = |text: &str| state.iter().find(|line| line.contains(text) && line.contains("ada")).unwrap();
    assert!(of("comment-00004").contains(",3,") && of("comment-00007").contains(",2,"), "{state:?}");
}

#[test]
fn forged_lines_are_refused_entirely() {
    let folder = TestFolder::new();
    let (project, packet) = project(&folder, 10);
    work(&packet, 5);
    let file = folder.path("ada.handin");
    hand_in(&packet, &file);
    let (header, records) = lines(&file);
    let (before, key) = (state(&project), key(&packet));
    let first = records.iter().position(|record| record["event"].is_object()).unwrap();
    type Edit = fn(&mut Vec<Value>, usize);
    let edits: [(&str, Edit); 20] = [
        ("another person", |all, at| all[at]["event"]["annotator"] = json!("ben")),
        ("a new person", |all, at| all[at]["event"]["annotator"] = json!("mallory")),
        ("a question outside the list", |all, at| all[at]["event"]["question"] = json!(9)),
        ("an unknown question", |all, _| all[0]["questions"][0]["name"] = json!("other")),
        ("an unknown level", |all, _| all[0]["questions"][0]["levels"][0] = json!("other")),
        ("a level outside the scale", |all, at| all[at]["event"]["answer"]["value"] = json!(40)),
        ("another kind of answer", |all, at| {
            all[at]["event"]["answer"] = json!({ "kind": "options", "value": [0] });
        }),
        ("a text outside the list", |all, at| all[at]["event"]["text"] = json!(900)),
        ("an unknown text", |all, _| all[0]["texts"][0][0] = json!("other")),
        ("another body", |all, _| all[0]["texts"][0][1] = json!("0123456789abcdef")),
        ("a copy outside the list", |all, at| all[at]["event"]["key"] = json!([7, 1])),
        ("a key twice", |all, at| all.push(all[at].clone())),
        ("an event before it was done", |all, at| {
            all[at]["event"]["replaces"] = json!([0, 900]);
        }),
        ("a round that was not assigned", |all, at| all[at]["event"]["occasion"] = json!(5)),
        ("an unknown mark", |all, at| {
            all[at]["event"]["answer"] = Value::Null;
            all[at]["event"]["mark"] = json!("stolen");
        }),
        ("an answer that is a mark", |all, at| all[at]["event"]["mark"] = json!("flag")),
        ("an unknown field", |all, at| all[at]["event"]["admin"] = json!(true)),
        ("a wording that was never used", |all, _| all[0]["wordings"][0]["prompt"] = json!("Vote for me?")),
        ("a setting of the study", |all, _| {
            all.push(json!({ "fact": { "kind": "care", "at_ms": 1, "value": { "limit": 1 } } }));
        }),
        ("a withdrawal", |all, _| {
            all.push(json!({ "fact": { "kind": "withdrawal", "key": "00", "at_ms": 1, "value": true } }));
        }),
    ];
    for (what, edit) in edits {
        let mut forged = records.clone();
        edit(&mut forged, first);
        write(&file, header.clone(), &forged, &key);
        let merged = merge(&project, &file);
        assert!(merged.refused && merged.new == 0, "{what}: {merged:?}");
        assert!(!merged.problems.is_empty(), "{what}");
        assert_eq!(state(&project), before, "{what}");
    }
    // The same lines under another key.
    write(&file, header.clone(), &records, &PacketKey([1; 32]));
    assert_eq!(merge(&project, &file).problems[0].problem.code, "merge-tampered");
    write(&file, header, &records, &key);
    assert!(!merge(&project, &file).refused);
}

#[test]
fn changes_of_the_study_since_the_assignment_refuse_no_submission() {
    let folder = TestFolder::new();
    let (project, _) = project(&folder, 10);
    let session = open(&project);
    let question = info::read(&session.project).unwrap().questions[0].id;
    // A text that is handed out cannot be practised on.
    import_into(&session, "rude", "text_id,text\nlesson,A text to practise on\n");
    let lesson = Store::open_reader(&project).unwrap().text_by_external("lesson").unwrap().unwrap().id;
    let practise = |answer: Option<Answer>| {
        let text = NewPracticeText { question, text: lesson, answer, reason: String::new() };
        study::set_practice(&session.study, &[text]).unwrap();
    };
    practise(Some(Answer::from_level(1)));
    let request = StudyRequest {
        questions: vec![question],
        people: ["dora", "eve", "finn"].map(str::to_owned).to_vec(),
        per_text: 4,
        per_person: None,
        anchors: 0,
        repeat: 0.0,
        again_after: 1,
        new_people: false,
        balance: None,
        seed: 3,
    };
    study::hand_out(&session.study, &request, &folder.path("later"), &Silent).unwrap();
    let packet = folder.path("later/dora.dissensus");
    let own = open(&packet);
    let me = annotators::list(&own.project).unwrap()[0].id;
    let asked = practice_answers::next(&own.labelling, me).unwrap().unwrap();
    let new = NewPracticeAnswer {
        annotator: me,
        question: asked.question,
        text: asked.text,
        answer: Answer::from_level(1),
    };
    practice_answers::record(&own.labelling, &new).unwrap();
    own.close();
    work(&packet, 3);
    let file = folder.path("dora.handin");
    hand_in(&packet, &file);
    work(&packet, 1);
    hand_in(&packet, &file);
    // The practice ends, and the question gets a condition on one that was not handed out.
    practise(None);
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    let seen =
        questions::add(&session.project, AddQuestion::new("seen", "Can you read it?", scale)).unwrap().id;
    let change =
        QuestionChange { only_if: Some(Some(Condition::new(seen, [1]))), ..QuestionChange::default() };
    questions::edit(&session.project, question, &change).unwrap();
    session.close();
    let merged = merge(&project, &file);
    assert!(!merged.refused && merged.new > 3, "{merged:?}");
    // Both submissions are on record, also the first, whose file was replaced.
    assert_eq!(Store::open_reader(&project).unwrap().submissions().unwrap().len(), 2);
}

/// The levels of a question after an edit: each with the level that it was, by its position.
type Levels = &'static [(Option<u16>, &'static str)];

/// A submission of a packet whose question got other levels in the project, after the packet was handed out
/// and before the submission was merged. Each answer is the level that its person chose, under the name that
/// it has now.
#[rstest]
#[case::renamed(&[(Some(0), "none"), (Some(1), "2"), (Some(2), "much"), (Some(3), "4")], ["none", "2", "much"])]
#[case::swapped(&[(Some(0), "3"), (Some(1), "2"), (Some(2), "1"), (Some(3), "4")], ["3", "2", "1"])]
#[case::reordered(&[(Some(3), "4"), (Some(2), "3"), (Some(1), "2"), (Some(0), "1")], ["1", "2", "3"])]
#[case::added(&[(None, "0"), (Some(0), "1"), (None, "1.5"), (Some(1), "2"), (Some(2), "3"), (Some(3), "4")], ["1", "2", "3"])]
#[case::unused_removed(&[(Some(0), "1"), (Some(1), "2"), (Some(2), "3")], ["1", "2", "3"])]
#[case::used_removed(&[(Some(0), "1"), (Some(2), "3"), (Some(3), "4")], ["1", "2", "3"])]
#[case::all_at_once(&[(None, "0"), (Some(2), "one"), (Some(0), "three")], ["three", "2", "one"])]
#[case::removed_and_added_by_its_name(&[(Some(0), "1"), (None, "2"), (Some(2), "3")], ["1", "2 (2)", "3"])]
fn levels_that_changed_meanwhile_keep_their_answers(#[case] edited: Levels, #[case] names: [&str; 3]) {
    let folder = TestFolder::new();
    let project = folder.path("study.dissensus");
    let session = create(&project);
    let scale = Scale::new(ScaleKind::Ordinal, ["1", "2", "3", "4"]).unwrap();
    let question = questions::add(&session.project, AddQuestion::new("rude", "Is it?", scale)).unwrap().id;
    let rows: String = (0..9).map(|n| format!("t{n},Body of text {n}\n")).collect();
    import_into(&session, "rude", &format!("text_id,text\n{rows}"));
    let request = StudyRequest {
        questions: vec![question],
        people: vec!["ada".into()],
        per_text: 1,
        per_person: None,
        anchors: 0,
        repeat: 0.0,
        again_after: 1,
        new_people: false,
        balance: None,
        seed: 3,
    };
    study::hand_out(&session.study, &request, &folder.path("packets"), &Silent).unwrap();
    let packet = folder.path("packets/ada.dissensus");
    work(&packet, 9);
    let file = folder.path("ada.handin");
    hand_in(&packet, &file);
    let chosen = labels(&packet);
    assert_eq!(chosen.values().collect::<BTreeSet<_>>().len(), 3, "{chosen:?}");

    let asked = questions::find(&session.project, Some("rude")).unwrap();
    let level = |(from, name): &(Option<u16>, &str)| LevelEdit {
        from: from.map(|at| asked.scale.ids()[usize::from(at)]),
        name: (*name).to_owned(),
        definition: String::new(),
    };
    let levels = Some(edited.iter().map(level).collect());
    questions::edit(&session.project, question, &QuestionChange { levels, ..QuestionChange::default() })
        .unwrap();
    session.close();
    let merged = merge(&project, &file);
    assert!(!merged.refused, "{merged:?}");
    let now = |label: &String| names[label.parse::<usize>().unwrap() - 1].to_owned();
    let expected = |chosen: BTreeMap<String, String>| -> BTreeMap<String, String> {
        chosen.into_iter().map(|(text, label)| (text, now(&label))).collect()
    };
    assert_eq!(labels(&project), expected(chosen));
    // A level that was removed is there again, which is reported.
    let known: Vec<&str> = edited.iter().map(|(_, name)| *name).collect();
    let back = names.iter().any(|name| !known.contains(name));
    let reported = merged.problems.iter().any(|one| one.problem.message.contains("come back"));
    assert_eq!(reported, back, "{merged:?}");
    // What the packet sends later is read in the same way.
    work(&packet, 1);
    hand_in(&packet, &file);
    assert!(!merge(&project, &file).refused);
    assert_eq!(labels(&project), expected(labels(&packet)));
}

/// The answers in a project, by texts.
fn labels(project: &Path) -> BTreeMap<String, String> {
    let session = open(project);
    let file = project.with_extension("labels.csv");
    let choices = ExportChoices { replace: true, ..ExportChoices::default() };
    exchange::export(&session.exchange, &file, &choices, &Silent).unwrap();
    session.close();
    let rows = csv::Reader::from_path(file).unwrap().into_deserialize::<BTreeMap<String, String>>();
    rows.map(Result::unwrap).map(|row| (row["text_id"].clone(), row["label"].clone())).collect()
}
