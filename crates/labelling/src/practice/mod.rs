//! The project's practice and pass marks: who has to practise, who may label, and their results.

mod book;
mod checks;

pub(crate) use book::{Gate, PracticeBook};

use crate::error::LabellingError;
use dissensus_api::PracticeStep;
use dissensus_domain::{AfterFailing, AnnotatorId, TextId};
use dissensus_project::context::{Context, Index};
use dissensus_project::error::ProjectError;
use dissensus_project::sync::lock;
use std::sync::{Arc, Mutex};

/// Practice and pass marks of the open project.
#[derive(Clone)]
pub struct Practice {
    context: Arc<Context>,
    read: Arc<Mutex<Option<CachedBook>>>,
    /// Held while an answer is checked and written, so that a duplicate does not end a round too early.
    pub(crate) answering: Arc<Mutex<()>>,
}

/// The last state read, and the data it is based on.
struct CachedBook {
    newest_fact: i64,
    index: Arc<Index>,
    book: Arc<PracticeBook>,
}

impl Practice {
    pub fn new(context: &Arc<Context>) -> Self {
        Self { context: Arc::clone(context), read: Arc::default(), answering: Arc::default() }
    }

    /// The current state. Called at every click, so it is read again only where something was added.
    pub fn book(&self) -> Result<Arc<PracticeBook>, ProjectError> {
        let (newest_fact, index) = (self.context.store.newest_fact()?, self.context.index());
        let mut read = lock(&self.read);
        if let Some(read) = &*read
            && read.newest_fact == newest_fact
            && Arc::ptr_eq(&read.index, &index)
        {
            return Ok(Arc::clone(&read.book));
        }
        let book = Arc::new(PracticeBook::read(&self.context, &index)?);
        *read = Some(CachedBook { newest_fact, index, book: Arc::clone(&book) });
        Ok(book)
    }

    /// What a person may do now.
    pub fn gate(&self, annotator: AnnotatorId) -> Result<Gate, ProjectError> {
        let book = self.book()?;
        let checks = match book.check_rule {
            Some(rule) if rule.then != AfterFailing::GoOn => self.checks_of(annotator)?,
            _ => None,
        };
        Ok(book.gate(annotator, checks.as_ref()))
    }

    /// Refuses real texts to a person who has to practise, or who is blocked.
    pub(crate) fn may_label(&self, annotator: AnnotatorId) -> Result<(), ProjectError> {
        let gate = self.gate(annotator)?;
        match gate.step {
            PracticeStep::Label => Ok(()),
            PracticeStep::Practise => {
                let left = self.book()?.left(annotator, gate.round).len();
                Err(LabellingError::PracticeFirst { left }.into())
            }
            PracticeStep::Stopped if gate.by_checks => Err(LabellingError::StoppedByChecks.into()),
            PracticeStep::Stopped => Err(LabellingError::StoppedByPractice.into()),
        }
    }

    /// Refuses a practice text where a real one is answered.
    pub(crate) fn is_asked(&self, text: TextId) -> Result<(), ProjectError> {
        match self.book()?.is_practice(text) {
            false => Ok(()),
            true => {
                let name =
                    self.context.store.text(text)?.map_or_else(|| "?".to_owned(), |text| text.external_id);
                Err(LabellingError::PracticeText(name).into())
            }
        }
    }
}
