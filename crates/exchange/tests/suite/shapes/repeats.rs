//! Tables in which an annotator answers a text more than once: the columns stay what they are called.

use super::{file, recognised};
use dissensus_exchange::{ColumnRoles, Source, TableReading, complete};
use proptest::prelude::*;

/// Columns next to text, annotator and label; all but the first are words that differ from row to row.
const OTHERS: [&str; 9] =
    ["topic", "explanation", "comment", "parent_text", "date_us", "created_at", "time_de", "title", "remark"];
const WORDS: [&str; 10] =
    ["the", "dog", "council", "park", "you", "are", "nice", "recipe", "always", "please"];

fn sentence(seed: usize, words: usize) -> String {
    let word = |nth: usize| WORDS[(seed * 7 + nth * (seed % 9 + 1)) % WORDS.len()];
    (0..words).map(word).collect::<Vec<&str>>().join(" ")
}

fn other(column: &str, text: usize, row: usize) -> String {
    let (day, month, minute) = (13 + row % 15, row % 12 + 1, row % 60);
    match column {
        "topic" => ["food", "sport"][text % 2].to_owned(),
        "date_us" | "created_at" => format!("{month:02}/{day}/2024 10:{minute:02}"),
        "time_de" => format!("{day}.{month:02}.2024 10:{minute:02}"),
        "title" => format!("Title {}", text / 3),
        _ => sentence(row, 4 + row % 9),
    }
}

prop_compose! {
    fn tables()(
        texts in 2_usize..8,
        people in 1_usize..4,
        again in prop::collection::vec(0_usize..3, 1..9),
        others in prop::sample::subsequence(&OTHERS[..], 0..5),
        shift in 0_usize..8,
        last_first in any::<bool>(),
    ) -> Vec<Vec<String>> {
        let mut header: Vec<String> = ["text_id", "text", "annotator_id", "label"].map(str::to_owned).to_vec();
        header.extend(others.iter().map(|name| (*name).to_owned()));
        let mut rows = Vec::new();
        for text in 0..texts {
            for person in 0..people {
                for nth in 0..=again[(text + person) % again.len()] {
                    let row = rows.len();
                    let mut cells = vec![
                        format!("c{text}"),
                        format!("{} {text}", sentence(text, 2 + text % 6)),
                        format!("p{person}"),
                        ((text + person + nth) % 5 + 1).to_string(),
                    ];
                    cells.extend(others.iter().map(|name| other(name, text, row)));
                    rows.push(cells);
                }
            }
        }
        if last_first {
            rows.reverse();
        }
        rows.insert(0, header);
        let shift = shift % rows[0].len();
        rows.iter_mut().for_each(|row| row.rotate_left(shift));
        rows
    }
}

fn csv(rows: &[Vec<String>]) -> String {
    let lines = rows.iter().map(|row| row.join(",") + "\n");
    lines.collect()
}

fn jsonl(rows: &[Vec<String>]) -> String {
    let (header, rows) = rows.split_first().unwrap();
    let line = |row: &Vec<String>| {
        let pairs = header.iter().cloned().zip(row.iter().map(|cell| serde_json::Value::from(cell.as_str())));
        serde_json::Value::from_iter(pairs.collect::<Vec<_>>()).to_string() + "\n"
    };
    rows.iter().map(line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn columns_with_exact_names_win_over_guesses(rows in tables()) {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in [("a.csv", csv(&rows)), ("a.jsonl", jsonl(&rows))] {
            let (_, found) = recognised(&file(&folder, name, &content));
            let roles = &found.readings[0].reading.roles;
            let named = [&roles.text_id, &roles.text, &roles.annotator, &roles.label];
            let named: Vec<&str> = named.into_iter().map(|name| name.as_deref().unwrap_or("")).collect();
            prop_assert_eq!(named, ["text_id", "text", "annotator_id", "label"], "{}", content);
        }
    }
}

#[test]
fn explanation_of_an_answer_given_again_is_no_text() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "1,You are so nice today,x,1,I think it is polite\n\
                1,You are so nice today,x,2,on second thought it is ironic\n\
                2,Go away now please,x,4,clearly a rude remark\n";
    for header in ["text_id,text,annotator_id,label,explanation", "id,comment,worker,label,thoughts"] {
        let (_, found) = recognised(&file(&folder, "a.csv", &format!("{header}\n{rows}")));
        let roles = &found.readings[0].reading.roles;
        let columns: Vec<&str> = header.split(',').collect();
        assert_eq!(roles.text_id.as_deref(), Some(columns[0]), "{found:?}");
        assert_eq!(roles.text.as_deref(), Some(columns[1]), "{found:?}");
    }
}

