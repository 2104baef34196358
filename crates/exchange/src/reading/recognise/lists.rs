//! Tables with one row a text, whose cells are lists of annotators and answers.

use super::{RankedReading, Table, some};
use crate::ExchangeError;
use crate::reading::reshaped_records::POSITION;
use crate::reading::table_reading::{AnswerColumn, TableReading};
use crate::reading::value_rules::is_comma_number;
use crate::roles::simplified;
use crate::truth::missing_code;
use crate::vocabulary::vocabulary;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Separators between the values of one cell without brackets.
const SEPARATORS: [&str; 4] = [";", "|", ",", " "];

/// Confidence of a reading that identifies annotators only by their position in a list: never more than that
/// of texts only.
const UNNAMED: f64 = 0.5;

/// A column of lists: its index, and the entries of each row.
struct List {
    column: usize,
    rows: Vec<Vec<Value>>,
}

pub(super) fn readings(table: &Table<'_>) -> Result<Vec<RankedReading>, ExchangeError> {
    let found = find(table, None);
    let mut readings = Vec::new();
    for list in &found {
        if let Some(ranked) = of_objects(table, list)? {
            match ranked.confidence > UNNAMED {
                true => readings.push(ranked),
                false => readings.extend(next_to_texts(ranked)),
            }
        }
    }
    readings.extend(of_parallel_lists(table, &found, None)?);
    if readings.is_empty() {
        for separator in SEPARATORS {
            // A comma in numbers is their decimal point.
            let decimals = |list: &List| separator == "," && are_decimals(table, list);
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

/// Returns the readings of lists of answers without annotators, each with that of texts only as the
/// alternative: the answers may be of as many annotators as there are answers.
pub(super) fn unnamed(table: &Table<'_>) -> Result<Vec<RankedReading>, ExchangeError> {
    let mut found = without_annotators(table, &find(table, None), None)?;
    for separator in &SEPARATORS[..3] {
        if found.is_some() {
            break;
        }
        // A sentence has commas, too: (nearly) all cells must have the same number of entries.
        let of_one_length = |list: &List| {
            let longest = list.rows.iter().map(Vec::len).max().unwrap_or(0);
            let filled: Vec<usize> = list.rows.iter().map(Vec::len).filter(|length| *length > 0).collect();
            let long = filled.iter().filter(|length| **length * 2 >= longest).count();
            longest > 1 && long * 10 >= filled.len() * 9
        };
        let separated: Vec<List> = find(table, Some(separator))
            .into_iter()
            .filter(|list| of_one_length(list) && !(*separator == "," && are_decimals(table, list)))
            .collect();
        found = without_annotators(table, &separated, Some(separator))?;
    }
    Ok(found.into_iter().flat_map(next_to_texts).collect())
}

/// Returns a reading with unnamed annotators, and that of the texts only.
fn next_to_texts(ranked: RankedReading) -> [RankedReading; 2] {
    let texts = RankedReading {
        reading: TableReading::from_roles(super::of_texts(ranked.reading.roles.clone())),
        title: "Texts".to_owned(),
        confidence: UNNAMED,
        reasons: vec!["no column names who answered".to_owned()],
    };
    [ranked, texts]
}

/// Whether all values are numbers, some with a comma before their decimals.
fn are_decimals(table: &Table<'_>, list: &List) -> bool {
    table
        .sample
        .counts(list.column)
        .keys()
        .all(|v| is_comma_number(v) || v.parse::<f64>().is_ok() || missing_code(v).is_some())
}

fn find(table: &Table<'_>, separator: Option<&str>) -> Vec<List> {
    let list = |column| Some(List { column, rows: table.sample.lists(column, separator)? });
    (0..table.sample.width()).filter_map(list).collect()
}

/// The values of one field of the objects in a list.
#[derive(Default)]
struct Field {
    /// As text; for lists, each option.
    values: BTreeSet<String>,
    /// Number of objects with the field.
    filled: usize,
}

/// `[{"annotator": "a", "label": 1}]`, or `{"a": 1}`.
fn of_objects(table: &Table<'_>, list: &List) -> Result<Option<RankedReading>, ExchangeError> {
    let entries = || list.rows.iter().flatten();
    if entries().next().is_none() || !entries().all(|entry| entry.is_object() || entry.is_null()) {
        return Ok(None);
    }
    let mut fields: BTreeMap<&str, Field> = BTreeMap::new();
    for (field, value) in
        entries().filter_map(Value::as_object).flatten().filter(|(_, value)| !value.is_null())
    {
        let known = fields.entry(field).or_default();
        known.filled += 1;
        match value {
            Value::Array(options) => known.values.extend(options.iter().map(crate::annotations::plain)),
            one => drop(known.values.insert(crate::annotations::plain(one))),
        }
    }
    let names = &vocabulary().columns;
    let called = |names: &[String]| {
        let found = names.iter().find_map(|name| fields.keys().find(|field| simplified(field) == *name));
        found.map(|field| (*field).to_owned())
    };
    let is_share = |value: &String| value.parse::<f64>().is_ok_and(|x| x.fract() != 0.0 || x > 20.0);
    let pairs = fields.len() == 2 && fields.contains_key("key") && fields.contains_key("value");
    // A dictionary in a row that names its annotator is something else.
    if pairs && table.plain.annotator.is_some() {
        return Ok(None);
    }
    // Levels with their shares or counts, or with the annotators who chose them, are not annotators with
    // their answers.
    let nested = || {
        entries().filter_map(|entry| entry.get("value")).any(|value| value.is_array() || value.is_object())
    };
    if fields.get("value").is_some_and(|field| pairs && (field.values.iter().any(is_share) || nested())) {
        return Ok(None);
    }
    let by_id = || called(&names.text_id).filter(|id| name_people(list, id));
    let who = if pairs { Some("key".to_owned()) } else { called(&names.annotator).or_else(by_id) };
    let spans = called(&names.span_start).is_some() && called(&names.span_end).is_some();
    if spans && who.is_none() {
        // Passages that the annotator of the row has marked.
        return Ok(None);
    }
    let is_of_people = |field: &str| {
        let text = |entry: &Value, field: &str| entry.get(field).map(crate::annotations::plain);
        let pair = |entry: &Value| Some((text(entry, who.as_deref()?)?, text(entry, field)?));
        belong_to_people(entries().filter_map(pair))
    };
    let label = if pairs { Some("value".to_owned()) } else { called(&names.label) };
    let (mut answers, mut attributes): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for (name, field) in fields.iter().filter(|(name, _)| Some(**name) != who.as_deref()) {
        let plain = simplified(name);
        let is = |names: &[String]| names.contains(&plain);
        if names.attribute.contains(&plain) || (label.as_deref() != Some(*name) && is_of_people(name)) {
            attributes.push((*name).to_owned());
        } else if label.as_deref() == Some(*name) {
            // A dictionary of something other than annotators and their answers has many values.
            if field.values.len() > super::sample::LEVELS.max(100) {
                return Ok(None);
            }
            answers.push((*name).to_owned());
        } else if !is(&names.time) && !is(&names.duration) && !is(&vocabulary().shapes.not_answers) {
            // If there is a label, only a clearly recurring field is another answer.
            let few = (2..=super::sample::LEVELS).contains(&field.values.len());
            let again = label.is_none() || field.values.len() * 3 <= field.filled;
            if few && again && !plain.ends_with("id") {
                answers.push((*name).to_owned());
            }
        }
    }
    if answers.is_empty() || pairs && answers.len() > 1 {
        return Ok(None);
    }
    let column = table.name(list.column).to_owned();
    let mut roles = table.rest_of_texts(&[list.column])?;
    if roles.text.is_none() && roles.text_id.is_none() {
        return Ok(None);
    }
    let of_list = |field: &str| format!("{column}.{field}");
    roles.annotator = Some(of_list(who.as_deref().unwrap_or(POSITION)));
    let about = |names: &[String]| called(names).filter(|field| Some(field) != who.as_ref());
    roles.time = about(&names.time).map(|field| of_list(&field));
    roles.duration = about(&names.duration).map(|field| of_list(&field));
    roles.attributes = attributes.iter().map(|field| of_list(field)).collect();
    let shown: Vec<&str> = answers.iter().map(String::as_str).collect();
    let by = who.clone().unwrap_or_else(|| "by its place, as nobody is named".to_owned());
    let reasons = vec![format!("\"{column}\" lists who answered ({by}) and what ({})", some(&shown))];
    let mut reading = TableReading { lists: vec![column.clone()], ..TableReading::default() };
    match answers.as_slice() {
        [label] => roles.label = Some(of_list(label)),
        several => {
            let answer = |field: &String| AnswerColumn {
                column: of_list(field),
                question: Some(field.clone()),
                ..AnswerColumn::default()
            };
            reading.answers = several.iter().map(answer).collect();
        }
    }
    reading.roles = roles;
    // Names of keys, ids and positions say little about their meaning.
    let sure = match &who {
        Some(_) if pairs => {
            is_about_answers(table, list.column)
                && fields
                    .get("key")
                    .is_some_and(|keys| keys.values.len() > list.rows.iter().map(Vec::len).max().unwrap_or(0))
        }
        Some(_) => called(&names.annotator).is_some() || label.is_some(),
        None => false,
    };
    let (title, confidence) = match who {
        Some(_) if sure && !spans => ("A list of answers in each row", 0.95),
        Some(_) => ("A list of answers in each row", UNNAMED),
        None => ("A list of answers in each row, of people who are not named", UNNAMED),
    };
    Ok(Some(RankedReading { reading, title: title.to_owned(), confidence, reasons }))
}

/// Whether the ids of entries identify annotators: they recur in other rows, and are not positions.
fn name_people(list: &List, id: &str) -> bool {
    let ids = |row: &Vec<Value>| {
        row.iter().filter_map(|entry| entry.get(id)).map(Value::to_string).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = list.rows.iter().map(ids).collect();
    let all: usize = rows.iter().map(Vec::len).sum();
    let different: BTreeSet<&String> = rows.iter().flatten().collect();
    let places = |first: usize| {
        rows.iter().all(|row| row.iter().enumerate().all(|(at, id)| *id == (at + first).to_string()))
    };
    different.len() * 2 <= all && !places(0) && !places(1)
}

/// Whether the name of a column is that of answers or of annotators, and not of an aggregate.
fn is_about_answers(table: &Table<'_>, column: usize) -> bool {
    let names = &vocabulary().columns;
    let words = super::names::words(table.name(column));
    let plain = |word: &String| word.strip_suffix('s').map_or_else(|| word.clone(), str::to_owned);
    let sums = |word: &String| vocabulary().shapes.aggregates.contains(word) && !names.label.contains(word);
    words.iter().any(|word| names.label.contains(&plain(word)) || names.annotator.contains(&plain(word)))
        && !words.iter().any(|word| sums(word) || sums(&plain(word)))
}

/// Returns the reading of lists that hold only answers: their annotators have to be given, and only the
/// position in the list distinguishes them.
fn without_annotators(
    table: &Table<'_>,
    lists: &[List],
    separator: Option<&str>,
) -> Result<Option<RankedReading>, ExchangeError> {
    let names = &vocabulary().columns;
    if table.plain.annotator.is_some() {
        return Ok(None);
    }
    let is_called = |list: &&List| {
        let words = super::names::words(table.name(list.column));
        let plain = |word: &String| word.strip_suffix('s').map(str::to_owned).unwrap_or_else(|| word.clone());
        words.iter().any(|word| names.label.contains(&plain(word)))
    };
    let of_answers = |list: &&List| {
        let scalar = |entry: &Value| !entry.is_object() && !entry.is_array();
        list.rows.iter().flatten().all(scalar)
            && has_few_values(list)
            && list.rows.iter().any(|row| row.len() > 1)
    };
    let Some(list) = lists.iter().filter(of_answers).find(is_called) else { return Ok(None) };
    let column = table.name(list.column).to_owned();
    let mut roles = table.rest_of_texts(&[list.column])?;
    if roles.text.is_none() && roles.text_id.is_none() {
        return Ok(None);
    }
    roles.annotator = Some(format!("{column}.{POSITION}"));
    roles.label = Some(column.clone());
    let reading = TableReading {
        roles,
        lists: vec![column.clone()],
        separator: separator.map(str::to_owned),
        ..TableReading::default()
    };
    Ok(Some(RankedReading {
        reading,
        title: "A list of answers in each row, of people who are not named".to_owned(),
        confidence: UNNAMED,
        reasons: vec![format!(
            "\"{column}\" lists several answers; the first of each row would be one person's, and so on"
        )],
    }))
}

/// `annotators: ["a", "b"]` next to `labels: [0, 1]`.
fn of_parallel_lists(
    table: &Table<'_>,
    lists: &[List],
    separator: Option<&str>,
) -> Result<Option<RankedReading>, ExchangeError> {
    let names = &vocabulary().columns;
    // In a table that names one annotator a row, lists are answers.
    let scalar_annotator = table.plain.annotator.as_deref().and_then(|name| table.place(name));
    if scalar_annotator.is_some_and(|column| !lists.iter().any(|list| list.column == column)) {
        return Ok(None);
    }
    // Names of people contain spaces, and a name such as "Smith, Ann" a comma: values without brackets are
    // lists only if the name of the column is plural, or if they recur in other combinations.
    let may_be_one = |list: &List| separator.is_none() || separator != Some(" ") && recombine(list);
    let singular = |list: &&List| {
        let name = simplified(table.name(list.column));
        let whole = Some(name.as_str()).filter(|_| may_be_one(list));
        let plain = [name.strip_suffix("ids"), name.strip_suffix('s'), whole];
        plain.into_iter().flatten().any(|name| names.annotator.iter().any(|known| known == name))
    };
    // A few rows that do not fit are bad rows.
    let flat = |list: &&List| {
        let nested =
            |entries: &&Vec<Value>| entries.iter().any(|entry| entry.is_array() || entry.is_object());
        list.rows.iter().filter(nested).count() * 10 <= list.rows.len()
    };
    // All of a row are different annotators, and annotators recur in other rows.
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
            let several = may_be_one(list) || name.ends_with('s') || name.ends_with("list");
            several && names.annotator.iter().any(|known| known.len() > 3 && name.contains(known.as_str()))
        };
        unnamed.find(words)
    }) else {
        return Ok(None);
    };
    let as_long = |list: &List| {
        let bad = list.rows.iter().zip(&who.rows).filter(|(these, those)| these.len() != those.len()).count();
        // A few bad rows are reported when they are read.
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

/// Whether most entries occur in cells that differ.
fn recombine(list: &List) -> bool {
    let mut cells: BTreeMap<String, BTreeSet<Vec<String>>> = BTreeMap::new();
    for row in &list.rows {
        let row: Vec<String> = row.iter().map(Value::to_string).collect();
        for entry in &row {
            cells.entry(entry.clone()).or_default().insert(row.clone());
        }
    }
    cells.values().filter(|cells| cells.len() > 1).count() * 2 > cells.len()
}

/// Runs [`belong_to_people`] on two lists.
fn belongs_to_people(who: &List, list: &List) -> bool {
    let of_row = |(people, values): (&Vec<Value>, &Vec<Value>)| {
        people
            .iter()
            .zip(values)
            .map(|(person, value)| (person.to_string(), value.to_string()))
            .collect::<Vec<_>>()
    };
    belong_to_people(who.rows.iter().zip(&list.rows).flat_map(of_row))
}

/// Whether a value is the same for all occurrences of its annotator, and annotators recur. Takes pairs of
/// annotator and value.
fn belong_to_people(entries: impl Iterator<Item = (String, String)>) -> bool {
    let mut of: HashMap<String, (String, bool)> = HashMap::new();
    let mut again = 0;
    for (person, value) in entries {
        let (first, same) = of.entry(person).or_insert_with(|| {
            again -= 1;
            (value.clone(), true)
        });
        again += 1;
        *same &= *first == value;
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
