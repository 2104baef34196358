//! The predicted answers to a multi-label question as a whole, for one text, and the given answers to a text
//! of the project.

use super::Analysis;
use crate::error::AnalysisError;
use crate::predict::{RequestedText, row_of};
use crate::prediction_file;
use crate::set_distances;
use dissensus_api::whole_sets_together;
use dissensus_domain::{AnnotatorId, Answer, Question, TextId};
use dissensus_models::live::LiveModel;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_training::error::TrainingError;
use dissensus_training::prediction_tables::people_of_sets;
use dissensus_training::requested_model::{OptionAnswers, RequestedModel, known};
use serde::Serialize;

/// Predictions of whole answers to a text.
#[derive(Clone, Debug, Serialize)]
pub struct WholeAnswer {
    /// Number of annotators.
    pub annotators: usize,
    /// Number of annotators over whom the most likely set and the distance are computed: all, or a selection
    /// of 300.
    pub annotators_of_sets: usize,
    /// Each option, in the order of the scale.
    pub options: Vec<ExpectedOption>,
    /// The set that one of them, drawn at random, is most likely to answer.
    pub most_likely_set: String,
    pub probability: f64,
    /// Whether no other set is likelier; false if the search reached its limit, so that there may be one.
    pub is_exact: bool,
    /// The expected MASI distance of two of them, with given answers to this text; none for one person.
    pub masi: Option<f64>,
    /// Whether sets and distances take correlations between options into account, in words.
    pub options_together: String,
}

/// Predictions for one option.
#[derive(Clone, Debug, Serialize)]
pub struct ExpectedOption {
    pub option: String,
    /// Share of the annotators who would choose it; for a single person the probability.
    pub expected: f64,
    /// Probability that two of them differ on it; none for a single person.
    pub differ: Option<f64>,
}

/// A person's answer.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GivenAnswer {
    /// Id of the annotator in the project.
    #[serde(skip)]
    pub id: AnnotatorId,
    /// The id in files.
    pub annotator: String,
    /// The answer as written in files of labels.
    pub answer: String,
}

/// What one annotator, or all, would answer to a multi-label question: each option, and the most likely
/// set of them.
///
/// # Errors
/// A question of another kind; no such text; the models of the options are not live
/// ([`dissensus_training::live::LiveModels::fit`] makes them so); cancellation.
pub fn predict(
    cx: &Analysis,
    question: &Question,
    annotator: Option<AnnotatorId>,
    text: RequestedText<'_>,
    progress: &dyn Progress,
) -> Result<WholeAnswer, ProjectError> {
    if !question.scale.form().is_set() {
        return Err(AnalysisError::NoOptions(question.name.clone()).into());
    }
    let row = match text {
        RequestedText::OfProject(id) => Some(row_of(cx, id)?),
        RequestedText::New(_) => None,
    };
    let models = prediction_file::models_of_options(cx, question)?.models;
    let people = people_of(cx, annotator);
    let everybody = annotator.is_none();
    let mut predicted = Vec::new();
    let mut answered = false;
    for model in models {
        let (option, labels) = ask(model, &people, everybody, row, text, || not_live(cx))?;
        answered |= labels;
        predicted.push(option);
    }
    let found = set_distances::options_together(cx, question, progress)?;
    let sets = found.whole_sets()?;
    let of_sets = people_of_sets(people.len());
    let p: Vec<f32> =
        of_sets.iter().flat_map(|who| predicted.iter().map(move |option| option.yes[*who])).collect();
    let likely = sets.of_anybody(&p).ok_or_else(|| not_live(cx))?;
    let several = people.len() > 1;
    let option = |(predicted, name): (&OptionAnswers, &String)| ExpectedOption {
        option: name.clone(),
        expected: predicted.yes.iter().map(|p| f64::from(*p)).sum::<f64>() / people.len() as f64,
        differ: several.then_some(f64::from(predicted.differ)),
    };
    let options = question.scale.levels();
    Ok(WholeAnswer {
        annotators: people.len(),
        annotators_of_sets: of_sets.len(),
        options: predicted.iter().zip(options).map(option).collect(),
        most_likely_set: name_of(question, &Answer::Options(question.scale.options_at(likely.set))),
        probability: likely.probability,
        is_exact: likely.is_exact,
        masi: sets.masi(&known(&predicted, &of_sets), answered),
        options_together: whole_sets_together(&found, options),
    })
}

/// What annotators answered to a text of the project, in the order of annotators; empty without answers.
///
/// # Errors
/// No such text; the file cannot be read.
pub fn given_answers(
    cx: &Analysis,
    question: &Question,
    text: &str,
) -> Result<Vec<GivenAnswer>, ProjectError> {
    let (index, text) = (cx.context.index(), text_named(cx, text)?);
    let mut labels = cx.context.store.current_labels_on(text, question.id)?;
    labels.sort_by_key(|label| index.annotator_row(label.annotator));
    let given = labels.into_iter().filter_map(|label| {
        let who = index.annotators().get(index.annotator_row(label.annotator)? as usize)?;
        let answer = name_of(question, &label.answer.to(question.id));
        Some(GivenAnswer { id: who.id, annotator: who.external_id.clone(), answer })
    });
    Ok(given.collect())
}

fn text_named(cx: &Analysis, text: &str) -> Result<TextId, ProjectError> {
    let found = cx.context.store.text_by_external(text)?;
    Ok(found.ok_or_else(|| ProjectError::NoSuchText(text.to_owned()))?.id)
}

fn people_of(cx: &Analysis, annotator: Option<AnnotatorId>) -> Vec<u32> {
    let index = cx.context.index();
    match annotator {
        Some(id) => vec![index.annotator_row(id).unwrap_or(u32::MAX)],
        None => (0..index.annotators().len() as u32).collect(),
    }
}

fn not_live(cx: &Analysis) -> ProjectError {
    ProjectError::from(TrainingError::NotEncoded(cx.context.store.path().to_owned()))
}

/// The prediction for an option, and whether labels of this exact text count in it.
fn ask(
    model: LiveModel,
    people: &[u32],
    everybody: bool,
    row: Option<u32>,
    text: RequestedText<'_>,
    not_live: impl Fn() -> ProjectError,
) -> Result<(OptionAnswers, bool), ProjectError> {
    let mut model = RequestedModel::new(model, people.to_vec(), everybody);
    let row = match (row, text) {
        (_, RequestedText::New(text)) => model.add(text)?,
        // A text that was imported after the model was fitted has no row in it yet.
        (Some(row), _) if (row as usize) < model.model().texts() => row,
        _ => return Err(not_live()),
    };
    Ok((model.option_answers(row), model.is_answered(row)))
}

fn name_of(question: &Question, answer: &Answer) -> String {
    question.scale.name_of_answer(answer).unwrap_or_default().into_owned()
}
