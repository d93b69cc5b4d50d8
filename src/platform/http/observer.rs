//! Who is told that something is waited for, so that no wait is a silent one.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

/// How long nothing may happen before it is said what is waited for.
pub(super) const SILENCE: Duration = Duration::from_secs(2);

/// Is told, in a sentence each, of waits and of retries with their reasons. The texts hold the server's words as they
/// came; whoever shows them makes them safe.
#[derive(Clone, Default)]
pub struct Observer(Option<Arc<Listener>>);

type Listener = dyn Fn(&str) + Send + Sync;

impl Observer {
    /// One that passes each sentence on.
    pub fn new(told: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(told)))
    }

    pub(super) fn say(&self, sentence: &str) {
        tracing::info!("{sentence}");
        if let Some(told) = &self.0 {
            told(sentence);
        }
    }

    /// The outcome of `work`; says `what` once if it takes longer than silence may.
    pub async fn waiting<T>(&self, work: impl Future<Output = T>, what: impl FnOnce() -> String) -> T {
        self.during(work, tokio::time::sleep(SILENCE), what).await
    }

    /// The outcome of `work`; says `what` once if `silence` is over before it.
    pub(super) async fn during<T>(
        &self,
        work: impl Future<Output = T>,
        silence: impl Future<Output = ()>,
        what: impl FnOnce() -> String,
    ) -> T {
        let mut work = pin!(work);
        tokio::select! {
            biased;
            outcome = &mut work => return outcome,
            () = silence => self.say(&what()),
        }
        work.await
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}
