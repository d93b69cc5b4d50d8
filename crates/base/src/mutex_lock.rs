//! Locks of values that stay consistent even if a thread panics.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks the mutex, even if another thread panicked while it held the lock. For values that each change replaces in a
/// single step, or that are only shown.
pub fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
