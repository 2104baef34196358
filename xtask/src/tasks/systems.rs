//! Checks that code for one system has its twin for the others.
//!
//! Only Linux compiles what we write every day, so a function that exists on Unix alone is noticed when
//! somebody builds for Windows. An interface of one system is therefore used below a `cfg` of that system,
//! next to an item of the same name below the `cfg` of the others.

use super::comments::walk;
use super::kinds::product;
use crate::project::Project;
use anyhow::{Context, Result, anyhow, ensure};
use proc_macro2::{Group, TokenStream, TokenTree};
use std::fs;

/// Folders with product code, and with what builds it.
const FOLDERS: [&str; 4] = ["crates", "python", "src-tauri", "xtask"];
/// Modules of `std::os` that only one family of systems has.
const MODULES: [&str; 6] = ["unix", "linux", "fd", "macos", "darwin", "windows"];
/// Places that only one family of systems has, as the beginning of a string.
const PLACES: [&str; 4] = ["\"/proc/", "\"/dev/", "\"/sys/", "\"/etc/"];
/// Words that begin an item, which ends with a semicolon or a block and never with a comma.
const KEYWORDS: [&str; 12] =
    ["fn", "impl", "struct", "enum", "trait", "use", "mod", "const", "static", "type", "let", "unsafe"];

/// Uses without a twin: the file, and why none is needed.
const REASONED: [(&str, &str); 8] = [
    ("crates/bench/src/figures.rs", "a system that does not report memory has no such figure"),
    ("crates/project/src/home.rs", "folders of a Windows user are closed to others as they are"),
    ("crates/selection/examples/", "a system that does not report memory has no such figure"),
    ("crates/store/src/lock.rs", "folders of a Windows user are closed to others as they are"),
    ("crates/test-support/", "simulates power cuts for tests, on Unix only"),
    ("crates/training/src/runs/energy.rs", "a system that does not report energy has no such figure"),
    ("xtask/src/tasks/release/updates.rs", "files of a Windows user are closed to others as they are"),
    ("xtask/src/setup/", "installs packages of Linux distributions"),
];

const HELP: &str = "Put it below `#[cfg(unix)]` (or the system that has it), with an item of the same name \
                    below `#[cfg(not(unix))]` or `#[cfg(windows)]` next to it. Exceptions are in \
                    xtask/src/tasks/systems.rs.";

/// Checks every Rust file except tests.
///
/// # Errors
/// All findings, one a line.
pub(crate) fn check(project: &Project) -> Result<()> {
    let mut findings = Vec::new();
    let mut needed = [false; REASONED.len()];
    for folder in FOLDERS {
        walk(&project.root.join(folder), &mut |path| {
            let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
            let name = path.strip_prefix(&project.root).unwrap_or(path).display().to_string();
            let name = name.replace('\\', "/");
            let found = findings_in(&name, &text).with_context(|| format!("reading {name}"))?;
            match REASONED.iter().position(|(reasoned, _)| name.starts_with(reasoned)) {
                Some(at) => needed[at] |= !found.is_empty(),
                None => findings.extend(found),
            }
            Ok(())
        })?;
    }
    let unneeded = REASONED.iter().zip(needed).filter(|(_, needed)| !needed);
    findings.extend(unneeded.map(|((name, _), _)| format!("{name} needs no reason in the table any more")));
    ensure!(findings.is_empty(), "{}\n{HELP}", findings.join("\n"));
    Ok(())
}

fn findings_in(name: &str, text: &str) -> Result<Vec<String>> {
    let text = product(name, text);
    if !text.contains("os::") && !text.contains("libc::") && !PLACES.iter().any(|place| text.contains(place))
    {
        return Ok(Vec::new());
    }
    let tokens: TokenStream = text.parse().map_err(|error| anyhow!("{error}"))?;
    let mut findings = Vec::new();
    look(tokens, &mut Vec::new(), &mut findings);
    Ok(findings.into_iter().map(|finding| format!("{name}: {finding}")).collect())
}

