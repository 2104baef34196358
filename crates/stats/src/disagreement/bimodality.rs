//! Agreement on an ordered scale: whether answers concentrate at one position or at two.

/// Van der Eijk's coefficient of agreement A of shares (or counts) over ordered levels, -1..1: 1 where all
/// give one level, 0 where all levels are equally frequent, -1 where half are at each end (van der Eijk 2001,
/// "Measuring agreement in ordered rating scales", Quality & Quantity 35: layers of equal height, each scored
/// by its pattern of empty and non-empty levels). Unlike a variance it distinguishes two camps from one broad
/// opinion. `None` for fewer than three levels or without any counts.
pub fn van_der_eijk(shares: &[f64]) -> Option<f64> {
    if shares.len() < 3 {
        return None;
    }
    let mut left: Vec<f64> = shares.iter().map(|s| s.max(0.0)).collect();
    let total: f64 = left.iter().sum();
    if total.is_nan() || total <= 0.0 {
        return None;
    }
    let none = 1e-12 * total;
    let mut agreement = 0.0;
    while let Some(height) = left.iter().copied().filter(|s| *s > none).reduce(f64::min) {
        let layer: Vec<bool> = left.iter().map(|s| *s > none).collect();
        let members = layer.iter().filter(|in_it| **in_it).count();
        agreement += pattern(&layer) * height * members as f64 / total;
        left.iter_mut().filter(|s| **s > none).for_each(|s| *s -= height);
    }
    Some(agreement.clamp(-1.0, 1.0))
}

/// The agreement of one layer: triples of adjacent levels (`110`, `011`) against those with a gap (`101`).
fn pattern(layer: &[bool]) -> f64 {
    let k = layer.len();
    let members = layer.iter().filter(|in_it| **in_it).count();
    let (mut together, mut gap) = (0.0, 0.0);
    for i in 0..k {
        for j in i + 1..k {
            for l in j + 1..k {
                match (layer[i], layer[j], layer[l]) {
                    (true, true, false) | (false, true, true) => together += 1.0,
                    (true, false, true) => gap += 1.0,
                    _ => {}
                }
            }
        }
    }
    let spread = 1.0 - (members as f64 - 1.0) / (k as f64 - 1.0);
    if together + gap == 0.0 {
        return spread;
    }
    let k = k as f64;
    ((k - 2.0) * together - (k - 1.0) * gap) / ((k - 2.0) * (together + gap)) * spread
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a(shares: &[f64]) -> f64 {
        van_der_eijk(shares).unwrap()
    }

    #[test]
    fn bimodality_at_the_ends_of_the_scale() {
        assert!((a(&[0.0, 9.0, 0.0, 0.0, 0.0]) - 1.0).abs() < 1e-12);
        assert!(a(&[2.0, 2.0, 2.0, 2.0, 2.0]).abs() < 1e-12);
        assert!((a(&[5.0, 0.0, 0.0, 0.0, 5.0]) + 1.0).abs() < 1e-12);
        assert_eq!((van_der_eijk(&[1.0, 1.0]), van_der_eijk(&[0.0; 5])), (None, None));
    }

    /// Worked by hand from the definition: layers of [1, 2, 3, 2, 0] are 1111 0 (height 1), 0111 0 (1) and
    /// 00100 (1).
    #[test]
    fn layers_are_weighted_by_their_mass() {
        let of = |members: f64, together: f64, gap: f64| {
            let u = (3.0 * together - 4.0 * gap) / (3.0 * (together + gap));
            u * (1.0 - (members - 1.0) / 4.0)
        };
        // 11110: triples 110 with the last level: C(4, 2) = 6. 01110: 011 3, 110 3. 00100: neither.
        let expected = (4.0 * of(4.0, 6.0, 0.0) + 3.0 * of(3.0, 6.0, 0.0) + 1.0) / 8.0;
        assert!((a(&[1.0, 2.0, 3.0, 2.0, 0.0]) - expected).abs() < 1e-12);
    }

    #[test]
    fn camps_agree_less_than_a_broad_middle() {
        assert!(a(&[5.0, 0.0, 0.0, 1.0, 3.0]) < 0.0);
        assert!(a(&[1.0, 1.0, 6.0, 0.0, 1.0]) > 0.4);
    }
}
