//! Input that no tool writes, some of it malicious: reported with its position, and not imported.

use super::reading::{archive, file, refusal};
use dissensus_exchange::{FormatInfo, OpenOptions, Source, formats};
use std::io::Write as _;

#[test]
fn truncated_list_is_reported_with_its_line() {
    let json = "[{\"id\":1,\"data\":{\"text\":\"a\"},\"annotations\":[{\"completed_by\":1,\"result\":[{\"from_name\":\"q\",\"type\":\"choices\",\"value\":{\"choices\":[\"x\"]}}]}]},\n{\"id\":2,\"da";
    let read = file("a.json", json).read();
    assert_eq!(read.summaries(), ["1 1 q x"]);
    assert!(
        read.problems[0].contains("(line 2") && read.problems[0].contains("cut off"),
        "{:?}",
        read.problems
    );
}

#[test]
fn unsafe_and_broken_archives_are_refused() {
    let fixture = archive("x.zip", &[("../../etc/ann.jsonl", "{}")]);
    assert!(fixture.refusal().contains("leads out of it"), "{}", fixture.refusal());
    let whole = std::fs::read(
        &archive("x.zip", &[("ann.jsonl", "{\"id\":1,\"text\":\"a\",\"label\":[\"x\"]}")]).path,
    )
    .unwrap();
    let message = file("x.zip", &whole[..whole.len() / 2]).refusal();
    assert!(message.contains("damaged"), "{message}");
    let mut flipped = whole.clone();
    let at = whole.len() / 3;
    flipped[at] ^= 0x55;
    let fixture = file("x.zip", flipped);
    // Whatever the byte belonged to, it must not produce a wrong label.
    if Source::open(&fixture.path).is_ok() {
        assert_eq!(fixture.read().summaries(), ["ann 1 label x"]);
    }
}

#[test]
fn archive_bomb_is_refused() {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.start_file("ann.jsonl", zip::write::SimpleFileOptions::default()).unwrap();
    let zeros = vec![b' '; 1 << 20];
    for _ in 0..300 {
        writer.write_all(&zeros).unwrap();
    }
    let bytes = writer.finish().unwrap().into_inner();
    assert!(bytes.len() < 1 << 20, "a bomb is small");
    let message = file("x.zip", bytes).refusal();
    assert!(message.contains("more than 64 MiB") && message.contains("times its own size"), "{message}");
}

#[test]
fn archive_without_known_files_is_refused() {
    let message = archive("x.zip", &[("a.bin", "x"), ("b/c.csv", "text\nx\n")]).refusal();
    assert!(message.contains("zip archive") && message.contains("unpack"), "{message}");
}

#[test]
fn annotators_may_be_named_like_paths() {
    let line = r#"{"text":"a","_input_hash":1,"_view_id":"classification","label":"q","answer":"accept","_annotator_id":"../../etc/passwd"}"#;
    assert_eq!(file("a.jsonl", line).read().summaries(), ["../../etc/passwd 1 q yes"]);
}

#[test]
fn format_name_must_be_known() {
    let csv = file("a.csv", "text_id,text,annotator_id,label\n1,a,x,1\n");
    let message = refusal(&csv.path, Some("labelstudio"));
    assert!(message.contains("no format \"labelstudio\"") && message.contains("label-studio"), "{message}");
    let message = refusal(&csv.path, Some("prodigy"));
    assert!(message.contains("cannot be read as Prodigy JSONL: it looks like CSV"), "{message}");
    let tasks =
        file("a.json", r#"{"a":{"text":"x","annotations":"1","annotators":"A","split":"dev","data":{}}}"#);
    assert_eq!(Source::open(&tasks.path).unwrap().format().name, "lewidi");
    // A tool's CSV can be read as a plain one.
    let flat = file("b.csv", "id,annotator,annotation_id,lead_time,text\n1,a,2,3,hello\n");
    assert_eq!(
        Source::open_with(&flat.path, &OpenOptions { format: Some("csv"), ..OpenOptions::default() })
            .unwrap()
            .format()
            .name,
        "csv"
    );
}

#[test]
fn format_names_are_identifiers() {
    let all = formats();
    let mut names: Vec<&str> = all.iter().map(|format| format.name).collect();
    assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')));
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len());
    // A folder has no extension.
    let ends = |format: &FormatInfo| !format.endings.is_empty() || format.name == "huggingface";
    assert!(all.iter().all(|format| !format.title.is_empty() && ends(format)));
}

#[test]
fn deeply_nested_json_is_a_bad_row() {
    let deep = format!(
        "{{\"_input_hash\":1,\"answer\":\"accept\",\"text\":\"a\",\"x\":{}{}}}",
        "[".repeat(5000),
        "]".repeat(5000)
    );
    let good = r#"{"text":"a","_input_hash":1,"_view_id":"classification","label":"q","answer":"accept","_annotator_id":"x"}"#;
    let read = file("a.jsonl", format!("{good}\n{deep}\n")).read();
    assert_eq!(read.summaries(), ["x 1 q yes"]);
    assert!(read.problems[0].contains("recursion limit"), "{:?}", read.problems);
}

#[test]
fn free_texts_are_not_a_scale() {
    let mut lines = String::new();
    for n in 0..300 {
        lines.push_str(&format!(
            "{{\"id\":\"{n}\",\"text\":\"t{n}\",\"why.responses\":[\"because {n}\"],\"why.responses.users\":[\"u\"],\"why.responses.status\":[\"submitted\"],\"ok.responses\":[\"yes\"],\"ok.responses.users\":[\"u\"],\"ok.responses.status\":[\"submitted\"]}}\n"
        ));
    }
    let read = file("a.jsonl", lines).read();
    assert_eq!((read.rows.len(), read.scan.questions.len()), (300, 1));
    let met = read.source.met();
    assert!(
        met[0].message.contains("Answers to \"why\": 300. Left out") && met[0].message.contains("free texts"),
        "{met:?}"
    );
}
