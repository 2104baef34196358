//! Table shapes of individual data sets and programs.

use super::{best, counts, file, levels, read, recognised};
use dissensus_domain::ScaleKind;
use serde_json::{Value, json};
use std::fmt::Write as _;

fn body(text: usize) -> String {
    format!("This is comment number {text}")
}

/// A level from 0 to `levels` that looks random and differs within texts and annotators.
fn level(text: usize, person: usize, levels: usize) -> usize {
    (text * 7 + person * 5 + text * person + text / 3) % levels
}

/// The annotators of a text: three of seven.
fn people(text: usize) -> [usize; 3] {
    [0, 1, 2].map(|nth| (text + nth * 2) % 7)
}

fn lines(rows: impl Iterator<Item = Value>) -> String {
    rows.map(|row| format!("{row}\n")).collect()
}

/// A record with objects of several answers, and attributes that are constant for an annotator.
fn record(text: usize) -> Value {
    let targets: [&[&str]; 3] = [&["Women"], &["Men", "Women"], &[]];
    let answer = |person: usize| {
        json!({
            "worker_id": format!("w{person}"), "gender": (["Woman", "Man"][person % 2]), "is_parent": (person.is_multiple_of(3)),
            "toxic_score": level(text, person, 5), "is_threat": level(text, person, 2) == 1,
            "targets": (targets[level(text, person, 3)]),
        })
    };
    json!({"comment": body(text), "comment_id": text, "source": "forum", "ratings": people(text).map(answer)})
}

#[test]
fn objects_with_several_answers_are_several_questions() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "a.jsonl", &lines((0..30).map(record)));
    let (source, found) = recognised(&path);
    assert!(found.is_decided(), "{found:#?}");
    let scan = read(&source, &found.readings[0]);
    let names: Vec<&str> = scan.questions.iter().filter_map(|question| question.name.as_deref()).collect();
    assert_eq!(
        (names, scan.problem_count),
        (vec!["is_threat", "targets", "toxic_score"], 0),
        "{:?}",
        scan.problems
    );
    // An annotator who marked no option has answered all the same.
    assert_eq!((scan.labels, scan.texts, scan.annotators), (270, 30, 7));
    let roles = &found.readings[0].reading.roles;
    assert_eq!(roles.attributes, ["ratings.gender", "ratings.is_parent"]);
}

#[test]
fn json_layouts_are_read_as_tables() {
    let folder = tempfile::tempdir().unwrap();
    let row = |n: usize| json!({"id": n / 3, "text": body(n / 3), "annotator": format!("w{}", n % 3), "label": level(n / 3, n % 3, 3)});
    let rows: Vec<Value> = (0..60).map(row).collect();
    let column = |name: &str| -> serde_json::Map<String, Value> {
        rows.iter().enumerate().map(|(nth, row)| (nth.to_string(), row[name].clone())).collect()
    };
    let names = ["id", "text", "annotator", "label"];
    let columns: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), Value::Object(column(name)))).collect();
    let data: Vec<Vec<&Value>> =
        rows.iter().map(|row| names.iter().map(|name| &row[*name]).collect()).collect();
    let corpora: Vec<Value> =
        rows.chunks(30).enumerate().map(|(n, rows)| json!({"corpus": n, "posts": rows})).collect();
    let layouts = [
        json!(rows),
        json!({"version": "1.0", "data": rows}),
        json!({"train": rows[..30], "test": rows[30..]}),
        Value::Object(columns),
        json!({"columns": names, "index": (0..60).collect::<Vec<_>>(), "data": data}),
        json!(corpora),
    ];
    for (nth, layout) in layouts.iter().enumerate() {
        for (printed, name) in
            [(layout.to_string(), "a"), (format!("{layout:#}\n"), "b"), (format!("{layout}\n"), "c")]
        {
            let path = file(&folder, &format!("{nth}{name}.json"), &printed);
            assert_eq!(counts(&path), (60, 20, 3, 1), "{layout}");
        }
    }
    let long = json!({"columns": ["id", "text"], "data": [[1, "a b c"], [2, "d e f", "g"]]});
    let message = dissensus_exchange::Source::open(file(&folder, "long.json", &long.to_string()))
        .unwrap_err()
        .to_string();
    assert!(message.contains("row 2 has more values than there are columns"), "{message}");
    // The last of many columns has other rows.
    let mut wide: serde_json::Map<String, Value> =
        (0..25).map(|n| (format!("c{n:02}"), json!({"0": n, "1": n}))).collect();
    wide.insert("d".to_owned(), json!({"0": 1, "2": 1}));
    let path = file(&folder, "other.json", &Value::Object(wide).to_string());
    let message = dissensus_exchange::Source::open(path).unwrap_err().to_string();
    assert!(message.contains("row 2: column \"d\" has other rows"), "{message}");
}

