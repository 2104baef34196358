//! The use cases without a window: recording a label, import and export, and invariants.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{TestFolder, evaluate_levels, import, on_cpu};
use dissensus_analysis::EvaluateChoices;
use dissensus_analysis::annotators;
use dissensus_analysis::predict::{self, RequestedText};
use dissensus_analysis::ranking;
use dissensus_analysis::text_detail;
use dissensus_api::{
    ColumnChoices, DisagreementMeasure, DisagreementQuery, ImportChoices, NewLabel, ProjectChoices, TextOrder,
};
use dissensus_app::Application;
use dissensus_app::session::Session;
use dissensus_domain::{Answer, LabelSource, Scale, ScaleKind, TextId};
use dissensus_editing::choices;
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_labelling::marks;
use dissensus_labelling::next_text;
use dissensus_labelling::progress;
use dissensus_labelling::record;
use dissensus_labelling::record::RecordLabel;
use dissensus_labelling::task;
use dissensus_labelling::undo;
use dissensus_project::event::Event;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_project::sample;
use dissensus_stats::data::ModelKind;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use std::path::Path;
use std::sync::{Arc, Mutex};

fn import_error(
    session: &Session,
    file: &Path,
    choices: &ImportChoices,
) -> dissensus_project::error::ProjectError {
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    exchange::import(&session.exchange, file, choices, Some(&silent)).unwrap_err()
}

fn query(session: &Session) -> DisagreementQuery {
    DisagreementQuery {
        question: questions::find(&session.project, Some("offensiveness")).unwrap().id,
        by: DisagreementMeasure::Split,
        cut: None,
        groups: None,
        search: None,
        attributes: Default::default(),
        labelled_only: false,
    }
}

#[test]
fn sample_has_the_documented_content() {
    let place = TestFolder::new();
    let info = info::read(&place.sample().project).unwrap();
    assert_eq!((info.texts, info.annotators, info.labels), (168, 8, 2 * 728));
    assert_eq!(info.simulated_notice.as_deref(), Some(sample::NOTICE));
    let kinds: Vec<ScaleKind> = info.questions.iter().map(|q| q.scale.kind()).collect();
    assert_eq!(kinds, [ScaleKind::Ordinal, ScaleKind::Binary]);
    assert!(sample_annotators_are_simulated(&place));
}

fn sample_annotators_are_simulated(place: &TestFolder) -> bool {
    let session = Session::open_to_read(&place.path("sample.dissensus"), &place.home()).unwrap();
    dissensus_editing::annotators::list(&session.project)
        .unwrap()
        .iter()
        .all(|a| a.simulated && a.attributes.contains_key("tendency"))
}

#[test]
fn label_is_recorded_learned_reported_and_undone() {
    let place = TestFolder::new();
    let session = place.sample();
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let received = Arc::clone(&events);
    session.subscribe(move |event| received.lock().unwrap().push(event.clone()));
    let question = questions::find(&session.project, Some("offensiveness")).unwrap();
    session.live.fit(question.id, &Silent).unwrap();
    let me = dissensus_editing::annotators::add(&session.project, "Ana", &Default::default()).unwrap();
    let before = ranking::rank(&session.analysis, &query(&session)).unwrap();

    let mut labelled = Vec::new();
    let mut after = None;
    for level in [4, 4, 4, 3, 4] {
        let task = next_text::choose(&session.labelling, me.id, question.id, TextOrder::File, after)
            .unwrap()
            .unwrap();
        assert!(task.reveal.is_none(), "a prediction led the annotator");
        let new = NewLabel {
            question: question.id,
            annotator: me.id,
            text: task.text,
            answer: Answer::from_level(level),
            duration_ms: Some(900),
        };
        let receipt = record::record_label(&session.labelling, &new).unwrap().receipt;
        let reveal = receipt.reveal.unwrap();
        assert!((reveal.others.iter().sum::<f32>() - 1.0).abs() < 1e-4);
        assert_eq!(reveal.annotators, 8);
        labelled.push(task.text);
        after = Some(task.text);
    }
    let ranking = ranking::rank(&session.analysis, &query(&session)).unwrap();
    assert!(ranking.revision > before.revision);
    assert_ne!(ranking.texts, before.texts, "five harsh labels must move the ranking");
    assert_eq!(ranking.annotators, 9);
    let reported = events.lock().unwrap().iter().filter(|e| matches!(e, Event::Labels { .. })).count();
    assert_eq!(reported, 5);

    let undone = undo::undo(&session.labelling, me.id, question.id, LabelSource::Window).unwrap().unwrap();
    let done = undone.progress.done;
    assert_eq!((undone.text, undone.answer, undone.now, done), (labelled[4], Answer::from_level(4), None, 4));
    session.close();

    let again = Session::open(&place.path("sample.dissensus"), &place.home()).unwrap();
    let progress = progress::count(&again.labelling, me.id, question.id).unwrap();
    assert_eq!((progress.done, progress.today, progress.total), (4, 4, 168));
    assert_eq!(
        task::read(&again.labelling, me.id, question.id, labelled[0], 1).unwrap().answer,
        Some(Answer::from_level(4))
    );
}

