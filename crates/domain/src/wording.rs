//! Wordings: the text of a question at the time when it was answered.

use crate::{Question, QuestionHelp};
use serde::{Deserialize, Serialize};
use std::fmt;
use uuid::Uuid;

/// The identity of a wording in all copies of a project, derived from its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WordingId(pub Uuid);

impl fmt::Display for WordingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What annotators read of a question: its prompt, its help and its levels, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wording {
    /// The name of the question.
    pub question: String,
    /// The sentence shown to annotators.
    pub prompt: String,
    #[serde(default, skip_serializing_if = "QuestionHelp::is_empty")]
    pub help: QuestionHelp,
    /// The name and definition of each level.
    pub levels: Vec<(String, String)>,
    /// Whether it offers "cannot say".
    #[serde(default)]
    pub cannot_say: bool,
}

impl From<&Question> for Wording {
    fn from(question: &Question) -> Self {
        let levels = question.scale.ids().iter().zip(question.scale.levels());
        Self {
            question: question.name.clone(),
            prompt: question.prompt.clone(),
            help: question.help.clone(),
            levels: levels.map(|(id, name)| (name.clone(), question.definition(*id).to_owned())).collect(),
            cannot_say: question.cannot_say,
        }
    }
}
