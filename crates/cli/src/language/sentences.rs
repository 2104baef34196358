//! Finds the sentence to which a text of the program belongs, and writes it in another language.
//!
//! The program writes English, with values filled in. Each of its sentences is in the catalogue, with
//! `{{name}}` for a value. A text is compared with all of them; the one with the most letters of its own
//! counts. The window does the same (`ui/src/messages/program/sentences.ts`); both pass the same cases.

use super::numbers::Numbers;
use regex::Regex;
use serde::Deserialize;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

/// How many letters of a sentence find it.
const LETTERS: usize = 6;
/// More parts than these are no message.
const MOST_PARTS: usize = 60;
/// How deep sentences are values of others, and how deep values are divided into sentences.
const DEEPEST: usize = 4;
const DEEPEST_DIVIDED: usize = 1;
/// So many times a text is compared with sentences before it stays English, whatever it is made of.
const MOST_LOOKED_UP: i32 = 1500;
/// More places than these, at which a known sentence may begin, are not tried.
const MOST_PLACES: usize = 12;
/// How many of the sentences that a text could belong to are compared.
const MOST_COMPARED: usize = 8;
/// From so many letters on a sentence may begin with a value of several words.
const FEWEST: i64 = 7;
/// How much is known of a sentence that must not be chosen.
const NOT_CHOSEN: i64 = i64::MIN / 2;

/// A translation, or one for each plural form of the first value that is a number.
#[derive(Deserialize, Clone)]
#[serde(untagged)]
pub(super) enum Translation {
    Same(String),
    Plural(BTreeMap<String, String>),
}

impl Translation {
    /// The translation for this plural form.
    fn form(&self, category: &str) -> &str {
        match self {
            Self::Same(text) => text,
            Self::Plural(forms) => {
                forms.get(category).or_else(|| forms.get("other")).map_or("", String::as_str)
            }
        }
    }
}

/// A sentence of the catalogue.
struct Pattern {
    /// The text between the values, and before and after them.
    literals: Vec<String>,
    /// The names of the values.
    names: Vec<String>,
    /// How many letters the literals have.
    own: i64,
    translation: Translation,
}

/// A text in the other language, and how many of its letters were found in the catalogue.
#[derive(Clone)]
struct Found {
    text: String,
    known: i64,
}

/// The sentences of the program in one language.
pub(super) struct Sentences {
    patterns: Vec<Pattern>,
    /// By their first letters; those that begin with a value by their last ones.
    by_letters: HashMap<String, Vec<usize>>,
    numbers: Numbers,
    /// The sign that ends a sentence.
    stop: &'static str,
    /// Results for the text that is being translated.
    found: RefCell<HashMap<(usize, String), Found>>,
    left: Cell<i32>,
}

impl Sentences {
    pub(super) fn new(translations: Vec<(String, Translation)>, numbers: Numbers) -> Self {
        let stop = if matches!(numbers.language(), "zh" | "ja") { "\u{3002}" } else { "." };
        let mut sentences = Self {
            patterns: Vec::with_capacity(translations.len()),
            by_letters: HashMap::new(),
            numbers,
            stop,
            found: RefCell::default(),
            left: Cell::new(0),
        };
        for (english, translation) in translations {
            let (literals, names) = parsed(&english);
            let (first, last) = (&literals[0], &literals[literals.len() - 1]);
            sentences.by_letters.entry(key_of(first, last)).or_default().push(sentences.patterns.len());
            let own = literals.iter().map(|literal| letters_of(literal)).sum();
            sentences.patterns.push(Pattern { literals, names, own, translation });
        }
        sentences
    }

    /// The text in this language; parts that are in no catalogue, such as names, stay as they are.
    pub(super) fn translate(&self, english: &str) -> String {
        self.found.borrow_mut().clear();
        self.left.set(MOST_LOOKED_UP);
        let found = self.outer(english, 0);
        if self.left.get() < 0 { english.to_owned() } else { found.text }
    }

    /// The translation of exactly this sentence, if the catalogue has it and it has no values.
    pub(super) fn without_values(&self, english: &str) -> Option<String> {
        let alike = self.by_letters.get(&key_of(english, english))?;
        let mut patterns = alike.iter().map(|&at| &self.patterns[at]);
        let found = patterns.find(|pattern| pattern.names.is_empty() && pattern.literals[0] == english)?;
        Some(found.translation.form("other").to_owned())
    }

