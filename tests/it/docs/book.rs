//! Checks the book and the README: commands parse, jobs use existing inputs, messages exist in the program.

use super::{hold, read_workspace_file, root, source_directories};
use clap::{Command, CommandFactory as _};
use serde_json::Value;
use sluicegate::job::cli::Cli;
use sluicegate::job::settings;
use sluicegate_pipelines::team_rules::TeamRuleSet;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use walkdir::WalkDir;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the pages of the book and the README, with their paths from the root.
pub fn pages() -> Vec<(String, String)> {
    let mut paths: Vec<String> = fs::read_dir(root().join("docs/book"))
        .unwrap()
        .map(|entry| format!("docs/book/{}", entry.unwrap().file_name().to_str().unwrap()))
        .filter(|path| {
            Path::new(path)
                .extension()
                .is_some_and(|extension| extension == "md")
        })
        .collect();
    paths.push("README.md".to_owned());
    paths.sort();
    assert!(paths.len() > 10, "the book was not found: {paths:?}");
    paths
        .into_iter()
        .map(|path| {
            let text = read_workspace_file(&path);
            (path, text)
        })
        .collect()
}

/// Returns the fenced code blocks in a language, each with its page.
pub fn blocks(language: &str) -> Vec<(String, String)> {
    let fence = format!("```{language}\n");
    let mut lines = Vec::new();
    for (page, text) in pages() {
        for block in text.split(&fence).skip(1) {
            lines.push((page.clone(), block.split("```").next().unwrap().to_owned()));
        }
    }
    assert!(lines.len() > 5, "no {language} blocks were found");
    lines
}

/// Splits a command into words as a shell does, up to the first shell operator.
pub fn split_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '|' | '>' | '&' | ';') => break,
            (None, ' ') => words.push(std::mem::take(&mut word)),
            _ => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn every_command_in_the_book_is_one() {
    let mut tried = 0;
    for (page, block) in blocks("console") {
        let joined = block.replace("\\\n", " ");
        for line in joined
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("sluicegate "))
        {
            let parsed = Cli::command().try_get_matches_from(split_words(line));
            assert!(parsed.is_ok(), "{page}: {line}\n{}", parsed.unwrap_err());
            tried += 1;
        }
    }
    assert!(tried > 15, "only {tried} commands were found");
}

fn parse_yaml_block(page: &str, block: &str) -> Value {
    serde_yaml::from_str(block).unwrap_or_else(|error| panic!("{page}: {error}\n{block}"))
}

fn keys(value: &Value) -> BTreeSet<String> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key.clone())
        .collect()
}

/// Returns all inputs and the required inputs of a GitLab template.
fn template_inputs(name: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let text = read_workspace_file(&format!("templates/{name}/template.yml"));
    let spec = parse_yaml_block(name, text.split("\n---\n").next().unwrap());
    let inputs = spec["spec"]["inputs"].as_object().unwrap();
    let needed = inputs.iter().filter(|(_, input)| input["default"].is_null());
    (
        inputs.keys().cloned().collect(),
        needed.map(|(name, _)| name.clone()).collect(),
    )
}

/// Checks a step that uses the action or an image; returns 1 if it does, otherwise 0.
fn check_step(page: &str, step: &Value, inputs: &BTreeSet<String>) -> usize {
    let Some(used) = step["uses"].as_str().filter(|used| used.contains("sluicegate")) else {
        return 0;
    };
    assert!(used.ends_with(VERSION), "{page}: {used} is not version {VERSION}");
    if !used.starts_with("docker://") {
        let given = keys(&step["with"]);
        assert!(
            given.is_subset(inputs),
            "{page}: no inputs: {:?}",
            given.difference(inputs)
        );
    }
    1
}

fn check_workflow(page: &str, workflow: &Value, inputs: &BTreeSet<String>) {
    assert!(
        workflow["permissions"].is_object(),
        "{page}: a workflow without permissions"
    );
    for (name, job) in workflow["jobs"].as_object().unwrap() {
        let steps = job["steps"].as_array().unwrap();
        let used: usize = steps.iter().map(|step| check_step(page, step, inputs)).sum();
        assert_eq!(used, 1, "{page}: the job {name} does not use the program once");
    }
}

fn check_include(page: &str, include: &Value) {
    let by = include["component"]
        .as_str()
        .or(include["file"].as_str())
        .unwrap();
    let name = ["review", "publish"]
        .into_iter()
        .find(|name| by.contains(&format!("/{name}")))
        .unwrap();
    let (known, needed) = template_inputs(name);
    let given = keys(&include["inputs"]);
    assert!(
        given.is_subset(&known),
        "{page}: no inputs: {:?}",
        given.difference(&known)
    );
    assert!(
        needed.is_subset(&given),
        "{page}: missing: {:?}",
        needed.difference(&given)
    );
    let version = by
        .split_once('@')
        .map(|(_, version)| version)
        .or(include["ref"].as_str())
        .unwrap();
    // A mirror has the tags of the releases, which begin with `v`.
    assert_eq!(version, format!("v{VERSION}"), "{page}");
}

