//! Plain text, one text a line.

use super::reading::{file, refusal};
use dissensus_exchange::{OpenOptions, Source, guess_roles, read_rows};
use std::path::Path;

/// The texts of a file, and what it was read as.
fn texts(path: &Path, format: Option<&str>) -> (&'static str, Vec<String>) {
    let source = Source::open_with(path, &OpenOptions { format, ..OpenOptions::default() }).unwrap();
    let roles = guess_roles(&source).unwrap();
    assert_eq!((roles.text.as_deref(), roles.label.as_deref()), (Some("text"), None));
    let rows = read_rows(&source, &roles).unwrap().map(|row| row.unwrap().text.unwrap_or_default());
    (source.format().name, rows.collect())
}

#[test]
fn every_nonblank_line_is_a_text() {
    let read = |content: &str| texts(&file("comments.txt", content).path, None);
    let expected =
        |lines: &[&str]| ("text-lines", lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>());
    assert_eq!(read("just words\n"), expected(&["just words"]));
    assert_eq!(read("\u{feff}so 😊 good\r\n\n  well \r\nno"), expected(&["so 😊 good", "well", "no"]));
    // Commas in texts are no separators: they are not as many on every line.
    let prose = "Well, yes.\nNo\n\"So,\" she said, \"what?\"\n";
    assert_eq!(read(prose), expected(&["Well, yes.", "No", "\"So,\" she said, \"what?\""]));
}

#[test]
fn tables_are_distinguished_from_lines() {
    let table = "text_id,text\nt1,\"a, b\"\nt2,c\n";
    let source = Source::open(&file("rows.txt", table).path).unwrap();
    assert_eq!((source.format().name, source.columns().len()), ("csv", 2));
    let tabs = Source::open(&file("rows.txt", "text\tlabel\nso, good\t1\n").path).unwrap();
    assert_eq!((tabs.format().name, tabs.columns().len()), ("csv", 2));
    let json = Source::open(&file("rows.txt", "{\"text\":\"so\"}\n").path).unwrap();
    assert_eq!(json.format().name, "jsonl");
    let named = texts(&file("rows.csv", "a,b\nc,d\n").path, Some("text-lines"));
    assert_eq!(named, ("text-lines", vec!["a,b".to_owned(), "c,d".to_owned()]));
}

#[test]
fn non_text_files_are_refused() {
    let message = refusal(&file("words.log", "just words\n").path, None);
    assert!(message.contains("in an unknown format"), "{message}");
    refusal(&file("empty.txt", "\n \n").path, None);
    refusal(&file("picture.txt", [0x89, b'P', b'N', b'G', 0, 0]).path, None);
}

#[test]
fn table_with_a_short_row_stays_a_table() {
    let table = "text_id\ttext\tlabel\nt1\ta\t1\nt2\tb\nt3\tc\t2\nt4\td\t1\nt5\te\t2\nt6\tf\t2\n";
    assert_eq!(Source::open(&file("labels.txt", table).path).unwrap().format().name, "csv");
    let long = format!("text_id\ttext\nt1\t{}\nt2\tb\n", "word ".repeat(300_000));
    assert_eq!(Source::open(&file("labels.txt", long).path).unwrap().format().name, "csv");
}
