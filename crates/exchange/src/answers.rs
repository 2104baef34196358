//! The labels of one question, from the project and from earlier rows: what a row adds, and what it only
//! repeats.

use crate::changes::{Change, ChangeKind, Changes};
use crate::level_name::{answer_on, folded_on, folded_set_on, level_name};
use crate::reading::ordered_scale;
use crate::row::Row;
use crate::row_error::RowErrorKind;
use crate::time::latest_meant;
use crate::verdict::LabelVerdict;
use dissensus_domain::{
    Answer, CANNOT_SAY, LevelId, Scale, ScaleError, contradicts_itself, option_names, reads_as_spans,
    spans_named,
};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::BuildHasher;

const NONE: u32 = u32::MAX;
/// Numbers from here on are hashes of answers beyond those that are counted by name.
const HASHED: u32 = 1 << 31;
/// The number of the "cannot say" answer; names and sets have lower ones.
const CANNOT_SAY_NUMBER: u32 = HASHED - 1;

/// How many of the project's labels of one annotator and text are searched for a re-annotation.
const LOOKED_AT: usize = 64;

/// Numbers of answers without a scale, by name.
type Numbers = HashMap<String, u32, foldhash::fast::RandomState>;

/// Sets of options or of spans by their number: too many are possible for the set itself to be one.
#[derive(Clone, Debug, Default)]
struct Sets(HashMap<Answer, u32, foldhash::fast::RandomState>);

impl Sets {
    fn number(&mut self, set: &Answer) -> u32 {
        if let Some(number) = self.0.get(set) {
            return *number;
        }
        let number = self.0.len() as u32;
        self.0.insert(set.clone(), number);
        number
    }

    /// Returns the set with this number by linear search: only needed for a few that are displayed.
    fn numbered(&self, number: u32) -> Option<&Answer> {
        self.0.iter().find(|(_, known)| **known == number).map(|(set, _)| set)
    }
}

/// A label that the project has, by the checker's numbers of its text and its annotator.
#[derive(Clone, Debug)]
pub struct KnownLabel {
    pub text: u32,
    pub annotator: u32,
    /// On the scale of the question.
    pub answer: Answer,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// Given in the window or by the command.
    pub given: bool,
    /// Whether it is the current label of its annotator and text; the others are in its history.
    pub current: bool,
}

/// The existing answers to one question.
///
/// An annotator's answers to one text are a list in the order in which they were appended. Rows with a time
/// are compared with all of them: the same answer at the same time is a repetition. Rows without one are
/// compared in order: each either occurs further down in the project's list, or it and all that follow are
/// new. So a file 3, 4, 3 adds three answers, and none when it is read again.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    scale: Option<Scale>,
    /// The first scale that a row gives the question, whether it is used or not.
    given_scale: Option<Scale>,
    /// The first scale of a row that is another one, and how many rows have such a one.
    other_scale: Option<(Scale, u64)>,
    /// Names of answers without a scale, by their number.
    numbers: Numbers,
    sets: Sets,
    levels: BTreeMap<String, u64>,
    /// The names that answers are made of where these are sets of options, and how many answers have each.
    options: BTreeMap<String, u64>,
    /// The types of the spans that answers list, and how many answers have each.
    types: BTreeMap<String, u64>,
    lists: HashMap<u64, List, foldhash::fast::RandomState>,
    entries: Vec<Entry>,
    /// Entries from here on came with the rows of this file.
    seeded: u32,
    /// Seeded entries from here on were given since the import began, and rows without a time are earlier.
    meanwhile: u32,
    /// Answers with their times, of the lists that have several: a long list is not walked for every row.
    several: HashSet<(u64, u32, i64), foldhash::fast::RandomState>,
    /// Labels of the project that rows replace, or repeat an earlier one of, by annotator and text.
    touched: HashMap<u64, AffectedLabel, foldhash::fast::RandomState>,
    pub(crate) rows: u64,
    pub(crate) added: u64,
    pub(crate) repeated: u64,
    /// Number of re-annotations (answers of later annotation rounds).
    pub(crate) again: u64,
    /// Pairs of annotator and text with re-annotations and, so far, no label.
    without_first: HashSet<u64, foldhash::fast::RandomState>,
    pub(crate) changes: Changes,
}

