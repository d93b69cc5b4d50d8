//! Ends a run on Ctrl-C, SIGTERM or SIGHUP with the status that shells expect. SIGHUP (the terminal or the connection
//! closes) is treated as a termination.
//!
//! The command runs on a separate thread, so that an interrupt is handled at once, even while the command is deep in a
//! repository. A command that must clean up first handles the signal itself.

use crate::atomic_file;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::session::worker_threads::RAISE_LIMITS_HINT;
use crate::ui::Ui;
use sluicegate_base::mutex_lock::lock_mutex;
use sluicegate_platform::http::PendingChanges;
use sluicegate_reports::AnnotationStyle;
use std::any::Any;
use std::io::{self, Write as _};
use std::mem;
use std::sync::{Arc, Mutex};
use std::thread;
use tokio::runtime::Builder;
use tokio::sync::{Notify, oneshot, watch};

/// Number of pipes with as many files as a runtime opens to wait for signals and events, or more.
const SPARE_PIPE_COUNT: usize = 4;

/// The name of the thread of the command.
const COMMAND_THREAD: &str = "command";

/// The message after that of a panic, which ends the run with exit code 101.
const DEFECT_MESSAGE: &str = "error: sluicegate stopped because of a defect in its own code\n\
     hint: report the defect together with the message above";

/// Stack size for the deepest recursion of a command; the default of a thread is much smaller than that of a program.
const STACK_BYTES: usize = 16 * 1024 * 1024;

/// The receiver of the signals for a command.
#[derive(Clone)]
pub(crate) struct Signals {
    receiver: watch::Receiver<Option<ExitStatus>>,
    /// True if the command handles signals. Stays locked once a signal ends the run, so that [`Self::hold`] does not
    /// return afterwards.
    is_handled: Arc<Mutex<bool>>,
    /// What the run says when a signal ends it; empty if there is nothing to say.
    last_words: Arc<Mutex<String>>,
    /// The syntax of the annotation that shows the last words on the CI host.
    annotation_style: Arc<Mutex<AnnotationStyle>>,
    /// The requests that may take effect although a signal ends the run.
    pending_changes: PendingChanges,
}

impl Signals {
    /// Waits for a signal, which from now on does not end the run, and returns the exit status that the signal causes.
    pub(crate) async fn wait(&mut self) -> ExitStatus {
        self.hold();
        match self.receiver.wait_for(Option::is_some).await {
            Ok(status) => status.unwrap_or(ExitStatus::Interrupted),
            // The run has ended, so this status has no effect.
            Err(_) => ExitStatus::Interrupted,
        }
    }

    /// Keeps signals from ending the run: from now on, the run must be able to undo a change.
    pub(crate) fn hold(&self) {
        *lock_mutex(&self.is_handled) = true;
    }

    /// Runs `change` to its end, even if a signal arrives. It may end early if [`Self::pending_failure`] returns a
    /// failure.
    pub(crate) fn hold_during<T>(&self, change: impl FnOnce() -> T) -> T {
        let was_handled = mem::replace(&mut *lock_mutex(&self.is_handled), true);
        let result = change();
        *lock_mutex(&self.is_handled) = was_handled;
        result
    }

    /// Returns the exit status that a signal has caused since the start, if there was one.
    pub(crate) fn pending_status(&self) -> Option<ExitStatus> {
        *self.receiver.borrow()
    }

    /// Returns the failure of a change that a signal ends, if there was a signal since the start.
    pub(crate) fn pending_failure(&self) -> Option<Failure> {
        let status = self.pending_status()?;
        Some(Failure::from_message(status, describe_end(status)))
    }

    /// Lets the next signal end the run again.
    pub(crate) fn release(&self) {
        *lock_mutex(&self.is_handled) = false;
    }

    /// Sets what the run says from now on when a signal ends it, for example what it may have changed. An empty text
    /// ends this.
    pub(crate) fn set_last_words(&self, text: &str) {
        text.clone_into(&mut lock_mutex(&self.last_words));
    }

    /// Sets the syntax of the annotation that shows on the CI host that a signal ends the run.
    pub(crate) fn set_annotation_style(&self, style: AnnotationStyle) {
        *lock_mutex(&self.annotation_style) = style;
    }

    /// Returns the list of the requests that may take effect although a signal ends the run.
    pub(crate) const fn pending_changes(&self) -> &PendingChanges {
        &self.pending_changes
    }

    /// Says on standard error that the signal with this status ends the run, and what the run may have changed.
    /// `annotate` shows that on the CI host, and returns true if it is then in the log, too.
    fn report_end(
        &self,
        ui: Ui,
        status: ExitStatus,
        annotate: impl FnOnce(AnnotationStyle, ExitStatus, &str) -> bool,
    ) {
        ui.warn(describe_end(status));
        let messages = self.list_possible_changes();
        let style = *lock_mutex(&self.annotation_style);
        if messages.is_empty() || annotate(style, status, &messages.join("\n")) {
            return;
        }
        for message in messages {
            ui.warn(&message);
        }
    }

