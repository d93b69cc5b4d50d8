//! Names of flags and commands in other programs, each with the arguments of this program that do the same. clap's own
//! suggestions compare only letters: they offer `init`, which writes files, for `lint`.

use super::command_tree::has_result;
use clap::ValueEnum as _;
use sluicegate_reports::Format;

/// The commands that evaluate pipelines or render the result.
const GATE_COMMANDS: &[&str] = &["check", "review", "ci", "report"];
/// The commands that select pipelines.
const SELECTION_COMMANDS: &[&str] = &["check", "review", "ci", "context"];
/// The commands that publish a version.
const PUBLISH_COMMANDS: &[&str] = &["publish", "ci"];
/// The commands that take the name of a version.
const VERSION_COMMANDS: &[&str] = &[
    "publish",
    "ci",
    "artifacts show",
    "artifacts enable",
    "artifacts disable",
];
const EVERY_COMMAND: &[&str] = &[];

/// The names that other programs use for a flag, and what a user should do instead.
struct FlagSynonym {
    names: &'static [&'static str],
    /// The commands of this program for which the names are synonyms. An empty list means every command.
    commands: &'static [&'static str],
    remedy: Remedy,
}

/// Instruction for a user who typed a synonym.
enum Remedy {
    /// Pass these arguments after the command. `{value}` is the value that the user typed.
    Arguments(&'static str),
    /// Pass these arguments, with this value if the user typed none.
    ArgumentsWithValue(&'static str, &'static str),
    /// Run this other command of the program instead.
    Command(&'static str),
    /// Follow this advice.
    Advice(&'static str),
}

const FLAG_SYNONYMS: &[FlagSynonym] = &[
    synonym(
        &[
            "--exit-zero",
            "--no-fail",
            "--soft-fail",
            "--no-exit-codes",
            "--warn-only",
            "--issues-exit-code",
        ],
        VERDICT_COMMANDS,
        Remedy::Arguments("--fail-on never"),
    ),
    synonym(
        &[
            "--severity",
            "--min-severity",
            "--fail-level",
            "--fail-severity",
            "--level",
        ],
        VERDICT_COMMANDS,
        Remedy::ArgumentsWithValue("--fail-on {value}", "error"),
    ),
    synonym(
        &[
            "--strict",
            "--max-warnings",
            "--error-on-warnings",
            "--fail-on-warnings",
        ],
        VERDICT_COMMANDS,
        Remedy::Arguments("--fail-on warn"),
    ),
    synonym(
        &[
            "--since",
            "--from-ref",
            "--new-from-rev",
            "--baseline-commit",
            "--target",
            "--compare-branch",
        ],
        SELECTION_COMMANDS,
        Remedy::ArgumentsWithValue("--base {value}", "main"),
    ),
    synonym(
        &["--to-ref", "--commit", "--rev", "--ref", "--sha"],
        SELECTION_COMMANDS,
        Remedy::ArgumentsWithValue("--head {value}", "HEAD"),
    ),
    synonym(
        &["--baseline", "--only-new", "--new", "--diff"],
        VERDICT_COMMANDS,
        Remedy::Arguments("--new-only"),
    ),
    synonym(
        &["--stdin-filename", "--stdin-filepath", "--stdin-file", "--stdin"],
        &["check"],
        Remedy::ArgumentsWithValue("- --stdin-path {value}", "PATH"),
    ),
    synonym(
        &["--cached", "--index"],
        &["check", "fix"],
        Remedy::Arguments("--staged"),
    ),
    synonym(
        &["--all-files", "--full"],
        SELECTION_COMMANDS,
        Remedy::Arguments("--all"),
    ),
    synonym(
        &[
            "--ignore-path",
            "--skip",
            "--extend-exclude",
            "--skip-path",
            "--skip-files",
        ],
        SELECTION_COMMANDS,
        Remedy::ArgumentsWithValue("--exclude {value}", "GLOB"),
    ),
    synonym(
        &["--glob", "--files", "--filter"],
        SELECTION_COMMANDS,
        Remedy::ArgumentsWithValue("--include {value}", "GLOB"),
    ),
    synonym(
        &[
            "--ignore",
            "--select",
            "--disable",
            "--enable",
            "--rule",
            "--disable-rule",
        ],
        GATE_COMMANDS,
        Remedy::Advice("the rules file enables and disables rules; `sluicegate rules list` shows the rules"),
    ),
    synonym(
        &[
            "--fix",
            "--write",
            "--autofix",
            "--auto-fix",
            "--fix-all",
            "--autocorrect",
            "--auto-correct",
        ],
        EVERY_COMMAND,
        Remedy::Command("fix"),
    ),
    synonym(
        &["--fix-dry-run", "--fix-only"],
        EVERY_COMMAND,
        Remedy::Command("fix --dry-run"),
    ),
    synonym(
        &["--jobs", "-j", "--parallel", "--threads"],
        &["review", "ci"],
        Remedy::ArgumentsWithValue("--concurrency {value}", "4"),
    ),
    synonym(
        &["--name", "--tag"],
        PUBLISH_COMMANDS,
        Remedy::ArgumentsWithValue("--version-name {value}", "auto"),
    ),
    synonym(
        &["--version", "-V"],
        VERSION_COMMANDS,
        Remedy::ArgumentsWithValue("--version-name {value}", "VERSION"),
    ),
    synonym(&["--version", "-V"], EVERY_COMMAND, Remedy::Command("--version")),
    synonym(
        &["--dryrun", "-n", "--noop", "--no-op", "--plan"],
        &["review", "publish", "ci", "init"],
        Remedy::Arguments("--dry-run"),
    ),
    synonym(
        &["--config-file", "-c", "--configuration"],
        EVERY_COMMAND,
        Remedy::ArgumentsWithValue("--config {value}", "FILE"),
    ),
    synonym(
        &["--no-color", "--no-colour", "--nocolor"],
        EVERY_COMMAND,
        Remedy::Arguments("--color never"),
    ),
    synonym(
        &["--colour"],
        EVERY_COMMAND,
        Remedy::ArgumentsWithValue("--color {value}", "always"),
    ),
    synonym(
        &[
            "--cwd",
            "--chdir",
            "--dir",
            "--working-directory",
            "--working-dir",
        ],
        EVERY_COMMAND,
        Remedy::ArgumentsWithValue("-C {value}", "DIR"),
    ),
    synonym(&["--debug", "--trace"], EVERY_COMMAND, Remedy::Arguments("-vv")),
    synonym(&["--silent"], EVERY_COMMAND, Remedy::Arguments("--quiet")),
    synonym(
        &["--output-file", "--out-file", "--outfile", "--output-path"],
        EVERY_COMMAND,
        Remedy::ArgumentsWithValue("--out {value}", "PATH"),
    ),
    synonym(
        &["--url", "--api-url", "--server", "--host-url", "--endpoint"],
        EVERY_COMMAND,
        Remedy::ArgumentsWithValue("--base-url {value}", "URL"),
    ),
    synonym(
        &["--project"],
        EVERY_COMMAND,
        Remedy::ArgumentsWithValue("--project-id {value}", "UUID"),
    ),
    synonym(
        &[
            "--token",
            "--api-key",
            "--api-token",
            "--password",
            "--client-secret",
        ],
        EVERY_COMMAND,
        Remedy::Advice(
            "a secret is never a flag, because other users can see the arguments of a program: set SLUICEGATE_TOKEN, or pass --token-file PATH",
        ),
    ),
    synonym(
        &["--expires", "--expiry", "--expiration", "--valid-until"],
        &["waivers add"],
        Remedy::ArgumentsWithValue("--until {value}", "DATE"),
    ),
    synonym(
        &["--insecure", "-k", "--no-verify-ssl"],
        EVERY_COMMAND,
        Remedy::ArgumentsWithValue("--ca-cert {value}", "PEM"),
    ),
];

/// The commands of [`GATE_COMMANDS`] that decide a verdict from settings.
const VERDICT_COMMANDS: &[&str] = &["check", "review", "ci"];

/// The flags that select a format of the output in other programs.
const FORMAT_FLAGS: &[&str] = &[
    "--format",
    "-f",
    "--output-format",
    "--formatter",
    "--reporter",
    "--out-format",
    "-o",
];

/// Names of commands in other programs, and the arguments after the program's name.
const COMMAND_SYNONYMS: &[(&[&str], &str)] = &[
    (
        &[
            "lint",
            "validate",
            "test",
            "scan",
            "analyze",
            "analyse",
            "verify-files",
            "gate",
            "run-checks",
        ],
        "check",
    ),
    (&["version"], "--version"),
    (&["run", "execute", "start-pipeline"], "pipelines run"),
    (&["explain", "rule"], "rules explain ID"),
    (&["rules-list", "list-rules"], "rules list"),
    (&["config", "configuration", "show-settings", "env"], "settings"),
    (&["login", "auth", "whoami", "status", "ping", "health"], "doctor"),
    (&["setup", "install", "bootstrap", "new", "create"], "init"),
    (&["quickstart", "tutorial", "example", "try"], "demo"),
    (
        &["completion", "generate-shell-completion", "shell-completion"],
        "completions bash",
    ),
    (&["manual", "manpage"], "man"),
    (&["push", "upload", "deploy", "release"], "publish"),
    (&["versions", "releases"], "artifacts list"),
    (&["rollback"], "artifacts rollback"),
    (&["move", "rename"], "mv"),
    (&["autofix", "auto-fix", "autocorrect", "auto-correct"], "fix"),
    (&["compare", "show"], "diff"),
    (&["server", "mock", "emulator"], "serve"),
    (&["waive", "ignore", "suppress", "baseline"], "waivers add"),
    (&["merge", "render", "convert"], "report"),
    (&["detect", "info"], "context"),
];

/// Creates an entry of [`FLAG_SYNONYMS`].
const fn synonym(
    names: &'static [&'static str],
    commands: &'static [&'static str],
    remedy: Remedy,
) -> FlagSynonym {
    FlagSynonym {
        names,
        commands,
        remedy,
    }
}

/// Returns the hint for a flag of another program that a user typed here, or `None` if the flag is not in the table.
/// `command` consists of the words after the program's name, `call` also has the arguments that follow them, and
/// `value` is the value that the user typed for the flag.
pub(super) fn find_flag_hint(command: &str, call: &str, flag: &str, value: Option<&str>) -> Option<String> {
    if let Some(arguments) = find_format_arguments(command, flag, value) {
        return Some(suggest_call(call, &arguments));
    }
    let synonym = FLAG_SYNONYMS.iter().find(|synonym| {
        let is_for_command = synonym.commands.is_empty() || synonym.commands.contains(&command);
        is_for_command && synonym.names.contains(&flag)
    })?;
    Some(match synonym.remedy {
        Remedy::Arguments(arguments) => suggest_call(call, arguments),
        Remedy::ArgumentsWithValue(arguments, default_value) => suggest_call(
            call,
            &arguments.replace("{value}", value.unwrap_or(default_value)),
        ),
        Remedy::Command(arguments) => suggest_call("", arguments),
        Remedy::Advice(advice) => advice.to_owned(),
    })
}

/// Returns a hint with the command that does the same as this command of another program.
pub(super) fn find_command_hint(name: &str) -> Option<String> {
    let (_, arguments) = COMMAND_SYNONYMS.iter().find(|(names, _)| names.contains(&name))?;
    Some(suggest_call("", arguments))
}

/// Returns our arguments for a flag that requests an output format in another program, such as `--format sarif` or
/// `--sarif`, or `None` for any other flag. For commands with reports, formats such as `gcc` become `--show concise`,
/// and an unknown format becomes `-o json`; of a value such as `junit=report.xml`, only the format is used. Other
/// commands only have `-o`: it gets the value unchanged, and a flag that names its format has no equivalent there,
/// except `--json`.
fn find_format_arguments(command: &str, flag: &str, value: Option<&str>) -> Option<String> {
    if !has_result(command) {
        return None;
    }
    // The format that the flag itself names, such as `--sarif`.
    let name = flag.trim_start_matches('-');
    let own_format = Format::from_str(name, true)
        .ok()
        .filter(|_| flag.starts_with("--"));
    if own_format == Some(Format::Json) {
        return Some("-o json".to_owned());
    }
    if !GATE_COMMANDS.contains(&command) {
        // These commands have `-o` themselves, so it is not a flag of another program.
        let is_format_flag = FORMAT_FLAGS.contains(&flag) && flag != "-o";
        return is_format_flag.then(|| format!("-o {}", value.unwrap_or("json")));
    }
    if let Some(format) = own_format {
        return Some(format!("--report {format}={}", value.unwrap_or("-")));
    }
    if flag == "--xml" {
        return Some(format!("--report junit={}", value.unwrap_or("-")));
    }
    if !FORMAT_FLAGS.contains(&flag) {
        return None;
    }
    let format_name = value.map(|value| value.split_once('=').map_or(value, |(format, _)| format));
    Some(match format_name {
        None | Some("json") => "-o json".to_owned(),
        Some("concise" | "compact" | "short" | "gcc" | "unix" | "text" | "line") => {
            "--show concise".to_owned()
        }
        Some(report_name) => match Format::from_str(report_name, true) {
            Ok(format) => format!("--report {format}=-"),
            Err(_) => "-o json".to_owned(),
        },
    })
}

/// Returns the hint "did you mean …?" with a complete call of the program.
fn suggest_call(command: &str, arguments: &str) -> String {
    let words: Vec<&str> = [super::PROGRAM, command, arguments]
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect();
    format!("did you mean `{}`?", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::cli;

    #[test]
    fn synonyms_of_commands_are_commands() {
        let program = cli::build_complete_tree();
        for (names, arguments) in COMMAND_SYNONYMS {
            for name in *names {
                assert!(program.find_subcommand(name).is_none(), "{name} is a command");
            }
            let command = arguments.split(' ').next().unwrap();
            assert!(
                command.starts_with("--") || program.find_subcommand(command).is_some(),
                "{command} is no command"
            );
        }
    }

    #[test]
    fn synonyms_of_flags_are_flags() {
        let program = cli::build_complete_tree();
        for synonym in FLAG_SYNONYMS {
            if let Remedy::Command(arguments) = synonym.remedy {
                let name = arguments.split(' ').next().unwrap();
                let is_flag = name.starts_with("--");
                assert!(
                    is_flag || program.find_subcommand(name).is_some(),
                    "{name} is no command"
                );
            }
            let (Remedy::Arguments(arguments) | Remedy::ArgumentsWithValue(arguments, _)) = synonym.remedy
            else {
                continue;
            };
            let commands = if synonym.commands.is_empty() {
                &["check"]
            } else {
                synonym.commands
            };
            for name in commands {
                let command = name
                    .split(' ')
                    .fold(&program, |command, word| command.find_subcommand(word).unwrap());
                let has_flag = |flag: &str| {
                    command.get_arguments().chain(program.get_arguments()).any(|arg| {
                        let long = arg.get_long().map(|long| format!("--{long}"));
                        let short = arg.get_short().map(|short| format!("-{short}"));
                        long.as_deref() == Some(flag) || short.as_deref() == Some(flag)
                    })
                };
                for flag in arguments
                    .split(' ')
                    .filter(|word| word.len() > 1 && word.starts_with('-'))
                {
                    let flag = if flag == "-vv" { "-v" } else { flag };
                    assert!(has_flag(flag), "{name} has no {flag}");
                }
                for own_name in synonym.names {
                    let is_own = command.get_arguments().any(|arg| {
                        arg.get_long()
                            .is_some_and(|long| own_name == &format!("--{long}"))
                    });
                    assert!(!is_own, "{own_name} is a flag of {name}");
                }
            }
        }
    }
}
