//! `encode --peers` if the peers' Python environment cannot be created: reports why, and measures the rest.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test by panicking")]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const TEXTS: &str = "text_id,text,annotator_id,label\n\
                     1,this is not fair,a,1\n2,good,a,2\n3,you are bad and this is not good,a,1\n";

/// Runs the benchmark on three texts with only the contents of `bin` on the PATH.
fn bench(folder: &Path, bin: &Path) -> Output {
    let file = folder.join("texts.csv");
    std::fs::write(&file, TEXTS).unwrap();
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/fixtures/tiny");
    Command::new(env!("CARGO_BIN_EXE_dissensus-bench"))
        .args(["encode", "--peers", "--rounds", "1", "--threads", "2", "--json", "--encoder"])
        .args([tiny.as_os_str(), "--memory".as_ref(), file.as_os_str(), file.as_os_str()])
        .env("DISSENSUS_HOME", folder.join("home"))
        .env("PATH", bin)
        .output()
        .unwrap()
}

/// Returns the document after checking that it has our figures and the in-process peer's, and the reason for
/// each missing engine.
fn document(output: &Output, why: &str) -> Value {
    let message = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(output.status.success(), "{message}");
    let reported: Vec<&str> = message.lines().filter(|line| line.contains("left out")).collect();
    assert_eq!(reported.len(), 1, "{message}");
    assert!(reported[0].contains(why), "{message}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(names(&found["engines"]), ["dissensus fp32", "dissensus fast", "candle-transformers"]);
    assert_eq!(names(&found["missing"]), ["sentence-transformers", "onnxruntime fp32", "onnxruntime int8"]);
    found
}

fn names(engines: &Value) -> Vec<&str> {
    engines.as_array().unwrap().iter().map(|engine| engine["engine"].as_str().unwrap()).collect()
}

#[test]
fn without_python_only_own_engine_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("empty");
    std::fs::create_dir(&bin).unwrap();
    let found = document(&bench(folder.path(), &bin), "not installed, or not on the PATH");
    assert_eq!(found["reference"], "dissensus fp32");
    assert_eq!((&found["texts"], &found["threads"]), (&Value::from(3), &Value::from(2)));
    for engine in found["engines"].as_array().unwrap() {
        for key in ["tokens_per_second", "texts_per_second", "latency_ms"] {
            assert!(engine[key].as_f64().unwrap() > 0.0, "{key} of {engine}");
        }
        // Small random weights lose more in rounding than trained ones.
        let least = if engine["engine"] == "dissensus fast" { 0.99 } else { 0.999_99 };
        for key in ["worst_cosine", "mean_cosine"] {
            assert!(engine[key].as_f64().unwrap() > least, "{key} of {engine}");
        }
        assert!(engine["over_sentence_transformers"].is_null(), "{engine}");
    }
    assert_eq!(names(&found["memory"]["engines"]), ["dissensus fp32", "dissensus fast"]);
}

#[cfg(unix)]
#[test]
fn without_a_package_index_only_own_engine_is_measured() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    // A Python whose `-m venv DIR` works and whose `-m pip` has no network.
    let python = "#!/bin/sh\n\
        if [ \"$2\" = venv ]; then /bin/mkdir -p \"$3/bin\" && exec /bin/cp \"$0\" \"$3/bin/python\"; fi\n\
        echo 'WARNING: Retrying after connection broken by NewConnectionError' >&2\n\
        echo 'ERROR: No matching distribution found for torch' >&2\nexit 1\n";
    let path = bin.join("python3");
    std::fs::write(&path, python).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    // The second run finds the remains of the first, and must not treat them as a complete environment.
    for _ in 0..2 {
        let output = bench(folder.path(), &bin);
        document(&output, "the package index cannot be reached (No matching distribution found for torch)");
    }
}

#[test]
fn training_is_measured_without_python() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/fixtures/tiny");
    let output = Command::new(env!("CARGO_BIN_EXE_dissensus-bench"))
        .args(["train", "--peers", "--rounds", "1", "--steps", "1", "--tokens", "8", "--json", "--encoder"])
        .arg(&tiny)
        .env("DISSENSUS_HOME", folder.path().join("home"))
        .env("PATH", folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(found["missing"].as_str().unwrap().contains("not installed, or not on the PATH"));
    let policies = found["policies"].as_array().unwrap();
    assert_eq!(
        policies.iter().map(|step| step["policy"].as_str().unwrap()).collect::<Vec<_>>(),
        ["full", "last-2", "lora"]
    );
    assert!(
        policies
            .iter()
            .all(|step| step["dissensus_ms"].as_f64().unwrap() > 0.0 && step["pytorch_ms"].is_null())
    );
}

#[test]
fn own_engine_needs_no_python() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/fixtures/tiny");
    let file = folder.path().join("texts.csv");
    std::fs::write(&file, TEXTS).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_dissensus-bench"))
        .args(["encode", "--rounds", "1", "--encoder"])
        .args([&tiny, &file])
        .env("DISSENSUS_HOME", folder.path().join("home"))
        .env("PATH", "")
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.starts_with("3 texts, "), "{printed}");
    assert!(printed.contains("dissensus fp32") && !printed.contains("candle-transformers"), "{printed}");
    assert!(!folder.path().join("home/cache").exists());
}
