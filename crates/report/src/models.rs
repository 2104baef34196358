//! Model performance: recorded evaluations, training runs, calibration, and learning curves for new people.

use super::document::Block;
use super::evaluated::{Difference, Evaluated, ModelFigures};
use super::reproduce::without_folders;
use super::work::{ReportQuestion, Work, error_as_message, quoted};
use dissensus_analysis::EvaluateChoices;
use dissensus_analysis::evaluation;
use dissensus_analysis::learning_curve;
use dissensus_api::RunDetail;
use dissensus_domain::{EventKey, WorkState};
use dissensus_project::clock::local_time;
use dissensus_project::error::ProjectError;
use dissensus_project::words::counted;
use dissensus_render::plots;
use dissensus_render::plots::Line;
use dissensus_render::table::{Cell, Column};
use dissensus_stats::data::ModelKind;
use dissensus_store::EvaluationKind;
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::runs;
use dissensus_training::runs::{COLUMNS, metric_of};
use dissensus_training::saved_runs::run_tuning;

/// Numbers of labels of a new person after which models are scored.
const AFTER: [usize; 8] = [0, 1, 2, 5, 10, 20, 50, 100];
/// Number of run metrics in the table.
const SHOWN: usize = 8;

pub(super) fn blocks(work: &Work<'_>, asked: &ReportQuestion) -> Result<Vec<Block>, ProjectError> {
    let mut blocks = Vec::new();
    let fresh = match work.request.evaluate {
        true => evaluate(work, asked, &mut blocks)?,
        false => None,
    };
    match fresh.map_or_else(|| recorded(work, asked), |fresh| Ok(Some(fresh)))? {
        Some((found, when)) => evaluation(asked, &found, &when, &mut blocks)?,
        None if !work.request.evaluate => {
            blocks.push(Block::Needs("No evaluation of models is on record for this question. This command makes one, and so does --evaluate:".to_owned()));
            blocks.push(Block::Command(command(asked)));
        }
        None => {}
    }
    runs(work, asked, &mut blocks)?;
    match work.request.evaluate {
        true => curve(work, asked, &mut blocks)?,
        false => blocks.push(Block::Needs(
            "How fast new people are learned is measured anew each time and is not on record: give --evaluate.".to_owned(),
        )),
    }
    Ok(blocks)
}

/// The command that evaluates models on a question.
pub(super) fn command(asked: &ReportQuestion) -> String {
    format!("dissensus models evaluate PROJECT --question {}", asked.quoted())
}

fn choices(work: &Work<'_>, asked: &ReportQuestion) -> Result<EvaluateChoices, ProjectError> {
    Ok(EvaluateChoices {
        question: Some(asked.question.name.clone()),
        models: ModelKind::ALL.to_vec(),
        split: evaluation::usual_split(&work.of.analysis, Some(&asked.question.name))?,
        seed: 0,
        at_least: None,
        tuning: "frozen".to_owned(),
        encoder: EncoderChoice::default(),
        prediction_sets: false,
        without_slips: false,
    })
}

/// Evaluates models now; adds the reason where that is not possible.
fn evaluate(
    work: &Work<'_>,
    asked: &ReportQuestion,
    blocks: &mut Vec<Block>,
) -> Result<Option<(Evaluated, String)>, ProjectError> {
    let analysis = &work.of.analysis;
    let done = || -> Result<serde_json::Value, ProjectError> {
        let found = evaluation::evaluate(analysis, &choices(work, asked)?, work.steps)?;
        serde_json::to_value(found).map_err(|e| ProjectError::internal(&e))
    };
    match error_as_message(done())? {
        Ok(found) => Ok(Evaluated::read(&found).map(|found| (found, "now".to_owned()))),
        Err(why) => {
            blocks.push(Block::Needs(format!("Models could not be evaluated now: {why}")));
            Ok(None)
        }
    }
}

/// The newest evaluation of the question. One of labels that were taken back with their import is not shown,
/// though a later question may have the same name: the event that it names is gone.
fn recorded(work: &Work<'_>, asked: &ReportQuestion) -> Result<Option<(Evaluated, String)>, ProjectError> {
    let store = &work.of.context.store;
    for one in store.evaluations()? {
        let of_question = one.asked.configuration.get("question").and_then(serde_json::Value::as_str);
        let fits = one.asked.kind == EvaluationKind::Evaluation
            && one.state == WorkState::Finished
            && of_question == Some(asked.question.name.as_str());
        let newest = one.asked.configuration.get("newest_event").cloned();
        let newest: Option<EventKey> = newest.and_then(|key| serde_json::from_value(key).ok());
        let Some(newest) = newest.filter(|_| fits) else { continue };
        if !store.has_event(asked.question.id, newest)? {
            continue;
        }
        if let Some(found) = one.metrics.as_ref().and_then(Evaluated::read) {
            return Ok(Some((found, format!("on {}", local_time(one.asked.started_ms as f64)))));
        }
    }
    Ok(None)
}

