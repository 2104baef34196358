//! Facts about an annotation file, collected in a first pass: its questions, its data about texts and
//! annotators, and irregularities.

use crate::annotations::item::{Finding, GivenAnswer, Item, Items};
use crate::annotations::parts::Part;
use crate::row_error::RowErrorKind;
use crate::time::parse_ms;
use dissensus_domain::{Scale, ScaleError, ScaleKind};
use foldhash::quality::RandomState;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::BuildHasher;

/// The columns of rows, in order; data about texts follow them.
pub(crate) const TEXT_ID: &str = "text_id";
pub(crate) const ANNOTATOR: &str = "annotator_id";
pub(crate) const QUESTION: &str = "question";
pub(crate) const LABEL: &str = "label";
pub(crate) const TIME: &str = "created_at";
pub(crate) const DURATION: &str = "duration_ms";
pub(crate) const OCCASION: &str = "occasion";
pub(crate) const NOTE: &str = "note";
pub(crate) const MARKS: &str = "marks";
pub(crate) const SPLIT: &str = "split";
pub(crate) const STANDARD: [&str; 10] =
    [TEXT_ID, ANNOTATOR, QUESTION, LABEL, TIME, DURATION, OCCASION, NOTE, MARKS, SPLIT];

/// Maximum number of keys of data that become columns; further keys are metadata all the same.
const MAX_KEYS: usize = 1000;
/// Names of keys that hold bodies, the likeliest first.
const BODIES: &[&str] = &[
    "text",
    "body",
    "comment",
    "sentence",
    "content",
    "tweet",
    "post",
    "message",
    "utterance",
    "statement",
    "review",
];

/// What a file specifies about a question in addition to its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    pub name: String,
    pub kind: ScaleKind,
    /// Its levels, options or types; empty if they have to be derived from the answers.
    pub levels: Vec<String>,
}

impl Hint {
    /// Returns the scale, if levels are known; `None` if they have to be derived from the answers.
    ///
    /// # Errors
    /// Levels that make no valid scale.
    pub fn scale(&self) -> Option<Result<Scale, ScaleError>> {
        (!self.levels.is_empty()).then(|| Scale::new(self.kind, &self.levels))
    }
}

/// Something in a file that is not a plain answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings {
    /// Stable, kebab-case.
    pub code: &'static str,
    /// How many there are.
    pub count: u64,
    /// What it is and how it is treated, a sentence without its full stop.
    pub message: String,
}

/// What answers to a question look like.
#[derive(Clone, Debug, Default)]
struct Question {
    answers: u64,
    /// Names of levels, options or types in alphabetical order, at most one more than can be.
    names: BTreeSet<String>,
    rating: bool,
    spans: bool,
    several: bool,
    single: bool,
    declared: Option<(ScaleKind, Vec<String>)>,
}

/// Statistics on a key of texts.
#[derive(Clone, Debug, Default)]
struct Key {
    count: u64,
    length: u64,
    structured: bool,
}

/// The answers of one annotator to one text and question.
#[derive(Clone, Debug, Default)]
struct AnswerTimes(Vec<(Option<i64>, u64, (u64, u16))>);

/// Facts about a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Texts, answers and skips, as far as they can be read.
    pub(crate) items: u64,
    /// Number of parts and items that cannot be read.
    pub(crate) troubles: u64,
    /// The first of them, with its position.
    pub(crate) trouble: Option<String>,
    answers: u64,
    order: Vec<String>,
    questions: HashMap<String, Question>,
    keys: Vec<String>,
    of_key: HashMap<String, Key>,
    bodies: HashMap<String, u64>,
    attributes: BTreeSet<String>,
    has: HashSet<&'static str>,
    met: BTreeMap<Finding, u64>,
    skips: u64,
    flags: u64,
    given: HashMap<u64, AnswerTimes, foldhash::fast::RandomState>,
    hasher: Option<RandomState>,
    /// The annotation round of later answers, by the number of their item and their index in it.
    occasions: HashMap<(u64, u16), u16>,
    /// Questions whose answers are not levels, and why.
    free: BTreeMap<String, &'static str>,
    body: Option<String>,
    /// An item is complete and lacks an answer with spans.
    whole: bool,
    /// Questions answered with spans, which every complete item answers.
    implied: Vec<String>,
    empty: u64,
}

