//! A trainable encoder: differentiable embeddings of a batch, and the gradients of a loss on them.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use candle_core::{Device, Result as CandleResult, Tensor, Var};

use super::accumulate::{Accumulator, Part, TableRows};
use super::gradients::{Gradients, detached_gradient};
use crate::blocks::{
    ForwardCtx, Group, ParamRegistry, Parameter, PlacedAdapter, Transformer, pool_tensor,
    pool_tensor_and_states,
};
use crate::device;
use crate::encoder::Encoder;
use crate::error::EncoderError;
use crate::folder::Folder;
use crate::freeze_policy::FreezePolicy;
use crate::identity::EncoderVersion;
use crate::open::{EncoderParts, FixedProperties, Source, open_folder};
use crate::options::{EncoderOptions, Pooling};
use crate::token_batch::TokenBatch;
use crate::tokens::{Located, Tokens};
use crate::workers::Workers;

/// Maximum bytes of gradients held at a time in addition to their sum.
const GRADIENT_BYTES: usize = 2 << 30;

/// Maximum number of parts: with more, each part of a usual batch of 16 texts would be only a text or two.
const MAX_PARTS: usize = 8;

/// An encoder with trainable weights. Opens the same folders as [`Encoder`]; computes embeddings for a loss,
/// and writes folders that [`Encoder`] opens.
///
/// ```
/// use std::path::Path;
///
/// use candle_core::{DType, Device, Var};
/// use dissensus_encoder::{
///     AdamW, AdamWSettings, DeviceChoice, EncoderOptions, FreezePolicy, LayerRates, Trainable,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tiny");
/// let options = EncoderOptions { device: DeviceChoice::Cpu, ..EncoderOptions::default() };
/// let encoder = Trainable::open(&folder, &options, &FreezePolicy::LastK(1), 7)?;
/// let texts = encoder.tokenize(&["this is fair", "you are bad"])?;
/// let target = [1.0f32, -1.0];
///
/// // A head on top: one number for each text.
/// let head = Var::zeros((encoder.version().dim, 1), DType::F32, &Device::Cpu)?;
/// let mut optimizer = AdamW::new(AdamWSettings::default());
/// let mut losses = Vec::new();
/// for step in 0..40 {
///     let gradients = encoder.gradients(&texts, Some(step), &[("head", &head)], |embeddings, share| {
///         let wished = candle_core::Tensor::new(&target[share], &Device::Cpu)?;
///         (embeddings.matmul(&head)?.squeeze(1)? - wished)?.sqr()?.sum_all()
///     })?;
///     losses.push(gradients.loss);
///     let rates = LayerRates { encoder: 0.01, head: 0.3, decay: 0.9 };
///     optimizer.step(&gradients, |group| rates.of(group, encoder.layers()))?;
/// }
/// assert!(losses[39] < losses[0] / 2.0, "{losses:?}");
/// # Ok(())
/// # }
/// ```
pub struct Trainable {
    pub(super) folder: Folder,
    pub(super) placed: Vec<PlacedAdapter>,
    options: EncoderOptions,
    wished_tokens: usize,
    version: EncoderVersion,
    tokens: Arc<Tokens>,
    transformer: Box<dyn Transformer>,
    parameters: Vec<Parameter>,
    policy: FreezePolicy,
    layers: usize,
    device: Device,
    workers: Workers,
    /// Number of parts of a batch that are computed in parallel.
    parts: usize,
}

/// A batch encoded by a trainable encoder.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// Embeddings, `[texts, dim]`.
    pub embeddings: Tensor,
    /// The last hidden states of the tokens, including special ones: `[tokens, hidden]`, text after text.
    pub states: Tensor,
}

impl fmt::Debug for Trainable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trainable")
            .field("version", &self.version)
            .field("policy", &self.policy)
            .field("parameters", &self.parameters.len())
            .finish()
    }
}

impl Trainable {
    /// Opens a folder like [`Encoder::open`], with the weights that `policy` names as variables. `seed`
    /// determines the initial values of low-rank additions.
    ///
    /// # Errors
    /// Those of [`Encoder::open`]; [`EncoderError::Policy`] for a policy that this encoder does not
    /// support.
    pub fn open(
        dir: &Path,
        options: &EncoderOptions,
        policy: &FreezePolicy,
        seed: u64,
    ) -> Result<Self, EncoderError> {
        let learning = ParamRegistry::new(policy.clone(), seed);
        let EncoderParts { folder, version, tokens, transformer, device, wished_tokens, .. } =
            open_folder(dir, options, &Source { learning: Some(&learning), ..Source::default() })?;
        let layers = learning.layers();
        policy.check(layers)?;
        let (mut parameters, placed) = learning.collected();
        if version.pooling != Pooling::Pooler {
            // An unused pooler has no gradient.
            parameters.retain(|parameter| !parameter.name.contains("pooler."));
        }
        parameters.sort_by_key(|parameter| parameter.group);
        let workers = Workers::start(device.is_cpu(), options.threads)?;
        let parts = parts(workers.count(), &parameters);
        Ok(Self {
            folder,
            placed,
            options: options.clone(),
            wished_tokens,
            version,
            tokens,
            transformer,
            parameters,
            policy: policy.clone(),
            layers,
            workers,
            parts,
            device,
        })
    }

