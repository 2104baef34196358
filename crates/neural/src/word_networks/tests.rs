//! On simulated annotators, and compared with networks that learn whole texts.

use super::WordNetworks;
use super::items::Items;
use super::marked;
use dissensus_models::spans::simulated::{Simulated, simulated};
use dissensus_models::spans::{Scaling, SpanAnswer, SpanFitOptions, SpanTexts, WordFeatures};
use dissensus_stats::data::progress::{Progress, Silent};
use dissensus_stats::data::{ModelError, ModelKind};
use std::sync::atomic::{AtomicBool, Ordering};

const KINDS: [ModelKind; 2] = [ModelKind::ShareRecFfn, ModelKind::ShareRecDcn];

fn fit(data: &Simulated, kind: ModelKind, train: &[usize]) -> Result<WordNetworks, ModelError> {
    WordNetworks::fit(&data.training(train), kind, &SpanFitOptions::default(), &Silent)
}

fn loss(data: &Simulated, model: &WordNetworks, test: &[usize]) -> f64 {
    let test = data.of(test);
    data.loss_of(&model.predictions(&data.texts, &test).unwrap(), &test)
}

#[test]
fn both_networks_learn_words_and_people() {
    let data = simulated(300, 12, 1.5, 21);
    let (train, test) = data.halves();
    let shared = data.loss(&data.fit(ModelKind::Shared, &train).unwrap(), &test);
    for kind in KINDS {
        let model = fit(&data, kind, &train).unwrap();
        let own = loss(&data, &model, &test);
        assert!(own < 0.95 * shared, "{kind}: {own} against {shared}");
        assert!((0.2..0.8).contains(&model.thresholds()[0]), "{:?}", model.thresholds());
    }
}

#[test]
fn network_is_seeded_and_ignores_test_answers() {
    let mut data = simulated(60, 5, 1.0, 22);
    let (train, test) = data.halves();
    let of = |data: &Simulated| {
        let model = fit(data, ModelKind::ShareRecFfn, &train).unwrap();
        let first = data.of(&test[..1]);
        let p = marked(&model.types[0], &model.scaling, &data.texts, &first).unwrap();
        (p, model.thresholds.clone())
    };
    let before = of(&data);
    for at in &test {
        data.answers[*at].marks = (0..12).map(|word| (word, 1)).collect();
    }
    assert_eq!(of(&data), before);
}

#[test]
fn annotator_without_answers_is_unknown() {
    let mut data = simulated(80, 6, 1.5, 23);
    data.answers.retain(|answer| answer.annotator != 5 || answer.text >= 60);
    let train: Vec<usize> = (0..data.answers.len()).filter(|at| data.answers[*at].text < 60).collect();
    let model = fit(&data, ModelKind::ShareRecDcn, &train).unwrap();
    assert!(!model.types[0].knows(5) && model.types[0].knows(0));
    let answer = |annotator| SpanAnswer { text: 70, annotator, marks: Vec::new() };
    let (stranger, beyond, known) = (answer(5), answer(77), answer(0));
    let p = marked(&model.types[0], &model.scaling, &data.texts, &[&stranger, &beyond, &known]).unwrap();
    assert_eq!(p[0], p[1]);
    assert_ne!(p[0], p[2]);
}

