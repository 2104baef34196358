//! The Models view.

use dissensus_api::{
    ActiveModel, AuxiliaryCandidate, RunComparison, RunDetail, RunInfo, TrainChoices, Tuning,
};
use dissensus_domain::QuestionId;
use dissensus_stats::data::ModelKind;
use dissensus_training::runs;
use std::path::Path;

session_commands! {
    /// Default settings of a training run of this model, or those of the last one requested here.
    fn train_defaults(question: QuestionId, model: ModelKind, tuning: Tuning) -> TrainChoices =
        |session| runs::defaults(&session.runs, question, model, tuning);

    /// Questions of a project file that can be auxiliary questions of a run on `question`.
    fn auxiliary_candidates(question: QuestionId, project: String) -> Vec<AuxiliaryCandidate> =
        |session| runs::auxiliary_candidates(&session.runs, question, Path::new(&project));

    /// Starts a run in the background and returns its id at once.
    fn start_run(choices: TrainChoices) -> u32 = |session| runs::start(&session.runs, &choices);

    /// Resumes an interrupted run.
    fn resume_run(id: u32) -> () = |session| runs::resume(&session.runs, id);

    /// The exact source of predictions for a question: encoder, model, and number of labels it was fitted on.
    fn active_model(question: QuestionId) -> ActiveModel = |session| session.live.active_model(question);

    /// All training runs, newest first.
    fn runs() -> Vec<RunInfo> = |session| runs::list(&session.runs);

    /// All details of one run.
    fn run_detail(id: u32) -> RunDetail = |session| runs::detail(&session.runs, id);

    /// Compares two runs on the same labels.
    fn compare_runs(a: u32, b: u32) -> RunComparison = |session| runs::compare_runs(&session.runs, a, b);

    /// Uses the encoder of a run for the project; `None` restores the encoder that was in use before.
    fn use_run(id: Option<u32>) -> () = |session| runs::use_run(&session.runs, id);

    /// Deletes a run and its files.
    fn delete_run(id: u32) -> () = |session| runs::delete(&session.runs, id).map(drop);

    /// Writes a report of these runs; the extension of the path selects the format: csv, json, tex or html.
    fn export_runs(ids: Vec<u32>, path: String) -> () =
        |session| runs::export(&session.runs, &ids, path.as_ref(), false);
}
