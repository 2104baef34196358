//! Scales: the kinds of answers that a question takes.

use crate::{Answer, OptionSet, reads_as_spans, spans_named};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeSet;

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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", parse_err_ty = ScaleError, parse_err_fn = unknown_kind)]
pub enum ScaleKind {
    /// Two levels, the second of which means "yes".
    Binary,
    /// One of several unordered levels.
    Choice,
    /// Any subset of several options, each of them a yes/no question; see
    /// [`QuestionId::of_option`](crate::QuestionId::of_option). Formerly named `multi-choice`.
    #[serde(alias = "multi-choice")]
    #[strum(to_string = "multi-label", serialize = "multi-choice")]
    MultiLabel,
    /// One of several ordered levels, lowest first.
    Ordinal,
    /// Any number of passages of the text, each of one of several types. Whether a text has a
    /// passage of a type is a yes/no question, like the options of a multi-label question.
    Spans,
}

impl ScaleKind {
    /// The name used on the command line, in SQL and in files.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether levels are ordered, lowest (or "no") first.
    pub fn is_ordered(self) -> bool {
        matches!(self, Self::Binary | Self::Ordinal)
    }
}

fn unknown_kind(name: &str) -> ScaleError {
    ScaleError::UnknownKind(name.to_owned())
}

crate::errors! {
    /// Why levels do not form a scale.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum ScaleError {
        UnknownKind(String) => "unknown scale \"{0}\": use binary, choice, multi-label, ordinal or spans";
        NotBinary(usize, String) => "a binary scale has two levels, not {0}: {1}";
        TooFew(usize) =>
            "a scale needs at least two levels, and there is {0}: name all that could be given, lowest first (--levels 1,2,3)";
        NoTypes =>
            "a question with spans needs at least one type, and no span names one: name the types (--types a,b)";
        TooMany(usize) =>
            "a scale has at most {max} levels, and these are {0}: is this column really a label?" (max = Scale::MAX_LEVELS);
        Repeated(String) => "the level \"{0}\" is listed twice";
        Blank => "a level has no name";
        TooManyOptions(usize) =>
            "a scale has at most {max} options (or types of spans), and these are {0}" (max = Scale::MAX_OPTIONS);
        OptionName(String) =>
            "an option or a type of spans cannot be called \"{0}\": \"none\" is the answer without any, and \" + \" (of options also ; | [ ]) separates them";
    }
}

/// The levels of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scale {
    kind: ScaleKind,
    levels: Vec<String>,
}

