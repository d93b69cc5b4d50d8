//! Turns findings into a verdict, an exit status and a report: the same code for every engine.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::baseline::Baseline;
use crate::gate::interface_changes::in_change;
use crate::gate::project_checks::ProjectRun;
use crate::gate::selection::Chosen;
use crate::gate::unanswered::Unanswered;
use crate::gate::{Cause, Judgement, Part, ReportedRun, Selected};
use crate::job::context::{Comparison, PolicyTip};
use crate::job::settings::{Connection, Judging, Selection};
use crate::model::findings::{Engine, FailOn, Report, ReviewContext, ReviewPlatform, Shard};
use crate::model::interface::describe_new_pipelines;
use crate::session::Run;
use crate::workspace::Workspace;
use crate::workspace::unusable_gate_files::UnusableGateFiles;
use jiff::Timestamp;
use sluicegate_base::text::count;
use sluicegate_git::{CommitId, Snapshot};
use std::time::Instant;

const REFUSED: &str = "The change edits the gate configuration and other files. This job does not allow that \
                       (--gate-changes fail): propose the gate configuration in a separate change.";

const OUTDATED: &str = "The target branch has a stricter gate configuration than this change. This job does not allow that \
                        (--gate-changes fail): merge the target branch into the change.";

const BROKEN: &str = "The change breaks consumers of shared pipelines. This job does not allow that \
                      (--compat fail): keep the ids and parameters that they use, or accept the break with a reason \
                      (--accept-breaking).";

/// Returns why a break of consumers is accepted although the job gives no reason; `None` if it is not.
pub(crate) type Accepts<'f> = dyn Fn() -> Result<Option<String>, Failure> + 'f;

/// The evaluated findings, and the requests without a response.
#[derive(Default)]
pub(crate) struct Judged {
    judgement: Judgement,
    /// The requests that got no response.
    unanswered: Unanswered,
    /// The target's tip is stricter than the change.
    by_tip: bool,
}

/// The end of a run, for its reports.
pub(crate) struct RunEnding {
    pub(crate) status: ExitStatus,
    /// The target's tip is stricter than the change and is enforced.
    pub(crate) by_tip: bool,
    /// Why files were not reviewed, as far as reported already.
    pub(crate) told: Vec<String>,
    /// The unchanged pipelines that were reviewed because a publish follows.
    pub(crate) unchanged: Option<ReviewedBeyondChange>,
}

/// A review of more than the change.
pub(crate) struct ReviewedBeyondChange {
    /// The commit that known findings were compared with.
    pub(crate) known_at: Option<CommitId>,
}

impl From<Judgement> for Judged {
    fn from(judgement: Judgement) -> Self {
        Self {
            judgement,
            ..Self::default()
        }
    }
}

impl Judged {
    /// Returns the result if there is no pipeline to review; `why` is the reason. Findings of the project checks still
    /// count, unless the run has nothing to do.
    pub(crate) fn nothing(
        comparison: &Comparison,
        project: &ProjectRun<'_>,
        (fail_on, past): (FailOn, Option<&Baseline>),
        why: String,
    ) -> Result<Self, Failure> {
        if comparison.nothing_to_do.is_none() {
            let tally = project.alone(past)?;
            if !tally.project.is_empty() {
                let mut judged = Self::from(Judgement::new(tally, fail_on));
                judged.note([why]);
                return Ok(judged);
            }
        }
        Ok(Self::from(Judgement::nothing(why)))
    }

    pub(crate) fn note(&mut self, notes: impl IntoIterator<Item = String>) {
        self.judgement.notes.extend(notes);
    }

    /// Adds the note that settings of the checkout's configuration file are not in force, if any.
    pub(crate) fn add_policy_limit(&mut self, workspace: &Workspace<'_>) {
        if let Some(limit) = workspace.policy_limit() {
            self.judgement.add_limit(limit);
        }
    }

