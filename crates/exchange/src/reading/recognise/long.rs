//! Tables with one row for an annotator and a text: one column of labels, several questions, options of a
//! set, rounds.

use super::names::{Series, common_ends, series, words};
use super::sample::Kind;
use super::{RankedReading, Table, some};
use crate::ExchangeError;
use crate::reading::table_reading::{AnswerColumn, TableReading};
use crate::roles::{ColumnRoles, simplified};
use crate::truth::truth_value;
use crate::vocabulary::vocabulary;
use std::collections::HashMap;

/// From this number of texts with several answers on, a column that never differs is taken to belong to the
/// text.
const TRUSTED: usize = 20;

/// The maximum number of words in the name of a column that only its values identify.
const NAME_WORDS: usize = 4;

/// Returns the only reading of a file whose columns have fixed roles.
pub(super) fn as_guessed(roles: ColumnRoles) -> RankedReading {
    let reading = TableReading::from_roles(roles);
    RankedReading { reading, title: "As its columns say".to_owned(), confidence: 1.0, reasons: Vec::new() }
}

pub(super) fn readings(table: &Table<'_>) -> Result<Vec<RankedReading>, ExchangeError> {
    let mut readings = Vec::new();
    let answered_by = annotator(table);
    let columns = match answered_by {
        Some(annotator) => answers(table, annotator),
        None => Vec::new(),
    };
    let strong = strong_label(table);
    let columns = match answered_by.filter(|_| strong.is_none() && columns.is_empty()) {
        Some(annotator) => ratings(table, annotator),
        None => columns,
    };
    let columns = match (strong, answered_by) {
        (Some(label), Some(who)) => next_to_label(table, label, who, columns),
        _ => columns,
    };
    let judged = answered_by.is_some_and(|who| is_annotator(table, who));
    // More columns than a project can have are rejected when they are read, and not left out here.
    if judged && columns.len() >= 2 {
        let like_label = strong.is_none_or(|label| columns.contains(&label));
        if like_label {
            readings.extend(rounds(table, &columns)?);
            readings.extend(options(table, &columns, strong)?);
            readings.extend(questions(table, &columns, strong)?);
        }
    }
    if answered_by.is_none() {
        readings.extend(by_crossing_people(table)?);
    }
    let mut label = one_label(table, &columns, strong)?;
    if let ([column], None, true) = (columns.as_slice(), &label.reading.roles.label, judged)
        && let Some(only) = only_answer(table, *column)?
    {
        let before = std::mem::replace(&mut label, only);
        readings.push(before);
    }
    readings.extend(texts_of_authors(table, &label));
    readings.push(label);
    Ok(readings)
}

/// Finds columns of numbers, with any number of different values, that differ within a text and within an
/// annotator, like those of a slider.
fn ratings(table: &Table<'_>, annotator: usize) -> Vec<usize> {
    let text =
        table.plain.text_id.as_deref().or(table.plain.text.as_deref()).and_then(|name| table.place(name));
    let used: Vec<usize> = table
        .plain
        .named()
        .iter()
        .filter(|(role, _)| *role != "attribute")
        .filter_map(|(_, name)| table.place(name))
        .collect();
    let names = vocabulary();
    let is_rating = |column: &usize| {
        let counts = table.sample.counts(*column);
        let numbers = counts
            .keys()
            .all(|value| value.replace(',', ".").parse::<f64>().is_ok_and(|x| x.abs() <= 1000.0));
        let other = [&names.shapes.not_answers, &names.columns.time, &names.columns.duration];
        numbers
            && counts.len() > 2
            && counts.len() < table.sample.filled(*column)
            && !other.iter().any(|known| table.is_called(*column, known))
            && !table.is_called_like_id(*column)
            && table.sample.varies_within(*column, annotator).0 > 0
            && text.is_some_and(|text| table.sample.varies_within(*column, text).0 > 0)
    };
    (0..table.sample.width())
        .filter(|column| !used.contains(column) && *column != annotator)
        .filter(is_rating)
        .collect()
}

