//! Each way a file, its columns or a row can be wrong, and the message about it.

use super::sample::sample;
use dissensus_domain::{MAX_TEXT_BYTES, Scale};
use dissensus_exchange::{
    Checker, ColumnRoles, ExchangeError, MAX_COLUMNS, MAX_RECORD_BYTES, RejectWriter, RowError, Source,
    guess_roles, read_rows, scan, scan_while,
};
use std::ops::ControlFlow;

const HEADER: &str = "text_id,text,annotator_id,label\n";

fn refused(name: &str, content: impl AsRef<[u8]>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    let message = Source::open(&path).unwrap_err().to_string();
    assert!(message.contains(name), "the file is not named: {message}");
    message
}

/// The bad rows, and how many were good.
fn bad(name: &str, content: impl AsRef<[u8]>) -> (Vec<RowError>, usize) {
    let mut errors = Vec::new();
    let mut good = 0;
    for read in sample(name, content).read() {
        match read {
            Ok(_) => good += 1,
            Err(error) => errors.push(error),
        }
    }
    (errors, good)
}

/// The one bad row of a file with a good row after it, as it is displayed.
fn error_of(name: &str, content: impl AsRef<[u8]>) -> String {
    let (errors, good) = bad(name, content);
    assert_eq!((errors.len(), good), (1, 1), "{errors:?}");
    errors[0].to_string()
}

fn with_roles(content: &str, change: impl Fn(&mut ColumnRoles)) -> ExchangeError {
    let file = sample("a.csv", content);
    let mut roles = file.roles();
    change(&mut roles);
    read_rows(&file.source, &roles).map(|_| ()).unwrap_err()
}

#[test]
fn missing_folder_and_empty_file_have_own_errors() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Source::open(folder.path().join("none.csv")).unwrap_err();
    assert!(matches!(missing, ExchangeError::NotFound { .. }), "{missing}");
    let directory = Source::open(folder.path()).unwrap_err();
    assert!(matches!(directory, ExchangeError::Directory { .. }), "{directory}");
    for content in ["", "\n \r\n", "\u{feff}", &"\n".repeat(100_000)] {
        assert!(refused("a.csv", content).contains("is empty"));
    }
}

#[cfg(unix)]
#[test]
fn device_is_refused() {
    assert!(matches!(Source::open("/dev/null"), Err(ExchangeError::NotAFile { .. })));
}

#[cfg(target_os = "linux")]
#[test]
fn unreadable_file_is_explained() {
    // The memory of this process is an ordinary file that cannot be read at its beginning.
    let error = Source::open("/proc/self/mem").unwrap_err();
    assert!(error.to_string().starts_with("/proc/self/mem cannot be read:"), "{error}");
}

#[test]
fn duplicate_column_names_are_located() {
    let message = refused("a.csv", "text_id,text,label, text \n");
    assert!(message.contains("columns 2 and 4 are both named \"text\""), "{message}");
}

#[test]
fn invalid_header_is_explained() {
    assert!(refused("a.csv", "text,\"label\nx,1\n").contains("line 1"));
    assert!(refused("a.csv", "text,\"label\" x\n").contains("closing quote"));
    assert!(refused("a.csv", b"\xEF\xBB\xBFte\xFFxt,label\n").contains("byte 5"));
    assert!(refused("a.jsonl", "oops\n").contains("not JSON"));
    assert!(refused("a.csv", vec![b'x'; MAX_RECORD_BYTES + 2]).contains("longer than"));
    assert!(refused("a.csv", ",".repeat(MAX_COLUMNS)).contains("there are 4097 of them"));
}

#[test]
fn missing_column_suggests_the_nearest_name() {
    let error = with_roles(&format!("{HEADER}t,x,a,1\n"), |r| r.annotator = Some("anotator_id".into()));
    let message = error.to_string();
    assert!(message.contains("no column \"anotator_id\" for the annotator"), "{message}");
    assert!(message.contains("did you mean \"annotator_id\"?"), "{message}");
    assert!(message.contains("text_id, text, annotator_id, label"), "{message}");
}

