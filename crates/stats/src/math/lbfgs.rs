//! A limited-memory quasi-Newton minimiser for smooth convex functions.
//!
//! Liu and Nocedal 1989, with the caller's diagonal preconditioner as the initial inverse Hessian and a
//! backtracking line search (Nocedal and Wright 2006, algorithms 3.1 and 7.4).

use super::{axpy, dot};

const MEMORY: usize = 12;

/// Minimises `f` from `x`. `f` writes the gradient and returns the value; `inverse` is a positive diagonal
/// approximation of the inverse Hessian. Stops when the preconditioned gradient is below `tolerance` times
/// the value, or after `steps` steps. Returns the value reached.
pub fn minimise(
    x: &mut [f64],
    inverse: &[f64],
    steps: usize,
    tolerance: f64,
    mut f: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> f64 {
    let n = x.len();
    let mut gradient = vec![0.0; n];
    let mut value = f(x, &mut gradient);
    let mut pairs: Vec<(Vec<f64>, Vec<f64>, f64)> = Vec::new();
    let (mut next, mut next_gradient) = (vec![0.0; n], vec![0.0; n]);
    for _ in 0..steps {
        let direction = direction(&gradient, inverse, &pairs);
        let slope = dot(&direction, &gradient);
        if slope.is_nan() || -slope <= tolerance * (1.0 + value.abs()) {
            break;
        }
        let Some(reached) = search(x, &direction, value, slope, &mut next, &mut next_gradient, &mut f) else {
            if pairs.is_empty() {
                break;
            }
            pairs.clear(); // a bad curvature pair: try once more along the plain gradient
            continue;
        };
        remember(&mut pairs, x, &next, &gradient, &next_gradient);
        x.copy_from_slice(&next);
        gradient.copy_from_slice(&next_gradient);
        value = reached;
    }
    value
}

fn direction(gradient: &[f64], inverse: &[f64], pairs: &[(Vec<f64>, Vec<f64>, f64)]) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut alphas = Vec::with_capacity(pairs.len());
    for (s, y, rho) in pairs.iter().rev() {
        let alpha = rho * dot(s, &q);
        axpy(-alpha, y, &mut q);
        alphas.push(alpha);
    }
    for (q, h) in q.iter_mut().zip(inverse) {
        *q *= h;
    }
    for ((s, y, rho), alpha) in pairs.iter().zip(alphas.into_iter().rev()) {
        let beta = rho * dot(y, &q);
        axpy(alpha - beta, s, &mut q);
    }
    q
}

/// Halves the step until the value decreases enough; `None` if it never does.
fn search(
    x: &[f64],
    direction: &[f64],
    value: f64,
    slope: f64,
    next: &mut [f64],
    next_gradient: &mut [f64],
    f: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Option<f64> {
    let mut step = 1.0;
    for _ in 0..30 {
        next.copy_from_slice(x);
        axpy(step, direction, next);
        let reached = f(next, next_gradient);
        if reached <= value + 1e-4 * step * slope {
            return Some(reached);
        }
        step *= 0.5;
    }
    None
}

fn remember(
    pairs: &mut Vec<(Vec<f64>, Vec<f64>, f64)>,
    x: &[f64],
    next: &[f64],
    gradient: &[f64],
    next_gradient: &[f64],
) {
    let s: Vec<f64> = next.iter().zip(x).map(|(a, b)| a - b).collect();
    let y: Vec<f64> = next_gradient.iter().zip(gradient).map(|(a, b)| a - b).collect();
    let curvature = dot(&s, &y);
    if curvature > 1e-12 * dot(&y, &y).sqrt() * dot(&s, &s).sqrt() {
        if pairs.len() == MEMORY {
            pairs.remove(0);
        }
        pairs.push((s, y, 1.0 / curvature));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_minimum_of_a_badly_scaled_bowl() {
        let scales = [1.0, 100.0, 0.01, 7.0];
        let mut x = vec![3.0, -2.0, 5.0, 1.0];
        let value = minimise(&mut x, &[1.0; 4], 200, 1e-14, |x, g| {
            let mut value = 0.0;
            for i in 0..4 {
                let d = x[i] - i as f64;
                g[i] = scales[i] * d + 0.1 * d.powi(3);
                value += 0.5 * scales[i] * d * d + 0.025 * d.powi(4);
            }
            value
        });
        assert!(value < 1e-9, "{value}");
        for (i, x) in x.iter().enumerate() {
            assert!((x - i as f64).abs() < 1e-3, "{i}: {x}");
        }
    }
}
