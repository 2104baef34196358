//! Serialisation of the scores of a live span model, so that words need not be encoded again.

use super::live::{LiveSpans, TextScores};
use super::own_effects::Population;
use dissensus_stats::data::ModelError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the format; increases when the meaning of the bytes changes.
const FORMAT: u16 = 2;
/// First bytes of the serialised form.
const MAGIC: [u8; 4] = *b"DSWS";

#[derive(Serialize)]
struct Out<'a> {
    variances: &'a [(Population, f64)],
    texts: &'a BTreeMap<u32, TextScores>,
}

#[derive(Deserialize)]
struct In {
    variances: Vec<(Population, f64)>,
    texts: BTreeMap<u32, TextScores>,
}

impl LiveSpans {
    /// Serialises scores and variances, without answers and the annotator effects learned from them.
    ///
    /// # Errors
    /// [`ModelError::Damaged`] if a number cannot be serialised, which is not known to happen.
    pub fn scores_to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        let body = postcard::to_allocvec(&Out { variances: &self.variances, texts: &self.texts })
            .map_err(|e| ModelError::Damaged(e.to_string()))?;
        Ok([&MAGIC[..], &FORMAT.to_le_bytes(), &body].concat())
    }

    /// Restores a model without answers from [`LiveSpans::scores_to_bytes`].
    ///
    /// # Errors
    /// [`ModelError::Damaged`] or [`ModelError::Format`].
    pub fn from_scores(bytes: &[u8]) -> Result<Self, ModelError> {
        let damaged = |why: &str| ModelError::Damaged(why.to_owned());
        let rest = bytes.strip_prefix(&MAGIC).ok_or_else(|| damaged("these are no scores of words"))?;
        let (format, body) = rest.split_first_chunk::<2>().ok_or_else(|| damaged("it ends too early"))?;
        let found = u16::from_le_bytes(*format);
        if found != FORMAT {
            return Err(ModelError::Format { found, known: FORMAT });
        }
        let In { variances, texts } = postcard::from_bytes(body).map_err(|e| damaged(&e.to_string()))?;
        let types = variances.len();
        let fits = |text: &TextScores| {
            text.scores.len() == text.weights.len() * types
                && text.scores.iter().chain(&text.weights).all(|number| number.is_finite())
        };
        if types == 0 || !texts.values().all(fits) {
            return Err(damaged("its scores are not one for each word and type"));
        }
        if variances.iter().any(|(between, of_words)| !(between.is_sound() && *of_words >= 0.0)) {
            return Err(damaged("a variance is no number from 0 on"));
        }
        Ok(Self {
            types,
            texts,
            variances,
            effects: BTreeMap::new(),
            answers: BTreeMap::new(),
            answered: BTreeMap::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spans::SpanAnswer;

    fn live() -> LiveSpans {
        let scored = |scores: &[f32], weights: &[f32]| TextScores {
            scores: scores.to_vec(),
            weights: weights.to_vec(),
        };
        LiveSpans {
            types: 2,
            texts: BTreeMap::from([
                (7, scored(&[-1.0, 0.5, 2.0, -0.25], &[1.0, 0.5])),
                (9, scored(&[], &[])),
            ]),
            effects: BTreeMap::new(),
            variances: vec![
                (Population { mean: [0.0, 0.1, 0.2], variances: [1.0, 0.1, 0.2], centre: -1.0 }, 0.25),
                (Population::of_readiness(0.5), 0.0),
            ],
            answers: BTreeMap::new(),
            answered: BTreeMap::new(),
        }
    }

    #[test]
    fn restored_model_predicts_the_same() {
        let mut before = live();
        let mut after = LiveSpans::from_scores(&before.scores_to_bytes().unwrap()).unwrap();
        for model in [&mut before, &mut after] {
            model.record(SpanAnswer { text: 7, annotator: 3, marks: vec![(1, 0b01)] });
        }
        assert_eq!(before.expected(7, &[3, 4]), after.expected(7, &[3, 4]));
        assert_eq!(before.expected(9, &[3, 4]).unwrap(), []);
        // Answers are not serialised with the scores.
        let again = LiveSpans::from_scores(&after.scores_to_bytes().unwrap()).unwrap();
        assert_eq!(again.answers(), 0);
        let known = again.effects(3);
        assert_eq!((known[0].mean, known[1].readiness()), ([0.0, 0.1, 0.2], (0.0, 0.5)));
    }

    #[test]
    fn invalid_bytes_are_an_error() {
        let good = live().scores_to_bytes().unwrap();
        for length in 0..good.len() {
            assert!(LiveSpans::from_scores(&good[..length]).is_err(), "cut to {length} bytes");
        }
        let mut later = good.clone();
        later[4] = 9;
        assert!(matches!(
            LiveSpans::from_scores(&later),
            Err(ModelError::Format { found: 9, known: FORMAT })
        ));
        let mut fewer = live();
        fewer.texts.insert(8, TextScores { scores: vec![0.0], weights: vec![1.0] });
        let mut endless = live();
        endless.texts.insert(8, TextScores { scores: vec![f32::NAN, 0.0], weights: vec![1.0] });
        let mut negative = live();
        negative.variances[0].0.variances[0] = -1.0;
        for bad in [fewer, endless, negative] {
            assert!(LiveSpans::from_scores(&bad.scores_to_bytes().unwrap()).is_err());
        }
    }
}
