//! Labels as input to a writer: texts, annotators, questions, and answers.

use dissensus_domain::{Answer, Attributes, Note, Scale};
use std::collections::BTreeMap;

/// Labels of a project at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolLabels {
    pub texts: Vec<ToolText>,
    pub people: Vec<ToolPerson>,
    pub questions: Vec<ToolQuestion>,
    /// Answers, and texts that were skipped or marked, in any order; one for each annotator, text, question
    /// and annotation round.
    pub answers: Vec<ToolAnswer>,
}

/// A text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolText {
    pub id: String,
    pub body: String,
    /// The part of an official split.
    pub split: Option<String>,
    /// The document or thread.
    pub group: Option<String>,
    /// Its metadata.
    pub metadata: BTreeMap<String, String>,
}

/// An annotator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolPerson {
    pub id: String,
    pub attributes: Attributes,
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolQuestion {
    pub name: String,
    pub scale: Scale,
}

/// The answer of one annotator to one text for one question, with its note and marks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolAnswer {
    /// Index of the text.
    pub text: usize,
    /// Index of the annotator.
    pub person: usize,
    /// Index of the question.
    pub question: usize,
    /// The annotation round, from 1.
    pub occasion: u16,
    /// The answer; `None` if the text was only skipped, flagged or has a note.
    pub answer: Option<Answer>,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: Option<i64>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u32>,
    /// The note on it.
    pub note: Note,
    /// The text was skipped, and not answered.
    pub skipped: bool,
    /// The text was flagged.
    pub flagged: bool,
    /// A guideline was on screen.
    pub guideline: bool,
    /// The annotator had been shown others' answers or predictions before.
    pub shown: bool,
    /// The answer is simulated.
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
    /// Returns the answer by names; `None` if there is none, or it is not on the scale.
    pub(crate) fn named(&self, answer: &ToolAnswer) -> Option<Named<'_>> {
        let scale = &self.questions[answer.question].scale;
        match answer.answer.as_ref()? {
            Answer::Level(level) => scale.name_of(*level).map(Named::Level),
            Answer::Options(set) => {
                let columns = scale.columns_of(*set);
                let names = columns.iter().filter_map(|column| scale.name_at(column.into()));
                Some(Named::Options(names.collect()))
            }
            Answer::Spans(spans) => {
                let mut ordered = spans.as_slice().to_vec();
                ordered.sort_by_key(|span| (span.start, span.end, scale.index_of_id(span.kind)));
                let named = ordered.iter().map(|s| Some((s.start, s.end, scale.name_of(s.kind)?)));
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

    /// The answers of each text, by annotation round, then annotator, then question.
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

    /// The answers of each annotator, by text.
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
