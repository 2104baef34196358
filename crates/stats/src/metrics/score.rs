//! A model's probabilities of given labels: the input of all metrics.

use super::scored::Scored;
use crate::data::{AnnotatorModel, Observation};

/// A model's probabilities of `observations`, ordered by text, then annotator.
pub fn score(model: &dyn AnnotatorModel, observations: &[Observation]) -> Scored {
    let levels = model.levels();
    let mut observations = observations.to_vec();
    observations.sort_unstable();
    let mut probabilities = vec![0.0; observations.len() * levels];
    let pairs: Vec<(u32, u32)> = observations.iter().map(|o| (o.text, o.annotator)).collect();
    model.predict_pairs(&pairs, &mut probabilities);
    Scored { observations, probabilities, levels, tuned: None }
}

/// The same labels and predictions as "below `level`" (0) and "at least `level`" (1), without the answers
/// tuned for all levels.
pub fn dichotomize(scored: &Scored, level: u16) -> Scored {
    let observations = scored
        .observations
        .iter()
        .map(|o| Observation { level: u16::from(o.level >= level), ..*o })
        .collect();
    let probabilities = scored
        .probabilities
        .chunks_exact(scored.levels)
        .flat_map(|p| {
            let above: f32 = p[usize::from(level)..].iter().sum();
            [1.0 - above.min(1.0), above.min(1.0)]
        })
        .collect();
    Scored { observations, probabilities, levels: 2, tuned: None }
}
