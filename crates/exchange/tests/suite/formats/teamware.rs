//! GATE Teamware.

use super::reading::file;

const DOCUMENTS: &str = r#"[
 {"id":32,"text":"so","features":{"source":"forum"},"annotation_sets":{
   "u1":{"name":"u1","annotations":[{"type":"Document","start":0,"end":2,"id":0,"features":{"radio":"val3","checkbox":["val2","val4"]}}],"next_annid":1},
   "u2":{"name":"u2","annotations":[{"type":"Document","start":0,"end":2,"id":0,"features":{"label":{"radio":"val1"}}}],"next_annid":1}},
  "teamware_status":{"rejected_by":["u3"],"timed_out":["u4"],"aborted":[]}},
 {"id":33,"text":"not yet","annotation_sets":{},"teamware_status":{"rejected_by":[],"timed_out":[],"aborted":[]}}]"#;

#[test]
fn answers_and_rejected_documents_are_read() {
    let read = file("export.json", DOCUMENTS).read();
    assert_eq!(read.format(), "gate-teamware");
    let reported = read.summaries();
    for answer in ["u1 32 radio val3", "u2 32 radio val1", "33"] {
        assert!(reported.iter().any(|row| row == answer), "{answer}: {reported:?}");
    }
    assert!(
        reported
            .iter()
            .any(|row| row.starts_with("u1 32 checkbox") && row.contains("val2") && row.contains("val4"))
    );
    let skips: Vec<&String> = reported.iter().filter(|row| row.contains("skipped")).collect();
    assert!(!skips.is_empty() && skips.iter().all(|row| row.starts_with("u3 32")), "{reported:?}");
    assert!(read.met().contains(&("without-answer", 1)), "{:?}", read.met());
    assert!(read.problems.is_empty());
    assert_eq!(read.rows[0].metadata.get("source").map(String::as_str), Some("forum"));
}

#[test]
fn json_lines_are_read_and_errors_located() {
    let lines = DOCUMENTS
        .trim_matches(['[', ']'])
        .replace('\n', "")
        .replace("}},  {", "}}\n{")
        .replace("}}, {", "}}\n{");
    assert_eq!(lines.lines().count(), 2);
    assert_eq!(
        file("export.jsonl", &lines).read().summaries(),
        file("export.json", DOCUMENTS).read().summaries()
    );
    let strange = lines.replace("\"val3\"", "{\"a\":1}");
    let read = file("export.jsonl", strange).read();
    assert_eq!(read.problems.len(), 1);
    assert!(
        read.problems[0].contains("document 32, u1") && read.problems[0].contains("radio"),
        "{:?}",
        read.problems
    );
}
