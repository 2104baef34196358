//! A fitted model of any kind that predicts texts from their embeddings, and can be serialised: for
//! programs with embeddings of their own and no project.

use dissensus_models::batch::{LinearHeads, Prepared, majority, sep_heads, shared};
use dissensus_models::live::LiveModel;
use dissensus_neural::networks::NetworkModel;
use dissensus_neural::trainer::fit_network;
use dissensus_stats::data::progress::Progress;
use dissensus_stats::data::{
    AnnotatorModel, FitOptions, ModelError, ModelKind, Observation, SparseRows, TextFeatures, TrainingData,
};
use dissensus_stats::disagreement::{Disagreement, disagreement_of_probabilities, disagreement_of_texts};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Minimum number of texts whose measures are computed at once.
const TEXTS_AT_ONCE: usize = 1024;

/// Maximum number of probabilities of which measures are computed at once.
const PROBABILITIES_AT_ONCE: usize = 1 << 24;

/// Texts as arrays: embeddings of `dim` numbers each, one after the other, and their n-grams where the
/// model uses any.
#[derive(Clone, Copy, Debug)]
pub struct NewTexts<'a> {
    pub dim: usize,
    /// texts x dim.
    pub rows: &'a [f32],
    /// One row per text.
    pub ngrams: Option<&'a SparseRows>,
}

impl<'a> NewTexts<'a> {
    pub fn len(&self) -> usize {
        self.rows.len().checked_div(self.dim).unwrap_or(0)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn features(&self, text: usize) -> TextFeatures<'a> {
        let ngrams = self.ngrams.map(|rows| rows.row(text)).unwrap_or_default();
        TextFeatures { embedding: &self.rows[text * self.dim..(text + 1) * self.dim], ngrams }
    }

    fn check(&self, dim: usize) -> Result<(), ModelError> {
        if self.dim != dim {
            return Err(ModelError::EmbeddingLength { expected: dim, found: self.dim });
        }
        if let Some(at) = self.rows.iter().position(|v| !v.is_finite()) {
            return Err(ModelError::NotFinite { text: at / dim, column: at % dim });
        }
        match self.ngrams.map(SparseRows::len).filter(|found| *found != self.len()) {
            None => Ok(()),
            Some(found) => {
                Err(ModelError::Length { what: "the n-grams of the texts", expected: self.len(), found })
            }
        }
    }
}

/// A fitted model.
pub struct PortableModel {
    dim: usize,
    ordinal: bool,
    inner: Inner,
}

#[expect(clippy::large_enum_variant, reason = "there is one of them, and it is not moved")]
enum Inner {
    Heads(LinearHeads),
    Network(NetworkModel),
    Multilevel(LiveModel),
}

/// Serialised form.
#[derive(Serialize, Deserialize)]
struct Saved {
    dim: usize,
    ordinal: bool,
    kind: ModelKind,
    model: Vec<u8>,
}

impl PortableModel {
    /// Fits a model, like [`fit`](crate::fit::fit).
    pub fn fit(
        kind: ModelKind,
        data: &TrainingData<'_>,
        options: &FitOptions,
        progress: &dyn Progress,
    ) -> Result<Self, ModelError> {
        let prepared = || Prepared::new(data, options);
        let inner = match kind {
            ModelKind::Majority => Inner::Heads(LinearHeads::of_shared(&majority::fit(&prepared()?))),
            ModelKind::Shared => Inner::Heads(LinearHeads::of_shared(&shared::fit(&prepared()?))),
            ModelKind::SepHeads => {
                Inner::Heads(LinearHeads::of_sep_heads(&sep_heads::fit(&prepared()?, progress)?))
            }
            ModelKind::ShareRecFfn | ModelKind::ShareRecDcn => {
                Inner::Network(fit_network(kind, &prepared()?, options, progress)?)
            }
            ModelKind::Multilevel => Inner::Multilevel(LiveModel::fit(data, options, progress)?),
        };
        let ordinal = data.target.kind.has_distances();
        Ok(Self { dim: data.embeddings.dim, ordinal, inner })
    }

    /// The model as a trait object; only `multilevel` and networks have rows of fitted texts.
    fn model(&self) -> &dyn AnnotatorModel {
        match &self.inner {
            Inner::Heads(model) => model,
            Inner::Network(model) => model,
            Inner::Multilevel(model) => model,
        }
    }

    pub fn kind(&self) -> ModelKind {
        self.model().kind()
    }

    pub fn levels(&self) -> usize {
        self.model().levels()
    }

    /// Number of annotators known by their index.
    pub fn annotators(&self) -> usize {
        self.model().annotators()
    }

    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The live model, of `multilevel`.
    pub fn live(&self) -> Option<&LiveModel> {
        match &self.inner {
            Inner::Multilevel(model) => Some(model),
            _ => None,
        }
    }

