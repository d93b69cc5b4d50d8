//! Uploads: one streaming body of a promised length, written by a thread of its own.
//!
//! Memory stays flat: a few chunks are on their way at any time. There is no limit on the whole time, as a large
//! artifact over a slow line may take long, but on the time without progress.

use super::error::{Again, HttpError};
use super::{ErrorKind, Response};
use bytes::Bytes;
use futures_util::stream;
use reqwest::Body;
use reqwest::header::HeaderValue;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc as pool};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// The size of a chunk in bytes.
const CHUNK: usize = 256 * 1024;

/// How many chunks wait to be sent.
const WAITING: usize = 4;

/// A body that can be written more than once.
pub trait UploadBody: Send + Sync + 'static {
    /// The value of the `Content-Type` header.
    fn content_type(&self) -> HeaderValue;
    /// Exactly how many bytes [`write`](Self::write) writes.
    fn length(&self) -> u64;
    /// Writes the body. It may block: it runs on a thread for that.
    fn write(&self, writer: &mut Writer) -> Result<(), SourceError>;
    /// Told how many bytes of the body were taken for sending so far.
    fn progress(&self, _sent: u64) {}
}

/// Why a body could not be written.
#[derive(Debug)]
pub enum SourceError {
    /// The content could not be read, or was not what was promised; the text says which and why.
    Content(String),
    /// Nobody waits for the body any more.
    Abandoned,
}

/// Collects what is written into chunks and hands them on; blocks while enough of them wait.
pub struct Writer {
    chunks: mpsc::Sender<io::Result<Bytes>>,
    buffer: Vec<u8>,
    filled: usize,
    used: pool::Receiver<Vec<u8>>,
    recycle: pool::Sender<Vec<u8>>,
}

impl Writer {
    fn new(chunks: mpsc::Sender<io::Result<Bytes>>) -> Self {
        let (recycle, used) = pool::channel();
        Self {
            chunks,
            buffer: vec![0; CHUNK],
            filled: 0,
            used,
            recycle,
        }
    }

    /// Writes these bytes.
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<(), SourceError> {
        while !bytes.is_empty() {
            let space = self.space()?;
            let size = space.len().min(bytes.len());
            space[..size].copy_from_slice(&bytes[..size]);
            self.advance(size);
            bytes = &bytes[size..];
        }
        Ok(())
    }

    /// Free space to be filled, never empty; [`advance`](Self::advance) says how much of it was.
    pub fn space(&mut self) -> Result<&mut [u8], SourceError> {
        if self.filled == CHUNK {
            self.flush()?;
        }
        Ok(&mut self.buffer[self.filled..])
    }

    /// The first `size` bytes of the last [`space`](Self::space) are filled.
    pub fn advance(&mut self, size: usize) {
        self.filled = (self.filled + size).min(CHUNK);
    }

    fn flush(&mut self) -> Result<(), SourceError> {
        if self.filled == 0 {
            return Ok(());
        }
        let fresh = self.used.try_recv().unwrap_or_else(|_| vec![0; CHUNK]);
        let chunk = Chunk {
            buffer: std::mem::replace(&mut self.buffer, fresh),
            filled: std::mem::take(&mut self.filled),
            recycle: self.recycle.clone(),
        };
        self.chunks
            .blocking_send(Ok(Bytes::from_owner(chunk)))
            .map_err(|_| SourceError::Abandoned)
    }
}

/// A sent chunk, whose buffer is used again once it is out.
struct Chunk {
    buffer: Vec<u8>,
    filled: usize,
    recycle: pool::Sender<Vec<u8>>,
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // Without a writer there is nobody to use the buffer again.
        let _ = self.recycle.send(std::mem::take(&mut self.buffer));
    }
}

/// One try of an upload: starts its body and watches its progress.
pub(super) struct Monitor {
    body: Arc<dyn UploadBody>,
    state: Arc<State>,
}

struct State {
    sent: AtomicU64,
    moved: watch::Sender<Instant>,
    broken: Mutex<Option<String>>,
}

impl Monitor {
    pub(super) fn new(body: Arc<dyn UploadBody>) -> Self {
        let state = State {
            sent: AtomicU64::new(0),
            moved: watch::Sender::new(Instant::now()),
            broken: Mutex::new(None),
        };
        Self {
            body,
            state: Arc::new(state),
        }
    }

    /// The body, from its beginning.
    pub(super) fn start(&self) -> Body {
        let (sender, receiver) = mpsc::channel(WAITING);
        self.state.sent.store(0, Ordering::Release);
        let (body, state) = (Arc::clone(&self.body), Arc::clone(&self.state));
        tokio::task::spawn_blocking(move || state.write(&*body, sender));
        let (body, state) = (Arc::clone(&self.body), Arc::clone(&self.state));
        Body::wrap_stream(stream::unfold(receiver, move |mut receiver| {
            let (body, state) = (Arc::clone(&body), Arc::clone(&state));
            async move {
                // A server may refuse before it has read everything, and end the connection: its answer is noticed
                // only if the runtime looks for it before the next write fails.
                tokio::task::yield_now().await;
                let chunk = receiver.recv().await?;
                if let Ok(bytes) = &chunk {
                    body.progress(state.took(bytes.len()));
                }
                Some((chunk, receiver))
            }
        }))
    }

    /// The outcome, or a timeout if nothing moves for `limit`. A body that broke is the reason for whatever
    /// followed from it.
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

    /// Why a 2xx that has just come cannot be believed: not all was sent.
    pub(super) fn incomplete(&self) -> Option<String> {
        let (sent, length) = (self.state.sent.load(Ordering::Acquire), self.body.length());
        (sent < length)
            .then(|| format!("accepted after {sent} of {length} bytes, before the upload was complete"))
    }

    /// Waits until nothing has moved for so long.
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
                "all was sent, and no answer came within {} s",
                limit.as_secs_f64()
            )
        };
        HttpError::new(ErrorKind::Timeout, what)
            .again(Again::IfSafe)
            .maybe_processed()
    }
}

impl State {
    fn write(&self, body: &dyn UploadBody, chunks: mpsc::Sender<io::Result<Bytes>>) {
        let mut writer = Writer::new(chunks);
        match body.write(&mut writer).and_then(|()| writer.flush()) {
            Ok(()) | Err(SourceError::Abandoned) => {}
            Err(SourceError::Content(why)) => {
                *self.broken.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.clone());
                // The error ends the request; if it is over already, nobody needs to know.
                let _ = writer.chunks.blocking_send(Err(io::Error::other(why)));
            }
        }
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
