//! Words that people marked, and predicted marks.

use dissensus_domain::AnnotatorId;
use serde::{Deserialize, Serialize};

view! {
    /// The words of a text, for one type of spans.
    pub struct WordHeat {
        /// Its words, in order.
        pub words: Vec<WordFigure>,
        /// Number of answers by the chosen people.
        pub answers: u32,
        /// Number of people over whom `expected` and `differ` are computed; 0 without a model.
        pub people: u32,
        /// Why there are no predictions, if there are none.
        pub needs: Option<WordNeeds>,
        /// Whether the reader is among the chosen people and is left out, because that person has not
        /// answered this text.
        pub reader_left_out: bool,
        /// How many answers the model was fitted on, and how many it has learned by now; none without a
        /// model.
        pub fitted_on: Option<FittedOn>,
    }

    /// What a model of words has learned from.
    pub struct FittedOn {
        /// Number of answers that its scores of words were fitted on.
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
        /// The character after its last one.
        pub end: u32,
        /// People who marked it with the type, in the order of annotators.
        pub marked_by: Vec<AnnotatorId>,
        /// Share of the people who would mark it, given all answers so far.
        pub expected: Option<f64>,
        /// Probability that two of these people differ on it.
        pub differ: Option<f64>,
    }

    /// Reasons for missing predictions of words.
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

    /// A fitted model of words.
    pub struct WordModelReport {
        pub question: String,
        /// Number of answers that it was fitted on.
        pub answers: u32,
        /// Number of texts whose words it can score.
        pub texts: u32,
        /// Encoder version.
        pub encoder: String,
        /// Results for each type.
        pub types: Vec<WordTypeReport>,
        /// Whether scores come from a head that was learned together with the encoder in use; otherwise they
        /// were fitted on that encoder now.
        pub tuned: bool,
        /// Duration in seconds.
        pub seconds: f64,
    }

    /// What was learned about one type.
    pub struct WordTypeReport {
        pub name: String,
        /// Share of words that answers mark with it, a form counted once per text.
        pub rate: f64,
        /// Standard deviation between annotators of the readiness to mark it, in logits.
        pub readiness_deviation: f64,
        /// Standard deviation of the effects of single words beyond their prediction, in logits.
        pub word_deviation: f64,
        /// Whether a layer with context was used.
        pub uses_context: bool,
    }
}