    /// The live model, mutable.
    pub fn live_mut(&mut self) -> Option<&mut LiveModel> {
        match &mut self.inner {
            Inner::Multilevel(model) => Some(model),
            _ => None,
        }
    }

    /// Predicts probabilities for pairs of a text and an annotator, pairs x levels. An unknown annotator is
    /// predicted as the average one.
    ///
    /// # Errors
    /// Embeddings of another length or with a non-finite number; a pair with a text that does not exist; a
    /// cancel.
    pub fn predict(
        &self,
        texts: NewTexts<'_>,
        pairs: &[(u32, u32)],
        progress: &dyn Progress,
    ) -> Result<Vec<f32>, ModelError> {
        texts.check(self.dim)?;
        if let Some(at) = pairs.iter().position(|pair| pair.0 as usize >= texts.len()) {
            let (text, texts) = (pairs[at].0, texts.len());
            return Err(ModelError::UnknownText { observation: at, text, texts });
        }
        let levels = self.levels();
        if let Inner::Network(model) = &self.inner {
            return model.predict_new_texts(texts.rows, pairs, progress);
        }
        let mut out = vec![0.0; pairs.len() * levels];
        let model = self.model();
        out.par_chunks_mut(levels * TEXTS_AT_ONCE).zip(pairs.par_chunks(TEXTS_AT_ONCE)).try_for_each(
            |(out, pairs)| {
                if progress.cancelled() {
                    return Err(ModelError::Cancelled);
                }
                let each = out.chunks_exact_mut(levels).zip(pairs);
                each.into_iter().try_for_each(|(out, (text, annotator))| {
                    model.predict_new_text(texts.features(*text as usize), *annotator, out)
                })
            },
        )?;
        Ok(out)
    }

    /// Predicts the measures of disagreement on texts over all known annotators.
    pub fn disagreement(
        &self,
        texts: NewTexts<'_>,
        progress: &dyn Progress,
    ) -> Result<Vec<Disagreement>, ModelError> {
        texts.check(self.dim)?;
        let people = self.annotators();
        let row = (people * self.levels()).max(1);
        let at_once = match &self.inner {
            // Each part costs a copy of the model.
            Inner::Multilevel(model) => TEXTS_AT_ONCE.max(model.texts()),
            _ => (PROBABILITIES_AT_ONCE / row).clamp(1, TEXTS_AT_ONCE),
        };
        let mut found = Vec::with_capacity(texts.len());
        for from in (0..texts.len()).step_by(at_once) {
            let part = from..(from + at_once).min(texts.len());
            progress.report(from as u64, Some(texts.len() as u64), "disagreement");
            if progress.cancelled() {
                return Err(ModelError::Cancelled);
            }
            found.extend(match &self.inner {
                Inner::Multilevel(model) => disagreement_of_added(model, &texts, part, self.ordinal)?,
                _ => {
                    let pairs: Vec<(u32, u32)> =
                        part.flat_map(|text| (0..people as u32).map(move |who| (text as u32, who))).collect();
                    let p = self.predict(texts, &pairs, progress)?;
                    disagreement_of_probabilities(&p, people, self.levels(), self.ordinal)?
                }
            });
        }
        Ok(found)
    }

    /// Serialises the model: what it learned, and for `multilevel` also the labels, from which it can
    /// continue to learn.
    ///
    /// # Errors
    /// [`ModelError::Damaged`] or [`ModelError::File`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        let damaged = |e: postcard::Error| ModelError::Damaged(e.to_string());
        let model = match &self.inner {
            Inner::Heads(model) => postcard::to_allocvec(model).map_err(damaged)?,
            Inner::Network(model) => model.to_bytes()?,
            Inner::Multilevel(model) => model.to_bytes()?,
        };
        let saved = Saved { dim: self.dim, ordinal: self.ordinal, kind: self.kind(), model };
        postcard::to_allocvec(&saved).map_err(damaged)
    }

    /// Restores a model from [`PortableModel::to_bytes`].
    ///
    /// # Errors
    /// [`ModelError::Damaged`] or [`ModelError::Format`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        let damaged = |e: postcard::Error| ModelError::Damaged(e.to_string());
        let saved: Saved = postcard::from_bytes(bytes).map_err(damaged)?;
        let inner = match saved.kind {
            ModelKind::Majority | ModelKind::Shared | ModelKind::SepHeads => {
                let heads: LinearHeads = postcard::from_bytes(&saved.model).map_err(damaged)?;
                heads.check().map_err(|why| ModelError::Damaged(why.to_owned()))?;
                Inner::Heads(heads)
            }
            ModelKind::ShareRecFfn | ModelKind::ShareRecDcn => {
                Inner::Network(NetworkModel::from_bytes(&saved.model)?)
            }
            ModelKind::Multilevel => Inner::Multilevel(LiveModel::from_bytes(&saved.model)?),
        };
        let model = Self { dim: saved.dim, ordinal: saved.ordinal, inner };
        let same = match &model.inner {
            Inner::Heads(heads) => heads.dim() == saved.dim && heads.kind() == saved.kind,
            _ => model.kind() == saved.kind,
        };
        if same { Ok(model) } else { Err(ModelError::Damaged("its parts do not fit together".to_owned())) }
    }

    /// Updates `multilevel` with a label of a text of the fit, or of one that was added since.
    ///
    /// # Errors
    /// Another kind of model, which learns all labels at once; an unknown text, annotator or level.
    pub fn record(&mut self, observation: Observation) -> Result<Option<u16>, ModelError> {
        let name = self.kind().name();
        match self.live_mut() {
            Some(live) => live.record(observation),
            None => Err(ModelError::NotLive(name)),
        }
    }
}

