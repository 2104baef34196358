//! What all requests share.

use crate::limits::Limits;
use crate::offer::Offer;
use crate::packets::Packets;
use axum::http::HeaderMap;
use dissensus_project::error::ProjectError;
use dissensus_transfer::study::{Inbox, Study};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// Pages that are written at the same time, and submissions that are checked and written.
const PAGES: usize = 1;
const SUBMISSIONS: usize = 16;
/// What requests share.
pub(crate) struct State {
    pub(crate) study: Study,
    pub(crate) offer: Offer,
    pub(crate) inbox: Arc<Inbox>,
    /// Whether something was received since the last merge.
    pub(crate) arrived: AtomicBool,
    pub(crate) packets: Packets,
    pub(crate) limits: Limits,
    /// Also of people who join.
    pub(crate) pages: Arc<Semaphore>,
    pub(crate) submissions: Arc<Semaphore>,
}

impl State {
    pub(crate) fn new(
        study: Study,
        inbox: Inbox,
        packets: Packets,
        limits: Limits,
        offer: Offer,
    ) -> Arc<Self> {
        Arc::new(Self {
            study,
            offer,
            inbox: Arc::new(inbox),
            arrived: AtomicBool::new(false),
            packets,
            limits,
            pages: Arc::new(Semaphore::new(PAGES)),
            submissions: Arc::new(Semaphore::new(SUBMISSIONS)),
        })
    }
}

/// Why a request is not answered.
pub(crate) enum Refusal {
    Unknown,
    TooMany,
    Problem(ProjectError),
}

impl<E: Into<ProjectError>> std::convert::From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::Problem(error.into())
    }
}

/// Who sends a request.
pub(crate) fn sender_of(state: &State, connected: SocketAddr, headers: &HeaderMap) -> IpAddr {
    // A proxy adds a line, or to the last one.
    let forwarded = headers.get_all("x-forwarded-for").iter().next_back();
    let forwarded = forwarded.and_then(|value| value.to_str().ok());
    state.limits.sender(connected.ip(), forwarded)
}

/// Runs work that waits for the disk on a thread of its own. It has its turn until it is done, also if nobody
/// waits for it any more.
pub(crate) async fn blocking<T: Send + 'static>(
    turn: Result<OwnedSemaphorePermit, AcquireError>,
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        work()
    });
    done.await.unwrap_or_else(|panic| Err(Refusal::Problem(ProjectError::internal(&panic))))
}
