//! Writing texts, annotators and labels so that they can be read again.

use crate::table::Table;
use crate::time::format_ms;
use crate::{ColumnRoles, ExchangeError, Format};
use dissensus_domain::{Attributes, LabelSource};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// Columns of a label file that are always there, in order.
const LABEL_COLUMNS: [&str; 10] = [
    "text_id",
    "text",
    "annotator_id",
    "label",
    "question",
    "split",
    "group",
    "created_at",
    "duration_ms",
    "source",
];

/// Place of the label among them.
const LABEL: usize = 3;

/// The column that tells on which occasion an answer was given, in files of projects that have answers of later ones.
const OCCASION_COLUMN: &str = "occasion";

/// More different keys of metadata than this, and a CSV or TSV file gets one column for all of them.
pub const MAX_METADATA_COLUMNS: usize = 256;

/// The column that holds all metadata of a text as one JSON object, where there are too many keys for a column each.
pub(crate) const METADATA_COLUMN: &str = "metadata";

/// One label to write, with its text and its annotator.
#[derive(Clone, Copy, Debug)]
pub struct LabelRow<'a> {
    /// The id of the text.
    pub text_id: &'a str,
    /// Its body.
    pub text: &'a str,
    /// The id of the annotator.
    pub annotator: &'a str,
    /// The name of the level; `None` writes an empty cell: text and annotator without a label.
    pub label: Option<&'a str>,
    /// The label is a list of spans, which stands in JSON Lines as a list.
    pub spans: bool,
    /// The name of the question.
    pub question: Option<&'a str>,
    /// The part of an official split.
    pub split: Option<&'a str>,
    /// The document or thread.
    pub group: Option<&'a str>,
    /// When the label was given, in milliseconds since 1970-01-01 UTC.
    pub at_ms: Option<i64>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u32>,
    /// Where the label came from.
    pub source: Option<LabelSource>,
    /// On which occasion this person answered this text; written only where the file has repeats.
    pub occasion: u16,
    /// Attributes of the annotator. Only those named when the writer was made are written.
    pub attributes: &'a Attributes,
    /// Metadata of the text. Only keys named when the writer was made are written.
    pub metadata: &'a BTreeMap<String, String>,
}

/// Writes labels in long form, one row a label. Nothing is seen at the path before [`LabelWriter::finish`]; dropped
/// or failed before that, nothing changes there.
///
/// Columns: `text_id, text, annotator_id, label, question, split, group, created_at` (RFC 3339, UTC, milliseconds),
/// `duration_ms, source`, then attributes, then metadata. An attribute or a metadata key whose name is taken already
/// gets `attribute_` or `metadata_` before it. With more than [`MAX_METADATA_COLUMNS`] keys a CSV or TSV file has one column
/// `metadata` with a JSON object of those that the text has, which reads back as keys. JSON Lines has the keys of metadata
/// that a text has, and no others.
///
/// Values are written as they are: a text that begins with `=`, `+`, `-` or `@` is run as a formula by a spreadsheet
/// that opens the CSV file. Open exports of untrusted texts as text columns, or use JSON Lines.
#[derive(Debug)]
pub struct LabelWriter {
    table: Table,
    /// Whether the file tells occasions.
    occasions: bool,
    attributes: Extras,
    metadata: Metadata,
}

/// Where the metadata of a text goes.
#[derive(Debug)]
enum Metadata {
    /// A column for each key.
    Columns(Extras),
    /// One column for all.
    Object,
    /// A key for each that the text has; the name in the file by the name in the project.
    Keys(HashMap<String, String>),
}

impl Metadata {
    fn new<S: Into<String>>(
        format: Format,
        keys: impl IntoIterator<Item = S>,
        taken: &mut HashSet<String>,
    ) -> Self {
        taken.insert(METADATA_COLUMN.to_owned());
        let keys: Vec<String> = keys.into_iter().map(Into::into).collect();
        if format == Format::Jsonl {
            let named = |key: String| {
                let column = free_name(&key, "metadata", taken);
                (key, column)
            };
            return Self::Keys(keys.into_iter().map(named).collect());
        }
        match keys.len() {
            ..=MAX_METADATA_COLUMNS => Self::Columns(Extras::new(keys, "metadata", taken)),
            _ => Self::Object,
        }
    }

    fn columns(&self) -> Vec<String> {
        match self {
            Self::Columns(extras) => extras.columns.clone(),
            Self::Object => vec![METADATA_COLUMN.to_owned()],
            Self::Keys(_) => Vec::new(),
        }
    }

