//! The rows that a reading makes of a table, in bounded memory: one for each answer of a record.

use super::list_cell::{entries_of, parse_list};
use super::reshape::{AnswerPosition, Joined, MadeColumn, Origin, Reshape, Slot, Who};
use super::value_rules::Treatment;
use crate::cells::Cells;
use crate::json_record::FLAT_LIST;
use crate::row_error::{RowError, RowErrorKind};
use crate::table_records::TableRecords;
use crate::truth::truth_value;
use serde_json::Value;
use std::borrow::Cow;
use std::io;
use std::sync::Arc;

/// The pseudo-field with the position of an entry in its list, from 1: unnamed annotators are identified by
/// that only.
pub(crate) const POSITION: &str = "position";

/// The column of a record that is to blame, and the reason.
type Blame = (usize, RowErrorKind);

/// A reader of the rows that a reading makes.
#[derive(Debug)]
pub(crate) struct ReshapedRecords {
    reshape: Arc<Reshape>,
    /// The texts of another table, until all of them have been read.
    texts: Option<TableRecords>,
    table: TableRecords,
    /// Bytes of the texts.
    texts_bytes: u64,
    /// The entries of each list of the current record.
    entries: Vec<Vec<Value>>,
    /// The next entry and slot of the current record, and how many entries it has.
    next: (usize, usize),
    count: usize,
    /// The current record has not made a row yet.
    fresh: bool,
    /// The slot of the row returned last.
    slot: Option<usize>,
    cells: Cells,
    /// Records of both tables so far.
    record: u64,
    /// The row returned last is the first of its record.
    begins: bool,
}

impl ReshapedRecords {
    /// The rows of a table from the first.
    pub(crate) fn open(reshape: &Arc<Reshape>) -> io::Result<Self> {
        let joined = reshape.joined.as_ref();
        Ok(Self {
            texts: joined.map(|joined| TableRecords::open(&joined.table)).transpose()?,
            table: TableRecords::open(&reshape.table)?,
            texts_bytes: joined.map_or(0, |joined| joined.table.bytes()),
            entries: Vec::new(),
            next: (0, 0),
            count: 0,
            fresh: false,
            slot: None,
            cells: Cells::default(),
            record: 0,
            begins: false,
            reshape: Arc::clone(reshape),
        })
    }

    pub(crate) fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The unprocessed cells of the current record.
    pub(crate) fn source_cells(&self) -> &Cells {
        self.at_hand().cells()
    }

    pub(crate) fn row(&self) -> u64 {
        self.at_hand().row()
    }

    pub(crate) fn line(&self) -> u64 {
        self.at_hand().line()
    }

    pub(crate) fn raw(&self) -> &[u8] {
        self.at_hand().raw()
    }

    /// The number of the current record among all of both tables, from 1.
    pub(crate) fn record(&self) -> u64 {
        self.record
    }

    /// Whether the row returned last is the first of its record.
    pub(crate) fn begins_record(&self) -> bool {
        self.begins
    }

    /// Whether the current record is in the file that was given, and not in the one that it is joined with.
    pub(crate) fn is_of_given_file(&self) -> bool {
        let Some(joined) = &self.reshape.joined else { return true };
        let table = if self.texts.is_some() { &joined.table } else { &self.reshape.table };
        table.path() == self.reshape.path
    }

    /// The file of the current record, where there are two.
    pub(crate) fn place(&self) -> Option<String> {
        let joined = self.reshape.joined.as_ref()?;
        let table = if self.texts.is_some() { &joined.table } else { &self.reshape.table };
        Some(table.path().file_name()?.to_string_lossy().into_owned())
    }

    pub(crate) fn position(&self) -> u64 {
        match &self.texts {
            Some(texts) => texts.position(),
            None => self.texts_bytes + self.table.position(),
        }
    }

    /// The column of the table that a column of the made rows is about.
    pub(crate) fn shown_column<'a>(&'a self, made: &'a str) -> &'a str {
        self.reshape.shown_column(made, self.slot)
    }

    fn at_hand(&self) -> &TableRecords {
        self.texts.as_ref().unwrap_or(&self.table)
    }

