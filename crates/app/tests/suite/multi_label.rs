//! Questions with any of many options: each option is learned and reported as a separate yes/no question.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{
    OpenSession, TestFolder, evaluate_levels, evaluate_options, import, on_cpu, open, option_agreement,
};
use dissensus_analysis::aggregation;
use dissensus_analysis::agreed_texts;
use dissensus_analysis::agreement;
use dissensus_analysis::annotators;
use dissensus_analysis::multi_label;
use dissensus_analysis::plan;
use dissensus_analysis::predict::RequestedText;
use dissensus_analysis::ranking;
use dissensus_analysis::repeats;
use dissensus_analysis::set_distances;
use dissensus_analysis::slips;
use dissensus_analysis::text_detail;
use dissensus_analysis::{EvaluateChoices, OptionPrediction, PlanChoices, SlipChoices, TextOptions};
use dissensus_api::{
    DisagreementMeasure, DisagreementQuery, ImportChoices, NewLabel, SummaryOf, SummaryRequest, TextOrder,
};
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, Answer, LabelSource, OptionSet, Question, ScaleKind, TextId};
use dissensus_editing::questions;
use dissensus_editing::reveal;
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_labelling::marks;
use dissensus_labelling::next_text;
use dissensus_labelling::record;
use dissensus_labelling::record::RecordLabel;
use dissensus_labelling::task;
use dissensus_labelling::undo;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_stats::data::ModelKind;
use dissensus_test_support::TestProject;
use dissensus_training::runs;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use std::sync::Arc;

const OPTIONS: usize = 12;

/// 20 texts, four annotators who answered 16 of them, and `options` options. The first one was never chosen,
/// the last one always.
fn labelled(place: &TestFolder, options: usize) -> (Session, Question) {
    let answer = |text, annotator| (text, annotator, Answer::Options(set(text, annotator, options as u32)));
    let session = (0..20)
        .fold(TestProject::new(), |project, n| project.text(&format!("t{n}"), &format!("body number {n}")))
        .question("topics", ScaleKind::MultiLabel, (0..options).map(|n| format!("option {n}")))
        .annotators(["ana", "ben", "cleo", "dora"])
        .answers((1..=16).flat_map(|text| (1..=4).map(move |annotator| answer(text, annotator))))
        .session(&place.path("p.dissensus"));
    let question = questions::find(&session.project, None).unwrap();
    (session, question)
}

/// Options 1, 2, ... in turn, and always the last.
fn set(text: u32, annotator: u32, options: u32) -> OptionSet {
    let middle = |option: u32| (text * 7 + annotator * 3 + option * 5).is_multiple_of(3);
    let chosen = (1..options).filter(|option| *option == options - 1 || middle(*option));
    OptionSet::new(chosen.map(|option| option as u8)).unwrap()
}

fn record(session: &Session, question: &Question, (text, annotator): (u32, u32), answer: OptionSet) {
    let (text, annotator, answer) = (TextId(text), AnnotatorId(annotator), Answer::Options(answer));
    let new = NewLabel { question: question.id, text, annotator, answer, duration_ms: None };
    record::record_label(&session.labelling, RecordLabel::new(&new, LabelSource::Command)).unwrap();
}

fn predicted(session: &Session, question: &Question, annotator: u32, text: &str) -> Vec<f32> {
    let found = multi_label::predict(
        &session.analysis,
        question,
        AnnotatorId(annotator),
        RequestedText::OfProject(text),
    )
    .unwrap();
    found.iter().map(|OptionPrediction { probability, .. }| *probability).collect()
}

