//! `sluicegate schema`, `man` and the help.

use super::completions::list_candidates;
use crate::support::{Call, json_schema::validate, scratch};
use clap::{Command, CommandFactory as _};
use sluicegate::job::settings::all_settings;
use std::fs;

fn program() -> Command {
    let mut program = sluicegate::job::cli::Cli::command().disable_help_subcommand(true);
    program.build();
    program
}

/// Returns the names of a command and of its subcommands, such as `sluicegate-artifacts-list`.
fn command_names(command: &Command) -> Vec<String> {
    let own = command.get_display_name().unwrap_or("sluicegate").to_owned();
    let below = command.get_subcommands().flat_map(command_names);
    std::iter::once(own).chain(below).collect()
}

/// Adds the words of the call that shows the help of the command, and of each subcommand.
fn add_help_pages(command: &Command, words: &[String], pages: &mut Vec<Vec<String>>) {
    pages.push([words, &["-h".to_owned()]].concat());
    for subcommand in command.get_subcommands() {
        let subcommand_words = [words, &[subcommand.get_name().to_owned()]].concat();
        add_help_pages(subcommand, &subcommand_words, pages);
    }
}

const FOLDED: &str = "\nGlobal options (sluicegate help globals):\n";

/// A terminal breaks a longer line inside a word. Examples are indented, and a shell command has its own line ends.
#[test]
fn help_fits_80_columns_and_fills_the_lines_of_paragraphs() {
    let folder = scratch::create_scratch_directory();
    let call = Call::new(folder.path()).variable("COLUMNS", "80");
    let mut pages: Vec<Vec<String>> = vec![
        vec!["help".into(), "environment".into()],
        vec!["help".into(), "exit-codes".into()],
        vec!["help".into(), "globals".into()],
    ];
    add_help_pages(&program(), &[], &mut pages);
    assert!(pages.len() > 60);
    for page in pages {
        let words: Vec<&str> = page.iter().map(String::as_str).collect();
        for line in call.run(&words[..]).expect(0).out.lines() {
            let is_usage = line.starts_with("Usage: ");
            assert!(is_usage || line.chars().count() <= 80, "{page:?}: {line}");
        }
    }
    // A paragraph that is wrapped again at a narrower width has no short lines in between.
    let text = call.run("publish -h").expect(0).out;
    let paragraph = text.split("\n\n").last().unwrap();
    for line in paragraph.lines().take(3) {
        assert!(line.len() > 60, "{paragraph}");
    }
}

#[test]
fn command_shows_its_own_flags_first_and_only_what_it_takes() {
    let folder = scratch::create_scratch_directory();
    let call = Call::new(folder.path());
    let help = |args: &[&str]| call.run(args).expect(0).out;
    for (command, own, taken, foreign) in [
        ("review", "--fail-on", "--base-url", None),
        ("check", "--staged", "--config-dir", Some("--base-url")),
        ("demo", "--dir", "--quiet", Some("--base-url")),
        ("serve", "--listen", "--color", Some("--token-file")),
        ("schema", "--help", "--verbose", Some("--repo")),
    ] {
        let (short, long) = (help(&[command, "-h"]), help(&[command, "--help"]));
        for text in [&short, &long] {
            let (above, group) = text.split_once(FOLDED).unwrap();
            assert!(above.contains(own) && !above.contains(taken), "{text}");
            assert!(group.contains(taken), "{text}");
        }
        let listed = list_candidates(&call, "fish", &["sluicegate", command, "--"]).join("\n");
        assert!(listed.contains(own) && listed.contains(taken), "{listed}");
        if let Some(foreign) = foreign {
            for text in [&short, &long, &listed] {
                assert!(!text.contains(foreign), "{command}: {foreign}: {text}");
            }
        }
    }
    let waits = help(&["pipelines", "run", "-h"]);
    let (_, group) = waits.split_once(FOLDED).unwrap();
    assert!(
        group.contains("--request-timeout") && !group.contains("--timeout --"),
        "{waits}"
    );
    let verb = help(&["artifacts", "list", "-h"]);
    assert!(
        !verb.contains("--gate-changes") && verb.contains(FOLDED),
        "{verb}"
    );
}