    /// A sentence, or several; blanks around it stay.
    fn outer(&self, english: &str, depth: usize) -> Found {
        let inner = english.trim();
        if inner.is_empty() || depth > DEEPEST || self.left.get() < 0 {
            return unknown(english);
        }
        let whole = self.whole(inner, depth);
        let is_known = whole.known >= letters_of(&whole.text) && whole.known > 0;
        let found = if depth > DEEPEST_DIVIDED || is_known {
            whole
        } else {
            let divided = self.divided(inner, depth);
            if divided.known > whole.known { divided } else { whole }
        };
        let at = english.len() - english.trim_start().len();
        let text = [&english[..at], &found.text, &english[at + inner.len()..]].concat();
        Found { text, known: found.known }
    }

    /// The text as one sentence, also with a capital or a full stop that the catalogue lacks.
    fn whole(&self, english: &str, depth: usize) -> Found {
        let key = (depth, english.to_owned());
        let known = self.found.borrow().get(&key).cloned();
        let found = known.unwrap_or_else(|| self.looked_up(english, depth));
        self.found.borrow_mut().insert(key, found.clone());
        found
    }

    fn looked_up(&self, english: &str, depth: usize) -> Found {
        let without_stop = english.strip_suffix('.');
        for (text, stop) in
            [Some((english, "")), without_stop.map(|text| (text, self.stop))].into_iter().flatten()
        {
            let lower = with_first(text, |first| first.to_lowercase().collect());
            let forms = [Some(text), Some(lower.as_str()).filter(|lower| *lower != text)];
            for written in forms.into_iter().flatten() {
                let found = self.matched(written, depth);
                if found.known <= 0 {
                    continue;
                }
                let whole = if written == text { found.text } else { self.numbers.capitalised(&found.text) };
                let ends = whole.ends_with(['\u{3002}', '.', '!', '?']);
                let text = if ends { whole } else { whole + stop };
                return Found { text, known: found.known };
            }
        }
        unknown(english)
    }

    /// The text as exactly one sentence of the catalogue; as it is, with 0 known, if it is none.
    fn matched(&self, english: &str, depth: usize) -> Found {
        self.left.set(self.left.get() - 1);
        let mut best = unknown(english);
        if self.left.get() < 0 {
            return best;
        }
        let mut keys = vec![String::new()];
        for n in 1..=LETTERS {
            keys.push(key_of(first_letters(english, n), ""));
            keys.push(key_of("", last_letters(english, n)));
        }
        let mut seen = HashSet::new();
        let mut matches: Vec<(&Pattern, Vec<&str>)> = keys
            .iter()
            .filter(|key| seen.insert(key.as_str()))
            .filter_map(|key| self.by_letters.get(key))
            .flatten()
            .filter_map(|&at| Some((&self.patterns[at], values_in(&self.patterns[at], english)?)))
            .collect();
        matches.sort_by_key(|(pattern, _)| std::cmp::Reverse(pattern.own));
        for (pattern, values) in matches.into_iter().take(MOST_COMPARED) {
            let filled = self.filled(pattern, &values, depth);
            if filled.known > best.known {
                best = filled;
            }
        }
        best
    }

