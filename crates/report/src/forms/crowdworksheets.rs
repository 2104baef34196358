//! CrowdWorkSheets (Diaz et al. 2022): its questions in our own words, in their order.

use super::{Form, excluded, process, questions};
use crate::facts::Facts;
use dissensus_render::escape::markdown;

/// Writes the form, filled in with everything the project knows.
pub(crate) fn crowdworksheets(facts: &Facts<'_>) -> String {
    let mut form = Form::new(
        &format!("CrowdWorkSheets for {}", markdown(&facts.name)),
        "After Diaz, Kivlichan, Rosen, Baker, Amironesei, Prabhakaran and Denton (2022). The questions are paraphrased; their sections and order are those of the paper.",
    );
    task(&mut form, facts);
    annotators(&mut form, facts);
    platform(&mut form, facts);
    analysis(&mut form, facts);
    release(&mut form, facts);
    form.end()
}

fn task(form: &mut Form, facts: &Facts<'_>) {
    form.heading("1. Task formulation");
    form.question("1.1", "What about the task is a matter of judgement?");
    form.facts(&questions(facts));
    form.open("which differences between people are expected, and which would be errors.");
    form.question("1.2", "What is assumed about the people who label?");
    form.open("knowledge, experience, language and attitudes that the task takes for granted.");
    form.question("1.3", "How was the wording chosen, and was it checked that people understand it?");
    let mut tested = vec![format!("{} version(s) of a guideline were written.", facts.guidelines.len())];
    tested.extend(process(facts).into_iter().filter(|fact| fact.starts_with("Practice")));
    form.facts(&tested);
    form.open("pilots, and what was changed after them.");
    form.question("1.4", "What risks did the task have for people, and were they informed beforehand?");
    form.facts(&[match facts.care.limit {
        None => "The project sets no daily limit of harmful texts.".to_owned(),
        Some(limit) => format!(
            "A daily limit of {limit} harmful texts was set{}.",
            if facts.care.strict { ", beyond which nobody could go on" } else { "" }
        ),
    }]);
    form.open("risks, warnings, and help that was offered.");
    form.question("1.5", "What exactly were people instructed to do?");
    form.facts(&questions(facts));
    match facts.guidelines.last() {
        Some(newest) => {
            form.line(&format!("Version {} of the guideline:", newest.number));
            form.quoted(&newest.body);
        }
        None => form.open("instructions that were given outside the project."),
    }
}

fn annotators(form: &mut Form, facts: &Facts<'_>) {
    form.heading("2. Selecting annotators");
    form.question("2.1", "Whose views should count most for this task, and how were they sought out?");
    form.open("the communities concerned, and how people from them were found.");
    form.question("2.2", "Whose views would do harm here, and how were they kept out?");
    form.open("criteria, and who decided.");
    form.question("2.3", "Were people chosen by social or demographic traits, and how?");
    form.open("quotas, screening questions, and their sources.");
    form.question("2.4", "Who are the people taken together, and may who they are have shaped their labels?");
    form.line(&facts.groups_table());
    form.facts(&[
        "report.html compares groups of five people or more, corrected for the number of comparisons."
            .to_owned(),
    ]);
    form.open("what is believed about the causes, and why.");
    form.question("2.5", "Are the people whom a model of these data would affect among those who labelled?");
    form.open("intended uses, the communities affected, and who of them is missing.");
}

fn platform(form: &mut Form, facts: &Facts<'_>) {
    form.heading("3. Platform and infrastructure");
    form.question("3.1", "Which platform was used, why, and what did it lack?");
    form.facts(&[format!(
        "Dissensus {}; of {} people with labels {} have theirs from imported files alone, and so from another tool.",
        env!("CARGO_PKG_VERSION"),
        facts.who.len(),
        facts.count(facts.imported, facts.who.len())
    )]);
    form.open("other tools, and the reasons for the choice.");
    form.question("3.2", "How could people and researchers talk to each other, and what did that change?");
    form.facts(&["People could leave notes and flags on texts, which are not in this report.".to_owned()]);
    form.open("other channels, and how they shaped the labels.");
    form.question("3.3", "How were people paid, and by which standard?");
    form.facts(&[match facts.timed {
        0 => "How long labels took is not known, so that no hourly wage can be computed.".to_owned(),
        timed => format!(
            "Time of a label: {}, over the {timed} labels whose time is known.",
            Facts::middle(&facts.seconds, "s", 1)
        ),
    }]);
    form.open("pay for a label or an hour, and the standard that it follows.");
}

fn analysis(form: &mut Form, facts: &Facts<'_>) {
    form.heading("4. Analysis and evaluation");
    form.question("4.1", "What is good labelling here, and how was it judged?");
    form.facts(&process(facts));
    form.open("what counts as quality where people may rightly differ.");
    form.question("4.2", "Was disagreement looked into, how, and what came of it?");
    form.facts(&["report.html has agreement with intervals, agreement with oneself, shares of variance, severity of people, the most contested texts and comparisons of groups.".to_owned()]);
    form.open("the main findings in words, and what is believed about their causes.");
    form.question("4.3", "How do single answers relate to the labels that are released?");
    form.facts(&excluded(facts));
    form.facts(&["labels.csv has every person's own labels, soft-labels files their distribution for each text; nothing is aggregated to one answer.".to_owned()]);
}

fn release(form: &mut Form, facts: &Facts<'_>) {
    form.heading("5. Release and maintenance");
    form.question("5.1", "May these labels change with time, and will the data be updated?");
    form.facts(&[facts.days()]);
    form.open("plans, and signs by which labels would be out of date.");
    form.question("5.2", "Which conditions or definitions would make the data less useful if they changed?");
    form.open("laws, platforms, words and norms that the labels depend on.");
    form.question("5.3", "Will use be tracked, limited or steered, and how?");
    form.open("licence, terms and access.");
    form.question(
        "5.4",
        "Were people informed how their labels leave the project, and will they hear of changes?",
    );
    form.facts(&[match facts.people.with_ids {
        true => "This report names people by their ids.".to_owned(),
        false => "In this report people have pseudonyms, and values of attributes that fewer than five people share are left out, and the next rarest where fewer than five would then be without one.".to_owned(),
    }]);
    form.open("what people agreed to, and how they are kept informed.");
    form.question("5.5", "Can people withdraw their labels later, and how?");
    form.facts(&[format!(
        "The program erases everything of a person who withdraws, in the project and in every copy that is merged; {} did so far. Files that were given to others before are not reached.",
        facts.withdrawn
    )]);
    form.open("whom to ask, until when, and what happens to published copies.");
}
