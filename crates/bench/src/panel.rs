//! Predicted verdicts of real panels on held-out texts.

use crate::error::BenchError;
use crate::material::Material;
use dissensus_models::live::LiveModel;
use dissensus_project::home::Home;
use dissensus_selection::fit::fit;
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::{AnnotatorModel as _, FitOptions, ModelKind, Observation, Target, TrainingData};
use dissensus_stats::panels::{JointAnswers, VerdictRule, Verdicts};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Share of the texts whose labels are held out.
const HELD_OUT: f64 = 0.3;
/// Lower bound of a scored probability, so that one unexpected verdict does not dominate.
const FLOOR: f64 = 1e-6;
/// Half-width of a 90 % interval, in standard errors.
const NINETY: f64 = 1.644_853_626_951_472_2;

/// Choices of the panel benchmark.
#[derive(Clone, Debug)]
pub struct PanelChoices {
    pub file: PathBuf,
    /// The encoder; `None` for the default.
    pub encoder: Option<String>,
    /// Number of members of a panel.
    pub members: usize,
    /// Number of panels drawn from each held-out text's annotators.
    pub panels: usize,
    /// Seeds 0, 1, ...: each holds out different texts.
    pub seeds: u64,
}

/// How well verdicts of real panels are predicted.
#[derive(Clone, Debug, Serialize)]
pub struct PanelBench {
    /// Number of texts in the file.
    pub texts: usize,
    /// Number of labels in the file.
    pub labels: usize,
    /// Number of members of a panel.
    pub members: usize,
    /// One entry per seed.
    pub seeds: Vec<PanelSeed>,
}

/// Result of one seed.
#[derive(Clone, Debug, Serialize)]
pub struct PanelSeed {
    pub seed: u64,
    /// Number of held-out texts with at least as many annotators as a panel has members.
    pub texts: usize,
    /// Number of panels scored.
    pub panels: usize,
    /// One entry per rule and model.
    pub scores: Vec<PanelScores>,
}

/// Scores of one rule and model.
#[derive(Clone, Debug, Serialize)]
pub struct PanelScores {
    pub rule: String,
    /// `panel`: members who read the same text; `independent`: the same members, drawn independently;
    /// `majority`: the model of majority labels.
    pub model: &'static str,
    /// Mean negative log-likelihood of the panels' verdicts, in nats.
    pub log_loss: f64,
    /// Brier score: mean over panels of the sum over verdicts of squared errors.
    pub brier: f64,
    /// Share of panels whose verdict was the most likely one.
    pub accuracy: f64,
    /// Mean probability of the most likely verdict.
    pub sure: f64,
    /// Log loss minus that of `panel`, with a 90 % interval over texts; `None` for `panel` itself.
    pub log_loss_more: Option<[f64; 3]>,
    /// The same difference for the Brier score.
    pub brier_more: Option<[f64; 3]>,
}

/// Imports and encodes a file in a temporary folder and predicts panels on held-out texts.
///
/// # Errors
/// Fails if the file cannot be imported or encoded, has too few labels to fit a model, or no held-out text
/// has at least as many annotators as a panel has members.
pub fn panel(home: &Home, choices: &PanelChoices, say: &dyn Fn(&str)) -> Result<PanelBench, BenchError> {
    let material = Material::new(home, &choices.file, choices.encoder.clone())?;
    let mut seeds = Vec::new();
    for seed in 0..choices.seeds {
        say(&format!("seed {seed}"));
        seeds.push(one_seed(&material, choices, seed)?);
    }
    Ok(PanelBench {
        texts: material.embeddings.texts,
        labels: material.observations.len(),
        members: choices.members,
        seeds,
    })
}

/// A real panel of a held-out text.
struct RealPanel {
    text: u32,
    people: Vec<u32>,
    answers: Vec<u16>,
}

