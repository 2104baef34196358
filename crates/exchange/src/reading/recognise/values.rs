//! The rules that the values of a table need: commas in numbers, how times are written.

use super::{RankedReading, Table};
use crate::reading::time_detection::{Detected, detect};
use crate::reading::time_format::TimeFormat;
use crate::reading::value_rules::is_comma_number;
use crate::reading::vocabulary::vocabulary;

/// The reading with a decimal comma, where its answers have one.
pub(super) fn with_rules(table: &Table<'_>, mut ranked: RankedReading) -> RankedReading {
    let answers: Vec<&str> = match &ranked.reading.roles.label {
        Some(label) => vec![label],
        None => ranked.reading.answers.iter().map(|answer| answer.column.as_str()).collect(),
    };
    let columns: Vec<usize> = answers.into_iter().filter_map(|name| table.place(name)).collect();
    let mut values = columns.iter().flat_map(|column| table.sample.counts(*column).keys()).peekable();
    let mut commas = false;
    let numbers = values.peek().is_some()
        && values.all(|value| {
            commas |= is_comma_number(value);
            is_comma_number(value) || value.parse::<f64>().is_ok()
        });
    if numbers && commas {
        ranked.reading.values.decimal_comma = true;
        ranked.reasons.push("numbers have a comma before their decimals".to_owned());
    }
    ranked
}

/// The reading with the format of its times; two where day and month cannot be told apart.
pub(super) fn with_time(table: &Table<'_>, ranked: RankedReading) -> Vec<RankedReading> {
    let roles = &ranked.reading.roles;
    let has_answers = roles.label.is_some() || !ranked.reading.answers.is_empty();
    if !has_answers || !ranked.reading.lists.is_empty() {
        return vec![ranked];
    }
    let used: Vec<usize> = roles.named().iter().filter_map(|(_, name)| table.place(name)).collect();
    let in_answers =
        |column: usize| ranked.reading.answers.iter().any(|answer| answer.column == table.name(column));
    let named = roles.time.as_deref().and_then(|name| table.place(name));
    // The times of texts are no times of labels: with a column for each person nobody knows whose they are.
    let wide = ranked.reading.answers.iter().any(|answer| answer.annotator.is_some());
    let called = || {
        let names = &vocabulary().columns.time;
        let free = |column: &usize| !used.contains(column) && !in_answers(*column);
        names.iter().find_map(|name| {
            (0..table.sample.width()).filter(free).find(|c| crate::roles::simplified(table.name(*c)) == *name)
        })
    };
    let Some(column) = named.or_else(|| called().filter(|_| !wide)) else { return vec![ranked] };
    let with = |format: &TimeFormat, confidence: f64, reason: String| {
        let mut with = ranked.clone();
        with.reading.roles.time = Some(table.name(column).to_owned());
        with.reading.values.time_format = (*format != TimeFormat::Plain).then(|| format.to_string());
        with.confidence *= confidence;
        if *format != TimeFormat::Plain {
            with.reasons.push(reason);
        }
        with
    };
    let name = table.name(column);
    match detect(table.sample.counts(column).keys().map(String::as_str)) {
        Detected::None => vec![ranked],
        Detected::One(format) => {
            vec![with(&format, 1.0, format!("the times in \"{name}\" are read as {format}"))]
        }
        Detected::Ambiguous(first, second) => [(first, 1.0), (second, 0.99)]
            .iter()
            .map(|(format, confidence)| {
                let reason =
                    format!("the dates in \"{name}\" do not tell the day from the month: read as {format}");
                let mut found = with(format, *confidence, reason);
                found.title = format!("{}; times {format}", found.title);
                found
            })
            .collect(),
    }
}
