//! The most frequent label of a text.

use super::Observation;

/// The most frequent level of one text; the lowest of those that tie.
pub(crate) fn majority_level(group: &[Observation], levels: usize) -> u16 {
    let mut counts = vec![0usize; levels];
    for o in group {
        counts[usize::from(o.level)] += 1;
    }
    let top = counts.iter().copied().max().unwrap_or(0);
    counts.iter().position(|&c| c == top).unwrap_or(0) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_lowest_level() {
        let group = |levels: &[u16]| -> Vec<Observation> {
            levels
                .iter()
                .enumerate()
                .map(|(a, &level)| Observation { text: 0, annotator: a as u32, level })
                .collect()
        };
        assert_eq!(majority_level(&group(&[2, 1, 2]), 3), 2);
        assert_eq!(majority_level(&group(&[2, 1]), 3), 1);
    }
}
