//! A table of the answers that annotators would give to a multi-label question as a whole, for the texts of
//! the project or of another file: a row for each text.

use super::Analysis;
use crate::error::AnalysisError;
use crate::prediction_file;
use crate::set_distances;
use dissensus_api::whole_sets_together;
use dissensus_domain::{AnswerForm, Question, QuestionId, TextId};
use dissensus_exchange::TypedTable;
use dissensus_models::live::LiveModel;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::outputs::check_outputs;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_store::body_hash;
use dissensus_training::encoding::{CheckedTexts, EncoderChoice, TextFileChoices};
use dissensus_training::error::TrainingError;
use dissensus_training::prediction_table::{PredictedAnnotator, PredictionChoices};
use dissensus_training::set_table::{SetPredictionFile, SetRows, SetTable, SetTableRequest};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// Number of bodies that are read together.
const TOGETHER: usize = 256;

/// The parameters of a table of whole answers, whose names, files and texts were checked.
pub struct CheckedSets {
    question: Question,
    chosen: Vec<PredictedAnnotator>,
    choices: PredictionChoices,
    out: PathBuf,
    texts: Option<CheckedTexts>,
}

impl CheckedSets {
    /// The predicted question: its models must be live ([`dissensus_training::live::LiveModels::fit`])
    /// before the table is written.
    pub fn question(&self) -> QuestionId {
        self.question.id
    }
}

/// The live models of a question's options, and the key of their encoder version.
pub(crate) struct ModelsOfOptions {
    pub(crate) models: Vec<LiveModel>,
    pub(crate) encoder: Option<String>,
}

/// Checks that a table of whole answers can be written, before anything is encoded or fitted for it: for
/// every text of the project, or for those of a file, which is read once.
///
/// # Errors
/// No such question or annotator; a question that is no multi-label question; two columns of one name;
/// the errors of [`prediction_file::check`](crate::prediction_file::check) for files.
pub fn check(
    cx: &Analysis,
    choices: &PredictionChoices,
    texts: Option<&TextFileChoices>,
    out: &Path,
    progress: &dyn Progress,
) -> Result<CheckedSets, ProjectError> {
    let question = cx.context.index().find_question(choices.question.as_deref())?.clone();
    if question.scale.form() != AnswerForm::Options {
        return Err(AnalysisError::NoOptions(question.name).into());
    }
    TypedTable::check(out, false)?;
    let read = texts.map(|texts| texts.path.as_path()).into_iter().chain([cx.context.store.path()]);
    check_outputs(&[out], &read.collect::<Vec<_>>(), choices.replace)?;
    let chosen = prediction_file::chosen_rows(cx, choices)?;
    SetTable::check_columns(question.scale.levels(), &chosen, !choices.annotators.is_empty())?;
    let texts = texts.map(|texts| CheckedTexts::open(texts, progress)).transpose();
    let texts = texts.map_err(ProjectError::all_or_nothing)?;
    Ok(CheckedSets { question, chosen, choices: choices.clone(), out: out.to_owned(), texts })
}

