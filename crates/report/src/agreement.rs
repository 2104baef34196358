//! Agreement between annotators, self-agreement, and where labels differ.

use super::document::Block;
use super::work::{ReportQuestion, Work};
use dissensus_analysis::PlanChoices;
use dissensus_analysis::aggregation;
use dissensus_analysis::agreement;
use dissensus_analysis::plan;
use dissensus_analysis::repeats;
use dissensus_analysis::{LevelAgreement, OptionAgreements, QuestionAgreement, SpanAgreements};
use dissensus_labelling::guideline::OnScreen;
use dissensus_project::clock::local_time;
use dissensus_project::error::ProjectError;
use dissensus_project::words::counted;
use dissensus_render::plots;
use dissensus_render::table::{Cell, Column};
use dissensus_stats::agreement::{Estimate, IntervalScope};
use std::collections::{BTreeMap, BTreeSet};

/// Minimum number of texts with labels of two or more people for a figure of agreement: fewer have no
/// interval.
const ENOUGH: usize = 20;

/// Widest range of the best reachable accuracy whose middle says anything.
const WIDEST_RANGE: f64 = 0.5;

/// Agreement between annotators.
pub(super) fn agreement(work: &Work<'_>, asked: &ReportQuestion) -> Result<Vec<Block>, ProjectError> {
    let shared = asked.shared();
    if shared < ENOUGH {
        return Ok(vec![Block::Needs(format!(
            "Too little to tell how people agree: {ENOUGH} texts with labels of two people or more are needed, and the question has {shared}."
        ))]);
    }
    let mut blocks = match agreement::measure(&work.of.analysis, &asked.question, work.steps)? {
        QuestionAgreement::Levels(found) => of_levels(asked, shared, &found),
        QuestionAgreement::Options(found) => of_options(work, asked, shared, &found)?,
        QuestionAgreement::Spans(found) => of_spans(work, asked, shared, &found)?,
    };
    blocks.extend(by_version(work, asked, OnScreen::Wording)?);
    blocks.extend(by_version(work, asked, OnScreen::Guideline)?);
    Ok(blocks)
}

/// Agreement under each wording of the question, or under each version of the guideline; `None` where all
/// labels were given under one.
fn by_version(work: &Work<'_>, asked: &ReportQuestion, by: OnScreen) -> Result<Option<Block>, ProjectError> {
    let guideline = &work.of.guideline;
    let found = guideline.agreement_on(asked.question.id, by)?;
    let versions: BTreeSet<u32> =
        found.iter().flat_map(|one| &one.figures).filter_map(|one| one.number).collect();
    if versions.len() < 2 {
        return Ok(None);
    }
    let (stem, what, described_by) = match by {
        OnScreen::Wording => ("agreement-by-wording", "wording of the question", "prompt"),
        OnScreen::Guideline => ("agreement-by-guideline", "version of the guideline", "written"),
    };
    let about: BTreeMap<u32, String> = match by {
        OnScreen::Wording => {
            let of_this = guideline.wordings()?.into_iter().filter(|one| one.question == asked.question.name);
            of_this.map(|one| (one.number, one.prompt)).collect()
        }
        OnScreen::Guideline => {
            guideline.versions()?.into_iter().map(|one| (one.number, local_time(one.at))).collect()
        }
    };
    let mut rows = Vec::new();
    for one in &found {
        for of in &one.figures {
            let about = of.number.and_then(|number| about.get(&number).cloned());
            rows.push(vec![
                Cell::text(&one.name),
                of.number.map_or_else(|| Cell::text("not known"), |number| Cell::Count(number.into())),
                Cell::text(about.unwrap_or_default()),
                Cell::Count(of.labels.into()),
                Cell::Count(of.texts.into()),
                Cell::estimate(of.alpha, of.low.zip(of.high)),
            ]);
        }
    }
    let columns = vec![
        Column::text("question"),
        Column::text(what),
        Column::text(described_by),
        Column::number("labels"),
        Column::number("texts with two or more"),
        Column::estimate("Krippendorff's alpha"),
    ];
    let caption = format!(
        "Agreement by the {what} that was on screen; of imported labels it is not known. Texts differ between the rows, so that a difference is \
         not the {what}'s alone; 95 % intervals"
    );
    Ok(Some(asked.stems.table(stem, caption, columns, rows)))
}

/// A figure with its interval for people like these, or with too few people only for these; empty with too
/// little data. With complete agreement there is nothing to resample.
fn estimate(of: &Estimate) -> Cell {
    let all_agree = of.value.is_some_and(|value| value > 1.0 - 1e-9);
    match of.shown() {
        Some((interval, _)) => Cell::estimate(of.value, Some((interval.low, interval.high))),
        None if all_agree => Cell::estimate(of.value, None),
        None => Cell::Nothing,
    }
}

