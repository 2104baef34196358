//! Files with one row a span: which rows are one answer, and how invalid ones are reported.

use super::sample::{Sample, sample};
use dissensus_domain::{OffsetUnit, Scale, ScaleKind};
use dissensus_exchange::{
    Checker, ColumnRoles, ExchangeError, LabelVerdict, Row, RowError, RowErrorKind, read_rows, scan,
};

const HEADER: &str = "text_id,text,annotator_id,start,end,type,created_at\n";

fn file(rows: &str) -> Sample {
    sample("spans.csv", format!("{HEADER}{rows}"))
}

fn good(read: Vec<Result<Row, RowError>>) -> Vec<(u64, Option<String>, bool)> {
    read.into_iter().map(|row| row.unwrap()).map(|row| (row.row, row.label, row.continues)).collect()
}

/// Every bad row: row, column, message.
fn bad(read: &[Result<Row, RowError>]) -> Vec<(u64, String, String)> {
    read.iter()
        .filter_map(|row| row.as_ref().err())
        .map(|e| (e.row, e.column.clone().unwrap_or_default(), e.kind.to_string()))
        .collect()
}

fn spans() -> Scale {
    Scale::new(ScaleKind::Spans, ["insult", "threat"]).unwrap()
}

#[test]
fn span_rows_of_one_answer_may_be_scattered() {
    let file = file(
        "a,you fool,ana,4,8,insult,2024-05-01\nb,fine,ana,,,,\na,you fool,ben,0,3,threat,\na,you fool,ana,0,3,threat,2024-05-03\na,you fool,ana,4.0,8,insult,2024-05-02\n",
    );
    let roles = file.roles();
    assert_eq!(roles.span_start.as_deref(), Some("start"));
    assert_eq!((roles.span_end.as_deref(), roles.span_type.as_deref()), (Some("end"), Some("type")));
    let rows = file.rows();
    let list = r#"[{"start":4,"end":8,"label":"insult"},{"start":0,"end":3,"label":"threat"},{"start":4,"end":8,"label":"insult"}]"#;
    assert_eq!(rows[0].label.as_deref(), Some(list));
    assert_eq!(rows[0].at_ms, Some(1_714_694_400_000), "the latest of its times");
    assert_eq!(rows[1].label.as_deref(), Some("[]"));
    assert_eq!(rows.iter().map(|row| row.continues).collect::<Vec<_>>(), [false, false, false, true, true]);
    assert!(rows[3..].iter().all(|row| row.label.is_none()));
    let found = scan(&file.source, &roles, Checker::new(None)).unwrap();
    assert_eq!((found.rows, found.labels, found.texts, found.empty_labels), (5, 3, 2, 0));
    assert_eq!(found.questions[0].scale.as_ref().unwrap(), &spans());
}

#[test]
fn invalid_span_rows_are_located() {
    let cases = [
        ("4,,insult", "end", "no end, and other values of a span"),
        (",8,insult", "start", "no start"),
        ("4,8,", "type", "no type"),
        (",,insult", "start", "no start"),
        ("4,four,insult", "end", "\"four\" is no offset"),
        ("-4,8,insult", "start", "\"-4\" is no offset"),
        ("4.5,8,insult", "start", "\"4.5\" is no offset"),
        ("4,99999999999,insult", "end", "\"99999999999\" is no offset"),
        ("8,4,insult", "end", "goes from 8 to 4"),
        ("4,4,insult", "end", "goes from 4 to 4"),
        ("4,9,insult", "end", "which has 8 characters"),
        ("4,8,a\u{202e}b", "type", "U+202E"),
    ];
    for (span, column, says) in cases {
        let file = file(&format!("a,you fool,ana,0,3,threat,\na,you fool,ana,{span},\nb,fine,ben,,,,\n"));
        let read = file.read();
        let bad = bad(&read);
        assert_eq!((bad.len(), bad[1].0, bad[1].1.as_str()), (2, 2, column), "{span}: {bad:?}");
        assert!(bad[1].2.contains(says), "{span}: {bad:?}");
        // The other span of the answer is rejected with it, and its message has the reason.
        assert!(bad[0].2.starts_with("row 2 is a span of the same answer and is bad"), "{bad:?}");
        assert!(bad[0].2.contains(says), "{bad:?}");
        assert_eq!(read[2].as_ref().unwrap().label.as_deref(), Some("[]"), "others are taken");
    }
}

