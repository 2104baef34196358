//! `check-update`: whether there is a newer version.

use super::home;
use crate::args::CheckUpdate;
use crate::output;
use crate::progress::Bar;
use anyhow::Result;
use dissensus_app::Application;

pub(crate) fn check_update(args: &CheckUpdate) -> Result<()> {
    let app = Application::new(home()?);
    if let Some(file) = &args.download {
        let checked = app.check_download(file, &Bar::new("bytes"))?;
        if args.output.json {
            return output::json(&checked);
        }
        return output::line(&format!(
            "{} is whole and part of the release of version {}",
            checked.file, checked.version
        ));
    }
    let found = app.check_updates(&Bar::new("requests"))?;
    if args.output.json {
        return output::json(&found);
    }
    match (&found.managed, &found.newer) {
        (Some(how), _) => output::line(how),
        (None, None) => output::line(&format!("This is the newest version ({})", found.version)),
        (None, Some(newer)) => output::line(&format!(
            "Version {} of {} is available; this is {}\nDownload it from {}\n\n{}",
            newer.version,
            newer.date,
            found.version,
            newer.page,
            newer.notes.trim_end()
        )),
    }
}
