//! Shows a plan with the reasons to refuse it and its changes for consumers, as text and as JSON.

use crate::job::settings::SmokeRun;
use crate::publish::{FileSelection, Plan, PlanChanges};
use serde_json::{Value, json};
use sluicegate_base::text::{self, List, format_count};
use sluicegate_pipelines::interface::{
    ChangeClass, Compatibility, FILE_CHANGES_HEADING, InterfaceChange, list_changes, summarize_changes,
};
use sluicegate_pipelines::pipelines::{SharedParameter, is_pipeline};
use sluicegate_platform::api::ArtifactDetails;
use std::fmt::Write as _;
/// Maximum number of changed files of each kind to print.
const MAX_LISTED_ENTRIES: usize = 20;

#[derive(Default)]
pub(super) struct PublishedState {
    /// False without a platform, or if it gave no usable response.
    pub(super) is_known: bool,
    /// The planned version, if it already exists.
    pub(super) planned_version: Option<ArtifactDetails>,
    pub(super) latest: Option<ArtifactDetails>,
}

/// The data that a dry run shows in addition to the plan.
pub(super) struct Preview {
    pub(super) receipt_digest: String,
    pub(super) hashes: Vec<String>,
    pub(super) published_state: PublishedState,
    /// The reasons why the publish would be refused.
    pub(super) refusals: Vec<String>,
    /// The hint of the refusal.
    pub(super) refusal_hint: Option<String>,
    pub(super) skip_reason: Option<String>,
    /// The commit of the latest version and the changes since that commit, or the reason why they are unknown.
    pub(super) changes: Result<(String, PlanChanges), String>,
    /// The smoke runs that follow the publish.
    pub(super) smoke_runs: Vec<SmokeRun>,
    /// The changes for consumers; `None` if they were not compared.
    pub(super) compat: Option<Compatibility>,
}

impl PublishedState {
    /// Returns the name of the latest version, or that it is unknown; `None` if the platform has no enabled version.
    fn describe_latest(&self) -> Option<String> {
        if !self.is_known {
            return Some("(unknown)".to_owned());
        }
        self.latest
            .as_ref()
            .map(|latest| latest.artifact.display_name().to_owned())
    }
}

impl Preview {
    /// Returns the name of the planned version; `None` if nothing is published and no version has that name.
    fn version_name<'p>(&self, plan: &'p Plan) -> Option<&'p str> {
        let is_version_real = self.skip_reason.is_none() || self.published_state.planned_version.is_some();
        is_version_real.then_some(plan.version_name.as_str())
    }
}

/// Returns the preview of a publish in the JSON format `sluicegate.plan/v1`.
pub(super) fn build_preview_document(plan: &Plan, preview: &Preview) -> Value {
    let files: Vec<Value> = plan
        .files
        .iter()
        .zip(&preview.hashes)
        .map(|(file, hash)| json!({ "path": file.path, "bytes": file.bytes, "sha256": hash }))
        .collect();
    let mut refusals: Vec<Value> = preview
        .refusals
        .iter()
        .map(|refusal| json!({ "what": refusal }))
        .collect();
    // As in the text, the hint about all refusals follows the last one.
    if let (Some(refusal), Some(hint)) = (refusals.last_mut(), &preview.refusal_hint) {
        refusal["hint"] = json!(hint);
    }
    let latest = preview.published_state.latest.as_ref().map(|latest| {
        json!({ "versionName": latest.artifact.version_name, "commitHash": latest.artifact.commit_hash })
    });
    let smoke_runs: Vec<Value> = preview
        .smoke_runs
        .iter()
        .map(|run| json!({ "projectId": run.project, "pipeline": run.pipeline, "environment": run.environment }))
        .collect();
    let changes = preview.changes.as_ref().ok().map(|(commit, changes)| {
        json!({ "since": commit, "added": changes.added, "modified": changes.modified, "removed": changes.removed })
    });
    json!({
        "schema": "sluicegate.plan/v1",
        "prefix": plan.prefix,
        "versionName": preview.version_name(plan),
        "commitHash": plan.commit_hash,
        "branch": plan.branch,
        "from": plan.source.name(),
        "select": plan.selection.name(),
        "digest": preview.receipt_digest,
        "bytes": plan.total_bytes(),
        "files": files,
        "sharedPipelines": plan.shared_pipelines,
        "warnings": plan.warnings,
        "refused": refusals,
        "nothingToPublish": preview.skip_reason,
        "latest": latest,
        "changes": changes,
        "changesUnknown": preview.changes.as_ref().err(),
        "compat": preview.compat,
        "smoke": smoke_runs,
    })
}

