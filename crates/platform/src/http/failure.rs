//! Classifies failed exchanges. The type of a reqwest error says little, so the causes behind it are examined.

use super::ErrorKind;
use super::error::{HttpError, RetryRule, status_line};
use super::server_text::NO_CONNECTION;
use super::tls::CaFile;
use jiff::Timestamp;
use reqwest::{StatusCode, Url};
use rustls::CertificateError;
use rustls::pki_types::UnixTime;
use std::error::Error;
use std::io;

/// Returns the failure of a request that ended before the head of a response arrived. `ca_cert` is the file with
/// additional root certificates, which a certificate failure mentions.
pub(super) fn failure_before_response(error: reqwest::Error, ca_cert: Option<&CaFile>) -> HttpError {
    let error = error.without_url();
    if let Some(problem) = find_cause(&error, &|cause| find_certificate_failure(cause, ca_cert)) {
        return problem;
    }
    if error.is_connect() {
        return HttpError::new(
            ErrorKind::Unreachable,
            format!("{NO_CONNECTION}{}", describe_connect_failure(&error)),
        )
        .with_retry_rule(RetryRule::Always);
    }
    if error.is_builder() {
        return HttpError::configuration(format!("could not build the request: {}", join_causes(&error)));
    }
    connection_failure(&error, "the connection broke before the response arrived")
}

/// Creates the error for a response that did not arrive completely in time. The request may have had its effect.
pub(super) fn timeout_error(message: String) -> HttpError {
    HttpError::new(ErrorKind::Timeout, message)
        .with_retry_rule(RetryRule::IfSafe)
        .mark_maybe_processed()
}

/// Returns the failure of a request whose response body could not be read: a corrupt body, or a connection that broke.
/// In both cases, the request may have had its effect.
pub(super) fn failure_within_response(error: reqwest::Error) -> HttpError {
    let error = error.without_url();
    let is_corrupt = error.is_decode()
        && find_cause(&error, &|cause| {
            let io = cause.downcast_ref::<io::Error>()?;
            // With these kinds, the decompression reports an invalid header or checksum. Corrupt data have the kind of
            // any other failure, so the text is compared.
            let is_corrupt = matches!(
                io.kind(),
                io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput
            ) || io.to_string().starts_with("deflate decompression error");
            is_corrupt.then_some(())
        })
        .is_some();
    if is_corrupt {
        let message = format!("the response cannot be used: {}", join_causes(&error));
        return HttpError::new(ErrorKind::BadResponse, message).mark_maybe_processed();
    }
    connection_failure(&error, "the connection broke during the response")
}

/// Creates the error for a connection that broke or timed out. The request may have had its effect.
fn connection_failure(error: &reqwest::Error, description: &str) -> HttpError {
    let kind = if error.is_timeout() {
        ErrorKind::Timeout
    } else {
        ErrorKind::Unreachable
    };
    HttpError::new(kind, format!("{description}: {}", join_causes(error)))
        .with_retry_rule(RetryRule::IfSafe)
        .mark_maybe_processed()
}

/// The reason why there is no connection through a proxy.
pub(super) enum TunnelProblem {
    /// There is no connection to the proxy.
    Unreachable(String),
    /// The proxy requires credentials, or rejects those that it got.
    Credentials,
    /// The proxy responded with another status than 200.
    Refused,
    /// The proxy closed the connection without a response.
    Closed,
}

