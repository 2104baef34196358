//! Measures over the annotators that somebody chose by their attributes.

use super::Analysis;
use crate::error::WorkbenchError;
use crate::live::Fitted;
use crate::view::DisagreementScores;
use dissensus_domain::{Annotator, Attributes, QuestionId, ScaleKind};
use dissensus_perspectives::{AnnotatorModel, Disagreement, disagreement_of_texts};

impl Analysis {
    /// Which annotators have all of these attributes.
    pub(super) fn mask(&self, attributes: &Attributes) -> Result<Vec<bool>, WorkbenchError> {
        let index = self.context.index();
        let has =
            |a: &Annotator| attributes.iter().all(|(name, value)| a.attributes.get(name) == Some(value));
        let mask: Vec<bool> = index.annotators().iter().map(has).collect();
        if !attributes.is_empty() && !mask.contains(&true) {
            return Err(no_such_attribute(index.annotators(), attributes));
        }
        Ok(mask)
    }

    /// How many levels a question has.
    pub(super) fn levels(&self, question: QuestionId) -> Result<usize, WorkbenchError> {
        self.context.index().question(question).map(|q| q.scale.len()).ok_or(WorkbenchError::NoQuestion)
    }
}

/// The measures and the mean distribution of a text over the annotators of `mask` (all of them, if `everyone`).
pub(super) fn among(
    fitted: &Fitted,
    text: u32,
    mask: &[bool],
    everyone: bool,
) -> (DisagreementScores, Vec<f32>) {
    let model = &fitted.model;
    if everyone {
        let interval = model.interval(text);
        return (scores(&model.disagreement(text), interval), model.mean_distribution(text));
    }
    let mask = fit_mask(mask, model.annotators());
    let ordinal = model.target().kind == ScaleKind::Ordinal;
    let at = text as usize;
    let found = disagreement_of_texts(model, at..at + 1, Some(&mask), ordinal).swap_remove(0);
    let interval = model.interval_of_annotators(text, &mask, found.pairwise);
    let levels = model.levels();
    let mut mean = vec![0.0; levels];
    let row = model.row(text);
    let chosen = row.chunks_exact(levels).zip(&mask).filter(|(_, chosen)| **chosen);
    let count = chosen.clone().count().max(1) as f32;
    chosen.for_each(|(p, _)| mean.iter_mut().zip(p).for_each(|(sum, p)| *sum += p / count));
    (scores(&found, interval), mean)
}

/// The mask for a model that knows `annotators` people; people it does not know yet are not in it.
pub(super) fn fit_mask(mask: &[bool], annotators: usize) -> Vec<bool> {
    (0..annotators).map(|row| mask.get(row) == Some(&true)).collect()
}

fn scores(found: &Disagreement, interval: (f32, f32)) -> DisagreementScores {
    DisagreementScores {
        pairwise: found.pairwise,
        pairwise_interval: interval,
        divergence: found.divergence,
        uncertainty: found.uncertainty,
        level_variance: found.level_variance,
    }
}

fn no_such_attribute(annotators: &[Annotator], asked: &Attributes) -> WorkbenchError {
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
    WorkbenchError::NoSuchAttribute { name, value, hint }
}
