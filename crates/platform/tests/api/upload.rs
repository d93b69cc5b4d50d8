//! The upload of a publish: one streamed form, exact to the byte, that is never completed with wrong content.

use crate::multipart::{Part, parse};
use crate::raw::{Connection, RawServer, content_length, recording_script};
use crate::support::{call_refusing_server, platform, platform_with, settings};
use sluicegate_platform::api::{PartSource, PublishResponse, Upload, UploadPart};
use sluicegate_platform::http::{ErrorKind, HttpError, Settings, TokenSource};
use sluicegate_test_support::scratch;
use std::io::{Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const DONE: &str = include_str!("../../../../tests/fixtures/api/publish.json");

/// Contents in memory.
struct Memory(Vec<Vec<u8>>);

impl PartSource for Memory {
    fn open_part(&self, part: usize) -> std::io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(Cursor::new(self.0[part].clone())))
    }
}

/// Size of a part that is larger than all buffers between client and server.
const LARGE: u64 = 64 * 1024 * 1024;

/// Contents that consist of spaces.
struct Blanks;

impl PartSource for Blanks {
    fn open_part(&self, _: usize) -> std::io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(std::io::repeat(b' ').take(LARGE)))
    }
}

fn upload(files: &[(&str, &[u8])]) -> Upload {
    let length = |content: &[u8]| content.len() as u64;
    Upload {
        prefix: "sales".to_owned(),
        version: "1.2.0".to_owned(),
        commit_hash: Some("c0ffee".to_owned()),
        branch: Some("größer".to_owned()),
        parts: files
            .iter()
            .map(|(name, content)| UploadPart {
                name: (*name).to_owned(),
                length: length(content),
            })
            .collect(),
        source: Arc::new(Memory(
            files.iter().map(|(_, content)| content.to_vec()).collect(),
        )),
        progress: None,
    }
}

/// Returns an upload of one large part.
fn large() -> Upload {
    let parts = vec![UploadPart {
        name: "large".to_owned(),
        length: 64 * 1024 * 1024,
    }];
    Upload {
        parts,
        source: Arc::new(Blanks),
        ..upload(&[])
    }
}

async fn publish_upload(upload: Upload) -> (PublishResponse, String, Vec<u8>) {
    let (script, received) = recording_script("201 Created", DONE);
    let server = RawServer::start(vec![script]);
    let answer = platform(&server.url()).publish(upload).await.unwrap();
    let (head, body) = received.recv().unwrap();
    (answer, head, body)
}

// Endpoint: POST /v1/shared-pipelines/artifacts
#[tokio::test]
async fn names_and_contents_arrive_as_they_are() {
    let binary: Vec<u8> = (0..=255).collect();
    let files: [(&str, &[u8]); 8] = [
        ("folder/load orders.orch.yaml", b"type: orchestration\n"),
        (".config/shared-pipelines.yaml", b""),
        ("a;b='c'.sql", b"\r\n--x\r\n"),
        ("back\\slash.py", &binary),
        ("größe/日本.orch.yaml", "ä".as_bytes()),
        ("quote\".txt", b"q"),
        ("line\r\nbreak.txt", b"n"),
        ("100%22.txt", b"p"),
    ];
    let names = ["quote%22.txt", "line%0D%0Abreak.txt", "100%22.txt"];
    let expected: Vec<Part> = files
        .iter()
        .enumerate()
        .map(|(index, (name, content))| Part {
            name: if index < 5 { *name } else { names[index - 5] }.to_owned(),
            content_type: "text/plain".to_owned(),
            content: content.to_vec(),
        })
        .collect();
    let upload = upload(&files);
    let (answer, head, body) = publish_upload(upload).await;
    assert_eq!(content_length(&head), body.len() as u64);
    assert!(!head.to_ascii_lowercase().contains("transfer-encoding"), "{head}");
    assert_eq!(parse(&head, &body), expected);
    assert_eq!(answer.version_name.as_deref(), Some("1.2.0"));
    assert_eq!(answer.ignored_resources.unwrap()[0]["name"], "notes.md");
}

// Endpoint: POST /v1/shared-pipelines/artifacts
#[tokio::test]
async fn headers_are_documents() {
    let (_, head, _) = publish_upload(upload(&[("a", b"b")])).await;
    assert!(
        head.starts_with("POST /v1/shared-pipelines/artifacts HTTP/1.1\r\n"),
        "{head}"
    );
    for line in [
        "sharedpipelineidprefix: sales",
        "versionname: 1.2.0",
        "commithash: c0ffee",
        "branch: größer",
    ] {
        assert!(head.contains(&format!("\r\n{line}\r\n")), "{line} in {head}");
    }
}

