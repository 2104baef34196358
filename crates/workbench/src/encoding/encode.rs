//! Encoding: every text gets an embedding of the project's encoder version, once.

use super::ActiveEncoder;
use crate::core::Core;
use crate::encoding::encoders::{Chosen, EncoderChoice};
use crate::error::WorkbenchError;
use crate::event::Event;
use crate::jobs::{Activity, Observer, Unwatched};
use crate::session::Session;
use crate::sync::lock;
use crate::view::{EncodingState, JobInfo, Problem};
use dissensus_domain::TextId;
use dissensus_encoder::{BatchPlan, Encoder};
use dissensus_perspectives::Embeddings;
use dissensus_store::{EncoderVersion, Store, StoreError};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Texts read from the file at once.
pub(super) const PAGE: u32 = 512;

/// What an encoding did.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Encoded {
    /// The encoder version.
    pub encoder: String,
    /// False where another encoder came into use meanwhile: that one stays the project's.
    pub in_use: bool,
    /// Where it was computed.
    pub device: String,
    /// Texts encoded now.
    pub texts: u64,
    /// Texts that had an embedding already.
    pub kept: u64,
    /// Tokens computed.
    pub tokens: u64,
    /// Texts cut at the encoder's longest input.
    pub cut: u64,
    /// Texts longer than the encoder reads at once whose embedding is the mean over windows.
    pub averaged: u64,
    /// The windows of these texts.
    pub windows: u64,
    /// Seconds, without opening the encoder.
    pub seconds: f64,
    /// What to know, such as a device that could not be used.
    pub note: Option<String>,
}

/// A project's embeddings are another encoder version's than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncoderSwitch {
    /// Key of the version before.
    pub from: String,
    /// Key of the version now.
    pub to: String,
}

impl Session {
    /// Gives every text an embedding of the chosen encoder, going on where an earlier call stopped, and makes that encoder the
    /// project's. Another version than before is encoded anew; the old embeddings stay in the file.
    ///
    /// # Errors
    /// No encoder, a wrong or damaged one, a text that cannot be encoded, a full disk, or a cancel. What was finished is kept.
    pub fn encode(&self, choice: &EncoderChoice, observer: &dyn Observer) -> Result<Encoded, WorkbenchError> {
        let core = &self.core;
        let _reserved = core.reservations.reserve(Activity::Encoding)?;
        let seen = core.active_encoder()?;
        let (encoder, chosen, _) = core.open_encoder(choice, seen.current.as_ref(), observer)?;
        core.encode_and_choose(&encoder, &chosen, &seen, observer)
    }

    /// Encodes what has no embedding, in the background, with the encoder as it is now.
    ///
    /// # Errors
    /// No encoder was found, every text has its embedding, or an encoding is under way.
    pub fn start_encoding(&self) -> Result<JobInfo, WorkbenchError> {
        self.start_encoding_with(EncoderChoice::default())
    }

    /// The same with a chosen encoder, which becomes the project's.
    ///
    /// # Errors
    /// As [`Session::start_encoding`].
    pub fn start_encoding_with(&self, choice: EncoderChoice) -> Result<JobInfo, WorkbenchError> {
        self.core.start_encoding(choice)
    }

    /// Makes sure that every text has an embedding of the project's encoder (or of the one chosen, which becomes the
    /// project's), encoding what is missing.
    /// A project open to read must have them already.
    ///
    /// # Errors
    /// As [`Session::encode`]; [`WorkbenchError::NotEncoded`] for a reader; [`WorkbenchError::EncoderChanged`] where the encoder
    /// at hand is no longer the one that made the project's embeddings.
    pub fn ensure_encoded(
        &self,
        choice: &EncoderChoice,
        observer: &dyn Observer,
    ) -> Result<Option<EncoderSwitch>, WorkbenchError> {
        let core = &self.core;
        let seen = core.active_encoder()?;
        let before = seen.current.clone();
        let named = choice.encoder.is_some()
            || choice.pooling.is_some()
            || choice.precision.is_some()
            || choice.long_texts.is_some()
            || choice.prompt.is_some();
        let complete = core.encoding_state()?.encoded as usize == core.index().texts().len();
        if before.is_some() && complete && !named {
            return Ok(None);
        }
        if self.is_reader() {
            return Err(WorkbenchError::NotEncoded(self.path().to_owned()));
        }
        let (encoder, chosen, dir) = core.open_encoder(choice, before.as_ref(), observer)?;
        if let Some(before) = before.as_ref().filter(|before| before.key != chosen.key && !named) {
            return Err(WorkbenchError::EncoderChanged {
                stored: before.key.clone(),
                dir,
                found: chosen.key,
            });
        }
        let _reserved = core.reservations.reserve(Activity::Encoding)?;
        let done = core.encode_and_choose(&encoder, &chosen, &seen, observer)?;
        let switched = before.filter(|before| done.in_use && before.key != chosen.key);
        Ok(switched.map(|before| EncoderSwitch { from: before.key, to: chosen.key }))
    }

