//! The hub's address, the cache folder and the access token: from the environment variables that the hub's
//! tools share.

use std::env;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ureq::http::Uri;

use crate::error::EncoderError;

const PUBLIC: &str = "https://huggingface.co";
/// How long a connection may be silent.
const PATIENCE: Duration = Duration::from_secs(60);

/// How to reach the model hub.
#[derive(Clone, PartialEq, Eq)]
pub struct HubConfig {
    /// Address of the hub or of a mirror, without a slash at the end.
    pub endpoint: String,
    /// Folder of the fetched files, in the layout that the hub's tools share.
    pub cache: PathBuf,
    /// Access token for repositories that are not public.
    pub token: Option<String>,
    /// Whether to make no requests and use only cached files.
    pub offline: bool,
    /// How long to wait for data.
    pub patience: Duration,
}

/// Shows only whether a token is set, never its value.
impl fmt::Debug for HubConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubConfig")
            .field("endpoint", &self.endpoint)
            .field("cache", &self.cache)
            .field("token", &self.token.as_ref().map(|_| "set"))
            .field("offline", &self.offline)
            .field("patience", &self.patience)
            .finish()
    }
}

impl HubConfig {
    /// Reads the configuration from the environment: `HF_ENDPOINT`; `HF_HUB_CACHE`, else `HF_HOME/hub`,
    /// else `XDG_CACHE_HOME/huggingface/hub`, else `~/.cache/huggingface/hub`; `HF_TOKEN`, else the file
    /// `HF_TOKEN_PATH`, else `token` in the hub's home folder, unless `HF_HUB_DISABLE_IMPLICIT_TOKEN` is
    /// set; `HF_HUB_OFFLINE`.
    #[must_use]
    pub fn from_env() -> Self {
        Self::from_variables(|name| env::var(name).ok(), env::home_dir())
    }

    /// Refuses an endpoint that is neither `https` nor on this machine: the checksums of files, and the
    /// token, would be sent over the network unprotected.
    pub(super) fn check_endpoint(&self) -> Result<(), EncoderError> {
        let refused = |reason| Err(EncoderError::HubEndpoint { endpoint: self.endpoint.clone(), reason });
        let Ok(uri) = self.endpoint.parse::<Uri>() else { return refused("it is not a web address") };
        match (uri.scheme_str(), uri.host()) {
            (Some("https"), Some(_)) => Ok(()),
            (Some("http"), Some(host)) if is_loopback(host) => Ok(()),
            (Some("http"), Some(_)) => refused("plain http is taken from this machine only: use https"),
            _ => refused("it must begin with https://"),
        }
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>, user: Option<PathBuf>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let path = |name: &str| set(name).map(PathBuf::from);
        let home = path("HF_HOME").unwrap_or_else(|| {
            let caches = path("XDG_CACHE_HOME");
            // Without a home folder only the working folder is left.
            caches.unwrap_or_else(|| user.unwrap_or_default().join(".cache")).join("huggingface")
        });
        let kept = path("HF_TOKEN_PATH").unwrap_or_else(|| home.join("token"));
        let implicit = !set("HF_HUB_DISABLE_IMPLICIT_TOKEN").is_some_and(|value| is_yes(&value));
        let token = set("HF_TOKEN").filter(|_| implicit);
        Self {
            endpoint: set("HF_ENDPOINT")
                .unwrap_or_else(|| PUBLIC.to_owned())
                .trim_end_matches('/')
                .to_owned(),
            cache: path("HF_HUB_CACHE").unwrap_or_else(|| home.join("hub")),
            token: token
                .map(|token| token.trim().to_owned())
                .or_else(|| implicit.then(|| read_token(&kept))?),
            offline: set("HF_HUB_OFFLINE").is_some_and(|value| is_yes(&value)),
            patience: PATIENCE,
        }
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn read_token(path: &Path) -> Option<String> {
    let token = std::fs::read_to_string(path).ok()?;
    Some(token.trim().to_owned()).filter(|token| !token.is_empty())
}

/// The spellings of true in the hub's tools.
fn is_yes(value: &str) -> bool {
    matches!(value.trim().to_ascii_uppercase().as_str(), "1" | "ON" | "YES" | "TRUE")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(variables: &[(&str, &str)]) -> HubConfig {
        let find = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        HubConfig::from_variables(find, Some(PathBuf::from("/home/ann")))
    }

    #[test]
    fn cache_is_shared_with_the_hub_tools() {
        let cache = |variables: &[(&str, &str)]| config(variables).cache.to_string_lossy().into_owned();
        assert_eq!(cache(&[]), "/home/ann/.cache/huggingface/hub");
        assert_eq!(cache(&[("XDG_CACHE_HOME", "/c")]), "/c/huggingface/hub");
        assert_eq!(cache(&[("XDG_CACHE_HOME", "/c"), ("HF_HOME", "/h")]), "/h/hub");
        assert_eq!(cache(&[("HF_HUB_CACHE", "/k"), ("HF_HOME", "/h")]), "/k");
        assert_eq!(cache(&[("HF_HUB_CACHE", ""), ("HF_HOME", "/h")]), "/h/hub");
    }

    #[test]
    fn environment_sets_endpoint_offline_and_token() {
        let plain = config(&[]);
        assert_eq!((plain.endpoint.as_str(), plain.offline, &plain.token), (PUBLIC, false, &None));
        let set =
            config(&[("HF_ENDPOINT", "http://mirror/"), ("HF_HUB_OFFLINE", "1"), ("HF_TOKEN", " abc\n")]);
        assert_eq!((set.endpoint.as_str(), set.offline), ("http://mirror", true));
        assert_eq!(set.token.as_deref(), Some("abc"));
        assert!(!format!("{set:?}").contains("abc"), "a token must not be logged");
        let kept_back = config(&[("HF_TOKEN", "abc"), ("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")]);
        assert_eq!(kept_back.token, None);
        assert!(!config(&[("HF_HUB_OFFLINE", "0")]).offline);
    }

    #[test]
    fn plain_http_is_allowed_only_on_localhost() {
        let checked = |endpoint: &str| config(&[("HF_ENDPOINT", endpoint)]).check_endpoint();
        for taken in [
            "https://huggingface.co",
            "https://mirror:8443/hf/",
            "http://127.0.0.1:8080",
            "http://localhost",
            "http://[::1]:99",
        ] {
            assert!(checked(taken).is_ok(), "{taken}");
        }
        for refused in [
            "http://huggingface.co",
            "http://10.0.0.1",
            "http://localhost.example.org",
            "ftp://a",
            "mirror",
            "http://",
        ] {
            let error = checked(refused).unwrap_err();
            assert_eq!(error.code(), "encoder-hub-endpoint", "{refused}");
            assert!(error.to_string().contains("HF_ENDPOINT"), "{error}");
        }
    }

    #[test]
    fn token_file_is_read() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("token"), "kept\n").unwrap();
        let home = home.path().to_string_lossy().into_owned();
        assert_eq!(config(&[("HF_HOME", &home)]).token.as_deref(), Some("kept"));
        assert_eq!(config(&[("HF_HOME", &home), ("HF_TOKEN", "named")]).token.as_deref(), Some("named"));
    }
}
