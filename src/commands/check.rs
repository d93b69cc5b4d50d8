//! Runs `sluicegate check`: finds the base, selects the pipelines, evaluates the rules locally, delivers the reports.

use crate::delivery::{Telling, deliver};
use crate::error::Failure;
use crate::gate::Selected;
use crate::gate::baseline::Baseline;
use crate::gate::check_paths::Paths;
use crate::gate::check_rules::CheckRules;
use crate::gate::empty_selection::nothing_selected;
use crate::gate::evaluation::{Judged, RecordedSettings, Started, nothing, part};
use crate::gate::local_review;
use crate::gate::project_checks::{ProjectChecking, ProjectRun};
use crate::gate::selection::{Chosen, Restriction};
use crate::gate::stricter_target::Outdated;
use crate::job::cli::CheckArgs;
use crate::job::context::{self, Comparison, DeepenSubject};
use crate::job::settings::{CheckSettings, Revisions};
use crate::model::findings::Engine;
use crate::session::{CommandResult, Run, is_ci};
use crate::workspace::standard_input::StandardInput;
use crate::workspace::{Workspace, as_wish};
use sluicegate_git::{CommitId, GitError, Snapshot};
use std::mem;
use std::path::PathBuf;

pub(crate) fn run(run: &Run, args: &CheckArgs) -> CommandResult {
    let started = Started::now();
    let mut workspace = open_workspace(run, args)?;
    let settings = workspace.resolve(run, |sources| sources.check(args), |check| &check.selection)?;
    run.refuse_linked_reports(&workspace.repo, &settings.judging.destinations)?;
    let checking = Checking {
        run,
        workspace: &workspace,
        settings: &settings,
        args,
    };
    let input = StandardInput::read(run, &workspace, args)?;
    let mut snapshot = checking.snapshot(input.is_some())?;
    let mut paths = Paths::default();
    match &input {
        Some(input) => paths.named.push(input.put(&mut snapshot)),
        None => paths = checking.paths(&snapshot, &args.selection.paths)?,
    }
    let compared = checking.comparison(&paths)?;
    paths.must_exist(&workspace, &snapshot, &compared)?;
    let (comparison, mut chosen) = checking.chosen(&snapshot, compared.clone(), &paths)?;
    chosen.selected.keep_submodules();
    let rules = checking.rules(&snapshot, &comparison, &mut chosen)?;
    let left = paths.left(&chosen.selected);
    let part = part(run, &settings.judging, paths.all(), &mut chosen.selected)?;
    let selected = &chosen.selected;
    let unselected = || nothing_selected(&snapshot, &settings.selection);
    let why_nothing = nothing(&comparison, selected, &part, unselected)?;
    let before = checking.baseline(&comparison, &compared, selected)?;
    let fail_on = settings.judging.fail_on;
    let project = checking.project(&snapshot);
    let project = ProjectRun::of(project, selected, &comparison.bases, &part);
    let mut judged = match why_nothing {
        Some(why) => {
            let why = format!("nothing to check: {why}");
            Judged::nothing(&comparison, &project, (fail_on, before.as_ref()), why)?
        }
        None => local_review::judge(run, &chosen, &project, &rules, fail_on, before.as_ref())?,
    };
    judged.note(left);
    judged.note(workspace.tip_age.clone());
    judged.note(checking.note_on_disk(&snapshot));
    judged.note(workspace.note_without_git());
    judged.add_policy_limit(&workspace);
    judged.take_in(run, &chosen, &part);
    let judging = (&settings.judging, &part);
    // If only the shared-pipelines file was edited, all pipelines are selected, but the file still has a base.
    judged.take_consumers(&workspace, &snapshot, &compared, judging, &|| Ok(None))?;
    let ending = judged.ending();
    let changes = chosen.selected.take_changes();
    let telling = Telling::of(&settings.judging, &settings.selection, changes);
    let comparison = Comparison {
        head: snapshot.commit().cloned(),
        ..comparison
    };
    let recorded = RecordedSettings::new(&workspace, &settings.judging, &settings.selection, None);
    let mut report = started.report(Engine::Local, judged, comparison, chosen, &part, recorded);
    let delivered = deliver(run, &workspace, &snapshot, &mut report, &ending, telling);
    // The process ends next, and the operating system frees the memory of all these files at once.
    mem::forget((report, snapshot));
    Ok(ending.status.worse(delivered))
}

