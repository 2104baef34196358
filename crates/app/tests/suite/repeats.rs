//! Answers of a second annotation round: imported separately from labels, exported and imported again,
//! compared with the current labels.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{create, import};
use dissensus_analysis::repeats;
use dissensus_analysis::stable_share;
use dissensus_api::{
    ColumnChoices, ImportChoices, ImportNotice, ImportReport, NewLabel, ReannotationReport, Removal,
};
use dissensus_app::session::Session;
use dissensus_domain::{Answer, LabelSource, Note, TextId};
use dissensus_editing::annotators;
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_editing::remove;
use dissensus_editing::texts;
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_labelling::record;
use dissensus_labelling::task;
use dissensus_labelling::undo;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// Two annotators answer 20 texts; `ana` re-annotates with one different answer in five, `ben` re-annotates
/// three of them.
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
    create(&folder.path().join(name))
}

fn import_rounds(session: &Session, file: &Path, occasion: Option<&str>) -> ImportReport {
    let columns = occasion.map(|occasion| ColumnChoices {
        text_id: Some("item".into()),
        text: Some("body".into()),
        annotator: Some("who".into()),
        label: Some("label".into()),
        occasion: Some(occasion.into()),
        attributes: vec!["age".into()],
        ..ColumnChoices::default()
    });
    import(session, file, &ImportChoices { columns, ..ImportChoices::default() })
}

fn repeats(session: &Session) -> ReannotationReport {
    repeats::report(&session.analysis, questions::find(&session.project, None).unwrap().id).unwrap()
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
    let preview = exchange::preview(&session.exchange, &file, &preview).unwrap();
    assert_eq!((preview.new_labels, preview.repeats), (40, 23));
    let report = import_rounds(&session, &file, Some("round"));
    assert_eq!((report.labels, report.repeats, report.changes.replaced_in_file), (40, 23, 0));
    session
}

#[test]
fn second_round_gives_self_agreement() {
    let folder = tempfile::tempdir().unwrap();
    let session = imported(&folder);
    assert_eq!(info::read(&session.project).unwrap().questions[0].labels, 40);
    let report = repeats(&session);
    let overall = report.overall.unwrap();
    assert_eq!((report.repeats, overall.same, report.unpaired), (23, 19, 0));
    assert!((overall.share - 19.0 / 23.0).abs() < 1e-12);
    assert!(overall.low < overall.share && overall.share < overall.high);
    assert_eq!((overall.ceiling_low, overall.ceiling_high), (overall.low, overall.high.sqrt()));
    let [ana, ben] = &report.annotators[..] else { panic!("{report:?}") };
    assert_eq!((ana.name.as_str(), ana.repeats, ana.same), ("ana", 20, 16));
    assert!(ana.agreement.is_some());
    assert_eq!((ben.repeats, ben.agreement), (3, None), "three repeats tell no share");
    // Importing it again adds nothing.
    let again = import_rounds(&session, &folder.path().join("answers.csv"), Some("round"));
    assert_eq!((again.labels, again.repeats, again.repeated_rows), (0, 0, 63));
    assert_eq!(repeats(&session), report);
}

#[test]
fn correction_after_reannotation_does_not_raise_agreement() {
    let folder = tempfile::tempdir().unwrap();
    let session = imported(&folder);
    let question = questions::find(&session.project, None).unwrap().id;
    let ana = annotators::find(&session.project, "ana").unwrap().id;
    let before = repeats(&session);
    // The first text, which ana answered with 1 and then with 2: now the label is 2 as well.
    let text = TextId(1);
    let label = NewLabel { question, annotator: ana, text, answer: Answer::from_level(1), duration_ms: None };
    record::record_label(&session.labelling, &label).unwrap();
    assert_eq!(repeats(&session), before);
    undo::undo(&session.labelling, ana, question, LabelSource::Window).unwrap();
    assert_eq!(repeats(&session), before);
}

