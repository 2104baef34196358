//! A causal language model, used token by token: cached keys and values, and vectors in place of ids.

use std::fmt;
use std::path::Path;

use candle_core::{Device, Result as CandleResult, Tensor};

use crate::blocks::{Parameters, Transformer};
use crate::device;
use crate::error::EncoderError;
use crate::families::{Gpt2, LayerKeyValues, check};
use crate::folder::Folder;
use crate::options::{DeviceChoice, Precision, PrecisionChoice};
use crate::tokens::{Input, Tokens};
use crate::weights::Weights;

/// A GPT-2 whose hidden states and next-token logits are differentiable with respect to its input vectors. A
/// soft prompt consists of such vectors, learned, before those of a text.
///
/// ```
/// use std::path::Path;
///
/// use candle_core::{DType, Var};
/// use dissensus_encoder::{CausalModel, DeviceChoice};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/families/gpt2");
/// let model = CausalModel::open(&folder, DeviceChoice::Cpu)?;
/// let text = model.inputs_embeds(&model.tokenize("good")?)?;
///
/// // Two vectors of ours before the text.
/// let prompt = Var::zeros((2, model.dim()), DType::F32, model.device())?;
/// let mut seen = model.start();
/// model.forward_with_cache(&prompt, &mut seen)?;
/// let states = model.forward_with_cache(&text, &mut seen)?;
/// let gradients = model.logits(&states)?.sum_all()?.backward()?;
/// assert_eq!(gradients.get(&prompt).map(|g| g.dims().to_vec()), Some(vec![2, model.dim()]));
/// # Ok(())
/// # }
/// ```
pub struct CausalModel {
    model: Gpt2,
    tokens: Tokens,
    device: Device,
}

/// The cached keys and values of one text in a [`CausalModel`]. Clones are independent, so that a prompt is
/// computed once for many texts.
#[derive(Clone, Debug, Default)]
pub struct KvCache(LayerKeyValues);

impl KvCache {
    /// Number of tokens and vectors seen so far.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.0.tokens()
    }
}

impl fmt::Debug for CausalModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CausalModel").field("dim", &self.dim()).finish()
    }
}

impl CausalModel {
    /// Opens a folder of the family `gpt2`, as [`Encoder::open`](crate::Encoder::open) does for the other
    /// families.
    ///
    /// # Errors
    /// [`EncoderError::Family`] for a folder of another family; otherwise what is wrong with the folder.
    pub fn open(dir: &Path, choice: DeviceChoice) -> Result<Self, EncoderError> {
        let folder = Folder::open(dir)?;
        let (family, config) = check(&folder)?;
        if family != "gpt2" {
            return Err(EncoderError::Family { dir: folder.dir, family, known: "gpt2".to_owned() });
        }
        let device = device::choose(choice, PrecisionChoice::default())?.device;
        let parameters =
            Parameters::new(Weights::open(&folder, &device)?, None, Precision::Fp32).differentiable();
        let model = Gpt2::open(config, &folder, parameters, &device)?;
        let sizes = model.sizes();
        let tokens =
            Tokens::open(&folder, Input::truncated(sizes.positions), sizes.positions, sizes.vocabulary)?;
        Ok(Self { model, tokens, device })
    }

