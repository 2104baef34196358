//! Annotators who mark words by a known rule, for tests.
#![allow(clippy::unwrap_used)] // for tests alone

use super::data::{SpanAnswer, SpanTexts, WordFeatures};
use super::evaluate::SpanPredictions;
use super::model::{SpanFitOptions, SpanModel, SpanTraining};
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::{ModelError, ModelKind};
use dissensus_stats::math::random::generator;
use dissensus_stats::math::sigmoid;
use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

/// Texts of 12 words, people who differ in readiness by `deviation`, and whether each marks each word. States
/// are a signal plus noise.
pub struct Simulated {
    pub texts: SpanTexts,
    pub answers: Vec<SpanAnswer>,
    pub(crate) readiness: Vec<f64>,
    pub(crate) copies: Vec<u32>,
}

pub fn simulated(texts: u32, annotators: u32, deviation: f64, seed: u64) -> Simulated {
    let mut rng = generator(seed, 1);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let readiness: Vec<f64> = (0..annotators).map(|_| deviation * normal()).collect();
    let (mut all, mut scores) = (SpanTexts::new(8), Vec::new());
    for _ in 0..texts {
        let states: Vec<f32> = (0..12 * 8).map(|_| normal() as f32).collect();
        let forms: Vec<u32> = (0..12).map(|word| word * 7 % 12).collect();
        scores.push(
            states
                .chunks_exact(8)
                .map(|s| 1.5 * f64::from(s[0]) + f64::from(s[5]) - 1.5)
                .collect::<Vec<f64>>(),
        );
        all.push(WordFeatures { states: &states, forms: &forms }).unwrap();
    }
    let mut answers = Vec::new();
    for (text, scores) in scores.iter().enumerate() {
        for who in 0..5 {
            let annotator = (text as u32 * 5 + who * 3) % annotators;
            let marks = (0..12_u32)
                .filter(|word| {
                    let p = sigmoid(scores[*word as usize] + readiness[annotator as usize]);
                    rng.random_bool(p)
                })
                .map(|word| (word, 1))
                .collect();
            answers.push(SpanAnswer { text: text as u32, annotator, marks });
        }
    }
    answers.sort_by_key(|a| (a.text, a.annotator));
    answers.dedup_by_key(|a| (a.text, a.annotator));
    Simulated { texts: all, answers, readiness, copies: (0..texts).collect() }
}

impl Simulated {
    /// Training data with these answers.
    pub fn training<'a>(&'a self, train: &'a [usize]) -> SpanTraining<'a> {
        SpanTraining {
            texts: &self.texts,
            answers: &self.answers,
            train,
            annotators: self.readiness.len(),
            types: 1,
            copies: &self.copies,
            tuned_on: &[],
        }
    }

    pub fn fit(&self, kind: ModelKind, train: &[usize]) -> Result<SpanModel, ModelError> {
        SpanModel::fit(&self.training(train), kind, &SpanFitOptions::default(), &Silent)
    }

    /// Log loss of a word on these answers.
    pub fn loss(&self, model: &SpanModel, test: &[usize]) -> f64 {
        let test = self.of(test);
        self.loss_of(&SpanPredictions::of(model, &self.texts, &test), &test)
    }

    /// The same for predictions of these answers.
    pub fn loss_of(&self, predictions: &SpanPredictions, test: &[&SpanAnswer]) -> f64 {
        predictions.evaluation(&self.texts, test, |_| true).scores.token_log_loss
    }

    pub fn of(&self, at: &[usize]) -> Vec<&SpanAnswer> {
        at.iter().map(|at| &self.answers[*at]).collect()
    }

    /// Answers to the first seven tenths of the texts, and those to the others.
    pub fn halves(&self) -> (Vec<usize>, Vec<usize>) {
        let last = self.texts.len() as u32 * 7 / 10;
        (0..self.answers.len()).partition(|at| self.answers[*at].text < last)
    }
}
