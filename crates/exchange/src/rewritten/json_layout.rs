//! How a table is laid out in a file of JSON.

use crate::annotations::JsonParts;
use dissensus_domain::Split;
use std::fs::File;
use std::path::Path;

/// How many parts are looked at.
const LOOKED_AT: usize = 20;
/// How many words a text has at least.
const WORDS: usize = 3;

/// The layout of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Objects one after the other, in a list or as the members of an object.
    Records,
    /// As [`Layout::Records`], of which each holds a list of the objects that are meant under this key: `{"corpus": "A", "tweets": [...]}`.
    Nested(String),
    /// One member of the file, or one for each split, is a list of the objects that are meant: `{"version": 1, "data": [...]}`.
    Wrapped(Vec<String>),
    /// An object for each column, by the numbers of rows: `{"text": {"0": ..., "1": ...}, "label": {...}}`.
    Columns,
    /// The names of columns, and a list for each row: `{"columns": [...], "data": [[...], ...]}`.
    Rows,
}

/// A member of an object, as it is written.
pub(super) type Member = (String, Vec<u8>);

impl Layout {
    /// The layout of the file at `path`; `None` where its parts are no table.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let mut parts = JsonParts::new(File::open(path).ok()?);
        let mut found: Vec<Member> = Vec::new();
        let mut by_key = true;
        while found.len() < LOOKED_AT {
            match parts.next_part() {
                Ok(Some(Ok(part))) => {
                    by_key &= part.key.is_some();
                    found.push((part.key.unwrap_or_default(), part.bytes));
                }
                Ok(None) => break,
                _ => return None,
            }
        }
        if !found.is_empty() && found.iter().all(|(_, part)| part.starts_with(b"{")) {
            let objects: Vec<Vec<Member>> = found.iter().filter_map(|(_, part)| members(part)).collect();
            let is_columns = by_key && objects.len() == found.len() && are_columns(&found, &objects);
            return Some(match is_columns {
                true => Self::Columns,
                false => nested_key(&objects).map_or(Self::Records, Self::Nested),
            });
        }
        if !by_key {
            return None;
        }
        let of = |name: &str| found.iter().find(|(key, _)| key == name).map(|(_, part)| part.as_slice());
        if let (Some(columns), Some(data)) = (of("columns"), of("data"))
            && columns.starts_with(b"[")
            && first_element(data).is_some_and(|row| row.starts_with(b"["))
        {
            return Some(Self::Rows);
        }
        let lists: Vec<&Member> = found
            .iter()
            .filter(|(_, part)| first_element(part).is_some_and(|e| e.starts_with(b"{")))
            .collect();
        let are_splits = lists.iter().all(|(key, _)| Split::from_name(key).is_some());
        let are_tables = lists.iter().all(|(_, list)| hold_texts(list));
        let keys = lists.iter().map(|(key, _)| key.clone()).collect();
        ((lists.len() == 1 || lists.len() > 1 && are_splits) && are_tables).then_some(Self::Wrapped(keys))
    }
}

/// The members of an object; `None` where it is none, or broken.
pub(super) fn members(object: &[u8]) -> Option<Vec<Member>> {
    let mut parts = JsonParts::new(object);
    let mut found = Vec::new();
    while let Some(part) = parts.next_part().ok()? {
        let part = part.ok()?;
        found.push((part.key?, part.bytes));
    }
    Some(found)
}

/// The first elements of a list; none where it is none.
fn first_elements(list: &[u8], at_most: usize) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    if list.starts_with(b"[") {
        let mut parts = JsonParts::new(list);
        while found.len() < at_most {
            let Ok(Some(Ok(part))) = parts.next_part() else { break };
            found.push(part.bytes);
        }
    }
    found
}

fn first_element(list: &[u8]) -> Option<Vec<u8>> {
    first_elements(list, 1).pop()
}

/// Whether objects are columns: all have the same keys, which are whole numbers, as their own names are not.
fn are_columns(found: &[Member], objects: &[Vec<Member>]) -> bool {
    let is_number = |key: &str| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit());
    let keys = |object: &[Member]| object.iter().map(|(key, _)| key.clone()).collect::<Vec<String>>();
    let Some(first) = objects.first().map(|object| keys(object)) else { return false };
    found.len() > 1
        && !first.is_empty()
        && first.iter().all(|key| is_number(key))
        && objects.iter().all(|object| keys(object) == first)
        && !found.iter().all(|(name, _)| is_number(name))
}

