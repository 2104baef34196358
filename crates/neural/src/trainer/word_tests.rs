//! Learning words together with labels of whole texts.

use super::tests::{BODIES, StopAt, four, four_samples, tiny, tiny_without_dropout, tuned, values};
use super::*;
use dissensus_encoder::{Encoder, EncoderOptions, FreezePolicy, WordStates};
use dissensus_models::spans::SpanAnswer;
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::{Embeddings, ModelError, ModelKind};
use dissensus_stats::math::sigmoid;
use std::ops::ControlFlow;

/// Words of each body: runs of characters other than spaces.
fn words() -> Vec<Vec<(u32, u32)>> {
    let of = |body: &&str| {
        let mut words = Vec::new();
        let mut start = None;
        for (at, character) in body.chars().chain([' ']).enumerate() {
            match (character == ' ', start) {
                (false, None) => start = Some(at as u32),
                (true, Some(from)) => {
                    words.push((from, at as u32));
                    start = None;
                }
                _ => {}
            }
        }
        words
    };
    BODIES.iter().map(of).collect()
}

fn ones(words: &[Vec<(u32, u32)>]) -> Vec<Vec<f32>> {
    words.iter().map(|words| vec![1.0; words.len()]).collect()
}

/// Two types, three annotators: the first word is marked with the first type, and by annotator 2 all words
/// with the second too.
fn answers() -> Vec<SpanAnswer> {
    let of = |text: u32, annotator: u32| {
        let marks = match annotator {
            2 => words()[text as usize]
                .iter()
                .enumerate()
                .map(|(word, _)| (word as u32, if word == 0 { 3 } else { 2 }))
                .collect(),
            _ => vec![(0, 1)],
        };
        SpanAnswer { text, annotator, marks }
    };
    (0..4).flat_map(|text| (0..3).map(move |annotator| of(text, annotator))).collect()
}

fn asked<'a>(
    words: &'a [Vec<(u32, u32)>],
    counts: &'a [Vec<f32>],
    answers: &'a [SpanAnswer],
    validation: &'a [SpanAnswer],
) -> WordQuestion<'a> {
    WordQuestion { words, counts, answers, validation, annotators: 3, types: 2, weight: 1.0 }
}

type Numbers = Vec<(u32, Option<f64>, Option<ValidationScores>, Vec<Option<ValidationScores>>, bool)>;

fn numbers(trained: &Trained) -> Numbers {
    let of = |r: &EpochRecord| (r.step, r.train_loss, r.validation, r.questions.clone(), r.best);
    trained.history.iter().map(of).collect()
}

#[test]
fn joint_word_training_resumes_to_the_same_numbers() {
    let (none, observations) = (Embeddings::none(4), four_samples());
    let (words, answers) = (words(), answers());
    let counts = ones(&words);
    let (dir, options) = (tiny(), EncoderOptions { threads: Some(1), ..EncoderOptions::default() });
    let encoder = EncoderToTune { dir: &dir, options: &options, texts: &BODIES };
    for kind in [ModelKind::Shared, ModelKind::Multilevel] {
        let config = TrainConfig { epochs: 3, eval_steps: Some(2), ..tuned(kind, FreezePolicy::Full) };
        let alone = Trainer::new(four(&none, &observations), &observations, Some(encoder), config).unwrap();
        let trainer = alone.clone().with_words(&[asked(&words, &counts, &answers, &answers)]).unwrap();
        let whole = trainer.clone().run(&Silent, |_| ()).unwrap();
        for record in &whole.history {
            let [Some(texts), Some(of_words)] = record.questions[..] else { panic!("{kind}: {record:?}") };
            assert!(record.train_loss.is_some_and(f64::is_finite), "{kind}");
            // The mean of both, with words in units of the loss of their rates.
            let base = (record.validation.unwrap().log_loss * 2.0 - texts.log_loss) / of_words.log_loss;
            assert!((1.0..3.0).contains(&base), "{kind}: {base}");
        }
        let folder = tempfile::tempdir().unwrap();
        for stop in [1, 3, 5] {
            let broken = trainer.clone().in_folder(folder.path()).run(&StopAt::steps(stop), |_| ());
            assert_eq!(broken.err(), Some(ModelError::Cancelled));
        }
        let mended = trainer.clone().in_folder(folder.path()).run(&Silent, |_| ()).unwrap();
        assert_eq!(numbers(&whole), numbers(&mended), "{kind}");
        assert_eq!(whole.word_heads, mended.word_heads, "{kind}");
        assert_eq!(whole.word_heads[0].with_readiness, kind == ModelKind::Multilevel);
        let x = |trained: &Trained| trained.encoder().unwrap().unwrap().encode(&BODIES).unwrap();
        assert_eq!(x(&whole), x(&mended), "{kind}");
        assert_ne!(
            x(&whole),
            x(&alone.clone().run(&Silent, |_| ()).unwrap()),
            "{kind}: words taught the encoder"
        );
        // A checkpoint is specific to its marks and their weight.
        let mut changed = answers.clone();
        changed[1].marks.clear();
        let heavier = WordQuestion { weight: 2.0, ..asked(&words, &counts, &answers, &answers) };
        for other in [asked(&words, &counts, &changed, &answers), heavier] {
            let other = alone.clone().with_words(&[other]).unwrap().in_folder(folder.path());
            let refused = other.run(&Silent, |_| ()).err();
            assert!(matches!(refused, Some(ModelError::CheckpointMismatch { .. })), "{refused:?}");
        }
    }
}

