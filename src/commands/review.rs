//! `sluicegate review`: settle the target, select, ask, decide, deliver.

use super::client::requests;
use super::deliver::{Delivery, deliver};
use super::failure::status_of;
use super::workspace::Workspace;
use super::{Outcome, Run};
use crate::cli::{FailOn, OnUnavailable, ReviewArgs};
use crate::context::Target;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::findings::{Engine, Report, ReviewContext, Severity, Shard, Verdict};
use crate::gate::{self, Asked, BatchAnswer, BatchError, Batching, Positions, Selected, Tally};
use crate::git::CommitId;
use crate::pipelines::RULES_FILE;
use crate::rules::RuleSet;
use crate::settings::{Connection, Review};
use crate::text;
use jiff::Timestamp;
use std::time::Instant;

/// A rules file larger than this is not read.
const RULES_LIMIT: u64 = 16 * 1024 * 1024;

pub(super) fn run(run: &Run, args: &ReviewArgs) -> Outcome {
    let workspace = run.workspace()?;
    let settings = workspace.sources.review(args)?;
    let connection = workspace.sources.connection(&run.global)?;
    let started = Started::now();
    let target = workspace.target(run, settings.revisions.clone())?;
    let paths = workspace.paths(run, &args.selection.paths, &target)?;
    let mut selected = workspace.select(&target, &settings.selection, &paths)?;
    let shard = shard(&settings)?;
    let left_out = shard.map_or(0, |shard| keep_part(run, &mut selected, shard));
    if settings.dry_run {
        return dry_run(run, &target, &selected, &settings);
    }
    let review = Asking {
        run,
        workspace: &workspace,
        settings: &settings,
        connection: &connection,
        target: &target,
    };
    let judged = if let Some(why) = nothing_to_review(&target, &selected, left_out) {
        review.nothing(&why)?
    } else {
        review.ask(&selected.files)?
    };
    let mut report = started.report(judged.tally, judged.verdict, &target, selected, judged.notes);
    report.context.shard = shard;
    let delivered = deliver(
        run,
        &workspace,
        &Delivery {
            report: &report,
            to: &settings.destinations,
        },
    );
    Ok(judged.status.worse(delivered))
}

/// The part of the review that this run is.
fn shard(settings: &Review) -> Result<Option<Shard>, Failure> {
    let parse = |text: &String| {
        text.parse()
            .map_err(|why| Failure::usage(format!("the shard {text:?} cannot be used: {why}")))
    };
    settings.shard.as_ref().map(parse).transpose()
}

/// Keeps the files of this part, and says how many others there are.
fn keep_part(run: &Run, selected: &mut Selected, shard: Shard) -> usize {
    let all = selected.files.len();
    selected.files.retain(|path| shard.holds(path));
    let kept = selected.files.len();
    run.ui
        .say(&format!("part {shard}: {kept} of {}", count(all, "pipeline")));
    all - kept
}

fn nothing_to_review(target: &Target, selected: &Selected, left_out: usize) -> Option<String> {
    match &target.nothing_to_do {
        Some(why) => Some(why.clone()),
        None if !selected.files.is_empty() => None,
        None if left_out > 0 => Some("all selected pipelines are in other parts".to_owned()),
        None => Some("no pipeline changed that is selected".to_owned()),
    }
}

/// When the review began.
struct Started {
    at: Timestamp,
    clock: Instant,
}

impl Started {
    fn now() -> Self {
        Self {
            at: Timestamp::now(),
            clock: Instant::now(),
        }
    }

    fn report(
        &self,
        tally: Tally,
        verdict: Verdict,
        target: &Target,
        selected: Selected,
        notes: Vec<String>,
    ) -> Report {
        Report {
            engine: Engine::Remote,
            verdict,
            context: review_context(target),
            files: tally.files,
            excluded: tally.excluded,
            unreviewed: tally.unreviewed,
            gate_changes: selected.gate_changes,
            notes,
            started_at: self.at,
            elapsed: self.clock.elapsed(),
        }
    }
}

fn review_context(target: &Target) -> ReviewContext {
    ReviewContext {
        ci: target.ci.to_string(),
        event: target.event.clone(),
        branch: target.branch.clone(),
        head: Some(target.head.to_string()),
        base: target.base.as_ref().map(CommitId::to_string),
        shard: None,
    }
}

/// What the answers come to.
struct Judged {
    tally: Tally,
    verdict: Verdict,
    status: ExitStatus,
    notes: Vec<String>,
}

/// A review about to be asked for.
struct Asking<'a> {
    run: &'a Run,
    workspace: &'a Workspace<'a>,
    settings: &'a Review,
    connection: &'a Connection,
    target: &'a Target,
}

