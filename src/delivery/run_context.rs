//! The context of a run as text and as JSON: the detected settings, the selected pipelines, and the reason for each.

use crate::gate::selection::describe_file_count;
use crate::gate::selection::selection_reason::SelectionReason;
use crate::gate::{Candidate, SelectedPipelines, is_within};
use crate::job::context::{Comparison, EarlierCommit, Target, join_short_ids};
use serde_json::{Value, json};
use sluicegate_base::text;
use sluicegate_git::{ChangeKind, CommitId, GitError, Repository, Snapshot};
use sluicegate_pipelines::findings::GateChange;
use sluicegate_pipelines::pipelines::is_pipeline;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Maximum width of the path column, so that a long path does not push the reasons away.
const MAX_PATH_WIDTH: usize = 60;

/// If more pipelines than this share a reason, the reason is printed once.
const MAX_ROWS_PER_REASON: usize = 3;

/// Describes whether the head commit is on the remote, from which the platform reads it. The text begins with "yes",
/// "no" or "not certain", or is "not needed" if there is nothing to review. A review by the platform fails if the
/// commit is not on the remote.
pub(crate) fn describe_remote_state(target: &Target, repo: &Repository) -> String {
    if target.idle_reason.is_some() {
        return "not needed".to_owned();
    }
    match target.check_head_on_remote(repo) {
        Ok(None) => "yes".to_owned(),
        Ok(Some(doubt)) => format!("not certain: {doubt}"),
        Err(error) => format!("no: {error}"),
    }
}

/// Returns the context of a run (its event, commits and selected pipelines) as JSON. The keys are part of the public
/// contract (`docs/book/formats.md`, section "Context"). `named_base` is the base that the job names with `--all`.
pub(crate) fn build_context_json(
    target: &Target,
    selected_pipelines: &SelectedPipelines,
    named_base: Option<&Comparison>,
) -> Value {
    let (bases, base_source) = choose_bases(target, named_base);
    let candidates: Vec<Value> = selected_pipelines
        .candidates
        .iter()
        .map(build_candidate_json)
        .collect();
    let gate_paths: Vec<&String> = selected_pipelines
        .gate_changes
        .iter()
        .map(|change| &change.path)
        .collect();
    let other_bases: Vec<String> = bases.iter().skip(1).map(CommitId::to_string).collect();
    let warnings: Vec<String> = target
        .warnings
        .iter()
        .cloned()
        .chain(selected_pipelines.warnings())
        .collect();
    json!({
        "ci": target.host.to_string(),
        "event": target.event,
        "branch": target.branch,
        "head": target.head.to_string(),
        "base": bases.first().map(CommitId::to_string),
        "otherBases": other_bases,
        "baseSource": base_source,
        "fork": target.fork,
        "tag": target.tag,
        "pullRequest": target.pull_request,
        "changed": candidates,
        "selected": selected_pipelines.files,
        "gateChanges": gate_paths,
        "gateChangesInWords": map_gate_descriptions(&selected_pipelines.gate_changes),
        "lookalikes": selected_pipelines.lookalikes,
        "warnings": warnings,
    })
}

/// Returns the base commits of the run, and their source. A base that the job names with `--all` does not restrict the
/// selection, so it is not among the bases of the target.
fn choose_bases<'a>(target: &'a Target, named_base: Option<&'a Comparison>) -> (&'a [CommitId], &'a str) {
    match named_base {
        Some(comparison) => (&comparison.bases, &comparison.base_source),
        None => (&target.bases, &target.base_source),
    }
}

/// Returns the descriptions of the changes to the gate configuration, by the path of the changed file.
fn map_gate_descriptions(changes: &[GateChange]) -> BTreeMap<&str, &[String]> {
    let pairs = changes
        .iter()
        .map(|change| (change.path.as_str(), change.descriptions.as_slice()));
    pairs.collect()
}

/// Returns a changed pipeline as JSON, with the reason why it is selected or not.
fn build_candidate_json(candidate: &Candidate) -> Value {
    let mut value = json!({
        "path": candidate.change.path,
        "change": kind_name(&candidate.change.kind),
        "selected": candidate.reason.is_selected(),
        "reason": candidate.reason.to_string(),
    });
    if let (Some(from), Some(object)) = (candidate.change.rename_source(), value.as_object_mut()) {
        object.insert("from".to_owned(), json!(from));
    }
    value
}

/// Returns the word for a kind of change in the JSON and the text.
const fn kind_name(kind: &ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "added",
        ChangeKind::Modified => "modified",
        ChangeKind::Renamed { .. } => "renamed",
        ChangeKind::Deleted => "deleted",
        ChangeKind::TypeChanged => "type-changed",
    }
}