/// One annotator's answers to one text.
#[derive(Clone, Copy, Debug)]
struct List {
    /// The entry from which to search for the next row without a time; `NONE` if all that follow are new.
    next: u32,
    first: u32,
    last: u32,
    /// The current one.
    current: u32,
    /// The one with the latest time.
    latest: u32,
    /// The answer of the previous row about this list, as a number; `NONE` if there was no such row.
    previous: u32,
    /// That row had no time.
    untimed: bool,
    several: bool,
    /// The current answer of the project was given in the window or by the command.
    given: bool,
    /// Whether a row repeats the current answer of the project.
    confirmed: bool,
}

/// A label of the project that was current before the file, and that rows do more to than repeat it.
#[derive(Clone, Copy, Debug)]
struct AffectedLabel {
    before: u32,
    /// Number of rows that repeat an answer given before it.
    outdated_rows: u32,
    /// How the rows so far change it, and the number this adds to the count of that change.
    change: Option<(ChangeKind, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    answer: u32,
    next: u32,
    at_ms: i64,
}

/// A label that was found to be on the scale.
#[derive(Clone, Debug)]
pub(crate) struct JudgedLabel {
    name: String,
    answer: Option<Answer>,
    /// Where the last of its spans ends.
    pub(crate) end: Option<u32>,
}

impl Answers {
    pub(crate) fn new(scale: Option<Scale>) -> Self {
        Self {
            scale,
            given_scale: None,
            other_scale: None,
            numbers: Numbers::default(),
            sets: Sets::default(),
            levels: BTreeMap::new(),
            options: BTreeMap::new(),
            types: BTreeMap::new(),
            lists: HashMap::default(),
            entries: Vec::new(),
            seeded: 0,
            meanwhile: NONE,
            several: HashSet::default(),
            touched: HashMap::default(),
            rows: 0,
            added: 0,
            repeated: 0,
            again: 0,
            without_first: HashSet::default(),
            changes: Changes::default(),
        }
    }

    /// An answer that the project has. All of them are seeded before the first row.
    pub(crate) fn seed(&mut self, label: &KnownLabel) {
        let pair = pair(label.text, label.annotator);
        let answer = self.number("", Some(&label.answer));
        self.append(pair, answer, label.at_ms);
        self.seeded = self.entries.len() as u32;
        if let Some(list) = self.lists.get_mut(&pair).filter(|_| label.current) {
            (list.current, list.given) = (self.seeded - 1, label.given);
        }
    }

    /// Removes the seeded labels of an annotator and a text; returns whether there were any.
    pub(crate) fn forget(&mut self, text: u32, annotator: u32) -> bool {
        let pair = pair(text, annotator);
        let Some(list) = self.lists.remove(&pair) else { return false };
        let mut at = list.next;
        while at != NONE {
            let entry = self.entries[at as usize];
            self.several.remove(&(pair, entry.answer, entry.at_ms));
            at = entry.next;
        }
        true
    }

    /// Marks the labels that are seeded from here on as given since the import began.
    pub(crate) fn go_on_seeding(&mut self) {
        self.meanwhile = self.entries.len() as u32;
    }

    /// Takes the scale that a row gives the question: it is used unless there is one, or labels have been
    /// read; these have to be read again.
    pub(crate) fn use_scale(&mut self, scale: &Scale) {
        if self.scale.is_none() && self.rows == 0 {
            self.set_scale(scale.clone());
        }
        match &self.given_scale {
            None => self.given_scale = Some(scale.clone()),
            Some(given) if given.reads_like(scale) => {}
            Some(_) => self.other_scale.get_or_insert_with(|| (scale.clone(), 0)).1 += 1,
        }
    }

    /// Whether the labels were read without a scale.
    pub(crate) fn is_without_scale(&self) -> bool {
        self.scale.is_none()
    }

