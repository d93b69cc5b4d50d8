//! Parse, run, exit code.

use sluicegate::base::env::Env;
use std::process::ExitCode;

/// Many small texts are taken and given back by several threads, which wait for each other in the C libraries' allocators:
/// `check` takes a third less time with this one, and nearly half in a static binary, whose own has one lock.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    sluicegate::run(std::env::args_os(), Env::capture()).into()
}