#[test]
fn text_may_be_a_list_of_words() {
    let folder = tempfile::tempdir().unwrap();
    let record = |text: usize| {
        let answers = people(text).map(
            |p| json!({"annotator_id": p, "label": (["normal", "offensive", "hate"][level(text, p, 3)])}),
        );
        json!({"post_id": format!("p{text}"), "annotators": answers, "post_tokens": body(text).split(' ').collect::<Vec<_>>()})
    };
    let by_id: serde_json::Map<String, Value> =
        (0..20).map(|text| (format!("p{text}"), record(text))).collect();
    let path = file(&folder, "a.json", &Value::Object(by_id).to_string());
    assert_eq!(counts(&path), (60, 20, 7, 1));
    let (_, found, scan) = best(&path);
    assert_eq!(found.readings[0].reading.roles.text.as_deref(), Some("post_tokens"));
    assert!(
        scan.examples.iter().any(|example| example.text.starts_with("This is comment number ")),
        "{:?}",
        scan.examples
    );
}

#[test]
fn lists_of_unnamed_people_are_ambiguous() {
    let folder = tempfile::tempdir().unwrap();
    let rows =
        (0..20).map(|t| json!({"id": t, "text": body(t), "ratings": ([0, 1, 2].map(|p| level(t, p, 4)))}));
    let objects = (0..20).map(|t| json!({"id": t, "text": body(t), "expert_annotations": ([0, 1, 2].map(|p| json!({"coherence": level(t, p, 5), "fluency": level(t, p + 1, 5)})))}));
    let mut separated = "id,text,annotations,label\n".to_owned();
    for t in 0..20 {
        writeln!(separated, "{t},{},\"{},{},{}\",1", body(t), level(t, 0, 2), level(t, 1, 2), level(t, 2, 2))
            .unwrap();
    }
    for (name, table, labels) in
        [("a.jsonl", lines(rows), 60), ("b.jsonl", lines(objects), 120), ("c.csv", separated, 60)]
    {
        let (source, found, scan) = best(&file(&folder, name, &table));
        assert!(!found.is_decided(), "{name}: {found:#?}");
        assert_eq!((scan.labels, scan.annotators, scan.problem_count), (labels, 3, 0), "{name}");
        let texts = found.readings.iter().find(|ranked| ranked.title == "Texts").unwrap();
        assert_eq!((read(&source, texts).labels, read(&source, texts).texts), (0, 20), "{name}");
    }
}

