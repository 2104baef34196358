//! The window of Dissensus: thin commands and events on top of the workbench.
//!
//! It contains no logic. A command passes its arguments to [`dissensus_app`] on a blocking thread and
//! returns the result; an event of the workbench becomes an event of the window. [`bindings::builder`] is
//! the single list of both, from which the TypeScript in `ui/src/api/bindings.ts` is generated.

pub mod bindings;
mod closing;
mod commands;
mod download;
mod events;
mod guide;
mod launch;
mod opening;
mod serving;
mod state;
mod update_check;
mod upgrade;
mod window;

use std::ffi::OsString;
use std::process::ExitCode;

/// Opens the window and returns when it is closed. `arguments` are those after the program's name: what to
/// open, if anything.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    // GTK ends the program with a backtrace if it finds no display.
    let shown = launch::display().map_err(Into::into);
    match shown.and_then(|()| window::run(launch::Launch::read(arguments))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            window::explain_on_stderr(error.as_ref());
            ExitCode::FAILURE
        }
    }
}
