//! The annotator models behind one trait.

mod majority;
mod multilevel;
mod sep_heads;
mod shared;
#[cfg(test)]
mod suite;
mod turn;

pub(crate) use majority::majority_level;
pub(crate) use multilevel::{EncoderToScore, Multilevel, fit_effects};
pub(crate) use turn::TurnFit;

use crate::PerspectivesError;
use crate::data::TrainingData;
use crate::effects::AttributeEvidence;
use crate::options::FitOptions;
use crate::progress::Progress;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Gives P(level | text, annotator).
///
/// Every model is a function of the text's embedding and of who judges. An annotator index beyond those it was
/// trained with means "somebody new": the average person. `out` always has [`AnnotatorModel::levels`] entries, which
/// sum to 1.
pub trait AnnotatorModel: Send + Sync {
    /// Which model this is.
    fn kind(&self) -> ModelKind;
    /// Levels of the scale.
    fn levels(&self) -> usize;
    /// Texts it was fitted with (rows of the embeddings), labelled or not.
    fn texts(&self) -> usize;
    /// Annotators it was fitted with.
    fn annotators(&self) -> usize;
    /// Probabilities for text row `text`. Uses what labels by others tell about that text where the model can.
    ///
    /// # Panics
    /// If `text` is not below [`AnnotatorModel::texts`] or `out` has another length than [`AnnotatorModel::levels`].
    fn predict(&self, text: u32, annotator: u32, out: &mut [f32]);
    /// Probabilities for a text the model has never seen, from its embedding.
    ///
    /// # Errors
    /// [`PerspectivesError::EmbeddingLength`].
    fn predict_embedding(&self, x: &[f32], annotator: u32, out: &mut [f32]) -> Result<(), PerspectivesError>;
    /// Probabilities of many (text, annotator) pairs, pairs x levels: what a model that is faster at once overrides.
    fn predict_pairs(&self, pairs: &[(u32, u32)], out: &mut [f32]) {
        for ((text, annotator), p) in pairs.iter().zip(out.chunks_exact_mut(self.levels())) {
            self.predict(*text, *annotator, p);
        }
    }
    /// Probabilities of all texts in `texts` for one annotator, level-major: `out[c * texts.len() + i]`.
    fn predict_column(&self, annotator: u32, texts: Range<usize>, out: &mut [f32]) {
        let (n, mut p) = (texts.len(), vec![0.0; self.levels()]);
        for (i, text) in texts.enumerate() {
            self.predict(text as u32, annotator, &mut p);
            for (c, &p) in p.iter().enumerate() {
                out[c * n + i] = p;
            }
        }
    }
    /// Whether the model has anything to say about this annotator in particular: true for models that treat everybody
    /// alike, and else where it has learnt from labels of that person. `false` means that predictions are those of a
    /// fallback (the shared head, the average person), and a report should say so.
    fn knows(&self, _annotator: u32) -> bool {
        true
    }
    /// Probabilities for text row `text` and somebody new of whom only attribute values are known: one entry for each
    /// of [`TrainingData::attributes`], `None` where it is not known. Models that do not use attributes predict a stranger.
    ///
    /// # Panics
    /// As [`AnnotatorModel::predict`].
    fn predict_newcomer(&self, text: u32, _attributes: &[Option<u16>], out: &mut [f32]) {
        self.predict(text, u32::MAX, out);
    }
    /// What attributes were found to tell about annotators whose labels were not looked at; `None` where the model does
    /// not try them or there was too little to try.
    fn attribute_evidence(&self) -> Option<AttributeEvidence> {
        None
    }
    /// Weights, summing to 1, of the points at which a text's own score is held in turn to average
    /// [`crate::Disagreement::pairwise`] over the model's doubt about the text. Empty where a model has no such doubt.
    fn points(&self) -> Vec<f64> {
        Vec::new()
    }
    /// As [`AnnotatorModel::predict_column`], with every text's own score held at a point.
    fn predict_column_at(&self, _point: usize, annotator: u32, texts: Range<usize>, out: &mut [f32]) {
        self.predict_column(annotator, texts, out);
    }
    /// The name on the command line.
    fn name(&self) -> &'static str {
        self.kind().name()
    }
}