/// A post before its replies, which every annotator answers, is still context.
#[test]
fn context_of_a_judged_text_is_no_text() {
    let folder = tempfile::tempdir().unwrap();
    let mut content = "post_id,post,answer_id,what_was_said,annotator,label\n".to_owned();
    for post in 0..4 {
        for reply in 0..3 {
            for who in ["a", "b", "c"] {
                content += &format!(
                    "p{post},A long post about matter {post},r{post}{reply},Reply number {reply} to post {post},{who},{}\n",
                    (post + reply) % 3
                );
            }
        }
    }
    let (_, found) = recognised(&file(&folder, "a.csv", &content));
    let roles = &found.readings[0].reading.roles;
    assert_eq!(roles.text.as_deref(), Some("what_was_said"), "{found:?}");
}

#[test]
fn moments_are_no_texts() {
    let folder = tempfile::tempdir().unwrap();
    for at in ["12/20/2024 10:00", "20.12.2024 10:00", "2024-12-20 10:00:00", "Dec 20, 2024 3:05 PM"] {
        let content = format!(
            "id,who,label,when it was\n1,x,1,\"{at}\"\n2,x,2,\"{at}\"\n1,y,2,\"{at}\"\n2,y,1,\"{at}\"\n"
        );
        let (_, found) = recognised(&file(&folder, "a.csv", &content));
        assert!(found.readings.iter().all(|ranked| ranked.reading.roles.text.is_none()), "{found:?}");
    }
}

#[test]
fn times_are_recognised_next_to_columns_that_were_named() {
    let folder = tempfile::tempdir().unwrap();
    let named = ColumnRoles {
        text: Some("says".to_owned()),
        text_id: Some("nr".to_owned()),
        annotator: Some("person".to_owned()),
        label: Some("how".to_owned()),
        ..ColumnRoles::default()
    };
    for (times, format) in [
        (["12/20/2024 10:00", "12/13/2024 10:00"], Some("month-first")),
        (["20.12.2024 10:00", "13.12.2024 10:00"], Some("day-first")),
        (["2024-12-20T10:00:00Z", "2024-12-13T10:00:00Z"], None),
    ] {
        let [later, earlier] = times;
        let content = format!(
            "nr,says,person,how,created_at\n1,hello there,x,5,{later}\n1,hello there,x,1,{earlier}\n"
        );
        let source = Source::open(file(&folder, "a.csv", &content)).unwrap();
        let found = complete(&source, &TableReading::from_roles(named.clone())).unwrap();
        assert_eq!(found.roles.time.as_deref(), Some("created_at"), "{times:?}");
        assert_eq!(found.values.time_format.as_deref(), format, "{times:?}");
    }
    // Either order of day and month is possible: nothing is guessed.
    let content =
        "nr,says,person,how,created_at\n1,hello there,x,5,01/02/2024\n1,hello there,x,1,03/04/2024\n";
    let source = Source::open(file(&folder, "a.csv", content)).unwrap();
    let found = complete(&source, &TableReading::from_roles(named)).unwrap();
    assert_eq!((found.roles.time, found.values.time_format), (None, None));
}
