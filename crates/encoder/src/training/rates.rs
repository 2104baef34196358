//! Layer-wise learning rates.

use crate::blocks::Group;

/// Learning rates that fall from the top of an encoder to its embeddings (Howard and Ruder 2018, arXiv
/// 1801.06146, "discriminative fine-tuning"): the group at depth `d` of `n` learns at
/// `encoder * decay^(n - d)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerRates {
    /// Learning rate of what follows the last layer.
    pub encoder: f64,
    /// Learning rate of the caller's head.
    pub head: f64,
    /// Factor from one layer to the one below; 1 for the same rate everywhere.
    pub decay: f64,
}

impl LayerRates {
    /// The same rate for everything.
    #[must_use]
    pub fn even(rate: f64) -> Self {
        Self { encoder: rate, head: rate, decay: 1.0 }
    }

    #[must_use]
    pub fn of(&self, group: Group, layers: usize) -> f64 {
        match group {
            Group::Head => self.head,
            _ => self.encoder * self.decay.powi((layers + 1).saturating_sub(group.depth(layers)) as i32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_decay_by_layer() {
        let rates = LayerRates { encoder: 1e-4, head: 1e-3, decay: 0.5 };
        assert_eq!(rates.of(Group::Head, 2), 1e-3);
        assert_eq!(rates.of(Group::Top, 2), 1e-4);
        assert_eq!(rates.of(Group::Layer(1), 2), 5e-5);
        assert_eq!(rates.of(Group::Layer(0), 2), 2.5e-5);
        assert_eq!(rates.of(Group::Embeddings, 2), 1.25e-5);
        assert_eq!(LayerRates::even(0.1).of(Group::Embeddings, 12), 0.1);
    }
}
