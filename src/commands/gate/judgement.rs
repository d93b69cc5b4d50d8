//! From findings to a verdict, an exit status and a report: the same for every reviewer.

use crate::base::error::Failure;
use crate::base::exit::ExitStatus;
use crate::base::git::{CommitId, Snapshot};
use crate::base::text::count;
use crate::commands::Run;
use crate::commands::gate::interface::in_change;
use crate::commands::gate::selecting::Chosen;
use crate::commands::gate::unanswered::Unanswered;
use crate::commands::gate::workspace::Workspace;
use crate::gate::{self, Cause, Selected, Tally};
use crate::job::context::Comparison;
use crate::job::settings::Judging;
use crate::model::findings::{
    Engine, Excluded, FailOn, FileResults, Report, ReviewContext, Shard, Totals, Verdict, can_be_lower,
    too_many,
};
use crate::model::interface::Compat;
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

#[derive(Default)]
pub(crate) struct Judged {
    tally: Tally,
    causes: Vec<Cause>,
    /// Why the run passes although files have no answer.
    excuse: Option<&'static str>,
    /// What else is to be known; each a sentence.
    pub(crate) notes: Vec<String>,
    /// The requests that got no answer.
    unanswered: Unanswered,
    /// What the change does to consumers.
    compat: Option<Compat>,
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

impl Judged {
    /// There was nothing to judge; `note` says why.
    pub(crate) fn nothing(note: String) -> Self {
        Self {
            notes: vec![note],
            ..Self::default()
        }
    }

    pub(crate) fn of(mut tally: Tally, fail_on: FailOn) -> Self {
        let causes = gate::decide(&tally, fail_on);
        let mut notes = std::mem::take(&mut tally.notes);
        notes.append(&mut tally.doubts);
        Self {
            tally,
            causes,
            notes,
            ..Self::default()
        }
    }

    /// Takes in the requests that got no answer. Where `may_pass` says so, a platform that is away leaves nothing open.
    pub(crate) fn take_unanswered(&mut self, run: &Run, unanswered: Unanswered, may_pass: bool) {
        self.excuse = may_pass.then_some("the change passes all the same, because of --on-unavailable pass");
        self.unanswered = unanswered;
        self.unanswered.show(run, self.status() == ExitStatus::Success);
    }

    /// Returns how the run ends by what was taken in.
    fn status(&self) -> ExitStatus {
        let is_excused = |cause: &Cause| matches!(cause, Cause::Unreviewed | Cause::Doubt);
        let counting = self.causes.iter().copied();
        let counting: Vec<Cause> = counting
            .filter(|cause| self.excuse.is_none() || !is_excused(cause))
            .collect();
        self.unanswered.status(gate::status(gate::verdict(&counting)))
    }

    /// How the run ends, once everything is taken in; a note says so if it is excused.
    pub(crate) fn ending(&mut self) -> RunEnding {
        let status = self.status();
        let excuse = self
            .excuse
            .filter(|_| status == ExitStatus::Success && gate::verdict(&self.causes) == Verdict::Undecided);
        self.notes.extend(excuse.map(str::to_owned));
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
            self.notes
                .push(format!("what the change does to consumers cannot be told: {why}"));
            if found.is_undecided {
                self.causes.push(Cause::UnknownBreaks);
            }
        }
        if found.compat.refused {
            match accepts() {
                Ok(reason) => {
                    found.compat.refused = reason.is_none();
                    found.compat.accepted = reason;
                }
                Err(why) => self.notes.push(format!(
                    "could not determine whether the version name accepts the break: {}",
                    why.chain()
                )),
            }
        }
        if found.compat.refused {
            self.because(Cause::Break, BROKEN.to_owned());
        }
        self.compat = Some(found.compat);
        Ok(())
    }

    /// Takes in what the selection tells: names that only look like a pipeline's, and a change of the gate that the job
    /// does not allow, which fails the run whatever the findings are;
    /// and the number of known findings.
    pub(crate) fn take_in(&mut self, run: &Run, chosen: &Chosen, part: &Part) {
        if let Some(told) = chosen.selected.lookalikes_told() {
            run.ui.warn(&told);
            self.notes.push(told);
        }
        if chosen.is_refused {
            self.because(Cause::GateChange, REFUSED.to_owned());
        }
        if let Some(outdated) = &chosen.outdated {
            self.by_tip = true;
            self.notes.extend(outdated.notes());
            if chosen.is_outdated {
                self.because(Cause::GateChange, OUTDATED.to_owned());
            }
        }
        self.hold_known(part, chosen);
    }

