//! The encoder: opens a folder and computes embeddings of texts.

use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use candle_core::{DType, Device, Result as CandleResult, Tensor};

use crate::batches::{Batch, BatchPlan};
use crate::blocks::{ForwardCtx, Sizes, Transformer, embed};
use crate::device;
use crate::error::EncoderError;
use crate::identity::EncoderVersion;
use crate::open::{EncoderParts, FixedProperties, Source, open_folder};
use crate::options::EncoderOptions;
use crate::pooling::join_windows;
use crate::token_batch::TokenBatch;
use crate::tokens::{Located, Tokenized, Tokens, Window};
use crate::workers::Workers;

/// Number of texts that are tokenized between two checks for a stop.
const TOKENIZED_TOGETHER: usize = 64;

/// One finished batch of [`Encoder::encode_stream`].
#[derive(Clone, Debug, PartialEq)]
pub struct BatchDone {
    /// Positions of the texts in the stream, from 0.
    pub indices: Vec<usize>,
    /// Their embeddings, in the same order, each of [`EncoderVersion::dim`] components.
    pub embeddings: Vec<Vec<f32>>,
    /// Number of tokens computed for this batch; texts with the same tokens are computed once.
    pub tokens: usize,
    /// Number of texts in this batch that were cut to the longest input.
    pub cut: usize,
    /// Number of texts in this batch that were read in several windows.
    pub averaged: usize,
    /// Number of texts done so far in this stream, including this batch.
    pub texts_done: usize,
    /// Number of tokens computed so far in this stream.
    pub tokens_done: usize,
}

/// Summary of a finished or cancelled stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamDone {
    /// Number of texts whose embeddings were passed to `on_batch`.
    pub texts: usize,
    /// Number of tokens computed for them.
    pub tokens: usize,
    /// Number of texts that were cut.
    pub cut: usize,
    /// Number of texts longer than the encoder can read at once that were averaged over windows.
    pub averaged: usize,
    /// Number of windows of these texts.
    pub windows: usize,
    /// True if `on_batch` ended the stream early.
    pub cancelled: bool,
}

/// A frozen encoder. It can be shared between threads; concurrent calls alternate batch by batch.
pub struct Encoder {
    version: EncoderVersion,
    tokens: Arc<Tokens>,
    transformer: Box<dyn Transformer>,
    device: Device,
    note: Option<String>,
    /// Note that is set once a batch had to be split.
    shrunk: OnceLock<String>,
    workers: Workers,
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder")
            .field("version", &self.version)
            .field("device", &self.device_name())
            .finish()
    }
}

impl Encoder {
    /// Opens a folder with config.json, tokenizer.json and model.safetensors (one file, or several and
    /// their index), and validates all of it: see [`EncoderError`] for what can be wrong. A folder with a
    /// catalogue encoder's name must have exactly its files.
    ///
    /// # Errors
    /// What is wrong with the folder or the options, and what to do.
    pub fn open(dir: &Path, options: &EncoderOptions) -> Result<Self, EncoderError> {
        Self::from_opened(open_folder(dir, options, &Source::default())?, options)
    }

    /// Opens the encoder of a folder with some of its weights replaced, by full name, reusing what is
    /// already `known`.
    pub(crate) fn with_learned(
        dir: &Path,
        options: &EncoderOptions,
        learned: HashMap<String, Tensor>,
        known: FixedProperties,
    ) -> Result<Self, EncoderError> {
        let source = Source { learning: None, learned, known: Some(known) };
        Self::from_opened(open_folder(dir, options, &source)?, options)
    }

    fn from_opened(opened: EncoderParts, options: &EncoderOptions) -> Result<Self, EncoderError> {
        let EncoderParts { version, tokens, transformer, device, note, .. } = opened;
        Ok(Self {
            version,
            tokens,
            transformer,
            workers: Workers::start(device.is_cpu(), options.threads)?,
            device,
            note,
            shrunk: OnceLock::new(),
        })
    }

    /// The version that its embeddings are filed under.
    #[must_use]
    pub fn version(&self) -> &EncoderVersion {
        &self.version
    }