#[test]
fn invalid_roles_are_explained() {
    type Change = fn(&mut ColumnRoles);
    let cases: [(Change, &str); 11] = [
        (|r| r.annotator = None, "give all of them to one person with the annotator \"=NAME\""),
        (|r| r.label = None, "no labels"),
        (|r| (r.text, r.text_id) = (None, None), "no texts"),
        (|r| (r.text, r.label, r.annotator) = (None, None, None), "ids of texts but no texts"),
        (|r| *r = ColumnRoles::default(), "no column was recognised"),
        (|r| r.label = Some("text".into()), "named both for the text and for the label"),
        (|r| r.label = Some("=1".into()), "only annotator, split, group and question"),
        (|r| r.annotator = Some("=".into()), "needs a name"),
        (|r| r.attributes = vec!["zebra".into()], "no column \"zebra\" for the attribute"),
        (
            |r| (r.annotator, r.label, r.attributes) = (None, None, vec!["label".into()]),
            "no annotator they belong to",
        ),
        (
            |r| *r = ColumnRoles { annotator: Some("=ada".into()), ..ColumnRoles::default() },
            "no list of annotators",
        ),
    ];
    for (change, says) in cases {
        let message = with_roles(&format!("{HEADER}t,x,a,1\n"), change).to_string();
        assert!(message.contains(says), "{message}");
    }
}

#[test]
fn invalid_utf8_is_located() {
    let mut content = b"\xEF\xBB\xBFtext_id,text,annotator_id,label\nt1,caf".to_vec();
    let offset = content.len();
    content.extend(b"\xE9,ada,1\nt2,y,ada,2\n");
    let message = error_of("a.csv", &content);
    assert!(message.starts_with(&format!("row 1 (line 2), column \"text\": byte {offset} of")), "{message}");
    let message = error_of("a.jsonl", b"\xEF\xBB\xBF{\"text\":\"a\xFF\"}\n{\"text\":\"b\"}\n");
    assert!(message.contains("byte 13 of the file"), "{message}");
}

#[test]
fn invalid_utf8_in_quotes_affects_one_row() {
    let (errors, good) = bad("a.csv", b"\xEF\xBB\xBFtext_id,text\nt1,\"a\nb\xFF\nc\"\nt2,d\n");
    assert_eq!((errors.len(), good), (1, 1));
    assert!(errors[0].to_string().contains("byte 23"), "{}", errors[0]);
}

#[test]
fn wrong_number_of_values_is_reported() {
    assert!(
        error_of("a.csv", format!("{HEADER}t1,x,ada\nt2,y,ada,1\n")).contains("3 values where there are 4")
    );
    assert!(
        error_of("a.csv", format!("{HEADER}t1,x,y,ada,1\nt2,y,ada,1\n"))
            .contains("5 values where there are 4")
    );
}

#[test]
fn unclosed_quote_is_located_at_its_start() {
    let (errors, good) = bad("a.csv", format!("{HEADER}t1,x,ada,1\nt2,\"y,ada,1\nt3,z,ada,1\nt4,w,ada,2\n"));
    assert_eq!((errors.len(), good), (1, 3), "{errors:?}");
    let message = errors[0].to_string();
    assert!(
        message.starts_with("row 2 (line 3), column \"text\": the quote opened on line 3 is not"),
        "{message}"
    );
}

#[test]
fn stray_quote_affects_only_its_rows() {
    let content = format!("{HEADER}t1,\"x,ada,1\nt2,\"y, z\",ada,1\nt3,w,ada,2\n");
    let (errors, good) = bad("a.csv", content);
    assert_eq!((errors.len(), good), (1, 2), "{errors:?}");
    assert!(errors[0].to_string().contains("opened on line 2 is closed on line 3"), "{}", errors[0]);
}

#[test]
fn many_stray_quotes_are_read_in_linear_time() {
    // Each line closes the quote of the one before and opens one of its own, so no record ever ends.
    let content = format!("{HEADER}{}", "x\",\"y\n".repeat(200_000));
    let file = sample("a.csv", content);
    let started = std::time::Instant::now();
    let scan = scan(&file.source, &file.roles(), Checker::new(None)).unwrap();
    assert_eq!((scan.rows, scan.problem_count), (200_000, 200_000));
    assert!(
        scan.problems[0].to_string().contains("5 values where there are 4 columns"),
        "{}",
        scan.problems[0]
    );
    // Looking to the end of the file for each of them would take many minutes.
    assert!(started.elapsed().as_secs() < 60);
}

