//! Texts as token ids: the folder's own tokenizer, without the padding and cut that its file may set.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde::de::IgnoredAny;
use tokenizers::{Encoding, Tokenizer, TruncationParams};

use crate::error::EncoderError;
use crate::folder::{Folder, TOKENIZER};

/// A tokenizer that cuts at a length of our choice and never pads.
pub(crate) struct Tokens {
    tokenizer: Tokenizer,
    vocabulary: usize,
}

/// One text as ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tokenized {
    /// At least one, at most `max_tokens`.
    pub(crate) ids: Vec<u32>,
    /// Whether the text was longer than that.
    pub(crate) cut: bool,
}

impl Tokens {
    /// `max_tokens` is checked against the special tokens that the tokenizer adds and the `positions` of the model.
    pub(crate) fn open(
        folder: &Folder,
        max_tokens: usize,
        positions: usize,
        vocabulary: usize,
    ) -> Result<Self, EncoderError> {
        let path = folder.path(TOKENIZER);
        let bytes = folder.read(TOKENIZER)?;
        let mut tokenizer = parse(&bytes).map_err(|reason| bad(&path, &reason))?;
        let highest = tokenizer.get_vocab(true).into_values().max();
        match highest {
            None => return Err(bad(&path, "its vocabulary is empty")),
            Some(highest) if highest as usize >= vocabulary => {
                return Err(EncoderError::Vocabulary {
                    dir: folder.dir.clone(),
                    highest,
                    embeddings: vocabulary,
                });
            }
            Some(_) => {}
        }
        // Files of sentence encoders set padding to, and a cut at, 128 tokens: every text would be padded to 128 and
        // longer ones silently cut. The special tokens are counted after that padding is gone.
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|e| bad(&path, &e.to_string()))?;
        let special = encode(&tokenizer, &[""]).map_err(|reason| bad(&path, &reason))?.remove(0);
        // The ids that it adds to every text need not be those of its vocabulary.
        let beyond = special.get_ids().iter().copied().find(|id| *id as usize >= vocabulary);
        if let Some(highest) = beyond {
            return Err(EncoderError::Vocabulary {
                dir: folder.dir.clone(),
                highest,
                embeddings: vocabulary,
            });
        }
        let special = special.len();
        if max_tokens <= special || max_tokens > positions {
            return Err(EncoderError::MaxTokens { asked: max_tokens, least: special + 1, most: positions });
        }
        let cut = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(cut)).map_err(|e| bad(&path, &e.to_string()))?;
        Ok(Self { tokenizer, vocabulary })
    }

    /// The ids of every text, in order. `first` is the place of the first among all given texts, for errors.
    pub(crate) fn tokenize(&self, texts: &[&str], first: usize) -> Result<Vec<Tokenized>, EncoderError> {
        let encodings = encode(&self.tokenizer, texts).map_err(|reason| self.blame(texts, first, reason))?;
        encodings
            .into_iter()
            .enumerate()
            .map(|(i, encoding)| {
                let index = first + i;
                let ids = encoding.get_ids().to_vec();
                if ids.is_empty() {
                    return Err(EncoderError::NoTokens { index });
                }
                if let Some(id) = ids.iter().find(|id| **id as usize >= self.vocabulary) {
                    let reason = format!("token id {id} is beyond the model's {} tokens", self.vocabulary);
                    return Err(EncoderError::Tokenize { index, reason });
                }
                Ok(Tokenized { ids, cut: !encoding.get_overflowing().is_empty() })
            })
            .collect()
    }

    /// Finds the text that a failed batch failed on.
    fn blame(&self, texts: &[&str], first: usize, reason: String) -> EncoderError {
        let failing = texts.iter().position(|text| encode(&self.tokenizer, &[text]).is_err());
        EncoderError::Tokenize { index: first + failing.unwrap_or(0), reason }
    }
}

/// The texts' tokens, special ones included. A panic of the library, which tables of a hostile file can bring about, is an
/// error.
fn encode(tokenizer: &Tokenizer, texts: &[&str]) -> Result<Vec<Encoding>, String> {
    match catch_unwind(AssertUnwindSafe(|| tokenizer.encode_batch_fast(texts.to_vec(), true))) {
        Ok(encoded) => encoded.map_err(|e| e.to_string()),
        Err(_) => Err("the tokenizer library failed on it: tokenizer.json may be damaged".to_owned()),
    }
}

/// The library's parser, which has to be kept from panicking: parts of tokenizer.json are enums that it tells apart by
/// trying, and some of its attempts (decoders/mod.rs of version 0.23) `expect` fields that a cut or edited file lacks. A
/// file that is not JSON to its end, cut files among them, is refused before; a panic at what is left is an error too.
fn parse(bytes: &[u8]) -> Result<Tokenizer, String> {
    if let Err(e) = serde_json::from_slice::<IgnoredAny>(bytes) {
        let cut = if e.is_eof() { ": it was cut off, fetch or copy it again" } else { "" };
        return Err(format!("{e}{cut}"));
    }
    match catch_unwind(AssertUnwindSafe(|| Tokenizer::from_bytes(bytes))) {
        Ok(parsed) => parsed.map_err(|e| e.to_string()),
        Err(_) => Err("a part of it is not what the tokenizer library expects".to_owned()),
    }
}

fn bad(path: &Path, reason: &str) -> EncoderError {
    EncoderError::BadTokenizer { path: path.to_owned(), reason: reason.to_owned() }
}
