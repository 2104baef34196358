//! Tables with one row a text and pairs of columns: `worker_1` with `score_1`, `worker_2` with `score_2`.

use super::names::{Series, series, words};
use super::{RankedReading, Table, some};
use crate::ExchangeError;
use crate::reading::table_reading::{AnswerColumn, TableReading};
use crate::vocabulary::vocabulary;

/// Whether a series is named after annotators: `worker_1`, `annotator_id_G1`.
fn names_people(series: &Series) -> bool {
    let names = &vocabulary().columns;
    let stem = words(&series.label());
    // Removes the letter of a group after the name: G1.
    let words: Vec<&str> = stem.iter().map(String::as_str).filter(|word| word.chars().count() > 1).collect();
    let name = words.concat();
    names.annotator.contains(&name) || name.ends_with("turkid") || name.ends_with("workerid")
}

/// Whether a column holds whole numbers of a scale with more steps than most, such as points out of 25 or
/// 100.
fn is_rating(table: &Table<'_>, column: usize) -> bool {
    let rating = |value: &String| {
        value.parse::<f64>().is_ok_and(|x| x.fract() == 0.0 && (-100.0..=100.0).contains(&x))
    };
    table.sample.counts(column).keys().all(rating)
}

pub(super) fn readings(table: &Table<'_>) -> Result<Vec<RankedReading>, ExchangeError> {
    let all: Vec<usize> = (0..table.sample.width()).filter(|column| !table.is_left_out(*column)).collect();
    let found = series(&table.sample.columns, &all);
    let names = &vocabulary().columns;
    let Some(who) = found.iter().find(|series| names_people(series)) else {
        return Ok(Vec::new());
    };
    let close_series: Vec<&Series> = found
        .iter()
        .filter(|series| series.stem() != who.stem())
        .filter(|series| series.columns.keys().filter(|number| who.columns.contains_key(number)).count() > 1)
        .collect();
    let is_attribute = |series: &&&Series| {
        let stem = series.stem();
        let person = words(&who.label()).into_iter().next().unwrap_or_default();
        let about =
            stem.strip_prefix(&who.stem()).or_else(|| stem.strip_prefix(&person)).unwrap_or(&stem).to_owned();
        names.attribute.contains(&about)
    };
    let answers: Vec<&&Series> = close_series
        .iter()
        .filter(|series| !is_attribute(series))
        .filter(|series| {
            series.columns.values().all(|column| {
                table.sample.filled(*column) == 0
                    || table.may_be_answers(*column)
                    || is_rating(table, *column)
            })
        })
        .collect();
    if answers.is_empty() {
        return Ok(Vec::new());
    }
    // Columns of annotators and of their answers have different names.
    let with: Vec<usize> = answers
        .iter()
        .flat_map(|series| series.columns.values().copied())
        .chain(who.columns.values().copied())
        .collect();
    if super::shared_values::share_values(table, &with, 0.5) {
        return Ok(Vec::new());
    }
    let mut taken: Vec<usize> = who.columns.values().copied().collect();
    let mut columns = Vec::new();
    for (number, annotator) in &who.columns {
        for series in &answers {
            let Some(column) = series.columns.get(number) else { continue };
            taken.push(*column);
            columns.push(AnswerColumn {
                column: table.name(*column).to_owned(),
                question: (answers.len() > 1).then(|| series.label()),
                annotator: Some(table.name(*annotator).to_owned()),
                ..AnswerColumn::default()
            });
        }
    }
    let roles = table.rest_of_texts(&taken)?;
    if roles.text.is_none() && roles.text_id.is_none() {
        return Ok(Vec::new());
    }
    // An answer without its annotator is left out, which has to be reported.
    let whole =
        answers.iter().all(|series| series.columns.keys().all(|number| who.columns.contains_key(number)));
    let shown: Vec<String> = answers.iter().map(|series| series.label()).collect();
    let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
    let reading = TableReading { roles, answers: columns, ..TableReading::default() };
    Ok(vec![RankedReading {
        reading,
        title: format!("{} pairs of who answered and what", who.columns.len()),
        confidence: if whole { 0.95 } else { 0.6 },
        reasons: vec![format!("the columns \"{}\" and {} have the same numbers", who.label(), some(&shown))],
    }])
}
