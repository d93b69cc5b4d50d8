//! Parse, run, exit code.

use sluicegate::env::Env;
use std::process::ExitCode;

fn main() -> ExitCode {
    sluicegate::run(std::env::args_os(), Env::capture()).into()
}
