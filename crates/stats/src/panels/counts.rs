//! Distributions of sums of independent answers, at all nodes at once: rows are values of the sum, each with
//! a number for every node.

/// `y += a * x`, element by element.
#[inline]
pub(super) fn add_product(y: &mut [f64], a: &[f64], x: &[f64]) {
    for ((y, a), x) in y.iter_mut().zip(a).zip(x) {
        *y += a * x;
    }
}

/// Distribution of the number of successes among people with the given `chances` (Poisson-binomial): counts x
/// nodes.
pub(super) fn poisson_binomial<'a>(
    nodes: usize,
    chances: impl Iterator<Item = std::borrow::Cow<'a, [f64]>>,
) -> Vec<f64> {
    let mut counts = vec![1.0; nodes];
    for p in chances {
        let before = counts.len();
        counts.resize(before + nodes, 0.0);
        for at in (0..counts.len()).step_by(nodes).rev() {
            let (lower, row) = counts.split_at_mut(at);
            let row = &mut row[..nodes];
            row.iter_mut().zip(p.iter()).for_each(|(row, p)| *row *= 1.0 - p);
            if at > 0 {
                add_product(row, &p, &lower[at - nodes..]);
            }
        }
    }
    counts
}

/// Distribution of the sum of the people's levels: sums x nodes. `people` are their probabilities, levels x
/// nodes.
pub(super) fn level_sums<'a>(
    nodes: usize,
    levels: usize,
    people: impl Iterator<Item = &'a [f64]>,
) -> Vec<f64> {
    let mut sums = vec![1.0; nodes];
    for p in people {
        let before = sums.len();
        sums.resize(before + nodes * (levels - 1), 0.0);
        for at in (0..sums.len()).step_by(nodes).rev() {
            let (lower, row) = sums.split_at_mut(at);
            let row = &mut row[..nodes];
            row.iter_mut().zip(p).for_each(|(row, p)| *row *= p);
            for (level, p) in p.chunks_exact(nodes).enumerate().skip(1).take(at / nodes) {
                let from = at - level * nodes;
                add_product(row, p, &lower[from..from + nodes]);
            }
        }
    }
    sums
}
