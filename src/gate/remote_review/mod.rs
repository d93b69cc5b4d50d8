//! The platform as the engine: requests the review in batches, and evaluates locally what got no response.

pub(crate) mod batch;
pub(crate) mod evidence;
pub(crate) mod failed_batch;
pub(crate) mod local_fallback;
pub(crate) mod merge;
pub(crate) mod positions;
pub(crate) mod requested_paths;
pub(crate) mod unanswered;

use crate::error::Failure;
use crate::gate::baseline::{Baseline, same_rules};
use crate::gate::changes::changes_ahead::ChangesAhead;
use crate::gate::evaluation::Evaluation;
use crate::gate::local_review;
use crate::gate::remote_review::local_fallback::LocalFallback;
use crate::gate::remote_review::unanswered::Unanswered;
use crate::gate::run::{GateRun, ReviewEngine};
use crate::gate::{self, BatchAnswer, Batching, Places, Positions, ReviewAsked, SeenFacts, Tally};
use crate::job::cli::OnUnavailable;
use crate::job::context::Target;
use crate::job::settings::{Connection, RequestFields, ReviewSettings};
use crate::session::Run;
use sluicegate_base::text::count;
use sluicegate_git::{CommitId, SnapshotFile};
use sluicegate_pipelines::findings::{Engine, FileResults, FindingState};
use sluicegate_pipelines::rules::RuleSet;
use sluicegate_platform::api::{Platform, ReviewFields};
use std::iter;
use std::mem;
use std::panic;
use std::sync::mpsc::{self, Sender};
use std::thread;

/// Note in the reports if the platform was not asked to review the base.
const RULES_DIFFER: &str = "the rules differ between head and base, so the base was checked locally \
                            with the rules of the head (--new-only)";

/// Note in the reports if `--on-unavailable pass` has no effect.
const AVAILABLE: &str =
    "--on-unavailable pass does not apply, because the platform responded to other requests";

/// A review that the platform evaluates, in batches of files.
pub(crate) struct RemoteReview<'a> {
    settings: &'a ReviewSettings,
    connection: &'a Connection,
    target: &'a Target,
    fields: ReviewFields,
    rules_file: Option<SnapshotFile>,
    rules: Option<RuleSet>,
    /// The client, once the head was reviewed.
    platform: Option<Platform>,
    fallback: LocalFallback,
    unanswered: Unanswered,
}

/// Requests reviews in batches; knows no repository, so that another thread can wait for the responses.
struct Batches<'a> {
    session: &'a Run,
    platform: &'a Platform,
    batching: Batching,
}

impl Batches<'_> {
    fn request(
        &self,
        request: &ReviewAsked<'_>,
        files: &[String],
        answers: Sender<BatchAnswer>,
    ) -> Result<(), Failure> {
        let bar = self.session.ui.progress("reviewing").count_files();
        let progress = |done: usize, total: usize| bar.set(done as u64, total as u64);
        let batches =
            gate::review_in_batches(self.platform, request, files, self.batching, &progress, answers);
        self.session.requests(batches)?;
        bar.clear();
        Ok(())
    }

    fn request_all(&self, request: &ReviewAsked<'_>, files: &[String]) -> Result<Vec<BatchAnswer>, Failure> {
        let (sender, answers) = mpsc::channel();
        self.request(request, files, sender)?;
        Ok(answers.into_iter().collect())
    }
}

impl<'a> RemoteReview<'a> {
    pub(crate) fn new(settings: &'a ReviewSettings, connection: &'a Connection, target: &'a Target) -> Self {
        Self {
            fields: fields_of(&settings.request_fields),
            settings,
            connection,
            target,
            rules_file: None,
            rules: None,
            platform: None,
            fallback: LocalFallback::default(),
            unanswered: Unanswered::default(),
        }
    }

    /// Returns the request for a review of this commit.
    fn request<'r>(&'r self, commit: &'r CommitId) -> Result<ReviewAsked<'r>, Failure> {
        Ok(ReviewAsked {
            project: self.connection.project_id()?,
            agent_version: self.connection.agent_version()?,
            branch: self.target.require_branch()?,
            commit: commit.as_str(),
            fields: &self.fields,
        })
    }

