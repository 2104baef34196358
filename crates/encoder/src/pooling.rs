//! Pooling of packed hidden states on the CPU: one embedding for each text.

use crate::options::Pooling;

/// Minimum norm for division, as in PyTorch's `normalize`.
pub(crate) const MIN_NORM: f64 = 1e-12;

/// Pools packed texts into embeddings. `states` is `[lengths.sum(), dim]`, row by row; every length is at
/// least 1.
pub(crate) fn pool(
    states: &[f32],
    lengths: &[usize],
    dim: usize,
    pooling: Pooling,
    normalised: bool,
) -> Vec<Vec<f32>> {
    let mut rest = states;
    lengths
        .iter()
        .map(|length| {
            let (text, after) = rest.split_at(length * dim);
            rest = after;
            let mut embedding = match pooling {
                Pooling::Mean | Pooling::Mean2 => mean(text, dim),
                Pooling::Max | Pooling::Max2 => largest(text, dim),
                Pooling::Cls | Pooling::Pooler => text[..dim].to_vec(),
                Pooling::Last => text[text.len() - dim..].to_vec(),
            };
            if normalised {
                normalise(&mut embedding);
            }
            embedding
        })
        .collect()
}

/// Combines the unscaled embeddings of windows into those of texts. `windows`: how many each text has, all
/// of one length, so that the mean over windows equals the mean over tokens.
pub(crate) fn join_windows(
    embeddings: Vec<Vec<f32>>,
    windows: &[usize],
    pooling: Pooling,
    normalised: bool,
) -> Vec<Vec<f32>> {
    let mut rest = embeddings.into_iter();
    let join = |count: &usize| {
        let mut own: Vec<Vec<f32>> = rest.by_ref().take(*count).collect();
        let mut embedding = match (own.len(), pooling) {
            (1, _) => own.swap_remove(0),
            (_, Pooling::Max | Pooling::Max2) => largest(&own.concat(), own[0].len()),
            _ => mean(&own.concat(), own[0].len()),
        };
        if normalised {
            normalise(&mut embedding);
        }
        embedding
    };
    windows.iter().map(join).collect()
}

fn mean(text: &[f32], dim: usize) -> Vec<f32> {
    let mut sum = vec![0.0f32; dim];
    for token in text.chunks_exact(dim) {
        for (s, v) in sum.iter_mut().zip(token) {
            *s += v;
        }
    }
    let tokens = (text.len() / dim) as f32;
    sum.iter_mut().for_each(|s| *s /= tokens);
    sum
}

fn largest(text: &[f32], dim: usize) -> Vec<f32> {
    let mut most = text[..dim].to_vec();
    for token in text[dim..].chunks_exact(dim) {
        for (m, v) in most.iter_mut().zip(token) {
            // NaN is retained so that it is reported: `max` would ignore it.
            if !(m.is_nan() || *v <= *m) {
                *m = *v;
            }
        }
    }
    most
}

fn normalise(embedding: &mut [f32]) {
    // In 64 bits: the squares of large components would overflow 32 bits, and division by infinity would
    // leave only zeros.
    let norm = embedding.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt().max(MIN_NORM);
    embedding.iter_mut().for_each(|v| *v = (f64::from(*v) / norm) as f32);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two texts of two and one tokens, dimension 2.
    const STATES: [f32; 6] = [1.0, -4.0, 3.0, -2.0, 5.0, 6.0];

    #[test]
    fn pooling_uses_only_the_tokens_of_a_text() {
        let pooled = |pooling| pool(&STATES, &[2, 1], 2, pooling, false);
        assert_eq!(pooled(Pooling::Mean), [[2.0, -3.0], [5.0, 6.0]]);
        assert_eq!(pooled(Pooling::Max), [[3.0, -2.0], [5.0, 6.0]]);
        assert_eq!(pooled(Pooling::Cls), [[1.0, -4.0], [5.0, 6.0]]);
        assert_eq!(pooled(Pooling::Last), [[3.0, -2.0], [5.0, 6.0]]);
    }

    #[test]
    fn pooling_propagates_nan() {
        for place in 0..3 {
            let mut states = [1.0, 2.0, 3.0];
            states[place] = f32::NAN;
            for pooling in [Pooling::Mean, Pooling::Max] {
                assert!(pool(&states, &[3], 1, pooling, false)[0][0].is_nan(), "{pooling} {place}");
            }
        }
    }

    #[test]
    fn large_components_are_normalised_too() {
        let unit = &pool(&[3e30, 4e30], &[1], 2, Pooling::Mean, true)[0];
        assert!((unit[0] - 0.6).abs() < 1e-6 && (unit[1] - 0.8).abs() < 1e-6, "{unit:?}");
    }

    #[test]
    fn zero_embedding_stays_zero_when_normalised() {
        assert_eq!(pool(&[0.0, 0.0], &[1], 2, Pooling::Mean, true), [[0.0, 0.0]]);
    }

    #[test]
    fn windows_are_joined_before_normalising() {
        let windows = || vec![vec![1.0, -4.0], vec![3.0, 12.0], vec![5.0, 6.0]];
        let joined = |pooling, normalised| join_windows(windows(), &[2, 1], pooling, normalised);
        assert_eq!(joined(Pooling::Mean, false), [[2.0, 4.0], [5.0, 6.0]]);
        assert_eq!(joined(Pooling::Cls, false), [[2.0, 4.0], [5.0, 6.0]]);
        assert_eq!(joined(Pooling::Max, false), [[3.0, 12.0], [5.0, 6.0]]);
        let unit = joined(Pooling::Mean, true);
        assert!((unit[0][0] - 0.2f32.sqrt()).abs() < 1e-6, "{unit:?}");
    }

    #[test]
    fn normalised_embeddings_have_length_one() {
        let unit = &pool(&[3.0, 4.0], &[1], 2, Pooling::Mean, true)[0];
        assert!((unit[0] - 0.6).abs() < 1e-6 && (unit[1] - 0.8).abs() < 1e-6);
    }
}