#[test]
fn undo_ignores_labels_not_given_here() {
    let place = TestFolder::new();
    let session = place.sample();
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    let simulated = dissensus_editing::annotators::find(&session.project, "sim-ada").unwrap().id;
    assert_eq!(undo::undo(&session.labelling, simulated, question, LabelSource::Window).unwrap(), None);
}

#[test]
fn predictions_are_hidden_from_the_annotator() {
    let place = TestFolder::new();
    let session = place.sample();
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    session.live.fit(question, &Silent).unwrap();
    let me = dissensus_editing::annotators::add(&session.project, "Ana", &Default::default()).unwrap();
    let text = TextId(1);
    let query = query(&session);
    let own = |show| {
        let detail =
            text_detail::read(&session.analysis, &query, text, Some("gender"), Some(me.id), show).unwrap();
        detail.annotators.into_iter().find(|a| a.annotator == me.id).unwrap()
    };
    assert_eq!(own(false).distribution, None);
    assert!(own(true).distribution.is_some());
    let new = NewLabel { question, annotator: me.id, text, answer: Answer::from_level(0), duration_ms: None };
    record::record_label(&session.labelling, &new).unwrap();
    assert!(own(false).distribution.is_some());
}

#[test]
fn attribute_filter_applies_to_text_detail() {
    let place = TestFolder::new();
    let session = place.sample();
    let all = query(&session);
    session.live.fit(all.question, &Silent).unwrap();
    let first = dissensus_editing::annotators::list(&session.project).unwrap().swap_remove(0);
    let (name, value) = first.attributes.iter().next().map(|(n, v)| (n.clone(), v.clone())).unwrap();
    let some = DisagreementQuery { attributes: [(name.clone(), value.clone())].into(), ..query(&session) };
    let text = TextId(1);
    let detail = text_detail::read(&session.analysis, &some, text, None, None, false).unwrap();
    let with = dissensus_editing::annotators::list(&session.project)
        .unwrap()
        .into_iter()
        .filter(|a| a.attributes.get(&name) == Some(&value));
    assert_eq!(detail.annotators.len(), with.count());
    assert!(detail.annotators.iter().all(|a| a.attributes.get(&name) == Some(&value)));
    let row = ranking::read_rows(&session.analysis, &some, &[text]).unwrap().swap_remove(0);
    let some_scores = detail.scores.unwrap();
    assert_eq!(some_scores.pairwise, row.scores.unwrap().pairwise, "list and detail tell of the same people");
    let everyone = text_detail::read(&session.analysis, &all, text, None, None, false).unwrap();
    assert_eq!(everyone.annotators.len(), 8);
    assert_ne!(everyone.scores.unwrap().pairwise, some_scores.pairwise);
    let nobody = DisagreementQuery { attributes: [(name, "no such".to_owned())].into(), ..query(&session) };
    assert!(text_detail::read(&session.analysis, &nobody, text, None, None, false).is_err());
}