/// A figure with its interval for these people.
fn of_these_people(of: &Estimate) -> Cell {
    match of.over_texts {
        Some(interval) => Cell::estimate(of.value, Some((interval.low, interval.high))),
        None => Cell::Nothing,
    }
}

/// How intervals were computed.
fn intervals<'a>(of: impl IntoIterator<Item = &'a Estimate>) -> &'static str {
    let few =
        of.into_iter().any(|of| of.shown().is_some_and(|(_, scope)| scope == IntervalScope::ThesePeople));
    match few {
        true => {
            "95 % intervals for these people alone, by bootstrap over texts (1,000 resamples, seed 0), where fewer than five people are too few \
             to tell of others; – where too few texts differ to tell"
        }
        false => {
            "95 % intervals for people and texts like these (bootstrap over texts, 1,000 resamples, seed 0, and jackknife over people); – where \
             too few texts differ to tell"
        }
    }
}

fn of_levels(asked: &ReportQuestion, shared: usize, found: &LevelAgreement) -> Vec<Block> {
    let (simple, found) = (&found.agreement, &found.reliability);
    let rows: Vec<Vec<Cell>> = found
        .coefficients()
        .into_iter()
        .filter(|(_, of)| of.value.is_some())
        .map(|(name, of)| vec![Cell::text(name), estimate(of), of_these_people(of)])
        .collect();
    let mut blocks = Vec::new();
    if let Some(equal) = simple.pairwise_agreement {
        blocks.push(Block::Text(format!(
            "Two labels on one text are equal in {:.1} % of pairs, over {shared} texts with labels of two people or more.",
            100.0 * equal
        )));
    }
    let made = intervals(found.coefficients().map(|(_, of)| of));
    let caption = format!("Agreement over {shared} texts with labels of two people or more; {made}");
    blocks.push(match rows.is_empty() {
        true => {
            Block::Needs("Agreement beyond chance is not defined: all labels are of one level.".to_owned())
        }
        false => asked.stems.table(
            "agreement",
            caption,
            vec![
                Column::text("coefficient"),
                Column::estimate("value"),
                Column::estimate("interval for these people"),
            ],
            rows,
        ),
    });
    blocks
}

fn of_options(
    work: &Work<'_>,
    asked: &ReportQuestion,
    shared: usize,
    found: &OptionAgreements,
) -> Result<Vec<Block>, ProjectError> {
    let analysis = &work.of.analysis;
    let mut rows = Vec::new();
    for (option, one) in asked.question.options().iter().zip(&found.options) {
        let own = aggregation::estimate_reliability(analysis, option.id, work.steps)?;
        rows.push(vec![
            Cell::text(&one.option),
            Cell::percent(one.chosen),
            estimate(&own.alpha_nominal),
            estimate(&own.ac1),
        ]);
    }
    let whole = estimate(&found.alpha_masi);
    rows.push(vec![Cell::text("whole sets (MASI distance)"), Cell::Nothing, whole, Cell::Nothing]);
    let columns = vec![
        Column::text("option"),
        Column::number("% of labels"),
        Column::estimate("Krippendorff's alpha"),
        Column::estimate("Gwet's AC1"),
    ];
    let made = intervals([&found.alpha_masi]);
    let caption = format!(
        "Agreement on each option and on whole sets, over {shared} texts with labels of two people or more; {made}"
    );
    Ok(vec![asked.stems.table("agreement", caption, columns, rows)])
}

fn of_spans(
    work: &Work<'_>,
    asked: &ReportQuestion,
    shared: usize,
    found: &SpanAgreements,
) -> Result<Vec<Block>, ProjectError> {
    let analysis = &work.of.analysis;
    let mut rows = Vec::new();
    for (option, one) in asked.question.options().iter().zip(&found.types) {
        let at_all = aggregation::estimate_reliability(analysis, option.id, work.steps)?;
        rows.push(vec![
            Cell::text(&one.name),
            estimate(&at_all.alpha_nominal),
            estimate(&one.words.alpha),
            estimate(&one.words.pairwise_f1),
            Cell::three(one.unitizing.alpha),
        ]);
    }
    rows.push(vec![
        Cell::text("any type"),
        Cell::Nothing,
        estimate(&found.any.alpha),
        estimate(&found.any.pairwise_f1),
        Cell::three(found.any_unitizing.alpha),
    ]);
    let columns = vec![
        Column::text("type"),
        Column::estimate("alpha: in the text at all"),
        Column::estimate("alpha of words"),
        Column::estimate("pairwise F1 of words"),
        Column::number("unitizing alpha"),
    ];
    let caption = format!(
        "Agreement on passages, over {} of {shared} texts with answers of two people or more; a word is marked where a passage covers a character of it; {}, and unitizing alpha has none",
        counted(found.any.words, "word"),
        intervals([&found.any.alpha])
    );
    Ok(vec![asked.stems.table("agreement", caption, columns, rows)])
}

