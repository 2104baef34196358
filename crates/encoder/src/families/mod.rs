//! Transformer families: their common parts, and opening one by its `model_type`.

mod bert;
mod config;
mod deberta;
mod distilbert;
mod gpt2;
mod llama;
mod modernbert;
mod mpnet;
#[cfg(test)]
pub(crate) mod reference;
mod rope;

use candle_core::Device;
use serde_json::Value;

pub(crate) use gpt2::{Gpt2, LayerKeyValues};

use crate::blocks::{Parameters, Transformer};
use crate::error::EncoderError;
use crate::folder::{CONFIG, Folder};
use crate::options::Pooling;

/// Supported values of `model_type`.
pub(crate) const FAMILIES: [&str; 12] = [
    "bert",
    "camembert",
    "deberta-v2",
    "distilbert",
    "gpt2",
    "llama",
    "modernbert",
    "mpnet",
    "qwen2",
    "qwen3",
    "roberta",
    "xlm-roberta",
];

/// Returns the `model_type` of a folder, if it is supported.
pub(crate) fn check(folder: &Folder) -> Result<(String, Value), EncoderError> {
    let config = folder.json(CONFIG)?;
    let family = match config.get("model_type") {
        Some(Value::String(family)) => family.clone(),
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

/// Whether every token of a family attends only to those before it.
pub(crate) fn is_decoder(family: &str) -> bool {
    matches!(family, "gpt2" | "llama" | "qwen2" | "qwen3")
}

/// The default pooling of a family: in a decoder only the last token has seen the whole text. GPT-2 uses
/// the mean for compatibility with embeddings stored before there was another choice.
pub(crate) fn usual_pooling(family: &str) -> Pooling {
    match family {
        "llama" | "qwen2" | "qwen3" => Pooling::Last,
        _ => Pooling::Mean,
    }
}

/// Builds the transformer of a family that [`check`] accepted.
pub(crate) fn open(
    family: &str,
    config: Value,
    folder: &Folder,
    parameters: Parameters<'_>,
    device: &Device,
) -> Result<Box<dyn Transformer>, EncoderError> {
    match family {
        "bert" => Ok(Box::new(bert::Bert::open(config, folder, parameters)?)),
        "roberta" | "xlm-roberta" | "camembert" => {
            Ok(Box::new(bert::Bert::open_roberta(config, folder, parameters)?))
        }
        "distilbert" => Ok(Box::new(distilbert::DistilBert::open(config, folder, parameters)?)),
        "mpnet" => Ok(Box::new(mpnet::MpNet::open(config, folder, parameters, device)?)),
        "deberta-v2" => Ok(Box::new(deberta::Deberta::open(config, folder, parameters, device)?)),
        "modernbert" => Ok(Box::new(modernbert::ModernBert::open(config, folder, parameters, device)?)),
        "gpt2" => Ok(Box::new(Gpt2::open(config, folder, parameters, device)?)),
        "llama" | "qwen2" | "qwen3" => Ok(Box::new(llama::Llama::open(config, folder, parameters, device)?)),
        other => Err(EncoderError::Family {
            dir: folder.dir.clone(),
            family: other.to_owned(),
            known: FAMILIES.join(", "),
        }),
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod tiny {
    use std::path::{Path, PathBuf};

    use candle_core::{DType, Tensor};
    use serde::Deserialize;

    use super::*;
    use crate::blocks::{ForwardCtx, States};
    use crate::token_batch::TokenBatch;
    use crate::tokens::{Input, Tokens};
    use crate::weights::Weights;

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
        let parameters =
            Parameters::new(Weights::open(&folder, &Device::Cpu).unwrap(), None, crate::Precision::Fp32);
        open(&family, config, &folder, parameters, &Device::Cpu).unwrap()
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

    fn forward(ids: &[Vec<u32>]) -> States {
        let batch = TokenBatch { ids: ids.concat(), lengths: ids.iter().map(Vec::len).collect() };
        let ctx = ForwardCtx::inference(&batch.lengths, &Device::Cpu);
        tiny().forward(&batch, &ctx).unwrap()
    }

    #[test]
    fn token_ids_match_the_reference() {
        let reference = reference();
        let folder = Folder::open(&fixtures().join("tiny")).unwrap();
        let sizes = tiny().sizes();
        let tokens =
            Tokens::open(&folder, Input::truncated(sizes.positions), sizes.positions, sizes.vocabulary)
                .unwrap();
        let texts: Vec<&str> = reference.texts.iter().map(String::as_str).collect();
        let ids: Vec<_> = tokens.tokenize(&texts, 0).unwrap().into_iter().flat_map(|t| t.windows).collect();
        assert_eq!(ids, reference.ids);
        assert!(ids.iter().any(|i| i.len() == sizes.positions), "no text reaches the longest input");
    }

    #[test]
    fn hidden_states_of_a_mixed_batch_match_the_reference() {
        let reference = reference();
        let states = forward(&reference.ids);
        assert_close(&rows(states.last()), &reference.last);
        assert_close(&rows(states.second_to_last()), &reference.second_to_last);
    }

    #[test]
    fn hidden_states_of_single_texts_match_the_reference() {
        let reference = reference();
        let mut first = 0;
        for ids in &reference.ids {
            let states = forward(std::slice::from_ref(ids));
            assert_close(&rows(states.last()), &reference.last[first..first + ids.len()]);
            first += ids.len();
        }
    }

    #[test]
    fn unpadded_batch_matches_the_reference() {
        let reference = reference();
        let text = &reference.ids[2];
        let first = reference.ids[..2].iter().map(Vec::len).sum::<usize>();
        let expected = &reference.last[first..first + text.len()];
        let states = forward(&[text.clone(), text.clone()]);
        assert_close(&rows(states.last()), &[expected, expected].concat());
    }

    #[test]
    fn single_token_without_specials_is_finite() {
        let states = forward(&[vec![7]]);
        assert_eq!(states.last().dims(), [1, 24]);
        assert!(rows(states.last()).iter().flatten().all(|v| v.is_finite()));
    }
}
