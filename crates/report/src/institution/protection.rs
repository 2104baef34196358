//! A sheet for a data protection impact assessment (GDPR, Article 35(7)).

use super::ethics::{attributes, care, labelling};
use super::{Sheet, section, table, text, to_fill_in};
use crate::document::{Block, Document};
use crate::facts::Facts;

pub(super) fn sheet(facts: &Facts<'_>) -> Sheet {
    let mut about_people = vec![Block::Text(format!(
        "{} people are in the project, {} of them with labels; {} withdrew.",
        facts.people.everyone().len(),
        facts.who.len(),
        facts.withdrawn
    ))];
    about_people.extend(attributes(facts));
    about_people.push(text("For each answer: who gave it, when, how long it took, and which version of the guideline was on the screen. Labels can reveal opinions or beliefs of the person who gave them, which may be special categories as well."));
    about_people.push(to_fill_in("Whether the ids of people in the project are names, addresses or numbers, and where the key to them is."));
    about_people.push(to_fill_in("Whether the texts contain data about the people who wrote them or are named in them, and on which basis they are used."));
    let sections = vec![
        section("1. Description of the processing", {
            let mut blocks = vec![to_fill_in("Controller, persons responsible, data protection officer.")];
            blocks.extend(labelling(facts));
            blocks.push(text("Processing takes place on the computers of those who hold the project or a packet of it. No processor receives data through the program: see data-flow.md."));
            blocks
        }),
        section("2. Personal data", about_people),
        section(
            "3. Purpose, necessity and proportionality",
            vec![
                to_fill_in(
                    "Purpose of the study, and the legal basis (Article 6; for special categories Article 9(2)).",
                ),
                text(
                    "Every person's own labels are kept because the study is about differences between people; a majority answer would not show them. Attributes are needed only where groups are compared: do not collect the others.",
                ),
                to_fill_in("Why each attribute is needed."),
                to_fill_in("How long the data are kept: see storage.md."),
            ],
        ),
        section(
            "4. Risks for people, and measures",
            vec![
                table(
                    ["risk", "measures of the program", "remaining"],
                    [
                        [
                            "Somebody unauthorised reads the project",
                            "Files are readable by their owner only; packets hold one person's tasks, and no answers of others",
                            "Loss of an unencrypted disk; whole copies that are passed on",
                        ],
                        [
                            "People are identified in published data",
                            "Pseudonyms; no times; values of attributes that fewer than five people share are left out; counted warnings of combinations",
                            "Combinations of attributes; free text",
                        ],
                        [
                            "Views of people become known",
                            "Labels are shown with ids only in the project itself; models can be published without texts and labels",
                            "A model learns from labels, and may reveal something of them",
                        ],
                        [
                            "Harm by the content of the texts",
                            "Daily limit of harmful texts, breaks, words and topics that a person leaves out, greyscale, a way to stop",
                            "Distress in spite of these",
                        ],
                        [
                            "Data are false or lost",
                            "Each answer is on the disk before it is shown as saved; history of changes; checks of the file; backups before merges",
                            "Failure of a disk without a backup",
                        ],
                        [
                            "Rights are not honoured",
                            "Show, correct, export and erase one person's data; withdrawals spread to copies by merging",
                            "Files outside of the project: see storage.md",
                        ],
                    ],
                ),
                Block::Text(care(facts)),
                to_fill_in(
                    "Likelihood and severity of each risk for this study, further measures, and who answers for them.",
                ),
            ],
        ),
        section(
            "5. Consultation and decision",
            vec![
                to_fill_in(
                    "Views of the people concerned or of their representatives, where they were asked.",
                ),
                to_fill_in("Advice of the data protection officer, decision, date, next review."),
            ],
        ),
    ];
    Sheet {
        file: "data-protection",
        document: Document { title: "Data protection impact assessment".to_owned(), sections },
    }
}
