//! Files that answer several questions: texts and annotators are judged once, labels question by question.

use super::sample::sample;
use dissensus_domain::{Answer, Scale, ScaleKind};
use dissensus_exchange::{
    Checker, KnownLabel, LabelVerdict, MAX_QUESTIONS, RowErrorKind, Scan, read_rows, scan,
};

fn scanned(content: &str, checker: Checker) -> Scan {
    let file = sample("a.csv", content);
    scan(&file.source, &file.roles(), checker).unwrap()
}

const HEADER: &str = "text_id,text,annotator_id,label,question\n";

#[test]
fn each_question_has_its_own_labels_and_scale() {
    let content =
        format!("{HEADER}t1,x,ada,1,offensive\nt1,x,ada,yes,spam\nt2,y,ada,3,offensive\nt2,y,ada,no,spam\n");
    let found = scanned(&content, Checker::by_question(None));
    assert_eq!((found.labels, found.texts, found.problem_count), (4, 2, 0));
    let named: Vec<_> =
        found.questions.iter().map(|q| (q.name.as_deref().unwrap(), q.rows, q.labels)).collect();
    assert_eq!(named, [("offensive", 2, 2), ("spam", 2, 2)]);
    assert_eq!(found.questions[1].scale.clone().unwrap().levels(), ["no", "yes"]);
}

#[test]
fn rows_contradicting_another_question_are_bad() {
    // One id with two bodies, and one annotator with two values of an attribute, over two questions.
    let content = "text_id,text,annotator_id,label,question,gender\n\
                   t1,GOOD dog,ana,1,q2,woman\nt1,BAD dog,ben,2,q1,man\nt2,x,ana,2,q1,man\nt2,x,ana,2,q2,woman\n";
    let file = sample("a.csv", content);
    let mut roles = file.roles();
    roles.attributes = vec!["gender".to_owned()];
    let found = scan(&file.source, &roles, Checker::by_question(None)).unwrap();
    let rows: Vec<u64> = found.problems.iter().map(|problem| problem.row).collect();
    assert_eq!(rows, [2, 3]);
    assert!(matches!(found.problems[0].kind, RowErrorKind::OtherBody { .. }));
    assert!(matches!(found.problems[1].kind, RowErrorKind::OtherAttribute { .. }));
}

#[test]
fn label_needs_a_question() {
    let content = format!("{HEADER}t1,x,ada,1,q\nt2,y,ada,2,\nt3,z,ada,,\n");
    let found = scanned(&content, Checker::by_question(None));
    assert_eq!((found.labels, found.texts, found.empty_labels, found.problem_count), (1, 2, 1, 1));
    assert_eq!(found.problems[0].kind, RowErrorKind::Missing { what: "question" });
    assert_eq!(found.problems[0].column.as_deref(), Some("question"));
}

#[test]
fn bad_row_adds_no_question() {
    let content = format!("{HEADER}t1,x,ada,1,q\nt1,other,ada,1,another\n");
    let found = scanned(&content, Checker::by_question(None));
    assert_eq!((found.questions.len(), found.problem_count), (1, 1));
}

#[test]
fn too_many_questions_give_bad_rows() {
    let rows: String = (0..MAX_QUESTIONS + 7).map(|n| format!("t,x,ada,{},q{n}\n", n % 2)).collect();
    let file = sample("a.csv", format!("{HEADER}{rows}"));
    let mut roles = file.roles();
    roles.question = Some("question".to_owned());
    let found = scan(&file.source, &roles, Checker::by_question(None)).unwrap();
    assert_eq!((found.labels, found.problem_count), (MAX_QUESTIONS as u64, 7));
    assert!(
        found.problems[0].to_string().contains("a file may answer 100 questions"),
        "{}",
        found.problems[0]
    );
}

#[test]
fn existing_questions_keep_their_scale() {
    let yes_no = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    let mut checker = Checker::by_question(None).at(5_000);
    let number = checker.add_question("spam", Some(yes_no));
    assert_eq!((number, checker.add_question("spam", None)), (0, 0));
    let text = checker.seed_text("t1", "x");
    let ada = checker.seed_annotator("ada", &[("gender".to_owned(), "f".to_owned())].into());
    let label = KnownLabel {
        text,
        annotator: ada,
        answer: Answer::from_level(1),
        at_ms: 1_000,
        given: false,
        current: true,
    };
    checker.seed_label(number, &label);
    let content =
        format!("{HEADER}t1,x,ada,yes,spam\nt1,x,ada,no,spam\nt1,x,ada,maybe,spam\nt1,x,bo,1,new\n");
    let file = sample("a.csv", content);
    let mut rows = read_rows(&file.source, &file.roles()).unwrap();
    let read: Vec<_> = std::iter::from_fn(|| rows.next_checked(&mut checker)).collect();
    let label = |nth: usize| read[nth].as_ref().unwrap().1.label.clone();
    assert_eq!(label(0), LabelVerdict::Repeated { name: "yes".into() });
    assert_eq!(
        label(1),
        LabelVerdict::Added {
            name: "no".into(),
            answer: Some(Answer::from_level(0)),
            at_ms: 5_000,
            follows_row: true
        }
    );
    assert!(matches!(read[2].as_ref().unwrap_err().kind, RowErrorKind::UnknownLevel { .. }));
    let last = &read[3].as_ref().unwrap().1;
    assert_eq!((last.text, last.annotator, last.question), (Some(text), Some(ada + 1), Some(1)));
    assert!(last.new_annotator && !last.new_text);
}

