//! Installs what the project needs before it can be built.

pub(crate) mod apt;
pub(crate) mod geckodriver;
pub(crate) mod node;
pub(crate) mod room;
pub(crate) mod system;

use crate::project::Project;
use crate::shell::step;
use anyhow::Result;

/// What the machine is set up for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Building and running the window.
    Window,
    /// Running the end-to-end tests too.
    Tests,
}

/// Sets up system libraries, Node and the window's packages.
pub(crate) fn everything(project: &Project, need: Need) -> Result<()> {
    step("system libraries", || system::ensure(need))?;
    step("Node", node::ensure)?;
    step("npm packages", || node::packages(project))
}
