//! Reads multipart form data piece by piece, so that no part is ever entirely in memory.
//!
//! It supports the parts of RFC 7578 and RFC 2046 that a publish needs: parts, their names and their bytes. Names are
//! paths; browsers and other clients write a quote or a line break in a name as `%22`, `%0D`, `%0A` and escape no other
//! characters that way (<https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data>).

use super::body::BoundedBody;
use super::body_check::find_single_header;
use super::problem::Problem;
use axum::body::Bytes;
use axum::http::{HeaderMap, header};
use bytes::{Buf, BytesMut};
use memchr::memmem;

/// Maximum size of one part's headers, in bytes.
const MAX_HEADER_BYTES: usize = 16 * 1024;

/// A reader of a multipart form.
pub(super) struct FormReader {
    body: BoundedBody,
    buffer: BytesMut,
    delimiter: memmem::Finder<'static>,
    /// Whether the buffer begins with bytes of a part; false if it begins with a delimiter.
    inside_part: bool,
}

impl FormReader {
    /// Creates a reader for the form in the body; returns a 400 if the `Content-Type` header does not announce a form.
    pub(super) fn new(headers: &HeaderMap, body: BoundedBody) -> Result<Self, Problem> {
        let name = header::CONTENT_TYPE.as_str();
        let boundary = find_single_header(headers, name)
            .map_err(|message| Problem::invalid_field(name, message))?
            .and_then(|value| find_boundary(value.to_str().ok()?))
            .ok_or_else(|| Problem::invalid_field(name, "must be multipart/form-data with a boundary"))?;
        let delimiter = format!("\r\n--{boundary}");
        Ok(Self {
            body,
            // The first delimiter may be at the very start, without the line break that belongs to the others.
            buffer: BytesMut::from("\r\n"),
            delimiter: memmem::Finder::new(&delimiter).into_owned(),
            inside_part: false,
        })
    }

    /// Skips the rest of the current part and returns the name of the next part, or `None` after the last one.
    pub(super) async fn next_part(&mut self) -> Result<Option<String>, Problem> {
        // The text before the first delimiter is skipped in the same way as a part.
        self.inside_part = true;
        while self.next_piece().await?.is_some() {}
        let start = self.delimiter.needle().len();
        // Two more bytes follow: `--` after the last delimiter, and a line break after all others.
        self.fill_buffer_to(start + 2).await?;
        self.buffer.advance(start);
        if self.buffer.starts_with(b"--") {
            self.skip_epilogue().await?;
            return Ok(None);
        }
        let headers = self.read_part_headers().await?;
        self.inside_part = true;
        parse_part_name(&headers).map(Some)
    }

    /// Returns the next piece of the current part, or `None` at its end.
    pub(super) async fn next_piece(&mut self) -> Result<Option<Bytes>, Problem> {
        while self.inside_part {
            if let Some(end) = self.delimiter.find(&self.buffer) {
                self.inside_part = false;
                if end > 0 {
                    return Ok(Some(self.buffer.split_to(end).freeze()));
                }
                continue;
            }
            // The last bytes may be the start of a delimiter.
            let complete_length = (self.buffer.len() + 1).saturating_sub(self.delimiter.needle().len());
            if complete_length > 0 {
                return Ok(Some(self.buffer.split_to(complete_length).freeze()));
            }
            self.receive_piece().await?;
        }
        Ok(None)
    }

    /// Reads the headers of a part, and skips the empty line between them and the part's bytes.
    async fn read_part_headers(&mut self) -> Result<BytesMut, Problem> {
        let end_mark = b"\r\n\r\n";
        loop {
            let end = memmem::find(&self.buffer, end_mark);
            if end.unwrap_or(self.buffer.len()) > MAX_HEADER_BYTES {
                return Err(malformed_form("the headers of a form part are too long"));
            }
            if let Some(end) = end {
                let headers = self.buffer.split_to(end);
                self.buffer.advance(end_mark.len());
                return Ok(headers);
            }
            self.receive_piece().await?;
        }
    }

    /// Reads from the body until the buffer has at least this length.
    async fn fill_buffer_to(&mut self, length: usize) -> Result<(), Problem> {
        while self.buffer.len() < length {
            self.receive_piece().await?;
        }
        Ok(())
    }

