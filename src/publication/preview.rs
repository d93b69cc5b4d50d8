//! Runs the dry run: shows the plan, the reasons to refuse it, and its changes for consumers, with read requests only.

use super::Publishing;
use super::intent::Intent;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::publish::{Plan, PlanChanges, PublishError, Receipt, Select, Source, changes};
use crate::session::CommandResult;
use crate::session::output::json;
use crate::session::step_report::PUBLISH_FAILED;
use serde_json::{Value, json as value};
use sluicegate_base::text::{self, List, count};
use sluicegate_pipelines::interface::{ChangeClass, Compatibility, list_breaking_changes, list_changes};
use sluicegate_pipelines::pipelines::{SharedParameter, is_pipeline};
use sluicegate_platform::api::{ArtifactDetails, Platform};
use sluicegate_platform::http::{ErrorKind, HttpError};
use std::fmt::Write as _;

/// Maximum number of changed files of each kind to print.
const NAMED: usize = 20;

#[derive(Default)]
struct PublishedNow {
    exists: Option<bool>,
    latest: Option<ArtifactDetails>,
}

/// The data shown with the plan.
struct Preview {
    receipt_digest: String,
    hashes: Vec<String>,
    published: PublishedNow,
    refused: Vec<String>,
    nothing: Option<String>,
    /// The commit compared with and the changes since then, or why they are unknown.
    changes: Result<(String, PlanChanges), String>,
    /// The changes for consumers; `None` if they were not compared.
    compat: Option<Compatibility>,
}

impl Publishing<'_> {
    /// Shows the plan; exits with 1 for a break that is not allowed, as a publish would.
    pub(super) fn preview(mut self, mut plan: Plan) -> CommandResult {
        let platform = self.configured()?;
        let intent = match &platform {
            Some(platform) => self.intent(platform, &mut plan)?,
            None => Intent::Send,
        };
        let (plan, platform) = (&plan, platform.as_ref());
        let hashes = plan.hash_all()?;
        let published = self.published(platform, plan)?;
        let changes = self.since_latest(plan, &hashes, published.latest.as_ref());
        let exists = "the version already exists, and versions cannot be changed".to_owned();
        let mut refused: Vec<String> = published
            .exists
            .filter(|exists| *exists)
            .map(|_| exists)
            .into_iter()
            .collect();
        let (status, receipt, nothing) = match intent {
            Intent::Send => (ExitStatus::Success, Receipt::planned(plan, &hashes), None),
            Intent::Nothing(before) => {
                let receipt = Receipt::unchanged(plan, &hashes, &before.version, &before.commit);
                (ExitStatus::Success, receipt, Some(before.said))
            }
            Intent::Refuse(failure) => {
                match &self.compared {
                    Some(compared) if failure.status() == ExitStatus::GateFailed => {
                        refused.extend(list_breaking_changes(&compared.compat));
                    }
                    _ => refused.push(failure.chain()),
                }
                (failure.status(), Receipt::planned(plan, &hashes), None)
            }
        };
        let preview = Preview {
            receipt_digest: receipt.digest.clone(),
            hashes: hashes.clone(),
            published,
            refused,
            nothing,
            changes,
            compat: self.compared.as_ref().map(|compared| compared.compat.clone()),
        };
        let shown = if self.settings.json {
            json(&document(plan, &preview))
        } else {
            in_words(plan, &preview, self.run.global.verbose > 0)
        };
        self.show(&shown)?;
        let name = format!("{} of {}", plan.version_name, plan.prefix);
        match &preview.nothing {
            _ if status != ExitStatus::Success => {
                let title = format!("{PUBLISH_FAILED}: version {name} (dry run)");
                self.run
                    .annotate_failure(&title, status, &preview.refused.join("\n"));
            }
            Some(reason) => self.summarize(&format!("Dry run: nothing to publish: {reason}"), plan, &[]),
            None => self.summarize(&format!("Dry run: would publish {name}"), plan, &preview.refused),
        }
        Ok(status.worse(self.record(receipt)))
    }

    /// Returns the platform if one is configured; a counted version name requires one.
    fn configured(&self) -> Result<Option<Platform>, Failure> {
        let is_missing = self.connection.base_url().is_err() || self.connection.token().is_err();
        if is_missing && !self.asks_for_next() {
            return Ok(None);
        }
        Ok(Some(self.run.platform(self.connection)?))
    }

    /// Handles a missing plan; with `--json`, the reasons are printed as JSON too.
    pub(super) fn show_refusal(&self, error: PublishError) -> CommandResult {
        if self.settings.json {
            let refused: Vec<Value> = match &error {
                PublishError::NotWhole(problems) => problems
                    .iter()
                    .map(|it| value!({ "what": it.what, "path": it.path, "line": it.line, "component": it.component }))
                    .collect(),
                other => vec![value!({ "what": other.to_string() })],
            };
            let head = self.target.head.as_str();
            self.show(&json(
                &value!({ "schema": "sluicegate.plan/v1", "commitHash": head, "refused": refused }),
            ))?;
        }
        Err(error.into())
    }

    /// Returns the published versions, if a platform is configured. An unavailable platform is only a warning, as the
    /// plan does not need it.
    fn published(&self, platform: Option<&Platform>, plan: &Plan) -> Result<PublishedNow, Failure> {
        let Some(platform) = platform else {
            return Ok(PublishedNow::default());
        };
        let asked = self.run.requests(async {
            Ok::<_, HttpError>(PublishedNow {
                exists: Some(found(platform, plan, Some(&plan.version_name)).await?.is_some()),
                latest: found(platform, plan, None).await?,
            })
        })?;
        Ok(asked.unwrap_or_else(|why| {
            self.run
                .ui
                .warn(&format!("could not determine the published version: {why}"));
            PublishedNow::default()
        }))
    }

    fn since_latest(
        &self,
        plan: &Plan,
        hashes: &[String],
        latest: Option<&ArtifactDetails>,
    ) -> Result<(String, PlanChanges), String> {
        let latest = latest.ok_or("no published version is known")?;
        let told = latest.artifact.commit_hash.as_deref();
        let told = told.ok_or("the latest published version has no commit")?;
        let repo = &self.workspace.repo;
        if told.len() < 40 || !repo.has_commit(told) {
            return Err(format!("the clone does not have the commit {told}"));
        }
        let old = repo.resolve(told).map_err(|why| why.to_string())?;
        match repo.contains(&self.target.head, &old) {
            Ok(true) => {}
            Ok(false) => return Err(format!("the commit {told} is not in the history of this one")),
            Err(why) => return Err(why.to_string()),
        }
        let changed = self
            .plan_of(&old, Source::Commit)
            .and_then(|before| changes(&before, plan, hashes));
        changed
            .map(|changes| (told.to_owned(), changes))
            .map_err(|why| format!("the commit {told} could not be published as this one: {why}"))
    }
}

