//! The reading of an imported file: the one that was chosen, or the likeliest of those recognised.

use super::Exchange;
use super::reading_options::options_of;
use crate::error::TransferError;
use dissensus_api::{
    AnswerColumn, AttributeConflicts, ColumnChoices, ImportChoices, ImportReading, JoinChoice,
};
use dissensus_exchange::{
    self as exchange, ColumnRoles, Join, RankedReading, Recognised, Source, TableContext, TableReading,
    ValueRules, complete, find_join, guess_roles, has_answers, list_columns, recognise,
};
use dissensus_project::error::ProjectError;
use std::path::Path;

/// A file with the reading by which it is imported.
#[derive(Clone)]
pub(super) struct FileReading {
    /// The file without a reading.
    pub(super) plain: Source,
    /// The rows that the reading makes.
    pub(super) source: Source,
    pub(super) reading: TableReading,
    /// All possible readings, the best first.
    pub(super) readings: Vec<RankedReading>,
    /// None of them is clearly the best, and the user chose none.
    pub(super) undecided: bool,
}

impl FileReading {
    /// The roles of the columns of the rows that are read.
    pub(super) fn roles(&self) -> ColumnRoles {
        self.source.roles().cloned().unwrap_or_else(|| self.reading.roles.clone())
    }

    /// The readings for display.
    pub(super) fn listed(&self) -> Vec<ImportReading> {
        listed(&self.readings)
    }

    /// The index of the reading that is used.
    pub(super) fn shown(&self) -> Option<u32> {
        let at = self.readings.iter().position(|ranked| ranked.reading == self.reading)?;
        u32::try_from(at).ok()
    }
}

fn listed(readings: &[RankedReading]) -> Vec<ImportReading> {
    let one = |ranked: &RankedReading| ImportReading {
        title: ranked.title.clone(),
        reasons: ranked.reasons.clone(),
        confidence: (ranked.confidence * 100.0).round() / 100.0,
        options: String::new(),
        columns: choices_of(&ranked.reading),
    };
    let mut listed: Vec<ImportReading> = readings.iter().map(one).collect();
    let options: Vec<Option<Vec<String>>> =
        readings.iter().map(|ranked| options_of(&ranked.reading)).collect();
    for (nth, shown) in listed.iter_mut().enumerate() {
        // Options that another reading has too, together with more, do not select this one.
        let asked_for = options[nth].as_ref().filter(|own| {
            let others = options.iter().enumerate().filter(|(other, _)| *other != nth);
            !others
                .filter_map(|(_, other)| other.as_ref())
                .any(|other| own.iter().all(|option| other.contains(option)))
        });
        shown.options = asked_for.map_or_else(|| format!("--reading {}", nth + 1), |own| own.join(" "));
    }
    listed
}

/// Returns the possible readings of a file, the best first, and whether that is clearly better than the
/// next.
pub fn readings(
    cx: &Exchange,
    path: &Path,
    choices: &ImportChoices,
) -> Result<(Vec<ImportReading>, bool), ProjectError> {
    let source = cx.opened.open(path, choices)?;
    let label = choices.columns.as_ref().and_then(|columns| columns.label.as_deref());
    let left_out = choices.columns.as_ref().map_or(&[][..], |columns| &columns.ignored);
    let found = recognised(cx, &source, label, left_out)?;
    Ok((listed(&found.readings), found.is_decided()))
}

/// Completes the choices with roles for the columns that they leave open.
///
/// # Errors
/// The file, or the one that it is joined with, cannot be read.
pub fn complete_columns(
    cx: &Exchange,
    path: &Path,
    choices: &ImportChoices,
) -> Result<ColumnChoices, ProjectError> {
    let source = cx.opened.open(path, choices)?;
    let partial = reading_from(choices.columns.as_ref().unwrap_or(&ColumnChoices::default()));
    Ok(choices_of(&complete(&source, &partial)?))
}