#[test]
fn surveys_with_a_row_for_each_person_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let column = |style: usize, t: usize| match style {
        0 => format!("You people never read article {t}"),
        1 => format!("\"{}. How rude is this, really? [You never read article {t}]\"", t + 1),
        _ => format!("How rude is this comment? - You never read article {t}"),
    };
    for style in 0..3 {
        for who in ["participant", "Respondent ID", "ID", "Kodierer", "Email Address"] {
            let names: Vec<String> = (0..8).map(|t| column(style, t)).collect();
            let mut table = format!("Timestamp,{who},What is your age?,gender,{}\n", names.join(","));
            for p in 0..12 {
                let cells: Vec<String> = (0..8)
                    .map(|t| if (t + p) % 6 == 0 { String::new() } else { (level(t, p, 5) + 1).to_string() })
                    .collect();
                let hour = p % 2 + 10;
                writeln!(
                    table,
                    "2024-03-{:02} {hour}:00:00,p{p},{},{},{}",
                    p + 1,
                    20 + p,
                    ["f", "m"][p % 2],
                    cells.join(",")
                )
                .unwrap();
            }
            let path = file(&folder, "a.csv", &table);
            assert_eq!(counts(&path), (80, 8, 12, 1), "{table}");
            let (_, found, scan) = best(&path);
            let roles = &found.readings[0].reading.roles;
            assert_eq!(roles.attributes, ["What is your age?", "gender"], "{table}");
            assert_eq!(roles.time.as_deref(), Some("Timestamp"));
            let text = scan.examples[0].text.as_str();
            assert!(text.starts_with("You") && !text.contains(['[', ']']), "{text}");
        }
    }
    // Two questions about each text.
    let names: Vec<String> =
        (0..5).flat_map(|t| ["How rude?", "How funny?"].map(|q| format!("{q} [Text number {t}]"))).collect();
    let mut table = format!("participant,{}\n", names.join(","));
    for p in 0..10 {
        let cells: Vec<String> = (0..10).map(|c| level(c, p, 5).to_string()).collect();
        writeln!(table, "p{p},{}", cells.join(",")).unwrap();
    }
    assert_eq!(counts(&file(&folder, "b.csv", &table)), (100, 5, 10, 2), "{table}");
}

#[test]
fn several_options_in_a_cell_are_sets() {
    let folder = tempfile::tempdir().unwrap();
    for separator in [",", ";", "|", ", "] {
        let sets =
            ["harm", "care{}harm", "subversion{}cheating", "cheating{}care", "non-moral", "harm{}subversion"];
        let sets = sets.map(|set| set.replace("{}", separator));
        let mut table = "id,text,annotator,annotation\n".to_owned();
        for t in 0..20 {
            for p in people(t) {
                writeln!(table, "{t},{},w{p},\"{}\"", body(t), sets[level(t, p, 6)]).unwrap();
            }
        }
        let path = file(&folder, "a.csv", &table);
        assert_eq!(counts(&path), (60, 20, 7, 1), "{separator}");
        let (found, kind) = levels(&best(&path).2);
        assert_eq!(found, ["care", "cheating", "harm", "non-moral", "subversion"]);
        assert_eq!(kind, ScaleKind::MultiLabel);
    }
    // Levels with a comma in them are one answer each.
    for words in [
        ["Yes, clearly", "No, never", "Unsure", "No, hardly"],
        ["agree, fully", "agree, partly", "disagree", "neither, nor"],
    ] {
        let mut table = "id,text,annotator,label\n".to_owned();
        for t in 0..20 {
            for p in people(t) {
                writeln!(table, "{t},{},w{p},\"{}\"", body(t), words[level(t, p, 4)]).unwrap();
            }
        }
        let (_, found, scan) = best(&file(&folder, "b.csv", &table));
        assert!(found.is_decided(), "{found:#?}");
        assert_ne!(levels(&scan).1, ScaleKind::MultiLabel);
    }
}

#[test]
fn summary_columns_are_not_options() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "comment_id,text,annotator_id,respect,target_race_asian,target_race_black,target_race_other,target_race,\
        target_gender_men,target_gender_women,target_gender_transgender_men,target_gender_transgender_women,target_gender\n"
        .to_owned();
    for t in 0..30 {
        for p in people(t) {
            let marks: Vec<bool> = (0..7).map(|o| level(t + o, p, 4) == 0).collect();
            let shown = |marks: &[bool]| {
                marks.iter().map(|m| ["False", "True"][usize::from(*m)]).collect::<Vec<_>>().join(",")
            };
            let any = |marks: &[bool]| marks.iter().any(|mark| *mark);
            writeln!(
                table,
                "{t},{},w{p},{},{},{},{},{}",
                body(t),
                level(t, p, 5),
                shown(&marks[..3]),
                shown(&[any(&marks[..3])]),
                shown(&marks[3..]),
                shown(&[any(&marks[3..])])
            )
            .unwrap();
        }
    }
    let path = file(&folder, "a.csv", &table);
    assert_eq!(counts(&path), (270, 30, 7, 3));
    let (_, found, _) = best(&path);
    let of = |name: &str| {
        let answers = found.readings[0].reading.answers.iter();
        answers
            .filter(|answer| answer.question.as_deref() == Some(name))
            .filter_map(|answer| answer.option.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("target_race"), ["asian", "black", "other"]);
    assert_eq!(of("target_gender"), ["men", "women", "transgender_men", "transgender_women"]);
}

