//! `sluicegate review`: settle the target, select, ask, decide, deliver.

use crate::cli::{Fork, OnUnavailable, ReviewArgs};
use crate::commands::gate::deliver::{deliver, words};
use crate::commands::gate::judgement::{Judged, Part, Started, nothing, why_partial};
use crate::commands::gate::unselected::nothing_selected;
use crate::commands::gate::workspace::{Restriction, Workspace};
use crate::commands::kit::failure::status_of;
use crate::commands::{CommandResult, Run};
use crate::context::{Comparison, Subject, Target};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::findings::{Engine, Report};
use crate::gate::{self, Asked, BatchAnswer, BatchError, Batching, Positions, Selected};
use crate::git::Snapshot;
use crate::http::HttpError;
use crate::settings::{Connection, Review};
use crate::text;
use crate::text::count;

/// What the reports say where the platform was not asked.
const JUDGED_HERE: &str = "the change comes from a fork, which the platform cannot read, so it was judged on this \
                           machine by the rules file of its commit, not by the platform (--fork check)";

pub(crate) fn run(run: &Run, args: &ReviewArgs) -> CommandResult {
    Ok(reviewed(run, args, &|_, _| Vec::new())?.status)
}

/// A review that ended.
pub(crate) struct Reviewed<'a> {
    pub(crate) workspace: Workspace<'a>,
    pub(crate) target: Target,
    pub(crate) status: ExitStatus,
    /// None where nothing was asked, in a dry run.
    pub(crate) report: Option<Report>,
    /// What of it was reviewed, and by what.
    pub(crate) part: Part,
    /// Whether standard output carries a report.
    pub(crate) takes_output: bool,
}

/// The pipelines that are reviewed whether they changed or not.
pub(crate) type AlsoReviewed<'f> = dyn Fn(&Workspace<'_>, &Target) -> Vec<String> + 'f;

impl<'a> Reviewed<'a> {
    /// Of a dry run.
    const fn without_report(
        workspace: Workspace<'a>,
        target: Target,
        status: ExitStatus,
        part: Part,
    ) -> Self {
        Self {
            workspace,
            target,
            status,
            report: None,
            part,
            takes_output: false,
        }
    }
}

/// What a review begins with.
struct Begun<'a> {
    workspace: Workspace<'a>,
    settings: Review,
    connection: Connection,
    target: Target,
}

fn begin<'a>(run: &'a Run, args: &ReviewArgs) -> Result<Begun<'a>, Failure> {
    let mut workspace = run.workspace()?;
    let wish = workspace
        .sources
        .revisions(&args.selection, args.branch.clone())?;
    workspace.deepen(run, &wish, Subject::Commit)?;
    workspace.warn_of_policy(run);
    let settings = workspace.sources.review(args)?;
    Ok(Begun {
        connection: workspace.sources.connection(&run.global)?,
        target: workspace.target(run, settings.revisions.clone())?,
        settings,
        workspace,
    })
}

/// Reviews what changed and what `also` names, and delivers one report.
pub(crate) fn reviewed<'a>(
    run: &'a Run,
    args: &ReviewArgs,
    also: &AlsoReviewed<'_>,
) -> Result<Reviewed<'a>, Failure> {
    let started = Started::now();
    let Begun {
        workspace,
        settings,
        connection,
        target,
    } = begin(run, args)?;
    let comparison = Comparison::from(target.clone());
    let paths = workspace.paths(run, &args.selection.paths, &target)?;
    let restriction = Restriction {
        selection: &settings.selection,
        paths: &paths,
        named: &[],
        revisions: &settings.revisions,
    };
    let snapshot = workspace.repo.snapshot(target.head.clone());
    let mut chosen = workspace.select(run, &snapshot, &comparison, &restriction)?;
    let is_whole = why_partial(None, &paths, settings.judging.fail_on).is_none();
    let also = if is_whole {
        also(&workspace, &target)
    } else {
        Vec::new()
    };
    let unchanged = add(&mut chosen.selected, also);
    let part = Part::keep(run, &settings.judging, paths, &mut chosen.selected)?;
    let nothing = nothing(&comparison, &chosen.selected, &part, || {
        nothing_selected(&snapshot, &settings.selection)
    })?;
    if settings.dry_run {
        let status = dry_run(run, &target, &chosen.selected, &settings, nothing.as_deref())?;
        return Ok(Reviewed::without_report(workspace, target, status, part));
    }
    let review = Asking {
        run,
        workspace: &workspace,
        settings: &settings,
        connection: &connection,
        target: &target,
    };
    let mut judged = match nothing {
        Some(why) => review.nothing(&why)?,
        None => review.judged(&snapshot, &chosen.selected.files)?,
    };
    let policy = workspace.sources.note().map(str::to_owned);
    judged.notes.extend(policy.into_iter().chain(unchanged));
    judged.take_in(run, &chosen);
    let ending = judged.ending();
    let report = started.report(review.engine(), judged, comparison, chosen, &part);
    let to = &settings.judging.destinations;
    let delivered = deliver(run, &workspace, &snapshot, &report, &ending, to);
    Ok(Reviewed {
        status: ending.status.worse(delivered),
        report: Some(report),
        part,
        takes_output: to.take_output(),
        workspace,
        target,
    })
}

