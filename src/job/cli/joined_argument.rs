//! Recognizes a flag and its value that were passed as one argument.

use clap::Command;

/// Returns the hint for an unknown argument that is a flag of the command, a blank and a value. An entry in a list of
/// arguments in the configuration of a CI job looks like that.
pub(super) fn find_joined_argument_hint(command: &Command, argument: &str) -> Option<String> {
    let (flag, _) = argument.split_once(char::is_whitespace)?;
    let name = flag.strip_prefix("--")?;
    let has_value = |arg: &&clap::Arg| arg.get_long() == Some(name) && arg.get_action().takes_values();
    command.get_arguments().find(has_value)?;
    Some(format!(
        "pass {flag} and its value as two arguments; in the input `args` of the action, write one argument per line"
    ))
}
