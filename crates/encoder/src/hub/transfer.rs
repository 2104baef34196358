//! Downloads one file from the hub to the cache: resumed where an earlier attempt was interrupted,
//! verified, and stoppable.

use std::fs::{self, File, OpenOptions};
use std::io::{Error as IoError, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use ureq::Agent;
use ureq::config::RedirectAuthHeaders;

use super::HubConfig;
use crate::error::EncoderError;
use crate::hash::{git_blob_sha1, sha256_of};

/// Bytes between two checks for a stop.
const CHUNK: usize = 1 << 18;
/// Number of digits of a SHA-256, the hub's name of large files.
const SHA256_DIGITS: usize = 64;
/// Number of digits of a SHA-1, the name of all other files in git and thus on the hub.
const SHA1_DIGITS: usize = 40;

/// State shared between the fetching and the calling thread.
#[derive(Default)]
pub(super) struct Shared {
    /// Bytes received so far, of all files.
    pub(super) bytes: AtomicU64,
    /// Size of all files known so far.
    pub(super) total: AtomicU64,
    /// Incremented at every sign of activity.
    pub(super) beat: AtomicU64,
    /// The current file.
    pub(super) file: Mutex<String>,
    /// Set to stop.
    pub(super) cancel: AtomicBool,
}

impl Shared {
    pub(super) fn beat(&self) {
        self.beat.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn cancelled(&self) -> Result<(), EncoderError> {
        if self.cancel.load(Ordering::Relaxed) { Err(EncoderError::Cancelled) } else { Ok(()) }
    }

    pub(super) fn begin(&self, file: &str) {
        file.clone_into(&mut self.file.lock().unwrap_or_else(PoisonError::into_inner));
        self.beat();
    }
}

/// One file to fetch.
pub(super) struct FileRequest {
    /// Its name in the repository.
    pub(super) file: String,
    pub(super) url: String,
    /// Its size according to the hub.
    pub(super) bytes: u64,
    /// Its name among the blobs.
    pub(super) etag: String,
    /// Its SHA-256 according to the catalogue; `None` if the catalogue does not list the commit.
    pub(super) pinned: Option<String>,
    /// Path of the blob.
    pub(super) blob: PathBuf,
}

/// Fetches a file. When the connection breaks, the partial file stays next to the blob, and is resumed
/// later.
pub(super) fn transfer(
    wanted: &FileRequest,
    config: &HubConfig,
    shared: &Shared,
) -> Result<(), EncoderError> {
    shared.begin(&wanted.file);
    let part = wanted.blob.with_file_name(format!("{}.part", wanted.etag));
    let unwritable = |source| EncoderError::Write { path: part.clone(), source };
    if let Some(dir) = part.parent() {
        fs::create_dir_all(dir).map_err(unwritable)?;
    }
    let mut file = OpenOptions::new().append(true).create(true).open(&part).map_err(unwritable)?;
    let kept = file.metadata().map_err(unwritable)?.len();
    let kept = if kept > wanted.bytes { restart(&file, &part)? } else { kept };
    if kept < wanted.bytes {
        receive(wanted, config, shared, &mut file, kept, &part)?;
    } else {
        shared.bytes.fetch_add(kept, Ordering::Relaxed);
    }
    file.sync_all().map_err(unwritable)?;
    drop(file);
    check(wanted, &part)?;
    fs::rename(&part, &wanted.blob).map_err(unwritable)
}

fn restart(file: &File, part: &Path) -> Result<u64, EncoderError> {
    file.set_len(0).map_err(|source| EncoderError::Write { path: part.to_owned(), source })?;
    Ok(0)
}

fn receive(
    wanted: &FileRequest,
    config: &HubConfig,
    shared: &Shared,
    file: &mut File,
    kept: u64,
    part: &Path,
) -> Result<(), EncoderError> {
    let broken = |reason: String| EncoderError::HubBroken { file: wanted.file.clone(), reason };
    let mut request = agent(config).get(&wanted.url).header("Accept-Encoding", "identity");
    if let Some(token) = &config.token {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    if kept > 0 {
        request = request.header("Range", format!("bytes={kept}-"));
    }
    let response = request.call().map_err(|e| broken(e.to_string()))?;
    // A server without support for partial requests sends the whole file.
    let kept = if kept > 0 && response.status() != 206 { restart(file, part)? } else { kept };
    shared.bytes.fetch_add(kept, Ordering::Relaxed);
    let mut body = response.into_body().into_reader();
    let mut chunk = vec![0; CHUNK];
    let mut here = kept;
    loop {
        shared.cancelled()?;
        let read = match body.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => return Err(broken(e.to_string())),
        };
        here += read as u64;
        if here > wanted.bytes {
            return Err(broken(format!("more than the {} bytes came that it has", wanted.bytes)));
        }
        file.write_all(&chunk[..read])
            .map_err(|source| EncoderError::Write { path: part.to_owned(), source })?;
        shared.bytes.fetch_add(read as u64, Ordering::Relaxed);
        shared.beat();
    }
    if here < wanted.bytes {
        return Err(broken(format!("{here} of {} bytes came", wanted.bytes)));
    }
    Ok(())
}

/// The kind of checksum in a hub's name of a file, for verification.
#[derive(Clone, Copy)]
pub(super) enum ChecksumKind {
    Sha256,
    /// SHA-1 of git's header and the bytes.
    GitSha1,
}

/// `None` if the name is not a checksum, as on some mirrors.
pub(super) fn checksum_kind(etag: &str) -> Option<ChecksumKind> {
    let is_hexadecimal = etag.bytes().all(|b| b.is_ascii_hexdigit());
    match etag.len() {
        SHA256_DIGITS if is_hexadecimal => Some(ChecksumKind::Sha256),
        SHA1_DIGITS if is_hexadecimal => Some(ChecksumKind::GitSha1),
        _ => None,
    }
}

/// Verifies the checksums of the catalogue and the hub. A file that differs is removed: resuming would
/// never repair it.
fn check(wanted: &FileRequest, part: &Path) -> Result<(), EncoderError> {
    let unreadable = |source: IoError| EncoderError::Read { path: part.to_owned(), source };
    let open = || File::open(part).map_err(unreadable);
    let by_catalogue = wanted.pinned.as_deref().map(|sum| (ChecksumKind::Sha256, sum, "catalogue"));
    let by_hub = checksum_kind(&wanted.etag).map(|kind| (kind, wanted.etag.as_str(), "hub"));
    for (kind, expected, source) in by_catalogue.into_iter().chain(by_hub) {
        let (name, found) = match kind {
            ChecksumKind::Sha256 => ("sha256", sha256_of(open()?)),
            ChecksumKind::GitSha1 => ("git sha1", git_blob_sha1(open()?, wanted.bytes)),
        };
        let found = found.map_err(unreadable)?;
        if !found.eq_ignore_ascii_case(expected) {
            fs::remove_file(part).map_err(unreadable)?;
            let reason = format!("its {name} is {found}, and {expected} according to the {source}");
            return Err(EncoderError::HubBroken { file: wanted.file.clone(), reason });
        }
    }
    Ok(())
}

fn agent(config: &HubConfig) -> Agent {
    Agent::config_builder()
        // No redirect may lead from TLS to plain text.
        .https_only(config.endpoint.starts_with("https://"))
        // A redirect may lead to other hosts, which must not receive the token.
        .redirect_auth_headers(RedirectAuthHeaders::SameHost)
        .timeout_resolve(Some(config.patience))
        .timeout_connect(Some(config.patience))
        .timeout_recv_response(Some(config.patience))
        .timeout_per_read(Some(config.patience))
        .user_agent(concat!("dissensus/", env!("CARGO_PKG_VERSION")))
        .build()
        .into()
}
