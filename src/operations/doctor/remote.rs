//! Checks with requests: the connection to the platform, its clock, and the permissions of the token.
//!
//! The connection is tried without the token first, so that no token goes to an address that is not the platform's.

use super::check::{self, Check, CheckOutcome};
use super::local::DoctorSettings;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::remote_review::review_fields;
use crate::job::settings::Connection;
use crate::session::Run;
use sluicegate_platform::api::{Platform, ReviewFields};
use sluicegate_platform::http::{self, BaseUrl, ErrorKind, Greeting, HttpError, TokenSource};
use std::io;
use std::net::IpAddr;
use std::time::Duration;

/// Maximum time for a request.
const REQUEST: Duration = Duration::from_secs(10);

/// Maximum time for a name lookup.
const LOOK_UP: Duration = Duration::from_secs(5);

/// Maximum time to get the token, which may need a command.
const TOKEN: Duration = Duration::from_secs(30);

/// Maximum tolerated difference of the clocks, in seconds; with a larger one, certificates and tokens look expired.
const CLOCK_TOLERANCE: u64 = 120;

/// The HTTP status with which a proxy requests credentials.
const PROXY_REFUSES: u16 = 407;

const PROXY_HINT: &str = "check HTTPS_PROXY (http://user:password@host if it needs credentials) and NO_PROXY";

const DNS_HINT: &str = "check the base URL, and whether this machine's name servers resolve private names";

/// The checks of this module, in this order.
const ASKED: [&str; 11] = [
    "agent-version",
    "base-url",
    "proxy",
    "dns",
    "connection",
    "tls",
    "clock",
    "token",
    "role",
    "project",
    "review-request",
];

/// Adds the checks that need a network.
pub(crate) async fn examine(run: &Run, settings: Option<DoctorSettings>, checks: &mut Vec<Check>) {
    if let Some(mut settings) = settings {
        let connection = &mut settings.connection;
        connection.timeout = connection.timeout.min(REQUEST);
        connection.retries = connection.retries.min(1);
        ask(run, &settings, checks).await;
        nobody_said(&settings.connection, checks);
    }
    check::leave_rest(checks, &ASKED);
}

async fn ask(run: &Run, settings: &DoctorSettings, checks: &mut Vec<Check>) {
    let connection = &settings.connection;
    checks.push(agent_version(connection));
    let base_url = match connection.base_url() {
        Ok(base_url) => base_url,
        Err(why) => return checks.push(Check::failed("base-url", &why.into())),
    };
    checks.push(Check::ok("base-url", base_url.to_string()));
    if let Err(failure) = run.check_proxy_variables(base_url.url()) {
        return checks.push(Check::failed("proxy", &failure));
    }
    let way = Way::find(base_url, connection, run.observer()).await;
    checks.extend(way.checks());
    if way.is_open() {
        checks.extend(allowed(run, settings).await);
    }
}

/// Adds the checks of missing settings, even if the requests did not reach them.
fn nobody_said(connection: &Connection, checks: &mut Vec<Check>) {
    let missing = [
        ("token", connection.token().err()),
        ("project", connection.project_id().err()),
    ];
    for (name, why) in missing {
        if let Some(why) = why.filter(|_| !check::is_there(checks, name)) {
            checks.push(Check::failed(name, &why.into()));
        }
    }
}

fn agent_version(connection: &Connection) -> Check {
    let set = connection
        .agent_version()
        .map(|set| CheckOutcome::Ok(set.to_owned()));
    Check::new("agent-version", set.map_err(Failure::from))
}

/// The connection to the platform, tried without the token.
struct Way<'a> {
    base_url: &'a BaseUrl,
    proxy: Option<String>,
    /// The addresses of the name; `None` if no lookup is needed.
    addresses: Option<io::Result<Vec<IpAddr>>>,
    /// The first response; `None` if there is no address.
    greeting: Option<Result<Greeting, HttpError>>,
}

impl<'a> Way<'a> {
    async fn find(base_url: &'a BaseUrl, connection: &Connection, observer: http::Observer) -> Self {
        let proxy = http::find_proxy(base_url);
        let addresses = match (base_url.dns_name(), &proxy) {
            (Some(name), None) => {
                let asked = http::resolve_host(name, LOOK_UP.min(connection.timeout));
                let waiting = || format!("waiting for the addresses of {name}");
                Some(observer.report_wait(asked, waiting).await)
            }
            _ => None,
        };
        let greeting = match &addresses {
            Some(Err(_)) => None,
            _ => Some(
                http::send_greeting(
                    base_url,
                    connection.ca_cert.as_deref(),
                    connection.timeout,
                    observer,
                )
                .await,
            ),
        };
        Self {
            base_url,
            proxy,
            addresses,
            greeting,
        }
    }

