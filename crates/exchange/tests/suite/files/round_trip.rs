//! Written files read back the same.

use dissensus_domain::{Attributes, LabelSource, Note, Shown};
use dissensus_exchange::{
    AnnotatorWriter, DatasetQuestion, DatasetWriter, ExchangeError, LabelLayout, LabelRow, LabelWriter,
    OutputFormat, Row, Source, StudyCells, TextRow, TextWriter, guess_roles, read_rows,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rstest::rstest;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Strings that have broken CSV or JSON writers before.
const NASTY: [&str; 30] = [
    "\"",
    "\"\"",
    ",",
    ";",
    "\t",
    "\n",
    "\r\n",
    "\r",
    " ",
    "'",
    "\\",
    "\\n",
    "\\ud83d",
    "{",
    "}",
    "[",
    "]",
    "=1+1",
    "@x",
    "\u{feff}",
    "\u{200f}",
    "שלום",
    "e\u{301}",
    "👩🏽‍🚀",
    "\u{2028}",
    "\u{85}",
    "<b>",
    "null",
    "0",
    "word",
];
/// The same without characters that are not allowed in names.
const NAMES: [&str; 12] = ["\"", ",", ";", "'", "\\", "=", "שלום", "👩🏽‍🚀", "<i>", "3.0", "null", "ö"];
const ATTRIBUTES: [&str; 3] = ["gender", "label", "with \"quotes\", and commas"];
const METADATA: [&str; 3] = ["url", "source", "gender"];

const FORMATS: [(OutputFormat, &str); 5] = [
    (OutputFormat::Csv, "csv"),
    (OutputFormat::Tsv, "tsv"),
    (OutputFormat::Jsonl, "jsonl"),
    (OutputFormat::Parquet, "parquet"),
    (OutputFormat::Xlsx, "xlsx"),
];

fn joined(rng: &mut impl Rng, pieces: &[&str], at_most: usize) -> String {
    let count = rng.random_range(1..=at_most);
    (0..count).map(|_| pieces[rng.random_range(0..pieces.len())]).collect()
}

/// A body that is not blank; a map with some of `keys`.
fn body(rng: &mut impl Rng) -> String {
    format!("{}.{}", joined(rng, &NASTY, 12), joined(rng, &NASTY, 6))
}

fn maybe<T>(rng: &mut impl Rng, value: T) -> Option<T> {
    rng.random_bool(0.5).then_some(value)
}

fn some_of(rng: &mut impl Rng, keys: &[&str]) -> BTreeMap<String, String> {
    let mut map = BTreeMap::new();
    for key in keys {
        if rng.random_bool(0.6) {
            map.insert((*key).to_owned(), joined(rng, &NAMES, 4));
        }
    }
    map
}

fn random_row(rng: &mut impl Rng) -> Row {
    let times = [0, -1, 5_000, 1_714_566_600_123, i64::MAX, i64::MIN, -62_135_596_800_001];
    let sources = [LabelSource::Window, LabelSource::Command, LabelSource::Import, LabelSource::Simulated];
    let name = |rng: &mut _| joined(rng, &NAMES, 4);
    Row {
        text_id: Some(name(rng)),
        text: Some(body(rng)),
        annotator: Some(name(rng)),
        label: Some(name(rng)).filter(|_| rng.random_bool(0.9)),
        question: Some(name(rng)).filter(|_| rng.random_bool(0.5)),
        split: Some(name(rng)).filter(|_| rng.random_bool(0.5)),
        group: Some(name(rng)).filter(|_| rng.random_bool(0.5)),
        at_ms: Some(times[rng.random_range(0..times.len())]).filter(|_| rng.random_bool(0.8)),
        duration_ms: {
            let ms = rng.random();
            maybe(rng, ms)
        },
        source: {
            let source = sources[rng.random_range(0..4)];
            maybe(rng, source)
        },
        attributes: some_of(rng, &ATTRIBUTES),
        metadata: some_of(rng, &METADATA),
        ..Row::default()
    }
}

fn as_label(row: &Row) -> LabelRow<'_> {
    LabelRow {
        text_id: row.text_id.as_deref().unwrap(),
        text: row.text.as_deref().unwrap(),
        annotator: row.annotator.as_deref().unwrap(),
        label: row.label.as_deref(),
        spans: false,
        question: row.question.as_deref(),
        split: row.split.as_deref(),
        group: row.group.as_deref(),
        at_ms: row.at_ms,
        duration_ms: row.duration_ms,
        source: row.source,
        occasion: row.occasion.unwrap_or(1),
        note: Some(&row.note),
        skipped: row.skipped,
        flagged: row.flagged,
        guideline: None,
        study: StudyCells::NONE,
        shown: row.shown,
        attributes: &row.attributes,
        metadata: &row.metadata,
    }
}

