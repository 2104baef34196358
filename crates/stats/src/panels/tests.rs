//! Verdicts against enumeration of all answers, against sampling, and on simulated people.

use super::{JointAnswers, Verdict, VerdictRule, Verdicts};
use crate::data::{ModelError, Target};
use crate::math::random::generator;
use dissensus_domain::TargetKind;
use rand::RngExt;

const RULES: [VerdictRule; 8] = [
    VerdictRule::Majority,
    VerdictRule::Mean,
    VerdictRule::Median,
    VerdictRule::Veto { level: 2 },
    VerdictRule::Veto { level: 0 },
    VerdictRule::Quorum { members: 1, level: 1 },
    VerdictRule::Quorum { members: 3, level: 1 },
    VerdictRule::Quorum { members: 2, level: 2 },
];

fn ordinal(levels: usize) -> Target {
    Target { kind: TargetKind::Ordinal, levels }
}

/// Random distributions at three nodes.
fn joint(people: usize, levels: usize, seed: u64) -> JointAnswers {
    let mut rng = generator(seed, 1);
    let weights = vec![0.5, 0.2, 0.3];
    let mut p = vec![0.0; people * levels * 3];
    for person in 0..people {
        for node in 0..3 {
            let draws: Vec<f64> = (0..levels).map(|_| rng.random::<f64>().powi(2)).collect();
            let sum: f64 = draws.iter().sum();
            for (level, draw) in draws.iter().enumerate() {
                p[(person * levels + level) * 3 + node] = draw / sum;
            }
        }
    }
    JointAnswers::new(weights, levels, p)
}

/// The verdict's distribution by enumerating every combination of answers.
fn enumerated(joint: &JointAnswers, members: &[usize], rule: VerdictRule, target: Target) -> Vec<f64> {
    let mut out = vec![0.0; rule.outcomes(target.levels).len()];
    for code in 0..target.levels.pow(members.len() as u32) {
        let answers: Vec<u16> =
            (0..members.len()).map(|i| (code / target.levels.pow(i as u32) % target.levels) as u16).collect();
        let p: f64 = (joint.weights().iter().enumerate())
            .map(|(node, weight)| {
                let of = |(member, answer): (&usize, &u16)| joint.of(*member, usize::from(*answer))[node];
                weight * members.iter().zip(&answers).map(of).product::<f64>()
            })
            .sum();
        out[rule.of_answers(&answers, target)] += p;
    }
    out
}

