//! Tokenization: the folder's own tokenizer, without the padding and truncation that its file may set.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use dissensus_domain::catch_panic;
use serde::de::IgnoredAny;
use serde_json::Value;
use tokenizers::{Encoding, NormalizerWrapper, Tokenizer};

use crate::error::EncoderError;
use crate::folder::{Folder, TOKENIZER, TOKENIZER_CONFIG};
use crate::options::LongTexts;

const LIBRARY_FAILED: &str = "the tokenizer library failed on it: tokenizer.json may be damaged";

/// Consecutive windows share at least one in this many tokens.
const OVERLAP: usize = 8;

/// Texts for finding the special tokens that a tokenizer puts around a text: every vocabulary knows at
/// least one of them.
const PROBES: [&str; 5] = ["a", "A", "1", ".", "\u{e9}"];

/// Settings for converting texts to the model's input.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// Maximum number of tokens in a window, including special tokens.
    pub(crate) max_tokens: usize,
    /// Handling of longer texts.
    pub(crate) long_texts: LongTexts,
    /// Prompt before every text, and before every window of a long one; may be empty.
    pub(crate) prompt: String,
    /// Whether prompt and text are lower-cased first, as in sentence-transformers.
    pub(crate) lower_case: bool,
}

impl Input {
    /// Texts unchanged, cut after this many tokens.
    pub(crate) fn truncated(max_tokens: usize) -> Self {
        Self { max_tokens, long_texts: LongTexts::Truncate, prompt: String::new(), lower_case: false }
    }
}

/// A tokenizer that makes windows of a chosen length and never pads.
pub(crate) struct Tokens {
    tokenizer: Tokenizer,
    vocabulary: usize,
    input: Input,
    /// Special tokens before a text.
    before: Vec<u32>,
    /// Special tokens after it.
    after: Vec<u32>,
    /// Number of tokens of the prompt, without special tokens.
    prompt_tokens: usize,
}

/// The tokens of a text, without special tokens and the prompt, with their positions in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    pub(crate) ids: Vec<u32>,
    /// For each token its first character in the text and the one after its last, in Unicode scalar values.
    pub(crate) characters: Vec<(u32, u32)>,
    /// Tokens of the prompt, which precede them in every window.
    prompt: Vec<u32>,
}

/// A part of a text that the model reads at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Token ids, including special tokens and prompt.
    pub(crate) ids: Vec<u32>,
    /// Number of tokens before the first one of the text.
    pub(crate) before: usize,
    /// Range of the text's tokens in the window.
    pub(crate) tokens: Range<usize>,
}

/// One text as token ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tokenized {
    /// One window, or several of equal length for a longer text; none is empty.
    pub(crate) windows: Vec<Vec<u32>>,
    /// Whether tokens were cut off.
    pub(crate) cut: bool,
}

impl Located {
    /// The tokens that share a character with a word, given as its first character and the one after its
    /// last.
    pub(crate) fn tokens_of(&self, (start, end): (u32, u32)) -> Range<usize> {
        // Tokens are in the order of the text.
        let first = self.characters.partition_point(|&(_, to)| to <= start);
        let of_word = self.characters[first..].iter().take_while(|&&(from, _)| from < end).count();
        first..first + of_word
    }
}

