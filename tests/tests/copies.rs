//! Two copies of a project that were edited separately and merged, on the command line: full exports are
//! identical, undo removes the newest label, contradictions are reported, and people and wordings are never
//! mixed up.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use dissensus_tests::command::Bench;
use serde_json::Value;
use std::path::Path;

const A: &str = "a.dissensus";
const B: &str = "b.dissensus";

fn label(bench: &Bench, project: &str, who: &str, text: &str, value: &str) {
    bench.ok([
        "label",
        "record",
        project,
        "--annotator",
        who,
        "--text-id",
        text,
        "--value",
        value,
        "--question",
        "rude",
    ]);
}

/// A project and its copy, each with texts, a question and people of its own, and some that both have added.
fn apart(bench: &Bench) {
    bench.file("base.csv", "text_id,text,annotator_id,label\nt1,one,ana,1\nt2,two,ana,2\nt3,three,ben,3\n");
    bench.ok(["project", "new", A]);
    bench.ok([
        "data",
        "import",
        A,
        "base.csv",
        "--question",
        "rude",
        "--scale",
        "ordinal",
        "--levels",
        "1,2,3",
    ]);
    bench.ok(["project", "copy", A, B]);
    let head = "text_id,text,annotator_id,label,split,group,topic,question\n";
    bench.file(
        "of-a.csv",
        format!("{head}x,both,cleo,yes,train,g1,x,funny\nonly-a,own a,cleo,no,train,,,funny\n"),
    );
    bench.file(
        "of-b.csv",
        format!("{head}only-b,own b,dan,yes,test,g9,,funny\nx,both,dan,no,test,g9,x2,funny\n"),
    );
    for (project, file, prompt) in [(A, "of-a.csv", "Prompt A?"), (B, "of-b.csv", "Prompt B?")] {
        bench.ok([
            "question", project, "funny", "--scale", "binary", "--levels", "no,yes", "--prompt", prompt,
        ]);
        bench.ok(["data", "import", project, file]);
    }
}

/// The files of an export: one, or those of a folder.
fn bytes(path: &Path) -> Vec<(String, Vec<u8>)> {
    if path.is_file() {
        return vec![(String::new(), std::fs::read(path).unwrap())];
    }
    let mut found: Vec<_> = std::fs::read_dir(path)
        .unwrap()
        .flat_map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().to_string_lossy().into_owned();
            bytes(&entry.path()).into_iter().map(move |(inner, bytes)| (format!("{name}/{inner}"), bytes))
        })
        .collect();
    found.sort();
    found
}

#[test]
fn merged_copies_export_identical_files() {
    let bench = Bench::without_encoder();
    apart(&bench);
    label(&bench, A, "ana", "t3", "1");
    label(&bench, B, "ben", "t1", "3");
    let reported = bench.ok(["study", "merge", A, B, "--whole-copy", "--yes"]);
    bench.ok(["study", "merge", B, A, "--whole-copy", "--yes"]);
    insta::assert_snapshot!(bench.shown(&reported));
    for (name, more) in [
        ("labels.csv", &[][..]),
        ("labels.tsv", &[]),
        ("labels.jsonl", &[]),
        ("labels.parquet", &[]),
        ("worded.csv", &["--wordings"]),
        ("texts.csv", &["--rows", "texts", "--question", "funny"]),
        ("people.csv", &["--rows", "people", "--question", "rude"]),
        ("tasks.json", &["--format", "label-studio"]),
    ] {
        for project in [A, B] {
            let file = format!("{project}-{name}");
            bench.ok([&["data", "export", project, &file], more].concat());
        }
        let of = |project: &str| bytes(&bench.path(&format!("{project}-{name}")));
        assert_eq!(of(A), of(B), "{name}");
    }
    let prompt = |project: &str| bench.json(["project", "info", project])["questions"].to_string();
    assert!(prompt(A).contains("Prompt B?") && prompt(B).contains("Prompt B?"), "{}", prompt(A));
}

#[test]
fn undo_after_a_merge_retracts_the_last_label() {
    let bench = Bench::without_encoder();
    apart(&bench);
    label(&bench, B, "ana", "t2", "3");
    label(&bench, A, "ana", "t1", "3");
    bench.ok(["study", "merge", A, B, "--whole-copy", "--yes"]);
    assert_eq!(bench.json(["label", "undo", A, "--annotator", "ana", "--question", "rude"])["text_id"], "t1");
    assert_eq!(bench.json(["label", "undo", A, "--annotator", "ana", "--question", "rude"])["text_id"], "t2");
}

#[test]
fn contradicting_answers_and_fast_clocks_are_reported() {
    let bench = Bench::without_encoder();
    apart(&bench);
    label(&bench, A, "ben", "t2", "1");
    label(&bench, B, "ben", "t2", "3");
    bench.file("late.csv", "text_id,text,annotator_id,label,created_at\nt1,one,ben,2,2099-01-01T00:00:00Z\n");
    bench.ok(["data", "import", B, "late.csv", "--question", "rude"]);
    let report = bench.json(["study", "merge", A, B, "--whole-copy", "--yes"]);
    let file: &Value = &report["files"][0];
    assert_eq!(file["contradicted"], 1);
    let one = &file["contradictions"][0];
    assert_eq!(
        (&one["annotator"], &one["text"], &one["question"]),
        (&"ben".into(), &"t2".into(), &"rude".into())
    );
    let answers = one["answers"].as_array().unwrap();
    let reported: Vec<_> =
        answers.iter().map(|a| (a["answer"].as_str().unwrap(), a["current"].as_bool().unwrap())).collect();
    assert_eq!(reported, [("1", false), ("3", true)]);
    assert!(file["problems"].to_string().contains("1 answer in this copy is in the future"), "{file}");
    let again = bench.ok(["study", "merge", A, B, "--whole-copy", "--yes"]);
    assert!(!again.contains("given apart"), "{again:?}");
}

