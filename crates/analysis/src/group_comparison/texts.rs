//! Texts on which two groups differ.

use crate::Analysis;
use crate::snippet::snippet;
use dissensus_api::GroupTextGap;
use dissensus_models::live::LiveModel;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_stats::disagreement::{GroupGap, GroupGaps, GroupPair};
use std::collections::BTreeMap;

/// Number of texts between checks for cancellation.
const AT_ONCE: usize = 4096;

/// Texts that differ, by which group is higher.
#[derive(Default)]
pub(super) struct DifferingTexts {
    /// Numbers of texts that are shown to differ: A higher, B higher.
    pub(super) differing: (u32, u32),
    pub(super) a_higher: Vec<GroupTextGap>,
    pub(super) b_higher: Vec<GroupTextGap>,
}

/// The texts that people of both sides (rows of A and of B) labelled, by how far apart they are on them:
/// those that are shown to differ, then the widest gaps, last those whose own labels say the opposite.
pub(super) fn texts_by_distance(
    cx: &Analysis,
    model: &LiveModel,
    [a, b]: [&[u32]; 2],
    top: usize,
    progress: &dyn Progress,
) -> Result<DifferingTexts, ProjectError> {
    // Annotators who were added after the fit have no row in the model.
    let known =
        |rows: &[u32]| rows.iter().copied().filter(|row| (*row as usize) < model.annotators()).collect();
    let groups: Vec<Vec<u32>> = vec![known(b), known(a)];
    let observed = observed_gaps(model, &groups);
    let gaps = GroupGaps::estimate(model, groups, vec![GroupPair { first: vec![0], second: vec![1] }]);
    let mut sizes = Vec::with_capacity(model.texts());
    for from in (0..model.texts()).step_by(AT_ONCE) {
        stop(progress)?;
        sizes.extend(gaps.of_pair(model, 0, from..(from + AT_ONCE).min(model.texts())));
    }
    let on_text = |text: u32| gaps.on_text(model, text as usize, &model.level_steps(text)).swap_remove(0);
    let mut found: BTreeMap<u32, GroupGap> = BTreeMap::new();
    for text in gaps.possible_texts(0) {
        stop(progress)?;
        found.insert(text, on_text(text));
    }
    let count_significant =
        |above: bool| found.values().filter(|g| g.significant && (g.gap > 0.0) == above).count() as u32;
    let differing = (count_significant(true), count_significant(false));
    let [a_higher, b_higher] = [true, false].map(|above| {
        let size = |text: &u32| sizes[*text as usize].abs();
        let on_side =
            |text: &&u32| if above { sizes[**text as usize] > 0.0 } else { sizes[**text as usize] < 0.0 };
        let mut texts: Vec<u32> = observed.keys().filter(on_side).copied().collect();
        let is_contradicted = |text: &u32| observed[text] * sizes[*text as usize] < 0.0;
        let is_significant = |text: &u32| found.get(text).is_some_and(|gap| gap.significant);
        texts.sort_by(|x, y| {
            let first = is_significant(y).cmp(&is_significant(x));
            let last = is_contradicted(x).cmp(&is_contradicted(y));
            first.then(last).then(size(y).total_cmp(&size(x))).then(x.cmp(y))
        });
        texts.truncate(top);
        texts
    });
    let rows = |texts: Vec<u32>| -> Result<Vec<GroupTextGap>, ProjectError> {
        let mut rows = Vec::with_capacity(texts.len());
        for text in texts {
            stop(progress)?;
            let gap = found.get(&text).copied().unwrap_or_else(|| on_text(text));
            rows.extend(row_of_gap(cx, text, &gap, observed[&text])?);
        }
        Ok(rows)
    };
    Ok(DifferingTexts { differing, a_higher: rows(a_higher)?, b_higher: rows(b_higher)? })
}

/// The row of a gap; `None` for a text that does not exist any more.
fn row_of_gap(
    cx: &Analysis,
    row: u32,
    gap: &GroupGap,
    observed: f32,
) -> Result<Option<GroupTextGap>, ProjectError> {
    let id = cx.context.index().texts().get(row as usize).copied();
    let Some(text) = id.map(|id| cx.context.store.text(id)).transpose()?.flatten() else {
        return Ok(None);
    };
    Ok(Some(GroupTextGap {
        text: text.id,
        external_id: text.external_id,
        snippet: snippet(&text.body),
        gap: gap.gap as f32,
        interval: gap.interval.map(|(low, high)| (low as f32, high as f32)),
        observed,
        labels: (gap.labels[1], gap.labels[0]),
        p: gap.p,
        significant: gap.significant,
    }))
}

/// Mean label of the second group minus that of the first, of each text that both labelled.
fn observed_gaps(model: &LiveModel, groups: &[Vec<u32>]) -> BTreeMap<u32, f32> {
    let mut sums: BTreeMap<u32, [(f64, u32); 2]> = BTreeMap::new();
    for (side, people) in groups.iter().enumerate() {
        for (text, level) in people.iter().flat_map(|row| model.known_labels(*row)) {
            let (sum, labels) = &mut sums.entry(*text).or_default()[side];
            *sum += f64::from(*level);
            *labels += 1;
        }
    }
    let gap = |(text, [(first, n), (second, m)]): (u32, [(f64, u32); 2])| {
        (n > 0 && m > 0).then(|| (text, (second / f64::from(m) - first / f64::from(n)) as f32))
    };
    sums.into_iter().filter_map(gap).collect()
}

fn stop(progress: &dyn Progress) -> Result<(), ProjectError> {
    if progress.cancelled() { Err(ProjectError::Cancelled) } else { Ok(()) }
}
