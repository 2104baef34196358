//! `analyse compare-groups`.

use super::{count, encoder_choice, open_or_read, print_switch};
use crate::args::CompareGroups;
use crate::output::{self, three};
use crate::progress::Bar;
use anyhow::Result;
use dissensus_analysis::group_comparison;
use dissensus_api::{
    ComparedGroup, Figure, GroupAgreement, GroupComparison, GroupTextGap, GroupsChoice, PeopleChoice,
};
use dissensus_app::session::Session;
use dissensus_domain::Question;
use dissensus_editing::annotators;
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_project::words::signed;
use schemars::JsonSchema;
use serde::Serialize;

/// What `compare-groups --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct GroupsCompared<'a> {
    /// The first group.
    a: ComparedPeople<'a>,
    /// Texts on which the first group is estimated to answer higher: significant differences first, then by
    /// gap; last those whose own labels are higher in the second group.
    a_higher: Vec<ComparedText<'a>>,
    /// Agreement between annotators, within the groups and between them.
    agreement: AgreementOfGroups<'a>,
    /// The agreement in words.
    agreement_words: Option<&'a str>,
    /// The second group.
    b: ComparedPeople<'a>,
    /// Texts on which the second group is estimated to answer higher, in the same order.
    b_higher: Vec<ComparedText<'a>>,
    /// What p values and intervals are corrected for, and what not.
    correction: &'a str,
    /// Numbers of texts with a significant difference.
    differing: DifferingTexts,
    /// How much higher the first group answers over all texts, in levels.
    gap: Option<ComparedFigure>,
    /// The question's levels.
    levels: &'a [String],
    /// What is missing to compare the groups.
    needs: Option<&'a str>,
    /// Notice about simulated annotators.
    notice: Option<&'a str>,
    /// Summary over all texts, in words.
    overall_words: &'a str,
    /// The question.
    question: &'a str,
    /// How much stricter the first group is, on the logit scale of the model.
    severity: Option<ComparedFigure>,
    /// Number of texts that both groups labelled.
    shared_texts: u32,
    /// Number of texts in all.
    texts_in_all: u32,
    /// Summary text by text, in words.
    texts_words: &'a str,
}

/// Members of a group.
#[derive(Serialize, JsonSchema)]
struct ComparedPeople<'a> {
    /// Number of annotators.
    annotators: u32,
    /// Number of annotators with labels.
    annotators_with_labels: u32,
    /// Number of labels by these annotators.
    labels: u32,
    /// Description of the group, in words.
    who: &'a str,
}

/// Agreement of two groups.
#[derive(Serialize, JsonSchema)]
struct AgreementOfGroups<'a> {
    /// The difference function of alpha: `nominal` or `ordinal`.
    alpha_metric: &'a str,
    /// Between the groups.
    between: PairsOfPeople,
    /// Share of equal pairs between the groups minus the mean share within the groups.
    equal_beyond: Option<ComparedFigure>,
    /// Within the first group.
    within_a: PairsOfPeople,
    /// Within the second group.
    within_b: PairsOfPeople,
}

/// Agreement of pairs of annotators.
#[derive(Serialize, JsonSchema)]
struct PairsOfPeople {
    /// Krippendorff's alpha; between the groups, cross-replication reliability.
    alpha: Option<ComparedFigure>,
    /// Share of equal pairs among pairs of labels of the same text.
    equal: Option<ComparedFigure>,
}

/// Number of texts on which each group answers higher.
#[derive(Serialize, JsonSchema)]
struct DifferingTexts {
    /// Texts on which the first group answers higher.
    a_higher: u32,
    /// Texts on which the second group answers higher.
    b_higher: u32,
}

/// A figure with its interval.
#[derive(Serialize, JsonSchema)]
struct ComparedFigure {
    /// Upper end of its 95 % interval.
    high: Option<f64>,
    /// Lower end of its 95 % interval.
    low: Option<f64>,
    /// Its p value, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    p: Option<f64>,
    /// The value.
    value: f64,
}