#[test]
fn reannotation_is_compared_with_the_corrected_label() {
    let folder = tempfile::tempdir().unwrap();
    let session = created(&folder, "p.dissensus");
    session_with(&session, &folder, "item,body,who,label,round\n0,a,ana,1,1\n1,b,ana,2,1\n", Some("round"));
    let question = questions::find(&session.project, None).unwrap().id;
    let ana = annotators::find(&session.project, "ana").unwrap().id;
    let label = NewLabel {
        question,
        annotator: ana,
        text: TextId(1),
        answer: Answer::from_level(1),
        duration_ms: None,
    };
    record::record_label(&session.labelling, &label).unwrap();
    session_with(&session, &folder, "item,body,who,label,round\n0,a,ana,2,2\n", Some("round"));
    assert_eq!(same_of(&repeats(&session)), (1, 1));
    // Without an answer before the re-annotation there is nothing to compare with.
    session_with(
        &session,
        &folder,
        "item,body,who,label,round,created_at\n2,c,ana,1,2,2020-01-01\n",
        Some("round"),
    );
    let label = NewLabel { text: TextId(3), ..label };
    record::record_label(&session.labelling, &label).unwrap();
    let report = repeats(&session);
    assert_eq!((same_of(&report), report.unpaired), ((1, 1), 1));
}

/// Number of re-annotations with the same answer, and of all.
fn same_of(report: &ReannotationReport) -> (u32, u32) {
    (report.annotators.iter().map(|a| a.same).sum(), report.repeats)
}

/// Number of re-annotations with the same answer, out of two, for each person by name.
fn same_of_each(report: &ReannotationReport) -> Vec<u32> {
    assert!(report.annotators.iter().all(|a| a.repeats == 2), "{report:?}");
    let mut people: Vec<_> = report.annotators.iter().map(|a| (a.name.clone(), a.same)).collect();
    people.sort();
    people.into_iter().map(|(_, same)| same).collect()
}

fn session_with(session: &Session, folder: &TempDir, content: &str, occasion: Option<&str>) -> ImportReport {
    let file = folder.path().join("some.csv");
    std::fs::write(&file, content).unwrap();
    let time = content.lines().next().unwrap().contains("created_at").then(|| "created_at".to_owned());
    let columns = ColumnChoices {
        text_id: Some("item".into()),
        text: Some("body".into()),
        annotator: Some("who".into()),
        label: Some("label".into()),
        occasion: occasion.map(str::to_owned),
        time,
        ..ColumnChoices::default()
    };
    let choices = ImportChoices { columns: Some(columns), ..ImportChoices::default() };
    let previewed = exchange::preview(&session.exchange, &file, &choices).unwrap();
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    let report = exchange::import(&session.exchange, &file, &choices, Some(&silent)).unwrap();
    let about_repeats = |notices: &[ImportNotice]| -> Vec<(String, u32)> {
        let previewed =
            notices.iter().filter(|n| ["repeats-are-labels", "no-first-answer"].contains(&n.code.as_str()));
        previewed.map(|n| (n.code.clone(), n.count)).collect()
    };
    assert_eq!(
        about_repeats(&previewed.notices),
        about_repeats(&report.notices),
        "the same notices before and after"
    );
    report
}

fn notice_count(report: &ImportReport, code: &str) -> u32 {
    report.notices.iter().filter(|notice| notice.code == code).map(|notice| notice.count).sum()
}

/// Three rounds: one person answers 1 1 2, one 1 2 2 and one 2 2 2. With exact times, dates of three days,
/// one date for all, and without times.
fn rounds(times: [&str; 3]) -> String {
    let mut file = String::from("item,body,who,label,round,created_at\n");
    for (text, answers) in ["112", "122", "222"].into_iter().enumerate() {
        for (round, (label, time)) in answers.chars().zip(times).enumerate() {
            writeln!(file, "{text},text {text},person {text},{label},{},{time}", round + 1).unwrap();
        }
    }
    file
}

const TIMES: [[&str; 3]; 4] = [
    ["2024-01-01T10:00:00Z", "2024-02-01T10:00:00Z", "2024-03-01T10:00:00Z"],
    ["2024-01-01", "2024-02-01", "2024-03-01"],
    ["2024-01-01", "2024-01-01", "2024-01-01"],
    ["", "", ""],
];

