//! Text format of spans in files and on the command line: a JSON list of objects `{"start": 0,
//! "end": 5, "label": "insult"}` or of lists `[0, 5, "insult"]`. Offsets count characters (Unicode
//! scalar values); the end is exclusive.

use crate::{Scale, Span, SpanSet, not_allowed_in_names};
use serde::Deserialize;
use serde_json::Value;

/// Maximum length of a type's name, in bytes.
const MAX_TYPE_BYTES: usize = 1024;

/// A span with the name of its type.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct NamedSpan {
    pub start: u32,
    /// End of the span, exclusive.
    pub end: u32,
    /// The type; other tools call the field `type`.
    #[serde(alias = "type")]
    pub label: String,
}

crate::errors! {
    /// Why a value is not a list of spans.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum SpansError {
        NoList(String) =>
            "spans are a list such as [{{\"start\": 0, \"end\": 5, \"label\": \"insult\"}}], and [] where there are none: {0}";
        NoSpan { at: usize, why: String } => "span {at}: {why}";
        Reversed { at: usize, start: u32, end: u32 } =>
            "span {at} goes from {start} to {end}: a span ends after its first character";
        UnknownType { at: usize, label: String, types: String } =>
            "span {at} is a \"{label}\", and the types are {types}";
    }
}

/// Parses a list of spans; `none` is the empty list. Names of types are trimmed.
///
/// # Errors
/// [`SpansError`], except for unknown types, since the scale is not known here.
pub fn spans_named(value: &str) -> Result<Vec<NamedSpan>, SpansError> {
    let value = value.trim();
    if value == "none" {
        return Ok(Vec::new());
    }
    let list: Vec<Value> = serde_json::from_str(value).map_err(|e| SpansError::NoList(e.to_string()))?;
    (1..).zip(list).map(|(at, entry)| one(at, entry)).collect()
}

/// Formats spans as a list that [`spans_named`] parses.
pub fn list_of_spans(spans: &[NamedSpan]) -> String {
    let one = |span: &NamedSpan| {
        let label = Value::from(span.label.as_str());
        format!("{{\"start\":{},\"end\":{},\"label\":{label}}}", span.start, span.end)
    };
    format!("[{}]", spans.iter().map(one).collect::<Vec<_>>().join(","))
}

/// Whether a value looks like a non-empty list of spans, valid or not: it starts like a list of
/// objects or of lists.
pub fn reads_as_spans(value: &str) -> bool {
    let mut characters = value.chars().filter(|c| !c.is_whitespace());
    characters.next() == Some('[') && matches!(characters.next(), Some('{' | '['))
}

fn one(at: usize, entry: Value) -> Result<NamedSpan, SpansError> {
    let why = |why: String| SpansError::NoSpan { at, why };
    let found: Result<NamedSpan, _> = match entry {
        Value::Array(_) => serde_json::from_value::<(u32, u32, String)>(entry)
            .map(|(start, end, label)| NamedSpan { start, end, label }),
        _ => serde_json::from_value(entry),
    };
    let NamedSpan { start, end, label } = found.map_err(|e| why(e.to_string()))?;
    let label = label.trim().to_owned();
    if label.is_empty() {
        return Err(why("it has no label".to_owned()));
    }
    if label.len() > MAX_TYPE_BYTES {
        return Err(why(format!(
            "its label has {} bytes, and at most {MAX_TYPE_BYTES} can be a name",
            label.len()
        )));
    }
    if let Some(bad) = not_allowed_in_names(&label) {
        return Err(why(format!(
            "its label holds the character U+{:04X}, which cannot be in a name",
            u32::from(bad)
        )));
    }
    if start >= end {
        return Err(SpansError::Reversed { at, start, end });
    }
    Ok(NamedSpan { start, end, label })
}

