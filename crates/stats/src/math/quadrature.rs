//! Gauss-Hermite nodes for integrals over a normal distribution.

/// Number of nodes; fifteen integrate polynomials up to degree 29 exactly.
pub const NODES: usize = 15;

/// The five-point rule: nodes and weights, exact up to degree 9, for values that are computed for every text
/// or label.
pub const FIVE: [(f64, f64); 5] = [
    (0.0, 0.533_333_333_333_333_3),
    (1.355_626_179_974_266, 0.222_075_922_005_612_64),
    (-1.355_626_179_974_266, 0.222_075_922_005_612_64),
    (2.856_970_013_872_805_6, 0.011_257_411_327_720_69),
    (-2.856_970_013_872_805_6, 0.011_257_411_327_720_69),
];

/// Nodes and weights with `sum w_i f(x_i) ~ E f(X)`, X standard normal. Golub and Welsch 1969: the nodes are
/// the eigenvalues of the symmetric tridiagonal Jacobi matrix, the weights the squared first entries of its
/// eigenvectors.
#[derive(Clone, Debug)]
pub struct Hermite {
    pub nodes: [f64; NODES],
    pub weights: [f64; NODES],
}

impl Hermite {
    pub fn new() -> Self {
        let mut found = Self { nodes: [0.0; NODES], weights: [0.0; NODES] };
        for (i, (x, w)) in rule(NODES).into_iter().enumerate() {
            found.nodes[i] = x;
            found.weights[i] = w;
        }
        found
    }
}

/// The rule with this many nodes, ascending, with their weights; exact up to degree `2 nodes - 1`.
pub(crate) fn rule(nodes: usize) -> Vec<(f64, f64)> {
    let jacobi = nalgebra::DMatrix::from_fn(nodes, nodes, |i, j| {
        if i.abs_diff(j) == 1 { (i.max(j) as f64).sqrt() } else { 0.0 }
    });
    let eigen = jacobi.symmetric_eigen();
    let mut pairs: Vec<(f64, f64)> =
        (0..nodes).map(|i| (eigen.eigenvalues[i], eigen.eigenvectors[(0, i)].powi(2))).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrates_the_moments_of_a_normal() {
        let rule = Hermite::new();
        let moment =
            |k: i32| -> f64 { rule.nodes.iter().zip(&rule.weights).map(|(x, w)| w * x.powi(k)).sum() };
        for (k, truth) in [(0, 1.0), (1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0), (6, 15.0), (8, 105.0)] {
            assert!((moment(k) - truth).abs() < 1e-9 * truth.max(1.0), "moment {k}: {}", moment(k));
            let five: f64 = FIVE.iter().map(|(x, w)| w * x.powi(k)).sum();
            assert!((five - truth).abs() < 1e-9 * truth.max(1.0), "moment {k} of five: {five}");
        }
    }
}
