//! The `dissensus` command from an empty project to an export, as a script uses it.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use dissensus_tests::command::Bench;
use dissensus_tests::files;
use serde_json::{Value, json};

/// A project with 40 texts and 6 annotators, every text labelled by everybody.
fn labelled(bench: &Bench) {
    bench.file("labels.csv", files::labels(40, 6));
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "labels.csv", "--attributes", "gender", "--question", "rude"]);
}

/// Rows of a CSV text as maps from the columns named.
fn rows(csv: &str, columns: [&str; 4]) -> Vec<[String; 4]> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let places = columns.map(|column| {
        header.iter().position(|name| name == column).unwrap_or_else(|| panic!("no {column} in {header:?}"))
    });
    reader.records().map(Result::unwrap).map(|row| places.map(|place| row[place].to_owned())).collect()
}

/// `text_id`, `text`, `annotator_id`, `label`: the columns that every export has.
fn exported(bench: &Bench, file: &str) -> Vec<[String; 4]> {
    bench.ok(["data", "export", "P.dissensus", file]);
    let mut rows = rows(
        &std::fs::read_to_string(bench.path(file)).unwrap(),
        ["text_id", "text", "annotator_id", "label"],
    );
    rows.sort();
    rows
}

#[test]
fn labels_survive_import_export_import() {
    let bench = Bench::without_encoder();
    labelled(&bench);
    let mut given = rows(&files::labels(40, 6), ["text_id", "text", "annotator_id", "label"]);
    given.sort();
    assert_eq!(exported(&bench, "first.csv"), given);

    bench.ok(["project", "new", "Q.dissensus"]);
    bench.ok(["data", "import", "Q.dissensus", "first.csv", "--attributes", "gender"]);
    bench.ok(["data", "export", "Q.dissensus", "second.csv"]);
    let second = std::fs::read_to_string(bench.path("second.csv")).unwrap();
    let mut second = rows(&second, ["text_id", "text", "annotator_id", "label"]);
    second.sort();
    assert_eq!(second, given);
}

#[test]
fn second_import_adds_to_the_first() {
    let bench = Bench::without_encoder();
    labelled(&bench);
    // The same file again adds nothing; a larger one adds its additional rows.
    bench.ok(["data", "import", "P.dissensus", "labels.csv", "--attributes", "gender", "--question", "rude"]);
    assert_eq!(exported(&bench, "same.csv").len(), 240);
    bench.file("more.csv", files::labels(45, 7));
    bench.ok(["data", "import", "P.dissensus", "more.csv", "--attributes", "gender", "--question", "rude"]);
    assert_eq!(exported(&bench, "more-out.csv").len(), 45 * 7);
    let info = bench.json(["project", "info", "P.dissensus"]);
    assert_eq!((&info["texts"], &info["annotators"]), (&Value::from(45), &Value::from(7)), "{info}");
}

#[test]
fn label_is_added_replaced_and_undone() {
    let bench = Bench::without_encoder();
    labelled(&bench);
    let label = |value| {
        let line = bench.ok([
            "label",
            "record",
            "P.dissensus",
            "--annotator",
            "ana",
            "--text-id",
            "t7",
            "--value",
            value,
        ]);
        assert_eq!(line.lines().count(), 1, "label prints one line: {line}");
    };
    let anas = |file| -> Vec<String> {
        let rows = exported(&bench, file).into_iter().filter(|row| row[2] == "ana" && row[0] == "t7");
        rows.map(|row| row[3].clone()).collect()
    };
    label("2");
    label("5");
    assert_eq!(anas("a.csv"), ["5"], "the newest label is current");
    bench.ok(["label", "undo", "P.dissensus", "--annotator", "ana"]);
    assert_eq!(anas("b.csv"), ["2"], "undo uncovers the one before");
    let undone = bench.json(["label", "undo", "P.dissensus", "--annotator", "ana"]);
    assert!(anas("c.csv").is_empty());
    let rude = json!({ "annotator": "ana", "text_id": "t7", "question": "rude", "value": "2", "occasion": 1, "now": null });
    assert_eq!(undone, rude);
    assert_eq!(bench.json(["label", "undo", "P.dissensus", "--annotator", "ana"]), Value::Null);
}

#[test]
fn texts_without_labels_can_be_labelled() {
    let bench = Bench::without_encoder();
    bench.file("texts.csv", "text\nhello\ngo away\nhello\n");
    bench.ok(["project", "new", "P.dissensus"]);
    let message = bench.ok(["data", "import", "P.dissensus", "texts.csv"]);
    insta::assert_snapshot!(bench.shown(&message));
    bench.ok([
        "data",
        "question",
        "P.dissensus",
        "rude",
        "--levels",
        "not at all,a little,very",
        "--scale",
        "ordinal",
    ]);
    let prompt = "Is it kind?";
    bench.ok(["data", "question", "P.dissensus", "kind", "--levels", "no,yes", "--prompt", prompt]);
    let info = bench.json(["project", "info", "P.dissensus"]);
    let scales: Vec<Value> = (0..2).map(|nth| info["questions"][nth]["scale"].clone()).collect();
    assert_eq!(scales[0], json!({ "kind": "ordinal", "levels": ["not at all", "a little", "very"] }));
    assert_eq!(scales[1], json!({ "kind": "binary", "levels": ["no", "yes"] }));
    assert_eq!(info["questions"][1]["prompt"], prompt);
}