/// Proposes a reading for a table of recurring texts whose annotators and labels cannot be identified by
/// name: the annotator is a column that never recurs with the same text, the labels are columns that differ
/// with it. Never more likely than texts only.
fn by_crossing_people(table: &Table<'_>) -> Result<Option<RankedReading>, ExchangeError> {
    let mut known = super::of_texts(table.plain.clone());
    table.find_body(&mut known, &[]);
    // An id that only identifies rows does not identify a text.
    let place = |name: &Option<String>| name.as_deref().and_then(|name| table.place(name));
    let names_rows = |id: &usize| table.sample.counts(*id).len() == table.sample.rows();
    let text = place(&known.text_id).filter(|id| !names_rows(id)).or_else(|| place(&known.text));
    let Some(text) = text.filter(|text| table.sample.counts(*text).len() * 3 <= table.sample.rows() * 2)
    else {
        return Ok(None);
    };
    let body = place(&known.text);
    let crosses = |column: &usize| {
        let (of_text, texts) = table.sample.varies_within(*column, text);
        let (of_person, people) = table.sample.varies_within(text, *column);
        let (length, _) = table.sample.wordiness(*column);
        people > 1
            && of_text * 10 >= texts * 9
            && of_person * 10 >= people * 9
            && length < 40.0
            && table.sample.is_unique(&[text, *column])
            && !table.is_called(*column, &vocabulary().columns.time)
    };
    let others = (0..table.sample.width()).filter(|column| *column != text && Some(*column) != body);
    let Some(who) = others.filter(|column| !table.is_left_out(*column)).find(crosses) else {
        return Ok(None);
    };
    let mut columns = answers(table, who);
    if columns.is_empty() {
        columns = ratings(table, who);
    }
    if columns.is_empty() {
        return Ok(None);
    }
    let taken: Vec<usize> = columns.iter().copied().chain([who]).collect();
    let mut roles = table.rest(&taken)?;
    roles.annotator = Some(table.name(who).to_owned());
    roles.text = roles.text.or(known.text);
    let names: Vec<&str> = columns.iter().map(|column| table.name(*column)).collect();
    let mut reading = TableReading::default();
    roles.label = match names.as_slice() {
        [label] => Some((*label).to_owned()),
        _ => {
            let answer = |name: &&str| AnswerColumn {
                column: (*name).to_owned(),
                question: Some((*name).to_owned()),
                ..AnswerColumn::default()
            };
            reading.answers = names.iter().map(answer).collect();
            None
        }
    };
    let title = match names.as_slice() {
        [label] => format!("One label in each row: {label}"),
        several => format!("{} questions in each row", several.len()),
    };
    Ok(Some(RankedReading {
        reading: TableReading { roles, ..reading },
        title,
        confidence: 0.5,
        reasons: vec![format!(
            "no text comes twice with the same \"{}\", and {} differ",
            table.name(who),
            some(&names)
        )],
    }))
}

/// Proposes texts only, if nearly every row has another person, who is as likely the author of the text as
/// its annotator.
fn texts_of_authors(table: &Table<'_>, label: &RankedReading) -> Option<RankedReading> {
    let roles = &label.reading.roles;
    let place = |name: &Option<String>| name.as_deref().and_then(|name| table.place(name));
    let (who, _) = (place(&roles.annotator)?, place(&roles.label)?);
    let numbers = place(&roles.label).is_some_and(|label| table.sample.kind(label) != Kind::Words);
    let many = table.sample.counts(who).len() * 2 > table.sample.filled(who);
    (roles.text.is_some() && numbers && many && table.sample.rows() >= TRUSTED && !is_annotator(table, who))
        .then(|| RankedReading {
            reading: TableReading::from_roles(super::of_texts(roles.clone())),
            title: "Texts".to_owned(),
            confidence: label.confidence,
            reasons: vec![format!("\"{}\" may be who wrote them", table.name(who))],
        })
}

/// Finds the column of the annotators; one that is clearly named after annotators is accepted even if no
/// column is called a label.
pub(super) fn annotator(table: &Table<'_>) -> Option<usize> {
    let named = table.plain.annotator.as_deref().and_then(|name| table.place(name));
    let named = named.filter(|column| !is_among_answers(table, *column));
    let named = named.or_else(|| {
        let names = &vocabulary().columns.annotator;
        let found = names
            .iter()
            .find_map(|name| (0..table.sample.width()).find(|c| simplified(table.name(*c)) == *name))
            .filter(|column| !is_among_answers(table, *column))?;
        // An author of texts is not an annotator: an annotator rates several texts, and texts have several
        // annotators. In a table with questions, a column that is called a rater is accepted.
        let questions = (0..table.sample.width()).filter(|c| are_called_questions(&[table.name(*c)])).count();
        let marks = (0..table.sample.width()).filter(|c| is_mark(table, *c)).count();
        if is_surely_annotator(table, found) && (questions > 1 || marks > 2) {
            return Some(found);
        }
        let text = table
            .plain
            .text_id
            .as_deref()
            .or(table.plain.text.as_deref())
            .and_then(|name| table.place(name))?;
        let (several, _) = table.sample.varies_within(found, text);
        (several > 0).then_some(found)
    });
    named.or_else(|| by_value(table))
}

/// Whether a column that is called an annotator holds the answers of one: each row is another text, and other
/// columns have the same words.
fn is_among_answers(table: &Table<'_>, column: usize) -> bool {
    let id =
        table.plain.text_id.as_deref().or(table.plain.text.as_deref()).and_then(|name| table.place(name));
    let names_rows = |id: usize| id != column && table.sample.counts(id).len() == table.sample.rows();
    // Without texts no column has the role of their id yet.
    let any = || (0..table.sample.width()).any(|id| table.is_called_like_id(id) && names_rows(id));
    let each_once = id.map_or_else(any, names_rows);
    let few = table.sample.is_few(column) && table.sample.counts(column).len() * 2 < table.sample.rows();
    let alike = |other: &usize| {
        *other != column
            && table.may_be_answers(*other)
            && table.sample.kind(*other) == Kind::Words
            && super::shared_values::share_values(table, &[column, *other], 0.5)
    };
    each_once && few && (0..table.sample.width()).any(|other| alike(&other))
}

