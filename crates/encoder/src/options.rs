//! Options for opening an encoder, and their names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::EncoderError;

/// Pooling of the hidden states of a text's tokens into one embedding.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", parse_err_ty = EncoderError, parse_err_fn = unknown_pooling)]
pub enum Pooling {
    /// Mean over all real tokens of the last hidden state.
    Mean,
    /// First token of the last hidden state.
    Cls,
    /// Last token of the last hidden state: the only one in a decoder that has seen the whole text.
    Last,
    /// Maximum of each component over all real tokens of the last hidden state.
    Max,
    /// [`Pooling::Mean`] of the second-to-last hidden state.
    Mean2,
    /// [`Pooling::Max`] of the second-to-last hidden state.
    Max2,
    /// The model's own pooler: the first token of the last hidden state through a dense layer and tanh.
    /// BERT, RoBERTa and MPNet have one.
    Pooler,
}

impl Pooling {
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Name on the command line and in an encoder version.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

fn unknown_pooling(name: &str) -> EncoderError {
    EncoderError::Pooling { where_: "pooling".to_owned(), found: name.to_owned() }
}

/// The device to use.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", parse_err_ty = EncoderError, parse_err_fn = unknown_device)]
pub enum DeviceChoice {
    /// The first of CUDA, Metal and the CPU that works.
    #[default]
    Auto,
    /// The CPU, which is always available.
    Cpu,
    /// The first NVIDIA GPU; needs the cargo feature `cuda`.
    Cuda,
    /// Apple's GPU; needs the cargo feature `metal`.
    Metal,
}

impl DeviceChoice {
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

fn unknown_device(name: &str) -> EncoderError {
    EncoderError::Device {
        asked: name.to_owned(),
        reason: "not known: choose one of auto, cpu, cuda, metal".to_owned(),
    }
}

/// Numerical precision of an encoder, recorded in its version.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Precision {
    /// 32-bit floats.
    #[default]
    Fp32,
    /// On the CPU: 8-bit weights and activations in the large products, with one step size for each
    /// output's weights and one for each token's activations, whose few outliers have more bits. Everything
    /// else is 32-bit floats. A CPU without an instruction for products of bytes computes the same rounded
    /// numbers in 32-bit floats: embeddings stay comparable between machines, but it is not faster.
    Int8,
    /// 16-bit floats, for graphics processors; norms and softmax in 32 bits.
    Half,
}

impl Precision {
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Name in an encoder version.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Requested numerical precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PrecisionChoice {
    /// The fastest precision of the device: on a CPU with an instruction for products of bytes (AVX-512
    /// VNNI, AVX-VNNI) [`Precision::Int8`], on other CPUs [`Precision::Fp32`], on graphics processors
    /// [`Precision::Half`]. The version records which one was used.
    Fast,
    /// The given precision.
    #[serde(untagged)]
    Exactly(Precision),
}

impl Default for PrecisionChoice {
    fn default() -> Self {
        Self::Exactly(Precision::Fp32)
    }
}

impl fmt::Display for PrecisionChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fast => f.write_str("fast"),
            Self::Exactly(precision) => precision.fmt(f),
        }
    }
}

impl FromStr for PrecisionChoice {
    type Err = EncoderError;

    fn from_str(name: &str) -> Result<Self, EncoderError> {
        let exact = name.parse().ok().map(Self::Exactly);
        exact.or_else(|| (name == "fast").then_some(Self::Fast)).ok_or_else(|| EncoderError::Precision {
            asked: name.to_owned(),
            reason: "choose one of fp32, fast, int8, half".to_owned(),
        })
    }
}

/// Handling of texts with more tokens than the encoder reads at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LongTexts {
    /// The text is read in overlapping windows of equal, maximal length, and its embedding is the mean of
    /// theirs (for [`Pooling::Max`] and [`Pooling::Max2`] the maximum of each component).
    #[default]
    Average,
    /// The text is cut after the tokens that fit, as in sentence-transformers.
    Truncate,
}

impl LongTexts {
    /// The handling in an encoder version with this key.
    #[must_use]
    pub fn of_key(key: &str) -> Self {
        // After name, fingerprint, pooling and tokens; a name may contain slashes, but nothing after these
        // does.
        if key.rsplit('/').any(|part| part == Self::WINDOWS) { Self::Average } else { Self::Truncate }
    }

    /// The part of a version's key that marks averaging over windows.
    pub(crate) const WINDOWS: &str = "windows";
}

/// Prompt before every text; some sentence encoders were trained with one ("query: " of e5).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Prompt {
    /// The default prompt of config_sentence_transformers.json, if any.
    #[default]
    FromFolder,
    /// The prompt of that name in config_sentence_transformers.json.
    Named(String),
    /// The given prompt; empty for none.
    Text(String),
}

/// Options of [`Encoder::open`](crate::Encoder::open). The default takes everything from the folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncoderOptions {
    /// `None`: as in the folder's 1_Pooling/config.json, else last for the Llama family and mean for all
    /// others. A decoder with a soft prompt always uses last.
    pub pooling: Option<Pooling>,
    /// Longest input in tokens, including special tokens. `None`: as in sentence_bert_config.json, else the
    /// model's number of positions, at most 8192.
    pub max_tokens: Option<usize>,
    /// Handling of longer texts.
    pub long_texts: LongTexts,
    /// Prompt before every text.
    pub prompt: Prompt,
    /// The device to use.
    pub device: DeviceChoice,
    /// Numerical precision. Training always uses 32-bit floats.
    pub precision: PrecisionChoice,
    /// Threads on the CPU. `None`: the value of `RAYON_NUM_THREADS`, or without it the number of cores.
    pub threads: Option<usize>,
    /// Maximum memory in bytes for cached keys and values of texts while a soft prompt after them is
    /// trained; the others are computed again at every step, with the same results. `None`: 4 GiB.
    pub cached_bytes: Option<usize>,
}
