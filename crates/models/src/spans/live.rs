//! A span model that is updated with each new answer.

use super::data::{SpanAnswer, SpanTexts};
use super::disagreement::{WordDisagreement, word_disagreement};
use super::model::{SpanModel, SpanTraining, WordView};
use super::own_effects::{OwnEffects, Population, WordDecision, decided, mode};
use super::selection::{effect_mode, given_word};
use dissensus_stats::data::ModelError;
use dissensus_stats::math::quadrature::FIVE;
use dissensus_stats::math::{attenuation, sigmoid};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A fitted `multilevel` model and all answers. Heads and variances stay as they were fitted; a new answer
/// updates its annotator's effects and its text's words. The model stores a score for each word and type, and
/// no states.
#[derive(Clone, Debug)]
pub struct LiveSpans {
    pub(super) types: usize,
    pub(super) texts: BTreeMap<u32, TextScores>,
    /// Effects by annotator and type.
    pub(super) effects: BTreeMap<u32, Vec<OwnEffects>>,
    /// For each type, the population of annotators and the variance of single words.
    pub(super) variances: Vec<(Population, f64)>,
    pub(super) answers: BTreeMap<(u32, u32), SpanAnswer>,
    pub(super) answered: BTreeMap<u32, BTreeSet<u32>>,
}

/// Scores of one text's words.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TextScores {
    /// `[words][types]`.
    pub(super) scores: Vec<f32>,
    pub(super) weights: Vec<f32>,
}

impl TextScores {
    /// Scores of its words for one type.
    fn of_type(&self, of_type: usize, types: usize) -> Vec<f64> {
        self.scores.iter().skip(of_type).step_by(types).map(|score| f64::from(*score)).collect()
    }
}

/// Expected marks of one word.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedMarks {
    /// For each type, over the requested people.
    pub types: Vec<WordDisagreement>,
}

