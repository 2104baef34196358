//! `cargo xtask check-cuda`: compiles the `cuda` feature, kernels included, on a machine without a GPU.
//! `cargo xtask cuda` packs the command for machines with one.
//!
//! The compiler and the libraries are from the Python package registry: the wheels are downloaded by hash and
//! unpacked as zip files; Python installs or runs none of their code.

use crate::fetch::{self, python};
use crate::manifests;
use crate::packages;
use crate::project::Project;
use crate::shell::{Program, say, step};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// NVIDIA's compiler and libraries with hashes. CUDA 13, because the wheels of CUDA 12 lack nvcc itself.
const WHEELS: &str = include_str!("../cuda/wheels.txt");
/// The folder of these wheels that holds bin, include, lib and nvvm.
const INSIDE: &str = "nvidia/cu13";
/// The folder of the stub of the driver's library, below the toolkit.
const STUBS: &str = "lib/stubs";
/// The compute capability to compile kernels for, unless CUDA_COMPUTE_CAP is set:
/// without a GPU it cannot be detected.
const CAPABILITY: &str = "90";
/// The compute capability of the oldest GPUs that the archive is for. Drivers compile its kernels for later
/// ones.
const OLDEST: &str = "80";
/// What cargo builds.
const COMMAND: [&str; 4] = ["--package", "dissensus-cli", "--features", "dissensus-cli/cuda"];
/// What the archive of the command needs.
const NEEDS: &str = "\
The command `dissensus` for NVIDIA GPUs. It needs NVIDIA's driver and, from CUDA 13, the libraries cuBLAS, cuRAND and
NVRTC in a folder of LD_LIBRARY_PATH, and a GPU of compute capability 8.0 or later. The installers without CUDA need
neither.
";

/// Compiles and links the command and the window with the `cuda` feature.
///
/// # Errors
/// The compiler is not available for this system, or something does not compile or link.
pub(crate) fn run(project: &Project) -> Result<()> {
    let toolkit = ready(project)?;
    step("command with `cuda`: build and link", || cargo(project, &toolkit, "build")?.args(COMMAND).run())?;
    step("window with `cuda`: check", || {
        let window = ["--package", "dissensus-window", "--features", "dissensus-window/cuda"];
        cargo(project, &toolkit, "check")?.args(window).run()
    })?;
    fetch::default_encoders(project)?;
    step("without a GPU the command reports it and computes on the CPU", || {
        let project_file = project.target.join("cuda/sample.dissensus");
        if project_file.exists() {
            fs::remove_file(&project_file).context("removing the sample project of an earlier check")?;
        }
        let libraries = std::env::join_paths([toolkit.join("lib"), toolkit.join(STUBS)])?;
        let dissensus = |arguments: &[&str]| {
            Program::new(project.target.join("cuda/debug/dissensus"))
                .args(arguments)
                .arg(&project_file)
                .env("LD_LIBRARY_PATH", &libraries)
                .env("DISSENSUS_MODELS", project.root.join("models"))
        };
        dissensus(&["sample"]).run()?;
        let encoded: serde_json::Value = serde_json::from_str(&dissensus(&["encode", "--json"]).output()?)
            .context("reading the output of encode")?;
        match encoded["device"].as_str() {
            Some("cpu") => say("device: cpu"),
            other => bail!("the command should compute on the CPU here; it printed {other:?}"),
        }
        if dissensus(&["encode", "--device", "cuda"]).succeeds() {
            bail!("`encode --device cuda` should fail where there is no GPU");
        }
        Ok(())
    })
}

