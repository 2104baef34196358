//! Labels as they are handed to a writer: texts, people, questions, and who answered what.

use dissensus_domain::{Answer, Attributes, Remark, Scale};
use std::collections::BTreeMap;

/// Labels of a project at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolLabels {
    /// The texts.
    pub texts: Vec<ToolText>,
    /// The people.
    pub people: Vec<ToolPerson>,
    /// The questions.
    pub questions: Vec<ToolQuestion>,
    /// Answers, and texts that were put off or marked, in any order. Of a person, text, question and occasion there is one.
    pub answers: Vec<ToolAnswer>,
}

/// A text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolText {
    /// Its id.
    pub id: String,
    /// Its body.
    pub body: String,
    /// The part of an official split.
    pub split: Option<String>,
    /// The document or thread.
    pub group: Option<String>,
    /// What came with it.
    pub metadata: BTreeMap<String, String>,
}

/// A person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolPerson {
    /// Their id.
    pub id: String,
    /// What is known of them.
    pub attributes: Attributes,
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolQuestion {
    /// Its name.
    pub name: String,
    /// Its scale.
    pub scale: Scale,
}

/// What one person did with one text for one question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolAnswer {
    /// Index of the text.
    pub text: usize,
    /// Index of the person.
    pub person: usize,
    /// Index of the question.
    pub question: usize,
    /// The occasion, from 1.
    pub occasion: u16,
    /// The answer; none where the text was put off, flagged or remarked on alone.
    pub answer: Option<Answer>,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: Option<i64>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u32>,
    /// What was said beside it.
    pub remark: Remark,
    /// The text was put off, and not answered.
    pub skipped: bool,
    /// The text was flagged.
    pub flagged: bool,
    /// A guideline was on screen.
    pub guideline: bool,
    /// Something of others had been shown before.
    pub shown: bool,
    /// A program made the answer up.
    pub simulated: bool,
}

/// An answer by the names on its scale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named<'a> {
    Level(&'a str),
    Options(Vec<&'a str>),
    /// Start, end and type of each, counted in characters.
    Spans(Vec<(u32, u32, &'a str)>),
}

impl ToolLabels {
    /// The answer by names; none where there is none, or it is on no scale.
    pub(crate) fn named(&self, answer: &ToolAnswer) -> Option<Named<'_>> {
        let scale = &self.questions[answer.question].scale;
        match answer.answer.as_ref()? {
            Answer::Level(level) => scale.name_of(*level).map(Named::Level),
            Answer::Options(set) => {
                let names = set.iter().filter_map(|option| scale.name_of(option.into()));
                Some(Named::Options(names.collect()))
            }
            Answer::Spans(spans) => {
                let named = spans.as_slice().iter().map(|s| Some((s.start, s.end, scale.name_of(s.kind)?)));
                named.collect::<Option<_>>().map(Named::Spans)
            }
            Answer::CannotSay => None,
        }
    }

    /// The name of a single level, or nothing.
    pub(crate) fn level(&self, answer: &ToolAnswer) -> Option<&str> {
        match self.named(answer) {
            Some(Named::Level(level)) => Some(level),
            _ => None,
        }
    }

    /// The answers of each text, by occasion, then person, then question.
    pub(crate) fn by_text(&self) -> Vec<Vec<&ToolAnswer>> {
        let mut found: Vec<Vec<&ToolAnswer>> = vec![Vec::new(); self.texts.len()];
        for answer in &self.answers {
            found[answer.text].push(answer);
        }
        for of_text in &mut found {
            of_text.sort_by_key(|answer| (answer.occasion, answer.person, answer.question));
        }
        found
    }

    /// The answers of each person, by text.
    pub(crate) fn by_person(&self) -> Vec<Vec<&ToolAnswer>> {
        let mut found: Vec<Vec<&ToolAnswer>> = vec![Vec::new(); self.people.len()];
        for answer in &self.answers {
            found[answer.person].push(answer);
        }
        for of_person in &mut found {
            of_person.sort_by_key(|answer| (answer.text, answer.question, answer.occasion));
        }
        found
    }
}
