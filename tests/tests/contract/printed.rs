//! The output of every command on the sample project and on small ones: standard output as it is, standard
//! error after `!`.

use super::hold;
use dissensus_tests::command::Bench;
use dissensus_tests::redact::Figures;
use dissensus_tests::transcript::{Transcript, split};
use dissensus_tests::{files, schemas};
use std::collections::BTreeSet;

/// A script and its inputs.
struct Case {
    name: &'static str,
    figures: Figures,
    script: &'static str,
}

const CASES: [&Case; 10] = [
    &PROJECT,
    &IMPORT,
    &DATA,
    &PEOPLE,
    &LABEL,
    &STUDY,
    &ENCODE,
    &RUNS,
    &FIGURES_OF_LABELS,
    &FIGURES_OF_MODELS,
];

impl Case {
    fn run(&self) {
        let bench = Bench::new();
        bench.file("labels.csv", files::labels(12, 6));
        bench.file("texts.csv", files::texts(12));
        bench.file("words.txt", "quiet harbour seven\n");
        bench.file("new.txt", "You fool\nAll is well\n");
        bench.file("rules.md", "# Rude\n\nWhat is meant counts.\n");
        bench.file("rules-2.md", "# Rude\n\nWhat is meant counts, not what is written.\n");
        bench.file(
            "bad.csv",
            "text_id,text,annotator_id,label\nt1,one,ana,2\nt2,,ana,3\nt1,another body,ben,1\nt3,three,ben,x\n",
        );
        bench.file("wide.csv", "id,comment,rater_1,rater_2\n1,first,2,3\n2,second,1,1\n3,third,3,\n");
        bench.file("checks.csv", "text_id,label,reason\nt3,5,a plain insult\nt4,9,\n");
        let mark = |n: usize| {
            let (text, who) = (n / 2, ["ana", "ben"][n % 2]);
            let (word, marks) =
                if text.is_multiple_of(2) { ("fool", r#"[[9, 13, "insult"]]"#) } else { ("pear", "[]") };
            format!(
                "{{\"text_id\": \"t{text}\", \"text\": \"you are, {word} number {text}\", \"annotator_id\": \"{who}\", \"label\": {marks}}}\n"
            )
        };
        bench.file("marked.jsonl", (0..40).map(mark).collect::<String>());
        let mut transcript = Transcript::new(bench, self.figures);
        transcript.run(self.script);
        hold(self.name, &transcript.finish());
    }
}

const PROJECT: Case = Case {
    name: "printed-project",
    figures: Figures::Exact,
    script: "
project new P.dissensus
project new P.dissensus
project new Q.dissensus --json
project info P.dissensus
project overview P.dissensus
project sample S.dissensus
project info S.dissensus
project info S.dissensus --json
project info missing.dissensus
project info labels.csv
project overview S.dissensus
project overview S.dissensus --annotator sim-ada --top 2
project overview S.dissensus --top 1 --json
project copy S.dissensus C.dissensus
project copy S.dissensus C.dissensus
project copy S.dissensus C.dissensus --force --json
project copy S.dissensus E.age --passphrase-file words.txt
project decrypt E.age D.dissensus --passphrase-file rules.md
project decrypt E.age D.dissensus --passphrase-file words.txt
project decrypt E.age D.dissensus --passphrase-file words.txt --json
project decrypt texts.csv D2.dissensus --json
project backup list S.dissensus
project backup changes S.dissensus
project backup restore S.dissensus 2026-03-01T13-05-31Z
project backup make missing.dissensus
data import P.dissensus labels.csv --question rude --attributes gender
project history P.dissensus
project history P.dissensus --limit 2 --hide-names
project history P.dissensus --limit 1 --json
project history P.dissensus --kind nonsense
project remove P.dissensus --text t3
project remove P.dissensus --question rude
project remove P.dissensus --annotator a1
project remove P.dissensus --last-import
project remove P.dissensus --last-import --json
project remove P.dissensus --last-import --yes
project remove P.dissensus --last-import --yes
project info P.dissensus
project
nonsense
",
};

const IMPORT: Case = Case {
    name: "printed-import",
    figures: Figures::Exact,
    script: "
project new P.dissensus
data import P.dissensus labels.csv --question rude --attributes gender --dry-run
data import P.dissensus labels.csv --question rude --attributes gender
data import P.dissensus labels.csv --question rude --attributes gender
data import P.dissensus texts.csv --json
project new B.dissensus
data import B.dissensus bad.csv
data import B.dissensus bad.csv --json
data import B.dissensus bad.csv --skip-bad
@list .
@labels B.dissensus
project new W.dissensus
data import W.dissensus wide.csv --dry-run
data import W.dissensus wide.csv --annotator-columns 'rater_*' --question good --levels 1,2,3
@labels W.dissensus
data import W.dissensus marked.jsonl --question where --dry-run
data import W.dissensus marked.jsonl --question where
data import W.dissensus rules.md
data import W.dissensus missing.csv
data import W.dissensus wide.csv --text nonsense
data import W.dissensus
",
};

const DATA: Case = Case {
    name: "printed-data",
    figures: Figures::Exact,
    script: "
project new P.dissensus
data import P.dissensus labels.csv --question rude --attributes gender
data texts P.dissensus --top 3
data texts P.dissensus --search soup --annotator a1
data texts P.dissensus --filter not-yet --annotator a1
data texts P.dissensus --filter contested --sort contested --top 1 --json
data question P.dissensus urgent --levels no,yes --prompt 'Is it urgent?'
data question P.dissensus urgent --cannot-say on --only-if rude=4,5
data question P.dissensus rude --rename '5=very rude' --reason slang --reason irony --confidence on
data question P.dissensus rude --define '1=polite' --low 'not at all' --high extremely --help-text 'What is meant counts.'
data question P.dissensus rude --set-levels 1,2,3
data question P.dissensus kind --scale multi-label --levels thanks,threat --json
data question P.dissensus kind --scale ordinal --levels 1,2
data question P.dissensus one --levels only
data question P.dissensus nonsense
project info P.dissensus
data guideline P.dissensus
data guideline P.dissensus --from rules.md --what-changed first --by ana
data guideline P.dissensus --from rules.md
data guideline P.dissensus --from rules-2.md --what-changed 'what is written' --json
data guideline P.dissensus --versions
data guideline P.dissensus --version 1
data guideline P.dissensus --version 9
data guideline P.dissensus --agreement
data guideline P.dissensus --agreement --by-wording
data guideline P.dissensus --wordings
data export P.dissensus labels.csv
data export P.dissensus out.csv --json
",
};

const PEOPLE: Case = Case {
    name: "printed-people",
    figures: Figures::Exact,
    script: "
project new P.dissensus
data import P.dissensus labels.csv --question rude --attributes gender
people show P.dissensus --annotator a1
people show P.dissensus --annotator a1 --name 'Ana Lopez' --set age=30
people show P.dissensus --annotator a1 --json
people show P.dissensus --annotator nobody
people form P.dissensus
people form P.dissensus --ask 'gender=woman|man|other' --prompt 'gender=How do you describe yourself?' --optional gender
people form P.dissensus --annotator a1
people form P.dissensus --annotator a2 --withheld gender
people form P.dissensus --annotator a2 --answer gender=nonsense
people form P.dissensus --json
people form P.dissensus --nothing
people care P.dissensus
people care P.dissensus --question rude --level 4 --limit 40
people care P.dissensus --limit 10 --strict on --greyscale on
people care P.dissensus --json
people care P.dissensus --no-limit
people reveal P.dissensus
people reveal P.dissensus on
people reveal P.dissensus --json
people language P.dissensus
people language P.dissensus de
people language P.dissensus --json
people consent P.dissensus
people consent P.dissensus --from labels.csv
people consent P.dissensus --agreed a1
people consent P.dissensus --json
people consent P.dissensus --nothing
people withdraw P.dissensus --annotator a3
people withdraw P.dissensus --annotator a3 --json
people withdraw P.dissensus --annotator a3 --yes
people withdraw P.dissensus --annotator a3 --yes
",
};

const LABEL: Case = Case {
    name: "printed-label",
    figures: Figures::Exact,
    script: "
project new P.dissensus
data import P.dissensus labels.csv --question rude --attributes gender
data question P.dissensus rude --reason slang --confidence on --cannot-say on
label record P.dissensus --annotator ana --text-id t1 --value 4
label record P.dissensus --annotator ana --text-id t1 --value 5 --note 'quotes somebody' --reason slang --confidence 2
label record P.dissensus --annotator ana --text-id t2 --value '[cannot say]' --json
label record P.dissensus --annotator ana --text-id t1 --value 3 --occasion 2
label record P.dissensus --annotator ana --text-id t9 --value 9
label record P.dissensus --annotator ana --text-id nowhere --value 1
label record P.dissensus --annotator Ana --text-id t3 --value 1
label record P.dissensus --annotator ana --text-id t3 --value 1 --reason irony
label record P.dissensus --annotator ana --text-id t3 --value 1 --confidence 6
label undo P.dissensus --annotator ana
label undo P.dissensus --annotator ana --json
label undo P.dissensus --annotator ana
label undo P.dissensus --annotator ana
label undo P.dissensus --annotator ana
label record P.dissensus --annotator ana --text-id t1 --value 5 --note 'quotes somebody' --reason slang
label notes P.dissensus
label notes P.dissensus --search nothing
label notes P.dissensus --json
label notes P.dissensus --flagged
label practice P.dissensus
label practice P.dissensus --text-id t1 --value 3 --reason 'tired, not rude'
label practice P.dissensus --pass 0.8 --within 1 --then practise
label practice P.dissensus --from checks.csv
label practice P.dissensus --results
label practice P.dissensus --json
label practice P.dissensus --text-id t1 --remove
label checks P.dissensus
label checks P.dissensus --text-id t2 --value 5 --reason 'a plain insult'
label checks P.dissensus --pass 0.75 --within 1
label checks P.dissensus --json
label checks P.dissensus --text-id t2 --remove
label decide P.dissensus --text-id t1
label decide P.dissensus --text-id t1 --outcome real-difference --comment 'both readings are fair'
label decide P.dissensus --text-id t3 --outcome slip --value 4 --by ana --json
label decide P.dissensus --text-id t3 --outcome nonsense
label decisions P.dissensus
label decide P.dissensus --text-id t3 --outcome reopened
label decisions P.dissensus --all
",
};

const STUDY: Case = Case {
    name: "printed-study",
    figures: Figures::Exact,
    script: "
project new P.dissensus
study plan P.dissensus
study assign P.dissensus --annotators ada,ben --out packets
data import P.dissensus texts.csv
data question P.dissensus rude --levels 1,2,3,4,5
study status P.dissensus
study assign P.dissensus --annotators ada,ben,cleo --per-text 2 --anchors 2 --dry-run
study assign P.dissensus --annotators ada,ben,cleo --per-text 2 --anchors 2 --out packets
study assign P.dissensus --annotators dan --per-text 3 --per-person 4 --out packets --json
study assign P.dissensus --to-come 1 --per-text 4 --per-person 3 --out packets
study assign P.dissensus --annotators ada --per-text 9 --out packets
study assign P.dissensus --write-again --annotators ben --out again
@list .
study status packets/ada.dissensus
study status packets/ada.dissensus --texts
study status packets/ada.dissensus --json
label record packets/ben.dissensus --annotator ben --text-id t1 --value 3
study hand-in packets/ben.dissensus ben.handin
study hand-in packets/ben.dissensus ben.handin
study hand-in packets/ada.dissensus ada.handin --json
study hand-in P.dissensus p.handin
study merge P.dissensus ben.handin ada.handin
study merge P.dissensus ben.handin --json
study status P.dissensus
study status P.dissensus --json
data import P.dissensus labels.csv --question rude
study plan P.dissensus
study plan P.dissensus --interval-width 1.5 --cost-per-label 0.12 --seconds-per-label 10 --top 2
study plan P.dissensus --top 1 --json
project info packets/ada.dissensus
data import packets/ada.dissensus texts.csv
study mask P.dissensus
study mask P.dissensus --on email,phone --pattern '[0-9]+' --dry-run --top 2
study mask P.dissensus --pattern 'a('
study mask P.dissensus --on nonsense
study mask P.dissensus --pattern '[0-9]+' --except 1
study mask P.dissensus --json --top 1
study mask P.dissensus --words-from author
study mask P.dissensus --names
study mask P.dissensus --mask-nothing
study mask packets/ada.dissensus --on email
",
};

const ENCODE: Case = Case {
    name: "printed-encode",
    figures: Figures::OfModels,
    script: "
models embed new.txt new.csv
models embed new.txt new.npy --json
models embed new.txt new.npy
project new P.dissensus
models encode P.dissensus
models encode P.dissensus --json
data import P.dissensus texts.csv
models encode P.dissensus
models encode P.dissensus
models encode P.dissensus --encoder nonsense
data question P.dissensus rude --levels 1,2,3
models train P.dissensus
models predict P.dissensus --annotator ana --text-id t1
models runs list P.dissensus
analyse disagreement P.dissensus
analyse agreement P.dissensus
analyse annotators P.dissensus
schema nonsense
schema undo
completions nonsense
report P.dissensus appendix
report P.dissensus papers --institution
models bundle P.dissensus model
",
};

const RUNS: Case = Case {
    name: "printed-runs",
    figures: Figures::OfModels,
    script: "
project sample S.dissensus
models train S.dissensus --question offensiveness
models train S.dissensus --question offensiveness --model shared --split by-text:0.7
models train S.dissensus --question offensiveness --model majority --split by-text:0.7
models train S.dissensus --question offensiveness --split nonsense
models train S.dissensus
models runs list S.dissensus
models runs show S.dissensus 1
models runs show S.dissensus 9
models runs compare S.dissensus 1 2
models runs resume S.dissensus 1
models runs use S.dissensus 1
models runs use S.dissensus 1 --json
models runs delete S.dissensus 2
models runs list S.dissensus --json
models evaluate S.dissensus --question offensiveness --models majority,shared --split by-text:0.7
models evaluate S.dissensus --question offensiveness --split column
models predict S.dissensus --question offensiveness --annotator sim-ada --text-id c140
models predict S.dissensus --question offensiveness --annotator sim-ada --text 'You fool' --json
models predict S.dissensus --question offensiveness --texts new.txt --out new.csv
@show new.csv
models predictions S.dissensus all.csv --question offensiveness
@head 4 all.csv
models predictions S.dissensus all.csv --question offensiveness
models bundle S.dissensus model --question offensiveness
@list model
models predict --bundle model --texts new.txt --out bundled.csv
@sorted bundled.csv
project info S.dissensus
report S.dissensus appendix
@list appendix
",
};

const FIGURES_OF_LABELS: Case = Case {
    name: "printed-figures-of-labels",
    figures: Figures::Exact,
    script: "
project sample S.dissensus
analyse agreement S.dissensus --question offensiveness
analyse agreement S.dissensus --question remove --pairs 20
analyse agreement S.dissensus --question remove --json
analyse agreement S.dissensus
analyse disagreement S.dissensus --question offensiveness --by labels --top 5
analyse who-differs S.dissensus --question offensiveness --top 2
analyse aggregate S.dissensus --question remove --method majority
analyse aggregate S.dissensus --question remove --method dawid-skene
analyse repeats S.dissensus --question remove
analyse slips S.dissensus --question remove
analyse panel S.dissensus --list
project new W.dissensus
data import W.dissensus marked.jsonl --question where
analyse agreement W.dissensus
analyse words W.dissensus --text-id t2
",
};

const FIGURES_OF_MODELS: Case = Case {
    name: "printed-figures-of-models",
    figures: Figures::OfModels,
    script: "
project sample S.dissensus
analyse disagreement S.dissensus --question offensiveness --top 5
analyse disagreement S.dissensus --question remove --by split --top 2 --json
analyse annotators S.dissensus --question offensiveness
analyse explain S.dissensus --question offensiveness --annotator sim-ada --with sim-bruno --text-id c003
analyse compare-groups S.dissensus --question offensiveness --a gender=woman --b gender=man --top 2
analyse panel S.dissensus --question offensiveness --members sim-ada,sim-bruno,sim-dele --top 3 --name board
analyse panel S.dissensus --question offensiveness --members sim-ada,sim-bruno,sim-dele --text-id c003
analyse panel S.dissensus --list
analyse panel S.dissensus --forget board
analyse correlate-questions S.dissensus
analyse repeats S.dissensus --question offensiveness --stable-share
",
};

macro_rules! tests {
    ($($test:ident: $case:ident),* $(,)?) => {
        $(#[test]
        fn $test() {
            $case.run();
        })*
    };
}

tests! {
    project: PROJECT,
    import: IMPORT,
    data: DATA,
    people: PEOPLE,
    label: LABEL,
    study: STUDY,
    encoding: ENCODE,
    runs: RUNS,
    figures_of_labels: FIGURES_OF_LABELS,
    figures_of_models: FIGURES_OF_MODELS,
}

/// The words of a command without its group, as schemas are named.
fn without_group(words: &[String]) -> &[String] {
    match words {
        [only, ..] if only == "report" => words,
        _ => &words[1..],
    }
}

#[test]
fn every_command_is_in_a_script() {
    let lines = CASES.iter().flat_map(|case| case.script.lines()).filter(|line| !line.is_empty());
    let lines: Vec<String> = lines.map(|line| without_group(&split(line)).join(" ")).collect();
    // A backup is named by its time, and the check asks a server: tests of their own have them.
    let elsewhere = ["backup delete", "check-update"];
    let missing: BTreeSet<&str> = schemas::commands()
        .filter(|command| !elsewhere.contains(command))
        .filter(|command| !lines.iter().any(|line| line.starts_with(&format!("{command} "))))
        .collect();
    assert!(missing.is_empty(), "no script runs {missing:?}");
}
