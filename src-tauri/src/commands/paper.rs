//! What a paper's appendix needs.

use dissensus_api::{PaperWish, PaperWritten};
use std::path::Path;

session_commands! {
    /// Writes the report into a folder. A job: it reports progress by events and can be cancelled.
    fn write_report(folder: String, wish: PaperWish) -> PaperWritten =
        |session| session.paper.write_as_job(wish, Path::new(&folder));
}
