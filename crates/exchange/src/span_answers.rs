//! The answers of a file with one row a span: which rows belong to which answer, and which answers are bad as
//! a whole.

use crate::plan::{Pick, Plan, SpanColumns};
use crate::row::Row;
use crate::row_builder::{AnswerOf, Blame, RowSpans};
use crate::row_error::{RowError, RowErrorKind};
use dissensus_domain::{Attributes, NamedSpan, SpansError, list_of_spans};
use foldhash::quality::RandomState;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;

/// Maximum number of spans in one answer of a file: a label of ordinary length.
const MAX_SPANS: usize = 10_000;
/// Maximum number of different types that are distinguished; a question has far fewer.
const MAX_TYPES: usize = 1_000;

/// No entry, no answer, no refusal.
const NONE: u32 = u32::MAX;

const NO_SPAN: &str = "states that there is no span";
const A_SPAN: &str = "has a span";
const A_LABEL: &str = "has an answer as a label";

/// The spans of a file by answer, in the order of their rows.
#[derive(Debug, Default)]
pub(crate) struct SpanAnswers {
    /// Two keys make a false match of two answers practically impossible.
    keys: [RandomState; 2],
    numbers: HashMap<(u64, u64), u32, foldhash::fast::RandomState>,
    answers: Vec<Gathered>,
    spans: Vec<Entry>,
    types: Vec<String>,
    type_numbers: HashMap<String, u32>,
    /// The attributes from all rows, by annotator; the first row of an answer returns them.
    attributes: BTreeMap<String, Attributes>,
    refusals: Vec<Refusal>,
}

/// One answer. Rows count from 1, so that 0 means none.
#[derive(Debug)]
struct Gathered {
    /// The row that returns the answer.
    first_row: u64,
    /// The first row that is an answer by itself, and what it has.
    alone: Option<(u64, &'static str)>,
    /// The first and the last of its spans.
    ends: (u32, u32),
    count: u32,
    body: u64,
    at_ms: Option<i64>,
    refused: u32,
}

#[derive(Debug)]
struct Entry {
    row: u64,
    start: u32,
    end: u32,
    kind: u32,
    next: u32,
}

#[derive(Debug)]
struct Refusal {
    row: u64,
    column: Option<String>,
    kind: RowErrorKind,
}

impl SpanAnswers {
    fn key(&self, of: &AnswerOf) -> (u64, u64) {
        (self.keys[0].hash_one(of), self.keys[1].hash_one(of))
    }

    fn of_row(row: &Row) -> AnswerOf {
        AnswerOf {
            text_id: row.text_id.clone().unwrap_or_default(),
            annotator: row.annotator.clone(),
            question: row.question.clone(),
            occasion: row.occasion,
        }
    }

    fn number_of(&self, row: &Row) -> Option<usize> {
        self.numbers.get(&self.key(&Self::of_row(row))).map(|number| *number as usize)
    }

    fn answer(&mut self, of: &AnswerOf) -> usize {
        let next = self.answers.len() as u32;
        let key = self.key(of);
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.answers.push(Gathered {
                first_row: 0,
                alone: None,
                ends: (NONE, NONE),
                count: 0,
                body: 0,
                at_ms: None,
                refused: NONE,
            });
        }
        number as usize
    }

    /// Adds a row to its answer.
    pub(crate) fn take(&mut self, row: &Row, spans: RowSpans, plan: &Plan) {
        let is_label = spans == RowSpans::Label;
        if spans == RowSpans::Nothing {
            return;
        }
        let number = self.answer(&Self::of_row(row));
        let outcome = self.fits(number, row, &spans, plan);
        let outcome = outcome.and_then(|()| self.store_row(number, row, spans, plan));
        let answer = &mut self.answers[number];
        if !is_label {
            if answer.first_row == 0 {
                answer.first_row = row.row;
            }
            answer.at_ms = answer.at_ms.max(row.at_ms);
        }
        if let Err((column, kind)) = outcome {
            self.refuse_number(number, Refusal { row: row.row, column, kind });
        }
    }

