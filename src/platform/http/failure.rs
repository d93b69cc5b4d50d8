//! Classifies failed exchanges. The type of a reqwest error says little, so the causes behind it are examined.

use super::ErrorKind;
use super::error::{HttpError, RetryRule};
use jiff::Timestamp;
use rustls::CertificateError;
use rustls::pki_types::UnixTime;
use std::error::Error;
use std::io;

/// Returns the failure of a request that ended before the head of a response arrived.
pub(super) fn before_answer(error: reqwest::Error) -> HttpError {
    let error = error.without_url();
    if let Some(why) = find_cause(&error, &certificate_problem) {
        return why;
    }
    if error.is_connect() {
        return HttpError::new(
            ErrorKind::Unreachable,
            format!("cannot connect: {}", causes(&error)),
        )
        .again(RetryRule::Always);
    }
    if error.is_builder() {
        return HttpError::configuration(format!("could not build the request: {}", causes(&error)));
    }
    broken_off(&error, "the connection broke before the response")
}

/// Returns the failure of a request whose response body could not be read.
pub(super) fn within_answer(error: reqwest::Error) -> HttpError {
    let error = error.without_url();
    let corrupt = error.is_decode()
        && find_cause(&error, &|cause| {
            let io = cause.downcast_ref::<io::Error>()?;
            matches!(
                io.kind(),
                io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput
            )
            .then_some(())
        })
        .is_some();
    if corrupt {
        let why = format!("the response cannot be used: {}", causes(&error));
        return HttpError::new(ErrorKind::BadAnswer, why).maybe_processed();
    }
    broken_off(&error, "the connection broke during the response")
}

fn broken_off(error: &reqwest::Error, what: &str) -> HttpError {
    let kind = if error.is_timeout() {
        ErrorKind::Timeout
    } else {
        ErrorKind::Unreachable
    };
    HttpError::new(kind, format!("{what}: {}", causes(error)))
        .again(RetryRule::IfSafe)
        .maybe_processed()
}

/// Returns the failure for an invalid certificate. Reqwest reports it as a connection failure, but a retry cannot help.
fn certificate_problem(cause: &(dyn Error + 'static)) -> Option<HttpError> {
    let refused = |why: &str| {
        let message = format!("the server's certificate was rejected: {why}");
        HttpError::new(ErrorKind::Certificate, message)
    };
    let error = cause.downcast_ref::<rustls::Error>()?;
    let outdated = |why: &str, time: UnixTime| {
        let why = format!("{why}; the local clock shows {}", day(time));
        refused(&why).with_hint(
            "check the local clock; if it is right, the platform's operators have to renew the certificate",
        )
    };
    match error {
        rustls::Error::InvalidCertificate(CertificateError::ExpiredContext { time, not_after }) => {
            Some(outdated(&format!("it expired on {}", day(*not_after)), *time))
        }
        rustls::Error::InvalidCertificate(CertificateError::NotValidYetContext { time, not_before }) => {
            let why = format!("it is not valid before {}", day(*not_before));
            Some(outdated(&why, *time))
        }
        rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => {
            Some(refused(&error.to_string()))
        }
        _ => None,
    }
}

/// Formats the day in UTC, as `2026-11-20`.
fn day(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).map_or_else(
        |_| format!("second {seconds} of Unix time"),
        |at| at.strftime("%Y-%m-%d").to_string(),
    )
}

/// Searches the causes. An I/O error hides the error that it wraps from `source`, so it is unwrapped.
fn find_cause<T>(error: &dyn Error, found: &impl Fn(&(dyn Error + 'static)) -> Option<T>) -> Option<T> {
    let mut next = error.source();
    while let Some(cause) = next {
        if let Some(value) = found(cause) {
            return Some(value);
        }
        next = match cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => cause.source(),
        };
    }
    None
}

/// Joins the causes behind an error, outermost first, without those that only repeat another one.
fn causes(error: &reqwest::Error) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        if !texts.iter().any(|earlier| earlier.contains(&text)) {
            texts.push(text);
        }
        next = cause.source();
    }
    if texts.is_empty() {
        error.to_string()
    } else {
        texts.join(": ")
    }
}
