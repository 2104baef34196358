//! `compare-groups`.

use super::{count, encoder_choice, open_or_read, tell_switch};
use crate::args::CompareGroups;
use crate::output::{self, three};
use crate::progress::Bar;
use anyhow::Result;
use dissensus_workbench::Session;
use dissensus_workbench::view::{
    ComparedGroup, Figure, GroupComparison, GroupTextGap, GroupsChoice, PeopleChoice,
};
use serde_json::{Value, json};

/// Characters of a text in the table.
const TEXT_WIDTH: usize = 60;
/// The name that stands for a person's id and for no attribute.
const PERSON: &str = "annotator";

pub(crate) fn compare_groups(args: &CompareGroups) -> Result<()> {
    let session = open_or_read(&args.project)?;
    let question = session.project.question(args.question.as_deref())?;
    let choice = GroupsChoice { a: people(&session, &args.a)?, b: people(&session, &args.b)? };
    let bar = Bar::new("steps");
    let ready = session.encoding.ensure_encoded(&encoder_choice(&args.encoder), &bar).and_then(|switch| {
        let found = session.analysis.compare_groups(question.id, &choice, args.top, &bar)?;
        Ok((switch, found))
    });
    drop(bar);
    let (switch, found) = ready?;
    tell_switch(switch);
    let notice = session.project.info()?.simulated_notice;
    if args.json {
        return output::json(&as_json(&question.name, question.scale.levels(), notice.as_deref(), &found));
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
            people.annotators.push(session.project.annotator(value)?.id);
        } else {
            people.attributes.push((name.clone(), value.clone()));
        }
    }
    Ok(people)
}

fn as_json(question: &str, levels: &[String], notice: Option<&str>, found: &GroupComparison) -> Value {
    let of_equal = |which: fn(&dissensus_workbench::view::GroupAgreement) -> Option<Figure>| {
        json!({
            "equal": found.equal.as_ref().and_then(which).map(figure),
            "alpha": found.alpha.as_ref().and_then(which).map(figure),
        })
    };
    json!({
        "question": question,
        "levels": levels,
        "a": group(&found.a),
        "b": group(&found.b),
        "texts_in_all": found.texts,
        "shared_texts": found.shared_texts,
        "gap": found.gap.map(figure),
        "severity": found.severity.map(figure),
        "agreement": {
            "alpha_metric": found.alpha_metric,
            "within_a": of_equal(|all| all.within_a),
            "within_b": of_equal(|all| all.within_b),
            "between": of_equal(|all| all.between),
            "equal_beyond": found.equal_beyond.map(figure),
        },
        "differing": {"a_higher": found.differing.0, "b_higher": found.differing.1},
        "a_higher": found.a_higher.iter().map(text).collect::<Vec<_>>(),
        "b_higher": found.b_higher.iter().map(text).collect::<Vec<_>>(),
        "overall_words": found.overall_words,
        "agreement_words": found.agreement_words,
        "texts_words": found.texts_words,
        "correction": found.correction,
        "needs": found.needs,
        "notice": notice,
    })
}

fn group(group: &ComparedGroup) -> Value {
    json!({
        "who": group.words,
        "annotators": group.people,
        "annotators_with_labels": group.with_labels,
        "labels": group.labels,
    })
}

fn figure(figure: Figure) -> Value {
    let mut found = json!({
        "value": figure.value,
        "low": figure.interval.map(|(low, _)| low),
        "high": figure.interval.map(|(_, high)| high),
    });
    if let Some(p) = figure.p {
        found["p"] = json!(p);
    }
    found
}

fn text(row: &GroupTextGap) -> Value {
    json!({
        "text_id": row.external_id,
        "text": row.snippet,
        "gap": row.gap,
        "low": row.interval.map(|(low, _)| low),
        "high": row.interval.map(|(_, high)| high),
        "labels_a": row.labels.0,
        "labels_b": row.labels.1,
        "p": row.p,
        "stands": row.stands,
    })
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
            output::line(&format!("\nTexts on which {who} answers higher"))?;
            let header = ["beyond severity", "text id", "gap", "90 %", "labels", "p", "text"];
            output::line(&output::table(&header, rows.iter().map(line).collect(), &[2, 5]))?;
        }
    }
    Ok(())
}

/// All texts together.
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
        Some(vec![name, three(Some(figure.value)), interval])
    };
    output::table(&["over all texts", "", "90 %"], rows.into_iter().filter_map(row).collect(), &[1])
}

fn line(row: &GroupTextGap) -> Vec<String> {
    vec![
        if row.stands { "yes" } else { "not shown" }.to_owned(),
        row.external_id.clone(),
        format!("{:+.2}", row.gap),
        row.interval.map_or_else(|| "–".to_owned(), |(low, high)| format!("{low:+.2} to {high:+.2}")),
        format!("{} and {}", row.labels.0, row.labels.1),
        row.p.map_or_else(|| "–".to_owned(), |p| format!("{p:.4}")),
        output::cut(&row.snippet, TEXT_WIDTH),
    ]
}