impl Asking<'_> {
    /// Nothing is sent, but what a review would need is still checked, so that a broken set-up shows early.
    fn nothing(&self, why: &str) -> Result<Judged, Failure> {
        self.connection.base_url()?;
        self.connection.project_id()?;
        self.connection.agent_version()?;
        let note = format!("nothing to review: {why}");
        Ok(Judged {
            tally: Tally::default(),
            verdict: Verdict::Passed,
            status: ExitStatus::Success,
            notes: vec![note],
        })
    }

    fn ask(&self, files: &[String]) -> Result<Judged, Failure> {
        let (project, agent_version) = (self.connection.project_id()?, self.connection.agent_version()?);
        let branch = self.target.require_branch()?;
        if let Some(warning) = self.target.check_on_remote(&self.workspace.repo)? {
            self.run.ui.warn(&warning);
        }
        let platform = self.run.platform(self.connection)?;
        let asked = Asked {
            project,
            agent_version,
            branch,
            commit: self.target.head.as_str(),
        };
        let batching = Batching {
            size: self.settings.batch_size,
            concurrency: self.settings.concurrency,
        };
        let head = self.target.head.short();
        self.run.ui.say(&format!(
            "reviewing {} of branch {branch} at {head}",
            count(files.len(), "pipeline")
        ));
        let bar = self.run.ui.progress("reviewing").files();
        let progress = |done: usize, total: usize| bar.set(done as u64, total as u64);
        let answers = requests(gate::review_in_batches(
            &platform, &asked, files, batching, &progress,
        ))?;
        bar.clear();
        self.judge(answers)
    }

    fn judge(&self, answers: Vec<BatchAnswer>) -> Result<Judged, Failure> {
        let refused = self.show_failures(&answers);
        let rules = self.rules()?;
        let mut positions = Positions::new(&self.workspace.repo, &self.target.head);
        let mut tally = gate::merge(answers, rules.as_ref(), &mut positions);
        let limit = match self.settings.fail_on {
            FailOn::Error => Some(Severity::Error),
            FailOn::Warn => Some(Severity::Warning),
            FailOn::Never => None,
        };
        let decision = gate::decide(&tally, limit);
        let mut status = if decision.failed {
            ExitStatus::GateFailed
        } else {
            ExitStatus::Success
        };
        let mut notes = std::mem::take(&mut tally.notes);
        notes.append(&mut tally.doubts);
        if decision.undecided && self.settings.on_unavailable == OnUnavailable::Pass && refused.is_none() {
            notes.push(
                "the review is undecided, and lets the change pass because of --on-unavailable pass"
                    .to_owned(),
            );
        } else if decision.undecided {
            status = status.worse(ExitStatus::Undecided);
        }
        let status = match refused {
            // Not the platform, but the set-up is the cause.
            Some(ExitStatus::Usage) if status == ExitStatus::Undecided => ExitStatus::Usage,
            Some(refused) => status.worse(refused),
            None => status,
        };
        Ok(Judged {
            tally,
            verdict: decision.verdict(),
            status,
            notes,
        })
    }

    /// Shows each different failure once, and gives the status if one is not about availability.
    fn show_failures(&self, answers: &[BatchAnswer]) -> Option<ExitStatus> {
        let mut shown: Vec<String> = Vec::new();
        let mut refused: Option<ExitStatus> = None;
        for answer in answers {
            let Err(BatchError::Request(error)) = &answer.outcome else {
                continue;
            };
            let status = status_of(error.kind());
            if matches!(status, ExitStatus::Denied | ExitStatus::Usage) {
                refused = Some(refused.map_or(status, |known| known.worse(status)));
            }
            let failure = Failure::new(status, anyhow::anyhow!("{error}"));
            let failure = match error.hint() {
                Some(hint) => failure.hint(hint),
                None => failure,
            };
            let text = failure.render();
            if !shown.contains(&text) {
                self.run.ui.fail(&failure);
                shown.push(text);
            }
        }
        refused
    }

    /// The rules file at the reviewed commit, for the enforcement levels; none where there is none.
    fn rules(&self) -> Result<Option<RuleSet>, Failure> {
        let Some(folder) = self.workspace.config_dir(&self.target.head)? else {
            return Ok(None);
        };
        let repo = &self.workspace.repo;
        let Some(file) = repo.find_file(&self.target.head, &format!("{folder}/{RULES_FILE}"))? else {
            return Ok(None);
        };
        Ok(Some(RuleSet::parse(&repo.read_blob(&file.blob, RULES_LIMIT)?)))
    }
}

/// `1 pipeline`, `2 pipelines`.
pub(super) fn count(n: usize, what: &str) -> String {
    if n == 1 {
        format!("1 {what}")
    } else {
        format!("{n} {what}s")
    }
}

fn dry_run(run: &Run, target: &Target, selected: &Selected, settings: &Review) -> Outcome {
    let branch = target.branch.as_deref().unwrap_or("(no branch)");
    let batches = selected.files.len().div_ceil(settings.batch_size);
    let what = format!(
        "{} in {}",
        count(selected.files.len(), "pipeline"),
        count(batches, "request")
    );
    let mut lines = vec![text::line(&format!(
        "would review {what}: branch {branch}, commit {}",
        target.head
    ))];
    lines.extend(
        selected
            .files
            .iter()
            .map(|file| format!("  {}", text::line(file))),
    );
    run.ui.out(&(lines.join("\n") + "\n"))?;
    Ok(ExitStatus::Success)
}
