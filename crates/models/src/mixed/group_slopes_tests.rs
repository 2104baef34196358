//! Group slopes are found where groups differ in kind, and not where they do not.

use super::*;
use crate::mixed::group_slope_simulation::{
    Design, FEATURES, Simulated, USUAL, coverage, expected, select, selected_groups,
};
use dissensus_domain::TargetKind;
use dissensus_stats::data::Target;

/// Adds slopes of the groups by gender, whether or not they predict better.
fn with_groups(sim: &mut Simulated, variance: f64) {
    sim.crossed = sim.crossed.with_slopes(&sim.z, FEATURES);
    sim.crossed.add_group_slopes(&sim.attributes, &[1], variance);
}

#[test]
fn differing_groups_get_slopes() {
    let (right, _) = selected_groups(Design { difference: 0.8, ..USUAL }, 0..12);
    assert!(right >= 9, "{right} of 12");
    let (right, _) = selected_groups(Design { difference: 1.0, levels: 2, own: 0.2, ..USUAL }, 20..28);
    assert!(right >= 6, "{right} of 8");
}

/// The rule allows a chance of one in forty.
#[test]
fn equal_groups_get_no_slopes() {
    for (levels, own) in [(5, 0.0), (2, 0.4)] {
        let (_, any) = selected_groups(Design { difference: 0.0, levels, own, ..USUAL }, 100..120);
        assert!(any <= 1, "{levels} levels: {any} of 20");
    }
}

/// With many groups there are many slopes to be wrong about.
#[test]
fn many_equal_groups_get_no_slopes() {
    const SEEDS: u64 = 40;
    let design = Design { texts: 150, labels: 6, annotators: 62, difference: 0.0, ..USUAL };
    let taken = (0..SEEDS).filter(|seed| {
        let mut sim = design.simulate(500 + seed);
        sim.attributes = vec![Attribute {
            name: "region".into(),
            values: (0..5).map(|value| value.to_string()).collect(),
            of: (0..design.annotators).map(|a| Some((a % 5) as u16)).collect(),
        }];
        select(&mut sim).is_some_and(|found| !found.used.is_empty())
    });
    let taken = taken.count();
    assert!(taken <= 3, "{taken} of {SEEDS}");
}

#[test]
fn estimated_slopes_match_the_simulation() {
    for own in [0.0, 0.3] {
        let mut sim = Design { difference: 1.0, own, ..USUAL }.simulate(3);
        let found = select(&mut sim).unwrap();
        assert_eq!((found.tried.len(), &found.used), (2, &vec!["gender".to_owned()]), "{found:?}");
        assert!(found.gain > 2.0 * found.standard_error, "{found:?}");
        let (women, men) = (expected(&sim, [None, Some(0)]), expected(&sim, [None, Some(1)]));
        // With 30 people per side and 33 labels each the standard error is 0.1.
        for (k, truth) in [0.0, 1.0, 0.0, 0.0].into_iter().enumerate() {
            assert!((women[k] - men[k] - truth).abs() < 0.35, "{own}: {women:?} {men:?}");
        }
        // Annotators without labels are predicted like the group; unknown ones like the average; handedness
        // has no effect.
        let (d, last) = (sim.crossed.link.random_effects(), sim.crossed.annotators.len() - 1);
        assert_eq!(sim.crossed.annotators[last].theta[d..], men);
        assert_eq!(expected(&sim, [Some(1), None]), vec![0.0; FEATURES]);
        assert_eq!(sim.crossed.prior_mean(last - 1)[d..], vec![0.0; FEATURES]);
        assert!(sim.crossed.check(Target { kind: TargetKind::Ordinal, levels: 5 }).is_ok());
        sim.crossed.push_annotator();
        assert_eq!(sim.crossed.prior_mean(last + 1), vec![0.0; d + FEATURES]);
        sim.crossed.set_attributes(last + 1, &[None, Some(0)]);
        assert_eq!(sim.crossed.prior_mean(last + 1)[d..], women);
        // Texts and annotators are fitted with the groups.
        for text in 0..sim.crossed.texts() {
            let moved = sim.crossed.fitted_text(text).mean[0] - sim.crossed.u[text];
            assert!(moved.abs() < 1e-9, "text {text} is moved by {moved}");
        }
    }
}

/// Groups of different sizes: slopes average to 0 over labels, so that the average label is that of the head.
#[test]
fn slopes_average_to_the_head() {
    let mut sim = Design { difference: 1.0, ..USUAL }.simulate(5);
    // All are men except for eleven women.
    for (a, value) in sim.attributes[1].of.iter_mut().enumerate() {
        *value = Some(u16::from(a % 2 == 1 || a > 21));
    }
    with_groups(&mut sim, 0.1);
    let (women, men) = (expected(&sim, [None, Some(0)]), expected(&sim, [None, Some(1)]));
    let labels = |value: u16| -> f64 {
        let of = sim.attributes[1].of.iter().zip(&sim.crossed.annotators);
        of.filter(|(of, _)| **of == Some(value)).map(|(_, effect)| effect.labels.len() as f64).sum()
    };
    let (of_women, of_men) = (labels(0), labels(1));
    assert!(women[1] > 0.2 && of_men > 2.0 * of_women, "{women:?} {of_women} {of_men}");
    for k in 0..FEATURES {
        assert!((of_women * women[k] + of_men * men[k]).abs() < 1e-6 * of_men, "{women:?} {men:?}");
    }
}

