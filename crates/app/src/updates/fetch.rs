//! Fetches the description of the newest release and its signature.

use super::error::UpdateError;
use super::source::Source;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use std::io::{ErrorKind, Read as _};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use ureq::Agent;
use ureq::http::{StatusCode, Uri, header};

/// Maximum number of bytes of an answer.
const MAX_BYTES: u64 = 64 << 10;
/// How often a request may be redirected.
const MAX_REDIRECTS: usize = 3;
/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often it is looked whether the check was cancelled.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// What requests name as their program: neither its version nor the system.
const AGENT: &str = "dissensus";

/// The description and its signature. Both are fetched on a thread of their own, so that a server that does
/// not answer cannot keep the caller from cancelling.
pub(crate) fn both(source: &Source, progress: &dyn Progress) -> Result<(Vec<u8>, Vec<u8>), ProjectError> {
    let (send, receive) = channel();
    let source = source.clone();
    std::thread::Builder::new()
        .name("update-check".to_owned())
        .spawn(move || {
            let client = client();
            let address = source.description();
            let fetched = fetch(&client, &source, &address).and_then(|description| {
                let address = format!("{address}.minisig");
                match fetch(&client, &source, &address) {
                    Err(UpdateError::Status { status: 404, .. }) => Err(UpdateError::NoSignature { address }),
                    signature => Ok((description, signature?)),
                }
            });
            // Nobody waits for it after a cancellation.
            let _ = send.send(fetched);
        })
        .map_err(|_| ProjectError::NoThread)?;
    loop {
        match receive.recv_timeout(LOOK_EVERY) {
            Ok(fetched) => return Ok(fetched?),
            Err(RecvTimeoutError::Timeout) if progress.cancelled() => return Err(ProjectError::Cancelled),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(ProjectError::internal(&"the check ended")),
        }
    }
}

fn client() -> Agent {
    Agent::config_builder()
        .user_agent(AGENT)
        .accept_encoding("identity")
        .timeout_global(Some(PATIENCE))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .build()
        .into()
}

/// The answer of an address, after redirects to places of releases.
fn fetch(client: &Agent, source: &Source, first: &str) -> Result<Vec<u8>, UpdateError> {
    let mut address = first.to_owned();
    for _ in 0..=MAX_REDIRECTS {
        let uri: Uri = address.parse().map_err(|_| UpdateError::NoSource)?;
        let host = uri.host().unwrap_or_default().to_owned();
        let unreachable = |reason: String| UpdateError::Unreachable { host: host.clone(), reason };
        let mut answer = client.get(&uri).call().map_err(|error| unreachable(error.to_string()))?;
        let status = answer.status();
        let header = |name| answer.headers().get(name).and_then(|value| value.to_str().ok());
        if status.is_redirection() {
            let to = header(header::LOCATION).unwrap_or_default().to_owned();
            if !to.parse().is_ok_and(|to| source.allows(&to)) {
                return Err(UpdateError::Redirect { from: address, to });
            }
            address = to;
            continue;
        }
        if status != StatusCode::OK {
            return Err(UpdateError::Status { address, status: status.as_u16() });
        }
        let announced = header(header::CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
        let mut content = Vec::new();
        let read = answer.body_mut().as_reader().take(MAX_BYTES + 1).read_to_end(&mut content);
        if content.len() as u64 > MAX_BYTES {
            return Err(UpdateError::TooLong { address });
        }
        let whole = announced.is_none_or(|announced| announced == content.len() as u64);
        return match read {
            Ok(_) if whole => Ok(content),
            Err(error) if error.kind() == ErrorKind::TimedOut => Err(unreachable(error.to_string())),
            _ => Err(UpdateError::CutOff { address }),
        };
    }
    Err(UpdateError::Redirects { address: first.to_owned() })
}
