//! Predicts the spread of labels on a text from its embedding: ridge regression (Hoerl and Kennard 1970) of
//! the logarithm of scales.

use crate::linear::pca::PcaEmbeddings;
use dissensus_stats::math::dot;
use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

/// Largest number of principal components used.
const COMPONENTS: usize = 128;
/// Candidate penalties; components have a mean squared length of 1.
const PENALTIES: [f64; 6] = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0];
/// Bound of the logarithms of scales.
const MAX_LOG_SCALE: f64 = 1.5;

/// Estimate of the logarithm of a text's scale from labels only.
pub(super) struct ScaleSite {
    pub(super) text: usize,
    pub(super) log: f64,
    pub(super) variance: f64,
}

/// Weights over raw embeddings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ScaleHead {
    weights: Vec<f64>,
    constant: f64,
}

impl ScaleHead {
    /// The logarithm of a text's scale.
    pub(crate) fn predict(&self, x: &[f32]) -> f64 {
        let along: f64 = self.weights.iter().zip(x).map(|(w, x)| w * f64::from(*x)).sum();
        (along + self.constant).clamp(-MAX_LOG_SCALE, MAX_LOG_SCALE)
    }

    /// Whether the head is for embeddings of this length.
    pub(crate) fn fits(&self, dim: usize) -> bool {
        self.weights.len() == dim
    }
}

pub(super) struct FittedHead {
    pub(super) head: ScaleHead,
    /// Logarithm of the scale of every text; for labelled ones by a head that has not seen their fold.
    pub(super) logs: Vec<f64>,
}

/// Fits a head; `None` where no penalty predicts sites of held-out folds better than 0 does.
pub(super) fn fit(
    x: &PcaEmbeddings,
    fold: &[u8],
    folds: usize,
    sites: &[ScaleSite],
    labelled: &[bool],
) -> Option<FittedHead> {
    let d = x.dim.min(COMPONENTS);
    let row = |text: usize| &x.row(text)[..d];
    let mut gram = vec![DMatrix::<f64>::zeros(d, d); folds];
    let mut cross = vec![DVector::<f64>::zeros(d); folds];
    for site in sites {
        let f = usize::from(fold[site.text]);
        let z = DVector::from_column_slice(row(site.text));
        gram[f].syger(1.0 / site.variance, &z, &z, 1.0);
        cross[f].axpy(site.log / site.variance, &z, 1.0);
    }
    let (all_gram, all_cross) = (gram.iter().sum::<DMatrix<f64>>(), cross.iter().sum::<DVector<f64>>());
    let solve = |gram: &DMatrix<f64>, cross: &DVector<f64>, penalty: f64| {
        let mut system = gram.clone();
        (0..d).for_each(|i| system[(i, i)] += penalty);
        system.cholesky().map(|factor| factor.solve(cross))
    };
    let held_out = |penalty: f64| -> Option<Vec<DVector<f64>>> {
        (0..folds).map(|f| solve(&(&all_gram - &gram[f]), &(&all_cross - &cross[f]), penalty)).collect()
    };
    let log =
        |w: &DVector<f64>, text: usize| dot(w.as_slice(), row(text)).clamp(-MAX_LOG_SCALE, MAX_LOG_SCALE);
    let loss = |of: &dyn Fn(&ScaleSite) -> f64| -> f64 {
        sites.iter().map(|site| (site.log - of(site)).powi(2) / site.variance).sum()
    };
    let mut best: Option<(f64, f64, Vec<DVector<f64>>)> = None;
    for penalty in PENALTIES {
        let heads = held_out(penalty)?;
        let loss = loss(&|site| log(&heads[usize::from(fold[site.text])], site.text));
        if best.as_ref().is_none_or(|best| loss < best.0) {
            best = Some((loss, penalty, heads));
        }
    }
    let (least, penalty, heads) = best?;
    if least >= loss(&|_| 0.0) {
        return None;
    }
    let whole = solve(&all_gram, &all_cross, penalty)?;
    let head_of = |text: usize| if labelled[text] { &heads[usize::from(fold[text])] } else { &whole };
    let logs: Vec<f64> = (0..x.texts).map(|text| log(head_of(text), text)).collect();
    let mut all = vec![0.0; x.dim];
    all[..d].copy_from_slice(whole.as_slice());
    let (weights, constant) = x.to_raw_weights(&all);
    Some(FittedHead { head: ScaleHead { weights, constant }, logs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_stats::data::Embeddings;
    use dissensus_stats::math::random::generator;
    use rand_distr::{Distribution, StandardNormal};

    #[test]
    fn labelled_texts_use_held_out_scale_heads() {
        let mut rng = generator(4, 0);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let mut rows: Vec<f32> = (0..6 * 240).map(|_| normal() as f32 + 0.3).collect();
        // A copy of the first text, with a single label and therefore without a site.
        rows.copy_within(0..6, 6 * 200);
        let x = PcaEmbeddings::new(&Embeddings::new(6, rows.clone()).unwrap());
        let fold: Vec<u8> = (0..240).map(|text| (text % 5) as u8).collect();
        let labelled: Vec<bool> = (0..240).map(|text| text <= 200).collect();
        let sites: Vec<ScaleSite> = (0..200)
            .map(|text| {
                let log = 0.5 * (f64::from(rows[6 * text + 2]) - 0.3) + 0.5 * normal();
                ScaleSite { text, log, variance: 0.25 }
            })
            .collect();
        let found = fit(&x, &fold, 5, &sites, &labelled).unwrap();
        let mut away = 0.0;
        for text in 201..240 {
            let row = &rows[6 * text..6 * text + 6];
            assert!((found.logs[text] - found.head.predict(row)).abs() < 1e-5);
            away += (found.logs[text] - 0.5 * (f64::from(row[2]) - 0.3)).abs() / 39.0;
        }
        assert!(away < 0.2, "{away}");
        // Held-out predictions do not depend on their own fold.
        let other = |text: &usize| {
            let row = &rows[6 * text..6 * text + 6];
            (found.logs[*text] - found.head.predict(row)).abs() > 1e-6
        };
        assert!((0..200).filter(other).count() > 150);
        assert!((found.logs[200] - found.logs[0]).abs() < 1e-9);
    }
}
