//! The commands of the window, by their names there.

use dissensus_api::{LabelDetails, NewLabel, NewPracticeAnswer, OwnCare, Problem, TextOrder, TextQuery};
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, FormAnswers, LabelSource, Note, QuestionId};
use dissensus_editing::{attribute_form, consent};
use dissensus_labelling::record::RecordLabel;
use dissensus_labelling::{
    care, drafts, marks, next_text, notes, practice_answers, progress, reannotation, record, task, undo,
};
use dissensus_project::error::ProjectError;
use dissensus_transfer::study;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::PathBuf;

/// An open packet, and a folder for what is handed in.
pub(super) struct Desk {
    pub(super) session: Session,
    folder: PathBuf,
    handed_in: u32,
}

impl Desk {
    pub(super) fn new(session: Session, folder: PathBuf) -> Self {
        std::fs::create_dir_all(&folder).unwrap();
        Self { session, folder, handed_in: 0 }
    }

    /// Runs a step and returns it with its answer.
    pub(super) fn play(&mut self, command: &str, arguments: Value) -> Value {
        match self.call(command, &arguments) {
            Ok(answer) => json!({ "command": command, "arguments": arguments, "answer": answer }),
            Err(error) => {
                json!({ "command": command, "arguments": arguments, "refused": Problem::from(error).code })
            }
        }
    }

    /// A file for the next submission.
    pub(super) fn next_file(&mut self) -> PathBuf {
        self.handed_in += 1;
        self.folder.join(format!("{}.handin", self.handed_in))
    }

    pub(super) fn call(&mut self, command: &str, arguments: &Value) -> Result<Value, ProjectError> {
        fn at<T: DeserializeOwned>(arguments: &Value, at: usize) -> T {
            serde_json::from_value(arguments[at].clone()).unwrap()
        }
        let file = (command == "handIn").then(|| self.next_file());
        let session = &self.session;
        let (cx, all) = (&session.labelling, arguments);
        let who: AnnotatorId = if arguments[0].is_u64() { at(all, 0) } else { AnnotatorId(0) };
        let label = |label: NewLabel, details: LabelDetails| RecordLabel {
            label,
            details,
            source: LabelSource::Window,
        };
        let value = |value: Result<Value, serde_json::Error>| value.unwrap();
        Ok(value(match command {
            "nextText" => {
                let questions: Vec<QuestionId> = at(all, 1);
                let order = at::<TextOrder>(all, 2);
                serde_json::to_value(next_text::choose(cx, who, questions, order, at(all, 3))?)
            }
            "labelTask" => serde_json::to_value(task::read(cx, who, at(all, 1), at(all, 2), at(all, 3))?),
            "neighbourText" => {
                serde_json::to_value(next_text::neighbour(cx, who, at(all, 1), at(all, 2), at(all, 3))?)
            }
            "findTexts" => {
                let query: TextQuery = at(all, 0);
                let mut found = session.texts.find(&query, at(all, 1), at(all, 2), at(all, 3))?;
                // A page counts no changes.
                found.revision = 0;
                serde_json::to_value(found)
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
            "skipText" => {
                serde_json::to_value(marks::skip(cx, who, at::<Vec<QuestionId>>(all, 1), at(all, 2))?)
            }
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
            "consentLeft" => serde_json::to_value(consent::left(&session.project, who)?),
            "agree" => {
                consent::agree(&session.project, who, &at::<String>(all, 1))?;
                Ok(Value::Null)
            }
            "care" => serde_json::to_value(care::state(cx, who)?),
            "readText" => serde_json::to_value(care::note_read(cx, who, at(all, 1))?),
            "goOnToday" => serde_json::to_value(care::go_on_today(cx, who)?),
            "setOwnCare" => serde_json::to_value(care::set_own(cx, who, &at::<OwnCare>(all, 1))?),
            "textGroups" => serde_json::to_value(dissensus_editing::care::text_groups(&session.project)?),
            "guideline" => serde_json::to_value(session.guideline.newest()?),
            "guidelineVersions" => serde_json::to_value(session.guideline.versions()?),
            "picture" => serde_json::to_value(session.guideline.picture(&at::<String>(all, 0))?),
            "openPacket" => serde_json::to_value(study::open_packet(&session.study)?),
            "handIn" => {
                let written = study::hand_in(&session.study, &file.unwrap_or_default(), false)?;
                Ok(json!({ "given": written.given, "wanted": written.wanted }))
            }
            other => panic!("no command {other}"),
        }))
    }
}
