//! Connections: so many at a time, and none that keeps a place without sending requests.

use crate::limits::{Places, network_of};
use crate::routes::LONGEST;
use axum::extract::ConnectInfo;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

/// How long it waits after a connection could not be accepted, such as for a file that is closed.
const PAUSE: Duration = Duration::from_millis(200);

/// What connections can take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// How many are open at a time; further ones wait until one is closed.
    pub(crate) open: usize,
    /// How many of them one sender has: further ones are closed.
    pub(crate) of_sender: usize,
    /// How long one waits for a request and the whole of its header. A slow sender has no place for longer.
    pub(crate) header: Duration,
    /// How long one stays open. A slow reader has no place for longer.
    pub(crate) life: Duration,
    /// How long the request that it has then may still take.
    pub(crate) last: Duration,
}

impl Bounds {
    /// Systems give a program so many files, of which the project needs some: usually 1,024, and 256 on
    /// macOS.
    pub(crate) fn usual(behind_proxy: bool) -> Self {
        let (open, of_sender) = if cfg!(target_os = "macos") { (150, 60) } else { (600, 100) };
        Self {
            open,
            // Those of a proxy are everybody's.
            of_sender: if behind_proxy { open } else { of_sender },
            header: Duration::from_secs(30),
            life: Duration::from_mins(10),
            last: LONGEST,
        }
    }
}

/// Answers requests until `end`, and then those that were begun.
pub(crate) async fn serve(listener: TcpListener, app: Router, bounds: Bounds, end: impl Future<Output = ()>) {
    let (places, senders) = (Arc::new(Semaphore::new(bounds.open)), Places::new(bounds.of_sender));
    let (ending, ended) = watch::channel(());
    let mut open = JoinSet::new();
    let mut end = pin!(end);
    loop {
        let (stream, from, place) = tokio::select! {
            accepted = accept(&listener, &places) => accepted,
            () = end.as_mut() => break,
        };
        while open.try_join_next().is_some() {}
        let Some(of_sender) = senders.take(network_of(from.ip())) else { continue };
        let (app, ended) = (app.clone(), ended.clone());
        open.spawn(async move {
            answer(stream, from, app, bounds, ended).await;
            drop((place, of_sender));
        });
    }
    drop(ending);
    while open.join_next().await.is_some() {}
}

