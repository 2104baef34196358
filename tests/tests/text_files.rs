//! Embeddings and predictions of many texts, as files.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use dissensus_tests::command::Bench;
use dissensus_tests::files;
use serde_json::Value;
use std::collections::HashMap;

/// A project with 40 texts and 6 annotators, every text except `t0` labelled by everyone; it also has a copy
/// of `t1` in different case.
fn labelled(bench: &Bench) {
    let labels = files::labels(40, 6);
    let kept: Vec<&str> = labels.lines().filter(|line| !line.starts_with("t0,")).collect();
    bench.file("labels.csv", kept.join("\n"));
    let texts = files::texts(40);
    let of = |id: &str| texts.lines().find(|line| line.starts_with(id)).unwrap().to_owned();
    let copy = of("t1,").to_uppercase().replacen("T1,", "copy,", 1);
    bench.file("texts.csv", format!("text_id,text\n{}\n{copy}\n", of("t0,")));
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "labels.csv", "--attributes", "gender", "--question", "rude"]);
    bench.ok(["data", "import", "P.dissensus", "texts.csv"]);
}

/// The rows of a CSV file by the names of its columns.
fn table(bench: &Bench, name: &str) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_path(bench.path(name)).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

fn number(row: &HashMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

fn embeddings(bench: &Bench, name: &str) -> Vec<(String, Vec<f32>)> {
    let text = std::fs::read_to_string(bench.path(name)).unwrap();
    let of = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        let embedding = serde_json::from_value(row["embedding"].clone()).unwrap();
        (row["text_id"].as_str().unwrap().to_owned(), embedding)
    };
    text.lines().map(of).collect()
}

#[test]
fn texts_are_embedded_in_their_order_in_every_format() {
    let bench = Bench::new();
    // Of very different lengths, so that batches end in an order other than that of the file.
    let line = |i: usize| {
        format!("Text {i} {}", "and so on ".repeat((i * 37 % 60) * usize::from(!i.is_multiple_of(3))))
    };
    let lines: Vec<String> = (0..90).map(line).collect();
    bench.file("lines.txt", lines.join("\n"));
    let jsonl: String = lines
        .iter()
        .enumerate()
        .map(|(i, l)| format!("{{\"nr\":{},\"body\":\"{l}\",\"who\":\"x\"}}\n", i + 1))
        .collect();
    bench.file("texts.jsonl", jsonl);
    let done = bench.json(["models", "embed", "lines.txt", "out.npy"]);
    assert_eq!((&done["texts"], &done["bad_rows"]), (&90.into(), &0.into()), "{done}");
    bench.ok(["models", "embed", "texts.jsonl", "out.jsonl", "--text", "body", "--text-id", "nr"]);
    bench.ok(["models", "embed", "lines.txt", "out.parquet"]);
    let rows = embeddings(&bench, "out.jsonl");
    let ids = std::fs::read_to_string(bench.path("out.ids.txt")).unwrap();
    assert_eq!(ids.lines().collect::<Vec<_>>(), rows.iter().map(|(id, _)| id).collect::<Vec<_>>());
    assert_eq!(rows[41].0, "42");
    let npy = std::fs::read(bench.path("out.npy")).unwrap();
    let numbers: Vec<f32> =
        npy[128..].as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let same: Vec<f32> = rows.iter().flat_map(|(_, embedding)| embedding.clone()).collect();
    assert_eq!(numbers, same);
    let parquet = std::fs::read(bench.path("out.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1") && parquet.len() > 4 * same.len());
    // Each is the embedding of its own text: encoding that text on its own gives nearly the same.
    for at in [0, 40, 89] {
        bench.file("one.txt", &lines[at]);
        bench.ok(["models", "embed", "one.txt", "one.jsonl", "--force"]);
        let alone = &embeddings(&bench, "one.jsonl")[0].1;
        let cosine: f32 = alone.iter().zip(&rows[at].1).map(|(a, b)| a * b).sum();
        assert!(cosine > 0.999, "{at}: {cosine}");
    }
}

