//! Small tables of each shape, modelled on published ones.

use super::{counts, file};
use std::fmt::Write as _;

/// Names of the column of annotators, in several languages.
const ANNOTATORS: [&str; 9] =
    ["worker", "rater", "coder", "user_id", "participant", "Annotator", "annotateur", "Kodierer", "WorkerId"];
/// Names of those of ids and of texts.
const IDS: [&str; 4] = ["item_id", "id", "comment_id", "sentence id"];
const TEXTS: [&str; 4] = ["text", "sentence", "Kommentar", "tweet"];

/// Four levels that look random and differ within texts and annotators.
fn level(text: usize, person: usize, question: usize) -> usize {
    (text * 7 + person * 5 + question * 3 + text * person) % 4
}

#[test]
fn formerly_failing_files_are_read() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases/import");
    if !folder.is_dir() {
        eprintln!("not run: there are no cases next to the project");
        return;
    }
    let expected = [
        ("01.csv", (4, 2, 2, 1)),
        ("04.csv", (30, 10, 3, 1)),
        ("07.csv", (7, 3, 3, 1)),
        ("11.csv", (144, 12, 4, 3)),
        ("12.jsonl", (18, 6, 3, 1)),
        ("12b.jsonl", (12, 6, 2, 1)),
        ("13.csv", (10, 5, 2, 1)),
        ("15.csv", (2, 2, 1, 1)),
    ];
    for (name, right) in expected {
        assert_eq!(counts(&folder.join(name)), right, "{name}");
    }
    let (_, found) = super::recognised(&folder.join("13.csv"));
    let options = found.readings[0].reading.answers.iter().filter_map(|answer| answer.option.as_deref());
    assert_eq!(options.collect::<Vec<_>>(), ["admiration", "anger", "joy", "neutral"]);
}

#[test]
fn several_questions_in_a_row_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let questions = [
        ["Q1_harm", "Q2_bias", "Q_overall"],
        ["hate.speech", "offensive.language", "insult"],
        ["clarity", "respect", "insult"],
    ];
    for (nth, who) in ANNOTATORS.iter().enumerate() {
        let (id, text, names) = (IDS[nth % 4], TEXTS[nth % 4], questions[nth % 3]);
        let mut table = format!("{id},{text},{who},{who}_gender,{}\n", names.join(","));
        for t in 0..12 {
            for p in 0..4 {
                let words = [0, 1, 2].map(|q| ["Yes", "No", "Unsure", "Yes"][level(t, p, q)]);
                let gender = if p % 2 == 0 { "Woman" } else { "Man" };
                writeln!(table, "c{t},This is text number {t},w{p},{gender},{}", words.join(",")).unwrap();
            }
        }
        let path = file(&folder, &format!("{nth}.csv"), &table);
        assert_eq!(counts(&path), (144, 12, 4, 3), "{table}");
    }
}

#[test]
fn options_in_columns_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for (nth, who) in ANNOTATORS.iter().enumerate() {
        let (id, text) = (IDS[nth % 4], TEXTS[nth % 4]);
        let marks = [["0", "1"], ["False", "True"], ["0.0", "1.0"]][nth % 3];
        let mut table = format!("{id},{text},{who},admiration,anger,joy,neutral\n");
        for t in 0..10 {
            for p in 0..3 {
                let set = [0, 1, 2, 3].map(|q| marks[usize::from(level(t, p, q) == 0)]);
                writeln!(table, "c{t},This is text number {t},w{p},{}", set.join(",")).unwrap();
            }
        }
        let path = file(&folder, &format!("{nth}.csv"), &table);
        assert_eq!(counts(&path), (30, 10, 3, 1), "{table}");
    }
}

#[test]
fn annotator_columns_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let people = [
        ["rater_1", "rater_2", "rater_3", "rater_4"],
        ["worker_0", "worker_1", "worker_2", "worker_3"],
        ["label_1_M", "label_2_M", "label_3_F", "label_4_F"],
        ["United_States_Hate", "Australia_Hate", "India_Hate", "Singapore_Hate"],
        ["Annotator 1", "Annotator 2", "Annotator 3", "Annotator 4"],
        ["A1", "A2", "A3", "A4"],
        ["annotateur1", "annotateur2", "annotateur3", "annotateur4"],
        ["Kodierer A", "Kodierer B", "Kodierer C", "Kodierer D"],
    ];
    for (nth, names) in people.iter().enumerate() {
        for (id, text) in IDS.iter().zip(TEXTS) {
            let mut table = format!("{id},{text},{}\n", names.join(","));
            let mut labels = 0;
            for t in 0..12 {
                let cells = [0, 1, 2, 3].map(|p| match (t + p) % 5 {
                    0 => String::new(),
                    _ => {
                        labels += 1;
                        level(t, p, 0).to_string()
                    }
                });
                writeln!(table, "c{t},This is text number {t},{}", cells.join(",")).unwrap();
            }
            let path = file(&folder, &format!("{nth}.csv"), &table);
            assert_eq!(counts(&path), (labels, 12, 4, 1), "{table}");
        }
    }
}

