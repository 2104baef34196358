//! A batch of texts as token ids.

/// Packed texts of one batch: rows of tokens, one text after the other, without padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenBatch {
    /// Token ids of all texts, `lengths.iter().sum()` of them.
    pub(crate) ids: Vec<u32>,
    /// Number of tokens of each text, at least 1.
    pub(crate) lengths: Vec<usize>,
}

impl TokenBatch {
    /// Splits the batch into the first half of its texts and the others.
    pub(crate) fn halves(&self) -> (Self, Self) {
        let (first, second) = self.lengths.split_at(self.lengths.len() / 2);
        let (ids, others) = self.ids.split_at(first.iter().sum());
        let part = |ids: &[u32], lengths: &[usize]| Self { ids: ids.to_vec(), lengths: lengths.to_vec() };
        (part(ids, first), part(others, second))
    }

    /// Splits the batch into consecutive parts of at most `most` tokens each, or of a single text that has
    /// more.
    pub(crate) fn parts(&self, most: usize) -> Vec<Self> {
        let mut parts: Vec<Self> = Vec::new();
        let mut ids = &self.ids[..];
        for length in &self.lengths {
            let (own, rest) = ids.split_at(*length);
            ids = rest;
            match parts.last_mut() {
                Some(part) if part.ids.len() + length <= most => {
                    part.ids.extend(own);
                    part.lengths.push(*length);
                }
                _ => parts.push(Self { ids: own.to_vec(), lengths: vec![*length] }),
            }
        }
        parts
    }
}