    /// The first scale that a row gives the question.
    pub(crate) fn given_scale(&self) -> Option<&Scale> {
        self.given_scale.as_ref()
    }

    /// The first scale of a row that is another one than the first, and how many rows have such a one.
    pub(crate) fn other_scale(&self) -> Option<&(Scale, u64)> {
        self.other_scale.as_ref()
    }

    pub(crate) fn set_scale(&mut self, scale: Scale) {
        self.scale = Some(scale);
    }

    pub(crate) fn levels(&self) -> &BTreeMap<String, u64> {
        &self.levels
    }

    /// Counts answers by option, for sets of options; at most twice as many options as a scale may have.
    pub(crate) fn options(&self) -> &BTreeMap<String, u64> {
        &self.options
    }

    /// Counts spans by type; at most twice as many types as a scale may have.
    pub(crate) fn types(&self) -> &BTreeMap<String, u64> {
        &self.types
    }

    /// The scale given, or else the one that a row gives, or that the labels so far most likely have.
    pub(crate) fn scale(&self) -> Result<Scale, ScaleError> {
        match self.scale.as_ref().or(self.given_scale.as_ref()) {
            Some(scale) => Ok(scale.clone()),
            // Only some sets are stored by name, but all options that a scale may have.
            None => {
                match ordered_scale(self.levels.keys()).map_or_else(|| Scale::guess(self.levels.keys()), Ok) {
                    // If there are many sets, only some are stored by name.
                    Ok(scale) if scale.form().is_set() => Scale::new(scale.kind(), self.options.keys()),
                    Ok(scale) if scale.form().marks_words() => Scale::new(scale.kind(), self.types.keys()),
                    found => found,
                }
            }
        }
    }

    /// The level's name and index, where the label is on the scale.
    pub(crate) fn judge(&self, label: &str, fold_case: bool) -> Result<JudgedLabel, RowErrorKind> {
        let Some(scale) = &self.scale else {
            // An invalid list of spans is reported only once there is a scale: a level may begin like a list.
            let spans =
                if reads_as_spans(label) { spans_named(label).unwrap_or_default() } else { Vec::new() };
            let end = spans.iter().map(|span| span.end).max();
            let answer = (label.trim() == CANNOT_SAY).then_some(Answer::CannotSay);
            return Ok(JudgedLabel { name: level_name(label).to_owned(), answer, end });
        };
        if scale.form().marks_words() {
            let spans = scale.spans_named(label)?;
            let end = spans.as_slice().iter().map(|span| span.end).max();
            let name = scale.name_of_spans(&spans).unwrap_or_default();
            return Ok(JudgedLabel { name, answer: Some(Answer::Spans(spans)), end });
        }
        let folded = || match fold_case {
            true => folded_on(scale, label).map(Answer::Level).or_else(|| folded_set_on(scale, label)),
            false => None,
        };
        let found = answer_on(scale, label)
            .or_else(folded)
            .and_then(|answer| Some((scale.name_of_answer(&answer)?.into_owned(), Some(answer))));
        match found {
            Some((name, answer)) => Ok(JudgedLabel { name, answer, end: None }),
            None => {
                Err(RowErrorKind::UnknownLevel { label: label.to_owned(), levels: scale.levels().to_vec() })
            }
        }
    }