    fn filled(&self, pattern: &Pattern, values: &[&str], depth: usize) -> Found {
        let mut known = pattern.own;
        let literals = &pattern.literals;
        let mut parts = Vec::with_capacity(values.len());
        for (at, value) in self.apart(literals, values, depth).into_iter().enumerate() {
            // What is quoted is a name.
            if literals[at].ends_with(['"', '\'', '`']) && literals[at + 1].starts_with(['"', '\'', '`']) {
                parts.push(value);
                continue;
            }
            let found = self.value(&value, depth + 1);
            // A few letters at the end of any text prove nothing.
            let is_text = value.contains(' ') && self.numbers.of(&value).is_none();
            if at == 0 && literals[0].is_empty() && pattern.own < FEWEST && found.known == 0 && is_text {
                known = NOT_CHOSEN;
            }
            known += found.known;
            parts.push(found.text);
        }
        let number = values.iter().find(|value| is_plain_number(value));
        let category = number.map_or("other", |number| self.numbers.plural(number));
        let text = VALUE.replace_all(pattern.translation.form(category), |found: &regex::Captures<'_>| {
            let at = pattern.names.iter().position(|name| *name == found[1]);
            at.map_or_else(String::new, |at| parts[at].clone())
        });
        Found { text: text.into_owned(), known }
    }

    /// The values, with those that nothing separates divided where a known sentence begins.
    fn apart(&self, literals: &[String], values: &[&str], depth: usize) -> Vec<String> {
        let mut apart: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
        for at in (1..values.len()).rev() {
            if !literals[at].is_empty() {
                continue;
            }
            let both = [apart[at - 1].as_str(), &apart[at]].concat();
            let places = both.match_indices([' ', ',', ';', ':', '.', '(']).map(|(place, _)| place);
            let places = std::iter::once(0).chain(places.filter(|&place| place > 0)).take(MOST_PLACES);
            let (mut begin, mut most) = (both.len(), 0);
            for place in places {
                let known = self.outer(&both[place..], depth + 1).known;
                if known > most {
                    (begin, most) = (place, known);
                }
            }
            apart[at - 1] = both[..begin].to_owned();
            apart[at] = both[begin..].to_owned();
        }
        apart
    }

    /// A value: a number, a sentence, or a list of sentences in the catalogue; else as it is.
    fn value(&self, value: &str, depth: usize) -> Found {
        if let Some(text) = self.numbers.of(value) {
            return Found { text, known: 0 };
        }
        // A path or an address is a name, whatever words are in it.
        if PATH.is_match(value) {
            return unknown(value);
        }
        let found = self.outer(value, depth);
        if found.known > 0 {
            return found;
        }
        // So many of something.
        if let Some((_, [before, counted])) = COUNTED.captures(value).map(|found| found.extract()) {
            let things = self.whole(counted, depth + 1);
            if things.known > 0 {
                return Found { text: before.to_owned() + &things.text, known: things.known };
            }
        }
        let all: Vec<&str> = LIST.split(value).collect();
        if all.len() < 2 || all.len() > MOST_PARTS || depth > DEEPEST {
            return found;
        }
        let parts: Vec<Found> = all
            .into_iter()
            .map(|part| match self.numbers.of(part) {
                Some(text) => Found { text, known: 1 },
                None => self.whole(part, depth + 1),
            })
            .collect();
        if parts.iter().any(|part| part.known == 0) {
            return found;
        }
        let known = parts.iter().map(|part| part.known).sum();
        let texts: Vec<String> = parts.into_iter().map(|part| part.text).collect();
        let text = match value.contains(" and ") {
            true => self.numbers.list(&texts),
            false => texts.join(self.numbers.separator()),
        };
        Found { text, known }
    }

    /// The text as several sentences or clauses, each found on its own.
    fn divided(&self, english: &str, depth: usize) -> Found {
        let parts = unquoted_parts(english);
        if parts.len() < 3 || parts.len() > 2 * MOST_PARTS {
            return unknown(english);
        }
        let (mut text, mut known, mut at) = (String::new(), 0, 0);
        while at < parts.len() {
            let (mut found, mut end) = (unknown(&parts[at]), at + 1);
            // The longest beginning that is one sentence.
            for last in (at + 1..=parts.len()).rev().step_by(2).filter(|&last| at > 0 || last < parts.len()) {
                let whole = self.whole(&parts[at..last].concat(), depth + 1);
                if whole.known > 0 {
                    (found, end) = (whole, last);
                    break;
                }
            }
            text += &found.text;
            text += parts.get(end).map_or("", String::as_str);
            known += found.known;
            at = end + 1;
        }
        // Mostly English would be in two languages.
        if 2 * known >= letters_of(english) { Found { text, known } } else { unknown(english) }
    }
}

#[expect(clippy::expect_used, reason = "constant expressions, compiled in the tests")]
fn expression(text: &str) -> Regex {
    Regex::new(text).expect("a constant expression")
}

static VALUE: LazyLock<Regex> = LazyLock::new(|| expression(r"\{\{(\w+)\}\}"));
static PATH: LazyLock<Regex> = LazyLock::new(|| expression(r"^(?:[/~\\]|\w:[\\/]|\w+://)|^\S*[/\\]\S*$"));
static COUNTED: LazyLock<Regex> = LazyLock::new(|| expression(r"^([\d,]+ )(.+)$"));
static LIST: LazyLock<Regex> = LazyLock::new(|| expression(", and |, | and "));