/// Self-agreement.
pub(super) fn self_agreement(work: &Work<'_>, asked: &ReportQuestion) -> Result<Vec<Block>, ProjectError> {
    let index = work.of.context.index();
    let mut rows = Vec::new();
    let mut needs = None;
    for id in index.learned(asked.question.id) {
        let found = repeats::report(&work.of.analysis, id)?;
        let name = index.question(id).map_or_else(String::new, |one| one.name.clone());
        match found.overall {
            Some(of) => rows.push(vec![
                Cell::text(name),
                Cell::Count(of.repeats.into()),
                Cell::estimate(Some(of.share), Some((of.low, of.high))),
                best_accuracy(of.ceiling_low, of.ceiling_high),
            ]),
            None => needs = found.needs.or(needs),
        }
    }
    if rows.is_empty() {
        let needs = needs.unwrap_or_else(|| "Nobody has answered a text again yet.".to_owned());
        return Ok(vec![Block::Needs(format!(
            "Too little to tell how far people agree with themselves. {needs}"
        ))]);
    }
    let columns = vec![
        Column::text("question"),
        Column::number("answers asked again"),
        Column::estimate("share that is the same"),
        Column::estimate("best reachable accuracy, middle of its range"),
    ];
    let caption = "Agreement of people with their own earlier answers, all people together; 95 % intervals, people being what is sampled (with fewer than three: for these people alone). The best accuracy that single answers allow is in the range, if people did not remember their answer";
    Ok(vec![asked.stems.table("self-agreement", caption, columns, rows)])
}

/// The best reachable accuracy, unless its range allows nearly any.
fn best_accuracy(low: f64, high: f64) -> Cell {
    match high - low <= WIDEST_RANGE {
        true => Cell::estimate(Some(f64::midpoint(low, high)), Some((low, high))),
        false => Cell::text(format!("too little to tell ({low:.3} to {high:.3})")),
    }
}

/// Shares of the variance of a label.
pub(super) fn variance(work: &Work<'_>, asked: &ReportQuestion) -> Result<Vec<Block>, ProjectError> {
    let index = work.of.context.index();
    let choices = PlanChoices { top: 0, ..PlanChoices::default() };
    let (mut rows, mut needs, mut only) = (Vec::new(), None, None);
    for id in index.learned(asked.question.id) {
        let found = plan::make(&work.of.analysis, id, choices, work.steps)?;
        let Some(shares) = found.shares else {
            needs = found.needs.or(needs);
            continue;
        };
        let name = index.question(id).map_or_else(String::new, |one| one.name.clone());
        rows.push(vec![
            Cell::text(name),
            Cell::percent(Some(shares.text)),
            Cell::percent(Some(shares.annotator)),
            Cell::percent(Some(shares.residual)),
            found.labels_per_text_now.map_or(Cell::Nothing, |n| Cell::Number(n, 1)),
            Cell::three(found.reliability_now),
        ]);
        only = Some(shares);
    }
    if rows.is_empty() {
        let needs = needs.unwrap_or_default();
        return Ok(vec![Block::Needs(format!("Too little to tell where labels differ. {needs}"))]);
    }
    let caption = format!(
        "Where labels differ: shares of the variance of a single label between texts, between people, and the rest (people who see one text differently, and chance), over {}; the reliability is that of the mean of a text's labels",
        counted(asked.labels.len() as u64, "label")
    );
    let columns = ["% text", "% person", "% rest", "labels a text", "reliability of a text's mean"];
    let columns = std::iter::once(Column::text("question")).chain(columns.map(Column::number)).collect();
    let one = rows.len() == 1;
    let mut blocks = vec![asked.stems.table("variance", caption.clone(), columns, rows)];
    if let Some(shares) = only.filter(|_| one) {
        let bar =
            |name: &str, share: f64| (name.to_owned(), 100.0 * share, format!("{:.1} %", 100.0 * share));
        let bars = [bar("text", shares.text), bar("person", shares.annotator), bar("rest", shares.residual)];
        blocks.extend(asked.stems.figure("variance", caption, plots::bars(&bars, "% of the variance")?));
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_range_has_no_middle() {
        assert!(matches!(best_accuracy(0.6, 0.9), Cell::Estimate(middle, _) if (middle - 0.75).abs() < 1e-9));
        let wide = best_accuracy(0.155, 1.0).shown();
        assert_eq!(wide, "too little to tell (0.155 to 1.000)");
    }
}