/// A command line that serves several commands may contain such flags; their values are not even read.
#[test]
fn flag_that_command_does_not_show_changes_nothing_in_it() {
    let world = crate::support::project();
    let call = Call::new(&world.work());
    let wrong = [
        ("--base-url", "no address"),
        ("--project-id", "no UUID"),
        ("--agent-version", "\u{1b}"),
        ("--token-file", "gone"),
        ("--token-command", "exit 1"),
        ("--ca-cert", "gone.pem"),
        ("--timeout", "0"),
        ("--retries", "4000000000"),
        ("--config", "gone.yaml"),
        ("--repo", "gone"),
        ("--config-dir", "a/b"),
        ("--ci", "no-host"),
        ("--gate-changes", "fail"),
        ("--policy", "base"),
    ];
    for command in [
        &["check"][..],
        &["context"],
        &["diff", "HEAD"],
        &["rules", "list"],
        &["waivers", "list"],
        &["schema"],
        &["completions", "bash"],
        &["man", "--dir", "pages"],
    ] {
        let plain = call.run(command);
        let help = call.run(&[command[0], "--help"]).expect(0).out;
        for (flag, value) in wrong.iter().filter(|(flag, _)| !help.contains(flag)) {
            let output = call.run((command, &[*flag, *value]));
            assert_eq!(
                (output.code, &output.out),
                (plain.code, &plain.out),
                "{command:?} {flag}"
            );
        }
    }
}

#[test]
fn every_command_has_its_manual_page() {
    let folder = scratch::create_scratch_directory();
    let call = Call::new(folder.path());
    let output = call.run("man --dir deep/man1").expect(0).out;
    let mut written: Vec<String> = fs::read_dir(folder.path().join("deep/man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut expected: Vec<String> = command_names(&program())
        .iter()
        .map(|name| format!("{name}.1"))
        .collect();
    expected.push("sluicegate-globals.1".to_owned());
    written.sort();
    expected.sort();
    assert_eq!(written, expected);
    assert!(
        output.contains(&format!("wrote {} manual pages", expected.len())),
        "{output}"
    );
    for file in &written {
        let page = fs::read_to_string(folder.path().join("deep/man1").join(file)).unwrap();
        well_formed(file, &page);
    }
    let page = fs::read_to_string(folder.path().join("deep/man1/sluicegate-review.1")).unwrap();
    assert!(
        page.contains(
            ".SH EXAMPLES\n.nf\n  sluicegate review \\-\\-new\\-only \\-\\-report junit=review.xml"
        ),
        "{page}"
    );
    // A second run replaces the pages; a file in the way is reported.
    call.run("man --dir deep/man1").expect(0);
    fs::write(folder.path().join("file"), "").unwrap();
    call.run("man --dir file").expect(2).saying(&["file"]);
    fs::create_dir_all(folder.path().join("other/sluicegate-check.1")).unwrap();
    call.run("man --dir other")
        .expect(2)
        .saying(&["could not write the manual page ", "sluicegate-check.1"]);
}

/// Panics for the problems that `mandoc -Tlint` would report: no title first, unknown requests, sections without a name
/// or with a duplicate one, text blocks that are not closed.
fn well_formed(file: &str, page: &str) {
    assert!(page.is_ascii(), "{file}: {page}");
    let known = [
        "TH", "SH", "TP", "PP", "IP", "RS", "RE", "nf", "fi", "br", "ie", "el", "ds",
    ];
    let requests: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with(['.', '\'']))
        .map(|line| line[1..].split_whitespace().next().unwrap_or_default())
        .collect();
    for request in &requests {
        assert!(known.contains(request), "{file}: {request:?}");
    }
    let first = requests
        .iter()
        .find(|request| !["ie", "el", "ds"].contains(request));
    assert_eq!(first, Some(&"TH"), "{file}");
    let title = format!(
        ".TH {} 1 \"\" \"sluicegate {}\" \"sluicegate manual\"",
        file.trim_end_matches(".1"),
        env!("CARGO_PKG_VERSION")
    );
    assert!(page.lines().any(|line| line == title), "{file}: {page}");
    let times = |name: &str| requests.iter().filter(|request| **request == name).count();
    assert_eq!(
        (times("TH"), times("nf"), times("RS")),
        (1, times("fi"), times("RE")),
        "{file}"
    );
    let mut sections: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix(".SH "))
        .collect();
    let wanted = [
        "NAME",
        "SYNOPSIS",
        "DESCRIPTION",
        "\"EXIT STATUS\"",
        "FILES",
        "EXAMPLES",
        "VERSION",
    ];
    assert!(
        wanted.iter().all(|name| sections.contains(name)),
        "{file}: {sections:?}"
    );
    // Paragraphs are wrapped (a line of an example is short, but its escapes make it longer), and the heading of the
    // examples is that of the section.
    let (mut is_wrapped, mut is_long_line_wrapped) = (true, true);
    for line in page.lines() {
        is_wrapped = line == ".fi" || (is_wrapped && line != ".nf");
        is_long_line_wrapped &= is_wrapped || line.len() <= 120;
    }
    assert!(is_long_line_wrapped, "{file}: {page}");
    assert!(
        !page.contains("\nExample:") && !page.contains("\nExamples:"),
        "{file}: {page}"
    );
    // Every option has a description.
    assert!(
        !page.contains("\\fR\n\n.") && !page.contains(">\\fR\n\n"),
        "{file}: {page}"
    );
    let count = sections.len();
    sections.sort_unstable();
    sections.dedup();
    assert_eq!(sections.len(), count, "{file}");
}

