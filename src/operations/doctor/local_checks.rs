//! Checks without a network: settings, repository, clone, and the platform's files in it.

use super::clone_checks::{check_clone_depth, check_remote};
use super::doctor_check::{self, Check, CheckOutcome};
use super::doctor_settings::{DoctorSettings, resolve_all_settings};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::ci::Host;
use crate::session::Session;
use crate::workspace::Workspace;
use crate::workspace::config_dir_prompt;
use crate::workspace::gate_files::list_hidden_root_entries;
use crate::workspace::rules_remedy::RulesRemedy;
use sluicegate_base::text::{List, format_count};
use sluicegate_git::{GitError, Snapshot, SnapshotFile};
use sluicegate_pipelines::pipelines::{
    RULES_FILE, SHARED_PIPELINES_FILE, SharedPipelines, shared_pipelines_path,
};
use sluicegate_pipelines::rules;

/// Maximum number of missing pipelines to list.
const MAX_LISTED_PIPELINES: usize = 5;

// The names of the checks.
const CI_HOST_CHECK: &str = "ci-host";
const CLONE_DEPTH_CHECK: &str = "clone-depth";
const REMOTE_CHECK: &str = "remote";
const RULES_FILE_CHECK: &str = "rules-file";
const SETTINGS_CHECK: &str = "settings";
const SHARED_PIPELINES_CHECK: &str = "shared-pipelines";
const TEAM_RULES_CHECK: &str = "team-rules";
const WAIVERS_CHECK: &str = "waivers";

/// The checks in a repository, in this order.
const REPOSITORY_CHECKS: [&str; 7] = [
    CI_HOST_CHECK,
    CLONE_DEPTH_CHECK,
    REMOTE_CHECK,
    RULES_FILE_CHECK,
    SHARED_PIPELINES_CHECK,
    TEAM_RULES_CHECK,
    WAIVERS_CHECK,
];

/// Runs the checks that need no network and adds them to `checks`. Returns the settings if they are valid, because the
/// remote checks need them.
pub(crate) fn run_local_checks(session: &Session, checks: &mut Vec<Check>) -> Option<DoctorSettings> {
    let settings = match resolve_all_settings(session) {
        Ok(settings) => {
            checks.push(settings.to_check(SETTINGS_CHECK));
            Some(settings)
        }
        Err(failure) => {
            checks.push(Check::from_failure(SETTINGS_CHECK, &failure));
            None
        }
    };
    let repository = session.open_repository().map_err(Failure::from);
    let repository = add_outcome(checks, "repository", repository, |repo| {
        repo.root().display().to_string().trim_end_matches('/').to_owned()
    });
    let workspace = match (&settings, repository) {
        (Some(_), Some(_)) => add_outcome(
            checks,
            CI_HOST_CHECK,
            open_workspace_on_known_host(session),
            describe_host,
        ),
        _ => None,
    };
    if let (Some(settings), Some(workspace)) = (&settings, workspace) {
        checks.extend(check_repository(session, &workspace, settings));
    }
    doctor_check::add_skipped_checks(checks, &REPOSITORY_CHECKS);
    settings
}

/// Opens the workspace. Like a review, fails on an unknown CI host unless the settings say where to read the policy
/// from.
fn open_workspace_on_known_host(session: &Session) -> Result<Workspace<'_>, Failure> {
    let workspace = session.open_workspace()?;
    workspace.require_policy_on_unknown_host()?;
    Ok(workspace)
}

/// Adds the check for this outcome, and returns the value of a successful one. `describe` turns the value into the
/// result to print.
fn add_outcome<T>(
    checks: &mut Vec<Check>,
    name: &'static str,
    outcome: Result<T, Failure>,
    describe: impl Fn(&T) -> String,
) -> Option<T> {
    match outcome {
        Ok(value) => {
            checks.push(Check::success(name, describe(&value)));
            Some(value)
        }
        Err(failure) => {
            checks.push(Check::from_failure(name, &failure));
            None
        }
    }
}

/// Describes the CI host and, in a job, the event that started it.
fn describe_host(workspace: &Workspace<'_>) -> String {
    match workspace.ci.host {
        host @ (Host::None | Host::Unknown) => host.describe(),
        host => format!("{host}, event {}", workspace.ci.event),
    }
}

