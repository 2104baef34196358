//! Tables of the words that people would mark: a row for each word and type.

use super::{
    PredictedAnnotator, PredictionFile, TableFile, TableRequest, number, observed_column, observed_value,
    of_two, text,
};
use crate::encoding::CheckedTexts;
use crate::word_predictor::{Places, WordPredictor};
use dissensus_encoder::Encoder;
use dissensus_exchange::{TextOfFile, TypedColumn, Value};
use dissensus_models::spans::LiveSpans;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_store::body_hash;
use serde::Serialize;
use std::collections::HashSet;

/// Maximum number of texts that are read together, and their maximum bytes, because the states of a word
/// take kilobytes.
const BATCH: (usize, usize) = (64, 96 << 10);

/// Summary of a written table of predicted words.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpanPredictions {
    #[serde(flatten)]
    pub table: PredictionFile,
    pub types: Vec<String>,
    /// Rows, one for each word and type.
    pub rows: u64,
}

/// The columns of a table of words, including one of each of these annotators.
pub(super) fn columns(named: &[PredictedAnnotator], knows_observed: bool) -> Vec<TypedColumn> {
    let mut columns = vec![
        text("text_id"),
        number("start"),
        number("end"),
        text("word"),
        text("type"),
        number("expected"),
        number("differ"),
        observed_column(knows_observed),
    ];
    columns.extend(named.iter().map(|one| number(format!("p_{}", one.id))));
    columns
}

/// Predicts which words of the texts of a file people would mark: a row for each word and type with the
/// share of the annotators who would, the probability that two of them differ, and, if they were named, each
/// person's probability. `observed` has the hashes of bodies that the model has learned from, if they are
/// known.
///
/// # Errors
/// Two columns of one name; a full disk; a file of texts that has changed; cancellation. An unfinished table
/// is deleted.
pub fn write_spans(
    predictor: &WordPredictor,
    asked: &TableRequest<'_>,
    observed: Option<&HashSet<[u8; 32]>>,
    texts: &CheckedTexts,
    encoder: &Encoder,
    progress: &dyn Progress,
) -> Result<SpanPredictions, ProjectError> {
    let file = TableFile::create(asked, columns(asked.named(), observed.is_some()), observed.is_some())?;
    let mut table = SpanTable { asked, file, rows: 0 };
    texts.in_chunks(BATCH, progress, |chunk| {
        let (live, places) = predictor.read(chunk, encoder, progress)?;
        for ((row, text), places) in (0..).zip(chunk).zip(&places) {
            let same = |known: &HashSet<_>| body_hash(&text.body).is_some_and(|hash| known.contains(&hash));
            table.write(&live, (row, text), places, observed.map(same))?;
        }
        Ok(())
    })?;
    let SpanTable { file, rows, .. } = table;
    Ok(SpanPredictions { table: file.finish(texts.bad())?, types: asked.levels.to_vec(), rows })
}

/// A table of words.
struct SpanTable<'a> {
    asked: &'a TableRequest<'a>,
    file: TableFile,
    rows: u64,
}

impl SpanTable<'_> {
    /// Writes the rows of one text, which is this row of the model.
    fn write(
        &mut self,
        live: &LiveSpans,
        (row, text): (u32, &TextOfFile),
        places: &Places,
        observed: Option<bool>,
    ) -> Result<(), ProjectError> {
        let people: Vec<u32> = self.asked.annotators.iter().map(|one| one.row).collect();
        let all = live.expected(row, &people).unwrap_or_default();
        let alone = |one: &PredictedAnnotator| live.expected(row, &[one.row]).unwrap_or_default();
        let own: Vec<_> = self.asked.named().iter().map(alone).collect();
        let characters: Vec<char> = text.body.chars().collect();
        for (at, &(start, end)) in places.iter().enumerate() {
            let word: String = characters[start as usize..end as usize].iter().collect();
            for (of_type, name) in self.asked.levels.iter().enumerate() {
                let found = all[at].types[of_type];
                let mut values = vec![
                    Value::Text(&text.id),
                    Value::Number(start as f32),
                    Value::Number(end as f32),
                    Value::Text(&word),
                    Value::Text(name),
                    Value::Number(found.marks as f32),
                    of_two(people.len(), found.pairs as f32),
                    observed_value(observed),
                ];
                values.extend(own.iter().map(|own| Value::Number(own[at].types[of_type].marks as f32)));
                self.file.write_row(&values)?;
                self.rows += 1;
            }
        }
        self.file.count_text(u64::from(observed == Some(true)));
        Ok(())
    }
}
