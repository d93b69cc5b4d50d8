//! Runs every example of the help, the README and the book as printed, with a repository, its remote and a local
//! platform that contain the names in the examples. Each example gets its own copy of that world.

use super::book;
use super::example_syntax::all_helps;
use super::example_world::{World, describe_output};
use crate::support::send_signal;
use clap::CommandFactory as _;
use sluicegate::job::cli::Cli;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// Lines that are skipped because they run other programs, with the reason.
const NOT_OURS: [(&str, &str); 9] = [
    (
        "cargo run -- demo",
        "builds the program; tests/it/demo/story.rs runs the demo",
    ),
    ("cargo test", "is this run"),
    ("cargo install", "builds the program"),
    ("sha256sum", "needs a release"),
    ("gh attestation", "needs a release and the network"),
    ("tar -xzf", "needs a release"),
    ("docker run", "needs docker; tests/image/run tries the images"),
    (
        "docker build --tag sluicegate:0.1.0 .",
        "needs docker; tests/image/run tries the images",
    ),
    (
        "docker build --tag sluicegate:0.1.0-ci",
        "needs docker; tests/image/run tries the images",
    ),
];

/// Examples that do not exit with 0, with their exit code and the text that announces it.
const ENDS: [(&str, i32, &str); 1] = [(
    "--version-name 1.0.1 --include",
    6,
    "The following publish command shows the ignored file and exits with code 6",
)];

/// Shell lines that prepare the world for certain examples.
const BEFORE: [(&str, &str); 5] = [
    (
        "part-3.json --report",
        "for n in 1 2 3; do sluicegate review --shard $n/3 --report json=part-$n.json >/dev/null; done",
    ),
    (
        "waivers add component-naming-convention",
        "sed 's/Load faster/load it/' sales/load.orch.yaml >sales/old.orch.yaml",
    ),
    ("rules init", "rm .platform/config/pipeline_quality_rules.yaml"),
    (
        "git clone sales.git",
        "mkdir own; cd own; cp -r ../../sales.git .",
    ),
    (
        "connections create",
        "export SLUICEGATE_PROJECT_ID=$(cat ../new-project)",
    ),
];

/// An example: its place, and its lines as printed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Example {
    place: String,
    lines: String,
}

fn is_ours(line: &str) -> bool {
    let mut words = line
        .split(' ')
        .skip_while(|word| word.contains('=') && !word.starts_with('-'));
    words.next() == Some("sluicegate")
}

/// Returns the indented lines of a help page that start a command, each with its continuation lines.
fn in_help(help: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in help.lines().filter(|line| line.starts_with("  ")) {
        match lines.last_mut().filter(|last| last.ends_with('\\')) {
            Some(last) => *last = format!("{last}\n{line}"),
            None if is_ours(line.trim()) => lines.push(line.to_owned()),
            None => {}
        }
    }
    lines
}

fn is_plain(word: &str) -> bool {
    !word.starts_with('-') && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

/// Returns the commands in a page's text that have more than subcommand names.
fn in_text(text: &str) -> Vec<String> {
    let spans = text
        .split('`')
        .filter(|span| span.starts_with("sluicegate ") && !span.contains('\n'));
    let says_more = |span: &&str| span.split(' ').skip(1).any(|word| !is_plain(word));
    spans.filter(says_more).map(str::to_owned).collect()
}

/// Returns all examples, each once.
fn examples(left_out: &mut BTreeSet<&'static str>) -> Vec<Example> {
    let mut all = Vec::new();
    let own = Cli::command()
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    for (command, help) in all_helps().into_iter().chain([("sluicegate".to_owned(), own)]) {
        let value = in_help(&help).into_iter();
        all.extend(value.map(|lines| Example {
            place: format!("{command} --help"),
            lines,
        }));
    }
    for (place, block) in book::blocks("console") {
        let mut lines = Vec::new();
        for line in block.lines() {
            match NOT_OURS.iter().find(|(begin, _)| line.starts_with(begin)) {
                Some((begin, _)) => drop(left_out.insert(begin)),
                None => lines.push(line),
            }
        }
        all.extend((!lines.is_empty()).then(|| Example {
            place,
            lines: lines.join("\n"),
        }));
    }
    for (place, text) in book::pages()
        .into_iter()
        .filter(|(page, _)| !page.ends_with("reference.md"))
    {
        all.extend(in_text(&text).into_iter().map(|lines| Example {
            place: place.clone(),
            lines,
        }));
    }
    let mut seen = BTreeSet::new();
    all.retain(|example| seen.insert(example.lines.trim().to_owned()));
    all
}

/// Returns the shell lines that prepare the world for this example.
fn find_preparation(example: &Example) -> Option<&'static str> {
    let of_it = BEFORE.iter().find(|(part, _)| example.lines.contains(part));
    of_it.map(|(_, shell)| *shell)
}