    /// Adds the requests that got no response. With `may_pass`, an unavailable platform does not make the run
    /// undecided.
    pub(crate) fn take_unanswered(
        &mut self,
        run: &Run,
        unanswered: Unanswered,
        may_pass: bool,
    ) -> Result<(), Failure> {
        if may_pass {
            self.judgement
                .excuse("the change passes regardless, because of --on-unavailable pass");
        }
        self.unanswered = unanswered;
        self.unanswered.show(run, self.status() == ExitStatus::Success)
    }

    fn status(&self) -> ExitStatus {
        self.unanswered.status(self.judgement.status())
    }

    /// Returns the end of the run, after everything was added; adds a note if it is excused.
    pub(crate) fn ending(&mut self) -> RunEnding {
        let status = self.status();
        self.judgement.note_excuse(status);
        RunEnding {
            status,
            by_tip: self.by_tip,
            told: std::mem::take(&mut self.unanswered).causes(),
            unchanged: None,
        }
    }
}

impl Judged {
    /// Adds the changes for consumers: a break that neither the job nor `accepts` allows fails the run, and unknown
    /// changes do not pass if a break would fail.
    pub(crate) fn take_consumers(
        &mut self,
        workspace: &Workspace<'_>,
        snapshot: &Snapshot<'_>,
        comparison: &Comparison,
        (judging, part): (&Judging, &Part),
        accepts: &Accepts<'_>,
    ) -> Result<(), Failure> {
        let (breaks, paths) = (&judging.breaks, &part.paths);
        let Some(mut found) = in_change(workspace, snapshot, comparison, breaks, paths)? else {
            return Ok(());
        };
        if let Some(why) = &found.unknown {
            let told = format!("could not determine the changes for consumers: {why}");
            if found.is_undecided {
                self.judgement.because(Cause::UnknownBreaks, told);
            } else {
                self.note([told]);
            }
        }
        self.note(describe_new_pipelines(&found.compat));
        if found.compat.refused {
            match accepts() {
                Ok(reason) => {
                    found.compat.refused = reason.is_none();
                    found.compat.accepted = reason;
                }
                Err(why) => self.note([format!(
                    "could not determine whether the version name accepts the break: {}",
                    why.chain()
                )]),
            }
        }
        if found.compat.refused {
            self.judgement.because(Cause::Break, BROKEN);
        }
        self.judgement.take_compat(found.compat);
        Ok(())
    }

    /// Adds the results of the selection: warnings about what is not reviewed, a change of the gate configuration
    /// that the job does not allow, which fails the run regardless of the findings, and the number of known findings.
    pub(crate) fn take_in(&mut self, run: &Run, chosen: &Chosen, part: &Part) {
        for warning in chosen.selected.warnings() {
            run.defer_warning(warning.clone());
            self.note([warning]);
        }
        if chosen.is_refused {
            self.judgement.because(Cause::GateChange, REFUSED);
        }
        self.take_unusable(&chosen.unusable);
        if let Some(outdated) = &chosen.outdated {
            self.by_tip = true;
            for limit in outdated.limits() {
                self.judgement.add_limit(limit);
            }
            self.note(outdated.evaluation_note());
            if chosen.is_outdated {
                self.judgement.because(Cause::GateChange, OUTDATED);
            }
        }
        self.judgement
            .hold_known(part, chosen.selected.all_because.is_some());
    }
}

impl Judged {
    /// Adds the files of the gate configuration that cannot be used: those that the change made unusable fail the run.
    fn take_unusable(&mut self, unusable: &UnusableGateFiles) {
        for reason in &unusable.introduced {
            let message = format!(
                "The change makes a file of the gate configuration unusable: {reason}. Fix the file in this change, \
                 because no later run could use it."
            );
            self.judgement.because(Cause::GateChange, message);
        }
        for reason in &unusable.inherited {
            self.note([format!(
                "A file of the gate configuration was unusable before this change and is treated as missing: {reason}"
            )]);
        }
    }
}

