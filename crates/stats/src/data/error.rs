//! Errors in the input of models, measures and evaluations.

dissensus_domain::errors! {
    /// Error of a model, a measure or an evaluation.
    #[derive(Clone, Debug, PartialEq)]
    pub enum ModelError {
        RaggedEmbeddings { values: usize, dim: usize } =>
            "the embeddings hold {values} numbers, which is not a whole number of rows of {dim}: pass texts x dim values";
        NotFinite { text: usize, column: usize } =>
            "the embedding of text {text} is not finite at column {column}: encode this text again";
        EmbeddingLength { expected: usize, found: usize } =>
            "an embedding of {found} numbers was given to a model of {expected}: was it made by another encoder?";
        SparseRow { text: usize } =>
            "the n-grams of text {text} are no sparse row: columns must ascend and values be finite";
        UnknownText { observation: usize, text: u32, texts: usize } =>
            "observation {observation} names text {text}, and there are {texts} texts";
        UnknownAnnotator { observation: usize, annotator: u32, annotators: usize } =>
            "observation {observation} names annotator {annotator}, and there are {annotators} annotators";
        UnknownLevel { observation: usize, level: u16, levels: usize } =>
            "observation {observation} has level {level}, and the scale has {levels} levels counted from 0";
        UnknownValue { attribute: String, value: u16, values: usize } =>
            "value {value} of the attribute \"{attribute}\" is not one of its {values} values";
        SeenByEncoder { split: String, unseen: usize, needed: usize } =>
            "the encoder in use was tuned on the labels of this project, and of the texts that {split} scores only {unseen} were not among them ({needed} are needed): use the split that the encoder was tuned on, label more texts, or go back to an encoder that was not tuned here";
        Repeated { text: u32, annotator: u32 } =>
            "annotator {annotator} has two labels on text {text}: pass only the current one";
        NoSuchLabel { text: u32, annotator: u32 } =>
            "annotator {annotator} has no label on text {text}, so there is nothing to take back";
        Levels { kind: dissensus_domain::TargetKind, levels: usize } =>
            "a {kind} question cannot have {levels} levels: give at least two, and exactly two for binary";
        AtLeast { level: u16, levels: usize } =>
            "\"at least level {level}\" (counted from 0) makes no two classes here: it needs an ordinal question, and a level from 1 to {max}" (max = levels.saturating_sub(1));
        EmptySplit { split: String, side: &'static str } =>
            "the split {split} leaves no labelled text to {side}: use another share or another column";
        Folds { folds: u8, fold: u8, texts: usize } =>
            "fold {fold} of {folds} cannot be scored with {texts} labelled texts: ask for 2 folds or more, and no more than texts";
        FoldNumber(String) =>
            "the split {0} is impossible: it takes 2 to 255 folds, and one of them counted from 1 (for example k-fold:5/1)";
        EachFold(u8) =>
            "k-fold:{0} is every fold in turn, and this takes one: write k-fold:{0}/1, or score all of them together with `models evaluate`";
        TestRead(String) =>
            "the test labels were scored for \"{0}\" already: a choice that used them would leave no test";
        Share(f64) => "a share of {0} cannot split texts: give a number between 0 and 1, for example 0.7";
        UnknownName { what: &'static str, name: String, known: String } => "unknown {what} \"{name}\": use {known}";
        Length { what: &'static str, expected: usize, found: usize } =>
            "{what} has {found} entries where {expected} are needed";
        Held(&'static str) => "the head cannot be held fixed: {0}";
        Damaged(String) => "the stored model cannot be read ({0}): train it again";
        Format { found: u16, known: u16 } =>
            "the stored model has format {found} and this version reads up to {known}: train it again or update";
        File { path: std::path::PathBuf, reason: String } => "{path}: {reason}";
        LossNotFinite { step: u32, epoch: u32, kept: String } =>
            "the loss stopped being a number at step {step} (epoch {epoch}){kept}: choose a lower learning rate or a limit for the gradient";
        Choice { field: &'static str, value: String, allowed: &'static str } =>
            "{field} cannot be {value}: {allowed}";
        CheckpointMismatch { path: std::path::PathBuf, what: &'static str } =>
            "the checkpoint in {path} belongs to {what}: start a new run";
        Compute(String) => "computing failed: {0}";
        Encoder(String) => "the encoder failed: {0}";
        NotProbability { observation: usize, level: usize, found: f32 } =>
            "the prediction for label {observation} gives level {level} the probability {found}: predict again with a model that trained to the end";
        DifferentLabels { at: usize } =>
            "the two models were scored on different labels (the first difference is at {at}): score both on the same split";
        Confidence(f64) =>
            "an interval cannot hold {0} of the resamples: give a number between 0 and 1, for example 0.95";
        NoResamples => "a bootstrap needs at least one resample: ask for 1000";
        NotOverWords(&'static str) => "{0} does not learn words together with an encoder: use shared or multilevel";
        NoWords => "no answer is to a text with words: there is nothing to learn which words are marked from";
        NotLive(&'static str) => "{0} does not learn label by label: fit it again, or use multilevel";
        PanelRule(String) => "{0}";
        Cancelled => "cancelled";
    }
}

impl ModelError {
    /// The stable code, for scripts and the window.
    pub fn code(&self) -> &'static str {
        if *self == Self::Cancelled { "cancelled" } else { "model" }
    }

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
