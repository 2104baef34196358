//! The Models view.

use dissensus_api::{
    ActiveModel, AuxiliaryCandidate, RunComparison, RunDetail, RunInfo, TrainChoices, Tuning,
};
use dissensus_domain::QuestionId;
use dissensus_stats::data::ModelKind;
use std::path::Path;

session_commands! {
    /// What a training of this model would do by default, or did the last time it was asked for here.
    fn train_defaults(question: QuestionId, model: ModelKind, tuning: Tuning) -> TrainChoices =
        |session| session.runs.defaults(question, model, tuning);

    /// Questions of a project file that can teach the encoder of a run on `question` too.
    fn auxiliary_candidates(question: QuestionId, project: String) -> Vec<AuxiliaryCandidate> =
        |session| session.runs.auxiliary_candidates(question, Path::new(&project));

    /// Starts a run in the background and returns its id at once.
    fn start_run(choices: TrainChoices) -> u32 = |session| session.runs.start(&choices);

    /// Goes on with a run that broke off.
    fn resume_run(id: u32) -> () = |session| session.runs.resume(id);

    /// What predicts for a question, exactly: which encoder, which model, fitted on how many labels.
    fn active_model(question: QuestionId) -> ActiveModel = |session| session.live.active_model(question);

    /// Every training run, newest first.
    fn runs() -> Vec<RunInfo> = |session| session.runs.list();

    /// Everything about one run.
    fn run_detail(id: u32) -> RunDetail = |session| session.runs.detail(id);

    /// Two runs on the same labels.
    fn compare_runs(a: u32, b: u32) -> RunComparison = |session| session.runs.compare(a, b);

    /// Uses the encoder of a run for the project; none goes back to the encoder that was in use before.
    fn use_run(id: Option<u32>) -> () = |session| session.runs.use_run(id);

    /// Takes a run and its files away.
    fn delete_run(id: u32) -> () = |session| session.runs.delete(id).map(drop);

    /// Writes a report of these runs; the path's ending says which kind: csv, json, tex or html.
    fn export_runs(ids: Vec<u32>, path: String) -> () =
        |session| session.runs.export(&ids, path.as_ref(), false);
}
