//! Self-agreement: how often people give the same answer again.

use dissensus_domain::{AnnotatorId, QuestionId};
use serde::{Deserialize, Serialize};

view! {
    /// The share of repeats with the same answer, r, and the accuracy that can be reached.
    #[derive(Copy)]
    pub struct SelfAgreementShare {
        /// Answers of one person to one text that follow an earlier one of the same person.
        pub repeats: u32,
        /// Those with the same answer.
        pub same: u32,
        pub share: f64,
        /// Lower end of its 95 % interval.
        pub low: f64,
        /// Upper end.
        pub high: f64,
        /// Lower bound of the best reachable accuracy: the lower end of the share's interval.
        pub ceiling_low: f64,
        /// Upper bound of the best reachable accuracy: the square root of the upper end of the share's
        /// interval.
        pub ceiling_high: f64,
        /// People whom the interval treats as a sample of people like them; 0 if it is only about these
        /// people.
        pub people: u32,
    }

    /// One person's repeats.
    pub struct ReannotationsOfAnnotator {
        pub annotator: AnnotatorId,
        /// Their name in files.
        pub annotator_id: String,
        /// Their name on screen.
        pub name: String,
        /// Repeats of this person.
        pub repeats: u32,
        /// Those with the same answer.
        pub same: u32,
        /// Their share, if there are enough repeats.
        pub agreement: Option<SelfAgreementShare>,
    }

    /// Self-agreement for one question.
    pub struct ReannotationReport {
        pub question: QuestionId,
        /// The share over everyone, if there are enough repeats.
        pub overall: Option<SelfAgreementShare>,
        /// Number of all repeats.
        pub repeats: u32,
        /// Each person with repeats, those with the most first.
        pub annotators: Vec<ReannotationsOfAnnotator>,
        /// Answers of a later annotation round without one of an earlier round to compare with.
        pub unpaired: u32,
        /// Pairs of consecutive answers of which one is "cannot say"; they are not compared.
        pub cannot_say: u32,
        /// Answers of a later annotation round that are themselves the only labels of their texts: a file
        /// was imported with rounds, and then without.
        pub labels_themselves: u32,
        /// What is missing if there is no share.
        pub needs: Option<String>,
    }
}
