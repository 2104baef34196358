//! The Debian package, installed into a scratch root and used as a desktop would use it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use anyhow::{Context, Result, ensure};
use dissensus_tests::command::Bench;
use dissensus_tests::window::{Start, Window};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The file type of a project.
const MIME: &str = "application/x-dissensus";

/// Where the package was installed.
struct Root {
    path: PathBuf,
}

impl Root {
    /// Installs the package that DISSENSUS_DEB names below the folder of `bench`, by dpkg itself.
    fn install(bench: &Bench) -> Result<Self> {
        let package = std::env::var_os("DISSENSUS_DEB")
            .context("DISSENSUS_DEB names no package: `cargo xtask test --only package` makes one")?;
        let path = bench.path("root");
        let database = path.join("var/lib/dpkg");
        for folder in ["info", "updates"] {
            fs::create_dir_all(database.join(folder))?;
        }
        fs::write(database.join("status"), "")?;
        run(Command::new("dpkg")
            // The scratch root has no libraries for it to depend on, and root is not needed there.
            .args(["--force-depends", "--force-not-root", "--root"])
            .arg(&path)
            .arg("--install")
            .arg(package))?;
        Ok(Self { path })
    }

    fn path(&self, place: &str) -> PathBuf {
        self.path.join(place)
    }

    /// The one desktop entry.
    fn entry(&self) -> Result<PathBuf> {
        // Installing may add a cache of types next to it.
        let entries: Vec<PathBuf> = fs::read_dir(self.path("usr/share/applications"))?
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "desktop"))
            .collect();
        let [entry] = entries.as_slice() else { anyhow::bail!("one desktop entry, not {entries:?}") };
        Ok(entry.clone())
    }

    /// A command that sees the installed files as a desktop's own.
    fn desktop(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let shares = [self.path("usr/share"), "/usr/share".into()];
        let path = std::env::var_os("PATH").unwrap_or_default();
        let bins = std::iter::once(self.path("usr/bin")).chain(std::env::split_paths(&path));
        command
            .env("XDG_DATA_DIRS", std::env::join_paths(shares).unwrap())
            .env("XDG_DATA_HOME", self.path("nobody"))
            .env("XDG_CONFIG_HOME", self.path("nobody"))
            .env("PATH", std::env::join_paths(bins).unwrap());
        command
    }
}

/// Runs a program that must succeed, and returns its output.
fn run(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(
        output.status.success(),
        "{command:?}: {}\n{text}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(text)
}

/// The files in a folder, at any depth.
fn files_below(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut files = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            match path.is_dir() {
                true => folders.push(path),
                false => _ = files.insert(path),
            }
        }
    }
    Ok(files)
}

/// The keys of a desktop entry.
fn keys(entry: &Path) -> Result<BTreeMap<String, String>> {
    let text = fs::read_to_string(entry)?;
    Ok(text.lines().filter_map(|line| line.split_once('=')).map(|(k, v)| (k.into(), v.into())).collect())
}

/// The command line of an entry for one file, as the desktop entry specification has it: `%f` is the file.
fn command_line(exec: &str, file: &Path) -> (String, Vec<String>) {
    let mut words = exec.split_whitespace().map(|word| match word {
        "%U" => file.to_string_lossy().into_owned(),
        word => word.to_owned(),
    });
    let program = words.next().unwrap();
    (program, words.collect())
}

