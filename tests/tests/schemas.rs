//! The output with `--json` matches `dissensus schema`. `Bench` checks that wherever a test runs a command;
//! here every command is run, so that none is left out.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use dissensus_tests::command::Bench;
use dissensus_tests::{every_command, schemas};
use std::collections::BTreeSet;

/// Resuming a run, deleting a backup by its time, and what needs a server: other tests cover them.
const ELSEWHERE: [&str; 3] = ["runs resume", "backup delete", "check-update"];

#[test]
fn every_command_matches_its_schema() {
    let ran = every_command::run_all(&Bench::new());
    let all: BTreeSet<&str> = schemas::commands().filter(|command| !ELSEWHERE.contains(command)).collect();
    assert_eq!(ran, all);
}

#[test]
fn single_schema_matches_the_full_one() {
    let bench = Bench::without_encoder();
    let of = |command: &[&str]| {
        let out = bench.ok([&["schema"], command].concat());
        serde_json::from_str::<serde_json::Value>(&out).unwrap()
    };
    assert_eq!(of(&["models", "runs", "list"]), of(&[])["runs list"]);
    let draft = "https://json-schema.org/draft/2020-12/schema";
    assert_eq!(of(&["project", "info"])["$schema"], draft);
    let refused = bench.refused(["schema", "rums"]);
    assert!(
        refused.contains("no command \"rums\" takes --json; commands that do: new, sample,"),
        "{refused}"
    );
    // With its group, and by its earlier name.
    assert_eq!(of(&["models", "runs", "list"]), of(&["runs", "list"]));
    assert_eq!(of(&["label"]), of(&["record"]));
}
