//! Notices about how a table is read: attributes that differ, metadata that are dropped, times that cannot be
//! parsed.

use super::plan::{Part, Plan};
use super::reading::choices_of;
use dissensus_api::ImportNotice;
use dissensus_domain::Scale;
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
    if scan.texts_by_body > 0 {
        notices.push(notice(
            "texts-by-body",
            scan.texts_by_body,
            format!(
                "Found by their bodies: {} of the project, with ids of their own",
                counted(scan.texts_by_body, "text")
            ),
            None,
        ));
    }
    if scan.same_bodies > 0 {
        notices.push(notice("same-bodies", scan.same_bodies, same_bodies(plan), None));
    }
    notices.extend(other_scales(plan).map(|(count, message)| notice("other-scales", count, message, None)));
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

/// States which texts are added although the project has their bodies.
fn same_bodies(plan: &Plan) -> String {
    let texts = counted(plan.scan.same_bodies, "text");
    match &plan.roles.text_id {
        // An id is an identity in every copy of the project: a text cannot get another one.
        Some(column) => format!(
            "Added a second time: {texts} that the project has without an id, because \"{column}\" is the id of another text. \
             To label the texts of the project, leave the column out (--ignore {column})"
        ),
        None => format!(
            "Added once more: {texts} whose body the project has under several ids, so that it does not tell which is meant. \
             To label one of these, give the file a column with ids"
        ),
    }
}

/// Returns sentences about scales in the file that are not used, with the number of rows that give them.
fn other_scales(plan: &Plan) -> impl Iterator<Item = (u64, String)> {
    let written = |scale: &Scale| format!("{} ({})", scale.kind(), scale.levels().join(", "));
    let of_part = move |part: &Part| {
        let found = plan.scan.questions.get(part.number)?;
        let given = found.given_scale.as_ref()?;
        let (name, holds) = (&part.name, written(&part.scale));
        if part.existing.is_some() && !part.scale.reads_like(given) {
            let given = written(given);
            return Some((
                1,
                format!("The file gives \"{name}\" the scale {given}; the project has {holds}, which holds"),
            ));
        }
        // The user may have asked for another scale than the file gives.
        let (other, count) = found.other_scale.as_ref().filter(|_| part.scale.reads_like(given))?;
        let message = format!(
            "The file gives \"{name}\" two scales: first {holds}, which holds, and in {} {}. If that is the right one, \
             correct the column with the scales",
            counted(*count, "row"),
            written(other)
        );
        let count = *count;
        Some((count, message))
    };
    plan.parts.iter().filter_map(of_part)
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