fn evaluation(
    asked: &ReportQuestion,
    found: &Evaluated,
    when: &str,
    blocks: &mut Vec<Block>,
) -> Result<(), ProjectError> {
    let split = &found.split;
    let at_least =
        found.at_least.as_ref().map_or_else(String::new, |level| format!(", as {level} or higher"));
    blocks.push(Block::Text(format!(
        "Evaluated {when}{at_least}: {}, learned from {} of {} and scored on {} of {}, seed {}, on {}. The question has {} now.",
        split.name,
        counted(split.train_labels, "label"),
        counted(split.train_texts, "text"),
        counted(split.test_labels, "label"),
        counted(split.test_texts, "text"),
        found.seed,
        found.encoder.as_deref().map_or_else(|| "no embeddings".to_owned(), without_folders),
        counted(asked.labels.len() as u64, "label"),
    )));
    blocks.extend(found.notes.iter().map(|note| Block::Text(note.clone())));
    let keys = found.keys();
    let row = |one: &ModelFigures, reads: bool| {
        let name = if reads { one.model.clone() } else { format!("{} (reads no text)", one.model) };
        std::iter::once(Cell::text(name))
            .chain(keys.iter().map(|(key, _)| Cell::three(one.figure(key))))
            .collect()
    };
    let rows = found
        .models
        .iter()
        .map(|one| row(one, true))
        .chain(found.baselines.iter().map(|one| row(one, false)));
    let columns =
        std::iter::once(Column::text("model")).chain(keys.iter().map(|(_, title)| Column::number(*title)));
    let caption = format!(
        "Models on {} of {} held out ({}); ↓ marks figures of which less is better",
        counted(split.test_labels, "label"),
        counted(split.test_texts, "text"),
        split.name
    );
    blocks.push(asked.stems.table("models", caption, columns.collect(), rows.collect()));
    if let Some(differences) = &found.differences {
        let row = |one: &Difference| {
            let of = |(key, _): &(&str, &str)| match one.of.get(*key) {
                Some(found) => Cell::estimate(Some(found.difference), found.low.zip(found.high)),
                None => Cell::Nothing,
            };
            std::iter::once(Cell::text(&one.model)).chain(keys.iter().map(of)).collect()
        };
        let columns = std::iter::once(Column::text("model"))
            .chain(keys.iter().map(|(_, title)| Column::estimate(*title)));
        let caption = format!(
            "Each model less {}, on the same labels; {:.0} % intervals by jackknife over {}, not corrected for the number of comparisons",
            differences.less,
            100.0 * differences.confidence,
            differences.over
        );
        let rows = differences.models.iter().map(row).collect();
        blocks.push(asked.stems.table("model-differences", caption, columns.collect(), rows));
    }
    calibration(asked, found, blocks)
}

fn calibration(
    asked: &ReportQuestion,
    found: &Evaluated,
    blocks: &mut Vec<Block>,
) -> Result<(), ProjectError> {
    if asked.question.scale.has_options() {
        return Ok(());
    }
    if found.calibration.is_empty() {
        blocks.push(Block::Needs(
            "The evaluation on record has no curve of calibration: evaluate again to have one.".to_owned(),
        ));
        return Ok(());
    }
    let known = |curve: &super::evaluated::Curve| -> Vec<(u64, f64, f64)> {
        curve.bins.iter().filter_map(|bin| Some((bin.labels, bin.confidence?, bin.accuracy?))).collect()
    };
    let line = |curve: &super::evaluated::Curve| -> Line {
        (curve.model.clone(), known(curve).into_iter().map(|(_, x, y)| (x, y)).collect())
    };
    let lines: Vec<Line> = found.calibration.iter().map(line).collect();
    let caption = format!(
        "Calibration: how often models are right, by how sure they are, on {} held out; points of few labels are uncertain",
        counted(found.split.test_labels, "label")
    );
    let svg = plots::in_unit_square(&lines, true, "confidence", "share right")?;
    let rows = found.calibration.iter().flat_map(|curve| {
        known(curve).into_iter().map(|(labels, confidence, accuracy)| {
            vec![
                Cell::text(&curve.model),
                Cell::Count(labels),
                Cell::three(Some(confidence)),
                Cell::three(Some(accuracy)),
            ]
        })
    });
    let columns = ["labels", "mean confidence", "share right"].map(Column::number);
    let columns = std::iter::once(Column::text("model")).chain(columns).collect();
    blocks.extend(asked.stems.figure("calibration", caption.clone(), svg));
    blocks.push(asked.stems.table("calibration", caption, columns, rows.collect()));
    Ok(())
}

