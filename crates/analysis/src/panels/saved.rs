//! Panels that are saved in the project under a name.

use super::Panels;
use crate::panels::error::PanelError;
use dissensus_api::{PanelRequest, SavedPanelInfo};
use dissensus_domain::{Panel, PanelMembers, QuestionId, SavedPanel};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;

impl Panels {
    /// Saves a panel under a name, replacing one of that name. Named members are stored by their external
    /// ids.
    ///
    /// # Errors
    /// Those of [`Panels::check`]; a name that is empty or longer than 200 characters; an I/O error.
    pub fn save(&self, name: &str, request: &PanelRequest) -> Result<Vec<SavedPanelInfo>, ProjectError> {
        self.check(request)?;
        let index = self.context.index();
        let ids = request.members.iter().map(|name| Ok(index.find_annotator(name)?.external_id.clone()));
        let ids: Vec<String> = ids.collect::<Result<_, ProjectError>>()?;
        let members = match ids.is_empty() {
            false => PanelMembers::Named(ids),
            true => {
                PanelMembers::Drawn { size: request.size, shares: request.shares.clone(), seed: request.seed }
            }
        };
        let question = index.with_levels(request.question)?.name.clone();
        let rule = request.rule.parse().map_err(PanelError::from)?;
        self.store_panel(name, Some(Panel { question: Some(question), members, rule }))
    }

    /// Removes the panel of a name from the list; its record stays in the history of the file.
    ///
    /// # Errors
    /// There is no such panel, or an I/O error.
    pub fn forget(&self, name: &str) -> Result<Vec<SavedPanelInfo>, ProjectError> {
        self.whole_project()?;
        self.saved(name)?;
        self.store_panel(name, None)
    }

    fn store_panel(&self, name: &str, panel: Option<Panel>) -> Result<Vec<SavedPanelInfo>, ProjectError> {
        let new = SavedPanel { name: name.trim().to_owned(), saved_at_ms: now_ms(), panel };
        self.context.store.write(move |tx| tx.save_panel(&new))?;
        self.context.listeners.send(&Event::Project);
        self.list()
    }

    /// The saved panels, by name.
    pub fn list(&self) -> Result<Vec<SavedPanelInfo>, ProjectError> {
        Ok(self.context.store.panels()?.into_iter().filter_map(panel_info).collect())
    }

    /// The panel of a name as a request about a question: its own if it has one that still exists.
    ///
    /// # Errors
    /// There is no panel of that name, or no such question.
    pub fn request(&self, name: &str, draws: u32) -> Result<PanelRequest, ProjectError> {
        let found = self.saved(name)?;
        let index = self.context.index();
        let question: QuestionId = index.find_question(found.question.as_deref())?.id;
        let SavedPanelInfo { members, size, shares, seed, rule, .. } = found;
        Ok(PanelRequest { question, members, size, shares, seed, rule, draws })
    }

    fn saved(&self, name: &str) -> Result<SavedPanelInfo, ProjectError> {
        let all = self.list()?;
        let known = all.iter().map(|panel| panel.name.as_str()).collect::<Vec<_>>().join(", ");
        let found = all.iter().find(|panel| panel.name == name.trim()).cloned();
        Ok(found.ok_or(PanelError::NoSuchPanel { name: name.to_owned(), known })?)
    }
}

fn panel_info(saved: SavedPanel) -> Option<SavedPanelInfo> {
    let panel = saved.panel?;
    let (members, size, shares, seed) = match panel.members {
        PanelMembers::Named(members) => (members, 0, Vec::new(), 0),
        PanelMembers::Drawn { size, shares, seed } => (Vec::new(), size, shares, seed),
    };
    Some(SavedPanelInfo {
        name: saved.name,
        question: panel.question,
        members,
        size,
        shares,
        seed,
        rule: panel.rule.to_string(),
        saved_at: saved.saved_at_ms as f64,
    })
}
