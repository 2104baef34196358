//! Words of texts (Unicode text segmentation, UAX 29; also emoji and other pictographs, which carry as much
//! meaning), and which of them spans cover.

use dissensus_domain::{LevelId, Scale, Span, SpanSet};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation as _;

/// Whether a segment is a word: it has a letter or a digit, or is a pictograph.
fn is_word(segment: &str) -> bool {
    // Blocks of arrows with emoji, technical and miscellaneous symbols, dingbats, and the planes of emoji.
    let is_pictograph = |c: char| matches!(u32::from(c), 0x2300..=0x23ff | 0x2600..=0x27bf | 0x2b00..=0x2bff | 0x1f000..=0x1faff);
    segment.chars().any(|c| c.is_alphanumeric() || is_pictograph(c))
}

/// The words of a text, as ranges of characters, end exclusive.
pub fn words(body: &str) -> Vec<(u32, u32)> {
    let (mut words, mut characters, mut bytes) = (Vec::new(), 0, 0);
    for (at, word) in body.split_word_bound_indices().filter(|(_, word)| is_word(word)) {
        characters += body[bytes..at].chars().count() as u32;
        let length = word.chars().count() as u32;
        words.push((characters, characters + length));
        (characters, bytes) = (characters + length, at + word.len());
    }
    words
}

/// The words of which a span of this type (of any, with `None`) covers a character.
pub fn marked_words(words: &[(u32, u32)], spans: &SpanSet, kind: Option<LevelId>) -> BTreeSet<u32> {
    let spans = spans.as_slice().iter().filter(|span| kind.is_none_or(|kind| kind == span.kind));
    spans.flat_map(|span| covered(words, span.start, span.end)).collect()
}

/// The words of which these characters are a part.
fn covered(words: &[(u32, u32)], start: u32, end: u32) -> Range<u32> {
    let first = words.partition_point(|(_, word)| *word <= start);
    let covered = words[first..].iter().take_while(|(word, _)| *word < end).count();
    first as u32..(first + covered) as u32
}

/// The spans of an answer as start, end and the position of the type on the scale.
pub fn columns(spans: &SpanSet, scale: &Scale) -> Vec<(u32, u32, u16)> {
    let column = |span: &Span| Some((span.start, span.end, scale.index_of_id(span.kind)?));
    spans.as_slice().iter().filter_map(column).collect()
}

/// Marked words, ascending, each with its types as bits, by their position on the scale ([`columns`]).
pub fn marks(words: &[(u32, u32)], spans: &[(u32, u32, u16)]) -> Vec<(u32, u64)> {
    let mut marks: BTreeMap<u32, u64> = BTreeMap::new();
    for (start, end, column) in spans {
        for word in covered(words, *start, *end) {
            *marks.entry(word).or_insert(0) |= 1 << column;
        }
    }
    marks.into_iter().collect()
}

/// Ids of word forms: the word in lower case.
#[derive(Debug, Default)]
pub struct Forms(HashMap<String, u32>);

impl Forms {
    /// Adds the words of a text and returns their ids, in the order of [`words`]; new forms get the next
    /// ids.
    pub fn add(&mut self, body: &str) -> Vec<u32> {
        let mut id = |word: &str| {
            let next = self.0.len() as u32;
            *self.0.entry(word.to_lowercase()).or_insert(next)
        };
        body.split_word_bounds().filter(|word| is_word(word)).map(&mut id).collect()
    }

    /// The forms in the order of their ids.
    pub fn in_order(&self) -> Vec<&str> {
        let mut all: Vec<(&u32, &String)> = self.0.iter().map(|(form, id)| (id, form)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, form)| form.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::ScaleKind;

    #[test]
    fn words_are_counted_in_characters() {
        // Characters of one to four bytes, a sign that is not a word and an emoji that is, and a combining
        // accent.
        assert_eq!(words("Größe – 😀 ne\u{301}e, ok"), [(0, 5), (8, 9), (10, 14), (16, 18)]);
        assert!(words(" … ").is_empty());
    }

    #[test]
    fn forms_ignore_case() {
        let mut forms = Forms::default();
        assert_eq!(forms.add("Idiot, IDIOT and so"), [0, 0, 1, 2]);
        assert_eq!(forms.add("so idiot"), [2, 0]);
    }

    #[test]
    fn word_types_are_bits() {
        let span = |start, end, kind| Span { start, end, kind: LevelId(kind) };
        let spans = SpanSet::new([span(0, 8, 0), span(6, 7, 3), span(9, 10, 1)]).unwrap();
        let scale = Scale::new(ScaleKind::Spans, ["a", "b", "c", "d"]).unwrap();
        let marked = |scale| marks(&[(0, 5), (6, 8), (10, 14)], &columns(&spans, scale));
        assert_eq!(marked(&scale), [(0, 1), (1, 0b1001)]);
        let ids = [3, 2, 1, 0].map(LevelId).to_vec();
        let turned = Scale::with_ids(ScaleKind::Spans, ["d", "c", "b", "a"], ids).unwrap();
        assert_eq!(marked(&turned), [(0, 0b1000), (1, 0b1001)]);
    }

    #[test]
    fn emoji_are_words_and_punctuation_is_not() {
        let body = "Größe – 😀 ok!!! 👍🏽, …";
        let found: Vec<String> = words(body)
            .into_iter()
            .map(|(start, end)| body.chars().skip(start as usize).take((end - start) as usize).collect())
            .collect();
        assert_eq!(found, ["Größe", "😀", "ok", "👍🏽"]);
        let mut forms = Forms::default();
        assert_eq!(forms.add(body), [0, 1, 2, 3]);
        assert_eq!(forms.add("OK 😀"), [2, 1]);
        assert_eq!(forms.in_order(), ["größe", "😀", "ok", "👍🏽"]);
    }

    #[test]
    fn word_is_marked_by_any_of_its_characters() {
        let words = [(0, 5), (6, 8), (10, 14)];
        let of = |spans: &[(u32, u32, u16)], kind: Option<u16>| {
            let spans = spans.iter().map(|&(start, end, kind)| Span { start, end, kind: LevelId(kind) });
            let marked = marked_words(&words, &SpanSet::new(spans).unwrap(), kind.map(LevelId));
            marked.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(of(&[(4, 7, 0)], Some(0)), [0, 1]);
        assert!(of(&[(4, 7, 0)], Some(1)).is_empty());
        assert!(of(&[(5, 6, 0), (8, 10, 0), (14, 20, 0)], None).is_empty());
        assert_eq!(of(&[(0, 1, 1), (0, 14, 0), (13, 14, 1)], Some(1)), [0, 2]);
        assert_eq!(of(&[(0, 1, 1), (6, 14, 0)], None), [0, 1, 2]);
    }
}
