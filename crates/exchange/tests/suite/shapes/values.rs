//! What values mean: ordered words, commas, times, missing values, spellings, attributes, ids.

use super::{best, file, levels, read, recognised};
use dissensus_domain::ScaleKind;
use dissensus_exchange::{AttributeConflicts, ColumnRoles, Join, Source, TableReading};
use std::fmt::Write as _;

fn table(labels: &[&str]) -> String {
    let mut table = "text_id,text,annotator_id,label\n".to_owned();
    for (nth, label) in labels.iter().enumerate() {
        writeln!(table, "t{},Text number {},{},{label}", nth / 2, nth / 2, ["a", "b"][nth % 2]).unwrap();
    }
    table
}

#[test]
fn words_of_a_scale_are_ordered() {
    let folder = tempfile::tempdir().unwrap();
    for ordered in [
        &["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"][..],
        &["never", "rarely", "sometimes", "often", "always"],
        &["1 - not at all", "2", "3", "4", "5 - very"],
        &["Stimme überhaupt nicht zu", "Stimme eher nicht zu", "Stimme eher zu", "Stimme voll und ganz zu"],
        &["Pas du tout d'accord", "Pas d'accord", "D'accord", "Tout à fait d'accord"],
        &["nunca", "a veces", "siempre"],
        &["0", "0.33", "0.66", "1"],
    ] {
        let shuffled: Vec<&str> = ordered.iter().rev().chain(ordered).copied().collect();
        let path = file(&folder, "a.csv", &table(&shuffled));
        let (_, found, scan) = best(&path);
        assert!(found.is_decided());
        let expected: Vec<String> = ordered.iter().map(|level| (*level).to_owned()).collect();
        assert_eq!(levels(&scan), (expected, ScaleKind::Ordinal), "{ordered:?}");
    }
    let path = file(&folder, "b.csv", &table(&["red", "green", "blue", "red"]));
    assert_eq!(levels(&best(&path).2).1, ScaleKind::Choice);
}

#[test]
fn decimal_commas_are_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let content = "\u{feff}id;text;annotator;label\n1;\"Hallo; du\";anna;3,0\n1;\"Hallo; du\";bert;1,0\n2;Tag;anna;2,0\n2;Tag;bert;3,0\n";
    let (_, found, scan) = best(&file(&folder, "a.csv", content));
    assert!(found.readings[0].reading.values.decimal_comma);
    assert_eq!(levels(&scan), (["1", "2", "3"].map(str::to_owned).to_vec(), ScaleKind::Ordinal));
}

#[test]
fn times_are_read_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    /// The name of a column, its times, the formats that may parse them, and whether the format is
    /// unambiguous.
    type Case<'a> = (&'a str, &'a [&'a str], &'a [Option<&'a str>], bool);
    let cases: [Case<'_>; 6] = [
        ("created_at", &["12/31/2024 10:00", "1/2/2025 3:05 PM"], &[Some("month-first")], true),
        ("Zeitpunkt", &["31.12.2024 10:00", "02.01.2025 15:05"], &[Some("day-first")], true),
        ("date", &["45657.5", "45658.25"], &[Some("excel")], true),
        ("timestamp", &["1735639200", "1735830300"], &[None, Some("unix")], true),
        ("timestamp", &["1735639200000", "1735830300000"], &[None, Some("unix-ms")], true),
        ("date", &["01/02/2024", "03/04/2024"], &[Some("month-first")], false),
    ];
    for (name, times, formats, decided) in cases {
        let content = format!(
            "text_id,text,annotator_id,label,{name}\n1,a b,x,1,{}\n2,c d,x,2,{}\n",
            times[0], times[1]
        );
        let path = file(&folder, "a.csv", &content);
        let (source, found, scan) = best(&path);
        assert_eq!(found.is_decided(), decided, "{content}");
        let reading = &found.readings[0].reading;
        assert!(formats.contains(&reading.values.time_format.as_deref()), "{content} {reading:?}");
        assert_eq!(reading.roles.time.as_deref(), Some(name));
        assert_eq!(scan.problem_count, 0);
        let made = source.with_reading(reading, None).unwrap();
        let roles = made.roles().cloned().unwrap_or_else(|| reading.roles.clone());
        let first = dissensus_exchange::read_rows(&made, &roles).unwrap().next().unwrap().unwrap();
        // All but the last are of the last hours of 2024.
        let year_end = 1_735_603_200_000..1_735_776_000_000;
        assert!(!decided || year_end.contains(&first.at_ms.unwrap()), "{content} {:?}", first.at_ms);
    }
}

