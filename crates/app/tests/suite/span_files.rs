//! Spans in files of other shapes than a list: one row per span, and CoNLL.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{TestFolder, try_import};
use dissensus_api::{ImportChoices, ImportReport, NewLabel};
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, Answer, OffsetUnit, Scale, ScaleKind};
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_labelling::record;
use dissensus_labelling::task;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Silent;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::{ExportChoices, Exported};
use std::collections::BTreeMap;
use std::path::Path;

fn plainly(session: &Session, file: &Path) -> ImportReport {
    try_import(session, file, &ImportChoices::default()).unwrap()
}

fn export(session: &Session, to: &Path, question: Option<&str>) -> Result<Exported, ProjectError> {
    let question = question.map(str::to_owned);
    let choices = ExportChoices { question, span_rows: true, ..ExportChoices::default() };
    exchange::export(&session.exchange, to, &choices, &Silent)
}

/// Contents of a project, as in an export with lists: answers of all questions and rounds, in any order.
fn answers(session: &Session, place: &TestFolder) -> Vec<String> {
    let file = place.path("answers.jsonl");
    exchange::export(
        &session.exchange,
        &file,
        &ExportChoices { replace: true, ..ExportChoices::default() },
        &Silent,
    )
    .unwrap();
    // Unused types are not part of an answer.
    let answer = |line: &str| match (line.find("\"scale\":"), line.find("\"split\":")) {
        (Some(from), Some(to)) => format!("{}{}", &line[..from], &line[to..]),
        _ => line.to_owned(),
    };
    let mut lines: Vec<String> = std::fs::read_to_string(file).unwrap().lines().map(answer).collect();
    lines.sort();
    lines
}

/// Texts with offsets that are easily miscounted, an answer without a span, overlaps, and an answer of a
/// second round.
const HARD: &str = r#"{"text_id":"combining","text":"cafe\u0301 ete\u0301","annotator_id":"ana","label":[[0,5,"in, \"q\""],[3,5,"of; x"]],"gender":"f","created_at":"2024-05-01T10:00:00.123Z","occasion":1}
{"text_id":"emoji","text":"👍🏽 👨‍👩‍👧 ok","annotator_id":"ana","label":[[0,2,"of; x"],[3,8,"in, \"q\""],[0,11,"of; x"]],"gender":"f","created_at":"2024-05-01T10:00:01.000Z","occasion":1}
{"text_id":"rtl","text":"אתה טיפש, you","annotator_id":"bo","label":[[4,8,"in, \"q\""]],"gender":"m","created_at":"2024-05-01T10:00:02.000Z","occasion":1}
{"text_id":"lines","text":"first\nsecond, \"line\"\r\n\tthird ","annotator_id":"bo","label":[[5,6,"of; x"],[6,12,"in, \"q\""]],"gender":"m","created_at":"2024-05-01T10:00:03.000Z","occasion":1}
{"text_id":"lines","text":"first\nsecond, \"line\"\r\n\tthird ","annotator_id":"ana","label":[],"gender":"f","created_at":"2024-05-01T10:00:04.000Z","occasion":1}
{"text_id":"rtl","text":"אתה טיפש, you","annotator_id":"bo","label":[[0,3,"of; x"]],"gender":"m","created_at":"2024-05-02T10:00:02.000Z","occasion":2}
{"text_id":"lines","text":"first\nsecond, \"line\"\r\n\tthird ","annotator_id":"bo","label":[],"gender":"m","created_at":"2024-05-02T10:00:03.000Z","occasion":2}
"#;

#[test]
fn span_rows_round_trip() {
    let place = TestFolder::new();
    let session = place.project("p");
    let report = plainly(&session, &place.file("hard.jsonl", HARD));
    assert_eq!((report.labels, report.repeats), (5, 2));
    let before = answers(&session, &place);
    for name in ["out.csv", "out.tsv"] {
        let out = place.path(name);
        assert_eq!(export(&session, &out, None).unwrap().answers, 7, "answers, not rows");
        let header = std::fs::read_to_string(&out).unwrap().lines().next().unwrap().replace('\t', ",");
        assert!(header.starts_with("text_id,text,annotator_id,start,end,type,question,"), "{header}");
        let other = place.project(name);
        let preview = exchange::preview(&other.exchange, &out, &ImportChoices::default()).unwrap();
        assert_eq!((preview.total_rows, preview.new_labels, preview.repeats), (11, 5, 2), "{preview:?}");
        let report = plainly(&other, &out);
        assert_eq!((report.labels, report.repeats, report.texts), (5, 2, 4));
        assert_eq!(report.question.as_deref(), Some("hard"));
        assert_eq!(answers(&other, &place), before, "{name}");
        // Imported again, into both: nothing is new.
        for project in [&other, &session] {
            let again = plainly(project, &out);
            assert_eq!((again.labels, again.repeats, again.rejected_rows), (0, 0, 0));
        }
        assert_eq!(answers(&session, &place), before);
    }
}