fn furthest(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

fn asking(question: &Question) -> DisagreementQuery {
    DisagreementQuery {
        question: question.id,
        by: DisagreementMeasure::Pairwise,
        cut: None,
        groups: None,
        search: None,
        attributes: Default::default(),
        labelled_only: false,
    }
}

#[test]
fn retracted_label_is_unlearned_for_every_option() {
    let place = TestFolder::new();
    let (session, question) = labelled(&place, OPTIONS);
    reveal::set(&session.project, true).unwrap();
    session.live.fit(question.id, &Silent).unwrap();
    let before = predicted(&session, &question, 1, "t17");
    assert_eq!(before.len(), OPTIONS);
    let ana = AnnotatorId(1);
    let new = NewLabel {
        question: question.id,
        text: TextId(18),
        annotator: ana,
        answer: Answer::Options(OptionSet::new([0, 3]).unwrap()),
        duration_ms: None,
    };
    let shown = record::record_label(&session.labelling, &new).unwrap().receipt.reveal.unwrap();
    // The revealed prediction did not learn from the answer that it is compared with.
    assert_eq!(shown.mine, before);
    assert_eq!((shown.others.len(), shown.annotators, shown.observed), (OPTIONS, 3, None));
    let after = predicted(&session, &question, 1, "t17");
    for option in 0..OPTIONS {
        let up = after[option] > before[option];
        assert_eq!(up, [0, 3].contains(&option), "option {option}: {} to {}", before[option], after[option]);
    }
    let task = task::read(&session.labelling, ana, question.id, TextId(18), 1).unwrap();
    assert_eq!(task.answer, Some(new.answer));
    let undone = undo::undo(&session.labelling, ana, question.id, LabelSource::Window).unwrap().unwrap();
    assert_eq!((undone.text, undone.now), (TextId(18), None));
    let again = predicted(&session, &question, 1, "t17");
    assert!(furthest(&before, &again) < 1e-3, "{before:?} and {again:?}");
}

#[test]
fn constant_options_have_finite_figures() {
    let place = TestFolder::new();
    let (session, question) = labelled(&place, OPTIONS);
    session.live.fit(question.id, &Silent).unwrap();
    let p = predicted(&session, &question, 2, "t17");
    assert!(p.iter().all(|p| p.is_finite() && (0.0..=1.0).contains(p)), "{p:?}");
    assert!(p[0] < 0.2 && p[OPTIONS - 1] > 0.8, "{p:?}");
    let (texts, all) = multi_label::rank(&session.analysis, &question, 100, None).unwrap();
    assert_eq!((texts.len(), all), (20, 20));
    assert!(texts.iter().all(|text| text.pairwise.is_finite() && text.options.len() == OPTIONS));
    assert!(texts.windows(2).all(|pair| pair[0].pairwise >= pair[1].pairwise));
    for text in &texts {
        let mean = text.options.iter().sum::<f32>() / OPTIONS as f32;
        assert!((text.pairwise - mean).abs() < 1e-6);
    }
    // Where everyone has answered, the distance is that of their answers; text 16 is the last of these.
    let sixteenth = texts.iter().find(|text| text.text_id == "t15").unwrap();
    let distance = |a: u32, b: u32| {
        let (a, b) = (set(16, a, OPTIONS as u32), set(16, b, OPTIONS as u32));
        dissensus_stats::agreement::masi_distance(a, b)
    };
    let pairs = [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)];
    let mean = pairs.iter().map(|&(a, b)| distance(a, b)).sum::<f64>() / 6.0;
    assert!((sixteenth.masi.unwrap() - mean).abs() < 1e-6, "{:?} and {mean}", sixteenth.masi);
    assert!(texts.iter().all(|text| text.masi.is_some_and(|masi| (0.0..=1.0).contains(&masi))));
    // Sixteen texts are too few to estimate correlations between options: the distances are unchanged, with
    // a note.
    let together = set_distances::measure(&session.analysis, &question, &Silent).unwrap().unwrap();
    assert_eq!((together.factors_of(), together.correlations.gain), (None, None));
    assert_eq!(
        multi_label::rank(&session.analysis, &question, 100, Some(&together)).unwrap().0[3].masi,
        texts[3].masi
    );
    let words = dissensus_api::distances_together(&together, question.scale.levels());
    assert!(words.contains("independent of each other"), "{words}");
    let agreements = option_agreement(&session.analysis, &question).unwrap();
    let first = &agreements.options[0];
    assert_eq!(
        (first.chosen, first.agreement.alpha),
        (Some(0.0), None),
        "one level only: alpha is not defined"
    );
    assert_eq!(agreements.options[OPTIONS - 1].chosen, Some(1.0));
    let defined: Vec<f64> = agreements.options.iter().filter_map(|option| option.agreement.alpha).collect();
    let mean = defined.iter().sum::<f64>() / defined.len() as f64;
    assert_eq!((defined.len(), agreements.mean_alpha), (OPTIONS - 2, Some(mean)));
    // 16 texts are too few for an interval.
    assert!(agreements.alpha_masi.value.is_some() && agreements.alpha_masi.interval.is_none());
}

