//! The context of a run as text and as JSON: the detected settings, the selected pipelines, and the reason for each.

use crate::gate::{Candidate, Selected, is_within};
use crate::job::context::{EarlierCommit, Target, short_ids};
use serde_json::{Value, json};
use sluicegate_base::text;
use sluicegate_git::{ChangeKind, CommitId, GitError, Repository, Snapshot};
use sluicegate_pipelines::findings::GateChange;
use sluicegate_pipelines::pipelines::is_pipeline;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Maximum width of the path column, so that a long path does not push the reasons away.
const WIDEST_PATH: usize = 60;

/// If more pipelines than this share a reason, the reason is printed once.
const A_FEW: usize = 3;

/// Returns whether the platform could read the head for a review; if this does not start with "yes", `review` fails.
pub(crate) fn on_remote(target: &Target, repo: &Repository) -> String {
    match target.check_on_remote(repo) {
        Ok(_) if target.idle_reason.is_some() => "not needed".to_owned(),
        Ok(None) => "yes".to_owned(),
        Ok(Some(doubt)) => format!("not certain: {doubt}"),
        Err(why) => format!("no: {why}"),
    }
}

/// Returns the context as JSON. Its keys are part of the public contract (`docs/book/formats.md`, section "Context").
pub(crate) fn as_json(target: &Target, selected: &Selected) -> Value {
    json!({
        "ci": target.host.to_string(),
        "event": target.event,
        "branch": target.branch,
        "head": target.head.to_string(),
        "base": target.bases.first().map(CommitId::to_string),
        "otherBases": target.bases.iter().skip(1).map(CommitId::to_string).collect::<Vec<_>>(),
        "baseSource": target.base_source,
        "fork": target.fork,
        "tag": target.tag,
        "pullRequest": target.pull_request,
        "changed": selected.candidates.iter().map(candidate_json).collect::<Vec<_>>(),
        "selected": selected.files,
        "gateChanges": selected.gate_changes.iter().map(|change| &change.path).collect::<Vec<_>>(),
        "gateChangesInWords": words_json(&selected.gate_changes),
        "warnings": target.warnings.iter().cloned().chain(selected.warnings()).collect::<Vec<_>>(),
    })
}

fn words_json(changes: &[GateChange]) -> BTreeMap<&str, &[String]> {
    let pairs = changes
        .iter()
        .map(|change| (change.path.as_str(), change.descriptions.as_slice()));
    pairs.collect()
}

fn candidate_json(candidate: &Candidate) -> Value {
    let mut value = json!({
        "path": candidate.change.path,
        "change": change_name(&candidate.change.kind),
        "selected": candidate.selected,
        "reason": candidate.reason,
    });
    if let (Some(from), Some(object)) = (candidate.change.renamed_from(), value.as_object_mut()) {
        object.insert("from".to_owned(), json!(from));
    }
    value
}

const fn change_name(kind: &ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "added",
        ChangeKind::Modified => "modified",
        ChangeKind::Renamed { .. } => "renamed",
        ChangeKind::Deleted => "deleted",
        ChangeKind::TypeChanged => "type-changed",
    }
}

/// A file that the user named and that is not among the changed pipelines, and whether and why it is reviewed.
pub(crate) struct UnchangedFile {
    path: String,
    is_selected: bool,
    reason: String,
}

