//! The answer of an annotator: a level, a set of options or a set of spans.

use crate::{LevelId, QuestionId, Scale, ScaleKind};
use serde::{Deserialize, Serialize};

/// The answer stored in a label.
///
/// Levels, options and types of spans are named by [`LevelId`], so that an answer keeps its meaning when the
/// scale is rearranged. In JSON `{"kind": "level", "value": 3}`, `{"kind": "options", "value": [0, 2]}` or
/// `{"kind": "spans", "value": [{"start": 0, "end": 5, "kind": 1}]}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", content = "value", rename_all = "kebab-case")]
pub enum Answer {
    /// A level of a binary, choice or ordinal scale.
    Level(LevelId),
    /// The options chosen on a multi-label scale; may be empty.
    Options(OptionSet),
    /// The passages marked in the text; may be empty.
    Spans(SpanSet),
    /// "Cannot say". Recorded, changed and undone like any answer, but not a level of the scale, so
    /// models and statistics exclude it.
    CannotSay,
}

crate::errors! {
    /// Why an answer does not fit a question.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum AnswerError {
        LevelOutside { level: LevelId, levels: String } =>
            "no level of the scale has the id {level}; it may have been removed. The levels are {levels}";
        OptionOutside { option: LevelId, options: String } =>
            "no option of the scale has the id {option}; it may have been removed. The options are {options}";
        TypeOutside { kind: LevelId, types: String } =>
            "no type of spans has the id {kind}; it may have been removed. The types are {types}";
        OtherKind { scale: ScaleKind, answer: &'static str } => "a {scale} question is not answered with {answer}";
        TooManyOptions(u8) => "option {0} is beyond the {max} that a set can hold" (max = OptionSet::MAX);
        EmptySpan { start: u32, end: u32 } => "a span from {start} to {end} holds no character";
        SpanOutside { end: u32, characters: usize } =>
            "a span ends at {end}, and the text has {characters} characters: offsets count characters (Unicode code points) from 0";
    }
}

impl Answer {
    /// Checks that this answer is valid on `scale`.
    ///
    /// # Errors
    /// The scale has no such level or option, or takes another kind of answer.
    pub fn check(&self, scale: &Scale) -> Result<(), AnswerError> {
        match (self, scale.kind().rules().refuses_cannot_say()) {
            (Self::CannotSay, None) => Ok(()),
            (Self::CannotSay, Some(answer)) => Err(AnswerError::OtherKind { scale: scale.kind(), answer }),
            _ => scale.kind().rules().check(self, scale),
        }
    }

    /// Converts the answer to an answer to `question`. For an option ([`QuestionId::of_option`]) of
    /// a multi-label question this is level 1 if the option is chosen and level 0 otherwise; for a
    /// type of span, whether the text has a span of that type.
    pub fn to(self, question: QuestionId) -> Self {
        match (self, question.option()) {
            (answer @ (Self::Options(_) | Self::Spans(_)), Some(option)) => {
                Self::Level(if answer.includes(option) { LevelId::YES } else { LevelId::NO })
            }
            (answer, _) => answer,
        }
    }

    /// An answer with this level.
    pub fn from_level(level: impl Into<LevelId>) -> Self {
        Self::Level(level.into())
    }

    /// The level, if the answer is one.
    pub fn level(&self) -> Option<LevelId> {
        match self {
            Self::Level(level) => Some(*level),
            _ => None,
        }
    }
}

/// A set of up to 64 options: in an [`Answer`] by [`LevelId`], in statistics by column, which is the position
/// on the scale ([`Scale::columns_of`] and [`Scale::options_at`] convert). Serialized to JSON as an array in
/// ascending order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<u8>", into = "Vec<u8>")]
pub struct OptionSet(u64);

impl OptionSet {
    /// Maximum number of options.
    pub const MAX: u8 = 64;

    /// Creates the set of the options whose bits are set in `bits`.
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the set as a bit mask.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// Creates a set of options.
    ///
    /// # Errors
    /// An index is [`OptionSet::MAX`] or greater.
    pub fn new(options: impl IntoIterator<Item = u8>) -> Result<Self, AnswerError> {
        options.into_iter().try_fold(Self::default(), |set, option| match option < Self::MAX {
            true => Ok(Self(set.0 | 1 << option)),
            false => Err(AnswerError::TooManyOptions(option)),
        })
    }

    pub fn contains(self, option: u8) -> bool {
        option < Self::MAX && self.0 >> option & 1 == 1
    }

    /// Whether the set of an answer includes this option.
    pub(crate) fn includes(self, option: LevelId) -> bool {
        u8::try_from(option.0).is_ok_and(|option| self.contains(option))
    }

