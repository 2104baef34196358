//! The model of a run for tables of predictions: all people's answers to one text after the other.

use super::Runs;
use crate::encoding::EncodedText;
use crate::runs::predict;
use crate::saved_runs::{SavedRun, choices};
use dissensus_encoder::Encoder;
use dissensus_models::live::LiveModel;
use dissensus_neural::networks::NetworkModel;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::fit::fit;
use dissensus_stats::data::{AnnotatorModel, Embeddings, ModelError, ModelKind, TextFeatures};
use dissensus_stats::disagreement::{Disagreement, disagreement_of_texts};
use std::sync::Arc;

/// Maximum number of additional texts before the model drops them.
const TEXTS_AT_ONCE: usize = 1024;

/// A run's model.
pub(super) struct TableModel {
    kind: Kind,
    is_ordinal: bool,
    levels: usize,
}

enum Kind {
    /// `multilevel`, whose uncertainty about a text is part of its disagreement; with its serialized state
    /// without further texts, and the number of its texts.
    Live { model: Box<LiveModel>, kept: Vec<u8>, texts: usize },
    /// A network, over the current text.
    Network(Option<Box<NetworkModel>>),
    /// Convex heads.
    Solved(Box<dyn AnnotatorModel>),
}

pub(super) fn table_model(
    cx: &Runs,
    kept: &SavedRun,
    encoder: &Encoder,
    progress: &dyn Progress,
) -> Result<TableModel, ProjectError> {
    let (config, _) = choices::config(&kept.choices)?;
    let kind = config.network.model;
    let (kind, levels) = if kind == ModelKind::Multilevel {
        let model = predict::fitted_again(cx, kept, &config, encoder, progress, |data, options| {
            LiveModel::fit(data, options, progress)
        })?;
        let (kept, texts, levels) = (model.to_bytes()?, model.texts(), model.levels());
        (Kind::Live { model: Box::new(model), kept, texts }, levels)
    } else if config.is_convex() {
        let model = predict::fitted_again(cx, kept, &config, encoder, progress, |data, options| {
            fit(kind, data, options, progress)
        })?;
        let levels = model.levels();
        (Kind::Solved(model), levels)
    } else {
        let nothing = Embeddings { dim: encoder.version().dim, ..Embeddings::none(0) };
        let model = NetworkModel::load(&cx.kept.folder(kept)?, Arc::new(nothing))?;
        let levels = model.levels();
        (Kind::Network(Some(Box::new(model))), levels)
    };
    let scale = cx.context.index().with_levels(kept.choices.question)?.scale.target();
    Ok(TableModel { kind, is_ordinal: scale.has_distances(), levels })
}

impl TableModel {
    pub(super) fn levels(&self) -> usize {
        self.levels
    }

    /// Predictions for these people (rows of the run; others are strangers), people x levels, and how much
    /// they would disagree. `row` is the row of the text in the project, if it is one of its texts.
    pub(super) fn predict(
        &mut self,
        row: Option<u32>,
        text: &EncodedText,
        people: &[u32],
    ) -> Result<(Vec<f32>, Disagreement), ProjectError> {
        let (is_ordinal, levels) = (self.is_ordinal, self.levels);
        let asked = |model: &dyn AnnotatorModel, row: u32| {
            let pairs: Vec<(u32, u32)> = people.iter().map(|who| (row, *who)).collect();
            let mut p = vec![0.0; people.len() * levels];
            model.predict_pairs(&pairs, &mut p);
            let measures = measures(model, row, people, &p, is_ordinal);
            (p, measures)
        };
        match &mut self.kind {
            Kind::Live { model, kept, texts } => {
                let row = match row.filter(|row| (*row as usize) < *texts) {
                    Some(row) => row,
                    None => {
                        if model.texts() >= *texts + TEXTS_AT_ONCE.max(*texts) {
                            **model = LiveModel::from_bytes(kept)?;
                        }
                        model.add_text(text.features())?
                    }
                };
                Ok(asked(model.as_ref(), row))
            }
            Kind::Network(network) => {
                let features = text.features();
                let x = Embeddings::new(features.embedding.len(), features.embedding.to_vec())?;
                let Some(model) = network.take() else {
                    return Err(ProjectError::Internal("a network was lost".to_owned()));
                };
                let model = network.insert(Box::new(model.over(Arc::new(x))?));
                Ok(asked(model.as_ref(), 0))
            }
            Kind::Solved(model) => {
                if let Some(row) = row.filter(|row| (*row as usize) < model.texts()) {
                    return Ok(asked(model.as_ref(), row));
                }
                let mut p = vec![0.0; people.len() * levels];
                for (who, p) in people.iter().zip(p.chunks_exact_mut(levels)) {
                    model.predict_new_text(text.features(), *who, p)?;
                }
                let measures = measures_of(&p, levels, is_ordinal);
                Ok((p, measures))
            }
        }
    }
}

/// Measures over the people; with strangers among them, over the predictions for each.
fn measures(
    model: &dyn AnnotatorModel,
    row: u32,
    people: &[u32],
    p: &[f32],
    is_ordinal: bool,
) -> Disagreement {
    let annotators = model.annotators();
    if people.iter().any(|who| *who as usize >= annotators) {
        return measures_of(p, model.levels(), is_ordinal);
    }
    let mut mask = vec![false; annotators];
    people.iter().for_each(|who| mask[*who as usize] = true);
    let at = row as usize;
    disagreement_of_texts(model, at..at + 1, Some(&mask), is_ordinal).swap_remove(0)
}

fn measures_of(p: &[f32], levels: usize, is_ordinal: bool) -> Disagreement {
    disagreement_of_texts(&PredictedAnswers { p, levels }, 0..1, None, is_ordinal).swap_remove(0)
}

/// Predicted answers of people to one text.
struct PredictedAnswers<'a> {
    p: &'a [f32],
    levels: usize,
}

impl AnnotatorModel for PredictedAnswers<'_> {
    fn kind(&self) -> ModelKind {
        ModelKind::Shared
    }
    fn levels(&self) -> usize {
        self.levels
    }
    fn texts(&self) -> usize {
        1
    }
    fn annotators(&self) -> usize {
        self.p.len() / self.levels
    }
    fn predict(&self, _: u32, annotator: u32, out: &mut [f32]) {
        let at = annotator as usize * self.levels;
        out.copy_from_slice(&self.p[at..at + self.levels]);
    }
    fn predict_new_text(&self, _: TextFeatures<'_>, who: u32, out: &mut [f32]) -> Result<(), ModelError> {
        self.predict(0, who, out);
        Ok(())
    }
}
