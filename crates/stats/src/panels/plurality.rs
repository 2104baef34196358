//! The level that most of a panel's members give.

use super::counts::{add_product, poisson_binomial};
use super::joint::JointAnswers;
use super::rule::winner;
use crate::math::random::generator;
use rand::RngExt;
use std::borrow::Cow;
use std::collections::HashMap;

/// Largest number of states of a panel's counts for exact computation; above, answers are sampled.
const MAX_COUNTS: usize = 32_000;
/// Number of samples at every node in that case: the standard error of a probability is below 0.01.
const DRAWN: usize = 500;

/// The majority of panels of one size.
#[derive(Clone, Debug)]
pub(super) struct Plurality {
    levels: usize,
    way: Way,
}

#[derive(Clone, Debug)]
enum Way {
    /// Two levels: the count of one determines that of the other.
    TwoLevels,
    /// For every member added, the next state for each previous state of counts and each level: counts x
    /// levels. And the winner of each final count.
    Exact {
        steps: Vec<Vec<u32>>,
        winners: Vec<u32>,
    },
    Drawn,
}

impl Plurality {
    pub(super) fn new(levels: usize, members: usize) -> Self {
        let way = match levels {
            2 => Way::TwoLevels,
            _ if counts(levels, members) > MAX_COUNTS => Way::Drawn,
            _ => exact(levels, members),
        };
        Self { levels, way }
    }

    /// Whether it is computed exactly, not sampled.
    pub(super) fn is_exact(&self) -> bool {
        !matches!(self.way, Way::Drawn)
    }

    /// Probabilities of every level, and of a tie, outcomes x nodes.
    pub(super) fn of(&self, answers: &JointAnswers, members: &[usize]) -> Vec<f64> {
        let nodes = answers.weights().len();
        let mut out = vec![0.0; (self.levels + 1) * nodes];
        match &self.way {
            Way::TwoLevels => {
                let ones = poisson_binomial(nodes, members.iter().map(|m| Cow::Borrowed(answers.of(*m, 1))));
                for (ones, p) in ones.chunks_exact(nodes).enumerate() {
                    let won = winner([members.len() - ones, ones].into_iter());
                    add(&mut out[won * nodes..], p);
                }
            }
            Way::Exact { steps, winners } => {
                let mut now = vec![1.0; nodes];
                for (member, step) in members.iter().zip(steps) {
                    now = self.joined(&now, step, answers.rows(*member), nodes);
                }
                for (won, p) in winners.iter().zip(now.chunks_exact(nodes)) {
                    add(&mut out[*won as usize * nodes..], p);
                }
            }
            Way::Drawn => self.drawn(answers, members, &mut out),
        }
        out
    }

    fn joined(&self, now: &[f64], step: &[u32], p: &[f64], nodes: usize) -> Vec<f64> {
        let most = step.iter().max().map_or(0, |most| *most as usize + 1);
        let mut next = vec![0.0; most * nodes];
        for (from, to) in now.chunks_exact(nodes).zip(step.chunks_exact(self.levels)) {
            for (p, to) in p.chunks_exact(nodes).zip(to) {
                add_product(&mut next[*to as usize * nodes..], p, from);
            }
        }
        next
    }

    /// Samples the same answers every time, so that the same panel has the same verdict.
    fn drawn(&self, answers: &JointAnswers, members: &[usize], out: &mut [f64]) {
        let nodes = answers.weights().len();
        let mut rng = generator(0, 0x7061_6e65);
        let mut counts = vec![0usize; self.levels];
        for node in 0..nodes {
            for _ in 0..DRAWN {
                counts.fill(0);
                for member in members {
                    let mut left: f64 = rng.random();
                    let rows = answers.rows(*member);
                    let reached = |level: &usize| {
                        left -= rows[level * nodes + node];
                        left < 0.0
                    };
                    counts[(0..self.levels - 1).find(reached).unwrap_or(self.levels - 1)] += 1;
                }
                out[winner(counts.iter().copied()) * nodes + node] += 1.0 / DRAWN as f64;
            }
        }
    }
}

fn add(y: &mut [f64], x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += x);
}

/// Number of distributions of this many members over the levels: `C(members + levels - 1, levels - 1)`, or a
/// number above the limit.
fn counts(levels: usize, members: usize) -> usize {
    let mut ways = 1usize;
    for i in 1..levels {
        // A binomial coefficient at every step, so that the division is exact.
        ways = ways.saturating_mul(members + i) / i;
        if ways > MAX_COUNTS {
            return ways;
        }
    }
    ways
}

fn exact(levels: usize, members: usize) -> Way {
    let mut before = vec![vec![0u16; levels]];
    let mut steps = Vec::with_capacity(members);
    for _ in 0..members {
        let (mut next, mut places) = (Vec::new(), HashMap::new());
        let mut step = Vec::with_capacity(before.len() * levels);
        for counts in &before {
            for level in 0..levels {
                let mut grown = counts.clone();
                grown[level] += 1;
                let place = *places.entry(grown).or_insert_with_key(|grown| {
                    next.push(grown.clone());
                    next.len() as u32 - 1
                });
                step.push(place);
            }
        }
        steps.push(step);
        before = next;
    }
    let winners = before.iter().map(|counts| winner(counts.iter().map(|n| usize::from(*n))) as u32).collect();
    Way::Exact { steps, winners }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurality_counts_all_ways() {
        assert_eq!((counts(3, 4), counts(5, 12), counts(2, 9)), (15, 1820, 10));
        assert!(counts(10, 12) > MAX_COUNTS && counts(64, 1_000_000) > MAX_COUNTS);
        let Way::Exact { winners, .. } = exact(5, 12) else { panic!("few enough") };
        assert_eq!(winners.len(), 1820);
    }
}