#[test]
fn one_word_of_each_form_is_trained() {
    let mut texts = SpanTexts::new(2);
    let states: Vec<f32> = (0..12).map(|at| at as f32).collect();
    texts.push(WordFeatures { states: &[9.0; 4], forms: &[1, 2] }).unwrap();
    texts.push(WordFeatures { states: &states, forms: &[3, 1, 3, 3, 2, 3] }).unwrap();
    let answers = [
        SpanAnswer { text: 1, annotator: 4, marks: vec![(1, 2), (4, 3)] },
        SpanAnswer { text: 1, annotator: 6, marks: vec![] },
        SpanAnswer { text: 0, annotator: 4, marks: vec![(0, 1)] },
    ];
    let mut drawn = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let items = Items::of(&texts, &[1], &Scaling::new(&texts, &[1]), seed).unwrap();
        assert_eq!(items.states.texts, 3);
        let of = |of_type| items.observations(&answers, &[0, 1, 2], of_type);
        // Other texts have no items.
        assert_eq!(of(0).len(), 6);
        let marks = |of_type, annotator| -> Vec<u16> {
            of(of_type).iter().filter(|o| o.annotator == annotator).map(|o| o.level).collect()
        };
        assert_eq!((marks(0, 4).iter().sum::<u16>(), marks(1, 4).iter().sum::<u16>()), (1, 2));
        assert_eq!(marks(0, 6), [0, 0, 0]);
        let places: Vec<f32> = (0..3).map(|item| items.states.row(item)[0]).collect();
        drawn.insert(places.iter().map(|x| (x * 1000.0) as i64).collect::<Vec<_>>());
    }
    assert_eq!(drawn.len(), 4, "each of the four words of one form represents it at times");
}

#[test]
fn invalid_data_are_refused_and_fit_can_be_cancelled() {
    let data = simulated(40, 4, 1.0, 24);
    let (train, _) = data.halves();
    assert_eq!(fit(&data, ModelKind::ShareRecFfn, &[]).err(), Some(ModelError::NoWords));
    let refused = fit(&data, ModelKind::Multilevel, &train).err().unwrap();
    assert!(refused.to_string().contains("multilevel"), "{refused}");
    let mut broken = simulated(40, 4, 1.0, 24);
    broken.answers[0].marks = vec![(99, 1)];
    assert!(matches!(fit(&broken, ModelKind::ShareRecFfn, &train), Err(ModelError::Length { .. })));

    struct Stopping(AtomicBool);
    impl Progress for Stopping {
        fn report(&self, done: u64, _: Option<u64>, what: &str) {
            assert_eq!(what, "share-rec-ffn");
            self.0.store(done >= 3, Ordering::Relaxed);
        }
        fn cancelled(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }
    let stopping = Stopping(AtomicBool::new(false));
    let options = SpanFitOptions::default();
    let stopped =
        WordNetworks::fit(&data.training(&train), ModelKind::ShareRecFfn, &options, &stopping).err();
    assert_eq!(stopped, Some(ModelError::Cancelled));
}

#[test]
fn unmarked_type_is_rare_but_possible() {
    let mut data = simulated(60, 5, 1.0, 25);
    data.answers.iter_mut().for_each(|answer| answer.marks.clear());
    let all: Vec<usize> = (0..data.answers.len()).collect();
    let model = fit(&data, ModelKind::ShareRecFfn, &all).unwrap();
    let p = marked(&model.types[0], &model.scaling, &data.texts, &data.of(&[0])).unwrap();
    assert!(p[0].iter().all(|p| (1e-9..1e-2).contains(p)), "{p:?}");
    assert_eq!(model.thresholds(), [0.5]);
}

#[test]
fn number_of_trained_words_is_limited() {
    let data = simulated(60, 4, 1.0, 26);
    let all: Vec<usize> = (0..data.answers.len()).collect();
    let options = SpanFitOptions { most_words: 12 * 20, ..SpanFitOptions::default() };
    let few = super::limited(&data.texts, &data.answers, &all, &options);
    let texts: std::collections::BTreeSet<u32> = few.iter().map(|at| data.answers[*at].text).collect();
    assert_eq!(texts.len(), 20);
    let model = WordNetworks::fit(&data.training(&all), ModelKind::ShareRecFfn, &options, &Silent).unwrap();
    let same = WordNetworks::fit(&data.training(&few), ModelKind::ShareRecFfn, &options, &Silent).unwrap();
    let of =
        |model: &WordNetworks| marked(&model.types[0], &model.scaling, &data.texts, &data.of(&[0])).unwrap();
    assert_eq!(of(&model), of(&same));
}
