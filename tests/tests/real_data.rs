//! The bars that the product must reach on published data. The data is not part of the project: where it is absent
//! these tests say so in one line each and check nothing.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use dissensus_tests::command::Bench;
use dissensus_tests::programs::checkout;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder of data sets, DISSENSUS_DATA or `../shared/data`; with what is missing, where it is not there.
fn data(name: &str) -> Option<PathBuf> {
    let folder =
        std::env::var_os("DISSENSUS_DATA").map_or_else(|| checkout().join("../shared/data"), PathBuf::from);
    let path = folder.join(name);
    if path.is_file() {
        return Some(path);
    }
    // Past the test harness, which keeps to itself what a passing test prints.
    let line =
        format!("NOT RUN: {} is not there; DISSENSUS_DATA names the folder of data sets\n", path.display());
    std::io::stderr().write_all(line.as_bytes()).unwrap();
    None
}

fn figure(document: &Value, model: &str, key: &str) -> f64 {
    let models = document["models"].as_array().unwrap();
    let entry = models.iter().find(|entry| entry["model"] == model);
    let entry = entry.unwrap_or_else(|| panic!("no model {model} in {document}"));
    entry[key].as_f64().unwrap_or_else(|| panic!("no {key} of {model} in {document}"))
}

/// The mean of a figure over evaluations.
fn mean(documents: &[Value], model: &str, key: &str) -> f64 {
    documents.iter().map(|document| figure(document, model, key)).sum::<f64>() / documents.len() as f64
}

fn encoded(bench: &Bench, file: &Path) -> PathBuf {
    let project = bench.path("data.dissensus");
    bench.ok(["new".as_ref(), project.as_os_str()]);
    bench.ok(["import".as_ref(), project.as_os_str(), file.as_os_str()]);
    bench.ok(["encode".as_ref(), project.as_os_str()]);
    project
}

#[test]
fn popquorn_is_imported_and_evaluated_when_present() {
    let Some(file) = data("popquorn_offensiveness.csv") else { return };
    let bench = Bench::new();
    let project = encoded(&bench, &file);
    let info = bench.json(["info".as_ref(), project.as_os_str()]);
    assert_eq!(info["texts"], 1_500, "{info}");
    assert_eq!(info["annotators"], 262, "{info}");
    assert_eq!(info["labels"], 13_036, "{info}");

    let documents: Vec<Value> = ["0", "1", "2", "3", "4"]
        .iter()
        .map(|seed| {
            let split = ["--split", "by-text:0.7", "--at-least", "3", "--models", "all", "--seed", seed];
            let mut arguments = vec!["evaluate".into(), project.clone().into_os_string()];
            arguments.extend(split.map(Into::into));
            bench.json(arguments)
        })
        .collect();
    let of = |model, key| mean(&documents, model, key);
    let ours = |key| of("multilevel", key);
    assert!(ours("annotator_accuracy") >= 0.775, "{}", ours("annotator_accuracy"));
    assert!(ours("annotator_accuracy") - of("shared", "annotator_accuracy") >= 0.038);
    assert!(ours("log_loss") <= 0.48, "{}", ours("log_loss"));
    assert!(of("shared", "log_loss") - ours("log_loss") >= 0.08);
    assert!(ours("disagreement_auroc") >= 0.755, "{}", ours("disagreement_auroc"));
    assert!(ours("disagreement_auroc") - of("shared", "disagreement_auroc") >= 0.035);
    for model in ["majority", "sep-heads"] {
        assert!(ours("annotator_accuracy") > of(model, "annotator_accuracy"), "{model}");
        assert!(ours("log_loss") < of(model, "log_loss"), "{model}");
        assert!(ours("disagreement_auroc") > of(model, "disagreement_auroc"), "{model}");
    }
}

#[test]
fn md_agreement_is_imported_and_evaluated_on_its_official_split_when_present() {
    let Some(file) = data("md_agreement.csv") else { return };
    let bench = Bench::new();
    let project = encoded(&bench, &file);
    let info = bench.json(["info".as_ref(), project.as_os_str()]);
    // 53,765 rows, in one of which an annotator labels a text for the second time.
    assert_eq!(info["labels"], 53_764, "{info}");
    let arguments = ["--split", "column", "--models", "all"];
    let document = bench
        .json([("evaluate").into(), project.into_os_string()].into_iter().chain(arguments.map(Into::into)));
    let ours = |key| figure(&document, "multilevel", key);
    assert!(ours("accuracy") >= 0.71, "{}", ours("accuracy"));
    assert!(ours("log_loss") <= 0.562, "{}", ours("log_loss"));
    for model in ["majority", "shared", "sep-heads"] {
        assert!(ours("accuracy") > figure(&document, model, "accuracy"), "{model}");
        assert!(ours("log_loss") < figure(&document, model, "log_loss"), "{model}");
    }
}

#[test]
fn the_fast_precision_keeps_its_promise_on_real_texts_when_present() {
    let Some(file) = data("popquorn_offensiveness.csv") else { return };
    let bench = Bench::new();
    let found = bench.json([
        "bench".as_ref(),
        "encode".as_ref(),
        "--rounds".as_ref(),
        "1".as_ref(),
        file.as_os_str(),
    ]);
    assert_eq!(found["texts"], 1_500, "{found}");
    let engines = found["engines"].as_array().unwrap();
    let fast = engines.iter().find(|engine| engine["engine"] == "dissensus fast").unwrap();
    assert!(fast["worst_cosine"].as_f64().unwrap() >= 0.995, "{found}");
    assert!(fast["mean_cosine"].as_f64().unwrap() >= 0.999, "{found}");
}