/// The names of the columns of a file.
pub fn columns_of(cx: &Exchange, path: &Path, choices: &ImportChoices) -> Result<Vec<String>, ProjectError> {
    Ok(cx.opened.open(path, choices)?.columns().to_vec())
}

/// Returns those of these columns of a file whose cells are lists.
pub fn columns_of_lists(
    cx: &Exchange,
    path: &Path,
    choices: &ImportChoices,
    names: &[String],
) -> Result<Vec<String>, ProjectError> {
    let source = cx.opened.open(path, choices)?;
    Ok(list_columns(&source, names)?)
}

/// Joins two files: the one with the answers is read, and the other provides its texts. If `on` is blank,
/// the column is detected.
///
/// # Errors
/// A file cannot be read, no column has the ids of both, or neither has answers.
pub fn join_columns(
    cx: &Exchange,
    path: &Path,
    choices: &ImportChoices,
    join: &JoinChoice,
) -> Result<ColumnChoices, ProjectError> {
    let source = cx.opened.open(path, choices)?;
    let other = Source::open(&join.path)?;
    let (on, there) = match join.on.trim() {
        "" => find_join(&source, &other)?.ok_or_else(|| TransferError::NoCommonColumn {
            path: path.to_owned(),
            other: join.path.clone().into(),
        })?,
        on => (on.to_owned(), join.other.clone().unwrap_or_else(|| on.to_owned())),
    };
    let named = reading_from(choices.columns.as_ref().unwrap_or(&ColumnChoices::default()));
    let [here, beyond] = [joined_reading(cx, &source, &named)?, joined_reading(cx, &other, &named)?];
    let answers =
        |(reading, _): &(TableReading, bool)| reading.roles.label.is_some() || !reading.answers.is_empty();
    let ((mut reading, decided), (texts, _), id, path) = match (answers(&here), answers(&beyond)) {
        (false, true) => (beyond, here, there.clone(), other.path().to_owned()),
        _ => (here, beyond, on.clone(), source.path().to_owned()),
    };
    if !decided {
        let found = recognised(cx, if path == source.path() { &source } else { &other }, None, &[])?;
        let listed = listed_readings(&listed(&found.readings));
        return Err(TransferError::SeveralReadings { path, listed }.into());
    }
    reading.roles.text_id = Some(id);
    reading.roles.text = texts.roles.text.or(reading.roles.text);
    reading.roles.split = texts.roles.split.or(reading.roles.split);
    reading.roles.group = texts.roles.group.or(reading.roles.group);
    reading.join = Some(Join { path: join.path.clone().into(), other: (there != on).then_some(there), on });
    Ok(choices_of(&reading))
}

/// Returns the reading of one of two files that are joined, and whether it is clear: by the columns that
/// were named, if the file has them.
fn joined_reading(
    cx: &Exchange,
    source: &Source,
    named: &TableReading,
) -> Result<(TableReading, bool), ProjectError> {
    let left_out: Vec<String> =
        named.ignored.iter().filter(|name| source.columns().contains(name)).cloned().collect();
    if !named.answers.is_empty() && has_answers(source.columns(), named) {
        let partial = TableReading { ignored: left_out, ..named.clone() };
        return Ok((complete(source, &partial)?, true));
    }
    let label = named.roles.label.as_deref().filter(|label| source.columns().iter().any(|c| c == label));
    let found = recognised(cx, source, label, &left_out)?;
    let decided = found.is_decided();
    let fits = |ranked: &&RankedReading| label.is_none() || ranked.reading.roles.label.as_deref() == label;
    let best = found.readings.iter().find(fits).or(found.readings.first());
    let reading = best.map(|ranked| ranked.reading.clone()).unwrap_or_default();
    Ok((reading, decided || label.is_some()))
}

pub(super) fn recognised(
    cx: &Exchange,
    source: &Source,
    label: Option<&str>,
    left_out: &[String],
) -> Result<Recognised, ProjectError> {
    let is_text = |id: &str| cx.context.store.text_by_external(id).is_ok_and(|text| text.is_some());
    Ok(recognise(source, &TableContext { label, left_out, is_text: Some(&is_text) })?)
}

