//! Seeds the checker of a file with the contents of the project.

use dissensus_domain::{
    AnnotatorId, Event, EventId, QuestionId, TextId, current_answer, unretracted_answers,
};
use dissensus_exchange::{Checker, KnownLabel};
use dissensus_project::error::ProjectError;
use dissensus_store::{Store, StoreError, WriteTx};
use foldhash::{HashMap, HashMapExt};
use std::collections::BTreeMap;

/// Rows of the project by the checker's numbers. Those that an import adds are appended.
pub(super) struct Seeds {
    pub(super) texts: Vec<TextId>,
    pub(super) annotators: Vec<AnnotatorId>,
    /// The newest event that the checker includes.
    last_event: EventId,
}

/// Seeds `checker` with all texts and annotators, and with the labels of `questions` (the checker's number
/// and the row), all as of one moment.
pub(super) fn seeded(
    store: &Store,
    checker: &mut Checker,
    questions: &[(usize, QuestionId)],
) -> Result<Seeds, ProjectError> {
    let mut seeds = Seeds { texts: Vec::new(), annotators: Vec::new(), last_event: EventId(0) };
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
        seeds.last_event = snapshot.last_event()?;
        if questions.is_empty() {
            return Ok::<(), ProjectError>(());
        }
        snapshot.for_each_unretracted_answer(|answer| {
            let question = questions.iter().find(|(_, id)| *id == answer.question);
            let (text, annotator) = (texts.get(&answer.text), annotators.get(&answer.annotator));
            if let (Some((number, _)), Some(text), Some(annotator)) = (question, text, annotator) {
                let label = KnownLabel {
                    text: *text,
                    annotator: *annotator,
                    answer: answer.answer,
                    at_ms: answer.at_ms,
                    given: answer.source.is_given(),
                    current: answer.current,
                };
                checker.seed_label(*number, &label);
            }
            Ok::<(), StoreError>(())
        })?;
        Ok(())
    })?;
    Ok(seeds)
}

/// Updates `checker` with what was labelled and retracted between the reading of the file and its writing:
/// nothing can change from here on. `questions` are the checker's numbers with the rows.
pub(super) fn catch_up(
    tx: &WriteTx<'_>,
    checker: &mut Checker,
    seeds: &Seeds,
    questions: &[(usize, QuestionId)],
) -> Result<(), ProjectError> {
    let events = tx.events_since(seeds.last_event, u32::MAX)?;
    if events.is_empty() {
        return Ok(());
    }
    let texts: HashMap<TextId, u32> = (0..).zip(&seeds.texts).map(|(n, id)| (*id, n)).collect();
    let annotators: HashMap<AnnotatorId, u32> =
        (0..).zip(&seeds.annotators).map(|(n, id)| (*id, n)).collect();
    let mut touched: BTreeMap<(usize, u32, u32), Vec<Event>> = BTreeMap::new();
    for event in events {
        let number = questions.iter().find(|(_, id)| *id == event.question).map(|(number, _)| *number);
        // An annotator who was added meanwhile has no number, and had no label in the project when the file
        // was read.
        if let (Some(number), Some(&text), Some(&annotator)) =
            (number, texts.get(&event.text), annotators.get(&event.annotator))
        {
            touched.entry((number, text, annotator)).or_default().push(event);
        }
    }
    // Reseeds every pair with new events: labels that were retracted, before or after the file was read, no
    // longer exist.
    for (&(number, text, annotator), events) in &mut touched {
        if checker.forget_labels(number, text, annotator)
            && let Some(Event { question, text, annotator, .. }) = events.first()
        {
            *events = tx.events_on(*question, *text, *annotator)?;
        }
    }
    let seed = |checker: &mut Checker, meanwhile: bool| {
        for (&(number, text, annotator), events) in &touched {
            let current = current_answer(events).map(|event| event.id);
            for event in unretracted_answers(events) {
                if let Some(answer) = event.answer().cloned()
                    && (event.id > seeds.last_event) == meanwhile
                {
                    let (given, current) = (event.source.is_given(), current == Some(event.id));
                    let label = KnownLabel { text, annotator, answer, at_ms: event.at_ms, given, current };
                    checker.seed_label(number, &label);
                }
            }
        }
    };
    seed(checker, false);
    checker.go_on_seeding();
    seed(checker, true);
    Ok(())
}