#[test]
fn text_without_a_model_shows_only_labels() {
    let place = TestFolder::new();
    let session = place.sample();
    let query = query(&session);
    let labelled = |session: &Session, text| {
        text_detail::read(&session.analysis, &query, text, Some("gender"), None, false)
            .unwrap()
            .annotators
            .into_iter()
            .filter_map(|a| a.observed.map(|answer| (a.annotator, answer)))
            .collect::<std::collections::BTreeMap<_, _>>()
    };
    let text = (1..=168).map(TextId).find(|text| labelled(&session, *text).len() > 1).unwrap();
    let before = text_detail::read(&session.analysis, &query, text, Some("gender"), None, false).unwrap();
    assert_eq!((before.scores, before.groups.len(), before.differences.len()), (None, 0, 0));
    assert!(before.needs.unwrap().contains("being fitted"));
    assert_eq!(before.annotators.len(), 8);
    assert!(before.annotators.iter().all(|a| a.distribution.is_none() && !a.hidden));
    let answers = labelled(&session, text);
    session.live.fit(query.question, &Silent).unwrap();
    let after = text_detail::read(&session.analysis, &query, text, Some("gender"), None, false).unwrap();
    assert!(after.scores.is_some() && after.needs.is_none() && !after.groups.is_empty());
    assert!(after.annotators.iter().all(|a| a.distribution.is_some()));
    assert_eq!(labelled(&session, text), answers);
}

#[test]
fn one_person_has_no_disagreement() {
    let place = TestFolder::new();
    let session = place.sample();
    let attributes: dissensus_domain::Attributes = [("role".to_owned(), "judge".to_owned())].into();
    dissensus_editing::annotators::add(&session.project, "Ana", &attributes).unwrap();
    let query = DisagreementQuery { attributes, ..query(&session) };
    session.live.fit(query.question, &Silent).unwrap();
    let detail = text_detail::read(&session.analysis, &query, TextId(1), Some("role"), None, false).unwrap();
    assert_eq!(detail.annotators.len(), 1);
    assert!(detail.annotators[0].distribution.is_some(), "what the person would say is predicted");
    assert_eq!((detail.scores, detail.groups.len(), detail.differences.len()), (None, 0, 0));
    assert!(detail.needs.unwrap().contains("this is one person"));
}

#[test]
fn too_few_shared_texts_have_no_scores() {
    let place = TestFolder::new();
    let session = place.project("p");
    let labels = "text_id,text,annotator_id,label\na,one,x,1\na,one,y,3\nb,two,x,2\nb,two,y,2\nc,three,x,3\n";
    import(&session, &place.file("l.csv", labels), &ImportChoices::default());
    let question = questions::find(&session.project, None).unwrap().id;
    session.live.fit(question, &Silent).unwrap();
    let sample = place.sample();
    let query = DisagreementQuery { question, ..query(&sample) };
    let detail = text_detail::read(&session.analysis, &query, TextId(1), None, None, false).unwrap();
    assert_eq!(detail.scores, None);
    assert!(detail.needs.unwrap().starts_with("2 texts have labels of two people"));
    assert_eq!(detail.annotators.iter().filter(|a| a.observed.is_some()).count(), 2);
}

#[test]
fn groups_are_compared_where_both_have_labels() {
    let place = TestFolder::new();
    let session = place.project("p");
    let mut csv = "text_id,text,annotator_id,label,gender\n".to_owned();
    for (text, person) in (0..11).flat_map(|text| (0..10).map(move |person| (text, person))) {
        // Only women answer the last text.
        if text < 10 || person < 5 {
            let gender = if person < 5 { "woman" } else { "man" };
            csv += &format!("t{text},text {text},p{person},{},{gender}\n", 1 + (text + person) % 3);
        }
    }
    import(&session, &place.file("g.csv", &csv), &ImportChoices::default());
    let question = questions::find(&session.project, None).unwrap().id;
    session.live.fit(question, &Silent).unwrap();
    let query = DisagreementQuery { question, ..query(&place.sample()) };
    let texts: Vec<TextId> = (1..=11).map(TextId).collect();
    let compared: Vec<u32> = ranking::read_rows(&session.analysis, &query, &texts)
        .unwrap()
        .iter()
        .map(|row| row.compared)
        .collect();
    // Women with men, and the strict with the lenient; only the latter where only women have answered.
    assert_eq!(compared, [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1]);
}