/// Returns the details of a version, or of the most recent enabled one; `None` if there is no such version.
async fn found(
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
fn document(plan: &Plan, preview: &Preview) -> Value {
    let files: Vec<Value> = plan
        .files
        .iter()
        .zip(&preview.hashes)
        .map(|(file, hash)| value!({ "path": file.path, "bytes": file.bytes, "sha256": hash }))
        .collect();
    let refused: Vec<Value> = preview
        .refused
        .iter()
        .map(|what| value!({ "what": what }))
        .collect();
    let latest = preview.published.latest.as_ref().map(|latest| {
        value!({ "versionName": latest.artifact.version_name, "commitHash": latest.artifact.commit_hash })
    });
    let changes = preview.changes.as_ref().ok().map(|(since, changes)| {
        value!({ "since": since, "added": changes.added, "modified": changes.modified, "removed": changes.removed })
    });
    value!({
        "schema": "sluicegate.plan/v1",
        "prefix": plan.prefix,
        "versionName": plan.version_name,
        "commitHash": plan.commit_hash,
        "branch": plan.branch,
        "from": plan.source.name(),
        "select": plan.select.name(),
        "digest": preview.receipt_digest,
        "bytes": plan.total_bytes(),
        "files": files,
        "sharedPipelines": plan.shared,
        "warnings": plan.warnings,
        "refused": refused,
        "nothingToPublish": preview.nothing,
        "latest": latest,
        "changes": changes,
        "changesUnknown": preview.changes.as_ref().err(),
        "compat": preview.compat,
    })
}

/// Returns the plan as text; `has_hashes` adds each file with its hash.
fn in_words(plan: &Plan, preview: &Preview, has_hashes: bool) -> String {
    let mut shown = match &preview.nothing {
        Some(why) => format!("would publish nothing: {}\n", text::line(why)),
        None => format!("would publish {}\n", count(plan.files.len(), "file")),
    };
    let latest = preview.published.latest.as_ref();
    let facts = [
        ("prefix", Some(plan.prefix.clone())),
        ("version", Some(plan.version_name.clone())),
        ("commit", Some(plan.commit_hash.clone())),
        ("branch", plan.branch.clone()),
        ("digest", Some(preview.receipt_digest.clone())),
        ("bytes", Some(plan.total_bytes().to_string())),
        ("latest", latest.and_then(|it| it.artifact.version_name.clone())),
    ];
    for (name, value) in facts {
        let value = value.unwrap_or_else(|| "(none)".to_owned());
        let _ = writeln!(shown, "  {name:<8} {}", text::line(&value));
    }
    if has_hashes {
        for (file, hash) in plan.files.iter().zip(&preview.hashes) {
            let _ = writeln!(shown, "  {hash} {:>10}  {}", file.bytes, text::line(&file.path));
        }
    }
    push_shared_pipelines(&mut shown, plan);
    match &preview.changes {
        Ok((since, changes)) => tell_changes(&mut shown, since, changes),
        Err(why) => {
            let _ = writeln!(shown, "could not list the changes: {}", text::line(why));
        }
    }
    if let Some(compat) = preview.compat.as_ref().filter(|compat| compat.against.is_some()) {
        tell_compat(&mut shown, compat);
    }
    push_totals(&mut shown, plan, has_hashes);
    for what in &preview.refused {
        let _ = writeln!(shown, "would be refused: {}", text::line(what));
    }
    shown
}

/// Adds the offered pipelines with their parameters, as consumers see them.
fn push_shared_pipelines(shown: &mut String, plan: &Plan) {
    let entries: Vec<_> = plan.interface.offered_entries().collect();
    let heading = count(entries.len(), "shared pipeline");
    let _ = writeln!(shown, "{heading}{}", if entries.is_empty() { "" } else { ":" });
    let list = List::with_limit(entries, NAMED);
    for entry in list.items() {
        let _ = writeln!(
            shown,
            "  {}  {}",
            text::line(&entry.id),
            text::line(&entry.pipeline)
        );
        let parameters =
            List::with_limit(&entry.parameters, NAMED).map(|it| text::line(&describe_parameter(it)));
        for entry in parameters.entries() {
            let _ = writeln!(shown, "    {entry}");
        }
    }
    if let Some(remark) = list.remark() {
        let _ = writeln!(shown, "  {remark}");
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
fn push_totals(shown: &mut String, plan: &Plan, has_hashes: bool) {
    let pipelines = plan.files.iter().filter(|file| is_pipeline(&file.path)).count();
    // The shared-pipelines file is always sent.
    let others = plan.files.len().saturating_sub(pipelines + 1);
    let _ = writeln!(
        shown,
        "total: {}, {}: {}, {} and the shared-pipelines file",
        count(plan.files.len(), "file"),
        count_bytes(plan.total_bytes()),
        count(pipelines, "pipeline"),
        count(others, "other file")
    );
    if !has_hashes {
        shown.push_str("  -v lists each file with its hash\n");
    }
    if plan.select == Select::All && plan.needed_count * 2 <= plan.files.len() {
        let _ = writeln!(
            shown,
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

fn tell_compat(shown: &mut String, compat: &Compatibility) {
    let class = compat.class.map_or("unknown", ChangeClass::name);
    let _ = writeln!(shown, "for consumers of {}: {class}", compat.old_name());
    // The changed files are listed above.
    let is_file = |line: &&String| !line.starts_with("content:");
    for line in list_changes(compat).iter().take_while(is_file) {
        let _ = writeln!(shown, "  {line}");
    }
    if let Some(reason) = &compat.accepted {
        let _ = writeln!(shown, "  accepted: {}", text::line(reason));
    }
}

fn tell_changes(shown: &mut String, since: &str, changes: &PlanChanges) {
    let kinds = [
        ("added", &changes.added),
        ("modified", &changes.modified),
        ("removed", &changes.removed),
    ];
    if kinds.iter().all(|(_, paths)| paths.is_empty()) {
        let _ = writeln!(shown, "nothing changed since the latest version ({since})");
        return;
    }
    let _ = writeln!(shown, "changed since the latest version ({since}):");
    for (kind, paths) in kinds {
        for entry in List::with_limit(paths, NAMED)
            .map(|path| text::line(path))
            .entries()
        {
            let _ = writeln!(shown, "  {kind:<8} {entry}");
        }
    }
}
