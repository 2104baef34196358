//! Training steps of a fine-tuned encoder, compared with PyTorch's with the same batch and policy.

use crate::error::BenchError;
use crate::figures::{cores, median};
use crate::peers::Peers;
use crate::worker::{Launch, REST, Request, Trained, Worker};
use dissensus_project::home::Home;
use dissensus_project::jobs::Silent;
use dissensus_training::encoding::encoder_folder;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Which parts are trained, as named by both sides.
const POLICIES: [&str; 3] = ["full", "last-2", "lora"];
/// Lower token ids are special tokens in the usual vocabularies.
const FIRST_ID: usize = 1_000;

/// What to train, and whether to compare with PyTorch.
#[derive(Clone, Debug)]
pub struct TrainChoices {
    /// Name or folder of the encoder; `None` for the default.
    pub encoder: Option<String>,
    /// Texts per batch.
    pub batch: usize,
    /// Tokens per text.
    pub tokens: usize,
    /// Steps per round.
    pub steps: usize,
    /// Number of rounds, in turns; the one with the lowest median counts.
    pub rounds: usize,
    /// Threads of both; `None` for the number of cores.
    pub threads: Option<usize>,
    /// Also measure PyTorch.
    pub peers: bool,
}

/// Training steps under every policy.
#[derive(Clone, Debug, Serialize)]
pub struct TrainBench {
    pub batch: usize,
    pub tokens: usize,
    /// Threads of both sides.
    pub threads: usize,
    /// Steps per round.
    pub steps: usize,
    /// Number of rounds.
    pub rounds: usize,
    /// One entry per policy.
    pub policies: Vec<StepTime>,
    /// Why PyTorch, though requested, has no times.
    pub missing: Option<String>,
}

/// One step under one policy: forward pass, backward pass and weight update.
#[derive(Clone, Debug, Serialize)]
pub struct StepTime {
    /// `full`, `last-2` or `lora` (rank 8, alpha 16, on queries and values).
    pub policy: &'static str,
    /// Our median in the best round, in milliseconds.
    pub dissensus_ms: f64,
    /// PyTorch's median in the best round, in milliseconds.
    pub pytorch_ms: Option<f64>,
    /// Our time divided by PyTorch's: below 1, ours is faster.
    pub over_pytorch: Option<f64>,
}

/// Measures training steps. `program` is the program that our side is started with. If PyTorch cannot run,
/// the reason goes to `say` in one line and only our times are reported.
///
/// # Errors
/// Fails if there is no encoder, or if our own side fails.
pub fn train(
    home: &Home,
    program: &Path,
    choices: &TrainChoices,
    say: &dyn Fn(&str),
) -> Result<TrainBench, BenchError> {
    let dir = encoder_folder(home, choices.encoder.as_deref(), &Silent)?;
    let threads = choices.threads.unwrap_or_else(cores).max(1);
    let folder = tempfile::tempdir().map_err(BenchError::io("making a folder in", std::env::temp_dir()))?;
    let ids = ids(vocabulary(&dir)?, choices.batch, choices.tokens);
    let step = |policy: &str| Request::Train {
        encoder: dir.clone(),
        policy: policy.to_owned(),
        ids: ids.clone(),
        steps: choices.steps.max(1),
        threads,
    };
    let mut ours = Worker::start("dissensus", &Launch::ours(program, threads), folder.path())?;
    let mut theirs = choices.peers.then(|| pytorch(home, threads, folder.path(), say));
    let mut best = [(None, None); POLICIES.len()];
    for round in 1..=choices.rounds.max(1) {
        say(&format!("Training, round {round} of {}", choices.rounds.max(1)));
        for (policy, (our_best, their_best)) in POLICIES.into_iter().zip(&mut best) {
            keep_minimum(our_best, median_ms(&mut ours, &step(policy))?);
            if let Some(Ok(worker)) = &mut theirs {
                match median_ms(worker, &step(policy)) {
                    Ok(ms) => keep_minimum(their_best, ms),
                    Err(error) => theirs = Some(Err(error)),
                }
            }
        }
    }
    let missing = theirs.and_then(Result::err).map(|error| error.to_string());
    if let Some(why) = &missing {
        say(&format!("PyTorch is left out: {why}"));
    }
    let policies = POLICIES.into_iter().zip(best).filter_map(|(policy, (ours, theirs))| {
        let dissensus_ms = ours?;
        let over_pytorch = theirs.map(|theirs: f64| dissensus_ms / theirs);
        Some(StepTime { policy, dissensus_ms, pytorch_ms: theirs, over_pytorch })
    });
    Ok(TrainBench {
        batch: choices.batch,
        tokens: choices.tokens,
        threads,
        steps: choices.steps.max(1),
        rounds: choices.rounds.max(1),
        policies: policies.collect(),
        missing,
    })
}

fn pytorch(home: &Home, threads: usize, folder: &Path, say: &dyn Fn(&str)) -> Result<Worker, BenchError> {
    Worker::start("PyTorch", Peers::ready(home.cache(), threads, say)?.launch(), folder)
}

fn median_ms(worker: &mut Worker, step: &Request) -> Result<f64, BenchError> {
    std::thread::sleep(REST);
    let seconds = worker.ask::<Trained>(step)?.seconds;
    Ok(median(&seconds).unwrap_or(f64::NAN) * 1e3)
}

fn keep_minimum(best: &mut Option<f64>, ms: f64) {
    *best = Some(best.map_or(ms, |best| best.min(ms)));
}

/// Size of the encoder's vocabulary, from its config.json.
fn vocabulary(dir: &Path) -> Result<usize, BenchError> {
    let path: PathBuf = dir.join("config.json");
    let failed = |source| BenchError::Io { path: path.clone(), doing: "reading", source };
    let bytes = std::fs::read(&path).map_err(failed)?;
    let config: serde_json::Value = serde_json::from_slice(&bytes).map_err(|error| failed(error.into()))?;
    let size = config["vocab_size"].as_u64().and_then(|size| usize::try_from(size).ok());
    size.ok_or_else(|| failed(std::io::Error::other("it has no vocab_size")))
}

/// Token ids of the texts, spread over the vocabulary as words are.
fn ids(vocabulary: usize, texts: usize, tokens: usize) -> Vec<Vec<u32>> {
    let first = FIRST_ID.min(vocabulary / 2);
    let spread = (vocabulary - first).max(1);
    // A prime step visits the ids in scattered order, with hardly any repeats in a batch.
    let id = |text: usize, at: usize| (first + (text * tokens + at) * 7_919 % spread) as u32;
    (0..texts.max(1)).map(|text| (0..tokens.max(1)).map(|at| id(text, at)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_distinct_and_within_the_vocabulary() {
        for vocabulary in [30_522, 86] {
            let ids = ids(vocabulary, 16, 64);
            assert!(ids.len() == 16 && ids.iter().all(|text| text.len() == 64));
            assert!(ids.iter().flatten().all(|id| (*id as usize) < vocabulary));
        }
        let different: std::collections::HashSet<u32> = ids(30_522, 16, 64).concat().into_iter().collect();
        assert_eq!(different.len(), 16 * 64);
    }

    #[test]
    fn best_round_is_reported() {
        let mut best = None;
        for ms in [3.0, 2.0, 4.0] {
            keep_minimum(&mut best, ms);
        }
        assert_eq!(best, Some(2.0));
    }
}