/// Columns whose names were already used read back under their replacement names.
fn under_old_names(mut row: Row) -> Row {
    let rename = |map: &mut BTreeMap<String, String>, from: &str, to: &str| {
        if let Some(value) = map.remove(from) {
            map.insert(to.to_owned(), value);
        }
    };
    rename(&mut row.attributes, "attribute_label", "label");
    rename(&mut row.metadata, "metadata_source", "source");
    rename(&mut row.metadata, "metadata_gender", "gender");
    (row.row, row.line) = (0, 0);
    row
}

fn write_labels(path: &Path, format: OutputFormat, rows: &[Row]) -> dissensus_exchange::ColumnRoles {
    let mut writer = LabelWriter::create(path, format, LabelLayout::default(), ATTRIBUTES, METADATA).unwrap();
    for row in rows {
        writer.write(&as_label(row)).unwrap();
    }
    let roles = writer.roles();
    writer.finish().unwrap();
    roles
}

/// Formats with types can represent moments of the years that dates are written in.
fn in_known_years(format: OutputFormat, rows: &[Row]) -> Vec<Row> {
    let known = |at: &i64| (0..253_402_300_800_000).contains(at);
    let typed = matches!(format, OutputFormat::Parquet | OutputFormat::Xlsx);
    let one = |row: &Row| Row { at_ms: row.at_ms.filter(|at| !typed || known(at)), ..row.clone() };
    rows.iter().map(one).collect()
}

#[test]
fn random_labels_round_trip_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for round in 0..40 {
        let rows: Vec<Row> = (0..50).map(|_| random_row(&mut rng)).collect();
        for (format, ending) in FORMATS {
            let path = folder.path().join(format!("{round}.{ending}"));
            let rows = in_known_years(format, &rows);
            let roles = write_labels(&path, format, &rows);
            let source = Source::open(&path).unwrap();
            let read = read_rows(&source, &roles).unwrap().map(|row| under_old_names(row.unwrap()));
            assert_eq!(read.collect::<Vec<_>>(), rows, "round {round}, {ending}");
        }
    }
}

fn random_note(rng: &mut impl Rng) -> Note {
    let notes = ["a, b", "x\ny", "\"", "=1+1", "  inner  space".trim(), "ünï\u{301}"];
    let note = notes[rng.random_range(0..notes.len())].to_owned();
    let reasons = ["slang", "quotes, somebody", "irony"];
    let reasons = reasons.iter().filter(|_| rng.random_bool(0.4)).map(|&reason| reason.to_owned()).collect();
    Note { note: maybe(rng, note), reasons, confidence: Some(rng.random_range(1..=5)).filter(|c| *c > 2) }
}

