//! Notices about how a table is read: attributes that differ, metadata that are dropped, times that cannot be
//! parsed.

use super::plan::Plan;
use super::reading::choices_of;
use dissensus_api::ImportNotice;
use dissensus_exchange::{AttributeConflicts, FileKind, TableReading, is_called_time};
use dissensus_project::words::counted;

/// Returns notices about the reading: conflicts that were settled, rows that did not fit, values that were
/// not changed.
pub(super) fn reading_notices(plan: &Plan) -> Vec<ImportNotice> {
    let notice = |code: &str, count: u64, message: String, fix: Option<(TableReading, &str)>| ImportNotice {
        code: code.to_owned(),
        count: u32::try_from(count).unwrap_or(u32::MAX),
        message,
        places: Vec::new(),
        fix_label: fix.as_ref().map(|(_, label)| (*label).to_owned()),
        fix: fix.map(|(reading, _)| choices_of(&reading)),
    };
    let (scan, reading) = (&plan.scan, &plan.read.reading);
    let mut notices = Vec::new();
    if scan.conflicts > 0 {
        let mut settled = reading.clone();
        settled.values.attribute_conflicts = AttributeConflicts::MostFrequent;
        notices.push(notice(
            "attribute-conflicts",
            scan.conflicts,
            format!(
                "{} other values of attributes than rows before, of the same person. Choose which value holds \
                 (--attribute-conflicts first, last, most-frequent or unknown), or correct them",
                give(scan.conflicts)
            ),
            Some((settled, "Take the most frequent value")),
        ));
    }
    if scan.settled_conflicts > 0 {
        let rule: &'static str = reading.values.attribute_conflicts.into();
        notices.push(notice(
            "settled-attributes",
            scan.settled_conflicts,
            format!(
                "Attributes with several values for one person: {}. Settled by the rule \"{rule}\"",
                scan.settled_conflicts
            ),
            None,
        ));
    }
    if scan.kept_attributes > 0 {
        notices.push(notice(
            "kept-attributes",
            scan.kept_attributes,
            format!(
                "Attributes of people of which the project has another value, which it keeps: {}",
                scan.kept_attributes
            ),
            None,
        ));
    }
    if scan.other_metadata > 0 {
        notices.push(notice(
            "other-metadata",
            scan.other_metadata,
            format!(
                "{} other metadata of a text than the first row about it, whose metadata hold",
                give(scan.other_metadata)
            ),
            None,
        ));
    }
    if let Some(column) = unread_time(plan) {
        notices.push(notice(
            "unread-times",
            1,
            format!(
                "The column \"{column}\" is called like a time and cannot be read as one: the labels get the time of the import. \
                 Name it with --time, and say how it is written with --time-format"
            ),
            None,
        ));
    }
    notices
}

/// `1 row gives`, `3 rows give`.
fn give(rows: u64) -> String {
    format!("{} {}", counted(rows, "row"), if rows == 1 { "gives" } else { "give" })
}

/// Finds a column that is named like the time of a label and is read as something else, if no other column is
/// the time.
fn unread_time(plan: &Plan) -> Option<&str> {
    let reading = &plan.read.reading;
    let labels =
        plan.kind == FileKind::Labels && reading.roles.time.is_none() && !plan.read.plain.is_of_tool();
    let used: Vec<&str> = reading.roles.named().into_iter().map(|(_, column)| column).collect();
    let free = |column: &&String| {
        !used.contains(&column.as_str())
            && !reading.ignored.contains(column)
            && !reading.answers.iter().any(|answer| answer.column == **column)
    };
    let columns = plan.read.plain.columns().iter();
    columns.filter(free).find(|column| labels && is_called_time(column)).map(String::as_str)
}
