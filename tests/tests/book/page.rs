//! A page of the book, parsed from Markdown: blocks of commands, links and headings.

use dissensus_tests::programs::checkout;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A page.
pub(crate) struct Page {
    /// Its path in the checkout.
    pub(crate) name: String,
    /// Blocks with commands, in order.
    pub(crate) blocks: Vec<Block>,
    /// Command lines in blocks with another mark, which would not be run.
    pub(crate) unmarked: Vec<String>,
    /// Targets of links and pictures.
    pub(crate) links: Vec<String>,
    /// Anchors of its headings.
    pub(crate) anchors: BTreeSet<String>,
}

/// A fenced block that is marked `console` or `sh`.
pub(crate) struct Block {
    /// True if it is also marked `no-run`.
    pub(crate) skipped: bool,
    /// Its commands, in order.
    pub(crate) commands: Vec<Command>,
}

/// A command line without `dissensus`, and the lines shown below it as its output.
pub(crate) struct Command {
    pub(crate) line: String,
    pub(crate) printed: Vec<String>,
}

impl Page {
    /// Reads the page of this path.
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = path.strip_prefix(checkout()).unwrap_or(path).to_string_lossy().replace('\\', "/");
        let mut page = Self {
            name,
            blocks: Vec::new(),
            unmarked: Vec::new(),
            links: Vec::new(),
            anchors: BTreeSet::new(),
        };
        let (mut heading, mut block): (Option<String>, Option<(bool, String)>) = (None, None);
        let mut in_code = false;
        for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    page.anchors.extend(heading.take().map(|words| anchor(&words)));
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.into_string());
                }
                Event::Start(Tag::CodeBlock(kind)) => {
                    in_code = true;
                    let CodeBlockKind::Fenced(marks) = kind else { continue };
                    let marks: Vec<&str> = marks.split(',').map(str::trim).collect();
                    if ["console", "sh"].contains(&marks[0]) {
                        block = Some((marks.contains(&"no-run"), String::new()));
                    }
                }
                Event::End(TagEnd::CodeBlock) => {
                    in_code = false;
                    page.blocks.extend(
                        block.take().map(|(skipped, text)| Block { skipped, commands: commands(&text) }),
                    );
                }
                Event::Text(words) => {
                    if let Some((_, text)) = &mut block {
                        text.push_str(&words);
                    } else if in_code {
                        let lines = words.lines().filter(|line| line.starts_with("$ dissensus "));
                        page.unmarked.extend(lines.map(str::to_owned));
                    } else if let Some(heading) = &mut heading {
                        heading.push_str(&words);
                    }
                }
                Event::Code(words) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&words);
                    }
                }
                _ => {}
            }
        }
        page
    }
}

/// Every Markdown file below `folder`, but the table of contents.
pub(crate) fn pages_below(folder: &Path) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages.extend(pages_below(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") && !path.ends_with("SUMMARY.md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages
}

/// Lines that begin with `dissensus` or `$ dissensus`; a line that ends in `\` continues in the next.
fn commands(text: &str) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    let text = text.replace("\\\n", " ");
    let mut of_ours = false;
    for line in text.lines() {
        let typed = line.strip_prefix("$ ");
        if let Some(line) = typed.unwrap_or(line).strip_prefix("dissensus ") {
            commands.push(Command { line: line.to_owned(), printed: Vec::new() });
            of_ours = true;
        } else if typed.is_some() {
            of_ours = false;
        } else if of_ours && let Some(command) = commands.last_mut() {
            let printed = line.trim();
            if !printed.is_empty() && !["...", "…"].contains(&printed) && !printed.starts_with('#') {
                command.printed.push(printed.to_owned());
            }
        }
    }
    commands
}

/// The anchor that mdBook and GitHub give to a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn commands_are_separated_from_output() {
    let text = "$ dissensus info P \\\n  --json\n{}\n$ ls\nP\ndissensus new Q\n";
    let found = commands(text);
    let lines: Vec<&str> = found.iter().map(|command| command.line.as_str()).collect();
    assert_eq!(lines, ["info P    --json", "new Q"]);
    assert_eq!(found[0].printed, ["{}"]);
    assert!(found[1].printed.is_empty());
}
