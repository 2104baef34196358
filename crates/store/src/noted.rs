//! The data recorded about texts and questions when they were added, and how it is merged if copies
//! added the same one separately: for each field the later value, or the greater one if times are
//! equal, whichever copy merges. An empty field never replaces another value.

use crate::row::{bad, json, json_or_null, to_json};
use crate::tx::{all, first};
use crate::{Result, Store, WriteTx};
use dissensus_domain::{QuestionId, Text, TextId};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

const GROUP: &str = "group";
const SPLIT: &str = "split";
const METADATA: &str = "metadata:";

/// Time and position at which something was added, in the copy that added it first. All copies list
/// items in this order.
pub(crate) type Added = (i64, i64);

/// The recorded data of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Noted {
    added: Added,
    /// The non-empty fields, with their times.
    fields: BTreeMap<String, (i64, String)>,
}

/// The columns that [`Noted::read`] reads.
const COLUMNS: &str = "noted_at_ms, coalesce(position, id), field_times, \"group\", split, metadata";

impl Noted {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let added: Added = (row.get(0)?, row.get(1)?);
        let times: BTreeMap<String, i64> = json_or_null(row, 2)?.unwrap_or_default();
        let metadata: BTreeMap<String, String> = json(row, 5)?;
        let named = [(GROUP, row.get::<_, Option<String>>(3)?), (SPLIT, row.get(4)?)];
        let named = named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let fields = named
            .chain(metadata.into_iter().map(|(key, value)| (format!("{METADATA}{key}"), value)))
            .map(|(name, value)| (times.get(&name).copied().unwrap_or(added.0), name, value))
            .map(|(at_ms, name, value)| (name, (at_ms, value)))
            .collect();
        Ok(Self { added, fields })
    }

    /// Merges the data recorded in two copies.
    fn with(mut self, other: Self) -> Self {
        self.added = self.added.max(other.added);
        for (name, theirs) in other.fields {
            let ours = self.fields.entry(name).or_insert_with(|| theirs.clone());
            if theirs > *ours {
                *ours = theirs;
            }
        }
        self
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(|(_, value)| value.as_str())
    }

    fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(name, (_, value))| (name.as_str(), value.as_str()))
    }
}

/// What merging changed in a text that both copies have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NotedApart {
    /// Whether group, split or metadata changed.
    pub(crate) changed: bool,
    /// The split before and after, if it changed.
    pub(crate) split: Option<(Option<String>, Option<String>)>,
}

impl WriteTx<'_> {
    /// Merges the data that another copy recorded about a text.
    pub(crate) fn note_of_text(&mut self, id: TextId, theirs: Noted) -> Result<NotedApart> {
        let sql = format!("SELECT {COLUMNS} FROM texts WHERE id = ?1");
        let Some(ours) = self.first(&sql, [id.0], Noted::read)? else { return Ok(NotedApart::default()) };
        if ours == theirs {
            return Ok(NotedApart::default());
        }
        let held = ours.clone().with(theirs);
        if held == ours {
            return Ok(NotedApart::default());
        }
        self.put_noted(id, &held)?;
        let (was, is) = (ours.value(SPLIT), held.value(SPLIT));
        let split = (was != is).then(|| (was.map(str::to_owned), is.map(str::to_owned)));
        Ok(NotedApart { changed: !ours.values().eq(held.values()), split })
    }

    /// Writes the recorded data of a text.
    pub(crate) fn put_noted(&mut self, id: TextId, held: &Noted) -> Result<()> {
        let metadata: BTreeMap<&str, &str> =
            held.values().filter_map(|(name, value)| Some((name.strip_prefix(METADATA)?, value))).collect();
        let times: BTreeMap<&str, i64> = (held.fields.iter())
            .filter(|(_, (at_ms, _))| *at_ms != held.added.0)
            .map(|(name, (at_ms, _))| (name.as_str(), *at_ms))
            .collect();
        let times = if times.is_empty() { None } else { Some(to_json("times of a text", &times)?) };
        let metadata = to_json("metadata of a text", &metadata)?;
        let sql = "UPDATE texts SET noted_at_ms = ?2, position = nullif(?3, id), field_times = ?4, \"group\" = ?5, split = ?6,
                   metadata = ?7 WHERE id = ?1";
        let (at_ms, position) = held.added;
        let row = (id.0, at_ms, position, times, held.value(GROUP), held.value(SPLIT), metadata);
        self.run(sql, row).map(drop).map_err(|e| self.explain("storing data about a text", e))
    }

    /// Merges the initial prompt of a question with that of another copy: the later one is used.
    /// Returns whether it changed.
    pub(crate) fn note_of_question(&mut self, id: QuestionId, theirs: (Added, String)) -> Result<bool> {
        let read = |c: &Connection| question_added(c, id);
        let ours = read(self.conn).map_err(|e| self.explain("reading a question", e))?;
        let Some((added, prompt)) = ours else { return Ok(false) };
        // The position is that of the later one; the prompt that of the later, then the greater
        // one.
        let place = added.max(theirs.0);
        let (_, held) = (added.0, &prompt).max((theirs.0.0, &theirs.1));
        let (changed, held) = (*held != prompt, held.clone());
        if place != added || changed {
            self.put_question_added(id, place, &held)?;
        }
        Ok(changed)
    }

    /// Writes when and where a question was added, and its initial prompt.
    pub(crate) fn put_question_added(&mut self, id: QuestionId, added: Added, prompt: &str) -> Result<()> {
        let sql =
            "UPDATE questions SET noted_at_ms = ?2, position = nullif(?3, id), prompt = ?4 WHERE id = ?1";
        let done = self.run(sql, (id.0, added.0, added.1, prompt));
        done.map(drop).map_err(|e| self.explain("storing data about a question", e))
    }

    /// Sets the position of an annotator to that of another copy or, if both know the annotator, to
    /// the later one.
    pub(crate) fn place_of_annotator(&mut self, id: u32, theirs: i64, new: bool) -> Result<()> {
        let sql = "UPDATE annotators SET position = nullif(?2, id) WHERE id = ?1 AND (?3 OR coalesce(position, id) < ?2)";
        self.run(sql, (id, theirs, new)).map(drop).map_err(|e| self.explain("placing an annotator", e))
    }
}

