//! Reads on for a while what a refused client still sends.
//!
//! Closing a connection while the client is in the middle of its body resets it, and the reset can destroy the
//! answer before it is read (RFC 9112, section 9.6). So a body that no one reads to its end is read to the end here,
//! or until it is clear that the client does not stop.

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

/// How much of an unwanted body is read.
const LIMIT: usize = 64 * 1024 * 1024;

/// How long an unwanted body is read.
const TIME: Duration = Duration::from_secs(5);

/// Gives the request a body that is read on when it is dropped.
pub(super) async fn linger(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    // A client that waits for leave to send has sent nothing yet, and reading would be that leave.
    let waits = request.headers().contains_key(header::EXPECT);
    let request = request.map(|body| {
        Body::from_stream(Lingering {
            rest: Some(body.into_data_stream()),
            begun: !waits,
        })
    });
    next.run(request).await
}

struct Lingering {
    rest: Option<BodyDataStream>,
    begun: bool,
}

impl Stream for Lingering {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.begun = true;
        let Some(rest) = &mut self.rest else {
            return Poll::Ready(None);
        };
        let next = rest.poll_next_unpin(context);
        if matches!(next, Poll::Ready(None | Some(Err(_)))) {
            self.rest = None;
        }
        next
    }
}

impl Drop for Lingering {
    fn drop(&mut self) {
        if !self.begun {
            return;
        }
        if let (Some(rest), Ok(runtime)) = (self.rest.take(), Handle::try_current()) {
            runtime.spawn(timeout(TIME, drain(rest)));
        }
    }
}

async fn drain(mut rest: BodyDataStream) {
    let mut seen = 0;
    while let Some(Ok(piece)) = rest.next().await {
        seen += piece.len();
        if seen > LIMIT {
            return;
        }
    }
}