#[test]
fn sixty_four_options_are_answered_and_learned() {
    let place = TestFolder::new();
    let (session, question) = labelled(&place, 64);
    session.live.refit(question.id, &Silent).unwrap();
    let all = OptionSet::from_bits(u64::MAX);
    record(&session, &question, (17, 1), all);
    let now = predicted(&session, &question, 1, "t18");
    assert_eq!(now.len(), 64);
    session.close();
    // Stored with the project and updated: the same to the last displayed digit.
    let session = open(&place.path("p.dissensus"));
    session.live.fit(question.id, &Silent).unwrap();
    let again = predicted(&session, &question, 1, "t18");
    assert!(furthest(&now, &again) < 1e-4, "{now:?} and {again:?}");
    let task = task::read(&session.labelling, AnnotatorId(1), question.id, TextId(17), 1).unwrap();
    assert_eq!(task.answer, Some(Answer::Options(all)));
    let active = session.live.active_model(question.id).unwrap();
    assert_eq!(active.labels, 65);
    assert!(active.fitted_on.is_some());
}

/// Every figure is of one option; there is none of the whole question, in particular none of its first
/// option or of its sets.
#[test]
fn figures_of_a_whole_question_suggest_an_option() {
    let place = TestFolder::new();
    let (session, question) = labelled(&place, 3);
    session.live.fit(question.id, &Silent).unwrap();
    let (live, runs, analysis) = (&session.live, &session.runs, &session.analysis);
    let id = question.id;
    let refused: Vec<Result<(), ProjectError>> = vec![
        ranking::rank(analysis, &asking(&question)).map(drop),
        ranking::read_rows(analysis, &asking(&question), &[TextId(1)]).map(drop),
        text_detail::read(analysis, &asking(&question), TextId(1), None, None, true).map(drop),
        annotators::measure(analysis, id).map(drop),
        annotators::report_known(analysis, id).map(drop),
        agreement::measure_target(analysis, id).map(drop),
        aggregation::estimate_reliability(analysis, id, &Silent).map(drop),
        aggregation::compare_pairs(analysis, id, 1).map(drop),
        aggregation::aggregate_labels(analysis, id, "majority", &Silent).map(drop),
        plan::make(analysis, id, PlanChoices::default(), &Silent).map(drop),
        slips::find(analysis, id, SlipChoices::default(), &Silent).map(drop),
        repeats::report(analysis, id).map(drop),
        agreed_texts::nearest(analysis, id, TextId(1)).map(drop),
    ];
    for (at, result) in refused.into_iter().enumerate() {
        let error = result.err().unwrap_or_else(|| panic!("figure {at} was given"));
        assert_eq!(error.code(), "one-option", "{at}: {error}");
        assert!(error.to_string().contains("\"topics: option 0\""), "{error}");
    }
    // A training run of the question is one of all its options.
    assert_eq!(runs::choices_for(runs, id, ModelKind::ShareRecFfn, "frozen").unwrap().question, id);
    let option = questions::find(&session.project, Some("topics: option 1")).unwrap();
    assert_eq!(option.id, id.of_option(1));
    assert!(live.active_model(option.id).unwrap().fitted_on.is_some());
    let asked = asking(&option);
    let ranking = ranking::rank(analysis, &asked).unwrap();
    assert_eq!(ranking.texts.len(), 20);
    let rows = ranking::read_rows(analysis, &asked, &ranking.texts).unwrap();
    let first = rows.iter().find(|row| row.text == TextId(1)).unwrap();
    let yes = (1..=4).filter(|annotator| set(1, *annotator, 3).contains(1)).count() as u32;
    assert_eq!(first.observed, [4 - yes, yes]);
    let detail = text_detail::read(analysis, &asked, TextId(1), None, None, true).unwrap();
    for person in &detail.annotators {
        let has = set(1, person.annotator.0, 3).contains(1);
        assert_eq!(person.observed, Some(Answer::from_level(u16::from(has))), "{}", person.name);
    }
    annotators::measure(analysis, option.id).unwrap();
    plan::make(analysis, option.id, PlanChoices::default(), &Silent).unwrap();
}

