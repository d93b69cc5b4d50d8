//! The first screen, which `sluicegate` and `sluicegate --help` print. Commands are grouped by task, because a flat
//! list hides the five that a job needs.

use clap::{Arg, Command};
use std::fmt::Write as _;

/// The hidden command whose help explains the options that every command accepts.
pub const GLOBALS_COMMAND: &str = "globals";

/// The groups that show one command per line.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Start", &["demo", "init", "doctor"]),
    ("Gate", &["check", "review", "ci", "report", "waivers", "rules"]),
    ("Publish", &["publish", "verify", "artifacts"]),
    (
        "Project",
        &["diff", "fix", "mv", "inspect", "context", "settings"],
    ),
];

/// The title of the group of all commands that no other group names: those for the resources of the platform.
const PLATFORM_TITLE: &str = "Platform";

/// The last group. Like the group of the platform, it shows several commands per line.
const TOOLS: (&str, &[&str]) = ("Tools", &["serve", "schema", "completions", "man"]);

/// Maximum width of a line, in columns.
const MAX_LINE_WIDTH: usize = 80;

/// Returns the help page of the program, which lists all commands. It must fit on a screen of 40 lines and 80 columns.
pub(super) fn render_overview(program: &Command) -> String {
    let mut overview = format!(
        "{}\n\nUsage: sluicegate <COMMAND> [OPTIONS]\n",
        describe_command(program)
    );
    for (title, names) in GROUPS {
        let _ = writeln!(overview, "\n{title}:");
        for name in names {
            let _ = writeln!(
                overview,
                "  {name:<10} {}",
                program
                    .find_subcommand(name)
                    .map(describe_command)
                    .unwrap_or_default()
            );
        }
    }
    let (tools_title, tool_names) = TOOLS;
    for (title, names) in [
        (PLATFORM_TITLE, list_platform_commands(program)),
        (tools_title, tool_names.to_vec()),
    ] {
        let _ = writeln!(overview, "\n{title}:");
        for line in wrap_names(&names) {
            let _ = writeln!(overview, "  {line}");
        }
    }
    overview + "\nHelp: sluicegate help COMMAND (or globals, exit-codes, environment)\n"
}

/// Returns the names of the commands for the platform, in the order of their definition: all commands that are in no
/// other list of the overview. The hidden command `globals` is skipped.
fn list_platform_commands(program: &Command) -> Vec<&str> {
    program
        .get_subcommands()
        .map(Command::get_name)
        .filter(|name| {
            let mut groups = GROUPS.iter().chain([&TOOLS]);
            *name != GLOBALS_COMMAND && !groups.any(|(_, names)| names.contains(name))
        })
        .collect()
}

/// Builds the hidden command `globals`, which exists only for its help page about the common flags.
pub(super) fn build_globals_command(common: &[Arg]) -> Command {
    Command::new(GLOBALS_COMMAND)
        .hide(true)
        .args(common.iter().map(|flag| flag.clone().global(false)))
        .about("Explain the options that every command accepts")
        // The usual template has a usage line, but this command cannot be run.
        .help_template("{about-with-newline}\n{all-args}{after-help}")
        .after_help("Example:\n  sluicegate help globals")
}

fn describe_command(command: &Command) -> String {
    command.get_about().cloned().unwrap_or_default().to_string()
}

/// Joins the names with commas and breaks the result into lines that fit on the screen. The last name of a line has no
/// comma after it.
fn wrap_names(names: &[&str]) -> Vec<String> {
    let mut lines = vec![String::new()];
    for name in names {
        // The overview indents each line by two spaces.
        let max_length = MAX_LINE_WIDTH - "  ".len() - ", ".len() - name.len();
        match lines.last_mut().filter(|line| line.len() <= max_length) {
            Some(line) if line.is_empty() => line.push_str(name),
            Some(line) => {
                let _ = write!(line, ", {name}");
            }
            None => lines.push((*name).to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::{Cli, global};
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn first_screen_names_every_command_once_and_fits() {
        let shown = render_overview(&Cli::command());
        assert!(shown.lines().count() <= 40, "{shown}");
        assert!(shown.lines().all(|line| line.len() <= MAX_LINE_WIDTH), "{shown}");
        let program = Cli::command();
        let groups = GROUPS.iter().chain([&TOOLS]).flat_map(|(_, names)| *names);
        let mut named: Vec<&str> = groups.copied().chain(list_platform_commands(&program)).collect();
        named.sort_unstable();
        let mut known: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        known.sort_unstable();
        assert_eq!(named, known);
    }

    #[test]
    fn help_of_globals_has_all_of_them() {
        let mut program = super::super::build_complete_tree();
        let help = program.try_get_matches_from_mut(["sluicegate", "help", GLOBALS_COMMAND]);
        let shown = help.unwrap_err().to_string();
        let program = Cli::command();
        let globals = program.get_arguments().filter(|flag| flag.is_global_set());
        for flag in globals.filter_map(Arg::get_long) {
            assert!(shown.contains(&format!("--{flag}")), "{shown}");
        }
        assert!(shown.contains(global::HEADING), "{shown}");
    }
}
