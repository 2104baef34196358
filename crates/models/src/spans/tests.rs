//! Against scipy and scikit-learn (tools/fixtures/spans.py), and on simulated annotators.

use super::data::{SpanAnswer, SpanTexts, WordFeatures};
use super::head::{Head, HeadData};
use super::head_objective::{Design, Priors, Scaling};
use super::live::LiveSpans;
use super::model::{SpanModel, SpanTraining};
use super::simulated::{Simulated, simulated};
use super::token_scores::{PredictedMarks, TokenScores};
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::{ModelError, ModelKind};
use dissensus_stats::math::random::generator;
use rand_distr::{Distribution as _, StandardNormal};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    annotators: usize,
    types: usize,
    texts: Vec<ReferenceText>,
    answers: Vec<ReferenceAnswer>,
    head: ReferenceHead,
    scores: ReferenceScores,
}

#[derive(Deserialize)]
struct ReferenceText {
    states: Vec<Vec<f32>>,
    forms: Vec<u32>,
}

#[derive(Deserialize)]
struct ReferenceAnswer {
    text: u32,
    annotator: u32,
    marks: Vec<(u32, u64)>,
}

#[derive(Deserialize)]
struct ReferenceHead {
    precisions: ReferencePrecisions,
    loss: f64,
    parameters: Vec<f64>,
    word_scores: Vec<f64>,
    readiness: Vec<f64>,
}

#[derive(Deserialize)]
struct ReferencePrecisions {
    embedding: f64,
    context: f64,
    forms: f64,
    annotators: f64,
}

#[derive(Deserialize)]
struct ReferenceScores {
    thresholds: Vec<f64>,
    probabilities: Vec<Vec<Vec<f32>>>,
    #[serde(flatten)]
    figures: serde_json::Map<String, serde_json::Value>,
}

fn reference() -> (Reference, SpanTexts, Vec<SpanAnswer>) {
    let reference: Reference = serde_json::from_str(include_str!("../../tests/fixtures/spans.json")).unwrap();
    let mut texts = SpanTexts::new(4);
    for text in &reference.texts {
        texts.push(WordFeatures { states: &text.states.concat(), forms: &text.forms }).unwrap();
    }
    let answers = reference
        .answers
        .iter()
        .map(|a| SpanAnswer { text: a.text, annotator: a.annotator, marks: a.marks.clone() })
        .collect();
    (reference, texts, answers)
}

#[test]
fn head_matches_the_scipy_minimum() {
    let (reference, texts, answers) = reference();
    let all: Vec<usize> = (0..answers.len()).collect();
    let rows: Vec<u32> = (0..texts.len() as u32).collect();
    let scaling = Scaling::new(&texts, &rows);
    let design = Design::new(&texts, &answers, &all, reference.annotators, &scaling);
    let ReferencePrecisions { embedding, context, forms, annotators } = reference.head.precisions;
    let priors = Priors {
        embedding,
        context: Some(context),
        forms,
        annotators: Some(annotators),
        constant: reference.head.parameters[0],
    };
    let theirs = &reference.head.parameters;
    assert_eq!(design.parameters(), theirs.len());
    let mut gradient = vec![0.0; theirs.len()];
    let mut scores = Vec::new();
    let loss = design.objective(theirs, &mut gradient, &answers, 0, &priors, &mut scores);
    assert!((loss - reference.head.loss).abs() < 1e-4, "{loss} against {}", reference.head.loss);
    assert!(gradient.iter().all(|g| g.abs() < 1e-3), "{gradient:?}");

    // One round at the variance of the reference, so that it is not re-estimated.
    let data =
        HeadData { texts: &texts, answers: &answers, annotators: reference.annotators, scaling: &scaling };
    let head = Head::at_priors(&design, &data, 0, &priors, &Silent).unwrap();
    let mut room = vec![0.0; 4];
    let words: usize = (0..texts.len() as u32).map(|text| texts.words(text).len()).sum();
    for word in 0..words {
        let (ours, theirs) =
            (head.score(&texts, word, &scaling, &mut room), reference.head.word_scores[word]);
        assert!((ours - theirs).abs() < 5e-3, "word {word}: {ours} against {theirs}");
    }
    for ((ours, _), theirs) in head.readiness.iter().zip(&reference.head.readiness) {
        assert!((ours - theirs).abs() < 5e-3, "{ours} against {theirs}");
    }
}

