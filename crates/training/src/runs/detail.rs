//! Everything about one run.

use super::Runs;
use super::auxiliary::auxiliary_of;
use super::notes::auxiliary_note;
use crate::error::TrainingError;
use crate::runs::baselines;
use crate::runs::list;
use crate::saved_runs::{RunFolder, SavedRun};
use dissensus_api::{RunAnnotator, RunBin, RunClass, RunDetail, RunWords, options_of_run_together};
use dissensus_project::context::ceiling_note;
use dissensus_project::error::ProjectError;
use dissensus_stats::metrics::{AnnotatorScores, CalibrationBin, ClassScores};
use std::collections::BTreeMap;

const BASELINE_OF_TEST: &str =
    "The baseline of each annotator is of test labels, and so too high: the training labels were not stored.";

const NOT_TUNED: &str = "Macro F1 is of the most likely level: this run was trained before an answer was tuned for it. Train it again to compare.";

const OF_SETS: &str = "An earlier version trained this run to choose among all sets of the options. Its figures stand and it cannot be continued or asked: train \
     an option instead.";

/// The scores on words of the type that a run is of.
fn words_of(kept: &SavedRun) -> Option<RunWords> {
    let words = kept.outcome.words.as_ref()?;
    let of_type = kept.column?;
    let (own, baseline) = (words.model.scores.types.get(of_type)?, words.baselines.first()?);
    let baseline = baseline.scores.types.get(of_type)?;
    Some(RunWords {
        log_loss: own.token_log_loss,
        baseline_log_loss: baseline.token_log_loss,
        f1: own.token_f1,
        baseline_f1: baseline.token_f1,
        auroc: own.token_disagreement_auroc,
        baseline_auroc: baseline.token_disagreement_auroc,
        answers: words.answers[2],
    })
}

/// Everything about one run.
///
/// # Errors
/// There is no such run, or the file cannot be read.
pub fn detail(cx: &Runs, id: u32) -> Result<RunDetail, ProjectError> {
    detail_of(cx, &cx.kept.get(id)?)
}

fn detail_of(cx: &Runs, kept: &SavedRun) -> Result<RunDetail, ProjectError> {
    let info =
        list::infos(cx, std::slice::from_ref(kept))?.pop().ok_or(TrainingError::NoSuchRun(kept.run.id.0))?;
    let index = cx.context.index();
    let scale = index.question(kept.choices.question).map(|q| &q.scale);
    let whole = index.question(kept.choices.question.row());
    let learned = whole.map(|whole| cx.kept.level_names(kept, whole)).transpose()?.unwrap_or_default();
    // Also of an option that was removed since, which has no scale any more.
    let names: Vec<&str> = match kept.choices.question.option() {
        Some(_) => vec!["no", "yes"],
        None => learned.iter().map(String::as_str).collect(),
    };
    // Runs of earlier versions on a whole multi-label question chose among the sets of its options.
    let of_sets = scale.is_some_and(|scale| scale.form().is_set());
    let scale = scale.filter(|_| !of_sets);
    let report = kept.outcome.report.as_ref();
    let named = |names: &[&str], classes: &[ClassScores]| -> Vec<RunClass> {
        let class = |class: &ClassScores| RunClass {
            name: names.get(class.level).copied().unwrap_or_default().to_owned(),
            precision: class.precision,
            recall: class.recall,
            f1: class.f1,
            support: class.support as u32,
        };
        classes.iter().map(class).collect()
    };
    let bin = |bin: &CalibrationBin| {
        Some(RunBin { confidence: bin.confidence?, accuracy: bin.accuracy?, labels: bin.labels as u32 })
    };
    let (baselines, of_all) = match (report, scale) {
        (Some(_), Some(scale)) => (
            baselines::baselines_by_annotator(cx, kept, scale.len())?,
            baselines::baselines(cx, kept, scale)?,
        ),
        _ => (BTreeMap::new(), Vec::new()),
    };
    let person = |a: &AnnotatorScores| {
        let who = index.annotators().get(a.annotator as usize)?;
        Some(RunAnnotator {
            annotator: who.id,
            name: who.name.clone(),
            labels: a.labels as u32,
            accuracy: a.accuracy,
            baseline: baselines.get(&a.annotator).copied().unwrap_or(a.baseline),
            log_loss: a.log_loss,
        })
    };
    let auxiliary = auxiliary_of(kept);
    let mut notes = kept.outcome.notes.clone();
    notes.extend(auxiliary.iter().map(auxiliary_note));
    if let Some(joules) = kept.outcome.energy_joules {
        notes.push(format!("The processor used {:.1} kJ.", joules / 1000.0));
    }
    if let Some(found) = cx.context.self_agreement(kept.choices.question)?
        && report.is_some()
    {
        notes.push(ceiling_note(&found));
    }
    if baselines.is_empty() && report.is_some_and(|report| !report.annotators.is_empty()) {
        notes.push(BASELINE_OF_TEST.to_owned());
    }
    if report.is_some() && kept.outcome.f1_rule.is_none() {
        notes.push(NOT_TUNED.to_owned());
    }
    if let Some(found) = &kept.outcome.together {
        notes.insert(0, options_of_run_together(found, &learned));
    }
    if of_sets {
        notes.push(OF_SETS.to_owned());
    }
    if let RunFolder::Foreign(path, reason) = cx.kept.find_folder(kept) {
        notes.push(format!("The files at {} are not those of this run: {reason}.", path.display()));
    }
    Ok(RunDetail {
        info,
        choices: kept.choices.clone(),
        sizes: kept.outcome.sizes.clone(),
        encoder: kept.outcome.encoder.clone(),
        levels: names.iter().map(|name| (*name).to_owned()).collect(),
        auxiliary,
        classes: report.filter(|_| !of_sets).map(|r| named(&names, &r.classes)).unwrap_or_default(),
        options: report.map(|r| named(&names, &r.options)).unwrap_or_default(),
        confusion: report
            .filter(|_| !of_sets)
            .map(|r| r.confusion.iter().map(|row| row.iter().map(|n| *n as u32).collect()).collect())
            .unwrap_or_default(),
        calibration: report.map(|r| r.calibration.iter().filter_map(bin).collect()).unwrap_or_default(),
        annotators: report.map(|r| r.annotators.iter().filter_map(person).collect()).unwrap_or_default(),
        baselines: of_all,
        words: words_of(kept),
        notes,
    })
}
