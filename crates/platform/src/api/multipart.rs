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

/// A file of an upload, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadPart {
    /// Path from the repository root, with `/`.
    pub name: String,
    /// Size in bytes. Content of another size stops the upload.
    pub length: u64,
}

/// The content of the files. It is read once for each try of the upload, and reading it may block.
pub trait PartSource: Send + Sync {
    /// Opens the content of the part at index `part` of the upload; the first part has index 0.
    fn open_part(&self, part: usize) -> io::Result<Box<dyn Read + Send>>;

    /// Returns whether the upload must not be sent again, for example after Ctrl-C.
    fn is_canceled(&self) -> bool {
        false
    }
}

/// Receives the number of bytes of the body that were sent so far.
pub(super) type Progress = Arc<dyn Fn(u64) + Send + Sync>;

/// A form of parts whose sizes are known before they are read.
pub(super) struct MultipartForm {
    boundary: String,
    parts: Vec<UploadPart>,
    source: Arc<dyn PartSource>,
    progress: Option<Progress>,
    length: u64,
}

impl MultipartForm {
    /// Creates a form with these parts, and computes its length, which the header of the upload states.
    pub(super) fn new(
        parts: Vec<UploadPart>,
        source: Arc<dyn PartSource>,
        progress: Option<Progress>,
    ) -> Self {
        // RFC 2046, section 5.1.1, allows 70 characters.
        let boundary = format!("sluicegate-{}", Uuid::new_v4().simple());
        let mut length = form_tail(&boundary).len() as u64;
        for part in &parts {
            // The line break after the content has two bytes.
            length += format_part_head(&boundary, &part.name).len() as u64 + part.length + 2;
        }
        Self {
            boundary,
            parts,
            source,
            progress,
            length,
        }
    }

    /// Returns a reader for a complete part: its delimiter and headers, its content, and the line break after it.
    fn open_part(&self, index: usize, part: &UploadPart) -> io::Result<Box<dyn Read + Send>> {
        let content = ExactReader {
            content: self.source.open_part(index)?,
            length: part.length,
            remaining_size: part.length,
        };
        let head = Cursor::new(format_part_head(&self.boundary, &part.name).into_bytes());
        Ok(Box::new(head.chain(content).chain(&b"\r\n"[..])))
    }
}

impl UploadBody for MultipartForm {
    fn content_type(&self) -> HeaderValue {
        // The boundary consists of letters, digits and a dash, so the fallback is never used.
        HeaderValue::from_str(&format!("multipart/form-data; boundary={}", self.boundary))
            .unwrap_or_else(|_| HeaderValue::from_static("multipart/form-data"))
    }

    fn length(&self) -> u64 {
        self.length
    }

    /// Returns a reader for the complete form: its parts, followed by the closing delimiter.
    fn open_body(self: Arc<Self>) -> Box<dyn Read + Send> {
        let tail = Cursor::new(form_tail(&self.boundary).into_bytes());
        let parts = FormReader {
            form: self,
            opened_count: 0,
            current_part: Box::new(io::empty()),
        };
        Box::new(parts.chain(tail))
    }

    fn is_canceled(&self) -> bool {
        self.source.is_canceled()
    }

    fn report_progress(&self, sent_size: u64) {
        if let Some(progress) = &self.progress {
            progress(sent_size);
        }
    }
}

/// The parts of a form, one after the other.
struct FormReader {
    form: Arc<MultipartForm>,
    opened_count: usize,
    current_part: Box<dyn Read + Send>,
}

impl FormReader {
    /// Opens the next part for reading. Returns false after the last part.
    fn open_next_part(&mut self) -> io::Result<bool> {
        let Some(part) = self.form.parts.get(self.opened_count) else {
            return Ok(false);
        };
        self.current_part = self
            .form
            .open_part(self.opened_count, part)
            .map_err(|error| add_part_name(part, error))?;
        self.opened_count += 1;
        Ok(true)
    }

    /// Reads from the part that was opened last; before the first part, from an empty reader. An error names the part.
    fn read_current_part(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let part = self
            .opened_count
            .checked_sub(1)
            .and_then(|index| self.form.parts.get(index));
        match (self.current_part.read(buffer), part) {
            (Err(error), Some(part)) => Err(add_part_name(part, error)),
            (result, _) => result,
        }
    }
}

impl Read for FormReader {
    /// Reads from the parts, one after the other. Returns 0 after the last part.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let size = self.read_current_part(buffer)?;
            if size > 0 || buffer.is_empty() || !self.open_next_part()? {
                return Ok(size);
            }
        }
    }
}

/// Adds the part's name to an error. `Interrupted` is returned unchanged because callers recognize it and retry.
fn add_part_name(part: &UploadPart, error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::Interrupted => error,
        _ => io::Error::other(format!("{}: {error}", part.name)),
    }
}

/// A reader that fails if its content does not have exactly the planned length.
struct ExactReader {
    content: Box<dyn Read + Send>,
    length: u64,
    remaining_size: u64,
}

impl Read for ExactReader {
    /// Reads from the content of a part. Fails if the content is shorter or longer than the upload states.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (length, remaining_size) = (self.length, self.remaining_size);
        if remaining_size == 0 {
            // Any further byte means that the content is too long.
            return match self.content.read(&mut [0])? {
                0 => Ok(0),
                _ => Err(io::Error::other(format!(
                    "the content has more than the planned {length} bytes"
                ))),
            };
        }
        let max_size = buffer
            .len()
            .min(usize::try_from(remaining_size).unwrap_or(usize::MAX));
        let size = self.content.read(&mut buffer[..max_size])?;
        if size == 0 && max_size > 0 {
            return Err(io::Error::other(format!(
                "the content is {remaining_size} bytes shorter than the planned {length} bytes"
            )));
        }
        self.remaining_size -= size as u64;
        Ok(size)
    }
}

/// Returns the lines before a part's content: the delimiter and the headers.
fn format_part_head(boundary: &str, name: &str) -> String {
    let name = escape_part_name(name);
    format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\nContent-Type: text/plain\r\n\r\n"
    )
}

/// Returns the delimiter that ends the form.
fn form_tail(boundary: &str) -> String {
    format!("--{boundary}--\r\n")
}

/// Returns a file's path as a part name: quotes and line breaks are escaped, as browsers do. Two paths can get the same
/// name: the caller must reject them, because one of the files would be lost.
pub fn escape_part_name(path: &str) -> Cow<'_, str> {
    if path.contains(['"', '\r', '\n']) {
        Cow::Owned(path.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A"))
    } else {
        Cow::Borrowed(path)
    }
}

#[cfg(test)]
mod tests {
    use super::ExactReader;
    use std::io::Read;

    #[test]
    fn read_into_an_empty_buffer_is_not_the_end_of_the_content() {
        let mut reader = ExactReader {
            content: Box::new(&b"ab"[..]),
            length: 2,
            remaining_size: 2,
        };
        assert_eq!(reader.read(&mut []).unwrap(), 0);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "ab");
    }
}
