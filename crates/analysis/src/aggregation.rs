//! Label aggregation (one label per text) and reliability of labels, as alternatives to the annotator
//! models.

use super::Analysis;
use dissensus_domain::QuestionId;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_stats::aggregation::{AggregationOptions, Aggregator, aggregate};
use dissensus_stats::agreement::{Reliability, cohen_pairs, reliability};
use dissensus_stats::metrics::BootstrapOptions;
use serde::Serialize;

/// Aggregated labels. The keys are a contract with scripts.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Aggregated {
    pub question: String,
    /// `majority`, `dawid-skene`, `mace` or `glad`.
    pub method: &'static str,
    /// Texts with labels, in file order.
    pub texts: Vec<AggregatedText>,
    /// Annotators with labels.
    pub annotators: Vec<AggregatedAnnotator>,
    /// How many other annotators of the project have no label for the question yet.
    pub annotators_without_labels: u32,
    /// Iterations of the estimation; none for the majority.
    pub iterations: Option<usize>,
    /// Whether the estimation converged within them.
    pub converged: Option<bool>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AggregatedText {
    /// Its id in files.
    pub text_id: String,
    /// The most likely level; among ties the lowest.
    pub label: String,
    /// Probability of the most likely level.
    pub probability: f64,
    /// True if other levels are as likely.
    pub tie: bool,
    /// Number of its labels.
    pub labels: u32,
    /// Probability of each level.
    pub probabilities: Vec<f64>,
    /// GLAD: difficulty of the text, above 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difficulty: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AggregatedAnnotator {
    /// The person's id in files.
    pub annotator_id: String,
    /// Number of labels given.
    pub labels: usize,
    /// Expected share of them that are the text's level.
    pub agreement: Option<f64>,
    /// MACE: probability of answering without reading the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spamming: Option<f64>,
    /// GLAD: log odds of a correct answer on a text of difficulty 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ability: Option<f64>,
    /// Dawid-Skene: P(answers the column | the row is true), row by row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confusion: Option<Vec<f64>>,
}

/// Two annotators who labelled some of the same texts.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnnotatorPairAgreement {
    /// One of the annotators.
    pub first: String,
    /// The other annotator.
    pub second: String,
    /// Texts that both labelled.
    pub texts: usize,
    /// Share of these on which both gave the same answer.
    pub agreement: f64,
    /// Cohen's kappa.
    pub kappa: Option<f64>,
    /// Cohen's kappa with quadratic weights; ordinal scales only.
    pub quadratic_kappa: Option<f64>,
}

/// Aggregates the labels of a question by `method`: `majority`, `dawid-skene`, `mace` or `glad`.
///
/// # Errors
/// No such question or method, no labels, or cancellation.
pub fn aggregate_labels(
    cx: &Analysis,
    question: QuestionId,
    method: &str,
    progress: &dyn Progress,
) -> Result<Aggregated, ProjectError> {
    let (name, target) = cx.context.question_parts(question)?;
    let observations = cx.context.observations(question)?;
    if observations.is_empty() {
        return Err(ProjectError::NoLabels(name));
    }
    let aggregator = method.parse::<Aggregator>()?;
    let (texts, people) = cx.context.sizes();
    let options = AggregationOptions::default();
    let found = aggregate(aggregator, &observations, texts, people, target, &options, progress)?;
    let index = cx.context.index();
    let scale = index.with_levels(question)?.scale.clone();
    let ids = cx.context.store.all_text_ids_and_externals()?;
    let tied: std::collections::HashSet<usize> = found.ties.iter().map(|tie| tie.text as usize).collect();
    let difficulty = |row: usize| found.difficulty.as_ref().and_then(|all| all[row]);
    let text = |(id, external): (dissensus_domain::TextId, String)| {
        let row = index.text_row(id)? as usize;
        let level = found.labels[row]?;
        let probabilities = found.row(row).to_vec();
        Some(AggregatedText {
            text_id: external,
            label: scale.name_at(level)?.to_owned(),
            probability: probabilities[usize::from(level)],
            tie: tied.contains(&row),
            labels: found.counts[row],
            probabilities,
            difficulty: difficulty(row),
        })
    };
    let people = index.annotators().iter().zip(&found.annotators).filter(|(_, quality)| quality.labels > 0);
    let without = found.annotators.iter().filter(|quality| quality.labels == 0).count();
    Ok(Aggregated {
        question: name,
        method: aggregator.name(),
        texts: ids.into_iter().filter_map(text).collect(),
        annotators: people
            .map(|(who, quality)| AggregatedAnnotator {
                annotator_id: who.external_id.clone(),
                labels: quality.labels,
                agreement: quality.agreement,
                spamming: quality.spamming,
                ability: quality.ability,
                confusion: quality.confusion.clone(),
            })
            .collect(),
        annotators_without_labels: without as u32,
        iterations: found.fit.map(|fit| fit.iterations),
        converged: found.fit.map(|fit| fit.converged),
    })
}

/// Every coefficient of agreement with its 95 % intervals for people like these and for these people.
///
/// # Errors
/// No such question, or cancellation.
pub fn estimate_reliability(
    cx: &Analysis,
    question: QuestionId,
    progress: &dyn Progress,
) -> Result<Reliability, ProjectError> {
    let (_, target) = cx.context.question_parts(question)?;
    let observations = cx.context.observations(question)?;
    let (texts, people) = cx.context.sizes();
    let options = BootstrapOptions::default();
    Ok(reliability(&observations, texts, people, target, Some(&options), progress)?)
}

/// Cohen's kappa of every two annotators with `least` texts in common or more.
///
/// # Errors
/// No such question.
pub fn compare_pairs(
    cx: &Analysis,
    question: QuestionId,
    least: usize,
) -> Result<Vec<AnnotatorPairAgreement>, ProjectError> {
    let (_, target) = cx.context.question_parts(question)?;
    let observations = cx.context.observations(question)?;
    let (texts, people) = cx.context.sizes();
    let index = cx.context.index();
    let name = |row: u32| index.annotators()[row as usize].external_id.clone();
    let pairs = cohen_pairs(&observations, texts, people, target, least)?;
    let pair = |pair: dissensus_stats::agreement::CohenPair| AnnotatorPairAgreement {
        first: name(pair.first),
        second: name(pair.second),
        texts: pair.texts,
        agreement: pair.agreement,
        kappa: pair.kappa,
        quadratic_kappa: pair.quadratic,
    };
    Ok(pairs.into_iter().map(pair).collect())
}