#[test]
fn sets_of_options_survive_export_and_import() {
    let bench = Bench::without_encoder();
    bench.file("texts.csv", "text_id,text\na,one\nb,two\nc,three\n");
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "texts.csv"]);
    let message = bench.ok([
        "data",
        "question",
        "P.dissensus",
        "harm",
        "--levels",
        "rude,threat,lie",
        "--scale",
        "multi-choice", // its earlier name
    ]);
    insta::assert_snapshot!(bench.shown(&message));
    let label = |text, value| {
        ["label", "record", "P.dissensus", "--annotator", "ana", "--text-id", text, "--value", value]
            .map(str::to_owned)
    };
    bench.ok(label("a", "lie; rude"));
    bench.ok(label("b", "none"));
    bench.ok(label("c", r#"["threat"]"#));
    let refused = bench.refused(label("c", "rude; nice"));
    insta::assert_snapshot!(bench.shown(&refused));
    let given = exported(&bench, "first.csv");
    let values: Vec<&str> = given.iter().map(|row| row[3].as_str()).collect();
    assert_eq!(values, ["rude + lie", "none", "threat"]);
    bench.ok(["project", "new", "Q.dissensus"]);
    bench.ok([
        "data",
        "import",
        "Q.dissensus",
        "first.csv",
        "--scale",
        "multi-label",
        "--levels",
        "rude,threat,lie",
    ]);
    bench.ok(["data", "export", "Q.dissensus", "second.csv"]);
    let second = std::fs::read_to_string(bench.path("second.csv")).unwrap();
    let mut second = rows(&second, ["text_id", "text", "annotator_id", "label"]);
    second.sort();
    assert_eq!(second, given);
}

#[test]
fn spans_are_labelled_and_compared() {
    let bench = Bench::without_encoder();
    bench.file("texts.csv", "text_id,text\na,you absolute fool\nb,all is well\n");
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "texts.csv"]);
    let message = bench.ok([
        "data",
        "question",
        "P.dissensus",
        "words",
        "--scale",
        "spans",
        "--levels",
        "insult,target",
    ]);
    insta::assert_snapshot!(bench.shown(&message));
    let label = |who, text, value| {
        ["label", "record", "P.dissensus", "--annotator", who, "--text-id", text, "--value", value]
            .map(str::to_owned)
    };
    bench.ok(label("ana", "a", r#"[{"start": 0, "end": 3, "label": "target"}, [4, 17, "insult"]]"#));
    bench.ok(label("ben", "a", r#"[[13, 17, "insult"]]"#));
    bench.ok(label("ana", "b", "none"));
    bench.ok(label("ben", "b", "[]"));
    for (value, message) in [
        (r#"[[13, 18, "insult"]]"#, "the text has 17 characters"),
        (r#"[[4, 4, "insult"]]"#, "goes from 4 to 4"),
        (r#"[[4, 9, "praise"]]"#, "the types are insult, target"),
    ] {
        let refused = bench.refused(label("cleo", "a", value));
        assert!(refused.contains(message), "{refused}");
    }
    let found = bench.json(["analyse", "agreement", "P.dissensus"]);
    assert_eq!((&found["labels"], &found["annotators"], &found["texts"]), (&4.into(), &2.into(), &2.into()));
    // Of six words ana marks two as an insult, and ben one of these two.
    let insult = &found["types"][0];
    assert_eq!((&insult["type"], &insult["chosen"]), (&"insult".into(), &0.5.into()), "{found}");
    assert_eq!(insult["words"], 6, "{insult}");
    let near = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-12;
    assert!(near(&insult["pairwise_f1"]["value"], 2.0 / 3.0) && near(&insult["marked"], 0.25), "{insult}");
    assert!(near(&insult["alpha"]["value"], 1.0 - 11.0 * 2.0 / (2.0 * 3.0 * 9.0)), "{insult}");
    assert!(near(&found["any"]["pairwise_f1"]["value"], 0.5), "{found}");
    let message = bench.ok(["analyse", "agreement", "P.dissensus"]);
    insta::assert_snapshot!(bench.shown(&message));
    let message = bench.ok(["analyse", "agreement", "P.dissensus", "--question", "words: insult"]);
    insta::assert_snapshot!(bench.shown(&message));
    bench.ok(["data", "export", "P.dissensus", "spans.jsonl"]);
    let lines = std::fs::read_to_string(bench.path("spans.jsonl")).unwrap();
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["label"][0], serde_json::json!({"start": 0, "end": 3, "label": "target"}), "{first}");
}

#[test]
fn jsonl_round_trips() {
    let bench = Bench::without_encoder();
    labelled(&bench);
    bench.ok(["data", "export", "P.dissensus", "labels.jsonl"]);
    let lines = std::fs::read_to_string(bench.path("labels.jsonl")).unwrap();
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    for key in ["text_id", "text", "annotator_id", "label"] {
        assert!(first[key].is_string(), "{key} in {first}");
    }
    bench.ok(["project", "new", "Q.dissensus"]);
    bench.ok(["data", "import", "Q.dissensus", "labels.jsonl"]);
    let info = bench.json(["project", "info", "Q.dissensus"]);
    assert_eq!(info["labels"], 240, "{info}");
}

#[test]
fn unusual_texts_are_preserved() {
    let bench = Bench::without_encoder();
    let bodies = [
        "two\nlines, and \"quotes\"",
        " spaces at both ends ",
        "emoji 👩🏽‍🚒 and e\u{301}",
        "مرحبا بالعالم",
        "<script>alert('x')</script> & <b>bold</b>",
        "=HYPERLINK(\"x\")",
    ];
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(["text_id", "text", "annotator_id", "label"]).unwrap();
    for (index, body) in bodies.iter().enumerate() {
        writer
            .write_record([
                format!("t{index}").as_str(),
                body,
                "<i>ana</i>",
                if index % 2 == 0 { "no" } else { "yes" },
            ])
            .unwrap();
    }
    let mut file = b"\xef\xbb\xbf".to_vec();
    file.extend(writer.into_inner().unwrap());
    bench.file("odd.csv", file);
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "odd.csv"]);
    let rows = exported(&bench, "out.csv");
    assert_eq!(rows.iter().map(|row| row[1].as_str()).collect::<Vec<_>>(), bodies);
    assert!(rows.iter().all(|row| row[2] == "<i>ana</i>"));
}

#[test]
fn columns_can_be_named() {
    let bench = Bench::without_encoder();
    bench.file("odd.csv", "n,said,by,how,part\n1,hello there,ana,mild,train\n2,go away,ana,harsh,test\n3,well well,bo,mild,test\n");
    bench.ok(["project", "new", "P.dissensus"]);
    let names =
        ["--text-id", "n", "--text", "said", "--annotator", "by", "--label", "how", "--split", "part"];
    let scale = ["--question", "tone", "--scale", "ordinal", "--levels", "mild,harsh,vile"];
    bench.ok(["data", "import", "P.dissensus", "odd.csv"].into_iter().chain(names).chain(scale));
    let info = bench.json(["project", "info", "P.dissensus"]);
    assert_eq!(info["questions"][0]["name"], "tone", "{info}");
    assert_eq!(
        info["questions"][0]["scale"]["levels"],
        serde_json::json!(["mild", "harsh", "vile"]),
        "{info}"
    );
}

#[test]
fn dry_run_shows_the_guess_and_changes_nothing() {
    let bench = Bench::without_encoder();
    bench.file("labels.csv", files::labels(10, 3));
    bench.ok(["project", "new", "P.dissensus"]);
    let before = std::fs::read(bench.path("P.dissensus")).unwrap();
    let preview = bench.json(["data", "import", "P.dissensus", "labels.csv", "--dry-run"]);
    assert_eq!(preview["new_texts"], 10, "{preview}");
    assert_eq!(preview["new_labels"], 30, "{preview}");
    assert_eq!(preview["columns"]["annotator"], "annotator_id", "{preview}");
    assert_eq!(std::fs::read(bench.path("P.dissensus")).unwrap(), before);
}

#[test]
fn dry_run_exits_like_the_import() {
    let bench = Bench::without_encoder();
    bench.file("labels.csv", "text_id,text,annotator_id,label\nt1,a,ann,1\nt2,b,,2\nt3,c,ann,2\n");
    bench.ok(["project", "new", "P.dissensus"]);
    for more in [&[][..], &["--json"]] {
        let asked = [&["data", "import", "P.dissensus", "labels.csv", "--dry-run"][..], more].concat();
        let dry = bench.run(asked);
        assert_eq!(dry.code, Some(1), "{dry:?}");
        insta::assert_snapshot!(bench.shown(&dry.err));
        assert!(dry.out.contains("bad_row_count") || dry.out.contains("1 bad row"), "{dry:?}");
    }
    assert_eq!(bench.run(["data", "import", "P.dissensus", "labels.csv"]).code, Some(1));
    bench.ok(["data", "import", "P.dissensus", "labels.csv", "--dry-run", "--skip-bad"]);
    bench.ok(["data", "import", "P.dissensus", "labels.csv", "--skip-bad"]);
}

#[test]
fn import_and_undo_report_replaced_labels() {
    let bench = Bench::without_encoder();
    let file = |name, rows: &str| bench.file(name, format!("text_id,text,annotator_id,label\n{rows}"));
    file("first.csv", "t1,x,ana,1\nt1,x,bo,3\nt2,y,ana,2\n");
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "first.csv"]);
    bench.ok(["label", "record", "P.dissensus", "--annotator", "ana", "--text-id", "t2", "--value", "3"]);
    file("second.csv", "t1,x,bo,2\nt1,x,bo,1\nt2,y,ana,1\nt1,x,ana,1\n");
    let reported = [
        "Replaced in the project: 2 labels, of them 1 given in the window or by the command",
        "  row 3: ana on t2: 1 counts, not 3",
        "  row 2: bo on t1: 1 counts, not 3",
        "Replaced within the file: 1 label ",
        "  row 2: bo on t1: 1 counts, not 2",
    ];
    let dry = bench.ok(["data", "import", "P.dissensus", "second.csv", "--dry-run"]);
    let message = bench.ok(["data", "import", "P.dissensus", "second.csv"]);
    for line in reported {
        assert!(dry.contains(line) && message.contains(line), "{line}\n{dry}\n{message}");
    }
    insta::assert_snapshot!(bench.shown(&message));
    let undone = bench.run(["label", "undo", "P.dissensus", "--annotator", "ana"]);
    assert_eq!(undone.code, Some(1), "{undone:?}");
    insta::assert_snapshot!(bench.shown(&undone.err));
    file("third.csv", "t1,x,bo,3\n");
    let third = bench.json(["data", "import", "P.dissensus", "third.csv"]);
    let changes = json!({
        "replaced_in_file": 0, "replaced_labels": 0, "replaced_given": 0, "older_labels": 0, "given_again": 0,
        "outdated_rows": 1
    });
    assert_eq!((&third["changes"], &third["repeated_rows"]), (&changes, &Value::from(1)), "{third}");
    let place = json!({
        "row": 1, "annotator": "bo", "text_id": "t1", "question": "first", "counts": "1", "instead_of": "3"
    });
    assert_eq!(third["notices"][0]["places"], json!([place]), "{third}");
}

#[test]
fn people_without_labels_are_counted_separately() {
    let bench = Bench::without_encoder();
    bench.file("labels.csv", files::labels(10, 3));
    bench.file("people.csv", "annotator_id,gender\nnew1,woman\nnew2,man\n");
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "labels.csv"]);
    bench.ok(["data", "import", "P.dissensus", "people.csv"]);
    let line = bench.ok(["project", "info", "P.dissensus"]);
    insta::assert_snapshot!(bench.shown(&line));
    let info = bench.json(["project", "info", "P.dissensus"]);
    assert_eq!((&info["annotators"], &info["annotators_without_labels"]), (&json!(5), &json!(2)), "{info}");
    assert_eq!(info["questions"][0]["annotators_with_labels"], 3, "{info}");
    let agreement = bench.json(["analyse", "agreement", "P.dissensus"]);
    assert_eq!((&agreement["annotators"], &agreement["annotators_without_labels"]), (&json!(3), &json!(2)));
    let line = bench.ok(["analyse", "agreement", "P.dissensus"]);
    insta::assert_snapshot!(bench.shown(&line));
    let aggregate = bench.json(["analyse", "aggregate", "P.dissensus"]);
    assert_eq!(aggregate["annotators_without_labels"], 2, "{aggregate}");
    assert_eq!(aggregate["annotators"].as_array().unwrap().len(), 3);
    let line = bench.ok(["analyse", "aggregate", "P.dissensus"]);
    insta::assert_snapshot!(bench.shown(&line));
}

