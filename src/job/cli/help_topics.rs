//! The pages of `sluicegate help` that are about no command: exit codes, environment variables and files.

use clap::Command;
use sluicegate_base::text::wrap;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Maximum width of the lines that clap does not wrap at the width of the terminal.
pub(super) const MAX_STATIC_WIDTH: usize = 80;

pub(super) const EXIT_CODES_TOPIC: &str = "exit-codes";
pub(super) const ENVIRONMENT_TOPIC: &str = "environment";

/// Each exit code with its meaning, as in `docs/book/exit-codes.md`.
pub const EXIT_CODES: &[(&str, &str)] = &[
    (
        "0",
        "the gate passed, the command succeeded, or there was nothing to do",
    ),
    ("1", "the gate failed"),
    ("2", "the command was used or configured incorrectly"),
    (
        "3",
        "the verdict is undecided: the platform did not return a usable response",
    ),
    (
        "4",
        "the token was not accepted (401) or lacks a permission (403)",
    ),
    (
        "5",
        "the version or other resource that the command should create already exists (409)",
    ),
    (
        "6",
        "the published artifact is incomplete, or could not be verified",
    ),
    ("7", "the git or CI context could not be determined"),
    ("8", "a remote run, such as an execution, failed"),
    ("101", "`sluicegate` stopped because of a defect in its own code"),
    (
        "130, 143",
        "the command was interrupted (130) or terminated (143) by a signal",
    ),
];

/// The files that the program reads, with their purpose.
pub const FILES: &[(&str, &str)] = &[
    ("sluicegate.yaml", "settings, at the repository root"),
    (
        "sluicegate-waivers.yaml",
        "allowed findings, at the repository root",
    ),
    (
        "sluicegate-rules.yaml",
        "rules of the team, at the repository root",
    ),
    (
        "CONFIG_DIR/config/pipeline_quality_rules.yaml",
        "rules, in the platform's hidden directory",
    ),
    (
        "CONFIG_DIR/shared-pipelines.yaml",
        "shared pipelines, in the platform's hidden directory",
    ),
];

/// The variables that have no flag.
const VARIABLES_WITHOUT_FLAG: &[(&str, &str)] = &[
    (
        "SLUICEGATE_BITBUCKET_PROXY",
        "URL of Bitbucket's proxy for Code Insights (default: http://localhost:29418)",
    ),
    ("SLUICEGATE_TOKEN", "Bearer token for the platform"),
    ("SLUICEGATE_CLIENT_ID", "OAuth 2 client ID"),
    ("SLUICEGATE_CLIENT_SECRET", "OAuth 2 client secret"),
    (
        "SLUICEGATE_TOKEN_URL",
        "Token endpoint for the OAuth 2 client credentials",
    ),
    (
        "SLUICEGATE_TOKEN_AUDIENCE",
        "OAuth 2 audience, if the token endpoint requires one",
    ),
];

/// Builds the hidden commands `exit-codes` and `environment`, which exist only for their help pages.
pub(super) fn build_topic_commands(program: &Command) -> [Command; 2] {
    let mut exit_codes = String::from("Explain the exit codes\n\n");
    for (code, meaning) in EXIT_CODES {
        let first_indent = format!("  {code:<9} ");
        let next_indent = " ".repeat(first_indent.len());
        add_wrapped_lines(&mut exit_codes, meaning, &first_indent, &next_indent);
    }
    exit_codes.push_str("\nIf several codes apply, 4 takes precedence over 1, and 1 over 3.\n");
    let mut environment = String::from(
        "Explain the environment variables\n\nA flag overrides its variable, and a variable overrides sluicegate.yaml.\n",
    );
    for (name, meaning) in collect_variables(program) {
        let _ = write!(environment, "\n  {name}\n");
        add_wrapped_lines(&mut environment, &meaning, "      ", "      ");
    }
    environment.push_str(
        "\nHTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY set the proxy.\n\
         NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, CLICOLOR and TERM=dumb control the color.\n",
    );
    [
        build_topic_command(EXIT_CODES_TOPIC, "Explain the exit codes", exit_codes),
        build_topic_command(
            ENVIRONMENT_TOPIC,
            "Explain the environment variables",
            environment,
        ),
    ]
}

/// Adds the text in lines that fit a narrow terminal.
fn add_wrapped_lines(page: &mut String, text: &str, first_indent: &str, next_indent: &str) {
    for line in wrap::wrap_lines(text, first_indent, next_indent, MAX_STATIC_WIDTH) {
        page.push_str(&line);
        page.push('\n');
    }
}

/// Builds a hidden command whose help page is `text`, followed by an example.
fn build_topic_command(name: &'static str, about: &'static str, text: String) -> Command {
    let example = format!("\nExample:\n  sluicegate help {name}\n");
    Command::new(name)
        .hide(true)
        .about(about)
        .override_help(text + &example)
}

/// Returns the environment variables of all flags, and those without a flag, with their meanings.
fn collect_variables(program: &Command) -> BTreeMap<String, String> {
    let mut variables: BTreeMap<String, String> = VARIABLES_WITHOUT_FLAG
        .iter()
        .map(|(name, meaning)| ((*name).to_owned(), (*meaning).to_owned()))
        .collect();
    for command in std::iter::once(program).chain(program.get_subcommands()) {
        // If several flags have one variable, the first command explains it.
        for flags in std::iter::once(command).chain(command.get_subcommands()) {
            for (name, meaning) in list_flag_variables(flags) {
                variables.entry(name).or_insert(meaning);
            }
        }
    }
    variables
}

/// Returns the `SLUICEGATE_…` variables of the command's visible flags, each with the flag's help and name. The
/// variables are parsed from `[env: NAME]` in the help.
pub fn list_flag_variables(command: &Command) -> Vec<(String, String)> {
    let mut variables = Vec::new();
    for flag in command.get_arguments().filter(|flag| !flag.is_hide_set()) {
        let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
        let Some((meaning, note)) = help.split_once("[env: ") else {
            continue;
        };
        let name: String = note
            .chars()
            .take_while(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == '_')
            .collect();
        if name.starts_with("SLUICEGATE_") {
            let flag_name = flag
                .get_long()
                .map(|long| format!(" (--{long})"))
                .unwrap_or_default();
            variables.push((name, format!("{}{flag_name}", meaning.trim())));
        }
    }
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_the_book() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/book/exit-codes.md");
        let page = std::fs::read_to_string(page).unwrap();
        for (code, meaning) in EXIT_CODES {
            assert!(
                page.contains(&format!("| {code} | {meaning} |")),
                "{code}: {meaning}"
            );
        }
    }
}
