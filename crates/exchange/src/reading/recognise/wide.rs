//! Tables with one row a text and a column for each annotator.

use super::names::{common_ends, series, words};
use super::sample::Kind;
use super::shared_values::share_values;
use super::{RankedReading, Table, some};
use crate::ExchangeError;
use crate::reading::table_reading::{AnswerColumn, TableReading};
use crate::roles::simplified;
use crate::vocabulary::vocabulary;
use dissensus_domain::Attributes;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of columns for a comparison of all pairs.
const COMPARED: usize = 300;

/// A column of answers with its annotator, and the question where annotators answer several.
#[derive(Clone, Debug)]
struct Cell {
    column: usize,
    person: String,
    question: Option<String>,
}

pub(super) fn readings(table: &Table<'_>) -> Result<Vec<RankedReading>, ExchangeError> {
    // If each row names an annotator, the answers are that annotator's.
    let annotator = super::long::annotator(table);
    let columns: Vec<usize> = (0..table.sample.width())
        .filter(|column| table.may_be_answers(*column) || table.sample.filled(*column) == 0)
        .filter(|column| !is_aggregate(table, *column) && !table.is_left_out(*column))
        .filter(|column| {
            ![&table.plain.split, &table.plain.text]
                .iter()
                .any(|role| role.as_deref() == Some(table.name(*column)))
        })
        .collect();
    let mut found = Vec::new();
    // Other numbered columns with the same values may be further annotators, which has to be reported.
    let mut both = |cells: Vec<Cell>, confidence: f64, reason: String| -> Result<(), ExchangeError> {
        let more = like_these(table, &columns, &cells);
        if more.is_empty() {
            found.extend(reading(table, cells, confidence, reason)?);
            return Ok(());
        }
        let named: Vec<&str> = more.iter().map(|column| table.name(*column)).collect();
        let why = format!("{reason}; {} hold the same values", some(&named));
        let all: Vec<Cell> = cells.iter().cloned().chain(people(table, &more)).collect();
        found.extend(reading(table, all, confidence, why)?);
        found.extend(reading(table, cells, 0.9 * confidence, reason)?);
        Ok(())
    };
    if let Some((cells, reason)) = called_people(table, &columns) {
        both(cells, 0.93, reason)?;
    } else if annotator.is_none() {
        if let Some((cells, reason)) = numbered(table, &columns) {
            both(cells, 0.9, reason)?;
        } else if let Some((cells, confidence, reason)) = alike(table, &columns) {
            found.extend(reading(table, cells, confidence, reason)?);
        }
    }
    Ok(found)
}

/// Finds numbered series among the other columns that are as long as those of the annotators and have the
/// same values, if annotators answer one question.
fn like_these(table: &Table<'_>, columns: &[usize], cells: &[Cell]) -> Vec<usize> {
    if cells.iter().any(|cell| cell.question.is_some()) {
        return Vec::new();
    }
    let taken: Vec<usize> = cells.iter().map(|cell| cell.column).collect();
    let free: Vec<usize> = columns.iter().copied().filter(|column| !taken.contains(column)).collect();
    let alike = series(&table.sample.columns, &free).into_iter().filter(|series| {
        let members: Vec<usize> = series.columns.values().copied().collect();
        let known = vocabulary();
        let other = [&known.shapes.questions, &known.shapes.not_answers, &known.columns.text];
        let asks = words(&series.label()).iter().any(|word| other.iter().any(|names| names.contains(word)));
        members.len() * 2 >= taken.len()
            && !asks
            && share_values(table, &[taken.as_slice(), &members].concat(), 0.5)
    });
    alike.flat_map(|series| series.columns.into_values()).collect()
}

/// Whether a column aggregates the answers of several annotators.
fn is_aggregate(table: &Table<'_>, column: usize) -> bool {
    let aggregates = &vocabulary().shapes.aggregates;
    // A word that is also the name of a label does not make a longer name an aggregate.
    let part = |word: &String| aggregates.contains(word) && !vocabulary().columns.label.contains(word);
    table.is_called(column, aggregates) || words(table.name(column)).iter().any(part)
}

