//! Output of `models evaluate` for a multi-label question.

use super::count;
use super::evaluation::{differences, heading};
use crate::output::{self, three};
use anyhow::Result;
use dissensus_analysis::OptionEvaluation;
use dissensus_selection::evaluation::SetEvaluation;
use dissensus_stats::metrics::MultiLabelScores;
use dissensus_training::runs::TrainedSets;

/// Prints the whole evaluation.
pub(super) fn show(found: &OptionEvaluation) -> Result<()> {
    heading(&found.question, &found.split, found.seed)?;
    tables(&found.models, &found.baselines)?;
    let with = found.models.iter().filter(|one| one.together.is_some());
    let mut models_by_words: Vec<(&String, Vec<&str>)> = Vec::new();
    for (model, words) in with.zip(&found.options_together) {
        match models_by_words.iter_mut().find(|(other, _)| *other == words) {
            Some((_, models)) => models.push(&model.model),
            None => models_by_words.push((words, vec![&model.model])),
        }
    }
    for (words, models) in models_by_words {
        output::line(&format!("{}: {words}", models.join(", ")))?;
    }
    if !found.differences.models.is_empty() {
        differences(&found.differences, &COMPARED)?;
    }
    if let Some(without) = &found.without_copies {
        output::line(&format!(
            "\nThe body of {} of the test also occurs in training. Without them:",
            count(found.split.copies_in_training as u64, "text")
        ))?;
        tables(&without.models, &without.baselines)?;
    }
    output::line(
        "\nF1 of each option, with tuned thresholds (– where nobody has it and nothing predicts it)",
    )?;
    let header: Vec<&str> =
        ["option", "chosen"].into_iter().chain(found.models.iter().map(|one| one.model.as_str())).collect();
    let row = |(at, option): (usize, &String)| {
        let of = |model: &SetEvaluation| tuned_or_likely(model).options.get(at).copied().unwrap_or_default();
        let chosen = found.models.first().map_or(0, |model| of(model).support);
        let figures = found.models.iter().map(|model| three(of(model).f1));
        [option.clone(), chosen.to_string()].into_iter().chain(figures).collect()
    };
    let numbers: Vec<usize> = (1..header.len()).collect();
    output::line(&output::table(&header, found.options.iter().enumerate().map(row).collect(), &numbers))
}

/// Prints the scores of a whole question, after a training run on all of its options.
pub(super) fn show_trained(found: &TrainedSets) -> Result<()> {
    output::line(&format!(
        "\n\"{}\" as a whole, by its {}",
        found.question,
        count(found.options.len() as u64, "option")
    ))?;
    tables(std::slice::from_ref(&found.scores), &[])?;
    found.options_together.as_deref().map_or(Ok(()), output::line)
}

/// Metrics whose differences are printed; `--json` has all of them.
const COMPARED: [(&str, &str); 6] = [
    ("micro F1", "micro_f1"),
    ("Jaccard", "jaccard"),
    ("log loss", "log_loss"),
    ("tuned micro F1", "tuned_micro_f1"),
    ("tuned macro F1", "tuned_macro_f1"),
    ("tuned Jaccard", "tuned_jaccard"),
];

/// A column of metrics with its header.
type Column = (&'static str, fn(&SetEvaluation) -> Option<f64>);

const LIKELY: [Column; 7] = [
    ("micro F1", |one| one.likely.micro_f1),
    ("macro F1", |one| one.likely.macro_f1),
    ("Jaccard", |one| one.likely.jaccard),
    ("exact", |one| one.likely.subset_accuracy),
    ("Hamming", |one| one.likely.hamming_loss),
    ("log loss", |one| one.log_loss),
    ("AUROC", |one| one.disagreement_auroc),
];

const TUNED: [Column; 5] = [
    ("micro F1", |one| one.tuned.as_ref()?.micro_f1),
    ("macro F1", |one| one.tuned.as_ref()?.macro_f1),
    ("Jaccard", |one| one.tuned.as_ref()?.jaccard),
    ("exact", |one| one.tuned.as_ref()?.subset_accuracy),
    ("Hamming", |one| one.tuned.as_ref()?.hamming_loss),
];

const TOGETHER: [Column; 7] = [
    ("micro F1", |one| one.together.as_ref()?.likely.micro_f1),
    ("macro F1", |one| one.together.as_ref()?.likely.macro_f1),
    ("Jaccard", |one| one.together.as_ref()?.likely.jaccard),
    ("exact", |one| one.together.as_ref()?.likely.subset_accuracy),
    ("Hamming", |one| one.together.as_ref()?.likely.hamming_loss),
    ("nats a set", |one| one.together.as_ref()?.set_log_loss),
    ("if independent", |one| one.set_log_loss),
];

/// Prints all methods that turn probabilities into a set.
fn tables(models: &[SetEvaluation], baselines: &[SetEvaluation]) -> Result<()> {
    output::line("Options that are more likely than not")?;
    table(&models.iter().chain(baselines).collect::<Vec<_>>(), &LIKELY)?;
    output::line(
        "\nWith a threshold for each option, tuned for the macro F1 of its yes and no on training or validation labels",
    )?;
    table(&models.iter().filter(|one| one.tuned.is_some()).collect::<Vec<_>>(), &TUNED)?;
    let together: Vec<&SetEvaluation> = models.iter().filter(|one| one.together.is_some()).collect();
    if together.is_empty() {
        return Ok(());
    }
    output::line(
        "\nThe most likely set, with options that go together where that was shown on held-out labels",
    )?;
    table(&together, &TOGETHER)
}

/// Prints one row per model, without columns that no model has a value for.
fn table(models: &[&SetEvaluation], columns: &[Column]) -> Result<()> {
    let columns: Vec<&Column> =
        columns.iter().filter(|(_, of)| models.iter().any(|model| of(model).is_some())).collect();
    let header: Vec<&str> = std::iter::once("model").chain(columns.iter().map(|(title, _)| *title)).collect();
    let row = |model: &&SetEvaluation| {
        let figures = columns.iter().map(|(_, of)| three(of(model)));
        std::iter::once(model.model.clone()).chain(figures).collect()
    };
    let numbers: Vec<usize> = (1..header.len()).collect();
    output::line(&output::table(&header, models.iter().map(row).collect(), &numbers))
}

fn tuned_or_likely(model: &SetEvaluation) -> &MultiLabelScores {
    model.tuned.as_ref().unwrap_or(&model.likely)
}
