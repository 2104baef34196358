//! Embeddings and n-grams as models use them: one row per text.

use super::Encoding;
use super::text_features::{NgramLimits, ngrams_of};
use crate::error::TrainingError;
use dissensus_project::context::{Index, QuestionData};
use dissensus_project::error::ProjectError;
use dissensus_project::sync::lock;
use dissensus_stats::data::{Embeddings, SparseRows};
use std::sync::Arc;

/// Identifies the embeddings that a model or a figure is based on. If two are equal, so are the embeddings,
/// because embeddings of a version are only ever added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    /// The encoder version; none if nothing is encoded.
    pub version: Option<String>,
    texts: usize,
    /// Texts that have an embedding of that version. The others use the mean.
    encoded: usize,
}

impl Basis {
    /// False if some texts have an embedding and others do not.
    pub fn is_complete(&self) -> bool {
        self.version.is_none() || self.encoded == self.texts
    }
}

impl Encoding {
    /// The embeddings in use, one row per text in file order, and their identity; rows of length 0 without
    /// an encoder. A text without an embedding gets the mean of the others.
    pub fn embeddings(&self) -> Result<(Arc<Embeddings>, Basis), ProjectError> {
        let mut cache = lock(&self.memory.embeddings);
        // Read under the lock, so that an encoder that is activated meanwhile clears the cache after this,
        // not before.
        let chosen = self.chosen()?;
        let index = self.context.index();
        let texts = index.texts().len();
        let key = chosen.as_ref().map(|chosen| &chosen.key);
        let stored = || key.map_or(Ok(0), |key| self.context.store.embedding_count(key));
        let same = |basis: &Basis| basis.texts == texts && basis.version.as_ref() == key;
        // Embeddings of only some texts are used while others are being encoded, and no longer.
        if let Some(kept) = cache.as_ref().filter(|(_, basis)| same(basis))
            && (kept.1.is_complete() || (stored()? as usize) < texts)
        {
            return Ok(kept.clone());
        }
        let any = stored()? > 0;
        let loaded = match chosen {
            Some(chosen) if any => {
                let stored = self.context.store.embeddings(&chosen.key)?;
                let encoded = stored.texts.iter().filter(|text| index.text_row(**text).is_some()).count();
                let rows = Arc::new(self.as_model_input(&chosen.key, &index, &stored)?);
                (rows, Basis { version: Some(chosen.key), texts, encoded })
            }
            _ => (Arc::new(Embeddings::none(texts)), Basis { version: None, texts, encoded: 0 }),
        };
        *cache = Some(loaded.clone());
        Ok(loaded)
    }

    /// The embeddings in use, one row per text in file order, and the key of the encoder version that made
    /// them.
    ///
    /// # Errors
    /// [`TrainingError::NotEncoded`] if a text has no embedding yet.
    pub fn vectors(&self) -> Result<(Arc<Embeddings>, String), ProjectError> {
        match self.embeddings()? {
            (rows, Basis { version: Some(key), texts, encoded }) if encoded == texts => Ok((rows, key)),
            _ => Err(TrainingError::NotEncoded(self.context.store.path().to_owned()).into()),
        }
    }

    /// The embeddings of one version, in use or not, in the form of [`Encoding::embeddings`].
    pub fn embeddings_of(&self, key: &str) -> Result<Embeddings, ProjectError> {
        self.as_model_input(key, &self.context.index(), &self.context.store.embeddings(key)?)
    }

    /// One row per text of the index, with its n-grams, and with the texts whose labels tuned the encoder
    /// version `key`.
    fn as_model_input(
        &self,
        key: &str,
        index: &Index,
        stored: &dissensus_store::Embeddings,
    ) -> Result<Embeddings, ProjectError> {
        let mut rows = aligned(index, stored)?;
        let taught = self.seen_by(Some(key), index)?.taught().to_vec();
        if !taught.is_empty() {
            rows = rows.with_tuned_on(taught.into())?;
        }
        Ok(match ngrams_of(&self.context, index.texts(), *lock(&self.memory.ngram_limits))? {
            Some(ngrams) => rows.with_ngrams(ngrams)?,
            None => rows,
        })
    }

