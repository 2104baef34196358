//! The page of the JSON schemas: the output of each command, and a table for each type.

use super::markdown::{anchor, escaped};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The page for the output of `dissensus schema`.
pub(super) fn page(schemas: &Value) -> String {
    let mut text = "# JSON schemas\n\nWhat each command prints with `--json`, and the types in it. `dissensus schema` prints the same as JSON \
Schema (draft 2020-12), for programs.\n\n## Commands\n\n| Command | Prints |\n|---|---|\n"
        .to_owned();
    let mut types: BTreeMap<&str, Value> = BTreeMap::new();
    for (command, schema) in schemas.as_object().into_iter().flatten() {
        let title = schema["title"].as_str().filter(|_| schema.get("properties").is_some());
        let printed = match title {
            Some(title) => {
                types.insert(title, with_own_name(schema, title));
                link(title)
            }
            None => kind(schema),
        };
        let _ = writeln!(text, "| `{command} --json` | {printed} |");
        for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
            types.insert(name, definition.clone());
        }
    }
    text.push_str("\n## Types\n");
    for (name, schema) in types {
        let _ = write!(text, "\n### {name}\n\n");
        if let Some(words) = schema["description"].as_str() {
            let _ = write!(text, "{}\n\n", escaped(words));
        }
        match schema["properties"].as_object() {
            Some(properties) => text.push_str(&table(properties)),
            None => text.push_str(&choices(&schema)),
        }
    }
    text
}

/// Replaces `#`, with which a schema refers to itself as a whole document, by a reference to `name`.
fn with_own_name(schema: &Value, name: &str) -> Value {
    match schema {
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                let itself = key == "$ref" && value == "#";
                let value =
                    if itself { format!("#/$defs/{name}").into() } else { with_own_name(value, name) };
                (key.clone(), value)
            };
            Value::Object(fields.iter().map(field).collect())
        }
        Value::Array(items) => items.iter().map(|item| with_own_name(item, name)).collect(),
        other => other.clone(),
    }
}

fn table(properties: &Map<String, Value>) -> String {
    let mut rows = "| Field | Type | |\n|---|---|---|\n".to_owned();
    for (name, schema) in properties {
        let words = escaped(schema["description"].as_str().unwrap_or_default());
        let _ = writeln!(rows, "| `{name}` | {} | {words} |", kind(schema));
    }
    rows
}

/// A type without fields: its variants as a list, else one line.
fn choices(schema: &Value) -> String {
    let Some(variants) = variants(schema) else { return format!("{}\n", kind(schema)) };
    let mut list = String::new();
    for variant in variants {
        let words = variant["description"].as_str().map(|words| format!(": {}", escaped(words)));
        let _ = writeln!(list, "- {}{}", kind(variant), words.unwrap_or_default());
    }
    list
}

fn variants(schema: &Value) -> Option<&Vec<Value>> {
    ["oneOf", "anyOf"].iter().find_map(|key| schema[*key].as_array())
}

/// A type in a few words, with links to types that have a section.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        return link(name.trim_start_matches("#/$defs/"));
    }
    if let Some(value) = schema.get("const") {
        return format!("`{value}`");
    }
    if let Some(values) = schema["enum"].as_array() {
        return any(values.iter().map(|value| format!("`{value}`")));
    }
    if let Some(variants) = variants(schema) {
        return any(variants.iter().map(kind));
    }
    if let Some(all) = schema["allOf"].as_array() {
        return all.iter().map(kind).collect::<Vec<_>>().join(" with ");
    }
    match &schema["type"] {
        Value::Array(types) => any(types.iter().map(|one| of_type(one.as_str().unwrap_or_default(), schema))),
        one => of_type(one.as_str().unwrap_or_default(), schema),
    }
}

fn of_type(name: &str, schema: &Value) -> String {
    match name {
        "array" => match schema["prefixItems"].as_array() {
            Some(items) => format!("\\[{}\\]", items.iter().map(kind).collect::<Vec<_>>().join(", ")),
            None if schema["items"].is_object() => format!("array of {}", kind(&schema["items"])),
            None => "array".to_owned(),
        },
        "object" => match (schema["properties"].as_object(), schema.get("additionalProperties")) {
            (Some(fields), _) => {
                let field = |(name, schema): (&String, &Value)| format!("`{name}`: {}", kind(schema));
                format!("object with {}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
            }
            (None, Some(values)) if values.is_object() => format!("object of {} by name", kind(values)),
            (None, _) => "object".to_owned(),
        },
        "" => "any value".to_owned(),
        name => name.to_owned(),
    }
}

fn any(kinds: impl Iterator<Item = String>) -> String {
    kinds.collect::<Vec<_>>().join(" or ")
}

fn link(name: &str) -> String {
    format!("[{name}](#{})", anchor(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::schema;

    #[test]
    fn every_linked_type_has_a_section() {
        let page = page(&serde_json::to_value(schema::all()).unwrap());
        let sections: Vec<String> =
            page.lines().filter_map(|line| line.strip_prefix("### ")).map(anchor).collect();
        for part in page.split("](#").skip(1) {
            let target = part.split(')').next().unwrap();
            assert!(sections.iter().any(|section| section == target), "there is no section {target}");
        }
        assert!(!page.contains("any value"), "a type cannot be read");
    }
}
