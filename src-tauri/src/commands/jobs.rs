//! Long work.

use dissensus_api::JobInfo;
use dissensus_editing::jobs;
use dissensus_training::encoding::EncoderChoice;

session_commands! {
    /// Starts (or resumes) encoding the texts.
    fn start_encoding() -> JobInfo = |session| session.background.start_encoding(EncoderChoice::default());

    /// Jobs of this project, newest first.
    fn jobs() -> Vec<JobInfo> = |session| jobs::list(&session.project);

    /// Asks a job to stop.
    fn cancel_job(id: u32) -> () = |session| {
        // A job that has ended needs no stopping.
        jobs::cancel(&session.project, id);
        Ok(())
    };
}
