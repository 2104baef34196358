//! The contents of a part of an annotation file: answers to texts, and irregularities.

use crate::row_error::RowErrorKind;
use dissensus_domain::{NamedSpan, OffsetUnit, ScaleKind};
use serde_json::Value;
use std::borrow::Cow;

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum GivenAnswer {
    /// One level.
    One(String),
    /// A step of a rating.
    Rating(String),
    /// Any of several options.
    Several(Vec<String>),
    /// Spans, with offsets in characters.
    Spans(Vec<SpanOf>),
    /// The text was skipped.
    Skipped,
}

/// A span with its type, which can be compared and hashed.
pub(crate) type SpanOf = (u32, u32, String);

/// One annotator's answers to one text at one time, or a text without an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Item {
    /// Its position, for messages: `task 7, annotation 22`.
    pub(crate) place: String,
    /// The id of the text, where the file has one.
    pub(crate) text_id: Option<String>,
    /// The file's data about the text, including its body.
    pub(crate) data: Vec<(String, String)>,
    pub(crate) annotator: Option<String>,
    /// Attributes of the annotator.
    pub(crate) attributes: Vec<(String, String)>,
    /// Answers with the question's name; without a name, the answer about the text as a whole.
    pub(crate) answers: Vec<(Option<String>, GivenAnswer)>,
    /// When, as the file writes it.
    pub(crate) at: Option<String>,
    /// How long it took.
    pub(crate) duration_ms: Option<String>,
    /// The annotator's note.
    pub(crate) note: String,
    /// The annotator has seen all questions that are answered with spans: a missing answer means that there
    /// is no span.
    pub(crate) whole: bool,
    /// The annotator flagged the text.
    pub(crate) flagged: bool,
    /// The part of an official split.
    pub(crate) split: Option<String>,
}

impl Item {
    /// Adds an answer to a question.
    pub(crate) fn answer(&mut self, question: impl Into<String>, answer: GivenAnswer) {
        self.answers.push((Some(question.into()), answer));
    }

    /// Adds a line to the note.
    pub(crate) fn note(&mut self, line: &str) {
        let line = line.trim();
        if !line.is_empty() {
            if !self.note.is_empty() {
                self.note.push('\n');
            }
            self.note.push_str(line);
        }
    }
}

/// Something in a file that is not an answer, or not a plain one: counted, and reported with how it is
/// treated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Finding {
    /// Stable, kebab-case.
    pub(crate) code: &'static str,
    /// What it is, in the plural: `drafts`.
    pub(crate) what: Cow<'static, str>,
    /// How it is treated, a sentence without its full stop.
    pub(crate) became: Cow<'static, str>,
}

/// An error in an item: its position, the field, and the reason.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) place: String,
    pub(crate) column: Option<String>,
    pub(crate) kind: RowErrorKind,
}

/// The contents of the parts of a file, in order.
#[derive(Debug, Default)]
pub(crate) struct Items {
    pub(crate) found: Vec<Result<Item, Fault>>,
    pub(crate) met: Vec<(Finding, u64)>,
    /// Questions whose kind or levels the file specifies separately from answers.
    pub(crate) declared: Vec<(String, ScaleKind, Vec<String>)>,
    /// Keys of data that answers are about.
    pub(crate) bodies: Vec<String>,
}

impl Items {
    pub(crate) fn push(&mut self, item: Item) {
        self.found.push(Ok(item));
    }

    /// Adds an error.
    pub(crate) fn fault(
        &mut self,
        place: impl Into<String>,
        column: Option<&str>,
        why: impl Into<Cow<'static, str>>,
    ) {
        let (place, column) = (place.into(), column.map(str::to_owned));
        let kind = RowErrorKind::Misshapen { why: why.into().into_owned() };
        self.found.push(Err(Fault { place, column, kind }));
    }

    /// Counts something that is not an answer.
    pub(crate) fn met(
        &mut self,
        code: &'static str,
        what: impl Into<Cow<'static, str>>,
        became: impl Into<Cow<'static, str>>,
    ) {
        self.add_findings(1, code, what, became);
    }

    /// Calls [`Items::met`] for several at once.
    pub(crate) fn add_findings(
        &mut self,
        count: usize,
        code: &'static str,
        what: impl Into<Cow<'static, str>>,
        became: impl Into<Cow<'static, str>>,
    ) {
        if count > 0 {
            self.met.push((Finding { code, what: what.into(), became: became.into() }, count as u64));
        }
    }

