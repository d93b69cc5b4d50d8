//! The chunks of an upload's body, read where they are sent or ahead of that.
//!
//! What is only copied is still in the core's cache when it is sent by the same thread; what has to be worked for is
//! made on another core meanwhile.

use bytes::Bytes;
use futures_util::stream::{self, Stream};
use std::io::{self, Read};
use std::sync::mpsc::{self as pool, Receiver, Sender};
use tokio::sync::mpsc;
use tokio::task::{spawn_blocking, yield_now};

/// How many chunks are sent between two looks for an answer.
const LOOK: usize = 2;

/// The size of a chunk in bytes: more than the connection collects before it sends (400 KB), so that one buffer is filled
/// and sent in turns, and stays in the core's cache.
const CHUNK: usize = 512 * 1024;

/// How many chunks wait to be sent.
const WAITING: usize = 4;

/// Reads a body chunk by chunk, to its end or to its first error, into buffers that are used again once they are out.
pub(super) struct Chunks {
    body: Option<Box<dyn Read + Send>>,
    used: Receiver<Vec<u8>>,
    recycle: Sender<Vec<u8>>,
}

impl Chunks {
    pub fn new(body: Box<dyn Read + Send>) -> Self {
        let (recycle, used) = pool::channel();
        Self {
            body: Some(body),
            used,
            recycle,
        }
    }

    /// As much of the body as there is, up to a whole chunk.
    fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(body) = &mut self.body
            && filled < buffer.len()
        {
            match body.read(&mut buffer[filled..]) {
                Ok(0) => self.body = None,
                Ok(size) => filled += size,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => return Err(why),
            }
        }
        Ok(filled)
    }
}

impl Iterator for Chunks {
    type Item = io::Result<Bytes>;

    fn next(&mut self) -> Option<Self::Item> {
        self.body.as_ref()?;
        let mut buffer = self.used.try_recv().unwrap_or_else(|_| vec![0; CHUNK]);
        match self.fill(&mut buffer) {
            Ok(0) => None,
            Ok(filled) => Some(Ok(Bytes::from_owner(Chunk {
                buffer,
                filled,
                recycle: self.recycle.clone(),
            }))),
            Err(why) => {
                self.body = None;
                Some(Err(why))
            }
        }
    }
}

/// A sent chunk, whose buffer is used again once it is out.
struct Chunk {
    buffer: Vec<u8>,
    filled: usize,
    recycle: Sender<Vec<u8>>,
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // Where nothing is read any more, there is nobody to use the buffer again.
        let _ = self.recycle.send(std::mem::take(&mut self.buffer));
    }
}

/// The chunks, each read when the connection asks for it.
pub(super) fn in_place(chunks: Chunks) -> impl Stream<Item = io::Result<Bytes>> + Send {
    stream::unfold((chunks, 0), |(mut chunks, count)| async move {
        notice_an_answer(count).await;
        chunks.next().map(|chunk| (chunk, (chunks, count + 1)))
    })
}

/// The chunks, read by a thread that is a few of them ahead.
pub(super) fn ahead(chunks: Chunks) -> impl Stream<Item = io::Result<Bytes>> + Send {
    let (sender, receiver) = mpsc::channel(WAITING);
    spawn_blocking(move || {
        for chunk in chunks {
            if sender.blocking_send(chunk).is_err() {
                // Nobody waits for the body any more.
                return;
            }
        }
    });
    stream::unfold((receiver, 0), |(mut receiver, count)| async move {
        notice_an_answer(count).await;
        receiver.recv().await.map(|chunk| (chunk, (receiver, count + 1)))
    })
}

/// A server may refuse before it has read everything, and end the connection: its answer is noticed only if the
/// runtime looks for it before the next write fails. A write that has to wait looks too; looking after every chunk
/// would take the body from core to core.
async fn notice_an_answer(count: usize) {
    if count.is_multiple_of(LOOK) {
        yield_now().await;
    }
}
