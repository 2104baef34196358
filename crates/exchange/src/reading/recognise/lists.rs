//! Tables with one row a text, whose cells list who answered and what.

use super::{RankedReading, Table, some};
use crate::ExchangeError;
use crate::reading::table_reading::{AnswerColumn, TableReading};
use crate::reading::value_rules::is_comma_number;
use crate::reading::vocabulary::vocabulary;
use crate::roles::simplified;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What stands between values in one cell, where they are in no brackets.
const SEPARATORS: [&str; 4] = [";", "|", ",", " "];

/// A column of lists: its place, and the entries of each row.
struct List {
    column: usize,
    rows: Vec<Vec<Value>>,
}

pub(super) fn readings(table: &Table<'_>) -> Result<Vec<RankedReading>, ExchangeError> {
    let found = find(table, None);
    let mut readings = Vec::new();
    for list in &found {
        readings.extend(of_objects(table, list)?);
    }
    readings.extend(of_parallel_lists(table, &found, None)?);
    if readings.is_empty() {
        for separator in SEPARATORS {
            // A comma in numbers is their decimal point.
            let decimals = |list: &List| {
                separator == ","
                    && table
                        .sample
                        .counts(list.column)
                        .keys()
                        .all(|v| is_comma_number(v) || v.parse::<f64>().is_ok())
            };
            let separated: Vec<List> = find(table, Some(separator))
                .into_iter()
                .filter(|list| !found.iter().any(|known| known.column == list.column) && !decimals(list))
                .filter(|list| list.rows.iter().any(|entries| entries.len() > 1))
                .collect();
            readings.extend(of_parallel_lists(table, &separated, Some(separator))?);
            if !readings.is_empty() {
                break;
            }
        }
    }
    Ok(readings)
}

fn find(table: &Table<'_>, separator: Option<&str>) -> Vec<List> {
    let list = |column| Some(List { column, rows: table.sample.lists(column, separator)? });
    (0..table.sample.width()).filter_map(list).collect()
}

/// `[{"annotator": "a", "label": 1}]`, or `{"a": 1}`.
fn of_objects(table: &Table<'_>, list: &List) -> Result<Option<RankedReading>, ExchangeError> {
    let entries = || list.rows.iter().flatten();
    if entries().next().is_none() || !entries().all(Value::is_object) {
        return Ok(None);
    }
    let mut fields: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for entry in entries() {
        for (field, value) in entry.as_object().into_iter().flatten() {
            fields.entry(field).or_default().insert(crate::annotations::plain(value));
        }
    }
    let names = &vocabulary().columns;
    let called = |names: &[String]| {
        let found = names.iter().find_map(|name| fields.keys().find(|field| simplified(field) == *name));
        found.map(|field| (*field).to_owned())
    };
    let pairs_of_values = |value: &String| {
        value.starts_with(['[', '{']) || value.parse::<f64>().is_ok_and(|x| x.fract() != 0.0 || x > 20.0)
    };
    // Levels with their shares or counts, or with those who chose them, are no people with their answers.
    if fields
        .get("value")
        .is_some_and(|values| fields.contains_key("key") && values.iter().any(pairs_of_values))
    {
        return Ok(None);
    }
    let pairs = fields.len() == 2 && fields.contains_key("key") && fields.contains_key("value");
    let who = if pairs {
        Some("key".to_owned())
    } else {
        called(&names.annotator).or_else(|| called(&names.text_id))
    };
    let few = |field: &&&str| fields.get(**field).is_some_and(|values| values.len() <= super::sample::LEVELS);
    let is_who = |field: &&&str| Some(**field) == who.as_deref();
    let labels: Vec<String> = match (pairs, called(&names.label)) {
        (true, _) => vec!["value".to_owned()],
        (false, Some(label)) => vec![label],
        (false, None) => {
            let not = |field: &&&str| {
                let plain = simplified(field);
                names.time.contains(&plain)
                    || names.attribute.contains(&plain)
                    || names.duration.contains(&plain)
            };
            fields.keys().filter(|f| !is_who(f) && !not(f) && few(f)).map(|f| (*f).to_owned()).collect()
        }
    };
    let ([label], Some(who)) = (labels.as_slice(), who) else { return Ok(None) };
    let column = table.name(list.column).to_owned();
    // A dictionary of something else than people and their answers has no few values.
    if fields.get(label.as_str()).is_none_or(|values| values.len() > super::sample::LEVELS.max(100)) {
        return Ok(None);
    }
    let mut roles = table.rest_of_texts(&[list.column])?;
    if roles.text.is_none() && roles.text_id.is_none() {
        return Ok(None);
    }
    roles.annotator = Some(format!("{column}.{who}"));
    roles.label = Some(format!("{column}.{label}"));
    let about = |names: &[String]| called(names).filter(|field| *field != who && field != label);
    roles.time = about(&names.time).map(|field| format!("{column}.{field}"));
    roles.duration = about(&names.duration).map(|field| format!("{column}.{field}"));
    for field in fields.keys().filter(|field| **field != who && **field != label) {
        if names.attribute.contains(&simplified(field)) {
            roles.attributes.push(format!("{column}.{field}"));
        }
    }
    let reading = TableReading { lists: vec![column.clone()], ..TableReading::from_roles(roles) };
    Ok(Some(RankedReading {
        reading,
        title: "A list of answers in each row".to_owned(),
        confidence: 0.95,
        reasons: vec![format!("\"{column}\" lists who answered ({who}) and what ({label})")],
    }))
}