    /// Writes a row: `values` are those of the columns before these.
    fn write<'a>(
        &'a self,
        table: &mut Table,
        mut values: Vec<Option<&'a str>>,
        metadata: &'a BTreeMap<String, String>,
        json: Option<usize>,
    ) -> Result<(), ExchangeError> {
        match self {
            Self::Columns(extras) => {
                extras.push(metadata, &mut values);
                table.write_with_json(&values, &[], json)
            }
            Self::Object => {
                let object = match metadata.is_empty() {
                    true => None,
                    // A map of strings always has a JSON form.
                    false => serde_json::to_string(metadata).ok(),
                };
                let mut values: Vec<Option<&str>> = values;
                values.push(object.as_deref());
                table.write_with_json(&values, &[], json)
            }
            Self::Keys(names) => {
                let named =
                    |(key, value): (&'a String, &'a String)| Some((names.get(key)?.as_str(), value.as_str()));
                let pairs: Vec<(&str, &str)> = metadata.iter().filter_map(named).collect();
                table.write_with_json(&values, &pairs, json)
            }
        }
    }
}

/// Free columns: the key of a value and the name of its column.
#[derive(Debug)]
struct Extras {
    keys: Vec<String>,
    columns: Vec<String>,
}

impl Extras {
    fn new<S: Into<String>>(
        keys: impl IntoIterator<Item = S>,
        prefix: &str,
        taken: &mut HashSet<String>,
    ) -> Self {
        let keys: Vec<String> = keys.into_iter().map(Into::into).collect();
        let columns = keys.iter().map(|key| free_name(key, prefix, taken)).collect();
        Self { keys, columns }
    }

    fn push<'a>(&self, from: &'a BTreeMap<String, String>, values: &mut Vec<Option<&'a str>>) {
        values.extend(self.keys.iter().map(|key| from.get(key).map(String::as_str)));
    }
}

/// `name` as a column reader would give it back, made different from those taken.
fn free_name(name: &str, prefix: &str, taken: &mut HashSet<String>) -> String {
    let mut column = name.trim().to_owned();
    while column.is_empty() || taken.contains(&column) {
        column = format!("{prefix}_{column}");
    }
    taken.insert(column.clone());
    column
}

impl LabelWriter {
    /// Begins the file. `attributes` and `metadata` are the keys that get a column.
    ///
    /// # Errors
    /// The folder is missing or refuses.
    pub fn create<A: Into<String>, M: Into<String>>(
        path: &Path,
        format: Format,
        attributes: impl IntoIterator<Item = A>,
        metadata: impl IntoIterator<Item = M>,
    ) -> Result<Self, ExchangeError> {
        Self::create_with(path, format, attributes, metadata, false)
    }

    /// As [`LabelWriter::create`], with a column `occasion` behind the source.
    ///
    /// # Errors
    /// As there.
    pub fn create_with_occasions<A: Into<String>, M: Into<String>>(
        path: &Path,
        format: Format,
        attributes: impl IntoIterator<Item = A>,
        metadata: impl IntoIterator<Item = M>,
    ) -> Result<Self, ExchangeError> {
        Self::create_with(path, format, attributes, metadata, true)
    }

    fn create_with<A: Into<String>, M: Into<String>>(
        path: &Path,
        format: Format,
        attributes: impl IntoIterator<Item = A>,
        metadata: impl IntoIterator<Item = M>,
        occasions: bool,
    ) -> Result<Self, ExchangeError> {
        let mut taken: HashSet<String> = LABEL_COLUMNS.map(str::to_owned).into();
        // Taken in every file: metadata of that name would be read as occasions.
        taken.insert(OCCASION_COLUMN.to_owned());
        let attributes = Extras::new(attributes, "attribute", &mut taken);
        let metadata = Metadata::new(format, metadata, &mut taken);
        let fixed =
            LABEL_COLUMNS.iter().copied().chain(occasions.then_some(OCCASION_COLUMN)).map(str::to_owned);
        let columns = fixed.chain(attributes.columns.iter().cloned()).chain(metadata.columns());
        // Attributes have a role, so a reader must find their names in any part of the file.
        let required = LABEL_COLUMNS.len() + usize::from(occasions) + attributes.columns.len();
        let table = Table::create(path, format, columns.collect(), required)?;
        Ok(Self { table, occasions, attributes, metadata })
    }