/// Renders the preview of a publish as text. With `has_hashes`, each file is listed with its hash and size.
pub(super) fn render_preview(plan: &Plan, preview: &Preview, has_hashes: bool) -> String {
    let mut text_output = format_headline(plan, preview);
    let facts = [
        ("prefix", Some(plan.prefix.clone())),
        ("version", preview.version_name(plan).map(str::to_owned)),
        ("commit", Some(plan.commit_hash.clone())),
        ("branch", plan.branch.clone()),
        ("digest", Some(preview.receipt_digest.clone())),
        ("bytes", Some(plan.total_bytes().to_string())),
        ("latest", preview.published_state.describe_latest()),
    ];
    for (name, value) in facts {
        let value = value.unwrap_or_else(|| "(none)".to_owned());
        let _ = writeln!(text_output, "  {name:<8} {}", text::escape_line(&value));
    }
    if has_hashes {
        for (file, hash) in plan.files.iter().zip(&preview.hashes) {
            let _ = writeln!(
                text_output,
                "  {hash} {:>10}  {}",
                file.bytes,
                text::escape_line(&file.path)
            );
        }
    }
    push_shared_pipelines(&mut text_output, plan);
    match &preview.changes {
        Ok((commit, changes)) => push_file_changes(&mut text_output, commit, changes),
        Err(reason) => {
            let _ = writeln!(
                text_output,
                "could not list the changes: {}",
                text::escape_line(reason)
            );
        }
    }
    // Without a published version, there are no consumers.
    if let Some(compat) = preview.compat.as_ref().filter(|compat| compat.against.is_some()) {
        push_consumer_changes(&mut text_output, compat);
    }
    push_totals(&mut text_output, plan, has_hashes);
    push_smoke_runs(&mut text_output, &preview.smoke_runs);
    for refusal in &preview.refusals {
        let _ = writeln!(
            text_output,
            "publishing would fail: {}",
            text::escape_line(refusal)
        );
    }
    if let Some(hint) = &preview.refusal_hint {
        let _ = writeln!(text_output, "hint: {}", text::escape_line(hint));
    }
    text_output
}

/// Returns the line that says what the publish would do.
fn format_headline(plan: &Plan, preview: &Preview) -> String {
    let file_count = format_count(plan.files.len(), "file");
    match &preview.skip_reason {
        Some(reason) => format!("would publish nothing: {}\n", text::escape_line(reason)),
        None if preview.refusals.is_empty() => format!("would publish {file_count}\n"),
        None => format!("would fail to publish {file_count}\n"),
    }
}

/// Adds the smoke runs that follow the publish.
fn push_smoke_runs(output: &mut String, runs: &[SmokeRun]) {
    for run in runs {
        let name = run.to_string();
        let _ = writeln!(
            output,
            "would then run {} of project {}",
            text::escape_line(&name),
            run.project
        );
    }
}

/// Adds the offered pipelines with their parameters, as consumers see them.
fn push_shared_pipelines(output: &mut String, plan: &Plan) {
    let entries: Vec<_> = plan.interface.offered_entries().collect();
    let heading = format_count(entries.len(), "shared pipeline");
    let _ = writeln!(output, "{heading}{}", if entries.is_empty() { "" } else { ":" });
    let list = List::with_limit(entries, MAX_LISTED_ENTRIES);
    for entry in list.items() {
        let _ = writeln!(
            output,
            "  {}  {}",
            text::escape_line(&entry.id),
            text::escape_line(&entry.pipeline)
        );
        let parameters = List::with_limit(&entry.parameters, MAX_LISTED_ENTRIES)
            .map(|parameter| text::escape_line(&describe_parameter(parameter)));
        for line in parameters.entries() {
            let _ = writeln!(output, "    {line}");
        }
    }
    if let Some(remark) = list.remark() {
        let _ = writeln!(output, "  {remark}");
    }
}

