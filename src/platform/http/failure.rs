//! What a failed exchange means: reqwest tells little by type, the causes behind it tell the rest.

use super::ErrorKind;
use super::error::{Again, HttpError};
use jiff::Timestamp;
use rustls::CertificateError;
use rustls::pki_types::UnixTime;
use std::error::Error;
use std::io;

/// A failure before the head of an answer was there.
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
        .again(Again::Always);
    }
    if error.is_builder() {
        return HttpError::configuration(format!("the request cannot be made: {}", causes(&error)));
    }
    broken_off(&error, "the connection broke before the answer")
}

/// A failure while the body of an answer was read.
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
        let why = format!("the answer cannot be used: {}", causes(&error));
        return HttpError::new(ErrorKind::BadAnswer, why).maybe_processed();
    }
    broken_off(&error, "the connection broke within the answer")
}

fn broken_off(error: &reqwest::Error, what: &str) -> HttpError {
    let kind = if error.is_timeout() {
        ErrorKind::Timeout
    } else {
        ErrorKind::Unreachable
    };
    HttpError::new(kind, format!("{what}: {}", causes(error)))
        .again(Again::IfSafe)
        .maybe_processed()
}

/// A refused certificate counts as a failure to connect for reqwest, but no other try will end better.
fn certificate_problem(cause: &(dyn Error + 'static)) -> Option<HttpError> {
    let refused = |why: &str| {
        let message = format!("the server's certificate is refused: {why}");
        HttpError::new(ErrorKind::Certificate, message)
    };
    let error = cause.downcast_ref::<rustls::Error>()?;
    let outdated = |why: &str, time: UnixTime| {
        let why = format!("{why}; this machine's clock says {}", day(time));
        refused(&why).with_hint(
            "check this machine's clock; if it is right, the platform's operators have to renew the certificate",
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

/// The day in UTC, as `2026-11-20`.
fn day(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).map_or_else(
        |_| format!("second {seconds} of Unix time"),
        |at| at.strftime("%Y-%m-%d").to_string(),
    )
}

/// Looks through the causes; an I/O error hides what it wraps from `source`, so it is opened.
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

/// The causes behind an error, outermost first, without those that only repeat the next.
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