#[test]
fn gradient_matches_the_loss() {
    let (reference, texts, answers) = reference();
    let all: Vec<usize> = (0..answers.len()).collect();
    let scaling = Scaling::new(&texts, &(0..texts.len() as u32).collect::<Vec<_>>());
    let design = Design::new(&texts, &answers, &all, reference.annotators, &scaling);
    let priors =
        Priors { embedding: 2.0, context: Some(1.0), forms: 0.5, annotators: Some(1.5), constant: -1.0 };
    let mut rng = generator(3, 0);
    let x: Vec<f64> = (0..design.parameters()).map(|_| StandardNormal.sample(&mut rng)).collect();
    let (mut gradient, mut unused, mut scores) = (vec![0.0; x.len()], vec![0.0; x.len()], Vec::new());
    design.objective(&x, &mut gradient, &answers, 1, &priors, &mut scores);
    for at in 0..x.len() {
        let mut at_step = |step: f64| {
            let mut moved = x.clone();
            moved[at] += step;
            design.objective(&moved, &mut unused, &answers, 1, &priors, &mut scores)
        };
        let numeric = (at_step(1e-2) - at_step(-1e-2)) / 2e-2;
        assert!(
            (numeric - gradient[at]).abs() < 2e-2 * (1.0 + gradient[at].abs()),
            "{at}: {numeric} {}",
            gradient[at]
        );
    }
}

#[test]
fn scores_match_scikit_learn() {
    let (reference, texts, answers) = reference();
    let flat: Vec<Vec<f32>> = reference.scores.probabilities.iter().map(|rows| rows.concat()).collect();
    let predicted: Vec<PredictedMarks<'_>> = answers
        .iter()
        .zip(&flat)
        .map(|(answer, probabilities)| PredictedMarks {
            answer,
            probabilities,
            thresholds: &reference.scores.thresholds,
        })
        .collect();
    let ours = serde_json::to_value(TokenScores::new(&texts, &predicted)).unwrap();
    assert_eq!(ours["types"].as_array().unwrap().len(), reference.types);
    assert!(reference.scores.figures.len() >= 10);
    for (name, theirs) in &reference.scores.figures {
        let (ours, theirs) = (ours[name].as_f64().unwrap(), theirs.as_f64().unwrap());
        assert!((ours - theirs).abs() < 1e-6, "{name}: {ours} against {theirs}");
    }
}

#[test]
fn differing_people_are_distinguished() {
    let wide = simulated(300, 20, 1.5, 1);
    let (train, test) = wide.halves();
    let (shared, own) =
        (wide.fit(ModelKind::Shared, &train).unwrap(), wide.fit(ModelKind::Multilevel, &train).unwrap());
    let (of_shared, of_own) = (wide.loss(&shared, &test), wide.loss(&own, &test));
    assert!(of_own < 0.93 * of_shared, "{of_own} against {of_shared}");
    let found: Vec<f64> = (0..20).map(|who| own.effects(Some(who))[0].mean[0]).collect();
    let r = dissensus_stats::metrics::pearson(&found, &wide.readiness).unwrap();
    assert!(r > 0.95, "{r}");
    let deviation = own.report()[0].readiness_deviation.unwrap();
    assert!((1.0..2.2).contains(&deviation), "{deviation}");
    // A person without answers has the population's effects.
    let unknown = own.effects(None)[0];
    assert!((unknown.readiness().1.sqrt() - deviation).abs() < 1e-12);
    assert_eq!(unknown, own.variances()[0].0.unknown());

    let alike = simulated(300, 20, 0.0, 2);
    let (train, test) = alike.halves();
    let own = alike.fit(ModelKind::Multilevel, &train).unwrap();
    assert!(own.report()[0].readiness_deviation.unwrap() < 0.25);
    let shared = alike.fit(ModelKind::Shared, &train).unwrap();
    // A common correction, for example of the slope of a head that is too flat, may be learned anyway.
    let (of_own, of_shared) = (alike.loss(&own, &test), alike.loss(&shared, &test));
    assert!(of_own < of_shared + 0.005, "{of_own} against {of_shared}");
}

