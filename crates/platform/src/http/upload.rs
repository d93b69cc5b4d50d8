//! Uploads: a streaming body with a known length.
//!
//! Memory use is constant: only a few chunks are in flight at any time. The time without progress is limited, but not
//! the total time, because a large artifact over a slow line may take long.

use super::error::{HttpError, RetryRule};
use super::{ErrorKind, Response};
use bytes::Bytes;
use futures_util::stream::{Stream, StreamExt as _, try_unfold};
use reqwest::Body;
use reqwest::header::HeaderValue;
use sluicegate_base::mutex_lock::lock_mutex;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

/// The size of a chunk in bytes: more than the connection collects before it sends (400 KB).
const CHUNK_SIZE: usize = 512 * 1024;

/// A body that can be read several times.
pub(crate) trait UploadBody: Send + Sync + 'static {
    fn content_type(&self) -> HeaderValue;
    /// Returns the exact size of the body, in bytes.
    fn length(&self) -> u64;
    /// Opens the body at its start. Reading may block; a read error ends the upload and is reported as its cause.
    fn open_body(self: Arc<Self>) -> Box<dyn Read + Send>;
    /// Returns whether the body must not be sent again.
    fn is_canceled(&self) -> bool {
        false
    }
    /// Receives the number of bytes of the body that were passed on for sending so far.
    fn report_progress(&self, _sent_size: u64) {}
}

/// Monitors one try of an upload: starts its body and watches its progress.
pub(super) struct UploadMonitor {
    body: Arc<dyn UploadBody>,
    state: Arc<UploadState>,
}

struct UploadState {
    sent_size: AtomicU64,
    progress_time: watch::Sender<Instant>,
    read_error: Mutex<Option<String>>,
}

impl UploadMonitor {
    /// Creates the monitor of an upload that has not begun.
    pub(super) fn new(body: Arc<dyn UploadBody>) -> Self {
        let state = UploadState {
            sent_size: AtomicU64::new(0),
            progress_time: watch::Sender::new(Instant::now()),
            read_error: Mutex::new(None),
        };
        Self {
            body,
            state: Arc::new(state),
        }
    }

    /// Opens the body at its first byte. The returned stream records the progress and a read error.
    pub(super) fn open_body_stream(&self) -> Body {
        self.state.sent_size.store(0, Ordering::Release);
        let (body, state) = (Arc::clone(&self.body), Arc::clone(&self.state));
        Body::wrap_stream(stream_chunks(Arc::clone(&self.body).open_body()).inspect(
            move |chunk| match chunk {
                Ok(bytes) => body.report_progress(state.record_sent(bytes.len())),
                Err(error) => state.record_read_error(error),
            },
        ))
    }

    /// Returns the outcome of the exchange, or a timeout if there is no progress for `limit`. If the body could not be
    /// read, returns that error instead, because it is the cause of the outcome. Only the error for a status other than
    /// 2xx has precedence, because it shows that the server rejected the upload.
    pub(super) async fn await_with_stall_limit(
        &self,
        limit: Duration,
        exchange: impl Future<Output = Result<Response, HttpError>>,
    ) -> Result<Response, HttpError> {
        let outcome = tokio::select! {
            outcome = exchange => outcome,
            () = self.wait_for_stall(limit) => Err(self.stall_error(limit)),
        };
        let is_refused = matches!(&outcome, Err(error) if error.status().is_some() && !error.is_accepted());
        match self.state.read_error() {
            Some(reason) if !is_refused => Err(HttpError::new(
                ErrorKind::UploadSource,
                format!("the upload was stopped: {reason}"),
            )),
            _ => outcome,
        }
    }

    /// Returns why a 2xx response cannot be trusted: it arrived before the body was sent completely. Returns `None` if
    /// the body was sent completely.
    pub(super) fn describe_incomplete_upload(&self) -> Option<String> {
        let (sent_size, length) = (self.state.sent_size.load(Ordering::Acquire), self.body.length());
        (sent_size < length).then(|| {
            format!(
                "the server accepted the upload after {sent_size} of {length} bytes, before the upload was \
                 complete"
            )
        })
    }

    /// Waits until there was no progress for the duration `limit`.
    pub(super) async fn wait_for_stall(&self, limit: Duration) {
        let mut progress_time = self.state.progress_time.subscribe();
        loop {
            let earlier_time = *progress_time.borrow_and_update();
            tokio::time::sleep_until(earlier_time + limit).await;
            if *progress_time.borrow() == earlier_time {
                return;
            }
        }
    }

    /// Creates the error for an upload without progress, or without a complete response after the upload, for the
    /// duration `limit`.
    fn stall_error(&self, limit: Duration) -> HttpError {
        let (sent_size, length) = (self.state.sent_size.load(Ordering::Acquire), self.body.length());
        let message = if sent_size < length {
            format!(
                "the upload made no progress within {} s, after {sent_size} of {length} bytes",
                limit.as_secs_f64()
            )
        } else {
            format!(
                "the request was sent, but no complete response arrived within {} s",
                limit.as_secs_f64()
            )
        };
        HttpError::new(ErrorKind::Timeout, message)
            .with_retry_rule(RetryRule::IfSafe)
            .mark_maybe_processed()
    }
}

impl UploadState {
    /// Records the error that ended the reading of the body. It is the cause of the upload's failure.
    fn record_read_error(&self, error: &io::Error) {
        *lock_mutex(&self.read_error) = Some(error.to_string());
    }

    /// Records that `size` more bytes were sent, and returns the number of bytes sent so far.
    fn record_sent(&self, size: usize) -> u64 {
        self.progress_time.send_replace(Instant::now());
        let size = size as u64;
        self.sent_size.fetch_add(size, Ordering::AcqRel) + size
    }

    /// Returns why the body could not be read, if that ended the upload.
    fn read_error(&self) -> Option<String> {
        lock_mutex(&self.read_error).clone()
    }
}

/// Streams the body in chunks up to its end or its first error. Each chunk is read on a thread that may block.
fn stream_chunks(body: Box<dyn Read + Send>) -> impl Stream<Item = io::Result<Bytes>> + Send {
    try_unfold(body, async |mut body| {
        let (chunk, body) = spawn_blocking(move || {
            let mut chunk = Vec::with_capacity(CHUNK_SIZE);
            (&mut body).take(CHUNK_SIZE as u64).read_to_end(&mut chunk)?;
            Ok::<_, io::Error>((Bytes::from(chunk), body))
        })
        .await
        .map_err(io::Error::other)??;
        Ok((!chunk.is_empty()).then_some((chunk, body)))
    })
}
