//! Listens, serves connections within bounds, and stops at once when told to.

use super::app::App;
use super::error::ServiceError;
use super::options::Options;
use super::router::router;
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
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

/// Connections at the same time; well below the usual limit of file descriptors, which repositories need too.
const CONNECTIONS: usize = 512;

/// How long the headers of a request may take, and how long a connection may be idle.
const HEADER_TIME: Duration = Duration::from_secs(30);

/// How long requests that are under way when the service stops have to end.
const GRACE: Duration = Duration::from_secs(1);

/// How long to wait when no connection can be taken, for example for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The running local platform; dropping it stops it too, without waiting for the end.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    generated_token: Option<SecretString>,
    stop: watch::Sender<bool>,
    ended: JoinHandle<()>,
}

impl Running {
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The token that was generated because none was given; its role is super admin.
    pub const fn generated_token(&self) -> Option<&SecretString> {
        self.generated_token.as_ref()
    }

    /// Stops: takes no more connections, closes idle ones at once, and gives requests under way about a second.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        // The only failure is a panic of the task, and then it has ended too.
        let _ = self.ended.await;
    }
}

/// Opens the store, checks the repositories and starts to listen.
pub async fn start(options: Options) -> Result<Running, ServiceError> {
    let address = options.listen;
    let fail = |source: io::Error| ServiceError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(fail)?;
    let address = listener.local_addr().map_err(fail)?;
    let (state, generated_token) = App::open(options)?;
    let (stop, stopped) = watch::channel(false);
    let ended = tokio::spawn(serve(listener, router(Arc::new(state)), stopped));
    Ok(Running {
        address,
        generated_token,
        stop,
        ended,
    })
}

async fn serve(listener: TcpListener, router: Router, mut stopped: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    let seats = Seats::new(CONNECTIONS);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &seats) => accepted,
            () = told(&mut stopped) => break,
        };
        while connections.try_join_next().is_some() {}
        if let Some((stream, seat)) = accepted {
            connections.spawn(connection(stream, seat, router.clone(), stopped.clone()));
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// The next connection, once there is a seat for it; none if it could not be taken.
async fn accept(listener: &TcpListener, seats: &Seats) -> Option<(TcpStream, Seat)> {
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, seats.take().await)),
        Err(error) => {
            tracing::warn!(%error, "cannot take a connection");
            seats.send_one_away();
            sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

/// Until the service is told to stop, or nobody is left to tell it.
async fn told(stopped: &mut watch::Receiver<bool>) {
    // An error says that the sender is gone.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

async fn connection(stream: TcpStream, seat: Seat, router: Router, mut stopped: watch::Receiver<bool>) {
    // Without this, a small answer can wait for the client's acknowledgement of the one before.
    let _ = stream.set_nodelay(true);
    let router = TowerToHyperService::new(router);
    let answer = |request: Request<Incoming>| {
        let (working, answer) = (seat.work(), router.call(request));
        let seat = &seat;
        async move {
            if !working {
                return Err(io::Error::from(io::ErrorKind::ConnectionAborted));
            }
            let Ok(answer) = answer.await;
            seat.rest();
            Ok(answer)
        }
    };
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .serve_connection(TokioIo::new(stream), service_fn(answer));
    let mut serving = pin!(serving);
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = told(&mut stopped) => {
            serving.as_mut().graceful_shutdown();
            timeout(GRACE, serving).await.unwrap_or(Ok(()))
        }
        () = seat.sent_away() => Ok(()),
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}