    /// A one-line note where texts are cut earlier than without a soft prompt, so that it fits next to
    /// them.
    #[must_use]
    pub fn cut_for_prompt(&self) -> Option<String> {
        let (wished, read) = (self.wished_tokens, self.version.max_tokens);
        let FreezePolicy::Prompt(vectors) = self.policy else { return None };
        (read < wished).then(|| {
            format!(
                "Texts are cut to {read} tokens, not {wished}: the soft prompt of {vectors} vectors needs its room among what the \
                 model reads at once."
            )
        })
    }

    /// The version it was opened as. Its weights diverge from that version's.
    #[must_use]
    pub fn version(&self) -> &EncoderVersion {
        &self.version
    }

    /// All trainable parameters of the encoder, from the embeddings up.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Number of layers of the encoder, for [`LayerRates`](super::LayerRates).
    #[must_use]
    pub fn layers(&self) -> usize {
        self.layers
    }

    /// Number of components of a token's hidden state.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.transformer.sizes().dim
    }

    #[must_use]
    pub fn policy(&self) -> &FreezePolicy {
        &self.policy
    }

    #[must_use]
    pub fn device_name(&self) -> &'static str {
        device::name(&self.device)
    }

    /// The device of its tensors, which a head must use too.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the token ids of each text; for one longer than the encoder can read at once those of the
    /// first window, because a graph over a whole long text would not fit into memory.
    pub fn tokenize(&self, texts: &[&str]) -> Result<Vec<Vec<u32>>, EncoderError> {
        let tokenized = self.workers.tokenize(|| self.tokens.tokenize(texts, 0))?;
        // A text has at least one window.
        Ok(tokenized.into_iter().map(|mut text| text.windows.swap_remove(0)).collect())
    }

    /// Locates words among the tokens that [`Trainable::tokenize`] returns for their text. `words` has for
    /// each text the first character of each word and the one after its last one (Unicode scalar values). A
    /// word without tokens, or after the first window of a long text, has an empty range.
    ///
    /// # Panics
    /// `words` does not have as many entries as `texts`.
    pub fn word_tokens(
        &self,
        texts: &[&str],
        words: &[Vec<(u32, u32)>],
    ) -> Result<Vec<Vec<Range<usize>>>, EncoderError> {
        assert_eq!(texts.len(), words.len(), "words of each text");
        let located = self.workers.tokenize(|| self.tokens.locate(texts, 0))?;
        let of_text = |(text, words): (&Located, &Vec<(u32, u32)>)| {
            let windows = self.tokens.windows_over(text);
            let (before, read) = windows.first().map_or((0, 0), |first| (first.before, first.tokens.end));
            let of_word = |&word: &(u32, u32)| {
                let tokens = text.tokens_of(word);
                let (start, end) = (tokens.start.min(read), tokens.end.min(read));
                before + start..before + end
            };
            words.iter().map(of_word).collect()
        };
        Ok(located.iter().zip(words).map(of_text).collect())
    }

    /// Computes embeddings `[texts, dim]` with a graph. With a `seed` this is training: dropout as in
    /// config.json, the same for the same seed; without one nothing is dropped.
    ///
    /// # Errors
    /// [`EncoderError::BadIds`] for no texts, a text without tokens or with too many, or an unknown id;
    /// [`EncoderError::Compute`], for example out of memory.
    pub fn embed(&self, texts: &[Vec<u32>], seed: Option<u32>) -> Result<Tensor, EncoderError> {
        self.check(texts)?;
        self.pooled(texts, &self.pass(texts, seed)).map_err(|source| self.compute(source))
    }

    /// Computes the gradient of a loss on the embeddings of `texts` with respect to all trainable
    /// parameters, including `head`. The batch is distributed over the threads: `loss` is called once for
    /// each share, with its embeddings `[share, dim]` and the range of `texts` that they belong to, and
    /// returns that share's part of the loss as a number without axes; parts are added up, so a mean over
    /// the batch is divided by the batch's size. Dropout depends on the seed and on the number of threads
    /// up to eight, because every share drops elements of its own.
    ///
    /// # Errors
    /// Those of [`Trainable::embed`]; [`EncoderError::LossNotFinite`] and
    /// [`EncoderError::GradientNotFinite`] before any parameter is updated.
    pub fn gradients(
        &self,
        texts: &[Vec<u32>],
        seed: Option<u32>,
        head: &[(&str, &Var)],
        loss: impl Fn(&Tensor, Range<usize>) -> CandleResult<Tensor> + Sync,
    ) -> Result<Gradients, EncoderError> {
        self.gradients_of(texts, seed, head, |ctx, share| {
            loss(&self.pooled(&texts[share.clone()], ctx)?, share)
        })
    }

    /// Like [`Trainable::gradients`], for a loss on the embeddings and on the hidden states of single
    /// tokens.
    ///
    /// # Errors
    /// Those of [`Trainable::gradients`]; [`EncoderError::Policy`] where a soft prompt is trained, because
    /// only its vectors have a graph.
    pub fn gradients_with_states(
        &self,
        texts: &[Vec<u32>],
        seed: Option<u32>,
        head: &[(&str, &Var)],
        loss: impl Fn(&Encoded, Range<usize>) -> CandleResult<Tensor> + Sync,
    ) -> Result<Gradients, EncoderError> {
        if let FreezePolicy::Prompt(_) = self.policy {
            let reason = "hidden states of tokens do not learn where a soft prompt does".to_owned();
            return Err(EncoderError::Policy { asked: self.policy.to_string(), reason });
        }
        self.gradients_of(texts, seed, head, |ctx, share| {
            loss(&self.encoded(&texts[share.clone()], ctx)?, share)
        })
    }

    fn gradients_of(
        &self,
        texts: &[Vec<u32>],
        seed: Option<u32>,
        head: &[(&str, &Var)],
        loss: impl Fn(&ForwardCtx, Range<usize>) -> CandleResult<Tensor> + Sync,
    ) -> Result<Gradients, EncoderError> {
        self.check(texts)?;
        let parameters = self.with_head(head);
        let shares = shares(texts, self.parts);
        let none = parameters.iter().map(|parameter| (parameter.clone(), None)).collect();
        let accumulator = Accumulator::new(Gradients { loss: 0.0, of: none });
        let places: Vec<usize> = (0..shares.len()).collect();
        let work = |place: &usize| {
            let share = &shares[*place];
            // Every share drops elements of its own.
            let seed = seed.map(|seed| seed.wrapping_mul(0x85eb_ca6b).wrapping_add(share.start as u32));
            let part = || {
                self.share(&parameters, &texts[share.clone()], seed, |ctx| loss(ctx, share.clone()))
                    .map_err(|source| self.compute(source))
            };
            accumulator.add(*place, part, |source| self.compute(source))
        };
        let _ = self.workers.run(&places, work, |_, ()| std::ops::ControlFlow::Continue(()))?;
        let total = accumulator.into_total();
        if !total.loss.is_finite() {
            return Err(EncoderError::LossNotFinite { loss: total.loss });
        }
        match total.not_finite().map_err(|source| self.compute(source))? {
            None => Ok(total),
            Some(name) => Err(EncoderError::GradientNotFinite { name }),
        }
    }

    /// Checks that every text has tokens, not too many, and only known ones.
    fn check(&self, texts: &[Vec<u32>]) -> Result<(), EncoderError> {
        let sizes = self.transformer.sizes();
        let bad = |index: usize, reason: String| Err(EncoderError::BadIds { index, reason });
        if texts.is_empty() {
            return bad(0, "there is no text".to_owned());
        }
        for (index, ids) in texts.iter().enumerate() {
            if ids.is_empty() || ids.len() > sizes.positions {
                let found = ids.len();
                return bad(index, format!("it has {found} tokens, and 1 to {} can be", sizes.positions));
            }
            if let Some(id) = ids.iter().find(|id| **id as usize >= sizes.vocabulary) {
                return bad(
                    index,
                    format!("token id {id} is beyond the model's {} tokens", sizes.vocabulary),
                );
            }
        }
        Ok(())
    }

    /// Returns the encoder with its current weights, on the fast path; low-rank additions are merged.
    pub fn encoder(&self) -> Result<Encoder, EncoderError> {
        // Neither hashes the folder's weights nor reads its tokenizer again: training calls this every
        // epoch.
        let weights_sha256 = self.version.weights_sha256.clone();
        let known = FixedProperties { weights_sha256, tokens: Arc::clone(&self.tokens) };
        Encoder::with_learned(&self.folder.dir, &self.options, self.learned()?, known)
    }

    fn with_head(&self, head: &[(&str, &Var)]) -> Vec<Parameter> {
        let of_head = head.iter().map(|(name, var)| Parameter::of_head(name, var));
        self.parameters.iter().cloned().chain(of_head).collect()
    }

    fn share(
        &self,
        parameters: &[Parameter],
        texts: &[Vec<u32>],
        seed: Option<u32>,
        loss: impl Fn(&ForwardCtx) -> CandleResult<Tensor>,
    ) -> CandleResult<Part> {
        let ctx = self.pass(texts, seed).noting_lookups();
        let loss = loss(&ctx)?;
        let mut store = loss.backward()?;
        let of = parameters
            .iter()
            .map(|parameter| (parameter.clone(), detached_gradient(&mut store, parameter.var.as_tensor())))
            .collect();
        let rows = ctx
            .take_lookups()
            .into_iter()
            .filter_map(|lookup| {
                let gradient = detached_gradient(&mut store, lookup.rows.as_tensor())?;
                Some(TableRows { table: lookup.table, ids: lookup.ids, gradient })
            })
            .collect();
        Ok(Part { gradients: Gradients { loss: f64::from(loss.to_scalar::<f32>()?), of }, rows })
    }

    fn pass(&self, texts: &[Vec<u32>], seed: Option<u32>) -> ForwardCtx {
        let lengths: Vec<usize> = texts.iter().map(Vec::len).collect();
        ForwardCtx::training(&lengths, &self.device, self.policy.graph_from(self.layers), seed)
    }

    fn pooled(&self, texts: &[Vec<u32>], ctx: &ForwardCtx) -> CandleResult<Tensor> {
        let batch = TokenBatch { ids: texts.concat(), lengths: texts.iter().map(Vec::len).collect() };
        pool_tensor(self.transformer.as_ref(), &batch, ctx, self.version.pooling, self.version.normalised)
    }

    fn encoded(&self, texts: &[Vec<u32>], ctx: &ForwardCtx) -> CandleResult<Encoded> {
        let batch = TokenBatch { ids: texts.concat(), lengths: texts.iter().map(Vec::len).collect() };
        let EncoderVersion { pooling, normalised, .. } = self.version;
        let (embeddings, states) =
            pool_tensor_and_states(self.transformer.as_ref(), &batch, ctx, pooling, normalised)?;
        Ok(Encoded { embeddings, states })
    }

    pub(super) fn compute(&self, source: candle_core::Error) -> EncoderError {
        EncoderError::Compute { device: self.device_name(), source }
    }
}

