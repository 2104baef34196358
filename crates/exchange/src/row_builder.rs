//! Builds a [`Row`] that is valid in itself, and its span, from the values of a record.

use crate::cells::Cells;
use crate::json_record::FLAT_LIST;
use crate::plan::{Pick, Plan, SpanColumns};
use crate::row::{FLAGGED, MAX_NAME_BYTES, MAX_SPANS_BYTES, Row, SKIPPED, text_id_of};
use crate::row_error::RowErrorKind;
use crate::time::{parse_duration_ms, parse_ms, parse_round};
use crate::write::METADATA_COLUMN;
use dissensus_domain::{
    Attributes, LabelSource, MAX_TEXT_BYTES, NamedSpan, Note, NoteError, OffsetUnit, Scale, Shown,
    list_of_spans, not_allowed_in_names, reads_as_spans, spans_named,
};
use std::collections::BTreeMap;

/// The content of the span columns of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowSpans {
    /// The file has no such columns, or they and the label are all empty.
    Nothing,
    /// There is no span.
    NoSpan,
    /// One span.
    Span(NamedSpan),
    /// The row has a label, which is an answer by itself.
    Label,
}

/// The answer that a row is a part of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AnswerOf {
    pub(crate) text_id: String,
    pub(crate) annotator: Option<String>,
    pub(crate) question: Option<String>,
    pub(crate) occasion: Option<u16>,
}

/// The column to blame, if any, and the reason.
pub(crate) type Blame = (Option<String>, RowErrorKind);

/// Makes a [`Row`] of one record's values.
pub(crate) struct Builder<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) cells: &'a Cells,
}

