//! Scores of models on the words that people mark.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{OpenSession, on_cpu, tiny};
use dissensus_analysis::evaluation;
use dissensus_analysis::{EvaluateChoices, QuestionEvaluation, SpanEvaluationReport};
use dissensus_app::session::Session;
use dissensus_domain::{Answer, LevelId, ScaleKind, Span, SpanSet};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_selection::evaluation::SplitSpec;
use dissensus_stats::data::ModelKind;
use dissensus_test_support::TestProject;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

const TEXTS: u32 = 120;
const PEOPLE: u32 = 6;

fn body(text: u32) -> String {
    let word = ["good", "bad", "fair", "work", "here"][text as usize % 5];
    format!("this comment is {word} and {text}")
}

/// All mark "bad" as an insult, but each person omits every seventh; two of six mark every word with the
/// second type too.
fn marks(text: u32, who: u32) -> Answer {
    let mut spans = Vec::new();
    if text % 5 == 1 && !(text + who).is_multiple_of(7) {
        spans.push(Span { start: 16, end: 19, kind: LevelId(0) });
    }
    if who <= 2 {
        spans.push(Span { start: 0, end: body(text).chars().count() as u32, kind: LevelId(1) });
    }
    Answer::Spans(SpanSet::new(spans).unwrap())
}

fn project(folder: &Path) -> Session {
    let who = |text: u32| (1..=PEOPLE).filter(move |who| (text + who).is_multiple_of(2));
    let session = TestProject::new()
        .question("where", ScaleKind::Spans, ["insult", "all"])
        .texts_with(TEXTS, body)
        .annotators((1..=PEOPLE).map(|who| format!("p{who}")))
        .answers((1..=TEXTS).flat_map(|text| who(text).map(move |who| (text, who, marks(text, who)))))
        .session(&folder.join("p.dissensus"));
    session.encoding.encode(&tiny(), &Silent).unwrap();
    session
}

fn evaluated(
    session: &Session,
    models: &[ModelKind],
    split: SplitSpec,
    progress: &dyn Progress,
) -> Result<SpanEvaluationReport, ProjectError> {
    let choices = EvaluateChoices {
        question: Some("where".to_owned()),
        models: models.to_vec(),
        split,
        seed: 3,
        at_least: None,
        tuning: "frozen".to_owned(),
        encoder: on_cpu(),
        prediction_sets: false,
        without_slips: false,
    };
    match evaluation::evaluate(&session.analysis, &choices, progress)? {
        QuestionEvaluation::Spans(found) => Ok(*found),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_model_is_scored_on_the_same_words() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path());
    let found = evaluated(&session, &ModelKind::ALL, SplitSpec::ByText(0.7), &Silent).unwrap();
    let names: Vec<&str> = found.models.iter().map(|one| one.model.as_str()).collect();
    let all: Vec<&str> = ModelKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(names, all);
    let of = |name: &str| &found.models.iter().find(|one| one.model == name).unwrap().scores;
    let decisions = of("shared").n_decisions;
    for model in found.models.iter().chain(&found.baselines) {
        assert_eq!(model.scores.n_decisions, decisions, "{}", model.model);
    }
    // The person who marks everything is recognised by all models that know people, and by no other.
    for name in ["sep-heads", "share-rec-ffn", "share-rec-dcn", "multilevel"] {
        let (own, shared) = (of(name).types[1].token_log_loss, of("shared").types[1].token_log_loss);
        assert!(own < 0.7 * shared, "{name}: {own} against {shared}");
    }
}

#[test]
fn figures_and_their_differences_from_the_frequency_of_words_have_intervals() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path());
    let models = [ModelKind::Shared, ModelKind::Multilevel];
    let found = evaluated(&session, &models, SplitSpec::ByText(0.5), &Silent).unwrap();
    for model in found.models.iter().chain(&found.baselines) {
        let (low, high) = model.intervals["token_log_loss"];
        assert!(low <= model.scores.token_log_loss && model.scores.token_log_loss <= high, "{model:?}");
    }
    let differences = &found.differences;
    assert_eq!((differences.less.as_str(), differences.confidence), ("word-frequency", 0.95));
    let names: Vec<&str> = differences.models.iter().map(|one| one.model.as_str()).collect();
    assert_eq!(names, ["shared", "multilevel", "annotator-rate"]);
    let of = |model: &str| {
        let all = found.models.iter().chain(&found.baselines);
        all.clone().find(|one| one.model == model).map(|one| one.scores.token_log_loss).unwrap()
    };
    for one in &differences.models {
        let expected = of(&one.model) - of("word-frequency");
        assert!((one.of["token_log_loss"].difference - expected).abs() < 1e-12, "{one:?}");
    }
    // The rate model does not know words: that it is worse is certain.
    assert!(differences.models[2].of["token_log_loss"].low.unwrap() > 0.0, "{differences:?}");
    let json = serde_json::to_value(&found).unwrap();
    assert!(json["models"][0]["intervals"]["token_log_loss"][1].is_f64(), "{json}");
    assert!(json["differences"]["models"][0]["of"]["token_log_loss"]["low"].is_f64(), "{json}");
}

#[test]
fn folds_are_pooled_and_networks_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let session = project(folder.path());
    let split = "k-fold:3".parse().unwrap();
    let found = evaluated(&session, &[ModelKind::ShareRecFfn], split, &Silent).unwrap();
    let words = 6 * u64::from(TEXTS) * u64::from(PEOPLE) / 2;
    assert_eq!(found.models[0].scores.n_decisions, words);

    struct Stopping(AtomicUsize);
    impl Progress for Stopping {
        fn report(&self, _: u64, _: Option<u64>, what: &str) {
            self.0.fetch_add(usize::from(what == "share-rec-dcn"), Ordering::Relaxed);
        }
        fn cancelled(&self) -> bool {
            self.0.load(Ordering::Relaxed) > 2
        }
    }
    let stopping = Stopping(AtomicUsize::new(0));
    let stopped =
        evaluated(&session, &[ModelKind::ShareRecDcn], SplitSpec::ByText(0.7), &stopping).unwrap_err();
    assert!(matches!(stopped, ProjectError::Cancelled), "{stopped}");
}
