//! What identifies an encoder: the version that embeddings are filed under, and the checks behind its name.

use std::collections::HashMap;
use std::fmt;

use candle_core::Tensor;

use crate::catalogue::{Catalogue, KnownEncoder};
use crate::error::EncoderError;
use crate::folder::{CONFIG, Folder, LENGTHS, MODULES, TOKENIZER, WEIGHTS};
use crate::hash::sha256;
use crate::options::{Pooling, Precision};

/// What makes two embeddings comparable: the same version, the same text, the same embedding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EncoderVersion {
    /// Name in the catalogue, or of the folder; `owner/name` for a folder fetched from the model hub.
    pub name: String,
    /// Sum of model.safetensors, lower-case hexadecimal; of weights in several files the SHA-256 of the files' sums, each in
    /// hexadecimal and ended by a line feed, in the order of the files' names.
    pub weights_sha256: String,
    /// Sum of everything of a folder that embeddings depend on: of an encoder of the catalogue, whose other files are known,
    /// that of its weights; else of the sums of weights, config.json and tokenizer.json together, because the same weights
    /// with another tokenizer give other embeddings.
    pub fingerprint: String,
    /// How tokens become one embedding.
    pub pooling: Pooling,
    /// Longer texts are cut to so many tokens, special tokens counted.
    pub max_tokens: usize,
    /// Length of an embedding.
    pub dim: usize,
    /// Whether embeddings are scaled to length 1.
    pub normalised: bool,
    /// How exactly they are computed.
    pub precision: Precision,
}

impl EncoderVersion {
    /// The version as one short text, `NAME/FINGERPRINT/POOLING/TOKENS`, for example
    /// `all-MiniLM-L6-v2/53aa51172d14/mean/256`; with `/raw` after it where embeddings are not scaled to length 1, and
    /// `/int8` or `/half` where they are not computed in 32-bit floats.
    #[must_use]
    pub fn key(&self) -> String {
        let fingerprint = self.fingerprint.get(..12).unwrap_or(&self.fingerprint);
        let raw = if self.normalised { "" } else { "/raw" };
        let precision = match self.precision {
            Precision::Fp32 => String::new(),
            other => format!("/{other}"),
        };
        format!("{}/{fingerprint}/{}/{}{raw}{precision}", self.name, self.pooling, self.max_tokens)
    }
}

impl fmt::Display for EncoderVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key())
    }
}

/// Files of a catalogue encoder that embeddings depend on.
const TELLING: [&str; 6] = [WEIGHTS, CONFIG, TOKENIZER, MODULES, LENGTHS, "1_Pooling/config.json"];

/// Name and fingerprint of what embeddings will be filed under: the catalogue's where all files are the catalogue's, else
/// the folder's own. A folder that has a catalogue name must have the catalogue's files. Weights that were learned since
/// are another encoder.
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
    let same = catalogue.encoders.iter().find(|known| known.sha256_of(WEIGHTS) == Some(weights_sha256));
    match named.or(same.filter(|known| check_files(folder, known, weights_sha256).is_ok())) {
        Some(known) => Ok((known.name.clone(), weights_sha256.to_owned())),
        None => Ok((name, fingerprint(folder, weights_sha256, learned)?)),
    }
}

/// That every telling file is the catalogue's.
fn check_files(folder: &Folder, known: &KnownEncoder, weights_sha256: &str) -> Result<(), EncoderError> {
    for file in TELLING {
        let Some(expected) = known.sha256_of(file) else { continue };
        if !folder.path(file).is_file() {
            return Err(EncoderError::MissingFiles { dir: folder.dir.clone(), files: vec![file.to_owned()] });
        }
        let found = if file == WEIGHTS { weights_sha256.to_owned() } else { sha256(&folder.read(file)?) };
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
