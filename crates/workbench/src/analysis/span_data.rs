//! The words of a project's texts as models see them.

use super::Analysis;
use super::text_words::{Forms, marks, words};
use crate::context::{QuestionData, SpanLabel};
use crate::error::WorkbenchError;
use crate::jobs::Progress;
use dissensus_domain::{Question, TextId};
use dissensus_encoder::Encoder;
use dissensus_perspectives::{SpanAnswer, SpanTexts, WordFeatures};
use std::collections::{BTreeMap, HashMap};

/// Texts that are read and encoded together.
pub(super) const TOGETHER: usize = 64;

/// Answers with spans and the words of the texts that they are to. Rows of texts here are those of labelled texts alone.
pub(super) struct SpanData {
    /// The types as questions, with rows of all texts.
    pub(super) types: Vec<QuestionData>,
    /// Rows of all texts, by row here.
    pub(super) rows: Vec<u32>,
    /// Of each text here the first one with the same body.
    pub(super) copies: Vec<u32>,
    pub(super) texts: SpanTexts,
    pub(super) answers: Vec<SpanAnswer>,
    /// Ids of the words' forms.
    pub(super) forms: Forms,
    /// Version of the encoder that read the words.
    pub(super) encoder: String,
}

impl SpanData {
    /// Indices of the answers whose text (row of all) and annotator are among `pairs`.
    pub(super) fn answers_of<'a>(&self, pairs: impl Iterator<Item = (u32, u32)> + 'a) -> Vec<usize> {
        let here: HashMap<(u32, u32), usize> = self
            .answers
            .iter()
            .enumerate()
            .map(|(at, answer)| ((self.rows[answer.text as usize], answer.annotator), at))
            .collect();
        let mut found: Vec<usize> = pairs.filter_map(|pair| here.get(&pair).copied()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Analysis {
    /// Reads the words of all texts with answers to a question with spans.
    ///
    /// # Errors
    /// No answers; a text that cannot be encoded; a cancel.
    pub(super) fn span_data(
        &self,
        question: &Question,
        encoder: &Encoder,
        progress: &dyn Progress,
    ) -> Result<SpanData, WorkbenchError> {
        let (types, labels) = self.context.span_data(question)?;
        let first = types.first().ok_or(WorkbenchError::NoQuestion)?;
        let mut by_text: BTreeMap<u32, Vec<SpanLabel>> = BTreeMap::new();
        labels.into_iter().for_each(|label| by_text.entry(label.text).or_default().push(label));
        let rows: Vec<u32> = by_text.keys().copied().collect();
        let mut texts = SpanTexts::new(encoder.word_dim());
        let (mut answers, mut forms) = (Vec::new(), Forms::default());
        let total = Some(rows.len() as u64);
        for chunk in rows.chunks(TOGETHER) {
            progress.report(texts.len() as u64, total, "reading words");
            let ids: Vec<TextId> = chunk.iter().map(|row| first.texts[*row as usize]).collect();
            let before = texts.len() as u32;
            let places = self.read_words(encoder, &ids, &mut forms, &mut texts, progress)?;
            for ((row, text), places) in chunk.iter().zip(before..).zip(&places) {
                let own = by_text.remove(row).unwrap_or_default();
                answers.extend(own.into_iter().map(|label| SpanAnswer {
                    text,
                    annotator: label.annotator,
                    marks: marks(places, &label.spans),
                }));
            }
        }
        let mut seen: HashMap<u32, u32> = HashMap::new();
        let copy =
            |(here, row): (usize, &u32)| *seen.entry(first.copies[*row as usize]).or_insert(here as u32);
        let copies = rows.iter().enumerate().map(copy).collect();
        Ok(SpanData { rows, copies, texts, answers, forms, encoder: encoder.version().key(), types })
    }

    /// Adds the words of these texts to `texts`; where in each of them its words are.
    pub(super) fn read_words(
        &self,
        encoder: &Encoder,
        ids: &[TextId],
        forms: &mut Forms,
        texts: &mut SpanTexts,
        progress: &dyn Progress,
    ) -> Result<Vec<Vec<(u32, u32)>>, WorkbenchError> {
        let bodies = self.context.store.bodies(ids)?;
        let borrowed: Vec<&str> = bodies.iter().map(String::as_str).collect();
        let places: Vec<Vec<(u32, u32)>> = borrowed.iter().map(|body| words(body)).collect();
        let mut states = vec![Vec::new(); ids.len()];
        let whole = encoder.word_states(&borrowed, &places, |text, own| {
            states[text] = own;
            progress.flow()
        })?;
        if !whole {
            return Err(WorkbenchError::Cancelled);
        }
        for (states, body) in states.iter().zip(&borrowed) {
            texts.push(WordFeatures { states, forms: &forms.add(body) })?;
        }
        Ok(places)
    }
}