/// Returns a file with its reading: the one that was chosen, or the best.
///
/// # Errors
/// The file, or the one that it is joined with, cannot be read, or the choice does not fit it.
pub(super) fn read(
    cx: &Exchange,
    plain: &Source,
    choices: &ImportChoices,
) -> Result<FileReading, ProjectError> {
    let found = recognised(cx, plain, None, &[])?;
    let decided = found.is_decided();
    let best = found.readings.first().map(|ranked| ranked.reading.clone()).unwrap_or_default();
    if choices.columns.is_none() {
        let source = plain.with_reading(&best, None)?;
        let readings = if plain.is_of_tool() { Vec::new() } else { found.readings };
        return Ok(FileReading {
            plain: plain.clone(),
            source,
            reading: best,
            readings,
            undecided: !decided,
        });
    }
    let readings = if plain.is_of_tool() { Vec::new() } else { found.readings };
    Ok(FileReading { readings, ..read_as_chosen(plain, choices)? })
}

/// Reads a file by the chosen columns, without alternatives.
pub(super) fn read_as_chosen(plain: &Source, choices: &ImportChoices) -> Result<FileReading, ProjectError> {
    let columns = choices.columns.clone().unwrap_or_default();
    let other = columns.join.as_ref().map(|join| Source::open(&join.path)).transpose()?;
    // The file with the answers determines the columns that belong to an answer.
    let reading = reading_from(&columns);
    let answered = other
        .as_ref()
        .filter(|other| !has_answers(plain.columns(), &reading) && has_answers(other.columns(), &reading));
    let reading = chosen(answered.unwrap_or(plain), &columns)?;
    let source = plain.with_reading(&reading, other.as_ref())?;
    let (readings, undecided) = (Vec::new(), false);
    Ok(FileReading { plain: plain.clone(), source, reading, readings, undecided })
}

/// Returns the reading for chosen columns. Columns of an export that cannot be chosen (question, duration,
/// source) are recognised unless they were chosen for another role.
fn chosen(source: &Source, columns: &ColumnChoices) -> Result<TableReading, ProjectError> {
    let mut reading = reading_from(columns);
    let guessed = guess_roles(source)?;
    let of_answers =
        columns.answers.iter().flat_map(|answer| [Some(&answer.column), answer.annotator.as_ref()]);
    let mut taken: Vec<&String> =
        of_answers.flatten().chain(&columns.lists).chain(&columns.ignored).collect();
    let named: Vec<String> = reading.roles.named().into_iter().map(|(_, column)| column.to_owned()).collect();
    taken.extend(&named);
    let free = |column: Option<String>| column.filter(|column| !taken.contains(&column));
    let several = !columns.answers.is_empty();
    let guessed_roles = ColumnRoles {
        question: free(guessed.question).filter(|_| !several),
        scale: free(guessed.scale).filter(|_| !several),
        duration: free(guessed.duration),
        source: free(guessed.source),
        note: reading.roles.note.clone().or_else(|| free(guessed.note)),
        reasons: free(guessed.reasons),
        confidence: free(guessed.confidence),
        marks: free(guessed.marks),
        guideline: free(guessed.guideline),
        shown: free(guessed.shown),
        study: guessed.study.into_iter().filter(|column| !taken.contains(&column)).collect(),
        ..ColumnRoles::default()
    };
    let roles = std::mem::take(&mut reading.roles);
    reading.roles = ColumnRoles {
        text_id: roles.text_id,
        text: roles.text,
        annotator: roles.annotator,
        label: roles.label,
        span_start: roles.span_start,
        span_end: roles.span_end,
        span_type: roles.span_type,
        offsets: roles.offsets,
        split: roles.split,
        group: roles.group,
        time: roles.time,
        occasion: roles.occasion,
        attributes: roles.attributes,
        ..guessed_roles
    };
    Ok(reading)
}

