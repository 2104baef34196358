//! What kind of answer a question takes.

use crate::{Answer, OptionSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The kind of a [`Scale`].
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", parse_err_ty = ScaleError, parse_err_fn = unknown_kind)]
pub enum ScaleKind {
    /// Two levels, the second being "yes".
    Binary,
    /// One of several levels without an order.
    Choice,
    /// Any of several options. Each set of options is a level, see [`Scale::options`].
    MultiChoice,
    /// One of several levels in order, lowest first.
    Ordinal,
}

impl ScaleKind {
    /// The name used on the command line, in SQL and in files.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether levels stand in an order, lowest (or "no") first.
    pub fn is_ordered(self) -> bool {
        matches!(self, Self::Binary | Self::Ordinal)
    }
}

fn unknown_kind(name: &str) -> ScaleError {
    ScaleError::UnknownKind(name.to_owned())
}

/// Why levels do not make a scale.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScaleError {
    /// The name is not one of ours.
    #[error("unknown scale \"{0}\": use binary, choice, multi-choice or ordinal")]
    UnknownKind(String),
    /// Binary takes exactly two levels.
    #[error("a binary scale has two levels, not {0}: {1}")]
    NotBinary(usize, String),
    /// One level carries no information.
    #[error("a scale needs at least two levels, and there is {0}: name the levels, lowest first")]
    TooFew(usize),
    /// More levels than can be told apart.
    #[error("a scale has at most {max} levels, and these are {0}: is this column really a label?", max = Scale::MAX_LEVELS)]
    TooMany(usize),
    /// A level stands twice.
    #[error("the level \"{0}\" stands twice")]
    Repeated(String),
    /// A level without a name.
    #[error("a level has no name")]
    Blank,
    /// More options than can be answered together.
    #[error("a multi-choice scale has at most {max} options, and these are {0}", max = Scale::MAX_OPTIONS)]
    TooManyOptions(usize),
    /// An option whose name could not be told from a set.
    #[error(
        "an option of a multi-choice scale cannot be called \"{0}\": \"none\" is the answer without options, and ; | [ ] and \" + \" stand between options"
    )]
    OptionName(String),
}

/// The levels of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Scale {
    kind: ScaleKind,
    levels: Vec<String>,
}

// By hand: `serde(try_from)` would give the window a second type for scales that come from it.
impl<'de> Deserialize<'de> for Scale {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Unchecked {
            kind: ScaleKind,
            levels: Vec<String>,
        }
        let Unchecked { kind, levels } = Unchecked::deserialize(deserializer)?;
        Self::new(kind, levels).map_err(serde::de::Error::custom)
    }
}

impl Scale {
    /// The largest number of levels a scale may have.
    pub const MAX_LEVELS: usize = 100;
    /// Whole numbers from the lowest to the highest of which there are at most this many steps are guessed to be an ordinal scale.
    pub const MAX_ORDINAL_SPREAD: i64 = 20;
    /// The largest number of options of a multi-choice scale: every set of them is a level.
    pub const MAX_OPTIONS: usize = 6;

    /// A scale of `kind` with `levels`, lowest (or "no") first. Names are trimmed. Of a multi-choice scale `levels` are its
    /// options, or all their sets as [`Scale::levels`] gives them.
    ///
    /// # Errors
    /// Fewer than two levels, more than [`Scale::MAX_LEVELS`] (or [`Scale::MAX_OPTIONS`]), a blank or repeated name, a binary
    /// scale without two, or an option whose name could not be told from a set.
    pub fn new<S: AsRef<str>>(
        kind: ScaleKind,
        levels: impl IntoIterator<Item = S>,
    ) -> Result<Self, ScaleError> {
        let levels: Vec<String> = levels.into_iter().map(|l| l.as_ref().trim().to_owned()).collect();
        let levels = match options_of(&levels) {
            Some(options) if kind == ScaleKind::MultiChoice => options,
            _ => levels,
        };
        if levels.len() < 2 {
            return Err(ScaleError::TooFew(levels.len()));
        }
        if kind == ScaleKind::MultiChoice && levels.len() > Self::MAX_OPTIONS {
            return Err(ScaleError::TooManyOptions(levels.len()));
        }
        if levels.len() > Self::MAX_LEVELS {
            return Err(ScaleError::TooMany(levels.len()));
        }
        if kind == ScaleKind::Binary && levels.len() != 2 {
            return Err(ScaleError::NotBinary(levels.len(), levels.join(", ")));
        }
        let mut seen = BTreeSet::new();
        for level in &levels {
            if level.is_empty() {
                return Err(ScaleError::Blank);
            }
            if !seen.insert(level.as_str()) {
                return Err(ScaleError::Repeated(level.clone()));
            }
        }
        if kind != ScaleKind::MultiChoice {
            return Ok(Self { kind, levels });
        }
        if let Some(name) = levels.iter().find(|name| parts(name) != [name.as_str()]) {
            return Err(ScaleError::OptionName(name.clone()));
        }
        let sets = 0..1_usize << levels.len();
        Ok(Self { kind, levels: sets.map(|set| set_name(&levels, set)).collect() })
    }

