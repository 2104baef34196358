//! The model card of a bundle: `README.md`, with the front matter that model hubs read.

use super::manifest::{BundledQuestion, BundledSets, BundledWords, HeldOutFigures, Manifest};
use dissensus_project::words::counted;

/// The card of a bundle.
pub(super) fn card(of: &Manifest) -> String {
    let whole = of.words.iter().map(|w| &w.name).chain(of.sets.iter().map(|s| &s.name));
    let names = whole.chain(of.questions.iter().map(|q| &q.name));
    let names: Vec<String> = names.map(|name| cell(name)).collect();
    let mut card = format!(
        "---\nlibrary_name: dissensus\ntags:\n- text-classification\n- annotator-modelling\n- perspectivism\n---\n\
         # {}\n\n\
         Predicts how each of the annotators in `bundle.json` would answer, text by text, and how much they would disagree. Made by {} on {}.\n",
        names.join(", "),
        of.program,
        of.made_at
    );
    if let Some(notice) = &of.notice {
        card.push_str(&format!("\n**{}**\n", cell(notice)));
    }
    card.push_str(&use_it(of));
    for words in &of.words {
        card.push_str(&words_section(of, words));
    }
    for sets in &of.sets {
        card.push_str(&sets_section(sets));
    }
    for question in &of.questions {
        card.push_str(&section(of, question));
    }
    card.push_str(&holds(of));
    card
}

fn use_it(of: &Manifest) -> String {
    let mut words = String::from(
        "\n## Use\n```\ndissensus models predict --bundle DIR --texts new.csv --out predicted.csv",
    );
    if of.questions.len() + of.words.len() > 1 {
        words.push_str(" --question NAME");
    }
    words.push_str("\n```\n");
    for encoder in &of.encoders {
        words.push_str(&format!(
            "The encoder ({}, {} components) alone: `SentenceTransformer(\"DIR/{}\")`.\n",
            cell(&encoder.version),
            encoder.dim,
            encoder.folder
        ));
    }
    words.push_str(
        "Other tools pass over a soft prompt (`soft_prompt.safetensors`), where an encoder has one.\n",
    );
    words
}

fn section(of: &Manifest, question: &BundledQuestion) -> String {
    let levels: Vec<String> = question.levels.iter().map(|level| cell(level)).collect();
    let with = question.annotators.iter().filter(|annotator| annotator.has_labels).count();
    let by = question.run.map_or_else(|| "live model".to_owned(), |run| format!("run {run}"));
    let mut words = format!(
        "\n## {}\n- Scale: {} ({})\n- Model: {} ({by}), crossed random effects on the embedding{}\n- Learned from: {} of {}\n",
        cell(&question.name),
        question.scale.name(),
        levels.join(", "),
        question.model,
        if question.reads_ngrams { " and on character n-grams" } else { "" },
        counted(question.labels as u64, "label"),
        counted(with as u64, "annotator")
    );
    words.push_str(&asked(question));
    let without = question.annotators.len() - with;
    if without > 0 {
        words.push_str(&format!("- Predicted as the average person, for want of labels: {without}\n"));
    }
    if of.encoders.len() > 1 {
        words.push_str(&format!("- Encoder: {}\n", of.encoders[question.encoder].folder));
    }
    words.push_str(&held_out(&question.held_out, "label"));
    words
}

/// The prompt that annotators read, with its help and definitions.
fn asked(question: &BundledQuestion) -> String {
    let mut words = String::new();
    if !question.prompt.is_empty() {
        words.push_str(&format!("- Asked: {}\n", cell(&question.prompt)));
    }
    if !question.help.text.is_empty() {
        words.push_str(&format!("- Help: {}\n", cell(&question.help.text)));
    }
    if !question.help.low.is_empty() || !question.help.high.is_empty() {
        let (low, high) = (cell(&question.help.low), cell(&question.help.high));
        words.push_str(&format!("- Ends of the scale: \"{low}\" to \"{high}\"\n"));
    }
    for (level, what) in
        question.levels.iter().zip(&question.definitions).filter(|(_, what)| !what.is_empty())
    {
        words.push_str(&format!("- {}: {}\n", cell(level), cell(what)));
    }
    words
}

