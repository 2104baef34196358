//! Scales: the levels, options or types that a question offers.

use crate::kind::options_of;
use crate::{Answer, AnswerForm, LevelId, OptionSet, ScaleKind, TargetKind};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeSet;

crate::errors! {
    /// Why levels do not form a scale.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum ScaleError {
        UnknownKind(String, String) => "unknown scale \"{0}\": use {1}";
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
        OptionEnd(String) =>
            "an option cannot be called \"{0}\": a set of options is written with \" + \" between them, and with this one it would read back as other options. Call it differently, for example without the \" +\" at the end";
        Ids { ids: usize, levels: usize } => "{levels} levels need as many different ids, not {ids}";
    }
}

/// The levels of a question, in order, each with the id that answers name it by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scale {
    kind: ScaleKind,
    levels: Vec<String>,
    /// The id of each level; left out if the ids are 0, 1, 2 and so on.
    #[serde(skip_serializing_if = "are_numbered")]
    #[cfg_attr(feature = "specta", specta(optional))]
    #[cfg_attr(feature = "schema", schemars(default))]
    ids: Vec<LevelId>,
}

fn are_numbered(ids: &[LevelId]) -> bool {
    ids.iter().zip(0..).all(|(id, number)| id.0 == number)
}

// Implemented by hand: `serde(try_from)` would generate a second type in the window's bindings.
impl<'de> Deserialize<'de> for Scale {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Unchecked {
            kind: ScaleKind,
            levels: Vec<String>,
            #[serde(default)]
            ids: Vec<LevelId>,
        }
        let Unchecked { kind, levels, ids } = Unchecked::deserialize(deserializer)?;
        let scale = match ids.is_empty() {
            true => Self::new(kind, levels),
            false => Self::with_ids(kind, levels, ids),
        };
        scale.map_err(serde::de::Error::custom)
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

