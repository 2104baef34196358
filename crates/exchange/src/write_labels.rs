//! Writes labels in long form so that they can be read again: one row a label, or one row a span.

use crate::row::{FLAGGED, SKIPPED};
use crate::study_cells::{STUDY_COLUMNS, StudyCells, StudyLayout};
use crate::table::Table;
use crate::time::format_ms;
use crate::typed_column::ColumnKind;
use crate::write::{Extras, Metadata};
use crate::{ColumnRoles, ExchangeError, OutputFormat};
use dissensus_domain::{Attributes, LabelSource, NamedSpan, Note, Scale, Shown, spans_named};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// Columns of a label file in order; what a layout leaves out is not there.
const LABEL_COLUMNS: [&str; 21] = [
    "text_id",
    "text",
    "annotator_id",
    LABEL,
    START,
    END,
    TYPE,
    "question",
    SCALE,
    "split",
    "group",
    "created_at",
    "duration_ms",
    SOURCE,
    OCCASION,
    NOTE,
    REASONS,
    CONFIDENCE,
    MARKS,
    GUIDELINE,
    SHOWN,
];

const LABEL: &str = "label";
const SOURCE: &str = "source";
const START: &str = "start";
const END: &str = "end";
const TYPE: &str = "type";
/// The column with the scale of a question, in the first row of each, for files whose labels do not imply it.
const SCALE: &str = "scale";
/// The column with the annotation round of an answer, in files of projects with re-annotations.
const OCCASION: &str = "occasion";

/// Columns of the notes on answers, in files of projects that have some.
const NOTE: &str = "note";
const REASONS: &str = "reasons";
const CONFIDENCE: &str = "confidence";
const MARKS: &str = "marks";
const GUIDELINE: &str = "guideline";
/// The column of what annotators had been shown before they answered, in files of projects where this
/// happened; written together with the columns of notes.
const SHOWN: &str = "shown";

/// Returns the type of a standard column, for formats with types.
fn kind_of(column: &str) -> ColumnKind {
    match column {
        LABEL => ColumnKind::Level,
        "created_at" => ColumnKind::Moment,
        START | END | "duration_ms" | OCCASION | CONFIDENCE | GUIDELINE => ColumnKind::Integer,
        _ => ColumnKind::Text,
    }
}

/// Which columns a file of labels has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelLayout {
    /// A column `occasion`: there are answers of later annotation rounds.
    pub occasions: bool,
    /// A column `scale`: the labels of a question do not imply it ([`LabelWriter::with_scales`]).
    pub scales: bool,
    /// How spans are written.
    pub spans: SpanLayout,
    /// Columns `note`, `reasons`, `confidence`, `marks` and `guideline`: an annotator added a note to an
    /// answer, skipped or flagged a text, or answered with a guideline on screen. They are written together,
    /// so that a reader can distinguish them from columns of the same name in other files.
    pub notes: bool,
    /// Columns about the study; implies the columns of notes.
    pub study: StudyLayout,
    /// A column `shown`: some answers were given after the annotator had been shown others' answers or
    /// predictions; implies the columns of notes.
    pub shown: bool,
    /// Attributes stand before the column `source`, where a reader finds them whatever their values are: by
    /// its values alone, one that all annotators share could as well be metadata.
    pub attributes_before_source: bool,
}

/// How the spans of an answer are written in a file of labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpanLayout {
    /// In the column of labels, as a JSON list.
    #[default]
    Lists,
    /// One row a span, in columns `start`, `end` and `type`, and no column of labels: all answers are spans.
    /// The columns are empty where an answer has no span.
    Rows,
    /// Like `Rows`, with a column of labels for the answers that are not spans; `[]` in it is an answer
    /// without a span.
    RowsAndLabels,
}

impl LabelLayout {
    fn has(self, column: &str) -> bool {
        match column {
            LABEL => self.spans != SpanLayout::Rows,
            START | END | TYPE => self.spans != SpanLayout::Lists,
            OCCASION => self.occasions,
            SCALE => self.scales,
            NOTE | REASONS | CONFIDENCE | MARKS | GUIDELINE => self.notes || self.shown || self.study.any(),
            SHOWN => self.shown,
            column if STUDY_COLUMNS.contains(&column) => self.study.has(column),
            _ => true,
        }
    }

    fn columns(self) -> impl Iterator<Item = &'static str> {
        LABEL_COLUMNS.into_iter().chain(STUDY_COLUMNS).filter(move |column| self.has(column))
    }

    /// Number of columns before the attributes.
    fn before_attributes(self) -> usize {
        self.columns().take_while(|column| !self.attributes_before_source || *column != SOURCE).count()
    }
}

