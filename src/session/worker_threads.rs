//! The threads that evaluate files in parallel, and those that wait for responses.

use crate::error::Failure;
use rayon::ThreadPoolBuilder;
use std::error::Error as _;
use std::sync::RwLock;
use std::{io, thread};

/// The hint if the system does not let the program start a runtime.
pub(crate) const RAISE_LIMITS_HINT: &str = "raise the limits for open files, threads and processes";

/// Starts the threads that evaluate files, if they do not run yet. Without this call, the first parallel evaluation
/// starts them, and panics if the system refuses a thread.
pub(crate) fn start_worker_threads() -> Result<(), Failure> {
    match ThreadPoolBuilder::new().build_global() {
        // An error without a source says that the threads run already.
        Err(error) if error.source().is_some() => Err(missing_threads_failure(&error.to_string())),
        _ => Ok(()),
    }
}

/// Fails if the process may not start this number of threads at once: a runtime that cannot start its threads panics.
pub(crate) fn check_thread_count(count: usize) -> Result<(), Failure> {
    let lock = RwLock::new(());
    let result: io::Result<()> = thread::scope(|scope| {
        let _guard = lock.write();
        for _ in 0..count {
            thread::Builder::new().spawn_scoped(scope, || drop(lock.read()))?;
        }
        Ok(())
    });
    result.map_err(|error| missing_threads_failure(&error.to_string()))
}

/// Returns the failure that the system does not let the program start its threads.
fn missing_threads_failure(reason: &str) -> Failure {
    Failure::usage(format!("could not start the program's threads: {reason}"))
        .with_hint("raise the limit for threads and processes, or set RAYON_NUM_THREADS to a smaller number")
}
