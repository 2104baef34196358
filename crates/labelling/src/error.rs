//! Errors of labelling and practice.

use dissensus_project::error::ProjectError;

dissensus_domain::errors! {
    /// Why a label is not recorded, or no text is shown.
    #[derive(Debug)]
    pub enum LabellingError {
        FinishedToday => "finished-today", "the study's limit for today is reached: it continues tomorrow";
        CannotSayNotOffered(String) => "cannot-say-not-offered",
            "\"{0}\" does not offer \"cannot say\": its author can allow it (dissensus data question P {0} --cannot-say on)";
        LabelReplaced { annotator: String, text: String, given: String, current: String, by: &'static str } => "label-replaced",
            "nothing was undone: {by} has replaced the last label that {annotator} gave, {given} on {text}, by {current}. To change it, label that text again";
        NotAsked { text: String, occasion: u16 } => "packet-not-asked",
            "this packet does not ask about \"{text}\" in round {occasion}: `dissensus study status PACKET --texts` lists what it asks";
        PracticeFirst { left: usize } => "practice-first",
            "practise first: answer the practice texts that are left ({left}) with `label record --practice` (in the window: Label)";
        StoppedByPractice => "practice-stopped",
            "the practice was not passed, and the study's author decided that no more texts are shown then: the answers are stored, and can be handed in";
        StoppedByChecks => "practice-stopped",
            "too few attention checks were answered right, and the study's author decided that no more texts are shown then: the answers are stored, and can be handed in";
        PracticeText(String) => "practice-text",
            "\"{0}\" is a practice text, which takes no labels: answer it with `label record --practice`";
        NotPractice(String) => "practice-not-there",
            "\"{0}\" is not a practice text of this question: `dissensus label practice` lists them";
        NoPractice => "practice-done", "the practice is done: there is nothing to practise now";
        Practised(String) => "practice-answered",
            "\"{0}\" was answered in this round of practice: its first answer counts";
    }
}

impl From<LabellingError> for ProjectError {
    fn from(error: LabellingError) -> Self {
        Self::refused(error.code(), &error, None)
    }
}