    /// Name of the device: cpu, cuda or metal.
    #[must_use]
    pub fn device_name(&self) -> &'static str {
        device::name(&self.device)
    }

    /// A one-line note where `auto` could not use a device that is compiled in, or the device did not have
    /// enough memory for whole batches.
    #[must_use]
    pub fn device_note(&self) -> Option<&str> {
        self.shrunk.get().or(self.note.as_ref()).map(String::as_str)
    }

    /// Counts the tokens that are read of each text, in all its windows, including special tokens.
    ///
    /// # Errors
    /// [`EncoderError::Tokenize`] or [`EncoderError::NoTokens`] with the position of the text.
    pub fn count_tokens(&self, texts: &[&str]) -> Result<Vec<usize>, EncoderError> {
        Ok(self.tokens.tokenize(texts, 0)?.iter().map(|t| t.windows.iter().map(Vec::len).sum()).collect())
    }

    /// Whether each text is longer than the encoder can read at once.
    pub fn are_long(&self, texts: &[&str]) -> Result<Vec<bool>, EncoderError> {
        Ok(self.tokenize(texts, 0)?.iter().map(|text| text.cut || text.windows.len() > 1).collect())
    }

    /// Returns the embeddings of these texts, in order, each of [`EncoderVersion::dim`] components.
    ///
    /// # Errors
    /// A text that cannot be tokenized or has no finite embedding, or a device that fails.
    pub fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EncoderError> {
        let mut all = vec![Vec::new(); texts.len()];
        self.encode_stream(texts, &BatchPlan::default(), |batch| {
            for (index, embedding) in batch.indices.into_iter().zip(batch.embeddings) {
                all[index] = embedding;
            }
            ControlFlow::Continue(())
        })?;
        Ok(all)
    }

    /// Streaming form of [`Encoder::encode`]: passes on every batch when it is done, so that it can be
    /// stored and a later run can continue with the remaining texts. Batches come in no particular order.
    /// `on_batch` runs on the calling thread; breaking ends the stream and discards the batches in
    /// progress, less than a second's work for the catalogue's default encoder.
    ///
    /// Memory is bounded by the plan's window, not by the number of texts.
    ///
    /// # Errors
    /// Those of [`Encoder::encode`]; batches passed on before stay valid.
    pub fn encode_stream<I, T>(
        &self,
        texts: I,
        plan: &BatchPlan,
        mut on_batch: impl FnMut(BatchDone) -> ControlFlow<()>,
    ) -> Result<StreamDone, EncoderError>
    where
        I: IntoIterator<Item = T>,
        T: AsRef<str>,
    {
        let mut texts = texts.into_iter();
        let mut done = StreamDone::default();
        let mut read = 0;
        let mut window = next_window(&mut texts, plan);
        let mut tokenized = self.tokenize(&window, read)?;
        while !window.is_empty() {
            let batch_tokens = plan.batch_tokens.unwrap_or_else(|| self.batch_tokens());
            let batches = crate::batches::batches(tokenized, read, batch_tokens);
            read += window.len();
            // The next window is tokenized while this one is computed.
            let next = next_window(&mut texts, plan);
            let borrowed: Vec<&str> = next.iter().map(AsRef::as_ref).collect();
            let stop = AtomicBool::new(false);
            let (flow, ahead) = std::thread::scope(|scope| {
                let ahead = scope.spawn(|| self.tokenize_unless(&stop, &borrowed, read));
                let flow = self.workers.run(
                    &batches,
                    |batch| self.embed(batch, batch_tokens),
                    |batch, embeddings| on_batch(finish_batch(batch, embeddings, &mut done)),
                );
                stop.store(!matches!(flow, Ok(ControlFlow::Continue(()))), Ordering::Relaxed);
                (flow, ahead.join())
            });
            if flow?.is_break() {
                done.cancelled = true;
                return Ok(done);
            }
            tokenized = match ahead {
                Ok(tokenized) => tokenized?,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            window = next;
        }
        Ok(done)
    }

    fn tokenize<T: AsRef<str>>(&self, window: &[T], first: usize) -> Result<Vec<Tokenized>, EncoderError> {
        let borrowed: Vec<&str> = window.iter().map(AsRef::as_ref).collect();
        self.workers.tokenize(|| self.tokens.tokenize(&borrowed, first))
    }

    /// Tokenizes in parts, so that a stop does not wait for all texts. After a stop the result is
    /// incomplete and unused.
    fn tokenize_unless(
        &self,
        stop: &AtomicBool,
        texts: &[&str],
        first: usize,
    ) -> Result<Vec<Tokenized>, EncoderError> {
        let mut all = Vec::with_capacity(texts.len());
        for part in texts.chunks(TOKENIZED_TOGETHER) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let first = first + all.len();
            all.extend(self.workers.tokenize(|| self.tokens.tokenize(part, first))?);
        }
        Ok(all)
    }

    /// Returns every hidden state of a text (for a long text, of its first window), the embeddings' first:
    /// `[layers + 1][tokens][dim]`.
    pub fn hidden_states(&self, text: &str) -> Result<Vec<Vec<Vec<f32>>>, EncoderError> {
        let ids = self
            .tokenize(&[text], 0)?
            .into_iter()
            .flat_map(|mut text| text.windows.swap_remove(0))
            .collect::<Vec<_>>();
        let batch = TokenBatch { lengths: vec![ids.len()], ids };
        let ctx = ForwardCtx::inference(&batch.lengths, &self.device).keeping_all();
        self.transformer
            .forward(&batch, &ctx)
            .and_then(|states| {
                states.into_all().iter().map(|state| state.to_dtype(DType::F32)?.to_vec2::<f32>()).collect()
            })
            .map_err(|source| EncoderError::Compute { device: self.device_name(), source })
    }

    pub(crate) fn transformer(&self) -> &dyn Transformer {
        self.transformer.as_ref()
    }

    pub(crate) fn sizes(&self) -> Sizes {
        self.transformer.sizes()
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// Tokenizes the texts, with positions.
    pub(crate) fn locate(&self, texts: &[&str]) -> Result<Vec<Located>, EncoderError> {
        self.workers.tokenize(|| self.tokens.locate(texts, 0))
    }

    pub(crate) fn windows_over(&self, text: &Located) -> Vec<Window> {
        self.tokens.windows_over(text)
    }

    /// Runs `work` for every item on the threads of this encoder, and passes each result to this thread
    /// when it is done.
    pub(crate) fn run_batches<B: Sync, R: Send>(
        &self,
        batches: &[B],
        work: impl Fn(&B) -> Result<R, EncoderError> + Sync,
        on_done: impl FnMut(&B, R) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EncoderError> {
        self.workers.run(batches, work, on_done)
    }

    /// Computes the embeddings of a batch's distinct texts.
    fn embed(&self, batch: &Batch, batch_tokens: usize) -> Result<Vec<Vec<f32>>, EncoderError> {
        let EncoderVersion { pooling, normalised, .. } = self.version;
        let compute = |tokens: &TokenBatch| {
            let ctx = ForwardCtx::inference(&tokens.lengths, &self.device);
            embed(self.transformer.as_ref(), tokens, &ctx, pooling, false)
        };
        let mut smaller = false;
        let mut embeddings = Vec::with_capacity(batch.tokens.lengths.len());
        // A single part, except for a text with very many windows.
        for part in batch.tokens.parts(self.batch_tokens().max(batch_tokens)) {
            let part = in_parts(&part, &compute, &mut smaller)
                .map_err(|source| EncoderError::Compute { device: self.device_name(), source })?;
            embeddings.extend(part);
        }
        let embeddings = join_windows(embeddings, &batch.windows, pooling, normalised);
        if smaller {
            self.shrunk.get_or_init(|| {
                format!("{} is out of memory: going on in smaller batches", self.device_name())
            });
        }
        match embeddings.iter().position(|e| e.iter().any(|v| !v.is_finite())) {
            Some(bad) => Err(EncoderError::EmbeddingNotFinite { index: batch.places[bad][0] }),
            None => Ok(embeddings),
        }
    }

    /// Default number of tokens in a batch. On the CPU it is small enough that the activations fit in the
    /// cache and cancellation takes effect quickly; elsewhere it is large, because each operation costs a
    /// launch.
    pub(crate) fn batch_tokens(&self) -> usize {
        if !self.device.is_cpu() {
            return 16_384;
        }
        let quick = 3_000_000_000 / self.transformer.sizes().macs_per_token.max(1);
        quick.clamp(64, 512)
    }
}

/// Takes the next texts of a stream that are sorted together.
fn next_window<T: AsRef<str>>(texts: &mut impl Iterator<Item = T>, plan: &BatchPlan) -> Vec<T> {
    let mut window = Vec::new();
    let mut bytes = 0;
    while window.len() < plan.window_texts.max(1) && bytes < plan.window_bytes.max(1) {
        let Some(text) = texts.next() else { break };
        bytes += text.as_ref().len();
        window.push(text);
    }
    window
}

/// Computes a batch; where the device runs out of memory, its halves, recursively down to a single text.
/// `smaller` is set then.
fn in_parts(
    batch: &TokenBatch,
    compute: &dyn Fn(&TokenBatch) -> CandleResult<Vec<Vec<f32>>>,
    smaller: &mut bool,
) -> CandleResult<Vec<Vec<f32>>> {
    match compute(batch) {
        Err(error) if batch.lengths.len() > 1 && is_out_of_memory(&error) => {
            *smaller = true;
            let (first, second) = batch.halves();
            let mut embeddings = in_parts(&first, compute, smaller)?;
            embeddings.extend(in_parts(&second, compute, smaller)?);
            Ok(embeddings)
        }
        other => other,
    }
}

/// Recognises out-of-memory errors by the drivers' messages: the tensor library has no error kind for them.
fn is_out_of_memory(error: &candle_core::Error) -> bool {
    let text = error.to_string().to_lowercase();
    ["out of memory", "out_of_memory", "insufficient memory", "failed to allocate"]
        .iter()
        .any(|words| text.contains(words))
}

fn finish_batch(batch: &Batch, embeddings: Vec<Vec<f32>>, done: &mut StreamDone) -> BatchDone {
    let tokens = batch.tokens.ids.len();
    let indices: Vec<usize> = batch.places.iter().flatten().copied().collect();
    let embeddings =
        batch.places.iter().zip(embeddings).flat_map(|(places, e)| vec![e; places.len()]).collect();
    done.texts += indices.len();
    done.tokens += tokens;
    done.cut += batch.cut;
    let (averaged, windows) = batch.averaged();
    done.averaged += averaged;
    done.windows += windows;
    BatchDone {
        indices,
        embeddings,
        tokens,
        cut: batch.cut,
        averaged,
        texts_done: done.texts,
        tokens_done: done.tokens,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(lengths: &[usize]) -> TokenBatch {
        TokenBatch { ids: (0..lengths.iter().sum::<usize>() as u32).collect(), lengths: lengths.to_vec() }
    }

    /// Simulates a device with room for `most` tokens and its error message beyond that.
    fn small_device(most: usize, words: &'static str) -> impl Fn(&TokenBatch) -> CandleResult<Vec<Vec<f32>>> {
        move |batch| {
            if batch.ids.len() > most {
                candle_core::bail!("{words}");
            }
            let mut ids = batch.ids.iter();
            let mut first_of =
                |n: &usize| ids.by_ref().take(*n).map(|id| *id as f32).collect::<Vec<_>>()[..1].to_vec();
            Ok(batch.lengths.iter().map(&mut first_of).collect())
        }
    }

    #[test]
    fn batch_too_large_for_the_device_is_split() {
        let mut smaller = false;
        let compute = small_device(5, "CUDA_ERROR_OUT_OF_MEMORY");
        let parts = in_parts(&batch(&[2, 3, 1, 5, 1]), &compute, &mut smaller).unwrap();
        // Ids are consecutive numbers, so that each text is identified by its first.
        let whole = small_device(100, "")(&batch(&[2, 3, 1, 5, 1])).unwrap();
        assert_eq!(parts, whole);
        assert!(smaller);
    }

    #[test]
    fn single_large_text_and_other_errors_are_reported() {
        let mut smaller = false;
        assert!(in_parts(&batch(&[9]), &small_device(5, "out of memory"), &mut smaller).is_err());
        assert!(in_parts(&batch(&[9, 1]), &small_device(5, "shape mismatch"), &mut smaller).is_err());
        assert!(!smaller);
    }
}
