//! Output of `models evaluate`.

use super::count;
use crate::output::{self, three};
use anyhow::Result;
use dissensus_analysis::{Evaluation, ModelDifference, ModelDifferences, SplitReport};
use dissensus_project::context::ceiling_note;
use dissensus_selection::evaluation::{Evaluation as ModelScores, PredictionSets, SetQuality};
use dissensus_stats::metrics::{PairedDifference, Scores};

/// Prints the whole evaluation.
pub(super) fn show(evaluation: &Evaluation) -> Result<()> {
    let at_least =
        evaluation.at_least.as_ref().map_or_else(String::new, |level| format!(", {level} or higher"));
    let split = &evaluation.split;
    heading(&format!("{}{at_least}", evaluation.question), split, evaluation.seed)?;
    let all: Vec<&ModelScores> = evaluation.models.iter().chain(&evaluation.baselines).collect();
    output::line(&table(&all, &OF_MODELS))?;
    evaluation.notes.iter().try_for_each(|note| output::line(note))?;
    if let Some(found) = &evaluation.self_agreement {
        output::line(&ceiling_note(found))?;
    }
    if let Some(without) = &evaluation.without_copies {
        output::line(&format!(
            "\nThe body of {} of the test also occurs in training. Without them, {} of {}:",
            count(split.copies_in_training as u64, "text"),
            count(without.labels as u64, "label"),
            count(without.texts as u64, "text")
        ))?;
        let rest: Vec<&ModelScores> = without.models.iter().chain(&without.baselines).collect();
        output::line(&table(&rest, &OF_MODELS))?;
    }
    if all.iter().any(|model| model.scores.mae.is_some()) {
        output::line("\nOne answer, the median: compare single predictions of others with these alone")?;
        output::line(&table(&all, &OF_THE_MEDIAN))?;
    }
    output::line("\nEach text's labels together, by those who gave them; means over texts")?;
    output::line(&table(&all, &OF_PANELS))?;
    if let Some(found) = &evaluation.differences {
        differences(found, &COMPARED)?;
    }
    match &evaluation.prediction_sets {
        Some(found) => prediction_sets(found),
        None => evaluation.no_prediction_sets.iter().try_for_each(|why| output::line(&format!("\n{why}"))),
    }
}

/// Prints the question and how its texts were split.
pub(super) fn heading(question: &str, split: &SplitReport, seed: u32) -> Result<()> {
    let scored =
        format!("{} of {}", count(split.test_labels as u64, "label"), count(split.test_texts as u64, "text"));
    let name = &split.name;
    output::line(&if split.folds > 1 {
        let others = count(split.folds as u64 - 1, "fold");
        format!(
            "{question}: {name}, {scored} tested, each by a model trained on the other {others}, seed {seed}"
        )
    } else {
        let train = format!(
            "{} of {}",
            count(split.train_labels as u64, "label"),
            count(split.train_texts as u64, "text")
        );
        format!("{question}: {name}, trained on {train}, tested on {scored}, seed {seed}")
    })?;
    if split.left_out_copies > 0 {
        let texts = count(split.left_out_copies as u64, "text");
        output::line(&format!(
            "{texts} left out of the test: the body also occurs in training, in another group"
        ))?;
    }
    Ok(())
}

/// Metrics whose differences are printed; `--json` has all of them.
const COMPARED: [(&str, &str); 8] = [
    ("log loss", "log_loss"),
    ("accuracy", "accuracy"),
    ("macro F1 (tuned)", "macro_f1"),
    ("annotator accuracy", "annotator_accuracy"),
    ("soft CE", "soft_cross_entropy"),
    ("AUROC", "disagreement_auroc"),
    ("MAE", "mae"),
    ("r", "pearson"),
];

/// Prints the differences of all models and baselines from one of them, with intervals. `columns` has headers
/// and the keys of metrics.
pub(super) fn differences(found: &ModelDifferences, columns: &[(&str, &str)]) -> Result<()> {
    let percent = (100.0 * found.confidence).round();
    output::line(&format!(
        "\nLess {}, with {percent} % intervals over {} (* without 0; --json has every metric)",
        found.less, found.over
    ))?;
    let columns: Vec<&(&str, &str)> = columns
        .iter()
        .filter(|(_, key)| found.models.iter().any(|model| model.of.contains_key(*key)))
        .collect();
    let cell = |key: &str, one: Option<&PairedDifference>| {
        let places = places(key);
        match one {
            None => "–".to_owned(),
            Some(PairedDifference { difference, low: Some(low), high: Some(high) }) => {
                let star = if *low > 0.0 || *high < 0.0 { "*" } else { " " };
                format!("{difference:+.places$} ± {:.places$}{star}", (high - low) / 2.0)
            }
            Some(one) => format!("{:+.places$}", one.difference),
        }
    };
    let row = |model: &ModelDifference| {
        let figures = columns.iter().map(|(_, key)| cell(key, model.of.get(*key)));
        std::iter::once(model.model.clone()).chain(figures).collect()
    };
    let header: Vec<&str> = std::iter::once("model").chain(columns.iter().map(|(title, _)| *title)).collect();
    let numbers: Vec<usize> = (1..header.len()).collect();
    output::line(&output::table(&header, found.models.iter().map(row).collect(), &numbers))
}

