//! Reading a file row by row: from the values of a record to a [`Row`] that is sound in itself.

use crate::check::Checker;
use crate::error::ExchangeError;
use crate::misfit::{About, Misfit};
use crate::plan::{Pick, Plan};
use crate::reading::{AttributeConflicts, SettledAttributes};
use crate::records::Records;
use crate::roles::{ColumnRoles, FileKind};
use crate::row::Row;
use crate::row_builder::Builder;
use crate::row_error::RowError;
use crate::source::Source;
use crate::span_answers::SpanAnswers;
use crate::verdict::Verdict;
use std::ops::ControlFlow;

/// Interval between progress reports while the spans of a file are gathered, in rows.
const REPORT_EVERY: u64 = 4096;

/// Reads the rows of `source` one at a time; memory does not grow with the file. A bad row is an `Err`, and
/// reading continues after it.
///
/// In a file with one row a span, the rows of an answer need not be adjacent: a first pass gathers the spans,
/// which needs about 24 bytes a span and 120 bytes an answer. The first row of an answer has all of its spans
/// and the latest of its times; the others are marked with [`Row::continues`]. If one row of an answer is
/// bad, all of them are.
///
/// # Errors
/// Roles that do not fit the file, or a file that can no longer be opened.
pub fn read_rows(source: &Source, roles: &ColumnRoles) -> Result<Rows, ExchangeError> {
    read_rows_while(source, roles, |_| ControlFlow::Continue(()))
}

