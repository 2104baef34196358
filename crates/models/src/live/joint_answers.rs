//! Joint distribution of people's answers to one text, for verdicts of panels.

use super::model::LiveModel;
use crate::mixed::predictor::{Scratch, TextColumns};
use dissensus_stats::data::AnnotatorModel;
use dissensus_stats::panels::{JointAnswers, text_nodes};

impl LiveModel {
    /// The distributions of these people's answers to a text at nodes of the posterior of its score, and of
    /// its scale where texts have one of their own: the uncertainty of the text moves them together. The
    /// uncertainty of each person is integrated out person by person. Annotators who labelled the text are
    /// represented by the label they gave. An annotator unknown to the model is an average one.
    ///
    /// # Panics
    /// If there is no such text.
    pub fn joint_answers(&self, text: u32, people: &[u32]) -> JointAnswers {
        let crossed = &self.model.crossed;
        let (at, q, levels) = (text as usize, crossed.link.scores(), self.levels());
        let nodes = text_nodes(q, crossed.scales.is_some());
        let mean = &crossed.u[at * q..(at + 1) * q];
        let sd = crossed.v[at].sqrt();
        let mut columns = TextColumns::empty(crossed);
        for node in &nodes {
            let scores: Vec<f64> = mean.iter().zip(&node.scores).map(|(m, x)| m + sd * x).collect();
            columns.push(&scores, 0.0, crossed.noise_at(at, node.scale), crossed.features(at));
        }
        let size = nodes.len() * levels;
        let mut p = Vec::with_capacity(people.len() * size);
        let (mut block, mut scratch) = (vec![0.0; size], Scratch::default());
        for person in people {
            self.model.predictor(*person).fill(&columns, 0..nodes.len(), &mut block, &mut scratch);
            p.extend(block.iter().map(|p| f64::from(*p)));
        }
        let mut joint = JointAnswers::new(nodes.into_iter().map(|node| node.weight).collect(), levels, p);
        for (place, person) in people.iter().enumerate() {
            if let Some(level) = self.label(text, *person) {
                joint.fix_answer(place, level);
            }
        }
        joint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Multilevel, TextScorer};
    use crate::link::Link;
    use crate::mixed::CrossedEffects;
    use dissensus_domain::TargetKind;
    use dissensus_stats::data::Target;
    use dissensus_stats::data::progress::Silent;
    use dissensus_stats::data::synthetic::simulate;
    use dissensus_stats::data::{FitOptions, Observation, TrainingData};
    use dissensus_stats::math::random::generator;
    use dissensus_stats::math::sigmoid;
    use dissensus_stats::panels::{VerdictRule, Verdicts};
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    /// Twelve people of known severities and three texts with known uncertainty.
    fn model(kind: TargetKind, levels: usize) -> LiveModel {
        let target = Target { kind, levels };
        let link = Link::new(target);
        let scores = (0..3 * link.scores()).map(|i| 0.6 - 0.3 * (i % 4) as f64).collect();
        let mut crossed = CrossedEffects::new(link, scores, 12, &[]);
        for (at, effect) in crossed.annotators.iter_mut().enumerate() {
            effect.theta[0] = 0.25 * (at as f64 - 5.5);
            effect.covariance.fill(0.0);
        }
        crossed.v = vec![0.2, 1.0, 2.5];
        LiveModel::from_model(
            Multilevel::from_parts(TextScorer::constant(link), crossed),
            target,
            Vec::new(),
            0,
        )
    }

    fn answer(p: impl Iterator<Item = f64>, rng: &mut ChaCha8Rng) -> u16 {
        let mut left: f64 = rng.random();
        let mut last = 0;
        for (level, p) in p.enumerate() {
            left -= p;
            last = level as u16;
            if left < 0.0 {
                break;
            }
        }
        last
    }

