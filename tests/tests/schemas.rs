//! What commands print with `--json` is what `dissensus schema` says. `Bench` holds it against that wherever a test runs a command;
//! here every command is run, so that none is left out.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use dissensus_tests::command::Bench;
use dissensus_tests::{files, schemas};
use std::collections::BTreeSet;

/// A project with texts that six people rated, and a study on it.
const RATED: &str = "
new P.dissensus
import P.dissensus labels.csv --attributes gender --question rude --dry-run
import P.dissensus labels.csv --attributes gender --question rude
question P.dissensus urgent --levels no,yes --cannot-say on
question P.dissensus rude --reason slang --confidence on
label P.dissensus --question rude --annotator ana --text-id t7 --value 2 --note odd --reason slang --confidence 3
label P.dissensus --question rude --annotator ana --text-id t7 --value 3 --occasion 2
label P.dissensus --question urgent --annotator ana --text-id t7 --value yes
undo P.dissensus --question urgent --annotator ana
undo P.dissensus --question urgent --annotator ana
info P.dissensus
overview P.dissensus --annotator a1
texts P.dissensus --annotator a1 --top 5
embed new.txt new.npy
encode P.dissensus
train P.dissensus --question rude
train P.dissensus --question rude --model shared --split by-text:0.7
train P.dissensus --question rude --model multilevel --split by-text:0.7
runs list P.dissensus
runs show P.dissensus 2
runs compare P.dissensus 1 2
runs use P.dissensus 2
evaluate P.dissensus --question rude --models shared --split by-text:0.7
predict P.dissensus --question rude --annotator a1 --text-id t3
predict P.dissensus --question rude --annotator a1 --text fool
predict P.dissensus --annotator a1 --text fool --run 1,2
predict P.dissensus --question rude --texts new.txt --out new.csv
predictions P.dissensus all.csv --question rude --run 1
runs delete P.dissensus 1
explain P.dissensus --question rude --annotator a1 --with a2 --text-id t3 --words
predictions P.dissensus live.csv --question rude
info P.dissensus
disagreement P.dissensus --question rude --text-dispersion
disagreement P.dissensus --question rude --by labels
annotators P.dissensus --question rude
annotator P.dissensus --annotator a1 --set age=old
who-differs P.dissensus --question rude
compare-groups P.dissensus --question rude --a gender=woman --b gender=man
panel P.dissensus --question rude --size 3 --name small
panel P.dissensus --saved small --texts new.txt --out verdicts.csv
panel P.dissensus --list
agreement P.dissensus --question rude --pairs 5
plan P.dissensus --question rude --interval-width 2
slips P.dissensus --question rude
aggregate P.dissensus --question rude --method mace
repeats P.dissensus --question rude --stable-share
repeats P.dissensus --question rude --remove all
decide P.dissensus --question rude --text-id t3 --outcome ambiguous --comment both --by ana
decisions P.dissensus --all
remarks P.dissensus
guideline P.dissensus --from guideline.md --what-changed first --by ana
guideline P.dissensus
guideline P.dissensus --versions
guideline P.dissensus --agreement
reveal P.dissensus on
care P.dissensus --question rude --level 4 --limit 40
attribute-form P.dissensus --ask gender=woman|man --optional gender
checks P.dissensus --question rude --text-id t2 --value 3 --reason plain
practice P.dissensus --question rude --text-id t1 --value 3 --reason plain
assign P.dissensus --question rude --annotators ada,ben --per-text 2 --dry-run
assign P.dissensus --question rude --annotators ada,ben --per-text 2 --out packets
assign P.dissensus --write-again --annotators ben --out again
practice packets/ada.dissensus
label packets/ada.dissensus --annotator ada --text-id t1 --value 3 --practice
label packets/ada.dissensus --annotator ada --text-id t5 --value 3
study packets/ada.dissensus
study packets/ada.dissensus --texts
hand-in packets/ada.dissensus ada.handin
merge P.dissensus ada.handin
practice P.dissensus
study P.dissensus
history P.dissensus
bundle P.dissensus model --question rude
predict --bundle model --texts new.txt --out there.csv
report P.dissensus appendix
export P.dissensus out.csv --pseudonyms --leave-out failed
export P.dissensus texts.csv --question rude --rows texts --predicted --aggregate mace
export P.dissensus people.parquet --question rude --rows people --pseudonyms
export P.dissensus tasks.json --question rude --format label-studio --dry-run
export --list-formats
copy P.dissensus copy.dissensus
remove P.dissensus --last-import
withdraw P.dissensus --annotator a5
withdraw P.dissensus --annotator a5 --yes
";

