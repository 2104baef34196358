//! Inputs of training on marked words, and the learned heads.

use dissensus_models::spans::SpanAnswer;
use dissensus_stats::data::ModelError;

/// The words that annotators mark, to be learned together with labels of whole texts. Texts are rows of the
/// training's embeddings.
#[derive(Clone, Copy, Debug)]
pub struct WordQuestion<'a> {
    /// The words of each text (first character and the one after the last, Unicode scalar values); not
    /// needed for texts without answers.
    pub words: &'a [Vec<(u32, u32)>],
    /// Weights of each text's words: one over the number of occurrences of the form in the text.
    pub counts: &'a [Vec<f32>],
    /// Training answers.
    pub answers: &'a [SpanAnswer],
    /// Answers that choose the best checkpoint, together with the labels of the other questions.
    pub validation: &'a [SpanAnswer],
    pub annotators: usize,
    pub types: usize,
    /// Weight of its mean loss relative to the other questions, in units of the loss of a model that knows
    /// only how often each type is marked; more than 0.
    pub weight: f64,
}

impl WordQuestion<'_> {
    /// Checks that answers refer to existing texts, annotators and words.
    pub(super) fn check(&self, texts: usize) -> Result<(), ModelError> {
        if !self.weight.is_finite() || self.weight <= 0.0 {
            let allowed = "the weight of a question is more than 0";
            return Err(ModelError::Choice { field: "weights", value: self.weight.to_string(), allowed });
        }
        if self.answers.is_empty() {
            return Err(ModelError::EmptySplit { split: "training".into(), side: "train" });
        }
        for found in [self.words.len(), self.counts.len()] {
            if found != texts {
                let what = "the words of each text";
                return Err(ModelError::Length { what, expected: texts, found });
            }
        }
        for (observation, answer) in self.answers.iter().chain(self.validation).enumerate() {
            let SpanAnswer { text, annotator, marks } = answer;
            let Some(counts) = self.counts.get(*text as usize) else {
                return Err(ModelError::UnknownText { observation, text: *text, texts });
            };
            if *annotator as usize >= self.annotators {
                let (annotator, annotators) = (*annotator, self.annotators);
                return Err(ModelError::UnknownAnnotator { observation, annotator, annotators });
            }
            let expected = self.words[*text as usize].len();
            let last = marks.iter().map(|(word, _)| *word as usize + 1).max().unwrap_or(0);
            if counts.len() != expected || last > expected {
                let (what, found) =
                    ("the words of a text, with their counts and marks", last.max(counts.len()));
                return Err(ModelError::Length { what, expected, found });
            }
        }
        Ok(())
    }
}

/// The head learned for the words of one question: scores are `state of the word x weights + constants`, in
/// logits.
#[derive(Clone, Debug, PartialEq)]
pub struct WordHead {
    /// `[types][hidden]`, row-major, on the last hidden states of the tuned encoder.
    pub weights: Vec<f32>,
    /// One per type.
    pub constants: Vec<f32>,
    /// Whether annotators were distinguished in training.
    pub with_readiness: bool,
}

impl WordHead {
    /// Computes scores in logits of words with these states (`[words][hidden]`): `[words][types]`.
    pub fn scores(&self, states: &[f32]) -> Vec<f64> {
        let hidden = self.weights.len() / self.constants.len().max(1);
        let mut scores = Vec::new();
        for state in states.chunks_exact(hidden.max(1)) {
            for (weights, constant) in self.weights.chunks_exact(hidden.max(1)).zip(&self.constants) {
                let dot: f32 = state.iter().zip(weights).map(|(x, w)| x * w).sum();
                scores.push(f64::from(dot + constant));
            }
        }
        scores
    }
}