    /// Checks that a row can belong to the same answer as those before it.
    fn fits(&mut self, number: usize, row: &Row, spans: &RowSpans, plan: &Plan) -> Result<(), Blame> {
        self.check_attributes(row)?;
        let body = row.text.as_ref().map_or(0, |body| self.keys[0].hash_one(body));
        let answer = &mut self.answers[number];
        let known = answer.first_row > 0 || answer.alone.is_some();
        if known && answer.body != body {
            let kind = RowErrorKind::OtherBody { text_id: row.text_id.clone().unwrap_or_default() };
            return Err((plan.text.map(|column| plan.columns[column].clone()), kind));
        }
        answer.body = body;
        let this = match spans {
            RowSpans::Span(_) => A_SPAN,
            RowSpans::Label => A_LABEL,
            RowSpans::NoSpan | RowSpans::Nothing => NO_SPAN,
        };
        let other = match (answer.alone, answer.ends.0) {
            (Some((row, has)), _) if has != this => Some((row, has)),
            (_, first) if first != NONE && this != A_SPAN => Some((self.spans[first as usize].row, A_SPAN)),
            _ => None,
        };
        if this != A_SPAN {
            answer.alone = answer.alone.or(Some((row.row, this)));
        }
        match other {
            Some((row, other)) => Err((start_column(plan), RowErrorKind::Contradiction { this, other, row })),
            None => Ok(()),
        }
    }

    fn check_attributes(&mut self, row: &Row) -> Result<(), Blame> {
        let Some(annotator) = &row.annotator else { return Ok(()) };
        if row.attributes.is_empty() {
            return Ok(());
        }
        let known = self.attributes.entry(annotator.clone()).or_default();
        for (name, now) in &row.attributes {
            let before = known.entry(name.clone()).or_insert_with(|| now.clone());
            if before != now {
                let (annotator, before, now) = (annotator.clone(), before.clone(), now.clone());
                return Err((Some(name.clone()), RowErrorKind::OtherAttribute { annotator, before, now }));
            }
        }
        Ok(())
    }

    fn store_row(&mut self, number: usize, row: &Row, spans: RowSpans, plan: &Plan) -> Result<(), Blame> {
        let RowSpans::Span(NamedSpan { start, end, label }) = spans else { return Ok(()) };
        let too_many = |what, limit| Err((start_column(plan), RowErrorKind::TooManySpans { what, limit }));
        if self.answers[number].count as usize >= MAX_SPANS {
            return too_many("spans of one answer", MAX_SPANS);
        }
        let kind = match self.type_numbers.get(&label) {
            Some(kind) => *kind,
            None if self.types.len() >= MAX_TYPES => return too_many("different types", MAX_TYPES),
            None => {
                let kind = self.types.len() as u32;
                self.type_numbers.insert(label.clone(), kind);
                self.types.push(label);
                kind
            }
        };
        let new = self.spans.len() as u32;
        self.spans.push(Entry { row: row.row, start, end, kind, next: NONE });
        let answer = &mut self.answers[number];
        match answer.ends {
            (NONE, _) => answer.ends = (new, new),
            (first, last) => {
                self.spans[last as usize].next = new;
                answer.ends = (first, new);
            }
        }
        answer.count += 1;
        Ok(())
    }

    /// Rejects the whole answer that a bad row is a part of.
    pub(crate) fn refuse(&mut self, of: &AnswerOf, row: u64, (column, kind): Blame) {
        let number = self.answer(of);
        self.refuse_number(number, Refusal { row, column, kind });
    }

    fn refuse_number(&mut self, number: usize, refusal: Refusal) {
        let answer = &mut self.answers[number];
        if answer.refused == NONE {
            answer.refused = self.refusals.len() as u32;
            self.refusals.push(refusal);
        }
    }