/// Finds columns named after annotators, with a number or a letter: `rater_1`, `coder A`, `Annotator2_toxic`.
fn called_people(table: &Table<'_>, columns: &[usize]) -> Option<(Vec<Cell>, String)> {
    let names = &vocabulary().columns;
    let mut people: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
    for column in columns {
        let words = words(table.name(*column));
        let at = words.iter().position(|word| {
            names.annotator.contains(word) || vocabulary().shapes.person_letters.contains(word)
        });
        let Some(at) = at else { continue };
        let weak = !names.annotator.contains(&words[at]);
        let Some(index) =
            words.get(at + 1).filter(|index| is_index(index) && (!weak || index.parse::<u32>().is_ok()))
        else {
            continue;
        };
        let rest: Vec<&str> = words
            .iter()
            .enumerate()
            .filter(|(nth, _)| *nth != at && *nth != at + 1)
            .map(|(_, word)| word.as_str())
            .collect();
        people.entry(format!("{} {index}", words[at])).or_default().push((*column, rest.join("_")));
    }
    // Attributes of numbered annotators are not answers.
    for columns in people.values_mut() {
        columns.retain(|(_, rest)| !names.attribute.contains(&simplified(rest)));
    }
    // Names that differ only by a sign are written out: `is_abuse.1`, `is_abuse.-1`.
    for (person, columns) in &mut people {
        let again: Vec<bool> = columns
            .iter()
            .map(|(_, rest)| columns.iter().filter(|(_, other)| other == rest).count() > 1)
            .collect();
        let index = person.rsplit(' ').next().unwrap_or_default().to_owned();
        for ((column, rest), _) in columns.iter_mut().zip(again).filter(|(_, again)| *again) {
            let name = table.name(*column);
            let behind = name.to_lowercase().find(&index).map_or(0, |at| at + index.len());
            *rest = name.get(behind..).unwrap_or(name).trim_matches(['_', ' ']).to_owned();
        }
    }
    people.retain(|_, columns| !columns.is_empty());
    if people.len() < 2 {
        return None;
    }
    let several = people.values().any(|columns| columns.len() > 1);
    if !several {
        let with: Vec<usize> = people.values().flatten().map(|(column, _)| *column).collect();
        for column in without_number(table, columns, &with) {
            people.insert(table.name(column).to_owned(), vec![(column, String::new())]);
        }
    }
    let rests: BTreeSet<&String> = people.values().flatten().map(|(_, rest)| rest).collect();
    // All annotators answer the same questions, apart from gaps.
    let shared = rests
        .iter()
        .all(|rest| people.values().filter(|columns| columns.iter().any(|(_, r)| r == *rest)).count() > 1);
    if several && !shared {
        return None;
    }
    let columns: Vec<usize> = people.values().flatten().map(|(column, _)| *column).collect();
    let cells: Vec<Cell> = people
        .iter()
        .flat_map(|(person, columns)| {
            columns.iter().map(|(column, rest)| Cell {
                column: *column,
                person: if several { person.replace(' ', "_") } else { table.name(*column).to_owned() },
                question: several.then(|| if rest.is_empty() { "label".to_owned() } else { rest.clone() }),
            })
        })
        .collect();
    // A single question has values of one kind; a column clearly named after an annotator may have few of
    // them.
    let surely = columns
        .iter()
        .all(|column| words(table.name(*column)).iter().any(|word| names.annotator.contains(word)));
    if !several && !surely && !share_values(table, &columns, 0.3) {
        return None;
    }
    let names: Vec<&str> = columns.iter().map(|column| table.name(*column)).collect();
    Some((cells, format!("{} are called after annotators", some(&names))))
}

/// Finds columns of annotators that are the only ones of their kind and have no number: an expert among
/// amateurs.
fn without_number(table: &Table<'_>, columns: &[usize], numbered: &[usize]) -> Vec<usize> {
    let names = &vocabulary().columns.annotator;
    let free = columns
        .iter()
        .copied()
        .filter(|column| !numbered.contains(column) && table.is_called(*column, names));
    free.filter(|column| share_values(table, &[numbered, &[*column]].concat(), 0.3)).collect()
}

