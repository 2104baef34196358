//! Answers as the numbers that models see, and back. Only this file knows how one becomes the other.
//!
//! A model of `perspectives` chooses one of the levels of a scale. An answer to a multi-choice question is one among all sets of its
//! options (the label powerset): the level with the bit of each option.

use dissensus_domain::{Answer, OptionSet, Scale, ScaleKind};

/// The level that models see for an answer; `None` where no model takes such answers.
pub(crate) fn level_of(answer: &Answer) -> Option<u16> {
    match answer {
        Answer::Level(level) => Some(*level),
        Answer::Options(set) => u16::try_from(set.bits()).ok(),
        Answer::Spans(_) => None,
    }
}

/// The answer that a level of a model stands for; `None` beyond the scale.
pub(crate) fn answer_at(scale: &Scale, level: u16) -> Option<Answer> {
    if usize::from(level) >= scale.len() {
        return None;
    }
    Some(match scale.kind() {
        ScaleKind::MultiChoice => Answer::Options(OptionSet::from_bits(u64::from(level))),
        _ => Answer::Level(level),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_one_answer_and_back() {
        for scale in [
            Scale::new(ScaleKind::Ordinal, ["1", "2", "3"]).unwrap(),
            Scale::new(ScaleKind::MultiChoice, ["a", "b", "c"]).unwrap(),
        ] {
            for level in 0..scale.len() as u16 {
                let answer = answer_at(&scale, level).unwrap();
                assert_eq!(answer.check(&scale), Ok(()));
                assert_eq!(level_of(&answer), Some(level));
                assert_eq!(scale.name_of_answer(&answer), scale.name_of(level));
            }
            assert_eq!(answer_at(&scale, scale.len() as u16), None);
        }
        assert_eq!(level_of(&Answer::Options(OptionSet::from_bits(1 << 20))), None);
        assert_eq!(level_of(&Answer::Spans(Default::default())), None);
    }
}
