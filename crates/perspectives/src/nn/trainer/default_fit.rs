//! A network fitted where a model is asked for and nothing else: on cached embeddings, with default choices.

use super::config::{Seeds, TrainConfig};
use super::inputs::Trainer;
use crate::data::FitOptions;
use crate::data::ModelKind;
use crate::data::PerspectivesError;
use crate::data::progress::Progress;
use crate::data::{Embeddings, Observation, TrainingData};
use crate::mixed::link::Link;
use crate::models::Prepared;
use crate::nn::networks::{Network, NetworkModel, OneHot, Scaler, Shape};
use candle_core::Device;
use dissensus_encoder::FreezePolicy;
use std::sync::Arc;

/// Trains on all folds of texts but the first, which chooses the best epoch.
///
/// # Errors
/// As [`Trainer::run`].
pub(crate) fn fit_network(
    kind: ModelKind,
    prepared: &Prepared<'_>,
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<NetworkModel, PerspectivesError> {
    // Without an encoder every text looks alike: one constant stands for all of them.
    let constant;
    let embeddings = if prepared.embeddings.dim == 0 {
        constant = Embeddings::new(1, vec![0.0; prepared.embeddings.texts])?;
        &constant
    } else {
        prepared.embeddings
    };
    let (validation, train): (Vec<Observation>, Vec<Observation>) =
        prepared.observations.iter().partition(|o| prepared.fold[o.text as usize] == 0);
    let data = TrainingData {
        embeddings,
        observations: if train.is_empty() { &validation } else { &train },
        annotators: prepared.annotators,
        target: prepared.target,
        attributes: prepared.attributes,
    };
    let texts = data.observations.chunk_by(|a, b| a.text == b.text).count();
    let config = TrainConfig {
        seeds: Seeds::all(options.seed),
        ..TrainConfig::new(kind, FreezePolicy::Frozen).for_texts(texts)
    };
    let network = if prepared.observations.is_empty() {
        untrained(&config, &data)?
    } else {
        Trainer::new(data, &validation, None, config)?.run(&Steps(progress, kind), |_| ())?.network
    };
    NetworkModel::new(network, Arc::new(Embeddings::none(0))).over(Arc::new(prepared.embeddings.clone()))
}

/// What a network says before it has learned anything: all levels alike.
fn untrained(config: &TrainConfig, data: &TrainingData<'_>) -> Result<Network, PerspectivesError> {
    let x = data.embeddings;
    let shape = Shape {
        dim: x.dim,
        target: data.target,
        annotators: data.annotators,
        seen: vec![false; data.annotators],
        one_hot: OneHot::default(),
        scaler: Scaler::of(x.dim, std::iter::empty()),
    };
    let start = Link::new(data.target).fixed_effects_from(&vec![0.0; data.target.levels]);
    Ok(Network::new(config.network.clone(), shape, &start, config.seeds.weights, &Device::Cpu)?)
}

struct Steps<'a>(&'a dyn Progress, ModelKind);

impl Progress for Steps<'_> {
    fn report(&self, done: u64, total: Option<u64>, _: &str) {
        self.0.report(done, total, self.1.name());
    }

    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}
