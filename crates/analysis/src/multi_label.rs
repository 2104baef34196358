//! Combines the figures of the options of a multi-label question.

use super::Analysis;
use super::aggregation::{Aggregated, AggregatedText};
use super::needs::too_few;
use super::snippet::snippet;
use crate::aggregation;
use crate::predict::{self, RequestedText};
use dissensus_domain::{AnnotatorId, Answer, LevelId, Question, TextId};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_stats::disagreement::{ExpectedMasi, OptionCooccurrence};
use dissensus_training::error::TrainingError;
use serde::Serialize;
use std::collections::HashMap;

/// Maximum number of annotators whose pairs are all compared.
pub(super) const MAX_PAIRED: usize = 300;

/// The probability that an annotator chooses an option.
#[derive(Clone, Debug, Serialize)]
pub struct OptionPrediction {
    pub option: String,
    pub probability: f32,
}

/// A text, ranked by the options on which annotators differ.
#[derive(Clone, Debug, Serialize)]
pub struct TextOptions {
    /// Rank, from 1.
    pub rank: u32,
    /// Its id in files.
    pub text_id: String,
    /// Beginning of the text.
    pub text: String,
    /// The mean over the options of the probability that two annotators differ.
    pub pairwise: f32,
    /// The expected MASI distance of two annotators' sets, all options together; none with more than 300
    /// annotators, whose pairs are too many.
    pub masi: Option<f64>,
    /// The probability that two annotators differ on each option, in the order of the scale.
    pub options: Vec<f32>,
}

/// The aggregated options of a text.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OptionsOfText {
    pub text_id: String,
    /// The aggregated set.
    pub label: String,
    /// Options on which the labels tie; they are left out of `label`.
    pub ties: Vec<String>,
    pub labels: u32,
    /// The probability of each option, in the order of the scale.
    pub probabilities: Vec<f64>,
}

/// The aggregated options of every text.
#[derive(Clone, Debug)]
pub struct AggregatedSets {
    pub texts: Vec<OptionsOfText>,
    /// Options whose estimation stopped at the largest number of rounds, in the order of the scale.
    pub not_converged: Vec<String>,
}

/// The probability that one annotator chooses each option.
///
/// # Errors
/// Those of [`predict::predict`](crate::predict::predict).
pub fn predict(
    cx: &Analysis,
    question: &Question,
    annotator: AnnotatorId,
    text: RequestedText<'_>,
) -> Result<Vec<OptionPrediction>, ProjectError> {
    let one = |(option, name): (Question, &String)| {
        let p = predict::predict(cx, option.id, annotator, text)?.probabilities;
        Ok(OptionPrediction { option: name.clone(), probability: p.get(1).copied().unwrap_or_default() })
    };
    question.options().into_iter().zip(question.scale.levels()).map(one).collect()
}

/// Texts by the mean over a question's options of the probability that two annotators differ, the
/// largest first: `top` of them, and their total number. Labels count where they are given, predictions
/// elsewhere. MASI distances use the correlations between options in `together`, otherwise independent
/// options.
///
/// # Errors
/// The models of the options are not live ([`dissensus_training::live::LiveModels::fit`] makes them so),
/// or the file cannot be read.
pub fn rank(
    cx: &Analysis,
    question: &Question,
    top: usize,
    together: Option<&OptionCooccurrence>,
) -> Result<(Vec<TextOptions>, usize), ProjectError> {
    let not_live = || ProjectError::from(TrainingError::NotEncoded(cx.context.store.path().to_owned()));
    let differ = |d: dissensus_stats::disagreement::Disagreement| d.pairwise;
    let by_option: Vec<Vec<f32>> = cx
        .live
        .of_all(question, |fitted| Some(fitted.model.disagreements().into_iter().map(differ).collect()))?
        .ok_or_else(not_live)?;
    let index = cx.context.index();
    let texts = by_option.iter().map(Vec::len).min().unwrap_or_default().min(index.texts().len());
    let mean = |row: usize| by_option.iter().map(|of| of[row]).sum::<f32>() / by_option.len() as f32;
    let mut rows: Vec<(usize, f32)> = (0..texts).map(|row| (row, mean(row))).collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    rows.truncate(top);
    let shown: Vec<u32> = rows.iter().map(|(row, _)| *row as u32).collect();
    let masi = expected_masi(cx, question, &shown, together)?;
    let shown = rows.iter().enumerate().map(|(at, (row, pairwise))| {
        let id: TextId = index.texts()[*row];
        let text = cx.context.store.text(id)?.ok_or_else(|| ProjectError::NoSuchText(id.0.to_string()))?;
        Ok(TextOptions {
            rank: at as u32 + 1,
            text_id: text.external_id,
            text: snippet(&text.body),
            pairwise: *pairwise,
            masi: masi.get(at).copied().flatten(),
            options: by_option.iter().map(|of| of[*row]).collect(),
        })
    });
    Ok((shown.collect::<Result<_, ProjectError>>()?, texts))
}

