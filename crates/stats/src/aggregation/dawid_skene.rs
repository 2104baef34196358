//! Dawid-Skene: every annotator has a confusion matrix (Dawid and Skene 1979, Maximum likelihood estimation
//! of observer error-rates using the EM algorithm).

use super::majority;
use super::result::{AggregationFit, AggregationOptions, AggregatorResult, AnnotatorQuality, settled};
use super::votes::{Votes, normalise};
use crate::data::ModelError;
use crate::data::progress::{Progress, step};

/// Lower bound of probabilities and counts, as in crowd-kit, so that no single label rules a level out.
const MIN_PROBABILITY: f64 = 1e-10;

/// State of EM.
struct State {
    /// Labelled texts x levels.
    posterior: Vec<f64>,
    /// Per level.
    prior: Vec<f64>,
    /// P(label k | true c) at `[annotator][k][c]`.
    errors: Vec<f64>,
    log_likelihood: f64,
}

/// Runs EM from the vote shares.
pub(super) fn fit(
    votes: &Votes,
    options: &AggregationOptions,
    progress: &dyn Progress,
) -> Result<AggregatorResult, ModelError> {
    let mut state = State::new(votes);
    let mut fit = AggregationFit { converged: votes.len() == 0, ..Default::default() };
    while !fit.converged && fit.iterations < options.iterations {
        step(progress, "dawid-skene", fit.iterations as f32 / options.iterations as f32)?;
        let before = state.log_likelihood;
        state.round(votes);
        fit.iterations += 1;
        fit.converged = settled(before, state.log_likelihood, votes.len(), options.tolerance);
    }
    fit.log_likelihood = if votes.len() == 0 { 0.0 } else { state.likelihood(votes) };
    let levels = votes.levels();
    let given = votes.given();
    let quality = |a: usize| AnnotatorQuality {
        confusion: (given[a] > 0).then(|| votes.spread_matrix(&state.transposed(a, levels))),
        ..Default::default()
    };
    let annotators = (0..votes.annotators).map(quality).collect();
    let prior = (votes.len() > 0).then_some(state.prior);
    Ok(AggregatorResult {
        posterior: state.posterior,
        annotators,
        prior,
        fit: Some(fit),
        ..Default::default()
    })
}

impl State {
    fn new(votes: &Votes) -> Self {
        let levels = votes.levels();
        let mut state = Self {
            posterior: majority::shares(votes),
            prior: vec![0.0; levels],
            errors: vec![0.0; votes.annotators * levels * levels],
            log_likelihood: f64::NEG_INFINITY,
        };
        state.m_step(votes);
        state
    }

    fn round(&mut self, votes: &Votes) {
        self.log_likelihood = self.e_step(votes);
        self.m_step(votes);
    }

    /// `P(c | labels) ~ prior_c prod_i errors[i][label_i][c]` (their eq. 2.5). Returns the log-likelihood of
    /// the labels under the current parameters.
    fn e_step(&mut self, votes: &Votes) -> f64 {
        let logs = Logs::new(self);
        let levels = votes.levels();
        let rows = self.posterior.chunks_exact_mut(levels.max(1));
        rows.zip(votes.by_text()).map(|(row, text)| logs.posterior(text, row)).sum()
    }

    /// Log-likelihood under the current parameters.
    fn likelihood(&self, votes: &Votes) -> f64 {
        let logs = Logs::new(self);
        let mut row = vec![0.0; votes.levels()];
        votes.by_text().map(|text| logs.posterior(text, &mut row)).sum()
    }

    /// Expected shares (their eq. 2.3 and 2.4).
    fn m_step(&mut self, votes: &Votes) {
        let levels = votes.levels();
        self.prior.fill(0.0);
        self.errors.fill(0.0);
        let mut used = vec![false; votes.annotators * levels];
        for (row, text) in self.posterior.chunks_exact(levels.max(1)).zip(votes.by_text()) {
            self.prior.iter_mut().zip(row).for_each(|(p, r)| *p += r);
            for vote in text {
                let at = vote.annotator * levels + vote.level;
                used[at] = true;
                let counts = &mut self.errors[at * levels..(at + 1) * levels];
                counts.iter_mut().zip(row).for_each(|(e, r)| *e += r);
            }
        }
        let texts = votes.texts() as f64;
        self.prior.iter_mut().for_each(|p| *p = (*p / texts).max(MIN_PROBABILITY));
        let cells = levels * levels;
        if cells == 0 {
            return;
        }
        for (errors, used) in self.errors.chunks_exact_mut(cells).zip(used.chunks_exact(levels)) {
            for c in 0..levels {
                let mut sum = 0.0;
                for k in (0..levels).filter(|k| used[*k]) {
                    let e = &mut errors[k * levels + c];
                    *e = e.max(MIN_PROBABILITY);
                    sum += *e;
                }
                for k in (0..levels).filter(|k| used[*k]) {
                    errors[k * levels + c] /= sum;
                }
            }
        }
    }

    /// `[true][used]` of one annotator.
    fn transposed(&self, annotator: usize, levels: usize) -> Vec<f64> {
        let own = &self.errors[annotator * levels * levels..(annotator + 1) * levels * levels];
        (0..levels * levels).map(|i| own[i % levels * levels + i / levels]).collect()
    }
}

/// Logarithms of a state's parameters.
struct Logs {
    prior: Vec<f64>,
    errors: Vec<f64>,
}

impl Logs {
    fn new(state: &State) -> Self {
        let ln = |v: &Vec<f64>| v.iter().map(|v| v.max(f64::MIN_POSITIVE).ln()).collect();
        Self { prior: ln(&state.prior), errors: ln(&state.errors) }
    }

    /// Writes the posterior of one text; returns the log-likelihood of its labels.
    fn posterior(&self, text: &[super::votes::Vote], row: &mut [f64]) -> f64 {
        let levels = row.len();
        row.copy_from_slice(&self.prior);
        for vote in text {
            let at = (vote.annotator * levels + vote.level) * levels;
            row.iter_mut().zip(&self.errors[at..at + levels]).for_each(|(r, e)| *r += e);
        }
        normalise(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregation::tests::{fixture, near, votes};

    #[test]
    fn thirty_rounds_match_crowd_kit() {
        let fixture = fixture();
        for name in ["binary", "levels"] {
            let votes = votes(&fixture[name]);
            let mut state = State::new(&votes);
            (0..30).for_each(|_| state.round(&votes));
            let theirs = &fixture[name]["dawid_skene"];
            near(name, &state.posterior, &theirs["posterior"], 1e-7);
            near(name, &state.prior, &theirs["prior"], 1e-7);
        }
    }

    #[test]
    fn likelihood_never_decreases() {
        let fixture = fixture();
        let votes = votes(&fixture["levels"]);
        let mut state = State::new(&votes);
        let mut last = f64::NEG_INFINITY;
        for _ in 0..60 {
            state.round(&votes);
            assert!(state.log_likelihood >= last - 1e-9);
            last = state.log_likelihood;
        }
        assert!(state.likelihood(&votes) >= last - 1e-9);
    }
}
