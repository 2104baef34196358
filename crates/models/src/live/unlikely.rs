//! Unlikely labels: slips, own views, and labels on which the others are divided.

use super::model::LiveModel;
use crate::batch::Multilevel;
use crate::mixed::left_out::TextWithoutLabels;
use crate::mixed::predictor::Scratch;
use dissensus_stats::data::progress::{Progress, step};
use dissensus_stats::data::{AnnotatorModel, ModelError};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Minimum number of labels of a person on other texts for a label to count as unlikely under the person's
/// own model.
pub const MIN_OWN_LABELS: usize = 10;
/// Largest probability among all others for a slip. It is above the bound of the own model, because people
/// differ in severity, and the person's own probability is what ranks planted slips best (tests/slips.rs).
pub const UNLIKE_OTHERS: f64 = 0.2;
/// The others are divided if, by their predictions, the observed number of such levels among them has at most
/// this probability.
const DIVIDED: f64 = 0.05;
/// Number of texts between two progress reports.
const TEXTS_AT_ONCE: usize = 256;

/// Classification of a label by whether it is unlikely under the person's own model, under all others, or
/// both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnlikelyKind {
    /// Unlikely under the person's own model and under all others: a possible slip.
    Slip,
    /// Unlikely under all others, but typical of the person.
    OwnView,
    /// Unlikely under the person's own model, while others would give it, or gave it: they are divided, or
    /// agree with it.
    Divided,
}

/// One unlikely label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnlikelyLabel {
    /// Row of the text.
    pub text: u32,
    /// Index of the annotator.
    pub annotator: u32,
    /// The level given.
    pub level: u16,
    pub kind: UnlikelyKind,
    /// Probability of a label as improbable as this one, or more, under the person's own model.
    pub own: f64,
    /// The same under all others: as predicted for them or, where the others are divided, as those who
    /// labelled the text answered.
    pub others: f64,
    /// The level that the person's own model finds most probable.
    pub usual: u16,
    /// Number of others who labelled the text.
    pub others_labels: u32,
    /// Number of those who gave the same level.
    pub same_labels: u32,
    /// Expected number of labels of this kind that are at least as improbable if the model were right.
    pub expected: f64,
}

/// Unlikely labels among all labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnlikelyLabels {
    /// Slips first, then own views, then divided ones; each kind the most improbable first.
    pub labels: Vec<UnlikelyLabel>,
    /// Expected number of labels of each kind if the model were right: slips, own views, divided ones.
    pub expected: [f64; 3],
    /// Labels that could be tested.
    pub judged: usize,
    /// Labels of people with fewer than [`MIN_OWN_LABELS`] labels on other texts.
    pub few_own: usize,
    /// Labels of texts that no other annotator has labelled.
    pub alone: usize,
}

/// One level that a person gave, or could have given.
struct Candidate {
    label: UnlikelyLabel,
    /// Probability of the level under the person's own model.
    probability: f64,
    given: bool,
}

impl UnlikelyKind {
    const ALL: [Self; 3] = [Self::Slip, Self::OwnView, Self::Divided];

    /// Classifies a label with these probabilities; `None` where it is unlikely under neither.
    fn new(own: f64, others: f64, below: f64) -> Option<Self> {
        match own <= below {
            true if others <= UNLIKE_OTHERS => Some(Self::Slip),
            true => Some(Self::Divided),
            false => (others <= below).then_some(Self::OwnView),
        }
    }
}

impl UnlikelyLabel {
    /// Sort key, ascending: the probability under the own model, or for an own view that under all others.
    pub fn score(&self) -> f64 {
        match self.kind {
            UnlikelyKind::Slip | UnlikelyKind::Divided => self.own,
            UnlikelyKind::OwnView => self.others,
        }
    }
}