#[test]
fn failed_embedding_leaves_no_file() {
    let bench = Bench::new();
    bench.file("texts.csv", "id,comment\n1,All is well\n2,\n3,Nothing is\n");
    let before = std::fs::read_dir(bench.folder()).unwrap().count();
    let refused = bench.run(["models", "embed", "texts.csv", "out.npy"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    for says in ["1 of 3 rows of texts.csv", "row 2 (line 3)", "--skip-bad"] {
        assert!(refused.err.contains(says), "{says}: {}", refused.err);
    }
    let ending = bench.run(["models", "embed", "texts.csv", "out.csv"]);
    assert_eq!(ending.code, Some(1));
    insta::assert_snapshot!(bench.shown(&ending.err));
    let column = bench.run(["models", "embed", "texts.csv", "out.npy", "--text", "coment"]);
    assert_eq!(column.code, Some(1));
    insta::assert_snapshot!(bench.shown(&column.err));
    bench.file("own.jsonl", "{\"id\":\"a\",\"text\":\"All is well\"}\n");
    let itself = bench.run(["models", "embed", "own.jsonl", "own.jsonl"]);
    assert_eq!(itself.code, Some(1));
    insta::assert_snapshot!(bench.shown(&itself.err));
    bench.file("empty.txt", "\n\n");
    let empty = bench.run(["models", "embed", "empty.txt", "out.npy"]);
    assert_eq!(empty.code, Some(1));
    insta::assert_snapshot!(bench.shown(&empty.err));
    let left = std::fs::read_dir(bench.folder()).unwrap().count();
    assert!(left <= before + 3, "two files of this test and the home folder: {left} after {before}");
    let skipped = bench.run(["models", "embed", "texts.csv", "out.npy", "--skip-bad"]);
    assert_eq!(skipped.code, Some(0));
    insta::assert_snapshot!(bench.shown(&skipped.err));
    assert_eq!(std::fs::read_to_string(bench.path("out.ids.txt")).unwrap(), "1\n3\n");
}

#[cfg(unix)]
#[test]
fn cancelled_embedding_leaves_no_file() {
    let bench = Bench::new();
    // Enough for a few seconds of work.
    let lines: String =
        (0..4_000).map(|i| format!("{i} {}\n", "word after word ".repeat(20 + i % 7))).collect();
    bench.file("lines.txt", lines);
    let mut child = bench
        .command(["models", "embed", "lines.txt", "out.npy"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let parts = || {
        let names = std::fs::read_dir(bench.folder()).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name != "home" && name != "lines.txt").count()
    };
    let start = std::time::Instant::now();
    while parts() == 0 && start.elapsed().as_secs() < 120 {
        std::thread::sleep(std::time::Duration::from_millis(30));
    }
    assert!(parts() > 0, "it has begun to write");
    let stopped = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(stopped.unwrap().success());
    let code = child.wait().unwrap().code();
    let message = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert_eq!(code, Some(130), "{message}");
    assert_eq!(parts(), 0, "nothing is left of it");
    assert!(message.contains("nothing was written") && !message.contains("is stored"), "{message}");
}

#[test]
fn embedding_never_replaces_its_input() {
    let bench = Bench::new();
    let read = |name: &str| std::fs::read_to_string(bench.path(name)).unwrap();
    bench.file("a.ids.txt", "one text\nanother\n");
    let itself = bench.run(["models", "embed", "a.ids.txt", "a.npy", "--force"]);
    assert_eq!(itself.code, Some(1));
    insta::assert_snapshot!(bench.shown(&itself.err));
    bench.file("b.txt", "one text\n");
    for there in ["b.npy", "b.ids.txt"] {
        bench.file(there, "somebody's own");
        // The encoder does not exist: the existing file is reported before anything is opened.
        let refused = bench.run(["models", "embed", "b.txt", "b.npy", "--encoder", "no-such-encoder"]);
        assert!(
            refused.code == Some(1) && refused.err.contains(&format!("{there} exists already")),
            "{refused:?}"
        );
        assert_eq!(read(there), "somebody's own");
        std::fs::remove_file(bench.path(there)).unwrap();
    }
    bench.file("b.ids.txt", "somebody's own");
    bench.ok(["models", "embed", "b.txt", "b.npy", "--force"]);
    assert_eq!((read("b.ids.txt").as_str(), read("a.ids.txt").as_str()), ("1\n", "one text\nanother\n"));
}

#[test]
fn duplicate_id_is_reported_with_both_rows() {
    let bench = Bench::new();
    bench.file("texts.csv", "id,comment\n7,All is well\n8,Nothing is\n7,Or is it\n");
    let refused = bench.run(["models", "embed", "texts.csv", "out.npy"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    insta::assert_snapshot!(bench.shown(&refused.err));
    bench.ok(["models", "embed", "texts.csv", "out.npy", "--skip-bad"]);
    assert_eq!(std::fs::read_to_string(bench.path("out.ids.txt")).unwrap(), "7\n8\n");
}

/// Nothing is encoded or fitted for an impossible table: these projects have no embeddings afterwards.
#[test]
fn impossible_prediction_is_refused_before_fitting() {
    let bench = Bench::new();
    labelled(&bench);
    bench.file("numbers.csv", "a,b\n1,2\n");
    bench.file("there.csv", "somebody's own");
    bench.file("new.txt", "A new text\n");
    for (arguments, says) in [
        (vec!["models", "predictions", "P.dissensus", "out.docx"], ".csv, .tsv, .jsonl, .parquet or .xlsx"),
        (vec!["models", "predictions", "P.dissensus", "there.csv"], "--force"),
        (vec!["models", "predictions", "P.dissensus", "no/such/out.csv"], "cannot be written"),
        (vec!["models", "predictions", "P.dissensus", "out.csv", "--annotators", "a1,nobody"], "nobody"),
        (vec!["models", "predictions", "P.dissensus", "out.csv", "--question", "kind"], "no question"),
        (
            vec!["models", "predict", "P.dissensus", "--texts", "numbers.csv", "--out", "out.csv"],
            "--text-column",
        ),
        (vec!["models", "predict", "P.dissensus", "--texts", "no.txt", "--out", "out.csv"], "no file"),
        (vec!["models", "predict", "P.dissensus", "--texts", "new.txt", "--out", "out.txt"], ".csv, .tsv"),
        (
            vec!["models", "predict", "P.dissensus", "--texts", "there.csv", "--out", "there.csv", "--force"],
            "that is read",
        ),
    ] {
        let refused = bench.run(&arguments);
        assert!(refused.code == Some(1) && refused.err.contains(says), "{arguments:?}: {refused:?}");
    }
    assert_eq!(bench.json(["project", "info", "P.dissensus"])["encoder"], Value::Null);
    assert_eq!(std::fs::read_to_string(bench.path("there.csv")).unwrap(), "somebody's own");
    assert!(!bench.path("out.csv").exists());
}

#[test]
fn project_predictions_match_predict() {
    let bench = Bench::new();
    labelled(&bench);
    bench.ok(["models", "encode", "P.dissensus"]);
    let done = bench.json(["models", "predictions", "P.dissensus", "all.csv"]);
    assert_eq!((&done["texts"], &done["annotators"], &done["rows"]), (&41.into(), &6.into(), &246.into()));
    let rows = table(&bench, "all.csv");
    assert_eq!(rows.len(), 246);
    for row in &rows {
        let sum: f64 = (1..=5).map(|level| number(row, &format!("p_{level}"))).sum();
        assert!((sum - 1.0).abs() < 1e-5, "{row:?}");
        // All except t0 are labelled by everyone, and the copy through the labels of t1.
        assert_eq!(row["observed"] == "true", row["text_id"] != "t0", "{row:?}");
        for measure in ["disagreement_split", "disagreement_pairwise"] {
            assert!((0.0..=1.0).contains(&number(row, measure)), "{row:?}");
        }
    }
    for (text, annotator) in [("t0", "a2"), ("t7", "a5"), ("copy", "a0")] {
        let one =
            bench.json(["models", "predict", "P.dissensus", "--annotator", annotator, "--text-id", text]);
        let row = rows.iter().find(|r| r["text_id"] == text && r["annotator_id"] == annotator).unwrap();
        assert_eq!(one["prediction"], row["prediction"]);
        for level in 1..=5 {
            let p = one["probabilities"][level.to_string()].as_f64().unwrap();
            assert!((p - number(row, &format!("p_{level}"))).abs() < 1e-6, "{one} next to {row:?}");
        }
    }
    // Disagreement equals that of the ranking, over the same people.
    let ranking = bench.json(["analyse", "disagreement", "P.dissensus", "--top", "41"]);
    for text in ranking["texts"].as_array().unwrap() {
        let row = rows.iter().find(|r| text["text_id"] == r["text_id"].as_str()).unwrap();
        assert!(
            (text["split"].as_f64().unwrap() - number(row, "disagreement_split")).abs() < 1e-6,
            "{row:?}"
        );
    }
    // There is no difference between people with only one person; nothing is replaced without `--force`.
    let again = bench.run(["models", "predictions", "P.dissensus", "all.csv", "--annotators", "a1"]);
    assert!(again.code == Some(1) && again.err.contains("--force"), "{again:?}");
    bench.ok(["models", "predictions", "P.dissensus", "all.csv", "--annotators", "a1", "--force"]);
    let alone = table(&bench, "all.csv");
    assert_eq!(alone.len(), 41);
    assert!(alone.iter().all(|row| row["annotator_id"] == "a1" && row["disagreement_split"].is_empty()));
    bench.ok(["models", "predictions", "P.dissensus", "all.parquet"]);
    assert!(std::fs::read(bench.path("all.parquet")).unwrap().starts_with(b"PAR1"));
    let stranger =
        bench.run(["models", "predictions", "P.dissensus", "other.csv", "--annotators", "a1,nobody"]);
    assert!(stranger.code == Some(1) && stranger.err.contains("nobody"), "{stranger:?}");
    assert!(!bench.path("other.csv").exists());
}

#[test]
fn file_predictions_match_predict() {
    let bench = Bench::new();
    labelled(&bench);
    bench.ok(["models", "encode", "P.dissensus"]);
    let known = files::texts(40).lines().nth(6).unwrap().split_once(',').unwrap().1.to_owned();
    // More texts than are held in memory at once.
    let new: Vec<String> = (0..1100).map(|i| format!("How dull is the story of {i}")).collect();
    bench.file("new.txt", format!("{}\n{}\n", new.join("\n"), known.to_uppercase()));
    let done = bench.json([
        "models",
        "predict",
        "P.dissensus",
        "--texts",
        "new.txt",
        "--out",
        "new.csv",
        "--annotators",
        "a0,a2",
    ]);
    assert_eq!((&done["texts"], &done["rows"], &done["observed"]), (&1101.into(), &2202.into(), &2.into()));
    let rows = table(&bench, "new.csv");
    let ids: Vec<&str> = rows.iter().step_by(2).map(|row| row["text_id"].as_str()).collect();
    assert_eq!(ids, (1..=1101).map(|i| i.to_string()).collect::<Vec<_>>());
    assert!(rows.iter().all(|row| (row["observed"] == "true") == (row["text_id"] == "1101")));
    for at in [0, 1, 2199] {
        let (row, text) = (&rows[at], &new[at / 2]);
        let who = row["annotator_id"].as_str();
        let one = bench.json(["models", "predict", "P.dissensus", "--annotator", who, "--text", text]);
        for level in 1..=5 {
            let p = one["probabilities"][level.to_string()].as_f64().unwrap();
            // A tolerance, because the batch contained other texts.
            assert!((p - number(row, &format!("p_{level}"))).abs() < 1e-3, "{one} next to {row:?}");
        }
    }
    assert!(rows.iter().all(|row| (0.0..=1.0).contains(&number(row, "disagreement_split"))));
    // The project is unchanged.
    assert_eq!(bench.json(["project", "info", "P.dissensus"])["texts"], 41);
    let both = bench.run([
        "models",
        "predict",
        "P.dissensus",
        "--texts",
        "new.txt",
        "--annotator",
        "a0",
        "--out",
        "x.csv",
    ]);
    assert_eq!(both.code, Some(2), "{both:?}");
    let nowhere = bench.run(["models", "predict", "P.dissensus", "--texts", "new.txt"]);
    assert!(nowhere.code == Some(2) && nowhere.err.contains("--out"), "{nowhere:?}");
}

/// On another machine: without the project and the encoder, and with another name of the folder.
#[test]
fn bundle_predicts_without_project_and_encoder() {
    let bench = Bench::new();
    labelled(&bench);
    bench.ok(["models", "encode", "P.dissensus"]);
    bench.file("new.csv", "nr,said\n1,What a fool\n2,\"How dull, again\"\n3,Thank you\n");
    let columns = ["--text-column", "said", "--text-id-column", "nr"];
    let ask = |of: &[&'static str], out: &'static str| {
        [&["models", "predict"], of, &["--texts", "new.csv", "--out", out], &columns].concat()
    };
    bench.ok(ask(&["P.dissensus"], "here.csv"));
    let made = bench.json(["models", "bundle", "P.dissensus", "model", "--ids"]);
    assert_eq!((&made["questions"][0], &made["annotators"]), (&"rude".into(), &6.into()), "{made}");
    std::fs::remove_file(bench.path("P.dissensus")).unwrap();
    std::fs::create_dir(bench.path("no-models")).unwrap();
    std::fs::rename(bench.path("model"), bench.path("carried")).unwrap();
    let mut elsewhere = bench.command(ask(&["--bundle", "carried"], "there.csv"));
    let done = elsewhere.env("DISSENSUS_MODELS", bench.path("no-models")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let (here, there) = (table(&bench, "here.csv"), table(&bench, "there.csv"));
    assert_eq!((here.len(), there.len()), (18, 18));
    for (here, there) in here.iter().zip(&there) {
        for column in ["text_id", "annotator_id", "prediction"] {
            assert_eq!(here[column], there[column]);
        }
        for column in ["p_1", "p_2", "p_3", "p_4", "p_5", "disagreement_split", "disagreement_pairwise"] {
            assert!((number(here, column) - number(there, column)).abs() < 1e-6, "{here:?} {there:?}");
        }
        assert_eq!((here["observed"].as_str(), there["observed"].as_str()), ("false", ""));
    }
    let damaged = bench.path("carried/encoder/tokenizer.json");
    std::fs::remove_file(damaged).unwrap();
    let refused = bench.run(ask(&["--bundle", "carried"], "x.csv"));
    assert_eq!(refused.code, Some(1));
    insta::assert_snapshot!(bench.shown(&refused.err));
    let both = bench.run(ask(&["P.dissensus", "--bundle", "carried"], "x.csv"));
    assert_eq!(both.code, Some(2), "{both:?}");
    let single = bench.run(["models", "predict", "--bundle", "carried", "--annotator", "a0", "--text", "x"]);
    assert_eq!(single.code, Some(2), "{single:?}");
}

#[cfg(unix)]
/// The words of a question with spans: by the project, and by a bundle on another machine.
#[test]
fn marked_words_are_predicted_with_project_and_bundle() {
    let bench = Bench::new();
    let mut lines = String::new();
    for text in 0..20 {
        let word = if text % 2 == 0 { "fool" } else { "pear" };
        let marks = if text % 2 == 0 { r#"[[9, 13, "insult"]]"# } else { "[]" };
        for who in ["ana", "ben"] {
            lines.push_str(&format!(
                "{{\"text_id\": \"t{text}\", \"text\": \"you are, {word} number {text}\", \"annotator_id\": \"{who}\", \"label\": {marks}}}\n"
            ));
        }
    }
    bench.file("marked.jsonl", &lines);
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "question", "P.dissensus", "where", "--scale", "spans", "--levels", "insult,praise"]);
    bench.ok(["data", "import", "P.dissensus", "marked.jsonl", "--question", "where"]);
    bench.ok(["models", "encode", "P.dissensus"]);
    bench.file("new.txt", "a fool\n...\n");
    let here = bench.json(["models", "predict", "P.dissensus", "--texts", "new.txt", "--out", "here.csv"]);
    assert_eq!((&here["texts"], &here["rows"]), (&2.into(), &4.into()), "{here}");
    let made = bench.json(["models", "bundle", "P.dissensus", "model", "--ids"]);
    assert_eq!(made["words"], serde_json::json!(["where"]), "{made}");
    std::fs::remove_file(bench.path("P.dissensus")).unwrap();
    let ask = |more: &[&'static str]| {
        [&["models", "predict", "--bundle", "model", "--texts", "new.txt", "--out", "there.csv"], more]
            .concat()
    };
    let refused = bench.run(ask(&["--question", "who"]));
    assert_eq!(refused.code, Some(1));
    insta::assert_snapshot!(bench.shown(&refused.err));
    // Without `--question` the only question of the bundle is used, as in the project.
    let message = bench.ok(ask(&[]));
    insta::assert_snapshot!(bench.shown(&message));
    let (here, there) = (table(&bench, "here.csv"), table(&bench, "there.csv"));
    assert_eq!((here.len(), there.len()), (4, 4));
    for (here, there) in here.iter().zip(&there) {
        assert_eq!((&here["word"], &here["type"]), (&there["word"], &there["type"]));
        for column in ["expected", "differ"] {
            assert!((number(here, column) - number(there, column)).abs() < 1e-6, "{here:?} {there:?}");
        }
    }
    assert!(number(&there[2], "expected") > number(&there[0], "expected"), "{there:?}");
    // Types are still available as yes/no questions on whole texts.
    bench.ok([ask(&["--question", "where: insult", "--force"]), vec!["--annotators", "ana"]].concat());
    assert!(table(&bench, "there.csv")[0].contains_key("p_yes"));
}

#[test]
fn killed_bundle_leaves_no_folder() {
    let bench = Bench::new();
    labelled(&bench);
    bench.ok(["models", "encode", "P.dissensus"]);
    bench.ok(["models", "train", "P.dissensus"]);
    let mut child = bench
        .command(["models", "bundle", "P.dissensus", "model"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let begun = || {
        let names = std::fs::read_dir(bench.folder()).unwrap().map(|entry| entry.unwrap().file_name());
        names.into_iter().any(|name| name.to_string_lossy().ends_with(".part"))
    };
    let start = std::time::Instant::now();
    while !begun() && !bench.path("model").exists() && start.elapsed().as_secs() < 120 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!bench.path("model").exists(), "killed while its files were written");
    bench.ok(["models", "bundle", "P.dissensus", "model"]);
    assert!(bench.path("model/SHA256SUMS").exists());
}
