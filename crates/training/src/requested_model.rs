//! A live model that predicts the texts of a file one after the other, without retaining them.

use crate::encoding::EncodedText;
use dissensus_models::live::LiveModel;
use dissensus_project::error::ProjectError;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_stats::disagreement::{Disagreement, disagreement_of_texts};

/// Minimum number of texts of another file that are predicted before the model drops them.
const TEXTS_AT_ONCE: usize = 1024;

/// Predictions and answers for one option of a text.
pub struct OptionAnswers {
    /// The predicted probability that each of the people chooses it, regardless of given answers.
    pub yes: Vec<f32>,
    /// Their given answers to this text.
    pub(crate) given: Vec<Option<bool>>,
    /// Probability that two of them differ on it; given answers count as they are.
    pub differ: f32,
}

impl OptionAnswers {
    /// The probability that a person's answer includes it: 0 or 1 if the answer was given.
    fn known(&self, who: usize) -> f32 {
        self.given[who].map_or(self.yes[who], |given| f32::from(u8::from(given)))
    }
}

/// The probabilities of these people (people x options) that their answers include each option, 0 or 1 if
/// they answered the text.
pub fn known(options: &[OptionAnswers], who: &[usize]) -> Vec<f32> {
    who.iter().flat_map(|who| options.iter().map(move |option| option.known(*who))).collect()
}

/// A model, and the annotators whose answers it predicts.
pub struct RequestedModel {
    model: LiveModel,
    /// The number of its own texts, and the serialized model with only these, once others were added.
    known: usize,
    kept: Option<Vec<u8>>,
    /// Rows of the annotators.
    people: Vec<u32>,
    /// Mask over the annotators, if not all are included.
    mask: Option<Vec<bool>>,
}

impl RequestedModel {
    /// Predicts for these annotators of the model, or for all.
    pub fn new(model: LiveModel, people: Vec<u32>, everybody: bool) -> Self {
        let mask =
            (!everybody).then(|| (0..model.annotators() as u32).map(|row| people.contains(&row)).collect());
        Self { known: model.texts(), kept: None, people, mask, model }
    }

    pub fn model(&self) -> &LiveModel {
        &self.model
    }

    /// Adds a text and returns its row, which is valid until it is replaced by others.
    pub fn add(&mut self, text: &EncodedText) -> Result<u32, ProjectError> {
        match &self.kept {
            None => self.kept = Some(self.model.to_bytes()?),
            Some(kept) if self.model.texts() >= self.known + TEXTS_AT_ONCE.max(self.known) => {
                self.model = LiveModel::from_bytes(kept)?;
            }
            Some(_) => {}
        }
        Ok(self.model.add_text(text.features())?)
    }

    /// Predicted answers to the text in this row, people x levels, and how much they would disagree.
    pub(crate) fn ask(&self, row: u32) -> (Vec<f32>, Disagreement) {
        let (model, at) = (&self.model, row as usize);
        let measures = match &self.mask {
            None => model.disagreement(row),
            Some(mask) => {
                disagreement_of_texts(model, at..at + 1, Some(mask), model.is_ordinal()).swap_remove(0)
            }
        };
        let pairs: Vec<(u32, u32)> = self.people.iter().map(|who| (row, *who)).collect();
        let mut p = vec![0.0; pairs.len() * model.levels()];
        model.predict_pairs(&pairs, &mut p);
        (p, measures)
    }

    /// Predictions and given answers for the text in this row, by the model of an option.
    pub fn option_answers(&self, row: u32) -> OptionAnswers {
        let (p, measures) = self.ask(row);
        OptionAnswers {
            yes: p.chunks_exact(2).map(|p| p[1]).collect(),
            given: self
                .people
                .iter()
                .map(|who| self.model.label(row, *who).map(|level| level == 1))
                .collect(),
            differ: measures.pairwise,
        }
    }

    /// Whether this exact text has labels.
    pub fn is_answered(&self, row: u32) -> bool {
        self.model.labels_on(row, None) > 0
    }
}
