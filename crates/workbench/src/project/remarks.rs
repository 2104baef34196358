//! What people said beside their answers, to be searched.

use super::Project;
use crate::error::WorkbenchError;
use crate::view::{RemarkInfo, RemarkQuery};
use dissensus_domain::{GuidelineId, QuestionId};
use dissensus_store::Marked;
use std::collections::{BTreeMap, HashMap};

impl Project {
    /// Notes, reasons, confidences, flags and skips that hold, by question, text and annotator. Words are searched in notes, reasons, the
    /// text and its id, without regard to case.
    ///
    /// # Errors
    /// No such question, or the file cannot be read.
    pub fn remarks(&self, query: &RemarkQuery) -> Result<Vec<RemarkInfo>, WorkbenchError> {
        let (store, index) = (&self.context.store, self.context.index());
        let versions: HashMap<GuidelineId, u32> =
            store.guidelines()?.iter().map(|version| version.id).zip(1..).collect();
        let asked: Vec<QuestionId> = match query.question {
            Some(question) => vec![index.whole(question)?.id],
            None => index.questions().iter().map(|question| question.id).collect(),
        };
        let words: Vec<String> = query.words.split_whitespace().map(str::to_lowercase).collect();
        let mut bodies = BTreeMap::new();
        let mut found = Vec::new();
        for question in asked.iter().filter_map(|id| index.question(*id)) {
            for Marked { text, annotator, at_ms, current, marks } in store.all_marks(question.id)? {
                let chosen = query.annotator.is_none_or(|wanted| wanted == annotator)
                    && query.reason.as_ref().is_none_or(|wanted| marks.remark.reasons.contains(wanted))
                    && (!query.flagged || marks.flagged);
                if !chosen {
                    continue;
                }
                let person = index.annotator_row(annotator).map(|row| &index.annotators()[row as usize]);
                if let std::collections::btree_map::Entry::Vacant(entry) = bodies.entry(text) {
                    entry.insert(store.text(text)?);
                }
                let (Some(person), Some(Some(of))) = (person, bodies.get(&text)) else { continue };
                let said = [marks.remark.note.as_deref().unwrap_or_default(), &of.body, &of.external_id];
                let said = format!("{} {}", said.join(" "), marks.remark.reasons.join(" ")).to_lowercase();
                if !words.iter().all(|word| said.contains(word)) {
                    continue;
                }
                let name = |answer| question.scale.name_of_answer(answer).map(std::borrow::Cow::into_owned);
                found.push(RemarkInfo {
                    question: question.id,
                    question_name: question.name.clone(),
                    text,
                    text_id: of.external_id.clone(),
                    body: of.body.clone(),
                    annotator,
                    annotator_name: person.name.clone(),
                    answer: current.as_ref().and_then(|event| name(event.answer()?)),
                    remark: marks.remark,
                    flagged: marks.flagged,
                    skipped: marks.skipped && current.is_none(),
                    guideline: current.and_then(|event| versions.get(&event.guideline?).copied()),
                    at: at_ms as f64,
                });
            }
        }
        Ok(found)
    }
}
