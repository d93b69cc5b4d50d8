//! Reports waits, so that no wait is silent, and records whether the server responds.

use super::response::find_server_time;
use reqwest::header::HeaderMap;
use sluicegate_base::mutex_lock::lock_mutex;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// Time without progress after which a wait is reported.
pub(crate) const SILENCE_LIMIT: Duration = Duration::from_secs(2);

/// Receives a sentence for each wait and each retry, with its reason. The texts contain the server's messages
/// unchanged; the code that shows them has to escape them. Also records facts about the server's responses.
#[derive(Clone, Default)]
pub struct Observer {
    listener: Option<Arc<Listener>>,
    response_flag: Arc<AtomicBool>,
    server_time: Arc<Mutex<Option<SystemTime>>>,
    pending_changes: PendingChanges,
}

/// The requests that may change something on the server and have no result yet, so that a run that ends now can name
/// them. Clones share the list.
#[derive(Clone, Default)]
pub struct PendingChanges(Arc<Mutex<Vec<String>>>);

impl PendingChanges {
    /// Returns the method and the URL of each request.
    pub fn list(&self) -> Vec<String> {
        lock_mutex(&self.0).clone()
    }

    /// Adds a request, until the returned value is dropped.
    fn add(&self, subject: String) -> PendingChange {
        lock_mutex(&self.0).push(subject.clone());
        PendingChange {
            changes: self.clone(),
            subject,
        }
    }
}

/// A request in the list of pending changes; removes itself when it is dropped.
pub(super) struct PendingChange {
    changes: PendingChanges,
    subject: String,
}

impl Drop for PendingChange {
    fn drop(&mut self) {
        let mut subjects = lock_mutex(&self.changes.0);
        if let Some(index) = subjects.iter().position(|subject| *subject == self.subject) {
            subjects.remove(index);
        }
    }
}

type Listener = dyn Fn(&str) + Send + Sync;

impl Observer {
    /// Creates an observer that passes each sentence to `listener`.
    pub fn new(listener: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self {
            listener: Some(Arc::new(listener)),
            ..Self::default()
        }
    }

    /// Uses this flag to record that the server has responded (see [`Self::has_responded`]). Several clients of one
    /// server can share the flag.
    #[must_use]
    pub fn with_response_flag(self, response_flag: Arc<AtomicBool>) -> Self {
        Self {
            response_flag,
            ..self
        }
    }

    /// Uses this list to record the requests that may change something. Several clients can share the list.
    #[must_use]
    pub fn with_pending_changes(self, pending_changes: PendingChanges) -> Self {
        Self {
            pending_changes,
            ..self
        }
    }

    /// Records a request that may change something, until the returned value is dropped.
    pub(super) fn record_change(&self, subject: String) -> PendingChange {
        self.pending_changes.add(subject)
    }

    /// Returns whether the server has responded to any request with a token, with a status below 500.
    pub fn has_responded(&self) -> bool {
        self.response_flag.load(Ordering::Relaxed)
    }

    /// Returns the time of the last response to a request with a token, by the server's clock. Returns `None` if that
    /// response has no usable date.
    pub fn server_time(&self) -> Option<SystemTime> {
        *lock_mutex(&self.server_time)
    }

    /// Records that the server has responded to a request with a token, and the time of the response by the server's
    /// clock.
    pub(super) fn record_response(&self, headers: &HeaderMap) {
        self.response_flag.store(true, Ordering::Relaxed);
        *lock_mutex(&self.server_time) = find_server_time(headers);
    }

    /// Passes a sentence about the state of a request to the log, and to the listener if there is one.
    pub(super) fn report(&self, sentence: &str) {
        tracing::info!("{sentence}");
        if let Some(listener) = &self.listener {
            listener(sentence);
        }
    }

    /// Awaits `work` and returns its outcome. Reports `description` once if it takes longer than `SILENCE_LIMIT`.
    pub async fn await_with_report<T>(
        &self,
        work: impl Future<Output = T>,
        description: impl FnOnce() -> String,
    ) -> T {
        self.await_with_report_after(work, tokio::time::sleep(SILENCE_LIMIT), description)
            .await
    }

    /// Awaits `work` and returns its outcome. Reports `description` once if `silence` ends first.
    pub(crate) async fn await_with_report_after<T>(
        &self,
        work: impl Future<Output = T>,
        silence: impl Future<Output = ()>,
        description: impl FnOnce() -> String,
    ) -> T {
        let mut work = pin!(work);
        tokio::select! {
            biased;
            outcome = &mut work => return outcome,
            () = silence => self.report(&description()),
        }
        work.await
    }
}

impl fmt::Debug for Observer {
    /// Writes only the name of the type, because a listener cannot be printed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}
