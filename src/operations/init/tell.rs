//! Reports the detected values, the changes, and the next steps.

use super::look::RepositoryFacts;
use super::plan::{FileStep, InitPlan};
use super::{adopt, config};
use crate::job::settings::FILE_NAME;
use crate::workspace::platform_folder;
use serde_json::{Value, json as value};
use sluicegate_base::text;
use sluicegate_pipelines::pipelines::SHARED_PIPELINES_FILE;
use std::fmt::Write as _;

/// Returns the complete report of a run.
pub(crate) fn all(seen: &RepositoryFacts, plan: &InitPlan, dry_run: bool) -> String {
    let mut told = found(seen) + &adopt::found(seen);
    told.push('\n');
    for step in plan.steps() {
        told.push_str(&done(step, dry_run));
    }
    told.push_str(&adopt::judged(seen, plan));
    told.push_str("\nNext:\n");
    for (number, step) in next(seen, plan).iter().enumerate() {
        let _ = writeln!(told, "{:>3}. {}", number + 1, step.replace('\n', "\n     "));
    }
    told
}

/// Returns the report as JSON: schema `sluicegate.init/v1`.
pub(crate) fn document(seen: &RepositoryFacts, plan: &InitPlan, dry_run: bool) -> Value {
    let file = |step: &FileStep| match step {
        FileStep::Write { path, text, .. } => value!({ "path": path, "action": "write", "text": text }),
        FileStep::Left { path, why } => value!({ "path": path, "action": "leave", "reason": why }),
        FileStep::ByHand { path, text } => value!({ "path": path, "action": "edit-by-hand", "text": text }),
    };
    let missing = seen.missing.iter();
    let missing = missing.map(|it| value!({ "what": it.what, "hint": it.hint }));
    value!({
        "schema": "sluicegate.init/v1",
        "dryRun": dry_run,
        "host": seen.recipe.map(|recipe| recipe.host.to_string()),
        "defaultBranch": seen.default_branch,
        "pipelines": seen.pipelines,
        "configDir": seen.config_dir,
        "rulesFile": seen.rules_file,
        "sharedPipelines": seen.shared_file,
        "pipelinesWithFindings": seen.today.affected(),
        "files": plan.steps().map(file).collect::<Vec<Value>>(),
        "missing": missing.collect::<Vec<Value>>(),
        "next": next(seen, plan),
    })
}

fn found(seen: &RepositoryFacts) -> String {
    let none = || "none".to_owned();
    let facts = [
        ("CI host", seen.host.clone()),
        ("default branch", seen.default_branch.clone()),
        ("pipelines", seen.pipelines.to_string()),
        ("rules file", seen.rules_file.clone().unwrap_or_else(none)),
        ("shared pipelines", seen.shared_file.clone().unwrap_or_else(none)),
    ];
    let sole = seen.sole_candidate.as_ref().map(|name| {
        (
            "hidden directory",
            format!("{name}: the only candidate for the platform's"),
        )
    });
    let facts = facts.into_iter().chain(sole);
    let shown = facts.map(|(name, value)| format!("{name:<18}{}\n", text::escape_line(&value)));
    shown.collect()
}

fn done(step: &FileStep, dry_run: bool) -> String {
    match step {
        FileStep::Write { path, text, .. } if dry_run => {
            format!("would write       {path}\n\n{}\n", indented(text))
        }
        FileStep::Write { path, .. } => format!("wrote             {path}\n"),
        FileStep::Left { path, why } => format!("not changed       {}: {why}\n", text::escape_line(path)),
        FileStep::ByHand { path, text } => {
            let why = "the file already exists; add the missing parts by hand";
            format!("not changed       {path}: {why}\n\n{}\n", indented(text))
        }
    }
}

fn indented(text: &str) -> String {
    let lines = text::escape_lines(text);
    let lines = lines
        .lines()
        .map(|line| format!("    {line}").trim_end().to_owned() + "\n");
    lines.collect()
}