#[test]
fn notes_round_trip_and_are_guessed() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    let rows: Vec<Row> = (0..60)
        .map(|_| Row {
            note: random_note(&mut rng),
            skipped: rng.random(),
            flagged: rng.random(),
            shown: Shown { answers: rng.random(), predictions: rng.random() },
            metadata: BTreeMap::new(),
            attributes: Attributes::new(),
            ..random_row(&mut rng)
        })
        .collect();
    for (format, ending) in FORMATS {
        let path = folder.path().join(format!("remarks.{ending}"));
        let rows = in_known_years(format, &rows);
        let layout = LabelLayout { notes: true, shown: true, ..LabelLayout::default() };
        let none: [&str; 0] = [];
        let mut writer = LabelWriter::create(&path, format, layout, none, none).unwrap();
        for row in &rows {
            writer.write(&LabelRow { guideline: Some(2), ..as_label(row) }).unwrap();
        }
        let roles = writer.roles();
        writer.finish().unwrap();
        let source = Source::open(&path).unwrap();
        let read = read_rows(&source, &roles).unwrap().map(|row| under_old_names(row.unwrap()));
        assert_eq!(read.collect::<Vec<_>>(), rows, "{ending}");
        let guessed = guess_roles(&source).unwrap();
        for role in ["note", "reasons", "confidence", "marks", "guideline", "shown"] {
            assert!(guessed.named().contains(&(role, role)), "{role} in {ending}: {guessed:?}");
        }
    }
    // Words that are in use for other things stay what they were in files of others.
    let path = folder.path().join("others.csv");
    std::fs::write(
        &path,
        "text_id,text,annotator_id,label,created_at,source,note,confidence\nt1,a,ana,1,2024-05-01,import,x,0.7\nt2,b,ana,2,2024-05-01,import,y,0.2\n",
    )
    .unwrap();
    let source = Source::open(&path).unwrap();
    let roles = guess_roles(&source).unwrap();
    assert_eq!((roles.note.clone(), roles.confidence.clone()), (None, None));
    let first = read_rows(&source, &roles).unwrap().next().unwrap().unwrap();
    assert_eq!(first.metadata["confidence"], "0.7");
}

#[rstest]
#[case::too_confident("x,,6,,", "confidence", "whole number from 1")]
#[case::half_confident("x,,1.5,,", "confidence", "whole number from 1")]
#[case::reason_twice("x,a;a,1,,", "reasons", "twice")]
#[case::unknown_mark("x,,1,flaged,", "marks", "skipped or flagged")]
#[case::unknown_view("x,,1,,all", "shown", "answers or predictions")]
fn invalid_notes_are_refused_by_column(#[case] cells: &str, #[case] column: &str, #[case] words: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.csv");
    let head =
        "text_id,text,annotator_id,label,created_at,source,note,reasons,confidence,marks,shown,guideline\n";
    std::fs::write(&path, format!("{head}t1,a,ana,1,2024-05-01T12:30:00Z,window,{cells},\n")).unwrap();
    let source = Source::open(&path).unwrap();
    let roles = guess_roles(&source).unwrap();
    let error = read_rows(&source, &roles).unwrap().next().unwrap().unwrap_err().to_string();
    assert!(error.contains(column) && error.contains(words), "{error}");
}

#[test]
fn first_four_columns_are_fixed_and_guessed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    let attributes: Attributes = [("team".to_owned(), "red".to_owned())].into();
    let metadata = BTreeMap::from([("url".to_owned(), "u".to_owned())]);
    let row = Row {
        text_id: Some("t1".into()),
        text: Some("=1+1 \"x\"".into()),
        annotator: Some("ada".into()),
        label: Some("3".into()),
        at_ms: Some(1_714_566_600_123),
        source: Some(LabelSource::Window),
        ..Row::default()
    };
    let mut writer =
        LabelWriter::create(&path, OutputFormat::Csv, LabelLayout::default(), ["team"], ["url"]).unwrap();
    writer.write(&LabelRow { attributes: &attributes, metadata: &metadata, ..as_label(&row) }).unwrap();
    writer.finish().unwrap();
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "text_id,text,annotator_id,label,question,split,group,created_at,duration_ms,source,team,url\n\
         t1,\"=1+1 \"\"x\"\"\",ada,3,,,,2024-05-01T12:30:00.123Z,,window,red,u\n"
    );
    let roles = guess_roles(&Source::open(&path).unwrap()).unwrap();
    let named: Vec<&str> = roles.named().into_iter().map(|(_, column)| column).collect();
    assert_eq!(
        named,
        ["text_id", "text", "annotator_id", "label", "split", "group", "question", "created_at", "source"]
    );
}

fn one_question(_: usize) -> String {
    "q".to_owned()
}

fn in_two_teams(person: usize) -> String {
    (person % 2).to_string()
}

fn all_texts(_: usize, _: usize) -> bool {
    true
}

fn own_texts(text: usize, person: usize) -> bool {
    text % 15 == person
}