#[test]
fn missing_values_and_spellings_are_folded_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let path =
        file(&folder, "a.csv", &table(&["yes", "Yes ", "NO", "TRUE", "False", "0", "1", "NA", "-1", "no"]));
    let (source, found) = recognised(&path);
    let mut ranked = found.readings[0].clone();
    ranked.reading.values.missing = vec!["NA".to_owned(), "-1".to_owned()];
    ranked.reading.values.fold_case = true;
    let scan = read(&source, &ranked);
    assert_eq!(levels(&scan), (vec!["no".to_owned(), "yes".to_owned()], ScaleKind::Binary));
    assert_eq!((scan.labels, scan.empty_labels, scan.account.without_label), (8, 2, 2));
}

#[test]
fn differing_attributes_are_resolved_by_a_rule() {
    let folder = tempfile::tempdir().unwrap();
    let mut content = "text_id,text,annotator_id,gender,age,label\n".to_owned();
    for t in 0..6 {
        writeln!(content, "t{t},Text number {t},a,{},{},{}", ["Woman", "woman"][t % 2], 30 + t / 5, t % 3)
            .unwrap();
        writeln!(content, "t{t},Text number {t},b,Man,40,{}", (t + 1) % 3).unwrap();
    }
    let path = file(&folder, "a.csv", &content);
    let (source, found, scan) = best(&path);
    assert_eq!(found.readings[0].reading.roles.attributes, ["gender", "age"]);
    assert!(scan.conflicts > 0 && scan.problem_count == scan.conflicts, "{scan:?}");
    for rule in [
        AttributeConflicts::First,
        AttributeConflicts::Last,
        AttributeConflicts::MostFrequent,
        AttributeConflicts::Unknown,
    ] {
        let mut ranked = found.readings[0].clone();
        ranked.reading.values.attribute_conflicts = rule;
        let scan = read(&source, &ranked);
        assert_eq!((scan.problem_count, scan.labels, scan.settled_conflicts), (0, 12, 2), "{rule:?}");
    }
}

#[test]
fn repeated_id_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let mut content = "batch,sent_id,sentence,worker,label\n".to_owned();
    for batch in 0..4 {
        for sentence in 0..5 {
            for worker in 0..2 {
                writeln!(
                    content,
                    "b{batch},{sentence},Sentence {sentence} of batch {batch},w{worker},{}",
                    (batch + sentence + worker) % 3
                )
                .unwrap();
            }
        }
    }
    let (source, found) = recognised(&file(&folder, "a.csv", &content));
    assert!(!found.is_decided());
    let ids: Vec<Option<&str>> = found.readings.iter().map(|r| r.reading.roles.text_id.as_deref()).collect();
    assert!(ids.contains(&Some("batch+sent_id")) && ids.contains(&None), "{ids:?}");
    for ranked in &found.readings {
        let scan = read(&source, ranked);
        assert_eq!((scan.labels, scan.texts, scan.problem_count), (40, 20, 0), "{}", ranked.title);
        assert!(ranked.reasons.iter().any(|reason| reason.contains("names several texts")));
    }
}

#[test]
fn two_files_are_joined_by_an_id() {
    let folder = tempfile::tempdir().unwrap();
    let comments = "rev_id\tcomment\tyear\tns\n37675\tThis is a comment\t2002\tarticle\n44816\tanother one\t2003\tuser\n9\tnobody rated me\t2004\tuser\n";
    let answers = "rev_id\tworker_id\ttoxicity\ttoxicity_score\n37675\t1362\t0\t0.0\n37675\t2408\t1\t-1.0\n44816\t1362\t0\t1.0\n44816\t2408\t0\t0.0\n";
    let texts = Source::open(file(&folder, "comments.tsv", comments)).unwrap();
    let labels = Source::open(file(&folder, "annotations.tsv", answers)).unwrap();
    assert_eq!(
        dissensus_exchange::find_join(&labels, &texts).unwrap(),
        Some(("rev_id".to_owned(), "rev_id".to_owned()))
    );
    let (_, found) = recognised(&folder.path().join("annotations.tsv"));
    assert!(found.is_decided());
    let mut ranked = found.readings[0].clone();
    assert_eq!(ranked.reading.roles.text_id.as_deref(), Some("rev_id"));
    ranked.reading.roles.text = Some("comment".to_owned());
    for (main, other) in [(&labels, &texts), (&texts, &labels)] {
        let join = Join { path: other.path().to_owned(), on: "rev_id".to_owned(), other: None };
        let reading = TableReading { join: Some(join), ..ranked.reading.clone() };
        let made = main.with_reading(&reading, Some(other)).unwrap();
        let roles = made.roles().cloned().unwrap();
        let scan = dissensus_exchange::scan(&made, &roles, dissensus_exchange::Checker::new(None)).unwrap();
        assert_eq!(
            (scan.texts, scan.labels, scan.annotators, scan.rows, scan.problem_count),
            (3, 4, 2, 7, 0),
            "{:?}",
            scan.problems
        );
    }
}

