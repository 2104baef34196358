//! Ranks texts by predicted disagreement.

use super::Analysis;
use super::border::{border, labels_above, side};
use super::chosen::among;
use super::groups::{difference, severity_difference};
use super::label_weight::{basis, shown as weight_shown};
use super::needs::{enough, note_on_labels, too_few};
use super::observed::{count_observed, observed_pairwise, observed_split};
use super::snippet::snippet;
use crate::by_labels;
use crate::chosen;
use crate::groups;
use dissensus_api::{
    Border, DisagreementMeasure, DisagreementQuery, DisagreementRow, DisagreementScores, Estimation,
    GroupDifference, Ranking, SeverityDifference,
};
use dissensus_domain::{Question, TextId};
use dissensus_models::live::OnSide;
use dissensus_project::error::ProjectError;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_stats::disagreement::{Measure, rank_band};
use dissensus_training::live::{
    Fitted, Over, TextMeasure, TextMeasures, form_camps, widest, widest_interval,
};
use std::sync::Arc;

/// All texts with the measure of a query, and the rows to show.
struct Ranked {
    measured: Arc<TextMeasures>,
    asked: TextMeasure,
    over: Over,
    /// Rows of the index, most disagreement first.
    rows: Vec<u32>,
    /// Their values, largest first.
    descending: Vec<f32>,
    /// Sizes of groups of these rows that cannot be distinguished.
    ties: Vec<u32>,
    /// The rank of each row, from 1; 0 for rows that are not shown.
    places: Vec<u32>,
    /// Number of chosen people without a label.
    without_labels: u32,
    estimation: Estimation,
}

/// Texts by predicted disagreement among the chosen annotators, most first. Without a live model it is
/// empty and contains the reason.
///
/// # Errors
/// No such question, no annotator with these attributes, a measure that the question's scale does not
/// have, or the file cannot be read.
pub fn rank(cx: &Analysis, query: &DisagreementQuery) -> Result<Ranking, ProjectError> {
    let mask = chosen::people_mask(cx, &query.attributes)?;
    let chosen = mask.iter().filter(|chosen| **chosen).count();
    check(cx, query)?;
    // The uncertainty about a person needs only that person.
    let needed = if query.by == DisagreementMeasure::Uncertainty { 1 } else { 2 };
    if chosen < needed {
        let remark = too_few(chosen, needed);
        let ranking = by_labels::empty_ranking(cx, query.question, &mask, Some(remark.clone()))?;
        return Ok(Ranking { needs: Some(remark), ..ranking });
    }
    let index = cx.context.index();
    let ranked = find_ranked(cx, index.with_levels(query.question)?, query)?;
    let remark = note_on_labels(cx, ranked.is_some())?;
    let Some(ranked) = ranked else {
        return match by_labels::ranking_by_labels(cx, query, &mask)? {
            Some(ranking) => Ok(ranking),
            None => by_labels::empty_ranking(cx, query.question, &mask, remark),
        };
    };
    let mut ranking = Ranking {
        revision: cx.live.models.revision(),
        annotators: chosen as u32,
        annotators_without_labels: ranked.without_labels,
        remark: joined(remark, &ranked.estimation.limit_texts),
        estimation: Some(ranked.estimation.clone()),
        ..Ranking::default()
    };
    let Ranked { measured, rows, ties, asked, .. } = ranked;
    let values: Vec<f32> = rows.iter().map(|row| measured.values[*row as usize]).collect();
    if let TextMeasure::Combined = asked {
        let weight = weight_shown(&measured.weight, &measured.labels);
        ranking.basis = Some(basis(&weight));
        ranking.label_weight = Some(weight);
        ranking.ties = ties;
    }
    let of = |all: &[f32]| rows.iter().filter_map(|row| all.get(*row as usize).copied()).collect();
    ranking.means = of(&measured.means);
    ranking.splits = of(&measured.splits);
    let observed = |row: &u32| measured.observed.get(*row as usize).copied();
    ranking.observed_means = rows.iter().filter_map(observed).map(|(mean, _)| mean).collect();
    ranking.observed_splits = rows.iter().filter_map(observed).map(|(_, split)| split).collect();
    ranking.labels = rows.iter().map(|row| measured.labels[*row as usize]).collect();
    let shared = measured.labels.iter().filter(|count| **count > 1).count();
    ranking.needs = match &asked {
        TextMeasure::Gap(comparison) => comparison.needs(),
        TextMeasure::Measure(_) | TextMeasure::Combined | TextMeasure::Labels => enough(shared, query.by),
    };
    if values.first().is_some_and(|value| value.is_nan()) {
        ranking.remark = Some(no_value(query.by));
        return Ok(Ranking {
            means: Vec::new(),
            splits: Vec::new(),
            observed_means: Vec::new(),
            observed_splits: Vec::new(),
            labels: Vec::new(),
            ties: Vec::new(),
            ..ranking
        });
    }
    let index = cx.context.index();
    ranking.texts = rows.iter().map(|row| index.texts()[*row as usize]).collect();
    ranking.values = values;
    Ok(ranking)
}

