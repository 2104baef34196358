//! One row of a list: the text, and its state.

use super::Texts;
use super::ordered::List;
use super::states::Scope;
use crate::snippet;
use dissensus_api::{TextFilter, TextRow};
use dissensus_domain::{AnnotatorId, Text};
use dissensus_exchange::text_id_of;
use dissensus_labelling::notes;
use dissensus_labelling::question_set;
use dissensus_project::error::ProjectError;

/// Characters of context before the match of a search.
const BEFORE: usize = 40;

impl Texts {
    pub(super) fn row(
        &self,
        row: u32,
        list: &List,
        of: &Scope,
        search: &str,
    ) -> Result<Option<TextRow>, ProjectError> {
        let Some(text) = self.context.store.text(of.index.texts()[row as usize])? else { return Ok(None) };
        let is = |filter| list.states.is_in(row, filter);
        let noted = is(TextFilter::Noted);
        let (answers, note) = match of.annotator.filter(|_| !list.lacks_states()) {
            Some(annotator) => self.answers_and_notes(annotator, &text, of, noted)?,
            None => (Vec::new(), None),
        };
        Ok(Some(TextRow {
            text: text.id,
            named: text.external_id != text_id_of(&text.body),
            row: row + 1,
            snippet: around(&text.body, search),
            characters: text.body.chars().count() as u32,
            external_id: text.external_id,
            answers,
            note,
            answered: is(TextFilter::Answered),
            skipped: is(TextFilter::Skipped),
            flagged: is(TextFilter::Flagged),
            noted,
            contested: list.differs(row),
            long: list.is_long(row),
        }))
    }

    /// A person's answers and notes.
    fn answers_and_notes(
        &self,
        annotator: AnnotatorId,
        text: &Text,
        of: &Scope,
        noted: bool,
    ) -> Result<(Vec<Option<String>>, Option<String>), ProjectError> {
        let mut answers = Vec::with_capacity(of.questions.len());
        let mut notes = Vec::new();
        for question in &of.questions {
            let annotations = question_set::annotations(&self.labelling, annotator, *question)?;
            let answer = dissensus_project::sync::lock(&annotations).answers.get(&text.id).cloned();
            let scale = of.index.question(*question).map(|question| &question.scale);
            let name = answer.and_then(|answer| Some(scale?.name_of_answer(&answer)?.into_owned()));
            answers.push(name);
            if noted {
                notes.extend(notes::read(&self.labelling, annotator, *question, text.id)?.note);
            }
        }
        Ok((answers, (!notes.is_empty()).then(|| notes.join(" · "))))
    }
}

/// The beginning of a text, or, if the match of a search is further on, the passage from shortly before it.
fn around(body: &str, search: &str) -> String {
    let wanted = search.trim().to_lowercase();
    let lower = body.to_lowercase();
    let found = if wanted.is_empty() { None } else { lower.find(&wanted) };
    let at = found.map_or(0, |byte| lower[..byte].chars().count());
    // A few letters are longer in lower case: then positions are not those of the text.
    if at <= 2 * BEFORE || lower.chars().count() != body.chars().count() {
        return snippet(body);
    }
    let from = body.char_indices().nth(at - BEFORE).map_or(0, |(byte, _)| byte);
    let word = body[from..].find(char::is_whitespace).map_or(from, |space| from + space);
    format!("…{}", snippet(body[word..].trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_shows_the_match_in_a_long_text() {
        let body = format!("{} here is the NEEDLE, and more {}", "hay ".repeat(200), "hay ".repeat(200));
        let row = around(&body, " needle ");
        assert!(row.starts_with("…hay ") && row.contains("here is the NEEDLE"), "{row}");
        assert!(around(&body, "").starts_with("hay hay"));
        assert!(around("short NEEDLE", "needle").starts_with("short"));
        // Lower case of this letter is two characters.
        assert!(around(&format!("{}İ needle", "x ".repeat(300)), "needle").starts_with("x x"));
    }
}