#[test]
fn empty_span_row_must_be_the_only_row() {
    let file = file(
        "a,you,ana,,,,\na,you,ana,0,3,threat,\na,you,ben,0,3,threat,\na,you,ben,,,,\nb,x,ana,,,,\nb,x,ana,,,,\n",
    );
    let read = file.read();
    let reported = bad(&read);
    assert_eq!(reported.iter().map(|(row, ..)| *row).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert!(
        reported[1].2.contains("this row has a span, and row 1 states that there is no span"),
        "{reported:?}"
    );
    assert!(
        reported[3].2.contains("this row states that there is no span, and row 3 has a span"),
        "{reported:?}"
    );
    let twice: Vec<_> = read.into_iter().skip(4).collect();
    assert_eq!(good(twice), [(5, Some("[]".to_owned()), false), (6, None, true)]);
}

#[test]
fn span_rows_must_agree_on_text_and_attributes() {
    let content = "text_id,text,annotator_id,start,end,type,gender\na,you,ana,0,1,x,f\na,You,ana,1,2,x,f\nb,me,ben,0,1,x,m\nb,me,ben,1,2,x,\nc,us,cleo,0,1,x,f\nc,us,cleo,0,1,x,m\nd,it,dan,0,1,x,\nd,it,dan,0,1,x,m\n";
    let file = sample("a.csv", content);
    let roles = ColumnRoles { attributes: vec!["gender".into()], ..file.roles() };
    let read: Vec<_> = read_rows(&file.source, &roles).unwrap().collect();
    let reported = bad(&read);
    assert_eq!(reported.iter().map(|(row, ..)| *row).collect::<Vec<_>>(), [1, 2, 5, 6]);
    assert_eq!((reported[1].1.as_str(), reported[3].1.as_str()), ("text", "gender"));
    assert!(
        reported[1].2.contains("already has another body") && reported[3].2.contains("\"f\" here already"),
        "{reported:?}"
    );
    // Attributes in a later row are returned with the first one.
    assert_eq!(read[6].as_ref().unwrap().attributes["gender"], "m");
}

#[test]
fn spans_off_the_scale_are_located() {
    // The text is identified only by its id; the third row is the bad one, and the first would return the
    // answer.
    let content = "text_id,annotator_id,start,end,type\na,ana,0,3,insult\na,ben,,,\na,ana,1,2,joke\n";
    let reported = |content: &str, scale: Scale| {
        let file = sample("a.csv", content);
        let mut checker = Checker::new(Some(scale));
        checker.seed_text("a", "you fool");
        scan(&file.source, &file.roles(), checker).unwrap()
    };
    let found = reported(content, spans());
    assert_eq!((found.labels, found.problem_count), (1, 2));
    let messages: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages[1],
        "row 3 (line 4), column \"type\": \"joke\" is no type of this question: its types are insult, threat"
    );
    assert!(messages[0].starts_with("row 1 (line 2): row 3 is a span of the same answer"), "{messages:?}");
    let outside = reported(&content.replace("1,2,joke", "1,9,threat"), spans());
    assert_eq!(outside.problems[1].column.as_deref(), Some("end"));
    assert!(matches!(outside.problems[1].kind, RowErrorKind::SpanOutside { end: 9, characters: 8 }));
    let other = reported(content, Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap());
    assert_eq!(other.problem_count, 3);
    assert!(other.problems[0].to_string().contains("not answered with spans"), "{}", other.problems[0]);
    let unknown = reported(&content.replace("a,", "zz,"), spans());
    assert!(unknown.problems[0].to_string().contains("there is no text \"zz\""));
    assert_eq!((unknown.labels, unknown.problem_count), (0, 3), "no row is taken as a row without a label");
}

