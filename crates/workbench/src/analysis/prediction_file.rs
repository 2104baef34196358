//! What chosen annotators would answer to every text, of the project or of another file, as a table: a row for each text and annotator.

use super::Analysis;
use crate::encoding::{CheckedTexts, EncodedText, EncoderChoice, TextFileChoices};
use crate::error::WorkbenchError;
use crate::jobs::Progress;
use crate::outputs::check_outputs;
use dissensus_domain::{Question, QuestionId};
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

/// A table of predictions that was asked for: its names, files and texts were found in order.
pub struct CheckedPredictions {
    question: Question,
    choices: PredictionChoices,
    out: PathBuf,
    texts: Option<CheckedTexts>,
}

impl CheckedPredictions {
    /// The question that is predicted: its model must be live ([`crate::LiveModels::fit`]) before the table is written.
    pub fn question(&self) -> QuestionId {
        self.question.id
    }
}

impl Analysis {
    /// Looks whether a table of predictions can be written at all, before anything is encoded or fitted for it: of every text of the project, or of
    /// those of a file, which is read once.
    ///
    /// # Errors
    /// No such question or annotator; a multi-label question, whose options have a table each; a file to write that is there already (without
    /// `replace`), is the one that is read or is of no format that can be written; a file of texts that cannot be read or has bad rows; a cancel.
    pub fn check_predictions(
        &self,
        choices: &PredictionChoices,
        texts: Option<&TextFileChoices>,
        out: &Path,
        progress: &dyn Progress,
    ) -> Result<CheckedPredictions, WorkbenchError> {
        let question = self.question(choices.question.as_deref())?;
        TypedTable::check(out, false)?;
        check_outputs(&[out], texts.map(|texts| texts.path.as_path()), choices.replace)?;
        chosen_rows(self, choices)?;
        let texts = texts.map(|texts| CheckedTexts::open(texts, progress)).transpose();
        let texts = texts.map_err(WorkbenchError::all_or_nothing)?;
        Ok(CheckedPredictions { question, choices: choices.clone(), out: out.to_owned(), texts })
    }

    /// Writes what annotators would answer to every text of the project by the live model: probabilities, the answer, whether the model has
    /// learned from that annotator's own label of that text, and how much the annotators chosen would disagree. Memory does not grow with texts x annotators.
    ///
    /// Of a file's texts one whose body is in the project is predicted as any other one, by what it says alone;
    /// that its labels have taught the model is told in the column `observed`.
    ///
    /// # Errors
    /// A model that is not live ([`crate::LiveModels::fit`] makes it so); a file of that name by now (without `replace`); a full disk; a cancel. For a file's texts also:
    /// it has changed; the encoder is not there, or is not the one that the live model stands on.
    pub fn predictions_file(
        &self,
        asked: &CheckedPredictions,
        encoder: &EncoderChoice,
        progress: &dyn Progress,
    ) -> Result<PredictionFile, WorkbenchError> {
        let written = match &asked.texts {
            Some(texts) => self.predict_file(asked, texts, encoder, progress),
            None => self.predict_project(asked, progress),
        };
        written.map_err(WorkbenchError::all_or_nothing)
    }

    fn predict_project(
        &self,
        asked: &CheckedPredictions,
        progress: &dyn Progress,
    ) -> Result<PredictionFile, WorkbenchError> {
        let mut rows = PredictedRows::begin(self, asked)?;
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

    fn predict_file(
        &self,
        asked: &CheckedPredictions,
        checked: &CheckedTexts,
        encoder: &EncoderChoice,
        progress: &dyn Progress,
    ) -> Result<PredictionFile, WorkbenchError> {
        let mut rows = PredictedRows::begin(self, asked)?;
        let encoder = self.encoding.open_in_use(encoder)?;
        let now = encoder.version().key();
        // Another program may have given the project another encoder since the model was fitted.
        if rows.encoder.as_ref() != Some(&now) {
            return Err(WorkbenchError::EncoderNotOfModel);
        }
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
    /// Key of the encoder version that the model stands on.
    encoder: Option<String>,
    replace: bool,
}

impl PredictedRows {
    fn begin(analysis: &Analysis, asked: &CheckedPredictions) -> Result<Self, WorkbenchError> {
        let (question, out) = (&asked.question, asked.out.as_path());
        let everybody = asked.choices.annotators.is_empty();
        let chosen = chosen_rows(analysis, &asked.choices)?;
        let live = analysis.live.models.with(question.id, |fitted| {
            fitted.model.to_bytes().map(|model| (model, fitted.basis.version.clone()))
        });
        let not_live = || WorkbenchError::NotEncoded(analysis.context.store.path().to_owned());
        let (model, encoder) = live.ok_or_else(not_live)??;
        let model = LiveModel::from_bytes(&model)?;
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
        let replace = asked.choices.replace;
        Ok(Self { model, table, levels, chosen, mask, labelled, written, encoder, replace })
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
        self.table.finish(self.replace)?;
        Ok(PredictionFile { bad_rows, ..self.written })
    }
}

/// Row and id of everybody chosen, in the order of the rows.
fn chosen_rows(
    analysis: &Analysis,
    choices: &PredictionChoices,
) -> Result<Vec<(u32, String)>, WorkbenchError> {
    let index = analysis.context.index();
    if choices.annotators.is_empty() {
        return Ok((0..).zip(index.annotators()).map(|(row, a)| (row, a.external_id.clone())).collect());
    }
    let named = |name: &String| {
        let found = index.annotator_asked_for(name)?;
        let row = index.annotator_row(found.id).unwrap_or(u32::MAX);
        Ok((row, found.external_id.clone()))
    };
    let mut chosen = choices.annotators.iter().map(named).collect::<Result<Vec<_>, WorkbenchError>>()?;
    chosen.sort();
    chosen.dedup();
    Ok(chosen)
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
