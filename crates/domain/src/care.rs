//! Limits and settings that protect annotators who label harmful texts.

use crate::{Answer, LevelId, Scale, TargetKind};
use serde::{Deserialize, Serialize};

/// Study-wide settings that apply to every annotator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StudyLimits {
    /// Number of harmful texts after which an annotator is done for the day; `None` for no limit.
    pub limit: Option<u32>,
    /// Whether labelling stops for the day at the limit.
    pub strict: bool,
    /// Whether texts and pictures are shown without colour.
    pub greyscale: bool,
}

impl StudyLimits {
    /// The limit of an annotator who chose their own limit, or none. It may exceed the study's
    /// limit only if that is not strict.
    pub fn limit_of(&self, own: Option<u32>) -> Option<u32> {
        match (self.limit, own) {
            (Some(study), Some(own)) if self.strict => Some(study.min(own)),
            (study, own) => own.or(study),
        }
    }
}

/// Whether an answer marks a text as harmful. On an ordinal scale, `level` and every level above it
/// are harmful; on other scales only that level, option or type of span.
pub fn is_harmful(answer: &Answer, scale: &Scale, level: LevelId) -> bool {
    match (scale.index_of_answer(answer), scale.index_of_id(level)) {
        (Some(given), Some(from)) if scale.target().has_distances() => given >= from,
        _ => answer.includes(level),
    }
}

/// Like [`is_harmful`] for a prediction: whether the probability of harm is at least 0.5.
/// `probabilities` are per level, or per option the probability that it is chosen.
pub fn is_predicted_harmful(probabilities: &[f32], scale: &Scale, level: LevelId) -> bool {
    let Some(from) = scale.index_of_id(level).map(usize::from) else { return false };
    let probability: f32 = match scale.target() {
        TargetKind::Ordinal => probabilities.iter().skip(from).sum(),
        TargetKind::Binary | TargetKind::Nominal => probabilities.get(from).copied().unwrap_or(0.0),
    };
    probability >= 0.5
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScaleKind;

    #[test]
    fn strict_limit_can_only_be_lowered() {
        let study = |limit, strict| StudyLimits { limit, strict, greyscale: false };
        assert_eq!(study(Some(20), true).limit_of(Some(50)), Some(20));
        assert_eq!(study(Some(20), true).limit_of(Some(5)), Some(5));
        assert_eq!(study(Some(20), false).limit_of(Some(50)), Some(50));
        assert_eq!(study(Some(20), true).limit_of(None), Some(20));
        assert_eq!(study(None, false).limit_of(Some(5)), Some(5));
        assert_eq!(study(None, true).limit_of(None), None);
    }

    #[test]
    fn harmful_levels_depend_on_the_scale() {
        let ordinal = Scale::new(ScaleKind::Ordinal, ["0", "1", "2", "3"]).unwrap();
        let binary = Scale::new(ScaleKind::Binary, ["fine", "harmful"]).unwrap();
        assert!(
            is_harmful(&Answer::Level(LevelId(3)), &ordinal, LevelId(2))
                && !is_harmful(&Answer::Level(LevelId(1)), &ordinal, LevelId(2))
        );
        assert!(
            is_harmful(&Answer::Level(LevelId(0)), &binary, LevelId(0))
                && !is_harmful(&Answer::Level(LevelId(1)), &binary, LevelId(0))
        );
        let ids = [2, 0, 1].map(LevelId).to_vec();
        let moved = Scale::with_ids(ScaleKind::Ordinal, ["0", "1", "2"], ids).unwrap();
        let is = |given, from| is_harmful(&Answer::Level(LevelId(given)), &moved, LevelId(from));
        assert!(is(1, 0) && is(0, 2) && !is(2, 0), "the position counts and not the id");
        assert!(is_predicted_harmful(&[0.2, 0.2, 0.6], &moved, LevelId(1)));
        assert!(is_predicted_harmful(&[0.3, 0.1, 0.2, 0.4], &ordinal, LevelId(2)));
        assert!(!is_predicted_harmful(&[0.3, 0.3, 0.2, 0.2], &ordinal, LevelId(2)));
        assert!(!is_predicted_harmful(&[0.6, 0.4], &binary, LevelId(1)));
        assert!(!is_predicted_harmful(&[0.6], &binary, LevelId(1)), "a level that is not there");
    }
}
