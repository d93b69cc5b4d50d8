//! Runs the dry run: shows the plan, the reasons to refuse it, and its changes for consumers, with read requests only.

use super::Publication;
use super::publish_decision::PublishDecision;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::publish::{FileSelection, FileSource, Plan, PlanChanges, PublishError, Receipt, compare_plans};
use crate::session::CommandResult;
use crate::session::output::json;
use crate::session::step_report::PUBLISH_FAILED;
use serde_json::{Value, json as value};
use sluicegate_base::text::{self, List, count};
use sluicegate_pipelines::interface::{Class, Compat, breaks_told, told};
use sluicegate_pipelines::pipelines::{SharedParameter, is_pipeline};
use sluicegate_platform::api::{ArtifactDetails, Platform};
use sluicegate_platform::http::{ErrorKind, HttpError};
use std::fmt::Write as _;

/// Maximum number of changed files of each kind to print.
const MAX_LISTED_ENTRIES: usize = 20;

#[derive(Default)]
struct PublishedState {
    exists: Option<bool>,
    latest: Option<ArtifactDetails>,
}

/// The data shown with the plan.
struct Preview {
    receipt_digest: String,
    hashes: Vec<String>,
    published_state: PublishedState,
    refusals: Vec<String>,
    skip_reason: Option<String>,
    /// The commit compared with and the changes since then, or why they are unknown.
    changes: Result<(String, PlanChanges), String>,
    /// The changes for consumers; `None` if they were not compared.
    compat: Option<Compat>,
}

