//! The cache's layout: `models--OWNER--NAME/{blobs,snapshots/COMMIT,refs,.no_exist/COMMIT}`, shared with
//! the hub's tools.

use std::fs;
use std::io::Result as IoResult;
use std::path::{Path, PathBuf};

use hf_hub::{Cache, CacheRepo, Repo, RepoType};

use super::{HubConfig, HubName};
use crate::error::EncoderError;
use crate::folder::{CONFIG, Folder, MODULES, SENTENCE_BERT_CONFIG};
use crate::sentence_transformers::pooling_file;

/// Number of digits of a commit.
const COMMIT_DIGITS: usize = 40;

/// Finds the folder of a repository's revision that is completely cached, ready for
/// [`Encoder::open`](crate::Encoder::open). Makes no request. `None` where a file is missing, or where it
/// is not known whether the repository has one of the optional files, because without it the embeddings
/// could differ from the model's own.
#[must_use]
pub fn cached(name: &HubName, config: &HubConfig) -> Option<PathBuf> {
    Snapshots::new(name, config).whole()
}

/// The cached files of one repository.
pub(super) struct Snapshots {
    repository: CacheRepo,
    /// The repository's own folder.
    dir: PathBuf,
    revision: String,
}

impl Snapshots {
    pub(super) fn new(name: &HubName, config: &HubConfig) -> Self {
        let repo = repo(name.repository(), name.revision());
        let dir = config.cache.join(repo.folder_name());
        Self {
            repository: Cache::new(config.cache.clone()).repo(repo),
            dir,
            revision: name.revision().to_owned(),
        }
    }

    /// The folder of a commit.
    pub(super) fn folder(&self, commit: &str) -> PathBuf {
        self.repository.pointer_path(commit)
    }

    pub(super) fn blob(&self, etag: &str) -> PathBuf {
        self.repository.blob_path(etag)
    }

    /// A file to lock while this repository is fetched.
    pub(super) fn lock_file(&self) -> IoResult<fs::File> {
        let cache = self.dir.parent().unwrap_or(&self.dir);
        let locks = cache.join(".locks").join(self.dir.file_name().unwrap_or_default());
        fs::create_dir_all(&locks)?;
        fs::OpenOptions::new().write(true).create(true).truncate(false).open(locks.join("dissensus.lock"))
    }

    /// Records that a commit does not have a file, so that it need not be requested again.
    pub(super) fn note_absent(&self, commit: &str, file: &str) -> IoResult<()> {
        let marker = self.absent(commit, file);
        if let Some(dir) = marker.parent() {
            fs::create_dir_all(dir)?;
        }
        fs::write(marker, "")
    }

    /// Points the revision to this commit. Done last, so that every revision refers to a complete snapshot.
    pub(super) fn finish(&self, commit: &str) -> IoResult<()> {
        if is_commit(&self.revision) { Ok(()) } else { self.repository.create_ref(commit) }
    }

    /// Links a fetched blob into the snapshot.
    pub(super) fn link(&self, blob: &Path, commit: &str, file: &str) -> IoResult<()> {
        let place = self.folder(commit).join(file);
        if let Some(dir) = place.parent() {
            fs::create_dir_all(dir)?;
        }
        if fs::symlink_metadata(&place).is_ok() {
            fs::remove_file(&place)?;
        }
        link_or_move(blob, &place, &relative(blob, file))
    }

    fn whole(&self) -> Option<PathBuf> {
        let commit = self.commit()?;
        let folder = Folder::open(&self.folder(&commit)).ok()?;
        let known = |file: &str| folder.path(file).is_file() || self.absent(&commit, file).exists();
        let pooling = pooling_file(&folder).ok()?;
        // The prompts are not required: older downloads, from before they were read, lack them, and they
        // are part of a version's key.
        [MODULES, SENTENCE_BERT_CONFIG, &pooling].into_iter().all(known).then_some(folder.dir)
    }

    fn commit(&self) -> Option<String> {
        if is_commit(&self.revision) {
            return Some(self.revision.clone());
        }
        let refs = self.dir.join("refs");
        let commit = fs::read_to_string(refs.join(&self.revision)).ok()?.trim().to_owned();
        is_commit(&commit).then_some(commit)
    }

    fn absent(&self, commit: &str, file: &str) -> PathBuf {
        self.dir.join(".no_exist").join(commit).join(file)
    }
}

pub(super) fn repo(repository: &str, revision: &str) -> Repo {
    Repo::with_revision(repository.to_owned(), RepoType::Model, revision.to_owned())
}

pub(super) fn is_commit(text: &str) -> bool {
    text.len() == COMMIT_DIGITS && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Checks the configuration in a folder that has no weights yet.
pub(super) fn check_family(dir: &Path) -> Result<(), EncoderError> {
    let folder = Folder::of_files(dir);
    debug_assert!(folder.path(CONFIG).is_file());
    crate::families::check(&folder).map(|_| ())
}

/// Relative path from `snapshots/COMMIT/FILE` to `blobs/ETAG`.
fn relative(blob: &Path, file: &str) -> PathBuf {
    let up = Path::new(file).components().count() + 1;
    let mut path: PathBuf = std::iter::repeat_n("..", up).collect();
    path.push("blobs");
    path.push(blob.file_name().unwrap_or_default());
    path
}

#[cfg(unix)]
fn link_or_move(blob: &Path, place: &Path, relative: &Path) -> IoResult<()> {
    // Some file systems do not support links.
    std::os::unix::fs::symlink(relative, place).or_else(|_| fs::rename(blob, place))
}

#[cfg(not(unix))]
fn link_or_move(blob: &Path, place: &Path, _: &Path) -> IoResult<()> {
    // On other systems links need a privilege that users rarely have.
    fs::rename(blob, place)
}
