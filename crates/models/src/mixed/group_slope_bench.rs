//! Figures of slopes of groups on simulated projects, for the benchmark `group-slopes`.

use super::group_slope_simulation::{Design, FEATURES, Simulated, USUAL, coverage, select, selected_groups};
use super::predictor::{AnnotatorPredictor, Scratch, TextColumns};
use dissensus_stats::data::progress::Silent;
use rayon::prelude::*;
use serde::Serialize;

/// Projects of one design in which groups may differ.
#[derive(Clone, Debug, Serialize)]
pub struct DifferingGroups {
    pub levels: usize,
    /// Difference between the slopes of the two groups on one feature.
    pub difference: f64,
    /// Standard deviation of people's own slopes.
    pub own_sd: f64,
    pub projects: u64,
    /// Projects in which an attribute gets slopes.
    pub used: usize,
    /// Projects in which only the right one does.
    pub right_one_alone: usize,
    /// Where slopes are used: mean gain for new people of whom the group is known, in nats a label.
    pub gain_nats: f64,
    /// Where slopes are used: root mean squared error of the gap between groups on a text, in levels.
    pub gap_error: f64,
    /// The same without slopes.
    pub gap_error_without: f64,
}

/// 90 % intervals of the difference between groups, feature by feature, where slopes are used.
#[derive(Clone, Debug, Serialize)]
pub struct GroupSlopeIntervals {
    pub difference: f64,
    pub own_sd: f64,
    /// Intervals that contain the true difference.
    pub held: usize,
    pub intervals: usize,
}

/// Projects of two labels a text in which groups do not differ.
#[derive(Clone, Debug, Serialize)]
pub struct AlikeGroups {
    pub own_sd: f64,
    /// Whether each text is labelled by one person of each group, so that the label of one is no reason to
    /// expect the opposite from the other's group.
    pub one_of_each: bool,
    pub projects: u64,
    /// Projects in which an attribute gets slopes.
    pub used: usize,
}

/// Simulates this many projects of each design in which groups differ by 0, 0.5 and 0.75.
pub fn differing_groups(projects: u64) -> Vec<DifferingGroups> {
    let designs = [(5, 0.0), (5, 0.3), (2, 0.0), (2, 0.3)].into_iter().flat_map(|(levels, own)| {
        [0.0, 0.5, 0.75].map(|difference| Design { difference, levels, own, ..USUAL })
    });
    designs.map(|design| differing(design, projects)).collect()
}

fn differing(design: Design, projects: u64) -> DifferingGroups {
    let of = |seed: u64| {
        let mut sim = design.simulate(1000 + seed);
        sim.crossed.select_slopes(&sim.z, FEATURES, &sim.fold, 5);
        let [[before, _], _] = predicted(design, &sim, seed);
        let found = sim.crossed.select_group_slopes(
            &sim.attributes,
            (&sim.z, FEATURES),
            (&sim.fold, 5),
            1,
            &Silent,
        )?;
        let [[after, _], gaps] = predicted(design, &sim, seed);
        (!found.used.is_empty()).then_some((found.used == ["gender"], before - after, gaps))
    };
    let found: Vec<(bool, f64, [f64; 2])> = (0..projects).into_par_iter().filter_map(of).collect();
    let mean =
        |of: fn(&(bool, f64, [f64; 2])) -> f64| found.iter().map(of).sum::<f64>() / found.len().max(1) as f64;
    DifferingGroups {
        levels: design.levels,
        difference: design.difference,
        own_sd: design.own,
        projects,
        used: found.len(),
        right_one_alone: found.iter().filter(|found| found.0).count(),
        gain_nats: mean(|found| found.1),
        gap_error: mean(|found| found.2[0]),
        gap_error_without: mean(|found| found.2[1]),
    }
}

/// Simulates this many projects of each of five designs.
pub fn group_slope_intervals(projects: u64) -> Vec<GroupSlopeIntervals> {
    let designs = [(0.0, 0.75), (0.0, 1.0), (0.3, 0.75), (0.3, 1.0), (0.5, 1.5)];
    let intervals = |(own_sd, difference): (f64, f64)| {
        let design = Design { own: own_sd, difference, ..USUAL };
        let by_gender = |sim: &mut Simulated| select(sim).is_some_and(|found| found.used == ["gender"]);
        let (held, intervals) = coverage(design, 2000..2000 + projects, by_gender);
        GroupSlopeIntervals { difference, own_sd, held, intervals }
    };
    designs.map(intervals).to_vec()
}

/// Simulates this many projects of each of four designs.
pub fn alike_groups(projects: u64) -> Vec<AlikeGroups> {
    let of = |(own, one_of_each)| {
        let design = Design { texts: 800, labels: 2, difference: 0.0, own, one_of_each, ..USUAL };
        let (_, used) = selected_groups(design, 3000..3000 + projects);
        AlikeGroups { own_sd: own, one_of_each, projects, used }
    };
    [(0.0, false), (0.0, true), (0.5, false), (0.5, true)].map(of).to_vec()
}

/// Log loss of new people of whom only the gender is known, and root mean squared error of the gap on a text,
/// in levels: without and with group slopes.
fn predicted(design: Design, sim: &Simulated, seed: u64) -> [[f64; 2]; 2] {
    let columns = TextColumns::new(&sim.crossed);
    let of = |value| AnnotatorPredictor::from_attributes(&sim.crossed, &[None, value]);
    let levels = design.levels;
    let p = |predictor: &AnnotatorPredictor, text: usize| {
        let mut p = vec![0.0f32; levels];
        predictor.fill(&columns, text..text + 1, &mut p, &mut Scratch::default());
        p
    };
    let by = [of(Some(0)), of(Some(1))];
    let labels = design.new_people(sim, seed);
    let loss: f64 = labels
        .iter()
        .map(|(text, gender, level)| -f64::from(p(&by[*gender], *text)[usize::from(*level)]).ln())
        .sum();
    let mean = |p: &[f32]| p.iter().enumerate().map(|(c, p)| c as f64 * f64::from(*p)).sum::<f64>();
    let (mut with, mut without) = (0.0, 0.0);
    for text in 0..design.texts {
        let truth = design.gap(sim.scores[text], &sim.z[text * FEATURES..(text + 1) * FEATURES]);
        without += truth * truth;
        with += (mean(&p(&by[0], text)) - mean(&p(&by[1], text)) - truth).powi(2);
    }
    let n = design.texts as f64;
    [[loss / labels.len() as f64, 0.0], [(with / n).sqrt(), (without / n).sqrt()]]
}
