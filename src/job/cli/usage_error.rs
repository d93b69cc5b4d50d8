//! Describes errors in the arguments. Each description ends with a hint for this cause: the flag or command that the
//! user probably means, an example, or the help of the flag.

use super::help_examples::list_examples;
use super::joined_argument::find_joined_argument_hint;
use super::overview::GLOBALS_COMMAND;
use super::{ColorChoice, PROGRAM, command_tree, parse_value, synonyms};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use sluicegate_base::text;
use std::error::Error;
use std::ffi::OsString;
use std::num::ParseIntError;

/// The last line of clap's error messages.
const CLAP_HELP_LINE: &str = "For more information, try '--help'.";

/// The suggestions of clap, which compare only letters.
const CLAP_SUGGESTIONS: [ContextKind; 5] = [
    ContextKind::Suggested,
    ContextKind::SuggestedArg,
    ContextKind::SuggestedSubcommand,
    ContextKind::SuggestedValue,
    ContextKind::TrailingArg,
];

/// Maximum length in characters of a typed value that a hint repeats.
const MAX_VALUE_LENGTH: usize = 60;

/// Maximum number of commands that a hint names.
const MAX_NAMED_COMMANDS: usize = 3;

/// Renders a clap error with our usage line and hint instead of clap's suggestions. `args` begin with the program's
/// name. Control characters from the arguments are escaped. If a subcommand is missing, clap's error is the help of the
/// command, which stays unchanged.
#[must_use]
pub fn describe_usage_error(mut error: clap::Error, args: &[OsString]) -> String {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return error.render().to_string();
    }
    let words: Vec<String> = args
        .iter()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let mut program = command_tree::build_complete_tree();
    program.build();
    let invalid_call = InvalidCall::new(&error, &program, &words);
    let hint = invalid_call.find_hint(&error);
    let usage = match invalid_call.find_topic() {
        Some(topic) => format!("Usage: {PROGRAM} help {topic}").into(),
        None => invalid_call.command.clone().render_usage(),
    };
    for kind in CLAP_SUGGESTIONS {
        error.remove(kind);
    }
    error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    let mut message = error.render().to_string().replace(CLAP_HELP_LINE, "");
    if let Some(source) = error.source() {
        message = message.replace(&source.to_string(), &describe_parse_error(&error, source));
    }
    let hint = hint.map(|hint| format!("\n\nhint: {hint}")).unwrap_or_default();
    text::escape_lines(&format!("{}{hint}\n", message.trim_end())).into_owned()
}

/// Describes why a value cannot be parsed. The texts of Rust's parsers do not name the expected form.
fn describe_parse_error(error: &clap::Error, source: &(dyn Error + 'static)) -> String {
    let value = error.get(ContextKind::InvalidValue).map(ToString::to_string);
    let value = value.unwrap_or_default();
    let argument = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    let takes_seconds = argument.is_some_and(|argument| argument.contains("<SECONDS>"));
    if source.is::<uuid::Error>() {
        format!("{value:?} is not a UUID")
    } else if !source.is::<ParseIntError>() {
        source.to_string()
    } else if takes_seconds {
        format!("{value:?} is not a whole number of seconds, or is out of range")
    } else {
        format!("{value:?} is not an integer, or is out of range")
    }
}

/// Returns the value of `--color` in arguments that clap could not parse, if it is valid. The error message then has
/// the requested color.
#[must_use]
pub fn find_requested_color(args: &[OsString]) -> Option<ColorChoice> {
    let words: Vec<_> = args.iter().map(|word| word.to_string_lossy()).collect();
    let position = words.iter().position(|word| word.starts_with("--color"))?;
    let value = match words.get(position)?.strip_prefix("--color=") {
        Some(value) => value,
        None => words.get(position + 1)?,
    };
    parse_value(value).ok()
}

/// The command that the arguments call, as far as they are valid.
struct InvalidCall<'c> {
    program: &'c Command,
    command: &'c Command,
    /// The words of the command after the program's name.
    name: String,
    words: &'c [String],
}