/// Opens the repository, replaces what an earlier run left at the destinations, and fetches missing commits if
/// requested.
fn open_workspace<'a>(run: &'a Run, args: &CheckArgs) -> Result<Workspace<'a>, Failure> {
    let to = &args.gate.destinations;
    let paths = match &args.stdin_path {
        Some(path) => std::slice::from_ref(path),
        None => args.selection.paths.as_slice(),
    };
    let workspace = run.open_files_of(paths).and_then(|repo| run.workspace_in(repo));
    let mut workspace = workspace.inspect_err(|_| run.replace_default_reports(to))?;
    run.replace_reports_of_policy(&workspace, to, None)?;
    let wish = workspace.sources.checked(args)?;
    if workspace.repo.is_plain() && (args.staged || wish.base.is_some() || wish.head.is_some() || wish.deepen)
    {
        let from = run.env.current_dir().to_owned();
        return Err(GitError::NotARepository { from }.into());
    }
    let subject = match wish.head {
        Some(_) => DeepenSubject::Commit,
        None => DeepenSubject::Checkout,
    };
    workspace.deepen(run, &wish, subject)?;
    if wish.deepen {
        run.replace_reports_of_policy(&workspace, to, None)?;
    }
    workspace.defer_policy_warning(run);
    Ok(workspace)
}

struct Checking<'a> {
    run: &'a Run,
    workspace: &'a Workspace<'a>,
    settings: &'a CheckSettings,
    args: &'a CheckArgs,
}

