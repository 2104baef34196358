//! The rules of the desk as recorded cases: what a task packet answers to a long series of commands.
//!
//! The page of a packet (`ui/src/page`) has the same rules in TypeScript; `ui/src/page/cases.test.ts` plays
//! the same cases. With DISSENSUS_WRITE_RECORDINGS=1 they are drawn and recorded anew.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{TestFolder, import_into, open};
use dissensus_api::{
    HarmfulFrom, ImportChoices, LabelDetails, LabelTask, NewLabel, NewPracticeAnswer, NewPracticeRule,
    NewPracticeText, OwnCare, PacketFormat, PracticeTask, Problem, StudyCare, StudyRequest, TextOrder,
};
use dissensus_app::session::Session;
use dissensus_domain::{
    AfterFailing, AnnotatorId, Answer, AttributeForm, FormAnswers, FormAttribute, LabelSource, LevelId, Note,
    NoteForm, OptionSet, QuestionId, Scale, ScaleKind, Span, SpanSet, TextId,
};
use dissensus_editing::questions::AddQuestion;
use dissensus_editing::{QuestionChange, attribute_form, info, questions, texts};
use dissensus_labelling::record::RecordLabel;
use dissensus_labelling::{
    care, drafts, marks, next_text, notes, practice_answers, progress, reannotation, record, task, undo,
};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_transfer::exchange;
use dissensus_transfer::study::{self, PacketFolder, PageSettings};
use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Commands of a case.
const STEPS: usize = 120;

/// A study that hands out one packet.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    /// Whether three questions are asked, two of them on a condition.
    several: bool,
    /// Share of the texts that come twice.
    repeat: f64,
    /// Whether there is practice, and what happens to those who fail.
    practice: Option<AfterFailing>,
    /// Harmful texts a day, and whether the limit is strict.
    limit: Option<(u32, bool)>,
    form: bool,
}

const CASES: [Case; 6] = [
    Case { name: "one-question", several: false, repeat: 0.0, practice: None, limit: None, form: false },
    Case { name: "conditions", several: true, repeat: 0.0, practice: None, limit: None, form: true },
    Case { name: "again", several: false, repeat: 0.3, practice: None, limit: None, form: false },
    Case { name: "conditions-again", several: true, repeat: 0.3, practice: None, limit: None, form: false },
    Case {
        name: "practice",
        several: true,
        repeat: 0.0,
        practice: Some(AfterFailing::Practise),
        limit: Some((6, false)),
        form: false,
    },
    Case {
        name: "stopped",
        several: false,
        repeat: 0.0,
        practice: Some(AfterFailing::Stop),
        limit: Some((2, true)),
        form: true,
    },
];

const WORDS: [&str; 8] = ["vote", "hate", "Straße", "no", "why", "死", "trolls!", "é"];

