//! Fetching an encoder from the hub: which files, in which order, and the messages when it fails.

use std::collections::BTreeSet;
use std::fs::TryLockError;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hf_hub::Cache;
use hf_hub::api::RepoInfo;
use hf_hub::api::sync::{Api, ApiBuilder, ApiError};

use super::snapshot::{Snapshots, check_family, is_commit, repo};
use super::transfer::{FileRequest, Shared, checksum_kind, transfer};
use super::{HubConfig, HubName, cached};
use crate::catalogue::Catalogue;
use crate::error::EncoderError;
use crate::folder::{
    CONFIG, Folder, MODULES, PICKLES, PROMPTS, SENTENCE_BERT_CONFIG, SHARD_INDEX, TOKENIZER,
    TOKENIZER_CONFIG, WEIGHTS,
};
use crate::sentence_transformers::pooling_file;

/// Interval of progress callbacks, in which the caller can stop the fetch.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// Progress of a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The current file; empty before the first.
    pub file: String,
    /// Bytes received, of all files that were not cached before.
    pub bytes: u64,
    /// Size of all these files in bytes; grows as more of them become known, and is 0 before the first.
    pub total: u64,
}

/// Fetches the files of an encoder from a repository on the hub and returns their folder, ready for
/// [`Encoder::open`](crate::Encoder::open): config.json, tokenizer.json, the weights, and the
/// sentence-transformers files where the repository has them. Cached files are not fetched again;
/// interrupted downloads are resumed. Without a connection, or with [`HubConfig::offline`], a complete
/// cached snapshot is used.
///
/// `on_progress` is called about ten times a second on the calling thread; breaking stops the fetch at
/// once.
///
/// # Errors
/// No connection and nothing cached; no such repository or no access; a repository without safetensors
/// weights, without a tokenizer.json or of an unsupported family, all of which are checked before the
/// weights are fetched; a broken transfer; a full disk; [`EncoderError::Cancelled`].
pub fn fetch(
    name: &HubName,
    config: &HubConfig,
    on_progress: &mut dyn FnMut(Fetched) -> ControlFlow<()>,
) -> Result<PathBuf, EncoderError> {
    if config.offline {
        return cached(name, config).ok_or_else(|| EncoderError::HubOffline {
            repository: name.to_string(),
            endpoint: config.endpoint.clone(),
            reason: "HF_HUB_OFFLINE is set".to_owned(),
        });
    }
    config.check_endpoint()?;
    match in_background(name, config, on_progress) {
        Err(e @ EncoderError::HubOffline { .. }) => cached(name, config).ok_or(e),
        done => done,
    }
}

