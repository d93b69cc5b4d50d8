//! `sluicegate`: reviews pipelines before they are merged and publishes them after. `docs/ARCHITECTURE.md` has the map, and
//! `tests/architecture.rs` holds the code to it.
//!
//! A run goes down one stair. [`job`] says what was asked and where: one target. [`gate`] selects what changed, has it reviewed and decides;
//! what it judges are the documents of [`model`], where every finding ends. [`report`] writes what was found, a format a file. [`publish`]
//! plans, sends and proves a version. [`platform`] is everything over the wire, [`service`] the platform on this machine. Each verb of
//! [`commands`] tells that story in order; [`base`] is what all of them stand on.

// Only tests use the library from outside; what they do not need is nobody else's.
#![warn(unreachable_pub)]
#![allow(
    rustdoc::private_intra_doc_links,
    reason = "who reads these pages reads the code"
)]

pub mod base;
pub(crate) mod commands;
pub(crate) mod gate;
pub mod job;
pub mod model;
pub mod platform;
pub mod publish;
pub(crate) mod report;
#[cfg(test)]
#[path = "../tests/support/schema.rs"]
#[expect(unreachable_pub, reason = "the tests share it")]
mod schema;
pub mod service;

use base::{env, exit};
use clap::error::{ContextKind, ErrorKind};
use std::ffi::OsString;
use std::io::Write as _;

/// How clap ends what it says of wrong arguments.
const FURTHER: &str = "For more information, try '--help'.";

/// The program: what `args` ask for, in this environment. The first of `args` is the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>, env: env::Env) -> exit::ExitStatus {
    let args: Vec<OsString> = args.into_iter().collect();
    if job::cli::asks_only_for_version(&args) {
        return print_version();
    }
    match job::cli::parse(args) {
        Ok(cli) => commands::run(cli, env),
        Err(said) => print_said(&said),
    }
}

/// Help, or what is wrong with the arguments; a closed pipe is the reader's choice, so a failed write is no failure.
fn print_said(said: &clap::Error) -> exit::ExitStatus {
    if !said.use_stderr() {
        let _ = said.print();
        return exit::ExitStatus::Success;
    }
    let told = said.render().to_string();
    let told = told.replace(FURTHER, further(said));
    let _ = write!(std::io::stderr(), "{told}");
    exit::ExitStatus::Usage
}

/// What to do about wrong arguments. Elsewhere `-o` often names a file.
fn further(said: &clap::Error) -> &'static str {
    let wrong = said.get(ContextKind::InvalidArg).map(ToString::to_string);
    let is_output = wrong.is_some_and(|wrong| wrong.starts_with("--output"));
    if said.kind() == ErrorKind::InvalidValue && is_output {
        "hint: -o is the format; --out PATH writes the result to a file"
    } else {
        "hint: `--help` behind the command shows what it takes"
    }
}

fn print_version() -> exit::ExitStatus {
    // A closed pipe is the reader's choice, so a failed write is no failure.
    let _ = writeln!(std::io::stdout(), "sluicegate {}", env!("CARGO_PKG_VERSION"));
    exit::ExitStatus::Success
}
