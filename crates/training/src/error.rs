//! Errors of encoding, training and prediction.

use dissensus_project::error::ProjectError;
use dissensus_project::words::counted;
use std::path::PathBuf;

dissensus_domain::errors! {
    /// Why texts are not encoded, or a run does not train or predict.
    #[derive(Debug)]
    pub enum TrainingError {
        ColumnTwice(String) => "column-twice",
            "two columns would be called \"{0}\": name fewer annotators at a time, or rename an option";
        BadTexts { path: PathBuf, count: u64, rows: u64, listed: String } => "bad-rows",
            "{count} of {} of {path} cannot be read, so nothing was written" (counted(*.rows, "row"));
        NoTexts(PathBuf) => "no-rows", "{0} has no texts, so nothing was written";
        KeptEmbeddings { path: PathBuf, reason: String } => "kept-embeddings",
            "{path} cannot keep embeddings: {reason}";
        EncoderChanged { stored: String, dir: PathBuf, found: String } => "encoder-changed",
            "the embeddings of this project were made by {stored}, and the encoder at {dir} is {found} now";
        OtherEncoder { run: u32, encoder: String } => "encoder-not-in-use",
            "run {run} was trained on embeddings of {encoder}, which this project does not use now: encode with that encoder first";
        NothingToEncode => "nothing-to-encode", "every text has its embedding already: there is nothing to encode";
        NoSuchRun(u32) => "no-such-run",
            "there is no run {0} in this project: `dissensus models runs list` shows them";
        CannotPredict(u32) => "cannot-predict",
            "run {0} cannot predict for the project: only a finished run of multilevel learns label by label, and its files must be there";
        Auxiliary { path: PathBuf, reason: String } => "auxiliary", "the auxiliary project {path} {reason}";
        Joint(String) => "joint", "these questions cannot be learned together: {0}";
        NoTable { run: u32, why: String } => "no-table", "there can be no table of run {run}: {why}";
        Freeze(String) => "freeze", "this cannot be frozen: {0}";
        AuxiliaryLabels { run: u32, path: PathBuf, reason: String } => "not-resumable",
            "run {run} cannot go on: {path}, which holds the labels of its auxiliary questions, cannot be read ({reason}). Start a new one";
        WordLabels { run: u32, path: PathBuf, reason: String } => "not-resumable",
            "{path}, which holds words of run {run}, cannot be read ({reason}). Train a new run";
        NotResumable { run: u32, reason: &'static str } => "not-resumable",
            "run {run} cannot be resumed: {reason}. Start a new one";
        NoRunFiles { run: u32, path: PathBuf } => "run-files-missing",
            "the files of run {run} are not at {path}: they belong next to the project, in the folder of its name and \".runs\". Move them there, or train again";
        ForeignRunFiles { run: u32, path: PathBuf, reason: String } => "run-files-foreign",
            "the files at {path} are not those of run {run}: {reason}. They were not used and not changed";
        NoRunOfEncoder(uuid::Uuid) => "no-such-run",
            "the encoder of this project was tuned by the run {0}, which this project does not have: choose another encoder";
        EncoderInUse(u32) => "encoder-in-use",
            "the project uses the encoder that run {0} tuned: choose another encoder first, then delete the run";
        EncoderNeeded { run: u32, unfinished: u32 } => "encoder-in-use",
            "run {unfinished} started on the encoder that run {run} tuned and has not finished: resume or delete run {unfinished} first";
        EncoderOfProject { path: PathBuf, reason: String } => "encoder-of-project", "{path} {reason}";
        UnfinishedEncoder(u32) => "run-unfinished", "run {0} has not finished: its encoder cannot be used yet";
        ReportKind(PathBuf) => "report-kind",
            "{0} has no extension that names a format: use .html, .csv, .json or .tex";
        DamagedTrainingData { path: PathBuf, reason: String } => "training-data-damaged",
            "{path} records what this encoder was trained on and cannot be read ({reason}): scores could include those texts. Copy the folder of the run again, or delete this file if the encoder was never trained on texts of this project";
        TooManyPredictions(u64) => "too-many-predictions",
            "{0} probabilities are more than this computer has memory for: choose some of the annotators, or fewer texts at a time";
        TextsChanged(PathBuf) => "file-changed",
            "{0} changed while it was read, so nothing was written: run it again";
        NotEncoded(PathBuf) => "not-encoded",
            "the texts of this project have no embeddings yet: run `dissensus models encode {0}`";
        NoScores(u32) => "no-scores", "run {0} has no figures: only a finished run can predict or be compared";
        NotComparable(&'static str) => "not-comparable", "these runs cannot be compared: {0}";
        NotCorrelated(String) => "not-correlated", "nothing can be correlated: {0}";
        DamagedRun(u32) => "run-damaged", "the stored results of run {0} are damaged: train again";
        CannotBundle { run: u32, reason: String } => "cannot-bundle", "run {run} cannot be bundled: {reason}";
    }
}

impl From<TrainingError> for ProjectError {
    fn from(error: TrainingError) -> Self {
        let detail = match &error {
            TrainingError::BadTexts { listed, .. } => {
                Some(format!("{listed}\nFix these rows, or leave them out with --skip-bad."))
            }
            TrainingError::EncoderChanged { .. } => Some(
                "Encode again to use the new encoder (both are stored), or put the old encoder back in its place.".into(),
            ),
            _ => None,
        };
        Self::refused(error.code(), &error, detail)
    }
}