/// The next connection, once there is a place for it.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, Option<OwnedSemaphorePermit>) {
    loop {
        // The places are never closed.
        let place = Arc::clone(places).acquire_owned().await.ok();
        match listener.accept().await {
            Ok((stream, from)) => return (stream, from, place),
            Err(error) if is_of_sender(error.kind()) => {}
            Err(error) => {
                tracing::warn!(kind = %error.kind(), "a connection was not accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Whether the sender closed the connection meanwhile.
fn is_of_sender(error: ErrorKind) -> bool {
    matches!(error, ErrorKind::ConnectionAborted | ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset)
}

async fn answer(
    stream: TcpStream,
    from: SocketAddr,
    app: Router,
    bounds: Bounds,
    mut ended: watch::Receiver<()>,
) {
    let service = TowerToHyperService::new(app.layer(Extension(ConnectInfo(from))));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.header)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        // It fails: nothing is sent, and the other half is gone.
        _ = ended.changed() => {}
        () = tokio::time::sleep(bounds.life) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(bounds.last, connection).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use std::time::Instant;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    const BOUNDS: Bounds = Bounds {
        open: 2,
        of_sender: 10,
        header: Duration::from_millis(300),
        life: Duration::from_mins(10),
        last: Duration::from_mins(1),
    };
    /// How long a slow answer takes.
    const SLOW: Duration = Duration::from_millis(500);
    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    /// A server with these bounds; what is sent ends it.
    async fn started(bounds: Bounds) -> (SocketAddr, tokio::sync::oneshot::Sender<()>, JoinSet<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (end, ended) = tokio::sync::oneshot::channel();
        let mut task = JoinSet::new();
        let slow = || async {
            tokio::time::sleep(SLOW).await;
            "done"
        };
        let app = Router::new()
            .route(
                "/",
                get(|ConnectInfo(from): ConnectInfo<SocketAddr>| async move { from.ip().to_string() }),
            )
            .route("/slow", get(slow));
        task.spawn(serve(listener, app, bounds, async { ended.await.unwrap_or_default() }));
        (address, end, task)
    }

    /// What a connection reads until the other side has written so much, or has closed it.
    async fn read_until(stream: &mut TcpStream, end: &str) -> String {
        let (mut read, mut block) = (Vec::new(), [0; 1024]);
        loop {
            match stream.read(&mut block).await {
                Ok(0) | Err(_) => return String::from_utf8_lossy(&read).into_owned(),
                Ok(bytes) => read.extend(&block[..bytes]),
            }
            if String::from_utf8_lossy(&read).ends_with(end) {
                return String::from_utf8_lossy(&read).into_owned();
            }
        }
    }

    #[tokio::test]
    async fn slow_senders_lose_their_places() {
        let (address, _end, _task) = started(BOUNDS).await;
        let began = Instant::now();
        // One sends nothing, and one never ends its header.
        let mut silent = TcpStream::connect(address).await.unwrap();
        let mut slow = TcpStream::connect(address).await.unwrap();
        slow.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nX-A: ").await.unwrap();
        // All places are taken, so this one waits, and is answered once they are closed.
        let mut good = TcpStream::connect(address).await.unwrap();
        good.write_all(REQUEST).await.unwrap();
        let answer = read_until(&mut good, "127.0.0.1").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(began.elapsed() >= BOUNDS.header, "there was a third place");
        assert!(!read_until(&mut silent, "-").await.contains("200"));
        assert!(!read_until(&mut slow, "-").await.contains("200"));
        // Without a further request, its own connection is closed too.
        assert_eq!(read_until(&mut good, "-").await, "");
    }

    #[tokio::test]
    async fn one_sender_does_not_have_all_places() {
        let bounds = Bounds { open: 4, of_sender: 2, header: Duration::from_mins(1), ..BOUNDS };
        let (address, _end, _task) = started(bounds).await;
        let answered = async |mut stream: TcpStream| {
            let sent = stream.write_all(REQUEST).await.is_ok();
            sent && read_until(&mut stream, "127.0.0.1").await.contains("200")
        };
        let mut first = TcpStream::connect(address).await.unwrap();
        let _silent = TcpStream::connect(address).await.unwrap();
        // Those after the second one are closed at once, and have no places.
        for _ in 0..10 {
            assert!(!answered(TcpStream::connect(address).await.unwrap()).await);
        }
        // The others are answered, and once one is closed there is a place again.
        first.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await.unwrap();
        assert!(read_until(&mut first, "-").await.contains("200"));
        let mut again = false;
        for _ in 0..100 {
            again = again || answered(TcpStream::connect(address).await.unwrap()).await;
        }
        assert!(again);
        // Behind a proxy all come from one address.
        assert_eq!(Bounds::usual(true).of_sender, Bounds::usual(true).open);
        assert!(Bounds::usual(false).of_sender < Bounds::usual(false).open / 2);
    }

    #[tokio::test]
    async fn last_request_of_a_connection_has_its_time() {
        let short = Duration::from_millis(100);
        let (address, _end, _task) = started(Bounds { header: short, life: short, ..BOUNDS }).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        assert!(
            read_until(&mut stream, "-").await.ends_with("done"),
            "it takes longer than all but the last"
        );
    }

    #[tokio::test]
    async fn connections_end_after_their_life_and_with_the_server() {
        let life = Duration::from_millis(300);
        let (address, _end, _task) = started(Bounds { header: Duration::from_mins(1), life, ..BOUNDS }).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(REQUEST).await.unwrap();
        assert!(read_until(&mut stream, "127.0.0.1").await.contains("200"));
        assert_eq!(read_until(&mut stream, "-").await, "", "it is closed");

        let (address, end, mut task) = started(Bounds { header: Duration::from_mins(1), ..BOUNDS }).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(REQUEST).await.unwrap();
        assert!(read_until(&mut stream, "127.0.0.1").await.contains("200"));
        end.send(()).unwrap();
        assert!(task.join_next().await.unwrap().is_ok());
        assert_eq!(read_until(&mut stream, "-").await, "");
        assert!(TcpStream::connect(address).await.is_err());
    }
}
