//! What a name may hold: of a question, a level, an annotator, an attribute.

/// The first character of `name` that no name may hold: control characters (line ends, tabs, escape sequences) and characters
/// that are not seen and change how a name is shown, so that two names look alike or one shows another order of letters.
///
/// Joiners and plain direction marks (U+200C to U+200F, U+061C) are allowed: Persian, Hebrew, Arabic and emoji need them.
pub fn not_allowed_in_names(name: &str) -> Option<char> {
    name.chars().find(|c| c.is_control() || is_hidden(*c))
}

/// Line and paragraph separators, embeddings, overrides and isolates of direction, and spaces of no width.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200B}' | '\u{2028}'..='\u{202E}' | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_or_hides_is_found_and_letters_of_all_scripts_are_not() {
        for bad in
            ["a\tb", "a\u{1b}[2J", "a\u{9b}", "\u{202e}abc", "a\u{200b}b", "\u{2066}x\u{2069}", "a\u{2028}b"]
        {
            assert!(not_allowed_in_names(bad).is_some(), "{bad:?}");
        }
        for good in ["Ana", "سارا\u{200c}", "ДАРЬЯ", "👩\u{200d}👩", "e\u{301}", "a b"] {
            assert_eq!(not_allowed_in_names(good), None, "{good:?}");
        }
    }
}