#[test]
fn schema_is_one_and_knows_examples() {
    let folder = scratch::create_scratch_directory();
    let schema = Call::new(folder.path()).run("schema").expect(0).json();
    let book = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/book");
    let pages: String = fs::read_dir(book)
        .unwrap()
        .map(|page| fs::read_to_string(page.unwrap().path()).unwrap())
        .collect();
    let examples: Vec<serde_json::Value> = pages
        .split("```yaml\n")
        .filter(|block| block.starts_with("# sluicegate.yaml"))
        .map(|block| serde_yaml::from_str(block.split("```").next().unwrap()).unwrap())
        .collect();
    assert!(
        examples
            .iter()
            .any(|example| example["review"]["fail-on"] == "error")
    );
    for example in examples {
        assert_eq!(validate(&schema, &example), Ok(()));
    }
    let wrong = serde_json::json!({ "review": { "fail_on": "error" } });
    assert!(validate(&schema, &wrong).is_err());
}

#[test]
fn help_topics_explain_exit_codes_and_environment() {
    let folder = scratch::create_scratch_directory();
    let call = Call::new(folder.path());
    let codes = call.run("help exit-codes").expect(0).out;
    assert!(
        codes.contains("\n  7         the git or CI context could not be determined\n"),
        "{codes}"
    );
    let environment = call.run("help environment").expect(0).out;
    for name in ["SLUICEGATE_TOKEN", "SLUICEGATE_FAIL_ON", "SLUICEGATE_CLIENT_CERT"] {
        assert!(
            environment.contains(&format!("\n  {name}\n")),
            "{name}: {environment}"
        );
    }
    assert!(
        environment.contains("Lowest severity that fails the gate (--fail-on)"),
        "{environment}"
    );
    let page = call.run("man check").expect(0).out;
    assert!(
        page.contains(".SH ENVIRONMENT") && page.contains("sluicegate\\-globals(1)"),
        "{page}"
    );
    assert!(
        page.contains("SLUICEGATE_FAIL_ON") && !page.contains("Path of the git repository"),
        "{page}"
    );
    let globals = call.run("man globals").expect(0).out;
    assert!(globals.contains("Path of the git repository"), "{globals}");
}

#[test]
fn help_of_environment_describes_each_variable_without_flag_as_table_of_settings() {
    let folder = scratch::create_scratch_directory();
    let help = Call::new(folder.path()).run("help environment").expect(0).out;
    let help_words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut variable_count = 0;
    for setting in all_settings().filter(|setting| setting.flag.is_empty() && !setting.variable.is_empty()) {
        let meaning = setting.description().trim_end_matches('.').replace('`', "");
        let entry = format!("{} {meaning}", setting.variable);
        assert!(help_words.contains(&entry), "{entry}: {help}");
        variable_count += 1;
    }
    assert!(variable_count > 0);
}