    /// The roles under which the file reads back exactly.
    pub fn roles(&self) -> ColumnRoles {
        let name = |index: usize| Some(LABEL_COLUMNS[index].to_owned());
        ColumnRoles {
            text_id: name(0),
            text: name(1),
            annotator: name(2),
            label: name(3),
            question: name(4),
            split: name(5),
            group: name(6),
            time: name(7),
            duration: name(8),
            source: name(9),
            occasion: self.occasions.then(|| OCCASION_COLUMN.to_owned()),
            attributes: self.attributes.columns.clone(),
        }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The disk is full or refuses.
    pub fn write(&mut self, row: &LabelRow<'_>) -> Result<(), ExchangeError> {
        let at = row.at_ms.map(format_ms);
        let duration = row.duration_ms.map(|ms| ms.to_string());
        let mut values = vec![
            Some(row.text_id),
            Some(row.text),
            Some(row.annotator),
            row.label,
            row.question,
            row.split,
            row.group,
            at.as_deref(),
            duration.as_deref(),
            row.source.map(LabelSource::name),
        ];
        let occasion = row.occasion.to_string();
        values.extend(self.occasions.then_some(Some(occasion.as_str())));
        self.attributes.push(row.attributes, &mut values);
        self.metadata.write(&mut self.table, values, row.metadata, row.spans.then_some(LABEL))
    }

    /// Brings the file to the disk and to its place.
    ///
    /// # Errors
    /// The disk is full or refuses; what stood at the path is unchanged then.
    pub fn finish(self) -> Result<(), ExchangeError> {
        self.table.finish()
    }
}

/// Writes texts, one row a text: `text_id, text, split, group`, then metadata. As [`LabelWriter`] otherwise.
#[derive(Debug)]
pub struct TextWriter {
    table: Table,
    metadata: Metadata,
}

/// One text to write.
#[derive(Clone, Copy, Debug)]
pub struct TextRow<'a> {
    /// Its id.
    pub text_id: &'a str,
    /// Its body.
    pub text: &'a str,
    /// The part of an official split.
    pub split: Option<&'a str>,
    /// The document or thread.
    pub group: Option<&'a str>,
    /// Its metadata. Only keys named when the writer was made are written.
    pub metadata: &'a BTreeMap<String, String>,
}

impl TextWriter {
    /// Begins the file. `metadata` are the keys that get a column.
    ///
    /// # Errors
    /// The folder is missing or refuses.
    pub fn create<M: Into<String>>(
        path: &Path,
        format: Format,
        metadata: impl IntoIterator<Item = M>,
    ) -> Result<Self, ExchangeError> {
        let fixed = ["text_id", "text", "split", "group"].map(str::to_owned);
        let metadata = Metadata::new(format, metadata, &mut fixed.clone().into());
        let required = fixed.len();
        let columns = fixed.into_iter().chain(metadata.columns()).collect();
        Ok(Self { table: Table::create(path, format, columns, required)?, metadata })
    }

    /// The roles under which the file reads back exactly.
    pub fn roles(&self) -> ColumnRoles {
        let name = |name: &str| Some(name.to_owned());
        ColumnRoles {
            text_id: name("text_id"),
            text: name("text"),
            split: name("split"),
            group: name("group"),
            ..ColumnRoles::default()
        }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The disk is full or refuses.
    pub fn write(&mut self, row: &TextRow<'_>) -> Result<(), ExchangeError> {
        let values = vec![Some(row.text_id), Some(row.text), row.split, row.group];
        self.metadata.write(&mut self.table, values, row.metadata, None)
    }

    /// Brings the file to the disk and to its place.
    ///
    /// # Errors
    /// As [`LabelWriter::finish`].
    pub fn finish(self) -> Result<(), ExchangeError> {
        self.table.finish()
    }
}

/// Writes annotators, one row an annotator: `annotator_id`, then attributes. As [`LabelWriter`] otherwise.
#[derive(Debug)]
pub struct AnnotatorWriter {
    table: Table,
    attributes: Extras,
}

impl AnnotatorWriter {
    /// Begins the file. `attributes` are the keys that get a column.
    ///
    /// # Errors
    /// The folder is missing or refuses.
    pub fn create<A: Into<String>>(
        path: &Path,
        format: Format,
        attributes: impl IntoIterator<Item = A>,
    ) -> Result<Self, ExchangeError> {
        let fixed = ["annotator_id".to_owned()];
        let attributes = Extras::new(attributes, "attribute", &mut fixed.clone().into());
        let columns: Vec<String> = fixed.into_iter().chain(attributes.columns.iter().cloned()).collect();
        let required = columns.len();
        Ok(Self { table: Table::create(path, format, columns, required)?, attributes })
    }

    /// The roles under which the file reads back exactly.
    pub fn roles(&self) -> ColumnRoles {
        ColumnRoles {
            annotator: Some("annotator_id".to_owned()),
            attributes: self.attributes.columns.clone(),
            ..ColumnRoles::default()
        }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The disk is full or refuses.
    pub fn write(&mut self, annotator: &str, attributes: &Attributes) -> Result<(), ExchangeError> {
        let mut values = vec![Some(annotator)];
        self.attributes.push(attributes, &mut values);
        self.table.write(&values, &[])
    }

    /// Brings the file to the disk and to its place.
    ///
    /// # Errors
    /// As [`LabelWriter::finish`].
    pub fn finish(self) -> Result<(), ExchangeError> {
        self.table.finish()
    }
}
