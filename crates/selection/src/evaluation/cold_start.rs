//! Cold start: learning curves of annotators that are held out entirely, then learned label by label.

use super::seen::SeenByEncoder;
use crate::fit::fit;
use dissensus_stats::data::FitOptions;
use dissensus_stats::data::ModelError;
use dissensus_stats::data::ModelKind;
use dissensus_stats::data::copies::Copies;
use dissensus_stats::data::progress::{Progress, Quiet, step};
use dissensus_stats::data::{Observation, TrainingData};
use dissensus_stats::math::random::generator;
use dissensus_stats::metrics::{accuracy, log_loss};
use dissensus_stats::metrics::{dichotomize, score};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Settings of a learning curve. All randomness is seeded by [`FitOptions::seed`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColdStart {
    /// Share of the annotators held out, inside (0, 1).
    pub annotators: f64,
    /// Numbers of labels from a held-out annotator before scoring, ascending, for example 0, 1, 2, 5, 10,
    /// 20.
    pub labels: Vec<usize>,
    /// With a share inside (0, 1): that share of the texts is scored and never used for training, so that
    /// neither the annotator nor the text was seen. Otherwise texts are shared: others' labels of a scored
    /// text are used for training.
    pub by_text_too: Option<f64>,
    /// Scores an ordinal question as "is the level this one or higher" (counted from 0), like
    /// [`crate::evaluation::evaluate`].
    pub at_least: Option<u16>,
}

impl Default for ColdStart {
    fn default() -> Self {
        Self { annotators: 0.3, labels: vec![0, 1, 2, 5, 10, 20], by_text_too: None, at_least: None }
    }
}

/// One model after one number of labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurvePoint {
    /// The model's name on the command line.
    pub model: String,
    /// Number of labels given by every held-out annotator.
    pub labels: usize,
    /// Mean negative log-likelihood of a scored label, in nats.
    pub log_loss: f64,
    /// Accuracy on the scored labels.
    pub accuracy: f64,
}

/// Curves of models on the same annotators, the same first labels and the same scored labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LearningCurve {
    /// Number of annotators held out and scored.
    pub annotators: usize,
    /// Number of labels scored at every point.
    pub n_labels: usize,
    /// Number of texts with scored labels.
    pub n_texts: usize,
    /// The points, model by model in the requested order, labels ascending.
    pub points: Vec<CurvePoint>,
}

struct Plan {
    /// Labels for training at every point.
    others: Vec<Observation>,
    /// Every held-out annotator's first labels in the order they are given.
    first_labels: Vec<Vec<Observation>>,
    scored: Vec<Observation>,
}

/// Holds out a share of the annotators, then for every number `n` of [`ColdStart::labels`] and every model
/// fits to the others and to the first `n` labels (in seeded order) of the held-out annotators, and scores
/// the labels that these annotators gave beyond the largest `n`: the same labels at every point. Annotators
/// with too few labels for that train with the others. With [`ColdStart::by_text_too`] the first labels
/// come from training texts and the scored ones from texts that are never trained on.
///
/// # Errors
/// Those of [`fit`](crate::fit::fit); [`ModelError::Share`]; [`ModelError::AtLeast`];
/// [`ModelError::Length`] without a number of labels; [`ModelError::EmptySplit`] if no annotator has enough
/// labels, or none remains for training.
pub fn learning_curve(
    data: &TrainingData<'_>,
    kinds: &[ModelKind],
    spec: &ColdStart,
    seen: SeenByEncoder<'_>,
    options: &FitOptions,
    progress: &dyn Progress,
) -> Result<LearningCurve, ModelError> {
    let mut plan = plan(data, spec, options.seed)?;
    let texts = Copies::by_embedding(data.embeddings).spread(seen.texts);
    let seen = SeenByEncoder { texts: &texts, ..seen };
    plan.scored.retain(|o| !seen.excludes(o, true));
    let unseen = plan.scored.iter().map(|o| o.text).collect::<BTreeSet<_>>().len();
    seen.check(&format!("by-annotator:{}", 1.0 - spec.annotators), unseen)?;
    let mut numbers = spec.labels.clone();
    numbers.sort_unstable();
    numbers.dedup();
    let mut points = Vec::with_capacity(kinds.len() * numbers.len());
    for kind in kinds {
        for &n in &numbers {
            step(progress, kind.name(), points.len() as f32 / (kinds.len() * numbers.len()) as f32)?;
            let mut train = plan.others.clone();
            plan.first_labels.iter().for_each(|own| train.extend(own.iter().take(n)));
            let train = TrainingData { observations: &train, ..*data };
            let model = fit(*kind, &train, options, &Quiet(progress))?;
            let mut scored = score(model.as_ref(), &plan.scored);
            if let Some(level) = spec.at_least {
                scored = dichotomize(&scored, level);
            }
            points.push(CurvePoint {
                model: kind.name().to_owned(),
                labels: n,
                log_loss: log_loss(&scored),
                accuracy: accuracy(&scored.truth(), &scored.predicted()),
            });
        }
    }
    let mut texts: Vec<u32> = plan.scored.iter().map(|o| o.text).collect();
    texts.sort_unstable();
    texts.dedup();
    Ok(LearningCurve {
        annotators: plan.first_labels.len(),
        n_labels: plan.scored.len(),
        n_texts: texts.len(),
        points,
    })
}

