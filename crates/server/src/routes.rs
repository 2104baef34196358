//! What a server answers.

use crate::error::ServerError;
use crate::joining;
use crate::messages::Spoken;
use crate::pages;
use crate::state::{Refusal, State, blocking, sender_of};
use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{ConnectInfo, DefaultBodyLimit, FromRequest as _, Path, Request, State as From};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Json, Response};
use axum::routing::{get, put};
use dissensus_api::Problem;
use dissensus_domain::PacketId;
use dissensus_project::error::ProjectError;
use dissensus_transfer::study;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use uuid::Uuid;

/// The most bytes of a submission: about 40,000 answers.
const LARGEST: usize = 8 << 20;
/// The most bytes of one that are read: who sends a little too much is answered, and not cut off.
const READ: usize = 2 * LARGEST;
/// How long one request may take, its body included.
pub(crate) const LONGEST: Duration = Duration::from_secs(60);
/// The most bytes of any other request.
const LARGEST_FORM: usize = 1 << 14;
/// Secrets have this length.
const SECRET: usize = 32;

/// Headers of every answer: nothing is stored on the way, named to others, or put into a frame.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("x-robots-tag"), "noindex"),
];

pub(crate) fn router(state: Arc<State>) -> Router {
    Router::new()
        .route("/", get(|spoken: Spoken| async move { pages::message(spoken, StatusCode::OK, pages::FRONT) }))
        .route("/join", get(joining::invitation).post(joining::join))
        .route("/join.js", get(joining::script))
        .route("/p/{secret}", get(page))
        .route("/p/{secret}/work/{opened}", put(receive).layer(DefaultBodyLimit::max(READ)))
        .fallback(
            |spoken: Spoken| async move { pages::message(spoken, StatusCode::NOT_FOUND, pages::UNKNOWN) },
        )
        .layer(DefaultBodyLimit::max(LARGEST_FORM))
        .layer(middleware::from_fn(finish))
        .with_state(state)
}