/// An item, a statement, a field or an argument.
#[derive(Default)]
struct Item {
    /// What its `cfg` attributes ask for, as they are written.
    conditions: Vec<String>,
    tokens: Vec<TokenTree>,
}

impl Item {
    fn is_test(&self) -> bool {
        self.conditions.iter().any(|condition| condition == "test" || condition.starts_with("all (test"))
    }

    /// Whether it exists on some systems only.
    fn is_of_a_system(&self) -> bool {
        self.conditions.iter().any(|condition| names_system(condition))
    }

    /// The words up to the first brackets or block: `fn sync_folder`, `impl FilePin`; empty for statements.
    fn name(&self) -> String {
        let words = self.tokens.iter().map_while(|token| match token {
            TokenTree::Ident(word) => Some(word.to_string()),
            _ => None,
        });
        let words: Vec<String> = words.skip_while(|word| !KEYWORDS.contains(&word.as_str())).collect();
        words.join(" ")
    }
}

fn names_system(condition: &str) -> bool {
    ["unix", "windows", "target_os"].iter().any(|system| condition.contains(system))
}

/// Collects the findings of one level and of those below it. Returns whether an interface of one system is
/// used in it.
fn look(tokens: TokenStream, around: &mut Vec<String>, findings: &mut Vec<String>) -> bool {
    let items = items(tokens, around);
    let mut used = Vec::with_capacity(items.len());
    for item in &items {
        if item.is_test() {
            used.push(false);
            continue;
        }
        let before = around.len();
        around.extend(item.conditions.iter().cloned());
        let mut uses = false;
        for (what, is_allowed) in interfaces(&item.tokens, around) {
            uses = true;
            if !is_allowed {
                findings.push(format!("`{what}` is below no `cfg` of its system"));
            }
        }
        for group in item.tokens.iter().filter_map(group) {
            uses |= look(group.stream(), around, findings);
        }
        around.truncate(before);
        used.push(uses);
    }
    for (item, _) in items.iter().zip(&used).filter(|(item, used)| **used && item.is_of_a_system()) {
        let name = item.name();
        let is_twin = |other: &Item| {
            other.is_of_a_system() && other.conditions != item.conditions && other.name() == name
        };
        if !items.iter().any(is_twin) {
            let what = if name.is_empty() { "a statement" } else { name.as_str() };
            findings.push(format!("`{what}` of cfg({}) has no twin", item.conditions.join(", ")));
        }
    }
    used.contains(&true)
}

fn group(token: &TokenTree) -> Option<&Group> {
    match token {
        TokenTree::Group(group) => Some(group),
        _ => None,
    }
}

/// Divides a level. Attributes of the whole level (`#![cfg(unix)]`) are added to `around`.
fn items(tokens: TokenStream, around: &mut Vec<String>) -> Vec<Item> {
    let mut items = vec![Item::default()];
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let Some(item) = items.last_mut() else { break };
        let is_end = match &token {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                let is_inner = matches!(tokens.peek(), Some(TokenTree::Punct(mark)) if mark.as_char() == '!');
                if is_inner {
                    tokens.next();
                }
                let condition = tokens.next().as_ref().and_then(group).and_then(condition);
                if is_inner {
                    around.extend(condition)
                } else {
                    item.conditions.extend(condition)
                }
                continue;
            }
            TokenTree::Punct(mark) if mark.as_char() == ';' => true,
            TokenTree::Punct(mark) if mark.as_char() == ',' => item.name().is_empty(),
            TokenTree::Group(group) => group.delimiter() == proc_macro2::Delimiter::Brace,
            _ => false,
        };
        item.tokens.push(token);
        if is_end {
            items.push(Item::default());
        }
    }
    items
}

/// What an attribute asks for, if it is a `cfg`.
fn condition(attribute: &Group) -> Option<String> {
    let mut tokens = attribute.stream().into_iter();
    let is_cfg = matches!(tokens.next(), Some(TokenTree::Ident(name)) if name == "cfg");
    tokens.next().as_ref().and_then(group).filter(|_| is_cfg).map(|of| of.stream().to_string())
}

