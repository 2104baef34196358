//! Writes a dataset for the Hugging Face hub and the library `datasets`: a folder with a Parquet file for
//! each part of the official split, and a card (README.md) that describes its contents.
//! <https://huggingface.co/docs/hub/datasets-cards>

use crate::output_format::OutputFormat;
use crate::write_labels::{LabelLayout, LabelRow, LabelWriter};
use crate::{ColumnRoles, ExchangeError};
use dissensus_domain::Scale;
use dissensus_files::AtomicFolder;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The part of texts that are in no official split.
const WITHOUT_SPLIT: &str = "train";
/// Names of the files in the folder.
const DATA: &str = "data";
const CARD: &str = "README.md";
const FILE_END: &str = "-00000-of-00001.parquet";

/// A question as the card describes it, in addition to counts.
#[derive(Clone, Debug)]
pub struct DatasetQuestion {
    pub name: String,
    /// The sentence that annotators read.
    pub prompt: String,
    pub scale: Scale,
}

/// A dataset being written. The folder appears at the path only with [`DatasetWriter::finish`].
#[derive(Debug)]
pub struct DatasetWriter {
    target: PathBuf,
    folder: AtomicFolder,
    layout: LabelLayout,
    attributes: Vec<String>,
    metadata: Vec<String>,
    parts: BTreeMap<String, Part>,
    /// Scales that labels do not imply, by question: each file has them, as each can be read alone.
    scales: Vec<(String, Scale)>,
    texts: HashSet<String>,
    people: HashSet<String>,
    /// Rows without a label.
    unanswered: u64,
    replace: bool,
}

#[derive(Debug)]
struct Part {
    writer: LabelWriter,
    rows: u64,
}

impl DatasetWriter {
    /// Begins a folder; with `replace` it will replace an existing one. `attributes` and `metadata` are the
    /// keys that get a column.
    ///
    /// # Errors
    /// The parent folder is missing or cannot be written, or `replace` would delete something other than an
    /// unedited dataset folder.
    pub fn create(
        path: &Path,
        replace: bool,
        layout: LabelLayout,
        attributes: impl IntoIterator<Item = String>,
        metadata: impl IntoIterator<Item = String>,
    ) -> Result<Self, ExchangeError> {
        let writing = |e| ExchangeError::writing(path, e);
        if replace && path.exists() && !holds_a_dataset_alone(path) {
            let why = "it holds other things than a dataset as it was written, or somebody has filled in its card, and is not replaced: name another folder";
            return Err(ExchangeError::Package { path: path.to_owned(), why: why.to_owned() });
        }
        let folder = AtomicFolder::create(path).map_err(writing)?;
        std::fs::create_dir(folder.path().join(DATA)).map_err(writing)?;
        Ok(Self {
            target: path.to_owned(),
            folder,
            layout,
            attributes: attributes.into_iter().collect(),
            metadata: metadata.into_iter().collect(),
            parts: BTreeMap::new(),
            scales: Vec::new(),
            texts: HashSet::new(),
            people: HashSet::new(),
            unanswered: 0,
            replace,
        })
    }