    /// The scale that a column of labels most likely has. Blank values do not count.
    ///
    /// Whole numbers that lie close together, three or more values: `ordinal` over the whole range, gaps filled (so
    /// that a level nobody used is still on the scale). Two values: `binary`, the lower or the one that reads as "no"
    /// first. Sets (`rude; threat`, `rude|threat`, `["rude", "threat"]`) of few options that recur: `multi-choice`. Anything
    /// else: `choice`, in alphabetical order.
    ///
    /// # Errors
    /// Fewer than two or more than [`Scale::MAX_LEVELS`] different values.
    pub fn guess<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Result<Self, ScaleError> {
        let distinct: BTreeSet<String> =
            values.into_iter().map(|v| v.as_ref().trim().to_owned()).filter(|v| !v.is_empty()).collect();
        let kind = Self::guess_kind(&distinct);
        Self::guess_levels(kind, distinct)
    }

    /// The scale of a known `kind` over the values seen in a column; the order is that of [`Scale::guess`].
    ///
    /// # Errors
    /// As [`Scale::new`].
    pub fn of_kind<S: AsRef<str>>(
        kind: ScaleKind,
        values: impl IntoIterator<Item = S>,
    ) -> Result<Self, ScaleError> {
        let distinct: BTreeSet<String> =
            values.into_iter().map(|v| v.as_ref().trim().to_owned()).filter(|v| !v.is_empty()).collect();
        Self::guess_levels(kind, distinct)
    }

    fn guess_kind(distinct: &BTreeSet<String>) -> ScaleKind {
        if read_as_sets(distinct) {
            return ScaleKind::MultiChoice;
        }
        if distinct.len() == 2 {
            return ScaleKind::Binary;
        }
        match whole_numbers(distinct) {
            Some(numbers) if spread(&numbers) <= Self::MAX_ORDINAL_SPREAD => ScaleKind::Ordinal,
            _ => ScaleKind::Choice,
        }
    }

    fn guess_levels(kind: ScaleKind, distinct: BTreeSet<String>) -> Result<Self, ScaleError> {
        if kind == ScaleKind::MultiChoice {
            let options: BTreeSet<&str> = distinct.iter().flat_map(|value| parts(value)).collect();
            return Self::new(kind, options);
        }
        if kind == ScaleKind::Binary && distinct.len() == 1 {
            // One class seen so far: the other one is known where the pair is a usual one.
            let only = distinct.iter().next().cloned().unwrap_or_default();
            if let Some(pair) = usual_pair(&only) {
                return Self::new(kind, pair);
            }
        }
        let numbers = whole_numbers(&distinct);
        let levels: Vec<String> = match numbers {
            Some(numbers)
                if kind == ScaleKind::Ordinal
                    && spread(&numbers) <= Self::MAX_ORDINAL_SPREAD
                    && numbers.len() > 1 =>
            {
                let (low, high) = (numbers[0], numbers[numbers.len() - 1]);
                (low..=high).map(|n| n.to_string()).collect()
            }
            Some(numbers) => numbers.iter().map(ToString::to_string).collect(),
            None => {
                let mut levels: Vec<String> = distinct.into_iter().collect();
                if levels.len() == 2 && reads_as_no(&levels[1]) && !reads_as_no(&levels[0]) {
                    levels.swap(0, 1);
                }
                levels
            }
        };
        Self::new(kind, levels)
    }

    /// The kind.
    pub fn kind(&self) -> ScaleKind {
        self.kind
    }

