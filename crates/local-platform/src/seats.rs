//! Limits the number of simultaneous connections. If no seat is free, the connection that has been idle longest is
//! closed.
//!
//! A client therefore cannot block others by opening connections and sending nothing, or half of a request's headers,
//! or by not reading a response. A connection is never closed while its request is being answered; it is idle as soon
//! as the response exists, even if the client has not read it yet.

use sluicegate_base::mutex_lock::lock_mutex;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Minimum idle time before a connection can be closed: enough for a request to arrive.
const MIN_IDLE_TIME: Duration = Duration::from_millis(50);

/// Time to wait for a free seat before looking for an idle connection again.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Debug, Clone)]
pub(super) struct Seats {
    free: Arc<Semaphore>,
    idle: Arc<Mutex<IdleConnections>>,
}

/// The idle connections, in the order in which they became idle. Each has a number that only grows, the time at which
/// it became idle, and the signal that closes it.
#[derive(Debug, Default)]
struct IdleConnections {
    last_number: u64,
    connections: BTreeMap<u64, (Instant, Arc<Notify>)>,
}

/// The seat of a connection; it becomes free when it is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    seats: Seats,
    close_signal: Arc<Notify>,
    /// The key in [`IdleConnections::connections`], or `None` while a request is in progress.
    idle_number: Mutex<Option<u64>>,
    /// Occupies one of the connections until the permit is dropped.
    _permit: OwnedSemaphorePermit,
}

impl Seats {
    /// Creates seats for this number of connections.
    pub(super) fn new(number: usize) -> Self {
        Self {
            free: Arc::new(Semaphore::new(number)),
            idle: Arc::default(),
        }
    }

    /// Waits for a free seat and returns it. While no seat is free, closes the connections that have been idle longest.
    pub(super) async fn take_seat(&self) -> Seat {
        loop {
            if let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() {
                return self.occupy_seat(permit);
            }
            self.close_longest_idle_connection();
            let free = Arc::clone(&self.free).acquire_owned();
            // Tries again at intervals, because a connection may become idle. The semaphore is never closed.
            if let Ok(Ok(permit)) = timeout(RETRY_INTERVAL, free).await {
                return self.occupy_seat(permit);
            }
        }
    }

    /// Assigns a seat to a new connection. The connection is idle until its first request.
    fn occupy_seat(&self, permit: OwnedSemaphorePermit) -> Seat {
        let seat = Seat {
            seats: self.clone(),
            close_signal: Arc::default(),
            idle_number: Mutex::default(),
            _permit: permit,
        };
        seat.mark_idle();
        seat
    }

    /// Tells the connection that has been idle longest to close, so that its seat becomes free. Does nothing if no
    /// connection is idle. Also does nothing if this connection became idle less than [`MIN_IDLE_TIME`] ago, because
    /// its request may just be arriving.
    pub(super) fn close_longest_idle_connection(&self) {
        let mut idle = lock_state(&self.idle);
        let Some(first) = idle.connections.first_entry() else {
            return;
        };
        let (idle_since, close_signal) = first.get();
        if idle_since.elapsed() >= MIN_IDLE_TIME {
            close_signal.notify_one();
            first.remove();
        }
    }
}

impl Seat {
    /// Marks the connection as idle, so that it may be closed in favor of a new connection.
    pub(super) fn mark_idle(&self) {
        let mut idle = lock_state(&self.seats.idle);
        idle.last_number += 1;
        let number = idle.last_number;
        idle.connections
            .insert(number, (Instant::now(), Arc::clone(&self.close_signal)));
        *lock_state(&self.idle_number) = Some(number);
    }

    /// Marks the connection as busy with a request. Returns false if the connection was already told to close.
    pub(super) fn mark_busy(&self) -> bool {
        let mut idle = lock_state(&self.seats.idle);
        let number = lock_state(&self.idle_number).take();
        // Without a number, the connection is already marked as busy. If its number is no longer in the list, it was
        // told to close.
        number.is_none_or(|number| idle.connections.remove(&number).is_some())
    }

    /// Waits until the connection is told to close.
    pub(super) async fn wait_for_close(&self) {
        self.close_signal.notified().await;
    }
}

impl Drop for Seat {
    /// Removes the ended connection from the list of idle connections.
    fn drop(&mut self) {
        self.mark_busy();
    }
}

/// Locks a mutex, even if a thread panicked while it held the lock. Each change is a single step, so the state is
/// always consistent.
fn lock_state<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    lock_mutex(mutex)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::task::Poll;

    /// Returns whether a connection was told to close.
    async fn is_sent_away(seat: &Seat) -> bool {
        let mut away = Box::pin(seat.wait_for_close());
        poll_fn(|context| Poll::Ready(away.as_mut().poll(context).is_ready())).await
    }

    #[tokio::test]
    async fn connection_that_is_idle_longest_is_closed_for_new_one() {
        let seats = Seats::new(3);
        let (first, second, third) = (
            seats.take_seat().await,
            seats.take_seat().await,
            seats.take_seat().await,
        );
        assert!(first.mark_busy());
        third.mark_idle();
        let waiting = tokio::spawn({
            let seats = seats.clone();
            async move { seats.take_seat().await }
        });
        second.wait_for_close().await;
        assert!(!second.mark_busy(), "what was sent away takes no request");
        drop(second);
        let fourth = waiting.await.unwrap();
        assert!(!is_sent_away(&first).await && !is_sent_away(&third).await && !is_sent_away(&fourth).await);
    }

    #[tokio::test]
    async fn busy_connection_keeps_its_seat_until_it_ends() {
        let seats = Seats::new(1);
        let only = seats.take_seat().await;
        assert!(only.mark_busy());
        let waited = timeout(3 * MIN_IDLE_TIME, seats.take_seat()).await;
        assert!(waited.is_err() && !is_sent_away(&only).await);
        drop(only);
        seats.take_seat().await;
        assert!(lock_state(&seats.idle).connections.is_empty());
    }
}
