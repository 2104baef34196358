//! Factors that the options of an answer share.

use super::given::GivenFactors;
use crate::data::ModelError;
use crate::math::quadrature::rule;
use crate::math::{dot, normal};
use dissensus_domain::OptionSet;
use serde::{Deserialize, Serialize};

/// Number of nodes of one factor, and of each of two.
const NODES: [usize; 2] = [15, 7];
/// Nodes of a factor where answers of two people are compared, which needs the square of their number.
pub(super) const FEW_NODES: [usize; 2] = [5, 5];
/// Pairs of nodes of two factors with less weight are left out: they are corners that hardly any answer comes
/// from.
const MIN_WEIGHT: f64 = 1e-4;
/// Options that are less likely than this, or more likely than 1 minus this, are not used for learning and
/// are treated as independent.
pub(super) const CERTAIN: f64 = 1e-6;

/// Dependence of two options in one answer beyond their predicted probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OptionPair {
    /// The two options, by their index on the scale, ascending.
    pub options: (usize, usize),
    /// Tetrachoric correlation of the latent variables of the two decisions, -1 to 1: above 0 they co-occur,
    /// below 0 they exclude each other.
    pub correlation: f64,
}

/// Factors `f ~ N(0, I)` that are drawn once for every answer, given which its options are independent:
/// `P(y_k = 1 | f) = Phi(t_k + l_k . f)`, where `t_k` is such that the probability over all `f` is the
/// prediction for the option. The factors only describe the dependence: a Gaussian copula of factor structure
/// (Bartholomew, Knott and Moustaki 2011, Latent Variable Models and Factor Analysis, chapter 4; Song, Li and
/// Yuan 2009 for margins of any kind). Integrals over `f` are sums over fixed nodes, and the model is that
/// sum: probabilities of all sets add up to 1 and those of an option to its own, for any loadings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptionFactors {
    options: usize,
    factors: usize,
    /// options x factors.
    loadings: Vec<f64>,
}

impl OptionFactors {
    /// Options that are independent given their probabilities.
    ///
    /// # Errors
    /// [`ModelError::Length`] without options or with more than a set can hold.
    pub fn independent(options: usize) -> Result<Self, ModelError> {
        Self::new(options, 0, Vec::new())
    }

    /// Factors with these loadings (options x factors, row-major); none, one or two factors.
    ///
    /// # Errors
    /// [`ModelError::Length`] for any other numbers of options, factors or loadings.
    pub fn new(options: usize, factors: usize, loadings: Vec<f64>) -> Result<Self, ModelError> {
        let most = usize::from(OptionSet::MAX);
        if !(1..=most).contains(&options) {
            let (what, expected, found) = ("a set of options", most, options);
            return Err(ModelError::Length { what, expected, found });
        }
        if factors > NODES.len() || loadings.len() != options * factors {
            let (what, expected, found) =
                ("the loadings of options", options * factors.min(2), loadings.len());
            return Err(ModelError::Length { what, expected, found });
        }
        Ok(Self { options, factors, loadings })
    }

    /// Whether the number of loadings is right and all are finite, for values read from a file.
    pub fn is_sound(&self) -> bool {
        let same = Self::new(self.options, self.factors, self.loadings.clone());
        same.is_ok() && self.loadings.iter().all(|loading| loading.is_finite())
    }

    /// Number of options of the question.
    pub fn options(&self) -> usize {
        self.options
    }

    /// Number of factors; 0 where options are independent.
    pub fn factors(&self) -> usize {
        self.factors
    }

    /// Loadings of one option, one per factor.
    pub fn loadings(&self, option: usize) -> &[f64] {
        &self.loadings[option * self.factors..(option + 1) * self.factors]
    }

    /// Correlation of two different options: `l_i . l_j / sqrt((1 + |l_i|^2) (1 + |l_j|^2))`.
    pub fn correlation(&self, one: usize, other: usize) -> f64 {
        let (a, b) = (self.loadings(one), self.loadings(other));
        dot(a, b) / (scale(a) * scale(b))
    }

    /// All pairs of options, those with the largest absolute correlations first; none where options are
    /// independent.
    pub fn pairs(&self) -> Vec<OptionPair> {
        if self.factors == 0 {
            return Vec::new();
        }
        let all = (0..self.options).flat_map(|i| (i + 1..self.options).map(move |j| (i, j)));
        let mut pairs: Vec<OptionPair> =
            all.map(|(i, j)| OptionPair { options: (i, j), correlation: self.correlation(i, j) }).collect();
        pairs.sort_by(|a, b| {
            b.correlation.abs().total_cmp(&a.correlation.abs()).then(a.options.cmp(&b.options))
        });
        pairs
    }

