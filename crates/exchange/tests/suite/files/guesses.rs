//! Roles guessed from names and from values.

use super::sample::sample;
use dissensus_exchange::{ColumnRoles, FileKind};

fn guessed(header: &str, rows: &[&str]) -> ColumnRoles {
    sample("a.csv", format!("{header}\n{}\n", rows.join("\n"))).roles()
}

/// Four annotators on four texts; `cells(text, annotator)` are the values of the further columns.
fn crossed(header: &str, cells: impl Fn(usize, usize) -> String) -> ColumnRoles {
    let mut rows = Vec::new();
    for text in 0..4 {
        for annotator in 0..4 {
            rows.push(format!("t{text},body {text},a{annotator},{}", cells(text, annotator)));
        }
    }
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    guessed(&format!("text_id,text,annotator_id,{header}"), &rows)
}

#[test]
fn usual_names_are_found_in_several_spellings() {
    let cases = [
        ("text_id,text,annotator_id,label", ["text_id", "text", "annotator_id", "label"]),
        ("id,body,annotator,rating", ["id", "body", "annotator", "rating"]),
        ("Item-ID,Comment,Worker ID,Score", ["Item-ID", "Comment", "Worker ID", "Score"]),
        ("commentId,sentence,rater,Value", ["commentId", "sentence", "rater", "Value"]),
        ("instance_id,content,user,annotation", ["instance_id", "content", "user", "annotation"]),
        ("ID,Tweet,CODER,Offensiveness", ["ID", "Tweet", "CODER", "Offensiveness"]),
    ];
    for (header, [text_id, text, annotator, label]) in cases {
        let roles = guessed(header, &["1,some words,ada,2", "2,other words,bo,3"]);
        let got = [roles.text_id, roles.text, roles.annotator, roles.label].map(Option::unwrap_or_default);
        assert_eq!(got, [text_id, text, annotator, label], "{header}");
    }
}

#[test]
fn other_roles_are_found_by_name() {
    let header = "text,annotator,label,fold,thread_id,created_at,duration_ms,source,question";
    let roles = guessed(header, &["x,ada,1,train,th1,2024-01-01,900,window,spam"]);
    let column = |name: &str| Some(name.to_owned());
    assert_eq!(roles.split, column("fold"));
    assert_eq!(roles.group, column("thread_id"));
    assert_eq!(roles.time, column("created_at"));
    assert_eq!(roles.duration, column("duration_ms"));
    assert_eq!(roles.source, column("source"));
    assert_eq!(roles.question, column("question"));
}

#[test]
fn values_override_a_column_name() {
    let header = "text,annotator,label,date,source,duration";
    let roles = guessed(header, &["x,ada,1,Wed Aug 27 2008,twitter,long"]);
    assert_eq!((roles.time, roles.source, roles.duration), (None, None, None));
}

#[test]
fn question_texts_are_not_question_names() {
    let rows: Vec<String> = (0..30).map(|n| format!("t{n},answer,ada,1,what is {n}?")).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    assert_eq!(guessed("text_id,text,annotator,label,question", &rows).question, None);
}

#[test]
fn column_constant_by_annotator_is_an_attribute() {
    let roles = crossed("label,team,topic,mood", |text, annotator| {
        let team = ["red", "blue"][annotator % 2];
        let topic = ["sport", "news"][text % 2];
        format!("{},{team},{topic},{}", (text + annotator) % 3, ["calm", "cross"][(text * annotator) % 2])
    });
    assert_eq!(roles.attributes, ["team"]);
    assert_eq!(roles.label.as_deref(), Some("label"));
}

#[test]
fn text_metadata_is_not_an_attribute() {
    let rows = [
        "t1,x,a,1,sport",
        "t2,y,a,2,sport",
        "t1,x,b,1,sport",
        "t3,z,c,1,news",
        "t4,w,c,2,news",
        "t3,z,d,1,news",
    ];
    let roles = guessed("text_id,text,annotator,label,topic", &rows);
    assert!(roles.attributes.is_empty(), "{:?}", roles.attributes);
}

#[test]
fn usual_attributes_are_found_by_name() {
    let roles = guessed("text,annotator,label,Gender,worker_age,url", &["x,ada,1,f,31,u1", "y,bo,2,m,40,u2"]);
    assert_eq!(roles.attributes, ["Gender", "worker_age"]);
}

#[test]
fn varying_column_is_not_an_attribute() {
    let roles = crossed("label,age", |text, annotator| format!("{},{}", annotator % 2, text * 10));
    assert!(roles.attributes.is_empty());
}

