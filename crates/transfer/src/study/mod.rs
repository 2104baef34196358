//! A study with several annotators: who is asked about which texts, task packets, and submissions.

mod agreement;
mod answered;
mod apart;
mod checks;
mod discussion;
mod draft;
mod drawing;
mod drop_folder;
mod earlier;
mod effect;
pub mod error;
mod former_submission;
mod hand_in;
mod hand_out;
mod inbox;
mod incoming;
mod join;
mod join_page;
mod joined;
mod lacking;
mod link;
mod link_parameters;
mod masks;
mod merge;
mod name_candidates;
mod open_parts;
mod page;
mod passphrase;
mod practice;
mod report;
mod submission;

pub use checks::{checks_from, list_checks, set_checks};
pub use discussion::{all_decisions, decide, discussion, list_decisions, slips_note};
use dissensus_editing::Project;
use dissensus_labelling::Labelling;
use dissensus_labelling::practice::Practice;
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_training::background::Background;
pub use draft::{StudyPlan, draft};
pub use drop_folder::DropFolder;
pub use hand_in::{SubmissionChoices, hand_in, open_packet};
pub use hand_out::{PacketFolder, hand_out, write_again};
pub use inbox::Inbox;
pub use incoming::is_to_erase_for;
pub use join::{JoinRules, Joining, join};
pub use join_page::write_join_page;
pub use link::{Link, language, linked_page, links};
pub use link_parameters::{ATTRIBUTE_PARAMETERS, ID_PARAMETERS, MAX_PARAMETER};
pub use masks::{follow_masks, mask_settings, preview_masks, set_masks, words_of_column};
pub use merge::{merge, preview_merge};
pub use name_candidates::name_candidates;
pub use open_parts::{WrittenPage, written_pages};
pub use page::{PageSettings, refuse_page};
pub use practice::{check_rule, practice, practice_from, set_check_rule, set_practice, set_practice_rule};
pub use report::{packet_texts, report};
use std::sync::{Arc, Mutex};

/// The study of the open project.
#[derive(Clone)]
pub struct Study {
    context: Arc<Context>,
    project: Project,
    labelling: Labelling,
    practice: Practice,
    background: Background,
    /// Held from drawing until the packets are in the project, so that no two plans assign the same places.
    planning: Arc<Mutex<()>>,
}

impl Study {
    pub fn new(
        context: &Arc<Context>,
        project: &Project,
        labelling: &Labelling,
        practice: &Practice,
        background: &Background,
    ) -> Self {
        let (project, labelling, background) = (project.clone(), labelling.clone(), background.clone());
        let (context, practice) = (Arc::clone(context), practice.clone());
        Self { context, project, labelling, practice, background, planning: Arc::default() }
    }

    /// Fails if the open project is itself a packet.
    fn whole_project(&self) -> Result<(), ProjectError> {
        match self.context.packet {
            Some(_) => Err(ProjectError::IsPacket),
            None => Ok(()),
        }
    }
}
