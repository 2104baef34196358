//! Each stated meaning of an oddity in a file, one test each.

use super::sample::sample;
use dissensus_domain::{Answer, LevelId, Scale, ScaleKind};
use dissensus_exchange::{
    Checker, FileKind, LabelVerdict, RowErrorKind, Scan, Source, Verdict, read_rows, scan, text_id_of,
};

const HEADER: &str = "text_id,text,annotator_id,label\n";

fn bodies(name: &str, content: impl AsRef<[u8]>) -> Vec<String> {
    sample(name, content).rows().into_iter().map(|row| row.text.unwrap()).collect()
}

fn preview(content: &str) -> Scan {
    let file = sample("a.csv", content);
    scan(&file.source, &file.roles(), Checker::new(None)).unwrap()
}

fn verdicts(content: &str, checker: &mut Checker) -> Vec<Result<Verdict, RowErrorKind>> {
    let file = sample("a.csv", content);
    let mut rows = read_rows(&file.source, &file.roles()).unwrap();
    std::iter::from_fn(|| rows.next_checked(checker))
        .map(|read| read.map(|(_, verdict)| verdict).map_err(|e| e.kind))
        .collect()
}

fn labels(content: &str, checker: &mut Checker) -> Vec<LabelVerdict> {
    verdicts(content, checker).into_iter().map(|v| v.unwrap().label).collect()
}

/// The names of the labels; those of rows that add nothing in brackets.
fn names(labels: &[LabelVerdict]) -> Vec<String> {
    let name = |label: &LabelVerdict| match label {
        LabelVerdict::None | LabelVerdict::Continues => "none".to_owned(),
        LabelVerdict::Added { name, .. } => name.clone(),
        LabelVerdict::Repeat { name, .. } => format!("again {name}"),
        LabelVerdict::Repeated { name } => format!("({name})"),
    };
    labels.iter().map(name).collect()
}

#[test]
fn quoted_newlines_are_in_the_body_and_counted() {
    let file = sample("a.csv", format!("{HEADER}t1,\"one\ntwo\r\n\nthree\",ada,1\nt2,x,ada,2\n"));
    let rows = file.rows();
    assert_eq!(rows[0].text.as_deref(), Some("one\ntwo\r\n\nthree"));
    assert_eq!((rows[0].row, rows[0].line), (1, 2));
    assert_eq!((rows[1].row, rows[1].line), (2, 6));
}

#[test]
fn byte_order_mark_is_skipped_in_csv_and_in_json() {
    let file = sample("a.csv", "\u{feff}text_id,text\nt1,x\n");
    assert_eq!(file.source.columns(), ["text_id", "text"]);
    let file = sample("a.jsonl", "\u{feff}{\"text_id\":\"t1\",\"text\":\"x\"}\n");
    assert_eq!(file.rows()[0].text.as_deref(), Some("x"));
}

#[test]
fn crlf_ends_lines_and_the_last_end_may_be_missing() {
    for content in ["text_id,text\r\nt1,a\r\nt2,b\r\n", "text_id,text\nt1,a\nt2,b"] {
        assert_eq!(bodies("a.csv", content), ["a", "b"]);
    }
}

#[test]
fn bodies_preserve_every_code_point() {
    let body = "👩🏽‍🚀 مرحبا \u{202b}שלום\u{202c} e\u{301} \u{200f}";
    assert_eq!(bodies("a.csv", format!("text_id,text\nt1,{body}\n")), [body]);
    assert_eq!(bodies("a.jsonl", "{\"text_id\":\"t\",\"text\":\"\\ud83d\\ude00 \\u05e9\"}\n"), ["😀 ש"]);
}

#[test]
fn bodies_are_verbatim_and_ids_trimmed() {
    let file =
        sample("a.csv", "text_id, text ,annotator_id,label,gender,split\n t1 ,  x\t ,\tada , 3 , f , dev \n");
    let row = &file.rows()[0];
    assert_eq!(row.text.as_deref(), Some("  x\t "));
    assert_eq!(row.text_id.as_deref(), Some("t1"));
    assert_eq!(row.annotator.as_deref(), Some("ada"));
    assert_eq!(row.label.as_deref(), Some("3"));
    assert_eq!(row.split.as_deref(), Some("dev"));
    assert_eq!(row.attributes["gender"], "f");
}

#[test]
fn empty_label_adds_only_text_and_annotator() {
    let content = format!("{HEADER}t1,x,ada,\nt2,y,bo,  \nt2,y,ada,2\n");
    let scan = preview(&content);
    assert_eq!((scan.texts, scan.annotators, scan.labels, scan.empty_labels), (2, 2, 1, 2));
    assert_eq!(labels(&content, &mut Checker::new(None))[..2], [LabelVerdict::None, LabelVerdict::None]);
}

