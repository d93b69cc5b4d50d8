//! Checks with requests: the connection to the platform, its clock, and the permissions of the token.
//!
//! The connection is tried without the token first, so that no token goes to an address that is not the platform's.

use super::doctor_check::{self, Check, CheckOutcome};
use super::doctor_settings::DoctorSettings;
use super::request_limit::{NoResponse, undecided_failure, with_timeout};
use crate::error::Failure;
use crate::job::settings::Connection;
use crate::session::Session;
use sluicegate_platform::api::{Platform, ReviewFields};
use sluicegate_platform::http::{self, BaseUrl, ErrorKind, HttpError, TokenSource, UnauthenticatedResponse};
use std::io;
use std::net::IpAddr;
use std::time::Duration;

/// Maximum time for a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum time for a name lookup.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum time to get the token, which may need a command.
const TOKEN_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum tolerated difference of the clocks, in seconds; with a larger one, certificates and tokens look expired.
const CLOCK_TOLERANCE: u64 = 120;

/// The HTTP status with which a proxy requests credentials.
const PROXY_AUTHENTICATION_REQUIRED: u16 = 407;

const PROXY_HINT: &str = "check HTTPS_PROXY (http://user:password@host to send credentials) and NO_PROXY";

const PLATFORM_HINT: &str = "to review and publish through the platform, set SLUICEGATE_BASE_URL, SLUICEGATE_PROJECT_ID, \
     SLUICEGATE_AGENT_VERSION and SLUICEGATE_TOKEN";

const DNS_HINT: &str = "check the base URL, and whether this machine's name servers resolve private names";

// The names of the checks.
const AGENT_VERSION_CHECK: &str = "agent-version";
const BASE_URL_CHECK: &str = "base-url";
const PROXY_CHECK: &str = "proxy";
const DNS_CHECK: &str = "dns";
const CONNECTION_CHECK: &str = "connection";
const TLS_CHECK: &str = "tls";
const CLOCK_CHECK: &str = "clock";
const TOKEN_CHECK: &str = "token";
const ROLE_CHECK: &str = "role";
const PROJECT_CHECK: &str = "project";
const REVIEW_REQUEST_CHECK: &str = "review-request";

/// The checks of this module, in this order.
const REMOTE_CHECKS: [&str; 11] = [
    AGENT_VERSION_CHECK,
    BASE_URL_CHECK,
    PROXY_CHECK,
    DNS_CHECK,
    CONNECTION_CHECK,
    TLS_CHECK,
    CLOCK_CHECK,
    TOKEN_CHECK,
    ROLE_CHECK,
    PROJECT_CHECK,
    REVIEW_REQUEST_CHECK,
];

/// Runs the checks that send requests. Without valid settings or a platform, they are skipped. Limits the timeout, and
/// allows one retry at most, so that an unreachable platform does not delay the result.
pub(crate) async fn run_remote_checks(
    session: &Session,
    settings: Option<DoctorSettings>,
    checks: &mut Vec<Check>,
) {
    if let Some(mut settings) = settings {
        if !settings.uses_platform {
            let reason = "not configured; `sluicegate check` needs no platform";
            checks.push(Check::not_applicable("platform", reason).with_hint(PLATFORM_HINT));
            return;
        }
        let connection = &mut settings.connection;
        connection.timeout = connection.timeout.min(REQUEST_TIMEOUT);
        connection.retries = connection.retries.min(1);
        check_platform(session, &settings, checks).await;
        check_missing_settings(&settings.connection, checks);
    }
    doctor_check::add_skipped_checks(checks, &REMOTE_CHECKS);
}

/// Checks the settings of the connection and the connection itself. Only if the platform can be reached, checks what
/// the token permits.
async fn check_platform(session: &Session, settings: &DoctorSettings, checks: &mut Vec<Check>) {
    let connection = &settings.connection;
    checks.push(check_agent_version(connection));
    let base_url = match connection.require_base_url() {
        Ok(base_url) => base_url,
        Err(error) => return checks.push(Check::from_failure(BASE_URL_CHECK, &error.into())),
    };
    checks.push(Check::success(BASE_URL_CHECK, base_url.to_string()));
    if let Err(failure) = session.check_proxy_variables(base_url.url()) {
        return checks.push(Check::from_failure(PROXY_CHECK, &failure));
    }
    let attempt = ConnectionAttempt::try_connection(base_url, connection, session.create_observer()).await;
    checks.extend(attempt.list_checks());
    if attempt.is_reachable() {
        checks.extend(check_permissions(session, settings).await);
    }
}