    /// Adds all spans of the answer to its first row, and marks the other rows.
    pub(crate) fn place(&self, mut row: Row, spans: RowSpans) -> Result<Row, Blame> {
        if spans == RowSpans::Nothing {
            return Ok(row);
        }
        let Some(answer) = self.number_of(&row).map(|number| &self.answers[number]) else {
            let message = "it was changed while it was read".to_owned();
            return Err((None, RowErrorKind::Unreadable { message }));
        };
        if let Some(refusal) = self.refusals.get(answer.refused as usize) {
            return Err(refusal.to(row.row));
        }
        if spans == RowSpans::Label {
            return Ok(row);
        }
        row.continues = row.row != answer.first_row;
        row.attributes.clear();
        if !row.continues {
            row.label = Some(list_of_spans(&self.spans_of(answer).map(|(_, span)| span).collect::<Vec<_>>()));
            row.at_ms = answer.at_ms;
            let known = row.annotator.as_ref().and_then(|annotator| self.attributes.get(annotator));
            row.attributes = known.cloned().unwrap_or_default();
        }
        Ok(row)
    }

    /// The spans of an answer, each with its row.
    fn spans_of<'a>(&'a self, answer: &Gathered) -> impl Iterator<Item = (u64, NamedSpan)> + use<'a> {
        let entry = |at: u32| self.spans.get(at as usize);
        std::iter::successors(entry(answer.ends.0), move |before| entry(before.next)).map(|entry| {
            let label = self.types[entry.kind as usize].clone();
            (entry.row, NamedSpan { start: entry.start, end: entry.end, label })
        })
    }

    /// Rejects the answer of a row that does not fit the project or the rows before it, and returns the error
    /// of this row. If its spans do not fit, the row of the span is to blame.
    pub(crate) fn turn_down(&mut self, row: &Row, blame: Blame, of_label: bool, plan: &Plan) -> RowError {
        let reported =
            |(column, kind): Blame| RowError { row: row.row, line: row.line, place: None, column, kind };
        let Some(number) = self.number_of(row) else { return reported(blame) };
        let (column, kind) = blame;
        let refusal = match of_label && self.answers[number].first_row == row.row {
            true => self.misfit(number, row.row, kind, plan),
            false => Refusal { row: row.row, column, kind },
        };
        let error = reported(refusal.to(row.row));
        self.refuse_number(number, refusal);
        error
    }

    /// Returns the span that is to blame for the error of an answer, by its row and column.
    fn misfit(&self, number: usize, row: u64, kind: RowErrorKind, plan: &Plan) -> Refusal {
        let spans = || self.spans_of(&self.answers[number]);
        let column = |pick: fn(&SpanColumns) -> usize| {
            plan.span.as_ref().map(|columns| plan.columns[pick(columns)].clone())
        };
        match kind {
            RowErrorKind::BadSpans(SpansError::UnknownType { at, label, types }) => {
                let row = spans().nth(at - 1).map_or(row, |(row, _)| row);
                Refusal {
                    row,
                    column: column(type_column),
                    kind: RowErrorKind::UnknownSpanType { name: label, types },
                }
            }
            RowErrorKind::SpanOutside { end, .. } => {
                let row = spans().find(|(_, span)| span.end == end).map_or(row, |(row, _)| row);
                Refusal { row, column: column(|columns| columns.end), kind }
            }
            RowErrorKind::UnknownLevel { levels, .. } => Refusal {
                row,
                column: column(|columns| columns.start),
                kind: RowErrorKind::TakesNoSpans { levels },
            },
            kind => Refusal { row, column: column(|columns| columns.start), kind },
        }
    }
}

impl Refusal {
    /// Returns the error for a row of the answer.
    fn to(&self, row: u64) -> Blame {
        if row == self.row {
            return (self.column.clone(), self.kind.clone());
        }
        let column = self.column.as_ref().map_or_else(String::new, |name| format!("column \"{name}\": "));
        let why = format!("{column}{}", self.kind);
        (None, RowErrorKind::PartOfAnswer { row: self.row, why })
    }
}

fn start_column(plan: &Plan) -> Option<String> {
    plan.span.as_ref().map(|columns| plan.columns[columns.start].clone())
}

fn type_column(columns: &SpanColumns) -> usize {
    match columns.kind {
        Pick::Column(column) => column,
        Pick::Constant(_) => columns.start,
    }
}
