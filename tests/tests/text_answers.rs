//! Whole answers to a multi-label question on the command line: for the texts of a file, for one text, and
//! from a bundle.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use dissensus_tests::command::Bench;
use std::collections::HashMap;

/// 60 texts with four answers each.
fn labelled(bench: &Bench) {
    let sets = ["rude", "rude;lie", "lie", "none", "threat;rude"];
    let row = |n: usize| format!("t{},body {},a{},{}\n", n / 4, n / 4, n % 4, sets[n * 7 % 5]);
    let rows: String = (0..240).map(row).collect();
    bench.file("sets.csv", format!("text_id,text,annotator_id,label\n{rows}"));
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok([
        "data",
        "import",
        "P.dissensus",
        "sets.csv",
        "--scale",
        "multi-label",
        "--levels",
        "rude,threat,lie",
    ]);
    bench.ok(["models", "encode", "P.dissensus"]);
}

fn table(bench: &Bench, name: &str) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_path(bench.path(name)).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
fn file_is_predicted_by_sets_with_project_and_bundle() {
    let bench = Bench::new();
    labelled(&bench);
    bench.file("new.txt", "You fool\nbody 3\n");
    let of = |more: &[&'static str]| {
        let asked = ["models", "predict", "P.dissensus", "--texts", "new.txt", "--question", "sets"];
        [&asked, more].concat()
    };
    let here = bench.json(of(&["--out", "here.csv", "--annotators", "a0,a2"]));
    assert_eq!((&here["texts"], &here["annotators"]), (&2.into(), &2.into()), "{here}");
    assert_eq!(here["options"], serde_json::json!(["rude", "threat", "lie"]));
    assert!(here["options_together"].as_str().unwrap().contains("ost likely sets"), "{here}");
    let output = bench.run(of(&["--out", "here.csv", "--annotators", "a0,a2", "--force"]));
    insta::assert_snapshot!(bench.shown(&output.out));
    insta::assert_snapshot!(bench.shown(&output.err));
    let rows = table(&bench, "here.csv");
    assert_eq!((rows[0]["observed"].as_str(), rows[1]["observed"].as_str()), ("false", "true"));
    let number = |column: &str| rows[0][column].parse::<f64>().unwrap();
    assert!((number("expected_lie") - (number("p_a0_lie") + number("p_a2_lie")) / 2.0).abs() < 1e-6);
    // The prediction for an annotator in the file equals that for one typed text.
    let one = bench.json(["models", "predict", "P.dissensus", "--annotator", "a2", "--text", "You fool"]);
    assert_eq!(one["prediction"], rows[0]["set_a2"].as_str());
    for option in ["rude", "threat", "lie"] {
        let near = (one["probabilities"][option].as_f64().unwrap() - number(&format!("p_a2_{option}"))).abs();
        assert!(near < 1e-6, "{one}");
    }
    assert!((one["probability"].as_f64().unwrap() - number("probability_a2")).abs() < 1e-6, "{one}");
    assert!(one["masi"].is_null() && one["answers"].is_null(), "{one}");

    let made = bench.json(["models", "bundle", "P.dissensus", "model", "--ids"]);
    assert_eq!(made["sets"], serde_json::json!(["sets"]), "{made}");
    std::fs::remove_file(bench.path("P.dissensus")).unwrap();
    let by_bundle = |more: &[&'static str]| {
        [&["models", "predict", "--bundle", "model", "--texts", "new.txt", "--out", "there.csv"], more]
            .concat()
    };
    bench.ok(by_bundle(&["--annotators", "a0,a2"]));
    for (here, there) in rows.iter().zip(table(&bench, "there.csv")) {
        for (column, value) in here.iter().filter(|(column, _)| *column != "observed") {
            match value.parse::<f64>() {
                Ok(value) => {
                    assert!((value - there[column].parse::<f64>().unwrap()).abs() < 1e-6, "{column}")
                }
                Err(_) => assert_eq!(*value, there[column]),
            }
        }
    }
    let unknown = bench.refused(by_bundle(&["--question", "mood", "--force"]));
    insta::assert_snapshot!(bench.shown(&unknown));
    let option = bench.json(by_bundle(&["--question", "sets: lie", "--force"]));
    assert_eq!(option["rows"], 8, "{option}");
}

#[test]
fn whole_answer_is_printed_with_observed_answers() {
    let bench = Bench::new();
    labelled(&bench);
    let all = bench.json(["models", "predict", "P.dissensus", "--text-id", "t3"]);
    assert_eq!((&all["annotators"], &all["annotator"]), (&4.into(), &serde_json::Value::Null), "{all}");
    assert!(all["masi"].is_number() && all["differ"]["rude"].is_number(), "{all}");
    let answers = all["answers"].as_array().unwrap();
    let names = ["a0", "a1", "a2", "a3"];
    assert_eq!(answers.iter().map(|one| one["annotator"].as_str().unwrap()).collect::<Vec<_>>(), names);
    // t3 is rows 12 to 15.
    let given: Vec<&str> = answers.iter().map(|one| one["answer"].as_str().unwrap()).collect();
    assert_eq!(given, ["rude + threat", "rude + lie", "none", "rude"]);
    let message = bench.ok(["models", "predict", "P.dissensus", "--text-id", "t3"]);
    for part in
        ["One of 4 annotators would most likely answer ", "expected", "differ", "answered", "rude + lie"]
    {
        assert!(message.contains(part), "{part}: {message}");
    }
    let one = bench.ok(["models", "predict", "P.dissensus", "--text-id", "t3", "--annotator", "a0"]);
    insta::assert_snapshot!(bench.shown(&one));
    // Predictions for everyone on questions of other kinds are written as tables.
    bench.ok(["data", "question", "P.dissensus", "bad", "--scale", "binary", "--levels", "no,yes"]);
    let refused = bench.refused(["models", "predict", "P.dissensus", "--text-id", "t3", "--question", "bad"]);
    insta::assert_snapshot!(bench.shown(&refused));
    let unknown =
        bench.refused(["models", "predict", "P.dissensus", "--text-id", "t99", "--question", "sets"]);
    assert!(unknown.contains("t99"), "{unknown}");
}