    fn because(&mut self, cause: Cause, why: String) {
        self.causes.push(cause);
        self.notes.push(why);
    }
}

impl Judged {
    /// Holds the number of known findings to what the job allows. Only who judged everything can tell that it may be lower.
    fn hold_known(&mut self, part: &Part, chosen: &Chosen) {
        let (Some(most), Some(compared)) = (part.max_known, &self.tally.compared) else {
            return;
        };
        let findings = self.tally.files.iter().flat_map(FileResults::findings);
        let totals = Totals::of(&findings.collect::<Vec<_>>(), Some(compared.fixed));
        let known = totals.known.unwrap_or_default();
        let is_all = chosen.selected.all_because.is_some() && part.shard.is_none() && part.paths.is_empty();
        if known > most {
            self.because(Cause::TooManyKnown, too_many(known, most));
        } else if known < most && is_all {
            self.notes.push(can_be_lower(known, most));
        }
    }
}

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
        let types = judged.tally.excluded.into_iter().map(|path| Excluded {
            path,
            reason: "not a file that is reviewed".to_owned(),
        });
        let mut excluded: Vec<Excluded> = types.chain(chosen.selected.left_out).collect();
        excluded.sort();
        Report {
            engine,
            verdict: gate::verdict(&judged.causes),
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
            files: judged.tally.files,
            excluded,
            unreviewed: judged.tally.unreviewed,
            gate_changes: chosen.selected.gate_changes,
            gate_refused: chosen.is_refused || chosen.is_outdated,
            failed_without_finding: judged.tally.failed_without_finding,
            compat: judged.compat,
            is_open: gate::is_open(&judged.causes),
            changes: None,
            notes: judged.notes,
            fixed: judged.tally.compared.map(|compared| compared.fixed),
            started_at: self.at,
            elapsed: self.clock.elapsed(),
        }
    }
}

/// The part of the selected files that this run judges, and by what.
pub(crate) struct Part {
    pub(crate) shard: Option<Shard>,
    pub(crate) fail_on: FailOn,
    /// What the selection was restricted to before.
    pub(crate) paths: Vec<String>,
    max_known: Option<usize>,
    left_out: usize,
}

/// Why such a review is no pass as a whole, whatever its verdict; none if it is of everything and could fail.
pub(crate) fn why_partial(shard: Option<Shard>, paths: &[String], fail_on: FailOn) -> Option<String> {
    if let Some(part) = shard {
        return Some(format!("it is of the part {part} alone"));
    }
    if !paths.is_empty() {
        return Some(format!("it is restricted to {}", paths.join(", ")));
    }
    (fail_on == FailOn::Never)
        .then(|| "it was made with --fail-on never, so nothing that it found could fail it".to_owned())
}

impl Part {
    /// Keeps the files of the part that was asked for, and says how many that is.
    pub(crate) fn keep(
        run: &Run,
        asked: &Judging,
        paths: Vec<String>,
        selected: &mut Selected,
    ) -> Result<Self, Failure> {
        let parse = |text: &String| {
            text.parse::<Shard>()
                .map_err(|why| Failure::usage(format!("the shard {text:?} cannot be used: {why}")))
        };
        let shard = asked.shard.as_ref().map(parse).transpose()?;
        // The only part is the whole.
        let shard = shard.filter(|shard| shard.total > 1);
        let all = selected.files.len();
        if let Some(shard) = shard {
            selected.files.retain(|path| shard.holds(path));
            let (kept, all) = (selected.files.len(), count(all, "pipeline"));
            run.ui.say(&format!("part {shard}: {kept} of {all}"));
        }
        Ok(Self {
            shard,
            fail_on: asked.fail_on,
            max_known: asked.max_known,
            paths,
            left_out: all - selected.files.len(),
        })
    }
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
