//! Errors in the input of models, measures and evaluations.

/// Error of a model, a measure or an evaluation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The matrix of embeddings does not have whole rows.
    #[error(
        "the embeddings hold {values} numbers, which is not a whole number of rows of {dim}: pass texts x dim values"
    )]
    RaggedEmbeddings {
        values: usize,
        /// Expected length of a row.
        dim: usize,
    },
    /// An embedding holds NaN or an infinity.
    #[error("the embedding of text {text} is not finite at column {column}: encode this text again")]
    NotFinite {
        /// Row of the embeddings.
        text: usize,
        /// Column of the embeddings.
        column: usize,
    },
    /// An embedding differs in length from those of the model.
    #[error(
        "an embedding of {found} numbers was given to a model of {expected}: was it made by another encoder?"
    )]
    EmbeddingLength {
        /// Length the model was trained with.
        expected: usize,
        found: usize,
    },
    /// A sparse row with columns that are not ascending, or with a value that is not finite.
    #[error("the n-grams of text {text} are no sparse row: columns must ascend and values be finite")]
    SparseRow {
        /// Row of the text.
        text: usize,
    },
    /// An observation names a text without an embedding row.
    #[error("observation {observation} names text {text}, and there are {texts} texts")]
    UnknownText {
        /// Position among the observations.
        observation: usize,
        text: u32,
        texts: usize,
    },
    /// An observation names an annotator that is out of range.
    #[error("observation {observation} names annotator {annotator}, and there are {annotators} annotators")]
    UnknownAnnotator {
        /// Position among the observations.
        observation: usize,
        annotator: u32,
        annotators: usize,
    },
    /// An observation's level is not on the scale.
    #[error("observation {observation} has level {level}, and the scale has {levels} levels counted from 0")]
    UnknownLevel {
        /// Position among the observations.
        observation: usize,
        level: u16,
        levels: usize,
    },
    /// An annotator has a value of an attribute that was not listed.
    #[error("value {value} of the attribute \"{attribute}\" is not one of its {values} values")]
    UnknownValue {
        /// The attribute's name.
        attribute: String,
        /// The value, counted from 0.
        value: u16,
        values: usize,
    },
    /// Too few texts remain that the tuned encoder has not seen.
    #[error(
        "the encoder in use was tuned on the labels of this project, and of the texts that {split} scores only {unseen} were \
         not among them ({needed} are needed): use the split that the encoder was tuned on, label more texts, or go back to an \
         encoder that was not tuned here"
    )]
    SeenByEncoder {
        split: String,
        /// Number of texts that could be scored.
        unseen: usize,
        /// Number of texts needed.
        needed: usize,
    },
    /// The same annotator labelled the same text twice.
    #[error("annotator {annotator} has two labels on text {text}: pass only the current one")]
    Repeated {
        /// Row of the text.
        text: u32,
        annotator: u32,
    },
    /// The label to remove does not exist.
    #[error("annotator {annotator} has no label on text {text}, so there is nothing to take back")]
    NoSuchLabel {
        /// Row of the text.
        text: u32,
        annotator: u32,
    },
    /// A number of levels that is invalid for the kind of the scale.
    #[error("a {kind} question cannot have {levels} levels: give at least two, and exactly two for binary")]
    Levels {
        kind: dissensus_domain::ScaleKind,
        /// Number of levels that was given.
        levels: usize,
    },
    /// `at_least` does not divide this scale into two classes.
    #[error("\"at least level {level}\" (counted from 0) makes no two classes here: it needs an ordinal question, and a level from 1 to {max}", max = levels.saturating_sub(1))]
    AtLeast {
        level: u16,
        /// Number of levels of the scale.
        levels: usize,
    },
    /// A split with an empty side.
    #[error("the split {split} leaves no labelled text to {side}: use another share or another column")]
    EmptySplit {
        /// The requested split.
        split: String,
        /// `train` or `score`.
        side: &'static str,
    },
    /// An impossible division into folds.
    #[error(
        "fold {fold} of {folds} cannot be scored with {texts} labelled texts: ask for 2 folds or more, and no more than texts"
    )]
    Folds {
        folds: u8,
        /// The requested fold, from 1.
        fold: u8,
        /// Number of labelled texts.
        texts: usize,
    },
    /// Invalid numbers of folds.
    #[error(
        "the split {0} cannot be: it takes 2 to 255 folds, and one of them counted from 1 (for example k-fold:5/1)"
    )]
    FoldNumber(String),
    /// All folds in turn where a single division is needed.
    #[error(
        "k-fold:{0} is every fold in turn, and this takes one: write k-fold:{0}/1, or score all of them together with `models evaluate`"
    )]
    EachFold(u8),
    /// An attempt to read test labels again.
    #[error("the test labels were scored for \"{0}\" already: what is chosen by them is no test any more")]
    TestRead(String),
    /// A share that is not inside (0, 1).
    #[error("a share of {0} cannot split texts: give a number between 0 and 1, for example 0.7")]
    Share(f64),
    /// An unknown name of a split, model or measure.
    #[error("unknown {what} \"{name}\": use {known}")]
    UnknownName {
        /// The kind of name.
        what: &'static str,
        name: String,
        /// The valid names.
        known: String,
    },
    /// Two corresponding arrays differ in length.
    #[error("{what} has {found} entries where {expected} are needed")]
    Length {
        what: &'static str,
        /// Number of entries needed.
        expected: usize,
        found: usize,
    },
    /// A network that cannot be used in this training.
    #[error("the head cannot be held as it is: {0}")]
    Held(&'static str),
    /// Stored bytes that are not a valid model.
    #[error("the stored model cannot be read ({0}): train it again")]
    Damaged(String),
    /// A model written by a newer version.
    #[error(
        "the stored model has format {found} and this version reads up to {known}: train it again or update"
    )]
    Format {
        /// Format in the bytes.
        found: u16,
        /// Newest supported format.
        known: u16,
    },
    /// A file of a model or a checkpoint cannot be read or written.
    #[error("{path}: {reason}", path = path.display())]
    File {
        path: std::path::PathBuf,
        /// The error of the system.
        reason: String,
    },
    /// The loss of a training step is not a number.
    #[error(
        "the loss stopped being a number at step {step} (epoch {epoch}){kept}: choose a lower learning rate or a limit for the gradient"
    )]
    LossNotFinite {
        /// The step, from 1.
        step: u32,
        /// The epoch, from 1.
        epoch: u32,
        /// The remaining checkpoint, as the end of the message's first half.
        kept: String,
    },
    /// An invalid option of a training.
    #[error("{field} cannot be {value}: {allowed}")]
    Choice {
        field: &'static str,
        /// The requested value.
        value: String,
        /// The allowed values.
        allowed: &'static str,
    },
    /// A checkpoint of other data or options.
    #[error("the checkpoint in {path} belongs to {what}: start a new run", path = path.display())]
    CheckpointMismatch {
        path: std::path::PathBuf,
        /// `other labels`, `other choices`, or an earlier version.
        what: &'static str,
    },
    /// The tensor library or the device failed.
    #[error("computing failed: {0}")]
    Compute(String),
    /// The encoder failed.
    #[error("the encoder failed: {0}")]
    Encoder(String),
    /// A prediction that is not a probability.
    #[error(
        "the prediction for label {observation} gives level {level} the probability {found}: predict again with a model \
         that trained to the end"
    )]
    NotProbability {
        /// Position among the labels.
        observation: usize,
        level: usize,
        /// The value found there.
        found: f32,
    },
    /// Two models were not scored on the same labels.
    #[error(
        "the two models were scored on different labels (the first difference is at {at}): score both on the same split"
    )]
    DifferentLabels {
        /// Position of the first label that differs.
        at: usize,
    },
    /// A confidence level that is not inside (0, 1).
    #[error("an interval cannot hold {0} of the resamples: give a number between 0 and 1, for example 0.95")]
    Confidence(f64),
    /// A bootstrap without resamples.
    #[error("a bootstrap needs at least one resample: ask for 1000")]
    NoResamples,
    /// A model that cannot be fitted to words.
    #[error("{0} does not learn words together with an encoder: take shared or multilevel")]
    NotOverWords(&'static str),
    /// There are no words to learn from.
    #[error("no answer is to a text with words: there is nothing to learn which words are marked from")]
    NoWords,
    /// A label for a model that only learns all labels at once.
    #[error("{0} does not learn label by label: fit it again, or take multilevel")]
    NotLive(&'static str),
    /// A rule of panels that does not fit the scale, the panel or the answers.
    #[error("{0}")]
    PanelRule(String),
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
}

impl ModelError {
    pub fn file(path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::File { path: path.to_owned(), reason: error.to_string() }
    }
}

#[cfg(feature = "candle")]
impl From<candle_core::Error> for ModelError {
    fn from(error: candle_core::Error) -> Self {
        // Only the first line: the rest is a trace of the library's internal calls.
        Self::Compute(error.to_string().lines().next().unwrap_or_default().to_owned())
    }
}
