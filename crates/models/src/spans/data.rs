//! Words of texts as models see them, and the marks of annotators.

use dissensus_stats::data::ModelError;
use std::collections::HashMap;
use std::ops::Range;

/// Largest number of types of a span question: a word's marks are bits of a `u64`.
pub(super) const MAX_TYPES: usize = 64;

/// Input of models for the words of one text.
#[derive(Clone, Copy, Debug)]
pub struct WordFeatures<'a> {
    /// Hidden states, `[words][dim]`, row-major.
    pub states: &'a [f32],
    /// For each word the id of its form (the word in lower case); ids that a model has not learned are
    /// ignored.
    pub forms: &'a [u32],
}

/// The words of all texts.
#[derive(Clone, Debug, Default)]
pub struct SpanTexts {
    dim: usize,
    /// First word of each text, followed by the total number of words.
    first: Vec<usize>,
    states: Vec<f32>,
    forms: Vec<u32>,
    /// Inverse of the number of occurrences of the word's form in its text.
    weights: Vec<f32>,
}

/// The marks of one annotator in one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanAnswer {
    /// Row of the text.
    pub text: u32,
    /// Row of the annotator.
    pub annotator: u32,
    /// Words with a mark, ascending, each with its types as bits (bit 0: the first type).
    pub marks: Vec<(u32, u64)>,
}

impl SpanTexts {
    /// An empty set of texts, with word states of `dim` components.
    pub fn new(dim: usize) -> Self {
        Self { dim, first: vec![0], ..Self::default() }
    }

    /// Adds the next text.
    ///
    /// # Errors
    /// [`ModelError::Length`] where states are not `[words][dim]`; [`ModelError::NotFinite`].
    pub fn push(&mut self, text: WordFeatures<'_>) -> Result<(), ModelError> {
        let (expected, found) = (text.forms.len() * self.dim, text.states.len());
        if expected != found {
            return Err(ModelError::Length { what: "the states of a text's words", expected, found });
        }
        if let Some(at) = text.states.iter().position(|value| !value.is_finite()) {
            return Err(ModelError::NotFinite { text: self.len(), column: at % self.dim.max(1) });
        }
        let mut times: HashMap<u32, u32> = HashMap::new();
        text.forms.iter().for_each(|form| *times.entry(*form).or_insert(0) += 1);
        for form in text.forms {
            self.weights.push(1.0 / times[form] as f32);
        }
        self.states.extend(text.states);
        self.forms.extend(text.forms);
        self.first.push(self.forms.len());
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.first.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Components of a word's states.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Range of the words of a text.
    pub fn words(&self, text: u32) -> Range<usize> {
        self.first[text as usize]..self.first[text as usize + 1]
    }

    pub fn state(&self, word: usize) -> &[f32] {
        &self.states[word * self.dim..(word + 1) * self.dim]
    }

    pub fn form(&self, word: usize) -> u32 {
        self.forms[word]
    }

    /// Weight of a word in training: a form that occurs a thousand times in its text counts as one word, not
    /// a thousand.
    pub fn weight(&self, word: usize) -> f32 {
        self.weights[word]
    }

    /// Number of word forms, with ids from 0.
    pub(super) fn forms(&self) -> usize {
        self.forms.iter().max().map_or(0, |form| *form as usize + 1)
    }

    /// Checks that every answer is to one of these texts, by one of the annotators, and marks existing words.
    ///
    /// # Errors
    /// [`ModelError::UnknownText`], [`ModelError::UnknownAnnotator`] or [`ModelError::Length`].
    pub(super) fn check(
        &self,
        answers: &[SpanAnswer],
        annotators: usize,
        types: usize,
    ) -> Result<(), ModelError> {
        if types > MAX_TYPES {
            let (what, expected) = ("the types of spans", MAX_TYPES);
            return Err(ModelError::Length { what, expected, found: types });
        }
        for (observation, answer) in answers.iter().enumerate() {
            let SpanAnswer { text, annotator, marks } = answer;
            if *text as usize >= self.len() {
                return Err(ModelError::UnknownText { observation, text: *text, texts: self.len() });
            }
            if *annotator as usize >= annotators {
                let annotator = *annotator;
                return Err(ModelError::UnknownAnnotator { observation, annotator, annotators });
            }
            let words = self.words(*text).len();
            let within = marks
                .iter()
                .all(|(word, bits)| (*word as usize) < words && (types == MAX_TYPES || bits >> types == 0));
            let ascending = marks.windows(2).all(|pair| pair[0].0 < pair[1].0);
            if !within || !ascending {
                let found = marks.iter().map(|(word, _)| *word as usize + 1).max().unwrap_or(0);
                let what = "the marked words of an answer, ascending and of known types";
                return Err(ModelError::Length { what, expected: words, found });
            }
        }
        Ok(())
    }
}

impl SpanAnswer {
    /// For each of `words` words, whether it is marked with this type.
    pub fn marked(&self, words: usize, of_type: usize) -> impl Iterator<Item = bool> {
        let mut marks = self.marks.iter().peekable();
        (0..words as u32).map(move |word| {
            marks.next_if(|(at, _)| *at == word).is_some_and(|(_, bits)| bits >> of_type & 1 == 1)
        })
    }
}
