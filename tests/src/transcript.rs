//! Runs a script of commands and records what each printed, for a snapshot.
//!
//! A line is a command without the program's name, split into words as in a shell; `#` begins a comment,
//! which is copied. Lines that begin with `@` work on files of the test's folder:
//! `@show FILE` and `@head N FILE` copy its first lines, `@sorted FILE` all except the first in sorted order
//! (pseudonyms are random), `@labels PROJECT` all labels, `@list FOLDER` names of files; `@flip FILE` and
//! `@cut FILE` damage a file.

use crate::command::Bench;
use crate::redact::{Figures, redacted};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// How many lines `@show` copies.
const SHOWN: usize = 30;
/// How many characters of a line it copies.
const WIDTH: usize = 400;

/// The folder of one script, and what its commands printed so far.
pub struct Transcript {
    bench: Bench,
    figures: Figures,
    text: String,
}

impl Transcript {
    /// An empty one.
    pub fn new(bench: Bench, figures: Figures) -> Self {
        Self { bench, figures, text: String::new() }
    }

    /// Runs every line of `script`.
    ///
    /// # Panics
    /// A line cannot be read, or a file that an `@` line names.
    pub fn run(&mut self, script: &str) {
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            if line.starts_with('#') {
                self.put(line);
                continue;
            }
            let words = split(line);
            if let Some(verb) = words[0].strip_prefix('@') {
                self.put(line);
                self.work(verb, &words[1..]);
            } else {
                self.put(&format!("$ dissensus {line}"));
                self.command(&words);
            }
        }
    }

    /// Runs every line of `script` without writing anything down: what a case begins with. Each must succeed.
    ///
    /// # Panics
    /// A command fails.
    pub fn prepare(&mut self, script: &str) {
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            self.bench.ok(split(line));
        }
    }

    /// The output so far, redacted.
    pub fn finish(self) -> String {
        self.text
    }

    fn command(&mut self, words: &[String]) {
        let outcome = self.bench.run(words);
        let out = self.redacted(&outcome.out);
        self.put(&out);
        for line in self.redacted(&outcome.err).lines() {
            self.put(&format!("! {line}"));
        }
        if outcome.code != Some(0) {
            match outcome.code {
                Some(code) => self.put(&format!("[exit code {code}]")),
                None => self.put("[ended by a signal]"),
            }
        }
    }

    fn work(&mut self, verb: &str, words: &[String]) {
        let file = |at: usize| self.bench.path(&words[at]);
        let done = match verb {
            "show" => fs::read(file(0)).map(|bytes| self.put_file(&bytes, SHOWN)),
            "head" => {
                let lines = words[0].parse().unwrap_or(SHOWN);
                fs::read(file(1)).map(|bytes| self.put_file(&bytes, lines))
            }
            "sorted" => fs::read_to_string(file(0)).map(|text| {
                let text = self.redacted(&text);
                let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
                let mut rows: Vec<&str> = rest.lines().collect();
                rows.sort_unstable();
                self.put_file(format!("{first}\n{}", rows.join("\n")).as_bytes(), SHOWN);
            }),
            "labels" => {
                self.put_labels(&words[0]);
                Ok(())
            }
            "flip" => fs::read(file(0)).and_then(|mut bytes| {
                if let Some(last) = bytes.last_mut() {
                    *last ^= 1;
                }
                fs::write(file(0), bytes)
            }),
            "cut" => fs::read(file(0)).and_then(|bytes| fs::write(file(0), &bytes[..bytes.len() / 2])),
            "list" => listed(&file(0)).map(|names| {
                let names = self.redacted(&names.join("\n"));
                self.put(&names);
            }),
            verb => panic!("there is no @{verb}"),
        };
        if let Err(error) = done {
            panic!("@{verb} {words:?}: {error}");
        }
    }

    /// The first lines of a file, and the number and the SHA-256 of all of them, redacted.
    fn put_file(&mut self, bytes: &[u8], lines: usize) {
        let text = self.redacted(&String::from_utf8_lossy(bytes));
        let count = text.lines().count();
        for line in text.lines().take(lines) {
            match line.char_indices().nth(WIDTH) {
                Some((end, _)) => self.put(&format!("{}…", &line[..end])),
                None => self.put(line),
            }
        }
        if count > lines || text.lines().any(|line| line.chars().count() > WIDTH) {
            let sum = Sha256::digest(text.as_bytes());
            let sum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
            self.put(&format!("[{count} lines, SHA-256 {sum}]"));
        }
    }

    /// Every label of a project as an export has it, without the columns that texts and people bring along.
    fn put_labels(&mut self, project: &str) {
        let table = self.bench.path("labels-of-project.csv");
        let path = table.to_string_lossy().into_owned();
        self.bench.ok(split(&format!("data export {project} {path} --force")));
        let mut reader = match csv::Reader::from_path(&table) {
            Ok(reader) => reader,
            Err(error) => panic!("{path}: {error}"),
        };
        let wanted =
            ["text_id", "annotator_id", "question", "label", "occasion", "note", "reasons", "confidence"];
        let header = reader.headers().cloned().unwrap_or_default();
        let columns: Vec<usize> =
            wanted.iter().filter_map(|name| header.iter().position(|column| column == *name)).collect();
        let row = |record: &csv::StringRecord| {
            columns
                .iter()
                .map(|column| record.get(*column).unwrap_or_default())
                .collect::<Vec<_>>()
                .join(" | ")
        };
        let mut text = row(&header);
        for record in reader.records().flatten() {
            let _ = write!(text, "\n{}", row(&record));
        }
        let text = self.redacted(&text);
        self.put(&text);
        if let Err(error) = fs::remove_file(&table) {
            panic!("{path}: {error}");
        }
    }

    fn redacted(&self, text: &str) -> String {
        let folders = [(self.bench.folder(), "[FOLDER]"), (self.bench.models(), "[MODELS]")];
        redacted(text, &folders, self.figures)
    }

    fn put(&mut self, text: &str) {
        for line in text.trim_end().lines() {
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
    }
}

/// Files below a folder by their paths in it, in order.
fn listed(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            names.extend(listed(&entry.path())?.into_iter().map(|below| format!("{name}/{below}")));
        } else {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Splits a line into words as a shell does: quotes of both kinds preserve spaces and are removed.
///
/// # Panics
/// A quote is not closed.
pub fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quote, mut begun) = (String::new(), None, false);
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.push(c),
            None if c == '"' || c == '\'' => (quote, begun) = (Some(c), true),
            None if c.is_whitespace() => {
                if begun {
                    words.push(std::mem::take(&mut word));
                    begun = false;
                }
            }
            None => {
                word.push(c);
                begun = true;
            }
        }
    }
    assert!(quote.is_none(), "a quote is not closed: {line}");
    if begun {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_spaces() {
        assert_eq!(split(r#"a "b c" --x='d e' """#), ["a", "b c", "--x=d e", ""]);
    }
}