    fn batches<'r>(&self, run: &'r GateRun<'_>, platform: &'r Platform) -> Batches<'r> {
        Batches {
            session: run.session,
            platform,
            batching: Batching {
                size: self.settings.batch_size,
                concurrency: self.settings.concurrency,
            },
        }
    }

    /// Warns if it is not certain that the platform can read the commit, and returns an error if it cannot.
    fn check_on_remote(&self, run: &GateRun<'_>) -> Result<(), Failure> {
        if let Some(warning) = self.target.check_on_remote(&run.subject.workspace.repo)? {
            run.session.ui.warn(&warning);
        }
        self.target.require_branch()?;
        Ok(())
    }

    /// Requests the review. The project is checked and the responses are merged while the platform responds.
    fn review_head(
        &self,
        run: &GateRun<'_>,
        platform: &Platform,
    ) -> Result<(Tally, Unanswered, Vec<FileResults>), Failure> {
        let files = &run.selection.selected.files;
        let request = self.request(&self.target.head)?;
        let batches = self.batches(run, platform);
        let ahead = run.changes_ahead.as_ref();
        let mut unanswered = Unanswered::default();
        let (sender, answers) = mpsc::channel();
        let (done, found, tally) = thread::scope(|scope| {
            let requests = scope.spawn(|| batches.request(&request, files, sender));
            let mut found = None;
            let answers = iter::from_fn(|| {
                if found.is_none() {
                    let seen = ahead.map_or_else(|| Some(SeenFacts::default()), ChangesAhead::known_facts);
                    found = seen.map(|seen| run.find_project_findings(seen));
                }
                answers.recv().ok()
            });
            let mut positions = Positions::new(&run.subject.workspace.repo, &self.target.head);
            let answers = answers.inspect(|answer| unanswered.take(answer));
            let tally = gate::merge(answers, files, self.rules.as_ref(), &mut positions);
            let found = found.unwrap_or_else(|| {
                run.find_project_findings(ahead.map(ChangesAhead::facts).unwrap_or_default())
            });
            (requests.join(), found, tally)
        });
        done.unwrap_or_else(|panicked| panic::resume_unwind(panicked))?;
        Ok((tally, unanswered, found?))
    }

    /// Requests a review of these files of the base.
    fn review_base(
        &mut self,
        run: &GateRun<'_>,
        base: &CommitId,
        files: &[String],
    ) -> Result<Tally, Failure> {
        let repo = &run.subject.workspace.repo;
        run.session.ui.say(&format!(
            "comparing {} with the base {}",
            count(files.len(), "pipeline"),
            base.short()
        ));
        let platform = match self.platform.take() {
            Some(platform) => platform,
            None => run.session.platform(self.connection)?,
        };
        let answers = self
            .batches(run, &platform)
            .request_all(&self.request(base)?, files)?;
        self.platform = Some(platform);
        let answers = answers.into_iter().inspect(|answer| self.unanswered.take(answer));
        let mut positions = Positions::new(repo, base);
        Ok(gate::merge(answers, files, self.rules.as_ref(), &mut positions))
    }

    /// Adds the changed files without findings, to count the findings that they had at the base as fixed. These files
    /// are checked locally, as the count is only shown and does not affect the verdict.
    fn add_clean_files(
        &self,
        run: &GateRun<'_>,
        baseline: &Baseline,
        base: &CommitId,
        head: &Tally,
        places: &mut Places,
        before: &mut Tally,
    ) -> Result<(), Failure> {
        let Some(rules) = &self.rules else {
            return Ok(());
        };
        let clean = head.files.iter().filter(|file| !may_be_new(file));
        let clean =
            baseline.changed_places(base, &run.subject.snapshot, clean.map(|file| file.path.as_str()))?;
        let mut former = local_review::at_base(&run.subject.workspace.repo, rules, base, &clean)?;
        places.add_judged(clean, &former.files);
        before.files.append(&mut former.files);
        Ok(())
    }

    /// Prints the requests that a dry run would make. Ends with the same checks as the review before its first request,
    /// but warns about a commit that is not pushed yet, as a dry run is useful before the push.
    pub(crate) fn describe_requests(&self, run: &GateRun<'_>) -> Result<String, Failure> {
        if run.empty_reason.is_none() {
            self.target.reject_fork()?;
            self.target.require_branch()?;
            if let Err(failure) = self.check_on_remote(run) {
                let message = format!("the review would stop here: {}", failure.describe());
                run.session.ui.warn(&message);
            }
        }
        let batches = run
            .selection
            .selected
            .files
            .len()
            .div_ceil(self.settings.batch_size);
        Ok(format!("in {}", count(batches, "request")))
    }
}