fn unknown(text: &str) -> Found {
    Found { text: text.to_owned(), known: 0 }
}

/// The literals of a sentence, and the names of the values between them.
fn parsed(english: &str) -> (Vec<String>, Vec<String>) {
    let (mut literals, mut names, mut at) = (Vec::new(), Vec::new(), 0);
    for found in VALUE.captures_iter(english) {
        let Some(whole) = found.get(0) else { continue };
        literals.push(english[at..whole.start()].to_owned());
        names.push(found[1].to_owned());
        at = whole.end();
    }
    literals.push(english[at..].to_owned());
    (literals, names)
}

/// The parts of a text and the separators between them, in turn; nothing in quotation marks is a separator.
fn unquoted_parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for (at, part) in divisions(text).into_iter().enumerate() {
        let is_in_turn = at % 2 == parts.len() % 2;
        match parts.last_mut() {
            Some(last) if !is_in_turn || last.matches('"').count() % 2 == 1 => last.push_str(part),
            _ => parts.push(part.to_owned()),
        }
    }
    parts
}

/// A text divided after sentences and between clauses and lines: parts and separators in turn.
fn divisions(text: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut at) = (Vec::new(), 0, 0);
    while let Some(next) = text[at..].chars().next() {
        let after = text[..at].ends_with(['.', '!', '?', ':']) && next.is_whitespace();
        let rest = &text[at..];
        let length = match after {
            true => rest.len() - rest.trim_start().len(),
            false if next == '\n' => 1,
            false if rest.starts_with("; ") => 2,
            false => 0,
        };
        if length > 0 {
            parts.extend([&text[begin..at], &rest[..length]]);
            begin = at + length;
        }
        at += length.max(next.len_utf8());
    }
    parts.push(&text[begin..]);
    parts
}

/// The letters by which a sentence is found, from the text before its first value or after its last one.
fn key_of(first: &str, last: &str) -> String {
    match (first, last) {
        ("", "") => String::new(),
        ("", last) => format!("{}$", last_letters(last, LETTERS)),
        (first, _) => format!("^{}", first_letters(first, LETTERS)),
    }
}

fn first_letters(text: &str, n: usize) -> &str {
    text.char_indices().nth(n).map_or(text, |(at, _)| &text[..at])
}

fn last_letters(text: &str, n: usize) -> &str {
    text.char_indices().rev().nth(n - 1).map_or(text, |(at, _)| &text[at..])
}

/// How many letters a text has.
fn letters_of(text: &str) -> i64 {
    text.chars().filter(|c| c.is_alphabetic()).count() as i64
}

/// The text with another first letter.
pub(super) fn with_first(text: &str, change: impl Fn(char) -> String) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| change(first) + letters.as_str())
}

/// Whether the value is a number whose plural form counts.
fn is_plain_number(value: &str) -> bool {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match value.split_once('.') {
        Some((whole, decimals)) => is_digits(whole) && is_digits(decimals),
        None => is_digits(value),
    }
}

/// The values with which a sentence is this text; `None` if it is another text.
fn values_in<'t>(pattern: &Pattern, text: &'t str) -> Option<Vec<&'t str>> {
    let (literals, names) = (&pattern.literals, &pattern.names);
    let (first, last) = (&literals[0], &literals[literals.len() - 1]);
    if names.is_empty() {
        return (text == first).then(Vec::new);
    }
    let end = text.len().checked_sub(last.len()).filter(|end| *end >= first.len())?;
    if !text.starts_with(first.as_str()) || !text.ends_with(last.as_str()) {
        return None;
    }
    let mut values = Vec::with_capacity(names.len());
    let mut at = first.len();
    for literal in &literals[1..literals.len() - 1] {
        let next = at + text.get(at..end)?.find(literal.as_str())?;
        values.push(&text[at..next]);
        at = next + literal.len();
    }
    values.push(&text[at..end]);
    let first_of = |at: usize| names.iter().position(|name| *name == names[at]);
    let same = values
        .iter()
        .enumerate()
        .all(|(at, value)| first_of(at).is_some_and(|first| values[first] == *value));
    same.then_some(values)
}
