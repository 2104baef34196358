//! The rows of an annotation file: one for each answer, one for each text without an answer.

use crate::ExchangeError;
use crate::annotations::facts::{
    ANNOTATOR, DURATION, Facts, LABEL, MARKS, NOTE, OCCASION, QUESTION, SPLIT, TEXT_ID, TIME,
};
use crate::annotations::file::AnnotationFile;
use crate::annotations::item::{GivenAnswer, Item, Items};
use crate::annotations::parts::{PartError, Parts};
use crate::cells::Cells;
use crate::row::{FLAGGED, SKIPPED};
use crate::row_error::{RowError, RowErrorKind};
use dissensus_domain::{NamedSpan, list_of_spans};
use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// How a set of options is written ([`dissensus_domain::Scale::answer_named`]), and the empty one.
const BETWEEN_OPTIONS: &str = " + ";
const NO_OPTION: &str = "none";

/// The values of a row by column.
type Flat = Vec<(String, String)>;
/// A row, or its error.
type Next = Result<Flat, (Option<String>, RowErrorKind)>;

/// Reads rows.
#[derive(Debug)]
pub(crate) struct AnnotationRecords {
    file: Arc<AnnotationFile>,
    parts: Parts,
    columns: HashMap<String, usize>,
    queue: VecDeque<(String, Next)>,
    /// The number of the next item.
    item: u64,
    cells: Cells,
    raw: Vec<u8>,
    row: u64,
    line: u64,
    place: String,
}

impl AnnotationRecords {
    /// The rows of `file` from the first.
    pub(crate) fn open(file: &Arc<AnnotationFile>) -> Result<Self, ExchangeError> {
        Ok(Self {
            parts: Parts::open(&file.path, &file.division)?,
            columns: file.facts.columns().into_iter().zip(0..).collect(),
            file: Arc::clone(file),
            queue: VecDeque::new(),
            item: 0,
            cells: Cells::default(),
            raw: Vec::new(),
            row: 0,
            line: 1,
            place: String::new(),
        })
    }

    pub(crate) fn cells(&self) -> &Cells {
        &self.cells
    }

    pub(crate) fn row(&self) -> u64 {
        self.row
    }

    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The position of the row in its part: the task, the annotation, the file of an archive.
    pub(crate) fn place(&self) -> Option<&str> {
        Some(self.place.as_str()).filter(|place| !place.is_empty())
    }

    /// The row returned last as a JSON object of its values.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.raw
    }

    pub(crate) fn position(&self) -> u64 {
        self.parts.position()
    }

    /// Goes to the next row; false after the last one.
    pub(crate) fn advance(&mut self) -> Result<bool, RowError> {
        self.cells.clear();
        self.raw.clear();
        loop {
            if let Some((place, next)) = self.queue.pop_front() {
                self.row += 1;
                self.place = place;
                return match next {
                    Ok(flat) => {
                        self.fill(flat);
                        Ok(true)
                    }
                    Err((column, kind)) => Err(self.error(column, kind)),
                };
            }
            match self.parts.next_part() {
                None => return Ok(false),
                Some(Err(PartError { line, name, kind })) => {
                    self.row += 1;
                    (self.line, self.place) = (line, name);
                    return Err(self.error(None, kind));
                }
                Some(Ok(part)) => {
                    self.line = part.line;
                    let mut items = Items::default();
                    self.file.unfold.unfold(&part, &mut items);
                    for item in items.found {
                        match item {
                            Ok(mut item) => {
                                self.file.facts.complete(&mut item);
                                let number = self.item;
                                self.item += 1;
                                rows_of(&self.file.facts, item, number, &mut self.queue);
                            }
                            Err(fault) => {
                                self.queue.push_back((fault.place, Err((fault.column, fault.kind))));
                            }
                        }
                    }
                }
            }
        }
    }

    fn error(&self, column: Option<String>, kind: RowErrorKind) -> RowError {
        let place = self.place().map(str::to_owned);
        RowError { row: self.row, line: self.line, place, column, kind }
    }

    fn fill(&mut self, flat: Flat) {
        let mut slots: Vec<Option<&str>> = vec![None; self.columns.len()];
        let mut object = Map::new();
        for (name, value) in &flat {
            match self.columns.get(name) {
                Some(column) => slots[*column] = Some(value),
                None => self.cells.extra.push((name.clone(), value.clone())),
            }
            object.insert(name.clone(), Value::from(value.as_str()));
        }
        for slot in slots {
            self.cells.text.push_str(slot.unwrap_or_default());
            self.cells.end_value();
        }
        self.raw = Value::Object(object).to_string().into_bytes();
    }
}