impl Scale {
    /// Parses a list of spans whose types are the levels of this scale. Duplicates are removed.
    ///
    /// # Errors
    /// [`SpansError`].
    pub fn spans_named(&self, value: &str) -> Result<SpanSet, SpansError> {
        let mut spans = Vec::new();
        for (at, named) in (1..).zip(spans_named(value)?) {
            let NamedSpan { start, end, label } = named;
            let types = || self.levels().join(", ");
            let kind =
                self.id_named(&label).ok_or_else(|| SpansError::UnknownType { at, label, types: types() })?;
            spans.push(Span { start, end, kind });
        }
        // Empty spans have been rejected above.
        SpanSet::new(spans).map_err(|e| SpansError::NoList(e.to_string()))
    }

    /// Formats spans as a list that [`Scale::spans_named`] parses; `None` if the scale does not
    /// have a type.
    pub fn name_of_spans(&self, spans: &SpanSet) -> Option<String> {
        let one = |span: &Span| {
            let label = self.name_of(span.kind)?.to_owned();
            Some(NamedSpan { start: span.start, end: span.end, label })
        };
        // Ids may differ between copies, so that passages with several types are ordered by the scale.
        let mut ordered = spans.as_slice().to_vec();
        ordered.sort_by_key(|span| (span.start, span.end, self.index_of_id(span.kind)));
        let all: Vec<NamedSpan> = ordered.iter().map(one).collect::<Option<_>>()?;
        Some(list_of_spans(&all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, ScaleKind};

    #[test]
    fn spans_round_trip_as_text() {
        let scale = Scale::new(ScaleKind::Spans, ["insult", "say \"so\""]).unwrap();
        let value = r#" [{"end": 9, "start": 7, "label": "insult", "more": 1}, [0, 5, " say \"so\" "], [7, 9, "insult"]] "#;
        let spans = scale.spans_named(value).unwrap();
        assert_eq!(spans.as_slice().len(), 2);
        let name = scale.name_of_spans(&spans).unwrap();
        assert_eq!(
            name,
            r#"[{"start":0,"end":5,"label":"say \"so\""},{"start":7,"end":9,"label":"insult"}]"#
        );
        assert_eq!(scale.answer_named(&name), Some(Answer::Spans(spans.clone())));
        assert_eq!(scale.name_of_answer(&Answer::Spans(spans)).as_deref(), Some(name.as_str()));
        for none in ["[]", " none ", "[ ]"] {
            assert_eq!(scale.answer_named(none), Some(Answer::Spans(SpanSet::default())), "{none}");
        }
        assert_eq!(scale.name_of_spans(&SpanSet::default()).as_deref(), Some("[]"));
    }

    #[test]
    fn span_errors_are_specific() {
        let scale = Scale::new(ScaleKind::Spans, ["insult"]).unwrap();
        let error = |value: &str| scale.spans_named(value).unwrap_err().to_string();
        assert!(error("insult").starts_with("spans are a list such as"));
        assert!(error(r#"[{"start": 0, "label": "insult"}]"#).contains("span 1: missing field `end`"));
        assert!(error(r#"[[0, 2, "insult"], [-1, 2, "insult"]]"#).starts_with("span 2: "));
        assert!(error(r#"[[0, 2.5, "insult"]]"#).starts_with("span 1: "));
        assert!(error(r#"[[3, 3, "insult"]]"#).contains("goes from 3 to 3"));
        assert!(error(r#"[[5, 3, "insult"]]"#).contains("goes from 5 to 3"));
        assert!(error(r#"[[0, 3, " "]]"#).contains("no label"));
        assert!(error(r#"[[0, 3, "a\u001bb"]]"#).contains("U+001B"));
        assert!(error(&format!(r#"[[0, 3, "{}"]]"#, "x".repeat(1025))).contains("1025 bytes"));
        assert_eq!(error(r#"[[0, 3, "joke"]]"#), "span 1 is a \"joke\", and the types are insult");
        assert_eq!(scale.answer_named(""), None);
    }

    #[test]
    fn lists_of_names_are_not_spans() {
        for value in [r#"[{"start":1}]"#, " [ [1,2]", "[{"] {
            assert!(reads_as_spans(value), "{value}");
        }
        for value in ["[]", "none", r#"["a","b"]"#, "rude; threat", "{}"] {
            assert!(!reads_as_spans(value), "{value}");
        }
    }
}
