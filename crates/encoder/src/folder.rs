//! An encoder's folder: which files it must have, and what its configuration files say.

use std::fs::{self, File};
use std::io::{Error as IoError, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::EncoderError;
use crate::shards::ShardIndex;

pub(crate) const CONFIG: &str = "config.json";
pub(crate) const TOKENIZER: &str = "tokenizer.json";
pub(crate) const WEIGHTS: &str = "model.safetensors";
/// Stands in for [`WEIGHTS`] where they are cut over several files.
pub(crate) const SHARD_INDEX: &str = "model.safetensors.index.json";
pub(crate) const MODULES: &str = "modules.json";
pub(crate) const SENTENCE_BERT_CONFIG: &str = "sentence_bert_config.json";
pub(crate) const PROMPTS: &str = "config_sentence_transformers.json";
pub(crate) const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
/// Formats that run code when they are opened.
pub(crate) const PICKLES: [&str; 2] = ["pytorch_model.bin", "pytorch_model.bin.index.json"];
/// No configuration file of an encoder comes near this.
const LARGEST_JSON: u64 = 64 << 20;
/// Tokenizers of a quarter of a million tokens have 30 MiB.
const LARGEST_TOKENIZER: u64 = 256 << 20;

/// A folder that has the files an encoder needs.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) dir: PathBuf,
}

impl Folder {
    pub(crate) fn open(dir: &Path) -> Result<Self, EncoderError> {
        if !dir.exists() {
            return Err(EncoderError::NoFolder(dir.to_owned()));
        }
        if !dir.is_dir() {
            return Err(EncoderError::NotAFolder(dir.to_owned()));
        }
        let folder = Self { dir: dir.to_owned() };
        folder.check_weights_format()?;
        let weights = if folder.is_sharded() { SHARD_INDEX } else { WEIGHTS };
        let files: Vec<String> = [CONFIG, TOKENIZER, weights]
            .into_iter()
            .filter(|f| !folder.path(f).is_file())
            .map(|f| {
                if folder.path(f).is_dir() {
                    format!("{f} (there is a folder of that name)")
                } else {
                    f.to_owned()
                }
            })
            .collect();
        if !files.is_empty() {
            return Err(EncoderError::MissingFiles { dir: folder.dir, files });
        }
        folder.check_shards()?;
        Ok(folder)
    }

    /// Whether the weights are cut over several files. A whole model.safetensors beside an index is taken alone.
    fn is_sharded(&self) -> bool {
        !self.path(WEIGHTS).is_file() && self.path(SHARD_INDEX).is_file()
    }

    /// The index of the weights' files; None where all are in one.
    pub(crate) fn shard_index(&self) -> Result<Option<ShardIndex>, EncoderError> {
        if self.is_sharded() { self.read_shard_index().map(Some) } else { Ok(None) }
    }

    /// The index of the weights' files, which must be there.
    pub(crate) fn read_shard_index(&self) -> Result<ShardIndex, EncoderError> {
        ShardIndex::parse(self.json(SHARD_INDEX)?).map_err(|reason| self.bad_json(SHARD_INDEX, &reason))
    }

    /// The files that hold the weights, in the order that the version's sum is made in.
    pub(crate) fn weight_files(&self, index: Option<&ShardIndex>) -> Vec<PathBuf> {
        match index {
            None => vec![self.path(WEIGHTS)],
            Some(index) => index.files().into_iter().map(|file| self.path(file)).collect(),
        }
    }

    fn check_shards(&self) -> Result<(), EncoderError> {
        let Some(index) = self.shard_index()? else { return Ok(()) };
        match self.weight_files(Some(&index)).into_iter().find(|path| !path.is_file()) {
            None => Ok(()),
            Some(shard) => Err(EncoderError::ShardMissing { index: self.path(SHARD_INDEX), shard }),
        }
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.dir.join(file)
    }

    /// The whole file; one too large to be what its name says is refused unread.
    pub(crate) fn read(&self, file: &str) -> Result<Vec<u8>, EncoderError> {
        let path = self.path(file);
        let most = if file == TOKENIZER { LARGEST_TOKENIZER } else { LARGEST_JSON };
        read_at_most(&path, most).map_err(|source| EncoderError::Read { path, source })
    }

    /// The name of the folder itself, for encoders that no catalogue names; of a snapshot in the model hub's cache the
    /// name of its repository, because the folder's is a commit.
    pub(crate) fn name(&self) -> String {
        let resolved = self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone());
        repository_of(&resolved).unwrap_or_else(|| {
            resolved.file_name().map_or_else(|| "encoder".to_owned(), |n| n.to_string_lossy().into_owned())
        })
    }

    pub(crate) fn json(&self, file: &str) -> Result<Value, EncoderError> {
        serde_json::from_slice(&self.read(file)?).map_err(|e| self.bad_json(file, &e.to_string()))
    }

    pub(crate) fn bad_json(&self, file: &str, reason: &str) -> EncoderError {
        EncoderError::BadJson { path: self.path(file), reason: reason.to_owned() }
    }

    fn check_weights_format(&self) -> Result<(), EncoderError> {
        if self.path(WEIGHTS).exists() || self.path(SHARD_INDEX).exists() {
            return Ok(());
        }
        match PICKLES.into_iter().find(|f| self.path(f).is_file()) {
            Some(found) => Err(EncoderError::PickleOnly { dir: self.dir.clone(), found: found.to_owned() }),
            None => Ok(()),
        }
    }

    /// Whether there is anything of this name, were it a link to nothing: what is there is read or refused, never passed
    /// over.
    pub(crate) fn has(&self, file: &str) -> bool {
        fs::symlink_metadata(self.path(file)).is_ok()
    }
}

fn read_at_most(path: &Path, most: u64) -> Result<Vec<u8>, IoError> {
    // Looked at before it is opened: opening a pipe would wait for its other end.
    let found = fs::metadata(path)?;
    if !found.is_file() {
        return Err(IoError::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(IoError::other(format!(
            "it has more than {} MiB, no encoder's file of that name does",
            most >> 20
        )));
    }
    Ok(bytes)
}

/// `owner/name` of a folder `.../models--owner--name/snapshots/COMMIT`.
fn repository_of(dir: &Path) -> Option<String> {
    let snapshots = dir.parent().filter(|p| p.file_name().is_some_and(|n| n == "snapshots"))?;
    let cached = snapshots.parent()?.file_name()?.to_str()?;
    let (owner, name) = cached.strip_prefix("models--")?.split_once("--")?;
    Some(format!("{owner}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_of_the_hubs_cache_has_its_repositorys_name() {
        let repository = |dir: &str| repository_of(Path::new(dir));
        assert_eq!(
            repository("/hub/models--some--tiny-bert/snapshots/0a1b").as_deref(),
            Some("some/tiny-bert")
        );
        assert_eq!(repository("/hub/models--some--tiny-bert"), None);
        assert_eq!(repository("/hub/models--tiny/snapshots/0a1b"), None);
        assert_eq!(repository("/hub/some--tiny/snapshots/0a1b"), None);
    }
}
