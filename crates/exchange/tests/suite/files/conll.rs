//! CoNLL files: words with tags become texts with spans, and errors are reported with their line.

use super::sample::sample;
use dissensus_domain::{Attributes, Shown, spans_named};
use dissensus_exchange::{
    Checker, ColumnRoles, ConllWriter, LabelRow, Row, RowError, Source, StudyCells, read_rows, scan,
};
use std::collections::BTreeMap;

fn read(name: &str, content: &str) -> Vec<Result<Row, RowError>> {
    let file = sample(name, content);
    let roles =
        ColumnRoles { annotator: file.roles().annotator.or(Some("=ana".into())), ..roles_of(&file.source) };
    read_rows(&file.source, &roles).unwrap().collect()
}

fn roles_of(source: &Source) -> ColumnRoles {
    let has = |name: &str| source.columns().iter().any(|column| column == name).then(|| name.to_owned());
    ColumnRoles { text_id: has("text_id"), text: has("text"), label: has("label"), ..ColumnRoles::default() }
}

type Place = (u32, u32, String);

/// The text and the spans (start, end, type) of every row.
fn found(name: &str, content: &str) -> Vec<(String, Vec<Place>)> {
    let spans = |row: &Row| {
        let spans = spans_named(row.label.as_deref().unwrap()).unwrap();
        spans.into_iter().map(|span| (span.start, span.end, span.label)).collect()
    };
    read(name, content)
        .into_iter()
        .map(|row| row.unwrap())
        .map(|row| (row.text.clone().unwrap(), spans(&row)))
        .collect()
}

fn span(start: u32, end: u32, kind: &str) -> Place {
    (start, end, kind.to_owned())
}

#[test]
fn words_are_located_in_the_text_or_joined() {
    let content = "# text_id = a\n# text = You fool,  caf\u{e9} \u{1f600}!\nYou\tO\nfool\tB-insult\n,\tI-insult\ncaf\u{e9}\tO\n\u{1f600}\tB-x\n!\tO\n\n\n# text_id = b\nfine O\nit O\nis B-x\n";
    assert_eq!(
        found("a.conll", content),
        [
            ("You fool,  caf\u{e9} \u{1f600}!".to_owned(), vec![span(4, 9, "insult"), span(16, 17, "x")]),
            ("fine it is".to_owned(), vec![span(8, 10, "x")]),
        ]
    );
}

#[test]
fn every_tagging_scheme_is_read() {
    let tagged = |tags: &str| {
        let lines: Vec<String> = tags.split(' ').map(|tag| format!("w {tag}")).collect();
        found("a.conll", &lines.join("\n")).remove(0).1
    };
    // Words of one character, so that word n is at 2n.
    assert_eq!(tagged("B-x I-x O B-x B-x"), [span(0, 3, "x"), span(6, 7, "x"), span(8, 9, "x")]);
    assert_eq!(
        tagged("I-x I-x O I-y I-x B-x"),
        [span(0, 3, "x"), span(6, 7, "y"), span(8, 9, "x"), span(10, 11, "x")]
    );
    assert_eq!(
        tagged("B-x I-x E-x S-x O S-y S-y"),
        [span(0, 5, "x"), span(6, 7, "x"), span(10, 11, "y"), span(12, 13, "y")]
    );
    assert_eq!(tagged("B-x L-x U-x I-x"), [span(0, 3, "x"), span(4, 5, "x"), span(6, 7, "x")]);
    assert_eq!(tagged("O O _"), []);
    assert_eq!(tagged("B-hate-speech"), [span(0, 1, "hate-speech")]);
}

#[test]
fn irregular_span_starts_are_counted() {
    let file = sample(
        "a.conll",
        "# annotator_id = ana\na I-x\nb I-x\nc O\nd I-x\n\n# annotator_id = bo\na B-x\nb I-x\n",
    );
    let found = scan(&file.source, &file.roles(), Checker::new(None)).unwrap();
    assert_eq!((found.labels, found.begun_inside), (2, 2));
}

