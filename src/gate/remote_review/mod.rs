//! Requests a review: from the platform in batches, or by a local check if the change comes from a fork.

use crate::error::Failure;
use crate::gate::baseline::{Baseline, same_rules};
use crate::gate::changes_ahead::ChangesAhead;
use crate::gate::check_rules::CheckRules;
use crate::gate::evaluation::Judged;
use crate::gate::local_fallback::LocalFallback;
use crate::gate::local_review;
use crate::gate::project_checks::ProjectRun;
use crate::gate::selection::Chosen;
use crate::gate::stricter_target::Outdated;
use crate::gate::unanswered::Unanswered;
use crate::gate::waivers::Waiving;
use crate::gate::{self, BatchAnswer, Batching, Judgement, Places, Positions, ReviewAsked, SeenFacts, Tally};
use crate::job::cli::{Fork, OnUnavailable};
use crate::job::context::{Comparison, Target};
use crate::job::settings::{Connection, RequestFields, Review};
use crate::model::findings::{Engine, FileResults, State};
use crate::model::rules::RuleSet;
use crate::platform::api::{Platform, ReviewFields};
use crate::session::Run;
use crate::workspace::Workspace;
use sluicegate_base::text::count;
use sluicegate_git::{CommitId, Snapshot, SnapshotFile};
use std::collections::HashSet;
use std::iter;
use std::panic;
use std::sync::mpsc::{self, Sender};
use std::thread;

/// Note in the reports if the platform was not asked for a review.
const JUDGED_HERE: &str = "the change comes from a fork, which the platform cannot read, so it was checked \
                           locally with the rules file of its commit, not by the platform (--fork check)";

/// Note in the reports if the platform was not asked to review the base.
const RULES_DIFFER: &str = "the rules differ between head and base, so the base was checked locally \
                            with the rules of the head (--new-only)";

/// Note in the reports if `--on-unavailable pass` has no effect.
const AVAILABLE: &str =
    "--on-unavailable pass does not apply, because the platform responded to other requests";

/// Requests a review of these files of the base from the platform.
type AskBase<'f> = dyn Fn(&CommitId, &[String]) -> Result<Vec<BatchAnswer>, Failure> + 'f;

/// The merged responses, and the requests that failed.
type Merged = (Tally, Unanswered);

/// The data that responses are evaluated with: files, rules and waivers of the head, each read once.
struct Ground<'g> {
    snapshot: &'g Snapshot<'g>,
    project: &'g ProjectRun<'g>,
    rules_file: Option<SnapshotFile>,
    rules: Option<RuleSet>,
    fallback: LocalFallback,
    waiving: Waiving,
    outdated: Option<&'g Outdated>,
    files: &'g [String],
}

/// A review to request.
pub(crate) struct Asking<'a> {
    pub(crate) run: &'a Run,
    pub(crate) workspace: &'a Workspace<'a>,
    pub(crate) settings: &'a Review,
    pub(crate) connection: &'a Connection,
    pub(crate) target: &'a Target,
    /// The baseline that findings are compared with, if only new findings count.
    pub(crate) past: Option<&'a Baseline>,
    /// The changes that are compared meanwhile, if a report lists them.
    pub(crate) ahead: Option<&'a ChangesAhead>,
}

/// Requests reviews in batches; knows no repository, so that another thread can wait for the responses.
struct Batches<'a> {
    run: &'a Run,
    platform: &'a Platform,
    batching: Batching,
}

impl Batches<'_> {
    fn ask(
        &self,
        asked: &ReviewAsked<'_>,
        files: &[String],
        answers: Sender<BatchAnswer>,
    ) -> Result<(), Failure> {
        let bar = self.run.ui.progress("reviewing").files();
        let progress = |done: usize, total: usize| bar.set(done as u64, total as u64);
        let batches = gate::review_in_batches(self.platform, asked, files, self.batching, &progress, answers);
        self.run.requests(batches)?;
        bar.clear();
        Ok(())
    }

    fn ask_all(&self, asked: &ReviewAsked<'_>, files: &[String]) -> Result<Vec<BatchAnswer>, Failure> {
        let (sender, answers) = mpsc::channel();
        self.ask(asked, files, sender)?;
        Ok(answers.into_iter().collect())
    }
}

