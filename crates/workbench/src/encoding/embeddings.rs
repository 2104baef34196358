//! Embeddings as models take them: a row a text.

use super::Encoding;
use crate::context::Material;
use crate::error::WorkbenchError;
use crate::sync::lock;
use dissensus_perspectives::Embeddings;
use std::sync::Arc;

impl Encoding {
    /// The embeddings in use, a row a text in file order, and their version; without an encoder rows of no numbers. A text
    /// without an embedding stands at the mean of the others.
    pub(crate) fn embeddings(&self) -> Result<(Arc<Embeddings>, Option<String>), WorkbenchError> {
        let mut cache = lock(&self.memory.embeddings);
        // Read under the lock: an encoder that comes into use meanwhile clears the cache after this, not before.
        let chosen = self.chosen()?;
        let texts = self.context.index().texts().len();
        let key = chosen.as_ref().map(|chosen| &chosen.key);
        if let Some((kept, version)) =
            cache.as_ref().filter(|(kept, version)| kept.texts == texts && version.as_ref() == key)
        {
            return Ok((Arc::clone(kept), version.clone()));
        }
        let loaded = match chosen {
            Some(chosen) if self.context.store.embedding_count(&chosen.key)? > 0 => {
                let stored = self.context.store.embeddings(&chosen.key)?;
                (Arc::new(self.aligned(&stored)?), Some(chosen.key))
            }
            _ => (Arc::new(Embeddings::none(texts)), None),
        };
        *cache = Some(loaded.clone());
        Ok(loaded)
    }

    /// The embeddings of one version, in use or not, as [`Encoding::embeddings`] gives them.
    pub(crate) fn embeddings_of(&self, key: &str) -> Result<Embeddings, WorkbenchError> {
        self.aligned(&self.context.store.embeddings(key)?)
    }

    fn aligned(&self, stored: &dissensus_store::Embeddings) -> Result<Embeddings, WorkbenchError> {
        let dim = stored.dim;
        let mut mean = vec![0.0_f64; dim];
        for row in stored.values.chunks_exact(dim) {
            mean.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        let count = stored.texts.len().max(1) as f64;
        let mean: Vec<f32> = mean.into_iter().map(|sum| (sum / count) as f32).collect();
        let index = self.context.index();
        let mut rows: Vec<f32> = mean.iter().copied().cycle().take(index.texts().len() * dim).collect();
        for (text, values) in stored.texts.iter().zip(stored.values.chunks_exact(dim)) {
            if let Some(row) = index.text_row(*text) {
                rows[row as usize * dim..(row as usize + 1) * dim].copy_from_slice(values);
            }
        }
        Ok(Embeddings::new(dim, rows)?)
    }

    /// The embeddings in use of the texts of `material`, and their version. Texts that were imported since are left out.
    pub(crate) fn embeddings_for(
        &self,
        material: &Material,
    ) -> Result<(Arc<Embeddings>, Option<String>), WorkbenchError> {
        let (all, key) = self.embeddings()?;
        if all.texts < material.texts.len() {
            // An import has just ended and the index is about to follow it.
            return Err(WorkbenchError::Busy("import"));
        }
        Ok((first_texts(&all, material.texts.len())?, key))
    }
}

/// The rows of the first `texts` texts.
pub(crate) fn first_texts(all: &Arc<Embeddings>, texts: usize) -> Result<Arc<Embeddings>, WorkbenchError> {
    if all.texts == texts {
        return Ok(Arc::clone(all));
    }
    if all.dim == 0 {
        return Ok(Arc::new(Embeddings::none(texts)));
    }
    let rows = all.rows.get(..texts * all.dim).unwrap_or(&all.rows).to_vec();
    Ok(Arc::new(Embeddings::new(all.dim, rows)?))
}
