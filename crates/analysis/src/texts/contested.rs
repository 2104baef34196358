//! How far the labels of every text differ, without predictions.

use super::Texts;
use super::states::Scope;
use crate::labels_differ::labels_differ;
use dissensus_domain::{EventId, QuestionId, TextId};
use dissensus_project::context::Index;
use dissensus_project::error::ProjectError;
use dissensus_project::sync::lock;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

/// How far labels differ, by row of the index, 0 to 1; not a number with fewer than two labels.
type Values = Arc<Vec<f32>>;

/// The values of one question, for an index and an event.
struct CachedValues {
    index: Arc<Index>,
    event: EventId,
    values: Values,
}

/// Cached values of each question.
#[derive(Default)]
pub(super) struct ContestedCache(Mutex<HashMap<QuestionId, CachedValues>>);

impl Texts {
    /// For each text the widest of these questions; with a person, only questions that this person has
    /// answered about it.
    pub(super) fn contested(&self, of: &Scope) -> Result<Vec<f32>, ProjectError> {
        let mut widest = vec![f32::NAN; of.index.texts().len()];
        for question in &of.questions {
            let answered: Option<HashSet<TextId>> = match of.annotator {
                Some(person) => {
                    let own = self.context.store.current_labels_of(person, *question)?;
                    Some(own.into_iter().map(|label| label.text).collect())
                }
                None => None,
            };
            let values = self.contested_on(*question, of)?;
            for ((all, one), text) in widest.iter_mut().zip(values.iter()).zip(of.index.texts()) {
                if answered.as_ref().is_none_or(|own| own.contains(text)) {
                    // If one of the two is not a number, `max` returns the other.
                    *all = all.max(*one);
                }
            }
        }
        Ok(widest)
    }

    fn contested_on(&self, question: QuestionId, of: &Scope) -> Result<Values, ProjectError> {
        if let Some(known) = lock(&self.contested.0).get(&question)
            && Arc::ptr_eq(&known.index, &of.index)
            && known.event == of.event
        {
            return Ok(Arc::clone(&known.values));
        }
        let asked = of.index.question(question).ok_or(ProjectError::NoQuestion)?;
        let labels = self.context.store.current_labels(question)?;
        let mut values = vec![f32::NAN; of.index.texts().len()];
        for on_text in labels.chunk_by(|a, b| a.text == b.text) {
            let answers: Vec<_> = on_text.iter().map(|label| &label.answer).collect();
            if let (Some(row), Some(value)) =
                (of.index.text_row(on_text[0].text), labels_differ(&asked.scale, &answers))
            {
                values[row as usize] = value;
            }
        }
        let values = Arc::new(values);
        let known =
            CachedValues { index: Arc::clone(&of.index), event: of.event, values: Arc::clone(&values) };
        lock(&self.contested.0).insert(question, known);
        Ok(values)
    }
}
