//! Models of words in memory, by question.

use dissensus_domain::{EventId, LevelId, QuestionId};
use dissensus_models::spans::LiveSpans;
use dissensus_project::error::ProjectError;
use dissensus_project::sync::lock;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

/// Models in memory, by question. They identify texts and annotators by their ids.
#[derive(Default)]
pub(crate) struct WordModels {
    fitted: Mutex<HashMap<QuestionId, Arc<Mutex<FittedWords>>>>,
    /// Questions and encoder versions whose stored model cannot be used, until one is fitted. Locked while a
    /// model is loaded, so that concurrent callers read it once.
    refused: Mutex<HashSet<(QuestionId, String)>>,
}

pub(crate) struct FittedWords {
    pub(crate) live: LiveSpans,
    /// The type of each of its columns.
    pub(crate) levels: Vec<LevelId>,
    /// Version of the encoder that read the words.
    pub(crate) encoder: String,
    /// The last event that is included.
    pub(crate) followed: EventId,
    /// Answers that its scores were fitted on.
    pub(crate) answers: u32,
    /// Whether they come from a head that was learned with the encoder.
    pub(crate) tuned: bool,
}

impl WordModels {
    pub(crate) fn get(&self, question: QuestionId) -> Option<Arc<Mutex<FittedWords>>> {
        lock(&self.fitted).get(&question).cloned()
    }

    pub(crate) fn set(&self, question: QuestionId, fitted: FittedWords) {
        lock(&self.fitted).insert(question, Arc::new(Mutex::new(fitted)));
        lock(&self.refused).retain(|(refused, _)| *refused != question);
    }

    /// The model of a question, otherwise the one that `read` finds for this version of an encoder, unless
    /// one was fitted meanwhile.
    pub(crate) fn get_or_read(
        &self,
        question: QuestionId,
        encoder: &str,
        read: impl FnOnce() -> Result<Option<FittedWords>, ProjectError>,
    ) -> Result<Option<Arc<Mutex<FittedWords>>>, ProjectError> {
        if let Some(known) = self.get(question) {
            return Ok(Some(known));
        }
        let mut refused = lock(&self.refused);
        if let Some(known) = self.get(question) {
            return Ok(Some(known));
        }
        let asked = (question, encoder.to_owned());
        if refused.contains(&asked) {
            return Ok(None);
        }
        let Some(found) = read()? else {
            refused.insert(asked);
            return Ok(None);
        };
        let mut fitted = lock(&self.fitted);
        Ok(Some(Arc::clone(fitted.entry(question).or_insert_with(|| Arc::new(Mutex::new(found))))))
    }

    /// Drops this model, but not one that was fitted meanwhile.
    pub(crate) fn forget(&self, question: QuestionId, stale: &Arc<Mutex<FittedWords>>) {
        let mut models = lock(&self.fitted);
        if models.get(&question).is_some_and(|model| Arc::ptr_eq(model, stale)) {
            models.remove(&question);
        }
    }
}