/// Runs the job on a separate thread, so that an unresponsive server cannot prevent the caller from
/// stopping it.
fn in_background(
    name: &HubName,
    config: &HubConfig,
    on_progress: &mut dyn FnMut(Fetched) -> ControlFlow<()>,
) -> Result<PathBuf, EncoderError> {
    let shared = Arc::new(Shared::default());
    let (send, receive) = channel();
    let (job_name, job_config, job_shared) = (name.clone(), config.clone(), Arc::clone(&shared));
    let started = thread::Builder::new().name("hub-fetch".to_owned()).spawn(move || {
        let job = Job { name: &job_name, config: &job_config, shared: &job_shared };
        // The receiver may be gone already.
        let _ = send.send(job.run());
    });
    started.map_err(|e| EncoderError::Threads { threads: 1, reason: e.to_string() })?;
    let mut last_beat = (0, Instant::now());
    loop {
        let done = receive.recv_timeout(REPORT_EVERY);
        if on_progress(progress(&shared)).is_break() && !matches!(done, Ok(Ok(_))) {
            shared.cancel.store(true, Ordering::Relaxed);
            return Err(EncoderError::Cancelled);
        }
        match done {
            Ok(result) => return result,
            // The thread ended without a result: the hub's library could not handle an answer.
            Err(RecvTimeoutError::Disconnected) => {
                return Err(strange(name, "an answer that cannot be read"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let beat = shared.beat.load(Ordering::Relaxed);
        if beat != last_beat.0 {
            last_beat = (beat, Instant::now());
        } else if last_beat.1.elapsed() > config.patience {
            shared.cancel.store(true, Ordering::Relaxed);
            return Err(EncoderError::HubOffline {
                repository: name.to_string(),
                endpoint: config.endpoint.clone(),
                reason: format!("nothing came for {} seconds", config.patience.as_secs_f32()),
            });
        }
    }
}

fn progress(shared: &Shared) -> Fetched {
    Fetched {
        file: shared.file.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        bytes: shared.bytes.load(Ordering::Relaxed),
        total: shared.total.load(Ordering::Relaxed),
    }
}

struct Job<'a> {
    name: &'a HubName,
    config: &'a HubConfig,
    shared: &'a Shared,
}

impl Job<'_> {
    fn run(&self) -> Result<PathBuf, EncoderError> {
        let api = self.api()?;
        let info = api
            .repo(repo(self.name.repository(), self.name.revision()))
            .info()
            .map_err(|e| self.user_error(&e))?;
        self.shared.beat();
        if !is_commit(&info.sha) {
            return Err(strange(self.name, &format!("\"{}\" for a commit", info.sha)));
        }
        let weights = self.weights_file(&info)?;
        let snapshots = Snapshots::new(self.name, self.config);
        let _turn = self.wait_for_turn(&snapshots)?;
        let round = Round { job: self, api: &api, info: &info, snapshots: &snapshots };
        let dir = snapshots.folder(&info.sha);
        round.fetch(&[CONFIG])?;
        check_family(&dir)?;
        let folder = Folder::of_files(&dir);
        round.fetch(&[TOKENIZER])?;
        round.fetch_if_there(&[MODULES, SENTENCE_BERT_CONFIG, PROMPTS, TOKENIZER_CONFIG])?;
        round.fetch_if_there(&[&pooling_file(&folder)?])?;
        round.fetch(&[weights])?;
        if weights == SHARD_INDEX {
            round.fetch(&folder.read_shard_index()?.files())?;
        }
        snapshots.finish(&info.sha).map_err(|source| unwritable(&folder.dir, source))?;
        Ok(folder.dir)
    }

    fn api(&self) -> Result<Api, EncoderError> {
        ApiBuilder::from_cache(Cache::new(self.config.cache.clone()))
            .with_endpoint(self.config.endpoint.clone())
            .with_token(self.config.token.clone())
            .with_progress(false)
            .build()
            .map_err(|e| self.user_error(&e))
    }

    /// The first weights file, if the repository has everything that an encoder needs.
    fn weights_file(&self, info: &RepoInfo) -> Result<&'static str, EncoderError> {
        let files: BTreeSet<&str> = info.siblings.iter().map(|s| s.rfilename.as_str()).collect();
        let weights = [WEIGHTS, SHARD_INDEX].into_iter().find(|f| files.contains(f));
        let pickle = PICKLES.into_iter().find(|f| files.contains(f));
        let repository = self.name.repository().to_owned();
        if let (None, Some(found)) = (weights, pickle) {
            return Err(EncoderError::HubPickleOnly { repository, found: found.to_owned() });
        }
        let lacking = |file: &&str| !files.contains(*file);
        let mut missing: Vec<String> =
            [CONFIG, TOKENIZER].into_iter().filter(lacking).map(ToOwned::to_owned).collect();
        match weights {
            Some(weights) if missing.is_empty() => return Ok(weights),
            Some(_) => {}
            None => missing.push(WEIGHTS.to_owned()),
        }
        Err(EncoderError::HubFilesMissing { repository, files: missing })
    }

    /// Waits until no other process of ours fetches the same repository.
    fn wait_for_turn(&self, snapshots: &Snapshots) -> Result<std::fs::File, EncoderError> {
        let failed = |source| EncoderError::Write { path: self.config.cache.clone(), source };
        let file = snapshots.lock_file().map_err(failed)?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) => {
                    self.shared.begin("waiting for another program that fetches it");
                    self.shared.cancelled()?;
                    thread::sleep(REPORT_EVERY);
                }
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
    }

    /// Converts a failed request into an error for the user who named the repository.
    fn user_error(&self, error: &ApiError) -> EncoderError {
        let repository = self.name.to_string();
        let ApiError::RequestError(request) = error else {
            return strange(self.name, &error.to_string());
        };
        match **request {
            ureq::Error::StatusCode(404) => EncoderError::HubNotFound { repository },
            ureq::Error::StatusCode(status @ (401 | 403)) => EncoderError::HubClosed {
                repository,
                status,
                advice: if self.config.token.is_some() {
                    "the token in HF_TOKEN (or the one stored by `hf auth login`) does not open it"
                } else {
                    "set HF_TOKEN to an access token that may read it"
                },
            },
            ureq::Error::StatusCode(status) if status < 500 => {
                strange(self.name, &format!("HTTP status {status}"))
            }
            ureq::Error::Json(_) | ureq::Error::BadUri(_) => strange(self.name, &request.to_string()),
            ref other => EncoderError::HubOffline {
                repository,
                endpoint: self.config.endpoint.clone(),
                reason: other.to_string(),
            },
        }
    }
}