    /// Sets the kind and the levels of a question.
    pub(crate) fn declare(&mut self, question: &str, kind: ScaleKind, levels: Vec<String>) {
        self.declared.push((question.to_owned(), kind, levels));
    }
}

/// Formats a JSON value as plain text: whole numbers without a point, lists and objects as their JSON; `null`
/// is blank.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => {
                (float as i64).to_string()
            }
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// A plain value that is not blank.
pub(crate) fn text_of(value: Option<&Value>) -> Option<String> {
    let value = value.filter(|value| !value.is_array() && !value.is_object())?;
    Some(plain(value)).filter(|text| !text.trim().is_empty())
}

/// Returns the plain values of a list; a single plain value is a list of one, `null` an empty list.
pub(crate) fn strings(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::Array(list) => list.iter().map(|entry| text_of(Some(entry))).collect(),
        one => text_of(Some(one)).map(|one| vec![one]),
    }
}

/// Converts spans of a text to characters. Tools count different units (Unicode characters, UTF-16 units,
/// bytes) and do not specify which: if the spans come with their words, the first unit that all of them fit
/// is used.
///
/// # Errors
/// A span ends before it begins, or the words are not at its position.
pub(crate) fn checked_spans(
    text: &str,
    spans: Vec<(NamedSpan, Option<String>)>,
    units: &[OffsetUnit],
) -> Result<Vec<SpanOf>, String> {
    let moved = |unit: OffsetUnit| -> Result<Vec<SpanOf>, String> {
        let place = |at| unit.to_characters(text, at).map_err(|error| error.to_string());
        let mut found = Vec::with_capacity(spans.len());
        for (span, words) in &spans {
            if span.start >= span.end {
                return Err(format!(
                    "the span goes from {} to {}: a span ends after its first character",
                    span.start, span.end
                ));
            }
            let (start, end) = (place(span.start)?, place(span.end)?);
            let here = || text.chars().skip(start as usize).take((end - start) as usize);
            if let Some(words) = words.as_deref().filter(|words| !same_words(words, here())) {
                let here: String = here().take(30).collect();
                return Err(format!(
                    "the span {} to {} is given as \"{}\", and there the text has \"{here}\"",
                    span.start,
                    span.end,
                    words.chars().take(30).collect::<String>()
                ));
            }
            found.push((start, end, span.label.clone()));
        }
        Ok(found)
    };
    let mut first = None;
    for unit in units {
        match moved(*unit) {
            Ok(found) => return Ok(found),
            Err(why) => drop(first.get_or_insert(why)),
        }
    }
    Err(first.unwrap_or_default())
}

/// Whether these are the words, ignoring white space: tools write line ends in several ways.
fn same_words(words: &str, there: impl Iterator<Item = char>) -> bool {
    // Some tools write `\n` for a line end in the words of a span.
    let words = words.replace("\\n", "\n");
    words.chars().filter(|c| !c.is_whitespace()).eq(there.filter(|c| !c.is_whitespace()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn span_unit_is_chosen_by_the_quoted_words() {
        let all = [OffsetUnit::Characters, OffsetUnit::Utf16, OffsetUnit::Bytes];
        let span = |start, end| NamedSpan { start, end, label: "x".to_owned() };
        let read = |start, end, words: Option<&str>| {
            checked_spans("ä 😊 end", vec![(span(start, end), words.map(str::to_owned))], &all)
        };
        assert_eq!(read(4, 7, Some("end")), Ok(vec![(4, 7, "x".to_owned())]));
        assert_eq!(read(5, 8, Some("end")), Ok(vec![(4, 7, "x".to_owned())]), "UTF-16 units");
        assert_eq!(read(8, 11, Some("end")), Ok(vec![(4, 7, "x".to_owned())]), "bytes");
        assert!(read(0, 1, Some("end")).unwrap_err().contains("there the text has \"ä\""));
        assert!(read(3, 3, None).unwrap_err().contains("ends after"));
        assert!(read(3, 99, None).is_err());
    }

    #[test]
    fn plain_values_are_read() {
        let value = |json| serde_json::from_str::<Value>(json).unwrap();
        for (json, text) in [("3", "3"), ("3.0", "3"), ("0.5", "0.5"), ("null", ""), ("true", "true")] {
            assert_eq!(plain(&value(json)), text);
        }
        assert_eq!(strings(&value("[1,\"a\"]")), Some(vec!["1".to_owned(), "a".to_owned()]));
        assert_eq!(strings(&value("[[1]]")), None);
        assert_eq!(strings(&value("\"a\"")), Some(vec!["a".to_owned()]));
    }
}
