//! An encoder's folder: its required files and its configuration.

use std::fs::{self, File};
use std::io::{Error as IoError, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::error::EncoderError;
use crate::gguf::GgufFile;
use crate::shards::ShardIndex;

pub(crate) const CONFIG: &str = "config.json";
pub(crate) const TOKENIZER: &str = "tokenizer.json";
pub(crate) const WEIGHTS: &str = "model.safetensors";
/// Replaces [`WEIGHTS`] where the weights are split into several files.
pub(crate) const SHARD_INDEX: &str = "model.safetensors.index.json";
pub(crate) const MODULES: &str = "modules.json";
pub(crate) const SENTENCE_BERT_CONFIG: &str = "sentence_bert_config.json";
pub(crate) const PROMPTS: &str = "config_sentence_transformers.json";
pub(crate) const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
/// A soft prompt learned on the weights in the same folder.
pub(crate) const SOFT_PROMPT_FILE: &str = "soft_prompt.safetensors";
/// Formats that run code when they are opened.
pub(crate) const PICKLES: [&str; 2] = ["pytorch_model.bin", "pytorch_model.bin.index.json"];
/// Far above the size of any configuration file of an encoder.
const LARGEST_JSON: u64 = 64 << 20;
/// Tokenizers of a quarter of a million tokens have 30 MiB.
const LARGEST_TOKENIZER: u64 = 256 << 20;

/// A folder with the files that an encoder needs, or one GGUF file that replaces them.
#[derive(Debug)]
pub(crate) struct Folder {
    /// The folder; or the GGUF file, if one was named itself.
    pub(crate) dir: PathBuf,
    /// Used instead of safetensors: provides config.json, and tokenizer.json and tokenizer_config.json
    /// where the folder has no tokenizer.json.
    gguf: Option<Arc<GgufFile>>,
}

impl Folder {
    pub(crate) fn open(dir: &Path) -> Result<Self, EncoderError> {
        if !dir.exists() {
            return Err(EncoderError::NoFolder(dir.to_owned()));
        }
        if is_gguf(dir) && dir.is_file() {
            return Ok(Self { dir: dir.to_owned(), gguf: Some(Arc::new(GgufFile::open(dir)?)) });
        }
        if !dir.is_dir() {
            return Err(EncoderError::NotAFolder(dir.to_owned()));
        }
        let mut folder = Self::of_files(dir);
        folder.gguf = folder.find_gguf()?;
        if folder.gguf.is_some() {
            return Ok(folder);
        }
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

    /// Wraps a folder without checking its files.
    pub(crate) fn of_files(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), gguf: None }
    }

    /// The GGUF file that provides the weights.
    pub(crate) fn gguf(&self) -> Option<Arc<GgufFile>> {
        self.gguf.clone()
    }

    /// Opens the only GGUF file of a folder without safetensors.
    fn find_gguf(&self) -> Result<Option<Arc<GgufFile>>, EncoderError> {
        if self.path(WEIGHTS).exists() || self.path(SHARD_INDEX).exists() {
            return Ok(None);
        }
        let unreadable = |source| EncoderError::Read { path: self.dir.clone(), source };
        let entries = fs::read_dir(&self.dir).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let mut found: Vec<PathBuf> = entries
            .map_err(unreadable)?
            .iter()
            .map(fs::DirEntry::path)
            .filter(|path| is_gguf(path) && path.is_file())
            .collect();
        found.sort();
        match found.as_slice() {
            [] => Ok(None),
            [one] => GgufFile::open(one).map(|file| Some(Arc::new(file))),
            several => Err(EncoderError::SeveralGguf { dir: self.dir.clone(), files: several.to_vec() }),
        }
    }

    /// Whether the contents of this file are generated from a GGUF file.
    pub(crate) fn is_from_gguf(&self, file: &str) -> bool {
        let of_tokenizer = file == TOKENIZER || file == TOKENIZER_CONFIG;
        self.gguf.is_some() && (file == CONFIG || (of_tokenizer && !self.is_next_to(TOKENIZER)))
    }

    /// Whether a file of this name exists in the folder; never looked for when a GGUF file was named
    /// itself.
    pub(crate) fn is_next_to(&self, file: &str) -> bool {
        fs::symlink_metadata(self.dir.join(file)).is_ok()
    }

    /// Whether the weights are split into several files. A model.safetensors takes precedence over an
    /// index.
    fn is_sharded(&self) -> bool {
        self.gguf.is_none() && !self.path(WEIGHTS).is_file() && self.path(SHARD_INDEX).is_file()
    }

    /// The index of the weights' files; `None` if all weights are in one file.
    pub(crate) fn shard_index(&self) -> Result<Option<ShardIndex>, EncoderError> {
        if self.is_sharded() { self.read_shard_index().map(Some) } else { Ok(None) }
    }

    /// Reads the index of the weights' files, which must exist.
    pub(crate) fn read_shard_index(&self) -> Result<ShardIndex, EncoderError> {
        ShardIndex::parse(self.json(SHARD_INDEX)?).map_err(|reason| self.bad_json(SHARD_INDEX, &reason))
    }

    /// The files with the weights, in the order in which the version's checksum is computed.
    pub(crate) fn weight_files(&self, index: Option<&ShardIndex>) -> Vec<PathBuf> {
        match index {
            None => {
                vec![self.gguf.as_ref().map_or_else(|| self.path(WEIGHTS), |gguf| gguf.file().to_owned())]
            }
            Some(index) => index.files().into_iter().map(|file| self.path(file)).collect(),
        }
    }

    /// The single file of the weights, or the index of several.
    pub(crate) fn weights_path(&self) -> PathBuf {
        match &self.gguf {
            Some(gguf) => gguf.file().to_owned(),
            None => self.path(if self.is_sharded() { SHARD_INDEX } else { WEIGHTS }),
        }
    }

    fn check_shards(&self) -> Result<(), EncoderError> {
        let Some(index) = self.shard_index()? else { return Ok(()) };
        match self.weight_files(Some(&index)).into_iter().find(|path| !path.is_file()) {
            None => Ok(()),
            Some(shard) => Err(EncoderError::ShardMissing { index: self.path(SHARD_INDEX), shard }),
        }
    }

    /// Path of a file, or of the GGUF file that provides its contents.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        match &self.gguf {
            Some(gguf) if self.is_from_gguf(file) => gguf.file().to_owned(),
            _ => self.dir.join(file),
        }
    }

    /// Reads a whole file; a file too large for its kind is refused unread.
    pub(crate) fn read(&self, file: &str) -> Result<Vec<u8>, EncoderError> {
        if let Some(gguf) = self.gguf.as_ref().filter(|_| self.is_from_gguf(file)) {
            let text = match file {
                CONFIG => gguf.config(),
                TOKENIZER => gguf.tokenizer()?[0],
                _ => gguf.tokenizer()?[1],
            };
            return Ok(text.as_bytes().to_vec());
        }
        let path = self.path(file);
        let most = if file == TOKENIZER { LARGEST_TOKENIZER } else { LARGEST_JSON };
        read_at_most(&path, most).map_err(|source| EncoderError::Read { path, source })
    }

    /// Name of the folder, for encoders that are not in the catalogue. For a snapshot in the model hub's
    /// cache this is the name of its repository, because the folder is named after a commit.
    pub(crate) fn name(&self) -> String {
        // The name of a file is not resolved through links.
        let resolved = match is_gguf(&self.dir) && self.dir.is_file() {
            true => self.dir.with_extension(""),
            false => self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone()),
        };
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

    /// Whether anything of this name exists, even a dangling link: an existing file is read or refused,
    /// never ignored.
    pub(crate) fn has(&self, file: &str) -> bool {
        self.is_from_gguf(file) || self.is_next_to(file)
    }
}

fn is_gguf(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"))
}

fn read_at_most(path: &Path, most: u64) -> Result<Vec<u8>, IoError> {
    // Checked before it is opened: opening a pipe would wait for its other end.
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

/// Returns `owner/name` for a folder `.../models--owner--name/snapshots/COMMIT`.
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
    fn cached_snapshot_has_the_repository_name() {
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