/// Which annotator model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelKind {
    /// One head trained on each text's most frequent label; ties go to the lowest of the tied levels.
    Majority,
    /// One head trained on everybody's labels.
    Shared,
    /// One head per annotator, trained on that person's labels alone; `shared` for people without labels.
    SepHeads,
    /// A text and a person, each made a short vector, through a feed-forward network.
    ShareRecFfn,
    /// The same through a Deep & Cross Network.
    ShareRecDcn,
    /// One head, every annotator's own severity and thresholds, every text's own effect, shrunk as far as the data say.
    Multilevel,
}

impl ModelKind {
    /// All models, in the order of the command line's tables.
    pub const ALL: [Self; 6] = [
        Self::Majority,
        Self::Shared,
        Self::SepHeads,
        Self::ShareRecFfn,
        Self::ShareRecDcn,
        Self::Multilevel,
    ];

    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Majority => "majority",
            Self::Shared => "shared",
            Self::SepHeads => "sep-heads",
            Self::ShareRecFfn => "share-rec-ffn",
            Self::ShareRecDcn => "share-rec-dcn",
            Self::Multilevel => "multilevel",
        }
    }
}

impl std::fmt::Display for ModelKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for ModelKind {
    type Err = PerspectivesError;

    fn from_str(name: &str) -> Result<Self, PerspectivesError> {
        Self::ALL.into_iter().find(|k| k.name() == name).ok_or_else(|| PerspectivesError::UnknownName {
            what: "model",
            name: name.to_owned(),
            known: "majority, shared, sep-heads, share-rec-ffn, share-rec-dcn or multilevel",
        })
    }
}

/// Fits a model.
///
/// # Errors
/// What is wrong with `data` (see [`PerspectivesError`]), or [`PerspectivesError::Cancelled`].
pub fn fit(
    kind: ModelKind,
    data: &TrainingData<'_>,
    options: &FitOptions,
    progress: &mut dyn Progress,
) -> Result<Box<dyn AnnotatorModel>, PerspectivesError> {
    let prepared = Prepared::new(data, options)?;
    fit_prepared(kind, &prepared, options, progress)
}

/// Checked data and rotated embeddings, shared by all models of one evaluation.
pub(crate) struct Prepared<'a> {
    pub(crate) embeddings: &'a crate::Embeddings,
    pub(crate) x: std::sync::Arc<crate::math::rotate::Rotated>,
    pub(crate) observations: Vec<crate::Observation>,
    pub(crate) annotators: usize,
    pub(crate) target: crate::Target,
    pub(crate) attributes: &'a [crate::data::Attribute],
    pub(crate) fold: Vec<u8>,
    pub(crate) folds: usize,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(data: &TrainingData<'a>, options: &FitOptions) -> Result<Self, PerspectivesError> {
        let observations = data.sorted()?;
        let folds = options.folds.clamp(2, 20);
        Ok(Self {
            embeddings: data.embeddings,
            x: std::sync::Arc::new(crate::math::rotate::Rotated::new(data.embeddings)),
            fold: crate::folds::assign(data.embeddings.texts, folds, options.seed),
            folds,
            observations,
            annotators: data.annotators,
            target: data.target,
            attributes: data.attributes,
        })
    }
}

pub(crate) fn fit_prepared(
    kind: ModelKind,
    prepared: &Prepared<'_>,
    options: &FitOptions,
    progress: &mut dyn Progress,
) -> Result<Box<dyn AnnotatorModel>, PerspectivesError> {
    crate::progress::step(progress, kind.name(), 0.0)?;
    let model: Box<dyn AnnotatorModel> = match kind {
        ModelKind::Majority => Box::new(majority::fit(prepared)),
        ModelKind::Shared => Box::new(shared::fit(prepared)),
        ModelKind::SepHeads => Box::new(sep_heads::fit(prepared, progress)?),
        ModelKind::ShareRecFfn | ModelKind::ShareRecDcn => {
            Box::new(crate::trainer::fit_network(kind, prepared, options, progress)?)
        }
        ModelKind::Multilevel => Box::new(Multilevel::fit(prepared, options, progress)?),
    };
    crate::progress::step(progress, kind.name(), 1.0)?;
    Ok(model)
}
