//! Chance-corrected agreement of several annotators on each text: Fleiss' kappa, Gwet's AC1 and AC2.

/// Weights of agreement between two levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weights {
    /// 1 for the same level, else 0.
    Identity,
    /// `1 - |i - j| / (K - 1)`.
    Linear,
    /// `1 - (i - j)^2 / (K - 1)^2`.
    Quadratic,
}

impl Weights {
    pub(super) const ALL: [Self; 3] = [Self::Identity, Self::Linear, Self::Quadratic];

    fn of(self, i: usize, j: usize, levels: usize) -> f64 {
        let apart = i.abs_diff(j) as f64 / (levels - 1) as f64;
        match self {
            Self::Identity => f64::from(u8::from(i == j)),
            Self::Linear => 1.0 - apart,
            Self::Quadratic => 1.0 - apart * apart,
        }
    }
}

/// Sums over texts from which the coefficients are computed.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    levels: usize,
    /// Texts with labels, and those with two or more.
    texts: f64,
    pairable: f64,
    /// Sum over texts with labels of each level's share.
    of_level: Vec<f64>,
    /// Sum over texts with two labels or more of the weighted share of agreeing pairs.
    agreeing: [f64; 3],
}

/// Contribution of one text.
#[derive(Clone, Debug)]
pub(super) struct TextShares {
    pairable: bool,
    of_level: Vec<(u16, f64)>,
    agreeing: [f64; 3],
}

impl TextShares {
    /// `None` for a text without labels.
    pub(super) fn new(counts: &[u32]) -> Option<Self> {
        let n = f64::from(counts.iter().sum::<u32>());
        if n == 0.0 {
            return None;
        }
        let there: Vec<(usize, f64)> =
            counts.iter().enumerate().filter(|(_, c)| **c > 0).map(|(l, &c)| (l, f64::from(c))).collect();
        let pairs = |w: Weights| {
            let of = |&(i, a): &(usize, f64)| {
                let weighted: f64 = there.iter().map(|&(j, b)| w.of(i, j, counts.len()) * b).sum();
                a * (weighted - 1.0)
            };
            there.iter().map(of).sum::<f64>() / (n * (n - 1.0))
        };
        let pairable = n > 1.0;
        Some(Self {
            pairable,
            agreeing: if pairable { Weights::ALL.map(pairs) } else { [0.0; 3] },
            of_level: there.iter().map(|&(l, c)| (l as u16, c / n)).collect(),
        })
    }
}

impl Shares {
    pub(super) fn new(levels: usize) -> Self {
        Self { levels, texts: 0.0, pairable: 0.0, of_level: vec![0.0; levels], agreeing: [0.0; 3] }
    }

    pub(super) fn add(&mut self, text: &TextShares, weight: f64) {
        self.texts += weight;
        text.of_level.iter().for_each(|(l, s)| self.of_level[usize::from(*l)] += weight * s);
        if text.pairable {
            self.pairable += weight;
            self.agreeing.iter_mut().zip(text.agreeing).for_each(|(a, t)| *a += weight * t);
        }
    }

    /// Fleiss' kappa, `(p_a - p_e) / (1 - p_e)` with `p_e = sum_k pi_k^2`. `None` without two labels on a
    /// text and where only one level is used.
    pub(super) fn fleiss(&self) -> Option<f64> {
        let chance = self.of_level.iter().map(|s| (s / self.texts).powi(2)).sum();
        self.corrected(Weights::Identity, chance)
    }

    /// Gwet's AC1 (identity weights) or AC2, `p_e = sum_kl w_kl / (K (K - 1)) sum_k pi_k (1 - pi_k)`.
    pub(super) fn gwet(&self, weights: Weights) -> Option<f64> {
        let levels = self.levels;
        let total: f64 = (0..levels).flat_map(|i| (0..levels).map(move |j| weights.of(i, j, levels))).sum();
        let spread: f64 = self.of_level.iter().map(|s| s / self.texts).map(|pi| pi * (1.0 - pi)).sum();
        self.corrected(weights, total / (levels * (levels - 1)) as f64 * spread)
    }

    fn corrected(&self, weights: Weights, chance: f64) -> Option<f64> {
        // Below this the remainder is only rounding.
        let left = 1.0 - chance;
        let observed = self.agreeing[weights as usize] / self.pairable;
        (self.pairable > 0.0 && left > 1e-12).then(|| (observed - chance) / left)
    }
}
