//! Severity: how strict or lenient an annotator is.

use super::crossed::CrossedEffects;
use dissensus_stats::data::Severity;
use dissensus_stats::math::axpy;
use dissensus_stats::math::cholesky::quadratic;

impl CrossedEffects {
    /// Mean shift of an annotator's intercepts against the average annotator's, and its standard deviation;
    /// `None` for softmax links.
    pub(crate) fn severity(&self, annotator: usize) -> Option<Severity> {
        let (link, w) = (self.link, self.width());
        if link.softmax {
            return None;
        }
        let (n, d) = (link.intercepts(), link.random_effects());
        let unknown = vec![0.0; w];
        let (theta, covariance) = match self.annotators.get(annotator) {
            Some(effect) => (&effect.theta, self.covariance_of(annotator)),
            None => (&unknown, self.prior_covariance().into()),
        };
        let (mut average, mut own, mut jacobian) = (vec![0.0; n], vec![0.0; n], vec![0.0; n * d]);
        link.intercepts_of(&self.fixed_effects, &[], &mut average);
        link.intercepts_of(&self.fixed_effects, &theta[..d], &mut own);
        link.jacobian(&self.fixed_effects, &theta[..d], &mut jacobian);
        let mut direction = vec![0.0; w];
        for j in 0..n {
            axpy(1.0 / n as f64, &jacobian[j * d..(j + 1) * d], &mut direction[..d]);
        }
        let mean = own.iter().zip(&average).map(|(a, b)| a - b).sum::<f64>() / n as f64;
        Some(Severity { mean, sd: quadratic(&covariance, &direction).max(0.0).sqrt() })
    }

    /// Mean of [`CrossedEffects::severity`] of the annotator of label `at` of a text without this label, to
    /// first order; `None` for softmax links.
    pub(crate) fn severity_without(&self, text: usize, at: usize) -> Option<f64> {
        if self.link.softmax {
            return None;
        }
        let annotator = self.labels[text][at].annotator as usize;
        let place = self.annotators[annotator].labels.partition_point(|l| (l.0 as usize) < text);
        let theta = self.cavity_of_label(annotator, place);
        let (n, d) = (self.link.intercepts(), self.link.random_effects());
        let (mut average, mut own) = (vec![0.0; n], vec![0.0; n]);
        self.link.intercepts_of(&self.fixed_effects, &[], &mut average);
        self.link.intercepts_of(&self.fixed_effects, &theta[..d], &mut own);
        Some(own.iter().zip(&average).map(|(a, b)| a - b).sum::<f64>() / n as f64)
    }
}
