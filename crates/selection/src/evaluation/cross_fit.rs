//! Cross-fitting: scores of texts by models that have not learned from the texts' labels.

use crate::fit::fit;
use dissensus_stats::data::folds::assign;
use dissensus_stats::data::progress::{Progress, Quiet, step};
use dissensus_stats::data::{AnnotatorModel, FitOptions, ModelError, ModelKind, Observation, TrainingData};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The fold in which a text is scored; `None` for unlabelled texts, which every model may score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFolds {
    of: Vec<Option<u8>>,
    /// The folds that contain a copy of the body, by its first text.
    bodies: BTreeMap<u32, BTreeSet<u8>>,
    first_with_body: Vec<u32>,
    folds: u8,
}

impl TextFolds {
    /// Creates folds of the `labelled` texts; texts of one cluster (a thread, a document) stay together,
    /// and copies of a text that a fold scores are excluded from its training. Folds differ by one cluster
    /// at most; fewer clusters than folds have a fold each.
    ///
    /// # Panics
    /// If the lists are not equally long, or a first text is not among them.
    pub fn new(labelled: &[bool], clusters: &[u32], first_with_body: &[u32], folds: u8, seed: u64) -> Self {
        assert!(labelled.len() == clusters.len() && labelled.len() == first_with_body.len());
        let mut has_labels = vec![false; labelled.len()];
        // A copy without a label is grouped with the labelled one.
        first_with_body
            .iter()
            .zip(labelled)
            .filter(|(_, l)| **l)
            .for_each(|(f, _)| has_labels[*f as usize] = true);
        let labelled = |text: usize| has_labels[first_with_body[text] as usize];
        let mut units: BTreeMap<u32, usize> = BTreeMap::new();
        for text in (0..clusters.len()).filter(|text| labelled(*text)) {
            let next = units.len();
            units.entry(clusters[text]).or_insert(next);
        }
        let folds = folds.max(2);
        let of_unit = assign(units.len(), usize::from(folds), seed ^ 0xc0fe);
        let of: Vec<Option<u8>> =
            (0..clusters.len()).map(|text| labelled(text).then(|| of_unit[units[&clusters[text]]])).collect();
        let mut bodies: BTreeMap<u32, BTreeSet<u8>> = BTreeMap::new();
        for (first, fold) in first_with_body.iter().zip(&of) {
            if let Some(fold) = fold {
                bodies.entry(*first).or_default().insert(*fold);
            }
        }
        Self { of, bodies, first_with_body: first_with_body.to_vec(), folds }
    }

    /// Number of folds.
    pub fn folds(&self) -> u8 {
        self.folds
    }

    /// The fold of a text.
    pub fn of(&self, text: u32) -> Option<u8> {
        self.of[text as usize]
    }

    /// Whether labels of a text may be used to train the model that scores a fold.
    pub fn may_train(&self, text: u32, fold: u8) -> bool {
        let first = self.first_with_body[text as usize];
        self.of(text).is_some() && self.bodies.get(&first).is_some_and(|folds| !folds.contains(&fold))
    }
}

