//! Checks that names in code have no words of the project's former private vocabulary.
//!
//! Names are checked where they are written: comments and strings are left out, except in Svelte, whose
//! markup has the names of classes and the texts on screen. Names that text inserts (`{name}`) are defined
//! elsewhere, where they are found.

use super::comments::check_files;
use super::lexer::{Language, split};
use crate::project::Project;
use anyhow::Result;

/// Words that no part of a name may be, and what to write instead.
const WORDS: [(&str, &str); 8] = [
    ("beside", "additional, together, with or other"),
    ("lies", "is, or is within"),
    ("said", "what the value is: a note, message, reply, output, answer or prediction"),
    ("standing", "status, current, remaining or significant"),
    ("stands", "significant, holds or is_current"),
    ("told", "reported, announced, distinguished or findings"),
    ("unsaid", "cannot_say, withheld, not_answered or unsaved"),
    ("whoever", "anyone, or the person's role"),
];
/// Folders with our own code.
const FOLDERS: [&str; 6] = ["crates", "python", "src-tauri", "tests", "ui/src", "xtask"];
/// Endings of files that are checked.
const ENDINGS: [&str; 4] = ["py", "rs", "svelte", "ts"];
/// Files and folders whose names stay, with the reason.
const EXCEPTIONS: [(&str, &str); 1] = [(
    "crates/store/src/reannotations_of_18/",
    "migrates a former format of projects, and stays as released",
)];

/// Checks every file with one of [`ENDINGS`].
///
/// # Errors
/// All findings, one a line.
pub(crate) fn check(project: &Project) -> Result<()> {
    check_files(project, &FOLDERS, &ENDINGS, findings_in)
}

fn findings_in(name: &str, text: &str) -> Vec<String> {
    if EXCEPTIONS.iter().any(|(path, _)| name.starts_with(path)) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(split(text, Language::of(name)).code.lines()) {
        for identifier in line.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            for word in words(identifier) {
                if let Some((_, instead)) = WORDS.iter().find(|(refused, _)| word == *refused) {
                    findings.push(format!(
                        "{name}:{number}: `{identifier}` has the word `{word}`: write {instead}"
                    ));
                }
            }
        }
    }
    findings
}

/// The words of a name in `snake_case`, `camelCase`, `PascalCase` or `CONSTANT_CASE`, in lower case.
fn words(identifier: &str) -> Vec<String> {
    let letters: Vec<char> = identifier.chars().collect();
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let ends_acronym = before.is_some_and(char::is_uppercase)
            && letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        let starts_word = letter.is_uppercase() && (!before.is_some_and(char::is_uppercase) || ends_acronym);
        if *letter == '_' || letter.is_numeric() || starts_word {
            words.push(String::new());
        }
        if letter.is_alphabetic() {
            words.last_mut().expect("there is one").extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        for (name, expected) in [
            ("said_at_ms", vec!["said", "at", "ms"]),
            ("saidAgain", vec!["said", "again"]),
            ("RowsBesideLabels", vec!["rows", "beside", "labels"]),
            ("NOT_SAID", vec!["not", "said"]),
            ("HTTPTold", vec!["http", "told"]),
            ("told2", vec!["told"]),
            ("_unsaid", vec!["unsaid"]),
        ] {
            assert_eq!(words(name), expected, "{name}");
        }
    }

    #[test]
    fn each_word_is_found_in_every_case() {
        for (word, _) in WORDS {
            let (first, others) = word.split_at(1);
            let capital = format!("{}{others}", first.to_uppercase());
            for name in [
                word.to_owned(),
                format!("not_{word}"),
                format!("is{capital}"),
                format!("X_{}", word.to_uppercase()),
            ] {
                for file in ["a.rs", "a.ts", "a.svelte", "a.py"] {
                    let found = findings_in(file, &format!("\nlet {name} = 1;\n"));
                    assert_eq!(found.len(), 1, "{name} in {file}");
                    assert!(
                        found[0].starts_with(&format!("{file}:2: `{name}` has the word `{word}`")),
                        "{found:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn longer_words_are_no_findings() {
        let text = "let (besides, outstanding, understands, families, untold, standings) = aside;\n";
        assert_eq!(findings_in("a.rs", text), Vec::<String>::new());
    }

    #[test]
    fn comments_and_strings_are_left_out() {
        let rust = "// said\nlet a = \"said \\\" said\"; /* said\n said */ let b = r#\"said \" said\"#;\nlet c = b'\"';\n";
        assert_eq!(findings_in("a.rs", rust), Vec::<String>::new());
        let script = "const a = 'said'; // said\nconst b = `said ${name} said ${`said ${{ a }}`}`;\nconst c = /[`\"'/]/;\n";
        assert_eq!(findings_in("a.ts", script), Vec::<String>::new());
        let python = "\"\"\"said\n said\"\"\"\na = 'said' # said\n";
        assert_eq!(findings_in("a.py", python), Vec::<String>::new());
        assert_eq!(
            findings_in("a.svelte", "<!-- said -->\n<a href=\"https://a.b\">a</a>\n"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn names_after_strings_are_found() {
        for (file, text) in [
            ("a.rs", "fn a<'a>(b: &'a str) { let c = '\"'; said(); }"),
            ("a.rs", "let a = r#\"\"#; let said = 1;"),
            ("a.ts", "const a = `x ${b} y`; const said = 1;"),
            ("a.ts", "const a = `x ${said} y`;"),
            ("a.ts", "const a = b / c; const said = d / e;"),
            ("a.ts", "const a = /`/; const said = 1;"),
            ("a.svelte", "<p class=\"said\">It's so</p>"),
            ("a.py", "a = '#'; said = 1"),
        ] {
            assert_eq!(findings_in(file, text).len(), 1, "{text}");
        }
    }

    #[test]
    fn lines_are_those_of_the_file() {
        let text = "/*\n*/\nlet a = \"\n\";\nlet said = 1;\n";
        assert!(findings_in("a.rs", text)[0].starts_with("a.rs:5: "));
        assert!(findings_in("a.ts", "const a = `\n${b}\n`;\nlet said;\n")[0].starts_with("a.ts:4: "));
    }

    #[test]
    fn former_formats_keep_their_names() {
        assert_eq!(
            findings_in("crates/store/src/reannotations_of_18/a.rs", "let said = 1;"),
            Vec::<String>::new()
        );
    }
}