impl TunnelProblem {
    /// Returns why a connection through a proxy could not be established; `None` if the error has another cause. The
    /// error must be a failed connection of a request that uses a proxy. Requests with `http` do not use a tunnel, so
    /// their connection is always that to the proxy. The type of a tunnel's error is private, so its text is compared.
    /// The error of a SOCKS proxy does not show its cause.
    pub(super) fn from_error(error: &reqwest::Error, url: &Url) -> Option<Self> {
        if url.scheme() == "http" {
            return Some(Self::Unreachable(join_causes(error)));
        }
        find_cause(error, &|cause| match cause.to_string().as_str() {
            "tunnel error: failed to create underlying connection" => Some(Self::Unreachable(
                cause.source().map_or_else(String::new, join_error_texts),
            )),
            "SOCKS error: failed to create underlying connection" => {
                Some(Self::Unreachable("no connection".to_owned()))
            }
            "tunnel error: proxy authorization required" => Some(Self::Credentials),
            "tunnel error: unsuccessful" => Some(Self::Refused),
            "tunnel error: unexpected end of file" => Some(Self::Closed),
            _ => None,
        })
    }
}

/// Returns the failure of a connection to `url` that ended at the proxy with this address. `status` is the status with
/// which the proxy responded to the request for a tunnel, if it is known.
pub(super) fn proxy_failure(
    problem: TunnelProblem,
    address: &str,
    url: &Url,
    status: Option<StatusCode>,
) -> HttpError {
    let host = url.host_str().unwrap_or_default();
    let target = format!("{host}:{}", url.port_or_known_default().unwrap_or_default());
    let refusal_hint = format!(
        "allow {host} in the proxy, or add {host} to NO_PROXY if this machine can reach it without the proxy"
    );
    let retry_rule = tunnel_retry_rule(&problem, status);
    let (message, hint) = match problem {
        TunnelProblem::Unreachable(reason) => (
            format!("cannot connect to the proxy {address}: {reason}"),
            "check the proxy variables (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY), and that the proxy is running",
        ),
        TunnelProblem::Credentials => (
            format!("the proxy {address} requires other credentials (407 Proxy Authentication Required)"),
            "set the proxy credentials in HTTPS_PROXY or ALL_PROXY: http://user:password@host",
        ),
        TunnelProblem::Refused => {
            let mut message = format!("the proxy {address} refused the connection to {target}");
            if let Some(status) = status {
                message = format!("{message}: {}", status_line(status));
            }
            (message, refusal_hint.as_str())
        }
        TunnelProblem::Closed => (
            format!("the proxy {address} closed the connection to {target} without a response"),
            refusal_hint.as_str(),
        ),
    };
    HttpError::new(ErrorKind::Unreachable, message)
        .with_hint(hint)
        .with_retry_rule(retry_rule)
}

/// Returns the rule for a retry through the proxy. A retry cannot help if the proxy rejects the credentials or the
/// target. In all other cases it does no harm, because the request did not reach the server.
fn tunnel_retry_rule(problem: &TunnelProblem, status: Option<StatusCode>) -> RetryRule {
    let is_rejected = match problem {
        TunnelProblem::Credentials => true,
        // A status of 5xx may be a temporary problem of the proxy.
        TunnelProblem::Refused => status.is_some_and(|status| !status.is_server_error()),
        TunnelProblem::Unreachable(_) | TunnelProblem::Closed => false,
    };
    if is_rejected {
        RetryRule::Never
    } else {
        RetryRule::Always
    }
}

