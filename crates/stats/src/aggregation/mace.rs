//! MACE: every annotator either knows a text's level or answers from a distribution of their own (Hovy,
//! Berg-Kirkpatrick, Vaswani and Hovy 2013, Learning whom to trust with MACE).
//!
//! With probability `know` the label is the text's level, with probability `spam` it is drawn from the
//! annotator's own `strategy`, and levels are equally likely a priori.

use super::digamma::digamma;
use super::result::{
    AggregationFit, AggregationOptions, AggregatorResult, AnnotatorQuality, MaceMethod, settled,
};
use super::votes::{Vote, Votes, normalise};
use crate::data::ModelError;
use crate::data::progress::{Progress, step};
use crate::math::random::generator;
use rand::RngExt;
use rayon::prelude::*;

/// Beta prior of spamming and of knowing.
const PERSON: f64 = 0.5;
/// Dirichlet prior of each level of a strategy.
const STRATEGY: f64 = 10.0;
/// Plain EM adds this, over the number of levels, to every count.
const SMOOTHING: f64 = 0.01;
/// Starts are uniform in [1, 1 + NOISE] before they are normalised.
const NOISE: f64 = 0.5;

/// State of EM for one start.
struct State {
    method: MaceMethod,
    /// Per annotator. Under variational Bayes these are weights that sum to less than one (exponentials of
    /// expected logarithms); only their ratio is reported.
    spam: Vec<f64>,
    know: Vec<f64>,
    /// Annotators x levels.
    strategy: Vec<f64>,
    /// Expected counts, laid out like the parameters.
    spam_count: Vec<f64>,
    know_count: Vec<f64>,
    strategy_count: Vec<f64>,
    posterior: Vec<f64>,
    fit: AggregationFit,
}

/// Runs EM from `restarts` seeded starts in parallel and returns the one with the best marginal likelihood
/// (their objective, also under variational Bayes), the first in case of ties.
pub(super) fn fit(
    votes: &Votes,
    options: &AggregationOptions,
    progress: &dyn Progress,
) -> Result<AggregatorResult, ModelError> {
    let starts = 0..options.restarts.max(1) as u64;
    let mut states: Vec<State> = starts.map(|s| State::random(votes, options, s)).collect();
    for round in 0..options.iterations {
        step(progress, "mace", round as f32 / options.iterations as f32)?;
        let open = |s: &&mut State| !s.fit.converged;
        states.par_iter_mut().filter(open).for_each(|state| state.round(votes, options.tolerance));
        if states.iter().all(|s| s.fit.converged) {
            break;
        }
    }
    let better = |a: State, b: State| if b.fit.log_likelihood > a.fit.log_likelihood { b } else { a };
    // There is at least one start.
    Ok(states.into_iter().reduce(better).map(|s| s.found(votes)).unwrap_or_default())
}

impl State {
    fn random(votes: &Votes, options: &AggregationOptions, start: u64) -> Self {
        let levels = votes.levels();
        let mut rng = generator(options.seed, start);
        let mut draw = |n: usize| -> Vec<f64> {
            let raw: Vec<f64> = (0..n).map(|_| 1.0 + NOISE * rng.random::<f64>()).collect();
            let sum: f64 = raw.iter().sum();
            raw.iter().map(|r| r / sum).collect()
        };
        let (mut spam, mut know, mut strategy) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..votes.annotators {
            let either = draw(2);
            spam.push(either[0]);
            know.push(either[1]);
            strategy.extend(draw(levels));
        }
        Self::new(votes, options.mace, spam, know, strategy)
    }

    fn new(votes: &Votes, method: MaceMethod, spam: Vec<f64>, know: Vec<f64>, strategy: Vec<f64>) -> Self {
        let mut state = Self {
            method,
            spam_count: vec![0.0; spam.len()],
            know_count: vec![0.0; know.len()],
            strategy_count: vec![0.0; strategy.len()],
            spam,
            know,
            strategy,
            posterior: vec![0.0; votes.texts() * votes.levels()],
            fit: AggregationFit { converged: votes.len() == 0, ..Default::default() },
        };
        state.fit.log_likelihood = state.e_step(votes);
        state
    }

    fn round(&mut self, votes: &Votes, tolerance: f64) {
        let before = self.fit.log_likelihood;
        self.m_step(votes.levels());
        self.fit.log_likelihood = self.e_step(votes);
        self.fit.iterations += 1;
        self.fit.converged = settled(before, self.fit.log_likelihood, votes.len(), tolerance);
    }

