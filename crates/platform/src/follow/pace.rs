//! The waits between polls, and their deadline.

use super::silent;
use crate::http::HttpError;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// Time limit for a response that is requested at the deadline.
const LAST_MOMENT: Duration = Duration::from_secs(2);

/// Waits that grow by half each time, up to a limit, within a deadline.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    first: Duration,
    next: Duration,
    limit: Duration,
    deadline: Option<Instant>,
}

impl Pace {
    /// Ratio of the longest wait to the first.
    const GROWTH: u32 = 15;

    /// Starts with waits of `first` and ends after `limit`.
    pub fn new(first: Duration, limit: Duration) -> Self {
        Self {
            first,
            next: first,
            limit,
            deadline: Instant::now().checked_add(limit),
        }
    }

    /// Returns the total time from the start to the deadline.
    pub const fn limit(&self) -> Duration {
        self.limit
    }

    /// Returns the response if it arrives in time: a response that hangs is not awaited beyond the deadline. A request
    /// at the deadline itself still gets `LAST_MOMENT`.
    pub async fn in_time<T>(&self, answer: impl Future<Output = T>) -> Option<T> {
        let Some(deadline) = self.deadline else {
            return Some(answer.await);
        };
        let end = deadline.max(Instant::now() + LAST_MOMENT);
        timeout_at(end, answer).await.ok()
    }

    /// Waits until the next poll; returns false if the deadline has passed. The last wait ends at the deadline, so that
    /// there is one more poll at that time.
    pub async fn pause(&mut self) -> bool {
        match self.wait(Instant::now()) {
            None => false,
            Some(wait) => {
                sleep(wait).await;
                true
            }
        }
    }

    fn wait(&mut self, now: Instant) -> Option<Duration> {
        let left = self
            .deadline
            .map(|deadline| deadline.saturating_duration_since(now));
        (left != Some(Duration::ZERO)).then(|| self.step().min(left.unwrap_or(Duration::MAX)))
    }

    /// Restarts with short waits, as something has just happened.
    pub(crate) fn hasten(&mut self) {
        self.next = self.first;
    }

    fn step(&mut self) -> Duration {
        let step = self.next;
        self.next = (step + step / 2).min(self.first * Self::GROWTH);
        step
    }
}

/// Sends a change whose effect is then waited for, within the same deadline; `None` means no deadline.
pub async fn changed_in_time<T>(
    pace: Option<&Pace>,
    change: impl Future<Output = Result<T, HttpError>>,
) -> Result<T, HttpError> {
    let Some(pace) = pace else {
        return change.await;
    };
    let answer = pace.in_time(change).await;
    answer.unwrap_or_else(|| Err(silent().maybe_processed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_a_limit_and_begin_anew() {
        let mut pace = Pace::new(Duration::from_secs(2), Duration::from_secs(3600));
        let steps: Vec<f64> = (0..9).map(|_| pace.step().as_secs_f64()).collect();
        assert_eq!(steps[..4], [2.0, 3.0, 4.5, 6.75]);
        assert!((steps[8] - 30.0).abs() < f64::EPSILON, "{steps:?}");
        pace.hasten();
        assert_eq!(pace.step(), Duration::from_secs(2));
    }

    #[test]
    fn last_wait_ends_at_deadline() {
        let mut pace = Pace::new(Duration::from_secs(4), Duration::from_secs(9));
        let deadline = pace.deadline.unwrap();
        let before = |seconds| deadline - Duration::from_secs(seconds);
        assert_eq!(pace.wait(before(9)), Some(Duration::from_secs(4)));
        assert_eq!(pace.wait(before(5)), Some(Duration::from_secs(5)));
        assert_eq!(pace.wait(deadline), None);
    }
}
