//! `models predict`, `models predictions` and `analyse disagreement`.

use super::disagreement_document::{DisagreementByOptions, DisagreementRanking, RankedText};
use super::given_answers::{answers, show_answers};
use super::live_model::{bar_of, embed_new_text, make_encoded, make_live, requested_text};
use super::prediction_tables::{
    embeddings_path, holds_embeddings, prediction_choices, print_predictions, run_tables, texts_to_predict,
};
use super::set_predictions::predict_options;
use super::span_predictions::predict_spans;
use super::{annotators, count, encoder_choice, note, open_or_read, print_switch};
use crate::args::{Disagreement, EncoderArgs, MeasureArg, Predict, Predictions, PredictionsFormat};
use crate::by_name::ByName;
use crate::language::{translate, translate_word};
use crate::output::{self, three};
use crate::progress::Bar;
use anyhow::{Context as _, Result, bail};
use dissensus_analysis::multi_label;
use dissensus_analysis::predict;
use dissensus_analysis::prediction_file;
use dissensus_analysis::ranking;
use dissensus_analysis::set_distances;
use dissensus_analysis::submission;
use dissensus_analysis::text_dispersion;
use dissensus_analysis::{GivenAnswer, SubmissionChoices, TextOptions};
use dissensus_api::{
    Border, DisagreementMeasure, DisagreementQuery, DisagreementRow, GroupChoice, GroupDifference, Ranking,
    SeverityDifference, SideOfBorder, distances_together,
};
use dissensus_app::session::Session;
use dissensus_domain::{Annotator, AnnotatorId, Question, QuestionId};
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_stats::data::Target;
use dissensus_training::encoding::TextFileChoices;
use dissensus_training::prediction_tables::PredictionChoices;
use dissensus_training::runs;
use dissensus_training::runs::TextToPredict;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// What `predict --json` prints for one annotator.
#[derive(Serialize, JsonSchema)]
pub(super) struct Prediction<'a> {
    /// Id of the annotator.
    annotator: &'a str,
    /// Answers given by each annotator; null for a text that is not in the project.
    answers: Option<Vec<GivenAnswer>>,
    /// Whether the model was trained on labels of the annotator; others are predicted as the average person.
    knows_annotator: bool,
    /// The predicted level.
    prediction: &'a str,
    /// Probability of each level.
    probabilities: ByName<f64>,
    /// The question.
    question: &'a str,
    /// Number of the run; null for the live model.
    run: Option<u32>,
    /// The text, if it was given on the command line.
    text: Option<&'a str>,
    /// Id of the text, if it is in the project.
    text_id: Option<&'a str>,
}

/// What `predict --run A,B --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct PredictionsOfRuns<'a> {
    /// One prediction per run, in the order in which the runs were given.
    runs: &'a [Prediction<'a>],
}

/// Maximum number of characters of a text in the table.
const TEXT_WIDTH: usize = 60;

pub(crate) fn predict(args: &Predict) -> Result<()> {
    if args.resume && args.run.len() > 1 {
        bail!(
            "--resume goes with one run: runs may be on several encoders, and embeddings are stored for one"
        );
    }
    let done = predict_once(args);
    match embeddings_path(args).filter(|kept| holds_embeddings(kept)) {
        Some(kept) if done.is_ok() => {
            std::fs::remove_file(&kept).with_context(|| format!("removing {}", kept.display()))?;
        }
        Some(kept) => note(&format!(
            "embeddings so far are stored in {}: run the same command to continue with them",
            kept.display()
        )),
        None => {}
    }
    done
}

