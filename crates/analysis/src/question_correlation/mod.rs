//! Correlation between questions: predicted scores of one with those of another, over all texts.
//!
//! The prediction of a text whose labels the model has learned contains these labels, and if the same people
//! answered both questions, also what those answers have in common by the circumstances of that day. So the
//! headline figure is held out: labelled texts are scored in folds, the same for all questions, by models
//! that learned from no label of the text, of its group or of a copy, under any question; texts without
//! labels are scored by the models of all labels. If the same texts were labelled for both questions, chance
//! similarities of the labels of other texts influence the models of both questions alike; this is not
//! corrected. Correlations are within folds (see `stats::metrics::score_correlation` for the reason).

mod job;
mod run_scores;
mod scores;

pub use job::{last_result, points, start};

use super::Analysis;
use super::correlated_scores::{Column, CorrelationResult, ScoredTexts};
use dissensus_api::{
    CorrelationChoice, CorrelationFigure, CorrelationFigures, QuestionCorrelation, ScorePair, ScoredQuestion,
};
use dissensus_domain::{Question, TargetKind};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::words::counted;
use dissensus_stats::metrics::{
    BootstrapOptions, Correlation, MIN_CLUSTERS, ScoreCorrelation, ScorePairs, score_correlation,
};
use dissensus_training::error::TrainingError;
use scores::columns;
use std::collections::BTreeSet;

/// Number of resamples for an interval: a matrix of many questions has hundreds of them.
const RESAMPLES: usize = 400;

/// Correlates predicted scores of questions with one another: Pearson's and Spearman's correlation of
/// the mean predictions over all annotators, over all texts, including those with labels of only one
/// question or of none. Each option of a question, and each level of a choice question, counts as a
/// question.
///
/// # Errors
/// Fewer than two scores, a named question without labels, a run that has not finished, the file cannot
/// be read, cancellation.
pub fn correlate(
    cx: &Analysis,
    choice: &CorrelationChoice,
    progress: &dyn Progress,
) -> Result<QuestionCorrelation, ProjectError> {
    Ok(correlated(cx, choice, progress)?.shown)
}

fn correlated(
    cx: &Analysis,
    choice: &CorrelationChoice,
    progress: &dyn Progress,
) -> Result<CorrelationResult, ProjectError> {
    // Before the labels: a label that is recorded while they are read had better be counted as new than
    // be missed.
    let revision = cx.live.models.revision();
    let (texts, mut notes) = match choice.runs.as_slice() {
        [] => {
            let (questions, notes) = questions_to_correlate(cx, choice)?;
            (scores::live_scores(cx, &questions, progress)?, notes)
        }
        runs => (run_scores::run_scores(cx, runs, progress)?, Vec::new()),
    };
    let columns: Vec<Column> =
        texts.scored.iter().enumerate().flat_map(|(of, scored)| columns(of, scored)).collect();
    let kept: Vec<usize> = rows(&texts);
    let count = |marked: &[bool]| kept.iter().filter(|row| marked[**row]).count() as u32;
    let taught_encoder = count(&texts.taught_encoder);
    match taught_encoder {
        0 => {}
        1 => notes.push("1 text taught the encoder and is in no held-out figure.".to_owned()),
        texts => notes.push(format!("{texts} texts taught the encoder and are in no held-out figure.")),
    }
    notes.extend(too_few_groups(&texts, &kept));
    let scores = columns.iter().map(|column| {
        let scored = &texts.scored[column.of];
        ScoredQuestion {
            question: scored.question.id,
            name: column.name.clone(),
            score: column.score.clone(),
            range: column.range,
            run: scored.run,
            learned: count(&scored.learned),
        }
    });
    let scores = scores.collect();
    let mut pairs = Vec::new();
    let all = columns.len() * (columns.len() - 1) / 2;
    for a in 0..columns.len() {
        for b in a + 1..columns.len() {
            progress.report(pairs.len() as u64, Some(all as u64), "pairs of questions");
            pairs.push(pair(&texts, &columns, (a, b), &kept, progress)?);
        }
    }
    let ids = cx.context.index().texts()[..texts.first_with_body.len()].to_vec();
    let shown = QuestionCorrelation {
        choice: choice.clone(),
        scores,
        pairs,
        texts: kept.len() as u32,
        copies: (texts.first_with_body.len() - kept.len()) as u32,
        taught_encoder,
        annotators: texts.annotators as u32,
        folds: texts.folds.map(u32::from),
        notes,
        revision,
        stale: false,
    };
    Ok(CorrelationResult { shown, columns, texts, ids })
}