impl Builder<'_> {
    pub(crate) fn row(&self, row: u64, line: u64) -> Result<(Row, RowSpans), Blame> {
        self.refuse_nul()?;
        let plan = self.plan;
        let text = plan.text.filter(|column| !self.is_elsewhere(*column));
        let text = text.map(|column| self.body(column)).transpose()?;
        let label = self.label(plan.label, text.as_deref())?;
        let spans = match &plan.span {
            Some(columns) => self.read_spans(columns, label.is_some(), text.as_deref())?,
            None => RowSpans::Nothing,
        };
        let (skipped, flagged) = self.marks()?;
        let row = Row {
            row,
            line,
            text_id: self.text_id(text.as_deref())?,
            text,
            annotator: self.annotator()?,
            label,
            continues: false,
            split: self.picked(&plan.split)?,
            group: self.picked(&plan.group)?,
            question: self.picked(&plan.question)?,
            scale: self.scale()?,
            at_ms: self.read(plan.time, parse_ms, |value| RowErrorKind::BadTime { value })?,
            duration_ms: self
                .read(plan.duration, parse_duration_ms, |value| RowErrorKind::BadDuration { value })?,
            source: self
                .read(plan.source, LabelSource::from_name, |value| RowErrorKind::BadSource { value })?,
            occasion: self.occasion()?,
            note: self.note()?,
            skipped,
            flagged,
            shown: self.shown()?,
            attributes: self.attributes()?,
            settled: false,
            metadata: self.metadata(),
        };
        Ok((row, spans))
    }

    /// Returns which answer the row is a part of, if enough of the row can be read.
    pub(crate) fn answer_of(&self) -> Option<AnswerOf> {
        let text = self.plan.text.filter(|column| !self.is_elsewhere(*column));
        let body = text.and_then(|column| self.body(column).ok());
        Some(AnswerOf {
            text_id: self.text_id(body.as_deref()).ok()??,
            annotator: self.annotator().ok()?,
            question: self.picked(&self.plan.question).ok()?,
            occasion: self.occasion().ok()?,
        })
    }

    fn occasion(&self) -> Result<Option<u16>, Blame> {
        let read = self.read(self.plan.occasion, parse_round, |value| RowErrorKind::BadOccasion { value })?;
        Ok(read.filter(|occasion| *occasion > 1))
    }

    /// Reads the scale of the question, which may be longer than a name. Ids of levels are those of another
    /// project: they are not used.
    fn scale(&self) -> Result<Option<Scale>, Blame> {
        let Some(column) = self.plan.scale else { return Ok(None) };
        let value = self.cells.get(column).trim();
        match serde_json::from_str::<Scale>(value) {
            Ok(scale) => Ok(Some(scale.numbered())),
            Err(_) if value.is_empty() => Ok(None),
            Err(_) => Err(self.blame(column, RowErrorKind::BadScale { value: value.to_owned() })),
        }
    }

    /// Reads the annotator's note on the answer.
    fn note(&self) -> Result<Note, Blame> {
        let plan = self.plan;
        if plan.note.is_none() && plan.reasons.is_none() && plan.confidence.is_none() {
            return Ok(Note::default());
        }
        let note = plan.note.map(|column| self.cells.get(column).trim()).filter(|note| !note.is_empty());
        let reasons = plan.reasons.map_or("", |column| self.cells.get(column)).split(';');
        let note = Note {
            note: note.map(str::to_owned),
            reasons: reasons.map(str::trim).filter(|r| !r.is_empty()).map(str::to_owned).collect(),
            confidence: self.read(
                plan.confidence,
                |value| parse_round(value).filter(|sure| *sure <= 5).map(|sure| sure as u8),
                |value| RowErrorKind::BadConfidence { value },
            )?,
        };
        let column = |error: &NoteError| match error {
            NoteError::Long(_) => plan.note,
            _ => plan.reasons,
        };
        note.check().map_err(|error| {
            (column(&error).and_then(|column| plan.columns.get(column).cloned()), error.into())
        })?;
        Ok(note)
    }

    /// Whether the text was skipped, and whether it was flagged.
    fn marks(&self) -> Result<(bool, bool), Blame> {
        let Some(column) = self.plan.marks else { return Ok((false, false)) };
        let (mut skipped, mut flagged) = (false, false);
        for mark in self.cells.get(column).split(';').map(str::trim).filter(|mark| !mark.is_empty()) {
            match mark {
                SKIPPED => skipped = true,
                FLAGGED => flagged = true,
                other => return Err(self.blame(column, RowErrorKind::BadMark { value: other.to_owned() })),
            }
        }
        Ok((skipped, flagged))
    }

    /// Reads what the annotator had been shown before the answer.
    fn shown(&self) -> Result<Shown, Blame> {
        let Some(column) = self.plan.shown else { return Ok(Shown::default()) };
        Shown::named(self.cells.get(column))
            .map_err(|other| self.blame(column, RowErrorKind::BadShown { value: other.to_owned() }))
    }

    /// Reads the span columns. In a file that has labels too, a row with neither has no answer.
    fn read_spans(
        &self,
        columns: &SpanColumns,
        labelled: bool,
        text: Option<&str>,
    ) -> Result<RowSpans, Blame> {
        let (start, end) = (self.name(Some(columns.start))?, self.name(Some(columns.end))?);
        let named = match &columns.kind {
            Pick::Column(column) => self.name(Some(*column))?,
            // A constant type does not mean that the row has a span.
            Pick::Constant(name) => (start.is_some() || end.is_some()).then(|| name.clone()),
        };
        let kind_column = match columns.kind {
            Pick::Column(column) => column,
            Pick::Constant(_) => columns.start,
        };
        let half = |column, missing| Err(self.blame(column, RowErrorKind::HalfSpan { missing }));
        let (start, end, label) = match (start, end, named) {
            (None, None, None) if labelled => return Ok(RowSpans::Label),
            (None, None, None) if self.plan.label.is_some() => return Ok(RowSpans::Nothing),
            (None, None, None) => return Ok(RowSpans::NoSpan),
            _ if labelled => return Err(self.blame(columns.start, RowErrorKind::SpanWithLabel)),
            (None, ..) => return half(columns.start, "start"),
            (_, None, _) => return half(columns.end, "end"),
            (.., None) => return half(kind_column, "type"),
            (Some(start), Some(end), Some(label)) => (start, end, label),
        };
        let (first, last) = (self.offset(columns.start, &start)?, self.offset(columns.end, &end)?);
        if first >= last {
            let kind = RowErrorKind::ReversedSpan { start: first, end: last };
            return Err(self.blame(columns.end, kind));
        }
        let (start, end) = match text {
            Some(text) => (self.place(columns.start, text, first)?, self.place(columns.end, text, last)?),
            None => (first, last),
        };
        Ok(RowSpans::Span(NamedSpan { start, end, label }))
    }

    /// A whole number, also as spreadsheets and data frames write it (`4.0`).
    fn offset(&self, column: usize, value: &str) -> Result<u32, Blame> {
        let digits = value.strip_suffix(".0").unwrap_or(value);
        let number = digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
        number.ok_or_else(|| self.blame(column, RowErrorKind::BadOffset { value: value.to_owned() }))
    }

    fn place(&self, column: usize, text: &str, offset: u32) -> Result<u32, Blame> {
        let place = self.plan.offsets.to_characters(text, offset);
        place.map_err(|error| self.blame(column, error.into()))
    }

    fn blame(&self, column: usize, kind: RowErrorKind) -> Blame {
        (self.plan.columns.get(column).cloned(), kind)
    }

    /// NUL ends a string in C programs and is never part of a text.
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

    /// Whether the row names a text that comes from another table.
    fn is_elsewhere(&self, text: usize) -> bool {
        self.plan.texts_apart && self.cells.get(text).trim().is_empty()
    }

    fn body(&self, column: usize) -> Result<String, Blame> {
        if let Some(words) = self.words(column) {
            return self.checked_body(column, &words);
        }
        self.refuse_nested(column)?;
        self.checked_body(column, self.cells.get(column))
    }

    /// The text of a list of its words, or of its sentences: with a space between them.
    fn words(&self, column: usize) -> Option<String> {
        let is_list = self.cells.nested.iter().any(|(at, found)| *at == column && *found == FLAT_LIST);
        let words: Vec<String> = serde_json::from_str(self.cells.get(column)).ok().filter(|_| is_list)?;
        Some(words.join(" "))
    }

    fn checked_body(&self, column: usize, body: &str) -> Result<String, Blame> {
        if body.trim().is_empty() {
            return Err(self.blame(column, RowErrorKind::Missing { what: "text" }));
        }
        if body.len() > MAX_TEXT_BYTES {
            let kind = RowErrorKind::TextTooLong { bytes: body.len(), limit: MAX_TEXT_BYTES };
            return Err(self.blame(column, kind));
        }
        Ok(body.to_owned())
    }

    /// Reads a trimmed id, label or attribute; `None` if it is blank.
    fn name(&self, column: Option<usize>) -> Result<Option<String>, Blame> {
        let Some(column) = column else { return Ok(None) };
        self.refuse_nested(column)?;
        self.checked_name(column)
    }

    /// Reads a trimmed value that is at most `limit` bytes long.
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

    /// Reads a name like [`Builder::name`]; a list of plain values is a set of options, one of objects or
    /// lists are spans, both returned as their JSON.
    fn label(&self, column: Option<usize>, text: Option<&str>) -> Result<Option<String>, Blame> {
        match column {
            Some(c) if reads_as_spans(self.cells.get(c)) => {
                let list = self.checked_length(c, MAX_SPANS_BYTES)?;
                match (self.plan.offsets, text) {
                    (OffsetUnit::Characters, _) | (_, None) => Ok(Some(list.to_owned())),
                    (_, Some(text)) => self.in_characters(c, list, text).map(Some),
                }
            }
            Some(c) if self.cells.nested.iter().any(|(at, found)| *at == c && *found == FLAT_LIST) => {
                self.checked_name(c)
            }
            _ => self.name(column),
        }
    }

    /// Converts a list of spans whose offsets are not in characters; an invalid list is left for the scale to
    /// reject.
    fn in_characters(&self, column: usize, list: &str, text: &str) -> Result<String, Blame> {
        let Ok(mut spans) = spans_named(list) else { return Ok(list.to_owned()) };
        for span in &mut spans {
            span.start = self.place(column, text, span.start)?;
            span.end = self.place(column, text, span.end)?;
        }
        Ok(list_of_spans(&spans))
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
            (None, Some(Pick::Column(_))) if self.is_text_alone() => Ok(None),
            (None, Some(Pick::Column(column))) => {
                Err(self.blame(*column, RowErrorKind::Missing { what: "annotator" }))
            }
            (annotator, _) => Ok(annotator),
        }
    }

    /// Whether the row may introduce only its text, because it has no answer.
    fn is_text_alone(&self) -> bool {
        let columns = [self.plan.label, self.plan.marks, self.plan.note];
        self.plan.texts_alone
            && columns.into_iter().flatten().all(|column| self.cells.get(column).trim().is_empty())
    }

    /// Reads a trimmed value with `parse`; blank is `None`.
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
        // An export with very many keys writes them as one object, which is expanded here. A column of the
        // same name has priority.
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
