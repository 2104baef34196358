//! Selection on held-out texts: the penalty of a head, the threshold from which a word counts as marked, and
//! the variance of words beyond their scores.

use super::data::SpanAnswer;
use super::head::{Head, HeadData};
use super::head_objective::{Design, Priors, ln_probability};
use super::own_text::own_effects;
use dissensus_stats::data::ModelError;
use dissensus_stats::data::progress::Progress;
use dissensus_stats::math::random::generator;
use dissensus_stats::math::{attenuation, sigmoid};
use rand::seq::SliceRandom;
use std::collections::{BTreeMap, BTreeSet};

/// Share of the training texts used for selection.
const HELD_OUT: f64 = 0.2;
/// Stream of random numbers for this use.
const STREAM: u64 = 0x5_7041;
/// Precision of the effects of forms.
const FORMS: f64 = 0.6;
/// Initial variance of readiness.
const READINESS: f64 = 1.0;
/// Candidate precisions for the token embeddings and for the contextual layer; the first is used where
/// selection is impossible.
const TRIED: [(f64, Option<f64>); 4] =
    [(600.0, Some(6000.0)), (600.0, None), (600.0, Some(2000.0)), (3000.0, Some(20_000.0))];
/// Candidate standard deviations of single words, in logits.
const WORD_DEVIATIONS: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0];

/// Variance of single words where no word has two answers to estimate it from.
const UNKNOWN_WORD_VARIANCE: f64 = 1.0;

/// Largest number of Newton steps.
const NEWTON_STEPS: usize = 50;

/// Selected settings of one type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selected {
    pub(super) priors: Priors,
    /// Smallest probability at which a word counts as marked.
    pub(super) threshold: f64,
    /// Variance of single words beyond their scores, in logits.
    pub(super) word_variance: f64,
}

impl Selected {
    /// Sets the threshold and the variance of words from the predictions of these heads, one per annotator,
    /// for answers that none of them was fitted to.
    pub(super) fn by<'h>(
        self,
        data: &HeadData<'_>,
        answers: &[usize],
        of_type: usize,
        head: &dyn Fn(u32) -> &'h Head,
    ) -> Self {
        let held_out = HeldOut::new(data, answers, of_type, head);
        Self { threshold: held_out.threshold(), word_variance: held_out.word_variance(), ..self }
    }
}

/// Indices of answers for fitting, and of those for selection.
pub struct Halves {
    pub learn: Vec<usize>,
    pub choose: Vec<usize>,
}

/// Divides answers by text; copies of a body stay together. Texts that the encoder has learned (`tuned_on`,
/// empty where none) are never used for selection.
pub fn divide(answers: &[SpanAnswer], of: &[usize], copies: &[u32], tuned_on: &[bool], seed: u64) -> Halves {
    let texts = || of.iter().map(|answer| answers[*answer].text as usize);
    let is_learned = |text: usize| tuned_on.get(text).copied().unwrap_or(false);
    let taught: BTreeSet<u32> = texts().filter(|text| is_learned(*text)).map(|text| copies[text]).collect();
    let mut bodies: Vec<u32> = texts().map(|text| copies[text]).collect();
    bodies.sort_unstable();
    bodies.dedup();
    let held_out = (bodies.len() as f64 * HELD_OUT) as usize;
    bodies.retain(|body| !taught.contains(body));
    bodies.shuffle(&mut generator(seed, STREAM));
    let held_out = held_out.min(bodies.len());
    let mut held: Vec<u32> = bodies[..held_out].to_vec();
    held.sort_unstable();
    let chooses = |answer: &usize| held.binary_search(&copies[answers[*answer].text as usize]).is_ok();
    let (choose, learn) = of.iter().copied().partition(chooses);
    Halves { learn, choose }
}

