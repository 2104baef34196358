//! Checks which crate may depend on which.

use crate::project::Project;
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Every crate of the workspace, lowest first, and the workspace crates that it may depend on; those are
/// above it in this list, so that there are no cycles. Dependencies of tests are not restricted.
const ALLOWED: [(&str, &[&str]); 25] = [
    ("files", &[]),
    ("domain", &[]),
    ("render", &[]),
    ("store", &["domain", "files"]),
    ("test-support", &["domain", "store"]),
    ("exchange", &["domain", "files"]),
    ("encoder", &["domain"]),
    ("stats", &["domain"]),
    ("models", &["domain", "stats"]),
    ("neural", &["domain", "encoder", "files", "models", "stats"]),
    ("selection", &["domain", "models", "neural", "stats"]),
    ("api", &["domain", "neural", "selection", "stats"]),
    ("project", &["api", "domain", "encoder", "exchange", "files", "render", "selection", "stats", "store"]),
    (
        "training",
        &[
            "api",
            "domain",
            "encoder",
            "exchange",
            "files",
            "models",
            "neural",
            "project",
            "render",
            "selection",
            "stats",
            "store",
        ],
    ),
    ("editing", &["api", "domain", "files", "project", "stats", "store", "training"]),
    ("labelling", &["api", "domain", "editing", "project", "stats", "store", "training"]),
    (
        "analysis",
        &[
            "api",
            "domain",
            "encoder",
            "exchange",
            "files",
            "labelling",
            "models",
            "neural",
            "project",
            "render",
            "selection",
            "stats",
            "store",
            "training",
        ],
    ),
    (
        "transfer",
        &[
            "api",
            "domain",
            "editing",
            "exchange",
            "files",
            "labelling",
            "project",
            "stats",
            "store",
            "training",
        ],
    ),
    (
        "report",
        &[
            "analysis",
            "api",
            "domain",
            "editing",
            "encoder",
            "files",
            "labelling",
            "project",
            "render",
            "selection",
            "stats",
            "store",
            "training",
            "transfer",
        ],
    ),
    ("server", &["api", "domain", "files", "project", "render", "transfer"]),
    (
        "app",
        &[
            "analysis",
            "api",
            "domain",
            "editing",
            "encoder",
            "labelling",
            "project",
            "report",
            "store",
            "training",
            "transfer",
        ],
    ),
    (
        "bench",
        &[
            "analysis",
            "api",
            "app",
            "domain",
            "editing",
            "encoder",
            "exchange",
            "labelling",
            "models",
            "project",
            "selection",
            "stats",
            "store",
            "training",
            "transfer",
        ],
    ),
    (
        "cli",
        &[
            "analysis",
            "api",
            "app",
            "domain",
            "editing",
            "encoder",
            "exchange",
            "labelling",
            "models",
            "project",
            "selection",
            "server",
            "stats",
            "store",
            "training",
            "transfer",
        ],
    ),
    (
        "window",
        &[
            "analysis",
            "api",
            "app",
            "domain",
            "editing",
            "encoder",
            "labelling",
            "project",
            "server",
            "stats",
            "training",
            "transfer",
        ],
    ),
    (
        "python",
        &[
            "analysis",
            "api",
            "app",
            "domain",
            "editing",
            "encoder",
            "labelling",
            "models",
            "neural",
            "project",
            "selection",
            "stats",
            "training",
            "transfer",
        ],
    ),
];
/// Packages of the workspace that no other may depend on and that are not part of the product.
const OUTSIDE: [&str; 2] = ["tests", "xtask"];
const PREFIX: &str = "dissensus-";

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `dev` or `build`; `None` for the product.
    kind: Option<String>,
}

/// Compares the dependencies of all crates with the table.
///
/// # Errors
/// All findings, one a line.
pub(crate) fn check(project: &Project) -> Result<()> {
    let output = Command::new("cargo")
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(&project.root)
        .output()
        .context("running cargo metadata")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Metadata = serde_json::from_slice(&output.stdout).context("reading cargo metadata")?;
    let findings = findings(&metadata);
    ensure!(findings.is_empty(), "{}\nThe table is in xtask/src/tasks/crates.rs.", findings.join("\n"));
    Ok(())
}

fn findings(metadata: &Metadata) -> Vec<String> {
    let short = |name: &str| name.strip_prefix(PREFIX).unwrap_or(name).to_owned();
    let ours: BTreeSet<String> = metadata.packages.iter().map(|package| short(&package.name)).collect();
    let mut findings = Vec::new();
    let mut allowed: BTreeMap<&str, &[&str]> = BTreeMap::new();
    for (name, below) in ALLOWED {
        for one in below.iter().filter(|one| !allowed.contains_key(*one)) {
            findings.push(format!("{name}: {one} is not above it in the table"));
        }
        if !ours.contains(name) {
            findings.push(format!("{name} is in the table and not in the workspace"));
        }
        allowed.insert(name, below);
    }
    for package in &metadata.packages {
        let name = short(&package.name);
        if OUTSIDE.contains(&name.as_str()) {
            continue;
        }
        let Some(below) = allowed.get(name.as_str()) else {
            findings.push(format!("{name} is not in the table"));
            continue;
        };
        let product = package.dependencies.iter().filter(|one| one.kind.is_none());
        let used: BTreeSet<String> =
            product.map(|one| short(&one.name)).filter(|one| ours.contains(one)).collect();
        for one in used.iter().filter(|one| !below.contains(&one.as_str())) {
            findings.push(format!("{name} depends on {one}, which the table does not allow"));
        }
        for one in below.iter().filter(|one| !used.contains(**one)) {
            findings.push(format!("{name} may depend on {one} and does not: remove it from the table"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(change: impl Fn(&str, &mut Vec<String>)) -> Metadata {
        let packages = ALLOWED.iter().map(|(name, below)| {
            let mut used: Vec<String> = below.iter().map(|one| (*one).to_owned()).collect();
            change(name, &mut used);
            let dependencies = used
                .into_iter()
                .map(|one| Dependency { name: format!("{PREFIX}{one}"), kind: None })
                .collect();
            Package { name: format!("{PREFIX}{name}"), dependencies }
        });
        Metadata { packages: packages.collect() }
    }

    #[test]
    fn table_allows_itself() {
        assert_eq!(findings(&workspace(|_, _| {})), Vec::<String>::new());
    }

    #[test]
    fn forbidden_and_unused_dependencies_are_findings() {
        let up = findings(&workspace(|name, used| {
            if name == "store" {
                used.push("project".to_owned());
            }
        }));
        assert_eq!(up, ["store depends on project, which the table does not allow"]);
        let gone = findings(&workspace(|name, used| used.retain(|one| name != "store" || one != "files")));
        assert_eq!(gone, ["store may depend on files and does not: remove it from the table"]);
    }

    #[test]
    fn test_dependencies_are_not_checked() {
        let mut metadata = workspace(|_, _| {});
        let dev = Dependency { name: "dissensus-app".to_owned(), kind: Some("dev".to_owned()) };
        metadata.packages[0].dependencies.push(dev);
        assert_eq!(findings(&metadata), Vec::<String>::new());
    }
}