/// A column may look like data of texts, and metadata like attributes.
#[rstest]
#[case::usual(4, one_question, in_two_teams, all_texts)]
#[case::questions_about_disjoint_texts(4, |text| format!("q{}", text % 2), in_two_teams, all_texts)]
#[case::more_than_twenty_questions(4, |text| format!("q{text}"), in_two_teams, all_texts)]
#[case::long_name_of_a_question(4, |_| "q".repeat(130), in_two_teams, all_texts)]
#[case::shared_attribute(4, one_question, |_| "2024".to_owned(), all_texts)]
#[case::own_attribute_of_many(15, one_question, |person: usize| person.to_string(), all_texts)]
#[case::own_texts_of_many(15, one_question, |person: usize| person.to_string(), own_texts)]
#[case::some_without_attribute(4, one_question, |person: usize| "x".repeat(person / 2), all_texts)]
fn own_columns_are_guessed_by_name(
    #[case] people: usize,
    #[case] question: fn(usize) -> String,
    #[case] cohort: fn(usize) -> String,
    #[case] answers: fn(usize, usize) -> bool,
) {
    let folder = tempfile::tempdir().unwrap();
    let given = (0..30).flat_map(|text| (0..people).map(move |person| (text, person)));
    let rows: Vec<Row> = given
        .filter(|(text, person)| answers(*text, *person))
        .map(|(text, person)| Row {
            text_id: Some(format!("t{text}")),
            text: Some(format!("body of text {text}")),
            annotator: Some(format!("a{person}")),
            label: Some(((text + person) % 3).to_string()),
            question: Some(question(text)),
            // As of imports without times, one after the other.
            at_ms: Some(1_714_566_600_123 + text as i64),
            duration_ms: Some(1_500),
            source: Some(LabelSource::Import),
            attributes: [("cohort".to_owned(), cohort(person))].into(),
            metadata: [("lang".into(), "en".into()), ("url".into(), format!("u{text}"))].into(),
            ..Row::default()
        })
        .collect();
    let shared = (0..people).map(cohort).collect::<BTreeSet<_>>().len() == 1;
    for (format, ending) in FORMATS {
        let path = folder.path().join(format!("out.{ending}"));
        let layout = LabelLayout { attributes_before_source: shared, ..LabelLayout::default() };
        let mut writer = LabelWriter::create(&path, format, layout, ["cohort"], ["lang", "url"]).unwrap();
        rows.iter().for_each(|row| writer.write(&as_label(row)).unwrap());
        let roles = writer.roles();
        writer.finish().unwrap();
        let source = Source::open(&path).unwrap();
        assert_eq!(guess_roles(&source).unwrap(), roles, "{ending}");
        let without_blank = |mut row: Row| {
            row.attributes.retain(|_, value| !value.is_empty());
            without_place(row)
        };
        let read = read_rows(&source, &roles).unwrap().map(|row| without_blank(row.unwrap()));
        let expected = rows.iter().cloned().map(without_blank);
        assert_eq!(read.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{ending}");
    }
}

#[test]
fn texts_and_annotators_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    for (format, ending) in FORMATS {
        let rows: Vec<Row> = (0..50).map(|_| random_row(&mut rng)).collect();
        texts_come_back(&folder.path().join(format!("texts.{ending}")), format, &rows);
        annotators_come_back(&folder.path().join(format!("annotators.{ending}")), format, &rows);
    }
}

fn texts_come_back(path: &Path, format: OutputFormat, rows: &[Row]) {
    let mut writer = TextWriter::create(path, format, METADATA).unwrap();
    for row in rows {
        let LabelRow { text_id, text, split, group, metadata, .. } = as_label(row);
        writer.write(&TextRow { text_id, text, split, group, metadata }).unwrap();
    }
    let roles = writer.roles();
    writer.finish().unwrap();
    let read: Vec<Row> =
        read_rows(&Source::open(path).unwrap(), &roles).unwrap().map(|r| without_place(r.unwrap())).collect();
    let expected = rows.iter().map(|row| Row {
        text_id: row.text_id.clone(),
        text: row.text.clone(),
        split: row.split.clone(),
        group: row.group.clone(),
        metadata: row.metadata.clone(),
        ..Row::default()
    });
    assert_eq!(read, expected.collect::<Vec<_>>());
}

