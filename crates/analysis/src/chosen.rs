//! Annotators and texts that a query selects, and measures over them.

use super::Analysis;
use crate::error::AnalysisError;
use dissensus_api::{DisagreementQuery, DisagreementScores};
use dissensus_domain::{Annotator, Attributes, QuestionId, TextId};
use dissensus_project::error::ProjectError;
use dissensus_stats::data::AnnotatorModel;
use dissensus_stats::disagreement::{Measure, disagreement_of_texts, van_der_eijk};
use dissensus_training::live::{Fitted, Over, largest};
use std::collections::HashSet;

/// The annotators who have all of these attributes.
pub(super) fn people_mask(cx: &Analysis, attributes: &Attributes) -> Result<Vec<bool>, ProjectError> {
    let index = cx.context.index();
    let has = |a: &Annotator| attributes.iter().all(|(name, value)| a.attributes.get(name) == Some(value));
    let mask: Vec<bool> = index.annotators().iter().map(has).collect();
    if !attributes.is_empty() && !mask.contains(&true) {
        return Err(no_such_attribute(index.annotators(), attributes));
    }
    Ok(mask)
}

/// The annotators selected by `attributes`, for a model with so many annotators; `None` as mask if all
/// are selected.
pub(super) fn people_over(
    cx: &Analysis,
    attributes: &Attributes,
    annotators: usize,
) -> Result<Over, ProjectError> {
    let mask = match attributes.is_empty() {
        true => None,
        // People whom the model does not know yet are left out.
        false => {
            let mask = people_mask(cx, attributes)?;
            Some((0..annotators).map(|row| mask.get(row) == Some(&true)).collect())
        }
    };
    Ok(Over { attributes: attributes.clone(), mask })
}

/// Number of levels of a question.
pub(super) fn level_count(cx: &Analysis, question: QuestionId) -> Result<usize, ProjectError> {
    Ok(cx.context.index().with_levels(question)?.scale.len())
}

/// True if levels are ordered and have distances.
pub(super) fn is_ordinal(cx: &Analysis, question: QuestionId) -> Result<bool, ProjectError> {
    let index = cx.context.index();
    let question = index.with_levels(question)?;
    Ok(question.scale.target().has_distances())
}

/// The texts that match the query; `None` for all.
pub(super) fn texts_shown(
    cx: &Analysis,
    query: &DisagreementQuery,
    mask: &[bool],
) -> Result<Option<HashSet<TextId>>, ProjectError> {
    let search = query.search.as_deref().map(str::trim).filter(|search| !search.is_empty());
    let found = search.map(|search| cx.context.store.search_texts(search)).transpose()?;
    let found: Option<HashSet<TextId>> = found.map(|texts| texts.into_iter().collect());
    if !query.labelled_only {
        return Ok(found);
    }
    let labels = cx.context.store.current_labels(query.question)?;
    let index = cx.context.index();
    let chosen =
        |annotator| index.annotator_row(annotator).is_some_and(|row| mask.get(row as usize) == Some(&true));
    let labelled = labels.iter().filter(|label| chosen(label.annotator)).map(|label| label.text);
    Ok(Some(labelled.filter(|text| found.as_ref().is_none_or(|found| found.contains(text))).collect()))
}

/// The measures and the mean distribution of a text over some annotators.
pub(super) fn among(fitted: &Fitted, text: u32, over: &Over) -> (DisagreementScores, Vec<f32>) {
    let model = &fitted.model;
    let (at, mask) = (text as usize, over.mask());
    let found = match mask {
        None => model.disagreement(text),
        Some(_) => disagreement_of_texts(model, at..at + 1, mask, model.is_ordinal()).swap_remove(0),
    };
    let panel = model.panel_distribution(text, mask);
    let agreement = if model.is_ordinal() { van_der_eijk(&panel) } else { None };
    let interval = |by: Measure, estimate: f32| {
        model.interval(text, by, mask, estimate, None).unwrap_or((estimate, estimate))
    };
    let people = mask.map_or(model.annotators(), |mask| mask.iter().filter(|chosen| **chosen).count());
    let most = |by: Measure| largest(by, people, model.levels());
    let between = model.between(text, mask);
    let scores = DisagreementScores {
        pairwise: found.pairwise,
        pairwise_interval: interval(Measure::Pairwise, found.pairwise),
        pairwise_maximum: most(Measure::Pairwise),
        split: found.split,
        split_interval: interval(Measure::Split, found.split),
        far_apart: found.far_apart,
        far_apart_maximum: found.far_apart.map(|_| most(Measure::FarApart)),
        mean_level: found.mean_level,
        agreement: agreement.map(|a| a as f32),
        between,
        divergence: found.divergence,
        uncertainty: found.uncertainty,
        level_variance: found.level_variance,
    };
    (scores, mean_prediction(fitted, text, over))
}

fn mean_prediction(fitted: &Fitted, text: u32, over: &Over) -> Vec<f32> {
    let model = &fitted.model;
    let Some(mask) = over.mask() else { return model.mean_distribution(text) };
    let levels = model.levels();
    let mut mean = vec![0.0; levels];
    let row = model.row(text);
    let chosen = row.chunks_exact(levels).zip(mask).filter(|(_, chosen)| **chosen);
    let count = chosen.clone().count().max(1) as f32;
    chosen.for_each(|(p, _)| mean.iter_mut().zip(p).for_each(|(sum, p)| *sum += p / count));
    mean
}

pub(super) fn no_such_attribute(annotators: &[Annotator], asked: &Attributes) -> ProjectError {
    let has = |name: &str, value: &str| {
        annotators.iter().any(|a| a.attributes.get(name).is_some_and(|v| v == value))
    };
    let pair = asked.iter().find(|(name, value)| !has(name, value)).or_else(|| asked.iter().next());
    let (name, value) = pair.map(|(name, value)| (name.clone(), value.clone())).unwrap_or_default();
    let list = |values: Vec<&str>| {
        let mut values = values;
        values.sort_unstable();
        values.dedup();
        values.join(", ")
    };
    let values =
        list(annotators.iter().filter_map(|a| a.attributes.get(&name)).map(String::as_str).collect());
    let names = list(annotators.iter().flat_map(|a| a.attributes.keys()).map(String::as_str).collect());
    let hint = match (values.is_empty(), names.is_empty()) {
        (false, _) => format!(" together with the rest; {name} is one of {values}"),
        (true, false) => format!("; the attributes are {names}"),
        (true, true) => "; no attributes are known".to_owned(),
    };
    ProjectError::from(AnalysisError::NoSuchAttribute { name, value, hint })
}