#[test]
fn spelling_of_a_name_does_not_duplicate_a_person() {
    let bench = Bench::without_encoder();
    apart(&bench);
    label(&bench, A, "Jos\u{e9}", "t1", "1");
    label(&bench, A, "Jose\u{301}", "t2", "1");
    let names = |project: &str| -> Vec<String> {
        let table = bench.path("people.csv");
        if table.exists() {
            std::fs::remove_file(&table).unwrap();
        }
        bench.ok(["data", "export", project, "people.csv", "--rows", "people", "--question", "rude"]);
        let rows = std::fs::read_to_string(table).unwrap();
        rows.lines().skip(1).map(|row| row.split(',').next().unwrap().to_owned()).collect()
    };
    assert_eq!(names(A).iter().filter(|name| name.starts_with("Jos")).count(), 1);
    for near in ["Ana", "\u{430}na", "a na", "jose"] {
        let at = [
            "label",
            "record",
            A,
            "--annotator",
            near,
            "--text-id",
            "t1",
            "--value",
            "2",
            "--question",
            "rude",
        ];
        let refused = bench.refused(at);
        insta::assert_snapshot!(bench.shown(&refused));
    }
    let at = [
        "label",
        "record",
        A,
        "--annotator",
        "Ana",
        "--text-id",
        "t1",
        "--value",
        "2",
        "--question",
        "rude",
        "--new-annotator",
    ];
    bench.ok(at);
    assert!(names(A).contains(&"Ana".to_owned()));
    let gone = bench.ok(["people", "withdraw", A, "--annotator", "ana"]);
    insta::assert_snapshot!(bench.shown(&gone));
    bench.file("more.csv", "text_id,text,annotator_id,label\nt1,one,BEN,2\nt2,two,Jose\u{301},3\n");
    let report = bench.json(["data", "import", A, "more.csv", "--question", "rude"]);
    assert!(report["notices"].to_string().contains("\\\"BEN\\\" and \\\"ben\\\""), "{report}");
    assert_eq!(report["annotators"], 1, "the other one is known");
}

#[test]
fn agreement_is_reported_by_wording() {
    let bench = Bench::without_encoder();
    apart(&bench);
    label(&bench, A, "ana", "t1", "1");
    bench.ok(["data", "question", A, "rude", "--prompt", "How rude is it, meant so?"]);
    label(&bench, A, "ben", "t1", "2");
    let wordings = bench.json(["data", "guideline", A, "--wordings"]);
    let rude: Vec<&Value> =
        wordings.as_array().unwrap().iter().filter(|one| one["question"] == "rude").collect();
    assert_eq!(rude.len(), 2, "{wordings}");
    assert_eq!((&rude[1]["number"], &rude[1]["prompt"]), (&2.into(), &"How rude is it, meant so?".into()));
    let found = bench.json(["data", "guideline", A, "--agreement", "--by-wording"]);
    let figures = found.as_array().unwrap().iter().find(|one| one["name"] == "rude").unwrap();
    let numbers: Vec<&Value> =
        figures["figures"].as_array().unwrap().iter().map(|one| &one["number"]).collect();
    assert_eq!(numbers, [&Value::Null, &1.into(), &2.into()]);
    bench.ok(["data", "export", A, "worded.csv", "--wordings"]);
    let rows = std::fs::read_to_string(bench.path("worded.csv")).unwrap();
    assert!(rows.lines().next().unwrap().contains("wording"), "{rows}");
    assert_eq!(bench.json(["project", "history", A, "--limit", "1"])["entries"][0]["wording"], 2);
}

#[test]
fn merge_preview_counts_additions() {
    let bench = Bench::without_encoder();
    bench.file("base.csv", "text_id,text,annotator_id,label\nt1,one,ana,1\nt2,two,ana,2\nt3,three,ben,3\n");
    bench.ok(["project", "new", A]);
    bench.ok([
        "data",
        "import",
        A,
        "base.csv",
        "--question",
        "rude",
        "--scale",
        "ordinal",
        "--levels",
        "1,2,3",
    ]);
    bench.ok(["project", "copy", A, B]);
    label(&bench, B, "cleo", "t1", "1");
    let reported = bench.ok(["study", "merge", A, B, "--dry-run"]);
    insta::assert_snapshot!(bench.shown(&reported));
    label(&bench, B, "cleo", "t2", "1");
    label(&bench, B, "dan", "t2", "1");
    let reported = bench.ok(["study", "merge", A, B, "--dry-run"]);
    insta::assert_snapshot!(bench.shown(&reported));
    // Two wordings that differ only in what a level means are two different rows.
    label(&bench, A, "ana", "t3", "1");
    bench.ok(["data", "question", A, "rude", "--define", "3=a slap"]);
    label(&bench, A, "ben", "t1", "1");
    let reported = bench.ok(["data", "guideline", A, "--wordings"]);
    assert!(
        reported.matches("1; 2; 3").count() == 2 && reported.matches("1; 2; 3 (a slap)").count() == 1,
        "{reported}"
    );
    bench.ok(["label", "undo", A, "--annotator", "ben", "--question", "rude", "--wait", "1"]);
}
