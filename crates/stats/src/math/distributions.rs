//! Quantiles of the normal distribution and of Student's t.

/// The `p` quantile of the standard normal distribution, by bisection on the complementary error function.
pub fn normal_quantile(p: f64) -> f64 {
    bisect(p, |x| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2))
}

/// The `p` quantile of Student's t with `df >= 1` degrees of freedom: up to 200 from the distribution
/// function itself, above by the expansion in powers of `1 / df`, which is accurate to ten digits there
/// (Abramowitz and Stegun 1964, 26.7.5).
pub fn student_quantile(p: f64, df: usize) -> f64 {
    if df <= 200 {
        return bisect(p, |x| student_cdf(x, df.max(1)));
    }
    let (x, n) = (normal_quantile(p), df as f64);
    let (x3, x5, x7) = (x.powi(3), x.powi(5), x.powi(7));
    x + (x3 + x) / (4.0 * n)
        + (5.0 * x5 + 16.0 * x3 + 3.0 * x) / (96.0 * n * n)
        + (3.0 * x7 + 19.0 * x5 + 17.0 * x3 - 15.0 * x) / (384.0 * n.powi(3))
}

/// Probability that Student's t with `df >= 1` degrees of freedom is as far from 0 as `t`.
pub(crate) fn student_tail(t: f64, df: usize) -> f64 {
    (2.0 * student_cdf(-t.abs(), df.max(1))).clamp(0.0, 1.0)
}

/// The distribution function of Student's t for whole degrees of freedom (Abramowitz and Stegun 1964, 26.7.3
/// and 26.7.4).
fn student_cdf(x: f64, df: usize) -> f64 {
    let n = df as f64;
    let cos2 = 1.0 / (1.0 + x * x / n);
    let (sin, cos) = ((x * x / n * cos2).sqrt().copysign(x), cos2.sqrt());
    let odd = df % 2 == 1;
    let (mut term, mut sum) = if odd { (cos, cos) } else { (1.0, 1.0) };
    let mut k = if odd { 3 } else { 2 };
    while k + 2 <= df {
        term *= cos2 * (k - 1) as f64 / k as f64;
        sum += term;
        k += 2;
    }
    let inside = match df {
        1 => 2.0 / std::f64::consts::PI * x.atan(),
        _ if odd => 2.0 / std::f64::consts::PI * ((x / n.sqrt()).atan() + sin * sum),
        _ => sin * sum,
    };
    0.5 + 0.5 * inside
}

/// Solves `cdf(x) = p` for an increasing distribution function.
fn bisect(p: f64, cdf: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-40.0, 40.0);
    while cdf(low) > p && low > -1e12 {
        low *= 2.0;
    }
    while cdf(high) < p && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantiles_match_known_values() {
        for (p, x) in [(0.5, 0.0), (0.975, 1.959_963_984_540_054), (0.05, -1.644_853_626_951_472)] {
            assert!((normal_quantile(p) - x).abs() < 1e-9, "{p}");
        }
    }

    /// From the tables of Student's t; the last two from scipy's `t.ppf`.
    #[test]
    fn students_t_quantiles_match_known_values() {
        for (p, df, t) in [
            (0.975, 1, 12.706_204_736),
            (0.975, 2, 4.302_652_730),
            (0.95, 3, 2.353_363_435),
            (0.95, 4, 2.131_846_786),
            (0.975, 7, 2.364_624_252),
            (0.05, 30, -1.697_260_887),
            (0.975, 1000, 1.962_339_081),
        ] {
            assert!((student_quantile(p, df) - t).abs() < 1e-8, "{p} {df}: {}", student_quantile(p, df));
        }
        // By numerical integration of the density.
        for (t, df, p) in [(2.0, 3, 0.139_325_968), (-2.5, 10, 0.031_446_844), (1.0, 500, 0.317_794_207)] {
            assert!((student_tail(t, df) - p).abs() < 1e-7, "{t} {df}: {}", student_tail(t, df));
        }
        let across = student_quantile(0.975, 200) - student_quantile(0.975, 201);
        assert!(across > 0.0 && across < 1e-4);
    }
}
