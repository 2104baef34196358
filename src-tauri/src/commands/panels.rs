//! *Ask a panel* in Findings.

use dissensus_api::{PanelOrder, PanelRequest, PanelVerdicts, SavedPanelInfo};
use dissensus_domain::TextId;
use dissensus_project::jobs::Follow;

session_commands! {
    /// Predicted decisions of a panel on the first texts, optionally compared with a second panel.
    fn ask_panel(
        request: PanelRequest,
        compared: Option<PanelRequest>,
        order: PanelOrder,
        top: u32,
    ) -> PanelVerdicts =
        |session| session.panels.ask(&request, compared.as_ref(), order, top as usize, Follow::Job);

    /// The predicted decision of a panel on one text.
    fn panel_on_text(request: PanelRequest, compared: Option<PanelRequest>, text: TextId) -> PanelVerdicts =
        |session| session.panels.ask_about(&request, compared.as_ref(), text);

    /// The saved panels of the project.
    fn saved_panels() -> Vec<SavedPanelInfo> = |session| session.panels.list();

    /// Saves a panel under a name.
    fn save_panel(name: String, request: PanelRequest) -> Vec<SavedPanelInfo> =
        |session| session.panels.save(&name, &request);

    /// Deletes the saved panel of this name.
    fn forget_panel(name: String) -> Vec<SavedPanelInfo> = |session| session.panels.forget(&name);
}
