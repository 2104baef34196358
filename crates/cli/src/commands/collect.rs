//! `study collect`: merges the submissions that people put into a folder.

use super::study::print_merge;
use super::{count, encryption, note, open_in};
use crate::args::Collect;
use crate::output;
use crate::progress::Bar;
use anyhow::{Result, bail};
use dissensus_api::MergeReport;
use dissensus_project::jobs::Progress as _;
use dissensus_transfer::study::DropFolder;
use std::time::Duration;

/// How often a folder is looked at.
const LOOK: Duration = Duration::from_secs(2);
/// How often Ctrl-C is looked for meanwhile.
const ASK: Duration = Duration::from_millis(100);
/// How long a watching command waits for a project that another program has open.
const WAIT: Duration = Duration::from_hours(24);

pub(crate) fn collect(args: &Collect) -> Result<()> {
    let passphrase = encryption::known_passphrase(args.passphrase.file.as_deref())?;
    let mut folder = DropFolder::new(&args.folder).with_passphrase(passphrase);
    let wait = Duration::from_secs(args.wait.seconds);
    let (refused, _) = look(args, &mut folder, wait, &[])?;
    if !args.watch {
        return match refused {
            0 => Ok(()),
            n => bail!("{} not merged", count(n as u64, "file")),
        };
    }
    output::line(&format!("Watching {}. Ctrl-C ends it", args.folder.display()))?;
    let (bar, mut waiting, mut last) = (Bar::new("looks"), Vec::new(), String::new());
    while !bar.cancelled() {
        // Between two looks other programs can have the project.
        let looked = match folder.has_news() {
            Ok(false) => Ok(None),
            Ok(true) => look(args, &mut folder, WAIT, &waiting).map(Some),
            Err(error) => Err(error.into()),
        };
        match looked {
            Ok(Some((_, still))) => waiting = still,
            Ok(None) => {}
            // The folder of a network, and a full disk, may come back.
            Err(error) => {
                let now = format!("{error:#}");
                if now != last {
                    note(&now);
                }
                last = now;
            }
        }
        let mut slept = Duration::ZERO;
        while slept < LOOK && !bar.cancelled() {
            std::thread::sleep(ASK);
            slept += ASK;
        }
    }
    Ok(())
}

/// Merges what is new, and prints it; returns the number of refused files, and the lines about other files,
/// of which `known` are not printed again.
fn look(
    args: &Collect,
    folder: &mut DropFolder,
    wait: Duration,
    known: &[String],
) -> Result<(usize, Vec<String>)> {
    let session = open_in(&args.project.path, wait)?;
    let found = folder.collect(&session.study)?;
    let refused = found.files.iter().filter(|file| file.refused).count();
    let nothing = found.files.is_empty();
    print_merge(&MergeReport { files: found.files }, false)?;
    let waiting = found.waiting.into_iter().map(|path| format!("{path}: not complete yet"));
    let other = folder.passed_over().map(|path| format!("{}: no submission, passed over", path.display()));
    let lines: Vec<String> = waiting.chain(other).collect();
    for line in lines.iter().filter(|line| !known.contains(line)) {
        output::line(line)?;
    }
    if nothing && !args.watch {
        output::line(&format!("Nothing new in {}", args.folder.display()))?;
    }
    Ok((refused, lines))
}
