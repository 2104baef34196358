//! Span questions while an encoder is tuned: a linear head on the states of words in addition to the heads
//! on embeddings of texts.

use super::embedder::{Embedder, States};
use super::history::ValidationScores;
use super::word_question::{WordHead, WordQuestion};
use crate::networks::DropoutRng;
use candle_core::{DType, Device, Result as CandleResult, Tensor, Var};
use dissensus_models::spans::{Readiness, SpanAnswer, fit_readiness};
use dissensus_stats::data::progress::Progress;
use dissensus_stats::data::{ModelError, ModelKind};
use dissensus_stats::math::{attenuation, sigmoid};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// A task of learning words.
pub(super) struct WordTask<'a> {
    pub(super) of: WordQuestion<'a>,
    weights: Var,
    constants: Var,
    /// Mean of each annotator and type, in logits: fitted alternately, like the random effects of
    /// `multilevel`. `None` where annotators are not distinguished.
    readiness: Option<Vec<Readiness>>,
    /// Tokens of each word, for texts with answers.
    tokens: HashMap<u32, Vec<Range<usize>>>,
    by_text: HashMap<u32, Vec<usize>>,
    /// Loss of a model of rates per decision, in nats.
    base_loss: f64,
    pub(super) prefix: String,
}

impl<'a> WordTask<'a> {
    /// Creates a head that knows the rates of the types, before the first step.
    pub(super) fn new(
        prefix: String,
        of: WordQuestion<'a>,
        model: ModelKind,
        embedder: &Embedder<'_>,
    ) -> Result<Self, ModelError> {
        let with_readiness = match model {
            ModelKind::Shared => false,
            ModelKind::Multilevel => true,
            other => return Err(ModelError::NotOverWords(other.name())),
        };
        let mut by_text: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, answer) in of.answers.iter().enumerate() {
            by_text.entry(answer.text).or_default().push(at);
        }
        let mut texts: Vec<u32> = by_text.keys().copied().collect();
        texts.sort_unstable();
        let tokens = texts.iter().copied().zip(embedder.word_tokens(&texts, of.words)?).collect();
        let rates = rates(&of);
        let device = embedder.device();
        let constants: Vec<f32> = rates.iter().map(|rate| (rate / (1.0 - rate)).ln() as f32).collect();
        let entropy = |p: &f64| -(p * p.ln() + (1.0 - p) * (1.0 - p).ln());
        Ok(Self {
            weights: Var::zeros((embedder.hidden(), of.types), DType::F32, &device)?,
            constants: Var::from_vec(constants, of.types, &device)?,
            readiness: with_readiness
                .then(|| vec![Readiness::unknown(of.annotators, READINESS_VARIANCE); of.types]),
            tokens,
            by_text,
            base_loss: rates.iter().map(entropy).sum::<f64>() / of.types.max(1) as f64,
            of,
            prefix,
        })
    }

    /// All variables trained by gradients, by their names in a checkpoint.
    pub(super) fn variables(&self) -> Vec<(String, Var)> {
        vec![
            (format!("{}weights", self.prefix), self.weights.clone()),
            (format!("{}constants", self.prefix), self.constants.clone()),
        ]
    }

    /// All learned tensors, by their names in a checkpoint.
    pub(super) fn tensors(&self) -> Result<HashMap<String, Tensor>, ModelError> {
        let mut all = HashMap::new();
        for (name, var) in self.variables() {
            all.insert(name, var.as_detached_tensor().to_device(&Device::Cpu)?.copy()?);
        }
        for (of_type, readiness) in self.readiness.iter().flatten().enumerate() {
            let values: Vec<f64> =
                readiness.of.iter().flat_map(|(mean, variance)| [*mean, *variance]).collect();
            let shape = (readiness.of.len(), 2);
            all.insert(self.of_type("readiness", of_type), Tensor::from_vec(values, shape, &Device::Cpu)?);
            let variance = Tensor::from_vec(vec![readiness.variance], 1, &Device::Cpu)?;
            all.insert(self.of_type("variance", of_type), variance);
        }
        Ok(all)
    }

    fn of_type(&self, what: &str, of_type: usize) -> String {
        format!("{}{what}-{of_type}", self.prefix)
    }

    /// Restores the tensors returned by [`WordTask::tensors`].
    pub(super) fn set(&mut self, tensors: &HashMap<String, Tensor>) -> Result<(), ModelError> {
        for (name, var) in self.variables() {
            if let Some(tensor) = tensors.get(&name) {
                var.set(&tensor.to_device(var.device())?)?;
            }
        }
        let names: Vec<(String, String)> = (0..self.of.types)
            .map(|of_type| (self.of_type("readiness", of_type), self.of_type("variance", of_type)))
            .collect();
        for (readiness, (means, variance)) in self.readiness.iter_mut().flatten().zip(names) {
            if let (Some(means), Some(variance)) = (tensors.get(&means), tensors.get(&variance)) {
                let pairs: Vec<Vec<f64>> = means.to_vec2()?;
                readiness.of = pairs.iter().map(|pair| (pair[0], pair[1])).collect();
                readiness.variance = variance.to_vec1::<f64>()?[0];
            }
        }
        Ok(())
    }

    /// The learned head.
    pub(super) fn head(&self) -> Result<WordHead, ModelError> {
        let weights = self.weights.as_detached_tensor().to_device(&Device::Cpu)?;
        Ok(WordHead {
            weights: weights.t()?.contiguous()?.flatten_all()?.to_vec1()?,
            constants: self.constants.as_detached_tensor().to_device(&Device::Cpu)?.to_vec1()?,
            with_readiness: self.readiness.is_some(),
        })
    }

    /// Total weight of all decisions, in units of the loss of a model of rates on one.
    pub(super) fn total(&self) -> f64 {
        let of_text =
            |text: u32| -> f64 { self.of.counts[text as usize].iter().map(|w| f64::from(*w)).sum() };
        let words: f64 = self.of.answers.iter().map(|answer| of_text(answer.text)).sum();
        words * self.of.types as f64 * self.base_loss
    }

    /// Computes the summed loss of the answers to these texts, whose tokens have `states`, text after text;
    /// `None` where none of their words was answered.
    pub(super) fn loss(
        &self,
        states: States<'_>,
        texts: &[u32],
        drop: f64,
        dropout: DropoutRng,
    ) -> CandleResult<Option<Tensor>> {
        let rows = self.rows(texts, states.lengths);
        let states = states.all;
        if rows.word.is_empty() {
            return Ok(None);
        }
        let device = states.device();
        let (types, words, decisions) = (self.of.types, rows.words, rows.word.len());
        let tokens = rows.token.len();
        let picked = states.index_select(&Tensor::from_vec(rows.token, tokens, device)?, 0)?;
        let shares = Tensor::from_vec(rows.share, (tokens, 1), device)?;
        let into = Tensor::from_vec(rows.token_word, tokens, device)?;
        let hidden = states.dim(1)?;
        let pooled = Tensor::zeros((words, hidden), DType::F32, device)?.index_add(
            &into,
            &picked.to_dtype(DType::F32)?.broadcast_mul(&shares)?,
            0,
        )?;
        let pooled = DropoutRng::dropout(Some(dropout), pooled, drop, 0)?;
        let logits = pooled.matmul(self.weights.as_tensor())?.broadcast_add(self.constants.as_tensor())?;
        let logits = logits.index_select(&Tensor::from_vec(rows.word, decisions, device)?, 0)?;
        let logits = (logits + Tensor::from_vec(rows.readiness, (decisions, types), device)?)?;
        let marked = Tensor::from_vec(rows.marked, (decisions, types), device)?;
        let weights = Tensor::from_vec(rows.weight, (decisions, 1), device)?;
        // -ln p of a Bernoulli variable in logits, for both signs.
        let softplus = (logits.relu()? + (logits.abs()?.neg()?.exp()? + 1.0)?.log()?)?;
        let losses = (softplus - (logits * marked)?)?;
        losses.broadcast_mul(&weights)?.sum_all().map(Some)
    }

    fn rows(&self, texts: &[u32], lengths: &[usize]) -> DecisionRows {
        let mut rows = DecisionRows::default();
        let mut first = 0;
        for (text, length) in texts.iter().zip(lengths) {
            let start = first;
            first += length;
            let Some(words) = self.tokens.get(text) else { continue };
            let mut word_rows: Vec<Option<u32>> = Vec::with_capacity(words.len());
            for tokens in words {
                if tokens.is_empty() {
                    word_rows.push(None);
                    continue;
                }
                let row = rows.words as u32;
                rows.words += 1;
                word_rows.push(Some(row));
                for token in tokens.clone() {
                    rows.token.push((start + token) as u32);
                    rows.token_word.push(row);
                    rows.share.push(1.0 / tokens.len() as f32);
                }
            }
            for answer in self.by_text[text].iter().map(|at| &self.of.answers[*at]) {
                self.answer_rows(answer, &word_rows, &mut rows);
            }
        }
        rows
    }

    fn answer_rows(&self, answer: &SpanAnswer, word_rows: &[Option<u32>], rows: &mut DecisionRows) {
        let mut marks = answer.marks.iter().peekable();
        let counts = &self.of.counts[answer.text as usize];
        for (word, (row, weight)) in word_rows.iter().zip(counts).enumerate() {
            let bits = marks.next_if(|(at, _)| *at as usize == word).map_or(0, |(_, bits)| *bits);
            let Some(row) = row else { continue };
            rows.word.push(*row);
            rows.weight.push(*weight);
            for of_type in 0..self.of.types {
                rows.marked.push(f32::from(u8::from(bits >> of_type & 1 == 1)));
                rows.readiness.push(self.readiness_of(answer.annotator, of_type).0 as f32);
            }
        }
    }

    fn readiness_of(&self, annotator: u32, of_type: usize) -> (f64, f64) {
        self.readiness.as_ref().map_or((0.0, 0.0), |all| all[of_type].get(annotator))
    }

    /// Fits annotators' readiness to the training answers on the current encoder, and scores the validation
    /// answers where `scored`.
    pub(super) fn refit_and_score(
        &mut self,
        scored: bool,
        embedder: &Embedder<'_>,
        progress: &dyn Progress,
    ) -> Result<Option<ValidationScores>, ModelError> {
        let validation = if scored { self.of.validation } else { &[] };
        let learns = if self.readiness.is_some() { self.of.answers } else { &[] };
        let mut texts: Vec<u32> = learns.iter().chain(validation).map(|answer| answer.text).collect();
        texts.sort_unstable();
        texts.dedup();
        if texts.is_empty() {
            return Ok(None);
        }
        let scores = self.scores(&texts, embedder, progress)?;
        let WordQuestion { counts, annotators, types, .. } = self.of;
        let known = |text: u32| (&scores[&text][..], &counts[text as usize][..]);
        if let Some(readiness) = &mut self.readiness {
            *readiness = fit_readiness(learns, annotators, types, known);
        }
        Ok((!validation.is_empty()).then(|| self.validation_scores(validation, &scores)))
    }

    /// Computes scores of the words of these texts, `[words][types]`.
    fn scores(
        &self,
        texts: &[u32],
        embedder: &Embedder<'_>,
        progress: &dyn Progress,
    ) -> Result<BTreeMap<u32, Vec<f64>>, ModelError> {
        let head = self.head()?;
        let mut all = BTreeMap::new();
        embedder.word_states(texts, self.of.words, progress, |text, states| {
            all.insert(text, head.scores(states));
        })?;
        Ok(all)
    }

    fn validation_scores(
        &self,
        validation: &[SpanAnswer],
        scores: &BTreeMap<u32, Vec<f64>>,
    ) -> ValidationScores {
        let types = self.of.types;
        let (mut loss, mut right, mut weight) = (0.0, 0.0, 0.0);
        // True positives, and the sum of predicted and actual ones.
        let mut counts = vec![(0.0, 0.0); types];
        for answer in validation {
            let (scores, own) = (&scores[&answer.text], &self.of.counts[answer.text as usize]);
            for (of_type, counts) in counts.iter_mut().enumerate() {
                let (mean, variance) = self.readiness_of(answer.annotator, of_type);
                for (word, marked) in answer.marked(own.len(), of_type).enumerate() {
                    // As in choosing a model of words: a weight between one per word and one per form.
                    let count = f64::from(own[word]).sqrt();
                    let p = sigmoid((scores[word * types + of_type] + mean) * attenuation(variance));
                    let p = p.clamp(1e-7, 1.0 - 1e-7);
                    loss -= count * if marked { p.ln() } else { (1.0 - p).ln() };
                    weight += count;
                    right += count * f64::from(u8::from((p >= 0.5) == marked));
                    counts.0 += count * f64::from(u8::from(marked && p >= 0.5));
                    counts.1 += count * (f64::from(u8::from(marked)) + f64::from(u8::from(p >= 0.5)));
                }
            }
        }
        let f1 = |(both, either): &(f64, f64)| if *either > 0.0 { 2.0 * both / either } else { 0.0 };
        ValidationScores {
            log_loss: loss / weight.max(1e-9),
            accuracy: right / weight.max(1e-9),
            macro_f1: counts.iter().map(f1).sum::<f64>() / types.max(1) as f64,
        }
    }

    /// Converts scores to the scale of the other questions: log loss in units of the loss of a model of
    /// rates.
    pub(super) fn comparable(&self, scores: ValidationScores) -> ValidationScores {
        ValidationScores { log_loss: scores.log_loss / self.base_loss, ..scores }
    }
}

