//! `sluicegate context`: what was detected, and why.

use super::workspace::Restriction;
use super::{Outcome, Run};
use crate::cli::ContextArgs;
use crate::context::{Comparison, Target};
use crate::exit::ExitStatus;
use crate::gate::{Candidate, Selected};
use crate::git::{ChangeKind, CommitId};
use crate::text;
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(super) fn run(run: &Run, args: &ContextArgs) -> Outcome {
    let workspace = run.workspace()?;
    let revisions = workspace
        .sources
        .revisions(&args.selection, args.branch.clone())?;
    let selection = workspace
        .sources
        .selection(&args.selection.include, &args.selection.exclude)?;
    let target = workspace.target(run, revisions)?;
    let paths = workspace.paths(run, &args.selection.paths, &target)?;
    let restriction = Restriction {
        selection: &selection,
        paths: &paths,
        named: &[],
    };
    let snapshot = workspace.repo.snapshot(target.head.clone());
    let selected = workspace.select(&snapshot, &Comparison::from(&target), &restriction)?;
    if args.json {
        run.ui.out(&super::output::json(&as_json(&target, &selected)))?;
    } else {
        run.ui.out(&as_text(&target, &selected))?;
    }
    Ok(ExitStatus::Success)
}

/// The keys are part of the public contract (README, section "Context").
fn as_json(target: &Target, selected: &Selected) -> Value {
    json!({
        "ci": target.ci.to_string(),
        "event": target.event,
        "branch": target.branch,
        "head": target.head.to_string(),
        "base": target.base.as_ref().map(CommitId::to_string),
        "baseSource": target.base_source,
        "fork": target.fork,
        "tag": target.tag,
        "pullRequest": target.pull_request,
        "changed": selected.candidates.iter().map(candidate_json).collect::<Vec<_>>(),
        "selected": selected.files,
        "gateChanges": selected.gate_changes,
        "warnings": target.warnings,
    })
}

fn candidate_json(candidate: &Candidate) -> Value {
    let mut value = json!({
        "path": candidate.change.path,
        "change": change_name(&candidate.change.kind),
        "selected": candidate.selected,
        "reason": candidate.reason,
    });
    if let (ChangeKind::Renamed { from }, Some(object)) = (&candidate.change.kind, value.as_object_mut()) {
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

fn as_text(target: &Target, selected: &Selected) -> String {
    let none = || "(none)".to_owned();
    let mut rows = vec![
        ("CI host", target.ci.to_string()),
        ("event", target.event.clone()),
        ("branch", target.branch.clone().unwrap_or_else(none)),
        ("head", target.head.to_string()),
        (
            "base",
            target.base.as_ref().map_or_else(none, CommitId::to_string),
        ),
        ("because", target.base_source.clone()),
        ("fork", if target.fork { "yes" } else { "no" }.to_owned()),
    ];
    rows.extend(target.tag.clone().map(|tag| ("tag", tag)));
    rows.extend(
        target
            .pull_request
            .map(|number| ("pull request", number.to_string())),
    );
    rows.extend(target.nothing_to_do.clone().map(|why| ("nothing to do", why)));
    rows.extend(selected.all_because.clone().map(|why| ("all pipelines", why)));
    let mut shown = String::new();
    for (name, value) in rows {
        let _ = writeln!(shown, "{name:<14} {}", text::line(&value));
    }
    for path in &selected.gate_changes {
        let _ = writeln!(shown, "changes the gate itself: {}", text::line(path));
    }
    let _ = writeln!(
        shown,
        "\nchanged pipelines: {}, to review: {}",
        selected.candidates.len(),
        selected.files.len()
    );
    for candidate in &selected.candidates {
        shown.push_str(&candidate_line(candidate));
    }
    shown
}

fn candidate_line(candidate: &Candidate) -> String {
    let mark = if candidate.selected { '+' } else { '-' };
    let kind = change_name(&candidate.change.kind);
    let from = match &candidate.change.kind {
        ChangeKind::Renamed { from } => format!(" (was {})", text::line(from)),
        _ => String::new(),
    };
    let path = text::line(&candidate.change.path);
    format!(
        "  {mark} {kind:<12} {path}{from}: {}\n",
        text::line(&candidate.reason)
    )
}