/// The files of one commit.
struct Round<'a> {
    job: &'a Job<'a>,
    api: &'a Api,
    info: &'a RepoInfo,
    snapshots: &'a Snapshots,
}

impl Round<'_> {
    /// Fetches the files that are not cached, once their sizes are known.
    fn fetch(&self, files: &[&str]) -> Result<(), EncoderError> {
        let dir = self.snapshots.folder(&self.info.sha);
        let open: Vec<&&str> = files.iter().filter(|file| !dir.join(file).is_file()).collect();
        let wanted: Vec<FileRequest> =
            open.into_iter().map(|file| self.ask(file)).collect::<Result<_, _>>()?;
        for wanted in &wanted {
            if !wanted.blob.is_file() {
                transfer(wanted, self.job.config, self.job.shared)?;
            }
            self.snapshots
                .link(&wanted.blob, &self.info.sha, &wanted.file)
                .map_err(|source| unwritable(&dir, source))?;
        }
        Ok(())
    }

    fn fetch_if_there(&self, files: &[&str]) -> Result<(), EncoderError> {
        for file in files {
            if self.info.siblings.iter().any(|s| s.rfilename == *file) {
                self.fetch(&[file])?;
            } else {
                let noted = self.snapshots.note_absent(&self.info.sha, file);
                noted.map_err(|source| unwritable(&self.snapshots.folder(&self.info.sha), source))?;
            }
        }
        Ok(())
    }

    /// Requests a file's size and checksum from the hub.
    fn ask(&self, file: &str) -> Result<FileRequest, EncoderError> {
        self.job.shared.cancelled()?;
        self.job.shared.begin(file);
        let url = self.api.repo(repo(self.job.name.repository(), &self.info.sha)).url(file);
        let found = self.api.metadata(&url).map_err(|e| match &e {
            ApiError::RequestError(request) if matches!(**request, ureq::Error::StatusCode(404)) => {
                EncoderError::HubBroken {
                    file: file.to_owned(),
                    reason: "the hub lists it and has it not".to_owned(),
                }
            }
            _ => self.job.user_error(&e),
        })?;
        let etag = found.etag().trim_start_matches("W/").to_owned();
        let is_name =
            !etag.is_empty() && etag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if !is_name {
            return Err(strange(self.job.name, &format!("\"{etag}\" for the sum of {file}")));
        }
        let blob = self.snapshots.blob(&etag);
        let bytes = found.size() as u64;
        let pinned = Catalogue::embedded()?
            .file_on_hub(self.job.name.repository(), &self.info.sha, file)
            .map(|known| known.sha256.clone());
        if !blob.is_file() {
            if pinned.is_none() && checksum_kind(&etag).is_none() {
                let endpoint = self.job.config.endpoint.clone();
                return Err(EncoderError::HubUnverified { file: file.to_owned(), endpoint });
            }
            self.job.shared.total.fetch_add(bytes, Ordering::Relaxed);
        }
        Ok(FileRequest { file: file.to_owned(), url, bytes, etag, pinned, blob })
    }
}

fn strange(name: &HubName, what: &str) -> EncoderError {
    EncoderError::HubAnswer { repository: name.to_string(), what: what.to_owned() }
}

fn unwritable(path: &Path, source: std::io::Error) -> EncoderError {
    EncoderError::Write { path: path.to_owned(), source }
}
