//! The platform of the benches: it responds after a set time, and reads uploads as fast as they arrive, so that the
//! benches measure the client.
//!
//! usage: platform PORT_FILE [--delay MILLISECONDS] [--twice] [--shared NUMBER]
//!
//! When it listens, it writes its port to PORT_FILE. Reviews are answered after the delay, with one result per rule,
//! and with two findings per file if `--twice` is set; uploads are read to their end and discarded. After an upload
//! with a commit hash, the version exists until the details of the latest version were requested, so the same version
//! can be published and verified again and again; the version `unverified` is never shown. The details list as many
//! shared pipelines as `--shared` sets (3 by default), with the names from `make_repository.py`.

#![allow(clippy::print_stderr, reason = "it has no other way to say what is wrong")]

use anyhow::Context as _;
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Map, Value, json};
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;

/// The rules of `make_repository.py`.
const RULES: [&str; 3] = [
    "unused-components",
    "start-and-end-components",
    "component-naming-convention",
];
/// Number of bytes of an upload that are read at a time.
const PIECE: usize = 1024 * 1024;
struct Platform {
    options: Options,
    /// The details of the last published version, until those of the latest version were requested.
    published: Mutex<Option<Map<String, Value>>>,
}

#[tokio::main]
async fn main() -> ExitCode {
    match serve(&std::env::args().skip(1).collect::<Vec<_>>()).await {
        Ok(never) => match never {},
        Err(error) => {
            eprintln!("platform: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// The options on the command line.
struct Options {
    delay: Duration,
    twice: bool,
    shared: u32,
}

impl Options {
    fn new(arguments: &[String]) -> anyhow::Result<Self> {
        let mut options = Self {
            delay: Duration::ZERO,
            twice: false,
            shared: 3,
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut number = || words.next().context("a number is missing");
            match word.as_str() {
                "--delay" => options.delay = Duration::from_millis(number()?.parse()?),
                "--shared" => options.shared = number()?.parse()?,
                "--twice" => options.twice = true,
                other => anyhow::bail!("there is no option `{other}`"),
            }
        }
        Ok(options)
    }
}

async fn serve(arguments: &[String]) -> anyhow::Result<Infallible> {
    let (file, options) = arguments
        .split_first()
        .context("usage: platform PORT_FILE [--delay MILLISECONDS] [--twice] [--shared NUMBER]")?;
    let options = Options::new(options)?;
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let unfinished = format!("{file}.new");
    std::fs::write(&unfinished, listener.local_addr()?.port().to_string()).context(unfinished.clone())?;
    std::fs::rename(&unfinished, file)?;
    let platform = Arc::new(Platform {
        options,
        published: Mutex::default(),
    });
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let platform = Arc::clone(&platform);
        let service = service_fn(move |request| answer(Arc::clone(&platform), request));
        let mut builder = http1::Builder::new();
        builder.max_buf_size(PIECE);
        tokio::spawn(builder.serve_connection(TokioIo::new(stream), service));
    }
}

async fn answer(platform: Arc<Platform>, request: Request<Incoming>) -> hyper::Result<Response<String>> {
    if request.method() == Method::GET {
        let uri = request.uri();
        return Ok(if uri.path().ends_with("/details") {
            let is_latest = !uri.query().is_some_and(|query| query.contains("versionName="));
            platform.details(is_latest)
        } else {
            platform.versions()
        });
    }
    if !request.uri().path().ends_with("/reviews") {
        let (head, body) = request.into_parts();
        take(body, |_| ()).await?;
        return Ok(platform.published(&head.headers));
    }
    let mut asked = Vec::new();
    take(request.into_body(), |piece| asked.extend_from_slice(piece)).await?;
    tokio::time::sleep(platform.options.delay).await;
    Ok(reviewed(&asked, platform.options.twice))
}

/// Reads a body to its end.
async fn take(body: Incoming, mut each: impl FnMut(&[u8])) -> hyper::Result<()> {
    let mut body = pin!(body);
    while let Some(frame) = poll_fn(|context| Pin::as_mut(&mut body).poll_frame(context)).await {
        if let Some(piece) = frame?.data_ref() {
            each(piece);
        }
    }
    Ok(())
}

impl Platform {
    fn published(&self, headers: &HeaderMap) -> Response<String> {
        let names = ["sharedPipelineIdPrefix", "versionName", "commitHash", "branch"];
        let value = |name| {
            headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .map(Value::from)
        };
        let mut details: Map<String, Value> = names
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), value(name)?)))
            .collect();
        let version = details.get("versionName").cloned();
        if details.contains_key("commitHash") {
            details.insert("enabled".to_owned(), true.into());
            *self.published.lock().unwrap_or_else(PoisonError::into_inner) = Some(details);
        }
        respond(200, &json!({ "versionName": version, "ignoredResources": [] }))
    }

    /// Lists the published version.
    fn versions(&self) -> Response<String> {
        let published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        let versions: Vec<Value> = published.iter().cloned().map(Value::Object).collect();
        respond(200, &Value::Array(versions))
    }

    /// Returns the details of the published version. After those of the latest version, which is the last request of a
    /// publish, the version is forgotten.
    fn details(&self, is_latest: bool) -> Response<String> {
        let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        let details = if is_latest {
            published.take()
        } else {
            published.clone()
        };
        drop(published);
        let Some(details) = details else {
            return respond(404, &json!({ "message": "there is no such version" }));
        };
        let shared: Vec<Value> = (0..self.options.shared)
            .map(|number| json!({ "sharedPipelineId": format!("shared-{number}") }))
            .collect();
        respond(
            200,
            &json!({ "artifactDetails": details, "sharedPipelines": shared }),
        )
    }
}

/// Returns a review. Every tenth file by its name has a finding that names a component, so that its line must be found,
/// regardless of the other files in the request; with `twice`, each file has two findings.
fn reviewed(request: &[u8], twice: bool) -> Response<String> {
    let asked: Value = serde_json::from_slice(request).unwrap_or_default();
    let paths = asked["pipelines"].as_array().into_iter().flatten();
    let result = |path: &Value| {
        let path = path.as_str().unwrap_or_default();
        let named: &[&str] = match path {
            _ if twice => &["Done", "Start"],
            tenth if tenth.ends_with("0.orch.yaml") => &["Done"],
            _ => &[],
        };
        let rules: Vec<Value> = RULES
            .iter()
            .enumerate()
            .map(|(index, rule)| judged(rule, named.get(index).copied()))
            .collect();
        (path.to_owned(), json!(rules))
    };
    let results: Map<String, Value> = paths.map(result).collect();
    respond(
        200,
        &json!({ "reviewStatus": "PASSED", "results": results, "excludedFiles": [] }),
    )
}

fn judged(rule: &str, named: Option<&str>) -> Value {
    let violations: Vec<String> = named
        .map(|name| format!("The component '{name}' is unused"))
        .into_iter()
        .collect();
    let status = if named.is_some() { "FAILED" } else { "PASSED" };
    json!({ "ruleName": rule, "status": status, "violations": violations })
}

fn respond(status: u16, body: &Value) -> Response<String> {
    let mut response = Response::new(body.to_string());
    if let Ok(status) = status.try_into() {
        *response.status_mut() = status;
    }
    let kind = hyper::header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
