//! Import and export as use cases: what is imported, what is omitted, and what is exported again.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{TestFolder, open, try_import};
use dissensus_api::{ColumnChoices, ImportChanges, ImportChoices, ImportNotice, ImportPlace, ImportReport};
use dissensus_app::session::Session;
use dissensus_domain::{LabelSource, Scale, ScaleKind};
use dissensus_editing::QuestionChange;
use dissensus_editing::annotators;
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_labelling::marks;
use dissensus_labelling::undo;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_test_support::TestProject;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn choices() -> ImportChoices {
    ImportChoices::default()
}

fn skip_bad() -> ImportChoices {
    ImportChoices { skip_bad: true, ..choices() }
}

fn imported(session: &Session, file: &Path) -> ImportReport {
    try_import(session, file, &choices()).unwrap()
}

/// Rows of a CSV file by column.
type Rows = Vec<BTreeMap<String, String>>;

fn rows(path: &Path) -> Rows {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

/// All rows of an export, sorted.
fn exported(place: &TestFolder, session: &Session) -> Rows {
    static NTH: AtomicU64 = AtomicU64::new(0);
    let path = place.path(&format!("exported-{}.csv", NTH.fetch_add(1, Ordering::Relaxed)));
    exchange::export(&session.exchange, &path, &ExportChoices::default(), &Silent).unwrap();
    let mut rows = rows(&path);
    rows.sort();
    rows
}

const TWO_QUESTIONS: &str = "text_id,text,annotator_id,label,question\n\
    t1,GOOD dog,ana,1,q2\nt1,BAD dog,ben,2,q1\nt2,x,ana,2,q1\nt2,x,ana,2,q2\nt3,x3,ana,1,q1\nt3,x3,ana,1,q2\n";

#[test]
fn import_skips_the_rows_that_the_check_named() {
    let place = TestFolder::new();
    let session = place.project("p");
    let file = place.file("two.csv", TWO_QUESTIONS);
    let error = try_import(&session, &file, &choices()).unwrap_err();
    assert!(error.to_string().starts_with("1 of 6 rows"), "{error}");
    let report = try_import(&session, &file, &skip_bad()).unwrap();
    assert_eq!((report.labels, report.rejected_rows, report.question.as_deref()), (5, 1, Some("q1, q2")));
    let rejected = std::fs::read_to_string(report.rejected_file.unwrap()).unwrap();
    assert!(rejected.contains("t1,BAD dog,ben,2,q1"), "{rejected}");
    for row in exported(&place, &session) {
        assert_ne!(row["text"], "BAD dog", "a label is on a body that it was not given for");
    }
}

#[test]
fn contradicting_attribute_of_another_question_is_skipped() {
    let place = TestFolder::new();
    let session = place.project("p");
    let file = place.file(
        "two.csv",
        "text_id,text,annotator_id,label,question,gender\n\
         t1,x,ana,1,q2,woman\nt1,x,ana,2,q1,man\nt2,y,ana,2,q1,woman\nt2,y,ana,2,q2,woman\nt3,z,bo,1,q1,man\nt3,z,bo,1,q2,man\n",
    );
    let mut columns = exchange::guess_columns(&session.exchange, &file, &ImportChoices::default()).unwrap();
    columns.attributes = vec!["gender".into()];
    let chosen = ImportChoices { columns: Some(columns), ..skip_bad() };
    let report = try_import(&session, &file, &chosen).unwrap();
    assert_eq!((report.labels, report.rejected_rows), (5, 1));
    assert!(std::fs::read_to_string(report.rejected_file.unwrap()).unwrap().contains("t1,x,ana,2,q1,man"));
    assert_eq!(annotators::find(&session.project, "ana").unwrap().attributes["gender"], "woman");
}

#[test]
fn labels_off_the_guessed_scale_are_counted_first() {
    let place = TestFolder::new();
    let session = place.project("p");
    // With both options the guess is a scale of sets, on which "none" together with an option is no answer.
    let file = place.file(
        "l.csv",
        "text_id,text,annotator_id,label\n1,a,ana,rude; threat\n2,b,ana,rude\n3,c,ana,none; rude\n4,d,ana,threat\n",
    );
    let preview = exchange::preview(&session.exchange, &file, &choices()).unwrap();
    assert_eq!((preview.bad_row_count, preview.new_labels), (1, 3), "{preview:?}");
    let error = try_import(&session, &file, &choices()).unwrap_err();
    assert!(error.to_string().starts_with("1 of 4 rows"), "{error}");
    let report = try_import(&session, &file, &skip_bad()).unwrap();
    assert_eq!((report.labels, report.rejected_rows), (3, 1));
}

#[test]
fn label_without_a_question_is_refused() {
    let place = TestFolder::new();
    let session = place.project("p");
    let file = place.file(
        "l.csv",
        "text_id,text,annotator_id,label,question\nt1,a,ana,1,q\nt2,b,ana,2,q\nt3,c,ana,1,\nt1,a,bo,1,q\nt2,b,bo,1,q\n",
    );
    let error = try_import(&session, &file, &choices()).unwrap_err();
    assert!(error.detail().unwrap().contains("column \"question\": no question"), "{:?}", error.detail());
    let named = ImportChoices { question: Some("q".into()), ..choices() };
    assert_eq!(try_import(&session, &file, &named).unwrap().labels, 5);
}

/// A small random number generator, the same on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

#[test]
fn random_files_import_exactly_their_good_rows() {
    let place = TestFolder::new();
    for seed in 0..40 {
        let mut dice = Dice(seed);
        let mut content = String::from("text_id,text,annotator_id,label,question,team\n");
        let mut given = Vec::new();
        for _ in 0..30 {
            let (text, annotator) = (dice.below(6), dice.below(4));
            let body = if dice.below(8) == 0 { "another body".to_owned() } else { format!("body {text}") };
            let team = if dice.below(10) == 0 { 9 } else { annotator % 2 };
            let question = ["q1", "q2", "q1", "q2", ""][dice.below(5).saturating_sub(dice.below(2)) as usize];
            let label = ["1", "2", "3", "", "1"][dice.below(5) as usize];
            let id = if dice.below(15) == 0 { String::new() } else { format!("t{text}") };
            content.push_str(&format!("{id},{body},a{annotator},{label},{question},team {team}\n"));
            given.push([id, body, format!("a{annotator}"), label.to_owned(), question.to_owned()]);
        }
        let file = place.file(&format!("{seed}.csv"), &content);
        let session = place.project(&seed.to_string());
        let mut columns =
            exchange::guess_columns(&session.exchange, &file, &ImportChoices::default()).unwrap();
        columns.attributes = vec!["team".into()];
        let levels = Some(["1", "2", "3"].map(str::to_owned).to_vec());
        let chosen = ImportChoices { columns: Some(columns), levels, ..skip_bad() };
        let preview = exchange::preview(&session.exchange, &file, &chosen).unwrap();
        assert!(preview.problem.is_none(), "seed {seed}: {:?}", preview.problem);
        assert_eq!(preview.bad_rows.len() as u32, preview.bad_row_count);
        let bad: BTreeSet<usize> = preview.bad_rows.iter().map(|row| row.row as usize - 1).collect();
        let report = try_import(&session, &file, &chosen).unwrap();
        assert_eq!(
            (report.labels, report.rejected_rows),
            (preview.new_labels, preview.bad_row_count),
            "seed {seed}"
        );
        // The last good row of each annotator, text and question is what the project has now.
        let mut expected = BTreeMap::new();
        for (nth, [id, body, annotator, label, question]) in given.iter().enumerate() {
            if !bad.contains(&nth) && !label.is_empty() {
                expected.insert((id, annotator, question), (body, label));
            }
        }
        let rows = exported(&place, &session);
        let found: BTreeMap<_, _> = rows
            .iter()
            .map(|r| ((&r["text_id"], &r["annotator_id"], &r["question"]), (&r["text"], &r["label"])))
            .collect();
        assert_eq!(found, expected, "seed {seed}");
    }
}

#[test]
fn names_are_checked_by_every_import() {
    let place = TestFolder::new();
    let session = place.project("p");
    let header = place.file("h.csv", "text_id,text,annotator_id,lab\u{1b}[2Jel\nt,x,ana,1\nt,x,bo,2\n");
    let columns = ColumnChoices {
        text_id: Some("text_id".into()),
        text: Some("text".into()),
        annotator: Some("annotator_id".into()),
        label: Some("lab\u{1b}[2Jel".into()),
        ..ColumnChoices::default()
    };
    let by_header = ImportChoices { columns: Some(columns.clone()), ..choices() };
    assert_eq!(try_import(&session, &header, &by_header).unwrap_err().code(), "name");
    let plain = place.file("l.csv", "text_id,text,annotator_id,label\nt,x,ana,1\nt,x,bo,2\n");
    for bad in ["a\u{1b}[1m", "a\u{9b}b", "a\u{202e}b", "a\u{200b}b", "a\u{2066}b"] {
        let question = ImportChoices { question: Some(bad.into()), ..choices() };
        assert_eq!(try_import(&session, &plain, &question).unwrap_err().code(), "name", "{bad:?}");
        let levels = ImportChoices { levels: Some(vec!["1".into(), bad.into()]), ..choices() };
        assert_eq!(try_import(&session, &plain, &levels).unwrap_err().code(), "name", "{bad:?}");
        let guessed = exchange::guess_columns(&session.exchange, &plain, &ImportChoices::default()).unwrap();
        let everyone = ColumnChoices { annotator: Some(format!("={bad}")), ..guessed };
        let everyone = ImportChoices { columns: Some(everyone), ..choices() };
        assert!(try_import(&session, &plain, &everyone).is_err(), "{bad:?}");
        let rows = place.file("r.csv", &format!("text_id,text,annotator_id,label\nt,x,{bad},1\nt,x,bo,2\n"));
        assert_eq!(try_import(&session, &rows, &choices()).unwrap_err().code(), "bad-rows", "{bad:?}");
        assert_eq!(
            annotators::add(&session.project, bad, &Default::default()).unwrap_err().code(),
            "name",
            "{bad:?}"
        );
        let attribute = [(bad.to_owned(), "x".to_owned())].into();
        assert_eq!(
            annotators::add(&session.project, "ok", &attribute).unwrap_err().code(),
            "name",
            "{bad:?}"
        );
        let scale = Scale::new(ScaleKind::Choice, ["x", bad]).unwrap();
        assert_eq!(
            questions::add(&session.project, AddQuestion::new("q", "", scale)).unwrap_err().code(),
            "name",
            "{bad:?}"
        );
        let scale = Scale::new(ScaleKind::Choice, ["x", "y"]).unwrap();
        assert_eq!(
            questions::add(&session.project, AddQuestion::new(bad, "", scale)).unwrap_err().code(),
            "name",
            "{bad:?}"
        );
    }
    let info = info::read(&session.project).unwrap();
    assert_eq!(
        (info.texts, info.annotators, info.questions.len()),
        (0, 0, 0),
        "something was taken all the same"
    );
}

#[test]
fn imported_labels_cannot_claim_a_local_source() {
    let place = TestFolder::new();
    let session = place.project("p");
    let file = place.file(
        "l.csv",
        "text_id,text,annotator_id,label,source\nt,x,ana,1,window\nt,x,bo,2,command\nu,y,ana,2,simulated\nu,y,bo,2,import\n",
    );
    let report = imported(&session, &file);
    assert!(
        report.remarks.iter().any(|remark| remark.contains("2 of these labels were given")),
        "{:?}",
        report.remarks
    );
    let sources: BTreeMap<[String; 2], String> = exported(&place, &session)
        .into_iter()
        .map(|row| ([row["text_id"].clone(), row["annotator_id"].clone()], row["source"].clone()))
        .collect();
    let of = |text: &str, annotator: &str| sources[&[text.to_owned(), annotator.to_owned()]].as_str();
    assert_eq!(
        (of("t", "ana"), of("t", "bo"), of("u", "ana"), of("u", "bo")),
        ("import", "import", "simulated", "import")
    );
    let (question, ana) = (
        questions::find(&session.project, None).unwrap().id,
        annotators::find(&session.project, "ana").unwrap().id,
    );
    assert!(
        undo::undo(&session.labelling, ana, question, LabelSource::Window).unwrap().is_none(),
        "an imported label was taken back"
    );
}

/// The label of `annotator` on `text` in the only question.
fn current(place: &TestFolder, session: &Session, text: &str, annotator: &str) -> String {
    let rows = exported(place, session);
    let found = rows.iter().find(|row| row["text_id"] == text && row["annotator_id"] == annotator);
    found.unwrap()["label"].clone()
}

#[test]
fn latest_answer_of_a_file_is_current() {
    let place = TestFolder::new();
    let cases: [(&str, &str, u32); 7] = [
        ("t,x,ana,3,\nt,x,ana,4,\nt,x,ana,3,\n", "3", 3),
        ("t,x,ana,4,2024-05-02\nt,x,ana,3,2024-05-01\n", "4", 2),
        ("t,x,ana,3,2024-05-01\nt,x,ana,4,2024-05-02\nt,x,ana,3,2024-05-03\n", "3", 3),
        ("t,x,ana,3,2024-05-01\nt,x,ana,4,2024-05-01\n", "4", 2),
        ("t,x,ana,4,\nt,x,ana,3,2024-05-01\n", "3", 2),
        ("t,x,ana,3,2024-05-01\nt,x,ana,4,\n", "4", 2),
        ("t,x,ana,3,2024-05-02\nt,x,ana,4,\nt,x,ana,5,2024-05-01\n", "5", 3),
    ];
    for (nth, (answers, label, added)) in cases.into_iter().enumerate() {
        let session = place.project(&format!("several-{nth}"));
        let content = format!("text_id,text,annotator_id,label,created_at\n{answers}t,x,bo,1,\nu,y,bo,5,\n");
        let file = place.file(&format!("several-{nth}.csv"), &content);
        assert_eq!(imported(&session, &file).labels, added + 2, "case {nth}");
        assert_eq!(current(&place, &session, "t", "ana"), label, "case {nth}");
        let again = imported(&session, &file);
        assert_eq!((again.labels, again.texts, again.annotators), (0, 0, 0), "case {nth}");
        assert_eq!(current(&place, &session, "t", "ana"), label, "case {nth}");
    }
}

#[test]
fn older_file_does_not_replace_a_newer_label() {
    let place = TestFolder::new();
    let session = place.project("p");
    let file = place.file(
        "l.csv",
        "text_id,text,annotator_id,label,created_at\nt,x,ana,1,2024-05-01\nt,x,bo,2,2024-05-01\n",
    );
    imported(&session, &file);
    by_name::record(&session.labelling, &LabelByName::new("ana", "t", "2", None)).unwrap();
    let older = place.file(
        "older.csv",
        "text_id,text,annotator_id,label,created_at\nt,x,ana,1,2024-04-01\nt,x,bo,2,2024-06-01\n",
    );
    assert_eq!(imported(&session, &older).labels, 2);
    assert_eq!(current(&place, &session, "t", "ana"), "2");
    // Importing the first file again does not restore anything either.
    assert_eq!(imported(&session, &file).labels, 0);
    assert_eq!(current(&place, &session, "t", "ana"), "2");
}

/// Labels twice, for both questions, during the export.
struct LabelsMeanwhile<'a> {
    session: &'a Session,
    done: AtomicU64,
}