    /// Writes the scales of these questions, each with its first row in a part.
    #[must_use]
    pub fn with_scales<'a>(mut self, questions: impl IntoIterator<Item = (&'a str, &'a Scale)>) -> Self {
        self.scales = questions.into_iter().map(|(name, scale)| (name.to_owned(), scale.clone())).collect();
        self
    }

    /// Adds a label to the part of its text.
    ///
    /// # Errors
    /// The disk is full or refuses, or two parts of the split would have one name.
    pub fn write(&mut self, row: &LabelRow<'_>) -> Result<(), ExchangeError> {
        let name = part_name(row.split);
        if !self.parts.contains_key(&name) {
            let file = self.folder.path().join(file_of(&name));
            let (attributes, metadata) = (self.attributes.iter(), self.metadata.iter());
            let writer =
                LabelWriter::create(&file, OutputFormat::Parquet, self.layout, attributes, metadata)?
                    .with_scales(self.scales.iter().map(|(name, scale)| (name.as_str(), scale)));
            self.parts.insert(name.clone(), Part { writer, rows: 0 });
        }
        if let Some(part) = self.parts.get_mut(&name) {
            part.writer.write(row)?;
            part.rows += 1;
        }
        self.unanswered += u64::from(row.label.is_none());
        self.texts.insert(row.text_id.to_owned());
        self.people.insert(row.annotator.to_owned());
        Ok(())
    }

    /// The roles under which the files read back exactly; `None` if no rows were written.
    pub fn roles(&self) -> Option<ColumnRoles> {
        self.parts.values().next().map(|part| part.writer.roles())
    }

    /// Writes the card and moves the folder to its path.
    ///
    /// # Errors
    /// No rows were written, the disk is full or refuses, or the path exists by now.
    pub fn finish(mut self, title: &str, questions: &[DatasetQuestion]) -> Result<(), ExchangeError> {
        let target = self.target.clone();
        if self.parts.is_empty() {
            return Err(ExchangeError::NothingToWrite { path: target, format: "Hugging Face dataset" });
        }
        let card = self.card(title, questions);
        for part in std::mem::take(&mut self.parts).into_values() {
            part.writer.finish()?;
        }
        let writing = |e| ExchangeError::writing(&target, e);
        std::fs::write(self.folder.path().join(CARD), card).map_err(writing)?;
        let finished = if self.replace { self.folder.finish() } else { self.folder.finish_new() };
        finished.map_err(writing)
    }

    fn card(&self, title: &str, questions: &[DatasetQuestion]) -> String {
        let rows: u64 = self.parts.values().map(|part| part.rows).sum();
        let mut card = String::from("---\nconfigs:\n- config_name: default\n  data_files:\n");
        for name in self.parts.keys() {
            // Writing to a string never fails.
            let _ = writeln!(card, "  - split: {name}\n    path: {}", file_of(name));
        }
        let _ = writeln!(card, "size_categories:\n- {}", size_category(rows));
        card.push_str("task_categories:\n- text-classification\ntags:\n- perspectivism\n- annotator-disagreement\n---\n\n");
        let _ = writeln!(card, "# {}\n", one_line(title));
        let without = match self.unanswered {
            0 => String::new(),
            n => format!(
                " {n} of the rows have no label: a person skipped or flagged the text (column `marks`), or wrote a note, and did not answer."
            ),
        };
        let _ = writeln!(
            card,
            "Labels that were not brought together: each row is one answer of one person to one text.{without}\n\n| | |\n| --- | --- |\n| rows | {rows} |\n| texts | {} |\n| people | {} |",
            self.texts.len(),
            self.people.len()
        );
        for (name, part) in &self.parts {
            let _ = writeln!(card, "| rows of `{name}` | {} |", part.rows);
        }
        card.push_str("\n## Questions\n\n");
        for question in questions {
            let levels: Vec<String> =
                question.scale.levels().iter().map(|level| format!("`{}`", one_line(level))).collect();
            let (name, kind) = (one_line(&question.name), question.scale.kind().name());
            let _ = writeln!(card, "- **{name}** ({kind}): {}", one_line(&question.prompt));
            let _ = writeln!(card, "  - {}", levels.join(", "));
        }
        card.push_str(OPEN);
        card
    }
}

/// Whether a folder has only an unedited dataset, so that nothing would be lost: no other file, and a card
/// that was not filled in.
fn holds_a_dataset_alone(folder: &Path) -> bool {
    let names = |place: &Path| -> Option<Vec<String>> {
        let entries = std::fs::read_dir(place).ok()?;
        entries.map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned())).collect()
    };
    let ours = |found: Vec<String>| found.iter().all(|name| [CARD, DATA].contains(&name.as_str()));
    let written = |found: Vec<String>| !found.is_empty() && found.iter().all(|name| name.ends_with(FILE_END));
    let untouched = std::fs::read_to_string(folder.join(CARD)).is_ok_and(|card| card.ends_with(OPEN));
    untouched && names(folder).is_some_and(ours) && names(&folder.join(DATA)).is_some_and(written)
}

/// Placeholders in the card for what only the authors of the dataset know.
const OPEN: &str = "\n## To be filled in by the authors\n\n- Licence, and the licence of the texts:\n- Languages and varieties of the texts:\n- Who the annotators are, how they were recruited and paid:\n- What they were told (guideline):\n- Whom the texts or labels could harm, and what the data should not be used for:\n\nWritten by Dissensus. The library `datasets` reads it: `datasets.load_dataset(\"path/of/this/folder\")`.\n";

fn file_of(part: &str) -> String {
    format!("{DATA}/{part}{FILE_END}")
}

/// Converts a part of the split to a name that the library `datasets` accepts: letters, digits and
/// underlines; the usual names for the usual parts.
fn part_name(split: Option<&str>) -> String {
    let Some(split) = split else { return WITHOUT_SPLIT.to_owned() };
    let name: String =
        split.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    match name.as_str() {
        "dev" | "val" | "valid" | "development" => "validation".to_owned(),
        "" => WITHOUT_SPLIT.to_owned(),
        _ => name,
    }
}

/// Returns the size category in the notation of the hub.
fn size_category(rows: u64) -> &'static str {
    match rows {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        1_000_000..10_000_000 => "1M<n<10M",
        _ => "n>10M",
    }
}

/// Returns text from users on one line and without Markdown.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    for c in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|') {
            line.push('\\');
        }
        line.push(c);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_names_are_valid_for_the_library() {
        let names =
            [Some("Dev"), Some("test"), Some("train set/2"), Some("ü"), Some(""), None].map(part_name);
        assert_eq!(names, ["validation", "test", "train_set_2", "_", "train", "train"]);
    }

    #[test]
    fn written_text_is_escaped_on_one_line() {
        assert_eq!(one_line("# a\n\n| <b> `x`"), "\\# a \\| \\<b\\> \\`x\\`");
    }
}