    /// Receives the next piece of the body and adds it to the buffer. Returns a 400 if the body has ended.
    async fn receive_piece(&mut self) -> Result<(), Problem> {
        let piece = self
            .body
            .next()
            .await?
            .ok_or_else(|| malformed_form("the uploaded form is incomplete"))?;
        self.buffer.extend_from_slice(&piece);
        Ok(())
    }

    /// Reads and ignores the text after the last delimiter (RFC 2046, section 5.1.1).
    async fn skip_epilogue(&mut self) -> Result<(), Problem> {
        while self.body.next().await?.is_some() {}
        Ok(())
    }
}

/// Creates a 400 about the complete form, not about a single field.
fn malformed_form(message: &str) -> Problem {
    Problem::invalid_field("", message)
}

/// Returns the boundary of a `multipart/form-data` content type; `None` for any other type. A boundary has 1 to 70
/// characters (RFC 2046, section 5.1.1).
fn find_boundary(content_type: &str) -> Option<String> {
    let (kind, parameters) = content_type.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let boundary = find_parameter(parameters, "boundary")?;
    (1..=70).contains(&boundary.len()).then_some(boundary)
}

/// Parses the name of a part in its `Content-Disposition` header; returns a 400 if it has no name.
fn parse_part_name(head: &[u8]) -> Result<String, Problem> {
    let head =
        std::str::from_utf8(head).map_err(|_| malformed_form("the headers of a form part are not UTF-8"))?;
    let disposition = head
        .split("\r\n")
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("content-disposition"))
        .and_then(|(_, value)| value.split_once(';'))
        .filter(|(kind, _)| kind.trim().eq_ignore_ascii_case("form-data"));
    disposition
        .and_then(|(_, parameters)| find_parameter(parameters, "name"))
        .map(|name| unescape_part_name(&name))
        .ok_or_else(|| malformed_form("a form part has no name"))
}

/// Returns the value of the parameter with this name in a list like `a=b; c="d"`. In quotes, only `\"` is an escape:
/// clients mean all other backslashes literally.
fn find_parameter(mut parameters: &str, parameter_name: &str) -> Option<String> {
    loop {
        let (name, value_and_next) = parameters.split_once('=')?;
        let (value, next) = match value_and_next.trim_start().strip_prefix('"') {
            Some(text) => parse_quoted_value(text)?,
            None => parse_plain_value(value_and_next),
        };
        if name.trim().eq_ignore_ascii_case(parameter_name) {
            return Some(value);
        }
        parameters = next.trim_start().strip_prefix(';')?;
    }
}

/// Returns the value up to the next semicolon or the end, and the text from there on.
fn parse_plain_value(text: &str) -> (String, &str) {
    let (value, next) = text.split_at(text.find(';').unwrap_or(text.len()));
    (value.trim().to_owned(), next)
}

/// Parses a value without its opening quote. Returns the value up to the closing quote, and the text after the quote;
/// `None` without a closing quote.
fn parse_quoted_value(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices().peekable();
    while let Some((index, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[index + 1..])),
            '\\' if characters.peek().is_some_and(|(_, next)| *next == '"') => {
                characters.next();
                value.push('"');
            }
            _ => value.push(character),
        }
    }
    None
}

