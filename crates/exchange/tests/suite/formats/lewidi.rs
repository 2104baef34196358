//! Le-Wi-Di 2023 and 2025.

use super::reading::file;
use dissensus_domain::ScaleKind;
use dissensus_exchange::FileKind;

#[test]
fn comma_lists_of_2023_are_read() {
    let json = r#"{"1": {"text": "a", "annotation task": "misogyny", "number of annotations": 3, "annotations": "1,0,0",
        "annotators": "Ann1,Ann2,Ann3", "lang": "ar", "hard_label": "0", "soft_label": {"0": 0.67, "1": 0.33}, "split": "dev",
        "other_info": {"Ann1": "Moderate", "Ann2": "Liberal", "domain": "d"}},
      "2": {"text": "{\"prev_agent\": \"hi\", \"user\": \"ho\", \"agent\": \"x\"}", "annotation task": "misogyny", "annotations": "1,0", "annotators": "Ann1", "split": "dev"}}"#;
    let read = file("Set_dev.json", json).read();
    assert_eq!(read.format(), "lewidi");
    assert_eq!(read.summaries(), ["Ann1 1 misogyny 1", "Ann2 1 misogyny 0", "Ann3 1 misogyny 0"]);
    assert_eq!(read.rows[0].split.as_deref(), Some("dev"));
    assert_eq!(read.rows[0].attributes.get("other_info").map(String::as_str), Some("Moderate"));
    assert_eq!(read.rows[0].metadata.get("domain").map(String::as_str), Some("d"));
    assert!(read.problems[0].contains("2 answers of 1 annotators"), "{:?}", read.problems);
}

#[test]
fn annotator_objects_of_2025_are_read() {
    let json = r#"{"49": {"annotation task": "nli", "text": {"statement": "S", "context": "C"}, "number of annotators": 2,
        "annotators": "Ann1,Ann2,Ann2", "number of annotations": 3, "annotations": {"Ann1": "neutral", "Ann2": "entailment,neutral"},
        "soft_label": {"contradiction": {"0": 1.0, "1": 0.0}, "entailment": {"0": 0.5, "1": 0.5}, "neutral": {"0": 0.0, "1": 1.0}},
        "split": "dev", "lang": "en", "other_info": {"explanations": ["w1", "w2", "w3"]}}}"#;
    let read = file("VariErrNLI_dev.json", json).read();
    assert_eq!(read.summaries(), ["Ann1 49 nli neutral", "Ann2 49 nli entailment + neutral"]);
    assert_eq!(read.rows[0].text.as_deref(), Some("S\nC"), "parts in the order of the file");
    assert_eq!(read.rows[1].note.note.as_deref(), Some("w2\nw3"));
    let hint = &read.source.hints()[0];
    assert_eq!(
        (hint.kind, hint.levels.join(",")),
        (ScaleKind::MultiLabel, "contradiction,entailment,neutral".to_owned())
    );
}

#[test]
fn scales_include_unused_levels() {
    let json = r#"{"1": {"annotation task": "paraphrase", "text": {"Question1": "a", "Question2": "b"}, "annotators": "Ann1,Ann2",
        "annotations": {"Ann1": "-1", "Ann2": "2"}, "soft_label": {"-2": 0.0, "-1": 0.5, "0": 0, "1": 0, "2": 0.5}, "split": "dev"}}"#;
    let hint = &file("Paraphrase_dev.json", json).read().source.hints()[0];
    assert_eq!((hint.kind, hint.levels.join(",")), (ScaleKind::Ordinal, "-2,-1,0,1,2".to_owned()));
}

#[test]
fn annotator_file_is_read() {
    let json =
        r#"{"Ann0": {"Gender": "Female", "Age": "56"}, "Ann1": {"Gender": "DATA_EXPIRED", "Age": 30.0}}"#;
    let read = file("CSC_annotators_meta.json", json).read();
    assert_eq!((read.format(), read.scan.kind), ("lewidi-annotators", FileKind::Annotators));
    assert_eq!(read.rows[0].attributes.len(), 2);
    assert_eq!(read.rows[1].attributes.get("Age").map(String::as_str), Some("30"));
    assert_eq!(read.met(), [("unknown", 1)]);
}

/// Answers that are lists of spans are spans, even if they have one type or one annotator.
#[test]
fn span_lists_are_read() {
    for key in ["label", "type"] {
        let list = format!(r#"[{{\"start\":3,\"end\":7,\"{key}\":\"rude\"}}]"#);
        let json = format!(
            r#"{{"1": {{"text": "so what now", "annotation task": "parts", "annotators": "ana", "annotations": {{"ana": ["{list}"]}},
            "soft_label": {{"{list}": 1.0}}}},
            "2": {{"text": "or this", "annotation task": "parts", "annotators": "ana", "annotations": {{"ana": "[]"}}, "soft_label": {{"[]": 1.0}}}}}}"#
        );
        let read = file("Set_dev.json", &json).read();
        assert_eq!(
            read.summaries(),
            [r#"ana 1 parts [{"start":3,"end":7,"label":"rude"}]"#, "ana 2 parts []"],
            "{key}"
        );
        let hint = &read.source.hints()[0];
        assert_eq!((hint.kind, hint.levels.join(",")), (ScaleKind::Spans, "rude".to_owned()), "{key}");
    }
}