    /// Records a label that fits, given by `annotator` to `text`, and returns the verdict.
    pub(crate) fn remember(
        &mut self,
        text: u32,
        annotator: u32,
        row: &Row,
        judged: JudgedLabel,
        now_ms: i64,
    ) -> LabelVerdict {
        let JudgedLabel { name, answer: meant, .. } = judged;
        let answer = self.number(&name, meant.as_ref());
        let pair = pair(text, annotator);
        let before = self.lists.get(&pair).copied();
        let known = before.is_some_and(|list| match row.at_ms {
            Some(at_ms) => self.has_at(pair, list, answer, at_ms),
            None => list.previous == answer || self.found_further_down(pair, list, answer),
        });
        if known {
            self.note_repetition(pair, answer, row);
            self.record_answer(pair, answer, row.at_ms.is_none());
            self.repeated += 1;
            return LabelVerdict::Repeated { name };
        }
        let meanwhile = self.meanwhile..self.seeded;
        let latest = before.map(|list| list.latest).filter(|latest| !meanwhile.contains(latest));
        let latest = latest.map(|latest| self.entries[latest as usize].at_ms);
        let at_ms = match (row.at_ms, latest) {
            (Some(at_ms), _) => at_ms,
            (None, Some(latest)) => now_ms.max(latest),
            (None, None) => now_ms,
        };
        // Times decide which of two answers is the later one; where they cannot, the later row is.
        let follows_row = before.is_some_and(|list| {
            list.previous != NONE && row.at_ms.is_some() && (list.untimed || latest == Some(at_ms))
        }) || row.at_ms.is_none()
            && before.is_some_and(|list| list.previous != NONE && list.untimed);
        self.append(pair, answer, at_ms);
        if self.without_first.remove(&pair) {
            let change = Some((ChangeKind::NoFirstAnswer, 1));
            self.changes.of_pair(pair, change, None, true, || place(row, [name.clone(), name.clone()]));
        }
        if let Some(list) = before {
            self.note_addition(pair, list, follows_row, row);
        }
        if let Some(list) = self.lists.get_mut(&pair) {
            list.next = NONE;
        }
        self.record_answer(pair, answer, row.at_ms.is_none());
        self.added += 1;
        self.count(&name);
        LabelVerdict::Added { name, answer: meant, at_ms, follows_row }
    }

    /// Records a re-annotation of a text by an annotator: it replaces nothing, but its level is counted.
    pub(crate) fn ask_again(
        &mut self,
        about: Option<(u32, u32)>,
        row: &Row,
        judged: JudgedLabel,
    ) -> LabelVerdict {
        let JudgedLabel { name, answer: meant, .. } = judged;
        self.again += 1;
        self.count(&name);
        let mut at_ms = row.at_ms;
        if let Some((text, annotator)) = about {
            let (pair, answer) = (pair(text, annotator), self.number(&name, meant.as_ref()));
            let here = || place(row, [name.clone(), name.clone()]);
            match self.lists.get(&pair).copied() {
                None if self.without_first.insert(pair) => {
                    self.changes.of_pair(pair, None, Some((ChangeKind::NoFirstAnswer, 1)), true, here);
                }
                None => {}
                Some(list) => {
                    if let Some(label) = self.label_that_is(list, answer, row.at_ms) {
                        at_ms = Some(label);
                        self.changes.add(ChangeKind::RepeatIsLabel, here);
                    }
                }
            }
        }
        LabelVerdict::Repeat { name, answer: meant, at_ms }
    }

    /// Finds the project's label that is the same answer as a re-annotation and returns its time: importing a
    /// file without its column of annotation rounds leaves such labels. With a time it is the same answer at
    /// the same time (a date does not distinguish it from the very first answer, which may be of the same
    /// day); without, the same answer among those that followed the first one, if all of them were imported.
    fn label_that_is(&self, list: List, answer: u32, at_ms: Option<i64>) -> Option<i64> {
        let mut at = list.first;
        for nth in 0..LOOKED_AT {
            let entry = self.entries.get(at as usize).filter(|_| at < self.seeded)?;
            let same = match at_ms {
                Some(at_ms) => entry.at_ms == at_ms && (nth > 0 || latest_meant(at_ms) == at_ms),
                None => nth > 0 && !list.given,
            };
            if same && entry.answer == answer {
                return Some(entry.at_ms);
            }
            at = entry.next;
        }
        None
    }

