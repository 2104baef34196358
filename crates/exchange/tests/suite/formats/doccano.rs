//! doccano: the name of a file identifies the annotator.

use super::reading::{archive, file, refusal};

const ADMIN: &str = r#"{"id":1,"text":"one","label":["good"],"Comments":["unsure"],"page":"p1"}
{"id":2,"text":"two","label":[],"Comments":[]}
{"id":3,"text":"three","label":["good","odd"],"Comments":[]}
"#;
const OTHER: &str = r#"{"id":1,"text":"one","label":["bad"],"Comments":[],"page":"p1"}
"#;

#[test]
fn archive_has_one_file_for_each_annotator() {
    let read = archive("export.zip", &[("admin.jsonl", ADMIN), ("a.b.jsonl", OTHER)]).read();
    assert_eq!(read.format(), "doccano");
    assert_eq!(read.summaries(), ["a.b 1 label bad", "admin 1 label good", "2", "admin 3 label good + odd"]);
    assert_eq!(read.rows[1].note.note.as_deref(), Some("unsure"));
    assert_eq!(read.rows[0].metadata.get("page").map(String::as_str), Some("p1"));
    assert_eq!(read.met(), [("ambiguous", 1)]);
    assert_eq!(read.problems, Vec::<String>::new());
}

#[test]
fn single_export_file_belongs_to_its_annotator() {
    assert_eq!(file("admin.jsonl", ADMIN).read().summaries()[0], "admin 1 label good");
}

#[test]
fn merged_export_needs_an_annotator() {
    for fixture in [file("all.jsonl", ADMIN), archive("x.zip", &[("all.jsonl", ADMIN)])] {
        let message = fixture.refusal();
        assert!(message.contains("merged") && message.contains("=NAME"), "{message}");
        assert_eq!(fixture.read_as(Some("=everybody")).summaries()[0], "everybody 1 label good");
    }
}

#[test]
fn files_made_for_import_have_no_annotator() {
    let fixture = file(
        "train.jsonl",
        "{\"text\":\"a\",\"label\":[[0,1,\"X\"]],\"meta\":{\"n\":1}}\n{\"text\":\"b\",\"label\":[]}\n",
    );
    assert!(fixture.refusal().contains("need not be a person's"), "{}", fixture.refusal());
    let read = fixture.read_as(Some("=ann"));
    assert_eq!(read.rows[0].label.as_deref(), Some(r#"[{"start":0,"end":1,"label":"X"}]"#));
    assert_eq!((read.rows.len(), read.rows[1].label.as_deref()), (2, None));
    // Naming the format means that the file's name is that of an annotator.
    assert!(!refusal(&file("train.csv", "a,b\n").path, Some("doccano")).is_empty());
}

#[test]
fn spans_and_categories_are_read() {
    let line = r#"{"id":1,"text":"ann met ben","entities":[{"id":7,"label":"P","start_offset":0,"end_offset":3}],"relations":[{"id":1,"from_id":7,"to_id":8,"type":"knows"}],"cats":["news"],"Comments":[]}
{"id":2,"text":"x","label":[[0,9,"P"]],"Comments":[]}
{}
"#;
    let read = archive("x.zip", &[("ann.jsonl", line)]).read();
    assert_eq!(read.summaries(), ["ann 1 cats news", r#"ann 1 entities [{"start":0,"end":3,"label":"P"}]"#]);
    assert_eq!(read.met(), [("not-read", 1)]);
    assert_eq!(read.problems.len(), 2);
    assert!(read.problems[0].contains("line 2, ann.jsonl"), "{:?}", read.problems);
    assert!(read.problems[1].contains("an empty object"), "{:?}", read.problems);
}
