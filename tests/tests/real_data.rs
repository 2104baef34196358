//! Quality thresholds on published data. The data is not part of the project, so these tests are ignored by
//! default: the step `data` of `cargo xtask test` runs them if the data is available, and reports them as not
//! run otherwise.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use dissensus_tests::command::Bench;
use dissensus_tests::draws::Draws;
use dissensus_tests::programs::checkout;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A file of the folder of data sets, DISSENSUS_DATA or `../shared/data`; fails if it does not exist.
fn data(name: &str) -> PathBuf {
    let folder =
        std::env::var_os("DISSENSUS_DATA").map_or_else(|| checkout().join("../shared/data"), PathBuf::from);
    let path = folder.join(name);
    assert!(path.is_file(), "{} is not there; DISSENSUS_DATA names the folder of data sets", path.display());
    path
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
    bench.ok(["project".as_ref(), "new".as_ref(), project.as_os_str()]);
    bench.ok(["data".as_ref(), "import".as_ref(), project.as_os_str(), file.as_os_str()]);
    bench.ok(["models".as_ref(), "encode".as_ref(), project.as_os_str()]);
    project
}

#[test]
#[ignore = "needs the data set popquorn_offensiveness.csv: cargo xtask test data"]
fn popquorn_is_imported_and_evaluated() {
    let file = data("popquorn_offensiveness.csv");
    let bench = Bench::new();
    let project = encoded(&bench, &file);
    let info = bench.json(["project".as_ref(), "info".as_ref(), project.as_os_str()]);
    assert_eq!(info["texts"], 1_500, "{info}");
    assert_eq!(info["annotators"], 262, "{info}");
    assert_eq!(info["labels"], 13_036, "{info}");

    let documents: Vec<Value> = ["0", "1", "2", "3", "4"]
        .iter()
        .map(|seed| {
            let split = ["--split", "by-text:0.7", "--at-least", "3", "--models", "all", "--seed", seed];
            let mut arguments = vec!["models".into(), "evaluate".into(), project.clone().into_os_string()];
            arguments.extend(split.map(Into::into));
            bench.json(arguments)
        })
        .collect();
    let of = |model, key| mean(&documents, model, key);
    let ours = |key| of("multilevel", key);
    assert!(ours("annotator_accuracy") >= 0.775, "{}", ours("annotator_accuracy"));
    assert!(ours("log_loss") <= 0.4373, "no worse than before the ladder: {}", ours("log_loss"));
    assert!(ours("disagreement_auroc") >= 0.80, "{}", ours("disagreement_auroc"));
    assert!(ours("ece") <= 0.03, "{}", ours("ece"));
    assert!(of("shared", "log_loss") - ours("log_loss") >= 0.09);
    assert!(ours("disagreement_auroc") - of("shared", "disagreement_auroc") >= 0.04);
    for model in ["majority", "shared", "sep-heads", "share-rec-ffn", "share-rec-dcn"] {
        assert!(ours("log_loss") < of(model, "log_loss"), "{model}");
        assert!(ours("annotator_macro_f1") > of(model, "annotator_macro_f1"), "{model}");
        assert!(ours("disagreement_auroc") > of(model, "disagreement_auroc"), "{model}");
    }
}

