//! Proposes the readings of a table, the likeliest first: each shape proposes its own, and where none is
//! clearly better than the next the user decides.

mod lists;
mod long;
mod names;
mod pairs;
mod people;
mod sample;
mod shared_values;
mod text_ids;
mod values;
mod wide;

use super::guess::{guess_roles_around, guess_the_rest};
use super::table_reading::TableReading;
use super::time_detection::{Detected, detect};
use crate::roles::simplified;
use crate::vocabulary::vocabulary;
use crate::{ColumnRoles, ExchangeError, Source};
pub(super) use sample::Sample;
use std::collections::HashSet;

/// A reading is clearly better than the next if the confidence of that is below this fraction of its own.
const CLEARLY: f64 = 0.75;
/// Readings below this fraction of the best one's confidence are not shown.
const WORTH_SHOWING: f64 = 0.3;

/// A reading that a table may have.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedReading {
    pub reading: TableReading,
    /// A short description of the resulting rows.
    pub title: String,
    /// From 0 to 1; comparable within one table.
    pub confidence: f64,
    /// Evidence for it, a sentence each without its full stop.
    pub reasons: Vec<String>,
}

/// The readings of a table, the best first; there is at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Recognised {
    /// Sorted by confidence.
    pub readings: Vec<RankedReading>,
}

impl Recognised {
    /// Whether the best reading is clearly better than the next.
    pub fn is_decided(&self) -> bool {
        match self.readings.as_slice() {
            [first, next, ..] => next.confidence < CLEARLY * first.confidence,
            _ => true,
        }
    }
}

/// Context of a table that is not in the table itself.
#[derive(Clone, Copy, Default)]
pub struct TableContext<'a> {
    /// The column of the labels, if the user named it.
    pub label: Option<&'a str>,
    pub left_out: &'a [String],
    /// Whether a text of the project has this id.
    pub is_text: Option<&'a dyn Fn(&str) -> bool>,
}

/// Proposes how a table may be read, from the names of its columns and its first rows. The columns of an
/// annotation tool's file are fixed: it has one reading.
pub fn recognise(source: &Source, context: &TableContext<'_>) -> Result<Recognised, ExchangeError> {
    let named = ColumnRoles { label: context.label.map(str::to_owned), ..ColumnRoles::default() };
    let plain = guess_roles_around(source, &named, context.left_out)?;
    if source.is_of_tool() || plain.rows_are_spans() || is_ours(source.columns()) {
        return Ok(Recognised { readings: vec![long::as_guessed(plain)] });
    }
    let sample = Sample::read(source)?.without(context.left_out);
    let table = Table { source, sample, plain, context: *context, no_texts: Vec::new() };
    let table = table.with_sound_text().with_id_of_texts().with_judged_text();
    let found = people::readings(&table)?;
    // Columns that are named like texts are nothing else.
    let sure = found.iter().any(|ranked| ranked.confidence > 0.5);
    let mut found = if sure { found } else { [found, readings_of_texts(&table)?].concat() };
    // Labels without annotators cannot be imported.
    let several = found.len() > 1;
    for ranked in found.iter_mut().filter(|_| several) {
        let roles = &mut ranked.reading.roles;
        if roles.label.is_some()
            && roles.annotator.is_none()
            && ranked.reading.lists.is_empty()
            && roles.text.is_some()
        {
            *roles = of_texts(roles.clone());
            ranked.title = "Texts".to_owned();
            ranked.reasons = vec!["no column of its own names who answered".to_owned()];
        }
    }
    // A column of annotators cannot identify texts.
    let is_sound = |ranked: &RankedReading| {
        let roles = &ranked.reading.roles;
        roles.annotator.is_none() || ![&roles.text, &roles.text_id].contains(&&roles.annotator)
    };
    // If the likeliest is not valid, its error states what has to be named.
    if found.iter().max_by(|a, b| a.confidence.total_cmp(&b.confidence)).is_some_and(is_sound) {
        found.retain(is_sound);
    }
    let mut readings = Vec::new();
    for reading in found {
        let reading = values::with_rules(&table, reading);
        for reading in values::with_sets(&table, reading) {
            for reading in text_ids::with_id(&table, reading) {
                readings.extend(values::with_time(&table, reading));
            }
        }
    }
    // Of equals the one that was proposed first: the sort is stable.
    readings.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    let mut seen: Vec<TableReading> = Vec::new();
    readings.retain(|ranked| {
        let new = !seen.contains(&ranked.reading);
        seen.push(ranked.reading.clone());
        new
    });
    readings.iter_mut().for_each(|ranked| ranked.reading.ignored.extend_from_slice(context.left_out));
    let best = readings.first().map_or(0.0, |best| best.confidence);
    readings.retain(|ranked| ranked.confidence >= WORTH_SHOWING * best);
    Ok(Recognised { readings })
}