/// A question as a whole is scored by sets; every option has the same scores as on its own, on the same
/// texts.
#[test]
fn multi_label_question_is_evaluated_by_sets() {
    let place = TestFolder::new();
    let (session, question) = labelled(&place, 4);
    let choices = EvaluateChoices {
        question: None,
        models: vec![ModelKind::Shared, ModelKind::Multilevel],
        split: "by-text:0.6".parse().unwrap(),
        seed: 3,
        at_least: None,
        tuning: "frozen".into(),
        encoder: on_cpu(),
        prediction_sets: false,
        without_slips: false,
    };
    let whole = evaluate_options(&session.analysis, &choices, &Silent).unwrap();
    assert_eq!(whole.options, question.scale.levels());
    for (at, option) in question.options().iter().enumerate() {
        let choices = EvaluateChoices { question: Some(option.name.clone()), ..choices.clone() };
        let alone = evaluate_levels(&session.analysis, &choices, &Silent).unwrap();
        assert_eq!(alone.split.test_labels, whole.split.test_labels);
        for (model, alone) in whole.models.iter().zip(&alone.models) {
            assert_eq!(model.as_questions[at], *alone, "{}", option.name);
        }
        for (baseline, alone) in whole.baselines.iter().zip(&alone.baselines) {
            assert_eq!(baseline.as_questions[at], *alone, "{}", option.name);
        }
    }
    for model in whole.models.iter().chain(&whole.baselines) {
        assert_eq!(model.likely.answers, whole.split.test_labels, "{}", model.model);
        // Options that all or none chose are predicted without reading.
        assert_eq!(model.likely.options[3].f1, Some(1.0), "{}", model.model);
        assert_eq!(model.likely.options[0].f1, None, "{}", model.model);
        let losses: Vec<f64> = model.as_questions.iter().filter_map(|one| one.scores.log_loss).collect();
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        assert!(model.log_loss.is_none_or(|loss| (loss - mean).abs() < 1e-6), "{}", model.model);
    }
    // One answer and no probabilities.
    assert_eq!(whole.baselines[0].log_loss, None);
    let refused =
        |choices: EvaluateChoices| evaluate_options(&session.analysis, &choices, &Silent).unwrap_err().code();
    let stratified = "stratified:0.6".parse().unwrap();
    assert_eq!(refused(EvaluateChoices { split: stratified, ..choices.clone() }), "stratified-options");
    assert_eq!(refused(EvaluateChoices { prediction_sets: true, ..choices.clone() }), "one-option");
    assert_eq!(refused(EvaluateChoices { tuning: "full".into(), ..choices.clone() }), "one-option");
    // No text has a group: an ordinary split would be called a split by groups.
    let grouped = EvaluateChoices { split: "grouped:0.7".parse().unwrap(), ..choices.clone() };
    assert_eq!(refused(grouped), "split");
    assert_eq!(refused(EvaluateChoices { split: "column".parse().unwrap(), ..choices }), "split");
}

/// 400 texts, 100 of them official test texts, whose answers have *sad* and *tired* together or *glad*;
/// with `turned` those of the test are reversed.
fn going_together(place: &TestFolder, turned: bool) -> Session {
    let session = place.project("p");
    let row = |n: u32| {
        let test = n.is_multiple_of(4);
        let tired = (n * 7 % 13 < 6) != (turned && test);
        let sets = ["glad", "sad; tired", "glad; new", "sad; tired; new"];
        let set = sets[usize::from(tired) + 2 * usize::from(n % 5 < 2)];
        format!("t{n},body {n},gold,{set},{}\n", if test { "test" } else { "train" })
    };
    let file = place.path("sets.csv");
    let rows: String = (0..400).map(row).collect();
    std::fs::write(&file, format!("text_id,text,annotator_id,label,split\n{rows}")).unwrap();
    import(&session, &file, &ImportChoices::default());
    session
}