    /// The names of the levels, lowest (or "no") first. Of a multi-choice scale: of every set of options, `none` first, then
    /// those whose number in binary has the bit of each of their options (`none`, `a`, `b`, `a + b`, `c`, ...). This is the label
    /// powerset of Tsoumakas & Katakis 2007 (Multi-label classification: an overview): models learn which options go together.
    pub fn levels(&self) -> &[String] {
        &self.levels
    }

    /// What a person chooses from: the options of a multi-choice scale, else the levels. Option `k` is in the sets whose level
    /// has bit `k`.
    pub fn options(&self) -> Vec<&str> {
        let is_one = |level: usize| self.kind != ScaleKind::MultiChoice || level.is_power_of_two();
        self.levels
            .iter()
            .enumerate()
            .filter(|(level, _)| is_one(*level))
            .map(|(_, name)| name.as_str())
            .collect()
    }

    /// How many levels there are; at least two.
    #[allow(clippy::len_without_is_empty)] // a scale is never empty
    pub fn len(&self) -> usize {
        self.levels.len()
    }

    /// The index of the level with this name (trimmed), if it is on the scale. A set of options may be written as `a + b`,
    /// `a; b`, `a|b` or `["a", "b"]`, in any order; without options as `none` or `[]`.
    pub fn index_of(&self, name: &str) -> Option<u16> {
        let name = name.trim();
        let exact = self.levels.iter().position(|l| l == name).map(|i| i as u16);
        if exact.is_some() || self.kind != ScaleKind::MultiChoice || name.is_empty() {
            return exact;
        }
        let options = self.options();
        let named = parts(name);
        // "none" beside options is a contradiction; parts() leaves it out.
        if !named.is_empty() && says_none(name) {
            return None;
        }
        named.into_iter().try_fold(0, |set, part| {
            let option = options.iter().position(|o| *o == part)?;
            Some(set | 1 << option)
        })
    }

    /// The answer that `name` stands for, written as [`Scale::index_of`] takes it.
    pub fn answer_named(&self, name: &str) -> Option<Answer> {
        let index = self.index_of(name)?;
        Some(match self.kind {
            ScaleKind::MultiChoice => Answer::Options(OptionSet::from_bits(u64::from(index))),
            _ => Answer::Level(index),
        })
    }

    /// The name of an answer; `None` where it is not on the scale.
    pub fn name_of_answer(&self, answer: &Answer) -> Option<&str> {
        answer.check(self).ok()?;
        match answer {
            Answer::Level(level) => self.name_of(*level),
            Answer::Options(set) => self.name_of(u16::try_from(set.bits()).ok()?),
            Answer::Spans(_) => None,
        }
    }

    /// The name of the level at `index`.
    pub fn name_of(&self, index: u16) -> Option<&str> {
        self.levels.get(usize::from(index)).map(String::as_str)
    }
}

/// The answer without options.
const NONE: &str = "none";
const AND: &str = " + ";

/// The name of a set of options.
fn set_name(options: &[String], set: usize) -> String {
    let members: Vec<&str> = options
        .iter()
        .enumerate()
        .filter(|(k, _)| set >> k & 1 == 1)
        .map(|(_, name)| name.as_str())
        .collect();
    if members.is_empty() { NONE.to_owned() } else { members.join(AND) }
}

/// The options of which `levels` are all the sets, if that is what they are.
fn options_of(levels: &[String]) -> Option<Vec<String>> {
    if levels.len() < 4 || !levels.len().is_power_of_two() {
        return None;
    }
    let ones = (0..levels.len().trailing_zeros()).map(|k| levels[1 << k].clone());
    let options: Vec<String> = ones.collect();
    levels.iter().enumerate().all(|(set, name)| *name == set_name(&options, set)).then_some(options)
}

/// The options that a value names.
fn parts(value: &str) -> Vec<&str> {
    names(value).into_iter().filter(|name| *name != NONE).collect()
}

fn says_none(value: &str) -> bool {
    names(value).contains(&NONE)
}

fn names(value: &str) -> Vec<&str> {
    let value = value.trim();
    let inner = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inner
        .unwrap_or(value)
        .split(|c: char| matches!(c, ';' | '|' | '[' | ']') || inner.is_some() && c == ',')
        .flat_map(|part| part.split(AND))
        .map(|part| part.trim().trim_matches(['"', '\'']))
        .filter(|part| !part.is_empty())
        .collect()
}

