//! Studies that hand out one packet, to ada.

use super::Case;
use crate::support::{TestFolder, import_into};
use dissensus_api::{
    HarmfulFrom, NewAttentionCheck, NewGuideline, NewLabel, NewPracticeRule, NewPracticeText, PacketFormat,
    StudyCare, StudyRequest,
};
use dissensus_app::session::Session;
use dissensus_domain::{
    AfterFailing, AnnotatorId, Answer, AttributeForm, CheckRule, FormAttribute, LevelEdit, LevelId, NoteForm,
    OptionSet, QuestionId, Scale, ScaleKind, Span, SpanSet, TextId,
};
use dissensus_editing::questions::AddQuestion;
use dissensus_editing::{QuestionChange, annotators, attribute_form, consent, questions, texts};
use dissensus_exchange::text_id_of;
use dissensus_labelling::{NamedAnnotator, practice_answers, record};
use dissensus_project::jobs::Silent;
use dissensus_transfer::study::{self, PacketFolder, PageSettings};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The questions of a study; the first of all is ordinal.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Asked {
    One,
    /// With a multi-label question and one with spans, both on a condition.
    Parts,
    /// With a binary question, and a choice on a condition, whose levels were moved.
    Levels,
}

/// What ada did before the packet was handed out.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Before {
    Nothing,
    /// Failed a round of practice, and began another.
    Practised,
    /// Passed the practice, and missed an attention check since.
    MissedCheck,
}

const WORDS: [&str; 8] = ["vote", "hate", "Straße", "no", "why", "死", "trolls!", "é"];

/// The files of ada's packet, and its project.
pub(super) struct Handed {
    pub(super) project: PathBuf,
    pub(super) packet: PathBuf,
    pub(super) page: PathBuf,
}

pub(super) fn hand_out(folder: &TestFolder, case: &Case) -> Handed {
    let session = folder.project(case.name);
    import_into(&session, "rude", &rows(case));
    let rude = questions::find(&session.project, Some("rude")).unwrap().id;
    let change = QuestionChange {
        cannot_say: Some(true),
        note_form: Some(NoteForm { reasons: vec!["irony".into(), "insult".into()], confidence: true }),
        ..QuestionChange::default()
    };
    questions::edit(&session.project, rude, &change).unwrap();
    // For each question, a right answer to a practice text and a harmful level.
    let mut marked = vec![(rude, Answer::from_level(2), LevelId(3))];
    match case.asked {
        Asked::One => {}
        Asked::Parts => marked.extend(parts(&session)),
        Asked::Levels => marked.extend(levels(&session)),
    }
    if let Some(then) = case.practice {
        set_practice(&session, then, rude, &marked[1..]);
    }
    match case.before {
        Before::Nothing => {}
        Before::Practised => ["5", "5", "1", "4"].iter().for_each(|level| practise(&session, level)),
        Before::MissedCheck => miss_check(&session, rude),
    }
    if let Some((limit, strict)) = case.limit {
        let of = |(question, _, level): &(QuestionId, Answer, LevelId)| HarmfulFrom {
            question: *question,
            level: *level,
        };
        let harmful = if case.harmful { marked.iter().map(of).collect() } else { Vec::new() };
        let care = StudyCare { limit: Some(limit), strict, greyscale: false, harmful };
        dissensus_editing::care::set(&session.project, &care).unwrap();
    }
    if case.form {
        let values = ["18-29", "30+"].map(str::to_owned).to_vec();
        let age = FormAttribute { name: "age".into(), values, ..FormAttribute::default() };
        let role = FormAttribute { name: "role".into(), optional: true, ..age.clone() };
        let prompt = "Where do you live?".to_owned();
        let place = FormAttribute { name: "place".into(), prompt, ..age.clone() };
        attribute_form::set(&session.project, &AttributeForm { attributes: vec![age, role, place] }).unwrap();
    }
    if case.consent {
        consent::set(&session.project, Some("# Consent\n\nYou read rude texts.")).unwrap();
    }
    if case.guideline {
        write_guideline(folder, &session);
    }
    let request = StudyRequest {
        questions: Vec::new(),
        people: ["ada", "ben", "cleo"].map(str::to_owned).to_vec(),
        per_text: 3,
        per_person: None,
        anchors: 0,
        repeat: case.repeat,
        again_after: 3,
        new_people: false,
        balance: None,
        seed: 5,
    };
    let out = folder.path(&format!("{}-packets", case.name));
    study::hand_out(&session.study, &request, &out, &Silent).unwrap();
    write_page(&session, &out);
    session.close();
    Handed {
        project: folder.path(&format!("{}.dissensus", case.name)),
        packet: out.join("ada.dissensus"),
        page: out.join("ada.html"),
    }
}

