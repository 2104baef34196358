//! Joint distribution of people's answers to one text.

/// Distributions of people's answers to one text at every node of the uncertainty of that text: given a node
/// they are independent.
#[derive(Clone, Debug)]
pub struct JointAnswers {
    weights: Vec<f64>,
    levels: usize,
    /// People x levels x nodes.
    p: Vec<f64>,
}

impl JointAnswers {
    /// Builds the distribution from nodes with these weights, which sum to 1, and probabilities people x
    /// levels x nodes.
    ///
    /// # Panics
    /// If the length of `p` is not a multiple of levels x nodes.
    pub fn new(weights: Vec<f64>, levels: usize, p: Vec<f64>) -> Self {
        let size = weights.len() * levels;
        assert!(size > 0 && p.len().is_multiple_of(size), "{} numbers for rows of {size}", p.len());
        Self { weights, levels, p }
    }

    /// Builds the distribution of independent answers: probabilities people x levels.
    pub fn independent(levels: usize, p: &[f32]) -> Self {
        Self::new(vec![1.0], levels, p.iter().map(|p| f64::from(*p)).collect())
    }

    /// Number of people.
    pub fn people(&self) -> usize {
        self.p.len() / (self.levels * self.weights.len())
    }

    /// Number of levels of the scale.
    pub fn levels(&self) -> usize {
        self.levels
    }

    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// A person's probabilities of all levels, over all nodes.
    pub fn marginal(&self, person: usize) -> Vec<f64> {
        (0..self.levels)
            .map(|level| self.of(person, level).iter().zip(&self.weights).map(|(p, w)| p * w).sum())
            .collect()
    }

    /// Replaces a person's prediction by the answer that was given.
    ///
    /// # Panics
    /// If there is no such person or level.
    pub fn fix_answer(&mut self, person: usize, level: u16) {
        assert!(usize::from(level) < self.levels, "no level {level}");
        let size = self.levels * self.weights.len();
        let nodes = self.weights.len();
        for (c, p) in self.p[person * size..(person + 1) * size].chunks_exact_mut(nodes).enumerate() {
            p.fill(f64::from(u8::from(c == usize::from(level))));
        }
    }

    /// A person's probability of a level at every node.
    pub(super) fn of(&self, person: usize, level: usize) -> &[f64] {
        let nodes = self.weights.len();
        let at = (person * self.levels + level) * nodes;
        &self.p[at..at + nodes]
    }

    /// A person's probabilities at every node, levels x nodes.
    pub(super) fn rows(&self, person: usize) -> &[f64] {
        let size = self.levels * self.weights.len();
        &self.p[person * size..(person + 1) * size]
    }
}