#[test]
fn people_without_labels_are_predicted_with_a_note() {
    let bench = Bench::new();
    bench.file("labels.csv", files::labels(20, 4));
    bench.file("people.csv", "annotator_id,gender\nnew1,woman\nnew2,man\n");
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "labels.csv", "--attributes", "gender"]);
    bench.ok(["data", "import", "P.dissensus", "people.csv"]);
    let without = |more: &[&str]| {
        let found =
            bench.json(["analyse", "disagreement", "P.dissensus"].into_iter().chain(more.iter().copied()));
        (found["annotators"].as_u64().unwrap(), found["annotators_without_labels"].as_u64().unwrap())
    };
    assert_eq!(without(&[]), (6, 2));
    assert_eq!(without(&["--attributes", "gender=man"]).1, 1);
    let line = bench.ok(["analyse", "disagreement", "P.dissensus", "--top", "1"]);
    insta::assert_snapshot!(bench.shown(&line));
    let predict = |who| ["models", "predict", "P.dissensus", "--annotator", who, "--text", "You fool"];
    for (who, knows) in [("new1", false), ("a0", true)] {
        assert_eq!(bench.json(predict(who))["knows_annotator"], knows);
        assert_eq!(bench.ok(predict(who)).contains("for an unknown annotator"), !knows);
    }
    // Nothing is computed of a question without labels.
    bench.ok(["data", "question", "P.dissensus", "new", "--levels", "no,yes"]);
    for more in [["--annotator", "a0", "--text", "You fool"], ["--texts", "labels.csv", "--out", "out.csv"]] {
        let asked = ["models", "predict", "P.dissensus", "--question", "new"].into_iter().chain(more);
        assert!(bench.refused(asked).contains("\"new\" has no labels yet"));
    }
    // What belongs to a file of texts is not ignored with one text.
    for of_file in [&["--out", "out.csv"][..], &["--annotators", "a0"], &["--resume"], &["--force"]] {
        let refused = bench.run(predict("a0").into_iter().chain(of_file.iter().copied()));
        assert!(refused.code == Some(2) && refused.err.contains("cannot be used with"), "{refused:?}");
    }
}

#[test]
fn copy_onto_an_existing_file_is_refused() {
    let bench = Bench::without_encoder();
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["project", "copy", "P.dissensus", "Q.dissensus"]);
    for force in [&[][..], &["--force"]] {
        let itself = bench
            .run(["project", "copy", "P.dissensus", "P.dissensus"].into_iter().chain(force.iter().copied()));
        assert_eq!(itself.code, Some(1));
        assert!(
            itself.err.contains("is the project itself") && !itself.err.contains("--force"),
            "{itself:?}"
        );
    }
    let other = bench.run(["project", "copy", "P.dissensus", "Q.dissensus"]);
    assert_eq!(other.code, Some(1));
    insta::assert_snapshot!(bench.shown(&other.err));
    bench.ok(["project", "copy", "P.dissensus", "Q.dissensus", "--force"]);
}

#[test]
fn frozen_run_is_used_and_deleted() {
    let bench = Bench::new();
    labelled(&bench);
    bench.json(["models", "train", "P.dissensus", "--model", "multilevel", "--split", "by-text:0.7"]);
    let used = bench.ok(["models", "runs", "use", "P.dissensus", "1"]);
    insta::assert_snapshot!(bench.shown(&used));
    let listed = bench.ok(["models", "runs", "list", "P.dissensus"]);
    assert!(listed.contains("in use") && !listed.contains("encoder in use"), "{listed}");
    let deleted = bench.ok(["models", "runs", "delete", "P.dissensus", "1"]);
    insta::assert_snapshot!(bench.shown(&deleted));
    bench.json(["models", "train", "P.dissensus", "--model", "multilevel", "--split", "by-text:0.7"]);
    assert_eq!(bench.ok(["models", "runs", "delete", "P.dissensus", "2"]).trim(), "Run 2 was deleted");
}

#[test]
fn evaluation_has_every_documented_figure() {
    let bench = Bench::new();
    bench.ok(["project", "sample", "P.dissensus"]);
    let evaluate = |seed| {
        let what =
            ["--models", "all", "--split", "by-text:0.7", "--seed", seed, "--question", "offensiveness"];
        bench.json(["models", "evaluate", "P.dissensus"].into_iter().chain(what))
    };
    let document = evaluate("1");
    let models: Vec<&str> =
        document["models"].as_array().unwrap().iter().map(|m| m["model"].as_str().unwrap()).collect();
    let ladder = ["majority", "shared", "sep-heads", "share-rec-ffn", "share-rec-dcn", "multilevel"];
    assert_eq!(models, ladder);
    let keys = [
        "accuracy",
        "macro_f1",
        "annotator_accuracy",
        "annotator_macro_f1",
        "worst_tenth_accuracy",
        "log_loss",
        "brier",
        "ece",
        "soft_cross_entropy",
        "disagreement_auroc",
        "macro_f1_median",
        "pearson_median",
        "pearson",
        "mae",
        "normalized_absolute_distance",
        "error_rate",
        "wasserstein",
        "wasserstein_probabilities",
        "manhattan",
        "manhattan_probabilities",
        "soft_micro_f1",
        "po_jsd",
    ];
    for model in document["models"].as_array().unwrap() {
        for key in keys {
            assert!(model[key].is_number(), "{key} of {model}");
        }
    }
    for key in ["split", "seed", "encoder", "device"] {
        assert!(!document[key].is_null(), "{key} in {document}");
    }
    assert_eq!(document["seed"], 1);
    let baselines = document["baselines"].as_array().unwrap();
    let names: Vec<&str> = baselines.iter().map(|m| m["model"].as_str().unwrap()).collect();
    assert_eq!(names, ["own-most-frequent", "own-distribution", "prior"]);
    // A model that gives one answer has no probabilities; a metric that does not apply is absent or null,
    // never 0.
    assert!(baselines[0]["mae"].is_number() && baselines[0]["log_loss"].is_null(), "{document}");
    assert!(baselines[0].get("wasserstein").is_none() && baselines[1]["wasserstein"].is_number());
    // Every other model and baseline minus multilevel, in every metric of both,
    // with intervals around the difference.
    let less = &document["differences"];
    assert_eq!((&less["less"], &less["confidence"]), (&Value::from("multilevel"), &Value::from(0.95)));
    let others: Vec<&str> =
        less["models"].as_array().unwrap().iter().map(|m| m["model"].as_str().unwrap()).collect();
    assert_eq!(others, [&ladder[..5], &names[..]].concat());
    let (shared, multilevel) = (&document["models"][1], &document["models"][5]);
    for key in keys {
        let one = &less["models"][1]["of"][key];
        let difference = one["difference"].as_f64().unwrap();
        let expected = shared[key].as_f64().unwrap() - multilevel[key].as_f64().unwrap();
        assert!((difference - expected).abs() < 1e-12, "{key}: {one}");
        if let (Some(low), Some(high)) = (one["low"].as_f64(), one["high"].as_f64()) {
            assert!(low < difference && difference < high, "{key}: {one}");
        }
    }
    let log_loss = &less["models"][1]["of"]["log_loss"];
    assert!(log_loss["difference"].as_f64().unwrap() > 0.0 && log_loss["low"].is_number(), "{less}");
    assert!(less["models"][5]["of"]["log_loss"].is_null(), "one answer has no probabilities: {less}");
    assert!(document["prediction_sets"].is_null() && document["without_copies"].is_null());
    // The same data, seed, device and version give the same numbers.
    assert_eq!(evaluate("1")["models"], document["models"]);
    assert_ne!(evaluate("2")["models"], document["models"]);
}

