//! Labels laid out for aggregation: texts with labels and levels in use, counted without gaps.

use super::result::{Aggregation, Aggregator, AggregatorResult, AnnotatorQuality, TIE, Tie};
use crate::data::Observation;

/// One label; `level` is an index among the used levels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vote {
    pub(super) annotator: usize,
    pub(super) level: usize,
}

/// All labels.
pub(super) struct Votes {
    texts: usize,
    pub(super) annotators: usize,
    all_levels: usize,
    /// Levels that are used, in order. Unused ones are excluded from all models: there is no information
    /// about them, and EM would assign them a role anyway.
    used: Vec<u16>,
    /// Index of the text at each position.
    labelled: Vec<u32>,
    votes: Vec<Vote>,
    /// First vote of each labelled text, followed by the total number of votes.
    starts: Vec<usize>,
}

impl Votes {
    /// Lays out `sorted` observations, ordered by text, then annotator.
    pub(super) fn new(sorted: &[Observation], texts: usize, annotators: usize, levels: usize) -> Self {
        let mut place = vec![None; levels];
        sorted.iter().for_each(|o| place[usize::from(o.level)] = Some(0));
        let used: Vec<u16> = (0..levels as u16).filter(|&l| place[usize::from(l)].is_some()).collect();
        used.iter().enumerate().for_each(|(at, &l)| place[usize::from(l)] = Some(at));
        let mut new = Self {
            texts,
            annotators,
            all_levels: levels,
            used,
            labelled: Vec::new(),
            votes: Vec::with_capacity(sorted.len()),
            starts: vec![0],
        };
        for group in sorted.chunk_by(|a, b| a.text == b.text) {
            new.labelled.push(group[0].text);
            new.votes.extend(group.iter().map(|o| Vote {
                annotator: o.annotator as usize,
                level: place[usize::from(o.level)].unwrap_or(0), // every level in `sorted` has a place
            }));
            new.starts.push(new.votes.len());
        }
        new
    }

    /// Number of used levels.
    pub(super) fn levels(&self) -> usize {
        self.used.len()
    }

    /// Number of texts with labels.
    pub(super) fn texts(&self) -> usize {
        self.labelled.len()
    }

    pub(super) fn len(&self) -> usize {
        self.votes.len()
    }

    /// The votes of every labelled text, in order.
    pub(super) fn by_text(&self) -> impl Iterator<Item = &[Vote]> {
        self.starts.windows(2).map(|w| &self.votes[w[0]..w[1]])
    }

    /// Number of labels of every annotator.
    pub(super) fn given(&self) -> Vec<usize> {
        let mut given = vec![0; self.annotators];
        self.votes.iter().for_each(|v| given[v.annotator] += 1);
        given
    }

    /// Expands values for the used levels to all levels, 0 for the others.
    pub(super) fn spread(&self, of_used: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.all_levels];
        self.used.iter().zip(of_used).for_each(|(&l, v)| all[usize::from(l)] = *v);
        all
    }

    /// Expands a used x used matrix to all levels.
    pub(super) fn spread_matrix(&self, of_used: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.all_levels * self.all_levels];
        for (&level, row) in self.used.iter().zip(of_used.chunks_exact(self.levels().max(1))) {
            let at = usize::from(level) * self.all_levels;
            all[at..at + self.all_levels].copy_from_slice(&self.spread(row));
        }
        all
    }

    /// Adds texts without labels and unused levels to a result.
    pub(super) fn aggregation(&self, aggregator: Aggregator, found: AggregatorResult) -> Aggregation {
        let levels = self.all_levels;
        let mut posterior = vec![1.0 / levels as f64; self.texts * levels];
        let mut counts = vec![0u32; self.texts];
        let mut labels = vec![None; self.texts];
        let mut ties = Vec::new();
        let mut annotators = found.annotators;
        annotators.resize(self.annotators, AnnotatorQuality::default());
        let mut agreement = vec![0.0; self.annotators];
        let rows = found.posterior.chunks_exact(self.levels().max(1));
        for ((&text, votes), row) in self.labelled.iter().zip(self.by_text()).zip(rows) {
            let t = text as usize;
            posterior[t * levels..(t + 1) * levels].copy_from_slice(&self.spread(row));
            counts[t] = votes.len() as u32;
            let top = row.iter().copied().fold(0.0, f64::max);
            let best: Vec<u16> =
                self.used.iter().zip(row).filter(|(_, p)| **p >= top - TIE).map(|(l, _)| *l).collect();
            labels[t] = best.first().copied();
            if best.len() > 1 {
                ties.push(Tie { text, levels: best });
            }
            votes.iter().for_each(|v| agreement[v.annotator] += row[v.level]);
        }
        for ((quality, labels), sum) in annotators.iter_mut().zip(self.given()).zip(agreement) {
            quality.labels = labels;
            quality.agreement = (labels > 0).then(|| sum / labels as f64);
        }
        let difficulty = found.difficulty.map(|of_labelled| {
            let mut all = vec![None; self.texts];
            self.labelled.iter().zip(of_labelled).for_each(|(&t, d)| all[t as usize] = Some(d));
            all
        });
        Aggregation {
            aggregator,
            levels,
            posterior,
            counts,
            labels,
            ties,
            annotators,
            prior: found.prior.map(|p| self.spread(&p)),
            difficulty,
            fit: found.fit,
        }
    }
}

/// Converts logarithms to probabilities that sum to one; returns the logarithm of their original sum.
pub(super) fn normalise(logs: &mut [f64]) -> f64 {
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for l in logs.iter_mut() {
        *l = (*l - top).exp();
        sum += *l;
    }
    logs.iter_mut().for_each(|l| *l /= sum);
    top + sum.ln()
}
