//! Ranks texts by the disagreement of their labels, while there is no model.

use super::Analysis;
use super::border::border_of_labels;
use super::label_weight::BY_LABELS;
use super::needs::enough;
use super::observed::{count_observed, labels_given, observed_pairwise, observed_split};
use super::snippet::snippet;
use crate::chosen;
use dissensus_api::{DisagreementMeasure, DisagreementQuery, DisagreementRow, Ranking};
use dissensus_domain::{QuestionId, TextId};
use dissensus_project::error::ProjectError;
use dissensus_training::live::form_camps;

/// The labels of one text.
struct Labelled {
    row: u32,
    text: TextId,
    labels: u32,
    mean: f32,
    split: f32,
}

/// All texts with two labels or more by the chosen people, the furthest apart first, among equals those
/// with more labels first; `None` if the query needs a model, or no text has two labels.
pub(super) fn ranking_by_labels(
    cx: &Analysis,
    query: &DisagreementQuery,
    mask: &[bool],
) -> Result<Option<Ranking>, ProjectError> {
    if !ranked_by_labels(query.by) {
        return Ok(None);
    }
    let index = cx.context.index();
    let scale = &index.with_levels(query.question)?.scale;
    let levels = scale.len();
    let shown = chosen::texts_shown(cx, query, mask)?;
    let labels = cx.context.store.current_labels(query.question)?;
    let mut found = Vec::new();
    for of_text in labels.chunk_by(|a, b| a.text == b.text) {
        let text = of_text[0].text;
        let Some(row) = index.text_row(text) else { continue };
        if shown.as_ref().is_some_and(|shown| !shown.contains(&text)) {
            continue;
        }
        let mut counts = vec![0; levels];
        for label in of_text {
            let chosen =
                index.annotator_row(label.annotator).and_then(|row| mask.get(row as usize)) == Some(&true);
            let level = scale.index_of_answer(&label.answer).filter(|_| chosen);
            if let Some(count) = level.and_then(|level| counts.get_mut(usize::from(level))) {
                *count += 1;
            }
        }
        let Some(split) = observed_split(cx, query.question, &counts)? else { continue };
        let labels: u32 = counts.iter().sum();
        let sum: f32 = (0u16..).zip(&counts).map(|(level, count)| f32::from(level) * *count as f32).sum();
        found.push(Labelled { row, text, labels, mean: sum / labels as f32, split });
    }
    if found.is_empty() {
        return Ok(None);
    }
    found.sort_by(|a, b| b.split.total_cmp(&a.split).then(b.labels.cmp(&a.labels)).then(a.row.cmp(&b.row)));
    let ordinal = chosen::is_ordinal(cx, query.question)?;
    let of = |value: fn(&Labelled) -> f32| found.iter().map(value).collect::<Vec<f32>>();
    let (means, splits) =
        if ordinal { (of(|one| one.mean), of(|one| one.split)) } else { (Vec::new(), Vec::new()) };
    let nothing = empty_ranking(cx, query.question, mask, None)?;
    Ok(Some(Ranking {
        texts: found.iter().map(|one| one.text).collect(),
        values: of(|one| one.split),
        observed_means: means,
        observed_splits: splits,
        labels: found.iter().map(|one| one.labels).collect(),
        needs: enough(found.len(), query.by),
        basis: Some(BY_LABELS.to_owned()),
        by_labels: true,
        ..nothing
    }))
}

/// The result if nothing can be ranked.
pub(super) fn empty_ranking(
    cx: &Analysis,
    question: QuestionId,
    mask: &[bool],
    remark: Option<String>,
) -> Result<Ranking, ProjectError> {
    let labels = labels_given(cx, question)?;
    let index = cx.context.index();
    let chosen = index.annotators().iter().zip(mask).filter(|(_, chosen)| **chosen);
    let without = chosen.clone().filter(|(annotator, _)| !labels.contains_key(&annotator.id)).count();
    Ok(Ranking {
        revision: cx.live.models.revision(),
        annotators: chosen.count() as u32,
        annotators_without_labels: without as u32,
        remark,
        ..Ranking::default()
    })
}

/// Rows for these texts, with the figures that follow from their labels.
pub(super) fn rows_by_labels(
    cx: &Analysis,
    query: &DisagreementQuery,
    texts: &[TextId],
    mask: &[bool],
) -> Result<Vec<DisagreementRow>, ProjectError> {
    let levels = chosen::level_count(cx, query.question)?;
    if !ranked_by_labels(query.by) {
        return Ok(Vec::new());
    }
    let ordinal = chosen::is_ordinal(cx, query.question)?;
    let mut rows = Vec::with_capacity(texts.len());
    for id in texts {
        let Some(text) = cx.context.store.text(*id)? else { continue };
        let (observed, _) = count_observed(cx, query.question, *id, mask, levels)?;
        let split = observed_split(cx, query.question, &observed)?;
        rows.push(DisagreementRow {
            text: *id,
            external_id: text.external_id,
            snippet: snippet(&text.body),
            distribution: Vec::new(),
            scores: None,
            value: split.unwrap_or(f32::NAN),
            interval: None,
            rank: 0,
            band: (0, 0),
            who: None,
            severity: None,
            border: if ordinal { border_of_labels(&observed) } else { None },
            two_camps: ordinal && form_camps(&observed),
            who_above: None,
            sides: None,
            compared: 0,
            observed_split: split,
            observed_pairwise: observed_pairwise(&observed),
            observed,
        });
    }
    Ok(rows)
}

fn ranked_by_labels(by: DisagreementMeasure) -> bool {
    matches!(by, DisagreementMeasure::Combined | DisagreementMeasure::Labels)
}
