//! Runs: trainings and evaluations, with what they were asked and what they found.

use crate::jobs::WorkState;
use crate::row::{json, json_or_null, to_json};
use crate::tx::all;
use crate::{Result, Store, StoreError, WriteTx};
use serde_json::Value;

/// A run in this project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u32);

/// A run that starts.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRun {
    /// `train`, `evaluate`, ...
    pub kind: String,
    /// Everything that was asked for.
    pub configuration: Value,
    /// The seed of everything random in it.
    pub seed: u64,
    /// `cpu`, `cuda` or `metal`.
    pub device: String,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub started_ms: i64,
}

/// A run and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its row.
    pub id: RunId,
    /// What was asked.
    pub asked: NewRun,
    /// What it found, once it ended well.
    pub metrics: Option<Value>,
    /// When it ended, in milliseconds since 1970-01-01 UTC.
    pub ended_ms: Option<i64>,
    /// How far it is.
    pub state: WorkState,
}

impl WriteTx<'_> {
    /// Starts a run.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn add_run(&mut self, new: &NewRun) -> Result<RunId> {
        let configuration = to_json("configuration of a run", &new.configuration)?;
        // SQLite has signed numbers only; the bits of the seed are kept as they are.
        let seed = i64::from_ne_bytes(new.seed.to_ne_bytes());
        self.insert(
            "INSERT INTO runs (kind, configuration, seed, device, started_ms, state)
             VALUES (?1, ?2, ?3, ?4, ?5, 'running')",
            (&new.kind, configuration, seed, &new.device, new.started_ms),
        )
        .map(RunId)
        .map_err(|e| self.explain("adding a run", e))
    }

    /// Ends a run.
    ///
    /// # Errors
    /// There is no such run, or `state` is no end.
    pub fn finish_run(
        &mut self,
        id: RunId,
        state: WorkState,
        metrics: Option<&Value>,
        ended_ms: i64,
    ) -> Result<()> {
        state.must_be_an_end()?;
        let metrics = metrics.map(|m| to_json("metrics of a run", m)).transpose()?;
        let rows = self
            .run(
                "UPDATE runs SET state = ?2, metrics = ?3, ended_ms = ?4 WHERE id = ?1",
                (id.0, state.name(), metrics, ended_ms),
            )
            .map_err(|e| self.explain("ending a run", e))?;
        match rows {
            0 => Err(StoreError::Unknown { what: "run", name: id.0.to_string() }),
            _ => Ok(()),
        }
    }
}

impl Store {
    /// Starts a run. See [`WriteTx::add_run`].
    ///
    /// # Errors
    /// As there.
    pub fn add_run(&self, new: &NewRun) -> Result<RunId> {
        let new = new.clone();
        self.write(move |tx| tx.add_run(&new))
    }

    /// Ends a run. See [`WriteTx::finish_run`].
    ///
    /// # Errors
    /// As there.
    pub fn finish_run(
        &self,
        id: RunId,
        state: WorkState,
        metrics: Option<Value>,
        ended_ms: i64,
    ) -> Result<()> {
        self.write(move |tx| tx.finish_run(id, state, metrics.as_ref(), ended_ms))
    }

    /// Every run, newest first.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn runs(&self) -> Result<Vec<Run>> {
        self.read("reading the runs", |c| {
            let sql = "SELECT id, kind, configuration, seed, device, started_ms, metrics, ended_ms, state
                       FROM runs ORDER BY id DESC";
            all(c, sql, [], |r| {
                Ok(Run {
                    id: RunId(r.get(0)?),
                    asked: NewRun {
                        kind: r.get(1)?,
                        configuration: json(r, 2)?,
                        seed: u64::from_ne_bytes(r.get::<_, i64>(3)?.to_ne_bytes()),
                        device: r.get(4)?,
                        started_ms: r.get(5)?,
                    },
                    metrics: json_or_null(r, 6)?,
                    ended_ms: r.get(7)?,
                    state: WorkState::column(r, 8)?,
                })
            })
        })
    }
}