/// Filters the other columns of answers when one is called a label: those that visibly differ within a text,
/// and within an annotator.
fn next_to_label(table: &Table<'_>, label: usize, annotator: usize, columns: Vec<usize>) -> Vec<usize> {
    let text =
        table.plain.text_id.as_deref().or(table.plain.text.as_deref()).and_then(|name| table.place(name));
    let differs = |column: &usize| {
        let of_text = text.is_some_and(|text| table.sample.varies_within(*column, text).0 > 0);
        let (differ, people) = table.sample.varies_within(*column, annotator);
        of_text && (differ > 0 || people == 0)
    };
    let called = |column: &usize| are_called_questions(&[table.name(*column)]);
    columns.into_iter().filter(|column| *column == label || differs(column) || called(column)).collect()
}

/// Whether the name of a column clearly denotes annotators.
fn is_surely_annotator(table: &Table<'_>, column: usize) -> bool {
    let surely = ["annotator", "worker", "rater", "coder", "judge", "participant", "labeler", "labeller"];
    words(table.name(column)).iter().any(|word| surely.contains(&word.as_str()))
}

/// Whether a column identifies annotators, and not the authors of texts: by its name, or because texts have
/// several of them.
fn is_annotator(table: &Table<'_>, column: usize) -> bool {
    let called = words(table.name(column));
    let text =
        table.plain.text_id.as_deref().or(table.plain.text.as_deref()).and_then(|name| table.place(name));
    is_surely_annotator(table, column)
        || text.is_some_and(|text| table.sample.varies_within(column, text).0 > 0)
        || !["user", "username", "author", "name"].contains(&called.first().map_or("", String::as_str))
}

/// Finds the column of annotators by its values: it is named like an id, its values have several texts and
/// texts have several of them, and no two rows have both alike.
fn by_value(table: &Table<'_>) -> Option<usize> {
    let text =
        table.plain.text_id.as_deref().or(table.plain.text.as_deref()).and_then(|name| table.place(name))?;
    let body = table.plain.text.as_deref().and_then(|name| table.place(name));
    let crossed = |column: &usize| {
        let (of_text, _) = table.sample.varies_within(*column, text);
        let (of_person, people) = table.sample.varies_within(text, *column);
        of_text > 0 && people > 1 && of_person * 10 >= people * 9 && table.sample.is_unique(&[text, *column])
    };
    let candidates = (0..table.sample.width()).filter(|column| *column != text && Some(*column) != body);
    let named = candidates.filter(|column| table.is_called_like_id(*column));
    named.filter(crossed).max_by_key(|column| table.sample.counts(*column).len())
}

/// Finds the column whose name is enough to identify it as the labels.
fn strong_label(table: &Table<'_>) -> Option<usize> {
    let label = table.plain.label.as_deref().and_then(|name| table.place(name))?;
    let names = &vocabulary().columns;
    let called = table.is_called(label, &names.label) && !sums_up(table, label);
    (table.context.label.is_some() || called).then_some(label)
}

