//! Output of `models evaluate` for a question with spans.

use super::count;
use super::evaluation::{differences, heading, places};
use crate::output::{self, three};
use anyhow::Result;
use dissensus_analysis::{SpanEvaluationReport, TypeOfSpans};
use dissensus_models::spans::SpanEvaluation;
use dissensus_training::runs::TrainedWords;

/// Prints the whole evaluation.
pub(super) fn show(found: &SpanEvaluationReport) -> Result<()> {
    heading(&found.question, &found.split, found.seed)?;
    output::line("Words: one decision for each type. A text as a whole is scored by the name of a type")?;
    let known = found.models.iter().chain(&found.baselines).any(|one| !one.intervals.is_empty());
    output::line(&match known {
        true => format!(
            "Figures ± half of their {:.0} % intervals over {}",
            100.0 * found.differences.confidence,
            found.differences.over
        ),
        false => "Figures without intervals: too few texts or annotators were held out to tell".to_owned(),
    })?;
    table(&found.models, &found.baselines)?;
    differences(&found.differences, &COLUMNS)?;
    if let Some(without) = &found.without_copies {
        output::line(&format!(
            "\nThe body of {} of the test also occurs in training. Without them:",
            count(found.split.copies_in_training as u64, "text")
        ))?;
        table(&without.models, &without.baselines)?;
    }
    types(found)?;
    found.notes.iter().try_for_each(|note| output::line(&format!("\n{note}")))
}

/// Prints the scores for the words of a question in a training run.
pub(super) fn show_trained(found: &TrainedWords) -> Result<()> {
    let [train, validation, test] = found.answers.map(|answers| count(answers.into(), "answer"));
    output::line(&format!(
        "\nWords of \"{}\", learned from {train}, calibrated on {validation}, scored on {test}",
        found.question
    ))?;
    table(std::slice::from_ref(&found.scores), &found.baselines)
}

/// Columns of metrics: headers and keys.
const COLUMNS: [(&str, &str); 7] = [
    ("log loss", "token_log_loss"),
    ("word F1", "token_macro_f1"),
    ("own F1", "annotator_token_macro_f1"),
    ("span F1", "span_f1_exact"),
    ("overlap F1", "span_f1_overlap"),
    ("AUROC words", "token_disagreement_auroc"),
    ("rho texts", "text_disagreement_spearman"),
];

fn table(models: &[SpanEvaluation], baselines: &[SpanEvaluation]) -> Result<()> {
    let header: Vec<&str> = std::iter::once("model").chain(COLUMNS.iter().map(|(title, _)| *title)).collect();
    let row = |model: &SpanEvaluation| {
        let values = model.scores.values();
        let figure = |(_, key): &(&str, &str)| {
            let found = values.iter().find(|(other, _)| other == key).and_then(|(_, value)| *value);
            let Some(value) = found else { return three(None) };
            let places = places(key);
            match model.intervals.get(*key) {
                // An end that was clipped at a bound of the metric is nearer to the value than the other end.
                Some((low, high)) if (high - value - (value - low)).abs() > 1e-9 => {
                    format!("{value:.places$} ({low:.places$} to {high:.places$})")
                }
                Some((low, high)) => format!("{value:.places$} ± {:.places$}", (high - low) / 2.0),
                None => format!("{value:.places$}"),
            }
        };
        std::iter::once(model.model.clone()).chain(COLUMNS.iter().map(figure)).collect()
    };
    let numbers: Vec<usize> = (1..header.len()).collect();
    output::line(&output::table(&header, models.iter().chain(baselines).map(row).collect(), &numbers))
}

/// Prints the losses of all models for each type, and what `multilevel` estimated.
fn types(found: &SpanEvaluationReport) -> Result<()> {
    output::line(
        "\nOf each type: log loss, and how annotators differ in their readiness to mark it (logits)",
    )?;
    let models: Vec<&SpanEvaluation> = found.models.iter().chain(&found.baselines).collect();
    let header: Vec<&str> = std::iter::once("type")
        .chain(models.iter().map(|one| one.model.as_str()))
        .chain(["words marked", "readiness sd"])
        .collect();
    let row = |(at, of_type): (usize, &TypeOfSpans)| {
        let losses = models.iter().map(|model| {
            model
                .scores
                .types
                .get(at)
                .map_or_else(String::new, |scores| format!("{:.4}", scores.token_log_loss))
        });
        let rate = of_type.rate.map_or_else(|| "–".to_owned(), |rate| format!("{:.2} %", rate * 100.0));
        let known = [rate, three(of_type.readiness_deviation)];
        std::iter::once(of_type.name.clone()).chain(losses).chain(known).collect()
    };
    let numbers: Vec<usize> = (1..header.len()).collect();
    output::line(&output::table(&header, found.types.iter().enumerate().map(row).collect(), &numbers))
}
