//! Tables of predicted answers to many texts, one module for each form of answer: a row for each text and
//! annotator ([`levels`]), for each text ([`options`]), or for each word and type ([`spans`]).

mod levels;
mod options;
mod spans;

pub(crate) use levels::LevelFile;
pub use levels::{LabelledBodies, LevelPredictions, LevelTable};
pub use options::{OptionPredictions, OptionTable, people_of_sets};
pub use spans::{SpanPredictions, write_spans};

use crate::encoding::{CheckedTexts, EncodedText};
use crate::error::TrainingError;
use dissensus_encoder::Encoder;
use dissensus_exchange::{ColumnKind, TypedColumn, TypedTable, Value};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use serde::Serialize;
use std::collections::HashSet;
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

/// The parameters of a table.
#[derive(Clone, Copy, Debug)]
pub struct TableRequest<'a> {
    /// The question's name.
    pub question: &'a str,
    /// Its levels, options or types of spans.
    pub levels: &'a [String],
    /// The predicted annotators, in the order of the table.
    pub annotators: &'a [PredictedAnnotator],
    /// Whether these are all annotators of the model, and none was named.
    pub everybody: bool,
    pub out: &'a Path,
    /// Overwrites an existing file.
    pub replace: bool,
}

impl TableRequest<'_> {
    /// The annotators with columns of their own in tables of a row for each text: those who were named.
    fn named(&self) -> &[PredictedAnnotator] {
        if self.everybody { &[] } else { self.annotators }
    }
}

/// What every summary of a written table has.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictionFile {
    pub file: PathBuf,
    pub question: String,
    /// Texts predicted.
    pub texts: u64,
    /// Annotators predicted, over whom figures of texts are computed.
    pub annotators: usize,
    /// How many of them have no label; they are predicted as the average person.
    pub annotators_without_labels: usize,
    /// What the model has learned from. In a table of levels: rows whose annotator has labelled a text of the
    /// same body. In the others: texts of whose body there are answers, or that trained the encoder. `None`
    /// if it is not known.
    pub observed: Option<u64>,
    /// Bad rows of the file of texts that were left out.
    pub bad_rows: u64,
}

/// A table that is written text by text.
pub trait PredictionTable: Sized {
    /// Summary of the written table.
    type Summary;

    /// Writes the rows of a text of the project, which has this row in the models.
    ///
    /// # Errors
    /// A full disk.
    fn write_text(&mut self, row: u32, id: &str, body: &str) -> Result<(), ProjectError>;

    /// Writes the rows of another text, which the models do not retain.
    ///
    /// # Errors
    /// A full disk.
    fn write_new_text(&mut self, id: &str, body: &str, text: &EncodedText) -> Result<(), ProjectError>;

    /// Names the table's file, and returns the summary.
    ///
    /// # Errors
    /// A full disk; another file has this name by now.
    fn finish(self, bad_rows: u64) -> Result<Self::Summary, ProjectError>;

    /// Writes the rows of all texts of a file, and finishes.
    ///
    /// # Errors
    /// Those of [`PredictionTable::finish`]; the file has changed; cancellation.
    fn write_file(
        mut self,
        texts: &CheckedTexts,
        encoder: &Encoder,
        progress: &dyn Progress,
    ) -> Result<Self::Summary, ProjectError> {
        texts.encode(encoder, progress, |text, embedding| {
            let encoded = EncodedText::new(&text.body, embedding)?;
            self.write_new_text(&text.id, &text.body, &encoded)
        })?;
        self.finish(texts.bad())
    }
}

/// The file of a table, and the summary of what was written so far.
struct TableFile {
    table: TypedTable,
    written: PredictionFile,
    replace: bool,
}