    /// The embedding of a text that is not in the project, by the project's encoder.
    ///
    /// # Errors
    /// The project has no embeddings, no encoder is there, or it is another one than the project's.
    pub fn embed(&self, text: &str, choice: &EncoderChoice) -> Result<Vec<f32>, WorkbenchError> {
        let core = &self.core;
        let before = core.chosen()?.ok_or_else(|| WorkbenchError::NotEncoded(self.path().to_owned()))?;
        let choice = EncoderChoice { device: choice.device, ..EncoderChoice::default() };
        let (encoder, now, dir) = core.open_encoder(&choice, Some(&before), &Unwatched)?;
        if now.key != before.key {
            return Err(WorkbenchError::EncoderChanged { stored: before.key, dir, found: now.key });
        }
        Ok(encoder.encode(&[text])?.swap_remove(0))
    }
}

impl Core {
    /// See [`Session::start_encoding_with`].
    fn start_encoding(self: &Arc<Self>, choice: EncoderChoice) -> Result<JobInfo, WorkbenchError> {
        let reserved = self.reservations.reserve(Activity::Encoding)?;
        let found = self.find_encoder(choice.encoder.as_deref(), self.chosen()?.as_ref())?;
        let state = self.encoding_state()?;
        if choice.encoder.is_none() && state.encoded == state.total {
            return Err(WorkbenchError::NothingToEncode);
        }
        let job = self.jobs.begin(&self.store, &self.listeners, "encode", &found.name)?;
        let info = job.info();
        let at_work = Arc::clone(&job);
        let started = self.threads.spawn(self, "encode", move |core| {
            let before = core.active_encoder();
            let result = core.finish_job("encoding", &at_work, |job| core.encode_missing(&choice, job.as_ref()));
            core.note_encoding_problem(result.as_ref().err().map(WorkbenchError::problem));
            drop(reserved);
            // Another encoder came into use meanwhile, and whoever did that found this encoding at work.
            let switched = matches!((&before, core.active_encoder()), (Ok(before), Ok(now)) if before.key() != now.key());
            if !(switched && !at_work.cancelled() && core.start_encoding(EncoderChoice::default()).is_ok()) {
                core.fit_all();
            }
        });
        if let Err(error) = started {
            let ended: Result<JobInfo, _> = Err(error);
            self.jobs.end(&self.store, &job, &ended);
            return ended;
        }
        Ok(info)
    }

    /// Encodes what is missing with the encoder in use, and stops where another one comes into use; or with the one that is
    /// named, which comes into use.
    fn encode_missing(
        &self,
        choice: &EncoderChoice,
        observer: &dyn Observer,
    ) -> Result<Encoded, WorkbenchError> {
        let seen = self.active_encoder()?;
        let (encoder, chosen, _) = self.open_encoder(choice, seen.current.as_ref(), observer)?;
        if choice.encoder.is_some() {
            return self.encode_and_choose(&encoder, &chosen, &seen, observer);
        }
        let observer = WhileInUse { core: self, seen: &seen, chosen: &chosen, observer };
        self.encode_and_choose(&encoder, &chosen, &seen, &observer)
    }

