//! Replaces the scores of all texts where that improves the prediction of labels of held-out texts over the
//! head.

use super::evidence::{KernelChoice, Process};
use super::parts::TextScores;
use super::pseudo_data::PseudoData;
use super::texts::{Texts, distances, even};
use super::{exact, large};
use crate::mixed::crossed::CrossedEffects;
use dissensus_stats::data::progress::Progress;
use dissensus_stats::math::dot;
use nalgebra::DVector;
use rayon::prelude::*;

/// Largest number of labelled texts for which the process is computed exactly (cubic cost).
const MAX_EXACT_TEXTS: usize = 1600;
/// Largest number of labelled texts to learn from, evenly spaced; the others are scored like texts without
/// labels.
const MAX_TEXTS: usize = 20_000;
/// Largest number of labelled texts for choosing variances and width, evenly spaced.
const MAX_EVIDENCE_TEXTS: usize = 800;
/// Minimum number of labelled texts for estimating variances.
const MIN_TEXTS: usize = 40;
/// Inverse squared widths tried for the kernel, in units of the mean squared distance from the average
/// embedding.
const INVERSE_SQUARED_LENGTHS: [f64; 2] = [0.5, 1.0];

/// Replaces the prior means of all texts by predictions from embeddings, similar texts and n-grams, if that
/// predicts held-out labelled texts better than the head. Otherwise returns `None` with nothing changed; also
/// when cancelled, where there are too few labelled texts or too many without n-grams, and for several scores
/// per text (softmax).
pub(crate) fn fit(
    crossed: &mut CrossedEffects,
    texts: Texts<'_>,
    progress: &dyn Progress,
) -> Option<TextScores> {
    let known: Vec<usize> = (0..crossed.texts()).filter(|&t| !crossed.labels[t].is_empty()).collect();
    // With very many texts and no n-grams the head has enough data.
    let too_many = known.len() > MAX_TEXTS && texts.embeddings.ngrams.is_none();
    if crossed.link.softmax || known.len() < MIN_TEXTS || too_many {
        return None;
    }
    let learned_from = even(known.len(), MAX_TEXTS).into_iter().map(|i| known[i]).collect();
    let data = PseudoData::new(crossed, learned_from);
    let mean = texts.embeddings.ngrams.as_ref().map(|ngrams| ngrams.mean()).unwrap_or_default();
    let chosen = choose(crossed.text_var, texts, &data, &mean)?;
    let learned = if data.texts.len() <= MAX_EXACT_TEXTS {
        exact::fit(crossed, texts, &data, &mean, chosen)
    } else {
        large::fit(crossed, texts, &data, &mean, chosen, progress)
    }?;
    if !learned.better {
        return None;
    }
    let parts = learned.parts;
    crossed.scores = (0..crossed.texts())
        .into_par_iter()
        .map(|t| match data.texts.binary_search(&t) {
            Ok(at) => learned.held_out[at],
            Err(_) => {
                let features = texts.embeddings.features(t);
                let ngrams = parts.ngrams.as_ref().map_or(0.0, |n| n.predict(features.ngrams));
                dot(&parts.weights, texts.row(t)) + parts.similar.predict(features.embedding) + ngrams
            }
        })
        .collect();
    Some(parts)
}

/// Width and variances with the largest evidence.
fn choose(unit: f64, texts: Texts<'_>, data: &PseudoData, mean: &[f32]) -> Option<KernelChoice> {
    let some = even(data.texts.len(), MAX_EVIDENCE_TEXTS);
    let of: Vec<usize> = some.iter().map(|&i| data.texts[i]).collect();
    let linear = texts.products(&of);
    let distances = distances(&linear);
    let mut trial = Process {
        rbf: linear.clone(),
        linear,
        ngrams: texts.ngram_products(&of, mean),
        z: DVector::from_iterator(some.len(), some.iter().map(|&i| data.z[i])),
        noise: some.iter().map(|&i| data.noise[i]).collect(),
    };
    let mut best: Option<(f64, KernelChoice)> = None;
    for width in INVERSE_SQUARED_LENGTHS {
        trial.rbf = distances.map(|d| (-width * d).exp());
        let (evidence, variances) = trial.best(unit);
        if best.is_none_or(|b| evidence > b.0) {
            best = Some((evidence, KernelChoice { width, variances }));
        }
    }
    best.map(|(_, chosen)| chosen)
}

#[cfg(test)]
mod tests {
    use super::super::evidence::Variances;
    use super::super::parts::TextScores;
    use super::*;
    use crate::linear::pca::PcaEmbeddings;
    use crate::link::Link;
    use crate::mixed::convergence::ROUGH;
    use dissensus_domain::TargetKind;
    use dissensus_stats::data::progress::Silent;
    use dissensus_stats::data::{Embeddings, Observation, SparseRows, Target};
    use dissensus_stats::math::random::generator;
    use rand::RngExt;
    use std::sync::Arc;

    const FOLDS: usize = 5;
    /// The n-gram that affects labels.
    const INSULT: u16 = 40_000;