#[test]
fn conll_of_other_tools_is_read() {
    // CoNLL-2003: four columns, documents, IOB1.
    let conll2003 = "-DOCSTART- -X- -X- O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\nGerman JJ I-NP I-MISC\n\nPeter NNP I-NP I-PER\n";
    assert_eq!(
        found("a.conll", conll2003),
        [
            ("EU rejects German".to_owned(), vec![span(0, 2, "ORG"), span(11, 17, "MISC")]),
            ("Peter".to_owned(), vec![span(0, 5, "PER")]),
        ]
    );
    // CoNLL-U Plus: named columns, a contraction, an empty node, Windows line ends and a byte order mark.
    let plus = "\u{feff}# global.columns = ID FORM UPOS NER\r\n# sent_id = s1\r\n# text = zum Haus\r\n1-2\tzum\t_\t_\r\n1\tzum\tADP\tO\r\n2\tHaus\tNOUN\tB-LOC\r\n2.1\tx\t_\tB-LOC\r\n";
    assert_eq!(found("a.conllu", plus), [("zum Haus".to_owned(), vec![span(4, 8, "LOC")])]);
    // Numbers of words are distinguished from words that are numbers.
    assert_eq!(found("a.conll", "1\tI\tO\n2\tam\tB-x\n")[0].0, "I am");
    assert_eq!(found("a.conll", "1\tO\n2\tB-x\n")[0].0, "1 2");
    assert_eq!(found("a.conll", "1 CD O\nman NN B-x\n")[0].0, "1 man");
    // Hash signs can be words.
    assert_eq!(found("a.conll", "# O\nmetoo B-x\n#\tO\n#x B-x\n")[0].0, "# metoo # #x");
}

