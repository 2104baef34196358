//! The rules that the values of a table need: commas in numbers, how times are written.

use super::{RankedReading, Table};
use crate::annotations::plain;
use crate::reading::likert::ordered_levels;
use crate::reading::table_reading::TableReading;
use crate::reading::time_detection::{Detected, detect};
use crate::reading::time_format::TimeFormat;
use crate::reading::value_rules::is_comma_number;
use crate::vocabulary::vocabulary;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

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

/// The possible separator between the options of one answer, in addition to ; and |, which every scale of
/// options reads.
const OPTION_SEPARATOR: &str = ",";
/// The most options of a set, and the longest name of one, in bytes.
const OPTIONS: usize = 60;
const OPTION_BYTES: usize = 40;

/// Returns the reading with a separator of options, if its answers are several options in one cell; followed
/// by the unchanged reading, if that is uncertain.
pub(super) fn with_sets(table: &Table<'_>, ranked: RankedReading) -> Vec<RankedReading> {
    let values = answers(table, &ranked);
    if ordered_levels(&values.iter().cloned().collect::<Vec<String>>()).is_some() {
        return vec![ranked];
    }
    let Some(sure) = are_sets(&values, OPTION_SEPARATOR) else { return vec![ranked] };
    let mut sets = ranked.clone();
    sets.reading.values.option_separator = Some(OPTION_SEPARATOR.to_owned());
    sets.reasons.push(format!("answers name several options with \"{OPTION_SEPARATOR}\" between them"));
    if sure {
        return vec![sets];
    }
    sets.title.push_str("; several options in an answer");
    vec![sets, RankedReading { confidence: 0.95 * ranked.confidence, ..ranked }]
}

/// The answers of a reading that are words, and neither lists nor marks.
fn answers(table: &Table<'_>, ranked: &RankedReading) -> BTreeSet<String> {
    let reading = &ranked.reading;
    let columns = reading.roles.label.iter().chain(reading.answers.iter().map(|answer| &answer.column));
    let mut found = BTreeSet::new();
    if reading.answers.iter().any(|answer| answer.option.is_some()) {
        return found;
    }
    for name in columns {
        found.extend(values_of(table, reading, name));
    }
    found.retain(|value| !value.starts_with(['[', '{', '(']));
    found
}

/// The different values of a column, of the entries of a list, or of a field of these.
fn values_of(table: &Table<'_>, reading: &TableReading, name: &str) -> BTreeSet<String> {
    let list = reading.lists.iter().find_map(|list| {
        let field = if list == name {
            Some(None)
        } else {
            name.strip_prefix(list.as_str())?.strip_prefix('.').map(Some)
        };
        Some((table.place(list)?, field?))
    });
    match (list, table.place(name)) {
        (Some((column, field)), _) => {
            let rows = table.sample.lists(column, reading.separator.as_deref()).unwrap_or_default();
            let value = |entry: &Value| field.map_or(Some(entry), |field| entry.get(field)).map(plain);
            let values = rows.iter().flatten().filter_map(value);
            values.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()).collect()
        }
        (None, Some(column)) => table.sample.counts(column).keys().cloned().collect(),
        (None, None) => BTreeSet::new(),
    }
}

/// Whether values are sets of options with a separator: the parts recur in other values. `Some(false)` if
/// that may be chance.
fn are_sets(values: &BTreeSet<String>, separator: &str) -> Option<bool> {
    let parted: Vec<Vec<&str>> =
        values.iter().map(|value| value.split(separator).map(str::trim).collect()).collect();
    let several: Vec<&Vec<&str>> = parted.iter().filter(|options| options.len() > 1).collect();
    let mut holders: BTreeMap<&str, usize> = BTreeMap::new();
    for options in &parted {
        let options: BTreeSet<&str> = options.iter().copied().collect();
        options.into_iter().for_each(|option| *holders.entry(option).or_default() += 1);
    }
    let short = holders.keys().all(|option| !option.is_empty() && option.len() <= OPTION_BYTES);
    // A comma in numbers is their decimal point.
    let decimals = separator == ","
        && several
            .iter()
            .all(|options| options.len() == 2 && options.iter().all(|o| o.parse::<f64>().is_ok()));
    let again = several.iter().filter(|options| options.iter().all(|option| holders[option] > 1)).count();
    let fits = several.len() > 1 && short && holders.len() <= OPTIONS && again * 5 >= several.len() * 4;
    if !fits || decimals {
        return None;
    }
    let places = |option: &str| -> BTreeSet<usize> {
        several.iter().filter_map(|options| options.iter().position(|here| *here == option)).collect()
    };
    let same = several.windows(2).all(|pair| BTreeSet::from_iter(pair[0]) == BTreeSet::from_iter(pair[1]));
    if same {
        // The same options in another order each time may as well be a ranking.
        return Some(false);
    }
    let moves = holders.keys().filter(|option| places(option).len() > 1).count();
    Some(moves > 1 || several.iter().any(|options| options.len() > 2) && moves > 0)
}

/// Runs [`with_time`] for times that are entries of lists.
fn with_time_of_entries(table: &Table<'_>, ranked: RankedReading) -> Vec<RankedReading> {
    let Some(time) = ranked.reading.roles.time.clone() else { return vec![ranked] };
    let values = values_of(table, &ranked.reading, &time);
    let with = |format: &TimeFormat, confidence: f64| {
        let mut with = ranked.clone();
        with.reading.values.time_format = (*format != TimeFormat::Plain).then(|| format.to_string());
        with.confidence *= confidence;
        if *format != TimeFormat::Plain {
            with.reasons.push(format!("the times in \"{time}\" are read as {format}"));
        }
        with
    };
    match detect(values.iter().map(String::as_str)) {
        // Times that cannot be parsed would make bad rows of all answers.
        Detected::None => {
            let mut without = ranked.clone();
            without.reading.roles.time = None;
            vec![without]
        }
        Detected::One(format) => vec![with(&format, 1.0)],
        Detected::Ambiguous(first, second) => [(first, 1.0), (second, 0.99)]
            .iter()
            .map(|(format, confidence)| {
                let mut found = with(format, *confidence);
                found.title = format!("{}; times {format}", found.title);
                found
            })
            .collect(),
    }
}

/// Returns the reading with the format of its times; two readings where day and month are ambiguous.
pub(super) fn with_time(table: &Table<'_>, ranked: RankedReading) -> Vec<RankedReading> {
    let roles = &ranked.reading.roles;
    let has_answers = roles.label.is_some() || !ranked.reading.answers.is_empty();
    if !has_answers {
        return vec![ranked];
    }
    if !ranked.reading.lists.is_empty() {
        return with_time_of_entries(table, ranked);
    }
    let used: Vec<usize> = roles.named().iter().filter_map(|(_, name)| table.place(name)).collect();
    let in_answers =
        |column: usize| ranked.reading.answers.iter().any(|answer| answer.column == table.name(column));
    let named = roles.time.as_deref().and_then(|name| table.place(name));
    // Times of texts are not times of labels: with a column for each annotator they cannot be assigned.
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
        with.reading.ignored.retain(|name| name != table.name(column));
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
