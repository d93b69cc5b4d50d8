//! The command tree as users see it. Every command accepts every common flag, so that one set of flags works for all
//! commands. Completions and manual pages show only the common flags that a command uses. The help of a command lists
//! only their names, because their texts would fill a screen; `sluicegate help globals` explains them.

use super::help_topics::{ENVIRONMENT_TOPIC, EXIT_CODES_TOPIC, MAX_STATIC_WIDTH, build_topic_commands};
use super::overview::{GLOBALS_COMMAND, build_globals_command, render_overview};
use super::{Cli, PROGRAM, single_command};
use clap::{Arg, Command, CommandFactory as _, FromArgMatches as _, Parser as _};
use sluicegate_base::text::wrap;
use std::ffi::OsString;

/// Flags that every command uses.
const EVERY_COMMAND: &[&str] = &["color", "quiet", "verbose", "directory"];
/// Flags that locate the repository and its configuration.
const REPOSITORY: &[&str] = &[
    "config",
    "repo",
    "config_dir",
    "team_rules",
    "ci",
    "policy",
    "target_repository",
];
/// Flags for the platform and the credentials.
const PLATFORM: &[&str] = &[
    "base_url",
    "project_id",
    "token_file",
    "token_command",
    "client_cert",
    "client_key",
];
/// Flags for requests to the platform or to a CI host.
const NETWORK: &[&str] = &["ca_cert", "timeout", "retries"];
const AGENT: &[&str] = &["agent_version"];
const GATE: &[&str] = &["gate_changes"];
/// Flags for the result of a command with `-o`.
const RESULT: &[&str] = &["out"];

/// Returns the groups of common flags that a command uses. `init` does not send requests, so the project ID is the only
/// flag for the platform that it uses.
fn common_flag_groups(command: &str) -> &'static [&'static [&'static str]] {
    match command {
        PROGRAM | "review" | "ci" => &[EVERY_COMMAND, RESULT, REPOSITORY, PLATFORM, NETWORK, AGENT, GATE],
        "doctor" | "settings" => &[EVERY_COMMAND, RESULT, REPOSITORY, PLATFORM, NETWORK, AGENT],
        "check" => &[EVERY_COMMAND, RESULT, REPOSITORY, NETWORK, GATE],
        "report" => &[EVERY_COMMAND, RESULT, REPOSITORY, NETWORK],
        "context" => &[EVERY_COMMAND, RESULT, REPOSITORY, GATE],
        "init" => &[EVERY_COMMAND, RESULT, REPOSITORY, &["project_id"], AGENT],
        "diff" | "rules" | "waivers" | "mv" | "inspect" => &[EVERY_COMMAND, RESULT, REPOSITORY],
        "serve" | "demo" | "schema" | "completions" | "man" => &[EVERY_COMMAND],
        _ => &[EVERY_COMMAND, RESULT, REPOSITORY, PLATFORM, NETWORK],
    }
}

/// Returns whether the command prints a result, whose format `-o` sets.
pub(super) fn has_result(command: &str) -> bool {
    common_flag_groups(command).contains(&RESULT)
}

/// Returns whether a common flag has an effect on a command. Other common flags are hidden in the command's help.
fn uses_common_flag(command: &str, flag: &Arg) -> bool {
    let id = flag.get_id().as_str();
    common_flag_groups(command)
        .iter()
        .any(|group| group.contains(&id))
}

/// Parses the arguments; the first is the program's name. It first tries a program with a single command, then all
/// commands as they are declared. The tree with hidden and folded flags is built only for help and errors, because
/// building it takes as long as parsing.
///
/// # Errors
///
/// A usage error, or the requested help.
pub fn parse(args: Vec<OsString>) -> Result<Cli, clap::Error> {
    if let Some(cli) = single_command::parse(&args) {
        return Ok(cli);
    }
    if let Ok(cli) = Cli::try_parse_from(&args) {
        return Ok(cli);
    }
    // A help page shows one command, so the flags of the others stay unchanged.
    let mut program = build_command_tree(&|command| args.iter().any(|arg| arg == command));
    let mut matches = program.try_get_matches_from_mut(args)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut program))
}

/// Returns whether the command in the arguments sets the step output `verdict`, even if the arguments are invalid.
#[must_use]
pub fn has_verdict_command(args: &[OsString]) -> bool {
    let name = find_called_command(args);
    matches!(name, Some("review" | "check" | "ci" | "report"))
}

/// Returns the name of the command in the arguments, even if they are invalid. The command may not exist.
pub(super) fn find_called_command(args: &[OsString]) -> Option<&str> {
    find_command_name(&Cli::command(), args)
}

/// Returns the first argument that is neither a flag nor the value of a common flag: the name of the command.
fn find_command_name<'a>(program: &Command, args: &'a [OsString]) -> Option<&'a str> {
    let mut words = args.iter().skip(1);
    while let Some(word) = words.next() {
        let word = word.to_str()?;
        if !word.starts_with('-') {
            return Some(word);
        }
        // The value of a flag may be equal to the name of a command.
        if program.get_arguments().any(|flag| needs_value(flag, word)) {
            words.next();
        }
    }
    None
}

/// Returns whether this word is the flag without its value, which is the next word.
fn needs_value(flag: &Arg, word: &str) -> bool {
    let is_flag = match word.strip_prefix("--") {
        Some(name) => flag.get_long() == Some(name),
        None => flag.get_short().is_some_and(|short| word == format!("-{short}")),
    };
    is_flag && flag.get_action().takes_values()
}

/// Returns the complete command tree, with the common flags that a command does not use hidden.
#[must_use]
pub fn build_complete_tree() -> Command {
    build_command_tree(&|_| true)
}

