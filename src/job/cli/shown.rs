//! The command tree as users see it. Every command accepts every common flag, so that one set of flags works for all
//! commands. Completions and manual pages show only the common flags that a command uses. The help of a command lists
//! only their names, because their texts would fill a screen; `sluicegate help globals` explains them.

use super::overview::{GLOBALS, globals, overview};
use super::{Cli, PROGRAM, single};
use clap::{Arg, Command, CommandFactory as _, FromArgMatches as _, Parser as _};
use std::ffi::OsString;

/// Used by every command.
const ALL: &[&str] = &["color", "quiet", "verbose"];
/// Flags that locate the repository and its configuration.
const REPOSITORY: &[&str] = &["config", "repo", "config_dir", "ci", "policy"];
/// Flags for the platform and the credentials.
const PLATFORM: &[&str] = &["base_url", "project_id", "token_file", "token_command"];
/// Flags for requests to the platform or to a CI host.
const NETWORK: &[&str] = &["ca_cert", "timeout", "retries"];
const AGENT: &[&str] = &["agent_version"];
const GATE: &[&str] = &["gate_changes"];
/// Flags for the result of a command with `-o`.
const RESULT: &[&str] = &["out"];

/// Returns the common flags that a command uses.
fn taken(command: &str) -> &'static [&'static [&'static str]] {
    match command {
        PROGRAM | "review" | "ci" => &[ALL, REPOSITORY, PLATFORM, NETWORK, AGENT, GATE],
        "doctor" => &[ALL, RESULT, REPOSITORY, PLATFORM, NETWORK, AGENT],
        "check" | "report" => &[ALL, REPOSITORY, NETWORK, GATE],
        "context" => &[ALL, RESULT, REPOSITORY, GATE],
        "init" => &[ALL, RESULT, REPOSITORY, &["project_id"], AGENT],
        "diff" | "rules" | "waivers" | "mv" => &[ALL, RESULT, REPOSITORY],
        "serve" | "demo" | "schema" | "completions" | "man" => &[ALL],
        _ => &[ALL, RESULT, REPOSITORY, PLATFORM, NETWORK],
    }
}

fn is_taken(command: &str, flag: &Arg) -> bool {
    let id = flag.get_id().as_str();
    taken(command).iter().any(|group| group.contains(&id))
}

/// Parses the arguments; the first is the program's name.
///
/// # Errors
///
/// A usage error, or the requested help.
pub fn parse(args: Vec<OsString>) -> Result<Cli, clap::Error> {
    if let Some(cli) = single::parse(&args) {
        return Ok(cli);
    }
    // The shape shows only in a help page and in a usage error, and takes as long as parsing.
    if let Ok(cli) = Cli::try_parse_from(&args) {
        return Ok(cli);
    }
    // A help page shows one command.
    let mut program = shaped(&|command| args.iter().any(|arg| arg == command));
    let mut matches = program.try_get_matches_from_mut(args)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut program))
}

/// Returns the complete command tree, with the common flags that a command does not use hidden.
#[must_use]
pub fn command() -> Command {
    shaped(&|_| true)
}

fn shaped(is_wanted: &dyn Fn(&str) -> bool) -> Command {
    let program = Cli::command();
    let common = common(&program);
    let first_screen = overview(&program);
    let program = brief(program, &common, PROGRAM).override_help(first_screen);
    let program = program.mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        if !is_wanted(&name) {
            return command;
        }
        let foreign = common.iter().filter(|flag| !is_taken(&name, flag));
        let hidden: Vec<Arg> = foreign.map(|flag| flag.clone().hide(true)).collect();
        brief(with(command, hidden), &common, &name)
    });
    if is_wanted(GLOBALS) {
        program.subcommand(globals(&common))
    } else {
        program
    }
}

/// Returns the command tree for completions. A common flag is only on the commands that use it, because completions
/// offer hidden flags too.
#[must_use]
pub fn completed() -> Command {
    let program = Cli::command();
    let common = common(&program);
    let program = program.mut_args(|flag| flag.global(false));
    program.mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        let taken = common.iter().filter(|flag| is_taken(&name, flag));
        let taken: Vec<Arg> = taken.map(|flag| flag.clone().global(false)).collect();
        offered(command, &taken)
    })
}

fn offered(command: Command, taken: &[Arg]) -> Command {
    with(command, taken.to_vec()).mut_subcommands(|verb| offered(verb, taken))
}

fn common(program: &Command) -> Vec<Arg> {
    let flags = program.get_arguments().filter(|flag| flag.is_global_set());
    flags.cloned().collect()
}

/// Adds these flags to a command, except those whose id the command already uses.
fn with(command: Command, flags: Vec<Arg>) -> Command {
    let is_free = |flag: &Arg| command.get_arguments().all(|own| own.get_id() != flag.get_id());
    let added: Vec<Arg> = flags.into_iter().filter(is_free).collect();
    command.args(added)
}

/// Folds the common flags of a command and of its subcommands to their names.
fn brief(command: Command, common: &[Arg], name: &str) -> Command {
    let taken = common.iter().filter(|flag| is_taken(name, flag));
    let taken: Vec<&Arg> = taken.collect();
    match name {
        PROGRAM => fold(command, &taken),
        _ => fold_all(command, &taken),
    }
}

fn fold_all(command: Command, taken: &[&Arg]) -> Command {
    fold(command, taken).mut_subcommands(|verb| fold_all(verb, taken))
}

/// Folds the common flags in the help template, so that the manual pages, which explain them, have only the examples
/// below the flags.
fn fold(command: Command, taken: &[&Arg]) -> Command {
    let folded = folded(&command, taken);
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{{all-args}}\n\n\
         Global options (sluicegate help globals):\n  {folded}{{after-help}}"
    );
    command.help_template(template).mut_args(|flag| {
        let is_common = flag.get_help_heading() == Some(super::global::HEADING);
        flag.hide_short_help(is_common).hide_long_help(is_common)
    })
}

/// Returns the names of the flags in this command, which may rename a common flag.
fn folded(command: &Command, taken: &[&Arg]) -> String {
    let own = |flag: &Arg| command.get_arguments().find(|own| own.get_id() == flag.get_id());
    let called = taken
        .iter()
        .filter_map(|flag| own(flag).unwrap_or(flag).get_long());
    let called: Vec<String> = called.map(|long| format!("--{long}")).collect();
    called.join(" ")
}