impl Facts {
    /// Returns the facts to begin a second pass with, if complete items answer questions that they do not
    /// name.
    pub(crate) fn again(&self) -> Option<Self> {
        let spans = |name: &&String| self.questions.get(*name).is_some_and(|question| question.spans);
        let implied: Vec<String> = self.order.iter().filter(spans).cloned().collect();
        (self.whole && !implied.is_empty()).then(|| Self { implied, ..Self::default() })
    }

    /// Adds empty answers to a complete item for the questions on spans that it does not mention.
    pub(crate) fn complete(&self, item: &mut Item) {
        if item.whole {
            for name in &self.implied {
                if !item.answers.iter().any(|(question, _)| question.as_ref() == Some(name)) {
                    item.answer(name.clone(), GivenAnswer::Spans(Vec::new()));
                }
            }
        }
    }

    /// Adds the contents of a part.
    pub(crate) fn take(&mut self, part: &Part, items: Items) {
        for (met, count) in items.met {
            *self.met.entry(met).or_default() += count;
        }
        for (name, kind, levels) in items.declared {
            let question = self.question(&name);
            let (known, all) = question.declared.get_or_insert((kind, Vec::new()));
            *known = kind;
            for level in levels {
                if !all.contains(&level) && all.len() <= Scale::MAX_LEVELS {
                    all.push(level);
                }
            }
        }
        for key in items.bodies {
            *self.bodies.entry(key).or_default() += 1;
        }
        for item in items.found {
            match item {
                Ok(mut item) => {
                    self.complete(&mut item);
                    self.item(&item);
                }
                Err(fault) => self.trouble(part.line, &fault.place, &fault.kind),
            }
        }
    }

    /// Counts a part that cannot be read, and stores the first error.
    pub(crate) fn trouble(&mut self, line: u64, place: &str, kind: &RowErrorKind) {
        self.troubles += 1;
        let place = if place.is_empty() { String::new() } else { format!(", {place}") };
        self.trouble.get_or_insert_with(|| format!("line {line}{place}: {kind}"));
    }

    fn question(&mut self, name: &str) -> &mut Question {
        if !self.questions.contains_key(name) {
            self.order.push(name.to_owned());
        }
        self.questions.entry(name.to_owned()).or_default()
    }

    fn item(&mut self, item: &Item) {
        let number = self.items;
        self.items += 1;
        for (name, there) in [
            (TEXT_ID, item.text_id.is_some()),
            (ANNOTATOR, item.annotator.is_some()),
            (TIME, item.at.is_some()),
            (DURATION, item.duration_ms.is_some()),
            (NOTE, !item.note.is_empty()),
            (SPLIT, item.split.is_some()),
        ] {
            if there {
                self.has.insert(name);
            }
        }
        self.flags += u64::from(item.flagged);
        self.whole |= item.whole;
        self.empty += u64::from(item.answers.is_empty() && item.annotator.is_some() && !item.data.is_empty());
        for (name, _) in &item.attributes {
            if !self.attributes.contains(name) {
                self.attributes.insert(name.clone());
            }
        }
        for (key, value) in &item.data {
            if !self.of_key.contains_key(key) {
                if self.keys.len() >= MAX_KEYS {
                    continue;
                }
                self.keys.push(key.clone());
            }
            let known = self.of_key.entry(key.clone()).or_default();
            known.count += 1;
            known.length += value.len() as u64;
            known.structured |= value.starts_with(['[', '{']);
        }
        for (nth, (name, given)) in item.answers.iter().enumerate() {
            if *given == GivenAnswer::Skipped {
                self.skips += 1;
                if let Some(name) = name {
                    self.question(name);
                }
                continue;
            }
            let name = name.as_deref().unwrap_or(LABEL);
            self.answers += 1;
            self.answer(name, given);
            self.given(item, name, given, (number, nth as u16));
        }
    }

    fn answer(&mut self, name: &str, answer: &GivenAnswer) {
        let question = self.question(name);
        question.answers += 1;
        let names = &mut question.names;
        let mut add = |level: &str| {
            if names.len() <= Scale::MAX_LEVELS && !names.contains(level) {
                names.insert(level.to_owned());
            }
        };
        match answer {
            GivenAnswer::One(level) => {
                question.single = true;
                add(level);
            }
            GivenAnswer::Rating(level) => {
                question.rating = true;
                add(level);
            }
            GivenAnswer::Several(options) => {
                question.several |= options.len() != 1;
                options.iter().for_each(|option| add(option));
            }
            GivenAnswer::Spans(spans) => {
                question.spans = true;
                spans.iter().for_each(|(.., kind)| add(kind));
            }
            GivenAnswer::Skipped => {}
        }
    }