/// Adds pipelines that did not change; the sentence that says so, if there are any. What they have is no finding of the
/// change: what of it is known already is to be told by the commit of the latest enabled version.
fn add(selected: &mut Selected, mut also: Vec<String>) -> Option<String> {
    also.retain(|path| !selected.files.contains(path));
    let what = count(also.len(), "pipeline");
    let said = (!also.is_empty()).then(|| {
        format!("{what} that did not change: reviewed too, as only what passed as a whole is published")
    });
    selected.files.append(&mut also);
    selected.files.sort();
    said
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
    /// The change of a fork is judged on this machine, if that was asked for.
    const fn engine(&self) -> Engine {
        match self.settings.fork {
            Fork::Check if self.target.fork => Engine::Local,
            _ => Engine::Remote,
        }
    }

    fn judged(&self, snapshot: &Snapshot<'_>, files: &[String]) -> Result<Judged, Failure> {
        match self.engine() {
            Engine::Local => self.check(snapshot, files),
            Engine::Remote => self.ask(files),
        }
    }

    /// Nothing is sent, but what a review would need is still checked, so that a broken set-up shows early. A job for
    /// a fork is not given what it would need.
    fn nothing(&self, why: &str) -> Result<Judged, Failure> {
        if !self.target.fork {
            self.connection.base_url()?;
            self.connection.project_id()?;
            self.connection.agent_version()?;
        }
        Ok(Judged::nothing(format!("nothing to review: {why}")))
    }

    /// The same rules, on this machine; every report says so.
    fn check(&self, snapshot: &Snapshot<'_>, files: &[String]) -> Result<Judged, Failure> {
        let fail_on = self.settings.judging.fail_on;
        let mut judged =
            crate::commands::gate::check::judge(self.run, self.workspace, snapshot, files, fail_on)?;
        judged.notes.push(JUDGED_HERE.to_owned());
        Ok(judged)
    }

    fn ask(&self, files: &[String]) -> Result<Judged, Failure> {
        self.target.refuse_fork()?;
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
        let answers = self.run.requests(gate::review_in_batches(
            &platform, &asked, files, batching, &progress,
        ))?;
        bar.clear();
        self.judge(answers)
    }

    fn judge(&self, answers: Vec<BatchAnswer>) -> Result<Judged, Failure> {
        let is_away = answers.iter().filter_map(failed).all(HttpError::is_unavailable);
        let lets_pass = self.settings.on_unavailable == OnUnavailable::Pass && is_away;
        let (refused, told) = self.show_failures(&answers, lets_pass);
        let snapshot = self.workspace.repo.snapshot(self.target.head.clone());
        let rules = self.workspace.rules(&snapshot)?;
        let mut positions = Positions::new(&self.workspace.repo, &self.target.head);
        let tally = gate::merge(answers, rules.as_ref(), &mut positions);
        let excuse = "the change passes all the same, because of --on-unavailable pass";
        let mut judged = Judged::of(tally, self.settings.judging.fail_on, lets_pass.then_some(excuse));
        judged.told = told;
        judged.status = match refused {
            // Not the platform, but the set-up is the cause.
            Some(ExitStatus::Usage) if judged.status == ExitStatus::Undecided => ExitStatus::Usage,
            Some(refused) => judged.status.worse(refused),
            None => judged.status,
        };
        Ok(judged)
    }

    /// Shows each different cause once. Gives the status if one is not about availability, and the causes. What lets the
    /// change pass is no error.
    fn show_failures(&self, answers: &[BatchAnswer], lets_pass: bool) -> (Option<ExitStatus>, Vec<String>) {
        let mut shown: Vec<String> = Vec::new();
        let mut refused: Option<ExitStatus> = None;
        for error in answers.iter().filter_map(failed) {
            let status = status_of(error.kind());
            if matches!(status, ExitStatus::Denied | ExitStatus::Usage) {
                refused = Some(refused.map_or(status, |known| known.worse(status)));
            }
            let failure = Failure::new(status, anyhow::anyhow!("{error}"));
            let failure = match error.hint() {
                Some(hint) => failure.hint(hint),
                None => failure,
            };
            let cause = error.cause();
            if shown.contains(&cause) {
                continue;
            }
            shown.push(cause);
            if lets_pass {
                self.run.ui.warn(&words(&failure));
            } else {
                self.run.ui.fail(&failure);
            }
        }
        (refused, shown)
    }
}

const fn failed(answer: &BatchAnswer) -> Option<&HttpError> {
    match &answer.outcome {
        Err(BatchError::Request(error)) => Some(error),
        _ => None,
    }
}

fn dry_run(
    run: &Run,
    target: &Target,
    selected: &Selected,
    settings: &Review,
    nothing: Option<&str>,
) -> CommandResult {
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
    lines.extend(nothing.map(|why| text::line(&format!("nothing to review: {why}"))));
    run.ui.out(&(lines.join("\n") + "\n"))?;
    Ok(ExitStatus::Success)
}