#[test]
fn skipped_texts_come_last() {
    let place = TestFolder::new();
    let session = place.project("p");
    let file = place.file("t.csv", "text_id,text\na,one\nb,two\nc,three\n");
    import(&session, &file, &ImportChoices::default());
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    let question =
        questions::add(&session.project, AddQuestion::new("rude", "Is it rude?", scale)).unwrap().id;
    let me = dissensus_editing::annotators::add(&session.project, "Ana", &Default::default()).unwrap().id;
    let next = |after| {
        next_text::choose(&session.labelling, me, question, TextOrder::File, after)
            .unwrap()
            .map(|t| t.external_id)
    };
    assert_eq!(next(None).as_deref(), Some("a"));
    marks::skip(&session.labelling, me, question, TextId(1)).unwrap();
    assert_eq!(next(None).as_deref(), Some("b"));
    for text in [2, 3] {
        let new = NewLabel {
            question,
            annotator: me,
            text: TextId(text),
            answer: Answer::from_level(1),
            duration_ms: None,
        };
        record::record_label(&session.labelling, &new).unwrap();
    }
    assert_eq!(next(None).as_deref(), Some("a"));
    let new = NewLabel {
        question,
        annotator: me,
        text: TextId(1),
        answer: Answer::from_level(1),
        duration_ms: None,
    };
    record::record_label(&session.labelling, &new).unwrap();
    assert_eq!(next(None), None);
    let flagged = marks::flag(&session.labelling, me, question, TextId(2), true).unwrap();
    assert_eq!((flagged.flagged, flagged.skipped), (1, 0));
}

#[test]
fn unknown_levels_texts_and_people_are_refused() {
    let place = TestFolder::new();
    let session = place.sample();
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    let annotator = dissensus_editing::annotators::find(&session.project, "sim-ada").unwrap().id;
    let new =
        NewLabel { question, annotator, text: TextId(1), answer: Answer::from_level(5), duration_ms: None };
    assert_eq!(record::record_label(&session.labelling, &new).unwrap_err().code(), "level-removed");
    assert_eq!(
        by_name::record(&session.labelling, &LabelByName::new("ana", "c001", "6", Some("offensiveness")))
            .unwrap_err()
            .code(),
        "not-on-scale"
    );
    assert_eq!(
        by_name::record(&session.labelling, &LabelByName::new("ana", "zzz", "1", Some("offensiveness")))
            .unwrap_err()
            .code(),
        "no-such-text"
    );
    assert_eq!(
        by_name::record(&session.labelling, &LabelByName::new("ana", "c001", "1", None)).unwrap_err().code(),
        "which-question"
    );
    assert_eq!(questions::find(&session.project, Some("x")).unwrap_err().code(), "no-such-question");
    assert_eq!(
        dissensus_editing::annotators::list(&session.project).unwrap().len(),
        8,
        "a refused label must not add its annotator"
    );
}

#[test]
fn bad_row_stops_the_import_or_is_rejected_to_a_file() {
    let place = TestFolder::new();
    let session = place.project("p");
    let good = "text_id,text,annotator_id,label\n1,one,a,1\n1,one,b,2\n2,two,a,3\n2,two,b,1\n";
    let file = place.file("labels.csv", &format!("{good}3,,a,2\n"));
    let error = import_error(&session, &file, &ImportChoices::default());
    assert_eq!(error.code(), "bad-rows");
    let reported = error.detail().unwrap();
    assert!(reported.contains("row 5 (line 6), column \"text\""), "{error}: {reported}");
    assert_eq!(info::read(&session.project).unwrap().texts, 0);

    let choices = ImportChoices { skip_bad: true, ..ImportChoices::default() };
    let report = import(&session, &file, &choices);
    assert_eq!((report.texts, report.annotators, report.labels, report.rejected_rows), (2, 2, 4, 1));
    let rejected = std::fs::read_to_string(report.rejected_file.unwrap()).unwrap();
    assert!(rejected.contains("3,,a,2"), "{rejected}");

    // The same file again adds nothing.
    let again = import(&session, &file, &choices);
    assert_eq!((again.texts, again.labels, again.repeated_rows), (0, 0, 4));
}

#[test]
fn repeated_import_does_not_restore_a_replaced_label() {
    let place = TestFolder::new();
    let session = place.project("p");
    let file = place.file("l.csv", "text_id,text,annotator_id,label\n1,one,a,1\n1,one,a,2\n2,two,a,3\n");
    import(&session, &file, &ImportChoices::default());
    import(&session, &file, &ImportChoices::default());
    let (question, annotator) = (
        questions::find(&session.project, None).unwrap().id,
        dissensus_editing::annotators::find(&session.project, "a").unwrap().id,
    );
    assert_eq!(
        task::read(&session.labelling, annotator, question, TextId(1), 1).unwrap().answer,
        Some(Answer::from_level(1)),
        "level \"2\" is current"
    );
}

