//! Checks without a network: settings, repository, clone, and the platform's files in it.

use super::check::{self, Check, CheckOutcome};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::ci::Host;
use crate::job::cli::{CiArgs, ReviewArgs};
use crate::job::settings::{Connection, RequestFields};
use crate::session::Run;
use crate::workspace::Workspace;
use crate::workspace::platform_folder;
use crate::workspace::rules_remedy::RulesRemedy;
use sluicegate_base::text::{List, count};
use sluicegate_git::{GitError, Snapshot, SnapshotFile};
use sluicegate_pipelines::pipelines::{RULES_FILE, SHARED_PIPELINES_FILE, SharedPipelines};
use sluicegate_pipelines::rules;
use std::fmt::Display;

/// Maximum number of missing pipelines to list.
const NAMED: usize = 5;

/// The checks in a repository, in this order.
const IN_REPOSITORY: [&str; 4] = ["ci-host", "clone-depth", "rules-file", "shared-pipelines"];

/// The settings that other checks need.
pub(crate) struct DoctorSettings {
    pub(crate) connection: Connection,
    /// The fields of a review request.
    pub(crate) request: RequestFields,
    /// Whether a setting is set that only a publish needs.
    pub(crate) publishes: bool,
    /// Whether missing commits are fetched.
    deepens: bool,
}

/// Adds the local checks, and returns the settings if they are valid.
pub(crate) fn examine(run: &Run, checks: &mut Vec<Check>) -> Option<DoctorSettings> {
    let usable = |_: &DoctorSettings| "flags, variables and configuration file are valid".to_owned();
    let settings = note(checks, "settings", resolve(run), usable);
    let repository = run.open_repository().map_err(Failure::from);
    let repository = note(checks, "repository", repository, |repo| {
        repo.root().display().to_string().trim_end_matches('/').to_owned()
    });
    let workspace = match (&settings, repository) {
        (Some(_), Some(_)) => note(checks, "ci-host", usable_workspace(run), host),
        _ => None,
    };
    if let (Some(settings), Some(workspace)) = (&settings, workspace) {
        checks.extend(files(run, &workspace, settings));
    }
    check::leave_rest(checks, &IN_REPOSITORY);
    settings
}

/// Opens the workspace, if a review in it could read its policy.
fn usable_workspace(run: &Run) -> Result<Workspace<'_>, Failure> {
    let workspace = run.workspace()?;
    workspace.require_policy_of_unknown_host()?;
    Ok(workspace)
}

/// Adds the outcome of a check, and returns its value if it succeeded.
fn note<T>(
    checks: &mut Vec<Check>,
    name: &'static str,
    outcome: Result<T, Failure>,
    found: impl Fn(&T) -> String,
) -> Option<T> {
    match outcome {
        Ok(it) => {
            checks.push(Check::ok(name, found(&it)));
            Some(it)
        }
        Err(failure) => {
            checks.push(Check::failed(name, &failure));
            None
        }
    }
}

/// Resolves all settings, whether a review or a publish needs them.
fn resolve(run: &Run) -> Result<DoctorSettings, Failure> {
    let sources = run.sources()?;
    sources.config_dir(&run.global)?;
    let review = sources.review_settings(&ReviewArgs::default())?;
    let publish_on = sources.publish_on(&CiArgs::default())?;
    Ok(DoctorSettings {
        connection: sources.connection(&run.global)?,
        publishes: publish_on.reason_for_no_publish().is_none() || sources.optional_prefix(None)?.is_some(),
        deepens: review.gate.revisions.deepen,
        request: review.request_fields,
    })
}

fn host(workspace: &Workspace<'_>) -> String {
    match workspace.ci.host {
        host @ (Host::None | Host::Unknown) => host.describe(),
        host => format!("{host}, event {}", workspace.ci.event),
    }
}

fn files(run: &Run, workspace: &Workspace<'_>, settings: &DoctorSettings) -> Vec<Check> {
    let depth = Check::new("clone-depth", depth(workspace, settings));
    let snapshot = workspace.checkout_files(run);
    let folder = snapshot.and_then(|snapshot| {
        let folder = workspace.config_dir(&snapshot)?;
        Ok((snapshot, folder))
    });
    let (rules, shared) = match &folder {
        Ok((snapshot, folder)) => (
            Check::new("rules-file", rules_file(workspace, snapshot)),
            Check::new(
                "shared-pipelines",
                shared_pipelines(workspace, snapshot, folder.as_deref(), settings),
            ),
        ),
        Err(failure) => (
            Check::failed("rules-file", failure),
            Check::not_applicable(
                "shared-pipelines",
                "not checked because the platform's directory is unknown",
            ),
        ),
    };
    vec![depth, rules, shared]
}