/// Finds the columns that may contain answers of the annotator of the row.
fn answers(table: &Table<'_>, annotator: usize) -> Vec<usize> {
    let sample = &table.sample;
    let label = table.plain.label.as_deref().and_then(|name| table.place(name));
    let text =
        table.plain.text_id.as_deref().or(table.plain.text.as_deref()).and_then(|name| table.place(name));
    let used: Vec<usize> = table
        .plain
        .named()
        .iter()
        .filter(|(role, _)| !["label", "attribute"].contains(role))
        .filter_map(|(_, name)| table.place(name))
        .collect();
    let usual = |column: usize| {
        let plain = simplified(table.name(column));
        let about = ["annotator", "worker", "rater", "coder", "participant", "user"]
            .iter()
            .find_map(|prefix| plain.strip_prefix(prefix).map(str::to_owned))
            .unwrap_or(plain);
        vocabulary().columns.attribute.contains(&about)
    };
    let asks = |column: usize| {
        let names = &vocabulary().columns.question;
        let of_texts = text.is_some_and(|text| sample.varies_within(column, text).0 == 0);
        table.is_called(column, names) && !of_texts
    };
    let mut found: Vec<usize> = (0..sample.width())
        .filter(|column| !used.contains(column) && *column != annotator && !asks(*column))
        .filter(|column| !usual(*column) && table.may_be_answers(*column))
        // A column that is mostly blank, or always the same, is not a question.
        .filter(|column| sample.counts(*column).len() > 1 && sample.filled(*column) * 20 >= sample.rows())
        .filter(|column| {
            // It belongs to an annotator or a text, if the sample is large enough to show otherwise.
            let (differ, people) = sample.varies_within(*column, annotator);
            let of_people = people > 1 && differ == 0 && sample.counts(*column).len() > 1;
            let of_texts = text.is_some_and(|text| {
                let (differ, texts) = sample.varies_within(*column, text);
                texts > 1 && differ == 0
            });
            !of_people && !of_texts || label == Some(*column)
        })
        .collect();
    // A mark that is rarely chosen, or by few, may seem to belong to a text or an annotator: between other
    // options it is an option all the same.
    let seen_often = text.map_or(0, |text| sample.varies_within(annotator, text).0) >= TRUSTED;
    let free = |column: &usize| !used.contains(column) && *column != annotator && !usual(*column);
    for run in runs_of_marks(table, &free) {
        let of_options = |column: &usize| found.contains(column) || is_none_of_them(table, *column);
        let never = |column: &usize| sample.counts(*column).len() == 1;
        if run.len() > 2 && run.iter().any(of_options) {
            let more: Vec<usize> =
                run.into_iter().filter(|c| !found.contains(c) && (!seen_often || never(c))).collect();
            found.extend(more);
            found.sort_unstable();
        }
    }
    // The same goes for a question between questions to which all annotators give the same answer.
    let question = |column: &usize| are_called_questions(&[table.name(*column)]);
    let asked = |column: &usize| {
        !used.contains(column)
            && question(column)
            && table.may_be_answers(*column)
            && sample.counts(*column).len() > 1
    };
    let several = (0..sample.width()).filter(asked).count() > 1;
    let first = found.iter().copied().find(|column| question(column));
    if let Some(first) = first.or_else(|| (0..sample.width()).find(asked).filter(|_| several)) {
        let first = words(table.name(first)).into_iter().next();
        let more: Vec<usize> = (0..sample.width())
            .filter(|column| !used.contains(column) && !found.contains(column) && question(column))
            .filter(|column| words(table.name(*column)).into_iter().next() == first)
            .filter(|column| table.may_be_answers(*column))
            .collect();
        found.extend(more);
        found.sort_unstable();
    }
    // The finer or the averaged version of another column is not a question of its own.
    let derived = |column: &usize| {
        let plain = simplified(table.name(*column));
        found.iter().any(|other| {
            let base = simplified(table.name(*other));
            *other != *column
                && plain
                    .strip_prefix(base.as_str())
                    .is_some_and(|rest| vocabulary().shapes.derived.iter().any(|word| rest == word))
        })
    };
    let several = text.is_some_and(|text| !sample.is_unique(&[text, annotator]));
    let per_row: Vec<usize> = match text.filter(|_| several) {
        Some(text) => {
            found.iter().copied().filter(|c| varies_within_answers(table, *c, text, annotator)).collect()
        }
        None => Vec::new(),
    };
    // If an annotator has several rows with one text, an answer is the same in all of them.
    let once = |column: &usize| per_row.len() == found.len() || !per_row.contains(column);
    found
        .iter()
        .copied()
        .filter(|column| !derived(column) && once(column) && !sums_up(table, *column))
        .collect()
}

/// Whether a column has different values in many of the rows that one annotator has with one text.
fn varies_within_answers(table: &Table<'_>, column: usize, text: usize, annotator: usize) -> bool {
    let mut first: HashMap<(&str, &str), (&str, bool, bool)> = HashMap::new();
    for row in 0..table.sample.rows() {
        let value = table.sample.value(column, row);
        let pair = (table.sample.value(text, row), table.sample.value(annotator, row));
        first
            .entry(pair)
            .and_modify(|(known, again, differs)| {
                *again = true;
                *differs |= *known != value;
            })
            .or_insert((value, false, false));
    }
    let again = first.values().filter(|(_, again, _)| *again).count();
    first.values().filter(|(.., differs)| *differs).count() * 5 > again
}

/// Finds the columns of marks whose names extend that of this one.
fn parts_of(table: &Table<'_>, column: usize) -> Vec<usize> {
    let name = table.name(column);
    let is_part = |other: &usize| {
        let rest = table.name(*other).strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(|c: char| !c.is_alphanumeric())) && is_mark(table, *other)
    };
    (0..table.sample.width()).filter(is_part).collect()
}

/// Whether a column of marks only summarises several others: `target_race` for `target_race_asian` and
/// others.
fn sums_up(table: &Table<'_>, column: usize) -> bool {
    let parts = parts_of(table, column);
    let is_marked = |column: usize, row: usize| truth_value(table.sample.value(column, row)) == Some(true);
    let agrees = |row: &usize| is_marked(column, *row) == parts.iter().any(|part| is_marked(*part, *row));
    parts.len() > 1
        && is_mark(table, column)
        && (0..table.sample.rows()).filter(agrees).count() * 20 >= table.sample.rows() * 19
}