    /// Texts' scores drawn from their posteriors, then all people's answers at that score.
    #[test]
    fn integral_matches_simulation() {
        const DRAWS: usize = 40_000;
        let people: Vec<u32> = (0..12).collect();
        let members: Vec<usize> = (0..12).collect();
        for (kind, levels) in [(TargetKind::Binary, 2), (TargetKind::Ordinal, 4), (TargetKind::Nominal, 3)] {
            let live = model(kind, levels);
            let crossed = &live.model.crossed;
            let q = crossed.link.scores();
            let rules = match kind {
                TargetKind::Nominal => vec![VerdictRule::Majority],
                _ => vec![
                    VerdictRule::Majority,
                    VerdictRule::Mean,
                    VerdictRule::Quorum { members: 6, level: 1 },
                ],
            };
            for text in 0..3u32 {
                let mut rng = generator(u64::from(text), 3);
                let joint = live.joint_answers(text, &people);
                let mut counts: Vec<Vec<f64>> =
                    rules.iter().map(|rule| vec![0.0; rule.outcomes(levels).len()]).collect();
                let (mut p, mut scratch) = (vec![0.0; levels], Scratch::default());
                for _ in 0..DRAWS {
                    let at = text as usize;
                    let u: Vec<f64> = crossed.u[at * q..(at + 1) * q]
                        .iter()
                        .map(|mean| {
                            let x: f64 = StandardNormal.sample(&mut rng);
                            mean + crossed.v[at].sqrt() * x
                        })
                        .collect();
                    let columns = TextColumns::one(&u, 0.0, 0.0, &[]);
                    let answers: Vec<u16> = people
                        .iter()
                        .map(|person| {
                            live.model.predictor(*person).fill(&columns, 0..1, &mut p, &mut scratch);
                            answer(p.iter().map(|p| f64::from(*p)), &mut rng)
                        })
                        .collect();
                    for (rule, counts) in rules.iter().zip(&mut counts) {
                        counts[rule.of_answers(&answers, live.target())] += 1.0 / DRAWS as f64;
                    }
                }
                for (rule, counts) in rules.iter().zip(&counts) {
                    let verdicts = Verdicts::new(*rule, live.target(), 12).unwrap();
                    let found = verdicts.of(&joint, &members).unwrap();
                    for (found, drawn) in found.probabilities.iter().zip(counts) {
                        // Four standard errors of the drawn share, and the error of the points for several
                        // scores.
                        let error = 4.0 * (drawn * (1.0 - drawn) / DRAWS as f64).sqrt().max(0.001);
                        let points = if q > 1 { 0.02 } else { 0.0 };
                        assert!(
                            (found - drawn).abs() < error + points,
                            "{kind:?} {text} {rule:?}: {found} {drawn}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn given_answer_is_certain_and_informs_others() {
        let mut live = model(TargetKind::Binary, 2);
        let before = live.joint_answers(1, &[0, 1]);
        live.record(Observation { text: 1, annotator: 0, level: 1 }).unwrap();
        let after = live.joint_answers(1, &[0, 1, 99]);
        assert!(after.marginal(0)[0] == 0.0 && after.marginal(0)[1] > 1.0 - 1e-12);
        assert!(after.marginal(1)[1] > before.marginal(1)[1]);
        assert_eq!(after.people(), 3);
    }

    /// Averaged over all points, each person's answers equal the prediction for that person.
    #[test]
    fn single_member_answers_as_predicted() {
        for (kind, levels) in [(TargetKind::Binary, 2), (TargetKind::Ordinal, 5), (TargetKind::Nominal, 3)] {
            let live = model(kind, levels);
            for text in 0..3 {
                let mut p = vec![0.0; levels];
                live.predict(text, 3, &mut p);
                let joint = live.joint_answers(text, &[3]);
                for (found, p) in joint.marginal(0).into_iter().zip(p) {
                    // The single prediction attenuates instead of integrating.
                    assert!((found - f64::from(p)).abs() < 0.03, "{kind:?} {text}: {found} {p}");
                }
            }
        }
    }

    /// On simulated people the forecasts for texts without labels are calibrated, and those with independent
    /// members are not.
    #[test]
    fn verdict_probabilities_are_calibrated() {
        let sim = simulate(900, 60, 3, 4, 120, 11);
        let held = |text: u32| text >= 600;
        let train: Vec<Observation> = sim.observations.iter().filter(|o| !held(o.text)).copied().collect();
        let data = TrainingData {
            embeddings: &sim.embeddings,
            observations: &train,
            annotators: sim.annotators,
            target: sim.target,
            attributes: &[],
        };
        let live = LiveModel::fit(&data, &FitOptions::default(), &Silent).unwrap();
        let mut rng = generator(5, 9);
        let (mut sure, mut right, mut very, mut very_right, mut n) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let (mut loss, mut loss_alone) = (0.0, 0.0);
        for text in 600..900u32 {
            for _ in 0..2 {
                let people: Vec<u32> =
                    rand::seq::index::sample(&mut rng, 60, 9).into_iter().map(|p| p as u32).collect();
                let members: Vec<usize> = (0..9).collect();
                let answers: Vec<u16> = people
                    .iter()
                    .map(|person| {
                        let u = sim.score[text as usize] + sim.severity[*person as usize];
                        let above = [1.0, sigmoid(u + 1.5), sigmoid(u - 1.5), 0.0];
                        answer(above.windows(2).map(|pair| pair[0] - pair[1]), &mut rng)
                    })
                    .collect();
                let rule = VerdictRule::Majority;
                let verdicts = Verdicts::new(rule, sim.target, 9).unwrap();
                let forecast = verdicts.of(&live.joint_answers(text, &people), &members).unwrap();
                let mut p = vec![0.0; 9 * 3];
                let pairs: Vec<(u32, u32)> = people.iter().map(|person| (text, *person)).collect();
                live.predict_pairs(&pairs, &mut p);
                let alone = verdicts.of(&JointAnswers::independent(3, &p), &members).unwrap();
                let truth = rule.of_answers(&answers, sim.target);
                let (at, p) = forecast.likeliest();
                let hit = f64::from(u8::from(at == truth));
                (sure, right, n) = (sure + p, right + hit, n + 1.0);
                if p >= 0.7 {
                    (very, very_right) = (very + p, very_right + hit);
                }
                loss -= forecast.probabilities[truth].ln();
                loss_alone -= alone.probabilities[truth].ln();
            }
        }
        let apart = (sure - right) / n;
        assert!(apart.abs() < 0.05, "{} sure, {} right", sure / n, right / n);
        assert!(very > 60.0 && (very - very_right).abs() < 3.0 * (0.2 * very).sqrt(), "{very} {very_right}");
        assert!(loss / n + 0.01 < loss_alone / n, "{} {}", loss / n, loss_alone / n);
    }
}
