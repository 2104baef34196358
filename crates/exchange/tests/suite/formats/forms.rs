//! Files that are rewritten before they are read: workbooks, Parquet, Arrow, archives of one file, other
//! encodings.

use super::reading::{Read, file, refusal};
use dissensus_exchange::{OpenOptions, Source, guess_roles, read_rows};
use rust_xlsxwriter::{ExcelDateTime, Format, Formula, Workbook};
use std::io::{Cursor, Read as _, Write as _};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

const LABELS: &str = "text_id,text,annotator_id,label\nt1,café,ana,1\nt1,café,ben,2\n";
const SUMMARIES: [&str; 2] = ["ana t1 1", "ben t1 2"];

/// A workbook with these cells in its first sheet.
fn workbook(change: impl FnOnce(&mut Workbook)) -> Vec<u8> {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet().set_name("Answers").unwrap();
    for (row, line) in LABELS.lines().enumerate() {
        for (column, value) in line.split(',').enumerate() {
            match value.parse::<f64>() {
                Ok(number) => sheet.write(row as u32 + 2, column as u16, number).unwrap(),
                Err(_) => sheet.write(row as u32 + 2, column as u16, value).unwrap(),
            };
        }
    }
    change(&mut book);
    book.save_to_buffer().unwrap()
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, content) in files {
        zip.start_file(*name, options).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// An archive of which one part is another.
fn with_part(bytes: &[u8], name: &str, change: impl Fn(String) -> String) -> Vec<u8> {
    let mut there = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let names: Vec<String> =
        (0..there.len()).map(|i| there.by_index(i).unwrap().name().unwrap().into_owned()).collect();
    let parts = names.iter().map(|part| {
        let mut content = Vec::new();
        there.by_name(part).unwrap().read_to_end(&mut content).unwrap();
        match part == name {
            true => (part.as_str(), change(String::from_utf8(content).unwrap()).into_bytes()),
            false => (part.as_str(), content),
        }
    });
    let parts: Vec<(&str, Vec<u8>)> = parts.collect();
    archive(&parts.iter().map(|(name, content)| (*name, content.as_slice())).collect::<Vec<_>>())
}

/// An OpenDocument spreadsheet with this table.
fn open_document(rows: &str) -> Vec<u8> {
    open_document_of(&format!(r#"<table:table table:name="Answers">{rows}</table:table>"#))
}

/// One with these tables, of which those with the style `h` are hidden.
fn open_document_of(tables: &str) -> Vec<u8> {
    let content = format!(
        r#"<?xml version="1.0"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"><office:automatic-styles><style:style style:name="h" style:family="table">
<style:table-properties table:display="false"/></style:style></office:automatic-styles><office:body>
<office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"#
    );
    let manifest = r#"<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>"#;
    archive(&[
        ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", manifest.as_bytes()),
        ("content.xml", content.as_bytes()),
    ])
}

fn row(cells: &[&str]) -> String {
    let cell = |value: &&str| match value.parse::<f64>() {
        Ok(number) => format!(
            r#"<table:table-cell office:value-type="float" office:value="{number}"><text:p>{number}</text:p></table:table-cell>"#
        ),
        Err(_) => format!(
            r#"<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>"#
        ),
    };
    format!("<table:table-row>{}</table:table-row>", cells.iter().map(cell).collect::<String>())
}

fn bodies(read: &Read) -> Vec<&str> {
    read.rows.iter().filter_map(|row| row.text.as_deref()).collect()
}

#[test]
fn sheet_rows_keep_their_numbers() {
    let read = file("a.xlsx", workbook(|_| {})).read();
    assert_eq!(
        (read.format(), read.summaries(), read.met()),
        ("xlsx", SUMMARIES.map(str::to_owned).into(), vec![])
    );
    assert_eq!(bodies(&read), ["café", "café"]);
    assert_eq!(read.source.delimiter(), None);
    // The table begins in row 3 of the sheet, so that its third record, which has a blank text, is row 7
    // there.
    let gap = workbook(|book| {
        let sheet = book.worksheet_from_name("Answers").unwrap();
        sheet.write(6, 0, "t9").unwrap().write(6, 2, "ana").unwrap().write(6, 3, 1).unwrap();
        sheet.write(6, 1, "  ").unwrap();
    });
    let read = file("a.xlsx", gap).read();
    assert_eq!(read.problems.len(), 1);
    assert!(
        read.problems[0].starts_with("row 3 (line 7, sheet \"Answers\"), column \"text\""),
        "{:?}",
        read.problems
    );
}

#[test]
fn workbook_dates_and_booleans_are_read() {
    let dated = workbook(|book| {
        let date = Format::new().set_num_format("yyyy-mm-dd hh:mm:ss");
        let sheet = book.worksheet_from_name("Answers").unwrap();
        sheet.write(2, 4, "labelled_at").unwrap();
        sheet.write(2, 5, "checked").unwrap().write(3, 5, true).unwrap();
        let at = ExcelDateTime::from_ymd(2024, 2, 29).unwrap().and_hms(13, 5, 7).unwrap();
        sheet.write_with_format(3, 4, &at, &date).unwrap();
    });
    let read = file("a.xlsx", dated).read();
    // 2024-02-29T13:05:07Z
    assert_eq!(read.rows[0].at_ms, Some(1_709_211_907_000), "{:?}", read.roles);
    assert_eq!(read.rows[0].metadata.get("checked").map(String::as_str), Some("true"));
}

#[test]
fn first_filled_or_named_sheet_is_read() {
    let two = workbook(|book| {
        let notes = book.add_worksheet().set_name("More").unwrap();
        notes.write(0, 0, "text").unwrap().write(1, 0, "other").unwrap();
        book.add_worksheet().set_name("Empty").unwrap();
    });
    let fixture = file("a.xlsx", two);
    let read = fixture.read();
    assert_eq!((read.summaries(), read.met()), (SUMMARIES.map(str::to_owned).into(), vec![("sheets", 1)]));
    let sheets = ["Answers", "More", "Empty"].map(str::to_owned);
    assert_eq!(read.source.sheets(), Some(("Answers", sheets.as_slice())));
    let open = |sheet| {
        Source::open_with(&fixture.path, &OpenOptions { sheet: Some(sheet), ..OpenOptions::default() })
    };
    assert_eq!(open("More").unwrap().columns(), ["text"]);
    let message = open("Nope").unwrap_err().to_string();
    assert!(
        message.contains("no sheet \"Nope\"") && message.contains("\"Answers\", \"More\", \"Empty\""),
        "{message}"
    );
    let csv = file("a.csv", LABELS);
    let of_csv = Source::open_with(&csv.path, &OpenOptions { sheet: Some("More"), ..OpenOptions::default() });
    assert!(of_csv.unwrap_err().to_string().contains("no workbook"));
}

#[test]
fn merged_and_uncomputed_cells_are_refused() {
    type Change = fn(&mut Workbook);
    let cases: [(Change, [&str; 2]); 2] = [
        (
            |book| {
                let sheet = book.worksheet_from_name("Answers").unwrap();
                sheet.merge_range(3, 0, 4, 0, "t1", &Format::new()).unwrap();
            },
            ["cell A4", "unmerge"],
        ),
        (
            |book| {
                let sheet = book.worksheet_from_name("Answers").unwrap();
                sheet.write(4, 3, Formula::new("=1/0").set_result("#DIV/0!")).unwrap();
            },
            ["cell D5", "#DIV/0!"],
        ),
    ];
    for (change, says) in cases {
        let message = refusal(&file("a.xlsx", workbook(change)).path, None);
        assert!(
            message.contains("sheet \"Answers\"") && says.iter().all(|says| message.contains(says)),
            "{message}"
        );
    }
    let counted = workbook(|book| {
        let sheet = book.worksheet_from_name("Answers").unwrap();
        sheet.write(4, 3, Formula::new("=1+1").set_result("2")).unwrap();
    });
    assert_eq!(file("a.xlsx", &counted).read().summaries(), SUMMARIES);
    // As written by programs that do not calculate.
    let uncounted =
        with_part(&counted, "xl/worksheets/sheet1.xml", |xml| xml.replace("</f><v>2</v>", "</f>"));
    let message = refusal(&file("a.xlsx", uncounted).path, None);
    assert!(message.contains("cell D5") && message.contains("formula without its value"), "{message}");
}

#[test]
fn open_document_spreadsheet_is_read() {
    let lines = || LABELS.lines().map(|line| row(&line.split(',').collect::<Vec<_>>())).collect::<String>();
    let read = file("a.ods", open_document(&lines())).read();
    assert_eq!((read.format(), read.summaries()), ("ods", SUMMARIES.map(str::to_owned).into()));
    let covered = format!("{}<table:table-row><table:covered-table-cell/></table:table-row>", lines());
    let message = refusal(&file("a.ods", open_document(&covered)).path, None);
    assert!(message.contains("merged"), "{message}");
    let hidden = row(&["text", "annotator", "label"]) + &row(&["hidden", "eve", "1"]);
    let tables = format!(
        r#"<table:table table:name="Old" table:style-name="h">{hidden}</table:table><table:table table:name="Answers">{}</table:table>"#,
        lines()
    );
    let two = file("a.ods", open_document_of(&tables));
    assert_eq!(two.read().summaries(), SUMMARIES.map(str::to_owned));
    let asked = OpenOptions { sheet: Some("Old"), ..OpenOptions::default() };
    assert_eq!(Source::open_with(&two.path, &asked).unwrap().columns(), ["text", "annotator", "label"]);
    // A file of a kilobyte that expands to thousands of millions of cells.
    let wide = r#"<table:table-row table:number-rows-repeated="1048576"><table:table-cell office:value-type="string"
 table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell></table:table-row>"#;
    let spaces = r#"<table:table-row><table:table-cell office:value-type="string"><text:p>x<text:s text:c="4000000000"/></text:p>
 </table:table-cell></table:table-row>"#;
    for bomb in [wide, spaces] {
        let message = refusal(&file("a.ods", open_document(bomb)).path, None);
        assert!(message.contains("a.ods") && message.contains("times its own size"), "{message}");
    }
}

#[test]
fn workbook_bombs_and_damaged_files_are_refused() {
    let bomb =
        archive(&[("xl/workbook.xml", b"<workbook/>"), ("xl/sharedStrings.xml", &vec![b' '; 65 << 20])]);
    assert!(bomb.len() < 1 << 20);
    let message = refusal(&file("a.xlsx", bomb).path, None);
    assert!(message.contains("times its own size"), "{message}");
    let whole = workbook(|_| {});
    let message = refusal(&file("a.xlsx", &whole[..whole.len() / 2]).path, None);
    assert!(message.contains("a.xlsx") && message.contains("damaged"), "{message}");
    let message = refusal(&file("a.xlsx", archive(&[("xl/workbook.xml", b"<workbook/>")])).path, None);
    assert!(message.contains("a.xlsx"), "{message}");
    let message = refusal(&file("a.xlsx", "text\nso\n").path, None);
    assert!(message.contains("does not begin like one"), "{message}");
}

#[test]
fn row_longer_than_the_header_is_located() {
    let long = row(&["text", "annotator", "label"]) + &row(&["so", "ana", "1", "", "x"]);
    let message = refusal(&file("a.ods", open_document(&long)).path, None);
    let reported = "row 2 has a value in cell E2, and the names of the columns end with C";
    assert!(message.contains(reported) && !message.contains("Unequal"), "{message}");
}

#[test]
fn separators_in_column_names_are_kept() {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    sheet.write(0, 0, "text").unwrap().write(0, 1, "How rude? (none; some; very)").unwrap();
    sheet.write(1, 0, "so").unwrap().write(1, 1, "some").unwrap();
    let source = Source::open(&file("a.xlsx", book.save_to_buffer().unwrap()).path).unwrap();
    assert_eq!(source.columns(), ["text", "How rude? (none; some; very)"]);
}

#[test]
fn shapes_are_recognised_in_every_file_type() {
    let crowd = workbook(|book| {
        let sheet = book.add_worksheet().set_name("Crowd").unwrap();
        for (row, line) in ["task,worker,label", "t1,ana,x", "t1,ben,y"].iter().enumerate() {
            for (column, value) in line.split(',').enumerate() {
                sheet.write(row as u32, column as u16, value).unwrap();
            }
        }
    });
    let fixture = file("a.xlsx", crowd);
    let options = OpenOptions { sheet: Some("Crowd"), ..OpenOptions::default() };
    let source = Source::open_with(&fixture.path, &options).unwrap();
    assert_eq!(source.format().name, "crowd-kit");
    let rows = read_rows(&source, &guess_roles(&source).unwrap()).unwrap();
    let reported: Vec<String> = rows.map(|row| row.unwrap().label.unwrap()).collect();
    assert_eq!(reported, ["x", "y"]);
}

#[test]
fn archive_with_one_file_is_read() {
    let read =
        file("a.zip", archive(&[("folder/labels.csv", LABELS.as_bytes()), ("__MACOSX/._labels.csv", b"x")]))
            .read();
    assert_eq!((read.format(), read.summaries()), ("csv", SUMMARIES.map(str::to_owned).into()));
    let read = file("a.zip", archive(&[("labels.xlsx", &workbook(|_| {}))])).read();
    assert_eq!((read.format(), read.summaries()), ("xlsx", SUMMARIES.map(str::to_owned).into()));
    let two = archive(&[("a.csv", LABELS.as_bytes()), ("b.csv", LABELS.as_bytes())]);
    let message = refusal(&file("a.zip", two).path, None);
    assert!(message.contains("name one file of it"), "{message}");
    // A name that leads out of the archive is refused, and so is an archive in an archive without end.
    let message = refusal(&file("a.zip", archive(&[("../labels.csv", LABELS.as_bytes())])).path, None);
    assert!(message.contains("leads out"), "{message}");
    let nested = (0..6).fold(LABELS.as_bytes().to_vec(), |inside, _| archive(&[("a.zip", &inside)]));
    let message = refusal(&file("a.zip", nested).path, None);
    assert!(message.contains("again and again"), "{message}");
    // An annotator's file of doccano in an archive is still that annotator's.
    let example = br#"{"id":1,"text":"so","label":["x"],"Comments":[]}"#;
    assert_eq!(file("all.zip", archive(&[("admin.jsonl", example)])).read().summaries(), ["admin 1 label x"]);
}

#[test]
fn other_encodings_are_guessed_and_reported() {
    let (latin, _, _) =
        encoding_rs::WINDOWS_1252.encode("text,annotator_id,label\nDéjà vu à l’école,ana,1\n");
    let read = file("a.csv", latin.as_ref()).read();
    assert_eq!((bodies(&read), read.met()), (vec!["Déjà vu à l’école"], vec![("encoding", 1)]));
    assert_eq!((read.source.encoding(), read.source.sheets()), (Some("windows-1252"), None));
    let message = &read.source.met()[0].message;
    assert!(message.contains("windows-1252") && message.contains("guessed"), "{message}");
    let (japanese, _, _) = encoding_rs::SHIFT_JIS
        .encode("text,annotator_id,label\n今日はとても良い天気ですね。散歩に行きましょう,ana,1\n");
    assert_eq!(
        bodies(&file("a.csv", japanese.as_ref()).read()),
        ["今日はとても良い天気ですね。散歩に行きましょう"]
    );
    for mark in [true, false] {
        for little in [true, false] {
            let units = mark.then_some(0xFEFF).into_iter().chain(LABELS.encode_utf16());
            let bytes = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
            let read = file("a.csv", units.flat_map(bytes).collect::<Vec<u8>>()).read();
            assert_eq!(
                (read.summaries(), bodies(&read)),
                (SUMMARIES.map(str::to_owned).into(), vec!["café", "café"])
            );
        }
    }
    let cyrillic = file("a.csv", encoding_rs::KOI8_R.encode("text\nда\n").0.as_ref());
    let named = |encoding| {
        Source::open_with(&cyrillic.path, &OpenOptions { encoding: Some(encoding), ..OpenOptions::default() })
    };
    let source = named("koi8-r").unwrap();
    let rows = read_rows(&source, &guess_roles(&source).unwrap()).unwrap();
    assert_eq!(rows.map(|row| row.unwrap().text.unwrap()).collect::<Vec<_>>(), ["да"]);
    assert!(named("klingon").unwrap_err().to_string().contains("no encoding is called \"klingon\""));
    let strange = file("a.csv", b"text\na\xFFb\n");
    let as_japanese = OpenOptions { encoding: Some("shift_jis"), ..OpenOptions::default() };
    let message = Source::open_with(&strange.path, &as_japanese).unwrap_err().to_string();
    assert!(message.contains("are invalid in Shift_JIS"), "{message}");
    let big: Vec<u8> =
        std::iter::once(0xFEFF).chain(LABELS.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    let big = file("a.csv", big);
    let as_utf16 = OpenOptions { encoding: Some("utf-16"), ..OpenOptions::default() };
    assert_eq!(Source::open_with(&big.path, &as_utf16).unwrap().encoding(), Some("UTF-16BE"));
    let plain = file("a.csv", LABELS);
    let as_utf8 = OpenOptions { encoding: Some("utf-8"), ..OpenOptions::default() };
    assert!(Source::open_with(&plain.path, &as_utf8).unwrap().met().is_empty());
}

#[test]
fn file_with_some_bad_bytes_is_still_utf8() {
    let damaged = [b"text\n\xC3\xA9\xC3\xA8\xC3\xA0\n".as_slice(), b"caf\xE9\n"].concat();
    let read = file("a.csv", damaged).read();
    assert_eq!(read.source.met(), []);
    assert_eq!(read.problems.len(), 1);
    assert!(read.problems[0].contains("not UTF-8"), "{:?}", read.problems);
}

mod columnar {
    use super::*;
    use arrow_array::builder::{ListBuilder, StringBuilder};
    use arrow_array::{
        ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray,
        TimestampMillisecondArray,
    };
    use arrow_ipc::writer::{FileWriter, StreamWriter};
    use arrow_schema::Schema;
    use parquet::arrow::ArrowWriter;
    use parquet::basic::Compression;
    use parquet::file::properties::WriterProperties;
    use std::collections::HashMap;
    use std::sync::Arc;

    fn batch() -> RecordBatch {
        let people: DictionaryArray<arrow_array::types::Int32Type> =
            vec!["ana", "ben", "ana"].into_iter().collect();
        RecordBatch::try_from_iter([
            ("text_id", Arc::new(StringArray::from(vec!["t1", "t1", "t2"])) as ArrayRef),
            ("text", Arc::new(StringArray::from(vec!["café\nau lait", "café\nau lait", "so"])) as ArrayRef),
            ("annotator_id", Arc::new(people) as ArrayRef),
            ("label", Arc::new(Float64Array::from(vec![Some(1.0), Some(2.0), None])) as ArrayRef),
            (
                "labelled_at",
                Arc::new(TimestampMillisecondArray::from(vec![Some(1_709_211_907_123), None, None]))
                    as ArrayRef,
            ),
        ])
        .unwrap()
    }

    fn parquet(batch: &RecordBatch, compression: Compression) -> Vec<u8> {
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_max_row_group_row_count(Some(2))
            .build();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        writer.write(batch).unwrap();
        writer.into_inner().unwrap()
    }

    #[test]
    fn parquet_and_arrow_are_read_with_their_types() {
        let schema = batch().schema();
        let mut arrow = FileWriter::try_new(Vec::new(), &schema).unwrap();
        arrow.write(&batch()).unwrap();
        let mut stream = StreamWriter::try_new(Vec::new(), &schema).unwrap();
        stream.write(&batch()).unwrap();
        let files = [
            ("a.parquet", parquet(&batch(), Compression::UNCOMPRESSED), "parquet"),
            ("b.parquet", parquet(&batch(), Compression::SNAPPY), "parquet"),
            ("c.parquet", parquet(&batch(), Compression::ZSTD(Default::default())), "parquet"),
            ("d.parquet", parquet(&batch(), Compression::GZIP(Default::default())), "parquet"),
            ("e.parquet", parquet(&batch(), Compression::LZ4_RAW), "parquet"),
            ("a.arrow", arrow.into_inner().unwrap(), "arrow"),
            ("b.arrows", stream.into_inner().unwrap(), "arrow"),
        ];
        for (name, bytes, format) in files {
            let read = file(name, bytes).read();
            assert_eq!(
                (read.format(), read.summaries()),
                (format, vec!["ana t1 1".into(), "ben t1 2".into(), "ana t2".into()]),
                "{name}"
            );
            assert_eq!(read.rows[0].at_ms, Some(1_709_211_907_123), "{name}");
            assert_eq!(read.rows[0].text.as_deref(), Some("café\nau lait"), "{name}");
            assert!(read.problems.is_empty(), "{name}: {:?}", read.problems);
        }
    }

    #[test]
    fn records_of_argilla_are_recognised_in_parquet() {
        let lists = |rows: [&[&str]; 2]| {
            let mut builder = ListBuilder::new(StringBuilder::new());
            for row in rows {
                row.iter().for_each(|value| builder.values().append_value(value));
                builder.append(true);
            }
            Arc::new(builder.finish()) as ArrayRef
        };
        let records = RecordBatch::try_from_iter([
            ("id", Arc::new(StringArray::from(vec!["r1", "r2"])) as ArrayRef),
            ("text", Arc::new(StringArray::from(vec!["so", "no"])) as ArrayRef),
            ("q.responses", lists([&["yes", "no"], &[]])),
            ("q.responses.users", lists([&["u1", "u2"], &[]])),
            ("q.responses.status", lists([&["submitted", "draft"], &[]])),
        ])
        .unwrap();
        let read = file("train.parquet", parquet(&records, Compression::SNAPPY)).read();
        assert_eq!((read.format(), read.summaries()), ("argilla", vec!["u1 r1 q yes".into(), "r2".into()]));
        assert!(read.met().contains(&("drafts", 1)));
    }

    #[test]
    fn class_labels_are_read_by_name() {
        let about = r#"{"info":{"features":{"label":{"names":["calm","rude"],"_type":"ClassLabel"},"text":{"dtype":"string","_type":"Value"}}}}"#;
        let plain = RecordBatch::try_from_iter([
            ("text", Arc::new(StringArray::from(vec!["so", "no", "oh"])) as ArrayRef),
            ("annotator_id", Arc::new(StringArray::from(vec!["a", "a", "a"])) as ArrayRef),
            ("label", Arc::new(Int64Array::from(vec![1, 0, -1])) as ArrayRef),
        ])
        .unwrap();
        let schema = plain
            .schema()
            .as_ref()
            .clone()
            .with_metadata(HashMap::from([("huggingface".to_owned(), about.to_owned())]));
        let records = plain.with_schema(Arc::<Schema>::new(schema)).unwrap();
        let read = file("train.parquet", parquet(&records, Compression::SNAPPY)).read();
        let labels: Vec<&str> = read.rows.iter().filter_map(|row| row.label.as_deref()).collect();
        assert_eq!(labels, ["rude", "calm", "-1"]);
        assert!(read.met().contains(&("class-names", 2)));
    }

    #[test]
    fn folder_is_read_as_one_dataset() {
        let part = |split: &str, names: &str| {
            let about = format!(
                r#"{{"info":{{"features":{{"label":{{"names":[{names}],"_type":"ClassLabel"}}}}}}}}"#
            );
            let records = RecordBatch::try_from_iter([
                ("text", Arc::new(StringArray::from(vec![format!("of {split}")])) as ArrayRef),
                ("annotator_id", Arc::new(StringArray::from(vec!["a"])) as ArrayRef),
                ("label", Arc::new(Int64Array::from(vec![1])) as ArrayRef),
            ])
            .unwrap();
            let schema = records
                .schema()
                .as_ref()
                .clone()
                .with_metadata(HashMap::from([("huggingface".to_owned(), about)]));
            parquet(&records.with_schema(Arc::<Schema>::new(schema)).unwrap(), Compression::SNAPPY)
        };
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let place = |name: &str, bytes: Vec<u8>| std::fs::write(data.join(name), bytes).unwrap();
        place("augmented-00000-of-00001.parquet", part("augmented", r#""calm","rude""#));
        place("test-00000-of-00001.parquet", part("test", r#""calm","rude""#));
        let source = Source::open(folder.path()).unwrap();
        let rows = read_rows(&source, &guess_roles(&source).unwrap()).unwrap().map(|row| row.unwrap());
        let reported: Vec<_> =
            rows.map(|row| (row.text.unwrap(), row.split.unwrap(), row.label.unwrap())).collect();
        let of = |split: &str| (format!("of {split}"), split.to_owned(), "rude".to_owned());
        assert_eq!(reported, [of("augmented"), of("test")]);
        // Names of classes that differ would swap labels.
        place("train-00000-of-00001.parquet", part("train", r#""rude","calm""#));
        assert!(Source::open(folder.path()).unwrap_err().to_string().contains("other names of classes"));
        std::fs::remove_file(data.join("train-00000-of-00001.parquet")).unwrap();
        place("more.csv", LABELS.as_bytes().to_vec());
        assert!(Source::open(folder.path()).is_err(), "nothing of a folder is left out in silence");
    }

    #[test]
    fn damaged_parquet_is_refused() {
        let whole = parquet(&batch(), Compression::SNAPPY);
        for bytes in [whole[..whole.len() - 9].to_vec(), [&whole[..8], b"PAR1"].concat(), b"PAR1".to_vec()] {
            let message = refusal(&file("a.parquet", bytes).path, None);
            assert!(message.contains("a.parquet") && message.contains("damaged Parquet"), "{message}");
        }
        // One byte that is another.
        for at in (0..whole.len()).step_by(5) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xA5;
            let fixture = file("a.parquet", bytes);
            drop(Source::open(&fixture.path).map(|source| guess_roles(&source)));
        }
        let message = refusal(&file("a.parquet", "text\nso\n").path, None);
        assert!(message.contains("does not begin like one"), "{message}");
    }

    #[test]
    fn file_must_match_the_named_format() {
        let fixture = file("a.csv", LABELS);
        let options = OpenOptions { format: Some("parquet"), ..OpenOptions::default() };
        let message = Source::open_with(&fixture.path, &options).unwrap_err().to_string();
        assert!(message.contains("Parquet"), "{message}");
        let fixture = file("a.bin", parquet(&batch(), Compression::SNAPPY));
        assert_eq!(Source::open_with(&fixture.path, &options).unwrap().format().name, "parquet");
        let encoded = OpenOptions { encoding: Some("latin1"), ..OpenOptions::default() };
        assert!(Source::open_with(&fixture.path, &encoded).unwrap_err().to_string().contains("no encoding"));
    }
}
