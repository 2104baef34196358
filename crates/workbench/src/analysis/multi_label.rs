//! A multi-label question as a whole: what is told of each of its options, side by side.

use super::Analysis;
use super::aggregation::{Aggregated, AggregatedText};
use super::agreement::Agreement;
use super::snippet::snippet;
use crate::encoding::EncodedText;
use crate::error::WorkbenchError;
use crate::jobs::Progress;
use dissensus_domain::{AnnotatorId, Question, QuestionId, TextId};
use serde::Serialize;
use std::collections::HashMap;

/// How likely an annotator chooses an option.
#[derive(Clone, Debug, Serialize)]
pub struct OptionPrediction {
    /// The option.
    pub option: String,
    /// The probability.
    pub probability: f32,
}

/// A text by the options that annotators differ on.
#[derive(Clone, Debug, Serialize)]
pub struct TextOptions {
    /// Place, from 1.
    pub rank: u32,
    /// Its name in files.
    pub text_id: String,
    /// How it begins.
    pub text: String,
    /// The mean over the options of the chance that two annotators differ on one.
    pub pairwise: f32,
    /// That chance of each option, in the order of the scale.
    pub options: Vec<f32>,
}

/// Agreement on the options of a question.
#[derive(Clone, Debug, Serialize)]
pub struct OptionAgreements {
    /// The question.
    pub question: String,
    /// The mean of Krippendorff's alpha over the options where it is defined; none where it is of no option.
    pub mean_alpha: Option<f64>,
    /// Each option.
    pub options: Vec<OptionAgreement>,
}

/// Agreement on an option.
#[derive(Clone, Debug, Serialize)]
pub struct OptionAgreement {
    /// The option.
    pub option: String,
    /// Share of the labels that have it; none without labels.
    pub chosen: Option<f64>,
    /// Its figures, as of a yes/no question.
    #[serde(flatten)]
    pub agreement: Agreement,
}

/// The options that the labels of a text come to.
#[derive(Clone, Debug, Serialize)]
pub struct OptionsOfText {
    /// The text.
    pub text_id: String,
    /// The options that it gets.
    pub label: String,
    /// Options on which the labels tie; they are left out of `label`.
    pub ties: Vec<String>,
    /// Labels.
    pub labels: u32,
    /// The probability of each option, in the order of the scale.
    pub probabilities: Vec<f64>,
}

impl Analysis {
    /// How likely one annotator chooses each option, of a text of the project.
    ///
    /// # Errors
    /// As [`Analysis::predict_text`].
    pub fn predict_options(
        &self,
        question: &Question,
        annotator: AnnotatorId,
        text: &str,
    ) -> Result<Vec<OptionPrediction>, WorkbenchError> {
        self.of_options(question, |option| self.predict_text(option, annotator, text))
    }

    /// How likely one annotator chooses each option, of any text.
    ///
    /// # Errors
    /// As [`Analysis::predict_new_text`].
    pub fn predict_options_of_new_text(
        &self,
        question: &Question,
        annotator: AnnotatorId,
        text: &EncodedText,
    ) -> Result<Vec<OptionPrediction>, WorkbenchError> {
        self.of_options(question, |option| self.predict_new_text(option, annotator, text))
    }

    fn of_options(
        &self,
        question: &Question,
        predict: impl Fn(QuestionId) -> Result<Vec<f32>, WorkbenchError>,
    ) -> Result<Vec<OptionPrediction>, WorkbenchError> {
        let one = |(option, name): (Question, &String)| {
            let p = predict(option.id)?;
            Ok(OptionPrediction { option: name.clone(), probability: p.get(1).copied().unwrap_or_default() })
        };
        question.options().into_iter().zip(question.scale.levels()).map(one).collect()
    }

    /// Texts by the mean over a question's options of the chance that two annotators differ on one, the largest first: `top` of them, and
    /// how many there are. Labels count where they are given, predictions elsewhere.
    ///
    /// # Errors
    /// The models of the options are not live ([`crate::LiveModels::fit`] makes them so), or the file cannot be read.
    pub fn texts_by_options(
        &self,
        question: &Question,
        top: usize,
    ) -> Result<(Vec<TextOptions>, usize), WorkbenchError> {
        let not_live = || WorkbenchError::NotEncoded(self.context.store.path().to_owned());
        let differ = |d: dissensus_perspectives::Disagreement| d.pairwise;
        let by_option: Vec<Vec<f32>> = self
            .live
            .of_all(question.id, |fitted| {
                Some(fitted.model.disagreements().into_iter().map(differ).collect())
            })
            .ok_or_else(not_live)?;
        let index = self.context.index();
        let texts = by_option.iter().map(Vec::len).min().unwrap_or_default().min(index.texts().len());
        let mean = |row: usize| by_option.iter().map(|of| of[row]).sum::<f32>() / by_option.len() as f32;
        let mut rows: Vec<(usize, f32)> = (0..texts).map(|row| (row, mean(row))).collect();
        rows.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let shown = rows.iter().take(top).enumerate().map(|(at, (row, pairwise))| {
            let id: TextId = index.texts()[*row];
            let text =
                self.context.store.text(id)?.ok_or_else(|| WorkbenchError::NoSuchText(id.0.to_string()))?;
            Ok(TextOptions {
                rank: at as u32 + 1,
                text_id: text.external_id,
                text: snippet(&text.body),
                pairwise: *pairwise,
                options: by_option.iter().map(|of| of[*row]).collect(),
            })
        });
        Ok((shown.collect::<Result<_, WorkbenchError>>()?, texts))
    }

    /// How much annotators agree on each option.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn option_agreements(&self, question: &Question) -> Result<OptionAgreements, WorkbenchError> {
        let mut options = Vec::new();
        for (option, name) in question.options().iter().zip(question.scale.levels()) {
            let labels = self.context.observations(option.id)?;
            let chosen = labels.iter().filter(|label| label.level == 1).count();
            options.push(OptionAgreement {
                option: name.clone(),
                chosen: (!labels.is_empty()).then(|| chosen as f64 / labels.len() as f64),
                agreement: self.agreement(option.id)?,
            });
        }
        let alphas: Vec<f64> = options.iter().filter_map(|option| option.agreement.alpha).collect();
        let mean_alpha = (!alphas.is_empty()).then(|| alphas.iter().sum::<f64>() / alphas.len() as f64);
        Ok(OptionAgreements { question: question.name.clone(), mean_alpha, options })
    }

    /// The labels of every text brought together option by option, as [`Analysis::aggregate`] does of a yes/no question.
    ///
    /// # Errors
    /// As there.
    pub fn aggregate_options(
        &self,
        question: &Question,
        method: &str,
        progress: &dyn Progress,
    ) -> Result<Vec<OptionsOfText>, WorkbenchError> {
        let options = question.options();
        let found = options.iter().map(|option| self.aggregate(option.id, method, progress));
        let found: Vec<Aggregated> = found.collect::<Result<_, _>>()?;
        let names = question.scale.levels();
        let Some(first) = found.first() else { return Ok(Vec::new()) };
        // By name: somebody may label between the options, and then one has texts that another has not.
        let by_name: Vec<HashMap<&str, &AggregatedText>> = found
            .iter()
            .map(|option| option.texts.iter().map(|text| (text.text_id.as_str(), text)).collect())
            .collect();
        let text = |one: &AggregatedText| {
            let found: Vec<&AggregatedText> = by_name
                .iter()
                .map(|option| option.get(one.text_id.as_str()).copied())
                .collect::<Option<_>>()?;
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
        Ok(first.texts.iter().filter_map(text).collect())
    }
}
