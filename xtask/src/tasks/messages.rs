//! Checks that messages, help and texts on screen have no words that we avoid.
//!
//! Strings of product code are checked, in Rust and in the window, and the markup of the window. Left out are
//! keys and names of columns (a single word in lower case), SQL, quotes, and what is inserted (`{name}`).

use super::comments::check_files;
use super::kinds::product;
use super::lexer::{Language, on_screen, split};
use super::words::refused;
use crate::project::Project;
use anyhow::Result;

/// Folders with product code.
const FOLDERS: [&str; 4] = ["crates", "python/src", "src-tauri", "ui/src"];
/// Endings of files that are checked.
const ENDINGS: [&str; 3] = ["rs", "svelte", "ts"];
/// Parts of paths of tests and of tools for them.
const NO_PRODUCT: [&str; 4] = ["crates/bench/", "crates/test-support/", "ui/src/mock/", ".test.ts"];
/// Words in capitals that only SQL has.
const SQL: [&str; 8] = ["ALTER", "AND", "DELETE", "FROM", "INSERT", "SELECT", "UPDATE", "WHERE"];

/// Checks every file with one of [`ENDINGS`], except tests.
///
/// # Errors
/// All findings, one a line.
pub(crate) fn check(project: &Project) -> Result<()> {
    check_files(project, &FOLDERS, &ENDINGS, findings_in)
}

fn findings_in(name: &str, text: &str) -> Vec<String> {
    if NO_PRODUCT.iter().any(|part| name.contains(part)) {
        return Vec::new();
    }
    let language = Language::of(name);
    let shown = match language {
        Language::Svelte => on_screen(text),
        Language::Rust => split(product(name, text), language).strings,
        Language::Python | Language::TypeScript => split(text, language).strings,
    };
    let messages = shown.into_iter().filter(|(_, text)| language == Language::Svelte || is_message(text));
    messages
        .flat_map(|(number, text)| {
            let what: Vec<String> = refused(&prose(&text)).collect();
            what.into_iter().map(move |what| format!("{name}:{number}: {what}"))
        })
        .collect()
}

/// Whether people read the string, other than a key, a name or SQL.
fn is_message(text: &str) -> bool {
    let is_name = !text.contains(' ') && !text.starts_with(char::is_uppercase);
    let of_sql = |word: &str| SQL.contains(&word.trim_matches(|c: char| !c.is_alphanumeric()));
    // A condition of a statement is a string of its own.
    !is_name && !text.contains(" = ") && !text.split_whitespace().any(of_sql)
}

/// The text with `0` for what is inserted, for code in backticks, and for quotes and names in code, which
/// have a dot or an underscore within.
fn prose(text: &str) -> String {
    let mut prose = String::with_capacity(text.len());
    let mut depth = 0_usize;
    for letter in without_each(&without_each(text, '`'), '"').chars() {
        match letter {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                prose.push('0');
            }
            _ if depth == 0 => prose.push(letter),
            _ => {}
        }
    }
    let is_name = |word: &str| {
        let parts: Vec<&str> = word.split(['.', '_']).collect();
        parts.len() > 1 && parts.iter().all(|part| part.starts_with(char::is_alphanumeric))
    };
    let words = prose.split_whitespace().map(|word| if is_name(word) { "0" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// The text with `0` for what is between two of these signs. Where one is missing, as in a part of a template
/// string, all stays.
fn without_each(text: &str, sign: char) -> String {
    if text.matches(sign).count() % 2 == 1 {
        return text.to_owned();
    }
    text.split(sign).step_by(2).collect::<Vec<_>>().join("0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn avoided_words_in_messages_are_findings() {
        for (name, text) in [
            ("crates/a/src/a.rs", "\nlet a = \"Removes whoever is left.\";"),
            ("crates/a/src/a.rs", "\nlet a = \"Removes \\\"{name}\\\", whoever \\\n is left.\";"),
            ("src-tauri/src/a.rs", "\nlet a = \"Whoever\";"),
            ("ui/src/words/a.ts", "\nconst a = `${count(2)} whoever`;"),
            ("ui/src/words/a.ts", "\nconst a = `\"${b}\" for whoever`;"),
            ("ui/src/views/a.svelte", "\n<p>whoever</p>"),
            ("ui/src/views/a.svelte", "\n<p title=\"For whoever is left\">{a}</p>"),
            ("ui/src/views/a.svelte", "\n<p>{a ? \"b\" : \"for whoever\"}</p>"),
            ("ui/src/views/a.svelte", "<script>\nconst a = \"for whoever\";</script>"),
        ] {
            assert_eq!(
                findings_in(name, text),
                [format!("{name}:2: write anyone who for `whoever`")],
                "{text}"
            );
        }
    }

    #[test]
    fn keys_code_and_tests_are_no_findings() {
        for (name, text) in [
            ("crates/a/src/a.rs", "let a = \"whoever\"; // For whoever is left."),
            ("crates/a/src/a.rs", "let a = \"SELECT whoever FROM a\"; let b = \"whoever = 1\";"),
            ("crates/a/src/a.rs", "let a = \"the column \\\"whoever\\\" of e.whoever\";"),
            ("crates/a/src/a.rs", "let a = \"use `--whoever` or {whoever}\";"),
            ("crates/a/src/a.rs", "#[cfg(test)]\nmod tests { const A: &str = \"For whoever is left.\"; }"),
            ("crates/a/tests/a.rs", "let a = \"For whoever is left.\";"),
            ("ui/src/logic/a.test.ts", "const a = \"For whoever is left.\";"),
            ("ui/src/views/a.svelte", "<!-- For whoever --><p class={whoever}>{whoever} left</p>"),
        ] {
            assert_eq!(findings_in(name, text), [""; 0], "{text}");
        }
    }
}
