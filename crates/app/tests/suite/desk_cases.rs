//! The rules of the desk as recorded cases: what a task packet answers to a long series of commands.
//!
//! The page of a packet (`ui/src/page`) has the same rules in TypeScript; `ui/src/page/cases.test.ts` plays
//! the same cases, and checks that they have every command and every refusal of the page. With
//! DISSENSUS_WRITE_RECORDINGS=1 they are drawn and recorded anew.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

mod commands;
mod person;
mod study;

use crate::support::{TestFolder, open, open_in};
use commands::Desk;
use dissensus_api::{ImportChoices, LabelDetails, NewLabel, PacketFormat, StudyRequest, TextQuery};
use dissensus_domain::{AfterFailing, Answer, LabelSource, Note, QuestionId, TextId};
use dissensus_editing::questions;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_store::{PacketWork, Store, WorkCopy, WorkEvent, WorkNames, WorkQuestion, WorkRecord};
use dissensus_transfer::exchange;
use dissensus_transfer::study::{self as studies, PacketFolder, PageSettings};
use person::{Person, bad_notes};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use study::{Asked, Before, Handed, content, hand_out};

/// A study that hands out one packet, and what its person does.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    asked: Asked,
    /// Share of the texts that come twice.
    repeat: f64,
    /// Whether there is practice, and what happens to those who fail.
    practice: Option<AfterFailing>,
    before: Before,
    /// Harmful texts a day, and whether the limit is strict.
    limit: Option<(u32, bool)>,
    /// Whether the study defines what is harmful.
    harmful: bool,
    form: bool,
    guideline: bool,
    consent: bool,
    /// Whether one text is long, and one has no name.
    odd_texts: bool,
    first: First,
    /// Number of random commands.
    steps: usize,
}

/// What is done before the random commands.
#[derive(Clone, Copy, PartialEq)]
enum First {
    Practice,
    /// What is refused, or allowed at a limit.
    Refusals,
    /// The person's own harmful level, which the page that is written again lacks.
    OwnLevel,
    /// Answers came from two copies, the clock of one of which was set back.
    TwoCopies,
    /// The first round, up to a text that comes again, and that text.
    Rounds,
}

const PLAIN: Case = Case {
    name: "one-question",
    asked: Asked::One,
    repeat: 0.0,
    practice: None,
    before: Before::Nothing,
    limit: None,
    harmful: true,
    form: false,
    guideline: false,
    consent: false,
    odd_texts: false,
    first: First::Practice,
    steps: 110,
};

const CASES: [Case; 13] = [
    Case { odd_texts: true, ..PLAIN },
    Case { name: "conditions", asked: Asked::Parts, form: true, limit: Some((2, false)), ..PLAIN },
    Case { name: "again", repeat: 0.3, first: First::Rounds, steps: 50, ..PLAIN },
    Case {
        name: "conditions-again",
        asked: Asked::Parts,
        repeat: 0.3,
        first: First::Rounds,
        steps: 50,
        ..PLAIN
    },
    Case {
        name: "practice",
        asked: Asked::Parts,
        practice: Some(AfterFailing::Practise),
        limit: Some((6, false)),
        ..PLAIN
    },
    Case {
        name: "stopped",
        practice: Some(AfterFailing::Stop),
        limit: Some((2, true)),
        form: true,
        steps: 20,
        ..PLAIN
    },
    Case {
        name: "levels",
        asked: Asked::Levels,
        limit: Some((2, false)),
        harmful: false,
        guideline: true,
        steps: 120,
        ..PLAIN
    },
    Case {
        name: "failed-and-on",
        asked: Asked::Levels,
        practice: Some(AfterFailing::GoOn),
        repeat: 0.3,
        limit: Some((1, true)),
        steps: 60,
        ..PLAIN
    },
    Case {
        name: "practised-before",
        practice: Some(AfterFailing::Practise),
        before: Before::Practised,
        steps: 20,
        ..PLAIN
    },
    Case {
        name: "missed-check",
        practice: Some(AfterFailing::GoOn),
        before: Before::MissedCheck,
        steps: 20,
        ..PLAIN
    },
    Case {
        name: "refusals",
        form: true,
        guideline: true,
        consent: true,
        first: First::Refusals,
        steps: 0,
        ..PLAIN
    },
    Case {
        name: "own-level",
        asked: Asked::Levels,
        limit: Some((1, false)),
        harmful: false,
        first: First::OwnLevel,
        steps: 20,
        ..PLAIN
    },
    Case { name: "two-copies", first: First::TwoCopies, steps: 20, ..PLAIN },
];

