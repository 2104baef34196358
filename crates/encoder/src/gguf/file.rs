//! One GGUF file: its header is read and checked at once, its tensors are dequantised one by one.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use candle_core::quantized::gguf_file::{Content, TensorInfo};
use candle_core::{Device, Result as CandleResult};
use dissensus_domain::catch_panic;
use serde_json::Value;

use super::config::{ARCHITECTURES, config, pooling};
use super::metadata::{Metadata, needed};
use super::tokenizer::{tokenizer, tokenizer_config};
use crate::error::EncoderError;
use crate::options::Pooling;
use crate::tensor_store::TensorStore;

const WORDS: &str = "token_embd.weight";
/// Tensors that embeddings do not need: the product with the vocabulary at the end.
const UNUSED: [&str; 2] = ["output.weight", "output.bias"];

/// An open file whose header matches its length.
#[derive(Debug)]
pub(crate) struct GgufFile {
    path: PathBuf,
    /// Locked for seeking and reading together.
    file: Mutex<File>,
    content: Content,
    /// Location of each tensor, by its name in transformers.
    places: HashMap<String, TensorSource>,
    config: String,
    pooling: Option<Pooling>,
    /// tokenizer.json and tokenizer_config.json, or why they cannot be generated.
    tokenizer: Result<[String; 2], String>,
}

/// A tensor's location in the file.
#[derive(Debug)]
struct TensorSource {
    name: String,
    /// Number of heads whose rows llama.cpp has stored in another order, if it has.
    reordered: Option<usize>,
}

impl GgufFile {
    /// Reads the header. No tensor is read.
    pub(crate) fn open(path: &Path) -> Result<Self, EncoderError> {
        let unreadable = |source| EncoderError::Read { path: path.to_owned(), source };
        let bad = |reason: String| EncoderError::Gguf { path: path.to_owned(), reason };
        let file = File::open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let mut content =
            guarded(|| Content::read(&mut BufReader::new(&file))).map_err(|e| bad(describe_error(&e)))?;
        check_lengths(&content, length).map_err(bad)?;
        let metadata = Metadata(std::mem::take(&mut content.metadata));
        let architecture = metadata
            .text("general.architecture")
            .and_then(|name| needed("general.architecture", name))
            .map_err(bad)?;
        if !ARCHITECTURES.contains(&architecture) {
            return Err(EncoderError::Family {
                dir: path.to_owned(),
                family: architecture.to_owned(),
                known: ARCHITECTURES.join(", "),
            });
        }
        let vocabulary = content.tensor_infos.get(WORDS).and_then(|info| info.shape.dims().first().copied());
        let vocabulary = vocabulary.ok_or_else(|| bad(format!("it has no tensor \"{WORDS}\"")))?;
        let has = |name: &str| content.tensor_infos.contains_key(name);
        let pooling = pooling(&metadata, architecture).map_err(bad)?;
        let (config, shapes) = config(&metadata, architecture, vocabulary, has).map_err(bad)?;
        let mut places = HashMap::new();
        for name in content.tensor_infos.keys().filter(|name| !UNUSED.contains(&name.as_str())) {
            let used = name_in_transformers(name).filter(|ours| is_used(ours, &config, shapes.layers));
            let Some(ours) = used else {
                return Err(bad(format!(
                    "it has a tensor \"{name}\", which this reader of {architecture} knows no use for"
                )));
            };
            // llama.cpp rotates neighbouring components together in this architecture, transformers those
            // half a head apart.
            let reordered = match (architecture, ours.rsplit_once('.').map_or("", |(of, _)| of)) {
                ("llama", of) if of.ends_with("q_proj") => Some(shapes.heads),
                ("llama", of) if of.ends_with("k_proj") => Some(shapes.kv_heads),
                _ => None,
            };
            if let Some(other) = places.insert(ours, TensorSource { name: name.clone(), reordered }) {
                return Err(bad(format!(
                    "its tensors \"{}\" and \"{name}\" are one and the same",
                    other.name
                )));
            }
        }
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(file),
            content,
            places,
            config: format!("{config:#}\n"),
            pooling,
            tokenizer: both_tokenizer_files(&metadata),
        })
    }

    pub(crate) fn file(&self) -> &Path {
        &self.path
    }

    /// Pooling of token vectors, where the file specifies it.
    pub(crate) fn pooling(&self) -> Option<Pooling> {
        self.pooling
    }

    /// config.json as transformers would write it.
    pub(crate) fn config(&self) -> &str {
        &self.config
    }

    /// tokenizer.json with the file's own vocabulary, and tokenizer_config.json.
    pub(crate) fn tokenizer(&self) -> Result<[&str; 2], EncoderError> {
        match &self.tokenizer {
            Ok([tokenizer, config]) => Ok([tokenizer, config]),
            Err(reason) => Err(EncoderError::Gguf { path: self.path.clone(), reason: reason.clone() }),
        }
    }
}

