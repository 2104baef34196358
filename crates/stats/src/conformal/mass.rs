//! The conformal score of a level: its rank in a prediction, measured in probability.

/// For every level the probability of the levels that precede it, the most likely one first: 0 for that one,
/// so that no set is empty. This is the score of adaptive prediction sets (Romano, Sesia and Candès 2020,
/// Classification with valid and adaptive coverage, eq. 5) without the level itself and without
/// randomisation. On an `ordinal` scale sets grow from the most likely level to the more likely of its two
/// neighbours, so that each is a run of levels (Lu, Angelopoulos and Pomerantz 2022, Improving
/// trustworthiness of AI disease severity rating with ordinal conformal prediction sets). Writes one number
/// per level.
pub fn mass_before(p: &[f32], ordinal: bool, out: &mut [f64]) {
    if ordinal {
        grow(p, out);
        return;
    }
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*b].total_cmp(&p[*a]).then(a.cmp(b)));
    let mut before = 0.0;
    for level in order {
        out[level] = before;
        before += f64::from(p[level]);
    }
}

fn grow(p: &[f32], out: &mut [f64]) {
    let mode = usize::from(crate::metrics::most_likely(p));
    let (mut low, mut high, mut before) = (mode, mode, 0.0);
    if let Some(first) = out.get_mut(mode) {
        *first = 0.0;
        before = f64::from(p[mode]);
    }
    while low > 0 || high + 1 < p.len() {
        let down = (low > 0).then(|| p[low - 1]);
        let up = p.get(high + 1).copied();
        let next = if down >= up { low - 1 } else { high + 1 };
        out[next] = before;
        before += f64::from(p[next]);
        low = low.min(next);
        high = high.max(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before(p: &[f32], ordinal: bool) -> Vec<f64> {
        let mut out = vec![f64::NAN; p.len()];
        mass_before(p, ordinal, &mut out);
        out.iter().map(|v| (v * 1e4).round() / 1e4).collect()
    }

    #[test]
    fn mass_orders_levels_by_probability() {
        assert_eq!(before(&[0.1, 0.5, 0.05, 0.35], false), [0.85, 0.0, 0.95, 0.5]);
        // Contiguous: level 3 is only reached through level 2.
        assert_eq!(before(&[0.1, 0.5, 0.05, 0.35], true), [0.5, 0.0, 0.6, 0.65]);
        assert_eq!(before(&[0.7, 0.3], true), before(&[0.7, 0.3], false));
        assert_eq!(before(&[0.2, 0.2, 0.6], true), [0.8, 0.6, 0.0]);
        assert_eq!(before(&[1.0], true), [0.0]);
    }
}
