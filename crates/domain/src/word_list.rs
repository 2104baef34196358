//! Finds the words of a list in a text, each as a whole word.

use std::collections::HashMap;
use std::ops::Range;
use unicode_normalization_alignments::UnicodeNormalization as _;

/// The root of the tree.
const ROOT: usize = 0;

/// A list of words as a tree of their characters.
#[derive(Debug, Default)]
pub(crate) struct WordList {
    exact: bool,
    /// The next node by node and character.
    next: HashMap<(usize, char), usize>,
    /// Whether a word ends at a node.
    ends: Vec<bool>,
}

impl WordList {
    /// A list of words that match with the same capitals only if `exact`. Letters with accents match in
    /// their composed and decomposed form, a space matches any white space, and apostrophes and hyphens match
    /// those of other keyboards. Characters that are not seen, such as soft hyphens, are passed over.
    pub(crate) fn new(words: &[String], exact: bool) -> Self {
        let mut list = Self { exact, next: HashMap::new(), ends: vec![false] };
        for word in words {
            let word = &word.split_whitespace().collect::<Vec<_>>().join(" ");
            list.add(word.chars());
            if !word.is_ascii() {
                list.add(word.nfc().map(|(c, _)| c));
                list.add(word.nfd().map(|(c, _)| c));
            }
        }
        list
    }

    fn add(&mut self, word: impl Iterator<Item = char>) {
        let mut node = ROOT;
        for c in word.filter(|c| !is_unseen(*c)) {
            let c = self.same(c);
            node = match self.next.get(&(node, c)) {
                Some(known) => *known,
                None => {
                    self.ends.push(false);
                    self.next.insert((node, c), self.ends.len() - 1);
                    self.ends.len() - 1
                }
            };
        }
        self.ends[node] |= node != ROOT;
    }

    /// Where words are found: at each place the longest one, without overlaps.
    pub(crate) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let (mut from, mut before) = (0, None);
        while let Some(first) = text[from..].chars().next() {
            let end = is_boundary(before, Some(first)).then(|| self.longest_at(text, from)).flatten();
            match end {
                Some(end) => {
                    found.push(from..end);
                    before = text[..end].chars().next_back();
                    from = end;
                }
                None => {
                    before = Some(first);
                    from += first.len_utf8();
                }
            }
        }
        found
    }

    /// The end of the longest word that begins here.
    fn longest_at(&self, text: &str, from: usize) -> Option<usize> {
        let (mut node, mut end) = (ROOT, None);
        let mut characters = text[from..].char_indices().peekable();
        while let Some((at, c)) = characters.next() {
            if is_unseen(c) && node != ROOT {
                continue;
            }
            let Some(next) = self.next.get(&(node, self.same(c))) else { break };
            node = *next;
            // Only where the list goes on with a space: else long white space would be read again and again.
            while c.is_whitespace() && characters.next_if(|(_, c)| c.is_whitespace()).is_some() {}
            let after = characters.peek().map(|(_, c)| *c);
            if self.ends[node] && is_boundary(Some(c), after) {
                end = Some(from + at + c.len_utf8());
            }
        }
        end
    }

    /// The one of the characters that match each other.
    fn same(&self, c: char) -> char {
        match one_sign(c) {
            c if c.is_whitespace() => ' ',
            c if self.exact => c,
            c => folded(c),
        }
    }
}

/// One apostrophe and one hyphen in place of all.
fn one_sign(c: char) -> char {
    match c {
        '’' | '‘' | 'ʼ' | '＇' | '`' | '´' => '\'',
        '\u{2010}' | '\u{2011}' | '\u{2013}' | '\u{FF0D}' => '-',
        c => c,
    }
}

/// Whether a character has no width: soft hyphens, joiners, marks of direction.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}')
}

/// A character without its case, as one character.
fn folded(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        // At the end of a word, a small sigma has another form.
        (Some('ς'), None) => 'σ',
        (Some(one), None) => one,
        _ => c,
    }
}

/// Whether a word can begin or end between these characters. In scripts without spaces, it can everywhere.
fn is_boundary(before: Option<char>, after: Option<char>) -> bool {
    let joins =
        |c: Option<char>| c.is_some_and(|c| is_of_word(one_sign(c)) && !is_unspaced(c) && !is_unseen(c));
    // An accent belongs to the letter before it.
    let inside = joins(before) && joins(after);
    !inside && !after.is_some_and(is_accent)
}