impl LiveModel {
    /// Finds labels with a probability of `below` or less under the person's own model, distinguishing those
    /// with a probability of [`UNLIKE_OTHERS`] or less under all others; and labels that fit the person but
    /// have a probability of `below` or less under all others. Only labels of `which` (text, annotator) are
    /// considered.
    ///
    /// The probability is that of any level as improbable as the given one: the sum of the probabilities that
    /// are no larger (an exact test of the label; with two levels the level's own probability). Neither side
    /// has learned from the label in question: the posteriors of the person and the text exclude it. *All
    /// others* is the mean prediction over all others with labels on that text. Because one value per text
    /// cannot represent two camps, the share of those who labelled it and gave such levels replaces the
    /// prediction where it is larger by more than chance (binomial test at 5 %). (The fit of the others
    /// depends on the label only through its annotator's severity.) Expected numbers are sums of the own
    /// model's probabilities over the levels that would have been listed, so that they need no simulation.
    ///
    /// # Errors
    /// [`ModelError::Cancelled`].
    pub fn unlikely_labels(
        &self,
        which: impl Fn(u32, u32) -> bool + Sync,
        below: f64,
        progress: &dyn Progress,
    ) -> Result<UnlikelyLabels, ModelError> {
        let texts: Vec<u32> = (0..self.texts() as u32).collect();
        let mut found = UnlikelyLabels::default();
        let mut candidates = Vec::new();
        for (at, block) in texts.chunks(TEXTS_AT_ONCE).enumerate() {
            step(progress, "labels", (at * TEXTS_AT_ONCE) as f32 / texts.len() as f32)?;
            let parts: Vec<OfText> =
                block.par_iter().map(|text| of_text(&self.model, *text, &which, below)).collect();
            for part in parts {
                found.judged += part.judged;
                found.few_own += part.few_own;
                found.alone += part.alone;
                candidates.extend(part.candidates);
            }
        }
        for (at, kind) in UnlikelyKind::ALL.into_iter().enumerate() {
            let mut of_kind: Vec<&Candidate> = candidates.iter().filter(|c| c.label.kind == kind).collect();
            of_kind.sort_by(|a, b| a.label.score().total_cmp(&b.label.score()));
            let mut expected = 0.0;
            // Labels with the same score are equally improbable.
            for tied in of_kind.chunk_by(|a, b| a.label.score() == b.label.score()) {
                expected += tied.iter().map(|c| c.probability).sum::<f64>();
                let given = tied.iter().filter(|c| c.given);
                found.labels.extend(given.map(|c| UnlikelyLabel { expected, ..c.label }));
            }
            found.expected[at] = expected;
        }
        Ok(found)
    }
}

/// Results of one text.
#[derive(Default)]
struct OfText {
    candidates: Vec<Candidate>,
    judged: usize,
    few_own: usize,
    alone: usize,
}

fn of_text(model: &Multilevel, text: u32, which: impl Fn(u32, u32) -> bool, below: f64) -> OfText {
    let mut found = OfText::default();
    let labels = &model.crossed.labels[text as usize];
    let levels = model.crossed.link.levels;
    let mut own = vec![0.0; levels];
    let mut left_out = None;
    for (at, label) in labels.iter().enumerate() {
        if !which(text, label.annotator) {
            continue;
        }
        if labels.len() < 2 {
            found.alone += 1;
            continue;
        }
        if model.labels_of(label.annotator).len() <= MIN_OWN_LABELS {
            found.few_own += 1;
            continue;
        }
        found.judged += 1;
        let left_out = left_out.get_or_insert_with(|| model.crossed.leave_out_labels(text as usize));
        left_out.own(at, &mut own);
        let panel = panel_without(model, left_out, label.annotator as usize, at);
        let mut counts = vec![0_u32; levels];
        labels.iter().for_each(|l| counts[usize::from(l.level)] += 1);
        counts[usize::from(label.level)] -= 1;
        let others_labels = labels.len() as u32 - 1;
        let usual = (0..levels).max_by(|a, b| own[*a].total_cmp(&own[*b])).unwrap_or(0) as u16;
        for level in 0..levels {
            let of_own = chance(&own, level, &own);
            let of_others = chance_of_others(&panel, level, &counts);
            let Some(kind) = UnlikelyKind::new(of_own, of_others, below) else { continue };
            let label = UnlikelyLabel {
                text,
                annotator: label.annotator,
                level: level as u16,
                kind,
                own: of_own,
                others: of_others,
                usual,
                others_labels,
                same_labels: counts[level],
                expected: 0.0,
            };
            let given = label.level == labels[at].level;
            found.candidates.push(Candidate { label, probability: own[level], given });
        }
    }
    found
}