#[test]
fn official_split_is_used_when_asked_for() {
    let bench = Bench::new();
    official(&bench);
    let document =
        bench.json(["models", "evaluate", "P.dissensus", "--models", "shared", "--split", "column"]);
    let split = &document["split"];
    assert_eq!(
        (&split["train_labels"], &split["test_labels"]),
        (&Value::from(150), &Value::from(50)),
        "{document}"
    );
}

#[test]
fn multi_label_question_is_evaluated_as_a_whole() {
    let bench = Bench::new();
    let sets = ["rude", "rude;lie", "lie", "none", "threat;rude"];
    let rows = (0..200).map(|n| format!("t{},body {},a{},{}\n", n / 4, n / 4, n % 4, sets[n * 7 % 5]));
    let rows: String = rows.collect();
    bench.file("sets.csv", format!("text_id,text,annotator,label\n{rows}"));
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
    let asked = ["models", "evaluate", "P.dissensus", "--models", "shared,multilevel"];
    let message = bench.ok(asked);
    for part in
        ["Jaccard", "With a threshold for each option", "own-distribution", "F1 of each option", "threat"]
    {
        assert!(message.contains(part), "{part}: {message}");
    }
    let document = bench.json(asked);
    assert_eq!(document["options"], serde_json::json!(["rude", "threat", "lie"]));
    assert_eq!(document["split"]["name"], "by-text:0.7", "{document}");
    for model in document["models"].as_array().unwrap() {
        for key in ["micro_f1", "macro_f1", "jaccard", "subset_accuracy", "hamming_loss"] {
            assert!(model[key].is_number() && model["tuned"][key].is_number(), "{key} of {model}");
        }
        assert_eq!(model["as_questions"].as_array().unwrap().len(), 3, "{model}");
    }
    let refused = bench.refused(["models", "evaluate", "P.dissensus", "--prediction-sets"]);
    insta::assert_snapshot!(bench.shown(&refused));
}

#[test]
fn baselines_differences_and_prediction_sets_are_printed() {
    let bench = Bench::new();
    bench.ok(["project", "sample", "P.dissensus"]);
    let asked =
        ["models", "evaluate", "P.dissensus", "--question", "offensiveness", "--split", "by-text:0.7"];
    let more = ["--models", "shared,multilevel", "--prediction-sets"];
    let text = bench.ok(asked.into_iter().chain(more));
    for expected in [
        "Less multilevel, with 95 % intervals over texts and annotators",
        "own-distribution",
        "30 are needed to calibrate, as labels of one of the texts are not independent",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let document = bench.json(asked.into_iter().chain(more));
    assert!(document["prediction_sets"].is_null(), "{document}");
    assert!(document["no_prediction_sets"].as_str().unwrap().contains("needed to calibrate"), "{document}");

    let bench = Bench::new();
    bench.file("many.csv", files::labels(240, 5));
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "many.csv"]);
    let asked = ["models", "evaluate", "P.dissensus", "--split", "by-text:0.7"];
    let text = bench.ok(asked.into_iter().chain(more));
    for expected in ["Prediction sets, aimed at 90 %", "multilevel, ", "shared, knows no person"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("marginal guarantee"), "{text}");
    let document = bench.json(asked.into_iter().chain(more));
    assert!(document["no_prediction_sets"].is_null(), "{document}");
    let sets = &document["prediction_sets"];
    let coverage = sets["multilevel"]["coverage"].as_f64().unwrap();
    let interval = &sets["multilevel"]["coverage_interval"];
    assert!(interval[0].as_f64().unwrap() <= coverage && coverage <= interval[1].as_f64().unwrap(), "{sets}");
    // Five people are too few for tenths, and the labels of six texts too few for calibration.
    assert_eq!(sets["by_labels"], Value::Array(Vec::new()), "{sets}");
    let bench = Bench::new();
    official(&bench);
    let few = bench.ok(["models", "evaluate", "P.dissensus", "--models", "shared", "--prediction-sets"]);
    insta::assert_snapshot!(bench.shown(&few));
    assert!(!few.contains("Less multilevel"), "{few}");
    // Neither of these trains an encoder: an option that would be ignored is refused.
    for option in [["--prediction-sets"].as_slice(), &["--new-annotators", "0,5"]] {
        let arguments = ["models", "evaluate", "P.dissensus", "--tuning", "full"];
        let refused = bench.run(arguments.iter().chain(option));
        assert_eq!(refused.code, Some(2), "{}", refused.out);
    }
}

/// Forty texts by five people, the last ten for testing; ids and people are not in sorted order.
fn official(bench: &Bench) {
    let mut csv = String::new();
    for (index, line) in files::labels(40, 5).lines().enumerate() {
        let part = match index {
            0 => "split",
            index if (index - 1) / 5 < 30 => "train",
            _ => "test",
        };
        csv.push_str(&format!("{line},{part}\n"));
    }
    let header = csv.lines().next().unwrap().to_owned();
    let mut rows: Vec<&str> = csv.lines().skip(1).collect();
    rows.reverse();
    bench.file("split.csv", format!("{header}\n{}\n", rows.join("\n")));
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "split.csv", "--split", "split", "--question", "rude"]);
}