/// Computes the mean predicted answer over all annotators for texts in folds, by `multilevel` models that
/// have not learned from any label of the text's fold: texts x levels, row by row; rows of NaN for texts in
/// no fold, and where no training labels remain.
pub fn cross_fitted(
    data: &TrainingData<'_>,
    folds: &TextFolds,
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<Vec<f64>, ModelError> {
    let levels = data.target.levels;
    let mut all = vec![f64::NAN; data.embeddings.texts * levels];
    // As for held-out figures: slopes and discriminations change the third digit and double the time.
    let quick = FitOptions { rounds: 1, slopes: false, ..options.clone() };
    for fold in 0..folds.folds() {
        step(progress, "models without a fold", f32::from(fold) / f32::from(folds.folds()))?;
        let train: Vec<Observation> =
            data.observations.iter().filter(|o| folds.may_train(o.text, fold)).copied().collect();
        let texts: Vec<u32> =
            (0..data.embeddings.texts as u32).filter(|text| folds.of(*text) == Some(fold)).collect();
        if train.is_empty() || texts.is_empty() {
            continue;
        }
        let of_fold = TrainingData { observations: &train, ..*data };
        let model = fit(ModelKind::Multilevel, &of_fold, &quick, &Quiet(progress))?;
        for (text, mean) in texts.iter().zip(mean_predictions(model.as_ref(), &texts)) {
            let at = *text as usize * levels;
            all[at..at + levels].copy_from_slice(&mean);
        }
    }
    step(progress, "models without a fold", 1.0)?;
    Ok(all)
}

/// The mean prediction of a model over all annotators, a row for each of these texts.
pub fn mean_predictions(model: &dyn AnnotatorModel, texts: &[u32]) -> Vec<Vec<f64>> {
    let (levels, people) = (model.levels(), model.annotators().max(1) as u32);
    let of = |text: &u32| {
        let pairs: Vec<(u32, u32)> = (0..people).map(|who| (*text, who)).collect();
        let mut p = vec![0.0; pairs.len() * levels];
        model.predict_pairs(&pairs, &mut p);
        let mut mean = vec![0.0; levels];
        for row in p.chunks_exact(levels) {
            mean.iter_mut().zip(row).for_each(|(mean, p)| *mean += f64::from(*p) / f64::from(people));
        }
        mean
    };
    texts.par_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::TargetKind;
    use dissensus_stats::data::progress::Silent;
    use dissensus_stats::data::{Embeddings, Target};

    const FOLDS: u8 = 5;

    #[test]
    fn clusters_and_copies_share_a_fold() {
        // 60 texts in threads of two; text 59 is a copy of text 0, without a label of its own; the last
        // thread has no label.
        let labelled: Vec<bool> = (0..60).map(|text| text < 56).collect();
        let clusters: Vec<u32> = (0..60).map(|text| text / 2).collect();
        let mut first: Vec<u32> = (0..60).collect();
        first[59] = 0;
        let folds = TextFolds::new(&labelled, &clusters, &first, FOLDS, 0);
        assert!((0..28).all(|thread| folds.of(2 * thread) == folds.of(2 * thread + 1)));
        assert!((0..FOLDS).all(|fold| (0..56).any(|text| folds.of(text) == Some(fold))));
        assert_eq!((folds.of(56), folds.of(58)), (None, None));
        let (own, of_copy) = (folds.of(0).unwrap(), folds.of(59).unwrap());
        assert!(!folds.may_train(0, own) && !folds.may_train(0, of_copy) && !folds.may_train(59, own));
        assert!((0..FOLDS).all(|fold| folds.may_train(2, fold) == (folds.of(2) != Some(fold))));
        assert!(!folds.may_train(56, 0), "no label, nothing to teach");
        assert_eq!(folds, TextFolds::new(&labelled, &clusters, &first, FOLDS, 0));
        assert_ne!(folds, TextFolds::new(&labelled, &clusters, &first, FOLDS, 1));
    }

    #[test]
    fn text_is_scored_without_its_labels() {
        let rows: Vec<f32> = (0..40u16).flat_map(|t| [f32::from(t % 7), f32::from(t % 3)]).collect();
        let embeddings = Embeddings::new(2, rows).unwrap();
        let labels = |turned: &[u32]| -> Vec<Observation> {
            let level = |text: u32, who: u32| {
                let yes = text % 7 > 3 || (text + who).is_multiple_of(5);
                u16::from(yes != turned.contains(&text))
            };
            (0..35)
                .flat_map(|text| (0..4).map(move |who| (text, who)))
                .map(|(text, annotator)| Observation { text, annotator, level: level(text, annotator) })
                .collect()
        };
        let labelled: Vec<bool> = (0..40).map(|text| text < 35).collect();
        let own: Vec<u32> = (0..40).collect();
        let folds = TextFolds::new(&labelled, &own, &own, FOLDS, 0);
        let target = Target { kind: TargetKind::Binary, levels: 2 };
        let score = |observations: &[Observation]| {
            let data = TrainingData {
                embeddings: &embeddings,
                observations,
                annotators: 4,
                target,
                attributes: &[],
            };
            cross_fitted(&data, &folds, &FitOptions::default(), &Silent).unwrap()
        };
        let as_labelled = score(&labels(&[]));
        assert!(
            as_labelled[..70].iter().all(|p| p.is_finite()) && as_labelled[70..].iter().all(|p| p.is_nan())
        );
        assert!((as_labelled[20] + as_labelled[21] - 1.0).abs() < 1e-6);
        // All labels of one text reversed: its own score and those of its fold are bitwise unchanged;
        // others move.
        let turned = score(&labels(&[10]));
        for text in 0..35u32 {
            let same = as_labelled[text as usize * 2].to_bits() == turned[text as usize * 2].to_bits();
            assert_eq!(same, folds.of(text) == folds.of(10), "{text}");
        }
    }
}