/// Columns of marks of one kind that are next to each other.
fn runs_of_marks(table: &Table<'_>, free: &dyn Fn(&usize) -> bool) -> Vec<Vec<usize>> {
    let mut runs: Vec<Vec<usize>> = Vec::new();
    for column in (0..table.sample.width()).filter(free).filter(|column| is_mark(table, *column)) {
        let follows = |run: &&mut Vec<usize>| {
            run.last().is_some_and(|last| {
                last + 1 == column && kind_of_mark(table, *last) == kind_of_mark(table, column)
            })
        };
        match runs.last_mut().filter(follows) {
            Some(run) => run.push(column),
            None => runs.push(vec![column]),
        }
    }
    runs
}

/// Whether a column is named like the option that means none of the others.
fn is_none_of_them(table: &Table<'_>, column: usize) -> bool {
    vocabulary().shapes.none_of_them.contains(&simplified(table.name(column)))
}

/// Whether a column holds marks, apart from a few mistakes.
fn is_mark(table: &Table<'_>, column: usize) -> bool {
    match table.sample.kind(column) {
        Kind::ZeroOne | Kind::TrueFalse => true,
        Kind::Steps => {
            let counts = table.sample.counts(column);
            let marks: usize = ["0", "1"].iter().filter_map(|mark| counts.get(*mark)).sum();
            marks * 10 >= table.sample.filled(column) * 9
                && counts.contains_key("0")
                && counts.contains_key("1")
        }
        _ => false,
    }
}

/// The kind of marks.
fn kind_of_mark(table: &Table<'_>, column: usize) -> Kind {
    match table.sample.kind(column) {
        Kind::Steps => Kind::ZeroOne,
        kind => kind,
    }
}

/// Returns the reading with one column of labels, or with none: only texts or only annotators.
fn one_label(
    table: &Table<'_>,
    columns: &[usize],
    strong: Option<usize>,
) -> Result<RankedReading, ExchangeError> {
    let mut roles = table.plain.clone();
    let found = roles.label.as_deref().and_then(|name| table.place(name));
    if roles.label.is_some() && roles.text_id.is_none() && roles.text.is_none() {
        super::text_ids::find(table, &mut roles);
    }
    if roles.label.is_some() && roles.annotator.is_some() && roles.text_id.is_none() {
        table.find_body(&mut roles, &[]);
    }
    // Numbers from the authors of texts describe the texts.
    let weak = found.is_some_and(|label| table.is_called(label, &vocabulary().columns.weak_label));
    let author = roles.annotator.as_deref().and_then(|name| table.place(name));
    if weak && roles.text.is_some() && author.is_some_and(|who| !is_annotator(table, who)) {
        roles.label = None;
    }
    if roles.label.is_none() && roles.annotator.is_none() {
        table.find_body(&mut roles, &[]);
        // A name that is a whole text: the table has no line of names.
        let is_name = |name: &String| words(name).len() <= NAME_WORDS;
        roles.text = roles.text.filter(is_name);
    }
    if roles.label.is_none() && roles.text.is_some() {
        roles = super::of_texts(roles);
    }
    if roles.note.is_none() {
        roles.note = note(table, &roles).map(|column| table.name(column).to_owned());
    }
    let (title, confidence, mut reasons) = match (&roles.label, &roles.annotator) {
        (Some(label), Some(annotator)) => {
            let others = columns.iter().filter(|column| Some(**column) != found).count();
            let alike = found.is_some_and(|label| {
                columns.iter().any(|column| *column != label && are_alike(table, *column, label))
            });
            let confidence = match (strong.is_some(), others, alike) {
                (_, 0, _) => 0.95,
                (true, _, false) => 0.8,
                (true, _, true) => 0.5,
                (false, ..) => 0.3,
            };
            let reasons = vec![format!("\"{annotator}\" gives \"{label}\"")];
            (format!("One label in each row: {label}"), confidence, reasons)
        }
        (Some(label), None) => (format!("One label in each row: {label}"), 0.5, Vec::new()),
        (None, _) if roles.text.is_some() => {
            ("Texts".to_owned(), 0.5, vec!["no column looks like labels".to_owned()])
        }
        (None, _) => ("People, or texts".to_owned(), 0.2, Vec::new()),
    };
    if let Some(note) = &roles.note {
        reasons.push(format!("what people wrote in \"{note}\" is a note on the answer"));
    }
    Ok(RankedReading { reading: TableReading::from_roles(roles), title, confidence, reasons })
}