impl TensorStore for GgufFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn names(&self) -> Vec<String> {
        self.places.keys().cloned().collect()
    }

    fn shape(&self, name: &str) -> Option<&[usize]> {
        Some(self.content.tensor_infos.get(&self.places.get(name)?.name)?.shape.dims())
    }

    fn is_floats(&self, _: &str) -> bool {
        true
    }

    fn floats(&self, name: &str) -> Result<Vec<f32>, EncoderError> {
        let bad = |reason: String| EncoderError::Gguf { path: self.path.clone(), reason };
        let place = self.places.get(name).ok_or_else(|| bad(format!("it has no tensor for \"{name}\"")))?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let values = guarded(|| {
            let stored = self.content.tensor(&mut *file, &place.name, &Device::Cpu)?;
            stored.dequantize(&Device::Cpu)?.flatten_all()?.to_vec1::<f32>()
        });
        let values = values.map_err(|e| bad(format!("its tensor \"{}\": {e}", place.name)))?;
        Ok(match place.reordered {
            None => values,
            Some(heads) => half_rotated(&values, self.shape(name).unwrap_or_default(), heads),
        })
    }
}

fn both_tokenizer_files(metadata: &Metadata) -> Result<[String; 2], String> {
    Ok([tokenizer(metadata)?.to_string(), format!("{:#}\n", tokenizer_config(metadata)?)])
}

/// Calls the library and returns a panic, which a hostile file can cause, as an error.
fn guarded<T>(read: impl FnOnce() -> CandleResult<T>) -> CandleResult<T> {
    catch_panic(read).unwrap_or_else(|| Err(candle_core::Error::Msg("its head makes no sense".to_owned())))
}

/// Converts the library's error into a readable message.
fn describe_error(error: &candle_core::Error) -> String {
    let message = error.to_string();
    let message = message.lines().next().unwrap_or_default();
    if message.contains("unknown dtype") {
        let number = message.rsplit(' ').next().unwrap_or_default();
        return format!(
            "a tensor has a quantisation that is not known (number {number}): F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0 and Q2_K to \
             Q6_K can be read"
        );
    }
    if message.contains("unknown magic") {
        return "it is no GGUF file".to_owned();
    }
    format!("it is damaged or was cut off ({message}): fetch or copy it again")
}

/// Checks that every tensor is inside the file.
fn check_lengths(content: &Content, length: u64) -> Result<(), String> {
    for (name, info) in &content.tensor_infos {
        let end = bytes(info)
            .and_then(|bytes| content.tensor_data_offset.checked_add(info.offset)?.checked_add(bytes));
        if end.is_none_or(|end| end > length) {
            return Err(format!(
                "it is damaged or was cut off (its tensor \"{name}\" would end after the file's {length} bytes): fetch or copy it again"
            ));
        }
    }
    Ok(())
}

fn bytes(info: &TensorInfo) -> Option<u64> {
    let elements = info.shape.dims().iter().try_fold(1usize, |all, n| all.checked_mul(*n))?;
    let (block, size) = (info.ggml_dtype.block_size(), info.ggml_dtype.type_size());
    u64::try_from(elements.div_ceil(block).checked_mul(size)?).ok()
}

