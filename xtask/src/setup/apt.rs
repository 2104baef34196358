//! Debian and Ubuntu: finds missing packages and installs them if permitted.

use super::Need;
use crate::shell::{Program, say, which};
use anyhow::{Context, Result, bail};
use std::io::IsTerminal;

/// Packages for building the window.
pub(crate) const BUILD: [&str; 4] =
    ["build-essential", "pkg-config", "libwebkit2gtk-4.1-dev", "librsvg2-dev"];
/// Additional packages for the end-to-end tests.
pub(crate) const TESTS: [&str; 11] = [
    "xvfb",
    "xauth",
    "webkit2gtk-driver",
    "fonts-dejavu-core",
    // A message bus, with which a second window finds the first, and tools for files that desktops read.
    "dbus",
    "appstream",
    "desktop-file-utils",
    "shared-mime-info",
    "libglib2.0-bin",
    // The bus on which the window reports to screen readers.
    "at-spi2-core",
    // The loopback device of the namespace without a network.
    "iproute2",
];

/// Further browsers, in which pages are tested. Ubuntu has them as snaps only, which no driver starts.
pub(crate) const BROWSERS: [&str; 3] = ["chromium", "chromium-driver", "firefox-esr"];

/// Installs the packages that are missing; with `browsers`, also those browsers for the tests.
///
/// # Errors
/// We are not root and there is no sudo that could ask, or apt-get failed.
pub(crate) fn ensure(need: Need, browsers: bool) -> Result<()> {
    let wanted: Vec<&str> = match need {
        Need::Window => BUILD.to_vec(),
        Need::Tests => {
            let browsers = if browsers { &BROWSERS[..] } else { &[] };
            BUILD.into_iter().chain(TESTS).chain(browsers.iter().copied()).collect()
        }
    };
    let missing: Vec<&str> = wanted.into_iter().filter(|package| !is_installed(package)).collect();
    if missing.is_empty() {
        say("all there");
        return Ok(());
    }
    install(&missing)
}

/// Installs `packages`, as root or through sudo.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    let names = packages.join(" ");
    let sudo = how_to_become_root(&names)?;
    say(format!(
        "missing: {names}\n    will run: {0}apt-get update && {0}apt-get install -y {names}",
        if sudo { "sudo " } else { "" }
    ));
    // One unreachable source of many makes this fail; the packages may be in another.
    if let Err(error) = apt_get(sudo, &["update", "-q"]) {
        say(format!("{error:#}; trying with the list of packages that is there"));
    }
    let mut install = vec!["install", "-y", "-q", "--no-install-recommends"];
    install.extend(packages);
    apt_get(sudo, &install)
}

/// Whether sudo is to be put before the command.
fn how_to_become_root(names: &str) -> Result<bool> {
    let root = Program::new("id").arg("-u").output().is_ok_and(|id| id.trim() == "0");
    if root {
        return Ok(false);
    }
    let can_ask = std::io::stdin().is_terminal() || Program::new("sudo").args(["-n", "true"]).succeeds();
    if which("sudo").is_some() && can_ask {
        return Ok(true);
    }
    bail!(
        "missing: {names}\n    Install it as root with\n        apt-get update && apt-get install -y {names}"
    )
}

fn apt_get(sudo: bool, arguments: &[&str]) -> Result<()> {
    // `env` rather than our own environment, because sudo clears it.
    let command = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
    let words = sudo.then_some("sudo").into_iter().chain(command).chain(arguments.iter().copied());
    let mut words = words;
    let program = words.next().context("no command")?;
    Program::new(program).args(words).run()
}

fn is_installed(package: &str) -> bool {
    // Quiet on purpose: dpkg-query complains on stderr about unknown packages.
    std::process::Command::new("dpkg-query")
        .args(["-W", "-f", "${Status}", package])
        .output()
        .is_ok_and(|out| out.stdout.ends_with(b"ok installed"))
}
