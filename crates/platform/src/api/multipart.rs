//! The multipart form of a publish, written as one stream.
//!
//! Part names are the unchanged paths, in UTF-8, with only `"`, CR and LF encoded, as browsers do
//! (<https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data>). The form uses
//! neither the `name*=` form, which servers ignore, nor file names, which the platform's own scripts do not send.

use crate::http::{HeaderValue, UploadBody};
use std::borrow::Cow;
use std::io::{self, Cursor, Read};
use std::sync::Arc;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadPart {
    /// Path from the repository root, with `/`.
    pub name: String,
    /// Size in bytes. Content of another size stops the upload.
    pub length: u64,
}

/// The content of the files. It is read once for each try of the upload, and reading it may block.
pub trait PartSource: Send + Sync {
    /// Opens the content of part number `part` of the upload.
    fn open(&self, part: usize) -> io::Result<Box<dyn Read + Send>>;
}

/// Receives the number of bytes of the body that were sent so far.
pub(super) type Progress = Arc<dyn Fn(u64) + Send + Sync>;

/// A form of parts whose sizes are known before they are read.
pub(super) struct Form {
    boundary: String,
    parts: Vec<UploadPart>,
    source: Arc<dyn PartSource>,
    progress: Option<Progress>,
    length: u64,
}

impl Form {
    pub(super) fn new(
        parts: Vec<UploadPart>,
        source: Arc<dyn PartSource>,
        progress: Option<Progress>,
    ) -> Self {
        // RFC 2046, section 5.1.1, allows 70 characters.
        let boundary = format!("sluicegate-{}", Uuid::new_v4().simple());
        let framed = |part: &UploadPart| head(&boundary, &part.name).len() as u64 + part.length + 2;
        let length = parts.iter().map(framed).sum::<u64>() + tail(&boundary).len() as u64;
        Self {
            boundary,
            parts,
            source,
            progress,
            length,
        }
    }

    /// Returns a reader for a complete part, from its boundary to the end of its last line.
    fn part(&self, index: usize, part: &UploadPart) -> io::Result<Box<dyn Read + Send>> {
        let content = Exact {
            content: self.source.open(index)?,
            length: part.length,
            missing: part.length,
        };
        let head = Cursor::new(head(&self.boundary, &part.name).into_bytes());
        Ok(Box::new(head.chain(content).chain(&b"\r\n"[..])))
    }
}

impl UploadBody for Form {
    fn content_type(&self) -> HeaderValue {
        // The boundary consists of letters, digits and a dash, so the fallback is never used.
        HeaderValue::from_str(&format!("multipart/form-data; boundary={}", self.boundary))
            .unwrap_or_else(|_| HeaderValue::from_static("multipart/form-data"))
    }

    fn length(&self) -> u64 {
        self.length
    }

    fn open(self: Arc<Self>) -> Box<dyn Read + Send> {
        let tail = Cursor::new(tail(&self.boundary).into_bytes());
        let parts = Parts {
            form: self,
            opened: 0,
            open: Box::new(io::empty()),
        };
        Box::new(parts.chain(tail))
    }

    fn progress(&self, sent: u64) {
        if let Some(progress) = &self.progress {
            progress(sent);
        }
    }
}

/// The parts of a form, one after the other.
struct Parts {
    form: Arc<Form>,
    opened: usize,
    open: Box<dyn Read + Send>,
}

impl Parts {
    /// Opens the next part; returns false after the last.
    fn advance(&mut self) -> io::Result<bool> {
        let Some(part) = self.form.parts.get(self.opened) else {
            return Ok(false);
        };
        let opened = self.form.part(self.opened, part);
        self.open = opened.map_err(|why| named(part, why))?;
        self.opened += 1;
        Ok(true)
    }

    fn read_open(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let part = self.opened.checked_sub(1).and_then(|at| self.form.parts.get(at));
        match (self.open.read(space), part) {
            (Err(why), Some(part)) => Err(named(part, why)),
            (read, _) => read,
        }
    }
}

impl Read for Parts {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        loop {
            let size = self.read_open(space)?;
            if size > 0 || space.is_empty() || !self.advance()? {
                return Ok(size);
            }
        }
    }
}

/// Adds the part's name to an error, unless it is `Interrupted`, which callers retry.
fn named(part: &UploadPart, why: io::Error) -> io::Error {
    match why.kind() {
        io::ErrorKind::Interrupted => why,
        _ => io::Error::other(format!("{}: {why}", part.name)),
    }
}

/// A reader that fails if its content does not have exactly the planned length.
struct Exact {
    content: Box<dyn Read + Send>,
    length: u64,
    missing: u64,
}

impl Read for Exact {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let (length, missing) = (self.length, self.missing);
        if missing == 0 {
            return match self.content.read(&mut [0])? {
                0 => Ok(0),
                _ => Err(io::Error::other(format!(
                    "the content has more than the planned {length} bytes"
                ))),
            };
        }
        let most = space.len().min(usize::try_from(missing).unwrap_or(usize::MAX));
        let size = self.content.read(&mut space[..most])?;
        if size == 0 && most > 0 {
            return Err(io::Error::other(format!(
                "the content ends {missing} bytes before the planned {length}"
            )));
        }
        self.missing -= size as u64;
        Ok(size)
    }
}

fn head(boundary: &str, name: &str) -> String {
    let name = part_name(name);
    format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\nContent-Type: text/plain\r\n\r\n"
    )
}

fn tail(boundary: &str) -> String {
    format!("--{boundary}--\r\n")
}

/// Returns the part name for a file's path. Two paths can have the same name, and the platform would keep only one.
pub fn part_name(path: &str) -> Cow<'_, str> {
    if path.contains(['"', '\r', '\n']) {
        Cow::Owned(path.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A"))
    } else {
        Cow::Borrowed(path)
    }
}
