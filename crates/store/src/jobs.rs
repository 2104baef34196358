//! Jobs: long work, how far it is and how it ended.

use crate::row::bad;
use crate::tx::all;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::WorkState;
use rusqlite::Row;

/// A job in this project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u32);

/// The state of a job, a run or an evaluation in a column.
pub(crate) fn state_in(row: &Row<'_>, column: usize) -> rusqlite::Result<WorkState> {
    let name = row.get_ref(column)?.as_str().map_err(|e| bad(column, e))?;
    WorkState::from_name(name).ok_or_else(|| bad(column, format!("unknown state \"{name}\"")))
}

/// Work at work or broken off has not ended.
pub(crate) fn must_be_an_end(state: WorkState) -> Result<()> {
    match state {
        WorkState::Finished | WorkState::Cancelled | WorkState::Failed => Ok(()),
        WorkState::Running | WorkState::Interrupted => Err(StoreError::Invalid {
            what: "end of a job".to_owned(),
            why: format!("work ends finished, cancelled or failed, not {state}"),
        }),
    }
}

/// A job that starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewJob {
    /// `import`, `encode`, `train`, `evaluate`, `export`.
    pub kind: String,
    /// What it works on.
    pub title: String,
    /// Steps in all, where they are known.
    pub total: Option<u32>,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub started_ms: i64,
}

/// A job and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its row.
    pub id: JobId,
    /// `import`, `encode`, `train`, `evaluate`, `export`.
    pub kind: String,
    /// What it works on.
    pub title: String,
    /// How far it is.
    pub state: WorkState,
    /// Steps done.
    pub done: u32,
    /// Steps in all, once known.
    pub total: Option<u32>,
    /// What it did, or why it failed.
    pub note: Option<String>,
    /// When it started, in milliseconds since 1970-01-01 UTC.
    pub started_ms: i64,
    /// When it ended; none for a running or interrupted job.
    pub ended_ms: Option<i64>,
}

impl Store {
    /// Notes that a job starts.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn start_job(&self, new: &NewJob) -> Result<JobId> {
        let new = new.clone();
        self.write(move |tx| {
            tx.insert(
                "INSERT INTO jobs (kind, title, total, started_ms, state) VALUES (?1, ?2, ?3, ?4, 'running')",
                (&new.kind, &new.title, new.total, new.started_ms),
            )
            .map(JobId)
            .map_err(|e| tx.explain("noting a job", e))
        })
    }

    /// Notes how far a job is. Each note is a write: once a second is plenty.
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

    /// Notes how a job ended.
    ///
    /// # Errors
    /// There is no such job, it has ended already, or `state` is no end.
    pub fn finish_job(&self, id: JobId, state: WorkState, note: Option<&str>, ended_ms: i64) -> Result<()> {
        must_be_an_end(state)?;
        let note = note.map(str::to_owned);
        self.change_job(
            id,
            "UPDATE jobs SET state = ?2, note = coalesce(?3, note), ended_ms = ?4 WHERE id = ?1 AND ended_ms IS NULL",
            move |tx, sql| tx.run(sql, (id.0, state.name(), note, ended_ms)),
        )
    }

    /// Notes that an interrupted job goes on.
    ///
    /// # Errors
    /// There is no such job, or it was not interrupted.
    pub fn resume_job(&self, id: JobId) -> Result<()> {
        self.change_job(
            id,
            "UPDATE jobs SET state = 'running' WHERE id = ?1 AND state = 'interrupted'",
            move |tx, sql| tx.run(sql, [id.0]),
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

    /// The `newest` jobs, newest first.
    ///
    /// # Errors
    /// Only what the disk says.
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

    /// What was running when the program last ended runs no longer. Writes only where there is something to note.
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
