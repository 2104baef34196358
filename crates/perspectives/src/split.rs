//! Which texts teach and which are scored.

use crate::PerspectivesError;
use crate::folds::generator;
use dissensus_domain::Split;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// How texts are divided. Labels of scored texts are never seen by a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitSpec {
    /// A seeded share of the texts (0..1) teaches, the rest is scored.
    ByText(f64),
    /// The official assignment, one entry per text: `train` teaches, `test` is scored; everything else stays out.
    Assigned(Vec<Option<Split>>),
}

impl SplitSpec {
    /// Reads `by-text:SHARE`.
    ///
    /// # Errors
    /// [`PerspectivesError::UnknownName`] or [`PerspectivesError::Share`].
    pub fn by_text_from(name: &str) -> Result<Self, PerspectivesError> {
        let unknown = || PerspectivesError::UnknownName {
            what: "split",
            name: name.to_owned(),
            known: "by-text:SHARE (for example by-text:0.7) or column",
        };
        let share =
            name.strip_prefix("by-text:").ok_or_else(unknown)?.parse::<f64>().map_err(|_| unknown())?;
        if share > 0.0 && share < 1.0 {
            Ok(Self::ByText(share))
        } else {
            Err(PerspectivesError::Share(share))
        }
    }

    /// The name in results.
    pub fn name(&self) -> String {
        match self {
            Self::ByText(share) => format!("by-text:{share}"),
            Self::Assigned(_) => "column".to_owned(),
        }
    }

    /// (teaches, scored) for every text. By text: a ChaCha8 shuffle of the indices under `seed`, of which the first
    /// `round(share * texts)` teach, at least one and at most all but one.
    ///
    /// # Errors
    /// [`PerspectivesError::Share`], or [`PerspectivesError::Length`] if an assignment has another length.
    pub fn assign(&self, texts: usize, seed: u64) -> Result<(Vec<bool>, Vec<bool>), PerspectivesError> {
        match self {
            Self::ByText(share) => {
                if !(*share > 0.0 && *share < 1.0) {
                    return Err(PerspectivesError::Share(*share));
                }
                let mut order: Vec<usize> = (0..texts).collect();
                order.shuffle(&mut generator(seed, 0));
                let many = ((share * texts as f64).round() as usize)
                    .clamp(1.min(texts), texts.saturating_sub(1).max(1));
                let mut train = vec![false; texts];
                order.iter().take(many).for_each(|&t| train[t] = true);
                let score = train.iter().map(|t| !t).collect();
                Ok((train, score))
            }
            Self::Assigned(parts) => {
                if parts.len() != texts {
                    return Err(PerspectivesError::Length {
                        what: "the split",
                        expected: texts,
                        found: parts.len(),
                    });
                }
                let is = |part: Split| parts.iter().map(|p| *p == Some(part)).collect();
                Ok((is(Split::Train), is(Split::Test)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_seeded_and_complete() {
        let split = SplitSpec::by_text_from("by-text:0.7").unwrap();
        let (train, score) = split.assign(10, 3).unwrap();
        assert_eq!(train.iter().filter(|t| **t).count(), 7);
        assert!(train.iter().zip(&score).all(|(a, b)| a != b));
        assert_eq!(split.assign(10, 3).unwrap().0, train);
        assert!((0..20).any(|seed| split.assign(10, seed).unwrap().0 != train));
    }

    #[test]
    fn refuses_what_splits_nothing() {
        assert_eq!(SplitSpec::by_text_from("by-text:1"), Err(PerspectivesError::Share(1.0)));
        assert!(SplitSpec::by_text_from("random").is_err());
        assert!(SplitSpec::Assigned(vec![None]).assign(2, 0).is_err());
    }

    #[test]
    fn validation_texts_stay_out() {
        let spec =
            SplitSpec::Assigned(vec![Some(Split::Train), Some(Split::Validation), Some(Split::Test), None]);
        let (train, score) = spec.assign(4, 0).unwrap();
        assert_eq!(train, [true, false, false, false]);
        assert_eq!(score, [false, false, true, false]);
    }
}
