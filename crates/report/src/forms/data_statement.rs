//! A data statement (Bender and Friedman 2018; sections of the schema of 2021 by Bender, Friedman and
//! McMillan-Major). The wording is our own.

use super::{Form, excluded, process, questions};
use crate::facts::Facts;
use dissensus_render::escape::markdown;

/// Writes the form, filled in with everything the project knows.
pub(crate) fn data_statement(facts: &Facts<'_>) -> String {
    let mut form = Form::new(
        &format!("Data statement for {}", markdown(&facts.name)),
        "After Bender and Friedman (2018), with the sections of the second version of the schema (Bender, Friedman and McMillan-Major 2021); letters in brackets are the sections of 2018.",
    );
    form.heading("1. Header");
    form.facts(&[
        format!("Project: {}", markdown(&facts.name)),
        format!(
            "Written by dissensus {} on {}",
            env!("CARGO_PKG_VERSION"),
            dissensus_project::clock::today()
        ),
    ]);
    form.open(
        "title, version, authors and contact of the data set, who wrote this statement, how to cite both.",
    );
    form.heading("2. Executive summary");
    form.facts(&[format!(
        "{} texts, {} labels by {} people, {} question(s).",
        facts.texts,
        facts.labels(),
        facts.who.len(),
        facts.asked.len()
    )]);
    form.open("in a few sentences what the data are for, and what to know before using them.");
    form.heading("3. Curation rationale [A]");
    form.facts(&questions(facts));
    form.open("which texts were included and why, how they were sampled, and what these questions are meant to find out.");
    form.heading("4. Documentation for source data sets");
    form.facts(&[format!(
        "Of {} people with labels, {} have theirs from imported files alone.",
        facts.who.len(),
        facts.count(facts.imported, facts.who.len())
    )]);
    form.open("from which data sets texts or labels were taken, with their own statements and licences.");
    form.heading("5. Language varieties [B]");
    form.open("language tags (BCP 47) and a description of the varieties in words.");
    form.heading("6. Speaker demographic [C]");
    form.facts(&["The project knows nothing of the people who wrote the texts.".to_owned()]);
    form.open("who wrote or spoke the texts: age, gender, race or ethnicity, first language, socioeconomic status, and whether it is self-reported.");
    form.heading("7. Annotator demographic [D]");
    form.line(&facts.groups_table());
    if let Some(notice) = &facts.simulated_notice {
        form.facts(&[
            markdown(notice),
            format!(
                "{} of the people with labels are simulated.",
                facts.count(facts.simulated, facts.who.len())
            ),
        ]);
    }
    if !facts.form.attributes.is_empty() {
        let names: Vec<String> = facts.form.attributes.iter().map(|one| markdown(&one.name)).collect();
        form.facts(&[format!(
            "People were asked about themselves: {}. Every answer was voluntary.",
            names.join(", ")
        )]);
    }
    form.open("how people were found, their training and experience, their relation to the subject, and how they were paid.");
    form.heading("8. Speech situation and text characteristics [E, F]");
    form.facts(&[
        format!("Length of a text: {}.", Facts::middle(&facts.lengths, "characters", 0)),
        match facts.text_groups {
            0 => "Texts are not grouped.".to_owned(),
            groups => format!("Texts belong to {groups} group(s), such as documents or threads."),
        },
    ]);
    form.open("when and where the texts arose, spoken or written, edited or spontaneous, for whom, their genre and topics.");
    form.heading("9. Preprocessing and data formatting");
    form.facts(&[
        "labels.csv has a row for each label, soft-labels files one for each text with labels; texts stand there as the project has them.".to_owned(),
        "Spans are counted in Unicode characters from 0, the end not included.".to_owned(),
    ]);
    form.open("how texts were cleaned, tokenised or made anonymous before they came into the project.");
    form.heading("10. Capture quality [G]");
    form.facts(&process(facts));
    form.open("known errors in recording, transcription or collection.");
    form.heading("11. Limitations");
    form.facts(&excluded(facts));
    form.open("what the data do not cover, and for what they should not be used.");
    form.heading("12. Metadata");
    form.facts(&["reproduce.json has versions, seeds, hashes and commands.".to_owned()]);
    form.open("licence, where annotations and guidelines can be had, and how long they are stored.");
    form.heading("13. Disclosures and ethical review");
    form.facts(&[match (facts.care.limit, facts.care.strict) {
        (None, _) => "The project sets no daily limit of harmful texts.".to_owned(),
        (Some(limit), true) => format!("Nobody was asked about more than {limit} harmful texts a day."),
        (Some(limit), false) => format!("After {limit} harmful texts a day people were shown that they had finished, and could choose to go on."),
    }]);
    form.open("who paid for the work, conflicts of interest, and whether an ethics board reviewed it.");
    form.heading("14. Other [H]");
    form.open("anything else that readers should know.");
    form.heading("15. Glossary");
    form.facts(&[
        "Label: one person's answer to one question about one text.".to_owned(),
        "Soft label: the distribution of a text's labels over the levels.".to_owned(),
    ]);
    form.open("terms of the subject.");
    form.end()
}
