//! The state of every text: for one person, or for all people.

use super::Texts;
use dissensus_api::TextFilter;
use dissensus_domain::{AnnotatorId, EventId, QuestionId, TextId};
use dissensus_labelling::Unanswered;
use dissensus_labelling::feed;
use dissensus_labelling::question_set;
use dissensus_project::context::Index;
use dissensus_project::error::ProjectError;
use std::collections::HashSet;
use std::sync::Arc;

const ANSWERED: u8 = 1;
const NOT_YET: u8 = 2;
const SKIPPED: u8 = 4;
const FLAGGED: u8 = 8;
const NOTED: u8 = 16;
/// Any of the questions has an answer.
const SEEN: u8 = 32;

/// The scope of a standing.
#[derive(Clone)]
pub(super) struct Scope {
    pub(super) index: Arc<Index>,
    pub(super) annotator: Option<AnnotatorId>,
    pub(super) questions: Vec<QuestionId>,
    /// The newest event that is included.
    pub(super) event: EventId,
}

impl PartialEq for Scope {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.index, &other.index)
            && (self.annotator, &self.questions, self.event)
                == (other.annotator, &other.questions, other.event)
    }
}

/// The state of every text, by row of the index.
pub(super) struct TextStates {
    bits: Vec<u8>,
    /// When each text was last answered in the window or by the command; empty if the scope has no person.
    pub(super) given_at: Vec<Option<i64>>,
}

impl TextStates {
    /// The standing of texts whose states are not shown.
    pub(super) fn unknown(texts: usize) -> Self {
        Self { bits: vec![0; texts], given_at: Vec::new() }
    }

    /// Whether a text belongs to a list, except for contested and long texts, which are known elsewhere.
    pub(super) fn is_in(&self, row: u32, filter: TextFilter) -> bool {
        let bits = self.bits[row as usize];
        match filter {
            TextFilter::All | TextFilter::Contested | TextFilter::Long => true,
            TextFilter::Answered => bits & ANSWERED != 0,
            TextFilter::NotYet => bits & NOT_YET != 0,
            TextFilter::Skipped => bits & SKIPPED != 0,
            TextFilter::Flagged => bits & FLAGGED != 0,
            TextFilter::Noted => bits & NOTED != 0,
        }
    }
}

impl Texts {
    pub(super) fn text_states(&self, of: &Scope) -> Result<TextStates, ProjectError> {
        let mut found = match (of.annotator, of.questions.is_empty()) {
            (_, true) => TextStates { bits: vec![NOT_YET; of.index.texts().len()], given_at: Vec::new() },
            (Some(annotator), _) => self.states_of_person(annotator, of)?,
            (None, _) => self.states_of_all(of)?,
        };
        // Practice texts are not to be labelled outside practice.
        let book = self.practice.book()?;
        for (bits, text) in found.bits.iter_mut().zip(of.index.texts()) {
            *bits &= if book.is_practice(*text) { !(NOT_YET | SKIPPED) } else { u8::MAX };
        }
        Ok(found)
    }

    /// The number of texts to label (without practice texts), and how many of them a person has yet to
    /// answer: among those that were handed out to this person, if any were. Skipped texts count as yet to
    /// be answered.
    pub fn to_answer(&self, annotator: Option<AnnotatorId>) -> Result<(u32, Option<u32>), ProjectError> {
        feed::follow(&self.labelling)?;
        let (event, index) = (self.context.store.last_event()?, self.context.index());
        let real = self.practice.book()?.real(index.texts()).len() as u32;
        let Some(annotator) = annotator else { return Ok((real, None)) };
        let questions = index.questions().iter().map(|question| question.id).collect();
        let of = Scope { index, annotator: Some(annotator), questions, event };
        let assigned: HashSet<TextId> = (self.context.store.packets()?.iter())
            .filter(|(packet, _)| packet.annotator == annotator)
            .flat_map(|(packet, _)| packet.assignments.iter().map(|item| item.text))
            .collect();
        let states = self.text_states(&of)?;
        let open =
            states.bits.iter().zip(of.index.texts()).filter(|(bits, text)| {
                **bits & NOT_YET != 0 && (assigned.is_empty() || assigned.contains(text))
            });
        Ok((real, Some(open.count() as u32)))
    }

    /// One person's standing, from that person's answers in memory.
    fn states_of_person(&self, annotator: AnnotatorId, of: &Scope) -> Result<TextStates, ProjectError> {
        let sheet = question_set::open(&self.labelling, annotator, &of.questions)?;
        let answers = sheet.read();
        let mut bits = Vec::with_capacity(of.index.texts().len());
        let mut given_at = Vec::with_capacity(of.index.texts().len());
        for &text in of.index.texts() {
            let all = of.questions.iter().filter_map(|question| answers.annotations(*question));
            let mut bit = 0;
            for annotations in all {
                bit |= if annotations.answers.contains_key(&text) { SEEN } else { 0 };
                bit |= if annotations.flagged.contains(&text) { FLAGGED } else { 0 };
                bit |= if annotations.noted.contains(&text) { NOTED } else { 0 };
            }
            bit |= match answers.left(text) {
                None if bit & SEEN != 0 => ANSWERED,
                // No question is asked about it.
                None => 0,
                Some(Unanswered::Open) => NOT_YET,
                Some(Unanswered::Skipped) => NOT_YET | SKIPPED,
            };
            bits.push(bit);
            given_at.push(answers.given_at(text));
        }
        Ok(TextStates { bits, given_at })
    }

    /// The standing of all people: a text counts as answered if any person has answered a question about it.
    fn states_of_all(&self, of: &Scope) -> Result<TextStates, ProjectError> {
        let mut bits = vec![0_u8; of.index.texts().len()];
        let mut set = |text, bit: u8| {
            if let Some(row) = of.index.text_row(text) {
                bits[row as usize] |= bit;
            }
        };
        for question in &of.questions {
            for text in self.context.store.labelled_texts(*question)? {
                set(text, ANSWERED | SEEN);
            }
            for marked in self.context.store.all_marks(*question)? {
                let skipped = marked.marks.skipped && marked.current.is_none();
                set(marked.text, if skipped { SKIPPED } else { 0 });
                set(marked.text, if marked.marks.flagged { FLAGGED } else { 0 });
                set(marked.text, if marked.marks.note.is_empty() { 0 } else { NOTED });
            }
        }
        for bits in &mut bits {
            *bits |= if *bits & ANSWERED == 0 { NOT_YET } else { 0 };
        }
        Ok(TextStates { bits, given_at: Vec::new() })
    }
}
