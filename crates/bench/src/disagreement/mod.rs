//! Scores how well each measure of disagreement finds the texts on which held-out annotators differ.

mod halves;
mod predictions;

use crate::error::BenchError;
use crate::figures::quantile_ms;
use crate::material::Material;
use dissensus_models::live::LiveModel;
use dissensus_project::home::Home;
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::{AnnotatorModel as _, FitOptions, TrainingData};
use dissensus_stats::disagreement::{Measure, measure};
use halves::{Division, HeldOut};
use predictions::PredictionsAlone;
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// Quality of each measure, by name.
type Scored = Vec<(String, Quality)>;

/// Number of times that the default order is computed to measure its time.
const TIMED: usize = 100;
/// Number of texts at the top of a ranking.
const FIRST: usize = 50;

/// How well each measure orders texts by the disagreement of annotators that it has not seen.
#[derive(Clone, Debug, Serialize)]
pub struct DisagreementBench {
    /// Number of texts in the file.
    pub texts: usize,
    /// Number of labels in the file.
    pub labels: usize,
    /// Number of random splits of each kind; figures are means over them.
    pub divisions: u64,
    /// With half of each text's annotators held out: share of the scored texts whose held-out labels form two
    /// camps.
    pub camps_of_all: f64,
    /// Mean weight in `combined` of the labels of a text with the median number of labels.
    pub label_weight: f64,
    /// Median time to compute the default order of all texts, as after each label, in milliseconds.
    pub order_ms: f64,
    /// 99th percentile of the same.
    pub order_p99_ms: f64,
    /// One entry per measure.
    pub measures: Vec<MeasureQuality>,
}

/// Quality of one measure.
#[derive(Clone, Debug, Serialize)]
pub struct MeasureQuality {
    /// Name of the measure; contains "predicted" where only predictions enter it, no labels.
    pub measure: String,
    /// On texts of which half of the annotators are held out, scored on that half.
    pub other_half: Quality,
    /// On texts whose labels are all held out, scored on all of them.
    pub unlabelled: Quality,
}

/// Figures against the held-out labels of texts that have two or more of them.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Quality {
    /// Number of texts scored.
    pub texts: f64,
    /// Spearman correlation with the mean squared distance (without an order of the levels: the share of
    /// differing pairs).
    pub spearman: f64,
    /// That distance among the first fifty texts, divided by that of all texts.
    pub lift: f64,
    /// AUROC for "two labels are two levels apart or more" (without an order: "two labels differ").
    pub auroc: f64,
    /// Share of the first fifty texts whose held-out labels form two camps; 0 where levels have no order.
    pub camps: f64,
}

/// Imports and encodes `file` in a temporary folder and scores `divisions` random splits of each kind.
///
/// # Errors
/// Fails if the file cannot be imported or encoded, or has too few labels to fit a model.
pub fn disagreement(
    home: &Home,
    file: &Path,
    encoder: Option<String>,
    divisions: u64,
    say: &dyn Fn(&str),
) -> Result<DisagreementBench, BenchError> {
    let material = Material::new(home, file, encoder)?;
    let mut sums: Vec<MeasureQuality> = Vec::new();
    let (mut camps_of_all, mut label_weight, mut times) = (0.0, 0.0, Vec::new());
    for seed in 0..divisions {
        say(&format!("division {} of {divisions}", seed + 1));
        for division in [Division::Halves, Division::Texts] {
            let held_out = HeldOut::divide(&material.observations, division, seed, material.target);
            let (weight, scored) = material.score(&held_out, seed, &mut times)?;
            if division == Division::Halves {
                camps_of_all += held_out.share_of_camps() / divisions as f64;
                label_weight += weight / divisions as f64;
            }
            for (at, (name, quality)) in scored.into_iter().enumerate() {
                if sums.len() <= at {
                    let none = Quality::default();
                    sums.push(MeasureQuality { measure: name, other_half: none, unlabelled: none });
                }
                let sum = match division {
                    Division::Halves => &mut sums[at].other_half,
                    Division::Texts => &mut sums[at].unlabelled,
                };
                sum.add(quality, divisions as f64);
            }
        }
    }
    Ok(DisagreementBench {
        texts: material.embeddings.texts,
        labels: material.observations.len(),
        divisions,
        camps_of_all,
        label_weight,
        order_ms: quantile_ms(&mut times, 0.5),
        order_p99_ms: quantile_ms(&mut times, 0.99),
        measures: sums,
    })
}

