//! The size and the type of an object, without its content.

use super::GitError;
use git2::{ErrorCode, ObjectType, Odb, Oid};
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};

thread_local! {
    static IS_READING_HEADER: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether a panic on this thread is caught here and becomes an error, so that a panic hook must not report it.
pub fn is_panic_expected() -> bool {
    IS_READING_HEADER.get()
}

/// Returns the size and the type of the object; `None` if the clone does not have the object.
///
/// git2 panics if a damaged pack gives the object a type that git does not have (`Odb::read_header` unwraps the type),
/// and has no other function that returns the size of a packed object without reading its content. The panic occurs in
/// Rust, after libgit2 has returned, so that unwinding is safe.
pub(super) fn read_object_header(odb: &Odb<'_>, id: Oid) -> Result<Option<(usize, ObjectType)>, GitError> {
    IS_READING_HEADER.set(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| odb.read_header(id)));
    IS_READING_HEADER.set(false);
    match outcome {
        Ok(Ok(header)) => Ok(Some(header)),
        Ok(Err(error)) if error.code() == ErrorCode::NotFound => Ok(None),
        Ok(Err(error)) => Err(GitError::library("read an object's size")(error)),
        Err(_) => Err(GitError::CorruptObject {
            id: id.to_string(),
            reason: "its type is invalid".to_owned(),
        }),
    }
}