    /// The options of one answer with the probabilities `p`, given each node of the factors. Certain options
    /// (0, 1) stay certain.
    ///
    /// # Panics
    /// If `p` does not have one probability for each option.
    pub fn given(&self, p: &[f32]) -> GivenFactors {
        self.at(&nodes(self.factors, &NODES), p)
    }

    /// The same at a few nodes, for computations over every pair of people.
    ///
    /// # Panics
    /// The same as [`OptionFactors::given`].
    pub fn given_few(&self, p: &[f32]) -> GivenFactors {
        self.at(&nodes(self.factors, &FEW_NODES), p)
    }

    /// [`OptionFactors::given`] for many answers (answers x options), one after another.
    ///
    /// # Panics
    /// If there is not one probability for each option of each answer.
    pub fn of_answers(&self, probabilities: &[f32]) -> impl Iterator<Item = GivenFactors> {
        assert!(probabilities.len().is_multiple_of(self.options));
        let nodes = nodes(self.factors, &NODES);
        probabilities.chunks_exact(self.options).map(move |p| self.at(&nodes, p))
    }

    fn at(&self, nodes: &Nodes, p: &[f32]) -> GivenFactors {
        assert_eq!(p.len(), self.options);
        let mut yes = vec![0.0; nodes.weights.len() * self.options];
        let mut shifts = vec![0.0; nodes.weights.len()];
        for (option, p) in p.iter().enumerate() {
            let (p, loadings) = (f64::from(*p), self.loadings(option));
            shifts.iter_mut().enumerate().for_each(|(q, shift)| *shift = dot(loadings, nodes.point(q)));
            let certain = !(CERTAIN..=1.0 - CERTAIN).contains(&p);
            let threshold =
                if certain { None } else { Some(threshold(p, scale(loadings), &shifts, &nodes.weights)) };
            for (q, shift) in shifts.iter().enumerate() {
                yes[q * self.options + option] = threshold.map_or(p, |t| normal::cdf(t + shift));
            }
        }
        GivenFactors::new(self.options, nodes.weights.clone(), yes)
    }
}

/// Factor by which loadings widen the distribution of an option's latent variable.
pub(super) fn scale(loadings: &[f64]) -> f64 {
    (1.0 + dot(loadings, loadings)).sqrt()
}

/// Solves `sum_q w_q Phi(t + shift_q) = p`: Newton's method from the threshold of the integral, between
/// bounds that it narrows.
fn threshold(p: f64, scale: f64, shifts: &[f64], weights: &[f64]) -> f64 {
    let widest = shifts.iter().fold(0.0_f64, |widest, shift| widest.max(shift.abs()));
    let (quantile, reach) = (normal::quantile(p), widest + 1.0);
    let (mut low, mut high) = (quantile - reach, quantile + reach);
    let mut t = quantile * scale;
    for _ in 0..50 {
        let (mut found, mut slope) = (-p, 0.0);
        for (shift, weight) in shifts.iter().zip(weights) {
            found += weight * normal::cdf(t + shift);
            slope += weight * normal::density(t + shift);
        }
        if found.abs() <= 1e-12 * p.min(1.0 - p) {
            break;
        }
        if found > 0.0 {
            high = t
        } else {
            low = t
        }
        let next = t - found / slope;
        t = if next > low && next < high { next } else { f64::midpoint(low, high) };
    }
    t
}

/// Nodes of the integral over the factors.
#[derive(Clone, Debug)]
pub(super) struct Nodes {
    factors: usize,
    /// nodes x factors.
    points: Vec<f64>,
    pub(super) weights: Vec<f64>,
}

impl Nodes {
    pub(super) fn point(&self, node: usize) -> &[f64] {
        &self.points[node * self.factors..(node + 1) * self.factors]
    }
}

/// The nodes that a model with this many factors uses.
pub(super) fn model_nodes(factors: usize) -> Nodes {
    nodes(factors, &NODES)
}

fn nodes(factors: usize, each: &[usize; 2]) -> Nodes {
    if factors == 0 {
        return Nodes { factors, points: Vec::new(), weights: vec![1.0] };
    }
    let rule = rule(each[factors - 1]);
    let mut nodes = Nodes { factors, points: Vec::new(), weights: Vec::new() };
    if factors == 1 {
        (nodes.points, nodes.weights) = rule.into_iter().unzip();
        return nodes;
    }
    for &(x, u) in &rule {
        for &(y, v) in rule.iter().filter(|(_, v)| u * v >= MIN_WEIGHT) {
            nodes.points.extend([x, y]);
            nodes.weights.push(u * v);
        }
    }
    let total: f64 = nodes.weights.iter().sum();
    nodes.weights.iter_mut().for_each(|weight| *weight /= total);
    nodes
}
