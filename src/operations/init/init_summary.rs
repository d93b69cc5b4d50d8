//! Reports the detected values, the changes, and the next steps.

use super::init_plan::{FileStep, InitPlan};
use super::repository_facts::RepositoryFacts;
use super::{adoption_messages, file_templates, host_recipes};
use crate::job::ci::Host;
use crate::job::settings::FILE_NAME;
use crate::workspace::config_dir_prompt;
use serde_json::{Value, json};
use sluicegate_base::text;
use sluicegate_pipelines::pipelines::SHARED_PIPELINES_FILE;
use std::fmt::Write as _;

/// The stage of a job in GitLab that sets none.
const GITLAB_DEFAULT_STAGE: &str = "test";

/// Renders what `init` found, what it wrote or would write, and the next steps.
pub(crate) fn render_summary(facts: &RepositoryFacts, plan: &InitPlan, is_dry_run: bool) -> String {
    let mut summary = describe_facts(facts) + &adoption_messages::describe_findings(facts, plan);
    summary.push('\n');
    for step in plan.steps() {
        summary.push_str(&describe_step(step, is_dry_run));
    }
    summary.push_str(&adoption_messages::describe_first_review(facts, plan));
    summary.push_str("\nNext:\n");
    for (number, step) in list_next_steps(facts, plan).iter().enumerate() {
        let _ = writeln!(summary, "{:>3}. {}", number + 1, step.replace('\n', "\n     "));
    }
    summary
}

/// Returns the summary as JSON in the schema `sluicegate.init/v1`.
pub(crate) fn to_document(facts: &RepositoryFacts, plan: &InitPlan, is_dry_run: bool) -> Value {
    let missing_flags: Vec<Value> = facts
        .missing_flags
        .iter()
        .map(|item| json!({ "what": item.description, "hint": item.hint }))
        .collect();
    json!({
        "schema": "sluicegate.init/v1",
        "dryRun": is_dry_run,
        "host": facts.recipe.map(|recipe| recipe.host.to_string()),
        "defaultBranch": facts.default_branch.name,
        "pipelines": facts.pipeline_count,
        "configDir": facts.config_dir,
        "rulesFile": facts.rules_file,
        "sharedPipelines": facts.shared_file,
        "pipelinesWithFindings": facts.findings.count_affected_files(),
        "files": plan.steps().map(step_to_json).collect::<Vec<Value>>(),
        "missing": missing_flags,
        "next": list_next_steps(facts, plan),
    })
}

/// Returns as JSON what was done with one file.
fn step_to_json(step: &FileStep) -> Value {
    match step {
        FileStep::Write { path, text, .. } => json!({ "path": path, "action": "write", "text": text }),
        FileStep::Keep { path, reason, .. } => json!({ "path": path, "action": "leave", "reason": reason }),
        FileStep::EditByHand { path, text } => {
            json!({ "path": path, "action": "edit-by-hand", "text": text
            })
        }
    }
}

/// Describes the detected facts about the repository, one per line.
fn describe_facts(facts: &RepositoryFacts) -> String {
    let lines = [
        ("CI host", facts.host.clone()),
        (
            "default branch",
            format!("{}: {}", facts.default_branch.name, facts.default_branch.source),
        ),
        ("pipelines", facts.pipeline_count.to_string()),
        (
            "rules file",
            facts.rules_file.clone().unwrap_or_else(|| "none".to_owned()),
        ),
        (
            "shared pipelines",
            facts.shared_file.clone().unwrap_or_else(|| "none".to_owned()),
        ),
    ];
    let sole_candidate = facts.sole_candidate.as_ref().map(|name| {
        (
            "hidden directory",
            format!("{name}: the only candidate for the platform's hidden directory"),
        )
    });
    let facts = lines.into_iter().chain(sole_candidate);
    let text_lines = facts.map(|(name, value)| format!("{name:<18}{}\n", text::escape_line(&value)));
    text_lines.collect()
}

/// Describes what was done with a file. In a dry run, and if the user has to edit the file, the text to write follows.
fn describe_step(step: &FileStep, is_dry_run: bool) -> String {
    match step {
        FileStep::Write { path, text, .. } if is_dry_run => {
            format!("would write       {path}\n\n{}\n", indent_block(text))
        }
        FileStep::Write { path, .. } => format!("wrote             {path}\n"),
        FileStep::Keep { path, reason, .. } => {
            format!("not changed       {}: {reason}\n", text::escape_line(path))
        }
        FileStep::EditByHand { path, text } => {
            let reason = "the file already exists; add the missing parts yourself";
            format!("not changed       {path}: {reason}\n\n{}\n", indent_block(text))
        }
    }
}

/// Indents each line of a text and escapes its control characters.
fn indent_block(text: &str) -> String {
    text::escape_lines(text)
        .lines()
        .map(|line| format!("    {line}").trim_end().to_owned() + "\n")
        .collect()
}

/// Describes the step to write the rules file. If the platform's hidden directory is unknown, the command contains a
/// flag for it, and its candidates are listed.
fn describe_rules_step(facts: &RepositoryFacts) -> String {
    let step = "Write the rules, which every review needs";
    if facts.config_dir.is_some() {
        return format!("{step}: `sluicegate rules init`");
    }
    let command = config_dir_prompt::suggest_command("sluicegate rules init", &facts.candidates);
    let details = match facts.candidates.as_slice() {
        [] => "see the platform's documentation".to_owned(),
        names => format!("candidates: {}", names.join(", ")),
    };
    format!("{step}: `{command}`\n    The platform's hidden directory is unknown; {details}")
}