impl Progress for LabelsMeanwhile<'_> {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {
        if self.done.fetch_add(1, Ordering::SeqCst) == 0 {
            by_name::record(
                &self.session.labelling,
                &LabelByName::new("ana", "c001", "5", Some("offensiveness")),
            )
            .unwrap();
            by_name::record(&self.session.labelling, &LabelByName::new("ana", "c001", "yes", Some("remove")))
                .unwrap();
        }
    }
}

#[test]
fn export_of_several_questions_is_one_snapshot() {
    let place = TestFolder::new();
    let path = place.path("sample.dissensus");
    dissensus_project::sample::create(&path).unwrap();
    let session = open(&path);
    let meanwhile = LabelsMeanwhile { session: &session, done: AtomicU64::new(0) };
    let file = place.path("all.csv");
    let written =
        exchange::export(&session.exchange, &file, &ExportChoices::default(), &meanwhile).unwrap().answers;
    assert!(meanwhile.done.load(Ordering::SeqCst) > 1, "nothing was labelled in the middle");
    let rows = rows(&file);
    let ana: Vec<_> = rows.iter().filter(|row| row["annotator_id"] == "ana").collect();
    // The earlier label of the two is on the first question, which was read first: only the later one would
    // not be a consistent snapshot.
    assert!(ana.is_empty() || ana.len() == 2, "{ana:?}");
    assert_eq!(written, rows.len() as u64);
    assert_eq!(exported(&place, &session).len(), 2 * 728 + 2);
}