/// The packet of ada, as a file and as a page.
fn hand_out(folder: &TestFolder, case: &Case) -> (PathBuf, PathBuf) {
    let session = folder.project(case.name);
    let mut rows = "text_id,text,annotator_id,label\n".to_owned();
    for text in 0..14_usize {
        let words: Vec<&str> = (0..6).map(|at| WORDS[(text * 5 + at * 3) % WORDS.len()]).collect();
        for (person, level) in [("ben", text % 5 + 1), ("cleo", text % 3 + 1)] {
            rows += &format!("t{text},{},{person},{level}\n", words.join(" "));
        }
    }
    import_into(&session, "rude", &rows);
    let rude = questions::find(&session.project, Some("rude")).unwrap().id;
    let change = QuestionChange {
        cannot_say: Some(true),
        note_form: Some(NoteForm { reasons: vec!["irony".into(), "insult".into()], confidence: true }),
        ..QuestionChange::default()
    };
    questions::edit(&session.project, rude, &change).unwrap();
    if case.several {
        let options = Scale::new(ScaleKind::MultiLabel, ["threat", "slur", "lie"]).unwrap();
        let harm = questions::add(&session.project, AddQuestion::new("harm", "Which?", options)).unwrap().id;
        only_if(&session, harm, "rude=2,3,4,5");
        let change = QuestionChange { cannot_say: Some(true), ..QuestionChange::default() };
        questions::edit(&session.project, harm, &change).unwrap();
        let spans = Scale::new(ScaleKind::Spans, ["insult", "threat"]).unwrap();
        let words = questions::add(&session.project, AddQuestion::new("words", "Where?", spans)).unwrap().id;
        only_if(&session, words, "harm=slur,lie");
    }
    if let Some(then) = case.practice {
        let of = |id: &str, level: u16| NewPracticeText {
            question: rude,
            text: texts::find(&session.project, id).unwrap().0,
            answer: Some(Answer::from_level(level)),
            reason: format!("as {id} says"),
        };
        study::set_practice(&session.study, &[of("t1", 1), of("t2", 2), of("t3", 3)]).unwrap();
        let rule = NewPracticeRule { pass: Some(0.6), within: Some(1), then: Some(then) };
        study::set_practice_rule(&session.study, &rule).unwrap();
    }
    if let Some((limit, strict)) = case.limit {
        let harmful = vec![HarmfulFrom { question: rude, level: LevelId(3) }];
        let care = StudyCare { limit: Some(limit), strict, greyscale: false, harmful };
        dissensus_editing::care::set(&session.project, &care).unwrap();
    }
    if case.form {
        let values = ["18-29", "30+"].map(str::to_owned).to_vec();
        let age = FormAttribute { name: "age".into(), values, ..FormAttribute::default() };
        let role = FormAttribute { name: "role".into(), optional: true, ..age.clone() };
        attribute_form::set(&session.project, &AttributeForm { attributes: vec![age, role] }).unwrap();
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
    let to = PacketFolder { folder: &out, format: PacketFormat::Page, settings: &PageSettings::default() };
    study::write_again(&session.study, &["ada".to_owned()], to, &Silent).unwrap();
    session.close();
    (out.join("ada.dissensus"), out.join("ada.html"))
}

fn only_if(session: &Session, question: QuestionId, words: &str) {
    let only_if = Some(Some(questions::condition_named(&session.project, words).unwrap()));
    questions::edit(&session.project, question, &QuestionChange { only_if, ..QuestionChange::default() })
        .unwrap();
}

/// The content of a page, with identities that are the same each time.
fn content(page: &Path) -> Value {
    let page = std::fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("id=\"packet\">").unwrap();
    let (content, _) = rest.split_once("</script>").unwrap();
    let mut content: Value = serde_json::from_str(content).unwrap();
    content["project"] = json!("00000000-0000-0000-0000-000000000001");
    content["packet"] = json!("00000000-0000-0000-0000-000000000002");
    content["key"] = json!("07".repeat(32));
    assert!(content["practice"]["after_ms"].take().is_number());
    content["practice"]["after_ms"] = json!(0.0);
    content
}

/// Runs a command of the window, by its name there.
fn call(session: &Session, command: &str, arguments: &Value) -> Result<Value, ProjectError> {
    fn at<T: DeserializeOwned>(arguments: &Value, at: usize) -> T {
        serde_json::from_value(arguments[at].clone()).unwrap()
    }
    let (cx, all) = (&session.labelling, arguments);
    let who: AnnotatorId = if arguments[0].is_u64() { at(all, 0) } else { AnnotatorId(0) };
    let label =
        |label: NewLabel, details: LabelDetails| RecordLabel { label, details, source: LabelSource::Window };
    let value = |value: Result<Value, serde_json::Error>| value.unwrap();
    Ok(value(match command {
        "nextText" => {
            let questions: Vec<QuestionId> = at(all, 1);
            serde_json::to_value(next_text::choose(cx, who, questions, at::<TextOrder>(all, 2), at(all, 3))?)
        }
        "labelTask" => serde_json::to_value(task::read(cx, who, at(all, 1), at(all, 2), at(all, 3))?),
        "neighbourText" => {
            serde_json::to_value(next_text::neighbour(cx, who, at(all, 1), at(all, 2), at(all, 3))?)
        }
        "progress" => serde_json::to_value(progress::count(cx, who, at::<Vec<QuestionId>>(all, 1))?),
        "recordLabel" => {
            serde_json::to_value(record::record_label(cx, label(at(all, 0), at(all, 1)))?.receipt)
        }
        "recordAgain" => {
            serde_json::to_value(reannotation::record(cx, &label(at(all, 0), at(all, 1)), at(all, 2))?)
        }
        "saveNote" => {
            let details: LabelDetails = at(all, 3);
            notes::write(cx, who, at(all, 1), at(all, 2), &details, LabelSource::Window)?;
            Ok(Value::Null)
        }
        "saveDraft" => {
            let typed: Option<Note> = at(all, 4);
            drafts::save(cx, who, at(all, 1), at(all, 2), at(all, 3), typed.as_ref())?;
            Ok(Value::Null)
        }
        "undoLabel" => {
            serde_json::to_value(undo::undo(cx, who, at::<Vec<QuestionId>>(all, 1), LabelSource::Window)?)
        }
        "skipText" => serde_json::to_value(marks::skip(cx, who, at::<Vec<QuestionId>>(all, 1), at(all, 2))?),
        "flagText" => serde_json::to_value(marks::flag(cx, who, at(all, 1), at(all, 2), at(all, 3))?),
        "practiceState" => serde_json::to_value(practice_answers::state_of(cx, who)?),
        "nextPractice" => serde_json::to_value(practice_answers::next(cx, who)?),
        "recordPractice" => {
            serde_json::to_value(practice_answers::record(cx, &at::<NewPracticeAnswer>(all, 0))?)
        }
        "formLeft" => serde_json::to_value(attribute_form::left_to_answer(&session.project, who)?),
        "answerForm" => {
            attribute_form::answer(&session.project, who, &at::<FormAnswers>(all, 1))?;
            Ok(Value::Null)
        }
        "care" => serde_json::to_value(care::state(cx, who)?),
        "readText" => serde_json::to_value(care::note_read(cx, who, at(all, 1))?),
        "goOnToday" => serde_json::to_value(care::go_on_today(cx, who)?),
        "setOwnCare" => serde_json::to_value(care::set_own(cx, who, &at::<OwnCare>(all, 1))?),
        "openPacket" => serde_json::to_value(study::open_packet(&session.study)?),
        other => panic!("no command {other}"),
    }))
}

/// Runs a step and returns it with its answer.
fn played(session: &Session, command: &str, arguments: Value) -> Value {
    match call(session, command, &arguments) {
        Ok(answer) => json!({ "command": command, "arguments": arguments, "answer": answer }),
        Err(error) => {
            json!({ "command": command, "arguments": arguments, "refused": Problem::from(error).code })
        }
    }
}

/// Draws what a person could do next.
struct Person<'a> {
    session: &'a Session,
    random: ChaCha8Rng,
    me: AnnotatorId,
    questions: Vec<QuestionId>,
    texts: Vec<TextId>,
    /// The text at hand, and its round.
    here: Option<(TextId, u16)>,
}

