//! Tables with one row a person and a column for each text, as surveys give them.

use super::names::common_ends;
use super::{RankedReading, Table};
use crate::ExchangeError;
use crate::reading::table_reading::{AnswerColumn, TableReading};
use crate::reading::vocabulary::vocabulary;
use crate::roles::{ColumnRoles, simplified};
use std::collections::BTreeSet;

/// The fewest columns that texts are seen in.
const TEXTS: usize = 3;
/// How many words a text has at least, on average over all.
const WORDS: f64 = 3.0;

pub(super) fn readings(table: &Table<'_>) -> Result<Vec<RankedReading>, ExchangeError> {
    if table.plain.text.is_some() {
        return Ok(Vec::new());
    }
    let columns: Vec<usize> = (0..table.sample.width())
        .filter(|column| !table.is_left_out(*column) && table.sample.is_few(*column))
        .filter(|column| words_of(table.name(*column)) >= 2)
        .collect();
    let Some((columns, texts)) = texts(table, &columns) else { return Ok(Vec::new()) };
    let Some(roles) = roles(table, &columns)? else { return Ok(Vec::new()) };
    let questions: BTreeSet<&str> = texts.iter().map(|(question, _)| question.as_str()).collect();
    let several = questions.len() > 1;
    let answer = |(column, (question, body)): (&usize, &(String, String))| AnswerColumn {
        column: table.name(*column).to_owned(),
        question: several.then(|| question.clone()),
        text: Some(body.clone()),
        ..AnswerColumn::default()
    };
    let answers: Vec<AnswerColumn> = columns.iter().zip(&texts).map(answer).collect();
    let of_people: Vec<&str> = roles.named().iter().map(|(_, name)| *name).collect();
    let is_left = |column: &usize| !columns.contains(column) && !of_people.contains(&table.name(*column));
    // What is said of a person is nothing of a text.
    let ignored =
        (0..table.sample.width()).filter(is_left).map(|column| table.name(column).to_owned()).collect();
    let bodies: BTreeSet<&str> = texts.iter().map(|(_, body)| body.as_str()).collect();
    let reasons = vec![format!(
        "the names of {} columns are texts, such as \"{}\"",
        columns.len(),
        shortened(&texts[0].1)
    )];
    let reading = TableReading { roles, answers, ignored, ..TableReading::default() };
    Ok(vec![RankedReading {
        reading,
        title: format!("A row for each person and a column for each of {} texts", bodies.len()),
        confidence: 0.9,
        reasons,
    }])
}

/// The columns whose names are texts, each with the question and the text.
fn texts(table: &Table<'_>, columns: &[usize]) -> Option<(Vec<usize>, Vec<(String, String)>)> {
    let names = |columns: &[usize]| columns.iter().map(|column| table.name(*column)).collect::<Vec<&str>>();
    let in_brackets: Vec<usize> =
        columns.iter().copied().filter(|column| bracketed(table.name(*column)).is_some()).collect();
    let (columns, texts): (Vec<usize>, Vec<(String, String)>) = if in_brackets.len() >= TEXTS {
        let found = in_brackets.iter().filter_map(|column| bracketed(table.name(*column))).collect();
        (in_brackets, found)
    } else {
        // Questions about people have other answers than those about texts.
        let like = |first: &usize| -> Vec<usize> {
            let alike = |other: &usize| super::wide::share_values(table, &[*first, *other], 0.5);
            columns.iter().copied().filter(alike).collect()
        };
        let found = columns.iter().map(like).max_by_key(Vec::len)?;
        let found_names = names(&found);
        let (before, behind) = common_ends(&found_names);
        // The question ends with its mark; without one, texts that begin alike have none where little is left of them.
        let ends = |(at, c): &(usize, char)| {
            let rest = &before[at + c.len_utf8()..];
            "?:|-\u{2013}".contains(*c) && (rest.is_empty() || rest.starts_with(char::is_whitespace))
        };
        let mark = before.char_indices().filter(ends).last().map(|(at, _)| at);
        let (before, behind) = match mark {
            Some(mark) => {
                let end = mark + before[mark..].chars().next().map_or(0, char::len_utf8);
                let space = before[end..].len() - before[end..].trim_start().len();
                (&before[..end + space], behind)
            }
            None => {
                let rest = |name: &&str| words_of(&name[before.len()..name.len() - behind.len()]);
                let wordy = found_names.iter().map(rest).sum::<usize>() as f64 >= WORDS * found.len() as f64;
                if words_of(before) > 1 && wordy { (before, behind) } else { ("", "") }
            }
        };
        let question = before.trim_matches(|c: char| c.is_whitespace() || "-–—:|".contains(c)).to_owned();
        let body = |name: &str| name[before.len()..name.len() - behind.len()].trim().to_owned();
        let texts = found_names.iter().map(|name| (question.clone(), body(name))).collect();
        (found, texts)
    };
    let words = texts.iter().map(|(_, body)| words_of(body)).sum::<usize>() as f64;
    let different: BTreeSet<&(String, String)> = texts.iter().collect();
    let fits = columns.len() >= TEXTS
        && words >= WORDS * columns.len() as f64
        && different.len() == columns.len()
        && texts.iter().all(|(_, body)| !body.is_empty())
        && super::wide::share_values(table, &columns, 0.3);
    fits.then_some((columns, texts))
}