#[test]
fn json_types_of_one_value_are_one_level() {
    let line =
        |label: &str| format!("{{\"text_id\":\"t\",\"text\":\"x\",\"annotator\":\"a\",\"label\":{label}}}\n");
    let content: String = ["3", "3.0", "\"3\"", "true", "false", "null"].map(line).concat();
    let rows = sample("a.jsonl", content).rows();
    let labels: Vec<_> = rows.iter().map(|row| row.label.as_deref()).collect();
    assert_eq!(labels, [Some("3"), Some("3"), Some("3"), Some("true"), Some("false"), None]);
}

#[test]
fn integer_written_as_float_is_one_level() {
    let scan = preview(&format!("{HEADER}t1,x,ada,3.0\nt2,y,ada,1\nt3,z,ada,2.00\n"));
    assert_eq!(scan.questions[0].scale.clone().unwrap().levels(), ["1", "2", "3"]);
    let mut exact = Checker::new(Some(Scale::new(ScaleKind::Choice, ["3.0", "3"]).unwrap()));
    let two_levels = labels(&format!("{HEADER}t1,x,ada,3.0\nt2,y,ada,3\n"), &mut exact);
    let level = |label: &LabelVerdict| match label {
        LabelVerdict::Added { answer, .. } => answer.as_ref().and_then(Answer::level),
        _ => None,
    };
    assert_eq!(
        (names(&two_levels), level(&two_levels[0]), level(&two_levels[1])),
        (vec!["3.0".into(), "3".into()], Some(LevelId(0)), Some(LevelId(1)))
    );
}

#[test]
fn duplicate_rows_are_counted() {
    let content = format!("{HEADER}t1,x,ada,1\nt1,x,ada,1\nt1,x,bo,1\nt1,x,ada, 1.0\n");
    let scan = preview(&content);
    assert_eq!((scan.rows, scan.labels, scan.repeated, scan.problem_count), (4, 2, 2, 0));
    // The other level of the pair 0 and 1 is added.
    assert_eq!(scan.questions[0].levels, [("0".to_owned(), 0), ("1".to_owned(), 2)]);
}

#[test]
fn refused_row_adds_nothing() {
    let mut checker = Checker::new(Some(Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap()));
    let got = verdicts(&format!("{HEADER}t1,x,ada,maybe\nt1,y,ada,yes\n"), &mut checker);
    assert!(matches!(got[0], Err(RowErrorKind::UnknownLevel { .. })));
    assert!(got[1].as_ref().unwrap().new_text, "the refused row must not have brought the text");
}

#[test]
fn blank_lines_are_skipped() {
    let file = sample("a.csv", "\n\ntext_id,text\n\nt1,a\n\r\nt2,b\n\n");
    let places: Vec<_> = file.rows().iter().map(|r| (r.row, r.line)).collect();
    assert_eq!(places, [(1, 5), (2, 7)]);
    assert_eq!(sample("a.jsonl", "\n{\"text\":\"a\"}\n  \n{\"text\":\"b\"}").rows().len(), 2);
}

#[test]
fn separator_is_detected() {
    for (separator, name) in [(",", "a.csv"), (";", "a.csv"), ("\t", "a.csv"), ("\t", "a.tsv")] {
        let content = "text_id|text|label|annotator\nt1|a b|1|ada\n".replace('|', separator);
        let file = sample(name, content);
        assert_eq!(file.source.delimiter(), Some(separator.as_bytes()[0]));
        assert_eq!(file.rows()[0].text.as_deref(), Some("a b"));
    }
    let quoted = sample("a.csv", "\"a,b,c,d\";text\n1;x\n");
    assert_eq!(quoted.source.columns(), ["a,b,c,d", "text"]);
}

#[test]
fn column_without_a_name_is_named_after_its_position() {
    let file = sample("a.csv", "text,column_3,,\nx,1,2,3\n");
    assert_eq!(file.source.columns(), ["text", "column_3", "column_3_", "column_4"]);
    assert_eq!(file.rows()[0].metadata["column_4"], "3");
}

#[test]
fn without_ids_the_same_body_is_the_same_text() {
    let file = sample("a.csv", "text,annotator,label\nx,ada,1\nx,bo,2\nx ,bo,2\n");
    let ids: Vec<_> = file.rows().into_iter().map(|r| r.text_id.unwrap()).collect();
    assert_eq!(ids, [text_id_of("x"), text_id_of("x"), text_id_of("x ")]);
    let scan = scan(&file.source, &file.roles(), Checker::new(None)).unwrap();
    assert_eq!((scan.texts, scan.labels), (2, 3));
}