impl TableFile {
    /// Creates the file; `knows_observed` is whether it is known what the model has learned from.
    ///
    /// # Errors
    /// Two columns of one name; a folder that is missing or cannot be written.
    fn create(
        asked: &TableRequest<'_>,
        columns: Vec<TypedColumn>,
        knows_observed: bool,
    ) -> Result<Self, ProjectError> {
        check_names(&columns)?;
        let written = PredictionFile {
            file: asked.out.to_owned(),
            question: asked.question.to_owned(),
            texts: 0,
            annotators: asked.annotators.len(),
            annotators_without_labels: asked.annotators.iter().filter(|one| !one.has_labels).count(),
            observed: knows_observed.then_some(0),
            bad_rows: 0,
        };
        Ok(Self { table: TypedTable::create(asked.out, columns)?, written, replace: asked.replace })
    }

    fn write_row(&mut self, values: &[Value<'_>]) -> Result<(), ProjectError> {
        Ok(self.table.write(values)?)
    }

    /// Counts a text, and how often `observed` was true in it.
    fn count_text(&mut self, observed: u64) {
        self.written.texts += 1;
        self.written.observed = self.written.observed.map(|sum| sum + observed);
    }

    fn finish(mut self, bad_rows: u64) -> Result<PredictionFile, ProjectError> {
        self.table.finish(self.replace)?;
        self.written.bad_rows = bad_rows;
        Ok(self.written)
    }
}

fn text(name: impl Into<String>) -> TypedColumn {
    TypedColumn::new(name, ColumnKind::Text)
}

fn number(name: impl Into<String>) -> TypedColumn {
    TypedColumn::new(name, ColumnKind::Number)
}

/// The column `observed`: a flag, or a number, which can be missing, if it is not known.
fn observed_column(known: bool) -> TypedColumn {
    TypedColumn::new("observed", if known { ColumnKind::Flag } else { ColumnKind::Number })
}

fn observed_value(observed: Option<bool>) -> Value<'static> {
    observed.map_or(Value::Number(f32::NAN), Value::Flag)
}

/// A measure of two annotators' answers, which is undefined for a single person.
fn of_two(annotators: usize, measure: f32) -> Value<'static> {
    Value::Number(if annotators < 2 { f32::NAN } else { measure })
}

/// Checks that no two columns have the same name.
fn check_names(columns: &[TypedColumn]) -> Result<(), ProjectError> {
    let mut names = HashSet::new();
    match columns.iter().find(|column| !names.insert(column.name.as_str())) {
        Some(twice) => Err(TrainingError::ColumnTwice(twice.name.clone()).into()),
        None => Ok(()),
    }
}

/// Checks that the columns of a table of this form have different names, before anything is computed for it.
///
/// # Errors
/// [`TrainingError::ColumnTwice`].
pub fn check_columns(
    form: dissensus_domain::AnswerForm,
    levels: &[String],
    named: &[PredictedAnnotator],
) -> Result<(), ProjectError> {
    use dissensus_domain::AnswerForm;
    check_names(&match form {
        AnswerForm::Level => levels::columns(levels, true),
        AnswerForm::Options => options::columns(levels, named, true),
        AnswerForm::Spans => spans::columns(named, true),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::AnswerForm;

    #[test]
    fn duplicate_column_names_are_refused() {
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let people = |ids: &[&str]| -> Vec<PredictedAnnotator> {
            let person = |id: &&str| PredictedAnnotator { row: 0, id: (*id).to_owned(), has_labels: true };
            ids.iter().map(person).collect()
        };
        let check = |form, levels: &[&str], named: &[&str]| {
            check_columns(form, &names(levels), &people(named))
                .map_err(|error| format!("{}: {error}", error.code()))
        };
        for form in [AnswerForm::Level, AnswerForm::Options, AnswerForm::Spans] {
            assert_eq!(check(form, &["joy", "anger"], &["ana", "ben"]), Ok(()));
        }
        let twice = check(AnswerForm::Options, &["b_c", "c"], &["a", "a_b"]).unwrap_err();
        assert!(twice.starts_with("column-twice: ") && twice.contains("\"p_a_b_c\""), "{twice}");
        let twice = check(AnswerForm::Options, &["a"], &["x", "x"]).unwrap_err();
        assert!(twice.contains("\"set_x\""), "{twice}");
        let twice = check(AnswerForm::Spans, &["a"], &["x", "x"]).unwrap_err();
        assert!(twice.contains("\"p_x\""), "{twice}");
    }
}