#[test]
fn lewidi_submission_has_all_test_texts_and_annotators() {
    let bench = Bench::new();
    official(&bench);
    let asked =
        ["models", "predictions", "P.dissensus", "out", "--format", "lewidi-submission", "--set", "CSC"];
    let written = bench.json(asked);
    assert_eq!((&written["texts"], &written["answers"]), (&10.into(), &50.into()), "{written}");
    let read = |name: &str| -> Vec<(String, Vec<f64>)> {
        let text = std::fs::read_to_string(bench.path("out").join(name)).unwrap();
        let line = |line: &str| {
            let (id, list) = line.split_once('\t').unwrap();
            (id.to_owned(), serde_json::from_str(list).unwrap())
        };
        text.lines().map(line).collect()
    };
    let (soft, answers) = (read("CSC_test_soft.tsv"), read("CSC_test_pe.tsv"));
    assert_eq!(
        soft.iter().map(|(id, _)| id).collect::<Vec<_>>(),
        answers.iter().map(|(id, _)| id).collect::<Vec<_>>()
    );
    for ((_, shares), (_, levels)) in soft.iter().zip(&answers) {
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
        // Of five people, so fifths; the levels are names of the scale.
        assert!(shares.iter().all(|share| (share * 5.0 - (share * 5.0).round()).abs() < 1e-9), "{shares:?}");
        assert!(levels.len() == 5 && levels.iter().all(|level| (1.0..=5.0).contains(level)), "{levels:?}");
    }
    // People in the order of the file, a4 to a0: the strict ones (a2) are in the middle, a1 and a4 are alike.
    let mean = |at: usize| answers.iter().map(|(_, levels)| levels[at]).sum::<f64>() / 10.0;
    assert!(mean(2) > mean(1) + 0.5 && mean(2) > mean(4) + 0.5, "{answers:?}");
    assert!(mean(3) > mean(4) && mean(0) > mean(1), "{answers:?}");
    // Nothing is replaced without `--force`,
    // and a run on the official split gives the same files with its model.
    let again = bench.run(asked);
    assert!(again.code == Some(1) && again.err.contains("--force"), "{again:?}");
    bench.json(["models", "train", "P.dissensus", "--model", "multilevel", "--split", "column"]);
    let by_run = bench.json(asked.into_iter().chain(["--force", "--run", "1"]));
    assert_eq!((&by_run["run"], &by_run["model"]), (&1.into(), &"multilevel".into()));
    assert_eq!(read("CSC_test_pe.tsv"), answers);
    assert_eq!(read("CSC_test_soft.tsv"), soft);
    bench.json(["models", "train", "P.dissensus", "--model", "shared", "--split", "by-text:0.7"]);
    let other = bench.run(asked.into_iter().chain(["--force", "--run", "2"]));
    assert!(other.code == Some(1) && other.err.contains("official"), "{other:?}");
}

#[test]
fn predicted_level_of_an_ordinal_question_is_the_median() {
    let bench = Bench::new();
    labelled(&bench);
    bench.ok(["models", "encode", "P.dissensus"]);
    let mut apart = 0;
    for text in 0..40 {
        let id = format!("t{text}");
        let asked = ["models", "predict", "P.dissensus", "--annotator", "a0", "--text-id", id.as_str()];
        let document = bench.json(asked);
        let p = probabilities(&document);
        let mut below = 0.0;
        let median = p.iter().position(|p| {
            below += p;
            below >= 0.5
        });
        let likely = (0..5).max_by(|a, b| p[*a].total_cmp(&p[*b])).unwrap();
        assert_eq!(document["prediction"], (median.unwrap() + 1).to_string(), "{document}");
        apart += usize::from(median != Some(likely));
    }
    assert!(apart > 0, "a text whose median is not its most likely level");
}

#[test]
fn person_is_predicted_on_known_and_new_texts() {
    let bench = Bench::new();
    labelled(&bench);
    bench.ok(["models", "encode", "P.dissensus"]);
    let known = bench.json(["models", "predict", "P.dissensus", "--annotator", "a0", "--text-id", "t3"]);
    let new = bench.json([
        "models",
        "predict",
        "P.dissensus",
        "--annotator",
        "a0",
        "--text",
        "To hell with that dog number 99",
    ]);
    for document in [known, new] {
        let probabilities = probabilities(&document);
        assert_eq!(probabilities.len(), 5, "{document}");
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-5, "{document}");
    }
}

#[test]
fn prediction_is_explained_by_parts_labels_and_words() {
    let bench = Bench::new();
    labelled(&bench);
    bench.ok(["models", "encode", "P.dissensus"]);
    let asked = [
        "analyse",
        "explain",
        "P.dissensus",
        "--annotator",
        "a0",
        "--with",
        "a1",
        "--text-id",
        "t3",
        "--words",
    ];
    let document = bench.json(asked);
    let values = |list: &Value| -> f64 {
        list.as_array().unwrap().iter().map(|part| part["value"].as_f64().unwrap()).sum()
    };
    let people = document["annotators"].as_array().unwrap();
    assert_eq!(people.iter().map(|person| &person["annotator"]).collect::<Vec<_>>(), ["a0", "a1"]);
    for person in people {
        assert!((values(&person["parts"]) - person["score"].as_f64().unwrap()).abs() < 1e-9, "{person}");
        assert_eq!((&person["labels"], &person["others"]), (&json!(40), &json!(5)));
        assert_eq!(person["influences"].as_array().unwrap().len(), 5);
        let predicted = bench.json([
            "models",
            "predict",
            "P.dissensus",
            "--annotator",
            person["annotator"].as_str().unwrap(),
            "--text-id",
            "t3",
        ]);
        assert_eq!(person["prediction"], predicted["prediction"]);
        for (own, shown) in probabilities(person).into_iter().zip(probabilities(&predicted)) {
            assert!((own - shown).abs() < 2e-5, "{own} {shown}");
        }
    }
    let apart = people[0]["log_odds"].as_f64().unwrap() - people[1]["log_odds"].as_f64().unwrap();
    assert!((values(&document["differences"]) - apart).abs() < 1e-9);
    let pieces = document["words"]["pieces"].as_array().unwrap();
    let text: String = pieces.iter().map(|piece| piece["words"].as_str().unwrap()).collect();
    assert!(files::labels(40, 6).contains(&text), "{text}");

    let new = ["analyse", "explain", "P.dissensus", "--annotator", "a0", "--text", "To hell with that dog"];
    let message = bench.ok(new);
    insta::assert_snapshot!(bench.shown(&message));
    let refused = bench.refused([&asked[..5], &["--with", "a0", "--text-id", "t3"]].concat());
    insta::assert_snapshot!(bench.shown(&refused));
}

/// The probabilities of the levels 1 to 5 printed by `predict`, in order.
fn probabilities(document: &Value) -> Vec<f64> {
    let of = |level: u32| document["probabilities"][level.to_string()].as_f64();
    (1..=5).map(|level| of(level).unwrap_or_else(|| panic!("no level {level} in {document}"))).collect()
}

#[test]
fn disagreement_ranking_changes_with_a_label() {
    let bench = Bench::new();
    bench.ok(["project", "sample", "P.dissensus"]);
    bench.ok(["models", "encode", "P.dissensus"]);
    let ask = [
        "analyse",
        "disagreement",
        "P.dissensus",
        "--question",
        "offensiveness",
        "--by",
        "split",
        "--top",
        "168",
    ];
    let texts = |document: &Value| -> Vec<(String, f64)> {
        let rows = document["texts"].as_array().unwrap_or_else(|| panic!("no texts in {document}"));
        let row = |row: &Value| (row["text_id"].as_str().unwrap().to_owned(), row["value"].as_f64().unwrap());
        rows.iter().map(row).collect()
    };
    let before = texts(&bench.json(ask));
    assert_eq!(before.len(), 168);
    assert!(before.windows(2).all(|pair| pair[0].1 >= pair[1].1), "most disagreement first");
    assert!(before.iter().all(|(_, split)| (0.0..=1.0).contains(split)));
    for text in ["c131", "c132", "c133"] {
        let question = ["--question", "offensiveness"];
        let label =
            ["label", "record", "P.dissensus", "--annotator", "newcomer", "--text-id", text, "--value", "5"];
        bench.ok(label.into_iter().chain(question));
    }
    let after = texts(&bench.json(ask));
    assert_ne!(before, after);
}

/// The default order, as text and as a document: its basis, and the border of each text. Columns that are
/// empty in every row are omitted.
#[test]
fn default_order_states_its_basis() {
    let bench = Bench::new();
    bench.ok(["project", "sample", "P.dissensus"]);
    bench.ok(["models", "encode", "P.dissensus"]);
    let ask = ["analyse", "disagreement", "P.dissensus", "--question", "offensiveness"];
    let found = bench.json(ask);
    assert_eq!(found["by"], "combined");
    let basis = found["basis"].as_str().unwrap();
    insta::assert_snapshot!(bench.shown(basis));
    assert!(found["label_weight"]["texts"].as_u64().unwrap() > 30, "{found}");
    assert!(found["ties"].as_array().unwrap().iter().all(|size| size.as_u64() > Some(0)), "{found}");
    for (rank, text) in (1..).zip(found["texts"].as_array().unwrap()) {
        assert_eq!(text["rank"], rank, "{text}");
        let border = &text["border"];
        assert!((1..5).contains(&border["level"].as_u64().unwrap()), "{text}");
        let [low, above, high] =
            [&border["interval"][0], &border["above"], &border["interval"][1]].map(|p| p.as_f64().unwrap());
        assert!(0.0 <= low && low <= above && above <= high && high <= 1.0, "{text}");
    }
    let printed = bench.ok(ask);
    assert!(printed.contains(basis), "{printed}");
    let header = printed.lines().find(|line| line.contains("text id")).unwrap();
    assert!(header.contains("border") && header.contains("combined"), "{header}");
    // No group of the sample differs on these texts: people are named, from labels and confident predictions.
    assert!(header.contains("who") && printed.contains("above: Bruno"), "{printed}");
    let [below, above] = [0, 1].map(|side| found["texts"][0]["sides"][side]["labelled"].as_u64().unwrap());
    assert!(below > 0 && above > 0, "{found}");
    // The old order is available under its name.
    let old = bench.json(ask.into_iter().chain(["--by", "split"]));
    assert_eq!((old["by"].as_str(), old["basis"].as_str()), (Some("split"), None));
}

