//! The overview of a project: its content, its progress, and next steps.

use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// The content and the progress of a project.
    pub struct Overview {
        pub texts: u32,
        /// Everyone: people who have answered in the window or by the command first, then those with the
        /// most labels.
        pub people: Vec<OverviewPerson>,
        /// The questions, in their order.
        pub questions: Vec<OverviewQuestion>,
        /// Possible next steps, the most important first.
        pub steps: Vec<NextStep>,
    }

    pub struct OverviewPerson {
        pub annotator: AnnotatorId,
        /// Their name on screen.
        pub name: String,
        /// True if the labels were simulated.
        pub simulated: bool,
        /// True if all data of the person came from a file.
        pub imported: bool,
        /// Number of labels for each question, in the order of the questions.
        pub labels: Vec<u32>,
        /// Number of texts that the person is asked about: those of their packets, or all.
        pub asked: u32,
        /// Median seconds per answer; none if not known.
        pub seconds: Option<f64>,
    }

    pub struct OverviewQuestion {
        pub question: QuestionId,
        pub name: String,
        /// Current labels.
        pub labels: u32,
        /// People who gave them.
        pub people: u32,
        /// Texts with a label.
        pub texts: u32,
        /// Texts with labels of two people or more.
        pub shared: u32,
        /// Number of labels that include each level, option or type.
        pub counts: Vec<u32>,
    }

    /// Agreement of the people of a question.
    pub struct OverviewAgreement {
        pub question: QuestionId,
        /// Krippendorff's alpha; none if there is too little data.
        pub alpha: Option<f64>,
        /// Lower end of its 95 % interval for people and texts like these, or with fewer than five people
        /// for these people; none if there are no differences.
        pub low: Option<f64>,
        /// Upper end.
        pub high: Option<f64>,
        /// True if that interval is for people like these.
        pub like_these: bool,
        /// Lower end of its 95 % interval for these people, on texts like these.
        pub these_low: Option<f64>,
        /// Upper end.
        pub these_high: Option<f64>,
        /// The difference function of alpha: `nominal`, `ordinal`, `MASI`, `words`.
        pub metric: String,
        /// Texts with labels of two people or more.
        pub shared: u32,
        /// Why there is no alpha.
        pub needs: Option<String>,
    }

    /// The texts on which people differ most.
    pub struct OverviewContested {
        /// The question, or the option or type, of the predictions.
        pub question: QuestionId,
        /// By given labels, highest first.
        pub observed: Vec<ContestedText>,
        /// Texts with fewer than two labels, by predicted disagreement, highest first; empty without a
        /// model.
        pub predicted: Vec<ContestedText>,
        /// True if texts that the annotator in this window has not answered are left out.
        pub own_only: bool,
    }

    /// A text on which people differ.
    pub struct ContestedText {
        pub text: TextId,
        /// Its name in files.
        pub external_id: String,
        /// Whether a file gave it that name.
        pub named: bool,
        /// Its position in the project, from 1.
        pub row: u32,
        /// Beginning of the text. Plain text: never to be rendered as HTML.
        pub snippet: String,
        /// How far people differ, 0 to 1.
        pub value: f32,
        /// Number of labels that include each level, option or type; none for predictions.
        pub counts: Vec<u32>,
    }

    /// A next step.
    pub struct NextStep {
        pub kind: NextStepKind,
        /// How many texts, people or files it is about, if that can be counted.
        pub count: Option<u32>,
    }

    /// Kinds of next steps.
    #[derive(Copy, Eq)]
    pub enum NextStepKind {
        /// Import texts.
        Import,
        /// Define the question that is asked about them.
        AskQuestion,
        /// Label; `count` texts are left.
        Label,
        /// Download an encoder, which is needed for predictions.
        GetEncoder,
        /// Wait for `count` packets, and merge the submissions.
        TakeIn,
        /// Let several people label the same texts: `count` have labels of two.
        Plan,
        /// See where people disagree.
        SeeDisagreement,
    }
}
