//! Runs test programs for cargo and remembers which of them passed.
//!
//! A program that is unchanged, with all that it reads, is not run again within a week: its earlier result is
//! printed. On a CI machine (where CI is set) every program runs.

use crate::project::Project;
use crate::shell::{Program, say};
use crate::stamp::{add, digest_of, hex, is_recent};
use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The name of this task on xtask's command line, which only cargo types.
pub(crate) const COMMAND: &str = "run-test";
/// Begins the printed line of a result that is not new.
pub(crate) const EARLIER: &str = "earlier test result: ";
/// Begins the last line of a test program.
pub(crate) const RESULT: &str = "test result: ";
/// Variables with these names, or names that begin like this, can change what a test does.
const VARIABLES: [&str; 12] = [
    "DISSENSUS_",
    "HF_",
    "HOME",
    "INSTA_",
    "LANG",
    "LC_",
    "PATH",
    "PROPTEST_",
    "PYTHON",
    "RAYON_",
    "RUST_",
    "TZ",
];
/// Built programs that tests start.
const STARTED: [&str; 3] = ["dissensus", "dissensus-window", "dissensus-bench"];

/// The folders that test programs read.
struct Folders {
    root: PathBuf,
    target: PathBuf,
    data: PathBuf,
}

/// Arguments for `cargo test` that run its programs through this task.
pub(crate) fn cargo_arguments(project: &Project) -> Result<Vec<String>> {
    let xtask = project.binary("debug", "xtask");
    let parts = [&xtask, Path::new(COMMAND), &project.root, &project.target, &project.data_folder()];
    let parts: Vec<String> = parts.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    // An array of strings is written the same in TOML and JSON.
    let runner = serde_json::to_string(&parts)?;
    Ok(vec!["--config".to_owned(), format!("target.'cfg(all())'.runner={runner}")])
}

