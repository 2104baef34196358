//! Metrics of texts: the distribution of labels, and whether annotators differ.

use super::probability::CLIP;
use super::scored::Scored;
use std::collections::BTreeMap;

/// Area under the receiver operating characteristic: the probability that a true case has a larger score than
/// a false one, ties counting half (Mann and Whitney 1947; Hanley and McNeil 1982). `None` unless both kinds
/// of case occur.
pub fn auroc(scores: &[f64], truth: &[bool]) -> Option<f64> {
    let positives = truth.iter().filter(|t| **t).count();
    let negatives = truth.len() - positives;
    if positives == 0 || negatives == 0 {
        return None;
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let mut rank_sum = 0.0;
    let mut from = 0;
    while from < order.len() {
        let mut to = from + 1;
        while to < order.len() && scores[order[to]] == scores[order[from]] {
            to += 1;
        }
        let rank = (from + 1 + to) as f64 / 2.0; // ties share the middle of their ranks
        rank_sum += rank * order[from..to].iter().filter(|&&i| truth[i]).count() as f64;
        from = to;
    }
    let p = positives as f64;
    Some((rank_sum - p * (p + 1.0) / 2.0) / (p * negatives as f64))
}

/// Mean over texts of `-sum_c q_c ln p_c`: q the observed shares of levels among the text's labels, p the
/// mean prediction for those who gave them, at least 1e-9 (Peterson et al. 2019; the soft evaluation of Uma
/// et al. 2021). Zero for empty input.
pub fn soft_cross_entropy(scored: &Scored) -> f64 {
    let each = soft_cross_entropies(scored);
    each.iter().sum::<f64>() / each.len().max(1) as f64
}

/// The soft cross-entropy of every text with labels, in order of their indices.
pub(crate) fn soft_cross_entropies(scored: &Scored) -> Vec<f64> {
    let one = |rows: &Vec<usize>| {
        let n = rows.len() as f64;
        let mut p = vec![0.0; scored.levels];
        let mut q = vec![0.0; scored.levels];
        for &i in rows {
            q[usize::from(scored.observations[i].level)] += 1.0 / n;
            p.iter_mut().zip(scored.row(i)).for_each(|(p, &r)| *p += f64::from(r) / n);
        }
        -q.iter().zip(&p).map(|(q, p)| q * p.max(CLIP).ln()).sum::<f64>()
    };
    rows_by_text(scored).values().map(one).collect()
}

/// Rows of every text, in order of their indices.
pub(crate) fn rows_by_text(scored: &Scored) -> BTreeMap<u32, Vec<usize>> {
    let mut groups: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (i, o) in scored.observations.iter().enumerate() {
        groups.entry(o.text).or_default().push(i);
    }
    groups
}

/// Texts with two labels or more.
pub(crate) struct ByText {
    /// Number of all texts, including those with one label.
    pub(crate) texts: usize,
    /// Predicted pairwise disagreement of the annotators who labelled it.
    pub(crate) predicted: Vec<f64>,
    /// Whether they differ.
    pub(crate) differ: Vec<bool>,
    /// Share of pairs of their labels that differ.
    pub(crate) observed: Vec<f64>,
}

pub(crate) fn by_text(scored: &Scored) -> ByText {
    let groups = rows_by_text(scored);
    let mut out =
        ByText { texts: groups.len(), predicted: Vec::new(), differ: Vec::new(), observed: Vec::new() };
    for rows in groups.values().filter(|r| r.len() > 1) {
        let n = rows.len() as f64;
        let mut sums = vec![0.0; scored.levels];
        let mut counts = vec![0.0; scored.levels];
        let mut squares = 0.0;
        for &i in rows {
            counts[usize::from(scored.observations[i].level)] += 1.0;
            for (s, &p) in sums.iter_mut().zip(scored.row(i)) {
                *s += f64::from(p);
                squares += f64::from(p).powi(2);
            }
        }
        let both: f64 = sums.iter().map(|s| s * s).sum::<f64>() - squares;
        out.predicted.push(1.0 - both / (n * (n - 1.0)));
        let equal: f64 = counts.iter().map(|c| c * (c - 1.0)).sum();
        out.observed.push(1.0 - equal / (n * (n - 1.0)));
        out.differ.push(counts.iter().filter(|c| **c > 0.0).count() > 1);
    }
    out
}
