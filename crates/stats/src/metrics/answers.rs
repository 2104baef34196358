//! Single answers from a predicted distribution; each measure has a different optimal answer.

use crate::data::Target;
use dissensus_domain::TargetKind;

/// Tolerance of cumulative probabilities, which are in single precision.
const ROUNDING: f64 = 1e-6;

/// The level with the largest probability, the lowest in case of ties: it maximises the expected accuracy.
pub fn most_likely(p: &[f32]) -> u16 {
    let mut best = 0;
    for (c, v) in p.iter().enumerate() {
        if *v > p[best] {
            best = c;
        }
    }
    best as u16
}

/// The lowest level whose cumulative probability reaches one half: it minimises the expected distance to the
/// label.
pub(crate) fn median(p: &[f32]) -> u16 {
    let mut below = 0.0;
    let at = p.iter().position(|v| {
        below += f64::from(*v);
        below >= 0.5 - ROUNDING
    });
    at.unwrap_or(p.len().saturating_sub(1)) as u16
}

impl Target {
    /// The level to show as the answer predicted by `p`, one probability per level: the median where levels
    /// are ordered (ordinal), else the most likely one. The lowest in case of ties; 0 without levels.
    pub fn answer(self, p: &[f32]) -> u16 {
        match self.kind {
            TargetKind::Ordinal => median(p),
            TargetKind::Binary | TargetKind::Nominal => most_likely(p),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_is_the_median_or_the_mode() {
        let p = [0.4, 0.05, 0.15, 0.2, 0.2];
        let answer = |kind| Target { kind, levels: 5 }.answer(&p);
        assert_eq!((answer(TargetKind::Ordinal), answer(TargetKind::Nominal)), (2, 0));
    }

    #[test]
    fn ties_go_to_the_lowest_level_despite_rounding() {
        assert_eq!((median(&[0.5, 0.5]), most_likely(&[0.5, 0.5])), (0, 0));
        // In single precision these add up to less than one half.
        assert_eq!(median(&[0.1, 0.2, 0.2, 0.5]), 2);
        assert_eq!(median(&[0.0, 0.0, 1.0]), 2);
        // Probabilities that sum to a little less than one still have a median.
        assert_eq!(median(&[0.2, 0.2999]), 1);
        assert_eq!((median(&[]), most_likely(&[])), (0, 0));
    }
}
