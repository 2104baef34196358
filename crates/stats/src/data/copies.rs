//! Copies: texts with the same body under several ids, one of which would reveal the labels of the others to
//! a model.

use super::observations::Embeddings;
use crate::data::ModelError;
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};

/// For every text the first one with the same content; its own row where it is the first. Splits are given
/// equal bodies, up to white space and case; folds and leave-one-out predictions inside a fit only have
/// embeddings, and treat texts with equal embeddings as copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copies {
    first: Vec<u32>,
}

impl Copies {
    /// Copies determined by the caller, who has the bodies: the row of the first text with the same body for
    /// each of `texts` texts.
    ///
    /// # Errors
    /// [`ModelError::Length`] with another number of texts; [`ModelError::UnknownText`] for a row that does
    /// not exist.
    pub fn given(first: &[u32], texts: usize) -> Result<Self, ModelError> {
        if first.len() != texts {
            let (what, found) = ("the copies of texts", first.len());
            return Err(ModelError::Length { what, expected: texts, found });
        }
        match first.iter().position(|row| *row as usize >= texts) {
            Some(observation) => {
                Err(ModelError::UnknownText { observation, text: first[observation], texts })
            }
            None => Ok(Self { first: first.to_vec() }),
        }
    }

    /// Copies by embeddings, where bodies are unavailable: an encoder gives equal bodies equal embeddings.
    /// Without an encoder no text is a copy.
    pub fn by_embedding(embeddings: &Embeddings) -> Self {
        let mut first: Vec<u32> = (0..embeddings.texts as u32).collect();
        if embeddings.dim > 0 {
            let mut known: HashMap<Numbers<'_>, u32> = HashMap::new();
            for (text, row) in first.iter_mut().enumerate() {
                *row = *known.entry(Numbers(embeddings.row(text))).or_insert(*row);
            }
        }
        Self { first }
    }

    /// The representative of `text` and its copies.
    pub fn first(&self, text: u32) -> u32 {
        self.first[text as usize]
    }

    /// Positions in `of` of texts that are copies of each other: a group for each distinct text, in order of
    /// first occurrence.
    pub fn groups(&self, of: &[usize]) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut seen = HashMap::new();
        for (place, &text) in of.iter().enumerate() {
            let group = *seen.entry(self.first[text]).or_insert(groups.len());
            if group == groups.len() {
                groups.push(Vec::new());
            }
            groups[group].push(place);
        }
        groups
    }

    /// Whether any copy of each text is marked; empty where `marked` is.
    pub fn spread(&self, marked: &[bool]) -> Vec<bool> {
        let mut any = vec![false; self.first.len()];
        for (text, _) in marked.iter().enumerate().filter(|(_, marked)| **marked) {
            if let Some(first) = self.first.get(text) {
                any[*first as usize] = true;
            }
        }
        self.first.iter().map(|first| any[*first as usize]).collect()
    }
}

/// An embedding as a key: equal if all numbers are equal bit by bit.
struct Numbers<'a>(&'a [f32]);

impl Hash for Numbers<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.iter().for_each(|number| state.write_u32(number.to_bits()));
    }
}

impl PartialEq for Numbers<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().map(|number| number.to_bits()).eq(other.0.iter().map(|number| number.to_bits()))
    }
}

impl Eq for Numbers<'_> {}

/// The members with each key, in the order of the keys, for divisions that must not separate them.
pub fn together<K: Ord>(keys: impl Iterator<Item = K>) -> Vec<Vec<usize>> {
    let mut members: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    keys.enumerate().for_each(|(at, key)| members.entry(key).or_default().push(at));
    members.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_by_body_and_by_embedding_agree() {
        let embeddings = Embeddings::new(1, vec![3.0, 1.0, 3.0, 2.0, 1.0]).unwrap();
        let by_embedding = Copies::by_embedding(&embeddings);
        assert_eq!(by_embedding, Copies::given(&[0, 1, 0, 3, 1], 5).unwrap());
        assert_eq!(by_embedding.groups(&[2, 3, 0]), [vec![0, 2], vec![1]]);
        assert_eq!(
            by_embedding.spread(&[false, false, true, false, false]),
            [true, false, true, false, false]
        );
        assert_eq!(by_embedding.spread(&[]), [false; 5]);
        assert_eq!(Copies::by_embedding(&Embeddings::none(3)).first(2), 2, "without an encoder, its own");
        assert!(matches!(Copies::given(&[0], 2), Err(ModelError::Length { .. })));
        assert!(matches!(Copies::given(&[0, 2], 2), Err(ModelError::UnknownText { text: 2, .. })));
    }

    #[test]
    fn members_are_grouped_in_key_order() {
        assert_eq!(together([3, 1, 3, 2].into_iter()), [vec![1], vec![3], vec![0, 2]]);
    }
}
