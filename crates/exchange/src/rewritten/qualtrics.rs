//! Answers to a survey as Qualtrics exports them: three rows of names, of which one is left.

use super::Step;
use super::limited::{Limited, failed};
use crate::ExchangeError;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// What the cells of the third row begin with.
const ID: &str = "{\"ImportId\"";
/// The rows of names.
const ROWS: usize = 3;
/// Maximum size of these rows, in bytes.
const HEAD_BYTES: u64 = 4 << 20;
/// How many words a question has at least.
const WORDS: usize = 3;

/// The names of the columns, and where the rows of answers begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Names {
    names: Vec<String>,
    delimiter: u8,
    /// In bytes.
    end: u64,
    /// In lines.
    lines: u64,
}

impl Names {
    /// Returns the names of a file that begins with `head`; `None` if its third row is not one of Qualtrics.
    pub(super) fn of(path: &Path, head: &[u8]) -> Option<Self> {
        memchr::memmem::find(head, b"ImportId")?;
        let mut head = Vec::new();
        File::open(path).ok()?.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
        [b',', b'\t', b';'].into_iter().find_map(|delimiter| Self::parse(&head, delimiter))
    }

    fn parse(head: &[u8], delimiter: u8) -> Option<Self> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .from_reader(head);
        let rows: Vec<csv::StringRecord> = reader.records().take(ROWS).collect::<Result<_, _>>().ok()?;
        let [codes, labels, ids] = rows.as_slice() else { return None };
        if ids.len() < 2
            || ids.len() != codes.len()
            || !ids.iter().all(|cell| cell.trim_start().starts_with(ID))
        {
            return None;
        }
        let plain =
            |cell: &str| cell.trim_start_matches('\u{FEFF}').split_whitespace().collect::<Vec<_>>().join(" ");
        let labels: Vec<String> = labels.iter().map(plain).collect();
        let mut counts: HashMap<&String, usize> = HashMap::new();
        labels.iter().for_each(|label| *counts.entry(label).or_default() += 1);
        // A question is called by its sentence, all else by its code.
        let name = |(at, code): (usize, &str)| match labels.get(at) {
            Some(label) if counts[label] == 1 && label.split(' ').count() >= WORDS => label.clone(),
            _ => plain(code),
        };
        let names = codes.iter().enumerate().map(name).collect();
        let end = reader.position().byte();
        let lines = memchr::memchr_iter(b'\n', &head[..end as usize]).count() as u64;
        Some(Self { names, delimiter, end, lines })
    }
}

/// The answers below one row of names, each on the line that it has in the file.
pub(super) fn rewrite(path: &Path, names: &Names, packed: u64) -> Result<Step, ExchangeError> {
    let inside = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let written = Limited::create(path.file_name().unwrap_or_default(), packed).and_then(|mut out| {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(names.end))?;
        (1..names.lines).try_for_each(|_| out.write_all(b"\n"))?;
        let mut header = csv::WriterBuilder::new().delimiter(names.delimiter).from_writer(Vec::new());
        header.write_record(&names.names).map_err(crate::error::io_reason)?;
        out.write_all(&header.into_inner().map_err(csv::IntoInnerError::into_error)?)?;
        io::copy(&mut file, &mut out)?;
        out.finish(inside, Vec::new())
    });
    written.map_err(|error| failed(path, &error, "it is an export of Qualtrics, and damaged"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_header_rows_become_one() {
        let head = "StartDate,ResponseId,Q3\n\
            Start Date,Response ID,\"How rude is this?\n - You, again\"\n\
            \"{\"\"ImportId\"\":\"\"startDate\"\"}\",\"{\"\"ImportId\"\":\"\"_recordId\"\"}\",\"{\"\"ImportId\"\":\"\"QID3\"\"}\"\n\
            2024-01-02,R_1,3\n";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, head).unwrap();
        let names = Names::of(&path, head.as_bytes()).unwrap();
        let step = rewrite(&path, &names, head.len() as u64).unwrap();
        let written = std::fs::read_to_string(&step.path).unwrap();
        assert_eq!(
            written,
            "\n\n\nStartDate,ResponseId,\"How rude is this? - You, again\"\n2024-01-02,R_1,3\n"
        );
        assert_eq!(Names::of(&path, b"a,b\n1,2\n3,4\n"), None);
    }
}
