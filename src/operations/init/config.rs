//! Fills the templates of the files with the detected values.

use super::look::RepositoryFacts;
use crate::job::cli::Adopt;
use sluicegate_base::address;
use sluicegate_base::text::format_count;
use sluicegate_pipelines::project::ProjectCheck;

/// Returns the default source of the action; README contains the same one.
fn action() -> String {
    format!("{}@v{}", address::repository_name(), env!("CARGO_PKG_VERSION"))
}

/// Returns the default image with a shell.
fn image() -> String {
    format!(
        "ghcr.io/{}:{}-ci",
        address::repository_name(),
        env!("CARGO_PKG_VERSION")
    )
}

/// The URL below which the release of version 1.2.3 is `v1.2.3/`.
const RELEASES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/releases/download");

const CONFIGURATION: &str = include_str!("templates/sluicegate.yaml");

/// Returns the text of `sluicegate.yaml`.
pub(crate) fn configuration(seen: &RepositoryFacts) -> String {
    let publishes = seen.shared_file.is_some();
    let project_id = seen.project_id.map(|id| id.to_string());
    let config_dir = seen.config_dir.clone().filter(|_| seen.config_dir_given);
    let publish_on = format!("publish-on:\n  branches: [{}]", quoted(&seen.default_branch));
    let new_only = "new-only: true";
    let lines = [
        (
            "__NEW_ONLY__",
            match seen.today.asked {
                Some(Adopt::NewOnly) => new_only.to_owned(),
                _ => commented(new_only),
            },
        ),
        ("__PROJECT_CHECKS__", project_checks(seen)),
        (
            "__PROJECT_ID__",
            line(
                "project-id",
                project_id.as_deref(),
                "00000000-0000-4000-8000-000000000000",
            ),
        ),
        (
            "__AGENT_VERSION__",
            line("agent-version", seen.agent_version.as_deref(), "9.0.0"),
        ),
        (
            "__CONFIG_DIR__",
            line("config-dir", config_dir.as_deref(), ".platform"),
        ),
        (
            "__PREFIX__",
            line(
                "prefix",
                (publishes || seen.prefix_given).then_some(seen.prefix.as_str()),
                &seen.prefix,
            ),
        ),
        (
            "__COMPAT__",
            if publishes {
                "compat: fail".to_owned()
            } else {
                commented("compat: fail")
            },
        ),
        (
            "__PUBLISH_ON__",
            if publishes {
                publish_on
            } else {
                commented(&publish_on)
            },
        ),
    ];
    filled(CONFIGURATION, &lines)
}

/// Returns the project checks with the number of their current findings. Checks without findings are errors; the others
/// are errors only if the current findings do not fail the gate, because a new broken reference must fail it.
fn project_checks(seen: &RepositoryFacts) -> String {
    let excuse = seen.today.excuse();
    let line = |check: ProjectCheck| {
        let key = check.key();
        match (seen.today.of_check(check), excuse) {
            (0, _) => format!("  {key}: error"),
            (found, Some(excuse)) => format!(
                "  {key}: error # {} today, {excuse}",
                format_count(found, "finding")
            ),
            (found, None) => format!("  {key}: warn # {} today", format_count(found, "finding")),
        }
    };
    ProjectCheck::ALL.map(line).join("\n")
}

pub(crate) fn job(template: &str, seen: &RepositoryFacts) -> String {
    let versioned = |source: String| {
        if source.contains('@') {
            source
        } else {
            format!("{source}@v{}", env!("CARGO_PKG_VERSION"))
        }
    };
    let own = seen.source.clone().map(versioned);
    let values = [
        ("__ACTION__", own.unwrap_or_else(action)),
        ("__IMAGE__", seen.source.clone().unwrap_or_else(image)),
        (
            "__RELEASES__",
            seen.source.clone().unwrap_or_else(|| RELEASES.to_owned()),
        ),
        ("__VERSION__", env!("CARGO_PKG_VERSION").to_owned()),
        ("__BRANCH__", quoted(&seen.default_branch)),
    ];
    filled(template, &values)
}

/// Returns the placeholder for the source of the program, if the job still contains one.
pub(crate) fn placeholder(job: &str) -> Option<String> {
    if address::repository_url().is_some() {
        return None;
    }
    [action(), image(), RELEASES.to_owned()]
        .into_iter()
        .find(|name| job.contains(name))
}

fn filled(template: &str, values: &[(&str, String)]) -> String {
    let fill = |text: String, (name, value): &(&str, String)| text.replace(name, value);
    values.iter().fold(template.to_owned(), fill)
}

/// Returns the key with its value, or commented out with an example.
fn line(key: &str, value: Option<&str>, example: &str) -> String {
    match value {
        Some(value) => format!("{key}: {}", quoted(value)),
        None => format!("# {key}: {}", quoted(example)),
    }
}

fn commented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("# {line}")).collect();
    lines.join("\n")
}

/// Quotes any text for YAML: JSON strings are valid YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
