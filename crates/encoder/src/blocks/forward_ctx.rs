//! State of one forward pass: its layout, whether a graph is recorded, and what it retains.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use candle_core::{Device, Result as CandleResult, Tensor, TensorId, Var};

use super::VarlenLayout;
use super::key_values::{Past, TextKeyValues};
use crate::ops::dropout;

/// How a batch is computed. Cheap to clone; a clone continues with the same seeds.
#[derive(Clone)]
pub(crate) struct ForwardCtx {
    packing: Rc<VarlenLayout>,
    /// Seed of the next dropout; `None`: no dropout.
    seeds: Option<Rc<Cell<u32>>>,
    /// Depth from which operations must be differentiable: 0 for the embeddings, `i + 1` for layer `i`.
    graph_from: usize,
    graph: bool,
    keep_all: bool,
    /// The depth set by [`ForwardCtx::at_depth`].
    depth: usize,
    /// Vectors for the ids beyond the vocabulary: `[vectors, width]`.
    soft_prompt: Option<Tensor>,
    /// Storage for the keys and values of every layer.
    recorded: Option<Rc<RefCell<TextKeyValues>>>,
    /// Cached keys and values that the rows continue from.
    past: Option<Rc<Past>>,
    /// Records rows taken from trainable tables; `None`: their gradients cover the whole table.
    lookups: Option<Rc<RefCell<Vec<Lookup>>>>,
}

/// Rows that were taken from a trainable embedding table.
pub(crate) struct Lookup {
    pub(crate) table: TensorId,
    /// Indices of the rows.
    pub(crate) ids: Vec<u32>,
    /// Their values, a variable of its own: `[ids, dim]`.
    pub(crate) rows: Var,
}

impl ForwardCtx {
    /// A pass without a graph, for texts of these `lengths`.
    pub(crate) fn inference(lengths: &[usize], device: &Device) -> Self {
        Self {
            packing: Rc::new(VarlenLayout::new(lengths, device)),
            seeds: None,
            graph_from: usize::MAX,
            graph: false,
            keep_all: false,
            depth: 0,
            soft_prompt: None,
            recorded: None,
            past: None,
            lookups: None,
        }
    }

    /// A pass with a graph from `graph_from` on and, with a `seed`, dropout.
    pub(crate) fn training(lengths: &[usize], device: &Device, graph_from: usize, seed: Option<u32>) -> Self {
        let seeds = seed.map(|seed| Rc::new(Cell::new(seed)));
        Self { seeds, graph_from, graph: true, ..Self::inference(lengths, device) }
    }

    /// The same pass over rows of these `lengths`, in which ids beyond the vocabulary select vectors of
    /// `prompt` `[vectors, width]`: the id after the vocabulary's last one selects the first.
    pub(crate) fn with_prompt(&self, prompt: &Tensor, lengths: &[usize]) -> Self {
        let packing = Rc::new(VarlenLayout::new(lengths, prompt.device()));
        Self { packing, soft_prompt: Some(prompt.clone()), ..self.clone() }
    }

    /// The same pass over only a soft prompt, once for each text of `past`, continuing from these.
    pub(crate) fn continuing(&self, prompt: &Tensor, past: Past) -> CandleResult<Self> {
        let lengths = vec![prompt.dim(0)?; past.lengths().len()];
        let packing = VarlenLayout::starting_at(&lengths, past.lengths().to_vec(), prompt.device());
        let (packing, past) = (Rc::new(packing), Some(Rc::new(past)));
        Ok(Self { packing, past, soft_prompt: Some(prompt.clone()), ..self.clone() })
    }

    /// Records keys and values of every layer.
    pub(crate) fn keeping_key_values(mut self) -> Self {
        self.recorded = Some(Rc::default());
        self
    }

    /// Records a layer's keys and values, `[rows, 2 * kv_heads * size]`, if that is enabled.
    pub(crate) fn record(&self, of_layer: impl FnOnce() -> CandleResult<Tensor>) -> CandleResult<()> {
        if let Some(recorded) = &self.recorded {
            recorded.borrow_mut().push(of_layer()?);
        }
        Ok(())
    }

    /// Takes the recorded keys and values.
    pub(crate) fn take_key_values(&self) -> TextKeyValues {
        self.recorded.as_ref().map(|recorded| recorded.take()).unwrap_or_default()
    }

    /// Cached keys and values that the rows continue from, and the current layer.
    pub(crate) fn past(&self) -> Option<(&Past, usize)> {
        self.past.as_ref().map(|past| (past.as_ref(), self.depth.saturating_sub(1)))
    }

    /// Whether ids may select vectors of a soft prompt.
    pub(crate) fn has_prompt(&self) -> bool {
        self.soft_prompt.is_some()
    }

    /// Retains every hidden state, not only the last two.
    pub(crate) fn keeping_all(mut self) -> Self {
        self.keep_all = true;
        self
    }

    /// Records the rows that are looked up in trainable tables, whose gradients are then as large as the
    /// batch instead of the vocabulary.
    pub(crate) fn noting_lookups(mut self) -> Self {
        self.lookups = Some(Rc::default());
        self
    }

