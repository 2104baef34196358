//! Errors of analyses.

use dissensus_project::error::ProjectError;
use std::path::PathBuf;

dissensus_domain::errors! {
    /// Why a figure, a comparison or a bundle is refused.
    #[derive(Debug)]
    pub enum AnalysisError {
        LabelsChange => "labels-change",
            "labels were added or merged while they were aggregated, so nothing was written: try again when nobody is labelling";
        TextNotFitted(String) => "text-not-fitted",
            "text \"{0}\" was imported after the model was fitted: try again after the next fit, which includes it";
        StratifiedOptions(String) => "stratified-options",
            "a stratified split differs for each option of \"{0}\": use by-text or grouped, or name one option";
        NoSpans(String) => "no-spans",
            "\"{0}\" is not a type of spans: only answers to questions with spans mark words";
        NoOptions(String) => "no-options",
            "\"{0}\" is not a multi-label question: only those have sets of options";
        NoSuchAttribute { name: String, value: String, hint: String } => "no-such-attribute",
            "no annotator has {name} = \"{value}\"{hint}";
        EmptyGroup(&'static str) => "empty-group",
            "nobody is chosen for group {0}: name an attribute's value, such as gender=Woman, or people";
        GroupsOverlap { names: String } => "groups-overlap",
            "in both groups: {names}; nobody can be compared with themselves, so choose groups that share nobody";
        EncoderSwitched => "encoder-switched",
            "another encoder was selected meanwhile and stays in use: choose again to change it";
        EncoderNotOfModel => "encoder-switched",
            "another program changed the encoder of this project since its model was fitted, so nothing was written: run it again";
        NoRepeats { question: String, occasion: Option<u16>, there: Vec<u16> } => "no-repeats",
            "{question} has no answers of {}: {}" (requested_round(*occasion), existing_rounds(there));
        Blind { annotator: String } => "blind",
            "{annotator} has not labelled this text yet: predictions are hidden until then";
        NotABundle(PathBuf) => "not-a-bundle",
            "{0} exists already and is no bundle, or holds other files too, so it is not replaced: choose another name";
        Bundle { path: PathBuf, reason: String } => "bundle", "the bundle {path} cannot be used: {reason}";
        NotInBundle(String) => "not-in-bundle", "{0}";
        NotForLewidi(String, &'static str) => "not-for-lewidi",
            "a LeWiDi submission has one level for each label, and levels are whole numbers: {0} {1}";
        OneEncoder => "encoders-to-choose",
            "name two encoders or more to choose from, such as --choose-encoder all-MiniLM-L6-v2,all-mpnet-base-v2";
        EncoderTwice(String) => "encoders-to-choose",
            "`{0}` is the same encoder as another one of those to choose from: name each once";
        EncoderLearned(String) => "encoder-learned",
            "`{0}` was trained on labels of this project, which are excluded from its score, so that it would be compared on other labels than the rest: compare runs instead (runs compare)";
        QuestionTwice(String) => "question-twice",
            "\"{0}\" would be in the bundle twice, with two models: a bundle has one model for each question";
    }
}

impl From<AnalysisError> for ProjectError {
    fn from(error: AnalysisError) -> Self {
        Self::refused(error.code(), &error, None)
    }
}

fn requested_round(occasion: Option<u16>) -> String {
    occasion.map_or_else(|| "a later round".to_owned(), |one| format!("round {one}"))
}

fn existing_rounds(there: &[u16]) -> String {
    if there.is_empty() {
        return "there are no repeated answers".to_owned();
    }
    let listed: Vec<_> = there.iter().map(ToString::to_string).collect();
    format!("there are answers of round {}", listed.join(", "))
}
