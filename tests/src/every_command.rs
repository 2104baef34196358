//! Every command that prints JSON, run once on small projects.

use crate::command::Bench;
use crate::{files, schemas};
use std::collections::BTreeSet;

/// A project with texts that six people rated, and a study on it.
const RATED: &str = "
project new P.dissensus
data import P.dissensus labels.csv --attributes gender --question rude --dry-run
data import P.dissensus labels.csv --attributes gender --question rude
data question P.dissensus urgent --levels no,yes --cannot-say on
data question P.dissensus rude --reason slang --confidence on
label record P.dissensus --question rude --annotator ana --text-id t7 --value 2 --note odd --reason slang --confidence 3
label record P.dissensus --question rude --annotator ana --text-id t7 --value 3 --occasion 2
label record P.dissensus --question urgent --annotator ana --text-id t7 --value yes
label undo P.dissensus --question urgent --annotator ana
label undo P.dissensus --question urgent --annotator ana
project info P.dissensus
project overview P.dissensus --annotator a1
data texts P.dissensus --annotator a1 --top 5
models embed new.txt new.npy
models encode P.dissensus
models train P.dissensus --question rude
models train P.dissensus --question rude --model shared --split by-text:0.7
models train P.dissensus --question rude --model multilevel --split by-text:0.7
models runs list P.dissensus
models runs show P.dissensus 2
models runs compare P.dissensus 1 2
models runs use P.dissensus 2
models evaluate P.dissensus --question rude --models shared --split by-text:0.7
models predict P.dissensus --question rude --annotator a1 --text-id t3
models predict P.dissensus --question rude --annotator a1 --text fool
models predict P.dissensus --annotator a1 --text fool --run 1,2
models predict P.dissensus --question rude --texts new.txt --out new.csv
models predictions P.dissensus all.csv --question rude --run 1
models runs delete P.dissensus 1
analyse explain P.dissensus --question rude --annotator a1 --with a2 --text-id t3 --words
models predictions P.dissensus live.csv --question rude
project info P.dissensus
analyse disagreement P.dissensus --question rude --text-dispersion
analyse disagreement P.dissensus --question rude --by labels
analyse annotators P.dissensus --question rude
people show P.dissensus --annotator a1 --set age=old
analyse who-differs P.dissensus --question rude
analyse compare-groups P.dissensus --question rude --a gender=woman --b gender=man
analyse panel P.dissensus --question rude --size 3 --name small
analyse panel P.dissensus --saved small --texts new.txt --out verdicts.csv
analyse panel P.dissensus --list
analyse agreement P.dissensus --question rude --pairs 5
study plan P.dissensus --question rude --interval-width 2
analyse slips P.dissensus --question rude
analyse aggregate P.dissensus --question rude --method mace
analyse repeats P.dissensus --question rude --stable-share
analyse repeats P.dissensus --question rude --remove all
label decide P.dissensus --question rude --text-id t3 --outcome ambiguous --comment both --by ana
label decisions P.dissensus --all
label notes P.dissensus
data guideline P.dissensus --from guideline.md --what-changed first --by ana
data guideline P.dissensus
data guideline P.dissensus --versions
data guideline P.dissensus --agreement
people reveal P.dissensus on
people language P.dissensus de
people consent P.dissensus --from guideline.md
people care P.dissensus --question rude --level 4 --limit 40
people form P.dissensus --ask gender=woman|man --optional gender
label checks P.dissensus --question rude --text-id t2 --value 3 --reason plain
label practice P.dissensus --question rude --text-id t1 --value 3 --reason plain
study mask P.dissensus --on email,words --dry-run
study mask P.dissensus --names
study assign P.dissensus --question rude --annotators ada,ben --per-text 2 --dry-run
study assign P.dissensus --question rude --annotators ada,ben --per-text 2 --out packets
study assign P.dissensus --write-again --annotators ben --out again
label practice packets/ada.dissensus
label record packets/ada.dissensus --annotator ada --text-id t1 --value 3 --practice
label record packets/ada.dissensus --annotator ada --text-id t5 --value 3
study status packets/ada.dissensus
study status packets/ada.dissensus --texts
study hand-in packets/ada.dissensus ada.handin
study merge P.dissensus ada.handin
label practice P.dissensus
study status P.dissensus
project history P.dissensus
models bundle P.dissensus model --question rude
models predict --bundle model --texts new.txt --out there.csv
report P.dissensus appendix
report P.dissensus papers --institution
data export P.dissensus out.csv --pseudonyms --leave-out failed
data export P.dissensus texts.csv --question rude --rows texts --predicted --aggregate mace
data export P.dissensus people.parquet --question rude --rows people --pseudonyms
data export P.dissensus tasks.json --question rude --format label-studio --dry-run
data export --list-formats
project copy P.dissensus copy.dissensus
project copy P.dissensus locked.age --passphrase-file words.txt
project decrypt locked.age unlocked.dissensus --passphrase-file words.txt
project backup make P.dissensus
project backup list P.dissensus
project backup changes P.dissensus
project backup restore P.dissensus
project remove P.dissensus --last-import
people withdraw P.dissensus --annotator a5
people withdraw P.dissensus --annotator a5 --yes
";

/// Questions with options and with spans, and the sample.
const OTHERS: &str = "
project new O.dissensus
data import O.dissensus sets.csv --scale multi-label --levels rude,threat,lie
models encode O.dissensus
models predict O.dissensus --text-id t3
models predict O.dissensus --text-id t3 --annotator a1
analyse disagreement O.dissensus
analyse agreement O.dissensus
analyse aggregate O.dissensus
models evaluate O.dissensus --models shared --split by-text:0.7
models predictions O.dissensus sets-out.csv
project new W.dissensus
data import W.dissensus marked.jsonl --question where
models encode W.dissensus
analyse words W.dissensus --text-id t2
analyse words W.dissensus --out words.csv
models predict W.dissensus --text-id t2 --annotator ana
models predict W.dissensus --text fool --annotator ana
analyse agreement W.dissensus
models evaluate W.dissensus --models shared --split by-text:0.7
project remove W.dissensus --last-import --yes
project sample S.dissensus
project info S.dissensus
analyse correlate-questions S.dissensus
analyse disagreement S.dissensus --question offensiveness
project overview S.dissensus
";

/// Runs each line and returns the commands that it ran.
fn run(bench: &Bench, lines: &'static str) -> BTreeSet<&'static str> {
    let lines = lines.lines().filter(|line| !line.is_empty());
    lines
        .filter_map(|line| {
            bench.json(line.split(' '));
            let (_, without_group) = line.split_once(' ')?;
            let known = |command: &&str| {
                [line, without_group].iter().any(|words| words.starts_with(&format!("{command} ")))
            };
            schemas::commands().filter(known).max_by_key(|command| command.len())
        })
        .collect()
}

/// Runs them in an empty folder, and returns their names.
///
/// # Panics
/// One fails, or prints something else than one document that matches its schema.
pub fn run_all(bench: &Bench) -> BTreeSet<&'static str> {
    bench.file("labels.csv", files::labels(40, 6));
    bench.file("words.txt", "quiet harbour seven\n");
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
    let mut ran = run(bench, RATED);
    ran.append(&mut run(bench, OTHERS));
    ran
}
