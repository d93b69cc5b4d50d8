//! Prints the account's published versions and shared pipelines.

use crate::job::cli::{OutputArgs, OutputFormat};
use crate::session::artifact_versions::{
    artifact_prefixes, describe_missing_prefix, version_request_failure,
};
use crate::session::response_output::{add_other_columns, format_cell, format_scalar, format_table_within};
use crate::session::{CommandResult, Session};
use serde_json::Value;
use sluicegate_base::text;
use sluicegate_platform::api::{ApiList, Platform};
use std::fmt::Write as _;

/// Prints the shared pipelines of the account in a table or as JSON.
pub(crate) fn print_shared_pipelines(session: &Session, output: OutputArgs) -> CommandResult {
    let platform = session.create_account_client()?;
    session.block_on(async {
        let pipelines = platform.fetch_shared_pipelines().await?;
        let keys = [
            "sharedPipelineIdPrefix",
            "sharedPipelineId",
            "latestVersionName",
            "description",
        ];
        print_artifact_table(session, pipelines, output, &keys, "no artifact is published")
    })?
}

/// Prints the published versions of one prefix, or of all prefixes if `prefix` is `None`. If the given prefix has no
/// version, names the published prefixes: as the text or, for JSON, in a warning.
pub(crate) async fn print_artifacts(
    session: &Session,
    platform: Platform,
    prefix: Option<String>,
    output: OutputArgs,
) -> CommandResult {
    let artifacts = platform.fetch_artifacts(prefix.as_deref()).await?;
    let mut empty_text = "no artifact is published".to_owned();
    if let (Some(prefix), true) = (&prefix, artifacts.is_empty()) {
        let all_prefixes = None;
        let prefixes = artifact_prefixes(&platform.fetch_artifacts(all_prefixes).await?);
        let description = describe_missing_prefix(prefix, &prefixes);
        match output.output {
            OutputFormat::Text => empty_text = text::escape_line(&description),
            OutputFormat::Json => session.ui.warn(&description),
        }
    }
    let keys = [
        "sharedPipelineIdPrefix",
        "versionName",
        "enabled",
        "createdAt",
        "commitHash",
        "branch",
        "provider",
    ];
    print_artifact_table(session, artifacts, output, &keys, &empty_text)
}

/// Prints a list as a table with a column for each key, or as JSON. Instead of an empty table, prints `empty_text`.
fn print_artifact_table<T>(
    session: &Session,
    list: ApiList<T>,
    output: OutputArgs,
    keys: &[&str],
    empty_text: &str,
) -> CommandResult {
    let columns: Vec<(&str, &str)> = keys.iter().copied().zip(column_headings(keys)).collect();
    session.print_list(output, list, &columns, empty_text)
}

/// Returns the table cells of each item, one cell for each key.
fn build_table_rows(items: &[Value], keys: &[&str]) -> Vec<Vec<String>> {
    items
        .iter()
        .map(|item| keys.iter().map(|key| format_cell(item, key)).collect())
        .collect()
}

/// Returns the heading of the table column for each JSON key.
fn column_headings<'a>(keys: &[&'a str]) -> Vec<&'a str> {
    keys.iter().map(|key| column_heading(key)).collect()
}

/// Returns the heading of the table column for this JSON key.
fn column_heading(key: &str) -> &str {
    match key {
        "sharedPipelineIdPrefix" => "prefix",
        "sharedPipelineId" => "id",
        "versionName" => "version",
        "latestVersionName" => "latest",
        "createdAt" => "created",
        "commitHash" => "commit",
        "sourcePipeline" => "source",
        _ => key,
    }
}

/// Prints the details of a published version, or of the latest version if `version` is `None`. If the request fails,
/// checks whether the version is published at all, to explain the error.
pub(crate) async fn print_artifact(
    session: &Session,
    platform: Platform,
    prefix: String,
    version: Option<String>,
    output: OutputArgs,
) -> CommandResult {
    let details = match platform
        .fetch_raw_artifact_details(&prefix, version.as_deref())
        .await
    {
        Ok(details) => details,
        Err(error) => {
            return Err(version_request_failure(&platform, &prefix, version.as_deref(), error).await);
        }
    };
    session.print_response(output, &details, || format_details(&details, session.ui.width()))
}

/// Formats the facts about a version, one per line, and a table of its shared pipelines. `raw` is the platform's
/// response. Fields that the API document does not define follow the others. `width` is the width of the terminal.
fn format_details(raw: &Value, width: Option<usize>) -> String {
    let mut keys = vec![
        "sharedPipelineIdPrefix",
        "versionName",
        "enabled",
        "createdAt",
        "provider",
        "commitHash",
        "branch",
    ];
    let artifact = &raw["artifactDetails"];
    for key in artifact.as_object().into_iter().flat_map(|fields| fields.keys()) {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    let mut details = String::new();
    for key in keys {
        let heading = text::escape_line(column_heading(key));
        let value = format_cell(artifact, key);
        let _ = writeln!(details, "{heading:<10} {}", text::escape_line(&value));
    }
    for (key, value) in raw.as_object().into_iter().flatten() {
        if !["artifactDetails", "sharedPipelines"].contains(&key.as_str()) {
            let heading = text::escape_line(key);
            let _ = writeln!(
                details,
                "{heading:<10} {}",
                text::escape_line(&format_scalar(value))
            );
        }
    }
    let pipelines = raw["sharedPipelines"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let columns = ["sharedPipelineId", "sourcePipeline", "description"].map(|key| (key, column_heading(key)));
    let (columns, _) = add_other_columns(pipelines, &columns);
    let (keys, headings): (Vec<&str>, Vec<&str>) = columns.into_iter().unzip();
    details + "\n" + &format_table_within(&headings, &build_table_rows(pipelines, &keys), width)
}
