//! What can be wrong with one row.

use crate::MAX_RECORD_BYTES;
use dissensus_domain::{OffsetError, RemarkError, SpansError};
use std::fmt;

/// One row that cannot be used, its position and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowError {
    /// The row, from 1; the line of column names and blank lines are not rows.
    pub row: u64,
    /// The physical line on which the row begins, from 1.
    pub line: u64,
    /// In a file of an annotation tool: the task, the annotation, the file of an archive.
    pub place: Option<String>,
    /// The column, where one is to blame.
    pub column: Option<String>,
    pub kind: RowErrorKind,
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "row {} (line {}, {place})", self.row, self.line)?,
            None => write!(f, "row {} (line {})", self.row, self.line)?,
        }
        if let Some(column) = &self.column {
            write!(f, ", column \"{column}\"")?;
        }
        write!(f, ": {}", self.kind)
    }
}

impl std::error::Error for RowError {}

impl RowError {
    /// Whether the rest of the file could not be read: nothing follows, and the row must not be skipped.
    pub fn is_fatal(&self) -> bool {
        matches!(self.kind, RowErrorKind::Unreadable { .. })
    }
}

/// The reasons why a row can be rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowErrorKind {
    /// Bytes that are not UTF-8.
    #[error("byte {offset} of the file is not UTF-8: save the file as UTF-8")]
    NotUtf8 {
        /// Absolute position in the file, from 0.
        offset: u64,
    },
    /// A row with more or fewer values than there are columns.
    #[error(
        "{found} values where there are {expected} columns: is a quote or a separator missing or too much?"
    )]
    WrongFieldCount {
        /// Number of values in the row.
        found: usize,
        /// Columns of the file.
        expected: usize,
    },
    /// A quoted value that never ends.
    #[error(
        "the quote opened on line {line} is not closed before the end of the file (or within {MAX_RECORD_BYTES} \
         bytes): close it, or write a quote inside a value twice"
    )]
    UnclosedQuote {
        /// The physical line of the opening quote.
        line: u64,
    },
    /// Something between a closing quote and the next separator.
    #[error(
        "the quote opened on line {opened} is closed on line {closed} in the middle of a value: \
         write a quote inside a value twice"
    )]
    TextAfterQuote {
        /// The physical line of the opening quote.
        opened: u64,
        /// The physical line of the closing quote.
        closed: u64,
    },
    /// The names of the columns once more.
    #[error("the names of the columns stand here once more: remove this row")]
    HeaderAgain,
    /// A record longer than the cap.
    #[error("the row is longer than {limit} bytes and was not read: is a line end or a quote missing?")]
    TooLong {
        /// The cap, in bytes.
        limit: usize,
    },
    /// Not JSON.
    #[error("not JSON at character {at}: {message}")]
    BadJson {
        /// Position in the line, from 1, in bytes.
        at: usize,
        /// What the parser found.
        message: String,
    },
    /// JSON, but no object.
    #[error("{found} where an object such as {{\"text\": \"...\"}} belongs")]
    NotAnObject {
        /// The value found, with its article.
        found: &'static str,
    },
    /// A key that occurs twice in one object.
    #[error("the key stands twice in one object: which value is meant?")]
    RepeatedKey,
    /// A list or an object where a plain value belongs.
    #[error("{found} where one plain value belongs: flatten it")]
    Nested {
        /// The value, with its article.
        found: &'static str,
    },
    /// A number that cannot be stored digit for digit.
    #[error("the number {value} is too large to be kept exactly: write it in quotes")]
    InexactNumber {
        /// The number as far as it could be read.
        value: String,
    },
    /// A value that every row must have.
    #[error("no {what}: every row needs one")]
    Missing {
        /// `text`, `text id`, `annotator` or `question`.
        what: &'static str,
    },
    /// More different questions than a file may answer.
    #[error("a file may answer {limit} questions, and this row names one more: is this the right column?")]
    TooManyQuestions {
        /// The most allowed.
        limit: usize,
    },
    /// A body over the longest that a text may have.
    #[error("the text has {bytes} bytes, and a text may have {limit}: split it")]
    TextTooLong {
        /// Its length in bytes of UTF-8.
        bytes: usize,
        /// The longest allowed.
        limit: usize,
    },
    /// An id, a label or an attribute over the longest that a name may have.
    #[error("{bytes} bytes are too long for a name (at most {limit}): is this the right column?")]
    NameTooLong {
        /// Its length in bytes of UTF-8.
        bytes: usize,
        /// The longest allowed.
        limit: usize,
    },
    /// A character that is not allowed in any value (NUL), or not in names (line ends, tabs and similar).
    #[error("the control character U+{code:04X} does not belong here: remove it")]
    ControlCharacter {
        /// The code point of the character.
        code: u32,
    },
    /// A character that changes the text direction or is invisible.
    #[error(
        "the character U+{code:04X} does not belong here, because it is not seen and changes how names are shown: remove it"
    )]
    InvisibleCharacter {
        /// The code point of the character.
        code: u32,
    },
    /// Not a moment that can be read.
    #[error("\"{value}\" is not a time: write 2024-05-01T12:30:00Z, or seconds or milliseconds since 1970")]
    BadTime {
        /// The value in the file.
        value: String,
    },
    /// Not a duration.
    #[error("\"{value}\" is not a number of milliseconds between 0 and {}", u32::MAX)]
    BadDuration {
        /// The value in the file.
        value: String,
    },
    /// Not an annotation round.
    #[error(
        "\"{value}\" is no occasion: write 1 for a person's first answer to a text, 2 for the second, and so on"
    )]
    BadOccasion {
        /// The value in the file.
        value: String,
    },
    /// Not a scale.
    #[error(
        "\"{value}\" is no scale: write {{\"kind\": \"ordinal\", \"levels\": [\"1\", \"2\", \"3\"]}} with the first answer to a question, or nothing"
    )]
    BadScale {
        /// The value in the file.
        value: String,
    },
    /// Not a source of labels.
    #[error("\"{value}\" is no source of labels: window, command, import or simulated")]
    BadSource {
        /// The value in the file.
        value: String,
    },
    /// Not a confidence.
    #[error("\"{value}\" is no confidence: write a whole number from 1 (a guess) to 5 (certain)")]
    BadConfidence {
        /// The value in the file.
        value: String,
    },
    /// Not a mark.
    #[error("\"{value}\" is no mark: skipped or flagged, with a semicolon between them")]
    BadMark {
        /// The value in the file.
        value: String,
    },
    /// Nothing that can have been shown.
    #[error(
        "\"{value}\" is nothing that is shown of others: answers or predictions, with a semicolon between them"
    )]
    BadShown {
        /// The value in the file.
        value: String,
    },
    /// A note or reasons that cannot be stored.
    #[error("{0}")]
    BadRemark(#[from] RemarkError),
    /// A label that is no level of the scale.
    #[error("\"{label}\" is not on the scale: its levels are {}", levels.join(", "))]
    UnknownLevel {
        /// The label as written in the file.
        label: String,
        /// The levels of the scale.
        levels: Vec<String>,
    },
    /// A label that is no list of spans of the question.
    #[error("{0}")]
    BadSpans(#[from] SpansError),
    /// A row with some of a span's start, end and type, and not with all.
    #[error(
        "no {missing}, and other values of a span: a row has start, end and type, or none of them where the answer has no span"
    )]
    HalfSpan {
        /// `start`, `end` or `type`.
        missing: &'static str,
    },
    /// Not an offset.
    #[error("\"{value}\" is no offset: write a whole number from 0")]
    BadOffset {
        /// The value in the file.
        value: String,
    },
    /// An offset that is no place in its text.
    #[error("{0}")]
    MisplacedOffset(#[from] OffsetError),
    /// A span that ends where it begins, or before.
    #[error("the span goes from {start} to {end}: a span ends behind its first character")]
    ReversedSpan {
        /// Where it begins.
        start: u32,
        /// Where it ends.
        end: u32,
    },
    /// A type that the question does not have.
    #[error("\"{name}\" is no type of this question: its types are {types}")]
    UnknownSpanType {
        /// The type as written in the file.
        name: String,
        /// The types of the question.
        types: String,
    },
    /// A span as answer to a question of another kind.
    #[error("the question is not answered with spans, but with one of {}: name another question", levels.join(", "))]
    TakesNoSpans {
        /// The levels of its scale.
        levels: Vec<String>,
    },
    /// A row with a span and an answer of another kind.
    #[error("the row has a span and a label: one of the two is the answer")]
    SpanBesideLabel,
    /// Two rows of one answer that cannot both be.
    #[error(
        "this row {this}, and row {row} {other}, of the same person for the same text: which one is meant?"
    )]
    Contradiction {
        /// What this row has.
        this: &'static str,
        /// What the other one has.
        other: &'static str,
        /// The other row, from 1.
        row: u64,
    },
    /// A row of an answer of which another row is bad.
    #[error(
        "row {row} is a span of the same answer and is bad ({why}): an answer is taken whole or not at all"
    )]
    PartOfAnswer {
        /// The bad row, from 1.
        row: u64,
        why: String,
    },
    /// More than can be one answer, or types of one question.
    #[error("more than {limit} {what}: is this the right column?")]
    TooManySpans {
        /// `spans of one answer` or `different types`.
        what: &'static str,
        /// The most allowed.
        limit: usize,
    },
    /// A line of a CoNLL file that cannot be read.
    #[error("line {line}: {why}")]
    BadWordLine {
        /// The physical line, from 1.
        line: u64,
        why: String,
    },
    /// A span that reaches beyond its text.
    #[error(
        "a span ends at {end}, and the text has {characters} characters: offsets count characters (Unicode code points) from 0"
    )]
    SpanOutside {
        /// Where it ends.
        end: u32,
        /// Characters of the text.
        characters: u32,
    },
    /// An id that an earlier row of a file of texts has.
    #[error("the id \"{text_id}\" is that of row {first} already: give one of the two another id")]
    SameId {
        text_id: String,
        /// The row that has it, from 1.
        first: u64,
    },
    /// One id, two bodies.
    #[error("the text \"{text_id}\" already has another body: give one of them another id")]
    OtherBody {
        /// The id of both texts.
        text_id: String,
    },
    /// A label on an unknown text.
    #[error(
        "there is no text \"{text_id}\": import the texts first, join their file (--join), or name the column that holds the text{}",
        near.as_ref().map_or_else(String::new, |near| format!("; there is a text \"{near}\", which is another id"))
    )]
    UnknownText {
        text_id: String,
        /// An existing id that is the same number, in another spelling.
        near: Option<String>,
    },
    /// One annotator, two values of one attribute.
    #[error(
        "annotator \"{annotator}\" has \"{before}\" here already, and now \"{now}\": which one is right?"
    )]
    OtherAttribute {
        annotator: String,
        /// The existing value.
        before: String,
        /// The value of this row.
        now: String,
    },
    /// A value that is no list, in a column of lists.
    #[error(
        "\"{value}\" is no list, as the other rows of this column have: write [\"a\", \"b\"], or leave the cell blank"
    )]
    NoList {
        /// The value in the file.
        value: String,
    },
    /// Lists of one row that do not have the same length.
    #[error(
        "the list has {length} entries, and that of column \"{other}\" has {other_length}: both have one for each person"
    )]
    UnequalLists {
        /// Entries of this list.
        length: usize,
        /// The other column.
        other: String,
        /// Entries of the list there.
        other_length: usize,
    },
    /// An entry of a list that is no object, in a column of lists of objects.
    #[error("an entry of the list has no \"{field}\", as those of other rows have")]
    NoField {
        /// The name of the field.
        field: String,
    },
    /// A value that is neither yes nor no in a column of an option.
    #[error("\"{value}\" does not say whether the option was chosen: write 1 or 0")]
    NoMarkOfOption {
        /// The value in the file.
        value: String,
    },
    /// A part of a tool's file that is not as the tool writes it.
    #[error("{why}")]
    Misshapen {
        /// The reason.
        why: String,
    },
    /// A list that is not whole; nothing after this row was read.
    #[error("{why} (only what stands before this can be read: export the file again)")]
    CutOff {
        /// The reason.
        why: String,
    },
    /// The system stopped giving bytes; nothing after this row was read.
    #[error("the file cannot be read further: {message}")]
    Unreadable {
        /// The message of the operating system.
        message: String,
    },
}
