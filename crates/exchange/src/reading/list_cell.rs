//! Cells that contain lists: JSON, the output of Python and NumPy, and values with a separator between them.

use crate::annotations::plain;
use crate::json_record;
use crate::roles::simplified;
use crate::vocabulary::vocabulary;
use serde_json::{Map, Number, Value};
use std::iter::Peekable;
use std::str::Chars;

/// Maximum nesting depth of lists.
const MAX_DEPTH: usize = 16;

/// Parses a cell to the entries of a list; an object gives its pairs as objects with `key` and `value`.
/// `None` where the cell is neither.
///
/// With a `separator`, a cell that is not a list in brackets is split at the separators.
pub(crate) fn parse_list(cell: &str, separator: Option<&str>) -> Option<Vec<Value>> {
    let cell = cell.trim();
    let value = match cell.chars().next()? {
        '{' if repeats_keys(cell) => return None,
        '[' | '{' | '(' => serde_json::from_str(cell).ok().or_else(|| parse_python(cell)),
        _ => None,
    };
    match value {
        Some(value) => entries_of(value),
        None => separator
            .filter(|separator| !separator.is_empty())
            .map(|separator| cell.split(separator).map(|entry| Value::from(entry.trim())).collect()),
    }
}

/// Returns the entries of a list, or the pairs of an object as objects with `key` and `value`; `None` for
/// anything else.
pub(crate) fn entries_of(value: Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(entries) => Some(entries),
        Value::Object(lists) if is_of_lists(&lists) => Some(zipped(lists)),
        Value::Object(pairs) => Some(pairs.into_iter().map(pair).collect()),
        _ => None,
    }
}

/// Whether an object holds lists of one length, one of them named after annotators:
/// `{"label": [0, 1], "annotator_id": [7, 9]}`.
fn is_of_lists(object: &Map<String, Value>) -> bool {
    let length = |value: &Value| value.as_array().map(Vec::len);
    let first = object.values().next().and_then(length);
    let called = |name: &String| {
        let plain = simplified(name);
        let names = &vocabulary().columns.annotator;
        names.contains(&plain)
            || plain.strip_suffix('s').is_some_and(|one| names.iter().any(|name| name == one))
    };
    object.len() > 1
        && first.is_some()
        && object.values().all(|value| length(value) == first)
        && object.keys().any(called)
}

/// Converts an object of lists to a list of objects.
fn zipped(lists: Map<String, Value>) -> Vec<Value> {
    let mut entries: Vec<Map<String, Value>> = Vec::new();
    for (name, list) in lists {
        let Value::Array(values) = list else { continue };
        entries.resize(values.len(), Map::new());
        for (entry, value) in entries.iter_mut().zip(values) {
            entry.insert(name.clone(), value);
        }
    }
    entries.into_iter().map(Value::Object).collect()
}

/// Whether a JSON object has a key twice, so that one value would be lost.
fn repeats_keys(cell: &str) -> bool {
    let Ok(pairs) = json_record::parse(cell) else { return false };
    let mut keys: Vec<&String> = pairs.iter().map(|(key, _)| key).collect();
    keys.sort();
    keys.windows(2).any(|pair| pair[0] == pair[1])
}

/// A member of an object as an entry of a list.
fn pair((key, value): (String, Value)) -> Value {
    Value::Object(Map::from_iter([("key".to_owned(), Value::from(key)), ("value".to_owned(), value)]))
}

/// Parses a list, tuple or dictionary as printed by Python; values may be separated by white space instead of
/// commas, as printed by NumPy.
fn parse_python(cell: &str) -> Option<Value> {
    let mut parser = Python { rest: cell.chars().peekable() };
    let value = parser.value(0)?;
    parser.skip_space();
    parser.rest.next().is_none().then_some(value)
}