/// Whether a character is part of a word.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || regex_syntax::try_is_word_character(c).unwrap_or(false)
}

fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}')
}

/// Whether a letter is of a script that puts no spaces between words: Han, kana, Thai, Lao, Khmer, Burmese.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::whole_words(&["Ann"], false, "Ann, ann and Anna.", &["Ann", "ann"])]
    #[case::capitals(&["May"], true, "May may MAY", &["May"])]
    #[case::shorter_word_where_the_longer_does_not_end(&["Ann", "Ann Le"], false, "Ann Leigh, Ann Le", &["Ann", "Ann Le"])]
    #[case::possessive_and_hyphen(&["Ada"], false, "Ada's Ada-like", &["Ada", "Ada"])]
    #[case::composed_in_the_list(&["José"], false, "Jose\u{301} José JOSÉ Jose", &["Jose\u{301}", "José", "JOSÉ"])]
    #[case::accent_is_no_boundary(&["Jose"], false, "Jose\u{301}", &[])]
    #[case::chinese_without_spaces(&["李明"], false, "我见李明了", &["李明"])]
    #[case::latin_in_chinese(&["Ada"], false, "我是Ada吗", &["Ada"])]
    #[case::arabic(&["أحمد"], false, "قال أحمد: نعم", &["أحمد"])]
    #[case::emoji(&["😀", "Bo"], false, "😀Bo😀", &["😀", "Bo", "😀"])]
    #[case::beginning_and_end(&["x"], false, "x y x", &["x", "x"])]
    #[case::over_lines(&["Ada  Lovelace"], false, "Ada\r\nLovelace", &["Ada\r\nLovelace"])]
    #[case::other_apostrophes(&["O'Brien"], true, "O’Brien OʼBrien O＇Brien O´Brien", &["O’Brien", "OʼBrien", "O＇Brien", "O´Brien"])]
    #[case::other_apostrophe_in_the_list(&["D’Arcy"], false, "d'arcy", &["d'arcy"])]
    #[case::possessive_with_another_apostrophe(&["Ada"], false, "Adaʼs Ada’s", &["Ada", "Ada"])]
    #[case::other_hyphens(&["Ann-Lee"], true, "Ann‑Lee Ann‐Lee Ann–Lee", &["Ann‑Lee", "Ann‐Lee", "Ann–Lee"])]
    #[case::soft_hyphen(&["Lovelace"], false, "Love\u{AD}lace, \u{200B}Lovelace\u{200B}", &["Love\u{AD}lace", "Lovelace"])]
    #[case::soft_hyphen_in_the_list(&["Love\u{AD}lace"], true, "Lovelace", &["Lovelace"])]
    #[case::before_a_joined_ending(&["کتاب"], false, "کتاب\u{200C}ها", &["کتاب"])]
    #[case::final_sigma(&["ΓΙΏΡΓΟΣ"], false, "Γιώργος γιώργοσ", &["Γιώργος", "γιώργοσ"])]
    #[case::final_sigma_exact(&["Γιώργος"], true, "Γιώργος Γιώργοσ", &["Γιώργος"])]
    #[case::only_unseen_characters(&["\u{AD}"], false, "a\u{AD}b", &[])]
    #[case::no_words(&[], false, "x", &[])]
    fn words_are_found(
        #[case] words: &[&str],
        #[case] exact: bool,
        #[case] text: &str,
        #[case] wanted: &[&str],
    ) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let found = WordList::new(&words, exact).find(text);
        let found: Vec<&str> = found.into_iter().map(|at| &text[at]).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn long_white_space_ends() {
        let words = ["Ada Lovelace".to_owned()];
        let list = WordList::new(&words, false);
        let blanks = " ".repeat(1 << 20);
        assert!(list.find(&blanks).is_empty());
        let text = format!("{blanks}Ada{blanks}Lovelace");
        assert_eq!(list.find(&text)[0], blanks.len()..text.len());
        let unseen = "\u{AD}".repeat(1 << 19);
        assert!(list.find(&format!("Ada{unseen}")).is_empty());
    }
}
