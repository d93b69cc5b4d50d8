//! Listens, serves connections within limits, and stops promptly on request.

use super::app::App;
use super::error::ServiceError;
use super::options::Options;
use super::router::build_service_router;
use super::seats::{Seat, Seats};
use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use secrecy::SecretString;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

/// Maximum number of simultaneous connections; far below the usual limit of file descriptors, which repositories need
/// too.
const MAX_CONNECTIONS: usize = 512;

/// Maximum time to receive the headers of a request, and maximum idle time of a connection.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// Time that requests in progress have to end when the service stops.
const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// Maximum number of connections that the system holds until they are accepted. With fewer, a burst of clients waits a
/// second until the system tries again.
const BACKLOG: u32 = 1024;

/// Pause after a connection could not be accepted, for example because there are no free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The running local platform; dropping it also stops it, but does not wait until it has stopped.
#[derive(Debug)]
pub struct RunningPlatform {
    address: SocketAddr,
    generated_token: Option<SecretString>,
    stop_sender: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl RunningPlatform {
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the token that was generated because the options contained none; its role is super admin.
    pub const fn generated_token(&self) -> Option<&SecretString> {
        self.generated_token.as_ref()
    }

    /// Stops the service and waits until it has stopped: rejects new connections, closes idle connections at once, and
    /// gives requests in progress about a second to end.
    pub async fn stop(self) {
        self.stop_sender.send_replace(true);
        // The only possible error is a panic in the task, which has ended then, too.
        let _ = self.task.await;
    }
}

/// Starts the service: listens on the address, checks the repositories, opens the store, and serves connections in a
/// background task. If the address is in use, the store is not opened.
pub async fn start(options: Options) -> Result<RunningPlatform, ServiceError> {
    let address = options.listen;
    let listen_error = |source: io::Error| ServiceError::Listen { address, source };
    let listener = listen(address).map_err(listen_error)?;
    let address = listener.local_addr().map_err(listen_error)?;
    let (app, generated_token) = App::start(options)?;
    let (stop_sender, stop_signal) = watch::channel(false);
    let task = tokio::spawn(serve_connections(
        listener,
        build_service_router(Arc::new(app)),
        stop_signal,
    ));
    Ok(RunningPlatform {
        address,
        generated_token,
        stop_sender,
        task,
    })
}

/// Binds the address and starts to listen. Returns the listener.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    // A restart may use the port at once. On Windows this would let another program take the port.
    socket.set_reuseaddr(cfg!(unix))?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Accepts connections until the service is stopped, and then waits until all connections have ended.
async fn serve_connections(listener: TcpListener, router: Router, mut stop_signal: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    let seats = Seats::new(MAX_CONNECTIONS);
    loop {
        let connection = tokio::select! {
            connection = accept_connection(&listener, &seats) => connection,
            () = wait_for_stop(&mut stop_signal) => break,
        };
        // Forget the connections that have ended.
        while connections.try_join_next().is_some() {}
        if let Some((stream, seat)) = connection {
            connections.spawn(serve_connection(
                stream,
                seat,
                router.clone(),
                stop_signal.clone(),
            ));
        }
    }
    // From now on, the system refuses new connections.
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Accepts the next connection and waits for a seat for it. If the connection cannot be accepted, usually because no
/// file descriptor is free, closes an idle connection, pauses, and returns `None`.
async fn accept_connection(listener: &TcpListener, seats: &Seats) -> Option<(TcpStream, Seat)> {
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, seats.take_seat().await)),
        Err(error) => {
            tracing::warn!(%error, "could not accept a connection");
            seats.close_longest_idle_connection();
            sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

/// Waits until the service is told to stop, or the sender of the signal is dropped.
async fn wait_for_stop(stop_signal: &mut watch::Receiver<bool>) {
    // An error means that the sender was dropped.
    let _ = stop_signal.wait_for(|is_stopped| *is_stopped).await;
}

/// Serves the requests of one connection, until the client ends it, the service stops, or `seat` tells the connection
/// to close because it was idle and a new one needs its place. When the service stops, a request in progress has
/// [`GRACE_PERIOD`] to end.
async fn serve_connection(
    stream: TcpStream,
    seat: Seat,
    router: Router,
    mut stop_signal: watch::Receiver<bool>,
) {
    // Without this, a small response can wait for the client to acknowledge the previous one.
    let _ = stream.set_nodelay(true);
    let router = TowerToHyperService::new(router);
    let service = service_fn(|request: Request<Incoming>| {
        let is_open = seat.mark_busy();
        let response = router.call(request);
        let seat = &seat;
        async move {
            // The connection was told to close before the request arrived, so the request gets no response.
            if !is_open {
                return Err(io::Error::from(io::ErrorKind::ConnectionAborted));
            }
            // The router cannot return an error: it turns each one into a response.
            let Ok(response) = response.await;
            seat.mark_idle();
            Ok(response)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = wait_for_stop(&mut stop_signal) => {
            connection.as_mut().graceful_shutdown();
            timeout(GRACE_PERIOD, connection).await.unwrap_or(Ok(()))
        }
        () = seat.wait_for_close() => Ok(()),
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended early");
    }
}