/// These texts as the ranking shows them. Texts unknown to the model are left out.
///
/// # Errors
/// Those of [`rank`].
pub fn read_rows(
    cx: &Analysis,
    query: &DisagreementQuery,
    texts: &[TextId],
) -> Result<Vec<DisagreementRow>, ProjectError> {
    rows_of(cx, cx.context.index().with_levels(query.question)?, query, texts)
}

/// Like [`read_rows`], with predictions for the levels of `question`, which is that of the query.
///
/// # Errors
/// Those of [`rank`]; the question has other levels by now.
pub(crate) fn rows_of(
    cx: &Analysis,
    question: &Question,
    query: &DisagreementQuery,
    texts: &[TextId],
) -> Result<Vec<DisagreementRow>, ProjectError> {
    let context = &cx.context;
    let mask = chosen::people_mask(cx, &query.attributes)?;
    let levels = chosen::level_count(cx, query.question)?;
    check(cx, query)?;
    let Some(ranked) = find_ranked(cx, question, query)? else {
        return by_labels::rows_by_labels(cx, query, texts, &mask);
    };
    let mut rows = Vec::with_capacity(texts.len());
    for id in texts {
        let Some(text) = context.store.text(*id)? else { continue };
        let Some(row) = context.index().text_row(*id) else { continue };
        let predicted = cx.live.with(question, |fitted| {
            let known = fitted.model.texts() > row as usize && ranked.measured.values.len() > row as usize;
            known.then(|| of_row(cx, fitted, &ranked, row)).transpose()
        });
        let Some(Some(found)) = predicted?.transpose()? else { continue };
        let (observed, given) = count_observed(cx, query.question, *id, &mask, levels)?;
        let value = ranked.measured.values[row as usize];
        let interval = found.interval;
        // Without an interval for the gap, the text can be at any rank.
        let unsure = match &ranked.asked {
            TextMeasure::Gap(_) => (f32::NEG_INFINITY, f32::INFINITY),
            TextMeasure::Measure(_) | TextMeasure::Combined | TextMeasure::Labels => (value, value),
        };
        let place = ranked.places.get(row as usize).copied().filter(|place| *place > 0);
        let next = || 1 + ranked.descending.partition_point(|other| *other > value) as u32;
        let index = context.index();
        let people: Vec<_> = given
            .iter()
            .filter_map(|(who, level)| {
                Some((&index.annotators()[index.annotator_row(*who)? as usize], *level))
            })
            .collect();
        let sides = found
            .sides
            .map(|[below, above]| (side(index.annotators(), &above), side(index.annotators(), &below)));
        let who_above =
            found.border.zip(found.who.as_ref()).map(|(border, who)| labels_above(border, who, &people));
        rows.push(DisagreementRow {
            text: *id,
            external_id: text.external_id,
            snippet: snippet(&text.body),
            distribution: found.distribution,
            scores: Some(found.scores),
            value,
            interval,
            rank: place.unwrap_or_else(next),
            band: rank_band(&ranked.descending, interval.unwrap_or(unsure)),
            border: found.border,
            two_camps: found.ordinal && form_camps(&observed),
            who_above,
            sides,
            who: found.who,
            severity: found.severity,
            compared: found.compared,
            observed_pairwise: observed_pairwise(&observed),
            observed_split: observed_split(cx, query.question, &observed)?,
            observed,
        });
    }
    Ok(rows)
}

