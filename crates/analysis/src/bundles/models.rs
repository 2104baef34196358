//! The models that go into a bundle, each with the encoder that it depends on and its measured accuracy.

use super::Bundles;
use super::manifest::{BundledAnnotator, HeldOutFigure, HeldOutFigures};
use crate::error::AnalysisError;
use crate::held_out;
use crate::prediction_file;
use dissensus_domain::{Annotator, Question};
use dissensus_encoder::Encoder;
use dissensus_models::live::LiveModel;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::words::counted;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_training::error::TrainingError;
use dissensus_training::runs;
use std::path::PathBuf;
use std::sync::Arc;

/// An encoder, and its folder or GGUF file.
#[derive(Clone)]
pub(super) struct OpenedEncoder {
    pub(super) encoder: Arc<Encoder>,
    pub(super) dir: PathBuf,
}

/// A model with its encoder and figures.
pub(super) struct ModelToBundle {
    pub(super) question: Question,
    pub(super) run: Option<u32>,
    pub(super) model: LiveModel,
    pub(super) annotators: Vec<BundledAnnotator>,
    pub(super) encoder: OpenedEncoder,
    pub(super) held_out: HeldOutFigures,
}

impl Bundles {
    /// The live model of a question, fitted if it is not live.
    pub(super) fn live_model(
        &self,
        question: &Question,
        in_use: &OpenedEncoder,
        progress: &dyn Progress,
    ) -> Result<ModelToBundle, ProjectError> {
        self.live.fit(question.id, progress)?;
        let (model, fitted_on) = prediction_file::live_copy(&self.analysis, question)?;
        if model.labels() == 0 {
            return Err(ProjectError::NoLabels(question.name.clone()));
        }
        // Another program may have changed it meanwhile.
        if fitted_on != Some(in_use.encoder.version().key()) {
            return Err(AnalysisError::EncoderNotOfModel.into());
        }
        let index = self.context.index();
        let annotators = index.annotators().iter().take(model.annotators());
        Ok(ModelToBundle {
            annotators: annotators_of(&model, annotators),
            held_out: self.held_out_of(question, progress)?,
            question: question.clone(),
            run: None,
            model,
            encoder: in_use.clone(),
        })
    }

    /// The model of a finished run.
    pub(super) fn run_model(&self, run: u32, progress: &dyn Progress) -> Result<ModelToBundle, ProjectError> {
        let found = runs::model_for_new_texts(&self.runs, run, progress)?;
        let index = self.context.index();
        let gone = || ProjectError::from(TrainingError::DamagedRun(run));
        let people: Option<Vec<&Annotator>> = found
            .annotators
            .iter()
            .map(|id| index.annotator_row(*id).and_then(|row| index.annotators().get(row as usize)))
            .collect();
        let detail = runs::detail(&self.runs, run)?;
        let scores = detail.info.scores.ok_or(TrainingError::NoScores(run))?;
        let figure = |m: &dissensus_api::RunMetric| HeldOutFigure { name: m.key.clone(), value: m.value };
        Ok(ModelToBundle {
            annotators: annotators_of(&found.model, people.ok_or_else(gone)?.into_iter()),
            held_out: HeldOutFigures {
                of: format!(
                    "Test labels of run {run} ({} of {}), which it has not learned from, divided by {}.",
                    counted(scores.labels.into(), "label"),
                    counted(scores.texts.into(), "text"),
                    detail.info.split.name()
                ),
                labels: scores.labels as usize,
                figures: scores.metrics.iter().map(figure).collect(),
            },
            question: found.question,
            run: Some(run),
            model: found.model,
            encoder: OpenedEncoder { encoder: Arc::new(found.encoder), dir: found.encoder_dir },
        })
    }

    /// How well labels of held-out texts are predicted, by models that are fitted without these texts.
    fn held_out_of(
        &self,
        question: &Question,
        progress: &dyn Progress,
    ) -> Result<HeldOutFigures, ProjectError> {
        let (all, left_out) = held_out::held_out_in_all(&self.analysis, question.id, progress)?;
        let mut of = "Labels of texts held out in folds, by models fitted without these texts in one round and without slopes; the bundled \
                      model has learned from all labels."
            .to_owned();
        if left_out > 0 {
            of.push_str(&format!(
                " {} left out, because they tuned the encoder.",
                counted(left_out as u64, "text")
            ));
        }
        let share = |hits: usize| hits as f64 / all.labels.max(1) as f64;
        let mut figures = vec![
            ("accuracy", share(all.hits)),
            ("accuracy of each annotator's most frequent answer", share(all.baseline_hits)),
            ("accuracy of the most frequent answer of all", share(all.common_hits)),
        ];
        if question.scale.target().has_distances() {
            figures.push(("mean absolute error of the median, in levels", share(all.distance)));
            figures.push(("the same of each annotator's own median", share(all.baseline_distance)));
        }
        if all.labels == 0 {
            figures.clear();
        }
        let figure = |(name, value): (&str, f64)| HeldOutFigure { name: name.to_owned(), value };
        Ok(HeldOutFigures { of, labels: all.labels, figures: figures.into_iter().map(figure).collect() })
    }
}

fn annotators_of<'a>(
    model: &LiveModel,
    people: impl Iterator<Item = &'a Annotator>,
) -> Vec<BundledAnnotator> {
    let of = |(row, annotator): (u32, &Annotator)| BundledAnnotator {
        id: annotator.external_id.clone(),
        has_labels: model.labels_of(row) > 0,
    };
    (0..).zip(people).map(of).collect()
}
