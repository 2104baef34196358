//! What a paper's appendix needs.

use dissensus_api::{InstitutionPapers, PaperRequest, PaperWritten};
use dissensus_project::jobs::Follow;
use dissensus_training::encoding::EncoderChoice;
use std::path::Path;

session_commands! {
    /// Writes the report into a folder. A job: it reports progress by events and can be cancelled.
    fn write_report(folder: String, request: PaperRequest) -> PaperWritten =
        |session| {
        let encoder = EncoderChoice::default();
        session.paper.write(request, Path::new(&folder), &encoder, Follow::Job).map(|(written, _)| written)
    };

    /// Writes the papers for an institution into a folder. A job: it reports progress by events and can be
    /// cancelled. Papers that were made before are replaced, for the dialog has asked, if none was filled in.
    fn write_institution_papers(folder: String) -> InstitutionPapers =
        |session| session.paper.write_for_institution(Path::new(&folder), true, Follow::Job);
}