fn is_index(word: &str) -> bool {
    word.parse::<u32>().is_ok() || word.chars().count() == 1
}

/// `label_1_M`, `label_2_F`: numbered columns that hold values of one kind, without names of annotators.
fn numbered(table: &Table<'_>, columns: &[usize]) -> Option<(Vec<Cell>, String)> {
    let of_label = |column: &usize| {
        let words = words(table.name(*column));
        if words.first().is_some_and(|word| vocabulary().shapes.questions.contains(word)) {
            return false;
        }
        let label = words.iter().any(|word| {
            vocabulary().columns.label.contains(word)
                || vocabulary().columns.label.iter().any(|l| format!("{l}s") == *word)
        });
        let number = words.iter().filter(|word| word.parse::<u32>().is_ok()).count() == 1;
        label && number
    };
    let labels: Vec<usize> = columns.iter().copied().filter(of_label).collect();
    let mut numbers: Vec<String> = labels
        .iter()
        .filter_map(|column| words(table.name(*column)).into_iter().find(|word| word.parse::<u32>().is_ok()))
        .collect();
    let all = numbers.len();
    numbers.sort();
    numbers.dedup();
    let mut found = match labels.len() > 1 && numbers.len() == all {
        true => labels,
        false => {
            let longest = series(&table.sample.columns, columns)
                .into_iter()
                .max_by_key(|series| series.columns.len())?;
            if longest.columns.len() < 3
                || words(&longest.label()).iter().any(|word| vocabulary().shapes.questions.contains(word))
            {
                return None;
            }
            longest.columns.into_values().collect()
        }
    };
    if found.len() < 2 || !share_values(table, &found, 0.5) {
        return None;
    }
    let names: Vec<&str> = found.iter().map(|column| table.name(*column)).collect();
    let reason = format!("{} have the same name but for a number, and hold the same values", some(&names));
    found.splice(0..0, without_number(table, columns, &found));
    Some((people(table, &found), reason))
}

/// Finds columns that hold the same values, whatever they are called: annotators, or countries.
fn alike(table: &Table<'_>, columns: &[usize]) -> Option<(Vec<Cell>, f64, String)> {
    let used: Vec<usize> = table
        .plain
        .named()
        .iter()
        .filter(|(role, _)| *role != "label")
        .filter_map(|(_, n)| table.place(n))
        .collect();
    let free: Vec<usize> = columns.iter().copied().filter(|column| !used.contains(column)).collect();
    // With very many columns, comparing all pairs takes too long.
    if free.len() > COMPARED {
        return None;
    }
    // For each column, those with the same values; the largest group is used.
    let groups = free.iter().map(|first| {
        free.iter()
            .copied()
            .filter(|other| share_values(table, &[*first, *other], 0.5))
            .collect::<Vec<usize>>()
    });
    let found = groups.max_by_key(Vec::len)?;
    let names: Vec<&str> = found.iter().map(|column| table.name(*column)).collect();
    let (before, behind) = common_ends(&names);
    let by_name = found.len() > 1 && !(before.is_empty() && behind.is_empty());
    if found.len() < 2 || !by_name && found.len() < 3 || !share_values(table, &found, 0.5) {
        return None;
    }
    let marks =
        found.iter().all(|column| matches!(table.sample.kind(*column), Kind::ZeroOne | Kind::TrueFalse));
    let ends = words(before).into_iter().chain(words(behind));
    let of_label = ends.into_iter().any(|word| vocabulary().columns.label.contains(&word));
    // Numbers with decimals, and counts, are measurements of texts.
    if found.iter().any(|column| table.sample.kind(*column) == Kind::Numbers) {
        return None;
    }
    let confidence = match (of_label && found.len() > 2, marks) {
        (true, _) => 0.85,
        (_, true) => 0.3,
        _ => 0.45,
    };
    let reason = format!("{} hold the same few values", some(&names));
    Some((people(table, &found), confidence, reason))
}