    /// Records an answer, so that a second one of the same annotator is recognised.
    fn given(&mut self, item: &Item, question: &str, answer: &GivenAnswer, place: (u64, u16)) {
        let Some(annotator) = &item.annotator else { return };
        let hasher = self.hasher.get_or_insert_with(RandomState::default);
        let key = hasher.hash_one((annotator, &item.text_id, text_key(item), question));
        let at = item.at.as_deref().and_then(parse_ms);
        self.given.entry(key).or_default().0.push((at, hasher.hash_one(answer), place));
    }

    /// Derives what depends on the whole file.
    pub(crate) fn conclude(&mut self) {
        let mut repeats = 0;
        for (_, mut given) in std::mem::take(&mut self.given) {
            if given.0.len() < 2 {
                continue;
            }
            // By time; those without one by their position in the file.
            given.0.sort_by_key(|(at, _, place)| (*at, *place));
            let mut before: Vec<(Option<i64>, u64)> = Vec::new();
            for (at, hash, place) in given.0 {
                // The same answer at the same time is a duplicate in the file.
                if before.contains(&(at, hash)) {
                    continue;
                }
                before.push((at, hash));
                if before.len() > 1 {
                    repeats += 1;
                    self.occasions.insert(place, u16::try_from(before.len()).unwrap_or(u16::MAX));
                }
            }
        }
        for (name, question) in &self.questions {
            if let Some(why) = question.free() {
                self.free.insert(name.clone(), why);
            }
        }
        self.body = self.find_body();
        self.count_irregularity(
            "skips",
            self.skips,
            "Skipped texts",
            "Kept as skipped, unless the person has answered all the same",
        );
        self.count_irregularity(
            "without-answer",
            self.empty,
            "Annotations without an answer",
            "Their texts and people are imported",
        );
        self.count_irregularity("flags", self.flags, "Texts flagged", "Kept as flags");
        self.count_irregularity(
            "later-occasions",
            repeats,
            "Second and later answers of a person to the same text",
            "Kept as later annotation rounds, apart from labels",
        );
        let free: Vec<(String, &'static str, u64)> = self
            .free
            .iter()
            .map(|(name, why)| (name.clone(), *why, self.questions.get(name).map_or(0, |q| q.answers)))
            .filter(|(.., answers)| *answers > 0)
            .collect();
        for (name, why, answers) in free {
            let what = format!("Answers to \"{name}\"");
            self.met.insert(Finding { code: "not-read", what: what.into(), became: why.into() }, answers);
        }
    }

    fn count_irregularity(
        &mut self,
        code: &'static str,
        count: u64,
        what: &'static str,
        became: &'static str,
    ) {
        if count > 0 {
            self.met.insert(Finding { code, what: what.into(), became: became.into() }, count);
        }
    }

    /// Finds the key that holds the bodies: the one that answers are about, one with a usual name, or the one
    /// with the longest values.
    fn find_body(&self) -> Option<String> {
        let usual = |key: &&String| !self.of_key.get(*key).is_some_and(|about| about.structured);
        let about = self.bodies.iter().filter(|(key, _)| self.of_key.contains_key(*key));
        let about = about.max_by_key(|(key, count)| (**count, std::cmp::Reverse((*key).clone())));
        if let Some((key, _)) = about {
            return Some(key.clone());
        }
        let named =
            BODIES.iter().find_map(|name| self.keys.iter().find(|key| key.eq_ignore_ascii_case(name)));
        let mean = |key: &&String| self.of_key.get(*key).map_or(0, |about| about.length / about.count.max(1));
        named.or_else(|| self.keys.iter().filter(usual).max_by_key(mean)).cloned()
    }

    /// Whether anything in the file can be imported: texts, or answers.
    pub(crate) fn is_of_use(&self) -> bool {
        let not_read = self.met.keys().any(|met| met.code == "not-read");
        let answers = self.answers
            - self.free.keys().filter_map(|name| Some(self.questions.get(name)?.answers)).sum::<u64>();
        answers + self.skips > 0 || (self.items > 0 && !not_read)
    }

    /// The irregularities, in a stable order.
    pub(crate) fn irregularities(&self) -> Vec<Findings> {
        let reported = |(met, count): (&Finding, &u64)| Findings {
            code: met.code,
            count: *count,
            message: format!("{}: {count}. {}", met.what, met.became),
        };
        self.met.iter().map(reported).collect()
    }

    /// The questions that are imported, in order of appearance.
    pub(crate) fn questions(&self) -> impl Iterator<Item = &str> {
        self.order.iter().map(String::as_str).filter(|name| self.supports(name))
    }

    /// The names of the questions that are imported.
    pub(crate) fn names(&self) -> Vec<String> {
        self.questions().map(str::to_owned).collect()
    }

    /// Whether answers to this question can be levels, options or spans.
    pub(crate) fn supports(&self, question: &str) -> bool {
        !self.free.contains_key(question)
    }

    /// Whether answers to this question are sets of options.
    pub(crate) fn is_set(&self, question: &str) -> bool {
        self.questions.get(question).is_some_and(Question::is_set)
    }

    /// The annotation round of an answer, if it is a later one.
    pub(crate) fn occasion(&self, item: u64, answer: u16) -> Option<u16> {
        self.occasions.get(&(item, answer)).copied()
    }

    /// Returns what the answers do not imply by themselves.
    pub(crate) fn hints(&self) -> Vec<Hint> {
        let hint = |name: &str| Some((name.to_owned(), self.questions.get(name)?.hint()?));
        let found = self.questions().filter_map(hint);
        found.map(|(name, (kind, levels))| Hint { name, kind, levels }).collect()
    }

    /// The column of a key of texts: its own name, unless a role uses it.
    pub(crate) fn column_of(key: &str) -> String {
        match STANDARD.contains(&key) {
            true => format!("data.{key}"),
            false => key.to_owned(),
        }
    }

    /// The columns of the rows.
    pub(crate) fn columns(&self) -> Vec<String> {
        let asked = self.answers + self.skips > 0;
        let there = |name: &&&str| match **name {
            QUESTION | LABEL => asked,
            OCCASION => !self.occasions.is_empty(),
            MARKS => self.skips + self.flags > 0,
            name => self.has.contains(name),
        };
        let mut columns: Vec<String> = STANDARD.iter().filter(there).map(|name| (*name).to_owned()).collect();
        let more = self.attributes.iter().cloned().chain(self.keys.iter().map(|key| Self::column_of(key)));
        for column in more {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns
    }

    /// The column that holds the bodies.
    pub(crate) fn body(&self) -> Option<String> {
        self.body.as_deref().map(Self::column_of)
    }

    /// The columns that describe annotators.
    pub(crate) fn attributes(&self) -> Vec<String> {
        self.attributes.iter().cloned().collect()
    }

    /// Whether the file describes annotators and no texts.
    pub(crate) fn is_of_people(&self) -> bool {
        self.keys.is_empty() && self.answers == 0 && !self.has.contains(TEXT_ID)
    }
}

impl Question {
    fn is_set(&self) -> bool {
        self.several || self.declared.as_ref().is_some_and(|(kind, _)| kind.rules().form().is_set())
    }

    /// Returns why answers cannot be levels of a question.
    fn free(&self) -> Option<&'static str> {
        let options = self.names.len() > Scale::MAX_OPTIONS;
        match () {
            () if self.spans && self.names.is_empty() && self.declared.is_none() => {
                Some("Left out: no span is among them, so that the types of spans are not known")
            }
            () if self.spans && options => {
                Some("Left out: there are more different types of spans than a question can have")
            }
            () if self.is_set() && options => {
                Some("Left out: there are more different options than a question can have, as in free texts")
            }
            () if self.names.len() > Scale::MAX_LEVELS => Some(
                "Left out: there are more different answers than a scale can have levels, as in free texts",
            ),
            () => None,
        }
    }

    fn hint(&self) -> Option<(ScaleKind, Vec<String>)> {
        let with_seen = |declared: &[String]| {
            let mut levels = declared.to_vec();
            levels.extend(self.names.iter().filter(|name| !declared.contains(name)).cloned());
            levels
        };
        match &self.declared {
            Some((kind, levels)) => {
                let kind = if self.is_set() { ScaleKind::MultiLabel } else { *kind };
                Some((kind, with_seen(levels)))
            }
            None if self.spans => Some((ScaleKind::Spans, with_seen(&[]))),
            None if self.is_set() => Some((ScaleKind::MultiLabel, with_seen(&[]))),
            None if self.rating && !self.single => Some((ScaleKind::Ordinal, Vec::new())),
            None => None,
        }
    }
}

/// Returns the value that identifies the text of an item without an id.
fn text_key(item: &Item) -> Option<&str> {
    match item.text_id {
        Some(_) => None,
        None => item.data.first().map(|(_, value)| value.as_str()),
    }
}