/// Checks the history of the clone, the rules file and the shared-pipelines file. Both files are in the platform's
/// hidden directory. If the search for this directory fails, for example because there are several, neither file is
/// checked, and the rules file gets the failure.
fn check_repository(session: &Session, workspace: &Workspace<'_>, settings: &DoctorSettings) -> Vec<Check> {
    let clone_depth = Check::new(CLONE_DEPTH_CHECK, check_clone_depth(workspace, settings));
    let snapshot = workspace.read_checkout_snapshot(session);
    let directory_search = snapshot.and_then(|snapshot| {
        let config_dir = workspace.find_config_dir(&snapshot)?;
        Ok((snapshot, config_dir))
    });
    let (rules_file, shared_pipelines) = match &directory_search {
        Ok((snapshot, config_dir)) => (
            check_rules_file(workspace, snapshot, settings),
            Check::new(
                SHARED_PIPELINES_CHECK,
                check_shared_pipelines(workspace, snapshot, config_dir.as_deref(), settings),
            ),
        ),
        Err(failure) => (
            Check::from_failure(RULES_FILE_CHECK, failure),
            Check::not_applicable(
                SHARED_PIPELINES_CHECK,
                "not checked because the check `rules-file` failed",
            ),
        ),
    };
    let team_rules = Check::new(TEAM_RULES_CHECK, check_team_rules(session, workspace));
    let waivers = match &directory_search {
        Ok((snapshot, _)) => Check::new(WAIVERS_CHECK, check_waivers(workspace, snapshot)),
        Err(_) => Check::not_applicable(WAIVERS_CHECK, "not checked because the check `rules-file` failed"),
    };
    vec![
        clone_depth,
        Check::new(REMOTE_CHECK, check_remote(workspace, settings)),
        rules_file,
        shared_pipelines,
        team_rules,
        waivers,
    ]
}

/// Checks that the team rules that apply to a run can be used, or that the checkout repairs them.
fn check_team_rules(session: &Session, workspace: &Workspace<'_>) -> Result<CheckOutcome, Failure> {
    let team_rules = workspace.read_team_rules()?;
    let mut unusable_files = team_rules.unusable_files.iter();
    if let Some(file) = unusable_files.find(|file| !workspace.is_repaired_in_checkout(session, file)) {
        return Err(Failure::from_message(ExitStatus::GateFailed, file.reason.clone())
            .with_hint("merge a change that repairs the file"));
    }
    if !team_rules.unusable_files.is_empty() {
        let result = "the checkout repairs the team rules, which cannot be used yet";
        return Ok(CheckOutcome::Ok(result.to_owned()));
    }
    Ok(match team_rules.rules.rules().len() {
        0 => CheckOutcome::NotApplicable("no team rules apply".to_owned()),
        rule_count => CheckOutcome::Ok(format!("{} can be used", format_count(rule_count, "team rule"))),
    })
}

/// Checks that the waivers that apply to a run can be used. In CI, a run does not fail because of waivers that cannot
/// be used: it waives nothing.
fn check_waivers(workspace: &Workspace<'_>, snapshot: &Snapshot<'_>) -> Result<CheckOutcome, Failure> {
    let rules = workspace.read_rules_at(snapshot)?;
    // The bases decide about notes alone, which are not shown here.
    let bases = &[];
    let waivers = workspace.read_policy_waivers(snapshot, bases, rules.as_ref())?;
    if let Some(note) = waivers.unusable_note() {
        return Ok(CheckOutcome::NotApplicable(note.to_owned()));
    }
    Ok(match waivers.count() {
        0 => CheckOutcome::NotApplicable("no waivers apply".to_owned()),
        waiver_count => CheckOutcome::Ok(format!("{} can be used", format_count(waiver_count, "waiver"))),
    })
}

/// Checks the rules file. If it is missing and no platform is configured, the check is not applicable: `sluicegate
/// check` then evaluates the default rules.
fn check_rules_file(workspace: &Workspace<'_>, snapshot: &Snapshot<'_>, settings: &DoctorSettings) -> Check {
    if !settings.uses_platform && matches!(workspace.find_rules_file(snapshot), Ok(None)) {
        // In both cases, only the hint of the failure is used.
        let (Ok(failure) | Err(failure)) = missing_rules_failure(workspace, snapshot);
        let hint = failure.own_hint().unwrap_or("run `sluicegate rules init`");
        let reason = "no rules file: `sluicegate check` evaluates the default rules";
        return Check::not_applicable(RULES_FILE_CHECK, reason).with_hint(hint);
    }
    let outcome = check_existing_rules(workspace, snapshot, settings);
    Check::new(RULES_FILE_CHECK, outcome)
}

/// Checks that the rules file exists and has no errors. If a platform is used, also checks that it is committed,
/// because the platform reads it from git.
fn check_existing_rules(
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    settings: &DoctorSettings,
) -> Result<CheckOutcome, Failure> {
    let Some(file) = workspace.find_rules_file(snapshot)? else {
        return Err(missing_rules_failure(workspace, snapshot)?);
    };
    let problems = rules::lint_rules_file(&read_valid_document(workspace, &file)?);
    let error_count = problems.iter().filter(|problem| problem.is_error).count();
    if let Some(first_error) = problems.iter().find(|problem| problem.is_error) {
        let location = format!("{}:{}", file.path, first_error.position.line);
        let message = format!(
            "{location}: {} ({} in total)",
            first_error.message,
            format_count(error_count, "error")
        );
        return Err(
            Failure::usage(message).with_hint("run `sluicegate rules lint` to see every problem in the file")
        );
    }
    if settings.uses_platform && !is_committed(workspace, &file.path)? {
        let remedy = RulesRemedy::Commit {
            is_ignored: false,
            path: file.path,
        };
        let message =
            "the rules file is not in the checked-out commit, so a review by the platform does not find it";
        return Err(Failure::usage(message).with_hint(remedy.hint()));
    }
    // The remaining problems are warnings.
    Ok(CheckOutcome::Ok(match problems.len() {
        0 => format!("{} has no problems", file.path),
        warning_count => format!(
            "{} is valid, with {}",
            file.path,
            format_count(warning_count, "warning")
        ),
    }))
}