fn annotators_come_back(path: &Path, format: OutputFormat, rows: &[Row]) {
    let mut writer = AnnotatorWriter::create(path, format, ATTRIBUTES).unwrap();
    for row in rows {
        writer.write(row.annotator.as_deref().unwrap(), &row.attributes).unwrap();
    }
    let roles = writer.roles();
    writer.finish().unwrap();
    let read: Vec<Row> =
        read_rows(&Source::open(path).unwrap(), &roles).unwrap().map(|r| without_place(r.unwrap())).collect();
    let expected = rows.iter().map(|row| Row {
        annotator: row.annotator.clone(),
        attributes: row.attributes.clone(),
        ..Row::default()
    });
    assert_eq!(read, expected.collect::<Vec<_>>());
}

/// A row without its position, to compare with what was written.
fn without_place(row: Row) -> Row {
    Row { row: 0, line: 0, ..row }
}

#[test]
fn abandoned_writer_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    std::fs::write(&path, "before").unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    let mut writer =
        LabelWriter::create(&path, OutputFormat::Csv, LabelLayout::default(), ATTRIBUTES, METADATA).unwrap();
    for _ in 0..5000 {
        writer.write(&as_label(&random_row(&mut rng))).unwrap();
    }
    drop(writer);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "a part was left behind");
}

#[test]
fn missing_folder_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none/out.csv");
    let error = LabelWriter::create(&path, OutputFormat::Csv, LabelLayout::default(), ATTRIBUTES, METADATA)
        .unwrap_err();
    assert!(matches!(error, ExchangeError::Unwritable { .. } | ExchangeError::NotFound { .. }), "{error}");
    assert!(error.to_string().contains("out.csv"));
}

/// Rows of which each has a key of its own.
fn rows_with_own_keys(count: usize) -> Vec<Row> {
    let row = |n: usize| Row {
        text_id: Some(format!("t{n}")),
        text: Some(format!("text {n}")),
        annotator: Some("ada".into()),
        label: Some("1".into()),
        metadata: [(format!("key {n}"), format!("\"{n}\", {{}}")), ("url".into(), "x".into())].into(),
        ..Row::default()
    };
    (0..count).map(row).collect()
}

fn written(path: &Path, format: OutputFormat, rows: &[Row]) -> (u64, dissensus_exchange::ColumnRoles) {
    let keys: BTreeMap<&String, ()> =
        rows.iter().flat_map(|row| row.metadata.keys()).map(|k| (k, ())).collect();
    let mut writer =
        LabelWriter::create(path, format, LabelLayout::default(), ATTRIBUTES, keys.into_keys()).unwrap();
    for row in rows {
        writer.write(&as_label(row)).unwrap();
    }
    let roles = writer.roles();
    writer.finish().unwrap();
    (std::fs::metadata(path).unwrap().len(), roles)
}

#[test]
fn thousands_of_keys_round_trip_in_linear_size() {
    let folder = tempfile::tempdir().unwrap();
    for (format, ending) in FORMATS {
        let path = folder.path().join(format!("labels.{ending}"));
        let (small, _) = written(&path, format, &rows_with_own_keys(500));
        let rows = rows_with_own_keys(5_000);
        let (large, roles) = written(&path, format, &rows);
        assert!(large < 11 * small, "{ending}: {small} bytes with 500 keys, {large} with 5,000");
        let source = Source::open(&path).unwrap();
        let read: Vec<Row> =
            read_rows(&source, &roles).unwrap().map(|row| under_old_names(row.unwrap())).collect();
        assert!(read == rows, "{ending}");
    }
}

#[test]
fn metadata_keys_get_columns() {
    let folder = tempfile::tempdir().unwrap();
    let row = Row {
        text_id: Some("t".into()),
        text: Some("x".into()),
        annotator: Some("ada".into()),
        label: Some("1".into()),
        metadata: [("metadata".to_owned(), "{\"url\":\"y\"}".to_owned()), ("url".to_owned(), "x".to_owned())]
            .into(),
        ..Row::default()
    };
    for (format, ending) in FORMATS {
        let path = folder.path().join(format!("few.{ending}"));
        let (_, roles) = written(&path, format, std::slice::from_ref(&row));
        let source = Source::open(&path).unwrap();
        let read = read_rows(&source, &roles).unwrap().next().unwrap().unwrap();
        assert_eq!(read.metadata["url"], "x", "{ending}");
        assert_eq!(read.metadata["metadata_metadata"], "{\"url\":\"y\"}", "{ending}");
    }
}

