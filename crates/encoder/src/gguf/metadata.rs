//! The metadata at the head of a GGUF file, read with error messages.

use std::collections::HashMap;

use candle_core::quantized::gguf_file::Value;

/// Metadata by key.
pub(super) struct Metadata(pub(super) HashMap<String, Value>);

impl Metadata {
    pub(super) fn text(&self, key: &str) -> Result<Option<&str>, String> {
        self.of(key, "a text", |value| match value {
            Value::String(text) => Some(text.as_str()),
            _ => None,
        })
    }

    pub(super) fn switch(&self, key: &str) -> Result<Option<bool>, String> {
        self.of(key, "true or false", |value| match value {
            Value::Bool(on) => Some(*on),
            _ => None,
        })
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<f64>, String> {
        self.of(key, "a number", |value| match value {
            Value::F32(number) => Some(f64::from(*number)),
            Value::F64(number) => Some(*number),
            other => whole(other).map(|number| number as f64),
        })
    }

    pub(super) fn count(&self, key: &str) -> Result<Option<u64>, String> {
        self.of(key, "a whole number of 0 or more", whole)
    }

    pub(super) fn texts(&self, key: &str) -> Result<Option<Vec<&str>>, String> {
        self.of(key, "a list of texts", |value| match value {
            Value::Array(values) => values
                .iter()
                .map(|value| if let Value::String(text) = value { Some(text.as_str()) } else { None })
                .collect(),
            _ => None,
        })
    }

    pub(super) fn counts(&self, key: &str) -> Result<Option<Vec<u64>>, String> {
        self.of(key, "a list of whole numbers", |value| match value {
            Value::Array(values) => values.iter().map(whole).collect(),
            _ => None,
        })
    }

    fn of<'a, T>(
        &'a self,
        key: &str,
        kind: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, String> {
        match self.0.get(key) {
            None => Ok(None),
            Some(value) => read(value).map(Some).ok_or_else(|| format!("its {key} is not {kind}")),
        }
    }
}

/// Returns `value`, or the error that the file lacks it.
pub(super) fn needed<T>(key: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("it has no {key}"))
}

fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::U8(n) => Some(u64::from(*n)),
        Value::U16(n) => Some(u64::from(*n)),
        Value::U32(n) => Some(u64::from(*n)),
        Value::U64(n) => Some(*n),
        Value::I8(n) => u64::try_from(*n).ok(),
        Value::I16(n) => u64::try_from(*n).ok(),
        Value::I32(n) => u64::try_from(*n).ok(),
        Value::I64(n) => u64::try_from(*n).ok(),
        _ => None,
    }
}
