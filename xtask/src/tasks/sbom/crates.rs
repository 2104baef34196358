//! Crates that are compiled into the shipped programs, on any system.

use super::component::Component;
use crate::project::Project;
use crate::shell::Program;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Crates of what is shipped: the command, the window, the Python package.
const ROOTS: [&str; 3] = ["dissensus-cli", "dissensus-python", "dissensus-window"];

/// Features with which they are built for one system or another: those of the window, of Macs and of the
/// command for NVIDIA GPUs.
const FEATURES: [&str; 4] = [
    "dissensus-window/custom-protocol",
    "dissensus-window/metal",
    "dissensus-cli/metal",
    "dissensus-cli/cuda",
];

pub(super) struct Crates {
    pub(super) components: Vec<Component>,
    /// References of [`ROOTS`].
    pub(super) roots: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    /// None for crates of this workspace.
    source: Option<String>,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Used>,
}

#[derive(Deserialize)]
struct Used {
    pkg: String,
    dep_kinds: Vec<UsedKind>,
}

#[derive(Deserialize)]
struct UsedKind {
    /// `dev` or `build`; none for the product.
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

impl Package {
    /// Macros run while the program is compiled and are no part of it.
    fn is_macro(&self) -> bool {
        self.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "proc-macro"))
    }

    fn reference(&self) -> String {
        match self.source {
            Some(_) => format!("pkg:cargo/{}@{}", self.name, self.version),
            None => self.name.clone(),
        }
    }
}

/// Reads the crates from `cargo metadata`, and their checksums from Cargo.lock.
pub(super) fn read(project: &Project) -> Result<Crates> {
    let output = Program::cargo()
        .args(["metadata", "--locked", "--format-version", "1"])
        .args(["--features", &FEATURES.join(",")])
        .in_folder(&project.root)
        .output()?;
    let metadata: Metadata = serde_json::from_str(&output).context("reading `cargo metadata`")?;
    let lock = fs::read_to_string(project.root.join("Cargo.lock")).context("reading Cargo.lock")?;
    let lock: Lock = toml::from_str(&lock).context("reading Cargo.lock")?;
    let mut crates = shipped(&metadata, &lock)?;
    let sqlite = crates.components.iter_mut().find(|one| one.name == "libsqlite3-sys");
    let sqlite = sqlite.context("no crate has SQLite")?;
    let bundled = sqlite_in(sqlite.folder.as_deref().context("libsqlite3-sys has no folder")?)?;
    sqlite.uses.push(bundled.reference.clone());
    crates.components.push(bundled);
    Ok(crates)
}

fn shipped(metadata: &Metadata, lock: &Lock) -> Result<Crates> {
    let packages: BTreeMap<&str, &Package> =
        metadata.packages.iter().map(|package| (package.id.as_str(), package)).collect();
    let nodes: BTreeMap<&str, &Node> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let sums: BTreeMap<(&str, &str), &str> = lock
        .package
        .iter()
        .filter_map(|one| Some(((one.name.as_str(), one.version.as_str()), one.checksum.as_deref()?)))
        .collect();
    let roots: Vec<&Package> =
        metadata.packages.iter().filter(|package| ROOTS.contains(&package.name.as_str())).collect();
    let mut open: Vec<&str> = roots.iter().map(|root| root.id.as_str()).collect();
    let (mut seen, mut components) = (BTreeSet::new(), Vec::new());
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        let package = packages.get(id).with_context(|| format!("{id} is not among the packages"))?;
        let node = nodes.get(id).with_context(|| format!("{id} is not resolved"))?;
        let used: Vec<&Package> = node
            .deps
            .iter()
            .filter(|one| one.dep_kinds.iter().any(|kind| kind.kind.is_none()))
            .filter_map(|one| packages.get(one.pkg.as_str()).copied())
            .filter(|one| !one.is_macro())
            .collect();
        open.extend(used.iter().map(|one| one.id.as_str()));
        let is_ours = package.source.is_none();
        let mut uses: Vec<String> = used.iter().map(|one| one.reference()).collect();
        uses.sort();
        uses.dedup();
        components.push(Component {
            reference: package.reference(),
            name: package.name.clone(),
            version: package.version.clone(),
            purl: (!is_ours).then(|| package.reference()),
            licence: package.license.clone().unwrap_or_default(),
            hash: sums
                .get(&(package.name.as_str(), package.version.as_str()))
                .map(|sum| ("SHA-256", (*sum).to_owned())),
            uses,
            folder: package.manifest_path.parent().filter(|_| !is_ours).map(Path::to_owned),
            ..Component::default()
        });
    }
    Ok(Crates { components, roots: roots.iter().map(|root| root.reference()).collect() })
}

/// SQLite, whose source code is in its crate.
fn sqlite_in(folder: &Path) -> Result<Component> {
    let header = folder.join("sqlite3/sqlite3.h");
    let text = fs::read_to_string(&header).with_context(|| format!("reading {}", header.display()))?;
    let version = text
        .lines()
        .find_map(|line| line.strip_prefix("#define SQLITE_VERSION "))
        .with_context(|| format!("{} names no version", header.display()))?;
    let version = version.trim().trim_matches('"').to_owned();
    let purl = format!("pkg:generic/sqlite@{version}");
    Ok(Component {
        reference: purl.clone(),
        name: "sqlite".to_owned(),
        version,
        purl: Some(purl),
        licence: "blessing".to_owned(),
        ..Component::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_compiled_into_the_programs_is_shipped() {
        let package = |name: &str, source: Option<&str>, kind: &str| {
            serde_json::json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT", "source": source,
                "manifest_path": format!("/r/{name}/Cargo.toml"), "targets": [{"kind": [kind]}]})
        };
        let used =
            |name: &str, kind: Option<&str>| serde_json::json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let source = Some("registry");
        let metadata: Metadata = serde_json::from_value(serde_json::json!({
            "packages": [package("dissensus-cli", None, "bin"), package("used", source, "lib"),
                package("deep", source, "lib"), package("of-build", source, "lib"),
                package("of-tests", source, "lib"), package("macro", source, "proc-macro"),
                package("only-of-macro", source, "lib"), package("other", source, "lib")],
            "resolve": {"nodes": [
                {"id": "dissensus-cli", "deps": [used("used", None), used("of-build", Some("build")),
                    used("of-tests", Some("dev")), used("macro", None)]},
                {"id": "used", "deps": [used("deep", None)]}, {"id": "deep", "deps": []},
                {"id": "macro", "deps": [used("only-of-macro", None)]},
            ]},
        }))
        .unwrap();
        let lock = toml::from_str(
            "[[package]]\nname = \"used\"\nversion = \"1.0.0\"\nchecksum = \"ab\"\n\
             [[package]]\nname = \"deep\"\nversion = \"2.0.0\"\nchecksum = \"cd\"\n",
        )
        .unwrap();
        let crates = shipped(&metadata, &lock).unwrap();
        assert_eq!(crates.roots, ["dissensus-cli"]);
        let shown = |one: &Component| (one.reference.clone(), one.hash.clone(), one.uses.clone());
        let mut found: Vec<_> = crates.components.iter().map(shown).collect();
        found.sort();
        let (used, deep) = ("pkg:cargo/used@1.0.0".to_owned(), "pkg:cargo/deep@1.0.0".to_owned());
        let sum = Some(("SHA-256", "ab".to_owned()));
        assert_eq!(
            found,
            [
                ("dissensus-cli".to_owned(), None, vec![used.clone()]),
                (deep.clone(), None, vec![]),
                (used, sum, vec![deep])
            ]
        );
    }
}
