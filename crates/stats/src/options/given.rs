//! The options of one answer, given each node of the factors that they share.

use dissensus_domain::OptionSet;

/// Smallest probability of a decision, as in every log loss.
const MIN_PROBABILITY: f64 = 1e-9;
/// Limits of the search for the most likely set, in branches and in branches x nodes; beyond them the best
/// set found is used.
const MAX_BRANCHES: usize = 100_000;
const MAX_WORK: usize = 5_000_000;

/// Independent options given each node, and the nodes' weights.
#[derive(Clone, Debug)]
pub struct GivenFactors {
    options: usize,
    weights: Vec<f64>,
    /// Probability of each option (nodes x options).
    yes: Vec<f64>,
}

impl GivenFactors {
    pub(super) fn new(options: usize, weights: Vec<f64>, yes: Vec<f64>) -> Self {
        Self { options, weights, yes }
    }

    /// The answer of one of these people drawn at random; absent without people.
    ///
    /// # Panics
    /// If they differ in the number of options.
    pub fn of_anybody(people: &[Self]) -> Option<Self> {
        let options = people.first()?.options;
        assert!(people.iter().all(|one| one.options == options));
        let share = 1.0 / people.len() as f64;
        let weights = people.iter().flat_map(|one| one.weights.iter().map(|weight| weight * share));
        let yes = people.iter().flat_map(|one| one.yes.iter().copied());
        Some(Self { options, weights: weights.collect(), yes: yes.collect() })
    }

    /// Each node: its weight (the weights sum to 1), and the probability of each option.
    pub fn nodes(&self) -> impl Iterator<Item = (f64, &[f64])> {
        self.weights.iter().copied().zip(self.yes.chunks_exact(self.options))
    }

    /// The natural logarithm of the probability of exactly this set; a decision counts with at least 1e-9.
    pub fn log_probability(&self, set: OptionSet) -> f64 {
        let logs: Vec<f64> = self
            .nodes()
            .map(|(weight, yes)| {
                let decided = |(k, p): (usize, &f64)| if set.contains(k as u8) { *p } else { 1.0 - p };
                weight.ln()
                    + yes.iter().enumerate().map(|one| decided(one).max(MIN_PROBABILITY).ln()).sum::<f64>()
            })
            .collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most + logs.iter().map(|log| (log - most).exp()).sum::<f64>().ln()
    }

    /// The most likely set and its probability. Branch and bound: options are decided starting with the least
    /// certain, and a branch is pruned if it cannot exceed the best set so far even with the remaining
    /// options decided separately at each node. Exact unless that takes more than 100,000 branches, or with
    /// many nodes 5 million branches x nodes.
    pub fn most_likely(&self) -> (OptionSet, f64) {
        let found = self.searched();
        (found.set, found.probability)
    }

    /// [`GivenFactors::most_likely`], with whether the search was completed.
    pub fn searched(&self) -> LikeliestSet {
        let mut search = Search::new(self);
        search.descend(0, 0, &self.weights);
        let (bits, probability) = search.best;
        LikeliestSet { set: OptionSet::from_bits(bits), probability, is_exact: !search.was_cut }
    }

    /// Probability of an option over all nodes.
    fn marginal(&self, option: usize) -> f64 {
        self.nodes().map(|(weight, yes)| weight * yes[option]).sum()
    }
}

/// The most likely set that a search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LikeliestSet {
    pub set: OptionSet,
    pub probability: f64,
    /// Whether no other set is more likely; otherwise there may be one, because the search took too long.
    pub is_exact: bool,
}

/// The search for the most likely set.
struct Search<'a> {
    given: &'a GivenFactors,
    /// Options, starting with the least certain.
    order: Vec<usize>,
    /// For the options from a position of `order` on, the product of the more likely decisions at each node
    /// (positions x nodes).
    rest: Vec<f64>,
    branches: usize,
    most: usize,
    best: (u64, f64),
    was_cut: bool,
}

impl<'a> Search<'a> {
    fn new(given: &'a GivenFactors) -> Self {
        let (options, nodes) = (given.options, given.weights.len());
        let doubt: Vec<f64> = (0..options).map(|k| (given.marginal(k) - 0.5).abs()).collect();
        let mut order: Vec<usize> = (0..options).collect();
        order.sort_by(|a, b| doubt[*a].total_cmp(&doubt[*b]).then(a.cmp(b)));
        let mut rest = vec![1.0; (options + 1) * nodes];
        for place in (0..options).rev() {
            for q in 0..nodes {
                let p = given.yes[q * options + order[place]];
                rest[place * nodes + q] = rest[(place + 1) * nodes + q] * p.max(1.0 - p);
            }
        }
        let most = MAX_BRANCHES.min(MAX_WORK / nodes.max(1));
        Self { given, order, rest, branches: 0, most, best: (0, -1.0), was_cut: false }
    }

    /// `so_far` is, at each node, its weight times the probability of the decisions so far.
    fn descend(&mut self, place: usize, bits: u64, so_far: &[f64]) {
        let nodes = so_far.len();
        let rest = &self.rest[place * nodes..(place + 1) * nodes];
        let bound: f64 = so_far.iter().zip(rest).map(|(p, rest)| p * rest).sum();
        // Rounding of two sums of the same numbers must not decide between sets.
        if bound <= self.best.1 * (1.0 + 1e-12) {
            return;
        }
        if self.branches >= self.most && self.best.1 >= 0.0 {
            self.was_cut = true;
            return;
        }
        self.branches += 1;
        if place == self.order.len() {
            self.best = (bits, bound);
            return;
        }
        let option = self.order[place];
        let p = |q: usize| self.given.yes[q * self.given.options + option];
        let yes: Vec<f64> = so_far.iter().enumerate().map(|(q, so_far)| so_far * p(q)).collect();
        let no: Vec<f64> = so_far.iter().enumerate().map(|(q, so_far)| so_far * (1.0 - p(q))).collect();
        let likely = |branch: &[f64]| -> f64 {
            let rest = &self.rest[(place + 1) * nodes..(place + 2) * nodes];
            branch.iter().zip(rest).map(|(p, rest)| p * rest).sum()
        };
        let with = bits | 1 << option;
        // An option with probability one half is not chosen.
        if likely(&yes) > likely(&no) {
            self.descend(place + 1, with, &yes);
            self.descend(place + 1, bits, &no);
        } else {
            self.descend(place + 1, bits, &no);
            self.descend(place + 1, with, &yes);
        }
    }
}
