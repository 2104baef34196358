//! Correlation of two lists of numbers.

/// Pearson's product-moment correlation: `sum (x - mx)(y - my) / sqrt(sum (x - mx)^2 sum (y - my)^2)`
/// (Pearson 1896; scipy's `pearsonr`). `None` for fewer than two pairs and where either list is constant.
/// Lists of different length are truncated to the shorter one.
pub fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    let n = x.len().min(y.len());
    if n < 2 {
        return None;
    }
    let (x, y) = (&x[..n], &y[..n]);
    let mean = |v: &[f64]| v.iter().sum::<f64>() / n as f64;
    let (mx, my) = (mean(x), mean(y));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        xx += (x - mx).powi(2);
        yy += (y - my).powi(2);
        xy += (x - mx) * (y - my);
    }
    // Below this a list is constant up to the rounding of its mean.
    let varies = |squares: f64, v: &[f64]| {
        let size = v.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        squares > 1e-22 * n as f64 * size * size
    };
    (varies(xx, x) && varies(yy, y)).then(|| (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0))
}

/// Spearman's rank correlation: Pearson's of the ranks, with ties sharing their average rank (Spearman 1904;
/// scipy's `spearmanr`). `None` as for [`pearson`]. Lists of different length are truncated to the shorter
/// one.
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    let n = x.len().min(y.len());
    pearson(&ranks(&x[..n]), &ranks(&y[..n]))
}

/// Ranks from 1; ties share their average rank.
pub(crate) fn ranks(values: &[f64]) -> Vec<f64> {
    let order = order(values);
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for tie in order.chunk_by(|&a, &b| values[a as usize] == values[b as usize]) {
        for &i in tie {
            ranks[i as usize] = before as f64 + (tie.len() + 1) as f64 / 2.0;
        }
        before += tie.len();
    }
    ranks
}

/// Positions of `values` from the smallest to the largest; ties in order of position.
pub(crate) fn order(values: &[f64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]).then(a.cmp(&b)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_the_mean_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0, 3.0]), [4.0, 1.0, 4.0, 2.0, 4.0]);
        assert_eq!(ranks(&[]), Vec::<f64>::new());
    }

    #[test]
    fn correlation_of_a_line_and_a_constant() {
        let x: Vec<f64> = (0..50).map(|i| 0.1 * f64::from(i)).collect();
        let down: Vec<f64> = x.iter().map(|x| 7.0 - 3.0 * x).collect();
        let bent: Vec<f64> = x.iter().map(|x| x.exp()).collect();
        assert!((pearson(&x, &down).unwrap() + 1.0).abs() < 1e-12);
        assert_eq!(spearman(&x, &bent), Some(1.0));
        assert!(pearson(&x, &bent).unwrap() < 0.9);
        assert_eq!(pearson(&x, &[0.1; 50]), None);
        assert_eq!(spearman(&[0.1; 50], &x), None);
        assert_eq!(pearson(&[1.0], &[2.0]), None);
        assert_eq!(spearman(&[], &[]), None);
    }
}
