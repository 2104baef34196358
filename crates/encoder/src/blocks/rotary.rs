//! Rotary position embedding (Su et al. 2021, arXiv 2104.09864): pairs of components, one from each half of
//! a head, are rotated by an angle that grows with the token's position.

use candle_core::{Device, Result as CandleResult, Tensor};

use crate::ops::rotate;

/// Rotation of each pair of a head's components from one token to the next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RotaryRates(Vec<f64>);

impl RotaryRates {
    /// Computes `theta^(-2 m / head)` for the pairs m = 0, 1, ... of a head of `head` components.
    pub(crate) fn new(theta: f64, head: usize) -> Self {
        Self((0..head / 2).map(|m| theta.powf(-2.0 * m as f64 / head as f64)).collect())
    }

    /// Applies `change` to each rate.
    pub(crate) fn map(self, change: impl Fn(f64) -> f64) -> Self {
        Self(self.0.into_iter().map(change).collect())
    }
}

/// The angles of a batch's rows.
pub(crate) struct Rotary {
    /// `[rows, head / 2]`
    cosines: Tensor,
    /// `[rows, head / 2]`
    sines: Tensor,
}

impl Rotary {
    /// Computes the angles of rows at these positions in their texts.
    pub(crate) fn new(
        places: impl Iterator<Item = usize>,
        rates: &RotaryRates,
        device: &Device,
    ) -> CandleResult<Self> {
        let angles: Vec<f64> =
            places.flat_map(|place| rates.0.iter().map(move |rate| place as f64 * rate)).collect();
        let half = rates.0.len();
        let table = |of: fn(f64) -> f64| {
            let values: Vec<f32> = angles.iter().map(|angle| of(*angle) as f32).collect();
            Tensor::from_vec(values, (angles.len() / half.max(1), half), device)
        };
        Ok(Self { cosines: table(f64::cos)?, sines: table(f64::sin)? })
    }

    /// Rotates the first `heads` heads of `[rows, width]`: queries and keys, which precede the values.
    pub(crate) fn apply(&self, stacked: &Tensor, heads: usize) -> CandleResult<Tensor> {
        rotate(stacked, &self.cosines, &self.sines, heads)
    }
}