#[test]
fn rounds_imported_later_give_the_same_self_agreement() {
    for times in TIMES {
        let folder = tempfile::tempdir().unwrap();
        let file = rounds(times);
        let fresh = created(&folder, "fresh.dissensus");
        session_with(&fresh, &folder, &file, Some("round"));
        assert_eq!(same_of_each(&repeats(&fresh)), [1, 1, 2], "{times:?}");
        let twice = created(&folder, "twice.dissensus");
        session_with(&twice, &folder, &file, None);
        let report = session_with(&twice, &folder, &file, Some("round"));
        assert!(notice_count(&report, "repeats-are-labels") > 0, "{times:?}");
        assert_eq!(same_of_each(&repeats(&twice)), [1, 1, 2], "{times:?}");
        // And again: nothing is added.
        let again = session_with(&twice, &folder, &file, Some("round"));
        assert_eq!((again.labels, again.repeats), (0, 0), "{times:?}");
        assert_eq!(same_of_each(&repeats(&twice)), [1, 1, 2], "{times:?}");
    }
}

#[test]
fn mistaken_reannotations_are_not_compared_with_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let session = created(&folder, "p.dissensus");
    let mut file = String::from("item,body,who,label,batch,created_at\n");
    for text in 0..20 {
        writeln!(file, "{text},text {text},ana,{},{},2024-01-01T10:00:{text:02}Z", text % 2, text % 4 + 1)
            .unwrap();
    }
    let report = session_with(&session, &folder, &file, Some("batch"));
    assert_eq!((report.labels, report.repeats, notice_count(&report, "no-first-answer")), (5, 15, 15));
    assert_eq!(repeats(&session).unpaired, 15);
    assert_eq!(session_with(&session, &folder, &file, None).labels, 15);
    let found = repeats(&session);
    assert_eq!((found.repeats, found.unpaired, found.labels_themselves), (0, 0, 15));
}

/// Without times, plain imports cannot be distinguished from imported re-annotations: taken back, it is
/// compared with nothing.
#[test]
fn mistaken_round_column_is_removed_and_restored() {
    let folder = tempfile::tempdir().unwrap();
    let session = created(&folder, "p.dissensus");
    let question = questions::find(&session.project, None).map(|question| question.id);
    assert!(question.is_err(), "nothing is there yet");
    let mut file = String::from("item,body,who,label,batch\n");
    for text in 0..20 {
        writeln!(file, "{text},text {text},ana,{},{}", text % 2, text % 4 + 1).unwrap();
    }
    assert_eq!(session_with(&session, &folder, &file, Some("batch")).repeats, 15);
    let question = questions::find(&session.project, None).unwrap().id;
    session_with(&session, &folder, &file, None);
    assert!(repeats(&session).repeats > 0, "compared with themselves");
    assert_eq!(repeats::remove(&session.analysis, question, Some(3)).unwrap(), 5);
    assert_eq!(repeats::remove(&session.analysis, question, None).unwrap(), 10);
    let found = repeats(&session);
    assert_eq!((found.repeats, found.unpaired, found.labels_themselves), (0, 0, 0));
    assert_eq!(info::read(&session.project).unwrap().labels, 20, "labels stay");
    // Nothing is left to take back, which is reported.
    let error = repeats::remove(&session.analysis, question, Some(2)).unwrap_err();
    assert_eq!((error.code(), error.to_string().contains("no repeated answers")), ("no-repeats", true));
    // If it was right after all, it comes back with the file, once.
    assert_eq!(session_with(&session, &folder, &file, Some("batch")).repeats, 15);
    assert_eq!(session_with(&session, &folder, &file, Some("batch")).repeats, 0);
    let error = repeats::remove(&session.analysis, question, Some(7)).unwrap_err();
    assert!(error.to_string().contains("round 2, 3, 4"), "{error}");
}

