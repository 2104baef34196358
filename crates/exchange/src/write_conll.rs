//! Writing answers that are spans as CoNLL: one word a line with a tag, and all else in comments.

use crate::cells::Cells;
use crate::conll::{self, Layout};
use crate::time::format_ms;
use crate::write::Extras;
use crate::write_labels::LabelRow;
use crate::{ColumnRoles, ExchangeError};
use dissensus_domain::{LabelSource, NamedSpan, list_of_spans, spans_named};
use dissensus_files::AtomicFile;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use unicode_segmentation::UnicodeSegmentation as _;

/// Comments of a block in order; those without a value are left out.
const KEYS: [&str; 9] = [
    "text_id",
    "annotator_id",
    "question",
    "split",
    "group",
    "created_at",
    "duration_ms",
    "source",
    "occasion",
];
/// All metadata of a text as one JSON object, which reads back as keys.
const METADATA: &str = "metadata";

/// Writes answers, one block of lines each: comments for what [`LabelWriter`](crate::LabelWriter) writes to
/// columns and `# text = ...`, then a line for every word with its tag in IOB2 after a tab. Words are those
/// of Unicode text segmentation (UAX 29) and the characters between them, divided where a span begins or ends
/// inside one, so that offsets are restored exactly. What does not fit on a line is a JSON string after
/// `KEY:json`.
///
/// The file appears at the path only with [`ConllWriter::finish`].
#[derive(Debug)]
pub struct ConllWriter {
    file: AtomicFile,
    occasions: bool,
    attributes: Extras,
    layout: Layout,
}

impl ConllWriter {
    /// Begins the file. `attributes` are those of annotators that are written.
    ///
    /// # Errors
    /// The folder is missing or cannot be written, or an attribute has a name that is impossible in a
    /// comment.
    pub fn create<A: Into<String>>(
        path: &Path,
        occasions: bool,
        attributes: impl IntoIterator<Item = A>,
    ) -> Result<Self, ExchangeError> {
        let mut taken: HashSet<String> = KEYS.map(str::to_owned).into();
        taken.extend([METADATA, conll::TEXT, conll::LABEL, conll::COLUMNS].map(str::to_owned));
        let attributes = Extras::new(attributes, "attribute", &mut taken);
        let cannot =
            |name: &&String| name.contains(" =") || name.ends_with(conll::JSON) || name.contains('\t');
        if let Some(name) = attributes.columns.iter().find(cannot) {
            return Err(ExchangeError::NoComment { path: path.to_owned(), name: name.clone() });
        }
        let mut file = AtomicFile::create(path).map_err(|e| ExchangeError::writing(path, e))?;
        let first = format!("# {} = FORM {}\n", conll::COLUMNS, conll::LABEL.to_uppercase());
        file.write_all(first.as_bytes()).map_err(|e| ExchangeError::writing(path, e))?;
        let layout = Layout { label: conll::LABEL.to_owned(), ..Layout::default() };
        Ok(Self { file, occasions, attributes, layout })
    }

    /// The roles under which the file reads back exactly.
    pub fn roles(&self) -> ColumnRoles {
        let name = |key: &str| Some(key.to_owned());
        ColumnRoles {
            text_id: name("text_id"),
            text: name(conll::TEXT),
            annotator: name("annotator_id"),
            label: name(conll::LABEL),
            attributes: self.attributes.columns.clone(),
            ..ColumnRoles::default()
        }
    }

    /// Adds an answer; returns false if it cannot be represented: spans overlap, or begin or end with white
    /// space, which has no line.
    pub fn write(&mut self, row: &LabelRow<'_>) -> Result<bool, ExchangeError> {
        let spans = row.label.and_then(|list| spans_named(list).ok()).unwrap_or_default();
        let mut block = self.comments(row);
        comment(&mut block, conll::TEXT, row.text);
        for (word, tag) in tagged(row.text, &spans) {
            // Writing to a string cannot fail.
            let _ = writeln!(block, "{word}\t{tag}");
        }
        if !self.reads_back(&block, row.text, &list_of_spans(&spans)) {
            return Ok(false);
        }
        block.push('\n');
        let written = self.file.write_all(block.as_bytes());
        written.map(|()| true).map_err(|e| ExchangeError::writing(self.file.target(), e))
    }