/// Finds the column in which annotators explained their answers in their own words: free text of which a text
/// has several.
fn note(table: &Table<'_>, roles: &ColumnRoles) -> Option<usize> {
    let place = |name: &Option<String>| name.as_deref().and_then(|name| table.place(name));
    let text = place(&roles.text_id).or_else(|| place(&roles.text))?;
    let (_, _) = (place(&roles.label)?, place(&roles.annotator)?);
    let used: Vec<usize> = roles.named().iter().filter_map(|(_, name)| table.place(name)).collect();
    let is_free_text = |column: &usize| {
        let (length, spaced) = table.sample.wordiness(*column);
        let (differ, several) = table.sample.varies_within(*column, text);
        let longest = table.sample.counts(*column).keys().map(String::len).max().unwrap_or(0);
        length >= 8.0
            && spaced >= 0.6
            && !table.sample.is_few(*column)
            && differ * 2 > several
            && longest <= dissensus_domain::MAX_NOTE
            && !table.is_called(*column, &vocabulary().columns.time)
    };
    let free =
        (0..table.sample.width()).filter(|column| !used.contains(column) && !table.is_left_out(*column));
    let found = free.filter(is_free_text).map(|column| (table.sample.wordiness(column).0, column));
    found.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, column)| column)
}

/// Proposes the only column that may hold answers, whatever it is called.
fn only_answer(table: &Table<'_>, column: usize) -> Result<Option<RankedReading>, ExchangeError> {
    let name = table.name(column).to_owned();
    let answer = AnswerColumn { column: name.clone(), ..AnswerColumn::default() };
    let Some(reading) = with_answers(table, &[column], vec![answer])? else { return Ok(None) };
    let roles = ColumnRoles { label: Some(name.clone()), ..reading.roles };
    let labels = &vocabulary().columns.label;
    let gives = ["response", "result", "answer", "output", "rating", "choice"];
    let called = roles.question.is_some()
        || words(&name).iter().any(|word| gives.contains(&word.as_str()))
        || words(&name).iter().any(|word| labels.contains(word))
        || are_called_questions(&[&name]);
    Ok(Some(RankedReading {
        reading: TableReading::from_roles(roles),
        title: format!("One label in each row: {name}"),
        confidence: if called { 0.8 } else { 0.5 },
        reasons: vec![format!("only \"{name}\" differs for one text and for one person")],
    }))
}

/// Whether two columns have answers of the same kind.
fn are_alike(table: &Table<'_>, one: usize, other: usize) -> bool {
    let (a, b) = (table.sample.kind(one), table.sample.kind(other));
    let number = |kind| matches!(kind, Kind::ZeroOne | Kind::Steps);
    match (a, b) {
        (Kind::Words, Kind::Words) => {
            let (a, b) = (table.sample.counts(one), table.sample.counts(other));
            a.keys().any(|value| b.contains_key(value))
        }
        (a, b) => a == b || number(a) && number(b),
    }
}

/// A reading with these columns of answers.
fn with_answers(
    table: &Table<'_>,
    columns: &[usize],
    answers: Vec<AnswerColumn>,
) -> Result<Option<TableReading>, ExchangeError> {
    let mut roles = table.rest(columns)?;
    roles.label = None;
    if roles.annotator.is_none() {
        roles.annotator = annotator(table).map(|column| table.name(column).to_owned());
    }
    if roles.text_id.is_none() && roles.text.is_none() {
        super::text_ids::find(table, &mut roles);
    }
    if roles.text.is_none() {
        table.find_body(&mut roles, columns);
    }
    let fits = roles.annotator.is_some() && (roles.text.is_some() || roles.text_id.is_some());
    Ok(fits.then(|| TableReading { roles, answers, ..TableReading::default() }))
}

/// A question for each column.
fn questions(
    table: &Table<'_>,
    columns: &[usize],
    strong: Option<usize>,
) -> Result<Option<RankedReading>, ExchangeError> {
    let names: Vec<&str> = columns.iter().map(|column| table.name(*column)).collect();
    let answers = names.iter().map(|name| AnswerColumn {
        column: (*name).to_owned(),
        question: Some((*name).to_owned()),
        ..AnswerColumn::default()
    });
    let Some(reading) = with_answers(table, columns, answers.collect())? else { return Ok(None) };
    let marks = columns.iter().all(|column| is_mark(table, *column));
    let all_marks: Vec<usize> = columns.iter().copied().filter(|column| is_mark(table, *column)).collect();
    let in_sets: usize = divide(table, &all_marks)
        .iter()
        .filter(|(name, _)| name.is_some())
        .map(|(_, members)| members.len())
        .sum();
    let alike = columns.windows(2).all(|pair| are_alike(table, pair[0], pair[1]));
    let with_label =
        strong.is_none_or(|label| columns.iter().any(|c| *c != label && are_alike(table, *c, label)));
    let confidence = match (with_label, alike, are_called_questions(&names)) {
        (false, ..) => 0.65,
        _ if are_called_rounds(table, columns) => 0.5,
        (_, _, true) => 0.95,
        _ if marks && columns.len() > 2 => 0.55,
        _ if in_sets > 2 => 0.5,
        (_, true, _) => 0.85,
        _ => 0.8,
    };
    let reasons = vec![format!("{} differ for one text and for one person", some(&names))];
    Ok(Some(RankedReading {
        reading,
        title: format!("{} questions in each row", columns.len()),
        confidence,
        reasons,
    }))
}