#[tokio::test]
async fn many_and_large_parts_arrive_whole() {
    let contents: Vec<(String, Vec<u8>)> = (0..3_000_usize)
        .map(|number| {
            let size = if number % 1000 == 7 { 700_001 } else { number % 97 };
            (
                format!("f/{number}"),
                vec![u8::try_from(number % 251).unwrap(); size],
            )
        })
        .collect();
    let files: Vec<(&str, &[u8])> = contents
        .iter()
        .map(|(name, entry)| (name.as_str(), entry.as_slice()))
        .collect();
    let seen = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&seen);
    let progress: Arc<dyn Fn(u64) + Send + Sync> =
        Arc::new(move |sent| counter.store(sent, Ordering::SeqCst));
    let text = Upload {
        progress: Some(progress),
        ..upload(&files)
    };
    let upload = text;
    let (_, head, body) = publish_upload(upload).await;
    let parts = parse(&head, &body);
    assert_eq!(parts.len(), files.len());
    for (part, (name, content)) in parts.iter().zip(&files) {
        assert_eq!((part.name.as_str(), part.content.as_slice()), (*name, *content));
    }
    assert_eq!(seen.load(Ordering::SeqCst), body.len() as u64);
}

/// Sends an upload whose contents do not match the promised ones; returns the error, the number of received bytes, and
/// the declared length.
async fn fail_upload(upload: Upload) -> (HttpError, usize, u64) {
    let (sender, received) = std::sync::mpsc::channel();
    let script = move |mut connection: Connection| {
        let head = connection.head();
        let length = content_length(&head);
        sender.send((connection.body(length).len(), length)).unwrap();
    };
    let server = RawServer::start(vec![Box::new(script)]);
    let error = platform(&server.url()).publish(upload).await.unwrap_err();
    let (arrived, length) = received.recv().unwrap();
    (error, arrived, length)
}

#[tokio::test]
async fn content_of_another_size_stops_the_upload() {
    for (content, promised) in [
        (vec![b'x'; 300_000], 299_999),
        (vec![b'x'; 300_000], 300_001),
        (Vec::new(), 1),
    ] {
        let mut upload = upload(&[("folder/a.sql", &content)]);
        upload.parts[0].length = promised;
        {
            let (error, arrived, length) = fail_upload(upload).await;
            assert_eq!(error.kind(), ErrorKind::UploadSource);
            // A length of 0 means that the request ended before its head was sent.
            assert!(length == 0 || (arrived as u64) < length, "{arrived} of {length}");
            let message = error.to_string();
            assert!(
                message.contains(
                    "/v1/shared-pipelines/artifacts: the upload was stopped: folder/a.sql: the content "
                ),
                "{message}"
            );
        }
    }
}

#[tokio::test]
async fn part_that_cannot_be_opened_is_named() {
    struct Gone;
    impl PartSource for Gone {
        fn open_part(&self, _: usize) -> std::io::Result<Box<dyn Read + Send>> {
            Err(std::io::Error::other("it was deleted"))
        }
    }
    let server = RawServer::start(vec![Box::new(|mut connection| connection.hold())]);
    let upload = Upload {
        source: Arc::new(Gone),
        ..upload(&[("a.sql", b"x")])
    };
    let error = platform(&server.url()).publish(upload).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UploadSource);
    assert!(
        error
            .to_string()
            .ends_with("the upload was stopped: a.sql: it was deleted"),
        "{error}"
    );
}

/// Sends a large upload to a server that reads the head, waits until the client is blocked, and continues with
/// `script`.
async fn refused_early(upload: Upload, script: impl FnOnce(&mut Connection) + Send + 'static) -> HttpError {
    let sent = Arc::new(AtomicU64::new(0));
    let (counter, seen) = (Arc::clone(&sent), sent);
    let server = RawServer::start(vec![Box::new(move |mut connection| {
        connection.head();
        let mut before = 0;
        let mut unchanged = 0;
        while before == 0 || unchanged < 20 {
            std::thread::park_timeout(Duration::from_millis(5));
            let now = seen.load(Ordering::SeqCst);
            unchanged = if now == before { unchanged + 1 } else { 0 };
            before = now;
        }
        assert!(before < LARGE);
        script(&mut connection);
    })]);
    let progress: Arc<dyn Fn(u64) + Send + Sync> =
        Arc::new(move |sent| counter.store(sent, Ordering::SeqCst));
    platform(&server.url())
        .publish(Upload {
            progress: Some(progress),
            ..upload
        })
        .await
        .unwrap_err()
}

