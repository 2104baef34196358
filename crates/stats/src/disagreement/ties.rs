//! Groups of texts that a ranking cannot distinguish.

/// Sizes of groups of consecutive texts that are indistinguishable from the first of each group: those whose
/// values reach the lower end of its interval, `low`. `descending` are all values. At most `most` groups; the
/// texts after them are in none.
pub fn tied(descending: &[f32], most: usize, mut low: impl FnMut(usize) -> f32) -> Vec<u32> {
    let (mut groups, mut from) = (Vec::new(), 0);
    while from < descending.len() && groups.len() < most {
        let end = low(from);
        let to = from + descending[from..].partition_point(|value| *value >= end).max(1);
        groups.push((to - from) as u32);
        from = to;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tied_group_ends_with_the_first_interval() {
        let values = [0.9, 0.8, 0.8, 0.5, 0.1];
        assert_eq!(tied(&values, 9, |_| 0.0), [5]);
        assert_eq!(tied(&values, 9, |at| values[at]), [1, 2, 1, 1]);
        assert_eq!(tied(&values, 9, |at| values[at] - 0.35), [3, 1, 1]);
        assert_eq!(tied(&values, 1, |at| values[at] - 0.15), [3]);
        // An interval that does not contain its own value.
        assert_eq!(tied(&values, 2, |_| 2.0), [1, 1]);
        assert!(tied(&[], 3, |_| 0.0).is_empty());
    }
}