#[test]
fn crowd_reports_identify_texts_by_unit() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "_unit_id,_created_at,_golden,_id,_missed,_started_at,_tainted,_channel,_trust,_worker_id,_country,is_it_sexist,\
        is_it_sexist:confidence,tweet_text\n"
        .to_owned();
    for t in 0..20 {
        for (nth, p) in people(t).into_iter().enumerate() {
            let row = t * 3 + nth;
            let (golden, channel, country) =
                (t % 2 == 0, ["neodev", "clix"][p % 2], ["GBR", "VEN", "USA"][p % 3]);
            let (answer, trust) = (["yes", "no"][level(t, p, 2)], 0.5 + p as f64 / 20.0);
            let sure = 0.5 + level(t, p, 3) as f64 / 8.0;
            writeln!(
                table,
                "{},5/16/2016 08:{:02}:45,{golden},{},false,5/1/2016 08:{:02}:02,false,{channel},{trust},{},{country},{answer},{sure},{}",
                7000 + t,
                row % 60,
                19000 + row,
                row % 60,
                420 + p,
                body(t)
            )
            .unwrap();
        }
    }
    let path = file(&folder, "a.csv", &table);
    assert_eq!(counts(&path), (60, 20, 7, 1), "{table}");
    let (_, found, _) = best(&path);
    let roles = &found.readings[0].reading.roles;
    assert_eq!((roles.text_id.as_deref(), roles.label.as_deref()), (Some("_unit_id"), Some("is_it_sexist")));
}

#[test]
fn unnumbered_annotator_column_is_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "TweetID,Text,Expert,Amateur_0,Amateur_1,Amateur_2\n".to_owned();
    for t in 0..20 {
        let words = [0, 1, 2, 3].map(|p| ["racism", "sexism", "neither", "both"][level(t, p, 4)]);
        writeln!(table, "{t},{},{}", body(t), words.join(",")).unwrap();
    }
    assert_eq!(counts(&file(&folder, "a.csv", &table)), (80, 20, 4, 1));
    // The texts are in another file.
    let ids: String =
        table.lines().map(|line| line.replacen(",Text", "", 1)).map(|line| format!("{line}\n")).collect();
    let ids: String = (0..20).fold(ids, |ids, t| ids.replace(&format!("{t},{}", body(t)), &t.to_string()));
    let (_, found) = recognised(&file(&folder, "b.csv", &ids));
    let answers = &found.readings[0].reading.answers;
    assert!(
        answers.iter().all(|answer| answer.annotator.is_some()) && answers.len() == 4,
        "{ids} {found:#?}"
    );
}

#[test]
fn numbered_score_columns_are_one_scale() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "Id,Request,Score1,Score2,Score3,TurkId1,TurkId2,TurkId3,Normalized Score\n".to_owned();
    for t in 0..60 {
        let who = people(t);
        let points = who.map(|p| (level(t, p, 25) + 1).to_string()).join(",");
        writeln!(
            table,
            "{t},{},{points},{},{:.3}",
            body(t),
            who.map(|p| format!("A{p}")).join(","),
            t as f64 / 7.0
        )
        .unwrap();
    }
    let (source, found) = recognised(&file(&folder, "a.csv", &table));
    let scan = read(&source, &found.readings[0]);
    assert!(found.is_decided());
    assert_eq!((scan.labels, scan.texts, scan.annotators, scan.problem_count), (180, 60, 7, 0));
}

