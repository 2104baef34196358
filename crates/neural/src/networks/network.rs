//! A network: its layers, its forward pass and its loss.

use super::dense::{self, DropoutRng};
use super::head::{AnnotatorMlp, HeadSpec, MlpHead};
use super::mixed_head::MixedHead;
use super::output;
use super::rows::Rows;
use super::shape::{Scaler, Shape};
use super::share_rec::{AnnotatorEmbeddingSpec, ShareRec, Sizes};
use super::table::{Gathered, Table};
use candle_core::{Device, Result, Tensor, Var};
use dissensus_models::link::Link;
use dissensus_stats::data::ModelKind;
use dissensus_stats::math::random::generator;
use serde::{Deserialize, Serialize};

/// Specification of a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkSpec {
    pub model: ModelKind,
    /// The head; `share-rec` uses only its dropout.
    pub head: HeadSpec,
    /// The annotator embedding of `share-rec`.
    #[serde(rename = "people")]
    pub annotator_embedding: AnnotatorEmbeddingSpec,
}

/// A network with its trainable weights.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub(crate) spec: NetworkSpec,
    pub(crate) shape: Shape,
    pub(crate) device: Device,
    body: Body,
    /// Rows of annotators: whole heads for `sep-heads`, vectors for `share-rec`.
    pub(crate) table: Option<Table>,
}

#[derive(Clone, Debug)]
enum Body {
    Plain(MlpHead),
    SepHeads { own: AnnotatorMlp, fallback: MlpHead },
    ShareRec(ShareRec),
    MixedHead(MixedHead),
}

impl Network {
    /// `start` are the initial outputs: the shares of the levels in the training labels.
    pub(crate) fn new(
        spec: NetworkSpec,
        shape: Shape,
        start: &[f64],
        seed: u64,
        device: &Device,
    ) -> Result<Self> {
        let start: Vec<f32> = start.iter().map(|s| *s as f32).collect();
        let mut rng = generator(seed, 4);
        let (dim, annotators) = (shape.dim, shape.annotators);
        let (mut table, link) = (None, Link::new(shape.target));
        let body = match spec.model {
            ModelKind::Majority | ModelKind::Shared => {
                Body::Plain(MlpHead::new(&spec.head, dim, &start, &mut rng, device)?)
            }
            ModelKind::SepHeads => {
                let own = AnnotatorMlp { dim, hidden: spec.head.hidden, width: start.len() };
                let fallback = MlpHead::new(&spec.head, dim, &start, &mut rng, device)?;
                let values = (0..annotators).flat_map(|_| own.first(&start, &mut rng)).collect();
                table = Some(Table::new("own", own.size(), values));
                Body::SepHeads { own, fallback }
            }
            ModelKind::ShareRecFfn | ModelKind::ShareRecDcn => {
                let embedding = &spec.annotator_embedding;
                if embedding.identity {
                    // The first row is for new annotators.
                    let values = dense::uniform(embedding.size, (annotators + 1) * embedding.size, &mut rng);
                    table = Some(Table::new("person", embedding.size, values));
                }
                let inputs = table.as_ref().map_or(0, |t| t.width)
                    + if embedding.attributes { shape.one_hot.width } else { 0 };
                let sizes = Sizes { dim, annotator: inputs.max(1) };
                let cross = spec.model == ModelKind::ShareRecDcn;
                Body::ShareRec(ShareRec::new(cross, embedding, sizes, &start, &mut rng, device)?)
            }
            ModelKind::Multilevel => Body::MixedHead(MixedHead::new(link, dim, &start, device)?),
        };
        Ok(Self { spec, shape, device: device.clone(), body, table })
    }

    /// Row of the table for an annotator.
    fn table_row(&self, annotator: Option<u32>) -> u32 {
        let known = annotator.filter(|a| self.knows(*a));
        match self.body {
            Body::ShareRec(_) => known.map_or(0, |a| a + 1),
            _ => known.unwrap_or_default(),
        }
    }