#[test]
fn preview_reports_problems_before_writing() {
    let place = TestFolder::new();
    let session = place.project("p");
    let file = place.file(
        "l.csv",
        "text_id,text,annotator_id,label,gender\n1,one,a,1,Woman\n1,one,b,2,Man\n2,two,a,5,Woman\n2,two,b,,Man\n",
    );
    let preview = exchange::preview(&session.exchange, &file, &ImportChoices::default()).unwrap();
    assert_eq!(preview.columns.attributes, ["gender"]);
    assert_eq!(
        (preview.new_texts, preview.new_annotators, preview.new_labels, preview.empty_labels),
        (2, 2, 3, 1)
    );
    assert_eq!(preview.scale.unwrap().levels(), ["1", "2", "3", "4", "5"]);
    assert_eq!(preview.level_counts, [1, 1, 0, 0, 1]);
    assert_eq!(info::read(&session.project).unwrap().texts, 0);

    let columns =
        ColumnChoices { text: Some("text".into()), label: Some("label".into()), ..ColumnChoices::default() };
    let choices = ImportChoices { columns: Some(columns), ..ImportChoices::default() };
    let preview = exchange::preview(&session.exchange, &file, &choices).unwrap();
    assert!(preview.problem.unwrap().message.contains("no annotator"));
    assert_eq!(preview.rows.len(), 4);
}

#[test]
fn labels_survive_export_and_import() {
    let place = TestFolder::new();
    let session = place.sample();
    by_name::record(&session.labelling, &LabelByName::new("Zoë \"Z\"", "c001", "4", Some("offensiveness")))
        .unwrap();
    for name in ["all.csv", "all.jsonl"] {
        let file = place.path(name);
        let rows =
            exchange::export(&session.exchange, &file, &ExportChoices::default(), &Silent).unwrap().answers;
        assert_eq!(rows, 2 * 728 + 1);
        let copy = Session::create(&place.path(&format!("{name}.dissensus")), &place.home()).unwrap();
        import(&copy, &file, &ImportChoices::default());
        let again = place.path(&format!("again-{name}"));
        exchange::export(&copy.exchange, &again, &ExportChoices::default(), &Silent).unwrap();
        let sorted = |path: &Path| {
            // Labels given with the command elsewhere are imported labels here.
            let text = std::fs::read_to_string(path).unwrap().replace("command", "import");
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&file), sorted(&again), "{name}");
        assert_eq!(info::read(&copy.project).unwrap().questions.len(), 2);
    }
    let taken =
        exchange::export(&session.exchange, &place.path("all.csv"), &ExportChoices::default(), &Silent)
            .unwrap_err();
    assert_eq!(taken.code(), "export-exists");
    let format =
        exchange::export(&session.exchange, &place.path("all.docx"), &ExportChoices::default(), &Silent)
            .unwrap_err();
    assert_eq!(format.code(), "file-format");
}

#[test]
fn second_program_can_only_read() {
    let place = TestFolder::new();
    let session = place.sample();
    let path = place.path("sample.dissensus");
    assert_eq!(Session::open(&path, &place.home()).err().unwrap().code(), "project-locked");
    let reader = Session::open_to_read(&path, &place.home()).unwrap();
    by_name::record(&session.labelling, &LabelByName::new("ana", "c150", "4", Some("offensiveness")))
        .unwrap();
    assert_eq!(info::read(&reader.project).unwrap().labels, 2 * 728 + 1);
    let error =
        by_name::record(&reader.labelling, &LabelByName::new("sim-ada", "c150", "4", Some("offensiveness")))
            .unwrap_err();
    assert_eq!(error.code(), "project-opened-to-read");
}