/// Returns the failure for a missing rules file, with a hint how to create or commit it. If the platform's hidden
/// directory is unknown, the hint is to name it. Returns `Err` if the reason could not be found out.
fn missing_rules_failure(workspace: &Workspace<'_>, snapshot: &Snapshot<'_>) -> Result<Failure, Failure> {
    let deleted_config_dir = None;
    let remedy = workspace.find_rules_remedy(snapshot, deleted_config_dir)?;
    let is_config_dir_unknown = workspace.find_config_dir(snapshot)?.is_none();
    if matches!(remedy, RulesRemedy::Create { .. }) && is_config_dir_unknown {
        let candidates = config_dir_prompt::find_config_dir_candidates(snapshot)?;
        return Ok(config_dir_prompt::unknown_config_dir_failure(
            &candidates,
            "sluicegate rules init",
        ));
    }
    let message = format!("no `{RULES_FILE}` in the platform's hidden directory");
    Ok(Failure::usage(message).with_hint(remedy.hint()))
}

/// Returns whether the checked-out commit contains the file. Its content may differ from the file on disk.
fn is_committed(workspace: &Workspace<'_>, path: &str) -> Result<bool, Failure> {
    match workspace.repo.head() {
        Ok(head) => Ok(workspace.repo.find_file(&head.commit, path)?.is_some()),
        Err(GitError::NoCommit { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Checks the shared-pipelines file and that each enabled pipeline in it exists. If publishing is configured, the file
/// must exist and be committed.
fn check_shared_pipelines(
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    config_dir: Option<&str>,
    settings: &DoctorSettings,
) -> Result<CheckOutcome, Failure> {
    let path = config_dir.map(shared_pipelines_path);
    let Some(file) = path.map(|path| snapshot.find_file(&path)).transpose()?.flatten() else {
        let mut message = format!("no `{SHARED_PIPELINES_FILE}` in the platform's hidden directory");
        for dir in list_hidden_root_entries(snapshot)? {
            let other_path = shared_pipelines_path(&dir);
            if snapshot.find_file(&other_path)?.is_some() {
                message = format!("{message}, but `{other_path}` exists");
                break;
            }
        }
        return if settings.publishes {
            Err(Failure::usage(message).with_hint(
                "run `sluicegate shared-pipelines add PATH` to share a pipeline, and commit the file",
            ))
        } else {
            Ok(CheckOutcome::NotApplicable(format!(
                "{message}; publishing is not configured"
            )))
        };
    };
    let shared_pipelines = SharedPipelines::parse(&read_valid_document(workspace, &file)?)
        .map_err(|error| Failure::usage(format!("{}: {error}", file.path)))?;
    let mut missing_pipelines = Vec::new();
    for entry in shared_pipelines.entries.iter().filter(|entry| entry.enabled) {
        if snapshot.find_file(&entry.pipeline)?.is_none() {
            missing_pipelines.push(format!("{} (line {})", entry.pipeline, entry.position.line));
        }
    }
    if !missing_pipelines.is_empty() {
        let message = format!(
            "{}: {} in the list {} missing: {}",
            file.path,
            format_count(missing_pipelines.len(), "pipeline"),
            if missing_pipelines.len() == 1 { "is" } else { "are" },
            List::with_limit(&missing_pipelines, MAX_LISTED_PIPELINES)
        );
        return Err(Failure::usage(message)
            .with_hint("fix the path (it is relative to the repository root), or set `enabled: false`"));
    }
    if settings.publishes && !is_committed(workspace, &file.path)? {
        let reason = "the file is not in the checked-out commit, so a publish does not find it";
        return Err(Failure::usage(format!("{}: {reason}", file.path)).with_hint("commit the file, and push"));
    }
    let pipeline_count = format_count(shared_pipelines.entries.len(), "shared pipeline");
    Ok(CheckOutcome::Ok(format!("{} lists {pipeline_count}", file.path)))
}

/// Reads the file. Content that is not a valid document is a failure.
fn read_valid_document(workspace: &Workspace<'_>, file: &SnapshotFile) -> Result<Vec<u8>, Failure> {
    let document = workspace.read_document(file)?;
    document.map_err(|error| Failure::usage(format!("{}: {error}", file.path)))
}
