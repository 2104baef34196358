//! Networks on top of embeddings, trained by gradient descent: one forward for cached embeddings and for an encoder that learns.

mod dense;
mod head;
mod model;
mod offsets;
mod output;
mod saved;
mod share_rec;
mod table;

pub use dense::Activation;
pub(crate) use dense::Chance;
pub use head::HeadSpec;
pub use model::NetworkModel;
pub use share_rec::AnnotatorEmbeddingSpec;
pub(crate) use table::{Gathered, Table};

use crate::data::ModelKind;
use crate::data::{Attribute, Target};
use crate::math::random::generator;
use crate::mixed::link::Link;
use candle_core::{Device, Result, Tensor, Var};
use head::{Head, OwnHead};
use offsets::Offsets;
use serde::{Deserialize, Serialize};
use share_rec::{ShareRec, Sizes};
use std::ops::Range;

/// What a network is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkSpec {
    /// Which annotator model.
    pub model: ModelKind,
    /// The head; of `share-rec` only its dropouts count.
    pub head: HeadSpec,
    /// How `share-rec` embeds annotators.
    #[serde(rename = "people")]
    pub annotator_embedding: AnnotatorEmbeddingSpec,
}

/// Everything about the data that a network's shape depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub(crate) dim: usize,
    pub(crate) target: Target,
    pub(crate) annotators: usize,
    /// Which annotators had labels to learn from; the others are strangers.
    pub(crate) seen: Vec<bool>,
    pub(crate) one_hot: OneHot,
    pub(crate) scaler: Scaler,
}

/// Annotators' attributes as rows of zeros and ones; a row of zeros where nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct OneHot {
    pub(crate) width: usize,
    /// annotators x width.
    rows: Vec<f32>,
    /// How many values each attribute has; networks that were saved before this was kept have none.
    #[serde(default)]
    values: Vec<usize>,
}

impl OneHot {
    pub(crate) fn new(attributes: &[Attribute], annotators: usize) -> Self {
        let width = attributes.iter().map(|a| a.values.len()).sum();
        let mut rows = vec![0.0; annotators * width];
        let mut first = 0;
        for attribute in attributes {
            for (annotator, value) in attribute.of.iter().enumerate() {
                if let Some(value) = value {
                    rows[annotator * width + first + usize::from(*value)] = 1.0;
                }
            }
            first += attribute.values.len();
        }
        Self { width, rows, values: attributes.iter().map(|a| a.values.len()).collect() }
    }

    /// The row of somebody who is no annotator, by their attribute values.
    fn of_values(&self, attributes: &[Option<u16>]) -> Vec<f32> {
        let mut row = vec![0.0; self.width];
        let mut first = 0;
        for (many, value) in self.values.iter().zip(attributes) {
            if let Some(value) = value.map(usize::from).filter(|value| value < many) {
                row[first + value] = 1.0;
            }
            first += many;
        }
        row
    }

    pub(crate) fn fits(&self, annotators: usize) -> bool {
        self.rows.len() == annotators * self.width
    }

    fn row(&self, annotator: Option<u32>) -> Option<&[f32]> {
        let at = annotator? as usize * self.width;
        self.rows.get(at..at + self.width)
    }
}

/// Centres embeddings and scales them so that their numbers have a mean square of 1: a learning rate then means the same
/// for embeddings of length 1 and for raw ones. One factor for all columns keeps the geometry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scaler {
    pub(crate) mean: Vec<f32>,
    pub(crate) factor: f32,
}

impl Scaler {
    /// Of these rows, each of `dim` numbers.
    pub(crate) fn of<'a>(dim: usize, rows: impl Iterator<Item = &'a [f32]> + Clone) -> Self {
        let many = rows.clone().count().max(1) as f64;
        let mut mean = vec![0.0f64; dim];
        for row in rows.clone() {
            mean.iter_mut().zip(row).for_each(|(m, x)| *m += f64::from(*x) / many);
        }
        let square: f64 = rows
            .map(|row| row.iter().zip(&mean).map(|(x, m)| (f64::from(*x) - m).powi(2)).sum::<f64>())
            .sum::<f64>()
            / (many * dim.max(1) as f64);
        let factor = if square > 1e-12 { square.sqrt().recip() } else { 1.0 };
        Self { mean: mean.iter().map(|m| *m as f32).collect(), factor: factor as f32 }
    }

    pub(crate) fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let mean = Tensor::from_slice(&self.mean, self.mean.len(), x.device())?;
        x.broadcast_sub(&mean)? * f64::from(self.factor)
    }
}

