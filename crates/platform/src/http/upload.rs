//! Uploads: a streaming body with a known length.
//!
//! Memory use is constant: only a few chunks are in flight at any time. There is no limit on the total time, as a large
//! artifact over a slow line may take long, but on the time without progress.

use super::error::{HttpError, RetryRule};
use super::{ErrorKind, Response};
use bytes::Bytes;
use futures_util::stream::{Stream, StreamExt as _, try_unfold};
use reqwest::Body;
use reqwest::header::HeaderValue;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

/// The size of a chunk in bytes: more than the connection collects before it sends (400 KB).
const CHUNK: usize = 512 * 1024;

/// A body that can be read several times.
pub(crate) trait UploadBody: Send + Sync + 'static {
    fn content_type(&self) -> HeaderValue;
    /// Returns the exact size of the body, in bytes.
    fn length(&self) -> u64;
    /// Opens the body at its start. Reading may block; a read error ends the upload and is reported as its cause.
    fn open(self: Arc<Self>) -> Box<dyn Read + Send>;
    /// Receives the number of bytes of the body that were passed on for sending so far.
    fn progress(&self, _sent: u64) {}
}

/// Monitors one try of an upload: starts its body and watches its progress.
pub(super) struct Monitor {
    body: Arc<dyn UploadBody>,
    state: Arc<UploadState>,
}

struct UploadState {
    sent: AtomicU64,
    moved: watch::Sender<Instant>,
    broken: Mutex<Option<String>>,
}

impl Monitor {
    pub(super) fn new(body: Arc<dyn UploadBody>) -> Self {
        let state = UploadState {
            sent: AtomicU64::new(0),
            moved: watch::Sender::new(Instant::now()),
            broken: Mutex::new(None),
        };
        Self {
            body,
            state: Arc::new(state),
        }
    }

    pub(super) fn start(&self) -> Body {
        self.state.sent.store(0, Ordering::Release);
        let chunks = chunks(Arc::clone(&self.body).open());
        let (body, state) = (Arc::clone(&self.body), Arc::clone(&self.state));
        let taken = move |chunk: &io::Result<Bytes>| match chunk {
            Ok(bytes) => body.progress(state.took(bytes.len())),
            Err(why) => state.broke(why),
        };
        Body::wrap_stream(chunks.inspect(taken))
    }

    /// Returns the outcome, or a timeout if nothing moves for `limit`. If the body could not be read, that error
    /// replaces the errors that followed from it.
    pub(super) async fn watch(
        &self,
        limit: Duration,
        exchange: impl Future<Output = Result<Response, HttpError>>,
    ) -> Result<Response, HttpError> {
        let outcome = tokio::select! {
            outcome = exchange => outcome,
            () = self.stalled(limit) => Err(self.no_progress(limit)),
        };
        let refused = matches!(&outcome, Err(error) if error.status().is_some() && !error.was_accepted());
        match self.state.broken() {
            Some(why) if !refused => Err(HttpError::new(
                ErrorKind::Source,
                format!("the upload was stopped: {why}"),
            )),
            _ => outcome,
        }
    }

    /// Returns the reason why a 2xx response cannot be trusted: it arrived before the body was sent completely.
    pub(super) fn incomplete(&self) -> Option<String> {
        let (sent, length) = (self.state.sent.load(Ordering::Acquire), self.body.length());
        (sent < length)
            .then(|| format!("accepted after {sent} of {length} bytes, before the upload was complete"))
    }

    /// Waits until there was no progress for this time.
    pub(super) async fn stalled(&self, limit: Duration) {
        let mut moved = self.state.moved.subscribe();
        loop {
            let last = *moved.borrow_and_update();
            tokio::time::sleep_until(last + limit).await;
            if *moved.borrow() == last {
                return;
            }
        }
    }

    fn no_progress(&self, limit: Duration) -> HttpError {
        let (sent, length) = (self.state.sent.load(Ordering::Acquire), self.body.length());
        let what = if sent < length {
            format!(
                "no progress within {} s, after {sent} of {length} bytes",
                limit.as_secs_f64()
            )
        } else {
            format!(
                "everything was sent, and no response came within {} s",
                limit.as_secs_f64()
            )
        };
        HttpError::new(ErrorKind::Timeout, what)
            .again(RetryRule::IfSafe)
            .maybe_processed()
    }
}

impl UploadState {
    fn broke(&self, why: &io::Error) {
        *self.broken.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.to_string());
    }

    fn took(&self, size: usize) -> u64 {
        self.moved.send_replace(Instant::now());
        let size = size as u64;
        self.sent.fetch_add(size, Ordering::AcqRel) + size
    }

    fn broken(&self) -> Option<String> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Streams the body in chunks, each read by a thread that may block, up to its end or its first error.
fn chunks(body: Box<dyn Read + Send>) -> impl Stream<Item = io::Result<Bytes>> + Send {
    try_unfold(body, async |mut body| {
        let read = spawn_blocking(move || {
            let mut chunk = Vec::with_capacity(CHUNK);
            (&mut body).take(CHUNK as u64).read_to_end(&mut chunk)?;
            Ok::<_, io::Error>((Bytes::from(chunk), body))
        });
        let (chunk, body) = read.await.map_err(io::Error::other)??;
        Ok((!chunk.is_empty()).then_some((chunk, body)))
    })
}
