//! Transformer families: what they share, and opening one by its `model_type`.

mod bert;
#[cfg(test)]
pub(crate) mod reference;

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
    device: &Device,
) -> Result<Box<dyn Transformer>, EncoderError> {
    let weights = Weights::open(folder, device)?;
    match family {
        "bert" => Ok(Box::new(bert::Bert::open(config, folder, weights, device)?)),
        other => Err(EncoderError::Family {
            dir: folder.dir.clone(),
            family: other.to_owned(),
            known: FAMILIES.join(", "),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use candle_core::DType;
    use serde::Deserialize;

    use super::*;
    use crate::tokens::Tokens;

    /// Made by tools/fixtures/encoder.py with transformers, all texts in one padded batch.
    #[derive(Deserialize)]
    struct Reference {
        texts: Vec<String>,
        ids: Vec<Vec<u32>>,
        last: Vec<Vec<f32>>,
        second_to_last: Vec<Vec<f32>>,
    }

    fn fixtures() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
    }

    fn reference() -> Reference {
        serde_json::from_slice(&std::fs::read(fixtures().join("tiny.json")).unwrap()).unwrap()
    }

    fn tiny() -> Box<dyn Transformer> {
        let folder = Folder::open(&fixtures().join("tiny")).unwrap();
        let (family, config) = check(&folder).unwrap();
        open(&family, config, &folder, &Device::Cpu).unwrap()
    }

    fn rows(states: &Tensor) -> Vec<Vec<f32>> {
        states.to_dtype(DType::F32).unwrap().to_vec2().unwrap()
    }

    fn assert_close(found: &[Vec<f32>], expected: &[Vec<f32>]) {
        assert_eq!(found.len(), expected.len());
        let worst = found
            .iter()
            .flatten()
            .zip(expected.iter().flatten())
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f32::max);
        assert!(worst < 1e-4, "the worst component is off by {worst}");
    }

    fn batch(ids: &[Vec<u32>]) -> TokenBatch {
        TokenBatch { ids: ids.concat(), lengths: ids.iter().map(Vec::len).collect() }
    }

    #[test]
    fn texts_become_the_ids_of_the_reference_up_to_the_last_position() {
        let reference = reference();
        let folder = Folder::open(&fixtures().join("tiny")).unwrap();
        let sizes = tiny().sizes();
        let tokens = Tokens::open(&folder, sizes.positions, sizes.positions, sizes.vocabulary).unwrap();
        let texts: Vec<&str> = reference.texts.iter().map(String::as_str).collect();
        let ids: Vec<_> = tokens.tokenize(&texts, 0).unwrap().into_iter().map(|t| t.ids).collect();
        assert_eq!(ids, reference.ids);
        assert!(ids.iter().any(|i| i.len() == sizes.positions), "no text reaches the longest input");
    }

    #[test]
    fn hidden_states_of_a_mixed_batch_are_the_references() {
        let reference = reference();
        let states = tiny().hidden_states(&batch(&reference.ids)).unwrap();
        assert_close(&rows(&states.last), &reference.last);
        assert_close(&rows(&states.second_to_last), &reference.second_to_last);
    }

    #[test]
    fn hidden_states_of_every_text_alone_are_the_references() {
        let reference = reference();
        let transformer = tiny();
        let mut first = 0;
        for ids in &reference.ids {
            let states = transformer.hidden_states(&batch(std::slice::from_ref(ids))).unwrap();
            assert_close(&rows(&states.last), &reference.last[first..first + ids.len()]);
            first += ids.len();
        }
    }

    #[test]
    fn a_batch_of_equal_lengths_needs_no_padding_and_agrees() {
        let reference = reference();
        let text = &reference.ids[2];
        let first = reference.ids[..2].iter().map(Vec::len).sum::<usize>();
        let expected = &reference.last[first..first + text.len()];
        let states = tiny().hidden_states(&batch(&[text.clone(), text.clone()])).unwrap();
        assert_close(&rows(&states.last), &[expected, expected].concat());
    }

    #[test]
    fn a_single_token_without_specials_is_finite() {
        let states = tiny().hidden_states(&batch(&[vec![7]])).unwrap();
        assert_eq!(states.last.dims(), [1, 24]);
        assert!(rows(&states.last).iter().flatten().all(|v| v.is_finite()));
    }
}