/// A row's question, its label, whether the text was skipped, and its annotation round.
type OneRow = (Option<String>, Option<String>, bool, Option<u16>);

/// The rows of an item: one for each answer, at least one.
fn rows_of(facts: &Facts, item: Item, number: u64, queue: &mut VecDeque<(String, Next)>) {
    let Item {
        place,
        text_id,
        data,
        annotator,
        attributes,
        answers,
        at,
        duration_ms,
        note,
        flagged,
        split,
        ..
    } = item;
    let mut common: Vec<(String, String)> = Vec::with_capacity(data.len() + 8);
    let singles =
        [(TEXT_ID, text_id), (ANNOTATOR, annotator), (TIME, at), (DURATION, duration_ms), (SPLIT, split)];
    common.extend(singles.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    common.extend(attributes);
    common.extend(data.into_iter().map(|(key, value)| (Facts::column_of(&key), value)));
    let mut rows: Vec<OneRow> = Vec::new();
    for (nth, (question, answer)) in (0..).zip(answers) {
        if answer == GivenAnswer::Skipped {
            // A text that is skipped without naming a question is skipped for all.
            match question {
                Some(question) => rows.push((Some(question), None, true, None)),
                None => rows.extend(facts.questions().map(|name| (Some(name.to_owned()), None, true, None))),
            }
            continue;
        }
        let question = question.unwrap_or_else(|| LABEL.to_owned());
        if facts.supports(&question) {
            let label = label_of(&answer, facts.is_set(&question));
            rows.push((Some(question), Some(label), false, facts.occasion(number, nth)));
        }
    }
    if rows.is_empty() {
        let first = facts.questions().next().filter(|_| flagged || !note.is_empty());
        rows.push((first.map(str::to_owned), None, false, None));
    }
    let last = rows.len() - 1;
    for (nth, (question, label, skipped, occasion)) in rows.into_iter().enumerate() {
        let mut values = if nth == last { std::mem::take(&mut common) } else { common.clone() };
        let mut add = |name: &str, value: String| values.push((name.to_owned(), value));
        if let Some(question) = question {
            add(QUESTION, question);
        }
        if nth == 0 && !note.is_empty() {
            add(NOTE, note.clone());
        }
        let marks = [(skipped, SKIPPED), (flagged && nth == 0, FLAGGED)];
        let marks: Vec<&str> = marks.into_iter().filter(|(set, _)| *set).map(|(_, mark)| mark).collect();
        if !marks.is_empty() {
            add(MARKS, marks.join(";"));
        }
        if let Some(occasion) = occasion {
            add(OCCASION, occasion.to_string());
        }
        if let Some(label) = label {
            add(LABEL, label);
        }
        queue.push_back((place.clone(), Ok(values)));
    }
}

/// The label of an answer.
fn label_of(answer: &GivenAnswer, set: bool) -> String {
    match answer {
        GivenAnswer::One(level) | GivenAnswer::Rating(level) => level.clone(),
        GivenAnswer::Several(options) if set && options.is_empty() => NO_OPTION.to_owned(),
        GivenAnswer::Several(options) => options.join(BETWEEN_OPTIONS),
        GivenAnswer::Spans(spans) => {
            let named = |(start, end, label): &(u32, u32, String)| NamedSpan {
                start: *start,
                end: *end,
                label: label.clone(),
            };
            list_of_spans(&spans.iter().map(named).collect::<Vec<_>>())
        }
        GivenAnswer::Skipped => String::new(),
    }
}
