//! `project overview`.

use super::{count, open_to_read};
use crate::args::Overview;
use crate::language::{translate, translate_cell, translate_word};
use crate::output;
use anyhow::Result;
use dissensus_analysis::overview;
use dissensus_api::{
    ContestedText, NextStep, NextStepKind, OverviewAgreement, OverviewContested, OverviewPerson,
};
use dissensus_editing::annotators;
use dissensus_editing::info;
use schemars::JsonSchema;
use serde::Serialize;

/// What `overview --json` prints.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ProjectOverview")]
pub(super) struct Document {
    #[serde(flatten)]
    overview: dissensus_api::Overview,
    /// Agreement between annotators, for each question.
    agreement: Vec<OverviewAgreement>,
    /// The most contested texts, for each question.
    contested: Vec<OverviewContested>,
}

/// Maximum number of annotators printed.
const PEOPLE_SHOWN: usize = 12;

pub(crate) fn overview(args: &Overview) -> Result<()> {
    let session = open_to_read(&args.project.path)?;
    let reading_as = args
        .annotator
        .as_deref()
        .map(|name| annotators::find(&session.project, name))
        .transpose()?
        .map(|a| a.id);
    let overview = session.overview(reading_as)?;
    let (mut agreement, mut contested) = (Vec::new(), Vec::new());
    for question in &overview.questions {
        agreement.push(overview::agreement(&session.analysis, question.question)?);
        contested.push(overview::contested(&session.analysis, question.question, reading_as, args.top)?);
    }
    let document = Document { overview, agreement, contested };
    if args.output.json {
        return output::json(&document);
    }
    print(&info::read(&session.project)?.questions, &document)
}

fn print(asked: &[dissensus_api::QuestionInfo], document: &Document) -> Result<()> {
    let Document { overview, agreement, contested } = document;
    let sizes = [
        count(u64::from(overview.texts), "text"),
        super::annotators(overview.people.len() as u32, 0),
        count(overview.questions.len() as u64, "question"),
    ];
    output::line(&sizes.map(|size| translate(&size).into_owned()).join(", "))?;
    for (at, question) in overview.questions.iter().enumerate() {
        output::line(&format!(
            "\n{}: {} by {} on {}, {} of them by two people or more",
            question.name,
            count(u64::from(question.labels), "label"),
            count(u64::from(question.people), "annotator"),
            count(u64::from(question.texts), "text"),
            question.shared
        ))?;
        let levels = asked.get(at).map(|asked| asked.scale.levels()).unwrap_or_default();
        let shares = levels.iter().zip(&question.counts).map(|(name, n)| format!("{name} {n}"));
        output::line(&format!("  {}", shares.collect::<Vec<_>>().join(", ")))?;
        output::line(&format!("  {}", alpha(&agreement[at])))?;
        if !contested[at].observed.is_empty() || !contested[at].predicted.is_empty() {
            output::line("  how far people differ on a text, from 0 (all agree) to 1 (as far as they can):")?;
        }
        texts("most contested", &contested[at].observed)?;
        texts("predicted to be contested", &contested[at].predicted)?;
    }
    if !overview.people.is_empty() {
        output::line("")?;
        let names: Vec<&str> = overview.questions.iter().map(|question| question.name.as_str()).collect();
        let header: Vec<&str> = ["person"].into_iter().chain(names).chain(["of", "median s", ""]).collect();
        let rows = overview.people.iter().take(PEOPLE_SHOWN).map(person).collect();
        let numbers: Vec<usize> = (1..header.len() - 1).collect();
        output::line(&output::table(&header, rows, &numbers))?;
        if overview.people.len() > PEOPLE_SHOWN {
            output::line(&format!("{} more: --json has all of them", overview.people.len() - PEOPLE_SHOWN))?;
        }
    }
    output::line("")?;
    overview.steps.iter().try_for_each(|next| output::line(&format!("next: {}", translate_word(&step(next)))))
}

fn texts(title: &str, texts: &[ContestedText]) -> Result<()> {
    for text in texts {
        let name = if text.named { text.external_id.clone() } else { format!("row {}", text.row) };
        let title = translate_cell(title);
        output::text(&format!("  {title}: {name} ({:.2}) {}", text.value, output::cut(&text.snippet, 60)))?;
    }
    Ok(())
}

fn alpha(found: &OverviewAgreement) -> String {
    let name = format!("Krippendorff's alpha ({})", found.metric);
    match (found.alpha, found.low, found.high) {
        (Some(alpha), Some(low), Some(high)) => {
            let whose = match (found.like_these, found.these_low, found.these_high) {
                (true, Some(low), Some(high)) => {
                    format!("for people like these ({low:.2} to {high:.2} for these people)")
                }
                _ => "for these people; fewer than five are too few to tell of others".to_owned(),
            };
            format!(
                "{name}: {alpha:.2}, 95 % interval {low:.2} to {high:.2} {whose}, {} shared texts",
                found.shared
            )
        }
        (Some(_), ..) => format!("{name}: 1.00, nobody differs on {} shared texts", found.shared),
        _ => format!("{name}: too little to tell. {}", found.needs.as_deref().unwrap_or_default()),
    }
}

fn person(person: &OverviewPerson) -> Vec<String> {
    let labels = person.labels.iter().map(u32::to_string);
    let who = match (person.simulated, person.imported) {
        (true, _) => translate_word("simulated"),
        (_, true) => "from a file".into(),
        _ => "".into(),
    };
    let seconds = person.seconds.map_or_else(|| "–".to_owned(), |seconds| format!("{seconds:.1}"));
    [person.name.clone()]
        .into_iter()
        .chain(labels)
        .chain([person.asked.to_string(), seconds, who.into_owned()])
        .collect()
}

fn step(step: &NextStep) -> String {
    let number = step.count.unwrap_or_default();
    match step.kind {
        NextStepKind::Import => "import texts (dissensus data import)".to_owned(),
        NextStepKind::AskQuestion => "add a question (dissensus data question)".to_owned(),
        NextStepKind::Label => match step.count {
            Some(left) => format!("label: {} left", count(u64::from(left), "text")),
            None => "label".to_owned(),
        },
        NextStepKind::GetEncoder => {
            "get an encoder, so that answers can be predicted (dissensus models encode)".to_owned()
        }
        NextStepKind::TakeIn => {
            format!(
                "merge submissions: {} handed out (dissensus study merge)",
                count(u64::from(number), "packet")
            )
        }
        NextStepKind::Plan => {
            format!(
                "let several people label the same texts: {number} have labels of two (dissensus study assign)"
            )
        }
        NextStepKind::SeeDisagreement => {
            "see where people disagree (dissensus analyse disagreement)".to_owned()
        }
    }
}