    /// Number of options in the set.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the options in ascending order.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..Self::MAX).filter(move |option| self.contains(*option))
    }
}

/// Options beyond the capacity of a set are left out.
impl FromIterator<u8> for OptionSet {
    fn from_iter<I: IntoIterator<Item = u8>>(options: I) -> Self {
        let fits = options.into_iter().filter(|option| *option < Self::MAX);
        Self(fits.fold(0, |set, option| set | 1 << option))
    }
}

impl TryFrom<Vec<u8>> for OptionSet {
    type Error = AnswerError;

    fn try_from(options: Vec<u8>) -> Result<Self, AnswerError> {
        Self::new(options)
    }
}

impl From<OptionSet> for Vec<u8> {
    fn from(set: OptionSet) -> Self {
        set.iter().collect()
    }
}

#[cfg(feature = "specta")]
impl specta::Type for OptionSet {
    fn definition(types: &mut specta::Types) -> specta::datatype::DataType {
        Vec::<u8>::definition(types)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for OptionSet {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        Vec::<u8>::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<u8>::json_schema(generator)
    }
}

/// A passage of a text: the characters from `start` (inclusive) to `end` (exclusive), counted in
/// Unicode scalar values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Span {
    pub start: u32,
    pub end: u32,
    /// The span's type.
    pub kind: LevelId,
}

/// The spans of one answer, sorted and without duplicates, so that equal answers compare equal.
/// Serialized to JSON as an array.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<Span>", into = "Vec<Span>")]
pub struct SpanSet(Vec<Span>);

impl SpanSet {
    /// Creates a set of spans.
    ///
    /// # Errors
    /// A span is empty.
    pub fn new(spans: impl IntoIterator<Item = Span>) -> Result<Self, AnswerError> {
        let mut spans: Vec<Span> = spans.into_iter().collect();
        if let Some(Span { start, end, .. }) = spans.iter().find(|span| span.start >= span.end) {
            return Err(AnswerError::EmptySpan { start: *start, end: *end });
        }
        spans.sort_unstable();
        spans.dedup();
        Ok(Self(spans))
    }

    /// The spans, sorted by start, end and kind.
    pub fn as_slice(&self) -> &[Span] {
        &self.0
    }

    /// Checks that every span is inside `text`.
    ///
    /// # Errors
    /// A span ends after the end of the text; the first one is reported.
    pub fn check_within(&self, text: &str) -> Result<(), AnswerError> {
        let characters = text.chars().count();
        match self.0.iter().find(|span| span.end as usize > characters) {
            Some(span) => Err(AnswerError::SpanOutside { end: span.end, characters }),
            None => Ok(()),
        }
    }
}

impl TryFrom<Vec<Span>> for SpanSet {
    type Error = AnswerError;

    fn try_from(spans: Vec<Span>) -> Result<Self, AnswerError> {
        Self::new(spans)
    }
}

impl From<SpanSet> for Vec<Span> {
    fn from(set: SpanSet) -> Self {
        set.0
    }
}

#[cfg(feature = "specta")]
impl specta::Type for SpanSet {
    fn definition(types: &mut specta::Types) -> specta::datatype::DataType {
        Vec::<Span>::definition(types)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for SpanSet {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        Vec::<Span>::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<Span>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn span(start: u32, end: u32, kind: u16) -> Span {
        Span { start, end, kind: LevelId(kind) }
    }

    #[rstest]
    #[case::level(Answer::from_level(3), r#"{"kind":"level","value":3}"#)]
    #[case::options(Answer::Options(OptionSet::from_bits(0b101)), r#"{"kind":"options","value":[0,2]}"#)]
    #[case::no_option(Answer::Options(OptionSet::default()), r#"{"kind":"options","value":[]}"#)]
    #[case::cannot_say(Answer::CannotSay, r#"{"kind":"cannot-say"}"#)]
    #[case::sorted_spans(
        Answer::Spans(SpanSet::new([span(7, 9, 0), span(0, 5, 1), span(7, 9, 0)]).unwrap()),
        r#"{"kind":"spans","value":[{"start":0,"end":5,"kind":1},{"start":7,"end":9,"kind":0}]}"#
    )]
    fn answers_round_trip_as_json(#[case] answer: Answer, #[case] json: &str) {
        assert_eq!(serde_json::to_string(&answer).unwrap(), json);
        assert_eq!(serde_json::from_str::<Answer>(json).unwrap(), answer);
    }

    #[rstest]
    #[case::option_too_far(r#"{"kind":"options","value":[64]}"#)]
    #[case::empty_span(r#"{"kind":"spans","value":[{"start":5,"end":5,"kind":0}]}"#)]
    #[case::negative_level(r#"{"kind":"level","value":-1}"#)]
    #[case::unknown_kind(r#"{"kind":"dream","value":1}"#)]
    fn invalid_answer_json_is_refused(#[case] wrong: &str) {
        assert!(serde_json::from_str::<Answer>(wrong).is_err());
    }

