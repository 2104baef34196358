//! Writes YAML, in which the manifests of package collections are read by people.

use serde_json::Value;

/// A document with one key or element a line. Strings are in double quotes, so that no word is a number or a
/// boolean.
pub(super) fn document(value: &Value) -> String {
    let mut lines = Vec::new();
    write(value, &mut lines);
    lines.join("\n") + "\n"
}

fn write(value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                if is_scalar(value) {
                    lines.push(format!("{key}: {value}"));
                } else {
                    lines.push(format!("{key}:"));
                    lines.extend(below(value).into_iter().map(|line| format!("  {line}")));
                }
            }
        }
        Value::Array(elements) => {
            for element in elements {
                let mut starts = std::iter::once("- ").chain(std::iter::repeat("  "));
                let line = |line: String| format!("{}{line}", starts.next().unwrap_or_default());
                lines.extend(below(element).into_iter().map(line));
            }
        }
        scalar => lines.push(scalar.to_string()),
    }
}

fn below(value: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    write(value, &mut lines);
    lines
}

/// Also whether it is empty: `{}` and `[]` are on the line of their key.
fn is_scalar(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.is_empty(),
        Value::Array(elements) => elements.is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn maps_and_lists_are_indented() {
        let value = json!({
            "A": "no: \"x\"",
            "B": [{"C": 1, "D": ["e", "f"]}, "g"],
            "H": {"I": true, "J": []},
        });
        let text = "A: \"no: \\\"x\\\"\"\nB:\n  - C: 1\n    D:\n      - \"e\"\n      - \"f\"\n  - \"g\"\nH:\n  I: true\n  J: []\n";
        assert_eq!(document(&value), text);
    }
}
