//! Tables of any shape. *Recognising* one returns its possible readings, with reasons; *reading* one follows
//! a [`TableReading`].

mod guess;
mod joining;
mod likert;
mod list_cell;
mod recognise;
mod reshape;
mod reshaped_records;
mod settled_attributes;
mod survey;
mod table_reading;
mod time_detection;
mod time_format;
mod value_rules;
mod written_date;

pub use guess::{guess_roles, guess_roles_in};
pub(crate) use joining::truth_columns;
pub use joining::{find_join, list_columns};
pub(crate) use likert::ordered_levels;
pub use recognise::{RankedReading, Recognised, TableContext, complete, recognise};
pub(crate) use reshape::Reshape;
pub use reshape::has_answers;
pub(crate) use reshaped_records::ReshapedRecords;
pub(crate) use settled_attributes::SettledAttributes;
pub use table_reading::{AnswerColumn, AttributeConflicts, Join, TableReading, ValueRules};
pub use time_format::{TimeFormat, TimeFormatError};

use crate::vocabulary::vocabulary;
use dissensus_domain::{Scale, ScaleKind};

/// Returns the scale of levels whose names have an order, such as those of agreement; `None` where they have
/// none.
pub fn ordered_scale<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Option<Scale> {
    let names: Vec<String> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
    let levels = ordered_levels(&names).map(|ordered| ordered.levels).or_else(|| ordered_decimals(&names));
    Scale::new(ScaleKind::Ordinal, levels?).ok()
}

/// Sorts numbers of which some have decimals, lowest first; a scale of whole numbers is guessed elsewhere.
fn ordered_decimals(names: &[String]) -> Option<Vec<String>> {
    /// More different numbers than this are measurements, not levels.
    const MAX_LEVELS: usize = 20;
    let mut numbers: Vec<(f64, &String)> = names
        .iter()
        .map(|name| Some((name.trim().parse().ok().filter(|x: &f64| x.is_finite())?, name)))
        .collect::<Option<_>>()?;
    let decimals = numbers.iter().any(|(x, _)| x.fract() != 0.0);
    numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
    let different = numbers.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let few = (3..=MAX_LEVELS).contains(&numbers.len());
    (decimals && different && few).then(|| numbers.into_iter().map(|(_, name)| name.clone()).collect())
}

/// Whether a column is called like the time of a label.
pub fn is_called_time(column: &str) -> bool {
    vocabulary().columns.time.contains(&crate::roles::simplified(column))
}
