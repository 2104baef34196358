//! A span model whose head was trained together with its encoder.
//!
//! Such a head is overconfident on its training texts. It is calibrated on answers to texts that neither head
//! nor encoder learned (Platt 1999, Probabilistic outputs for support vector machines), together with the
//! frequency with which each form of a word was marked.

use super::data::{SpanAnswer, SpanTexts};
use super::head::{Head, HeadData};
use super::head_objective::Scaling;
use super::model::{SpanModel, SpanTraining, TypeModel};
use super::own_effects::Population;
use super::readiness::{Readiness, fit_readiness};
use super::selection::{Selected, unchosen};
use dissensus_stats::data::{ModelError, ModelKind};
use dissensus_stats::math::{attenuation, sigmoid};
use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Pseudo-count of words added to those of a form, with the rates of all words.
const SMOOTHING: f64 = 10.0;
/// Precisions of the priors of slope (about 1), weight of the forms' log-odds (about 0) and shift (about 0).
const PRECISIONS: [f64; 3] = [4.0, 4.0, 1.0];
/// Largest number of Newton steps.
const STEPS: usize = 50;

/// The head of one type, with everything needed to predict new words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TypeHead {
    /// In logits.
    pub constant: f64,
    /// Weights of a word's hidden states.
    pub states: Vec<f32>,
    /// Effect of each form by its id, in logits.
    pub forms: Vec<f32>,
    /// Variance between annotators of the readiness to mark; 0 for a model without annotators.
    pub readiness_variance: f64,
    /// Distribution of annotators' effects, where more than readiness was learned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub population: Option<Population>,
    /// Variance of single words beyond their scores.
    pub word_variance: f64,
    /// Smallest probability at which a word counts as marked.
    pub threshold: f64,
    /// Share of words that answers mark, with a form counted once per text.
    pub rate: f64,
}

impl SpanModel {
    /// The model of a head that was trained together with its encoder: `weights` (`[types][hidden]`) and
    /// `constants` give the score of a word from its last hidden state. `of.texts` has these states;
    /// `of.train` are the answers that both learned from, `validation` (also indices) those to other texts,
    /// on which the head is calibrated; without any it is used uncalibrated. Readiness and its variance are
    /// estimated from both.
    ///
    /// # Errors
    /// Arrays of inconsistent sizes; a head with numbers that are not finite.
    pub fn of_tuned(
        of: &SpanTraining<'_>,
        validation: &[usize],
        weights: &[f32],
        constants: &[f32],
        with_readiness: bool,
    ) -> Result<Self, ModelError> {
        of.check()?;
        let (types, dim) = (of.types, of.texts.dim());
        if weights.len() != types * dim || constants.len() != types {
            let (what, expected) = ("the weights of words", types * dim);
            return Err(ModelError::Length { what, expected, found: weights.len() });
        }
        let scaling = Scaling::none(dim);
        let data =
            HeadData { texts: of.texts, answers: of.answers, annotators: of.annotators, scaling: &scaling };
        let train: Vec<SpanAnswer> = of.train.iter().map(|at| of.answers[*at].clone()).collect();
        let held_out: Vec<SpanAnswer> = validation.iter().map(|at| of.answers[*at].clone()).collect();
        let both = [&train[..], &held_out].concat();
        let counts = Counts::new(of.texts, &train, types);
        let mut heads: Vec<Head> = weights
            .chunks_exact(dim.max(1))
            .zip(constants)
            .map(|(weights, constant)| {
                let readiness = vec![(0.0, 0.0); of.annotators];
                Head::of(f64::from(*constant), weights.to_vec(), Vec::new(), readiness, 0.0)
            })
            .collect();
        if with_readiness {
            set_readiness(&mut heads, &data, &train);
        }
        let mut selected = vec![unchosen(with_readiness); types];
        if !held_out.is_empty() {
            for (of_type, head) in heads.iter_mut().enumerate() {
                let forms = counts.log_odds(of_type);
                let [slope, of_forms, shift] = calibration(head, &forms, &data, &held_out, of_type);
                head.calibrate(slope, shift, forms.iter().map(|odds| (of_forms * odds) as f32).collect());
            }
            if with_readiness {
                set_readiness(&mut heads, &data, &train);
            }
            for (of_type, (head, selected)) in heads.iter().zip(&mut selected).enumerate() {
                // Words without any marks carry no information about their deviation.
                if held_out.iter().any(|answer| answer.marks.iter().any(|(_, bits)| bits >> of_type & 1 == 1))
                {
                    *selected = selected.by(&data, validation, of_type, &|_| head);
                }
            }
        }
        if with_readiness {
            set_readiness(&mut heads, &data, &both);
        }
        let kind = if with_readiness { ModelKind::Multilevel } else { ModelKind::Shared };
        let heads = heads.into_iter().zip(selected).enumerate();
        let types: Vec<(TypeModel, Selected, f64)> = heads
            .map(|(at, (head, selected))| (TypeModel::Shared(head), selected, counts.rate(at)))
            .collect();
        let mut texts: Vec<u32> = both.iter().map(|answer| answer.text).collect();
        texts.sort_unstable();
        texts.dedup();
        Self::from_types(kind, types, scaling, texts.len())
    }

