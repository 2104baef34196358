//! The recorded answers of the window's commands on the sample project are up to date.
//!
//! `ui/src/mock/recorded.test.ts` compares the invented project of the browser with them. No model runs and
//! no encoder is installed, so that every computer gives the same answers.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use dissensus_analysis::{annotators as people_report, overview, ranking, text_detail};
use dissensus_api::{
    DisagreementQuery, ExportRequest, HistoryRequest, MaskQuery, NoteQuery, Problem, Removal, TextOrder,
    TextQuery,
};
use dissensus_app::Application;
use dissensus_domain::{AnnotatorId, QuestionId, ScaleTemplate, TextId};
use dissensus_editing::{annotators, attribute_form, consent, history, jobs, questions, remove, withdraw};
use dissensus_labelling::guideline::OnScreen;
use dissensus_labelling::{care, next_text, practice_answers, progress, task};
use dissensus_project::{error::ProjectError, home::Home, jobs::Silent, sample};
use dissensus_training::runs;
use dissensus_transfer::{exchange, study};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Elements of a list that are recorded: more say nothing new of its form.
const RECORDED: usize = 3;
/// Commands whose answers the invented project takes over as they are.
const WHOLE: [&str; 2] = ["exportFormats", "scaleTemplates"];
/// Stands for every time, in milliseconds.
const TIME: f64 = 1_700_000_000_000.0;
/// Fields that hold a time as text.
const TIMES: [&str; 2] = ["place", "time"];

/// Answers by command.
struct Recordings {
    folder: String,
    made: BTreeMap<&'static str, Vec<Value>>,
}

impl Recordings {
    fn add<T: Serialize>(
        &mut self,
        command: &'static str,
        arguments: Value,
        answer: Result<T, ProjectError>,
    ) {
        let (name, given) = match answer {
            Ok(answer) => ("answer", serde_json::to_value(answer).unwrap()),
            Err(error) => ("problem", serde_json::to_value(Problem::from(error)).unwrap()),
        };
        let given = self.stable(given, WHOLE.contains(&command));
        self.made.entry(command).or_default().push(json!({ "arguments": arguments, name: given }));
    }

    /// The value without what differs from run to run.
    fn stable(&self, value: Value, whole: bool) -> Value {
        match value {
            Value::Array(items) => {
                let shown = if whole { items.len() } else { RECORDED };
                items.into_iter().take(shown).map(|item| self.stable(item, whole)).collect()
            }
            Value::Object(fields) => fields
                .into_iter()
                .map(|(name, value)| {
                    let timed = TIMES.contains(&name.as_str()) && value.is_string();
                    let value = match name.as_str() {
                        // Whether others can read a file depends on who runs the test.
                        "readable_notice" => Value::Null,
                        _ if timed => json!("(a time)"),
                        _ => self.stable(value, whole),
                    };
                    (name, value)
                })
                .collect(),
            Value::Number(number) if number.as_f64().is_some_and(|number| number > TIME) => json!(TIME),
            Value::Number(number) if number.is_f64() => {
                number.as_f64().map(|number| (number * 1000.0).round() / 1000.0).into()
            }
            Value::String(text) => text.replace(&self.folder, "/home/you").replace('\\', "/").into(),
            other => other,
        }
    }
}

/// Records one command: its arguments in the order of its binding, and the call that the command makes.
macro_rules! record {
    ($to:ident, $command:literal, ($($name:ident: $type:ty = $value:tt),*), $call:expr) => {{
        $(let $name: $type = serde_json::from_value(json!($value)).unwrap();)*
        let answer = $call;
        $to.add($command, json!([$($value),*]), answer);
    }};
}

/// Set `DISSENSUS_WRITE_RECORDINGS=1` to write the files instead of comparing them.
#[test]
fn recorded_answers_are_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let app = Application::new(Home::inside(folder.path(), Vec::new()));
    let mut to = Recordings { folder: folder.path().to_string_lossy().into_owned(), made: BTreeMap::new() };
    record!(to, "settings", (), Ok(app.settings()));
    record!(to, "encoderOffer", (), app.encoder_offer());
    record!(to, "exportFormats", (), Ok(exchange::export_formats()));
    record!(to, "scaleTemplates", (), Ok(ScaleTemplate::all()));
    record!(to, "project", (), app.project());
    let path = folder.path().join("Comments.dissensus");
    sample::create(&path).unwrap();
    app.open_project(&path.to_string_lossy()).unwrap();
    record!(to, "project", (), app.project());
    record!(to, "recentProjects", (), Ok(app.recent_projects()));
    record_project(&mut to, &app);
    record_labelling(&mut to, &app);
    record_findings(&mut to, &app);
    compare(&to.made);
}

