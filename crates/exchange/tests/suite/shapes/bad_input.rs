//! Tables that are not what they look like: each problem is reported with its row and column, and nothing is
//! dropped silently.

use super::{file, read, recognised};
use dissensus_exchange::{RankedReading, RowErrorKind, Scan, Source};
use std::fmt::Write as _;
use std::path::Path;

fn first(path: &Path) -> (Source, RankedReading, Scan) {
    let (source, found) = recognised(path);
    let ranked = found.readings[0].clone();
    let scan = read(&source, &ranked);
    (source, ranked, scan)
}

#[test]
fn invalid_option_mark_is_a_bad_row() {
    let folder = tempfile::tempdir().unwrap();
    let mut content = "id,text,rater,joy,anger,fear,neutral\n".to_owned();
    for t in 0..12 {
        for p in 0..2 {
            let mark = |q: usize| {
                if t == 3 && p == 1 && q == 1 { 2 } else { usize::from((t + p + q).is_multiple_of(3)) }
            };
            writeln!(content, "t{t},Text number {t},r{p},{},{},{},{}", mark(0), mark(1), mark(2), mark(3))
                .unwrap();
        }
    }
    let (_, ranked, scan) = first(&file(&folder, "a.csv", &content));
    assert_eq!(
        ranked.reading.answers.iter().filter(|answer| answer.option.is_some()).count(),
        4,
        "{ranked:?}"
    );
    assert_eq!((scan.problem_count, scan.labels), (1, 23), "{:?}", scan.problems);
    let bad = &scan.problems[0];
    assert_eq!((bad.row, bad.column.as_deref()), (8, Some("anger")));
    assert!(matches!(bad.kind, RowErrorKind::NoMarkOfOption { .. }), "{bad}");
}

#[test]
fn unequal_and_invalid_lists_are_bad_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = String::new();
    for t in 0..12 {
        let labels = match t {
            4 => "[1, 0]".to_owned(),
            7 => "1".to_owned(),
            _ => format!("[{}, {}, {}]", t % 2, (t / 2) % 2, 1),
        };
        writeln!(lines, "{{\"id\": {t}, \"text\": \"text {t}\", \"annotators\": [\"a\", \"b\", \"c\"], \"labels\": {labels}}}").unwrap();
    }
    let (_, ranked, scan) = first(&file(&folder, "a.jsonl", &lines));
    assert_eq!(ranked.reading.lists, ["annotators", "labels"]);
    assert_eq!((scan.problem_count, scan.labels, scan.rows), (2, 30, 12), "{:?}", scan.problems);
    let kinds: Vec<(u64, Option<&str>)> =
        scan.problems.iter().map(|bad| (bad.row, bad.column.as_deref())).collect();
    assert_eq!(kinds, [(5, Some("labels")), (8, Some("labels"))]);
    assert!(matches!(scan.problems[0].kind, RowErrorKind::UnequalLists { length: 2, other_length: 3, .. }));
    assert!(matches!(scan.problems[1].kind, RowErrorKind::NoList { .. }));
}

#[test]
fn repeated_headers_and_totals_are_bad_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut content = "id,text,worker,label\n".to_owned();
    for t in 0..6 {
        if t == 3 {
            content.push_str("id,text,worker,label\n");
        }
        writeln!(content, "{t},Text number {t},a,{}\n{t},Text number {t},b,{}", t % 3, (t + 1) % 3).unwrap();
    }
    content.push_str("Total,,,12\n");
    let (_, _, scan) = first(&file(&folder, "a.csv", &content));
    assert_eq!((scan.problem_count, scan.labels, scan.rows), (2, 12, 14), "{:?}", scan.problems);
    assert!(matches!(scan.problems[0].kind, RowErrorKind::HeaderAgain));
    assert_eq!((scan.problems[0].row, scan.problems[1].row), (7, 14));
    let account = &scan.account;
    assert_eq!((account.read, account.dropped, account.reasons.len()), (12, 2, 2), "{account:?}");
}

#[test]
fn wide_table_excludes_summary_columns() {
    let folder = tempfile::tempdir().unwrap();
    let mut content = "id,text,topic,rater_1,rater_2,rater_3,majority,n_votes,mean,words\n".to_owned();
    for t in 0..12 {
        let labels = [t % 3, (t + 1) % 3, t % 2];
        writeln!(
            content,
            "t{t},Text number {t},{},{},{},{},{},3,{:.2},{}",
            ["sport", "news"][t % 2],
            labels[0],
            labels[1],
            labels[2],
            labels[0],
            labels.iter().sum::<usize>() as f64 / 3.0,
            t * 7
        )
        .unwrap();
    }
    let (_, ranked, scan) = first(&file(&folder, "a.csv", &content));
    let columns: Vec<&str> = ranked.reading.answers.iter().map(|answer| answer.column.as_str()).collect();
    assert_eq!(columns, ["rater_1", "rater_2", "rater_3"]);
    assert_eq!((scan.labels, scan.annotators, scan.problem_count), (36, 3, 0));
}

#[test]
fn ids_equal_as_numbers_are_suggested() {
    let folder = tempfile::tempdir().unwrap();
    let texts = Source::open(file(&folder, "texts.csv", "id,text\n7,seven words here\n8,eight words here\n"))
        .unwrap();
    let path = file(&folder, "labels.csv", "id,worker,label\n7.0,a,1\n007,b,0\n8,a,1\n8,b,0\n");
    let (labels, found) = recognised(&path);
    let mut reading = found.readings[0].reading.clone();
    reading.roles.text = Some("text".to_owned());
    reading.join =
        Some(dissensus_exchange::Join { path: texts.path().to_owned(), on: "id".to_owned(), other: None });
    let made = labels.with_reading(&reading, Some(&texts)).unwrap();
    let roles = made.roles().cloned().unwrap();
    let scan = dissensus_exchange::scan(&made, &roles, dissensus_exchange::Checker::new(None)).unwrap();
    assert_eq!((scan.problem_count, scan.labels), (2, 2));
    for bad in &scan.problems {
        assert!(bad.to_string().contains("there is a text \"7\""), "{bad}");
        assert!(bad.place.as_deref() == Some("labels.csv"), "{bad:?}");
    }
}

#[test]
fn contradictory_reading_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "a.csv", "id,text,rater_1,rater_2\n1,one word,0,1\n2,two words,1,0\n");
    let (source, found) = recognised(&path);
    let good = found.readings[0].reading.clone();
    let says = |change: &dyn Fn(&mut dissensus_exchange::TableReading)| {
        let mut reading = good.clone();
        change(&mut reading);
        source.with_reading(&reading, None).map(drop).unwrap_err().to_string()
    };
    assert!(
        says(&|r| r.roles.label = Some("rater_1".to_owned())).contains("a column with the label and several")
    );
    assert!(says(&|r| r.answers[1].column = "rater_1".to_owned()).contains("named twice"));
    assert!(says(&|r| r.answers[0].column = "nobody".to_owned()).contains("nobody"));
    assert!(
        says(&|r| r.answers[0].question = Some("q".to_owned()))
            .contains("name a question, and others do not")
    );
    assert!(says(&|r| r.answers[0].annotator = None).contains("leave that to the annotator"));
    assert!(says(&|r| r.values.time_format = Some("soon".to_owned())).contains("soon"));
}