    /// Creates a scale of `kind` with `levels`, lowest (or "no") first, with the ids 0, 1, 2 and so on. Names
    /// are trimmed. For a multi-label scale `levels` are its options, or all sets of options, which is how
    /// earlier versions stored up to six options; for spans they are the types.
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
            Some(options) if kind.rules().form().is_set() => options,
            _ => levels,
        };
        // Before their number: a name listed twice is the mistake, not one level too many.
        let mut seen = BTreeSet::new();
        for level in &levels {
            if level.is_empty() {
                return Err(ScaleError::Blank);
            }
            if !seen.insert(level.as_str()) {
                return Err(ScaleError::Repeated(level.clone()));
            }
        }
        kind.rules().check_names(&levels)?;
        Ok(Self { kind, levels, ids: Vec::new() }.numbered())
    }

    /// Like [`Scale::new`], with the ids of the levels.
    ///
    /// # Errors
    /// Those of [`Scale::new`], or the ids are not as many as the levels, or one occurs twice.
    pub fn with_ids<S: AsRef<str>>(
        kind: ScaleKind,
        levels: impl IntoIterator<Item = S>,
        ids: Vec<LevelId>,
    ) -> Result<Self, ScaleError> {
        let scale = Self::new(kind, levels)?;
        if ids.iter().collect::<BTreeSet<_>>().len() != scale.len() || ids.len() != scale.len() {
            return Err(ScaleError::Ids { ids: ids.len(), levels: scale.len() });
        }
        Ok(Self { ids, ..scale })
    }

    /// Checks the names that are not in `known` for what [`Scale::new`] accepts for old projects only.
    ///
    /// # Errors
    /// The name of an option ends with " +", so that a set with it would read back as other options.
    pub fn check_new(&self, known: &[String]) -> Result<(), ScaleError> {
        let new: Vec<String> = self.levels.iter().filter(|name| !known.contains(name)).cloned().collect();
        self.kind.rules().check_new_names(&new)
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
        let kind = ScaleKind::guess(&distinct);
        Self::new(kind, kind.rules().names_from_values(distinct))
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
        Self::new(kind, kind.rules().names_from_values(distinct))
    }

    pub fn kind(&self) -> ScaleKind {
        self.kind
    }

    /// The names of the levels, lowest (or "no") first; of the options of a multi-label scale; or
    /// of the types of spans.
    pub fn levels(&self) -> &[String] {
        &self.levels
    }

    /// Whether both are of one kind and have the same names in the same order, whatever their ids.
    pub fn reads_like(&self, other: &Self) -> bool {
        (self.kind, &self.levels) == (other.kind, &other.levels)
    }

    /// The same levels with the ids of a new question: 0, 1, 2 and so on.
    pub fn numbered(&self) -> Self {
        let ids = (0..self.levels.len() as u16).map(LevelId).collect();
        Self { kind: self.kind, levels: self.levels.clone(), ids }
    }

    /// The id of each level, in the order of the scale.
    pub fn ids(&self) -> &[LevelId] {
        &self.ids
    }

    /// What an answer consists of.
    pub fn form(&self) -> AnswerForm {
        self.kind.rules().form()
    }

    /// What a model learns from answers to the question, or to each of its options or types.
    pub fn target(&self) -> TargetKind {
        self.kind.rules().target()
    }

    /// Whether answers are levels in an order, lowest (or "no") first.
    pub fn is_ordered(&self) -> bool {
        self.kind.rules().is_ordered()
    }

    /// Whether answers are one of two levels, the second of which means "yes".
    pub fn is_binary(&self) -> bool {
        !self.has_options() && self.target().is_yes_no()
    }

    /// Whether each level is a yes/no question: options and types of spans.
    pub fn has_options(&self) -> bool {
        self.form().has_parts()
    }

    /// The number of levels, options or types of spans; at least two, or one for spans.
    #[allow(clippy::len_without_is_empty)] // a scale is never empty
    pub fn len(&self) -> usize {
        self.levels.len()
    }

    /// The position of the level or option with this name (trimmed), if it is on the scale.
    pub fn index_of(&self, name: &str) -> Option<u16> {
        let name = name.trim();
        self.levels.iter().position(|l| l == name).map(|i| i as u16)
    }

    /// The id of the level or option with this name (trimmed), if it is on the scale.
    pub fn id_named(&self, name: &str) -> Option<LevelId> {
        self.id_at(self.index_of(name)?.into())
    }

    /// The id of the level at this position.
    pub fn id_at(&self, index: usize) -> Option<LevelId> {
        self.ids.get(index).copied()
    }

    /// The position of a level, which is its column in arrays; `None` if it is not on the scale.
    pub fn index_of_id(&self, id: LevelId) -> Option<u16> {
        match self.ids.get(usize::from(id.0)) {
            Some(found) if *found == id => Some(id.0), // most scales were never rearranged
            _ => self.ids.iter().position(|known| *known == id).map(|i| i as u16),
        }
    }

    /// The position of the level of an answer, if it is a level of this scale.
    pub fn index_of_answer(&self, answer: &Answer) -> Option<u16> {
        self.index_of_id(answer.level()?)
    }

    /// The positions of the options in the set of an answer. Options that are not on the scale are left out.
    pub fn columns_of(&self, set: OptionSet) -> OptionSet {
        let columns = (0..OptionSet::MAX).zip(&self.ids).filter(|(_, id)| set.includes(**id));
        columns.map(|(column, _)| column).collect()
    }

    /// The options at these positions, as an answer names them.
    pub fn options_at(&self, columns: OptionSet) -> OptionSet {
        let ids = columns.iter().filter_map(|column| self.id_at(column.into()));
        ids.filter_map(|id| u8::try_from(id.0).ok()).collect()
    }

    /// Whether a cell is [`CANNOT_SAY`]. On a scale that has a level of that name, the cell means
    /// the level.
    pub fn is_cannot_say(&self, cell: &str) -> bool {
        cell.trim() == CANNOT_SAY
            && self.kind.rules().refuses_cannot_say().is_none()
            && self.index_of(cell).is_none()
    }

    /// Parses an answer. [`CANNOT_SAY`] is "cannot say". A set of options is written as `a + b`,
    /// `a; b`, `a|b` or `["a", "b"]`, in any order, and the empty set as `none` or `[]`; spans are
    /// read by [`Scale::spans_named`].
    pub fn answer_named(&self, name: &str) -> Option<Answer> {
        if self.is_cannot_say(name) {
            return Some(Answer::CannotSay);
        }
        self.kind.rules().parse(name, self)
    }

    /// The name of an answer; `None` if it is not on the scale. A set of options is `a + b`, the
    /// empty set `none`.
    pub fn name_of_answer(&self, answer: &Answer) -> Option<Cow<'_, str>> {
        answer.check(self).ok()?;
        answer.format(self)
    }

    /// The name of a level; `None` if it is not on the scale.
    pub fn name_of(&self, id: LevelId) -> Option<&str> {
        self.name_at(self.index_of_id(id)?)
    }

    /// The name of the level at this position.
    pub fn name_at(&self, index: u16) -> Option<&str> {
        self.levels.get(usize::from(index)).map(String::as_str)
    }
}

