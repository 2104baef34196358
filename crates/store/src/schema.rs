//! Checks that the schema of a file is the one created by the migrations.
//!
//! A file from someone else could contain triggers and views that act when we read or write, or
//! tables without the constraints that we rely on. Every part of the schema must therefore be one
//! of ours, with the same definition. Definitions are compared token by token, since `ALTER TABLE`
//! rewrites them, and other versions of SQLite may use different spaces, quotes or comments.

use crate::migrate::apply;
use crate::sync::lock;
use rusqlite::{Connection, OptionalExtension};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

/// Tables that SQLite itself creates: statistics by `ANALYZE`, counters by `AUTOINCREMENT`.
const OF_SQLITE: [&str; 3] = [
    "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
    "CREATE TABLE sqlite_sequence(name,seq)",
];

/// An object of a schema: kind, name, table, and the tokens of its definition.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    kind: String,
    name: String,
    table: String,
    definition: Option<Vec<String>>,
}

/// The first part of the schema that differs from the result of the migrations up to `version`, if
/// any.
pub(crate) fn difference(
    conn: &Connection,
    migrations: &[&str],
    version: u32,
) -> rusqlite::Result<Option<String>> {
    let (ours, theirs) = (made_by(&migrations[..(version as usize).min(migrations.len())])?, parts(conn)?);
    let named = |kind: &str, name: &str| format!("{kind} \"{}\"", name.replace('\0', "\\0"));
    // SQLite reads a definition up to the first NUL, but we would compare what follows too.
    let cut = "SELECT type, name FROM sqlite_schema
               WHERE instr(CAST(concat(type, name, tbl_name, sql) AS BLOB), x'00') LIMIT 1";
    let cut = conn.query_row(cut, [], |r| Ok(named(&r.get::<_, String>(0)?, &r.get::<_, String>(1)?)));
    if let Some(cut) = cut.optional()? {
        return Ok(Some(cut));
    }
    let named = |p: &Part| named(&p.kind, &p.name);
    let odd = theirs.iter().find(|p| !ours.contains(p)).map(named);
    let lost = || ours.iter().find(|p| !theirs.contains(p)).map(named);
    Ok(odd.or_else(lost))
}

/// The schema created by the migrations, cached: this halves the time to open a project, and
/// merging submissions opens many.
fn made_by(migrations: &[&str]) -> rusqlite::Result<Arc<Vec<Part>>> {
    static MADE: Mutex<Vec<(u64, Arc<Vec<Part>>)>> = Mutex::new(Vec::new());
    let mut hasher = DefaultHasher::new();
    migrations.hash(&mut hasher);
    let key = hasher.finish();
    let known = |made: &[(u64, Arc<Vec<Part>>)]| {
        made.iter().find(|(of, _)| *of == key).map(|(_, parts)| Arc::clone(parts))
    };
    if let Some(parts) = known(&lock(&MADE)) {
        return Ok(parts);
    }
    let mut fresh = Connection::open_in_memory()?;
    apply(&mut fresh, migrations, 0)?;
    let parts = Arc::new(parts(&fresh)?);
    lock(&MADE).push((key, Arc::clone(&parts)));
    Ok(parts)
}

