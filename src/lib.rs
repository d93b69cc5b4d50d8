//! The rooms of the house. Arrows between them point one way; `docs/ARCHITECTURE.md` has the picture and
//! `tests/architecture.rs` holds the code to it.
//!
//! A run goes through them in this order: [`cli`] says what was asked, [`settings`] resolves it with [`mod@env`], [`ci`]
//! and [`git`] are settled into one target by [`context`], [`gate`] asks the platform through [`api`] and [`http`]
//! and merges the answers into [`findings`], [`report`] writes them. [`publish`] collects, plans, uploads and
//! verifies. [`desired`], [`follow`] and [`export`] are behind the commands for the rest of the platform. [`service`] is
//! the platform on this machine, with [`rules`] and [`pipelines`] behind its reviews. [`diff`] and [`picture`] show
//! what changed, [`interface`] what of it breaks consumers. [`yaml`] reads what people keep in files.

pub mod api;
pub mod ci;
pub mod cli;
pub mod commands;
pub mod context;
pub mod desired;
pub mod diff;
pub mod env;
pub mod error;
pub mod exit;
pub mod export;
pub mod findings;
pub mod follow;
pub mod gate;
pub mod git;
pub mod globs;
pub mod hosts;
pub mod http;
pub mod input;
pub mod interface;
pub mod picture;
pub mod pipelines;
pub mod policy;
pub mod publish;
pub mod report;
pub mod rules;
#[cfg(test)]
#[path = "../tests/support/schema.rs"]
mod schema;
pub mod service;
pub mod settings;
pub mod text;
pub mod ui;
pub mod waivers;
mod words;
pub mod write;
pub mod yaml;

use clap::error::{ContextKind, ErrorKind};
use std::ffi::OsString;
use std::io::Write as _;

/// How clap ends what it says of wrong arguments.
const FURTHER: &str = "For more information, try '--help'.";

/// The program: what `args` ask for, in this environment. The first of `args` is the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>, env: env::Env) -> exit::ExitStatus {
    let args: Vec<OsString> = args.into_iter().collect();
    if cli::asks_only_for_version(&args) {
        return print_version();
    }
    match cli::parse(args) {
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
