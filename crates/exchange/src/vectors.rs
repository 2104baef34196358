//! Writes embeddings of texts to a file: NumPy with the ids in a second file, Parquet, or JSON Lines.

use crate::columns::TypedTable;
use crate::error::ExchangeError;
use crate::typed_column::{ColumnKind, TypedColumn, Value};
use dissensus_files::{AtomicFile, finish_pair};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes one vector for each text, row by row. The file appears at the path only with
/// [`VectorWriter::finish`]; if the writer is dropped or fails before that, nothing changes there.
///
/// `.npy` is an array of float32, texts x components, that `numpy.load` reads; the ids are in a second file,
/// one a line ([`VectorWriter::ids_path`]). `.parquet` and `.jsonl` have the columns `text_id` and
/// `embedding`.
#[derive(Debug)]
pub struct VectorWriter {
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    Numpy { array: AtomicFile, ids: AtomicFile },
    Table(Box<TypedTable>),
}

impl VectorWriter {
    /// Checks that vectors can be written to a file of this name.
    ///
    /// # Errors
    /// The extension belongs to no format of vectors.
    pub fn check(path: &Path) -> Result<(), ExchangeError> {
        if is_numpy(path) { Ok(()) } else { TypedTable::check(path, true) }
    }

    /// Returns the path of the file of ids for a `.npy` file: `NAME.ids.txt` for `NAME.npy`. `None` for
    /// formats that contain the ids.
    pub fn ids_path(path: &Path) -> Option<PathBuf> {
        is_numpy(path).then(|| path.with_extension("ids.txt"))
    }

    /// Begins a file of `rows` vectors of `length` numbers.
    ///
    /// # Errors
    /// The same as [`VectorWriter::check`]; a folder that is missing or cannot be written.
    pub fn create(path: &Path, rows: u64, length: usize) -> Result<Self, ExchangeError> {
        Self::check(path)?;
        let Some(ids) = Self::ids_path(path) else {
            let columns = vec![
                TypedColumn::new("text_id", ColumnKind::Text),
                TypedColumn::new("embedding", ColumnKind::Vector(length)),
            ];
            return Ok(Self { sink: Sink::Table(Box::new(TypedTable::create(path, columns)?)) });
        };
        let begin = |path: &Path| AtomicFile::create(path).map_err(|e| ExchangeError::writing(path, e));
        let (mut array, ids) = (begin(path)?, begin(&ids)?);
        array.write_all(&header(rows, length)).map_err(|e| ExchangeError::writing(path, e))?;
        Ok(Self { sink: Sink::Numpy { array, ids } })
    }

    /// Writes the vector of one text. Ids never have line ends, because names do not.
    pub fn write(&mut self, id: &str, vector: &[f32]) -> Result<(), ExchangeError> {
        match &mut self.sink {
            Sink::Table(table) => table.write(&[Value::Text(id), Value::Vector(vector)]),
            Sink::Numpy { array, ids } => {
                let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
                array.write_all(&bytes).map_err(|e| ExchangeError::writing(array.target(), e))?;
                writeln!(ids, "{id}").map_err(|e| ExchangeError::writing(ids.target(), e))
            }
        }
    }

    /// Flushes everything to disk and moves it to its path. The ids are moved before the array, so that an
    /// array is never paired with ids of another one. With `replace`, existing files are replaced.
    ///
    /// # Errors
    /// The disk refuses, or without `replace` a file of that name exists by now; existing files are then
    /// unchanged.
    pub fn finish(self, replace: bool) -> Result<(), ExchangeError> {
        match self.sink {
            Sink::Table(table) => table.finish(replace),
            Sink::Numpy { array, ids } => {
                let path = array.target().to_owned();
                finish_pair(ids, array, replace).map_err(|e| ExchangeError::writing(&path, e))
            }
        }
    }
}

fn is_numpy(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("npy"))
}

/// Returns the header of NumPy's format 1.0: the type and shape as a Python literal, padded so that numbers
/// begin at a multiple of 64 bytes.
fn header(rows: u64, length: usize) -> Vec<u8> {
    let mut about = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {length}), }}");
    let unpadded = 10 + about.len() + 1;
    about.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(64) - unpadded));
    about.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((about.len() as u16).to_le_bytes());
    out.extend(about.as_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header that numpy 2.4 writes with `np.save` for `np.zeros((2, 3), "<f4")`.
    #[test]
    fn numpy_file_matches_numpy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("v.npy");
        let mut writer = VectorWriter::create(&path, 2, 3).unwrap();
        writer.write("a", &[1.0, 2.0, 3.0]).unwrap();
        assert!(!path.exists());
        writer.write("b c", &[-1.0, 0.5, 0.0]).unwrap();
        writer.finish(false).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let literal = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
        assert_eq!(&bytes[..10], b"\x93NUMPY\x01\x00\x76\x00");
        assert_eq!(&bytes[10..10 + literal.len()], literal);
        assert_eq!((bytes[127], bytes.len()), (b'\n', 128 + 24));
        assert_eq!(bytes[128 + 12..128 + 16], (-1.0f32).to_le_bytes());
        let ids = std::fs::read_to_string(VectorWriter::ids_path(&path).unwrap()).unwrap();
        assert_eq!(ids, "a\nb c\n");
    }

    #[test]
    fn vector_tables_contain_ids() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("v.jsonl");
        let mut writer = VectorWriter::create(&path, 1, 2).unwrap();
        writer.write("a", &[0.1, 2.0]).unwrap();
        writer.finish(false).unwrap();
        let json = std::fs::read_to_string(&path).unwrap();
        assert_eq!(json, "{\"text_id\":\"a\",\"embedding\":[0.1,2.0]}\n");
        assert_eq!(VectorWriter::ids_path(&path), None);
        assert!(VectorWriter::check(Path::new("v.csv")).unwrap_err().to_string().contains(".npy"));
    }

    #[test]
    fn abandoned_writer_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = VectorWriter::create(&folder.path().join("v.npy"), 2, 1).unwrap();
        writer.write("a", &[1.0]).unwrap();
        drop(writer);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
