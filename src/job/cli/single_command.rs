//! Parses a command of a job without the tree of all commands. That tree has more than thirty commands with the common
//! flags on each, and building it took a quarter of a `check` of ten pipelines.

use super::{
    CheckArgs, CiArgs, Cli, ContextArgs, DiffArgs, GlobalArgs, PROGRAM, PublishArgs, ReportArgs, ReviewArgs,
    VerifyArgs,
};
use clap::{Args, Command, FromArgMatches as _};
use std::ffi::OsString;

/// Adds the flags of a command.
type AddFlags = fn(Command) -> Command;

/// The commands that jobs and hooks run.
const SINGLE_COMMANDS: &[(&str, AddFlags)] = &[
    ("review", ReviewArgs::augment_args),
    ("check", CheckArgs::augment_args),
    ("report", ReportArgs::augment_args),
    ("publish", PublishArgs::augment_args),
    ("ci", CiArgs::augment_args),
    ("verify", VerifyArgs::augment_args),
    ("diff", DiffArgs::augment_args),
    ("context", ContextArgs::augment_args),
];

/// Parses the arguments if they begin with one of [`SINGLE_COMMANDS`]. Returns `None` for other commands, for invalid
/// arguments and for requested help: all of these need the complete tree.
pub(super) fn parse(args: &[OsString]) -> Option<Cli> {
    let name = args.get(1)?;
    let (name, flags) = SINGLE_COMMANDS.iter().find(|(command, _)| name == command)?;
    let mut matches = build_program_with_command(name, *flags)
        .try_get_matches_from(args)
        .ok()?;
    Cli::from_arg_matches_mut(&mut matches).ok()
}

/// Builds a program that has only the command with this name and the global flags, and in which no argument is
/// required. Returns `None` unless the command is one of [`SINGLE_COMMANDS`].
pub(super) fn build_lenient_program(name: &str) -> Option<Command> {
    let (name, flags) = SINGLE_COMMANDS.iter().find(|(command, _)| name == *command)?;
    let program = build_program_with_command(name, *flags);
    Some(program.mut_subcommand(*name, |command| command.mut_args(|arg| arg.required(false))))
}

/// Builds a program that has only this command and the global flags, which is faster than building all commands.
fn build_program_with_command(name: &'static str, flags: AddFlags) -> Command {
    GlobalArgs::augment_args(Command::new(PROGRAM)).subcommand(flags(Command::new(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, CommandFactory as _};

    /// Returns what parsing uses of each flag.
    fn flags(mut program: Command, name: &str) -> Vec<String> {
        program.build();
        let command = program.find_subcommand(name).expect("the command");
        let own = command.get_arguments().filter(|flag| !is_built_in(flag));
        let mut flags: Vec<String> = own.map(|flag| format!("{flag:?}")).collect();
        flags.extend(command.get_groups().map(|group| format!("{group:?}")));
        flags
    }

    fn is_built_in(flag: &Arg) -> bool {
        ["help", "version"].contains(&flag.get_id().as_str())
    }

    #[test]
    fn each_command_has_the_flags_of_the_complete_tree() {
        for (name, augment) in SINGLE_COMMANDS {
            assert_eq!(
                flags(build_program_with_command(name, *augment), name),
                flags(Cli::command(), name),
                "{name}"
            );
        }
    }

    #[test]
    fn only_valid_arguments_of_these_commands_are_parsed() {
        let parse = |line: &str| parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(parse("sluicegate check --all --repo x").is_some());
        for other in [
            "sluicegate",
            "sluicegate serve",
            "sluicegate --repo check review",
            "sluicegate check --help",
            "sluicegate check --version",
            "sluicegate check --none",
        ] {
            assert!(parse(other).is_none(), "{other}");
        }
    }
}