fn one_seed(material: &Material, choices: &PanelChoices, seed: u64) -> Result<PanelSeed, BenchError> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // Texts with the same body are held out together.
    let mut units: Vec<usize> = material.bodies.clone();
    units.sort_unstable();
    units.dedup();
    units.shuffle(&mut rng);
    units.truncate((HELD_OUT * units.len() as f64).round() as usize);
    units.sort_unstable();
    let is_held = |text: u32| units.binary_search(&material.bodies[text as usize]).is_ok();
    let (held, train): (Vec<Observation>, Vec<Observation>) =
        material.observations.iter().copied().partition(|o| is_held(o.text));
    let data = TrainingData {
        embeddings: &material.embeddings,
        observations: &train,
        annotators: material.annotators,
        target: material.target,
        attributes: &[],
    };
    let options = FitOptions { seed, ..FitOptions::default() };
    let live = LiveModel::fit(&data, &options, &Silent)?;
    let majority = fit(ModelKind::Majority, &data, &options, &Silent)?;
    let panels = drawn(&held, choices, &mut rng);
    let texts = panels.chunk_by(|a, b| a.text == b.text).count();
    if panels.is_empty() {
        return Err(BenchError::Option {
            name: "--members",
            value: choices.members.to_string(),
            allowed: "at most as many as the texts of the file have annotators",
        });
    }
    let of_training = drawn(&train, choices, &mut rng);
    let mut scores = Vec::new();
    for rule in rules(material.target, choices.members) {
        let verdicts = Verdicts::new(rule, material.target, choices.members)?;
        // The model of majority labels predicts no ties: it uses their share among panels of the training
        // texts.
        let ties = ties(rule, &of_training, material.target);
        let members: Vec<usize> = (0..choices.members).collect();
        let mut found = [Vec::new(), Vec::new(), Vec::new()];
        for panel in &panels {
            let truth = rule.of_answers(&panel.answers, material.target);
            let pairs: Vec<(u32, u32)> = panel.people.iter().map(|who| (panel.text, *who)).collect();
            let mut alone = vec![0.0; pairs.len() * material.target.levels];
            live.predict_pairs(&pairs, &mut alone);
            let alone = JointAnswers::independent(material.target.levels, &alone);
            let mut level = vec![0.0; material.target.levels];
            majority.predict(panel.text, panel.people[0], &mut level);
            let predicted = [
                verdicts.of(&live.joint_answers(panel.text, &panel.people), &members)?.probabilities,
                verdicts.of(&alone, &members)?.probabilities,
                of_majority(rule, &level, ties, material.target),
            ];
            for (found, p) in found.iter_mut().zip(predicted) {
                found.push(Scored::new(panel.text, &p, truth));
            }
        }
        let name = rule_name(rule);
        for (found_of, model) in found.iter().zip(["panel", "independent", "majority"]) {
            scores.push(summary(&name, model, found_of, (model != "panel").then_some(&found[0])));
        }
    }
    Ok(PanelSeed { seed, texts, panels: panels.len(), scores })
}

/// Draws panels from each text's own annotators, by text.
fn drawn(labels: &[Observation], choices: &PanelChoices, rng: &mut ChaCha8Rng) -> Vec<RealPanel> {
    let mut of_text: BTreeMap<u32, Vec<Observation>> = BTreeMap::new();
    labels.iter().for_each(|o| of_text.entry(o.text).or_default().push(*o));
    let mut panels = Vec::new();
    for (text, mut labels) in of_text {
        if labels.len() < choices.members {
            continue;
        }
        // If a text has exactly as many annotators as members, there is only one panel.
        let n = if labels.len() == choices.members { 1 } else { choices.panels };
        for _ in 0..n {
            labels.shuffle(rng);
            let chosen = &labels[..choices.members];
            panels.push(RealPanel {
                text,
                people: chosen.iter().map(|o| o.annotator).collect(),
                answers: chosen.iter().map(|o| o.level).collect(),
            });
        }
    }
    panels
}

/// Rules for the scale: majority, mean, half of the panel in the upper half of the scale, one veto at its
/// end.
fn rules(target: Target, members: usize) -> Vec<VerdictRule> {
    let top = target.levels as u16 - 1;
    let mut rules = vec![VerdictRule::Majority];
    if target.kind.is_ordered() {
        if target.levels > 2 {
            rules.push(VerdictRule::Mean);
        }
        rules.push(VerdictRule::Quorum { members: members.div_ceil(2), level: target.levels as u16 / 2 });
        rules.push(VerdictRule::Veto { level: top });
    }
    rules
}

fn rule_name(rule: VerdictRule) -> String {
    match rule {
        VerdictRule::Majority => "majority".to_owned(),
        VerdictRule::Mean => "mean".to_owned(),
        VerdictRule::Median => "median".to_owned(),
        VerdictRule::Veto { level } => format!("veto at level {}", level + 1),
        VerdictRule::Quorum { members, level } => format!("{members} at level {} or above", level + 1),
    }
}

/// Smoothed share of ties: one panel with a tie and one without are added.
fn ties(rule: VerdictRule, panels: &[RealPanel], target: Target) -> f64 {
    let tied = panels.iter().filter(|panel| rule.of_answers(&panel.answers, target) == target.levels).count();
    (tied as f64 + 1.0) / (panels.len() as f64 + 2.0)
}

/// Verdict probabilities of the model of majority labels, which takes its predicted level as the verdict.
fn of_majority(rule: VerdictRule, level: &[f32], ties: f64, target: Target) -> Vec<f64> {
    let p: Vec<f64> = level.iter().map(|p| f64::from(*p)).collect();
    match rule {
        VerdictRule::Majority => p.iter().map(|p| p * (1.0 - ties)).chain([ties]).collect(),
        VerdictRule::Mean | VerdictRule::Median => p,
        VerdictRule::Veto { level } | VerdictRule::Quorum { level, .. } => {
            let at = usize::from(level);
            let reached: f64 = if target.kind.is_ordered() { p[at..].iter().sum() } else { p[at] };
            vec![1.0 - reached, reached]
        }
    }
}