/// A file that the user named and that is not among the changed pipelines, with the reason why it is selected or not.
pub(crate) struct UnchangedFile {
    path: String,
    is_selected: bool,
    reason: String,
}

/// Returns the files that the user named but that are not among the changed pipelines, with the reason why each is
/// selected or not. Named directories and missing files are omitted.
pub(crate) fn list_unchanged_files(
    snapshot: &Snapshot<'_>,
    paths: &[String],
    selected_pipelines: &SelectedPipelines,
) -> Result<Vec<UnchangedFile>, GitError> {
    let mut files = Vec::new();
    for path in paths {
        let is_candidate = selected_pipelines
            .candidates
            .iter()
            .any(|candidate| candidate.change.path == *path);
        if is_candidate || snapshot.find_file(path)?.is_none() {
            continue;
        }
        let is_selected = selected_pipelines.files.contains(path);
        let reason = match &selected_pipelines.reason_for_all {
            Some(reason) if is_selected => SelectionReason::AllSelected(reason.clone()).to_string(),
            _ if is_pipeline(path) => "unchanged since the base".to_owned(),
            _ => "not a pipeline".to_owned(),
        };
        files.push(UnchangedFile {
            path: path.clone(),
            is_selected,
            reason,
        });
    }
    Ok(files)
}

/// The text output: one fact per line, then the pipelines in columns. If the user named paths, only the pipelines
/// within these paths have rows.
pub(crate) struct RunContextText<'a> {
    pub(crate) target: &'a Target,
    pub(crate) selection: &'a SelectedPipelines,
    /// The base that the job names with `--all`.
    pub(crate) named_base: Option<&'a Comparison>,
    /// The paths that the user named.
    pub(crate) paths: &'a [String],
    pub(crate) unchanged_files: Vec<UnchangedFile>,
}

impl RunContextText<'_> {
    /// Renders the context as text: the facts about the run, then one row for each pipeline. `remote` is the text of
    /// [`describe_remote_state`].
    pub(crate) fn render(&self, remote: &str, policy: String) -> String {
        let mut text = String::new();
        for (name, value) in self.list_facts(remote, policy) {
            let _ = writeln!(text, "{name:<14} {}", text::escape_line(&value));
        }
        text.push('\n');
        text.push_str(&render_headline(self.target, self.selection));
        let reason_counts = count_repeated_reasons(self.selection);
        for (reason, pipeline_count) in &reason_counts {
            let pipelines = text::format_count(*pipeline_count, "pipeline");
            let _ = writeln!(text, "{pipelines}: {}", text::escape_line(reason));
        }
        let rows = self.build_rows(&reason_counts);
        let (kind_column, path_column) = (0, 1);
        let kind_width = column_width(&rows, kind_column);
        let path_width = column_width(&rows, path_column).min(MAX_PATH_WIDTH);
        for [kind, path, reason] in &rows {
            let row = format!("  {kind:<kind_width$}  {path:<path_width$}  {reason}");
            let _ = writeln!(text, "{}", row.trim_end());
        }
        text
    }

    /// Returns the cells of each row: the kind of change, the path and the reason. A reason in `repeated_reasons` is
    /// printed once above the rows, so its cell is empty, unless the user named the file.
    fn build_rows(&self, repeated_reasons: &BTreeMap<String, usize>) -> Vec<[String; 3]> {
        let mut rows = Vec::new();
        for candidate in &self.selection.candidates {
            let path = &candidate.change.path;
            let is_requested =
                self.paths.is_empty() || self.paths.iter().any(|named_path| is_within(path, named_path));
            if !is_requested {
                continue;
            }
            let is_named = self.paths.contains(path);
            let has_reason = is_named || !repeated_reasons.contains_key(&candidate.reason.to_string());
            rows.push(build_candidate_row(self.target, candidate, has_reason));
        }
        for file in &self.unchanged_files {
            let mark = if file.is_selected { '+' } else { '-' };
            rows.push([
                format!("{mark} unchanged"),
                text::escape_line(&file.path),
                text::escape_line(&file.reason),
            ]);
        }
        rows
    }

    /// Returns the facts about the run in the order of the output, each with its label. `because` is the reason for the
    /// base. The reason why all pipelines are selected is omitted if it is the same reason.
    fn list_facts(&self, remote: &str, policy: String) -> Vec<(&'static str, String)> {
        let target = self.target;
        let (bases, base_source) = choose_bases(target, self.named_base);
        let no_value = || "no".to_owned();
        let base = match bases {
            [] => "none".to_owned(),
            bases => bases.iter().map(CommitId::as_str).collect::<Vec<_>>().join(", "),
        };
        let mut facts = vec![
            ("CI host", target.host.describe()),
            ("event", target.event.clone()),
            (
                "pull request",
                target
                    .pull_request
                    .map_or_else(no_value, |number| number.to_string()),
            ),
            ("fork", if target.fork { "yes".to_owned() } else { no_value() }),
            ("tag", target.tag.clone().unwrap_or_else(no_value)),
            (
                "branch",
                target
                    .branch
                    .clone()
                    .unwrap_or_else(|| format!("unknown: {}", target.explain_missing_branch())),
            ),
            ("head", target.head.to_string()),
            ("on the remote", remote.to_owned()),
            ("base", base),
            ("because", base_source.to_owned()),
            ("policy", policy),
        ];
        facts.extend(describe_earlier_commit(target).map(|text| ("known findings", text)));
        facts.extend(
            self.selection
                .gate_changes
                .iter()
                .map(|change| ("gate changed", describe_gate_change(change))),
        );
        facts.extend(
            self.selection
                .reason_for_all
                .clone()
                .map(|reason| ("all selected", reason))
                .filter(|(_, reason)| reason != base_source),
        );
        facts
    }
}