/// Runs [`read_rows`], passing to `progress` now and then how many bytes of the first pass are done, where
/// there is one; it may stop the reading.
///
/// # Errors
/// The same as [`read_rows`], and [`ExchangeError::Cancelled`] when `progress` breaks.
pub fn read_rows_while(
    source: &Source,
    roles: &ColumnRoles,
    mut progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Rows, ExchangeError> {
    let plan = Plan::new(source, roles)?;
    let open = || Records::open(source);
    let spans = match plan.span {
        Some(_) => Some(gather(source, &plan, open()?, &mut progress)?),
        None => None,
    };
    let rule = source.reading().map(|reading| reading.values.attribute_conflicts);
    let attributes = match rule.unwrap_or_default() {
        AttributeConflicts::Refuse => None,
        rule => Some(settle(source, &plan, open()?, rule, progress)?),
    };
    Ok(Rows { records: open()?, plan, spans, attributes })
}

/// Collects the attributes of annotators in a whole file, settled by a rule.
fn settle(
    source: &Source,
    plan: &Plan,
    mut records: Records,
    rule: AttributeConflicts,
    mut progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<SettledAttributes, ExchangeError> {
    let mut attributes = SettledAttributes::default();
    loop {
        match records.advance() {
            Ok(false) => break,
            Err(error) if error.is_fatal() => break,
            // Bad rows have no attributes.
            Err(_) => {}
            Ok(true) => {
                let builder = Builder { plan, cells: records.cells() };
                if let Ok((row, _)) = builder.row(records.row(), records.line()) {
                    attributes.take(&row);
                }
            }
        }
        if records.row().is_multiple_of(REPORT_EVERY) && progress(records.position()).is_break() {
            return Err(ExchangeError::Cancelled { path: source.path().to_owned() });
        }
    }
    attributes.settle(rule);
    Ok(attributes)
}

/// The spans of a whole file by answer.
fn gather(
    source: &Source,
    plan: &Plan,
    mut records: Records,
    mut progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<SpanAnswers, ExchangeError> {
    let mut answers = SpanAnswers::default();
    loop {
        match records.advance() {
            Ok(false) => return Ok(answers),
            // Rows that are too broken to identify their answer, and errors that end the file, are reported
            // when the rows are read.
            Err(error) if error.is_fatal() => return Ok(answers),
            Err(_) => {}
            Ok(true) => {
                let builder = Builder { plan, cells: records.cells() };
                match builder.row(records.row(), records.line()) {
                    Ok((row, spans)) => answers.take(&row, spans, plan),
                    Err(blame) => {
                        if let Some(of) = builder.answer_of() {
                            answers.refuse(&of, records.row(), blame);
                        }
                    }
                }
            }
        }
        if records.row().is_multiple_of(REPORT_EVERY) && progress(records.position()).is_break() {
            return Err(ExchangeError::Cancelled { path: source.path().to_owned() });
        }
    }
}

/// The rows of one file in order. Made by [`read_rows`].
#[derive(Debug)]
pub struct Rows {
    plan: Plan,
    records: Records,
    /// Of a file with one row a span.
    spans: Option<SpanAnswers>,
    /// Where a rule settles attributes that differ.
    attributes: Option<SettledAttributes>,
}

impl Rows {
    pub fn kind(&self) -> FileKind {
        self.plan.kind
    }

    /// Number of spans in the row returned last that begin with a tag for the inside of one, in a CoNLL file.
    pub fn begun_inside(&self) -> u32 {
        self.records.cells().begun_inside
    }

    /// The row returned last, good or bad, byte for byte with its line end; only the first 200 bytes of one
    /// over the size limit.
    pub fn raw(&self) -> &[u8] {
        self.records.raw()
    }

    /// The unprocessed values of the record that the row returned last comes from; fewer where it is broken.
    pub fn cells(&self) -> impl Iterator<Item = &str> {
        self.records.source_cells().iter()
    }

    /// The number of that record, from 1: a reading may make several rows of one.
    pub fn record(&self) -> u64 {
        self.records.record()
    }

    /// Whether the row returned last is the first of its record.
    pub fn begins_record(&self) -> bool {
        self.records.begins_record()
    }

    /// Whether that record is in the file that was given, and not in one that it is joined with.
    pub fn is_of_given_file(&self) -> bool {
        self.records.is_of_given_file()
    }

    /// How many attributes of annotators have several values, if a rule settles them.
    pub fn settled_conflicts(&self) -> u64 {
        self.attributes.as_ref().map_or(0, SettledAttributes::conflicts)
    }

    /// Reads the next row and checks it with `checker`. Preview and import both read this way.
    pub fn next_checked(&mut self, checker: &mut Checker) -> Option<Result<(Row, Verdict), RowError>> {
        let mut row = match self.next()? {
            Ok(row) => row,
            Err(error) => return Some(Err(error)),
        };
        let made = checker.id_by_body(&row).map(|id| row.text_id.replace(id));
        Some(match checker.check(&row) {
            Ok(verdict) => Ok((row, Verdict { by_body: made.is_some(), ..verdict })),
            Err(misfit) => {
                // Spans are gathered by the id that was made.
                row.text_id = made.unwrap_or(row.text_id);
                Err(self.misfit(&row, misfit))
            }
        })
    }

    fn misfit(&mut self, row: &Row, misfit: Misfit) -> RowError {
        let of_label = misfit.about == About::Label;
        let blame = (self.column_of(misfit.about), misfit.kind);
        match &mut self.spans {
            Some(answers) => answers.turn_down(row, blame, of_label, &self.plan),
            None => {
                let place = self.records.place();
                let column = blame.0.map(|column| self.records.shown_column(&column).to_owned());
                RowError { row: row.row, line: row.line, place, column, kind: blame.1 }
            }
        }
    }

    fn column_of(&self, about: About) -> Option<String> {
        let column = match about {
            About::TextId => self.plan.text_id,
            // Without a text column the id is to blame, without an id column the text is.
            About::Text => self.plan.text.or(self.plan.text_id),
            About::Label => self.plan.label,
            About::Question => match self.plan.question {
                Some(Pick::Column(column)) => Some(column),
                _ => None,
            },
            About::Attribute(name) => return Some(name),
        };
        column.and_then(|index| self.plan.columns.get(index).cloned())
    }

    /// Bytes of the file that have been read, for a progress bar; compare with [`Source::bytes`].
    pub fn position(&self) -> u64 {
        self.records.position()
    }
}

impl Iterator for Rows {
    type Item = Result<Row, RowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.records.advance() {
            Ok(false) => None,
            Err(error) => Some(Err(error)),
            Ok(true) => {
                let (row, line) = (self.records.row(), self.records.line());
                let built = Builder { plan: &self.plan, cells: self.records.cells() }.row(row, line);
                let placed = built.and_then(|(row, spans)| match &self.spans {
                    Some(answers) => answers.place(row, spans),
                    None => Ok(row),
                });
                let settled = placed.map(|row| match (&self.attributes, &row.annotator) {
                    (Some(attributes), Some(annotator)) => {
                        Row { attributes: attributes.of(annotator), settled: true, ..row }
                    }
                    _ => row,
                });
                Some(settled.map_err(|(column, kind)| {
                    let place = self.records.place();
                    let column = column.map(|column| self.records.shown_column(&column).to_owned());
                    RowError { row, line, place, column, kind }
                }))
            }
        }
    }
}
