//! Embeddings of one encoder version: missing ones are computed and stored, batch by batch.

use super::Encoding;
use dissensus_domain::TextId;
use dissensus_encoder::{BatchPlan, Encoder};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_store::{EncoderVersion, Store, StoreError};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::Path;

/// Texts read from the file at once.
pub(super) const PAGE: u32 = 512;

/// Summary of an encoding.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Encoded {
    /// The encoder version.
    pub encoder: String,
    /// False if another encoder was activated meanwhile, which then stays the project's.
    pub in_use: bool,
    /// The device of the computation.
    pub device: String,
    /// Texts encoded by this call.
    pub texts: u64,
    /// Texts that had an embedding already.
    pub kept: u64,
    /// Tokens computed.
    pub tokens: u64,
    /// Texts truncated at the encoder's longest input.
    pub cut: u64,
    /// Texts longer than the encoder reads at once whose embedding is the mean over windows.
    pub averaged: u64,
    /// The windows of these texts.
    pub windows: u64,
    /// Seconds, without opening the encoder.
    pub seconds: f64,
    /// A note, for example on a device that could not be used.
    pub note: Option<String>,
}

impl Encoding {
    /// Registers an encoder version, opened from `dir`, in the project, with the record of its training in
    /// that folder.
    pub fn add_version(&self, encoder: &Encoder, dir: &Path) -> Result<(), ProjectError> {
        self.import_training_data(&encoder.version().weights_sha256, dir)?;
        let version = encoder.version();
        Ok(self.context.store.add_encoder_version(&EncoderVersion {
            key: version.key(),
            name: version.name.clone(),
            weights_sha256: version.weights_sha256.clone(),
            pooling: version.pooling.to_string(),
            max_tokens: version.max_tokens as u32,
            dim: version.dim as u32,
            precision: version.precision.to_string(),
        })?)
    }

    /// Gives every text an embedding of one encoder version that is registered in the project, in use or
    /// not.
    pub fn encode_version(
        &self,
        encoder: &Encoder,
        key: &str,
        progress: &dyn Progress,
    ) -> Result<Encoded, ProjectError> {
        // Dropped however it ends: finished embeddings are in the project, and those read meanwhile cover
        // only some texts.
        let _forget = ForgetAtEnd(self);
        self.copy_fitting_texts(encoder, key)?;
        let kept = u64::from(self.context.store.embedding_count(key)?);
        let total = self.context.index().texts().len() as u64;
        let started = std::time::Instant::now();
        let mut done = Encoded {
            encoder: key.to_owned(),
            in_use: false,
            device: encoder.device_name().to_owned(),
            texts: 0,
            kept,
            tokens: 0,
            cut: 0,
            averaged: 0,
            windows: 0,
            seconds: 0.0,
            note: encoder.device_note().map(str::to_owned),
        };
        progress.report(kept, Some(total), "");
        // Again until nothing is missing: texts may have been imported meanwhile.
        while !self.context.store.texts_without_embedding(key, None, 1)?.is_empty() {
            self.encode_once(encoder, key, &mut done, total, progress)?;
        }
        done.seconds = started.elapsed().as_secs_f64();
        Ok(done)
    }

    /// Encodes every text that has no embedding of this version, and stores each batch at once.
    fn encode_once(
        &self,
        encoder: &Encoder,
        key: &str,
        done: &mut Encoded,
        total: u64,
        progress: &dyn Progress,
    ) -> Result<(), ProjectError> {
        let missing = Missing::new(&self.context.store, key);
        let started = std::time::Instant::now();
        let (texts_before, tokens_before) = (done.texts, done.tokens);
        let mut failed = None;
        let stream = encoder.encode_stream(missing.bodies(), &BatchPlan::default(), |batch| {
            let kept: Vec<(TextId, Vec<f32>)> =
                batch.indices.iter().map(|index| missing.id(*index)).zip(batch.embeddings).collect();
            done.texts += kept.len() as u64;
            done.tokens = tokens_before + batch.tokens_done as u64;
            if let Err(error) = self.context.store.put_embeddings(key, &kept) {
                failed = Some(error);
                return ControlFlow::Break(());
            }
            let rate = |n: u64| n as f64 / started.elapsed().as_secs_f64().max(0.001);
            let (texts, tokens) = (rate(done.texts - texts_before), rate(done.tokens - tokens_before));
            progress.report(
                done.kept + done.texts,
                Some(total),
                &format!("{texts:.0} texts/s, {tokens:.0} tokens/s"),
            );
            progress.flow()
        });
        if let Some(error) = failed.or(missing.failure()) {
            return Err(error.into());
        }
        let ended = stream?;
        if ended.cancelled {
            return Err(ProjectError::Cancelled);
        }
        done.cut += ended.cut as u64;
        done.averaged += ended.averaged as u64;
        done.windows += ended.windows as u64;
        done.note = encoder.device_note().map(str::to_owned);
        Ok(())
    }
}

/// Drops cached embeddings at the end, also after an error, cancellation or a panic.
struct ForgetAtEnd<'a>(&'a Encoding);

impl Drop for ForgetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.forget_embeddings();
    }
}

/// Texts without an embedding, read page by page while earlier ones are encoded.
struct Missing<'a> {
    store: &'a Store,
    key: &'a str,
    /// Ids of all texts read so far, in the stream's order.
    ids: RefCell<Vec<TextId>>,
    failed: RefCell<Option<StoreError>>,
}

impl<'a> Missing<'a> {
    fn new(store: &'a Store, key: &'a str) -> Self {
        Self { store, key, ids: RefCell::default(), failed: RefCell::default() }
    }

    /// Their bodies, in row order; ends early if the file cannot be read.
    fn bodies(&self) -> impl Iterator<Item = String> + '_ {
        std::iter::from_fn(|| Some(self.page()).filter(|page| !page.is_empty())).flatten()
    }

    fn page(&self) -> Vec<String> {
        let mut ids = self.ids.borrow_mut();
        match self.store.texts_without_embedding(self.key, ids.last().copied(), PAGE) {
            Ok(page) => {
                ids.extend(page.iter().map(|(id, _)| *id));
                page.into_iter().map(|(_, body)| body).collect()
            }
            Err(error) => {
                *self.failed.borrow_mut() = Some(error);
                Vec::new()
            }
        }
    }

    fn id(&self, index: usize) -> TextId {
        self.ids.borrow()[index]
    }

    fn failure(&self) -> Option<StoreError> {
        self.failed.take()
    }
}
