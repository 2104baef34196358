//! Information and consent for annotators: the text of the study, or a draft where it has none.

use super::ethics::{attributes, care, guideline};
use super::{Sheet, section, table, text, to_fill_in};
use crate::document::{Block, Document, Section};
use crate::facts::Facts;
use dissensus_api::ConsentText;
use dissensus_project::clock::local_time;

pub(super) fn sheet(facts: &Facts<'_>) -> Sheet {
    let sections = match facts.consent.versions.is_empty() {
        true => draft(facts),
        false => written(facts),
    };
    Sheet { file: "consent", document: Document { title: "Information and consent".to_owned(), sections } }
}

/// The version that is asked for, and a list of all.
fn written(facts: &Facts<'_>) -> Vec<Section> {
    let versions = &facts.consent.versions;
    let asked = versions.iter().find(|one| Some(one.number) == facts.consent.in_effect);
    let now = match asked {
        None => vec![text("People are asked to agree to nothing at present.")],
        Some(asked) => asked.body.split("\n\n").map(|part| Block::Text(part.trim().to_owned())).collect(),
    };
    let title = asked.map_or_else(|| "Text".to_owned(), |asked| format!("Text: version {}", asked.number));
    let row = |one: &ConsentText| {
        let (number, people) = (one.number.to_string(), one.people.len().to_string());
        [number, local_time(one.at), people, one.version.clone()]
    };
    vec![
        section(&title, now),
        section(
            "Versions and agreements",
            vec![
                table(
                    ["Version", "Since", "People who agreed to it last", "SHA-256 of the text"],
                    versions.iter().map(row),
                ),
                text(
                    "Each person agrees before the first answer, and again after a new version, in the window, in packets and on pages. The version and the time are stored, and exports name the version of each answer in the column consent_version. A person who withdraws is erased with their agreements.",
                ),
                text(
                    "An agreement on the screen is no signature: where your institution wants one, have it signed apart.",
                ),
                to_fill_in("Where signed forms are, if there are any."),
            ],
        ),
    ]
}

fn draft(facts: &Facts<'_>) -> Vec<Section> {
    let names: Vec<&str> = facts.form.attributes.iter().map(|one| one.name.as_str()).collect();
    let asked = match names.is_empty() {
        true => "You are asked nothing about yourself.".to_owned(),
        false => format!(
            "You are asked about yourself: {}. You can always answer “prefer not to say”.",
            names.join(", ")
        ),
    };
    let mut data = vec![Block::Text(format!("{asked} Your answers are stored with their times."))];
    if names.is_empty() && !facts.attributes.is_empty() {
        data.extend(attributes(facts));
    }
    data.extend([
        text("Everything is stored on the computers of the study, and nothing is sent to makers of the program. Results that others receive name nobody."),
        to_fill_in("How long data are kept, and what is published."),
    ]);
    vec![
        section(
            "How to use this draft",
            vec![
                text(
                    "Edit it, have it approved, and set it as the consent text of the study (in the window under “What annotators see”, or “dissensus people consent”). Annotators agree to it before they answer, in the window, in packets and on pages. The version is a column of exports, so that it can be shown which text each person had agreed to. A changed text is a new version; earlier answers stay with theirs.",
                ),
                Block::Text(guideline(facts)),
                text(
                    "An agreement on the screen is no signature: where your institution wants one, have it signed apart, and write here where these forms are.",
                ),
                to_fill_in("Where signed forms are, if there are any."),
            ],
        ),
        section(
            "What this study is about",
            vec![
                to_fill_in("The study in three sentences, who runs it, and whom to ask."),
                Block::Text(format!(
                    "You read texts and answer {} about each. There are no wrong answers: we want to know what you think, also where others think otherwise.",
                    match facts.asked.len() {
                        0 | 1 => "a question".to_owned(),
                        n => format!("{n} questions"),
                    }
                )),
                to_fill_in("How long it takes, and what you get for it."),
            ],
        ),
        section(
            "Texts that may distress you",
            vec![
                to_fill_in("What kinds of texts there are, with a warning."),
                Block::Text(care(facts)),
                text(
                    "You can take a break, skip texts, leave out topics and words, and stop at any time, without giving reasons and without disadvantage.",
                ),
            ],
        ),
        section("Your data", data),
        section(
            "Your rights",
            vec![
                text(
                    "You can ask what is stored about you, have it corrected, and withdraw. If you withdraw, everything of yours is erased, and models that learned from your answers are removed. What was published before cannot be called back.",
                ),
                to_fill_in(
                    "Whom to write to, until when, the data protection officer, and the supervisory authority.",
                ),
            ],
        ),
        section(
            "Consent",
            vec![text(
                "By answering I declare that I have read this, that my questions were answered, that I am of age, and that I take part voluntarily.",
            )],
        ),
    ]
}