#[test]
fn first_answers_are_found_later_in_the_file_or_project() {
    let folder = tempfile::tempdir().unwrap();
    let session = created(&folder, "p.dissensus");
    let file = "item,body,who,label,round\n0,a,ana,1,2\n0,a,ana,2,3\n0,a,ana,1,1\n1,b,ana,2,2\n1,b,ana,2,3\n";
    let report = session_with(&session, &folder, file, Some("round"));
    assert_eq!((report.labels, notice_count(&report, "no-first-answer")), (1, 1));
    let report = session_with(&session, &folder, "item,body,who,label,round\n0,a,ana,1,4\n", Some("round"));
    assert_eq!((report.repeats, notice_count(&report, "no-first-answer")), (1, 0));
}

#[test]
fn unused_round_column_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let session = created(&folder, "p.dissensus");
    let file = folder.path().join("some.csv");
    std::fs::write(&file, "text_id,text,annotator,label,occasion\n1,a,ana,1,1\n2,b,ana,2,2\n3,c,ana,1,3\n")
        .unwrap();
    let report = import_rounds(&session, &file, None);
    assert_eq!((report.labels, report.repeats), (3, 0));
    let has_notice = |report: &ImportReport| {
        report.remarks.iter().any(|remark| remark.contains("\"occasion\" is not read"))
    };
    assert!(has_notice(&report), "{report:?}");
    // A constant number in all answers of an annotator is read as an attribute.
    std::fs::write(
        &file,
        "text_id,text,annotator,label,occasion\n1,a,ana,1,2\n2,b,ana,2,2\n1,a,ben,1,3\n2,b,ben,1,3\n",
    )
    .unwrap();
    assert!(has_notice(&import_rounds(&session, &file, None)));
    std::fs::write(&file, "text_id,text,annotator,label,occasion\n1,a,ana,1,1\n1,a,ana,2,2\n").unwrap();
    let report = import_rounds(&session, &file, None);
    assert_eq!((report.labels, report.repeats), (0, 1));
    assert!(!has_notice(&report), "{report:?}");
}

#[test]
fn replaced_answer_without_a_time_stays_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let session = created(&folder, "p.dissensus");
    let head = "item,body,who,label,round\n";
    let second = |label: &str| format!("0,a,ana,{label},2\n");
    let first = format!("{head}0,a,ana,1,1\n1,b,ana,2,1\n{}", second("1"));
    session_with(&session, &folder, &first, Some("round"));
    let other = session_with(&session, &folder, &format!("{head}{}", second("2")), Some("round"));
    assert_eq!((other.repeats, notice_count(&other, "outdated-repeats")), (1, 0));
    let back = session_with(&session, &folder, &format!("{head}{}", second("1")), Some("round"));
    assert_eq!((back.repeats, back.repeated_rows, notice_count(&back, "outdated-repeats")), (0, 1, 1));
    assert_eq!(same_of(&repeats(&session)), (0, 1));
    // A file with both, the current one last, adds nothing to the project.
    let both = format!("{head}{}{}", second("1"), second("2"));
    assert_eq!(notice_count(&session_with(&session, &folder, &both, Some("round")), "outdated-repeats"), 0);
}

#[test]
fn reannotations_survive_export_and_import() {
    let folder = tempfile::tempdir().unwrap();
    let session = imported(&folder);
    for name in ["out.csv", "out.jsonl"] {
        let out = folder.path().join(name);
        assert_eq!(
            exchange::export(&session.exchange, &out, &ExportChoices::default(), &Silent).unwrap().answers,
            63
        );
        let copy = created(&folder, &format!("{name}.dissensus"));
        // Without a setting: the column is recognised by its name.
        let report = import_rounds(&copy, &out, None);
        assert_eq!((report.labels, report.repeats), (40, 23), "{name}");
        let (ours, theirs) = (repeats(&session), repeats(&copy));
        assert_eq!((ours.overall, ours.repeats), (theirs.overall, theirs.repeats));
    }
}

