//! Measures the migration of a project of a million labels from formats 2, 17 and 18 on this disk: `cargo run
//! --release -p dissensus-store --example migration -- [FOLDER]`.

#![allow(clippy::print_stdout, reason = "a measuring program talks to its caller")]

use anyhow::Result;
use dissensus_domain::Progress;
use dissensus_store::{CheckRecords, Store};
use rusqlite::Connection;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Labels, and tables of texts and people, for all formats.
const ROWS: &str = "
    CREATE TEMP TABLE n AS
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT i FROM n;
    INSERT INTO texts (id, external_id, body)
        SELECT i + 100, 'm' || i, 'Comment ' || i || ' of somebody in haste, some words long' FROM n WHERE i <= 100000;
    INSERT INTO annotators (id, external_id, name)
        SELECT i + 100, 'p' || i, 'Person ' || i FROM n WHERE i <= 1000;";

/// Labels of format 2.
const LABELS_2: &str = "
    INSERT INTO labels (question, text, annotator, level, at_ms, source)
        SELECT 1, 101 + (i - 1) % 100000, 101 + (i - 1) / 100000, i % 5, i, 'import' FROM n;";

/// Labels of format 17, of each of which it is recorded what was shown, and facts in the tables that became
/// one log.
const LABELS_17: &str = "
    INSERT INTO copies VALUES (100, randomblob(16), 1);
    INSERT INTO events (copy, sequence, kind, question, text, annotator, at_ms, source, level)
        SELECT 100, i, 'answer', 1, 101 + (i - 1) % 100000, 101 + (i - 1) / 100000, i, 'import', i % 3 FROM n;
    INSERT INTO current_answers SELECT question, text, annotator, id, level, NULL FROM events WHERE copy = 100;
    INSERT INTO facts (kind, question, text, annotator, at_ms, value)
        SELECT 'shown', 1, 101 + (i - 1) % 100000, 101 + (i - 1) / 100000, i, '{\"answers\":true,\"predictions\":false}'
        FROM n;
    INSERT INTO decisions
        SELECT 1, 100 + i, i, 'slip', '{\"kind\":\"level\",\"value\":1}', 'c', 'by' FROM n WHERE i <= 100000;
    INSERT INTO attention_checks
        SELECT 1, 100 + i, i, '{\"kind\":\"level\",\"value\":1}', 'r' FROM n WHERE i <= 10000;
    INSERT INTO annotator_changes
        SELECT 101 + i % 1000, 'attribute:' || (i / 1000), i, 'v' FROM n WHERE i <= 20000;";

/// Labels of format 18, and 200,000 re-annotations in the tables that became events, of which half were
/// given and noted and some retracted.
const LABELS_18: &str = "
    INSERT INTO copies VALUES (100, randomblob(16), 1);
    INSERT INTO events (copy, sequence, kind, question, text, annotator, at_ms, source, level)
        SELECT 100, i, 'answer', 1, 101 + (i - 1) % 100000, 101 + (i - 1) / 100000, i, 'import', i % 3 FROM n;
    INSERT INTO current_answers SELECT question, text, annotator, id, level, NULL FROM events WHERE copy = 100;
    INSERT INTO repeats
        SELECT 1, 101 + (i - 1) % 100000, 101 + (i - 1) / 100000, 2, i, '{\"kind\":\"level\",\"value\":' || (i % 3) || '}',
            iif(i % 2, 'window', 'import')
        FROM n WHERE i <= 200000;
    INSERT INTO repeat_origins
        SELECT question, text, annotator, occasion, at_ms, answer, source, x'' FROM repeats WHERE at_ms % 2 AND text > 100;
    INSERT INTO repeat_remarks
        SELECT question, text, annotator, occasion, at_ms, answer, at_ms, 'note', '[]', 0, x'' FROM repeats
        WHERE at_ms % 2 AND text > 100;
    INSERT INTO repeat_changes
        SELECT question, text, annotator, occasion, at_ms, answer, at_ms + 1, 0 FROM repeats WHERE at_ms % 20 = 0 AND text > 100;";

fn main() -> Result<()> {
    let folder = match std::env::args().nth(1) {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    println!(
        "format  MB  in all, s  checked, s  copied, s  migrated, s  share stays for at most, s  opened again, s"
    );
    for (format, labels) in [(2, LABELS_2), (17, LABELS_17), (18, LABELS_18)] {
        let path = folder.path().join(format!("{format}.dissensus"));
        make(&path, format, labels)?;
        measure(&path, format)?;
    }
    Ok(())
}

/// A file of the format with a million labels, with pages of the size that the program makes.
fn make(path: &Path, format: u32, labels: &str) -> Result<()> {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("tests/fixtures/formats/version-{format}.dissensus"));
    std::fs::copy(kept, path)?;
    let conn = Connection::open(path)?;
    conn.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA page_size = 4096; VACUUM;")?;
    conn.execute_batch(ROWS)?;
    conn.execute_batch(labels)?;
    conn.execute_batch("PRAGMA journal_mode = WAL;")?;
    Ok(())
}

fn measure(path: &Path, format: u32) -> Result<()> {
    let size = std::fs::metadata(path)?.len() / 1_000_000;
    let watched = Arc::new(Watched::default());
    let progress: Arc<dyn Progress> = watched.clone();
    let started = Instant::now();
    let store = Store::open_recorded(path, &CheckRecords::default(), &progress)?;
    let ended = Instant::now();
    let labels = store.counts()?.labels;
    anyhow::ensure!(labels >= 1_000_000, "{labels} labels");
    store.close()?;
    let again = Instant::now();
    Store::open(path)?.close()?;
    let again = again.elapsed();
    let moves = watched.moves.lock().unwrap_or_else(PoisonError::into_inner);
    let at = |copying| moves.iter().filter(move |step| step.copying == copying).map(|step| step.at);
    let (copy, migration) = (at(true).next().unwrap_or(started), at(false).next().unwrap_or(ended));
    let ends = moves.iter().skip(1).map(|step| step.at).chain([ended]);
    let stays = moves.iter().zip(ends).map(|(step, end)| end - step.at).max().unwrap_or_default();
    let s = |time: Duration| format!("{:.2}", time.as_secs_f64());
    println!(
        "{format}  {size}  {}  {}  {}  {}  {}  {}",
        s(ended - started),
        s(copy - started),
        s(migration - copy),
        s(ended - migration),
        s(stays),
        s(again)
    );
    Ok(())
}

/// When the share of the work moved.
#[derive(Default)]
struct Watched {
    moves: Mutex<Vec<Move>>,
}

struct Move {
    at: Instant,
    copying: bool,
    percent: u64,
}

impl Progress for Watched {
    fn report(&self, done: u64, total: Option<u64>, doing: &str) {
        let copying = doing.starts_with("copying");
        let percent = done * 100 / total.unwrap_or(1).max(1);
        let mut moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
        if moves.last().is_none_or(|last| (last.copying, last.percent) != (copying, percent)) {
            moves.push(Move { at: Instant::now(), copying, percent });
        }
    }
}