#[test]
fn only_chosen_annotators_are_used() {
    let bench = Bench::new();
    labelled(&bench);
    bench.ok(["models", "encode", "P.dissensus"]);
    let everyone = bench.json(["analyse", "disagreement", "P.dissensus"]);
    let women = bench.json(["analyse", "disagreement", "P.dissensus", "--attributes", "gender=woman"]);
    assert_eq!(everyone["annotators"], 6, "{everyone}");
    assert_eq!(women["annotators"], 3, "{women}");
    for measure in ["uncertainty", "divergence", "pairwise", "split", "far-apart", "between"] {
        let ranked = bench.json(["analyse", "disagreement", "P.dissensus", "--by", measure, "--top", "5"]);
        let texts = ranked["texts"].as_array().unwrap();
        let values: Vec<f64> = texts.iter().map(|t| t["value"].as_f64().unwrap()).collect();
        assert_eq!(values.len(), 5);
        assert_eq!(ranked["by"], measure);
        assert!(values.windows(2).all(|pair| pair[0] >= pair[1]), "{measure}: {values:?}");
        for (rank, text) in (1..).zip(texts) {
            assert_eq!(text[measure.replace('-', "_")], text["value"], "what is reported is what ranks");
            assert_eq!(text["rank"], rank, "{text}");
            let band = |at: usize| text["band"][at].as_u64().unwrap();
            assert!(band(0) <= rank && rank <= band(1), "{measure}: {text}");
            let interval = (text["low"].as_f64(), text["high"].as_f64());
            if let (Some(low), Some(high)) = interval {
                let value = text["value"].as_f64().unwrap();
                assert!(low <= value && value <= high, "{measure}: {text}");
            }
            let none = matches!(measure, "uncertainty" | "divergence" | "between");
            assert_eq!(interval.0.is_none(), none, "{measure}: {text}");
        }
    }
}

/// Of two texts with the same mean label, the one with labels at both ends is first, and not among the texts
/// that all agree on.
#[test]
fn polarised_labels_rank_before_middle_labels() {
    let bench = Bench::new();
    let mut rows = "text_id,text,annotator_id,label,side\n".to_owned();
    let mut label = |text: &str, annotator: usize, level: usize| {
        let side = if annotator.is_multiple_of(2) { "left" } else { "right" };
        rows.push_str(&format!("{text},comment {text},a{annotator},{level},{side}\n"));
    };
    for text in 0..40 {
        for annotator in (0..20).filter(|annotator| (annotator + text) % 3 == 0) {
            label(&format!("t{text}"), annotator, 1 + (text + annotator / 7) % 5);
        }
    }
    for (annotator, (ends, middle)) in
        [(1, 2), (1, 3), (1, 3), (5, 3), (5, 3), (5, 4)].into_iter().enumerate()
    {
        label("ends", annotator, ends);
        label("middle", annotator, middle);
    }
    std::fs::write(bench.path("labels.csv"), rows).unwrap();
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "labels.csv", "--scale", "ordinal", "--attributes", "side"]);
    bench.ok(["models", "encode", "P.dissensus"]);
    let place = |by: &[&str], text: &str| {
        let ask = ["analyse", "disagreement", "P.dissensus", "--top", "100"];
        let found = bench.json(ask.into_iter().chain(by.iter().copied()));
        let texts = found["texts"].as_array().unwrap().clone();
        assert_eq!(texts.len(), 42, "{found}");
        texts.into_iter().find(|row| row["text_id"] == text).unwrap()
    };
    for by in [&["--by", "split"], &["--by", "surprising"]] {
        let (ends, middle) = (place(by, "ends"), place(by, "middle"));
        assert!(ends["rank"].as_u64() < middle["rank"].as_u64(), "{by:?}: {ends} {middle}");
    }
    // A cut at the end of the scale divides fewer people than one in the middle.
    let at = |cut| place(&["--by", "opposite-sides", "--cut", cut], "middle")["value"].as_f64().unwrap();
    assert!(at("5") < at("3") && at("3") < 0.53, "{} {}", at("5"), at("3"));
    let ends = place(&[], "ends");
    assert_eq!(
        (ends["observed"].clone(), ends["observed_split"].as_f64()),
        (serde_json::json!([3, 0, 0, 0, 3]), Some(1.0))
    );
    let gap = place(&["--by", "group-gap", "--groups", "side=left:right"], "ends");
    assert_eq!((gap["who"]["value"].as_str(), gap["who"]["against"].as_str()), (Some("right"), Some("left")));
    for wrong in [&["--cut", "1"][..], &["--groups", "side=left:up", "--by", "group-gap"]] {
        bench.refused(["analyse", "disagreement", "P.dissensus"].into_iter().chain(wrong.iter().copied()));
    }
    let usage = bench.run(["analyse", "disagreement", "P.dissensus", "--groups", "side=left"]);
    assert_eq!(usage.code, Some(2), "{usage:?}");
}

#[test]
fn agreement_matches_krippendorff() {
    let bench = Bench::without_encoder();
    // The nominal example of Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), part A: two
    // observers, ten units, alpha = 0.095.
    let mut csv = String::from("text_id,text,annotator_id,label\n");
    for (progress, values) in [("A", "0100000000"), ("B", "1110010010")] {
        for (unit, value) in values.chars().enumerate() {
            csv.push_str(&format!("u{unit},unit {unit},{progress},{value}\n"));
        }
    }
    bench.file("binary.csv", csv);
    bench.ok(["project", "new", "P.dissensus"]);
    bench.ok(["data", "import", "P.dissensus", "binary.csv"]);
    let document = bench.json(["analyse", "agreement", "P.dissensus"]);
    let alpha = document["alpha"].as_f64().unwrap_or_else(|| panic!("no alpha in {document}"));
    assert!((alpha - 0.095).abs() < 0.001, "{document}");
}

#[test]
fn model_of_one_annotator_is_trained_and_used() {
    let bench = Bench::new();
    labelled(&bench);
    let document = bench.json(["models", "train", "P.dissensus", "--model", "multilevel"]);
    assert!(document.is_object(), "{document}");
    // The model has learned who is strict.
    let of = |annotator| {
        let document =
            bench.json(["models", "predict", "P.dissensus", "--annotator", annotator, "--text-id", "t1"]);
        probabilities(&document).iter().enumerate().map(|(level, p)| level as f64 * p).sum::<f64>()
    };
    assert!(of("a2") > of("a0"), "a2 is stricter by two levels: {} {}", of("a2"), of("a0"));
}

