//! Which fold a text belongs to: seeded, and blind to the order observations came in.

use crate::math::random::generator;
use rand::seq::SliceRandom;

/// A fold below `folds` for each of `items`: sizes differ by at most one.
pub(crate) fn assign(items: usize, folds: usize, seed: u64) -> Vec<u8> {
    let mut order: Vec<usize> = (0..items).collect();
    order.shuffle(&mut generator(seed, 1));
    let mut fold = vec![0u8; items];
    for (at, item) in order.into_iter().enumerate() {
        fold[item] = (at % folds) as u8;
    }
    fold
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_even_and_seeded() {
        let fold = assign(103, 5, 7);
        assert_eq!(fold, assign(103, 5, 7));
        assert_ne!(fold, assign(103, 5, 8));
        for f in 0..5 {
            let size = fold.iter().filter(|&&g| g == f).count();
            assert!((20..=21).contains(&size));
        }
    }
}
