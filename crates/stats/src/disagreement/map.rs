//! A map of annotators: nearby points have similar predicted labels.

use crate::data::AnnotatorModel;
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Number of texts on which annotators are compared.
const TEXTS: usize = 384;
/// Number of annotators whose differences define the axes; all others are projected on these axes.
const LANDMARKS: usize = 2000;

/// Positions of annotators on a map.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnnotatorMap {
    /// One point per annotator; distances are root mean squared differences of predictions over texts.
    pub points: Vec<[f32; 2]>,
    /// Share of the variance between annotators that each axis explains, 0..1; zeros where all are identical.
    pub explained: [f64; 2],
}

/// Places all annotators of `model`. Each is described by the predictions for an even sample of texts: the
/// expected level over the number of steps (`ordered`), or the probability of every level. The axes are the
/// first two principal axes of these descriptions (Pearson 1901), which is classical scaling of their
/// Euclidean distances (Torgerson 1952). The signs are fixed: annotators further right expect higher levels
/// (or more of the last one) on average.
pub fn annotator_map(model: &dyn AnnotatorModel, ordered: bool) -> AnnotatorMap {
    let annotators = model.annotators();
    // Choice scales describe an annotator by one number per level: fewer texts limit the length of the
    // description.
    let many = if ordered { TEXTS } else { (2 * TEXTS / model.levels()).clamp(16, TEXTS) };
    let texts = sample(model.texts(), many);
    if annotators == 0 || texts.is_empty() {
        return AnnotatorMap { points: vec![[0.0; 2]; annotators], explained: [0.0; 2] };
    }
    let rows: Vec<Vec<f64>> =
        (0..annotators as u32).into_par_iter().map(|a| describe(model, a, &texts, ordered)).collect();
    let landmarks = sample(annotators, LANDMARKS);
    let width = rows[0].len();
    let mut mean = DVector::zeros(width);
    for &a in &landmarks {
        mean += DVector::from_column_slice(&rows[a]);
    }
    mean /= landmarks.len() as f64;
    let centred = DMatrix::from_fn(width, landmarks.len(), |i, j| rows[landmarks[j]][i] - mean[i]);
    let (axes, explained) = principal_axes(&centred);
    let level = level_direction(width, ordered, model.levels());
    let axes: Vec<DVector<f64>> =
        axes.into_iter().map(|axis| if axis.dot(&level) < 0.0 { -axis } else { axis }).collect();
    let place = |row: &Vec<f64>| {
        let d = DVector::from_column_slice(row) - &mean;
        [axes[0].dot(&d) as f32, axes[1].dot(&d) as f32]
    };
    AnnotatorMap { points: rows.par_iter().map(place).collect(), explained }
}

/// Up to `many` evenly spaced indices below `n`.
fn sample(n: usize, many: usize) -> Vec<usize> {
    if n <= many { (0..n).collect() } else { (0..many).map(|i| i * n / many).collect() }
}

fn describe(model: &dyn AnnotatorModel, annotator: u32, texts: &[usize], ordered: bool) -> Vec<f64> {
    let mut p = vec![0.0; model.levels()];
    let scale = 1.0 / (texts.len() as f64).sqrt();
    let mut row = Vec::new();
    for &text in texts {
        model.predict(text as u32, annotator, &mut p);
        if ordered {
            let expected: f64 = p.iter().enumerate().map(|(c, &p)| c as f64 * f64::from(p)).sum();
            row.push(scale * expected / (p.len() - 1) as f64);
        } else {
            row.extend(p.iter().map(|&p| scale * f64::from(p)));
        }
    }
    row
}

/// The direction of higher average levels in the space of descriptions. Symmetric cases are broken by a small
/// ramp.
fn level_direction(width: usize, ordered: bool, levels: usize) -> DVector<f64> {
    DVector::from_fn(width, |i, _| {
        let main = if ordered || i % levels == levels - 1 { 1.0 } else { 0.0 };
        main + 1e-6 * (i + 1) as f64 / width as f64
    })
}

/// The two axes of largest variance and their shares, from the smaller of the two Gram matrices.
fn principal_axes(centred: &DMatrix<f64>) -> ([DVector<f64>; 2], [f64; 2]) {
    let wide = centred.ncols() < centred.nrows();
    let gram = if wide { centred.tr_mul(centred) } else { centred * centred.transpose() };
    let total = gram.trace();
    let eigen = gram.symmetric_eigen();
    let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let axis = |rank: usize| -> (DVector<f64>, f64) {
        let nothing = (DVector::zeros(centred.nrows()), 0.0);
        let Some(&at) = order.get(rank) else { return nothing };
        let value = eigen.eigenvalues[at];
        if total < 1e-12 || value < 1e-9 * total {
            return nothing;
        }
        let vector = eigen.eigenvectors.column(at);
        let direction = if wide { centred * vector } else { vector.into_owned() };
        (direction.normalize(), value / total)
    };
    let (first, second) = (axis(0), axis(1));
    ([first.0, second.0], [first.1, second.1])
}