/// Writes what annotators would answer to all options by the live models, a row for each text: the set
/// that one of them, drawn at random, is most likely to answer and its probability; the expected MASI
/// distance of two of them; whether the model has learned from the text; and for each option the share
/// of them who would choose it and the probability that two of them differ on it. Distances and
/// differences use given answers to the text; sets, probabilities and shares are predictions, regardless
/// of given answers. If annotators are chosen, each of them has columns. Sets take correlations between
/// options into account if held-out answers show them.
///
/// A text of a file whose body is in the project is predicted like any other one, only by its content;
/// `observed` records it.
///
/// # Errors
/// Models that are not live ([`dissensus_training::live::LiveModels::fit`] makes them so); two columns
/// of one name; an output file that exists by now (without `replace`); a full disk; a cancel. For a
/// file's texts also: the file has changed; the encoder is not available, or is not the one of the live
/// models. An unfinished table is deleted.
pub fn write(
    cx: &Analysis,
    asked: &CheckedSets,
    encoder: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<SetPredictionFile, ProjectError> {
    write_sets(cx, asked, encoder, progress).map_err(ProjectError::all_or_nothing)
}

fn write_sets(
    cx: &Analysis,
    asked: &CheckedSets,
    encoder: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<SetPredictionFile, ProjectError> {
    let found = models_of_options(cx, &asked.question)?;
    let together = set_distances::options_together(cx, &asked.question, progress)?;
    let first = found.models.first();
    let has_labels = |row: u32| first.is_some_and(|model| model.labels_of(row) > 0);
    let chosen: Vec<PredictedAnnotator> = asked
        .chosen
        .iter()
        .map(|one| PredictedAnnotator { has_labels: has_labels(one.row), ..one.clone() })
        .collect();
    let observed = bodies_learned_from(cx, first, found.encoder.as_deref())?;
    let options = asked.question.scale.levels();
    let table = SetTableRequest {
        question: &asked.question.name,
        options,
        chosen: &chosen,
        each: !asked.choices.annotators.is_empty(),
        knows_observed: true,
        sets: together.whole_sets()?,
        together: whole_sets_together(&together, options),
        out: &asked.out,
        replace: asked.choices.replace,
    };
    let everybody = asked.choices.annotators.is_empty();
    let texts = first.map_or(0, |model| model.texts());
    let mut rows = SetRows::begin(found.models, everybody, Some(observed), table)?;
    match &asked.texts {
        Some(checked) => {
            let opened = cx.encoding.open_in_use(encoder)?.0;
            // Another program may have given the project another encoder since the models were fitted.
            if found.encoder != Some(opened.version().key()) {
                return Err(AnalysisError::EncoderNotOfModel.into());
            }
            rows.write_file(checked, &opened, progress)?;
        }
        None => write_sets_of_project(cx, &mut rows, asked.question.scale.len(), texts, progress)?,
    }
    rows.finish()
}

fn write_sets_of_project(
    cx: &Analysis,
    rows: &mut SetRows,
    options: usize,
    texts: usize,
    progress: &dyn Progress,
) -> Result<(), ProjectError> {
    let index = cx.context.index();
    for (row, id) in index.texts().iter().enumerate().take(texts) {
        if progress.cancelled() {
            return Err(ProjectError::Cancelled);
        }
        let found = cx.context.store.text(*id)?;
        let text = found.ok_or_else(|| ProjectError::NoSuchText(id.0.to_string()))?;
        rows.write(&vec![row as u32; options], &text.external_id, &text.body)?;
        progress.report(row as u64 + 1, Some(texts as u64), "predicting");
    }
    Ok(())
}

/// Copies of the live models of a question's options, all on the same embeddings of the same texts.
///
/// # Errors
/// They are not live.
pub(crate) fn models_of_options(cx: &Analysis, question: &Question) -> Result<ModelsOfOptions, ProjectError> {
    let not_live = || ProjectError::from(TrainingError::NotEncoded(cx.context.store.path().to_owned()));
    let copy = |fitted: &mut dissensus_training::live::Fitted| {
        Some((fitted.model.to_bytes(), fitted.basis.version.clone()))
    };
    let all = cx.live.of_all(question.id, copy).ok_or_else(not_live)?;
    let encoder = all.first().and_then(|(_, version)| version.clone());
    let models = all.into_iter().map(|(bytes, _)| Ok(LiveModel::from_bytes(&bytes?)?));
    Ok(ModelsOfOptions { models: models.collect::<Result<_, ProjectError>>()?, encoder })
}

/// Hashes of the bodies that have a label in this model, or that trained the encoder.
fn bodies_learned_from(
    cx: &Analysis,
    model: Option<&LiveModel>,
    encoder: Option<&str>,
) -> Result<HashSet<[u8; 32]>, ProjectError> {
    let index = cx.context.index();
    let has_label = |(row, _): &(usize, &TextId)| {
        model.is_some_and(|model| *row < model.texts() && model.labels_on(*row as u32, None) > 0)
    };
    let seen = cx.encoding.seen_by(encoder, &index)?;
    let labelled = index.texts().iter().enumerate().filter(has_label).map(|(_, id)| *id);
    let taught = index.texts().iter().zip(seen.taught()).filter(|(_, taught)| **taught).map(|(id, _)| *id);
    let texts: Vec<TextId> = labelled.chain(taught).collect::<BTreeSet<_>>().into_iter().collect();
    let mut bodies = HashSet::new();
    for chunk in texts.chunks(TOGETHER) {
        bodies.extend(cx.context.store.bodies(chunk)?.iter().filter_map(|body| body_hash(body)));
    }
    Ok(bodies)
}