#[test]
fn offset_units_of_other_tools_are_supported() {
    // 👍 has one character, two UTF-16 code units and four bytes; é here is e with a combining accent.
    let content = "text_id,text,annotator_id,start,end,type\na,ok 👍 cafe\u{301},ana,START,END,x\n";
    let read = |start: u32, end: u32, offsets| {
        let content = content.replace("START", &start.to_string()).replace("END", &end.to_string());
        let file = sample("a.csv", content);
        let roles = ColumnRoles { offsets, ..file.roles() };
        read_rows(&file.source, &roles).unwrap().next().unwrap()
    };
    let list = Some(r#"[{"start":3,"end":10,"label":"x"}]"#.to_owned());
    assert_eq!(read(3, 10, OffsetUnit::Characters).unwrap().label, list);
    assert_eq!(read(3, 11, OffsetUnit::Utf16).unwrap().label, list);
    assert_eq!(read(3, 14, OffsetUnit::Bytes).unwrap().label, list);
    let error = read(4, 11, OffsetUnit::Utf16).unwrap_err().to_string();
    assert!(
        error.starts_with("row 1 (line 2), column \"start\"") && error.contains("half of a surrogate pair"),
        "{error}"
    );
    let error = read(3, 4, OffsetUnit::Bytes).unwrap_err().to_string();
    assert!(error.contains("column \"end\"") && error.contains("falls inside the character"), "{error}");
    // Offsets in a list of spans are counted in the same way.
    let line = r#"{"text_id":"a","text":"👍 no","annotator_id":"ana","label":[[3,5,"x"]]}"#;
    let file = sample("a.jsonl", line);
    let with = |offsets| ColumnRoles { offsets, ..file.roles() };
    let row = read_rows(&file.source, &with(OffsetUnit::Utf16)).unwrap().next().unwrap();
    assert_eq!(row.unwrap().label.unwrap(), r#"[{"start":2,"end":4,"label":"x"}]"#);
    let half = sample("a.jsonl", line.replace("[3,5", "[1,5"));
    let error = read_rows(&half.source, &with(OffsetUnit::Utf16)).unwrap().next().unwrap().unwrap_err();
    assert_eq!(error.column.as_deref(), Some("label"));
    // Without the text there is nothing to count in.
    let without = ColumnRoles { text: None, ..with(OffsetUnit::Utf16) };
    let refused = read_rows(&file.source, &without).unwrap_err();
    assert!(matches!(refused, ExchangeError::RolesDoNotFit { .. }), "{refused}");
}

#[test]
fn labels_and_spans_can_share_a_file() {
    let content = "text_id,text,annotator_id,label,start,end,type,question\na,you,ana,3,,,,rating\na,you,ana,,0,3,x,words\na,you,ben,[],,,,words\na,you,cleo,,,,,rating\n";
    let file = sample("a.csv", content);
    let mut rows = read_rows(&file.source, &file.roles()).unwrap();
    let mut checker = Checker::by_question(None);
    let mut labels = Vec::new();
    while let Some(read) = rows.next_checked(&mut checker) {
        labels.push(match read.unwrap().1.label {
            LabelVerdict::Added { name, .. } => name,
            other => format!("{other:?}"),
        });
    }
    assert_eq!(labels, ["3", r#"[{"start":0,"end":3,"label":"x"}]"#, "[]", "None"]);
    let both = sample(
        "a.csv",
        content.replace("ana,,0", "ana,2,0").replace("ben,[],,,", "ben,[],,,,words\na,you,ben,,0,1,x"),
    );
    let reported = bad(&both.read());
    assert_eq!((reported.len(), reported[0].0, reported[0].1.as_str()), (3, 2, "start"));
    assert!(reported[0].2.contains("a span and a label"), "{reported:?}");
    assert!(reported[2].2.contains("row 3 has an answer as a label"), "{reported:?}");
}

#[test]
fn spans_are_guessed_only_from_offsets() {
    let rows_are_spans = |content: &str| sample("a.csv", content).roles().rows_are_spans();
    let header = "text_id,text,annotator_id,start,end,label\n";
    assert!(rows_are_spans(&format!("{header}a,x y,ana,0,1,n\na,x y,ana,2,3,n\n")));
    assert!(
        !rows_are_spans(&format!("{header}a,x y,ana,0,12,n\nb,x y,ana,12,20,n\n")),
        "times of a recording"
    );
    assert!(!rows_are_spans(&format!("{header}a,x y,ana,0.5,1,n\na,x y,ana,2,3,n\n")), "seconds");
    // An export with lists, of texts with such metadata.
    let lists =
        "text_id,text,annotator_id,label,start,end,type\na,x y,ana,[],3,5,news\na,x y,ben,[],3,5,news\n";
    assert!(!rows_are_spans(lists));
    // Times of an utterance next to the answers to two questions are not spans.
    let times = "text_id,text,annotator_id,label,question,start,end\na,x y,ana,3,rude,2,5\na,x y,ana,4,clear,2,5\nb,x z,ana,1,rude,7,9\nb,x z,ana,2,clear,7,9\n";
    assert!(!rows_are_spans(times), "an answer to each question");
    // Labels of another question come first, more of them than are sampled.
    let mut late = "text_id,text,annotator_id,label,start,end,type,question\n".to_owned();
    for row in 0..5_100 {
        late.push_str(&format!("t{row},some words,ana,{},,,,rude\n", row % 5));
    }
    late.push_str("t1,some words,ana,,0,4,insult,where\n");
    assert!(rows_are_spans(&late));
    let none = "text_id,text,annotator_id,start,end,type\na,x y,ana,,,\nb,x z,ana,,,\n";
    assert!(rows_are_spans(none), "a file of answers without a span");
    assert!(!rows_are_spans("text_id,text,start,end,type\na,x y,0,1,n\n"), "nobody's");
}

#[test]
fn constant_type_and_invalid_span_roles() {
    let content = "text_id,text,annotator_id,from,to\na,you,ana,0,3\nb,me,ana,,\n";
    let file = sample("a.csv", content);
    let name = |name: &str| Some(name.to_owned());
    let roles = ColumnRoles {
        span_start: name("from"),
        span_end: name("to"),
        span_type: name("=insult"),
        annotator: name("annotator_id"),
        ..file.roles()
    };
    let labels: Vec<_> =
        read_rows(&file.source, &roles).unwrap().map(|row| row.unwrap().label.unwrap()).collect();
    assert_eq!(labels, [r#"[{"start":0,"end":3,"label":"insult"}]"#, "[]"]);
    let message_of = |roles: ColumnRoles| read_rows(&file.source, &roles).unwrap_err().to_string();
    assert!(
        message_of(ColumnRoles { span_type: None, ..roles.clone() }).contains("no column holds the types")
    );
    assert!(message_of(ColumnRoles { span_end: None, ..roles.clone() }).contains("name both"));
    assert!(message_of(ColumnRoles { span_end: name("from"), ..roles.clone() }).contains("named both"));
    assert!(message_of(ColumnRoles { annotator: None, ..roles }).contains("=NAME"));
}
