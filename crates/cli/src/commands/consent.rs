//! `people consent`: the text that people agree to before they answer.

use super::{open, open_to_read};
use crate::args::Consent;
use crate::output;
use anyhow::{Context as _, Result, bail};
use dissensus_api::ConsentState;
use dissensus_editing::{annotators, consent};
use dissensus_project::clock::local_time;

pub(crate) fn consent(args: &Consent) -> Result<()> {
    let changes = args.nothing || args.from.is_some() || args.agreed.is_some();
    let session = if changes { open(&args.project.path)? } else { open_to_read(&args.project.path)? };
    let project = &session.project;
    if let Some(file) = &args.from {
        let body = std::fs::read_to_string(file)
            .with_context(|| format!("reading {}: a consent text must be text in UTF-8", file.display()))?;
        consent::set(project, Some(&body))?;
    }
    if args.nothing {
        consent::set(project, None)?;
    }
    if let Some(name) = &args.agreed {
        let state = consent::read(project)?;
        let asked = state.versions.into_iter().find(|one| Some(one.number) == state.in_effect);
        let Some(asked) = asked else {
            bail!(
                "nobody is asked to agree to anything: `dissensus people consent PROJECT --from FILE.md` writes the text"
            )
        };
        consent::agree(project, annotators::find(project, name)?.id, &asked.version)?;
    }
    let state = consent::read(project)?;
    session.close();
    match args.output.json {
        true => output::json(&state),
        false => print(&state),
    }
}

fn print(state: &ConsentState) -> Result<()> {
    for one in &state.versions {
        let people = match one.people.is_empty() {
            true => "nobody".to_owned(),
            false => one.people.join(", "),
        };
        output::line(&format!("Version {} of {}, agreed to by {people}", one.number, local_time(one.at)))?;
    }
    let Some(asked) = state.versions.iter().find(|one| Some(one.number) == state.in_effect) else {
        return output::line("People are asked to agree to nothing");
    };
    output::line(&format!("\nVersion {} is asked for:\n", asked.number))?;
    asked.body.lines().try_for_each(output::text)
}
