//! Outputs of transformers for the tiny checkpoints of tests/fixtures/families, for tests of the families.
//!
//! tools/fixtures/families.py, which makes them, documents each number.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;

/// Folders with expected values.
pub(crate) const NAMES: [&str; 14] = [
    "bert",
    "bert-prefixed-f16",
    "distilbert",
    "roberta",
    "xlm-roberta",
    "deberta-v2",
    "deberta-v3",
    "mpnet",
    "modernbert",
    "gpt2",
    "llama",
    "llama3",
    "qwen2",
    "qwen3",
];

/// A folder with the weights of `bert` in two files, without expected values of its own.
pub(crate) const SHARDED: &str = "bert-sharded";

/// Contents of expected.json.
#[derive(Debug, Deserialize)]
struct Notes {
    prefix: String,
    max_tokens: usize,
    texts: Vec<Option<String>>,
    ids: Vec<Vec<u32>>,
    hidden_states: usize,
    left_padding: String,
    without_gradient: Vec<String>,
    zero_gradient: Vec<String>,
    tables: BTreeMap<String, Vec<i64>>,
    logits_of: Option<usize>,
}

/// A tensor's shape and its values, in row-major order.
pub(crate) type Values = (Vec<usize>, Vec<f32>);

/// A checkpoint and the expected values of a correct implementation.
pub(crate) struct Reference {
    pub(crate) name: &'static str,
    /// Folder of config.json, model.safetensors and tokenizer.json.
    pub(crate) dir: PathBuf,
    /// Prefix of tensor names in the file: "" or, for example, "bert.".
    pub(crate) prefix: String,
    /// Longest text that the model accepts; one text of the batch has this length.
    pub(crate) max_tokens: usize,
    /// Token ids of the batch, including special tokens: several lengths, one of them a single token.
    pub(crate) ids: Vec<Vec<u32>>,
    /// The text that the folder's tokenizer maps to those ids, cut at `max_tokens`; `None` for the single
    /// token.
    pub(crate) texts: Vec<Option<String>>,
    /// How the reference counted positions with padding on the left: "explicit positions" or "by mask".
    pub(crate) left_padding: String,
    /// Parameters that do not affect the loss.
    pub(crate) without_gradient: Vec<String>,
    /// Parameters whose gradient is zero except for rounding: biases that cancel in the softmax.
    pub(crate) zero_gradient: Vec<String>,
    /// Position buckets by distance, for families that have them.
    pub(crate) tables: BTreeMap<String, Vec<i64>>,
    /// The text whose logits are stored, for a causal family.
    pub(crate) logits_of: Option<usize>,
    states: usize,
    tensors: BTreeMap<String, Values>,
}

impl Reference {
    /// Reads one of [`NAMES`].
    pub(crate) fn open(name: &'static str) -> Self {
        let dir = dir(name);
        let notes: Notes = serde_json::from_slice(&read(&dir.join("expected.json"))).unwrap();
        Self {
            name,
            tensors: tensors(&dir.join("expected.safetensors")),
            dir,
            prefix: notes.prefix,
            max_tokens: notes.max_tokens,
            ids: notes.ids,
            texts: notes.texts,
            left_padding: notes.left_padding,
            without_gradient: notes.without_gradient,
            zero_gradient: notes.zero_gradient,
            tables: notes.tables,
            logits_of: notes.logits_of,
            states: notes.hidden_states,
        }
    }

    /// Number of hidden states: one more than layers.
    pub(crate) fn states(&self) -> usize {
        self.states
    }

    /// Hidden state `i` of every token, one text after the other; 0 is the input of the first layer.
    pub(crate) fn hidden(&self, i: usize) -> Vec<Vec<f32>> {
        self.rows(&format!("hidden.{i}"))
    }

    /// Last hidden states of the reference with padding on the left.
    pub(crate) fn left_padded(&self) -> Vec<Vec<f32>> {
        self.rows("left.last")
    }

    /// One embedding per text; `pooling` is mean, cls, last, max, mean2 or max2.
    pub(crate) fn pooled(&self, pooling: &str) -> Vec<Vec<f32>> {
        if pooling == "last" {
            let states = self.hidden(self.states() - 1);
            let mut ends = 0;
            return self
                .ids
                .iter()
                .map(|ids| {
                    ends += ids.len();
                    states[ends - 1].clone()
                })
                .collect();
        }
        self.rows(&format!("pooled.{pooling}"))
    }

    /// Output of the family's own pooler for each text, if it has one.
    pub(crate) fn pooler(&self) -> Option<Vec<Vec<f32>>> {
        self.tensor("pooler").map(|_| self.rows("pooler"))
    }

    /// Weights by which the loss multiplies each text's mean embedding before it sums everything:
    /// `[texts, hidden]`.
    pub(crate) fn loss_weights(&self) -> Values {
        self.tensor("grad.R").unwrap()
    }

    /// Parameters with a gradient, named as in the checkpoint without its prefix.
    pub(crate) fn gradient_names(&self) -> Vec<&str> {
        self.tensors
            .keys()
            .filter_map(|name| name.strip_prefix("grad."))
            .filter(|name| *name != "R")
            .collect()
    }

    /// The gradient of one of [`Self::gradient_names`].
    pub(crate) fn gradient(&self, name: &str) -> Values {
        self.tensor(&format!("grad.{name}")).unwrap()
    }