#[test]
fn joined_columns_are_renamed_on_conflict() {
    let folder = tempfile::tempdir().unwrap();
    let texts =
        Source::open(file(&folder, "t.csv", "id,text,label,age\n1,a b c,gold,old\n2,d e f,silver,new\n"))
            .unwrap();
    let labels =
        Source::open(file(&folder, "l.csv", "id,worker,label,age\n1,x,0,30\n1,y,1,40\n2,x,1,30\n")).unwrap();
    let roles = ColumnRoles {
        text_id: Some("id".to_owned()),
        text: Some("text".to_owned()),
        annotator: Some("worker".to_owned()),
        label: Some("label".to_owned()),
        attributes: vec!["age".to_owned()],
        ..ColumnRoles::default()
    };
    let join = Join { path: texts.path().to_owned(), on: "id".to_owned(), other: None };
    let reading = TableReading { join: Some(join), ..TableReading::from_roles(roles) };
    let made = labels.with_reading(&reading, Some(&texts)).unwrap();
    assert!(
        ["label of the text", "age of the text"].iter().all(|name| made.columns().iter().any(|c| c == name))
    );
    let roles = made.roles().cloned().unwrap();
    let rows: Vec<dissensus_exchange::Row> =
        dissensus_exchange::read_rows(&made, &roles).unwrap().map(Result::unwrap).collect();
    let of_text: Vec<&str> = rows[0].metadata.values().map(String::as_str).collect();
    assert_eq!((of_text, rows[0].label.as_deref()), (vec!["old", "gold"], None));
    assert!(rows[2].metadata.is_empty() && rows[2].label.as_deref() == Some("0"));
}

#[test]
fn generated_field_avoids_column_names() {
    let folder = tempfile::tempdir().unwrap();
    let lines = |first: bool| -> String {
        let line = |t: usize| {
            let list =
                format!(r#""a":[{{"annotator":"x","label":{}}},{{"annotator":"y","label":1}}]"#, t % 2);
            let columns = r#""a.annotator":"boss","a.label":"all""#;
            let (one, other) = if first { (list.as_str(), columns) } else { (columns, list.as_str()) };
            format!("{{\"id\":{t},\"text\":\"This is text {t}\",{one},{other}}}\n")
        };
        (0..12).map(line).collect()
    };
    for first in [true, false] {
        let (_, found, scan) = best(&file(&folder, "a.jsonl", &lines(first)));
        assert!(found.is_decided(), "{found:#?}");
        assert_eq!(
            (levels(&scan).0, scan.annotator_ids.1, scan.labels),
            (vec!["0".to_owned(), "1".to_owned()], vec!["x".to_owned(), "y".to_owned()], 24)
        );
    }
}

#[test]
fn values_of_the_project_stay_and_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let content = "text_id,text,annotator_id,label,age\n1,a b,x,1,30\n2,c d,x,2,31\n1,a b,y,1,50\n";
    let (source, found, _) = best(&file(&folder, "a.csv", content));
    let mut reading = found.readings[0].reading.clone();
    reading.values.attribute_conflicts = AttributeConflicts::Last;
    reading.roles.attributes = vec!["age".to_owned()];
    let made = source.with_reading(&reading, None).unwrap();
    let mut checker = dissensus_exchange::Checker::new(None);
    checker.seed_annotator("x", &[("age".to_owned(), "29".to_owned())].into());
    let scan = dissensus_exchange::scan(&made, made.roles().unwrap(), checker).unwrap();
    assert_eq!((scan.settled_conflicts, scan.kept_attributes, scan.problem_count), (1, 1, 0));
}

#[test]
fn free_text_column_is_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let mut content = "id,text,worker,toxic,rationale\n".to_owned();
    for t in 0..30 {
        for p in 0..3 {
            let words =
                ["because of the tone", "I know such people", "it depends on who is speaking"][(t + p) % 3];
            content.push_str(&format!(
                "{t},This is text {t},w{},{},{words} {t}{p}\n",
                (t + p) % 5,
                (t * p) % 2
            ));
        }
    }
    let (_, found, scan) = best(&file(&folder, "a.csv", &content));
    assert_eq!(found.readings[0].reading.roles.note.as_deref(), Some("rationale"));
    assert_eq!((scan.labels, scan.other_metadata, scan.problem_count), (90, 0, 0));
}
