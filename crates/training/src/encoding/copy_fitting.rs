//! Reuses embeddings when the treatment of long texts changes. Embeddings of texts that fit are the same
//! whether longer texts are averaged or cut, so only the long texts are encoded again.

use super::Encoding;
use super::version::PAGE;
use dissensus_domain::TextId;
use dissensus_encoder::Encoder;
use dissensus_project::error::ProjectError;
use std::collections::HashMap;

impl Encoding {
    /// Copies to `key`, the encoder's own, the embeddings of fitting texts from the version that treats long
    /// texts differently.
    pub(super) fn copy_fitting_texts(&self, encoder: &Encoder, key: &str) -> Result<(), ProjectError> {
        let other = encoder.version().sibling_key();
        if self.context.store.embedding_count(&other)? == 0 {
            return Ok(());
        }
        let stored = self.context.store.embeddings(&other)?;
        let rows: HashMap<TextId, &[f32]> =
            stored.texts.iter().copied().zip(stored.values.chunks_exact(stored.dim)).collect();
        let mut last = None;
        loop {
            let page = self.context.store.texts_without_embedding(key, last, PAGE)?;
            let Some((id, _)) = page.last() else { return Ok(()) };
            last = Some(*id);
            let bodies: Vec<&str> = page.iter().map(|(_, body)| body.as_str()).collect();
            let long = encoder.are_long(&bodies)?;
            let fitting = page.iter().zip(long).filter(|(_, long)| !long);
            let kept: Vec<(TextId, Vec<f32>)> =
                fitting.filter_map(|((id, _), _)| Some((*id, rows.get(id)?.to_vec()))).collect();
            self.context.store.put_embeddings(key, &kept)?;
        }
    }
}
