//! Messages of the command in the language of the user.

use dissensus_tests::command::{Bench, Outcome};
use dissensus_tests::files;
use std::collections::BTreeSet;

fn run(bench: &Bench, language: &str, arguments: &str) -> Outcome {
    let output = bench.command(arguments.split(' ')).env("DISSENSUS_LANGUAGE", language).output();
    let output = output.expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    Outcome { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// A project with texts that several people rated.
fn project() -> Bench {
    let bench = Bench::new();
    bench.file("labels.csv", files::labels(12, 4));
    bench.ok("project new P.dissensus".split(' '));
    bench.ok("data import P.dissensus labels.csv --attributes gender --question rude".split(' '));
    bench
}

#[test]
fn messages_follow_the_language_and_json_does_not() {
    let bench = project();
    let error = run(&bench, "de", "label record P.dissensus --annotator a1 --text-id none --value 1");
    assert_eq!(error.code, Some(1));
    assert!(error.err.starts_with("Fehler: "), "{}", error.err);
    let (english, french) =
        (run(&bench, "en", "project info P.dissensus"), run(&bench, "fr", "project info P.dissensus"));
    assert_ne!(english.out, french.out);
    assert_eq!(run(&bench, "sv", "project info P.dissensus").out, english.out);
    assert_eq!(run(&bench, "fr", "project info P.dissensus --language en").out, english.out);
    assert_eq!(run(&bench, "en", "project info P.dissensus --language fr").out, french.out);
    let json = "project info P.dissensus --json";
    assert_eq!(run(&bench, "ar", json).out, run(&bench, "en", json).out);
    let refused = run(&bench, "en", "project info P.dissensus --language xx");
    assert_eq!(refused.code, Some(2), "{}", refused.err);
}

#[test]
fn names_and_texts_stay_as_they_are() {
    let bench = project();
    let texts = run(&bench, "en", "data texts P.dissensus --top 5");
    let shown = run(&bench, "fr", "data texts P.dissensus --top 5");
    let rows = |outcome: &Outcome| -> Vec<Vec<String>> {
        let lines =
            outcome.out.lines().filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()));
        lines.map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
    };
    assert!(rows(&texts).len() >= 5, "{}", texts.out);
    assert_eq!(rows(&texts)[1..5], rows(&shown)[1..5]);
}

/// Names of the project and of measures, and what has to be typed.
const WRITTEN_AS_IT_IS: &str =
    "rude gender labels csv missing dissensus ordinal nominal linear quadratic combined alpha Gwet";

#[test]
fn no_message_is_left_untranslated() {
    let bench = project();
    let data = [files::labels(12, 4).as_str(), WRITTEN_AS_IT_IS].join(" ");
    let known: BTreeSet<&str> = data.split(|c: char| !c.is_alphabetic()).collect();
    let mut untranslated = Vec::new();
    for arguments in [
        "project info P.dissensus",
        "project overview P.dissensus",
        "study status P.dissensus",
        "analyse agreement P.dissensus",
        "people show P.dissensus --annotator nobody",
        "label undo P.dissensus --annotator a1",
        "label notes P.dissensus",
        "analyse repeats P.dissensus",
        "analyse disagreement P.dissensus --top 3",
        "models runs list P.dissensus",
        "data import P.dissensus missing.csv",
        "project info missing.dissensus",
        "study merge P.dissensus labels.csv",
        "people care P.dissensus",
        "people form P.dissensus",
        "project backup list P.dissensus",
    ] {
        let Outcome { out, err, .. } = run(&bench, "pseudo", arguments);
        assert!(!(out.is_empty() && err.is_empty()), "{arguments}");
        // Paths, commands and what is in quotation marks are written as they are.
        let words = [out.as_str(), &err].concat();
        let words = words.split_whitespace().filter(|word| !word.contains(['/', '"', '=']));
        let words = words.flat_map(|word| word.split(|c: char| !c.is_alphabetic()));
        let english: Vec<&str> = words
            .filter(|word| {
                word.chars().filter(char::is_ascii_lowercase).count() >= 3 && !known.contains(word)
            })
            .collect();
        if !english.is_empty() {
            untranslated.push(format!("{arguments}: {english:?}\n{out}{err}"));
        }
    }
    assert!(untranslated.is_empty(), "{}", untranslated.join("\n"));
}
