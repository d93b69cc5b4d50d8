//! What a repository with a past is told: what is found today, how it may begin, and what its first change is judged by.

use super::figures::figures;
use super::look::RepositoryFacts;
use super::plan::InitPlan;
use super::today::Today;
use crate::base::text::{self, count};
use crate::job::cli::Adopt;
use crate::job::settings;
use crate::model::project::ProjectCheck;
use crate::model::waivers;
use std::fmt::Write as _;

/// Where there is something to adopt and it was not said how.
const OFFER: &str = "
A gate that counts all of these stops nearly every change. There are three ways to begin, by `--adopt`:
  new-only  what a change brings counts, and what was there before does not
  waivers   each finding of today is allowed by a line of sluicegate-waivers.yaml, to be worked off
  strict    every finding counts
";

/// What is found today, and the ways to begin, where a way is to be chosen.
pub(super) fn found(seen: &RepositoryFacts) -> String {
    let today = &seen.today;
    let affected = today.affected();
    let rules = match (&seen.rules_file, today.asked) {
        (Some(_), _) => "by the rules file",
        (None, None) => "by the rules that `sluicegate rules init` writes",
        (None, Some(_)) => "by the rules that are written, each at `error`",
    };
    let told = match figures(today) {
        Some(figures) if affected > 0 || today.asked.is_some() => {
            let all = count(today.files.len(), "pipeline");
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

/// What the checks of the project find; nothing where they find nothing.
fn project(today: &Today) -> String {
    let checks = ProjectCheck::ALL.map(|check| (check, today.of_check(check)));
    let found = checks.into_iter().filter(|(_, found)| *found > 0);
    let found: Vec<String> = found
        .map(|(check, found)| format!("{} {found}", check.id()))
        .collect();
    if found.is_empty() {
        return String::new();
    }
    format!(
        "references that lead nowhere: {}; these checks begin as `warn`, the others as `error`\n\n",
        found.join(", ")
    )
}

/// What the change that introduces the gate will be judged by. A change that brings the rules file is judged with all pipelines.
pub(super) fn judged(seen: &RepositoryFacts, plan: &InitPlan) -> String {
    let (today, Some(asked)) = (&seen.today, seen.today.asked) else {
        return String::new();
    };
    let (judged, fails) = if today.brings_rules {
        (
            "judged by the rules that it brings, with all pipelines",
            ", so it fails",
        )
    } else {
        ("judged with the pipelines that it touches", "")
    };
    let what = match (today.errors(), today.brings_rules) {
        (0, _) if today.unevaluated().is_empty() => {
            "nothing that counts is found today, so it passes.\n".to_owned()
        }
        (0, _) => String::new(),
        (number, true) => {
            let all = format!("what is found today ({})", count(number, "finding"));
            how(asked, leaves_counting(seen, plan), &all, fails)
        }
        (_, false) => how(
            asked,
            leaves_counting(seen, plan),
            "what is found in them today",
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

/// `new-only` was asked for, and sluicegate.yaml does not say so.
fn leaves_counting(seen: &RepositoryFacts, plan: &InitPlan) -> bool {
    !plan.writes(settings::FILE_NAME) && !seen.today.is_new_only
}

fn how(asked: Adopt, leaves_counting: bool, found: &str, fails: &str) -> String {
    match asked {
        Adopt::NewOnly if leaves_counting => format!(
            "sluicegate.yaml stays as it is, so {found} counts{fails}. For this one change the job can say\n\
             SLUICEGATE_NEW_ONLY=true.\n"
        ),
        Adopt::NewOnly => format!(
            "{found} is known, as `new-only` counts from the change itself, so it passes. What else\n\
             sluicegate.yaml says of what counts (`exclude`, `fail-on`) holds after its merge.\n"
        ),
        Adopt::Waivers => format!(
            "{found} counts{fails}, as no change waives its own findings. For this one change the job\n\
             can say SLUICEGATE_POLICY=head; after its merge the waivers hold.\n"
        ),
        Adopt::Strict => {
            format!("{found} counts{fails} until it is mended or its rules are at `warn`.\n")
        }
    }
}

/// What could not be evaluated is nothing that anybody could excuse.
fn unevaluated(seen: &RepositoryFacts) -> String {
    match seen.today.unevaluated().as_slice() {
        [] => String::new(),
        [first, rest @ ..] => {
            let more = match rest.len() {
                0 => String::new(),
                more => format!(" and {} more", count(more, "file")),
            };
            let first = text::line(first);
            format!(
                "What cannot be evaluated is neither known nor waived, so it fails until that is mended: {first}{more}\n"
            )
        }
    }
}

/// What is left to do for it.
pub(super) fn next(seen: &RepositoryFacts, plan: &InitPlan) -> Vec<String> {
    let (today, Some(asked)) = (&seen.today, seen.today.asked) else {
        return Vec::new();
    };
    let mut steps = Vec::new();
    let (file, mild) = (seen.rules_file.as_deref(), today.mild());
    if let (Some(file), [_, ..]) = (file, mild.as_slice()) {
        let mut step = format!(
            "Rules at `warn` stop no change; where one is to, say `enforcementLevel: error` in {}:",
            text::line(file)
        );
        let _ = write!(step, "\n    {}", text::line(&mild.join(", ")));
        steps.push(step);
    }
    if today.rules.is_none() {
        steps.push("The rules file cannot be used; `sluicegate rules lint` says why".to_owned());
    }
    if asked == Adopt::NewOnly && leaves_counting(seen, plan) {
        steps.push(
            "Say `new-only: true` under `review` in sluicegate.yaml, which is left as it is".to_owned(),
        );
    }
    if asked == Adopt::Waivers && !plan.writes(waivers::FILE_NAME) {
        let file = waivers::FILE_NAME;
        steps.push(format!("Add what {file} does not have yet: `sluicegate waivers add --all --reason 'found before the gate'`"));
    }
    steps
}
