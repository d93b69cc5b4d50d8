//! The first screen, which `sluicegate` and `sluicegate --help` print. Commands are grouped by task, because a flat
//! list hides the five that a job needs.

use clap::{Arg, Command};
use std::fmt::Write as _;

/// The hidden command whose help explains the options that every command accepts.
pub(super) const GLOBALS: &str = "globals";

/// The groups that show one command per line.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Start", &["demo", "init", "doctor"]),
    ("Gate", &["check", "review", "ci", "report", "waivers", "rules"]),
    ("Publish", &["publish", "verify", "artifacts"]),
    ("Project", &["diff", "mv", "context"]),
];

/// The title of the group of all commands that no other group names: those for the resources of the platform.
const PLATFORM: &str = "Platform";

/// The last group. It shows several commands per line, as the group of the platform does.
const TOOLS: (&str, &[&str]) = ("Tools", &["serve", "schema", "completions", "man"]);

/// Maximum width of a line, in columns.
const WIDTH: usize = 80;

/// Returns the first screen, at most 40 lines of 80 columns.
pub(super) fn overview(program: &Command) -> String {
    let about = |name: &str| {
        let command = program.find_subcommand(name);
        let about = command.and_then(Command::get_about).cloned().unwrap_or_default();
        about.to_string()
    };
    let mut shown = format!(
        "{}\n\nUsage: sluicegate <COMMAND> [OPTIONS]\n",
        about_program(program)
    );
    for (title, names) in GROUPS {
        let _ = writeln!(shown, "\n{title}:");
        for name in names {
            let _ = writeln!(shown, "  {name:<10} {}", about(name));
        }
    }
    let (tools, tool_names) = TOOLS;
    for (title, names) in [
        (PLATFORM, platform_commands(program)),
        (tools, tool_names.to_vec()),
    ] {
        let _ = writeln!(shown, "\n{title}:");
        for line in wrapped(&names) {
            let _ = writeln!(shown, "  {line}");
        }
    }
    shown + "\nHelp: sluicegate help COMMAND; options of every command: sluicegate help globals\n"
}

/// Returns the commands that no group names, in the order of their definition.
fn platform_commands(program: &Command) -> Vec<&str> {
    let is_grouped = |name: &str| {
        let mut groups = GROUPS.iter().chain([&TOOLS]);
        name == GLOBALS || groups.any(|(_, names)| names.contains(&name))
    };
    let names = program.get_subcommands().map(Command::get_name);
    names.filter(|name| !is_grouped(name)).collect()
}

/// Returns the command whose help explains the options that every command accepts.
pub(super) fn globals(common: &[Arg]) -> Command {
    Command::new(GLOBALS)
        .hide(true)
        .args(common.iter().map(|flag| flag.clone().global(false)))
        .about("Explain the options that every command accepts")
        .after_help("Example:\n  sluicegate help globals")
}

fn about_program(program: &Command) -> String {
    program.get_about().cloned().unwrap_or_default().to_string()
}

fn wrapped(names: &[&str]) -> Vec<String> {
    let mut lines = vec![String::new()];
    for name in names {
        let fits = |line: &String| line.len() + 2 + name.len() + 1 < WIDTH;
        match lines.last_mut().filter(|line| fits(line)) {
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
    fn the_first_screen_names_every_command_once_and_fits() {
        let shown = overview(&Cli::command());
        assert!(shown.lines().count() <= 40, "{shown}");
        assert!(shown.lines().all(|line| line.len() <= WIDTH), "{shown}");
        let program = Cli::command();
        let groups = GROUPS.iter().chain([&TOOLS]).flat_map(|(_, names)| *names);
        let mut named: Vec<&str> = groups.copied().chain(platform_commands(&program)).collect();
        named.sort_unstable();
        let mut known: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        known.sort_unstable();
        assert_eq!(named, known);
    }

    #[test]
    fn the_help_of_the_globals_has_all_of_them() {
        let mut program = super::super::command();
        let help = program.try_get_matches_from_mut(["sluicegate", "help", GLOBALS]);
        let shown = help.unwrap_err().to_string();
        let program = Cli::command();
        let globals = program.get_arguments().filter(|flag| flag.is_global_set());
        for flag in globals.filter_map(Arg::get_long) {
            assert!(shown.contains(&format!("--{flag}")), "{shown}");
        }
        assert!(shown.contains(global::HEADING), "{shown}");
    }
}