fn rules_step(seen: &RepositoryFacts) -> String {
    let what = "Write the rules, which every review needs";
    if seen.config_dir.is_some() {
        return format!("{what}: `sluicegate rules init`");
    }
    let command = platform_folder::suggest_command("sluicegate rules init", &seen.candidates);
    let details = match seen.candidates.as_slice() {
        [] => "see the platform's documentation".to_owned(),
        names => format!("candidates: {}", names.join(", ")),
    };
    format!("{what}: `{command}`\n    The platform's directory is unknown; {details}")
}

/// Returns the next steps; each is a sentence, with details on lines below.
fn next(seen: &RepositoryFacts, plan: &InitPlan) -> Vec<String> {
    let missing = seen.missing.iter().map(|it| {
        let (what, hint) = (text::escape_line(&it.what), text::escape_line(&it.hint));
        format!("Before anything can be written: {hint}\n    {what}")
    });
    let mut steps: Vec<String> = missing.collect();
    steps.extend(plan.then().map(str::to_owned));
    if let (Some(recipe), Some(job)) = (seen.recipe, plan.job()) {
        steps.push(recipe.secrets.join("\n"));
        steps.extend(recipe.needs.map(str::to_owned));
        steps.extend(config::placeholder(job).map(|placeholder| {
            format!("Replace {placeholder} with your copy of the program (or start over with --source)")
        }));
    }
    let missing = [
        ("project-id", seen.project_id.is_none()),
        ("agent-version", seen.agent_version.is_none()),
    ];
    let missing: Vec<&str> = missing
        .into_iter()
        .filter(|(_, is)| *is)
        .map(|(key, _)| key)
        .collect();
    if !missing.is_empty() {
        // The job of an existing file may set them in another way, which only that job shows.
        let unless = if plan.writes(FILE_NAME) {
            ""
        } else {
            ", unless the job sets them"
        };
        steps.push(format!(
            "Fill in {} in {FILE_NAME}{unless}",
            missing.join(" and ")
        ));
    }
    if seen.rules_file.is_none() && seen.today.asked.is_none() {
        steps.push(rules_step(seen));
    }
    steps.extend(list_lost_values(seen, plan));
    steps.extend(adopt::next(seen, plan));
    if plan.writes(FILE_NAME) && seen.shared_file.is_none() {
        let what = if seen.prefix_given {
            "set `publish-on` in sluicegate.yaml"
        } else {
            "set `prefix` and `publish-on` in sluicegate.yaml"
        };
        steps.push(format!(
            "To publish as well: list the shared pipelines in {SHARED_PIPELINES_FILE} in the platform's directory, \
             and {what}"
        ));
    }
    // `doctor` fails until the rules file is committed.
    let last = [
        "Commit the files",
        "Check the setup: run `sluicegate doctor` with SLUICEGATE_BASE_URL and SLUICEGATE_TOKEN set",
        "Push, and open a change that touches a pipeline",
    ];
    steps.extend(last.map(str::to_owned));
    steps
}

/// Returns the steps for values of flags that no file contains.
fn list_lost_values(seen: &RepositoryFacts, plan: &InitPlan) -> Vec<String> {
    let mut steps = Vec::new();
    if !plan.writes(FILE_NAME) && !seen.new_lines.is_empty() {
        let lines: Vec<String> = seen
            .new_lines
            .iter()
            .map(|line| text::escape_line(line))
            .collect();
        steps.push(format!(
            "{FILE_NAME} exists and was not changed; set the given values in it:\n    {}",
            lines.join("\n    ")
        ));
    }
    // A run without a job and without a missing value was called with `--host none`.
    if seen.source.is_some() && seen.recipe.is_none() && seen.missing.is_empty() {
        steps.push(
            "No job is written with `--host none`, so `--source` has no effect; to write a job, set its CI host \
             with --host"
                .to_owned(),
        );
    }
    steps
}