#[test]
fn labels_are_recorded_without_an_encoder() {
    let place = TestFolder::new();
    let session = place.sample();
    let problem = session.encoding.state().unwrap().problem.unwrap();
    assert_eq!(problem.code, "encoder-missing");
    let error = session.encoding.ensure_encoded(&Default::default(), &Silent).unwrap_err();
    assert_eq!(error.code(), "encoder-missing");
    let question = questions::find(&session.project, Some("offensiveness")).unwrap().id;
    session.live.fit(question, &Silent).unwrap();
    let ranking = ranking::rank(&session.analysis, &query(&session)).unwrap();
    assert_eq!(ranking.texts.len(), 168);
    assert!(ranking.remark.unwrap().contains("no embeddings"));
}

#[test]
fn filters_choose_annotators_and_texts() {
    let place = TestFolder::new();
    let session = place.sample();
    let mut query = query(&session);
    session.live.fit(query.question, &Silent).unwrap();
    query.attributes.insert("gender".into(), "woman".into());
    let ranking = ranking::rank(&session.analysis, &query).unwrap();
    assert_eq!(ranking.annotators, 4);
    let rows = ranking::read_rows(&session.analysis, &query, &ranking.texts[..3]).unwrap();
    let scores: Vec<_> = rows.iter().map(|row| row.scores.clone().unwrap()).collect();
    assert!(scores.iter().all(|scores| scores.pairwise_interval.0 <= scores.pairwise));
    assert!(scores[0].pairwise >= scores[1].pairwise && scores[1].pairwise >= scores[2].pairwise);
    assert!(rows.iter().all(|row| row.observed.iter().sum::<u32>() <= 4));

    query.search = Some("BUS LANE".into());
    assert!(!ranking::rank(&session.analysis, &query).unwrap().texts.is_empty());
    query.search = None;
    query.labelled_only = true;
    assert!(ranking::rank(&session.analysis, &query).unwrap().texts.len() <= 130);
    query.attributes.insert("gender".into(), "martian".into());
    let error = ranking::rank(&session.analysis, &query).unwrap_err();
    assert!(error.to_string().contains("gender is one of"), "{error}");
}

#[test]
fn stored_model_is_restored_and_updated() {
    let place = TestFolder::new();
    let path = place.path("sample.dissensus");
    let query = {
        let session = place.sample();
        let query = query(&session);
        session.live.fit(query.question, &Silent).unwrap();
        query
    };
    let session = Session::open(&path, &place.home()).unwrap();
    by_name::record(&session.labelling, &LabelByName::new("ana", "c150", "5", Some("offensiveness")))
        .unwrap();
    session.live.fit(query.question, &Silent).unwrap();
    let kept = ranking::rank(&session.analysis, &query).unwrap();
    assert_eq!(kept.annotators, 9);
    let ana = dissensus_editing::annotators::find(&session.project, "ana").unwrap();
    let p = predict::predict(&session.analysis, query.question, ana.id, RequestedText::OfProject("c150"))
        .unwrap()
        .probabilities;
    assert!(p[4] > p[0], "the model has not learned the label given since it was stored: {p:?}");
}

#[test]
fn application_remembers_projects_and_settings() {
    let place = TestFolder::new();
    let app = Application::new(place.home());
    assert!(app.recent_projects().is_empty());
    let info = app.open_sample().unwrap();
    assert!(info.simulated_notice.is_some());
    app.new_project(place.path("study").to_str().unwrap()).unwrap();
    let recent = app.recent_projects();
    assert_eq!(recent.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["study", "Sample"]);
    assert_eq!(recent.iter().map(|p| p.sample).collect::<Vec<_>>(), [false, true]);

    let mut settings = app.settings();
    assert!(settings.snap_to_words);
    settings.break_minutes = 25;
    settings.snap_to_words = false;
    app.save_settings(&settings).unwrap();
    assert_eq!(app.settings().break_minutes, 25);
    assert!(!app.settings().snap_to_words);
    settings.random_share = 1.5;
    assert_eq!(app.save_settings(&settings).unwrap_err().code(), "setting");

    let choices = ProjectChoices { order: TextOrder::Random, ..ProjectChoices::default() };
    choices::save(&app.open_session().unwrap().project, &choices).unwrap();
    app.close_project();
    assert_eq!(app.open_session().err().unwrap().code(), "no-project");
    let path = recent[0].path.clone();
    assert_eq!(app.open_project(&path).unwrap().choices, choices);
    app.forget_recent(&path).unwrap();
    assert_eq!(app.recent_projects().len(), 1);
}

