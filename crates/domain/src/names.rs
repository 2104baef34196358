//! Rules for names of questions, levels, annotators and attributes, and when two names are the same
//! or look alike.

use unicode_normalization_alignments::UnicodeNormalization as _;

/// Returns the first character of `name` that is not allowed in names: control characters (line
/// ends, tabs, escape sequences) and invisible characters that change how a name is displayed, so
/// that two names look alike or one shows its letters in another order.
///
/// Joiners and plain direction marks (U+200C to U+200F, U+061C) are allowed: Persian, Hebrew,
/// Arabic and emoji need them.
pub fn not_allowed_in_names(name: &str) -> Option<char> {
    name.chars().find(|c| c.is_control() || is_hidden(*c))
}

/// Normalizes a name to NFC, so that names typed on different keyboards, or taken from file names,
/// compare equal.
pub fn composed(name: &str) -> String {
    match name.is_ascii() {
        true => name.to_owned(),
        false => name.nfc().map(|(c, _)| c).collect(),
    }
}

/// Returns a key that is equal for names that differ only in case, accents, white space, joiners or
/// letters that look alike.
pub fn look_alike(name: &str) -> String {
    let lower = name.to_lowercase();
    let plain = lower.nfkd().map(|(c, _)| c).filter(|c| !is_passed_over(*c));
    let mut alike = String::with_capacity(name.len());
    for c in plain.flat_map(char::to_lowercase) {
        match c {
            'ß' => alike.push_str("ss"),
            'æ' => alike.push_str("ae"),
            'œ' => alike.push_str("oe"),
            c => alike.push(looks_like(c)),
        }
    }
    alike
}

/// White space, accents of Latin, Greek and Cyrillic letters, and joiners. Combining marks of other
/// scripts are significant.
fn is_passed_over(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{300}'..='\u{36F}' | '\u{200C}'..='\u{200F}' | '\u{61C}' | '\u{AD}')
}

/// The Latin letter that this letter, lower or upper case, resembles.
fn looks_like(c: char) -> char {
    match c {
        'а' | 'α' => 'a',
        'в' | 'β' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' | 'đ' | 'ð' => 'd',
        'е' | 'ε' => 'e',
        'һ' | 'н' | 'η' => 'h',
        'і' | 'ι' | 'ı' | 'ɩ' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        '1' | '|' | 'ł' | 'ӏ' => 'l',
        'м' | 'μ' => 'm',
        'ν' => 'n',
        '0' | 'о' | 'ο' | 'σ' | 'ς' | 'ø' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'ԝ' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'υ' => 'y',
        'ζ' => 'z',
        '‐' | '‑' | '–' | '—' | '−' => '-',
        '’' | '‘' | 'ʼ' | '`' | '´' => '\'',
        c => c,
    }
}

/// Line and paragraph separators, direction embeddings, overrides and isolates, and zero-width
/// spaces.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200B}' | '\u{2028}'..='\u{202E}' | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[test]
    fn names_are_normalised_to_composed_accents() {
        assert_eq!(composed("Jose\u{301}"), "Jos\u{e9}");
        assert_eq!(composed("\u{212b}sa"), "\u{c5}sa");
        for name in ["ana", "Ана", "कमला", "한글", "が"] {
            assert_eq!(composed(&composed(name)), composed(name));
        }
    }

    #[rstest]
    #[case::capital("ana", "Ana")]
    #[case::accent("José", "jose")]
    #[case::combining_accent("Jose\u{301}", "JOSÉ")]
    #[case::space_that_does_not_break("ana b", "Ana\u{a0}B")]
    #[case::cyrillic("ana", "аnа")]
    #[case::zero_and_letter("P01", "PO1")]
    #[case::full_width("ＡＮＡ", "ana")]
    #[case::stroke("Łukasz", "łukasz")]
    #[case::sharp_s("Straße", "STRASSE")]
    #[case::final_sigma("ΝΙΚΟΣ", "νικος")]
    #[case::cyrillic_capital("Вера", "вера")]
    #[case::hyphens("Ana-Lena", "Ana‑Lena")]
    fn names_look_alike(#[case] one: &str, #[case] other: &str) {
        assert_eq!(look_alike(one), look_alike(other));
    }

    #[rstest]
    #[case::doubled_letter("ana", "anna")]
    #[case::digit("a1", "a2")]
    #[case::vowel_sign("कमल", "कमला")]
    #[case::voiced_mark("か", "が")]
    #[case::longer("P1", "P11")]
    #[case::hyphen_and_space("ana-b", "ana b")]
    fn names_do_not_look_alike(#[case] one: &str, #[case] other: &str) {
        assert_ne!(look_alike(one), look_alike(other));
    }

    #[rstest]
    #[case::tab("a\tb")]
    #[case::escape_sequence("a\u{1b}[2J")]
    #[case::control_sequence("a\u{9b}")]
    #[case::right_to_left("\u{202e}abc")]
    #[case::zero_width_space("a\u{200b}b")]
    #[case::isolate("\u{2066}x\u{2069}")]
    #[case::line_separator("a\u{2028}b")]
    fn control_and_invisible_characters_are_found(#[case] bad: &str) {
        assert!(not_allowed_in_names(bad).is_some());
    }

    #[rstest]
    #[case::latin("Ana")]
    #[case::arabic_joiner("سارا\u{200c}")]
    #[case::cyrillic("ДАРЬЯ")]
    #[case::emoji_joiner("👩\u{200d}👩")]
    #[case::combining_accent("e\u{301}")]
    #[case::space("a b")]
    fn letters_of_all_scripts_are_allowed(#[case] good: &str) {
        assert_eq!(not_allowed_in_names(good), None);
    }
}