#[tokio::test]
#[ignore = "needs a package, which `cargo xtask test --only package` makes"]
async fn double_click_opens_the_installed_window() -> Result<()> {
    let bench = Bench::new();
    let root = Root::install(&bench)?;
    let project = bench.path("My project.dissensus");
    bench.ok(["project".as_ref(), "sample".as_ref(), project.as_os_str()]);
    let nameless = bench.path("nameless");
    fs::copy(&project, &nameless)?;

    // The triggers that the system runs after an installation, from the packages that own these folders.
    run(root.desktop("update-mime-database").arg(root.path("usr/share/mime")))?;
    run(root.desktop("update-desktop-database").arg(root.path("usr/share/applications")))?;
    let entry = root.entry()?;
    let output = run(root.desktop("desktop-file-validate").arg(&entry))?;
    ensure!(output.is_empty(), "desktop-file-validate: {output}");
    let about = root.path("usr/share/metainfo/org.dissensus.window.metainfo.xml");
    run(Command::new("appstreamcli").args(["validate", "--no-net"]).arg(&about))?;
    let entry_name = entry.file_name().unwrap().to_string_lossy().into_owned();
    let launchable = format!("<launchable type=\"desktop-id\">{entry_name}</launchable>");
    ensure!(fs::read_to_string(&about)?.contains(&launchable), "{} has no {launchable}", about.display());

    // Recognised by its name and, without one, by its first bytes.
    for file in [&project, &nameless] {
        let info = run(root.desktop("gio").args(["info", "-a", "standard::content-type"]).arg(file))?;
        ensure!(info.contains(&format!("standard::content-type: {MIME}")), "{}: {info}", file.display());
    }
    let registered = run(root.desktop("gio").args(["mime", MIME]))?;
    let name = entry.file_name().unwrap().to_string_lossy().into_owned();
    ensure!(registered.contains(&name), "no program for {MIME}: {registered}");

    let keys = keys(&entry)?;
    ensure!(keys["Exec"].ends_with(" %U"), "{}", keys["Exec"]);
    ensure!(
        root.path("usr/share/icons/hicolor/128x128/apps").join(format!("{}.png", keys["Icon"])).is_file()
    );
    let (program, arguments) = command_line(&keys["Exec"], &project);
    let program = root.path("usr/bin").join(program);
    let window = Window::start(&bench, Start::installed(&program, arguments)).await?;
    window.find("summary").await?;
    let footer = window.text_when("status-encoding", |text| text.contains("All texts encoded")).await;
    // The encoder is in the package: texts are encoded without a download.
    footer.context("the packed encoder is not used")?;
    let title = window.text("status-project").await?;
    ensure!(title.contains("My project"), "{title}");

    // The package contains the user guide with the reference pages. WebDriver sees only the first window.
    window.go_to("guide://localhost/index.html").await?;
    let links = "return [...document.querySelectorAll('a')].map((link) => link.pathname).join()";
    let links = window.script(links).await?;
    ensure!(links.as_str().is_some_and(|links| links.contains("/reference/commands/")), "{links}");
    window.close().await
}

/// Labels a text as Robin, and looks at the texts that people disagree about.
async fn label_and_see_disagreement(window: &Window) -> Result<()> {
    const ENTER: char = '\u{e007}';
    let footer = window.text_when("status-encoding", |text| text.contains("All texts encoded")).await;
    // The encoder is in the package: texts are encoded without a download.
    footer.context("the packed encoder is not used")?;
    window.click("nav-label").await?;
    window.click("label-annotator-name").await?;
    window.type_text("Robin").await?;
    window.press(ENTER).await?;
    window.text_when("label-text", |body| !body.is_empty()).await?;
    window.press('5').await?;
    window.text_when("label-progress-done", |done| done == "1").await?;
    window.text_when("label-reveal", |reveal| reveal.contains("Others")).await?;
    window.click("nav-findings").await?;
    window.click("tab-findings-texts").await?;
    let rows = "return document.querySelectorAll('[data-testid=\"ranking-row\"]').length";
    window.script_when(rows, |rows| rows.as_u64() >= Some(5)).await.map(drop)
}

/// Ends the window by its key: the driver would kill it before the project is closed.
async fn quit(window: Window) -> Result<()> {
    // The window may be gone before its driver has answered.
    let _ = window.press_with_control('q').await;
    window.ended().await
}

/// The labels that Robin gave, as the command reads them.
fn labels_of_robin(bench: &Bench, project: &Path) -> Result<usize> {
    let labels = bench.path("labels.csv");
    let export = ["data".as_ref(), "export".as_ref(), project.as_os_str(), labels.as_os_str()];
    bench.ok(export.into_iter().chain(["--question".as_ref(), "offensiveness".as_ref()]));
    Ok(fs::read_to_string(labels)?.matches("Robin").count())
}