    /// Length of a vector and of a hidden state.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.model.sizes().dim
    }

    /// Maximum number of tokens and vectors of one text: a soft prompt reduces what is left for the text.
    #[must_use]
    pub fn positions(&self) -> usize {
        self.model.sizes().positions
    }

    /// The device of its tensors.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the token ids of a text, cut to the longest input.
    ///
    /// # Errors
    /// [`EncoderError::Tokenize`], or [`EncoderError::NoTokens`] for an empty text.
    pub fn tokenize(&self, text: &str) -> Result<Vec<u32>, EncoderError> {
        Ok(self.tokens.tokenize(&[text], 0)?.into_iter().flat_map(|text| text.windows).flatten().collect())
    }

    /// Looks up the input embeddings of token ids: `[ids, dim]`.
    ///
    /// # Errors
    /// [`EncoderError::Compute`], for example for an id beyond the vocabulary.
    pub fn inputs_embeds(&self, ids: &[u32]) -> Result<Tensor, EncoderError> {
        self.model.inputs_embeds(ids).map_err(|source| self.compute(source))
    }

    /// Starts a new text.
    #[must_use]
    pub fn start(&self) -> KvCache {
        KvCache::default()
    }

    /// Continues a text: returns the hidden states `[n, dim]`, after the last norm, of further vectors
    /// `[n, dim]`, each of which attends to itself and everything before it. No vectors give no states.
    ///
    /// # Errors
    /// [`EncoderError::Compute`], for example for more tokens than the model has positions.
    pub fn forward_with_cache(&self, vectors: &Tensor, seen: &mut KvCache) -> Result<Tensor, EncoderError> {
        if vectors.elem_count() == 0 {
            return Ok(vectors.clone());
        }
        self.model.forward_with_cache(vectors, &mut seen.0).map_err(|source| self.compute(source))
    }

    /// Computes next-token logits `[n, vocabulary]` from hidden states `[n, dim]`.
    pub fn logits(&self, states: &Tensor) -> Result<Tensor, EncoderError> {
        let scores: CandleResult<Tensor> = self.model.logits(states);
        scores.map_err(|source| self.compute(source))
    }

    fn compute(&self, source: candle_core::Error) -> EncoderError {
        EncoderError::Compute { device: device::name(&self.device), source }
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Var;

    use super::*;
    use crate::families::reference::Reference;

    fn assert_close(found: &Tensor, expected: &[Vec<f32>]) {
        let found: Vec<Vec<f32>> = found.to_vec2().unwrap();
        assert_eq!(found.len(), expected.len());
        let pairs = found.iter().flatten().zip(expected.iter().flatten());
        let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-4, "off by {worst}");
    }

    fn open() -> (CausalModel, Reference) {
        let reference = Reference::open("gpt2");
        (CausalModel::open(&reference.dir, DeviceChoice::Cpu).unwrap(), reference)
    }

    #[test]
    fn text_in_parts_equals_the_whole_text() {
        let (model, reference) = open();
        let last = reference.hidden(reference.states() - 1);
        let mut first = 0;
        for ids in &reference.ids {
            let expected = &last[first..first + ids.len()];
            first += ids.len();
            let mut seen = model.start();
            let vectors = model.inputs_embeds(ids).unwrap();
            assert_close(&model.forward_with_cache(&vectors, &mut seen).unwrap(), expected);
            assert_eq!(seen.tokens(), ids.len());

            let mut seen = model.start();
            for (i, expected) in expected.iter().enumerate() {
                let one = model.forward_with_cache(&vectors.narrow(0, i, 1).unwrap(), &mut seen).unwrap();
                assert_close(&one, std::slice::from_ref(expected));
            }
        }
    }

    #[test]
    fn next_token_scores_match_the_reference() {
        let (model, reference) = open();
        let ids = &reference.ids[reference.logits_of.unwrap()];
        let states =
            model.forward_with_cache(&model.inputs_embeds(ids).unwrap(), &mut model.start()).unwrap();
        assert_close(&model.logits(&states).unwrap(), &reference.rows("logits"));
    }

    #[test]
    fn input_vectors_and_gradients_match_the_reference() {
        let (model, reference) = open();
        let (shape, values) = reference.tensor("vectors.in").unwrap();
        let vectors = Var::from_vec(values, shape, &Device::Cpu).unwrap();
        let states = model.forward_with_cache(&vectors, &mut model.start()).unwrap();
        assert_close(&states, &reference.rows("vectors.last"));

        let (shape, weights) = reference.loss_weights();
        let weights = Tensor::from_vec(weights, shape, &Device::Cpu).unwrap().get(0).unwrap();
        let loss = (states.mean(0).unwrap() * weights).unwrap().sum_all().unwrap();
        assert_close(loss.backward().unwrap().get(&vectors).unwrap(), &reference.rows("vectors.grad"));
    }

    #[test]
    fn too_many_tokens_are_refused() {
        let (model, reference) = open();
        let mut seen = model.start();
        assert_eq!(model.positions(), reference.max_tokens);
        let nothing = model.inputs_embeds(&[]).unwrap();
        assert_eq!(model.forward_with_cache(&nothing, &mut seen).unwrap().dims(), [0, model.dim()]);
        let longest = reference.ids.iter().find(|ids| ids.len() == reference.max_tokens).unwrap();
        let vectors = model.inputs_embeds(longest).unwrap();
        model.forward_with_cache(&vectors, &mut seen).unwrap();
        let error = model.forward_with_cache(&vectors.narrow(0, 0, 1).unwrap(), &mut seen).unwrap_err();
        assert!(error.to_string().contains("more than the model's"), "{error}");
    }

    #[test]
    fn unsupported_family_is_named() {
        let error =
            CausalModel::open(&crate::families::reference::dir("bert"), DeviceChoice::Cpu).unwrap_err();
        assert!(error.to_string().contains("\"bert\"") && error.to_string().contains("gpt2"), "{error}");
    }
}