    /// Returns what the run may have changed: its last words, otherwise a message about each pending request.
    fn list_possible_changes(&self) -> Vec<String> {
        let last_words = lock_mutex(&self.last_words);
        if !last_words.is_empty() {
            return vec![last_words.clone()];
        }
        let requests = self.pending_changes.list().into_iter();
        requests
            .map(|request| {
                format!("{request} may take effect nevertheless: check this before you repeat the command")
            })
            .collect()
    }
}

/// Returns the word for a run that ends with this status of a signal.
pub(crate) fn describe_end(status: ExitStatus) -> &'static str {
    if status == ExitStatus::Terminated {
        "terminated"
    } else {
        "interrupted"
    }
}

/// Runs `command` and returns its exit status, or at a signal that the command does not handle, the status of that
/// signal. `annotate` shows on the CI host what such a run may have changed, see [`Signals::report_end`].
pub(crate) fn run_until_signal(
    ui: Ui,
    annotate: impl FnOnce(AnnotationStyle, ExitStatus, &str) -> bool,
    command: impl FnOnce(Signals) -> ExitStatus + Send + 'static,
) -> ExitStatus {
    match run_on_thread(ui, annotate, command) {
        Ok(status) => status,
        Err(error) => {
            let failure = Failure::usage(format!("could not start the command: {error}"));
            ui.print_failure(&failure.with_hint(RAISE_LIMITS_HINT))
        }
    }
}

/// Runs the command on a separate thread with a larger stack, while this thread waits for its end or a signal. A signal
/// ends the run unless the command handles signals: such a command receives the exit status and ends the run itself.
fn run_on_thread(
    ui: Ui,
    annotate: impl FnOnce(AnnotationStyle, ExitStatus, &str) -> bool,
    command: impl FnOnce(Signals) -> ExitStatus + Send + 'static,
) -> io::Result<ExitStatus> {
    check_open_files()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (signal_sender, receiver) = watch::channel(None);
    let (result_sender, result_receiver) = oneshot::channel();
    let signals = Signals {
        receiver,
        is_handled: Arc::default(),
        last_words: Arc::default(),
        annotation_style: Arc::default(),
        pending_changes: PendingChanges::default(),
    };
    let command_signals = signals.clone();
    let panic_notice = notify_of_panic();
    runtime.block_on(async move {
        let mut stop_signals = StopSignals::listen()?;
        let worker = thread::Builder::new()
            .name(COMMAND_THREAD.to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || result_sender.send(command(command_signals)))?;
        tokio::pin!(result_receiver);
        loop {
            tokio::select! {
                status = &mut result_receiver => return Ok(status.unwrap_or_else(|_| join_failed_worker(worker))),
                () = panic_notice.notified() => {
                    atomic_file::remove_unfinished_files();
                    end_after_panic(Box::new("the command panicked"));
                }
                status = stop_signals.next() => {
                    // Read before the signal is sent: the command may receive it and call `Signals::release` at once,
                    // and this signal would then end the run.
                    let is_handled = lock_mutex(&signals.is_handled);
                    let _ = signal_sender.send(Some(status));
                    if !*is_handled {
                        mem::forget(is_handled);
                        atomic_file::remove_unfinished_files();
                        signals.report_end(ui, status, annotate);
                        return Ok(status);
                    }
                }
            }
        }
    })
}

/// Fails if the process may not open the files of a runtime, which would panic.
fn check_open_files() -> io::Result<()> {
    let mut spare_pipes = Vec::new();
    for _ in 0..SPARE_PIPE_COUNT {
        spare_pipes.push(io::pipe()?);
    }
    Ok(())
}

/// Returns a notice that is sent if the thread of the command panics. Its values are dropped while it unwinds, which
/// may wait forever for another thread, so the run ends before that.
fn notify_of_panic() -> Arc<Notify> {
    let notice = Arc::new(Notify::new());
    let sent_notice = Arc::clone(&notice);
    let print_panic = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if sluicegate_git::is_panic_expected() {
            return;
        }
        print_panic(info);
        // After a panic of another thread, such as that of a request to `serve`, the run may continue.
        if thread::current().name() == Some(COMMAND_THREAD) {
            sent_notice.notify_one();
        }
    }));
    notice
}

/// Ends the run because the command panicked.
fn end_after_panic(panic: Box<dyn Any + Send>) -> ! {
    let _ = writeln!(io::stderr(), "{DEFECT_MESSAGE}");
    std::panic::resume_unwind(panic)
}

/// Joins a command thread that ended without a status. Such a thread panicked, and its panic continues on this thread.
/// Returns a status only for the compiler: a thread that did not panic sent its own status.
fn join_failed_worker<T>(worker: thread::JoinHandle<T>) -> ExitStatus {
    match worker.join() {
        Ok(_) => ExitStatus::Undecided,
        Err(panic) => end_after_panic(panic),
    }
}

/// The signals that end a run.
#[cfg(unix)]
struct StopSignals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// `None` if the caller ignores this signal.
    hangup: Option<tokio::signal::unix::Signal>,
    /// Only received, so that a write beyond the limit for the size of a file fails and does not end the program.
    _file_size: tokio::signal::unix::Signal,
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
            _file_size: signal(SignalKind::from_raw(libc::SIGXFSZ))?,
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