impl Tokens {
    /// Opens the tokenizer and checks `input.max_tokens` against its special tokens and the `positions` of
    /// the model.
    pub(crate) fn open(
        folder: &Folder,
        input: Input,
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
        check_case(folder, &tokenizer)?;
        // Files of sentence encoders set padding to, and truncation at, 128 tokens: every text would be
        // padded to 128 and longer ones silently cut. Windows are made here instead, so that a long text
        // can be read in full.
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|e| bad(&path, &e.to_string()))?;
        let (before, after) = special_tokens(&tokenizer).map_err(|reason| bad(&path, &reason))?;
        // The ids that it adds to every text may be outside its vocabulary.
        let beyond = before.iter().chain(&after).copied().find(|id| *id as usize >= vocabulary);
        if let Some(highest) = beyond {
            return Err(EncoderError::Vocabulary {
                dir: folder.dir.clone(),
                highest,
                embeddings: vocabulary,
            });
        }
        let (max_tokens, special) = (input.max_tokens, before.len() + after.len());
        if max_tokens <= special || max_tokens > positions {
            return Err(EncoderError::MaxTokens { asked: max_tokens, least: special + 1, most: positions });
        }
        let mut tokens = Self { tokenizer, vocabulary, input, before, after, prompt_tokens: 0 };
        tokens.count_prompt().map_err(|reason| bad(&path, &reason))?;
        if tokens.prompt_tokens >= max_tokens - special {
            let (prompt, tokens) = (tokens.input.prompt.clone(), tokens.prompt_tokens);
            return Err(EncoderError::PromptLength { prompt, tokens, max_tokens });
        }
        Ok(tokens)
    }

    /// Counts the prompt's tokens, without trailing spaces, which most tokenizers join with the next word.
    fn count_prompt(&mut self) -> Result<(), String> {
        let prompt = self.prepared(self.input.prompt.trim_end(), false);
        if !prompt.is_empty() {
            let alone = encode(&self.tokenizer, &[prompt.as_ref()])?;
            let special = self.before.len() + self.after.len();
            self.prompt_tokens = alone[0].get_ids().len().saturating_sub(special);
        }
        Ok(())
    }

    /// Tokenizes every text, in order. `first` is the index of the first text among all given ones, for
    /// errors.
    pub(crate) fn tokenize(&self, texts: &[&str], first: usize) -> Result<Vec<Tokenized>, EncoderError> {
        let prepared: Vec<Cow<'_, str>> = texts.iter().map(|text| self.prepared(text, true)).collect();
        let prepared: Vec<&str> = prepared.iter().map(AsRef::as_ref).collect();
        let encodings =
            encode(&self.tokenizer, &prepared).map_err(|reason| self.blame(&prepared, first, reason))?;
        encodings
            .into_iter()
            .enumerate()
            .map(|(i, encoding)| {
                let (index, ids) = (first + i, encoding.get_ids());
                if ids.is_empty() {
                    return Err(EncoderError::NoTokens { index });
                }
                if let Some(id) = ids.iter().find(|id| **id as usize >= self.vocabulary) {
                    let reason = format!("token id {id} is beyond the model's {} tokens", self.vocabulary);
                    return Err(EncoderError::Tokenize { index, reason });
                }
                Ok(self.windows(ids))
            })
            .collect()
    }

    /// Tokenizes every text and returns the tokens with their positions in it, in order. `first` is the
    /// index of the first text among all given ones, for errors.
    pub(crate) fn locate(&self, texts: &[&str], first: usize) -> Result<Vec<Located>, EncoderError> {
        let prepared: Vec<Cow<'_, str>> = texts.iter().map(|text| self.prepared(text, true)).collect();
        let encodings = catch_panic(|| {
            self.tokenizer.encode_batch_char_offsets(prepared.clone(), true).map_err(|e| e.to_string())
        });
        let encodings = encodings.unwrap_or_else(|| Err(LIBRARY_FAILED.to_owned())).map_err(|reason| {
            let prepared: Vec<&str> = prepared.iter().map(AsRef::as_ref).collect();
            self.blame(&prepared, first, reason)
        })?;
        let prompt_characters = self.prepared(&self.input.prompt, false).chars().count();
        let one = |(nth, (encoding, text)): (usize, (Encoding, &&str))| {
            let (ids, index) = (encoding.get_ids(), first + nth);
            if let Some(id) = ids.iter().find(|id| **id as usize >= self.vocabulary) {
                let reason = format!("token id {id} is beyond the model's {} tokens", self.vocabulary);
                return Err(EncoderError::Tokenize { index, reason });
            }
            let content =
                self.before.len()..ids.len().saturating_sub(self.after.len()).max(self.before.len());
            let (ids, offsets) = (&ids[content.clone()], &encoding.get_offsets()[content]);
            let (prompt, ids) = ids.split_at(self.prompt_tokens.min(ids.len()));
            let places = self.input.lower_case.then(|| lower_case_places(text));
            let place = |at: usize| {
                let at = at.saturating_sub(prompt_characters);
                places.as_ref().map_or(at as u32, |places| places[at.min(places.len() - 1)])
            };
            let characters =
                offsets[prompt.len()..].iter().map(|&(start, end)| (place(start), place(end))).collect();
            Ok(Located { ids: ids.to_vec(), characters, prompt: prompt.to_vec() })
        };
        encodings.into_iter().zip(texts).enumerate().map(one).collect()
    }

    /// Windows that cover the whole text, regardless of the policy for long texts; none for a text without
    /// tokens.
    pub(crate) fn windows_over(&self, text: &Located) -> Vec<Window> {
        let special = self.before.len() + self.after.len();
        let (before, total) = (self.before.len() + text.prompt.len(), text.ids.len());
        let length = (self.input.max_tokens - special - text.prompt.len()).min(total);
        if total == 0 {
            return Vec::new();
        }
        let window = |start: usize| {
            let tokens = start..start + length;
            let ids = [&self.before[..], &text.prompt, &text.ids[tokens.clone()], &self.after].concat();
            Window { ids, before, tokens }
        };
        if total == length { vec![window(0)] } else { window_starts(total, length).map(window).collect() }
    }

    fn prepared<'a>(&self, text: &'a str, with_prompt: bool) -> Cow<'a, str> {
        let Input { prompt, lower_case, .. } = &self.input;
        match (with_prompt && !prompt.is_empty(), lower_case) {
            (false, false) => Cow::Borrowed(text),
            (false, true) => Cow::Owned(text.to_lowercase()),
            (true, false) => Cow::Owned(format!("{prompt}{text}")),
            (true, true) => Cow::Owned(format!("{prompt}{text}").to_lowercase()),
        }
    }

    /// The whole text if it fits; otherwise its beginning, or windows that cover it, each with the special
    /// tokens and the prompt.
    fn windows(&self, ids: &[u32]) -> Tokenized {
        let most = self.input.max_tokens;
        if ids.len() <= most {
            return Tokenized { windows: vec![ids.to_vec()], cut: false };
        }
        let special = self.before.len() + self.after.len();
        let content = &ids[self.before.len()..ids.len() - self.after.len()];
        let window = |parts: &[&[u32]]| [&[&self.before[..]], parts, &[&self.after[..]]].concat().concat();
        if self.input.long_texts == LongTexts::Truncate {
            return Tokenized { windows: vec![window(&[&content[..most - special]])], cut: true };
        }
        let (prompt, content) = content.split_at(self.prompt_tokens.min(content.len()));
        let length = most - special - prompt.len();
        let windows = window_starts(content.len(), length)
            .map(|start| window(&[prompt, &content[start..start + length]]))
            .collect();
        Tokenized { windows, cut: false }
    }

    /// Finds the text that caused the failure of a batch.
    fn blame(&self, texts: &[&str], first: usize, reason: String) -> EncoderError {
        let failing = texts.iter().position(|text| encode(&self.tokenizer, &[text]).is_err());
        EncoderError::Tokenize { index: first + failing.unwrap_or(0), reason }
    }
}