/// The key under which all of these objects have a list of the objects that hold the texts, where they hold none themselves.
fn nested_key(objects: &[Vec<Member>]) -> Option<String> {
    let is_list = |value: &[u8]| first_element(value).is_some_and(|element| element.starts_with(b"{"));
    let mut lists = objects.iter().flatten().filter(|(_, value)| is_list(value));
    let key = lists.next()?.0.clone();
    let only = lists.all(|(other, _)| *other == key);
    let has_it =
        |object: &Vec<Member>| object.iter().any(|(name, value)| *name == key && value.starts_with(b"["));
    let none_has_texts = !objects.iter().flatten().any(|(_, value)| is_text(value));
    let hold = objects.iter().flatten().filter(|(name, value)| *name == key && is_list(value));
    (only
        && objects.iter().all(has_it)
        && none_has_texts
        && hold.map(|(_, value)| value).all(|v| hold_texts(v)))
    .then_some(key)
}

/// Whether most of the first objects of a list hold a text.
fn hold_texts(list: &[u8]) -> bool {
    let objects = first_elements(list, LOOKED_AT);
    let with_text = objects.iter().filter_map(|object| members(object));
    let with_text = with_text.filter(|object| object.iter().any(|(_, value)| is_text(value))).count();
    with_text > 0 && with_text * 2 >= objects.len()
}

/// Whether a value is a string of several words.
fn is_text(value: &[u8]) -> bool {
    value.starts_with(b"\"")
        && serde_json::from_slice::<String>(value).is_ok_and(|text| text.split_whitespace().count() >= WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn layout(json: &str) -> Option<Layout> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(json.as_bytes()).unwrap();
        Layout::of(file.path())
    }

    #[test]
    fn the_layout_of_a_table_is_seen_by_its_parts() {
        let records = Some(Layout::Records);
        assert_eq!(layout(r#"[{"text": "a b c", "label": 1}]"#), records);
        assert_eq!(
            layout(r#"{"t1": {"text": "a b c", "label": 1}, "t2": {"text": "d e f", "label": 0}}"#),
            records
        );
        // What belongs to a text is no table of its own.
        let answers = r#"[{"text": "a b c", "answers": [{"who": "x", "why": "it is so"}]}]"#;
        assert_eq!(layout(answers), records);
        assert_eq!(layout(r#"[{"id": 1, "answers": [{"annotator": "x", "label": 1}]}]"#), records);
        let nested = r#"[{"corpus": "A", "tweets": [{"text": "a b c"}]}, {"corpus": "B", "tweets": []}]"#;
        assert_eq!(layout(nested), Some(Layout::Nested("tweets".to_owned())));
        let wrapped = r#"{"version": "1", "about": {"by": "x"}, "data": [{"text": "a b c"}]}"#;
        assert_eq!(layout(wrapped), Some(Layout::Wrapped(vec!["data".to_owned()])));
        let splits = r#"{"train": [{"text": "a b c"}], "test": [{"text": "d e f"}]}"#;
        assert_eq!(layout(splits), Some(Layout::Wrapped(vec!["train".to_owned(), "test".to_owned()])));
        assert_eq!(
            layout(r#"{"text": {"0": "a b", "1": "c"}, "label": {"0": 1, "1": 0}}"#),
            Some(Layout::Columns)
        );
        // Records by numbers that have answers by the numbers of people.
        assert_eq!(layout(r#"{"7": {"0": 1, "1": 0}, "8": {"0": 1, "1": 1}}"#), records);
        assert_eq!(layout(r#"{"columns": ["a"], "index": [0], "data": [["x"]]}"#), Some(Layout::Rows));
        for none in [
            r#"{"a": 1}"#,
            "[1, 2]",
            "[[1], [2]]",
            "{}",
            "[]",
            r#"{"posts": [{"text": "a b c"}], "users": [{"bio": "d e f"}]}"#,
        ] {
            assert_eq!(layout(none), None, "{none}");
        }
    }
}
