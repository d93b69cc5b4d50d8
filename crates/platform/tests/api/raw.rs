//! A server that misbehaves below HTTP: it resets, truncates and stalls connections, and responds before it has read
//! the request.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// The handling of one connection.
pub type Script = Box<dyn FnOnce(Connection) + Send>;

/// A server that handles each connection with the next script, and refuses connections after the last one.
pub struct RawServer {
    address: SocketAddr,
    request_count: Arc<AtomicUsize>,
}

impl RawServer {
    pub fn start(scripts: Vec<Script>) -> Self {
        Self::on_listener(TcpListener::bind("127.0.0.1:0").unwrap(), scripts)
    }

    pub fn on_listener(listener: TcpListener, scripts: Vec<Script>) -> Self {
        let address = listener.local_addr().unwrap();
        let request_count = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&request_count);
        thread::spawn(move || {
            for script in scripts {
                let (stream, _) = listener.accept().unwrap();
                counter.fetch_add(1, Ordering::SeqCst);
                script(Connection::new(stream));
            }
        });
        Self {
            address,
            request_count,
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits for at least `at_least` connections, because the server may be behind its client, and returns their
    /// number.
    pub fn wait_for_requests(&self, at_least: usize) -> usize {
        let start = Instant::now();
        while self.request_count.load(Ordering::SeqCst) < at_least
            && start.elapsed() < Duration::from_secs(20)
        {
            thread::yield_now();
        }
        self.request_count.load(Ordering::SeqCst)
    }
}

/// A connection, as the server sees it.
pub struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    fn new(stream: TcpStream) -> Self {
        Self {
            stream: BufReader::new(stream),
        }
    }

    /// Reads the head of a request, up to the empty line.
    pub fn head(&mut self) -> String {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let before = head.len();
            self.stream.read_line(&mut head).unwrap();
            if head.len() == before {
                break;
            }
        }
        head
    }

    /// Reads exactly `size` bytes of the body, or fewer if the client ends earlier.
    pub fn body(&mut self, size: u64) -> Vec<u8> {
        let mut body = Vec::new();
        // After a reset, the body is too short.
        let _ = self.stream.by_ref().take(size).read_to_end(&mut body);
        body
    }

    /// Reads the head and the complete body of a request.
    pub fn request(&mut self) -> (String, Vec<u8>) {
        let head = self.head();
        let length = content_length(&head);
        let body = self.body(length);
        (head, body)
    }

    pub fn answer(&mut self, text: &str) {
        self.stream.get_mut().write_all(text.as_bytes()).unwrap();
    }

    /// Sends bytes; it is no error if the client has closed the connection.
    pub fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.get_mut().write_all(bytes);
    }

    /// Sends `size` spaces, or fewer if the client closes the connection.
    pub fn flood(&mut self, size: usize) {
        let block = [b' '; 8 * 1024];
        let mut left = size;
        while left > 0
            && self
                .stream
                .get_mut()
                .write_all(&block[..left.min(block.len())])
                .is_ok()
        {
            left = left.saturating_sub(block.len());
        }
    }

    /// Sends a complete response that ends the connection.
    pub fn json(&mut self, status: &str, body: &str) {
        let length = body.len();
        self.answer(&format!(
            "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        ));
    }

    /// Ends the connection with a reset, as a crashed peer does, once the client has sent some bytes: if a socket is
    /// closed with unread data, the kernel sends a reset.
    pub fn reset(self) {
        self.stream.get_ref().peek(&mut [0]).unwrap();
    }

    /// Keeps the connection open without a response until the client gives up.
    pub fn hold(&mut self) {
        let mut rest = [0; 1024];
        while matches!(self.stream.read(&mut rest), Ok(size) if size > 0) {}
    }
}

/// Returns the value of the `Content-Length` header.
pub fn content_length(head: &str) -> u64 {
    head.lines()
        .find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("content-length: ")?
                .trim()
                .parse()
                .ok()
        })
        .unwrap_or(0)
}

/// Returns a script that sends this response, and a channel with the request that it received.
pub fn recording_script(
    status: &'static str,
    body: &'static str,
) -> (Script, mpsc::Receiver<(String, Vec<u8>)>) {
    let (sender, receiver) = mpsc::channel();
    let script = move |mut connection: Connection| {
        let request = connection.request();
        connection.json(status, body);
        sender.send(request).unwrap();
    };
    (Box::new(script), receiver)
}
