//! Runs: trainings that are scored and kept, with their split, their predictions and what they found.

use crate::jobs::{must_be_an_end, state_in};
use crate::row::{json, json_or_null, to_json};
use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, TextId, WorkState};
use rusqlite::Row;
use serde_json::Value;
use uuid::Uuid;

/// The number of a run in this project: what people type. Another project has a run of the same number, see [`Run::uid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u32);

/// A run that starts.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRun {
    /// Everything that was asked for.
    pub configuration: Value,
    /// The seed of everything random in it.
    pub seed: u64,
    /// `cpu`, `cuda` or `metal`.
    pub device: String,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub started_ms: i64,
    /// SHA-256 of the labels it is given, in hexadecimal.
    pub data_sha256: Option<String>,
}

/// One side of a run's split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum RunPart {
    /// Training labels.
    Train,
    /// Labels that choose the best checkpoint.
    Validation,
    /// Labels that are scored once, at the end.
    Test,
}

impl RunPart {
    fn name(self) -> &'static str {
        self.into()
    }
}

/// A label that a run was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLabel {
    /// The text.
    pub text: TextId,
    /// Who judged.
    pub annotator: AnnotatorId,
    /// The level.
    pub level: u16,
}

/// Labels of one side, with what the run predicted where it was scored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunLabels {
    /// The labels.
    pub labels: Vec<RunLabel>,
    /// labels x levels; empty where nothing was predicted.
    pub probabilities: Vec<f32>,
}

/// A run and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its number in this project.
    pub id: RunId,
    /// Its identity, in every copy of the project and in its folder.
    pub uid: Uuid,
    /// What was asked.
    pub asked: NewRun,
    /// What it found, once it ended well.
    pub metrics: Option<Value>,
    /// When it ended, in milliseconds since 1970-01-01 UTC.
    pub ended_ms: Option<i64>,
    /// How far it is.
    pub state: WorkState,
    /// Its evaluations on the way.
    pub history: Option<Value>,
    /// What it was started on beside its labels; `None` before its labels are divided and for runs of format 2.
    pub start: Option<Value>,
}

impl WriteTx<'_> {
    /// Starts a run, under a new identity (a UUID of version 7: random, in the order of time).
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn add_run(&mut self, new: &NewRun) -> Result<RunId> {
        let configuration = to_json("configuration of a run", &new.configuration)?;
        // SQLite has signed numbers only; the bits of the seed are kept as they are.
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
    /// There is no such run, or `state` is no end.
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
    /// Keeps what a run says on the way.
    ///
    /// # Errors
    /// There is no such run, or what the disk says.
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
    /// There is no such run, or what the disk says.
    pub fn resume_run(&mut self, id: RunId) -> Result<()> {
        let rows = self
            .run("UPDATE runs SET state = 'running', ended_ms = NULL WHERE id = ?1", [id.0])
            .map_err(|e| self.explain("resuming a run", e))?;
        must_be_one(rows, id)
    }

    /// Keeps what a run starts on: its labels by side, and `start`. Written once: a run that has it keeps it.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] where the run has started before; there is no such run; what the disk says.
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
        // Runs of format 2 have labels and no start; theirs were written anew at each try.
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

    /// Keeps what a run predicted for its test labels, labels x levels in their order.
    ///
    /// # Errors
    /// The run has no test labels, or what the disk says.
    pub fn set_run_predictions(&mut self, id: RunId, probabilities: &[f32]) -> Result<()> {
        let bytes: Vec<u8> = probabilities.iter().flat_map(|p| p.to_le_bytes()).collect();
        let rows = self
            .run("UPDATE run_labels SET probabilities = ?2 WHERE run = ?1 AND part = 'test'", (id.0, bytes))
            .map_err(|e| self.explain("keeping the predictions of a run", e))?;
        must_be_one(rows, id)
    }

    /// Deletes a run, with everything that was kept of it. Its number is not used again.
    ///
    /// # Errors
    /// There is no such run, or what the disk says.
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

    /// Keeps what a run says on the way. See [`WriteTx::set_run_history`].
    ///
    /// # Errors
    /// As there.
    pub fn set_run_history(&self, id: RunId, history: Value) -> Result<()> {
        self.write(move |tx| tx.set_run_history(id, &history))
    }

    /// Keeps what a run starts on. See [`WriteTx::set_run_start`].
    ///
    /// # Errors
    /// As there.
    pub fn set_run_start(&self, id: RunId, start: Value, parts: Vec<(RunPart, Vec<RunLabel>)>) -> Result<()> {
        self.write(move |tx| tx.set_run_start(id, &start, &parts))
    }

    /// Keeps what a run predicted. See [`WriteTx::set_run_predictions`].
    ///
    /// # Errors
    /// As there.
    pub fn set_run_predictions(&self, id: RunId, probabilities: Vec<f32>) -> Result<()> {
        self.write(move |tx| tx.set_run_predictions(id, &probabilities))
    }

    /// Labels of one side of a run's split; none where they were not kept.
    ///
    /// # Errors
    /// Only what the disk says.
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
            // A level beyond the scale is for whoever reads it to refuse.
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

    /// Every run, newest first.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn runs(&self) -> Result<Vec<Run>> {
        self.read("reading the runs", |c| {
            all(c, &format!("SELECT {COLUMNS} FROM runs ORDER BY id DESC"), [], run)
        })
    }

    /// One run; `None` where there is none of that number.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn run(&self, id: RunId) -> Result<Option<Run>> {
        self.read("reading a run", |c| {
            first(c, &format!("SELECT {COLUMNS} FROM runs WHERE id = ?1"), [id.0], run)
        })
    }

    /// The runs whose configuration has this `group`, in the order of their numbers: those that are trained together.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn runs_of_group(&self, group: &str) -> Result<Vec<RunId>> {
        self.read("reading the runs of a training", |c| {
            let sql = "SELECT id FROM runs WHERE configuration ->> '$.group' = ?1 ORDER BY id";
            all(c, sql, [group], |r| Ok(RunId(r.get(0)?)))
        })
    }

    /// One run by its identity; `None` where this project has none.
    ///
    /// # Errors
    /// Only what the disk says.
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