    /// Goes to the next row; false after the last one.
    pub(crate) fn advance(&mut self) -> Result<bool, RowError> {
        self.slot = None;
        if let (Some(texts), Some(joined)) = (&mut self.texts, &self.reshape.joined) {
            self.begins = true;
            self.record += 1;
            match texts.advance() {
                Ok(true) => {
                    make_text(joined, texts.cells(), &mut self.cells);
                    return Ok(true);
                }
                Ok(false) => {
                    self.record -= 1;
                    self.texts = None;
                }
                Err(error) => {
                    let place = self.place();
                    return Err(RowError { place, ..error });
                }
            }
        }
        loop {
            if let Some((entry, slot)) = self.next_answer() {
                self.begins = std::mem::take(&mut self.fresh);
                self.slot = slot;
                let made = self.make(entry, slot);
                return made.map(|()| true).map_err(|blame| self.error(blame));
            }
            if std::mem::take(&mut self.fresh) {
                // The row has no answer. If the texts are columns, the first one represents the row.
                self.begins = true;
                let texts = self.reshape.slots.first().is_some_and(|slot| slot.text.is_some());
                let made = self.make(None, texts.then_some(0));
                return made.map(|()| true).map_err(|blame| self.error(blame));
            }
            self.record += 1;
            self.begins = true;
            (self.next, self.count) = ((0, 0), 0);
            match self.table.advance() {
                Ok(false) => return Ok(false),
                Err(error) => {
                    let place = self.place();
                    return Err(RowError { place, ..error });
                }
                Ok(true) => {}
            }
            self.count = match self.read_lists() {
                Ok(count) => count,
                Err(blame) => {
                    let error = self.error(blame);
                    self.count = 0;
                    return Err(error);
                }
            };
            self.fresh = true;
        }
    }

    fn error(&self, (column, kind): Blame) -> RowError {
        let column = self.reshape.table.columns().get(column).cloned();
        RowError { row: self.table.row(), line: self.table.line(), place: self.place(), column, kind }
    }

    /// Returns the next answer of the current record that is not blank: the index of its entry in the lists,
    /// and its slot.
    fn next_answer(&mut self) -> Option<(Option<usize>, Option<usize>)> {
        let reshape = Arc::clone(&self.reshape);
        let slots = reshape.slots.len().max(1);
        while self.next.0 < self.count {
            let (entry, slot) = self.next;
            self.next = if slot + 1 < slots { (entry, slot + 1) } else { (entry + 1, 0) };
            let entry = (!reshape.lists.is_empty()).then_some(entry);
            match reshape.slots.get(slot) {
                // One answer a row, or an entry: the row itself shows whether it is blank.
                None => return Some((entry, None)),
                Some(answer) if self.is_answered(answer, entry) => return Some((entry, Some(slot))),
                Some(_) => {}
            }
        }
        None
    }

    fn is_answered(&self, slot: &Slot, entry: Option<usize>) -> bool {
        let filled = |place: &AnswerPosition| {
            let value = self.value(place, entry);
            !self.reshape.rules.apply(Treatment::Answer, &value).trim().is_empty()
        };
        slot.places.iter().any(|(place, _)| filled(place))
    }

