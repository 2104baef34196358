//! The public data sets are guessed and read correctly. They are not part of the project, so these tests are
//! ignored unless asked for (the step `data` of `cargo xtask test`).

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic, and prints how long it read")]

use dissensus_exchange::{Checker, ColumnRoles, ExchangeError, FileKind, Scan, Source, guess_roles, scan};
use std::path::PathBuf;

/// The file, from `DISSENSUS_DATA` or from `shared/data` next to the workspace. The test fails if it is
/// missing.
fn data(name: &str) -> PathBuf {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = std::env::var_os("DISSENSUS_DATA").map_or_else(|| PathBuf::from(default), PathBuf::from);
    let file = folder.join(name);
    assert!(
        file.is_file(),
        "{} is not there; set DISSENSUS_DATA to the folder that holds it",
        file.display()
    );
    file
}

fn look(name: &str) -> (ColumnRoles, Scan) {
    let source = Source::open(data(name)).unwrap();
    let roles = guess_roles(&source).unwrap();
    let started = std::time::Instant::now();
    let scan = scan(&source, &roles, Checker::new(None)).unwrap();
    eprintln!("{name}: {} rows in {:?}", scan.rows, started.elapsed());
    (roles, scan)
}

fn name(name: &str) -> Option<String> {
    Some(name.to_owned())
}

fn usual() -> ColumnRoles {
    ColumnRoles {
        text_id: name("text_id"),
        text: name("text"),
        annotator: name("annotator_id"),
        label: name("label"),
        ..ColumnRoles::default()
    }
}

#[test]
#[ignore = "needs the data set popquorn_offensiveness.csv: cargo xtask test data"]
fn popquorn_is_recognised() {
    let (roles, scan) = look("popquorn_offensiveness.csv");
    let attributes = ["gender", "race", "age", "occupation", "education"].map(str::to_owned).to_vec();
    assert_eq!(roles, ColumnRoles { attributes, ..usual() });
    assert_eq!((scan.kind, scan.rows, scan.problem_count), (FileKind::Labels, 13_036, 0));
    assert_eq!((scan.texts, scan.annotators), (1500, 262));
    assert_eq!(scan.labels + scan.repeated, 13_036);
    assert_eq!(scan.questions[0].scale.clone().unwrap().levels(), ["1", "2", "3", "4", "5"]);
}

#[test]
#[ignore = "needs the data set md_agreement.csv: cargo xtask test data"]
fn md_agreement_is_recognised() {
    let (roles, scan) = look("md_agreement.csv");
    assert_eq!(roles, ColumnRoles { split: name("split"), ..usual() });
    assert_eq!((scan.rows, scan.problem_count), (53_765, 0));
    assert_eq!((scan.texts, scan.annotators), (10_753, 819));
    assert_eq!(scan.labels + scan.repeated, 53_765);
    assert_eq!(scan.questions[0].scale.clone().unwrap().levels(), ["0", "1"]);
}

#[test]
#[ignore = "needs the data set vicomtech_hate.csv: cargo xtask test data"]
fn vicomtech_without_annotators_is_reported() {
    let path = data("vicomtech_hate.csv");
    let source = Source::open(path).unwrap();
    let mut roles = guess_roles(&source).unwrap();
    assert_eq!(roles, ColumnRoles { annotator: None, split: name("split"), ..usual() });
    let error = scan(&source, &roles, Checker::new(None)).unwrap_err();
    assert!(matches!(error, ExchangeError::LabelWithoutAnnotator { .. }));
    assert!(error.to_string().contains("=NAME") && error.to_string().contains("text_id, text, label, split"));
    roles.annotator = name("=gold");
    let scan = scan(&source, &roles, Checker::new(None)).unwrap();
    assert_eq!((scan.rows, scan.annotators, scan.problem_count), (2392, 1, 0));
    assert_eq!(scan.questions[0].scale.clone().unwrap().levels(), ["noHate", "hate"]);
}