impl Person<'_> {
    fn answer(&mut self, question: QuestionId) -> Answer {
        let at = self.questions.iter().position(|id| *id == question).unwrap_or(0);
        let random = &mut self.random;
        match at {
            // Questions with spans refuse it.
            _ if random.random_bool(0.08) => Answer::CannotSay,
            // Sometimes off the scale.
            0 => Answer::from_level(random.random_range(0..=5_u16).min(random.random_range(0..=5))),
            1 => {
                let chosen = (0..3).filter(|_| random.random_bool(0.4));
                Answer::Options(OptionSet::new(chosen.collect::<Vec<u8>>()).unwrap())
            }
            _ => {
                let start = random.random_range(0..4_u32);
                let span = Span {
                    start,
                    end: start + random.random_range(1..40),
                    kind: LevelId(random.random_range(0..2)),
                };
                let spans = if random.random_bool(0.3) { Vec::new() } else { vec![span] };
                Answer::Spans(SpanSet::new(spans).unwrap())
            }
        }
    }

    fn note(&mut self) -> Note {
        match self.random.random_range(0..4) {
            0 => Note { note: Some("  I read it as irony ".into()), ..Note::default() },
            1 => Note { reasons: vec!["irony".into()], confidence: Some(4), ..Note::default() },
            _ => Note::default(),
        }
    }

    fn text(&mut self) -> TextId {
        let any = self.texts[self.random.random_range(0..self.texts.len())];
        self.here.map_or(any, |(text, _)| if self.random.random_bool(0.8) { text } else { any })
    }

    /// The next step, with its answer.
    fn step(&mut self) -> Value {
        let (me, all) = (self.me, self.questions.clone());
        let question = all[self.random.random_range(0..all.len())];
        let text = self.text();
        let occasion = self.here.filter(|(here, _)| *here == text).map_or(1, |(_, occasion)| occasion);
        let details = LabelDetails { note: self.note(), guideline: None };
        let (command, arguments) = match self.random.random_range(0..100) {
            0..22 => ("nextText", json!([me, all, "file", self.here.map(|(text, _)| text)])),
            22..60 => {
                let answer = self.answer(question);
                let label = NewLabel { question, annotator: me, text, answer, duration_ms: Some(900) };
                match occasion {
                    1 => ("recordLabel", json!([label, details])),
                    again => ("recordAgain", json!([label, details, again])),
                }
            }
            60..65 => ("labelTask", json!([me, question, text, occasion])),
            65..68 => ("neighbourText", json!([me, question, text, self.random.random_range(-2..3)])),
            68..71 => ("progress", json!([me, [question]])),
            71..76 => ("undoLabel", json!([me, all])),
            76..80 => ("skipText", json!([me, all, text])),
            80..83 => ("flagText", json!([me, question, text, self.random.random_bool(0.7)])),
            // Not an empty one: in the millisecond after an answer it would count as removed with that.
            83..86 if !details.note.is_empty() => ("saveNote", json!([me, question, text, details])),
            83..86 => ("labelTask", json!([me, question, text, occasion])),
            86..88 => ("saveDraft", json!([me, question, text, occasion, details.note])),
            88..92 => ("readText", json!([me, text])),
            92 => ("goOnToday", json!([me])),
            93 => ("care", json!([me])),
            94 => {
                let words = if self.random.random_bool(0.5) { vec!["troll*", "死"] } else { Vec::new() };
                ("setOwnCare", json!([me, { "limit": 3, "harmful": null, "words": words, "groups": [] }]))
            }
            95 => ("formLeft", json!([me])),
            96 => ("answerForm", json!([me, { "age": "30+" }])),
            97 => ("openPacket", json!([])),
            98 => ("practiceState", json!([me])),
            _ => {
                let answer = self.answer(all[0]);
                (
                    "recordPractice",
                    json!([{ "annotator": me, "question": all[0], "text": text, "answer": answer }]),
                )
            }
        };
        let done = played(self.session, command, arguments);
        if command == "nextText" {
            let next: Option<LabelTask> =
                done.get("answer").and_then(|task| serde_json::from_value(task.clone()).ok());
            self.here = next.map(|task| (task.text, task.occasion));
        }
        done
    }

    /// An answer in practice, where there is one to give.
    fn practise(&mut self, right: bool) -> Vec<Value> {
        let next = played(self.session, "nextPractice", json!([self.me]));
        let task: Option<PracticeTask> = serde_json::from_value(next["answer"].clone()).unwrap();
        let Some(task) = task else { return vec![next] };
        let level = task.external_id.trim_start_matches('t').parse::<u16>().unwrap();
        let answer = Answer::from_level(if right { level } else { 0 });
        let new =
            json!({ "annotator": self.me, "question": task.question, "text": task.text, "answer": answer });
        vec![next, played(self.session, "recordPractice", json!([new]))]
    }
}

