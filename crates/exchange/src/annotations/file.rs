//! An annotation file after its first pass.

use crate::ExchangeError;
use crate::annotations::facts::Facts;
use crate::annotations::item::Items;
use crate::annotations::parts::{Division, Part, Parts};
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How one tool's files are read: how each part of them is interpreted.
pub(crate) trait Unfold: Debug + Send + Sync {
    /// Adds the contents of a part, in order.
    fn unfold(&self, part: &Part, items: &mut Items);

    /// The message for a file without an annotator: why, and where the tool would record it.
    fn without_annotator(&self) -> &'static str {
        "it does not say who gave its answers"
    }
}

/// An annotation file: how it divides, its reader, its facts.
#[derive(Clone, Debug)]
pub(crate) struct AnnotationFile {
    pub(crate) path: PathBuf,
    pub(crate) division: Division,
    pub(crate) unfold: Arc<dyn Unfold>,
    pub(crate) facts: Facts,
    pub(crate) columns: Vec<String>,
    pub(crate) bytes: u64,
}

impl AnnotationFile {
    /// Makes a first pass over a file. Errors in its parts are left for the reading of rows to report.
    ///
    /// # Errors
    /// The file cannot be opened, or holds no answers to texts at all.
    pub(crate) fn open(
        path: &Path,
        title: &str,
        division: Division,
        unfold: Arc<dyn Unfold>,
    ) -> Result<Self, ExchangeError> {
        let mut facts = look_through(path, &division, unfold.as_ref(), Facts::default())?;
        if let Some(again) = facts.again() {
            facts = look_through(path, &division, unfold.as_ref(), again)?;
        }
        facts.conclude();
        if let (0, Some(why)) = (facts.items, facts.trouble.take()) {
            let (path, format) = (path.to_owned(), title.to_owned());
            return Err(ExchangeError::NothingReadable { path, format, why });
        }
        if !facts.is_of_use() && facts.troubles == 0 {
            let met: Vec<String> = facts.irregularities().iter().map(|met| met.message.clone()).collect();
            let why = match met.is_empty() {
                true => String::new(),
                false => format!(" ({})", met.join("; ")),
            };
            return Err(ExchangeError::NoAnswers { path: path.to_owned(), format: title.to_owned(), why });
        }
        let bytes = std::fs::metadata(path).map(|about| about.len()).unwrap_or_default();
        let columns = facts.columns();
        Ok(Self { path: path.to_owned(), division, unfold, facts, columns, bytes })
    }
}

/// Reads every part of a file.
fn look_through(
    path: &Path,
    division: &Division,
    unfold: &dyn Unfold,
    mut facts: Facts,
) -> Result<Facts, ExchangeError> {
    let mut parts = Parts::open(path, division)?;
    while let Some(part) = parts.next_part() {
        match part {
            Ok(part) => {
                let mut items = Items::default();
                unfold.unfold(&part, &mut items);
                facts.take(&part, items);
            }
            Err(bad) => facts.trouble(bad.line, &bad.name, &bad.kind),
        }
    }
    Ok(facts)
}
