//! A table of predictions, a row for each text and annotator, as it is written.

use crate::encoding::{CheckedTexts, EncodedText};
use crate::error::WorkbenchError;
use crate::jobs::Progress;
use dissensus_encoder::Encoder;
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
    /// Rows whose annotator has labelled a text of the same body: the model has learned from that. `None` where that is not known.
    pub observed: Option<u64>,
    /// Bad rows of the file of texts that were left out.
    pub bad_rows: u64,
}

/// Somebody who is predicted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PredictedAnnotator {
    /// Row in the model.
    pub(crate) row: u32,
    /// The id in files.
    pub(crate) id: String,
    /// Whether the model has learned from labels of this annotator.
    pub(crate) has_labels: bool,
}

/// Rows of labelled texts by the hashes of their bodies.
pub(crate) type LabelledBodies = HashMap<[u8; 32], Vec<u32>>;

/// What a table is of.
pub(crate) struct TableOf {
    pub(crate) model: LiveModel,
    pub(crate) question: String,
    pub(crate) levels: Vec<String>,
    /// Everybody chosen, in the order of the table.
    pub(crate) chosen: Vec<PredictedAnnotator>,
    /// Whether these are all annotators of the model.
    pub(crate) everybody: bool,
    /// What the model has learned from; `None` where that is not known.
    pub(crate) labelled: Option<LabelledBodies>,
}

/// The table being written, and what predicts.
pub(crate) struct PredictedRows {
    of: TableOf,
    /// Of the annotators, where not all are chosen.
    mask: Option<Vec<bool>>,
    table: TypedTable,
    written: PredictionFile,
    replace: bool,
}

impl PredictedRows {
    pub(crate) fn begin(of: TableOf, out: &Path, replace: bool) -> Result<Self, WorkbenchError> {
        let mut columns =
            ["text_id", "annotator_id", "prediction"].map(|n| TypedColumn::new(n, ColumnKind::Text)).to_vec();
        columns
            .extend(of.levels.iter().map(|level| TypedColumn::new(format!("p_{level}"), ColumnKind::Number)));
        // A flag is yes or no; a number may be unknown.
        let flag = if of.labelled.is_some() { ColumnKind::Flag } else { ColumnKind::Number };
        columns.push(TypedColumn::new("observed", flag));
        columns.push(TypedColumn::new("disagreement_split", ColumnKind::Number));
        columns.push(TypedColumn::new("disagreement_pairwise", ColumnKind::Number));
        let mask = (!of.everybody).then(|| {
            let is_chosen = |row| of.chosen.iter().any(|chosen| chosen.row == row);
            (0..of.model.annotators() as u32).map(is_chosen).collect()
        });
        let written = PredictionFile {
            file: out.to_owned(),
            question: of.question.clone(),
            texts: 0,
            annotators: of.chosen.len(),
            annotators_without_labels: of.chosen.iter().filter(|chosen| !chosen.has_labels).count(),
            rows: 0,
            observed: of.labelled.as_ref().map(|_| 0),
            bad_rows: 0,
        };
        Ok(Self { mask, table: TypedTable::create(out, columns)?, written, replace, of })
    }

    /// How many texts the model has.
    pub(crate) fn texts(&self) -> usize {
        self.of.model.texts()
    }

    /// The rows of all texts of a file, which the model forgets again.
    pub(crate) fn write_file(
        &mut self,
        checked: &CheckedTexts,
        encoder: &Encoder,
        progress: &dyn Progress,
    ) -> Result<(), WorkbenchError> {
        let known = self.texts();
        let at_once = TEXTS_AT_ONCE.max(known);
        let kept = self.of.model.to_bytes()?;
        checked.encode(encoder, progress, |text, embedding| {
            if self.texts() >= known + at_once {
                self.of.model = LiveModel::from_bytes(&kept)?;
            }
            let encoded = EncodedText::new(&text.body, embedding)?;
            let row = self.of.model.add_text(encoded.features())?;
            self.write(row, &text.id, &text.body)
        })?;
        self.written.bad_rows = checked.bad();
        Ok(())
    }

    /// The rows of one text, which is `row` of the model.
    pub(crate) fn write(&mut self, row: u32, id: &str, body: &str) -> Result<(), WorkbenchError> {
        let TableOf { model, levels, chosen, labelled, .. } = &self.of;
        let same = labelled.as_ref().and_then(|labelled| labelled.get(&body_hash(body)?));
        let at = row as usize;
        let measures = match &self.mask {
            None => model.disagreement(row),
            Some(mask) => {
                disagreement_of_texts(model, at..at + 1, Some(mask), model.is_ordinal()).swap_remove(0)
            }
        };
        // One person differs from nobody, which says nothing of the text.
        let known = |measure: f32| if chosen.len() < 2 { f32::NAN } else { measure };
        let mut p = vec![0.0; levels.len()];
        for PredictedAnnotator { row: who, id: name, .. } in chosen {
            model.predict(row, *who, &mut p);
            let answer = usize::from(model.target().answer(&p));
            let own = |text: &u32| model.label(*text, *who).is_some();
            let observed = own(&row) || same.is_some_and(|rows| rows.iter().any(own));
            let mut values = vec![Value::Text(id), Value::Text(name), Value::Text(&levels[answer])];
            values.extend(p.iter().map(|p| Value::Number(*p)));
            values.push(match labelled {
                Some(_) => Value::Flag(observed),
                None => Value::Number(f32::NAN),
            });
            values.push(Value::Number(known(measures.split)));
            values.push(Value::Number(known(measures.pairwise)));
            self.table.write(&values)?;
            self.written.rows += 1;
            self.written.observed = self.written.observed.map(|sum| sum + u64::from(observed));
        }
        self.written.texts += 1;
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<PredictionFile, WorkbenchError> {
        self.table.finish(self.replace)?;
        Ok(self.written)
    }
}
