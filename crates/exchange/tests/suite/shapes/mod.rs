//! Tables of every shape in which labels are published: recognised, read, counted.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

mod bad_input;
mod cases;
mod generated;
mod published;
mod repeats;
mod values;

use dissensus_exchange::{
    Checker, ColumnRoles, RankedReading, Recognised, Scan, Source, TableContext, recognise, scan,
};
use std::path::{Path, PathBuf};

/// A file with this content, in a temporary folder.
fn file(folder: &tempfile::TempDir, name: &str, content: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn recognised(path: &Path) -> (Source, Recognised) {
    let source = Source::open(path).unwrap();
    let found = recognise(&source, &TableContext::default()).unwrap();
    (source, found)
}

/// The rows that a reading makes, counted.
fn read(source: &Source, ranked: &RankedReading) -> Scan {
    let made = source.with_reading(&ranked.reading, None).unwrap();
    let roles: ColumnRoles = made.roles().cloned().unwrap_or_else(|| ranked.reading.roles.clone());
    let checker = if roles.question.is_some() { Checker::by_question(None) } else { Checker::new(None) };
    scan(&made, &roles, checker).unwrap()
}

/// Numbers of labels, texts, annotators and questions of the best reading, which must be clearly the best.
fn counts(path: &Path) -> (u64, u64, u64, usize) {
    let (source, found) = recognised(path);
    let shown: Vec<String> = found
        .readings
        .iter()
        .map(|r| format!("{:.2} {} {:?} {:?}", r.confidence, r.title, r.reasons, r.reading))
        .collect();
    assert!(found.is_decided(), "{}: {shown:#?}", path.display());
    let scan = read(&source, &found.readings[0]);
    assert_eq!(scan.problem_count, 0, "{}: {:?} {shown:#?}", path.display(), scan.problems);
    (scan.labels + scan.again, scan.texts, scan.annotators, scan.questions.len())
}

/// The reading that a table must have, read; decided or not.
fn best(path: &Path) -> (Source, Recognised, Scan) {
    let (source, found) = recognised(path);
    let scan = read(&source, &found.readings[0]);
    (source, found, scan)
}

/// The levels of the only question, in the order of its scale, and its kind.
fn levels(scan: &Scan) -> (Vec<String>, dissensus_domain::ScaleKind) {
    let scale = scan.questions[0].scale.clone().unwrap();
    (scale.levels().to_vec(), scale.kind())
}