    #[test]
    fn set_holds_at_most_64_options() {
        let set = OptionSet::new([63, 0, 7, 7]).unwrap();
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 7, 63]);
        assert_eq!((set.len(), set.is_empty(), set.contains(63), set.contains(64)), (3, false, true, false));
        assert_eq!(OptionSet::new([64]), Err(AnswerError::TooManyOptions(64)));
        assert_eq!(OptionSet::from_bits(set.bits()), set);
    }

    #[test]
    fn answer_must_match_the_scale() {
        let ordinal = Scale::new(ScaleKind::Ordinal, ["1", "2", "3"]).unwrap();
        let multi = Scale::new(ScaleKind::MultiLabel, ["a", "b", "c"]).unwrap();
        let options = |bits| Answer::Options(OptionSet::from_bits(bits));
        let spans = Answer::Spans(SpanSet::default());
        assert_eq!(Answer::from_level(2).check(&ordinal), Ok(()));
        assert_eq!((Answer::CannotSay.check(&ordinal), Answer::CannotSay.check(&multi)), (Ok(()), Ok(())));
        let spans_scale = Scale::new(ScaleKind::Spans, ["insult"]).unwrap();
        assert!(Answer::CannotSay.check(&spans_scale).is_err());
        assert_eq!(Answer::CannotSay.to(QuestionId(1).of_option(0)), Answer::CannotSay);
        let outside = AnswerError::LevelOutside { level: LevelId(3), levels: "1, 2, 3".to_owned() };
        assert_eq!(Answer::from_level(3).check(&ordinal), Err(outside));
        assert_eq!(options(0b111).check(&multi), Ok(()));
        assert_eq!(options(0).check(&multi), Ok(()));
        let outside = AnswerError::OptionOutside { option: LevelId(3), options: "a, b, c".to_owned() };
        assert_eq!(options(0b1000).check(&multi), Err(outside));
        let other = |scale, answer| Err(AnswerError::OtherKind { scale, answer });
        assert_eq!(Answer::from_level(0).check(&multi), other(ScaleKind::MultiLabel, "a level"));
        assert_eq!(options(0).check(&ordinal), other(ScaleKind::Ordinal, "a set of options"));
        assert_eq!(spans.check(&ordinal), other(ScaleKind::Ordinal, "spans"));
    }

    #[test]
    fn answers_name_levels_by_id() {
        let ids = [7, 0, 3].map(LevelId);
        let ordinal = Scale::with_ids(ScaleKind::Ordinal, ["low", "mid", "high"], ids.to_vec()).unwrap();
        assert_eq!(Answer::from_level(3).check(&ordinal), Ok(()));
        assert!(Answer::from_level(1).check(&ordinal).is_err());
        assert_eq!(ordinal.name_of_answer(&Answer::from_level(7)).as_deref(), Some("low"));
        assert_eq!(ordinal.answer_named("high"), Some(Answer::from_level(3)));
        let multi = Scale::with_ids(ScaleKind::MultiLabel, ["a", "b", "c"], ids.to_vec()).unwrap();
        let set = OptionSet::new([7, 3]).unwrap();
        assert_eq!(multi.answer_named("c; a"), Some(Answer::Options(set)));
        assert_eq!(multi.name_of_answer(&Answer::Options(set)).as_deref(), Some("a + c"));
        assert_eq!(multi.columns_of(set), OptionSet::new([0, 2]).unwrap());
        assert_eq!(multi.options_at(multi.columns_of(set)), set);
        assert!(Answer::Options(OptionSet::new([1]).unwrap()).check(&multi).is_err());
        let types = Scale::with_ids(ScaleKind::Spans, ["a", "b", "c"], ids.to_vec()).unwrap();
        let spans = SpanSet::new([span(0, 2, 3), span(0, 2, 7), span(0, 1, 0)]).unwrap();
        let name = types.name_of_spans(&spans).unwrap();
        let (first, second) = (name.find("\"a\"").unwrap(), name.find("\"c\"").unwrap());
        assert!(first < second, "equal passages are listed in the order of the scale: {name}");
        assert_eq!(types.answer_named(&name), Some(Answer::Spans(spans)));
    }

    #[test]
    fn spans_count_characters_not_bytes() {
        let spans = SpanSet::new([span(0, 3, 0)]).unwrap();
        assert_eq!(spans.check_within("äöü"), Ok(()));
        assert_eq!(spans.check_within("äö"), Err(AnswerError::SpanOutside { end: 3, characters: 2 }));
    }
}