/// Predicts the measures of texts that are added to a copy of the model.
fn disagreement_of_added(
    model: &LiveModel,
    texts: &NewTexts<'_>,
    part: Range<usize>,
    ordinal: bool,
) -> Result<Vec<Disagreement>, ModelError> {
    let mut asked = model.clone();
    let first = asked.texts();
    for text in part {
        asked.add_text(texts.features(text))?;
    }
    Ok(disagreement_of_texts(&asked, first..asked.texts(), None, ordinal))
}

#[cfg(test)]
mod tests {
    pub(crate) use super::*;
    use dissensus_stats::data::progress::Silent;
    use dissensus_stats::data::synthetic::simulate;

    #[test]
    fn portable_models_predict_like_the_fit() {
        let sim = simulate(60, 6, 3, 4, 40, 3);
        let data = TrainingData {
            embeddings: &sim.embeddings,
            observations: &sim.observations,
            annotators: sim.annotators,
            target: sim.target,
            attributes: &[],
        };
        let texts = NewTexts { dim: sim.embeddings.dim, rows: &sim.embeddings.rows, ngrams: None };
        let pairs: Vec<(u32, u32)> = (0..60).flat_map(|t| [(t, 0), (t, 3), (t, 99)]).collect();
        for kind in ModelKind::ALL {
            let options = FitOptions::default();
            let portable = PortableModel::fit(kind, &data, &options, &Silent).unwrap();
            let p = portable.predict(texts, &pairs, &Silent).unwrap();
            let whole = crate::fit::fit(kind, &data, &options, &Silent).unwrap();
            let mut out = vec![0.0; whole.levels()];
            for ((text, who), p) in pairs.iter().zip(p.chunks_exact(whole.levels())) {
                whole.predict_new_text(texts.features(*text as usize), *who, &mut out).unwrap();
                assert!(out.iter().zip(p).all(|(a, b)| (a - b).abs() < 1e-6), "{kind}: {out:?} {p:?}");
            }
            let again = PortableModel::from_bytes(&portable.to_bytes().unwrap()).unwrap();
            assert_eq!(again.predict(texts, &pairs, &Silent).unwrap(), p, "{kind}");
            let measures = again.disagreement(texts, &Silent).unwrap();
            assert_eq!(measures.len(), 60);
            assert!(measures.iter().all(|d| (0.0..=1.0).contains(&d.pairwise)), "{kind}");
        }
    }

    #[test]
    fn inconsistent_portable_model_is_refused() {
        let sim = simulate(30, 4, 3, 4, 20, 3);
        let data = TrainingData {
            embeddings: &sim.embeddings,
            observations: &sim.observations,
            annotators: sim.annotators,
            target: sim.target,
            attributes: &[],
        };
        let mut model =
            PortableModel::fit(ModelKind::Shared, &data, &FitOptions::default(), &Silent).unwrap();
        let wide = vec![0.0; 2 * (model.dim() + 1)];
        let texts = NewTexts { dim: model.dim() + 1, rows: &wide, ngrams: None };
        assert!(matches!(model.predict(texts, &[(0, 0)], &Silent), Err(ModelError::EmbeddingLength { .. })));
        let mut rows = vec![0.0; 2 * model.dim()];
        rows[model.dim() + 1] = f32::NAN;
        let texts = NewTexts { dim: model.dim(), rows: &rows, ngrams: None };
        let error = model.predict(texts, &[(0, 0)], &Silent).unwrap_err();
        assert_eq!(error, ModelError::NotFinite { text: 1, column: 1 });
        let label = Observation { text: 0, annotator: 0, level: 0 };
        assert!(matches!(model.record(label), Err(ModelError::NotLive("shared"))));
        let bytes = model.to_bytes().unwrap();
        for end in [0, 5, bytes.len() / 2] {
            assert!(PortableModel::from_bytes(&bytes[..end]).is_err());
        }
    }
}
