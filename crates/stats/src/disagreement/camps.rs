//! Detects two camps among the labels of a text.

/// Whether the labels, counted by ordered level, form two camps: a third of them or more on either side of a
/// level that has none, or fewer than either side, with at least `fewest` on either side. Two adjacent levels
/// are not camps.
pub fn two_camps(counts: &[u32], fewest: u32) -> bool {
    let all: u32 = counts.iter().sum();
    let enough = |side: u32| side >= fewest.max(1) && 3 * side >= all;
    (1..counts.len().saturating_sub(1)).any(|between| {
        let (below, above): (u32, u32) = (counts[..between].iter().sum(), counts[between + 1..].iter().sum());
        enough(below) && enough(above) && counts[between] < below.min(above)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn camps_need_distance_and_a_third_each() {
        assert!(two_camps(&[3, 0, 3], 2));
        assert!(two_camps(&[2, 2, 1, 2, 1], 2));
        assert!(!two_camps(&[3, 3, 0, 0, 0], 2), "levels next to each other");
        assert!(!two_camps(&[1, 1, 3, 1, 1], 2), "most are in the middle");
        assert!(!two_camps(&[7, 0, 0, 0, 2], 2), "fewer than a third");
        assert!(!two_camps(&[1, 0, 1], 2) && two_camps(&[1, 0, 1], 1));
        assert!(!two_camps(&[4, 4], 2) && !two_camps(&[], 1) && !two_camps(&[0, 0, 0], 0));
    }
}
