//! Texts that are similar to another one, by the cosine of their embeddings.

use super::Analysis;
use super::snippet::snippet;
use dissensus_api::NearText;
use dissensus_domain::{Answer, Scale, TextId};
use dissensus_project::error::ProjectError;
use dissensus_stats::data::Embeddings;

/// A text without its words: row, cosine, level, labels.
pub(super) type NearRow = (u32, f32, u16, u32);

/// Rows of `candidates` and their cosine with `x`, the nearest first, among equals the lower row first.
/// Empty without embeddings. A row of zeros is near nothing.
pub(super) fn by_similarity(
    embeddings: &Embeddings,
    x: &[f32],
    candidates: impl Iterator<Item = u32>,
) -> Vec<(u32, f32)> {
    if embeddings.dim == 0 || x.len() != embeddings.dim {
        return Vec::new();
    }
    let cosine = |row: u32| {
        let other = embeddings.row(row as usize);
        let (mut product, mut own, mut others) = (0.0f32, 0.0f32, 0.0f32);
        for (a, b) in x.iter().zip(other) {
            product += a * b;
            own += a * a;
            others += b * b;
        }
        let length = (own * others).sqrt();
        if length > 0.0 { (product / length).clamp(-1.0, 1.0) } else { 0.0 }
    };
    let known = candidates.filter(|row| (*row as usize) < embeddings.texts);
    let mut near: Vec<(u32, f32)> = known.map(|row| (row, cosine(row))).collect();
    near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    near
}

/// The texts of these rows with their names and beginnings.
pub(super) fn near_texts(
    cx: &Analysis,
    scale: &Scale,
    rows: &[NearRow],
) -> Result<Vec<NearText>, ProjectError> {
    let mut texts = Vec::new();
    for &(row, similarity, level, labels) in rows {
        let (text, external_id, snippet) = named(cx, row)?;
        let Some(answer) = scale.id_at(level.into()).map(Answer::Level) else { continue };
        texts.push(NearText { text, external_id, snippet, similarity, answer, labels });
    }
    Ok(texts)
}

/// Id, name and beginning of the text of a row.
pub(super) fn named(cx: &Analysis, row: u32) -> Result<(TextId, String, String), ProjectError> {
    let id = cx.context.index().texts()[row as usize];
    let found = cx.context.store.text(id)?.ok_or_else(|| ProjectError::NoSuchText(id.0.to_string()))?;
    Ok((id, found.external_id, snippet(&found.body)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_text_is_by_direction_not_length() {
        let embeddings = Embeddings::new(2, vec![1.0, 0.0, 0.0, 3.0, 5.0, 5.0, 0.0, 0.0]).unwrap();
        let near = by_similarity(&embeddings, &[2.0, 1.9], 0..9);
        let rows: Vec<u32> = near.iter().map(|(row, _)| *row).collect();
        assert_eq!(rows, [2, 0, 1, 3]);
        assert!(near[0].1 > 0.999 && near[0].1 <= 1.0);
        assert_eq!(by_similarity(&Embeddings::none(3), &[], 0..3), []);
    }
}