/// All texts with the measure of the query, if a model is live.
fn find_ranked(
    cx: &Analysis,
    question: &Question,
    query: &DisagreementQuery,
) -> Result<Option<Ranked>, ProjectError> {
    let mask = chosen::people_mask(cx, &query.attributes)?;
    let shown = chosen::texts_shown(cx, query, &mask)?;
    let found = cx.live.with(question, |fitted| {
        let over = chosen::people_over(cx, &query.attributes, fitted.model.annotators())?;
        let asked = match measure(query, fitted.model.levels()) {
            Some(by) => TextMeasure::Measure(by),
            None if query.by == DisagreementMeasure::Labels => TextMeasure::Labels,
            None if query.by == DisagreementMeasure::Combined => TextMeasure::Combined,
            None => TextMeasure::Gap(groups::comparison(cx, fitted, query.groups.as_ref(), &over)?),
        };
        let without = |(row, chosen): (u32, &bool)| *chosen && fitted.model.labels_of(row) == 0;
        let without = (0..).zip(&mask).filter(|one| without(*one)).count() as u32;
        Ok::<_, ProjectError>((fitted.measured(&asked, &over), asked, over, without, fitted.estimation()))
    });
    let Some((measured, asked, over, without_labels, estimation)) = found?.transpose()? else {
        return Ok(None);
    };
    let index = cx.context.index();
    let value = |row: &u32| measured.values[*row as usize];
    let known = index.texts().len();
    let shows = |row: &u32| {
        let asked = shown.as_ref().is_none_or(|shown| shown.contains(&index.texts()[*row as usize]));
        // A single label has no disagreement.
        asked && !(query.by == DisagreementMeasure::Labels && value(row).is_nan())
    };
    let (mut rows, mut ties) = (Vec::with_capacity(measured.order.len()), Vec::new());
    let mut groups = measured.ties.iter();
    let mut end = 0;
    for (at, row) in measured.order.iter().enumerate().filter(|(_, row)| (**row as usize) < known) {
        while at >= end {
            let Some(size) = groups.next() else { break };
            end += *size as usize;
            ties.push(0);
        }
        if shows(row) {
            rows.push(*row);
            if let Some(group) = ties.last_mut().filter(|_| at < end) {
                *group += 1;
            }
        }
    }
    ties.retain(|size| *size > 0);
    let mut places = vec![0; measured.values.len()];
    (1..).zip(&rows).for_each(|(place, row)| places[*row as usize] = place);
    let mut descending: Vec<f32> = rows.iter().map(value).collect();
    if query.by == DisagreementMeasure::Combined {
        descending.sort_unstable_by(|a, b| b.total_cmp(a));
    }
    Ok(Some(Ranked { measured, asked, over, rows, descending, ties, places, without_labels, estimation }))
}

/// The row of one text for the query.
fn of_row(cx: &Analysis, fitted: &mut Fitted, ranked: &Ranked, row: u32) -> Result<RowFigures, ProjectError> {
    let over = &ranked.over;
    let value = ranked.measured.values[row as usize];
    let (scores, distribution) = among(fitted, row, over);
    let comparison = match &ranked.asked {
        TextMeasure::Gap(comparison) => Some(Arc::clone(comparison)),
        TextMeasure::Measure(_) | TextMeasure::Combined | TextMeasure::Labels
            if fitted.model.is_ordinal() =>
        {
            Some(groups::comparison(cx, fitted, None, over)?)
        }
        TextMeasure::Measure(_) | TextMeasure::Combined | TextMeasure::Labels => None,
    };
    let border = border(fitted, row, over);
    let model = &fitted.model;
    let gaps = comparison.as_ref().map_or_else(Vec::new, |c| c.gaps(model, row));
    let by_severity = comparison.as_ref().and_then(|c| c.severity_gap(model, row));
    let severity = by_severity.as_ref().and_then(|gap| severity_difference(gap, &distribution));
    let sides = border.map(|border| model.sides_of(row, border.level, over.mask()));
    let compared = gaps.iter().filter(|gap| gap.p.is_some() && gap.interval.is_some()).count() as u32
        + u32::from(by_severity.is_some_and(|gap| gap.interval.is_some()));
    let (interval, who) = match (&ranked.asked, &comparison) {
        (asked @ (TextMeasure::Measure(_) | TextMeasure::Combined | TextMeasure::Labels), comparison) => {
            let usual = ranked.measured.usual.as_ref();
            let interval = match asked {
                TextMeasure::Measure(by) => model.interval(row, *by, over.mask(), value, usual),
                TextMeasure::Combined => {
                    model.combined_interval(&ranked.measured.weight, row, over.mask(), scores.split)
                }
                _ => None,
            };
            let significant = (0..gaps.len()).filter(|at| gaps[*at].significant);
            let most = significant.max_by(|a, b| gaps[*a].gap.abs().total_cmp(&gaps[*b].gap.abs()));
            (interval, comparison.as_ref().zip(most).and_then(|(c, at)| difference(c, at, &gaps[at])))
        }
        (TextMeasure::Gap(_), Some(comparison)) => (
            widest_interval(&gaps).map(|interval| widen_to(interval, value)),
            widest(&gaps).and_then(|at| difference(comparison, at, &gaps[at])),
        ),
        (TextMeasure::Gap(_), None) => (None, None),
    };
    let ordinal = model.is_ordinal();
    Ok(RowFigures { scores, distribution, interval, who, severity, border, sides, ordinal, compared })
}