    fn is_open(&self) -> bool {
        matches!(&self.greeting, Some(Ok(greeting)) if greeting.status != PROXY_REFUSES)
    }

    fn checks(&self) -> Vec<Check> {
        let mut checks = vec![self.through_proxy(), self.name()];
        if let Some(greeting) = &self.greeting {
            checks.push(self.connection(greeting));
            checks.push(self.encryption(greeting));
            checks.extend(greeting.as_ref().ok().map(clock));
        }
        checks
    }

    fn through_proxy(&self) -> Check {
        let Some(proxy) = &self.proxy else {
            return Check::not_applicable("proxy", "no proxy is set for this address");
        };
        match &self.greeting {
            Some(Ok(greeting)) if greeting.status == PROXY_REFUSES => {
                let message = format!("{proxy} requires credentials");
                Check::failed("proxy", &undecided(message).hint(PROXY_HINT))
            }
            Some(Err(why)) if matches!(why.kind(), ErrorKind::Unreachable | ErrorKind::Timeout) => {
                let failure = undecided(format!("through {proxy}: {why}"));
                Check::failed(
                    "proxy",
                    &failure.hint(why.hint().unwrap_or_else(|| PROXY_HINT.to_owned())),
                )
            }
            _ => Check::ok("proxy", format!("requests go through {proxy}")),
        }
    }

    fn name(&self) -> Check {
        let name = self.base_url.dns_name().unwrap_or_default();
        match &self.addresses {
            None if self.proxy.is_some() => Check::not_applicable("dns", "the proxy resolves the name"),
            None => Check::not_applicable("dns", "the base URL contains an IP address"),
            Some(Ok(found)) => match found.as_slice() {
                [first, ..] => Check::ok("dns", format!("{name} is {first}")),
                [] => Check::failed("dns", &undecided(format!("{name} has no address")).hint(DNS_HINT)),
            },
            Some(Err(why)) => {
                let failure = undecided(format!("could not resolve {name}: {why}"));
                Check::failed("dns", &failure.hint(DNS_HINT))
            }
        }
    }

    fn connection(&self, greeting: &Result<Greeting, HttpError>) -> Check {
        match greeting {
            Ok(greeting) => Check::ok(
                "connection",
                format!("the platform responded with status {}", greeting.status),
            ),
            Err(why) if why.kind() == ErrorKind::Certificate => Check::ok("connection", "connected"),
            Err(_) if self.proxy.is_some() => Check::not_applicable("connection", "unknown behind the proxy"),
            Err(why) => Check::failed("connection", &why.clone().into()),
        }
    }

    fn encryption(&self, greeting: &Result<Greeting, HttpError>) -> Check {
        if self.base_url.is_plain_http_to_remote() {
            let check = Check::not_applicable("tls", "the base URL is not encrypted");
            return check.hint("others can read the token in transit; use https if the platform supports it");
        }
        match greeting {
            _ if !self.base_url.is_encrypted() => Check::not_applicable("tls", "the platform runs locally"),
            Ok(_) => Check::ok("tls", "the certificate is trusted"),
            Err(why) if why.kind() == ErrorKind::Certificate => Check::failed("tls", &why.clone().into()),
            Err(_) => Check::not_applicable("tls", "no connection"),
        }
    }
}

fn clock(greeting: &Greeting) -> Check {
    let Some(ahead) = greeting.clock_ahead else {
        return Check::not_applicable("clock", "the response contains no time");
    };
    let direction = if ahead < 0 { "behind" } else { "ahead of" };
    let found = format!(
        "this machine is {} s {direction} the platform's time",
        ahead.unsigned_abs()
    );
    if ahead.unsigned_abs() <= CLOCK_TOLERANCE {
        return Check::ok("clock", found);
    }
    let hint =
        "synchronize the clock by NTP: otherwise tokens and certificates look expired or not yet valid";
    Check::failed("clock", &Failure::usage(found).hint(hint))
}