/// A text on which the groups differ.
#[derive(Serialize, JsonSchema)]
struct ComparedText<'a> {
    /// How much higher the first group answers, in levels: the prediction for its people combined with what
    /// the labels show beyond it.
    gap: f64,
    /// Upper end of its 95 % interval.
    high: Option<f64>,
    /// Number of labels by the first group.
    labels_a: u32,
    /// Number of labels by the second group.
    labels_b: u32,
    /// Lower end of its 95 % interval.
    low: Option<f64>,
    /// Mean label of the first group minus that of the second, in levels: the labels of this text alone.
    observed: f64,
    /// Two-sided p value of the difference in labels beyond each annotator's own severity.
    p: Option<f64>,
    /// Whether the difference is significant after correction for all texts that both groups labelled.
    significant: bool,
    /// Beginning of the text.
    text: &'a str,
    /// Id of the text.
    text_id: &'a str,
}

/// Maximum number of characters of a text in the table.
const TEXT_WIDTH: usize = 60;
/// Reserved name that means an annotator's id, not an attribute.
const PERSON: &str = "annotator";

pub(crate) fn compare_groups(args: &CompareGroups) -> Result<()> {
    let session = open_or_read(&args.project.path)?;
    let question = questions::find(&session.project, args.question.name.as_deref())?;
    let choice = GroupsChoice { a: people(&session, &args.a)?, b: people(&session, &args.b)? };
    let bar = Bar::new("steps");
    let ready = session.encoding.ensure_encoded(&encoder_choice(&args.encoder), &bar).and_then(|switch| {
        let found = group_comparison::compare(&session.analysis, question.id, &choice, args.top, &bar)?;
        Ok((switch, found))
    });
    drop(bar);
    let (switch, found) = ready?;
    print_switch(switch);
    let notice = info::read(&session.project)?.simulated_notice;
    if args.output.json {
        return output::json(&document(&question, notice.as_deref(), &found));
    }
    if let Some(notice) = notice {
        output::line(&notice)?;
    }
    show(&question.name, &found)
}

fn people(session: &Session, chosen: &[(String, String)]) -> Result<PeopleChoice> {
    let mut people = PeopleChoice::default();
    for (name, value) in chosen {
        if name == PERSON {
            people.annotators.push(annotators::find(&session.project, value)?.id);
        } else {
            people.attributes.push((name.clone(), value.clone()));
        }
    }
    Ok(people)
}

fn document<'a>(
    question: &'a Question,
    notice: Option<&'a str>,
    found: &'a GroupComparison,
) -> GroupsCompared<'a> {
    let pairs = |which: fn(&GroupAgreement) -> Option<Figure>| PairsOfPeople {
        alpha: found.alpha.as_ref().and_then(which).map(figure),
        equal: found.equal.as_ref().and_then(which).map(figure),
    };
    GroupsCompared {
        a: group(&found.a),
        a_higher: found.a_higher.iter().map(text).collect(),
        agreement: AgreementOfGroups {
            alpha_metric: &found.alpha_metric,
            between: pairs(|all| all.between),
            equal_beyond: found.equal_beyond.map(figure),
            within_a: pairs(|all| all.within_a),
            within_b: pairs(|all| all.within_b),
        },
        agreement_words: found.agreement_words.as_deref(),
        b: group(&found.b),
        b_higher: found.b_higher.iter().map(text).collect(),
        correction: &found.correction,
        differing: DifferingTexts { a_higher: found.differing.0, b_higher: found.differing.1 },
        gap: found.gap.map(figure),
        levels: question.scale.levels(),
        needs: found.needs.as_deref(),
        notice,
        overall_words: &found.overall_words,
        question: &question.name,
        severity: found.severity.map(figure),
        shared_texts: found.shared_texts,
        texts_in_all: found.texts,
        texts_words: &found.texts_words,
    }
}

fn group(group: &ComparedGroup) -> ComparedPeople<'_> {
    ComparedPeople {
        annotators: group.people,
        annotators_with_labels: group.with_labels,
        labels: group.labels,
        who: &group.words,
    }
}