/// Settings without data for selection.
pub(super) fn unchosen(with_annotators: bool) -> Selected {
    let annotators = with_annotators.then_some(READINESS);
    let (embedding, context) = TRIED[0];
    let priors = Priors { embedding, context, forms: FORMS, annotators, constant: 0.0 };
    Selected { priors, threshold: 0.5, word_variance: UNKNOWN_WORD_VARIANCE }
}

/// Selects the precisions with the least loss on `halves.choose`, after fitting `design` (of `halves.learn`);
/// threshold and variance of words are computed from the same predictions.
pub(super) fn select(
    design: &Design,
    data: &HeadData<'_>,
    halves: &Halves,
    copies: &[u32],
    of_type: usize,
    with_annotators: bool,
    progress: &dyn Progress,
) -> Result<Selected, ModelError> {
    let first = unchosen(with_annotators);
    let marked = |of: &[usize]| {
        of.iter().any(|answer| data.answers[*answer].marks.iter().any(|(_, bits)| bits >> of_type & 1 == 1))
    };
    if !marked(&halves.learn) || !marked(&halves.choose) {
        return Ok(first);
    }
    let mut best: Option<(f64, Priors, Head)> = None;
    for (embedding, context) in TRIED {
        let priors = Priors { embedding, context, ..first.priors };
        let head = Head::at_priors(design, data, of_type, &priors, progress)?;
        let loss = HeldOut::new(data, &halves.choose, of_type, &|_| &head).log_loss();
        if best.as_ref().is_none_or(|(least, ..)| loss < *least) {
            best = Some((loss, priors, head));
        }
    }
    let Some((_, priors, mut head)) = best else { return Ok(first) };
    if with_annotators {
        head.own = Some(own_effects(&head, priors.forms, data, &halves.learn, copies, of_type));
    }
    let held_out = HeldOut::new(data, &halves.choose, of_type, &|_| &head);
    Ok(Selected { priors, threshold: held_out.threshold(), word_variance: held_out.word_variance() })
}

/// Decisions about words of held-out texts.
struct HeldOut {
    decisions: Vec<Decision>,
}

#[derive(Clone, Copy)]
struct Decision {
    word: usize,
    /// Sum of score and readiness, and the variance of readiness.
    score: f64,
    variance: f64,
    marked: bool,
    weight: f64,
}

impl HeldOut {
    /// Collects decisions by the head of each annotator.
    fn new<'h>(
        data: &HeadData<'_>,
        answers: &[usize],
        of_type: usize,
        head: &dyn Fn(u32) -> &'h Head,
    ) -> Self {
        let mut decisions = Vec::new();
        let mut scores: BTreeMap<(u32, *const Head), Vec<f64>> = BTreeMap::new();
        let mut room = vec![0.0; data.texts.dim()];
        for &answer in answers {
            let answer = &data.answers[answer];
            let words = data.texts.words(answer.text);
            let head = head(answer.annotator);
            let scores = scores.entry((answer.text, std::ptr::from_ref(head))).or_insert_with(|| {
                words.clone().map(|word| head.score(data.texts, word, data.scaling, &mut room)).collect()
            });
            let shifts = head.shifts(answer.annotator, scores);
            let of_words = words.clone().zip(scores.iter().zip(shifts));
            for ((word, (score, (mean, variance))), marked) in
                of_words.zip(answer.marked(words.len(), of_type))
            {
                // A compromise between counting every occurrence of a word, as scores do, and counting each
                // form once per text, as training does: one text with a word repeated a thousand times must
                // not decide the selection.
                let weight = f64::from(data.texts.weight(word)).sqrt();
                decisions.push(Decision { word, score: *score + mean, variance, marked, weight });
            }
        }
        Self { decisions }
    }

    fn log_loss(&self) -> f64 {
        let loss = |d: &Decision| -d.weight * ln_probability(d.score * attenuation(d.variance), d.marked);
        let weight: f64 = self.decisions.iter().map(|d| d.weight).sum();
        self.decisions.iter().map(loss).sum::<f64>() / weight.max(1e-9)
    }

    /// The threshold with the largest F1 over all words; 0.5 where nothing is marked.
    fn threshold(&self) -> f64 {
        let p = |d: &Decision| sigmoid(d.score * attenuation(d.variance));
        best_threshold(self.decisions.iter().map(|d| (p(d), d.marked, d.weight)).collect())
    }

    /// The variance under which the marks of words with several answers are most likely, with each word's own
    /// deviation integrated out (Laplace).
    fn word_variance(&self) -> f64 {
        let mut by_word: BTreeMap<usize, Vec<Decision>> = BTreeMap::new();
        self.decisions.iter().for_each(|d| by_word.entry(d.word).or_default().push(*d));
        by_word.retain(|_, decisions| decisions.len() > 1);
        if by_word.is_empty() {
            return UNKNOWN_WORD_VARIANCE;
        }
        let evidence = |deviation: &f64| -> f64 {
            by_word.values().map(|decisions| decisions[0].weight * log_evidence(decisions, *deviation)).sum()
        };
        let best = WORD_DEVIATIONS
            .iter()
            .map(|deviation| (evidence(deviation), *deviation))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        best.map_or(UNKNOWN_WORD_VARIANCE, |(_, deviation)| deviation * deviation)
    }
}

