//! Runs `sluicegate review`: resolves the target, selects the pipelines, requests the review, delivers the reports.

use crate::delivery::{Telling, deliver};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::baseline::Baseline;
use crate::gate::changes_ahead::ChangesAhead;
use crate::gate::empty_selection::nothing_selected;
use crate::gate::evaluation::{RecordedSettings, ReviewedBeyondChange, Started, nothing, part};
use crate::gate::project_checks::{ProjectChecking, ProjectRun};
use crate::gate::remote_review::Asking;
use crate::gate::selection::{Chosen, Restriction};
use crate::gate::{Part, Selected, why_partial};
use crate::job::cli::{PublishFlags, ReviewArgs};
use crate::job::context::{Comparison, DeepenSubject, Target};
use crate::job::settings::{self, Connection, Publish, Review};
use crate::model::findings::{Engine, Report};
use crate::model::interface::accepted_by_name;
use crate::platform::http::ErrorKind;
use crate::publication::MergedCommit;
use crate::publish::{Plan, PublishError, version::asks_for_next};
use crate::session::{CommandResult, Run};
use crate::workspace::Workspace;
use sluicegate_base::text::{self, count};
use sluicegate_git::Snapshot;

pub(crate) fn run(run: &Run, args: &ReviewArgs) -> CommandResult {
    Ok(reviewed(run, args, None, &|_, _| Ok(None))?.status)
}

pub(crate) struct Reviewed<'a> {
    pub(crate) workspace: Workspace<'a>,
    pub(crate) target: Target,
    pub(crate) status: ExitStatus,
    /// `None` in a dry run, which requests no review.
    pub(crate) report: Option<Report>,
    /// The reviewed part.
    pub(crate) part: Part,
    /// Whether standard output contains a report.
    pub(crate) takes_output: bool,
    /// The publish that follows, or `None` if none does.
    pub(crate) published: Option<Published>,
}

/// Returns the publish that would follow a passed review, or `None` if there is none.
pub(crate) type AlsoReviewed<'f> = dyn Fn(&Workspace<'_>, &Target) -> Result<Option<Published>, Failure> + 'f;

pub(crate) struct Published {
    pub(crate) merged: MergedCommit,
    pub(crate) settings: Publish,
    /// The publish plan, or why it could not be made; made once, so that the reviewed files are those published.
    pub(crate) plan: Result<Plan, PublishError>,
    /// Pipelines reviewed even if they did not change.
    pub(crate) pipelines: Vec<String>,
}

impl Published {
    /// Returns why the publish would accept a break, so that its review accepts it too; `None` if it would not.
    fn accepts_breaks(&self, review: &Asking<'_>) -> Result<Option<String>, Failure> {
        let (run, prefix) = (review.run, &self.settings.prefix);
        let against = self.settings.against.as_deref();
        let platform = run.platform(review.connection)?;
        let details = match run.requests(platform.artifact_details(prefix, against))? {
            Ok(details) => details.artifact,
            Err(error) if error.kind() == ErrorKind::NotFound && against.is_none() => {
                return Ok(Some(format!(
                    "no version of {prefix} is enabled, so it has no consumers"
                )));
            }
            Err(error) => return Err(error.into()),
        };
        let commit = details.commit_hash.unwrap_or_default();
        let old = details.version_name.as_deref();
        if commit.eq_ignore_ascii_case(review.target.head.as_str()) {
            let version = old.unwrap_or("(no name)");
            return Ok(Some(format!(
                "this commit is published already, as version {version}"
            )));
        }
        // A counted name announces nothing, as no user chose it.
        let named = self.plan.as_ref().ok();
        let named = named.filter(|_| !asks_for_next(&self.settings.version_name));
        Ok(named.and_then(|plan| accepted_by_name(old, &plan.version_name)))
    }
}

impl<'a> Reviewed<'a> {
    const fn without_report(
        workspace: Workspace<'a>,
        target: Target,
        status: ExitStatus,
        part: Part,
        published: Option<Published>,
    ) -> Self {
        Self {
            workspace,
            target,
            status,
            report: None,
            part,
            takes_output: false,
            published,
        }
    }
}

struct Begun<'a> {
    workspace: Workspace<'a>,
    settings: Review,
    connection: Connection,
    target: Target,
}