/// Prior variance of readiness.
const READINESS_VARIANCE: f64 = 1.0;

/// Decisions in a share of a batch: a row for each answer and word that has tokens.
#[derive(Default)]
struct DecisionRows {
    words: usize,
    /// For each used token its row among the states, its word, and its share in the word.
    token: Vec<u32>,
    token_word: Vec<u32>,
    share: Vec<f32>,
    word: Vec<u32>,
    weight: Vec<f32>,
    /// `[rows][types]`.
    readiness: Vec<f32>,
    marked: Vec<f32>,
}

/// Weighted share of decisions that mark, for each type, with half a mark added.
fn rates(of: &WordQuestion<'_>) -> Vec<f64> {
    let mut marked = vec![0.5; of.types];
    let mut all = 1.0;
    for answer in of.answers {
        let counts = &of.counts[answer.text as usize];
        all += counts.iter().map(|w| f64::from(*w)).sum::<f64>();
        for (word, bits) in &answer.marks {
            for (of_type, marked) in marked.iter_mut().enumerate() {
                *marked += f64::from(counts[*word as usize]) * f64::from((bits >> of_type & 1) as u8);
            }
        }
    }
    marked.iter().map(|marked| (marked / all).clamp(1e-6, 1.0 - 1e-6)).collect()
}