    /// The value of a column of answers: for a list its current entry, or a field of that.
    fn value(&self, place: &AnswerPosition, entry: Option<usize>) -> Cow<'_, str> {
        match self.entry_at(place, entry) {
            Some(value) => {
                let value = value.map(|value| plain(&self.reshape.entry(value, Treatment::Answer)));
                Cow::Owned(value.unwrap_or_default())
            }
            None => Cow::Borrowed(self.table.cells().get(place.column)),
        }
    }

    /// Returns the current entry of a list, or a field of it, if there is one; `None` if the place is not in
    /// a list.
    fn entry_at(&self, place: &AnswerPosition, entry: Option<usize>) -> Option<Option<&Value>> {
        let list = self.reshape.lists.iter().position(|list| *list == place.column)?;
        let value = self.entries[list].get(entry?);
        Some(match &place.field {
            Some(field) => value.and_then(|value| value.get(field)).filter(|value| !value.is_null()),
            None => value,
        })
    }

    /// Reads the lists of the current record, and returns how many entries they have: one where there are no
    /// lists.
    fn read_lists(&mut self) -> Result<usize, Blame> {
        self.entries.clear();
        let reshape = &self.reshape;
        let mut first: Option<(usize, usize)> = None;
        for column in &reshape.lists {
            let parsed = self.table.take_parsed(*column).and_then(entries_of);
            let cell = self.table.cells().get(*column);
            let entries = match parsed {
                Some(entries) => entries,
                None if cell.trim().is_empty() => Vec::new(),
                None => parse_list(cell, reshape.separator.as_deref())
                    .ok_or_else(|| (*column, RowErrorKind::NoList { value: shortened(cell) }))?,
            };
            if let Some(number) = entries.iter().find_map(inexact) {
                return Err((*column, RowErrorKind::InexactNumber { value: number }));
            }
            match first {
                Some((other, length)) if length != entries.len() => {
                    let other = reshape.table.columns().get(other).cloned().unwrap_or_default();
                    let kind =
                        RowErrorKind::UnequalLists { length: entries.len(), other, other_length: length };
                    return Err((*column, kind));
                }
                _ => first = Some((*column, entries.len())),
            }
            self.entries.push(entries);
        }
        Ok(first.map_or(1, |(_, length)| length))
    }

    /// Makes a row of the current record, an entry of its lists and a slot. Without either the row introduces
    /// only its text.
    fn make(&mut self, entry: Option<usize>, slot: Option<usize>) -> Result<(), Blame> {
        let reshape = Arc::clone(&self.reshape);
        let answer = slot.and_then(|slot| reshape.slots.get(slot));
        self.cells.clear();
        let source = self.table.cells();
        for (place, column) in reshape.columns.iter().enumerate() {
            let mut nested = None;
            match &column.origin {
                Origin::Cell(at) => {
                    nested = source.nested.iter().find(|(nested, _)| nested == at).map(|(_, found)| *found);
                    let value = source.get(*at);
                    let value = match column.treatment == Treatment::Answer && reshape.truths.contains(at) {
                        true => reshape.rules.apply_to_truth(value),
                        false => reshape.rules.apply(column.treatment, value),
                    };
                    if column.treatment == Treatment::Answer
                        && reshape.rules.makes_sets()
                        && !value.is_empty()
                    {
                        nested = nested.or(Some(FLAT_LIST));
                    }
                    self.cells.text.push_str(&value);
                }
                Origin::Entry(list, field) => {
                    let value = entry.and_then(|entry| self.entries.get(*list)?.get(entry));
                    let value = match (value, field) {
                        (Some(Value::Object(fields)), Some(field)) if fields.contains_key(field) => {
                            fields.get(field)
                        }
                        (Some(_), Some(field)) if field == POSITION => None,
                        (Some(Value::Object(fields)), Some(field)) if is_pair(fields) => {
                            let at = reshape.lists[*list];
                            return Err((at, RowErrorKind::NoField { field: field.clone() }));
                        }
                        (Some(Value::Object(_)), Some(_)) => None,
                        (Some(Value::Null) | None, _) => None,
                        (Some(_), Some(field)) => {
                            let at = reshape.lists[*list];
                            return Err((at, RowErrorKind::NoField { field: field.clone() }));
                        }
                        (value, None) => value,
                    };
                    if let Some(value) = value {
                        let value = reshape.entry(value, column.treatment);
                        nested = nesting(&value);
                        let value = plain(&value);
                        let value = reshape.rules.apply(column.treatment, &value);
                        if column.treatment == Treatment::Answer
                            && reshape.rules.makes_sets()
                            && !value.is_empty()
                        {
                            nested = nested.or(Some(FLAT_LIST));
                        }
                        self.cells.text.push_str(&value);
                    } else if let (Some(entry), Some(POSITION)) = (entry, field.as_deref()) {
                        self.cells.text.push_str(&(entry + 1).to_string());
                    }
                }
                Origin::Joined(parts) => {
                    // If a part of an id is missing, the whole id is.
                    let whole = parts.iter().all(|part| !source.get(*part).trim().is_empty());
                    for (nth, part) in parts.iter().enumerate().filter(|_| whole) {
                        if nth > 0 {
                            self.cells.text.push('/');
                        }
                        for c in source.get(*part).trim().chars() {
                            // Distinguishes `a/b` and `c` from `a` and `b/c`.
                            if matches!(c, '/' | '\\') {
                                self.cells.text.push('\\');
                            }
                            self.cells.text.push(c);
                        }
                    }
                }
                made => {
                    if let Some(answer) = answer {
                        let value = self.of_slot(made, column, answer, entry)?;
                        nested = value.1;
                        self.cells.text.push_str(&value.0);
                    }
                }
            }
            if let Some(found) = nested {
                self.cells.nested.push((place, found));
            }
            self.cells.end_value();
        }
        self.cells.extra.extend(source.extra.iter().cloned());
        Ok(())
    }

    /// Returns the value of a slot for a column of the made rows.
    fn of_slot(
        &self,
        made: &Origin,
        column: &MadeColumn,
        slot: &Slot,
        entry: Option<usize>,
    ) -> Result<(String, Option<&'static str>), Blame> {
        Ok(match made {
            Origin::Text => (slot.text.clone().unwrap_or_default(), None),
            Origin::Question => (slot.question.clone().unwrap_or_default(), None),
            Origin::Occasion => {
                (slot.occasion.map(|occasion| occasion.to_string()).unwrap_or_default(), None)
            }
            Origin::Attribute(name) => (slot.attributes.get(name).cloned().unwrap_or_default(), None),
            Origin::Annotator => match &slot.who {
                Who::Named(name) => (name.clone(), None),
                Who::Column(at) => {
                    (self.value(&AnswerPosition { column: *at, field: None }, entry).into_owned(), None)
                }
                Who::OfRow => (String::new(), None),
            },
            _ => match slot.places.as_slice() {
                [(place, None)] => {
                    let at = &place.column;
                    let nested = match self.entry_at(place, entry) {
                        Some(value) => {
                            value.and_then(|value| nesting(&self.reshape.entry(value, Treatment::Answer)))
                        }
                        None => {
                            let found = self.table.cells().nested.iter().find(|(nested, _)| nested == at);
                            found.map(|(_, found)| *found)
                        }
                    };
                    let value = self.value(place, entry);
                    let value = match place.field.is_none() && self.reshape.truths.contains(at) {
                        true => self.reshape.rules.apply_to_truth(&value),
                        false => self.reshape.rules.apply(column.treatment, &value),
                    };
                    let is_set = self.reshape.rules.makes_sets() && !value.is_empty();
                    (value.into_owned(), nested.or(is_set.then_some(FLAT_LIST)))
                }
                marks => (self.chosen(marks, entry)?, Some(FLAT_LIST)),
            },
        })
    }

    /// The options that are marked, as a list.
    fn chosen(
        &self,
        marks: &[(AnswerPosition, Option<String>)],
        entry: Option<usize>,
    ) -> Result<String, Blame> {
        let mut chosen: Vec<&str> = Vec::new();
        for (place, option) in marks {
            let value = self.value(place, entry);
            let value = self.reshape.rules.apply(Treatment::Attribute, &value);
            let marked = match value.trim() {
                "" | "0" | "0.0" => false,
                "1" | "1.0" => true,
                value => truth_value(value).ok_or_else(|| {
                    (place.column, RowErrorKind::NoMarkOfOption { value: shortened(value) })
                })?,
            };
            if marked {
                chosen.extend(option.as_deref());
            }
        }
        Ok(serde_json::to_string(&chosen).unwrap_or_default())
    }
}

