//! Who waits for the database: one thread at a time serves all of them, and changes that wait share one commit, so that
//! one sync is enough for them. Nobody hears of a change before it is durable.

use super::StoreError;
use super::change::{Asked, Outcome, StoreChange, together};
use rusqlite::{Connection, Transaction};
use std::mem::replace;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use tokio::sync::oneshot::{Receiver, channel};

type Read = Box<dyn FnOnce(&Connection) + Send>;

/// Those who wait, in the order in which they came.
#[derive(Default)]
pub struct Queue(Mutex<QueuedWork>);

#[derive(Default)]
struct QueuedWork {
    reads: Vec<Read>,
    changes: Vec<Box<dyn StoreChange>>,
    /// Somebody is serving, or about to.
    served: bool,
}

impl Queue {
    /// Lets a read wait. If the second is true, nobody serves, and the caller must see to it.
    pub fn read<T, F>(&self, work: F) -> (Receiver<Result<T, StoreError>>, bool)
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let (sender, receiver) = channel();
        let read = move |connection: &Connection| {
            // Nobody may be left to hear it.
            let _ = sender.send(work(connection).map_err(StoreError::from));
        };
        (receiver, self.join(|waiting| waiting.reads.push(Box::new(read))))
    }

    /// Lets a change wait, as [`Queue::read`] does.
    pub fn change<T, R, F>(&self, work: F) -> (Receiver<Outcome<T, R>>, bool)
    where
        T: Send + 'static,
        R: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<Result<T, R>> + Send + 'static,
    {
        let (change, receiver) = Asked::change(work);
        (receiver, self.join(|waiting| waiting.changes.push(change)))
    }

    fn join(&self, wait: impl FnOnce(&mut QueuedWork)) -> bool {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        wait(&mut waiting);
        !replace(&mut waiting.served, true)
    }

    /// Serves until nobody waits. Reads come first, so they see only what is durable.
    pub fn serve(&self, connection: &Mutex<Connection>) {
        loop {
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(mut next) = self.next() else {
                return;
            };
            for read in next.reads {
                // Who asked is told by the sender that is dropped.
                let _ = catch_unwind(AssertUnwindSafe(|| read(&connection)));
            }
            let kept = together(&mut connection, &mut next.changes);
            drop(connection);
            for change in next.changes {
                change.answer(kept.clone());
            }
        }
    }

    /// How many wait.
    #[cfg(test)]
    pub fn waiting(&self) -> usize {
        let waiting = self.0.lock().unwrap();
        waiting.reads.len() + waiting.changes.len()
    }

    fn next(&self) -> Option<QueuedWork> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let served = !(waiting.reads.is_empty() && waiting.changes.is_empty());
        let nobody = QueuedWork {
            served,
            ..QueuedWork::default()
        };
        let next = replace(&mut *waiting, nobody);
        served.then_some(next)
    }
}