    /// Labels of texts whose level depends on one number of the embedding, and on whether they contain one
    /// n-gram of many.
    fn data(texts: usize) -> (Embeddings, Vec<Observation>) {
        let mut rng = generator(11, 0);
        let mut ngrams = SparseRows::default();
        let (mut rows, mut observations) = (Vec::new(), Vec::new());
        for text in 0..texts as u32 {
            let x: Vec<f32> = (0..4).map(|_| rng.random::<f32>() - 0.5).collect();
            let insult = rng.random::<f32>() < 0.3;
            let mut columns: Vec<u16> = (0..6).map(|_| rng.random::<u16>() % 300).collect();
            columns.extend(insult.then_some(INSULT));
            columns.sort_unstable();
            columns.dedup();
            let value = (columns.len() as f32).sqrt().recip();
            ngrams.push(&columns.iter().map(|c| (*c, value)).collect::<Vec<_>>()).unwrap();
            let score = f64::from(4.0 * x[0]) + if insult { 2.0 } else { -1.0 };
            for annotator in 0..4 {
                let yes = rng.random::<f64>() < dissensus_stats::math::sigmoid(score);
                observations.push(Observation { text, annotator, level: u16::from(yes) });
            }
            rows.extend(x);
        }
        (Embeddings::new(4, rows).unwrap().with_ngrams(Arc::new(ngrams)).unwrap(), observations)
    }

    fn effects(texts: usize, observations: &[Observation]) -> CrossedEffects {
        let link = Link::new(Target { kind: TargetKind::Binary, levels: 2 });
        let mut crossed = CrossedEffects::new(link, vec![0.0; texts], 4, observations);
        crossed.expectation_maximisation(ROUGH);
        crossed
    }

