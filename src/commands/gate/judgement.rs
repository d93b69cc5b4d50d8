//! From findings to a verdict, an exit status and a report: the same for every reviewer.

use crate::base::error::Failure;
use crate::base::exit::ExitStatus;
use crate::base::git::{CommitId, Snapshot};
use crate::base::text::count;
use crate::commands::Run;
use crate::commands::gate::interface::in_change;
use crate::commands::gate::past::Past;
use crate::commands::gate::project::ProjectRun;
use crate::commands::gate::selecting::Chosen;
use crate::commands::gate::unanswered::Unanswered;
use crate::commands::gate::workspace::Workspace;
use crate::gate::{Cause, Judgement, Part, ReportedRun, Selected};
use crate::job::context::Comparison;
use crate::job::settings::Judging;
use crate::model::findings::{Engine, FailOn, Report, ReviewContext, Shard};
use jiff::Timestamp;
use std::time::Instant;

const REFUSED: &str = "The change touches the gate itself and other files. This job does not allow that (--gate-changes \
                       fail): propose what it does to the gate in a change of its own.";

const OUTDATED: &str = "The target branch has a stricter gate configuration than this change. This job does not allow that \
                        (--gate-changes fail): merge the target branch into the change.";

const BROKEN: &str = "The change breaks consumers of shared pipelines. This job does not allow that (--compat fail): keep what they \
                      name, or say why they may break (--accept-breaking).";

/// Returns why a break of consumers is accepted although the job gives no reason; `None` if it is not.
pub(crate) type Accepts<'f> = dyn Fn() -> Result<Option<String>, Failure> + 'f;

/// What the findings come to, and what was asked for in vain.
#[derive(Default)]
pub(crate) struct Judged {
    judgement: Judgement,
    /// The requests that got no answer.
    unanswered: Unanswered,
    /// The target's tip is stricter than the change.
    by_tip: bool,
}

/// How a run ends, for whoever tells it.
pub(crate) struct RunEnding {
    pub(crate) status: ExitStatus,
    /// The target's tip is stricter than the change, and is held against it.
    pub(crate) by_tip: bool,
    /// Why files were not reviewed, as far as that was told already.
    pub(crate) told: Vec<String>,
    /// Pipelines that did not change were reviewed as well, as a publish follows.
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
    /// No pipeline is to be judged, and `why` says so. What the checks of the project find counts all the same, unless there is
    /// nothing to be done at all.
    pub(crate) fn nothing(
        comparison: &Comparison,
        project: &ProjectRun<'_>,
        (fail_on, past): (FailOn, Option<&Past>),
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

    /// Takes in the requests that got no answer. Where `may_pass` says so, a platform that is away leaves nothing open.
    pub(crate) fn take_unanswered(&mut self, run: &Run, unanswered: Unanswered, may_pass: bool) {
        if may_pass {
            self.judgement
                .excuse("the change passes all the same, because of --on-unavailable pass");
        }
        self.unanswered = unanswered;
        self.unanswered.show(run, self.status() == ExitStatus::Success);
    }

    fn status(&self) -> ExitStatus {
        self.unanswered.status(self.judgement.status())
    }

    /// How the run ends, once everything is taken in; a note says so if it is excused.
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
    /// Takes in what the change does to consumers: a break that the job does not allow, and `accepts` does not either,
    /// fails the run, and what cannot be told is no pass where a break would be none.
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
            let told = format!("what the change does to consumers cannot be told: {why}");
            if found.is_undecided {
                self.judgement.because(Cause::UnknownBreaks, told);
            } else {
                self.note([told]);
            }
        }
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

    /// Takes in what the selection tells: names that only look like a pipeline's, and a change of the gate that the job
    /// does not allow, which fails the run whatever the findings are;
    /// and the number of known findings.
    pub(crate) fn take_in(&mut self, run: &Run, chosen: &Chosen, part: &Part) {
        if let Some(told) = chosen.selected.lookalikes_told() {
            run.ui.warn(&told);
            self.note([told]);
        }
        if chosen.is_refused {
            self.judgement.because(Cause::GateChange, REFUSED);
        }
        if let Some(outdated) = &chosen.outdated {
            self.by_tip = true;
            self.note(outdated.notes());
            if chosen.is_outdated {
                self.judgement.because(Cause::GateChange, OUTDATED);
            }
        }
        self.judgement
            .hold_known(part, chosen.selected.all_because.is_some());
    }
}

/// When a review began.
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

    /// The report of a review that ends now.
    pub(crate) fn report(
        &self,
        engine: Engine,
        judged: Judged,
        comparison: Comparison,
        chosen: Chosen,
        part: &Part,
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
            },
            started_at: self.at,
            elapsed: self.clock.elapsed(),
        };
        judged.judgement.report(run, chosen.selected)
    }
}

/// Keeps the files of the part that was asked for, and says how many that is.
pub(crate) fn part(
    run: &Run,
    asked: &Judging,
    paths: Vec<String>,
    selected: &mut Selected,
) -> Result<Part, Failure> {
    let parse = |text: &String| {
        text.parse::<Shard>()
            .map_err(|why| Failure::usage(format!("the shard {text:?} cannot be used: {why}")))
    };
    let shard = asked.shard.as_ref().map(parse).transpose()?;
    let part = Part::keep(shard, (asked.fail_on, asked.max_known), paths, selected);
    if let Some(shard) = part.shard {
        let kept = selected.files.len();
        let all = count(kept + part.left_out, "pipeline");
        run.ui.say(&format!("part {shard}: {kept} of {all}"));
    }
    Ok(part)
}

/// Why nothing is to be judged, if so; `unselected` says it where nothing was selected.
pub(crate) fn nothing(
    comparison: &Comparison,
    selected: &Selected,
    part: &Part,
    unselected: impl FnOnce() -> Result<String, Failure>,
) -> Result<Option<String>, Failure> {
    match &comparison.nothing_to_do {
        Some(why) => Ok(Some(why.clone())),
        None if !selected.files.is_empty() => Ok(None),
        None if part.left_out > 0 => Ok(Some("all selected pipelines are in other parts".to_owned())),
        None => unselected().map(Some),
    }
}