#[tokio::test]
async fn early_refusal_is_reported_and_not_broken_pipe() {
    for (status, kind) in [
        ("401 Unauthorized", ErrorKind::Unauthorized),
        ("403 Forbidden", ErrorKind::Forbidden),
        ("409 Conflict", ErrorKind::Conflict),
        ("413 Payload Too Large", ErrorKind::TooLarge),
    ] {
        let upload = large();
        // Ends the connection at once, with most of the body unread: the client's next write fails.
        let refuse = move |connection: &mut Connection| connection.json(status, r#"{ "error": "no" }"#);
        let error = refused_early(upload.clone(), refuse).await;
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().ends_with(": no"), "{error}");
        assert!(!error.is_maybe_processed());
        // Continues to read for a while after its response, as careful servers do.
        let error = refused_early(upload, move |connection| {
            refuse(connection);
            connection.body(LARGE / 2);
        });
        assert_eq!(error.await.kind(), kind);
    }
}

#[tokio::test]
async fn success_before_end_of_upload_is_not_believed() {
    let server = RawServer::start(vec![Box::new(|mut connection| {
        connection.head();
        connection.json("201 Created", DONE);
        connection.hold();
    })]);
    let error = platform(&server.url()).publish(large()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadResponse);
    assert!(error.is_accepted());
}

#[tokio::test]
async fn upload_that_stalls_is_given_up() {
    let upload = large();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let server = RawServer::start(vec![Box::new(move |mut connection| {
        connection.head();
        // Reads no further; the receiver is dropped at the end of the iteration.
        let _ = released.recv();
    })]);
    let hasty = Settings {
        timeout: Duration::from_millis(300),
        ..settings(&server.url())
    };
    let error = platform_with(hasty).publish(upload).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(error.is_maybe_processed());
    assert!(
        error.to_string().contains("no progress within 0.3 s, after "),
        "{error}"
    );
    assert_eq!(server.wait_for_requests(1), 1);
    drop(release);
}

#[tokio::test]
async fn slow_upload_that_moves_is_not_given_up() {
    let server = RawServer::start(vec![Box::new(|mut connection| {
        let length = content_length(&connection.head());
        let pause = Duration::from_millis(20);
        for _ in 0..40 {
            connection.body(length / 40);
            std::thread::park_timeout(pause);
        }
        connection.body(length % 40);
        connection.json("201 Created", DONE);
    })]);
    let hasty = Settings {
        timeout: Duration::from_millis(600),
        ..settings(&server.url())
    };
    platform_with(hasty).publish(large()).await.unwrap();
}

#[tokio::test]
async fn after_a_401_the_upload_is_made_anew() {
    let (second, received) = recording_script("201 Created", DONE);
    let server = RawServer::start(vec![
        Box::new(|mut connection| {
            connection.request();
            connection.json("401 Unauthorized", "{}");
        }),
        second,
    ]);
    let folder = scratch::create_scratch_directory();
    let file = folder.path().join("token");
    std::fs::write(&file, "abc").unwrap();
    let settings = Settings {
        token: TokenSource::File(file),
        ..settings(&server.url())
    };
    platform_with(settings)
        .publish(upload(&[("a", b"content")]))
        .await
        .unwrap();
    let (head, body) = received.recv().unwrap();
    assert_eq!(parse(&head, &body)[0].content, b"content");
}

#[tokio::test]
async fn accepted_upload_with_unreadable_response_is_distinguished() {
    let (script, _received) = recording_script("200 OK", "thanks");
    let server = RawServer::start(vec![script]);
    let error = platform(&server.url())
        .publish(upload(&[("a", b"b")]))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadResponse);
    assert!(error.is_accepted() && error.is_maybe_processed());
}

#[tokio::test]
async fn answer_without_ignored_resources_leaves_them_unknown() {
    let (script, _received) = recording_script("200 OK", r#"{ "versionName": "1.2.0" }"#);
    let server = RawServer::start(vec![script]);
    let answer = platform(&server.url())
        .publish(upload(&[("a", b"b")]))
        .await
        .unwrap();
    assert_eq!(answer.ignored_resources, None);
}

#[tokio::test]
async fn values_that_no_header_can_carry_are_not_sent() {
    let upload = Upload {
        version: "1\r\nx: y".to_owned(),
        ..upload(&[])
    };
    let error = platform("http://127.0.0.1:9").publish(upload).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    insta::assert_snapshot!(error, @r"the version name cannot be sent as a header: the value contains the control character '\r', which no header allows");
}

#[tokio::test]
async fn version_that_exists_is_a_conflict_and_is_sent_once() {
    let (request_count, error) = call_refusing_server(409, async |platform| {
        platform.publish(upload(&[("a", b"b")])).await
    })
    .await;
    assert_eq!((request_count, error.kind()), (1, ErrorKind::Conflict));
    assert!(!error.is_maybe_processed());
}

#[tokio::test]
async fn ignored_resources_are_read_whatever_their_fields_are() {
    let (answer, ..) = publish_upload(upload(&[("a", b"b")])).await;
    let document: serde_json::Value = serde_json::from_str(DONE).unwrap();
    assert_eq!(
        serde_json::json!(answer.ignored_resources),
        document["ignoredResources"]
    );
}
