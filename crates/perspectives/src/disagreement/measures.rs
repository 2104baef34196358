//! The measures of a text, and texts ranked by them.

use crate::data::{PerspectivesError, value_named};
use serde::{Deserialize, Serialize};

/// The measures of one text over the chosen annotators. Zeros with fewer than two annotators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Disagreement {
    /// Chance that two different annotators drawn at random give different levels, 0..1:
    /// `1 - (sum_c (sum_a p_ac)^2 - sum_a sum_c p_ac^2) / (A (A - 1))`, where a model is uncertain about the text's own score,
    /// averaged over that uncertainty: two annotators read the same text, so what is unknown about it does not set them
    /// apart. Without the average, a text without a label seems to divide annotators more than it does.
    pub pairwise: f32,
    /// Jensen-Shannon divergence between annotators, in bits: `H(mean_a p_a) - mean_a H(p_a)` (Lin 1991, eq. 5.1 with
    /// equal weights). The part that lies *between* annotators.
    pub divergence: f32,
    /// `mean_a H(p_a)` in bits: how unsure the model is about each annotator.
    pub uncertainty: f32,
    /// Ordinal scales: variance between annotators' expected levels (levels counted 0, 1, ...), divided by A.
    pub level_variance: Option<f32>,
}

/// By which measure texts are ranked.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr, strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Measure {
    /// [`Disagreement::pairwise`], the headline.
    Pairwise,
    /// [`Disagreement::divergence`].
    Divergence,
    /// [`Disagreement::uncertainty`].
    Uncertainty,
}

impl Measure {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// This measure of one text.
    pub fn of(self, d: &Disagreement) -> f32 {
        match self {
            Self::Pairwise => d.pairwise,
            Self::Divergence => d.divergence,
            Self::Uncertainty => d.uncertainty,
        }
    }
}

impl std::str::FromStr for Measure {
    type Err = PerspectivesError;

    fn from_str(name: &str) -> Result<Self, PerspectivesError> {
        value_named("measure", name)
    }
}

/// Text indices from the largest to the smallest value of `measure`; ties keep the order of the texts.
pub fn ranking(all: &[Disagreement], measure: Measure) -> Vec<u32> {
    let mut order: Vec<u32> = (0..all.len() as u32).collect();
    order.sort_by(|&a, &b| measure.of(&all[b as usize]).total_cmp(&measure.of(&all[a as usize])));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_largest_first_and_keeps_ties_in_order() {
        let d = |pairwise: f32| Disagreement { pairwise, ..Default::default() };
        assert_eq!(ranking(&[d(0.1), d(0.5), d(0.1), d(0.9)], Measure::Pairwise), [3, 1, 0, 2]);
    }

    #[test]
    fn measures_have_names() {
        for &m in <Measure as strum::VariantArray>::VARIANTS {
            assert_eq!(m.name().parse::<Measure>(), Ok(m));
        }
        assert!("variance".parse::<Measure>().is_err());
    }
}
