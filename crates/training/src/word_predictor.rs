//! A model of words for texts that are not in the project.

use crate::learned_words::LearnedWords;
use dissensus_encoder::{Encoder, WordStates};
use dissensus_exchange::TextOfFile;
use dissensus_models::spans::{ExpectedMarks, LiveSpans, OwnEffects, SpanTexts, WordFeatures};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::text_words::{Forms, words};
use serde::{Deserialize, Serialize};

/// Positions of the words of a text, in characters.
pub(crate) type Places = Vec<(u32, u32)>;

/// The parts of a model of words and of the annotators that are needed to predict, without texts and
/// answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WordPredictor {
    pub learned: LearnedWords,
    /// The hidden states that the heads use.
    pub states: WordStates,
    /// For each annotator the effects in the marks of each type.
    #[serde(rename = "readiness")]
    pub effects: Vec<Vec<OwnEffects>>,
    /// For each annotator the number of answers from which the effects are estimated; this does not leave
    /// the project.
    #[serde(skip)]
    pub answers: Vec<u32>,
}

/// A word of a text, with predictions.
pub struct WordOfBody {
    pub word: String,
    /// Its first character, and the one after its last.
    pub start: u32,
    pub end: u32,
    /// For each type the share of people who would mark it, and the probability that two of them differ.
    pub types: Vec<(f64, f64)>,
}

impl WordPredictor {
    /// Why its parts are inconsistent, or do not match the encoder, question or number of annotators.
    pub fn misfit(&self, encoder: Option<&Encoder>, types: usize, annotators: usize) -> Option<String> {
        let heads = &self.learned.heads;
        if heads.len() != types || self.effects.iter().any(|own| own.len() != types) {
            return Some(format!("it is not of {types} types"));
        }
        if self.effects.len() != annotators {
            return Some(format!("it is not of {annotators} annotators"));
        }
        if heads.iter().any(|head| head.forms.len() != self.learned.forms.len()) {
            return Some("its effects of words are not as many as its words".to_owned());
        }
        if !self.effects.iter().flatten().all(OwnEffects::is_sound) {
            return Some("an effect of an annotator is no number".to_owned());
        }
        let dim = encoder.map(|encoder| encoder.word_dim(self.states));
        match dim {
            Some(dim) if heads.iter().any(|head| head.states.len() != dim) => {
                Some(format!("its heads are not on the {dim} components of the encoder's words"))
            }
            _ => None,
        }
    }

    /// The words of one text, over all people with known effects.
    ///
    /// # Errors
    /// The text cannot be read by the encoder; cancellation.
    pub fn words_of(
        &self,
        body: &str,
        encoder: &Encoder,
        progress: &dyn Progress,
    ) -> Result<Vec<WordOfBody>, ProjectError> {
        let text = TextOfFile { id: String::new(), body: body.to_owned() };
        let (live, places) = self.read(&[text], encoder, progress)?;
        let people: Vec<u32> = (0..self.effects.len() as u32).collect();
        let expected = live.expected(0, &people).unwrap_or_default();
        let characters: Vec<char> = body.chars().collect();
        let places = places.into_iter().next().unwrap_or_default();
        let word = |((start, end), of): ((u32, u32), &ExpectedMarks)| WordOfBody {
            word: characters[start as usize..end as usize].iter().collect(),
            start,
            end,
            types: of.types.iter().map(|of| (of.marks, of.pairs)).collect(),
        };
        Ok(places.into_iter().zip(&expected).map(word).collect())
    }

    /// A model of the words of these texts, identified by their indices, and the positions of their words.
    pub(crate) fn read(
        &self,
        chunk: &[TextOfFile],
        encoder: &Encoder,
        progress: &dyn Progress,
    ) -> Result<(LiveSpans, Vec<Places>), ProjectError> {
        let bodies: Vec<&str> = chunk.iter().map(|text| text.body.as_str()).collect();
        let places: Vec<Places> = bodies.iter().map(|body| words(body)).collect();
        let mut states = vec![Vec::new(); chunk.len()];
        let whole = encoder.word_states(&bodies, &places, self.states, |text, own| {
            states[text] = own;
            progress.flow()
        })?;
        if !whole {
            return Err(ProjectError::Cancelled);
        }
        let mut texts = SpanTexts::new(encoder.word_dim(self.states));
        let mut forms = Forms::default();
        for (states, body) in states.iter().zip(&bodies) {
            texts.push(WordFeatures { states, forms: &forms.add(body) })?;
        }
        let rows: Vec<u32> = (0..chunk.len() as u32).collect();
        let mut live = LiveSpans::new(&self.learned.model(&forms)?, &texts, &rows)?;
        for (annotator, effects) in (0..).zip(&self.effects) {
            live.set_effects(annotator, effects.clone())?;
        }
        Ok((live, places))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_models::spans::TypeHead;

    #[test]
    fn inconsistent_word_models_are_refused() {
        let head = TypeHead {
            constant: 0.0,
            states: vec![0.5; 4],
            forms: vec![1.0],
            readiness_variance: 1.0,
            population: None,
            word_variance: 0.0,
            threshold: 0.5,
            rate: 0.1,
        };
        let learned = LearnedWords { question: 1, answers: 3, forms: vec![7], heads: vec![head] };
        let good = WordPredictor {
            learned,
            states: WordStates::Last,
            effects: vec![vec![OwnEffects::of_readiness(0.0, 1.0)]; 2],
            answers: vec![3, 0],
        };
        let why = |of: &WordPredictor| of.misfit(None, 1, 2);
        assert_eq!(why(&good), None);
        assert!(good.misfit(None, 2, 2).unwrap().contains("2 types"));
        assert!(good.misfit(None, 1, 3).unwrap().contains("3 annotators"));
        let mut other = good.clone();
        other.effects[1] = vec![OwnEffects::of_readiness(f64::NAN, 1.0)];
        assert!(why(&other).unwrap().contains("effect of an annotator"));
        other.effects[1] = vec![OwnEffects::of_readiness(0.0, -1.0)];
        assert!(why(&other).unwrap().contains("effect of an annotator"));
        let mut other = good.clone();
        other.learned.heads[0].forms.push(0.0);
        assert!(why(&other).unwrap().contains("effects of words"));
        let kept = serde_json::to_string(&good).unwrap();
        assert!(!kept.contains("answers\":["), "how much somebody labelled stays: {kept}");
        let back: WordPredictor = serde_json::from_str(&kept).unwrap();
        assert_eq!(why(&back), None);
    }
}