impl Quality {
    fn add(&mut self, other: Self, of: f64) {
        self.texts += other.texts / of;
        self.spearman += other.spearman / of;
        self.lift += other.lift / of;
        self.auroc += other.auroc / of;
        self.camps += other.camps / of;
    }
}

impl Material {
    /// Scores every measure of a model fitted on `held_out.train` only. Also returns the weight of the median
    /// number of labels, and appends the times of the default order to `times`.
    fn score(
        &self,
        held_out: &HeldOut,
        seed: u64,
        times: &mut Vec<Duration>,
    ) -> Result<(f64, Scored), BenchError> {
        let data = TrainingData {
            embeddings: &self.embeddings,
            observations: &held_out.train,
            annotators: self.annotators,
            target: self.target,
            attributes: &[],
        };
        let model = LiveModel::fit(&data, &FitOptions { seed, ..FitOptions::default() }, &Silent)?;
        let alone = PredictionsAlone(&model);
        let ordinal = self.target.kind.has_distances();
        let weight = model.label_weight();
        let place = |order: Vec<u32>| {
            let mut values = vec![0.0; order.len()];
            order.iter().rev().enumerate().for_each(|(place, text)| values[*text as usize] = place as f32);
            values
        };
        let order = || model.combined_order(&weight, &model.disagreements(), None).texts;
        times.extend((0..TIMED).map(|_| {
            let started = Instant::now();
            std::hint::black_box(order());
            started.elapsed()
        }));
        let mut scored = vec![
            ("combined (the default order)".to_owned(), place(order())),
            ("split".to_owned(), model.measure(Measure::Split, None)),
        ];
        let mut add = |name: &str, by: Measure| {
            scored.push((name.to_owned(), model.measure(by, None)));
        };
        if ordinal && self.target.levels > 2 {
            add("far-apart", Measure::FarApart);
            add("opposite-sides", Measure::OppositeSides { cut: self.target.levels.div_ceil(2) as u16 });
            add("surprising", Measure::Surprising);
        }
        add("between", Measure::Between);
        add("pairwise", Measure::Pairwise);
        add("divergence", Measure::Divergence);
        add("uncertainty", Measure::Uncertainty);
        for (name, by) in [("split, predicted", Measure::Split), ("pairwise, predicted", Measure::Pairwise)] {
            scored.push((name.to_owned(), measure(&alone, None, ordinal, by)));
        }
        if ordinal {
            let mean = |text: u32| {
                let p = model.mean_distribution(text);
                p.iter().enumerate().map(|(level, p)| level as f32 * p).sum::<f32>()
            };
            let means: Vec<f32> = (0..model.texts() as u32).map(mean).collect();
            let top = (self.target.levels - 1) as f32;
            let spread = means.iter().map(|mean| mean / top * (1.0 - mean / top)).collect();
            scored.push(("mean level, predicted".to_owned(), means));
            scored.push(("largest split of that mean".to_owned(), spread));
        }
        let mut labels: Vec<usize> =
            (0..model.texts() as u32).map(|text| model.labels_on(text, None)).filter(|n| *n > 1).collect();
        labels.sort_unstable();
        let typical = labels.get(labels.len() / 2).copied().unwrap_or(0);
        let quality = |(name, values): (String, Vec<f32>)| (name, held_out.quality(&values, FIRST));
        Ok((weight.of(typical), scored.into_iter().map(quality).collect()))
    }
}