fn words_section(of: &Manifest, words: &BundledWords) -> String {
    let types: Vec<String> = words.types.iter().map(|name| cell(name)).collect();
    let with = words.annotators.iter().filter(|annotator| annotator.has_labels).count();
    let by = words.run.map_or_else(
        || "fitted on the project's answers".to_owned(),
        |run| format!("learned by run {run} together with its encoder"),
    );
    let mut card = format!(
        "\n## {}: which words are marked\n- Types: {}\n- Model: {} ({by}), a head on the hidden states of words for each type, and each annotator's own effects (readiness to mark, how far marks follow a word's score and reach to its neighbours; of a head that was learned with its encoder readiness alone)\n\
         - Learned from: {}; own effects of {}\n",
        cell(&words.name),
        types.join(", "),
        words.model,
        counted(words.answers.into(), "answer"),
        counted(with as u64, "annotator")
    );
    if of.encoders.len() > 1 {
        card.push_str(&format!("- Encoder: {}\n", of.encoders[words.encoder].folder));
    }
    match words.held_out.figures.is_empty() {
        true => card.push_str(&format!("\n### Held out\n{}\n", cell(&words.held_out.of))),
        false => card.push_str(&held_out(&words.held_out, "answer")),
    }
    card
}

fn sets_section(sets: &BundledSets) -> String {
    let options: Vec<String> = sets.options.iter().map(|name| cell(name)).collect();
    format!(
        "\n## {}: whole answers\n- Options, each with a section of its own: {}\n- {}\n",
        cell(&sets.name),
        options.join(", "),
        cell(&sets.together)
    )
}

/// What was held out, and the figures on it.
fn held_out(of: &HeldOutFigures, what: &str) -> String {
    let mut words = format!("\n### Held out\n{}\n", cell(&of.of));
    if of.figures.is_empty() {
        words.push_str("\nThere were too few labels to hold some out.\n");
    } else {
        words.push_str(&format!("\n| {} | |\n| --- | --- |\n", counted(of.labels as u64, what)));
        for figure in &of.figures {
            words.push_str(&format!("| {} | {:.3} |\n", cell(&figure.name), figure.value));
        }
    }
    words
}

fn holds(of: &Manifest) -> String {
    // A text of several questions counts for each, so that the stated number is an upper bound.
    let held: usize = of.questions.iter().map(|q| q.embeddings_held).sum();
    let people = match of.anonymous {
        true => "Annotators have pseudonyms, the same as in other bundles, reports and exports of this file.",
        false => {
            "Annotators have the ids that they have in the project: without `--ids` a bundle has pseudonyms in their place."
        }
    };
    let holds_words = of.words.iter().any(|words| words.forms > 0);
    let but = if holds_words { " (but for what the weights of words tell, see below)" } else { "" };
    let mut words = format!(
        "\n## What it holds\nEncoder and tokenizer, heads, each annotator's effects, and the names of questions and levels; no text, no label{but} and no attribute \
         of an annotator. {people} Effects say how severe somebody is found to be: they are about people all the same. Where groups of annotators were found to differ in kind, \
         it is in the effects who shares a group, without its name.\n"
    );
    if of.questions.iter().any(|q| q.reads_ngrams) {
        words.push_str(
            "Of words it holds a weight for each of 65,536 columns that character n-grams are hashed into.\n",
        );
    }
    for of in of.words.iter().filter(|of| of.forms > 0) {
        words.push_str(&format!(
            "**Of the words of \"{}\" it holds a weight and a hash of {}.** Anyone who tries a word, a name or a number against the hashes learns whether it is in a labelled text; \
             the weight of one that is in a single text shows whether it was marked there.\n",
            cell(&of.name),
            counted(of.forms as u64, "word")
        ));
    }
    if held > 0 {
        words.push_str(&format!(
            "**It holds {} of labelled texts**, one of a text for each question or option that is compared with it, with a weight each that follows from labels, because scores of new texts come from similar texts too. From an embedding some of what a text says can be guessed.\n",
            counted(held as u64, "embedding")
        ));
    }
    words.push_str(
        "\n## What to know\n- It does not know which texts it has learned from: figures on texts of the project say nothing, and `observed` is unknown in its tables.\n\
         - It predicts these annotators, not people in general, and texts like those that they labelled.\n\
         - `SHA256SUMS` has the sum of every file (`sha256sum -c SHA256SUMS`); a bundle with a file missing, altered or more is refused. This guards against accident only: anyone who alters a bundle can write new sums, so take one from people you trust.\n",
    );
    words
}

/// Text by people in Markdown, escaped so that nothing in it is markup.
fn cell(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for character in words.chars() {
        match character {
            '\n' | '\r' | '\t' => out.push(' '),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '~' => {
                out.push('\\');
                out.push(character);
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn names_are_escaped_in_the_card() {
        assert_eq!(cell("a|b\n<img src=x> *c*"), "a\\|b \\<img src=x\\> \\*c\\*");
    }
}
