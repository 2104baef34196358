//! Exports of the sample project, and of one with spans and sets, in every format of `dissensus data export`.

use super::case;

const SAMPLE: &str = "project sample S.dissensus";

#[test]
fn label_tables_are_written() {
    case(
        "export-tables",
        &[],
        SAMPLE,
        "
data export S.dissensus labels.csv
@show labels.csv
data export S.dissensus labels.csv
data export S.dissensus labels.tsv --question offensiveness
@head 5 labels.tsv
data export S.dissensus labels.jsonl --question remove
@head 5 labels.jsonl
data export S.dissensus labels.docx
",
    );
}

/// Files that are not text are read back by an import into a new project.
#[test]
fn binary_tables_are_written() {
    case(
        "export-binary-tables",
        &[],
        SAMPLE,
        "
data export S.dissensus labels.xlsx
project new X.dissensus
data import X.dissensus labels.xlsx
data export X.dissensus from-xlsx.csv
@head 5 from-xlsx.csv
data export S.dissensus labels.parquet
project new P.dissensus
data import P.dissensus labels.parquet
data export P.dissensus from-parquet.csv
@head 5 from-parquet.csv
data export S.dissensus labels.arrow
data export S.dissensus hub --hugging-face
@list hub
@head 60 hub/README.md
",
    );
}

#[test]
fn text_and_people_tables_are_written() {
    case(
        "export-rows",
        &[],
        SAMPLE,
        "
data export S.dissensus texts.csv --rows texts --question offensiveness --aggregate majority
@head 8 texts.csv
data export S.dissensus people.csv --rows people --question offensiveness
@show people.csv
data export S.dissensus hidden.csv --pseudonyms
@sorted hidden.csv
data export S.dissensus hidden-people.csv --rows people --question remove --pseudonyms
@sorted hidden-people.csv
data export S.dissensus worded.csv --wordings --question remove
@head 4 worded.csv
label decide S.dissensus --question remove --text-id c003 --outcome slip --value yes --comment 'agreed on'
data export S.dissensus decided.csv --decisions only
@show decided.csv
data export S.dissensus with-decisions.csv --decisions columns --question remove
@head 16 with-decisions.csv
",
    );
}

#[test]
fn tool_formats_are_written() {
    case(
        "export-tools",
        &[],
        SAMPLE,
        "
data export --list-formats
data export S.dissensus tasks.json --format label-studio --question offensiveness --dry-run
data export S.dissensus tasks.json --format label-studio --question offensiveness
@show tasks.json
data export S.dissensus prodigy.jsonl --format prodigy --question offensiveness
@head 4 prodigy.jsonl
data export S.dissensus doccano.zip --format doccano --question offensiveness
project new D.dissensus
data import D.dissensus doccano.zip
data export D.dissensus from-doccano.csv
@head 6 from-doccano.csv
data export S.dissensus lewidi.json --format lewidi --question offensiveness
@show lewidi.json
data export S.dissensus crowd.csv --format crowd-kit --question offensiveness
@head 6 crowd.csv
data export S.dissensus wide.csv --format wide --question offensiveness
@head 6 wide.csv
data export S.dissensus all.json --format lewidi
",
    );
}

const MARKED: &str = r#"{"text_id": "t1", "text": "you are, fool number one", "annotator_id": "ana", "label": [[9, 13, "insult"]]}
{"text_id": "t1", "text": "you are, fool number one", "annotator_id": "ben", "label": []}
{"text_id": "t2", "text": "a dull and silly film", "annotator_id": "ana", "label": [[2, 6, "judgement"], [11, 16, "insult"]]}
{"text_id": "t2", "text": "a dull and silly film", "annotator_id": "ben", "label": [[2, 16, "judgement"]]}
{"text_id": "t3", "text": "we met at noon", "annotator_id": "ben", "label": []}
"#;

const SETS: &str = "text_id,text,annotator_id,label
t1,\"you are, fool number one\",ana,rude;lie
t1,\"you are, fool number one\",ben,rude
t2,a dull and silly film,ana,none
t2,a dull and silly film,ben,threat
";

#[test]
fn spans_and_sets_are_written() {
    case(
        "export-spans-and-sets",
        &[("marked.jsonl", MARKED), ("sets.csv", SETS)],
        "
project new P.dissensus
data import P.dissensus marked.jsonl --question where
data import P.dissensus sets.csv --question what --scale multi-label --levels rude,threat,lie
label record P.dissensus --question what --annotator ana --text-id t3 --value none --note 'says \"noon\"'
",
        "
data export P.dissensus labels.csv
@show labels.csv
data export P.dissensus rows.csv --question where --spans rows
@show rows.csv
data export P.dissensus spans.conll --question where
@show spans.conll
data export P.dissensus labels.jsonl
@show labels.jsonl
data export P.dissensus texts.csv --rows texts --question what
@show texts.csv
data export P.dissensus tasks.json --format label-studio --question where
@show tasks.json
data export P.dissensus prodigy.jsonl --format prodigy --question where
@show prodigy.jsonl
data export P.dissensus lewidi.json --format lewidi --question what
data export P.dissensus doccano.zip --format doccano --question where
project new D.dissensus
data import D.dissensus doccano.zip
@labels D.dissensus
",
    );
}
