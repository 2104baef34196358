//! `study mask`: what is masked in texts that are handed out.

use super::{open, open_to_read};
use crate::args::Mask;
use crate::output;
use crate::progress::Bar;
use anyhow::{Context as _, Result, bail};
use dissensus_api::{
    MaskFound, MaskPreview, MaskQuery, MaskRuleCount, MaskSettings, NameCandidate, NameCandidates,
};
use dissensus_app::session::Session;
use dissensus_domain::{MaskException, MaskRule, MaskRules};
use dissensus_project::words::counted;
use dissensus_transfer::study;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// The largest list of words, in bytes.
const LARGEST_LIST: u64 = 4 << 20;

/// What `study mask --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct Masks {
    /// The rules in effect.
    settings: MaskSettings,
    /// What these rules find, or with `--dry-run` those that were tried.
    preview: MaskPreview,
}

pub(crate) fn mask(args: &Mask) -> Result<()> {
    let writes = args.changes() && !args.dry_run;
    let session = if writes { open(&args.project.path)? } else { open_to_read(&args.project.path)? };
    if args.names {
        return names(args, &session);
    }
    let rules = changed(args, &session, study::mask_settings(&session.study)?.rules)?;
    let settings = match writes {
        true => study::set_masks(&session.study, &rules)?,
        false => study::mask_settings(&session.study)?,
    };
    let query = MaskQuery {
        rules: Some(rules.clone()),
        rule: args.rule,
        search: args.search.clone(),
        most: args.top,
    };
    let bar = Bar::new("texts");
    let preview = study::preview_masks(&session.study, &query, &bar);
    drop(bar);
    let preview = preview?;
    if args.output.json {
        return output::json(&Masks { settings, preview });
    }
    print(args, &rules, &settings, &preview)
}

/// The rules with the changes of the options.
fn changed(args: &Mask, session: &Session, mut rules: MaskRules) -> Result<MaskRules> {
    if args.mask_nothing {
        return Ok(MaskRules::default());
    }
    let words = match (&args.words, &args.words_from) {
        (Some(file), _) => Some(words_in(file)?),
        (None, Some(column)) => Some(study::words_of_column(&session.study, column)?),
        (None, None) => None,
    };
    if let Some(words) = words {
        rules.words = words;
        rules.on.push(MaskRule::Words);
    }
    if let Some(pattern) = &args.pattern {
        rules.pattern.clone_from(pattern);
        rules.on.push(MaskRule::Pattern);
    }
    rules.on.extend(&args.on);
    rules.on.retain(|rule| !args.off.contains(rule));
    rules.exact = (rules.exact || args.exact) && !args.any_case;
    if args.no_exceptions {
        rules.except.clear();
    }
    let exception = |found: &String| MaskException { found: found.clone(), text: args.except_in.clone() };
    rules.except.extend(args.except.iter().map(exception));
    Ok(rules.tidied())
}

/// The words of a file, one in each line.
fn words_in(file: &Path) -> Result<Vec<String>> {
    let reading = || format!("reading {}", file.display());
    let bytes = std::fs::metadata(file).with_context(reading)?.len();
    if bytes > LARGEST_LIST {
        bail!("{} has {bytes} bytes, and a list of words may have {LARGEST_LIST}", file.display());
    }
    let Ok(words) = String::from_utf8(std::fs::read(file).with_context(reading)?) else {
        bail!("{} is not in UTF-8: save it in UTF-8, with one word or name in each line", file.display());
    };
    Ok(words.trim_start_matches('\u{feff}').lines().map(str::to_owned).collect())
}

fn print(args: &Mask, rules: &MaskRules, settings: &MaskSettings, preview: &MaskPreview) -> Result<()> {
    if args.dry_run && args.changes() {
        output::line("This is a preview: nothing was changed")?;
    }
    if rules.on.is_empty() {
        output::line("Nothing is masked in texts that are handed out")?;
    } else {
        let row =
            |one: &MaskRuleCount| vec![one.rule.to_string(), one.places.to_string(), one.texts.to_string()];
        let rows = preview.rules.iter().map(row).collect();
        output::line(&output::table(&["rule", "places", "texts"], rows, &[1, 2]))?;
        output::line(&format!(
            "{} in {} of {} are masked",
            counted(preview.masked.into(), "place"),
            preview.masked_texts,
            counted(preview.texts.into(), "text")
        ))?;
    }
    if preview.excepted > 0 {
        output::line(&format!("{} left as it is by exceptions", counted(preview.excepted.into(), "place")))?;
    }
    if preview.whole_texts > 0 {
        output::line(&format!(
            "{} masked as a whole, such as {}",
            counted(preview.whole_texts.into(), "text"),
            preview.whole_text_ids.join(", ")
        ))?;
    }
    if !preview.found.is_empty() {
        let row = |one: &MaskFound| {
            let found = output::cut(&one.found, 40);
            vec![
                one.rule.to_string(),
                found,
                one.places.to_string(),
                one.excepted.to_string(),
                one.text.clone(),
                context(&one.before, &one.found, &one.after),
            ]
        };
        let header = ["rule", "found", "places", "left", "first text", ""];
        output::line(&output::table(&header, preview.found.iter().map(row).collect(), &[2, 3]))?;
    }
    if preview.left_off > 0 {
        output::line(&format!("{} more: see --top, --rule and --search", preview.left_off))?;
    }
    if settings.masked_packets > 0 {
        output::line(&format!(
            "{} of {} handed out with masks",
            settings.masked_packets,
            counted(settings.packets.into(), "packet")
        ))?;
    }
    match rules.on.is_empty() {
        true => Ok(()),
        false => output::line("What no rule finds is not masked: look at texts before you hand them out"),
    }
}

/// A place in one line.
fn context(before: &str, found: &str, after: &str) -> String {
    let whole = format!("{before}{found}{after}");
    output::cut(&whole.split_whitespace().collect::<Vec<_>>().join(" "), 60)
}

fn names(args: &Mask, session: &Session) -> Result<()> {
    let bar = Bar::new("texts");
    let found = study::name_candidates(&session.study, &bar);
    drop(bar);
    let found = found?;
    if args.output.json {
        return output::json(&found);
    }
    let NameCandidates { applies, candidates } = &found;
    if !applies {
        return output::line(
            "Most letters of these texts are of a script without capitals, in which names cannot be proposed: write a list and give it with --words",
        );
    }
    let row = |one: &NameCandidate| {
        vec![
            one.word.clone(),
            one.places.to_string(),
            one.text.clone(),
            context(&one.before, &one.word, &one.after),
        ]
    };
    let top = candidates.iter().take(args.top as usize);
    output::line(&output::table(&["word", "places", "first text", ""], top.map(row).collect(), &[1]))?;
    output::line("These are guesses: write those that are names into a file, and give it with --words")
}