fn predict_once(args: &Predict) -> Result<()> {
    if let (Some(dir), Some(texts), Some(out)) = (&args.bundle, &args.file.texts, &args.file.out) {
        return super::bundle::predict(dir, texts, out, args);
    }
    let session = open_or_read(args.project.as_deref().unwrap_or(Path::new("")))?;
    if let (Some(texts), Some(out), [_, ..]) = (&args.file.texts, &args.file.out, &args.run[..]) {
        let texts = texts_to_predict(texts, args);
        return run_tables(
            &session,
            &args.run,
            &prediction_choices(args),
            Some(&texts),
            out,
            args.output.json,
        );
    }
    if let (Some(texts), Some(out)) = (&args.file.texts, &args.file.out) {
        let texts = texts_to_predict(texts, args);
        let choices = prediction_choices(args);
        return write_table(&session, &choices, Some(&texts), out, &args.encoder, args.output.json);
    }
    let named = args.annotator.as_deref();
    let annotator =
        named.map(|name| dissensus_editing::annotators::find(&session.project, name)).transpose()?;
    if !args.run.is_empty() {
        return predict_by_runs(&session, &one_annotator(annotator)?, args);
    }
    let question = questions::find(&session.project, args.question.name.as_deref())?;
    if question.scale.form().is_set() {
        return predict_options(&session, &question, annotator.as_ref(), args);
    }
    if question.scale.form().marks_words() {
        return predict_spans(&session, &question, annotator.as_ref(), args);
    }
    let annotator = one_annotator(annotator)?;
    let by = live(&session, question.id, annotator.id, args)?;
    let predicted = Predicted { p: &by.probabilities, run: None, knows_annotator: by.knows_annotator };
    if args.output.json {
        let answers = answers(&session, &question, args)?;
        return output::json(&document(&question, &annotator, args, predicted, answers)?);
    }
    show_prediction(&question, &annotator, predicted)?;
    show_answers(&session, &question, args)
}

/// Returns the annotator, or fails if none was given.
fn one_annotator(annotator: Option<Annotator>) -> Result<Annotator> {
    annotator.context("name an annotator (--annotator NAME): without one there are predictions of everybody for questions with any of several options, and of new texts for questions with spans")
}

/// Predicts with one or several runs; runs that share an encoder embed the text only once.
fn predict_by_runs(session: &Session, annotator: &Annotator, args: &Predict) -> Result<()> {
    let mut questions = Vec::new();
    for run in &args.run {
        questions.push(question_of_run(session, *run, args.question.name.as_deref())?);
    }
    let bar = Bar::new("steps");
    let text = match (&args.text_id, &args.text) {
        (Some(id), _) => TextToPredict::OfProject(id),
        (None, text) => TextToPredict::New(text.as_deref().unwrap_or_default()),
    };
    let found = runs::predict(&session.runs, &args.run, annotator.id, text, &bar);
    drop(bar);
    let mut documents = Vec::new();
    for (question, by) in questions.iter().zip(found?) {
        let answers = answers(session, question, args)?;
        let predicted =
            Predicted { p: &by.probabilities, run: Some(by.run), knows_annotator: by.knows_annotator };
        documents.push(document(question, annotator, args, predicted, answers)?);
        if !args.output.json {
            if args.run.len() > 1 {
                output::line(&format!("Run {} ({})", by.run, by.model))?;
            }
            show_prediction(question, annotator, predicted)?;
            show_answers(session, question, args)?;
        }
    }
    match (args.output.json, &documents[..]) {
        (true, [only]) => output::json(only),
        (true, runs) => output::json(&PredictionsOfRuns { runs }),
        (false, _) => Ok(()),
    }
}

/// A prediction, by the live model or a run.
#[derive(Clone, Copy)]
struct Predicted<'a> {
    p: &'a [f32],
    run: Option<u32>,
    knows_annotator: bool,
}

/// Builds the JSON document of a prediction.
fn document<'a>(
    question: &'a Question,
    annotator: &'a Annotator,
    args: &'a Predict,
    predicted: Predicted<'_>,
    answers: Option<Vec<GivenAnswer>>,
) -> Result<Prediction<'a>> {
    let (levels, p) = (question.scale.levels(), predicted.p);
    if p.len() != levels.len() {
        bail!(
            "the model predicts {} probabilities and \"{}\" has {} levels",
            p.len(),
            question.name,
            levels.len()
        );
    }
    Ok(Prediction {
        annotator: &annotator.external_id,
        answers,
        knows_annotator: predicted.knows_annotator,
        prediction: &levels[best_of(question, p)],
        probabilities: levels.iter().cloned().zip(p.iter().map(|p| f64::from(*p))).collect(),
        question: &question.name,
        run: predicted.run,
        text: args.text.as_deref(),
        text_id: args.text_id.as_deref(),
    })
}

