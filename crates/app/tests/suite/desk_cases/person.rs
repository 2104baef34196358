//! Draws what a person could do next.

use super::commands::Desk;
use dissensus_api::{LabelDetails, LabelTask, NewLabel, PracticeTask};
use dissensus_domain::{
    AnnotatorId, Answer, AnswerForm, LevelId, Note, OptionSet, QuestionId, Scale, Span, SpanSet, TextId,
};
use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

pub(super) struct Person {
    pub(super) desk: Desk,
    pub(super) random: ChaCha8Rng,
    pub(super) me: AnnotatorId,
    /// The questions of the packet.
    pub(super) all: Vec<QuestionId>,
    scales: Vec<Scale>,
    texts: Vec<TextId>,
    /// The practice texts with their right answers.
    practice: Vec<(QuestionId, TextId, Answer)>,
    /// The version of the guideline.
    guideline: Option<String>,
    pub(super) pictures: Vec<String>,
    /// The text at hand, and its round.
    here: Option<(TextId, u16)>,
    /// The text is read next, as the window notes it.
    reads: bool,
}

impl Person {
    pub(super) fn new(desk: Desk, content: &Value, seed: u64) -> Self {
        let list = |value: &Value| value.as_array().unwrap().clone();
        let of = |value: &Value, field: &str| value[field].clone();
        let questions = list(&content["questions"]);
        let right = |one: &Value| {
            let answer = serde_json::from_value(of(one, "answer")).unwrap();
            (id_of(one, "question", QuestionId), id_of(one, "text", TextId), answer)
        };
        Self {
            desk,
            random: ChaCha8Rng::seed_from_u64(seed),
            me: id_of(&content["annotator"], "id", AnnotatorId),
            all: questions.iter().map(|one| id_of(one, "id", QuestionId)).collect(),
            scales: questions.iter().map(|one| serde_json::from_value(of(one, "scale")).unwrap()).collect(),
            texts: list(&content["texts"]).iter().map(|one| id_of(one, "text", TextId)).collect(),
            practice: list(&content["practice"]["texts"]).iter().map(right).collect(),
            guideline: content["guideline"]["id"].as_str().map(str::to_owned),
            pictures: list(&content["pictures"])
                .iter()
                .map(|one| one["name"].as_str().unwrap().into())
                .collect(),
            here: None,
            reads: false,
        }
    }

    pub(super) fn play(&mut self, command: &str, arguments: Value) -> Value {
        self.desk.play(command, arguments)
    }

