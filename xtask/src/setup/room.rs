//! Free disk space: a full disk ends a build in the linker, with an error that does not name the cause.

use crate::project::Project;
use crate::shell::{Program, say, which};
use anyhow::{Result, bail};
use std::path::Path;

/// Space for building every test in an empty target folder, and for the files that tests and packages write.
const WHOLE_MIB: u64 = 13 * 1024;
/// Space that must be free however much the target folder already holds.
const MIN_MIB: u64 = 4 * 1024;

/// Makes sure that there is space for building and testing, emptying the target folder if that is enough.
///
/// # Errors
/// There is too little space all the same; the error states how much is free and how much is needed.
pub(crate) fn ensure(project: &Project) -> Result<()> {
    if which("df").is_none() || which("du").is_none() {
        say("this system has no df and du: how much room the disk has was not looked at");
        return Ok(());
    }
    std::fs::create_dir_all(&project.target)?;
    let (free, held) = (free_mib(&project.target)?, held_mib(&project.target)?);
    say(format!("{} free, {} of it built already", gib(free + held), gib(held)));
    match judge(free, held) {
        Room::Enough => Ok(()),
        Room::AfterCleaning => {
            say(
                "too little next to what was built before: the target folder is emptied, and everything is compiled anew",
            );
            Program::cargo().arg("clean").in_folder(&project.root).run()
        }
        Room::None => bail!(
            "{} are free where {} is, and building every test takes about {}: make room, or name a folder on a larger disk in \
             CARGO_TARGET_DIR",
            gib(free + held),
            project.target.display(),
            gib(WHOLE_MIB)
        ),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Room {
    Enough,
    AfterCleaning,
    None,
}

/// Decides from free space and the size of the target folder. Existing builds are overwritten, but files of
/// an earlier version stay.
fn judge(free: u64, held: u64) -> Room {
    if free >= WHOLE_MIB.saturating_sub(held).max(MIN_MIB) {
        Room::Enough
    } else if free + held >= WHOLE_MIB {
        Room::AfterCleaning
    } else {
        Room::None
    }
}

fn free_mib(folder: &Path) -> Result<u64> {
    let printed = Program::new("df").args(["-Pm"]).arg(folder).output()?;
    match free_of(&printed) {
        Some(free) => Ok(free),
        None => bail!("`df -Pm` printed something else than a table of disks:\n{printed}"),
    }
}

/// The fourth column of the last line, as POSIX describes `df -P`.
fn free_of(printed: &str) -> Option<u64> {
    printed.lines().skip(1).last()?.split_whitespace().nth(3)?.parse().ok()
}

fn held_mib(folder: &Path) -> Result<u64> {
    let printed = Program::new("du").args(["-sm"]).arg(folder).output()?;
    Ok(printed.split_whitespace().next().and_then(|size| size.parse().ok()).unwrap_or(0))
}

fn gib(mib: u64) -> String {
    format!("{:.1} GiB", mib as f64 / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_output_is_deleted_only_if_it_helps() {
        assert_eq!(judge(WHOLE_MIB, 0), Room::Enough);
        assert_eq!(judge(MIN_MIB, WHOLE_MIB), Room::Enough);
        assert_eq!(judge(MIN_MIB - 1, WHOLE_MIB), Room::AfterCleaning);
        assert_eq!(judge(MIN_MIB, 1024), Room::None);
        assert_eq!(judge(0, 0), Room::None);
    }

    #[test]
    fn free_space_is_parsed() {
        let printed = "Filesystem 1048576-blocks Used Available Capacity Mounted on\n/dev/vda 257000 13000 79000 15% /\n";
        assert_eq!(free_of(printed), Some(79_000));
        assert_eq!(free_of("df: no such file\n"), None);
    }
}