    fn count(&mut self, name: &str) {
        if name == CANNOT_SAY {
            return; // an answer, and no level
        }
        // Contradictory sets, which are no answers on the guessed scale, are counted by name, however many
        // sets there are.
        let most = Scale::MAX_LEVELS * if contradicts_itself(name) { 2 } else { 1 };
        let room = self.levels.len() <= most;
        match self.levels.get_mut(name) {
            Some(count) => *count += 1,
            None if room => drop(self.levels.insert(name.to_owned(), 1)),
            None => {}
        }
        // Without a scale any name may be a set, and any list may be one of spans.
        let form = self.scale.as_ref().map(Scale::form);
        if form.is_none_or(|form| form.marks_words()) && reads_as_spans(name) {
            let spans = spans_named(name).unwrap_or_default();
            let types: BTreeSet<String> = spans.into_iter().map(|span| span.label).collect();
            types.iter().for_each(|name| count_in(&mut self.types, name));
        } else if form.is_none_or(|form| form.is_set()) {
            option_names(name).into_iter().for_each(|option| count_in(&mut self.options, option));
        }
    }

    /// Decides whether the answer that was just appended is current, as the project will when it stores it,
    /// and records how it relates to the one that was current before.
    fn note_addition(&mut self, pair: u64, before: List, follows_row: bool, row: &Row) {
        let new = self.entries.len() as u32 - 1;
        let (answer, old) = (self.entries[new as usize], self.entries[before.current as usize]);
        let in_file = before.current >= self.seeded;
        let counts = answer.at_ms >= old.at_ms || (follows_row && in_file);
        if counts && !in_file {
            self.touched(pair, before.current);
        }
        let of_project =
            if in_file { self.touched.get(&pair).map(|t| t.before) } else { Some(before.current) };
        let confirms = of_project.is_some_and(|at| self.entries[at as usize].answer == answer.answer);
        if let Some(list) = self.lists.get_mut(&pair) {
            list.confirmed |= confirms;
            if counts {
                list.current = new;
            }
        }
        let kind = match (counts, in_file) {
            _ if answer.answer == old.answer => Some(ChangeKind::GivenAgain),
            (_, true) => Some(ChangeKind::ReplacedInFile),
            (false, false) => Some(ChangeKind::Older),
            (true, false) => None,
        };
        let (current, other) = if counts { (answer, old) } else { (old, answer) };
        let Self { changes, scale, numbers, sets, .. } = self;
        if let Some(kind) = kind {
            changes.add(kind, || {
                place(row, [current, other].map(|e| name_of(scale.as_ref(), numbers, sets, e.answer)))
            });
        }
        self.compare(pair, answer.answer, counts, row);
    }

    /// Records whether a row that repeats existing data repeats the current answer.
    fn note_repetition(&mut self, pair: u64, answer: u32, row: &Row) {
        let Some(list) = self.lists.get_mut(&pair).filter(|list| list.current < self.seeded) else { return };
        let current = list.current;
        if self.entries[current as usize].answer == answer {
            list.confirmed = true;
        } else {
            self.touched(pair, current).outdated_rows += 1;
        }
        self.compare(pair, answer, false, row);
    }

    fn touched(&mut self, pair: u64, before: u32) -> &mut AffectedLabel {
        self.touched.entry(pair).or_insert(AffectedLabel { before, outdated_rows: 0, change: None })
    }

    /// Compares the label of the project that was current before the file with the one that is current after
    /// this row, which has the given `answer`, and which `counts` if it is that one. The rows between them do
    /// not matter.
    fn compare(&mut self, pair: u64, answer: u32, counts: bool, row: &Row) {
        let Self { changes, scale, numbers, sets, lists, touched, entries, seeded, .. } = self;
        let (Some(list), Some(touched)) = (lists.get(&pair), touched.get_mut(&pair)) else { return };
        let [current, before] = [list.current, touched.before].map(|at| entries[at as usize].answer);
        let change = match list.current >= *seeded {
            true if current == before => None,
            true if list.given => Some((ChangeKind::ReplacedGiven, 1)),
            true => Some((ChangeKind::ReplacedImported, 1)),
            false if list.confirmed || touched.outdated_rows == 0 => None,
            false => Some((ChangeKind::Outdated, touched.outdated_rows)),
        };
        let was = std::mem::replace(&mut touched.change, change);
        let instead_of = if list.current < *seeded { answer } else { before };
        changes.of_pair(pair, was, change, counts, || {
            place(row, [current, instead_of].map(|number| name_of(scale.as_ref(), numbers, sets, number)))
        });
    }