/// Finished training runs.
fn runs(work: &Work<'_>, asked: &ReportQuestion, blocks: &mut Vec<Block>) -> Result<(), ProjectError> {
    let learned = work.of.context.index().learned(asked.question.id);
    let all = runs::list(&work.of.runs)?;
    let finished = all.iter().filter(|run| run.scores.is_some() && learned.contains(&run.question));
    let details: Vec<RunDetail> =
        finished.map(|run| runs::detail(&work.of.runs, run.id)).collect::<Result<_, _>>()?;
    if details.is_empty() {
        blocks.push(Block::Needs(
            "No training run of this question has ended. This command trains one:".to_owned(),
        ));
        blocks.push(Block::Command(format!(
            "dissensus models train PROJECT --question {} --split by-text:0.7",
            asked.quoted()
        )));
        return Ok(());
    }
    let keys: Vec<(&str, &str)> = COLUMNS
        .into_iter()
        .filter(|(key, _)| details.iter().any(|run| metric_of(run, key).is_some()))
        .take(SHOWN)
        .collect();
    let row = |run: &RunDetail| {
        let info = &run.info;
        let what = [
            format!("{} {}", info.id, info.model.name()),
            info.question_name.clone(),
            run_tuning(info),
            format!("{}, seed {}", info.split.name(), info.seed),
        ];
        let figures = keys.iter().map(|(key, _)| match metric_of(run, key) {
            Some(found) => Cell::estimate(Some(found.value), found.low.zip(found.high)),
            None => Cell::Nothing,
        });
        let labels = [run.sizes.train_labels, run.sizes.test_labels].map(|n| Cell::Count(n.into()));
        what.map(Cell::text).into_iter().chain(labels).chain(figures).collect()
    };
    let columns = ["run", "question", "encoder", "split"].map(Column::text).into_iter();
    let columns = columns
        .chain(["labels learned", "labels scored"].map(Column::number))
        .chain(keys.iter().map(|(_, title)| Column::estimate(*title)));
    let caption = "Training runs on labels held out; 95 % intervals by bootstrap over texts, of figures about annotators over annotators. Who took the best of several by these figures has chosen by them";
    let rows = details.iter().map(row).collect();
    blocks.push(asked.stems.table("runs", caption, columns.collect(), rows));
    Ok(())
}

/// The learning curve of new people.
fn curve(work: &Work<'_>, asked: &ReportQuestion, blocks: &mut Vec<Block>) -> Result<(), ProjectError> {
    if asked.question.scale.has_options() {
        blocks.push(Block::Needs("Learning curves are of one option or type at a time:".to_owned()));
        let one = asked.question.options().into_iter().next().map_or_else(String::new, |option| option.name);
        let command = format!(
            "dissensus models evaluate PROJECT --question {} --new-annotators 0,1,2,5,10",
            quoted(&one)
        );
        blocks.push(Block::Command(command));
        return Ok(());
    }
    let mut counts: Vec<u64> = asked.per_person().into_values().collect();
    counts.sort_unstable();
    // Half of the people must have twice as many: scored labels follow the learned ones.
    let middle = counts.get(counts.len() / 2).copied().unwrap_or(0) as usize;
    let after: Vec<usize> = AFTER.into_iter().filter(|n| 2 * n <= middle).collect();
    if after.len() < 2 || counts.len() < 5 {
        blocks.push(Block::Needs("Too little to tell how fast new people are learned: five people are needed, and half of them with two labels or more.".to_owned()));
        return Ok(());
    }
    let mut choices = choices(work, asked)?;
    choices.models = vec![ModelKind::Shared, ModelKind::Multilevel];
    let found = match error_as_message(learning_curve::measure(
        &work.of.analysis,
        &choices,
        &after,
        None,
        work.steps,
    ))? {
        Ok(found) => found,
        Err(why) => {
            blocks.push(Block::Needs(format!("How fast new people are learned cannot be estimated: {why}")));
            return Ok(());
        }
    };
    let lines: Vec<Line> = found
        .points
        .chunk_by(|a, b| a.model == b.model)
        .map(|points| {
            (points[0].model.clone(), points.iter().map(|p| (p.labels as f64, p.log_loss)).collect())
        })
        .collect();
    let caption = format!(
        "Log loss by labels of a new person: {} held out, scored on the same {} of {} after so many labels of each",
        counted(found.annotators as u64, "person").replace("persons", "people"),
        counted(found.n_labels as u64, "label"),
        counted(found.n_texts as u64, "text")
    );
    let svg = plots::lines(&lines, "labels of a new person", "log loss")?;
    blocks.extend(asked.stems.figure("learning-curve", caption.clone(), svg));
    let row = |point: &dissensus_selection::evaluation::CurvePoint| {
        vec![
            Cell::text(&point.model),
            Cell::Count(point.labels as u64),
            Cell::three(Some(point.log_loss)),
            Cell::three(Some(point.accuracy)),
        ]
    };
    let columns = ["labels of a new person", "log loss", "accuracy"].map(Column::number);
    let columns = std::iter::once(Column::text("model")).chain(columns).collect();
    blocks.push(asked.stems.table(
        "learning-curve",
        caption,
        columns,
        found.points.iter().map(row).collect(),
    ));
    Ok(())
}
