//! Search in people's notes.

use super::Project;
use dissensus_api::{RemarkInfo, RemarkQuery};
use dissensus_domain::{AnnotatorId, Answer, GuidelineId, QuestionId, Remark, TextId};
use dissensus_project::error::ProjectError;
use dissensus_store::Marked;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// One person's note on a text in one annotation round.
struct RoundNote {
    place: (TextId, AnnotatorId, u16),
    answer: Option<String>,
    remark: Remark,
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
pub fn list(cx: &Project, query: &RemarkQuery) -> Result<Vec<RemarkInfo>, ProjectError> {
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
                remark: marks.remark,
                at_ms,
            });
        }
        for repeat in store.repeats(question.id)? {
            if !repeat.details.remark.is_empty() {
                all.push(RoundNote {
                    place: (repeat.text, repeat.annotator, repeat.occasion),
                    answer: name(&repeat.answer),
                    flagged: false,
                    skipped: false,
                    guideline: version(repeat.details.guideline),
                    remark: repeat.details.remark,
                    at_ms: repeat.at_ms,
                });
            }
        }
        all.sort_by_key(|said| said.place);
        for said in all {
            let (text, annotator, occasion) = said.place;
            let chosen = query.annotator.is_none_or(|wanted| wanted == annotator)
                && query.reason.as_ref().is_none_or(|wanted| said.remark.reasons.contains(wanted))
                && (!query.flagged || said.flagged);
            if !chosen {
                continue;
            }
            let person = index.annotator_row(annotator).map(|row| &index.annotators()[row as usize]);
            if let Entry::Vacant(entry) = bodies.entry(text) {
                entry.insert(store.text(text)?);
            }
            let (Some(person), Some(Some(of))) = (person, bodies.get(&text)) else { continue };
            let note = said.remark.note.as_deref().unwrap_or_default();
            let reasons = said.remark.reasons.join(" ");
            let searched = [note, &of.body, &of.external_id, &reasons].join(" ").to_lowercase();
            if !words.iter().all(|word| searched.contains(word)) {
                continue;
            }
            found.push(RemarkInfo {
                question: question.id,
                question_name: question.name.clone(),
                text,
                text_id: of.external_id.clone(),
                body: of.body.clone(),
                annotator,
                annotator_name: person.name.clone(),
                occasion,
                answer: said.answer,
                remark: said.remark,
                flagged: said.flagged,
                skipped: said.skipped,
                guideline: said.guideline,
                at: said.at_ms as f64,
            });
        }
    }
    Ok(found)
}
