//! Agreement on which words are marked.

use super::Analysis;
use crate::error::WorkbenchError;
use crate::jobs::Progress;
use dissensus_domain::{Answer, Question, SpanSet, TextId};
use dissensus_perspectives::metrics::BootstrapOptions;
use dissensus_perspectives::{MarkedWords, WordAgreement, word_agreement};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use unicode_segmentation::UnicodeSegmentation as _;

/// Bodies read at a time; a text may be long.
const PAGE: usize = 64;

/// Agreement on the spans of a question. A word (Unicode text segmentation, UAX 29) is marked where a span covers a character of it.
#[derive(Clone, Debug, Serialize)]
pub struct SpanAgreements {
    /// The question.
    pub question: String,
    /// Answers; one without a span is one.
    pub labels: u32,
    /// Annotators with answers.
    pub annotators: u32,
    /// Texts with answers.
    pub texts: u32,
    /// Of words marked with any type.
    pub any: WordAgreement,
    /// Of each type.
    pub types: Vec<TypeAgreement>,
}

/// Agreement on one type of spans.
#[derive(Clone, Debug, Serialize)]
pub struct TypeAgreement {
    /// The type.
    #[serde(rename = "type")]
    pub name: String,
    /// Share of the answers with a span of it; none without answers.
    pub chosen: Option<f64>,
    /// Krippendorff's alpha of whether a text has a span of it at all, as `agreement` has it of the type as a question.
    pub alpha_of_texts: Option<f64>,
    /// Of its words.
    #[serde(flatten)]
    pub words: WordAgreement,
}

impl Analysis {
    /// How much annotators agree on the words that they mark, of each type and of all together.
    ///
    /// # Errors
    /// The file cannot be read, or a cancel.
    pub fn span_agreements(
        &self,
        question: &Question,
        progress: &dyn Progress,
    ) -> Result<SpanAgreements, WorkbenchError> {
        let labels = self.context.store.current_labels(question.id)?;
        let mut by_text: BTreeMap<TextId, Vec<&SpanSet>> = BTreeMap::new();
        for label in &labels {
            if let Answer::Spans(spans) = &label.answer {
                by_text.entry(label.text).or_default().push(spans);
            }
        }
        let types = question.scale.len();
        // Of each type, and last of any.
        let mut marks: Vec<Vec<MarkedWords>> = vec![Vec::new(); types + 1];
        let texts: Vec<TextId> = by_text.keys().copied().collect();
        for page in texts.chunks(PAGE) {
            for (text, body) in page.iter().zip(self.context.store.bodies(page)?) {
                let words = words(&body);
                for spans in &by_text[text] {
                    for (kind, marks) in marks.iter_mut().enumerate() {
                        let marked = marked_words(&words, spans, (kind < types).then_some(kind as u16));
                        marks.push(MarkedWords { text: text.0, words: words.len() as u32, marked });
                    }
                }
            }
            if progress.cancelled() {
                return Err(WorkbenchError::Cancelled);
            }
        }
        let options = BootstrapOptions::default();
        let of = |marks: &[MarkedWords]| word_agreement(marks, Some(&options), progress);
        let mut found = Vec::with_capacity(types);
        for ((option, name), marks) in question.options().iter().zip(question.scale.levels()).zip(&marks) {
            let answers = self.context.observations(option.id)?;
            let chosen = answers.iter().filter(|answer| answer.level == 1).count();
            found.push(TypeAgreement {
                name: name.clone(),
                chosen: (!answers.is_empty()).then(|| chosen as f64 / answers.len() as f64),
                alpha_of_texts: self.agreement(option.id)?.alpha,
                words: of(marks)?,
            });
        }
        let annotators: BTreeSet<_> = labels.iter().map(|label| label.annotator).collect();
        Ok(SpanAgreements {
            question: question.name.clone(),
            labels: labels.len() as u32,
            annotators: annotators.len() as u32,
            texts: texts.len() as u32,
            any: of(&marks[types])?,
            types: found,
        })
    }
}

/// The words of a text, as the characters from the first one up to, not including, the second.
fn words(body: &str) -> Vec<(u32, u32)> {
    let (mut words, mut characters, mut bytes) = (Vec::new(), 0, 0);
    for (at, word) in body.unicode_word_indices() {
        characters += body[bytes..at].chars().count() as u32;
        let length = word.chars().count() as u32;
        words.push((characters, characters + length));
        (characters, bytes) = (characters + length, at + word.len());
    }
    words
}

/// The words that a span of this type (of any, without one) covers a character of.
fn marked_words(words: &[(u32, u32)], spans: &SpanSet, kind: Option<u16>) -> BTreeSet<u32> {
    let mut marked = BTreeSet::new();
    for span in spans.as_slice().iter().filter(|span| kind.is_none_or(|kind| kind == span.kind)) {
        let first = words.partition_point(|(_, end)| *end <= span.start);
        let covered = words[first..].iter().take_while(|(start, _)| *start < span.end).count();
        marked.extend(first as u32..(first + covered) as u32);
    }
    marked
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::Span;

    #[test]
    fn words_are_counted_in_characters() {
        // Characters of one to four bytes, a sign without a word, and a combining accent.
        assert_eq!(words("Größe – 😀 ne\u{301}e, ok"), [(0, 5), (10, 14), (16, 18)]);
        assert!(words(" … ").is_empty());
    }

    #[test]
    fn a_word_is_marked_by_any_of_its_characters() {
        let words = [(0, 5), (6, 8), (10, 14)];
        let of = |spans: &[(u32, u32, u16)], kind| {
            let spans = spans.iter().map(|&(start, end, kind)| Span { start, end, kind });
            let marked = marked_words(&words, &SpanSet::new(spans).unwrap(), kind);
            marked.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(of(&[(4, 7, 0)], Some(0)), [0, 1]);
        assert!(of(&[(4, 7, 0)], Some(1)).is_empty());
        assert!(of(&[(5, 6, 0), (8, 10, 0), (14, 20, 0)], None).is_empty());
        assert_eq!(of(&[(0, 1, 1), (0, 14, 0), (13, 14, 1)], Some(1)), [0, 2]);
        assert_eq!(of(&[(0, 1, 1), (6, 14, 0)], None), [0, 1, 2]);
    }
}
