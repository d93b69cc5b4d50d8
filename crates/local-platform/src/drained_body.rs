//! Reads the rest of a body that a client still sends after its request was rejected.
//!
//! If a connection is closed while the client is in the middle of its body, it is reset, and the reset can destroy the
//! response before the client reads it (RFC 9112, section 9.6). Therefore a body that no handler reads to its end is
//! drained here, up to a limit of size and time.

use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header;
use axum::middleware::Next;
use axum::response::Response;
use futures_util::{Stream, StreamExt};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Maximum number of bytes that are drained.
const MAX_DRAINED_BYTES: usize = 64 * 1024 * 1024;

/// Maximum time for draining.
const MAX_DRAIN_TIME: Duration = Duration::from_secs(5);

/// Replaces the request's body with one whose unread rest is drained when it is dropped. Otherwise a client that is
/// rejected while it still sends the body could lose the response.
pub(super) async fn drain_unread_body(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    // A client that waits for `100 Continue` has sent no body yet, and reading would trigger that response.
    let waits_for_continue = request.headers().contains_key(header::EXPECT);
    let request = request.map(|body| {
        Body::from_stream(DrainedBody {
            stream: Some(body.into_data_stream()),
            can_drain: !waits_for_continue,
        })
    });
    next.run(request).await
}

struct DrainedBody {
    stream: Option<BodyDataStream>,
    /// False while the client may wait for `100 Continue`, because it has sent no body yet.
    can_drain: bool,
}

impl Stream for DrainedBody {
    type Item = Result<Bytes, axum::Error>;

    /// Passes on the next piece of the body, and forgets the body at its end or after an error. The first read makes a
    /// waiting client send the body, so from then on the rest can be drained.
    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.can_drain = true;
        let Some(stream) = &mut self.stream else {
            return Poll::Ready(None);
        };
        let next = stream.poll_next_unpin(context);
        if matches!(next, Poll::Ready(None | Some(Err(_)))) {
            self.stream = None;
        }
        next
    }
}

impl Drop for DrainedBody {
    /// Starts a task that reads the rest of a body that the handler did not read completely, so that the client
    /// receives the response instead of a broken connection.
    fn drop(&mut self) {
        if !self.can_drain {
            return;
        }
        if let (Some(stream), Ok(runtime)) = (self.stream.take(), Handle::try_current()) {
            runtime.spawn(timeout(MAX_DRAIN_TIME, drain(stream)));
        }
    }
}

/// Reads and drops the rest of a body, up to its end, an error or [`MAX_DRAINED_BYTES`].
async fn drain(mut body: BodyDataStream) {
    let mut drained_size = 0;
    while let Some(Ok(piece)) = body.next().await {
        drained_size += piece.len();
        if drained_size > MAX_DRAINED_BYTES {
            return;
        }
    }
}
