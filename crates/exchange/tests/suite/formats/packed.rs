//! Files compressed with gzip are read like their contents.

use super::reading::{file, refusal};
use dissensus_exchange::Source;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;

fn packed(content: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content.as_ref()).unwrap();
    encoder.finish().unwrap()
}

const LABELS: &str = "text_id,text,annotator_id,label\nt1,so,ana,1\nt1,so,ben,2\n";

#[test]
fn compressed_tables_and_tool_files_are_read() {
    let read = file("labels.csv.gz", packed(LABELS)).read();
    assert_eq!(
        (read.format(), read.summaries()),
        ("csv", vec!["ana t1 1".to_owned(), "ben t1 2".to_owned()])
    );
    let tasks = r#"[{"id":1,"data":{"text":"so"},"annotations":[{"completed_by":2,"result":[
        {"from_name":"q","to_name":"text","type":"choices","value":{"choices":["x"]}}]}]}]"#;
    assert_eq!(file("tasks.json.gz", packed(tasks)).read().summaries(), ["2 1 q x"]);
    // Two concatenated gzip files are one, and the name of the annotator is that of the file inside.
    let line =
        |id: u32| packed(format!("{{\"id\":{id},\"text\":\"so {id}\",\"label\":[\"x\"],\"Comments\":[]}}\n"));
    let read = file("admin.jsonl.gz", [line(1), line(2)].concat()).read();
    assert_eq!(read.summaries(), ["admin 1 label x", "admin 2 label x"]);
    // The extension of a file does not determine whether it is compressed.
    assert_eq!(file("labels.csv", packed(LABELS)).read().summaries().len(), 2);
}

#[test]
fn source_path_is_the_compressed_file() {
    let fixture = file("labels.csv.gz", packed(LABELS));
    let source = Source::open(&fixture.path).unwrap();
    assert_eq!((source.path(), source.bytes()), (fixture.path.as_path(), LABELS.len() as u64));
    // It can be read as long as there is a copy of the source.
    let copy = source.clone();
    drop(source);
    let roles = dissensus_exchange::guess_roles(&copy).unwrap();
    assert_eq!(dissensus_exchange::read_rows(&copy, &roles).unwrap().count(), 2);
}

#[test]
fn errors_name_the_compressed_file() {
    let whole = packed(LABELS.repeat(500));
    for damaged in [whole[..whole.len() - 20].to_vec(), [&whole[..200], &[0xFF; 40]].concat()] {
        let message = refusal(&file("labels.csv.gz", damaged).path, None);
        assert!(message.contains("labels.csv.gz") && message.contains("damaged or not whole"), "{message}");
    }
    let message = refusal(&file("words.log.gz", packed("just words\n")).path, None);
    assert!(message.contains("words.log.gz") && message.contains("in an unknown format"), "{message}");
    assert_eq!(message.matches("/.tmp").count(), 1, "no path of a file that is gone: {message}");
    assert_eq!(file("twice.csv.gz.gz", packed(packed(LABELS))).read().summaries().len(), 2);
}
