//! Comparison of two runs, label by label.

use super::Runs;
use super::list::higher_is_better;
use crate::error::TrainingError;
use crate::runs::baselines;
use crate::saved_runs::SavedRun;
use dissensus_api::{AnnotatorPair, MetricPair, RunComparison};
use dissensus_project::error::ProjectError;
use dissensus_stats::data::Observation;
use dissensus_stats::data::progress::Silent;
use dissensus_stats::metrics::Scored;
use dissensus_stats::metrics::{BootstrapOptions, Difference, compare};
use dissensus_store::RunPart;
use std::collections::HashMap;

/// Compares two finished runs of one question that were scored on the same labels.
///
/// # Errors
/// There is no such run, or they were scored on different labels.
pub fn compare_runs(cx: &Runs, a: u32, b: u32) -> Result<RunComparison, ProjectError> {
    let (first, second) = (cx.kept.get(a)?, cx.kept.get(b)?);
    let of_a = first.outcome.report.as_ref().ok_or(TrainingError::NoScores(a))?;
    let of_b = second.outcome.report.as_ref().ok_or(TrainingError::NoScores(b))?;
    if first.choices.question != second.choices.question {
        return Err(TrainingError::NotComparable("the runs are of different questions").into());
    }
    let (scored_a, scored_b) = (scored_labels(cx, &first)?, scored_labels(cx, &second)?);
    if scored_a.observations != scored_b.observations {
        return Err(TrainingError::NotComparable(
            "the runs were scored on different labels: give both the same split and seed, on the same data",
        )
        .into());
    }
    let compared = compare(&scored_a, &scored_b, &BootstrapOptions::default(), &Silent)?;
    let tested = |key: &str| -> Option<&Difference> {
        match key {
            "log_loss" => compared.over_texts.as_ref().map(|over| &over.log_loss),
            "accuracy" => compared.over_texts.as_ref().map(|over| &over.accuracy),
            "annotator_accuracy" => compared.over_annotators.as_ref()?.annotator_accuracy.as_ref(),
            _ => None,
        }
    };
    let values: HashMap<&str, Option<f64>> = of_b.scores.values().into_iter().collect();
    // Runs from before answers were tuned have the macro-F1 of the most likely level under the same key.
    let like = first.outcome.f1_rule.is_some() == second.outcome.f1_rule.is_some();
    let metrics = of_a.scores.values().into_iter().filter(|(key, _)| like || *key != "macro_f1");
    let metrics = metrics.filter_map(|(key, value)| {
        let test = tested(key);
        let interval = test.and_then(|t| t.interval.as_ref());
        Some(MetricPair {
            key: key.to_owned(),
            a: value?,
            b: values.get(key).copied().flatten()?,
            // The comparison is the first minus the second; the table shows the gain of the second.
            low: interval.map(|i| -i.high),
            high: interval.map(|i| -i.low),
            p: test.and_then(|t| t.p),
            higher_is_better: higher_is_better(key),
        })
    });
    let others: HashMap<u32, f64> = of_b.annotators.iter().map(|a| (a.annotator, a.accuracy)).collect();
    let index = cx.context.index();
    let annotators = of_a.annotators.iter().filter_map(|one| {
        let who = index.annotators().get(one.annotator as usize)?;
        Some(AnnotatorPair {
            annotator: who.id,
            name: who.name.clone(),
            a: one.accuracy,
            b: *others.get(&one.annotator)?,
            labels: one.labels as u32,
        })
    });
    let baselines = match index.question(first.choices.question) {
        Some(question) => baselines::baselines(cx, &first, &question.scale)?,
        None => Vec::new(),
    };
    Ok(RunComparison {
        a,
        b,
        baselines,
        metrics: metrics.collect(),
        annotators: annotators.collect(),
        labels: scored_a.observations.len() as u32,
    })
}

/// Test labels of a run with its predictions, as rows of the arrays.
///
/// # Errors
/// There is no such run, or its stored predictions cannot be read.
pub fn scored(cx: &Runs, id: u32) -> Result<Scored, ProjectError> {
    scored_labels(cx, &cx.kept.get(id)?)
}

fn scored_labels(cx: &Runs, kept: &SavedRun) -> Result<Scored, ProjectError> {
    cx.kept.has_same_levels(kept)?;
    let stored = cx.context.store.run_labels(kept.run.id, RunPart::Test)?;
    let index = cx.context.index();
    let levels = index.with_levels(kept.choices.question)?.scale.len();
    let observation = |label: &dissensus_store::RunLabel| {
        Some(Observation {
            text: index.text_row(label.text)?,
            annotator: index.annotator_row(label.annotator)?,
            level: label.level,
        })
    };
    let observations: Option<Vec<Observation>> = stored.labels.iter().map(observation).collect();
    let scored = observations.filter(|all| {
        let on_scale = all.iter().all(|o| usize::from(o.level) < levels);
        on_scale && stored.probabilities.len() == all.len() * levels && !all.is_empty()
    });
    let observations =
        scored.ok_or(TrainingError::NotComparable("what a run predicted cannot be read any more"))?;
    let scored = Scored { observations, probabilities: stored.probabilities, levels, tuned: None };
    Ok(match &kept.outcome.f1_rule {
        Some(rule) if rule.prior.len() == levels => scored.tuned_by(rule),
        _ => scored,
    })
}
