//! How a table is laid out in a file of JSON.

use crate::annotations::JsonParts;
use dissensus_domain::Split;
use std::fs::File;
use std::path::Path;

/// How many parts are inspected.
const LOOKED_AT: usize = 20;
/// How many words a text has at least.
const WORDS: usize = 3;

/// The layout of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Objects one after the other, in a list or as the members of an object.
    Records,
    /// Like [`Layout::Records`], but each object holds a list of the actual records under this key:
    /// `{"corpus": "A", "tweets": [...]}`.
    Nested(String),
    /// One member of the file, or one for each split, is a list of the actual records:
    /// `{"version": 1, "data": [...]}`.
    Wrapped(Vec<String>),
    /// An object for each column, by the numbers of rows: `{"text": {"0": ..., "1": ...}, "label": {...}}`.
    Columns,
    /// The names of columns, and a list for each row: `{"columns": [...], "data": [[...], ...]}`.
    Rows,
}

/// A member of an object, unparsed.
pub(super) type Member = (String, Vec<u8>);

/// Facts about a part: a member of the file, or an element of its list.
struct Part {
    key: Option<String>,
    holds: Holds,
}

enum Holds {
    Object(Object),
    List(List),
    Other,
}

/// An object: whether it has a text itself, and its lists of objects, or empty ones.
#[derive(Default)]
struct Object {
    has_text: bool,
    lists: Vec<(String, List)>,
    /// The keys, if all are whole numbers.
    numbers: Option<Vec<String>>,
}

/// The kind of a list's elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Empty,
    /// Objects, and whether most of the first ones have a text.
    Objects(bool),
    Lists,
    Others,
}

impl Layout {
    /// Detects the layout of the file at `path`; `None` if its parts are not a table. One part is held at a
    /// time.
    pub(super) fn new(path: &Path) -> Option<Self> {
        let mut parts = JsonParts::new(File::open(path).ok()?);
        let mut found: Vec<Part> = Vec::new();
        while found.len() < LOOKED_AT {
            match parts.next_part() {
                Ok(Some(Ok(part))) => {
                    let holds = match part.bytes.first() {
                        Some(b'{') => Object::new(&part.bytes).map_or(Holds::Other, Holds::Object),
                        Some(b'[') => Holds::List(List::new(&part.bytes)),
                        _ => Holds::Other,
                    };
                    found.push(Part { key: part.key, holds });
                }
                Ok(None) => break,
                _ => return None,
            }
        }
        let by_key = found.iter().all(|part| part.key.is_some());
        let objects: Vec<&Object> = found
            .iter()
            .filter_map(|part| if let Holds::Object(object) = &part.holds { Some(object) } else { None })
            .collect();
        if !found.is_empty() && objects.len() == found.len() {
            return Some(match by_key && are_columns(&found, &objects) {
                true => Self::Columns,
                false => nested_key(&objects).map_or(Self::Records, Self::Nested),
            });
        }
        if !by_key {
            return None;
        }
        let lists: Vec<(&str, List)> = found
            .iter()
            .filter_map(|part| match (&part.key, &part.holds) {
                (Some(key), Holds::List(list)) => Some((key.as_str(), *list)),
                _ => None,
            })
            .collect();
        let of = |name: &str| lists.iter().find(|(key, _)| *key == name).map(|(_, list)| *list);
        if of("columns") == Some(List::Others) && of("data") == Some(List::Lists) {
            return Some(Self::Rows);
        }
        let is_split = |key: &str| Split::from_name(key).is_some();
        let tables: Vec<&str> =
            lists.iter().filter(|(_, list)| *list == List::Objects(true)).map(|(key, _)| *key).collect();
        let others = lists.iter().any(|(_, list)| *list == List::Objects(false));
        let splits = tables.iter().all(|key| is_split(key));
        if others || tables.is_empty() || tables.len() > 1 && !splits {
            return None;
        }
        // A split may be empty.
        let empty = lists.iter().filter(|(key, list)| *list == List::Empty && splits && is_split(key));
        Some(Self::Wrapped(
            tables.iter().chain(empty.map(|(key, _)| key)).map(|key| (*key).to_owned()).collect(),
        ))
    }
}