/// Whether the encoder of this configuration needs a tensor, by its name in transformers.
fn is_used(name: &str, config: &Value, layers: usize) -> bool {
    let Some((layer, part)) = name.strip_prefix("layers.").and_then(|rest| rest.split_once('.')) else {
        return true;
    };
    let is = |flag: &str| config[flag] == true;
    let family = config["model_type"].as_str().unwrap_or_default();
    let asked = match part.rsplit_once('.') {
        Some(("self_attn.q_norm" | "self_attn.k_norm", kind)) => family == "qwen3" && kind == "weight",
        Some(("self_attn.q_proj" | "self_attn.k_proj" | "self_attn.v_proj", "bias")) => {
            family == "qwen2" || is("attention_bias")
        }
        Some(("self_attn.o_proj", "bias")) => is("attention_bias"),
        Some((part, "bias")) => part.starts_with("mlp.") && is("mlp_bias"),
        _ => true,
    };
    asked && layer.parse().is_ok_and(|layer: usize| layer < layers)
}

/// The name of an encoder's tensor in transformers; `None` for others.
fn name_in_transformers(name: &str) -> Option<String> {
    match name {
        WORDS => return Some("embed_tokens.weight".to_owned()),
        "output_norm.weight" => return Some("norm.weight".to_owned()),
        _ => {}
    }
    let (layer, rest) = name.strip_prefix("blk.")?.split_once('.')?;
    let (part, kind) = rest.rsplit_once('.')?;
    // In canonical spelling only: 01 and +1 would be the same as 1.
    let layer = layer.parse::<usize>().ok().filter(|n| n.to_string() == layer)?;
    let part = match part {
        "attn_norm" => "input_layernorm",
        "attn_q" => "self_attn.q_proj",
        "attn_k" => "self_attn.k_proj",
        "attn_v" => "self_attn.v_proj",
        "attn_output" => "self_attn.o_proj",
        "attn_q_norm" => "self_attn.q_norm",
        "attn_k_norm" => "self_attn.k_norm",
        "ffn_norm" => "post_attention_layernorm",
        "ffn_gate" => "mlp.gate_proj",
        "ffn_up" => "mlp.up_proj",
        "ffn_down" => "mlp.down_proj",
        _ => return None,
    };
    matches!(kind, "weight" | "bias").then(|| format!("layers.{layer}.{part}.{kind}"))
}

/// Reorders rows of each head from neighbouring pairs to pairs half a head apart. `shape` is
/// `[heads * size, ...]`.
fn half_rotated(values: &[f32], shape: &[usize], heads: usize) -> Vec<f32> {
    let rows = shape.first().copied().unwrap_or(0);
    let (width, size) = (values.len() / rows.max(1), rows / heads.max(1));
    let half = size / 2;
    let mut out = Vec::with_capacity(values.len());
    for head in 0..heads {
        for row in 0..size {
            let from = (head * size + 2 * (row % half.max(1)) + row / half.max(1)) * width;
            out.extend_from_slice(&values[from..from + width]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotary_pairs_are_reordered() {
        // Two heads of four rows, one number per row.
        let stored = [0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0];
        let expected = [0.0, 2.0, 1.0, 3.0, 10.0, 12.0, 11.0, 13.0];
        assert_eq!(half_rotated(&stored, &[8, 1], 2), expected);
        assert_eq!(half_rotated(&stored, &[4, 2], 1), [0.0, 1.0, 10.0, 11.0, 2.0, 3.0, 12.0, 13.0]);
    }

    #[test]
    fn only_tensors_of_the_encoder_have_a_name() {
        assert_eq!(name_in_transformers("blk.12.attn_k.bias").unwrap(), "layers.12.self_attn.k_proj.bias");
        for name in
            ["rope_freqs.weight", "blk.0.ffn_gate_exps.weight", "blk.x.attn_q.weight", "blk.0.attn_q.scale"]
        {
            assert_eq!(name_in_transformers(name), None, "{name}");
        }
    }
}
