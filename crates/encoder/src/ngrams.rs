//! Character n-grams of a text: its words and parts of words.
//!
//! A sentence embedding captures what a text is about; a single insulting word in it, however spelled, is
//! easily lost there.

use std::iter::once;

/// Length in characters of the shortest and of the longest n-gram.
const SHORTEST: usize = 2;
const LONGEST: usize = 5;
/// FNV-1a hash of no input.
const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;
/// Maximum number of characters that are read; the n-gram shares of longer texts hardly carry more
/// information.
const MAX_CHARACTERS: usize = 20_000;

/// Computes the n-grams of a text's words in lower case, each word with a space before and after it
/// (scikit-learn's analyzer `char_wb`), as a sparse row of length 1: columns in ascending order, out of
/// 65,536 into which n-grams are hashed, with `1 + ln(count)` before scaling (`sublinear_tf`). Nothing is
/// counted across texts, so that a row depends on its text only. Empty for a text without words.
pub fn char_ngrams(text: &str) -> Vec<(u16, f32)> {
    let mut columns = Vec::new();
    let lower: String = text.chars().take(MAX_CHARACTERS).flat_map(char::to_lowercase).collect();
    let mut word = Vec::new();
    for part in lower.split_whitespace() {
        word.clear();
        word.extend(once(' ').chain(part.chars()).chain(once(' ')));
        for start in 0..word.len() - 1 {
            // Each n-gram from here extends the previous one by a character.
            let mut hash = EMPTY;
            for (length, character) in (1..=LONGEST).zip(&word[start..]) {
                hash = hashed(hash, *character);
                if length >= SHORTEST {
                    columns.push(folded(hash));
                }
            }
        }
    }
    columns.sort_unstable();
    let mut row: Vec<(u16, f32)> =
        columns.chunk_by(|a, b| a == b).map(|same| (same[0], 1.0 + (same.len() as f32).ln())).collect();
    let length = row.iter().map(|(_, value)| value * value).sum::<f32>().sqrt();
    row.iter_mut().for_each(|(_, value)| *value /= length);
    row
}

/// One FNV-1a step over a character's UTF-8 bytes.
fn hashed(hash: u64, character: char) -> u64 {
    let mut bytes = [0; 4];
    let bytes = character.encode_utf8(&mut bytes).bytes();
    bytes.fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Folds 64 bits into 16.
fn folded(hash: u64) -> u16 {
    (hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn product(a: &[(u16, f32)], b: &[(u16, f32)]) -> f64 {
        let of = |column: u16| b.iter().find(|(c, _)| *c == column).map_or(0.0, |(_, v)| *v);
        a.iter().map(|(c, v)| f64::from(v * of(*c))).sum()
    }

    /// Inner products of scikit-learn's `TfidfVectorizer` (`tools/fixtures/ngrams.py`), without hashing.
    #[test]
    fn ngram_similarity_matches_scikit_learn() {
        let fixture: Value = serde_json::from_str(include_str!("../tests/fixtures/ngrams.json")).unwrap();
        let texts: Vec<String> = serde_json::from_value(fixture["texts"].clone()).unwrap();
        let expected: Vec<Vec<f64>> = serde_json::from_value(fixture["products"].clone()).unwrap();
        let counts: Vec<usize> = serde_json::from_value(fixture["ngrams"].clone()).unwrap();
        let rows: Vec<_> = texts.iter().map(|text| char_ngrams(text)).collect();
        assert!(texts.len() > 5);
        for (i, a) in rows.iter().enumerate() {
            // Collisions of two n-grams in one column are rare in a short text.
            assert!(
                a.len() <= counts[i] && a.len() + 2 >= counts[i],
                "{}: {} {}",
                texts[i],
                a.len(),
                counts[i]
            );
            for (j, b) in rows.iter().enumerate() {
                assert!((product(a, b) - expected[i][j]).abs() < 0.02, "{i} {j}");
            }
        }
    }

    #[test]
    fn blank_text_has_no_ngrams_and_long_ones_are_cut() {
        assert!(char_ngrams("").is_empty());
        assert!(char_ngrams(" \n\t\u{3000}").is_empty());
        let long = "word ".repeat(1_000_000);
        assert_eq!(char_ngrams(&long), char_ngrams(&long[..MAX_CHARACTERS]));
        assert!(char_ngrams("a").iter().all(|(_, v)| v.is_finite()));
    }
}
