//! Training runs, with their data split, predictions and results.

use crate::jobs::{must_be_an_end, state_in};
use crate::row::{json, json_or_null, to_json};
use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, TextId, WorkState};
use rusqlite::Row;
use serde_json::Value;
use uuid::Uuid;

/// The number of a run in this project, as used on the command line. Other projects have runs with
/// the same number, see [`Run::uid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u32);

/// A run to start.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRun {
    /// The requested configuration.
    pub configuration: Value,
    /// Random seed.
    pub seed: u64,
    /// `cpu`, `cuda` or `metal`.
    pub device: String,
    /// Start time, in milliseconds since 1970-01-01 UTC.
    pub started_ms: i64,
    /// SHA-256 of its labels, in hexadecimal.
    pub data_sha256: Option<String>,
}

/// A part of a run's data split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum RunPart {
    /// Labels to train on.
    Train,
    /// Labels for selecting the best checkpoint.
    Validation,
    /// Labels evaluated once, at the end.
    Test,
}

impl RunPart {
    fn name(self) -> &'static str {
        self.into()
    }
}

/// A label used by a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLabel {
    pub text: TextId,
    pub annotator: AnnotatorId,
    pub level: u16,
}

/// The labels of one part of the split, with the run's predictions if it was evaluated on them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunLabels {
    pub labels: Vec<RunLabel>,
    /// Matrix of labels x levels; empty if there are no predictions.
    pub probabilities: Vec<f32>,
}

/// A training run with its state and results.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub id: RunId,
    /// Unique id, in every copy of the project and in the run's folder.
    pub uid: Uuid,
    /// The configuration it was started with.
    pub asked: NewRun,
    /// Results, once it has finished successfully.
    pub metrics: Option<Value>,
    /// End time, in milliseconds since 1970-01-01 UTC.
    pub ended_ms: Option<i64>,
    pub state: WorkState,
    /// Intermediate evaluations.
    pub history: Option<Value>,
    /// The data it was started with, other than its labels; `None` before its labels are split and
    /// for runs in format 2.
    pub start: Option<Value>,
}