impl<'c> InvalidCall<'c> {
    /// Creates the call and finds its command in the usage that clap added to the error: `Usage: sluicegate rules list
    /// [OPTIONS]`. Only an error about a missing value has no usage; the command is then searched in the arguments,
    /// where the value of a flag could look like a command.
    fn new(error: &clap::Error, program: &'c Command, words: &'c [String]) -> Self {
        let mut command = program;
        let mut names = Vec::new();
        match error.get(ContextKind::Usage).map(ToString::to_string) {
            Some(usage) => {
                let usage_words = usage.split_whitespace().skip_while(|word| *word != PROGRAM);
                for word in usage_words.skip(1) {
                    let Some(subcommand) = command.find_subcommand(word) else {
                        break;
                    };
                    command = subcommand;
                    names.push(word.to_owned());
                }
            }
            None => {
                for word in words {
                    if let Some(subcommand) = command.find_subcommand(word) {
                        command = subcommand;
                        names.push(word.to_owned());
                    }
                }
            }
        }
        Self {
            program,
            command,
            name: names.join(" "),
            words,
        }
    }

    /// Returns the name of the command if it exists only for its help page, such as `exit-codes`.
    fn find_topic(&self) -> Option<&str> {
        self.command.is_hide_set().then(|| self.command.get_name())
    }

    /// Returns the hint for this kind of error, if there is one.
    fn find_hint(&self, error: &clap::Error) -> Option<String> {
        let argument = error.get(ContextKind::InvalidArg).map(ToString::to_string);
        let argument = argument.as_deref().unwrap_or_default();
        match error.kind() {
            ErrorKind::UnknownArgument if argument.starts_with('-') => Some(self.hint_for_flag(argument)),
            ErrorKind::InvalidSubcommand => {
                let word = error.get(ContextKind::InvalidSubcommand).map(ToString::to_string);
                Some(self.hint_for_command(&word.unwrap_or_default()))
            }
            ErrorKind::UnknownArgument
            | ErrorKind::MissingRequiredArgument
            | ErrorKind::MissingSubcommand => self.hint_with_example(find_missing_flag(error).as_deref()),
            ErrorKind::ArgumentConflict => Some("remove one of the two arguments".to_owned()),
            ErrorKind::TooManyValues => {
                let flag = argument.split(['=', ' ']).next()?;
                Some(format!("pass {flag} without a value"))
            }
            ErrorKind::InvalidValue | ErrorKind::ValueValidation => self.hint_for_value(error, argument),
            _ => None,
        }
    }

    /// Returns the hint for an unknown flag: the flag that another program's flag corresponds to, the commands that
    /// have the flag, a similar flag, or how to list the flags.
    fn hint_for_flag(&self, flag: &str) -> String {
        if let Some(hint) = find_joined_argument_hint(self.command, flag) {
            return hint;
        }
        let value = self.find_flag_value(flag);
        // Other programs use `-f` for a format, for a file, and for `--force`.
        let is_short_flag_of_other_meaning = flag == "-f" && !self.has_output_format(value);
        if is_short_flag_of_other_meaning && self.has_flag("--force") && value.is_none() {
            return text::did_you_mean("--force");
        }
        let call = self.list_words_before_flags();
        if !is_short_flag_of_other_meaning
            && let Some(hint) = synonyms::find_flag_hint(&self.name, &call, flag, value)
        {
            return hint;
        }
        if let Some(call) = self.find_call_with_flag(flag) {
            return format!("write it after the command: `{call}`");
        }
        let commands = self.list_commands_with_flag(flag);
        if !commands.is_empty() {
            return format!("{flag} is an option of {}", text::join_with_commas_and(&commands));
        }
        // The dashes are not compared: they would make short names similar.
        let long_names: Vec<&str> = self.command.get_arguments().filter_map(Arg::get_long).collect();
        if let Some(name) = flag.strip_prefix("--")
            && let Some(long_name) = text::find_nearest_word(name, &long_names)
        {
            return text::did_you_mean(&format!("--{long_name}"));
        }
        match self.name.as_str() {
            "" => format!(
                "run `{PROGRAM} help {GLOBALS_COMMAND}` to list the options of every command, or `{PROGRAM} --help` to list the commands"
            ),
            name => format!(
                "run `{PROGRAM} {name} --help` to list the options of this command, or `{PROGRAM} help \
                 {GLOBALS_COMMAND}` to list the options of every command"
            ),
        }
    }