/// Checks the permissions of the token; each request has a time limit.
async fn allowed(run: &Run, settings: &DoctorSettings) -> Vec<Check> {
    let connection = &settings.connection;
    let platform = match run.platform(connection) {
        Ok(platform) => platform,
        Err(failure) => return vec![Check::failed("token", &failure)],
    };
    let token = token(connection, within(TOKEN, platform.check_account_access()).await);
    if !token.is_ok() {
        return vec![token];
    }
    let role = within(REQUEST, platform.check_shared_pipelines_access()).await;
    vec![
        token,
        Check::new("role", role_for_publish(settings, role)),
        Check::new("project", project(connection, &platform).await),
        review_request(settings, &platform).await,
    ]
}

/// Checks that the platform accepts the fields of a review request.
async fn review_request(settings: &DoctorSettings, platform: &Platform) -> Check {
    const NAME: &str = "review-request";
    let connection = &settings.connection;
    let (Ok(project), Ok(agent)) = (connection.project_id(), connection.agent_version()) else {
        return Check::not_applicable(NAME, "set the project and the agent version first");
    };
    let fields = review_fields(&settings.request);
    let sent = match &fields {
        ReviewFields::Pipelines => "`pipelines`".to_owned(),
        ReviewFields::FilePaths { data_warehouse } => format!("`filePaths`, for {data_warehouse}"),
    };
    match within(REQUEST, platform.check_review_access(project, agent, &fields)).await {
        Ok(()) => Check::ok(NAME, format!("the platform accepts {sent}")),
        Err(NoAnswer::Refused(why)) if !why.is_unavailable() => Check::failed(NAME, &why.into()),
        Err(why) => Check::not_applicable(
            NAME,
            format!("no response to a test request: {}", Failure::from(why).chain()),
        ),
    }
}

/// Returns the check of the token. A 403 shows that the token was accepted.
fn token(connection: &Connection, reached: Result<(), NoAnswer>) -> Check {
    let source = match connection.token() {
        Ok(TokenSource::Value(_)) => "from the variable",
        Ok(TokenSource::File(_)) => "from the file",
        Ok(TokenSource::Command(_)) => "from the command",
        Ok(TokenSource::ClientCredentials { .. }) => "for the client credentials",
        Err(_) => "",
    };
    let accepted = Ok(CheckOutcome::Ok(format!("the token {source} is accepted")));
    let outcome = match reached {
        Err(NoAnswer::Refused(why)) if why.kind() == ErrorKind::Forbidden => accepted,
        Err(why) => Err(why.into()),
        Ok(()) => accepted,
    };
    Check::new("token", outcome)
}

fn role_for_publish(
    settings: &DoctorSettings,
    reached: Result<(), NoAnswer>,
) -> Result<CheckOutcome, Failure> {
    match reached {
        Ok(()) => Ok(CheckOutcome::Ok("may publish shared pipelines".to_owned())),
        Err(NoAnswer::Refused(why)) if why.kind() == ErrorKind::Forbidden && !settings.publishes => {
            let found = "may not publish shared pipelines; publishing is not configured";
            Ok(CheckOutcome::NotApplicable(found.to_owned()))
        }
        Err(why) => Err(why.into()),
    }
}

async fn project(connection: &Connection, platform: &Platform) -> Result<CheckOutcome, Failure> {
    let project = connection.project_id()?;
    within(REQUEST, platform.check_project_access(project)).await?;
    Ok(CheckOutcome::Ok(format!("the token has access to {project}")))
}

/// The reason for a missing response.
enum NoAnswer {
    Refused(HttpError),
    Late(Duration),
}

impl From<NoAnswer> for Failure {
    fn from(asked: NoAnswer) -> Self {
        match asked {
            NoAnswer::Refused(why) => why.into(),
            NoAnswer::Late(limit) => undecided(format!("no response within {} s", limit.as_secs())),
        }
    }
}

async fn within(limit: Duration, asked: impl Future<Output = Result<(), HttpError>>) -> Result<(), NoAnswer> {
    match tokio::time::timeout(limit, asked).await {
        Ok(answer) => answer.map_err(NoAnswer::Refused),
        Err(_) => Err(NoAnswer::Late(limit)),
    }
}

fn undecided(message: String) -> Failure {
    Failure::new(ExitStatus::Undecided, anyhow::Error::msg(message))
}