    /// Any stored tensor.
    pub(crate) fn tensor(&self, name: &str) -> Option<Values> {
        self.tensors.get(name).cloned()
    }

    /// A stored matrix, row by row.
    pub(crate) fn rows(&self, name: &str) -> Vec<Vec<f32>> {
        let (shape, values) = &self.tensors[name];
        assert_eq!(shape.len(), 2, "{name} of {} is no matrix", self.name);
        values.chunks(shape[1]).map(<[f32]>::to_vec).collect()
    }
}

/// The folder of one of [`NAMES`], or of [`SHARDED`].
pub(crate) fn dir(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/families").join(name)
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub(crate) fn tensors(path: &Path) -> BTreeMap<String, Values> {
    let bytes = read(path);
    let stored = SafeTensors::deserialize(&bytes).unwrap();
    stored
        .iter()
        .map(|(name, view)| {
            assert_eq!(view.dtype(), Dtype::F32, "{name}");
            let values = view.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
            (name.to_owned(), (view.shape().to_vec(), values))
        })
        .collect()
}

/// Checks that the fixtures are complete and contain what the tests of the families rely on.
mod tests {
    use super::*;

    fn shapes(path: &Path) -> BTreeMap<String, Vec<usize>> {
        let bytes = read(path);
        let stored = SafeTensors::deserialize(&bytes).unwrap();
        stored.iter().map(|(name, view)| (name.to_owned(), view.shape().to_vec())).collect()
    }

    #[test]
    fn reference_has_states_and_embeddings_of_every_text() {
        for reference in NAMES.map(Reference::open) {
            let tokens: usize = reference.ids.iter().map(Vec::len).sum();
            for i in 0..reference.states() {
                assert_eq!(reference.hidden(i).len(), tokens, "{}", reference.name);
            }
            assert_eq!(reference.left_padded().len(), tokens, "{}", reference.name);
            for pooling in ["mean", "cls", "max", "mean2", "max2"] {
                assert_eq!(reference.pooled(pooling).len(), reference.ids.len(), "{}", reference.name);
            }
            let with_pooler = reference.without_gradient.iter().any(|name| name.starts_with("pooler."));
            assert_eq!(reference.pooler().map(|rows| rows.len()), with_pooler.then_some(reference.ids.len()));
        }
    }

    #[test]
    fn lengths_go_from_one_token_to_the_longest() {
        for reference in NAMES.map(Reference::open) {
            let lengths: Vec<usize> = reference.ids.iter().map(Vec::len).collect();
            assert_eq!(lengths.iter().min(), Some(&1), "{}", reference.name);
            assert_eq!(lengths.iter().max(), Some(&reference.max_tokens), "{}", reference.name);
            let without_text: Vec<bool> = reference.texts.iter().map(Option::is_none).collect();
            assert_eq!(
                without_text,
                lengths.iter().map(|n| *n == 1).collect::<Vec<_>>(),
                "{}",
                reference.name
            );
        }
    }

    #[test]
    fn every_tensor_has_a_reference_gradient_or_none() {
        for reference in NAMES.map(Reference::open) {
            let stored = shapes(&reference.dir.join("model.safetensors"));
            let full = |name: &str| format!("{}{name}", reference.prefix);
            for name in reference.gradient_names() {
                assert_eq!(stored[&full(name)], reference.gradient(name).0, "{name} of {}", reference.name);
            }
            for name in &reference.without_gradient {
                assert!(stored.contains_key(&full(name)), "{name} of {}", reference.name);
            }
            let named = reference.gradient_names().len() + reference.without_gradient.len();
            let of_the_model = stored.keys().filter(|name| name.starts_with(&reference.prefix)).count();
            assert_eq!(named, of_the_model, "{}", reference.name);
        }
    }

    #[test]
    fn reference_gradients_are_large_enough_to_compare() {
        for reference in NAMES.map(Reference::open) {
            assert_eq!(reference.loss_weights().0[0], reference.ids.len());
            for name in reference.gradient_names() {
                let largest = reference.gradient(name).1.iter().fold(0.0, |most: f32, v| most.max(v.abs()));
                let zero = reference.zero_gradient.iter().any(|other| other == name);
                assert_eq!(largest < 1e-5, zero, "{name} of {}: {largest}", reference.name);
            }
        }
    }

    #[test]
    fn family_specific_references_are_present() {
        let deberta = Reference::open("deberta-v3");
        assert_eq!(deberta.tables["buckets_256_512"].len(), 512);
        let mpnet = Reference::open("mpnet");
        assert_eq!(mpnet.tables["buckets_behind"].len(), mpnet.tables["buckets_ahead"].len());
        let gpt2 = Reference::open("gpt2");
        let text = &gpt2.ids[gpt2.logits_of.unwrap()];
        assert_eq!(gpt2.rows("logits").len(), text.len());
        for name in ["vectors.last", "vectors.grad"] {
            assert_eq!(gpt2.tensor(name).unwrap().0, gpt2.tensor("vectors.in").unwrap().0);
        }
        let by_mask = |name| Reference::open(name).left_padding == "by mask";
        assert!(by_mask("roberta") && !by_mask("bert"));
    }

    #[test]
    fn shards_equal_the_single_file() {
        let mut both = shapes(&dir(SHARDED).join("model-00001-of-00002.safetensors"));
        both.extend(shapes(&dir(SHARDED).join("model-00002-of-00002.safetensors")));
        assert_eq!(both, shapes(&dir("bert").join("model.safetensors")));
    }
}