fn check_hook(page: &str, document: &Value) {
    let hooks: Value = serde_yaml::from_str(&read_workspace_file(".pre-commit-hooks.yaml")).unwrap();
    let repository = &document["repos"][0];
    assert_eq!(repository["rev"], format!("v{VERSION}"), "{page}");
    assert_eq!(repository["hooks"][0]["id"], hooks[0]["id"], "{page}");
}

fn check_shared(page: &str, text: &str) {
    let read = sluicegate_pipelines::pipelines::SharedPipelines::parse(text.as_bytes());
    assert!(read.is_ok(), "{page}: {:?}", read.err());
}

#[test]
fn every_job_in_the_book_is_one() {
    let action = parse_yaml_block("action.yml", &read_workspace_file("action.yml"));
    let inputs = keys(&action["inputs"]);
    let mut kinds = BTreeSet::new();
    for (page, block) in blocks("yaml") {
        let document = parse_yaml_block(&page, &block);
        if block.starts_with("# sluicegate.yaml") {
            kinds.insert("configuration");
            super::accept_configuration(&page, &block);
        } else if block.starts_with("# sluicegate-waivers.yaml") {
            let knows = |rule: &str| sluicegate_pipelines::rules::find_rule(rule).is_some();
            sluicegate_pipelines::waivers::parse_waivers_file(block.as_bytes(), &knows).unwrap();
        } else if block.starts_with("# sluicegate-rules.yaml") {
            let rules = TeamRuleSet::parse(block.as_bytes());
            let run = rules
                .unwrap_or_else(|problems| panic!("{page}: {problems:?}"))
                .run_examples();
            assert!(
                run.example_count > 0 && run.failures.is_empty(),
                "{page}: {:?}",
                run.failures
            );
        } else if block.starts_with("# .platform/shared-pipelines.yaml") {
            check_shared(&page, &block);
        } else if block.starts_with("# .platform/config/pipeline_quality_rules.yaml") {
            let problems = sluicegate_pipelines::rules::lint_rules_file(block.as_bytes());
            assert!(problems.is_empty(), "{page}: {problems:?}");
        } else if document["include"].is_array() {
            kinds.insert("include");
            let includes = document["include"].as_array().unwrap();
            for include in includes {
                check_include(&page, include);
            }
        } else if document["repos"].is_array() {
            kinds.insert("hook");
            check_hook(&page, &document);
        } else if document["on"].is_string() || document["on"].is_object() {
            kinds.insert("workflow");
            check_workflow(&page, &document, &inputs);
        } else {
            kinds.insert("other host");
            assert!(
                block.contains("sluicegate ") || block.contains("SLUICEGATE_"),
                "{page}: a snippet that does not use the program\n{block}"
            );
        }
    }
    assert_eq!(kinds.len(), 5, "{kinds:?}");
}

#[test]
fn pages_of_hosts_show_what_init_writes() {
    let templates = [
        ("github", "init github", "github.yml"),
        ("attestation", "init github signed", "github-signed.yml"),
        ("gitea", "init gitea", "gitea.yml"),
        ("gitlab", "init gitlab", "gitlab.yml"),
        ("azure", "init azure", "azure.yml"),
        ("bitbucket", "init bitbucket", "bitbucket.yml"),
        ("circleci", "init circleci", "circleci.yml"),
        ("buildkite", "init buildkite", "buildkite.yml"),
        ("jenkins", "init jenkins", "Jenkinsfile"),
    ];
    for (page, mark, file) in templates {
        let template = read_workspace_file(&format!("src/operations/init/templates/{file}"));
        let filled = template
            .replace(
                "__ACTION__",
                &format!("your-org/sluicegate@v{VERSION} # zizmor: ignore[unpinned-uses]"),
            )
            .replace("__IMAGE__", &format!("ghcr.io/your-org/sluicegate:{VERSION}-ci"))
            .replace(
                "__RELEASES__",
                "https://github.com/your-org/sluicegate/releases/download",
            )
            .replace("__VERSION__", VERSION)
            .replace("__BRANCH__", "main")
            .replace("__BRANCH_PATTERN__", "main");
        let language = if page == "jenkins" { "groovy" } else { "yaml" };
        let text = format!("\n```{language}\n{filled}```\n\n");
        hold(&format!("docs/book/{page}.md"), mark, &text);
    }
}

#[test]
fn pages_of_hosts_that_read_junit_link_what_it_means() {
    for host in [
        "azure",
        "bitbucket",
        "buildkite",
        "circleci",
        "github",
        "gitlab",
        "jenkins",
    ] {
        let page = read_workspace_file(&format!("docs/book/{host}.md"));
        assert!(
            page.contains("](reviewing.md#test-results)"),
            "{host} does not link the meaning of test results"
        );
    }
    let page = read_workspace_file("docs/book/reviewing.md");
    for expected_text in [
        "A `failure` in the JUnit report is a rule whose findings in a pipeline fail the gate.",
        "An `error` in the JUnit report is a pipeline or rule that could not be evaluated, or another reason",
        "Findings below `--fail-on` are `skipped` in the JUnit report and keep their message.",
    ] {
        assert!(
            page.contains(expected_text),
            "reviewing does not say {expected_text:?}"
        );
    }
}

