//! What the project has, told to the checker of a file.

use crate::error::WorkbenchError;
use crate::levels::level_of;
use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use dissensus_exchange::Checker;
use dissensus_store::{Store, StoreError};
use foldhash::{HashMap, HashMapExt};

/// Rows of the project by the checker's numbers. Those that an import adds are pushed behind them.
#[derive(Default)]
pub(super) struct Seeds {
    pub(super) texts: Vec<TextId>,
    pub(super) annotators: Vec<AnnotatorId>,
}

/// Tells `checker` of all texts and annotators, and of the labels of `questions` (the checker's number and the row), all as
/// they are at one moment.
pub(super) fn seeded(
    store: &Store,
    checker: &mut Checker,
    questions: &[(usize, QuestionId)],
) -> Result<Seeds, WorkbenchError> {
    let mut seeds = Seeds::default();
    let mut texts: HashMap<TextId, u32> = HashMap::new();
    let mut annotators: HashMap<AnnotatorId, u32> = HashMap::new();
    store.snapshot(|snapshot| {
        snapshot.for_each_body(|id, external_id, body| {
            let number = checker.seed_text(external_id, body);
            if number as usize == seeds.texts.len() {
                seeds.texts.push(id);
            }
            texts.insert(id, number);
            Ok::<(), StoreError>(())
        })?;
        for annotator in snapshot.annotators()? {
            let number = checker.seed_annotator(&annotator.external_id, &annotator.attributes);
            seeds.annotators.push(annotator.id);
            annotators.insert(annotator.id, number);
        }
        if questions.is_empty() {
            return Ok(());
        }
        snapshot.for_each_standing_answer(|answer| {
            let question = questions.iter().find(|(_, id)| *id == answer.question);
            let (text, annotator) = (texts.get(&answer.text), annotators.get(&answer.annotator));
            if let (Some((number, _)), Some(text), Some(annotator), Some(level)) =
                (question, text, annotator, level_of(&answer.answer))
            {
                checker.seed_label(*number, *text, *annotator, level, answer.at_ms);
            }
            Ok::<(), StoreError>(())
        })
    })?;
    Ok(seeds)
}
