//! Words that may be names of people and places, for a list of words to mask.
//!
//! No model is used: a word is proposed if it begins with a capital inside of sentences, and nowhere in the
//! texts is it in small letters. In German these are many nouns too; in scripts without capitals, none.

use super::Study;
use super::masks::around;
use dissensus_api::{NameCandidate, NameCandidates};
use dissensus_domain::JobKind;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Follow;
use std::collections::HashMap;

/// Maximum number of candidates.
const MOST: usize = 300;
/// The shortest and longest word, in characters.
const LENGTHS: std::ops::RangeInclusive<usize> = 2..=40;
/// The smallest share of letters that are capital or small for this to apply.
const LEAST_CASED: f64 = 0.2;
/// Texts between two reports of progress.
const STEP: u64 = 500;

/// A word in its capitalised form.
#[derive(Default)]
struct SeenWord {
    /// Inside of sentences.
    inside: u32,
    /// At the beginning of sentences.
    first: u32,
    /// In small letters anywhere.
    small: u32,
    /// The first place inside of a sentence.
    place: Option<(String, String, String)>,
}

/// Words that may be names, by how often they occur.
///
/// # Errors
/// The file cannot be read, or it was cancelled.
pub fn name_candidates<'a>(
    cx: &Study,
    follow: impl Into<Follow<'a>>,
) -> Result<NameCandidates, ProjectError> {
    cx.context.run(follow, JobKind::Mask, "", |progress| {
        let all = u64::from(cx.context.store.counts()?.texts);
        let (mut done, mut seen) = (0, Words::default());
        cx.context.store.for_each_text(|text| {
            if u64::is_multiple_of(done, STEP) {
                progress.report(done, Some(all), "texts");
                if progress.cancelled() {
                    return Err(ProjectError::Cancelled);
                }
            }
            done += 1;
            seen.add(&text.external_id, &text.body);
            Ok::<(), ProjectError>(())
        })?;
        Ok(seen.candidates())
    })
}

#[derive(Default)]
struct Words {
    letters: u64,
    cased: u64,
    /// By the word in small letters.
    words: HashMap<String, SeenWord>,
}

impl Words {
    fn add(&mut self, id: &str, body: &str) {
        for c in body.chars().filter(|c| c.is_alphabetic()) {
            self.letters += 1;
            self.cased += u64::from(c.is_lowercase() || c.is_uppercase());
        }
        let (mut at, mut first) = (0, true);
        while at < body.len() {
            let rest = &body[at..];
            let joins = |c: char| c.is_alphabetic() || matches!(c, '\u{300}'..='\u{36F}');
            let length = rest.find(|c| !joins(c)).unwrap_or(rest.len());
            if length == 0 {
                let c = rest.chars().next().unwrap_or(' ');
                // Quotes and brackets after the end of a sentence leave it ended.
                if matches!(c, '.' | '!' | '?' | ':' | '\n' | '\r' | '…' | '-' | '•' | '*' | '#') {
                    first = true;
                } else if c.is_numeric() {
                    first = false;
                }
                at += c.len_utf8();
                continue;
            }
            self.word(id, body, at..at + length, first);
            first = false;
            at += length;
        }
    }

    fn word(&mut self, id: &str, body: &str, at: std::ops::Range<usize>, first: bool) {
        let word = &body[at.clone()];
        let mut letters = word.chars();
        let Some(initial) = letters.next() else { return };
        if !LENGTHS.contains(&word.chars().count()) || !(initial.is_lowercase() || initial.is_uppercase()) {
            return;
        }
        let shouted = initial.is_uppercase() && letters.all(|c| !c.is_lowercase());
        // Abbreviations and whole sentences in capitals say nothing.
        if shouted {
            return;
        }
        let seen = self.words.entry(word.to_lowercase()).or_default();
        match (initial.is_lowercase(), first) {
            (true, _) => seen.small += 1,
            (false, true) => seen.first += 1,
            (false, false) => {
                seen.inside += 1;
                if seen.place.is_none() {
                    let (before, _, after) = around(body, at);
                    seen.place = Some((id.to_owned(), before, after));
                }
            }
        }
    }

    fn candidates(self) -> NameCandidates {
        let applies = self.letters == 0 || self.cased as f64 >= LEAST_CASED * self.letters as f64;
        let candidate = |(word, seen): (String, SeenWord)| {
            let (text, before, after) = seen.place.filter(|_| seen.small == 0)?;
            let mut letters = word.chars();
            let initial = letters.next()?;
            let word = initial.to_uppercase().chain(letters).collect();
            Some(NameCandidate { word, places: seen.inside + seen.first, text, before, after })
        };
        let mut candidates: Vec<NameCandidate> =
            self.words.into_iter().filter(|_| applies).filter_map(candidate).collect();
        candidates.sort_by(|a, b| (b.places, &a.word).cmp(&(a.places, &b.word)));
        candidates.truncate(MOST);
        NameCandidates { applies, candidates }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(texts: &[&str]) -> (bool, Vec<(String, u32)>) {
        let mut seen = Words::default();
        texts.iter().for_each(|text| seen.add("t", text));
        let NameCandidates { applies, candidates } = seen.candidates();
        (applies, candidates.into_iter().map(|one| (one.word, one.places)).collect())
    }

    #[test]
    fn capitalised_words_inside_of_sentences_are_candidates() {
        let texts = [
            "I saw Ada and Will today. Ada left.",
            "Will it rain? Paris, they will say, is WET.",
            "Yes! \"No\"",
        ];
        let one = |word: &str, places| (word.to_owned(), places);
        assert_eq!(words(&texts), (true, vec![one("Ada", 2)]), "Will is also a word, Paris only begins one");
        assert_eq!(words(&["we met Émile in 3 Oslo bars"]).1, [one("Oslo", 1), one("Émile", 1)]);
    }

    #[test]
    fn scripts_without_capitals_have_no_candidates() {
        assert_eq!(words(&["我见李明了 Ada 说你好世界你好世界", "قال أحمد نعم"]), (false, Vec::new()));
        assert_eq!(words(&["", "😀 12"]), (true, Vec::new()));
    }
}