#[test]
fn repeated_person_and_text_rows_count_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "HITId,post,WorkerId,offensiveYN,intentYN,targetMinority,targetCategory\n".to_owned();
    for t in 0..20 {
        for p in people(t) {
            let targets = [vec![("", "")], vec![("women", "gender"), ("black folks", "race")]];
            for (minority, category) in &targets[level(t, p, 2)] {
                let (offensive, intent) = (level(t, p, 3) as f64 / 2.0, level(t + 1, p, 4));
                writeln!(table, "h{t},{},w{p},{offensive},{intent},{minority},{category}", body(t)).unwrap();
            }
        }
    }
    let path = file(&folder, "a.csv", &table);
    let (source, found) = recognised(&path);
    let scan = read(&source, &found.readings[0]);
    let names: Vec<&str> = scan.questions.iter().filter_map(|question| question.name.as_deref()).collect();
    assert_eq!((names, scan.problem_count), (vec!["offensiveYN", "intentYN"], 0));
    assert_eq!((scan.labels, scan.texts, scan.annotators), (120, 20, 7));
}

#[test]
fn numbers_and_authors_are_not_guessed_as_roles() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "phrasing,content,worker,id\n".to_owned();
    let mut reviews = "review_id,user_id,stars,useful,funny,text\n".to_owned();
    for t in 0..40 {
        for p in people(t) {
            writeln!(table, "{},{},w{p},{t}", level(t, p, 5), level(t + 2, p, 4)).unwrap();
        }
        writeln!(
            reviews,
            "r{t},u{},{},{},{},{}",
            t * 17,
            level(t, 1, 5),
            level(t, 2, 3),
            level(t, 3, 4),
            body(t)
        )
        .unwrap();
    }
    let (_, found) = recognised(&file(&folder, "a.csv", &table));
    let reading = &found.readings[0].reading;
    assert_eq!((reading.roles.text.as_deref(), reading.roles.text_id.as_deref()), (None, Some("id")));
    assert_eq!(
        reading.answers.iter().map(|a| a.column.as_str()).collect::<Vec<_>>(),
        ["phrasing", "content"]
    );
    let (_, found) = recognised(&file(&folder, "b.csv", &reviews));
    assert!(!found.is_decided());
    assert!(found.readings.iter().any(|ranked| ranked.title == "Texts"), "{found:#?}");
}

/// A long table of 20 texts with three annotators each, a row from text and annotator.
fn long(header: &str, row: impl Fn(usize, usize) -> String) -> String {
    let rows = (0..20).flat_map(|t| people(t).map(|p| (t, p)));
    rows.fold(format!("{header}\n"), |table, (t, p)| format!("{table}{}\n", row(t, p)))
}

#[test]
fn names_and_levels_may_contain_spaces_and_commas() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["Anna Schmidt", "Ben Meier", "\"Smith, Ann\"", "\"Roe, Jo\"", "Ann", "Li Wu", "\"Ng, Al\""];
    let labels = ["hate speech", "not hate"];
    let table = long("id,tweet,annotator,label", |t, p| {
        format!("{t},{},{},{}", body(t), names[p], labels[level(t, p, 2)])
    });
    let path = file(&folder, "a.csv", &table);
    assert_eq!(counts(&path), (60, 20, 7, 1));
    assert_eq!(levels(&best(&path).2).0, ["not hate", "hate speech"]);
}

#[test]
fn separated_lists_are_levels_not_sets() {
    let folder = tempfile::tempdir().unwrap();
    for separator in [";", "|", ","] {
        let mut table = "id,text,annotators,labels\n".to_owned();
        for t in 0..20 {
            let join = |values: [String; 3]| values.join(separator);
            let (who, what) = (
                join(people(t).map(|p| format!("w{p}"))),
                join(people(t).map(|p| ["x", "y"][level(t, p, 2)].to_owned())),
            );
            writeln!(table, "{t},{},\"{who}\",\"{what}\"", body(t)).unwrap();
        }
        let path = file(&folder, "a.csv", &table);
        assert_eq!(counts(&path), (60, 20, 7, 1), "{separator}");
        assert_eq!(levels(&best(&path).2), (vec!["x".to_owned(), "y".to_owned()], ScaleKind::Binary));
    }
}