#[test]
fn run_is_trained_listed_compared_and_reported() {
    let bench = Bench::new();
    bench.ok(["project", "sample", "P.dissensus"]);
    let train = |model: &str, more: &[&str]| {
        let what = [
            "models",
            "train",
            "P.dissensus",
            "--question",
            "offensiveness",
            "--model",
            model,
            "--split",
            "by-text:0.7",
        ];
        bench.json(what.into_iter().chain(more.iter().copied()))
    };
    let shared = train("shared", &[]);
    let deep = train("share-rec-dcn", &["--epochs", "2", "--batch", "16"]);
    assert_eq!((&shared["info"]["id"], &deep["info"]["id"]), (&1.into(), &2.into()));
    assert_eq!(deep["info"]["epochs"].as_array().unwrap().len(), 2);
    assert_eq!(deep["choices"]["batch"], 16);
    let listed = bench.json(["models", "runs", "list", "P.dissensus"]);
    assert_eq!(listed.as_array().unwrap().len(), 2);
    let table = bench.ok(["models", "runs", "list", "P.dissensus"]);
    assert!(table.contains("share-rec-dcn") && table.contains("by-text:0.7"), "{table}");
    let shown = bench.ok(["models", "runs", "show", "P.dissensus", "2"]);
    insta::assert_snapshot!(bench.shown(&shown));
    for run in ["1", "2"] {
        let asked = [
            "models",
            "predict",
            "P.dissensus",
            "--annotator",
            "sim-ada",
            "--text",
            "You fool",
            "--run",
            run,
        ];
        let asked = asked.into_iter().chain(["--question", "offensiveness"]);
        let document = bench.json(asked);
        let sum: f64 = probabilities(&document).iter().sum();
        assert!((sum - 1.0).abs() < 1e-5 && document["knows_annotator"] == true, "{document}");
    }
    let compared = bench.ok(["models", "runs", "compare", "P.dissensus", "1", "2"]);
    assert!(compared.contains("difference") && compared.contains("log_loss"), "{compared}");
    bench.ok(["models", "runs", "report", "P.dissensus", "report.html"]);
    let again = bench.run(["models", "runs", "report", "P.dissensus", "report.html"]);
    assert_eq!(again.code, Some(1));
    assert!(again.err.contains("--force"), "{again:?}");
    bench.ok(["models", "runs", "report", "P.dissensus", "1,2", "two.csv"]);
    bench.ok(["models", "runs", "report", "P.dissensus", "2", "report.html", "--force"]);
    let no_run = bench.run(["models", "runs", "report", "P.dissensus", "best", "best.html"]);
    assert_eq!(no_run.code, Some(1));
    insta::assert_snapshot!(bench.shown(&no_run.err));
    bench.ok(["models", "runs", "delete", "P.dissensus", "1"]);
    assert_eq!(bench.run(["models", "runs", "show", "P.dissensus", "1"]).code, Some(1));
    assert_eq!(bench.run(["models", "runs", "resume", "P.dissensus", "2"]).code, Some(1));
}

#[test]
fn run_learns_from_questions_of_other_projects() {
    let bench = Bench::new();
    labelled(&bench);
    bench.ok(["project", "sample", "Q.dissensus"]);
    let train = |auxiliary: &[&str], tuning: &str| {
        let asked =
            ["models", "train", "P.dissensus", "--tuning", tuning, "--epochs", "1", "--split", "by-text:0.7"];
        let auxiliary = auxiliary.iter().flat_map(|named| ["--auxiliary", named]);
        asked.into_iter().chain(auxiliary).map(str::to_owned).collect::<Vec<_>>()
    };
    for (auxiliary, tuning, expected) in [
        (&["Q.dissensus"][..], "last-1", "has several questions: name one of"),
        (&["Q.dissensus#rude"], "last-1", "has no question \"rude\""),
        (&["Q.dissensus#remove"], "frozen", "teaches nothing where the encoder is frozen"),
        (&["P.dissensus"], "last-1", "is what the run itself learns"),
        (&["Q.dissensus#remove", "Q.dissensus#remove"], "last-1", "is named twice"),
        (&["none.dissensus"], "last-1", "none.dissensus"),
    ] {
        let refused = bench.run(train(auxiliary, tuning));
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.err.contains(expected), "{expected}: {refused:?}");
    }
    assert_eq!(bench.json(["models", "runs", "list", "P.dissensus"]).as_array().unwrap().len(), 0);
    let run = bench.json(train(&["Q.dissensus#remove", "Q.dissensus#offensiveness"], "last-1"));
    let taught: Vec<&serde_json::Value> = run["auxiliary"].as_array().unwrap().iter().collect();
    let about = |of: &serde_json::Value| [of["file"].clone(), of["question"].clone()];
    assert_eq!(about(taught[0]), ["Q.dissensus".into(), "remove".into()] as [serde_json::Value; 2]);
    assert_eq!(about(taught[1])[1], "offensiveness");
    assert!(taught.iter().all(|of| of["labels"].as_u64().unwrap() > 100), "{taught:?}");
    assert!(run["info"]["scores"]["metrics"].as_array().unwrap().len() > 5, "{run}");
    let shown = bench.ok(["models", "runs", "show", "P.dissensus", "1"]);
    insta::assert_snapshot!(bench.shown(&shown));
    // Using the run later needs no access to the other project.
    std::fs::remove_file(bench.path("Q.dissensus")).unwrap();
    bench.ok(["models", "runs", "use", "P.dissensus", "1"]);
    let predicted =
        bench.json(["models", "predict", "P.dissensus", "--annotator", "a0", "--text", "You fool"]);
    let sum: f64 = probabilities(&predicted).iter().sum();
    assert!((sum - 1.0).abs() < 1e-5, "{predicted}");
}

#[test]
fn training_with_any_option_makes_a_run() {
    let bench = Bench::new();
    labelled(&bench);
    assert_eq!(
        bench.json(["project", "info", "P.dissensus"])["questions"][0]["estimation"],
        serde_json::Value::Null
    );
    assert!(bench.ok(["project", "info", "P.dissensus"]).contains("no model is fitted yet"));
    let fitted = bench.json(["models", "train", "P.dissensus"]);
    assert_eq!((&fitted["model"], &fitted["info"]), (&"multilevel".into(), &serde_json::Value::Null));
    let info = bench.json(["project", "info", "P.dissensus"]);
    let estimation = &info["questions"][0]["estimation"];
    let ranked = bench.json(["analyse", "disagreement", "P.dissensus"]);
    assert_eq!(estimation, &ranked["estimation"], "{info}");
    assert!(estimation["text_sd"].as_f64().unwrap() > 0.0, "{info}");
    let lines = bench.ok(["project", "info", "P.dissensus"]);
    insta::assert_snapshot!(bench.shown(&lines));
    for limit in estimation["limit_texts"].as_array().unwrap() {
        assert!(lines.contains(limit.as_str().unwrap()), "{lines}");
    }
    bench.json(["models", "evaluate", "P.dissensus", "--models", "shared"]);
    assert_eq!(bench.json(["models", "runs", "list", "P.dissensus"]).as_array().unwrap().len(), 0);
    let asked: [&[&str]; 4] = [
        &["--model", "multilevel", "--seed", "7"],
        &["--seed", "8"],
        &["--tuning", "frozen"],
        &["--epochs", "2"],
    ];
    for (at, asked) in asked.into_iter().enumerate() {
        let run = bench.json(["models", "train", "P.dissensus"].into_iter().chain(asked.iter().copied()));
        // Neither the fit nor the evaluation used up a run number.
        assert_eq!(run["info"]["id"], at + 1, "{asked:?}");
        assert_eq!(run["info"]["seed"], [7, 8, 0, 0][at], "{asked:?}");
    }
}

#[test]
fn seeds_beyond_32_bits_are_refused() {
    let bench = Bench::new();
    labelled(&bench);
    let seed = ["--seed", "5000000000"];
    for asked in [
        vec!["models", "train", "P.dissensus"],
        vec!["models", "evaluate", "P.dissensus"],
        vec!["models", "evaluate", "P.dissensus", "--tuning", "last-1"],
    ] {
        let refused = bench.run(asked.iter().chain(&seed).copied());
        assert_eq!(refused.code, Some(2), "{asked:?}");
        insta::assert_snapshot!(bench.shown(&refused.err));
    }
}