/// Returns the failure for an invalid or missing certificate of the server; `None` if the cause is not about a
/// certificate. Reqwest reports such a failure as a failed connection, but a retry cannot help.
fn find_certificate_failure(cause: &(dyn Error + 'static), ca_cert: Option<&CaFile>) -> Option<HttpError> {
    const OPERATOR_ADVICE: &str = "the platform's operators have to replace the server's certificate";
    let error = cause.downcast_ref::<rustls::Error>()?;
    let rustls::Error::InvalidCertificate(reason) = error else {
        let has_no_certificate = matches!(error, rustls::Error::NoCertificatesPresented);
        return has_no_certificate.then(|| certificate_failure(&error.to_string(), OPERATOR_ADVICE));
    };
    Some(match reason {
        CertificateError::ExpiredContext { time, not_after } => validity_period_failure(
            &format!("the certificate expired on {}", format_day(*not_after)),
            *time,
        ),
        CertificateError::NotValidYetContext { time, not_before } => validity_period_failure(
            &format!("the certificate is not valid before {}", format_day(*not_before)),
            *time,
        ),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            certificate_failure(
                &error.to_string(),
                "use a host name from the certificate in the URL",
            )
        }
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            unknown_issuer_failure(&error.to_string(), ca_cert)
        }
        // This error of the verifier has a private type, so it is recognized by its text.
        certificate_error if format!("{certificate_error:?}").contains("CaUsedAsEndEntity") => {
            certificate_failure(
                "this is the certificate of a certificate authority (CA:TRUE); a server must not present such a \
                 certificate as its own",
                "the platform's operators have to give the server its own certificate (CA:FALSE), which the \
                 authority signs; --ca-cert cannot make this certificate valid",
            )
        }
        _ => certificate_failure(&error.to_string(), OPERATOR_ADVICE),
    })
}

/// Creates the error for a certificate that is expired or not yet valid, with the time of the local clock.
fn validity_period_failure(reason: &str, time: UnixTime) -> HttpError {
    certificate_failure(
        &format!("{reason}; the local clock shows {}", format_day(time)),
        "check the local clock; if it is right, the platform's operators have to renew the certificate",
    )
}

/// Creates the error for a rejected certificate, with the reason and a hint.
fn certificate_failure(reason: &str, hint: &str) -> HttpError {
    let message = format!("the server's certificate was rejected: {reason}");
    HttpError::new(ErrorKind::Certificate, message).with_hint(hint)
}

/// Returns the failure for a certificate from an unknown authority. The general hint advises --ca-cert; if it is set
/// already, the hint is about the content of its file.
fn unknown_issuer_failure(reason: &str, ca_cert: Option<&CaFile>) -> HttpError {
    let Some(file) = ca_cert else {
        let message = format!("the server's certificate was rejected: {reason}");
        return HttpError::new(ErrorKind::Certificate, message);
    };
    certificate_failure(reason, &file.describe_missing_root())
}

/// Formats the day in UTC, as `2026-11-20`.
fn format_day(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).map_or_else(
        |_| format!("second {seconds} of Unix time"),
        |timestamp| timestamp.strftime("%Y-%m-%d").to_string(),
    )
}

/// Returns the first value that `examine` returns for a cause behind the error, outermost first. An I/O error does not
/// return the error that it wraps as its `source`, so it is unwrapped.
fn find_cause<T>(error: &dyn Error, examine: &impl Fn(&(dyn Error + 'static)) -> Option<T>) -> Option<T> {
    let mut next = error.source();
    while let Some(cause) = next {
        if let Some(value) = examine(cause) {
            return Some(value);
        }
        next = match cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner_error) => Some(inner_error),
            None => cause.source(),
        };
    }
    None
}

/// Joins the causes behind an error, outermost first, without causes that only repeat another one. Returns the error's
/// own text if it has no cause.
fn join_causes(error: &reqwest::Error) -> String {
    error.source().map_or_else(|| error.to_string(), join_error_texts)
}

/// Describes why there is no connection: `connection refused`, or else the texts of all causes.
fn describe_connect_failure(error: &reqwest::Error) -> String {
    let is_refused = find_cause(error, &|cause| {
        let io = cause.downcast_ref::<io::Error>()?;
        (io.kind() == io::ErrorKind::ConnectionRefused).then_some(())
    });
    match is_refused {
        Some(()) => "connection refused".to_owned(),
        None => join_causes(error),
    }
}

/// Joins the texts of an error and its causes, without texts that only repeat another one.
fn join_error_texts(error: &(dyn Error + 'static)) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(cause) = next {
        let text = cause.to_string();
        if !texts.iter().any(|earlier| earlier.contains(&text)) {
            texts.push(text);
        }
        next = cause.source();
    }
    texts.join(": ")
}
