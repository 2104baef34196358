//! Parquet, folders of it, and Arrow as JSON Lines, a row a line: line 7 is row 7. Columns of the Hugging
//! Face type `ClassLabel` have the names of their classes.

use super::Step;
use super::arrow_parts::{MAGIC, check_file, check_stream, check_types};
use super::dataset;
use super::hugging_face::ClassNames;
use super::limited::{Limited, failed, renamed, too_much};
use crate::ExchangeError;
use crate::unpacking::unpacking_limit;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_json::WriterBuilder;
use arrow_json::writer::{LineDelimited, Writer};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use dissensus_domain::catch_panic;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::column::page::PageReader as _;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;
use std::sync::Arc;

/// Maximum number of rows in memory.
const BATCH_ROWS: usize = 4096;
/// The column with the part of the official split.
const SPLIT: &str = "split";

pub(super) fn rewrite_parquet(path: &Path, packed: u64) -> Result<Step, ExchangeError> {
    guarded(path, "Parquet", || {
        let reader = parquet(path)?;
        let schema = reader.schema().clone();
        write(path, &schema, reader.build()?, packed)
    })
}

/// Opens a Parquet file. Texts are read as views into the file, so that a long one in a dictionary is not
/// copied for each of its rows.
fn parquet(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>, ArrowError> {
    let file = File::open(path).map_err(ArrowError::from)?;
    let packed = file.metadata().map_err(ArrowError::from)?.len();
    let found = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())?;
    check_pages(path, found.metadata(), unpacking_limit(packed))?;
    let fields = found.schema().fields().iter().map(viewed);
    let schema = Schema::new_with_metadata(fields.collect::<Vec<_>>(), found.schema().metadata().clone());
    check_types(&schema)?;
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    let metadata = ArrowReaderMetadata::try_new(found.metadata().clone(), options)?;
    Ok(ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata).with_batch_size(BATCH_ROWS))
}

/// Refuses a file if a group of rows unpacks to more than `limit` bytes or values: it is read group by group.
fn check_pages(path: &Path, metadata: &ParquetMetaData, limit: u64) -> Result<(), ArrowError> {
    let beyond = || ArrowError::from(too_much(limit));
    let file = Arc::new(File::open(path).map_err(ArrowError::from)?);
    for group in metadata.row_groups() {
        let (mut bytes, mut values) = (0_u64, 0_u64);
        for column in group.columns() {
            bytes = bytes.saturating_add(u64::try_from(column.uncompressed_size()).unwrap_or(u64::MAX));
            let rows = usize::try_from(group.num_rows()).map_err(|_| beyond())?;
            let mut pages = SerializedPageReader::new(Arc::clone(&file), column, rows, None)?;
            while let Some(page) = pages.peek_next_page()? {
                let levels = page.num_levels.or(page.num_rows).unwrap_or_default();
                values = values.saturating_add(levels as u64);
                pages.skip_next_page()?;
            }
            if bytes > limit || values > limit {
                return Err(beyond());
            }
        }
    }
    Ok(())
}

/// A column with its texts as views.
fn viewed(field: &Arc<Field>) -> Arc<Field> {
    let kind = match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        DataType::List(values) => DataType::List(viewed(values)),
        DataType::LargeList(values) => DataType::LargeList(viewed(values)),
        DataType::FixedSizeList(values, length) => DataType::FixedSizeList(viewed(values), *length),
        DataType::Map(entries, sorted) => DataType::Map(viewed(entries), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(viewed).collect()),
        _ => return Arc::clone(field),
    };
    Arc::new(field.as_ref().clone().with_data_type(kind))
}