#[test]
fn every_page_links_index() {
    let without_link: Vec<String> = pages()
        .into_iter()
        .filter(|(page, _)| !page.ends_with("README.md"))
        .filter(|(_, text)| !text.contains("](README.md)"))
        .map(|(page, _)| page)
        .collect();
    assert!(without_link.is_empty(), "{without_link:?}");
}

#[test]
fn versions_and_variables_in_the_book_are_real() {
    for (page, text) in pages() {
        for before in ["sluicegate:", "sluicegate@v", "sluicegate-", "rev: v"] {
            for after in text
                .split(before)
                .skip(1)
                .filter(|after| after.starts_with(|c: char| c.is_ascii_digit()))
            {
                assert!(
                    after.starts_with(VERSION),
                    "{page}: {before}{}",
                    after.lines().next().unwrap()
                );
            }
        }
        for word in text.split(|c: char| !(c.is_ascii_uppercase() || c == '_')) {
            let known = settings::all_settings().any(|setting| setting.variable == word);
            assert!(
                known || !word.starts_with("SLUICEGATE_"),
                "{page}: {word} is no variable"
            );
        }
    }
}

/// Returns the sources of the program and of the action's install script, without the line breaks in strings.
fn sayable() -> String {
    let mut text = read_workspace_file("action/install");
    for entry in source_directories().into_iter().flat_map(WalkDir::new) {
        let entry = entry.unwrap();
        if entry
            .path()
            .extension()
            .is_some_and(|extension| extension == "rs")
        {
            text.push_str(&fs::read_to_string(entry.path()).unwrap());
        }
    }
    let lines: Vec<&str> = text.split("\\\n").collect();
    lines.iter().map(|line| line.trim_start()).collect()
}

#[test]
fn every_message_in_the_book_is_in_the_code() {
    let text = sayable();
    let page = read_workspace_file("docs/book/troubleshooting.md");
    let messages: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split("` |").next())
        .collect();
    assert!(messages.len() > 20, "{messages:?}");
    for message in messages {
        for part in message.split('…').map(str::trim).filter(|part| !part.is_empty()) {
            assert!(text.contains(part), "nothing says {part:?} of {message:?}");
        }
    }
}

#[test]
fn every_exit_code_has_its_line() {
    let page = read_workspace_file("docs/book/exit-codes.md");
    let rows = |text: &str| -> Vec<String> {
        let cells = text
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
        cells
            .filter(|cell| cell.starts_with(|c: char| c.is_ascii_digit()))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(
        rows(&page),
        ["0", "1", "2", "3", "4", "5", "6", "7", "8", "101", "130, 143"]
    );
}

#[test]
fn links_in_the_book_lead_somewhere() {
    for (page, text) in pages() {
        let itself = root().join(&page);
        for link in text
            .split("](")
            .skip(1)
            .map(|rest| rest.split(')').next().unwrap())
        {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            if path.contains("://") {
                continue;
            }
            let target = if path.is_empty() {
                itself.clone()
            } else {
                itself.parent().unwrap().join(path)
            };
            assert!(target.exists(), "{page}: {link}");
            if !anchor.is_empty() {
                let target = fs::read_to_string(target).unwrap();
                let mut headings = target
                    .lines()
                    .filter(|line| line.starts_with('#'))
                    .map(|line| line.trim_start_matches(['#', ' ']));
                assert!(
                    headings.any(|heading| heading.to_lowercase().replace(' ', "-") == anchor),
                    "{page}: {link}"
                );
            }
        }
    }
}

/// Writes the help of a command and of its subcommands.
fn reference(command: &Command, called: &str, into: &mut String) {
    let mut command = command.clone().term_width(100).bin_name(called.to_owned());
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(
        into,
        "\n## {called}\n\n```text\n{}\n```\n",
        lines.join("\n").trim_end()
    );
    for verb in command
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set() && verb.get_name() != "help")
    {
        reference(verb, &format!("{called} {}", verb.get_name()), into);
    }
}

#[test]
fn reference_is_what_help_prints() {
    let mut text = String::new();
    for command in Cli::command()
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
    {
        reference(command, &format!("sluicegate {}", command.get_name()), &mut text);
    }
    let all = Cli::command().term_width(100).render_long_help().to_string();
    let all: Vec<&str> = all.lines().map(str::trim_end).collect();
    let _ = write!(
        text,
        "\n## sluicegate\n\n```text\n{}\n```\n\n",
        all.join("\n").trim_end()
    );
    hold("docs/book/reference.md", "reference", &text);
}