/// Index of the most likely level.
fn best_of(question: &Question, p: &[f32]) -> usize {
    usize::from(Target { kind: question.scale.target(), levels: p.len() }.answer(p))
}

fn show_prediction(question: &Question, annotator: &Annotator, predicted: Predicted<'_>) -> Result<()> {
    let p = predicted.p;
    let (levels, best) = (question.scale.levels(), best_of(question, p));
    let how = if question.scale.target().has_distances() { "answer about" } else { "most likely answer" };
    let what = if question.scale.target().has_distances() { " (the median)" } else { "" };
    output::line(&format!("{} would {how} {}{what}", annotator.name, levels[best]))?;
    if !predicted.knows_annotator {
        let model = predicted.run.map_or_else(|| "The model".to_owned(), |run| format!("Run {run}"));
        output::line(&format!(
            "{model} has learned from no label of {}: this is its prediction for an unknown annotator",
            annotator.name
        ))?;
    }
    let rows =
        levels.iter().zip(p).map(|(level, p)| vec![level.clone(), format!("{p:.3}"), bar_of(*p)]).collect();
    output::line(&output::table(&[question.name.as_str(), "probability", ""], rows, &[1]))
}

pub(crate) fn predictions(args: &Predictions) -> Result<()> {
    let Some(PredictionsFormat::LewidiSubmission) = args.format else {
        return prediction_table(args);
    };
    if args.run.len() > 1 {
        bail!("files of the shared task are of one run: name one with --run");
    }
    let run = args.run.first().copied();
    let choices = SubmissionChoices {
        question: args.question.name.clone(),
        set: args.set.clone(),
        run,
        seed: args.seed,
        replace: args.force,
    };
    let session = open_or_read(&args.project.path)?;
    let bar = Bar::new("steps");
    let ready = match run {
        Some(_) => None,
        None => Some(session.encoding.ensure_encoded(&encoder_choice(&args.encoder), &bar)?),
    };
    std::fs::create_dir_all(&args.out).with_context(|| format!("making {}", args.out.display()))?;
    let written = submission::write(&session.analysis, &choices, &args.out, &bar);
    drop(bar);
    let written = written?;
    if let Some(switch) = ready {
        print_switch(switch);
    }
    if args.output.json {
        return output::json(&written);
    }
    let [soft, answers] = &written.files;
    output::line(&format!(
        "Wrote {} to {} and {} to {}, predicted by {}; soft labels have the smallest expected {} distance",
        count(written.texts as u64, "text"),
        soft.display(),
        count(written.answers as u64, "answer"),
        answers.display(),
        written.run.map_or_else(|| written.model.clone(), |run| format!("run {run} ({})", written.model)),
        if written.soft_labels == "wasserstein" { "Wasserstein" } else { "Manhattan" },
    ))
}

/// Writes predictions of the live model for every text of the project.
fn prediction_table(args: &Predictions) -> Result<()> {
    let session = open_or_read(&args.project.path)?;
    let choices = PredictionChoices {
        question: args.question.name.clone(),
        annotators: args.annotators.clone(),
        replace: args.force,
    };
    if !args.run.is_empty() {
        return run_tables(&session, &args.run, &choices, None, &args.out, args.output.json);
    }
    write_table(&session, &choices, None, &args.out, &args.encoder, args.output.json)
}

/// Checks names and files first, because fitting takes time.
fn write_table(
    session: &Session,
    choices: &PredictionChoices,
    texts: Option<&TextFileChoices>,
    out: &Path,
    encoder: &EncoderArgs,
    json: bool,
) -> Result<()> {
    let bar = Bar::new("bytes");
    let asked = prediction_file::check(&session.analysis, choices, texts, out, &bar);
    drop(bar);
    let asked = asked?;
    if asked.needs_live_models() {
        make_live(session, asked.question(), encoder)?;
    } else {
        make_encoded(session, encoder)?;
    }
    let bar = Bar::new("texts");
    let written = prediction_file::write(&session.analysis, &asked, &encoder_choice(encoder), &bar);
    drop(bar);
    print_predictions(&written?, json)
}

