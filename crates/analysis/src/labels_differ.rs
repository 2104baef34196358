//! How far the labels of one text differ, without predictions.

use dissensus_domain::{Answer, AnswerForm, LevelId, Scale, TargetKind};
use dissensus_training::live::{differing_labels, split_of_labels};

/// How far these answers to one text differ, from 0 (all alike) to 1: on an ordinal scale the mean squared
/// distance of two of them divided by the maximum for as many people, otherwise the probability that two of
/// them differ, for levels divided by its maximum. Needs two answers.
pub fn labels_differ(scale: &Scale, answers: &[&Answer]) -> Option<f32> {
    // "Cannot say" answers are excluded.
    let answers: Vec<&Answer> =
        answers.iter().copied().filter(|answer| **answer != Answer::CannotSay).collect();
    let answers = answers.as_slice();
    match scale.form() {
        AnswerForm::Level => {
            let counts = level_counts(scale, answers);
            match scale.target() {
                TargetKind::Ordinal => split_of_labels(&counts),
                TargetKind::Binary | TargetKind::Nominal => differing_labels(&counts),
            }
        }
        AnswerForm::Options | AnswerForm::Spans => {
            let n = answers.len();
            let pairs =
                answers.iter().enumerate().flat_map(|(at, a)| answers[..at].iter().map(move |b| a != b));
            let differ = pairs.filter(|differ| *differ).count();
            (n > 1).then(|| (2 * differ) as f32 / (n * (n - 1)) as f32)
        }
    }
}

/// How many of these answers hold each level, option or type.
pub fn level_counts(scale: &Scale, answers: &[&Answer]) -> Vec<u32> {
    let count = |level: &LevelId| answers.iter().filter(|answer| answer.includes(*level)).count() as u32;
    scale.ids().iter().map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::{ScaleKind, Span, SpanSet};

    fn scale(kind: ScaleKind, levels: &[&str]) -> Scale {
        let levels: Vec<String> = levels.iter().map(|level| (*level).to_owned()).collect();
        Scale::new(kind, &levels).unwrap()
    }

    #[test]
    fn label_difference_depends_on_the_scale() {
        let levels = |levels: &[u16]| levels.iter().map(|l| Answer::from_level(*l)).collect::<Vec<_>>();
        let ordinal = scale(ScaleKind::Ordinal, &["1", "2", "3"]);
        let of =
            |scale: &Scale, answers: &[Answer]| labels_differ(scale, &answers.iter().collect::<Vec<_>>());
        assert_eq!(of(&ordinal, &levels(&[1])), None);
        assert_eq!(of(&ordinal, &[Answer::from_level(1), Answer::CannotSay]), None);
        assert_eq!(of(&ordinal, &levels(&[0, 2])), Some(1.0));
        assert!(of(&ordinal, &levels(&[0, 1])).unwrap() < 0.5);
        assert_eq!(of(&scale(ScaleKind::Choice, &["a", "b", "c"]), &levels(&[0, 1])), Some(1.0));
        let spans = scale(ScaleKind::Spans, &["insult"]);
        let mark =
            |end| Answer::Spans(SpanSet::try_from(vec![Span { start: 0, end, kind: LevelId(0) }]).unwrap());
        assert_eq!(of(&spans, &[mark(3)]), None);
        assert_eq!(of(&spans, &[mark(3), mark(3)]), Some(0.0));
        assert_eq!(of(&spans, &[mark(3), mark(4)]), Some(1.0));
        assert_eq!(level_counts(&spans, &[&mark(3), &mark(4)]), [2]);
    }
}
