//! The client side: starts a worker, sends it one request at a time, and ends it.

use super::message::{Failure, Request};
use crate::error::BenchError;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// Pause before a worker's turn: threads of another one may spin for some milliseconds after their work.
pub(crate) const REST: Duration = Duration::from_millis(200);

/// How a worker is started.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// Number of threads, for libraries that read it from the environment.
    pub(crate) threads: usize,
}

impl Launch {
    /// One of our own engines; `program` is `dissensus-bench`.
    pub(crate) fn ours(program: &Path, threads: usize) -> Self {
        let arguments = vec!["worker".to_owned()];
        Self { program: program.to_owned(), arguments, threads }
    }
}

/// A running worker; dropping this value ends it.
pub(crate) struct Worker {
    engine: &'static str,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// File of its standard error, for the reason if it fails.
    stderr_path: PathBuf,
}

impl Worker {
    /// Starts a worker whose standard error goes to a file in `folder`.
    pub(crate) fn start(engine: &'static str, launch: &Launch, folder: &Path) -> Result<Self, BenchError> {
        let stderr_path = folder.join(format!("{engine}.log"));
        let log = File::create(&stderr_path).map_err(BenchError::io("writing", &stderr_path))?;
        let threads = launch.threads.to_string();
        let mut child = Command::new(&launch.program)
            .args(&launch.arguments)
            .env("OMP_NUM_THREADS", &threads)
            .env("RAYON_NUM_THREADS", &threads)
            .env("TOKENIZERS_PARALLELISM", "true")
            .env("HF_HUB_OFFLINE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::from(log))
            .spawn()
            .map_err(|error| failed(engine, format!("{}: {error}", launch.program.display())))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(engine, "its input and output could not be had".to_owned()));
        };
        Ok(Self { engine, child, input, output: BufReader::new(output), stderr_path })
    }

    /// Sends one request and waits for the response.
    ///
    /// # Errors
    /// Fails if the worker reports an error, has ended, or sends a different response.
    pub(crate) fn ask<A: DeserializeOwned>(&mut self, request: &Request) -> Result<A, BenchError> {
        let mut line = serde_json::to_string(request).map_err(|error| self.failed(error.to_string()))?;
        line.push('\n');
        let mut answer = String::new();
        let asked = self.input.write_all(line.as_bytes()).and_then(|()| self.input.flush());
        let read = asked.and_then(|()| self.output.read_line(&mut answer));
        if !read.is_ok_and(|bytes| bytes > 0) {
            return Err(self.failed(self.last_words()));
        }
        if let Ok(Failure { error }) = serde_json::from_str(&answer) {
            return Err(self.failed(error));
        }
        serde_json::from_str(&answer).map_err(|error| {
            self.failed(format!("its answer is not understood ({error}): {}", answer.trim()))
        })
    }

    fn failed(&self, why: String) -> BenchError {
        failed(self.engine, why)
    }

    fn last_words(&self) -> String {
        let stderr = std::fs::read_to_string(&self.stderr_path).unwrap_or_default();
        let last = stderr.lines().rev().find(|line| !line.trim().is_empty());
        last.map_or_else(|| "it ended without a word".to_owned(), |line| line.trim().to_owned())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The worker holds nothing that needs an orderly shutdown; an error here means that it has ended
        // already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn failed(engine: &'static str, why: String) -> BenchError {
    BenchError::Peer { peer: engine, why }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::worker::{Done, Encoded};

    fn shell(script: &str, folder: &Path) -> Worker {
        let launch = Launch { program: "sh".into(), arguments: vec!["-c".into(), script.into()], threads: 1 };
        Worker::start("peer", &launch, folder).unwrap()
    }

    fn latency() -> Request {
        Request::Latency { text: "good".into(), runs: 1 }
    }

    #[test]
    fn answers_and_failures_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let script = r#"read a; echo '{"seconds":2.5,"tokens":7,"peak_mib":null}'; read b; echo '{"error":"no memory"}'"#;
        let mut worker = shell(script, folder.path());
        let run: Encoded = worker.ask(&latency()).unwrap();
        assert_eq!((run.seconds, run.tokens, run.peak_mib), (2.5, 7, None));
        let error = worker.ask::<Encoded>(&latency()).unwrap_err();
        assert_eq!(error.to_string(), "peer did not run: no memory");
    }

    #[test]
    fn exit_is_reported_with_the_last_line() {
        let folder = tempfile::tempdir().unwrap();
        let mut worker = shell("read a; echo 'Traceback' >&2; echo 'ImportError: torch' >&2", folder.path());
        let error = worker.ask::<Done>(&latency()).unwrap_err();
        assert_eq!(error.to_string(), "peer did not run: ImportError: torch");
    }

    #[test]
    fn unexpected_answer_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = shell("read a; echo hello", folder.path()).ask::<Encoded>(&latency()).unwrap_err();
        assert!(
            error.to_string().contains("not understood") && error.to_string().ends_with("hello"),
            "{error}"
        );
    }
}
