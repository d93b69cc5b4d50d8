//! Fills the templates of the files with the detected values.

use super::current_findings::CurrentFindings;
use super::repository_facts::RepositoryFacts;
use crate::job::cli::Adopt;
use sluicegate_base::address;
use sluicegate_base::text::format_count;
use sluicegate_pipelines::project::ProjectCheck;

/// The commit of the release that this program belongs to, which the release workflow sets while it compiles.
const RELEASED_COMMIT: Option<&str> = option_env!("SLUICEGATE_COMMIT");

/// Returns the GitHub action that a job uses without `--source`: the action of this repository, in the version of this
/// program.
fn default_action() -> String {
    format_action(RELEASED_COMMIT)
}

/// Returns the action as a job refers to it, pinned to the commit of the release, because scanners of workflows require
/// that. A program that was built from source knows no such commit: it uses the tag and turns off the warning of
/// zizmor.
fn format_action(released_commit: Option<&str>) -> String {
    let (name, version) = (address::repository_full_name(), env!("CARGO_PKG_VERSION"));
    match released_commit {
        Some(commit) => format!("{name}@{commit} # v{version}"),
        None => format!("{name}@v{version} # zizmor: ignore[unpinned-uses]"),
    }
}

/// Returns the container image that a job uses without `--source`. The tag ends with `-ci`: this variant contains a
/// shell, which CI hosts need.
fn default_image() -> String {
    add_missing_image_tag(&format!("ghcr.io/{}", address::repository_full_name()))
}

/// Returns the image with a tag, because the tag `latest` has no shell and moves. An image with a tag or a digest stays
/// unchanged.
fn add_missing_image_tag(image: &str) -> String {
    // The host of the registry may have a port.
    let name = image.rsplit('/').next().unwrap_or_default();
    if name.contains([':', '@']) {
        return image.to_owned();
    }
    format!("{image}:{}-ci", env!("CARGO_PKG_VERSION"))
}

/// The URL below which the release of version 1.2.3 is `v1.2.3/`.
const RELEASES_URL: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/releases/download");

/// The URL of the schema with which editors complete `sluicegate.yaml`.
const SCHEMA_URL: &str = concat!(
    env!("CARGO_PKG_REPOSITORY"),
    "/raw/v",
    env!("CARGO_PKG_VERSION"),
    "/schemas/sluicegate.json"
);

const CONFIG_FILE_TEMPLATE: &str = include_str!("templates/sluicegate.yaml");

/// Renders the new `sluicegate.yaml` from its template. Settings whose value is unknown or not wanted are commented
/// out.
pub(crate) fn render_config_file(facts: &RepositoryFacts) -> String {
    let publishes = facts.shared_file.is_some();
    let project_id = facts.project_id.map(|id| id.to_string());
    let config_dir = facts.config_dir.clone().filter(|_| facts.is_config_dir_new);
    let publish_on = format!(
        "publish-on:\n  branches: [{}]",
        quote_yaml(&globset::escape(&facts.default_branch.name))
    );
    let new_only = "new-only: true";
    let values = [
        (
            "__NEW_ONLY__",
            match facts.findings.adopt {
                Some(Adopt::NewOnly) => new_only.to_owned(),
                _ => comment_out(new_only),
            },
        ),
        ("__SCHEMA_URL__", SCHEMA_URL.to_owned()),
        ("__PROJECT_CHECKS__", format_project_checks(facts)),
        (
            "__PROJECT_ID__",
            format_setting(
                "project-id",
                project_id.as_deref(),
                "00000000-0000-4000-8000-000000000000",
            ),
        ),
        (
            "__AGENT_VERSION__",
            format_setting("agent-version", facts.agent_version.as_deref(), "9.0.0"),
        ),
        (
            "__CONFIG_DIR__",
            format_setting("config-dir", config_dir.as_deref(), ".platform"),
        ),
        (
            "__PREFIX__",
            format_setting(
                "prefix",
                (publishes || facts.is_prefix_set).then_some(facts.prefix.as_str()),
                &facts.prefix,
            ),
        ),
        (
            "__COMPAT__",
            if publishes {
                "compat: fail".to_owned()
            } else {
                comment_out("compat: fail")
            },
        ),
        (
            "__PUBLISH_ON__",
            if publishes {
                publish_on
            } else {
                comment_out(&publish_on)
            },
        ),
    ];
    fill_template(CONFIG_FILE_TEMPLATE, &values)
}