/// Writes ada's packet again as a page.
pub(super) fn write_page(session: &Session, out: &Path) {
    let to = PacketFolder {
        folder: out,
        format: PacketFormat::Page,
        settings: &PageSettings::default(),
        passphrase: None,
    };
    study::write_again(&session.study, &["ada".to_owned()], to, &Silent).unwrap();
}

/// Writes ada's packet again, as a file and as a page.
pub(super) fn write_again(session: &Session, out: &Path) {
    std::fs::create_dir_all(out).unwrap();
    study::write_again(&session.study, &["ada".to_owned()], out, &Silent).unwrap();
    write_page(session, out);
}

/// The texts, with labels of two people.
fn rows(case: &Case) -> String {
    let mut rows = "text_id,text,annotator_id,label\n".to_owned();
    let mut add = |id: &str, body: &str, text: usize| {
        for (person, level) in [("ben", text % 5 + 1), ("cleo", text % 3 + 1)] {
            rows += &format!("{id},{body},{person},{level}\n");
        }
    };
    for text in 0..14_usize {
        let words: Vec<&str> = (0..6).map(|at| WORDS[(text * 5 + at * 3) % WORDS.len()]).collect();
        add(&format!("t{text}"), &words.join(" "), text);
    }
    if case.odd_texts {
        let long = format!("{}ΟΔΟΣ  needle {}", "hay ".repeat(40), "é ".repeat(150));
        add("long", &long, 1);
        add(&text_id_of("no name"), "no name", 2);
    }
    rows
}

fn parts(session: &Session) -> Vec<(QuestionId, Answer, LevelId)> {
    let options = Scale::new(ScaleKind::MultiLabel, ["threat", "slur", "lie"]).unwrap();
    let harm = questions::add(&session.project, AddQuestion::new("harm", "Which?", options)).unwrap().id;
    only_if(session, harm, "rude=2,3,4,5");
    let change = QuestionChange { cannot_say: Some(true), ..QuestionChange::default() };
    questions::edit(&session.project, harm, &change).unwrap();
    let spans = Scale::new(ScaleKind::Spans, ["insult", "threat"]).unwrap();
    let words = questions::add(&session.project, AddQuestion::new("words", "Where?", spans)).unwrap().id;
    only_if(session, words, "harm=slur,lie");
    let span = Span { start: 0, end: 4, kind: LevelId(1) };
    vec![
        (harm, Answer::Options(OptionSet::new([0, 2]).unwrap()), LevelId(1)),
        (words, Answer::Spans(SpanSet::new([span]).unwrap()), LevelId(1)),
    ]
}

fn levels(session: &Session) -> Vec<(QuestionId, Answer, LevelId)> {
    let yes_no = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    let toxic = questions::add(&session.project, AddQuestion::new("toxic", "Toxic?", yes_no)).unwrap().id;
    let tones = Scale::new(ScaleKind::Choice, ["plain", "ironic", "angry", "sad"]).unwrap();
    let tone = questions::add(&session.project, AddQuestion::new("tone", "How?", tones)).unwrap().id;
    only_if(session, tone, "toxic=yes");
    set_levels(session, tone, &[(2, "angry"), (1, "ironic"), (3, "sad")]);
    vec![(toxic, Answer::from_level(1), LevelId(1)), (tone, Answer::from_level(3), LevelId(2))]
}

/// Sets the levels of a question, by their ids.
pub(super) fn set_levels(session: &Session, question: QuestionId, levels: &[(u16, &str)]) {
    let level = |(id, name): &(u16, &str)| LevelEdit {
        from: Some(LevelId(*id)),
        name: (*name).to_owned(),
        definition: String::new(),
    };
    let levels = Some(levels.iter().map(level).collect());
    questions::edit(&session.project, question, &QuestionChange { levels, ..QuestionChange::default() })
        .unwrap();
}