/// `Q1_harm`, `Q2_bias`, `Q_overall`: the first word of all is a word for a question.
fn are_called_questions(names: &[&str]) -> bool {
    let question =
        |name: &str| words(name).first().is_some_and(|word| vocabulary().shapes.questions.contains(word));
    names.iter().all(|name| question(name))
}

/// Proposes the options of one set, or of several that share a prefix.
fn options(
    table: &Table<'_>,
    columns: &[usize],
    strong: Option<usize>,
) -> Result<Option<RankedReading>, ExchangeError> {
    let marks: Vec<usize> = columns.iter().copied().filter(|column| is_mark(table, *column)).collect();
    let names: Vec<&str> = marks.iter().map(|column| table.name(*column)).collect();
    if marks.len() < 2 || are_called_questions(&names) {
        return Ok(None);
    }
    let sets = divide(table, &marks);
    let one = sets.len() == 1;
    let mut answers = Vec::new();
    let mut in_sets = Vec::new();
    for (name, members) in &sets {
        for column in members {
            let shown = table.name(*column);
            in_sets.push(*column);
            answers.push(AnswerColumn {
                column: shown.to_owned(),
                question: Some(name.clone().unwrap_or_else(|| "options".to_owned())),
                option: Some(
                    name.as_ref().and_then(|name| option_of(shown, name)).unwrap_or(shown).to_owned(),
                ),
                ..AnswerColumn::default()
            });
        }
    }
    // All other columns are questions.
    let sole = |column: &usize| is_mark(table, *column) && in_sets.len() > 2;
    let others: Vec<usize> =
        columns.iter().copied().filter(|column| !in_sets.contains(column) && !sole(column)).collect();
    if one && others.is_empty() {
        // The only set needs no name; the import finds one.
        let unnamed = sets.first().is_some_and(|(name, _)| name.is_none());
        answers.iter_mut().filter(|_| unnamed).for_each(|answer| answer.question = None);
    }
    for column in &others {
        let name = table.name(*column).to_owned();
        answers.push(AnswerColumn { column: name.clone(), question: Some(name), ..AnswerColumn::default() });
    }
    let mut all = in_sets.clone();
    all.extend(&others);
    let Some(reading) = with_answers(table, &all, answers)? else { return Ok(None) };
    let rest = marks.iter().any(|column| is_none_of_them(table, *column));
    let named = sets.iter().any(|(name, _)| name.is_some());
    let confidence = match (marks.len(), strong.is_some()) {
        _ if rest => 0.92,
        _ if named => 0.8,
        (2, _) => 0.4,
        (_, true) => 0.6,
        _ => 0.8,
    };
    let mut reasons = vec![format!("{} hold 0 and 1, or true and false", some(&names))];
    if rest {
        reasons.push("one of them represents none of the others".to_owned());
    }
    let mut title = match sets.len() {
        1 => format!("One set of {} options", in_sets.len()),
        several => format!("{several} sets of options"),
    };
    match others.len() {
        0 => {}
        1 => title.push_str(" and a question"),
        several => title.push_str(&format!(" and {several} questions")),
    }
    Ok(Some(RankedReading { reading, title, confidence, reasons }))
}

/// Groups marks by the prefix of their names, where three or more share one; the others, if of one kind, are
/// a set without a name.
fn divide(table: &Table<'_>, marks: &[usize]) -> Vec<(Option<String>, Vec<usize>)> {
    let mut sets: Vec<(Option<String>, Vec<usize>)> = Vec::new();
    let mut left: Vec<usize> = marks.to_vec();
    // The name of a column that summarises others is the name of their set.
    for column in (0..table.sample.width()).filter(|column| sums_up(table, *column)) {
        let parts = parts_of(table, column);
        let members: Vec<usize> = left.iter().copied().filter(|mark| parts.contains(mark)).collect();
        if members.len() > 1 {
            left.retain(|mark| !members.contains(mark));
            sets.push((Some(table.name(column).to_owned()), members));
        }
    }
    while let Some(first) = left.first().copied() {
        // The longest prefix that three share.
        let beginnings = |column: usize| {
            let name = table.name(column);
            let ends = name.char_indices().filter(|(at, c)| !c.is_alphanumeric() && *at > 1);
            ends.map(|(at, c)| &name[..at + c.len_utf8()]).collect::<Vec<&str>>()
        };
        let alike = |before: &str| -> Vec<usize> {
            left.iter().copied().filter(|column| table.name(*column).starts_with(before)).collect()
        };
        let all = left.iter().flat_map(|column| beginnings(*column));
        let shared = all.map(|before| (before, alike(before))).filter(|(_, members)| members.len() > 2);
        let found = shared.max_by_key(|(before, members)| (before.len(), std::cmp::Reverse(members[0])));
        let found = found.map(|(before, members)| {
            (before.trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned(), members)
        });
        match found {
            Some((before, members)) => {
                left.retain(|column| !members.contains(column));
                sets.push((Some(before), members));
            }
            None => {
                left.remove(0);
                let kind = kind_of_mark(table, first);
                let of_kind = |(name, members): &&mut (Option<String>, Vec<usize>)| {
                    name.is_none()
                        && members.first().is_some_and(|member| kind_of_mark(table, *member) == kind)
                };
                match sets.iter_mut().find(of_kind) {
                    Some((_, members)) => members.push(first),
                    None => sets.push((None, vec![first])),
                }
            }
        }
    }
    // A single column is a question.
    sets.retain(|(_, members)| members.len() > 1);
    if let [(name, members)] = sets.as_mut_slice()
        && name.is_none()
    {
        let names: Vec<&str> = members.iter().map(|column| table.name(*column)).collect();
        let (before, _) = common_ends(&names);
        let before = before.trim_end_matches(|c: char| !c.is_alphanumeric());
        *name = (before.chars().count() > 1).then(|| before.to_owned());
    }
    sets
}

