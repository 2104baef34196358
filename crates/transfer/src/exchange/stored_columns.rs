//! Column choices that the user corrected, stored on this computer for the next file with the same columns.
//! Neither contents of files nor data of a project are stored.

use dissensus_api::ColumnChoices;
use dissensus_exchange::Source;
use dissensus_project::care_file::hash;
use dissensus_project::error::ProjectError;
use dissensus_project::home::Home;
use serde::Serialize;

const FILE: &str = "columns.json";
const LOCK: &str = "columns.lock";
/// Maximum number of stored choices; the least recently used are dropped.
const MAX_CHOICES: usize = 50;

/// The choices for files of one shape.
#[derive(Clone, Debug, Serialize)]
struct StoredChoices {
    shape: String,
    columns: ColumnChoices,
}

/// Column choices by the shape of files: their format and the names of their columns, in any order.
pub(super) struct StoredColumns<'a> {
    home: &'a Home,
    shape: String,
}

impl<'a> StoredColumns<'a> {
    /// The choices for files like this one.
    pub(super) fn new(home: &'a Home, source: &Source) -> Self {
        let mut columns: Vec<&str> = source.columns().iter().map(String::as_str).collect();
        columns.sort_unstable();
        columns.insert(0, source.format().name);
        Self { home, shape: hash(&columns) }
    }

    /// The latest choices.
    pub(super) fn last(&self) -> Option<ColumnChoices> {
        self.all().into_iter().find(|kept| kept.shape == self.shape).map(|kept| kept.columns)
    }

    /// Stores the choices; choices equal to the guess are removed.
    ///
    /// # Errors
    /// The file cannot be written; the stored choices are then unchanged.
    pub(super) fn store(&self, chosen: &ColumnChoices, guessed: &ColumnChoices) -> Result<(), ProjectError> {
        let columns = without_person(chosen, guessed);
        let _locked = self.home.lock_config(LOCK)?;
        let mut all = self.all();
        let was_kept = all.iter().any(|kept| kept.shape == self.shape);
        all.retain(|kept| kept.shape != self.shape);
        if columns != *guessed {
            all.insert(0, StoredChoices { shape: self.shape.clone(), columns });
            all.truncate(MAX_CHOICES);
        } else if !was_kept {
            return Ok(());
        }
        self.home.write_json(FILE, &all)
    }

    /// Reads all stored choices; unreadable ones are skipped.
    fn all(&self) -> Vec<StoredChoices> {
        let kept: Vec<serde_json::Value> = self.home.read_json(FILE).unwrap_or_default();
        let read = |mut one: serde_json::Value| {
            let shape = one.get("shape")?.as_str()?.to_owned();
            let columns = ColumnChoices::from_json(one.get_mut("columns")?.take()).ok()?;
            Some(StoredChoices { shape, columns })
        };
        kept.into_iter().filter_map(read).collect()
    }
}

/// Removes a fixed annotator (`=NAME`), which applies to one file only.
fn without_person(columns: &ColumnChoices, guessed: &ColumnChoices) -> ColumnChoices {
    let of_column = |choices: &ColumnChoices| choices.annotator.clone().filter(|name| !name.starts_with('='));
    let annotator = of_column(columns).or_else(|| of_column(guessed));
    ColumnChoices { annotator, ..columns.clone() }
}
