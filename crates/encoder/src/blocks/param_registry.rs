//! The trainable parameters of one opened encoder: variables, their groups, and low-rank additions.

use std::cell::{Cell, RefCell};
use std::fmt;

use candle_core::{Device, Result as CandleResult, Tensor, Var};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::lora::{Adapter, PlacedAdapter};
use super::{LinearNames, Role};
use crate::freeze_policy::{FreezePolicy, LoraConfig, LoraTarget};

pub(crate) const SOFT_PROMPT: &str = "soft_prompt";

/// Part of an encoder that a weight belongs to; learning rates and gradient norms are per group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Word and position embeddings, and what all layers share.
    Embeddings,
    /// A layer, from 0.
    Layer(usize),
    /// What follows the last layer.
    Top,
    /// The caller's head on top of the embeddings.
    Head,
}

impl Group {
    /// 0 for the embeddings, `i + 1` for layer `i`, `layers + 1` above.
    pub(crate) fn depth(self, layers: usize) -> usize {
        match self {
            Self::Embeddings => 0,
            Self::Layer(i) => i + 1,
            Self::Top | Self::Head => layers + 1,
        }
    }

    /// Determines the group from a tensor's name in its checkpoint: layers are numbered, and what follows
    /// them has few names.
    fn new(name: &str) -> Self {
        if let Some(layer) = name.split('.').find_map(|part| part.parse().ok()) {
            return Self::Layer(layer);
        }
        let top = ["pooler.", "final_norm.", "ln_f.", "norm.", "head.", "classifier."];
        if top.iter().any(|start| name.starts_with(start)) { Self::Top } else { Self::Embeddings }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embeddings => f.write_str("embeddings"),
            Self::Layer(i) => write!(f, "layer {i}"),
            Self::Top => f.write_str("top"),
            Self::Head => f.write_str("head"),
        }
    }
}

/// One trainable tensor.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name in the checkpoint; low-rank additions have the suffix `.lora_a` or `.lora_b`.
    pub name: String,
    pub group: Group,
    /// Whether weight decay applies: to matrices, not to biases and norms.
    pub decays: bool,
    /// Its values.
    pub var: Var,
}

impl Parameter {
    /// A parameter of the caller's head.
    pub(crate) fn of_head(name: &str, var: &Var) -> Self {
        Self { name: name.to_owned(), group: Group::Head, decays: var.dims().len() > 1, var: var.clone() }
    }

    /// Whether it is part of a low-rank addition, and thus not a tensor of the checkpoint.
    pub(crate) fn is_addition(&self) -> bool {
        self.name.ends_with(".lora_a") || self.name.ends_with(".lora_b")
    }
}

/// Collects trainable parameters while a family is opened.
pub(crate) struct ParamRegistry {
    policy: FreezePolicy,
    layers: Cell<usize>,
    random: RefCell<ChaCha8Rng>,
    parameters: RefCell<Vec<Parameter>>,
    placed: RefCell<Vec<PlacedAdapter>>,
}

impl ParamRegistry {
    /// `seed` determines the initial values of low-rank additions.
    pub(crate) fn new(policy: FreezePolicy, seed: u64) -> Self {
        Self {
            policy,
            layers: Cell::new(0),
            random: RefCell::new(ChaCha8Rng::seed_from_u64(seed)),
            parameters: RefCell::default(),
            placed: RefCell::default(),
        }
    }

    pub(crate) fn set_layers(&self, layers: usize) {
        self.layers.set(layers);
    }

    pub(crate) fn layers(&self) -> usize {
        self.layers.get()
    }

    /// The collected parameters and additions.
    pub(crate) fn collected(self) -> (Vec<Parameter>, Vec<PlacedAdapter>) {
        (self.parameters.into_inner(), self.placed.into_inner())
    }

    /// Whether the tensor `name` itself is trainable.
    pub(crate) fn learns(&self, name: &str) -> bool {
        !matches!(self.policy, FreezePolicy::Lora(_) | FreezePolicy::Prompt(_)) && self.in_graph(name)
    }

    /// Whether it or something below it is trainable.
    pub(crate) fn in_graph(&self, name: &str) -> bool {
        Group::new(name).depth(self.layers.get()) >= self.policy.graph_from(self.layers.get())
    }

    pub(crate) fn policy(&self) -> &FreezePolicy {
        &self.policy
    }