/// The threshold with the largest F1 of decisions, each with its probability, whether it is marked, and its
/// weight; 0.5 where nothing is marked.
pub fn best_threshold(mut all: Vec<(f64, bool, f64)>) -> f64 {
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let positives: f64 = all.iter().filter(|(_, marked, _)| *marked).map(|(_, _, weight)| weight).sum();
    let (mut right, mut taken, mut best) = (0.0, 0.0, (0.0, 0.5));
    for (at, (p, marked, weight)) in all.iter().enumerate() {
        taken += weight;
        right += if *marked { *weight } else { 0.0 };
        let f1 = 2.0 * right / (taken + positives);
        // Decisions with equal probability belong on the same side of the threshold.
        if f1 > best.0 && all.get(at + 1).is_none_or(|next| next.0 < *p) {
            best = (f1, *p);
        }
    }
    best.1
}

/// The logit of a word given its own deviation, from a score that was learned without deviations of words and
/// is therefore that of the mean over them.
pub(super) fn given_word(score: f64, word_variance: f64) -> f64 {
    score / attenuation(word_variance)
}

fn log_evidence(decisions: &[Decision], deviation: f64) -> f64 {
    if deviation == 0.0 {
        return decisions.iter().map(|d| ln_probability(d.score, d.marked)).sum();
    }
    let v = deviation * deviation;
    let likelihood = |effect: f64| -> f64 {
        decisions.iter().map(|d| ln_probability(given_word(d.score, v) + effect, d.marked)).sum()
    };
    let (mode, variance) = effect_mode(decisions.iter().map(|d| (given_word(d.score, v), d.marked, 1.0)), v);
    likelihood(mode) - mode * mode / (2.0 * v) + 0.5 * (variance / v).ln()
}

/// Mode and variance (inverse curvature) of an effect with a normal prior of mean 0, given decisions that
/// each have a score in logits and a weight (Newton).
pub(super) fn effect_mode(
    decisions: impl Iterator<Item = (f64, bool, f64)> + Clone,
    prior_variance: f64,
) -> (f64, f64) {
    let (mut effect, mut curvature) = (0.0, 1.0 / prior_variance);
    for _ in 0..NEWTON_STEPS {
        let mut gradient = -effect / prior_variance;
        curvature = 1.0 / prior_variance;
        for (score, marked, weight) in decisions.clone() {
            let p = sigmoid(score + effect);
            gradient += weight * (f64::from(u8::from(marked)) - p);
            curvature += weight * p * (1.0 - p);
        }
        // Far from the mode a full step overshoots.
        let step = (gradient / curvature).clamp(-2.0, 2.0);
        effect += step;
        if step.abs() < 1e-8 {
            break;
        }
    }
    (effect, 1.0 / curvature)
}
