//! Opening an encoder folder: reads and validates every file, and builds the transformer.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use candle_core::{Device, Tensor};

use crate::blocks::{ParamRegistry, Parameters, SOFT_PROMPT, Side, Transformer};
use crate::catalogue::Catalogue;
use crate::device;
use crate::error::EncoderError;
use crate::families::{check, is_decoder, open as open_family, usual_pooling};
use crate::folder::Folder;
use crate::identity::{EncoderVersion, identify};
use crate::options::{EncoderOptions, Pooling, Precision, PrecisionChoice};
use crate::sentence_transformers::SentenceTransformersConfig;
use crate::soft_prompt::{self, Origin, PromptTarget};
use crate::tokens::{Input, Tokens};
use crate::weights::{Weights, weight_sums};

/// Longest input where it is not configured and the model could take more: the memory of attention grows
/// with its square, here 256 MiB for each thread, and longer texts are averaged over windows.
const LONGEST_UNASKED: usize = 8192;

/// A validated folder: the common basis of encoding and training.
pub(crate) struct EncoderParts {
    pub(crate) folder: Folder,
    pub(crate) version: EncoderVersion,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) transformer: Box<dyn Transformer>,
    pub(crate) device: Device,
    pub(crate) note: Option<String>,
    /// Maximum number of tokens of a text without a soft prompt.
    pub(crate) wished_tokens: usize,
}

/// Sources of weights other than the folder's files, and what learns.
#[derive(Default)]
pub(crate) struct Source<'a> {
    /// Collects trainable parameters.
    pub(crate) learning: Option<&'a ParamRegistry>,
    /// Values that replace those of the files, by full name.
    pub(crate) learned: HashMap<String, Tensor>,
    /// Results of an earlier opening of the same folder, which need not be computed again.
    pub(crate) known: Option<FixedProperties>,
}

/// Properties that do not change in training.
#[derive(Clone)]
pub(crate) struct FixedProperties {
    /// Checksum of the folder's weights.
    pub(crate) weights_sha256: String,
    /// Its tokenizer, for the same options.
    pub(crate) tokens: Arc<Tokens>,
}

/// Opens a folder as described at [`Encoder::open`].
pub(crate) fn open_folder(
    dir: &Path,
    options: &EncoderOptions,
    source: &Source<'_>,
) -> Result<EncoderParts, EncoderError> {
    let folder = Folder::open(dir)?;
    let (family, config) = check(&folder)?;
    let mut recipe = SentenceTransformersConfig::read(&folder)?;
    recipe.pooling = recipe.pooling.or_else(|| folder.gguf()?.pooling());
    let origin = Origin { learning: source.learning, learned: source.learned.get(SOFT_PROMPT) };
    let soft_prompt = soft_prompt::asked(&folder, origin)?;
    let side = if is_decoder(&family) { Side::After } else { Side::Before };
    let pooling = match (soft_prompt, side) {
        // Only the hidden state of the last vector is read.
        (true, Side::After) => Pooling::Last,
        _ => choose_pooling(&recipe, options, &family)?,
    };
    let prompt = recipe.prompt(&options.prompt)?;
    let precision = if source.learning.is_some() { PrecisionChoice::default() } else { options.precision };
    let chosen = device::choose(options.device, precision)?;
    let weights_sha256 = match &source.known {
        Some(known) => known.weights_sha256.clone(),
        None => {
            let sums = weight_sums(&folder)?;
            soft_prompt::check_weights(&folder, &sums.weights)?;
            sums.all
        }
    };
    let weights = Weights::open(&folder, &chosen.device).map(|w| w.replacing(source.learned.clone()));
    let transformer = weights.and_then(|weights| {
        let parameters = Parameters::new(weights, source.learning, chosen.precision);
        open_family(&family, config, &folder, parameters, &chosen.device)
    });
    // A damaged download of a known encoder is better reported by its checksum than by the broken tensor.
    let (name, fingerprint) = identify(&folder, &weights_sha256, &source.learned)?;
    let transformer = transformer?;
    let (cached_bytes, positions) = (options.cached_bytes, transformer.sizes().positions);
    let place = PromptTarget { folder: &folder, origin, device: &chosen.device, side, cached_bytes };
    let transformer = soft_prompt::put(transformer, place)?;
    refuse_inexact(&name, chosen.precision)?;
    if pooling == Pooling::Pooler && transformer.pooler().is_none() {
        return Err(EncoderError::NoPooler(folder.dir));
    }
    let sizes = transformer.sizes();
    let usual = recipe.max_tokens.unwrap_or(LONGEST_UNASKED).min(positions);
    let wished_tokens = options.max_tokens.unwrap_or(usual);
    // Texts are cut earlier where a soft prompt would not fit next to them.
    let max_tokens = if soft_prompt { wished_tokens.min(sizes.positions) } else { wished_tokens };
    let version = EncoderVersion {
        name,
        weights_sha256,
        fingerprint,
        pooling,
        max_tokens,
        long_texts: options.long_texts,
        prompt,
        lower_case: recipe.lower_case,
        dim: sizes.dim,
        normalised: recipe.normalised,
        precision: chosen.precision,
    };
    let tokens = match &source.known {
        Some(known) => Arc::clone(&known.tokens),
        None => Arc::new(Tokens::open(&folder, input(&version), sizes.positions, sizes.vocabulary)?),
    };
    Ok(EncoderParts {
        folder,
        version,
        tokens,
        transformer,
        device: chosen.device,
        note: chosen.note,
        wished_tokens,
    })
}

/// Input settings of an encoder version.
fn input(version: &EncoderVersion) -> Input {
    Input {
        max_tokens: version.max_tokens,
        long_texts: version.long_texts,
        prompt: version.prompt.clone().unwrap_or_default(),
        lower_case: version.lower_case,
    }
}

fn choose_pooling(
    recipe: &SentenceTransformersConfig,
    options: &EncoderOptions,
    family: &str,
) -> Result<Pooling, EncoderError> {
    match (options.pooling.or(recipe.pooling), &recipe.unknown_pooling) {
        (Some(pooling), _) => Ok(pooling),
        (None, Some((path, found))) => {
            Err(EncoderError::Pooling { where_: path.display().to_string(), found: found.clone() })
        }
        (None, None) => Ok(usual_pooling(family)),
    }
}

/// Refuses 8-bit precision for a catalogue encoder that was found to lose too much accuracy.
fn refuse_inexact(name: &str, precision: Precision) -> Result<(), EncoderError> {
    let catalogue = Catalogue::embedded()?;
    match catalogue.get(name).filter(|known| precision == Precision::Int8 && !known.fast) {
        None => Ok(()),
        Some(known) => Err(EncoderError::Precision {
            asked: precision.to_string(),
            reason: format!(
                "{} loses too much by it (a cosine below 0.995 to fp32): choose fp32",
                known.name
            ),
        }),
    }
}