impl Asking<'_> {
    /// Returns the local engine for the change of a fork with `--fork check`, otherwise the platform.
    pub(crate) const fn engine(&self) -> Engine {
        match self.settings.fork {
            Fork::Check if self.target.fork => Engine::Local,
            _ => Engine::Remote,
        }
    }

    /// Returns the evaluated findings of the review. `nothing` is the reason why there is no pipeline to review, if
    /// any.
    pub(crate) fn judged(
        &self,
        chosen: &Chosen,
        project: &ProjectRun<'_>,
        comparison: &Comparison,
        nothing: Option<String>,
    ) -> Result<Judged, Failure> {
        match (nothing, self.engine()) {
            (Some(why), _) => {
                let by = (self.settings.judging.fail_on, self.past);
                Judged::nothing(comparison, project, by, format!("nothing to review: {why}"))
            }
            (None, Engine::Local) => self.check(chosen, project),
            (None, Engine::Remote) => self.ask(chosen, project),
        }
    }

    /// Checks the pipelines locally by the same rules; every report gets a note about it.
    fn check(&self, chosen: &Chosen, project: &ProjectRun<'_>) -> Result<Judged, Failure> {
        let fail_on = self.settings.judging.fail_on;
        let snapshot = project.project.snapshot;
        let rules = CheckRules::Project(self.workspace.rules(snapshot)?);
        let mut judged = local_review::judge(self.run, chosen, project, &rules, fail_on, self.past)?;
        judged.note([JUDGED_HERE.to_owned()]);
        Ok(judged)
    }

    fn ask(&self, chosen: &Chosen, project: &ProjectRun<'_>) -> Result<Judged, Failure> {
        self.target.refuse_fork()?;
        let files = &chosen.selected.files;
        let mut ground = self.ground(chosen, project)?;
        let (id, agent_version) = (self.connection.project_id()?, self.connection.agent_version()?);
        let branch = self.branch_on_remote()?;
        let platform = self.run.platform(self.connection)?;
        let head = self.target.head.short();
        self.run.ui.say(&format!(
            "reviewing {} of branch {branch} at {head}",
            count(files.len(), "pipeline")
        ));
        let asked = ReviewAsked {
            project: id,
            agent_version,
            branch,
            commit: self.target.head.as_str(),
            fields: &fields_of(&self.settings.request),
        };
        let batches = Batches {
            run: self.run,
            platform: &platform,
            batching: Batching {
                size: self.settings.batch_size,
                concurrency: self.settings.concurrency,
            },
        };
        // The project is checked and the responses are merged while the platform responds.
        let (sender, answers) = mpsc::channel();
        let (done, found, merged) = thread::scope(|scope| {
            let asking = scope.spawn(|| batches.ask(&asked, files, sender));
            let mut found = None;
            let answers = iter::from_fn(|| {
                if found.is_none() {
                    let seen = self
                        .ahead
                        .map_or_else(|| Some(SeenFacts::default()), ChangesAhead::known_facts);
                    found = seen.map(|seen| project.found(seen));
                }
                answers.recv().ok()
            });
            let merged = self.merge(answers, &ground);
            let found = found.unwrap_or_else(|| {
                let seen = self.ahead.map(ChangesAhead::facts);
                project.found(seen.unwrap_or_default())
            });
            (asking.join(), found, merged)
        });
        done.unwrap_or_else(|panicked| panic::resume_unwind(panicked))?;
        self.judge(merged, found?, &mut ground, &|base, files| {
            self.run.ui.say(&format!(
                "comparing {} with the base {}",
                count(files.len(), "pipeline"),
                base.short()
            ));
            let asked = ReviewAsked {
                commit: base.as_str(),
                ..asked
            };
            batches.ask_all(&asked, files)
        })
    }

    /// Merges the responses, each when it arrives.
    fn merge(&self, answers: impl Iterator<Item = BatchAnswer>, ground: &Ground<'_>) -> Merged {
        let mut unanswered = Unanswered::default();
        let mut positions = Positions::new(&self.workspace.repo, &self.target.head);
        let answers = answers.inspect(|answer| unanswered.take(answer));
        let tally = gate::merge(answers, ground.files, ground.rules.as_ref(), &mut positions);
        (tally, unanswered)
    }

    /// Returns the branch from which the platform reads the commit.
    pub(crate) fn branch_on_remote(&self) -> Result<&str, Failure> {
        if let Some(warning) = self.target.check_on_remote(&self.workspace.repo)? {
            self.run.ui.warn(&warning);
        }
        Ok(self.target.require_branch()?)
    }

    fn ground<'g>(&self, chosen: &'g Chosen, project: &'g ProjectRun<'g>) -> Result<Ground<'g>, Failure> {
        let snapshot = project.project.snapshot;
        let rules_file = self.workspace.rules_file(snapshot)?;
        let rules = self.workspace.rules_in(rules_file.as_ref())?;
        Ok(Ground {
            waiving: self.workspace.waiving(rules.as_ref())?,
            outdated: chosen.outdated.as_ref(),
            files: &chosen.selected.files,
            snapshot,
            project,
            rules_file,
            rules,
            fallback: LocalFallback::default(),
        })
    }

    fn judge(
        &self,
        (mut tally, mut unanswered): Merged,
        found: Vec<FileResults>,
        ground: &mut Ground<'_>,
        ask: &AskBase<'_>,
    ) -> Result<Judged, Failure> {
        if let Some(paths) = unanswered.files() {
            let (workspace, rules) = (self.workspace, ground.rules.as_ref());
            ground.fallback = LocalFallback::evaluate(workspace, ground.snapshot, rules, paths, &mut tally)?;
        }
        if let Some(outdated) = ground.outdated {
            let repo = &self.workspace.repo;
            let judged: HashSet<&str> = ground.files.iter().map(String::as_str).collect();
            let path_of = |path: &str| judged.contains(path).then(|| path.to_owned());
            outdated.add(repo, ground.snapshot, &path_of, &mut tally)?;
        }
        ground.project.add(found, &mut tally);
        ground.project.waive(&ground.waiving, &mut tally)?;
        if let Some(past) = self.past {
            self.compare(past, &mut tally, &mut unanswered, ground, ask)?;
            ground.project.mark_known(past, &mut tally)?;
        }
        ground.project.mark_consequences(&mut tally)?;
        let is_lenient = self.settings.on_unavailable == OnUnavailable::Pass;
        let has_responded = self.run.has_platform_responded();
        if is_lenient && has_responded && unanswered.files().is_some() {
            tally.notes.push(AVAILABLE.to_owned());
        }
        let may_pass = is_lenient && !has_responded && unanswered.is_all(&tally);
        let mut judged = Judged::from(Judgement::new(tally, self.settings.judging.fail_on));
        judged.take_unanswered(self.run, unanswered, may_pass)?;
        Ok(judged)
    }

    /// Marks the findings that the base has too. Requests a review of the base for the files with findings that are not
    /// waived; if the rules differ, checks the base locally with the rules of the head.
    fn compare(
        &self,
        past: &Baseline,
        tally: &mut Tally,
        unanswered: &mut Unanswered,
        ground: &Ground<'_>,
        ask: &AskBase<'_>,
    ) -> Result<(), Failure> {
        let repo = &self.workspace.repo;
        past.compare(repo, ground.snapshot, tally, |tally, base| {
            let found = tally.files.iter().filter(|file| may_be_new(file));
            let (local, reviewed): (Vec<_>, Vec<_>) = found
                .map(|file| file.path.as_str())
                .partition(|path| ground.fallback.has(path));
            let mut places = past.places(base, ground.snapshot, reviewed.into_iter())?;
            let files: Vec<String> = places.at_base().into_iter().map(str::to_owned).collect();
            let is_same = match &ground.rules_file {
                Some(file) => same_rules(repo, base, file)?,
                None => false,
            };
            let mut before = match &ground.rules {
                _ if files.is_empty() => Tally::default(),
                Some(rules) if !is_same => {
                    if !tally.notes.iter().any(|note| note == RULES_DIFFER) {
                        tally.notes.push(RULES_DIFFER.to_owned());
                    }
                    local_review::at_base(repo, rules, base, &places)?
                }
                rules => {
                    let answers = ask(base, &files)?;
                    let answers = answers.into_iter().inspect(|answer| unanswered.take(answer));
                    let mut positions = Positions::new(repo, base);
                    gate::merge(answers, &files, rules.as_ref(), &mut positions)
                }
            };
            let local = past.places(base, ground.snapshot, local.into_iter())?;
            let rules = ground.rules.as_ref();
            LocalFallback::add_base(self.workspace, ground.snapshot, rules, base, &local, &mut before)?;
            places.add(local);
            let before = self.with_clean(past, tally, base, ground, (places, before))?;
            local_review::with_tip(repo, ground.outdated, base, before)
        })
    }

    /// Adds the changed files without findings, to count the findings that they had at the base as fixed. These files
    /// are checked locally, as the count is only shown and does not affect the verdict.
    fn with_clean(
        &self,
        past: &Baseline,
        tally: &Tally,
        base: &CommitId,
        ground: &Ground<'_>,
        (mut places, mut before): (Places, Tally),
    ) -> Result<(Places, Tally), Failure> {
        let Some(rules) = &ground.rules else {
            return Ok((places, before));
        };
        let clean = tally.files.iter().filter(|file| !may_be_new(file));
        let clean = past.changed_places(base, ground.snapshot, clean.map(|file| file.path.as_str()))?;
        let mut had = local_review::at_base(&self.workspace.repo, rules, base, &clean)?;
        places.add_judged(clean, &had.files);
        before.files.append(&mut had.files);
        Ok((places, before))
    }
}

/// Returns the fields of a review request for these settings.
pub(crate) fn fields_of(request: &RequestFields) -> ReviewFields {
    match request {
        RequestFields::Pipelines => ReviewFields::Pipelines,
        RequestFields::FilePaths(data_warehouse) => ReviewFields::FilePaths {
            data_warehouse: data_warehouse.clone(),
        },
    }
}

/// Returns whether the file has findings that are not waived.
fn may_be_new(file: &FileResults) -> bool {
    let findings = file.results.iter().flat_map(|result| result.findings(&file.path));
    findings
        .into_iter()
        .any(|finding| finding.state != Some(State::Waived))
}
