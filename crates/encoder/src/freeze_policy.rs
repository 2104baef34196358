//! Freeze policies: which weights of an encoder learn.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::EncoderError;

/// Which weights learn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FreezePolicy {
    /// No weights: only the head on top of the embeddings learns.
    Frozen,
    /// Weights of the last `k` layers, and of what follows them. Layers below are computed without dropout,
    /// by the fast path.
    LastK(usize),
    /// Low-rank additions to some products (Hu et al. 2021, "LoRA", arXiv 2106.09685); the weights
    /// themselves stay unchanged.
    Lora(LoraConfig),
    /// No weights, but this many vectors in place of word embeddings (Lester et al. 2021, "prompt tuning",
    /// arXiv 2104.08691): in a decoder after the text, whose embedding is then the hidden state of the last
    /// vector; in other encoders before the tokens, and the text is pooled as before.
    Prompt(usize),
    /// All.
    Full,
}

/// Maximum number of vectors of [`FreezePolicy::Prompt`].
pub(crate) const MAX_VECTORS: usize = 64;

/// The additions of [`FreezePolicy::Lora`]: `x W^T + alpha / rank * x A^T B^T`, with `A` `[rank, inputs]`
/// random and `B` `[outputs, rank]` zero at first, so that learning starts from the unchanged encoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoraConfig {
    /// Rows of `A`.
    pub rank: usize,
    /// Weight of the addition, before division by the rank.
    pub alpha: f64,
    /// The products with an addition.
    pub targets: Vec<LoraTarget>,
    /// Dropout probability of the inputs of an addition in training.
    pub dropout: f32,
}

impl Default for LoraConfig {
    fn default() -> Self {
        let targets = vec![LoraTarget::Query, LoraTarget::Value];
        Self { rank: 8, alpha: 16.0, targets, dropout: 0.0 }
    }
}

/// A product that can have a low-rank addition; the same names for every family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoraTarget {
    /// Attention queries.
    Query,
    /// Attention keys.
    Key,
    /// Attention values.
    Value,
    /// The output product of attention.
    AttentionOutput,
    /// Both feed-forward products.
    FeedForward,
}

impl FreezePolicy {
    /// Refuses a policy that is impossible for an encoder of so many layers.
    pub(crate) fn check(&self, layers: usize) -> Result<(), EncoderError> {
        let bad = |reason: String| Err(EncoderError::Policy { asked: self.to_string(), reason });
        match self {
            Self::LastK(k) if *k == 0 || *k > layers => {
                bad(format!("this encoder has {layers} layers: choose between last-1 and last-{layers}"))
            }
            Self::Lora(low) if low.rank == 0 => bad("its rank must be 1 or more".to_owned()),
            Self::Lora(low) if low.targets.is_empty() => bad("it names no product to add to".to_owned()),
            Self::Lora(low) if !low.alpha.is_finite() || !(0.0..1.0).contains(&low.dropout) => {
                bad("alpha must be a number, and dropout lie between 0 and 1".to_owned())
            }
            Self::Prompt(n) if !(1..=MAX_VECTORS).contains(n) => {
                bad(format!("a soft prompt has 1 to {MAX_VECTORS} vectors"))
            }
            Self::Frozen | Self::LastK(_) | Self::Lora(_) | Self::Prompt(_) | Self::Full => Ok(()),
        }
    }

    /// Lowest depth with a graph, where 0 is the embeddings, `i + 1` is layer `i` and `layers + 1` is above
    /// the layers.
    pub(crate) fn graph_from(&self, layers: usize) -> usize {
        match self {
            Self::Frozen => usize::MAX,
            Self::LastK(k) => (layers + 1).saturating_sub(*k),
            Self::Lora(_) => 1,
            // Vectors in place of word embeddings are below all layers.
            Self::Prompt(_) | Self::Full => 0,
        }
    }
}

impl fmt::Display for FreezePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Frozen => f.write_str("frozen"),
            Self::LastK(k) => write!(f, "last-{k}"),
            Self::Lora(low) => write!(f, "lora-{}", low.rank),
            Self::Prompt(n) => write!(f, "prompt-{n}"),
            Self::Full => f.write_str("full"),
        }
    }
}

impl FromStr for FreezePolicy {
    type Err = EncoderError;

    /// Parses `frozen`, `last-K`, `lora`, `lora-RANK`, `prompt-N` or `full`.
    fn from_str(name: &str) -> Result<Self, EncoderError> {
        let number = |prefix: &str| name.strip_prefix(prefix).and_then(|k| k.parse::<usize>().ok());
        match name {
            "frozen" => Ok(Self::Frozen),
            "full" => Ok(Self::Full),
            "lora" => Ok(Self::Lora(LoraConfig::default())),
            _ => match (number("last-"), number("lora-"), number("prompt-")) {
                (Some(k), ..) => Ok(Self::LastK(k)),
                // The customary factor of 2.
                (_, Some(rank), _) => {
                    Ok(Self::Lora(LoraConfig { rank, alpha: 2.0 * rank as f64, ..LoraConfig::default() }))
                }
                (.., Some(vectors)) => Ok(Self::Prompt(vectors)),
                _ => Err(EncoderError::Policy {
                    asked: name.to_owned(),
                    reason:
                        "choose one of frozen, last-K (for example last-2), lora, lora-RANK, prompt-N (for \
                             example prompt-5), full"
                            .to_owned(),
                }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_round_trip_as_text() {
        for name in ["frozen", "last-2", "lora-8", "prompt-5", "full"] {
            assert_eq!(name.parse::<FreezePolicy>().unwrap().to_string(), name);
        }
        assert_eq!("lora".parse::<FreezePolicy>().unwrap(), FreezePolicy::Lora(LoraConfig::default()));
        for name in ["", "last", "last-x", "none", "lora-", "prompt", "prompt-", "prompt--1"] {
            let error = name.parse::<FreezePolicy>().unwrap_err();
            assert_eq!(error.code(), "encoder-policy");
        }
    }

    #[test]
    fn impossible_policies_are_refused() {
        assert!(FreezePolicy::LastK(6).check(6).is_ok());
        assert!(FreezePolicy::LastK(7).check(6).unwrap_err().to_string().contains("6 layers"));
        assert!(FreezePolicy::LastK(0).check(6).is_err());
        assert!(FreezePolicy::Prompt(1).check(6).is_ok() && FreezePolicy::Prompt(64).check(6).is_ok());
        for vectors in [0, 65] {
            let error = FreezePolicy::Prompt(vectors).check(6).unwrap_err().to_string();
            assert!(error.contains("1 to 64 vectors"), "{error}");
        }
        let low = |change: &dyn Fn(&mut LoraConfig)| {
            let mut low = LoraConfig::default();
            change(&mut low);
            FreezePolicy::Lora(low).check(6)
        };
        assert!(low(&|_| ()).is_ok());
        assert!(low(&|low| low.rank = 0).is_err());
        assert!(low(&|low| low.targets.clear()).is_err());
        assert!(low(&|low| low.alpha = f64::NAN).is_err());
        assert!(low(&|low| low.dropout = 1.0).is_err());
    }
}
