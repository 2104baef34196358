//! `analyse agreement` and `analyse aggregate`.

use super::{count, open_to_read};
use crate::args::{Aggregate, Agreement};
use crate::output::{self, three};
use crate::progress::Bar;
use anyhow::{Result, bail};
use dissensus_analysis::aggregation;
use dissensus_analysis::agreement;
use dissensus_analysis::multi_label;
use dissensus_analysis::{
    AnnotatorPairAgreement, LevelAgreement, OptionAgreement, OptionAgreements, OptionsOfText,
    QuestionAgreement, SpanAgreements, TypeAgreement,
};
use dissensus_app::session::Session;
use dissensus_domain::Question;
use dissensus_editing::questions;
use dissensus_stats::agreement::{Estimate, IntervalScope, Reliability, Unitizing, WordAgreement};
use dissensus_stats::metrics::Interval;
use schemars::JsonSchema;
use serde::Serialize;

/// What `agreement --json` prints: the keys of earlier versions, and every coefficient.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AgreementOfQuestion")]
pub(super) struct Document<'a> {
    #[serde(flatten)]
    agreement: &'a dissensus_analysis::Agreement,
    /// Every coefficient, with its interval.
    reliability: &'a Reliability,
    /// With `--pairs`: agreement of each pair of annotators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pairs: Option<Vec<AnnotatorPairAgreement>>,
}

/// What `aggregate --json` prints of a multi-label question.
#[derive(Serialize, JsonSchema)]
pub(super) struct AggregatedOptions<'a> {
    /// How the labels of each option were aggregated.
    method: &'a str,
    /// Options for which the estimation stopped at the largest number of rounds.
    not_converged: Vec<String>,
    /// The options, in order.
    options: &'a [String],
    /// The question.
    question: &'a str,
    /// The aggregated options of each text.
    texts: Vec<OptionsOfText>,
}

pub(crate) fn agreement(args: &Agreement) -> Result<()> {
    let session = open_to_read(&args.project.path)?;
    let question = questions::find(&session.project, args.question.name.as_deref())?;
    let form = question.scale.form();
    if form.has_parts() && args.pairs.is_some() {
        let first = question.options().into_iter().next().map_or_else(String::new, |option| option.name);
        bail!("--pairs compares annotators on one {}: name it, such as --question \"{first}\"", form.part());
    }
    let bar = Bar::new("resamples");
    let found = agreement::measure(&session.analysis, &question, &bar);
    drop(bar);
    match found? {
        QuestionAgreement::Levels(found) => level_agreement(&session, &question, &found, args),
        QuestionAgreement::Options(found) => option_agreement(&found, args),
        QuestionAgreement::Spans(found) => span_agreement(&found, args),
    }
}

fn level_agreement(
    session: &Session,
    question: &Question,
    found: &LevelAgreement,
    args: &Agreement,
) -> Result<()> {
    let (agreement, reliability) = (&found.agreement, &found.reliability);
    let pairs = args
        .pairs
        .map(|least| aggregation::compare_pairs(&session.analysis, question.id, least))
        .transpose()?;
    if args.output.json {
        return output::json(&Document { agreement, reliability, pairs });
    }
    output::line(&format!(
        "{}: {} by {} on {}{}",
        agreement.question,
        count(u64::from(agreement.labels), "label"),
        count(u64::from(agreement.annotators), "annotator"),
        count(u64::from(agreement.texts), "text"),
        left_out(agreement.annotators_without_labels)
    ))?;
    output::line(&format!("Krippendorff's alpha ({}): {}", agreement.metric, with_interval(found.alpha())))?;
    output::line(&format!("Pairs of labels that are equal: {}\n", three(agreement.pairwise_agreement)))?;
    output::line(&coefficients(reliability))?;
    if let Some(pairs) = pairs {
        output::line("")?;
        let header = ["annotators", "", "texts", "agreement", "kappa", "quadratic"];
        let row = |p: &AnnotatorPairAgreement| {
            vec![
                p.first.clone(),
                p.second.clone(),
                p.texts.to_string(),
                three(Some(p.agreement)),
                three(p.kappa),
                three(p.quadratic_kappa),
            ]
        };
        output::line(&output::table(&header, pairs.iter().map(row).collect(), &[2, 3, 4, 5]))?;
    }
    Ok(())
}

