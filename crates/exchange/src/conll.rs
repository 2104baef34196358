//! Parses one block of a CoNLL file: comments, then one word a line with a tag, which become a text and a
//! list of spans.

use crate::RowErrorKind;
use crate::cells::Cells;
use dissensus_domain::{NamedSpan, list_of_spans};
use std::collections::{HashMap, HashSet};

/// The columns that every CoNLL file has as a table: the body and the spans of a block.
pub(crate) const TEXT: &str = "text";
pub(crate) const LABEL: &str = "label";
/// The suffix of a comment's key whose value is a JSON string.
pub(crate) const JSON: &str = ":json";
/// The comment that names the columns of words.
pub(crate) const COLUMNS: &str = "global.columns";
/// The word that begins a document in CoNLL-2003.
const DOCUMENT: &str = "-DOCSTART-";

/// A row error and the column it is about.
type Blame = (Option<String>, RowErrorKind);

/// The positions of words and tags in a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The column of words, from 0.
    pub(crate) word: usize,
    /// The column of tags, from 0; `None` for the last.
    pub(crate) tag: Option<usize>,
    /// The first column numbers the words: `1-2` and `8.1` are no words of their own.
    pub(crate) numbered: bool,
    /// The names of the columns, if the file contains them.
    pub(crate) names: Vec<String>,
    /// What the spans are called: `label`, or the column of tags by its name.
    pub(crate) label: String,
}

/// What a line of a block is.
pub(crate) enum Line<'a> {
    Comment(&'a str, &'a str),
    /// A comment without a key and a value.
    Note,
    Fields(Vec<&'a str>),
}

/// The result of parsing a block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// The cells were filled in.
    Row,
    /// Only comments, or the beginning of a document: no row.
    Nothing,
}

impl Layout {
    /// Detects the layout from the first lines of a file. Words are numbered where the first two are `1` and
    /// `2` (or `1` begins the next text).
    pub(crate) fn new<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let mut layout = Self { label: LABEL.to_owned(), ..Self::default() };
        let mut words: Vec<Vec<&str>> = Vec::new();
        for line in lines {
            match line_of(line) {
                Line::Comment(COLUMNS, names) => {
                    layout.names = names.split_whitespace().map(str::to_owned).collect();
                }
                Line::Fields(fields) if !matches!(fields.first(), None | Some(&"" | &DOCUMENT)) => {
                    words.push(fields);
                    if words.len() == 2 {
                        break;
                    }
                }
                _ => {}
            }
        }
        let named = |name: &str| layout.names.iter().position(|column| column.eq_ignore_ascii_case(name));
        let numbers: Vec<&str> = words
            .iter()
            .filter(|fields| fields.len() > 2)
            .filter_map(|fields| fields.first().copied())
            .collect();
        layout.numbered = match layout.names.is_empty() {
            true => matches!(numbers.as_slice(), ["1", "2" | "1"] | ["1-2" | "1-3", "1"]),
            false => named("id") == Some(0),
        };
        layout.word =
            named("form").or(named("word")).or(named("token")).unwrap_or(usize::from(layout.numbered));
        layout
    }

    /// The same with the tags of another column: by its name in `# global.columns`, or by its place from 1.
    pub(crate) fn with_tags(&self, column: &str) -> Option<Self> {
        let by_name = self.names.iter().position(|name| name == column);
        let tag = by_name.or_else(|| column.parse::<usize>().ok().and_then(|place| place.checked_sub(1)))?;
        (tag != self.word).then(|| Self { tag: Some(tag), label: column.to_owned(), ..self.clone() })
    }
}

/// Distinguishes comments from words. `# key = value` is a comment; so is a line that begins with `#` and is
/// not a word with a tag.
pub(crate) fn line_of(line: &str) -> Line<'_> {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    if let Some(comment) = line.strip_prefix('#').filter(|_| !line.starts_with("#\t")) {
        let comment = comment.trim_start();
        if let Some((key, value)) = comment.split_once(" =").filter(|(key, _)| !key.contains('\t')) {
            return Line::Comment(key.trim(), value.strip_prefix(' ').unwrap_or(value));
        }
    }
    let fields: Vec<&str> = match line.contains('\t') {
        true => line.split('\t').map(str::trim).collect(),
        false => line.split_whitespace().collect(),
    };
    let tagged = fields.len() > 1 && fields.last().is_some_and(|tag| Tag::new(tag).is_some());
    if line.starts_with('#') && !tagged { Line::Note } else { Line::Fields(fields) }
}