/// A random file of labels in JSON Lines, with everything that a file can contain.
fn random_labels(dice: &mut Dice) -> String {
    let mut lines = String::new();
    for _ in 0..60 {
        let (text, annotator) = (dice.below(8), dice.below(5));
        let question = ["grade", "kinds", "with \"quotes\", too"][dice.below(3) as usize];
        let label = match question {
            "grade" => serde_json::json!(dice.below(5) + 1),
            "kinds" => match dice.below(4) {
                0 => serde_json::json!([]),
                1 => serde_json::json!(["rude"]),
                _ => serde_json::json!(["rude", "threat"]),
            },
            _ => serde_json::json!(["no", "yes"][dice.below(2) as usize]),
        };
        let mut row = serde_json::json!({
            "text_id": format!("t{text}"),
            "text": format!("body \"{text}\", \u{202e}✓\nline {text}"),
            "annotator_id": format!("Zoë {annotator}"),
            "label": label,
            "question": question,
            "split": (["train", "test"][text as usize % 2]),
            "thread_id": format!("thread {}", text % 3),
            "created_at": 1_700_000_000_000_u64 + dice.below(1_000_000_000),
            "duration_ms": dice.below(9_000),
            "source": (if annotator == 4 { "simulated" } else { "import" }),
            "gender": (["woman", "man"][annotator as usize % 2]),
            "url": format!("http://x/{text}?a=1;b"),
        });
        if text % 3 == 0 {
            row["note of text"] = serde_json::json!("=1+1");
        }
        lines.push_str(&format!("{row}\n"));
    }
    lines
}

