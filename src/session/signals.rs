//! Ends a run on Ctrl-C or SIGTERM with the status that shells expect.
//!
//! The command runs on a separate thread, so that an interrupt is handled at once, even while the command is deep in a
//! repository. A command that must clean up first handles the signal itself.

use crate::exit::ExitStatus;
use crate::ui::Ui;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use tokio::runtime::Builder;
use tokio::sync::{oneshot, watch};

/// Stack size for the deepest recursion of a command; the default of a thread is much smaller than that of a program.
const STACK: usize = 16 * 1024 * 1024;

/// The signals, as a command receives them.
#[derive(Clone)]
pub(crate) struct Signals {
    received: watch::Receiver<Option<ExitStatus>>,
    taken: Arc<AtomicBool>,
}

impl Signals {
    /// Waits for a signal instead of being terminated by it; returns the exit status.
    pub(crate) async fn take(&mut self) -> ExitStatus {
        self.taken.store(true, Ordering::SeqCst);
        match self.received.wait_for(Option::is_some).await {
            Ok(status) => status.unwrap_or(ExitStatus::Interrupted),
            Err(_) => ExitStatus::Interrupted,
        }
    }

    /// Lets the next signal end the run again.
    pub(crate) fn release(&self) {
        self.taken.store(false, Ordering::SeqCst);
    }
}

/// Runs `command`, and ends it at a signal that it does not handle.
pub(crate) fn guard(ui: Ui, command: impl FnOnce(Signals) -> ExitStatus + Send + 'static) -> ExitStatus {
    match watch_over(ui, command) {
        Ok(status) => status,
        Err(error) => {
            ui.warn(&format!("could not start the command: {error}"));
            ExitStatus::Usage
        }
    }
}

fn watch_over(
    ui: Ui,
    command: impl FnOnce(Signals) -> ExitStatus + Send + 'static,
) -> io::Result<ExitStatus> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (sender, received) = watch::channel(None);
    let taken = Arc::new(AtomicBool::new(false));
    let (done, finished) = oneshot::channel();
    let signals = Signals {
        received,
        taken: Arc::clone(&taken),
    };
    let work = move || done.send(command(signals));
    runtime.block_on(async move {
        let mut stops = Stops::listen()?;
        let worker = thread::Builder::new()
            .name("command".to_owned())
            .stack_size(STACK)
            .spawn(work)?;
        tokio::pin!(finished);
        loop {
            tokio::select! {
                status = &mut finished => return Ok(status.unwrap_or_else(|_| died(worker))),
                status = stops.next() => {
                    // Read before the signal is sent: the command may handle it and release the next signal at once.
                    let taken = taken.load(Ordering::SeqCst);
                    let _ = sender.send(Some(status));
                    if !taken {
                        ui.warn(if status == ExitStatus::Interrupted { "interrupted" } else { "terminated" });
                        return Ok(status);
                    }
                }
            }
        }
    })
}

/// Handles a command thread that ended without a status: it panicked, and the panic continues here.
fn died<T>(worker: thread::JoinHandle<T>) -> ExitStatus {
    match worker.join() {
        Ok(_) => ExitStatus::Undecided,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// The signals that end a run.
#[cfg(unix)]
struct Stops {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Stops {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) -> ExitStatus {
        tokio::select! {
            _ = self.interrupt.recv() => ExitStatus::Interrupted,
            _ = self.terminate.recv() => ExitStatus::Terminated,
        }
    }
}

/// The signals that end a run.
#[cfg(not(unix))]
struct Stops;

#[cfg(not(unix))]
impl Stops {
    #[expect(clippy::unnecessary_wraps, reason = "the same shape as on Unix")]
    fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> ExitStatus {
        match tokio::signal::ctrl_c().await {
            Ok(()) => ExitStatus::Interrupted,
            Err(_) => std::future::pending().await,
        }
    }
}
