//! What one annotator has done with one question, kept in memory so that a click costs the same with ten thousand labels.

use crate::error::WorkbenchError;
use crate::sync::lock;
use crate::view::Progress;
use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use dissensus_store::Store;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

/// Labels and marks of one annotator on one question.
#[derive(Default)]
pub(crate) struct Sheet {
    /// The current label of each text labelled.
    pub(crate) levels: HashMap<TextId, u16>,
    /// Texts set aside, labelled or not.
    pub(crate) skipped: HashSet<TextId>,
    /// Texts pointed at.
    pub(crate) flagged: HashSet<TextId>,
}

impl Sheet {
    fn load(store: &Store, annotator: AnnotatorId, question: QuestionId) -> Result<Self, WorkbenchError> {
        let labels = store.current_labels_of(annotator, question)?;
        let marks = store.marks(annotator, question)?;
        let texts = |pick: fn(&dissensus_store::Mark) -> bool| {
            marks.iter().filter(|(_, mark)| pick(mark)).map(|(text, _)| *text).collect::<HashSet<_>>()
        };
        Ok(Self {
            levels: labels.iter().map(|label| (label.text, label.level)).collect(),
            skipped: texts(|mark| mark.skipped),
            flagged: texts(|mark| mark.flagged),
        })
    }

    /// How far it is, given today's count and the number of texts.
    pub(crate) fn progress(&self, today: u32, total: usize) -> Progress {
        let skipped = self.skipped.iter().filter(|text| !self.levels.contains_key(text)).count();
        Progress {
            today,
            done: self.levels.len() as u32,
            total: total as u32,
            skipped: skipped as u32,
            flagged: self.flagged.len() as u32,
        }
    }
}

type Shared = Arc<Mutex<Sheet>>;

/// The sheets in use. The session is the only writer of its project, so they stay true until an import.
#[derive(Default)]
pub(crate) struct Sheets(Mutex<HashMap<(AnnotatorId, QuestionId), Shared>>);

impl Sheets {
    /// The sheet of an annotator and a question, read from the project on first use.
    pub(crate) fn get(
        &self,
        store: &Store,
        annotator: AnnotatorId,
        question: QuestionId,
    ) -> Result<Shared, WorkbenchError> {
        let mut sheets = lock(&self.0);
        if let Some(sheet) = sheets.get(&(annotator, question)) {
            return Ok(Arc::clone(sheet));
        }
        let sheet = Arc::new(Mutex::new(Sheet::load(store, annotator, question)?));
        sheets.insert((annotator, question), Arc::clone(&sheet));
        Ok(sheet)
    }

    /// Forgets all, so that they are read anew.
    pub(crate) fn clear(&self) {
        lock(&self.0).clear();
    }
}
