//! The multipart form of a publish, written as one stream.
//!
//! Part names are the paths as they are, in UTF-8, with only `"`, CR and LF encoded, as browsers do
//! (<https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data>): never the
//! `name*=` form, which servers read as no name, and no file name, as the platform's own scripts send none.

use crate::http::{HeaderValue, SourceError, UploadBody, Writer};
use std::io::Read;
use std::sync::Arc;
use uuid::Uuid;

/// A file of an upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadPart {
    /// Its path from the repository root, with `/`.
    pub name: String,
    /// Its size in bytes. Content of another size stops the upload.
    pub length: u64,
}

/// The content of the files. It is read once for each try of the upload, on a thread that may block.
pub trait PartSource: Send + Sync {
    /// The content of part number `part` of the upload.
    fn open(&self, part: usize) -> std::io::Result<Box<dyn Read + Send>>;
}

/// Told how many bytes of the body were sent so far.
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

    fn write_content(&self, index: usize, part: &UploadPart, writer: &mut Writer) -> Result<(), SourceError> {
        let broken = |why: &dyn std::fmt::Display| SourceError::Content(format!("{}: {why}", part.name));
        let mut content = self.source.open(index).map_err(|why| broken(&why))?;
        let mut missing = part.length;
        while missing > 0 {
            let space = writer.space()?;
            let size = space.len().min(usize::try_from(missing).unwrap_or(usize::MAX));
            match read(&mut *content, &mut space[..size]).map_err(|why| broken(&why))? {
                0 => {
                    return Err(broken(&format!(
                        "it ends {missing} bytes before the {} of its plan",
                        part.length
                    )));
                }
                read => {
                    writer.advance(read);
                    missing -= read as u64;
                }
            }
        }
        match read(&mut *content, &mut [0]).map_err(|why| broken(&why))? {
            0 => Ok(()),
            _ => Err(broken(&format!(
                "it has more than the {} bytes of its plan",
                part.length
            ))),
        }
    }
}

impl UploadBody for Form {
    fn content_type(&self) -> HeaderValue {
        // The boundary is letters, digits and a dash, so the fallback is never met.
        HeaderValue::from_str(&format!("multipart/form-data; boundary={}", self.boundary))
            .unwrap_or_else(|_| HeaderValue::from_static("multipart/form-data"))
    }

    fn length(&self) -> u64 {
        self.length
    }

    fn write(&self, writer: &mut Writer) -> Result<(), SourceError> {
        for (index, part) in self.parts.iter().enumerate() {
            writer.write(head(&self.boundary, &part.name).as_bytes())?;
            self.write_content(index, part, writer)?;
            writer.write(b"\r\n")?;
        }
        writer.write(tail(&self.boundary).as_bytes())
    }

    fn progress(&self, sent: u64) {
        if let Some(progress) = &self.progress {
            progress(sent);
        }
    }
}

fn head(boundary: &str, name: &str) -> String {
    let name = encoded(name);
    format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\nContent-Type: text/plain\r\n\r\n"
    )
}

fn tail(boundary: &str) -> String {
    format!("--{boundary}--\r\n")
}

fn encoded(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

fn read(content: &mut dyn Read, space: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match content.read(space) {
            Err(why) if why.kind() == std::io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}
