//! Reads and writes the files of other tools: CSV, TSV, JSON Lines and CoNLL, row by row, in bounded memory;
//! and the exports of annotation tools ([`formats`]), part by part. Labels can also be written for those
//! tools ([`ToolFormat`]); what their formats cannot hold is counted ([`divide`]).
//!
//! ```
//! use dissensus_exchange::{Checker, FileKind, Source, guess_roles, scan};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("labels.csv");
//! std::fs::write(&path, "comment_id,comment,rater,rating\nc1,Well said.,ada,1\nc1,Well said.,bo,4\n")?;
//!
//! let source = Source::open(&path)?; // recognise the format and the columns
//! let roles = guess_roles(&source)?; // what is each column for?
//! assert_eq!(roles.annotator.as_deref(), Some("rater"));
//!
//! let preview = scan(&source, &roles, Checker::new(None))?; // one pass, nothing is written
//! assert_eq!(preview.kind, FileKind::Labels);
//! assert_eq!((preview.texts, preview.annotators, preview.labels), (1, 2, 2));
//! assert!(preview.problems.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An import reads the same way: [`read_rows`], then [`Rows::next_checked`] with a [`Checker`] that was
//! seeded from the project. Rejected rows go to a [`RejectWriter`] with [`Rows::raw`].
//!
//! # How irregular input is handled
//!
//! *Files of annotation tools.*
//! - The whole file is inspected when it is opened. Each answer in it is a row, and so is each text without
//!   an answer; everything else is counted and reported by [`Source::met`]. [`Source::hints`] describes the
//!   questions beyond their answers.
//! - Of several answers of one annotator to one text and question, the earliest belongs to the first
//!   annotation round, the others to later rounds. The same answer at the same time counts once, however
//!   often the file has it.
//! - A question with more different answers than a scale can hold (free text) is left out and reported.
//! - Where the file does not identify the annotators, the annotator has to be given as `=NAME`.
//!
//! *The file.*
//! - The three sorts are labels in long form, texts only, annotators only ([`FileKind`], from
//!   [`ColumnRoles`]).
//! - A file compressed with gzip, or the only file in a ZIP archive, is unpacked into a temporary folder
//!   while it is read, whatever its name. A sheet of an Excel workbook or an OpenDocument spreadsheet,
//!   Parquet, Arrow, and other encodings are rewritten in the same way: the line of a row is then its row in
//!   the sheet, or its number in the file. Merged cells, formulas without a value and errors in cells are
//!   refused.
//! - A byte order mark is skipped. If a file is not UTF-8, its encoding is guessed and reported
//!   ([`Source::met`]). If most characters beyond ASCII are UTF-8, or the invalid bytes come after the first
//!   mebibyte, a row with a byte that is not UTF-8 is bad and reports the position of that byte in the file.
//! - CSV is RFC 4180. Line ends are LF or CRLF, the last one may be missing. A quote opens a value only as
//!   its first character; in a quoted value separators, line ends (unchanged) and `""` (one quote) belong to
//!   the value. A stray quote makes one bad row, and reading continues on the next line.
//! - JSON Lines has one object a line. The order of keys is free, a missing key and `null` are blank, and a
//!   key that first appears later in the file is metadata. `3`, `3.0` and `"3"` are the same value `3`;
//!   `true` is `true`. A number that cannot be represented exactly is bad. A list or an object is stored as
//!   its JSON in metadata and is bad anywhere else. An unpaired surrogate (`\ud83d` without its second half)
//!   is not a character, and bad.
//! - CoNLL has one word a line, its tag in the last column, and a blank line after each text. Comments
//!   `# key = value` are the values of columns (`# key:json = "value"` is a JSON string); without
//!   `# text = ...` words are joined by spaces. Tags are IOB1, IOB2, BIOES or BILOU; an `I-` that follows no
//!   span of its type begins one.
//! - A value `{"a":"b"}` (an object of strings) in a column or key `metadata` is expanded into its keys.
//! - Blank lines are not rows. A row over [`MAX_RECORD_BYTES`] is bad, and is never held in memory.
//!
//! *The values.*
//! - A body is stored character for character: spaces at its ends, emoji, right-to-left text and marks, tabs,
//!   line ends. A body that is only white space is bad, and so is one over
//!   [`MAX_TEXT_BYTES`](dissensus_domain::MAX_TEXT_BYTES).
//! - Ids, labels, splits, groups and attributes are trimmed. Blank ids are bad; a blank attribute, split or
//!   group is unknown. They must not contain control characters, invisible characters, or characters that
//!   change the text direction, and have at most [`MAX_NAME_BYTES`]. NUL is bad in every value.
//! - A blank label is no label: the row adds only its text and its annotator.
//! - Without a column of ids a text is identified by its body ([`text_id_of`]).
//! - In a file with one row a span, `start` and `end` are whole numbers (also `4.0`), and all three values
//!   blank mean an answer without spans. Rows of one annotator, text, question and annotation round are one
//!   answer, with the latest of their times.
//! - Times are RFC 3339, the same without an offset (UTC), dates (midnight UTC), seconds or milliseconds
//!   since 1970.
//!
//! *Between rows, and between the file and the project* ([`Checker`]).
//! - Several answers of one annotator to one text are all stored. With times the latest counts, of two at one
//!   time the later row. Without times the later row counts: 3, 4, 3 ends as 3. Where some rows have times,
//!   the last row without one counts until a row with one follows it.
//! - A row *repeats* existing data, and appends nothing, if the same answer with the same time was there
//!   before; without a time, if the previous row has the same answer, or if the project has it after what
//!   earlier rows repeated. So reading a file twice changes nothing.
//! - A row without a time counts as given when it is imported, and so as later than what the project has.
//! - One text id with two bodies is bad. So is one annotator with two values of one attribute; a value for an
//!   attribute that was unknown before is added.
//! - A text's split, group and metadata come from the first row with that text.
//! - These rules apply to the whole file, whatever questions its rows answer. In a file that names questions
//!   a label without one is bad, and so is a label for the hundred and first question.
//! - A label that is not on the scale is bad. `3` and `3.0` are one level here too, unless the scale
//!   distinguishes them.
//!
//! A bad row is rejected as a whole. Its [`RowError`] has the row, the line, the column and what to do.