/// Runs the test program in `arguments`, which begin with the folders of [`cargo_arguments`].
///
/// # Errors
/// It failed.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let [root, target, data, program, options @ ..] = arguments else {
        bail!("`cargo xtask {COMMAND}` is run by cargo only");
    };
    let folders = Folders { root: root.into(), target: target.into(), data: data.into() };
    // Without a digest, as where a file cannot be read, the program runs, and is not remembered.
    let digest = || digest_of_test(&folders, Path::new(program), options).ok();
    let results = folders.target.join("xtask/passed");
    let before = digest();
    let path = before.as_ref().map(|digest| results.join(digest));
    if let Some(path) = &path {
        if std::env::var_os("CI").is_none()
            && let Some(result) = earlier(path)
        {
            say(format!("unchanged since it passed: {program}"));
            println!("{EARLIER}{result}");
            return Ok(());
        }
        // It may be missing. If the program fails now, or is killed, it has not passed.
        let _ = fs::remove_file(path);
    }
    let mut result = None;
    let end = Program::new(program).args(options).lines(|line| {
        if let Some(line) = line.strip_prefix(RESULT) {
            result = Some(line.to_owned());
        }
    })?;
    if !end.success() {
        bail!("{program} failed ({end})");
    }
    // A file that was edited meanwhile may have been read before or after.
    if let (Some(path), Some(result)) = (path, result)
        && digest() == before
    {
        fs::create_dir_all(&results)?;
        fs::write(&path, result).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

/// Removes the results that are no longer valid.
pub(crate) fn clean(project: &Project) {
    let files = fs::read_dir(project.stamps().join("passed")).into_iter().flatten().flatten();
    for path in files.map(|file| file.path()).filter(|path| !is_recent(path)) {
        // Another run may have removed it.
        let _ = fs::remove_file(path);
    }
}

/// A result that is still valid.
fn earlier(path: &Path) -> Option<String> {
    let result = fs::read_to_string(path).ok()?;
    (result.starts_with("ok.") && is_recent(path)).then_some(result)
}

/// A digest of everything that the result of a test program may depend on: the program and its options,
/// variables, and files. Programs of `crates` read no sources, and nothing but the files of `crates`,
/// `migrations`, `sample`, `tools` and the cases of the page; all others read any file of the checkout.
/// Programs, encoders and data sets count by size and time, other files by content.
fn digest_of_test(folders: &Folders, program: &Path, options: &[&str]) -> Result<String> {
    let mut digest = Sha256::new();
    let here = std::env::current_dir()?;
    add(&mut digest, here.as_os_str().as_encoded_bytes());
    options.iter().for_each(|option| add(&mut digest, option.as_bytes()));
    let mut variables: Vec<_> = std::env::vars_os().collect();
    variables.retain(|(name, _)| {
        VARIABLES.iter().any(|start| name.as_encoded_bytes().starts_with(start.as_bytes()))
    });
    variables.sort();
    for (name, value) in &variables {
        add(&mut digest, name.as_encoded_bytes());
        add(&mut digest, value.as_encoded_bytes());
    }
    let named = ["DISSENSUS_DEB", "DISSENSUS_MODELS"].map(std::env::var_os).into_iter().flatten();
    named.map(PathBuf::from).try_for_each(|path| add_state(&mut digest, &path))?;
    add_state(&mut digest, program)?;
    let shared = ["crates", "migrations", "sample", "tools", "ui/src/page/cases"];
    let shared = shared.map(|name| folders.root.join(name));
    let of_crates = here.starts_with(&shared[0]);
    if !of_crates || here.ends_with("crates/bench") {
        for name in STARTED {
            let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
            add_state(&mut digest, &folders.target.join("debug").join(name))?;
        }
    }
    let models = folders.root.join("models");
    let is_read = |path: &Path| {
        let is_source = path.extension().is_some_and(|ending| ending == "rs");
        path != models && path != folders.target && !(of_crates && is_source)
    };
    for folder in if of_crates { &shared[..] } else { std::slice::from_ref(&folders.root) } {
        add(&mut digest, &digest_of(folder, is_read)?);
    }
    let (exchange, cases) = (folders.data.join("../exchange"), folders.root.join("../shared/cases"));
    [&models, &folders.data, &exchange, &cases]
        .into_iter()
        .try_for_each(|path| add_state(&mut digest, path))?;
    Ok(hex(&digest.finalize()))
}

/// Adds names, sizes and times of the files at `path`.
fn add_state(digest: &mut Sha256, path: &Path) -> Result<()> {
    add(digest, path.as_os_str().as_encoded_bytes());
    // Nothing is there: that is a state too.
    let Ok(state) = fs::metadata(path) else { return Ok(()) };
    if !state.is_dir() {
        let time = state.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        add(digest, &state.len().to_le_bytes());
        add(digest, &time.as_nanos().to_le_bytes());
        return Ok(());
    }
    let mut inside = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    inside.sort();
    inside.iter().try_for_each(|path| add_state(digest, path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::VALID;
    use std::time::{Duration, SystemTime};

    /// A checkout in a temporary folder.
    fn folders(root: &Path) -> Folders {
        for (name, content) in [("crates/a/data.csv", "1"), ("docs/page.md", "2"), ("bin/test", "3")] {
            write(&root.join(name), content);
        }
        Folders { root: root.to_owned(), target: root.join("target"), data: root.join("data") }
    }

    fn write(path: &Path, content: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    #[test]
    fn digest_follows_program_options_files_and_data() {
        let root = tempfile::tempdir().unwrap();
        let folders = folders(root.path());
        let program = root.path().join("bin/test");
        let digest = |options: &[&str]| digest_of_test(&folders, &program, options).unwrap();
        let first = digest(&[]);
        write(&folders.target.join("debug/build/out.txt"), "built");
        assert_eq!(digest(&[]), first);
        assert_ne!(digest(&["--ignored"]), first);
        let mut seen = vec![first];
        let changed = [
            "crates/a/data.csv",
            "crates/models/data.csv",
            "docs/page.md",
            "bin/test",
            "data/new.csv",
            "models/new.bin",
            "target/debug/dissensus-bench",
        ];
        for name in changed {
            let name = if name.starts_with("target") {
                format!("{name}{}", std::env::consts::EXE_SUFFIX)
            } else {
                name.to_owned()
            };
            write(&root.path().join(&name), "another");
            let now = digest(&[]);
            assert!(!seen.contains(&now), "{name}");
            seen.push(now);
        }
    }

    #[test]
    fn results_are_valid_for_a_week_and_only_if_ok() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result");
        assert_eq!(earlier(&path), None);
        fs::write(&path, "ok. 3 passed; 0 failed").unwrap();
        assert_eq!(earlier(&path).as_deref(), Some("ok. 3 passed; 0 failed"));
        let old = SystemTime::now() - VALID - Duration::from_secs(1);
        fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        assert_eq!(earlier(&path), None);
        fs::write(&path, "").unwrap();
        assert_eq!(earlier(&path), None);
    }
}
