//! What the tests share: a file in a folder of its own, read whole.

use dissensus_exchange::{ColumnRoles, Row, RowError, Source, guess_roles, read_rows};
use tempfile::TempDir;

/// A file that is gone with the test.
pub(crate) struct Sample {
    pub(crate) source: Source,
    _folder: TempDir,
}

/// Writes `content` under `name` and opens it.
pub(crate) fn sample(name: &str, content: impl AsRef<[u8]>) -> Sample {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    Sample { source: Source::open(&path).unwrap(), _folder: folder }
}

impl Sample {
    pub(crate) fn roles(&self) -> ColumnRoles {
        guess_roles(&self.source).unwrap()
    }

    /// All rows under the guessed roles.
    pub(crate) fn read(&self) -> Vec<Result<Row, RowError>> {
        read_rows(&self.source, &self.roles()).unwrap().collect()
    }

    /// All rows, which must be good.
    pub(crate) fn rows(&self) -> Vec<Row> {
        self.read().into_iter().map(|row| row.unwrap()).collect()
    }
}
