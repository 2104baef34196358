//! The practice round, and pass marks.

use dissensus_domain::{
    AfterFailing, AnnotatorId, Answer, CheckRule, PassStatus, PracticeRule, QuestionId, TextId,
};
use serde::{Deserialize, Serialize};

view! {
    /// A practice text to add, change or remove.
    pub struct NewPracticeText {
        pub question: QuestionId,
        pub text: TextId,
        /// The right answer; none to remove the text from practice.
        pub answer: Option<Answer>,
        /// Why it is the right one; shown after a person's own answer.
        pub reason: String,
    }

    /// The practice of a study, as its author sees it.
    pub struct PracticeSetup {
        /// When practice counts as passed, and what happens otherwise.
        pub rule: PracticeRule,
        /// The texts, in the order of the first round.
        pub texts: Vec<PracticeTextInfo>,
        /// The results of each person who has begun.
        pub people: Vec<PracticePerson>,
    }

    /// A text to practise on.
    pub struct PracticeTextInfo {
        pub question: QuestionId,
        pub question_name: String,
        pub text: TextId,
        /// Its name in files.
        pub text_id: String,
        /// What is judged. Plain text: never to be rendered as HTML.
        pub body: String,
        /// The right answer.
        pub answer: Answer,
        pub answer_name: String,
        /// Why it is the right one.
        pub reason: String,
        /// How many people have answered, each in their first round.
        pub given: u32,
        /// Of these, right.
        pub right: u32,
    }

    /// The practice of one person.
    pub struct PracticePerson {
        /// External id.
        pub annotator: String,
        /// Name on screen.
        pub name: String,
        /// The person's result.
        #[serde(flatten)]
        pub result: PracticeResult,
        /// The rounds, the first one first.
        pub rounds: Vec<PracticeRoundInfo>,
    }

    /// One round of one person.
    pub struct PracticeRoundInfo {
        /// Right answers.
        pub right: u32,
        /// Number of answers.
        pub of: u32,
        /// Whether all texts were answered.
        pub finished: bool,
    }

    /// A person's result compared with the pass mark of practice.
    pub struct PracticeResult {
        /// The result after the last finished round.
        pub status: PassStatus,
        pub rounds_begun: u32,
        /// Right answers in that round, or in the current one if none is finished.
        pub right: u32,
        /// Number of answers.
        pub of: u32,
    }

    /// What an annotator may do now.
    #[derive(Copy, Eq)]
    pub enum PracticeStep {
        /// Practise: start or finish a round.
        Practise,
        Label,
        /// Nothing more: the study's author stops people who fail.
        Stopped,
    }

    /// The state of practice for the person who practises.
    pub struct PracticeState {
        /// The next step.
        pub step: PracticeStep,
        /// True if the reason is attention checks and not practice.
        pub by_checks: bool,
        /// The current round, from 1.
        pub round: u32,
        /// Number of answered texts in the round.
        pub done: u32,
        /// Number of texts in the round.
        pub total: u32,
        /// The result of the last finished round.
        pub result: Option<PracticeResult>,
        /// The mark, and what happens below it.
        pub rule: PracticeRule,
    }

    /// A text to practise on, before the person has answered: without its right answer.
    pub struct PracticeTask {
        pub question: QuestionId,
        pub text: TextId,
        /// Its name in files.
        pub external_id: String,
        /// What is judged. Plain text: never to be rendered as HTML.
        pub body: String,
        pub round: u32,
    }

    pub struct NewPracticeAnswer {
        pub annotator: AnnotatorId,
        pub question: QuestionId,
        pub text: TextId,
        pub answer: Answer,
    }

    /// Feedback after an answer in practice.
    pub struct PracticeFeedback {
        /// Whether it counts as right.
        pub right: bool,
        /// The right answer.
        pub answer: Answer,
        pub answer_name: String,
        /// Why it is the right one.
        pub reason: String,
        /// The person's state now.
        pub state: PracticeState,
    }

    /// A text of the current round, in its order, as the person who practises may see it.
    pub struct PracticeItem {
        /// Its name in files.
        pub text_id: String,
        pub question: String,
        /// The body of the text.
        pub text: String,
        /// Whether the answer was right; none before it is given.
        pub right: Option<bool>,
    }

    /// Pass marks to set; missing values stay unchanged.
    #[derive(Default)]
    pub struct NewPracticeRule {
        /// The share that must be right, 0 to 1.
        pub pass: Option<f64>,
        /// Maximum distance, in levels, at which an answer on ordered levels counts as right.
        pub within: Option<u16>,
        /// What happens to an annotator below it.
        pub then: Option<AfterFailing>,
    }

    /// The mark of attention checks; none if none was set.
    pub struct CheckRuleInfo {
        /// The mark.
        pub rule: Option<CheckRule>,
    }
}
