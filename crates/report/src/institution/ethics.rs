//! A sheet for a review board (IRB, ethics committee).

use super::special::category;
use super::{Sheet, section, table, text, to_fill_in};
use crate::document::{Block, Document};
use crate::facts::Facts;
use dissensus_project::words::counted;

pub(super) fn sheet(facts: &Facts<'_>) -> Sheet {
    let mut tasks = labelling(facts);
    tasks.push(Block::Text(match facts.seconds.is_empty() {
        true => "How long an answer takes is not known yet.".to_owned(),
        false => format!("Time of an answer: {}.", Facts::middle(&facts.seconds, "s", 1)),
    }));
    tasks.push(Block::Text(facts.days()));
    tasks.extend(facts.simulated_notice.clone().map(Block::Text));
    let mut people = vec![
        Block::Text(format!(
            "{} people are in the project, {} of them with labels; packets were handed out to {}.",
            facts.people.everyone().len(),
            facts.who.len(),
            facts.study.people.len()
        )),
        to_fill_in("How people are recruited, who is included or excluded, and how they are paid."),
        to_fill_in(
            "Whether people depend on those who run the study (students, employees), and how it is ensured that taking part is voluntary.",
        ),
    ];
    people.extend(attributes(facts));
    let [begun, passed, missed] = facts.practised();
    people.push(Block::Text(format!(
        "Practice before the first answer: {} of known answer; {begun} people began, {} passed, {} fell short. Attention checks: {}.",
        counted(facts.practice.texts.len() as u64, "text"),
        facts.count(passed, begun),
        facts.count(missed, begun),
        facts.study.checks
    )));
    let sections = vec![
        section(
            "1. Study",
            vec![
                to_fill_in("Title, persons responsible, institution, funding, conflicts of interest."),
                to_fill_in("Research question, and what is expected."),
            ],
        ),
        section("2. What people do", tasks),
        section("3. People", people),
        section(
            "4. Risks and protection",
            vec![
                to_fill_in(
                    "Which texts could distress, offend or endanger people who read them, and how people are warned.",
                ),
                Block::Text(care(facts)),
                text(
                    "A person can at any time take a break, skip a text, say “cannot say” where a question offers it, leave out words and topics, set a lower limit of their own, and stop. What one person leaves out is shown to nobody else.",
                ),
                Block::Text(reveals(facts)),
                to_fill_in("Whom people can turn to during and after the study, and offers of help."),
            ],
        ),
        section(
            "5. Information and consent",
            vec![
                Block::Text(guideline(facts)),
                text("The text that people agree to, or a draft of it, is in consent.md."),
                to_fill_in(
                    "How and when people are informed, how consent is documented, and until when they can withdraw it without giving reasons.",
                ),
            ],
        ),
        section(
            "6. Data",
            vec![
                text(
                    "Labels are stored by person. Results for others have pseudonyms, and leave out values of attributes that fewer than five people share. No data leave the computers of the study through the program: see data-flow.md. Withdrawal erases everything of a person in every copy that is merged: see storage.md.",
                ),
                Block::Text(format!(
                    "{} withdrew so far.",
                    counted(facts.withdrawn.into(), "person").replace("persons", "people")
                )),
                to_fill_in(
                    "What is published, where, under which licence, and when data about people are deleted.",
                ),
            ],
        ),
    ];
    Sheet { file: "ethics", document: Document { title: "Sheet for an ethics review".to_owned(), sections } }
}

/// The task: texts and questions.
pub(super) fn labelling(facts: &Facts<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::Text(format!(
        "People read texts and answer questions about them: {}, {}, {} so far.",
        counted(facts.texts as u64, "text"),
        counted(facts.asked.len() as u64, "question"),
        counted(facts.labels() as u64, "label")
    ))];
    let row = |one: &crate::work::ReportQuestion| {
        let question = &one.question;
        [
            question.name.clone(),
            question.prompt.clone(),
            question.scale.kind().rules().title().to_owned(),
            question.scale.levels().join(", "),
        ]
    };
    match facts.asked.is_empty() {
        true => blocks.push(to_fill_in("The questions: the project has none yet.")),
        false => blocks.push(table(["question", "wording", "kind", "answers"], facts.asked.iter().map(row))),
    }
    blocks
}

/// What is collected about people, and which of it may be a special category.
pub(super) fn attributes(facts: &Facts<'_>) -> Vec<Block> {
    let form = facts.form.attributes.iter().map(|one| &one.name);
    let mut names: Vec<&String> = facts.attributes.iter().chain(form).collect();
    names.sort();
    names.dedup();
    if names.is_empty() {
        return vec![text("No attributes of people are collected.")];
    }
    let row = |name: &&String| {
        let asked = facts.form.attributes.iter().any(|one| one.name == **name);
        let from = if asked {
            "asked in the form; “prefer not to say” is always an answer"
        } else {
            "imported or entered"
        };
        let category = match category(name) {
            Some(category) => format!("to check: may be {category} (GDPR, Article 9)"),
            None => "no special category by its name".to_owned(),
        };
        [(*name).clone(), from.to_owned(), category]
    };
    vec![
        table(["attribute", "source", "special category"], names.iter().map(row)),
        text("Special categories are recognised by English names alone: check each attribute yourself."),
    ]
}

/// The study's settings for the care of its people.
pub(super) fn care(facts: &Facts<'_>) -> String {
    let greyscale = if facts.care.greyscale { " Texts are shown in greyscale." } else { "" };
    match (facts.care.limit, facts.care.strict) {
        (None, _) => format!("The project sets no daily limit of harmful texts.{greyscale}"),
        (Some(limit), true) => {
            format!("After {limit} harmful texts a day a person is asked no more on that day.{greyscale}")
        }
        (Some(limit), false) => {
            format!(
                "After {limit} harmful texts a day a person has finished, and can choose to go on.{greyscale}"
            )
        }
    }
}

fn reveals(facts: &Facts<'_>) -> String {
    let shown = match facts.reveals {
        true => "After an answer, people are shown how others see the text.",
        false => "People are not shown how others see a text.",
    };
    format!("{shown} No prediction is shown before a person's own answer.")
}

/// The guideline, whose version is stored with each answer.
pub(super) fn guideline(facts: &Facts<'_>) -> String {
    match facts.guidelines.last() {
        None => "The project has no guideline yet.".to_owned(),
        Some(newest) => format!(
            "The guideline has {}; version {} is the newest. With each answer the version is stored that was on the screen.",
            counted(facts.guidelines.len() as u64, "version"),
            newest.number
        ),
    }
}