/// Converts choices to a reading.
pub(super) fn reading_from(columns: &ColumnChoices) -> TableReading {
    let columns = columns.clone();
    let answer = |answer: AnswerColumn| exchange::AnswerColumn {
        column: answer.column,
        question: answer.question,
        option: answer.option,
        annotator: answer.annotator,
        text: answer.text,
        occasion: answer.occasion,
        attributes: answer.attributes.into_iter().collect(),
    };
    TableReading {
        roles: ColumnRoles {
            text_id: columns.text_id,
            text: columns.text,
            annotator: columns.annotator,
            label: columns.label,
            span_start: columns.span_start,
            span_end: columns.span_end,
            span_type: columns.span_type,
            offsets: columns.offsets,
            split: columns.split,
            group: columns.group,
            time: columns.time,
            occasion: columns.occasion,
            note: columns.note,
            attributes: columns.attributes,
            ..ColumnRoles::default()
        },
        answers: columns.answers.into_iter().map(answer).collect(),
        lists: columns.lists,
        separator: columns.separator,
        ignored: columns.ignored,
        values: ValueRules {
            missing: columns.missing,
            fold_case: columns.fold_case,
            option_separator: columns.option_separator,
            decimal_comma: columns.decimal_comma,
            time_format: columns.time_format,
            attribute_conflicts: match columns.attribute_conflicts {
                AttributeConflicts::Refuse => exchange::AttributeConflicts::Refuse,
                AttributeConflicts::First => exchange::AttributeConflicts::First,
                AttributeConflicts::Last => exchange::AttributeConflicts::Last,
                AttributeConflicts::MostFrequent => exchange::AttributeConflicts::MostFrequent,
                AttributeConflicts::Unknown => exchange::AttributeConflicts::Unknown,
            },
        },
        join: columns.join.map(|join| Join { path: join.path.into(), on: join.on, other: join.other }),
    }
}

/// Converts a reading to choices.
pub(super) fn choices_of(reading: &TableReading) -> ColumnChoices {
    let TableReading { roles, answers, lists, separator, ignored, values, join } = reading.clone();
    let answer = |answer: exchange::AnswerColumn| AnswerColumn {
        column: answer.column,
        question: answer.question,
        option: answer.option,
        annotator: answer.annotator,
        text: answer.text,
        occasion: answer.occasion,
        attributes: answer.attributes.into_iter().collect(),
    };
    ColumnChoices {
        text_id: roles.text_id,
        text: roles.text,
        annotator: roles.annotator,
        label: roles.label,
        span_start: roles.span_start,
        span_end: roles.span_end,
        span_type: roles.span_type,
        offsets: roles.offsets,
        split: roles.split,
        group: roles.group,
        time: roles.time,
        occasion: roles.occasion,
        note: roles.note,
        attributes: roles.attributes,
        answers: answers.into_iter().map(answer).collect(),
        lists,
        separator,
        ignored,
        missing: values.missing,
        fold_case: values.fold_case,
        option_separator: values.option_separator,
        decimal_comma: values.decimal_comma,
        time_format: values.time_format,
        attribute_conflicts: match values.attribute_conflicts {
            exchange::AttributeConflicts::Refuse => AttributeConflicts::Refuse,
            exchange::AttributeConflicts::First => AttributeConflicts::First,
            exchange::AttributeConflicts::Last => AttributeConflicts::Last,
            exchange::AttributeConflicts::MostFrequent => AttributeConflicts::MostFrequent,
            exchange::AttributeConflicts::Unknown => AttributeConflicts::Unknown,
        },
        join: join.map(|join| JoinChoice {
            path: join.path.to_string_lossy().into_owned(),
            on: join.on,
            other: join.other,
        }),
    }
}

/// The ways to read a table, each with its options.
pub(super) fn listed_readings(readings: &[ImportReading]) -> String {
    let one = |(nth, reading): (usize, &ImportReading)| {
        let reasons = reading.reasons.join("; ");
        format!("{}. {} ({reasons})\n   {}", nth + 1, reading.title, reading.options)
    };
    readings.iter().enumerate().map(one).collect::<Vec<_>>().join("\n")
}