/// Returns the readings of a table whose rows are about texts.
fn readings_of_texts(table: &Table<'_>) -> Result<Vec<RankedReading>, ExchangeError> {
    let mut found = lists::readings(table)?;
    let pairs = pairs::readings(table)?;
    // A column of annotators is not an answer.
    let less = if pairs.is_empty() { 1.0 } else { 0.5 };
    found.extend(pairs);
    let wide = wide::readings(table)?.into_iter();
    found.extend(wide.map(|ranked| RankedReading { confidence: less * ranked.confidence, ..ranked }));
    if found.is_empty() {
        found.extend(lists::unnamed(table)?);
    }
    // A column with lists of annotators is not the annotator of the row.
    let annotator = table.plain.annotator.as_deref().and_then(|name| table.place(name));
    if annotator.is_none_or(|column| table.sample.lists(column, None).is_none())
        && !found.iter().any(|ranked| {
            ranked.reading.lists.iter().any(|list| table.plain.annotator.as_ref() == Some(list))
        })
    {
        found.extend(long::readings(table)?);
    }
    Ok(found)
}

/// Guesses the roles of the columns that are not named in `reading`, and how its times are written.
pub fn complete(source: &Source, reading: &TableReading) -> Result<TableReading, ExchangeError> {
    with_time_format(source, with_roles(source, reading)?)
}

/// Returns the reading with the format of its times, where the values of the whole sample have one.
fn with_time_format(source: &Source, reading: TableReading) -> Result<TableReading, ExchangeError> {
    let times = &vocabulary().columns.time;
    let free = |column: &String| !reading.ignored.contains(column) && times.contains(&simplified(column));
    let any = reading.roles.time.is_some() || source.columns().iter().any(free);
    // Entries of lists are dated by the recogniser of lists.
    let settled = reading.values.time_format.is_some() || !reading.lists.is_empty();
    if source.is_of_tool() || settled || !any {
        return Ok(reading);
    }
    let sample = Sample::read(source)?.without(&reading.ignored);
    let context = TableContext { left_out: &reading.ignored, ..TableContext::default() };
    let table = Table { source, sample, plain: reading.roles.clone(), context, no_texts: Vec::new() };
    let ranked = RankedReading { reading: reading.clone(), ..long::as_guessed(ColumnRoles::default()) };
    let mut found = values::with_time(&table, ranked);
    // Where day and month cannot be told apart, the user says it.
    Ok(found.pop().filter(|_| found.is_empty()).map_or(reading, |ranked| ranked.reading))
}

fn with_roles(source: &Source, reading: &TableReading) -> Result<TableReading, ExchangeError> {
    if reading.answers.is_empty() && reading.lists.is_empty() {
        let roles = guess_roles_around(source, &reading.roles, &reading.ignored)?;
        return Ok(TableReading { roles, ..reading.clone() });
    }
    let place = |name: &String| source.columns().iter().position(|column| column == name);
    let of_answers = reading.answers.iter().flat_map(|answer| {
        [Some(answer.column.clone()), answer.annotator.clone().filter(|name| !name.starts_with('='))]
    });
    let taken: HashSet<usize> =
        of_answers.flatten().chain(reading.lists.iter().cloned()).filter_map(|name| place(&name)).collect();
    let rest = guess_the_rest(source, &reading.roles, &taken, &reading.ignored)?;
    let named = reading.answers.iter().any(|answer| answer.annotator.is_some()) || !reading.lists.is_empty();
    let roles = if named { of_texts(rest) } else { ColumnRoles { label: None, ..rest } };
    Ok(TableReading { roles, ..reading.clone() })
}