    fn any<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.random.random_range(0..of.len())].clone()
    }

    fn seldom(&mut self, probability: f64) -> bool {
        self.random.random_bool(probability)
    }

    pub(super) fn answer(&mut self, question: QuestionId) -> Answer {
        let at = self.all.iter().position(|id| *id == question).unwrap_or(0);
        let mut scale = self.scales[at].clone();
        if self.seldom(0.06) {
            // Questions with spans refuse it.
            return Answer::CannotSay;
        }
        if self.seldom(0.02) {
            // Perhaps of another form.
            let scales = self.scales.clone();
            scale = self.any(&scales);
        }
        let random = &mut self.random;
        match scale.form() {
            // Sometimes off the scale.
            AnswerForm::Level if random.random_bool(0.05) => {
                Answer::from_level(random.random_range(0..7_u16))
            }
            AnswerForm::Level => Answer::Level(*scale.ids().choose(random).unwrap()),
            AnswerForm::Options if random.random_bool(0.03) => {
                Answer::Options(OptionSet::new([1, 40]).unwrap())
            }
            AnswerForm::Options => {
                let chosen = (0..scale.len() as u8).filter(|_| random.random_bool(0.4));
                Answer::Options(OptionSet::new(chosen.collect::<Vec<u8>>()).unwrap())
            }
            AnswerForm::Spans => {
                let longest = if random.random_bool(0.25) { 60 } else { 12 };
                let spans = (0..random.random_range(0..3)).map(|_| {
                    let start = random.random_range(0..4_u32);
                    let end = start + random.random_range(1..longest);
                    let kind =
                        LevelId(random.random_range(0..100_u16).min(if longest == 60 { 2 } else { 1 }));
                    Span { start, end, kind }
                });
                Answer::Spans(SpanSet::new(spans.collect::<Vec<_>>()).unwrap())
            }
        }
    }

    fn note(&mut self) -> Note {
        let reasons = |reasons: &[&str]| Note {
            reasons: reasons.iter().map(|&reason| reason.to_owned()).collect(),
            ..Note::default()
        };
        match self.random.random_range(0..80) {
            0..20 => Note { note: Some("  I read it as irony ".into()), ..Note::default() },
            20..36 => Note { confidence: Some(4), ..reasons(&["irony"]) },
            36 => reasons(&["insult ", "\u{85}irony"]),
            37 => Note { note: Some("\u{3000} \u{85}".into()), ..Note::default() },
            38 => {
                let bad = bad_notes();
                self.any(&bad)
            }
            _ => Note::default(),
        }
    }

    fn text(&mut self) -> TextId {
        if self.seldom(0.01) {
            return TextId(999);
        }
        let texts = self.texts.clone();
        let any = self.any(&texts);
        self.here.map_or(any, |(text, _)| if self.random.random_bool(0.8) { text } else { any })
    }

    /// The first question that is asked about a text and unanswered.
    fn open(&mut self, text: TextId, occasion: u16) -> Option<QuestionId> {
        let (me, all) = (self.me, self.all.clone());
        all.into_iter().find(|question| {
            let task = self.desk.call("labelTask", &json!([me, question, text, occasion]));
            task.is_ok_and(|task| task["asked"] == json!(true) && task["answer"].is_null())
        })
    }

    /// The next step, with its answer.
    pub(super) fn step(&mut self) -> Value {
        let (me, all) = (self.me, self.all.clone());
        // Sometimes somebody else, whom the packet refuses.
        let who = if self.seldom(0.02) { AnnotatorId(me.0 + 1) } else { me };
        let question = if self.seldom(0.01) { QuestionId(77) } else { self.any(&all) };
        let text = self.text();
        let here = self.here.filter(|(here, _)| *here == text).map_or(1, |(_, occasion)| occasion);
        let occasion = if self.seldom(0.03) { self.random.random_range(1..4) } else { here };
        let details = LabelDetails { note: self.note(), guideline: self.guideline.clone() };
        if let Some((read, _)) = self.here.filter(|_| std::mem::take(&mut self.reads)) {
            return self.play("readText", json!([me, read]));
        }
        let (command, arguments) = match self.random.random_range(0..200) {
            0..30 => return self.next(),
            30..114 => {
                let open = self.open(text, occasion);
                if open.is_none() && self.seldom(0.6) {
                    return self.next();
                }
                let question = open.filter(|_| self.random.random_bool(0.8)).unwrap_or(question);
                let answer = self.answer(question);
                let label = NewLabel { question, annotator: who, text, answer, duration_ms: Some(900) };
                match occasion {
                    1 if self.seldom(0.02) => {
                        let round = self.any(&[0, 1, 2, 3]);
                        ("recordAgain", json!([label, details, round]))
                    }
                    1 => ("recordLabel", json!([label, details])),
                    again => ("recordAgain", json!([label, details, again])),
                }
            }
            114..122 => ("labelTask", json!([me, question, text, occasion])),
            122..127 => ("neighbourText", json!([me, question, text, self.random.random_range(-2..3)])),
            127..131 => ("progress", json!([me, [question]])),
            131..143 => ("undoLabel", json!([who, all])),
            143..150 => ("skipText", json!([who, all, text])),
            150..155 => ("flagText", json!([who, question, text, self.random.random_bool(0.7)])),
            // Not an empty one: in the millisecond after an answer it would count as removed with that.
            155..160 if !details.note.is_empty() => ("saveNote", json!([who, question, text, details])),
            155..160 => ("labelTask", json!([me, question, text, occasion])),
            160..164 => {
                let typed = Some(details.note).filter(|_| self.random.random_bool(0.8));
                ("saveDraft", json!([who, question, text, occasion, typed]))
            }
            164..170 => ("readText", json!([who, text])),
            170..172 => ("goOnToday", json!([who])),
            172 => ("care", json!([me])),
            173..176 => ("setOwnCare", json!([who, self.own_care(question)])),
            176 => ("formLeft", json!([me])),
            177..180 => ("answerForm", json!([who, self.form_answers()])),
            180..183 => ("openPacket", json!([])),
            183 => ("practiceState", json!([me])),
            184..187 => {
                let answer = self.answer(question);
                let answer =
                    json!([{ "annotator": who, "question": question, "text": text, "answer": answer }]);
                ("recordPractice", answer)
            }
            187..193 => ("findTexts", self.list()),
            193 => ("guideline", json!([])),
            194 => ("guidelineVersions", json!([])),
            195 => ("picture", json!([self.pictures.first().cloned().unwrap_or_default()])),
            196 => ("picture", json!(["none.png"])),
            197 => ("textGroups", json!([])),
            198 => ("nextPractice", json!([me])),
            _ => ("handIn", json!(["ada.handin"])),
        };
        self.play(command, arguments)
    }

    /// Goes to the next text, with its answer.
    fn next(&mut self) -> Value {
        let after = self.here.map(|(text, _)| text);
        let done = self.play("nextText", json!([self.me, self.all, "file", after]));
        let next: Option<LabelTask> =
            done.get("answer").and_then(|task| serde_json::from_value(task.clone()).ok());
        self.here = next.map(|task| (task.text, task.occasion));
        self.reads = self.random.random_bool(0.3);
        done
    }

    /// Answers text by text until one comes again, which is the second result.
    pub(super) fn first_round(&mut self) -> (Vec<Value>, Option<TextId>) {
        let mut steps = Vec::new();
        loop {
            steps.push(self.next());
            self.reads = false;
            match self.here {
                None => return (steps, None),
                Some((text, 1)) => steps.extend(self.answer_open(text, 1)),
                Some((text, _)) => return (steps, Some(text)),
            }
        }
    }

    /// Answers what is asked about a text in a round, with the answers.
    pub(super) fn answer_open(&mut self, text: TextId, round: u16) -> Vec<Value> {
        let mut steps = Vec::new();
        while let Some(question) = self.open(text, round) {
            let (answer, details) = (self.answer(question), LabelDetails::default());
            let label = NewLabel { question, annotator: self.me, text, answer, duration_ms: Some(900) };
            steps.push(match round {
                1 => self.play("recordLabel", json!([label, details])),
                again => self.play("recordAgain", json!([label, details, again])),
            });
        }
        steps
    }

    fn own_care(&mut self, question: QuestionId) -> Value {
        let limit = self.any(&[None, None, Some(1), Some(2), Some(3), Some(0), Some(100_000), Some(100_001)]);
        let harmful = self.seldom(0.6).then(|| self.random.random_range(0..6_u16));
        let harmful = harmful.map(|level| json!({ "question": question, "level": level }));
        let words = match self.random.random_range(0..8) {
            0 | 1 => vec!["troll*".to_owned(), "死".to_owned()],
            2 => vec![" vote ".to_owned(), "VOTE".to_owned(), String::new()],
            3 => vec!["why no".to_owned(), "STRASSE".to_owned()],
            4 => vec!["!!".to_owned()],
            5 if self.seldom(0.3) => vec!["x".repeat(101)],
            _ => Vec::new(),
        };
        let groups = self.any(&[json!([]), json!([]), json!(["b", "\u{ff5e}", "\u{1f600}", "a", "b"])]);
        json!({ "limit": limit, "harmful": harmful, "words": words, "groups": groups })
    }

    fn form_answers(&mut self) -> Value {
        self.any(&[
            json!({}),
            json!({ "age": "30+" }),
            json!({ "age": "30+", "place": null }),
            json!({ "age": null, "place": "18-29", "role": null }),
            json!({ "place": "30+", "role": "18-29", "age": "18-29" }),
            json!({ "age": "31", "place": null }),
            json!({ "role": "30+" }),
            json!({ "income": null }),
        ])
    }

    /// A part of the list of texts.
    fn list(&mut self) -> Value {
        let search = self.any(&["", "", "", "hate", "STRASSE", "Straße", " t1", "needle", "οδος", "nothing"]);
        let filters = ["all", "all", "answered", "not_yet", "skipped", "flagged", "noted", "long"];
        let filter = self.any(&filters);
        let sort = self.any(&["file", "file", "newest", "longest", "contested"]);
        let questions = if self.seldom(0.2) { self.all[..1].to_vec() } else { Vec::new() };
        let query = json!({
            "annotator": self.me, "questions": questions, "search": search, "filter": filter, "sort": sort,
            "bare": self.seldom(0.2),
        });
        let offset = self.any(&[0, 0, 0, 2, 50]);
        let limit = self.any(&[1, 3, 0]);
        json!([query, offset, limit, self.here.map(|(text, _)| text)])
    }

    /// An answer in practice, where there is one to give.
    pub(super) fn practise(&mut self, right: bool) -> Vec<Value> {
        let next = self.play("nextPractice", json!([self.me]));
        let task: Option<PracticeTask> = serde_json::from_value(next["answer"].clone()).unwrap();
        let Some(PracticeTask { question, text, .. }) = task else { return vec![next] };
        let answer = match right {
            true => self.practice.iter().find(|one| (one.0, one.1) == (question, text)).unwrap().2.clone(),
            false => self.wrong(question, text),
        };
        let new = json!([{ "annotator": self.me, "question": question, "text": text, "answer": answer }]);
        let mut done = vec![next, self.play("recordPractice", new.clone())];
        if self.seldom(0.3) {
            // Once more: the first answer counts.
            done.push(self.play("recordPractice", new));
        }
        done
    }

    fn wrong(&mut self, question: QuestionId, text: TextId) -> Answer {
        let at = self.all.iter().position(|id| *id == question).unwrap();
        let scale = self.scales[at].clone();
        let right = self.practice.iter().find(|one| (one.0, one.1) == (question, text)).unwrap().2.clone();
        match scale.form() {
            AnswerForm::Level => {
                let wrong = |id: &&LevelId| right.level().is_some_and(|right| right.0.abs_diff(id.0) > 1);
                let far = scale.ids().iter().find(wrong).copied();
                Answer::Level(far.or_else(|| scale.ids().first().copied()).unwrap())
            }
            AnswerForm::Options => Answer::Options(OptionSet::default()),
            AnswerForm::Spans => Answer::Spans(SpanSet::default()),
        }
    }
}

/// Notes that are refused.
pub(super) fn bad_notes() -> Vec<Note> {
    let reasons = |reasons: Vec<String>| Note { reasons, ..Note::default() };
    let one = |reason: &str| reasons(vec![reason.to_owned()]);
    vec![
        reasons((0..21).map(|n| n.to_string()).collect()),
        reasons(vec!["irony".into(), " irony".into()]),
        one("a;b"),
        one(" "),
        one(&"x".repeat(101)),
        one("a\u{200b}b"),
        one("a\tb"),
        Note { confidence: Some(0), ..Note::default() },
        Note { confidence: Some(6), ..Note::default() },
    ]
}

fn id_of<Id>(value: &Value, field: &str, id: impl Fn(u32) -> Id) -> Id {
    id(u32::try_from(value[field].as_u64().unwrap()).unwrap())
}
