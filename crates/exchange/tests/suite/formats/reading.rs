//! Reads a file as an import does.

use dissensus_exchange::{
    Checker, ColumnRoles, OpenOptions, Row, Scan, Source, guess_roles, read_rows, scan,
};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A file, or several in a folder or an archive.
pub(crate) struct Fixture {
    pub(crate) path: PathBuf,
    _folder: TempDir,
}

/// A file of this name.
pub(crate) fn file(name: &str, content: impl AsRef<[u8]>) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    Fixture { path, _folder: folder }
}

/// An archive of these files.
pub(crate) fn archive(name: &str, files: &[(&str, &str)]) -> Fixture {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    file(name, writer.finish().unwrap().into_inner())
}

/// A folder of these files.
pub(crate) fn folder(files: &[(&str, &str)]) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    Fixture { path: folder.path().to_owned(), _folder: folder }
}

/// The contents of a file.
pub(crate) struct Read {
    pub(crate) source: Source,
    pub(crate) roles: ColumnRoles,
    pub(crate) rows: Vec<Row>,
    pub(crate) problems: Vec<String>,
    pub(crate) scan: Scan,
}

impl Fixture {
    /// Reads it; with `annotator` all answers are that annotator's.
    pub(crate) fn read_as(&self, annotator: Option<&str>) -> Read {
        let source = Source::open(&self.path).unwrap();
        let mut roles = guess_roles(&source).unwrap();
        roles.annotator = annotator.map(str::to_owned).or(roles.annotator);
        let (mut rows, mut problems) = (Vec::new(), Vec::new());
        for row in read_rows(&source, &roles).unwrap() {
            match row {
                Ok(row) => rows.push(row),
                Err(error) => problems.push(error.to_string()),
            }
        }
        let scan = scan(&source, &roles, Checker::by_question(None)).unwrap();
        assert_eq!(scan.rows as usize, rows.len() + problems.len());
        Read { source, roles, rows, problems, scan }
    }

    pub(crate) fn read(&self) -> Read {
        self.read_as(None)
    }

    /// The error of reading it.
    pub(crate) fn refusal(&self) -> String {
        refusal(&self.path, None)
    }
}

/// The error of reading a file as `format`.
pub(crate) fn refusal(path: &Path, format: Option<&str>) -> String {
    let read =
        Source::open_with(path, &OpenOptions { format, ..OpenOptions::default() }).and_then(|source| {
            let roles = guess_roles(&source)?;
            scan(&source, &roles, Checker::by_question(None)).map(|_| ())
        });
    read.unwrap_err().to_string()
}

impl Read {
    /// `annotator text question label`, with `#2` for a second round, `skipped` and `flagged`.
    pub(crate) fn summaries(&self) -> Vec<String> {
        let one = |row: &Row| {
            let mut words = Vec::new();
            words.extend(
                [&row.annotator, &row.text_id, &row.question, &row.label].into_iter().flatten().cloned(),
            );
            words.extend(row.occasion.map(|occasion| format!("#{occasion}")));
            words.extend(row.skipped.then(|| "skipped".to_owned()));
            words.extend(row.flagged.then(|| "flagged".to_owned()));
            words.join(" ")
        };
        self.rows.iter().map(one).collect()
    }

    /// The notices, by code.
    pub(crate) fn met(&self) -> Vec<(&'static str, u64)> {
        self.source.met().iter().map(|met| (met.code, met.count)).collect()
    }

    pub(crate) fn format(&self) -> &'static str {
        self.source.format().name
    }
}
