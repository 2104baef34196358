//! `models predict` of a whole multi-label question.

use super::given_answers::{answers, show_answers};
use super::live_model::{bar_of, embed_new_text, make_live, requested_text};
use super::prediction_tables::print_people_of_sets;
use super::{count, note};
use crate::args::Predict;
use crate::by_name::ByName;
use crate::output::{self, three};
use crate::progress::Bar;
use anyhow::Result;
use dissensus_analysis::whole_answer;
use dissensus_analysis::{ExpectedOption, GivenAnswer, WholeAnswer};
use dissensus_app::session::Session;
use dissensus_domain::{Annotator, Question};
use schemars::JsonSchema;
use serde::Serialize;

/// What `predict --json` prints for a whole multi-label question.
#[derive(Serialize, JsonSchema)]
pub(super) struct SetPrediction<'a> {
    /// Id of the annotator; null for a prediction over all annotators.
    annotator: Option<&'a str>,
    /// Number of annotators that probabilities are averaged over.
    annotators: usize,
    /// Number of these annotators that the most likely set and `masi` are computed over.
    annotators_of_sets: usize,
    /// Answers given by each annotator; null for a text that is not in the project.
    answers: Option<Vec<GivenAnswer>>,
    /// With several annotators: probability that two of them differ on each option.
    differ: Option<ByName<Option<f64>>>,
    /// Whether the most likely set is known to be exact.
    is_exact: bool,
    /// Expected distance (MASI) between the sets of two annotators.
    masi: Option<f64>,
    /// Whether options are correlated, in words.
    options_together: &'a str,
    /// The most likely set.
    prediction: &'a str,
    /// Probability of each option.
    probabilities: ByName<f64>,
    /// Probability of the most likely set.
    probability: f64,
    /// The question.
    question: &'a str,
    /// The text, if it was given on the command line.
    text: Option<&'a str>,
    /// Id of the text, if it is in the project.
    text_id: Option<&'a str>,
}

/// Prints every option of a multi-label question for one text, by one annotator or over all.
pub(super) fn predict_options(
    session: &Session,
    question: &Question,
    annotator: Option<&Annotator>,
    args: &Predict,
) -> Result<()> {
    make_live(session, question.id, &args.encoder)?;
    let embedded = embed_new_text(session, args)?;
    let text = requested_text(args, embedded.as_ref());
    let bar = Bar::new("options that go together");
    let found = whole_answer::predict(&session.analysis, question, annotator.map(|who| who.id), text, &bar);
    drop(bar);
    let found = found?;
    if args.output.json {
        let answers = answers(session, question, args)?;
        return output::json(&document(question, annotator, args, &found, answers));
    }
    show(question, annotator, &found)?;
    show_answers(session, question, args)
}

fn document<'a>(
    question: &'a Question,
    annotator: Option<&'a Annotator>,
    args: &'a Predict,
    found: &'a WholeAnswer,
    answers: Option<Vec<GivenAnswer>>,
) -> SetPrediction<'a> {
    let differ = || found.options.iter().map(|one| (one.option.clone(), one.differ)).collect();
    SetPrediction {
        annotator: annotator.map(|who| who.external_id.as_str()),
        annotators: found.annotators,
        annotators_of_sets: found.annotators_of_sets,
        answers,
        differ: (found.annotators > 1).then(differ),
        is_exact: found.is_exact,
        masi: found.masi,
        options_together: &found.options_together,
        prediction: &found.most_likely_set,
        probabilities: found.options.iter().map(|one| (one.option.clone(), one.expected)).collect(),
        probability: found.probability,
        question: &question.name,
        text: args.text.as_deref(),
        text_id: args.text_id.as_deref(),
    }
}

fn show(question: &Question, annotator: Option<&Annotator>, found: &WholeAnswer) -> Result<()> {
    let likely = format!("{} (probability {:.3})", found.most_likely_set, found.probability);
    // With one annotator there are no differences to report.
    let several = found.annotators > 1;
    output::line(&match annotator {
        Some(who) => format!("{} would most likely answer {likely}", who.name),
        None if several => format!(
            "One of {} would most likely answer {likely}; two of them are expected to be {} apart (MASI distance)",
            count(found.annotators as u64, "annotator"),
            three(found.masi)
        ),
        None => format!("The only annotator would most likely answer {likely}"),
    })?;
    let (header, numbers) = match several {
        false => (vec![question.name.as_str(), "probability", ""], vec![1]),
        true => (vec![question.name.as_str(), "expected", "differ", ""], vec![1, 2]),
    };
    let row = |one: &ExpectedOption| {
        let mut row = vec![one.option.clone(), three(Some(one.expected))];
        if several {
            row.push(three(one.differ));
        }
        row.push(bar_of(one.expected as f32));
        row
    };
    let rows = found.options.iter().map(row).collect();
    output::line(&output::table(&header, rows, &numbers))?;
    note(&found.options_together);
    if !found.is_exact {
        note("the most likely set was looked for as long as is allowed: another may be likelier");
    }
    print_people_of_sets(found.annotators_of_sets, found.annotators);
    Ok(())
}
