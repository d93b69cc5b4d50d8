//! Brings a report to where people look: files, standard output, the CI host. One place that cannot be reached is
//! named; the others are served, and the verdict stands.

mod changes;
mod files;
mod links;
mod needed;
mod remote;
mod reproduction;
mod steps;
mod surroundings;

pub(crate) use steps::{STEP_OUTPUT, append_outputs};

use crate::base::error::Failure;
use crate::base::exit::ExitStatus;
use crate::base::git::{Repository, Snapshot};
use crate::commands::Run;
use crate::commands::gate::judgement::{ReviewedBeyondChange, RunEnding};
use crate::commands::gate::platform_folder;
use crate::commands::gate::workspace::Workspace;
use crate::gate::ComparedChanges;
use crate::job::ci::{CiContext, Host};
use crate::job::settings::{Destinations, Judging, Selection};
use crate::model::findings::{Finding, Report};
use crate::model::pipelines::RULES_FILE;
use crate::model::rules::{self, LintProblem};
use crate::report::{ChangedFile, WrongRules};

/// What to deliver, and where to.
pub(crate) struct Delivery<'a> {
    pub(crate) report: &'a Report,
    pub(crate) to: &'a Destinations,
    /// Whether the run passes, whatever the verdict is.
    pub(crate) passes: bool,
    /// Which files were meant, where that is known.
    pub(crate) selection: Option<&'a Selection>,
    /// The target's tip is held against the change.
    pub(crate) by_tip: bool,
    /// Pipelines that did not change were reviewed as well.
    pub(crate) unchanged: Option<&'a ReviewedBeyondChange>,
    /// The gate configuration in force is that of another commit than the reviewed one.
    pub(crate) is_policy_elsewhere: bool,
    /// Why files were not reviewed, as far as that was told already.
    pub(crate) told: &'a [String],
    /// Where the rules file is wrong.
    pub(crate) wrong_rules: Vec<WrongRules>,
    /// The hidden folder to name when a rules file is written, if nothing tells it.
    pub(crate) folder_to_name: Option<String>,
    /// The changes of pipelines, where a selection found them.
    pub(crate) compared: Option<&'a ComparedChanges>,
    /// What changed in the pipelines, where that was looked at; else what the report has of it.
    pub(crate) changes: Option<Vec<ChangedFile>>,
}

/// What is told, and where.
pub(crate) struct Telling<'a> {
    pub(crate) to: &'a Destinations,
    /// The pipelines whose change is told.
    selection: &'a Selection,
    compared: ComparedChanges,
}

impl<'a> Telling<'a> {
    pub(crate) const fn of(
        judging: &'a Judging,
        selection: &'a Selection,
        compared: ComparedChanges,
    ) -> Self {
        Self {
            to: &judging.destinations,
            selection,
            compared,
        }
    }
}

/// Where the program runs, as far as it is known.
pub(crate) struct DeliveryPlace<'a> {
    /// The repository, and the files in it that the report is about.
    pub(crate) files: Option<(&'a Repository, &'a Snapshot<'a>)>,
    pub(crate) ci: Option<&'a CiContext>,
}

impl DeliveryPlace<'_> {
    fn host(&self) -> Host {
        self.ci.map_or(Host::None, |ci| ci.host)
    }
}

/// Delivers what was just found in these files of the workspace; the status says whether every place was reached.
pub(crate) fn deliver(
    run: &Run,
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    report: &mut Report,
    ending: &RunEnding,
    telling: &Telling<'_>,
) -> ExitStatus {
    let changes = changed(run, workspace, snapshot, report, telling);
    report.changes = changes
        .as_ref()
        .map(|files| files.iter().map(|file| file.changed.clone()).collect());
    let place = DeliveryPlace {
        files: Some((&workspace.repo, snapshot)),
        ci: Some(&workspace.ci),
    };
    deliver_from(
        run,
        &place,
        &Delivery {
            report,
            to: telling.to,
            passes: ending.status == ExitStatus::Success,
            selection: Some(telling.selection),
            by_tip: ending.by_tip,
            unchanged: ending.unchanged.as_ref(),
            is_policy_elsewhere: workspace.policy_is_elsewhere(),
            told: &ending.told,
            wrong_rules: wrong_rules(workspace, snapshot, report),
            folder_to_name: folder_to_name(workspace, snapshot, report),
            compared: Some(&telling.compared),
            changes,
        },
    )
}

/// What changed, where a report tells it. A review is to be told also where this cannot be.
fn changed(
    run: &Run,
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    report: &Report,
    telling: &Telling<'_>,
) -> Option<Vec<ChangedFile>> {
    if !changes::is_told(run, workspace.ci.host, telling.to) {
        return None;
    }
    let wants = |path: &str| telling.selection.wants(path);
    let compared = Some(&telling.compared);
    changes::changes(&workspace.repo, snapshot, report, compared, &wants).unwrap_or_else(|failure| {
        run.ui
            .warn(&format!("what changed is not told: {}", failure.words()));
        None
    })
}

/// The hidden folder to name when a rules file is written; `None` if it is known.
fn folder_to_name(workspace: &Workspace<'_>, snapshot: &Snapshot<'_>, report: &Report) -> Option<String> {
    if !report.findings().iter().any(Finding::is_of_the_rules_file) {
        return None;
    }
    if matches!(workspace.config_dir(snapshot), Ok(Some(_)) | Err(_)) {
        return None;
    }
    // A change that deletes the file tells the folder, too.
    let gone = report
        .gate_changes
        .iter()
        .map(|change| change.path.split_once('/'));
    let gone = gone.flatten().find(|(_, file)| *file == RULES_FILE);
    if let Some((folder, _)) = gone {
        return Some(folder.to_owned());
    }
    let candidates = platform_folder::candidates(snapshot).unwrap_or_default();
    Some(platform_folder::first_or_any(&candidates).to_owned())
}

/// The places that `rules lint` shows, where the rules file keeps anything from being judged.
fn wrong_rules(workspace: &Workspace<'_>, snapshot: &Snapshot<'_>, report: &Report) -> Vec<WrongRules> {
    if !report.findings().iter().any(Finding::is_of_the_rules_file) {
        return Vec::new();
    }
    let Ok(Some(file)) = workspace.rules_file(snapshot) else {
        return Vec::new();
    };
    let Ok(Ok(bytes)) = workspace.read(&file) else {
        return Vec::new();
    };
    let problems = rules::lint(&bytes).into_iter().filter(|problem| problem.is_error);
    let wrong = |problem: LintProblem| {
        let at = problem.position;
        Some(WrongRules {
            error_type: problem.error_type?,
            message: problem.message,
            place: format!("{}:{}:{}", file.path, at.line, at.column),
        })
    };
    problems.filter_map(wrong).collect()
}

pub(crate) fn deliver_from(run: &Run, place: &DeliveryPlace<'_>, delivery: &Delivery<'_>) -> ExitStatus {
    let about = surroundings::about(run, place, delivery);
    let mut status = ExitStatus::Success;
    let mut check = |result: Result<(), Failure>| {
        if let Err(failure) = result {
            status = status.worse(run.ui.fail(&failure));
        }
    };
    files::write_reports(run, place.host(), delivery, &about, &mut check);
    check(steps::show(run, place, delivery, &about));
    check(steps::summarize(run, delivery, &about));
    check(steps::tell_outputs(run, place, delivery));
    remote::send(run, place, delivery, &about);
    status
}