/// Returns the lines of all project checks in the configuration file.
fn format_project_checks(facts: &RepositoryFacts) -> String {
    ProjectCheck::ALL
        .map(|check| format_project_check(check, &facts.findings))
        .join("\n")
}

/// Returns the line that sets the level of a project check, with the number of its current findings. The level is
/// `warn` if these findings would fail the gate, otherwise `error`.
fn format_project_check(check: ProjectCheck, findings: &CurrentFindings) -> String {
    let (key, number) = (check.key(), findings.count_check_findings(check));
    let writes_config_file = true;
    match findings.excused_state(writes_config_file) {
        _ if number == 0 => format!("  {key}: error"),
        Some(excuse) => format!(
            "  {key}: error # {} today, {excuse}",
            format_count(number, "finding")
        ),
        None => format!("  {key}: warn # {} today", format_count(number, "finding")),
    }
}

/// Fills the template of a CI job with the source of the program, its version and the default branch. The source is an
/// action, an image or a URL. Each template contains only one of these, so `--source` is the value for all three. An
/// action or an image without a version gets the version of this program.
pub(crate) fn render_job(template: &str, facts: &RepositoryFacts) -> String {
    let action = match &facts.source {
        None => default_action(),
        Some(source) if source.contains('@') => source.clone(),
        Some(source) => format!("{source}@v{}", env!("CARGO_PKG_VERSION")),
    };
    let values = [
        ("__ACTION__", action),
        (
            "__IMAGE__",
            facts
                .source
                .as_deref()
                .map_or_else(default_image, add_missing_image_tag),
        ),
        (
            "__RELEASES__",
            facts.source.clone().unwrap_or_else(|| RELEASES_URL.to_owned()),
        ),
        ("__VERSION__", env!("CARGO_PKG_VERSION").to_owned()),
        ("__BRANCH__", quote_yaml(&facts.default_branch.name)),
        (
            "__BRANCH_PATTERN__",
            quote_yaml(&escape_filter_pattern(&facts.default_branch.name)),
        ),
    ];
    fill_template(template, &values)
}

/// Returns the text in the job that the user has to replace: the default action, image or URL. Returns `None` if the
/// program was built with the address of a published repository, because these defaults then exist.
pub(crate) fn find_default_to_replace(job: &str) -> Option<(String, &'static str)> {
    if address::repository_url().is_some() {
        return None;
    }
    let sources = [
        (default_action(), "action"),
        (default_image(), "image"),
        (RELEASES_URL.to_owned(), "URL"),
    ];
    let (name, kind) = sources.into_iter().find(|(name, _)| job.contains(name))?;
    // The text of the action ends with a YAML comment, which the user need not replace.
    let name = name.split(" # ").next().unwrap_or_default().to_owned();
    Some((name, kind))
}

/// Replaces each placeholder of the template by its value.
fn fill_template(template: &str, values: &[(&str, String)]) -> String {
    values.iter().fold(template.to_owned(), |text, (name, value)| {
        text.replace(name, value)
    })
}

/// Returns the line for a key with its value. Without a value, the line is commented out and shows the example.
fn format_setting(key: &str, value: Option<&str>, example: &str) -> String {
    match value {
        Some(value) => format!("{key}: {}", quote_yaml(value)),
        None => format!("# {key}: {}", quote_yaml(example)),
    }
}

/// Turns each line into a YAML comment.
fn comment_out(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("# {line}")).collect();
    lines.join("\n")
}

/// Returns the pattern that matches only this branch in the filters of GitHub, Gitea and Forgejo
/// (<https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#filter-pattern-cheat-sheet>). The
/// lists of the other hosts have only wildcards that no name of a branch contains.
fn escape_filter_pattern(branch: &str) -> String {
    let mut pattern = String::new();
    for (index, character) in branch.char_indices() {
        if matches!(character, '*' | '?' | '+' | '[' | ']' | '\\') || (index == 0 && character == '!') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

/// Quotes any text for YAML. A JSON string is also valid YAML.
fn quote_yaml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn action_of_release_is_pinned_by_its_commit() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let version = env!("CARGO_PKG_VERSION");
        let name = address::repository_full_name();
        assert_eq!(
            format_action(Some(commit)),
            format!("{name}@{commit} # v{version}")
        );
        let tag = format!("{name}@v{version} # zizmor: ignore[unpinned-uses]");
        assert_eq!(format_action(None), tag);
    }
}