/// Returns the named files that are not among the changed pipelines. A named directory has no row of its own.
pub(crate) fn list_unchanged(
    snapshot: &Snapshot<'_>,
    paths: &[String],
    selected: &Selected,
) -> Result<Vec<UnchangedFile>, GitError> {
    let mut files = Vec::new();
    for path in paths {
        let is_candidate = selected
            .candidates
            .iter()
            .any(|candidate| candidate.change.path == *path);
        if is_candidate || snapshot.find(path)?.is_none() {
            continue;
        }
        let is_selected = selected.files.contains(path);
        let reason = match &selected.all_because {
            Some(reason) if is_selected => format!("all pipelines are selected: {reason}"),
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

/// The text output: one fact per line, then the pipelines in columns. With paths, only their pipelines have rows.
pub(crate) struct ShownPipelines<'a> {
    pub(crate) target: &'a Target,
    pub(crate) selected: &'a Selected,
    /// The paths that the user named.
    pub(crate) paths: &'a [String],
    pub(crate) unchanged: Vec<UnchangedFile>,
}

impl ShownPipelines<'_> {
    pub(crate) fn as_text(&self, remote: &str, policy: String) -> String {
        let mut text = String::new();
        for (name, value) in facts(self.target, self.selected, remote, policy) {
            let _ = writeln!(text, "{name:<14} {}", text::line(&value));
        }
        text.push('\n');
        text.push_str(&headline(self.target, self.selected));
        let repeated = repeated(self.selected);
        for (reason, number) in &repeated {
            let pipelines = text::count(*number, "pipeline");
            let _ = writeln!(text, "{pipelines}: {}", text::line(reason));
        }
        let rows = self.rows(&repeated);
        let kind_width = column_width(&rows, 0);
        let path_width = column_width(&rows, 1).min(WIDEST_PATH);
        for [kind, path, reason] in &rows {
            let row = format!("  {kind:<kind_width$}  {path:<path_width$}  {reason}");
            let _ = writeln!(text, "{}", row.trim_end());
        }
        text
    }

    fn rows(&self, repeated: &BTreeMap<&str, usize>) -> Vec<[String; 3]> {
        let mut rows = Vec::new();
        for candidate in &self.selected.candidates {
            let path = &candidate.change.path;
            if !self.paths.is_empty() && !self.paths.iter().any(|named| is_within(path, named)) {
                continue;
            }
            let is_named = self.paths.contains(path);
            let has_reason = is_named || !repeated.contains_key(candidate.reason.as_str());
            rows.push(candidate_row(self.target, candidate, has_reason));
        }
        for file in &self.unchanged {
            let mark = if file.is_selected { '+' } else { '-' };
            rows.push([
                format!("{mark} unchanged"),
                text::line(&file.path),
                text::line(&file.reason),
            ]);
        }
        rows
    }
}

fn column_width(rows: &[[String; 3]], column: usize) -> usize {
    let widths = rows.iter().map(|row| row[column].chars().count());
    widths.max().unwrap_or(0)
}

/// Returns the reasons that more than a few pipelines share, with their counts: these are printed once.
fn repeated(selected: &Selected) -> BTreeMap<&str, usize> {
    let mut times = BTreeMap::new();
    for candidate in &selected.candidates {
        *times.entry(candidate.reason.as_str()).or_default() += 1;
    }
    times.retain(|_, times| *times > A_FEW);
    times
}

fn facts(target: &Target, selected: &Selected, remote: &str, policy: String) -> Vec<(&'static str, String)> {
    let no = || "no".to_owned();
    let base = match target.bases.as_slice() {
        [] => "none".to_owned(),
        bases => bases.iter().map(CommitId::as_str).collect::<Vec<_>>().join(", "),
    };
    let mut facts = vec![
        ("CI host", target.host.describe()),
        ("event", target.event.clone()),
        (
            "pull request",
            target.pull_request.map_or_else(no, |number| number.to_string()),
        ),
        ("fork", if target.fork { "yes".to_owned() } else { no() }),
        ("tag", target.tag.clone().unwrap_or_else(no)),
        (
            "branch",
            target
                .branch
                .clone()
                .unwrap_or_else(|| "unknown: no branch that contains the head was found".to_owned()),
        ),
        ("head", target.head.to_string()),
        ("on the remote", remote.to_owned()),
        ("base", base),
        ("because", target.base_source.clone()),
        ("policy", policy),
    ];
    facts.extend(earlier_commit(target).map(|text| ("known findings", text)));
    facts.extend(
        selected
            .gate_changes
            .iter()
            .map(|change| ("gate changed", by(change))),
    );
    facts.extend(
        selected
            .all_because
            .clone()
            .map(|why| ("all selected", why))
            .filter(|(_, why)| *why != target.base_source),
    );
    facts
}

/// Describes the base of `new-only` in a run that selects all pipelines.
fn earlier_commit(target: &Target) -> Option<String> {
    match &target.earlier_commit {
        EarlierCommit::None => None,
        EarlierCommit::Found { commits, source } => {
            Some(format!("those at {} ({source})", short_ids(commits)))
        }
        EarlierCommit::NotInClone { commit, source } => {
            Some(format!("unknown: {commit} ({source}) is not in this clone"))
        }
    }
}

fn by(change: &GateChange) -> String {
    let separator = if change.descriptions.is_empty() { "" } else { ": " };
    format!("by {}{separator}{}", change.path, change.descriptions.join("; "))
}

fn headline(target: &Target, selected: &Selected) -> String {
    let count = |n: usize| text::count(n, "pipeline");
    if let Some(why) = &target.idle_reason {
        return format!("nothing to review: {}\n", text::line(why));
    }
    let what = match target.bases.as_slice() {
        [] => format!("{} at head", count(selected.candidates.len())),
        _ => format!("{} changed", count(selected.candidates.len())),
    };
    format!("{what}, {} to review\n", selected.files.len())
}

fn candidate_row(target: &Target, candidate: &Candidate, has_reason: bool) -> [String; 3] {
    let mark = if candidate.selected { '+' } else { '-' };
    // Without a base, no pipeline was compared, so none is shown as added.
    let kind = if target.bases.is_empty() {
        mark.to_string()
    } else {
        format!("{mark} {}", change_name(&candidate.change.kind))
    };
    let path = text::line(&candidate.change.path);
    let path = match candidate.change.renamed_from() {
        Some(from) => format!("{path} (was {})", text::line(from)),
        None => path,
    };
    let reason = if has_reason {
        text::line(&candidate.reason)
    } else {
        String::new()
    };
    [kind, path, reason]
}