#[test]
fn files_of_texts_and_of_annotators_are_distinguished() {
    let texts = sample("texts.csv", "id,text,author\n1,x,bo\n2,y,bo\n2,y,bo\n");
    let scan_texts = scan(&texts.source, &texts.roles(), Checker::new(None)).unwrap();
    assert_eq!((scan_texts.kind, scan_texts.texts, scan_texts.repeated), (FileKind::Texts, 2, 1));
    assert_eq!(texts.rows()[0].metadata["author"], "bo");
    let people = sample("people.csv", "worker,gender,team\nada,f,red\nbo,m,\n");
    let rows = people.rows();
    let scan_people = scan(&people.source, &people.roles(), Checker::new(None)).unwrap();
    assert_eq!((scan_people.kind, scan_people.annotators, scan_people.texts), (FileKind::Annotators, 2, 0));
    assert_eq!(rows[0].attributes.len(), 2);
    assert_eq!((rows[1].text_id.as_ref(), rows[1].attributes.len()), (None, 1));
}

#[test]
fn one_annotator_can_be_set_for_all_labels() {
    let file = sample("a.csv", "text_id,text,label\nt1,x,hate\nt2,y,noHate\n");
    let mut roles = file.roles();
    roles.annotator = Some("= the crowd ".to_owned());
    roles.split = Some("=train".to_owned());
    let rows: Vec<_> = read_rows(&file.source, &roles).unwrap().map(Result::unwrap).collect();
    assert!(rows.iter().all(|r| r.annotator.as_deref() == Some("the crowd")));
    assert_eq!(rows[1].split.as_deref(), Some("train"));
}

#[test]
fn labels_on_existing_texts_need_no_body() {
    let file = sample("a.csv", "text_id,annotator,label\nt1,ada,1\nt9,ada,1\n");
    let mut checker = Checker::new(None);
    checker.seed_text("t1", "x");
    let scan = scan(&file.source, &file.roles(), checker).unwrap();
    assert_eq!((scan.labels, scan.problem_count), (1, 1));
    assert_eq!(scan.problems[0].kind, RowErrorKind::UnknownText { text_id: "t9".into(), near: None });
    assert_eq!(scan.problems[0].column.as_deref(), Some("text_id"));
}

#[test]
fn late_keys_are_metadata() {
    let mut content = "{\"text\":\"a\"}\n".repeat(1500);
    content.push_str("{\"text\":\"b\",\"mood\":\"calm\",\"tags\":[1]}\n");
    let rows = sample("a.jsonl", content).rows();
    assert_eq!(rows[1500].metadata["mood"], "calm");
    assert_eq!(rows[1500].metadata["tags"], "[1]");
}

#[test]
fn columns_without_a_role_are_metadata() {
    let row = &sample("a.csv", "text,url,note,more\nx, http://x ,,  \n").rows()[0];
    assert_eq!(row.metadata, [("url".to_owned(), " http://x ".to_owned())].into());
}

#[test]
fn preview_shows_raw_rows_and_cuts_long_values() {
    let scan = preview(&format!("{HEADER}t1,{},ada,1\n", "é".repeat(600)));
    assert_eq!(scan.sample[0][0], "t1");
    assert_eq!(scan.sample[0][1], format!("{}…", "é".repeat(500)));
}

#[test]
fn html_and_scripts_are_plain_text() {
    let body = "<script>alert(1)</script> =cmd|' /C calc'!A0";
    assert_eq!(bodies("a.csv", format!("text\n{body}\n")), [body]);
}

#[test]
fn file_with_only_a_header_has_no_rows() {
    let file = sample("a.csv", HEADER);
    assert_eq!(file.source.format().name, "csv");
    let scan = scan(&file.source, &file.roles(), Checker::new(None)).unwrap();
    assert_eq!((scan.rows, scan.kind), (0, FileKind::Labels));
    assert!(scan.questions[0].scale.is_err());
}

#[test]
fn text_of_fifty_thousand_characters_is_read() {
    let body = "ж".repeat(50_000);
    assert_eq!(bodies("a.csv", format!("text\n{body}\n")), [body]);
}

#[test]
fn source_can_be_read_many_times() {
    let file = sample("a.csv", format!("{HEADER}t1,x,ada,1\n"));
    assert_eq!(file.rows(), file.rows());
    assert_eq!(Source::open(file.source.path()).unwrap().columns(), file.source.columns());
}
