//! Renders the manual page of a command.

use crate::job::cli::{EXIT_CODES, FILES, GLOBAL_OPTIONS_HEADING, GLOBALS_COMMAND, list_flag_variables};
use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::fmt::Write as _;
use std::io;

/// Returns the manual page of a command, as roff. Only the page `sluicegate-globals` describes the common flags; the
/// other pages refer to it.
pub(crate) fn render_manual_page(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let is_about_globals = command.get_name() == GLOBALS_COMMAND;
    let is_common = |flag: &Arg| flag.get_help_heading() == Some(GLOBAL_OPTIONS_HEADING);
    let common_flags: Vec<String> = command
        .get_arguments()
        .filter(|flag| is_common(flag) && !flag.is_hide_set())
        .filter_map(|flag| Some(format!("--{}", flag.get_long()?)))
        .collect();
    let page_command = command
        .clone()
        .after_help(None::<&str>)
        .after_long_help(None::<&str>)
        // Every page shows the version, but only the program has the flag `--version`.
        .version(env!("CARGO_PKG_VERSION"))
        .disable_version_flag(command.get_version().is_none())
        .mut_args(|flag| {
            let is_hidden = flag.is_hide_set() || (is_common(&flag) && !is_about_globals);
            flag.hide(is_hidden).hide_short_help(false).hide_long_help(false)
        });
    Man::new(page_command.clone())
        // The date is empty because it would differ between builds. Without quotes, an empty argument would be dropped.
        .date("\"\"")
        .source(concat!("sluicegate ", env!("CARGO_PKG_VERSION")))
        .manual("sluicegate manual")
        .render(&mut page)?;
    let mut sections = Roff::new();
    if !is_about_globals && !common_flags.is_empty() {
        sections.control("SH", ["GLOBAL OPTIONS"]);
        sections.text([roman(common_flags.join(" ") + ". See sluicegate-globals(1).")]);
    }
    let variables = list_flag_variables(&page_command);
    if !variables.is_empty() {
        let rows = variables.iter().map(|(name, text)| (&**name, &**text));
        push_list_section(&mut sections, "ENVIRONMENT", rows);
    }
    push_list_section(&mut sections, "EXIT STATUS", EXIT_CODES.iter().copied());
    push_list_section(&mut sections, "FILES", FILES.iter().copied());
    let help = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    push_help_sections(&mut sections, &help);
    sections.to_writer(&mut page)?;
    Ok(escape_non_ascii(&String::from_utf8_lossy(&page)))
}

/// The title of the section for the examples of a command.
const EXAMPLES: &str = "EXAMPLES";

/// The title of the section for the paragraphs in the help of a command.
const NOTES: &str = "NOTES";

/// Adds the text that follows the options in the help of a command: its examples, and below them its paragraphs as
/// notes. In a help without a heading, the paragraphs introduce the examples. Indented lines are not wrapped: `nf` and
/// `fi` turn wrapping off and on again.
fn push_help_sections(page: &mut Roff, help: &str) {
    let has_examples = help.lines().any(|line| line.starts_with(' '));
    let paragraph_section = if has_examples && !help.lines().any(is_examples_heading) {
        EXAMPLES
    } else {
        NOTES
    };
    let mut section = None;
    let (mut is_wrapped, mut follows_blank_line) = (true, false);
    for line in help.lines() {
        if is_examples_heading(line) {
            continue;
        }
        if line.is_empty() {
            follows_blank_line = true;
            continue;
        }
        let is_paragraph = !line.starts_with(' ');
        if is_paragraph {
            if !is_wrapped {
                page.control("fi", []);
            }
            if section == Some(paragraph_section) {
                page.control("PP", []);
            } else {
                page.control("SH", [paragraph_section]);
                section = Some(paragraph_section);
            }
        } else {
            if section.is_none() {
                page.control("SH", [EXAMPLES]);
                section = Some(EXAMPLES);
            }
            if is_wrapped {
                page.control("nf", []);
            } else if follows_blank_line {
                page.control("sp", []);
            }
        }
        (is_wrapped, follows_blank_line) = (is_paragraph, false);
        page.text([roman(line)]);
    }
    if !is_wrapped {
        page.control("fi", []);
    }
}

fn is_examples_heading(line: &str) -> bool {
    matches!(line, "Example:" | "Examples:")
}

/// Adds a section that lists names and their meanings.
fn push_list_section<'l>(page: &mut Roff, title: &str, rows: impl Iterator<Item = (&'l str, &'l str)>) {
    page.control("SH", [title]);
    for (name, meaning) in rows {
        page.control("TP", []);
        page.text([bold(name)]);
        page.text([roman(meaning)]);
    }
}

/// Replaces characters that are not ASCII by roff escapes, because a page viewer may expect another encoding.
fn escape_non_ascii(page: &str) -> Vec<u8> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn render_help(help: &'static str) -> String {
        let command = Command::new("sort").after_help(help);
        String::from_utf8(render_manual_page(&command).unwrap()).unwrap()
    }

    #[test]
    fn page_keeps_blank_line_between_groups_of_examples() {
        let page = render_help("Examples:\n  sort a\n\n  sort b\n\nNote.");
        let sections = page.split(".SH EXAMPLES\n").nth(1).unwrap();
        assert_eq!(sections, ".nf\n  sort a\n.sp\n  sort b\n.fi\n.SH NOTES\nNote.\n");
    }

    #[test]
    fn page_has_paragraphs_that_introduce_examples_in_their_section() {
        let page = render_help("First:\n  sort a\n\nThen:\n  sort b");
        let sections = page.split(".SH EXAMPLES\n").nth(1).unwrap();
        assert_eq!(
            sections,
            "First:\n.nf\n  sort a\n.fi\n.PP\nThen:\n.nf\n  sort b\n.fi\n"
        );
    }

    #[test]
    fn page_of_command_without_examples_has_no_section_for_them() {
        for help in ["", "Note."] {
            assert!(!render_help(help).contains("EXAMPLES"), "{help:?}");
        }
    }
}
