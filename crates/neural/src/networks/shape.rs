//! Data properties that determine a network's shape: sizes, attributes of the annotators, scaling of the
//! embeddings.

use candle_core::{Result, Tensor};
use dissensus_stats::data::{Attribute, Target};
use serde::{Deserialize, Serialize};

/// Data properties that determine a network's shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub(crate) dim: usize,
    pub(crate) target: Target,
    pub(crate) annotators: usize,
    /// Which annotators have training labels; the others are treated as new.
    pub(crate) seen: Vec<bool>,
    pub(crate) one_hot: OneHot,
    pub(crate) scaler: Scaler,
}

/// Annotators' attributes, one-hot; a row of zeros if nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct OneHot {
    pub(crate) width: usize,
    /// annotators x width.
    rows: Vec<f32>,
    /// Number of values of each attribute; missing in networks saved before this field existed.
    #[serde(default)]
    values: Vec<usize>,
}

impl OneHot {
    pub(crate) fn new(attributes: &[Attribute], annotators: usize) -> Self {
        let width = attributes.iter().map(|a| a.values.len()).sum();
        let mut rows = vec![0.0; annotators * width];
        let mut first = 0;
        for attribute in attributes {
            for (annotator, value) in attribute.of.iter().enumerate() {
                if let Some(value) = value {
                    rows[annotator * width + first + usize::from(*value)] = 1.0;
                }
            }
            first += attribute.values.len();
        }
        Self { width, rows, values: attributes.iter().map(|a| a.values.len()).collect() }
    }

    /// The row of a person who is not among the annotators, from attribute values.
    pub(super) fn of_values(&self, attributes: &[Option<u16>]) -> Vec<f32> {
        let mut row = vec![0.0; self.width];
        let mut first = 0;
        for (many, value) in self.values.iter().zip(attributes) {
            if let Some(value) = value.map(usize::from).filter(|value| value < many) {
                row[first + value] = 1.0;
            }
            first += many;
        }
        row
    }

    pub(crate) fn fits(&self, annotators: usize) -> bool {
        self.rows.len() == annotators * self.width
    }

    pub(super) fn row(&self, annotator: Option<u32>) -> Option<&[f32]> {
        let at = annotator? as usize * self.width;
        self.rows.get(at..at + self.width)
    }
}

/// Centres embeddings and scales them to a mean square of 1: a learning rate then means the same for
/// embeddings of length 1 and for raw ones. One factor for all columns preserves the geometry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scaler {
    pub(crate) mean: Vec<f32>,
    pub(crate) factor: f32,
}

impl Scaler {
    /// Computes the scaler of these rows, each of `dim` numbers.
    pub(crate) fn new<'a>(dim: usize, rows: impl Iterator<Item = &'a [f32]> + Clone) -> Self {
        let many = rows.clone().count().max(1) as f64;
        let mut mean = vec![0.0f64; dim];
        for row in rows.clone() {
            mean.iter_mut().zip(row).for_each(|(m, x)| *m += f64::from(*x) / many);
        }
        let square: f64 = rows
            .map(|row| row.iter().zip(&mean).map(|(x, m)| (f64::from(*x) - m).powi(2)).sum::<f64>())
            .sum::<f64>()
            / (many * dim.max(1) as f64);
        let factor = if square > 1e-12 { square.sqrt().recip() } else { 1.0 };
        Self { mean: mean.iter().map(|m| *m as f32).collect(), factor: factor as f32 }
    }

    pub(crate) fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let mean = Tensor::from_slice(&self.mean, self.mean.len(), x.device())?;
        x.broadcast_sub(&mean)? * f64::from(self.factor)
    }
}