/// Tokenizes texts, including special tokens. A panic of the library, which tables of a hostile file can
/// cause, is returned as an error.
fn encode(tokenizer: &Tokenizer, texts: &[&str]) -> Result<Vec<Encoding>, String> {
    match catch_panic(|| tokenizer.encode_batch_fast(texts.to_vec(), true)) {
        Some(encoded) => encoded.map_err(|e| e.to_string()),
        None => Err(LIBRARY_FAILED.to_owned()),
    }
}

/// Maps every character of the lower-cased text, and its end, to the index of the original character: some
/// characters have several in lower case.
fn lower_case_places(text: &str) -> Vec<u32> {
    let mut places = Vec::with_capacity(text.len() + 1);
    let mut characters = 0;
    for character in text.chars() {
        places.extend(std::iter::repeat_n(characters, character.to_lowercase().count()));
        characters += 1;
    }
    places.push(characters);
    places
}

/// Starts of evenly spaced windows of `length` that cover `total` tokens, each overlapping the next by an
/// eighth or more.
fn window_starts(total: usize, length: usize) -> impl Iterator<Item = usize> {
    let last = total - length;
    let step = (length - length / OVERLAP).max(1);
    let gaps = last.div_ceil(step).max(1);
    (0..=gaps).map(move |i| i * last / gaps)
}

