//! Determines which re-annotations can be written to a file that distinguishes annotation rounds only by the
//! order of times and lines.

use super::labels::ToolAnswer;
use std::collections::HashMap;

/// Whether each of `answers` can be written so that its annotation round follows from the order of times: the
/// first answer is there, no round between is missing, none is earlier than the one before, and none is the
/// same answer at the same time. First answers always can. `time` is the time that is written.
pub(crate) fn tellable(answers: &[ToolAnswer], time: impl Fn(&ToolAnswer) -> Option<i64>) -> Vec<bool> {
    let mut chains: HashMap<(usize, usize, usize), Vec<usize>> = HashMap::new();
    for (nth, answer) in answers.iter().enumerate().filter(|(_, answer)| answer.answer.is_some()) {
        chains.entry((answer.text, answer.person, answer.question)).or_default().push(nth);
    }
    let mut tellable: Vec<bool> = answers.iter().map(|answer| answer.occasion <= 1).collect();
    for mut chain in chains.into_values().filter(|chain| chain.len() > 1) {
        chain.sort_by_key(|nth| answers[*nth].occasion);
        let fits = |before: &[usize], nth: usize| {
            let (this, last) = (&answers[nth], before.last().map(|last| &answers[*last]));
            let same = |other: &&usize| {
                let other = &answers[**other];
                (&other.answer, time(other)) == (&this.answer, time(this))
            };
            match last {
                None => this.occasion == 1,
                Some(last) => {
                    this.occasion == last.occasion + 1
                        && time(this) >= time(last)
                        && !before.iter().any(|other| same(&other))
                }
            }
        };
        let mut held: Vec<usize> = Vec::new();
        for nth in chain {
            if !fits(&held, nth) {
                break;
            }
            tellable[nth] = true;
            held.push(nth);
        }
    }
    tellable
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::Answer;

    fn answers(given: &[(u16, u16, Option<i64>)]) -> Vec<ToolAnswer> {
        let one = |(occasion, level, at_ms): &(u16, u16, Option<i64>)| ToolAnswer {
            occasion: *occasion,
            answer: Some(Answer::from_level(*level)),
            at_ms: *at_ms,
            ..ToolAnswer::default()
        };
        given.iter().map(one).collect()
    }

    #[test]
    fn round_order_must_follow_times() {
        let held = |given: &[(u16, u16, Option<i64>)]| tellable(&answers(given), |answer| answer.at_ms);
        assert_eq!(held(&[(2, 1, Some(5)), (1, 0, Some(1)), (3, 0, Some(9))]), [true, true, true]);
        assert_eq!(held(&[(1, 0, None), (2, 1, None)]), [true, true], "without times by their order");
        assert_eq!(held(&[(2, 1, Some(5))]), [false], "the first answer is not there");
        assert_eq!(held(&[(1, 0, Some(1)), (3, 1, Some(5))]), [true, false], "the second is missing");
        assert_eq!(held(&[(1, 0, Some(7)), (2, 1, Some(5))]), [true, false], "the first was changed later");
        assert_eq!(held(&[(1, 0, Some(7)), (2, 0, Some(7))]), [true, false], "the same, given once");
        let all = [(1, 0, Some(1)), (2, 1, Some(0)), (3, 1, Some(5))];
        assert_eq!(held(&all), [true, false, false], "nothing follows one that is unknown");
    }
}
