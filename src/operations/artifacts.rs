//! The published versions and the shared pipelines of the account.

use crate::job::cli::OutputArgs;
use crate::session::output::{cell, table};
use crate::session::published::{not_published, nothing_under, prefixes};
use crate::session::{CommandResult, Run};
use serde_json::Value;
use sluicegate_platform::api::Platform;

/// Lists the shared pipelines of the account.
pub(crate) fn list_shared(run: &Run, output: OutputArgs) -> CommandResult {
    let sources = run.sources()?;
    let platform = run.platform(&sources.connection(&run.global)?)?;
    run.requests(async {
        let all = platform.shared_pipelines().await?;
        let keys = [
            "sharedPipelineIdPrefix",
            "sharedPipelineId",
            "latestVersionName",
            "description",
        ];
        show_list(run, all.into_iter().map(|item| item.raw), output, &keys)
    })?
}

pub(crate) async fn list(
    run: &Run,
    platform: Platform,
    prefix: Option<String>,
    output: OutputArgs,
) -> CommandResult {
    let all = platform.artifacts(prefix.as_deref()).await?;
    if let (Some(prefix), true) = (&prefix, all.is_empty()) {
        let published = prefixes(&platform.artifacts(None).await?);
        run.ui.warn(&nothing_under(prefix, &published));
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
    show_list(run, all.into_iter().map(|item| item.raw), output, &keys)
}

/// Prints a list as a table with a column for each key, or as JSON.
fn show_list(
    run: &Run,
    items: impl Iterator<Item = Value>,
    output: OutputArgs,
    keys: &[&str],
) -> CommandResult {
    let columns: Vec<(&str, &str)> = keys.iter().copied().zip(headings(keys)).collect();
    run.show_items(output, ("results", items), &columns, "no artifact is published")
}

fn rows(items: &[Value], keys: &[&str]) -> Vec<Vec<String>> {
    items
        .iter()
        .map(|item| keys.iter().map(|key| cell(item, key)).collect())
        .collect()
}

fn headings<'a>(keys: &[&'a str]) -> Vec<&'a str> {
    let heading = |key: &&'a str| match *key {
        "sharedPipelineIdPrefix" => "prefix",
        "sharedPipelineId" => "id",
        "versionName" => "version",
        "latestVersionName" => "latest",
        "createdAt" => "created",
        "commitHash" => "commit",
        "sourcePipeline" => "source",
        other => other,
    };
    keys.iter().map(heading).collect()
}

pub(crate) async fn show(
    run: &Run,
    platform: Platform,
    prefix: String,
    version: Option<String>,
    output: OutputArgs,
) -> CommandResult {
    let details = match platform.raw_artifact_details(&prefix, version.as_deref()).await {
        Ok(details) => details,
        Err(error) => return Err(not_published(&platform, &prefix, version.as_deref(), error).await),
    };
    run.show(output, &details, || details_text(&details))
}

fn details_text(raw: &Value) -> String {
    let keys = [
        "sharedPipelineIdPrefix",
        "versionName",
        "enabled",
        "createdAt",
        "provider",
        "commitHash",
        "branch",
    ];
    let artifact = &raw["artifactDetails"];
    let facts = keys.iter().zip(headings(&keys)).map(|(key, heading)| {
        format!(
            "{heading:<10} {}\n",
            sluicegate_base::text::escape_line(&cell(artifact, key))
        )
    });
    let pipelines = raw["sharedPipelines"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let keys = ["sharedPipelineId", "sourcePipeline", "description"];
    facts.collect::<String>() + "\n" + &table(&headings(&keys), &rows(pipelines, &keys))
}
