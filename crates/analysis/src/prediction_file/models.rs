//! Copies of live models, the texts that they have learned from, and the texts of the project.

use crate::Analysis;
use crate::error::AnalysisError;
use dissensus_domain::{Question, TextId};
use dissensus_encoder::Encoder;
use dissensus_models::live::LiveModel;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_store::body_hash;
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::error::TrainingError;
use dissensus_training::prediction_tables::LabelledBodies;
use std::collections::{BTreeSet, HashSet};

/// Number of bodies that are read together.
const BATCH_TEXTS: usize = 256;

/// The live models of a question's options, and the key of their encoder version.
pub(crate) struct ModelsOfOptions {
    pub(crate) models: Vec<LiveModel>,
    pub(crate) encoder: Option<String>,
}

/// A copy of the live model of a question, whose columns are its levels, and the key of its encoder version.
///
/// # Errors
/// It is not live, or the question has other levels by now.
pub(crate) fn live_copy(
    cx: &Analysis,
    question: &Question,
) -> Result<(LiveModel, Option<String>), ProjectError> {
    let live = cx.live.with(question, |fitted| {
        fitted.model.to_bytes().map(|model| (model, fitted.basis.version.clone()))
    })?;
    let not_live = || ProjectError::from(TrainingError::NotEncoded(cx.context.store.path().to_owned()));
    let (model, encoder) = live.ok_or_else(not_live)??;
    Ok((LiveModel::from_bytes(&model)?, encoder))
}

/// Copies of the live models of a question's options, all on the same embeddings of the same texts.
///
/// # Errors
/// They are not live, or an option was removed meanwhile.
pub(crate) fn models_of_options(cx: &Analysis, question: &Question) -> Result<ModelsOfOptions, ProjectError> {
    let not_live = || ProjectError::from(TrainingError::NotEncoded(cx.context.store.path().to_owned()));
    let copy = |fitted: &mut dissensus_training::live::Fitted| {
        Some((fitted.model.to_bytes(), fitted.basis.version.clone()))
    };
    let all = cx.live.of_all(question, copy)?.ok_or_else(not_live)?;
    let encoder = all.first().and_then(|(_, version)| version.clone());
    let models = all.into_iter().map(|(bytes, _)| Ok(LiveModel::from_bytes(&bytes?)?));
    Ok(ModelsOfOptions { models: models.collect::<Result<_, ProjectError>>()?, encoder })
}

/// The encoder in use, if it is the version `fitted_on` of the live models.
///
/// # Errors
/// It is not available, or another one.
pub(super) fn encoder_of_models(
    cx: &Analysis,
    encoder: &EncoderChoice,
    fitted_on: Option<&str>,
) -> Result<Encoder, ProjectError> {
    let encoder = cx.encoding.open_in_use(encoder)?.0;
    // Another program may have given the project another encoder since the models were fitted.
    if fitted_on != Some(encoder.version().key().as_str()) {
        return Err(AnalysisError::EncoderNotOfModel.into());
    }
    Ok(encoder)
}

/// Calls `write` for each of the first `texts` texts of the project, with its row, id in files and body.
pub(crate) fn each_text(
    cx: &Analysis,
    texts: usize,
    progress: &dyn Progress,
    mut write: impl FnMut(u32, &str, &str) -> Result<(), ProjectError>,
) -> Result<(), ProjectError> {
    let index = cx.context.index();
    for (row, id) in index.texts().iter().enumerate().take(texts) {
        if progress.cancelled() {
            return Err(ProjectError::Cancelled);
        }
        let found = cx.context.store.text(*id)?;
        let text = found.ok_or_else(|| ProjectError::NoSuchText(id.0.to_string()))?;
        write(row as u32, &text.external_id, &text.body)?;
        progress.report(row as u64 + 1, Some(texts as u64), "predicting");
    }
    Ok(())
}

/// Hashes of the bodies of `labelled` texts, and of those that trained this version of an encoder.
pub(super) fn bodies_learned_from(
    cx: &Analysis,
    labelled: impl Iterator<Item = TextId>,
    encoder: Option<&str>,
) -> Result<HashSet<[u8; 32]>, ProjectError> {
    let index = cx.context.index();
    let seen = cx.encoding.seen_by(encoder, &index)?;
    let taught = index.texts().iter().zip(seen.taught()).filter(|(_, taught)| **taught).map(|(id, _)| *id);
    let texts: Vec<TextId> = labelled.chain(taught).collect::<BTreeSet<_>>().into_iter().collect();
    let mut bodies = HashSet::new();
    for chunk in texts.chunks(BATCH_TEXTS) {
        bodies.extend(cx.context.store.bodies(chunk)?.iter().filter_map(|body| body_hash(body)));
    }
    Ok(bodies)
}

/// The rows of the labelled texts by the hash of their body.
pub(crate) fn labelled_bodies(cx: &Analysis, model: &LiveModel) -> Result<LabelledBodies, ProjectError> {
    let index = cx.context.index();
    let mut found = LabelledBodies::new();
    for (row, id) in index.texts().iter().enumerate().take(model.texts()) {
        if model.labels_on(row as u32, None) == 0 {
            continue;
        }
        let body = cx.context.store.bodies(&[*id])?.swap_remove(0);
        if let Some(hash) = body_hash(&body) {
            found.entry(hash).or_default().push(row as u32);
        }
    }
    Ok(found)
}
