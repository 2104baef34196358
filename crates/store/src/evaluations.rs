//! Evaluations and fits of the live model: the project's record of what was asked and what was found.

use crate::jobs::{must_be_an_end, state_in};
use crate::row::{json, json_or_null, to_json};
use crate::tx::all;
use crate::{Result, Store, StoreError};
use dissensus_domain::WorkState;
use serde_json::Value;

/// An evaluation in this project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EvaluationId(pub u32);

/// What kind of work an entry records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationKind {
    /// Models compared on held-out labels.
    Evaluation,
    /// The live model fitted on all labels.
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

/// An evaluation that starts.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvaluation {
    /// Its kind.
    pub kind: EvaluationKind,
    /// Everything that was asked for.
    pub configuration: Value,
    /// The seed of everything random in it.
    pub seed: u64,
    /// `cpu`, `cuda` or `metal`.
    pub device: String,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub started_ms: i64,
}

/// An evaluation and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Its row.
    pub id: EvaluationId,
    /// What was asked.
    pub asked: NewEvaluation,
    /// What it found, once it ended well.
    pub metrics: Option<Value>,
    /// How far it is.
    pub state: WorkState,
}

impl Store {
    /// Starts an evaluation.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn add_evaluation(&self, new: &NewEvaluation) -> Result<EvaluationId> {
        let new = new.clone();
        self.write(move |tx| {
            let configuration = to_json("configuration of an evaluation", &new.configuration)?;
            // SQLite has signed numbers only; the bits of the seed are kept as they are.
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
    /// There is no such evaluation, or `state` is no end.
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

    /// Every evaluation, newest first.
    ///
    /// # Errors
    /// Only what the disk says.
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
