//! Checks how many public methods a type has.
//!
//! Use cases are functions over a context (`ranking::rank(&session.analysis, &query)`), so that a module
//! shows what it offers and no type collects everything.

use super::comments::walk;
use crate::project::Project;
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The most public methods of a type without a reason below.
const MAX_METHODS: usize = 15;
/// Crates whose types are counted are below this folder.
const FOLDER: &str = "crates";

/// Types with more public methods: crate, type, and why.
const REASONED: [(&str, &str, &str); 14] = [
    ("app", "Application", "opening, closing and settings share one lock on the open session"),
    ("domain", "Scale", "properties of one list of levels, and answers on it by name"),
    ("encoder", "Trainable", "steps of one training whose tensors and freezing belong together"),
    ("exchange", "Checker", "one pass over a file: every question asks what earlier rows contain"),
    ("exchange", "Source", "properties of one file"),
    ("models", "LiveModel", "one numerical model: every update keeps labels, effects and sums in step"),
    ("models", "LiveSpans", "one numerical model: every update keeps answers, effects and scores in step"),
    ("project", "Context", "state that all use cases read: index, settings, observations, jobs"),
    ("project", "Index", "look-ups in one list of texts, annotators and questions"),
    (
        "store",
        "Snapshot",
        "queries of one moment, in the files of their tables: all need its open read transaction",
    ),
    (
        "store",
        "Store",
        "queries of one file, in the files of their tables: all need its readers and name it in errors",
    ),
    (
        "store",
        "WriteTx",
        "changes in one transaction, in the files of their tables: all need its connection and counters",
    ),
    ("training", "Encoding", "the cache of embeddings and the encoder in use, which change together"),
    ("training", "LiveModels", "the models and their locks, whose order is the same in every call"),
];

/// Counts the public methods of every type over all `impl` blocks of its crate.
///
/// # Errors
/// All findings, one a line.
pub(crate) fn check(project: &Project) -> Result<()> {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let crates = project.root.join(FOLDER);
    walk(&crates, &mut |path| {
        let inside: Vec<_> = path.strip_prefix(&crates).unwrap_or(path).components().collect();
        // Only the product: `crates/NAME/src/...`.
        if inside.get(1).is_none_or(|part| part.as_os_str() != "src") {
            return Ok(());
        }
        let name = inside[0].as_os_str().to_string_lossy().into_owned();
        let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        for (of, methods) in public_methods(&text) {
            *counts.entry((name.clone(), of)).or_default() += methods;
        }
        Ok(())
    })?;
    let findings = findings(&counts);
    ensure!(findings.is_empty(), "{}\nThe table is in xtask/src/tasks/methods.rs.", findings.join("\n"));
    Ok(())
}

fn findings(counts: &BTreeMap<(String, String), usize>) -> Vec<String> {
    let reasoned: BTreeSet<(&str, &str)> = REASONED.iter().map(|(name, of, _)| (*name, *of)).collect();
    let over = |(name, of): (&str, &str)| {
        counts.get(&(name.to_owned(), of.to_owned())).is_some_and(|methods| *methods > MAX_METHODS)
    };
    let mut findings = Vec::new();
    for ((name, of), methods) in counts {
        if *methods > MAX_METHODS && !reasoned.contains(&(name.as_str(), of.as_str())) {
            findings.push(format!(
                "{name}: {of} has {methods} public methods, at most {MAX_METHODS} without a reason"
            ));
        }
    }
    for (name, of) in reasoned.into_iter().filter(|one| !over(*one)) {
        findings.push(format!("{name}: {of} needs no reason in the table any more"));
    }
    findings
}

/// Public methods of each type in a file as rustfmt writes it, without those of traits and of nested modules.
fn public_methods(text: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut of: Option<String> = None;
    for line in text.lines() {
        if let Some(after) = line.strip_prefix("impl") {
            of = type_of(after);
        } else if line.starts_with('}') {
            of = None;
        } else if let Some(of) = &of
            && let Some(item) = line.strip_prefix("    pub ")
            && ["const fn ", "async fn ", "unsafe fn ", "fn "].iter().any(|start| item.starts_with(start))
        {
            *counts.entry(of.clone()).or_default() += 1;
        }
    }
    counts
}

/// The type of an inherent `impl`, from what follows the word.
fn type_of(after: &str) -> Option<String> {
    let mut depth = 0;
    // Generic parameters come before the type, their arguments after it.
    let after = match after.strip_prefix('<') {
        None => after,
        Some(parameters) => {
            depth += 1;
            let end = parameters.find(|letter| {
                depth += i32::from(letter == '<') - i32::from(letter == '>');
                depth == 0
            })?;
            &parameters[end + 1..]
        }
    };
    if after.contains(" for ") {
        return None;
    }
    let after = after.strip_prefix(' ')?;
    let end = after.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(after.len());
    (end > 0).then(|| after[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_methods_are_counted_without_traits() {
        let text = "impl Runs {\n    pub fn new() {}\n    pub(crate) fn near() {}\n    fn own() {}\n}\n\
                    impl<'a, T: Into<Vec<u8>>> Runs<'a, T> {\n    pub const fn two() {}\n}\n\
                    impl Display for Runs {\n    pub fn three() {}\n}\n\
                    impl<T> From<T> for Other {\n    pub fn four() {}\n}\npub fn free() {}\n";
        assert_eq!(public_methods(text), BTreeMap::from([("Runs".to_owned(), 2)]));
    }

    #[test]
    fn too_many_methods_and_unused_reasons_are_findings() {
        let key = |name: &str, of: &str| (name.to_owned(), of.to_owned());
        let mut counts: BTreeMap<_, _> =
            REASONED.iter().map(|(name, of, _)| (key(name, of), MAX_METHODS + 1)).collect();
        counts.insert(key("app", "Session"), MAX_METHODS);
        assert_eq!(findings(&counts), Vec::<String>::new());
        counts.insert(key("app", "Session"), MAX_METHODS + 1);
        let (name, of, _) = REASONED[0];
        counts.insert(key(name, of), 1);
        assert_eq!(
            findings(&counts),
            [
                "app: Session has 16 public methods, at most 15 without a reason".to_owned(),
                format!("{name}: {of} needs no reason in the table any more")
            ]
        );
    }
}
