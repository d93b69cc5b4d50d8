//! The messages for a repository with existing pipelines: the current findings, the ways to start, and how its first
//! change is reviewed.

use super::current_findings::CurrentFindings;
use super::init_plan::InitPlan;
use super::repository_facts::RepositoryFacts;
use super::rule_figures::render_rule_table;
use crate::job::cli::Adopt;
use crate::job::settings;
use sluicegate_base::text::{self, List, format_count};
use sluicegate_pipelines::project::ProjectCheck;
use sluicegate_pipelines::waivers;
use std::fmt::Write as _;

/// Printed if there are findings and no way to adopt was chosen, after the sentence about their effect.
const ADOPT_OPTIONS: &str = "Choose a way to start with `--adopt`:
  new-only  only findings that a change introduces fail the gate
  waivers   each current finding is allowed by a line of sluicegate-waivers.yaml, to be fixed over time
  strict    every finding fails the gate
";

/// Returns the text about the current findings: a table by rule, and the project checks. Without `--adopt`, omits a
/// table without findings, and lists the values of `--adopt` after a table with findings.
pub(crate) fn describe_findings(facts: &RepositoryFacts, plan: &InitPlan) -> String {
    let findings = &facts.findings;
    let affected_count = findings.count_affected_files();
    let rules = match (&facts.rules_file, findings.adopt) {
        (Some(_), _) => "against the rules file",
        (None, None) => "against the rules that `sluicegate rules init` writes",
        (None, Some(_)) => "against the rules that are written, each at `error`",
    };
    let table = match render_rule_table(findings) {
        Some(figures) if affected_count > 0 || findings.adopt.is_some() => {
            let pipeline_count = format_count(findings.files.len(), "pipeline");
            format!("findings today    {affected_count} of {pipeline_count}, {rules}\n\n{figures}")
        }
        _ => String::new(),
    };
    let project_findings = describe_project_findings(findings, plan.has_write_step(settings::FILE_NAME));
    match findings.adopt {
        None if !table.is_empty() => {
            let noun = if affected_count == 1 {
                "a change to the pipeline with findings"
            } else {
                "a change to one of these pipelines"
            };
            format!(
                "{table}{project_findings}\nIf all of these findings fail the gate, {noun} fails. {ADOPT_OPTIONS}"
            )
        }
        _ => table + &project_findings,
    }
}

/// Describes how many findings each project check has and, if this run writes `sluicegate.yaml`, at which level the
/// checks start. Returns an empty text if there are no findings.
fn describe_project_findings(findings: &CurrentFindings, writes_config_file: bool) -> String {
    let check_counts: Vec<String> = ProjectCheck::ALL
        .into_iter()
        .map(|check| (check, findings.count_check_findings(check)))
        .filter(|(_, number)| *number > 0)
        .map(|(check, number)| format!("{} {number}", check.id()))
        .collect();
    if check_counts.is_empty() {
        return String::new();
    }
    let effect = match (findings.excused_state(writes_config_file), writes_config_file) {
        (Some(excuse), true) => format!("; these findings are {excuse}, and every check starts as `error`"),
        (Some(excuse), false) => format!("; these findings are {excuse}"),
        (None, true) => "; these checks start as `warn`, the others as `error`".to_owned(),
        (None, false) => String::new(),
    };
    format!("broken references: {}{effect}\n", check_counts.join(", "))
}

/// Describes whether the review of the change that adds the gate passes. Returns an empty text without `--adopt`,
/// because the result depends on that choice. Returns one, too, if the default branch already has the gate.
pub(crate) fn describe_first_review(facts: &RepositoryFacts, plan: &InitPlan) -> String {
    let (findings, Some(adopt)) = (&facts.findings, facts.findings.adopt) else {
        return String::new();
    };
    // No change introduces the gate and its waivers.
    if is_gate_merged(facts, plan) {
        return String::new();
    }
    let review = if findings.adds_rules {
        "reviewed against the rules that it adds, with all pipelines"
    } else {
        "reviewed with the pipelines that it changes"
    };
    let error_count = findings.count_excusable_errors();
    let effect = if error_count > 0 {
        let needs_new_only_setting = needs_new_only_setting(facts, plan);
        let all_count = findings.count_excusable_findings();
        // Findings of every level become known, but only those of level `error` fail the gate.
        let (finding_count, level) = if adopt == Adopt::NewOnly && !needs_new_only_setting {
            (all_count, "")
        } else if error_count < all_count {
            (error_count, " at level `error`")
        } else {
            (error_count, "")
        };
        let subject = if findings.adds_rules {
            format!(
                "every current finding{level} ({})",
                format_count(finding_count, "finding")
            )
        } else {
            // The number includes findings in unchanged pipelines, so it is not printed.
            format!("every current finding{level} in them")
        };
        describe_adoption_effect(
            adopt,
            needs_new_only_setting,
            findings.is_settings_file_new,
            &subject,
        )
    } else if findings.list_unevaluated_paths().is_empty() {
        "no current finding fails the gate, so the change passes.\n".to_owned()
    } else {
        // The text about files that could not be evaluated is appended below.
        String::new()
    };
    format!(
        "\nThe change that introduces the gate is {review}:\n{}",
        indent_lines(&(effect + &describe_unevaluated_files(facts)))
    )
}