/// `annotators: ["a", "b"]` beside `labels: [0, 1]`.
fn of_parallel_lists(
    table: &Table<'_>,
    lists: &[List],
    separator: Option<&str>,
) -> Result<Option<RankedReading>, ExchangeError> {
    let names = &vocabulary().columns;
    // A table that names one person a row has lists as answers.
    let scalar_annotator = table.plain.annotator.as_deref().and_then(|name| table.place(name));
    if scalar_annotator.is_some_and(|column| !lists.iter().any(|list| list.column == column)) {
        return Ok(None);
    }
    let singular = |list: &&List| {
        let name = simplified(table.name(list.column));
        let plain = [name.strip_suffix("ids"), name.strip_suffix('s'), Some(name.as_str())];
        plain.into_iter().flatten().any(|name| names.annotator.iter().any(|known| known == name))
    };
    // A few rows that are otherwise are bad rows.
    let flat = |list: &&List| {
        let nested =
            |entries: &&Vec<Value>| entries.iter().any(|entry| entry.is_array() || entry.is_object());
        list.rows.iter().filter(nested).count() * 10 <= list.rows.len()
    };
    // Each of a row is another person, and people come again in other rows.
    let different = |list: &List| {
        list.rows.iter().all(|entries| {
            let set: BTreeSet<String> = entries.iter().map(Value::to_string).collect();
            set.len() == entries.len()
        })
    };
    let Some(who) = lists.iter().filter(flat).find(singular).or_else(|| {
        let mut unnamed = lists.iter().filter(flat).filter(|list| different(list));
        let words = |list: &&List| {
            let name = simplified(table.name(list.column));
            names.annotator.iter().any(|known| known.len() > 3 && name.contains(known.as_str()))
        };
        unnamed.find(words)
    }) else {
        return Ok(None);
    };
    let as_long = |list: &List| {
        let bad = list.rows.iter().zip(&who.rows).filter(|(these, those)| these.len() != those.len()).count();
        // A few bad rows are reported where they are.
        bad * 5 <= list.rows.len()
    };
    let others: Vec<&List> = lists.iter().filter(|list| list.column != who.column && as_long(list)).collect();
    let (mut answers, mut attributes, mut time, mut duration) = (Vec::new(), Vec::new(), None, None);
    for list in others {
        let name = table.name(list.column);
        let plain = simplified(name);
        let plain = plain.strip_suffix('s').unwrap_or(&plain);
        let about = |names: &[String]| {
            names.iter().any(|known| plain == known || plain.contains(known.as_str()) && known.len() > 3)
        };
        let exactly =
            |names: &[String]| names.iter().any(|known| plain == known || simplified(name) == *known);
        if exactly(&names.time) {
            time = Some(name.to_owned());
        } else if exactly(&names.duration) {
            duration = Some(name.to_owned());
        } else if about(&names.attribute) || (belongs_to_people(who, list) && !about(&names.label)) {
            attributes.push(name.to_owned());
        } else if has_few_values(list) {
            answers.push(name.to_owned());
        }
    }
    if answers.is_empty() {
        return Ok(None);
    }
    let mut lists: Vec<String> = vec![table.name(who.column).to_owned()];
    lists.extend(answers.iter().chain(&attributes).chain(&time).chain(&duration).cloned());
    let taken: Vec<usize> = lists.iter().filter_map(|name| table.place(name)).collect();
    let mut roles = table.rest_of_texts(&taken)?;
    if roles.text.is_none() && roles.text_id.is_none() {
        return Ok(None);
    }
    roles.annotator = Some(lists[0].clone());
    (roles.attributes, roles.time, roles.duration) = (attributes, time, duration);
    let shown: Vec<&str> = answers.iter().map(String::as_str).collect();
    let reasons = vec![format!("\"{}\" and {} list as many entries in each row", lists[0], some(&shown))];
    let mut reading =
        TableReading { lists, separator: separator.map(str::to_owned), ..TableReading::default() };
    match answers.as_slice() {
        [label] => roles.label = Some(label.clone()),
        several => {
            reading.answers = several
                .iter()
                .map(|column| AnswerColumn {
                    column: column.clone(),
                    question: Some(column.clone()),
                    ..AnswerColumn::default()
                })
                .collect();
        }
    }
    reading.roles = roles;
    let confidence = if separator.is_some() { 0.8 } else { 0.95 };
    Ok(Some(RankedReading {
        reading,
        title: "Lists of people and their answers in each row".to_owned(),
        confidence,
        reasons,
    }))
}

/// Whether an entry is the same wherever its person comes, and people come again.
fn belongs_to_people(who: &List, list: &List) -> bool {
    let mut of: HashMap<String, (String, bool)> = HashMap::new();
    let mut again = 0;
    for (people, values) in who.rows.iter().zip(&list.rows) {
        for (person, value) in people.iter().zip(values) {
            let value = value.to_string();
            let (first, same) = of.entry(person.to_string()).or_insert_with(|| {
                again -= 1;
                (value.clone(), true)
            });
            again += 1;
            *same &= *first == value;
        }
    }
    let values: BTreeSet<&String> = of.values().map(|(first, _)| first).collect();
    again >= 4 && values.len() > 1 && of.len() > 1 && of.values().all(|(_, same)| *same)
}

fn has_few_values(list: &List) -> bool {
    let values: BTreeSet<String> = list
        .rows
        .iter()
        .flatten()
        .flat_map(|entry| match entry {
            Value::Array(options) => options.iter().map(Value::to_string).collect(),
            one => vec![one.to_string()],
        })
        .collect();
    values.len() <= super::sample::LEVELS.max(40)
}
