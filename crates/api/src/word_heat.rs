//! Which words people mark, and would mark.

use dissensus_domain::AnnotatorId;
use serde::{Deserialize, Serialize};

view! {
    /// The words of a text, for one type of spans.
    pub struct WordHeat {
        /// Its words, in order.
        pub words: Vec<WordFigure>,
        /// Whose answers are counted: those who were chosen.
        pub answers: u32,
        /// Over how many people `expected` and `differ` are; 0 without a model.
        pub people: u32,
        /// Why nothing is expected, where it is not.
        pub needs: Option<WordNeeds>,
        /// Whether the reader is chosen and left out, because that person has not answered this text.
        pub reader_left_out: bool,
        /// How many answers the model was fitted on, and how many it knows by now; none without a model.
        pub fitted_on: Option<FittedOn>,
    }

    /// What a model of words has learned from.
    pub struct FittedOn {
        /// Answers that its scores of words were fitted on.
        pub answers: u32,
        /// Current answers, all of which update annotators' readiness and the words of their texts.
        pub now: u32,
        /// Whether its head was learned together with the encoder in use; reading words again changes
        /// nothing then.
        pub tuned: bool,
    }

    pub struct WordFigure {
        /// Its first character (Unicode scalar values).
        pub start: u32,
        /// The character behind its last one.
        pub end: u32,
        /// Who marked it with the type, in the order of annotators.
        pub marked_by: Vec<AnnotatorId>,
        /// Share of the people who would mark it, given all answers so far.
        pub expected: Option<f64>,
        /// Probability that two of these people differ on it.
        pub differ: Option<f64>,
    }

    /// Why nothing is expected of words.
    #[derive(Copy, Eq)]
    pub enum WordNeeds {
        /// The project has no stored model of words for the encoder in use, the text is newer than it, or
        /// labels changed more than it can follow.
        Fit,
        /// The project has no embeddings yet, so that no encoder is chosen.
        Encoder,
        /// Fewer than two people are chosen, or the reader is one of two and has not answered.
        People,
    }

    /// A model of words that was fitted.
    pub struct WordModelReport {
        pub question: String,
        /// Answers that it was fitted on.
        pub answers: u32,
        /// Texts whose words it can score.
        pub texts: u32,
        /// Encoder version.
        pub encoder: String,
        /// Of each type.
        pub types: Vec<WordTypeReport>,
        /// Whether scores come from a head that was learned together with the encoder in use; otherwise they
        /// were fitted on that encoder now.
        pub tuned: bool,
        /// Seconds it took.
        pub seconds: f64,
    }

    /// What was learned of one type.
    pub struct WordTypeReport {
        pub name: String,
        /// Share of words that answers mark with it, a form counted once a text.
        pub rate: f64,
        /// Standard deviation between annotators of the readiness to mark it, in logits.
        pub readiness_deviation: f64,
        /// Standard deviation of single words beyond what is predicted of them, in logits.
        pub word_deviation: f64,
        /// Whether a layer that has seen the context was used.
        pub uses_context: bool,
    }
}