/// Ends requests that take too long, and adds the headers of every answer.
async fn finish(request: Request, next: Next) -> Response {
    let answer = tokio::time::timeout(LONGEST, next.run(request)).await;
    let mut answer =
        answer.unwrap_or_else(|_| problem(StatusCode::REQUEST_TIMEOUT, ServerError::TooSlow, None));
    for (name, value) in HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// The packet of a link. Only wrong links are counted against their sender: others may have its address too.
fn packet(state: &State, secret: &str, sender: SocketAddr, headers: &HeaderMap) -> Result<PacketId, Refusal> {
    let known = match secret.len() == SECRET {
        true => state.packets.find(&state.study, secret)?,
        false => None,
    };
    match known {
        Some(_) if !state.limits.allows_link(secret) => Err(Refusal::TooMany),
        Some(packet) => Ok(packet),
        None if state.limits.allows_wrong(sender_of(state, sender, headers)) => Err(Refusal::Unknown),
        None => Err(Refusal::TooMany),
    }
}

async fn page(
    spoken: Spoken,
    From(state): From<Arc<State>>,
    ConnectInfo(sender): ConnectInfo<SocketAddr>,
    Path(secret): Path<String>,
    headers: HeaderMap,
) -> Response {
    let zipped = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let zipped = zipped.is_some_and(|accepted| accepted.contains("gzip"));
    let written = match packet(&state, &secret, sender, &headers) {
        Ok(packet) => {
            let turn = Arc::clone(&state.pages).acquire_owned().await;
            let state = Arc::clone(&state);
            blocking(turn, move || write_page(&state, packet, zipped)).await
        }
        Err(refusal) => Err(refusal),
    };
    match written {
        Ok(page) if zipped => ([(header::CONTENT_ENCODING, "gzip")], Html(page)).into_response(),
        Ok(page) => Html(page).into_response(),
        Err(Refusal::Unknown) => pages::message(spoken, StatusCode::NOT_FOUND, pages::UNKNOWN),
        Err(Refusal::TooMany) => pages::message(spoken, StatusCode::TOO_MANY_REQUESTS, pages::TOO_MANY),
        Err(Refusal::Problem(error)) => {
            tracing::warn!(code = error.code(), "a page was not written");
            pages::message(spoken, StatusCode::SERVICE_UNAVAILABLE, pages::FAILED)
        }
    }
}

fn write_page(state: &State, packet: PacketId, zipped: bool) -> Result<Vec<u8>, Refusal> {
    let completion = state.offer.completion.as_deref();
    let page = study::linked_page(&state.study, packet, completion)?.into_bytes();
    if !zipped {
        return Ok(page);
    }
    let mut zip = GzEncoder::new(Vec::with_capacity(page.len() / 2), Compression::fast());
    let zipped = zip.write_all(&page).and_then(|()| zip.finish());
    zipped.map_err(|error| Refusal::Problem(ProjectError::internal(&error)))
}

async fn receive(
    spoken: Spoken,
    From(state): From<Arc<State>>,
    ConnectInfo(sender): ConnectInfo<SocketAddr>,
    Path((secret, opened)): Path<(String, String)>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let received = match packet(&state, &secret, sender, &headers) {
        Ok(packet) => {
            let Ok(opened) = Uuid::parse_str(&opened) else {
                return problem(StatusCode::BAD_REQUEST, ServerError::Misaddressed, None);
            };
            // Nothing is read for those without a link, nor more at a time than there is memory for.
            let Some(place) = state.limits.sending(&secret) else {
                return too_many(&spoken);
            };
            let length =
                headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
            let memory = state.limits.memory(length.unwrap_or(READ).min(READ)).await;
            let content = match Bytes::from_request(request, &()).await {
                Ok(content) if content.len() <= LARGEST => content,
                Err(BytesRejection::FailedToBufferBody(FailedToBufferBody::UnknownBodyError(_))) => {
                    return problem(StatusCode::BAD_REQUEST, ServerError::BrokenOff, None);
                }
                _ => return problem(StatusCode::PAYLOAD_TOO_LARGE, ServerError::TooLarge, None),
            };
            let turn = Arc::clone(&state.submissions).acquire_owned().await;
            let state = Arc::clone(&state);
            blocking(turn, move || {
                let _until_here = (place, memory);
                let answers = state.inbox.receive(packet, opened, &content)?;
                state.arrived.store(true, Ordering::SeqCst);
                Ok(answers)
            })
            .await
        }
        Err(refusal) => Err(refusal),
    };
    match received {
        Ok(answers) => Json(json!({ "answers": answers })).into_response(),
        Err(Refusal::Unknown) => {
            problem(StatusCode::NOT_FOUND, ServerError::LinkUnknown, Some(&spoken.texts.unknown_text))
        }
        Err(Refusal::TooMany) => too_many(&spoken),
        Err(Refusal::Problem(error)) => {
            tracing::warn!(code = error.code(), "a submission was not received");
            let status = match error.code() {
                code if code.starts_with("merge-") => StatusCode::CONFLICT,
                "received-other-packet" | "received-set-aside" => StatusCode::CONFLICT,
                "received-too-many" => StatusCode::TOO_MANY_REQUESTS,
                // What is wrong on this computer is nothing for others, such as the names of its folders.
                _ => {
                    let message = spoken.texts.failed_text.clone();
                    let problem = Problem { code: error.code().to_owned(), message, detail: None };
                    return (StatusCode::SERVICE_UNAVAILABLE, Json(problem)).into_response();
                }
            };
            (status, Json(error.problem())).into_response()
        }
    }
}

fn too_many(spoken: &Spoken) -> Response {
    let why = Some(spoken.texts.too_many_text.as_str());
    problem(StatusCode::TOO_MANY_REQUESTS, ServerError::TooManyRequests, why)
}

/// A refusal that a page shows by its code; `message` replaces the English one.
fn problem(status: StatusCode, error: ServerError, message: Option<&str>) -> Response {
    let mut problem = ProjectError::from(error).problem();
    if let Some(message) = message {
        message.clone_into(&mut problem.message);
    }
    (status, Json(problem)).into_response()
}