fn record_project(to: &mut Recordings, app: &Application) {
    let session = app.open_session().unwrap();
    let project = &session.project;
    record!(to, "annotators", (), annotators::list(project));
    record!(to, "attributeForm", (), attribute_form::form(project));
    record!(to, "formLeft", (annotator: AnnotatorId = 1), attribute_form::left_to_answer(project, annotator));
    record!(to, "consent", (), consent::read(project));
    record!(to, "consentLeft", (annotator: AnnotatorId = 1), consent::left(project, annotator));
    record!(to, "traces", (annotator: AnnotatorId = 1), withdraw::traces(project, annotator));
    record!(to, "traces", (annotator: AnnotatorId = 99), withdraw::traces(project, annotator));
    record!(to, "removal", (what: Removal = { "annotator": 1 }), remove::preview(project, &what));
    record!(to, "removal", (what: Removal = { "question": 1 }), remove::preview(project, &what));
    record!(to, "levelUses", (question: QuestionId = 1), questions::level_uses(project, question));
    record!(to, "history", (request: HistoryRequest = {
        "kinds": [], "annotator": null, "text": null, "question": null, "since": null, "until": null,
        "words": "", "hide_names": false, "reader": null, "after": null, "limit": 3
    }), history::read(project, &request));
    record!(to, "textGroups", (), dissensus_editing::care::text_groups(project));
    record!(to, "jobs", (), jobs::list(project));
    record!(to, "remarks", (query: NoteQuery = {
        "question": null, "annotator": null, "words": "", "reason": null, "flagged": false
    }), dissensus_editing::notes::list(project, &query));
    record!(to, "guideline", (), session.guideline.newest());
    record!(to, "guidelineVersions", (), session.guideline.versions());
    record!(to, "guidelineAgreement", (), session.guideline.agreement(OnScreen::Guideline));
    record!(to, "exportContents", (request: ExportRequest = {
        "format": null, "question": null, "pseudonyms": false, "notes": false
    }), exchange::export_contents(&session.exchange, &request));
    record!(to, "practiceSetup", (), study::practice(&session.study));
    record!(to, "checkRule", (), study::check_rule(&session.study));
    record!(to, "attentionChecks", (), study::list_checks(&session.study));
    record!(to, "openPacket", (), study::open_packet(&session.study));
    record!(to, "studyReport", (), study::report(&session.study));
    record!(to, "maskSettings", (), study::mask_settings(&session.study));
    record!(to, "previewMasks", (query: MaskQuery = {
        "rules": { "on": ["words"], "words": ["you"], "exact": false, "pattern": "", "except": [] },
        "rule": null, "search": "", "most": 3
    }), study::preview_masks(&session.study, &query, &Silent));
    record!(to, "nameCandidates", (), study::name_candidates(&session.study, &Silent));
    record!(to, "wordsOfColumn", (column: String = "author"), study::words_of_column(&session.study, &column));
    record!(to, "savedPanels", (), session.panels.list());
    record!(to, "runs", (), runs::list(&session.runs));
    record!(to, "runDetail", (id: u32 = 99), runs::detail(&session.runs, id));
    record!(to, "activeModel", (question: QuestionId = 1), session.live.active_model(question));
}