    /// Takes the recorded lookups.
    pub(crate) fn take_lookups(&self) -> Vec<Lookup> {
        self.lookups.as_ref().map(|lookups| lookups.take()).unwrap_or_default()
    }

    /// Looks up rows of an embedding table: `[ids, dim]`.
    pub(crate) fn rows_of(&self, table: &Tensor, ids: &[u32]) -> CandleResult<Tensor> {
        if let Some(prompt) = &self.soft_prompt {
            return rows_or_vectors(table, prompt, ids);
        }
        let places = Tensor::from_slice(ids, ids.len(), table.device())?;
        match &self.lookups {
            Some(lookups) if self.graph && table.is_variable() => {
                let rows = Var::from_tensor(&table.detach().index_select(&places, 0)?)?;
                let tracked = rows.as_tensor().clone();
                lookups.borrow_mut().push(Lookup { table: table.id(), ids: ids.to_vec(), rows });
                Ok(tracked)
            }
            _ => table.index_select(&places, 0),
        }
    }

    /// The same pass at a depth: without graph and dropout below `graph_from`.
    pub(crate) fn at_depth(&self, depth: usize) -> Self {
        let graph = self.graph && depth >= self.graph_from;
        let seeds = if graph { self.seeds.clone() } else { None };
        Self { graph, seeds, depth, ..self.clone() }
    }

    pub(crate) fn packing(&self) -> &VarlenLayout {
        &self.packing
    }

    /// Whether operations must be differentiable here.
    pub(crate) fn graph(&self) -> bool {
        self.graph
    }

    /// Drops elements of `x` with probability `p` in training.
    pub(crate) fn dropout(&self, x: Tensor, p: f32) -> CandleResult<Tensor> {
        match &self.seeds {
            None => Ok(x),
            Some(seeds) => {
                let seed = seeds.get();
                seeds.set(seed.wrapping_add(0x9e37_79b9));
                dropout(&x, p, seed)
            }
        }
    }

    /// Runs `layer(i, x, ctx)` for every layer and retains the hidden states that are asked for, `x` the
    /// first.
    pub(crate) fn through(
        &self,
        layers: usize,
        x: Tensor,
        mut layer: impl FnMut(usize, &Tensor, &Self) -> CandleResult<Tensor>,
    ) -> CandleResult<States> {
        let mut states = States { all: vec![x], keep_all: self.keep_all };
        for i in 0..layers {
            let next = layer(i, states.last(), &self.at_depth(i + 1))?;
            states.push(next);
        }
        Ok(states)
    }
}

/// Looks up rows of a frozen table, and for ids beyond it the vectors of a soft prompt.
fn rows_or_vectors(table: &Tensor, prompt: &Tensor, ids: &[u32]) -> CandleResult<Tensor> {
    let known = table.dim(0)? as u32;
    let words: Vec<u32> = ids.iter().copied().filter(|id| *id < known).collect();
    let prompt = prompt.to_dtype(table.dtype())?;
    let device = table.device();
    let mut parts = vec![prompt];
    if !words.is_empty() {
        parts.insert(0, table.index_select(&Tensor::from_slice(&words, words.len(), device)?, 0)?);
    }
    let (mut next, vectors) = (0, words.len() as u32);
    let places: Vec<u32> = ids
        .iter()
        .map(|id| match id.checked_sub(known) {
            Some(vector) => vectors + vector,
            None => {
                next += 1;
                next - 1
            }
        })
        .collect();
    Tensor::cat(&parts, 0)?.index_select(&Tensor::from_slice(&places, places.len(), device)?, 0)
}

/// Hidden states of a batch's tokens, each `[tokens, dim]`, text after text; the embeddings are the first.
pub(crate) struct States {
    all: Vec<Tensor>,
    keep_all: bool,
}

impl States {
    fn push(&mut self, state: Tensor) {
        if !self.keep_all && self.all.len() == 2 {
            self.all.remove(0);
        }
        self.all.push(state);
    }

    /// After the last layer.
    pub(crate) fn last(&self) -> &Tensor {
        // Never empty: it is created with the embeddings.
        &self.all[self.all.len() - 1]
    }

    /// After the second-to-last layer; the embeddings if there is only one layer.
    pub(crate) fn second_to_last(&self) -> &Tensor {
        &self.all[self.all.len().saturating_sub(2)]
    }

    /// All of them, or the last two unless the pass retains all.
    pub(crate) fn into_all(self) -> Vec<Tensor> {
        self.all
    }

    /// Applies `change` to every state.
    pub(crate) fn map(mut self, change: impl Fn(&Tensor) -> CandleResult<Tensor>) -> CandleResult<Self> {
        for state in &mut self.all {
            *state = change(state)?;
        }
        Ok(self)
    }

    /// Replaces the last state, for families with a norm after the last layer.
    pub(crate) fn finish(mut self, end: impl FnOnce(&Tensor) -> CandleResult<Tensor>) -> CandleResult<Self> {
        let ended = end(self.last())?;
        if let Some(last) = self.all.last_mut() {
            *last = ended;
        }
        Ok(self)
    }
}