/// The identity of the guideline in recordings.
const GUIDELINE: &str = "00000000-0000-0000-0000-000000000003";

fn recorded(case: &Case, folder: &TestFolder, seed: u64) -> Value {
    let handed = hand_out(folder, case);
    let content = content(&handed.page);
    let stored = (case.first == First::TwoCopies).then(|| two_copies(folder, &handed));
    let desk = Desk::new(open(&handed.packet), folder.path(&format!("{}-out", case.name)));
    let mut person = Person::new(desk, &content, seed);
    let me = person.me;
    let mut steps = vec![person.play("nextText", json!([me, person.all, "file", null]))];
    match case.first {
        First::Practice => steps.extend(practise(&mut person, case)),
        First::Refusals => steps.extend(refusals(&mut person)),
        First::Rounds => steps.extend(rounds(&mut person)),
        First::OwnLevel => {
            let (next, done) = own_level(person, folder, case, &handed, seed);
            person = next;
            steps.extend(done);
        }
        First::TwoCopies => {
            let label = label(&person, 1, Answer::from_level(0));
            steps.push(person.play("undoLabel", json!([me, person.all])));
            steps.push(person.play("recordLabel", json!([label, LabelDetails::default()])));
            (0..2).for_each(|_| steps.push(person.play("undoLabel", json!([me, person.all]))));
        }
    }
    if case.limit.is_some() {
        steps.push(person.play("goOnToday", json!([me])));
    }
    (0..case.steps).for_each(|_| steps.push(person.step()));
    for command in ["openPacket", "handIn", "openPacket"] {
        steps.push(person.play(command, json!([])));
    }
    if case.practice.is_some() {
        steps.push(person.play("practiceState", json!([me])));
    }
    let mut desk = person.desk;
    let file = desk.next_file();
    studies::hand_in(&desk.session.study, &file, false).unwrap();
    desk.session.close();
    let guideline = content["guideline"]["id"].as_str().unwrap_or(GUIDELINE).to_owned();
    // Of practice before the packet the page knows no times, and the project has it already.
    let submission = (case.before == Before::Nothing).then(|| submission(&file));
    let case = json!({ "content": content, "stored": stored, "steps": steps, "submission": submission });
    let case = case.to_string().replace(&guideline, GUIDELINE);
    let mut case: Value = serde_json::from_str(&case).unwrap();
    for part in ["content", "steps", "submission"] {
        without_times(&mut case[part]);
    }
    case
}

/// Practises. The first round fails where it does not end the work.
fn practise(person: &mut Person, case: &Case) -> Vec<Value> {
    let Some(then) = case.practice else { return Vec::new() };
    let mut steps = vec![person.play("practiceState", json!([person.me]))];
    let rounds: &[bool] = match (then, case.before) {
        (AfterFailing::Practise, Before::Nothing) => &[false, true],
        (_, Before::Nothing) => &[false],
        _ => &[true],
    };
    if case.asked == Asked::Parts {
        let span = json!({ "start": 0, "end": 99, "kind": 1 });
        let answer = json!({ "kind": "spans", "value": [span] });
        let text = dissensus_editing::texts::find(&person.desk.session.project, "t2").unwrap().0;
        let new =
            json!({ "annotator": person.me, "question": person.all[2], "text": text, "answer": answer });
        steps.push(person.play("recordPractice", json!([new])));
    }
    for right in rounds {
        let state = person.desk.call("practiceState", &json!([person.me])).unwrap();
        for _ in 0..state["total"].as_u64().unwrap() - state["done"].as_u64().unwrap() {
            steps.extend(person.practise(*right));
        }
        steps.push(person.play("practiceState", json!([person.me])));
    }
    steps.extend(person.practise(true));
    // There is nothing to practise now.
    let first = dissensus_editing::texts::find(&person.desk.session.project, "t1").unwrap().0;
    let label = NewLabel { text: first, ..label(person, 0, Answer::from_level(0)) };
    let NewLabel { annotator, question, text, answer, .. } = label;
    let new = json!({ "annotator": annotator, "question": question, "text": text, "answer": answer });
    steps.push(person.play("recordPractice", json!([new])));
    steps
}

fn label(person: &Person, text: u32, answer: Answer) -> NewLabel {
    let (question, annotator) = (person.all[0], person.me);
    NewLabel { question, annotator, text: TextId(text), answer, duration_ms: None }
}