fn depth(workspace: &Workspace<'_>, settings: &DoctorSettings) -> Result<CheckOutcome, Failure> {
    if !workspace.repo.is_shallow() {
        return Ok(CheckOutcome::Ok("the clone has the full history".to_owned()));
    }
    if settings.deepens {
        return Ok(CheckOutcome::Ok(
            "the clone is shallow; missing commits are fetched".to_owned(),
        ));
    }
    let message = "the clone is shallow, so the changes cannot be determined reliably";
    let line = workspace.ci.host.full_history_setting();
    let whole = line.map_or_else(
        || "run `git fetch --unshallow`".to_owned(),
        |line| format!("set {line} in the job"),
    );
    Err(Failure::new(ExitStatus::Context, anyhow::Error::msg(message))
        .hint(format!("{whole}, or set SLUICEGATE_DEEPEN to true")))
}

fn rules_file(workspace: &Workspace<'_>, snapshot: &Snapshot<'_>) -> Result<CheckOutcome, Failure> {
    let Some(file) = workspace.rules_file(snapshot)? else {
        return Err(missing_rules(workspace, snapshot)?);
    };
    let problems = rules::lint_rules_file(&content(workspace, &file)?);
    let errors = problems.iter().filter(|problem| problem.is_error).count();
    if let Some(first) = problems.iter().find(|problem| problem.is_error) {
        let place = format!("{}:{}", file.path, first.position.line);
        let message = format!("{place}: {} ({} in all)", first.message, count(errors, "error"));
        return Err(Failure::usage(message).hint("run `sluicegate rules lint` to see each with its location"));
    }
    if !is_committed(workspace, &file.path)? {
        let remedy = RulesRemedy::Commit {
            is_ignored: false,
            path: file.path,
        };
        let message =
            "the rules file is not in the checked-out commit, so a review by the platform does not find it";
        return Err(Failure::usage(message).hint(remedy.hint()));
    }
    Ok(CheckOutcome::Ok(match problems.len() {
        0 => format!("{} has no problems", file.path),
        some => format!("{} is valid, with {}", file.path, count(some, "warning")),
    }))
}

/// Returns the failure for a missing rules file, with the way to provide it.
fn missing_rules(workspace: &Workspace<'_>, snapshot: &Snapshot<'_>) -> Result<Failure, Failure> {
    let remedy = workspace.rules_remedy(snapshot, None)?;
    let is_unknown = workspace.config_dir(snapshot)?.is_none();
    if matches!(remedy, RulesRemedy::Create { .. }) && is_unknown {
        let candidates = platform_folder::candidates(snapshot)?;
        return Ok(platform_folder::unknown(&candidates, "sluicegate rules init"));
    }
    let message = format!("no `{RULES_FILE}` in the platform's hidden directory");
    Ok(Failure::usage(message).hint(remedy.hint()))
}

/// Returns whether the checked-out commit has the file, with any content.
fn is_committed(workspace: &Workspace<'_>, path: &str) -> Result<bool, Failure> {
    match workspace.repo.head() {
        Ok(head) => Ok(workspace.repo.find_file(&head.commit, path)?.is_some()),
        Err(GitError::NoCommit { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Checks the shared-pipelines file, which a publish requires.
fn shared_pipelines(
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    folder: Option<&str>,
    settings: &DoctorSettings,
) -> Result<CheckOutcome, Failure> {
    let path = folder.map(|folder| format!("{folder}/{SHARED_PIPELINES_FILE}"));
    let file = path.map(|path| snapshot.find(&path)).transpose()?.flatten();
    let Some(file) = file else {
        let message = format!("no `{SHARED_PIPELINES_FILE}` in the platform's hidden directory");
        return if settings.publishes {
            Err(Failure::usage(message).hint("create the file with the list of pipelines to publish"))
        } else {
            Ok(CheckOutcome::NotApplicable(format!(
                "{message}; publishing is not configured"
            )))
        };
    };
    let refuse = |why: &dyn Display| Failure::usage(format!("{}: {why}", file.path));
    let shared = SharedPipelines::parse(&content(workspace, &file)?).map_err(|why| refuse(&why))?;
    let mut missing = Vec::new();
    for entry in shared.entries.iter().filter(|entry| entry.enabled) {
        if snapshot.find(&entry.pipeline)?.is_none() {
            missing.push(format!("{} (line {})", entry.pipeline, entry.position.line));
        }
    }
    if missing.is_empty() {
        if settings.publishes && !is_committed(workspace, &file.path)? {
            let reason = "the file is not in the checked-out commit, so a publish does not find it";
            return Err(refuse(&reason).hint("commit the file, and push"));
        }
        let offers = count(shared.entries.len(), "shared pipeline");
        return Ok(CheckOutcome::Ok(format!("{} lists {offers}", file.path)));
    }
    let message = format!(
        "{} in the list {} missing: {}",
        count(missing.len(), "pipeline"),
        if missing.len() == 1 { "is" } else { "are" },
        List::with_limit(&missing, NAMED)
    );
    Err(refuse(&message)
        .hint("correct the path, which is relative to the repository root, or set `enabled: false`"))
}

fn content(workspace: &Workspace<'_>, file: &SnapshotFile) -> Result<Vec<u8>, Failure> {
    let document = workspace.read(file)?;
    document.map_err(|why| Failure::usage(format!("{}: {why}", file.path)))
}
