//! Imports real files of annotation tools and compares the counts with those of an independent script. The
//! files are not part of the project, so this test is ignored by default (the step `data` of
//! `cargo xtask test` runs it).

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may panic, and reports what was refused"
)]

use crate::support::{home, try_import};
use dissensus_api::{ImportChoices, ImportReport};
use dissensus_app::session::Session;
use dissensus_editing::annotators;
use dissensus_exchange::{Source, guess_roles, read_rows};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Silent;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the files: `exchange` next to the data sets.
fn folder() -> PathBuf {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let data = std::env::var_os("DISSENSUS_DATA").map_or_else(|| PathBuf::from(default), PathBuf::from);
    let folder = data.join("../exchange");
    assert!(
        folder.is_dir(),
        "{} is not there; set DISSENSUS_DATA to the folder next to it",
        folder.display()
    );
    folder
}

/// Expected counts of the script, by file.
fn counts(folder: &Path) -> BTreeMap<String, Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/exchange_counts.py");
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let run = Command::new(python).arg(script).arg(folder).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    serde_json::from_slice(&run.stdout).unwrap()
}

fn number(counted: &Value, key: &str) -> u64 {
    counted[key].as_u64().unwrap_or_default()
}

/// Choices for importing a file: a missing annotator is supplied, and a scale with one level gets another.
fn choices(session: &Session, path: &Path, bad: bool) -> Result<ImportChoices, ProjectError> {
    let mut columns = exchange::guess_columns(&session.exchange, path, &ImportChoices::default())?;
    if columns.annotator.is_none() && (columns.label.is_some() || columns.span_start.is_some()) {
        columns.annotator = Some("=somebody".to_owned());
    }
    Ok(ImportChoices { columns: Some(columns), skip_bad: bad, ..ImportChoices::default() })
}

fn import_choosing(session: &Session, path: &Path, bad: bool) -> Result<ImportReport, ProjectError> {
    let mut choices = choices(session, path, bad)?;
    let first = try_import(session, path, &choices);
    match first {
        Err(error) if error.problem().code == "no-scale" || bad => {
            let source = Source::open(path)?;
            let mut roles = guess_roles(&source)?;
            roles.annotator = choices.columns.as_ref().and_then(|columns| columns.annotator.clone());
            let levels: BTreeSet<String> =
                read_rows(&source, &roles)?.filter_map(|row| row.ok()?.label).collect();
            choices.levels = Some(levels.into_iter().chain(["another".to_owned()]).collect());
            try_import(session, path, &choices)
        }
        other => other,
    }
}

/// Times, durations and skips in the file, row by row.
fn timed(path: &Path, annotator: Option<&str>) -> [u64; 3] {
    let source = Source::open(path).unwrap();
    let mut roles = guess_roles(&source).unwrap();
    roles.annotator = roles.annotator.or(annotator.map(str::to_owned));
    let mut found = [0; 3];
    for row in read_rows(&source, &roles).unwrap().flatten() {
        found[0] += u64::from(row.label.is_some() && row.at_ms.is_some());
        found[1] += u64::from(row.label.is_some() && row.duration_ms.is_some());
        found[2] += u64::from(row.skipped);
    }
    found
}

/// Counts in an export: answers of the first round, answers of later rounds, and skipped texts.
fn exported(session: &Session, folder: &Path) -> [u64; 3] {
    let path = folder.join("out.csv");
    exchange::export(
        &session.exchange,
        &path,
        &ExportChoices { replace: true, ..ExportChoices::default() },
        &Silent,
    )
    .unwrap();
    let mut reader = csv::Reader::from_path(path).unwrap();
    let mut found = [0; 3];
    for row in reader.deserialize::<BTreeMap<String, String>>() {
        let row = row.unwrap();
        let cell = |name: &str| row.get(name).map(String::as_str).unwrap_or_default();
        let later = !matches!(cell("occasion"), "" | "1");
        found[0] += u64::from(!cell("label").is_empty() && !later);
        found[1] += u64::from(!cell("label").is_empty() && later);
        found[2] += u64::from(cell("marks").contains("skipped"));
    }
    found
}

#[test]
#[ignore = "needs the folder of real files of other tools: cargo xtask test data"]
fn every_file_has_the_expected_counts() {
    let folder = folder();
    let counts = counts(&folder);
    assert!(counts.len() > 30, "{} files", counts.len());
    let mut wrong = Vec::new();
    for (name, counted) in &counts {
        let place = tempfile::tempdir().unwrap();
        // Bad rows are written next to an imported file.
        let path = place.path().join(Path::new(name).file_name().unwrap());
        std::fs::copy(folder.join(name), &path).unwrap();
        let home = home(place.path());
        let session = Session::create(&place.path().join("p.dissensus"), &home).unwrap();
        let bad = number(counted, "bad") > 0;
        let report = import_choosing(&session, &path, bad);
        if let Some(why) = counted.get("refused") {
            match report {
                Err(error) => eprintln!("{name}: refused ({why}): {error}"),
                Ok(report) => wrong.push(format!("{name}: {why}, and yet {} labels", report.labels)),
            }
            continue;
        }
        let report = match report {
            Ok(report) => report,
            Err(error) => {
                wrong.push(format!("{name}: {error}"));
                continue;
            }
        };
        if counted.get("attributes").is_some() {
            let attributes: usize = annotators::list(&session.project)
                .unwrap()
                .iter()
                .map(|person| person.attributes.len())
                .sum();
            assert_eq!(
                (u64::from(report.annotators), attributes as u64),
                (number(counted, "annotators"), number(counted, "attributes"))
            );
            continue;
        }
        let mut same = |what: &str, ours: u64| {
            let theirs = number(counted, what);
            if ours != theirs {
                wrong.push(format!("{name}: {ours} {what}, and {theirs} by the script"));
            }
        };
        same("texts", u64::from(report.texts));
        same("annotators", u64::from(report.annotators));
        same("labels", u64::from(report.labels));
        same("repeats", u64::from(report.repeats));
        same("bad", u64::from(report.rejected_rows));
        let [timed, durations, skips] =
            timed(&path, Some("=somebody").filter(|_| number(counted, "labels") > 0));
        same("timed", timed);
        same("durations", durations);
        same("skips", skips);
        let [labels, repeats, skipped] = exported(&session, place.path());
        same("labels", labels);
        same("repeats", repeats);
        same("still_skipped", skipped);
        for code in ["serialised", "curated"] {
            let met =
                report.notices.iter().find(|notice| notice.code == code).map_or(0, |notice| notice.count);
            same(code, u64::from(met));
        }
        // The same file again changes nothing.
        let again = import_choosing(&session, &path, bad).unwrap();
        if (again.labels, again.repeats, again.texts, again.annotators) != (0, 0, 0, 0) {
            wrong.push(format!(
                "{name}: {} labels and {} repeats more, the second time",
                again.labels, again.repeats
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