/// Runs an example after the lines `before`; returns an error if the exit code is wrong.
fn run_example(example: &Example, before: &str, template: &World) -> Result<(), String> {
    let world = template.copy();
    let server = world.serve();
    let lines = format!("{before}\n{}", example.lines);
    if lines.contains("sluicegate serve") {
        return listens(&mut world.shell(&world.work(), "", &lines.replace("127.0.0.1:8080", "127.0.0.1:0")));
    }
    let process_output = world.shell(&world.work(), &server.url, &lines).output().unwrap();
    let due = ENDS.iter().find(|(part, ..)| example.lines.contains(part));
    let due = due.map_or(0, |(_, code, _)| *code);
    if process_output.status.code() == Some(due) {
        return Ok(());
    }
    Err(format!(
        "{}: {due} is due\n{}\n{}",
        example.place,
        example.lines,
        describe_output(&process_output)
    ))
}

/// Runs a server and checks the first line of its output.
fn listens(command: &mut Command) -> Result<(), String> {
    let mut child = command
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let is_said = lines
        .map_while(Result::ok)
        .any(|line| line.starts_with("listening on http://"));
    let group = format!("-{}", child.id());
    send_signal("KILL", &group);
    let _ = child.wait();
    if is_said {
        Ok(())
    } else {
        Err(format!("it does not listen: {command:?}"))
    }
}

#[test]
fn every_example_runs_as_it_is_printed() {
    let mut left_out = BTreeSet::new();
    let examples = examples(&mut left_out);
    assert!(
        examples.len() > 100,
        "only {} examples were found",
        examples.len()
    );
    let template = World::new();
    let (next, wrong) = (Mutex::new(examples.iter()), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let Some(example) = next.lock().unwrap().next() else {
                break;
            };
            let prepared = find_preparation(example);
            let mut value = run_example(example, prepared.unwrap_or_default(), &template).err();
            if prepared.is_some() && value.is_none() && run_example(example, "", &template).is_ok() {
                value = Some(format!("{}: needs nothing before it any more", example.lines));
            }
            wrong.lock().unwrap().extend(value);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(work);
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{} examples\n\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
    let all: String = examples
        .iter()
        .map(|example| example.lines.clone() + "\n")
        .collect();
    for (begin, reason) in NOT_OURS {
        assert!(
            left_out.contains(begin),
            "{begin:?} ({reason}) stands nowhere any more"
        );
    }
    for part in BEFORE
        .map(|(part, _)| part)
        .into_iter()
        .chain(ENDS.map(|(part, ..)| part))
    {
        assert!(all.contains(part), "{part:?} stands nowhere any more");
    }
    let pages: String = book::pages()
        .into_iter()
        .map(|(_, text)| text.replace('\n', " "))
        .collect();
    for (_, code, promise) in ENDS {
        assert!(
            pages.contains(promise),
            "nothing promises exit {code}: {promise:?}"
        );
    }
}