fn plan(data: &TrainingData<'_>, spec: &ColdStart, seed: u64) -> Result<Plan, ModelError> {
    let inside = |share: f64| {
        if share > 0.0 && share < 1.0 { Ok(share) } else { Err(ModelError::Share(share)) }
    };
    inside(spec.annotators)?;
    let most = spec.labels.iter().copied().max().ok_or(ModelError::Length {
        what: "the numbers of labels",
        expected: 1,
        found: 0,
    })?;
    if let Some(level) = spec.at_least {
        let levels = data.target.levels;
        if !data.target.kind.has_distances() || level == 0 || usize::from(level) >= levels {
            return Err(ModelError::AtLeast { level, levels });
        }
    }
    let sorted = data.sorted()?;
    // Whether each text is scored; all of them if texts are shared.
    let copies = Copies::by_embedding(data.embeddings);
    let mut hidden = vec![false; data.embeddings.texts];
    if let Some(share) = spec.by_text_too {
        let mut order: Vec<usize> = (0..hidden.len()).collect();
        order.shuffle(&mut generator(seed, 7));
        let many = (inside(share)? * hidden.len() as f64).round() as usize;
        order.into_iter().take(many).for_each(|t| hidden[t] = true);
        // Copies of a text are scored together, or none of them is.
        let of: Vec<bool> = (0..hidden.len() as u32).map(|t| hidden[copies.first(t) as usize]).collect();
        hidden = of;
    }
    let mut own: BTreeMap<u32, Vec<Observation>> = BTreeMap::new();
    sorted.iter().for_each(|o| own.entry(o.annotator).or_default().push(*o));
    let mut rng = generator(seed, 8);
    let mut able: Vec<u32> = Vec::new();
    for (annotator, labels) in &mut own {
        labels.shuffle(&mut rng);
        if spec.by_text_too.is_some() {
            labels.sort_by_key(|o| hidden[o.text as usize]); // stable: training texts come first
        }
        let trainable = labels.iter().filter(|o| !hidden[o.text as usize]).count();
        let enough =
            trainable >= most && labels.len() > if spec.by_text_too.is_some() { trainable } else { most };
        if enough {
            able.push(*annotator);
        }
    }
    let many = (spec.annotators * own.len() as f64).round().max(1.0) as usize;
    able.shuffle(&mut rng);
    able.truncate(many);
    able.sort_unstable();
    let (mut first_labels, mut scored, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for (annotator, labels) in own {
        if able.binary_search(&annotator).is_err() {
            others.extend(labels.into_iter().filter(|o| !hidden[o.text as usize]));
            continue;
        }
        let later = &labels[most..];
        // Excludes copies of texts that the same annotator's first labels are on.
        let labelled: BTreeSet<u32> = labels[..most].iter().map(|o| copies.first(o.text)).collect();
        let tested = |o: &&Observation| spec.by_text_too.is_none() || hidden[o.text as usize];
        scored.extend(later.iter().filter(tested).filter(|o| !labelled.contains(&copies.first(o.text))));
        first_labels.push(labels[..most].to_vec());
    }
    for (side, empty) in [("train", others.is_empty()), ("score", scored.is_empty())] {
        if empty {
            let split = format!("by-annotator:{} with {most} labels", spec.annotators);
            return Err(ModelError::EmptySplit { split, side });
        }
    }
    Ok(Plan { others, first_labels, scored })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_stats::data::progress::Silent;
    use dissensus_stats::data::synthetic::{Simulation, simulate};

    fn data(sim: &Simulation) -> TrainingData<'_> {
        TrainingData {
            embeddings: &sim.embeddings,
            observations: &sim.observations,
            annotators: sim.annotators,
            target: sim.target,
            attributes: &[],
        }
    }

    #[test]
    fn multilevel_is_never_worse_than_the_others() {
        let sim = simulate(400, 60, 5, 8, 50, 3);
        let kinds = [ModelKind::Shared, ModelKind::SepHeads, ModelKind::Multilevel];
        for by_text_too in [None, Some(0.3)] {
            let spec = ColdStart { by_text_too, at_least: Some(2), ..ColdStart::default() };
            let curve = learning_curve(
                &data(&sim),
                &kinds,
                &spec,
                SeenByEncoder::default(),
                &FitOptions::default(),
                &Silent,
            )
            .unwrap();
            assert_eq!((curve.annotators, curve.points.len()), (18, 18));
            let loss = |kind: ModelKind, n: usize| {
                curve.points.iter().find(|p| p.model == kind.name() && p.labels == n).unwrap().log_loss
            };
            for n in [0, 1, 2, 5, 10, 20] {
                let ours = loss(ModelKind::Multilevel, n);
                for other in [ModelKind::Shared, ModelKind::SepHeads] {
                    assert!(ours <= loss(other, n) + 0.004, "{other} {n}: {ours} {}", loss(other, n));
                }
            }
            assert!(loss(ModelKind::Multilevel, 20) < loss(ModelKind::Multilevel, 0) - 0.03);
        }
    }

    #[test]
    fn learning_curve_separates_people_and_texts() {
        let sim = simulate(200, 30, 2, 4, 40, 5);
        for by_text_too in [None, Some(0.4)] {
            let spec = ColdStart { by_text_too, labels: vec![10, 0, 3], ..ColdStart::default() };
            let plan = plan(&data(&sim), &spec, 1).unwrap();
            let held: Vec<u32> = plan.first_labels.iter().map(|own| own[0].annotator).collect();
            assert_eq!(held.len(), 9);
            assert!(
                plan.first_labels
                    .iter()
                    .all(|own| own.len() == 10 && own.iter().all(|o| o.annotator == own[0].annotator))
            );
            assert!(plan.others.iter().all(|o| !held.contains(&o.annotator)));
            assert!(plan.scored.iter().all(|o| held.contains(&o.annotator)));
            let train: Vec<&Observation> =
                plan.others.iter().chain(plan.first_labels.iter().flatten()).collect();
            assert!(plan.scored.iter().all(|s| !train.contains(&s)));
            let seen = plan.scored.iter().filter(|s| train.iter().any(|o| o.text == s.text)).count();
            if by_text_too.is_some() {
                assert_eq!(seen, 0, "a scored text is never trained on");
            } else {
                assert_eq!(plan.scored.len(), 9 * 30);
                assert!(seen > 200);
            }
        }
    }

    #[test]
    fn learning_curve_is_seeded() {
        let sim = simulate(150, 20, 2, 3, 30, 9);
        let spec = ColdStart { labels: vec![0, 4], ..ColdStart::default() };
        let run = |seed| {
            let options = FitOptions { seed, ..FitOptions::default() };
            learning_curve(
                &data(&sim),
                &[ModelKind::SepHeads],
                &spec,
                SeenByEncoder::default(),
                &options,
                &Silent,
            )
            .unwrap()
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        assert_eq!(run(1).points.iter().map(|p| p.labels).collect::<Vec<_>>(), [0, 4]);
    }

    #[test]
    fn impossible_learning_curve_is_refused() {
        let sim = simulate(50, 6, 2, 2, 10, 2);
        let run = |spec: ColdStart| {
            learning_curve(
                &data(&sim),
                &[ModelKind::Shared],
                &spec,
                SeenByEncoder::default(),
                &FitOptions::default(),
                &Silent,
            )
            .err()
        };
        let ok = ColdStart { labels: vec![2], ..ColdStart::default() };
        assert_eq!(run(ok.clone()), None);
        assert_eq!(run(ColdStart { annotators: 1.0, ..ok.clone() }), Some(ModelError::Share(1.0)));
        assert_eq!(run(ColdStart { by_text_too: Some(0.0), ..ok.clone() }), Some(ModelError::Share(0.0)));
        assert!(matches!(run(ColdStart { labels: vec![], ..ok.clone() }), Some(ModelError::Length { .. })));
        assert!(matches!(
            run(ColdStart { at_least: Some(1), ..ok.clone() }),
            Some(ModelError::AtLeast { .. })
        ));
        let many = run(ColdStart { labels: vec![10], ..ok });
        assert!(matches!(many, Some(ModelError::EmptySplit { side: "score", .. })));
    }
}