/// Returns whether the default branch already has the waivers and the rules file, and this run does not write
/// `sluicegate.yaml`.
pub(crate) fn is_gate_merged(facts: &RepositoryFacts, plan: &InitPlan) -> bool {
    let findings = &facts.findings;
    findings.existing_waivers.is_merged && !findings.adds_rules && !plan.has_write_step(settings::FILE_NAME)
}

/// Indents each line by two spaces.
fn indent_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}\n")).collect();
    lines.concat()
}

/// Returns whether the user must set `new-only`: it is not set, and this run does not write `sluicegate.yaml`.
fn needs_new_only_setting(facts: &RepositoryFacts, plan: &InitPlan) -> bool {
    !plan.has_write_step(settings::FILE_NAME) && !facts.findings.is_new_only
}

/// Describes whether the current findings fail the gate in this change, and what applies after its merge. `subject` is
/// the text for the findings. `needs_new_only_setting` is the result of the function of this name, and
/// `is_settings_file_new` is true if the default branch has no `sluicegate.yaml`.
fn describe_adoption_effect(
    adopt: Adopt,
    needs_new_only_setting: bool,
    is_settings_file_new: bool,
    subject: &str,
) -> String {
    match adopt {
        // Without a file in the target branch, `new-only` of the change's own file applies.
        Adopt::NewOnly if needs_new_only_setting && is_settings_file_new => format!(
            "{subject} fails the gate until you set `new-only: true` in sluicegate.yaml (below). Then it is known,\n\
             in this change already.\n"
        ),
        Adopt::NewOnly if needs_new_only_setting => format!(
            "sluicegate.yaml is not changed, so {subject} fails the gate. For this one change, the job can set\n\
             SLUICEGATE_NEW_ONLY=true.\n"
        ),
        Adopt::NewOnly => format!(
            "{subject} is known because `new-only` applies to this change already, so it passes. The other\n\
             settings of sluicegate.yaml (`exclude`, `fail-on`) apply after its merge.\n"
        ),
        Adopt::Waivers => format!(
            "{subject} fails the gate, because a change cannot waive its own findings. For this one change, the job\n\
             can set SLUICEGATE_POLICY=head; the waivers apply after its merge.\n"
        ),
        Adopt::Strict => {
            format!("{subject} fails the gate until it is fixed or its rule is set to `warn`.\n")
        }
    }
}

/// Describes the files that could not be evaluated: no way to adopt the gate excuses them, so the review fails. Returns
/// an empty text if all files were evaluated.
fn describe_unevaluated_files(facts: &RepositoryFacts) -> String {
    let paths = facts.findings.list_unevaluated_paths();
    if paths.is_empty() {
        return String::new();
    }
    let list = List::with_limit(&paths, 1)
        .with_noun("file")
        .map(|path| text::escape_line(path));
    format!(
        "Neither `new-only` nor waivers excuse files that cannot be evaluated, so the review fails: {list}\n"
    )
}

/// Returns the steps that the user has to take for the chosen way to adopt the gate. Without `--adopt`, returns no
/// steps.
pub(crate) fn list_adoption_steps(facts: &RepositoryFacts, plan: &InitPlan) -> Vec<String> {
    let (findings, Some(adopt)) = (&facts.findings, facts.findings.adopt) else {
        return Vec::new();
    };
    let mut steps = Vec::new();
    let (file, warn_rules) = (facts.rules_file.as_deref(), findings.list_warn_rules());
    if let (Some(file), [_, ..]) = (file, warn_rules.as_slice()) {
        let mut step = format!(
            "Rules at `warn` do not fail the gate; to enforce a rule, set `enforcementLevel: error` in {}:",
            text::escape_line(file)
        );
        let _ = write!(step, "\n    {}", text::escape_line(&warn_rules.join(", ")));
        steps.push(step);
    }
    if findings.rules.is_none() {
        steps.push("The rules file is invalid; run `sluicegate rules lint` to see why".to_owned());
    }
    if adopt == Adopt::NewOnly && needs_new_only_setting(facts, plan) {
        steps
            .push("Set `new-only: true` under `review` in sluicegate.yaml, because `init` does not change an existing file".to_owned());
    }
    steps.extend(describe_check_level_step(facts, plan));
    if adopt == Adopt::Waivers
        && !plan.has_write_step(waivers::FILE_NAME)
        && findings.existing_waivers.lacks_waivers
    {
        let file = waivers::FILE_NAME;
        steps.push(format!(
            "Add the missing entries to {file}: `sluicegate waivers add --all --reason 'found before the gate'`"
        ));
    }
    steps
}

/// Describes the step to set the project checks to the level that a new `sluicegate.yaml` has if the current findings
/// are excused. Returns `None` if this run writes the file, or if every check has this level.
fn describe_check_level_step(facts: &RepositoryFacts, plan: &InitPlan) -> Option<String> {
    let findings = &facts.findings;
    let writes_config_file = true;
    // The state that the findings would have if this run wrote the file.
    let state = findings.excused_state(writes_config_file)?;
    let checks: Vec<&str> = findings
        .list_warn_checks()
        .into_iter()
        .map(ProjectCheck::key)
        .collect();
    if checks.is_empty() || plan.has_write_step(settings::FILE_NAME) {
        return None;
    }
    Some(format!(
        "Set these levels under `project-checks` in sluicegate.yaml to `error`, because current findings are \
         {state}:\n    {}",
        checks.join(", ")
    ))
}
