//! Writing Parquet, row by row, in bounded memory.

use crate::typed_column::{ColumnKind, TypedColumn, Value};
use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, FixedSizeListBuilder, Float32Builder, Int64Builder, StringBuilder,
    TimestampMillisecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows that are written at once, or fewer where they hold more bytes than [`BATCH_BYTES`].
const BATCH_ROWS: usize = 8192;
const BATCH_BYTES: usize = 8 << 20;
/// The approximate size at which a row group ends, in bytes.
const ROW_GROUP_BYTES: usize = 64 << 20;

/// A Parquet file being written to `W`.
#[derive(Debug)]
pub(crate) struct ParquetWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
    columns: Vec<Column>,
    rows: usize,
    bytes: usize,
}

#[derive(Debug)]
enum Column {
    Text(StringBuilder),
    Number(Float32Builder),
    Integer(Int64Builder),
    Moment(TimestampMillisecondBuilder),
    Flag(BooleanBuilder),
    Vector(FixedSizeListBuilder<Float32Builder>),
}

impl Column {
    fn new(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Text | ColumnKind::Level => Self::Text(StringBuilder::new()),
            ColumnKind::Number => Self::Number(Float32Builder::new()),
            ColumnKind::Integer => Self::Integer(Int64Builder::new()),
            ColumnKind::Moment => Self::Moment(TimestampMillisecondBuilder::new().with_timezone(UTC)),
            ColumnKind::Flag => Self::Flag(BooleanBuilder::new()),
            ColumnKind::Vector(length) => {
                let builder = FixedSizeListBuilder::new(Float32Builder::new(), length as i32);
                Self::Vector(builder.with_field(element()))
            }
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(builder) => ArrayBuilder::finish(builder),
            Self::Number(builder) => ArrayBuilder::finish(builder),
            Self::Integer(builder) => ArrayBuilder::finish(builder),
            Self::Moment(builder) => ArrayBuilder::finish(builder),
            Self::Flag(builder) => ArrayBuilder::finish(builder),
            Self::Vector(builder) => ArrayBuilder::finish(builder),
        }
    }

    /// Appends a value of the builder's kind; returns false for one of another kind.
    fn push(&mut self, value: &Value<'_>) -> bool {
        match (self, value) {
            (Self::Text(builder), Value::Text(text)) => builder.append_value(text),
            (Self::Text(builder), Value::Missing) => builder.append_null(),
            (Self::Number(builder), Value::Number(x)) => builder.append_value(*x),
            (Self::Integer(builder), Value::Integer(x)) => builder.append_value(*x),
            (Self::Integer(builder), Value::Missing) => builder.append_null(),
            (Self::Moment(builder), Value::Integer(x)) => builder.append_value(*x),
            (Self::Moment(builder), Value::Missing) => builder.append_null(),
            (Self::Flag(builder), Value::Flag(flag)) => builder.append_value(*flag),
            (Self::Flag(builder), Value::Missing) => builder.append_null(),
            (Self::Vector(builder), Value::Vector(x)) if x.len() == builder.value_length() as usize => {
                builder.values().append_slice(x);
                builder.append(true);
            }
            _ => return false,
        }
        true
    }
}

const UTC: &str = "UTC";

fn element() -> Field {
    Field::new("element", DataType::Float32, false)
}

fn field(column: &TypedColumn) -> Field {
    let (kind, nullable) = match column.kind {
        ColumnKind::Text | ColumnKind::Level => (DataType::Utf8, true),
        ColumnKind::Number => (DataType::Float32, false),
        ColumnKind::Integer => (DataType::Int64, true),
        ColumnKind::Moment => (DataType::Timestamp(TimeUnit::Millisecond, Some(UTC.into())), true),
        ColumnKind::Flag => (DataType::Boolean, true),
        ColumnKind::Vector(length) => (DataType::FixedSizeList(Arc::new(element()), length as i32), false),
    };
    Field::new(&column.name, kind, nullable)
}

impl<W: Write + Send> ParquetWriter<W> {
    pub(crate) fn new(out: W, columns: &[TypedColumn]) -> io::Result<Self> {
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let properties =
            WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(reason)?;
        let columns = columns.iter().map(|column| Column::new(column.kind)).collect();
        Ok(Self { writer, schema, columns, rows: 0, bytes: 0 })
    }