#[test]
fn longer_training_separates_marked_words_and_people() {
    let (none, observations) = (Embeddings::none(4), four_samples());
    let (words, answers) = (words(), answers());
    let counts = ones(&words);
    let (dir, options) = (tempfile::tempdir().unwrap(), EncoderOptions::default());
    tiny_without_dropout(dir.path());
    let encoder = EncoderToTune { dir: dir.path(), options: &options, texts: &BODIES };
    let config = TrainConfig {
        epochs: 60,
        patience: 0,
        encoder_lr: 5e-3,
        head_lr: 0.05,
        ..tuned(ModelKind::Multilevel, FreezePolicy::Full)
    };
    let alone = Trainer::new(four(&none, &observations), &observations, Some(encoder), config).unwrap();
    let trained = alone
        .with_words(&[asked(&words, &counts, &answers, &answers)])
        .unwrap()
        .run(&Silent, |_| ())
        .unwrap();
    let losses: Vec<f64> =
        trained.history.iter().map(|record| record.questions[1].unwrap().log_loss).collect();
    assert!(losses[losses.len() - 1] < 0.9 * losses[0], "{losses:?}");
}

/// The loss and the gradient of the head, recomputed from the states that the finished encoder gives for
/// words.
#[test]
fn word_loss_matches_the_states() {
    let (words, mut answers) = (words(), answers());
    let mut counts = ones(&words);
    counts[1][0] = 0.25;
    answers[4].marks.clear();
    let (dir, options) = (tempfile::tempdir().unwrap(), EncoderOptions::default());
    tiny_without_dropout(dir.path());
    let encoder = EncoderToTune { dir: dir.path(), options: &options, texts: &BODIES };
    let embedder =
        super::embedder::Embedder::open(&encoder, BODIES.to_vec(), &FreezePolicy::Full, 3, &[0, 1, 2, 3])
            .unwrap();
    let of = asked(&words, &counts, &answers, &[]);
    let mut task =
        super::words::WordTask::new("words-0.".into(), of, ModelKind::Multilevel, &embedder).unwrap();
    // Some head, and some readiness of the second annotator.
    let hidden = embedder.hidden();
    let weights: Vec<f32> = (0..hidden * 2).map(|at| ((at * 37 % 19) as f32 - 9.0) / 20.0).collect();
    let tensor = |values: Vec<f32>, shape: (usize, usize)| {
        candle_core::Tensor::from_vec(values, shape, &candle_core::Device::Cpu).unwrap()
    };
    let readiness = |of_type: f64| {
        let rows = vec![0.0, 1.0, 0.7 + of_type, 1.0, -0.2, 1.0];
        candle_core::Tensor::from_vec(rows, (3, 2), &candle_core::Device::Cpu).unwrap()
    };
    let variance = candle_core::Tensor::new(&[1.0_f64], &candle_core::Device::Cpu).unwrap();
    let set = [
        ("words-0.weights".to_owned(), tensor(weights.clone(), (hidden, 2))),
        ("words-0.readiness-0".to_owned(), readiness(0.0)),
        ("words-0.readiness-1".to_owned(), readiness(1.0)),
        ("words-0.variance-0".to_owned(), variance.clone()),
        ("words-0.variance-1".to_owned(), variance),
    ];
    task.set(&set.into()).unwrap();
    let texts = [2_u32, 0, 1];
    let variables = task.variables();
    let head: Vec<_> = variables.iter().map(|(name, var)| (name.as_str(), var)).collect();
    let found = embedder
        .gradients(&texts, 5, &head, true, |_, states, share| {
            let rng = crate::networks::DropoutRng { seed: 1 };
            Ok(task.loss(states.unwrap(), &texts[share], 0.0, rng)?.unwrap())
        })
        .unwrap();

    let finished = Encoder::open(dir.path(), &options).unwrap();
    let constants = task.head().unwrap().constants;
    let (mut loss, mut gradient) = (0.0, vec![0.0_f64; hidden * 2]);
    for text in texts {
        let mut states = Vec::new();
        finished
            .word_states(
                &[BODIES[text as usize]],
                &[words[text as usize].clone()],
                WordStates::Last,
                |_, own| {
                    states = own;
                    ControlFlow::Continue(())
                },
            )
            .unwrap();
        for answer in answers.iter().filter(|answer| answer.text == text) {
            for (word, state) in states.chunks_exact(hidden).enumerate() {
                let weight = f64::from(counts[text as usize][word]);
                let bits =
                    answer.marks.iter().find(|(at, _)| *at as usize == word).map_or(0, |(_, bits)| *bits);
                for of_type in 0..2 {
                    let dot: f64 = state
                        .iter()
                        .enumerate()
                        .map(|(at, x)| f64::from(*x) * f64::from(weights[at * 2 + of_type]))
                        .sum();
                    let ready = [0.0, 0.7 + of_type as f64, -0.2][answer.annotator as usize];
                    let z = dot + f64::from(constants[of_type]) + ready;
                    let marked = bits >> of_type & 1 == 1;
                    loss -= weight * if marked { sigmoid(z).ln() } else { sigmoid(-z).ln() };
                    let residual = weight * (sigmoid(z) - f64::from(u8::from(marked)));
                    for (at, x) in state.iter().enumerate() {
                        gradient[at * 2 + of_type] += residual * f64::from(*x);
                    }
                }
            }
        }
    }
    assert!((found.loss - loss).abs() < 1e-3 * loss, "{} {loss}", found.loss);
    let ours = values(found.get("words-0.weights").unwrap());
    let largest = gradient.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    for (ours, theirs) in ours.iter().zip(&gradient) {
        assert!((f64::from(*ours) - theirs).abs() < 1e-3 * largest, "{ours} {theirs}");
    }
}