#[test]
fn exported_project_imports_identically() {
    let place = TestFolder::new();
    for seed in 0..12 {
        let session = place.project(&format!("from-{seed}"));
        let file = place.file(&format!("{seed}.jsonl"), &random_labels(&mut Dice(seed)));
        imported(&session, &file);
        // What an export does not contain: a replaced answer, one that was taken back, a skip, a flag.
        let question = questions::find(&session.project, Some("grade")).unwrap();
        let (text, who) =
            (dissensus_domain::TextId(1), annotators::find(&session.project, "Zoë 1").unwrap().id);
        marks::skip(&session.labelling, who, question.id, text).unwrap();
        for ending in ["csv", "tsv", "jsonl"] {
            let out = place.path(&format!("{seed}-out.{ending}"));
            exchange::export(&session.exchange, &out, &ExportChoices::default(), &Silent).unwrap();
            let copy = place.project(&format!("to-{seed}-{ending}"));
            let report = imported(&copy, &out);
            assert_eq!(report.rejected_rows, 0);
            assert_eq!(exported(&place, &copy), exported(&place, &session), "seed {seed}, {ending}");
            let people = |session: &Session| {
                let mut people: Vec<_> = annotators::list(&session.project)
                    .unwrap()
                    .into_iter()
                    .map(|a| (a.external_id, a.attributes, a.simulated))
                    .collect();
                people.sort();
                people
            };
            assert_eq!(people(&copy), people(&session), "seed {seed}, {ending}");
            let scales = |session: &Session| {
                let mut scales: Vec<_> = info::read(&session.project)
                    .unwrap()
                    .questions
                    .into_iter()
                    .map(|q| (q.name, q.scale.kind().to_string()))
                    .collect();
                scales.sort();
                scales
            };
            assert_eq!(scales(&copy), scales(&session), "seed {seed}, {ending}");
            // Importing it again adds nothing.
            let again = imported(&copy, &out);
            assert_eq!((again.labels, again.texts, again.annotators), (0, 0, 0), "seed {seed}, {ending}");
        }
    }
}

/// A set with such an option is written like a set of others. Projects of earlier versions have some.
#[test]
fn new_options_that_read_back_as_others_are_refused() {
    let place = TestFolder::new();
    let path = place.path("old.dissensus");
    TestProject::new()
        .question("age", ScaleKind::MultiLabel, ["65 +", "other"])
        .create(&path)
        .close()
        .unwrap();
    let session = open(&path);
    let age = questions::find(&session.project, Some("age")).unwrap();
    let edited = |names: [&str; 3]| {
        let levels = Some(questions::levels_named(&age, &names.map(str::to_owned)));
        questions::edit(&session.project, age.id, &QuestionChange { levels, ..QuestionChange::default() })
    };
    let scale = Scale::new(ScaleKind::MultiLabel, ["18 +", "other"]).unwrap();
    let file = place
        .file("new.csv", "text_id,text,annotator_id,label\nt1,x,ana,18 +;b\nt2,y,ana,18 +\nt3,z,ana,b\n");
    for error in [
        questions::add(&session.project, AddQuestion::new("new", "", scale)).unwrap_err(),
        edited(["65 +", "18 +", "other"]).unwrap_err(),
        try_import(&session, &file, &ImportChoices { question: Some("new".into()), ..choices() })
            .unwrap_err(),
    ] {
        assert_eq!(error.code(), "no-scale", "{error}");
        assert!(error.to_string().contains("\"18 +\""), "{error}");
    }
    edited(["65 +", "18", "other"]).unwrap();
}

/// Many questions, or questions about some texts each, attributes that all people share or nobody does, and
/// labels that were imported without times.
#[test]
fn export_of_unusual_columns_imports_identically() {
    type Case = (usize, fn(usize) -> String, fn(usize) -> String);
    let cases: [Case; 4] = [
        // Questions about disjoint texts, and an attribute that all people share.
        (3, |text| format!("q{}", text % 2), |_| "2024".to_owned()),
        // More than twenty questions.
        (3, |text| format!("q{}", text / 2), |person| (person % 2).to_string()),
        // A long name.
        (3, |_| "q".repeat(130), |person| (person % 2).to_string()),
        // Each person has an own value of the attribute.
        (15, |_| "q".to_owned(), |person| person.to_string()),
    ];
    for (nth, (people, question, cohort)) in cases.into_iter().enumerate() {
        let place = TestFolder::new();
        let session = place.project("from");
        for person in 0..people {
            let attributes = [("cohort".to_owned(), cohort(person))].into();
            annotators::add(&session.project, &format!("person {person}"), &attributes).unwrap();
        }
        let names: BTreeSet<String> = (0..44).map(question).collect();
        for (part, name) in names.iter().enumerate() {
            let mut lines = "text_id,text,annotator_id,label,lang\n".to_owned();
            for text in (0..44).filter(|text| question(*text) == *name) {
                for person in 0..people {
                    let label = (text + person) % 3;
                    lines.push_str(&format!("t{text},body {text},person {person},{label},en\n"));
                }
            }
            let file = place.file(&format!("{part}.csv"), &lines);
            let (question, levels) = (Some(name.clone()), Some(["0", "1", "2"].map(str::to_owned).into()));
            try_import(&session, &file, &ImportChoices { question, levels, ..choices() }).unwrap();
        }
        let attributes = |session: &Session| {
            let people = annotators::list(&session.project).unwrap().into_iter();
            people.map(|one| (one.external_id, one.attributes)).collect::<BTreeMap<_, _>>()
        };
        let asked = |session: &Session| -> BTreeSet<String> {
            info::read(&session.project).unwrap().questions.into_iter().map(|one| one.name).collect()
        };
        assert_eq!(asked(&session), names);
        for ending in ["csv", "jsonl"] {
            let out = place.path(&format!("out.{ending}"));
            exchange::export(&session.exchange, &out, &ExportChoices::default(), &Silent).unwrap();
            let copy = place.project(&format!("to-{ending}"));
            imported(&copy, &out);
            assert_eq!(asked(&copy), names, "case {nth}, {ending}");
            assert_eq!(attributes(&copy), attributes(&session), "case {nth}, {ending}");
            assert_eq!(exported(&place, &copy), exported(&place, &session), "case {nth}, {ending}");
        }
    }
}