#[test]
#[ignore = "needs the data set emotions_ec.csv: cargo xtask test data"]
fn eleven_emotions_are_imported_and_learned() {
    let bench = Bench::new();
    let project = encoded(&bench, &data("emotions_ec.csv"));
    let info = bench.json(["project".as_ref(), "info".as_ref(), project.as_os_str()]);
    let question = &info["questions"][0];
    assert_eq!((&info["texts"], &info["labels"]), (&7_724.into(), &7_724.into()), "{info}");
    assert_eq!(question["scale"]["kind"], "multi-label", "{question}");
    let options: Vec<&str> =
        question["scale"]["levels"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(options.len(), 11, "{options:?}");
    // One label per text: agreement is undefined, and no figure is invented for it.
    let agreement = bench.json(["analyse".as_ref(), "agreement".as_ref(), project.as_os_str()]);
    assert!(agreement["mean_alpha"].is_null(), "{agreement}");
    let share = |name: &str| -> f64 {
        let all = agreement["options"].as_array().unwrap();
        all.iter().find(|option| option["option"] == name).unwrap()["chosen"].as_f64().unwrap()
    };
    assert!(share("anger") > 0.3 && share("trust") < 0.1, "{agreement}");
    // On the whole answer, compared with scikit-learn's one-vs-rest logistic regression on the same
    // embeddings (tools/bench/emotions.py).
    let mut arguments = vec!["models".into(), "evaluate".into(), project.clone().into_os_string()];
    arguments.extend(["--split", "column", "--models", "multilevel"].map(Into::into));
    let found = bench.json(arguments);
    assert_eq!(found["split"]["test_labels"], 886, "{found}");
    let ours = &found["models"][0];
    let of = |scores: &Value, key: &str| scores[key].as_f64().unwrap();
    assert!(of(ours, "micro_f1") > 0.623 - 0.005 && of(ours, "jaccard") > 0.488 - 0.005, "{ours}");
    let tuned = &ours["tuned"];
    assert!(of(tuned, "micro_f1") > of(ours, "micro_f1") && of(tuned, "jaccard") > of(ours, "jaccard"));
    assert!(of(tuned, "macro_f1") > 0.52, "{tuned}");
    let prior = found["baselines"].as_array().unwrap().iter().find(|one| one["model"] == "prior").unwrap();
    assert!(of(ours, "log_loss") < 0.75 * of(prior, "log_loss"), "{prior}");
    // An option selected by its name has the same scores as within the whole question.
    let name = format!("{}: trust", question["name"].as_str().unwrap());
    let mut arguments = vec!["models".into(), "evaluate".into(), project.into_os_string()];
    arguments.extend(["--split", "column", "--models", "multilevel", "--question", &name].map(Into::into));
    let alone = figure(&bench.json(arguments), "multilevel", "log_loss");
    assert!((alone - of(&ours["as_questions"][10], "log_loss")).abs() < 1e-9, "{alone}");
}

#[test]
#[ignore = "needs the data set popquorn_offensiveness.csv: cargo xtask test data"]
fn prediction_sets_of_popquorn_cover() {
    let bench = Bench::new();
    let project = encoded(&bench, &data("popquorn_offensiveness.csv"));
    for (scale, at_least) in [("five levels", None), ("level 3 or more", Some("3"))] {
        let found: Vec<Value> = ["0", "1", "2"]
            .iter()
            .map(|seed| {
                let split =
                    ["--split", "by-text:0.7", "--models", "shared", "--prediction-sets", "--seed", seed];
                let mut arguments =
                    vec!["models".into(), "evaluate".into(), project.clone().into_os_string()];
                arguments.extend(split.map(Into::into));
                arguments.extend(at_least.iter().flat_map(|level| ["--at-least".into(), level.into()]));
                bench.json(arguments)["prediction_sets"].clone()
            })
            .collect();
        let mean = |of: &dyn Fn(&Value) -> Option<f64>| {
            found.iter().map(|sets| of(sets).unwrap()).sum::<f64>() / found.len() as f64
        };
        let coverage = mean(&|sets| sets["multilevel"]["coverage"].as_f64());
        assert!((0.88..=0.92).contains(&coverage), "{scale}: {coverage}");
        for (by, nth) in ["by_labels", "by_severity"].iter().flat_map(|by| (0..10).map(move |nth| (by, nth)))
        {
            let tenth = mean(&|sets| sets[by][nth]["coverage"].as_f64());
            assert!(tenth >= 0.85, "{scale}, {by}, tenth {nth}: {tenth}");
        }
        let size = |of: &str| mean(&|sets| sets[of]["mean_size"].as_f64());
        assert!(size("multilevel") < size("shared") - 0.1, "{scale}");
    }
}

#[test]
#[ignore = "needs the data set popquorn_offensiveness.csv: cargo xtask test data"]
fn multilevel_learns_new_popquorn_annotators_fastest() {
    let file = data("popquorn_offensiveness.csv");
    let bench = Bench::new();
    let project = encoded(&bench, &file);
    let models = "shared,sep-heads,multilevel";
    let asked = ["--at-least", "3", "--models", models, "--new-annotators", "0,1,2,5,10,20"];
    let document = bench.json(
        ["models".into(), "evaluate".into(), project.into_os_string()]
            .into_iter()
            .chain(asked.map(Into::into)),
    );
    let loss = |model: &str, labels: u64| {
        let points = document["points"].as_array().unwrap();
        let point = points.iter().find(|p| p["model"] == model && p["labels"] == labels).unwrap();
        point["log_loss"].as_f64().unwrap()
    };
    for labels in [0, 1, 2, 5, 10, 20] {
        for other in ["shared", "sep-heads"] {
            let (ours, theirs) = (loss("multilevel", labels), loss(other, labels));
            assert!(ours <= theirs, "{labels} labels: {ours} against {theirs} of {other}");
        }
    }
}

#[test]
#[ignore = "needs the data set vicomtech_hate.csv: cargo xtask test data"]
fn vicomtech_is_predicted_with_the_chosen_pooling() {
    let file = data("vicomtech_hate.csv");
    let bench = Bench::new();
    bench.ok(["project", "new", "v.dissensus"]);
    bench.ok([
        "data".as_ref(),
        "import".as_ref(),
        "v.dissensus".as_ref(),
        file.as_os_str(),
        "--annotator".as_ref(),
        "=gold".as_ref(),
    ]);
    let tried = bench.json(["models", "encode", "v.dissensus", "--choose-pooling"]);
    assert_eq!(tried["tried"].as_array().unwrap().len(), 5, "{tried}");
    let document =
        bench.json(["models", "evaluate", "v.dissensus", "--split", "column", "--models", "shared"]);
    // The target of 0.81 is two texts of 478 away (BENCHMARKS.md); this checks what is reached today.
    assert!(figure(&document, "shared", "accuracy") >= 0.80, "{document}");
}

#[test]
#[ignore = "needs the data set md_agreement.csv: cargo xtask test data"]
fn md_agreement_is_imported_and_evaluated_on_its_official_split() {
    let file = data("md_agreement.csv");
    let bench = Bench::new();
    let project = encoded(&bench, &file);
    let info = bench.json(["project".as_ref(), "info".as_ref(), project.as_os_str()]);
    // 53,765 rows, in one of which an annotator labels a text for the second time.
    assert_eq!(info["labels"], 53_764, "{info}");
    let arguments = ["--split", "column", "--models", "all"];
    let document = bench.json(
        ["models".into(), "evaluate".into(), project.into_os_string()]
            .into_iter()
            .chain(arguments.map(Into::into)),
    );
    let ours = |key| figure(&document, "multilevel", key);
    assert!(ours("accuracy") >= 0.715, "{}", ours("accuracy"));
    assert!(ours("log_loss") <= 0.555, "{}", ours("log_loss"));
    for model in ["majority", "shared", "sep-heads", "share-rec-ffn", "share-rec-dcn"] {
        assert!(ours("accuracy") > figure(&document, model, "accuracy"), "{model}");
        assert!(ours("log_loss") < figure(&document, model, "log_loss"), "{model}");
    }
}

/// The organisers' measure for Likert scales, computed here from the file only: mean over test texts of the
/// mean distance of the labels from `predict(annotator)`, divided by six.
fn absolute_distance_of_csc(file: &Path, mut predict: impl FnMut(&str) -> f64) -> f64 {
    let mut texts: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (split, text, annotator, label) in rows_of_csc(file) {
        if split == "test" {
            texts.entry(text).or_default().push((label - predict(&annotator)).abs() / 6.0);
        }
    }
    let means = texts.values().map(|all| all.iter().sum::<f64>() / all.len() as f64);
    means.sum::<f64>() / texts.len() as f64
}

fn rows_of_csc(file: &Path) -> Vec<(String, String, String, f64)> {
    let mut reader = csv::Reader::from_path(file).unwrap();
    let header = reader.headers().unwrap().clone();
    let at = |name: &str| header.iter().position(|column| column == name).unwrap();
    let (split, text, annotator, label) = (at("split"), at("text_id"), at("annotator_id"), at("label"));
    let row = |row: Result<csv::StringRecord, csv::Error>| {
        let row = row.unwrap();
        (row[split].to_owned(), row[text].to_owned(), row[annotator].to_owned(), row[label].parse().unwrap())
    };
    reader.records().map(row).collect()
}

/// The organisers published .239 for each annotator's most frequent label, and .352 for a random submission
/// (uniform on 0 to 6: .355 is expected, with a standard deviation of .0046 between submissions).
#[test]
#[ignore = "needs the data set csc.csv: cargo xtask test data"]
fn baselines_of_csc_match_the_published_ones() {
    let file = data("csc.csv");
    let mut counts: BTreeMap<String, [usize; 7]> = BTreeMap::new();
    for (_, _, annotator, label) in rows_of_csc(&file).into_iter().filter(|row| row.0 == "train") {
        counts.entry(annotator).or_default()[label as usize] += 1;
    }
    let frequent = |annotator: &str| {
        let own = counts[annotator];
        own.iter().position(|n| n == own.iter().max().unwrap()).unwrap() as f64
    };
    let published = absolute_distance_of_csc(&file, frequent);
    assert_eq!(format!("{published:.3}"), "0.239");
    let random: f64 =
        (0..=6).map(|level| absolute_distance_of_csc(&file, |_| f64::from(level))).sum::<f64>() / 7.0;
    assert!((random - 0.352).abs() < 2.0 * 0.0046, "{random}");

    let bench = Bench::new();
    let project = encoded(&bench, &file);
    let document = bench.json(
        ["models".into(), "evaluate".into(), project.into_os_string()]
            .into_iter()
            .chain(["--split", "column", "--models", "multilevel"].map(Into::into)),
    );
    let baselines = document["baselines"].as_array().unwrap();
    let of =
        |name: &str, key: &str| baselines.iter().find(|b| b["model"] == name).unwrap()[key].as_f64().unwrap();
    assert!((of("own-most-frequent", "normalized_absolute_distance") - published).abs() < 1e-9);
    let ours = |key: &str| figure(&document, "multilevel", key);
    for key in ["normalized_absolute_distance", "mae", "wasserstein"] {
        assert!(ours(key) < of("own-distribution", key) && ours(key) < of("prior", key), "{key}");
    }
    assert!(ours("wasserstein") < ours("wasserstein_probabilities"));
}

/// Labels by text: text, (annotator, level) each.
fn by_text(file: &Path) -> Vec<(String, Vec<(String, f64)>)> {
    let mut reader = csv::Reader::from_path(file).unwrap();
    let header = reader.headers().unwrap().clone();
    let [text, who, label] = ["text_id", "annotator_id", "label"]
        .map(|name| header.iter().position(|column| column == name).unwrap());
    let mut found: BTreeMap<String, Vec<(String, f64)>> = BTreeMap::new();
    for row in reader.records().map(Result::unwrap) {
        let labels = found.entry(row[text].to_owned()).or_default();
        labels.push((row[who].to_owned(), row[label].parse().unwrap()));
    }
    found.into_iter().collect()
}

/// For each of 100 pilots of 100 texts, asks the plan for the number of annotators for an interval 2.2 levels
/// wide; on the other texts, the means of that many people and of as many others differ as intervals of that
/// width predict.
#[test]
#[ignore = "needs the data set popquorn_offensiveness.csv: cargo xtask test data"]
fn plan_from_a_pilot_keeps_its_interval_width() {
    const WIDTH: f64 = 2.2;
    let mut texts = by_text(&data("popquorn_offensiveness.csv"));
    let bench = Bench::without_encoder();
    let mut draws = Draws::new(7);
    let (mut within, mut sum, mut numbers) = (0, 0.0, BTreeMap::<u64, u32>::new());
    for pilot in 0..100 {
        draws.shuffle(&mut texts);
        let mut file = String::from("text_id,text,annotator_id,label\n");
        for (text, labels) in &texts[..100] {
            for (who, level) in labels {
                file.push_str(&format!("{text},text {text},{who},{level}\n"));
            }
        }
        let (csv, project) = (format!("{pilot}.csv"), format!("{pilot}.dissensus"));
        bench.file(&csv, &file);
        bench.ok(["project", "new", &project]);
        bench.ok(["data", "import", &project, &csv, "--levels", "1,2,3,4,5", "--scale", "ordinal"]);
        let plan = bench.json(["study", "plan", &project, "--interval-width", "2.2"]);
        let n = plan["for_width"]["value"].as_u64().unwrap();
        *numbers.entry(n).or_default() += 1;
        // The difference of the means of two groups of n people has twice the variance of one mean.
        let (mut squares, mut pairs) = (0.0, 0.0);
        for (_, labels) in &texts[100..] {
            let mut levels: Vec<f64> = labels.iter().map(|(_, level)| *level).collect();
            let n = n as usize;
            if levels.len() >= 2 * n {
                draws.shuffle(&mut levels);
                let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
                squares += (mean(&levels[..n]) - mean(&levels[n..2 * n])).powi(2);
                pairs += 1.0;
            }
        }
        assert!(pairs > 20.0, "{pairs} texts have {} labels", 2 * n);
        let reached = 2.0 * 1.959_964 * (squares / pairs / 2.0).sqrt() / WIDTH;
        sum += reached / 100.0;
        within += u32::from((reached - 1.0).abs() <= 0.2);
    }
    println!(
        "annotators a text {numbers:?}; width reached over width promised {sum:.3} on average; within 20 % in {within} of 100"
    );
    assert!((sum - 1.0).abs() < 0.2, "{sum}");
    assert!(within >= 90, "{within}");
}