/// The labels of some texts, as rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// Place of the text among the embeddings handed in.
    pub(crate) texts: Vec<u32>,
    /// Who judged; `None` for nobody in particular.
    pub(crate) annotators: Vec<Option<u32>>,
    /// Whose attributes are seen, where that is not who judged; empty where it is.
    pub(crate) attributes_of: Vec<Option<u32>>,
    /// Attributes as one-hot values, rows x width, of people who are no annotators; empty where they are.
    pub(crate) one_hot: Vec<f32>,
    /// Weighted distribution to learn, rows x levels; empty where nothing is learned.
    pub(crate) targets: Vec<f32>,
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Those of a range of the texts, with places counted from its start.
    pub(crate) fn of_texts(&self, range: Range<usize>, levels: usize) -> Self {
        let from = self.texts.partition_point(|t| (*t as usize) < range.start);
        let to = self.texts.partition_point(|t| (*t as usize) < range.end);
        Self {
            texts: self.texts[from..to].iter().map(|t| t - range.start as u32).collect(),
            annotators: self.annotators[from..to].to_vec(),
            attributes_of: self.attributes_of.get(from..to).unwrap_or_default().to_vec(),
            one_hot: Vec::new(),
            targets: self.targets[from * levels..to * levels].to_vec(),
        }
    }

    pub(crate) fn targets(&self, levels: usize, device: &Device) -> Result<Tensor> {
        Tensor::from_slice(&self.targets, (self.len(), levels), device)
    }

    fn embeddings(&self, x: &Tensor) -> Result<Tensor> {
        let places = Tensor::from_slice(&self.texts, self.len(), x.device())?;
        x.contiguous()?.index_select(&places, 0)
    }
}

/// A network and what is its own to learn.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub(crate) spec: NetworkSpec,
    pub(crate) shape: Shape,
    pub(crate) device: Device,
    body: Body,
    /// Rows of annotators: whole heads of `sep-heads`, vectors of `share-rec`.
    pub(crate) table: Option<Table>,
}

#[derive(Clone, Debug)]
enum Body {
    Plain(Head),
    SepHeads { own: OwnHead, fallback: Head },
    ShareRec(ShareRec),
    Offsets(Offsets),
}

