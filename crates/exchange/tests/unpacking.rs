//! Small files that unpack to a huge size are refused before they fill memory or disk. A separate process,
//! because it reads the peak memory of the whole process.

#![cfg(target_os = "linux")] // the kernel's count of a process's memory is read from /proc
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use arrow_array::builder::{BooleanBuilder, ListBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, NullArray, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use dissensus_exchange::{Source, guess_roles, read_rows};
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression as Codec, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Maximum memory for all refusals together: the limit of the smallest file once or twice, and the data of
/// the test itself.
const ALLOWED_KIB: u64 = 500 << 10;

/// The peak memory of this process, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn refusal(path: &Path) -> String {
    Source::open(path).err().map_or_else(String::new, |error| error.to_string())
}

/// `bytes` bytes of one repeated letter, after the header of a table.
fn repeated(bytes: u64, letter: u8) -> impl Read {
    io::Read::chain(&b"text_id,text,annotator_id,label\n"[..], io::repeat(letter).take(bytes))
}

/// Writes the rows `times` times.
fn parquet(path: &Path, batch: &RecordBatch, times: usize) {
    let properties = WriterProperties::builder()
        .set_compression(Codec::ZSTD(ZstdLevel::try_new(3).unwrap()))
        .set_dictionary_page_size_limit(4 << 20)
        .build();
    let mut out =
        ArrowWriter::try_new(std::fs::File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
    (0..times).for_each(|_| out.write(batch).unwrap());
    out.close().unwrap();
}

/// A table with one long text in every row, stored once.
fn one_long_text(rows: i32) -> RecordBatch {
    let keys = Int32Array::from(vec![0; rows as usize]);
    let values = Arc::new(StringArray::from(vec!["x".repeat(64 << 10)]));
    let texts: DictionaryArray<Int32Type> = DictionaryArray::new(keys, values);
    let ids = StringArray::from_iter_values((0..rows).map(|row| format!("t{row}")));
    RecordBatch::try_from_iter([
        ("text_id", Arc::new(ids) as ArrayRef),
        ("text", Arc::new(texts) as ArrayRef),
    ])
    .unwrap()
}

/// A row whose list has very many equal values.
fn one_long_list() -> RecordBatch {
    let mut lists = ListBuilder::new(BooleanBuilder::new());
    lists.values().append_n(1 << 20, true);
    lists.append(true);
    let text = StringArray::from(vec!["so"]);
    RecordBatch::try_from_iter([
        ("text", Arc::new(text) as ArrayRef),
        ("labels", Arc::new(lists.finish()) as ArrayRef),
    ])
    .unwrap()
}

#[test]
fn decompression_bombs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    // Blank lines, one long line, and both packed twice.
    for (name, letter) in [("lines.csv.gz", b'\n'), ("line.csv.gz", b'x')] {
        let mut out = GzEncoder::new(std::fs::File::create(place(name)).unwrap(), Compression::default());
        io::copy(&mut repeated(68 << 20, letter), &mut out).unwrap();
        out.finish().unwrap();
    }
    let mut twice =
        GzEncoder::new(std::fs::File::create(place("twice.csv.gz.gz")).unwrap(), Compression::default());
    twice.write_all(&std::fs::read(place("lines.csv.gz")).unwrap()).unwrap();
    twice.finish().unwrap();
    for (name, files) in [("one.zip", 1), ("tool.zip", 2)] {
        let mut archive = ZipWriter::new(std::fs::File::create(place(name)).unwrap());
        for nth in 0..files {
            archive.start_file(format!("admin{nth}.jsonl"), SimpleFileOptions::default()).unwrap();
            io::copy(&mut repeated(68 << 20, b'\n'), &mut archive).unwrap();
        }
        archive.finish().unwrap();
    }
    // Columns that are small and unpack to a huge size.
    parquet(&place("text.parquet"), &one_long_text(3000), 1);
    parquet(&place("list.parquet"), &one_long_list(), 70);
    for (name, packed) in [("text.arrow", None), ("packed.arrow", Some(CompressionType::ZSTD))] {
        let options = IpcWriteOptions::default().try_with_compression(packed).unwrap();
        let batch = one_long_text(3000);
        let out = std::fs::File::create(place(name)).unwrap();
        let mut out = FileWriter::try_new_with_options(out, &batch.schema(), options).unwrap();
        out.write(&batch).unwrap();
        out.finish().unwrap();
    }
    let nothing =
        RecordBatch::try_from_iter([("text", Arc::new(NullArray::new(i32::MAX as usize)) as ArrayRef)]);
    let nothing = nothing.unwrap();
    let mut out =
        StreamWriter::try_new(std::fs::File::create(place("rows.arrows")).unwrap(), &nothing.schema())
            .unwrap();
    out.write(&nothing).unwrap();
    out.finish().unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let message = refusal(&path);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(message.contains(&name) && message.contains("times its own size"), "{name}: {message}");
    }
    let peak = peak_kib();
    assert!(peak < ALLOWED_KIB, "{peak} KiB");
}

/// Tables of labels pack to a fiftieth, and are read.
#[test]
fn well_compressed_tables_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels.csv.gz");
    let mut out = GzEncoder::new(std::fs::File::create(&path).unwrap(), Compression::best());
    out.write_all(b"text_id,annotator_id,label\n").unwrap();
    for row in 0..20_000 {
        writeln!(out, "t{},a{},{}", row / 50, row % 50, row % 2).unwrap();
    }
    out.finish().unwrap();
    let texts = folder.path().join("texts.parquet");
    parquet(&texts, &one_long_text(30), 1);
    for (path, rows) in [(path, 20_000), (texts, 30)] {
        let source = Source::open(&path).unwrap();
        let roles = guess_roles(&source).unwrap();
        assert_eq!(read_rows(&source, &roles).unwrap().count(), rows, "{}", path.display());
    }
}

/// An Arrow file may declare any lengths, and a library would reserve the memory for them.
#[test]
fn corrupted_arrow_file_is_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.arrow");
    let mut table = Vec::new();
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD)).unwrap();
    let batch = one_long_text(3).slice(0, 2);
    let mut out = FileWriter::try_new_with_options(&mut table, &batch.schema(), options).unwrap();
    out.write(&batch).unwrap();
    out.finish().unwrap();
    drop(out);
    let mut refused = 0;
    for at in 0..table.len() {
        for change in [0xFF, 0x81] {
            let mut changed = table.clone();
            changed[at] ^= change;
            std::fs::write(&path, &changed).unwrap();
            refused += u32::from(!refusal(&path).is_empty());
        }
    }
    assert!(refused > 100, "{refused}");
}
