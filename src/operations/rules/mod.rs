//! Shows the rules, and creates or checks the rules file.

pub(crate) mod explain;
pub(crate) mod lint;

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{OutputArgs, OutputFormat};
use crate::session::output::{json, table};
use crate::session::{CommandResult, Run};
use crate::workspace::platform_folder::must_be_named;
use crate::workspace::{Workspace, folder_in};
use serde_json::{Value, json as value};
use sluicegate_git::Snapshot;
use sluicegate_pipelines::findings::Enforcement;
use sluicegate_pipelines::pipelines::RULES_FILE;
use sluicegate_pipelines::project::{CheckLevels, ProjectCheck};
use sluicegate_pipelines::rules::{self, RuleSet, RuleState};
use std::fs::{self, File};
use std::io::{self, Write as _};

pub(crate) fn list(run: &Run, output: OutputArgs) -> CommandResult {
    let here = here(run)?;
    let rules = here.as_ref().and_then(|(rules, _)| rules.as_ref());
    let state = |id: &str| rules.map(|rules| state_name(rules.state(id)));
    let level = |check| {
        here.as_ref()
            .map(|(_, levels)| levels.level_of(check).map_or("off", Enforcement::name))
    };
    let checks = ProjectCheck::ALL.map(ProjectCheck::documentation);
    let documented = rules::registry().iter().map(|rule| rule.documentation());
    let shown = match output.output {
        OutputFormat::Json => {
            let kinds = |rule: &rules::RuleDocumentation| -> Vec<&str> {
                rule.kinds.iter().map(|kind| kind.name()).collect()
            };
            let rules = documented.map(|rule| {
                value!({ "id": rule.id, "kinds": kinds(rule), "summary": rule.summary, "here": state(rule.id) })
            });
            let checks = checks.iter().map(|check| {
                value!({ "id": check.check.id(), "kinds": [], "summary": check.summary, "here": level(check.check) })
            });
            json(&Value::Array(rules.chain(checks).collect()))
        }
        OutputFormat::Text => {
            let row = |rule: &'static rules::RuleDocumentation| {
                let here = state(rule.id).unwrap_or("-").to_owned();
                vec![
                    rule.id.to_owned(),
                    here,
                    rule.describe_kinds().to_owned(),
                    rule.summary.to_owned(),
                ]
            };
            let checks = checks.iter().map(|check| {
                vec![
                    check.check.id().to_owned(),
                    level(check.check).unwrap_or("-").to_owned(),
                    "the project".to_owned(),
                    check.summary.to_owned(),
                ]
            });
            table(
                &["rule", "here", "applies to", "requirement"],
                &documented.map(row).chain(checks).collect::<Vec<_>>(),
            )
        }
    };
    run.ui.print_result(&shown)?;
    Ok(ExitStatus::Success)
}

const fn state_name(state: RuleState) -> &'static str {
    match state {
        RuleState::Enabled(Enforcement::Error) => "error",
        RuleState::Enabled(Enforcement::Warn) => "warn",
        RuleState::Disabled => "disabled",
        RuleState::Broken(error_type) => error_type,
        RuleState::Missing => "not there",
        RuleState::Unknown => "unknown",
    }
}

/// Returns the rules file of the checkout and the levels of the project checks, or `None` outside a repository, as the list
/// needs neither.
fn here(run: &Run) -> Result<Option<(Option<RuleSet>, CheckLevels)>, Failure> {
    let none = |failure: Failure| match failure.status() {
        ExitStatus::Context => Ok(None),
        _ => Err(failure),
    };
    let workspace = match run.workspace() {
        Ok(workspace) => workspace,
        Err(failure) => return none(failure),
    };
    match workspace.checkout_files(run) {
        Ok(snapshot) => {
            let checks = workspace.sources.project_checks(None)?;
            Ok(Some((workspace.rules(&snapshot)?, checks.levels)))
        }
        Err(failure) => none(failure),
    }
}

/// Returns an error if another directory already has the platform's files, unless the configuration file sets the
/// directory.
fn refuse_second_folder(
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    folder: &str,
) -> Result<(), Failure> {
    let Ok(Some(other)) = folder_in(snapshot)? else {
        return Ok(());
    };
    if other == folder || workspace.sources.sets_config_dir(folder) {
        return Ok(());
    }
    let message =
        format!("`{other}` already contains the platform's files, so `{folder}` would be a second directory");
    Err(Failure::usage(message).hint(format!(
        "use --config-dir {other}; to use `{folder}` anyway, set `config-dir: {folder}` in sluicegate.yaml first"
    )))
}

pub(crate) fn init(run: &Run) -> CommandResult {
    let workspace = run.workspace()?;
    let snapshot = workspace.repo.on_disk(run.index())?;
    let folder = match workspace.config_dir(&snapshot)? {
        Some(folder) => folder,
        None => must_be_named(&snapshot, run, "sluicegate rules init")?,
    };
    refuse_second_folder(&workspace, &snapshot, &folder)?;
    let path = workspace.repo.root().join(folder).join(RULES_FILE);
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
        let mut file = File::create_new(&path)?;
        file.write_all(rules::rules_file_template(Enforcement::Warn).as_bytes())
    });
    match written {
        Ok(()) => {
            run.ui.print_result(&format!(
                "wrote {}\n",
                sluicegate_base::text::line(&path.display().to_string())
            ))?;
            Ok(ExitStatus::Success)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let message = format!("{} already exists and was not changed", path.display());
            Err(Failure::usage(message).hint("run `sluicegate rules lint` to check it"))
        }
        Err(error) => {
            let what = format!("could not write {}", path.display());
            Err(Failure::new(
                ExitStatus::Usage,
                anyhow::Error::new(error).context(what),
            ))
        }
    }
}
