//! Quality of our engines on published texts. Ignored by default: `cargo xtask test --only data` runs it if
//! the data is available.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test by panicking")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder in an environment variable, or else one in the checkout.
fn folder(variable: &str, otherwise: &str) -> PathBuf {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::var_os(variable).map_or_else(|| checkout.join(otherwise), PathBuf::from)
}

#[test]
#[ignore = "needs the data set popquorn_offensiveness.csv: cargo xtask test --only data"]
fn fast_precision_stays_close_to_fp32_on_real_texts() {
    let file = folder("DISSENSUS_DATA", "../shared/data").join("popquorn_offensiveness.csv");
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_dissensus-bench"))
        .args(["encode", "--rounds", "1", "--json"])
        .arg(&file)
        .env("DISSENSUS_HOME", home.path())
        .env("DISSENSUS_MODELS", folder("DISSENSUS_MODELS", "models"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["texts"], 1_500, "{found}");
    let engines = found["engines"].as_array().unwrap();
    let fast = engines.iter().find(|engine| engine["engine"] == "dissensus fast").unwrap();
    assert!(fast["worst_cosine"].as_f64().unwrap() >= 0.995, "{found}");
    assert!(fast["mean_cosine"].as_f64().unwrap() >= 0.999, "{found}");
}
