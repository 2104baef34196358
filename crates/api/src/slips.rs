//! Labels that look like slips, and labels that are contested.

use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// Whether a label is unlike the person's own model, unlike everyone else, or both.
    #[derive(Copy, Eq)]
    pub enum SlipKind {
        /// Both: a possible slip.
        Slip,
        /// Contested: unlike everyone else, but typical of the person.
        OwnView,
        /// Contested: untypical of the person, but others would give it or gave it.
        Divided,
    }

    /// One unlikely label.
    pub struct SlipRow {
        pub text: TextId,
        /// Its name in files.
        pub text_id: String,
        /// Its beginning.
        pub body: String,
        /// The annotator of the label.
        pub annotator: AnnotatorId,
        /// Their name in files.
        pub annotator_id: String,
        /// Their name on screen.
        pub name: String,
        /// The kind of the label.
        pub kind: SlipKind,
        /// The given level, by its index on the scale.
        pub level: u16,
        pub level_name: String,
        /// The level that the person's own model finds most probable.
        pub usual: u16,
        pub usual_name: String,
        /// Probability of a label as improbable as this or more under the person's own model, which has not
        /// learned from it.
        pub own: f64,
        /// The same under the models of everyone else.
        pub others: f64,
        /// Number of others who labelled the text.
        pub others_labels: u32,
        /// Number of others who gave the same level.
        pub same_labels: u32,
        /// Expected number of labels of this kind, as improbable as this or more, by chance.
        pub expected: f64,
    }

    /// Unlikely labels of a question, of everyone or of one person.
    pub struct SlipReport {
        pub question: QuestionId,
        /// A label is unlike a person if its probability is at most this.
        pub below: f64,
        /// A slip is unlike everyone else if its probability among them is at most this.
        pub below_others: f64,
        /// Number of labels that were judged.
        pub judged: u32,
        /// Number of slips found, of which `slips` are the first.
        pub slips_in_all: u32,
        /// Expected number of slips by chance if the model were right.
        pub slips_expected: f64,
        /// How many of `slips`, from the first on, are beyond chance, of which at most a tenth are expected
        /// by chance (false discovery rate). Only they are findings about a person.
        pub slips_beyond_chance: u32,
        /// Describes the slips, in a sentence.
        pub slips_words: String,
        /// Number of contested labels found.
        pub contested_in_all: u32,
        /// Expected number of contested labels by chance.
        pub contested_expected: f64,
        /// Describes the contested labels, in a sentence.
        pub contested_words: String,
        /// Possible slips, the most improbable first.
        pub slips: Vec<SlipRow>,
        /// Contested labels: own views, then those on which others are divided.
        pub contested: Vec<SlipRow>,
        /// What is missing if nothing could be judged.
        pub needs: Option<String>,
        /// A note on labels that were left out.
        pub remark: Option<String>,
    }
}
