//! Encodes a text without each of its words in turn, as occlusion needs (Zeiler and Fergus 2014, section
//! 4.2; on words Li et al. 2016, Understanding neural networks through representation erasure).

use super::Encoding;
use super::encoders::EncoderChoice;
use super::text_features::EncodedText;
use dissensus_encoder::BatchPlan;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::sync::lock;
use std::collections::VecDeque;
use std::sync::Arc;
use unicode_segmentation::UnicodeSegmentation as _;

/// Forward passes per text, in addition to the whole text; in a longer text several words are left out
/// together.
const MAX_PIECES: usize = 64;
/// Texts in the cache: their embeddings depend only on the text and the encoder, so that a label or a fit
/// does not change them.
const KEPT: usize = 16;

/// A text, whole and without each piece, in the form that models read.
pub struct Occluded {
    /// The version of the encoder.
    pub version: String,
    /// Words with the characters that follow them; all of them in order make up the text.
    pub pieces: Vec<String>,
    /// Words per piece; the last may have fewer.
    pub together: usize,
    pub whole: EncodedText,
    /// The text without each piece; empty for a text of one word, of which nothing would remain.
    pub without: Vec<EncodedText>,
}

/// Cached texts, the newest last.
#[derive(Default)]
pub(super) struct OcclusionCache(VecDeque<Arc<Occluded>>);

impl OcclusionCache {
    fn get(&self, version: &str, text: &str) -> Option<Arc<Occluded>> {
        let is_it = |kept: &&Arc<Occluded>| kept.version == version && kept.pieces.concat() == text;
        self.0.iter().find(is_it).cloned()
    }

    fn store(&mut self, occluded: &Arc<Occluded>) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(Arc::clone(occluded));
    }
}

impl Encoding {
    /// The cached result for a text with the encoder in use.
    pub fn cached_occlusion(&self, text: &str) -> Result<Option<Arc<Occluded>>, ProjectError> {
        let chosen = self.chosen()?;
        Ok(chosen.and_then(|chosen| lock(&self.memory.occlusions).get(&chosen.key, text)))
    }

    /// The embeddings of a text without each of its words, by the project's encoder.
    pub fn occluded(
        &self,
        text: &str,
        choice: &EncoderChoice,
        progress: &dyn Progress,
    ) -> Result<Arc<Occluded>, ProjectError> {
        if let Some(kept) = self.cached_occlusion(text)? {
            return Ok(kept);
        }
        let (pieces, together) = pieces(text, MAX_PIECES);
        let left_out = if pieces.len() > 1 { pieces.len() } else { 0 };
        let total = left_out + 1;
        progress.report(0, Some(total as u64), "opening the encoder");
        let encoder = self.open_in_use(choice)?.0;
        let without = |out: usize| -> String {
            pieces.iter().enumerate().filter(|(at, _)| *at != out).map(|(_, piece)| piece.as_str()).collect()
        };
        let texts: Vec<String> = (0..left_out).map(without).chain([text.to_owned()]).collect();
        let mut rows = vec![Vec::new(); total];
        let done = encoder.encode_stream(&texts, &BatchPlan::default(), |batch| {
            progress.report(batch.texts_done as u64, Some(total as u64), "leaving out words");
            for (index, embedding) in batch.indices.into_iter().zip(batch.embeddings) {
                rows[index] = embedding;
            }
            progress.flow()
        })?;
        if done.cancelled {
            return Err(ProjectError::Cancelled);
        }
        let encoded = texts.iter().zip(rows).map(|(text, row)| EncodedText::new(text, row));
        let mut without = encoded.collect::<Result<Vec<_>, _>>()?;
        let whole = without.split_off(left_out).swap_remove(0);
        let version = encoder.version().key();
        let occluded = Arc::new(Occluded { version, pieces, together, whole, without });
        lock(&self.memory.occlusions).store(&occluded);
        Ok(occluded)
    }
}

/// Splits a text into at most `most` pieces of equally many words (Unicode Standard Annex 29), and returns
/// the number of words per piece. Characters before the first word belong to it, characters after a word to
/// that word.
fn pieces(text: &str, most: usize) -> (Vec<String>, usize) {
    let mut end = 0;
    let starts: Vec<usize> = text
        .unicode_word_indices()
        .map(|(at, word)| {
            // "@user" and "(so" are left out with their signs: the cut is after the last space before a
            // word.
            let space = text[end..at].rfind(char::is_whitespace);
            let start = space.map_or(at, |space| {
                end + space + text[end + space..].chars().next().map_or(0, char::len_utf8)
            });
            end = at + word.len();
            start
        })
        .collect();
    let together = starts.len().div_ceil(most).max(1);
    let mut cuts: Vec<usize> = starts.into_iter().step_by(together).skip(1).collect();
    cuts.insert(0, 0);
    cuts.push(text.len());
    (cuts.windows(2).map(|w| text[w[0]..w[1]].to_owned()).collect(), together)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piece_is_a_word_with_following_punctuation() {
        let (words, together) = pieces("“You call that, a recipe?” Don't!", 64);
        assert_eq!(words, ["“You ", "call ", "that, ", "a ", "recipe?” ", "Don't!"]);
        assert_eq!(together, 1);
        assert_eq!(pieces("hi @user (so) a-b bye", 64).0, ["hi ", "@user ", "(so) ", "a-", "b ", "bye"]);
        assert_eq!(pieces("one", 64).0, ["one"]);
        assert_eq!(pieces("…?!", 64).0, ["…?!"]);
        assert_eq!(pieces("", 64).0, [""]);
    }

    #[test]
    fn long_texts_are_split_into_windows_of_words() {
        let text: String = (0..130).map(|i| format!("w{i} ")).collect();
        let (windows, together) = pieces(&text, 64);
        assert_eq!((windows.len(), together), (44, 3));
        assert_eq!(windows[0], "w0 w1 w2 ");
        assert_eq!(windows[43], "w129 ");
        assert_eq!(windows.concat(), text);
        assert_eq!(pieces("一 二 三", 2).0, ["一 二 ", "三"]);
    }
}