    pub(crate) fn encoding_state(&self) -> Result<EncodingState, WorkbenchError> {
        let chosen = self.chosen()?;
        let total = self.index().texts().len() as u32;
        let encoded = match &chosen {
            Some(chosen) => self.store.embedding_count(&chosen.key)?,
            None => 0,
        };
        let missing = || self.find_encoder(None, chosen.as_ref()).err().map(|error| error.problem());
        let problem = if encoded < total { missing().or_else(|| self.encoding_problem()) } else { None };
        Ok(EncodingState { version: chosen.as_ref().map(|c| c.key.clone()), encoded, total, problem })
    }

    fn note_encoding_problem(&self, problem: Option<Problem>) {
        let problem = problem.filter(|problem| problem.code != "cancelled");
        *lock(&self.live.encoding_problem) = problem;
    }

    fn encoding_problem(&self) -> Option<Problem> {
        lock(&self.live.encoding_problem).clone()
    }

    /// Gives every text an embedding and makes the encoder the project's, unless another step changed that after `seen`.
    fn encode_and_choose(
        &self,
        encoder: &Encoder,
        chosen: &Chosen,
        seen: &ActiveEncoder,
        observer: &dyn Observer,
    ) -> Result<Encoded, WorkbenchError> {
        self.add_version(encoder)?;
        let mut seen = seen.clone();
        if seen.current.is_none() && self.begin_with_encoder(chosen)? {
            seen = self.active_encoder()?;
        }
        let mut done = self.encode_version(encoder, &chosen.key, observer)?;
        done.in_use = match seen.key() == Some(chosen.key.as_str()) {
            // Nothing to choose: these were texts that the encoder in use had not seen.
            true => self.active_encoder()?.key() == Some(chosen.key.as_str()),
            false => self.choose_encoder(chosen, &seen)?,
        };
        if !done.in_use {
            let note = "Another encoder came into use meanwhile and stays in use; these embeddings are kept.";
            done.note = Some(done.note.map_or_else(|| note.to_owned(), |known| format!("{known} {note}")));
        }
        self.live.forget_embeddings();
        self.listeners.send(&Event::Project);
        Ok(done)
    }

    pub(crate) fn add_version(&self, encoder: &Encoder) -> Result<(), WorkbenchError> {
        let version = encoder.version();
        Ok(self.store.add_encoder_version(&EncoderVersion {
            key: version.key(),
            name: version.name.clone(),
            weights_sha256: version.weights_sha256.clone(),
            pooling: version.pooling.to_string(),
            max_tokens: version.max_tokens as u32,
            dim: version.dim as u32,
            precision: version.precision.to_string(),
        })?)
    }

    /// Gives every text an embedding of one encoder version, in use or not.
    pub(crate) fn encode_version(
        &self,
        encoder: &Encoder,
        key: &str,
        observer: &dyn Observer,
    ) -> Result<Encoded, WorkbenchError> {
        self.add_version(encoder)?;
        self.take_over_fitting(encoder, key)?;
        let kept = u64::from(self.store.embedding_count(key)?);
        let total = self.index().texts().len() as u64;
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
        observer.step(kept, Some(total), "");
        // Again until nothing is missing: texts may have been imported meanwhile.
        while !self.store.texts_without_embedding(key, None, 1)?.is_empty() {
            self.encode_once(encoder, key, &mut done, total, observer)?;
        }
        done.seconds = started.elapsed().as_secs_f64();
        Ok(done)
    }