/// Number of parts of a batch computed in parallel: one for each worker, but no more than memory allows,
/// because each has gradients of its own, and none so small that adding these up takes longer than
/// computing them.
fn parts(workers: usize, parameters: &[Parameter]) -> usize {
    // The gradients of table rows are as small as the batch.
    let layers = parameters.iter().filter(|parameter| parameter.group != Group::Embeddings);
    let bytes = layers.map(|parameter| 4 * parameter.var.as_tensor().elem_count()).sum::<usize>();
    workers.min(GRADIENT_BYTES / bytes.max(1)).clamp(1, MAX_PARTS)
}

/// Divides texts into at most `count` non-empty consecutive ranges with about equally many tokens.
fn shares(texts: &[Vec<u32>], count: usize) -> Vec<Range<usize>> {
    let total: usize = texts.iter().map(Vec::len).sum();
    let mut shares: Vec<Range<usize>> = Vec::new();
    let (mut start, mut before) = (0, 0);
    for (i, text) in texts.iter().enumerate() {
        before += text.len();
        let enough = before * count.max(1) >= total * (shares.len() + 1);
        if enough || i + 1 == texts.len() {
            shares.push(start..i + 1);
            start = i + 1;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_is_split_evenly_by_tokens() {
        let texts = |lengths: &[usize]| lengths.iter().map(|n| vec![1; *n]).collect::<Vec<_>>();
        assert_eq!(shares(&texts(&[5, 5, 5, 5]), 2), [0..2, 2..4]);
        assert_eq!(shares(&texts(&[9, 1, 1, 1]), 2), [0..1, 1..4]);
        let one = shares(&texts(&[3]), 4);
        assert_eq!((one.len(), one[0].clone()), (1, 0..1));
        let all = shares(&texts(&[1, 1]), 1);
        assert_eq!((all.len(), all[0].clone()), (1, 0..2));
        assert!(shares(&[], 2).is_empty());
    }
}
