//! Latency of one answer about spans: the annotator's word effects and the expected marks of the text.

use crate::error::BenchError;
use crate::figures::quantile_ms;
use dissensus_models::spans::{
    LiveSpans, Population, SpanAnswer, SpanModel, SpanTexts, TypeHead, WordFeatures,
};
use dissensus_stats::math::random::generator;
use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};
use serde::Serialize;
use std::hint::black_box;
use std::time::{Duration, Instant};

const TEXTS: u32 = 10_000;
/// Words of the text that is answered, and of every other.
const WORDS: [u32; 2] = [200, 40];
const TYPES: usize = 4;
/// Numbers of a word's state.
const DIM: usize = 4;
/// Answers timed.
const TIMED: u32 = 100;
/// People, and answers that each of them has given before.
const SIZES: [(u32, u32); 3] = [(43, 230), (10, 1_000), (10, 5_000)];

/// Latency of one answer in a project of 10,000 texts.
#[derive(Clone, Debug, Serialize)]
pub struct LiveSpansTime {
    pub people: u32,
    /// Answers that each of them has given before.
    pub answers_each: u32,
    pub median_ms: f64,
    pub p99_ms: f64,
}

/// Times answers about a text of 200 words with four types, for each number of people and answers.
///
/// # Errors
/// The model refuses its simulated texts.
pub fn live_spans() -> Result<Vec<LiveSpansTime>, BenchError> {
    let mut rng = generator(9, 2);
    let model = SpanModel::of_type_heads((0..TYPES).map(|_| head()).collect())?;
    let mut texts = SpanTexts::new(DIM);
    for text in 0..TEXTS {
        let words = WORDS[usize::from(text > 0)];
        let states: Vec<f32> = (0..words as usize * DIM)
            .map(|_| {
                let x: f64 = StandardNormal.sample(&mut rng);
                x as f32
            })
            .collect();
        texts.push(WordFeatures { states: &states, forms: &(0..words).collect::<Vec<_>>() })?;
    }
    let rows: Vec<u32> = (0..TEXTS).collect();
    let mut times = Vec::new();
    for (people, answers_each) in SIZES {
        let mut live = LiveSpans::new(&model, &texts, &rows)?;
        let mut answer = |text: u32, annotator: u32| {
            let words = texts.words(text).len() as u32;
            let marks = (0..words).filter(|_| rng.random_bool(0.05)).map(|word| (word, 1)).collect();
            SpanAnswer { text, annotator, marks }
        };
        let answers: Vec<SpanAnswer> = (0..people)
            .flat_map(|who| (1..=answers_each).map(move |nth| ((who * 97 + nth * 2) % (TEXTS - 1) + 1, who)))
            .map(|(text, who)| answer(text, who))
            .collect();
        live.record_all(answers.into_iter());
        let everybody: Vec<u32> = (0..people).collect();
        let mut timed: Vec<Duration> = (0..TIMED)
            .map(|nth| {
                let new = answer(0, nth % people);
                let began = Instant::now();
                live.record(new);
                black_box(live.expected(0, &everybody));
                began.elapsed()
            })
            .collect();
        let (median_ms, p99_ms) = (quantile_ms(&mut timed, 0.5), quantile_ms(&mut timed, 0.99));
        times.push(LiveSpansTime { people, answers_each, median_ms, p99_ms });
    }
    Ok(times)
}

fn head() -> TypeHead {
    TypeHead {
        constant: -3.0,
        states: vec![1.0, 0.5, 0.0, 0.0],
        forms: Vec::new(),
        readiness_variance: 1.0,
        population: Some(Population { mean: [0.0; 3], variances: [1.0, 0.05, 0.05], centre: -2.0 }),
        word_variance: 2.25,
        threshold: 0.3,
        rate: 0.05,
    }
}
