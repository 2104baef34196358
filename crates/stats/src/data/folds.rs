//! Assignment of texts to folds: seeded, and independent of the order of observations.

use super::copies::{Copies, together};
use super::observations::Embeddings;
use crate::math::random::generator;
use rand::seq::SliceRandom;

/// Assigns a fold below `folds` to each of `items`: sizes differ by at most one.
pub fn assign(items: usize, folds: usize, seed: u64) -> Vec<u8> {
    let mut order: Vec<usize> = (0..items).collect();
    order.shuffle(&mut generator(seed, 1));
    let mut fold = vec![0u8; items];
    for (at, item) in order.into_iter().enumerate() {
        fold[item] = (at % folds) as u8;
    }
    fold
}

/// Assigns a fold to each text, the same for copies: one of two copies would reveal the labels of the other.
pub fn of_texts(embeddings: &Embeddings, folds: usize, seed: u64) -> Vec<u8> {
    let copies = Copies::by_embedding(embeddings);
    let mut fold = assign(embeddings.texts, folds, seed);
    for text in 0..fold.len() {
        fold[text] = fold[copies.first(text as u32) as usize];
    }
    fold
}

/// Assigns a fold to each of these texts, the same for copies: sizes in distinct texts differ by at most one.
pub fn of_listed(texts: &[u32], copies: &Copies, folds: usize, seed: u64) -> Vec<u8> {
    let units = together(texts.iter().map(|text| copies.first(*text)));
    let mut fold = vec![0; texts.len()];
    for (unit, f) in units.iter().zip(assign(units.len(), folds, seed)) {
        unit.iter().for_each(|place| fold[*place] = f);
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
        let copies = Copies::given(&[0, 1, 0, 3, 1, 5], 6).unwrap();
        let listed = of_listed(&[0, 1, 2, 4, 5], &copies, 3, 1);
        assert_eq!((listed[0], listed[1]), (listed[2], listed[3]));
        // Without an encoder no copies are known.
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