    /// Returns whether the command has this flag of its own.
    fn has_flag(&self, flag: &str) -> bool {
        self.command.get_arguments().any(|arg| has_long_name(arg, flag))
    }

    /// Returns whether the value is a format of the command's output, or of a report if the command renders reports.
    fn has_output_format(&self, value: Option<&str>) -> bool {
        let Some(value) = value else { return false };
        let mut arguments = self.command.get_arguments();
        let formats = arguments
            .find(|arg| has_long_name(arg, "--output"))
            .map(Arg::get_possible_values)
            .unwrap_or_default();
        self.has_flag("--report") || formats.iter().any(|format| format.matches(value, true))
    }

    /// Returns the words of the call up to the first flag: the command and the arguments that follow it.
    fn list_words_before_flags(&self) -> String {
        let words: Vec<&str> = self
            .words
            .iter()
            .map(String::as_str)
            .take_while(|word| !word.starts_with('-'))
            .collect();
        let call = words.join(" ");
        let is_complete = call.starts_with(&self.name);
        if is_complete && words.iter().all(|word| is_plain(word)) {
            call
        } else {
            self.name.clone()
        }
    }

    /// Returns the first few visible commands that have this flag, as calls in backticks. Subcommands are listed only
    /// if their parent command lacks the flag.
    fn list_commands_with_flag(&self, flag: &str) -> Vec<String> {
        let mut names = Vec::new();
        for command in self
            .program
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
        {
            if command.get_arguments().any(|arg| has_long_name(arg, flag)) {
                names.push(format!("`{PROGRAM} {}`", command.get_name()));
                continue;
            }
            for subcommand in command.get_subcommands() {
                if subcommand.get_arguments().any(|arg| has_long_name(arg, flag)) {
                    let (name, subcommand_name) = (command.get_name(), subcommand.get_name());
                    names.push(format!("`{PROGRAM} {name} {subcommand_name}`"));
                }
            }
        }
        names.truncate(MAX_NAMED_COMMANDS);
        names
    }

    /// Returns the typed command with a flag that the user wrote before it; `None` if the command does not have the
    /// flag.
    fn find_call_with_flag(&self, flag: &str) -> Option<String> {
        let (mut call, mut command) = (PROGRAM.to_owned(), self.program);
        for word in self.words {
            if let Some(subcommand) = command.find_subcommand(word) {
                command = subcommand;
                call = format!("{call} {word}");
            }
        }
        let flag_arg = command.get_arguments().find(|arg| has_long_name(arg, flag))?;
        let value = self
            .find_flag_value(flag)
            .filter(|_| flag_arg.get_action().takes_values())
            .map_or(String::new(), |value| format!(" {value}"));
        self.name.is_empty().then(|| call + " " + flag + &value)
    }

    /// Returns the value that the user typed for this flag, if it is short and plain enough for a suggested call.
    fn find_flag_value(&self, flag: &str) -> Option<&str> {
        // The word may also be `--flag=value`.
        let mut words = self.words.iter();
        let position = words.position(|word| {
            let suffix = word.strip_prefix(flag);
            suffix.is_some_and(|suffix| suffix.is_empty() || suffix.starts_with('='))
        })?;
        let word = self.words.get(position)?;
        let value = match word
            .strip_prefix(flag)
            .and_then(|suffix| suffix.strip_prefix('='))
        {
            Some(value) => value,
            None => self.words.get(position + 1)?,
        };
        (is_plain(value) && !value.starts_with('-')).then_some(value)
    }

