//! The messages for a repository with existing pipelines: the current findings, the ways to start, and how its first
//! change is reviewed.

use super::figures::figures;
use super::look::RepositoryFacts;
use super::plan::InitPlan;
use super::today::Today;
use crate::job::cli::Adopt;
use crate::job::settings;
use sluicegate_base::text::{self, List, format_count};
use sluicegate_pipelines::project::ProjectCheck;
use sluicegate_pipelines::waivers;
use std::fmt::Write as _;

/// Printed if there are findings and no way to adopt was chosen.
const OFFER: &str = "
A gate that counts all of these findings fails nearly every change. Choose a way to start with `--adopt`:
  new-only  only findings that a change introduces count
  waivers   each current finding is allowed by a line of sluicegate-waivers.yaml, to be fixed over time
  strict    every finding counts
";

/// Returns the current findings, and the ways to start if one must be chosen.
pub(crate) fn found(seen: &RepositoryFacts) -> String {
    let today = &seen.today;
    let affected = today.affected();
    let rules = match (&seen.rules_file, today.asked) {
        (Some(_), _) => "by the rules file",
        (None, None) => "by the rules that `sluicegate rules init` writes",
        (None, Some(_)) => "by the rules that are written, each at `error`",
    };
    let told = match figures(today) {
        Some(figures) if affected > 0 || today.asked.is_some() => {
            let all = format_count(today.files.len(), "pipeline");
            format!("findings today    {affected} of {all}, {rules}\n\n{figures}")
        }
        _ => String::new(),
    };
    let project = project(today);
    match today.asked {
        None if !told.is_empty() => told + &project + OFFER,
        _ => told + &project,
    }
}

/// Returns the findings of the project checks; empty without findings.
fn project(today: &Today) -> String {
    let checks = ProjectCheck::ALL.map(|check| (check, today.of_check(check)));
    let found = checks.into_iter().filter(|(_, found)| *found > 0);
    let found: Vec<String> = found
        .map(|(check, found)| format!("{} {found}", check.id()))
        .collect();
    if found.is_empty() {
        return String::new();
    }
    let levels = match today.excuse() {
        Some(excuse) => format!("they are {excuse}, and every check starts as `error`"),
        None => "these checks start as `warn`, the others as `error`".to_owned(),
    };
    format!("broken references: {}; {levels}\n\n", found.join(", "))
}

/// Describes the review of the change that introduces the gate. A change that adds the rules file is reviewed with all
/// pipelines.
pub(crate) fn judged(seen: &RepositoryFacts, plan: &InitPlan) -> String {
    let (today, Some(asked)) = (&seen.today, seen.today.asked) else {
        return String::new();
    };
    let (judged, fails) = if today.brings_rules {
        (
            "reviewed by the rules that it adds, with all pipelines",
            ", so it fails",
        )
    } else {
        ("reviewed with the pipelines that it changes", "")
    };
    let what = match (today.errors(), today.brings_rules) {
        (0, _) if today.unevaluated().is_empty() => "no current finding counts, so it passes.\n".to_owned(),
        (0, _) => String::new(),
        (number, true) => {
            let all = format!("every current finding ({})", format_count(number, "finding"));
            how(asked, leaves_counting(seen, plan), &all, fails)
        }
        (_, false) => how(
            asked,
            leaves_counting(seen, plan),
            "every current finding in them",
            fails,
        ),
    };
    format!(
        "\nThe change that introduces the gate is {judged}:\n{}",
        indented(&(what + &unevaluated(seen)))
    )
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}\n")).collect();
    lines.concat()
}

/// Returns whether `new-only` was requested, but sluicegate.yaml does not set it.
fn leaves_counting(seen: &RepositoryFacts, plan: &InitPlan) -> bool {
    !plan.writes(settings::FILE_NAME) && !seen.today.is_new_only
}

fn how(asked: Adopt, leaves_counting: bool, found: &str, fails: &str) -> String {
    match asked {
        Adopt::NewOnly if leaves_counting => format!(
            "sluicegate.yaml is not changed, so {found} counts{fails}. For this one change, the job can set\n\
             SLUICEGATE_NEW_ONLY=true.\n"
        ),
        Adopt::NewOnly => format!(
            "{found} is known, as `new-only` applies to this change already, so it passes. The other\n\
             settings of sluicegate.yaml (`exclude`, `fail-on`) apply after its merge.\n"
        ),
        Adopt::Waivers => format!(
            "{found} counts{fails}, as a change cannot waive its own findings. For this one change, the job\n\
             can set SLUICEGATE_POLICY=head; the waivers apply after its merge.\n"
        ),
        Adopt::Strict => {
            format!("{found} counts{fails} until it is fixed or its rule is set to `warn`.\n")
        }
    }
}

/// Returns a note about pipelines that could not be evaluated, which nothing can excuse.
fn unevaluated(seen: &RepositoryFacts) -> String {
    let unevaluated = seen.today.unevaluated();
    if unevaluated.is_empty() {
        return String::new();
    }
    let list = List::with_limit(&unevaluated, 1)
        .with_noun("file")
        .map(|path| text::escape_line(path));
    format!("Files that cannot be evaluated cannot be known or waived, so the review fails: {list}\n")
}

/// Returns the remaining steps for the adoption.
pub(crate) fn next(seen: &RepositoryFacts, plan: &InitPlan) -> Vec<String> {
    let (today, Some(asked)) = (&seen.today, seen.today.asked) else {
        return Vec::new();
    };
    let mut steps = Vec::new();
    let (file, mild) = (seen.rules_file.as_deref(), today.mild());
    if let (Some(file), [_, ..]) = (file, mild.as_slice()) {
        let mut step = format!(
            "Rules at `warn` fail no change; to enforce one, set `enforcementLevel: error` in {}:",
            text::escape_line(file)
        );
        let _ = write!(step, "\n    {}", text::escape_line(&mild.join(", ")));
        steps.push(step);
    }
    if today.rules.is_none() {
        steps.push("The rules file is invalid; run `sluicegate rules lint` to see why".to_owned());
    }
    if asked == Adopt::NewOnly && leaves_counting(seen, plan) {
        steps
            .push("Set `new-only: true` under `review` in sluicegate.yaml, which was not changed".to_owned());
    }
    if asked == Adopt::Waivers && !plan.writes(waivers::FILE_NAME) {
        let file = waivers::FILE_NAME;
        steps.push(format!(
            "Add the missing entries to {file}: `sluicegate waivers add --all --reason 'found before the gate'`"
        ));
    }
    steps
}
