//! The Python package: its tests, on the module that the workspace build made, and its wheel.

use crate::project::Project;
use crate::shell::{Program, say};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// What pip installs to build a wheel.
const MATURIN: &str = "maturin==1.16.0";

/// Runs pytest on the package in a virtual environment of its own; fails if a test fails.
/// Without Python it prints that the tests were not run.
pub(crate) fn test(project: &Project) -> Result<()> {
    let Some(python) = environment(project, "tests", "python/tests/requirements.txt")? else {
        say(
            "NOT RUN: the tests of the Python package need Python 3.11 or later with venv and pip, and network or a cache for pip",
        );
        return Ok(());
    };
    let stage = stage(project)?;
    Program::new(python)
        .args(["-m", "pytest", "-p", "no:cacheprovider", "--doctest-modules", "dissensus", "tests"])
        .in_folder(&stage)
        .env("PYTHONPATH", &stage)
        .env("DISSENSUS_BIN", project.binary("debug", "dissensus"))
        .env("DISSENSUS_MODELS", project.models())
        .env("DISSENSUS_DATA", project.data_folder())
        .run()
}

/// Makes a wheel for this system and every Python from 3.10 on.
pub(crate) fn wheel(project: &Project) -> Result<Option<PathBuf>> {
    let folder = project.target.join("python/maturin");
    if !folder.is_dir() && !new_environment(&folder) {
        say("NOT MADE: a wheel of the Python package needs python3 with venv and pip");
        return Ok(None);
    }
    let python = interpreter(&folder);
    Program::new(&python).args(["-m", "pip", "install", "--quiet", MATURIN]).run()?;
    let out = project.target.join("python/wheels");
    fs::create_dir_all(&out).with_context(|| format!("making {}", out.display()))?;
    // One wheel for both processors of Macs, whose compilers `packages` installed.
    let target: &[&str] =
        if cfg!(target_os = "macos") { &["--target", "universal2-apple-darwin"] } else { &[] };
    Program::new(&python)
        .args(["-m", "maturin", "build", "--profile", "dist", "--locked"])
        .args(target)
        .arg("--out")
        .arg(&out)
        .in_folder(&project.root.join("python"))
        .run()?;
    let files = fs::read_dir(&out)?.filter_map(|entry| Some(entry.ok()?.path()));
    let newest = files
        .filter(|path| path.extension().is_some_and(|ending| ending == "whl"))
        .max_by_key(|path| fs::metadata(path).and_then(|of| of.modified()).ok());
    newest.map(Some).context("maturin made no wheel")
}

/// A virtual environment called `name` with the packages in the file `requirements` of the checkout; `None`
/// if it cannot be made.
///
/// # Errors
/// On a CI machine also where a package cannot be fetched.
pub(crate) fn environment(project: &Project, name: &str, requirements: &str) -> Result<Option<PathBuf>> {
    let folder = project.target.join("python").join(name);
    let wanted = project.root.join(requirements);
    let list = fs::read_to_string(&wanted).with_context(|| format!("reading {}", wanted.display()))?;
    let stamp = folder.join("installed.txt");
    let python = interpreter(&folder);
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == list) {
        return Ok(Some(python));
    }
    let new_enough =
        Program::python().args(["-c", "import sys; sys.exit(sys.version_info < (3, 11))"]).succeeds();
    if !new_enough || !new_environment(&folder) {
        return Ok(None);
    }
    // Pinned, with all dependencies: nothing else is installed.
    let install = Program::new(&python)
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "-r"])
        .arg(&wanted);
    if let Err(error) = install.run() {
        if std::env::var_os("CI").is_some() {
            return Err(error);
        }
        say(format!("{error:#}"));
        return Ok(None);
    }
    fs::write(&stamp, list).with_context(|| format!("writing {}", stamp.display()))?;
    Ok(Some(python))
}

fn new_environment(folder: &Path) -> bool {
    Program::python().args(["-m", "venv", "--clear"]).arg(folder).succeeds()
}

fn interpreter(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

/// Stages the package as it is installed, with the module that `cargo build` made next to its Python files,
/// and its tests.
fn stage(project: &Project) -> Result<PathBuf> {
    let stage = project.target.join("python/stage");
    if stage.is_dir() {
        fs::remove_dir_all(&stage).with_context(|| format!("removing {}", stage.display()))?;
    }
    for part in ["dissensus", "tests"] {
        let (from, to) = (project.root.join("python").join(part), stage.join(part));
        fs::create_dir_all(&to).with_context(|| format!("making {}", to.display()))?;
        for entry in fs::read_dir(&from).with_context(|| format!("reading {}", from.display()))? {
            let file = entry?.path();
            if let (true, Some(name)) = (file.is_file(), file.file_name()) {
                fs::copy(&file, to.join(name)).with_context(|| format!("copying {}", file.display()))?;
            }
        }
    }
    let built = format!("{}dissensus_python{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let built = project.target.join("debug").join(built);
    if !built.is_file() {
        bail!("{} is not there: run `cargo xtask test --only build` first", built.display());
    }
    let module = if cfg!(windows) { "_native.pyd" } else { "_native.abi3.so" };
    let to = stage.join("dissensus").join(module);
    fs::hard_link(&built, &to)
        .or_else(|_| fs::copy(&built, &to).map(drop))
        .with_context(|| format!("copying {}", built.display()))?;
    Ok(stage)
}
