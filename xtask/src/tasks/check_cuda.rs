//! `cargo xtask check-cuda`: compiles the `cuda` feature, kernels included, on a machine without a GPU.
//!
//! The compiler and the libraries come from the Python package registry: the wheels are downloaded by hash and unpacked
//! as the zip files they are; none of their code is installed or run by Python.

use crate::fetch::python;
use crate::project::Project;
use crate::shell::{Program, say, step};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// NVIDIA's compiler and libraries, each with its hash. CUDA 13, because the wheels of CUDA 12 lack nvcc itself.
const WHEELS: &str = include_str!("../cuda/wheels.txt");
/// The folder of these wheels that holds bin, include, lib and nvvm.
const INSIDE: &str = "nvidia/cu13";
/// The kernels are compiled for this compute capability unless CUDA_COMPUTE_CAP says otherwise: without a GPU there is none to ask.
const CAPABILITY: &str = "90";

/// Compiles and links the command and the window with the `cuda` feature.
///
/// # Errors
/// The compiler cannot be had on this system, or something does not compile or link.
pub(crate) fn run(project: &Project) -> Result<()> {
    if !(cfg!(target_os = "linux") && cfg!(target_arch = "x86_64")) {
        bail!("the wheels with NVIDIA's compiler exist for x86-64 Linux only");
    }
    let toolkit = step("CUDA compiler and libraries", || toolkit(project))?;
    let cargo = |verb: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths(std::iter::once(toolkit.join("bin")).chain(std::env::split_paths(&path)));
        let capability = std::env::var("CUDA_COMPUTE_CAP").unwrap_or_else(|_| CAPABILITY.to_owned());
        // A folder of its own: this feature must not make the everyday build compile everything again.
        Ok::<_, anyhow::Error>(
            Program::cargo()
                .arg(verb)
                .arg("--target-dir")
                .arg(project.target.join("cuda"))
                .env("CUDA_HOME", &toolkit)
                .env("CUDA_PATH", &toolkit)
                .env("CUDA_COMPUTE_CAP", capability)
                .env("LIBRARY_PATH", toolkit.join("lib"))
                .env("PATH", path.context("the PATH has a folder with a colon in its name")?)
                .in_folder(&project.root),
        )
    };
    step("command with `cuda`: build and link", || {
        cargo("build")?.args(["--package", "dissensus-cli", "--features", "dissensus-cli/cuda"]).run()
    })?;
    step("window with `cuda`: check", || {
        cargo("check")?.args(["--package", "dissensus-window", "--features", "dissensus-window/cuda"]).run()
    })?;
    let binary = project.target.join("cuda/debug/dissensus");
    step("the command starts where there is no GPU", || {
        // Its own libraries are those of the toolkit; the driver's library is what such a machine lacks.
        let version = Program::new(&binary).arg("--version").env("LD_LIBRARY_PATH", toolkit.join("lib"));
        say(version.output()?.trim());
        Ok(())
    })
}

/// The folder to name as CUDA_HOME, unpacked once and kept in the target folder.
fn toolkit(project: &Project) -> Result<PathBuf> {
    let folder = project.stamps().join("cuda");
    let toolkit = folder.join(INSIDE);
    let done = folder.join("wheels.txt");
    if fs::read_to_string(&done).is_ok_and(|list| list == WHEELS) {
        say("unchanged");
        return Ok(toolkit);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    let downloads = folder.join("downloads");
    fs::create_dir_all(&downloads).with_context(|| format!("making {}", downloads.display()))?;
    let list = folder.join("requirements.txt");
    fs::write(&list, WHEELS).context("writing the list of wheels")?;
    python::ensure_pip()?;
    python::download(&list, &downloads)?;
    for wheel in python::wheels(&downloads)? {
        python::unzip(&wheel, &folder)?;
        fs::remove_file(&wheel)?;
    }
    for program in files(&toolkit.join("bin"))?.into_iter().chain(files(&toolkit.join("nvvm/bin"))?) {
        executable(&program)?;
    }
    link(&toolkit)?;
    fs::write(&done, WHEELS).context("noting what was unpacked")?;
    Ok(toolkit)
}

/// The names that compilers and linkers look for: `lib64`, and each library without its version.
#[cfg(unix)]
fn link(toolkit: &Path) -> Result<()> {
    use std::os::unix::fs::symlink;
    let lib = toolkit.join("lib");
    symlink("lib", toolkit.join("lib64")).context("linking lib64")?;
    for library in files(&lib)? {
        let name = library.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some((plain, _version)) = name.split_once(".so.") {
            let link = lib.join(format!("{plain}.so"));
            if !link.exists() {
                symlink(&name, &link).with_context(|| format!("linking {}", link.display()))?;
            }
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn link(_: &Path) -> Result<()> {
    bail!("links are made on Unix only")
}

/// Zip files of wheels carry the permission to execute, but Python's unpacker leaves it out.
#[cfg(unix)]
fn executable(program: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut permissions = fs::metadata(program)?.permissions();
    permissions.set_mode(permissions.mode() | 0o111);
    fs::set_permissions(program, permissions)
        .with_context(|| format!("making {} executable", program.display()))
}

#[cfg(not(unix))]
fn executable(_: &Path) -> Result<()> {
    Ok(())
}

/// The plain files of a folder, in order of their names.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("the wheels hold no {}", folder.display()))? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn every_wheel_is_pinned_and_has_a_hash() {
        let lines: Vec<&str> = WHEELS.lines().filter(|line| !line.is_empty()).collect();
        assert!(lines.len() >= 8);
        assert!(lines.iter().all(|line| line.contains("==") && line.contains("--hash=sha256:")), "{lines:?}");
    }

    #[test]
    fn libraries_are_linked_without_their_version() {
        let toolkit = tempfile::tempdir().unwrap();
        let lib = toolkit.path().join("lib");
        fs::create_dir(&lib).unwrap();
        fs::write(lib.join("libcublas.so.13"), "library").unwrap();
        fs::write(lib.join("libculibos.a"), "archive").unwrap();
        link(toolkit.path()).unwrap();
        assert_eq!(fs::read_to_string(toolkit.path().join("lib64/libcublas.so")).unwrap(), "library");
        assert_eq!(fs::read_dir(&lib).unwrap().count(), 3);
    }
}