impl WriteTx<'_> {
    /// Starts a run under a new id (UUID version 7: random, ordered by time).
    pub fn add_run(&mut self, new: &NewRun) -> Result<RunId> {
        let configuration = to_json("configuration of a run", &new.configuration)?;
        // SQLite only has signed integers; the bits of the seed are unchanged.
        let seed = i64::from_ne_bytes(new.seed.to_ne_bytes());
        self.insert(
            "INSERT INTO runs (uid, configuration, seed, device, started_ms, state, data_sha256)
             VALUES (?1, ?2, ?3, ?4, ?5, 'running', ?6)",
            (Uuid::now_v7().as_bytes(), configuration, seed, &new.device, new.started_ms, &new.data_sha256),
        )
        .map(RunId)
        .map_err(|e| self.explain("adding a run", e))
    }

    /// Ends a run.
    ///
    /// # Errors
    /// There is no such run, or `state` is not a final state.
    pub fn finish_run(
        &mut self,
        id: RunId,
        state: WorkState,
        metrics: Option<&Value>,
        ended_ms: i64,
    ) -> Result<()> {
        must_be_an_end(state)?;
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

impl WriteTx<'_> {
    /// Stores the intermediate evaluations of a run.
    ///
    /// # Errors
    /// There is no such run.
    pub fn set_run_history(&mut self, id: RunId, history: &Value) -> Result<()> {
        let history = to_json("history of a run", history)?;
        let rows = self
            .run("UPDATE runs SET history = ?2 WHERE id = ?1", (id.0, history))
            .map_err(|e| self.explain("keeping how a run goes", e))?;
        must_be_one(rows, id)
    }

    /// Marks an interrupted run as running again.
    ///
    /// # Errors
    /// There is no such run.
    pub fn resume_run(&mut self, id: RunId) -> Result<()> {
        let rows = self
            .run("UPDATE runs SET state = 'running', ended_ms = NULL WHERE id = ?1", [id.0])
            .map_err(|e| self.explain("resuming a run", e))?;
        must_be_one(rows, id)
    }

    /// Stores the data that a run starts with: its labels by part of the split, and `start`. Can be
    /// set only once per run.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if the run was started before; or there is no such run.
    pub fn set_run_start(
        &mut self,
        id: RunId,
        start: &Value,
        parts: &[(RunPart, Vec<RunLabel>)],
    ) -> Result<()> {
        let start = to_json("start of a run", start)?;
        let rows = self
            .run("UPDATE runs SET start = ?2 WHERE id = ?1 AND start IS NULL", (id.0, start))
            .map_err(|e| self.explain("keeping what a run starts on", e))?;
        if rows == 0 {
            let known = self.first("SELECT 1 FROM runs WHERE id = ?1", [id.0], |_| Ok(()))?;
            return Err(match known {
                None => StoreError::Unknown { what: "run", name: id.0.to_string() },
                Some(()) => StoreError::Invalid {
                    what: format!("start of run {}", id.0),
                    why: "it has its labels already, and keeps them".to_owned(),
                },
            });
        }
        // Runs in format 2 have labels but no `start`; their labels were rewritten at each attempt.
        self.run("DELETE FROM run_labels WHERE run = ?1", [id.0])
            .map_err(|e| self.explain("keeping the labels of a run", e))?;
        for (part, labels) in parts {
            let mut bytes = Vec::with_capacity(labels.len() * 12);
            for label in labels {
                for number in [label.text.0, label.annotator.0, u32::from(label.level)] {
                    bytes.extend_from_slice(&number.to_le_bytes());
                }
            }
            self.run(
                "INSERT INTO run_labels (run, part, labels) VALUES (?1, ?2, ?3)",
                (id.0, part.name(), bytes),
            )
            .map_err(|e| self.explain("keeping the labels of a run", e))?;
        }
        Ok(())
    }

    /// Stores the predictions of a run for its test labels, as a matrix of labels x levels in row
    /// order.
    ///
    /// # Errors
    /// The run has no test labels.
    pub fn set_run_predictions(&mut self, id: RunId, probabilities: &[f32]) -> Result<()> {
        let bytes: Vec<u8> = probabilities.iter().flat_map(|p| p.to_le_bytes()).collect();
        let rows = self
            .run("UPDATE run_labels SET probabilities = ?2 WHERE run = ?1 AND part = 'test'", (id.0, bytes))
            .map_err(|e| self.explain("keeping the predictions of a run", e))?;
        must_be_one(rows, id)
    }

    /// Deletes a run with all of its data. Its number is not reused.
    ///
    /// # Errors
    /// There is no such run.
    pub fn delete_run(&mut self, id: RunId) -> Result<()> {
        let rows = self
            .run("DELETE FROM runs WHERE id = ?1", [id.0])
            .map_err(|e| self.explain("deleting a run", e))?;
        must_be_one(rows, id)
    }
}

fn must_be_one(rows: usize, id: RunId) -> Result<()> {
    if rows == 0 { Err(StoreError::Unknown { what: "run", name: id.0.to_string() }) } else { Ok(()) }
}

impl Store {
    /// Starts a run. See [`WriteTx::add_run`].
    pub fn add_run(&self, new: &NewRun) -> Result<RunId> {
        let new = new.clone();
        self.write(move |tx| tx.add_run(&new))
    }

    /// Ends a run. See [`WriteTx::finish_run`].
    pub fn finish_run(
        &self,
        id: RunId,
        state: WorkState,
        metrics: Option<Value>,
        ended_ms: i64,
    ) -> Result<()> {
        self.write(move |tx| tx.finish_run(id, state, metrics.as_ref(), ended_ms))
    }

    /// Stores intermediate evaluations. See [`WriteTx::set_run_history`].
    pub fn set_run_history(&self, id: RunId, history: Value) -> Result<()> {
        self.write(move |tx| tx.set_run_history(id, &history))
    }