    /// Computes posteriors and expected counts under the current parameters; returns the marginal
    /// log-likelihood.
    fn e_step(&mut self, votes: &Votes) -> f64 {
        let levels = votes.levels();
        self.spam_count.fill(0.0);
        self.know_count.fill(0.0);
        self.strategy_count.fill(0.0);
        let mut total = 0.0;
        for (at, text) in votes.by_text().enumerate() {
            let mut row = vec![-(levels as f64).ln(); levels];
            for vote in text {
                let (base, full) = self.chances(vote, levels);
                let elsewhere = base.ln();
                row.iter_mut().for_each(|r| *r += elsewhere);
                row[vote.level] += full.ln() - elsewhere;
            }
            total += normalise(&mut row);
            for vote in text {
                let (base, full) = self.chances(vote, levels);
                let right = row[vote.level];
                let knew = right * self.know[vote.annotator] / full;
                let spammed = 1.0 - right + right * base / full;
                self.know_count[vote.annotator] += knew;
                self.spam_count[vote.annotator] += spammed;
                self.strategy_count[vote.annotator * levels + vote.level] += spammed;
            }
            self.posterior[at * levels..(at + 1) * levels].copy_from_slice(&row);
        }
        total
    }

    /// Probability of a label if the text has another level, and if it has this one.
    fn chances(&self, vote: &Vote, levels: usize) -> (f64, f64) {
        let base = self.spam[vote.annotator] * self.strategy[vote.annotator * levels + vote.level];
        (base, base + self.know[vote.annotator])
    }

    fn m_step(&mut self, levels: usize) {
        match self.method {
            MaceMethod::Variational => {
                let weight = |x: f64, sum: f64| (digamma(x) - digamma(sum)).exp();
                for a in 0..self.spam.len() {
                    let (s, k) = (self.spam_count[a] + PERSON, self.know_count[a] + PERSON);
                    (self.spam[a], self.know[a]) = (weight(s, s + k), weight(k, s + k));
                    let own = a * levels..(a + 1) * levels;
                    let counts = &self.strategy_count[own.clone()];
                    let sum = counts.iter().sum::<f64>() + STRATEGY * levels as f64;
                    let of = self.strategy[own].iter_mut().zip(counts);
                    of.for_each(|(p, c)| *p = weight(c + STRATEGY, sum));
                }
            }
            MaceMethod::Plain => {
                let more = SMOOTHING / levels.max(1) as f64;
                for a in 0..self.spam.len() {
                    let (s, k) = (self.spam_count[a] + more, self.know_count[a] + more);
                    (self.spam[a], self.know[a]) = (s / (s + k), k / (s + k));
                    let own = a * levels..(a + 1) * levels;
                    let counts = &self.strategy_count[own.clone()];
                    let sum = counts.iter().sum::<f64>() + more * levels as f64;
                    let of = self.strategy[own].iter_mut().zip(counts);
                    of.for_each(|(p, c)| *p = (c + more) / sum);
                }
            }
        }
    }

    fn found(self, votes: &Votes) -> AggregatorResult {
        let levels = votes.levels();
        let given = votes.given();
        let quality = |a: usize| {
            let own = &self.strategy[a * levels..(a + 1) * levels];
            let sum: f64 = own.iter().sum();
            let shares: Vec<f64> = own.iter().map(|p| p / sum).collect();
            AnnotatorQuality {
                spamming: (given[a] > 0).then(|| self.spam[a] / (self.spam[a] + self.know[a])),
                strategy: (given[a] > 0).then(|| votes.spread(&shares)),
                ..Default::default()
            }
        };
        let annotators = (0..votes.annotators).map(quality).collect();
        AggregatorResult { posterior: self.posterior, annotators, fit: Some(self.fit), ..Default::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregation::tests::{fixture, near, numbers, votes};

    /// From crowd-kit's own start, so that every round can be compared.
    #[test]
    fn fifty_rounds_match_crowd_kit() {
        let fixture = fixture();
        for name in ["binary", "levels"] {
            let votes = votes(&fixture[name]);
            for (key, method) in [("mace_vb", MaceMethod::Variational), ("mace_em", MaceMethod::Plain)] {
                let theirs = &fixture[name][key];
                let either = numbers(&theirs["start_spamming"]);
                let column = |c: usize| either.iter().skip(c).step_by(2).copied().collect::<Vec<f64>>();
                let start = numbers(&theirs["start_strategy"]);
                let mut state = State::new(&votes, method, column(0), column(1), start);
                (0..50).for_each(|_| state.round(&votes, 0.0));
                near(key, &state.posterior, &theirs["posterior"], 1e-6);
                near(key, &state.strategy, &theirs["strategy"], 1e-6);
                let ours: Vec<f64> = state.spam.iter().zip(&state.know).flat_map(|(s, k)| [*s, *k]).collect();
                near(key, &ours, &theirs["spamming"], 1e-6);
            }
        }
    }
}