/// Makes an annotator for each column, named after the part of the column's name that is not common to all.
fn people(table: &Table<'_>, columns: &[usize]) -> Vec<Cell> {
    let names: Vec<&str> = columns.iter().map(|column| table.name(*column)).collect();
    let (before, behind) = common_ends(&names);
    let general = |end: &str| words(end).iter().any(|word| vocabulary().columns.label.contains(word));
    let before = if general(before) { before } else { "" };
    let behind = if general(behind) { behind } else { "" };
    let own = |name: &str| {
        name[before.len()..name.len() - behind.len()].trim_matches(['_', ' ', '-', '.']).to_owned()
    };
    let person = |(column, name): (&usize, &&str)| {
        let own = own(name);
        let bare = own.is_empty() || own.chars().all(|c| c.is_ascii_digit());
        Cell { column: *column, person: if bare { (*name).to_owned() } else { own }, question: None }
    };
    columns.iter().zip(&names).map(person).collect()
}

fn reading(
    table: &Table<'_>,
    cells: Vec<Cell>,
    confidence: f64,
    reason: String,
) -> Result<Option<RankedReading>, ExchangeError> {
    let taken: Vec<usize> = cells.iter().map(|cell| cell.column).collect();
    let mut roles = table.rest_of_texts(&taken)?;
    if roles.text_id.is_none() && roles.text.is_none() {
        super::text_ids::find(table, &mut roles);
    }
    if roles.text_id.is_none() && roles.text.is_none() {
        return Ok(None);
    }
    let attributes = suffixes(&cells, table);
    let people: BTreeSet<&String> = cells.iter().map(|cell| &cell.person).collect();
    let title = format!("A column for each of {} people", people.len());
    let mut reasons = vec![reason];
    if let Some((name, _)) = attributes.values().next() {
        reasons.push(format!("the ends of the names are stored as the attribute \"{name}\""));
    }
    let answer = |cell: Cell| AnswerColumn {
        column: table.name(cell.column).to_owned(),
        annotator: Some(format!("={}", cell.person)),
        attributes: attributes
            .get(&cell.column)
            .map(|(name, value)| Attributes::from([(name.clone(), value.clone())]))
            .unwrap_or_default(),
        question: cell.question,
        ..AnswerColumn::default()
    };
    let answers = cells.iter().cloned().map(answer).collect();
    let reading = TableReading { roles, answers, ..TableReading::default() };
    Ok(Some(RankedReading { reading, title, confidence, reasons }))
}

/// Splits the suffixes of columns after the number of an annotator, where several annotators share each
/// suffix, into the name of the attribute and the value, by column.
fn suffixes(cells: &[Cell], table: &Table<'_>) -> BTreeMap<usize, (String, String)> {
    let end = |cell: &Cell| {
        let words = words(table.name(cell.column));
        let number = words.iter().rposition(|word| word.parse::<u32>().is_ok())?;
        (number + 2 == words.len()).then(|| {
            // In the original case.
            let name = table.name(cell.column);
            let length = words.last().map_or(0, |word| word.chars().count());
            name.chars().rev().take(length).collect::<Vec<char>>().into_iter().rev().collect::<String>()
        })
    };
    let ends: Option<Vec<String>> = cells.iter().map(end).collect();
    let Some(ends) = ends.filter(|_| cells.iter().all(|cell| cell.question.is_none())) else {
        return BTreeMap::new();
    };
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for end in &ends {
        *counts.entry(end).or_default() += 1;
    }
    if counts.len() < 2 || counts.values().all(|count| *count < 2) && counts.len() == ends.len() {
        return BTreeMap::new();
    }
    let gender = counts.keys().all(|end| vocabulary().shapes.genders.contains(&end.to_lowercase()));
    let name = if gender { "gender" } else { "group" };
    cells.iter().zip(ends).map(|(cell, end)| (cell.column, (name.to_owned(), end))).collect()
}