#[test]
fn supported_kinds_are_fitted_and_others_refused() {
    let data = simulated(80, 6, 1.0, 3);
    let (train, test) = data.halves();
    for kind in [ModelKind::Majority, ModelKind::Shared, ModelKind::SepHeads, ModelKind::Multilevel] {
        let loss = data.loss(&data.fit(kind, &train).unwrap(), &test);
        assert!((0.1..1.0).contains(&loss), "{kind}: {loss}");
    }
    let refused = data.fit(ModelKind::ShareRecDcn, &train).unwrap_err();
    assert_eq!(refused, ModelError::NotOverWords("share-rec-dcn"));
    assert_eq!(data.fit(ModelKind::Shared, &[]).unwrap_err(), ModelError::NoWords);
}

#[test]
fn test_answers_do_not_affect_the_fit() {
    let mut data = simulated(60, 6, 1.0, 4);
    let (train, test) = data.halves();
    let before = data.fit(ModelKind::Multilevel, &train).unwrap();
    for at in &test {
        data.answers[*at].marks = (0..12).map(|word| (word, 1)).collect();
    }
    let after = data.fit(ModelKind::Multilevel, &train).unwrap();
    assert_eq!(before.effects(Some(0)), after.effects(Some(0)));
    let text = data.answers[test[0]].text;
    let of = |model: &SpanModel| model.probabilities(&data.texts, text, 1, &model.view(&data.texts, text));
    assert_eq!(of(&before), of(&after));
}

#[test]
fn word_repeated_a_thousand_times_is_one_word() {
    let mut texts = SpanTexts::new(2);
    texts.push(WordFeatures { states: &[0.5; 2000], forms: &[3; 1000] }).unwrap();
    let weights: f32 = texts.words(0).map(|word| texts.weight(word)).sum();
    assert!((weights - 1.0).abs() < 1e-3);
}

#[test]
fn inconsistent_data_are_refused() {
    let mut texts = SpanTexts::new(2);
    assert!(texts.push(WordFeatures { states: &[0.0; 3], forms: &[1, 2] }).is_err());
    assert!(texts.push(WordFeatures { states: &[0.0, f32::NAN], forms: &[1] }).is_err());
    texts.push(WordFeatures { states: &[0.0; 4], forms: &[1, 2] }).unwrap();
    let answer =
        |text, annotator, marks: &[(u32, u64)]| SpanAnswer { text, annotator, marks: marks.to_vec() };
    let check = |answer: SpanAnswer| texts.check(&[answer], 2, 2);
    assert!(check(answer(0, 1, &[(0, 1), (1, 3)])).is_ok());
    assert!(check(answer(1, 1, &[])).is_err(), "a text that is not there");
    assert!(check(answer(0, 2, &[])).is_err(), "an annotator that is not there");
    assert!(check(answer(0, 0, &[(2, 1)])).is_err(), "a word that is not there");
    assert!(check(answer(0, 0, &[(0, 4)])).is_err(), "a type that is not there");
    assert!(check(answer(0, 0, &[(1, 1), (0, 1)])).is_err(), "words out of order");
}

