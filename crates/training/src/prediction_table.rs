//! Writes a table of predictions, a row for each text and annotator.

use crate::encoding::{CheckedTexts, EncodedText};
use crate::requested_model::RequestedModel;
use dissensus_domain::Question;
use dissensus_encoder::Encoder;
use dissensus_exchange::{ColumnKind, TypedColumn, TypedTable, Value};
use dissensus_models::live::LiveModel;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_stats::data::{AnnotatorModel as _, Target};
use dissensus_store::body_hash;
use serde::Serialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Which predictions to write.
#[derive(Clone, Debug, Default)]
pub struct PredictionChoices {
    /// The question's name; the only one if `None`.
    pub question: Option<String>,
    /// Names or ids of annotators; all if empty.
    pub annotators: Vec<String>,
    /// Overwrites an existing file.
    pub replace: bool,
}

/// Summary of a written table.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictionFile {
    pub file: PathBuf,
    pub question: String,
    /// Texts predicted.
    pub texts: u64,
    /// Annotators predicted.
    pub annotators: usize,
    /// How many of them have no label; they are predicted as the average person.
    pub annotators_without_labels: usize,
    /// Rows, one for each text and annotator.
    pub rows: u64,
    /// Rows whose annotator has labelled a text of the same body, from which the model has learned. `None`
    /// if that is not known.
    pub observed: Option<u64>,
    /// Bad rows of the file of texts that were left out.
    pub bad_rows: u64,
}

/// An annotator who is predicted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PredictedAnnotator {
    /// Row in the model.
    pub row: u32,
    /// The id in files.
    pub id: String,
    /// Whether the model has learned from labels of this annotator.
    pub has_labels: bool,
}

/// Rows of labelled texts by the hashes of their bodies.
pub type LabelledBodies = HashMap<[u8; 32], Vec<u32>>;

/// The parameters of a table.
pub struct TableOf {
    pub model: LiveModel,
    pub question: String,
    pub levels: Vec<String>,
    /// The chosen annotators, in the order of the table.
    pub chosen: Vec<PredictedAnnotator>,
    /// Whether these are all annotators of the model.
    pub everybody: bool,
    /// What the model has learned from; `None` if that is not known.
    pub labelled: Option<LabelledBodies>,
}

/// The file of a table, and a summary of the rows written so far.
pub(crate) struct TableFile {
    levels: Vec<String>,
    target: Target,
    chosen: Vec<PredictedAnnotator>,
    table: TypedTable,
    written: PredictionFile,
    replace: bool,
}

/// Whether the model has learned from a person's own label of the text.
pub(crate) type Observed<'a> = &'a dyn Fn(u32) -> bool;

impl TableFile {
    /// Starts a table of a question, whose rows record whether they were observed, if that is known.
    pub(crate) fn begin(
        question: &Question,
        chosen: Vec<PredictedAnnotator>,
        knows_observed: bool,
        out: &Path,
        replace: bool,
    ) -> Result<Self, ProjectError> {
        let target = Target::from_scale(&question.scale);
        let levels = question.scale.levels().to_vec();
        Self::new((&question.name, levels, target), chosen, knows_observed, out, replace)
    }

    fn new(
        (question, levels, target): (&str, Vec<String>, Target),
        chosen: Vec<PredictedAnnotator>,
        knows_observed: bool,
        out: &Path,
        replace: bool,
    ) -> Result<Self, ProjectError> {
        let mut columns =
            ["text_id", "annotator_id", "prediction"].map(|n| TypedColumn::new(n, ColumnKind::Text)).to_vec();
        columns.extend(levels.iter().map(|level| TypedColumn::new(format!("p_{level}"), ColumnKind::Number)));
        // A flag is yes or no; a number can be missing.
        let flag = if knows_observed { ColumnKind::Flag } else { ColumnKind::Number };
        columns.push(TypedColumn::new("observed", flag));
        columns.push(TypedColumn::new("disagreement_split", ColumnKind::Number));
        columns.push(TypedColumn::new("disagreement_pairwise", ColumnKind::Number));
        let written = PredictionFile {
            file: out.to_owned(),
            question: question.to_owned(),
            texts: 0,
            annotators: chosen.len(),
            annotators_without_labels: chosen.iter().filter(|chosen| !chosen.has_labels).count(),
            rows: 0,
            observed: knows_observed.then_some(0),
            bad_rows: 0,
        };
        Ok(Self { levels, target, chosen, table: TypedTable::create(out, columns)?, written, replace })
    }

