//! Records of evaluations and of fits of the live model: their configuration and results.

use crate::jobs::{must_be_an_end, state_in};
use crate::row::{json, json_or_null, to_json};
use crate::tx::all;
use crate::{Result, Store, StoreError};
use dissensus_domain::WorkState;
use serde_json::Value;

/// Row id of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EvaluationId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationKind {
    /// Models are compared on held-out labels.
    Evaluation,
    /// The live model is fitted on all labels.
    Fit,
}

impl EvaluationKind {
    fn name(self) -> &'static str {
        match self {
            Self::Evaluation => "evaluation",
            Self::Fit => "fit",
        }
    }
}

/// An evaluation to start.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvaluation {
    pub kind: EvaluationKind,
    /// The requested configuration.
    pub configuration: Value,
    /// Random seed.
    pub seed: u64,
    /// `cpu`, `cuda` or `metal`.
    pub device: String,
    /// Start time, in milliseconds since 1970-01-01 UTC.
    pub started_ms: i64,
}

/// An evaluation with its state and results.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    pub id: EvaluationId,
    /// The configuration it was started with.
    pub asked: NewEvaluation,
    /// Results, once it has finished successfully.
    pub metrics: Option<Value>,
    pub state: WorkState,
}

impl Store {
    pub fn add_evaluation(&self, new: &NewEvaluation) -> Result<EvaluationId> {
        let new = new.clone();
        self.write(move |tx| {
            let configuration = to_json("configuration of an evaluation", &new.configuration)?;
            // SQLite only has signed integers; the bits of the seed are unchanged.
            let seed = i64::from_ne_bytes(new.seed.to_ne_bytes());
            tx.insert(
                "INSERT INTO evaluations (kind, configuration, seed, device, started_ms, state)
                 VALUES (?1, ?2, ?3, ?4, ?5, 'running')",
                (new.kind.name(), configuration, seed, &new.device, new.started_ms),
            )
            .map(EvaluationId)
            .map_err(|e| tx.explain("adding an evaluation", e))
        })
    }

    /// Ends an evaluation.
    ///
    /// # Errors
    /// There is no such evaluation, or `state` is not a final state.
    pub fn finish_evaluation(
        &self,
        id: EvaluationId,
        state: WorkState,
        metrics: Option<Value>,
        ended_ms: i64,
    ) -> Result<()> {
        must_be_an_end(state)?;
        self.write(move |tx| {
            let metrics = metrics.map(|m| to_json("metrics of an evaluation", &m)).transpose()?;
            let rows = tx
                .run(
                    "UPDATE evaluations SET state = ?2, metrics = ?3, ended_ms = ?4 WHERE id = ?1",
                    (id.0, state.name(), metrics, ended_ms),
                )
                .map_err(|e| tx.explain("ending an evaluation", e))?;
            match rows {
                0 => Err(StoreError::Unknown { what: "evaluation", name: id.0.to_string() }),
                _ => Ok(()),
            }
        })
    }

    /// All evaluations, newest first.
    pub fn evaluations(&self) -> Result<Vec<Evaluation>> {
        self.read("reading the evaluations", |c| {
            let sql = "SELECT id, kind, configuration, seed, device, started_ms, metrics, state
                       FROM evaluations ORDER BY id DESC";
            all(c, sql, [], |r| {
                let kind: String = r.get(1)?;
                Ok(Evaluation {
                    id: EvaluationId(r.get(0)?),
                    asked: NewEvaluation {
                        kind: if kind == "fit" { EvaluationKind::Fit } else { EvaluationKind::Evaluation },
                        configuration: json(r, 2)?,
                        seed: u64::from_ne_bytes(r.get::<_, i64>(3)?.to_ne_bytes()),
                        device: r.get(4)?,
                        started_ms: r.get(5)?,
                    },
                    metrics: json_or_null(r, 6)?,
                    state: state_in(r, 7)?,
                })
            })
        })
    }
}