/// The current variances are retained where none of the candidates predicts held-out labels better.
#[test]
fn own_variance_is_chosen_from_the_candidates() {
    let mut sim = USUAL.simulate(7);
    with_groups(&mut sim, 0.1);
    // Without individual differences the smallest variance is the most likely, below all of the list.
    sim.crossed.slope_vars = vec![1e-4; FEATURES];
    sim.crossed.choose_own_variance(&sim.fold, 5);
    assert_eq!(sim.crossed.slope_vars, vec![1e-4; FEATURES]);
    sim.crossed.slope_vars = vec![1.0; FEATURES];
    sim.crossed.choose_own_variance(&sim.fold, 5);
    assert!(SLOPE_VARIANCES.contains(&sim.crossed.slope_vars[0]), "{:?}", sim.crossed.slope_vars);
}

#[test]
fn group_intervals_cover() {
    let by_gender = |sim: &mut Simulated| {
        with_groups(sim, 0.1);
        true
    };
    let (held, n) = coverage(Design { own: 0.1, ..USUAL }, 40..64, by_gender);
    // With intervals of exactly 90 %, below 80 and above 94 of 96 each have a probability of 0.2 %.
    assert!((79..=94).contains(&held), "{held} of {n}");
}

/// The prior of a new person, and those of people with labels, include the uncertainty of the group.
#[test]
fn group_uncertainty_affects_their_people() {
    let mut sim = USUAL.simulate(9);
    with_groups(&mut sim, 0.1);
    let crossed = &sim.crossed;
    let (d, w) = (crossed.link.random_effects(), crossed.width());
    let variance = |covariance: &[f64]| covariance[(d + 1) * w + d + 1];
    let (alone, new) = (crossed.prior_covariance(), crossed.prior_of(&[None, Some(0)]).1);
    assert!(variance(&new) > variance(&alone) + 1e-3, "{} {}", variance(&new), variance(&alone));
    assert_eq!(crossed.prior_of(&[Some(0), None]).1, alone);
    assert!(variance(&crossed.covariance_of(0)) > variance(&crossed.annotators[0].covariance));
    // Common moves of all people of a group: the variance on a text is that of the score by these slopes.
    let (new, groups) = (crossed.annotators.len() - 1, crossed.groups.as_ref().unwrap());
    for text in 0..20 {
        let shifts = crossed.shifts_with_groups(new, text);
        assert_eq!(shifts.len(), groups.means.len());
        let found = shifts.iter().map(|s| s * s).sum::<f64>() + crossed.own_shift_sd(new, text).powi(2);
        let mut direction = vec![0.0; w];
        direction[0] = 1.0;
        direction[d..].copy_from_slice(crossed.features(text));
        let whole = dissensus_stats::math::cholesky::quadratic(&crossed.covariance_of(new), &direction);
        assert!((found - whole).abs() < 1e-9, "{found} {whole}");
    }
}

#[test]
fn small_and_unknown_groups_are_average() {
    let mut sim = Design { difference: 1.0, ..USUAL }.simulate(5);
    sim.attributes.remove(0);
    let gender = sim.attributes[0].clone();
    // A third value with nine people, before the others in the list of values.
    sim.attributes[0].values = vec!["few".into(), "woman".into(), "man".into()];
    for (a, value) in sim.attributes[0].of.iter_mut().enumerate() {
        *value = if a < 9 { Some(0) } else { value.map(|value| value + 1) };
    }
    let found = select(&mut sim).unwrap();
    assert_eq!(found.used, ["gender"], "{found:?}");
    let of = |value| sim.crossed.prior_of(&[value]).0.split_off(sim.crossed.link.random_effects());
    assert!(of(Some(1))[1] > 0.2 && of(Some(2))[1] < -0.2, "{:?} {:?}", of(Some(1)), of(Some(2)));
    for value in [Some(0), Some(3), Some(u16::MAX), None] {
        assert_eq!(of(value), vec![0.0; FEATURES]);
        assert_eq!(sim.crossed.prior_of(&[value]).1, sim.crossed.prior_covariance());
    }
    assert_eq!(sim.crossed.prior_of(&[]).0, vec![0.0; sim.crossed.width()]);
    // At least two groups of ten.
    let mut sim = Design { difference: 1.0, ..USUAL }.simulate(5);
    sim.attributes = vec![gender];
    for (a, value) in sim.attributes[0].of.iter_mut().enumerate() {
        *value = (a < 18 || a % 2 == 1).then_some((a % 2) as u16);
    }
    assert_eq!(select(&mut sim), None);
    sim.attributes.clear();
    assert_eq!(select(&mut sim), None);
}