/// Options that one annotator always chooses together are used so; this is not learned from test labels,
/// and copies of a text count once.
#[test]
fn option_correlations_ignore_test_labels() {
    let evaluated = |turned: bool| {
        let place = TestFolder::new();
        let session = going_together(&place, turned);
        let choices = EvaluateChoices {
            question: None,
            models: vec![ModelKind::Majority],
            split: "column".parse().unwrap(),
            seed: 1,
            at_least: None,
            tuning: "frozen".into(),
            encoder: on_cpu(),
            prediction_sets: false,
            without_slips: false,
        };
        evaluate_options(&session.analysis, &choices, &Silent).unwrap()
    };
    let found = evaluated(false);
    let [model] = found.models.as_slice() else { panic!("one model") };
    let together = model.together.as_ref().unwrap();
    assert_eq!((together.used, together.divisions, together.learned_from), (1, 1, 120));
    assert!(together.gain.unwrap() > 0.5 && together.test_gain.unwrap() > 0.5, "{together:?}");
    assert!(together.set_log_loss.unwrap() < model.set_log_loss.unwrap() - 0.5);
    assert!((model.set_log_loss.unwrap() - model.log_loss.unwrap() * 4.0).abs() < 1e-9);
    let words = &found.options_together[0];
    assert!(words.contains("sad and tired (+") && words.contains("on 120 held-out answers"), "{words}");
    assert!(found.baselines.iter().all(|one| one.together.is_none()));
    let turned = evaluated(true);
    let of_turned = turned.models[0].together.as_ref().unwrap();
    assert_eq!((&of_turned.pairs, of_turned.gain), (&together.pairs, together.gain));
    assert_ne!(of_turned.test_gain, together.test_gain);
    assert_eq!(turned.options_together, found.options_together);
    // Too little data: options are independent, with a note.
    let place = TestFolder::new();
    let (session, _) = labelled(&place, 4);
    let choices = EvaluateChoices {
        question: None,
        models: vec![ModelKind::Majority],
        split: "k-fold:2".parse().unwrap(),
        seed: 3,
        at_least: None,
        tuning: "frozen".into(),
        encoder: on_cpu(),
        prediction_sets: false,
        without_slips: false,
    };
    let few = evaluate_options(&session.analysis, &choices, &Silent).unwrap();
    let together = few.models[0].together.as_ref().unwrap();
    assert_eq!((together.used, together.divisions, together.gain), (0, 2, None));
    assert!((together.set_log_loss.unwrap() - few.models[0].set_log_loss.unwrap()).abs() < 1e-5);
    assert_eq!(together.likely, few.models[0].likely);
    assert!(few.options_together[0].contains("independent"), "{}", few.options_together[0]);
}

/// Texts with two annotators show whether distances of people follow from correlated options.
#[test]
fn distances_use_option_correlations_if_shown() {
    let place = TestFolder::new();
    let session = going_together(&place, false);
    let question = questions::find(&session.project, None).unwrap();
    session.live.fit(question.id, &Silent).unwrap();
    let one = set_distances::measure(&session.analysis, &question, &Silent).unwrap().unwrap();
    // One annotator: correlations between options are estimated, and distances are not.
    assert!(one.correlations.factors.factors() > 0);
    assert_eq!((one.factors_of(), one.texts), (None, 0));
    let words = dissensus_api::distances_together(&one, question.scale.levels());
    assert!(
        words.contains("sad and tired (+") && words.contains("held-out texts that two people"),
        "{words}"
    );
    // A second annotator with the same combinations, on other texts; a third one without answers.
    dissensus_editing::annotators::add(&session.project, "ana", &Default::default()).unwrap();
    dissensus_editing::annotators::add(&session.project, "new", &Default::default()).unwrap();
    for text in 1..=400_u32 {
        let sets = ["glad", "sad; tired", "glad; new", "sad; tired; new"];
        let set = sets[usize::from(text * 11 % 17 < 8) + 2 * usize::from(text * 3 % 7 < 3)];
        let level =
            |name: &str| question.scale.levels().iter().position(|level| level == name).unwrap() as u8;
        let set = OptionSet::new(set.split("; ").map(level)).unwrap();
        record(&session, &question, (text, 2), set);
    }
    session.live.fit(question.id, &Silent).unwrap();
    let two = set_distances::measure(&session.analysis, &question, &Silent).unwrap().unwrap();
    assert!(two.texts >= 150, "{}", two.texts);
    let (with, _) = multi_label::rank(&session.analysis, &question, 30, Some(&two)).unwrap();
    let (without, _) = multi_label::rank(&session.analysis, &question, 30, None).unwrap();
    // The missing answers of the third annotator are correlated too.
    assert!(two.factors_of().is_some(), "{}", two.texts);
    let words = dissensus_api::distances_together(&two, question.scale.levels());
    assert!(words.contains("in what one person answers"), "{words}");
    let apart = |(a, b): (&TextOptions, &TextOptions)| (a.masi.unwrap() - b.masi.unwrap()).abs();
    assert!(with.iter().zip(&without).map(apart).fold(0.0, f64::max) > 0.005, "{with:?} {without:?}");
}

