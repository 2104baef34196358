//! Every command line that the book and the README print runs, and every link between pages leads somewhere.
//!
//! Each page runs from top to bottom in its own folder, with the files listed in `inputs.md`. The lines below
//! a command must be among those that it prints. A block marked ` ```console,no-run ` is not run and is
//! listed in `SKIPPED`.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

mod page;

use dissensus_tests::command::Bench;
use dissensus_tests::programs::checkout;
use dissensus_tests::transcript::split;
use page::{Command, Page, pages_below};
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Pages with blocks that are not run: how many blocks, and why.
const SKIPPED: &[(&str, usize, &str)] = &[
    ("docs/src/how-to/encoder.md", 1, "needs an encoder that is fetched on request"),
    ("docs/src/how-to/gpu.md", 1, "needs a graphics processor"),
    ("docs/src/how-to/import.md", 1, "reads files of the reader's own"),
    ("docs/src/how-to/install.md", 1, "needs a published release"),
    ("docs/src/how-to/privacy.md", 1, "asks for a passphrase"),
    ("docs/src/how-to/serve.md", 2, "a server runs until it is stopped"),
    ("docs/src/how-to/train.md", 3, "training an encoder takes minutes"),
];

/// Number of pages that run at the same time: half of the time they wait for the disk.
const AT_ONCE: usize = 4;

/// The pages of the book and the README.
fn pages() -> Vec<Page> {
    let mut paths = pages_below(&checkout().join("docs/src"));
    paths.push(checkout().join("README.md"));
    paths.iter().map(|path| Page::read(path)).collect()
}

#[test]
fn every_command_of_a_page_runs() {
    let waiting: Mutex<VecDeque<Page>> = Mutex::new(pages().into());
    let problems = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(page) = { waiting.lock().unwrap().pop_front() } {
                    if let Some(problem) = problem_of(&page) {
                        problems.lock().unwrap().push(problem);
                    }
                }
            });
        }
    });
    let mut problems = problems.into_inner().unwrap();
    problems.sort();
    assert!(problems.is_empty(), "{} pages do not run:\n\n{}", problems.len(), problems.join("\n\n"));
}

/// The first command of a page that fails, or that does not print what the page shows.
fn problem_of(page: &Page) -> Option<String> {
    let blocks = page.blocks.iter().filter(|block| !block.skipped);
    let commands: Vec<&Command> = blocks.flat_map(|block| &block.commands).collect();
    if commands.is_empty() {
        return None;
    }
    let bench = Bench::new();
    for input in inputs() {
        fs::copy(&input, bench.path(&input.file_name().unwrap().to_string_lossy())).unwrap();
    }
    commands
        .into_iter()
        .find_map(|command| problem_with(&bench, command))
        .map(|problem| format!("{}: {problem}", page.name))
}

fn problem_with(bench: &Bench, command: &Command) -> Option<String> {
    let (line, into) = match command.line.rsplit_once(" > ") {
        Some((line, file)) => (line, Some(file.trim())),
        None => (command.line.as_str(), None),
    };
    let outcome = bench.run(split(line));
    if outcome.code != Some(0) {
        return Some(format!("dissensus {line}\n{}", bench.without_paths(&outcome.err)));
    }
    if let Some(file) = into {
        bench.file(file, &outcome.out);
    }
    let mut printed = outcome.out.lines().chain(outcome.err.lines()).map(str::trim);
    let missing = command.printed.iter().find(|line| !printed.any(|printed| printed == line.as_str()))?;
    Some(format!(
        "dissensus {line}\ndoes not print the line (or not there)\n{missing}\nbut\n{}{}",
        outcome.out, outcome.err
    ))
}

/// The files available to every page, listed in `inputs.md`.
fn inputs() -> Vec<PathBuf> {
    let list = include_str!("inputs.md");
    let names = list.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    names.map(|name| checkout().join(name)).collect()
}