#[test]
fn arbitrary_names_are_people_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "id,text,anna,bert,carla\n".to_owned();
    for t in 0..12 {
        writeln!(
            table,
            "c{t},This is text number {t},{},{},{}",
            level(t, 0, 0),
            level(t, 1, 0),
            level(t, 2, 0)
        )
        .unwrap();
    }
    let (source, found) = super::recognised(&file(&folder, "a.csv", &table));
    assert!(!found.is_decided());
    let titles: Vec<&str> = found.readings.iter().map(|ranked| ranked.title.as_str()).collect();
    assert_eq!(titles, ["Texts", "A column for each of 3 people"]);
    assert_eq!(super::read(&source, &found.readings[1]).labels, 36);
    // Measurements of texts are not answers.
    let measured = table.replace(",0", ",0.25").replace(",1", ",0.5").replace(",2", ",0.75");
    let (_, found) = super::recognised(&file(&folder, "b.csv", &measured));
    assert_eq!((found.readings.len(), found.readings[0].title.as_str()), (1, "Texts"));
}

#[test]
fn lists_in_cells_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for (who, what) in
        [("annotators", "labels"), ("worker_ids", "ratings"), ("rater", "label"), ("user_id", "answers")]
    {
        let (mut lines, mut python, mut numpy, mut bars) = (
            String::new(),
            format!("id,text,{who},{what}\n"),
            format!("id,text,{who},{what}\n"),
            format!("id,text,{who},{what}\n"),
        );
        for t in 0..8 {
            let labels = [0, 1, 2].map(|p| level(t, p, 0));
            let people = [0, 1, 2].map(|p| format!("w{}", (t + p) % 5));
            writeln!(
                lines,
                "{}",
                serde_json::json!({"id": t, "text": format!("text {t}"), who: people, what: labels})
            )
            .unwrap();
            let quoted = people.iter().map(|p| format!("'{p}'")).collect::<Vec<_>>();
            let numbers = labels.map(|l| l.to_string());
            writeln!(python, "{t},text {t},\"[{}]\",\"[{}]\"", quoted.join(", "), numbers.join(", "))
                .unwrap();
            writeln!(numpy, "{t},text {t},[{}],[{}]", quoted.join(" "), numbers.join(" ")).unwrap();
            writeln!(bars, "{t},text {t},{},{}", people.join("|"), numbers.join("|")).unwrap();
        }
        for (name, content) in [("a.jsonl", lines), ("b.csv", python), ("c.csv", numpy), ("d.csv", bars)] {
            let path = file(&folder, name, &content);
            assert_eq!(counts(&path), (24, 8, 5, 1), "{content}");
        }
    }
}

#[test]
fn rounds_in_two_columns_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for (nth, who) in ANNOTATORS.iter().enumerate() {
        let names =
            [["label1", "label2"], ["rating_1", "rating_2"], ["toxicity_round1", "toxicity_round2"]][nth % 3];
        let mut table = format!("{},{},{who},{}\n", IDS[nth % 4], TEXTS[nth % 4], names.join(","));
        for t in 0..10 {
            for p in 0..3 {
                let again = if (t + p) % 4 == 0 { level(t, p, 1) } else { level(t, p, 0) };
                writeln!(table, "c{t},This is text number {t},w{p},{},{again}", level(t, p, 0)).unwrap();
            }
        }
        let path = file(&folder, &format!("{nth}.csv"), &table);
        assert_eq!(counts(&path), (60, 10, 3, 1), "{table}");
    }
}

#[test]
fn paired_columns_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for (nth, (who, what)) in
        [("worker_", "score_"), ("annotator", "label"), ("Rater ", "Rating "), ("coder_id_", "answer_")]
            .iter()
            .enumerate()
    {
        let header: Vec<String> = (1..=5).flat_map(|n| [format!("{who}{n}"), format!("{what}{n}")]).collect();
        let mut table = format!("id,text,{}\n", header.join(","));
        let mut labels = 0;
        for t in 0..9 {
            let cells = (0..5).map(|n| match (t + n) % 4 {
                0 => ",".to_owned(),
                _ => {
                    labels += 1;
                    format!("w{},{}", (t * 3 + n) % 7, level(t, n, 0))
                }
            });
            writeln!(table, "c{t},This is text number {t},{}", cells.collect::<Vec<_>>().join(",")).unwrap();
        }
        let path = file(&folder, &format!("{nth}.csv"), &table);
        assert_eq!(counts(&path), (labels, 9, 7, 1), "{table}");
    }
}
