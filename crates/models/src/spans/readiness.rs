//! Readiness: how readily annotators mark words, given the scores of words.

use super::data::SpanAnswer;
use super::selection::effect_mode;
use std::collections::BTreeMap;

/// Rounds of the estimation of the variance between annotators.
const ROUNDS: usize = 12;
/// Initial variance.
const FIRST_VARIANCE: f64 = 1.0;

/// Annotators' readiness to mark with one type.
#[derive(Clone, Debug, PartialEq)]
pub struct Readiness {
    /// Mean and variance of each annotator, in logits.
    pub of: Vec<(f64, f64)>,
    /// Variance between annotators.
    pub variance: f64,
}

impl Readiness {
    /// The readiness of unknown annotators.
    pub fn unknown(annotators: usize, variance: f64) -> Self {
        Self { of: vec![(0.0, variance); annotators], variance }
    }

    /// Mean and variance of one annotator; the population's for an unknown one.
    pub fn get(&self, annotator: u32) -> (f64, f64) {
        self.of.get(annotator as usize).copied().unwrap_or((0.0, self.variance))
    }
}

/// Fits the readiness of all annotators for each type as random effects of mean 0, given scores of words: the
/// modes and their curvatures (Laplace), the variance by expectation maximisation. `known` returns the scores
/// of a text's words (`[words][types]`, in logits) and the weight of each word.
pub fn fit_readiness<'s>(
    answers: &[SpanAnswer],
    annotators: usize,
    types: usize,
    known: impl Fn(u32) -> (&'s [f64], &'s [f32]),
) -> Vec<Readiness> {
    let mut by_annotator: BTreeMap<u32, Vec<&SpanAnswer>> = BTreeMap::new();
    answers.iter().for_each(|answer| by_annotator.entry(answer.annotator).or_default().push(answer));
    let of = |of_type: usize| {
        let mut found = Readiness::unknown(annotators, FIRST_VARIANCE);
        let decisions: BTreeMap<u32, Vec<(f64, bool, f64)>> = by_annotator
            .iter()
            .map(|(who, answers)| {
                let of_answer = |answer: &&SpanAnswer| {
                    let (scores, counts) = known(answer.text);
                    let marked = answer.marked(counts.len(), of_type);
                    counts
                        .iter()
                        .zip(marked)
                        .enumerate()
                        .map(|(word, (count, marked))| {
                            (scores[word * types + of_type], marked, f64::from(*count))
                        })
                        .collect::<Vec<_>>()
                };
                (*who, answers.iter().flat_map(of_answer).collect())
            })
            .collect();
        if decisions.is_empty() {
            return found;
        }
        for _ in 0..ROUNDS {
            let mut squares = 0.0;
            for (who, decisions) in &decisions {
                let (mean, variance) = effect_mode(decisions.iter().copied(), found.variance);
                squares += mean * mean + variance;
                if let Some(own) = found.of.get_mut(*who as usize) {
                    *own = (mean, variance);
                }
            }
            found.variance = (squares / decisions.len() as f64).clamp(1e-3, 25.0);
        }
        let variance = found.variance;
        for (who, own) in found.of.iter_mut().enumerate() {
            if !decisions.contains_key(&(who as u32)) {
                *own = (0.0, variance);
            }
        }
        found
    };
    (0..types).map(of).collect()
}
