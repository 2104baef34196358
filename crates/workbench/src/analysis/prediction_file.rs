//! What chosen annotators would answer to every text, of the project or of another file, as a table: a row for each text and annotator.

use super::Analysis;
use crate::encoding::{CheckedTexts, EncodedText, EncoderChoice, TextFileChoices};
use crate::error::WorkbenchError;
use crate::jobs::Progress;
use dissensus_domain::Question;
use dissensus_exchange::{ColumnKind, TypedColumn, TypedTable, Value};
use dissensus_perspectives::{AnnotatorModel as _, LiveModel, disagreement_of_texts};
use dissensus_store::body_hash;
use serde::Serialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Texts of another file that are predicted before the model forgets them, at least.
const TEXTS_AT_ONCE: usize = 1024;

/// Whose answers to predict.
#[derive(Clone, Debug, Default)]
pub struct PredictionChoices {
    /// The question's name; the only one if `None`.
    pub question: Option<String>,
    /// Names or ids of annotators; everybody if empty.
    pub annotators: Vec<String>,
    /// Replaces a file of that name.
    pub replace: bool,
}

/// What was written.
#[derive(Clone, Debug, Serialize)]
pub struct PredictionFile {
    /// The table.
    pub file: PathBuf,
    /// The question.
    pub question: String,
    /// Texts predicted.
    pub texts: u64,
    /// Annotators predicted.
    pub annotators: usize,
    /// Those of them without a label: they are predicted as the average person.
    pub annotators_without_labels: usize,
    /// Rows, one for each text and annotator.
    pub rows: u64,
    /// Rows whose annotator has labelled a text of the same body: the model has learned from that.
    pub observed: u64,
    /// Bad rows of the file of texts that were left out.
    pub bad_rows: u64,
}

impl Analysis {
    /// Writes what annotators would answer to every text of the project by the live model: probabilities, the answer, whether the model has
    /// learned from that annotator's own label of that text, and how much the annotators chosen would disagree. Memory does not grow with texts x annotators.
    ///
    /// # Errors
    /// No such annotator; a multi-label question, whose options have a table each; a model that is not live ([`crate::LiveModels::fit`] makes it so); a file that is
    /// there already (without `replace`) or of no format that can be written; a full disk; a cancel.
    pub fn predictions_file(
        &self,
        choices: &PredictionChoices,
        out: &Path,
        progress: &dyn Progress,
    ) -> Result<PredictionFile, WorkbenchError> {
        let question = self.question(choices.question.as_deref())?;
        let mut rows = PredictedRows::begin(self, &question, choices, out)?;
        let index = self.context.index();
        let total = rows.model.texts() as u64;
        for (row, id) in index.texts().iter().enumerate().take(rows.model.texts()) {
            if progress.cancelled() {
                return Err(WorkbenchError::Cancelled);
            }
            let found = self.context.store.text(*id)?;
            let text = found.ok_or_else(|| WorkbenchError::NoSuchText(id.0.to_string()))?;
            rows.write(row as u32, &text.external_id, &text.body)?;
            progress.report(row as u64 + 1, Some(total), "predicting");
        }
        rows.finish(0)
    }

    /// As [`Analysis::predictions_file`], for the texts of a file. A text whose body is in the project is predicted as any other one, by what it says alone;
    /// that its labels have taught the model is told in the column `observed`.
    ///
    /// # Errors
    /// As [`Analysis::predictions_file`]; a file that cannot be read or has bad rows; the encoder is not there, or another one than the project's.
    pub fn predict_file(
        &self,
        choices: &PredictionChoices,
        texts: &TextFileChoices,
        out: &Path,
        encoder: &EncoderChoice,
        progress: &dyn Progress,
    ) -> Result<PredictionFile, WorkbenchError> {
        let question = self.question(choices.question.as_deref())?;
        TypedTable::check(out, false)?;
        let checked = CheckedTexts::open(texts, out, progress)?;
        let mut rows = PredictedRows::begin(self, &question, choices, out)?;
        let encoder = self.encoding.open_in_use(encoder)?;
        let known = rows.model.texts();
        let at_once = TEXTS_AT_ONCE.max(known);
        let kept = rows.model.to_bytes()?;
        checked.encode(&encoder, progress, |text, embedding| {
            if rows.model.texts() >= known + at_once {
                rows.model = LiveModel::from_bytes(&kept)?;
            }
            let encoded = EncodedText::new(&text.body, embedding)?;
            let row = rows.model.add_text(encoded.features())?;
            rows.write(row, &text.id, &text.body)
        })?;
        rows.finish(checked.bad())
    }
}

/// The table being written, and what predicts.
struct PredictedRows {
    model: LiveModel,
    table: TypedTable,
    levels: Vec<String>,
    /// Row in the model and id of everybody chosen.
    chosen: Vec<(u32, String)>,
    /// Of the annotators, where not all are chosen.
    mask: Option<Vec<bool>>,
    /// Rows of labelled texts by their bodies.
    labelled: HashMap<[u8; 32], Vec<u32>>,
    written: PredictionFile,
}