struct Python<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Python<'_> {
    fn skip_space(&mut self) {
        while self.rest.next_if(|c| c.is_whitespace()).is_some() {}
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip_space();
        match *self.rest.peek()? {
            '[' => self.sequence(']', depth),
            '(' => self.sequence(')', depth),
            '{' => self.braces(depth),
            '\'' | '"' => self.string().map(Value::from),
            _ => self.word(),
        }
    }

    fn sequence(&mut self, close: char, depth: usize) -> Option<Value> {
        self.rest.next();
        let mut entries = Vec::new();
        loop {
            self.skip_space();
            if self.rest.next_if_eq(&close).is_some() {
                return Some(Value::Array(entries));
            }
            entries.push(self.value(depth + 1)?);
            self.skip_space();
            self.rest.next_if_eq(&',');
        }
    }

    /// A dictionary, or a set.
    fn braces(&mut self, depth: usize) -> Option<Value> {
        self.rest.next();
        let (mut pairs, mut entries) = (Map::new(), Vec::new());
        loop {
            self.skip_space();
            if self.rest.next_if_eq(&'}').is_some() {
                return match (pairs.is_empty(), entries.is_empty()) {
                    (_, true) => Some(Value::Object(pairs)),
                    (true, false) => Some(Value::Array(entries)),
                    (false, false) => None,
                };
            }
            let key = self.value(depth + 1)?;
            self.skip_space();
            if self.rest.next_if_eq(&':').is_some() {
                if key.is_array() || key.is_object() {
                    return None;
                }
                let value = self.value(depth + 1)?;
                if pairs.insert(plain(&key), value).is_some() {
                    return None;
                }
            } else {
                entries.push(key);
            }
            self.skip_space();
            self.rest.next_if_eq(&',');
        }
    }

    fn string(&mut self) -> Option<String> {
        let quote = self.rest.next()?;
        let mut text = String::new();
        loop {
            match self.rest.next()? {
                c if c == quote => return Some(text),
                '\\' => match self.rest.next()? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'x' => text.push(self.code_point(2)?),
                    'u' => text.push(self.code_point(4)?),
                    other => text.push(other),
                },
                c => text.push(c),
            }
        }
    }

    fn code_point(&mut self, digits: usize) -> Option<char> {
        let code: String = self.rest.by_ref().take(digits).collect();
        char::from_u32(u32::from_str_radix(&code, 16).ok()?)
    }

    /// A number, a constant, or a word without quotes.
    fn word(&mut self) -> Option<Value> {
        let mut word = String::new();
        while let Some(c) = self.rest.next_if(|c| !c.is_whitespace() && !",:[](){}'\"".contains(*c)) {
            word.push(c);
        }
        match word.as_str() {
            "" => None,
            "None" | "nan" | "NaN" | "null" | "<NA>" => Some(Value::Null),
            "True" | "true" => Some(Value::Bool(true)),
            "False" | "false" => Some(Value::Bool(false)),
            // 007 is a name.
            name if name.trim_start_matches('-').len() > 1
                && name.trim_start_matches('-').starts_with('0')
                && name.bytes().all(|b| b.is_ascii_digit() || b == b'-') =>
            {
                Some(Value::from(name))
            }
            number => {
                let integer = number.parse::<i64>().ok().map(Value::from);
                // NumPy prints 1. for 1.0.
                let float = || number.parse::<f64>().ok().and_then(Number::from_f64).map(Value::Number);
                integer.or_else(float).or_else(|| Some(Value::from(number)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[test]
    fn lists_are_parsed_in_every_notation() {
        let cases = [
            ("[0, 1, 1]", json!([0, 1, 1])),
            (r#"["a", "b"]"#, json!(["a", "b"])),
            ("['a', 'b']", json!(["a", "b"])),
            (r#"['it\'s', "x"]"#, json!(["it's", "x"])),
            ("('a', None)", json!(["a", null])),
            ("[0 1 1]", json!([0, 1, 1])),
            ("[0. 1.5]", json!([0.0, 1.5])),
            ("['a' 'b']", json!(["a", "b"])),
            ("[True, False, nan]", json!([true, false, null])),
            ("[['x'], []]", json!([["x"], []])),
            ("[{'annotator': 'a', 'label': 1}]", json!([{"annotator": "a", "label": 1}])),
            (r#"{"a": 1, "b": 0}"#, json!([{"key": "a", "value": 1}, {"key": "b", "value": 0}])),
            ("{'a': 1}", json!([{"key": "a", "value": 1}])),
            ("{1.0: 'yes'}", json!([{"key": "1", "value": "yes"}])),
            ("[001 007]", json!(["001", "007"])),
            ("{'x', 'y'}", json!(["x", "y"])),
            ("[]", json!([])),
            ("['caf\\xe9']", json!(["café"])),
        ];
        for (cell, expected) in cases {
            assert_eq!(parse_list(cell, None), expected.as_array().cloned(), "{cell}");
        }
        assert_eq!(parse_list("a; b;c", Some(";")), json!(["a", "b", "c"]).as_array().cloned());
    }

    #[rstest]
    #[case::key_twice(r#"{"a": 1, "a": 2}"#)]
    #[case::key_twice_in_python("{'a': 1, 'a': 2}")]
    #[case::nothing("")]
    #[case::number("3")]
    #[case::words("a, b")]
    #[case::cut("[0, 1")]
    #[case::more_behind("[0] x")]
    #[case::cut_in_a_string("['a")]
    #[case::no_value("{'a': }")]
    #[case::string("\"[1]\"")]
    #[case::too_deep(&"[".repeat(1000))]
    fn other_cells_are_not_lists(#[case] cell: &str) {
        assert_eq!(parse_list(cell, None), None);
    }
}
