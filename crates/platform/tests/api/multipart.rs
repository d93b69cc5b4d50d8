//! A strict parser of multipart forms. It is written from RFC 2046 and RFC 7578 and not from the client, and panics on
//! any deviation.

/// A part, as a server would see it.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    /// The name exactly as between the quotes.
    pub name: String,
    pub content_type: String,
    pub content: Vec<u8>,
}

/// Returns the parts of a form. `head` is the head of its request with the `Content-Type` header.
pub fn parse(head: &str, body: &[u8]) -> Vec<Part> {
    let content_type = head
        .lines()
        .find_map(|line| line.strip_prefix("content-type: "))
        .unwrap();
    let boundary = content_type
        .strip_prefix("multipart/form-data; boundary=")
        .unwrap();
    assert!((16..=70).contains(&boundary.len()), "{boundary}");
    assert!(
        boundary
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'),
        "{boundary}"
    );
    let mut rest = body;
    let mut parts = Vec::new();
    loop {
        rest = rest
            .strip_prefix(format!("--{boundary}").as_bytes())
            .expect("a boundary");
        if let Some(end) = rest.strip_prefix(b"--") {
            assert_eq!(end, b"\r\n");
            return parts;
        }
        rest = rest
            .strip_prefix(b"\r\n")
            .expect("a line break after the boundary");
        let end = find(rest, format!("\r\n--{boundary}").as_bytes()).expect("another boundary");
        parts.push(part(&rest[..end]));
        rest = &rest[end + 2..];
    }
}

fn part(text: &[u8]) -> Part {
    let end = find(text, b"\r\n\r\n").expect("an empty line after the headers");
    let headers = std::str::from_utf8(&text[..end]).unwrap();
    let lines: Vec<&str> = headers.split("\r\n").collect();
    assert_eq!(lines.len(), 2, "{headers}");
    let name = lines[0]
        .strip_prefix("Content-Disposition: form-data; name=\"")
        .unwrap();
    let name = name.strip_suffix('"').unwrap();
    assert!(!name.contains(['"', '\r', '\n']), "{name}");
    Part {
        name: name.to_owned(),
        content_type: lines[1].strip_prefix("Content-Type: ").unwrap().to_owned(),
        content: text[end + 4..].to_vec(),
    }
}

fn find(text: &[u8], label: &[u8]) -> Option<usize> {
    text.windows(label.len()).position(|window| window == label)
}
