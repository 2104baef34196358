//! `bundle.json`: the contents of a bundle, and how its parts belong together.

use crate::bundle_folder::BUNDLE;
use crate::error::AnalysisError;
use dissensus_domain::{OptionSet, QuestionHelp, ScaleKind};
use dissensus_encoder::{
    EncoderOptions, EncoderVersion, LongTexts, Pooling, Precision, PrecisionChoice, Prompt,
};
use dissensus_models::live::LiveModel;
use dissensus_project::error::ProjectError;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_stats::disagreement::FactorsOf;
use dissensus_stats::options::OptionFactors;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The formats that can be read; raised when the meaning of the manifest or of its files changes. A bundle
/// is written in the first format that can express its content, so that earlier programs can read it too: 2
/// is used for models of words, since annotators have more effects on these than readiness.
const FORMATS: std::ops::RangeInclusive<u32> = 1..=2;
/// Maximum size of a manifest, which only names annotators and levels.
const LARGEST: u64 = 64 << 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) format: u32,
    /// The program that made it, and its version.
    pub(super) program: String,
    /// When, in UTC.
    pub(super) made_at: String,
    /// Whether annotators have pseudonyms (A1, A2, ...; in earlier bundles numbers) in place of their ids.
    pub(super) anonymous: bool,
    /// The project's notice for simulated annotators.
    pub(super) notice: Option<String>,
    pub(super) encoders: Vec<BundledEncoder>,
    pub(super) questions: Vec<BundledQuestion>,
    /// Models of the words of questions with spans; absent in earlier bundles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) words: Vec<BundledWords>,
    /// Multi-label questions that are predicted as a whole; absent in earlier bundles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) sets: Vec<BundledSets>,
}

/// An encoder in its own folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BundledEncoder {
    pub(super) folder: String,
    /// Key of its version in the project.
    pub(super) version: String,
    pub(super) dim: usize,
    pooling: Pooling,
    max_tokens: usize,
    precision: Precision,
    long_texts: LongTexts,
    prompt: Option<String>,
}

impl BundledEncoder {
    pub(super) fn new(folder: String, version: &EncoderVersion) -> Self {
        Self {
            folder,
            version: version.key(),
            dim: version.dim,
            pooling: version.pooling,
            max_tokens: version.max_tokens,
            precision: version.precision,
            long_texts: version.long_texts,
            prompt: version.prompt.clone(),
        }
    }

    /// The options with which opening its folder gives the same embeddings.
    pub(super) fn options(&self) -> EncoderOptions {
        EncoderOptions {
            pooling: Some(self.pooling),
            max_tokens: Some(self.max_tokens),
            precision: PrecisionChoice::Exactly(self.precision),
            long_texts: self.long_texts,
            prompt: Prompt::Text(self.prompt.clone().unwrap_or_default()),
            ..EncoderOptions::default()
        }
    }
}

/// A question and the model that predicts its answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BundledQuestion {
    pub(super) name: String,
    /// The prompt that annotators read; absent in earlier bundles.
    #[serde(default)]
    pub(super) prompt: String,
    /// The help text shown with it.
    #[serde(default)]
    pub(super) help: QuestionHelp,
    pub(super) scale: ScaleKind,
    pub(super) levels: Vec<String>,
    /// What each level means, in their order; fewer if some have no definition.
    #[serde(default)]
    pub(super) definitions: Vec<String>,
    pub(super) model: String,
    /// The run of the model; `None` for the live one.
    pub(super) run: Option<u32>,
    /// The file with the head and the annotators' effects.
    pub(super) head: String,
    /// Index of its encoder.
    pub(super) encoder: usize,
    /// Number of labels that the model has learned from.
    pub(super) labels: usize,
    /// All annotators, in the order of the model's rows.
    pub(super) annotators: Vec<BundledAnnotator>,
    /// Number of labelled texts whose embeddings are in the head.
    pub(super) embeddings_held: usize,
    pub(super) reads_ngrams: bool,
    pub(super) held_out: HeldOutFigures,
}

/// A question with spans and the model of the words that are marked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BundledWords {
    pub(super) name: String,
    pub(super) types: Vec<String>,
    pub(super) model: String,
    /// The run of the heads; `None` for those fitted on the project's answers.
    pub(super) run: Option<u32>,
    /// The file with heads, effects of words and annotators' own effects.
    pub(super) file: String,
    /// Index of its encoder.
    pub(super) encoder: usize,
    /// Answers that the heads were fitted on.
    pub(super) answers: u32,
    /// Number of words with an effect of their own.
    pub(super) forms: usize,
    /// All annotators, in the order of the model.
    pub(super) annotators: Vec<BundledAnnotator>,
    pub(super) held_out: HeldOutFigures,
}

