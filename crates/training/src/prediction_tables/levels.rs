//! Tables of predicted levels: a row for each text and annotator.

use super::{
    PredictedAnnotator, PredictionFile, PredictionTable, TableFile, TableRequest, number, observed_column,
    observed_value, of_two, text,
};
use crate::encoding::EncodedText;
use crate::requested_model::RequestedModel;
use dissensus_exchange::{TypedColumn, Value};
use dissensus_models::live::LiveModel;
use dissensus_project::error::ProjectError;
use dissensus_stats::data::Target;
use dissensus_stats::disagreement::Disagreement;
use dissensus_store::body_hash;
use serde::Serialize;
use std::collections::HashMap;

/// Summary of a written table of levels.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelPredictions {
    #[serde(flatten)]
    pub table: PredictionFile,
    /// Rows, one for each text and annotator.
    pub rows: u64,
}

/// Rows of labelled texts by the hashes of their bodies.
pub type LabelledBodies = HashMap<[u8; 32], Vec<u32>>;

/// Whether the model has learned from a person's own label of the text.
type Observed<'a> = &'a dyn Fn(u32) -> bool;

/// The file of a table of levels.
pub(crate) struct LevelFile {
    levels: Vec<String>,
    target: Target,
    annotators: Vec<PredictedAnnotator>,
    file: TableFile,
    rows: u64,
}

/// The columns of a table of these levels.
pub(super) fn columns(levels: &[String], knows_observed: bool) -> Vec<TypedColumn> {
    let mut columns = vec![text("text_id"), text("annotator_id"), text("prediction")];
    columns.extend(levels.iter().map(|level| number(format!("p_{level}"))));
    columns.push(observed_column(knows_observed));
    columns.extend([number("disagreement_split"), number("disagreement_pairwise")]);
    columns
}

impl LevelFile {
    /// Creates the file; `knows_observed` is whether it is known what the model has learned from.
    pub(crate) fn create(
        asked: &TableRequest<'_>,
        target: Target,
        knows_observed: bool,
    ) -> Result<Self, ProjectError> {
        let file = TableFile::create(asked, columns(asked.levels, knows_observed), knows_observed)?;
        let (levels, annotators) = (asked.levels.to_vec(), asked.annotators.to_vec());
        Ok(Self { levels, target, annotators, file, rows: 0 })
    }

    /// All annotators in the table, in its order.
    pub(crate) fn annotators(&self) -> &[PredictedAnnotator] {
        &self.annotators
    }

    /// Writes the rows of a text: all people's probabilities `p`, people x levels in the order of the table,
    /// and how much they would disagree.
    pub(crate) fn write(
        &mut self,
        id: &str,
        p: &[f32],
        observed: Option<Observed<'_>>,
        measures: Disagreement,
    ) -> Result<(), ProjectError> {
        let people = self.annotators.len();
        let mut own = 0;
        for (one, p) in self.annotators.iter().zip(p.chunks_exact(self.levels.len())) {
            let answer = usize::from(self.target.answer(p));
            let observed = observed.map(|observed| observed(one.row));
            let mut values = vec![Value::Text(id), Value::Text(&one.id), Value::Text(&self.levels[answer])];
            values.extend(p.iter().map(|p| Value::Number(*p)));
            values.push(observed_value(observed));
            values.extend([of_two(people, measures.split), of_two(people, measures.pairwise)]);
            self.file.write_row(&values)?;
            self.rows += 1;
            own += u64::from(observed == Some(true));
        }
        self.file.count_text(own);
        Ok(())
    }

    pub(crate) fn finish(self, bad_rows: u64) -> Result<LevelPredictions, ProjectError> {
        Ok(LevelPredictions { table: self.file.finish(bad_rows)?, rows: self.rows })
    }
}

/// A table of levels, and the live model that predicts.
pub struct LevelTable {
    model: RequestedModel,
    /// What the model has learned from; `None` if that is not known.
    labelled: Option<LabelledBodies>,
    file: LevelFile,
}

impl LevelTable {
    /// # Errors
    /// Two columns of one name; a folder that is missing or cannot be written.
    pub fn create(
        asked: &TableRequest<'_>,
        model: LiveModel,
        labelled: Option<LabelledBodies>,
    ) -> Result<Self, ProjectError> {
        let file = LevelFile::create(asked, model.target(), labelled.is_some())?;
        let people = asked.annotators.iter().map(|one| one.row).collect();
        Ok(Self { model: RequestedModel::new(model, people, asked.everybody), labelled, file })
    }
}

impl PredictionTable for LevelTable {
    type Summary = LevelPredictions;

    fn write_text(&mut self, row: u32, id: &str, body: &str) -> Result<(), ProjectError> {
        let Self { model, labelled, file } = self;
        let same = labelled.as_ref().and_then(|labelled| labelled.get(&body_hash(body)?));
        let (p, measures) = model.ask(row);
        let model = model.model();
        let observed = |who: u32| {
            let own = |text: &u32| model.label(*text, who).is_some();
            own(&row) || same.is_some_and(|rows| rows.iter().any(own))
        };
        let observed: Option<Observed<'_>> = if labelled.is_some() { Some(&observed) } else { None };
        file.write(id, &p, observed, measures)
    }

    fn write_new_text(&mut self, id: &str, body: &str, text: &EncodedText) -> Result<(), ProjectError> {
        let row = self.model.add(text)?;
        self.write_text(row, id, body)
    }

    fn finish(self, bad_rows: u64) -> Result<LevelPredictions, ProjectError> {
        self.file.finish(bad_rows)
    }
}
