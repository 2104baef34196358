//! Writing Parquet: values as they are (PLAIN), no compression, every value there, one page a column and row group
//! (Apache Parquet format 2.10: parquet.thrift, Encodings.md).
//!
//! Our own lines and not the `parquet` crate: a table of texts, numbers, flags and vectors needs a fraction of it (ARCHITECTURE.md).
//! `tests/fixtures/table.parquet` is read by pyarrow (tools/fixtures/parquet.py).

use crate::typed_column::{ColumnKind, TypedColumn, Value};
use std::io::{self, Write};

const MAGIC: &[u8] = b"PAR1";
/// A row group is written when its columns hold as many bytes as this.
const ROW_GROUP_BYTES: usize = 8 << 20;

/// Numbers of parquet.thrift.
mod number {
    pub(super) const BOOLEAN: i64 = 0;
    pub(super) const FLOAT: i64 = 4;
    pub(super) const BYTE_ARRAY: i64 = 6;
    pub(super) const REQUIRED: i64 = 0;
    pub(super) const REPEATED: i64 = 2;
    pub(super) const UTF8: i64 = 0;
    pub(super) const LIST: i64 = 3;
    pub(super) const PLAIN: i64 = 0;
    pub(super) const RLE: i64 = 3;
    pub(super) const UNCOMPRESSED: i64 = 0;
    pub(super) const DATA_PAGE: i64 = 0;
}

/// A Parquet file being written to `W`.
#[derive(Debug)]
pub(crate) struct ParquetWriter<W> {
    out: W,
    position: u64,
    columns: Vec<TypedColumn>,
    /// The row group at hand, a buffer a column.
    buffers: Vec<Buffer>,
    rows: u64,
    groups: Vec<Group>,
}

#[derive(Debug, Default)]
struct Buffer {
    values: Vec<u8>,
    flags: Vec<bool>,
}

#[derive(Debug)]
struct Group {
    rows: u64,
    chunks: Vec<Chunk>,
}

#[derive(Debug)]
struct Chunk {
    offset: u64,
    bytes: u64,
    values: u64,
}

impl<W: Write> ParquetWriter<W> {
    pub(crate) fn new(mut out: W, columns: &[TypedColumn]) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        let buffers = columns.iter().map(|_| Buffer::default()).collect();
        let position = MAGIC.len() as u64;
        Ok(Self { out, position, columns: columns.to_vec(), buffers, rows: 0, groups: Vec::new() })
    }

    pub(crate) fn write(&mut self, row: &[Value<'_>]) -> io::Result<()> {
        for (buffer, value) in self.buffers.iter_mut().zip(row) {
            match value {
                Value::Text(text) => {
                    let length = u32::try_from(text.len()).map_err(io::Error::other)?;
                    buffer.values.extend(length.to_le_bytes());
                    buffer.values.extend(text.as_bytes());
                }
                Value::Number(x) => buffer.values.extend(x.to_le_bytes()),
                Value::Flag(flag) => buffer.flags.push(*flag),
                Value::Vector(x) => buffer.values.extend(x.iter().flat_map(|x| x.to_le_bytes())),
            }
        }
        self.rows += 1;
        let held: usize = self.buffers.iter().map(|b| b.values.len() + b.flags.len() / 8).sum();
        if held >= ROW_GROUP_BYTES { self.end_group() } else { Ok(()) }
    }

    /// What is left, and what is where; gives back the output.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            self.end_group()?;
        }
        let about = self.metadata();
        let length = u32::try_from(about.len()).map_err(io::Error::other)?;
        self.out.write_all(&about)?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(MAGIC)?;
        Ok(self.out)
    }

    fn end_group(&mut self) -> io::Result<()> {
        let mut chunks = Vec::with_capacity(self.columns.len());
        let rows = std::mem::take(&mut self.rows);
        for (column, buffer) in self.columns.iter().zip(&mut self.buffers) {
            let values = rows * column.kind.length() as u64;
            let mut page = Vec::new();
            if let ColumnKind::Vector(length) = column.kind {
                page.extend(levels(&row_starts(rows, length)));
                page.extend(levels(&run(values, 1)));
            }
            page.append(&mut buffer.values);
            page.extend(buffer.flags.chunks(8).map(packed));
            buffer.flags.clear();
            let header = page_header(page.len(), values)?;
            self.out.write_all(&header)?;
            self.out.write_all(&page)?;
            let bytes = (header.len() + page.len()) as u64;
            chunks.push(Chunk { offset: self.position, bytes, values });
            self.position += bytes;
        }
        self.groups.push(Group { rows, chunks });
        Ok(())
    }

    /// `FileMetaData`.
    fn metadata(&self) -> Vec<u8> {
        let mut out = Compact::default();
        out.number(1, 1);
        let elements = 1 + self.columns.iter().map(|c| schema_elements(c.kind)).sum::<usize>();
        out.list(2, elements, Compact::STRUCT);
        out.element(&Element { name: "schema", children: self.columns.len(), ..Element::default() });
        for column in &self.columns {
            out.column(column);
        }
        out.wide(3, self.groups.iter().map(|g| g.rows).sum());
        out.list(4, self.groups.len(), Compact::STRUCT);
        for group in &self.groups {
            out.begin();
            out.list(1, group.chunks.len(), Compact::STRUCT);
            for (column, chunk) in self.columns.iter().zip(&group.chunks) {
                out.chunk(column, chunk);
            }
            out.wide(2, group.chunks.iter().map(|c| c.bytes).sum());
            out.wide(3, group.rows);
            out.end();
        }
        out.text(6, "dissensus version 1");
        out.end();
        out.bytes
    }
}

