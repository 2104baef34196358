//! The words of a project's texts in the form that models read.

use super::Analysis;
use dissensus_domain::{Question, TextId};
use dissensus_encoder::{Encoder, WordStates};
use dissensus_models::spans::{SpanAnswer, SpanTexts, WordFeatures};
use dissensus_project::context::{QuestionData, SpanLabel};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::text_words::{Forms, columns, marks, words};
use std::collections::{BTreeMap, HashMap};

/// Number of texts that are read and encoded together.
pub(super) const BATCH_TEXTS: usize = 64;

/// Answers with spans and the words of their texts. Rows of texts here number only labelled texts whose
/// words were read.
pub(super) struct SpanData {
    /// The types as questions, with rows of all texts.
    pub(super) types: Vec<QuestionData>,
    /// Rows of all texts, by row here.
    pub(super) rows: Vec<u32>,
    /// For each text here the first one with the same body.
    pub(super) copies: Vec<u32>,
    pub(super) texts: SpanTexts,
    pub(super) answers: Vec<SpanAnswer>,
    /// Answers to texts whose words were not read because there are too many, with rows of all texts.
    pub(super) further: Vec<SpanAnswer>,
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

/// Reads the words of texts with answers to a question with spans: of all, or of a random sample if they
/// have more than `most_words` words, because the states of words take memory.
///
/// # Errors
/// No answers; a text that cannot be encoded; cancellation.
pub(super) fn span_data(
    cx: &Analysis,
    question: &Question,
    encoder: &Encoder,
    states: WordStates,
    most_words: usize,
    without_slips: bool,
    progress: &dyn Progress,
) -> Result<SpanData, ProjectError> {
    let (types, labels) = cx.context.span_data_of(question, without_slips)?;
    let first = types.first().ok_or(ProjectError::NoQuestion)?;
    let mut by_text: BTreeMap<u32, Vec<SpanLabel>> = BTreeMap::new();
    labels.into_iter().for_each(|label| by_text.entry(label.text).or_default().push(label));
    let labelled: Vec<u32> = by_text.keys().copied().collect();
    let rows = draw(cx, &labelled, &first.texts, most_words)?;
    let mut texts = SpanTexts::new(encoder.word_dim(states));
    let (mut answers, mut forms) = (Vec::new(), Forms::default());
    let total = Some(rows.len() as u64);
    for chunk in rows.chunks(BATCH_TEXTS) {
        progress.report(texts.len() as u64, total, "reading words");
        let ids: Vec<TextId> = chunk.iter().map(|row| first.texts[*row as usize]).collect();
        let before = texts.len() as u32;
        let places = read_words(cx, encoder, &ids, states, &mut forms, &mut texts, progress)?;
        for ((row, text), places) in chunk.iter().zip(before..).zip(&places) {
            let own = by_text.remove(row).unwrap_or_default();
            answers.extend(own.into_iter().map(|label| SpanAnswer {
                text,
                annotator: label.annotator,
                marks: marks(places, &columns(&label.spans, &question.scale)),
            }));
        }
    }
    let mut further = Vec::new();
    let left: Vec<u32> = by_text.keys().copied().collect();
    for chunk in left.chunks(BATCH_TEXTS) {
        let ids: Vec<TextId> = chunk.iter().map(|row| first.texts[*row as usize]).collect();
        for (row, body) in chunk.iter().zip(cx.context.store.bodies(&ids)?) {
            let places = words(&body);
            let own = by_text.remove(row).unwrap_or_default();
            further.extend(own.into_iter().map(|label| SpanAnswer {
                text: *row,
                annotator: label.annotator,
                marks: marks(&places, &columns(&label.spans, &question.scale)),
            }));
        }
    }
    let mut seen: HashMap<u32, u32> = HashMap::new();
    let copy = |(here, row): (usize, &u32)| *seen.entry(first.copies[*row as usize]).or_insert(here as u32);
    let copies = rows.iter().enumerate().map(copy).collect();
    Ok(SpanData { rows, copies, texts, answers, further, forms, encoder: encoder.version().key(), types })
}

/// These rows, or a random sample if their texts have more than `most` words in total; ascending.
fn draw(cx: &Analysis, rows: &[u32], texts: &[TextId], most: usize) -> Result<Vec<u32>, ProjectError> {
    if most == usize::MAX {
        return Ok(rows.to_vec());
    }
    let mut counted: Vec<(u32, usize)> = Vec::with_capacity(rows.len());
    for chunk in rows.chunks(BATCH_TEXTS) {
        let ids: Vec<TextId> = chunk.iter().map(|row| texts[*row as usize]).collect();
        let bodies = cx.context.store.bodies(&ids)?;
        counted.extend(chunk.iter().copied().zip(bodies.iter().map(|body| words(body).len())));
    }
    if counted.iter().map(|(_, words)| words).sum::<usize>() <= most {
        return Ok(rows.to_vec());
    }
    // The sample is the same for the same texts, in an order that is independent of the file's.
    counted.sort_by_key(|(row, _)| row.wrapping_mul(0x9e37_79b1).rotate_left(16).wrapping_mul(0x85eb_ca6b));
    let mut taken = 0;
    let mut fits = |words: usize| {
        let fits = taken + words <= most;
        taken += if fits { words } else { 0 };
        fits
    };
    let mut drawn: Vec<u32> =
        counted.into_iter().filter(|(_, words)| fits(*words)).map(|(row, _)| row).collect();
    drawn.sort_unstable();
    Ok(drawn)
}

/// Whether the encoder that read the words has learned from labels of each text; empty if it learned
/// from none.
pub(super) fn words_learned(cx: &Analysis, data: &SpanData) -> Result<Vec<bool>, ProjectError> {
    let seen = cx.encoding.seen_by(Some(&data.encoder), &cx.context.index())?;
    let taught = seen.taught();
    let of = |row: &u32| taught.get(*row as usize).copied().unwrap_or(false);
    Ok(if taught.is_empty() { Vec::new() } else { data.rows.iter().map(of).collect() })
}

/// Adds the words of these texts to `texts`; returns the positions of the words in each text.
pub(super) fn read_words(
    cx: &Analysis,
    encoder: &Encoder,
    ids: &[TextId],
    states: WordStates,
    forms: &mut Forms,
    texts: &mut SpanTexts,
    progress: &dyn Progress,
) -> Result<Vec<Vec<(u32, u32)>>, ProjectError> {
    let bodies = cx.context.store.bodies(ids)?;
    let borrowed: Vec<&str> = bodies.iter().map(String::as_str).collect();
    let places: Vec<Vec<(u32, u32)>> = borrowed.iter().map(|body| words(body)).collect();
    let mut read = vec![Vec::new(); ids.len()];
    let whole = encoder.word_states(&borrowed, &places, states, |text, own| {
        read[text] = own;
        progress.flow()
    })?;
    if !whole {
        return Err(ProjectError::Cancelled);
    }
    for (states, body) in read.iter().zip(&borrowed) {
        texts.push(WordFeatures { states, forms: &forms.add(body) })?;
    }
    Ok(places)
}
