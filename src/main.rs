//! Parses the arguments, runs the command and exits with its exit code.

use sluicegate::env::Env;
use std::process::ExitCode;

/// Several threads allocate and free many small strings, and the allocators of the C libraries make them wait for each
/// other: `check` takes a third less time with mimalloc, and nearly half in a static binary, whose default allocator
/// has a single lock.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs the program with the arguments and the environment of this process, and returns the exit code.
fn main() -> ExitCode {
    sluicegate::run(std::env::args_os(), Env::capture()).into()
}
