//! A draft of information and consent for annotators.

use super::ethics::{attributes, care, guideline};
use super::{Sheet, section, text, to_fill_in};
use crate::document::{Block, Document};
use crate::facts::Facts;

pub(super) fn sheet(facts: &Facts<'_>) -> Sheet {
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
    let sections = vec![
        section(
            "How to use this draft",
            vec![
                text(
                    "Edit it, have it approved, and put it at the beginning of the guideline (in the window under “Guideline”, or “dissensus data guideline”). Annotators read the guideline before they answer, in the window, in packets and on pages. The version on the screen is stored with each answer and is a column of exports, so that it can be shown which text each person had before them. A changed text is a new version; earlier answers stay with theirs.",
                ),
                Block::Text(guideline(facts)),
                text(
                    "Reading a guideline is no signature: where your institution wants one, have it signed apart, and write here where these forms are.",
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
    ];
    Sheet { file: "consent", document: Document { title: "Information and consent".to_owned(), sections } }
}