/// Whether a cell can be a level at all.
fn is_level(cell: &str) -> bool {
    !cell.is_empty() && cell != CANNOT_SAY
}

/// Represents "cannot say" in files and on the command line. No new level may have this name.
pub const CANNOT_SAY: &str = "[cannot say]";

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[test]
    fn cannot_say_is_not_a_level() {
        let guessed = Scale::guess(["1", "3", CANNOT_SAY, " [cannot say] ", "2"]).unwrap();
        assert_eq!(guessed.levels(), ["1", "2", "3"]);
        for (kind, levels) in [(ScaleKind::Ordinal, ["1", "2"]), (ScaleKind::MultiLabel, ["a", "b"])] {
            let scale = Scale::new(kind, levels).unwrap();
            assert_eq!(scale.answer_named(" [cannot say]"), Some(Answer::CannotSay));
            assert_eq!(scale.name_of_answer(&Answer::CannotSay).as_deref(), Some(CANNOT_SAY));
        }
        // An existing scale with a level of this name retains its meaning.
        let odd = Scale::new(ScaleKind::Choice, ["yes", CANNOT_SAY]).unwrap();
        assert_eq!(odd.answer_named(CANNOT_SAY), Some(Answer::from_level(1)));
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
    fn completes_a_common_pair_from_one_level(#[case] only: &str, #[case] pair: [&str; 2]) {
        let scale = Scale::guess([only, " ", CANNOT_SAY]).unwrap();
        assert_eq!((scale.kind(), scale.levels()), (ScaleKind::Binary, &pair.map(str::to_owned)[..]));
    }

    #[test]
    fn single_unpaired_level_is_refused() {
        for unpaired in ["3", "maybe"] {
            assert_eq!(Scale::guess([unpaired]), Err(ScaleError::TooFew(1)));
        }
        assert_eq!(Scale::of_kind(ScaleKind::Binary, ["1"]).unwrap().levels(), ["0", "1"]);
        assert_eq!(Scale::of_kind(ScaleKind::Binary, ["maybe"]), Err(ScaleError::TooFew(1)));
    }

    #[test]
    fn guess_lists_every_option() {
        let scale = Scale::new(ScaleKind::MultiLabel, ["rude", "threat", "lie"]).unwrap();
        assert_eq!(scale.levels(), ["rude", "threat", "lie"]);
        assert!(!scale.is_ordered());
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
    fn sets_of_options_are_parsed(#[case] written: &str, #[case] set: Option<u64>) {
        let scale = Scale::new(ScaleKind::MultiLabel, ["rude", "threat", "lie"]).unwrap();
        let answer = set.map(|set| Answer::Options(OptionSet::from_bits(set)));
        assert_eq!(scale.answer_named(written), answer);
    }

    #[test]
    fn multi_label_scale_may_have_64_options() {
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
    fn scales_of_earlier_versions_are_read() {
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
    fn refuses_invalid_options() {
        let new = |options: &[&str]| Scale::new(ScaleKind::MultiLabel, options);
        assert_eq!(new(&["a"]), Err(ScaleError::TooFew(1)));
        assert_eq!(new(&["a", "none"]), Err(ScaleError::OptionName("none".into())));
        assert_eq!(new(&["a", "b;c"]), Err(ScaleError::OptionName("b;c".into())));
        let many: Vec<String> = (0..65).map(|n| n.to_string()).collect();
        assert_eq!(Scale::new(ScaleKind::MultiLabel, many), Err(ScaleError::TooManyOptions(65)));
        assert_eq!(new(&["a", "a"]), Err(ScaleError::Repeated("a".into())));
    }

    /// A set with the option is written like one of two others. Projects of earlier versions have such names.
    #[test]
    fn refuses_new_options_that_read_back_as_others() {
        let scale = |options: &[&str]| Scale::new(ScaleKind::MultiLabel, options).unwrap();
        let old = scale(&["65 +", "other"]);
        let both = Answer::Options(OptionSet::from_bits(0b11));
        assert_eq!(old.answer_named(&old.name_of_answer(&both).unwrap()), None);
        let refused = old.check_new(&[]).unwrap_err();
        assert_eq!(refused, ScaleError::OptionEnd("65 +".into()));
        assert!(
            refused.to_string().contains("\"65 +\"") && refused.to_string().contains("read back as other")
        );
        for options in [["65+", "other"], ["+ other", "65"], ["+", "+ b"]] {
            let scale = scale(&options);
            assert_eq!(scale.check_new(&[]), Ok(()));
            assert_eq!(
                scale.answer_named(&scale.name_of_answer(&both).unwrap()),
                Some(both.clone()),
                "{options:?}"
            );
        }
        assert_eq!(Scale::new(ScaleKind::Choice, ["65 +", "other"]).unwrap().check_new(&[]), Ok(()));
        assert_eq!(old.check_new(old.levels()), Ok(()), "it is not new");
    }

    #[test]
    fn refuses_invalid_scales() {
        assert_eq!(Scale::new(ScaleKind::Ordinal, ["1"]), Err(ScaleError::TooFew(1)));
        assert!(matches!(Scale::new(ScaleKind::Binary, ["a", "b", "c"]), Err(ScaleError::NotBinary(3, _))));
        assert_eq!(Scale::new(ScaleKind::Choice, ["a", " a"]), Err(ScaleError::Repeated("a".into())));
        assert_eq!(Scale::new(ScaleKind::Binary, ["1", "1", "2"]), Err(ScaleError::Repeated("1".into())));
        assert_eq!(Scale::new(ScaleKind::Choice, ["a", " "]), Err(ScaleError::Blank));
        let many: Vec<String> = (0..101).map(|n| format!("l{n}")).collect();
        assert_eq!(Scale::guess(many), Err(ScaleError::TooMany(101)));
        let unknown = "likert".parse::<ScaleKind>().unwrap_err().to_string();
        assert_eq!(unknown, "unknown scale \"likert\": use binary, choice, multi-label, ordinal or spans");
    }

    #[test]
    fn answers_are_converted_to_names() {
        let multi = Scale::new(ScaleKind::MultiLabel, ["a", "b", "c"]).unwrap();
        let both = Answer::Options(OptionSet::from_bits(0b101));
        assert_eq!(multi.answer_named("c; a"), Some(both.clone()));
        assert_eq!(multi.name_of_answer(&both).as_deref(), Some("a + c"));
        assert_eq!(multi.name_of_answer(&Answer::Options(OptionSet::from_bits(1 << 40))), None);
        assert_eq!(multi.name_of_answer(&Answer::from_level(1)), None);
        let ordinal = Scale::guess(["1", "2", "3"]).unwrap();
        assert_eq!(ordinal.answer_named(" 3 "), Some(Answer::from_level(2)));
        assert_eq!(ordinal.name_of_answer(&Answer::from_level(2)).as_deref(), Some("3"));
        assert_eq!((ordinal.answer_named("4"), ordinal.name_of_answer(&Answer::from_level(3))), (None, None));
    }

    #[rstest]
    #[case::three_of_two(r#"{"kind":"binary","levels":["a","b","c"]}"#)]
    #[case::twice(r#"{"kind":"choice","levels":["a","a"]}"#)]
    #[case::no_level(r#"{"kind":"ordinal","levels":[]}"#)]
    #[case::blank(r#"{"kind":"choice","levels":["a"," "]}"#)]
    #[case::few_ids(r#"{"kind":"choice","levels":["a","b"],"ids":[4]}"#)]
    #[case::equal_ids(r#"{"kind":"choice","levels":["a","b"],"ids":[4,4]}"#)]
    fn invalid_scale_json_is_refused(#[case] wrong: &str) {
        assert!(serde_json::from_str::<Scale>(wrong).is_err());
    }

    #[test]
    fn levels_in_json_are_trimmed() {
        let trimmed: Scale = serde_json::from_str(r#"{"kind":"choice","levels":[" a","b "]}"#).unwrap();
        assert_eq!(trimmed.levels(), ["a", "b"]);
    }

    #[test]
    fn scale_round_trips_as_json() {
        let scale = Scale::guess(["a", "b", "c"]).unwrap();
        let json = serde_json::to_string(&scale).unwrap();
        assert_eq!(json, r#"{"kind":"choice","levels":["a","b","c"]}"#);
        assert_eq!(serde_json::from_str::<Scale>(&json).unwrap(), scale);
        let moved = Scale::with_ids(ScaleKind::Choice, ["c", "a"], vec![LevelId(2), LevelId(0)]).unwrap();
        let json = serde_json::to_string(&moved).unwrap();
        assert_eq!(json, r#"{"kind":"choice","levels":["c","a"],"ids":[2,0]}"#);
        assert_eq!(serde_json::from_str::<Scale>(&json).unwrap(), moved);
    }
}