/// Whether some of these values are sets, of few options that stand in more than one value.
fn read_as_sets(values: &BTreeSet<String>) -> bool {
    let named: Vec<Vec<&str>> = values.iter().map(|value| parts(value)).collect();
    let options: BTreeSet<&str> = named.iter().flatten().copied().collect();
    named.iter().any(|parts| parts.len() > 1)
        && (2..=Scale::MAX_OPTIONS).contains(&options.len())
        && named.iter().map(Vec::len).sum::<usize>() > options.len()
}

/// All values as whole numbers in order, if that is what they are.
fn whole_numbers(values: &BTreeSet<String>) -> Option<Vec<i64>> {
    let mut numbers = Vec::with_capacity(values.len());
    for value in values {
        let number: i64 = value.parse().ok()?;
        if number.to_string() != *value {
            return None; // "01" or "+1" is a name, not a number
        }
        numbers.push(number);
    }
    numbers.sort_unstable();
    (!numbers.is_empty()).then_some(numbers)
}

fn spread(numbers: &[i64]) -> i64 {
    numbers[numbers.len() - 1].saturating_sub(numbers[0])
}

fn reads_as_no(name: &str) -> bool {
    let name = name.to_lowercase();
    ["no", "false", "n", "f", "negative", "none", "ok", "normal"].contains(&name.as_str())
        || name.starts_with("no")
        || name.starts_with("non")
        || name.starts_with("not")
        || name.starts_with("un")
}