    /// All annotators in the table, in its order.
    pub(crate) fn chosen(&self) -> &[PredictedAnnotator] {
        &self.chosen
    }

    /// Sets how many rows of a file were left out.
    pub(crate) fn bad_rows(&mut self, rows: u64) {
        self.written.bad_rows = rows;
    }

    /// Writes the rows of a text: all people's probabilities `p`, people x levels in the order of the table,
    /// and how much they would disagree (by split, by pairs).
    pub(crate) fn write(
        &mut self,
        id: &str,
        p: &[f32],
        observed: Option<Observed<'_>>,
        (split, pairwise): (f32, f32),
    ) -> Result<(), ProjectError> {
        // Undefined for a single person.
        let known = |measure: f32| if self.chosen.len() < 2 { f32::NAN } else { measure };
        for (one, p) in self.chosen.iter().zip(p.chunks_exact(self.levels.len())) {
            let answer = usize::from(self.target.answer(p));
            let observed = observed.map(|observed| observed(one.row));
            let mut values = vec![Value::Text(id), Value::Text(&one.id), Value::Text(&self.levels[answer])];
            values.extend(p.iter().map(|p| Value::Number(*p)));
            values.push(observed.map_or(Value::Number(f32::NAN), Value::Flag));
            values.push(Value::Number(known(split)));
            values.push(Value::Number(known(pairwise)));
            self.table.write(&values)?;
            self.written.rows += 1;
            self.written.observed = self.written.observed.map(|sum| sum + u64::from(observed == Some(true)));
        }
        self.written.texts += 1;
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<PredictionFile, ProjectError> {
        self.table.finish(self.replace)?;
        Ok(self.written)
    }
}

/// The table being written, and the model that predicts.
pub struct PredictedRows {
    asked: RequestedModel,
    labelled: Option<LabelledBodies>,
    file: TableFile,
}

impl PredictedRows {
    pub fn begin(of: TableOf, out: &Path, replace: bool) -> Result<Self, ProjectError> {
        let TableOf { model, question, levels, chosen, everybody, labelled } = of;
        let people = chosen.iter().map(|one| one.row).collect();
        let asked = (question.as_str(), levels, model.target());
        let file = TableFile::new(asked, chosen, labelled.is_some(), out, replace)?;
        Ok(Self { asked: RequestedModel::new(model, people, everybody), labelled, file })
    }

    /// How many texts the model has.
    pub fn texts(&self) -> usize {
        self.asked.model().texts()
    }

    /// Writes the rows of all texts of a file, which the model does not retain.
    pub fn write_file(
        &mut self,
        checked: &CheckedTexts,
        encoder: &Encoder,
        progress: &dyn Progress,
    ) -> Result<(), ProjectError> {
        checked.encode(encoder, progress, |text, embedding| {
            let encoded = EncodedText::new(&text.body, embedding)?;
            let row = self.asked.add(&encoded)?;
            self.write(row, &text.id, &text.body)
        })?;
        self.file.bad_rows(checked.bad());
        Ok(())
    }

    /// Writes the rows of one text, which is `row` of the model.
    pub fn write(&mut self, row: u32, id: &str, body: &str) -> Result<(), ProjectError> {
        let Self { asked, labelled, file } = self;
        let same = labelled.as_ref().and_then(|labelled| labelled.get(&body_hash(body)?));
        let (p, measures) = asked.ask(row);
        let model = asked.model();
        let observed = |who: u32| {
            let own = |text: &u32| model.label(*text, who).is_some();
            own(&row) || same.is_some_and(|rows| rows.iter().any(own))
        };
        let observed: Option<Observed<'_>> = if labelled.is_some() { Some(&observed) } else { None };
        file.write(id, &p, observed, (measures.split, measures.pairwise))
    }

    pub fn finish(self) -> Result<PredictionFile, ProjectError> {
        self.file.finish()
    }
}