fn record_labelling(to: &mut Recordings, app: &Application) {
    let session = app.open_session().unwrap();
    let labelling = &session.labelling;
    record!(to, "care", (annotator: AnnotatorId = 1), care::state(labelling, annotator));
    record!(to, "nextText",
        (annotator: AnnotatorId = 1, questions: Vec<QuestionId> = [1], order: TextOrder = "file",
         after: Option<TextId> = null),
        next_text::choose(labelling, annotator, questions, order, after));
    record!(to, "labelTask",
        (annotator: AnnotatorId = 1, question: QuestionId = 1, text: TextId = 1, occasion: u16 = 1),
        task::read(labelling, annotator, question, text, occasion));
    record!(to, "labelTask",
        (annotator: AnnotatorId = 1, question: QuestionId = 99, text: TextId = 1, occasion: u16 = 1),
        task::read(labelling, annotator, question, text, occasion));
    record!(to, "labelTask",
        (annotator: AnnotatorId = 1, question: QuestionId = 1, text: TextId = 99999, occasion: u16 = 1),
        task::read(labelling, annotator, question, text, occasion));
    record!(to, "neighbourText",
        (annotator: AnnotatorId = 1, question: QuestionId = 1, text: TextId = 1, step: i32 = 1),
        next_text::neighbour(labelling, annotator, question, text, step));
    record!(to, "progress", (annotator: AnnotatorId = 1, questions: Vec<QuestionId> = [1]),
        progress::count(labelling, annotator, questions));
    record!(to, "practiceState", (annotator: AnnotatorId = 1),
        practice_answers::state_of(labelling, annotator));
    record!(to, "nextPractice", (annotator: AnnotatorId = 1), practice_answers::next(labelling, annotator));
}

fn record_findings(to: &mut Recordings, app: &Application) {
    let session = app.open_session().unwrap();
    let analysis = &session.analysis;
    record!(to, "overview", (reading_as: Option<AnnotatorId> = null), session.overview(reading_as));
    record!(to, "overviewAgreement", (question: QuestionId = 1), overview::agreement(analysis, question));
    record!(to, "annotatorReport", (question: QuestionId = 1), people_report::report_known(analysis, question));
    record!(to, "findTexts",
        (query: TextQuery = {
            "annotator": null, "questions": [1], "search": "", "filter": "all", "sort": "file"
         }, offset: u32 = 0, limit: u32 = 3, look_for: Option<TextId> = null),
        session.texts.find(&query, offset, limit, look_for));
    record!(to, "disagreementRanking", (query: DisagreementQuery = {
        "question": 1, "by": "labels", "cut": null, "groups": null, "search": null, "attributes": {},
        "labelled_only": false
    }), ranking::rank(analysis, &query));
    record!(to, "disagreementRows", (query: DisagreementQuery = {
        "question": 1, "by": "labels", "cut": null, "groups": null, "search": null, "attributes": {},
        "labelled_only": false
    }, texts: Vec<TextId> = [1, 2, 3]), ranking::read_rows(analysis, &query, &texts));
    record!(to, "textDetail",
        (query: DisagreementQuery = {
            "question": 1, "by": "labels", "cut": null, "groups": null, "search": null, "attributes": {},
            "labelled_only": false
         }, text: TextId = 1, group_by: Option<String> = null, reading_as: Option<AnnotatorId> = null,
         show_hidden: bool = true),
        text_detail::read(analysis, &query, text, group_by.as_deref(), reading_as, show_hidden));
    record!(to, "textTalk", (question: QuestionId = 1, text: TextId = 1),
        study::discussion(&session.study, question, text));
}

fn compare(made: &BTreeMap<&str, Vec<Value>>) {
    let kept_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui/src/mock/recorded");
    let writes = std::env::var_os("DISSENSUS_WRITE_RECORDINGS").is_some();
    let mut outdated = Vec::new();
    for (command, entries) in made {
        let file = kept_in.join(format!("{command}.json"));
        let text = serde_json::to_string_pretty(entries).unwrap() + "\n";
        if writes {
            std::fs::create_dir_all(&kept_in).unwrap();
            std::fs::write(&file, &text).unwrap();
        }
        if std::fs::read_to_string(&file).unwrap_or_default().replace('\r', "") != text {
            outdated.push(*command);
        }
    }
    assert!(
        outdated.is_empty(),
        "out of date in ui/src/mock/recorded: {outdated:?}; run DISSENSUS_WRITE_RECORDINGS=1 cargo test -p dissensus-window"
    );
    let files = std::fs::read_dir(&kept_in).unwrap().count();
    assert_eq!(files, made.len(), "ui/src/mock/recorded has files of commands that are not recorded");
}
