//! What a table of predictions is of, checked before anything is encoded or fitted for it.

use crate::Analysis;
use crate::bundle_folder;
use crate::observed::labels_given;
use dissensus_domain::{Question, QuestionId};
use dissensus_exchange::TypedTable;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::outputs::check_outputs;
use dissensus_training::encoding::{CheckedTexts, TextFileChoices};
use dissensus_training::prediction_tables::{
    PredictedAnnotator, PredictionChoices, TableRequest, check_columns,
};
use std::path::{Path, PathBuf};

/// The parameters of a table of predictions, whose names, files and texts were checked.
pub struct CheckedPredictions {
    pub(super) question: Question,
    chosen: Vec<PredictedAnnotator>,
    /// Whether no annotators were chosen, so that all are predicted together.
    everybody: bool,
    out: PathBuf,
    replace: bool,
    /// The texts of a file; those of the project if `None`.
    pub(super) texts: Option<CheckedTexts>,
}

impl CheckedPredictions {
    pub fn question(&self) -> QuestionId {
        self.question.id
    }

    /// Whether the models of the question must be live
    /// ([`dissensus_training::live::LiveModels::fit`]) before the table is written; words have a model of
    /// their own, which needs only an encoder.
    pub fn needs_live_models(&self) -> bool {
        !self.question.scale.form().marks_words()
    }

    /// The predicted annotators; `has_labels` is whether the one in a row has labels.
    pub(super) fn chosen(&self, has_labels: impl Fn(u32) -> bool) -> Vec<PredictedAnnotator> {
        let of =
            |one: &PredictedAnnotator| PredictedAnnotator { has_labels: has_labels(one.row), ..one.clone() };
        self.chosen.iter().map(of).collect()
    }

    /// The parameters of the table over these of its annotators.
    pub(super) fn table<'a>(&'a self, annotators: &'a [PredictedAnnotator]) -> TableRequest<'a> {
        TableRequest {
            question: &self.question.name,
            levels: self.question.scale.levels(),
            annotators,
            everybody: self.everybody,
            out: &self.out,
            replace: self.replace,
        }
    }
}

/// Checks that a table of predictions can be written: for every text of the project, or for those of a file,
/// which is read once. Words are predicted only for a file.
///
/// # Errors
/// No such question or annotator; a question without labels; an output file that exists already (without
/// `replace`), is the input file, is in the folder of a bundle, or has an unsupported format; two columns of
/// one name; a file of texts that cannot be read or has bad rows; words of the project's own texts;
/// cancellation.
pub fn check(
    cx: &Analysis,
    choices: &PredictionChoices,
    texts: Option<&TextFileChoices>,
    out: &Path,
    progress: &dyn Progress,
) -> Result<CheckedPredictions, ProjectError> {
    let index = cx.context.index();
    let question = index.find_question(choices.question.as_deref())?.clone();
    let form = question.scale.form();
    if form.marks_words() && texts.is_none() {
        index.with_levels(question.id)?;
    }
    TypedTable::check(out, false)?;
    let read = texts.map(|texts| texts.path.as_path()).into_iter().chain([cx.context.store.path()]);
    check_outputs(&[out], &read.collect::<Vec<_>>(), choices.replace)?;
    bundle_folder::check_outside(out)?;
    let chosen = chosen_rows(cx, choices)?;
    let everybody = choices.annotators.is_empty();
    if !form.has_parts() && labels_given(cx, question.id)?.is_empty() {
        return Err(ProjectError::NoLabels(question.name));
    }
    check_columns(form, question.scale.levels(), if everybody { &[] } else { &chosen })?;
    let texts = texts.map(|texts| CheckedTexts::open(texts, progress)).transpose();
    let texts = texts.map_err(ProjectError::all_or_nothing)?;
    let (out, replace) = (out.to_owned(), choices.replace);
    Ok(CheckedPredictions { question, chosen, everybody, out, replace, texts })
}

/// The chosen annotators, in the order of the rows, without information on who has labels.
pub(crate) fn chosen_rows(
    cx: &Analysis,
    choices: &PredictionChoices,
) -> Result<Vec<PredictedAnnotator>, ProjectError> {
    let index = cx.context.index();
    let of = |row, id: &String| PredictedAnnotator { row, id: id.clone(), has_labels: false };
    if choices.annotators.is_empty() {
        return Ok((0..).zip(index.annotators()).map(|(row, a)| of(row, &a.external_id)).collect());
    }
    let named = |name: &String| {
        let found = index.find_annotator(name)?;
        Ok(of(index.annotator_row(found.id).unwrap_or(u32::MAX), &found.external_id))
    };
    let mut chosen = choices.annotators.iter().map(named).collect::<Result<Vec<_>, ProjectError>>()?;
    chosen.sort();
    chosen.dedup();
    Ok(chosen)
}