// Implemented by hand: `serde(try_from)` would generate a second type in the window's bindings.
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
    /// Maximum number of levels.
    pub const MAX_LEVELS: usize = 100;
    /// [`Scale::guess`] treats whole numbers as ordinal if the lowest and the highest differ by at
    /// most this.
    pub const MAX_ORDINAL_SPREAD: i64 = 20;
    /// Maximum number of options of a multi-label scale: the capacity of an [`OptionSet`].
    pub const MAX_OPTIONS: usize = OptionSet::MAX as usize;

    /// Creates a scale of `kind` with `levels`, lowest (or "no") first. Names are trimmed. For a
    /// multi-label scale `levels` are its options, or all sets of options, which is how earlier
    /// versions stored up to six options; for spans they are the types.
    ///
    /// # Errors
    /// There are fewer than two levels (for spans, none) or more than [`Scale::MAX_LEVELS`] (or
    /// [`Scale::MAX_OPTIONS`]), a name is blank or repeated, a binary scale does not have two
    /// levels, or the name of an option would be ambiguous in a set.
    pub fn new<S: AsRef<str>>(
        kind: ScaleKind,
        levels: impl IntoIterator<Item = S>,
    ) -> Result<Self, ScaleError> {
        let levels: Vec<String> = levels.into_iter().map(|l| l.as_ref().trim().to_owned()).collect();
        let levels = match options_of(&levels) {
            Some(options) if kind == ScaleKind::MultiLabel => options,
            _ => levels,
        };
        if kind == ScaleKind::Spans && levels.is_empty() {
            return Err(ScaleError::NoTypes);
        }
        if levels.len() < 2 && kind != ScaleKind::Spans {
            return Err(ScaleError::TooFew(levels.len()));
        }
        if matches!(kind, ScaleKind::MultiLabel | ScaleKind::Spans) && levels.len() > Self::MAX_OPTIONS {
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
        let joins = |name: &&String| match kind {
            ScaleKind::MultiLabel => option_names(name) != [name.as_str()],
            // The types found in a text are also joined with this separator when labels are
            // aggregated.
            ScaleKind::Spans => name.as_str() == NONE || name.contains(AND),
            _ => false,
        };
        if let Some(name) = levels.iter().find(joins) {
            return Err(ScaleError::OptionName(name.clone()));
        }
        Ok(Self { kind, levels })
    }

    /// Guesses the most likely scale of a column of labels. Blank values are ignored.
    ///
    /// - Three or more whole numbers in a narrow range ([`Scale::MAX_ORDINAL_SPREAD`]): `ordinal`
    ///   over the whole range, with gaps filled, so that the scale includes levels that were never
    ///   used.
    /// - Two values: `binary`, with the lower value, or the one that reads as "no", first.
    /// - One value of a usual pair (0 and 1, no and yes, false and true): `binary` with both.
    /// - Lists of spans ([`crate::spans_named`]): `spans`.
    /// - Sets (`rude; threat`, `rude|threat`, `["rude", "threat"]`) of recurring options:
    ///   `multi-label`.
    /// - Anything else: `choice`, in alphabetical order.
    ///
    /// # Errors
    /// There is no value, only one value that is not of a usual pair, or more than
    /// [`Scale::MAX_LEVELS`] different values.
    pub fn guess<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Result<Self, ScaleError> {
        let distinct: BTreeSet<String> =
            values.into_iter().map(|v| v.as_ref().trim().to_owned()).filter(|v| is_level(v)).collect();
        let kind = Self::guess_kind(&distinct);
        Self::guess_levels(kind, distinct)
    }

    /// Creates a scale of a known `kind` from the values of a column, ordered as by
    /// [`Scale::guess`].
    ///
    /// # Errors
    /// Like [`Scale::new`].
    pub fn of_kind<S: AsRef<str>>(
        kind: ScaleKind,
        values: impl IntoIterator<Item = S>,
    ) -> Result<Self, ScaleError> {
        let distinct: BTreeSet<String> =
            values.into_iter().map(|v| v.as_ref().trim().to_owned()).filter(|v| is_level(v)).collect();
        Self::guess_levels(kind, distinct)
    }

    fn guess_kind(distinct: &BTreeSet<String>) -> ScaleKind {
        if distinct.iter().any(|value| reads_as_spans(value) && spans_named(value).is_ok()) {
            return ScaleKind::Spans;
        }
        if read_as_sets(distinct) {
            return ScaleKind::MultiLabel;
        }
        // A single value of a usual pair implies the other one.
        let paired = |only: &String| usual_pair(only).is_some();
        if distinct.len() == 2 || distinct.len() == 1 && distinct.iter().all(paired) {
            return ScaleKind::Binary;
        }
        match whole_numbers(distinct) {
            Some(numbers) if spread(&numbers) <= Self::MAX_ORDINAL_SPREAD => ScaleKind::Ordinal,
            _ => ScaleKind::Choice,
        }
    }

    fn guess_levels(kind: ScaleKind, distinct: BTreeSet<String>) -> Result<Self, ScaleError> {
        if kind == ScaleKind::MultiLabel {
            let options: BTreeSet<&str> = distinct.iter().flat_map(|value| option_names(value)).collect();
            return Self::new(kind, options);
        }
        if kind == ScaleKind::Spans {
            let named = distinct.iter().filter_map(|value| spans_named(value).ok()).flatten();
            return Self::new(kind, named.map(|span| span.label).collect::<BTreeSet<_>>());
        }
        if kind == ScaleKind::Binary && distinct.len() == 1 {
            // Only one class so far: a usual pair implies the other one.
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

    pub fn kind(&self) -> ScaleKind {
        self.kind
    }

    /// The names of the levels, lowest (or "no") first; of the options of a multi-label scale; or
    /// of the types of spans.
    pub fn levels(&self) -> &[String] {
        &self.levels
    }

    /// Whether answers are sets of options.
    pub fn is_multi_label(&self) -> bool {
        self.kind == ScaleKind::MultiLabel
    }

    /// Whether each level is a yes/no question: options and types of spans.
    pub fn has_options(&self) -> bool {
        matches!(self.kind, ScaleKind::MultiLabel | ScaleKind::Spans)
    }

    /// The number of levels, options or types of spans; at least two, or one for spans.
    #[allow(clippy::len_without_is_empty)] // a scale is never empty
    pub fn len(&self) -> usize {
        self.levels.len()
    }

    /// The index of the level or option with this name (trimmed), if it is on the scale.
    pub fn index_of(&self, name: &str) -> Option<u16> {
        let name = name.trim();
        self.levels.iter().position(|l| l == name).map(|i| i as u16)
    }

    /// Whether a cell is [`CANNOT_SAY`]. On a scale that has a level of that name, the cell means
    /// the level.
    pub fn is_cannot_say(&self, cell: &str) -> bool {
        cell.trim() == CANNOT_SAY && self.kind != ScaleKind::Spans && self.index_of(cell).is_none()
    }

    /// Parses an answer. [`CANNOT_SAY`] is "cannot say". A set of options is written as `a + b`,
    /// `a; b`, `a|b` or `["a", "b"]`, in any order, and the empty set as `none` or `[]`; spans are
    /// read by [`Scale::spans_named`].
    pub fn answer_named(&self, name: &str) -> Option<Answer> {
        if self.is_cannot_say(name) {
            return Some(Answer::CannotSay);
        }
        match self.kind {
            ScaleKind::Spans => return self.spans_named(name).ok().map(Answer::Spans),
            ScaleKind::MultiLabel => {}
            _ => return self.index_of(name).map(Answer::Level),
        }
        if name.trim().is_empty() || contradicts_itself(name) {
            return None;
        }
        let named = option_names(name);
        let option = |name: &str| self.index_of(name).and_then(|option| u8::try_from(option).ok());
        let options = named.into_iter().map(option).collect::<Option<Vec<u8>>>()?;
        OptionSet::new(options).ok().map(Answer::Options)
    }

    /// The name of an answer; `None` if it is not on the scale. A set of options is `a + b`, the
    /// empty set `none`.
    pub fn name_of_answer(&self, answer: &Answer) -> Option<Cow<'_, str>> {
        answer.check(self).ok()?;
        match answer {
            Answer::Level(level) => self.name_of(*level).map(Cow::Borrowed),
            Answer::Options(set) => Some(Cow::Owned(set_name(&self.levels, set.bits()))),
            Answer::Spans(spans) => self.name_of_spans(spans).map(Cow::Owned),
            Answer::CannotSay => Some(Cow::Borrowed(CANNOT_SAY)),
        }
    }

    pub fn name_of(&self, index: u16) -> Option<&str> {
        self.levels.get(usize::from(index)).map(String::as_str)
    }
}

/// Whether a cell can be a level at all.
fn is_level(cell: &str) -> bool {
    !cell.is_empty() && cell != CANNOT_SAY
}

/// Represents "cannot say" in files and on the command line. No new level may have this name.
pub const CANNOT_SAY: &str = "[cannot say]";

/// The empty set of options.
const NONE: &str = "none";
const AND: &str = " + ";

fn set_name(options: &[String], set: u64) -> String {
    let members: Vec<&str> = options
        .iter()
        .enumerate()
        .filter(|(k, _)| set >> k & 1 == 1)
        .map(|(_, name)| name.as_str())
        .collect();
    if members.is_empty() { NONE.to_owned() } else { members.join(AND) }
}

/// Recovers the options if `levels` are all of their subsets, which is how earlier versions stored
/// a scale of up to six options.
fn options_of(levels: &[String]) -> Option<Vec<String>> {
    if levels.len() < 4 || !levels.len().is_power_of_two() {
        return None;
    }
    let ones = (0..levels.len().trailing_zeros()).map(|k| levels[1 << k].clone());
    let options: Vec<String> = ones.collect();
    (0..).zip(levels).all(|(set, name)| *name == set_name(&options, set)).then_some(options)
}

/// The options named in a value, as parsed by [`Scale::answer_named`].
pub fn option_names(value: &str) -> Vec<&str> {
    names(value).into_iter().filter(|name| *name != NONE).collect()
}

/// Whether a value contains both "none" and options, which is not valid on any scale of options.
pub fn contradicts_itself(value: &str) -> bool {
    value.contains(NONE) && names(value).contains(&NONE) && !option_names(value).is_empty()
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

/// Whether some of these values are sets of a small number of options that occur in more than one
/// value.
fn read_as_sets(values: &BTreeSet<String>) -> bool {
    let named: Vec<Vec<&str>> = values.iter().map(|value| option_names(value)).collect();
    let options: BTreeSet<&str> = named.iter().flatten().copied().collect();
    // A list is a set, however few options it names.
    let lists = values.iter().all(|value| value.starts_with('['));
    if lists && (2..=Scale::MAX_OPTIONS).contains(&options.len()) {
        return true;
    }
    named.iter().any(|parts| parts.len() > 1)
        && (2..=Scale::MAX_OPTIONS).contains(&options.len())
        && named.iter().map(Vec::len).sum::<usize>() > options.len()
}

/// All values as sorted whole numbers; `None` if there are none or one is not a whole number.
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
    use rstest::rstest;

    #[test]
    fn that_somebody_cannot_say_is_no_level() {
        let guessed = Scale::guess(["1", "3", CANNOT_SAY, " [cannot say] ", "2"]).unwrap();
        assert_eq!(guessed.levels(), ["1", "2", "3"]);
        for (kind, levels) in [(ScaleKind::Ordinal, ["1", "2"]), (ScaleKind::MultiLabel, ["a", "b"])] {
            let scale = Scale::new(kind, levels).unwrap();
            assert_eq!(scale.answer_named(" [cannot say]"), Some(Answer::CannotSay));
            assert_eq!(scale.name_of_answer(&Answer::CannotSay).as_deref(), Some(CANNOT_SAY));
        }
        // An existing scale with a level of this name retains its meaning.
        let odd = Scale::new(ScaleKind::Choice, ["yes", CANNOT_SAY]).unwrap();
        assert_eq!(odd.answer_named(CANNOT_SAY), Some(Answer::Level(1)));
    }

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

    #[rstest]
    #[case::lower("0", ["0", "1"])]
    #[case::upper("1", ["0", "1"])]
    #[case::words("yes", ["no", "yes"])]
    #[case::capitals("True", ["False", "True"])]
    fn completes_a_usual_pair_of_which_one_was_given(#[case] only: &str, #[case] pair: [&str; 2]) {
        let scale = Scale::guess([only, " ", CANNOT_SAY]).unwrap();
        assert_eq!((scale.kind(), scale.levels()), (ScaleKind::Binary, &pair.map(str::to_owned)[..]));
    }

    #[test]
    fn a_level_that_is_of_no_usual_pair_is_too_few() {
        for unpaired in ["3", "maybe"] {
            assert_eq!(Scale::guess([unpaired]), Err(ScaleError::TooFew(1)));
        }
        assert_eq!(Scale::of_kind(ScaleKind::Binary, ["1"]).unwrap().levels(), ["0", "1"]);
        assert_eq!(Scale::of_kind(ScaleKind::Binary, ["maybe"]), Err(ScaleError::TooFew(1)));
    }

    #[test]
    fn every_option_is_listed() {
        let scale = Scale::new(ScaleKind::MultiLabel, ["rude", "threat", "lie"]).unwrap();
        assert_eq!(scale.levels(), ["rude", "threat", "lie"]);
        assert!(!scale.kind().is_ordered());
    }

    #[rstest]
    #[case::semicolon("lie; rude", Some(5))]
    #[case::bar("rude|lie", Some(5))]
    #[case::plus("lie + rude", Some(5))]
    #[case::json_list(r#"["rude","lie"]"#, Some(5))]
    #[case::python_list("['lie']", Some(4))]
    #[case::none("none", Some(0))]
    #[case::empty_list("[]", Some(0))]
    #[case::one(" threat ", Some(2))]
    #[case::unknown_option("rude; mean", None)]
    #[case::none_with_another("rude; none", None)]
    #[case::nothing("", None)]
    fn sets_of_options_are_read_as_files_write_them(#[case] written: &str, #[case] set: Option<u64>) {
        let scale = Scale::new(ScaleKind::MultiLabel, ["rude", "threat", "lie"]).unwrap();
        let answer = set.map(|set| Answer::Options(OptionSet::from_bits(set)));
        assert_eq!(scale.answer_named(written), answer);
    }

    #[test]
    fn a_set_may_have_64_options() {
        let names: Vec<String> = (0..64).map(|n| format!("option {n}")).collect();
        let scale = Scale::new(ScaleKind::MultiLabel, &names).unwrap();
        let all = Answer::Options(OptionSet::from_bits(u64::MAX));
        let name = scale.name_of_answer(&all).unwrap().into_owned();
        assert_eq!(name.split(" + ").count(), 64);
        assert_eq!(scale.answer_named(&name), Some(all));
    }

    /// Earlier versions stored every set of up to six options as a level, under another name of the
    /// kind.
    #[test]
    fn what_earlier_versions_wrote_is_read() {
        let sets = [
            "none",
            "rude",
            "threat",
            "rude + threat",
            "lie",
            "rude + lie",
            "threat + lie",
            "rude + threat + lie",
        ];
        let scale = Scale::new(ScaleKind::MultiLabel, ["rude", "threat", "lie"]).unwrap();
        assert_eq!(Scale::new(ScaleKind::MultiLabel, sets), Ok(scale.clone()));
        let old = format!(r#"{{"kind":"multi-choice","levels":{sets:?}}}"#);
        assert_eq!(serde_json::from_str::<Scale>(&old).unwrap(), scale);
        assert_eq!("multi-choice".parse(), Ok(ScaleKind::MultiLabel));
        assert_eq!(
            (ScaleKind::MultiLabel.name(), ScaleKind::MultiLabel.to_string().as_str()),
            ("multi-label", "multi-label")
        );
        assert_eq!(serde_json::to_string(&ScaleKind::MultiLabel).unwrap(), r#""multi-label""#);
    }

    #[test]
    fn guesses_sets_where_options_recur() {
        let kind = |values: &[&str]| Scale::guess(values).unwrap().kind();
        assert_eq!(kind(&["rude", "rude;lie", "none"]), ScaleKind::MultiLabel);
        assert_eq!(kind(&["rude", "rude|lie"]), ScaleKind::MultiLabel);
        assert_eq!(kind(&["yes; really", "no", "maybe"]), ScaleKind::Choice);
        assert_eq!(Scale::guess(["b", "a|b"]).unwrap().levels(), ["a", "b"]);
    }

    #[test]
    fn refuses_what_are_no_options() {
        let new = |options: &[&str]| Scale::new(ScaleKind::MultiLabel, options);
        assert_eq!(new(&["a"]), Err(ScaleError::TooFew(1)));
        assert_eq!(new(&["a", "none"]), Err(ScaleError::OptionName("none".into())));
        assert_eq!(new(&["a", "b;c"]), Err(ScaleError::OptionName("b;c".into())));
        let many: Vec<String> = (0..65).map(|n| n.to_string()).collect();
        assert_eq!(Scale::new(ScaleKind::MultiLabel, many), Err(ScaleError::TooManyOptions(65)));
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
        let multi = Scale::new(ScaleKind::MultiLabel, ["a", "b", "c"]).unwrap();
        let both = Answer::Options(OptionSet::from_bits(0b101));
        assert_eq!(multi.answer_named("c; a"), Some(both.clone()));
        assert_eq!(multi.name_of_answer(&both).as_deref(), Some("a + c"));
        assert_eq!(multi.name_of_answer(&Answer::Options(OptionSet::from_bits(1 << 40))), None);
        assert_eq!(multi.name_of_answer(&Answer::Level(1)), None);
        let ordinal = Scale::guess(["1", "2", "3"]).unwrap();
        assert_eq!(ordinal.answer_named(" 3 "), Some(Answer::Level(2)));
        assert_eq!(ordinal.name_of_answer(&Answer::Level(2)).as_deref(), Some("3"));
        assert_eq!((ordinal.answer_named("4"), ordinal.name_of_answer(&Answer::Level(3))), (None, None));
    }

    #[rstest]
    #[case::three_of_two(r#"{"kind":"binary","levels":["a","b","c"]}"#)]
    #[case::twice(r#"{"kind":"choice","levels":["a","a"]}"#)]
    #[case::no_level(r#"{"kind":"ordinal","levels":[]}"#)]
    #[case::blank(r#"{"kind":"choice","levels":["a"," "]}"#)]
    fn json_that_is_no_scale_is_refused(#[case] wrong: &str) {
        assert!(serde_json::from_str::<Scale>(wrong).is_err());
    }

    #[test]
    fn levels_in_json_are_trimmed() {
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
