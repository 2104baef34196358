//! Identity of an encoder: the version that embeddings are filed under, and the checks of its name.

use std::collections::HashMap;
use std::fmt;

use candle_core::Tensor;

use crate::catalogue::{Catalogue, KnownEncoder};
use crate::error::EncoderError;
use crate::folder::{CONFIG, Folder, MODULES, SENTENCE_BERT_CONFIG, TOKENIZER};
use crate::hash::sha256;
use crate::options::{LongTexts, Pooling, Precision};

/// The version of an encoder, which makes embeddings comparable: the same version and text give the same
/// embedding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EncoderVersion {
    /// Name in the catalogue, or of the folder; `owner/name` for a folder fetched from the model hub.
    pub name: String,
    /// SHA-256 of model.safetensors, lower-case hexadecimal. For weights in several files: the SHA-256 of
    /// the files' sums, each in hexadecimal and ended by a line feed, in the order of the files' names,
    /// with a soft prompt last.
    pub weights_sha256: String,
    /// Checksum of everything in a folder that embeddings depend on. For a catalogue encoder, whose other
    /// files are known, it is that of the weights; otherwise it is computed from the sums of weights,
    /// config.json and tokenizer.json together, because the same weights with another tokenizer give other
    /// embeddings.
    pub fingerprint: String,
    /// How hidden states of tokens are pooled.
    pub pooling: Pooling,
    /// Number of tokens that are read at once, including special tokens.
    pub max_tokens: usize,
    /// Handling of longer texts.
    pub long_texts: LongTexts,
    /// Prompt before every text.
    pub prompt: Option<String>,
    /// Whether texts are lower-cased first.
    pub lower_case: bool,
    /// Length of an embedding.
    pub dim: usize,
    /// Whether embeddings are scaled to length 1.
    pub normalised: bool,
    /// Numerical precision.
    pub precision: Precision,
}

impl EncoderVersion {
    /// Returns the version as a short text, `NAME/FINGERPRINT/POOLING/TOKENS`, for example
    /// `all-MiniLM-L6-v2/53aa51172d14/mean/256`, followed by
    /// - `/windows` where longer texts are averaged over windows instead of cut,
    /// - `/prompt-` and the first eight digits of the SHA-256 of the prompt, where there is one,
    /// - `/lower` where texts are lower-cased,
    /// - `/raw` where embeddings are not scaled to length 1,
    /// - `/int8` or `/half` where they are not computed in 32-bit floats.
    #[must_use]
    pub fn key(&self) -> String {
        let fingerprint = self.fingerprint.get(..12).unwrap_or(&self.fingerprint);
        let mut key = format!("{}/{fingerprint}/{}/{}", self.name, self.pooling, self.max_tokens);
        if self.long_texts == LongTexts::Average {
            key.push('/');
            key.push_str(LongTexts::WINDOWS);
        }
        if let Some(prompt) = &self.prompt {
            key.push_str("/prompt-");
            key.push_str(&sha256(prompt.as_bytes())[..8]);
        }
        if self.lower_case {
            key.push_str("/lower");
        }
        if !self.normalised {
            key.push_str("/raw");
        }
        if self.precision != Precision::Fp32 {
            key.push('/');
            key.push_str(self.precision.as_str());
        }
        key
    }

    /// Key of the version that differs only in how long texts are handled: texts that fit have the same
    /// embedding under both.
    #[must_use]
    pub fn sibling_key(&self) -> String {
        let long_texts = match self.long_texts {
            LongTexts::Average => LongTexts::Truncate,
            LongTexts::Truncate => LongTexts::Average,
        };
        Self { long_texts, ..self.clone() }.key()
    }
}

impl fmt::Display for EncoderVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key())
    }
}

/// Files of a catalogue encoder that embeddings depend on.
const IDENTIFYING_FILES: [&str; 5] =
    [CONFIG, TOKENIZER, MODULES, SENTENCE_BERT_CONFIG, "1_Pooling/config.json"];

