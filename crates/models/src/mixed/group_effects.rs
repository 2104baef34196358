//! Slopes of groups of annotators, where the model has some: expected effects of annotators in these groups,
//! with their uncertainty.

use super::annotator::{self, AnnotatorPosterior, LabelGivenText};
use super::crossed::CrossedEffects;
use super::group_columns::sum_of;
use dissensus_stats::math::axpy;
use dissensus_stats::math::cholesky::{Factor, quadratic};
use std::borrow::Cow;

impl CrossedEffects {
    /// Adds the expected slopes of an annotator in these columns to a prior mean.
    pub(super) fn add_group_means(&self, columns: &[u16], mean: &mut [f64]) {
        if let Some(groups) = &self.groups {
            let slopes = groups.mean(columns, self.slope_dim);
            axpy(1.0, &slopes, &mut mean[self.link.random_effects()..]);
        }
    }

    /// Number of labels of every annotator.
    pub(crate) fn label_counts(&self) -> Vec<usize> {
        self.annotators.iter().map(|effect| effect.labels.len()).collect()
    }

    /// Columns of the groups of an annotator.
    pub(crate) fn groups_of(&self, annotator: usize) -> &[u16] {
        self.groups.as_ref().and_then(|groups| groups.of.get(annotator)).map_or(&[], Vec::as_slice)
    }

    /// How the effects of an annotator in these columns, with this covariance given the groups' slopes, move
    /// with the uncertainty of these slopes: effects x directions, which are independent and of variance 1.
    /// `None` where no group has slopes. The posterior mean moves by the covariance times the prior's
    /// precision times the move of the prior mean.
    fn moves_with_groups(&self, columns: &[u16], covariance: &[f64]) -> Option<Vec<f64>> {
        let groups = self.groups.as_ref().filter(|_| !columns.is_empty())?;
        let (d, w, n) = (self.link.random_effects(), self.width(), self.slope_dim);
        let directions = groups.means.len();
        let prior = sum_of(&groups.root, columns, n * directions);
        let mut moves = vec![0.0; w * directions];
        for (row, covariance) in moves.chunks_exact_mut(directions).zip(covariance.chunks_exact(w)) {
            for (k, prior) in prior.chunks_exact(directions).enumerate() {
                axpy(covariance[d + k] / self.slope_vars[k], prior, row);
            }
        }
        Some(moves)
    }

    /// The covariance of the effects of an annotator in these columns including the uncertainty of the
    /// groups' slopes, from the covariance given these slopes.
    pub(crate) fn covariance_with_groups<'a>(
        &self,
        columns: &[u16],
        covariance: &'a [f64],
    ) -> Cow<'a, [f64]> {
        let Some(moves) = self.moves_with_groups(columns, covariance) else {
            return Cow::Borrowed(covariance);
        };
        let w = self.width();
        let rows: Vec<&[f64]> = moves.chunks_exact(moves.len() / w).collect();
        let of = |at: usize| covariance[at] + dissensus_stats::math::dot(rows[at / w], rows[at % w]);
        Cow::Owned((0..w * w).map(of).collect())
    }

    /// The posterior covariance of an annotator's effects, including the uncertainty of the groups' slopes.
    pub(crate) fn covariance_of(&self, annotator: usize) -> Cow<'_, [f64]> {
        self.covariance_with_groups(self.groups_of(annotator), &self.annotators[annotator].covariance)
    }

    /// [`CrossedEffects::moves_with_groups`] for an annotator of the fit; empty where none of the annotator's
    /// groups has slopes.
    #[cfg(test)]
    pub(crate) fn moves_of(&self, annotator: usize) -> Vec<f64> {
        let covariance = &self.annotators[annotator].covariance;
        self.moves_with_groups(self.groups_of(annotator), covariance).unwrap_or_default()
    }

    /// How far all logits of an annotator on a text move with each of the independent directions, of variance
    /// 1, of the uncertainty of groups' slopes; empty where no group has slopes.
    pub(crate) fn shifts_with_groups(&self, annotator: usize, text: usize) -> Vec<f64> {
        let columns = self.groups_of(annotator);
        let Some(groups) = self.groups.as_ref().filter(|_| !columns.is_empty()) else { return Vec::new() };
        let (d, w, n) = (self.link.random_effects(), self.width(), self.slope_dim);
        let effect = &self.annotators[annotator];
        let direction =
            self.shift_direction(&effect.theta, self.u[text * self.link.scores()], self.features(text));
        let directions = groups.means.len();
        let mut shifts = vec![0.0; directions];
        // The direction first, then the columns: people are many, and directions may be hundreds.
        for k in 0..n {
            let column = effect.covariance.iter().skip(d + k).step_by(w);
            let along: f64 = direction.iter().zip(column).map(|(x, covariance)| x * covariance).sum();
            for &column in columns {
                let row = &groups.root[(usize::from(column) * n + k) * directions..][..directions];
                axpy(along / self.slope_vars[k], row, &mut shifts);
            }
        }
        shifts
    }

    /// Standard deviation of the common shift of an annotator's logits on a text around its expectation,
    /// given the slopes of groups.
    pub(crate) fn own_shift_sd(&self, annotator: usize, text: usize) -> f64 {
        let effect = &self.annotators[annotator];
        let score = self.u[text * self.link.scores()];
        let direction = self.shift_direction(&effect.theta, score, self.features(text));
        quadratic(&effect.covariance, &direction).max(0.0).sqrt()
    }

    /// Posterior of an annotator under a model without group slopes, fitted to the same labels and texts; the
    /// annotator's own slopes have their prior variance around 0. `None` where no group has slopes.
    pub(crate) fn annotator_without_groups(&self, annotator: usize) -> Option<AnnotatorPosterior> {
        self.groups.as_ref()?;
        let (d, w) = (self.link.random_effects(), self.width());
        let mut mean = self.prior_mean(annotator);
        mean.truncate(d);
        let precision = Factor::new(&self.prior, d).inverse();
        let labels = self.labels_given_texts(annotator);
        let without = |(_, label): &(u32, LabelGivenText<'_>)| -> f64 {
            label.z.iter().zip(&self.slope_vars).map(|(z, variance)| z * z * variance).sum()
        };
        let labels: Vec<LabelGivenText<'_>> = labels
            .iter()
            .map(|given| LabelGivenText { noise: given.1.noise + without(given), z: &[], ..given.1 })
            .collect();
        let mut found = annotator::posterior(
            self.link,
            &self.fixed_effects,
            (&mean, &precision),
            &labels,
            &mean,
            self.rule(),
        );
        found.theta.resize(w, 0.0);
        let mut covariance = self.prior_covariance();
        for (to, from) in covariance.chunks_exact_mut(w).zip(found.covariance.chunks_exact(d)) {
            to[..d].copy_from_slice(from);
        }
        found.covariance = covariance;
        Some(found)
    }
}