fn usual_pair(only: &str) -> Option<[&'static str; 2]> {
    [["0", "1"], ["no", "yes"], ["false", "true"], ["False", "True"], ["No", "Yes"]]
        .into_iter()
        .find(|pair| pair.contains(&only))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_an_ordinal_scale_and_fills_its_gaps() {
        let scale = Scale::guess(["1", "5", "2", " 4 ", ""]).unwrap();
        assert_eq!(scale.kind(), ScaleKind::Ordinal);
        assert_eq!(scale.levels(), ["1", "2", "3", "4", "5"]);
    }

    #[test]
    fn guesses_a_binary_scale_with_no_first() {
        assert_eq!(Scale::guess(["1", "0"]).unwrap().levels(), ["0", "1"]);
        assert_eq!(Scale::guess(["hate", "noHate"]).unwrap().levels(), ["noHate", "hate"]);
        assert_eq!(Scale::guess(["yes", "no"]).unwrap().levels(), ["no", "yes"]);
    }

    #[test]
    fn guesses_a_choice_scale_for_names_and_far_numbers() {
        assert_eq!(Scale::guess(["b", "a", "c"]).unwrap().kind(), ScaleKind::Choice);
        assert_eq!(Scale::guess(["1", "2", "900"]).unwrap().kind(), ScaleKind::Choice);
        assert_eq!(Scale::guess(["01", "02", "03"]).unwrap().kind(), ScaleKind::Choice);
    }

    #[test]
    fn completes_a_usual_pair_when_binary_is_named() {
        assert_eq!(Scale::of_kind(ScaleKind::Binary, ["1"]).unwrap().levels(), ["0", "1"]);
        assert_eq!(Scale::of_kind(ScaleKind::Binary, ["maybe"]), Err(ScaleError::TooFew(1)));
    }

    #[test]
    fn every_set_of_options_is_a_level() {
        let scale = Scale::new(ScaleKind::MultiChoice, ["rude", "threat", "lie"]).unwrap();
        let sets = ["none", "rude", "threat", "rude + threat", "lie", "rude + lie", "threat + lie"];
        assert_eq!(scale.levels()[..7], sets);
        assert_eq!((scale.len(), scale.options()), (8, vec!["rude", "threat", "lie"]));
        assert_eq!(Scale::new(ScaleKind::MultiChoice, scale.levels()), Ok(scale.clone()));
        for (written, set) in [
            ("lie; rude", 5),
            ("rude|lie", 5),
            ("lie + rude", 5),
            (r#"["rude","lie"]"#, 5),
            ("['lie']", 4),
            ("none", 0),
            ("[]", 0),
            (" threat ", 2),
        ] {
            assert_eq!(scale.index_of(written), Some(set), "{written}");
        }
        for wrong in ["rude; mean", "rude; none", ""] {
            assert_eq!(scale.index_of(wrong), None, "{wrong}");
        }
        assert!(!scale.kind().is_ordered());
    }

    #[test]
    fn guesses_sets_where_options_recur() {
        let kind = |values: &[&str]| Scale::guess(values).unwrap().kind();
        assert_eq!(kind(&["rude", "rude;lie", "none"]), ScaleKind::MultiChoice);
        assert_eq!(kind(&["rude", "rude|lie"]), ScaleKind::MultiChoice);
        assert_eq!(kind(&["yes; really", "no", "maybe"]), ScaleKind::Choice);
        assert_eq!(Scale::guess(["b", "a|b"]).unwrap().options(), ["a", "b"]);
    }

    #[test]
    fn refuses_what_are_no_options() {
        let new = |options: &[&str]| Scale::new(ScaleKind::MultiChoice, options);
        assert_eq!(new(&["a"]), Err(ScaleError::TooFew(1)));
        assert_eq!(new(&["a", "none"]), Err(ScaleError::OptionName("none".into())));
        assert_eq!(new(&["a", "b;c"]), Err(ScaleError::OptionName("b;c".into())));
        assert_eq!(new(&["a", "b", "c", "d", "e", "f", "g"]), Err(ScaleError::TooManyOptions(7)));
        assert_eq!(new(&["a", "a"]), Err(ScaleError::Repeated("a".into())));
    }

    #[test]
    fn refuses_what_is_no_scale() {
        assert_eq!(Scale::new(ScaleKind::Ordinal, ["1"]), Err(ScaleError::TooFew(1)));
        assert!(matches!(Scale::new(ScaleKind::Binary, ["a", "b", "c"]), Err(ScaleError::NotBinary(3, _))));
        assert_eq!(Scale::new(ScaleKind::Choice, ["a", " a"]), Err(ScaleError::Repeated("a".into())));
        assert_eq!(Scale::new(ScaleKind::Choice, ["a", " "]), Err(ScaleError::Blank));
        let many: Vec<String> = (0..101).map(|n| format!("l{n}")).collect();
        assert_eq!(Scale::guess(many), Err(ScaleError::TooMany(101)));
        assert_eq!("likert".parse::<ScaleKind>(), Err(ScaleError::UnknownKind("likert".into())));
    }

    #[test]
    fn answers_have_names() {
        let multi = Scale::new(ScaleKind::MultiChoice, ["a", "b", "c"]).unwrap();
        let both = Answer::Options(OptionSet::from_bits(0b101));
        assert_eq!(multi.answer_named("c; a"), Some(both.clone()));
        assert_eq!(multi.name_of_answer(&both), Some("a + c"));
        assert_eq!(multi.name_of_answer(&Answer::Options(OptionSet::from_bits(1 << 40))), None);
        assert_eq!(multi.name_of_answer(&Answer::Level(1)), None);
        let ordinal = Scale::guess(["1", "2", "3"]).unwrap();
        assert_eq!(ordinal.answer_named(" 3 "), Some(Answer::Level(2)));
        assert_eq!(ordinal.name_of_answer(&Answer::Level(2)), Some("3"));
        assert_eq!((ordinal.answer_named("4"), ordinal.name_of_answer(&Answer::Level(3))), (None, None));
    }

    #[test]
    fn json_that_is_no_scale_is_refused() {
        for wrong in [
            r#"{"kind":"binary","levels":["a","b","c"]}"#,
            r#"{"kind":"choice","levels":["a","a"]}"#,
            r#"{"kind":"ordinal","levels":[]}"#,
            r#"{"kind":"choice","levels":["a"," "]}"#,
        ] {
            assert!(serde_json::from_str::<Scale>(wrong).is_err(), "{wrong}");
        }
        let trimmed: Scale = serde_json::from_str(r#"{"kind":"choice","levels":[" a","b "]}"#).unwrap();
        assert_eq!(trimmed.levels(), ["a", "b"]);
    }

    #[test]
    fn survives_json() {
        let scale = Scale::guess(["a", "b", "c"]).unwrap();
        let json = serde_json::to_string(&scale).unwrap();
        assert_eq!(json, r#"{"kind":"choice","levels":["a","b","c"]}"#);
        assert_eq!(serde_json::from_str::<Scale>(&json).unwrap(), scale);
    }
}