impl Reshape {
    /// Removes missing options from an entry that is a list; a list of nothing else becomes empty.
    fn entry<'a>(&self, value: &'a Value, treatment: Treatment) -> Cow<'a, Value> {
        match value {
            Value::Array(options) if treatment == Treatment::Answer => {
                let kept = self.rules.options(options);
                let none = kept.is_empty() && !options.is_empty();
                Cow::Owned(if none { Value::Null } else { Value::Array(kept) })
            }
            value => Cow::Borrowed(value),
        }
    }
}

/// Whether an entry is a member of an object where a list was expected.
fn is_pair(entry: &serde_json::Map<String, Value>) -> bool {
    entry.len() == 2 && entry.contains_key("key") && entry.contains_key("value")
}

/// Finds a number that cannot be stored digit for digit, anywhere in a value.
fn inexact(value: &Value) -> Option<String> {
    /// From here on neighbouring whole numbers share one double.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            number.as_f64().filter(|x| x.abs() >= EXACT).map(|_| number.to_string())
        }
        Value::Array(entries) => entries.iter().find_map(inexact),
        Value::Object(fields) => fields.values().find_map(inexact),
        _ => None,
    }
}

/// Makes a row that introduces a text of the other table.
fn make_text(joined: &Joined, source: &Cells, cells: &mut Cells) {
    cells.clear();
    for (place, column) in joined.places.iter().enumerate() {
        if let Some(at) = column {
            cells.text.push_str(source.get(*at));
            if let Some((_, found)) = source.nested.iter().find(|(nested, _)| nested == at) {
                cells.nested.push((place, found));
            }
        }
        cells.end_value();
    }
    cells.extra.extend(source.extra.iter().cloned());
}

/// Formats an entry as the text of a cell: whole numbers without a point, lists and objects as their JSON.
fn plain(value: &Value) -> String {
    crate::annotations::plain(value)
}

fn nesting(value: &Value) -> Option<&'static str> {
    match value {
        Value::Array(items) if items.iter().all(|item| !item.is_array() && !item.is_object()) => {
            Some(FLAT_LIST)
        }
        Value::Array(_) => Some("a list of lists or objects"),
        Value::Object(_) => Some("an object"),
        _ => None,
    }
}

/// The beginning of a value, for a message.
fn shortened(value: &str) -> String {
    match value.char_indices().nth(60) {
        Some((end, _)) => format!("{}\u{2026}", &value[..end]),
        None => value.to_owned(),
    }
}