/// Returns the width of the widest cell in this column, in characters.
fn column_width(rows: &[[String; 3]], column: usize) -> usize {
    let widths = rows.iter().map(|row| row[column].chars().count());
    widths.max().unwrap_or(0)
}

/// Returns the reasons that more than [`MAX_ROWS_PER_REASON`] pipelines share, with the number of pipelines. Each is
/// printed once instead of in every row.
fn count_repeated_reasons(selected_pipelines: &SelectedPipelines) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for candidate in &selected_pipelines.candidates {
        *counts.entry(candidate.reason.to_string()).or_default() += 1;
    }
    counts.retain(|_, count| *count > MAX_ROWS_PER_REASON);
    counts
}

/// Describes the earlier commit at which findings are treated as known, in a run that reviews all pipelines; `None` if
/// there is no such commit.
fn describe_earlier_commit(target: &Target) -> Option<String> {
    match &target.earlier_commit {
        EarlierCommit::None | EarlierCommit::Unknown => None,
        EarlierCommit::Found { commits, source, .. } => {
            Some(format!("those at {} ({source})", join_short_ids(commits)))
        }
        EarlierCommit::NotInClone { commit, source, .. } => {
            Some(format!("unknown: {commit} ({source}) is not in this clone"))
        }
    }
}

/// Describes a change to the gate configuration as the value of the fact `gate changed`.
fn describe_gate_change(change: &GateChange) -> String {
    let separator = if change.descriptions.is_empty() { "" } else { ": " };
    format!("by {}{separator}{}", change.path, change.descriptions.join("; "))
}

/// Returns the line with the numbers of changed and of selected pipelines, or the reason why there is nothing to
/// review.
fn render_headline(target: &Target, selected_pipelines: &SelectedPipelines) -> String {
    let candidates = selected_pipelines.candidates.iter();
    let candidate_count = describe_file_count(candidates.map(|candidate| candidate.change.path.as_str()));
    if let Some(reason) = &target.idle_reason {
        return format!("nothing to review: {}\n", text::escape_line(reason));
    }
    let subject = match target.bases.as_slice() {
        [] => format!("{candidate_count} at head"),
        _ => format!("{candidate_count} changed"),
    };
    format!("{subject}, {} to review\n", selected_pipelines.files.len())
}

/// Returns the cells of a changed pipeline: a mark with the kind of the change, the path, and the reason, which is
/// empty without `has_reason`.
fn build_candidate_row(target: &Target, candidate: &Candidate, has_reason: bool) -> [String; 3] {
    let mark = if candidate.reason.is_selected() { '+' } else { '-' };
    // Without a base, no pipeline was compared, so none is shown as added.
    let kind = if target.bases.is_empty() {
        mark.to_string()
    } else {
        format!("{mark} {}", kind_name(&candidate.change.kind))
    };
    let path = text::escape_line(&candidate.change.path);
    let path = match candidate.change.rename_source() {
        Some(old_path) => format!("{path} (was {})", text::escape_line(old_path)),
        None => path,
    };
    let reason = if has_reason {
        text::escape_line(&candidate.reason.to_string())
    } else {
        String::new()
    };
    [kind, path, reason]
}
