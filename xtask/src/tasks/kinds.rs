//! Checks that kinds of questions are distinguished in one place.
//!
//! Code that compares a kind with `==` compiles after a kind was added, and silently does something else with
//! it. Outside `crates/domain/src/kind` product code therefore asks for a property of the kind, or matches
//! exhaustively on the form of the answer or on the target. Making a question of a kind is allowed.

use super::comments::walk;
use crate::project::Project;
use anyhow::{Context, Result, ensure};
use std::fs;

/// Where kinds may be matched.
const HOME: &str = "crates/domain/src/kind/";
/// Folders with product code in Rust.
const FOLDERS: [&str; 3] = ["crates", "python", "src-tauri"];
const KIND: &str = "ScaleKind::";

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
    ensure!(
        findings.is_empty(),
        "{}\nAsk for a property of `ScaleKind::rules`, or match on `Scale::form` or `Scale::target`.",
        findings.join("\n")
    );
    Ok(())
}

fn is_test(name: &str) -> bool {
    name.contains("/tests/") || name.starts_with("tests/") || name.ends_with("tests.rs")
}

fn findings_in(name: &str, text: &str) -> Vec<String> {
    if name.starts_with(HOME) || is_test(name) {
        return Vec::new();
    }
    // Modules of tests end a file.
    let product = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = (1..).zip(product.lines());
    let matching = lines.filter(|(_, line)| !line.trim_start().starts_with("//") && distinguishes(line));
    matching.map(|(number, line)| format!("{name}:{number}: matches on a kind: {}", line.trim())).collect()
}

/// Whether a line compares or matches a kind.
fn distinguishes(line: &str) -> bool {
    line.match_indices(KIND).any(|(at, _)| {
        let before = line[..at].trim_end().trim_end_matches("dissensus_domain::").trim_end();
        let after = line[at + KIND.len()..].trim_start_matches(|c: char| c.is_alphanumeric()).trim_start();
        let compared = before.ends_with("==") || before.ends_with("!=") || before.ends_with("== Some(");
        // A closure's parameters end with a bar too, without a space before it.
        let pattern =
            after.starts_with("=>") || after.starts_with('|') || before == "|" || before.ends_with(" |");
        compared || pattern || line.contains("matches!(") || line.contains("if let")
    })
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