fn own_care(limit: Option<u32>, harmful: Value, words: Value) -> Value {
    json!({ "limit": limit, "harmful": harmful, "words": words, "groups": [] })
}

/// Answers, changes and takes back what comes again.
fn rounds(person: &mut Person) -> Vec<Value> {
    let (mut steps, again) = person.first_round();
    let Some(text) = again else { return steps };
    let (me, all) = (person.me, person.all.clone());
    let given = person.answer_open(text, 2);
    let last: Option<NewLabel> =
        given.last().map(|step| serde_json::from_value(step["arguments"][0].clone()).unwrap());
    steps.extend(given);
    let Some(last) = last else { return steps };
    let typed = |words: &str| Note { note: Some(words.to_owned()), ..Note::default() };
    let noted = LabelDetails { note: typed("again"), guideline: None };
    let task = json!([me, last.question, text, 2]);
    let draft = |note: Option<Note>| json!([me, last.question, text, 2, note]);
    let other = NewLabel { answer: person.answer(last.question), ..last.clone() };
    for (command, arguments) in [
        // The same answer with a note is no new answer.
        ("recordAgain", json!([last, noted, 2])),
        ("labelTask", task.clone()),
        ("saveDraft", draft(Some(typed("unfinished")))),
        ("labelTask", task.clone()),
        ("recordAgain", json!([other, LabelDetails::default(), 2])),
        ("labelTask", task.clone()),
        ("undoLabel", json!([me, all])),
        ("undoLabel", json!([me, all])),
        ("labelTask", task.clone()),
        ("saveDraft", draft(None)),
        ("recordAgain", json!([last, noted, 2])),
        ("labelTask", task),
        ("progress", json!([me, all])),
        ("openPacket", json!([])),
    ] {
        steps.push(person.play(command, arguments));
    }
    steps
}

/// What nobody can do in the desk, or only at a limit.
fn refusals(person: &mut Person) -> Vec<Value> {
    let (me, rude) = (person.me, person.all[0]);
    let left = person.desk.call("consentLeft", &json!([me])).unwrap();
    let version = left["version"].clone();
    let (other, nowhere) = (me.0 + 1, QuestionId(77));
    let plain = LabelDetails::default();
    let given = |text: u32| label(person, text, Answer::from_level(0));
    let foreign = NewLabel { annotator: dissensus_domain::AnnotatorId(other), ..given(1) };
    let noted = |note: Note| LabelDetails { note, guideline: None };
    let long = |length: usize| noted(Note { note: Some("x".repeat(length)), ..Note::default() });
    let own = |limit: Option<u32>, words: &[&str]| own_care(limit, Value::Null, json!(words));
    let practice =
        json!({ "annotator": other, "question": rude, "text": 1, "answer": Answer::from_level(0) });
    let list = |filter: &str| {
        let query = TextQuery { annotator: Some(me), ..TextQuery::default() };
        let mut query = serde_json::to_value(query).unwrap();
        query["filter"] = json!(filter);
        query
    };
    let many: Vec<String> = (0..201).map(|n| n.to_string()).collect();
    let full = Note { reasons: (0..20).map(|n| format!("{n:0>100}")).collect(), ..Note::default() };
    let mut all = vec![
        ("recordLabel", json!([foreign, plain])),
        ("recordAgain", json!([foreign, plain, 2])),
        ("saveNote", json!([other, rude, 1, plain])),
        ("saveDraft", json!([other, rude, 1, 1, Note::default()])),
        ("saveDraft", json!([other, rude, 1, 1, null])),
        ("undoLabel", json!([other, [rude]])),
        ("skipText", json!([other, [rude], 1])),
        ("flagText", json!([other, rude, 1, true])),
        ("recordPractice", json!([practice])),
        ("answerForm", json!([other, { "age": "30+" }])),
        ("readText", json!([other, 1])),
        ("goOnToday", json!([other])),
        ("setOwnCare", json!([other, own(None, &[])])),
        ("nextText", json!([me, [], "file", null])),
        ("nextText", json!([me, [nowhere], "file", null])),
        ("progress", json!([me, []])),
        ("undoLabel", json!([me, []])),
        ("skipText", json!([me, [], 1])),
        ("skipText", json!([me, [rude, rude], 2])),
        ("skipText", json!([me, [rude], 999])),
        ("flagText", json!([me, rude, 999, true])),
        ("flagText", json!([me, nowhere, 1, true])),
        ("readText", json!([me, 999])),
        ("labelTask", json!([me, rude, 999, 1])),
        ("labelTask", json!([me, nowhere, 1, 1])),
        ("neighbourText", json!([me, rude, 999, 1])),
        ("saveDraft", json!([me, rude, 999, 1, null])),
        ("saveDraft", json!([me, nowhere, 1, 1, null])),
        ("recordLabel", json!([given(999), plain])),
        ("recordLabel", json!([NewLabel { question: nowhere, ..given(1) }, plain])),
        ("saveNote", json!([me, rude, 999, long(1)])),
        ("saveNote", json!([me, nowhere, 1, long(1)])),
        ("saveNote", json!([me, rude, 999, plain])),
        ("recordAgain", json!([given(1), plain, 0])),
        ("recordAgain", json!([given(1), plain, 1])),
        ("recordAgain", json!([given(1), plain, 2])),
        ("recordAgain", json!([given(999), plain, 2])),
        ("recordLabel", json!([given(1), long(10_001)])),
        ("recordLabel", json!([given(1), noted(full)])),
        ("setOwnCare", json!([me, own(Some(0), &[])])),
        ("setOwnCare", json!([me, own(Some(100_001), &[])])),
        ("setOwnCare", json!([me, own(Some(100_000), &[])])),
        ("setOwnCare", json!([me, own(None, &[&"x".repeat(101)])])),
        ("setOwnCare", json!([me, own_care(None, Value::Null, json!(many))])),
        ("findTexts", json!([list("contested"), 0, 1, null])),
        ("findTexts", json!([list("long"), 0, 1, null])),
        ("answerForm", json!([me, { "age": "30+" }])),
        ("answerForm", json!([me, { "age": "30+", "place": null }])),
        ("formLeft", json!([me])),
        ("answerForm", json!([me, { "age": null }])),
        ("agree", json!([other, version])),
        ("agree", json!([me, "none"])),
        ("consentLeft", json!([me])),
        ("agree", json!([me, version])),
        ("consentLeft", json!([me])),
        ("agree", json!([me, version])),
        ("guideline", json!([])),
        ("guidelineVersions", json!([])),
        ("picture", json!(["none.png"])),
        ("picture", json!([person.pictures[0]])),
        ("textGroups", json!([])),
    ];
    all.extend(bad_notes().into_iter().map(|note| ("saveNote", json!([me, rude, 1, noted(note)]))));
    all.into_iter().map(|(command, arguments)| person.play(command, arguments)).collect()
}

