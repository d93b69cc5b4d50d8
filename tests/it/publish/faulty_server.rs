//! A server that stores versions and fails at chosen points, so that a test can compare the reported outcome with the
//! stored versions.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The behavior for one upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Stores the version and responds.
    None,
    /// Stores the version and responds after a while.
    Slow,
    /// Closes the connection before reading anything.
    BeforeAccept,
    /// Closes the connection after the request's head.
    AfterHead,
    /// Closes the connection in the middle of the body.
    MidBody,
    /// Reads everything, stores nothing, and responds with a 502.
    Refused,
    /// Reads everything, stores nothing, and never responds.
    Silent,
    /// Stores the version and closes the connection without a response.
    StoredThenGone,
    /// Stores the version and responds with a 502.
    StoredThen502,
    /// Stores the version and never responds.
    StoredThenSilent,
    /// Stores the version; the response is not JSON.
    StoredThenNonsense,
    /// Stores the version and closes the connection in the middle of the response.
    StoredThenHalfAnAnswer,
    /// Stores another client's version of a different commit first: 409.
    TwinWins,
    /// Stores another client's version of a different commit first, and closes the connection without a response.
    TwinWinsThenGone,
    /// Stores the version and responds with this status, with `Location` or `Retry-After` where the status has one.
    StoredThen(u16),
    /// Stores nothing and responds with this status.
    Status(u16),
}

/// A stored version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    pub version: String,
    pub commit: String,
    pub enabled: bool,
    pub body: Vec<u8>,
}

struct State {
    faults: VecDeque<Fault>,
    /// Number of lookups after a store that do not show the version yet.
    lag: usize,
    shows: Shows,
    stored: Vec<Stored>,
    uploads: usize,
    lookups: usize,
}

/// The content of the details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    Truth,
    /// Without the commit hash.
    NoCommit,
    /// With a creation time long ago.
    Old,
    /// With a creation time long ago, in responses without a date.
    OldWithoutDate,
    /// A 500 after the first lookup.
    Broken,
    /// Nothing before the version is uploaded again.
    AfterSecondUpload,
}

/// The server.
pub struct Faulty {
    pub url: String,
    state: Arc<Mutex<State>>,
}

impl Faulty {
    pub fn start(faults: &[Fault], lag: usize, shows: Shows) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State {
            faults: faults.iter().copied().collect(),
            lag,
            shows,
            stored: Vec::new(),
            uploads: 0,
            lookups: 0,
        }));
        let shared = Arc::clone(&state);
        // The threads end with the test process; each serves one connection.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                thread::spawn(move || serve_connection(stream, &state));
            }
        });
        Self { url, state }
    }

    pub fn stored_versions(&self) -> Vec<Stored> {
        self.state.lock().unwrap().stored.clone()
    }

    pub fn uploads(&self) -> usize {
        self.state.lock().unwrap().uploads
    }
}

struct Head {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
}

impl Head {
    fn read(reader: &mut impl std::io::BufRead) -> Option<Self> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim_end() {
                "" => break,
                text => lines.push(text.to_owned()),
            }
        }
        let mut first = lines.first()?.split(' ');
        let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
        let headers = lines.iter().skip(1).filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        });
        Some(Self {
            method,
            target,
            headers: headers.collect(),
        })
    }

    fn header(&self, name: &str) -> String {
        let result = self.headers.iter().find(|(known, _)| known == name);
        result.map(|(_, value)| value.clone()).unwrap_or_default()
    }
}

/// Returns whether to close this connection, the first one after a lookup, before reading from it.
fn is_cut(state: &Mutex<State>) -> bool {
    let mut state = state.lock().unwrap();
    let is_cut = state.lookups > 0 && state.faults.front() == Some(&Fault::BeforeAccept);
    if is_cut {
        state.faults.pop_front();
        state.uploads += 1;
    }
    is_cut
}

fn serve_connection(stream: TcpStream, state: &Mutex<State>) {
    if is_cut(state) {
        return;
    }
    let mut reader = BufReader::new(stream);
    let Some(head) = Head::read(&mut reader) else {
        return;
    };
    let answer = match head.method.as_str() {
        "POST" => upload(&head, &mut reader, state),
        "PATCH" => Some(answer_switch(&head, &mut reader, state)),
        _ => Some(answer_details(&head, state)),
    };
    if let Some((status, body)) = answer {
        let has_date = state.lock().unwrap().shows != Shows::OldWithoutDate;
        let _ = reader
            .get_mut()
            .write_all(render_response(status, &body, has_date).as_bytes());
    }
}