impl Network {
    /// `start` are the outputs at first: the shares of the levels in the training labels.
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
                Body::Plain(Head::new(&spec.head, dim, &start, &mut rng, device)?)
            }
            ModelKind::SepHeads => {
                let own = OwnHead { dim, hidden: spec.head.hidden, width: start.len() };
                let fallback = Head::new(&spec.head, dim, &start, &mut rng, device)?;
                let values = (0..annotators).flat_map(|_| own.first(&start, &mut rng)).collect();
                table = Some(Table::new("own", own.size(), values));
                Body::SepHeads { own, fallback }
            }
            ModelKind::ShareRecFfn | ModelKind::ShareRecDcn => {
                let people = &spec.annotator_embedding;
                if people.identity {
                    // The first row is the stranger's.
                    let values = dense::uniform(people.size, (annotators + 1) * people.size, &mut rng);
                    table = Some(Table::new("person", people.size, values));
                }
                let person = table.as_ref().map_or(0, |t| t.width)
                    + if people.attributes { shape.one_hot.width } else { 0 };
                let sizes = Sizes { dim, person: person.max(1) };
                let cross = spec.model == ModelKind::ShareRecDcn;
                Body::ShareRec(ShareRec::new(cross, people, sizes, &start, &mut rng, device)?)
            }
            ModelKind::Multilevel => Body::Offsets(Offsets::new(link, dim, &start, device)?),
        };
        Ok(Self { spec, shape, device: device.clone(), body, table })
    }

    /// Row of the table that stands for an annotator.
    fn table_row(&self, annotator: Option<u32>) -> u32 {
        let known = annotator.filter(|a| self.knows(*a));
        match self.body {
            Body::ShareRec(_) => known.map_or(0, |a| a + 1),
            _ => known.unwrap_or_default(),
        }
    }

    /// Whether it learned from labels of this annotator.
    pub(crate) fn knows(&self, annotator: u32) -> bool {
        self.shape.seen.get(annotator as usize).copied().unwrap_or(false)
    }

    /// Rows of the table that these labels use.
    pub(crate) fn gather<'a>(&self, rows: impl Iterator<Item = &'a Rows>) -> Result<Option<Gathered>> {
        let Some(table) = &self.table else { return Ok(None) };
        let mut used: Vec<u32> =
            rows.flat_map(|rows| rows.annotators.iter().map(|a| self.table_row(*a))).collect();
        used.sort_unstable();
        used.dedup();
        used.retain(|row| (*row as usize) < table.rows());
        table.gather(&used, &self.device).map(Some)
    }

    /// Outputs `[rows, width]` for embeddings `x` `[texts, dim]` as the encoder gives them.
    pub(crate) fn outputs(
        &self,
        x: &Tensor,
        rows: &Rows,
        gathered: Option<&Gathered>,
        chance: Option<Chance>,
    ) -> Result<Tensor> {
        let x = self.shape.scaler.apply(x)?;
        let head = &self.spec.head;
        match (&self.body, gathered) {
            // One output for each text, then one for each label of it.
            (Body::Plain(plain), _) => rows.embeddings(&plain.apply(head, &x, chance)?),
            (Body::Offsets(offsets), _) => {
                offsets.apply(head, &rows.embeddings(&x)?, &rows.annotators, chance)
            }
            (Body::SepHeads { own, .. }, Some(gathered)) => {
                own.apply(head, &rows.embeddings(&x)?, &self.people(rows, gathered)?, chance)
            }
            (Body::SepHeads { fallback, .. }, None) => rows.embeddings(&fallback.apply(head, &x, chance)?),
            (Body::ShareRec(mixed), gathered) => {
                let mut known = Vec::new();
                if let Some(gathered) = gathered {
                    known.push(self.people(rows, gathered)?);
                }
                if self.spec.annotator_embedding.attributes && self.shape.one_hot.width > 0 {
                    known.push(self.one_hot(rows)?);
                }
                if known.is_empty() {
                    // Nobody can be told from anybody: everyone is the same person.
                    known.push(Tensor::ones((rows.len(), 1), x.dtype(), x.device())?);
                }
                mixed.apply(head, &rows.embeddings(&x)?, &Tensor::cat(&known, 1)?, chance)
            }
        }
    }

    /// The summed loss of `rows`, to be divided by their weight.
    pub(crate) fn loss(
        &self,
        x: &Tensor,
        rows: &Rows,
        gathered: Option<&Gathered>,
        chance: Option<Chance>,
    ) -> Result<Tensor> {
        let target = self.shape.target;
        let targets = rows.targets(target.levels, &self.device)?;
        let loss = output::loss(&self.outputs(x, rows, gathered, chance)?, &targets, target)?;
        let Body::SepHeads { .. } = self.body else { return Ok(loss) };
        // The head for unseen annotators has an auxiliary loss on detached embeddings, whose value is left out of the reported loss.
        let shared = self.outputs(&x.detach(), rows, None, chance)?;
        let shared = output::loss(&shared, &targets, target)?;
        loss + (&shared - shared.detach())?
    }

    fn people(&self, rows: &Rows, gathered: &Gathered) -> Result<Tensor> {
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

    /// Probabilities of the levels for `rows`, rows x levels; somebody without a head of their own gets the shared one.
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

    /// Everything dense that learns, by name.
    pub(crate) fn variables(&self) -> Vec<(String, Var)> {
        let mut out = Vec::new();
        match &self.body {
            Body::Plain(head) => head.named("head", &mut out),
            Body::SepHeads { fallback, .. } => fallback.named("fallback", &mut out),
            Body::ShareRec(mixed) => mixed.named(&mut out),
            Body::Offsets(offsets) => offsets.named(&mut out),
        }
        out
    }

    /// What was fitted in turn: everybody's deviations, annotators x width; empty for other models.
    pub(crate) fn deviations(&self) -> &[f32] {
        if let Body::Offsets(offsets) = &self.body { offsets.deviations() } else { &[] }
    }

    pub(crate) fn set_deviations(&mut self, deviations: Vec<f32>) {
        if let Body::Offsets(offsets) = &mut self.body {
            offsets.set_deviations(deviations);
        }
    }

    /// Takes over a fit of `multilevel` on raw embeddings: weights (scores x dim) with their constants (one a score), the
    /// average link parameters and everybody's deviations.
    pub(crate) fn refit(&mut self, fit: &crate::models::TurnFit) -> Result<()> {
        let Scaler { mean, factor } = &self.shape.scaler;
        let dim = self.shape.dim;
        let mut base = fit.base.clone();
        for (c, constant) in fit.constants.iter().enumerate() {
            let row = &fit.weights[c * dim..(c + 1) * dim];
            base[c] += constant + row.iter().zip(mean).map(|(w, m)| w * f64::from(*m)).sum::<f64>();
        }
        let weights: Vec<f64> = fit.weights.iter().map(|w| w / f64::from(*factor)).collect();
        match &mut self.body {
            Body::Offsets(offsets) => offsets.refit(&weights, &base, &fit.deviations),
            _ => Ok(()),
        }
    }
}