/// Determines the name and fingerprint that embeddings are filed under: the catalogue's where all files
/// match the catalogue, else the folder's own. A folder with a catalogue name must have the catalogue's
/// files. Weights trained since then count as another encoder.
pub(crate) fn identify(
    folder: &Folder,
    weights_sha256: &str,
    learned: &HashMap<String, Tensor>,
) -> Result<(String, String), EncoderError> {
    let catalogue = Catalogue::embedded()?;
    let name = folder.name();
    let named = catalogue.get(&name);
    if let Some(known) = named {
        check_files(folder, known, weights_sha256)?;
    }
    if !learned.is_empty() {
        return Ok((format!("{name}+tuned"), fingerprint(folder, weights_sha256, learned)?));
    }
    let same =
        catalogue.encoders.iter().find(|known| known.sha256_of(known.weights_file()) == Some(weights_sha256));
    match named.or(same.filter(|known| check_files(folder, known, weights_sha256).is_ok())) {
        Some(known) => Ok((known.name.clone(), weights_sha256.to_owned())),
        None => Ok((name, fingerprint(folder, weights_sha256, learned)?)),
    }
}

/// Checks that every identifying file matches the catalogue.
fn check_files(folder: &Folder, known: &KnownEncoder, weights_sha256: &str) -> Result<(), EncoderError> {
    let weights = known.weights_file();
    if let Some(expected) = known.sha256_of(weights).filter(|expected| *expected != weights_sha256) {
        let path = folder.weights_path();
        let (expected, found) = (expected.to_owned(), weights_sha256.to_owned());
        return Err(EncoderError::Checksum { name: known.name.clone(), path, expected, found });
    }
    for file in IDENTIFYING_FILES {
        let Some(expected) = known.sha256_of(file) else {
            // Where the catalogue has no tokenizer.json, it refers to the vocabulary of the weights.
            if file == TOKENIZER && folder.is_next_to(file) {
                let (path, found) = (folder.path(file), sha256(&folder.read(file)?));
                let expected = "no such file".to_owned();
                return Err(EncoderError::Checksum { name: known.name.clone(), path, expected, found });
            }
            continue;
        };
        if !folder.path(file).is_file() {
            return Err(EncoderError::MissingFiles { dir: folder.dir.clone(), files: vec![file.to_owned()] });
        }
        let found = sha256(&folder.read(file)?);
        if found != expected {
            let (path, expected) = (folder.path(file), expected.to_owned());
            return Err(EncoderError::Checksum { name: known.name.clone(), path, expected, found });
        }
    }
    Ok(())
}

fn fingerprint(
    folder: &Folder,
    weights_sha256: &str,
    learned: &HashMap<String, Tensor>,
) -> Result<String, EncoderError> {
    let mut all = format!("{weights_sha256}\n");
    for file in [CONFIG, TOKENIZER] {
        all.push_str(&sha256(&folder.read(file)?));
        all.push('\n');
    }
    let mut names: Vec<&String> = learned.keys().collect();
    names.sort_unstable();
    for name in names {
        let values = learned[name].flatten_all().and_then(|tensor| tensor.to_vec1::<f32>());
        let values = values.map_err(|source| EncoderError::Compute { device: "cpu", source })?;
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        all.push_str(&format!("{name} {}\n", sha256(&bytes)));
    }
    Ok(sha256(all.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_contains_everything_that_affects_embeddings() {
        let plain = EncoderVersion {
            name: "tiny".to_owned(),
            weights_sha256: "0".repeat(64),
            fingerprint: "0123456789abcdef".repeat(4),
            pooling: Pooling::Mean,
            max_tokens: 256,
            long_texts: LongTexts::Truncate,
            prompt: None,
            lower_case: false,
            dim: 4,
            normalised: true,
            precision: Precision::Fp32,
        };
        // The same keys as before this option existed: embeddings stored under them stay valid.
        assert_eq!(plain.key(), "tiny/0123456789ab/mean/256");
        let windows = EncoderVersion { long_texts: LongTexts::Average, ..plain.clone() };
        assert_eq!(windows.key(), "tiny/0123456789ab/mean/256/windows");
        assert_eq!((windows.sibling_key(), plain.sibling_key()), (plain.key(), windows.key()));
        assert_eq!(
            [&plain, &windows].map(|v| LongTexts::of_key(&v.key())),
            [LongTexts::Truncate, LongTexts::Average]
        );
        let int8 = EncoderVersion { normalised: false, precision: Precision::Int8, ..plain.clone() };
        assert_eq!(int8.key(), "tiny/0123456789ab/mean/256/raw/int8");
        let query = EncoderVersion { prompt: Some("query: ".to_owned()), lower_case: true, ..windows };
        // printf 'query: ' | sha256sum
        assert_eq!(query.key(), "tiny/0123456789ab/mean/256/windows/prompt-08a8bf6b/lower");
    }
}
