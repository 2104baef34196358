//! The nearest texts on which people agreed.

use super::Analysis;
use super::near_texts::{NearRow, by_similarity, near_texts};
use dissensus_api::NearText;
use dissensus_domain::{QuestionId, TargetKind, TextId};
use dissensus_models::live::LiveModel;
use dissensus_project::error::ProjectError;
use dissensus_stats::data::{AnnotatorModel as _, Target};
use dissensus_training::live::{differing_labels, split_of_labels};

/// Number of texts listed.
const NEAR: usize = 5;
/// Labels agree if their split, relative to the maximum for as many people, is at most this.
const AGREED: f32 = 0.1;

/// The nearest texts on which people agreed: two labels or more, split 0.1 or less of its maximum. Empty
/// without an encoder or a live model.
///
/// # Errors
/// No such question or text, or the file cannot be read.
pub fn nearest(cx: &Analysis, question: QuestionId, text: TextId) -> Result<Vec<NearText>, ProjectError> {
    let index = cx.context.index();
    let question = index.with_levels(question)?.clone();
    let row = index.text_row(text).ok_or_else(|| ProjectError::NoSuchText(text.0.to_string()))?;
    let (embeddings, _) = cx.encoding.embeddings()?;
    let at = row as usize;
    let x = embeddings.rows.get(at * embeddings.dim..(at + 1) * embeddings.dim).unwrap_or_default();
    let others = (0..embeddings.texts as u32).filter(|other| *other != row);
    let near = by_similarity(&embeddings, x, others);
    let kind = question.scale.target();
    let found = cx.live.with(&question, |fitted| nearest_agreed(&fitted.model, kind, &near))?;
    near_texts(cx, &question.scale, &found.unwrap_or_default())
}

/// The first of `near` (rows with their cosine, the nearest first) on which people agreed.
pub(super) fn nearest_agreed(model: &LiveModel, kind: TargetKind, near: &[(u32, f32)]) -> Vec<NearRow> {
    let known = near.iter().filter(|(row, _)| (*row as usize) < model.texts());
    let agreed = known.filter_map(|&(row, cosine)| {
        let mut counts = vec![0u32; model.levels()];
        model.labels_of_text(row).for_each(|(_, level)| counts[usize::from(level)] += 1);
        let (level, labels) = agreement(kind, &counts)?;
        Some((row, cosine, level, labels))
    });
    agreed.take(NEAR).collect()
}

/// The level that people agree on and the number of people, by their labels counted by level; `None` if they
/// do not agree, or there are fewer than two. It is the median on scales with an order and distances,
/// otherwise the most frequent answer.
fn agreement(kind: TargetKind, counts: &[u32]) -> Option<(u16, u32)> {
    let labels: u32 = counts.iter().sum();
    let split = if kind.is_ordered() { split_of_labels(counts)? } else { differing_labels(counts)? };
    let shares: Vec<f32> = counts.iter().map(|count| *count as f32 / labels as f32).collect();
    (split <= AGREED).then(|| (Target { kind, levels: counts.len() }.answer(&shares), labels))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_is_found_where_labels_are_hardly_split() {
        assert_eq!(agreement(TargetKind::Ordinal, &[0, 1, 0]), None);
        assert_eq!(agreement(TargetKind::Ordinal, &[0, 0, 5, 1, 0]), Some((2, 6)));
        assert_eq!(agreement(TargetKind::Ordinal, &[5, 0, 0, 1, 3]), None);
        assert_eq!(agreement(TargetKind::Binary, &[0, 3]), Some((1, 3)));
        assert_eq!(agreement(TargetKind::Binary, &[1, 3]), None);
        // Levels without an order have no distance: next to each other is as far as from end to end.
        assert_eq!(agreement(TargetKind::Nominal, &[0, 0, 2, 2, 0]), None);
        assert_eq!(agreement(TargetKind::Nominal, &[0, 0, 4, 0, 0]), Some((2, 4)));
        assert_eq!(agreement(TargetKind::Nominal, &[0, 0, 0]), None);
    }
}
