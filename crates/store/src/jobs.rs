//! Jobs: long-running work, its progress and its result.

use crate::row::bad;
use crate::tx::all;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{JobKind, WorkState};
use rusqlite::Row;

/// Row id of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u32);

/// Reads the state of a job, a run or an evaluation from a column.
pub(crate) fn state_in(row: &Row<'_>, column: usize) -> rusqlite::Result<WorkState> {
    let name = row.get_ref(column)?.as_str().map_err(|e| bad(column, e))?;
    WorkState::from_name(name).ok_or_else(|| bad(column, format!("unknown state \"{name}\"")))
}

/// Checks that a state is final, that is, neither running nor interrupted.
pub(crate) fn must_be_an_end(state: WorkState) -> Result<()> {
    match state {
        WorkState::Finished | WorkState::Cancelled | WorkState::Failed => Ok(()),
        WorkState::Running | WorkState::Interrupted => Err(StoreError::Invalid {
            what: "end of a job".to_owned(),
            why: format!("work ends finished, cancelled or failed, not {state}"),
        }),
    }
}

/// A job to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewJob {
    pub kind: JobKind,
    /// What it works on.
    pub title: String,
    /// Total number of steps, if known.
    pub total: Option<u32>,
    /// Start time, in milliseconds since 1970-01-01 UTC.
    pub started_ms: i64,
}

/// A job with its state and result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub id: JobId,
    /// Name of a [`JobKind`], or of a kind that only a later version of the program knows.
    pub kind: String,
    /// What it works on.
    pub title: String,
    pub state: WorkState,
    /// Number of completed steps.
    pub done: u32,
    /// Total number of steps, if known.
    pub total: Option<u32>,
    /// Its result, or why it failed.
    pub note: Option<String>,
    /// Start time, in milliseconds since 1970-01-01 UTC.
    pub started_ms: i64,
    /// End time; `None` for a running or interrupted job.
    pub ended_ms: Option<i64>,
}

impl Store {
    /// Records the start of a job.
    pub fn start_job(&self, new: &NewJob) -> Result<JobId> {
        let new = new.clone();
        self.write(move |tx| {
            tx.insert(
                "INSERT INTO jobs (kind, title, total, started_ms, state) VALUES (?1, ?2, ?3, ?4, 'running')",
                (new.kind.name(), &new.title, new.total, new.started_ms),
            )
            .map(JobId)
            .map_err(|e| tx.explain("noting a job", e))
        })
    }

    /// Records the progress of a job. Every call is a write; once a second is enough.
    ///
    /// # Errors
    /// There is no such job, or it has ended.
    pub fn update_job(&self, id: JobId, done: u32, total: Option<u32>, note: Option<&str>) -> Result<()> {
        let note = note.map(str::to_owned);
        self.change_job(
            id,
            "UPDATE jobs SET done = ?2, total = ?3, note = coalesce(?4, note) WHERE id = ?1 AND state = 'running'",
            move |tx, sql| tx.run(sql, (id.0, done, total, note)),
        )
    }

    /// Records the end of a job.
    ///
    /// # Errors
    /// There is no such job, it has already ended, or `state` is not final.
    pub fn finish_job(&self, id: JobId, state: WorkState, note: Option<&str>, ended_ms: i64) -> Result<()> {
        must_be_an_end(state)?;
        let note = note.map(str::to_owned);
        self.change_job(
            id,
            "UPDATE jobs SET state = ?2, note = coalesce(?3, note), ended_ms = ?4 WHERE id = ?1 AND ended_ms IS NULL",
            move |tx, sql| tx.run(sql, (id.0, state.name(), note, ended_ms)),
        )
    }

    fn change_job(
        &self,
        id: JobId,
        sql: &'static str,
        change: impl FnOnce(&WriteTx<'_>, &'static str) -> rusqlite::Result<usize> + Send + 'static,
    ) -> Result<()> {
        self.write(move |tx| match change(tx, sql).map_err(|e| tx.explain("noting a job", e))? {
            0 => Err(StoreError::Unknown { what: "job in that state,", name: id.0.to_string() }),
            _ => Ok(()),
        })
    }

    /// The `newest` latest jobs, newest first.
    pub fn jobs(&self, newest: u32) -> Result<Vec<Job>> {
        self.read("reading the jobs", |c| {
            let sql = "SELECT id, kind, title, state, done, total, note, started_ms, ended_ms
                       FROM jobs ORDER BY id DESC LIMIT ?1";
            all(c, sql, [newest], |r| {
                Ok(Job {
                    id: JobId(r.get(0)?),
                    kind: r.get(1)?,
                    title: r.get(2)?,
                    state: state_in(r, 3)?,
                    done: r.get(4)?,
                    total: r.get(5)?,
                    note: r.get(6)?,
                    started_ms: r.get(7)?,
                    ended_ms: r.get(8)?,
                })
            })
        })
    }

    /// Marks as interrupted what was running when the program last ended. Writes only if there is
    /// something to mark.
    pub(crate) fn interrupt_running(&self) -> Result<()> {
        let left = self.read("looking for interrupted jobs", |c| {
            let sql = "SELECT EXISTS (SELECT 1 FROM jobs WHERE state = 'running')
                           OR EXISTS (SELECT 1 FROM runs WHERE state = 'running')
                           OR EXISTS (SELECT 1 FROM evaluations WHERE state = 'running')";
            c.query_row(sql, [], |r| r.get::<_, bool>(0))
        })?;
        if !left {
            return Ok(());
        }
        self.write(|tx| {
            tx.run("UPDATE jobs SET state = 'interrupted' WHERE state = 'running'", [])
                .and_then(|_| tx.run("UPDATE runs SET state = 'interrupted' WHERE state = 'running'", []))
                .and_then(|_| {
                    tx.run("UPDATE evaluations SET state = 'interrupted' WHERE state = 'running'", [])
                })
                .map(|_| ())
                .map_err(|e| tx.explain("noting interrupted jobs", e))
        })
    }
}