/// Opens the repository and reads the settings. `publish` has the flags of a publish that may follow.
fn begin<'a>(run: &'a Run, args: &ReviewArgs, publish: Option<&PublishFlags>) -> Result<Begun<'a>, Failure> {
    let to = &args.gate.destinations;
    let is_dry = settings::is_dry_run(args.dry_run, &run.env);
    let workspace = match run.open_repository_of(&args.selection.paths) {
        Ok(repo) => run.workspace_in(repo),
        Err(error) => Err(error.into()),
    };
    let mut workspace = workspace.inspect_err(|_| {
        if !is_dry {
            run.replace_default_reports(to);
        }
    })?;
    if !is_dry {
        run.replace_reports_of_policy(&workspace, to, publish)?;
    }
    let wish = workspace
        .sources
        .revisions(&args.selection, args.branch.clone())?;
    workspace.deepen(run, &wish, DeepenSubject::Commit)?;
    if wish.deepen && !is_dry {
        run.replace_reports_of_policy(&workspace, to, publish)?;
    }
    workspace.defer_policy_warning(run);
    workspace.warn_of_other_checkout(run, &wish)?;
    let (settings, connection) = workspace.resolve(
        run,
        |sources| Ok((sources.review(args)?, sources.connection(&run.global)?)),
        |(review, _)| &review.selection,
    )?;
    run.refuse_linked_reports(&workspace.repo, &settings.judging.destinations)?;
    Ok(Begun {
        connection,
        target: workspace.target(run, settings.revisions.clone())?,
        settings,
        workspace,
    })
}

impl Begun<'_> {
    /// Selects the pipelines within the given paths, which are returned relative to the repository root.
    fn chosen(
        &self,
        run: &Run,
        args: &ReviewArgs,
        snapshot: &Snapshot<'_>,
        comparison: &Comparison,
    ) -> Result<(Vec<String>, Chosen), Failure> {
        let (workspace, settings) = (&self.workspace, &self.settings);
        let paths = workspace.paths(run, &args.selection.paths, snapshot, &self.target.bases)?;
        let restriction = Restriction {
            selection: &settings.selection,
            paths: &paths,
            named: &[],
            revisions: &settings.revisions,
            resolve: &|sources| Ok(sources.review(args)?.selection),
        };
        let chosen = workspace.select(run, snapshot, comparison, &restriction)?;
        chosen.say_why_all(run, comparison, &settings.revisions);
        Ok((paths, chosen))
    }

    fn recorded_settings(&self, engine: Engine) -> RecordedSettings {
        let settings = &self.settings;
        let connection = (engine == Engine::Remote).then_some(&self.connection);
        RecordedSettings::new(
            &self.workspace,
            &settings.judging,
            &settings.selection,
            connection,
        )
    }

    fn project<'s>(&'s self, snapshot: &'s Snapshot<'s>) -> ProjectChecking<'s> {
        ProjectChecking {
            workspace: &self.workspace,
            settings: &self.settings.judging.project,
            snapshot,
        }
    }

    /// Starts to compare what changed, which needs no response of the platform.
    fn changes_ahead(
        &self,
        run: &Run,
        comparison: &Comparison,
        selected: &Selected,
        part: &Part,
    ) -> Option<ChangesAhead> {
        let is_dry = self.settings.dry_run;
        if is_dry || selected.since != comparison.bases || selected.files.is_empty() {
            return None;
        }
        let settings = (&self.settings.judging, &self.settings.selection);
        ChangesAhead::start(
            run,
            &self.workspace,
            &self.target.head,
            settings,
            (selected, part),
        )
    }

    /// Returns the baseline for `new-only`: before a publish with this prefix, the published version.
    fn past(
        &self,
        run: &Run,
        comparison: &Comparison,
        selected: &Selected,
        prefix: Option<&str>,
    ) -> Result<Option<Baseline>, Failure> {
        let past = match (self.settings.judging.new_only, prefix) {
            (false, _) => return Ok(None),
            (true, Some(prefix)) => {
                let (workspace, head) = (&self.workspace, &self.target.head);
                Baseline::published(run, workspace, &self.connection, prefix, head)?
            }
            (true, None) => Baseline::of(&self.workspace, &self.settings.revisions, comparison, selected)?,
        };
        Ok(Some(past.with_selection(&self.settings.selection)))
    }
}