#[test]
fn observed_answer_is_printed_with_its_prediction() {
    let bench = Bench::new();
    bench.ok(["project", "sample", "P.dissensus"]);
    let document = bench.json([
        "models",
        "predict",
        "P.dissensus",
        "--question",
        "offensiveness",
        "--annotator",
        "sim-ada",
        "--text-id",
        "c001",
    ]);
    let answers = document["answers"].as_array().unwrap();
    assert!(!answers.is_empty(), "{document}");
    let levels = document["probabilities"].as_object().unwrap();
    assert!(answers.iter().all(|one| levels.contains_key(one["answer"].as_str().unwrap())), "{document}");
    let mut ids: Vec<&str> = answers.iter().map(|one| one["annotator"].as_str().unwrap()).collect();
    ids.dedup();
    assert_eq!(ids.len(), answers.len());
    bench.ok([
        "label",
        "record",
        "P.dissensus",
        "--question",
        "offensiveness",
        "--annotator",
        "sim-ada",
        "--text-id",
        "c001",
        "--value",
        "5",
    ]);
    let message = bench.ok([
        "models",
        "predict",
        "P.dissensus",
        "--question",
        "offensiveness",
        "--annotator",
        "sim-ada",
        "--text-id",
        "c001",
    ]);
    let line = message.lines().find(|line| line.trim_start().starts_with("sim-ada ")).unwrap();
    assert!(line.trim_end().ends_with('5'), "{message}");
}

/// Two people mark *fool* with the first of four types; the other types are not used.
#[test]
fn words_are_printed_by_type() {
    let bench = Bench::new();
    let mut lines = String::new();
    for text in 0..20 {
        let word = if text % 2 == 0 { "fool" } else { "pear" };
        let marks = if text % 2 == 0 { r#"[[9, 13, "an insult with a long name"]]"# } else { "[]" };
        for who in ["ana", "ben"] {
            lines.push_str(&format!(
                "{{\"text_id\": \"t{text}\", \"text\": \"you are, {word} number {text}\", \"annotator_id\": \"{who}\", \"label\": {marks}}}\n"
            ));
        }
    }
    bench.file("marked.jsonl", &lines);
    bench.ok(["project", "new", "P.dissensus"]);
    let types = "an insult with a long name,another insult with a name,praise,thanks";
    bench.ok(["data", "question", "P.dissensus", "where", "--scale", "spans", "--levels", types]);
    bench.ok(["data", "import", "P.dissensus", "marked.jsonl", "--question", "where"]);
    bench.ok(["models", "encode", "P.dissensus"]);
    let message = bench.ok(["analyse", "words", "P.dissensus", "--text-id", "t2"]);
    let line = message.lines().find(|line| line.contains("fool")).unwrap();
    assert!(line.contains("2/2 "), "{line}");
    insta::assert_snapshot!(bench.shown(&message));
    assert!(
        !message.contains("praise") && message.lines().all(|line| line.chars().count() <= 100),
        "{message}"
    );
    // Every word is in the document, with only one type if that is named.
    let asked =
        ["analyse", "words", "P.dissensus", "--text-id", "t2", "--question", "where", "--type", "praise"];
    let of_type = bench.json(asked);
    assert_eq!(of_type["text"]["types"], serde_json::json!(["praise"]));
    let words = of_type["text"]["words"].as_array().unwrap();
    assert!(words.len() == 5 && words.iter().all(|word| word["types"].as_array().unwrap().len() == 1));
    let unknown = bench.refused(["analyse", "words", "P.dissensus", "--text-id", "t2", "--type", "lazy"]);
    insta::assert_snapshot!(bench.shown(&unknown));
    // A typed text has the same words as in the table of a file.
    bench.file("new.txt", "a fool\n");
    bench.ok([
        "models",
        "predict",
        "P.dissensus",
        "--texts",
        "new.txt",
        "--out",
        "new.csv",
        "--annotators",
        "ana",
    ]);
    let ana = bench.json(["models", "predict", "P.dissensus", "--text", "a fool", "--annotator", "ana"]);
    let rows = table(&bench, "new.csv");
    for (row, place) in rows.iter().zip((0..2).flat_map(|word| (0..4).map(move |of| (word, of)))) {
        let found = &ana["words"][place.0]["types"][place.1];
        let expected: f64 = row["p_ana"].parse().unwrap();
        assert!((found["expected"].as_f64().unwrap() - expected).abs() < 1e-6, "{found} {row:?}");
        assert!(found["differ"].is_null(), "one person differs from nobody: {found}");
    }
    let message = bench.ok(["models", "predict", "P.dissensus", "--text", "a fool"]);
    insta::assert_snapshot!(bench.shown(&message));
    let refused = bench.refused(["models", "predict", "P.dissensus", "--text-id", "t2"]);
    insta::assert_snapshot!(bench.shown(&refused));
    let predicted = bench.ok(["models", "predict", "P.dissensus", "--text-id", "t2", "--annotator", "ben"]);
    insta::assert_snapshot!(bench.shown(&predicted));
}