    /// Writes a row: a value for each column, of its kind.
    pub(crate) fn write(&mut self, row: &[Value<'_>]) -> io::Result<()> {
        for (column, value) in self.columns.iter_mut().zip(row) {
            if !column.push(value) {
                return Err(io::Error::other(format!("{value:?} is no value of its column")));
            }
            self.bytes += match value {
                Value::Text(text) => text.len(),
                Value::Vector(x) => size_of_val(*x),
                _ => size_of::<i64>(),
            };
        }
        self.rows += 1;
        if self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES { self.end_batch() } else { Ok(()) }
    }

    fn end_batch(&mut self) -> io::Result<()> {
        let columns = self.columns.iter_mut().map(Column::finish).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(io::Error::other)?;
        (self.rows, self.bytes) = (0, 0);
        self.writer.write(&batch).map_err(reason)?;
        if self.writer.in_progress_size() >= ROW_GROUP_BYTES {
            self.writer.flush().map_err(reason)?;
        }
        Ok(())
    }

    pub(crate) fn inner(&self) -> &W {
        self.writer.inner()
    }

    /// Writes the remaining rows and the footer; returns the output.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            self.end_batch()?;
        }
        self.writer.into_inner().map_err(reason)
    }
}

/// Unwraps the error of the operating system, if it is one.
fn reason(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    /// The file that pyarrow reads (tools/fixtures/parquet.py). Its bytes depend on the versions of
    /// libraries; its contents do not.
    #[test]
    fn written_parquet_matches_the_pyarrow_fixture() {
        let columns = [
            TypedColumn::new("text_id", ColumnKind::Text),
            TypedColumn::new("p", ColumnKind::Number),
            TypedColumn::new("observed", ColumnKind::Flag),
            TypedColumn::new("embedding", ColumnKind::Vector(3)),
            TypedColumn::new("one", ColumnKind::Vector(1)),
            TypedColumn::new("at", ColumnKind::Moment),
            TypedColumn::new("count", ColumnKind::Integer),
        ];
        let mut file = ParquetWriter::new(Vec::new(), &columns).unwrap();
        for i in 0..11u8 {
            let x = f32::from(i);
            let id = if i == 4 { "ünï – 😀".to_owned() } else { format!("t{i}") };
            let p = if i == 7 { f32::NAN } else { x / 8.0 };
            let vector = [x, -x, x * 0.5];
            let row = [
                if i == 5 { Value::Missing } else { Value::Text(&id) },
                Value::Number(p),
                Value::Flag(i % 3 == 0),
                Value::Vector(&vector),
                Value::Vector(&vector[..1]),
                if i == 6 { Value::Missing } else { Value::Integer(1_709_211_907_000 + i64::from(i)) },
                if i == 8 { Value::Missing } else { Value::Integer(i64::from(i) - 5) },
            ];
            file.write(&row).unwrap();
            if i == 6 {
                file.end_batch().unwrap();
                file.writer.flush().unwrap();
            }
        }
        let bytes = file.finish().unwrap();
        let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/table.parquet");
        if std::env::var_os("DISSENSUS_WRITE_FIXTURE").is_some() {
            std::fs::write(kept, &bytes).unwrap();
        }
        assert_eq!(rows(&bytes), rows(&std::fs::read(kept).unwrap()));
        assert_eq!(rows(&bytes).len(), 11);
    }

    fn rows(bytes: &[u8]) -> Vec<String> {
        use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        std::fs::write(&path, bytes).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(&path).unwrap()).unwrap();
        let mut json = arrow_json::LineDelimitedWriter::new(Vec::new());
        reader.build().unwrap().for_each(|batch| json.write(&batch.unwrap()).unwrap());
        json.finish().unwrap();
        String::from_utf8(json.into_inner()).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn many_rows_are_flushed_in_batches_and_groups() {
        let columns = [TypedColumn::new("x", ColumnKind::Vector(1024))];
        let mut file = ParquetWriter::new(Vec::new(), &columns).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for _ in 0..20_000 {
            let row: Vec<f32> = (0..1024).map(|_| rng.random()).collect();
            file.write(&[Value::Vector(&row)]).unwrap();
            assert!(file.bytes < BATCH_BYTES && file.rows < BATCH_ROWS);
        }
        assert!(!file.writer.flushed_row_groups().is_empty());
        assert!(file.writer.in_progress_size() < ROW_GROUP_BYTES);
    }
}