/// A tag of IOB1, IOB2, BIOES or BILOU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag<'a> {
    Outside,
    Begin(&'a str),
    Inside(&'a str),
    End(&'a str),
    Single(&'a str),
}

impl<'a> Tag<'a> {
    fn new(tag: &'a str) -> Option<Self> {
        if matches!(tag, "O" | "_") {
            return Some(Self::Outside);
        }
        let (prefix, kind) = tag.split_once('-')?;
        match (prefix, kind.trim()) {
            (_, "") => None,
            ("B", kind) => Some(Self::Begin(kind)),
            ("I", kind) => Some(Self::Inside(kind)),
            ("E" | "L", kind) => Some(Self::End(kind)),
            ("S" | "U", kind) => Some(Self::Single(kind)),
            _ => None,
        }
    }
}

/// Spreads a block over `columns` (their positions by name). `first_line` is its line in the file, from 1.
pub(crate) fn fill(
    block: &str,
    first_line: u64,
    layout: &Layout,
    columns: &HashMap<String, usize>,
    cells: &mut Cells,
) -> Result<Block, Blame> {
    let (comments, words) = parts(block, first_line, layout)?;
    let body = comments.iter().find(|(key, _)| key == TEXT).map(|(_, body)| body.as_str());
    if words.first().is_some_and(|(_, word, _)| *word == DOCUMENT) || (words.is_empty() && body.is_none()) {
        return Ok(Block::Nothing);
    }
    if words.is_empty() {
        let why = "comments tell a text, and no word follows: are they parted by a blank line?".to_owned();
        return Err((Some(TEXT.to_owned()), RowErrorKind::BadWordLine { line: first_line, why }));
    }
    let joined = words.iter().map(|(_, word, _)| *word).collect::<Vec<_>>().join(" ");
    let body = body.unwrap_or(&joined);
    let places = places(body, &words)?;
    let (spans, begun) = spans(&words, &places, layout)?;
    cells.begun_inside = begun;
    let list = list_of_spans(&spans);
    let mut slots: Vec<Option<&str>> = vec![None; columns.len()];
    for (key, value) in &comments {
        match columns.get(key) {
            Some(column) => slots[*column] = Some(value),
            None => cells.extra.push((key.clone(), value.clone())),
        }
    }
    for (key, value) in [(TEXT, body), (layout.label.as_str(), list.as_str())] {
        if let Some(column) = columns.get(key) {
            slots[*column] = Some(value);
        }
    }
    for slot in slots {
        cells.text.push_str(slot.unwrap_or_default());
        cells.end_value();
    }
    Ok(Block::Row)
}

/// Keys and values of comments.
type Comments = Vec<(String, String)>;
/// Words with their lines and tags.
type Words<'a> = Vec<(u64, &'a str, &'a str)>;

fn parts<'a>(block: &'a str, first_line: u64, layout: &Layout) -> Result<(Comments, Words<'a>), Blame> {
    let (mut comments, mut words) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for (line, content) in (first_line..).zip(block.lines()) {
        match line_of(content) {
            Line::Comment(COLUMNS, _) | Line::Note => {}
            Line::Comment(key, value) => {
                let (key, value) = comment(key, value, line)?;
                if key == layout.label || !seen.insert(key.clone()) {
                    return Err((Some(key), RowErrorKind::RepeatedKey));
                }
                comments.push((key, value));
            }
            Line::Fields(fields) if fields.iter().all(|field| field.is_empty()) => {}
            Line::Fields(fields) => words.extend(word(&fields, line, layout)?),
        }
    }
    Ok((comments, words))
}

fn comment(key: &str, value: &str, line: u64) -> Result<(String, String), Blame> {
    let Some(name) = key.strip_suffix(JSON) else { return Ok((key.to_owned(), value.to_owned())) };
    let why = |e: serde_json::Error| format!("what follows {key} is no JSON string: {e}");
    let read = serde_json::from_str(value.trim());
    read.map(|value| (name.to_owned(), value))
        .map_err(|e| (Some(name.to_owned()), RowErrorKind::BadWordLine { line, why: why(e) }))
}

/// Returns the word of a line and its tag; `None` for a line that counts several words or none.
fn word<'a>(
    fields: &[&'a str],
    line: u64,
    layout: &Layout,
) -> Result<Option<(u64, &'a str, &'a str)>, Blame> {
    let last = fields.len() - 1;
    let no_word = layout.numbered
        && fields[0].contains(['-', '.'])
        && fields[0].starts_with(|c: char| c.is_ascii_digit());
    if no_word {
        return Ok(None);
    }
    let bad =
        |column: &str, why: String| Err((Some(column.to_owned()), RowErrorKind::BadWordLine { line, why }));
    let tag = layout.tag.unwrap_or(last);
    let (Some(word), Some(tag)) = (fields.get(layout.word), fields.get(tag).filter(|_| tag != layout.word))
    else {
        let why = format!("{} where a word and a tag belong, between tabs or spaces", counted(fields.len()));
        return bad(&layout.label, why);
    };
    if word.is_empty() {
        return bad(TEXT, "there is no word".to_owned());
    }
    Ok(Some((line, word, tag)))
}

fn counted(values: usize) -> String {
    if values == 1 { "one value".to_owned() } else { format!("{values} values") }
}

/// Finds where each word begins and ends in the text, in Unicode scalar values. Words may be separated only
/// by white space.
fn places(body: &str, words: &Words<'_>) -> Result<Vec<(u32, u32)>, Blame> {
    let mut places = Vec::with_capacity(words.len());
    let (mut rest, mut at) = (body, 0);
    for (line, word, _) in words {
        let trimmed = rest.trim_start();
        at += rest[..rest.len() - trimmed.len()].chars().count() as u32;
        let Some(after) = trimmed.strip_prefix(word) else {
            let found: String = trimmed.chars().take(20).collect();
            let why = format!("the word \"{word}\" is not where the text goes on with \"{found}\"");
            return Err((Some(TEXT.to_owned()), RowErrorKind::BadWordLine { line: *line, why }));
        };
        let end = at + word.chars().count() as u32;
        places.push((at, end));
        (rest, at) = (after, end);
    }
    match (rest.trim(), words.last()) {
        ("", _) | (_, None) => Ok(places),
        (rest, Some((line, ..))) => {
            let found: String = rest.chars().take(20).collect();
            let why = format!("the text goes on with \"{found}\" behind the last word");
            Err((Some(TEXT.to_owned()), RowErrorKind::BadWordLine { line: *line, why }))
        }
    }
}

/// Decodes tags to spans, and counts those that begin inside: with `I-` or `E-`, like every span in IOB1 that
/// does not directly follow another.
fn spans(words: &Words<'_>, places: &[(u32, u32)], layout: &Layout) -> Result<(Vec<NamedSpan>, u32), Blame> {
    let mut spans: Vec<NamedSpan> = Vec::new();
    let mut begun = 0;
    // The type of the span that the next word may continue.
    let mut open: Option<&str> = None;
    for ((line, _, tag), (start, end)) in words.iter().zip(places) {
        let Some(read) = Tag::new(tag) else {
            let why = format!("\"{tag}\" is no tag: write O, B-TYPE or I-TYPE (or E- and S-, or L- and U-)");
            return Err((Some(layout.label.clone()), RowErrorKind::BadWordLine { line: *line, why }));
        };
        let (kind, inside) = match read {
            Tag::Outside => {
                open = None;
                continue;
            }
            Tag::Begin(kind) | Tag::Single(kind) => (kind, false),
            Tag::Inside(kind) | Tag::End(kind) => (kind, true),
        };
        match spans.last_mut().filter(|_| inside && open == Some(kind)) {
            Some(span) => span.end = *end,
            None => {
                begun += u32::from(inside);
                spans.push(NamedSpan { start: *start, end: *end, label: kind.to_owned() });
            }
        }
        open = matches!(read, Tag::Begin(_) | Tag::Inside(_)).then_some(kind);
    }
    Ok((spans, begun))
}

/// Whether a line is blank, which ends a block.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}