#[test]
fn other_columns_are_not_guessed_as_people() {
    let folder = tempfile::tempdir().unwrap();
    let rows = |row: &dyn Fn(usize) -> Value| lines((0..20).map(row));
    let cases = [
        (
            "counts",
            rows(&|t| json!({"id": t, "text": body(t), "label_counts": {"toxic": t % 3, "ok": 3 - t % 3}})),
        ),
        ("meta", rows(&|t| json!({"id": t, "text": body(t), "meta": {"source": "reddit", "lang": "de"}}))),
        (
            "scores of somebody",
            rows(
                &|t| json!({"id": t / 2, "text": body(t / 2), "worker": format!("w{}", t % 2), "scores": {"toxic": t % 4, "rude": 1}}),
            ),
        ),
        (
            "ids of annotations",
            rows(
                &|t| json!({"id": t, "text": body(t), "annotations": [{"id": 3 * t, "label": "a"}, {"id": 3 * t + 1, "label": "b"}]}),
            ),
        ),
        (
            "entities",
            rows(
                &|t| json!({"id": t, "text": body(t), "entities": [{"id": 0, "type": "PER"}, {"id": 1, "type": "LOC"}]}),
            ),
        ),
        (
            "spans",
            rows(
                &|t| json!({"id": t, "text": body(t), "annotations": [{"annotator": "a", "start": t % 4, "end": 6, "label": "x"}, {"annotator": "a", "start": 7, "end": 9, "label": "y"}]}),
            ),
        ),
    ];
    for (name, table) in cases {
        let (source, found) = recognised(&file(&folder, "a.jsonl", &table));
        if found.is_decided() {
            assert_eq!(read(&source, &found.readings[0]).labels, 0, "{name}: {found:#?}");
        }
    }
}

#[test]
fn explicit_ids_separate_equal_bodies() {
    let folder = tempfile::tempdir().unwrap();
    let mut texts = "text_id,text\n".to_owned();
    (0..60).for_each(|t| writeln!(texts, "t{t},{}", body(t % 3)).unwrap());
    assert_eq!(counts(&file(&folder, "a.csv", &texts)).1, 60);
    // An annotator who answers one body twice answers two texts.
    let table = long("id,text,annotator,label", |t, p| {
        format!("{},{},w{},{}", t * 10 + p, body(t % 4), p % 2, level(t, p, 2))
    });
    assert_eq!(counts(&file(&folder, "b.csv", &table)), (60, 60, 2, 1));
}

#[test]
fn rankings_are_ambiguous() {
    let folder = tempfile::tempdir().unwrap();
    let orders = ["A,B,C", "B,A,C", "C,B,A", "A,C,B"];
    let table = long("id,text,annotator,label", |t, p| {
        format!("{t},{},w{p},\"{}\"", body(t), orders[level(t, p, 4)])
    });
    let (_, found, _) = best(&file(&folder, "a.csv", &table));
    assert!(!found.is_decided(), "{found:#?}");
}

#[test]
fn further_people_and_items_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    for names in [
        "expert_1,expert_2,expert_3,crowd_1,crowd_2,crowd_3",
        "M1,M2,M3,F1,F2,F3",
        "HS_M1,HS_M2,HS_M3,HS_C1,HS_C2,HS_C3",
    ] {
        let mut table = format!("id,text,{names}\n");
        for t in 0..20 {
            let cells: Vec<&str> = (0..6).map(|p| ["yes", "no"][level(t, p, 2)]).collect();
            writeln!(table, "{t},{},{}", body(t), cells.join(",")).unwrap();
        }
        let (_, found, scan) = best(&file(&folder, "a.csv", &table));
        assert!(!found.is_decided());
        assert_eq!((scan.labels, scan.annotators), (120, 6), "{names}: {found:#?}");
    }
    // Items without their texts.
    let mut table = "VP;geschlecht;alter;item_01;item_02;item_03;item_04;item_05;item_06\n".to_owned();
    for p in 0..12 {
        let cells: Vec<String> = (0..6)
            .map(|t| if (t + p) % 7 == 0 { "-99".to_owned() } else { (level(t, p, 5) + 1).to_string() })
            .collect();
        writeln!(table, "{p};{};{};{}", ["m", "w"][p % 2], 20 + p, cells.join(";")).unwrap();
    }
    let (_, found) = recognised(&file(&folder, "b.csv", &table));
    assert!(
        !found.is_decided() && found.readings.iter().any(|ranked| ranked.reading.answers.len() == 6),
        "{found:#?}"
    );
}