/// Each interface of one system in a row of tokens, and whether the conditions around it name that system.
fn interfaces(tokens: &[TokenTree], around: &[String]) -> Vec<(String, bool)> {
    let is_word = |at: usize, words: &[&str]| {
        let Some(TokenTree::Ident(word)) = tokens.get(at) else { return None };
        words.iter().find(|one| word == *one).map(|word| (*word).to_owned())
    };
    let is_path = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
    let is_on = |system: &str| {
        around.iter().any(|condition| match system {
            "windows" => condition.contains("windows") || condition == "not (unix)",
            _ => names_system(condition) && !condition.starts_with("not") && condition != "windows",
        })
    };
    let found = (0..tokens.len()).filter_map(|at| {
        if let TokenTree::Literal(text) = &tokens[at] {
            let text = text.to_string();
            let is_place = PLACES.iter().any(|place| text.starts_with(place));
            return is_place.then(|| (text, is_on("unix")));
        }
        if !is_path(at + 1) {
            return None;
        }
        if is_word(at, &["libc"]).is_some() {
            return Some(("libc".to_owned(), is_on("unix")));
        }
        let module = is_word(at, &["os"]).and_then(|_| is_word(at + 3, &MODULES))?;
        let allowed = is_on(&module);
        Some((format!("std::os::{module}"), allowed))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        findings_in("crates/files/src/paths.rs", text).unwrap()
    }

    #[test]
    fn interface_below_no_condition_is_found() {
        for text in [
            "use std::os::unix::fs::MetadataExt;",
            "use std::{fs, os::fd::AsRawFd};",
            "fn f() { let _ = unsafe { libc::getpid() }; }",
            "fn f() -> bool { Path::new(\"/proc/self\").exists() }",
            "#[cfg(windows)] fn f() { libc::x() }\n#[cfg(unix)] fn f() {}",
            "#[cfg(unix)] fn f() { os::windows::x() }\n#[cfg(windows)] fn f() {}",
        ] {
            let found = findings(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].contains("is below no `cfg`"), "{found:?}");
        }
    }

    #[test]
    fn item_without_a_twin_is_found() {
        for text in [
            "#[cfg(unix)]\nfn mode<A, B>(a: A) { use std::os::unix::fs::PermissionsExt; }",
            "fn f() { #[cfg(unix)] std::os::unix::fs::symlink(a, b); g(); }",
            "#[cfg(unix)] fn f() { libc::x() }\n#[cfg(not(unix))] fn g() {}",
            "#[cfg(target_os = \"linux\")] impl Pin { fn f() { std::os::fd::x() } }",
        ] {
            let found = findings(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].contains("has no twin"), "{found:?}");
        }
    }

    #[test]
    fn twins_tests_and_words_are_no_findings() {
        for text in [
            "#[cfg(unix)]\nfn f() { std::os::unix::x() }\n#[cfg(not(unix))]\nfn f() {}",
            "#[cfg(target_os = \"linux\")] impl Pin { fn f() { std::os::fd::x() } }\n\
             #[cfg(not(target_os = \"linux\"))] impl Pin { fn f() {} }",
            "#[cfg(windows)] fn f() { std::os::windows::x() }\n#[cfg(unix)] fn f() { libc::x() }",
            "fn f() { #[cfg(unix)] { libc::x() } #[cfg(not(unix))] { y() } }",
            "#[test] fn t() {}\n#[cfg(test)]\nmod tests { use std::os::unix::fs::symlink; }",
            "#[cfg(all(test, unix))] mod of_links { use std::os::unix::fs::symlink; }",
            "// std::os::unix\nfn f() -> &'static str { \"std::os::unix and libc::x\" }",
            "#![cfg(unix)]\nuse std::os::unix::fs::symlink;",
        ] {
            assert_eq!(findings(text), Vec::<String>::new(), "{text}");
        }
        let text = "use std::os::unix::fs::symlink;";
        assert_eq!(findings_in("crates/store/tests/suite/a.rs", text).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn this_checkout_has_no_findings() {
        let project = Project {
            root: std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned(),
            target: std::env::temp_dir(),
        };
        check(&project).unwrap();
    }
}
