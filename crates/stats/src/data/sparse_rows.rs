//! Sparse rows of numbers: the character n-grams of texts.

use crate::data::ModelError;

/// Number of columns that n-grams are hashed into.
pub const SPARSE_COLUMNS: usize = 1 << 16;

/// One sparse row of 65,536 columns per text, in compressed form (CSR).
#[derive(Clone, Debug, PartialEq)]
pub struct SparseRows {
    /// Start of each row, followed by the end of the last one.
    starts: Vec<usize>,
    columns: Vec<u16>,
    values: Vec<f32>,
}

/// One row: its columns in ascending order, and their values.
#[derive(Clone, Copy, Debug, Default)]
pub struct SparseRow<'a> {
    columns: &'a [u16],
    values: &'a [f32],
}

impl Default for SparseRows {
    fn default() -> Self {
        Self { starts: vec![0], columns: Vec::new(), values: Vec::new() }
    }
}

impl SparseRows {
    /// Appends a row.
    ///
    /// # Errors
    /// [`ModelError::SparseRow`] if its columns are not ascending or a value is not finite; nothing is
    /// changed then.
    pub fn push(&mut self, row: &[(u16, f32)]) -> Result<(), ModelError> {
        let ascends = row.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if !ascends || row.iter().any(|(_, value)| !value.is_finite()) {
            return Err(ModelError::SparseRow { text: self.len() });
        }
        self.columns.extend(row.iter().map(|(column, _)| column));
        self.values.extend(row.iter().map(|(_, value)| value));
        self.starts.push(self.columns.len());
        Ok(())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of stored values in all rows.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row of text `text`.
    pub fn row(&self, text: usize) -> SparseRow<'_> {
        let range = self.starts[text]..self.starts[text + 1];
        SparseRow { columns: &self.columns[range.clone()], values: &self.values[range] }
    }

    /// The first `rows` rows.
    #[must_use]
    pub fn first(&self, rows: usize) -> Self {
        let end = self.starts[rows];
        Self {
            starts: self.starts[..=rows].to_vec(),
            columns: self.columns[..end].to_vec(),
            values: self.values[..end].to_vec(),
        }
    }

    /// The rows of some texts, in their order.
    #[must_use]
    pub fn select(&self, texts: &[u32]) -> Self {
        let mut some = Self::default();
        for &text in texts {
            let row = self.row(text as usize);
            some.columns.extend_from_slice(row.columns);
            some.values.extend_from_slice(row.values);
            some.starts.push(some.columns.len());
        }
        some
    }

    /// The mean row, dense.
    pub fn mean(&self) -> Vec<f32> {
        let mut mean = vec![0.0; SPARSE_COLUMNS];
        (0..self.len()).for_each(|text| self.row(text).add_to(1.0 / self.len() as f32, &mut mean));
        mean
    }
}

impl<'a> SparseRow<'a> {
    /// Columns and values.
    pub fn iter(self) -> impl Iterator<Item = (usize, f32)> + 'a {
        self.columns.iter().map(|column| usize::from(*column)).zip(self.values.iter().copied())
    }

    /// The inner product with a dense vector of 65,536 numbers.
    pub fn dot(self, dense: &[f32]) -> f64 {
        self.iter().map(|(column, value)| f64::from(value * dense[column])).sum()
    }

    /// Adds `factor` times this row to a dense vector.
    pub fn add_to(self, factor: f32, dense: &mut [f32]) {
        self.iter().for_each(|(column, value)| dense[column] += factor * value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_rows_round_trip() {
        let mut rows = SparseRows::default();
        rows.push(&[(3, 0.5), (7, 2.0)]).unwrap();
        rows.push(&[]).unwrap();
        rows.push(&[(7, 1.0)]).unwrap();
        for wrong in [[(3, 1.0), (3, 1.0)], [(4, 1.0), (3, 1.0)], [(1, f32::NAN), (2, 0.0)]] {
            assert!(matches!(rows.push(&wrong), Err(ModelError::SparseRow { text: 3 })));
        }
        assert_eq!(rows.len(), 3);
        let mut dense = vec![0.0; SPARSE_COLUMNS];
        rows.row(0).add_to(2.0, &mut dense);
        assert_eq!((dense[3], dense[7]), (1.0, 4.0));
        assert!((rows.row(2).dot(&dense) - 4.0).abs() < 1e-12);
        assert!((rows.mean()[7] - 1.0).abs() < 1e-6);
        assert_eq!(rows.first(1).len(), 1);
        assert_eq!(rows.row(1).iter().count(), 0);
    }
}