#[test]
fn unknown_column_names_are_ambiguous() {
    let folder = tempfile::tempdir().unwrap();
    let table = long("id,tekst,anotator_x,etykieta", |t, p| {
        format!("{t},{},p{p},{}", body(t), ["hate", "none"][level(t, p, 2)])
    });
    let slider = long("worker,sentence,sentence_id,slider", |t, p| {
        format!("w{p},{},{t},{}", body(t), level(t, p, 97))
    });
    for (name, table) in [("a.csv", table), ("b.csv", slider)] {
        let (source, found) = recognised(&file(&folder, name, &table));
        assert!(!found.is_decided(), "{found:#?}");
        let right = found.readings.iter().map(|ranked| read(&source, ranked)).find(|scan| scan.labels == 60);
        assert_eq!(
            right.map(|scan| (scan.texts, scan.annotators, scan.problem_count)),
            Some((20, 7, 0)),
            "{found:#?}"
        );
    }
}

#[test]
fn question_and_answer_columns_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "Participant,Item,Question,Response\n".to_owned();
    let mut rated = "item_id,text,rater,dimension,rating\n".to_owned();
    for t in 0..20 {
        for p in people(t) {
            for (q, asked) in ["Is it offensive?", "Is it sexist?"].iter().enumerate() {
                writeln!(
                    table,
                    "P{p},{} {},{asked},{}",
                    body(t),
                    "and more words".repeat(2),
                    ["Yes", "No"][level(t + q, p, 2)]
                )
                .unwrap();
                writeln!(rated, "{t},{},R{p},{},{}", body(t), ["valence", "arousal"][q], level(t + q, p, 5))
                    .unwrap();
            }
        }
    }
    assert_eq!(counts(&file(&folder, "a.csv", &table)), (120, 20, 7, 2));
    assert_eq!(counts(&file(&folder, "b.csv", &rated)), (120, 20, 7, 2));
}

#[test]
fn durations_in_seconds_are_converted() {
    let folder = tempfile::tempdir().unwrap();
    for (name, value, read) in
        [("rt", "55.37", false), ("duration", "21", false), ("rt", "5537", true), ("rt_ms", "55", true)]
    {
        let table = long(&format!("id,text,annotator,label,{name}"), |t, p| {
            format!("{t},{},w{p},{},{value}", body(t), level(t, p, 2))
        });
        let (_, found, _) = best(&file(&folder, "a.csv", &table));
        assert_eq!(found.readings[0].reading.roles.duration.is_some(), read, "{name} {value}");
    }
    let table = long("id,text,annotator,label,time", |t, p| {
        format!("{t},{},w{p},{},{}", body(t), level(t, p, 2), 10 + p)
    });
    assert_eq!(best(&file(&folder, "b.csv", &table)).1.readings[0].reading.roles.time, None);
}

#[test]
fn every_part_of_a_json_table_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let columns = |name: &str| -> Vec<String> {
        dissensus_exchange::Source::open(file(&folder, "a.json", name)).unwrap().columns().to_vec()
    };
    assert_eq!(
        columns(r#"{"text": {"7": "a b c", "9": "d e f"}, "label": {"7": 1, "9": 0}}"#),
        ["text", "label", "index"]
    );
    assert_eq!(
        columns(r#"{"columns": ["text"], "index": ["x", "y"], "data": [["a b c"], ["d e f"]]}"#),
        ["text", "index"]
    );
    assert_eq!(
        columns(r#"{"t0": {"id": 0, "text": "a b c"}, "t1": {"id": 0, "text": "d e f"}}"#),
        ["key", "id", "text"]
    );
    assert_eq!(columns(r#"[{"id": 5, "posts": [{"id": 1, "text": "a b c"}]}]"#), ["posts_id", "id", "text"]);
}