/// Chooses a level from which on texts are harmful; the page that is then written again lacks it.
fn own_level(
    mut person: Person,
    folder: &TestFolder,
    case: &Case,
    handed: &Handed,
    seed: u64,
) -> (Person, Vec<Value>) {
    let (me, tone) = (person.me, person.all[2]);
    let own = |level: u16| {
        let harmful = json!({ "question": tone, "level": level });
        json!([me, own_care(None, harmful, json!([]))])
    };
    let mut steps = vec![person.play("setOwnCare", own(0)), person.play("setOwnCare", own(3))];
    steps.push(person.play("readText", json!([me, 1])));
    person.desk.session.close();
    let project = open(&handed.project);
    let asked = questions::find(&project.project, Some("tone")).unwrap().id;
    study::set_levels(&project, asked, &[(1, "ironic"), (2, "angry")]);
    let out = folder.path(&format!("{}-packets-again", case.name));
    study::write_again(&project, &out);
    project.close();
    let content = content(&out.join("ada.html"));
    let session = open_in(handed.packet.parent().unwrap(), &out.join("ada.dissensus"));
    let desk = Desk::new(session, folder.path(&format!("{}-out", case.name)));
    let mut person = Person::new(desk, &content, seed);
    steps.push(json!({ "command": "openPage", "arguments": [content], "answer": null }));
    steps.push(person.play("care", json!([me])));
    let answers = [(person.all[1], Answer::from_level(1)), (tone, Answer::from_level(2))];
    for (question, answer) in answers {
        let label = NewLabel { question, ..label(&person, 2, answer) };
        steps.push(person.play("recordLabel", json!([label, LabelDetails::default()])));
    }
    // Reached by the level in its place; and beyond it.
    for (command, arguments) in [
        ("readText", json!([me, 2])),
        ("goOnToday", json!([me])),
        ("setOwnCare", own(3)),
        ("setOwnCare", own(1)),
    ] {
        steps.push(person.play(command, arguments));
    }
    (person, steps)
}