#[test]
fn multi_label_question_is_answered_as_a_whole() {
    let place = TestFolder::new();
    let (session, question) = labelled(&place, 3);
    let option = question.id.of_option(1);
    let new = NewLabel {
        question: option,
        text: TextId(1),
        annotator: AnnotatorId(1),
        answer: Answer::from_level(1),
        duration_ms: None,
    };
    let labelling = &session.labelling;
    let (ana, text) = (AnnotatorId(1), TextId(1));
    for error in [
        record::record_label(labelling, &new).unwrap_err(),
        undo::undo(labelling, ana, option, LabelSource::Window).unwrap_err(),
        marks::skip(labelling, ana, option, text).unwrap_err(),
        task::read(labelling, ana, option, text, 1).unwrap_err(),
        next_text::choose(labelling, ana, option, TextOrder::File, None).unwrap_err(),
        by_name::record(labelling, &LabelByName::new("ana", "t1", "yes", Some("topics: option 1")))
            .unwrap_err(),
    ] {
        assert_eq!(error.code(), "whole-question", "{error}");
        assert!(error.to_string().contains("\"topics\""), "{error}");
    }
    let level = NewLabel { question: question.id, ..new };
    assert_eq!(record::record_label(labelling, &level).unwrap_err().code(), "not-on-scale");
    let beyond = NewLabel { answer: Answer::Options(OptionSet::from_bits(8)), ..level };
    assert_eq!(record::record_label(labelling, &beyond).unwrap_err().code(), "level-removed");
}

#[test]
fn labels_are_aggregated_by_option() {
    let place = TestFolder::new();
    let (session, question) = labelled(&place, 4);
    let found = multi_label::aggregate(&session.analysis, &question, "majority", &Silent).unwrap();
    assert_eq!((found.texts.len(), found.not_converged.len()), (16, 0));
    for (text, row) in (1..=16_u32).zip(&found.texts) {
        assert_eq!((row.text_id.as_str(), row.labels), (format!("t{}", text - 1).as_str(), 4));
        let votes = |option: u8| (1..=4).filter(|who| set(text, *who, 4).contains(option)).count();
        let chosen: Vec<String> =
            (0..4).filter(|option| votes(*option) > 2).map(|option| format!("option {option}")).collect();
        assert_eq!(row.label, chosen.join(" + "), "the last option is always chosen");
        let ties: Vec<String> =
            (0..4).filter(|option| votes(*option) == 2).map(|option| format!("option {option}")).collect();
        assert_eq!(row.ties, ties);
    }
}

/// Answers at random tell an estimation nothing: it stops at the largest number of rounds.
#[test]
fn estimation_that_does_not_converge_is_named() {
    let place = TestFolder::new();
    let mut state = 1_u64;
    let mut at_random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 63 == 1
    };
    let answers: Vec<(u32, u32, Answer)> = (1..=40)
        .flat_map(|text| (1..=3).map(move |annotator| (text, annotator)))
        .map(|(text, annotator)| {
            let random = at_random().then_some(0);
            let clear = (text % 2 == 0).then_some(1);
            (text, annotator, Answer::Options(OptionSet::new(random.into_iter().chain(clear)).unwrap()))
        })
        .collect();
    let session = (0..40)
        .fold(TestProject::new(), |project, n| project.text(&format!("t{n}"), &format!("body number {n}")))
        .question("topics", ScaleKind::MultiLabel, ["random", "clear"])
        .annotators(["ana", "ben", "cleo"])
        .answers(answers)
        .session(&place.path("p.dissensus"));
    let question = questions::find(&session.project, None).unwrap();
    let found = multi_label::aggregate(&session.analysis, &question, "dawid-skene", &Silent).unwrap();
    assert_eq!(found.not_converged, ["random"]);
    let request = SummaryRequest {
        of: SummaryOf::Texts,
        question: None,
        predicted: false,
        aggregate: Some("dawid-skene".to_owned()),
        pseudonyms: false,
    };
    let asked = session.summaries.check(&request, &place.path("texts.csv"), false).unwrap();
    assert_eq!(session.summaries.write(&asked, &Silent).unwrap().not_converged, ["random"]);
}

#[test]
fn model_based_orders_work_with_options() {
    let place = TestFolder::new();
    let (session, question) = labelled(&place, 5);
    session.live.fit(question.id, &Silent).unwrap();
    for order in [TextOrder::Informative, TextOrder::Disagreement] {
        let task =
            next_text::choose(&session.labelling, AnnotatorId(1), question.id, order, None).unwrap().unwrap();
        assert!(task.text.0 > 16, "one that has no answer yet: {:?}", task.text);
    }
}