#[test]
fn answer_updates_the_model_and_is_reversible() {
    let data = simulated(100, 8, 1.2, 6);
    let all: Vec<usize> = (0..data.answers.len()).collect();
    let model = data.fit(ModelKind::Multilevel, &all).unwrap();
    let rows: Vec<u32> = (0..100).map(|row| row + 1000).collect();
    let mut live = LiveSpans::of_learned(&model, &data.training(&all), &rows).unwrap();
    let named = |answer: &SpanAnswer| SpanAnswer { text: answer.text + 1000, ..answer.clone() };
    live.record_all(data.answers.iter().map(named));
    // The live posterior equals that of the fit.
    for who in 0..8 {
        let (ours, fitted) = (live.effects(who)[0], model.effects(Some(who))[0]);
        for at in 0..3 {
            assert!((ours.mean[at] - fitted.mean[at]).abs() < 1e-4, "{ours:?} {fitted:?}");
        }
    }
    let people: Vec<u32> = (0..8).collect();
    let (before, other) = (live.expected(1000, &people).unwrap(), live.effects(7));
    let own = live.effects(3);
    live.record(SpanAnswer { text: 1000, annotator: 3, marks: (0..12).map(|word| (word, 1)).collect() });
    let after = live.expected(1000, &people).unwrap();
    assert!(live.effects(3)[0].mean[0] > own[0].mean[0]);
    assert_eq!(live.effects(7), other);
    // An annotator who marks all words follows their scores less, which can lower the highest-scoring words.
    let more = after.iter().zip(&before).filter(|(a, b)| a.types[0].marks > b.types[0].marks).count();
    let sum = |words: &[super::ExpectedMarks]| words.iter().map(|word| word.types[0].marks).sum::<f64>();
    assert!(more >= 8 && sum(&after) > sum(&before) + 0.1, "{more} of 12");
    live.retract(3, 1000);
    let again = data.answers.iter().find(|a| (a.text, a.annotator) == (0, 3));
    if let Some(answer) = again {
        live.record(named(answer));
    }
    // The search for a mode starts from the previous one, with nine digits of accuracy.
    let back = live.effects(3)[0].readiness();
    let own = own[0].readiness();
    assert!((back.0 - own.0).abs() < 1e-8 && (back.1 - own.1).abs() < 1e-8, "{back:?} {own:?}");
    for (now, before) in live.expected(1000, &people).unwrap().iter().zip(&before) {
        assert!((now.types[0].marks - before.types[0].marks).abs() < 1e-9, "{now:?} {before:?}");
    }
    assert!(live.expected(7, &people).is_none(), "a text without scores");
}