fn render_response(status: u16, body: &str, has_date: bool) -> String {
    let date = if has_date {
        let now = jiff::Timestamp::now();
        now.strftime("date: %a, %d %b %Y %H:%M:%S GMT\r\n").to_string()
    } else {
        String::new()
    };
    let more = match status {
        300..400 => "location: /v1/shared-pipelines/artifacts\r\n",
        429 | 503 => "retry-after: 0\r\n",
        _ => "",
    };
    format!(
        "HTTP/1.1 {status} X\r\n{date}{more}content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn body(head: &Head, reader: &mut BufReader<TcpStream>) -> Vec<u8> {
    let mut body = vec![0; head.header("content-length").parse().unwrap()];
    reader.read_exact(&mut body).unwrap_or_default();
    body
}

fn upload(head: &Head, reader: &mut BufReader<TcpStream>, state: &Mutex<State>) -> Option<(u16, String)> {
    let fault = {
        let mut state = state.lock().unwrap();
        state.uploads += 1;
        state.faults.pop_front().unwrap_or(Fault::None)
    };
    let version = head.header("versionname");
    match fault {
        Fault::AfterHead => return None,
        Fault::MidBody => {
            let half = head.header("content-length").parse::<usize>().unwrap() / 2;
            let _ = reader.read_exact(&mut vec![0; half]);
            return None;
        }
        _ => {}
    }
    let body = body(head, reader);
    if matches!(fault, Fault::TwinWins | Fault::TwinWinsThenGone) {
        store(state, &version, &"7".repeat(40), Vec::new());
    }
    let stores = !matches!(fault, Fault::Refused | Fault::Silent | Fault::Status(_));
    let is_new = !stores || store(state, &version, &head.header("commithash"), body);
    if let (Fault::StoredThen(_), false) = (fault, is_new) {
        return Some((409, "{}".to_owned()));
    }
    let whole = json!({ "versionName": version, "ignoredResources": [] }).to_string();
    match fault {
        Fault::Status(status) => Some((status, "{}".to_owned())),
        Fault::StoredThen(status) => Some((status, whole)),
        Fault::Refused | Fault::StoredThen502 => Some((502, "{}".to_owned())),
        Fault::StoredThenGone | Fault::TwinWinsThenGone => None,
        Fault::Silent | Fault::StoredThenSilent => {
            // Waits until the client gives up.
            let _ = reader.read(&mut [0]);
            None
        }
        Fault::StoredThenNonsense => Some((200, "<html>".to_owned())),
        Fault::StoredThenHalfAnAnswer => {
            let text = render_response(201, &whole, true);
            let _ = reader.get_mut().write_all(&text.as_bytes()[..text.len() - 5]);
            None
        }
        Fault::Slow => {
            thread::sleep(Duration::from_millis(200));
            Some((201, whole))
        }
        _ if !is_new => Some((409, "{}".to_owned())),
        _ => Some((201, whole)),
    }
}

/// Stores a version unless its name is in use, and returns whether it did.
fn store(state: &Mutex<State>, version: &str, commit: &str, body: Vec<u8>) -> bool {
    let mut state = state.lock().unwrap();
    if state.stored.iter().any(|stored| stored.version == version) {
        return false;
    }
    state.stored.push(Stored {
        version: version.to_owned(),
        commit: commit.to_owned(),
        enabled: true,
        body,
    });
    true
}

fn answer_details(head: &Head, state: &Mutex<State>) -> (u16, String) {
    let mut state = state.lock().unwrap();
    state.lookups += 1;
    let asked = head
        .target
        .split(['?', '&'])
        .find_map(|pair| pair.strip_prefix("versionName="));
    let asked = asked.map(|name| name.replace('+', " "));
    let value = match &asked {
        Some(version) => state.stored.iter().find(|stored| stored.version == *version),
        None => state.stored.iter().rev().find(|stored| stored.enabled),
    }
    .cloned();
    if state.uploads > 0 && state.shows == Shows::Broken {
        return (500, "{}".to_owned());
    }
    let Some(value) = value else {
        return (404, "{}".to_owned());
    };
    if state.shows == Shows::AfterSecondUpload && state.uploads < 2 {
        return (404, "{}".to_owned());
    }
    if state.lag > 0 {
        state.lag -= 1;
        return (404, "{}".to_owned());
    }
    (200, version_response(&value, state.shows).to_string())
}

fn version_response(stored: &Stored, shows: Shows) -> Value {
    let created = match shows {
        Shows::Old | Shows::OldWithoutDate => "2020-01-01T00:00:00Z".to_owned(),
        _ => jiff::Timestamp::now().to_string(),
    };
    let commit = (shows != Shows::NoCommit).then_some(&stored.commit);
    json!({
        "artifactDetails": {
            "sharedPipelineIdPrefix": "demo", "versionName": stored.version, "enabled": stored.enabled,
            "createdAt": created, "provider": "public-api", "commitHash": commit, "branch": "main",
        },
        "sharedPipelines": [{ "sharedPipelineId": "load-it", "sourcePipeline": "load", "description": null }],
    })
}

fn answer_switch(head: &Head, reader: &mut BufReader<TcpStream>, state: &Mutex<State>) -> (u16, String) {
    let document: Value = serde_json::from_slice(&body(head, reader)).unwrap();
    let mut state = state.lock().unwrap();
    for stored in &mut state.stored {
        if document["versionName"] == json!(stored.version) {
            stored.enabled = document["enabled"] == json!(true);
        }
    }
    (200, "{}".to_owned())
}