/// The probability of such levels among others who are predicted as `panel`, with labels `counts` from those
/// who labelled the text.
fn chance_of_others(panel: &[f64], level: usize, counts: &[u32]) -> f64 {
    let predicted = chance(panel, level, panel);
    let n: u32 = counts.iter().sum();
    let shares: Vec<f64> = counts.iter().map(|k| f64::from(*k) / f64::from(n.max(1))).collect();
    let observed = chance(panel, level, &shares);
    let k = (observed * f64::from(n)).round() as u32;
    if observed > predicted && at_least(k, n, predicted) <= DIVIDED { observed } else { predicted }
}

/// Probability of at least `k` successes in `n` trials with probability `p`.
fn at_least(k: u32, n: u32, p: f64) -> f64 {
    let mut of = (1.0 - p).powi(n as i32);
    let mut fewer = 0.0;
    for i in 0..k {
        fewer += of;
        of *= f64::from(n - i) / f64::from(i + 1) * p / (1.0 - p).max(f64::MIN_POSITIVE);
    }
    (1.0 - fewer).max(0.0)
}

/// Sum of `shares` over the levels that `p` finds no more probable than `level`.
fn chance(p: &[f64], level: usize, shares: &[f64]) -> f64 {
    let bar = p[level] * (1.0 + 1e-9);
    p.iter().zip(shares).filter(|(p, _)| **p <= bar).map(|(_, share)| share).sum::<f64>().min(1.0)
}

/// Mean prediction over all others with labels, given the text without its label `at`.
fn panel_without(model: &Multilevel, text: &TextWithoutLabels<'_>, own: usize, at: usize) -> Vec<f64> {
    let levels = model.crossed.link.levels;
    let everyone = model.annotator_columns().annotators();
    let (columns, weights) = text.columns(at);
    let (mut block, mut one) = (vec![0.0_f32; everyone * levels], vec![0.0_f32; everyone * levels]);
    let mut scratch = Scratch::default();
    for (node, weight) in weights.iter().enumerate() {
        model.annotator_columns().fill(&columns, node, 0..everyone, &mut one, &mut scratch);
        block.iter_mut().zip(&one).for_each(|(sum, p)| *sum += *weight as f32 * p);
    }
    let among = |b: &usize| *b != own && !model.crossed.annotators[*b].labels.is_empty();
    let others: Vec<usize> = (0..everyone).filter(among).collect();
    let mean = |level: &[f32]| others.iter().map(|b| f64::from(level[*b])).sum::<f64>() / others.len() as f64;
    block.chunks_exact(everyone).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tail_probability_sums_unlikelier_levels() {
        let p = [0.1, 0.2, 0.5, 0.15, 0.05];
        assert!((chance(&p, 4, &p) - 0.05).abs() < 1e-12);
        assert!((chance(&p, 3, &p) - 0.3).abs() < 1e-12);
        assert!((chance(&p, 2, &p) - 1.0).abs() < 1e-12);
        assert!((chance(&p, 0, &[0.25, 0.5, 0.0, 0.0, 0.25]) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn others_are_divided_beyond_chance() {
        assert!((at_least(1, 3, 0.1) - 0.271).abs() < 1e-12);
        assert!((at_least(2, 9, 0.04) - 0.0478).abs() < 1e-3);
        assert_eq!(at_least(0, 9, 0.04), 1.0);
        let panel = [0.03, 0.07, 0.9];
        // One of eight may have slipped as well; three of eight are a camp.
        assert!((chance_of_others(&panel, 0, &[1, 0, 7]) - 0.03).abs() < 1e-12);
        assert!((chance_of_others(&panel, 0, &[3, 0, 5]) - 0.375).abs() < 1e-12);
        assert!((chance_of_others(&panel, 0, &[0, 0, 0]) - 0.03).abs() < 1e-12);
    }

    #[test]
    fn slip_must_be_unlikely_for_person_and_others() {
        assert_eq!(UnlikelyKind::new(0.01, 0.15, 0.05), Some(UnlikelyKind::Slip));
        assert_eq!(UnlikelyKind::new(0.3, 0.02, 0.05), Some(UnlikelyKind::OwnView));
        assert_eq!(UnlikelyKind::new(0.01, 0.3, 0.05), Some(UnlikelyKind::Divided));
        assert_eq!(UnlikelyKind::new(0.3, 0.1, 0.05), None);
    }
}