/// Describes a parameter of a shared pipeline: its type, its columns, its default or that it is required, and whether
/// it is exported.
fn describe_parameter(parameter: &SharedParameter) -> String {
    let mut parts = Vec::new();
    parts.extend(parameter.kind.clone());
    let columns = parameter.columns.iter().map(|column| match &column.kind {
        Some(kind) => format!("{} {kind}", column.name),
        None => column.name.clone(),
    });
    let columns: Vec<String> = columns.collect();
    if !columns.is_empty() {
        parts.push(format!("columns {}", columns.join(", ")));
    }
    match &parameter.default {
        Some(default) => parts.push(format!("default {default:?}")),
        None => parts.push("required".to_owned()),
    }
    if parameter.export_allowed {
        parts.push("exported".to_owned());
    }
    format!("{}: {}", parameter.name, parts.join("; "))
}

/// Adds the number of files by kind. If the shared pipelines need at most half of the files, adds a hint on how to
/// publish only the needed files.
fn push_totals(output: &mut String, plan: &Plan, has_hashes: bool) {
    let pipeline_count = plan.files.iter().filter(|file| is_pipeline(&file.path)).count();
    // The shared-pipelines file is always sent.
    let other_count = plan.files.len().saturating_sub(pipeline_count + 1);
    let _ = writeln!(
        output,
        "total: {} ({}): {}, {}, and the shared-pipelines file",
        format_count(plan.files.len(), "file"),
        format_count(plan.total_bytes(), "byte"),
        format_count(pipeline_count, "pipeline"),
        format_count(other_count, "other file")
    );
    if !has_hashes {
        output.push_str("  -v lists each file with its hash\n");
    }
    if plan.selection == FileSelection::All && plan.needed_count * 2 <= plan.files.len() {
        let _ = writeln!(
            output,
            "hint: the shared pipelines need {} of the {}; to publish only these, set `publish.select: closure` \
             (--select closure)",
            plan.needed_count,
            format_count(plan.files.len(), "file")
        );
    }
}

/// Adds the changes for consumers to the preview. Changed files are omitted, because the preview lists them before.
fn push_consumer_changes(output: &mut String, compat: &Compatibility) {
    let mut offered_changes = compat.clone();
    let is_offered = |change: &InterfaceChange| change.class != ChangeClass::Content;
    offered_changes.changes.retain(is_offered);
    let summary = if offered_changes.changes.is_empty() && compat.class.is_some() {
        "no change to ids or parameters".to_owned()
    } else {
        summarize_changes(&offered_changes)
    };
    let _ = writeln!(output, "for consumers of {}: {summary}", compat.old_name());
    // The changed files are last.
    let is_before_files = |line: &&String| *line != FILE_CHANGES_HEADING;
    for line in list_changes(compat).iter().take_while(is_before_files) {
        let _ = writeln!(output, "  {line}");
    }
    if let Some(reason) = &compat.accepted {
        let _ = writeln!(output, "  accepted: {}", text::escape_line(reason));
    }
}

/// Adds the paths that changed since `commit`, the commit of the latest version.
fn push_file_changes(output: &mut String, commit: &str, changes: &PlanChanges) {
    let kinds = [
        ("added", &changes.added),
        ("modified", &changes.modified),
        ("removed", &changes.removed),
    ];
    if kinds.iter().all(|(_, paths)| paths.is_empty()) {
        let _ = writeln!(output, "nothing changed since the latest version ({commit})");
        return;
    }
    let _ = writeln!(output, "changed since the latest version ({commit}):");
    for (kind, paths) in kinds {
        for entry in List::with_limit(paths, MAX_LISTED_ENTRIES)
            .map(|path| text::escape_line(path))
            .entries()
        {
            let _ = writeln!(output, "  {kind:<8} {entry}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list_file_changes(changes: &PlanChanges) -> String {
        let mut output = String::new();
        push_file_changes(&mut output, "1a2b3c4", changes);
        output
    }

    #[test]
    fn preview_lists_each_changed_file_with_its_kind_of_change() {
        let changes = PlanChanges {
            added: vec!["new.orch.yaml".to_owned()],
            modified: Vec::new(),
            removed: vec!["old.orch.yaml".to_owned()],
        };
        assert_eq!(
            list_file_changes(&changes),
            "changed since the latest version (1a2b3c4):\n  added    new.orch.yaml\n  removed  old.orch.yaml\n"
        );
    }

    #[test]
    fn preview_without_changed_files_reports_it() {
        assert_eq!(
            list_file_changes(&PlanChanges::default()),
            "nothing changed since the latest version (1a2b3c4)\n"
        );
    }
}