/// Number of decimal places of a metric: most words are unmarked, so losses differ only in the fourth.
pub(super) fn places(key: &str) -> usize {
    if key == "token_log_loss" { 4 } else { 3 }
}

fn prediction_sets(found: &PredictionSets) -> Result<()> {
    output::line(&format!(
        "\nPrediction sets, aimed at {} % of all labels together; calibrated on {} of {} that nothing else used. Labels of one text or person are not independent: no guarantee",
        (100.0 * found.confidence).round(),
        count(found.calibration_labels as u64, "label"),
        count(found.calibration_texts as u64, "text")
    ))?;
    let quality = |name: String, people: String, quality: &SetQuality| {
        let interval = quality
            .coverage_interval
            .map_or_else(String::new, |(low, high)| format!("{:.1} to {:.1}", 100.0 * low, 100.0 * high));
        let coverage = format!("{:.1}", 100.0 * quality.coverage);
        vec![name, people, coverage, interval, format!("{:.2}", quality.mean_size)]
    };
    let own = found.common_weight.iter().any(Option::is_some);
    let thresholds = if own { "a threshold for each annotator" } else { "one threshold for all" };
    let mut rows = vec![
        quality(format!("multilevel, {thresholds}"), String::new(), &found.multilevel),
        quality("shared, knows no person".into(), String::new(), &found.shared),
    ];
    for (what, tenths) in
        [("training labels", &found.by_labels), ("mean predicted level", &found.by_severity)]
    {
        for tenth in tenths {
            let name = if what == "training labels" {
                format!("{what} {:.0} to {:.0}", tenth.from, tenth.to)
            } else {
                format!("{what} {:.2} to {:.2}", tenth.from, tenth.to)
            };
            rows.push(quality(name, tenth.annotators.to_string(), &tenth.quality));
        }
    }
    let header = ["sets", "annotators", "coverage %", "90 %", "mean size"];
    output::line(&output::table(&header, rows, &[1, 2, 3, 4]))
}

/// A column of metrics with its header.
type Column = (&'static str, fn(&Scores) -> Option<f64>);

const OF_MODELS: [Column; 12] = [
    ("accuracy", |s| s.accuracy),
    ("macro F1 (tuned)", |s| s.macro_f1),
    ("annotator accuracy", |s| s.annotator_accuracy),
    ("annotator F1", |s| s.annotator_macro_f1),
    ("worst tenth", |s| s.worst_tenth_accuracy),
    ("log loss", |s| s.log_loss),
    ("Brier", |s| s.brier),
    ("ECE", |s| s.ece),
    ("soft CE", |s| s.soft_cross_entropy),
    ("AUROC", |s| s.disagreement_auroc),
    ("RPS", |s| s.ranked_probability_score),
    ("kappa", |s| s.quadratic_kappa),
];

const OF_THE_MEDIAN: [Column; 4] = [
    ("macro F1", |s| s.macro_f1_median),
    ("MAE", |s| s.mae),
    ("r", |s| s.pearson_median),
    ("absolute distance / levels", |s| s.normalized_absolute_distance),
];

const OF_PANELS: [Column; 7] = [
    ("error rate", |s| s.error_rate),
    ("Wasserstein, median panel", |s| s.wasserstein),
    ("probabilities", |s| s.wasserstein_probabilities),
    ("Manhattan, median panel", |s| s.manhattan),
    ("probabilities", |s| s.manhattan_probabilities),
    ("soft micro F1", |s| s.soft_micro_f1),
    ("PO-JSD", |s| s.po_jsd),
];

/// A table with one row per model, without columns that no model has a value for.
fn table(models: &[&ModelScores], columns: &[Column]) -> String {
    let columns: Vec<&Column> =
        columns.iter().filter(|(_, of)| models.iter().any(|model| of(&model.scores).is_some())).collect();
    let header: Vec<&str> = std::iter::once("model").chain(columns.iter().map(|(title, _)| *title)).collect();
    let row = |model: &&ModelScores| {
        let figures = columns.iter().map(|(_, of)| three(of(&model.scores)));
        std::iter::once(model.model.clone()).chain(figures).collect()
    };
    let numbers: Vec<usize> = (1..header.len()).collect();
    output::table(&header, models.iter().map(row).collect(), &numbers)
}