impl Object {
    fn new(object: &[u8]) -> Option<Self> {
        let mut parts = JsonParts::new(object);
        let mut found = Self { numbers: Some(Vec::new()), ..Self::default() };
        while let Some(part) = parts.next_part().ok()? {
            let part = part.ok()?;
            let key = part.key?;
            found.has_text |= is_text(&part.bytes);
            let is_number = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit());
            match found.numbers.as_mut().filter(|_| is_number) {
                Some(numbers) => numbers.push(key.clone()),
                None => found.numbers = None,
            }
            if part.bytes.starts_with(b"[")
                && let list @ (List::Empty | List::Objects(_)) = List::new(&part.bytes)
            {
                found.lists.push((key, list));
            }
        }
        Some(found)
    }
}

impl List {
    fn new(list: &[u8]) -> Self {
        let mut parts = JsonParts::new(list);
        let (mut first, mut looked_at, mut with_text) = (None, 0, 0);
        while looked_at < LOOKED_AT {
            let Ok(Some(Ok(part))) = parts.next_part() else { break };
            looked_at += 1;
            first = first.or_else(|| part.bytes.first().copied());
            with_text +=
                usize::from(first == Some(b'{') && Object::new(&part.bytes).is_some_and(|o| o.has_text));
        }
        match first {
            None => Self::Empty,
            Some(b'{') => Self::Objects(with_text > 0 && with_text * 2 >= looked_at),
            Some(b'[') => Self::Lists,
            Some(_) => Self::Others,
        }
    }
}

/// Splits an object into its members; `None` if it is not an object, or broken.
pub(super) fn members(object: &[u8]) -> Option<Vec<Member>> {
    let mut parts = JsonParts::new(object);
    let mut found = Vec::new();
    while let Some(part) = parts.next_part().ok()? {
        let part = part.ok()?;
        found.push((part.key?, part.bytes));
    }
    Some(found)
}

/// Whether objects are columns: all have the same keys, which are whole numbers, while their own names are
/// not.
fn are_columns(found: &[Part], objects: &[&Object]) -> bool {
    let is_number =
        |part: &Part| part.key.as_ref().is_some_and(|key| key.bytes().all(|byte| byte.is_ascii_digit()));
    let Some(first) = objects.first().and_then(|object| object.numbers.as_ref()) else { return false };
    found.len() > 1
        && !first.is_empty()
        && objects.iter().all(|object| object.numbers.as_ref() == Some(first))
        && !found.iter().all(is_number)
}

/// Returns the key under which all of these objects have a list of the objects that hold the texts, if they
/// hold none themselves.
fn nested_key(objects: &[&Object]) -> Option<String> {
    let lists = || objects.iter().flat_map(|object| &object.lists);
    let key = &lists().find(|(_, list)| *list == List::Objects(true))?.0;
    let only =
        lists().all(|(other, list)| *list == List::Empty || other == key && *list == List::Objects(true));
    let has_it = |object: &&Object| object.lists.iter().any(|(other, _)| other == key);
    (only && objects.iter().all(has_it) && !objects.iter().any(|object| object.has_text)).then(|| key.clone())
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
        Layout::new(file.path())
    }

    #[test]
    fn json_layout_is_recognised() {
        let records = Some(Layout::Records);
        assert_eq!(layout(r#"[{"text": "a b c", "label": 1}]"#), records);
        assert_eq!(
            layout(r#"{"t1": {"text": "a b c", "label": 1}, "t2": {"text": "d e f", "label": 0}}"#),
            records
        );
        // A list that belongs to a text is not a table of its own.
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
        // Records by numbers that have answers by the numbers of annotators.
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