/// The data of the chosen questions, and texts that are left out for all of them.
fn questions_to_correlate(
    cx: &Analysis,
    choice: &CorrelationChoice,
) -> Result<(Vec<Question>, Vec<String>), ProjectError> {
    let index = cx.context.index();
    let named = !choice.questions.is_empty();
    let asked: Vec<Question> = match named {
        true => {
            let of = |id| index.question(id).cloned().ok_or(ProjectError::NoQuestion);
            choice.questions.iter().map(|id| of(*id)).collect::<Result<_, _>>()?
        }
        false => index.questions().to_vec(),
    };
    let (mut found, mut without): (Vec<Question>, Vec<String>) = (Vec::new(), Vec::new());
    for question in asked {
        if cx.context.store.current_labels(question.id)?.is_empty() {
            match named {
                true => return Err(ProjectError::NoLabels(question.name)),
                false => without.push(format!("{} has no labels and is left out.", question.name)),
            }
            continue;
        }
        let options = question.options();
        let learned = if options.is_empty() { vec![question] } else { options };
        // A question named both by itself and through its whole question counts once.
        let new = learned.into_iter().filter(|one| !found.iter().any(|known| known.id == one.id));
        found.extend(new.collect::<Vec<_>>());
    }
    let scores = |question: &Question| match question.scale.target() {
        TargetKind::Nominal => question.scale.len(),
        TargetKind::Binary | TargetKind::Ordinal => 1,
    };
    match found.iter().map(scores).sum::<usize>() {
        0 | 1 => Err(TrainingError::NotCorrelated(
            "it takes two questions with labels, or one with options. Add a question, or label more"
                .to_owned(),
        )
        .into()),
        _ => Ok((found, without)),
    }
}

/// Passes on cancellation, but not the steps of one pair.
struct CancelOnly<'a>(&'a dyn Progress);

impl Progress for CancelOnly<'_> {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {}
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

/// Rows of texts that are the first with their body.
fn rows(texts: &ScoredTexts) -> Vec<usize> {
    (0..texts.first_with_body.len()).filter(|row| texts.first_with_body[*row] as usize == *row).collect()
}

/// Why there are no intervals, if texts are so dependent that they form few groups.
fn too_few_groups(texts: &ScoredTexts, kept: &[usize]) -> Option<String> {
    let groups: BTreeSet<u32> = kept.iter().map(|row| texts.clusters[*row]).collect();
    (groups.len() < MIN_CLUSTERS && kept.len() >= MIN_CLUSTERS).then(|| {
        format!(
            "Texts of one group are not independent: intervals take {MIN_CLUSTERS} of them, and these texts form {}.",
            counted(groups.len() as u64, "group")
        )
    })
}

/// Whether both scores of a text are by models that learned nothing from its labels.
fn is_held_out(texts: &ScoredTexts, (x, y): (&Column, &Column), row: usize) -> bool {
    !texts.taught_encoder[row] && x.held_out[row].is_finite() && y.held_out[row].is_finite()
}

fn pair(
    texts: &ScoredTexts,
    columns: &[Column],
    (a, b): (usize, usize),
    kept: &[usize],
    progress: &dyn Progress,
) -> Result<ScorePair, ProjectError> {
    let (x, y) = (&columns[a], &columns[b]);
    let learned = [x, y].map(|column| &texts.scored[column.of].learned);
    let mut counts = [0u32; 4];
    kept.iter()
        .for_each(|row| counts[usize::from(learned[0][*row]) + 2 * usize::from(learned[1][*row])] += 1);
    let held_out: Vec<usize> = kept.iter().copied().filter(|row| is_held_out(texts, (x, y), *row)).collect();
    let unlabelled: Vec<usize> =
        held_out.iter().copied().filter(|row| !learned[0][*row] && !learned[1][*row]).collect();
    let both = |row: &&usize| x.as_learned[**row].is_finite() && y.as_learned[**row].is_finite();
    let scored: Vec<usize> = kept.iter().filter(both).copied().collect();
    let one_stratum = vec![0; texts.strata.len()];
    let of = |rows: &[usize], of: (&[f64], &[f64]), strata: &[u16], options: Option<&BootstrapOptions>| {
        let pick = |values: &[f64]| rows.iter().map(|row| values[*row]).collect::<Vec<_>>();
        let pairs = ScorePairs {
            x: &pick(of.0),
            y: &pick(of.1),
            strata: &rows.iter().map(|row| strata[*row]).collect::<Vec<_>>(),
            clusters: &rows.iter().map(|row| texts.clusters[*row]).collect::<Vec<_>>(),
        };
        score_correlation(&pairs, options, &CancelOnly(progress)).map(shown)
    };
    let options = BootstrapOptions { resamples: RESAMPLES, ..BootstrapOptions::default() };
    let apart = (x.held_out.as_slice(), y.held_out.as_slice());
    Ok(ScorePair {
        a: a as u32,
        b: b as u32,
        learned: (counts[3], counts[1], counts[2], counts[0]),
        held_out: of(&held_out, apart, &texts.strata, Some(&options))?,
        unlabelled: of(&unlabelled, apart, &texts.strata, Some(&options))?,
        as_learned: of(&scored, (&x.as_learned, &y.as_learned), &one_stratum, None)?,
    })
}

fn shown(found: ScoreCorrelation) -> CorrelationFigures {
    let figure = |of: Correlation| CorrelationFigure { value: of.value, interval: of.interval };
    CorrelationFigures {
        texts: found.texts as u32,
        pearson: found.pearson.map(figure),
        spearman: found.spearman.map(figure),
    }
}
