//! Who differs, and why, over all labels of a question.

use super::{Figure, GroupsChoice};
use dissensus_domain::{AnnotatorId, QuestionId};
use serde::{Deserialize, Serialize};

view! {
    /// Shares of what makes labels differ, each with its 95 % interval. They sum to 1.
    #[derive(Copy)]
    pub struct DifferenceShares {
        /// The text: some texts are rated higher than others.
        pub text: Figure,
        /// The person: some people rate higher than others.
        pub person: Figure,
        /// Neither: the interaction of person and text, and chance.
        pub neither: Figure,
    }

    /// What one attribute of people explains of the differences in level.
    pub struct AttributeDifference {
        pub attribute: String,
        /// Number of its values that are compared: those of five people with labels or more.
        pub values: u32,
        /// Number of people with labels who have one of these values.
        pub people: u32,
        /// Share of the differences between people that it explains, minus the share expected by chance;
        /// `None` if there is too little data.
        pub share: Option<f64>,
        /// Upper limit of the share that it explains (95 %, of all attributes together).
        pub most: Option<f64>,
        /// p value of no difference between any of its values, corrected for the number of attributes (Holm).
        pub p: Option<f64>,
        /// Whether it is shown to explain something: `p` is below 5 %.
        pub shown: bool,
        /// Its two values with most evidence that they differ: the higher one first, in the order that the
        /// comparison of groups uses.
        pub groups: Option<GroupsChoice>,
        /// How much higher the first of these answers, in levels; the interval holds with 95 % for all pairs
        /// of values of all attributes together, and `p` is corrected likewise. `None` with fewer than ten
        /// texts that people of both labelled.
        pub gap: Option<Figure>,
        /// The result in a sentence.
        pub words: String,
    }

    /// The severity of one person.
    pub struct PersonDifference {
        pub annotator: AnnotatorId,
        /// Their name on screen.
        pub name: String,
        /// True if the labels were simulated.
        pub simulated: bool,
        /// Number of their labels for the question.
        pub labels: u32,
        /// Severity: above 0 they give higher levels than the average person, on the logit scale of the
        /// model.
        pub severity: f64,
        /// Whether they are shown to differ from the average person, corrected for the number of people
        /// (Holm).
        pub shown: bool,
    }

    /// Who differs, and why, over all labels of a question.
    pub struct WhoDiffers {
        pub question: QuestionId,
        /// Number of current labels.
        pub labels: u32,
        /// Number of people who gave them.
        pub people: u32,
        /// Share of pairs of labels on one text that are equal.
        pub equal: Option<f64>,
        /// What makes labels differ; `None` if there is too little data.
        pub shares: Option<DifferenceShares>,
        /// The shares in a sentence, or what is missing.
        pub shares_words: String,
        /// Attributes by the evidence that they explain something, most first; those with too little data
        /// last.
        pub attributes: Vec<AttributeDifference>,
        /// What the attributes explain, in a sentence.
        pub attributes_words: String,
        /// People from the lowest levels to the highest; empty for unordered levels.
        pub severities: Vec<PersonDifference>,
        /// The severities in a sentence, with the embeddings that they are based on.
        pub severities_words: String,
        /// Key of the encoder version whose embeddings severities and shares of attributes are based on; none
        /// without embeddings, which gives other severities.
        pub encoder: Option<String>,
    }
}
