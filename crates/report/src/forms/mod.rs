//! Forms about a data set, filled in with everything the project knows; other questions stay open.

mod crowdworksheets;
mod data_statement;

pub(super) use crowdworksheets::crowdworksheets;
pub(super) use data_statement::data_statement;

use super::facts::Facts;
use dissensus_domain::LevelId;
use dissensus_project::words::counted;
use dissensus_render::escape::markdown;

struct Form {
    out: String,
}

impl Form {
    fn new(title: &str, source: &str) -> Self {
        let mut form = Self { out: format!("# {title}\n\n") };
        form.line(source);
        form.line("What the project knows is filled in. What it cannot know is marked **To be answered by the authors**.");
        form
    }

    fn heading(&mut self, title: &str) {
        self.out.push_str(&format!("## {title}\n\n"));
    }

    /// Adds a question of the form, with its number.
    fn question(&mut self, number: &str, words: &str) {
        self.out.push_str(&format!("**{number}** {words}\n\n"));
    }

    /// A paragraph of our own; names in it are escaped by the caller.
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push_str("\n\n");
    }

    /// Adds facts from the project, one per line.
    fn facts(&mut self, facts: &[String]) {
        for fact in facts {
            self.out.push_str(&format!("- {fact}\n"));
        }
        self.out.push('\n');
    }

    /// Adds a placeholder for the authors.
    fn open(&mut self, hint: &str) {
        self.out.push_str(&format!("> **To be answered by the authors:** {hint}\n\n"));
    }

    /// Adds text written by people verbatim, without interpreting its markup.
    fn quoted(&mut self, text: &str) {
        for line in text.lines() {
            self.out.push_str(&format!("    {}\n", dissensus_render::escape::plain(line)));
        }
        self.out.push('\n');
    }

    fn end(self) -> String {
        format!("{}\n", self.out.trim_end())
    }
}

/// Describes each question and its answers.
fn questions(facts: &Facts<'_>) -> Vec<String> {
    let one = |asked: &super::work::ReportQuestion| {
        let question = &asked.question;
        let kind = question.scale.kind().rules().title();
        let level = |(id, name): (&LevelId, &String)| match question.definition(*id) {
            "" => markdown(name),
            meaning => format!("{} ({})", markdown(name), markdown(meaning)),
        };
        let levels: Vec<String> =
            question.scale.ids().iter().zip(question.scale.levels()).map(level).collect();
        let help = match question.help.text.as_str() {
            "" => String::new(),
            help => format!(" Explained as: {}.", markdown(help)),
        };
        let cannot_say = if question.cannot_say { " People could say that they cannot say." } else { "" };
        format!(
            "**{}**: “{}” ({kind}: {}).{help}{cannot_say} {} labels by {} people on {} texts.",
            markdown(&question.name),
            markdown(&question.prompt),
            levels.join(", "),
            asked.labels.len(),
            asked.labelled_people().len(),
            asked.per_text().len()
        )
    };
    facts.asked.iter().map(one).collect()
}

/// Describes what people did before and while they labelled.
fn process(facts: &Facts<'_>) -> Vec<String> {
    let mut found = Vec::new();
    found.push(match facts.guidelines.as_slice() {
        [] => "No written guideline is in the project.".to_owned(),
        versions => format!(
            "The guideline has {} version(s): {}. The newest one is quoted in crowdworksheets.md.",
            versions.len(),
            versions
                .iter()
                .map(|one| format!(
                    "{} of {}",
                    one.number,
                    dissensus_project::clock::local_time(one.at).chars().take(10).collect::<String>()
                ))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    });
    let [begun, passed, missed] = facts.practised();
    found.push(match facts.practice.texts.len() {
        0 => "Nobody had to practise on texts of known answer.".to_owned(),
        texts => format!(
            "Practice: {texts} texts of known answer, passed with {:.0} % right; below it {}. {begun} people began, {} passed and {} fell short in their last round.",
            100.0 * facts.practice.rule.pass,
            super::facts::after(facts.practice.rule.then),
            facts.count(passed, begun),
            facts.count(missed, begun)
        ),
    });
    let [judged, kept, failed] = facts.attended();
    found.push(match (facts.study.checks, &facts.check_rule) {
        (0, _) => "There were no attention checks.".to_owned(),
        (checks, None) => format!("{checks} attention checks (questions about texts whose right answer is known) were hidden among the texts; there was no pass mark."),
        (checks, Some(rule)) => format!(
            "{checks} attention checks were hidden among the texts, passed with {:.0} % right{}; below it {}. Of {judged} people {} passed and {} fell short.",
            100.0 * rule.pass,
            match rule.within {
                0 => String::new(),
                levels => format!(" (on ordered levels within {})", counted(levels.into(), "level")),
            },
            super::facts::after(rule.then),
            facts.count(kept, judged),
            facts.count(failed, judged)
        ),
    });
    let study = &facts.study;
    found.push(match study.people.len() {
        0 => "Nothing was handed out in packets: people labelled in the project itself, or their labels came from files.".to_owned(),
        people => format!(
            "Packets were handed out to {people} people: {} texts, {} of them to everybody; of {} answers asked for, repeats included, {} were given, and {} submissions were merged.",
            study.texts, study.anchors, study.wanted, study.given, facts.submissions
        ),
    });
    found.push(format!(
        "{} answers were given a second time or later, to measure agreement with oneself.",
        facts.repeats
    ));
    found.push(match facts.timed {
        0 => "How long labels took is not known.".to_owned(),
        timed => format!(
            "Time of a label: {}, over the {timed} labels whose time is known.",
            Facts::middle(&facts.seconds, "s", 1)
        ),
    });
    found.push(facts.days());
    found.push(format!(
        "{}; {} current labels are of people to whom something of others' answers had been shown about the text before.",
        if facts.reveals { "People were shown how others see a text once they had answered it" } else { "People were not shown how others see a text" },
        study.labels_after_shown
    ));
    found
}

/// Describes what the figures exclude and include.
fn excluded(facts: &Facts<'_>) -> Vec<String> {
    let edited: Vec<String> = facts.asked.iter().map(|asked| markdown(&asked.question.name)).collect();
    vec![
        format!(
            "Nothing of what is in the project was left out: labels of people who missed a pass mark and labels that were decided to be slips are among those of {}.",
            edited.join(", ")
        ),
        format!("{} people withdrew; everything of theirs was erased.", facts.withdrawn),
        format!(
            "{} texts have decisions; decisions are stored next to the labels and change none of them.",
            facts.decisions
        ),
    ]
}