/// Describes the step to fill in the required settings whose value is unknown; `None` if all are known.
fn describe_settings_step(facts: &RepositoryFacts, plan: &InitPlan) -> Option<String> {
    let mut keys = Vec::new();
    if facts.project_id.is_none() {
        keys.push("project-id");
    }
    if facts.agent_version.is_none() {
        keys.push("agent-version");
    }
    if keys.is_empty() {
        return None;
    }
    // If `sluicegate.yaml` already exists, the job may set these values by flags or variables, which `init` cannot see.
    let condition = if plan.has_write_step(FILE_NAME) {
        ""
    } else {
        ", unless the job sets them"
    };
    Some(format!(
        "Fill in {} in {FILE_NAME}{condition}",
        text::join_with_and(keys)
    ))
}

/// Describes the step to set the stage of a job that is included in `.gitlab-ci.yml`: without a stage, GitLab uses
/// `test`, and rejects the pipeline if its `stages` lack it. Returns `None` if no stage has to be set.
fn describe_stage_step(facts: &RepositoryFacts) -> Option<String> {
    let recipe = facts.recipe.filter(|recipe| recipe.host == Host::GitLab)?;
    let (job_path, _) = recipe.alternative?;
    let stages = host_recipes::read_gitlab_stages(&facts.root.join(recipe.path));
    if stages.is_empty() || stages.iter().any(|stage| stage == GITLAB_DEFAULT_STAGE) {
        return None;
    }
    Some(format!(
        "Set `stage` in {job_path} to one of the stages of {}: {}. The default stage `{GITLAB_DEFAULT_STAGE}` is not \
         among them",
        recipe.path,
        text::escape_line(&stages.join(", "))
    ))
}

/// Returns the steps that the user has to take next. The first line of a step is an instruction; further lines contain
/// details.
fn list_next_steps(facts: &RepositoryFacts, plan: &InitPlan) -> Vec<String> {
    let mut steps: Vec<String> = facts
        .missing_flags
        .iter()
        .map(|flag| {
            let description = text::escape_line(&flag.description);
            let hint = text::escape_line(&flag.hint);
            format!("Before anything can be written: {hint}\n    {description}")
        })
        .collect();
    if let Some(inclusion_hint) = plan.inclusion_hint() {
        steps.push(inclusion_hint.to_owned());
        steps.extend(describe_stage_step(facts));
    }
    if let Some(recipe) = facts.recipe.filter(|_| plan.has_new_job()) {
        steps.push(recipe.secrets.join("\n"));
    }
    // A second run does not change the job, so the step stays until the user has edited the job.
    if let Some((placeholder, kind)) = plan.job_text().and_then(file_templates::find_default_to_replace) {
        steps.push(format!(
            "In the job, replace {placeholder} with the {kind} from which your organization gets sluicegate"
        ));
    }
    steps.extend(describe_settings_step(facts, plan));
    // `--adopt` writes the rules file itself.
    if facts.rules_file.is_none() && facts.findings.adopt.is_none() {
        steps.push(describe_rules_step(facts));
    }
    steps.extend(list_ineffective_flag_steps(facts, plan));
    steps.extend(adoption_messages::list_adoption_steps(facts, plan));
    if plan.has_write_step(FILE_NAME) && facts.shared_file.is_none() {
        let setting = if facts.is_prefix_set {
            "set `publish-on` in sluicegate.yaml"
        } else {
            "set `prefix` and `publish-on` in sluicegate.yaml"
        };
        steps.push(format!(
            "To publish as well: run `sluicegate shared-pipelines add PATH` for each pipeline to share, which adds it \
             to {SHARED_PIPELINES_FILE}, and {setting}"
        ));
    }
    // `doctor` fails until the rules file is committed.
    let last_steps = [
        "Commit the files",
        "Check the setup: run `sluicegate doctor` with SLUICEGATE_BASE_URL and SLUICEGATE_TOKEN set",
        "Push, and open a change that touches a pipeline",
    ];
    // Files that exist may still have to be committed, unless the default branch has the gate.
    let is_committed = adoption_messages::is_gate_merged(facts, plan) && !plan.writes_files();
    let skipped_count = usize::from(is_committed);
    steps.extend(last_steps.into_iter().skip(skipped_count).map(str::to_owned));
    steps
}

/// Returns the steps that report flags without an effect: the values for an existing `sluicegate.yaml`, which is not
/// changed, and `--source` with `--host none`, because then no job is written.
fn list_ineffective_flag_steps(facts: &RepositoryFacts, plan: &InitPlan) -> Vec<String> {
    let mut steps = Vec::new();
    if !plan.has_write_step(FILE_NAME) && !facts.new_lines.is_empty() {
        let lines: Vec<String> = facts
            .new_lines
            .iter()
            .map(|line| text::escape_line(line))
            .collect();
        steps.push(format!(
            "{FILE_NAME} exists and was not changed; set the given values in it:\n    {}",
            lines.join("\n    ")
        ));
    }
    // There is no recipe if the host is unknown, which is a missing flag, or with `--host none`.
    if facts.source.is_some() && facts.recipe.is_none() && facts.missing_flags.is_empty() {
        steps.push(
            "No job is written with `--host none`, so `--source` has no effect; to write a job, set its CI host \
             with --host"
                .to_owned(),
        );
    }
    steps
}
