//! Checks that kinds of questions are distinguished in one place.
//!
//! Code that compares a kind with `==` compiles after a kind was added, and silently does something else with
//! it. Outside `crates/domain/src/kind` product code therefore asks for a property of the kind, of the form
//! of answers or of the target, or matches exhaustively on form or target. Making a question of a kind is
//! allowed.

use super::comments::walk;
use crate::project::Project;
use anyhow::{Context, Result, ensure};
use std::fs;

/// Where kinds may be matched.
const HOME: &str = "crates/domain/src/kind/";
/// Folders with product code in Rust.
const FOLDERS: [&str; 3] = ["crates", "python", "src-tauri"];
/// Neither compared nor matched elsewhere.
const KIND: &str = "ScaleKind::";
/// Not compared elsewhere; an exhaustive `match` lists what a new variant must decide.
const MATCHED: [&str; 2] = ["AnswerForm::", "TargetKind::"];
const HELP: &str = "Ask for a property of `ScaleKind::rules`, `AnswerForm` or `TargetKind` (`has_parts`, \
                    `is_set`, `marks_words`, `is_ordered`, `has_distances`, `is_yes_no`), add one in \
                    crates/domain/src/kind, or `match` on `Scale::form` or `Scale::target` with an arm for \
                    each variant.";

/// Checks every Rust file except tests.
///
/// # Errors
/// All findings, one a line.
pub(crate) fn check(project: &Project) -> Result<()> {
    let mut findings = Vec::new();
    for folder in FOLDERS {
        walk(&project.root.join(folder), &mut |path| {
            let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
            let name = path.strip_prefix(&project.root).unwrap_or(path).display().to_string();
            findings.extend(findings_in(&name, &text));
            Ok(())
        })?;
    }
    ensure!(findings.is_empty(), "{}\n{HELP}", findings.join("\n"));
    Ok(())
}

fn is_test(name: &str) -> bool {
    name.contains("/tests/") || name.starts_with("tests/") || name.ends_with("tests.rs")
}

/// The text of a Rust file without its tests.
pub(super) fn product<'a>(name: &str, text: &'a str) -> &'a str {
    // Modules of tests end a file.
    let product = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    if is_test(name) { "" } else { product }
}

fn findings_in(name: &str, text: &str) -> Vec<String> {
    if name.starts_with(HOME) {
        return Vec::new();
    }
    let product = product(name, text);
    let mut findings = Vec::new();
    let mut from = 0;
    for (number, line) in (1..).zip(product.split_inclusive('\n')) {
        let comment = line.trim_start().starts_with("//");
        if let Some(what) = found(&product[..from], line).filter(|_| !comment) {
            findings.push(format!("{name}:{number}: {what}: {}", line.trim()));
        }
        from += line.len();
    }
    findings
}

/// What is wrong with a line after the text `earlier`.
fn found(earlier: &str, line: &str) -> Option<&'static str> {
    if uses(earlier, line, KIND).any(|used| used.compared || used.pattern) {
        Some("matches on a kind")
    } else if MATCHED.iter().any(|word| uses(earlier, line, word).any(|used| used.compared)) {
        Some("compares a form or a target")
    } else {
        None
    }
}

/// How a line uses a variant.
struct Use {
    /// With `==`, `!=`, `matches!` or `if let`.
    compared: bool,
    /// In an arm of a `match`.
    pattern: bool,
}

/// The uses of variants of `kind` in a line after the text `earlier`.
fn uses(earlier: &str, line: &str, kind: &str) -> impl Iterator<Item = Use> {
    line.match_indices(kind).map(move |(at, _)| {
        let before = line[..at].trim_end().trim_end_matches("dissensus_domain::").trim_end();
        let after = line[at + kind.len()..].trim_start_matches(|c: char| c.is_alphanumeric()).trim_start();
        let compared = ["==", "!=", "== Some(", "!= Some("].iter().any(|end| before.ends_with(end))
            || after.starts_with("==")
            || after.starts_with("!=")
            || line.contains("matches!(")
            || line.contains("if let")
            || in_matches(earlier);
        // A closure's parameters end with a bar too, without a space before it.
        let pattern =
            after.starts_with("=>") || after.starts_with('|') || before == "|" || before.ends_with(" |");
        Use { compared, pattern }
    })
}

/// Whether the statement at the end of a text has begun a `matches!` that goes on below.
fn in_matches(earlier: &str) -> bool {
    let statement = earlier.rsplit([';', '{', '}']).next().unwrap_or_default();
    let Some((_, inside)) = statement.rsplit_once("matches!(") else { return false };
    inside.matches(')').count() <= inside.matches('(').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(line: &str) -> usize {
        findings_in("crates/report/src/labels.rs", line).len()
    }

    #[test]
    fn comparing_or_matching_kinds_is_a_finding() {
        for line in [
            "if scale.kind() == ScaleKind::Spans {",
            "if kind != dissensus_domain::ScaleKind::Ordinal {",
            "ScaleKind::MultiLabel => 1,",
            "ScaleKind::Binary | ScaleKind::Choice => 2,",
            "matches!(kind, ScaleKind::Ordinal)",
            "if kind == Some(ScaleKind::Spans) {",
        ] {
            assert_eq!(findings(line), 1, "{line}");
        }
    }

    #[test]
    fn comparing_forms_and_targets_is_a_finding() {
        for line in [
            "if scale.form() == AnswerForm::Spans {",
            "if AnswerForm::Level != scale.form() {",
            "let ordinal = data.target.kind == dissensus_domain::TargetKind::Ordinal;",
            "let ordered = matches!(kind, TargetKind::Ordinal | TargetKind::Binary);",
            "let ordered = matches!(\n    of(kind),\n    TargetKind::Ordinal\n);",
            "if let AnswerForm::Options = scale.form() {",
            "form.is_none_or(|form| form == AnswerForm::Options)",
        ] {
            assert_eq!(findings(line), 1, "{line}");
        }
    }

    #[test]
    fn matching_on_forms_and_targets_is_no_finding() {
        for line in [
            "match form {\n AnswerForm::Level => 1,\n AnswerForm::Options | AnswerForm::Spans => 2,\n}",
            "(AnswerForm::Level, TargetKind::Ordinal) => 1,",
            "AnswerForm::Level if scale.len() == 2 => 1,",
            "let kind = if levels == 2 { TargetKind::Binary } else { TargetKind::Ordinal };",
            "let found = matches!(level, None);\nmatch kind {\n TargetKind::Binary => 1,\n}",
        ] {
            assert_eq!(findings(line), 0, "{line}");
        }
        let line = "self == TargetKind::Ordinal";
        assert_eq!(findings_in("crates/domain/src/kind/mod.rs", line), Vec::<String>::new());
    }

    #[test]
    fn creating_questions_and_tests_are_no_findings() {
        for line in [
            "let scale = Scale::new(ScaleKind::Ordinal, levels)?;",
            "None if spans => ScaleKind::Spans,",
            "types.map(|_| ScaleKind::Spans)",
            "#[cfg(test)]\nmod tests { fn f() { assert!(kind == ScaleKind::Spans) } }",
        ] {
            assert_eq!(findings(line), 0, "{line}");
        }
        let line = "Self::Spans => 1, x == ScaleKind::Spans";
        assert_eq!(findings_in("crates/domain/src/kind/mod.rs", line), Vec::<String>::new());
        assert_eq!(findings_in("crates/store/tests/suite/merge.rs", line), Vec::<String>::new());
    }
}
