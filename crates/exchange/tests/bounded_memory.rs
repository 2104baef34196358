//! Memory does not grow with the file. A separate process, because it reads the peak memory of the whole
//! process.

#![cfg(target_os = "linux")] // the kernel's count of a process's memory is read from /proc
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use dissensus_exchange::{Checker, RowErrorKind, Source, guess_roles, scan};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// What a scan may need beyond the program itself: a few times the longest record, whatever the file.
const ALLOWED_KIB: u64 = 32 << 10;

/// The peak memory of this process, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn write_long_line(path: &Path, quote: &str) {
    let mut out = BufWriter::new(File::create(path).unwrap());
    write!(out, "text_id,text,annotator_id,label\nt1,{quote}").unwrap();
    let chunk = [b'x'; 1 << 16];
    for _ in 0..(200 << 20) / chunk.len() {
        out.write_all(&chunk).unwrap();
    }
    out.write_all(b",ada,1\nt2,short,ada,2\n").unwrap();
    out.flush().unwrap();
}

fn write_many_rows(path: &Path) {
    let mut out = BufWriter::new(File::create(path).unwrap());
    out.write_all(b"text_id,text,annotator_id,label\n").unwrap();
    let body = "a comment of ordinary length, as people write them. ".repeat(20);
    for row in 0..60_000 {
        writeln!(out, "t{},\"{body}\",a{},{}", row % 1000, row % 7, row % 2).unwrap();
    }
    out.flush().unwrap();
}

fn scan_file(path: &Path) -> dissensus_exchange::Scan {
    let source = Source::open(path).unwrap();
    let roles = guess_roles(&source).unwrap();
    scan(&source, &roles, Checker::new(None)).unwrap()
}

#[test]
fn large_lines_and_files_use_bounded_memory() {
    let folder = tempfile::tempdir().unwrap();
    let [long, quoted, many] = ["long.csv", "quoted.csv", "many.csv"].map(|name| folder.path().join(name));
    write_long_line(&long, "");
    write_long_line(&quoted, "\"");
    write_many_rows(&many);
    let before = peak_kib();
    for path in [&long, &quoted] {
        let found = scan_file(path);
        assert_eq!((found.rows, found.labels, found.problem_count), (2, 1, 1));
        assert_eq!((found.problems[0].line, found.problems[0].row), (2, 1));
        assert!(matches!(found.problems[0].kind, RowErrorKind::TooLong { .. }), "{}", found.problems[0]);
    }
    let found = scan_file(&many);
    assert_eq!((found.rows, found.texts, found.problem_count), (60_000, 1000, 0));
    let grown = peak_kib() - before;
    assert!(grown < ALLOWED_KIB, "{grown} KiB more than before reading");
}
