//! Parse, run, exit code.

use sluicegate::env::Env;
use std::process::ExitCode;

/// musl's own allocator takes one lock for all threads, so `check` would take nearly twice as long in a static binary.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    sluicegate::run(std::env::args_os(), Env::capture()).into()
}