#[test]
fn convolution_matches_enumeration() {
    for (size, levels) in [(1, 3), (3, 3), (4, 3), (5, 3), (6, 4), (3, 5)] {
        let joint = joint(size + 2, levels, (size * 10 + levels) as u64);
        let members: Vec<usize> = (1..=size).collect();
        for rule in RULES {
            let Ok(verdicts) = Verdicts::new(rule, ordinal(levels), size) else {
                assert!(matches!(rule, VerdictRule::Quorum { members, .. } if members > size), "{rule:?}");
                continue;
            };
            assert!(verdicts.is_exact());
            let found = verdicts.of(&joint, &members).unwrap();
            let expected = enumerated(&joint, &members, rule, ordinal(levels));
            assert!((found.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            for (at, (found, expected)) in found.probabilities.iter().zip(&expected).enumerate() {
                assert!(
                    (found - expected).abs() < 1e-12,
                    "{rule:?} {size} {levels} {at}: {found} {expected}"
                );
            }
            for (p, (low, high)) in found.probabilities.iter().zip(&found.ranges) {
                assert!(low <= p && p <= high, "{low} {p} {high}");
            }
        }
    }
}

#[test]
fn binary_and_nominal_verdicts_match_enumeration() {
    let binary = Target { kind: TargetKind::Binary, levels: 2 };
    let choice = Target { kind: TargetKind::Nominal, levels: 3 };
    for (target, size) in [(binary, 4), (binary, 5), (choice, 4)] {
        let joint = joint(size, target.levels, 5);
        let members: Vec<usize> = (0..size).collect();
        for rule in [
            VerdictRule::Majority,
            VerdictRule::Veto { level: 1 },
            VerdictRule::Quorum { members: 2, level: 1 },
        ] {
            let found = Verdicts::new(rule, target, size).unwrap().of(&joint, &members).unwrap();
            let expected = enumerated(&joint, &members, rule, target);
            let apart =
                found.probabilities.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-12, "{rule:?} {target:?}: {apart}");
        }
        assert_eq!(Verdicts::new(VerdictRule::Mean, target, size).is_err(), target == choice);
        assert_eq!(Verdicts::new(VerdictRule::Median, target, size).is_err(), target == choice);
    }
}

/// Beyond the limit of enumeration answers are sampled: reproducibly, and close to the truth of two levels
/// that the others cannot beat.
#[test]
fn large_panels_match_simulation() {
    let (levels, size) = (5, 60);
    let verdicts = Verdicts::new(VerdictRule::Majority, ordinal(levels), size).unwrap();
    assert!(!verdicts.is_exact());
    let of = |person: usize| {
        let yes = 0.44 + 0.002 * person as f64;
        vec![1.0 - yes, yes, 0.0, 0.0, 0.0]
    };
    let p: Vec<f64> = (0..size).flat_map(of).collect();
    let members: Vec<usize> = (0..size).collect();
    let found = verdicts.of(&JointAnswers::new(vec![1.0], levels, p), &members).unwrap();
    let p: Vec<f64> = (0..size).flat_map(|person| of(person)[..2].to_vec()).collect();
    let binary = Target { kind: TargetKind::Binary, levels: 2 };
    let exact = Verdicts::new(VerdictRule::Majority, binary, size).unwrap();
    let exact = exact.of(&JointAnswers::new(vec![1.0], 2, p), &members).unwrap();
    assert!((found.probabilities[0] - exact.probabilities[0]).abs() < 0.08, "{found:?} {exact:?}");
    assert!((found.probabilities[5] - exact.probabilities[2]).abs() < 0.08);
}

#[test]
fn certain_people_give_a_certain_verdict() {
    let certain = |answers: &[u16], levels: usize| {
        let mut joint = joint(answers.len(), levels, 3);
        answers.iter().enumerate().for_each(|(person, level)| joint.fix_answer(person, *level));
        joint
    };
    for (answers, rule, expected) in [
        (&[0u16, 2, 2, 1][..], VerdictRule::Majority, Verdict::Level(2)),
        (&[0, 0, 2, 2], VerdictRule::Majority, Verdict::NoMajority),
        (&[0, 1, 2, 2], VerdictRule::Mean, Verdict::Level(1)),
        (&[1, 1, 2, 2], VerdictRule::Mean, Verdict::Level(2)),
        (&[0, 1, 2, 2], VerdictRule::Median, Verdict::Level(1)),
        (&[0, 1, 1, 0], VerdictRule::Veto { level: 2 }, Verdict::Passed),
        (&[0, 1, 2, 0], VerdictRule::Veto { level: 2 }, Verdict::Vetoed),
        (&[0, 1, 2, 0], VerdictRule::Quorum { members: 3, level: 1 }, Verdict::NotReached),
        (&[0, 1, 2, 1], VerdictRule::Quorum { members: 3, level: 1 }, Verdict::Reached),
    ] {
        let joint = certain(answers, 3);
        let verdicts = Verdicts::new(rule, ordinal(3), 4).unwrap();
        let found = verdicts.of(&joint, &[0, 1, 2, 3]).unwrap();
        let (at, p) = found.likeliest();
        assert_eq!((verdicts.outcomes()[at], p), (expected, 1.0), "{rule:?} {answers:?}");
        assert_eq!(verdicts.outcomes()[rule.of_answers(answers, ordinal(3))], expected);
        assert_eq!(found.ranges[at], (1.0, 1.0));
        if rule == VerdictRule::Mean {
            let mean = answers.iter().map(|a| f64::from(*a)).sum::<f64>() / 4.0;
            let found = found.mean.unwrap();
            assert!((found.expected - mean).abs() < 1e-12 && found.interval == (mean, mean), "{found:?}");
        }
    }
}

#[test]
fn invalid_panels_are_refused() {
    let refused = |rule, target, members| match Verdicts::new(rule, target, members) {
        Err(ModelError::PanelRule(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(refused(VerdictRule::Majority, ordinal(3), 0).contains("one member"));
    assert!(refused(VerdictRule::Quorum { members: 5, level: 1 }, ordinal(3), 4).contains("1 to 4"));
    assert!(refused(VerdictRule::Quorum { members: 0, level: 1 }, ordinal(3), 4).contains("1 to 4"));
    assert!(refused(VerdictRule::Veto { level: 3 }, ordinal(3), 4).contains("no level 3"));
    let verdicts = Verdicts::new(VerdictRule::Majority, ordinal(3), 2).unwrap();
    let joint = joint(3, 3, 1);
    for members in [&[0usize][..], &[0, 0], &[0, 3]] {
        assert!(verdicts.of(&joint, members).is_err(), "{members:?}");
    }
    assert!(verdicts.of(&self::joint(3, 4, 1), &[0, 1]).is_err());
}
