//! Cosine similarity between two engines' embeddings of the same texts.

use crate::error::BenchError;
use std::path::Path;

/// Cosines over all texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Closeness {
    pub(super) worst: f64,
    pub(super) mean: f64,
}

/// Reads the floats of a file of embeddings.
pub(super) fn rows(path: &Path) -> Result<Vec<f32>, BenchError> {
    let bytes = std::fs::read(path).map_err(BenchError::io("reading", path))?;
    let (values, _) = bytes.as_chunks::<4>();
    Ok(values.iter().map(|value| f32::from_le_bytes(*value)).collect())
}

/// Compares `texts` rows of both; `None` if their shapes differ. A row without a cosine (zero or not finite)
/// counts as -1, the worst possible value.
pub(super) fn closeness(found: &[f32], expected: &[f32], texts: usize) -> Option<Closeness> {
    let dim = expected.len().checked_div(texts)?;
    if dim == 0 || found.len() != expected.len() || dim * texts != expected.len() {
        return None;
    }
    let cosines = found.chunks(dim).zip(expected.chunks(dim)).map(|(a, b)| cosine(a, b));
    let (worst, sum) = cosines.fold((1.0, 0.0), |(worst, sum), cosine| (cosine.min(worst), sum + cosine));
    Some(Closeness { worst, mean: sum / texts as f64 })
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot =
        |x: &[f32], y: &[f32]| -> f64 { x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum() };
    let cosine = dot(a, b) / (dot(a, a) * dot(b, b)).sqrt();
    if cosine.is_finite() { cosine.min(1.0) } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worst_and_mean_similarity_are_over_texts() {
        let expected = [1.0, 0.0, 0.0, 2.0];
        let found = closeness(&[3.0, 0.0, 3.0, 4.0], &expected, 2).unwrap();
        assert!((found.worst - 0.8).abs() < 1e-12 && (found.mean - 0.9).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn zero_vector_is_the_worst_match() {
        for bad in [[f32::NAN, 1.0], [0.0, 0.0]] {
            assert_eq!(closeness(&bad, &[1.0, 0.0], 1).unwrap().worst, -1.0);
        }
    }

    #[test]
    fn different_shapes_are_not_compared() {
        assert_eq!(closeness(&[1.0], &[1.0, 0.0], 1), None);
        assert_eq!(closeness(&[1.0, 0.0, 0.0], &[1.0, 0.0, 0.0], 2), None);
        assert_eq!(closeness(&[], &[], 0), None);
    }
}
