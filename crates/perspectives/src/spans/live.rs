//! A model of words that takes in answers as they come.

use super::data::{SpanAnswer, SpanTexts};
use super::disagreement::{WordDisagreement, word_disagreement};
use super::model::SpanModel;
use super::selection::{effect_mode, effect_mode_near, given_word};
use crate::data::PerspectivesError;
use crate::math::quadrature::FIVE;
use crate::math::{attenuation, sigmoid};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A fitted `multilevel` model and all answers. Heads and variances stay as they were fitted; a new answer moves its annotator's readiness
/// and its text's words. It keeps a score for each word and type, and no states.
#[derive(Clone, Debug)]
pub struct LiveSpans {
    pub(super) types: usize,
    pub(super) texts: BTreeMap<u32, TextScores>,
    /// Of each annotator and type mean and variance, in logits.
    pub(super) readiness: BTreeMap<u32, Vec<(f64, f64)>>,
    /// Of each type: between annotators, and of single words.
    pub(super) variances: Vec<(f64, f64)>,
    pub(super) answers: BTreeMap<(u32, u32), SpanAnswer>,
    pub(super) answered: BTreeMap<u32, BTreeSet<u32>>,
}

/// Of one text's words.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TextScores {
    /// `[words][types]`.
    pub(super) scores: Vec<f32>,
    pub(super) weights: Vec<f32>,
}

/// What is expected of one word.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedMarks {
    /// Of each type, over the people asked about.
    pub types: Vec<WordDisagreement>,
}

/// The mean over a normal deviation of a word (five-point Gauss-Hermite rule).
fn mean_over_nodes(mode: f64, variance: f64, at: impl Fn(f64) -> WordDisagreement) -> WordDisagreement {
    if variance <= 0.0 {
        return at(mode);
    }
    let mut mean = WordDisagreement::default();
    for (node, weight) in FIVE {
        let found = at(mode + node * variance.sqrt());
        mean.marks += weight * found.marks;
        mean.pairs += weight * found.pairs;
        mean.differ += weight * found.differ;
    }
    mean
}

impl LiveSpans {
    /// Of a model, with the scores of these texts; `rows` are the names by which they are asked for.
    ///
    /// # Errors
    /// [`PerspectivesError::Length`] where `rows` are not one for each text.
    pub fn new(model: &SpanModel, texts: &SpanTexts, rows: &[u32]) -> Result<Self, PerspectivesError> {
        let variances = model.variances();
        let mut live = Self {
            types: variances.len(),
            texts: BTreeMap::new(),
            readiness: BTreeMap::new(),
            variances,
            answers: BTreeMap::new(),
            answered: BTreeMap::new(),
        };
        live.add_texts(model, texts, rows)?;
        Ok(live)
    }

    /// Scores more texts.
    ///
    /// # Errors
    /// [`PerspectivesError::Length`] where `rows` are not one for each text.
    pub fn add_texts(
        &mut self,
        model: &SpanModel,
        texts: &SpanTexts,
        rows: &[u32],
    ) -> Result<(), PerspectivesError> {
        if rows.len() != texts.len() {
            let (what, expected, found) = ("the names of texts", texts.len(), rows.len());
            return Err(PerspectivesError::Length { what, expected, found });
        }
        for (text, row) in rows.iter().enumerate() {
            let scores = model.view(texts, text as u32).scores.iter().map(|score| *score as f32).collect();
            let weights = texts.words(text as u32).map(|word| texts.weight(word)).collect();
            self.texts.insert(*row, TextScores { scores, weights });
        }
        Ok(())
    }

    /// Takes in all of these answers at once; those to texts without scores are left aside.
    pub fn record_all(&mut self, answers: impl Iterator<Item = SpanAnswer>) {
        let mut people = BTreeSet::new();
        for answer in answers {
            people.insert(answer.annotator);
            self.keep(answer);
        }
        people.into_iter().for_each(|annotator| self.refit(annotator));
    }

    /// Takes in one answer, in the place of that annotator's earlier one to the text.
    pub fn record(&mut self, answer: SpanAnswer) {
        let annotator = answer.annotator;
        self.keep(answer);
        self.refit(annotator);
    }

    /// Takes in changes of answers, each of an annotator and a text: the answer that stands now, or none. Every annotator is fitted once.
    pub fn record_changes(&mut self, changes: impl Iterator<Item = (u32, u32, Option<SpanAnswer>)>) {
        let mut people = BTreeSet::new();
        for (annotator, text, answer) in changes {
            people.insert(annotator);
            self.forget(annotator, text);
            if let Some(answer) = answer {
                self.keep(answer);
            }
        }
        people.into_iter().for_each(|annotator| self.refit(annotator));
    }

    /// Forgets the annotator's answer to a text.
    pub fn take_back(&mut self, annotator: u32, text: u32) {
        self.record_changes(std::iter::once((annotator, text, None)));
    }

    fn forget(&mut self, annotator: u32, text: u32) {
        self.answers.remove(&(annotator, text));
        if let Some(people) = self.answered.get_mut(&text) {
            people.remove(&annotator);
        }
    }

    #[cfg(test)]
    pub(super) fn set_word_variance(&mut self, variance: f64) {
        self.variances.iter_mut().for_each(|(_, of_words)| *of_words = variance);
    }

    /// How many answers it knows.
    pub fn answers(&self) -> usize {
        self.answers.len()
    }