fn figure(figure: Figure) -> ComparedFigure {
    ComparedFigure {
        high: figure.interval.map(|(_, high)| high),
        low: figure.interval.map(|(low, _)| low),
        p: figure.p,
        value: figure.value,
    }
}

fn text(row: &GroupTextGap) -> ComparedText<'_> {
    ComparedText {
        gap: row.gap.into(),
        high: row.interval.map(|(_, high)| high.into()),
        labels_a: row.labels.0,
        labels_b: row.labels.1,
        low: row.interval.map(|(low, _)| low.into()),
        observed: row.observed.into(),
        p: row.p,
        significant: row.significant,
        text: &row.snippet,
        text_id: &row.external_id,
    }
}

fn show(question: &str, found: &GroupComparison) -> Result<()> {
    let of = |group: &ComparedGroup| {
        format!(
            "{} ({}, {} with labels, {})",
            group.words,
            if group.people == 1 { "1 person".to_owned() } else { format!("{} people", group.people) },
            group.with_labels,
            count(group.labels.into(), "label")
        )
    };
    output::line(&format!("{question}: A is {}, B is {}", of(&found.a), of(&found.b)))?;
    output::line(&found.overall_words)?;
    if found.needs.is_some() {
        return Ok(());
    }
    if let Some(words) = &found.agreement_words {
        output::line(words)?;
    }
    output::line(&found.texts_words)?;
    output::line(&format!("{}\n", found.correction))?;
    output::line(&figures(found))?;
    for (who, rows) in [("A", &found.a_higher), ("B", &found.b_higher)] {
        if !rows.is_empty() {
            output::line(&format!(
                "\nTexts on which {who} is estimated to answer higher (gap: prediction and labels together)"
            ))?;
            let header = ["beyond severity", "text id", "gap", "95 %", "of labels", "labels", "p", "text"];
            output::line(&output::table(&header, rows.iter().map(line).collect(), &[2, 4, 6]))?;
        }
    }
    Ok(())
}

/// A table of the figures over all texts.
fn figures(found: &GroupComparison) -> String {
    let mut rows = vec![
        ("A higher than B, levels".to_owned(), found.gap),
        ("A stricter than B, logits of the model".to_owned(), found.severity),
    ];
    let alpha = format!("alpha ({})", found.alpha_metric);
    for (name, of) in [("equal pairs", &found.equal), (alpha.as_str(), &found.alpha)] {
        let of = of.as_ref();
        rows.push((format!("{name} within A"), of.and_then(|all| all.within_a)));
        rows.push((format!("{name} within B"), of.and_then(|all| all.within_b)));
        rows.push((format!("{name} between A and B"), of.and_then(|all| all.between)));
    }
    rows.push(("equal pairs between, less the mean within".to_owned(), found.equal_beyond));
    let row = |(name, figure): (String, Option<Figure>)| {
        let figure = figure?;
        let interval = figure.interval;
        let interval =
            interval.map_or_else(|| "–".to_owned(), |(low, high)| format!("{low:.3} to {high:.3}"));
        // Uses the same minus sign as the sentences.
        Some(
            vec![name, three(Some(figure.value)), interval]
                .into_iter()
                .map(|cell| cell.replace('-', "−"))
                .collect(),
        )
    };
    output::table(&["over all texts", "", "95 %"], rows.into_iter().filter_map(row).collect(), &[1])
}

fn line(row: &GroupTextGap) -> Vec<String> {
    vec![
        match (row.significant, row.observed * row.gap < 0.0) {
            (true, _) => "yes",
            (false, true) => "not shown, labels say the opposite",
            (false, false) => "not shown",
        }
        .to_owned(),
        row.external_id.clone(),
        signed(row.gap.into(), 2),
        row.interval.map_or_else(
            || "–".to_owned(),
            |(low, high)| format!("{} to {}", signed(low.into(), 2), signed(high.into(), 2)),
        ),
        signed(row.observed.into(), 2),
        format!("{} and {}", row.labels.0, row.labels.1),
        row.p.map_or_else(|| "–".to_owned(), |p| format!("{p:.4}")),
        output::cut(&row.snippet, TEXT_WIDTH),
    ]
}
