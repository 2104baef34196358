//! Predicted answers of chosen annotators to every text of the project, in memory.

use super::Analysis;
use crate::prediction_file;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_store::body_hash;
use dissensus_training::predicted_texts::PredictedTexts;
use dissensus_training::prediction_tables::PredictionChoices;
use dissensus_training::requested_model::RequestedModel;

/// Predictions of all texts of a project.
#[derive(Clone, Debug)]
pub struct PredictedProject {
    /// External ids of the texts, in file order.
    pub text_ids: Vec<String>,
    /// The predicted answers.
    pub predicted: PredictedTexts,
    /// For each text and annotator, whether the model has learned from that annotator's own label of this
    /// text, or of one with the same body.
    pub observed: Vec<bool>,
}

/// The numbers of [`prediction_file::write`](crate::prediction_file::write) for every text of the project.
///
/// # Errors
/// No such question or annotator; a model that is not live
/// ([`dissensus_training::live::LiveModels::fit`] makes it so); not enough memory; cancellation.
pub fn predict(
    cx: &Analysis,
    choices: &PredictionChoices,
    progress: &dyn Progress,
) -> Result<PredictedProject, ProjectError> {
    let question = cx.question(choices.question.as_deref())?;
    let model = prediction_file::live_copy(cx, &question)?.0;
    let mut chosen = prediction_file::chosen_rows(cx, choices)?;
    chosen.iter_mut().for_each(|one| one.has_labels = model.labels_of(one.row) > 0);
    let labelled = prediction_file::labelled_bodies(cx, &model)?;
    let (texts, target) = (model.texts(), model.target());
    let levels = question.scale.levels().to_vec();
    let mut predicted = PredictedTexts::new(question.name, levels, target, &chosen);
    predicted.reserve(texts)?;
    let people = chosen.iter().map(|one| one.row).collect();
    let asked = RequestedModel::new(model, people, choices.annotators.is_empty());
    let (mut text_ids, mut observed) = (Vec::with_capacity(texts), Vec::new());
    prediction_file::each_text(cx, texts, progress, |row, id, body| {
        let same = body_hash(body).and_then(|hash| labelled.get(&hash));
        let own = |text: u32, who: u32| asked.model().label(text, who).is_some();
        observed.extend(chosen.iter().map(|one| {
            own(row, one.row) || same.is_some_and(|rows| rows.iter().any(|text| own(*text, one.row)))
        }));
        text_ids.push(id.to_owned());
        predicted.push(&asked, row);
        Ok(())
    })?;
    Ok(PredictedProject { text_ids, predicted, observed })
}
