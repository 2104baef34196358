//! Several questions on one encoder, through the command: the output for scripts, and refusals.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use dissensus_tests::command::Bench;
use serde_json::Value;

/// 60 texts: a yes/no question on all, a scale on half of them, and one with three options,
/// asked of one person.
fn project(bench: &Bench) {
    bench.ok(["project", "new", "P.dissensus"]);
    let rows = |asked: std::ops::Range<usize>, people: &[&str], label: &dyn Fn(usize) -> String| -> String {
        let row = |n: usize, who: &&str| format!("t{n},comment number {n} is here,{who},{}\n", label(n));
        let rows = asked.flat_map(|n| people.iter().map(move |who| row(n, who)));
        format!("text_id,text,annotator,label\n{}", rows.collect::<String>())
    };
    bench.file("rude.csv", rows(0..60, &["a", "b"], &|n| ["no", "yes"][n * 7 % 5 / 3].to_owned()));
    bench.file("tone, of it.csv", rows(30..60, &["c"], &|n| (n % 3 + 1).to_string()));
    bench.file("sets.csv", rows(0..50, &["d"], &|n| ["joy", "joy;fear", "fear", "none"][n % 4].to_owned()));
    bench.ok(["data", "import", "P.dissensus", "rude.csv", "--question", "rude"]);
    bench.ok(["data", "import", "P.dissensus", "tone, of it.csv", "--question", "tone, of it"]);
    let sets =
        ["data", "import", "P.dissensus", "sets.csv", "--question", "feelings", "--scale", "multi-label"];
    bench.ok(sets.into_iter().chain(["--levels", "joy,anger,fear"]));
    bench.ok(["models", "encode", "P.dissensus"]);
}

const TRAIN: [&str; 9] =
    ["models", "train", "P.dissensus", "--model", "shared", "--tuning", "last-1", "--epochs", "1"];

fn asking<'a>(more: &[&'a str]) -> Vec<&'a str> {
    TRAIN.into_iter().chain(more.iter().copied()).collect()
}

