//! Ends a run on Ctrl-C, SIGTERM or SIGHUP with the status that shells expect. SIGHUP (the terminal or the connection
//! closes) is treated as a termination.
//!
//! The command runs on a separate thread, so that an interrupt is handled at once, even while the command is deep in a
//! repository. A command that must clean up first handles the signal itself.

use crate::exit::ExitStatus;
use crate::ui::Ui;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use tokio::runtime::Builder;
use tokio::sync::{oneshot, watch};

/// Stack size for the deepest recursion of a command; the default of a thread is much smaller than that of a program.
const STACK_BYTES: usize = 16 * 1024 * 1024;

/// The receiver of the signals for a command.
#[derive(Clone)]
pub(crate) struct Signals {
    receiver: watch::Receiver<Option<ExitStatus>>,
    is_handled: Arc<AtomicBool>,
    /// What the run says when a signal ends it; empty if there is nothing to say.
    last_words: Arc<Mutex<String>>,
}

impl Signals {
    /// Waits for a signal, which from now on does not end the run, and returns the exit status that the signal causes.
    pub(crate) async fn wait(&mut self) -> ExitStatus {
        self.is_handled.store(true, Ordering::SeqCst);
        match self.receiver.wait_for(Option::is_some).await {
            Ok(status) => status.unwrap_or(ExitStatus::Interrupted),
            // The run has ended, so this status has no effect.
            Err(_) => ExitStatus::Interrupted,
        }
    }

    /// Keeps signals from ending the run: from now on, the run must be able to undo a change.
    pub(crate) fn hold(&self) {
        self.is_handled.store(true, Ordering::SeqCst);
    }

    /// Returns the exit status that a signal has caused since the start, if there was one.
    pub(crate) fn pending_status(&self) -> Option<ExitStatus> {
        *self.receiver.borrow()
    }

    /// Lets the next signal end the run again.
    pub(crate) fn release(&self) {
        self.is_handled.store(false, Ordering::SeqCst);
    }

    /// Sets what the run says from now on when a signal ends it, for example what it may have changed. An empty text
    /// ends this.
    pub(crate) fn set_last_words(&self, text: &str) {
        text.clone_into(&mut self.last_words.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Says on standard error that the signal with this status ends the run.
    fn report_end(&self, ui: Ui, status: ExitStatus) {
        ui.warn(if status == ExitStatus::Interrupted {
            "interrupted"
        } else {
            "terminated"
        });
        let last_words = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        if !last_words.is_empty() {
            ui.warn(&last_words);
        }
    }
}

/// Runs `command` and returns its exit status, or at a signal that the command does not handle, the status of that
/// signal.
pub(crate) fn run_until_signal(
    ui: Ui,
    command: impl FnOnce(Signals) -> ExitStatus + Send + 'static,
) -> ExitStatus {
    match run_on_thread(ui, command) {
        Ok(status) => status,
        Err(error) => {
            ui.warn(&format!("could not start the command: {error}"));
            ExitStatus::Usage
        }
    }
}

/// Runs the command on a separate thread with a larger stack, while this thread waits for its end or a signal. A signal
/// ends the run unless the command handles signals: such a command receives the exit status and ends the run itself.
fn run_on_thread(
    ui: Ui,
    command: impl FnOnce(Signals) -> ExitStatus + Send + 'static,
) -> io::Result<ExitStatus> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (signal_sender, receiver) = watch::channel(None);
    let is_handled = Arc::new(AtomicBool::new(false));
    let (result_sender, result_receiver) = oneshot::channel();
    let signals = Signals {
        receiver,
        is_handled: Arc::clone(&is_handled),
        last_words: Arc::default(),
    };
    let command_signals = signals.clone();
    runtime.block_on(async move {
        let mut stop_signals = StopSignals::listen()?;
        let worker = thread::Builder::new()
            .name("command".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || result_sender.send(command(command_signals)))?;
        tokio::pin!(result_receiver);
        loop {
            tokio::select! {
                status = &mut result_receiver => return Ok(status.unwrap_or_else(|_| join_failed_worker(worker))),
                status = stop_signals.next() => {
                    // Read before the signal is sent: the command may receive it and call `Signals::release` at once,
                    // and this signal would then end the run.
                    let is_handled = is_handled.load(Ordering::SeqCst);
                    let _ = signal_sender.send(Some(status));
                    if !is_handled {
                        signals.report_end(ui, status);
                        return Ok(status);
                    }
                }
            }
        }
    })
}

/// Joins a command thread that ended without a status. Such a thread panicked, and its panic continues on this thread.
/// Returns a status only for the compiler: a thread that did not panic sent its own status.
fn join_failed_worker<T>(worker: thread::JoinHandle<T>) -> ExitStatus {
    match worker.join() {
        Ok(_) => ExitStatus::Undecided,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// The signals that end a run.
#[cfg(unix)]
struct StopSignals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// `None` if the caller ignores this signal.
    hangup: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl StopSignals {
    /// Begins to listen to the signals that end a program.
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: if is_hangup_ignored() {
                None
            } else {
                Some(signal(SignalKind::hangup())?)
            },
        })
    }

    /// Waits for the next signal and returns the exit status that it causes.
    async fn next(&mut self) -> ExitStatus {
        tokio::select! {
            _ = self.interrupt.recv() => ExitStatus::Interrupted,
            _ = self.terminate.recv() => ExitStatus::Terminated,
            () = receive_if_listening(self.hangup.as_mut()) => ExitStatus::Terminated,
        }
    }
}

/// Waits for the signal; without one, waits forever.
#[cfg(unix)]
async fn receive_if_listening(signal: Option<&mut tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// Returns whether the program was started so that it ignores SIGHUP, as `nohup` does: to listen would undo this. Only
/// Linux shows it without unsafe code. On other systems, a program whose messages do not go to a terminal may be such a
/// one.
#[cfg(unix)]
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored_signals = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    match ignored_signals.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()) {
        // The lowest bit is signal 1, SIGHUP.
        Some(mask) => mask & 1 == 1,
        None => !io::IsTerminal::is_terminal(&io::stderr()),
    }
}

/// The signals that end a run.
#[cfg(not(unix))]
struct StopSignals;

#[cfg(not(unix))]
impl StopSignals {
    /// Does nothing: on this system, [`Self::next`] registers for the signal when it waits.
    #[expect(
        clippy::unnecessary_wraps,
        reason = "the function has the same signature as on Unix"
    )]
    fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for Ctrl-C, the only signal of Windows. If Ctrl-C cannot be received, waits forever, so that the command
    /// continues.
    async fn next(&mut self) -> ExitStatus {
        match tokio::signal::ctrl_c().await {
            Ok(()) => ExitStatus::Interrupted,
            Err(_) => std::future::pending().await,
        }
    }
}