/// The question that a run was trained on, which is the one it predicts.
fn question_of_run(session: &Session, run: u32, named: Option<&str>) -> Result<Question> {
    let of_run = runs::detail(&session.runs, run)?.info.question_name;
    if let Some(named) = named.filter(|named| *named != of_run) {
        bail!("run {run} was trained on \"{of_run}\" and predicts nothing of \"{named}\"");
    }
    Ok(questions::find(&session.project, Some(&of_run))?)
}

/// Predicts with the live model.
fn live(
    session: &Session,
    question: QuestionId,
    annotator: AnnotatorId,
    args: &Predict,
) -> Result<predict::Prediction> {
    make_live(session, question, &args.encoder)?;
    let embedded = embed_new_text(session, args)?;
    let text = requested_text(args, embedded.as_ref());
    Ok(predict::predict(&session.analysis, question, annotator, text)?)
}

pub(crate) fn disagreement(args: &Disagreement) -> Result<()> {
    let session = open_or_read(&args.project.path)?;
    let question = questions::find(&session.project, args.question.name.as_deref())?;
    make_live(&session, question.id, &args.encoder)?;
    if question.scale.has_options() {
        return disagreement_by_options(&session, &question, args);
    }
    let query = DisagreementQuery {
        question: question.id,
        by: measure(args.by),
        cut: args.cut.as_deref().map(|level| level_named(&question, level)).transpose()?,
        groups: args.groups.clone().map(|(attribute, first, second)| GroupChoice {
            attribute,
            first,
            second,
        }),
        search: args.search.clone(),
        attributes: args.attributes.iter().cloned().collect(),
        labelled_only: args.labelled,
    };
    let ranking = ranking::rank(&session.analysis, &query)?;
    let bar = Bar::new("replicates");
    let dispersion = match args.text_dispersion {
        true => Some(text_dispersion::measure(&session.analysis, question.id, 0, &bar)?),
        false => None,
    };
    drop(bar);
    let shown = ranking.texts.len().min(args.top);
    let rows = ranking::read_rows(&session.analysis, &query, &ranking.texts[..shown])?;
    if args.output.json {
        return output::json(&DisagreementRanking {
            annotators: ranking.annotators,
            annotators_without_labels: ranking.annotators_without_labels,
            basis: ranking.basis,
            by: query.by.name(),
            estimation: ranking.estimation,
            label_weight: ranking.label_weight,
            levels: question.scale.levels(),
            needs: ranking.needs,
            notice: info::read(&session.project)?.simulated_notice,
            question: &question.name,
            remark: ranking.remark,
            text_dispersion: dispersion,
            texts: rows.iter().filter_map(RankedText::new).collect(),
            texts_in_all: ranking.texts.len(),
            ties: ranking.ties,
        });
    }
    if let Some(dispersion) = dispersion {
        output::line(&dispersion.words)?;
    }
    show(&session, &query, question.scale.levels(), &rows, &ranking)
}

