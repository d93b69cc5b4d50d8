//! The waits between polls, and their deadline.

use crate::http::{HttpError, await_until};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Time limit for a response that is requested at the deadline.
const DEADLINE_GRACE: Duration = Duration::from_secs(2);

/// Waits that grow by half each time, up to a limit, within a deadline.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    first_wait: Duration,
    next_wait: Duration,
    limit: Duration,
    deadline: Option<Instant>,
}

impl Pace {
    /// Ratio of the longest wait to the first.
    const MAX_GROWTH: u32 = 15;

    /// Creates a pace whose first wait takes `first`, with a deadline after `limit`; without a deadline if the limit is
    /// too long for the clock.
    pub fn new(first: Duration, limit: Duration) -> Self {
        Self {
            first_wait: first,
            next_wait: first,
            limit,
            deadline: Instant::now().checked_add(limit),
        }
    }

    /// Returns the total time from the start to the deadline.
    pub const fn limit(&self) -> Duration {
        self.limit
    }

    /// Waits for a response until the deadline, or until `DEADLINE_GRACE` from now if that is later, because the last
    /// poll is sent at the deadline. Fails if no response arrived in time; the error names the pending request.
    pub async fn await_before_deadline<T>(&self, response: impl Future<Output = T>) -> Result<T, HttpError> {
        let Some(deadline) = self.deadline else {
            return Ok(response.await);
        };
        await_until(deadline.max(Instant::now() + DEADLINE_GRACE), response).await
    }

    /// Waits until it is time for the next poll. Returns false without waiting if the deadline has passed. The last
    /// wait ends at the deadline, so that there is one more poll then.
    pub async fn pause(&mut self) -> bool {
        match self.take_wait_within_deadline(Instant::now()) {
            None => false,
            Some(wait) => {
                sleep(wait).await;
                true
            }
        }
    }

    /// Returns how long to wait until the next poll, at most until the deadline, or `None` if the deadline has passed.
    fn take_wait_within_deadline(&mut self, now: Instant) -> Option<Duration> {
        let remaining_time = self
            .deadline
            .map(|deadline| deadline.saturating_duration_since(now));
        (remaining_time != Some(Duration::ZERO))
            .then(|| self.take_wait().min(remaining_time.unwrap_or(Duration::MAX)))
    }

    /// Starts again with the shortest wait, because something has just happened. The deadline does not change.
    pub(crate) fn reset_wait(&mut self) {
        self.next_wait = self.first_wait;
    }

    /// Returns the next wait. The wait after it will be longer by half, up to [`Self::MAX_GROWTH`] times the first.
    fn take_wait(&mut self) -> Duration {
        let wait = self.next_wait;
        self.next_wait = (wait + wait / 2).min(self.first_wait * Self::MAX_GROWTH);
        wait
    }
}

/// Sends a request that changes something, and waits for its response: until the deadline of `pace`, or without a
/// deadline if there is no `pace`. If no response arrives in time, the error states that the change may have had its
/// effect.
pub async fn send_change<T>(
    pace: Option<&Pace>,
    change: impl Future<Output = Result<T, HttpError>>,
) -> Result<T, HttpError> {
    let Some(pace) = pace else {
        return change.await;
    };
    pace.await_before_deadline(change)
        .await
        .unwrap_or_else(|error| Err(error.mark_maybe_processed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_a_limit_and_begin_anew() {
        let mut pace = Pace::new(Duration::from_secs(2), Duration::from_secs(3600));
        let steps: Vec<f64> = (0..9).map(|_| pace.take_wait().as_secs_f64()).collect();
        assert_eq!(steps[..4], [2.0, 3.0, 4.5, 6.75]);
        assert!((steps[8] - 30.0).abs() < f64::EPSILON, "{steps:?}");
        pace.reset_wait();
        assert_eq!(pace.take_wait(), Duration::from_secs(2));
    }

    #[test]
    fn last_wait_ends_at_deadline() {
        let mut pace = Pace::new(Duration::from_secs(4), Duration::from_secs(9));
        let deadline = pace.deadline.unwrap();
        let before = |seconds| deadline - Duration::from_secs(seconds);
        assert_eq!(
            pace.take_wait_within_deadline(before(9)),
            Some(Duration::from_secs(4))
        );
        assert_eq!(
            pace.take_wait_within_deadline(before(5)),
            Some(Duration::from_secs(5))
        );
        assert_eq!(pace.take_wait_within_deadline(deadline), None);
    }
}