impl ReviewEngine for RemoteReview<'_> {
    fn name(&self) -> Engine {
        Engine::Remote
    }

    fn connection(&self) -> Option<&Connection> {
        Some(self.connection)
    }

    fn prepare(&mut self, run: &GateRun<'_>) -> Result<(), Failure> {
        self.target.reject_fork()?;
        self.rules_file = run.subject.workspace.rules_file(&run.subject.snapshot)?;
        self.rules = run.subject.workspace.rules_in(self.rules_file.as_ref())?;
        Ok(())
    }

    fn rules(&self) -> Option<&RuleSet> {
        self.rules.as_ref()
    }

    fn evaluate_head(&mut self, run: &GateRun<'_>) -> Result<(Tally, Vec<FileResults>), Failure> {
        self.connection.project_id()?;
        self.connection.agent_version()?;
        self.check_on_remote(run)?;
        let platform = run.session.platform(self.connection)?;
        run.session.ui.say(&format!(
            "reviewing {} of branch {} at {}",
            count(run.selection.selected.files.len(), "pipeline"),
            self.target.require_branch()?,
            self.target.head.short()
        ));
        let (mut tally, unanswered, found) = self.review_head(run, &platform)?;
        self.platform = Some(platform);
        self.unanswered = unanswered;
        if let Some(paths) = self.unanswered.files() {
            let rules = self.rules.as_ref();
            self.fallback = LocalFallback::evaluate(
                run.subject.workspace,
                &run.subject.snapshot,
                rules,
                paths,
                &mut tally,
            )?;
        }
        Ok((tally, found))
    }

    /// Requests a review of the base for the files with findings that are not waived; if the rules differ, checks the
    /// base locally with the rules of the head.
    fn evaluate_base(
        &mut self,
        run: &GateRun<'_>,
        baseline: &Baseline,
        base: &CommitId,
        head: &mut Tally,
    ) -> Result<(Places, Tally), Failure> {
        let repo = &run.subject.workspace.repo;
        let found = head.files.iter().filter(|file| may_be_new(file));
        let (local, reviewed): (Vec<_>, Vec<_>) = found
            .map(|file| file.path.as_str())
            .partition(|path| self.fallback.has(path));
        let mut places = baseline.places(base, &run.subject.snapshot, reviewed.into_iter())?;
        let local = baseline.places(base, &run.subject.snapshot, local.into_iter())?;
        let files: Vec<String> = places.at_base().into_iter().map(str::to_owned).collect();
        let is_same = match &self.rules_file {
            Some(file) => same_rules(repo, base, file)?,
            None => false,
        };
        let mut before = match &self.rules {
            _ if files.is_empty() => Tally::default(),
            Some(rules) if !is_same => {
                if !head.notes.iter().any(|note| note == RULES_DIFFER) {
                    head.notes.push(RULES_DIFFER.to_owned());
                }
                local_review::at_base(repo, rules, base, &places)?
            }
            _ => self.review_base(run, base, &files)?,
        };
        let rules = self.rules.as_ref();
        LocalFallback::add_base(
            run.subject.workspace,
            &run.subject.snapshot,
            rules,
            base,
            &local,
            &mut before,
        )?;
        places.add(local);
        self.add_clean_files(run, baseline, base, head, &mut places, &mut before)?;
        Ok((places, before))
    }

    fn add_notes(&self, _: &GateRun<'_>, _: &mut Tally) {}

    fn conclude(&mut self, run: &GateRun<'_>, mut head: Tally) -> Result<Evaluation, Failure> {
        let unanswered = mem::take(&mut self.unanswered);
        let is_lenient = self.settings.on_unavailable == OnUnavailable::Pass;
        let has_responded = run.session.has_platform_responded();
        if is_lenient && has_responded && unanswered.files().is_some() {
            head.notes.push(AVAILABLE.to_owned());
        }
        let may_pass = is_lenient && !has_responded && unanswered.is_all(&head);
        let mut evaluation = Evaluation::new(head, run.subject.settings.verdict.fail_on);
        evaluation.add_unanswered(run.session, unanswered, may_pass)?;
        Ok(evaluation)
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
        .any(|finding| finding.state != Some(FindingState::Waived))
}