impl Publication<'_> {
    /// Shows the plan; exits with 1 for a break that is not allowed, as a publish would.
    pub(super) fn run_dry(mut self, mut plan: Plan) -> CommandResult {
        let platform = self.find_platform()?;
        let intent = match &platform {
            Some(platform) => self.decide(platform, &mut plan)?,
            None => PublishDecision::Upload,
        };
        let (plan, platform) = (&plan, platform.as_ref());
        let hashes = plan.hash_all()?;
        let published_state = self.request_published_state(platform, plan)?;
        let changes = self.compare_with_latest(plan, &hashes, published_state.latest.as_ref());
        let conflict = "the version already exists, and versions cannot be changed".to_owned();
        let mut refusals: Vec<String> = published_state
            .exists
            .filter(|conflict| *conflict)
            .map(|_| conflict)
            .into_iter()
            .collect();
        let (status, receipt, skip_reason) = match intent {
            PublishDecision::Upload => (ExitStatus::Success, Receipt::for_dry_run(plan, &hashes), None),
            PublishDecision::AlreadyPublished(published) => {
                let receipt =
                    Receipt::for_unchanged_files(plan, &hashes, &published.version, &published.commit);
                (ExitStatus::Success, receipt, Some(published.reason))
            }
            PublishDecision::Refuse(failure) => {
                match &self.comparison {
                    Some(comparison) if failure.status() == ExitStatus::GateFailed => {
                        refusals.extend(breaks_told(&comparison.compat));
                    }
                    _ => refusals.push(failure.chain()),
                }
                (failure.status(), Receipt::for_dry_run(plan, &hashes), None)
            }
        };
        let preview = Preview {
            receipt_digest: receipt.digest.clone(),
            hashes: hashes.clone(),
            published_state,
            refusals,
            skip_reason,
            changes,
            compat: self
                .comparison
                .as_ref()
                .map(|comparison| comparison.compat.clone()),
        };
        let output = if self.settings.json {
            json(&build_document(plan, &preview))
        } else {
            render_text(plan, &preview, self.run.global.verbose > 0)
        };
        self.print_result(&output)?;
        let name = format!("{} of {}", plan.version_name, plan.prefix);
        match &preview.skip_reason {
            _ if status != ExitStatus::Success => {
                let title = format!("{PUBLISH_FAILED}: version {name} (dry run)");
                self.run
                    .annotate_failure(&title, status, &preview.refusals.join("\n"));
            }
            Some(reason) => self.write_summary(&format!("Dry run: nothing to publish: {reason}"), plan, &[]),
            None => self.write_summary(&format!("Dry run: would publish {name}"), plan, &preview.refusals),
        }
        Ok(status.worse(self.write_records(receipt)))
    }

    /// Returns the platform if one is configured; a counted version name requires one.
    fn find_platform(&self) -> Result<Option<Platform>, Failure> {
        let is_missing = self.connection.base_url().is_err() || self.connection.token().is_err();
        if is_missing && !self.needs_next_version() {
            return Ok(None);
        }
        Ok(Some(self.run.platform(self.connection)?))
    }

    /// Handles a missing plan; with `--json`, the reasons are printed as JSON too.
    pub(super) fn report_plan_error(&self, error: PublishError) -> CommandResult {
        if self.settings.json {
            let refusals: Vec<Value> = match &error {
                PublishError::Incomplete(problems) => problems
                    .iter()
                    .map(|problem| value!({ "what": problem.description, "path": problem.path, "line": problem.line, "component": problem.component }))
                    .collect(),
                error => vec![value!({ "what": error.to_string() })],
            };
            let head = self.target.head.as_str();
            self.print_result(&json(
                &value!({ "schema": "sluicegate.plan/v1", "commitHash": head, "refused": refusals }),
            ))?;
        }
        Err(error.into())
    }

    /// Returns the published versions, if a platform is configured. An unavailable platform is only a warning, as the
    /// plan does not need it.
    fn request_published_state(
        &self,
        platform: Option<&Platform>,
        plan: &Plan,
    ) -> Result<PublishedState, Failure> {
        let Some(platform) = platform else {
            return Ok(PublishedState::default());
        };
        let published_state = self.run.requests(async {
            Ok::<_, HttpError>(PublishedState {
                exists: Some(
                    find_version(platform, plan, Some(&plan.version_name))
                        .await?
                        .is_some(),
                ),
                latest: find_version(platform, plan, None).await?,
            })
        })?;
        Ok(published_state.unwrap_or_else(|error| {
            self.run
                .ui
                .warn(&format!("could not determine the published version: {error}"));
            PublishedState::default()
        }))
    }

    fn compare_with_latest(
        &self,
        plan: &Plan,
        hashes: &[String],
        latest: Option<&ArtifactDetails>,
    ) -> Result<(String, PlanChanges), String> {
        let latest = latest.ok_or("no published version is known")?;
        let latest_id = latest
            .artifact
            .commit_hash
            .as_deref()
            .ok_or("the latest published version has no commit")?;
        let repo = &self.workspace.repo;
        if latest_id.len() < 40 || !repo.has_commit(latest_id) {
            return Err(format!("the clone does not have the commit {latest_id}"));
        }
        let latest_commit = repo.resolve(latest_id).map_err(|error| error.to_string())?;
        match repo.contains(&self.target.head, &latest_commit) {
            Ok(true) => {}
            Ok(false) => {
                return Err(format!(
                    "the commit {latest_id} is not in the history of this one"
                ));
            }
            Err(error) => return Err(error.to_string()),
        }
        self.build_plan_of(&latest_commit, FileSource::Commit)
            .and_then(|old_plan| compare_plans(&old_plan, plan, hashes))
            .map(|changes| (latest_id.to_owned(), changes))
            .map_err(|error| format!("the commit {latest_id} could not be published as this one: {error}"))
    }
}

