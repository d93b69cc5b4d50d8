//! Runs `sluicegate man`: prints a manual page, or writes all pages to a directory.

use crate::atomic_file;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{self, GLOBALS_COMMAND, ManArgs};
use crate::operations::manual_page::render_manual_page;
use crate::session::failure_conversion::to_write_failure;
use crate::session::{CommandResult, Session};
use clap::Command;
use sluicegate_base::text::{self, format_count, format_path};
use std::path::Path;

/// Runs `sluicegate man`: prints the manual page of a command, or with `--dir` writes the pages of all commands.
pub(crate) fn run(session: &Session, args: &ManArgs) -> CommandResult {
    let mut program = cli::build_complete_tree().disable_help_subcommand(true);
    program.build();
    if let Some(dir) = &args.dir {
        return write_manual(session, &program, dir);
    }
    let mut command = &program;
    for name in &args.command {
        command = find_subcommand(command, name)?;
    }
    let page = render_manual_page(command).map_err(|error| Failure::usage(error.to_string()))?;
    session.ui.print_result(&String::from_utf8_lossy(&page))?;
    Ok(ExitStatus::Success)
}

/// Returns the subcommand with this name, or an error with the most similar one.
fn find_subcommand<'c>(command: &'c Command, name: &str) -> Result<&'c Command, Failure> {
    command.find_subcommand(name).ok_or_else(|| {
        let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let hint = text::suggest(name, &names)
            .unwrap_or_else(|| "run `sluicegate --help` to list the commands".to_owned());
        Failure::usage(format!("there is no manual page for `{name}`")).with_hint(hint)
    })
}

/// Writes the manual pages into this directory, and prints their number.
fn write_manual(session: &Session, program: &Command, dir: &Path) -> CommandResult {
    let output_dir = session.env.current_dir().join(dir);
    session.reject_repository_links_in(&output_dir)?;
    let pages = format_count(write_pages(program, &output_dir)?, "manual page");
    let message = format!("wrote {pages} to {}", format_path(&output_dir));
    session.ui.print_result(&(text::escape_line(&message) + "\n"))?;
    Ok(ExitStatus::Success)
}

/// Writes the page of the command and those of its subcommands; returns the number of pages.
fn write_pages(command: &Command, output_dir: &Path) -> Result<usize, Failure> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let path = output_dir.join(format!("{name}.1"));
    render_manual_page(command)
        .and_then(|page| atomic_file::write_file(&path, &page))
        .map_err(to_write_failure("the manual page ", &path))?;
    let mut page_count = 1;
    for verb in command.get_subcommands().filter(|verb| has_page(verb)) {
        page_count += write_pages(verb, output_dir)?;
    }
    Ok(page_count)
}

/// Returns whether the command has a page: if the help lists it, or if its page describes the options of every command.
fn has_page(command: &Command) -> bool {
    !command.is_hide_set() || command.get_name() == GLOBALS_COMMAND
}