/// A multi-label question as a whole: the questions of its options, and their correlations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BundledSets {
    pub(super) name: String,
    pub(super) options: Vec<String>,
    /// Indices of the questions of the options, in their order.
    pub(super) questions: Vec<usize>,
    /// The factors that the options of an answer share.
    pub(super) factors: OptionFactors,
    /// Whether factors in distances of people are per person or per text; if missing, options are
    /// independent there.
    pub(super) distances: Option<FactorsOf>,
    /// The factors and distances in words.
    pub(super) together: String,
}

/// An annotator whose answers are predicted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BundledAnnotator {
    pub(super) id: String,
    /// Whether the model has learned from labels of this annotator.
    pub(super) has_labels: bool,
}

/// Figures on labels that the model has not learned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct HeldOutFigures {
    /// What was held out, in a sentence.
    pub(super) of: String,
    /// Number of labels that were scored.
    pub(super) labels: usize,
    pub(super) figures: Vec<HeldOutFigure>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct HeldOutFigure {
    pub(super) name: String,
    pub(super) value: f64,
}

impl Manifest {
    /// The format of a bundle with so many models of words.
    pub(super) fn format_of(words: usize) -> u32 {
        if words == 0 { *FORMATS.start() } else { *FORMATS.end() }
    }

    /// Reads and checks the manifest of the bundle `dir`, whose files are `files`.
    pub(super) fn read(dir: &Path, files: &[String]) -> Result<Self, ProjectError> {
        let refused =
            |reason: String| ProjectError::from(AnalysisError::Bundle { path: dir.to_owned(), reason });
        let path = dir.join(BUNDLE);
        let io = |source| ProjectError::Io { path: path.clone(), doing: "reading", source };
        if std::fs::metadata(&path).map_err(io)?.len() > LARGEST {
            return Err(refused(format!("{BUNDLE} is larger than any that this program writes")));
        }
        let damaged = |e: serde_json::Error| refused(format!("{BUNDLE} cannot be read: {e}"));
        let read: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).map_err(io)?).map_err(damaged)?;
        match read.get("format").and_then(serde_json::Value::as_u64) {
            Some(format) if u32::try_from(format).is_ok_and(|format| FORMATS.contains(&format)) => {}
            Some(format) => {
                let words = format!(
                    "its format is {format} and this program reads {} to {}: use the version that made it, or make it anew",
                    FORMATS.start(),
                    FORMATS.end()
                );
                return Err(refused(words));
            }
            None => return Err(refused(format!("{BUNDLE} does not say its format"))),
        }
        let manifest: Self = serde_json::from_value(read).map_err(damaged)?;
        let has = |file: &String| files.contains(file);
        let encoders = manifest.encoders.iter().all(|e| has(&format!("{}/config.json", e.folder)));
        let questions =
            manifest.questions.iter().all(|q| has(&q.head) && q.encoder < manifest.encoders.len());
        let words = manifest.words.iter().all(|w| has(&w.file) && w.encoder < manifest.encoders.len());
        if manifest.questions.is_empty() || !encoders || !questions || !words {
            return Err(refused(format!("{BUNDLE} names files that it does not have")));
        }
        if let Some(sets) = manifest.sets.iter().find(|sets| !sets.fits(&manifest.questions)) {
            return Err(refused(format!(
                "{BUNDLE} tells of options of \"{}\" that do not fit its questions",
                sets.name
            )));
        }
        Ok(manifest)
    }
}

impl BundledQuestion {
    /// Its model, from the bundle `dir`.
    pub(super) fn model(&self, dir: &Path) -> Result<LiveModel, ProjectError> {
        let path = dir.join(&self.head);
        let read = std::fs::read(&path);
        let bytes = read.map_err(|source| ProjectError::Io { path, doing: "reading", source })?;
        let refused = |reason| {
            ProjectError::from(AnalysisError::Bundle {
                path: dir.to_owned(),
                reason: format!("{}: {reason}", self.head),
            })
        };
        let model = LiveModel::from_bytes(&bytes).map_err(|error| refused(error.to_string()))?;
        if model.levels() != self.levels.len() || model.annotators() != self.annotators.len() {
            return Err(refused(format!("it is not the model of \"{}\" that {BUNDLE} tells of", self.name)));
        }
        Ok(model)
    }
}

/// Whether the questions at these indices can be predicted together: with one encoder and the same people.
pub(super) fn are_one(places: &[usize], questions: &[BundledQuestion]) -> bool {
    let of = |at: &usize| questions.get(*at);
    let first = places.first().and_then(of);
    places.iter().all(|at| match (first, of(at)) {
        (Some(first), Some(one)) => {
            (one.encoder, one.levels.len()) == (first.encoder, 2) && one.annotators == first.annotators
        }
        _ => false,
    })
}

impl BundledSets {
    /// Whether it is consistent with the questions of its bundle.
    fn fits(&self, questions: &[BundledQuestion]) -> bool {
        (1..=usize::from(OptionSet::MAX)).contains(&self.options.len())
            && self.questions.len() == self.options.len()
            && self.factors.options() == self.options.len()
            && self.factors.is_sound()
            && are_one(&self.questions, questions)
    }
}
