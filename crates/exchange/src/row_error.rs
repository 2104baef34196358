//! What can be wrong with one row.

use crate::MAX_RECORD_BYTES;
use dissensus_domain::{NoteError, OffsetError, SpansError};
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

dissensus_domain::errors! {
    /// The reasons why a row can be rejected.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum RowErrorKind {
        NotUtf8 { offset: u64 } => "byte {offset} of the file is not UTF-8: save the file as UTF-8";
        WrongFieldCount { found: usize, expected: usize } =>
            "{found} values where there are {expected} columns: is a quote or a separator missing or too much?";
        UnclosedQuote { line: u64 } =>
            "the quote opened on line {line} is not closed before the end of the file (or within {MAX_RECORD_BYTES} bytes): close it, or write a quote inside a value twice";
        TextAfterQuote { opened: u64, closed: u64 } =>
            "the quote opened on line {opened} is closed on line {closed} in the middle of a value: write a quote inside a value twice";
        HeaderAgain => "the names of the columns are repeated here: remove this row";
        TooLong { limit: usize } =>
            "the row is longer than {limit} bytes and was not read: is a line end or a quote missing?";
        BadJson { at: usize, message: String } => "not JSON at character {at}: {message}";
        NotAnObject { found: &'static str } => "{found} where an object such as {{\"text\": \"...\"}} belongs";
        RepeatedKey => "the key occurs twice in one object: which value is meant?";
        Nested { found: &'static str } => "{found} where one plain value belongs: flatten it";
        InexactNumber { value: String } => "the number {value} is too large to be stored exactly: write it in quotes";
        Missing { what: &'static str } => "no {what}: every row needs one";
        TooManyQuestions { limit: usize } =>
            "a file may answer {limit} questions, and this row names one more: is this the right column?";
        TextTooLong { bytes: usize, limit: usize } =>
            "the text has {bytes} bytes, and a text may have {limit}: split it";
        NameTooLong { bytes: usize, limit: usize } =>
            "{bytes} bytes are too long for a name (at most {limit}): is this the right column?";
        ControlCharacter { code: u32 } => "the control character U+{code:04X} does not belong here: remove it";
        InvisibleCharacter { code: u32 } =>
            "the character U+{code:04X} does not belong here, because it is invisible and changes how names are shown: remove it";
        BadTime { value: String } =>
            "\"{value}\" is not a time: write 2024-05-01T12:30:00Z, or seconds or milliseconds since 1970";
        BadDuration { value: String } => "\"{value}\" is not a number of milliseconds between 0 and {}" (u32::MAX);
        BadOccasion { value: String } =>
            "\"{value}\" is no annotation round: write 1 for a person's first answer to a text, 2 for the second, and so on";
        BadScale { value: String } =>
            "\"{value}\" is no scale: write {{\"kind\": \"ordinal\", \"levels\": [\"1\", \"2\", \"3\"]}} in any row of a question, or nothing";
        BadSource { value: String } => "\"{value}\" is no source of labels: window, command, import or simulated";
        BadConfidence { value: String } =>
            "\"{value}\" is no confidence: write a whole number from 1 (a guess) to 5 (certain)";
        BadMark { value: String } => "\"{value}\" is no mark: skipped or flagged, with a semicolon between them";
        BadShown { value: String } =>
            "\"{value}\" is not something that was shown: write answers or predictions, with a semicolon between them";
        BadRemark(#[from] NoteError) => "{0}";
        UnknownLevel { label: String, levels: Vec<String> } =>
            "\"{label}\" is not on the scale: its levels are {}" (levels.join(", "));
        BadSpans(#[from] SpansError) => "{0}";
        HalfSpan { missing: &'static str } =>
            "no {missing}, and other values of a span: a row has start, end and type, or none of them where the answer has no span";
        BadOffset { value: String } => "\"{value}\" is no offset: write a whole number from 0";
        MisplacedOffset(#[from] OffsetError) => "{0}";
        ReversedSpan { start: u32, end: u32 } =>
            "the span goes from {start} to {end}: a span ends after its first character";
        UnknownSpanType { name: String, types: String } =>
            "\"{name}\" is no type of this question: its types are {types}";
        TakesNoSpans { levels: Vec<String> } =>
            "the question is not answered with spans, but with one of {}: name another question" (levels.join(", "));
        SpanWithLabel => "the row has a span and a label: one of the two is the answer";
        Contradiction { this: &'static str, other: &'static str, row: u64 } =>
            "this row {this}, and row {row} {other}, of the same person for the same text: which one is meant?";
        PartOfAnswer { row: u64, why: String } =>
            "row {row} is a span of the same answer and is bad ({why}): an answer is imported whole or not at all";
        TooManySpans { what: &'static str, limit: usize } => "more than {limit} {what}: is this the right column?";
        BadWordLine { line: u64, why: String } => "line {line}: {why}";
        SpanOutside { end: u32, characters: u32 } =>
            "a span ends at {end}, and the text has {characters} characters: offsets count characters (Unicode code points) from 0";
        SameId { text_id: String, first: u64 } =>
            "the id \"{text_id}\" is that of row {first} already: give one of the two another id";
        OtherBody { text_id: String } =>
            "the text \"{text_id}\" already has another body: give one of them another id";
        UnknownText { text_id: String, near: Option<String> } =>
            "there is no text \"{text_id}\": import the texts first, join their file (--join), or name the column that holds the text{}" (near.as_ref().map_or_else(String::new, |near| format!("; there is a text \"{near}\", which is another id")));
        OtherAttribute { annotator: String, before: String, now: String } =>
            "annotator \"{annotator}\" has \"{before}\" here already, and now \"{now}\": which one is right?";
        NoList { value: String } =>
            "\"{value}\" is no list, as the other rows of this column have: write [\"a\", \"b\"], or leave the cell blank";
        UnequalLists { length: usize, other: String, other_length: usize } =>
            "the list has {length} entries, and that of column \"{other}\" has {other_length}: both have one for each person";
        NoField { field: String } => "an entry of the list has no \"{field}\", as those of other rows have";
        NoMarkOfOption { value: String } => "\"{value}\" does not say whether the option was chosen: write 1 or 0";
        Misshapen { why: String } => "{why}";
        CutOff { why: String } => "{why} (only what comes before this can be read: export the file again)";
        Unreadable { message: String } => "the file cannot be read further: {message}";
    }
}