/// The settings that a report contains, so that only reports of one review are merged or relied on.
pub(crate) struct RecordedSettings {
    new_only: bool,
    include: Vec<String>,
    exclude: Vec<String>,
    policy: Option<String>,
    platform: Option<ReviewPlatform>,
}

impl RecordedSettings {
    /// Records the settings of a review; `connection` is that of a review by the platform.
    pub(crate) fn new(
        workspace: &Workspace<'_>,
        judging: &Judging,
        selection: &Selection,
        connection: Option<&Connection>,
    ) -> Self {
        let (include, exclude) = selection.patterns();
        let policy = match &workspace.policy {
            PolicyTip::At { commit, .. } => Some(commit.to_string()),
            PolicyTip::Head { .. } | PolicyTip::Unknown { .. } => None,
        };
        Self {
            new_only: judging.new_only,
            include: include.to_vec(),
            exclude: exclude.to_vec(),
            policy,
            platform: connection.and_then(reviewing_platform),
        }
    }
}

/// Returns the platform and the project that this connection leads to; `None` if one of them is not set.
pub(crate) fn reviewing_platform(connection: &Connection) -> Option<ReviewPlatform> {
    Some(ReviewPlatform {
        url: connection.base_url().ok()?.normalized(),
        project: connection.project_id().ok()?.to_string(),
    })
}

/// The start time of a review.
pub(crate) struct Started {
    at: Timestamp,
    clock: Instant,
}

impl Started {
    pub(crate) fn now() -> Self {
        Self {
            at: Timestamp::now(),
            clock: Instant::now(),
        }
    }

    /// Returns the report of a review that ends now.
    pub(crate) fn report(
        &self,
        engine: Engine,
        judged: Judged,
        comparison: Comparison,
        chosen: Chosen,
        part: &Part,
        settings: RecordedSettings,
    ) -> Report {
        let run = ReportedRun {
            engine,
            context: ReviewContext {
                ci: comparison.ci.to_string(),
                event: comparison.event,
                branch: comparison.branch,
                head: comparison.head.as_ref().map(CommitId::to_string),
                base: comparison.bases.first().map(CommitId::to_string),
                other_bases: comparison.bases.iter().skip(1).map(CommitId::to_string).collect(),
                shard: part.shard,
                fail_on: Some(part.fail_on),
                paths: part.paths.clone(),
                max_known: part.max_known,
                compared_with: None,
                new_only: settings.new_only,
                include: settings.include,
                exclude: settings.exclude,
                policy: settings.policy,
                platform: settings.platform,
            },
            started_at: self.at,
            elapsed: self.clock.elapsed(),
        };
        judged.judgement.report(run, chosen.selected)
    }
}

/// Keeps the files of the requested shard, and prints their number.
pub(crate) fn part(
    run: &Run,
    asked: &Judging,
    paths: Vec<String>,
    selected: &mut Selected,
) -> Result<Part, Failure> {
    let parse = |text: &String| {
        text.parse::<Shard>()
            .map_err(|why| Failure::usage(format!("invalid shard {text:?}: {why}")))
    };
    let shard = asked.shard.as_ref().map(parse).transpose()?;
    let part = Part::keep(shard, (asked.fail_on, asked.max_known), paths, selected);
    if let Some(shard) = part.shard {
        let kept = selected.files.len();
        let all = count(kept + part.left_out, "pipeline");
        run.ui.say(&format!("shard {shard}: {kept} of {all}"));
    }
    Ok(part)
}

/// Returns why there is no pipeline to review, or `None` if there is one; `unselected` returns the reason for an empty
/// selection.
pub(crate) fn nothing(
    comparison: &Comparison,
    selected: &Selected,
    part: &Part,
    unselected: impl FnOnce() -> Result<String, Failure>,
) -> Result<Option<String>, Failure> {
    match &comparison.nothing_to_do {
        Some(why) => Ok(Some(why.clone())),
        None if !selected.files.is_empty() => Ok(None),
        None if part.left_out > 0 => Ok(Some("all selected pipelines are in other shards".to_owned())),
        None => unselected().map(Some),
    }
}
