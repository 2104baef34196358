//! The sample's labels match `sample/SIMULATION.md`: its formula is implemented here a second time.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use dissensus_tests::programs::checkout;
use std::collections::{BTreeMap, BTreeSet};

type Row = BTreeMap<String, String>;

const SEED: u64 = 20_261_121;
const LABELLED_TEXTS: usize = 130;
const TEXTS_EACH: usize = 91;

fn rows(name: &str) -> Vec<Row> {
    let path = checkout().join("sample").join(name);
    csv::Reader::from_path(path).unwrap().into_deserialize().map(Result::unwrap).collect()
}

fn number(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap()
}

/// The first output of SplitMix64, as a number in [0, 1).
fn uniform(annotator: usize, text: usize, which: u64) -> f64 {
    let seed = SEED * 1_000_003 + annotator as u64 * 1_000_000 + text as u64 * 10 + which;
    let z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A standard normal number by Box and Muller.
fn normal(annotator: usize, text: usize) -> f64 {
    let radius = (-2.0 * (1.0 - uniform(annotator, text, 1)).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(annotator, text, 2)).cos()
}

fn latent(person: &Row, comment: &Row, a: usize, t: usize) -> f64 {
    number(comment, "sim_severity")
        + number(person, "sim_severity")
        + number(person, &format!("sim_taste_{}", comment["topic"]))
        + number(person, "sim_profanity") * number(comment, "sim_profanity")
        - number(person, "sim_irony_blindness") * number(comment, "sim_irony")
        + number(person, "sim_noise") * normal(a, t)
}

#[test]
fn labels_follow_the_formula() {
    let (comments, people) = (rows("comments.csv"), rows("annotators.csv"));
    let mut expected = Vec::new();
    for (a, person) in people.iter().enumerate() {
        let mut by_lot: Vec<usize> = (0..LABELLED_TEXTS).collect();
        by_lot.sort_by(|x, y| uniform(a, *x, 0).total_cmp(&uniform(a, *y, 0)));
        let mut chosen = by_lot[..TEXTS_EACH].to_vec();
        chosen.sort_unstable();
        for t in chosen {
            let z = latent(person, &comments[t], a, t);
            let level = 1 + [1.0, 2.0, 3.0, 4.0].iter().filter(|threshold| z >= **threshold).count();
            let remove = if z >= number(person, "sim_remove_from") { "yes" } else { "no" };
            expected.push([
                comments[t]["text_id"].clone(),
                person["annotator_id"].clone(),
                level.to_string(),
                remove.to_owned(),
            ]);
        }
    }
    let columns = ["text_id", "annotator_id", "offensiveness", "remove"];
    let labels: Vec<[String; 4]> =
        rows("labels.csv").iter().map(|row| columns.map(|c| row[c].clone())).collect();
    assert_eq!(labels.len(), people.len() * TEXTS_EACH);
    for (label, expected) in labels.iter().zip(&expected) {
        assert_eq!(label, expected);
    }
}

#[test]
fn documented_values_are_right() {
    let (comments, people) = (rows("comments.csv"), rows("annotators.csv"));
    let description = std::fs::read_to_string(checkout().join("sample/SIMULATION.md")).unwrap();
    for (a, t) in [(0, 0), (2, 5), (7, 129)] {
        let line = format!(
            "| `{}` | `{}` | {:.6} | {:.6} | {:.6} |",
            people[a]["annotator_id"],
            comments[t]["text_id"],
            uniform(a, t, 0),
            normal(a, t),
            latent(&people[a], &comments[t], a, t)
        );
        assert!(description.contains(&line), "SIMULATION.md lacks\n{line}");
    }
}

#[test]
fn comments_are_many_distinct_and_short() {
    let comments = rows("comments.csv");
    assert!(comments.len() >= 150, "{}", comments.len());
    let bodies: BTreeSet<&str> = comments.iter().map(|row| row["text"].as_str()).collect();
    assert_eq!(bodies.len(), comments.len(), "two comments are the same");
    let long = comments.iter().filter(|row| row["text"].chars().count() > 280).count();
    assert_eq!(long, 1, "one long comment shows how the window scrolls; the others are short");
}

#[test]
fn some_comments_are_unlabelled() {
    let labelled: BTreeSet<String> = rows("labels.csv").iter().map(|row| row["text_id"].clone()).collect();
    let left = rows("comments.csv").iter().filter(|row| !labelled.contains(&row["text_id"])).count();
    assert!(left >= 30, "{left}");
}

#[test]
fn annotators_are_simulated_and_differ() {
    let people = rows("annotators.csv");
    assert_eq!(people.len(), 8);
    assert!(people.iter().all(|row| row["simulated"] == "yes"));
    let tendencies: BTreeSet<&str> = people.iter().map(|row| row["tendency"].as_str()).collect();
    assert_eq!(tendencies.len(), 8);
    let description = std::fs::read_to_string(checkout().join("sample/SIMULATION.md")).unwrap();
    for row in &people {
        let line = format!("| {} | {} |", row["name"], row["tendency"]);
        assert!(description.contains(&line), "SIMULATION.md lacks\n{line}");
    }
}