/// Adds a failed check if the token or the project is not set, unless an earlier check reported it.
fn check_missing_settings(connection: &Connection, checks: &mut Vec<Check>) {
    let setting_errors = [
        (TOKEN_CHECK, connection.require_token().err()),
        (PROJECT_CHECK, connection.require_project_id().err()),
    ];
    for (name, error) in setting_errors {
        if let Some(error) = error.filter(|_| !doctor_check::contains_check(checks, name)) {
            checks.push(Check::from_failure(name, &error.into()));
        }
    }
}

/// Checks that the agent version is set, which a review request must contain.
fn check_agent_version(connection: &Connection) -> Check {
    let agent_version = connection
        .require_agent_version()
        .map(|version| CheckOutcome::Ok(version.to_owned()));
    Check::new(AGENT_VERSION_CHECK, agent_version.map_err(Failure::from))
}

/// An attempt to connect to the platform without the token.
struct ConnectionAttempt<'a> {
    base_url: &'a BaseUrl,
    proxy: Option<String>,
    /// The addresses of the name; `None` if no lookup is needed.
    addresses: Option<io::Result<Vec<IpAddr>>>,
    /// The first response; `None` if there is no address.
    first_response: Option<Result<UnauthenticatedResponse, HttpError>>,
}

impl<'a> ConnectionAttempt<'a> {
    /// Resolves the platform's name, unless a proxy does so. If that did not fail, sends one request without a token.
    async fn try_connection(
        base_url: &'a BaseUrl,
        connection: &Connection,
        observer: http::Observer,
    ) -> Self {
        let proxy = http::find_proxy(base_url);
        let addresses = match (base_url.dns_name(), &proxy) {
            (Some(name), None) => {
                let lookup = http::resolve_host(name, LOOKUP_TIMEOUT.min(connection.timeout));
                let addresses = observer
                    .await_with_report(lookup, || format!("waiting for the addresses of {name}"))
                    .await;
                Some(addresses)
            }
            _ => None,
        };
        let first_response = match &addresses {
            Some(Err(_)) => None,
            _ => Some(
                http::send_without_token(
                    base_url,
                    connection.ca_cert.as_ref(),
                    connection.client_certificate.as_ref(),
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
            first_response,
        }
    }

    /// Returns whether the platform itself responded. The status 407 is the response of a proxy.
    fn is_reachable(&self) -> bool {
        matches!(&self.first_response, Some(Ok(first_response)) if first_response.status != PROXY_AUTHENTICATION_REQUIRED)
    }

    /// Returns a check for each part of the attempt: proxy, name and, after a request, connection, TLS and clock.
    fn list_checks(&self) -> Vec<Check> {
        let mut checks = vec![self.check_proxy(), self.check_dns()];
        if let Some(first_response) = &self.first_response {
            checks.push(self.check_connection(first_response));
            checks.push(self.check_tls(first_response));
            let platform_response = first_response.iter().find(|_| self.is_reachable());
            checks.extend(platform_response.map(check_clock));
        }
        checks
    }

    /// Checks the proxy, if one is used. An unreachable platform is reported here, because the proxy may be the cause.
    fn check_proxy(&self) -> Check {
        let Some(proxy) = &self.proxy else {
            return Check::not_applicable(PROXY_CHECK, "no proxy is set for this address");
        };
        match &self.first_response {
            Some(Ok(first_response)) if first_response.status == PROXY_AUTHENTICATION_REQUIRED => {
                let message = format!("{proxy} requires credentials");
                Check::from_failure(PROXY_CHECK, &undecided_failure(message).with_hint(PROXY_HINT))
            }
            Some(Err(error)) if matches!(error.kind(), ErrorKind::Unreachable | ErrorKind::Timeout) => {
                let failure = undecided_failure(format!("the request through {proxy} failed: {error}"));
                Check::from_failure(PROXY_CHECK, &failure.with_hint(error.hint()))
            }
            _ => Check::success(PROXY_CHECK, format!("requests go through {proxy}")),
        }
    }

    /// Checks that the platform's name was resolved to an address.
    fn check_dns(&self) -> Check {
        let name = self.base_url.dns_name().unwrap_or_default();
        match &self.addresses {
            None if self.proxy.is_some() => Check::not_applicable(DNS_CHECK, "the proxy resolves the name"),
            None => Check::not_applicable(DNS_CHECK, "the base URL contains an IP address"),
            Some(Ok(addresses)) => match addresses.as_slice() {
                [address, ..] => Check::success(DNS_CHECK, format!("{name} is {address}")),
                [] => Check::from_failure(
                    DNS_CHECK,
                    &undecided_failure(format!("{name} has no address")).with_hint(DNS_HINT),
                ),
            },
            Some(Err(error)) => {
                let failure = undecided_failure(format!("could not resolve {name}: {error}"));
                Check::from_failure(DNS_CHECK, &failure.with_hint(DNS_HINT))
            }
        }
    }

    /// Checks that the platform responds. A certificate error shows that it does; [`Self::check_tls`] reports the
    /// error.
    fn check_connection(&self, first_response: &Result<UnauthenticatedResponse, HttpError>) -> Check {
        match first_response {
            Ok(first_response) if self.is_reachable() => Check::success(
                CONNECTION_CHECK,
                format!("the platform responded with status {}", first_response.status),
            ),
            Err(error) if error.kind() == ErrorKind::Certificate => {
                Check::success(CONNECTION_CHECK, "connected")
            }
            Err(error) if self.proxy.is_none() => {
                Check::from_failure(CONNECTION_CHECK, &error.clone().into())
            }
            _ => Check::not_applicable(CONNECTION_CHECK, "unknown behind the proxy"),
        }
    }

    /// Checks that the connection is encrypted with a trusted certificate. Plain HTTP only causes a hint.
    fn check_tls(&self, first_response: &Result<UnauthenticatedResponse, HttpError>) -> Check {
        if self.base_url.is_plain_http_to_remote() {
            let check =
                Check::not_applicable(TLS_CHECK, "the base URL uses http, so requests are not encrypted");
            return check
                .with_hint("others can read the token in transit; use https if the platform supports it");
        }
        match first_response {
            _ if !self.base_url.is_encrypted() => {
                Check::not_applicable(TLS_CHECK, "the platform runs locally")
            }
            Ok(_) => Check::success(TLS_CHECK, "the certificate is trusted"),
            Err(error) if error.kind() == ErrorKind::Certificate => {
                Check::from_failure(TLS_CHECK, &error.clone().into())
            }
            Err(_) => Check::not_applicable(TLS_CHECK, "no connection"),
        }
    }
}

/// Checks that the local clock differs from the platform's clock by at most `CLOCK_TOLERANCE`.
fn check_clock(first_response: &UnauthenticatedResponse) -> Check {
    let Some(seconds_ahead) = first_response.clock_ahead else {
        return Check::not_applicable(CLOCK_CHECK, "the response contains no time");
    };
    let description = match seconds_ahead {
        0 => "the clock matches the platform's".to_owned(),
        1.. => format!("the clock is {seconds_ahead} s ahead of the platform's"),
        _ => format!(
            "the clock is {} s behind the platform's",
            seconds_ahead.unsigned_abs()
        ),
    };
    if seconds_ahead.unsigned_abs() <= CLOCK_TOLERANCE {
        return Check::success(CLOCK_CHECK, description);
    }
    let hint =
        "synchronize the clock with NTP: otherwise tokens and certificates look expired or not yet valid";
    Check::from_failure(CLOCK_CHECK, &Failure::usage(description).with_hint(hint))
}

/// Checks what the token permits. If the token itself is rejected, the other checks are skipped.
async fn check_permissions(session: &Session, settings: &DoctorSettings) -> Vec<Check> {
    let connection = &settings.connection;
    let platform = match session.create_platform_client(connection) {
        Ok(platform) => platform,
        Err(failure) => return vec![Check::from_failure(TOKEN_CHECK, &failure)],
    };
    let token = check_token(
        connection,
        with_timeout(TOKEN_TIMEOUT, platform.check_account_access()).await,
    );
    if !token.is_ok() {
        return vec![token];
    }
    let role = with_timeout(REQUEST_TIMEOUT, platform.check_shared_pipelines_access()).await;
    vec![
        token,
        Check::new(ROLE_CHECK, evaluate_publish_role(settings, role)),
        Check::new(PROJECT_CHECK, check_project(connection, &platform).await),
        check_review_request(settings, &platform).await,
    ]
}

/// Checks with a test request that the platform accepts the review fields. Not applicable without a response.
async fn check_review_request(settings: &DoctorSettings, platform: &Platform) -> Check {
    let connection = &settings.connection;
    let (Ok(project), Ok(agent)) = (
        connection.require_project_id(),
        connection.require_agent_version(),
    ) else {
        return Check::not_applicable(
            REVIEW_REQUEST_CHECK,
            "set the project and the agent version first",
        );
    };
    let sent_fields = match &settings.request_fields {
        ReviewFields::Pipelines => "`pipelines`".to_owned(),
        ReviewFields::FilePaths { data_warehouse } => format!("`filePaths` for {data_warehouse}"),
    };
    let request = platform.check_review_fields(project, agent, &settings.request_fields);
    match with_timeout(REQUEST_TIMEOUT, request).await {
        Ok(()) => Check::success(
            REVIEW_REQUEST_CHECK,
            format!("the platform accepts reviews with {sent_fields}"),
        ),
        Err(NoResponse::Failed(error)) if !error.is_unavailable() => {
            Check::from_failure(REVIEW_REQUEST_CHECK, &error.into())
        }
        Err(failure) => Check::not_applicable(
            REVIEW_REQUEST_CHECK,
            format!(
                "no response to a test request: {}",
                Failure::from(failure).describe_on_one_line()
            ),
        ),
    }
}

/// Checks the result of a request with the token. A 403 is a success: the platform knows the token.
fn check_token(connection: &Connection, result: Result<(), NoResponse>) -> Check {
    let source = match connection.require_token() {
        Ok(TokenSource::Value(_)) => "from the variable",
        Ok(TokenSource::File(_)) => "from the file",
        Ok(TokenSource::Command(_)) => "from the command",
        Ok(TokenSource::ClientCredentials { .. }) => "for the client credentials",
        Err(_) => "",
    };
    let accepted_outcome = Ok(CheckOutcome::Ok(format!("the token {source} is accepted")));
    let outcome = match result {
        Err(NoResponse::Failed(error)) if error.kind() == ErrorKind::Forbidden => accepted_outcome,
        Err(failure) => Err(failure.into()),
        Ok(()) => accepted_outcome,
    };
    Check::new(TOKEN_CHECK, outcome)
}

/// Returns the outcome of the check that the token may publish, from the result of a request that needs this
/// permission. Without the permission, the check is not applicable if publishing is not configured.
fn evaluate_publish_role(
    settings: &DoctorSettings,
    result: Result<(), NoResponse>,
) -> Result<CheckOutcome, Failure> {
    match result {
        Ok(()) => Ok(CheckOutcome::Ok("the token allows publishing".to_owned())),
        Err(NoResponse::Failed(error)) if error.kind() == ErrorKind::Forbidden && !settings.publishes => {
            let reason = "the token may not publish shared pipelines; publishing is not configured";
            Ok(CheckOutcome::NotApplicable(reason.to_owned()))
        }
        Err(failure) => Err(failure.into()),
    }
}

/// Checks that the token has access to the project in the settings.
async fn check_project(connection: &Connection, platform: &Platform) -> Result<CheckOutcome, Failure> {
    let project = connection.require_project_id()?;
    with_timeout(REQUEST_TIMEOUT, platform.check_project_access(project)).await?;
    Ok(CheckOutcome::Ok(format!("the token has access to {project}")))
}