/// A table that is being recognised.
struct Table<'a> {
    source: &'a Source,
    sample: Sample,
    /// The roles that its columns have in long form.
    plain: ColumnRoles,
    context: TableContext<'a>,
    /// Columns that are named like texts and hold none.
    no_texts: Vec<String>,
}

/// Names of texts that are as often used for answers, or for other data of a text.
const NOT_ALWAYS_TEXTS: [&str; 10] =
    ["response", "reply", "context", "description", "title", "instance", "request", "turn", "query", "input"];

impl Table<'_> {
    /// Corrects the column of the text: a few recurring words are answers, and an id of many words is a text.
    fn with_sound_text(mut self) -> Self {
        let place = |name: &Option<String>| name.as_deref().and_then(|name| self.place(name));
        if let Some(text) = place(&self.plain.text) {
            let counts = self.sample.counts(text);
            let short = |value: &String| value.split_whitespace().count() <= 2;
            let weak = NOT_ALWAYS_TEXTS.contains(&simplified(self.name(text)).as_str());
            if weak
                && self.sample.is_few(text)
                && counts.keys().all(short)
                && counts.len() * 3 <= self.sample.rows()
            {
                self.no_texts.push(self.name(text).to_owned());
                self.plain.text = None;
            }
        }
        let id = self
            .plain
            .text_id
            .as_deref()
            .filter(|_| self.plain.text.is_none())
            .and_then(|name| self.place(name));
        if let Some(id) = id {
            let (length, spaced) = self.sample.wordiness(id);
            if length >= 25.0 && spaced >= 0.6 {
                self.plain.text = self.plain.text_id.take();
            }
        }
        self
    }

    /// Corrects the column of ids: if each row has another id and bodies recur, the id identifies rows.
    fn with_id_of_texts(mut self) -> Self {
        let place = |name: &Option<String>| name.as_deref().and_then(|name| self.place(name));
        let (Some(id), Some(text)) = (place(&self.plain.text_id), place(&self.plain.text)) else {
            return self;
        };
        let (ids, bodies) = (self.sample.counts(id).len(), self.sample.counts(text).len());
        // A name such as `text_id` is unambiguous, and an annotator with a body twice answers two texts.
        let says_no_more = ["id", "uid", "uuid", "index"].contains(&simplified(self.name(id)).as_str());
        let called = |column: &usize| self.is_called(*column, &vocabulary().columns.annotator);
        let annotator = place(&self.plain.annotator).or_else(|| (0..self.sample.width()).find(called));
        let answered_once = annotator.is_some_and(|who| self.sample.is_unique(&[text, who]));
        if !says_no_more || !answered_once || ids < self.sample.rows() || bodies * 5 > self.sample.rows() * 3
        {
            return self;
        }
        let used: Vec<usize> = self.plain.named().iter().filter_map(|(_, name)| self.place(name)).collect();
        let names_body = |column: &usize| {
            self.is_called_like_id(*column)
                && !used.contains(column)
                && self.sample.counts(*column).len() == bodies
                && self.sample.varies_within(text, *column).0 == 0
        };
        let found = (0..self.sample.width()).find(names_body);
        self.plain.text_id = found.map(|column| self.name(column).to_owned());
        self
    }

    /// Corrects the column of the text to the one that is judged: if an annotator answers one body again and
    /// again, it is the context of another text in the row, such as a post before its replies. Columns that
    /// are called `text` or `text_id` are believed: these are answers given again.
    fn with_judged_text(mut self) -> Self {
        let place = |name: &Option<String>| name.as_deref().and_then(|name| self.place(name));
        let (Some(text), Some(annotator)) = (place(&self.plain.text), place(&self.plain.annotator)) else {
            return self;
        };
        let id = place(&self.plain.text_id);
        let says = |column: usize, name: &str| simplified(self.name(column)) == name;
        if says(text, "text") || id.is_some_and(|id| says(id, "textid")) {
            return self;
        }
        let judged = id.filter(|id| self.sample.varies_within(text, *id).0 == 0).unwrap_or(text);
        if self.sample.is_unique(&[judged, annotator]) {
            return self;
        }
        let used: Vec<usize> = self.plain.named().iter().filter_map(|(_, name)| self.place(name)).collect();
        let wordy = (0..self.sample.width()).filter(|column| !used.contains(column)).filter(|column| {
            let (length, spaced) = self.sample.wordiness(*column);
            length >= 8.0
                && spaced >= 0.5
                && self.sample.is_unique(&[*column, annotator])
                && !self.is_about_answer(*column)
                && (self.is_called(*column, &vocabulary().columns.text) || self.recurs(*column, annotator))
        });
        let Some(body) = wordy.min() else { return self };
        let names_body = |column: &usize| {
            self.is_called_like_id(*column)
                && *column != annotator
                && self.sample.varies_within(body, *column).0 == 0
                && self.sample.is_unique(&[*column, annotator])
        };
        let id = (0..self.sample.width()).find(names_body);
        self.plain.text = Some(self.name(body).to_owned());
        self.plain.text_id = id.map(|column| self.name(column).to_owned());
        self
    }

    /// Whether a column holds no texts, however many words it has: notes on answers, or moments.
    fn is_about_answer(&self, column: usize) -> bool {
        self.is_called(column, &vocabulary().shapes.not_answers)
            || self.is_called(column, &vocabulary().columns.time)
            || detect(self.sample.values(column)) != Detected::None
    }

    /// Whether most values of a column are those of several annotators, as texts are and notes are not.
    fn recurs(&self, column: usize, annotator: usize) -> bool {
        let (by_several, _) = self.sample.varies_within(annotator, column);
        by_several * 2 > self.sample.counts(column).len()
    }

    fn name(&self, column: usize) -> &str {
        &self.sample.columns[column]
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.sample.columns.iter().position(|column| column == name)
    }

    /// Whether a column is left out.
    fn is_left_out(&self, column: usize) -> bool {
        self.context.left_out.iter().any(|name| name == self.name(column))
    }

    /// Whether the name of a column is one of these.
    fn is_called(&self, column: usize, names: &[String]) -> bool {
        names.contains(&simplified(self.name(column)))
    }

    /// Guesses the roles of the columns other than `taken`, which hold answers or annotators.
    fn rest(&self, taken: &[usize]) -> Result<ColumnRoles, ExchangeError> {
        let named = ColumnRoles {
            text: self.plain.text.clone(),
            text_id: self.plain.text_id.clone(),
            ..ColumnRoles::default()
        };
        let left_out = [self.context.left_out, &self.no_texts].concat();
        guess_the_rest(self.source, &named, &taken.iter().copied().collect(), &left_out)
    }

    /// Guesses the roles of texts among the other columns, with a column for the body even if its name is not
    /// conclusive.
    fn rest_of_texts(&self, taken: &[usize]) -> Result<ColumnRoles, ExchangeError> {
        let mut roles = of_texts(self.rest(taken)?);
        self.find_body(&mut roles, taken);
        self.name_rows(&mut roles, taken);
        Ok(roles)
    }

    /// If each row is a text, chooses ids and bodies that identify rows, and not those of a prompt that
    /// several rows share.
    fn name_rows(&self, roles: &mut ColumnRoles, taken: &[usize]) {
        let place = |name: &Option<String>| name.as_deref().and_then(|name| self.place(name));
        let rows = self.sample.rows();
        let (id, text) = (place(&roles.text_id), place(&roles.text));
        let free = |column: &usize| Some(*column) != id && Some(*column) != text && !taken.contains(column);
        if let Some(id) = id.filter(|id| self.sample.counts(*id).len() * 10 < rows * 9) {
            let names_rows = |column: &usize| {
                *column != id && self.is_called_like_id(*column) && self.sample.counts(*column).len() == rows
            };
            if let Some(found) = (0..self.sample.width()).filter(free).find(names_rows) {
                roles.text_id = Some(self.name(found).to_owned());
            }
        }
        if let Some(text) = text.filter(|text| self.sample.counts(*text).len() * 10 < rows * 7) {
            let tells_more = |column: &usize| {
                let (length, spaced) = self.sample.wordiness(*column);
                let notes = self.is_about_answer(*column);
                let more = self.sample.counts(*column).len() * 10 > self.sample.counts(text).len() * 13;
                length >= 8.0 && spaced >= 0.6 && more && !notes
            };
            if let Some(found) = (0..self.sample.width()).filter(free).find(tells_more) {
                roles.text = Some(self.name(found).to_owned());
            }
        }
    }

    /// Finds the column of the bodies by its values, if none has a known name: the longest texts of several
    /// words that are determined by their id.
    fn find_body(&self, roles: &mut ColumnRoles, taken: &[usize]) {
        if roles.text.is_some() {
            return;
        }
        let id = roles.text_id.as_deref().and_then(|id| self.place(id));
        let used: Vec<usize> = roles.named().iter().filter_map(|(_, name)| self.place(name)).collect();
        let candidates =
            (0..self.sample.width()).filter(|column| !used.contains(column) && !taken.contains(column));
        let wordy = candidates.filter_map(|column| {
            let (length, spaced) = self.sample.wordiness(column);
            let of_text = id.is_none_or(|id| self.sample.varies_within(column, id).0 == 0);
            let notes = self.is_about_answer(column);
            (length >= 8.0 && spaced >= 0.6 && of_text && !notes).then_some((length, column))
        });
        let longest = wordy.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        roles.text = longest.map(|(_, column)| self.name(column).to_owned());
    }

    /// Whether a column may hold answers: few values, which differ within a text and within an annotator if
    /// the sample has several of them.
    fn may_be_answers(&self, column: usize) -> bool {
        self.sample.is_few(column)
            // Crowdsourcing platforms use this prefix for their own columns.
            && !self.name(column).starts_with('_')
            && !self.is_called(column, &vocabulary().shapes.not_answers)
            && !self.is_called(column, &vocabulary().columns.time)
            && !self.is_called(column, &vocabulary().columns.duration)
            && !self.is_called(column, &vocabulary().columns.occasion)
            && !self.is_of_text(column)
    }
}

impl Table<'_> {
    /// Whether a column identifies or contains texts, by its name or by its values.
    fn is_of_text(&self, column: usize) -> bool {
        let names = &vocabulary().columns;
        let plain = simplified(self.name(column));
        let (length, spaced) = self.sample.wordiness(column);
        let called = names.text_id.contains(&plain) || plain.ends_with("id") && plain.len() > 3;
        called && !names.label.contains(&plain) || length >= 25.0 && spaced >= 0.6
    }
}

/// Whether a table was written by this program.
fn is_ours(columns: &[String]) -> bool {
    let ours = ["text_id", "annotator_id", "question", "label", "created_at", "duration_ms", "source"];
    ours.iter().all(|name| columns.iter().any(|column| column == name))
}

/// The roles that are about texts.
fn of_texts(roles: ColumnRoles) -> ColumnRoles {
    ColumnRoles {
        text_id: roles.text_id,
        text: roles.text,
        split: roles.split,
        group: roles.group,
        ..ColumnRoles::default()
    }
}

/// A few names, for a sentence: `a, b and 3 more`.
fn some(names: &[&str]) -> String {
    match names.len() {
        0..=4 => names.join(", "),
        more => format!("{} and {} more", names[..3].join(", "), more - 3),
    }
}