/// Replaces the escapes that browsers write into the names of parts, for quotes and line breaks only.
fn unescape_part_name(name: &str) -> String {
    name.replace("%22", "\"")
        .replace("%0D", "\r")
        .replace("%0d", "\r")
        .replace("%0A", "\n")
        .replace("%0a", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use futures_util::stream;
    use proptest::prelude::*;
    use std::convert::Infallible;

    type Parts = Vec<(String, Vec<u8>)>;

    fn read(form: &[u8], piece: usize) -> Result<Parts, Problem> {
        let pieces: Vec<Result<Bytes, Infallible>> = form
            .chunks(piece)
            .map(|chunk| Ok(Bytes::copy_from_slice(chunk)))
            .collect();
        let headers = HeaderMap::from_iter([(
            header::CONTENT_TYPE,
            "multipart/form-data; boundary=XX".parse().unwrap(),
        )]);
        let body = BoundedBody::new(&headers, Body::from_stream(stream::iter(pieces)), 1 << 30)?;
        let mut form = FormReader::new(&headers, body)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut parts = Vec::new();
            while let Some(name) = form.next_part().await? {
                let mut content = Vec::new();
                while let Some(piece) = form.next_piece().await? {
                    content.extend_from_slice(&piece);
                }
                parts.push((name, content));
            }
            Ok(parts)
        })
    }

    fn write(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
        let mut form = Vec::new();
        for (name, content) in parts {
            let name = name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
            form.extend(format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n").bytes());
            form.extend(content);
            form.extend(b"\r\n");
        }
        form.extend(b"--XX--\r\n");
        form
    }

    #[test]
    fn form_may_have_preamble_epilogue_file_names_and_other_headers() {
        let form = b"before\r\n--XX \r\ncontent-type: text/plain\r\nContent-Disposition: form-data; \
            filename=\"x;name=no\"; name=\"a/b\"\r\n\r\none\r\n--X\r\n--XX\r\nContent-Disposition: form-data; \
            name=plain\r\n\r\n\r\n--XX--after";
        let parts = vec![
            ("a/b".to_owned(), b"one\r\n--X".to_vec()),
            ("plain".to_owned(), Vec::new()),
        ];
        assert_eq!(read(form, 7).unwrap(), parts);
        assert_eq!(read(b"--XX--", 7).unwrap(), Vec::new());
    }

    #[test]
    fn multipart_body_without_form_is_refused() {
        let named = "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n";
        for (form, expected) in [
            (String::new(), "the uploaded form is incomplete"),
            ("no form".to_owned(), "the uploaded form is incomplete"),
            (named.to_owned(), "the uploaded form is incomplete"),
            (
                format!("{named}content\r\n--XX"),
                "the uploaded form is incomplete",
            ),
            (
                format!("--XX\r\nX: {}", "y".repeat(20_000)),
                "the headers of a form part are too long",
            ),
            (
                "--XX\r\nContent-Type: text/plain\r\n\r\n\r\n--XX--".to_owned(),
                "a form part has no name",
            ),
            (
                "--XX\r\nContent-Disposition: form-data; name*=utf-8''a\r\n\r\n\r\n--XX--".to_owned(),
                "a form part has no name",
            ),
        ] {
            let problem = read(form.as_bytes(), 5).unwrap_err();
            assert_eq!(problem, malformed_form(expected), "{form:.60}");
        }
    }

    #[test]
    fn boundaries_are_read_from_the_content_type() {
        let boundary = |text: &str| find_boundary(text);
        assert_eq!(boundary("multipart/form-data; boundary=a").as_deref(), Some("a"));
        assert_eq!(
            boundary("Multipart/Form-Data;charset=x; Boundary=\"a b\"").as_deref(),
            Some("a b")
        );
        for wrong in [
            "multipart/form-data",
            "text/plain; boundary=a",
            "multipart/form-data; boundary=",
            "a;b;c",
        ] {
            assert_eq!(boundary(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn names_with_quotes_are_read_as_both_kinds_of_clients_write_them() {
        let name =
            |value: &str| parse_part_name(format!("Content-Disposition: form-data; name={value}").as_bytes());
        assert_eq!(name(r#""a%22b%0D%0Ac""#).unwrap(), "a\"b\r\nc");
        assert_eq!(name(r#""a\"b\c%2F""#).unwrap(), r#"a"b\c%2F"#);
        assert!(name(r#""a"#).is_err());
    }

    proptest! {
        #[test]
        fn form_is_read_the_same_however_it_is_cut(
            parts in prop::collection::vec(("[a-zä/ \"\r\n;=.]{1,9}", "[X\r\n -]{0,40}"), 0..5),
            piece in 1_usize..30,
        ) {
            let parts: Parts = parts.into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
            // Content with the delimiter in it could not have been sent.
            prop_assume!(parts.iter().all(|(_, content)| {
                let line = [b"\r\n".as_slice(), content, b"\r\n".as_slice()].concat();
                memmem::find(&line, b"\r\n--XX").is_none()
            }));
            prop_assert_eq!(read(&write(&parts), piece).unwrap(), parts);
        }

        #[test]
        fn no_bytes_make_it_panic(form in "(--XX|\r\n|\\PC|:|;|\"|=|name|--){0,40}", piece in 1_usize..30) {
            let _ = read(form.as_bytes(), piece);
        }
    }
}
