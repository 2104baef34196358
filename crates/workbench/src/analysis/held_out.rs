//! How well everyone is predicted on texts held out.

use super::Analysis;
use crate::encoding::Basis;
use crate::error::WorkbenchError;
use crate::jobs::Silent;
use crate::sync::lock;
use dissensus_domain::QuestionId;
use dissensus_perspectives::{FitOptions, HeldOut, Observation, Target, TrainingData, held_out};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

/// Held-out figures are measured anew after so many changes, or a twentieth of the labels, whichever is more.
const MEASURE_AFTER: usize = 20;

/// Figures of each question, and a gate for each: one measurement at a time, and whoever waited finds it done.
#[derive(Default)]
pub(super) struct Measurements {
    kept: Mutex<HashMap<QuestionId, Measured>>,
    gates: Mutex<HashMap<QuestionId, Arc<Mutex<()>>>>,
}

impl Measurements {
    fn gate(&self, question: QuestionId) -> Arc<Mutex<()>> {
        Arc::clone(lock(&self.gates).entry(question).or_default())
    }
}

/// Held-out results of everyone, and the labels they were measured on.
struct Measured {
    generation: u32,
    labels: usize,
    annotators: usize,
    /// The embeddings.
    basis: Basis,
    results: Vec<HeldOut>,
    /// Labelled texts that were not scored, because the encoder was tuned on them.
    left_out: usize,
}

impl Analysis {
    /// How well everyone is predicted on texts held out; from memory while little has changed. `labels` are those of `generation`,
    /// see [`crate::live::Models::generation`], or newer ones.
    pub(super) fn measured(
        &self,
        generation: u32,
        question: QuestionId,
        labels: &[Observation],
        target: Target,
    ) -> Result<(Vec<HeldOut>, usize), WorkbenchError> {
        let (embeddings, basis) = self.encoding.embeddings()?;
        let annotators = self.context.sizes().1;
        let gate = self.measurements.gate(question);
        let _gate = lock(&gate);
        self.context.fail_here("measure");
        if let Some(kept) = lock(&self.measurements.kept).get(&question) {
            let changed = labels.len().abs_diff(kept.labels);
            let same = kept.generation == generation && kept.annotators == annotators && kept.basis == basis;
            if same && changed < MEASURE_AFTER.max(kept.labels / 20) {
                return Ok((kept.results.clone(), kept.left_out));
            }
        }
        let seen = self.encoding.seen_by(basis.version.as_deref(), &self.context.index())?;
        let seen_texts = seen.rows().texts;
        let left_out: HashSet<u32> =
            labels.iter().map(|o| o.text).filter(|t| seen_texts.get(*t as usize) == Some(&true)).collect();
        let left_out = left_out.len();
        let data = TrainingData {
            embeddings: &embeddings,
            observations: labels,
            annotators,
            target,
            attributes: &[],
        };
        let results = match labels.len() {
            0 | 1 => vec![HeldOut::default(); annotators],
            _ => held_out(&data, seen.rows(), &FitOptions::default(), &Silent)?,
        };
        let labels = labels.len();
        let results_kept = results.clone();
        lock(&self.measurements.kept).insert(
            question,
            Measured { generation, labels, annotators, basis, results: results_kept, left_out },
        );
        Ok((results, left_out))
    }
}
