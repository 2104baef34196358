//! Which column identifies the texts, and whether each of its values identifies one text.

use super::{RankedReading, Table};
use crate::roles::{ColumnRoles, simplified};
use crate::vocabulary::vocabulary;
use std::collections::HashMap;

/// How many ids are looked up in the project.
const LOOKED_FOR: usize = 50;

/// Finds the column of ids if its name is not conclusive: one whose values the project has, or whose name
/// ends like an id and whose values recur for other annotators.
pub(super) fn find(table: &Table<'_>, roles: &mut ColumnRoles) {
    let used: Vec<usize> = roles.named().iter().filter_map(|(_, name)| table.place(name)).collect();
    let free = || (0..table.sample.width()).filter(|column| !used.contains(column));
    let known = |column: &usize| {
        let Some(is_text) = table.context.is_text else { return false };
        let ids: Vec<&String> = table.sample.counts(*column).keys().take(LOOKED_FOR).collect();
        !ids.is_empty() && ids.iter().filter(|id| is_text(id)).count() * 2 > ids.len()
    };
    let called = |column: &usize| {
        let plain = simplified(table.name(*column));
        vocabulary().shapes.id_ends.iter().any(|end| plain.ends_with(end.as_str()))
            && !vocabulary().columns.annotator.contains(&plain)
    };
    let found = free().find(known).or_else(|| free().find(called));
    roles.text_id = found.map(|column| table.name(column).to_owned());
}

/// Returns the reading unchanged if each id identifies one text; otherwise the possible ways to distinguish
/// texts.
pub(super) fn with_id(table: &Table<'_>, ranked: RankedReading) -> Vec<RankedReading> {
    let roles = &ranked.reading.roles;
    let place = |name: &Option<String>| name.as_deref().and_then(|name| table.place(name));
    let (Some(id), Some(text)) = (place(&roles.text_id), place(&roles.text)) else { return vec![ranked] };
    let (differ, several) = table.sample.varies_within(text, id);
    // A few are mistakes, and bad rows.
    if differ < 2 || differ * 10 < several {
        return vec![ranked];
    }
    let id_name = table.name(id).to_owned();
    let reason = format!("\"{id_name}\" names several texts: {differ} of its values have more than one body");
    let other = |text_id: Option<String>, confidence: f64, how: &str| {
        let mut other = ranked.clone();
        other.reading.roles.text_id = text_id;
        other.confidence *= confidence;
        other.title = format!("{}; {how}", other.title);
        other.reasons.push(reason.clone());
        other
    };
    let mut found = Vec::new();
    let taken: Vec<usize> = ranked
        .reading
        .answers
        .iter()
        .map(|answer| answer.column.as_str())
        .chain(of_named(roles).filter(|(role, _)| !["group", "split"].contains(role)).map(|(_, name)| name))
        .filter_map(|name| table.place(name))
        .collect();
    let free: Vec<usize> =
        (0..table.sample.width()).filter(|column| !taken.contains(column) && *column != id).collect();
    // A column with one value for each text and one text for each value.
    for column in &free {
        if is_id(table, &[*column], text) && !is_other_name(table, *column) {
            found.push(other(
                Some(table.name(*column).to_owned()),
                0.95,
                &format!("texts by \"{}\"", table.name(*column)),
            ));
            break;
        }
    }
    for column in &free {
        if is_id(table, &[*column, id], text) && table.sample.counts(*column).len() > 1 {
            let both = format!("{}+{id_name}", table.name(*column));
            found.push(other(Some(both.clone()), 0.97, &format!("texts by \"{both}\"")));
            break;
        }
    }
    found.push(other(None, 0.93, "texts by their body, equal ones are one"));
    found
}

fn of_named(roles: &ColumnRoles) -> impl Iterator<Item = (&'static str, &str)> {
    roles.named().into_iter()
}

/// Whether these columns together have one body for each of their values.
fn is_id(table: &Table<'_>, columns: &[usize], text: usize) -> bool {
    let mut body: HashMap<Vec<&str>, &str> = HashMap::new();
    (0..table.sample.rows()).all(|row| {
        let key: Vec<&str> = columns.iter().map(|column| table.sample.value(*column, row)).collect();
        let here = table.sample.value(text, row);
        key.iter().all(|part| !part.is_empty()) && *body.entry(key).or_insert(here) == here
    })
}

/// Whether a column is about something other than texts: a time, a row number.
fn is_other_name(table: &Table<'_>, column: usize) -> bool {
    let names = &vocabulary().columns;
    table.is_called(column, &names.time)
        || table.is_called(column, &names.duration)
        || !table.is_called_like_id(column)
}

impl Table<'_> {
    pub(super) fn is_called_like_id(&self, column: usize) -> bool {
        let plain = simplified(self.name(column));
        vocabulary().shapes.id_ends.iter().any(|end| plain.ends_with(end.as_str()))
    }
}