    /// How many answers of an annotator it knows.
    pub fn answers_of(&self, annotator: u32) -> usize {
        self.answers.range((annotator, 0)..=(annotator, u32::MAX)).count()
    }

    fn keep(&mut self, answer: SpanAnswer) {
        let fits = self
            .texts
            .get(&answer.text)
            .is_some_and(|text| answer.marks.iter().all(|(word, _)| (*word as usize) < text.weights.len()));
        if fits {
            self.answered.entry(answer.text).or_default().insert(answer.annotator);
            self.answers.insert((answer.annotator, answer.text), answer);
        }
    }

    /// How many types it tells apart.
    pub fn types(&self) -> usize {
        self.types
    }

    /// Whether words of this text have scores.
    pub fn knows(&self, text: u32) -> bool {
        self.texts.contains_key(&text)
    }

    /// Those who have answered this text.
    pub fn answered(&self, text: u32) -> impl Iterator<Item = u32> + '_ {
        self.answered.get(&text).into_iter().flatten().copied()
    }

    /// Mean and variance of the readiness of an annotator, of each type; the population's for one without answers.
    pub fn readiness(&self, annotator: u32) -> Vec<(f64, f64)> {
        self.readiness
            .get(&annotator)
            .cloned()
            .unwrap_or_else(|| self.variances.iter().map(|(between, _)| (0.0, *between)).collect())
    }

    /// Takes the readiness of an annotator (mean and variance for each type, in logits) as known, until an answer of that annotator comes.
    ///
    /// # Errors
    /// [`PerspectivesError::Length`] where it is not of every type.
    pub fn set_readiness(
        &mut self,
        annotator: u32,
        readiness: Vec<(f64, f64)>,
    ) -> Result<(), PerspectivesError> {
        if readiness.len() != self.types {
            let (what, expected, found) = ("the readiness of an annotator", self.types, readiness.len());
            return Err(PerspectivesError::Length { what, expected, found });
        }
        self.readiness.insert(annotator, readiness);
        Ok(())
    }

    /// The mode of that annotator's readiness given all answers of that annotator, and its variance (Laplace), for each type.
    fn refit(&mut self, annotator: u32) {
        let own: Vec<&SpanAnswer> =
            self.answers.range((annotator, 0)..=(annotator, u32::MAX)).map(|(_, answer)| answer).collect();
        let of = |of_type: usize| {
            let between = self.variances[of_type].0;
            if between <= 0.0 {
                return (0.0, 0.0);
            }
            let mut decisions: Vec<(f64, bool, f64)> = Vec::new();
            for answer in &own {
                let Some(text) = self.texts.get(&answer.text) else { continue };
                let marked = answer.marked(text.weights.len(), of_type);
                for (word, (weight, marked)) in text.weights.iter().zip(marked).enumerate() {
                    let score = f64::from(text.scores[word * self.types + of_type]);
                    decisions.push((score, marked, f64::from(*weight)));
                }
            }
            let before = self.readiness.get(&annotator).map_or(0.0, |own| own[of_type].0);
            effect_mode_near(before, decisions.iter().copied(), between)
        };
        let readiness = (0..self.types).map(of).collect();
        self.readiness.insert(annotator, readiness);
    }

    /// What these people would do with every word of a text: those who have answered it count as what is expected of them, too. None of a text without scores.
    pub fn expected(&self, text: u32, people: &[u32]) -> Option<Vec<ExpectedMarks>> {
        let scored = self.texts.get(&text)?;
        let words = scored.weights.len();
        let readiness: BTreeMap<u32, Vec<(f64, f64)>> =
            people.iter().copied().chain(self.answered(text)).map(|who| (who, self.readiness(who))).collect();
        let answers: Vec<(&SpanAnswer, &Vec<(f64, f64)>)> = self
            .answered(text)
            .filter_map(|who| Some((self.answers.get(&(who, text))?, readiness.get(&who)?)))
            .collect();
        let mut all: Vec<ExpectedMarks> =
            (0..words).map(|_| ExpectedMarks { types: Vec::with_capacity(self.types) }).collect();
        for of_type in 0..self.types {
            let marked: Vec<Vec<bool>> =
                answers.iter().map(|(answer, _)| answer.marked(words, of_type).collect()).collect();
            for (word, expected) in all.iter_mut().enumerate() {
                let score = f64::from(scored.scores[word * self.types + of_type]);
                let of_words = self.variances[of_type].1;
                let given = |mean: f64| given_word(score + mean, of_words);
                let decisions: Vec<(f64, bool, f64)> = answers
                    .iter()
                    .zip(&marked)
                    .map(|((_, own), marked)| (given(own[of_type].0), marked[word], 1.0))
                    .collect();
                let (mode, variance) = if of_words > 0.0 {
                    effect_mode(decisions.iter().copied(), of_words)
                } else {
                    (0.0, 0.0)
                };
                // All people read the same word: given its deviation their decisions are independent, over it they are not.
                let at = |effect: f64| {
                    word_disagreement(people.iter().map(|who| {
                        let (mean, own) = readiness[who][of_type];
                        sigmoid((given(mean) + effect) * attenuation(own / attenuation(of_words).powi(2)))
                    }))
                };
                expected.types.push(mean_over_nodes(mode, variance, at));
            }
        }
        Some(all)
    }
}
