//! Search in people's notes.

use super::Project;
use dissensus_api::{NoteInfo, NoteQuery};
use dissensus_domain::{AnnotatorId, Answer, GuidelineId, Note, QuestionId, TextId};
use dissensus_project::error::ProjectError;
use dissensus_store::Marked;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// One person's note on a text in one annotation round.
struct RoundNote {
    place: (TextId, AnnotatorId, u16),
    answer: Option<String>,
    note: Note,
    flagged: bool,
    skipped: bool,
    guideline: Option<u32>,
    at_ms: i64,
}

/// Current notes, reasons, confidences, flags and skips, by question, text and annotator. Words are
/// searched in notes, reasons, the text and its id, ignoring case.
///
/// # Errors
/// No such question, or the file cannot be read.
pub fn list(cx: &Project, query: &NoteQuery) -> Result<Vec<NoteInfo>, ProjectError> {
    let (store, index) = (&cx.context.store, cx.context.index());
    let versions = store.guideline_numbers()?;
    let asked: Vec<QuestionId> = match query.question {
        Some(question) => vec![index.whole(question)?.id],
        None => index.questions().iter().map(|question| question.id).collect(),
    };
    let words: Vec<String> = query.words.split_whitespace().map(str::to_lowercase).collect();
    let mut bodies = BTreeMap::new();
    let mut found = Vec::new();
    for question in asked.iter().filter_map(|id| index.question(*id)) {
        let name = |answer: &Answer| question.scale.name_of_answer(answer).map(std::borrow::Cow::into_owned);
        let version = |guideline: Option<GuidelineId>| versions.get(&guideline?).copied();
        let mut all: Vec<RoundNote> = Vec::new();
        for Marked { text, annotator, at_ms, current, marks } in store.all_marks(question.id)? {
            all.push(RoundNote {
                place: (text, annotator, 1),
                answer: current.as_ref().and_then(|event| name(event.answer()?)),
                flagged: marks.flagged,
                skipped: marks.skipped && current.is_none(),
                guideline: version(current.and_then(|event| event.guideline)),
                note: marks.note,
                at_ms,
            });
        }
        for repeat in store.repeats(question.id)? {
            if !repeat.details.note.is_empty() {
                all.push(RoundNote {
                    place: (repeat.text, repeat.annotator, repeat.occasion),
                    answer: name(&repeat.answer),
                    flagged: false,
                    skipped: false,
                    guideline: version(repeat.details.guideline),
                    note: repeat.details.note,
                    at_ms: repeat.at_ms,
                });
            }
        }
        all.sort_by_key(|entry| entry.place);
        for entry in all {
            let (text, annotator, occasion) = entry.place;
            let chosen = query.annotator.is_none_or(|wanted| wanted == annotator)
                && query.reason.as_ref().is_none_or(|wanted| entry.note.reasons.contains(wanted))
                && (!query.flagged || entry.flagged);
            if !chosen {
                continue;
            }
            let person = index.annotator_row(annotator).map(|row| &index.annotators()[row as usize]);
            if let Entry::Vacant(entry) = bodies.entry(text) {
                entry.insert(store.text(text)?);
            }
            let (Some(person), Some(Some(of))) = (person, bodies.get(&text)) else { continue };
            let note = entry.note.note.as_deref().unwrap_or_default();
            let reasons = entry.note.reasons.join(" ");
            let searched = [note, &of.body, &of.external_id, &reasons].join(" ").to_lowercase();
            if !words.iter().all(|word| searched.contains(word)) {
                continue;
            }
            found.push(NoteInfo {
                question: question.id,
                question_name: question.name.clone(),
                text,
                text_id: of.external_id.clone(),
                body: of.body.clone(),
                annotator,
                annotator_name: person.name.clone(),
                occasion,
                answer: entry.answer,
                note: entry.note,
                flagged: entry.flagged,
                skipped: entry.skipped,
                guideline: entry.guideline,
                at: entry.at_ms as f64,
            });
        }
    }
    Ok(found)
}