/// Mean over a normal deviation of a word (five-point Gauss-Hermite rule).
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
    /// Builds a live model from a model, with the scores of these texts; `rows` are their identifiers.
    ///
    /// # Errors
    /// [`ModelError::Length`] where `rows` does not have one entry per text.
    pub fn new(model: &SpanModel, texts: &SpanTexts, rows: &[u32]) -> Result<Self, ModelError> {
        let variances = model.variances();
        let mut live = Self {
            types: variances.len(),
            texts: BTreeMap::new(),
            effects: BTreeMap::new(),
            variances,
            answers: BTreeMap::new(),
            answered: BTreeMap::new(),
        };
        live.add_texts(model, texts, rows)?;
        Ok(live)
    }

    /// Builds a live model from a model and its training texts, with the scores that words have without the
    /// answers to their own text: these answers determine the deviations of its words here, and must not have
    /// affected its scores as well. `rows` are the identifiers by which texts are requested.
    ///
    /// # Errors
    /// [`ModelError::Length`] where `rows` does not have one entry per text.
    pub fn of_learned(model: &SpanModel, of: &SpanTraining<'_>, rows: &[u32]) -> Result<Self, ModelError> {
        let mut live = Self::new(model, &SpanTexts::new(of.texts.dim()), &[])?;
        live.insert(of.texts, rows, model.views_without_own(of))?;
        Ok(live)
    }

    /// Scores more texts.
    ///
    /// # Errors
    /// [`ModelError::Length`] where `rows` does not have one entry per text.
    pub fn add_texts(
        &mut self,
        model: &SpanModel,
        texts: &SpanTexts,
        rows: &[u32],
    ) -> Result<(), ModelError> {
        let views = (0..texts.len() as u32).map(|text| model.view(texts, text)).collect();
        self.insert(texts, rows, views)
    }

    fn insert(&mut self, texts: &SpanTexts, rows: &[u32], views: Vec<WordView>) -> Result<(), ModelError> {
        if rows.len() != texts.len() {
            let (what, expected, found) = ("the names of texts", texts.len(), rows.len());
            return Err(ModelError::Length { what, expected, found });
        }
        for ((text, row), view) in rows.iter().enumerate().zip(views) {
            let scores = view.scores.iter().map(|score| *score as f32).collect();
            let weights = texts.words(text as u32).map(|word| texts.weight(word)).collect();
            self.texts.insert(*row, TextScores { scores, weights });
        }
        Ok(())
    }

    /// Records all of these answers at once; those to texts without scores are ignored.
    pub fn record_all(&mut self, answers: impl Iterator<Item = SpanAnswer>) {
        let mut people = BTreeSet::new();
        for answer in answers {
            people.insert(answer.annotator);
            self.store_answer(answer);
        }
        people.into_iter().for_each(|annotator| self.refit(annotator));
    }

    /// Records one answer, replacing that annotator's earlier one to the text.
    pub fn record(&mut self, answer: SpanAnswer) {
        let annotator = answer.annotator;
        self.store_answer(answer);
        self.refit(annotator);
    }

    /// Applies changes of answers, each of an annotator and a text: the current answer, or none. Every
    /// annotator is refitted once.
    pub fn record_changes(&mut self, changes: impl Iterator<Item = (u32, u32, Option<SpanAnswer>)>) {
        let mut people = BTreeSet::new();
        for (annotator, text, answer) in changes {
            people.insert(annotator);
            self.forget(annotator, text);
            if let Some(answer) = answer {
                self.store_answer(answer);
            }
        }
        people.into_iter().for_each(|annotator| self.refit(annotator));
    }

    /// Removes the annotator's answer to a text.
    pub fn retract(&mut self, annotator: u32, text: u32) {
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

    /// Number of recorded answers.
    pub fn answers(&self) -> usize {
        self.answers.len()
    }

    /// Number of recorded answers of an annotator.
    pub fn answers_of(&self, annotator: u32) -> usize {
        self.answers.range((annotator, 0)..=(annotator, u32::MAX)).count()
    }

    fn store_answer(&mut self, answer: SpanAnswer) {
        let fits = self
            .texts
            .get(&answer.text)
            .is_some_and(|text| answer.marks.iter().all(|(word, _)| (*word as usize) < text.weights.len()));
        if fits {
            self.answered.entry(answer.text).or_default().insert(answer.annotator);
            self.answers.insert((answer.annotator, answer.text), answer);
        }
    }

    /// Number of types.
    pub fn types(&self) -> usize {
        self.types
    }

    /// Whether words of this text have scores.
    pub fn knows(&self, text: u32) -> bool {
        self.texts.contains_key(&text)
    }

    /// The annotators who have answered this text.
    pub fn answered(&self, text: u32) -> impl Iterator<Item = u32> + '_ {
        self.answered.get(&text).into_iter().flatten().copied()
    }

    /// Effects of an annotator in the marks of each type; those of an unknown annotator for one without
    /// answers.
    pub fn effects(&self, annotator: u32) -> Vec<OwnEffects> {
        self.effects
            .get(&annotator)
            .cloned()
            .unwrap_or_else(|| self.variances.iter().map(|(population, _)| population.unknown()).collect())
    }

    /// Sets the effects of an annotator in the marks of each type, until the annotator's next answer.
    ///
    /// # Errors
    /// [`ModelError::Length`] where there is not one entry per type.
    pub fn set_effects(&mut self, annotator: u32, effects: Vec<OwnEffects>) -> Result<(), ModelError> {
        if effects.len() != self.types {
            let (what, expected, found) = ("the effects of an annotator", self.types, effects.len());
            return Err(ModelError::Length { what, expected, found });
        }
        self.effects.insert(annotator, effects);
        Ok(())
    }

    /// Refits the mode of the annotator's effects given all of the annotator's answers, and their covariance
    /// (Laplace), for each type.
    fn refit(&mut self, annotator: u32) {
        let own: Vec<&SpanAnswer> =
            self.answers.range((annotator, 0)..=(annotator, u32::MAX)).map(|(_, answer)| answer).collect();
        let before = self.effects(annotator);
        let of = |of_type: usize| {
            let (population, _) = &self.variances[of_type];
            if !population.differs() {
                return OwnEffects::of_readiness(0.0, 0.0);
            }
            let mut decisions: Vec<WordDecision> = Vec::new();
            for answer in &own {
                let Some(text) = self.texts.get(&answer.text) else { continue };
                let scores = text.of_type(of_type, self.types);
                let marked = answer.marked(scores.len(), of_type);
                decisions.extend(decided(&scores, text.weights.iter().copied(), marked));
            }
            if decisions.is_empty() {
                return population.unknown();
            }
            mode(&decisions, population, &before[of_type])
        };
        let effects = (0..self.types).map(of).collect();
        self.effects.insert(annotator, effects);
    }

    /// Expected marks of these people for every word of a text; those who have answered it count by their
    /// expectation, too. `None` for a text without scores.
    pub fn expected(&self, text: u32, people: &[u32]) -> Option<Vec<ExpectedMarks>> {
        let scored = self.texts.get(&text)?;
        let words = scored.weights.len();
        let effects: BTreeMap<u32, Vec<OwnEffects>> =
            people.iter().copied().chain(self.answered(text)).map(|who| (who, self.effects(who))).collect();
        let answers: Vec<(&SpanAnswer, &Vec<OwnEffects>)> = self
            .answered(text)
            .filter_map(|who| Some((self.answers.get(&(who, text))?, effects.get(&who)?)))
            .collect();
        let mut all: Vec<ExpectedMarks> =
            (0..words).map(|_| ExpectedMarks { types: Vec::with_capacity(self.types) }).collect();
        for of_type in 0..self.types {
            let marked: Vec<Vec<bool>> =
                answers.iter().map(|(answer, _)| answer.marked(words, of_type).collect()).collect();
            let scores = scored.of_type(of_type, self.types);
            let (population, of_words) = self.variances[of_type];
            let covariates = population.covariates(&scores);
            for ((word, expected), (score, covariates)) in
                all.iter_mut().enumerate().zip(scores.iter().zip(&covariates))
            {
                let given = |mean: f64| given_word(score + mean, of_words);
                let decisions: Vec<(f64, bool, f64)> = answers
                    .iter()
                    .zip(&marked)
                    .map(|((_, own), marked)| (given(own[of_type].at(covariates).0), marked[word], 1.0))
                    .collect();
                let (mode, variance) = if of_words > 0.0 {
                    effect_mode(decisions.iter().copied(), of_words)
                } else {
                    (0.0, 0.0)
                };
                // All people read the same word: given its deviation their decisions are independent,
                // marginally they are not.
                let at = |effect: f64| {
                    word_disagreement(people.iter().map(|who| {
                        let (mean, own) = effects[who][of_type].at(covariates);
                        sigmoid((given(mean) + effect) * attenuation(own / attenuation(of_words).powi(2)))
                    }))
                };
                expected.types.push(mean_over_nodes(mode, variance, at));
            }
        }
        Some(all)
    }
}