/// `3. How rude is this? [You again]` asks "How rude is this?" of "You again".
fn bracketed(name: &str) -> Option<(String, String)> {
    let (question, body) = name.trim().strip_suffix(']')?.split_once('[')?;
    let number = question.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    let question = if number.len() < question.trim_start().len() {
        number.trim_start_matches(['.', ')', ':'])
    } else {
        question
    };
    (words_of(body) > 1).then(|| (question.trim().to_owned(), body.trim().to_owned()))
}

/// Who answered, when, and what is said of them; `None` where nothing names people.
fn roles(table: &Table<'_>, taken: &[usize]) -> Result<Option<ColumnRoles>, ExchangeError> {
    let rest = table.rest(taken)?;
    let free: Vec<usize> =
        (0..table.sample.width()).filter(|c| !taken.contains(c) && !table.is_left_out(*c)).collect();
    let is_unique = |column: &&usize| table.sample.counts(**column).len() == table.sample.rows();
    let names = &vocabulary().columns;
    let called = |wanted: &[String]| free.iter().copied().find(|column| table.is_called(*column, wanted));
    let time = called(&names.time);
    let annotator =
        rest.annotator.as_deref().and_then(|name| table.place(name)).filter(|c| !taken.contains(c));
    let annotator = annotator
        .or_else(|| called(&names.annotator).filter(|column| is_unique(&column)))
        .or_else(|| free.iter().filter(is_unique).find(|column| table.is_called_like_id(**column)).copied())
        .or_else(|| {
            free.iter()
                .filter(is_unique)
                .find(|column| simplified(table.name(**column)).contains("mail"))
                .copied()
        })
        .or_else(|| time.filter(|column| is_unique(&column)));
    // Of a row for each answer somebody has several.
    let Some(annotator) = annotator.filter(|column| is_unique(&column)) else { return Ok(None) };
    let is_attribute = |column: &&usize| {
        **column != annotator
            && Some(**column) != time
            && (rest.attributes.iter().any(|name| name == table.name(**column))
                || describes_people(table, **column))
    };
    Ok(Some(ColumnRoles {
        annotator: Some(table.name(annotator).to_owned()),
        attributes: free.iter().filter(is_attribute).map(|column| table.name(*column).to_owned()).collect(),
        time: rest.time.filter(|name| *name != table.name(annotator)),
        ..ColumnRoles::default()
    }))
}

/// Whether a column asks people about themselves: "What is your age?".
fn describes_people(table: &Table<'_>, column: usize) -> bool {
    let attributes = &vocabulary().columns.attribute;
    let name = table.name(column);
    let about = super::names::words(name).iter().any(|word| attributes.contains(word));
    let many = table.sample.counts(column).len();
    (table.is_called(column, attributes) || about && many > 1) && !simplified(name).contains("mail")
}

fn words_of(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

/// The beginning of a text, for a sentence.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}\u{2026}", &text[..end]),
        None => text.to_owned(),
    }
}