/// Makes an archive of the command with the `cuda` feature, among the files of a release. It is not packed
/// with the window, because it starts only where NVIDIA's driver and libraries are installed.
///
/// # Errors
/// The compiler is not available for this system, or a step failed; or the command of a release would have no
/// address of releases.
pub(crate) fn archive(project: &Project) -> Result<()> {
    manifests::check_address()?;
    let toolkit = ready(project)?;
    crate::setup::node::ensure()?;
    crate::setup::node::packages(project)?;
    // The command holds the page of a packet.
    step("web side", || crate::setup::node::build(project))?;
    step("command with `cuda`: build", || {
        let cargo = cargo(project, &toolkit, "build")?.args(COMMAND).args(["--profile", "dist"]);
        let cargo = cargo.env("CUDA_COMPUTE_CAP", OLDEST);
        cargo.env(packages::PACKED.0, packages::PACKED.1).run()
    })?;
    let folder = super::release::folder(project);
    let name = format!("dissensus-cuda_{}_x86-64", env!("CARGO_PKG_VERSION"));
    let content = project.target.join("cuda").join(&name);
    for folder in [&content, &folder] {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    let program = project.target.join("cuda/dist/dissensus");
    fs::copy(&program, content.join("dissensus"))
        .with_context(|| format!("copying {}", program.display()))?;
    fs::write(content.join("README.txt"), NEEDS).context("writing README.txt")?;
    let archive = folder.join(name + ".tar.gz");
    step("archive", || packages::archive_of(&content, &archive))?;
    say(archive.display().to_string());
    Ok(())
}

/// Fetches what compiles the `cuda` feature; returns the folder to use as CUDA_HOME.
fn ready(project: &Project) -> Result<PathBuf> {
    if !(cfg!(target_os = "linux") && cfg!(target_arch = "x86_64")) {
        bail!("the wheels with NVIDIA's compiler exist for x86-64 Linux only");
    }
    let toolkit = step("CUDA compiler and libraries", || toolkit(project))?;
    step("stand-in for the driver's library", || driver_stub(&toolkit))?;
    Ok(toolkit)
}

/// Cargo with the compiler of the toolkit.
fn cargo(project: &Project, toolkit: &Path, verb: &str) -> Result<Program> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(toolkit.join("bin")).chain(std::env::split_paths(&path)));
    let capability = std::env::var("CUDA_COMPUTE_CAP").unwrap_or_else(|_| CAPABILITY.to_owned());
    // A separate folder: this feature must not make the everyday build compile everything again.
    let cargo = Program::cargo().arg(verb).arg("--target-dir").arg(project.target.join("cuda"));
    Ok(cargo
        .env("CUDA_HOME", toolkit)
        .env("CUDA_PATH", toolkit)
        .env("CUDA_COMPUTE_CAP", capability)
        .env("LIBRARY_PATH", std::env::join_paths([toolkit.join("lib"), toolkit.join(STUBS)])?)
        .env("PATH", path.context("the PATH has a folder with a colon in its name")?)
        .in_folder(&project.root))
}

/// The folder to use as CUDA_HOME, unpacked once and cached in the target folder.
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
    python::download(&list, &downloads, None)?;
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

/// Builds a stub of the driver's library, which is installed with the driver and not with the compiler. It
/// has every function that the header names, so that programs link and start;
/// each returns that there is no device.
fn driver_stub(toolkit: &Path) -> Result<()> {
    const CUDA_ERROR_NO_DEVICE: u32 = 100;
    let header = toolkit.join("include/cuda.h");
    let header = fs::read_to_string(&header).with_context(|| format!("reading {}", header.display()))?;
    let stubs = toolkit.join(STUBS);
    fs::create_dir_all(&stubs).with_context(|| format!("making {}", stubs.display()))?;
    let source = stubs.join("driver.c");
    let function = |name: &str| format!("int {name}(void) {{ return {CUDA_ERROR_NO_DEVICE}; }}\n");
    fs::write(&source, functions(&header).into_iter().map(function).collect::<String>())
        .with_context(|| format!("writing {}", source.display()))?;
    // Programs look for the name with the version when they start,
    // and for the plain one when they are linked.
    let library = stubs.join("libcuda.so.1");
    Program::new("cc")
        .args(["-shared", "-fPIC", "-w", "-fno-builtin", "-Wl,-soname,libcuda.so.1", "-o"])
        .args([&library, &source])
        .run()?;
    fs::copy(&library, stubs.join("libcuda.so")).context("naming the stand-in for the driver")?;
    Ok(())
}

/// The driver's functions named in its header: `cu` and a capital letter, including names that a macro maps
/// to a version.
fn functions(header: &str) -> BTreeSet<&str> {
    header
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| {
            word.strip_prefix("cu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
        })
        .collect()
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
    fn functions_are_found_with_their_versions() {
        let header = "#define cuMemAlloc cuMemAlloc_v2\nCUresult CUDAAPI cuInit(unsigned int Flags);\ncuuint64_t custom";
        assert_eq!(
            functions(header).into_iter().collect::<Vec<_>>(),
            ["cuInit", "cuMemAlloc", "cuMemAlloc_v2"]
        );
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
