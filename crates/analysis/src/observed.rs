//! Labels that people gave: how many, by whom, and how far they differ.

use super::Analysis;
use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use dissensus_project::error::ProjectError;
use dissensus_training::live::{differing_labels, split_of_labels};
use std::collections::HashMap;

/// How often each level was given, and who gave which, by its position on the scale.
type CountedLabels = (Vec<u32>, Vec<(AnnotatorId, u16)>);

/// Number of labels that each annotator's model is based on; only annotators with a label are included.
pub(super) fn labels_given(
    cx: &Analysis,
    question: QuestionId,
) -> Result<HashMap<AnnotatorId, u32>, ProjectError> {
    let counts =
        cx.context.store.annotator_counts()?.into_iter().filter(|count| count.question == question.row());
    Ok(counts.map(|count| (count.annotator, count.labels)).collect())
}

/// How often the chosen annotators gave each level to a text, and who gave which.
pub(super) fn count_observed(
    cx: &Analysis,
    question: QuestionId,
    text: TextId,
    mask: &[bool],
    levels: usize,
) -> Result<CountedLabels, ProjectError> {
    let mut counts = vec![0; levels];
    let mut given = Vec::new();
    let labels = cx.context.store.current_labels_on(text, question)?;
    let index = cx.context.index();
    let scale = &index.with_levels(question)?.scale;
    for label in labels {
        let chosen =
            index.annotator_row(label.annotator).is_some_and(|row| mask.get(row as usize) == Some(&true));
        let level = scale.index_of_answer(&label.answer).filter(|_| chosen);
        if let Some((level, count)) =
            level.and_then(|level| Some((level, counts.get_mut(usize::from(level))?)))
        {
            *count += 1;
            given.push((label.annotator, level));
        }
    }
    Ok((counts, given))
}

/// How split these labels are, without predictions.
pub(super) fn observed_split(
    cx: &Analysis,
    question: QuestionId,
    counts: &[u32],
) -> Result<Option<f32>, ProjectError> {
    let index = cx.context.index();
    let scale = &index.with_levels(question)?.scale;
    if scale.target().has_distances() {
        return Ok(split_of_labels(counts));
    }
    Ok(differing_labels(counts))
}

/// The probability that two of these labels differ; needs two.
pub(super) fn observed_pairwise(counts: &[u32]) -> Option<f32> {
    let all: u32 = counts.iter().sum();
    if all < 2 {
        return None;
    }
    let pairs = |n: u32| f64::from(n) * (f64::from(n) - 1.0);
    let same: f64 = counts.iter().map(|count| pairs(*count)).sum();
    Some((1.0 - same / pairs(all)) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observed_disagreement_is_the_share_of_differing_pairs() {
        assert_eq!(observed_pairwise(&[1, 0]), None);
        assert_eq!(observed_pairwise(&[2, 0]), Some(0.0));
        assert_eq!(observed_pairwise(&[1, 1]), Some(1.0));
        assert!((observed_pairwise(&[2, 2]).unwrap() - 4.0 / 6.0).abs() < 1e-6);
    }
}