fn recorded(case: &Case, folder: &TestFolder, seed: u64) -> Value {
    let (packet, page) = hand_out(folder, case);
    let content = content(&page);
    let session = open(&packet);
    let own = info::read(&session.project).unwrap().packet.unwrap();
    let texts = content["texts"].as_array().unwrap();
    let texts = texts.iter().map(|text| serde_json::from_value(text["text"].clone()).unwrap()).collect();
    let mut person = Person {
        session: &session,
        random: ChaCha8Rng::seed_from_u64(seed),
        me: own.annotator,
        questions: own.questions,
        texts,
        here: None,
    };
    let mut steps =
        vec![played(&session, "nextText", json!([own.annotator, person.questions, "file", null]))];
    if case.practice.is_some() {
        // The first round fails where another one is possible.
        let again = case.practice == Some(AfterFailing::Practise);
        let rounds: &[bool] = if again { &[false, true] } else { &[false] };
        for right in rounds {
            (0..3).for_each(|_| steps.extend(person.practise(*right)));
        }
        steps.extend(person.practise(true));
    }
    let refused = case.practice == Some(AfterFailing::Stop);
    (0..if refused { STEPS / 6 } else { STEPS }).for_each(|_| steps.push(person.step()));
    steps.push(played(&session, "openPacket", json!([])));
    if refused {
        steps.push(played(&session, "practiceState", json!([own.annotator])));
    }
    let file = folder.path(&format!("{}.handin", case.name));
    study::hand_in(&session.study, &file, false).unwrap();
    session.close();
    json!({ "content": content, "steps": steps, "submission": submission(&file) })
}

/// The lines of a submission without its identity and times.
fn submission(file: &Path) -> Vec<Value> {
    let content = std::fs::read_to_string(file).unwrap();
    let lines: Vec<Value> = content.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines[1..lines.len() - 1].iter().map(without_times).collect()
}

fn without_times(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_times).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| match name.as_str() {
                "at_ms" | "made_at_ms" | "copies" => (name.clone(), Value::Null),
                _ => (name.clone(), without_times(value)),
            };
            fields.iter().map(field).collect()
        }
        other => other.clone(),
    }
}

