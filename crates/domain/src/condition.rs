//! Conditions on when a question is asked.

use crate::{Answer, LevelId, QuestionId};
use serde::{Deserialize, Serialize};

/// Asks a question only if another one was answered in a certain way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Condition {
    pub question: QuestionId,
    /// The levels that meet the condition, at least one, in ascending order of ids. For options and types
    /// of spans, the answer must include at least one of them.
    pub levels: Vec<LevelId>,
}

impl Condition {
    /// Creates a condition on the answer to `question`; `levels` may be unsorted and repeated.
    pub fn new(question: QuestionId, levels: impl IntoIterator<Item = impl Into<LevelId>>) -> Self {
        let mut levels: Vec<LevelId> = levels.into_iter().map(Into::into).collect();
        levels.sort_unstable();
        levels.dedup();
        Self { question, levels }
    }

    /// Whether this answer to the other question meets the condition.
    pub fn holds(&self, answer: &Answer) -> bool {
        self.levels.iter().any(|level| answer.includes(*level))
    }
}

/// Whether a question is asked about a text: it has no condition, or the question that its
/// condition depends on is asked and its answer meets the condition. An answer to a question that
/// is not asked meets no condition. Questions whose conditions form a cycle are never asked.
pub fn is_asked<'a>(
    question: QuestionId,
    condition: impl Fn(QuestionId) -> Option<&'a Condition>,
    answer: impl Fn(QuestionId) -> Option<&'a Answer>,
) -> bool {
    let mut seen = Vec::new();
    let mut at = question;
    while let Some(only_if) = condition(at) {
        let met = answer(only_if.question).is_some_and(|answer| only_if.holds(answer));
        if !met || seen.contains(&at) {
            return false;
        }
        seen.push(at);
        at = only_if.question;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OptionSet, Span, SpanSet};
    use std::collections::BTreeMap;

    #[test]
    fn levels_options_and_span_types_meet_a_condition() {
        let only_if = Condition::new(QuestionId(1), [3, 1, 3].map(LevelId));
        assert_eq!(only_if.levels, [1, 3].map(LevelId));
        assert!(only_if.holds(&Answer::Level(LevelId(3))) && !only_if.holds(&Answer::Level(LevelId(2))));
        let options = |bits| Answer::Options(OptionSet::from_bits(bits));
        assert!(only_if.holds(&options(0b1010)) && only_if.holds(&options(0b0011)));
        assert!(!only_if.holds(&options(0b0101)) && !only_if.holds(&options(0)));
        let spans = |kinds: &[u16]| {
            let spans =
                (0..).zip(kinds).map(|(at, kind)| Span { start: at, end: at + 1, kind: LevelId(*kind) });
            Answer::Spans(SpanSet::new(spans).unwrap())
        };
        assert!(
            only_if.holds(&spans(&[0, 1])) && !only_if.holds(&spans(&[0, 2])) && !only_if.holds(&spans(&[]))
        );
    }

    #[test]
    fn question_needs_all_parent_conditions() {
        let [a, b, c] = [QuestionId(1), QuestionId(2), QuestionId(3)];
        let conditions =
            BTreeMap::from([(b, Condition::new(a, [LevelId(1)])), (c, Condition::new(b, [LevelId(0)]))]);
        let asked = |question, answers: &BTreeMap<QuestionId, Answer>| {
            let (conditions, answers) = (conditions.clone(), answers.clone());
            is_asked(question, |q| conditions.get(&q), |q| answers.get(&q))
        };
        let mut answers = BTreeMap::new();
        assert!(asked(a, &answers) && !asked(b, &answers) && !asked(c, &answers));
        answers.insert(a, Answer::Level(LevelId(1)));
        assert!(asked(b, &answers) && !asked(c, &answers));
        answers.insert(b, Answer::Level(LevelId(0)));
        assert!(asked(c, &answers));
        // The answer to b is retained, but b is no longer asked.
        answers.insert(a, Answer::Level(LevelId(0)));
        assert!(!asked(b, &answers) && !asked(c, &answers));
    }

    #[test]
    fn circular_conditions_are_never_asked() {
        let [a, b] = [QuestionId(1), QuestionId(2)];
        let conditions =
            BTreeMap::from([(a, Condition::new(b, [LevelId(0)])), (b, Condition::new(a, [LevelId(0)]))]);
        let answer = Answer::Level(LevelId(0));
        assert!(!is_asked(a, |q| conditions.get(&q), |_| Some(&answer)));
    }
}
