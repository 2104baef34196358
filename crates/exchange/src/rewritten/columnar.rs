//! Parquet, folders of it, and Arrow as JSON Lines, a row a line: line 7 is row 7. Columns of the Hugging Face type `ClassLabel` have the names of their classes.

use super::Step;
use super::dataset;
use super::hugging_face::ClassNames;
use super::limited::{Limited, failed, renamed};
use crate::ExchangeError;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_json::WriterBuilder;
use arrow_json::writer::{LineDelimited, Writer};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

/// Rows that are held at once.
const BATCH_ROWS: usize = 4096;
/// The column with the part of the official split.
const SPLIT: &str = "split";

pub(super) fn rewrite_parquet(path: &Path) -> Result<Step, ExchangeError> {
    guarded(path, "Parquet", || {
        let reader = parquet(path)?;
        let schema = reader.schema().clone();
        write(path, &schema, reader.build()?)
    })
}

fn parquet(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>, ArrowError> {
    let file = File::open(path).map_err(ArrowError::from)?;
    Ok(ParquetRecordBatchReaderBuilder::try_new(file)?.with_batch_size(BATCH_ROWS))
}

/// The files of a folder one behind the other, which have the same columns.
pub(super) fn rewrite_dataset(folder: &Path) -> Result<Step, ExchangeError> {
    let files = dataset::files(folder);
    let refuse =
        |path: &Path, why: &str| Err(ExchangeError::Package { path: path.to_owned(), why: why.to_owned() });
    let Some(first) = files.first() else { return refuse(folder, "it has no Parquet files") };
    let schema = guarded(first, "Parquet", || Ok(parquet(first)?.schema().clone()))?;
    for file in &files[1..] {
        let other = guarded(file, "Parquet", || Ok(parquet(file)?.schema().clone()))?;
        if other.fields() != schema.fields() || ClassNames::of(&other) != ClassNames::of(&schema) {
            let why = "it has other columns, or other names of classes, than the files before it: import them one by one";
            return refuse(file, why);
        }
    }
    let has_split = schema.fields().iter().any(|field| field.name() == SPLIT);
    let splits: Vec<Option<String>> = files.iter().map(|file| dataset::split_of(file)).collect();
    let tells = !has_split && splits.iter().any(Option::is_some);
    guarded(folder, "Parquet", || {
        let mut out = Rows::create(folder, &schema)?;
        for (file, split) in files.iter().zip(&splits) {
            for batch in parquet(file)?.build()? {
                let batch = batch?;
                out.write(&if tells { with_split(batch, split.as_deref())? } else { batch })?;
            }
        }
        out.finish()
    })
}

/// The rows with the part of the split in a column of its own.
fn with_split(batch: RecordBatch, split: Option<&str>) -> Result<RecordBatch, ArrowError> {
    let schema = batch.schema();
    let field = Arc::new(Field::new(SPLIT, DataType::Utf8, true));
    let fields: Vec<_> = schema.fields().iter().cloned().chain([field]).collect();
    let values = Arc::new(StringArray::from(vec![split; batch.num_rows()])) as ArrayRef;
    let columns = batch.columns().iter().cloned().chain([values]).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
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
fn guarded<T>(
    path: &Path,
    format: &str,
    read: impl FnOnce() -> Result<T, ArrowError>,
) -> Result<T, ExchangeError> {
    let damaged = format!("it is a damaged {format} file, not whole, or of a kind that cannot be read");
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(read)) => Ok(read),
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
    let mut rows = Rows::create(path, schema)?;
    for batch in batches {
        rows.write(&batch?)?;
    }
    rows.finish()
}

/// The rows of a table, being written.
struct Rows {
    inside: String,
    classes: ClassNames,
    out: Writer<Limited, LineDelimited>,
}

impl Rows {
    fn create(path: &Path, schema: &Schema) -> Result<Self, ArrowError> {
        let mut names = HashSet::new();
        if let Some(twice) = schema.fields().iter().find(|field| !names.insert(field.name())) {
            return Err(ArrowError::SchemaError(format!("two columns are called \"{}\"", twice.name())));
        }
        // With what is missing, so that a column without a value is a column.
        let explicit = WriterBuilder::new().with_explicit_nulls(true);
        let out = explicit.build(Limited::create(renamed(path, "jsonl"))?);
        let inside = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { inside, classes: ClassNames::of(schema), out })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        self.out.write(&self.classes.named(batch.clone())?)
    }

    fn finish(mut self) -> Result<Step, ArrowError> {
        self.out.finish()?;
        Ok(self.out.into_inner().finish(self.inside, self.classes.told())?)
    }
}
