//! A kept project file of every format, which each later version opens.
//!
//! Formats 1 and 2 were written by programs of their time (`tests/fixtures/formats/make.sh`), 17 and 18 too,
//! with all that they could hold. The others are format 2 after the migrations up to them, which are never
//! edited: with `DISSENSUS_WRITE_FORMATS=1` the test here makes those that are missing.

use crate::migrate::{self, MIGRATIONS};
use crate::{ExportRow, ExportScope, Store, StoreError};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// The format from whose file the others are made.
const FIRST: u32 = 2;
/// Formats whose kept file has other contents.
const OTHERS: [u32; 3] = [1, 17, 18];

fn kept(format: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/formats")
        .join(format!("version-{format}.dissensus"))
}

/// Question, text, annotator and answer of every current label, in order.
fn labels(store: &Store) -> Vec<String> {
    let mut all = Vec::new();
    for question in store.questions().unwrap() {
        let row = |row: ExportRow<'_>| {
            let (text, annotator) = (&row.text.external_id, &row.annotator.external_id);
            all.push(format!("{} {text} {annotator} {}", question.name, row.level.unwrap_or("none")));
            Ok::<(), StoreError>(())
        };
        store.for_each_label(question.id, ExportScope::Current, row).unwrap();
    }
    all.sort();
    all
}

/// Opens a copy of a kept file, and returns its labels.
fn opened(format: u32) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    std::fs::copy(kept(format), &path).unwrap();
    let newest = migrate::newest(MIGRATIONS);
    let read = Store::open_reader(&path).map(drop);
    assert_eq!(
        read.map_err(|error| error.code()),
        if format < newest { Err("project-older") } else { Ok(()) }
    );
    let store = Store::open(&path).unwrap();
    store.check_current_answers().unwrap();
    let found = labels(&store);
    store.close().unwrap();
    let copy = folder.path().join(format!("p.dissensus.before-v{newest}"));
    assert_eq!(copy.exists(), format < newest);
    Store::open_reader(&path).unwrap();
    found
}

/// Makes the file of a format out of that of format 2.
fn make(format: u32) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    std::fs::copy(kept(FIRST), &path).unwrap();
    let mut conn = Connection::open(&path).unwrap();
    conn.pragma_update(None, "foreign_keys", true).unwrap();
    migrate::apply(&mut conn, &MIGRATIONS[..format as usize], FIRST).unwrap();
    conn.execute_batch("PRAGMA journal_mode = DELETE; VACUUM; PRAGMA journal_mode = WAL").unwrap();
    conn.close().unwrap();
    std::fs::copy(&path, kept(format)).unwrap();
}

#[test]
fn every_format_has_a_kept_file_that_opens() {
    let newest = migrate::newest(MIGRATIONS);
    let expected = opened(FIRST);
    assert_eq!(expected.len(), 8);
    for format in 1..=newest {
        if std::env::var_os("DISSENSUS_WRITE_FORMATS").is_some() && !kept(format).exists() {
            make(format);
        }
        assert!(kept(format).is_file(), "there is no file of format {format}: see the head of this file");
        // The format is at byte 60 of the first page.
        let bytes = std::fs::read(kept(format)).unwrap();
        assert_eq!(bytes[60..64], format.to_be_bytes(), "format {format}");
        let found = opened(format);
        assert!(!found.is_empty(), "format {format}");
        if !OTHERS.contains(&format) {
            assert_eq!(found, expected, "format {format}");
        }
    }
}
