//! Reading a file row by row: from the values of a record to a [`Row`] that is sound in itself.

use crate::cells::Cells;
use crate::check::Checker;
use crate::error::ExchangeError;
use crate::json_record::FLAT_LIST;
use crate::misfit::About;
use crate::records::Records;
use crate::roles::{ColumnRoles, FileKind, Pick, Plan};
use crate::row::{MAX_NAME_BYTES, MAX_SPANS_BYTES, Row, text_id_of};
use crate::row_error::{RowError, RowErrorKind};
use crate::source::Source;
use crate::time::{parse_duration_ms, parse_ms, parse_occasion};
use crate::verdict::Verdict;
use crate::write::METADATA_COLUMN;
use dissensus_domain::{Attributes, LabelSource, MAX_TEXT_BYTES, not_allowed_in_names, reads_as_spans};
use std::collections::BTreeMap;

/// Reads the rows of `source` one at a time; memory does not grow with the file. A bad row is an `Err`, and reading
/// goes on behind it.
///
/// # Errors
/// Roles that do not fit the file, or a file that can no longer be opened.
pub fn read_rows(source: &Source, roles: &ColumnRoles) -> Result<Rows, ExchangeError> {
    let plan = Plan::new(source, roles)?;
    let records = Records::open(source).map_err(|e| ExchangeError::reading(source.path(), e))?;
    Ok(Rows { plan, records })
}

/// The rows of one file in order. Made by [`read_rows`].
#[derive(Debug)]
pub struct Rows {
    plan: Plan,
    records: Records,
}

impl Rows {
    /// The sort of file.
    pub fn kind(&self) -> FileKind {
        self.plan.kind
    }

    /// The row given last, good or bad, byte for byte with its line end; the first 200 bytes of one over the cap.
    pub fn raw(&self) -> &[u8] {
        self.records.raw()
    }

    /// The values of the row given last, in the order of [`Source::columns`]; fewer where it is broken.
    pub fn cells(&self) -> impl Iterator<Item = &str> {
        self.records.cells().iter()
    }

    /// The next row together with what `checker` says of it. This is how a preview and an import both read.
    pub fn next_checked(&mut self, checker: &mut Checker) -> Option<Result<(Row, Verdict), RowError>> {
        let row = match self.next()? {
            Ok(row) => row,
            Err(error) => return Some(Err(error)),
        };
        Some(match checker.check(&row) {
            Ok(verdict) => Ok((row, verdict)),
            Err(misfit) => Err(RowError {
                row: row.row,
                line: row.line,
                column: self.column_of(misfit.about),
                kind: misfit.kind,
            }),
        })
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

    /// Bytes of the file left behind, for a progress bar; compare with [`Source::bytes`].
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
                Some(built.map_err(|(column, kind)| RowError { row, line, column, kind }))
            }
        }
    }
}

type Blame = (Option<String>, RowErrorKind);

/// Makes a [`Row`] of one record's values.
struct Builder<'a> {
    plan: &'a Plan,
    cells: &'a Cells,
}