    /// Encodes every text that has no embedding of this version, and stores each batch as it comes.
    fn encode_once(
        &self,
        encoder: &Encoder,
        key: &str,
        done: &mut Encoded,
        total: u64,
        observer: &dyn Observer,
    ) -> Result<(), WorkbenchError> {
        let missing = Missing::new(&self.store, key);
        let started = std::time::Instant::now();
        let (texts_before, tokens_before) = (done.texts, done.tokens);
        let mut failed = None;
        let stream = encoder.encode_stream(missing.bodies(), &BatchPlan::default(), |batch| {
            let kept: Vec<(TextId, Vec<f32>)> =
                batch.indices.iter().map(|index| missing.id(*index)).zip(batch.embeddings).collect();
            done.texts += kept.len() as u64;
            done.tokens = tokens_before + batch.tokens_done as u64;
            if let Err(error) = self.store.put_embeddings(key, &kept) {
                failed = Some(error);
                return ControlFlow::Break(());
            }
            let rate = |n: u64| n as f64 / started.elapsed().as_secs_f64().max(0.001);
            let (texts, tokens) = (rate(done.texts - texts_before), rate(done.tokens - tokens_before));
            observer.step(
                done.kept + done.texts,
                Some(total),
                &format!("{texts:.0} texts/s, {tokens:.0} tokens/s"),
            );
            if observer.cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if let Some(error) = failed.or(missing.failure()) {
            return Err(error.into());
        }
        let ended = stream?;
        if ended.cancelled {
            return Err(WorkbenchError::Cancelled);
        }
        done.cut += ended.cut as u64;
        done.averaged += ended.averaged as u64;
        done.windows += ended.windows as u64;
        done.note = encoder.device_note().map(str::to_owned);
        Ok(())
    }

    /// The embeddings in use, a row a text in file order, and their version; without an encoder rows of no numbers. A text
    /// without an embedding stands at the mean of the others.
    pub(crate) fn embeddings(&self) -> Result<(Arc<Embeddings>, Option<String>), WorkbenchError> {
        let mut cache = lock(&self.live.embeddings);
        // Read under the lock: an encoder that comes into use meanwhile clears the cache after this, not before.
        let chosen = self.chosen()?;
        let texts = self.index().texts().len();
        let key = chosen.as_ref().map(|chosen| &chosen.key);
        if let Some((kept, version)) =
            cache.as_ref().filter(|(kept, version)| kept.texts == texts && version.as_ref() == key)
        {
            return Ok((Arc::clone(kept), version.clone()));
        }
        let loaded = match chosen {
            Some(chosen) if self.store.embedding_count(&chosen.key)? > 0 => {
                let stored = self.store.embeddings(&chosen.key)?;
                (Arc::new(self.aligned(&stored)?), Some(chosen.key))
            }
            _ => (Arc::new(Embeddings::none(texts)), None),
        };
        *cache = Some(loaded.clone());
        Ok(loaded)
    }

    /// The embeddings of one version, in use or not, as [`Core::embeddings`] gives them.
    pub(crate) fn embeddings_of(&self, key: &str) -> Result<Embeddings, WorkbenchError> {
        self.aligned(&self.store.embeddings(key)?)
    }

    fn aligned(&self, stored: &dissensus_store::Embeddings) -> Result<Embeddings, WorkbenchError> {
        let dim = stored.dim;
        let mut mean = vec![0.0_f64; dim];
        for row in stored.values.chunks_exact(dim) {
            mean.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        let count = stored.texts.len().max(1) as f64;
        let mean: Vec<f32> = mean.into_iter().map(|sum| (sum / count) as f32).collect();
        let index = self.index();
        let mut rows: Vec<f32> = mean.iter().copied().cycle().take(index.texts().len() * dim).collect();
        for (text, values) in stored.texts.iter().zip(stored.values.chunks_exact(dim)) {
            if let Some(row) = index.text_row(*text) {
                rows[row as usize * dim..(row as usize + 1) * dim].copy_from_slice(values);
            }
        }
        Ok(Embeddings::new(dim, rows)?)
    }
}

/// Stops an encoding in the background when another encoder comes into use.
struct WhileInUse<'a> {
    core: &'a Core,
    seen: &'a ActiveEncoder,
    chosen: &'a Chosen,
    observer: &'a dyn Observer,
}

impl Observer for WhileInUse<'_> {
    fn step(&self, done: u64, total: Option<u64>, note: &str) {
        self.observer.step(done, total, note);
    }

    fn cancelled(&self) -> bool {
        // What cannot be read now is no reason to stop; it will be told when the embeddings are kept.
        let switched = self
            .core
            .active_encoder()
            .is_ok_and(|now| now.current != self.seen.current && now.key() != Some(self.chosen.key.as_str()));
        switched || self.observer.cancelled()
    }
}

/// Texts without an embedding, read page by page while those before are computed.
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

    /// Their bodies, in row order; ends early where the file cannot be read.
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