    fn comments(&self, row: &LabelRow<'_>) -> String {
        let mut block = String::new();
        let at = row.at_ms.map(format_ms);
        let duration = row.duration_ms.map(|ms| ms.to_string());
        let occasion = self.occasions.then(|| row.occasion.to_string());
        let metadata = (!row.metadata.is_empty()).then(|| serde_json::to_string(row.metadata).ok()).flatten();
        let values = [
            Some(row.text_id),
            Some(row.annotator),
            row.question,
            row.split,
            row.group,
            at.as_deref(),
            duration.as_deref(),
            row.source.map(LabelSource::name),
            occasion.as_deref(),
        ];
        let mut attributes = Vec::new();
        self.attributes.push(row.attributes, &mut attributes);
        let attributes = self.attributes.columns.iter().map(String::as_str).zip(attributes);
        let all = KEYS.into_iter().zip(values).chain(attributes).chain([(METADATA, metadata.as_deref())]);
        for (key, value) in all {
            if let Some(value) = value {
                comment(&mut block, key, value);
            }
        }
        block
    }

    fn reads_back(&self, block: &str, text: &str, list: &str) -> bool {
        let columns = HashMap::from([(conll::TEXT.to_owned(), 0), (conll::LABEL.to_owned(), 1)]);
        let mut cells = Cells::default();
        let read = conll::fill(block, 1, &self.layout, &columns, &mut cells);
        read == Ok(conll::Block::Row) && cells.get(0) == text && cells.get(1) == list
    }

    /// Flushes the file to disk and moves it to its path.
    ///
    /// # Errors
    /// The disk is full or refuses; an existing file at the path is then unchanged.
    pub fn finish(self) -> Result<(), ExchangeError> {
        let target = self.file.target().to_owned();
        self.file.finish().map_err(|e| ExchangeError::writing(&target, e))
    }
}

fn comment(block: &mut String, key: &str, value: &str) {
    let plain = value.trim() == value && !value.chars().any(char::is_control);
    let json = if plain { None } else { serde_json::to_string(value).ok() };
    let _ = match json {
        Some(json) => writeln!(block, "# {key}{} = {json}", conll::JSON),
        None => writeln!(block, "# {key} = {value}"),
    };
}

/// The words of a text with their tags.
fn tagged(text: &str, spans: &[NamedSpan]) -> Vec<(String, String)> {
    let edges: HashSet<u32> = spans.iter().flat_map(|span| [span.start, span.end]).collect();
    let mut tagged = Vec::new();
    let mut at = 0;
    let mut begun = None;
    for segment in text.split_word_bounds() {
        let mut word = String::new();
        for character in segment.chars() {
            if edges.contains(&at) || character.is_whitespace() {
                end_word(&mut word, at, spans, &mut begun, &mut tagged);
            }
            if !character.is_whitespace() {
                word.push(character);
            }
            at += 1;
        }
        end_word(&mut word, at, spans, &mut begun, &mut tagged);
    }
    tagged
}

/// Ends the word before the character at `end`, where there is one. `begun` is the span that the previous
/// word was in.
fn end_word(
    word: &mut String,
    end: u32,
    spans: &[NamedSpan],
    begun: &mut Option<usize>,
    tagged: &mut Vec<(String, String)>,
) {
    if word.is_empty() {
        return;
    }
    let inside = spans.iter().position(|span| span.start < end && end <= span.end);
    let tag = match inside {
        None => "O".to_owned(),
        Some(span) if *begun == inside => format!("I-{}", spans[span].label),
        Some(span) => format!("B-{}", spans[span].label),
    };
    *begun = inside;
    tagged.push((std::mem::take(word), tag));
}
