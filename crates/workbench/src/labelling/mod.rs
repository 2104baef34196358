//! Labelling: which text comes next, and what happens to a label.

mod feed;
mod next_text;
mod record;
mod sheet;

pub(crate) use feed::Feed;
pub use record::{NamedLabel, Recorded};
pub(crate) use sheet::Sheets;
