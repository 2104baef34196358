//! Questions whose answers are passages of a text.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{TestFolder, try_import};
use dissensus_api::{ImportChoices, NewLabel};
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, Answer, LabelSource, Question, Scale, ScaleKind, Span, SpanSet, TextId};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Silent;

/// The message about the rows that cannot be imported.
fn told(error: ProjectError) -> String {
    match error {
        ProjectError::BadRows { listed, .. } => listed,
        other => panic!("{other}"),
    }
}

fn spans(of: &[(u32, u32, u16)]) -> Answer {
    let spans = of.iter().map(|&(start, end, kind)| Span { start, end, kind });
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
        session.project.add_annotator(name, &Default::default()).unwrap();
    }
    let scale = Scale::new(ScaleKind::Spans, ["insult", "target"]).unwrap();
    session.project.add_question("words", "Which words?", scale).unwrap();
    let question = session.project.question(None).unwrap();
    (session, question)
}

#[test]
fn passages_are_labelled_and_shown_to_those_who_have_answered() {
    let place = TestFolder::new();
    let (session, question) = project(&place);
    session.project.set_reveal(true).unwrap();
    let labelling = &session.labelling;
    let (first, second) = (spans(&[(0, 5, 0), (8, 9, 1)]), spans(&[(8, 12, 0)]));
    let receipt = labelling.record_label(&label(&question, 1, 1, first.clone())).unwrap();
    assert_eq!(receipt.spans.unwrap(), [], "nobody else has answered");
    assert_eq!(receipt.progress.done, 1);
    // Ben sees nothing before he has answered.
    let (ben, a) = (AnnotatorId(2), TextId(1));
    let before = labelling.task(ben, question.id, a).unwrap();
    assert!(before.spans.is_none() && before.reveal.is_none() && before.answer.is_none());
    let receipt = labelling.record_label(&label(&question, 2, 1, second.clone())).unwrap();
    let shown = receipt.spans.unwrap();
    assert_eq!(shown.len(), 1);
    assert_eq!((shown[0].name.as_str(), Answer::Spans(shown[0].spans.clone())), ("ana", first.clone()));
    // An answer without passages is an answer, and shown as one.
    labelling.record_label(&label(&question, 3, 1, spans(&[]))).unwrap();
    let after = labelling.task(ben, question.id, a).unwrap();
    assert_eq!(after.answer, Some(second.clone()));
    let people = after.spans.unwrap();
    assert_eq!(people.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["ana", "cleo"]);
    assert_eq!(people[1].spans, SpanSet::default());
    // After undo, others' answers are hidden again.
    labelling.undo(ben, question.id, LabelSource::Window).unwrap().unwrap();
    assert!(labelling.task(ben, question.id, a).unwrap().spans.is_none());
}