#[test]
fn spans_round_trip_with_other_questions() {
    let place = TestFolder::new();
    let session = place.project("p");
    plainly(&session, &place.file("hard.jsonl", HARD));
    let ratings = "text_id,annotator_id,rating\nrtl,ana,3\nrtl,bo,1\nemoji,ana,2\n";
    let rating = ImportChoices { question: Some("rating".into()), ..ImportChoices::default() };
    try_import(&session, &place.file("ratings.csv", ratings), &rating).unwrap();
    let before = answers(&session, &place);
    let out = place.path("all.csv");
    export(&session, &out, None).unwrap();
    let other = place.project("other");
    let report = plainly(&other, &out);
    assert_eq!((report.labels, report.repeats), (8, 2));
    assert_eq!(answers(&other, &place), before);
    // A single question, and what is impossible.
    let one = place.path("rating.csv");
    let error = export(&session, &one, Some("rating")).unwrap_err();
    assert_eq!((error.code(), one.exists()), ("span-rows", false), "{error}");
    assert_eq!(export(&session, &place.path("x.jsonl"), None).unwrap_err().code(), "span-rows");
}

#[test]
fn tool_file_creates_a_question_with_its_types() {
    let place = TestFolder::new();
    let session = place.project("p");
    let content = "id,comment,worker,start,end,label\n1,you 😀 fool,w1,7,11,insult\n1,you 😀 fool,w2,0,3,target\n1,you 😀 fool,w1,0,3,target\n2,fine,w1,,,\n";
    let file = place.file("spans.csv", content);
    let mut choices = ImportChoices::default();
    let preview = exchange::preview(&session.exchange, &file, &choices).unwrap();
    assert_eq!(preview.bad_row_count, 2, "an emoji is two code units: {preview:?}");
    let mut columns = preview.columns;
    columns.offsets = OffsetUnit::Utf16;
    choices.columns = Some(columns);
    let report = try_import(&session, &file, &choices).unwrap();
    assert_eq!((report.labels, report.question.as_deref()), (3, Some("spans")));
    let question = questions::find(&session.project, None).unwrap();
    assert_eq!((question.scale.kind(), question.scale.levels().len()), (ScaleKind::Spans, 2));
    let written = answers(&session, &place).join("\n");
    assert!(
        written.contains(r#"[{"start":0,"end":3,"label":"target"},{"start":6,"end":10,"label":"insult"}]"#)
    );
    // With another question in the project, the spans still answer the one that has spans.
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    questions::add(&session.project, AddQuestion::new("label", "Rude?", scale)).unwrap();
    let more = place
        .file("more.csv", "id,comment,worker,start,end,type\n3,you too,w1,0,3,target\n3,you too,w2,,,\n");
    assert_eq!(plainly(&session, &more).question.as_deref(), Some("spans"));
    let foreign = place.file("foreign.csv", "id,comment,worker,start,end,type\n4,you too,w1,0,3,joke\n");
    let error = try_import(&session, &foreign, &ImportChoices::default()).unwrap_err();
    let ProjectError::BadRows { listed, .. } = error else { panic!("{error}") };
    assert!(
        listed.contains("column \"type\": \"joke\" is no type") && listed.contains("--question"),
        "{listed}"
    );
}

#[test]
fn answers_without_spans_need_types() {
    let place = TestFolder::new();
    let session = place.project("p");
    let file = place.file("none.csv", "id,text,annotator,start,end,type\n1,fine,ana,,,\n2,well,ana,,,\n");
    let error = try_import(&session, &file, &ImportChoices::default()).unwrap_err().to_string();
    assert!(error.contains("--types"), "{error}");
    let types = Some(vec!["insult".to_owned(), "threat".to_owned()]);
    let report =
        try_import(&session, &file, &ImportChoices { levels: types, ..ImportChoices::default() }).unwrap();
    assert_eq!((report.labels, report.scale.unwrap().kind()), (2, ScaleKind::Spans));
}

#[test]
fn bad_span_rejects_its_whole_answer() {
    let place = TestFolder::new();
    let session = place.project("p");
    let content = "text_id,text,annotator_id,start,end,type\na,you fool,ana,0,3,x\na,you fool,ben,0,3,x\na,you fool,ana,4,99,x\nb,fine,ana,,,\n";
    let file = place.file("spans.csv", content);
    let refused = try_import(&session, &file, &ImportChoices::default()).unwrap_err();
    assert!(matches!(refused, ProjectError::BadRows { count: 2, .. }), "{refused}");
    assert_eq!(answers(&session, &place), [""; 0], "nothing is half written");
    let report =
        try_import(&session, &file, &ImportChoices { skip_bad: true, ..ImportChoices::default() }).unwrap();
    assert_eq!((report.labels, report.rejected_rows), (2, 2));
    let rejected = std::fs::read_to_string(report.rejected_file.unwrap()).unwrap();
    assert!(rejected.contains("0,3,x") && rejected.contains("4,99,x"), "both rows of the answer: {rejected}");
    // Corrected, the file brings the whole answer and nothing else.
    let mended = place.file("mended.csv", &content.replace("99", "8"));
    let report = plainly(&session, &mended);
    assert_eq!((report.labels, report.repeated_rows), (1, 2));
}

#[test]
fn concurrent_span_answer_is_replaced_only_by_a_later_one() {
    let place = TestFolder::new();
    let session = place.project("p");
    let rows = |time: &str, end: u32| {
        format!(
            "text_id,text,annotator_id,start,end,type,created_at\na,you fool,ana,0,3,x,{time}\na,you fool,ana,4,{end},x,{time}\n"
        )
    };
    plainly(&session, &place.file("first.csv", &rows("2024-05-01T10:00:00Z", 8)));
    let question = questions::find(&session.project, None).unwrap();
    let given = Answer::Spans(Default::default());
    let text =
        task::read(&session.labelling, AnnotatorId(1), question.id, dissensus_domain::TextId(1), 1).unwrap();
    let label = NewLabel {
        question: question.id,
        annotator: AnnotatorId(1),
        text: dissensus_domain::TextId(1),
        answer: given.clone(),
        duration_ms: None,
    };
    assert!(text.answer.is_some());
    record::record_label(&session.labelling, &label).unwrap();
    let current = || {
        let task =
            task::read(&session.labelling, AnnotatorId(1), question.id, dissensus_domain::TextId(1), 1)
                .unwrap();
        task.answer
    };
    // Older than the label given by hand: retained in the history, but not current.
    plainly(&session, &place.file("second.csv", &rows("2024-05-02T10:00:00Z", 7)));
    assert_eq!(current(), Some(given));
    let later = plainly(&session, &place.file("third.csv", &rows("2124-05-02T10:00:00Z", 6)));
    assert_eq!(later.changes.replaced_given, 1);
    let counts: BTreeMap<bool, usize> = BTreeMap::from([(true, 1)]);
    assert_eq!(counts[&matches!(current(), Some(Answer::Spans(spans)) if spans.as_slice().len() == 2)], 1);
}

#[test]
fn conll_round_trips_and_reports_losses() {
    let place = TestFolder::new();
    let session = place.project("p");
    // A line break has no word.
    let hard = HARD.replace(r#"[5,6,"of; x"],"#, "");
    plainly(&session, &place.file("hard.jsonl", &hard));
    let out = place.path("hard.conll");
    let mut choices = ExportChoices::default();
    let error = exchange::export(&session.exchange, &out, &choices, &Silent).unwrap_err();
    assert_eq!((error.code(), out.exists()), ("conll", false), "nothing is half written");
    let message = error.to_string();
    assert!(
        message.starts_with("2 of 7 answers cannot") && message.contains("ana on combining"),
        "{message}"
    );
    choices.leave_out_overlaps = true;
    let written = exchange::export(&session.exchange, &out, &choices, &Silent).unwrap();
    assert_eq!((written.answers, written.left_out), (5, 2));
    let before: Vec<String> = answers(&session, &place)
        .into_iter()
        .filter(|line| !line.contains("combining") && !line.contains("emoji"))
        .collect();
    let other = place.project("other");
    let report = plainly(&other, &out);
    assert_eq!((report.labels, report.repeats, report.question.as_deref()), (3, 2, Some("hard")));
    assert_eq!(answers(&other, &place), before);
    assert_eq!((plainly(&other, &out).labels, plainly(&session, &out).labels), (0, 0), "nothing is new");
    // Questions of other kinds have no words with tags.
    let ratings = place.file("ratings.csv", "text_id,annotator_id,rating\nrtl,ana,3\nrtl,bo,1\n");
    try_import(
        &other,
        &ratings,
        &ImportChoices { question: Some("rating".into()), ..ImportChoices::default() },
    )
    .unwrap();
    let all = exchange::export(&other.exchange, &place.path("all.conll"), &choices, &Silent).unwrap_err();
    assert_eq!(all.code(), "conll");
    choices.question = Some("hard".into());
    assert_eq!(
        exchange::export(&other.exchange, &place.path("one.conll"), &choices, &Silent).unwrap().answers,
        5
    );
}

#[test]
fn irregular_span_starts_are_reported() {
    let place = TestFolder::new();
    let session = place.project("p");
    let file = place.file("ner.conll", "# global.columns = FORM NER HATE\nEU\tI-ORG\tO\nfools\tO\tB-slur\n");
    let mut choices = ImportChoices::default();
    let preview = exchange::preview(&session.exchange, &file, &choices).unwrap();
    assert_eq!(preview.problem.unwrap().code, "columns", "nobody is named who has marked them");
    let columns = dissensus_api::ColumnChoices {
        text: Some("text".into()),
        annotator: Some("=ana".into()),
        label: Some("NER".into()),
        ..Default::default()
    };
    choices.columns = Some(columns);
    let report = try_import(&session, &file, &choices).unwrap();
    assert_eq!((report.labels, report.question.as_deref()), (1, Some("NER")));
    assert_eq!(report.scale.unwrap().levels(), ["ORG"]);
    assert!(
        report.remarks.iter().any(|remark| remark.starts_with("1 span in the file")),
        "{:?}",
        report.remarks
    );
}