    /// Whether models that are now fitted to the first `texts` texts use n-grams.
    pub(crate) fn gives_ngrams(&self, texts: usize) -> Result<bool, ProjectError> {
        let index = self.context.index();
        let texts = index.texts().get(..texts).unwrap_or_default();
        Ok(ngrams_of(&self.context, texts, *lock(&self.memory.ngram_limits))?.is_some())
    }

    /// The n-grams of the first `texts` texts, regardless of their number.
    pub(crate) fn ngrams_of_run(&self, texts: usize) -> Result<Arc<SparseRows>, ProjectError> {
        let index = self.context.index();
        let texts = index.texts().get(..texts).unwrap_or_default();
        Ok(ngrams_of(&self.context, texts, NgramLimits::LIFTED)?.unwrap_or_default())
    }

    /// The embeddings of a run's texts, with n-grams only if the run learned from them.
    pub(crate) fn with_ngrams_of_run(
        &self,
        embeddings: Arc<Embeddings>,
        wanted: bool,
    ) -> Result<Arc<Embeddings>, ProjectError> {
        if embeddings.dim == 0 || embeddings.ngrams.is_some() == wanted {
            return Ok(embeddings);
        }
        let plain = Embeddings { ngrams: None, ..Embeddings::clone(&embeddings) };
        if !wanted {
            return Ok(Arc::new(plain));
        }
        let ngrams = self.ngrams_of_run(plain.texts)?;
        Ok(Arc::new(plain.with_ngrams(ngrams)?))
    }

    /// The embeddings in use for the texts of `question_data`, and their version. Texts that were imported
    /// since are left out.
    pub fn embeddings_for(
        &self,
        question_data: &QuestionData,
    ) -> Result<(Arc<Embeddings>, Option<String>), ProjectError> {
        let (all, basis) = self.embeddings()?;
        if all.texts < question_data.texts.len() {
            // An import has just ended and the index is about to follow it.
            return Err(ProjectError::Busy("import"));
        }
        Ok((first_texts(&all, question_data.texts.len())?, basis.version))
    }
}

/// One row per text of the index: its embedding, or the mean of all if it has none.
fn aligned(index: &Index, stored: &dissensus_store::Embeddings) -> Result<Embeddings, ProjectError> {
    let dim = stored.dim;
    let mut mean = vec![0.0_f64; dim];
    for row in stored.values.chunks_exact(dim) {
        mean.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
    }
    let count = stored.texts.len().max(1) as f64;
    let mean: Vec<f32> = mean.into_iter().map(|sum| (sum / count) as f32).collect();
    let mut rows: Vec<f32> = mean.iter().copied().cycle().take(index.texts().len() * dim).collect();
    for (text, values) in stored.texts.iter().zip(stored.values.chunks_exact(dim)) {
        if let Some(row) = index.text_row(*text) {
            rows[row as usize * dim..(row as usize + 1) * dim].copy_from_slice(values);
        }
    }
    Ok(Embeddings::new(dim, rows)?)
}

/// The rows of the first `texts` texts.
pub fn first_texts(all: &Arc<Embeddings>, texts: usize) -> Result<Arc<Embeddings>, ProjectError> {
    if all.texts == texts {
        return Ok(Arc::clone(all));
    }
    if all.texts < texts {
        // An import has just ended and the index is about to follow it.
        return Err(ProjectError::Busy("import"));
    }
    if all.dim == 0 {
        return Ok(Arc::new(Embeddings::none(texts)));
    }
    let rows = all.rows[..texts * all.dim].to_vec();
    let mut first = Embeddings::new(all.dim, rows)?;
    if let Some(tuned_on) = &all.tuned_on {
        first = first.with_tuned_on(tuned_on[..texts].into())?;
    }
    Ok(Arc::new(match &all.ngrams {
        Some(ngrams) => first.with_ngrams(Arc::new(ngrams.first(texts)))?,
        None => first,
    }))
}