#[test]
fn html_in_texts_and_names_is_plain_text() {
    let place = TestFolder::new();
    let session = place.project("p");
    let evil = "<script>alert(1)</script>";
    let file =
        place.file("l.csv", &format!("text_id,text,annotator_id,label\n{evil},{evil},{evil},0\n2,b,c,1\n"));
    import(&session, &file, &ImportChoices::default());
    let (question, annotator) = (
        questions::find(&session.project, None).unwrap().id,
        dissensus_editing::annotators::find(&session.project, evil).unwrap(),
    );
    let task = task::read(&session.labelling, annotator.id, question, TextId(1), 1).unwrap();
    assert_eq!((task.body.as_str(), task.external_id.as_str(), annotator.name.as_str()), (evil, evil, evil));
    assert_eq!(
        dissensus_editing::annotators::add(&session.project, "a\nb", &Default::default()).unwrap_err().code(),
        "name"
    );
    assert_eq!(
        dissensus_editing::annotators::add(&session.project, "  ", &Default::default()).unwrap_err().code(),
        "name"
    );
}

#[test]
fn projects_with_one_or_no_label_work() {
    let place = TestFolder::new();
    let session = place.project("p");
    let file = place.file("l.csv", "text_id,text,annotator_id,label\n1,one,a,yes\n2,two,b,\n");
    let choices = ImportChoices { levels: Some(vec!["no".into(), "yes".into()]), ..ImportChoices::default() };
    import(&session, &file, &choices);
    let question = questions::find(&session.project, None).unwrap().id;
    session.live.fit(question, &Silent).unwrap();
    let report = annotators::measure(&session.analysis, question).unwrap();
    assert_eq!(report.annotators.iter().map(|a| a.labels).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(report.alpha, None);
    let new = NewLabel {
        question,
        annotator: dissensus_editing::annotators::find(&session.project, "b").unwrap().id,
        text: TextId(2),
        answer: Answer::from_level(0),
        duration_ms: None,
    };
    assert_eq!(
        record::record_label(&session.labelling, RecordLabel::new(&new, LabelSource::Command))
            .unwrap()
            .receipt
            .progress
            .done,
        1
    );
}

#[test]
fn question_added_in_an_open_window_gets_a_model() {
    let place = TestFolder::new();
    let session = place.sample();
    session.background.start();
    let scale = Scale::new(ScaleKind::Ordinal, ["not", "a little", "very"]).unwrap();
    let question =
        questions::add(&session.project, AddQuestion::new("funny", "Is it funny?", scale)).unwrap().id;
    let query = DisagreementQuery { question, ..query(&session) };
    let started = std::time::Instant::now();
    while ranking::rank(&session.analysis, &query).unwrap().texts.is_empty() {
        assert!(started.elapsed().as_secs() < 60, "no model came");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(ranking::rank(&session.analysis, &query).unwrap().texts.len(), 168);
}

#[test]
fn single_person_has_no_disagreement_ranking() {
    let place = TestFolder::new();
    let session = place.project("p");
    let file = place.file("t.csv", "text_id,text\na,one\nb,two\n");
    import(&session, &file, &ImportChoices::default());
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    let question =
        questions::add(&session.project, AddQuestion::new("rude", "Is it rude?", scale)).unwrap().id;
    session.live.fit(question, &Silent).unwrap();
    let pairwise = DisagreementQuery {
        question,
        by: DisagreementMeasure::Split,
        cut: None,
        groups: None,
        search: None,
        attributes: Default::default(),
        labelled_only: false,
    };
    let alone = |by: DisagreementMeasure| {
        let ranking =
            ranking::rank(&session.analysis, &DisagreementQuery { by, ..pairwise.clone() }).unwrap();
        (ranking.texts.len(), ranking.remark)
    };
    let (texts, remark) = alone(DisagreementMeasure::Pairwise);
    assert!(texts == 0 && remark.unwrap().contains("nobody yet"));
    dissensus_editing::annotators::add(&session.project, "Ana", &Default::default()).unwrap();
    let (texts, remark) = alone(DisagreementMeasure::Divergence);
    assert!(texts == 0 && remark.unwrap().contains("one person"));
    assert_eq!(alone(DisagreementMeasure::Uncertainty).0, 2);
    dissensus_editing::annotators::add(&session.project, "Bo", &Default::default()).unwrap();
    assert_eq!(alone(DisagreementMeasure::Pairwise).0, 2);
}

#[test]
fn evaluation_counts_labelled_texts() {
    let place = TestFolder::new();
    let session = place.sample();
    let choices = EvaluateChoices {
        question: Some("offensiveness".to_owned()),
        models: vec![ModelKind::Majority],
        split: "by-text:0.7".parse().unwrap(),
        seed: 0,
        at_least: None,
        tuning: "frozen".into(),
        encoder: on_cpu(),
        prediction_sets: false,
        without_slips: false,
    };
    let split = evaluate_levels(&session.analysis, &choices, &Silent).unwrap().split;
    // 130 of the 168 comments have labels.
    assert_eq!(split.train_texts + split.test_texts, 130, "{split:?}");
    assert_eq!(split.train_labels + split.test_labels, 728);
}

#[test]
fn sets_of_options_work_from_import_to_export() {
    let place = TestFolder::new();
    let session = place.project("p");
    let mut rows = String::new();
    for text in 0..12 {
        for annotator in 0..3 {
            let list = [r#"["rude"]"#, r#"["threat","rude"]"#, "[]", r#""threat""#][(text + annotator) % 4];
            rows += &format!(
                "{{\"id\":\"t{text}\",\"text\":\"body {text}\",\"annotator\":\"a{annotator}\",\"label\":{list}}}\n"
            );
        }
    }
    let file = place.file("sets.jsonl", &rows);
    let choices = ImportChoices { question: Some("harm".into()), ..ImportChoices::default() };
    let preview = exchange::preview(&session.exchange, &file, &choices).unwrap();
    let scale = preview.scale.unwrap();
    assert_eq!(scale, Scale::new(ScaleKind::MultiLabel, ["rude", "threat"]).unwrap());
    assert_eq!(preview.level_counts, [18, 18]);
    import(&session, &file, &choices);
    by_name::record(&session.labelling, &LabelByName::new("a0", "t0", "threat; rude", None)).unwrap();
    let refused = by_name::record(&session.labelling, &LabelByName::new("a0", "t1", "rude; nice", None))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("rude, threat"), "{refused}");

    let asked = info::read(&session.project).unwrap().questions.remove(0);
    session.live.fit(asked.id, &Silent).unwrap();
    assert_eq!(asked.options.len(), 2);
    let asked = DisagreementQuery {
        question: asked.options[1].id,
        by: DisagreementMeasure::Split,
        cut: None,
        groups: None,
        search: None,
        attributes: Default::default(),
        labelled_only: false,
    };
    assert_eq!(ranking::rank(&session.analysis, &asked).unwrap().texts.len(), 12);
}

#[test]
fn project_opens_if_recent_list_is_not_writable() {
    let place = TestFolder::new();
    let (first, second) = (place.path("first.dissensus"), place.path("second.dissensus"));
    for path in [&first, &second] {
        Session::create(path, &place.home()).unwrap();
    }
    let workbench = Application::new(place.home());
    workbench.open_project(&first.to_string_lossy()).unwrap();
    // A folder of that name cannot be replaced by a file, by any means.
    std::fs::remove_file(place.path("home/recent.json")).unwrap();
    std::fs::create_dir_all(place.path("home/recent.json/in the way")).unwrap();
    let info = workbench.open_project(&second.to_string_lossy()).unwrap();
    assert_eq!(info.name, "second");
    assert_eq!(workbench.session().unwrap().project.path().file_name(), second.file_name());
    let missing = place.path("missing.dissensus");
    assert!(workbench.open_project(&missing.to_string_lossy()).is_err());
    assert_eq!(workbench.project().unwrap().unwrap().name, "second", "the open project stays open");
}

#[test]
fn place_of_a_project_is_asked_once_for_each_opening() {
    let folder = TestFolder::new();
    let synced = |session: &Session| info::read(&session.project).unwrap().sync_notice.is_some();
    let session = folder.project("p");
    assert!(!synced(&session));
    // A share that hangs by now would hold up this question.
    std::fs::create_dir(folder.path(".stfolder")).unwrap();
    assert!(!synced(&session));
    drop(session);
    assert!(synced(&Session::open(&folder.path("p.dissensus"), &folder.home()).unwrap()));
}