#[test]
fn text_after_a_closing_quote_is_bad() {
    let message = error_of("a.csv", format!("{HEADER}t1,\"x\" y,ada,1\nt2,y,ada,2\n"));
    assert!(message.contains("in the middle of a value"), "{message}");
}

#[test]
fn oversized_line_is_refused_by_number() {
    let long = "x".repeat(MAX_RECORD_BYTES);
    let message = error_of("a.csv", format!("{HEADER}t1,{long},ada,1\nt2,y,ada,2\n"));
    assert!(message.starts_with("row 1 (line 2): the row is longer than"), "{message}");
    let message = error_of("a.jsonl", format!("{{\"text\":\"a\"}}\n{{\"text\":\"{long}\"}}\n"));
    assert!(message.starts_with("row 2 (line 2)"), "{message}");
}

#[test]
fn invalid_json_lines_are_explained() {
    let cases = [
        ("{\"text\":\"a\"", "not JSON at character 11"),
        ("{\"text\":\"a\"} x", "not JSON at character 14"),
        ("[1]", "a list where an object"),
        ("\"a\"", "a string where an object"),
        ("{\"text\":\"a\",\"text\":\"b\"}", "column \"text\": the key occurs twice"),
        ("{\"text\":[1]}", "column \"text\": a list where one plain value"),
        ("{\"text\":{\"a\":1}}", "column \"text\": an object where one plain value"),
        ("{\"text\":\"\\ud83d\"}", "without the other half"),
        ("{\"text\":\"a\",\"n\":123456789012345678901234}", "column \"n\": the number"),
    ];
    for (line, expected) in cases {
        let message = error_of("a.jsonl", format!("{{\"text\":\"good\"}}\n{line}\n"));
        assert!(message.contains(expected), "{line}: {message}");
    }
}