    /// The heads that all annotators share, on unscaled hidden states, for storage: the scaling (means,
    /// scales) in front of a head of a frozen encoder is folded into its weights.
    pub fn type_heads(&self) -> Vec<TypeHead> {
        self.types()
            .map(|(model, selected, rate)| {
                let (TypeModel::Shared(head) | TypeModel::Own(_, head)) = model;
                let (constant, states, forms) = head.parameters();
                let (constant, states) = self.scaling().worked_into(constant, states);
                TypeHead {
                    constant,
                    states,
                    forms: forms.to_vec(),
                    readiness_variance: head.population().variances[0],
                    population: head.own.as_ref().map(|(population, _)| *population),
                    word_variance: selected.word_variance,
                    threshold: selected.threshold,
                    rate,
                }
            })
            .collect()
    }

    /// Restores the model from stored heads. It has no annotators: [`LiveSpans`](super::LiveSpans) learns
    /// them from answers.
    ///
    /// # Errors
    /// [`ModelError::Length`] where heads differ in size, [`ModelError::Damaged`] where a number is not
    /// finite.
    pub fn of_type_heads(heads: Vec<TypeHead>) -> Result<Self, ModelError> {
        let dim = heads.first().map_or(0, |head| head.states.len());
        let with_readiness = heads.iter().any(|head| head.readiness_variance > 0.0);
        if let Some(other) = heads.iter().find(|head| head.states.len() != dim) {
            let (what, found) = ("the weights of words", other.states.len());
            return Err(ModelError::Length { what, expected: dim, found });
        }
        let types = heads
            .into_iter()
            .map(|head| {
                let selected = Selected {
                    threshold: head.threshold,
                    word_variance: head.word_variance,
                    ..unchosen(with_readiness)
                };
                let TypeHead { constant, states, forms, readiness_variance, population, rate, .. } = head;
                let mut head = Head::of(constant, states, forms, Vec::new(), readiness_variance);
                head.own = population.map(|population| (population, Vec::new()));
                (TypeModel::Shared(head), selected, rate)
            })
            .collect();
        let kind = if with_readiness { ModelKind::Multilevel } else { ModelKind::Shared };
        Self::from_types(kind, types, Scaling::none(dim), 0)
    }
}

/// Fits readiness to these answers, given the heads' scores.
fn set_readiness(heads: &mut [Head], data: &HeadData<'_>, answers: &[SpanAnswer]) {
    let types = heads.len();
    let mut scores: BTreeMap<u32, (Vec<f64>, Vec<f32>)> = BTreeMap::new();
    for answer in answers {
        scores.entry(answer.text).or_insert_with(|| {
            let words = data.texts.words(answer.text);
            let weights = words.clone().map(|word| data.texts.weight(word)).collect();
            (all_scores(heads, data, answer.text), weights)
        });
    }
    let known = |text: u32| {
        let (scores, weights) = &scores[&text];
        (&scores[..], &weights[..])
    };
    let fitted = fit_readiness(answers, data.annotators, types, known);
    for (head, Readiness { of, variance }) in heads.iter_mut().zip(fitted) {
        (head.readiness, head.variance) = (of, variance);
    }
}

fn all_scores(heads: &[Head], data: &HeadData<'_>, text: u32) -> Vec<f64> {
    let mut room = vec![0.0; data.texts.dim()];
    let mut all = Vec::new();
    for word in data.texts.words(text) {
        all.extend(heads.iter().map(|head| head.score(data.texts, word, data.scaling, &mut room)));
    }
    all
}

