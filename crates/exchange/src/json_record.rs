//! One JSON Lines record: an object of plain values.

use crate::RowErrorKind;
use crate::cells::Cells;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// A row error and the column it is about.
type Blame = (Option<String>, RowErrorKind);

/// Parses one line to its keys and values, in the order of the file.
///
/// # Errors
/// Not JSON, or JSON that is not an object.
pub(crate) fn parse(line: &str) -> Result<Vec<(String, Value)>, RowErrorKind> {
    match serde_json::from_str::<Object>(line) {
        Ok(object) => Ok(object.0),
        Err(e) => Err(match serde_json::from_str::<Value>(line) {
            Ok(value) if !value.is_object() => RowErrorKind::NotAnObject { found: kind_of(&value) },
            _ => RowErrorKind::BadJson { at: e.column(), message: reason(&e) },
        }),
    }
}

/// Spreads the values of `line` over `columns` (their positions by name). Missing keys and `null` are blank.
pub(crate) fn fill(line: &str, columns: &HashMap<String, usize>, cells: &mut Cells) -> Result<(), Blame> {
    let mut slots: Vec<Option<String>> = vec![None; columns.len()];
    let mut seen = vec![false; columns.len()];
    let mut new_keys = HashSet::new();
    for (key, value) in parse(line).map_err(|kind| (None, kind))? {
        let index = columns.get(&key).copied();
        let again = match index {
            Some(index) => std::mem::replace(&mut seen[index], true),
            None => !new_keys.insert(key.clone()),
        };
        if again {
            return Err((Some(key), RowErrorKind::RepeatedKey));
        }
        let text = match (index, nested(&value)) {
            (Some(index), Some(found)) => {
                let text = value.to_string();
                cells.nested.push((index, found));
                cells.parsed.push((index, value));
                Some(text)
            }
            _ => plain(value).map_err(|kind| (Some(key.clone()), kind))?,
        };
        match index {
            Some(index) => slots[index] = text,
            None => cells.extra.push((key, text.unwrap_or_default())),
        }
    }
    for slot in slots {
        cells.text.push_str(slot.as_deref().unwrap_or_default());
        cells.end_value();
    }
    Ok(())
}

/// Formats the value as text: whole numbers without a point (3.0 is 3), lists and objects as their JSON.
fn plain(value: Value) -> Result<Option<String>, RowErrorKind> {
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::String(text) => text,
        Value::Bool(yes) => yes.to_string(),
        Value::Number(number) => number_text(&number)?,
        nested => nested.to_string(),
    }))
}

fn number_text(number: &serde_json::Number) -> Result<String, RowErrorKind> {
    /// From here on neighbouring whole numbers share one double.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(float) if number.is_f64() && float.abs() >= EXACT => {
            Err(RowErrorKind::InexactNumber { value: number.to_string() })
        }
        Some(float) if number.is_f64() && float.fract() == 0.0 => Ok((float as i64).to_string()),
        _ => Ok(number.to_string()),
    }
}

/// What a list of plain values is called.
pub(crate) const FLAT_LIST: &str = "a list";

fn nested(value: &Value) -> Option<&'static str> {
    match value {
        Value::Array(items) if items.iter().all(|item| nested(item).is_none()) => Some(FLAT_LIST),
        Value::Array(_) => Some("a list of lists or objects"),
        Value::Object(_) => Some("an object"),
        _ => None,
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The parser's message without its position, which is relative to the line; lone surrogates are explained.
fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default().to_owned();
    if message.contains("surrogate") || message.contains("end of hex escape") {
        format!("{message} (half of a \\uD83D\\uDE00 pair without the other half, which is no character)")
    } else {
        message
    }
}

/// A value in which no object has a key twice, which would lose one of its values.
struct Whole(Value);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parts;
        impl<'de> Visitor<'de> for Parts {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
                Ok(Value::Bool(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
                Ok(Value::from(value))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
                Ok(Value::from(value))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
                Ok(Value::from(value))
            }

            fn visit_str<E>(self, value: &str) -> Result<Value, E> {
                Ok(Value::from(value))
            }

            fn visit_string<E>(self, value: String) -> Result<Value, E> {
                Ok(Value::String(value))
            }

            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
                let mut found = Vec::new();
                while let Some(Whole(entry)) = entries.next_element()? {
                    found.push(entry);
                }
                Ok(Value::Array(found))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
                let mut found = serde_json::Map::new();
                while let Some(key) = members.next_key::<String>()? {
                    let Whole(value) = members.next_value()?;
                    if found.contains_key(&key) {
                        return Err(A::Error::custom(format!("the key \"{key}\" is listed twice")));
                    }
                    found.insert(key, value);
                }
                Ok(Value::Object(found))
            }
        }
        deserializer.deserialize_any(Parts).map(Whole)
    }
}

