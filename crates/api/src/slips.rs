//! Labels that look like slips, and labels that are contested.

use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// Which of the two, the person's own model or everybody else, a label is unlike.
    #[derive(Copy, Eq)]
    pub enum SlipKind {
        /// Both: a possible slip.
        Slip,
        /// Contested: unlike everybody else, and it fits the person.
        OwnView,
        /// Contested: unlike the person, and others would give it or gave it.
        Divided,
    }

    /// One unlikely label.
    pub struct SlipRow {
        pub text: TextId,
        /// Its name in files.
        pub text_id: String,
        /// Its beginning.
        pub body: String,
        /// Who gave the label.
        pub annotator: AnnotatorId,
        /// Their name in files.
        pub annotator_id: String,
        /// Their name on screen.
        pub name: String,
        /// What it is unlike.
        pub kind: SlipKind,
        /// The level given, by its place on the scale.
        pub level: u16,
        pub level_name: String,
        /// The level that the person's own model finds most probable.
        pub usual: u16,
        pub usual_name: String,
        /// Probability of a label as improbable as this or more under the person's own model, which has not
        /// learned from it.
        pub own: f64,
        /// The same under everybody else.
        pub others: f64,
        /// Others who labelled the text.
        pub others_labels: u32,
        /// Those of them who gave the same level.
        pub same_labels: u32,
        /// Expected number of labels of this kind, as improbable as this or more, by chance.
        pub expected: f64,
    }

    /// Unlikely labels of a question, of everyone or of one person.
    pub struct SlipReport {
        pub question: QuestionId,
        /// A label is unlike a person where its chance is this or less.
        pub below: f64,
        /// A slip is unlike everybody else where its chance among them is this or less.
        pub below_others: f64,
        /// Labels that were judged.
        pub judged: u32,
        /// Slips found, of which `slips` are the first.
        pub slips_in_all: u32,
        /// Expected number of slips by chance if the model were right.
        pub slips_expected: f64,
        /// How many of `slips`, from the first on, are beyond chance, of which at most a tenth are expected
        /// by chance (false discovery rate). Only they are findings about a person.
        pub slips_beyond_chance: u32,
        /// What was found, in a sentence.
        pub slips_words: String,
        /// Contested labels found.
        pub contested_in_all: u32,
        /// Expected number of contested labels by chance.
        pub contested_expected: f64,
        /// What was found of them, in a sentence.
        pub contested_words: String,
        /// Possible slips, the most improbable first.
        pub slips: Vec<SlipRow>,
        /// Contested labels: own views, then those on which others are divided.
        pub contested: Vec<SlipRow>,
        /// What is missing where nothing could be judged.
        pub needs: Option<String>,
        /// What to know about labels that were left out.
        pub remark: Option<String>,
    }
}