/// Slope, weight of the forms' log-odds and shift under which held-out marks are most likely, with normal
/// priors (Newton).
fn calibration(
    head: &Head,
    forms: &[f64],
    data: &HeadData<'_>,
    held_out: &[SpanAnswer],
    of_type: usize,
) -> [f64; 3] {
    let mut decisions: Vec<HeldOutWord> = Vec::new();
    let mut scores: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for answer in held_out {
        let scores = scores
            .entry(answer.text)
            .or_insert_with(|| all_scores(std::slice::from_ref(head), data, answer.text));
        let words = data.texts.words(answer.text);
        let (readiness, variance) =
            head.readiness.get(answer.annotator as usize).copied().unwrap_or((0.0, head.variance));
        for ((word, score), marked) in words.clone().zip(scores).zip(answer.marked(words.len(), of_type)) {
            let odds = forms.get(data.texts.form(word) as usize).copied().unwrap_or_default();
            // A compromise between counting words and counting forms, as in the selection of penalties.
            let weight = f64::from(data.texts.weight(word)).sqrt();
            let row = Vector3::new(*score, odds, 1.0);
            decisions.push(HeldOutWord {
                row,
                readiness,
                attenuation: attenuation(variance),
                marked,
                weight,
            });
        }
    }
    // Negative coefficients would invert the learned scores: they are fixed at 0, and the others refitted.
    let mut held = [false; 3];
    loop {
        let found = most_likely(&decisions, held);
        match (0..2).find(|at| !held[*at] && found[*at] < 0.0) {
            Some(below) => held[below] = true,
            None => return found.into(),
        }
    }
}

/// A decision on a word of a held-out text.
struct HeldOutWord {
    /// Score, log-odds of the form, 1.
    row: Vector3<f64>,
    readiness: f64,
    /// Attenuation by the uncertainty of the readiness, as in predictions.
    attenuation: f64,
    marked: bool,
    weight: f64,
}

fn most_likely(decisions: &[HeldOutWord], held: [bool; 3]) -> Vector3<f64> {
    let mean = Vector3::new(1.0, 0.0, 0.0);
    let free = Vector3::from(held.map(|held| if held { 0.0 } else { 1.0 }));
    let mut x = mean.component_mul(&free);
    for _ in 0..STEPS {
        let precision = Matrix3::from_diagonal(&Vector3::from(PRECISIONS));
        let (mut gradient, mut hessian) = (precision * (x - mean), precision);
        for HeldOutWord { row, readiness, attenuation, marked, weight } in decisions {
            let p = sigmoid((x.dot(row) + readiness) * attenuation);
            gradient += row * (weight * attenuation * (p - f64::from(u8::from(*marked))));
            hessian += row * row.transpose() * (weight * attenuation.powi(2) * p * (1.0 - p));
        }
        gradient.component_mul_assign(&free);
        for at in (0..3).filter(|at| held[*at]) {
            hessian.set_row(at, &Matrix3::identity().row(at));
            hessian.set_column(at, &Matrix3::identity().column(at));
        }
        let Some(step) = hessian.cholesky().map(|factor| factor.solve(&gradient)) else { break };
        // Far from the minimum a full step overshoots.
        let size = step.norm();
        let step = if size > 1.0 { step / size } else { step };
        x -= step;
        if size < 1e-8 {
            break;
        }
    }
    x
}

/// Frequency with which forms are marked, with a form counted once per text.
struct Counts {
    types: usize,
    marked: Vec<f64>,
    words: Vec<f64>,
    rates: Vec<f64>,
}

impl Counts {
    fn new(texts: &SpanTexts, answers: &[SpanAnswer], types: usize) -> Self {
        let forms = texts.forms();
        let (mut marked, mut words) = (vec![0.0; forms * types], vec![0.0; forms]);
        let (mut all_marked, mut all) = (vec![0.5; types], 1.0);
        for answer in answers {
            let range = texts.words(answer.text);
            for word in range.clone() {
                let weight = f64::from(texts.weight(word));
                words[texts.form(word) as usize] += weight;
                all += weight;
            }
            for (word, bits) in &answer.marks {
                let word = range.start + *word as usize;
                let weight = f64::from(texts.weight(word));
                for of_type in (0..types).filter(|of_type| bits >> of_type & 1 == 1) {
                    marked[texts.form(word) as usize * types + of_type] += weight;
                    all_marked[of_type] += weight;
                }
            }
        }
        Self { types, marked, words, rates: all_marked.iter().map(|marked| marked / all).collect() }
    }

    fn rate(&self, of_type: usize) -> f64 {
        self.rates[of_type]
    }

    /// For each form its smoothed log-odds minus those of all words.
    fn log_odds(&self, of_type: usize) -> Vec<f64> {
        let rate = self.rates[of_type];
        let logit = |p: f64| (p / (1.0 - p)).ln();
        let of = |(form, words): (usize, &f64)| {
            let marked = self.marked[form * self.types + of_type] + SMOOTHING * rate;
            logit((marked / (words + SMOOTHING)).clamp(1e-6, 1.0 - 1e-6)) - logit(rate)
        };
        self.words.iter().enumerate().map(of).collect()
    }
}