    fn texts<'a>(x: &'a PcaEmbeddings, embeddings: &'a Embeddings, fold: &'a [u8]) -> Texts<'a> {
        Texts { rotated: &x.rows, embeddings, scale: x.scale * x.scale, fold, folds: FOLDS }
    }

    fn correlation(a: &[f64], b: &[f64]) -> f64 {
        dissensus_stats::metrics::pearson(a, b).unwrap()
    }

    #[test]
    fn decisive_ngram_predicts_unlabelled_texts() {
        let (embeddings, observations) = data(400);
        let x = PcaEmbeddings::new(&embeddings);
        let fold: Vec<u8> = (0..400).map(|t| (t % FOLDS) as u8).collect();
        let labelled: Vec<Observation> = observations.into_iter().filter(|o| o.text < 300).collect();
        let mut crossed = effects(400, &labelled);
        let parts = fit(&mut crossed, texts(&x, &embeddings, &fold), &Silent)
            .expect("embeddings and n-grams predict");
        let has = |t: usize| embeddings.features(t).ngrams.iter().any(|(c, _)| c == usize::from(INSULT));
        let truth = |t: usize| 4.0 * f64::from(embeddings.row(t)[0]) + if has(t) { 2.0 } else { -1.0 };
        let (new, expected): (Vec<f64>, Vec<f64>) = (300..400).map(|t| (crossed.scores[t], truth(t))).unzip();
        assert!(correlation(&new, &expected) > 0.9, "{}", correlation(&new, &expected));
        let ngrams = parts.ngrams.unwrap();
        let (with, without): (Vec<usize>, Vec<usize>) = (300..400).partition(|t| has(*t));
        let mean = |of: &[usize]| {
            of.iter().map(|&t| ngrams.predict(embeddings.features(t).ngrams)).sum::<f64>() / of.len() as f64
        };
        assert!(mean(&with) - mean(&without) > 1.5, "{} {}", mean(&with), mean(&without));
        // Embeddings without n-grams perform worse.
        let plain = Embeddings { ngrams: None, ..embeddings.clone() };
        let mut blind = effects(400, &labelled);
        fit(&mut blind, texts(&x, &plain, &fold), &Silent);
        let of_blind: Vec<f64> = (300..400).map(|t| blind.scores[t]).collect();
        assert!(correlation(&of_blind, &expected) < correlation(&new, &expected) - 0.1);
    }

    /// With as many landmarks as texts both computations are the same model.
    #[test]
    fn conjugate_gradients_match_the_exact_solution() {
        let (embeddings, observations) = data(450);
        let x = PcaEmbeddings::new(&embeddings);
        let fold: Vec<u8> = (0..450).map(|t| (t % FOLDS) as u8).collect();
        let crossed = effects(450, &observations);
        let texts = texts(&x, &embeddings, &fold);
        let all = PseudoData::new(&crossed, (0..450).collect());
        let mean = embeddings.ngrams.as_ref().unwrap().mean();
        let variances = Variances { linear: 1.2, rbf: 0.7, ngrams: 1.5, text: 0.4 };
        let chosen = KernelChoice { width: 0.5, variances };
        let large = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| large::fit(&crossed, texts, &all, &mean, chosen, &Silent)).unwrap()
        };
        let (of_one, of_three) = (large(1), large(3));
        assert_eq!(of_one.held_out, of_three.held_out);
        let score = |parts: &TextScores, t: usize| {
            let features = embeddings.features(t);
            dot(&parts.weights, texts.row(t))
                + parts.similar.predict(features.embedding)
                + parts.ngrams.as_ref().unwrap().predict(features.ngrams)
        };
        let spread =
            |scores: &[f64]| (scores.iter().map(|s| s * s).sum::<f64>() / scores.len() as f64).sqrt();
        let whole = exact::fit(&crossed, texts, &all, &mean, chosen).unwrap();
        let scores: Vec<f64> = (0..450).map(|t| score(&whole.parts, t)).collect();
        for t in 0..450 {
            assert!((score(&of_one.parts, t) - scores[t]).abs() < 0.02 * spread(&scores), "{t}");
        }
        // Held-out scores are those of a fit without the fold.
        for left_out in 0..FOLDS {
            let rest = PseudoData::new(&crossed, (0..450).filter(|t| t % FOLDS != left_out).collect());
            let part = exact::fit(&crossed, texts, &rest, &mean, chosen).unwrap();
            for t in (left_out..450).step_by(FOLDS) {
                let expected = score(&part.parts, t);
                assert!((of_one.held_out[t] - expected).abs() < 0.03 * spread(&scores), "{t}");
            }
        }
    }

    /// Every text occurs twice, and both copies are held out together: no held-out score is learned from the
    /// text's own labels.
    #[test]
    fn held_out_scores_exclude_copies() {
        let (embeddings, mut observations) = data(120);
        // Labels unrelated to the features of the texts.
        let mut rng = generator(4, 1);
        for labels in observations.chunks_mut(4) {
            let level = u16::from(rng.random::<bool>());
            labels.iter_mut().for_each(|o| o.level = level);
        }
        let rows = [embeddings.rows.clone(), embeddings.rows.clone()].concat();
        let mut ngrams = SparseRows::default();
        for text in (0..120).chain(0..120) {
            let row = embeddings.features(text).ngrams.iter().map(|(c, v)| (c as u16, v));
            ngrams.push(&row.collect::<Vec<_>>()).unwrap();
        }
        let twice = Embeddings::new(4, rows).unwrap().with_ngrams(Arc::new(ngrams)).unwrap();
        let again: Vec<Observation> =
            observations.iter().map(|o| Observation { text: o.text + 120, ..*o }).collect();
        observations.extend(again);
        let x = PcaEmbeddings::new(&twice);
        let fold = dissensus_stats::data::folds::of_texts(&twice, FOLDS, 3);
        assert!((0..120).all(|t| fold[t] == fold[t + 120]));
        let mut crossed = effects(240, &observations);
        let texts = texts(&x, &twice, &fold);
        assert_eq!(texts.copies(&[0, 1, 120, 5]), [vec![0, 2], vec![1], vec![3]]);
        let all = PseudoData::new(&crossed, (0..240).collect());
        let mean = twice.ngrams.as_ref().unwrap().mean();
        let variances = Variances { linear: 1.0, rbf: 1.0, ngrams: 2.0, text: 0.5 };
        let chosen = KernelChoice { width: 1.0, variances };
        let held_out = large::fit(&crossed, texts, &all, &mean, chosen, &Silent).unwrap().held_out;
        let held_out = correlation(&held_out, &all.z);
        assert!(held_out < 0.1, "{held_out}");
        let exactly = exact::fit(&crossed, texts, &all, &mean, chosen).unwrap().held_out;
        let exactly = correlation(&exactly, &all.z);
        assert!(exactly < 0.1, "{exactly}");
        // Left out one by one, each is predicted from its copy.
        let process = Process {
            linear: texts.products(&all.texts),
            rbf: distances(&texts.products(&all.texts)).map(|d| (-d).exp()),
            ngrams: texts.ngram_products(&all.texts, &mean),
            z: DVector::from_column_slice(&all.z),
            noise: all.noise.clone(),
        };
        let one_by_one: Vec<Vec<usize>> = (0..240).map(|i| vec![i]).collect();
        let one_by_one = correlation(&process.solve(variances, &one_by_one).unwrap().left_out, &all.z);
        assert!(one_by_one > exactly + 0.15, "{one_by_one} {exactly}");
        fit(&mut crossed, texts, &Silent);
    }

    #[test]
    fn too_few_texts_change_nothing() {
        let (embeddings, observations) = data(60);
        let x = PcaEmbeddings::new(&embeddings);
        let fold: Vec<u8> = (0..60).map(|t| (t % FOLDS) as u8).collect();
        let labelled: Vec<Observation> = observations.into_iter().filter(|o| o.text < 30).collect();
        let mut crossed = effects(60, &labelled);
        let before = crossed.scores.clone();
        assert!(fit(&mut crossed, texts(&x, &embeddings, &fold), &Silent).is_none());
        assert_eq!(crossed.scores, before);
    }
}
