//! Labelling: which text comes next, and what happens to a label.

mod next_text;
mod record;
mod sheet;

pub use record::{NamedLabel, Recorded};
pub(crate) use sheet::Sheets;