/// One label to write, with its text and its annotator.
#[derive(Clone, Copy, Debug)]
pub struct LabelRow<'a> {
    pub text_id: &'a str,
    /// Its body.
    pub text: &'a str,
    pub annotator: &'a str,
    /// The name of the level; `None` writes an empty cell: text and annotator without a label.
    pub label: Option<&'a str>,
    /// The label is a list of spans, written to JSON Lines as a list.
    pub spans: bool,
    /// The name of the question.
    pub question: Option<&'a str>,
    /// The part of an official split.
    pub split: Option<&'a str>,
    pub group: Option<&'a str>,
    /// When the label was given, in milliseconds since 1970-01-01 UTC.
    pub at_ms: Option<i64>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u32>,
    /// Where the label came from.
    pub source: Option<LabelSource>,
    /// The annotation round of this answer, from 1; written only where the file has re-annotations.
    pub occasion: u16,
    /// The annotator's note on the answer; written only where the layout has it.
    pub note: Option<&'a Note>,
    pub skipped: bool,
    /// The annotator flagged the text.
    pub flagged: bool,
    /// The number of the version of the guideline that was on screen.
    pub guideline: Option<u32>,
    /// Columns about the study; written only where the layout has them.
    pub study: &'a StudyCells,
    /// What the annotator had been shown about this text before answering; written only where the layout has
    /// it.
    pub shown: Shown,
    /// Attributes of the annotator. Only those named when the writer was made are written.
    pub attributes: &'a Attributes,
    /// Metadata of the text. Only keys named when the writer was made are written.
    pub metadata: &'a BTreeMap<String, String>,
}

/// Writes labels in long form, one row a label (or a span). The file appears at the path only with
/// [`LabelWriter::finish`]; if the writer is dropped or fails before that, nothing changes there.
///
/// Columns: `text_id, text, annotator_id, label` (or `start, end, type`, see [`SpanLayout`]),
/// `question, split, group, created_at` (RFC 3339, UTC, milliseconds), `duration_ms, source`, those that
/// [`LabelLayout`] adds, then attributes (or before `source`), then metadata. An attribute or a metadata key
/// whose name is already used gets the prefix `attribute_` or `metadata_`. With more than
/// [`MAX_METADATA_COLUMNS`] keys a CSV or TSV file has one column `metadata` with a JSON object of those that
/// the text has, which reads back as keys. JSON Lines has only the metadata keys that a text has.
///
/// Values are written unchanged: a text that begins with `=`, `+`, `-` or `@` is run as a formula by a
/// spreadsheet that opens the CSV file. Open exports of untrusted texts as text columns, or use JSON Lines.
#[derive(Debug)]
pub struct LabelWriter {
    table: Table,
    layout: LabelLayout,
    attributes: Extras,
    metadata: Metadata,
    /// Scales, as JSON, that no row has been written with yet, by the names of the questions.
    scales: BTreeMap<String, String>,
}

impl LabelWriter {
    /// Begins the file. `attributes` and `metadata` are the keys that get a column.
    ///
    /// # Errors
    /// The folder is missing or cannot be written.
    pub fn create<A: Into<String>, M: Into<String>>(
        path: &Path,
        format: OutputFormat,
        layout: LabelLayout,
        attributes: impl IntoIterator<Item = A>,
        metadata: impl IntoIterator<Item = M>,
    ) -> Result<Self, ExchangeError> {
        // Reserved in every file: metadata of such a name would be read as annotation rounds or offsets.
        let mut taken: HashSet<String> = LABEL_COLUMNS.map(str::to_owned).into();
        if !layout.scales {
            taken.remove(SCALE);
        }
        if layout.spans == SpanLayout::Lists {
            for free in [START, END, TYPE] {
                taken.remove(free);
            }
        }
        taken.extend(STUDY_COLUMNS.into_iter().filter(|column| layout.has(column)).map(str::to_owned));
        if !layout.has(NOTE) {
            // Without the other columns a reader treats these as columns of another file.
            for free in [NOTE, REASONS, CONFIDENCE, MARKS, GUIDELINE, SHOWN] {
                taken.remove(free);
            }
        }
        let attributes = Extras::new(attributes, "attribute", &mut taken);
        let metadata = Metadata::new(format, metadata, &mut taken);
        let fixed = layout.columns().map(|column| (column.to_owned(), kind_of(column)));
        let mut columns: Vec<(String, ColumnKind)> = fixed.collect();
        let at = layout.before_attributes();
        columns.splice(at..at, attributes.columns.iter().map(|name| (name.clone(), ColumnKind::Text)));
        // Attributes have a role, so a reader must find their names in any part of the file.
        let required = columns.len();
        columns.extend(metadata.columns().into_iter().map(|name| (name, ColumnKind::Text)));
        let (columns, kinds) = columns.into_iter().unzip();
        let table = Table::create(path, format, columns, required, kinds)?;
        Ok(Self { table, layout, attributes, metadata, scales: BTreeMap::new() })
    }