fn only_if(session: &Session, question: QuestionId, words: &str) {
    let only_if = Some(Some(questions::condition_named(&session.project, words).unwrap()));
    questions::edit(&session.project, question, &QuestionChange { only_if, ..QuestionChange::default() })
        .unwrap();
}

fn text(session: &Session, id: &str) -> TextId {
    texts::find(&session.project, id).unwrap().0
}

fn set_practice(
    session: &Session,
    then: AfterFailing,
    rude: QuestionId,
    others: &[(QuestionId, Answer, LevelId)],
) {
    let of = |question: QuestionId, id: &str, answer: Answer| NewPracticeText {
        question,
        text: text(session, id),
        answer: Some(answer),
        reason: format!("as {id} says"),
    };
    let mut practice: Vec<NewPracticeText> =
        [("t1", 1), ("t2", 2), ("t3", 3)].map(|(id, level)| of(rude, id, Answer::from_level(level))).into();
    practice.extend(others.iter().map(|(question, answer, _)| of(*question, "t2", answer.clone())));
    study::set_practice(&session.study, &practice).unwrap();
    let rule = NewPracticeRule { pass: Some(0.6), within: Some(1), then: Some(then) };
    study::set_practice_rule(&session.study, &rule).unwrap();
}

/// Answers ada's next practice text.
fn practise(session: &Session, level: &str) {
    let ada = NamedAnnotator { name: "ada", new: false };
    let known = annotators::list(&session.project).unwrap();
    let next = known
        .iter()
        .find(|person| person.external_id == "ada")
        .map(|person| practice_answers::next(&session.labelling, person.id).unwrap().unwrap().external_id);
    let text = next.unwrap_or_else(|| "t1".to_owned());
    practice_answers::record_by_name(&session.labelling, ada, &text, level, Some("rude")).unwrap();
}

fn miss_check(session: &Session, rude: QuestionId) {
    let check = NewAttentionCheck {
        question: rude,
        text: text(session, "t5"),
        answer: Some(Answer::from_level(0)),
        reason: String::new(),
    };
    study::set_checks(&session.study, &[check]).unwrap();
    let rule = CheckRule { pass: 1.0, within: 0, then: AfterFailing::Practise };
    study::set_check_rule(&session.study, Some(rule)).unwrap();
    ["2", "3", "4"].iter().for_each(|level| practise(session, level));
    let label = NewLabel {
        question: rude,
        annotator: person(session, "ada"),
        text: text(session, "t5"),
        answer: Answer::from_level(4),
        duration_ms: None,
    };
    record::record_label(&session.labelling, &label).unwrap();
}

fn person(session: &Session, name: &str) -> AnnotatorId {
    let known = annotators::list(&session.project).unwrap();
    known.iter().find(|person| person.external_id == name).unwrap().id
}

fn write_guideline(folder: &TestFolder, session: &Session) {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    png.extend([0, 0, 0, 8, 0, 0, 0, 8, 8, 6, 0, 0, 0, 0, 0, 0, 0]);
    std::fs::write(folder.path("a.png"), png).unwrap();
    let version = |body: &str, change: &str| NewGuideline {
        body: body.to_owned(),
        change: change.to_owned(),
        by: "mia".to_owned(),
        pictures: Vec::new(),
        after: None,
    };
    session.guideline.write(&version("# Old", ""), None).unwrap();
    let newest = version("# Rules\n\n![one](a.png)", "a picture");
    session.guideline.write(&newest, Some(&folder.path(""))).unwrap();
}

/// The content of a page, with an identity that is the same each time.
pub(super) fn content(page: &Path) -> Value {
    let page = std::fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("id=\"packet\">").unwrap();
    let (content, _) = rest.split_once("</script>").unwrap();
    let mut content: Value = serde_json::from_str(content).unwrap();
    content["project"] = json!("00000000-0000-0000-0000-000000000001");
    content["packet"] = json!("00000000-0000-0000-0000-000000000002");
    content["key"] = json!("07".repeat(32));
    content
}