/// What is missing before the people of the project can differ on a whole set; `None` if nothing is.
pub fn people_needed(cx: &Analysis) -> Option<String> {
    let people = cx.context.index().annotators().len();
    (people < 2).then(|| too_few(people, 2))
}

/// The expected MASI distance of these texts, over all pairs of annotators; labels count where they are
/// given.
fn expected_masi(
    cx: &Analysis,
    question: &Question,
    texts: &[u32],
    together: Option<&OptionCooccurrence>,
) -> Result<Vec<Option<f64>>, ProjectError> {
    let options = question.scale.len();
    let people = cx.context.index().annotators().len();
    if people > MAX_PAIRED {
        return Ok(Vec::new());
    }
    let yes = |fitted: &mut dissensus_training::live::Fitted| {
        let mut p = [0.0; 2];
        let mut all = Vec::with_capacity(texts.len() * people);
        for text in texts {
            for who in 0..people as u32 {
                fitted.model.predict(*text, who, &mut p);
                all.push(p[1]);
            }
        }
        Some(all)
    };
    let Some(by_option) = cx.live.of_all(question, yes)? else { return Ok(Vec::new()) };
    let index = cx.context.index();
    let masi = ExpectedMasi::new(options)?;
    let mut known = Vec::with_capacity(texts.len());
    for (at, text) in texts.iter().enumerate() {
        let mut p: Vec<f32> = (0..people)
            .flat_map(|who| by_option.iter().map(move |option| option[at * people + who]))
            .collect();
        let labels = cx.context.store.current_labels_on(index.texts()[*text as usize], question.id)?;
        let answered = !labels.is_empty();
        for label in labels {
            let Some(who) = index.annotator_row(label.annotator) else { continue };
            for (option, asked) in question.options().iter().enumerate() {
                let chosen = label.answer.clone().to(asked.id) == Answer::Level(LevelId::YES);
                p[who as usize * options + option] = f32::from(u8::from(chosen));
            }
        }
        known.push((p, answered));
    }
    let mean = |(p, answered): &(Vec<f32>, bool)| {
        together.map_or_else(|| masi.mean(p), |together| together.mean(p, *answered))
    };
    Ok(known.iter().map(mean).collect())
}

/// Aggregates the labels of every text option by option, as
/// [`aggregation::aggregate_labels`](crate::aggregation::aggregate_labels) does for a yes/no question.
pub fn aggregate(
    cx: &Analysis,
    question: &Question,
    method: &str,
    progress: &dyn Progress,
) -> Result<AggregatedSets, ProjectError> {
    let options = question.options();
    let found = options.iter().map(|option| aggregation::aggregate_labels(cx, option.id, method, progress));
    let found: Vec<Aggregated> = found.collect::<Result<_, _>>()?;
    let names = question.scale.levels();
    let stopped = names.iter().zip(&found).filter(|(_, option)| option.converged == Some(false));
    let not_converged = stopped.map(|(name, _)| name.clone()).collect();
    let Some(first) = found.first() else {
        return Ok(AggregatedSets { texts: Vec::new(), not_converged });
    };
    // By name: labels may be recorded between the options, and then one has texts that another has not.
    let by_name: Vec<HashMap<&str, &AggregatedText>> = found
        .iter()
        .map(|option| option.texts.iter().map(|text| (text.text_id.as_str(), text)).collect())
        .collect();
    let text = |one: &AggregatedText| {
        let found: Vec<&AggregatedText> =
            by_name.iter().map(|option| option.get(one.text_id.as_str()).copied()).collect::<Option<_>>()?;
        let of_text = || names.iter().zip(found.iter().copied());
        let is_yes = |label: &str| label == "yes";
        let chosen = of_text().filter(|(_, text)| is_yes(&text.label) && !text.tie);
        let chosen: Vec<&str> = chosen.map(|(name, _)| name.as_str()).collect();
        Some(OptionsOfText {
            text_id: one.text_id.clone(),
            label: if chosen.is_empty() { "none".to_owned() } else { chosen.join(" + ") },
            ties: of_text().filter(|(_, text)| text.tie).map(|(name, _)| name.clone()).collect(),
            labels: one.labels,
            probabilities: of_text()
                .map(|(_, text)| text.probabilities.get(1).copied().unwrap_or_default())
                .collect(),
        })
    };
    Ok(AggregatedSets { texts: first.texts.iter().filter_map(text).collect(), not_converged })
}
