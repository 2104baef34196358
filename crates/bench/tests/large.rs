//! `large` at a small size: every step runs, and its result is in the document. Times are not asserted.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test by panicking")]

use serde_json::Value;
use std::process::{Command, Output};

fn large(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_dissensus-bench"))
        .args(["large", "--json"])
        .args(arguments)
        .env("DISSENSUS_HOME", folder.path().join("home"))
        .output()
        .unwrap()
}

#[test]
fn every_benchmark_step_runs() {
    let output = large(&["--labels", "3000", "--texts", "600", "--annotators", "40"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{message}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((found["texts"].as_u64(), found["annotators"].as_u64()), (Some(600), Some(40)));
    let steps = found["steps"].as_array().unwrap();
    let names: Vec<&str> = steps.iter().map(|step| step["step"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["import", "import-again", "agreement", "open", "open-unchecked", "embed", "open-embedded"]
    );
    let held: Vec<u64> = steps.iter().filter_map(|step| step["holds"][0].as_u64()).collect();
    // Importing the file twice adds its labels once; then each opening adds the labels recorded in it.
    assert!(held[0] == 3_000 && held[1] > 3_000 && held[2] > held[1], "{held:?}");
    for step in steps.iter().filter(|step| !step["labelling"].is_null()) {
        let labelling = &step["labelling"];
        assert!(labelling["first_ms"].as_f64().unwrap() > 0.0, "{labelling}");
        assert!(labelling["live_p99_ms"].as_f64() >= labelling["live_median_ms"].as_f64(), "{labelling}");
    }
}

#[test]
fn impossible_size_is_reported() {
    let output = large(&["--labels", "100", "--texts", "10", "--annotators", "9"]);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("at most one label of each annotator on each text"), "{message}");
}
