//! Help texts as Markdown.

/// Escapes `text` for a paragraph or table cell: option names become code, and Markdown syntax is escaped.
pub(super) fn escaped(text: &str) -> String {
    let mut parts = text.split('`');
    let mut out = plain(parts.next().unwrap_or_default());
    let mut code = true;
    for part in parts {
        out.push_str(&if code { format!("`{}`", part.replace('|', "\\|")) } else { plain(part) });
        code = !code;
    }
    out.replace('\n', " ")
}

/// Escapes text without marking code.
fn plain(text: &str) -> String {
    text.split_inclusive(' ').map(word).collect()
}

fn word(word: &str) -> String {
    let start = word.find(|c: char| !"(\"'".contains(c)).unwrap_or(word.len());
    let (before, rest) = word.split_at(start);
    if rest.starts_with("--") && rest.len() > 2 {
        let end = rest.trim_end_matches([' ', '.', ',', ';', ':', ')', '"', '\'', ']']).len();
        let (option, after) = rest.split_at(end);
        return format!("{}`{}`{}", symbols(before), option.replace('|', "\\|"), symbols(after));
    }
    symbols(word)
}

fn symbols(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\<>*_|[]{}#".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The text below the options of a command: examples as a code block of commands, the rest as paragraphs.
pub(super) fn after_help(text: &str) -> String {
    let mut out = String::new();
    let mut in_block = false;
    for line in text.lines() {
        let example = line.starts_with("  ");
        if in_block && !example && !line.is_empty() {
            out.push_str("```\n\n");
            in_block = false;
        }
        if example && !in_block {
            out.push_str("\n```sh\n");
            in_block = true;
        }
        match (in_block, line) {
            (true, "") => {}
            (true, _) => out.push_str(&format!("{}\n", line.trim())),
            (false, "") => out.push('\n'),
            (false, _) => out.push_str(&format!("{}\n", escaped(line))),
        }
    }
    if in_block {
        out.push_str("```\n");
    }
    out
}

/// The anchor that mdBook and GitHub generate for a heading.
pub(super) fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_code_and_symbols_are_escaped() {
        assert_eq!(
            escaped("see --rows (or --top N): a|b <X> `c|d`"),
            "see `--rows` (or `--top` N): a\\|b \\<X\\> `c\\|d`"
        );
    }

    #[test]
    fn examples_become_a_code_block() {
        let text = "Examples:\n  dissensus info P\n\nWith --json one document.";
        assert_eq!(
            after_help(text),
            "Examples:\n\n```sh\ndissensus info P\n```\n\nWith `--json` one document.\n"
        );
    }

    #[test]
    fn anchors_match_headings() {
        assert_eq!(anchor("dissensus data import"), "dissensus-data-import");
        assert_eq!(anchor("OptionOf<T>"), "optionoft");
    }
}
