//! Prior means of annotators' random effects from their attributes.

use dissensus_stats::math::axpy;
use serde::{Deserialize, Serialize};

/// Effects of attribute values on random effects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AttributeEffects {
    /// First column of each attribute's values, followed by the total number of columns.
    pub(super) starts: Vec<usize>,
    /// Share of annotators who have each value.
    pub(super) centre: Vec<f64>,
    /// values x random effects.
    pub(super) effects: Vec<f64>,
}

impl AttributeEffects {
    /// Expected random effects of an annotator with these values (one entry per attribute); unknown values
    /// contribute nothing.
    pub(crate) fn mean(&self, values: &[Option<u16>], random_effects: usize) -> Vec<f64> {
        let mut mean = vec![0.0; random_effects];
        for (range, value) in self.starts.windows(2).zip(values) {
            let Some(value) = value else { continue };
            for at in range[0]..range[1] {
                let z = f64::from(u8::from(at - range[0] == usize::from(*value))) - self.centre[at];
                axpy(z, &self.effects[at * random_effects..(at + 1) * random_effects], &mut mean);
            }
        }
        mean
    }

    /// Whether the sizes are consistent.
    pub(crate) fn fits(&self, random_effects: usize) -> bool {
        let values = self.starts.last().copied().unwrap_or(0);
        self.centre.len() == values
            && self.effects.len() == values * random_effects
            && self.starts.windows(2).all(|w| w[0] <= w[1])
    }
}