/// Rewrites the files of a folder one after the other; they must have the same columns.
pub(super) fn rewrite_dataset(folder: &Path, packed: u64) -> Result<Step, ExchangeError> {
    let files = dataset::files(folder);
    let refuse =
        |path: &Path, why: &str| Err(ExchangeError::Package { path: path.to_owned(), why: why.to_owned() });
    let Some(first) = files.first() else { return refuse(folder, "it has no Parquet files") };
    let schema = guarded(first, "Parquet", || Ok(parquet(first)?.schema().clone()))?;
    for file in &files[1..] {
        let other = guarded(file, "Parquet", || Ok(parquet(file)?.schema().clone()))?;
        if other.fields() != schema.fields() || ClassNames::new(&other) != ClassNames::new(&schema) {
            let why = "it has other columns, or other names of classes, than the files before it: import them one by one";
            return refuse(file, why);
        }
    }
    let has_split = schema.fields().iter().any(|field| field.name() == SPLIT);
    let splits: Vec<Option<String>> = files.iter().map(|file| dataset::split_of(file)).collect();
    let tells = !has_split && splits.iter().any(Option::is_some);
    guarded(folder, "Parquet", || {
        let mut out = Rows::create(folder, &schema, packed)?;
        for (file, split) in files.iter().zip(&splits) {
            for batch in parquet(file)?.build()? {
                let batch = batch?;
                out.write(&if tells { with_split(batch, split.as_deref())? } else { batch })?;
            }
        }
        out.finish()
    })
}

/// Adds the part of the split to the rows as a column of its own.
fn with_split(batch: RecordBatch, split: Option<&str>) -> Result<RecordBatch, ArrowError> {
    let schema = batch.schema();
    let field = Arc::new(Field::new(SPLIT, DataType::Utf8, true));
    let fields: Vec<_> = schema.fields().iter().cloned().chain([field]).collect();
    let values = Arc::new(StringArray::from(vec![split; batch.num_rows()])) as ArrayRef;
    let columns = batch.columns().iter().cloned().chain([values]).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

/// Rewrites an Arrow file with a list of its parts, or a stream.
pub(super) fn rewrite_arrow(path: &Path, packed: u64) -> Result<Step, ExchangeError> {
    guarded(path, "Arrow", || {
        let mut file = BufReader::new(File::open(path).map_err(ArrowError::from)?);
        let mut magic = [0; 6];
        file.read_exact(&mut magic).map_err(ArrowError::from)?;
        let limit = unpacking_limit(packed);
        if magic == MAGIC {
            check_file(&mut file, limit)?;
            file.rewind().map_err(ArrowError::from)?;
            let reader = FileReader::try_new(file, None)?;
            let schema = reader.schema();
            check_types(&schema)?;
            write(path, &schema, reader, packed)
        } else {
            check_stream(&mut file, limit)?;
            file.rewind().map_err(ArrowError::from)?;
            let reader = StreamReader::try_new(file, None)?;
            let schema = reader.schema();
            check_types(&schema)?;
            write(path, &schema, reader, packed)
        }
    })
}

/// Converts the errors and panics of libraries on damaged files.
fn guarded<T>(
    path: &Path,
    format: &str,
    read: impl FnOnce() -> Result<T, ArrowError>,
) -> Result<T, ExchangeError> {
    let damaged = format!("it is a damaged {format} file, not whole, or of a kind that cannot be read");
    match catch_panic(read) {
        Some(Ok(read)) => Ok(read),
        Some(Err(ArrowError::IoError(_, error))) => Err(failed(path, &error, &damaged)),
        Some(Err(ArrowError::ExternalError(error))) => {
            let error = match error.downcast::<io::Error>() {
                Ok(error) => *error,
                Err(error) => io::Error::other(error),
            };
            Err(failed(path, &error, &damaged))
        }
        Some(Err(error)) => Err(failed(path, &io::Error::other(error), &damaged)),
        None => Err(ExchangeError::Package {
            path: path.to_owned(),
            why: format!("{damaged}: fetch or export it again"),
        }),
    }
}

fn write(
    path: &Path,
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    packed: u64,
) -> Result<Step, ArrowError> {
    let mut rows = Rows::create(path, schema, packed)?;
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
    fn create(path: &Path, schema: &Schema, packed: u64) -> Result<Self, ArrowError> {
        let mut names = HashSet::new();
        if let Some(twice) = schema.fields().iter().find(|field| !names.insert(field.name())) {
            return Err(ArrowError::SchemaError(format!("two columns are called \"{}\"", twice.name())));
        }
        // Including missing values, so that a column without a value is a column.
        let explicit = WriterBuilder::new().with_explicit_nulls(true);
        let out = explicit.build(Limited::create(renamed(path, "jsonl"), packed)?);
        let inside = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { inside, classes: ClassNames::new(schema), out })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        self.out.write(&self.classes.named(batch.clone())?)
    }

    fn finish(mut self) -> Result<Step, ArrowError> {
        self.out.finish()?;
        Ok(self.out.into_inner().finish(self.inside, self.classes.irregularities())?)
    }
}