/// The part of a column's name that names the option.
fn option_of<'a>(column: &'a str, set: &str) -> Option<&'a str> {
    let rest = column.strip_prefix(set)?.trim_start_matches(|c: char| !c.is_alphanumeric());
    (!rest.is_empty()).then_some(rest)
}

/// The rounds of one question, or of several: `label1`, `label2`.
fn rounds(table: &Table<'_>, columns: &[usize]) -> Result<Option<RankedReading>, ExchangeError> {
    let found = series(&table.sample.columns, columns);
    let numbered: usize = found.iter().map(|series| series.columns.len()).sum();
    let Some(first) = found.first() else { return Ok(None) };
    let same = found.iter().all(|series| series.columns.keys().eq(first.columns.keys()));
    let ordered =
        first.columns.keys().zip(*first.columns.keys().next().unwrap_or(&1)..).all(|(a, b)| *a == b);
    let few = first.columns.len() <= 9 && first.columns.keys().next().is_some_and(|first| *first <= 1);
    if numbered != columns.len() || !same || !ordered || !few {
        return Ok(None);
    }
    let vocabulary = vocabulary();
    let mut answers = Vec::new();
    for series in &found {
        for (occasion, column) in (1..).zip(series.columns.values()) {
            answers.push(AnswerColumn {
                column: table.name(*column).to_owned(),
                question: (found.len() > 1).then(|| question_of_round(&series.label())),
                occasion: Some(occasion),
                ..AnswerColumn::default()
            });
        }
    }
    let Some(reading) = with_answers(table, columns, answers)? else { return Ok(None) };
    let stem_words: Vec<String> = found.iter().flat_map(|series| words(&series.label())).collect();
    let called = are_called_rounds(table, columns);
    let of_question = stem_words.iter().any(|word| vocabulary.shapes.questions.contains(word));
    let alike = found
        .iter()
        .all(|series| agreement(table, &series.columns.values().copied().collect::<Vec<_>>()) > 0.6);
    let confidence = match (called, of_question, alike) {
        (true, ..) => 0.97,
        (_, true, _) => 0.3,
        (.., true) => 0.75,
        _ => 0.5,
    };
    let names: Vec<&str> = columns.iter().map(|column| table.name(*column)).collect();
    let title = format!("{} rounds of the same question", first.columns.len());
    Ok(Some(RankedReading {
        reading,
        title,
        confidence,
        reasons: vec![format!("{} have the same name but for a number", some(&names))],
    }))
}

/// Whether the names of columns, apart from a number, are those of labels or contain a word for rounds.
fn are_called_rounds(table: &Table<'_>, columns: &[usize]) -> bool {
    let vocabulary = vocabulary();
    let found = series(&table.sample.columns, columns);
    let of_round = |word: &String| vocabulary.shapes.rounds.contains(word);
    let called = |series: &Series| {
        vocabulary.columns.label.contains(&series.stem()) || words(&series.label()).iter().any(of_round)
    };
    found.iter().map(|series| series.columns.len()).sum::<usize>() == columns.len()
        && found.iter().all(called)
}

/// `label_round` belongs to `label`.
fn question_of_round(name: &str) -> String {
    let parts = name.split('_').filter(|part| !vocabulary().shapes.rounds.contains(&part.to_lowercase()));
    let rest: Vec<&str> = parts.collect();
    if rest.is_empty() { name.to_owned() } else { rest.join("_") }
}

/// Returns the share of rows with the same value in the first two of these columns, of those that have one in
/// both.
fn agreement(table: &Table<'_>, columns: &[usize]) -> f64 {
    let [first, second, ..] = columns else { return 0.0 };
    let both = (0..table.sample.rows())
        .map(|row| (table.sample.value(*first, row), table.sample.value(*second, row)));
    let both: Vec<(&str, &str)> = both.filter(|(a, b)| !a.is_empty() && !b.is_empty()).collect();
    both.iter().filter(|(a, b)| a == b).count() as f64 / both.len().max(1) as f64
}