impl Checking<'_> {
    /// Returns the files to check: those of the checkout, staged, or of a commit. In CI, `--staged` and standard input
    /// state that the job means other files than those of the commit.
    fn snapshot(&self, has_input: bool) -> Result<Snapshot<'_>, Failure> {
        let repo = &self.workspace.repo;
        let index = self.run.index();
        if self.settings.staged {
            return Ok(repo.staged(index)?);
        }
        if has_input {
            return Ok(repo.on_disk(index)?);
        }
        if self.settings.revisions.head.is_none() {
            return self.workspace.checkout_files(self.run);
        }
        let everything = Revisions {
            all: true,
            ..self.settings.revisions.clone()
        };
        Ok(repo.snapshot(self.workspace.target(self.run, everything)?.head))
    }

    fn paths(&self, snapshot: &Snapshot<'_>, typed: &[PathBuf]) -> Result<Paths, Failure> {
        let mut paths = Paths::default();
        for typed in typed {
            let path = self.workspace.inside(self.run, typed)?;
            if self.settings.takes_named && snapshot.find(&path)?.is_some() {
                paths.named.push(path);
            } else {
                paths.within.push((path, typed.clone()));
            }
        }
        Ok(paths)
    }

    /// Returns the comparison of the files. Named files need no base, so a base that cannot be resolved is ignored for
    /// them.
    fn comparison(&self, paths: &Paths) -> Result<Comparison, Failure> {
        let wish = self.settings.revisions.clone();
        let settle = |wish| match self.settings.revisions.head {
            Some(_) => self.workspace.target(self.run, wish).map(Comparison::from),
            None => self.workspace.checkout(self.run, wish),
        };
        let everything = Revisions {
            all: true,
            ..wish.clone()
        };
        if let Some(head) = self.staged_on() {
            return Ok(Comparison {
                bases: vec![head],
                base_source: "the checked-out commit, to which the staged files would be added".to_owned(),
                ..settle(everything)?
            });
        }
        if !paths.only_named() {
            return settle(wish);
        }
        let settled = settle(wish).or_else(|_| settle(everything))?;
        Ok(Comparison {
            nothing_to_do: None,
            ..settled
        })
    }

    /// Returns the commit that the staged files are compared with: a hook reviews the changes that the commit would
    /// add. In a job, or with an explicit base, the base is that of a review.
    fn staged_on(&self) -> Option<CommitId> {
        let settings = self.settings;
        let is_hook = settings.staged && !is_ci(&self.run.env);
        let is_open = settings.revisions.base.is_none() && !settings.revisions.all;
        let head = || self.workspace.repo.head().ok().map(|head| head.commit);
        (is_hook && is_open).then(head).flatten()
    }

    /// Returns the rules to evaluate. With `--rules`, the target's rules file is not evaluated either.
    fn rules(
        &self,
        snapshot: &Snapshot<'_>,
        comparison: &Comparison,
        chosen: &mut Chosen,
    ) -> Result<CheckRules, Failure> {
        let named = self.settings.rules.as_deref();
        if named.is_some() {
            chosen.outdated.iter_mut().for_each(Outdated::skip_rules);
        }
        self.workspace
            .check_rules(self.run, snapshot, &comparison.bases, named)
    }

    /// Returns the baseline if only new findings count. `compared` is the comparison before all pipelines were selected:
    /// then every finding of the head is known, because the current change did not introduce it.
    fn baseline(
        &self,
        comparison: &Comparison,
        compared: &Comparison,
        selected: &Selected,
    ) -> Result<Option<Baseline>, Failure> {
        if !self.settings.judging.new_only || comparison.nothing_to_do.is_some() {
            return Ok(None);
        }
        let baseline = Baseline::of(self.workspace, &self.settings.revisions, compared, selected)?;
        Ok(Some(baseline.with_selection(&self.settings.selection)))
    }

    fn note_on_disk(&self, snapshot: &Snapshot<'_>) -> Option<String> {
        let is_checkout = self.settings.revisions.head.is_none();
        let note = || {
            self.workspace
                .note_on_disk(self.run, snapshot, &self.settings.selection)
        };
        is_checkout.then(note).flatten()
    }

    fn project<'s>(&'s self, snapshot: &'s Snapshot<'s>) -> ProjectChecking<'s> {
        ProjectChecking {
            workspace: self.workspace,
            settings: &self.settings.judging.project,
            snapshot,
        }
    }

    /// Returns the selected pipelines. If no pipeline differs from head, head is checked, with the same base as in a
    /// review: if head is on the default branch already, every pipeline is selected.
    fn chosen(
        &self,
        snapshot: &Snapshot<'_>,
        comparison: Comparison,
        paths: &Paths,
    ) -> Result<(Comparison, Chosen), Failure> {
        let chosen = self.select(snapshot, &comparison, paths)?;
        if !chosen.selected.is_empty() || !self.may_be_head(&comparison, paths) {
            chosen.say_why_all(self.run, &comparison, &self.settings.revisions);
            return Ok((comparison, chosen));
        }
        let wish = as_wish(self.settings.revisions.clone());
        let comparison = match context::settle(&self.workspace.repo, &self.workspace.ci, &wish) {
            Ok(head) if head.bases.is_empty() => Comparison {
                bases: Vec::new(),
                base_source: head.base_source,
                ..comparison
            },
            _ => return Ok((comparison, chosen)),
        };
        let why = &comparison.base_source;
        self.run.ui.say(&format!(
            "no pipeline differs from head, and {why}: all pipelines are selected"
        ));
        let gate_changes = chosen.selected.gate_changes;
        let mut chosen = self.select(snapshot, &comparison, paths)?;
        chosen.selected.gate_changes = gate_changes;
        Ok((comparison, chosen))
    }

    /// Returns whether the working tree was compared with its head without an explicit base. Staged files are never
    /// compared this way: an index equal to head adds no change.
    fn may_be_head(&self, comparison: &Comparison, paths: &Paths) -> bool {
        let settings = self.settings;
        let is_head =
            |base: &CommitId| matches!(self.workspace.repo.head(), Ok(head) if head.commit == *base);
        let is_tree = !settings.staged && settings.revisions.head.is_none() && paths.named.is_empty();
        is_tree && settings.revisions.base.is_none() && comparison.bases.iter().any(is_head)
    }

    fn select(
        &self,
        snapshot: &Snapshot<'_>,
        comparison: &Comparison,
        paths: &Paths,
    ) -> Result<Chosen, Failure> {
        let within: Vec<String> = paths.within.iter().map(|(path, _)| path.clone()).collect();
        let restriction = Restriction {
            selection: &self.settings.selection,
            paths: &within,
            named: &paths.named,
            revisions: &self.settings.revisions,
            resolve: &|sources| Ok(sources.check(self.args)?.selection),
        };
        self.workspace
            .select(self.run, snapshot, comparison, &restriction)
    }
}