#[tokio::test]
#[ignore = "needs a package, which `cargo xtask test --only package` makes"]
async fn uninstalling_leaves_only_projects() -> Result<()> {
    let bench = Bench::new();
    let root = Root::install(&bench)?;
    let project = root.path("home/P.dissensus");
    fs::create_dir_all(project.parent().unwrap())?;
    let command = root.path("usr/bin/dissensus");
    run(Command::new(command)
        .env("DISSENSUS_HOME", bench.path("home"))
        .args(["project", "sample"])
        .arg(&project))?;
    let program = root.path("usr/bin/dissensus-window");
    let window =
        Window::start(&bench, Start::installed(&program, vec![project.display().to_string()])).await?;
    label_and_see_disagreement(&window).await?;
    quit(window).await?;
    run(Command::new("dpkg")
        .args(["--force-not-root", "--root"])
        .arg(&root.path)
        .args(["--purge", "dissensus"]))?;
    let mut left = files_below(&root.path)?;
    left.retain(|path| !path.starts_with(root.path("var/lib/dpkg")));
    ensure!(left == BTreeSet::from([project.clone()]), "left: {left:?}");
    ensure!(labels_of_robin(&bench, &project)? == 1, "the label is not in the project");
    Ok(())
}

#[tokio::test]
#[ignore = "needs a package, which `cargo xtask test --only package` makes"]
async fn archive_needs_no_installation() -> Result<()> {
    let bench = Bench::new();
    let archive = std::env::var_os("DISSENSUS_ARCHIVE")
        .context("DISSENSUS_ARCHIVE names no archive: `cargo xtask test --only package` makes one")?;
    let folder = bench.path("a folder");
    fs::create_dir(&folder)?;
    run(Command::new("tar").arg("--extract").arg("--file").arg(archive).arg("--directory").arg(&folder))?;
    let content = fs::read_dir(&folder)?.next().context("the archive is empty")??.path();
    let before = files_below(&content)?;
    let project = bench.path("P.dissensus");
    let command = content.join("usr/bin/dissensus");
    run(Command::new(command)
        .env("DISSENSUS_HOME", bench.path("home"))
        .args(["project", "sample"])
        .arg(&project))?;
    let program = content.join("usr/bin/dissensus-window");
    let window =
        Window::start(&bench, Start::installed(&program, vec![project.display().to_string()])).await?;
    label_and_see_disagreement(&window).await?;
    quit(window).await?;
    ensure!(labels_of_robin(&bench, &project)? == 1, "the label is not in the project");
    // The archive writes nothing where it is: removing its folder removes it.
    let after = files_below(&content)?;
    ensure!(after == before, "files of the archive: {before:?}, and after its use: {after:?}");
    Ok(())
}

#[test]
#[ignore = "needs a package, which `cargo xtask test --only package` makes"]
fn package_has_the_command_with_manual_and_completions() -> Result<()> {
    let bench = Bench::without_encoder();
    let root = Root::install(&bench)?;
    let version = run(Command::new(root.path("usr/bin/dissensus")).arg("--version"))?;
    ensure!(version.starts_with("dissensus "), "{version}");

    let help = run(Command::new(root.path("usr/bin/dissensus")).arg("--help"))?;
    for [group, verb] in [["data", "import"], ["label", "record"], ["analyse", "disagreement"]] {
        ensure!(help.contains(group), "{help}");
        let page = fs::read_to_string(root.path(&format!("usr/share/man/man1/dissensus-{group}-{verb}.1")))?;
        ensure!(page.contains(".TH") && page.contains(&format!("dissensus\\-{group}\\-{verb}")), "{page}");
    }
    ensure!(root.path("usr/share/man/man1/dissensus.1").is_file());

    let completions = root.path("usr/share/bash-completion/completions/dissensus");
    let script = format!("source '{}' && complete -p dissensus", completions.display());
    let output = run(Command::new("bash").args(["--norc", "-c", &script]))?;
    ensure!(output.contains("-F _dissensus"), "{output}");
    ensure!(root.path("usr/share/zsh/vendor-completions/_dissensus").is_file());
    ensure!(root.path("usr/share/fish/vendor_completions.d/dissensus.fish").is_file());
    Ok(())
}
