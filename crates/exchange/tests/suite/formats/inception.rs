//! INCEpTION: documents of one annotator, and whole projects.

use super::reading::{archive, file};
use dissensus_exchange::Row;

const TSV: &str = "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Span|value\n\n\n#Text=I like it 😊 .\n1-1\t0-1\tI\t_\t\n\
    1-2\t2-6\tlike\tgood\t\n1-3\t7-9\tit\t_\t\n1-4\t10-12\t😊\t*\t\n1-5\t13-14\t.\t_\t\n";
const EMPTY: &str =
    "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Span|value\n\n\n#Text=I like it 😊 .\n1-1\t0-1\tI\t_\t\n";
const XMI: &str = r#"<?xml version="1.0" encoding="UTF-8"?><xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore"
 xmlns:zz="http:///webanno/custom.ecore" xmlns:dep="http:///d.ecore" xmlns:seg="http:///de/tudarmstadt/ukp/dkpro/core/api/segmentation/type.ecore" xmi:version="2.0">
 <cas:NULL xmi:id="0"/><seg:Token xmi:id="3" sofa="2" begin="0" end="1"/>
 <zz:Span xmi:id="9" sofa="2" begin="2" end="6" value="good"/>
 <zz:Whole xmi:id="10" sofa="2" mood="calm"/>
 <dep:Dependency xmi:id="11" sofa="2" begin="0" end="1" Governor="3" Dependent="3"/>
 <cas:Sofa xmi:id="2" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="I like it &#128522; ."/>
 <cas:View sofa="2" members="9 10"/></xmi:XMI>"#;

/// The same document as [`XMI`], as dkpro-cassis 0.12 writes it.
const JSON: &str = r#"{"%TYPES": {}, "%FEATURE_STRUCTURES": [
 {"%ID": 2, "%TYPE": "uima.cas.Sofa", "sofaNum": 1, "sofaID": "_InitialView", "mimeType": "text", "sofaString": "I like it \ud83d\ude0a ."},
 {"%ID": 3, "%TYPE": "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token", "@sofa": 2, "begin": 0, "end": 1},
 {"%ID": 9, "%TYPE": "webanno.custom.Span", "@sofa": 2, "begin": 2, "end": 6, "value": "good"},
 {"%ID": 12, "%TYPE": "webanno.custom.Span", "@sofa": 2, "begin": 10, "end": 12},
 {"%ID": 10, "%TYPE": "webanno.custom.Whole", "@sofa": 2, "mood": "calm"},
 {"%ID": 11, "%TYPE": "d.Dependency", "@sofa": 2, "begin": 0, "end": 1, "@Governor": 3, "@Dependent": 3}],
 "%VIEWS": {"_InitialView": {"%SOFA": 2, "%MEMBERS": [9, 10]}}}"#;

const SPANS: &str = r#"[{"start":2,"end":6,"label":"good"},{"start":10,"end":11,"label":"Span"}]"#;

#[test]
fn single_document_needs_an_annotator() {
    let fixture = file("ann.tsv", TSV);
    assert!(fixture.refusal().contains("does not say who annotated it"), "{}", fixture.refusal());
    let read = fixture.read_as(Some("=ann"));
    assert_eq!(read.format(), "webanno-tsv");
    assert_eq!(read.rows[0].label.as_deref(), Some(SPANS));
    assert_eq!(read.rows[0].text.as_deref(), Some("I like it 😊 ."));
    assert_eq!(read.rows[0].question.as_deref(), Some("Span.value"));
}

#[test]
fn xmi_spans_and_document_answers_are_read() {
    let read = file("ann.xmi", XMI).read_as(Some("=ann"));
    assert_eq!(read.format(), "uima-xmi");
    let of = |question: &str| {
        let row = read.rows.iter().find(|row| row.question.as_deref() == Some(question)).unwrap();
        row.label.clone().unwrap()
    };
    assert_eq!(of("Span.value"), r#"[{"start":2,"end":6,"label":"good"}]"#);
    assert_eq!(of("Whole.mood"), "calm");
    assert_eq!(read.rows.len(), 2);
    assert_eq!(read.met(), [("not-read", 1)]);
}

#[test]
fn cas_json_uses_utf_16_offsets() {
    let read = file("ann.json", JSON).read_as(Some("=ann"));
    assert_eq!(read.format(), "uima-json");
    let question_and_label = |row: &Row| (row.question.clone().unwrap(), row.label.clone().unwrap());
    let expected = [
        ("Whole.mood", "calm"),
        ("Span", r#"[{"start":10,"end":11,"label":"Span"}]"#),
        ("Span.value", r#"[{"start":2,"end":6,"label":"good"}]"#),
    ];
    let expected = expected.map(|(question, label)| (question.to_owned(), label.to_owned()));
    assert_eq!(read.rows.iter().map(question_and_label).collect::<Vec<_>>(), expected);
    assert_eq!(read.met(), [("not-read", 1)]);
    let refusal = file("ann.json", JSON.replace("\"end\": 6", "\"end\": 11")).refusal();
    assert!(refusal.contains("the offset 11") && refusal.contains("surrogate"), "{refusal}");
    let project = [("exportedproject1.json", "{\"name\": \"p\"}"), ("annotation/d.txt/ann.json", JSON)];
    let read = archive("project.zip", &project).read();
    assert_eq!(read.summaries()[0], "ann d.txt Whole.mood calm");
}

#[test]
fn unreadable_parts_of_a_project_are_named() {
    let project = r#"{"name": "p", "annotation_documents": [{"name": "d.txt", "user": "eve", "state": "IN_PROGRESS"}, {"name": "d.txt", "user": "ann", "state": "FINISHED"}]}"#;
    let files = [
        ("exportedproject1.json", project),
        ("source/d.txt", "I like it 😊 ."),
        ("source/e.txt", "not read"),
        ("annotation/d.txt/ann.tsv", TSV),
        ("annotation/d.txt/ben.tsv", EMPTY),
        ("annotation/d.txt/eve.tsv", TSV),
        ("annotation/d.txt/INITIAL_CAS.tsv", TSV),
        ("annotation/e.txt/admin.txt", "not read"),
        ("annotation_ser/e.txt/admin.ser", "\u{1}"),
        ("annotation_ser/e.txt/INITIAL_CAS.ser", "\u{1}"),
        ("annotation_ser/d.txt/ann.ser", "\u{1}"),
        ("curation/d.txt/CURATION_USER.tsv", TSV),
    ];
    let read = archive("project.zip", &files).read();
    assert_eq!(read.format(), "inception");
    assert_eq!(read.problems, Vec::<String>::new());
    assert_eq!(
        read.summaries(),
        [
            format!("ann d.txt Span.value {SPANS}"),
            // Finishing a document without a span means that there is none.
            "ben d.txt Span.value []".to_owned(),
            "e.txt".to_owned()
        ]
    );
    assert_eq!(read.met(), [("curated", 1), ("drafts", 1), ("serialised", 1)]);
    let met = read.source.met();
    let serialised = met.iter().find(|met| met.code == "serialised").unwrap();
    assert!(serialised.message.contains("annotation_ser/e.txt/admin.ser"), "{}", serialised.message);
}