#[test]
fn unanimous_words_have_no_disagreement() {
    use super::disagreement::word_disagreement;
    let of = |p: &[f64]| word_disagreement(p.iter().copied());
    assert_eq!(of(&[0.0, 0.0]).differ, 0.0);
    assert_eq!(of(&[1.0, 1.0]).pairs, 0.0);
    assert_eq!((of(&[1.0, 0.0]).differ, of(&[1.0, 0.0]).pairs, of(&[1.0, 0.0]).marks), (1.0, 1.0, 0.5));
    // Three people: two of three pairs differ.
    assert!((of(&[1.0, 0.0, 0.0]).pairs - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(of(&[0.4]).pairs, 0.0);
}

/// A head that was trained with its encoder and is overconfident by a factor of two.
#[test]
fn tuned_head_is_calibrated_on_held_out_answers() {
    let data = simulated(300, 12, 1.0, 11);
    let (train, test) = data.halves();
    let (train, held_out) = train.split_at(train.len() * 5 / 6);
    let tuned_on: Vec<bool> = (0..300).map(|text| text < 175).collect();
    let Simulated { texts, answers, readiness, copies } = &data;
    let of = SpanTraining {
        texts,
        answers,
        train,
        annotators: readiness.len(),
        types: 1,
        copies,
        tuned_on: &tuned_on,
    };
    let (weights, constants) = ([3.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0], [-3.0]);
    let fit =
        |validation: &[usize]| SpanModel::of_tuned(&of, validation, &weights, &constants, true).unwrap();
    let (sure, calibrated) = (fit(&[]), fit(held_out));
    let true_size = SpanModel::of_tuned(&of, &[], &weights.map(|w| w / 2.0), &[-1.5], true).unwrap();
    let (of_sure, of_calibrated, of_true) =
        (data.loss(&sure, &test), data.loss(&calibrated, &test), data.loss(&true_size, &test));
    assert!(of_sure > 1.1 * of_true, "{of_sure} {of_true}");
    assert!(of_calibrated < 1.02 * of_true, "{of_calibrated} {of_true}");
    // Stored heads give the same predictions, except for annotators, who are learned from answers.
    let heads = calibrated.type_heads();
    assert!((heads[0].states[0] - 1.5).abs() < 0.25, "{:?}", heads[0].states);
    let json = serde_json::to_string(&heads).unwrap();
    let back = SpanModel::of_type_heads(serde_json::from_str(&json).unwrap()).unwrap();
    let live = |model: &SpanModel| {
        let rows: Vec<u32> = (0..300).collect();
        let mut live = LiveSpans::new(model, texts, &rows).unwrap();
        live.record_all(answers.iter().cloned());
        live.expected(299, &[0, 1, 2]).unwrap()
    };
    assert_eq!(live(&calibrated), live(&back));
    // Missing numbers, or numbers that are not finite.
    assert!(SpanModel::of_tuned(&of, &[], &weights[..7], &constants, true).is_err());
    let broken = weights.map(|_| f32::NAN);
    assert!(SpanModel::of_tuned(&of, &[], &broken, &constants, true).is_err());
    let mut other = heads;
    other.push(super::TypeHead { states: vec![0.0; 3], ..other[0].clone() });
    assert!(SpanModel::of_type_heads(other).is_err());
}

#[test]
fn exported_heads_predict_the_same() {
    let data = simulated(60, 6, 1.5, 13);
    let all: Vec<usize> = (0..data.answers.len()).collect();
    let model = data.fit(ModelKind::Multilevel, &all).unwrap();
    let json = serde_json::to_string(&model.type_heads()).unwrap();
    let away = SpanModel::of_type_heads(serde_json::from_str(&json).unwrap()).unwrap();
    let rows: Vec<u32> = (0..60).collect();
    let mut here = LiveSpans::new(&model, &data.texts, &rows).unwrap();
    here.record_all(data.answers.iter().cloned());
    // A text without answers, whose words therefore have no deviation: the first one under another name.
    let mut fresh = LiveSpans::new(&away, &data.texts, &rows).unwrap();
    let mut last = LiveSpans::new(&model, &data.texts, &rows).unwrap();
    for who in 0..6 {
        fresh.set_effects(who, here.effects(who)).unwrap();
        last.set_effects(who, here.effects(who)).unwrap();
    }
    let people: Vec<u32> = (0..6).collect();
    let (ours, theirs) = (last.expected(7, &people).unwrap(), fresh.expected(7, &people).unwrap());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        let (ours, theirs) = (ours.types[0], theirs.types[0]);
        assert!((ours.marks - theirs.marks).abs() < 1e-6, "{ours:?} {theirs:?}");
        assert!((ours.pairs - theirs.pairs).abs() < 1e-6, "{ours:?} {theirs:?}");
    }
    let most = ours.iter().map(|word| word.types[0].marks).fold(0.0, f64::max);
    let least = ours.iter().map(|word| word.types[0].marks).fold(1.0, f64::min);
    assert!(most > 2.0 * least, "words are alike: {least} to {most}");
    assert!(fresh.set_effects(0, vec![super::OwnEffects::of_readiness(0.0, 1.0); 2]).is_err());
}

#[test]
fn seen_texts_do_not_choose_hyperparameters() {
    let data = simulated(60, 6, 1.0, 12);
    let all: Vec<usize> = (0..data.answers.len()).collect();
    let tuned_on: Vec<bool> = (0..60).map(|text| text % 2 == 0).collect();
    let divided = |copies: &[u32], tuned_on: &[bool]| {
        let halves = super::selection::divide(&data.answers, &all, copies, tuned_on, 3);
        let texts: std::collections::BTreeSet<u32> =
            halves.choose.iter().map(|at| data.answers[*at].text).collect();
        assert_eq!(halves.choose.len() + halves.learn.len(), all.len());
        texts
    };
    assert_eq!(divided(&data.copies, &[]).len(), 12);
    let chosen = divided(&data.copies, &tuned_on);
    assert!(chosen.len() == 12 && chosen.iter().all(|text| text % 2 == 1), "{chosen:?}");
    // A copy of a learned text is excluded, too: here the odd ones are.
    let copies: Vec<u32> = (0..60).map(|text| text / 2 * 2).collect();
    assert!(divided(&copies, &tuned_on).is_empty());
}

/// Displayed expectations for an unanswered text equal its scored predictions: the deviation of words is not
/// applied twice.
#[test]
fn expectation_of_an_unanswered_text_matches_prediction() {
    let data = simulated(200, 10, 1.0, 13);
    let train: Vec<usize> = (0..data.answers.len()).filter(|at| data.answers[*at].text < 150).collect();
    let model = data.fit(ModelKind::Multilevel, &train).unwrap();
    let rows: Vec<u32> = (0..200).collect();
    let mut live = LiveSpans::new(&model, &data.texts, &rows).unwrap();
    live.record_all(train.iter().map(|at| data.answers[*at].clone()));
    for deviation in [0.0, 1.0, 2.0, 3.0] {
        live.set_word_variance(deviation * deviation);
        let people: Vec<u32> = (0..10).collect();
        for text in 150..200 {
            let view = model.view(&data.texts, text);
            let p: Vec<Vec<f32>> =
                people.iter().map(|who| model.probabilities(&data.texts, text, *who, &view)).collect();
            for (word, expected) in live.expected(text, &people).unwrap().iter().enumerate() {
                let mean = p.iter().map(|own| f64::from(own[word])).sum::<f64>() / 10.0;
                let shown = expected.types[0];
                assert!((shown.marks - mean).abs() < 0.03, "{deviation}: {} for {mean}", shown.marks);
                let independent =
                    super::disagreement::word_disagreement(p.iter().map(|own| f64::from(own[word])));
                assert!(shown.pairs < independent.pairs + 0.03, "what people share is no disagreement");
            }
        }
    }
}

#[test]
fn single_annotator_keeps_the_default_word_deviation() {
    let mut data = simulated(80, 5, 1.0, 14);
    data.answers.dedup_by_key(|answer| answer.text);
    let all: Vec<usize> = (0..data.answers.len()).collect();
    let model = data.fit(ModelKind::Multilevel, &all).unwrap();
    assert_eq!(model.report()[0].word_deviation, 1.0);
}

#[test]
fn unmarked_type_is_rare_but_possible() {
    let mut data = simulated(80, 5, 1.0, 15);
    data.answers.iter_mut().for_each(|answer| answer.marks.clear());
    let all: Vec<usize> = (0..data.answers.len()).collect();
    let model = data.fit(ModelKind::Multilevel, &all).unwrap();
    let p = model.probabilities(&data.texts, 0, 1, &model.view(&data.texts, 0));
    assert!(p.iter().all(|p| (1e-7..1e-2).contains(p)), "{p:?}");
}

/// Held-out words without any marks carry no information about the deviation of single words.
#[test]
fn tuned_type_without_held_out_marks_keeps_the_default() {
    let mut data = simulated(120, 6, 1.0, 16);
    let (train, test) = data.halves();
    for at in &test {
        data.answers[*at].marks.clear();
    }
    let Simulated { texts, answers, readiness, copies } = &data;
    let annotators = readiness.len();
    let of = SpanTraining { texts, answers, train: &train, annotators, types: 1, copies, tuned_on: &[] };
    let weights = [1.5, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
    let model = SpanModel::of_tuned(&of, &test, &weights, &[-1.5], true).unwrap();
    assert_eq!(model.report()[0].word_deviation, 1.0);
    // The calibration is based on the held-out answers, and never inverts the head.
    let head = &model.type_heads()[0];
    assert!(head.states[0] >= 0.0 && head.constant < -1.5, "{head:?}");
}
