//! Default training of a network: on cached embeddings, with default settings.

use super::config::{Seeds, TrainConfig};
use super::inputs::Trainer;
use crate::networks::{Network, NetworkModel, OneHot, Scaler, Shape};
use candle_core::Device;
use dissensus_encoder::FreezePolicy;
use dissensus_models::batch::Prepared;
use dissensus_models::link::Link;
use dissensus_stats::data::FitOptions;
use dissensus_stats::data::ModelError;
use dissensus_stats::data::ModelKind;
use dissensus_stats::data::progress::Progress;
use dissensus_stats::data::{Embeddings, Observation, TrainingData};
use std::sync::Arc;

/// Chooses the number of steps on the labels that `prepared` holds out for that (by default those of the
/// first fold of texts), then trains again on all labels for as many steps, with the same learning rates,
/// so that a network learns from the same labels as every other model (Prechelt 1998, Early stopping - but
/// when?, on choosing the time of stopping; Goodfellow et al. 2016, Deep Learning, algorithm 7.2, on
/// retraining with all data).
pub fn fit_network(
    kind: ModelKind,
    prepared: &Prepared<'_>,
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<NetworkModel, ModelError> {
    // Without an encoder all texts look alike: one constant input represents them.
    let constant;
    let embeddings = if prepared.embeddings.dim == 0 {
        constant = Embeddings::new(1, vec![0.0; prepared.embeddings.texts])?;
        &constant
    } else {
        prepared.embeddings
    };
    let by_fold = || -> (Vec<Observation>, Vec<Observation>) {
        prepared.observations.iter().partition(|o| prepared.fold[o.text as usize] != 0)
    };
    let (mut kept, mut held) = prepared.validation.clone().unwrap_or_else(by_fold);
    if kept.is_empty() {
        (kept, held) = (held, Vec::new());
    }
    let all = TrainingData {
        embeddings,
        observations: &prepared.observations,
        annotators: prepared.annotators,
        target: prepared.target,
        attributes: prepared.attributes,
    };
    let data = TrainingData { observations: &kept, ..all };
    let texts = data.observations.chunk_by(|a, b| a.text == b.text).count();
    let config = TrainConfig {
        seeds: Seeds::all(options.seed),
        ..TrainConfig::new(kind, FreezePolicy::Frozen).for_texts(texts)
    };
    let network = if prepared.observations.is_empty() {
        untrained(&config, &data)?
    } else {
        let StepsChosen { chosen, again } = fit_for_chosen_steps(all, &kept, &held, &config, progress)?;
        again.unwrap_or(chosen)
    };
    NetworkModel::new(network, Arc::new(Embeddings::none(0))).over(Arc::new(prepared.embeddings.clone()))
}

/// A network whose number of steps was chosen on held-out labels.
pub struct StepsChosen {
    /// After the chosen number of steps on the training part: it has not learned from the held-out labels.
    pub(crate) chosen: Network,
    /// After as many steps on all labels; `None` where nothing was held out.
    pub(crate) again: Option<Network>,
}

/// Trains on `kept` until predictions of the labels of `held` no longer improve, then again on `all`, the
/// union of both, for as many steps.
pub fn fit_for_chosen_steps(
    all: TrainingData<'_>,
    kept: &[Observation],
    held: &[Observation],
    config: &TrainConfig,
    progress: &dyn Progress,
) -> Result<StepsChosen, ModelError> {
    let steps = Steps(progress, config.network.model);
    let first = Trainer::new(TrainingData { observations: kept, ..all }, held, None, config.clone())?;
    let planned = first.planned_steps();
    let mut chosen = first.run(&steps, |_| ())?;
    let best = chosen.history.iter().rev().find(|record| record.best).map(|record| record.step);
    let again = match best.filter(|_| !held.is_empty() && kept.len() < all.observations.len()) {
        Some(step) => {
            let config = TrainConfig { max_steps: Some(planned), ..config.clone() };
            let mut again = Trainer::new(all, &[], None, config)?.ending_at(step).run(&steps, |_| ())?;
            Some(again.networks.swap_remove(0))
        }
        None => None,
    };
    Ok(StepsChosen { chosen: chosen.networks.swap_remove(0), again })
}

/// A network before training: all levels are equally probable.
fn untrained(config: &TrainConfig, data: &TrainingData<'_>) -> Result<Network, ModelError> {
    let x = data.embeddings;
    let shape = Shape {
        dim: x.dim,
        target: data.target,
        annotators: data.annotators,
        seen: vec![false; data.annotators],
        one_hot: OneHot::default(),
        scaler: Scaler::new(x.dim, std::iter::empty()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_stats::data::AnnotatorModel;
    use dissensus_stats::data::progress::Silent;
    use dissensus_stats::data::synthetic::simulate;
    use dissensus_stats::metrics::score;

    /// Annotator 0 labelled only texts that choose the number of steps: an annotator excluded from the fit
    /// is unknown to the network.
    #[test]
    fn network_is_refitted_on_all_labels() {
        let sim = simulate(60, 6, 2, 3, 30, 5);
        let options = FitOptions::default();
        let data = |observations| TrainingData {
            embeddings: &sim.embeddings,
            observations,
            annotators: sim.annotators,
            target: sim.target,
            attributes: &[],
        };
        let fold = Prepared::new(&data(&sim.observations), &options).unwrap().fold;
        let labels: Vec<Observation> = sim
            .observations
            .iter()
            .filter(|o| o.annotator != 0 || fold[o.text as usize] == 0)
            .copied()
            .collect();
        assert!(labels.iter().any(|o| o.annotator == 0));
        let prepared = Prepared::new(&data(&labels), &options).unwrap();
        let model = fit_network(ModelKind::ShareRecFfn, &prepared, &options, &Silent).unwrap();
        assert!((0..6).all(|annotator| model.knows(annotator)));
    }

    #[test]
    fn same_labels_for_the_chosen_steps_give_the_chosen_weights() {
        let sim = simulate(80, 6, 2, 3, 30, 6);
        let (held, kept): (Vec<Observation>, Vec<Observation>) =
            sim.observations.iter().partition(|o| o.text % 5 == 0);
        let data = TrainingData {
            embeddings: &sim.embeddings,
            observations: &kept,
            annotators: sim.annotators,
            target: sim.target,
            attributes: &[],
        };
        let config = TrainConfig {
            epochs: 12,
            ..TrainConfig::new(ModelKind::ShareRecFfn, FreezePolicy::Frozen).for_texts(64)
        };
        let first = Trainer::new(data, &held, None, config.clone()).unwrap();
        let planned = first.planned_steps();
        let chosen = first.run(&Silent, |_| ()).unwrap();
        let best = chosen.history.iter().rev().find(|record| record.best).unwrap().step;
        let again = TrainConfig { max_steps: Some(planned), epochs: 40, ..config };
        let again =
            Trainer::new(data, &[], None, again).unwrap().ending_at(best).run(&Silent, |_| ()).unwrap();
        assert_eq!(again.history.last().unwrap().step, best);
        let x = Arc::new(sim.embeddings.clone());
        let of = |trained: crate::trainer::Trained| trained.network_model(Arc::clone(&x)).unwrap();
        let (chosen, again) = (of(chosen), of(again));
        assert_eq!(score(&chosen, &held).probabilities, score(&again, &held).probabilities);
    }
}