/// Scores of one panel.
struct Scored {
    text: u32,
    log_loss: f64,
    brier: f64,
    hit: bool,
    sure: f64,
}

impl Scored {
    fn new(text: u32, p: &[f64], truth: usize) -> Self {
        let error = |(at, p): (usize, &f64)| (p - f64::from(u8::from(at == truth))).powi(2);
        let sure = p.iter().copied().fold(f64::MIN, f64::max);
        Self {
            text,
            log_loss: -p[truth].max(FLOOR).ln(),
            brier: p.iter().enumerate().map(error).sum(),
            hit: p.iter().position(|p| *p == sure) == Some(truth),
            sure,
        }
    }
}

fn summary(rule: &str, model: &'static str, scored: &[Scored], ours: Option<&Vec<Scored>>) -> PanelScores {
    let mean = |of: fn(&Scored) -> f64| scored.iter().map(of).sum::<f64>() / scored.len() as f64;
    let more = |of: fn(&Scored) -> f64| ours.map(|ours| difference(scored, ours, of));
    PanelScores {
        rule: rule.to_owned(),
        model,
        log_loss: mean(|one| one.log_loss),
        brier: mean(|one| one.brier),
        accuracy: mean(|one| f64::from(u8::from(one.hit))),
        sure: mean(|one| one.sure),
        log_loss_more: more(|one| one.log_loss),
        brier_more: more(|one| one.brier),
    }
}

/// Mean difference over panels with a 90 % interval that treats the panels of one text as one draw (ratio
/// estimator).
fn difference(theirs: &[Scored], ours: &[Scored], of: fn(&Scored) -> f64) -> [f64; 3] {
    let pairs: Vec<(u32, f64)> = theirs.iter().zip(ours).map(|(a, b)| (a.text, of(a) - of(b))).collect();
    let n = pairs.len() as f64;
    let mean = pairs.iter().map(|(_, d)| d).sum::<f64>() / n;
    let texts: Vec<f64> = pairs
        .chunk_by(|a, b| a.0 == b.0)
        .map(|of_text| of_text.iter().map(|(_, d)| d - mean).sum::<f64>())
        .collect();
    let k = texts.len() as f64;
    let error = (texts.iter().map(|sum| sum * sum).sum::<f64>() * k / (k - 1.0).max(1.0)).sqrt() / n;
    [mean, mean - NINETY * error, mean + NINETY * error]
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Target = Target { kind: dissensus_domain::TargetKind::Ordinal, levels: 3 };

    #[test]
    fn majority_model_is_scored_by_its_verdict() {
        let level = [0.5, 0.25, 0.25];
        assert_eq!(of_majority(VerdictRule::Majority, &level, 0.2, TARGET), [0.4, 0.2, 0.2, 0.2]);
        assert_eq!(
            of_majority(VerdictRule::Quorum { members: 2, level: 1 }, &level, 0.2, TARGET),
            [0.5, 0.5]
        );
        assert_eq!(of_majority(VerdictRule::Mean, &level, 0.2, TARGET), [0.5, 0.25, 0.25]);
    }

    #[test]
    fn scores_match_the_formulas() {
        let one = Scored::new(0, &[0.2, 0.5, 0.3], 1);
        assert!((one.log_loss - 2.0f64.ln()).abs() < 1e-12 && one.hit && one.sure == 0.5);
        assert!((one.brier - (0.04 + 0.25 + 0.09)).abs() < 1e-12);
        let of = |text, log_loss| Scored { text, log_loss, brier: 0.0, hit: false, sure: 0.0 };
        let [mean, low, high] = difference(
            &[of(0, 1.0), of(0, 1.0), of(1, 3.0), of(1, 3.0)],
            &[of(0, 0.0), of(0, 0.0), of(1, 0.0), of(1, 0.0)],
            |one| one.log_loss,
        );
        // Two texts, 1 and 3: the standard error of their mean is 1.
        assert!(
            (mean - 2.0).abs() < 1e-12 && (high - low - 2.0 * NINETY).abs() < 1e-9,
            "{mean} {low} {high}"
        );
    }

    #[test]
    fn panels_consist_of_annotators_of_the_text() {
        let o = |text, annotator, level| Observation { text, annotator, level };
        let labels = [o(0, 1, 0), o(0, 2, 1), o(0, 3, 2), o(1, 4, 0), o(2, 1, 1), o(2, 5, 2)];
        let choices = PanelChoices { file: "x".into(), encoder: None, members: 2, panels: 3, seeds: 1 };
        let panels = drawn(&labels, &choices, &mut ChaCha8Rng::seed_from_u64(1));
        assert_eq!(panels.iter().map(|p| p.text).collect::<Vec<_>>(), [0, 0, 0, 2]);
        for panel in panels {
            for (who, answer) in panel.people.iter().zip(&panel.answers) {
                assert!(labels.contains(&o(panel.text, *who, *answer)));
            }
        }
    }
}