#[test]
fn invalid_word_questions_are_refused() {
    let (none, observations) = (Embeddings::none(4), four_samples());
    let (words, answers) = (words(), answers());
    let counts = ones(&words);
    let (dir, options) = (tiny(), EncoderOptions::default());
    let encoder = EncoderToTune { dir: &dir, options: &options, texts: &BODIES };
    let trainer = |kind, policy| {
        Trainer::new(four(&none, &observations), &[], Some(encoder), tuned(kind, policy)).unwrap()
    };
    let good = asked(&words, &counts, &answers, &[]);
    let refused = |question| trainer(ModelKind::Shared, FreezePolicy::Full).with_words(&[question]).err();
    assert_eq!(refused(good), None);
    let far = vec![SpanAnswer { text: 4, annotator: 0, marks: Vec::new() }];
    let stranger = vec![SpanAnswer { text: 0, annotator: 3, marks: Vec::new() }];
    let beyond = vec![SpanAnswer { text: 0, annotator: 0, marks: vec![(400, 1)] }];
    for bad in [&far, &stranger, &beyond] {
        assert!(refused(asked(&words, &counts, bad, &[])).is_some(), "{bad:?}");
        assert!(refused(asked(&words, &counts, &answers, bad)).is_some(), "{bad:?}");
    }
    assert!(refused(asked(&words, &counts, &[], &[])).is_some());
    assert!(refused(asked(&words[..3], &counts, &answers, &[])).is_some());
    assert!(refused(WordQuestion { weight: 0.0, ..good }).is_some());
    for kind in [ModelKind::Majority, ModelKind::SepHeads, ModelKind::ShareRecFfn] {
        let error = trainer(kind, FreezePolicy::Full).with_words(&[good]).unwrap_err();
        assert_eq!(error, ModelError::NotOverWords(kind.name()));
    }
    let error = trainer(ModelKind::Shared, FreezePolicy::Prompt(2)).with_words(&[good]).unwrap_err();
    assert!(matches!(error, ModelError::Choice { field: "tuning", .. }), "{error}");
}