#[test]
fn labels_are_aggregated_and_agreement_has_intervals() {
    let bench = Bench::without_encoder();
    bench.ok(["project", "sample", "P.dissensus"]);
    let question = ["--question", "offensiveness"];
    for method in ["majority", "dawid-skene", "mace", "glad"] {
        let all = ["analyse", "aggregate", "P.dissensus", "--method", method].into_iter().chain(question);
        let document = bench.json(all);
        assert_eq!(document["method"], method);
        let texts = document["texts"].as_array().unwrap();
        assert_eq!((texts.len(), document["annotators"].as_array().unwrap().len()), (130, 8));
        for text in texts {
            let sum: f64 =
                text["probabilities"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-6, "{text}");
        }
    }
    let document =
        bench.json(["analyse", "agreement", "P.dissensus", "--pairs", "20"].into_iter().chain(question));
    let alpha = &document["reliability"]["alpha_ordinal"];
    let alone = document["alpha"].as_f64().unwrap();
    assert!((alpha["value"].as_f64().unwrap() - alone).abs() < 1e-12, "{alpha} and {alone}");
    let inside = alpha["interval"]["low"].as_f64().unwrap()..alpha["interval"]["high"].as_f64().unwrap();
    assert!(inside.contains(&alpha["value"].as_f64().unwrap()), "{alpha}");
    assert!(!document["pairs"].as_array().unwrap().is_empty());
}

#[test]
fn help_has_examples_and_completions_are_a_script() {
    let bench = Bench::without_encoder();
    assert!(bench.ok(["--help"]).contains("Examples:"));
    assert!(bench.ok(["data", "import", "--help"]).contains("Examples:"));
    assert!(bench.ok(["completions", "bash"]).contains("complete"));
    assert!(bench.ok(["--version"]).starts_with("dissensus "));
}

#[test]
fn usage_errors_have_their_own_exit_code() {
    let bench = Bench::without_encoder();
    for arguments in [
        vec!["lable", "P.dissensus"],
        vec!["label", "record", "P.dissensus"],
        vec!["data", "import", "P.dissensus", "x.csv", "--scale", "likert"],
        vec!["analyse", "disagreement", "P.dissensus", "--attributes", "gender"],
        vec!["models", "evaluate", "P.dissensus", "--split", "by-text:1.5"],
        vec!["models", "train", "P.dissensus", "--split", "halves"],
        vec!["models", "train", "P.dissensus", "--model", "deep"],
        vec![],
    ] {
        let outcome = bench.run(&arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome:?}");
        assert_eq!(outcome.out, "");
    }
}

/// Starts `label` with these further arguments.
fn labelling(bench: &Bench, text: &str, more: &[&str]) -> std::process::Child {
    let arguments =
        ["label", "record", "P.dissensus", "--annotator", "a1", "--text-id", text, "--value", "2"];
    let mut command = bench.command(arguments.iter().chain(more));
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap()
}

#[test]
fn label_waits_for_a_locked_project() {
    let bench = Bench::without_encoder();
    labelled(&bench);
    let text = rows(&files::labels(40, 6), ["text_id", "text", "annotator_id", "label"])[0][0].clone();
    // Another process has the project open: it holds a lock on this file.
    let mut options = std::fs::OpenOptions::new();
    let held = options.write(true).create(true).truncate(false).open(bench.path("P.dissensus.lock")).unwrap();
    held.lock().unwrap();
    assert_eq!(labelling(&bench, &text, &[]).wait().unwrap().code(), Some(1), "nobody asked it to wait");
    let begun = std::time::Instant::now();
    assert_eq!(labelling(&bench, &text, &["--wait", "1"]).wait().unwrap().code(), Some(1));
    assert!(begun.elapsed() >= std::time::Duration::from_secs(1), "it gave up early");
    let mut waiting = labelling(&bench, &text, &["--wait", "60"]);
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(waiting.try_wait().unwrap(), None, "it does not wait");
    held.unlock().unwrap();
    drop(held);
    assert_eq!(waiting.wait().unwrap().code(), Some(0));
    // Several at once: each gets its turn.
    let mut all: Vec<_> = (0..6).map(|_| labelling(&bench, &text, &["--wait", "60"])).collect();
    assert!(all.iter_mut().all(|child| child.wait().unwrap().success()));
}

#[test]
fn commands_warn_in_a_folder_that_a_service_synchronises() {
    let bench = Bench::without_encoder();
    std::fs::create_dir_all(bench.path("box/study")).unwrap();
    std::fs::create_dir_all(bench.path("box/.dropbox.cache")).unwrap();
    bench.file("texts.csv", files::texts(3));
    bench.ok(["project", "new", "box/study/P.dissensus"]);
    let import = |project: &str| bench.run(["data", "import", project, "texts.csv"]);
    let warned = import("box/study/P.dissensus");
    assert_eq!(warned.code, Some(0), "{warned:?}");
    assert!(warned.err.contains("note: This project is in a folder that Dropbox synchronises"), "{warned:?}");
    assert!(!warned.out.contains("Dropbox"), "a note is not part of the result: {warned:?}");
    bench.ok(["project", "new", "P.dissensus"]);
    let elsewhere = import("P.dissensus");
    assert!(elsewhere.code == Some(0) && !elsewhere.err.contains("synchronises"), "{elsewhere:?}");
}

#[test]
fn overview_texts_and_attribute_form() {
    let bench = Bench::without_encoder();
    bench.ok(["project", "sample", "S.dissensus"]);
    bench.ok([
        "label",
        "record",
        "S.dissensus",
        "--question",
        "offensiveness",
        "--annotator",
        "ana",
        "--text-id",
        "c003",
        "--value",
        "4",
    ]);
    let found = bench.json([
        "data",
        "texts",
        "S.dissensus",
        "--annotator",
        "ana",
        "--question",
        "offensiveness",
        "--filter",
        "answered",
    ]);
    assert_eq!((found["total"].as_u64(), found["rows"][0]["external_id"].as_str()), (Some(1), Some("c003")));
    assert_eq!(found["rows"][0]["answers"][0], "4");
    assert_eq!(
        (found["counts"]["all"].as_u64(), found["counts"]["not_yet"].as_u64()),
        (Some(168), Some(167))
    );
    assert!(found["counts"]["contested"].as_u64() <= Some(1), "of a text that she has answered alone");
    let all = bench.json([
        "data",
        "texts",
        "S.dissensus",
        "--sort",
        "contested",
        "--filter",
        "contested",
        "--top",
        "0",
    ]);
    assert!(all["total"].as_u64() > Some(20) && all["rows"].as_array().is_some_and(Vec::is_empty), "{all}");
    let message = bench.ok(["data", "texts", "S.dissensus", "--search", "absolute potato"]);
    insta::assert_snapshot!(bench.shown(&message));

    let overview = bench.json(["project", "overview", "S.dissensus", "--annotator", "ana"]);
    assert_eq!(overview["people"][0]["name"], "ana", "those who label here come first");
    assert_eq!(overview["people"][1]["imported"], true);
    assert_eq!(
        (overview["steps"][0]["kind"].as_str(), overview["steps"][0]["count"].as_u64()),
        (Some("label"), Some(168)),
        "the text that she answered has another question"
    );
    let agreement = bench.json(["analyse", "agreement", "S.dissensus", "--question", "offensiveness"]);
    assert_eq!(overview["agreement"][0]["alpha"], agreement["reliability"]["alpha_ordinal"]["value"]);
    assert!(
        overview["contested"][0]["observed"].as_array().is_some_and(|texts| texts.len() <= 1),
        "{overview}"
    );
    let message = bench.ok(["project", "overview", "S.dissensus"]);
    insta::assert_snapshot!(bench.shown(&message));

    bench.ok([
        "people",
        "form",
        "S.dissensus",
        "--ask",
        "gender=woman|man",
        "--ask",
        "age=18-29|30+",
        "--optional",
        "age",
    ]);
    let left =
        bench.json(["people", "form", "S.dissensus", "--annotator", "ana", "--answer", "gender=woman"]);
    assert_eq!(left["attributes"].as_array().map(Vec::len), Some(0));
    let ana = bench.json(["people", "show", "S.dissensus", "--annotator", "ana"]);
    assert_eq!(ana["attributes"], json!({ "gender": "woman" }));
    let problem = bench.refused(["people", "form", "S.dissensus", "--ask", "gender=woman"]);
    insta::assert_snapshot!(bench.shown(&problem));
}
