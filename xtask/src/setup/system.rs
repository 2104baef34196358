//! System libraries: which are missing, and how this system gets them.

use super::{Need, apt};
use crate::shell::{Program, say, which};
use anyhow::{Result, bail};

/// The setting of Ubuntu that refuses namespaces to all but root.
const RESTRICTS_NAMESPACES: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/// How a system installs software.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manager {
    Apt,
    Dnf,
    Pacman,
    Zypper,
}

/// Makes sure that the libraries are installed; on Debian and Ubuntu installs missing ones, elsewhere
/// explains how.
///
/// # Errors
/// Something is missing and could not be installed; the error holds the exact command to run.
pub(crate) fn ensure(need: Need) -> Result<()> {
    match std::env::consts::OS {
        "linux" => ensure_linux(need),
        "macos" => ensure_macos(),
        "windows" => ensure_windows(),
        other => {
            say(format!("{other} is not a system we know: continuing, the build will say what it lacks"));
            Ok(())
        }
    }
}

fn ensure_linux(need: Need) -> Result<()> {
    if need == Need::Tests && std::env::var_os("CI").is_some() {
        allow_namespaces()?;
    }
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let manager = manager_of(&release);
    if manager == Some(Manager::Apt) {
        return apt::ensure(need, release.lines().any(|line| line == "ID=debian"));
    }
    let missing = missing(need);
    if missing.is_empty() {
        say("all there");
        return Ok(());
    }
    let what = missing.join(", ");
    match manager {
        Some(manager) => {
            bail!("missing: {what}\n    Install it with\n        {}", install_line(manager, need))
        }
        None => bail!(
            "missing: {what}\n    Install with this system's package manager a C and C++ compiler, pkg-config, WebKitGTK 4.1 \
             and librsvg with their headers{}",
            if need == Need::Tests {
                ", Xvfb, xauth, WebKitWebDriver, dbus-daemon, at-spi2-core and iproute2"
            } else {
                ""
            }
        ),
    }
}

/// Permits what Ubuntu refuses from 24.04 on: a test makes a network namespace without being root. Only on
/// machines for tests, whose settings nobody else needs.
fn allow_namespaces() -> Result<()> {
    if !std::fs::read_to_string(RESTRICTS_NAMESPACES).is_ok_and(|value| value.trim() == "1") {
        return Ok(());
    }
    say("allows network namespaces");
    let setting = "kernel.apparmor_restrict_unprivileged_userns=0";
    match Program::new("id").arg("-u").output().is_ok_and(|id| id.trim() == "0") {
        true => Program::new("sysctl").args(["-w", setting]).run(),
        false => Program::new("sudo").args(["-n", "sysctl", "-w", setting]).run(),
    }
}

/// The package manager of a system with this `/etc/os-release`.
fn manager_of(release: &str) -> Option<Manager> {
    let value = |key: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(key));
        line.unwrap_or_default().trim_matches('"').to_owned()
    };
    let names = format!("{} {}", value("ID="), value("ID_LIKE="));
    names.split_whitespace().find_map(|name| match name {
        "debian" | "ubuntu" => Some(Manager::Apt),
        "fedora" | "rhel" => Some(Manager::Dnf),
        "arch" => Some(Manager::Pacman),
        name if name.contains("suse") => Some(Manager::Zypper),
        _ => None,
    })
}

