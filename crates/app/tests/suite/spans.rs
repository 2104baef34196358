//! Questions whose answers are passages of a text.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{TestFolder, span_agreement, try_import};
use dissensus_analysis::agreement;
use dissensus_analysis::multi_label;
use dissensus_analysis::predict::RequestedText;
use dissensus_analysis::repeats;
use dissensus_api::{ImportChoices, NewLabel};
use dissensus_app::session::Session;
use dissensus_domain::{
    AnnotatorId, Answer, LabelSource, LevelId, Question, Scale, ScaleKind, Span, SpanSet, TextId,
};
use dissensus_editing::annotators;
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_editing::reveal;
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_labelling::record;
use dissensus_labelling::task;
use dissensus_labelling::undo;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Silent;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;

/// The message about the rows that cannot be imported.
fn message_of(error: ProjectError) -> String {
    match error {
        ProjectError::BadRows { listed, .. } => listed,
        other => panic!("{other}"),
    }
}

fn spans(of: &[(u32, u32, u16)]) -> Answer {
    let spans = of.iter().map(|&(start, end, kind)| Span { start, end, kind: LevelId(kind) });
    Answer::Spans(SpanSet::new(spans).unwrap())
}

fn label(question: &Question, annotator: u32, text: u32, answer: Answer) -> NewLabel {
    let (annotator, text) = (AnnotatorId(annotator), TextId(text));
    NewLabel { question: question.id, annotator, text, answer, duration_ms: None }
}

/// Two texts (the first with characters of one, two, three and four bytes), three people, and a question
/// about passages.
fn project(place: &TestFolder) -> (Session, Question) {
    let session = place.project("p");
    let texts = place.file("texts.csv", "text_id,text\na,Größe – 😀 ok\nb,second text\n");
    try_import(&session, &texts, &ImportChoices::default()).unwrap();
    for name in ["ana", "ben", "cleo"] {
        annotators::add(&session.project, name, &Default::default()).unwrap();
    }
    let scale = Scale::new(ScaleKind::Spans, ["insult", "target"]).unwrap();
    questions::add(&session.project, AddQuestion::new("words", "Which words?", scale)).unwrap();
    let question = questions::find(&session.project, None).unwrap();
    (session, question)
}

#[test]
fn spans_are_shown_only_after_answering() {
    let place = TestFolder::new();
    let (session, question) = project(&place);
    reveal::set(&session.project, true).unwrap();
    let labelling = &session.labelling;
    let (first, second) = (spans(&[(0, 5, 0), (8, 9, 1)]), spans(&[(8, 12, 0)]));
    let receipt = record::record_label(labelling, &label(&question, 1, 1, first.clone())).unwrap().receipt;
    assert_eq!(receipt.spans.unwrap(), [], "nobody else has answered");
    assert_eq!(receipt.progress.done, 1);
    // Ben sees nothing before he has answered.
    let (ben, a) = (AnnotatorId(2), TextId(1));
    let before = task::read(labelling, ben, question.id, a, 1).unwrap();
    assert!(before.spans.is_none() && before.reveal.is_none() && before.answer.is_none());
    let receipt = record::record_label(labelling, &label(&question, 2, 1, second.clone())).unwrap().receipt;
    let shown = receipt.spans.unwrap();
    assert_eq!(shown.len(), 1);
    assert_eq!((shown[0].name.as_str(), Answer::Spans(shown[0].spans.clone())), ("ana", first.clone()));
    // An answer without passages is an answer, and shown as one.
    record::record_label(labelling, &label(&question, 3, 1, spans(&[]))).unwrap();
    let after = task::read(labelling, ben, question.id, a, 1).unwrap();
    assert_eq!(after.answer, Some(second.clone()));
    let people = after.spans.unwrap();
    assert_eq!(people.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["ana", "cleo"]);
    assert_eq!(people[1].spans, SpanSet::default());
    // After undo, others' answers are hidden again.
    undo::undo(labelling, ben, question.id, LabelSource::Window).unwrap().unwrap();
    assert!(task::read(labelling, ben, question.id, a, 1).unwrap().spans.is_none());
}