/// Prints the agreement on every option of a multi-label question.
fn option_agreement(found: &OptionAgreements, args: &Agreement) -> Result<()> {
    if args.output.json {
        return output::json(found);
    }
    let Some(first) = found.options.first().map(|option| &option.agreement) else { return Ok(()) };
    output::line(&format!(
        "{}: {} by {} on {}{}",
        found.question,
        count(u64::from(first.labels), "label"),
        count(u64::from(first.annotators), "annotator"),
        count(u64::from(first.texts), "text"),
        left_out(first.annotators_without_labels)
    ))?;
    if found.options.iter().all(|one| one.agreement.pairwise_agreement.is_none()) {
        output::line("No text has answers of two people: how they agree cannot be estimated")?;
    }
    output::line(&format!(
        "Krippendorff's alpha of whole sets (MASI distance): {}",
        with_interval(&found.alpha_masi)
    ))?;
    output::line(&format!(
        "Mean of Krippendorff's alpha over options where it is defined: {}\n",
        three(found.mean_alpha)
    ))?;
    let row = |one: &OptionAgreement| {
        vec![
            one.option.clone(),
            three(one.chosen),
            three(one.agreement.alpha),
            three(one.agreement.pairwise_agreement),
        ]
    };
    let header = ["option", "chosen", "alpha", "equal pairs"];
    output::line(&output::table(&header, found.options.iter().map(row).collect(), &[1, 2, 3]))
}

/// Prints the agreement on the words that annotators mark.
fn span_agreement(found: &SpanAgreements, args: &Agreement) -> Result<()> {
    if args.output.json {
        return output::json(found);
    }
    output::line(&format!(
        "{}: {} by {} on {}",
        found.question,
        count(u64::from(found.labels), "answer"),
        count(u64::from(found.annotators), "annotator"),
        count(u64::from(found.texts), "text")
    ))?;
    output::line(&format!(
        "Words of {} with two answers or more; a word is marked where a span covers a character of it. Intervals: 95 % for {}\n",
        count(found.any.texts as u64, "text"),
        found.any.alpha.shown().map_or(IntervalScope::PeopleLikeThese, |(_, scope)| scope).words()
    ))?;
    let row = |name: &str, answers: [Option<f64>; 2], words: &WordAgreement, units: &Unitizing| {
        let [chosen, texts] = answers.map(three);
        let rest = [three(words.marked), with_ends(&words.alpha), with_ends(&words.pairwise_f1)];
        let places = three(units.alpha);
        [name.to_owned(), chosen, texts].into_iter().chain(rest).chain([places]).collect::<Vec<_>>()
    };
    let of_type =
        |one: &TypeAgreement| row(&one.name, [one.chosen, one.alpha_of_texts], &one.words, &one.unitizing);
    let mut rows: Vec<Vec<String>> = found.types.iter().map(of_type).collect();
    rows.push(row("any type", [None, None], &found.any, &found.any_unitizing));
    let header = [
        "type",
        "answers",
        "alpha: in the text at all",
        "words marked",
        "alpha of words",
        "pairwise F1",
        "unitizing alpha",
    ];
    output::line(&output::table(&header, rows, &[1, 2, 3, 4, 5, 6]))?;
    output::line(&format!(
        "\nKrippendorff's unitizing alpha (where spans begin and end, in characters) of all types together: {}",
        three(found.unitizing.alpha)
    ))?;
    if found.unitizing.joined > 0 {
        let joined = count(found.unitizing.joined, "span");
        output::line(&format!("For it, {joined} joined another of the same type and answer that overlaps"))?;
    }
    Ok(())
}

/// Formats a coefficient with its 95 % interval and the population it is about, if it has one.
fn with_interval(of: &Estimate) -> String {
    match of.shown() {
        Some((interval, scope)) => {
            format!("{} (95 % {} for {})", three(of.value), ends(Some(interval)), scope.words())
        }
        None => three(of.value),
    }
}

/// Formats a coefficient with the ends of its interval, if it has one.
fn with_ends(of: &Estimate) -> String {
    match of.shown() {
        Some((interval, _)) => format!("{} ({})", three(of.value), ends(Some(interval))),
        None => three(of.value),
    }
}

fn ends(interval: Option<Interval>) -> String {
    interval.map_or_else(String::new, |i| format!("{:.3} to {:.3}", i.low, i.high))
}

/// Describes the annotators that the figures leave out.
fn left_out(without_labels: u32) -> String {
    match without_labels {
        0 => String::new(),
        n => format!("; {} without a label left out", count(u64::from(n), "annotator")),
    }
}

