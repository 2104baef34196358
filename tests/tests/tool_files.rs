//! Files of annotation tools, through the command: detection, messages, and exports.
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
fn tool_file_is_recognised_and_imported() {
    let bench = Bench::without_encoder();
    bench.file("export.json", TASKS);
    bench.ok(["project", "new", "P.dissensus"]);
    let reported = bench.ok(["data", "import", "P.dissensus", "export.json", "--dry-run"]);
    insta::assert_snapshot!(bench.shown(&reported));
    let reported: Value = bench.json(["data", "import", "P.dissensus", "export.json"]);
    assert_eq!(
        (&reported["format"]["name"], &reported["labels"]),
        (&Value::from("label-studio"), &Value::from(2))
    );
    bench.ok(["data", "export", "P.dissensus", "out.csv"]);
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
    // The same file again changes nothing, and an unknown format name lists the known ones.
    let again = bench.ok(["data", "import", "P.dissensus", "export.json"]);
    insta::assert_snapshot!(bench.shown(&again));
    let refused = bench.refused(["data", "import", "P.dissensus", "export.json", "--format", "labelstudio"]);
    insta::assert_snapshot!(bench.shown(&refused));
}

#[test]
fn tool_export_reports_losses_first() {
    let bench = Bench::without_encoder();
    bench.file("export.json", TASKS);
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "export.json"]);
    let reported =
        bench.ok(["data", "export", "P.dissensus", "out.csv", "--format", "crowd-kit", "--dry-run"]);
    let lines: Vec<&str> = reported.lines().collect();
    assert_eq!(
        lines[0],
        "not in CSV with task, worker and label: Skipped texts: 1. The format has no place for them"
    );
    assert_eq!(lines[lines.len() - 2], "out.csv would have 2 labels on 1 text by 2 annotators");
    assert!(!bench.path("out.csv").exists(), "{reported}");
    let reported: Value = bench.json(["data", "export", "P.dissensus", "out.csv", "--format", "crowd-kit"]);
    assert_eq!(
        (&reported["labels"], &reported["written"], &reported["losses"][0]["reason"]),
        (&2.into(), &true.into(), &"skips".into())
    );
    assert_eq!(
        std::fs::read_to_string(bench.path("out.csv")).unwrap(),
        "task,worker,label\n7,2,Good\n7,b@example.org,Bad\n"
    );
    let refused = bench.refused(["data", "export", "P.dissensus", "out.csv", "--format", "crowd-kit"]);
    insta::assert_snapshot!(bench.shown(&refused));
    let refused = bench.refused(["data", "export", "P.dissensus", "out.json", "--format", "doccano"]);
    insta::assert_snapshot!(bench.shown(&refused));
    let listed: Value = bench.json(["data", "export", "--list-formats"]);
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["label-studio", "prodigy", "doccano", "lewidi", "crowd-kit", "wide"]);
    assert!(
        bench.ok(["data", "export", "--list-formats"]).contains("label-studio  .json   Label Studio JSON")
    );
    // The file can be imported again unchanged.
    let reported = bench.run(["data", "export", "P.dissensus", "people.csv", "--format", "wide"]);
    insta::assert_snapshot!(bench.shown(&reported.err));
    assert_eq!(reported.out, "Wrote 2 labels on 1 text by 2 annotators to people.csv\n");
    bench.ok(["data", "export", "P.dissensus", "tasks.json", "--format", "label-studio"]);
    bench.ok(["project", "new", "Q.dissensus"]);
    bench.ok(["data", "import", "Q.dissensus", "tasks.json"]);
    bench.ok(["data", "export", "P.dissensus", "p.csv"]);
    bench.ok(["data", "export", "Q.dissensus", "q.csv"]);
    let read = |name: &str| std::fs::read_to_string(bench.path(name)).unwrap();
    assert_eq!(read("p.csv"), read("q.csv"));
}