impl PredictedRows {
    fn begin(
        analysis: &Analysis,
        question: &Question,
        choices: &PredictionChoices,
        out: &Path,
    ) -> Result<Self, WorkbenchError> {
        TypedTable::check(out, false)?;
        if out.exists() && !choices.replace {
            return Err(WorkbenchError::ExportExists(out.to_owned()));
        }
        let index = analysis.context.index();
        let everybody = choices.annotators.is_empty();
        let mut chosen: Vec<(u32, String)> = match everybody {
            true => (0..).zip(index.annotators()).map(|(row, a)| (row, a.external_id.clone())).collect(),
            false => {
                let named = |name: &String| {
                    let found = index.annotator_asked_for(name)?;
                    let row = index.annotator_row(found.id).unwrap_or(u32::MAX);
                    Ok((row, found.external_id.clone()))
                };
                choices.annotators.iter().map(named).collect::<Result<_, WorkbenchError>>()?
            }
        };
        chosen.sort();
        chosen.dedup();
        let model = analysis.live.models.with(question.id, |fitted| fitted.model.to_bytes());
        let not_live = || WorkbenchError::NotEncoded(analysis.context.store.path().to_owned());
        let model = LiveModel::from_bytes(&model.ok_or_else(not_live)??)?;
        let levels = question.scale.levels().to_vec();
        let mut columns =
            ["text_id", "annotator_id", "prediction"].map(|n| TypedColumn::new(n, ColumnKind::Text)).to_vec();
        columns.extend(levels.iter().map(|level| TypedColumn::new(format!("p_{level}"), ColumnKind::Number)));
        columns.push(TypedColumn::new("observed", ColumnKind::Flag));
        columns.push(TypedColumn::new("disagreement_split", ColumnKind::Number));
        columns.push(TypedColumn::new("disagreement_pairwise", ColumnKind::Number));
        let mask = (!everybody).then(|| {
            let of = |row| chosen.iter().any(|(chosen, _)| *chosen == row);
            (0..model.annotators() as u32).map(of).collect()
        });
        let written = PredictionFile {
            file: out.to_owned(),
            question: question.name.clone(),
            texts: 0,
            annotators: chosen.len(),
            annotators_without_labels: chosen.iter().filter(|(row, _)| model.labels_of(*row) == 0).count(),
            rows: 0,
            observed: 0,
            bad_rows: 0,
        };
        let labelled = labelled_bodies(analysis, &model)?;
        let table = TypedTable::create(out, columns)?;
        Ok(Self { model, table, levels, chosen, mask, labelled, written })
    }

    /// The rows of one text, which is `row` of the model.
    fn write(&mut self, row: u32, id: &str, body: &str) -> Result<(), WorkbenchError> {
        let same = body_hash(body).and_then(|hash| self.labelled.get(&hash));
        let ordinal = self.model.is_ordinal();
        let at = row as usize;
        let measures = match &self.mask {
            None => self.model.disagreement(row),
            Some(mask) => disagreement_of_texts(&self.model, at..at + 1, Some(mask), ordinal).swap_remove(0),
        };
        // One person differs from nobody, which says nothing of the text.
        let known = |measure: f32| if self.chosen.len() < 2 { f32::NAN } else { measure };
        let mut p = vec![0.0; self.levels.len()];
        for (who, name) in &self.chosen {
            self.model.predict(row, *who, &mut p);
            let answer = usize::from(self.model.target().answer(&p));
            let own = |text: &u32| self.model.label(*text, *who).is_some();
            let observed =
                self.model.label(row, *who).is_some() || same.is_some_and(|rows| rows.iter().any(own));
            let mut values = vec![Value::Text(id), Value::Text(name), Value::Text(&self.levels[answer])];
            values.extend(p.iter().map(|p| Value::Number(*p)));
            values.push(Value::Flag(observed));
            values.push(Value::Number(known(measures.split)));
            values.push(Value::Number(known(measures.pairwise)));
            self.table.write(&values)?;
            self.written.rows += 1;
            self.written.observed += u64::from(observed);
        }
        self.written.texts += 1;
        Ok(())
    }

    fn finish(self, bad_rows: u64) -> Result<PredictionFile, WorkbenchError> {
        self.table.finish()?;
        Ok(PredictionFile { bad_rows, ..self.written })
    }
}

/// The rows of texts with labels, by their bodies.
fn labelled_bodies(
    analysis: &Analysis,
    model: &LiveModel,
) -> Result<HashMap<[u8; 32], Vec<u32>>, WorkbenchError> {
    let index = analysis.context.index();
    let mut found: HashMap<[u8; 32], Vec<u32>> = HashMap::new();
    for (row, id) in index.texts().iter().enumerate().take(model.texts()) {
        if model.labels_on(row as u32, None) == 0 {
            continue;
        }
        let body = analysis.context.store.bodies(&[*id])?.swap_remove(0);
        if let Some(hash) = body_hash(&body) {
            found.entry(hash).or_default().push(row as u32);
        }
    }
    Ok(found)
}
