//! The packets of a study over a network: a page for each person, and what the pages send.
//!
//! A personal link has a secret that follows from the packet's key. What a page sends is on the disk before
//! it is acknowledged ([`dissensus_transfer::study::Inbox`]), and merged into the project within seconds.
//! Nobody sees anything of others; no address and no cookie is stored. Links of the scheme `dissensus:`
//! lead to such pages, and to packets.

mod connections;
mod error;
mod joining;
mod limits;
mod link;
mod link_list;
mod merging;
mod messages;
mod offer;
mod packet_download;
mod packets;
mod pages;
mod routes;
mod state;

use connections::Bounds;
use dissensus_project::error::ProjectError;
use dissensus_transfer::study::{Inbox, Study};
pub use error::ServerError;
use limits::Limits;
pub use link::{SCHEME, read_link, usable};
pub use link_list::LinkList;
pub use merging::{Merged, MergedPerson};
pub use offer::{Offer, web_address};
pub use packet_download::{PROJECT_HEAD, begins_as_project, download_packet};
use packets::Packets;
use state::State;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often [`serve`] asks whether it should stop.
const ASK: Duration = Duration::from_millis(100);
/// How long requests may go on after that.
const LAST_REQUESTS: Duration = Duration::from_secs(5);

/// How a server is reached.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The address and port on this computer.
    pub listen: SocketAddr,
    /// Whether a reverse proxy passes requests on: it names the sender in `X-Forwarded-For`.
    pub behind_proxy: bool,
}

/// A server that has its port.
pub struct Server {
    listener: TcpListener,
    study: Study,
    inbox: Inbox,
    settings: Settings,
    offer: Offer,
}

impl Server {
    /// Takes the port, and merges what an earlier server has received and not merged.
    ///
    /// # Errors
    /// The open project is a packet or read-only, or the port is in use.
    pub fn open(study: &Study, settings: Settings, offer: Offer) -> Result<Self, ProjectError> {
        let inbox = Inbox::open(study)?;
        let address = settings.listen;
        let taken = |source| ServerError::Address { address, source };
        let listener = TcpListener::bind(address).map_err(taken)?;
        listener.set_nonblocking(true).map_err(taken)?;
        Ok(Self { listener, study: study.clone(), inbox, settings, offer })
    }

    /// The address on which it listens; the port is known also where it was asked to be any.
    ///
    /// # Errors
    /// The system does not answer.
    pub fn address(&self) -> Result<SocketAddr, ProjectError> {
        Ok(self.listener.local_addr().map_err(ServerError::Network)?)
    }

    /// Answers requests until `stop` returns true, and merges what was received; returns how many submissions
    /// could not be merged and wait for the next time. `merged` is called after each merge.
    ///
    /// # Errors
    /// The network fails. All that was acknowledged is in the project or in its inbox.
    pub fn serve(
        self,
        stop: impl Fn() -> bool,
        merged: impl Fn(&Merged) + Send + Sync,
    ) -> Result<usize, ProjectError> {
        let packets = Packets::read(&self.study)?;
        let limits = Limits::new(self.settings.behind_proxy);
        let state = State::new(self.study, self.inbox, packets, limits, self.offer);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(ServerError::Network)?;
        let ended = AtomicBool::new(false);
        let served = std::thread::scope(|scope| {
            let merger = scope.spawn(|| merging::merge_until(&state.inbox, &state.arrived, &ended, &merged));
            let bounds = Bounds::usual(self.settings.behind_proxy);
            let served = runtime.block_on(answer(self.listener, Arc::clone(&state), bounds, &stop));
            // What is being written is still merged.
            runtime.shutdown_timeout(LAST_REQUESTS);
            ended.store(true, Ordering::SeqCst);
            // A panic there is one here.
            merger.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            served
        });
        served.map(|()| state.inbox.waiting())
    }
}

async fn answer(
    listener: TcpListener,
    state: Arc<State>,
    bounds: Bounds,
    stop: impl Fn() -> bool,
) -> Result<(), ProjectError> {
    let listener = tokio::net::TcpListener::from_std(listener).map_err(ServerError::Network)?;
    let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
    let end = async { receiver.await.unwrap_or_default() };
    let server = tokio::spawn(connections::serve(listener, routes::router(state), bounds, end));
    while !stop() && !server.is_finished() {
        tokio::time::sleep(ASK).await;
    }
    let _ = sender.send(());
    // Browsers keep connections open: those without a request are cut.
    match tokio::time::timeout(LAST_REQUESTS, server).await {
        Ok(Ok(())) | Err(_) => Ok(()),
        Ok(Err(panic)) => Err(ProjectError::internal(&panic)),
    }
}