/// The special tokens before and after every text.
fn special_tokens(tokenizer: &Tokenizer) -> Result<(Vec<u32>, Vec<u32>), String> {
    let mut bare = Vec::new();
    for probe in PROBES {
        // Not the fast encoding: only this one marks special tokens.
        let encoded = catch_panic(|| tokenizer.encode(probe, true));
        let encoded = encoded.ok_or_else(|| LIBRARY_FAILED.to_owned())?.map_err(|e| e.to_string())?;
        let (ids, special) = (encoded.get_ids(), encoded.get_special_tokens_mask());
        let first = special.iter().position(|special| *special == 0);
        let last = special.iter().rposition(|special| *special == 0);
        if let (Some(first), Some(last)) = (first, last) {
            return Ok((ids[..first].to_vec(), ids[last + 1..].to_vec()));
        }
        bare = ids.to_vec();
    }
    // The vocabulary has few words and no special tokens.
    if bare.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    Err("it makes no tokens of letters, digits or points".to_owned())
}

/// Checks that tokenizer_config.json and tokenizer.json agree on lower case. Where they do not,
/// transformers follows the former; which of the two an encoder was trained with cannot be known here.
fn check_case(folder: &Folder, tokenizer: &Tokenizer) -> Result<(), EncoderError> {
    let Some(NormalizerWrapper::BertNormalizer(normalizer)) = tokenizer.get_normalizer() else {
        return Ok(());
    };
    if !folder.has(TOKENIZER_CONFIG) {
        return Ok(());
    }
    match folder.json(TOKENIZER_CONFIG)?.get("do_lower_case").and_then(Value::as_bool) {
        Some(lower) if lower != normalizer.lowercase => {
            let found = normalizer.lowercase;
            let reason = format!(
                "do_lower_case is {lower}, and lowercase is {found} in {TOKENIZER}: make the two agree on what the model was trained with"
            );
            Err(folder.bad_json(TOKENIZER_CONFIG, &reason))
        }
        _ => Ok(()),
    }
}

/// Runs the library's parser without letting it panic: parts of tokenizer.json are enums that it
/// distinguishes by trial, and some of its attempts (decoders/mod.rs of version 0.23) `expect` fields that
/// a truncated or edited file lacks. Invalid JSON, including truncated files, is refused first; a panic on
/// the rest is returned as an error.
fn parse(bytes: &[u8]) -> Result<Tokenizer, String> {
    if let Err(e) = serde_json::from_slice::<IgnoredAny>(bytes) {
        let cut = if e.is_eof() { ": it was cut off, fetch or copy it again" } else { "" };
        return Err(format!("{e}{cut}"));
    }
    match catch_panic(|| Tokenizer::from_bytes(bytes)) {
        Some(parsed) => parsed.map_err(|e| e.to_string()),
        None => Err("a part of it is not what the tokenizer library expects".to_owned()),
    }
}

fn bad(path: &Path, reason: &str) -> EncoderError {
    EncoderError::BadTokenizer { path: path.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_cover_the_text_and_overlap() {
        for length in [1, 2, 7, 8, 30, 254] {
            for total in (length + 1)..(length * 5 + 3) {
                let starts: Vec<usize> = window_starts(total, length).collect();
                assert_eq!((starts[0], starts[starts.len() - 1]), (0, total - length));
                for pair in starts.windows(2) {
                    let step = pair[1] - pair[0];
                    assert!(
                        step >= 1 && step <= length - length / OVERLAP,
                        "{total} in {length}: {starts:?}"
                    );
                }
            }
        }
        // The minimum number of windows: 16 tokens in windows of 8 that share one.
        assert_eq!(window_starts(16, 8).collect::<Vec<_>>(), [0, 4, 8]);
        assert_eq!(window_starts(15, 8).collect::<Vec<_>>(), [0, 7]);
    }
}
