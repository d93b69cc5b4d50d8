//! Decides when a request is sent again, and how long to wait before.
//!
//! Each call states whether it is idempotent; the method does not show it: the review is a POST and may be repeated, a
//! publish is a POST and must not be.

use super::error::RetryRule;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use std::time::{Duration, SystemTime};

/// Whether a second execution of a call does harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// No harm: reads, reviews, setting a value.
    Safe,
    /// The server rejects a second execution, and the caller expects that its own first request caused the conflict.
    RejectedByServer,
    /// The call creates a resource: repeat it only if the first request was certainly not processed.
    OnlyIfUnprocessed,
}

impl Repeat {
    /// Returns whether the request may be sent again after an error with this rule.
    pub(super) fn allows(self, retry_rule: RetryRule) -> bool {
        match retry_rule {
            RetryRule::Never => false,
            RetryRule::IfSafe => self == Self::Safe,
            RetryRule::UnlessDoubled => self != Self::OnlyIfUnprocessed,
            RetryRule::Always => true,
        }
    }
}

/// The waits before repeated requests.
#[derive(Debug, Clone, Copy)]
pub struct Delays {
    /// Maximum wait before the first retry; doubles with each further one.
    pub base: Duration,
    /// Upper limit of the doubling.
    pub max: Duration,
    /// Maximum wait that is accepted from a server's `Retry-After`.
    pub max_requested: Duration,
}

impl Default for Delays {
    fn default() -> Self {
        Self {
            base: Duration::from_millis(500),
            max: Duration::from_secs(30),
            max_requested: Duration::from_secs(120),
        }
    }
}

impl Delays {
    /// Returns the wait before retry number `retry` (from 0): a random part of a limit that doubles, so that many
    /// clients do not come back at the same time. It is at least the wait that the server requested, up to
    /// `max_requested`.
    pub(super) fn delay_before(&self, retry: u32, requested_delay: Option<Duration>) -> Duration {
        let random_delay = self.max_delay(retry).mul_f64(fastrand::f64());
        random_delay.max(requested_delay.unwrap_or_default().min(self.max_requested))
    }

    /// Returns the limit of the random wait before retry number `retry`.
    fn max_delay(&self, retry: u32) -> Duration {
        self.base
            .saturating_mul(2_u32.saturating_pow(retry))
            .min(self.max)
    }
}

/// Returns the wait from `now` that the header `Retry-After` requests, in seconds or with a date; `None` if there is no
/// valid header. A date in the past is a wait of zero, and a number that is too large is the longest wait. See
/// <https://www.rfc-editor.org/rfc/rfc9110#field.retry-after>.
pub(super) fn parse_retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// Returns the rule for repeating a request that got this status (not 2xx). A request was certainly not processed only
/// after 429: a gateway that lost the server's response may also send 503 with a delay.
pub(super) fn retry_rule_for(status: StatusCode, requested_delay: Option<Duration>) -> RetryRule {
    match status.as_u16() {
        429 => RetryRule::Always,
        503 if requested_delay.is_some() => RetryRule::UnlessDoubled,
        408 | 425 | 500 | 502 | 503 | 504 => RetryRule::IfSafe,
        // Statuses of a single proxy vendor, such as 520 to 527, are server failures of an unknown kind.
        500..600 if status.canonical_reason().is_none() => RetryRule::IfSafe,
        _ => RetryRule::Never,
    }
}

/// Returns whether a request that got this status (not 2xx) may have had its effect: a server may fail or time out
/// (408) after it did the work, and it may respond to a POST with 301 to 303 to show the result. After 307, 308 and any
/// other 4xx, the request was certainly not processed.
pub(super) fn may_have_effect(status: StatusCode) -> bool {
    match status.as_u16() {
        307 | 308 => false,
        408 => true,
        code => !(400..500).contains(&code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use reqwest::header::HeaderValue;

    fn asked(value: &'static str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_static(value));
        // 2026-11-20T09:30:00Z
        parse_retry_after(
            &headers,
            SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_167_000),
        )
    }

    #[test]
    fn retry_after_in_both_forms() {
        assert_eq!(asked("7"), Some(Duration::from_secs(7)));
        assert_eq!(
            asked("Fri, 20 Nov 2026 09:30:42 GMT"),
            Some(Duration::from_secs(42))
        );
        assert_eq!(asked("Fri, 20 Nov 2026 09:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(asked("soon"), None);
        assert_eq!(asked("-1"), None);
        assert_eq!(asked(""), None);
    }

    #[test]
    fn retry_after_that_is_too_large_is_the_longest_wait() {
        let longest = Some(Duration::from_secs(u64::MAX));
        assert_eq!(asked("18446744073709551615"), longest);
        assert_eq!(asked("99999999999999999999"), longest);
    }

    #[test]
    fn requested_delay_is_kept_and_bounded() {
        let delays = Delays::default();
        assert!(delays.delay_before(0, Some(Duration::from_secs(60))) == Duration::from_secs(60));
        assert!(delays.delay_before(0, Some(Duration::from_secs(86_400))) == Duration::from_secs(120));
    }

    #[test]
    fn limit_doubles_up_to_maximum() {
        let limits: Vec<u128> = (0..9)
            .map(|n| Delays::default().max_delay(n).as_millis())
            .collect();
        assert_eq!(
            limits,
            [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]
        );
    }

    #[test]
    fn creating_requests_are_repeated_only_when_surely_unprocessed() {
        let repeated = |status: u16, asked: Option<Duration>| {
            let again = retry_rule_for(StatusCode::from_u16(status).unwrap(), asked);
            [Repeat::Safe, Repeat::RejectedByServer, Repeat::OnlyIfUnprocessed]
                .map(|repeat| repeat.allows(again))
        };
        for status in [408, 425, 500, 502, 503, 504, 509, 520, 522, 524, 599] {
            assert_eq!(repeated(status, None), [true, false, false], "{status}");
        }
        assert_eq!(repeated(429, None), [true; 3]);
        assert_eq!(repeated(503, Some(Duration::ZERO)), [true, true, false]);
        for status in [300, 400, 401, 403, 404, 405, 409, 410, 413, 422, 501, 505, 511] {
            assert_eq!(repeated(status, None), [false; 3], "{status}");
        }
    }

    proptest! {
        #[test]
        fn waits_stay_within_their_bounds(retry: u32, seconds in proptest::option::of(any::<u64>())) {
            let wait = Delays::default().delay_before(retry, seconds.map(Duration::from_secs));
            prop_assert!(wait <= Duration::from_secs(120));
            prop_assert!(seconds.is_some() || wait <= Duration::from_secs(30));
        }
    }
}