/// Eight flags in a byte, the first in the lowest bit.
fn packed(flags: &[bool]) -> u8 {
    flags.iter().enumerate().fold(0, |byte, (bit, flag)| byte | u8::from(*flag) << bit)
}

/// A run of `length` levels of one bit.
fn run(length: u64, level: u8) -> Vec<u8> {
    let mut out = varint(length << 1);
    out.push(level);
    out
}

/// Repetition levels of vectors: 0 where a row begins, 1 in the rest of it.
fn row_starts(rows: u64, length: usize) -> Vec<u8> {
    let mut row = run(1, 0);
    if length > 1 {
        row.extend(run(length as u64 - 1, 1));
    }
    row.repeat(rows as usize)
}

/// Levels with their length before them.
fn levels(runs: &[u8]) -> Vec<u8> {
    [&(runs.len() as u32).to_le_bytes(), runs].concat()
}

fn page_header(bytes: usize, values: u64) -> io::Result<Vec<u8>> {
    let bytes = i64::from(i32::try_from(bytes).map_err(io::Error::other)?);
    let mut out = Compact::default();
    out.number(1, number::DATA_PAGE);
    out.number(2, bytes);
    out.number(3, bytes);
    out.field(5, Compact::STRUCT);
    out.begin();
    out.number(1, i64::from(i32::try_from(values).map_err(io::Error::other)?));
    out.number(2, number::PLAIN);
    out.number(3, number::RLE);
    out.number(4, number::RLE);
    out.end();
    out.end();
    Ok(out.bytes)
}

fn schema_elements(kind: ColumnKind) -> usize {
    if matches!(kind, ColumnKind::Vector(_)) { 3 } else { 1 }
}

fn physical(kind: ColumnKind) -> i64 {
    match kind {
        ColumnKind::Text => number::BYTE_ARRAY,
        ColumnKind::Flag => number::BOOLEAN,
        ColumnKind::Number | ColumnKind::Vector(_) => number::FLOAT,
    }
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// One entry of the schema.
#[derive(Default)]
struct Element<'a> {
    name: &'a str,
    /// Of a group.
    children: usize,
    /// Of a column.
    physical: Option<i64>,
    /// The root has none.
    repetition: Option<i64>,
    converted: Option<i64>,
}

/// Thrift's compact protocol, as far as it is needed.
#[derive(Default)]
struct Compact {
    bytes: Vec<u8>,
    /// The last field of each struct that is open, the one at hand last.
    last: u8,
    outer: Vec<u8>,
}

impl Compact {
    const I32: u8 = 5;
    const I64: u8 = 6;
    const BINARY: u8 = 8;
    const LIST: u8 = 9;
    const STRUCT: u8 = 12;

    fn begin(&mut self) {
        self.outer.push(std::mem::take(&mut self.last));
    }

    fn end(&mut self) {
        self.bytes.push(0);
        self.last = self.outer.pop().unwrap_or_default();
    }

    fn field(&mut self, id: u8, kind: u8) {
        self.bytes.push((id - self.last) << 4 | kind);
        self.last = id;
    }

    fn zigzag(&mut self, value: i64) {
        self.bytes.extend(varint((value << 1 ^ value >> 63) as u64));
    }

    fn number(&mut self, id: u8, value: i64) {
        self.field(id, Self::I32);
        self.zigzag(value);
    }

    fn wide(&mut self, id: u8, value: u64) {
        self.field(id, Self::I64);
        self.zigzag(value as i64);
    }

    fn raw_text(&mut self, text: &str) {
        self.bytes.extend(varint(text.len() as u64));
        self.bytes.extend(text.as_bytes());
    }

    fn text(&mut self, id: u8, text: &str) {
        self.field(id, Self::BINARY);
        self.raw_text(text);
    }

    fn list(&mut self, id: u8, length: usize, kind: u8) {
        self.field(id, Self::LIST);
        if length < 15 {
            self.bytes.push((length as u8) << 4 | kind);
        } else {
            self.bytes.push(0xF0 | kind);
            self.bytes.extend(varint(length as u64));
        }
    }