#[test]
fn dataset_round_trips_with_its_splits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    let rows: Vec<Row> = (0..80).map(|_| random_row(&mut rng)).collect();
    let rows = in_known_years(OutputFormat::Parquet, &rows);
    let layout = LabelLayout::default();
    let begin = |replace| {
        DatasetWriter::create(
            &path,
            replace,
            layout,
            ATTRIBUTES.map(str::to_owned),
            METADATA.map(str::to_owned),
        )
    };
    let question = DatasetQuestion {
        name: "rude|or not".to_owned(),
        prompt: "Is it\nrude?".to_owned(),
        scale: dissensus_domain::Scale::guess(BTreeSet::from(["no".to_owned(), "yes".to_owned()])).unwrap(),
    };
    let write = |replace| {
        let mut writer = begin(replace).unwrap();
        rows.iter().for_each(|row| writer.write(&as_label(row)).unwrap());
        let roles = writer.roles().unwrap();
        writer.finish("set", std::slice::from_ref(&question)).map(|()| roles)
    };
    let roles = write(false).unwrap();
    let source = Source::open(&path).unwrap();
    assert_eq!((source.format().name, source.path()), ("huggingface", path.as_path()));
    let sorted = |mut rows: Vec<Row>| {
        rows.sort_by_key(|row| format!("{row:?}"));
        rows
    };
    let read = read_rows(&source, &roles).unwrap().map(|row| under_old_names(row.unwrap()));
    assert_eq!(sorted(read.collect()), sorted(rows.clone()));
    let card = std::fs::read_to_string(path.join("README.md")).unwrap();
    for line in ["configs:", "| rows | 80 |", "- **rude\\|or not** (binary): Is it rude?", "  - `no`, `yes`"]
    {
        assert!(card.lines().any(|there| there == line), "{line}: {card}");
    }
    // A folder of that name exists: a dataset is replaced, a folder with other files is not.
    assert!(write(false).is_err());
    write(true).unwrap();
    let filled = card.replace("- Licence, and the licence of the texts:", "- Licence: CC BY 4.0");
    std::fs::write(path.join("README.md"), filled).unwrap();
    assert!(begin(true).unwrap_err().to_string().contains("somebody has filled in its card"));
    std::fs::write(path.join("README.md"), &card).unwrap();
    std::fs::write(path.join("thesis.docx"), "years of work").unwrap();
    assert!(begin(true).unwrap_err().to_string().contains("not replaced"));
    assert!(path.join("thesis.docx").exists());
    let empty = DatasetWriter::create(&folder.path().join("none"), false, layout, [], []).unwrap();
    assert!(matches!(empty.finish("none", &[]), Err(ExchangeError::NothingToWrite { .. })));
    assert!(!folder.path().join("none").exists());
}

#[test]
fn text_metadata_columns_keep_their_role() {
    let folder = tempfile::tempdir().unwrap();
    let keys = ["confidence", "guideline", "start"];
    let metadata: BTreeMap<String, String> = keys
        .iter()
        .zip(["0.85", "+5", "007"])
        .map(|(key, value)| ((*key).to_owned(), value.to_owned()))
        .collect();
    let row = Row { metadata: metadata.clone(), ..random_row(&mut ChaCha8Rng::seed_from_u64(19)) };
    let row = Row { at_ms: None, ..row };
    for (format, ending) in FORMATS {
        let path = folder.path().join(format!("out.{ending}"));
        let mut writer =
            LabelWriter::create(&path, format, LabelLayout::default(), ATTRIBUTES, keys).unwrap();
        writer.write(&as_label(&row)).unwrap();
        let roles = writer.roles();
        writer.finish().unwrap();
        let source = Source::open(&path).unwrap();
        let read = read_rows(&source, &roles).unwrap().next().unwrap().unwrap();
        assert_eq!(read.metadata, metadata, "{ending}");
    }
}
