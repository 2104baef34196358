//! Tables with one row an annotator and a column for each text, as exported by survey tools.

use super::names::series;
use super::{RankedReading, Table};
use crate::ExchangeError;
use crate::reading::table_reading::{AnswerColumn, TableReading};
use crate::roles::{ColumnRoles, simplified};
use crate::vocabulary::vocabulary;
use std::collections::{BTreeMap, BTreeSet};

/// The minimum number of columns to recognise texts in them.
const TEXTS: usize = 3;
/// The minimum average number of words in a text; and in one with a question.
const WORDS: f64 = 3.0;
const ASKED_WORDS: f64 = 2.0;
/// The minimum number of columns for texts that are only numbered, and their confidence: the same as that of
/// attributes of annotators.
const ITEMS: usize = 5;
const ITEMS_CONFIDENCE: f64 = 0.2;
/// The longest sentence that is the name of a question, in characters.
const NAME: usize = 60;
/// How many columns are compared with all others.
const PIVOTS: usize = 20;

/// Columns of answers, with the question and the text of each.
type AnswerColumns = (Vec<usize>, Vec<(String, String)>);

pub(super) fn readings(table: &Table<'_>) -> Result<Vec<RankedReading>, ExchangeError> {
    if table.plain.text.is_some() {
        return Ok(Vec::new());
    }
    let columns: Vec<usize> = (0..table.sample.width())
        .filter(|column| !table.is_left_out(*column) && table.sample.is_few(*column))
        .filter(|column| words_of(table.name(*column)) >= 2 || table.name(*column).trim().ends_with(']'))
        .collect();
    let found = texts(table, &columns).map(|found| (found, 0.9));
    let Some(((columns, texts), confidence)) = found.or_else(|| Some((items(table)?, ITEMS_CONFIDENCE)))
    else {
        return Ok(Vec::new());
    };
    let Some(roles) = roles(table, &columns)? else { return Ok(Vec::new()) };
    let questions: BTreeSet<&str> = texts.iter().map(|(question, _)| question.as_str()).collect();
    let several = questions.len() > 1;
    let answer = |(column, (question, body)): (&usize, &(String, String))| AnswerColumn {
        column: table.name(*column).to_owned(),
        question: (several || !question.is_empty() && question.chars().count() <= NAME)
            .then(|| question.clone()),
        text: Some(body.clone()),
        ..AnswerColumn::default()
    };
    let answers: Vec<AnswerColumn> = columns.iter().zip(&texts).map(answer).collect();
    let of_people: Vec<&str> = roles.named().iter().map(|(_, name)| *name).collect();
    let is_left = |column: &usize| !columns.contains(column) && !of_people.contains(&table.name(*column));
    // Columns about an annotator do not describe a text.
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
        confidence,
        reasons,
    }])
}

/// Finds numbered columns of answers, whose names are the only data on the texts: `item_01`, `item_02`.
fn items(table: &Table<'_>) -> Option<AnswerColumns> {
    let few: Vec<usize> = (0..table.sample.width())
        .filter(|column| !table.is_left_out(*column) && table.may_be_answers(*column))
        .collect();
    let longest =
        series(&table.sample.columns, &few).into_iter().max_by_key(|series| series.columns.len())?;
    let found: Vec<usize> = longest.columns.into_values().collect();
    let texts = found.iter().map(|column| (String::new(), table.name(*column).to_owned())).collect();
    (found.len() >= ITEMS && super::shared_values::share_values(table, &found, 0.3)).then_some((found, texts))
}

