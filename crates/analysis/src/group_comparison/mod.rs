//! Comparison of two groups of people over all texts.

mod job;
mod people;
mod texts;
mod words;

pub use job::{last_result, start};

use super::Analysis;
use super::agreement::metric;
use super::who_differs::compared_pairs;
use dissensus_api::{ComparedGroup, Figure, GroupAgreement, GroupComparison, GroupsChoice};
use dissensus_domain::QuestionId;
use dissensus_models::live::LiveModel;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_stats::data::Target;
use dissensus_stats::disagreement::{
    AgreementFigure, MeanGap, SeverityGap, SideAgreement, SidesCompared, severity_gap,
};
use people::Group;
use std::collections::HashSet;

/// Reported steps: labels, the models, their texts.
const STEPS: u64 = 3;

/// Compares two groups of people: levels and agreement over all texts by their labels only, then text by
/// text with the live model, which is fitted if missing. Of the texts on which one group answers higher,
/// `top` are listed.
///
/// # Errors
/// No such question, its levels were added, removed or moved meanwhile, an empty group or groups that
/// overlap, the file cannot be read, or cancellation.
pub fn compare(
    cx: &Analysis,
    question: QuestionId,
    choice: &GroupsChoice,
    top: usize,
    progress: &dyn Progress,
) -> Result<GroupComparison, ProjectError> {
    // Before people and labels: a change while they are read makes the result stale instead of being missed.
    let revision = cx.live.models.revision();
    let index = cx.context.index();
    let asked = index.with_levels(question)?;
    let target = Target::from_scale(&asked.scale);
    let [a, b] = people::groups(index.annotators(), choice)?;
    report_progress(progress, 0, "reading labels")?;
    let texts = index.texts().len();
    let labels = cx.context.observations_in(&index, texts, question)?;
    // The gap is that of side 1, so that it is above 0 if A is higher.
    let found = SidesCompared::new(&labels, texts, [&b.people, &a.people], target, progress)?;
    let needs = words::needs(&found);
    report_progress(progress, 1, "fitting the model")?;
    let ordered = target.kind.is_ordered();
    let model = match needs.is_none() && ordered {
        true => {
            cx.live.fit(question, progress)?;
            // A copy, so that recording a label does not wait for the following.
            cx.live.with(asked, |fitted| fitted.model.clone())?
        }
        false => None,
    };
    report_progress(progress, 2, "comparing texts")?;
    let listed = match &model {
        Some(model) => texts::texts_by_distance(cx, model, [&a.people, &b.people], top, progress)?,
        None => texts::DifferingTexts::default(),
    };
    let shared = found.shared_texts as u32;
    let gap = found.gap.map(figure_of_gap);
    // Groups of an attribute may have been picked among all pairs of values, as the overview of who
    // differs picks them.
    let pairs = match people::one_attribute(choice) {
        Some(_) => {
            let labelled: HashSet<u32> = labels.iter().map(|label| label.annotator).collect();
            compared_pairs(index.annotators(), |row| labelled.contains(row))
        }
        None => 1,
    };
    let corrected = found.gap.filter(|_| pairs > 1).map(|gap| Figure {
        value: gap.gap,
        interval: gap.interval_among(pairs),
        p: gap.p_among(pairs),
    });
    let equal = found.agreement.map(|all| of_sides(all.equal));
    let beyond =
        found.agreement.and_then(|all| all.beyond).map(|beyond| Figure { p: beyond.p, ..figure(beyond) });
    let with_alpha = target.levels <= SideAgreement::MAX_LEVELS;
    let unless_needed = |when_enough: String| needs.clone().unwrap_or(when_enough);
    let no_order = "The levels of this question have no order, so that only agreement is compared.";
    Ok(GroupComparison {
        question,
        groups: choice.clone(),
        revision,
        stale: false,
        a: side(&a, &found, 1),
        b: side(&b, &found, 0),
        texts: texts as u32,
        shared_texts: shared,
        overall_words: unless_needed(gap.map_or_else(
            || no_order.to_owned(),
            |gap| words::overall(&gap, shared, corrected.zip(Some(pairs))),
        )),
        agreement_words: equal.and_then(|equal| words::agreement(&equal, beyond, with_alpha)),
        texts_words: unless_needed(match ordered {
            true => words::texts(listed.differing, shared),
            false => no_order.to_owned(),
        }),
        severity: model.as_ref().and_then(|model| severity(model, &a, &b)),
        gap,
        gap_corrected: corrected,
        equal,
        equal_beyond: beyond,
        alpha: found.agreement.filter(|_| with_alpha).map(|all| of_sides(all.alpha)),
        alpha_metric: metric(target.kind).to_owned(),
        differing: listed.differing,
        a_higher: listed.a_higher,
        b_higher: listed.b_higher,
        correction: words::correction(people::whole_attribute(index.annotators(), choice)),
        needs,
    })
}

fn report_progress(progress: &dyn Progress, done: u64, doing: &str) -> Result<(), ProjectError> {
    progress.report(done, Some(STEPS), doing);
    if progress.cancelled() { Err(ProjectError::Cancelled) } else { Ok(()) }
}

fn side(group: &Group, found: &SidesCompared, at: usize) -> ComparedGroup {
    ComparedGroup {
        words: group.words.clone(),
        people: group.people.len() as u32,
        with_labels: found.people[at] as u32,
        labels: found.labels[at] as u32,
    }
}

fn severity(model: &LiveModel, a: &Group, b: &Group) -> Option<Figure> {
    let of = |group: &Group| group.people.iter().map(|row| model.severity(*row)).collect::<Option<Vec<_>>>();
    let (a, b, prior) = (of(a)?, of(b)?, model.severity(u32::MAX)?);
    let SeverityGap { difference, interval } = severity_gap([&b, &a], prior.sd)?;
    Some(Figure { value: difference, interval: Some(interval), p: None })
}

fn figure_of_gap(gap: MeanGap) -> Figure {
    Figure { value: gap.gap, interval: gap.interval, p: gap.p }
}

fn figure(of: AgreementFigure) -> Figure {
    Figure { value: of.value, interval: of.interval, p: None }
}

/// Figures of B, of A, and between them.
fn of_sides([within_b, within_a, between]: [Option<AgreementFigure>; 3]) -> GroupAgreement {
    GroupAgreement {
        within_a: within_a.map(figure),
        within_b: within_b.map(figure),
        between: between.map(figure),
    }
}