    /// Returns the hint for an unknown command or subcommand: the command that corresponds to another program's
    /// command, a similar name, or how to list the commands. Subcommands are not compared with those of other programs.
    fn hint_for_command(&self, word: &str) -> String {
        if let Some(topic) = self.find_topic() {
            return format!("run `{PROGRAM} help {topic}` to read this page");
        }
        if self.name.is_empty()
            && let Some(hint) = synonyms::find_command_hint(word)
        {
            return hint;
        }
        let names: Vec<&str> = self
            .command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .collect();
        if let Some(name) = text::find_nearest_word(word, &names) {
            // Without a command, its empty name leaves two spaces.
            let call = [PROGRAM, &self.name, name].join(" ").replace("  ", " ");
            return text::did_you_mean(&call);
        }
        match self.name.as_str() {
            "" => format!("run `{PROGRAM} --help` to list the commands"),
            name if names.is_empty() => format!("run `{PROGRAM} help {name}` to read about this command"),
            name => format!("the subcommands of `{PROGRAM} {name}` are {}", names.join(", ")),
        }
    }

    /// Returns the hint for an invalid or missing value: a similar valid value, otherwise how to read about the flag.
    /// Other programs often use `-o` for the output file, so that mistake has its own hint.
    fn hint_for_value(&self, error: &clap::Error, argument: &str) -> Option<String> {
        if argument.starts_with("--output") {
            return Some(
                "-o sets the output format; use --out PATH to write the result to a file".to_owned(),
            );
        }
        if let Some(ContextValue::Strings(values)) = error.get(ContextKind::SuggestedValue)
            && let Some(value) = values.first()
        {
            return Some(text::did_you_mean(value));
        }
        if let Some(ContextValue::String(value)) = error.get(ContextKind::SuggestedValue) {
            return Some(text::did_you_mean(value));
        }
        if argument.is_empty() || self.name.is_empty() {
            return None;
        }
        // The name of a positional argument may contain `=`.
        let separators: &[char] = if argument.starts_with('-') {
            &[' ', '=']
        } else {
            &[' ']
        };
        let flag = argument.split(separators).next()?;
        Some(format!("run `{PROGRAM} help {}` to read about {flag}", self.name))
    }

    /// Returns a hint with the first example of this command from its help, if possible with the missing flag. The help
    /// of a command may begin with an example of another one.
    fn hint_with_example(&self, missing_flag: Option<&str>) -> Option<String> {
        let help = self.command.get_after_help()?.to_string();
        let examples = list_examples(&help);
        let call = format!("{PROGRAM} {}", self.name);
        let has_missing_flag =
            |example: &&String| missing_flag.is_some_and(|flag| example.split(' ').any(|word| word == flag));
        let example = examples
            .iter()
            .find(has_missing_flag)
            .or_else(|| examples.iter().find(|example| example.starts_with(&call)))
            .or(examples.first())?;
        Some(format!("for example: `{example}`"))
    }
}

/// Returns whether a typed word is short and plain enough for a suggested call.
fn is_plain(word: &str) -> bool {
    let is_plain_character =
        |character: char| character.is_ascii_alphanumeric() || "._-/:=*{}".contains(character);
    !word.is_empty() && word.len() <= MAX_VALUE_LENGTH && word.chars().all(is_plain_character)
}

/// Returns the first flag that the error reports as missing, such as `--agent`; `None` if only arguments are missing.
fn find_missing_flag(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::Strings(arguments)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let argument = arguments.iter().find(|argument| argument.starts_with("--"))?;
    argument.split(' ').next().map(str::to_owned)
}

/// Returns whether the argument is the flag with this long name, which begins with `--`.
fn has_long_name(arg: &Arg, flag: &str) -> bool {
    arg.get_long()
        .is_some_and(|name| flag.strip_prefix("--") == Some(name))
}
