//! Prodigy: binary tasks, choices, spans, skips, second answers.

use super::reading::file;
use dissensus_domain::ScaleKind;

fn binary(hash: i64, person: &str, answer: &str, at: u64) -> String {
    format!(
        r#"{{"text":"text {hash}","_input_hash":{hash},"_task_hash":1,"label":"rude","_view_id":"classification","answer":"{answer}","_timestamp":{at},"_annotator_id":"{person}","_session_id":"s"}}"#
    )
}

#[test]
fn binary_tasks_with_skips_and_repeated_answers() {
    let lines = [
        binary(-5, "ann", "accept", 100),
        binary(-5, "ann", "reject", 300),
        binary(-5, "ann", "reject", 200),
        // The same line twice, as where two exports were joined, is one answer.
        binary(-5, "ann", "reject", 200),
        binary(-5, "ben", "ignore", 100),
        binary(6, "ben", "accept", 100),
        binary(6, "ben", "ignore", 150),
    ];
    let read = file("db.jsonl", lines.join("\n")).read();
    assert_eq!(read.format(), "prodigy");
    assert_eq!(
        read.summaries(),
        [
            "ann -5 rude yes",
            "ann -5 rude no #3",
            "ann -5 rude no #2",
            "ann -5 rude no",
            "ben -5 rude skipped",
            "ben 6 rude yes",
            "ben 6 rude skipped"
        ]
    );
    assert_eq!(read.rows[0].at_ms, Some(100_000));
    assert_eq!(read.met(), [("later-occasions", 2), ("skips", 2)]);
    let hints = read.source.hints();
    assert_eq!((hints[0].kind, hints[0].levels.join(",")), (ScaleKind::Binary, "no,yes".to_owned()));
}

#[test]
fn choices_spans_flags_and_notes_are_read() {
    let lines = r#"{"text":"a b","_input_hash":1,"_view_id":"choice","options":[{"id":"x","text":"X"},{"id":"y","text":"Y"},{"id":3,"text":"Z"}],"accept":["y"],"answer":"accept","_annotator_id":"ann","flagged":true}
{"text":"a b","_input_hash":1,"_view_id":"choice","options":[{"id":"x","text":"X"},{"id":"y","text":"Y"},{"id":3,"text":"Z"}],"accept":[],"answer":"reject","_annotator_id":"ben"}
{"text":"a b","_input_hash":1,"_view_id":"ner_manual","spans":[{"start":2,"end":3,"label":"N","token_start":1,"token_end":1}],"tokens":[],"answer":"accept","_annotator_id":null,"_session_id":"set-ann","user_input":"unsure"}
{"text":"a b","_input_hash":1,"_view_id":"ner_manual","answer":"accept","_annotator_id":"ben"}
{"text":"a b","_input_hash":1,"_view_id":"ner","spans":[{"start":2,"end":3,"label":"N"}],"answer":"reject","_annotator_id":"ben"}
{"image":"x.png","_input_hash":2,"_view_id":"image_manual","spans":[],"answer":"accept","_annotator_id":"ben"}
"#;
    let read = file("db.jsonl", lines).read();
    let span = r#"[{"start":2,"end":3,"label":"N"}]"#;
    assert_eq!(
        read.summaries(),
        [
            "ann 1 choice y flagged",
            "ben 1 choice flagged",
            &format!("set-ann 1 ner_manual {span}"),
            "ben 1 ner_manual []"
        ]
    );
    assert_eq!(read.rows[2].note.note.as_deref(), Some("unsure"));
    let met = read.met();
    for found in [("not-read", 1), ("rejected", 1), ("flags", 2), ("notes", 1)] {
        assert!(met.contains(&found), "{met:?}");
    }
    let hints = read.source.hints();
    assert_eq!(hints[0].levels, ["x", "y", "3"], "also those that nobody chose");
}

#[test]
fn old_export_needs_an_annotator() {
    let line = r#"{"text":"a","_input_hash":1,"_task_hash":2,"label":"INSULT","answer":"accept","spans":[],"score":0.7,"meta":{"section":"x"}}"#;
    let fixture = file("db.jsonl", line);
    assert!(
        fixture.refusal().contains("neither \"_annotator_id\" nor \"_session_id\""),
        "{}",
        fixture.refusal()
    );
    let read = fixture.read_as(Some("=me"));
    assert_eq!(read.summaries(), ["me 1 INSULT yes"]);
    assert_eq!(read.rows[0].metadata.get("meta").map(String::as_str), Some(r#"{"section":"x"}"#));
}
