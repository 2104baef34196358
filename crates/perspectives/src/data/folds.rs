//! Which fold a text belongs to: seeded, and blind to the order observations came in.

use super::observations::{Embeddings, bits};
use crate::math::random::generator;
use rand::seq::SliceRandom;
use std::collections::HashMap;

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

/// A fold for each text, the same for texts with the same embedding: of two copies of a text one would tell what the other is called.
pub(crate) fn of_texts(embeddings: &Embeddings, folds: usize, seed: u64) -> Vec<u8> {
    let mut fold = assign(embeddings.texts, folds, seed);
    if embeddings.dim > 0 {
        let mut first: HashMap<Vec<u32>, usize> = HashMap::new();
        for text in 0..embeddings.texts {
            let copy_of = *first.entry(bits(embeddings.row(text))).or_insert(text);
            fold[text] = fold[copy_of];
        }
    }
    fold
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_a_text_are_in_one_fold() {
        let rows: Vec<f32> = (0..200u16).map(|t| f32::from(t % 100)).collect();
        let fold = of_texts(&Embeddings::new(1, rows).unwrap(), 5, 1);
        assert!((0..100).all(|t| fold[t] == fold[t + 100]));
        assert!((0..5).all(|f| fold.contains(&f)));
        // Without an encoder nothing is known to be the same.
        assert_eq!(of_texts(&Embeddings::none(200), 5, 1), assign(200, 5, 1));
    }

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