/// Ranks the texts of a whole multi-label question.
fn disagreement_by_options(session: &Session, question: &Question, args: &Disagreement) -> Result<()> {
    let options = question.scale.levels();
    let asked_more = !matches!(args.by, MeasureArg::Combined | MeasureArg::Split | MeasureArg::Pairwise)
        || args.groups.is_some()
        || args.search.is_some()
        || !args.attributes.is_empty()
        || args.labelled
        || args.text_dispersion
        || args.cut.is_some();
    if asked_more {
        bail!(
            "of all options of \"{}\" together there is only the mean chance that two annotators differ: name one option for anything else, such as \
             --question \"{}{}{}\"",
            question.name,
            question.name,
            Question::OPTION_OF,
            options[0]
        );
    }
    let bar = Bar::new("options that go together");
    let together = set_distances::measure(&session.analysis, question, &bar)?;
    drop(bar);
    let (texts, all) = multi_label::rank(&session.analysis, question, args.top, together.as_ref())?;
    let options_together = together.map(|together| distances_together(&together, options));
    let needs = multi_label::people_needed(&session.analysis);
    if args.output.json {
        return output::json(&DisagreementByOptions {
            by: "pairwise",
            needs,
            notice: info::read(&session.project)?.simulated_notice,
            options,
            options_together,
            question: &question.name,
            texts: texts.iter().map(Into::into).collect(),
            texts_in_all: all,
        });
    }
    if let Some(notice) = info::read(&session.project)?.simulated_notice {
        output::line(&notice)?;
    }
    if let Some(needs) = needs {
        // A ranking of zeros has no meaning.
        return output::line(&needs);
    }
    output::line(&format!(
        "Mean over {} options of the chance that two annotators differ on one, on {}, labels where there are some and predictions elsewhere",
        options.len(),
        count(all as u64, "text")
    ))?;
    let line = |text: &TextOptions| {
        let mut most: Vec<(&String, &f32)> = options.iter().zip(&text.options).collect();
        most.sort_by(|a, b| b.1.total_cmp(a.1));
        let most: Vec<String> = most.iter().take(3).map(|(name, p)| format!("{name} {p:.2}")).collect();
        vec![
            text.rank.to_string(),
            text.text_id.clone(),
            format!("{:.3}", text.pairwise),
            three(text.masi),
            most.join(", "),
            output::cut(&text.text, TEXT_WIDTH),
        ]
    };
    let header = ["rank", "text id", "pairwise", "MASI", "most divided options", "text"];
    output::line(&output::table(&header, texts.iter().map(line).collect(), &[0, 2, 3]))?;
    options_together.as_deref().map_or(Ok(()), output::line)
}

fn measure(by: MeasureArg) -> DisagreementMeasure {
    match by {
        MeasureArg::Combined => DisagreementMeasure::Combined,
        MeasureArg::Split => DisagreementMeasure::Split,
        MeasureArg::FarApart => DisagreementMeasure::FarApart,
        MeasureArg::OppositeSides => DisagreementMeasure::OppositeSides,
        MeasureArg::Between => DisagreementMeasure::Between,
        MeasureArg::Surprising => DisagreementMeasure::Surprising,
        MeasureArg::GroupGap => DisagreementMeasure::GroupGap,
        MeasureArg::Pairwise => DisagreementMeasure::Pairwise,
        MeasureArg::Divergence => DisagreementMeasure::Divergence,
        MeasureArg::Uncertainty => DisagreementMeasure::Uncertainty,
        MeasureArg::Labels => DisagreementMeasure::Labels,
    }
}

/// The index of a level, which must not be the lowest: no answer is below a cut there.
fn level_named(question: &Question, name: &str) -> Result<u16> {
    let levels = question.scale.levels();
    match levels.iter().position(|level| level == name) {
        Some(at) if at > 0 => Ok(at as u16),
        _ => bail!(
            "--cut {name}: name a level of \"{}\" above the lowest: {}",
            question.name,
            levels[1..].join(", ")
        ),
    }
}

