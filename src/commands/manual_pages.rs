//! Runs `sluicegate man`: prints a manual page, or writes all pages to a directory.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{self, ManArgs};
use crate::session::failure_conversion::reject_unwritten;
use crate::session::{CommandResult, Run};
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use sluicegate_base::text::{self, format_count};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

/// Runs `sluicegate man`: prints the page of a command, or writes all pages.
pub(crate) fn run(run: &Run, args: &ManArgs) -> CommandResult {
    let mut program = cli::command().disable_help_subcommand(true);
    program.build();
    if let Some(dir) = &args.dir {
        return write_manual(run, &program, dir);
    }
    let mut command = &program;
    for name in &args.command {
        command = find_subcommand(command, name)?;
    }
    let page = render_page(command).map_err(anyhow::Error::new);
    let page = page.map_err(|error| Failure::new(ExitStatus::Usage, error))?;
    run.ui.print_result(&String::from_utf8_lossy(&page))?;
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

/// Writes the manual pages into this directory.
fn write_manual(run: &Run, program: &Command, dir: &Path) -> CommandResult {
    let output_dir = run.env.current_dir().join(dir);
    let description = "the manual pages to ";
    fs::create_dir_all(&output_dir).map_err(reject_unwritten(description, &output_dir))?;
    let page_count = write_pages(program, &output_dir).map_err(reject_unwritten(description, &output_dir))?;
    let message = format!(
        "wrote {} to {}",
        format_count(page_count, "manual page"),
        output_dir.display()
    );
    run.ui.print_result(&(text::escape_line(&message) + "\n"))?;
    Ok(ExitStatus::Success)
}

/// Writes the page of the command and those of its subcommands; returns the number of pages.
fn write_pages(command: &Command, output_dir: &Path) -> io::Result<usize> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    fs::write(output_dir.join(format!("{name}.1")), render_page(command)?)?;
    let mut page_count = 1;
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        page_count += write_pages(verb, output_dir)?;
    }
    Ok(page_count)
}

/// Returns the page with the examples unchanged: the crate would wrap them like prose.
fn render_page(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let examples = command.get_after_help().map(ToString::to_string);
    Man::new(command.clone().after_help(None::<&str>).after_long_help(None::<&str>))
        // No date, as it would differ between builds; an empty argument must be quoted to count as one.
        .date("\"\"")
        .source(concat!("sluicegate ", env!("CARGO_PKG_VERSION")))
        .manual("sluicegate manual")
        .render(&mut page)?;
    let mut section = Roff::new();
    section.control("SH", ["EXAMPLES"]);
    section.control("nf", []);
    for line in examples.iter().flat_map(|examples| examples.lines()) {
        section.text([roman(line)]);
    }
    section.control("fi", []);
    section.to_writer(&mut page)?;
    Ok(to_ascii(&String::from_utf8_lossy(&page)))
}

/// Replaces characters that are not ASCII by their code points, which every page viewer understands regardless of its
/// encoding.
fn to_ascii(page: &str) -> Vec<u8> {
    let mut ascii = String::with_capacity(page.len());
    for character in page.chars() {
        if character.is_ascii() {
            ascii.push(character);
        } else {
            let _ = write!(ascii, "\\[u{:04X}]", u32::from(character));
        }
    }
    ascii.into_bytes()
}