#[test]
fn skipped_blocks_are_listed() {
    let skipped = |page: &Page| page.blocks.iter().filter(|block| block.skipped).count();
    let found: BTreeMap<String, usize> = pages()
        .iter()
        .map(|page| (page.name.clone(), skipped(page)))
        .filter(|(_, count)| *count > 0)
        .collect();
    let listed: BTreeMap<String, usize> =
        SKIPPED.iter().map(|(page, count, _)| ((*page).to_owned(), *count)).collect();
    assert_eq!(found, listed);
}

#[test]
fn command_lines_are_in_executed_blocks() {
    let unmarked: Vec<_> = pages()
        .into_iter()
        .map(|page| (page.name, page.unmarked))
        .filter(|(_, lines)| !lines.is_empty())
        .collect();
    assert!(unmarked.is_empty(), "mark these blocks as console: {unmarked:?}");
}

#[test]
fn failing_and_changed_commands_are_found() {
    let bench = Bench::without_encoder();
    let command = |line: &str, printed: &[&str]| Command {
        line: line.to_owned(),
        printed: printed.iter().map(|line| (*line).to_owned()).collect(),
    };
    assert_eq!(problem_with(&bench, &command("project new a.dissensus", &["Made a.dissensus"])), None);
    let other = problem_with(&bench, &command("project new b.dissensus", &["Made a.dissensus"]));
    assert!(other.unwrap().contains("does not print the line"));
    let failed = problem_with(&bench, &command("project new b.dissensus", &[]));
    assert!(failed.unwrap().contains("exists already"));
    assert_eq!(problem_with(&bench, &command("project info a.dissensus --json > info.json", &[])), None);
    assert!(fs::read_to_string(bench.path("info.json")).unwrap().starts_with('{'));
}

#[test]
fn pages_are_listed_and_links_resolve() {
    let source = checkout().join("docs/src");
    let generated = tempfile::tempdir().unwrap();
    let reference = generated.path().join("reference");
    Bench::without_encoder().ok(["reference".as_ref(), reference.as_os_str()]);
    let mut all: BTreeMap<PathBuf, Page> = BTreeMap::new();
    for (root, path) in [&source, &generated.path().to_owned()]
        .into_iter()
        .flat_map(|root| pages_below(root).into_iter().map(move |path| (root.clone(), path)))
    {
        all.insert(path.strip_prefix(root).unwrap().to_owned(), Page::read(&path));
    }
    let contents = Page::read(&source.join("SUMMARY.md"));
    let mut problems = Vec::new();
    for path in all.keys().filter(|path| source.join(path).is_file()) {
        if !contents.links.iter().any(|link| Path::new(link) == path) {
            problems.push(format!("{} is not in SUMMARY.md", path.display()));
        }
    }
    let within =
        all.iter().map(|(path, page)| (path.as_path(), page)).chain([(Path::new("SUMMARY.md"), &contents)]);
    for (path, page) in within {
        for link in page.links.iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if target.is_empty() { path.to_owned() } else { joined(path, target) };
            let leads = match all.get(&target) {
                Some(page) => anchor.is_empty() || page.anchors.contains(anchor),
                None => source.join(&target).is_file(),
            };
            if !leads {
                problems.push(format!("{}: {link}", path.display()));
            }
        }
    }
    let readme = Page::read(&checkout().join("README.md"));
    for link in readme.links.iter().filter(|link| !link.contains("://") && !link.starts_with('#')) {
        let target = link.split('#').next().unwrap_or_default();
        if !checkout().join(target).exists() {
            problems.push(format!("README.md: {link}"));
        }
    }
    assert!(problems.is_empty(), "links that lead nowhere:\n{}", problems.join("\n"));
}

/// Where a link of the page at `from` leads.
fn joined(from: &Path, link: &str) -> PathBuf {
    let mut path = from.parent().unwrap_or(Path::new("")).to_owned();
    for part in link.split('/') {
        match part {
            ".." => {
                path.pop();
            }
            "." => {}
            part => path.push(part),
        }
    }
    path
}
