//! The most informative text about one annotator (active learning).

use super::model::LiveModel;
use dissensus_stats::data::AnnotatorModel;
use dissensus_stats::math::quadrature::FIVE;

impl LiveModel {
    /// For every text the mutual information, in bits, between this annotator's label and this annotator's
    /// severity: BALD, `H(E p) - E H(p)` (Houlsby et al. 2011, eq. 2), the expectation over the posterior of
    /// the severity (for choice scales: of every level's intercept in turn). Texts that this annotator has
    /// labelled have 0.
    pub fn bald(&self, annotator: u32) -> Vec<f32> {
        let texts = self.texts();
        let predictors = self.model.bald_predictors(annotator, &FIVE);
        let levels = self.levels();
        let mut out = vec![0.0f32; texts];
        for group in &predictors {
            let mut mean = vec![0.0f32; texts * levels];
            let mut inner = vec![0.0f32; texts];
            let mut p = vec![0.0f32; texts * levels];
            for (weight, predictor) in group {
                self.model.fill_all(predictor, &mut p);
                for (m, p) in mean.iter_mut().zip(&p) {
                    *m += *weight as f32 * p;
                }
                entropy(&p, texts, *weight as f32, &mut inner);
            }
            let mut outer = vec![0.0f32; texts];
            entropy(&mean, texts, 1.0, &mut outer);
            for ((o, h), i) in out.iter_mut().zip(&outer).zip(&inner) {
                *o += (h - i).max(0.0) * std::f32::consts::LOG2_E;
            }
        }
        for (text, _) in self.model.labels_of(annotator) {
            out[*text as usize] = 0.0;
        }
        out
    }
}

/// Adds `weight` times the entropy (nats) of every text; `p` is level-major.
fn entropy(p: &[f32], texts: usize, weight: f32, out: &mut [f32]) {
    for level in p.chunks_exact(texts.max(1)) {
        for (o, p) in out.iter_mut().zip(level) {
            *o += weight * dissensus_stats::math::fast::entropy_term(*p);
        }
    }
}