/// Rejects a query that does not fit the question's scale.
fn check(cx: &Analysis, query: &DisagreementQuery) -> Result<(), ProjectError> {
    use DisagreementMeasure as M;
    let index = cx.context.index();
    let scale = &index.with_levels(query.question)?.scale;
    let levels = scale.len();
    let ordinal = scale.target().has_distances();
    let fits = match query.by {
        M::FarApart => ordinal && levels > 2,
        M::Surprising | M::GroupGap => ordinal,
        M::OppositeSides => scale.is_ordered(),
        _ => true,
    };
    let cut = query.cut.is_none_or(|cut| cut >= 1 && usize::from(cut) < levels);
    match (fits, query.by) {
            (false, by) => Err(ProjectError::Setting {
                name: "measure",
                value: by.name().to_owned(),
                allowed: "for this question, whose levels have no order or are only two: split, between, pairwise, divergence or uncertainty".to_owned(),
            }),
            (true, M::OppositeSides) if !cut => Err(ProjectError::Setting {
                name: "cut",
                value: query.cut.unwrap_or_default().to_string(),
                allowed: "the place of a level, counted from 0, that is not the first".to_owned(),
            }),
            (true, _) => Ok(()),
        }
}

/// Joins a note and the limits of the labels into one paragraph.
fn joined(remark: Option<String>, limits: &[String]) -> Option<String> {
    let all: Vec<String> = remark.into_iter().chain(limits.iter().cloned()).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// The figures of a row, in addition to the text and its labels.
struct RowFigures {
    scores: DisagreementScores,
    distribution: Vec<f32>,
    interval: Option<(f32, f32)>,
    who: Option<GroupDifference>,
    severity: Option<SeverityDifference>,
    border: Option<Border>,
    /// People below and above the border.
    sides: Option<[Vec<OnSide>; 2]>,
    ordinal: bool,
    compared: u32,
}

/// The measure of the models for the measure of the view; `None` for gaps between groups and for labels
/// without predictions, which the models do not compute.
fn measure(query: &DisagreementQuery, levels: usize) -> Option<Measure> {
    use DisagreementMeasure as M;
    Some(match query.by {
        M::Split => Measure::Split,
        M::FarApart => Measure::FarApart,
        M::OppositeSides => Measure::OppositeSides { cut: query.cut.unwrap_or(levels.div_ceil(2) as u16) },
        M::Between => Measure::Between,
        M::Surprising => Measure::Surprising,
        M::Combined | M::GroupGap | M::Labels => return None,
        M::Pairwise => Measure::Pairwise,
        M::Divergence => Measure::Divergence,
        M::Uncertainty => Measure::Uncertainty,
    })
}

/// Why no text has a value.
fn no_value(by: DisagreementMeasure) -> String {
    match by {
        DisagreementMeasure::GroupGap => format!(
            "No two groups of {} people or more are known: import attributes of annotators, or compare larger groups.",
            super::groups::MIN_PEOPLE
        ),
        _ => "There are too few texts to tell what is usual at a mean level: 30 are needed.".to_owned(),
    }
}

/// Widens an interval to contain a value.
fn widen_to((low, high): (f32, f32), value: f32) -> (f32, f32) {
    (low.min(value), high.max(value))
}