#[test]
fn report_without_reannotations_says_how_to_collect_them() {
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
    exchange::import(&session.exchange, &file, &choices, Some(&silent)).unwrap();
    let report = repeats(&session);
    assert_eq!((report.repeats, report.unpaired, report.overall), (0, 1, None));
    assert!(report.needs.unwrap().contains("--occasion"));
    // A value that is not a round stops the import.
    std::fs::write(&file, "item,body,who,label,round\n1,a,ana,1,0\n2,b,ana,2,first\n").unwrap();
    let error = exchange::import(&session.exchange, &file, &choices, Some(&silent)).unwrap_err();
    let detail = error.detail().unwrap();
    assert!(
        detail.contains("\"0\" is no annotation round")
            && detail.contains("\"first\" is no annotation round"),
        "{detail}"
    );
}

#[test]
fn reannotations_separate_contested_from_ambiguous() {
    let folder = tempfile::tempdir().unwrap();
    let session = imported(&folder);
    let question = questions::find(&session.project, None).unwrap().id;
    let report = stable_share::measure(&session.analysis, question).unwrap();
    assert_eq!((report.found, report.words.as_str()), (None, "The annotator models are being fitted."));
    session.live.fit(question, &Silent).unwrap();
    let report = stable_share::measure(&session.analysis, question).unwrap();
    assert!(report.found.is_none() && report.words.contains("the project has 23"), "{report:?}");
    // Ten more texts that both answer the same twice.
    let mut file = String::from("item,body,who,label,round,age\n");
    for text in 100..110 {
        for (who, age) in [("ana", 30), ("ben", 40)] {
            for round in 1..3 {
                writeln!(file, "{text},text {text},{who},{},{round},{age}", text % 3 + 1).unwrap();
            }
        }
    }
    let path = folder.path().join("more.csv");
    std::fs::write(&path, file).unwrap();
    import_rounds(&session, &path, Some("round"));
    session.live.refit(question, &Silent).unwrap();
    // Enough re-annotations, but by two people who depend only on the text, so that hardly any difference
    // is expected.
    let report = stable_share::measure(&session.analysis, question).unwrap();
    assert!(report.found.is_none() && report.words.contains("the project has 43"), "{report:?}");
}

/// An annotator confirms an imported answer in a second annotation round: that is a separate answer, which
/// removing the import retains, and which undo takes back.
#[test]
fn confirmed_answer_of_a_second_round_is_separate() {
    let folder = tempfile::tempdir().unwrap();
    let session = created(&folder, "p.dissensus");
    let first = "item,body,who,label\n1,one,ana,1\n2,two,ana,2\n3,three,ana,3\n";
    session_with(&session, &folder, first, None);
    session_with(&session, &folder, "item,body,who,label,round\n1,one,ana,2,2\n", Some("round"));
    let question = questions::find(&session.project, None).unwrap();
    let give = |text: &str, value: &str, occasion: u16| {
        by_name::record(
            &session.labelling,
            &LabelByName { occasion, ..LabelByName::new("ana", text, value, None) },
        )
        .unwrap();
    };
    give("3", "1", 1);
    give("1", "2", 2);
    remove::remove(&session.project, &Removal::LastImport).unwrap();
    let ana = annotators::find(&session.project, "ana").unwrap().id;
    let now = |text: &str| {
        let text = texts::find(&session.project, text).unwrap().0;
        task::read(&session.labelling, ana, question.id, text, 2).unwrap().answer
    };
    assert_eq!(now("1"), Some(Answer::from_level(1)), "what was confirmed stays");
    // The answer it confirmed stays, and counts again.
    let undone = undo::undo(&session.labelling, ana, question.id, LabelSource::Command).unwrap().unwrap();
    assert_eq!(undone.text, texts::find(&session.project, "1").unwrap().0);
    assert_eq!(now("1"), Some(Answer::from_level(1)));
    // Without a note the command retains the note of the same answer.
    let note = Note { note: Some("hm".to_owned()), ..Note::default() };
    by_name::record(
        &session.labelling,
        &LabelByName { occasion: 2, note: note.clone(), ..LabelByName::new("ana", "2", "3", None) },
    )
    .unwrap();
    give("2", "3", 2);
    let text = texts::find(&session.project, "2").unwrap().0;
    assert_eq!(task::read(&session.labelling, ana, question.id, text, 2).unwrap().note, note);
}
