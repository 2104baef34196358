//! Files for other tools: reading a file returns exactly the labels that were written, and the others are
//! counted as lost.

use super::reading::refusal;
use dissensus_domain::{Answer, LevelId, Note, OptionSet, Scale, ScaleKind, Silent, Span, SpanSet};
use dissensus_exchange::{
    Divided, ExchangeError, LossReason, OpenOptions, Row, Source, ToolAnswer, ToolFormat, ToolLabels,
    ToolPerson, ToolQuestion, ToolText, divide, guess_roles, read_rows,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// An answer for comparison: all of a row that a tool's file can represent.
type Roundtrip = (
    (Option<String>, Option<String>, Option<String>, BTreeMap<String, String>),
    (Option<String>, Option<String>, Option<String>, u16),
    (Option<i64>, Option<u32>, Option<String>, bool, bool),
);

fn kept(divided: &Divided) -> Vec<Roundtrip> {
    let ToolLabels { texts, people, questions, answers } = &divided.kept;
    let one = |answer: &ToolAnswer| {
        let (text, question) = (&texts[answer.text], &questions[answer.question]);
        let label =
            answer.answer.as_ref().map(|answer| question.scale.name_of_answer(answer).unwrap().into_owned());
        (
            (
                Some(text.id.clone()),
                Some(text.body.clone()).filter(|body| !body.is_empty()),
                text.split.clone(),
                text.metadata.clone(),
            ),
            (Some(people[answer.person].id.clone()), Some(question.name.clone()), label, answer.occasion),
            (answer.at_ms, answer.duration_ms, answer.note.note.clone(), answer.skipped, answer.flagged),
        )
    };
    let mut sorted: Vec<Roundtrip> = answers.iter().map(one).collect();
    sorted.sort();
    sorted
}

fn read(row: Row) -> Roundtrip {
    (
        (row.text_id, row.text, row.split, row.metadata),
        (row.annotator, row.question, row.label, row.occasion.unwrap_or(1)),
        (row.at_ms, row.duration_ms, row.note.note, row.skipped, row.flagged),
    )
}

fn rows(source: &Source) -> Vec<Roundtrip> {
    let roles = guess_roles(source).unwrap();
    let mut sorted: Vec<Roundtrip> =
        read_rows(source, &roles).unwrap().map(|row| read(row.unwrap())).collect();
    sorted.sort();
    sorted
}

/// The scale that an import infers.
fn scale_read(source: &Source, question: &str, labels: &BTreeSet<String>) -> Option<Scale> {
    match source.hints().into_iter().find(|hint| hint.name == question) {
        Some(hint) => hint.scale().unwrap_or_else(|| Scale::of_kind(hint.kind, labels)).ok(),
        None => Scale::guess(labels).ok(),
    }
}

fn path(folder: &TempDir, format: ToolFormat) -> PathBuf {
    folder.path().join(format!("out.{}", format.ending()))
}

/// Writes the remaining labels, reads them, and compares.
fn there_and_back(labels: &ToolLabels, format: ToolFormat) -> Divided {
    let divided = divide(labels.clone(), format);
    let folder = tempfile::tempdir().unwrap();
    let out = path(&folder, format);
    let written = format.write(&out, &divided.kept, false, &Silent);
    if divided.kept.answers.is_empty() {
        assert!(matches!(written, Err(ExchangeError::NothingToWrite { .. })), "{written:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        return divided;
    }
    written.unwrap();
    // A table with a column for each annotator is recognised only if the format is named.
    let named = (format == ToolFormat::Wide).then(|| format.name());
    let source = Source::open_with(&out, &OpenOptions { format: named, ..OpenOptions::default() }).unwrap();
    assert_eq!(source.format().name, format.name());
    assert_eq!(rows(&source), kept(&divided), "{format}");
    check_scales(&source, &divided, format);
    divided
}

fn check_scales(source: &Source, divided: &Divided, format: ToolFormat) {
    if divided.lost(LossReason::ScaleKinds) + divided.lost(LossReason::UnusedLevels) > 0 {
        return;
    }
    for question in &divided.kept.questions {
        let of = |row: Roundtrip| (row.1.1.as_ref() == Some(&question.name)).then_some(row.1.2).flatten();
        let labels: BTreeSet<String> = rows(source).into_iter().filter_map(of).collect();
        let found = scale_read(source, &question.name, &labels);
        let found = found.unwrap_or_else(|| panic!("{format}: no scale of {labels:?} for {question:?}"));
        assert_eq!(found.kind(), question.scale.kind(), "{format}: {question:?}");
        let sorted = |scale: &Scale| {
            let mut levels = scale.levels().to_vec();
            if !scale.is_ordered() {
                levels.sort();
            }
            levels
        };
        assert_eq!(sorted(&found), sorted(&question.scale), "{format}");
    }
}

/// What a scale, a text and a seed make of an answer.
fn answer_of(scale: &Scale, body: &str, seed: u32) -> Answer {
    let levels = scale.len() as u32;
    if seed.is_multiple_of(17) && scale.kind() != ScaleKind::Spans {
        return Answer::CannotSay;
    }
    match scale.kind() {
        ScaleKind::MultiLabel => Answer::Options(
            OptionSet::new((0..levels).filter(|k| seed >> k & 1 == 1).map(|k| k as u8)).unwrap(),
        ),
        ScaleKind::Spans => {
            let characters = body.chars().count() as u32;
            let one = |k: u32| {
                let start = (seed / (k + 1)) % characters;
                let end = start + 1 + (seed / 7) % (characters - start);
                Span { start, end, kind: LevelId(((seed + k) % levels) as u16) }
            };
            Answer::Spans(SpanSet::new((0..seed % 4).map(one)).unwrap())
        }
        _ => Answer::from_level((seed % levels) as u16),
    }
}

const IDS: [&str; 8] = ["t1", "7", "-3", "x, y", "12345678901", "007", "{\"a\":1}", "ü 😊"];
const BODIES: [&str; 9] = [
    "Plain words.",
    "😊 ä two\nlines aa aa",
    "{\"prompt\": \"a\", \"reply\": \"b\"}",
    " spaces at both ends ",
    "a backslash \\n and \"quotes\", =1+1",
    "=HYPERLINK(\"x\")",
    "tab\there; semicolon",
    "أهلا وسهلا",
    "x",
];
const PEOPLE: [&str; 12] = [
    "ana",
    "12",
    "x@example.org",
    "b, c",
    "../up",
    "all",
    "text",
    "a/b",
    "a_b",
    ";;;;;;",
    "=1+1",
    "other_info",
];
const QUESTIONS: [&str; 5] = ["mood", "label", "spans", "Is it \"rude\", really?", "parts"];

fn scales() -> impl Strategy<Value = Scale> {
    let of = |kind, levels: &[&str]| Just(Scale::new(kind, levels).unwrap());
    prop_oneof![
        of(ScaleKind::Binary, &["no", "yes"]),
        of(ScaleKind::Binary, &["yes", "no"]),
        of(ScaleKind::Binary, &["bad", "good"]),
        of(ScaleKind::Choice, &["a, b", "none of it", "ü😊", "=SUM(A1)"]),
        of(ScaleKind::Choice, &["1", "3", "2"]),
        of(ScaleKind::Ordinal, &["1", "2", "3"]),
        of(ScaleKind::Ordinal, &["-1", "0", "1"]),
        of(ScaleKind::Ordinal, &["low", "middle", "high"]),
        of(ScaleKind::MultiLabel, &["rude", "threat, open", "other"]),
        of(ScaleKind::Spans, &["PER", "a, b"]),
    ]
}

fn text() -> impl Strategy<Value = (usize, Option<String>, Option<String>, BTreeMap<String, String>)> {
    let keys = prop::sample::subsequence(
        vec![
            "page",
            "Text",
            "label",
            "_view_id",
            "entities",
            "ana",
            "note",
            "other_info",
            "explanations",
            "meta",
        ],
        0..4,
    );
    let split = prop::option::of(prop::sample::select(vec!["train".to_owned(), "test".to_owned()]));
    let group = prop::option::of(Just("thread 1".to_owned()));
    (0..BODIES.len(), split, group, keys).prop_map(|(body, split, group, keys)| {
        (body, split, group, keys.into_iter().map(|key| (key.to_owned(), format!("of {key}"))).collect())
    })
}

fn labels() -> impl Strategy<Value = ToolLabels> {
    let texts = prop::collection::vec(text(), 1..4);
    let ids = prop::sample::subsequence(IDS.to_vec(), 4);
    let people = prop::sample::subsequence(PEOPLE.to_vec(), 1..5);
    let names = prop::sample::subsequence(QUESTIONS.to_vec(), 3);
    let questions = prop::collection::vec(scales(), 1..4);
    let given = prop::collection::vec(
        (any::<u32>(), 0..4_usize, any::<[u8; 3]>(), prop::option::of(0..6_i64), any::<u8>()),
        1..40,
    );
    (texts, ids, people, names, questions, given).prop_map(|(texts, ids, people, names, scales, given)| {
        let texts: Vec<ToolText> = (texts.into_iter().zip(ids))
            .map(|((body, split, group, metadata), id)| ToolText {
                id: id.to_owned(),
                body: BODIES[body].to_owned(),
                split,
                group,
                metadata,
            })
            .collect();
        let person = |id: &str| ToolPerson { id: id.to_owned(), ..ToolPerson::default() };
        let people: Vec<ToolPerson> = people.into_iter().map(person).collect();
        let questions: Vec<ToolQuestion> = (names.into_iter().zip(scales))
            .map(|(name, scale)| ToolQuestion { name: name.to_owned(), scale })
            .collect();
        let mut seen = BTreeSet::new();
        let mut answers = Vec::new();
        for (seed, occasion, [text, person, question], time, extras) in given {
            let (text, person) = (usize::from(text) % texts.len(), usize::from(person) % people.len());
            let question = usize::from(question) % questions.len();
            let occasion = [1, 1, 2, 3][occasion];
            if !seen.insert((text, person, question, occasion)) {
                continue;
            }
            let marked = extras % 8 == 7 && occasion == 1;
            let note = (extras % 3 == 0).then(|| "so, \"and\"\nso".to_owned());
            answers.push(ToolAnswer {
                text,
                person,
                question,
                occasion,
                answer: (!marked).then(|| answer_of(&questions[question].scale, &texts[text].body, seed)),
                at_ms: time.map(|at| 1_714_566_600_123 + at * 500 + i64::from(at == 5) * 377),
                duration_ms: (!marked && extras % 5 == 0).then_some(seed),
                note: Note { note, confidence: (extras % 7 == 0).then_some(3), ..Note::default() },
                skipped: marked && extras % 16 == 7,
                flagged: occasion == 1 && extras % 4 == 0,
                guideline: extras % 9 == 0,
                shown: extras % 10 == 0,
                simulated: extras % 11 == 0,
            });
        }
        ToolLabels { texts, people, questions, answers }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    /// For any labels and any format, what was written is read back, and the rest is counted.
    #[test]
    fn written_labels_round_trip_and_losses_are_counted(labels in labels()) {
        for format in ToolFormat::all() {
            let divided = there_and_back(&labels, *format);
            let all = |labels: &ToolLabels| labels.answers.iter().filter(|one| one.answer.is_some()).count() as u64;
            let lost: u64 =
                divided.losses.iter().filter(|loss| loss.reason.is_of_answers()).map(|loss| loss.count).sum();
            prop_assert_eq!(all(&divided.kept) + lost, all(&labels), "{}", format);
            let put_off = |labels: &ToolLabels| labels.answers.iter().filter(|one| one.skipped).count() as u64;
            prop_assert_eq!(put_off(&divided.kept) + divided.lost(LossReason::Skips), put_off(&labels), "{}", format);
            // What was written can be represented completely: nothing more is lost, and names do not change.
            let again = divide(divided.kept.clone(), *format);
            prop_assert_eq!(&again.kept, &divided.kept);
            prop_assert!(
                again.losses.iter().all(|loss| {
                    [LossReason::ScaleKinds, LossReason::UnusedLevels, LossReason::Bodies].contains(&loss.reason)
                }),
                "{}: {:?}", format, again.losses
            );
        }
    }
}

/// Two texts, two annotators, one question each with levels, sets and spans.
fn example() -> ToolLabels {
    let text =
        |id: &str, body: &str| ToolText { id: id.to_owned(), body: body.to_owned(), ..ToolText::default() };
    let question = |name: &str, kind, levels: &[&str]| ToolQuestion {
        name: name.to_owned(),
        scale: Scale::new(kind, levels).unwrap(),
    };
    let person = |id: &str, age: &str| ToolPerson {
        id: id.to_owned(),
        attributes: [("age".to_owned(), age.to_owned())].into(),
    };
    let given = |text, person, question, answer| ToolAnswer {
        text,
        person,
        question,
        occasion: 1,
        answer: Some(answer),
        at_ms: Some(1_714_566_600_000),
        duration_ms: Some(1500),
        ..ToolAnswer::default()
    };
    let spans = |list: &[(u32, u32)]| {
        Answer::Spans(
            SpanSet::new(list.iter().map(|(start, end)| Span { start: *start, end: *end, kind: LevelId(0) }))
                .unwrap(),
        )
    };
    ToolLabels {
        texts: vec![text("t1", "😊 so good"), text("t2", "well")],
        people: vec![person("ana", "30"), person("ben", "40")],
        questions: vec![
            question("mood", ScaleKind::Ordinal, &["1", "2", "3"]),
            question("topics", ScaleKind::MultiLabel, &["a", "b"]),
            question("parts", ScaleKind::Spans, &["V"]),
        ],
        answers: vec![
            given(0, 0, 0, Answer::from_level(0)),
            given(0, 1, 0, Answer::from_level(2)),
            given(1, 0, 0, Answer::CannotSay),
            given(0, 0, 1, Answer::Options(OptionSet::new([0, 1]).unwrap())),
            given(0, 1, 1, Answer::Options(OptionSet::default())),
            given(0, 0, 2, spans(&[(2, 4)])),
            given(1, 1, 2, spans(&[])),
        ],
    }
}

fn losses(divided: &Divided) -> Vec<(&'static str, u64)> {
    divided.losses.iter().map(|loss| (loss.reason.name(), loss.count)).collect()
}

#[test]
fn each_format_reports_its_losses() {
    let mut labels = example();
    labels.answers[0].note =
        Note { note: Some("hm".to_owned()), reasons: vec!["r".to_owned()], confidence: Some(2) };
    labels.answers[0].flagged = true;
    labels.answers[0].guideline = true;
    labels.answers[1].shown = true;
    labels.answers[1].simulated = true;
    labels.texts[0].group = Some("thread".to_owned());
    labels.texts[0].split = Some("train".to_owned());
    labels.texts[0].metadata =
        [("page", "1"), ("text", "2")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    let second = ToolAnswer { occasion: 2, at_ms: Some(1_714_566_700_000), ..labels.answers[1].clone() };
    labels.answers.push(ToolAnswer { simulated: false, shown: false, ..second });
    labels.answers.push(ToolAnswer {
        text: 1,
        person: 1,
        occasion: 1,
        skipped: true,
        ..ToolAnswer::default()
    });
    let lost_by = |format: ToolFormat| losses(&there_and_back(&labels, format));
    let note_details = [("reasons", 1), ("confidence", 1)];
    assert_eq!(
        lost_by(ToolFormat::LabelStudio),
        [
            &[("cannot-say", 1), ("skips", 1), ("flags", 1), ("notes", 1)][..],
            &note_details,
            &[("guideline-versions", 1), ("shown", 1), ("simulated", 1), ("splits", 1), ("groups", 1)],
            &[("metadata", 1), ("attributes", 2)],
        ]
        .concat()
    );
    assert_eq!(
        lost_by(ToolFormat::Prodigy),
        [
            &[("cannot-say", 1)][..],
            &note_details,
            &[
                ("durations", 7),
                ("guideline-versions", 1),
                ("shown", 1),
                ("simulated", 1),
                ("scale-kinds", 1)
            ],
            &[("splits", 1), ("groups", 1), ("metadata", 1), ("attributes", 2)],
        ]
        .concat()
    );
    let lewidi = lost_by(ToolFormat::Lewidi);
    for expected in
        [("other-questions", 4), ("later-answers", 1), ("times", 2), ("durations", 2), ("skips", 1)]
    {
        assert!(lewidi.contains(&expected), "{expected:?} in {lewidi:?}");
    }
    assert!(!lewidi.iter().any(|(name, _)| ["splits", "notes", "scale-kinds"].contains(name)), "{lewidi:?}");
    let long = lost_by(ToolFormat::CrowdKit);
    for expected in
        [("question-names", 1), ("bodies", 1), ("scale-kinds", 1), ("unused-levels", 1), ("flags", 1)]
    {
        assert!(long.contains(&expected), "{expected:?} in {long:?}");
    }
    let loss = divide(labels.clone(), ToolFormat::Wide).losses[0];
    assert_eq!((loss.reason, loss.count), (LossReason::OtherQuestions, 4));
    assert_eq!(
        loss.message(),
        "Answers to other questions: 4. A file has one question; choose another one for a file with them"
    );
}

#[test]
fn reannotation_is_dropped_with_its_first_answer() {
    let mut labels = example();
    labels.answers.retain(|answer| answer.question == 0 && answer.text == 1);
    labels.answers.push(ToolAnswer {
        occasion: 2,
        answer: Some(Answer::from_level(1)),
        ..labels.answers[0].clone()
    });
    let divided = divide(labels, ToolFormat::LabelStudio);
    assert_eq!(losses(&divided), [("cannot-say", 1), ("later-answers", 1)]);
    assert!(divided.kept.answers.is_empty() && divided.kept.texts.is_empty());
}

fn written(labels: &ToolLabels, format: ToolFormat) -> String {
    let folder = tempfile::tempdir().unwrap();
    let out = path(&folder, format);
    format.write(&out, &divide(labels.clone(), format).kept, false, &Silent).unwrap();
    std::fs::read_to_string(out).unwrap()
}

#[test]
fn written_files_have_the_tools_structure() {
    let tasks: serde_json::Value =
        serde_json::from_str(&written(&example(), ToolFormat::LabelStudio)).unwrap();
    let annotation = &tasks[0]["annotations"][0];
    assert_eq!(tasks[0]["data"], serde_json::json!({ "text": "😊 so good" }));
    assert_eq!(annotation["completed_by"], serde_json::json!({ "email": "ana" }));
    assert_eq!(annotation["lead_time"], 4.5, "of all three answers");
    let kinds: Vec<&str> =
        annotation["result"].as_array().unwrap().iter().map(|one| one["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["rating", "choices", "labels"]);
    let span = serde_json::json!({ "start": 2, "end": 4, "text": "so", "labels": ["V"] });
    assert_eq!(annotation["result"][2]["value"], span, "counted in characters, as Label Studio does");

    let prodigy = written(&example(), ToolFormat::Prodigy);
    let lines: Vec<serde_json::Value> =
        prodigy.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (lines.len(), &lines[0]["_view_id"], &lines[0]["accept"]),
        (6, &"choice".into(), &["1"].into())
    );
    assert!(
        lines.iter().all(|line| line["_input_hash"].is_i64() && line["_timestamp"] == 1_714_566_600),
        "{prodigy}"
    );

    assert_eq!(written(&example(), ToolFormat::CrowdKit), "task,worker,label\nt1,ana,1\nt1,ben,3\n");
    let wide = "\"text_id\",\"text\",\"ana\",\"ben\"\n\"t1\",\"😊 so good\",1,3\n";
    assert_eq!(written(&example(), ToolFormat::Wide), wide);

    let mut only = example();
    only.answers.retain(|answer| answer.question == 0);
    let lewidi: serde_json::Value = serde_json::from_str(&written(&only, ToolFormat::Lewidi)).unwrap();
    assert_eq!(lewidi["t1"]["annotations"], serde_json::json!({ "ana": "1", "ben": "3" }));
    assert_eq!(lewidi["t1"]["soft_label"], serde_json::json!({ "1": 0.5, "2": 0.0, "3": 0.5 }));
}

#[test]
fn formulas_are_written_unchanged() {
    let mut labels = example();
    labels.questions[0].scale = Scale::new(ScaleKind::Choice, ["=1+1", "-2", "@x"]).unwrap();
    labels.people[0].id = "+ana".to_owned();
    assert_eq!(written(&labels, ToolFormat::CrowdKit), "task,worker,label\nt1,+ana,=1+1\nt1,ben,@x\n");
}

#[test]
fn names_like_paths_stay_in_the_archive() {
    let mut labels = example();
    labels.people[0].id = "../../out".to_owned();
    labels.people[1].id = "all".to_owned();
    let divided = there_and_back(&labels, ToolFormat::Doccano);
    assert_eq!(divided.lost(LossReason::PersonNames), 2);
    let folder = tempfile::tempdir().unwrap();
    let out = path(&folder, ToolFormat::Doccano);
    ToolFormat::Doccano.write(&out, &divided.kept, false, &Silent).unwrap();
    let archive = zip::ZipArchive::new(std::fs::File::open(out).unwrap()).unwrap();
    let mut names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    names.sort();
    assert_eq!(names, ["__.._out_.jsonl", "all_.jsonl"]);
}

#[test]
fn existing_files_are_replaced_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let kept = divide(example(), ToolFormat::CrowdKit).kept;
    let write = |path: &Path, replace| ToolFormat::CrowdKit.write(path, &kept, replace, &Silent);
    let out = folder.path().join("out.csv");
    std::fs::write(&out, "mine").unwrap();
    assert!(matches!(write(&out, false), Err(ExchangeError::Taken { .. })));
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "mine");
    write(&out, true).unwrap();
    assert!(std::fs::read_to_string(&out).unwrap().starts_with("task,"));
    let error = write(&folder.path().join("out.json"), false).unwrap_err().to_string();
    assert!(error.contains("ends in .csv"), "{error}");
    assert!(write(&folder.path().join("no folder/out.csv"), false).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left next to it");
}

#[test]
fn cancelled_write_leaves_nothing() {
    struct Stopped;
    impl dissensus_domain::Progress for Stopped {
        fn report(&self, _: u64, _: Option<u64>, _: &str) {}

        fn cancelled(&self) -> bool {
            true
        }
    }
    for format in ToolFormat::all() {
        let folder = tempfile::tempdir().unwrap();
        let kept = divide(example(), *format).kept;
        let stopped = format.write(&path(&folder, *format), &kept, false, &Stopped);
        assert!(matches!(stopped, Err(ExchangeError::Cancelled { .. })), "{format}: {stopped:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{format}");
    }
}

#[test]
fn every_format_has_a_unique_name() {
    let names: BTreeSet<&str> = ToolFormat::all().iter().map(|format| format.name()).collect();
    assert_eq!(names.len(), 6);
    for format in ToolFormat::all() {
        assert_eq!(ToolFormat::named(&format.name().to_uppercase()), Some(*format));
    }
    assert_eq!(ToolFormat::named("csv"), None);
}

#[test]
fn tables_of_answers_are_read() {
    let long =
        super::reading::file("answers.csv", "task,worker,label\nt1,w1,cat\nt1,w2,dog\nt1,w1,dog\nt2,w1,\n")
            .read();
    assert_eq!(long.format(), "crowd-kit");
    assert_eq!(long.summaries(), ["w1 t1 label cat", "w2 t1 label dog", "w1 t1 label dog #2", "w1 t2"]);
    let wide = super::reading::file("wide.csv", "text_id,text,ana,ben\n1,so,3,\n2,no,,1\n3,x,,\n");
    let source =
        Source::open_with(&wide.path, &OpenOptions { format: Some("wide"), ..OpenOptions::default() })
            .unwrap();
    let roles = guess_roles(&source).unwrap();
    let rows: Vec<Row> = read_rows(&source, &roles).unwrap().map(Result::unwrap).collect();
    let columns: Vec<_> = rows
        .iter()
        .map(|row| (row.text.as_deref(), row.annotator.as_deref(), row.label.as_deref()))
        .collect();
    assert_eq!(
        columns,
        [(Some("so"), Some("ana"), Some("3")), (Some("no"), Some("ben"), Some("1")), (Some("x"), None, None)]
    );
    assert_ne!(wide.read().format(), "wide", "it is a table like any other unless the format is given");
    let other = super::reading::file("x.csv", "a,b\n1,2\n");
    assert!(
        refusal(&other.path, Some("wide")).contains("cannot be read as"),
        "{}",
        refusal(&other.path, Some("wide"))
    );
}