/// An object with its keys in order, including repeated keys, which `serde_json::Map` would drop.
struct Object(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut pairs = Vec::with_capacity(map.size_hint().unwrap_or(8));
                while let Some(key) = map.next_key::<String>()? {
                    let value = map.next_value::<Whole>()?.0;
                    pairs.push((key.trim().to_owned(), value));
                }
                if pairs.iter().any(|(key, _)| key.is_empty()) {
                    return Err(A::Error::custom("a key without a name"));
                }
                Ok(Object(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill_ab(line: &str) -> Result<Cells, Blame> {
        let columns = HashMap::from([("a".to_owned(), 0), ("b".to_owned(), 1)]);
        let mut cells = Cells::default();
        fill(line, &columns, &mut cells).map(|()| cells)
    }

    #[test]
    fn duplicate_keys_are_refused_at_any_depth() {
        for line in [r#"{"a":[{"b":1,"b":2}]}"#, r#"{"a":{"b":{"c":1,"c":1}}}"#] {
            let (_, kind) = fill_ab(line).unwrap_err();
            assert!(kind.to_string().contains("listed twice"), "{kind}");
        }
        assert_eq!(
            fill_ab(r#"{"a":[1,-2,1.5,null,true,"x",{"b":[]}]}"#).unwrap().get(0),
            r#"[1,-2,1.5,null,true,"x",{"b":[]}]"#
        );
    }

    #[test]
    fn numbers_and_truth_values_become_plain_text() {
        let cases = [
            ("3", "3"),
            ("\"3\"", "3"),
            ("3.0", "3"),
            ("-2.0e0", "-2"),
            ("0.5", "0.5"),
            ("18446744073709551615", "18446744073709551615"),
            ("true", "true"),
            ("false", "false"),
            ("null", ""),
        ];
        for (json, text) in cases {
            assert_eq!(fill_ab(&format!("{{\"a\":{json}}}")).unwrap().get(0), text, "{json}");
        }
    }

    #[test]
    fn keys_may_be_reordered_missing_or_new() {
        let cells = fill_ab(r#"{"b":"y","c":"z"}"#).unwrap();
        assert_eq!((cells.get(0), cells.get(1)), ("", "y"));
        assert_eq!(cells.extra, [("c".to_owned(), "z".to_owned())]);
    }

    #[test]
    fn nested_values_stay_json_and_are_marked() {
        let cells = fill_ab(r#"{"a":[1,{"x":"y"}],"b":{}}"#).unwrap();
        assert_eq!(cells.get(0), r#"[1,{"x":"y"}]"#);
        assert_eq!(cells.nested, [(0, "a list of lists or objects"), (1, "an object")]);
        assert_eq!(fill_ab(r#"{"a":["x","y"]}"#).unwrap().nested, [(0, FLAT_LIST)]);
    }

    #[test]
    fn record_errors_are_specific() {
        let kind = |line: &str| fill_ab(line).unwrap_err();
        assert_eq!(kind("[1]").1, RowErrorKind::NotAnObject { found: "a list" });
        assert_eq!(kind("null").1, RowErrorKind::NotAnObject { found: "null" });
        assert_eq!(kind(r#"{"a":1,"a":2}"#), (Some("a".into()), RowErrorKind::RepeatedKey));
        assert_eq!(kind(r#"{"z":1,"z":2}"#), (Some("z".into()), RowErrorKind::RepeatedKey));
        assert!(matches!(kind(r#"{"a":1e300}"#).1, RowErrorKind::InexactNumber { .. }));
        assert!(matches!(kind(r#"{"a":18446744073709551616}"#).1, RowErrorKind::InexactNumber { .. }));
        assert!(matches!(kind(r#"{"a":1"#).1, RowErrorKind::BadJson { at: 6, .. }));
        assert!(matches!(kind(r#"{"":1}"#).1, RowErrorKind::BadJson { .. }));
        let RowErrorKind::BadJson { message, .. } = kind(r#"{"a":"\ud83d"}"#).1 else {
            panic!("no JSON error")
        };
        assert!(message.contains("without the other half"), "{message}");
    }
}