#[test]
fn what_is_no_passage_of_the_text_is_refused() {
    let place = TestFolder::new();
    let (session, question) = project(&place);
    // The first text has 12 characters, in 20 bytes and 13 UTF-16 units.
    session.labelling.record_label(&label(&question, 1, 1, spans(&[(0, 12, 0)]))).unwrap();
    for answer in [spans(&[(0, 13, 0)]), spans(&[(0, 1, 2)]), Answer::Level(0)] {
        assert!(session.labelling.record_label(&label(&question, 1, 1, answer)).is_err());
    }
    let by_name = |value: &str| session.labelling.label_by_name("ana", "a", value, None);
    assert!(by_name(r#"[{"start":2,"end":4,"label":"insult"}]"#).is_ok());
    for (value, said) in [
        (r#"[{"start":4,"end":2,"label":"insult"}]"#, "goes from 4 to 2"),
        (r#"[{"start":0,"end":2,"label":"joke"}]"#, "the types are insult, target"),
        (r#"[{"start":0,"end":99,"label":"insult"}]"#, "12 characters"),
        ("insult", "spans are a list"),
    ] {
        let error = by_name(value).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    let task = session.labelling.task(AnnotatorId(1), question.id, TextId(1)).unwrap();
    assert_eq!(task.answer, Some(spans(&[(2, 4, 0)])), "what was refused has changed nothing");
}

const LINES: &str = r#"{"text_id":"a","text":"you fool, fool 😀","annotator_id":"ana","label":[{"start":4,"end":8,"label":"insult"},{"start":0,"end":3,"label":"target"}]}
{"text_id":"a","text":"you fool, fool 😀","annotator_id":"ben","label":[]}
{"text_id":"b","text":"fine","annotator_id":"ana","label":[]}
{"text_id":"a","text":"you fool, fool 😀","annotator_id":"cleo","label":[{"start":10,"end":16,"label":"insult"}]}
"#;

#[test]
fn passages_go_round_through_both_formats() {
    let place = TestFolder::new();
    let session = place.project("p");
    let file = place.file("spans.jsonl", LINES);
    let preview = session.exchange.preview(&file, &ImportChoices::default()).unwrap();
    let scale = preview.scale.clone().unwrap();
    assert_eq!(
        (scale.kind(), scale.levels()),
        (ScaleKind::Spans, &["insult".to_owned(), "target".to_owned()][..])
    );
    assert_eq!((preview.level_counts.as_slice(), preview.new_labels), (&[2, 1][..], 4), "{preview:?}");
    try_import(&session, &file, &ImportChoices::default()).unwrap();
    session.project.set_reveal(true).unwrap();
    // Again: nothing is new.
    assert_eq!(session.exchange.preview(&file, &ImportChoices::default()).unwrap().new_labels, 0);
    let question = session.project.question(None).unwrap();
    let task = session.labelling.task(AnnotatorId(1), question.id, TextId(1)).unwrap();
    assert_eq!(task.answer, Some(spans(&[(0, 3, 1), (4, 8, 0)])));
    assert_eq!(task.spans.unwrap().len(), 2);
    for name in ["out.csv", "out.jsonl", "out.tsv"] {
        let out = place.path(name);
        session.exchange.export(&out, None, false, &Silent).unwrap();
        let written = std::fs::read_to_string(&out).unwrap();
        if name == "out.jsonl" {
            let first: serde_json::Value = serde_json::from_str(written.lines().next().unwrap()).unwrap();
            assert_eq!(first["label"][1]["label"], "insult", "{written}");
            assert!(written.contains("\"label\":[]"), "{written}");
        }
        let other = place.project(&format!("{name}"));
        try_import(&other, &out, &ImportChoices::default()).unwrap();
        let again = other.project.question(None).unwrap();
        assert_eq!(again.scale, question.scale);
        let answer = |annotator, text| {
            let task = other.labelling.task(AnnotatorId(annotator), again.id, TextId(text)).unwrap();
            task.answer
        };
        assert_eq!(answer(1, 1), Some(spans(&[(0, 3, 1), (4, 8, 0)])), "{name}");
        assert_eq!((answer(2, 1), answer(1, 2)), (Some(spans(&[])), Some(spans(&[]))), "{name}");
        assert_eq!(answer(3, 1), Some(spans(&[(10, 16, 0)])), "{name}");
    }
}

#[test]
fn rows_whose_passages_cannot_be_are_told_and_nothing_is_kept() {
    let place = TestFolder::new();
    let row = |label: &str| {
        format!("{{\"text_id\":\"a\",\"text\":\"short\",\"annotator_id\":\"ana\",\"label\":{label}}}\n")
    };
    let good = r#"{"text_id":"b","text":"another one","annotator_id":"ben","label":[[0,7,"x"]]}"#;
    for (label, said) in [
        (r#"[{"start":0,"end":6,"label":"x"}]"#, "the text has 5 characters"),
        (r#"[{"start":3,"end":3,"label":"x"}]"#, "goes from 3 to 3"),
        (r#"[{"start":3,"end":1,"label":"x"}]"#, "goes from 3 to 1"),
        (r#"[{"start":-1,"end":1,"label":"x"}]"#, "span 1"),
        (r#"[{"start":0,"end":1}]"#, "missing field `label`"),
    ] {
        let session = place.project(&format!("{}", said.replace(['`', ' '], "-")));
        let file = place.file("bad.jsonl", &format!("{good}\n{}", row(label)));
        let error = told(try_import(&session, &file, &ImportChoices::default()).unwrap_err());
        assert!(error.contains(said) && error.contains("row 2"), "{error}");
        assert_eq!(session.project.info().unwrap().texts, 0);
        // Without the bad row the rest is imported.
        let skipping = ImportChoices { skip_bad: true, ..ImportChoices::default() };
        try_import(&session, &file, &skipping).unwrap();
        assert_eq!(session.project.info().unwrap().labels, 1);
    }
    // With texts of the project, the file has only their ids.
    let (session, _) = project(&place);
    let file = place.file("late.jsonl", r#"{"text_id":"b","annotator_id":"ana","label":[[0,12,"insult"]]}"#);
    let error = told(try_import(&session, &file, &ImportChoices::default()).unwrap_err());
    assert!(error.contains("the text has 11 characters"), "{error}");
    let file = place.file("late.jsonl", r#"{"text_id":"b","annotator_id":"ana","label":[[0,11,"joke"]]}"#);
    let error = told(try_import(&session, &file, &ImportChoices::default()).unwrap_err());
    assert!(error.contains("the types are insult, target"), "{error}");
}

/// Whether a text has a passage of a type is a separate question, like an option.
#[test]
fn a_type_is_a_yes_no_question() {
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
    let question = session.project.question(None).unwrap();
    assert_eq!(question.scale.levels(), ["insult"], "one type is enough");
    session.live.fit(question.id, &Silent).unwrap();
    let (texts, all) = session.analysis.texts_by_options(&question, 5, None).unwrap();
    assert_eq!((texts.len(), all), (5, 30));
    let agreements = session.analysis.option_agreements(&question, &Silent).unwrap();
    assert_eq!(agreements.options[0].chosen, Some(1.0 / 3.0));
    let option = session.project.question(Some("spans: insult")).unwrap();
    let before = session.analysis.predict_options(&question, AnnotatorId(1), "t1").unwrap();
    session.labelling.record_label(&label(&question, 1, 2, spans(&[(0, 4, 0)]))).unwrap();
    let after = session.analysis.predict_options(&question, AnnotatorId(1), "t1").unwrap();
    assert!(after[0].probability > before[0].probability, "it learned at once");
    let refused = session.labelling.record_label(&label(&option, 1, 2, Answer::Level(1))).unwrap_err();
    assert_eq!(refused.code(), "whole-question");
    assert_eq!(session.analysis.agreement(question.id).unwrap_err().code(), "one-option");
    assert_eq!(session.analysis.agreement(option.id).unwrap().labels, 90);
}

#[test]
fn values_that_are_no_passages_make_no_types_and_levels_may_begin_like_a_list() {
    let place = TestFolder::new();
    // A stray value next to lists of spans is a bad row, and not a type.
    let stray = format!(
        "{LINES}{{\"text_id\":\"b\",\"text\":\"fine\",\"annotator_id\":\"ben\",\"label\":\"n/a\"}}\n"
    );
    let session = place.project("stray");
    let file = place.file("stray.jsonl", &stray);
    assert!(told(try_import(&session, &file, &ImportChoices::default()).unwrap_err()).contains("row 5"));
    let skipping = ImportChoices { skip_bad: true, ..ImportChoices::default() };
    try_import(&session, &file, &skipping).unwrap();
    assert_eq!(session.project.question(None).unwrap().scale.levels(), ["insult", "target"]);
    // Names of types follow the rules of names.
    let session = place.project("names");
    let bad = r#"{"text_id":"a","text":"short","annotator_id":"ana","label":[[0,2,"a\u001bb"],[0,1,"ok"]]}"#;
    let good = r#"{"text_id":"a","text":"short","annotator_id":"ben","label":[[0,2,"ok"]]}"#;
    let file = place.file("names.jsonl", &format!("{good}\n{bad}\n"));
    assert!(told(try_import(&session, &file, &ImportChoices::default()).unwrap_err()).contains("U+001B"));
    // A level that begins like a list.
    let session = place.project("levels");
    let rows = "text_id,text,annotator,label\na,one,ana,[[citation]]\nb,two,ana,good\nc,three,ana,bad\n";
    try_import(&session, &place.file("levels.csv", rows), &ImportChoices::default()).unwrap();
    assert_eq!(session.project.question(None).unwrap().scale.kind(), ScaleKind::Choice);
    // A list over several lines of a CSV cell.
    let session = place.project("cells");
    let rows = "text_id,text,annotator,label\na,short,ana,\"[\n {\"\"start\"\": 0, \"\"end\"\": 5, \"\"label\"\": \"\"x\"\"}\n]\"\n";
    try_import(&session, &place.file("cells.csv", rows), &ImportChoices::default()).unwrap();
    let question = session.project.question(None).unwrap();
    let task = session.labelling.task(AnnotatorId(1), question.id, TextId(1)).unwrap();
    assert_eq!(task.answer, Some(spans(&[(0, 5, 0)])));
    for name in ["none", "a + b"] {
        assert!(Scale::new(ScaleKind::Spans, [name]).is_err(), "{name}");
    }
    assert!(Scale::new(ScaleKind::Spans, Vec::<String>::new()).unwrap_err().to_string().contains("one type"));
}

/// Preview and import treat a set in another order as the same.
#[test]
fn the_same_set_in_another_order_is_a_repetition() {
    let place = TestFolder::new();
    let session = place.project("p");
    let rows = "text_id,text,annotator,label\na,one,ana,x;y\na,one,ana,y;x\nb,two,ana,x\nc,three,ana,y;z;x\n";
    let file = place.file("sets.csv", rows);
    let preview = session.exchange.preview(&file, &ImportChoices::default()).unwrap();
    assert_eq!((preview.new_labels, preview.repeated_rows), (3, 1), "{preview:?}");
    try_import(&session, &file, &ImportChoices::default()).unwrap();
    assert_eq!(session.project.info().unwrap().labels, 3);
}

/// Answers of a later round to a question are answers to each of its options and types.
#[test]
fn options_and_types_are_answered_again() {
    let place = TestFolder::new();
    for (name, marked) in [("types", "[[0,4,\"x\"]]"), ("options", "[\"x\",\"y\"]")] {
        let session = place.project(&format!("{name}"));
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
        let option = session.project.question(Some("again: x")).unwrap();
        let found = session.analysis.repeats(option.id).unwrap();
        let person = &found.annotators[0];
        assert_eq!((found.repeats, found.unpaired), (24, 0), "{name}");
        assert_eq!((person.repeats, person.same), (24, 18), "{name}");
    }
}

#[test]
fn agreement_on_where_passages_begin_is_the_published_one_and_follows_the_answers() {
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
    let question = session.project.question(None).unwrap();
    let found = session.analysis.span_agreements(&question, &Silent).unwrap();
    let alphas: Vec<f64> = found.types.iter().map(|one| one.unitizing.alpha.unwrap()).collect();
    assert!((alphas[0] - 0.7286).abs() < 5e-5 && (alphas[1] - 1.0).abs() < 1e-12, "{alphas:?}");
    assert!((found.unitizing.alpha.unwrap() - 0.8587).abs() < 5e-5, "{:?}", found.unitizing);
    assert_eq!(found.any_unitizing.joined, 2, "as if of one type, c overlaps k in both answers");
    // A later change of a label changes the figure.
    let j = session.project.annotators().unwrap().into_iter().find(|a| a.name == "j").unwrap();
    let same = spans(&[(75, 145, 0), (220, 250, 0), (30, 90, 1), (150, 200, 1)]);
    session.labelling.record_label(&label(&question, j.id.0, 1, same)).unwrap();
    let found = session.analysis.span_agreements(&question, &Silent).unwrap();
    assert_eq!(found.unitizing.alpha, Some(1.0));
}