    /// Whether it has trained on labels of this annotator.
    pub(crate) fn knows(&self, annotator: u32) -> bool {
        self.shape.seen.get(annotator as usize).copied().unwrap_or(false)
    }

    pub(crate) fn gather<'a>(&self, rows: impl Iterator<Item = &'a Rows>) -> Result<Option<Gathered>> {
        let Some(table) = &self.table else { return Ok(None) };
        let mut used: Vec<u32> =
            rows.flat_map(|rows| rows.annotators.iter().map(|a| self.table_row(*a))).collect();
        used.sort_unstable();
        used.dedup();
        used.retain(|row| (*row as usize) < table.rows());
        table.gather(&used, &self.device).map(Some)
    }

    /// Computes outputs `[rows, width]` for embeddings `x` `[texts, dim]` of the encoder.
    pub(crate) fn outputs(
        &self,
        x: &Tensor,
        rows: &Rows,
        gathered: Option<&Gathered>,
        dropout: Option<DropoutRng>,
    ) -> Result<Tensor> {
        let x = self.shape.scaler.apply(x)?;
        let head = &self.spec.head;
        match (&self.body, gathered) {
            // One output for each text, then one for each of its labels.
            (Body::Plain(plain), _) => rows.embeddings(&plain.apply(head, &x, dropout)?),
            (Body::MixedHead(mixed), _) => {
                mixed.apply(head, &rows.embeddings(&x)?, &rows.annotators, dropout)
            }
            (Body::SepHeads { own, .. }, Some(gathered)) => {
                own.apply(head, &rows.embeddings(&x)?, &self.annotator_rows(rows, gathered)?, dropout)
            }
            (Body::SepHeads { fallback, .. }, None) => rows.embeddings(&fallback.apply(head, &x, dropout)?),
            (Body::ShareRec(mixed), gathered) => {
                let mut known = Vec::new();
                if let Some(gathered) = gathered {
                    known.push(self.annotator_rows(rows, gathered)?);
                }
                if self.spec.annotator_embedding.attributes && self.shape.one_hot.width > 0 {
                    known.push(self.one_hot(rows)?);
                }
                if known.is_empty() {
                    // No input distinguishes annotators: all are the same.
                    known.push(Tensor::ones((rows.len(), 1), x.dtype(), x.device())?);
                }
                mixed.apply(head, &rows.embeddings(&x)?, &Tensor::cat(&known, 1)?, dropout)
            }
        }
    }

    /// Computes the summed loss of `rows`, to be divided by their weight.
    pub(crate) fn loss(
        &self,
        x: &Tensor,
        rows: &Rows,
        gathered: Option<&Gathered>,
        dropout: Option<DropoutRng>,
    ) -> Result<Tensor> {
        let target = self.shape.target;
        let targets = rows.targets(target.levels, &self.device)?;
        let loss = output::loss(&self.outputs(x, rows, gathered, dropout)?, &targets, target)?;
        let Body::SepHeads { .. } = self.body else { return Ok(loss) };
        // The head for unseen annotators has an auxiliary loss on detached embeddings, whose value is
        // excluded from the reported loss.
        let shared = self.outputs(&x.detach(), rows, None, dropout)?;
        let shared = output::loss(&shared, &targets, target)?;
        loss + (&shared - shared.detach())?
    }

    fn annotator_rows(&self, rows: &Rows, gathered: &Gathered) -> Result<Tensor> {
        let places: Vec<u32> = rows.annotators.iter().map(|a| gathered.place(self.table_row(*a))).collect();
        gathered.var.index_select(&Tensor::from_vec(places, rows.len(), &self.device)?, 0)
    }

    fn one_hot(&self, rows: &Rows) -> Result<Tensor> {
        let one_hot = &self.shape.one_hot;
        if !rows.one_hot.is_empty() {
            return Tensor::from_slice(&rows.one_hot, (rows.len(), one_hot.width), &self.device);
        }
        let nothing = vec![0.0; one_hot.width];
        let whose = if rows.attributes_of.is_empty() { &rows.annotators } else { &rows.attributes_of };
        let values: Vec<f32> =
            whose.iter().flat_map(|a| one_hot.row(*a).unwrap_or(&nothing).iter().copied()).collect();
        Tensor::from_vec(values, (rows.len(), one_hot.width), &self.device)
    }

    /// Probabilities of the levels for `rows`, rows x levels; an annotator without a separate head gets the
    /// shared one.
    pub(crate) fn probabilities(&self, x: &Tensor, rows: &Rows) -> Result<Vec<f32>> {
        let levels = self.shape.target.levels;
        let Body::SepHeads { .. } = self.body else {
            let gathered = self.gather(std::iter::once(rows))?;
            return self.finished(&self.outputs(x, rows, gathered.as_ref(), None)?);
        };
        let mut out = vec![0.0; rows.len() * levels];
        for own in [true, false] {
            let is = |annotator: &Option<u32>| annotator.is_some_and(|a| self.knows(a)) == own;
            let picked: Vec<usize> = (0..rows.len()).filter(|i| is(&rows.annotators[*i])).collect();
            if picked.is_empty() {
                continue;
            }
            let part = Rows {
                texts: picked.iter().map(|i| rows.texts[*i]).collect(),
                annotators: picked.iter().map(|i| rows.annotators[*i]).collect(),
                ..Rows::default()
            };
            let gathered = if own { self.gather(std::iter::once(&part))? } else { None };
            let p = self.finished(&self.outputs(x, &part, gathered.as_ref(), None)?)?;
            for (i, p) in picked.into_iter().zip(p.chunks_exact(levels)) {
                out[i * levels..(i + 1) * levels].copy_from_slice(p);
            }
        }
        Ok(out)
    }

    fn finished(&self, outputs: &Tensor) -> Result<Vec<f32>> {
        let p = output::log_probabilities(outputs, self.shape.target)?.exp()?;
        p.broadcast_div(&p.sum_keepdim(1)?)?.flatten_all()?.to_vec1()
    }

    /// All dense trainable variables, by name.
    pub(crate) fn variables(&self) -> Vec<(String, Var)> {
        let mut out = Vec::new();
        match &self.body {
            Body::Plain(head) => head.named("head", &mut out),
            Body::SepHeads { fallback, .. } => fallback.named("fallback", &mut out),
            Body::ShareRec(mixed) => mixed.named(&mut out),
            Body::MixedHead(head) => head.named(&mut out),
        }
        out
    }

    /// The random effects, fitted alternately, of all annotators, annotators x width; empty for other
    /// models.
    pub(crate) fn random_effects(&self) -> &[f32] {
        if let Body::MixedHead(head) = &self.body { head.random_effects() } else { &[] }
    }

    pub(crate) fn set_random_effects(&mut self, random_effects: Vec<f32>) {
        if let Body::MixedHead(head) = &mut self.body {
            head.set_random_effects(random_effects);
        }
    }

    /// Adopts a fit of `multilevel` on raw embeddings: weights (scores x dim) with their constants (one per
    /// score), the average link parameters and all annotators' random effects.
    pub(crate) fn refit(&mut self, fit: &dissensus_models::batch::AlternatingFit) -> Result<()> {
        let Scaler { mean, factor } = &self.shape.scaler;
        let dim = self.shape.dim;
        let mut fixed_effects = fit.fixed_effects.clone();
        for (c, constant) in fit.constants.iter().enumerate() {
            let row = &fit.weights[c * dim..(c + 1) * dim];
            fixed_effects[c] += constant + row.iter().zip(mean).map(|(w, m)| w * f64::from(*m)).sum::<f64>();
        }
        let weights: Vec<f64> = fit.weights.iter().map(|w| w / f64::from(*factor)).collect();
        match &mut self.body {
            Body::MixedHead(head) => head.refit(&weights, &fixed_effects, &fit.random_effects),
            _ => Ok(()),
        }
    }
}
