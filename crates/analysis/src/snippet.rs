//! The beginning of a text, for rows of lists.

/// Maximum number of characters of a body in a row.
const SNIPPET: usize = 280;

/// A body, cut to [`SNIPPET`] characters.
pub(crate) fn snippet(body: &str) -> String {
    match body.char_indices().nth(SNIPPET) {
        Some((end, _)) => format!("{}…", body[..end].trim_end()),
        None => body.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snippets_are_cut_at_character_boundaries() {
        assert_eq!(snippet("é"), "é");
        assert_eq!(snippet(&"é".repeat(400)).chars().count(), SNIPPET + 1);
    }
}