/// When and where a question was added, and its initial prompt.
pub(crate) fn question_added(c: &Connection, id: QuestionId) -> rusqlite::Result<Option<(Added, String)>> {
    let sql = "SELECT noted_at_ms, coalesce(position, id), prompt FROM questions WHERE id = ?1";
    first(c, sql, [id.0], |r| Ok(((r.get(0)?, r.get(1)?), r.get(2)?)))
}

/// A text of another copy.
#[derive(Debug)]
pub(crate) struct NotedText {
    pub(crate) text: Text,
    pub(crate) noted: Noted,
}

/// A text with hashes of its contents.
#[derive(Debug)]
pub(crate) struct TextDigest {
    pub(crate) id: TextId,
    pub(crate) external_id: String,
    pub(crate) body: u64,
    pub(crate) noted: u64,
}

/// All texts, by row id.
pub(crate) fn text_digests(c: &Connection) -> rusqlite::Result<Vec<TextDigest>> {
    let sql = format!("SELECT id, external_id, body, {COLUMNS} FROM texts ORDER BY id");
    all(c, &sql, [], |row| {
        let body = body_digest(row.get_ref(2)?.as_bytes().map_err(|e| bad(2, e))?);
        let mut noted = DefaultHasher::new();
        (3..9).try_for_each(|column| hash_of(row, column, &mut noted))?;
        let noted = noted.finish();
        Ok(TextDigest { id: TextId(row.get(0)?), external_id: row.get(1)?, body, noted })
    })
}

/// The hash of a body in [`TextDigest`].
pub(crate) fn body_digest(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    hasher.finish()
}

/// Hashes a value in its stored form.
pub(crate) fn hash_of(row: &Row<'_>, column: usize, into: &mut impl Hasher) -> rusqlite::Result<()> {
    match row.get_ref(column)? {
        ValueRef::Null => 0_u8.hash(into),
        ValueRef::Integer(value) => (1_u8, value).hash(into),
        ValueRef::Real(value) => (2_u8, value.to_bits()).hash(into),
        ValueRef::Text(value) | ValueRef::Blob(value) => (3_u8, value).hash(into),
    }
    Ok(())
}

impl Store {
    /// A text with its recorded data.
    pub(crate) fn noted_text(&self, id: TextId) -> Result<Option<NotedText>> {
        let sql = format!("SELECT {COLUMNS}, id, external_id, body FROM texts WHERE id = ?1");
        self.read("reading a text", |c| first(c, &sql, [id.0], noted_text))
    }

    /// The position of each annotator.
    pub(crate) fn annotator_places(&self) -> Result<BTreeMap<u32, i64>> {
        self.read("reading the annotators", |c| {
            all(c, "SELECT id, coalesce(position, id) FROM annotators", [], |r| Ok((r.get(0)?, r.get(1)?)))
        })
        .map(|places| places.into_iter().collect())
    }
}

fn noted_text(row: &Row<'_>) -> rusqlite::Result<NotedText> {
    let noted = Noted::read(row)?;
    let of = |name: &str| noted.value(name).map(str::to_owned);
    let text = Text {
        id: TextId(row.get(6)?),
        external_id: row.get(7)?,
        body: row.get(8)?,
        group: of(GROUP),
        split: of(SPLIT),
        metadata: json(row, 5).map_err(|e| bad(5, e))?,
    };
    Ok(NotedText { text, noted })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(added: Added, fields: &[(&str, i64, &str)]) -> Noted {
        let fields = fields.iter().map(|(name, at, value)| ((*name).to_owned(), (*at, (*value).to_owned())));
        Noted { added, fields: fields.collect() }
    }

    #[test]
    fn current_notes_are_independent_of_merge_order() {
        let all = [
            noted((5, 1), &[(SPLIT, 5, "train"), ("metadata:a", 5, "x")]),
            noted((7, 9), &[(SPLIT, 7, "test"), ("metadata:a", 3, "z")]),
            noted((7, 2), &[(GROUP, 7, "g"), (SPLIT, 7, "dev")]),
            noted((0, 4), &[(GROUP, 0, "h")]),
        ];
        let together =
            |order: &[usize]| order.iter().map(|at| all[*at].clone()).reduce(Noted::with).unwrap_or_default();
        let held = together(&[0, 1, 2, 3]);
        assert_eq!(
            (held.value(SPLIT), held.value(GROUP), held.value("metadata:a")),
            (Some("test"), Some("g"), Some("x"))
        );
        for order in [[3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
            assert_eq!(together(&order), held, "{order:?}");
        }
        assert_eq!(together(&[0, 1, 0, 1, 2, 3, 2]), held, "twice is once");
    }
}