fn show(
    session: &Session,
    query: &DisagreementQuery,
    levels: &[String],
    rows: &[DisagreementRow],
    ranking: &Ranking,
) -> Result<()> {
    if let Some(notice) = info::read(&session.project)?.simulated_notice {
        output::line(&notice)?;
    }
    let notes = [&ranking.remark, &ranking.needs, &ranking.basis];
    for line in notes.into_iter().flatten().collect::<std::collections::BTreeSet<_>>() {
        output::line(line)?;
    }
    let average = match ranking.annotators_without_labels {
        0 => "",
        _ => "; who has no label counts as well and is predicted as the average person",
    };
    output::line(&format!(
        "Disagreement among {} on {}, labels where there are some and predictions elsewhere{average}",
        annotators(ranking.annotators, ranking.annotators_without_labels),
        count(ranking.texts.len() as u64, "text")
    ))?;
    let mut first = 1;
    for size in &ranking.ties {
        if first as usize > rows.len() {
            break;
        }
        if *size > 1 {
            output::line(&format!("Ranks {first} to {} cannot be distinguished", first + size - 1))?;
        }
        first += size;
    }
    let line = |row: &DisagreementRow| {
        let interval =
            row.interval.map_or_else(|| "–".to_owned(), |(low, high)| format!("{low:.2}–{high:.2}"));
        let labels: u32 = row.observed.iter().sum();
        [
            row.rank.to_string(),
            format!("{}–{}", row.band.0, row.band.1),
            row.external_id.clone(),
            format!("{:.3}", row.value),
            interval,
            row.border.map_or_else(String::new, |border| border_words(&border, levels)),
            three(row.observed_split.map(f64::from)),
            three(row.scores.as_ref().and_then(|scores| scores.agreement).map(f64::from)),
            labels.to_string(),
            who(row),
            output::cut(&row.snippet, TEXT_WIDTH),
        ]
    };
    let header = [
        "rank",
        "band",
        "text id",
        query.by.name(),
        "95 %",
        "border",
        "observed split",
        "agreement",
        "labels",
        "who",
        "text",
    ];
    let lines: Vec<[String; 11]> = rows.iter().map(line).collect();
    // Omits columns that are empty in every row.
    let filled = |at: &usize| lines.iter().any(|line| !matches!(line[*at].as_str(), "" | "–"));
    let columns: Vec<usize> = (0..header.len()).filter(filled).collect();
    let numbers: Vec<usize> =
        (0..columns.len()).filter(|at| [0, 3, 6, 7, 8].contains(&columns[*at])).collect();
    let header: Vec<&str> = columns.iter().map(|at| header[*at]).collect();
    let cells = |line: &[String; 11]| columns.iter().map(|at| line[*at].clone()).collect();
    output::line(&output::table(&header, lines.iter().map(cells).collect(), &numbers))
}

/// "2 | 3, 48 %": the levels on either side of the border, and the share of answers above it.
fn border_words(border: &Border, levels: &[String]) -> String {
    let name = |level: usize| levels.get(level).map_or("", String::as_str);
    let above = usize::from(border.level);
    format!("{} | {}, {:.0} %", name(above.saturating_sub(1)), name(above), 100.0 * border.above)
}

/// "gender Woman +0.9", with a question mark if not significant after correction, "the strict +1.2" where
/// answers follow severity, and annotators on either side of the border.
fn who(row: &DisagreementRow) -> String {
    let group = |group: &GroupDifference| {
        let doubt = if group.significant { "" } else { "?" };
        let above = row.who_above.map_or_else(String::new, |(own, others)| {
            format!(
                " ({} of {} above, {} of {} of the others)",
                own.above, own.labels, others.above, others.labels
            )
        });
        format!("{} {} {:+.1}{doubt}{above}", group.attribute, group.value, group.gap)
    };
    let side = |severity: &SeverityDifference| {
        format!("the {} {:+.1}", if severity.strict { "strict" } else { "lenient" }, severity.gap)
    };
    let parts: Vec<String> = row.who.iter().map(group).chain(row.severity.iter().map(side)).collect();
    let people = row
        .sides
        .iter()
        .flat_map(|(above, below)| [(translate_word("above"), above), (translate_word("below"), below)]);
    let people =
        people.filter(|(_, side)| !side.people.is_empty()).map(|(place, side)| on_side(&place, side));
    let lines = Some(parts.join(", ")).filter(|parts| !parts.is_empty()).into_iter().chain(people);
    lines.map(|line| translate(&line).into_owned()).collect::<Vec<_>>().join("; ")
}

/// "above: ana, ben and 4 more": those who labelled the text, or if there are none, those who are predicted
/// there.
fn on_side(place: &str, side: &SideOfBorder) -> String {
    let (of, doubt, all) = match side.labelled {
        0 => (false, " expected", side.predicted),
        labelled => (true, "", labelled),
    };
    let people = side.people.iter().filter(|person| person.labelled == of);
    let names: Vec<&str> = people.map(|person| person.name.as_str()).collect();
    let more = (all as usize).saturating_sub(names.len());
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{place}{doubt}: {}{more}", names.join(", "))
}
