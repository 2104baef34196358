//! GLAD: every annotator has an ability, every text a difficulty (Whitehill, Ruvolo, Wu, Bergsma and Movellan
//! 2009, Whose vote should count more: optimal integration of labels from labelers of unknown expertise).
//!
//! A label is correct with probability `sigma(alpha_i exp(beta_t))` and otherwise any other level (their eq.
//! 1, for more than two levels as in crowd-kit); alpha and beta have N(1, 1) priors, and levels are equally
//! likely a priori.

use super::result::{AggregationFit, AggregationOptions, AggregatorResult, AnnotatorQuality, settled};
use super::votes::{Votes, normalise};
use crate::data::ModelError;
use crate::data::progress::{Progress, step};
use crate::math::{lbfgs, sigmoid};

/// Prior mean and initial value of abilities and of log inverse difficulties.
const PRIOR: f64 = 1.0;
/// Steps of the M-step's minimiser; it starts from the previous round, so that few suffice.
const STEPS: usize = 25;

/// Runs EM with all abilities and difficulties initially equal.
pub(super) fn fit(
    votes: &Votes,
    options: &AggregationOptions,
    progress: &dyn Progress,
) -> Result<AggregatorResult, ModelError> {
    let mut x = vec![PRIOR; votes.annotators + votes.texts()];
    let mut posterior = vec![0.0; votes.texts() * votes.levels()];
    let mut fit = AggregationFit { converged: votes.len() == 0, ..Default::default() };
    fit.log_likelihood = e_step(votes, &x, &mut posterior);
    while !fit.converged && fit.iterations < options.iterations {
        step(progress, "glad", fit.iterations as f32 / options.iterations as f32)?;
        let before = fit.log_likelihood;
        m_step(votes, &mut x, &posterior);
        fit.log_likelihood = e_step(votes, &x, &mut posterior);
        fit.iterations += 1;
        fit.converged = settled(before, fit.log_likelihood, votes.len(), options.tolerance);
    }
    let (abilities, betas) = x.split_at(votes.annotators);
    let given = votes.given();
    let quality = |(a, ability): (usize, &f64)| AnnotatorQuality {
        ability: (given[a] > 0).then_some(*ability),
        ..Default::default()
    };
    Ok(AggregatorResult {
        posterior,
        annotators: abilities.iter().enumerate().map(quality).collect(),
        difficulty: Some(betas.iter().map(|b| (-b).exp()).collect()),
        fit: Some(fit),
        ..Default::default()
    })
}

/// Logarithm of the number of wrong levels. With one level in use, the scale has at least one other that was
/// never used.
fn log_others(votes: &Votes) -> f64 {
    (votes.levels().max(2) as f64 - 1.0).ln()
}

/// `P(c | labels) ~ prod_i sigma^[l = c] ((1 - sigma) / (K - 1))^[l != c]`. Returns the log-likelihood of the
/// labels plus the log prior, up to constants.
fn e_step(votes: &Votes, x: &[f64], posterior: &mut [f64]) -> f64 {
    let (levels, others) = (votes.levels(), log_others(votes));
    let (abilities, betas) = x.split_at(votes.annotators);
    let mut total: f64 = x.iter().map(|x| -0.5 * (x - PRIOR).powi(2)).sum();
    for ((row, text), beta) in posterior.chunks_exact_mut(levels.max(1)).zip(votes.by_text()).zip(betas) {
        row.fill(-(levels as f64).ln());
        let scale = beta.exp();
        for vote in text {
            let margin = abilities[vote.annotator] * scale;
            let wrong = -softplus(margin) - others;
            row.iter_mut().for_each(|r| *r += wrong);
            row[vote.level] += margin + others; // ln sigma(m) = m + ln(1 - sigma(m))
        }
        total += normalise(row);
    }
    total
}

/// Maximises the expected log-likelihood plus the log prior in abilities and log inverse difficulties.
fn m_step(votes: &Votes, x: &mut [f64], posterior: &[f64]) {
    let (levels, others, annotators) = (votes.levels(), log_others(votes), votes.annotators);
    // The contribution of a vote is its expected value: the probability that it is right.
    let right: Vec<f64> = votes
        .by_text()
        .zip(posterior.chunks_exact(levels.max(1)))
        .flat_map(|(text, row)| text.iter().map(|v| row[v.level]))
        .collect();
    let inverse = curvature(votes, x);
    lbfgs::minimise(x, &inverse, STEPS, 1e-12, |x, gradient| {
        let mut value = 0.0;
        for (g, x) in gradient.iter_mut().zip(x) {
            *g = x - PRIOR;
            value += 0.5 * g.powi(2);
        }
        let mut right = right.iter();
        for (t, text) in votes.by_text().enumerate() {
            let scale = x[annotators + t].exp();
            for (vote, &r) in text.iter().zip(right.by_ref()) {
                let ability = x[vote.annotator];
                let margin = ability * scale;
                value += softplus(margin) - r * margin + (1.0 - r) * others;
                let slope = sigmoid(margin) - r;
                gradient[vote.annotator] += slope * scale;
                gradient[annotators + t] += slope * margin;
            }
        }
        value
    });
}

/// Inverse of the diagonal of the expected Hessian.
fn curvature(votes: &Votes, x: &[f64]) -> Vec<f64> {
    let mut second = vec![1.0; x.len()];
    for (t, text) in votes.by_text().enumerate() {
        let scale = x[votes.annotators + t].exp();
        for vote in text {
            let margin = x[vote.annotator] * scale;
            let s = sigmoid(margin);
            second[vote.annotator] += s * (1.0 - s) * scale * scale;
            second[votes.annotators + t] += s * (1.0 - s) * margin * margin;
        }
    }
    second.iter().map(|s| 1.0 / s).collect()
}

/// `ln(1 + e^x)`.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregation::tests::{fixture, near, votes};
    use crate::data::progress::Silent;

    #[test]
    fn converges_like_crowd_kit() {
        let fixture = fixture();
        for name in ["binary", "levels"] {
            let votes = votes(&fixture[name]);
            let options = AggregationOptions { iterations: 3000, tolerance: 1e-13, ..Default::default() };
            let found = fit(&votes, &options, &Silent).unwrap();
            let theirs = &fixture[name]["glad"];
            near(name, &found.posterior, &theirs["posterior"], 1e-4);
            let abilities: Vec<f64> = found.annotators.iter().map(|a| a.ability.unwrap()).collect();
            near(name, &abilities, &theirs["alpha"], 1e-3);
            let betas: Vec<f64> = found.difficulty.unwrap().iter().map(|d| -d.ln()).collect();
            near(name, &betas, &theirs["beta"], 1e-3);
        }
    }

    #[test]
    fn likelihood_never_decreases() {
        let fixture = fixture();
        let votes = votes(&fixture["levels"]);
        let mut x = vec![PRIOR; votes.annotators + votes.texts()];
        let mut posterior = vec![0.0; votes.texts() * votes.levels()];
        let mut last = e_step(&votes, &x, &mut posterior);
        for _ in 0..50 {
            m_step(&votes, &mut x, &posterior);
            let now = e_step(&votes, &x, &mut posterior);
            assert!(now >= last - 1e-9, "{last} to {now}");
            last = now;
        }
    }
}