/// The exact command that installs all that `need` wants.
fn install_line(manager: Manager, need: Need) -> String {
    // dnf and zypper find a package by what it provides, which is more stable across releases than names.
    let (start, build, tests) = match manager {
        Manager::Apt => ("sudo apt-get install -y", apt::BUILD.join(" "), apt::TESTS.join(" ")),
        Manager::Dnf => (
            "sudo dnf install -y",
            "gcc gcc-c++ make pkgconf-pkg-config 'pkgconfig(webkit2gtk-4.1)' 'pkgconfig(librsvg-2.0)'"
                .to_owned(),
            "/usr/bin/Xvfb /usr/bin/xauth /usr/bin/WebKitWebDriver dejavu-sans-fonts dbus-daemon at-spi2-core /usr/sbin/ip".to_owned(),
        ),
        Manager::Pacman => (
            "sudo pacman -S --needed",
            "base-devel webkit2gtk-4.1 librsvg".to_owned(),
            "xorg-server-xvfb xorg-xauth webkitgtk-6.0 ttf-dejavu dbus at-spi2-core iproute2".to_owned(),
        ),
        Manager::Zypper => (
            "sudo zypper install -y",
            "gcc gcc-c++ make pkg-config 'pkgconfig(webkit2gtk-4.1)' 'pkgconfig(librsvg-2.0)'".to_owned(),
            "/usr/bin/Xvfb /usr/bin/xauth /usr/bin/WebKitWebDriver dejavu-fonts dbus-1-daemon at-spi2-core /usr/sbin/ip".to_owned(),
        ),
    };
    match need {
        Need::Window => format!("{start} {build}"),
        Need::Tests => format!("{start} {build} {tests}"),
    }
}

/// What a system whose packages we cannot ask for lacks, found by looking for the things themselves.
fn missing(need: Need) -> Vec<&'static str> {
    let mut missing = Vec::new();
    let mut want = |there: bool, what| {
        if !there {
            missing.push(what);
        }
    };
    want(which("cc").is_some(), "a C compiler");
    want(which("pkg-config").is_some(), "pkg-config");
    let library = |name| Program::new("pkg-config").args(["--exists", name]).succeeds();
    want(library("webkit2gtk-4.1"), "WebKitGTK 4.1");
    want(library("librsvg-2.0"), "librsvg");
    if need == Need::Tests {
        want(which("Xvfb").is_some(), "Xvfb");
        want(which("WebKitWebDriver").is_some(), "WebKitWebDriver");
        want(which("dbus-daemon").is_some(), "dbus-daemon");
        want(which("ip").is_some(), "iproute2");
    }
    missing
}

fn ensure_macos() -> Result<()> {
    if Program::new("xcode-select").arg("-p").succeeds() {
        say("all there");
        return Ok(());
    }
    bail!("missing: the command line tools of Xcode\n    Install them with\n        xcode-select --install")
}

fn ensure_windows() -> Result<()> {
    // The identity under which the Evergreen WebView2 runtime registers itself.
    const CLIENT: &str = r"Microsoft\EdgeUpdate\Clients\{F3017226-FE2A-4295-8BDF-00C3A9A7E4C5}";
    let keys = [
        format!(r"HKLM\SOFTWARE\WOW6432Node\{CLIENT}"),
        format!(r"HKLM\SOFTWARE\{CLIENT}"),
        format!(r"HKCU\Software\{CLIENT}"),
    ];
    if keys.iter().any(|key| Program::new("reg").args(["query", key]).succeeds()) {
        say("all there");
        return Ok(());
    }
    bail!(
        "missing: the WebView2 runtime\n    Install it with\n        winget install Microsoft.EdgeWebView2Runtime"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_recognised_by_their_release_file() {
        assert_eq!(manager_of("NAME=\"Debian\"\nID=debian\n"), Some(Manager::Apt));
        assert_eq!(manager_of("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"), Some(Manager::Apt));
        assert_eq!(manager_of("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"), Some(Manager::Dnf));
        assert_eq!(manager_of("ID=manjaro\nID_LIKE=arch\n"), Some(Manager::Pacman));
        assert_eq!(
            manager_of("ID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"\n"),
            Some(Manager::Zypper)
        );
        assert_eq!(manager_of("ID=alpine\n"), None);
        assert_eq!(manager_of(""), None);
    }

    #[test]
    fn prints_one_command_to_copy() {
        let line = install_line(Manager::Dnf, Need::Window);
        assert!(
            line.starts_with("sudo dnf install -y ") && line.contains("'pkgconfig(webkit2gtk-4.1)'"),
            "{line}"
        );
        assert!(!line.contains("Xvfb"));
        for manager in [Manager::Apt, Manager::Dnf, Manager::Pacman, Manager::Zypper] {
            let line = install_line(manager, Need::Tests);
            assert!(line.to_lowercase().contains("xvfb") && !line.contains('\n'), "{line}");
        }
    }
}