    /// Returns the number of an answer: for a level its id, for a set of options its assigned number,
    /// without a scale that of its name.
    fn number(&mut self, name: &str, answer: Option<&Answer>) -> u32 {
        match answer {
            Some(Answer::Level(level)) => return u32::from(level.0),
            Some(Answer::CannotSay) => return CANNOT_SAY_NUMBER,
            Some(set) => return self.sets.number(set),
            None => {}
        }
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        // A column of free texts read as labels must not fill the memory: it is no scale and will be refused.
        if self.numbers.len() > Scale::MAX_LEVELS {
            return HASHED | (self.numbers.hasher().hash_one(name) as u32 >> 2);
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        number
    }

    fn has_at(&self, pair: u64, list: List, answer: u32, at_ms: i64) -> bool {
        if list.several {
            return self.several.contains(&(pair, answer, at_ms));
        }
        let entry = self.entries[list.last as usize];
        entry.answer == answer && entry.at_ms == at_ms
    }

    /// Looks for the answer further down in the project's list, and continues after it. Each entry is passed
    /// once.
    fn found_further_down(&mut self, pair: u64, list: List, answer: u32) -> bool {
        let mut at = list.next;
        while at < self.seeded {
            let entry = self.entries[at as usize];
            if entry.answer == answer {
                if let Some(list) = self.lists.get_mut(&pair) {
                    list.next = entry.next;
                }
                return true;
            }
            at = entry.next;
        }
        false
    }

    fn record_answer(&mut self, pair: u64, answer: u32, untimed: bool) {
        if let Some(list) = self.lists.get_mut(&pair) {
            (list.previous, list.untimed) = (answer, untimed);
        }
    }

    fn append(&mut self, pair: u64, answer: u32, at_ms: i64) {
        let new = self.entries.len() as u32;
        self.entries.push(Entry { answer, next: NONE, at_ms });
        let first = List {
            next: new,
            first: new,
            last: new,
            current: new,
            latest: new,
            previous: NONE,
            untimed: false,
            several: false,
            given: false,
            confirmed: false,
        };
        let list = match self.lists.entry(pair) {
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(first);
                return;
            }
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
        };
        let last = self.entries[list.last as usize];
        if !std::mem::replace(&mut list.several, true) {
            self.several.insert((pair, last.answer, last.at_ms));
        }
        self.several.insert((pair, answer, at_ms));
        self.entries[list.last as usize].next = new;
        list.last = new;
        if at_ms > self.entries[list.latest as usize].at_ms {
            list.latest = new;
        }
    }
}

fn pair(text: u32, annotator: u32) -> u64 {
    u64::from(text) << 32 | u64::from(annotator)
}

fn place(row: &Row, [counts, instead_of]: [String; 2]) -> Change {
    Change {
        row: row.row,
        annotator: row.annotator.clone().unwrap_or_default(),
        text_id: row.text_id.clone().unwrap_or_default(),
        counts,
        instead_of,
    }
}

/// One more answer with this option or type, of at most twice as many as a scale may have.
fn count_in(counts: &mut BTreeMap<String, u64>, name: &str) {
    let room = counts.len() <= 2 * Scale::MAX_OPTIONS;
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None if room => drop(counts.insert(name.to_owned(), 1)),
        None => {}
    }
}

/// The name of an answer by its number.
fn name_of(scale: Option<&Scale>, numbers: &Numbers, sets: &Sets, number: u32) -> String {
    let name = match scale {
        _ if number == CANNOT_SAY_NUMBER => Some(CANNOT_SAY.into()),
        Some(scale) if scale.has_options() => sets.numbered(number).and_then(|set| scale.name_of_answer(set)),
        Some(scale) => u16::try_from(number).ok().and_then(|id| scale.name_of(LevelId(id))).map(Into::into),
        None => {
            numbers.iter().find(|(_, known)| **known == number).map(|(name, _)| name.as_str()).map(Into::into)
        }
    };
    name.map_or_else(|| "another label".to_owned(), Cow::into_owned)
}
