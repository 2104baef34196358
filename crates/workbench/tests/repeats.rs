//! Answers of a second occasion: imported apart from labels, exported and imported again, counted against what is current.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use dissensus_domain::{Answer, LabelSource, TextId};
use dissensus_workbench::view::{ColumnChoices, ImportChoices, ImportReport, NewLabel, RepeatReport};
use dissensus_workbench::{Home, Progress, Session, Silent};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// Two people answer 20 texts; `ana` again with one other answer in five, `ben` again on three of them.
fn answers() -> String {
    let mut file = String::from("item,body,who,label,round,age\n");
    for text in 0..20 {
        for (who, age) in [("ana", 30), ("ben", 40)] {
            writeln!(file, "{text},text {text},{who},{},1,{age}", text % 3 + 1).unwrap();
        }
    }
    for text in 0..20 {
        let again = if text % 5 == 0 { (text + 1) % 3 + 1 } else { text % 3 + 1 };
        writeln!(file, "{text},text {text},ana,{again},2,30").unwrap();
        if text < 3 {
            writeln!(file, "{text},text {text},ben,{},2,40", text % 3 + 1).unwrap();
        }
    }
    file
}

fn created(folder: &TempDir, name: &str) -> Session {
    Session::create(&folder.path().join(name), &Home::inside(folder.path(), Vec::new())).unwrap()
}

fn import(session: &Session, file: &Path, occasion: Option<&str>) -> ImportReport {
    let columns = occasion.map(|occasion| ColumnChoices {
        text_id: Some("item".into()),
        text: Some("body".into()),
        annotator: Some("who".into()),
        label: Some("label".into()),
        occasion: Some(occasion.into()),
        attributes: vec!["age".into()],
        ..ColumnChoices::default()
    });
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    session.exchange.import(file, &ImportChoices { columns, ..ImportChoices::default() }, &silent).unwrap()
}

fn repeats(session: &Session) -> RepeatReport {
    session.analysis.repeats(session.project.question(None).unwrap().id).unwrap()
}

fn imported(folder: &TempDir) -> Session {
    let file = folder.path().join("answers.csv");
    std::fs::write(&file, answers()).unwrap();
    let session = created(folder, "p.dissensus");
    let preview = ImportChoices {
        columns: Some(ColumnChoices {
            text_id: Some("item".into()),
            text: Some("body".into()),
            annotator: Some("who".into()),
            label: Some("label".into()),
            occasion: Some("round".into()),
            ..ColumnChoices::default()
        }),
        ..ImportChoices::default()
    };
    let preview = session.exchange.preview(&file, &preview).unwrap();
    assert_eq!((preview.new_labels, preview.repeats), (40, 23));
    let report = import(&session, &file, Some("round"));
    assert_eq!((report.labels, report.repeats, report.changes.replaced_in_file), (40, 23, 0));
    session
}

#[test]
fn a_second_occasion_replaces_nothing_and_tells_self_agreement() {
    let folder = tempfile::tempdir().unwrap();
    let session = imported(&folder);
    assert_eq!(session.project.info().unwrap().questions[0].labels, 40);
    let report = repeats(&session);
    let overall = report.overall.unwrap();
    assert_eq!((report.repeats, overall.same, report.unpaired), (23, 19, 0));
    assert!((overall.share - 19.0 / 23.0).abs() < 1e-12);
    assert!(overall.low < overall.share && overall.share < overall.high);
    assert_eq!((overall.ceiling_low, overall.ceiling_high), (overall.share, overall.share.sqrt()));
    let [ana, ben] = &report.annotators[..] else { panic!("{report:?}") };
    assert_eq!((ana.name.as_str(), ana.repeats, ana.same), ("ana", 20, 16));
    assert!(ana.agreement.is_some());
    assert_eq!((ben.repeats, ben.agreement), (3, None), "three repeats tell no share");
    // Again: nothing is added.
    let again = import(&session, &folder.path().join("answers.csv"), Some("round"));
    assert_eq!((again.labels, again.repeats, again.repeated_rows), (0, 0, 63));
    assert_eq!(repeats(&session), report);
}

#[test]
fn a_label_that_changes_is_what_repeats_are_held_against() {
    let folder = tempfile::tempdir().unwrap();
    let session = imported(&folder);
    let question = session.project.question(None).unwrap().id;
    let ana = session.project.annotator("ana").unwrap().id;
    let before = repeats(&session);
    // The first text, which ana answered with 1 and then with 2: now both times with 2.
    let text = TextId(1);
    let label = NewLabel { question, annotator: ana, text, answer: Answer::Level(1), duration_ms: None };
    session.labelling.record_label(&label).unwrap();
    assert_eq!(repeats(&session).overall.unwrap().same, before.overall.unwrap().same + 1);
    session.labelling.undo(ana, question, LabelSource::Window).unwrap();
    assert_eq!(repeats(&session), before);
}

#[test]
fn an_export_imports_again_to_the_same_repeats() {
    let folder = tempfile::tempdir().unwrap();
    let session = imported(&folder);
    for name in ["out.csv", "out.jsonl"] {
        let out = folder.path().join(name);
        assert_eq!(session.exchange.export(&out, None, false, &Silent).unwrap(), 63);
        let copy = created(&folder, &format!("{name}.dissensus"));
        // Without being told: the column is known by its name.
        let report = import(&copy, &out, None);
        assert_eq!((report.labels, report.repeats), (40, 23), "{name}");
        let (ours, theirs) = (repeats(&session), repeats(&copy));
        assert_eq!((ours.overall, ours.repeats), (theirs.overall, theirs.repeats));
    }
}

#[test]
fn without_repeats_it_says_how_to_get_them() {
    let folder = tempfile::tempdir().unwrap();
    let session = created(&folder, "p.dissensus");
    let file = folder.path().join("one.csv");
    std::fs::write(&file, "item,body,who,label,round\n1,a,ana,1,1\n2,b,ana,2,\n3,c,ana,1,2\n").unwrap();
    let columns = ColumnChoices {
        text_id: Some("item".into()),
        text: Some("body".into()),
        annotator: Some("who".into()),
        label: Some("label".into()),
        occasion: Some("round".into()),
        ..ColumnChoices::default()
    };
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    let choices = ImportChoices { columns: Some(columns), ..ImportChoices::default() };
    session.exchange.import(&file, &choices, &silent).unwrap();
    let report = repeats(&session);
    assert_eq!((report.repeats, report.unpaired, report.overall), (0, 1, None));
    assert!(report.needs.unwrap().contains("--occasion"));
    // A value that is no occasion stops the import.
    std::fs::write(&file, "item,body,who,label,round\n1,a,ana,1,0\n2,b,ana,2,first\n").unwrap();
    let error = session.exchange.import(&file, &choices, &silent).unwrap_err();
    let detail = error.detail().unwrap();
    assert!(
        detail.contains("\"0\" is no occasion") && detail.contains("\"first\" is no occasion"),
        "{detail}"
    );
}