    /// Writes the scales of these questions, each with its first row.
    #[must_use]
    pub fn with_scales<'a>(mut self, questions: impl IntoIterator<Item = (&'a str, &'a Scale)>) -> Self {
        let json = |scale: &Scale| serde_json::to_string(&scale.numbered()).unwrap_or_default();
        self.scales = questions.into_iter().map(|(name, scale)| (name.to_owned(), json(scale))).collect();
        self
    }

    /// The roles under which the file reads back exactly.
    pub fn roles(&self) -> ColumnRoles {
        let name = |column: &str| self.layout.has(column).then(|| column.to_owned());
        ColumnRoles {
            text_id: name("text_id"),
            text: name("text"),
            annotator: name("annotator_id"),
            label: name(LABEL),
            span_start: name(START),
            span_end: name(END),
            span_type: name(TYPE),
            question: name("question"),
            scale: name(SCALE),
            split: name("split"),
            group: name("group"),
            time: name("created_at"),
            duration: name("duration_ms"),
            source: name(SOURCE),
            occasion: name(OCCASION),
            note: name(NOTE),
            reasons: name(REASONS),
            confidence: name(CONFIDENCE),
            marks: name(MARKS),
            guideline: name(GUIDELINE),
            study: STUDY_COLUMNS.into_iter().filter_map(name).collect(),
            shown: name(SHOWN),
            attributes: self.attributes.columns.clone(),
            ..ColumnRoles::default()
        }
    }

    /// Adds a label: a row or, where each span has its own, one for every span.
    pub fn write(&mut self, row: &LabelRow<'_>) -> Result<(), ExchangeError> {
        if self.layout.spans == SpanLayout::Lists || !row.spans {
            return self.write_row(row, row.label, None);
        }
        // What the scale has named is a list of spans.
        let spans = row.label.and_then(|list| spans_named(list).ok()).unwrap_or_default();
        if spans.is_empty() {
            return self.write_row(row, row.label, None);
        }
        spans.iter().try_for_each(|span| self.write_row(row, None, Some(span)))
    }

    fn write_row(
        &mut self,
        row: &LabelRow<'_>,
        label: Option<&str>,
        span: Option<&NamedSpan>,
    ) -> Result<(), ExchangeError> {
        let at = row.at_ms.map(format_ms);
        let duration = row.duration_ms.map(|ms| ms.to_string());
        let occasion = row.occasion.to_string();
        let reasons = row.note.map_or_else(String::new, |note| note.reasons.join("; "));
        let confidence = row.note.and_then(|note| note.confidence).map(|sure| sure.to_string());
        let marks: Vec<&str> = [(row.skipped, SKIPPED), (row.flagged, FLAGGED)]
            .iter()
            .filter_map(|(on, name)| on.then_some(*name))
            .collect();
        let (marks, guideline) = (marks.join("; "), row.guideline.map(|number| number.to_string()));
        let scale = row.question.and_then(|question| self.scales.remove(question));
        let offsets = span.map(|span| [span.start.to_string(), span.end.to_string()]);
        fn filled(text: &str) -> Option<&str> {
            Some(text).filter(|text| !text.is_empty())
        }
        let value = |column: &str| match column {
            "text_id" => Some(row.text_id),
            "text" => Some(row.text),
            "annotator_id" => Some(row.annotator),
            LABEL => label,
            START => offsets.as_ref().map(|[start, _]| start.as_str()),
            END => offsets.as_ref().map(|[_, end]| end.as_str()),
            TYPE => span.map(|span| span.label.as_str()),
            "question" => row.question,
            SCALE => scale.as_deref(),
            "split" => row.split,
            "group" => row.group,
            "created_at" => at.as_deref(),
            "duration_ms" => duration.as_deref(),
            SOURCE => row.source.map(LabelSource::name),
            NOTE => row.note.and_then(|note| note.note.as_deref()),
            REASONS => filled(&reasons),
            CONFIDENCE => confidence.as_deref(),
            MARKS => filled(&marks),
            GUIDELINE => guideline.as_deref(),
            SHOWN => filled(row.shown.names()),
            column if STUDY_COLUMNS.contains(&column) => row.study.value(column),
            _ => Some(occasion.as_str()),
        };
        let mut values: Vec<Option<&str>> = self.layout.columns().map(value).collect();
        let json = self.layout.columns().position(|column| column == LABEL).filter(|_| row.spans);
        let behind = values.split_off(self.layout.before_attributes());
        self.attributes.push(row.attributes, &mut values);
        values.extend(behind);
        self.metadata.write(&mut self.table, values, row.metadata, json)
    }

    /// Flushes the file to disk and moves it to its path.
    ///
    /// # Errors
    /// The disk is full or refuses; an existing file at the path is then unchanged.
    pub fn finish(self) -> Result<(), ExchangeError> {
        self.table.finish()
    }
}
