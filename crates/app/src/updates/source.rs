//! Where releases are, and the key that they are signed with.

use minisign_verify::PublicKey;
use ureq::http::Uri;

/// Address of the repository whose releases are looked at. The workflow of releases sets it; other builds
/// make no check.
const REPOSITORY: Option<&str> = option_env!("REPOSITORY_ADDRESS");
/// The public key of releases, as minisign writes it.
const KEY: &str = include_str!("../../updates.pub");
/// Hosts to which the repository's host redirects downloads of a release.
const DOWNLOADS: [&str; 2] = ["objects.githubusercontent.com", "release-assets.githubusercontent.com"];
/// Variables for tests: another address on this machine, and its key.
const TEST_ADDRESS: &str = "DISSENSUS_UPDATES";
const TEST_KEY: &str = "DISSENSUS_UPDATES_KEY";

/// A place of releases.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Address of the repository, without a slash at the end.
    repository: String,
    key: Option<PublicKey>,
}

impl Source {
    /// The place that was compiled in. `DISSENSUS_UPDATES` replaces it by one on this machine, for tests,
    /// with the key in `DISSENSUS_UPDATES_KEY`.
    pub(crate) fn of_build() -> Self {
        let variable = |name| std::env::var(name).unwrap_or_default();
        let test = variable(TEST_ADDRESS);
        match is_here(&test) {
            true => Self::new(&test, &variable(TEST_KEY)),
            false => Self::new(REPOSITORY.unwrap_or_default(), KEY),
        }
    }

    /// The releases of the repository at an address, signed with a key in minisign's form. Without a web
    /// address or a key it makes no check.
    pub(crate) fn new(repository: &str, key: &str) -> Self {
        let repository = repository.trim_end_matches('/').to_owned();
        let is_safe = is_here(&repository) || repository.starts_with("https://");
        // The key alone, or the file with its comment.
        let key = PublicKey::decode(key).or_else(|_| PublicKey::from_base64(key.trim())).ok();
        Self { key: key.filter(|_| is_safe), repository }
    }

    /// The key, if this build can check at all.
    pub(crate) fn key(&self) -> Option<PublicKey> {
        self.key.clone()
    }

    /// Address of the description of the newest release.
    pub(crate) fn description(&self) -> String {
        format!("{}/releases/latest/download/latest.json", self.repository)
    }

    /// The page of a release.
    pub(crate) fn page(&self, version: &str) -> String {
        format!("{}/releases/tag/v{version}", self.repository)
    }

    /// Whether a request may go to this address: by https to the repository's host or one that it redirects
    /// downloads to.
    pub(crate) fn allows(&self, address: &Uri) -> bool {
        let Ok(own) = self.repository.parse::<Uri>() else { return false };
        let (Some(authority), Some(allowed)) = (address.authority(), own.authority()) else { return false };
        let is_own = authority == allowed && address.scheme() == own.scheme();
        let is_download = DOWNLOADS.contains(&authority.as_str()) && address.scheme_str() == Some("https");
        is_own || is_download
    }
}

/// Whether an address is plain http on this machine, which only tests use.
fn is_here(address: &str) -> bool {
    address.starts_with("http://127.0.0.1:")
        && address.parse::<Uri>().is_ok_and(|uri| uri.host() == Some("127.0.0.1"))
}
