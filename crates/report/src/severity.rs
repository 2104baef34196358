//! Severity of each person: who gives higher levels than others on the same texts.

use super::document::Block;
use super::reproduce::without_folders;
use super::work::{ReportQuestion, Work, quoted};
use dissensus_analysis::annotators;
use dissensus_api::AnnotatorRow;
use dissensus_project::error::ProjectError;
use dissensus_project::words::counted;
use dissensus_render::plots;
use dissensus_render::plots::Ranged;
use dissensus_render::table::{Cell, Column};

/// Standard deviations of a normal distribution that cover 95 % of it, on either side.
const SIDES: f64 = 1.959_963_984_540_054;

pub(super) fn blocks(work: &Work<'_>, asked: &ReportQuestion) -> Result<Vec<Block>, ProjectError> {
    let question = &asked.question;
    if question.scale.has_options() {
        let one = question.options().into_iter().next().map_or_else(String::new, |option| option.name);
        return Ok(vec![
            Block::Needs("People are compared on each option or type by itself:".to_owned()),
            Block::Command(format!("dissensus analyse annotators PROJECT --question {}", quoted(&one))),
        ]);
    }
    if asked.labelled_people().len() < 2 {
        return Ok(vec![Block::Needs(
            "Severity compares people: labels of two people or more are needed.".to_owned(),
        )]);
    }
    work.of.live.fit(question.id, work.steps)?;
    let report = annotators::report_known(&work.of.analysis, question.id)?;
    let mut people: Vec<&AnnotatorRow> = report.annotators.iter().filter(|one| one.labels > 0).collect();
    people.sort_by_key(|one| work.people.place(one.id));
    let interval = |one: &AnnotatorRow| -> Option<(f64, f64, f64)> {
        let (mean, sd) = (f64::from(one.severity?), f64::from(one.severity_sd?));
        Some((mean, mean - SIDES * sd, mean + SIDES * sd))
    };
    let row = |one: &&AnnotatorRow| {
        let agreement = one.agreement_with_others;
        let severity = interval(one);
        vec![
            Cell::text(work.people.name(one.id)),
            Cell::Count(one.labels.into()),
            Cell::estimate(severity.map(|s| s.0), severity.map(|s| (s.1, s.2))),
            Cell::estimate(
                agreement.filter(|of| of.interval.is_some()).map(|of| of.value),
                agreement.and_then(|of| of.interval),
            ),
            Cell::Count(one.shared_texts.into()),
        ]
    };
    let has_severity = people.iter().any(|one| one.severity.is_some());
    let mut blocks = Vec::new();
    let over = format!(
        "{} and {}",
        counted(people.len() as u64, "person").replace("persons", "people"),
        counted(asked.labels.len() as u64, "label")
    );
    if has_severity {
        let version = work.of.live.with(question, |fitted| fitted.basis.version.clone())?.flatten();
        let basis = match version {
            Some(version) => format!("with text embeddings by {}", without_folders(&version)),
            None => "without text embeddings".to_owned(),
        };
        blocks.push(Block::Text(format!(
            "Severity is the part of the model's score that belongs to the person, on the logit scale: above 0 somebody gives higher levels than the average person on the same texts. \
             Estimates are drawn towards 0 the more, the fewer labels somebody gave; intervals are 95 % posterior intervals under the model's variances. \
             The model is one {basis}; severities differ with other embeddings."
        )));
        let of = |one: &&AnnotatorRow| {
            let (value, low, high) = interval(one)?;
            Some(Ranged { name: work.people.name(one.id), value, low, high })
        };
        let ranged: Vec<Ranged> = people.iter().filter_map(of).collect();
        let caption = format!("Severity of each person with its 95 % interval, over {over}");
        blocks.extend(asked.stems.figure(
            "severity",
            caption,
            plots::caterpillar(&ranged, "severity, logits")?,
        ));
    } else {
        blocks.push(Block::Needs(
            "The levels of this question have no order, so that nobody is more severe than others."
                .to_owned(),
        ));
    }
    let columns = vec![
        Column::text("person"),
        Column::number("labels"),
        Column::estimate("severity (95 %)"),
        Column::estimate("pairs equal with others (95 %)"),
        Column::number("texts shared with others"),
    ];
    let caption = format!("People one by one, over {over}; – where there is too little to tell");
    blocks.push(asked.stems.table("people", caption, columns, people.iter().map(row).collect()));
    if !work.people.with_ids {
        blocks.push(Block::Text(
            "People have pseudonyms, the same in all reports, exports and bundles of this file. Who knows how many labels somebody gave may still know them.".to_owned(),
        ));
    }
    Ok(blocks)
}