/// Adds answers of two copies to a packet, and returns what a page has stored of them. The first copy
/// answered t1, its clock was set back, and it answered t2, which the second one did too.
fn two_copies(folder: &TestFolder, handed: &Handed) -> Value {
    let packet = Store::open(&handed.packet).unwrap();
    let id = packet.own_packet().unwrap().unwrap().id;
    let copies = ["a", "b"].map(|digit| format!("00000000-0000-0000-0000-00000000000{digit}"));
    let (made_at_ms, start) = (1_700_000_000_000_i64, 1_700_000_001_000);
    let answers = [(0, 1, 0, 200, 3_u16), (0, 2, 1, 50, 1), (1, 1, 1, 100, 4)];
    let texts: Vec<(String, String)> = [1, 2]
        .map(|text| {
            let text = packet.text(TextId(text)).unwrap().unwrap();
            let digest = <sha2::Sha256 as sha2::Digest>::digest(text.body.as_bytes());
            (text.external_id, digest[..8].iter().map(|byte| format!("{byte:02x}")).collect())
        })
        .into();
    let event = |(copy, sequence, text, at, level): (u32, u32, u32, i64, u16)| {
        WorkRecord::Event(WorkEvent {
            key: (copy, sequence),
            question: 0,
            text,
            annotator: None,
            occasion: 1,
            at_ms: start + at,
            source: LabelSource::Window,
            answer: Some(Answer::from_level(level)),
            duration_ms: None,
            replaces: None,
            retracts: None,
            mark: None,
            note: Note::default(),
            guideline: None,
            wording: None,
        })
    };
    let copy = |id: &String| -> WorkCopy {
        serde_json::from_value(json!({ "id": id, "made_at_ms": made_at_ms })).unwrap()
    };
    let levels: Vec<String> = (1..=5).map(|level| level.to_string()).collect();
    let names = WorkNames {
        questions: vec![WorkQuestion { name: "rude".into(), levels: levels.clone() }],
        texts: texts.clone(),
        copies: copies.iter().map(copy).collect(),
        ..WorkNames::default()
    };
    let work = PacketWork { names, records: answers.map(event).into() };
    let worked = folder.path("worked.dissensus");
    let project = Store::open(&handed.project).unwrap();
    project.write_packet_with(id, work, None, &worked).unwrap();
    project.close().unwrap();
    let worked = Store::open(&worked).unwrap();
    packet.merge_packet(&worked, id).unwrap();
    worked.close().unwrap();
    packet.close().unwrap();
    let record = |(copy, sequence, text, at, level): (u32, u32, u32, i64, u16)| {
        let event = json!({
            "key": [copies[copy as usize], sequence], "question": "rude", "text": texts[text as usize],
            "occasion": 1, "at_ms": start + at, "duration_ms": null, "note": Note::default(),
            "answer": { "kind": "level", "value": levels[usize::from(level)] }, "guideline": null,
        });
        let copy = json!({ "id": copies[copy as usize], "made_at_ms": made_at_ms });
        json!({ "copy": copy, "record": { "event": event } })
    };
    json!(answers.map(record))
}

/// The lines of a submission without its identity.
fn submission(file: &Path) -> Vec<Value> {
    let content = std::fs::read_to_string(file).unwrap();
    let lines: Vec<Value> = content.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut lines = lines[1..lines.len() - 1].to_vec();
    lines[0]["copies"] = Value::Null;
    lines
}

/// Replaces times by 0.
fn without_times(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(without_times),
        Value::Object(fields) => fields.values_mut().for_each(without_times),
        // Milliseconds since 1970: no other number is as large.
        number if number.as_f64().is_some_and(|number| number >= 1e12) => *number = json!(0),
        _ => {}
    }
}

/// One step or record a line.
fn written(case: &Value) -> String {
    let list = |items: &Value| {
        let lines = items.as_array().into_iter().flatten().map(Value::to_string);
        lines.collect::<Vec<_>>().join(",\n")
    };
    format!(
        "{{\"content\":{},\n\"stored\":[\n{}\n],\n\"steps\":[\n{}\n],\n\"submission\":[\n{}\n]}}\n",
        case["content"],
        list(&case["stored"]),
        list(&case["steps"]),
        list(&case["submission"])
    )
}

