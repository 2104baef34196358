//! Manifests with which package collections install a release: Flatpak, winget and Homebrew, and the
//! AppStream data of the Linux packages. All of them are generated from `src-tauri/tauri.conf.json`, the
//! changelog and the files of the release.

mod cask;
mod flatpak;
mod metainfo;
mod winget;
mod yaml;

pub(crate) use metainfo::{dated, metainfo};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::path::Path;

/// The variable with the address of the repository's web page, of which a release's addresses are made.
pub(crate) const ADDRESS: &str = "REPOSITORY_ADDRESS";

/// Everything that manifests state about a release.
pub(crate) struct Release {
    pub(crate) about: About,
    pub(crate) version: String,
    /// Address of the repository's web page, without a slash at its end.
    pub(crate) address: String,
    pub(crate) files: Vec<Published>,
}

/// A file of a release.
pub(crate) struct Published {
    pub(crate) name: String,
    /// In hexadecimal.
    pub(crate) sha256: String,
}

/// What the application is, as the configuration of its window describes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct About {
    product_name: String,
    main_binary_name: String,
    identifier: String,
    bundle: Bundle,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bundle {
    short_description: String,
    long_description: String,
    license: String,
}

impl About {
    /// Reads the configuration of the window.
    pub(crate) fn of(root: &Path) -> Result<Self> {
        let path = root.join("src-tauri/tauri.conf.json");
        let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("reading {}", path.display()))
    }
}

impl Release {
    /// The one file whose name ends like this.
    fn file(&self, ending: &str) -> Result<&Published> {
        let mut files = self.files.iter().filter(|file| file.name.ends_with(ending));
        let file = files.next().with_context(|| format!("the release has no file *{ending}"))?;
        if let Some(other) = files.next() {
            bail!("{} and {} both end with {ending}", file.name, other.name);
        }
        Ok(file)
    }

    fn url(&self, file: &Published) -> String {
        format!("{}/releases/download/v{}/{}", self.address, self.version, file.name)
    }
}

/// The address of the repository, if its variable has one.
///
/// # Errors
/// It is no address of a web page.
pub(crate) fn address() -> Result<Option<String>> {
    match std::env::var(ADDRESS) {
        Ok(address) if !address.is_empty() => checked(&address).map(Some),
        _ => Ok(None),
    }
}

/// Fails if a tagged commit is being released and the variable has no address: programs built without it make
/// no check for updates.
///
/// # Errors
/// See above, and those of [`address`].
pub(crate) fn check_address() -> Result<()> {
    check_address_for(&std::env::var("GITHUB_REF").unwrap_or_default(), address()?.as_deref())
}

fn check_address_for(reference: &str, address: Option<&str>) -> Result<()> {
    if reference.starts_with("refs/tags") && address.is_none() {
        bail!("{ADDRESS} is not set, so the programs of this release could not check for updates");
    }
    Ok(())
}

fn checked(address: &str) -> Result<String> {
    let address = address.trim_end_matches('/');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/:".contains(c);
    match address.strip_prefix("https://") {
        Some(rest) if rest.contains('/') && rest.chars().all(is_plain) => Ok(address.to_owned()),
        _ => {
            bail!("{ADDRESS} is {address:?}; it should be the https:// address of the repository's web page")
        }
    }
}

/// Path and content of each manifest.
///
/// # Errors
/// The release lacks a file that a manifest names.
pub(crate) fn all(release: &Release) -> Result<Vec<(String, String)>> {
    let mut files = winget::manifests(release)?;
    files.push(cask::manifest(release)?);
    files.push(flatpak::manifest(release)?);
    Ok(files)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[test]
    fn release_needs_an_address() {
        let error = check_address_for("refs/tags/v0.2.0", None).unwrap_err().to_string();
        assert!(error.contains(ADDRESS), "{error}");
        for (reference, address) in
            [("refs/tags/v1", Some("https://a.org/b")), ("refs/heads/main", None), ("", None)]
        {
            check_address_for(reference, address).unwrap();
        }
    }

    /// A release with the files of every system, named as Tauri names them.
    pub(crate) fn release() -> Release {
        let file = |name: &str| Published { name: name.to_owned(), sha256: format!("{:0>64}", name.len()) };
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        Release {
            about: About::of(root).unwrap(),
            version: "0.2.0".to_owned(),
            address: "https://forge.example.org/team/dissensus".to_owned(),
            files: [
                "Dissensus_0.2.0_amd64.deb",
                "Dissensus_0.2.0_arm64.deb",
                "Dissensus_0.2.0_amd64.tar.gz",
                "Dissensus_0.2.0_arm64.tar.gz",
                "dissensus-cuda_0.2.0_x86-64.tar.gz",
                "Dissensus_0.2.0_universal.dmg",
                "Dissensus_0.2.0_x64-setup.exe",
                "Dissensus_0.2.0_x64_en-US.msi",
            ]
            .map(file)
            .into(),
        }
    }

    #[test]
    fn every_address_is_that_of_a_file_of_the_release() {
        let release = release();
        let files = all(&release).unwrap();
        assert_eq!(files.len(), 5);
        let mut addresses = 0;
        for (path, text) in &files {
            for address in text.split('"').filter(|part| part.contains("/releases/download/")) {
                let address = address.replace("#{version}", &release.version);
                let name = address.rsplit('/').next().unwrap();
                let file = release.files.iter().find(|file| file.name == name);
                let file = file.unwrap_or_else(|| panic!("{path}: {address}"));
                assert_eq!(address, release.url(file));
                let sum = &file.sha256;
                assert!(text.contains(sum) || text.contains(&sum.to_uppercase()), "{path}: no sum of {name}");
                addresses += 1;
            }
        }
        assert_eq!(addresses, 5);
    }

    #[test]
    fn missing_and_ambiguous_files_are_named() {
        for ending in ["_universal.dmg", "_x64-setup.exe", "_x64_en-US.msi", "_arm64.tar.gz"] {
            let mut less = release();
            less.files.retain(|file| !file.name.ends_with(ending));
            let error = all(&less).unwrap_err().to_string();
            assert!(error.contains(ending), "{error}");
        }
        let mut more = release();
        more.files.push(Published { name: "b_universal.dmg".to_owned(), sha256: String::new() });
        assert!(all(&more).unwrap_err().to_string().contains("b_universal.dmg"));
    }

    #[test]
    fn address_is_that_of_a_web_page() {
        assert_eq!(checked("https://forge.example.org/a/b/").unwrap(), "https://forge.example.org/a/b");
        for wrong in
            ["", "forge", "http://x.org/a", "https://x.org", "https://x.org/a\"b", "https://x.org/#{a}"]
        {
            assert!(checked(wrong).is_err(), "{wrong}");
        }
    }
}
