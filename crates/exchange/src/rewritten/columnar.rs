//! Parquet and Arrow as JSON Lines, a row a line: line 7 is row 7. Columns of the Hugging Face type `ClassLabel` have the names of their classes.

use super::Step;
use super::hugging_face::ClassNames;
use super::limited::{Limited, failed, renamed};
use crate::ExchangeError;
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_json::LineDelimitedWriter;
use arrow_schema::{ArrowError, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Rows that are held at once.
const BATCH_ROWS: usize = 4096;

pub(super) fn rewrite_parquet(path: &Path) -> Result<Step, ExchangeError> {
    guarded(path, "Parquet", || {
        let file = File::open(path).map_err(ArrowError::from)?;
        let reader = ParquetRecordBatchReaderBuilder::try_new(file)?;
        let schema = reader.schema().clone();
        write(path, &schema, reader.with_batch_size(BATCH_ROWS).build()?)
    })
}

/// Of a file with a list of its parts, or of a stream.
pub(super) fn rewrite_arrow(path: &Path) -> Result<Step, ExchangeError> {
    guarded(path, "Arrow", || {
        let mut file = BufReader::new(File::open(path).map_err(ArrowError::from)?);
        let mut magic = [0; 6];
        file.read_exact(&mut magic).map_err(ArrowError::from)?;
        file.rewind().map_err(ArrowError::from)?;
        if magic == *b"ARROW1" {
            let reader = FileReader::try_new(file, None)?;
            let schema = reader.schema();
            write(path, &schema, reader)
        } else {
            let reader = StreamReader::try_new(file, None)?;
            let schema = reader.schema();
            write(path, &schema, reader)
        }
    })
}

/// What the readers of damaged files say, also where they give up in an unorderly way.
fn guarded(
    path: &Path,
    format: &str,
    read: impl FnOnce() -> Result<Step, ArrowError>,
) -> Result<Step, ExchangeError> {
    let damaged = format!("it is a damaged {format} file, not whole, or of a kind that cannot be read");
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(step)) => Ok(step),
        Ok(Err(ArrowError::IoError(_, error))) => Err(failed(path, &error, &damaged)),
        Ok(Err(error)) => Err(failed(path, &io::Error::other(error), &damaged)),
        Err(_) => Err(ExchangeError::Package {
            path: path.to_owned(),
            why: format!("{damaged}: fetch or export it again"),
        }),
    }
}

fn write(
    path: &Path,
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
) -> Result<Step, ArrowError> {
    let mut names = HashSet::new();
    if let Some(twice) = schema.fields().iter().find(|field| !names.insert(field.name())) {
        return Err(ArrowError::SchemaError(format!("two columns are called \"{}\"", twice.name())));
    }
    let classes = ClassNames::of(schema);
    let mut rows = LineDelimitedWriter::new(Limited::create(renamed(path, "jsonl"))?);
    for batch in batches {
        rows.write(&classes.named(batch?)?)?;
    }
    rows.finish()?;
    let inside = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(rows.into_inner().finish(inside, classes.told())?)
}
