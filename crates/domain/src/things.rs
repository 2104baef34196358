//! Texts, annotators and questions.

use crate::{AnnotatorId, Condition, QuestionHelp, QuestionId, RemarkForm, Scale, ScaleKind, TextId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The longest body a text may have, in bytes of UTF-8 (1 MiB). Longer ones are documents, not items to label.
pub const MAX_TEXT_BYTES: usize = 1 << 20;

/// Free categorical columns of an annotator, by name. A missing key means "not known".
pub type Attributes = BTreeMap<String, String>;

/// Which part of an official split a text belongs to. Free text in files; these three names have a meaning for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// Models learn from it.
    Train,
    /// Settings are chosen on it.
    Validation,
    /// Models are scored on it.
    Test,
}

impl Split {
    /// Reads the names that data sets use: `train`/`training`, `dev`/`val`/`valid`/`validation`, `test`/`eval`; in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        match name.trim().to_lowercase().as_str() {
            "train" | "training" => Some(Self::Train),
            "dev" | "val" | "valid" | "validation" | "development" => Some(Self::Validation),
            "test" | "testing" | "eval" => Some(Self::Test),
            _ => None,
        }
    }
}

/// An item to label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// Its row.
    pub id: TextId,
    /// The name other tools know it by; unique in the project.
    pub external_id: String,
    /// What is judged.
    pub body: String,
    /// Document or thread it comes from.
    pub group: Option<String>,
    /// The part of the official split, as the file named it.
    pub split: Option<String>,
    /// Every other column of the file it came from.
    pub metadata: BTreeMap<String, String>,
}

/// A person whose judgements are kept apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotator {
    /// Its row.
    pub id: AnnotatorId,
    /// The name other tools know the person by; unique in the project.
    pub external_id: String,
    /// What the window shows.
    pub name: String,
    /// Gender, age band, ...
    pub attributes: Attributes,
    /// True where no person stands behind the labels.
    pub simulated: bool,
}

/// What is asked of every text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Its row.
    pub id: QuestionId,
    /// Short and unique in the project, as used on the command line.
    pub name: String,
    /// The sentence an annotator reads.
    pub prompt: String,
    /// What is written beside it.
    #[serde(default, skip_serializing_if = "QuestionHelp::is_empty")]
    pub help: QuestionHelp,
    /// The answers.
    pub scale: Scale,
    /// What each level means, in the order of the scale; fewer where nothing is said. See [`Question::definition`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub definitions: Vec<String>,
    /// Whether it offers to say that one cannot say.
    #[serde(default)]
    pub cannot_say: bool,
    /// Where it is asked; everywhere without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_if: Option<Condition>,
    /// What can be said beside an answer.
    #[serde(default)]
    pub remarks: RemarkForm,
}

impl Question {
    /// What joins the name of a multi-label question and of one of its options.
    pub const OPTION_OF: &'static str = ": ";

    /// What a level means; empty where nothing is said.
    pub fn definition(&self, level: u16) -> &str {
        self.definitions.get(usize::from(level)).map_or("", String::as_str)
    }

    /// The options of a multi-label question as yes/no questions, `emotions: anger`; none of others.
    pub fn options(&self) -> Vec<Self> {
        (0..self.scale.len() as u8).filter_map(|option| self.option(option)).collect()
    }

    /// One option as a yes/no question.
    pub fn option(&self, option: u8) -> Option<Self> {
        if !self.scale.has_options() {
            return None;
        }
        let name = self.scale.name_of(option.into())?;
        Some(Self {
            id: self.id.of_option(option),
            name: format!("{}{}{name}", self.name, Self::OPTION_OF),
            prompt: format!("{} {name}?", self.prompt),
            help: QuestionHelp { text: self.definition(option.into()).to_owned(), ..QuestionHelp::default() },
            definitions: Vec::new(),
            cannot_say: self.cannot_say,
            scale: Scale::new(ScaleKind::Binary, ["no", "yes"]).ok()?,
            only_if: self.only_if.clone(),
            remarks: self.remarks.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_usual_split_names() {
        assert_eq!(Split::from_name(" Train "), Some(Split::Train));
        assert_eq!(Split::from_name("dev"), Some(Split::Validation));
        assert_eq!(Split::from_name("test"), Some(Split::Test));
        assert_eq!(Split::from_name("fold-3"), None);
    }

    #[test]
    fn an_option_is_a_question_of_its_own() {
        let scale = Scale::new(ScaleKind::MultiLabel, ["anger", "joy"]).unwrap();
        let (name, prompt) = ("emotions".into(), "Which?".into());
        let asked = Question {
            id: QuestionId(3),
            name,
            prompt,
            help: QuestionHelp::default(),
            scale,
            definitions: vec!["Shouting".into()],
            cannot_say: false,
            only_if: None,
            remarks: RemarkForm::default(),
        };
        assert_eq!((asked.definition(0), asked.definition(1)), ("Shouting", ""));
        let options = asked.options();
        assert_eq!(options.len(), 2);
        assert_eq!((options[1].name.as_str(), options[1].prompt.as_str()), ("emotions: joy", "Which? joy?"));
        assert_eq!((options[1].id, options[1].scale.kind()), (QuestionId(3).of_option(1), ScaleKind::Binary));
        assert_eq!((asked.option(2), options[0].option(0), options[0].options()), (None, None, Vec::new()));
        let answer = crate::Answer::Options(crate::OptionSet::from_bits(0b10));
        assert_eq!(answer.clone().to(options[1].id), crate::Answer::Level(1));
        assert_eq!(answer.clone().to(options[0].id), crate::Answer::Level(0));
        assert_eq!(answer.clone().to(asked.id), answer);
    }
}
