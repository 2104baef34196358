//! Argilla records, flat, nested, and of version 1.

use super::reading::file;

#[test]
fn flat_records_exclude_drafts_and_discarded_responses() {
    let json = r#"[{"id": "r1", "status": "completed", "_server_id": "s", "inserted_at": "2025-01-01T00:00:00", "updated_at": "x",
        "text": "ann came", "origin": "web",
        "label.responses": ["yes", "no", "no", "yes"], "label.responses.users": ["u1", "u2", "u3", "u4"],
        "label.responses.status": ["submitted", "submitted", "draft", "discarded"],
        "label.suggestion": "yes", "label.suggestion.score": null, "label.suggestion.agent": null,
        "many.responses": [["a", "b"], ["a"]], "many.responses.users": ["u1", "u2"], "many.responses.status": ["submitted", "submitted"],
        "stars.responses": [3], "stars.responses.users": ["u1"], "stars.responses.status": ["submitted"],
        "who.responses": [[{"start": 0, "end": 3, "label": "P"}]], "who.responses.users": ["u2"], "who.responses.status": ["submitted"],
        "order.responses": [[{"value": "x", "rank": 1}]], "order.responses.users": ["u1"], "order.responses.status": ["submitted"]},
       {"id": "r2", "text": "nobody", "label.responses": null, "label.responses.users": null, "label.responses.status": null}]"#;
    let read = file("records.json", json).read();
    assert_eq!(read.format(), "argilla");
    let mut reported = read.summaries();
    reported.sort();
    let spans = r#"u2 r1 who [{"start":0,"end":3,"label":"P"}]"#;
    assert_eq!(
        reported,
        [
            "r2",
            "u1 r1 label yes",
            "u1 r1 many a + b",
            "u1 r1 stars 3",
            "u2 r1 label no",
            "u2 r1 many a",
            spans,
            "u4 r1 label skipped"
        ]
    );
    assert_eq!(read.met(), [("drafts", 1), ("not-read", 1), ("predictions", 1), ("skips", 1)]);
    assert_eq!(read.rows[0].metadata.get("origin").map(String::as_str), Some("web"));
}

#[test]
fn nested_records_without_status_are_noted() {
    let json = r#"[{"id": "r1", "fields": {"text": "x"}, "metadata": {"n": 1}, "suggestions": {"label": {"value": "yes"}},
        "responses": {"label": [{"value": "yes", "user_id": "u1"}, {"value": "no", "user_id": "u2"}]}, "vectors": {}, "_server_id": "s"}]"#;
    let read = file("records.json", json).read();
    assert_eq!(read.summaries(), ["u1 r1 label yes", "u2 r1 label no"]);
    assert_eq!(read.met(), [("predictions", 1), ("without-status", 2)]);
}

#[test]
fn version_1_records_are_read_as_lines() {
    let line = r#"{"id": "r1", "text": "x", "label": {"user_id": ["u1", "u2"], "value": ["a", "b"], "status": ["submitted", "draft"]}, "label-suggestion": "a"}"#;
    let read = file("data.jsonl", line).read();
    assert_eq!((read.format(), read.summaries()), ("argilla", vec!["u1 r1 label a".to_owned()]));
}

#[test]
fn lists_of_unequal_length_are_a_bad_row() {
    let line = r#"{"id": "r1", "text": "x", "label.responses": ["a", "b"], "label.responses.users": ["u1"], "label.responses.status": ["submitted", "submitted"]}"#;
    let message = file("data.jsonl", line).refusal();
    assert!(message.contains("line 1, record r1: 2 responses and a list of 1"), "{message}");
    let good = line.replace("\"a\", \"b\"", "\"a\"").replace(", \"submitted\"]", "]").replace("r1", "r2");
    let read = file("data.jsonl", format!("{good}\n{line}\n")).read();
    assert_eq!(read.summaries(), ["u1 r2 label a"]);
    assert!(read.problems[0].contains("row 2 (line 2, record r1), column \"label\""), "{:?}", read.problems);
}