mod annotations;
mod answers;
mod cells;
mod changes;
mod check;
mod columns;
mod conll;
mod csv_record;
mod dataset_writer;
mod error;
mod file_names;
mod format_info;
mod formats;

mod json_record;
mod known;
mod level_name;
mod lewidi_submission;
mod misfit;
mod outgoing;
mod output_format;
mod parquet_writer;
mod plan;
mod reading;
mod records;
mod rejects;
mod rewritten;
mod roles;
mod row;
mod row_builder;
mod row_error;
mod rows;
mod scan;
mod source;
mod span_answers;
mod study_cells;

mod table;
mod table_file;
mod table_format;
mod table_records;
mod texts;
mod time;
mod truth;
mod typed_column;
mod unpacking;
mod vectors;
mod verdict;
mod vocabulary;
mod window;
mod write;
mod write_conll;
mod write_labels;
mod xlsx_writer;

pub use annotations::{Findings, Hint};
pub use answers::KnownLabel;
pub use changes::{Change, ChangeKind, Changes, MAX_POSITIONS};
pub use check::{Checker, MAX_QUESTIONS};
pub use columns::TypedTable;
pub use dataset_writer::{DatasetQuestion, DatasetWriter};
pub use error::ExchangeError;
pub use file_names::{file_stem, without_case};
pub use format_info::FormatInfo;

pub use level_name::level_name;
pub use lewidi_submission::LewidiSubmission;
pub use outgoing::{
    Divided, Loss, LossReason, ToolAnswer, ToolFormat, ToolLabels, ToolPerson, ToolQuestion, ToolText, divide,
};
pub use output_format::OutputFormat;
pub use reading::{
    AnswerColumn, AttributeConflicts, Join, RankedReading, Recognised, TableContext, TableReading,
    TimeFormat, TimeFormatError, ValueRules, complete, find_join, guess_roles, guess_roles_in, has_answers,
    is_called_time, list_columns, ordered_scale, recognise,
};
pub use rejects::RejectWriter;
pub use rewritten::OpenOptions;
pub use roles::{ColumnRoles, FileKind};
pub use row::{MAX_NAME_BYTES, MAX_SPANS_BYTES, Row, text_id_of};
pub use row_error::{RowError, RowErrorKind};
pub use rows::{Rows, read_rows, read_rows_while};
pub use scan::{
    Account, DroppedFor, ExampleOfAnswer, ExampleOfText, MAX_PROBLEMS, QuestionScan, SAMPLE_ROWS,
    SHOWN_CHARACTERS, Scan, scan, scan_while,
};
pub use source::{Source, formats};
pub use study_cells::{DecisionCells, StudyCells, StudyLayout};
pub use table_file::MAX_COLUMNS;
pub use texts::{TextFile, TextOfFile, Texts, TextsFound};
pub use time::latest_meant;
pub use truth::{Missing, missing_code, truth_value};
pub use typed_column::{ColumnKind, TypedColumn, Value};
pub use vectors::VectorWriter;
pub use verdict::{LabelVerdict, Verdict};
pub use window::MAX_RECORD_BYTES;
pub use write::{AnnotatorWriter, MAX_METADATA_COLUMNS, TextRow, TextWriter};
pub use write_conll::ConllWriter;
pub use write_labels::{LabelLayout, LabelRow, LabelWriter, SpanLayout};