#[test]
fn other_tag_columns_are_named_or_counted() {
    let content = "# global.columns = FORM NER HATE\n# annotator_id = ana\na\tB-PER\tO\nb\tO\tB-slur\n";
    let file = sample("a.conll", content);
    for (name, list) in [
        ("NER", r#"[{"start":0,"end":1,"label":"PER"}]"#),
        ("2", r#"[{"start":0,"end":1,"label":"PER"}]"#),
        ("HATE", r#"[{"start":2,"end":3,"label":"slur"}]"#),
    ] {
        let source = file.source.with_tags(name).unwrap();
        let roles = ColumnRoles { label: Some(name.into()), ..file.roles() };
        let row = read_rows(&source, &roles).unwrap().next().unwrap().unwrap();
        assert_eq!(row.label.as_deref(), Some(list), "{name}");
    }
    for none in ["FORM", "zebra", "0", "1"] {
        assert!(file.source.with_tags(none).is_none(), "{none}");
    }
    let beyond = file.source.with_tags("9").unwrap();
    let roles = ColumnRoles { label: Some("9".into()), ..file.roles() };
    let error = read_rows(&beyond, &roles).unwrap().next().unwrap().unwrap_err();
    assert_eq!((error.row, error.column.as_deref()), (1, Some("9")));
}

#[test]
fn conll_errors_name_line_and_column() {
    let cases = [
        (
            "# text = you fool\nyou\tO\nfoal\tO\n",
            3,
            "text",
            "the word \"foal\" is not where the text goes on with \"fool\"",
        ),
        ("# text = you fool x\nyou\tO\nfool\tO\n", 3, "text", "goes on with \"x\" behind the last word"),
        ("you\tO\nfool\n", 2, "label", "one value where a word and a tag belong"),
        ("you\tO\nfool\tinsult\n", 2, "label", "\"insult\" is no tag"),
        ("you\tO\nfool\tB-\n", 2, "label", "\"B-\" is no tag"),
        ("you\tO\nfool\t\n", 2, "label", "\"\" is no tag"),
        ("you\tO\n\tB-x\n", 2, "text", "there is no word"),
        ("# text = you\n\nyou\tO\n", 1, "text", "no word follows"),
        ("# text:json = \"you\nyou\tO\n", 1, "text", "is no JSON string"),
    ];
    for (content, line, column, says) in cases {
        let content = format!("fine\tO\n\n{content}\nwell\tB-x\n");
        let read = read("a.conll", &content);
        let error = read[1].as_ref().unwrap_err();
        assert_eq!((error.row, error.line, error.column.as_deref()), (2, 3, Some(column)), "{content}");
        let message = error.kind.to_string();
        assert!(message.starts_with(&format!("line {}: ", line + 2)) && message.contains(says), "{message}");
        assert!(read[0].is_ok() && read.last().unwrap().is_ok(), "the blocks around it are read: {content}");
    }
    let error = read("a.conll", "# a = 1\n# a = 2\nx\tO\n").remove(0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 1 (line 1), column \"a\": the key occurs twice in one object: which value is meant?"
    );
    let bytes =
        sample("a.conll", b"\xEF\xBB\xBF# annotator_id = ana\nx\xff\tO\n\n# annotator_id = ana\ny\tO\n");
    let read: Vec<_> = read_rows(&bytes.source, &bytes.roles()).unwrap().collect();
    assert!(read[0].as_ref().unwrap_err().to_string().contains("byte 25 of the file is not UTF-8"));
    assert!(read[1].is_ok());
}

#[test]
fn unterminated_block_is_refused() {
    let endless = "word\tO\n".repeat(700_000);
    let read = read("a.conll", &format!("a\tO\n\n{endless}\nb\tO\n"));
    assert_eq!(read.len(), 3);
    let error = read[1].as_ref().unwrap_err();
    assert!(error.line == 3 && error.to_string().contains("longer than"), "{error}");
    assert_eq!(read[2].as_ref().unwrap().text.as_deref(), Some("b"));
}

#[test]
fn conll_round_trips_or_reports_a_loss() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.conll");
    let attributes = Attributes::from([("gender".to_owned(), "f = m".to_owned())]);
    let metadata = BTreeMap::from([("a = b\n".to_owned(), " x\ty\n".to_owned())]);
    let texts = [
        (
            "t 1",
            "cafe\u{301} ete\u{301}, \"q\"",
            r#"[{"start":3,"end":5,"label":"a b"},{"start":6,"end":10,"label":"a b"}]"#,
        ),
        (
            "t2",
            " 👍🏽 👨\u{200d}👩\u{200d}👧\n\n# x = y\tO ",
            r#"[{"start":1,"end":2,"label":"x"},{"start":2,"end":3,"label":"B-x"}]"#,
        ),
        ("t3", "אתה טיפש, you", r#"[{"start":4,"end":8,"label":"x"}]"#),
        ("t4", "1 2 3", "[]"),
        ("t5", "\u{301}\u{a0}x\u{2028}y \u{1b}[0m", r#"[{"start":2,"end":5,"label":"x"}]"#),
        ("t6", "#hash # tag", r#"[{"start":0,"end":1,"label":"x"},{"start":1,"end":7,"label":"x"}]"#),
        ("t7", "say \"-DOCSTART-\" -DOCSTART- # text = no", r#"[{"start":4,"end":5,"label":"x"}]"#),
    ];
    let none = [
        ("over", "you fool", r#"[{"start":0,"end":3,"label":"x"},{"start":0,"end":8,"label":"y"}]"#),
        ("white", "you fool", r#"[{"start":0,"end":4,"label":"x"}]"#),
        ("blank", "you fool", r#"[{"start":3,"end":4,"label":"x"}]"#),
    ];
    let mut writer = ConllWriter::create(&path, false, ["gender"]).unwrap();
    let row = |(text_id, text, list): &(&'static str, &'static str, &'static str)| LabelRow {
        text_id,
        text,
        annotator: "ana",
        label: Some(list),
        spans: true,
        question: Some("words"),
        split: None,
        group: None,
        at_ms: Some(1_714_566_600_123),
        duration_ms: Some(5),
        source: None,
        occasion: 1,
        note: None,
        skipped: false,
        flagged: false,
        guideline: None,
        study: StudyCells::NONE,
        shown: Shown::default(),
        attributes: &attributes,
        metadata: &metadata,
    };
    for text in &texts {
        assert!(writer.write(&row(text)).unwrap(), "{text:?}");
    }
    for text in &none {
        assert!(!writer.write(&row(text)).unwrap(), "{text:?}");
    }
    let roles = writer.roles();
    writer.finish().unwrap();
    let source = Source::open(&path).unwrap();
    let name = |name: &str| Some(name.to_owned());
    let roles = ColumnRoles {
        time: name("created_at"),
        duration: name("duration_ms"),
        question: name("question"),
        ..roles
    };
    let read: Vec<Row> = read_rows(&source, &roles).unwrap().map(|row| row.unwrap()).collect();
    let back: Vec<_> = read
        .iter()
        .map(|row| {
            (row.text_id.as_deref().unwrap(), row.text.as_deref().unwrap(), row.label.as_deref().unwrap())
        })
        .collect();
    assert_eq!(back, texts);
    assert!(read.iter().all(|row| row.attributes == attributes && row.metadata == metadata));
    assert!(read.iter().all(|row| row.at_ms == Some(1_714_566_600_123) && row.duration_ms == Some(5)));
}