    /// `SchemaElement`.
    fn element(&mut self, element: &Element<'_>) {
        self.begin();
        if let Some(physical) = element.physical {
            self.number(1, physical);
        }
        if let Some(repetition) = element.repetition {
            self.number(3, repetition);
        }
        self.text(4, element.name);
        if element.children > 0 {
            self.number(5, element.children as i64);
        }
        if let Some(converted) = element.converted {
            self.number(6, converted);
        }
        self.end();
    }

    /// The schema of one column; a vector is a list of numbers.
    fn column(&mut self, column: &TypedColumn) {
        let leaf = |name, physical| Element {
            name,
            physical: Some(physical),
            repetition: Some(number::REQUIRED),
            ..Element::default()
        };
        let name = column.name.as_str();
        let physical = physical(column.kind);
        match column.kind {
            ColumnKind::Text => {
                self.element(&Element { converted: Some(number::UTF8), ..leaf(name, physical) });
            }
            ColumnKind::Number | ColumnKind::Flag => self.element(&leaf(name, physical)),
            ColumnKind::Vector(_) => {
                let group = |name, repetition| Element {
                    name,
                    children: 1,
                    repetition: Some(repetition),
                    ..Element::default()
                };
                self.element(&Element { converted: Some(number::LIST), ..group(name, number::REQUIRED) });
                self.element(&group("list", number::REPEATED));
                self.element(&leaf("element", physical));
            }
        }
    }

    /// `ColumnChunk`.
    fn chunk(&mut self, column: &TypedColumn, chunk: &Chunk) {
        let path = match column.kind {
            ColumnKind::Vector(_) => vec![column.name.as_str(), "list", "element"],
            _ => vec![column.name.as_str()],
        };
        self.begin();
        self.wide(2, chunk.offset);
        self.field(3, Self::STRUCT);
        self.begin();
        self.number(1, physical(column.kind));
        self.list(2, 2, Self::I32);
        self.zigzag(number::PLAIN);
        self.zigzag(number::RLE);
        self.list(3, path.len(), Self::BINARY);
        path.iter().for_each(|name| self.raw_text(name));
        self.number(4, number::UNCOMPRESSED);
        self.wide(5, chunk.values);
        self.wide(6, chunk.bytes);
        self.wide(7, chunk.bytes);
        self.wide(9, chunk.offset);
        self.end();
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, kind: ColumnKind) -> TypedColumn {
        TypedColumn { name: name.to_owned(), kind }
    }

    /// The file that pyarrow reads (tools/fixtures/parquet.py), byte for byte.
    #[test]
    fn is_the_file_that_pyarrow_reads() {
        let columns = [
            column("text_id", ColumnKind::Text),
            column("p", ColumnKind::Number),
            column("observed", ColumnKind::Flag),
            column("embedding", ColumnKind::Vector(3)),
            column("one", ColumnKind::Vector(1)),
        ];
        let mut file = ParquetWriter::new(Vec::new(), &columns).unwrap();
        for i in 0..11u8 {
            let x = f32::from(i);
            let id = if i == 4 { "ünï – 😀".to_owned() } else { format!("t{i}") };
            let p = if i == 7 { f32::NAN } else { x / 8.0 };
            let vector = [x, -x, x * 0.5];
            file.write(&[
                Value::Text(&id),
                Value::Number(p),
                Value::Flag(i % 3 == 0),
                Value::Vector(&vector),
                Value::Vector(&vector[..1]),
            ])
            .unwrap();
            if i == 6 {
                file.end_group().unwrap();
            }
        }
        let bytes = file.finish().unwrap();
        let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/table.parquet");
        if std::env::var_os("DISSENSUS_WRITE_FIXTURE").is_some() {
            std::fs::write(kept, &bytes).unwrap();
        }
        assert_eq!(bytes, std::fs::read(kept).unwrap());
    }

    #[test]
    fn a_file_without_rows_has_its_columns() {
        let columns = [column("text_id", ColumnKind::Text)];
        let bytes = ParquetWriter::new(Vec::new(), &columns).unwrap().finish().unwrap();
        assert!(bytes.starts_with(MAGIC) && bytes.ends_with(MAGIC));
        let length = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap());
        assert_eq!(length as usize, bytes.len() - 12);
    }

    #[test]
    fn many_rows_are_written_in_groups() {
        let columns = [column("x", ColumnKind::Vector(1024))];
        let mut file = ParquetWriter::new(Vec::new(), &columns).unwrap();
        let row = [1.0; 1024];
        (0..5000).for_each(|_| file.write(&[Value::Vector(&row)]).unwrap());
        assert_eq!(file.groups.iter().map(|g| g.rows).collect::<Vec<_>>(), [2048, 2048]);
        assert!(file.buffers[0].values.len() < ROW_GROUP_BYTES);
    }

    #[test]
    fn numbers_are_written_as_thrift_has_them() {
        assert_eq!(varint(300), [0xAC, 0x02]);
        let mut out = Compact::default();
        out.zigzag(-1);
        out.zigzag(1);
        assert_eq!(out.bytes, [1, 2]);
    }
}