/// More different sets than a scale has levels: the options are still all found, in any row.
#[test]
fn sets_in_a_file_round_trip_by_option() {
    let place = TestFolder::new();
    let session = place.project("p");
    let names: Vec<String> = (0..20).map(|n| format!("o{n:02}")).collect();
    let mut rows = "text_id,text,annotator,label\n".to_owned();
    for n in 0..300_usize {
        // The last option comes late, after more sets than are stored by name.
        let chosen: Vec<&str> =
            (0..19).filter(|k| (n * (2 * k + 3)) % 7 < 2).map(|k| names[k].as_str()).collect();
        let late = if n > 280 { ";o19" } else { "" };
        let cell = format!("{}{late}", chosen.join(";"));
        rows += &format!("t{n},body {n},a{},{}\n", n % 3, if cell.is_empty() { "none" } else { &cell });
    }
    // Seven sets repeat: vary them by row.
    let rows: String = rows
        .lines()
        .enumerate()
        .map(|(n, line)| match n {
            0 => format!("{line}\n"),
            n if line.contains("none") => format!("{}\n", line.replace("none", &names[n % 19])),
            n => format!("{line};{};{}\n", names[n % 19], names[(n / 19) % 19]),
        })
        .collect();
    let file = place.path("sets.csv");
    std::fs::write(&file, &rows).unwrap();
    let preview = exchange::preview(&session.exchange, &file, &ImportChoices::default()).unwrap();
    let scale = preview.scale.unwrap();
    assert_eq!((scale.kind(), scale.levels()), (ScaleKind::MultiLabel, names.as_slice()));
    let with_last = rows.lines().filter(|line| line.contains("o19")).count() as u32;
    assert_eq!(preview.level_counts[19], with_last);
    import(&session, &file, &ImportChoices::default());
    let written = place.path("again.csv");
    let silent: Arc<dyn Progress> = Arc::new(Silent);
    exchange::export(&session.exchange, &written, &ExportChoices::default(), silent.as_ref()).unwrap();
    let question = questions::find(&session.project, None).unwrap();
    let again = place.project("q");
    import(&again, &written, &ImportChoices::default());
    let copy = questions::find(&again.project, None).unwrap();
    assert_eq!(copy.scale, question.scale);
    for (mine, theirs) in question.options().iter().zip(copy.options()) {
        let share = |session: &Session, whole: &Question| {
            option_agreement(&session.analysis, whole)
                .unwrap()
                .options
                .iter()
                .map(|o| o.chosen)
                .collect::<Vec<_>>()
        };
        assert_eq!(mine.name, theirs.name);
        assert_eq!(share(&session, &question), share(&again, &copy));
    }
    // Importing the same file again adds nothing.
    let preview = exchange::preview(&session.exchange, &file, &ImportChoices::default()).unwrap();
    assert_eq!((preview.new_labels, preview.bad_row_count), (0, 0), "{preview:?}");
}

/// Values that look like sets, but are levels of a choice.
#[test]
fn sets_become_levels_of_a_choice_question() {
    let place = TestFolder::new();
    let session = place.project("p");
    let values = ["rude; threat", "rude", "threat", "rude; lie", "lie"];
    let rows: String = (0..20).map(|n| format!("t{n},body {n},a,{}\n", values[n % 5])).collect();
    let file = place.path("levels.csv");
    std::fs::write(&file, format!("text_id,text,annotator,label\n{rows}")).unwrap();
    let guessed = exchange::preview(&session.exchange, &file, &ImportChoices::default()).unwrap();
    assert_eq!(guessed.scale.unwrap().kind(), ScaleKind::MultiLabel);
    let choices = ImportChoices { scale: Some(ScaleKind::Choice), ..ImportChoices::default() };
    let preview = exchange::preview(&session.exchange, &file, &choices).unwrap();
    assert_eq!((preview.new_labels, preview.level_counts.as_slice()), (20, &[4; 5][..]), "{preview:?}");
    import(&session, &file, &choices);
    let question = questions::find(&session.project, None).unwrap();
    assert_eq!((question.scale.kind(), question.scale.len()), (ScaleKind::Choice, 5));
}