impl Builder<'_> {
    fn row(&self, row: u64, line: u64) -> Result<Row, Blame> {
        self.refuse_nul()?;
        let plan = self.plan;
        let text = plan.text.map(|column| self.body(column)).transpose()?;
        Ok(Row {
            row,
            line,
            text_id: self.text_id(text.as_deref())?,
            text,
            annotator: self.annotator()?,
            label: self.label(plan.label)?,
            split: self.picked(&plan.split)?,
            group: self.picked(&plan.group)?,
            question: self.picked(&plan.question)?,
            at_ms: self.read(plan.time, parse_ms, |value| RowErrorKind::BadTime { value })?,
            duration_ms: self
                .read(plan.duration, parse_duration_ms, |value| RowErrorKind::BadDuration { value })?,
            source: self
                .read(plan.source, LabelSource::from_name, |value| RowErrorKind::BadSource { value })?,
            occasion: self
                .read(plan.occasion, parse_occasion, |value| RowErrorKind::BadOccasion { value })?
                .filter(|occasion| *occasion > 1),
            attributes: self.attributes()?,
            metadata: self.metadata(),
        })
    }

    fn blame(&self, column: usize, kind: RowErrorKind) -> Blame {
        (self.plan.columns.get(column).cloned(), kind)
    }

    /// NUL ends a string for C programs and is never part of a text.
    fn refuse_nul(&self) -> Result<(), Blame> {
        if memchr::memchr(0, self.cells.text.as_bytes()).is_some() {
            let column = self.cells.iter().position(|value| value.contains('\0')).unwrap_or_default();
            return Err(self.blame(column, RowErrorKind::ControlCharacter { code: 0 }));
        }
        match self.cells.extra.iter().find(|(key, value)| key.contains('\0') || value.contains('\0')) {
            Some((key, _)) => Err((Some(key.replace('\0', "")), RowErrorKind::ControlCharacter { code: 0 })),
            None => Ok(()),
        }
    }

    fn refuse_nested(&self, column: usize) -> Result<(), Blame> {
        match self.cells.nested.iter().find(|(c, _)| *c == column) {
            Some((_, found)) => Err(self.blame(column, RowErrorKind::Nested { found })),
            None => Ok(()),
        }
    }

    fn body(&self, column: usize) -> Result<String, Blame> {
        self.refuse_nested(column)?;
        let body = self.cells.get(column);
        if body.trim().is_empty() {
            return Err(self.blame(column, RowErrorKind::Missing { what: "text" }));
        }
        if body.len() > MAX_TEXT_BYTES {
            let kind = RowErrorKind::TextTooLong { bytes: body.len(), limit: MAX_TEXT_BYTES };
            return Err(self.blame(column, kind));
        }
        Ok(body.to_owned())
    }

    /// A trimmed id, label or attribute; `None` where it is blank.
    fn name(&self, column: Option<usize>) -> Result<Option<String>, Blame> {
        let Some(column) = column else { return Ok(None) };
        self.refuse_nested(column)?;
        self.checked_name(column)
    }

    /// A trimmed value that is not longer than it may be.
    fn checked_length(&self, column: usize, limit: usize) -> Result<&str, Blame> {
        let name = self.cells.get(column).trim();
        match name.len() > limit {
            true => Err(self.blame(column, RowErrorKind::NameTooLong { bytes: name.len(), limit })),
            false => Ok(name),
        }
    }

    fn checked_name(&self, column: usize) -> Result<Option<String>, Blame> {
        let name = self.checked_length(column, MAX_NAME_BYTES)?;
        if let Some(bad) = not_allowed_in_names(name) {
            let code = bad.into();
            let kind = match bad.is_control() {
                true => RowErrorKind::ControlCharacter { code },
                false => RowErrorKind::InvisibleCharacter { code },
            };
            return Err(self.blame(column, kind));
        }
        Ok((!name.is_empty()).then(|| name.to_owned()))
    }

    /// As [`Builder::name`]; a list of plain values is a set of options, one of objects or lists are spans, both written as their JSON.
    fn label(&self, column: Option<usize>) -> Result<Option<String>, Blame> {
        match column {
            Some(c) if reads_as_spans(self.cells.get(c)) => {
                self.checked_length(c, MAX_SPANS_BYTES).map(|list| Some(list.to_owned()))
            }
            Some(c) if self.cells.nested.iter().any(|(at, found)| *at == c && *found == FLAT_LIST) => {
                self.checked_name(c)
            }
            _ => self.name(column),
        }
    }

    fn picked(&self, pick: &Option<Pick>) -> Result<Option<String>, Blame> {
        match pick {
            None => Ok(None),
            Some(Pick::Constant(name)) => Ok(Some(name.clone())),
            Some(Pick::Column(column)) => self.name(Some(*column)),
        }
    }

    fn text_id(&self, body: Option<&str>) -> Result<Option<String>, Blame> {
        match (self.plan.text_id, body) {
            (Some(column), _) => {
                let missing = || self.blame(column, RowErrorKind::Missing { what: "text id" });
                self.name(Some(column))?.map(Some).ok_or_else(missing)
            }
            (None, Some(body)) => Ok(Some(text_id_of(body))),
            (None, None) => Ok(None),
        }
    }

    fn annotator(&self) -> Result<Option<String>, Blame> {
        match (self.picked(&self.plan.annotator)?, &self.plan.annotator) {
            (None, Some(Pick::Column(column))) => {
                Err(self.blame(*column, RowErrorKind::Missing { what: "annotator" }))
            }
            (annotator, _) => Ok(annotator),
        }
    }

    /// A trimmed value read by `parse`; blank is `None`.
    fn read<T>(
        &self,
        column: Option<usize>,
        parse: impl Fn(&str) -> Option<T>,
        otherwise: impl Fn(String) -> RowErrorKind,
    ) -> Result<Option<T>, Blame> {
        let (Some(value), Some(column)) = (self.name(column)?, column) else { return Ok(None) };
        match parse(&value) {
            Some(read) => Ok(Some(read)),
            None => Err(self.blame(column, otherwise(value))),
        }
    }

    fn attributes(&self) -> Result<Attributes, Blame> {
        let mut attributes = Attributes::new();
        for column in &self.plan.attributes {
            if let Some(value) = self.name(Some(*column))? {
                attributes.insert(self.plan.columns[*column].clone(), value);
            }
        }
        Ok(attributes)
    }

    fn metadata(&self) -> BTreeMap<String, String> {
        let columns = self.plan.metadata.iter().map(|c| (self.plan.columns[*c].as_str(), self.cells.get(*c)));
        let extra = self.cells.extra.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let filled = columns.chain(extra).filter(|(_, value)| !value.trim().is_empty());
        let mut metadata: BTreeMap<String, String> =
            filled.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        // What an export of very many keys wrote as one object are keys again. A column of that key comes first.
        let object = metadata.get(METADATA_COLUMN).filter(|value| value.starts_with('{'));
        let object = object.and_then(|value| serde_json::from_str::<BTreeMap<String, String>>(value).ok());
        if let Some(object) = object {
            metadata.remove(METADATA_COLUMN);
            for (key, value) in object {
                metadata.entry(key).or_insert(value);
            }
        }
        metadata
    }
}
