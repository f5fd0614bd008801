//! Connections: how many there are, how long they may take, and how they end.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::time::{sleep, timeout};

use super::handler::Server;
use super::owner::Command;

/// Most connections at once; more wait to be accepted.
const MOST_CONNECTIONS: usize = 12_000;

/// Largest head of a request, and with it what a connection holds in memory.
const MOST_HEAD_BYTES: usize = 64 << 10;

/// How long attempts may take that are under way when the end is asked for.
const LONGEST_DRAIN: Duration = Duration::from_secs(30);

/// Binds the address; connections that wait to be accepted are at most `backlog`.
pub fn bind(address: SocketAddr, backlog: u32) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(backlog)
}

/// What asks a process to end.
pub struct Ends {
    terminate: Signal,
    interrupt: Signal,
}

impl Ends {
    /// Listens from now on.
    pub fn new() -> io::Result<Ends> {
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Ends { terminate: signal(SignalKind::terminate())?, interrupt })
    }

    async fn asked(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Serves until the end is asked for or `owner_over`: then whoever waits is answered first. A second time
/// it is not waited for.
pub async fn serve(
    listener: TcpListener,
    server: Arc<Server>,
    silence: Duration,
    commands: &Sender<Command>,
    mut ends: Ends,
    mut owner_over: oneshot::Receiver<Infallible>,
) {
    let connections = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let (stop, stopped) = watch::channel(false);
    loop {
        let next = async {
            let place = Arc::clone(&connections).acquire_owned().await;
            (listener.accept().await, place)
        };
        tokio::select! {
            () = ends.asked() => break,
            _ = &mut owner_over => return,
            (accepted, place) = next => match accepted {
                Ok((stream, _)) => {
                    let connection = connection(stream, Arc::clone(&server), silence, stopped.clone());
                    tokio::spawn(async move {
                        connection.await;
                        drop(place);
                    });
                }
                // Out of file descriptors, most likely: some will come free.
                Err(_) => sleep(Duration::from_millis(50)).await,
            },
        }
    }
    drop(listener);
    // The owner may have ended.
    let _ = commands.send(Command::Drain);
    let _ = stop.send(true);
    let drained = tokio::select! {
        () = ends.asked() => false,
        _ = &mut owner_over => true,
        () = sleep(LONGEST_DRAIN) => false,
    };
    if !drained {
        let _ = commands.send(Command::Stop);
        let _ = owner_over.await;
    }
    // What has been said is on its way.
    let all = connections.acquire_many(MOST_CONNECTIONS as u32);
    let _ = timeout(Duration::from_secs(1), all).await;
}

async fn connection(
    stream: TcpStream,
    server: Arc<Server>,
    silence: Duration,
    mut stopped: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| Arc::clone(&server).handle(request));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(silence)
        .max_buf_size(MOST_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = pin!(served);
    let ended = tokio::select! {
        _ = served.as_mut() => true,
        _ = stopped.wait_for(|stopped| *stopped) => false,
    };
    if !ended {
        served.as_mut().graceful_shutdown();
        // A client that goes away in between is no concern of ours.
        let _ = served.await;
    }
}
