//! Writes texts and annotators so that they can be read again, and lays out metadata and attributes for all
//! writers.

use crate::table::Table;
use crate::{ColumnRoles, ExchangeError, OutputFormat};
use dissensus_domain::Attributes;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// More different keys of metadata than this, and a CSV or TSV file gets one column for all of them.
pub const MAX_METADATA_COLUMNS: usize = 256;

/// The column with all metadata of a text as one JSON object, if there are too many keys for a column each.
pub(crate) const METADATA_COLUMN: &str = "metadata";

/// How the metadata of a text are written.
#[derive(Debug)]
pub(crate) enum Metadata {
    /// A column for each key.
    Columns(Extras),
    /// One column for all.
    Object,
    /// A key for each that the text has; the name in the file by the name in the project.
    Keys(HashMap<String, String>),
}

impl Metadata {
    pub(crate) fn new<S: Into<String>>(
        format: OutputFormat,
        keys: impl IntoIterator<Item = S>,
        taken: &mut HashSet<String>,
    ) -> Self {
        taken.insert(METADATA_COLUMN.to_owned());
        let keys: Vec<String> = keys.into_iter().map(Into::into).collect();
        if format == OutputFormat::Jsonl {
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

    pub(crate) fn columns(&self) -> Vec<String> {
        match self {
            Self::Columns(extras) => extras.columns.clone(),
            Self::Object => vec![METADATA_COLUMN.to_owned()],
            Self::Keys(_) => Vec::new(),
        }
    }

    /// Writes a row: `values` are those of the columns before these.
    pub(crate) fn write<'a>(
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
pub(crate) struct Extras {
    keys: Vec<String>,
    pub(crate) columns: Vec<String>,
}

impl Extras {
    pub(crate) fn new<S: Into<String>>(
        keys: impl IntoIterator<Item = S>,
        prefix: &str,
        taken: &mut HashSet<String>,
    ) -> Self {
        let keys: Vec<String> = keys.into_iter().map(Into::into).collect();
        let columns = keys.iter().map(|key| free_name(key, prefix, taken)).collect();
        Self { keys, columns }
    }

    pub(crate) fn push<'a>(&self, from: &'a BTreeMap<String, String>, values: &mut Vec<Option<&'a str>>) {
        values.extend(self.keys.iter().map(|key| from.get(key).map(String::as_str)));
    }
}

/// Returns `name` as a column reader would return it, made different from those already used.
fn free_name(name: &str, prefix: &str, taken: &mut HashSet<String>) -> String {
    let mut column = name.trim().to_owned();
    while column.is_empty() || taken.contains(&column) {
        column = format!("{prefix}_{column}");
    }
    taken.insert(column.clone());
    column
}

/// Writes texts, one row a text: `text_id, text, split, group`, then metadata. Otherwise like
/// [`LabelWriter`].
#[derive(Debug)]
pub struct TextWriter {
    table: Table,
    metadata: Metadata,
}

/// One text to write.
#[derive(Clone, Copy, Debug)]
pub struct TextRow<'a> {
    pub text_id: &'a str,
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
    /// The folder is missing or cannot be written.
    pub fn create<M: Into<String>>(
        path: &Path,
        format: OutputFormat,
        metadata: impl IntoIterator<Item = M>,
    ) -> Result<Self, ExchangeError> {
        let fixed = ["text_id", "text", "split", "group"].map(str::to_owned);
        let metadata = Metadata::new(format, metadata, &mut fixed.clone().into());
        let required = fixed.len();
        let columns = fixed.into_iter().chain(metadata.columns()).collect();
        Ok(Self { table: Table::create(path, format, columns, required, Vec::new())?, metadata })
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
    pub fn write(&mut self, row: &TextRow<'_>) -> Result<(), ExchangeError> {
        let values = vec![Some(row.text_id), Some(row.text), row.split, row.group];
        self.metadata.write(&mut self.table, values, row.metadata, None)
    }

    /// Flushes the file to disk and moves it to its path.
    ///
    /// # Errors
    /// The same as [`LabelWriter::finish`].
    pub fn finish(self) -> Result<(), ExchangeError> {
        self.table.finish()
    }
}

/// Writes annotators, one row an annotator: `annotator_id`, then attributes. Otherwise like [`LabelWriter`].
#[derive(Debug)]
pub struct AnnotatorWriter {
    table: Table,
    attributes: Extras,
}

impl AnnotatorWriter {
    /// Begins the file. `attributes` are the keys that get a column.
    ///
    /// # Errors
    /// The folder is missing or cannot be written.
    pub fn create<A: Into<String>>(
        path: &Path,
        format: OutputFormat,
        attributes: impl IntoIterator<Item = A>,
    ) -> Result<Self, ExchangeError> {
        let fixed = ["annotator_id".to_owned()];
        let attributes = Extras::new(attributes, "attribute", &mut fixed.clone().into());
        let columns: Vec<String> = fixed.into_iter().chain(attributes.columns.iter().cloned()).collect();
        let required = columns.len();
        Ok(Self { table: Table::create(path, format, columns, required, Vec::new())?, attributes })
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
    pub fn write(&mut self, annotator: &str, attributes: &Attributes) -> Result<(), ExchangeError> {
        let mut values = vec![Some(annotator)];
        self.attributes.push(attributes, &mut values);
        self.table.write(&values, &[])
    }

    /// Flushes the file to disk and moves it to its path.
    ///
    /// # Errors
    /// The same as [`LabelWriter::finish`].
    pub fn finish(self) -> Result<(), ExchangeError> {
        self.table.finish()
    }
}
