//! Files of annotation tools, through the command: what is recognised, what is told, what comes out again.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use dissensus_tests::command::Bench;
use serde_json::Value;

const TASKS: &str = r#"[
 {"id": 7, "data": {"text": "I like it"}, "drafts": [{"id": 1}], "annotations": [
   {"id": 1, "completed_by": 2, "created_at": "2024-05-01T12:30:00Z", "lead_time": 2.5, "result": [
     {"from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": ["Good"]}}]},
   {"id": 2, "completed_by": {"email": "b@example.org"}, "created_at": "2024-05-01T12:31:00Z", "result": [
     {"from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": ["Bad"]}}]},
   {"id": 3, "completed_by": {"email": "c@example.org"}, "was_cancelled": true, "result": []}]}]"#;

#[test]
fn a_file_is_recognised_told_and_imported() {
    let bench = Bench::without_encoder();
    bench.file("export.json", TASKS);
    bench.ok(["new", "P.dissensus"]);
    let told = bench.ok(["import", "P.dissensus", "export.json", "--dry-run"]);
    assert!(told.contains("Label Studio JSON (label-studio)"), "{told}");
    assert!(told.contains("Drafts: 1. Left out") && told.contains("Texts put off: 1. Kept"), "{told}");
    let told: Value = bench.json(["import", "P.dissensus", "export.json"]);
    assert_eq!((&told["format"]["name"], &told["labels"]), (&Value::from("label-studio"), &Value::from(2)));
    bench.ok(["export", "P.dissensus", "out.csv"]);
    let mut reader = csv::Reader::from_path(bench.path("out.csv")).unwrap();
    let rows: Vec<std::collections::BTreeMap<String, String>> =
        reader.deserialize().map(Result::unwrap).collect();
    let of = |person: &str| rows.iter().find(|row| row["annotator_id"] == person).unwrap();
    assert_eq!((of("2")["label"].as_str(), of("2")["duration_ms"].as_str()), ("Good", "2500"));
    assert_eq!(of("2")["created_at"], "2024-05-01T12:30:00Z");
    assert_eq!(
        (of("c@example.org")["label"].as_str(), of("c@example.org")["marks"].as_str()),
        ("", "skipped")
    );
    // The same again changes nothing, and a wrong name of a format says which there are.
    let again = bench.ok(["import", "P.dissensus", "export.json"]);
    assert!(again.contains("Imported 0 texts, 0 annotators, 0 labels"), "{again}");
    let refused = bench.refused(["import", "P.dissensus", "export.json", "--format", "labelstudio"]);
    assert!(refused.contains("label-studio, label-studio-flat, prodigy"), "{refused}");
}