/// One step or record a line.
fn written(case: &Value) -> String {
    let list = |items: &Value| {
        let lines = items.as_array().unwrap().iter().map(Value::to_string);
        lines.collect::<Vec<_>>().join(",\n")
    };
    format!(
        "{{\"content\":{},\n\"steps\":[\n{}\n],\n\"submission\":[\n{}\n]}}\n",
        case["content"],
        list(&case["steps"]),
        list(&case["submission"])
    )
}

#[test]
fn recorded_desk_cases_are_up_to_date() {
    let folder = TestFolder::new();
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/page/cases");
    let writes = std::env::var_os("DISSENSUS_WRITE_RECORDINGS").is_some();
    for (seed, case) in (1..).zip(CASES) {
        let path = cases.join(format!("{}.json", case.name));
        let now = written(&recorded(&case, &folder, seed));
        if writes {
            std::fs::create_dir_all(&cases).unwrap();
            std::fs::write(&path, &now).unwrap();
            continue;
        }
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        for (line, (before, now)) in (1..).zip(before.lines().zip(now.lines())) {
            assert_eq!(before, now, "{}, line {line}: see the head of this file", path.display());
        }
        assert_eq!(before.len(), now.len(), "{}", path.display());
    }
}

/// So many cases are read by the page in one run, which has all of them in memory.
const PLAYED_AT_ONCE: usize = 250;

#[test]
#[ignore = "a simulation of half a minute: cargo xtask test --only stress"]
fn stress_page_answers_random_cases_as_the_program_does() {
    let cases = std::env::var("DISSENSUS_CASES").map_or(60, |cases| cases.parse().unwrap());
    let drawn: Vec<_> = (1_000..).zip(CASES.iter().cycle().take(cases)).collect();
    for some in drawn.chunks(PLAYED_AT_ONCE) {
        play(some);
    }
}

/// Records cases, and plays them in the page.
fn play(cases: &[(u64, &Case)]) {
    let drawn = TestFolder::new();
    for &(seed, case) in cases {
        let content = written(&recorded(case, &TestFolder::new(), seed));
        drawn.file(&format!("{}-{seed}.json", case.name), &content);
    }
    let played = std::process::Command::new(if cfg!(windows) { "npx.cmd" } else { "npx" })
        .args(["vitest", "run", "--reporter=dot", "src/page/cases.test.ts"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui"))
        .env("DESK_CASES", drawn.path(""))
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&played.stdout);
    assert!(played.status.success(), "{printed}{}", String::from_utf8_lossy(&played.stderr));
}

#[test]
fn page_holds_any_text_and_is_private() {
    let folder = TestFolder::new();
    let session = folder.project("bodies");
    let bodies = [
        "</script><script>alert(1)</script>".to_owned(),
        "<!-- <script> ]]> &lt; \\u003c".to_owned(),
        "a\u{2028}b\u{2029}c \u{202e}bidi\u{2066} \u{feff}".to_owned(),
        "👩‍👩‍👧 e\u{301}".to_owned(),
        "x".repeat(100_000),
    ];
    let rows: Vec<Value> = (bodies.iter().enumerate())
        .map(|(at, body)| json!({ "text_id": format!("</script>{at}"), "text": body, "annotator_id": "ben", "label": "1" }))
        .collect();
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let file = folder.file("bodies.jsonl", &lines);
    let choices = ImportChoices { question: Some("</script>".into()), ..ImportChoices::default() };
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    exchange::import(&session.exchange, &file, &choices, Some(&silent)).unwrap();
    let request = StudyRequest {
        questions: Vec::new(),
        people: vec!["</script>".into(), "ben".into()],
        per_text: 2,
        per_person: None,
        anchors: 0,
        repeat: 0.0,
        again_after: 1,
        new_people: false,
        balance: None,
        seed: 1,
    };
    let out = folder.path("pages");
    let to = PacketFolder { folder: &out, format: PacketFormat::Page, settings: &PageSettings::default() };
    let draft = study::hand_out(&session.study, &request, to, &Silent).unwrap();
    let file = draft.people.iter().find(|person| person.annotator == "</script>").unwrap().file.clone();
    let page = PathBuf::from(file.unwrap());
    assert_eq!(page.extension().unwrap(), "html");
    let texts = content(&page)["texts"].clone();
    let mut found: Vec<&str> =
        texts.as_array().unwrap().iter().map(|text| text["body"].as_str().unwrap()).collect();
    let mut wanted: Vec<&str> = bodies.iter().map(String::as_str).collect();
    found.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&page).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "it has the key that signs answers");
    }
    // A file in the way is not replaced, and no packet is lost.
    let people = ["</script>".to_owned()];
    assert_eq!(study::write_again(&session.study, &people, to, &Silent).unwrap_err().code(), "packet-exists");
    session.close();
}