#[test]
fn recorded_desk_cases_are_up_to_date() {
    let folder = TestFolder::new();
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/page/cases");
    let writes = std::env::var_os("DISSENSUS_WRITE_RECORDINGS").is_some();
    for (seed, case) in (1..).zip(CASES) {
        let path = cases.join(format!("{}.json", case.name));
        let now = written(&recorded(&case, &folder, seed));
        if writes {
            std::fs::create_dir_all(&cases).unwrap();
            std::fs::write(&path, &now).unwrap();
            continue;
        }
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        for (line, (before, now)) in (1..).zip(before.lines().zip(now.lines())) {
            assert_eq!(before, now, "{}, line {line}: see the head of this file", path.display());
        }
        assert_eq!(before.len(), now.len(), "{}", path.display());
    }
}

/// So many cases are read by the page in one run, which has all of them in memory.
const PLAYED_AT_ONCE: usize = 250;

#[test]
#[ignore = "a simulation of half a minute: cargo xtask test --only stress"]
fn stress_page_answers_random_cases_as_the_program_does() {
    let number = |name: &str, usual| std::env::var(name).map_or(usual, |number| number.parse().unwrap());
    let (cases, skipped) = (number("DISSENSUS_CASES", 60), number("DISSENSUS_SKIPPED_CASES", 0));
    let drawn: Vec<_> = (1_000..).zip(CASES.iter().cycle()).skip(skipped).take(cases).collect();
    for some in drawn.chunks(PLAYED_AT_ONCE) {
        play(some);
    }
}

/// Records cases, and plays them in the page.
fn play(cases: &[(u64, &Case)]) {
    let drawn = TestFolder::new();
    for &(seed, case) in cases {
        let content = written(&recorded(case, &TestFolder::new(), seed));
        drawn.file(&format!("{}-{seed}.json", case.name), &content);
    }
    let played = std::process::Command::new(if cfg!(windows) { "npx.cmd" } else { "npx" })
        .args(["vitest", "run", "--reporter=dot", "src/page/cases.test.ts"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui"))
        .env("DESK_CASES", drawn.path(""))
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&played.stdout);
    assert!(played.status.success(), "{printed}{}", String::from_utf8_lossy(&played.stderr));
}

#[test]
fn page_holds_any_text_and_is_private() {
    let folder = TestFolder::new();
    let session = folder.project("bodies");
    let bodies = [
        "</script><script>alert(1)</script>".to_owned(),
        "<!-- <script> ]]> &lt; \\u003c".to_owned(),
        "a\u{2028}b\u{2029}c \u{202e}bidi\u{2066} \u{feff}".to_owned(),
        "👩‍👩‍👧 e\u{301}".to_owned(),
        "x".repeat(100_000),
    ];
    let rows: Vec<Value> = (bodies.iter().enumerate())
        .map(|(at, body)| json!({ "text_id": format!("</script>{at}"), "text": body, "annotator_id": "ben", "label": "1" }))
        .collect();
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let file = folder.file("bodies.jsonl", &lines);
    let choices = ImportChoices { question: Some("</script>".into()), ..ImportChoices::default() };
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    exchange::import(&session.exchange, &file, &choices, Some(&silent)).unwrap();
    let request = StudyRequest {
        questions: Vec::new(),
        people: vec!["</script>".into(), "ben".into()],
        per_text: 2,
        per_person: None,
        anchors: 0,
        repeat: 0.0,
        again_after: 1,
        new_people: false,
        balance: None,
        seed: 1,
    };
    let out = folder.path("pages");
    let to = PacketFolder {
        folder: &out,
        format: PacketFormat::Page,
        settings: &PageSettings::default(),
        passphrase: None,
    };
    let draft = studies::hand_out(&session.study, &request, to, &Silent).unwrap();
    let file = draft.people.iter().find(|person| person.annotator == "</script>").unwrap().file.clone();
    let page = PathBuf::from(file.unwrap());
    assert_eq!(page.extension().unwrap(), "html");
    let texts = content(&page)["texts"].clone();
    let mut found: Vec<&str> =
        texts.as_array().unwrap().iter().map(|text| text["body"].as_str().unwrap()).collect();
    let mut wanted: Vec<&str> = bodies.iter().map(String::as_str).collect();
    found.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&page).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "it has the key that signs answers");
    }
    // A file in the way is not replaced, and no packet is lost.
    let people = ["</script>".to_owned()];
    assert_eq!(
        studies::write_again(&session.study, &people, to, &Silent).unwrap_err().code(),
        "packet-exists"
    );
    session.close();
}
