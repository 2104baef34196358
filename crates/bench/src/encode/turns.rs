//! Turn-taking: in every round each engine runs once while the others are idle.

use super::cosine;
use super::field::Field;
use super::report::{EncodeMemory, EngineMemory};
use crate::error::BenchError;
use crate::worker::{Encoded, Latency, REST, Request};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Number of turns in which the latency of one text is measured, and runs per turn.
const LATENCY_TURNS: usize = 5;
const LATENCY_RUNS_A_TURN: usize = 10;

/// Result of one engine.
#[derive(Default)]
pub(super) struct Lap {
    /// Time of its best round.
    pub(super) seconds: f64,
    /// Highest value of all rounds.
    pub(super) peak_mib: Option<f64>,
    pub(super) latencies_ms: Vec<f64>,
    /// File of the embeddings, row by row; the same in every round.
    pub(super) embeddings: PathBuf,
}

/// Result of every engine, by name.
pub(super) type Laps = HashMap<&'static str, Lap>;

/// Runs all rounds over all texts, then the turns on one text.
pub(super) fn run(field: &mut Field<'_>, texts: &[String], rounds: usize) -> Result<Laps, BenchError> {
    let file = written(field.folder, "texts.json", texts)?;
    let mut laps = Laps::new();
    for round in 1..=rounds {
        (field.say)(&format!("Encoding, round {round} of {rounds}"));
        field.each(|entrant, subject, folder| {
            std::thread::sleep(REST);
            let embeddings = folder.join(format!("{}.f32", entrant.engine));
            let request = Request::Encode { texts: file.clone(), embeddings: embeddings.clone() };
            let done: Encoded = entrant.worker.ask(&request)?;
            same_tokens(entrant.engine, done.tokens, subject.tokens)?;
            let lap = laps.entry(entrant.engine).or_default();
            lap.seconds = if lap.seconds > 0.0 { lap.seconds.min(done.seconds) } else { done.seconds };
            lap.peak_mib = highest(lap.peak_mib, done.peak_mib);
            lap.embeddings = embeddings;
            Ok(())
        })?;
    }
    (field.say)("Encoding one text");
    for _ in 0..LATENCY_TURNS {
        field.each(|entrant, subject, _| {
            std::thread::sleep(REST);
            let text = subject.latency_text.clone();
            let done: Latency = entrant.worker.ask(&Request::Latency { text, runs: LATENCY_RUNS_A_TURN })?;
            laps.entry(entrant.engine).or_default().latencies_ms.extend(done.milliseconds);
            Ok(())
        })?;
    }
    Ok(laps)
}

/// Peak memory of our engine and onnxruntime on other texts, each in a fresh process, so that no earlier work
/// counts.
pub(super) fn memory(
    field: &mut Field<'_>,
    file: &Path,
    texts: &[String],
) -> Result<EncodeMemory, BenchError> {
    let written = written(field.folder, "memory.json", texts)?;
    let mut engines = Vec::new();
    let say = field.say;
    field.each(|entrant, _, folder| {
        if !entrant.ours && !entrant.engine.starts_with("onnxruntime") {
            return Ok(());
        }
        say(&format!("Encoding {} texts with {}", texts.len(), entrant.engine));
        let embeddings = folder.join("memory.f32");
        let done: Encoded =
            entrant.restart(folder)?.ask(&Request::Encode { texts: written.clone(), embeddings })?;
        engines.push(EngineMemory { engine: entrant.engine, peak_mib: done.peak_mib, seconds: done.seconds });
        Ok(())
    })?;
    Ok(EncodeMemory { file: file.to_owned(), texts: texts.len(), engines })
}

/// Worst and mean cosine of every engine's embeddings with the reference's.
pub(super) fn cosines(
    laps: &Laps,
    reference: &str,
    texts: usize,
) -> Result<HashMap<&'static str, cosine::Closeness>, BenchError> {
    let Some(reference) = laps.get(reference) else { return Ok(HashMap::new()) };
    let expected = cosine::rows(&reference.embeddings)?;
    laps.iter()
        .filter(|(_, lap)| lap.embeddings.is_file())
        .map(|(engine, lap)| {
            let found = cosine::closeness(&cosine::rows(&lap.embeddings)?, &expected, texts);
            let why = "its embeddings are not as many or not as long as the reference's".to_owned();
            Ok((*engine, found.ok_or(BenchError::Peer { peer: engine, why })?))
        })
        .collect()
}

/// Fails if an engine truncates texts elsewhere: it then does different work, and its speed cannot be
/// compared with ours.
fn same_tokens(engine: &'static str, theirs: usize, ours: usize) -> Result<(), BenchError> {
    if theirs == ours {
        return Ok(());
    }
    let why = format!("it makes {theirs} tokens of the texts, where {ours} are right");
    Err(BenchError::Peer { peer: engine, why })
}

fn highest(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.into_iter().chain(b).reduce(f64::max)
}

fn written(folder: &Path, name: &str, texts: &[String]) -> Result<PathBuf, BenchError> {
    let path = folder.join(name);
    let write = || std::fs::write(&path, serde_json::to_vec(texts)?);
    write().map_err(BenchError::io("writing", &path))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engine_with_other_token_counts_is_refused() {
        assert!(same_tokens("peer", 5, 5).is_ok());
        let error = same_tokens("peer", 4, 5).unwrap_err().to_string();
        assert_eq!(error, "peer did not run: it makes 4 tokens of the texts, where 5 are right");
    }

    #[test]
    fn highest_known_peak_is_used() {
        assert_eq!(highest(None, None), None);
        assert_eq!(highest(Some(2.0), None), Some(2.0));
        assert_eq!(highest(Some(2.0), Some(3.0)), Some(3.0));
    }
}