fn coefficients(found: &Reliability) -> String {
    let defined = found.coefficients().into_iter().filter(|(_, estimate)| estimate.value.is_some());
    let row = |(name, estimate): (&str, &dissensus_stats::agreement::Estimate)| {
        vec![name.to_owned(), three(estimate.value), ends(estimate.interval), ends(estimate.over_texts)]
    };
    let header = ["coefficient", "value", "95 % people like these", "95 % these people"];
    let table = output::table(&header, defined.map(row).collect(), &[1, 2, 3]);
    let few = found.alpha_nominal.interval.is_none() && found.alpha_nominal.over_texts.is_some();
    match few {
        true => format!("{table}\nFewer than five people allow no conclusions about people like these."),
        false => table,
    }
}

pub(crate) fn aggregate(args: &Aggregate) -> Result<()> {
    let session = open_to_read(&args.project.path)?;
    let question = questions::find(&session.project, args.question.name.as_deref())?;
    if question.scale.has_options() {
        return aggregate_options(&session, &question, args);
    }
    let bar = Bar::new("rounds");
    let found = aggregation::aggregate_labels(&session.analysis, question.id, &args.method, &bar);
    drop(bar);
    let found = found?;
    if args.output.json {
        return output::json(&found);
    }
    let ties = found.texts.iter().filter(|text| text.tie).count();
    let ended = match (found.iterations, found.converged) {
        (Some(rounds), Some(true)) => format!(", converged in {rounds} rounds"),
        (Some(rounds), _) => format!(", not converged in {rounds} rounds"),
        _ => String::new(),
    };
    output::line(&format!(
        "{}: {} by {}{ended}, {} tied; labels of {}{}\n",
        found.question,
        count(found.texts.len() as u64, "text"),
        found.method,
        ties,
        count(found.annotators.len() as u64, "annotator"),
        left_out(found.annotators_without_labels)
    ))?;
    let row = |t: &dissensus_analysis::AggregatedText| {
        let label = if t.tie { format!("{} (tie)", t.label) } else { t.label.clone() };
        vec![t.text_id.clone(), label, three(Some(t.probability)), t.labels.to_string()]
    };
    let rows = found.texts.iter().take(args.top).map(row).collect();
    output::line(&output::table(&["text", "label", "probability", "labels"], rows, &[2, 3]))?;
    output::line("")?;
    let mut people: Vec<_> = found.annotators.iter().collect();
    people.sort_by(|a, b| a.agreement.unwrap_or(0.0).total_cmp(&b.agreement.unwrap_or(0.0)));
    let row = |a: &&dissensus_analysis::AggregatedAnnotator| {
        let mut row = vec![a.annotator_id.clone(), a.labels.to_string(), three(a.agreement)];
        row.extend(a.spamming.or(a.ability).map(|v| three(Some(v))));
        row
    };
    let mut header = vec!["annotator, least reliable first", "labels", "expected accuracy"];
    match found.method {
        "mace" => header.push("spamming"),
        "glad" => header.push("ability"),
        _ => {}
    }
    let numbers: Vec<usize> = (1..header.len()).collect();
    output::line(&output::table(&header, people.iter().take(args.top).map(row).collect(), &numbers))
}

/// Aggregates every option of a multi-label question separately, and combines them into a set for each text.
fn aggregate_options(session: &Session, question: &Question, args: &Aggregate) -> Result<()> {
    let bar = Bar::new("rounds");
    let found = multi_label::aggregate(&session.analysis, question, &args.method, &bar);
    drop(bar);
    let found = found?;
    if args.output.json {
        return output::json(&AggregatedOptions {
            method: &args.method,
            not_converged: found.not_converged,
            options: question.scale.levels(),
            question: &question.name,
            texts: found.texts,
        });
    }
    let stopped = match found.not_converged.as_slice() {
        [] => String::new(),
        names => format!("; not converged for {}", names.join(", ")),
    };
    let found = found.texts;
    let tied = found.iter().filter(|text| !text.ties.is_empty()).count();
    output::line(&format!(
        "{}: {} by {}, each option by itself{stopped}; {tied} with a tie on an option, which is left out then\n",
        question.name,
        count(found.len() as u64, "text"),
        args.method,
    ))?;
    let row =
        |t: &OptionsOfText| vec![t.text_id.clone(), t.label.clone(), t.ties.join(", "), t.labels.to_string()];
    let rows = found.iter().take(args.top).map(row).collect();
    output::line(&output::table(&["text", "options", "ties", "labels"], rows, &[3]))
}