/// Levels, options and types of spans are moved and added before the export; the other project numbers them
/// anew.
#[test]
fn export_of_rearranged_levels_imports_identically() {
    for (kind, answers) in [
        (ScaleKind::Ordinal, ["low", "mid", "high"]),
        (ScaleKind::Choice, ["low", "mid", "mid"]),
        (ScaleKind::MultiLabel, ["low", "mid + high", "none"]),
        (ScaleKind::Spans, [r#"[[0,2,"low"]]"#, r#"[[0,2,"mid"],[1,3,"high"]]"#, "[]"]),
    ] {
        export_with_rearranged_levels(kind, answers);
    }
}

fn export_with_rearranged_levels(kind: ScaleKind, answers: [&str; 3]) {
    let place = TestFolder::new();
    let session = place.project("from");
    imported(&session, &place.file("texts.csv", "text_id,text\nt1,first\nt2,second\nt3,third\n"));
    let scale = Scale::new(kind, ["low", "mid", "high"]).unwrap();
    questions::add(&session.project, AddQuestion::new("q", "", scale)).unwrap();
    annotators::add(&session.project, "ana", &Default::default()).unwrap();
    for (text, answer) in ["t1", "t2", "t3"].into_iter().zip(answers) {
        by_name::record(&session.labelling, &LabelByName::new("ana", text, answer, Some("q"))).unwrap();
    }
    let before = exported(&place, &session);
    let question = questions::find(&session.project, Some("q")).unwrap();
    // Levels with an order do not change places once they have answers.
    let names = if kind == ScaleKind::Ordinal {
        ["new", "low", "mid", "high"]
    } else {
        ["new", "high", "low", "mid"]
    };
    let names = names.map(str::to_owned);
    let levels = Some(questions::levels_named(&question, &names));
    questions::edit(&session.project, question.id, &QuestionChange { levels, ..QuestionChange::default() })
        .unwrap();
    if kind == ScaleKind::Ordinal {
        let labels = |rows: Rows| rows.into_iter().map(|row| row["label"].clone()).collect::<Vec<_>>();
        assert_eq!(labels(exported(&place, &session)), labels(before));
    }
    for ending in ["csv", "jsonl", "parquet"] {
        let out = place.path(&format!("out.{ending}"));
        exchange::export(&session.exchange, &out, &ExportChoices::default(), &Silent).unwrap();
        let copy = place.project(&format!("to-{ending}"));
        imported(&copy, &out);
        let but_source = |mut rows: Rows| {
            rows.iter_mut().for_each(|row| _ = row.remove("source"));
            rows
        };
        assert_eq!(but_source(exported(&place, &copy)), but_source(exported(&place, &session)), "{ending}");
    }
}

/// The places of the notice with this code: row, annotator, text, the current label, the replaced one.
fn places(notices: &[ImportNotice], code: &str) -> Vec<(u32, String, String, String, String)> {
    let found: Vec<&ImportNotice> = notices.iter().filter(|notice| notice.code == code).collect();
    assert_eq!(found.len(), 1, "{code} in {notices:?}");
    let place = |p: &ImportPlace| {
        (p.row, p.annotator.clone(), p.text_id.clone(), p.counts.clone(), p.instead_of.clone())
    };
    found[0].places.iter().map(place).collect()
}

fn place(
    row: u32,
    annotator: &str,
    text: &str,
    counts: &str,
    not: &str,
) -> (u32, String, String, String, String) {
    (row, annotator.into(), text.into(), counts.into(), not.into())
}

const SCALE: &str = "text_id,text,annotator_id,label\ns,s,zoe,1\ns,s,yan,5\ns,s,xi,3\n";

#[test]
fn import_reports_replaced_labels_with_rows() {
    let place_of = TestFolder::new();
    let session = place_of.project("p");
    imported(&session, &place_of.file("scale.csv", SCALE));
    imported(
        &session,
        &place_of.file("first.csv", "text_id,text,annotator_id,label\nt,x,ana,3\nt,x,bo,2\nu,y,ana,1\n"),
    );
    by_name::record(&session.labelling, &LabelByName::new("ana", "t", "4", None)).unwrap();
    let file = place_of.file(
        "second.csv",
        "text_id,text,annotator_id,label\nt,x,bo,5\nt,x,ana,5\nu,y,ana,1\nu,y,bo,1\nu,y,bo,2\n",
    );
    let preview = exchange::preview(&session.exchange, &file, &choices()).unwrap();
    let report = imported(&session, &file);
    assert_eq!((preview.changes, &preview.notices), (report.changes, &report.notices));
    let expected = ImportChanges {
        replaced_in_file: 1,
        replaced_labels: 2,
        replaced_given: 1,
        ..ImportChanges::default()
    };
    assert_eq!((report.changes, report.labels, report.repeated_rows), (expected, 4, 1));
    assert_eq!(
        places(&report.notices, "replaced-labels"),
        [place(2, "ana", "t", "5", "4"), place(1, "bo", "t", "5", "2")],
        "what was given by hand comes first"
    );
    assert_eq!(places(&report.notices, "replaced-in-file"), [place(5, "bo", "u", "2", "1")]);
    let message = &report.notices[0].message;
    assert!(message.contains("2 labels, of them 1 given in the window or by the command"), "{message}");
    assert_eq!(
        (current(&place_of, &session, "t", "ana"), current(&place_of, &session, "u", "bo")),
        ("5".into(), "2".into())
    );
    let again = imported(&session, &file);
    assert_eq!(
        (again.changes, again.notices),
        (ImportChanges::default(), Vec::new()),
        "nothing was replaced"
    );
}

#[test]
fn outdated_label_is_distinguished_from_a_repetition() {
    let place_of = TestFolder::new();
    let session = place_of.project("p");
    imported(&session, &place_of.file("scale.csv", SCALE));
    let answer = |name: &str, label: &str| {
        place_of.file(name, &format!("text_id,text,annotator_id,label\nt,x,ana,{label}\n"))
    };
    imported(&session, &answer("a.csv", "1"));
    imported(&session, &answer("b.csv", "5"));
    let third = imported(&session, &answer("c.csv", "1"));
    assert_eq!((third.labels, third.repeated_rows, third.changes.outdated_rows), (0, 1, 1));
    assert_eq!(places(&third.notices, "outdated-rows"), [place(1, "ana", "t", "5", "1")]);
    assert_eq!(current(&place_of, &session, "t", "ana"), "5");
    // The file itself can have a later time, and the current label can be given again.
    let timed = place_of.file("d.csv", "text_id,text,annotator_id,label,created_at\nt,x,ana,1,2999-01-01\n");
    assert_eq!(imported(&session, &timed).changes.replaced_labels, 1);
    assert_eq!(current(&place_of, &session, "t", "ana"), "1");
    assert_eq!(imported(&session, &answer("e.csv", "1")).changes, ImportChanges::default());
}

#[test]
fn older_and_equal_labels_are_reported() {
    let place_of = TestFolder::new();
    let session = place_of.project("p");
    let timed = |name: &str, rows: &str| {
        place_of.file(name, &format!("text_id,text,annotator_id,label,created_at\n{rows}"))
    };
    imported(&session, &timed("a.csv", "t,x,ana,3,2024-05-02\nt,x,bo,1,2024-05-02\n"));
    let report = imported(&session, &timed("b.csv", "t,x,ana,1,2024-05-01\nt,x,bo,1,2024-05-03\n"));
    let expected = ImportChanges { older_labels: 1, given_again: 1, ..ImportChanges::default() };
    assert_eq!((report.labels, report.changes), (2, expected));
    assert_eq!(places(&report.notices, "older-labels"), [place(1, "ana", "t", "3", "1")]);
    assert_eq!(current(&place_of, &session, "t", "ana"), "3");
}

#[test]
fn replaced_label_is_the_current_one() {
    // For two concurrent labels the order of the events does not determine which is current.
    let place_of = TestFolder::new();
    let session = place_of.project("p");
    imported(&session, &place_of.file("scale.csv", SCALE));
    let timed = |name: &str, rows: &str| {
        place_of.file(name, &format!("text_id,text,annotator_id,label,created_at\n{rows}"))
    };
    imported(&session, &timed("a.csv", "t,x,ana,3,2024-05-02\nt,x,bo,1,2024-05-02\n"));
    imported(&session, &timed("b.csv", "t,x,ana,2,2024-05-01\n"));
    assert_eq!(current(&place_of, &session, "t", "ana"), "3");
    let report = imported(&session, &timed("c.csv", "t,x,ana,1,2024-05-03\n"));
    assert_eq!(places(&report.notices, "replaced-labels"), [place(1, "ana", "t", "1", "3")]);
}

/// Actions while a file is checked.
struct Meanwhile {
    session: Session,
    happens: fn(&Session),
    done: AtomicU64,
}

impl Meanwhile {
    /// Imports `file`, and calls `happens` meanwhile.
    fn import(session: Session, file: &Path, happens: fn(&Session)) -> (Arc<Self>, ImportReport) {
        let meanwhile = Arc::new(Self { session, happens, done: AtomicU64::new(0) });
        let progress: Arc<dyn Progress> = Arc::clone(&meanwhile) as Arc<dyn Progress>;
        let report =
            exchange::import(&meanwhile.session.exchange, file, &choices(), Some(&progress)).unwrap();
        assert!(meanwhile.done.load(Ordering::Relaxed) > 0, "nothing happened meanwhile");
        (meanwhile, report)
    }
}

fn undo(session: &Session, annotator: &str) {
    let question = questions::find(&session.project, None).unwrap().id;
    let annotator = annotators::find(&session.project, annotator).unwrap().id;
    undo::undo(&session.labelling, annotator, question, LabelSource::Command).unwrap().unwrap();
}

/// Appends as many rows as are needed for the check of the file to report progress.
fn long_file(rows: &str) -> String {
    let more: String = (1..700).map(|text| format!("t{text},x{text},ana,1\n")).collect();
    format!("text_id,text,annotator_id,label\n{rows}{more}")
}

impl Progress for Meanwhile {
    fn report(&self, _: u64, _: Option<u64>, doing: &str) {
        if doing == "checking the file" && self.done.fetch_add(1, Ordering::Relaxed) == 0 {
            // Later than the start of the import, by the clock's milliseconds.
            std::thread::sleep(std::time::Duration::from_millis(5));
            (self.happens)(&self.session);
        }
    }
}

#[test]
fn label_recorded_during_an_import_is_kept() {
    let place_of = TestFolder::new();
    let session = place_of.project("p");
    imported(
        &session,
        &place_of.file("first.csv", "text_id,text,annotator_id,label\nt0,x0,ana,1\nt0,x0,bo,3\nt1,x1,bo,2\n"),
    );
    by_name::record(&session.labelling, &LabelByName::new("bo", "t0", "1", None)).unwrap();
    let file = place_of.file("large.csv", &long_file("t0,x0,ana,2\nt0,x0,bo,2\n"));
    let (meanwhile, report) = Meanwhile::import(session, &file, |session| {
        by_name::record(&session.labelling, &LabelByName::new("ana", "t0", "3", None)).unwrap();
        undo(session, "bo");
    });
    let session = &meanwhile.session;
    assert_eq!(current(&place_of, session, "t0", "ana"), "3");
    assert_eq!(current(&place_of, session, "t0", "bo"), "2");
    assert_eq!(places(&report.notices, "older-labels"), [place(1, "ana", "t0", "3", "2")]);
    // bo's label by hand was taken back meanwhile: the imported one below it is replaced.
    assert_eq!(places(&report.notices, "replaced-labels"), [place(2, "bo", "t0", "2", "3")]);
    assert_eq!((report.changes.replaced_labels, report.changes.replaced_given), (1, 0));
}

#[test]
fn label_retracted_during_an_import_is_no_repetition() {
    let place_of = TestFolder::new();
    let session = place_of.project("p");
    let people = "t0,x0,zoe,1\nt0,x0,yan,2\nt0,x0,xi,3\ns,s,ana,1\ns,s,bo,1\ns,s,cy,1\ns,s,di,1\n";
    imported(&session, &place_of.file("first.csv", &format!("text_id,text,annotator_id,label\n{people}")));
    for name in ["cy", "di"] {
        by_name::record(&session.labelling, &LabelByName::new(name, "t0", "2", None)).unwrap();
    }
    // ana and bo are labelled and taken back while the file is read, cy and di had labels before that are
    // taken back then. For each pair the first has a row with that label, the second one with another.
    let rows = "t0,x0,ana,2\nt0,x0,bo,3\nt0,x0,cy,2\nt0,x0,di,3\n";
    let file = place_of.file("large.csv", &long_file(rows));
    let (meanwhile, report) = Meanwhile::import(session, &file, |session| {
        for name in ["ana", "bo"] {
            by_name::record(&session.labelling, &LabelByName::new(name, "t0", "2", None)).unwrap();
        }
        ["ana", "bo", "cy", "di"].iter().for_each(|name| undo(session, name));
    });
    let session = &meanwhile.session;
    assert_eq!((report.changes, report.repeated_rows), (ImportChanges::default(), 0), "{report:?}");
    assert_eq!(report.labels, 4 + 699);
    let currents = ["ana", "bo", "cy", "di"].map(|name| current(&place_of, session, "t0", name));
    assert_eq!(currents, ["2", "3", "2", "3"]);
}

#[test]
fn suspicious_levels_are_reported_by_question() {
    let place_of = TestFolder::new();
    let session = place_of.project("p");
    let mut content = String::from("text_id,text,annotator_id,label,question\n");
    for question in ["tone", "topic"] {
        for (n, label) in ["1", "2", "3", "NA"].into_iter().enumerate() {
            content.push_str(&format!("t{n},x{n},ana,{label},{question}\n"));
        }
    }
    let preview =
        exchange::preview(&session.exchange, &place_of.file("two.csv", &content), &choices()).unwrap();
    let reported: Vec<&str> = preview.notices.iter().map(|notice| notice.message.as_str()).collect();
    for (message, question) in reported.iter().zip(["tone", "topic"]) {
        assert!(
            message.starts_with(&format!("Question \"{question}\": reads like a missing value")),
            "{reported:?}"
        );
    }
    assert_eq!(reported.len(), 2, "{reported:?}");
}

#[test]
fn suspicious_levels_are_named_but_accepted() {
    let place_of = TestFolder::new();
    for (nth, (labels, code, named)) in [
        (["1", "2", "NA", "3"], "missing-value-level", "\"NA\" (1 label)"),
        (["Yes", "no", "yes", "No"], "level-spellings", "\"Yes\" (1 label) and \"yes\" (1 label)"),
        (["1", "2", "9", "9"], "unused-levels", "3 to 8"),
    ]
    .into_iter()
    .enumerate()
    {
        let session = place_of.project(&nth.to_string());
        let rows: String =
            labels.iter().enumerate().map(|(n, label)| format!("t{n},x{n},ana,{label}\n")).collect();
        let file = place_of.file(&format!("{nth}.csv"), &format!("text_id,text,annotator_id,label\n{rows}"));
        let preview = exchange::preview(&session.exchange, &file, &choices()).unwrap();
        let report = imported(&session, &file);
        assert_eq!((report.labels, &report.notices), (4, &preview.notices));
        let found = report.notices.iter().find(|notice| notice.code == code);
        assert!(found.is_some_and(|notice| notice.message.contains(named)), "{:?}", report.notices);
        // Naming the levels, or answering a question that has them, is a decision.
        assert_eq!(imported(&session, &file).notices, []);
    }
    let session = place_of.project("named");
    let file =
        place_of.file("named.csv", "text_id,text,annotator_id,label\nt,x,ana,1\nu,y,ana,9\nv,z,ana,2\n");
    let levels = Some(["1", "2", "9"].map(str::to_owned).to_vec());
    let named = ImportChoices { levels, ..choices() };
    assert_eq!(exchange::preview(&session.exchange, &file, &named).unwrap().notices, []);
}

/// An export of a question with unused levels includes the scale: its labels are not sufficient.
#[test]
fn export_contains_the_scale_with_unused_levels() {
    let place = TestFolder::new();
    let scales = [
        (ScaleKind::Ordinal, vec!["1", "2", "3", "4", "5"], vec![vec!["3"], vec!["2", "4"], vec!["1", "5"]]),
        (ScaleKind::Ordinal, vec!["low", "middle", "high"], vec![vec!["high"], vec!["low", "high"]]),
        (ScaleKind::Choice, vec!["pro", "contra", "neither"], vec![vec!["neither"], vec!["contra", "pro"]]),
        (ScaleKind::Binary, vec!["fine", "rude"], vec![vec!["rude"], vec!["fine"], vec!["rude", "fine"]]),
        (ScaleKind::MultiLabel, vec!["a", "b", "c"], vec![vec!["a"], vec!["[]"], vec!["a; b", "c"]]),
        // All of them used, in a spelling that could be read as another one.
        (ScaleKind::MultiLabel, vec!["1.0", "2.0"], vec![vec!["1.0; 2.0", "2.0", "[]"]]),
        (ScaleKind::Ordinal, vec!["1.0", "2.0", "3.0"], vec![vec!["1.0", "2.0", "3.0"]]),
        (
            ScaleKind::Spans,
            vec!["insult", "group"],
            vec![vec!["[]"], vec![r#"[{"start":0,"end":2,"label":"group"}]"#]],
        ),
    ];
    for (nth, (kind, levels, cases)) in scales.into_iter().enumerate() {
        for (case, given) in cases.into_iter().enumerate() {
            let session = place.project(&format!("from-{nth}-{case}"));
            let rows = given.iter().enumerate().map(|(row, label)| {
                serde_json::json!({"text_id": format!("t{row}"), "text": "so what", "annotator_id": "ana", "label": label})
            });
            let lines: String = rows.map(|row| format!("{row}\n")).collect();
            let file = place.file(&format!("{nth}-{case}.jsonl"), &lines);
            let named = Some(levels.iter().map(|level| (*level).to_owned()).collect());
            let asked = ImportChoices { scale: Some(kind), levels: named, ..choices() };
            try_import(&session, &file, &asked).unwrap();
            for ending in ["csv", "jsonl", "parquet", "xlsx"] {
                let out = place.path(&format!("{nth}-{case}-out.{ending}"));
                exchange::export(&session.exchange, &out, &ExportChoices::default(), &Silent).unwrap();
                let copy = place.project(&format!("to-{nth}-{case}-{ending}"));
                let report = imported(&copy, &out);
                let scale = Scale::new(kind, &levels).unwrap();
                assert_eq!(report.scale, Some(scale), "{kind} {given:?} {ending}");
                assert_eq!(exported(&place, &copy), exported(&place, &session), "{kind} {given:?} {ending}");
                if ending == "csv" {
                    // In the last row instead of the first.
                    let table = std::fs::read_to_string(&out).unwrap();
                    let (header, rows) = table.split_once('\n').unwrap();
                    let rows: String = rows.lines().rev().map(|row| format!("{row}\n")).collect();
                    let turned =
                        place.file(&format!("{nth}-{case}-turned.csv"), &format!("{header}\n{rows}"));
                    let copy = place.project(&format!("to-{nth}-{case}-turned"));
                    let report = imported(&copy, &turned);
                    assert_eq!(
                        report.scale,
                        Some(Scale::new(kind, &levels).unwrap()),
                        "{kind} {given:?} turned"
                    );
                }
            }
            let folder = place.path(&format!("{nth}-{case}-dataset"));
            let dataset = ExportChoices { dataset: true, ..ExportChoices::default() };
            exchange::export(&session.exchange, &folder, &dataset, &Silent).unwrap();
            let copy = place.project(&format!("to-{nth}-{case}-dataset"));
            let report = imported(&copy, &folder);
            assert_eq!(report.scale, Some(Scale::new(kind, &levels).unwrap()), "{kind} {given:?} data set");
        }
    }
}

/// In a file where only the column of labels is named, the annotator is found by the usual names of such
/// columns; otherwise these would be attributes of the texts.
#[test]
fn annotator_is_guessed_when_only_the_label_is_named() {
    let place = TestFolder::new();
    let session = place.project("p");
    let rows = |who: &str| {
        format!(
            "text_id,text,{who},q,mood\nt1,One,ana,yes,a\nt1,One,ben,no,b\nt2,Two,ana,no,a\nt2,Two,ben,yes,a\n"
        )
    };
    for who in ["annotator_id", "annotator", "worker_id", "rater", "coder"] {
        let file = place.file("named.csv", &rows(who));
        let columns = ColumnChoices { label: Some("q".to_owned()), ..ColumnChoices::default() };
        let choices = ImportChoices { columns: Some(columns), ..ImportChoices::default() };
        let found = exchange::guess_columns(&session.exchange, &file, &choices).unwrap();
        assert_eq!((found.annotator.as_deref(), found.label.as_deref()), (Some(who), Some("q")), "{found:?}");
        assert_eq!((found.text_id.as_deref(), found.text.as_deref()), (Some("text_id"), Some("text")));
    }
}

/// A question is named after the column of its labels, or after the file if the column has a generic name.
#[test]
fn generic_label_column_names_question_after_file() {
    let rows = |label: &str| {
        format!("text_id,text,annotator_id,{label}\nt1,One,ana,1\nt1,One,ben,2\nt2,Two,ana,2\nt2,Two,ben,1\n")
    };
    for (column, expected) in [
        ("label", "rudeness"),
        ("Labels", "rudeness"),
        ("score", "rudeness"),
        ("rating", "rudeness"),
        ("value", "rudeness"),
        ("answer", "rudeness"),
        ("annotation", "rudeness"),
        ("offensive", "offensive"),
    ] {
        let place = TestFolder::new();
        let session = place.project("p");
        let file = place.file("rudeness.csv", &rows(column));
        let columns = ColumnChoices {
            text_id: Some("text_id".to_owned()),
            text: Some("text".to_owned()),
            annotator: Some("annotator_id".to_owned()),
            label: Some(column.to_owned()),
            ..ColumnChoices::default()
        };
        let named = ImportChoices { columns: Some(columns), ..ImportChoices::default() };
        let report = try_import(&session, &file, &named).unwrap();
        assert_eq!(report.question.as_deref(), Some(expected), "{column}");
        // In a project with one question every such column answers it, regardless of the file's name.
        let other = place.file("more.csv", &rows(column).replace("ana", "cleo"));
        assert_eq!(
            try_import(&session, &other, &named).unwrap().question.as_deref(),
            Some(expected),
            "{column}"
        );
    }
}

/// Study columns that an export writes next to labels are no metadata of texts.
#[test]
fn columns_of_the_study_in_an_export_are_not_read() {
    let place = TestFolder::new();
    let session = place.project("p");
    let file = place.file("l.csv", "text_id,text,annotator_id,label\nt,x,ana,1\nu,y,ana,2\n");
    imported(&session, &file);
    by_name::record(&session.labelling, &LabelByName::new("bo", "t", "2", None)).unwrap();
    let out = place.path("out.csv");
    let with_wordings = ExportChoices { wordings: true, ..ExportChoices::default() };
    exchange::export(&session.exchange, &out, &with_wordings, &Silent).unwrap();
    assert!(std::fs::read_to_string(&out).unwrap().contains("wording"));
    let there = place.project("there");
    let columns = ColumnChoices {
        text_id: Some("text_id".into()),
        text: Some("text".into()),
        annotator: Some("annotator_id".into()),
        label: Some("label".into()),
        ..ColumnChoices::default()
    };
    for columns in [None, Some(columns)] {
        try_import(&there, &out, &ImportChoices { columns, ..choices() }).unwrap();
        assert!(exported(&place, &there).iter().all(|row| !row.contains_key("wording")));
    }
}