    /// Creates a trainable soft prompt `[vectors, width]`, initialised with the embeddings of words drawn
    /// from `words` `[vocabulary, width]`.
    pub(crate) fn soft_prompt(&self, words: &Tensor, vectors: usize) -> CandleResult<Tensor> {
        let mut random = self.random.borrow_mut();
        let vocabulary = words.dim(0)?.max(1) as u32;
        let ids: Vec<u32> = (0..vectors).map(|_| random.random_range(0..vocabulary)).collect();
        let ids = Tensor::from_vec(ids, vectors, words.device())?;
        let var = Var::from_tensor(&words.index_select(&ids, 0)?)?;
        let tracked = var.as_tensor().clone();
        self.parameters.borrow_mut().push(Parameter {
            name: SOFT_PROMPT.to_owned(),
            group: Group::Embeddings,
            decays: false,
            var,
        });
        Ok(tracked)
    }

    /// Registers `tensor` as a variable.
    pub(crate) fn variable(&self, name: &str, full: &str, tensor: Tensor) -> CandleResult<Tensor> {
        let var = Var::from_tensor(&tensor)?;
        let tracked = var.as_tensor().clone();
        let decays = tensor.dims().len() > 1;
        self.parameters.borrow_mut().push(Parameter {
            name: full.to_owned(),
            group: Group::new(name),
            decays,
            var,
        });
        Ok(tracked)
    }

    /// Creates the low-rank additions of a product, one for each slice.
    pub(crate) fn adapters(
        &self,
        names: &LinearNames<'_>,
        full: impl Fn(&str) -> String,
        device: &Device,
    ) -> CandleResult<Vec<Option<Adapter>>> {
        let FreezePolicy::Lora(low) = &self.policy else {
            return Ok(names.roles.iter().map(|_| None).collect());
        };
        let slices = names.slices();
        let mut adapters = Vec::with_capacity(names.roles.len());
        for (i, role) in names.roles.iter().enumerate() {
            if !low.targets.iter().any(|target| role_of(*target) == *role) {
                adapters.push(None);
                continue;
            }
            let (tensor, slice) = (i / slices, i % slices);
            let weight = format!("{}.weight", names.names[tensor]);
            let adapter = self.adapter(low, &weight, slice, [names.outputs[i], names.inputs], device)?;
            self.placed.borrow_mut().push(PlacedAdapter {
                weight: full(&weight),
                first: names.outputs[tensor * slices..i].iter().sum(),
                transposed: names.transposed,
                adapter: adapter.clone(),
            });
            adapters.push(Some(adapter));
        }
        Ok(adapters)
    }

    fn adapter(
        &self,
        low: &LoraConfig,
        weight: &str,
        slice: usize,
        [outputs, inputs]: [usize; 2],
        device: &Device,
    ) -> CandleResult<Adapter> {
        // Uniform within the bound that preserves the variance of a product's inputs (He et al. 2015, with
        // slope sqrt 5).
        let bound = (inputs as f32).sqrt().recip();
        let mut random = self.random.borrow_mut();
        let values: Vec<f32> = (0..low.rank * inputs).map(|_| random.random_range(-bound..bound)).collect();
        let a = Tensor::from_vec(values, (low.rank, inputs), device)?;
        let b = Tensor::zeros((outputs, low.rank), a.dtype(), device)?;
        let var = |end: &str, tensor: &Tensor| -> CandleResult<Tensor> {
            let var = Var::from_tensor(tensor)?;
            let tracked = var.as_tensor().clone();
            let slice = if slice == 0 { String::new() } else { format!(".{slice}") };
            let name = format!("{weight}{slice}.{end}");
            self.parameters.borrow_mut().push(Parameter {
                name,
                group: Group::new(weight),
                decays: true,
                var,
            });
            Ok(tracked)
        };
        Ok(Adapter {
            a: var("lora_a", &a)?,
            b: var("lora_b", &b)?,
            scale: low.alpha / low.rank as f64,
            dropout: low.dropout,
        })
    }
}

/// The products of a LoRA target.
fn role_of(target: LoraTarget) -> Role {
    match target {
        LoraTarget::Query => Role::Query,
        LoraTarget::Key => Role::Key,
        LoraTarget::Value => Role::Value,
        LoraTarget::AttentionOutput => Role::AttentionOutput,
        LoraTarget::FeedForward => Role::FeedForward,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_follows_the_tensor_name() {
        for (name, group) in [
            ("embeddings.word_embeddings.weight", Group::Embeddings),
            ("encoder.relative_attention_bias.weight", Group::Embeddings),
            ("encoder.layer.11.output.dense.bias", Group::Layer(11)),
            ("h.0.attn.c_attn.weight", Group::Layer(0)),
            ("pooler.dense.weight", Group::Top),
            ("ln_f.bias", Group::Top),
            ("norm.weight", Group::Top),
        ] {
            assert_eq!(Group::new(name), group, "{name}");
        }
    }
}