/// Benchmarks that take their time or need other programs, and what goes on with a run that broke off, which tests of that do.
const ELSEWHERE: [&str; 7] = [
    "bench disagreement",
    "bench encode",
    "bench import",
    "bench panel",
    "bench predict",
    "bench train",
    "runs resume",
];

/// Questions with options and with spans, the sample, and benchmarks of small projects.
const OTHERS: &str = "
new O.dissensus
import O.dissensus sets.csv --scale multi-label --levels rude,threat,lie
encode O.dissensus
predict O.dissensus --text-id t3
predict O.dissensus --text-id t3 --annotator a1
disagreement O.dissensus
agreement O.dissensus
aggregate O.dissensus
evaluate O.dissensus --models shared --split by-text:0.7
predictions O.dissensus sets-out.csv
new W.dissensus
import W.dissensus marked.jsonl --question where
encode W.dissensus
words W.dissensus --text-id t2
words W.dissensus --out words.csv
predict W.dissensus --text-id t2 --annotator ana
predict W.dissensus --text fool --annotator ana
agreement W.dissensus
evaluate W.dissensus --models shared --split by-text:0.7
remove W.dissensus --last-import --yes
sample S.dissensus
info S.dissensus
correlate-questions S.dissensus
disagreement S.dissensus --question offensiveness
overview S.dissensus
bench live --texts 50 --annotators 10 --clicks 5
bench study --people 3 --texts 4
bench large --labels 3000 --texts 600 --annotators 40
bench import-shapes --labels 500 --runs 1
";

/// Runs each line and returns the commands that it ran.
fn run(bench: &Bench, lines: &'static str) -> BTreeSet<&'static str> {
    let lines = lines.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| {
            bench.json(line.split(' '));
            let known = |command: &&str| line.starts_with(&format!("{command} "));
            schemas::commands().filter(known).max_by_key(|command| command.len()).unwrap()
        })
        .collect()
}

#[test]
fn every_command_prints_what_its_schema_says() {
    let bench = Bench::new();
    bench.file("labels.csv", files::labels(40, 6));
    bench.file("new.txt", "You fool\nAll is well\n");
    bench.file("guideline.md", "# Rude\n\nWhat is meant counts.\n");
    let sets = ["rude", "rude;lie", "lie", "none", "threat;rude"];
    let row = |n: usize| format!("t{},body {},a{},{}\n", n / 4, n / 4, n % 4, sets[n * 7 % 5]);
    let rows: String = (0..240).map(row).collect();
    bench.file("sets.csv", format!("text_id,text,annotator_id,label\n{rows}"));
    let mark = |n: usize| {
        let (text, who) = (n / 2, ["ana", "ben"][n % 2]);
        let (word, marks) = if text % 2 == 0 { ("fool", r#"[[9, 13, "insult"]]"#) } else { ("pear", "[]") };
        format!(
            "{{\"text_id\": \"t{text}\", \"text\": \"you are, {word} number {text}\", \"annotator_id\": \"{who}\", \"label\": {marks}}}\n"
        )
    };
    bench.file("marked.jsonl", (0..60).map(mark).collect::<String>());
    let mut ran = run(&bench, RATED);
    ran.append(&mut run(&bench, OTHERS));
    let all: BTreeSet<&str> = schemas::commands().filter(|command| !ELSEWHERE.contains(command)).collect();
    assert_eq!(ran, all);
}

#[test]
fn one_schema_is_that_of_all_and_others_are_told() {
    let bench = Bench::without_encoder();
    let of = |command: &[&str]| {
        let out = bench.ok([&["schema"], command].concat());
        serde_json::from_str::<serde_json::Value>(&out).unwrap()
    };
    assert_eq!(of(&["runs", "list"]), of(&[])["runs list"]);
    let draft = "https://json-schema.org/draft/2020-12/schema";
    assert_eq!(of(&["info"])["$schema"], draft);
    let refused = bench.refused(["schema", "rums"]);
    insta::assert_snapshot!(bench.shown(&refused));
}
