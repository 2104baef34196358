//! `people language`: the language in which annotators use the desk.

use super::{open, open_to_read};
use crate::args::Language;
use crate::output;
use anyhow::Result;
use dissensus_editing::{info, language};
use schemars::JsonSchema;
use serde::Serialize;

/// What `language --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct LanguageState {
    /// Its tag; null leaves it to each person's system.
    language: Option<dissensus_domain::Language>,
}

pub(crate) fn language(args: &Language) -> Result<()> {
    let session = match &args.to {
        None => open_to_read(&args.project.path)?,
        Some(to) => {
            let session = open(&args.project.path)?;
            // Everything but the languages is `auto`.
            language::set(&session.project, to.parse().ok())?;
            session
        }
    };
    let language = info::read(&session.project)?.language;
    session.close();
    if args.output.json {
        return output::json(&LanguageState { language });
    }
    output::line(&match language {
        Some(language) => format!("Annotators use the desk in this language: {language}"),
        None => "Annotators use the desk in the language of their system or browser".to_owned(),
    })
}