#[test]
fn required_values_are_checked() {
    let cases = [
        (" ,x,ada,1", "column \"text_id\": no text id"),
        ("t1, ,ada,1", "column \"text\": no text"),
        ("t1,x,,1", "column \"annotator_id\": no annotator"),
    ];
    for (line, expected) in cases {
        let message = error_of("a.csv", format!("{HEADER}{line}\nt2,y,ada,2\n"));
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn text_and_name_lengths_are_limited() {
    let body = "x".repeat(MAX_TEXT_BYTES + 1);
    let message = error_of("a.csv", format!("{HEADER}t1,{body},ada,1\nt2,y,ada,2\n"));
    assert!(message.contains("1048577 bytes, and a text may have 1048576"), "{message}");
    let message = error_of("a.csv", format!("{HEADER}t1,x,{},1\nt2,y,ada,2\n", "n".repeat(1025)));
    assert!(message.contains("too long for a name"), "{message}");
}

#[test]
fn harmful_control_characters_are_refused() {
    let message = error_of("a.csv", format!("{HEADER}t1,a\0b,ada,1\nt2,y,ada,2\n"));
    assert!(message.contains("column \"text\": the control character U+0000"), "{message}");
    let message = error_of("a.csv", format!("{HEADER}t1,x,a\u{7}da,1\nt2,y\u{7},ada,2\n"));
    assert!(message.contains("column \"annotator_id\": the control character U+0007"), "{message}");
    let message = error_of("a.jsonl", "{\"text\":\"a\",\"k\":\"\\u0000\"}\n{\"text\":\"b\"}\n");
    assert!(message.contains("column \"k\""), "{message}");
}

#[test]
fn times_durations_and_sources_must_be_valid() {
    let header = "text_id,text,annotator_id,label,at,took,from\n";
    let file =
        sample("a.csv", format!("{header}t1,x,a,1,noon,1,window\nt1,x,a,1,0,-1,window\nt1,x,a,1,0,1,moon\n"));
    let name = |n: &str| Some(n.to_owned());
    let roles =
        ColumnRoles { time: name("at"), duration: name("took"), source: name("from"), ..file.roles() };
    let read: Vec<_> = read_rows(&file.source, &roles).unwrap().map(|r| r.unwrap_err().to_string()).collect();
    assert!(read[0].contains("column \"at\": \"noon\" is not a time"), "{}", read[0]);
    assert!(read[1].contains("column \"took\": \"-1\" is not a number of milliseconds"), "{}", read[1]);
    assert!(read[2].contains("column \"from\": \"moon\" is no source"), "{}", read[2]);
}

#[test]
fn contradicting_rows_are_bad_and_located() {
    let content =
        "text_id,text,annotator_id,label,gender\nt1,x,ada,1,f\nt1,z,ada,1,f\nt2,y,ada,1,m\nt2,y,ada,9,f\n";
    let file = sample("a.csv", content);
    let roles = ColumnRoles { attributes: vec!["gender".into()], ..file.roles() };
    let checker = Checker::new(Some(Scale::guess(["0", "1"]).unwrap()));
    let scan = scan(&file.source, &roles, checker).unwrap();
    let message: Vec<String> = scan.problems.iter().map(ToString::to_string).collect();
    assert_eq!(message.len(), 3);
    assert!(
        message[0].contains("row 2 (line 3), column \"text\": the text \"t1\" already has another"),
        "{}",
        message[0]
    );
    assert!(
        message[1].contains("row 3 (line 4), column \"gender\": annotator \"ada\" has \"f\" here"),
        "{}",
        message[1]
    );
    assert!(message[1].contains("now \"m\""), "{}", message[1]);
    assert!(
        message[2].contains("column \"label\": \"9\" is not on the scale: its levels are 0, 1"),
        "{}",
        message[2]
    );
    assert_eq!(scan.labels, 1);
}

#[test]
fn bad_rows_are_counted_and_the_first_hundred_stored() {
    let content = format!("{HEADER}{}t2,y,ada,2\n", "t1,x,,1\n".repeat(250));
    let file = sample("a.csv", content);
    let scan = scan(&file.source, &file.roles(), Checker::new(None)).unwrap();
    assert_eq!((scan.rows, scan.problem_count, scan.problems.len(), scan.labels), (251, 250, 100, 1));
}

#[test]
fn too_many_levels_are_refused() {
    let rows: String = (0..150).map(|n| format!("t{n},x{n},ada,level {n}\n")).collect();
    let file = sample("a.csv", format!("{HEADER}{rows}"));
    let scan = scan(&file.source, &file.roles(), Checker::new(None)).unwrap();
    assert!(
        scan.questions[0].scale.clone().unwrap_err().to_string().contains("is this column really a label?")
    );
}

#[test]
fn scan_reports_progress_and_can_be_cancelled() {
    let file = sample("a.csv", format!("{HEADER}{}", "t1,x,ada,1\n".repeat(1000)));
    let mut received = Vec::new();
    let stopped = scan_while(&file.source, &file.roles(), Checker::new(None), |bytes| {
        received.push(bytes);
        if received.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(stopped, Err(ExchangeError::Cancelled { .. })));
    let row = "t1,x,ada,1\n".len() as u64;
    assert_eq!(received, [HEADER.len() as u64 + 256 * row, HEADER.len() as u64 + 512 * row]);
}

#[test]
fn rejected_rows_are_written_verbatim_with_reasons() {
    let content = b"\xEF\xBB\xBFtext_id,text,annotator_id,label\nt1,\"a \"\"quoted\"\"\nline\",,1\nt2,b\xFFd,ada,1\r\nt3,ok,ada,1\n";
    let file = sample("a.csv", content);
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("rejects.csv");
    let mut rejects = RejectWriter::create(&path).unwrap();
    let mut rows = read_rows(&file.source, &guess_roles(&file.source).unwrap()).unwrap();
    while let Some(read) = rows.next() {
        if let Err(error) = read {
            rejects.write(&error, rows.raw()).unwrap();
        }
    }
    assert!(!path.exists(), "nothing may be seen before the end");
    rejects.finish().unwrap();
    let mut reader = csv::Reader::from_path(&path).unwrap();
    assert_eq!(reader.headers().unwrap(), vec!["row", "line", "column", "reason", "record"]);
    let rows: Vec<csv::ByteRecord> = reader.byte_records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!((&rows[0][0], &rows[0][1], &rows[0][2]), (&b"1"[..], &b"2"[..], &b"annotator_id"[..]));
    assert_eq!(&rows[0][3], b"no annotator: every row needs one");
    assert_eq!(&rows[0][4], b"t1,\"a \"\"quoted\"\"\nline\",,1");
    assert_eq!((&rows[1][1], &rows[1][4]), (&b"4"[..], &b"t2,b\xFFd,ada,1"[..]));
}