/// Returns the details of a version, or of the most recent enabled one; `None` if there is no such version.
async fn find_version(
    platform: &Platform,
    plan: &Plan,
    version: Option<&str>,
) -> Result<Option<ArtifactDetails>, HttpError> {
    match platform.artifact_details(&plan.prefix, version).await {
        Ok(details) => Ok(Some(details)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the plan as JSON: schema `sluicegate.plan/v1`.
fn build_document(plan: &Plan, preview: &Preview) -> Value {
    let files: Vec<Value> = plan
        .files
        .iter()
        .zip(&preview.hashes)
        .map(|(file, hash)| value!({ "path": file.path, "bytes": file.bytes, "sha256": hash }))
        .collect();
    let refusals: Vec<Value> = preview
        .refusals
        .iter()
        .map(|refusal| value!({ "what": refusal }))
        .collect();
    let latest = preview.published_state.latest.as_ref().map(|latest| {
        value!({ "versionName": latest.artifact.version_name, "commitHash": latest.artifact.commit_hash })
    });
    let changes = preview.changes.as_ref().ok().map(|(commit, changes)| {
        value!({ "since": commit, "added": changes.added, "modified": changes.modified, "removed": changes.removed })
    });
    value!({
        "schema": "sluicegate.plan/v1",
        "prefix": plan.prefix,
        "versionName": plan.version_name,
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
    })
}

/// Returns the plan as text; `has_hashes` adds each file with its hash.
fn render_text(plan: &Plan, preview: &Preview, has_hashes: bool) -> String {
    let mut text_output = match &preview.skip_reason {
        Some(reason) => format!("would publish nothing: {}\n", text::line(reason)),
        None => format!("would publish {}\n", count(plan.files.len(), "file")),
    };
    let latest = preview.published_state.latest.as_ref();
    let facts = [
        ("prefix", Some(plan.prefix.clone())),
        ("version", Some(plan.version_name.clone())),
        ("commit", Some(plan.commit_hash.clone())),
        ("branch", plan.branch.clone()),
        ("digest", Some(preview.receipt_digest.clone())),
        ("bytes", Some(plan.total_bytes().to_string())),
        (
            "latest",
            latest.and_then(|details| details.artifact.version_name.clone()),
        ),
    ];
    for (name, value) in facts {
        let value = value.unwrap_or_else(|| "(none)".to_owned());
        let _ = writeln!(text_output, "  {name:<8} {}", text::line(&value));
    }
    if has_hashes {
        for (file, hash) in plan.files.iter().zip(&preview.hashes) {
            let _ = writeln!(
                text_output,
                "  {hash} {:>10}  {}",
                file.bytes,
                text::line(&file.path)
            );
        }
    }
    push_shared_pipelines(&mut text_output, plan);
    match &preview.changes {
        Ok((commit, changes)) => push_file_changes(&mut text_output, commit, changes),
        Err(reason) => {
            let _ = writeln!(text_output, "could not list the changes: {}", text::line(reason));
        }
    }
    if let Some(compat) = preview.compat.as_ref().filter(|compat| compat.against.is_some()) {
        push_consumer_changes(&mut text_output, compat);
    }
    push_totals(&mut text_output, plan, has_hashes);
    for refusal in &preview.refusals {
        let _ = writeln!(text_output, "would be refused: {}", text::line(refusal));
    }
    text_output
}

/// Adds the offered pipelines with their parameters, as consumers see them.
fn push_shared_pipelines(output: &mut String, plan: &Plan) {
    let entries: Vec<_> = plan.interface.offered().collect();
    let heading = count(entries.len(), "shared pipeline");
    let _ = writeln!(output, "{heading}{}", if entries.is_empty() { "" } else { ":" });
    let list = List::with_limit(entries, MAX_LISTED_ENTRIES);
    for entry in list.items() {
        let _ = writeln!(
            output,
            "  {}  {}",
            text::line(&entry.id),
            text::line(&entry.pipeline)
        );
        let parameters = List::with_limit(&entry.parameters, MAX_LISTED_ENTRIES)
            .map(|parameter| text::line(&describe_parameter(parameter)));
        for entry in parameters.entries() {
            let _ = writeln!(output, "    {entry}");
        }
    }
    if let Some(remark) = list.remark() {
        let _ = writeln!(output, "  {remark}");
    }
}

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

/// Adds the number of files by kind, and a hint if most of them are not needed.
fn push_totals(output: &mut String, plan: &Plan, has_hashes: bool) {
    let pipeline_count = plan.files.iter().filter(|file| is_pipeline(&file.path)).count();
    // The shared-pipelines file is always sent.
    let other_count = plan.files.len().saturating_sub(pipeline_count + 1);
    let _ = writeln!(
        output,
        "total: {}, {}: {}, {} and the shared-pipelines file",
        count(plan.files.len(), "file"),
        count_bytes(plan.total_bytes()),
        count(pipeline_count, "pipeline"),
        count(other_count, "other file")
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
            count(plan.files.len(), "file")
        );
    }
}

fn count_bytes(bytes: u64) -> String {
    let unit = if bytes == 1 { "byte" } else { "bytes" };
    format!("{bytes} {unit}")
}

fn push_consumer_changes(output: &mut String, compat: &Compat) {
    let class = compat.class.map_or("unknown", Class::name);
    let _ = writeln!(output, "for consumers of {}: {class}", compat.old_name());
    // The changed files are listed above.
    let is_file = |line: &&String| !line.starts_with("content:");
    for line in told(compat).iter().take_while(is_file) {
        let _ = writeln!(output, "  {line}");
    }
    if let Some(reason) = &compat.accepted {
        let _ = writeln!(output, "  accepted: {}", text::line(reason));
    }
}

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
            .map(|path| text::line(path))
            .entries()
        {
            let _ = writeln!(output, "  {kind:<8} {entry}");
        }
    }
}