#[test]
fn hidden_and_control_characters_are_refused_in_names() {
    for (cell, code) in [("ad\u{202e}a", 0x202E), ("a\u{200b}da", 0x200B), ("\u{2066}ada", 0x2066)] {
        let found = scanned(&format!("{HEADER}t1,x,{cell},1,q\n"), Checker::by_question(None));
        assert_eq!(found.problems[0].kind, RowErrorKind::InvisibleCharacter { code }, "{cell:?}");
    }
    let joined = scanned(&format!("{HEADER}t1,x,سارا\u{200c}جان,1,q\n"), Checker::by_question(None));
    assert_eq!(joined.problem_count, 0);
    let file = sample("a.csv", "text_id,text,label,gen\u{202e}der\nt1,x,1,f\n");
    let mut roles = file.roles();
    roles.annotator = Some("=ada\u{1b}[2J".to_owned());
    let message = scan(&file.source, &roles, Checker::new(None)).unwrap_err().to_string();
    assert!(message.contains("U+001B"), "{message}");
    roles.annotator = Some("=ada".to_owned());
    roles.attributes = vec!["gen\u{202e}der".to_owned()];
    let message = scan(&file.source, &roles, Checker::new(None)).unwrap_err().to_string();
    assert!(message.contains("attribute") && message.contains("U+202E"), "{message}");
}

/// Scans a file with a column of scales.
fn with_scales(content: &str) -> Scan {
    let file = sample("a.csv", content);
    let mut roles = file.roles();
    (roles.question, roles.scale) = (Some("question".to_owned()), Some("scale".to_owned()));
    scan(&file.source, &roles, Checker::by_question(None)).unwrap()
}

/// A question's scale counts in whatever row it stands, also in one that is bad; levels that are not used
/// and their order are kept.
#[test]
fn scale_counts_in_any_row_of_its_question() {
    let named = ["mild", "so so", "rude", "vile", "awful"];
    let ordinal = Scale::new(ScaleKind::Ordinal, named).unwrap();
    let sets = Scale::new(ScaleKind::MultiLabel, ["a", "b", "c"]).unwrap();
    let only = Scale::new(ScaleKind::Choice, ["here", "there"]).unwrap();
    let cell = |scale: &Scale| format!("\"{}\"", serde_json::to_string(scale).unwrap().replace('"', "\"\""));
    let answers = [
        ("tone", &ordinal, ["vile", "mild", "rude"]),
        ("parts", &sets, ["a; b", "b; a", "[]"]),
        ("place", &only, ["here", "here", "here"]),
    ];
    for place in 0..4 {
        let mut content = "text_id,text,annotator_id,label,question,scale\n".to_owned();
        for (question, scale, labels) in &answers {
            for (nth, label) in labels.iter().enumerate() {
                let scale = if nth == place { cell(scale) } else { String::new() };
                content += &format!("t{nth},Text {nth},ada,{label},{question},{scale}\n");
            }
            if place == 3 {
                // A text with another body: the row is bad.
                content += &format!("t0,other,ada,,{question},{}\n", cell(scale));
            }
        }
        let found = with_scales(&content);
        assert_eq!((found.labels, found.problem_count), (9, if place == 3 { 3 } else { 0 }), "{place}");
        for ((_, scale, _), question) in answers.iter().zip(&found.questions) {
            assert!(question.scale.as_ref().unwrap().reads_like(scale), "{place}: {question:?}");
            assert_eq!(question.other_scale, None);
        }
    }
}

#[test]
fn second_scale_of_a_question_is_reported() {
    let cell = |levels: [&str; 2]| {
        let scale = Scale::new(ScaleKind::Ordinal, levels).unwrap();
        format!("\"{}\"", serde_json::to_string(&scale).unwrap().replace('"', "\"\""))
    };
    let (first, other) = (cell(["low", "high"]), cell(["high", "low"]));
    let content = format!(
        "text_id,text,annotator_id,label,question,scale\nt1,x,ada,low,q,\nt2,y,ada,high,q,{first}\n\
         t3,z,ada,low,q,{first}\nt4,u,ada,low,q,{other}\nt5,v,ada,low,q,{other}\n"
    );
    let found = with_scales(&content);
    assert_eq!(found.questions[0].scale.clone().unwrap().levels(), ["low", "high"]);
    let (scale, rows) = found.questions[0].other_scale.clone().unwrap();
    assert_eq!((scale.levels(), rows), (&["high".to_owned(), "low".to_owned()][..], 2));
}