#[test]
fn single_contradiction_keeps_the_attribute() {
    let rows: Vec<String> =
        (0..40).map(|n| format!("t{n},x{n},a{},1,{}", n % 20, if n == 39 { "m" } else { "f" })).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    assert_eq!(guessed("text_id,text,annotator,label,gender", &rows).attributes, ["gender"]);
}

#[test]
fn unnamed_label_is_found_by_its_values() {
    let roles = crossed("how_rude", |text, annotator| format!("{}", (text + annotator) % 3));
    assert_eq!(roles.label.as_deref(), Some("how_rude"));
}

/// Two columns that look like labels, of two questions: the user has to choose, and the file must not be read
/// as one of texts only.
#[test]
fn two_label_candidates_are_not_guessed() {
    let cells = |text: usize, who: usize| format!("{},{}", ["no", "yes"][(text + who) % 2], (text * who) % 3);
    let both = crossed("rude,kind", cells);
    assert_eq!((both.annotator.as_deref(), both.label), (Some("annotator_id"), None));
    // The author of a text is not an annotator.
    let row = |at: usize| format!("t{},body {},u{},{}", at / 4, at / 4, at % 4, cells(at / 4, at % 4));
    let rows: Vec<String> = (0..16).map(row).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    assert_eq!(guessed("text_id,text,user,rude,kind", &rows).annotator, None);
}

#[test]
fn split_is_found_by_its_values() {
    let roles = crossed("label,part", |text, annotator| {
        format!("{},{}", annotator % 2, ["train", "dev", "test"][text % 3])
    });
    assert_eq!(roles.split.as_deref(), Some("part"));
}

#[test]
fn file_without_labels_has_texts_or_annotators() {
    let texts = sample("a.csv", "id,text,user,created_at,likes\n1,x,u,2024-01-01,7\n");
    let roles = texts.roles();
    assert_eq!((&roles.annotator, &roles.time, &roles.label), (&None, &None, &None));
    assert_eq!(roles.kind(&texts.source).unwrap(), FileKind::Texts);
    let people = sample("a.csv", "id,gender,team\nada,f,red\n");
    let roles = people.roles();
    assert_eq!(roles.annotator.as_deref(), Some("id"));
    assert_eq!(roles.attributes, ["gender", "team"]);
    assert_eq!(roles.kind(&people.source).unwrap(), FileKind::Annotators);
}

const ROUNDS: &str = "text_id,text,annotator_id,label,occasion";

fn occasion(rows: &[&str]) -> Option<String> {
    guessed(ROUNDS, rows).occasion
}

#[test]
fn round_column_needs_repeated_answers() {
    let believed = Some("occasion".to_owned());
    assert_eq!(occasion(&["1,x,ada,2,1", "2,y,ada,2,1", "1,x,ada,3,2"]), believed);
    // First rounds are blank, numbers are written as data frames write them, or one value is not a number.
    assert_eq!(occasion(&["1,x,ada,2,", "2,y,ada,2,", "1,x,ada,3,2"]), believed);
    assert_eq!(occasion(&["1,x,ada,2,1.0", "1,x,ada,3,2.0"]), believed);
    assert_eq!(occasion(&["1,x,ada,2,0", "1,x,ada,3,1"]), believed);
    assert_eq!(occasion(&["1,x,ada,2,first", "1,x,ada,3,2"]), believed);
    // The whole sample is of the first round; later ones may be at the end. Or all of it is of a later one.
    assert_eq!(occasion(&["1,x,ada,2,", "2,y,ada,2,"]), believed);
    assert_eq!(occasion(&["1,x,ada,2,1", "2,y,ada,2,1"]), believed);
    assert_eq!(occasion(&["1,x,ada,2,2", "2,y,ada,2,2"]), believed);
}

#[test]
fn other_columns_are_not_rounds() {
    assert_eq!(occasion(&["1,x,ada,2,1", "2,y,ada,2,2", "3,z,ada,1,3"]), None, "nobody answers twice");
    assert_eq!(occasion(&["1,x,ada,2,2019", "2,y,ada,2,2020"]), None, "years");
    assert_eq!(occasion(&["1,x,ada,2,wedding", "1,x,ada,3,birthday"]), None, "words");
    let roles = guessed("annotator_id,age,occasion", &["ada,30,1", "bo,40,2"]);
    assert_eq!((roles.occasion, roles.attributes.len()), (None, 2), "a file of annotators");
}

#[test]
fn invalid_round_is_a_bad_row() {
    let file = sample("a.csv", format!("{ROUNDS}\n1,x,ada,2,0\n1,x,ada,3,1\n1,x,ada,2,2.0\n"));
    let read = file.read();
    assert!(read[0].is_err() && read[1].is_ok(), "{read:?}");
    assert_eq!(read[2].as_ref().unwrap().occasion, Some(2));
}