fn names(document: &Value) -> Vec<String> {
    let runs = document["runs"].as_array().unwrap();
    runs.iter().map(|run| run["info"]["question_name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn joint_training_uses_one_encoder() {
    let bench = Bench::new();
    project(&bench);
    // A name that contains a comma is passed as an argument of its own.
    let asked =
        asking(&["--questions", "rude,feelings", "--questions", "tone, of it", "--weights", "1,2,0.5"]);
    let document = bench.json(&asked);
    let learned = ["rude", "feelings: joy", "feelings: anger", "feelings: fear", "tone, of it"];
    assert_eq!(names(&document), learned);
    for run in document["runs"].as_array().unwrap() {
        let metrics = run["info"]["scores"]["metrics"].as_array().unwrap();
        assert!(metrics.iter().any(|metric| metric["key"] == "macro_f1" && metric["value"].is_number()));
        assert_eq!(run["info"]["joint"], 5);
        assert_eq!(run["info"]["trained_with"].as_array().unwrap().len(), 4);
    }
    let sets = &document["sets"][0];
    assert_eq!(
        (sets["question"].as_str(), sets["runs"].as_array().map(Vec::len)),
        (Some("feelings"), Some(3))
    );
    assert!(
        sets["micro_f1"].is_number() && sets["jaccard"].is_number() && sets["tuned"]["macro_f1"].is_number()
    );
    let weights: Vec<f64> = document["runs"][0]["choices"]["joint"]
        .as_array()
        .unwrap()
        .iter()
        .map(|joint| joint["weight"].as_f64().unwrap())
        .collect();
    assert!((weights.iter().sum::<f64>() - 3.5).abs() < 1e-9 && (weights[1] - 2.0 / 3.0).abs() < 1e-9);

    // The printed form: one line for each question, and what was learned together.
    let message = bench.ok(asking(&["--question", "feelings", "--class-weights"]));
    for part in [
        "feelings: joy",
        "feelings: anger",
        "3 questions",
        "\"feelings\" as a whole",
        "Jaccard",
        "Learned together with others",
        "runs show",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let shown = bench.ok(["models", "runs", "show", "P.dissensus", "2"]);
    insta::assert_snapshot!(bench.shown(&shown));
    let gone = bench.json(["models", "runs", "delete", "P.dissensus", "1"]);
    assert_eq!((gone["run"].as_u64(), gone["with"].as_array().map(Vec::len)), (Some(1), Some(0)));
    let text = ["models", "predict", "P.dissensus", "--run", "2", "--annotator", "d", "--text", "comment"];
    assert!(bench.json(text)["probabilities"]["yes"].is_number());
    let several =
        ["models", "predict", "P.dissensus", "--run", "2,5", "--annotator", "d", "--text", "comment"];
    let several = bench.json(several);
    assert_eq!(several["runs"][0]["probabilities"], bench.json(text)["probabilities"]);
    assert_eq!(several["runs"][1]["question"], "tone, of it");
    let shown =
        bench.ok(["models", "predict", "P.dissensus", "--run", "2,5", "--annotator", "d", "--text", "it"]);
    assert!(shown.contains("Run 2 (") && shown.contains("Run 5 ("), "{shown}");
    // Tables: for the texts of a file, and for those of the project.
    bench.file("new.txt", "comment\nanother comment\n");
    let tables = ["models", "predict", "P.dissensus", "--texts", "new.txt", "--out", "t.csv", "--run", "2,5"];
    let written = bench.json(tables);
    assert_eq!(written["runs"][1]["question"], "tone, of it");
    let lines = |name: &str| std::fs::read_to_string(bench.path(name)).unwrap().lines().count() as u64;
    for (nth, name) in ["t-2.csv", "t-5.csv"].into_iter().enumerate() {
        assert_eq!(written["runs"][nth]["rows"].as_u64(), Some(lines(name) - 1), "{name}");
    }
    assert_eq!(bench.json(["models", "predictions", "P.dissensus", "all.csv", "--run", "2"])["run"], 2);
    assert!(lines("all.csv") > lines("t-2.csv"));
    // Without gradient training the live model is fitted as usual.
    let one = bench.json(asking(&["--questions", "rude", "--pos-weight", "4"]));
    assert_eq!(
        (one["info"]["joint"].as_u64(), one["info"]["question_name"].as_str()),
        (Some(0), Some("rude"))
    );
}

/// One command trains one encoder for spans, a multi-label question and a scale, and its predictions of words
/// can be used.
#[test]
fn joint_training_of_words_sets_and_a_scale() {
    let bench = Bench::new();
    project(&bench);
    let mut lines = String::new();
    for n in 0..60 {
        for who in ["a", "b", "e"] {
            // "comment" is marked by all, "here" by the third too.
            let start = format!("comment number {n} is ").len();
            let here = match who {
                "e" => format!(r#",{{"start":{start},"end":{},"label":"place"}}"#, start + 4),
                _ => String::new(),
            };
            lines.push_str(&format!(
                r#"{{"text_id":"t{n}","text":"comment number {n} is here","annotator":"{who}","label":[{{"start":0,"end":7,"label":"thing"}}{here}]}}"#
            ));
            lines.push('\n');
        }
    }
    bench.file("words.jsonl", lines);
    let import = ["data", "import", "P.dissensus", "words.jsonl", "--question", "words", "--scale", "spans"];
    bench.ok(import.into_iter().chain(["--levels", "thing,place"]));
    let train =
        ["models", "train", "P.dissensus", "--model", "multilevel", "--tuning", "last-1", "--epochs", "2"];
    let asked = ["--questions", "words,feelings,rude", "--split", "by-text:0.6", "--head-lr", "0.02"];
    let document = bench.json(train.into_iter().chain(asked));
    let learned =
        ["words: thing", "words: place", "feelings: joy", "feelings: anger", "feelings: fear", "rude"];
    assert_eq!(names(&document), learned);
    let words = &document["words"][0];
    assert_eq!(words["question"], "words");
    assert_eq!(words["runs"].as_array().map(Vec::len), Some(2));
    for key in ["token_log_loss", "token_macro_f1", "span_f1_exact", "token_disagreement_auroc"] {
        assert!(words[key].is_number(), "{key}: {words}");
    }
    assert_eq!(words["baselines"][0]["model"], "word-frequency");
    assert!(document["sets"][0]["micro_f1"].is_number());
    let shown = bench.ok(["models", "runs", "show", "P.dissensus", "1"]);
    insta::assert_snapshot!(bench.shown(&shown));

    // When used, it predicts for any text which words people mark, and who differs.
    bench.ok(["models", "runs", "use", "P.dissensus", "1"]);
    bench.ok(["models", "encode", "P.dissensus"]);
    let found = bench.json(["analyse", "words", "P.dissensus", "--question", "words", "--text-id", "t3"]);
    assert_eq!(found["model"]["tuned"], true);
    let of_text = found["text"]["words"].as_array().unwrap();
    let words: Vec<&str> = of_text.iter().map(|word| word["word"].as_str().unwrap()).collect();
    assert_eq!(words, ["comment", "number", "3", "is", "here"]);
    let figure =
        |word: usize, of_type: usize, key: &str| of_text[word]["types"][of_type][key].as_f64().unwrap();
    assert!(figure(0, 0, "expected") > figure(1, 0, "expected"), "{found}");
    assert!(figure(4, 1, "differ") > figure(0, 0, "differ"), "one of three marks it: {found}");
    let out = bench.path("words.csv");
    bench.ok(["analyse", "words", "P.dissensus", "--question", "words", "--out", "words.csv"]);
    assert_eq!(std::fs::read_to_string(out).unwrap().lines().count(), 1 + 60 * 5 * 2);
    let refused =
        bench.refused(["analyse", "words", "P.dissensus", "--question", "words", "--out", "words.csv"]);
    assert!(refused.contains("words.csv"), "{refused}");
    let refused = bench.refused(["analyse", "words", "P.dissensus", "--question", "rude", "--text-id", "t3"]);
    assert!(refused.contains("rude"), "{refused}");
}

#[test]
fn impossible_joint_training_is_refused() {
    let bench = Bench::new();
    project(&bench);
    for (more, expected) in [
        (&["--questions", "rude,rude"][..], "\"rude\" is named twice"),
        (
            &["--questions", "feelings,feelings: joy"],
            "\"feelings: joy\" is named twice, by itself or with its whole question",
        ),
        (&["--questions", "rude,nobody"], "nobody"),
        (
            &["--questions", "rude,feelings", "--weights", "1"],
            "--weights has 1 number, and --questions names 2",
        ),
        (&["--questions", "rude,feelings", "--weights", "1,0"], "every weight is more than 0"),
        (&["--questions", "rude,feelings", "--weights", "1,-2"], "every weight is more than 0"),
        (&["--questions", "rude,feelings", "--split", "stratified:0.7"], "Use by-text"),
        (&["--question", "tone, of it", "--pos-weight", "3"], "use class weights"),
        (&["--question", "rude", "--pos-weight", "3", "--class-weights"], "pos_weight"),
        (&["--question", "rude", "--pos-weight", "0"], "pos_weight"),
        (&["--questions", "rude,feelings", "--freeze", "rude=9"], "there is no run 9"),
        (&["--questions", "rude,feelings", "--freeze", "nobody=9"], "nobody"),
    ] {
        let found = bench.refused(asking(more));
        assert!(found.contains(expected), "{found}\n{expected}");
    }
    for usage in [
        &["--questions", "rude", "--question", "rude"][..],
        &["--weights", "1"],
        &["--freeze", "encoder"],
        &["--freeze", "rude"],
        &["--freeze", "rude=x"],
        &["--freeze", "encoder", "--freeze", "rude=1"],
        &["--questions", "rude,feelings", "--weights", "x"],
    ] {
        assert_eq!(bench.run(asking(usage)).code, Some(2), "{usage:?}");
    }
    assert_eq!(bench.json(["models", "runs", "list", "P.dissensus"]).as_array().map(Vec::len), Some(0));
}
