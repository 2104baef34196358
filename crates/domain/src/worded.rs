//! Wordings: what a question said when it was answered.

use crate::{Question, QuestionHelp};
use serde::{Deserialize, Serialize};
use std::fmt;
use uuid::Uuid;

/// The identity of a wording in all copies of a project: it follows from what the wording says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WordingId(pub Uuid);

impl fmt::Display for WordingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What annotators read of a question: its prompt, its help and its levels, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wording {
    /// The question, by its name.
    pub question: String,
    /// The sentence an annotator reads.
    pub prompt: String,
    /// What is written beside it.
    #[serde(default, skip_serializing_if = "QuestionHelp::is_empty")]
    pub help: QuestionHelp,
    /// The levels: the name of each, and what it means.
    pub levels: Vec<(String, String)>,
    /// Whether it offers to say that one cannot say.
    #[serde(default)]
    pub cannot_say: bool,
}

impl From<&Question> for Wording {
    fn from(question: &Question) -> Self {
        let levels = (0..).zip(question.scale.levels());
        Self {
            question: question.name.clone(),
            prompt: question.prompt.clone(),
            help: question.help.clone(),
            levels: levels.map(|(at, name)| (name.clone(), question.definition(at).to_owned())).collect(),
            cannot_say: question.cannot_say,
        }
    }
}
