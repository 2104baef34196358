//! Transformer families: what they share, and opening one by its `model_type`.

mod bert;

use candle_core::{Device, Result as CandleResult, Tensor};

use crate::EncoderError;
use crate::folder::{CONFIG, Folder};
use crate::weights::Weights;

/// Values of `model_type` that can be read.
pub(crate) const FAMILIES: [&str; 1] = ["bert"];

/// Texts of one batch as rows of tokens, one text after the other, without padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenBatch {
    /// Token ids of all texts, `lengths.iter().sum()` of them.
    pub(crate) ids: Vec<u32>,
    /// Tokens of each text, at least 1.
    pub(crate) lengths: Vec<usize>,
}

/// Hidden states of a batch's tokens, each `[tokens, dim]` in the order of [`TokenBatch::ids`].
pub(crate) struct HiddenStates {
    /// After the last layer.
    pub(crate) last: Tensor,
    /// After the layer before it; after the embeddings where there is one layer only.
    pub(crate) second_to_last: Tensor,
}

/// Sizes that callers need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Length of a hidden state.
    pub(crate) dim: usize,
    /// Rows of the word embedding.
    pub(crate) vocabulary: usize,
    /// Longest input in tokens.
    pub(crate) positions: usize,
    /// Multiply-and-add pairs that one token costs outside attention.
    pub(crate) products_per_token: usize,
}

/// A frozen transformer.
pub(crate) trait Transformer: Send + Sync {
    /// Its sizes.
    fn sizes(&self) -> Sizes;

    /// Hidden states of a batch. Every id is below [`Sizes::vocabulary`], every length at most [`Sizes::positions`].
    fn hidden_states(&self, batch: &TokenBatch) -> CandleResult<HiddenStates>;
}

/// The `model_type` of a folder, when it is one that can be read.
pub(crate) fn check(folder: &Folder) -> Result<(String, serde_json::Value), EncoderError> {
    let config = folder.json(CONFIG)?;
    let family = match config.get("model_type") {
        Some(serde_json::Value::String(family)) => family.clone(),
        Some(_) => return Err(folder.bad_json(CONFIG, "the field model_type is not a text")),
        None => {
            return Err(folder.bad_json(CONFIG, "it has no field model_type, which names the architecture"));
        }
    };
    if !FAMILIES.contains(&family.as_str()) {
        return Err(EncoderError::Family { dir: folder.dir.clone(), family, known: FAMILIES.join(", ") });
    }
    Ok((family, config))
}

/// Builds the transformer of a family that [`check`] let through.
pub(crate) fn open(
    family: &str,
    config: serde_json::Value,
    folder: &Folder,
    bytes: &[u8],
    device: &Device,
) -> Result<Box<dyn Transformer>, EncoderError> {
    let weights = Weights::parse(folder.path(crate::folder::WEIGHTS), bytes, device)?;
    match family {
        "bert" => Ok(Box::new(bert::Bert::open(config, folder, weights, device)?)),
        other => Err(EncoderError::Family {
            dir: folder.dir.clone(),
            family: other.to_owned(),
            known: FAMILIES.join(", "),
        }),
    }
}