/// Reviews the changed pipelines and those of `also`, and delivers one report.
pub(crate) fn reviewed<'a>(
    run: &'a Run,
    args: &ReviewArgs,
    publish: Option<&PublishFlags>,
    also: &AlsoReviewed<'_>,
) -> Result<Reviewed<'a>, Failure> {
    let started = Started::now();
    let begun = begin(run, args, publish)?;
    let (workspace, settings, target) = (&begun.workspace, &begun.settings, &begun.target);
    let comparison = Comparison::from(target.clone());
    let snapshot = workspace.repo.snapshot(target.head.clone());
    let (paths, mut chosen) = begun.chosen(run, args, &snapshot, &comparison)?;
    let is_whole = why_partial(None, &paths, settings.judging.fail_on).is_none();
    let planned = if is_whole { also(workspace, target)? } else { None };
    let prefix = planned.as_ref().map(|planned| planned.settings.prefix.as_str());
    let before = begun.past(run, &comparison, &chosen.selected, prefix)?;
    let unchanged = add(&mut chosen.selected, planned.as_ref());
    let part = part(run, &settings.judging, paths, &mut chosen.selected)?;
    let nothing = nothing(&comparison, &chosen.selected, &part, || {
        nothing_selected(&snapshot, &settings.selection)
    })?;
    let ahead = begun.changes_ahead(run, &comparison, &chosen.selected, &part);
    let review = Asking {
        run,
        workspace,
        settings,
        connection: &begun.connection,
        target,
        past: before.as_ref(),
        ahead: ahead.as_ref(),
    };
    if settings.dry_run {
        let status = dry_run(&review, &chosen.selected, nothing.as_deref())?;
        let Begun {
            workspace, target, ..
        } = begun;
        return Ok(Reviewed::without_report(workspace, target, status, part, planned));
    }
    let project = begun.project(&snapshot);
    let project = ProjectRun::of(project, &chosen.selected, &comparison.bases, &part);
    let mut judged = review.judged(&chosen, &project, &comparison, nothing)?;
    judged.add_policy_limit(workspace);
    judged.note(workspace.tip_age.clone().into_iter().chain(unchanged));
    judged.take_in(run, &chosen, &part);
    let accepts = || planned.as_ref().map_or(Ok(None), |it| it.accepts_breaks(&review));
    let judging = (&settings.judging, &part);
    judged.take_consumers(workspace, &snapshot, &comparison, judging, &accepts)?;
    let mut ending = judged.ending();
    ending.unchanged = planned.is_some().then(|| ReviewedBeyondChange {
        known_at: before.as_ref().and_then(|past| past.bases.first().cloned()),
    });
    let engine = review.engine();
    let changes = chosen.selected.take_changes();
    let telling = Telling::of(&settings.judging, &settings.selection, changes).with_ahead(ahead);
    let recorded = begun.recorded_settings(engine);
    let mut report = started.report(engine, judged, comparison, chosen, &part, recorded);
    let delivered = deliver(run, workspace, &snapshot, &mut report, &ending, telling);
    Ok(Reviewed {
        status: ending.status.worse(delivered),
        report: Some(report),
        part,
        takes_output: settings.judging.destinations.take_output(),
        published: planned,
        workspace: begun.workspace,
        target: begun.target,
    })
}

/// Adds unchanged pipelines of the publish; returns a note about them, if any.
fn add(selected: &mut Selected, planned: Option<&Published>) -> Option<String> {
    let mut also = planned
        .map(|planned| planned.pipelines.clone())
        .unwrap_or_default();
    also.retain(|path| !selected.files.contains(path));
    let what = count(also.len(), "pipeline");
    let said = (!also.is_empty())
        .then(|| format!("also reviewed {what} without changes, because they would be published too"));
    selected.files.append(&mut also);
    selected.files.sort();
    said
}

/// Ends with the same checks as the review before its first request, but warns about a commit that is not pushed yet,
/// as a dry run is useful before the push.
fn dry_run(review: &Asking<'_>, selected: &Selected, nothing: Option<&str>) -> CommandResult {
    let target = review.target;
    let how = match review.engine() {
        Engine::Local => "locally".to_owned(),
        Engine::Remote => {
            if nothing.is_none() {
                target.refuse_fork()?;
                target.require_branch()?;
                if let Err(why) = review.branch_on_remote() {
                    let said = format!("the review would stop here: {}", why.words());
                    review.run.ui.warn(&said);
                }
            }
            let batches = selected.files.len().div_ceil(review.settings.batch_size);
            format!("in {}", count(batches, "request"))
        }
    };
    let mut lines = vec![text::line(&format!(
        "would review {} {how}: branch {}, commit {}",
        count(selected.files.len(), "pipeline"),
        target.branch.as_deref().unwrap_or("(no branch)"),
        target.head
    ))];
    lines.extend(
        selected
            .files
            .iter()
            .map(|file| format!("  {}", text::line(file))),
    );
    lines.extend(nothing.map(|why| text::line(&format!("nothing to review: {why}"))));
    review.run.ui.out(&(lines.join("\n") + "\n"))?;
    Ok(ExitStatus::Success)
}