#[test]
fn spans_outside_the_text_are_refused() {
    let place = TestFolder::new();
    let (session, question) = project(&place);
    // The first text has 12 characters, in 20 bytes and 13 UTF-16 units.
    record::record_label(&session.labelling, &label(&question, 1, 1, spans(&[(0, 12, 0)]))).unwrap();
    for answer in [spans(&[(0, 13, 0)]), spans(&[(0, 1, 2)]), Answer::from_level(0)] {
        assert!(record::record_label(&session.labelling, &label(&question, 1, 1, answer)).is_err());
    }
    let by_name =
        |value: &str| by_name::record(&session.labelling, &LabelByName::new("ana", "a", value, None));
    assert!(by_name(r#"[{"start":2,"end":4,"label":"insult"}]"#).is_ok());
    for (value, message) in [
        (r#"[{"start":4,"end":2,"label":"insult"}]"#, "goes from 4 to 2"),
        (r#"[{"start":0,"end":2,"label":"joke"}]"#, "the types are insult, target"),
        (r#"[{"start":0,"end":99,"label":"insult"}]"#, "12 characters"),
        ("insult", "spans are a list"),
    ] {
        let error = by_name(value).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let task = task::read(&session.labelling, AnnotatorId(1), question.id, TextId(1), 1).unwrap();
    assert_eq!(task.answer, Some(spans(&[(2, 4, 0)])), "what was refused has changed nothing");
}

const LINES: &str = r#"{"text_id":"a","text":"you fool, fool 😀","annotator_id":"ana","label":[{"start":4,"end":8,"label":"insult"},{"start":0,"end":3,"label":"target"}]}
{"text_id":"a","text":"you fool, fool 😀","annotator_id":"ben","label":[]}
{"text_id":"b","text":"fine","annotator_id":"ana","label":[]}
{"text_id":"a","text":"you fool, fool 😀","annotator_id":"cleo","label":[{"start":10,"end":16,"label":"insult"}]}
"#;

#[test]
fn spans_round_trip_in_both_formats() {
    let place = TestFolder::new();
    let session = place.project("p");
    let file = place.file("spans.jsonl", LINES);
    let preview = exchange::preview(&session.exchange, &file, &ImportChoices::default()).unwrap();
    let scale = preview.scale.clone().unwrap();
    assert_eq!(
        (scale.kind(), scale.levels()),
        (ScaleKind::Spans, &["insult".to_owned(), "target".to_owned()][..])
    );
    assert_eq!((preview.level_counts.as_slice(), preview.new_labels), (&[2, 1][..], 4), "{preview:?}");
    try_import(&session, &file, &ImportChoices::default()).unwrap();
    reveal::set(&session.project, true).unwrap();
    // Again: nothing is new.
    assert_eq!(exchange::preview(&session.exchange, &file, &ImportChoices::default()).unwrap().new_labels, 0);
    let question = questions::find(&session.project, None).unwrap();
    let task = task::read(&session.labelling, AnnotatorId(1), question.id, TextId(1), 1).unwrap();
    assert_eq!(task.answer, Some(spans(&[(0, 3, 1), (4, 8, 0)])));
    assert_eq!(task.spans.unwrap().len(), 2);
    for name in ["out.csv", "out.jsonl", "out.tsv"] {
        let out = place.path(name);
        exchange::export(&session.exchange, &out, &ExportChoices::default(), &Silent).unwrap();
        let written = std::fs::read_to_string(&out).unwrap();
        if name == "out.jsonl" {
            let first: serde_json::Value = serde_json::from_str(written.lines().next().unwrap()).unwrap();
            assert_eq!(first["label"][1]["label"], "insult", "{written}");
            assert!(written.contains("\"label\":[]"), "{written}");
        }
        let other = place.project(name);
        try_import(&other, &out, &ImportChoices::default()).unwrap();
        let again = questions::find(&other.project, None).unwrap();
        assert_eq!(again.scale, question.scale);
        let answer = |annotator, text| {
            let task =
                task::read(&other.labelling, AnnotatorId(annotator), again.id, TextId(text), 1).unwrap();
            task.answer
        };
        assert_eq!(answer(1, 1), Some(spans(&[(0, 3, 1), (4, 8, 0)])), "{name}");
        assert_eq!((answer(2, 1), answer(1, 2)), (Some(spans(&[])), Some(spans(&[]))), "{name}");
        assert_eq!(answer(3, 1), Some(spans(&[(10, 16, 0)])), "{name}");
    }
}

#[test]
fn rows_with_invalid_spans_are_reported() {
    let place = TestFolder::new();
    let row = |label: &str| {
        format!("{{\"text_id\":\"a\",\"text\":\"short\",\"annotator_id\":\"ana\",\"label\":{label}}}\n")
    };
    let good = r#"{"text_id":"b","text":"another one","annotator_id":"ben","label":[[0,7,"x"]]}"#;
    for (label, message) in [
        (r#"[{"start":0,"end":6,"label":"x"}]"#, "the text has 5 characters"),
        (r#"[{"start":3,"end":3,"label":"x"}]"#, "goes from 3 to 3"),
        (r#"[{"start":3,"end":1,"label":"x"}]"#, "goes from 3 to 1"),
        (r#"[{"start":-1,"end":1,"label":"x"}]"#, "span 1"),
        (r#"[{"start":0,"end":1}]"#, "missing field `label`"),
    ] {
        let session = place.project(&message.replace(['`', ' '], "-").to_string());
        let file = place.file("bad.jsonl", &format!("{good}\n{}", row(label)));
        let error = message_of(try_import(&session, &file, &ImportChoices::default()).unwrap_err());
        assert!(error.contains(message) && error.contains("row 2"), "{error}");
        assert_eq!(info::read(&session.project).unwrap().texts, 0);
        // Without the bad row the rest is imported.
        let skipping = ImportChoices { skip_bad: true, ..ImportChoices::default() };
        try_import(&session, &file, &skipping).unwrap();
        assert_eq!(info::read(&session.project).unwrap().labels, 1);
    }
    // With texts of the project, the file has only their ids.
    let (session, _) = project(&place);
    let file = place.file("late.jsonl", r#"{"text_id":"b","annotator_id":"ana","label":[[0,12,"insult"]]}"#);
    let error = message_of(try_import(&session, &file, &ImportChoices::default()).unwrap_err());
    assert!(error.contains("the text has 11 characters"), "{error}");
    let file = place.file("late.jsonl", r#"{"text_id":"b","annotator_id":"ana","label":[[0,11,"joke"]]}"#);
    let error = message_of(try_import(&session, &file, &ImportChoices::default()).unwrap_err());
    assert!(error.contains("the types are insult, target"), "{error}");
}

/// Whether a text has a passage of a type is a separate question, like an option.
#[test]
fn span_type_is_a_binary_question() {
    let place = TestFolder::new();
    let session = place.project("p");
    let mut rows = String::new();
    for text in 0..30 {
        for (nth, who) in ["ana", "ben", "cleo"].iter().enumerate() {
            let marked = if (text + nth) % 3 == 0 { "[[0,4,\"insult\"],[2,6,\"insult\"]]" } else { "[]" };
            rows += &format!(
                "{{\"text_id\":\"t{text}\",\"text\":\"text number {text}\",\"annotator_id\":\"{who}\",\"label\":{marked}}}\n"
            );
        }
    }
    try_import(&session, &place.file("spans.jsonl", &rows), &ImportChoices::default()).unwrap();
    let question = questions::find(&session.project, None).unwrap();
    assert_eq!(question.scale.levels(), ["insult"], "one type is enough");
    session.live.fit(question.id, &Silent).unwrap();
    let (texts, all) = multi_label::rank(&session.analysis, &question, 5, None).unwrap();
    assert_eq!((texts.len(), all), (5, 30));
    let agreements = span_agreement(&session.analysis, &question).unwrap();
    assert_eq!(agreements.types[0].chosen, Some(1.0 / 3.0));
    let option = questions::find(&session.project, Some("spans: insult")).unwrap();
    let before =
        multi_label::predict(&session.analysis, &question, AnnotatorId(1), RequestedText::OfProject("t1"))
            .unwrap();
    record::record_label(&session.labelling, &label(&question, 1, 2, spans(&[(0, 4, 0)]))).unwrap();
    let after =
        multi_label::predict(&session.analysis, &question, AnnotatorId(1), RequestedText::OfProject("t1"))
            .unwrap();
    assert!(after[0].probability > before[0].probability, "it learned at once");
    let refused =
        record::record_label(&session.labelling, &label(&option, 1, 2, Answer::from_level(1))).unwrap_err();
    assert_eq!(refused.code(), "whole-question");
    assert_eq!(agreement::measure_target(&session.analysis, question.id).unwrap_err().code(), "one-option");
    assert_eq!(agreement::measure_target(&session.analysis, option.id).unwrap().labels, 90);
}

#[test]
fn stray_values_do_not_become_span_types() {
    let place = TestFolder::new();
    // A stray value next to lists of spans is a bad row, and not a type.
    let stray = format!(
        "{LINES}{{\"text_id\":\"b\",\"text\":\"fine\",\"annotator_id\":\"ben\",\"label\":\"n/a\"}}\n"
    );
    let session = place.project("stray");
    let file = place.file("stray.jsonl", &stray);
    assert!(
        message_of(try_import(&session, &file, &ImportChoices::default()).unwrap_err()).contains("row 5")
    );
    let skipping = ImportChoices { skip_bad: true, ..ImportChoices::default() };
    try_import(&session, &file, &skipping).unwrap();
    assert_eq!(questions::find(&session.project, None).unwrap().scale.levels(), ["insult", "target"]);
    // Names of types follow the rules of names.
    let session = place.project("names");
    let bad = r#"{"text_id":"a","text":"short","annotator_id":"ana","label":[[0,2,"a\u001bb"],[0,1,"ok"]]}"#;
    let good = r#"{"text_id":"a","text":"short","annotator_id":"ben","label":[[0,2,"ok"]]}"#;
    let file = place.file("names.jsonl", &format!("{good}\n{bad}\n"));
    assert!(
        message_of(try_import(&session, &file, &ImportChoices::default()).unwrap_err()).contains("U+001B")
    );
    // A level that begins like a list.
    let session = place.project("levels");
    let rows = "text_id,text,annotator,label\na,one,ana,[[citation]]\nb,two,ana,good\nc,three,ana,bad\n";
    try_import(&session, &place.file("levels.csv", rows), &ImportChoices::default()).unwrap();
    assert_eq!(questions::find(&session.project, None).unwrap().scale.kind(), ScaleKind::Choice);
    // A list over several lines of a CSV cell.
    let session = place.project("cells");
    let rows = "text_id,text,annotator,label\na,short,ana,\"[\n {\"\"start\"\": 0, \"\"end\"\": 5, \"\"label\"\": \"\"x\"\"}\n]\"\n";
    try_import(&session, &place.file("cells.csv", rows), &ImportChoices::default()).unwrap();
    let question = questions::find(&session.project, None).unwrap();
    let task = task::read(&session.labelling, AnnotatorId(1), question.id, TextId(1), 1).unwrap();
    assert_eq!(task.answer, Some(spans(&[(0, 5, 0)])));
    for name in ["none", "a + b"] {
        assert!(Scale::new(ScaleKind::Spans, [name]).is_err(), "{name}");
    }
    assert!(Scale::new(ScaleKind::Spans, Vec::<String>::new()).unwrap_err().to_string().contains("one type"));
}

/// Preview and import treat a set in another order as the same.
#[test]
fn reordered_set_is_a_repetition() {
    let place = TestFolder::new();
    let session = place.project("p");
    let rows = "text_id,text,annotator,label\na,one,ana,x;y\na,one,ana,y;x\nb,two,ana,x\nc,three,ana,y;z;x\n";
    let file = place.file("sets.csv", rows);
    let preview = exchange::preview(&session.exchange, &file, &ImportChoices::default()).unwrap();
    assert_eq!((preview.new_labels, preview.repeated_rows), (3, 1), "{preview:?}");
    try_import(&session, &file, &ImportChoices::default()).unwrap();
    assert_eq!(info::read(&session.project).unwrap().labels, 3);
}

/// Answers of a later round to a question are answers to each of its options and types.
#[test]
fn options_and_types_can_be_reannotated() {
    let place = TestFolder::new();
    for (name, marked) in [("types", "[[0,4,\"x\"]]"), ("options", "[\"x\",\"y\"]")] {
        let session = place.project(name);
        let mut rows = String::new();
        for text in 0..24 {
            for occasion in [1, 2] {
                let same = occasion == 1 || text % 4 != 0;
                let label = if (text % 2 == 0) == same { marked } else { "[]" };
                rows += &format!(
                    "{{\"text_id\":\"t{text}\",\"text\":\"text number {text}\",\"annotator_id\":\"ana\",\"label\":{label},\"occasion\":{occasion}}}\n"
                );
            }
        }
        let file = place.file("again.jsonl", &rows);
        let choices = match name {
            "options" => ImportChoices {
                scale: Some(ScaleKind::MultiLabel),
                levels: Some(vec!["x".into(), "y".into()]),
                ..ImportChoices::default()
            },
            _ => ImportChoices::default(),
        };
        try_import(&session, &file, &choices).unwrap();
        let option = questions::find(&session.project, Some("again: x")).unwrap();
        let found = repeats::report(&session.analysis, option.id).unwrap();
        let person = &found.annotators[0];
        assert_eq!((found.repeats, found.unpaired), (24, 0), "{name}");
        assert_eq!((person.repeats, person.same), (24, 18), "{name}");
    }
}

#[test]
fn span_agreement_matches_the_published_value() {
    let place = TestFolder::new();
    let session = place.project("p");
    // Krippendorff 2004, p. 254: alpha .7286 and 1, of a continuum of 300.
    let text = "x".repeat(300);
    let line = |text_id: &str, who: &str, label: &str| {
        format!(
            "{{\"text_id\":\"{text_id}\",\"text\":\"{text}\",\"annotator_id\":\"{who}\",\"label\":{label}}}\n"
        )
    };
    let book = line("a", "i", r#"[[75,145,"c"],[220,250,"c"],[30,90,"k"],[150,200,"k"]]"#)
        + &line("a", "j", r#"[[70,150,"c"],[205,225,"c"],[250,270,"c"],[30,90,"k"],[150,200,"k"]]"#)
        + &line("b", "i", r#"[[0,9,"c"]]"#);
    try_import(&session, &place.file("book.jsonl", &book), &ImportChoices::default()).unwrap();
    let question = questions::find(&session.project, None).unwrap();
    let found = span_agreement(&session.analysis, &question).unwrap();
    let alphas: Vec<f64> = found.types.iter().map(|one| one.unitizing.alpha.unwrap()).collect();
    assert!((alphas[0] - 0.7286).abs() < 5e-5 && (alphas[1] - 1.0).abs() < 1e-12, "{alphas:?}");
    assert!((found.unitizing.alpha.unwrap() - 0.8587).abs() < 5e-5, "{:?}", found.unitizing);
    assert_eq!(found.any_unitizing.joined, 2, "as if of one type, c overlaps k in both answers");
    // A later change of a label changes the figure.
    let j = annotators::list(&session.project).unwrap().into_iter().find(|a| a.name == "j").unwrap();
    let same = spans(&[(75, 145, 0), (220, 250, 0), (30, 90, 1), (150, 200, 1)]);
    record::record_label(&session.labelling, &label(&question, j.id.0, 1, same)).unwrap();
    let found = span_agreement(&session.analysis, &question).unwrap();
    assert_eq!(found.unitizing.alpha, Some(1.0));
}
