//! What can be wrong with the arrays a caller hands in.

/// Why a model, a measure or an evaluation could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The matrix of embeddings does not have whole rows.
    #[error(
        "the embeddings hold {values} numbers, which is not a whole number of rows of {dim}: pass texts x dim values"
    )]
    RaggedEmbeddings {
        /// Numbers handed in.
        values: usize,
        /// Numbers a row should have.
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
    /// One embedding has another length than those the model knows.
    #[error(
        "an embedding of {found} numbers was given to a model of {expected}: was it made by another encoder?"
    )]
    EmbeddingLength {
        /// Length the model was trained with.
        expected: usize,
        /// Length handed in.
        found: usize,
    },
    /// A sparse row whose columns do not ascend, or with a value that is not finite.
    #[error("the n-grams of text {text} are no sparse row: columns must ascend and values be finite")]
    SparseRow {
        /// The text.
        text: usize,
    },
    /// An observation names a text without an embedding row.
    #[error("observation {observation} names text {text}, and there are {texts} texts")]
    UnknownText {
        /// Position among the observations.
        observation: usize,
        /// The text it names.
        text: u32,
        /// How many texts there are.
        texts: usize,
    },
    /// An observation names an annotator that was not counted.
    #[error("observation {observation} names annotator {annotator}, and there are {annotators} annotators")]
    UnknownAnnotator {
        /// Position among the observations.
        observation: usize,
        /// The annotator it names.
        annotator: u32,
        /// How many annotators there are.
        annotators: usize,
    },
    /// An observation's level is not on the scale.
    #[error("observation {observation} has level {level}, and the scale has {levels} levels counted from 0")]
    UnknownLevel {
        /// Position among the observations.
        observation: usize,
        /// The level it has.
        level: u16,
        /// How many levels there are.
        levels: usize,
    },
    /// An annotator has a value of an attribute that was not listed.
    #[error("value {value} of the attribute \"{attribute}\" is not one of its {values} values")]
    UnknownValue {
        /// The attribute's name.
        attribute: String,
        /// The value, counted from 0.
        value: u16,
        /// How many there are.
        values: usize,
    },
    /// Too few texts are left that the tuned encoder has not seen.
    #[error(
        "the encoder in use was tuned on the labels of this project, and of the texts that {split} scores only {unseen} were \
         not among them ({needed} are needed): use the split that the encoder was tuned on, label more texts, or go back to an \
         encoder that was not tuned here"
    )]
    SeenByEncoder {
        /// The split.
        split: String,
        /// Texts that could be scored.
        unseen: usize,
        /// How many there must be.
        needed: usize,
    },
    /// The same annotator labelled the same text twice.
    #[error("annotator {annotator} has two labels on text {text}: pass only the current one")]
    Repeated {
        /// The text.
        text: u32,
        /// The annotator.
        annotator: u32,
    },
    /// A label to take back does not exist.
    #[error("annotator {annotator} has no label on text {text}, so there is nothing to take back")]
    NoSuchLabel {
        /// The text.
        text: u32,
        /// The annotator.
        annotator: u32,
    },
    /// A scale that no model fits.
    #[error("a {kind} question cannot have {levels} levels: give at least two, and exactly two for binary")]
    Levels {
        /// Kind of the scale.
        kind: dissensus_domain::ScaleKind,
        /// How many levels were given.
        levels: usize,
    },
    /// `at_least` makes no two classes of this scale.
    #[error("\"at least level {level}\" (counted from 0) makes no two classes here: it needs an ordinal question, and a level from 1 to {max}", max = levels.saturating_sub(1))]
    AtLeast {
        /// The level asked for.
        level: u16,
        /// How many levels there are.
        levels: usize,
    },
    /// A split leaves one side empty.
    #[error("the split {split} leaves no labelled text to {side}: use another share or another column")]
    EmptySplit {
        /// How the split was asked for.
        split: String,
        /// `train` or `score`.
        side: &'static str,
    },
    /// Folds that cannot be made.
    #[error(
        "fold {fold} of {folds} cannot be scored with {texts} labelled texts: ask for 2 folds or more, and no more than texts"
    )]
    Folds {
        /// Folds asked for.
        folds: u8,
        /// The one asked for, from 1.
        fold: u8,
        /// Labelled texts there are.
        texts: usize,
    },
    /// Numbers that make no folds.
    #[error(
        "the split {0} cannot be: it takes 2 to 255 folds, and one of them counted from 1 (for example k-fold:5/1)"
    )]
    FoldNumber(String),
    /// Every fold in turn where one division is wanted.
    #[error(
        "k-fold:{0} is every fold in turn, and this takes one: write k-fold:{0}/1, or score all of them together with `evaluate`"
    )]
    EachFold(u8),
    /// Test labels were to be read again.
    #[error("the test labels were scored for \"{0}\" already: what is chosen by them is no test any more")]
    TestRead(String),
    /// A share that is not inside (0, 1).
    #[error("a share of {0} cannot split texts: give a number between 0 and 1, for example 0.7")]
    Share(f64),
    /// A name that is no split, model or measure.
    #[error("unknown {what} \"{name}\": use {known}")]
    UnknownName {
        /// What was looked for.
        what: &'static str,
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Two arrays that belong together differ in length.
    #[error("{what} has {found} entries where {expected} are needed")]
    Length {
        /// Which array.
        what: &'static str,
        /// Entries needed.
        expected: usize,
        /// Entries handed in.
        found: usize,
    },
    /// A network that cannot be used in this training.
    #[error("the head cannot be held as it is: {0}")]
    Held(&'static str),
    /// Stored bytes that are not one of our models.
    #[error("the stored model cannot be read ({0}): train it again")]
    Damaged(String),
    /// A model written by a newer version.
    #[error(
        "the stored model has format {found} and this version reads up to {known}: train it again or update"
    )]
    Format {
        /// Format in the bytes.
        found: u16,
        /// Newest format known here.
        known: u16,
    },
    /// A file of a model or a checkpoint cannot be read or written.
    #[error("{path}: {reason}", path = path.display())]
    File {
        /// The file or folder.
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
        /// Which checkpoint is left, as the end of the sentence's first half.
        kept: String,
    },
    /// A choice of a training that cannot be carried out.
    #[error("{field} cannot be {value}: {allowed}")]
    Choice {
        /// Which choice.
        field: &'static str,
        /// What was asked.
        value: String,
        /// What can be.
        allowed: &'static str,
    },
    /// A checkpoint of other data or other choices.
    #[error("the checkpoint in {path} belongs to {what}: start a new run", path = path.display())]
    CheckpointMismatch {
        /// Its folder.
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
    /// A prediction that is no probability.
    #[error(
        "the prediction for label {observation} gives level {level} the probability {found}: predict again with a model \
         that trained to the end"
    )]
    NotProbability {
        /// Position among the labels.
        observation: usize,
        /// The level.
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
    /// A bootstrap of nothing.
    #[error("a bootstrap needs at least one resample: ask for 1000")]
    NoResamples,
    /// A model that does not learn words in the way that was asked for.
    #[error("{0} does not learn words together with an encoder: take shared or multilevel")]
    NotOverWords(&'static str),
    /// No word to learn from.
    #[error("no answer is to a text with words: there is nothing to learn which words are marked from")]
    NoWords,
    /// A label for a model that learns all of its labels at once.
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
        // The first line: what follows it is a trace of the library's own calls.
        Self::Compute(error.to_string().lines().next().unwrap_or_default().to_owned())
    }
}