fn parts(conn: &Connection) -> rusqlite::Result<Vec<Part>> {
    let own: Vec<Vec<String>> = OF_SQLITE.iter().map(|sql| tokens(sql)).collect();
    let all: Vec<Part> = conn
        .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name")?
        .query_map([], |r| {
            let definition: Option<String> = r.get(3)?;
            Ok(Part {
                kind: r.get(0)?,
                name: r.get(1)?,
                table: r.get(2)?,
                definition: definition.map(|sql| tokens(&sql)),
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let of_sqlite = |p: &Part| p.kind == "table" && p.definition.as_ref().is_some_and(|d| own.contains(d));
    Ok(all.into_iter().filter(|p| !of_sqlite(p)).collect())
}

/// The tokens of an SQL statement. Comments and white space are omitted, names lose their quotes,
/// and everything except strings is in lower case, as SQLite compares it.
fn tokens(sql: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = sql.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '-' if rest.starts_with("--") => (None, rest.find('\n').map_or(rest.len(), |end| end + 1)),
            '/' if rest.starts_with("/*") => (None, rest.find("*/").map_or(rest.len(), |end| end + 2)),
            '\'' => {
                let length = quoted(rest, '\'');
                (Some(rest[..length].to_owned()), length)
            }
            '"' | '`' => {
                let length = quoted(rest, first);
                let doubled = String::from_iter([first, first]);
                let name = rest[1..length].strip_suffix(first).unwrap_or(&rest[1..length]);
                (Some(name.replace(&doubled, &first.to_string()).to_lowercase()), length)
            }
            '[' => {
                let length = rest.find(']').map_or(rest.len(), |end| end + 1);
                (Some(rest[1..length].trim_end_matches(']').to_lowercase()), length)
            }
            c if in_word(c) => {
                let length = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
                (Some(rest[..length].to_lowercase()), length)
            }
            c => (Some(c.to_string()), c.len_utf8()),
        };
        out.extend(token);
        rest = rest[length..].trim_start();
    }
    out
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The length of the quoted token at the beginning; a doubled quote is part of it.
fn quoted(text: &str, quote: char) -> usize {
    let mut at = 1;
    while let Some(end) = text[at..].find(quote) {
        at += end + 1;
        if !text[at..].starts_with(quote) {
            return at;
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::{MIGRATIONS, newest};

    fn detected_change(change: &str) -> Option<String> {
        let mut conn = Connection::open_in_memory().unwrap();
        apply(&mut conn, MIGRATIONS, 0).unwrap();
        conn.execute_batch(change).unwrap();
        difference(&conn, MIGRATIONS, newest(MIGRATIONS)).unwrap()
    }

    #[test]
    fn every_schema_change_is_detected() {
        assert_eq!(detected_change(""), None);
        for (change, what) in [
            ("CREATE TRIGGER sly AFTER INSERT ON texts BEGIN DELETE FROM settings; END", "trigger \"sly\""),
            ("CREATE VIEW sly AS SELECT 1", "view \"sly\""),
            ("CREATE TABLE sqlite (a)", "table \"sqlite\""),
            ("DROP TRIGGER texts_keep_their_body", "trigger \"texts_keep_their_body\""),
            ("ALTER TABLE settings ADD COLUMN more TEXT", "table \"settings\""),
            ("CREATE INDEX more ON texts (body)", "index \"more\""),
            (
                "DROP TABLE settings; CREATE TABLE settings (key TEXT PRIMARY KEY CHECK (key <> 'x'),
                 value TEXT NOT NULL CHECK (json_valid(value))) STRICT, WITHOUT ROWID",
                "table \"settings\"",
            ),
        ] {
            assert_eq!(detected_change(change).as_deref(), Some(what), "{change}");
        }
    }

    #[test]
    fn statistics_and_formatting_are_no_change() {
        assert_eq!(detected_change("ANALYZE"), None);
        let rewritten = r#"DROP TABLE settings;
            create  table [settings] ( "key" text primary key check(`key`<>''), -- the name
            /* any JSON */ value TEXT NOT NULL CHECK (json_valid("value"))) STRICT,WITHOUT ROWID"#;
        assert_eq!(detected_change(rewritten), None);
    }

    #[test]
    fn tables_with_sqlite_names_must_be_sqlites() {
        let mut conn = Connection::open_in_memory().unwrap();
        apply(&mut conn, MIGRATIONS, 0).unwrap();
        conn.execute_batch("ANALYZE; PRAGMA writable_schema = on").unwrap();
        conn.execute("UPDATE sqlite_schema SET sql = 'CREATE TABLE sqlite_stat1(tbl, idx, stat, more)' WHERE name = 'sqlite_stat1'", [])
            .unwrap();
        let found = difference(&conn, MIGRATIONS, newest(MIGRATIONS)).unwrap();
        assert_eq!(found.as_deref(), Some("table \"sqlite_stat1\""));
    }

    #[test]
    fn nul_character_is_detected_anywhere() {
        for (change, what) in [
            (
                "sql = replace(sql, 'STRICT', '/* ' || char(0) || ' */ STRICT') WHERE name = 'texts'",
                "table \"texts\"",
            ),
            (
                "sql = sql || char(0) WHERE name = 'texts_keep_their_body'",
                "trigger \"texts_keep_their_body\"",
            ),
            ("sql = sql || ' -- ' || char(0) || ' x' WHERE name = 'facts'", "table \"facts\""),
        ] {
            let mut conn = Connection::open_in_memory().unwrap();
            apply(&mut conn, MIGRATIONS, 0).unwrap();
            conn.execute_batch("PRAGMA writable_schema = on").unwrap();
            conn.execute(&format!("UPDATE sqlite_schema SET {change}"), []).unwrap();
            let found = difference(&conn, MIGRATIONS, newest(MIGRATIONS)).unwrap();
            assert_eq!(found.as_deref(), Some(what), "{change}");
        }
    }

    #[test]
    fn schema_text_is_normalised() {
        assert_eq!(tokens("A 'It''s' \"b\"\"C\" -- x\n[d e]"), ["a", "'It''s'", "b\"c", "d e"]);
        assert_ne!(tokens("'A'"), tokens("'a'"));
        assert_eq!(tokens("'open"), ["'open"]);
    }
}