/// Finds the columns whose names are texts, each with the question and the text.
fn texts(table: &Table<'_>, columns: &[usize]) -> Option<AnswerColumns> {
    let parted: Vec<(usize, (String, String))> =
        columns.iter().map(|column| (*column, split_column_name(table.name(*column)))).collect();
    // A question is one that several columns have.
    let mut by_question: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (column, (question, _)) in &parted {
        by_question.entry(question).or_default().push(*column);
    }
    let whole = by_question.remove("").unwrap_or_default();
    let single =
        by_question.iter().filter(|(_, columns)| columns.len() == 1).flat_map(|(_, columns)| columns);
    let whole: Vec<usize> = whole.iter().chain(single).copied().collect();
    by_question
        .retain(|_, columns| columns.len() > 1 && super::shared_values::share_values(table, columns, 0.3));
    let (found, texts): AnswerColumns = if by_question.values().any(|columns| columns.len() >= TEXTS) {
        let asked: BTreeSet<usize> = by_question.values().flatten().copied().collect();
        parted.into_iter().filter(|(column, _)| asked.contains(column)).unzip()
    } else {
        // Questions about annotators have other answers than those about texts.
        let pivots = whole.iter().take(PIVOTS);
        let like = |first: &usize| -> Vec<usize> {
            let alike = |other: &usize| super::shared_values::share_values(table, &[*first, *other], 0.5);
            whole.iter().copied().filter(alike).collect()
        };
        let found = pivots.map(like).max_by_key(Vec::len)?;
        let texts = found.iter().map(|column| (String::new(), table.name(*column).trim().to_owned()));
        let texts = texts.collect();
        if !super::shared_values::share_values(table, &found, 0.3) {
            return None;
        }
        (found, texts)
    };
    let asked = texts.iter().any(|(question, _)| !question.is_empty());
    let words = texts.iter().map(|(_, body)| words_of(body)).sum::<usize>() as f64;
    let different: BTreeSet<&(String, String)> = texts.iter().collect();
    let fits = found.len() >= TEXTS
        && words >= if asked { ASKED_WORDS } else { WORDS } * found.len() as f64
        && different.len() == found.len()
        && texts.iter().all(|(_, body)| !body.is_empty());
    fits.then_some((found, texts))
}

/// Splits a name into the question and the text: `3. How rude is this? [You again]`,
/// `How rude is this? - You again`. Without a question all of it is the text.
fn split_column_name(name: &str) -> (String, String) {
    let name = name.trim();
    let (question, body) = match name.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        Some((question, body)) => (question, body),
        None => {
            // The first mark after which a text may begin.
            let begins = |(at, c): &(usize, char)| {
                let rest = &name[at + c.len_utf8()..];
                let apart = "-\u{2013}\u{2014}|".contains(*c) && name[..*at].ends_with(char::is_whitespace);
                (apart || "?:".contains(*c)) && rest.starts_with(char::is_whitespace)
            };
            match name.char_indices().find(begins) {
                Some((at, c)) => name.split_at(at + c.len_utf8()),
                None => return (String::new(), name.to_owned()),
            }
        }
    };
    let dash = |c: char| c.is_whitespace() || "-\u{2013}\u{2014}|".contains(c);
    let question = question.trim_end_matches(|c| dash(c) || c == ':').trim();
    let number = question.trim_start_matches(|c: char| c.is_ascii_digit());
    // LimeSurvey's code of the question: G1Q1[SQ001].
    let code = question
        .split_once(char::is_whitespace)
        .filter(|(code, _)| code.contains('[') && code.trim_end_matches(['.', ':']).ends_with(']'));
    let question = code.map_or(question, |(_, rest)| rest.trim());
    let question = match code.is_none() && number.len() < question.len() {
        true => number.trim_start_matches(['.', ')', ':']).trim_start(),
        false => question,
    };
    let body = body.trim_start_matches(dash).trim();
    // One word is not a question but a name: "@mia: come here".
    if body.is_empty() || words_of(question) < 2 && !question.ends_with('?') {
        return (String::new(), name.to_owned());
    }
    (question.to_owned(), body.to_owned())
}

/// Finds the annotator, the time and the attributes; `None` if no column identifies annotators.
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
    // In a table with a row for each answer, annotators recur.
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

/// Whether a column asks annotators about themselves: "What is your age?".
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

/// Shortens a text for a message.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}\u{2026}", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::numbered("3. How rude is this? [You again.]", "How rude is this?", "You again.")]
    #[case::two_brackets("Rate [1-5] how rude [You again here]", "Rate [1-5] how rude", "You again here")]
    #[case::dashes("How rude is this? - He went home - again.", "How rude is this?", "He went home - again.")]
    #[case::colon_in_a_text("@mia: come here now", "", "@mia: come here now")]
    #[case::no_question("You are so bad.", "", "You are so bad.")]
    fn question_is_split_from_the_text_in_a_column_name(
        #[case] name: &str,
        #[case] question: &str,
        #[case] body: &str,
    ) {
        assert_eq!(split_column_name(name), (question.to_owned(), body.to_owned()));
    }
}