/// Builds the command tree for help and manual pages. In the help of a command, common flags that it does not use are
/// hidden, and the others are one line of names. To save time, a command whose page is not shown stays as declared, and
/// topic commands that are not shown are omitted.
fn build_command_tree(is_shown: &dyn Fn(&str) -> bool) -> Command {
    let program = Cli::command();
    let common_flags = list_common_flags(&program);
    let first_screen = render_overview(&program);
    let program = fold_common_flags(program, &common_flags, PROGRAM).override_help(first_screen);
    let program = program.mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        if !is_shown(&name) {
            return command;
        }
        // A hidden flag of the command itself replaces the global flag with the same id.
        let hidden_flags: Vec<Arg> = common_flags
            .iter()
            .filter(|flag| !uses_common_flag(&name, flag))
            .map(|flag| flag.clone().hide(true))
            .collect();
        fold_common_flags(add_missing_flags(command, hidden_flags), &common_flags, &name)
    });
    let topics = if is_shown(EXIT_CODES_TOPIC) || is_shown(ENVIRONMENT_TOPIC) {
        build_topic_commands(&program).to_vec()
    } else {
        Vec::new()
    };
    let program = program.subcommands(topics);
    if is_shown(GLOBALS_COMMAND) {
        program.subcommand(build_globals_command(&common_flags))
    } else {
        program
    }
}

/// Returns the command tree for completions. A common flag is only on the commands that use it, because completions
/// offer hidden flags too.
#[must_use]
pub fn build_completions_tree() -> Command {
    let program = Cli::command();
    let common_flags = list_common_flags(&program);
    let program = program.mut_args(|flag| flag.global(false));
    program.mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        let used_flags: Vec<Arg> = common_flags
            .iter()
            .filter(|flag| uses_common_flag(&name, flag))
            .map(|flag| flag.clone().global(false))
            .collect();
        add_flags_to_subtree(command, &used_flags)
    })
}

/// Adds these flags to a command and to all its subcommands.
fn add_flags_to_subtree(command: Command, flags: &[Arg]) -> Command {
    add_missing_flags(command, flags.to_vec()).mut_subcommands(|verb| add_flags_to_subtree(verb, flags))
}

/// Returns the program's global flags, which clap accepts after every command.
fn list_common_flags(program: &Command) -> Vec<Arg> {
    program
        .get_arguments()
        .filter(|flag| flag.is_global_set())
        .cloned()
        .collect()
}

/// Adds these flags to a command, except those whose id the command already uses.
fn add_missing_flags(command: Command, flags: Vec<Arg>) -> Command {
    let missing_flags: Vec<Arg> = flags
        .into_iter()
        .filter(|flag| find_flag(&command, flag).is_none())
        .collect();
    command.args(missing_flags)
}

/// Returns the command's own flag with the same id as `flag`.
fn find_flag<'c>(command: &'c Command, flag: &Arg) -> Option<&'c Arg> {
    command
        .get_arguments()
        .find(|command_flag| command_flag.get_id() == flag.get_id())
}

/// Shortens the common flags in the help of a command and of its subcommands to one line of names. For the program
/// itself, the subcommands are skipped: each uses other common flags and is shortened by a call of its own.
fn fold_common_flags(command: Command, common_flags: &[Arg], name: &str) -> Command {
    let used_flags: Vec<&Arg> = common_flags
        .iter()
        .filter(|flag| uses_common_flag(name, flag))
        .collect();
    match name {
        PROGRAM => fold_flags(command, &used_flags),
        _ => fold_flags_in_subtree(command, &used_flags),
    }
}

/// Shortens the common flags in the help of a command and of all its subcommands.
fn fold_flags_in_subtree(command: Command, flags: &[&Arg]) -> Command {
    fold_flags(command, flags).mut_subcommands(|verb| fold_flags_in_subtree(verb, flags))
}

/// Hides all common flags in the help of this command and lists only the names of `flags`, which the command uses. The
/// names are in the help template and not in the text after the help, because manual pages contain that text and
/// explain the flags in full.
fn fold_flags(command: Command, flags: &[&Arg]) -> Command {
    let flag_names = format_flag_names(&command, flags);
    let command = match command.get_after_help().map(ToString::to_string) {
        Some(text) => command.after_help(join_paragraph_lines(&text)),
        None => command,
    };
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{{all-args}}\n\n\
         Global options (sluicegate help globals):\n{flag_names}{{after-help}}"
    );
    command.help_template(template).mut_args(|flag| {
        let is_common = flag.get_help_heading() == Some(super::global::HEADING);
        flag.hide_short_help(is_common).hide_long_help(is_common)
    })
}

/// Returns the long names of these flags, for example `--config --repo`, in indented lines, because clap does not wrap
/// a template. A command may have another name for a common flag.
fn format_flag_names(command: &Command, flags: &[&Arg]) -> String {
    let names: Vec<String> = flags
        .iter()
        .filter_map(|flag| find_flag(command, flag).unwrap_or(flag).get_long())
        .map(|name| format!("--{name}"))
        .collect();
    wrap::wrap_lines(&names.join(" "), "  ", "  ", MAX_STATIC_WIDTH).join("\n")
}

/// Joins the lines of each paragraph, so that clap wraps the paragraph at the width of the terminal. Indented lines,
/// such as examples, stay as they are.
fn join_paragraph_lines(text: &str) -> String {
    let mut joined_text = String::new();
    let mut is_in_paragraph = false;
    for line in text.lines() {
        let is_paragraph_line = !line.is_empty() && !line.starts_with(' ');
        if !joined_text.is_empty() {
            joined_text.push(if is_in_paragraph && is_paragraph_line {
                ' '
            } else {
                '\n'
            });
        }
        joined_text.push_str(line);
        is_in_paragraph = is_paragraph_line;
    }
    joined_text
}