    /// Stores the data that a run starts with. See [`WriteTx::set_run_start`].
    pub fn set_run_start(&self, id: RunId, start: Value, parts: Vec<(RunPart, Vec<RunLabel>)>) -> Result<()> {
        self.write(move |tx| tx.set_run_start(id, &start, &parts))
    }

    /// Stores the predictions of a run. See [`WriteTx::set_run_predictions`].
    pub fn set_run_predictions(&self, id: RunId, probabilities: Vec<f32>) -> Result<()> {
        self.write(move |tx| tx.set_run_predictions(id, &probabilities))
    }

    /// The labels of one part of a run's split; empty if they were not stored.
    pub fn run_labels(&self, id: RunId, part: RunPart) -> Result<RunLabels> {
        let found = self.read("reading the labels of a run", |c| {
            let sql = "SELECT labels, probabilities FROM run_labels WHERE run = ?1 AND part = ?2";
            first(c, sql, (id.0, part.name()), |r| {
                Ok((r.get::<_, Vec<u8>>(0)?, r.get::<_, Option<Vec<u8>>>(1)?))
            })
        })?;
        let Some((labels, probabilities)) = found else { return Ok(RunLabels::default()) };
        let numbers: Vec<u32> =
            labels.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        let label = |n: &[u32]| RunLabel {
            text: TextId(n[0]),
            annotator: AnnotatorId(n[1]),
            // Readers must reject levels that are not on the scale.
            level: u16::try_from(n[2]).unwrap_or(u16::MAX),
        };
        Ok(RunLabels {
            labels: numbers.chunks_exact(3).map(label).collect(),
            probabilities: probabilities
                .unwrap_or_default()
                .chunks_exact(4)
                .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                .collect(),
        })
    }

    /// All runs, newest first.
    pub fn runs(&self) -> Result<Vec<Run>> {
        self.read("reading the runs", |c| {
            all(c, &format!("SELECT {COLUMNS} FROM runs ORDER BY id DESC"), [], run)
        })
    }

    /// Finds a run by number.
    pub fn run(&self, id: RunId) -> Result<Option<Run>> {
        self.read("reading a run", |c| {
            first(c, &format!("SELECT {COLUMNS} FROM runs WHERE id = ?1"), [id.0], run)
        })
    }

    /// The runs whose configuration has this `group`, which are trained together, by number.
    pub fn runs_of_group(&self, group: &str) -> Result<Vec<RunId>> {
        self.read("reading the runs of a training", |c| {
            let sql = "SELECT id FROM runs WHERE configuration ->> '$.group' = ?1 ORDER BY id";
            all(c, sql, [group], |r| Ok(RunId(r.get(0)?)))
        })
    }

    /// Finds a run by its unique id.
    pub fn run_by_uid(&self, uid: Uuid) -> Result<Option<Run>> {
        self.read("reading a run", |c| {
            first(c, &format!("SELECT {COLUMNS} FROM runs WHERE uid = ?1"), [uid.as_bytes()], run)
        })
    }
}

const COLUMNS: &str =
    "id, uid, configuration, seed, device, started_ms, metrics, ended_ms, state, data_sha256, history, start";

fn run(r: &Row<'_>) -> rusqlite::Result<Run> {
    Ok(Run {
        id: RunId(r.get(0)?),
        uid: Uuid::from_bytes(r.get(1)?),
        asked: NewRun {
            configuration: json(r, 2)?,
            seed: u64::from_ne_bytes(r.get::<_, i64>(3)?.to_ne_bytes()),
            device: r.get(4)?,
            started_ms: r.get(5)?,
            data_sha256: r.get(9)?,
        },
        metrics: json_or_null(r, 6)?,
        ended_ms: r.get(7)?,
        state: state_in(r, 8)?,
        history: json_or_null(r, 10)?,
        start: json_or_null(r, 11)?,
    })
}
