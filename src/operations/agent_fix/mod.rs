//! `sluicegate fix --agent`: lets the platform's agent fix findings, and proves the result.
//!
//! The agent and its branch are not trusted. The run grants tools by name, reviews the pushed branch again with the
//! settings and the policy of the first review, and fails if the branch changes anything but the named pipelines. It
//! never merges, and never writes to the reviewed branch.

mod agent_task;
mod branch_review;
mod fix_comparison;
mod fix_report;
mod remote_branches;
mod task_findings;
mod task_message;
mod tool_grants;

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{AgentFixArgs, DiffArgs, FixArgs, OutputFormat, RangeArgs, SelectionArgs};
use crate::job::context::Target;
use crate::job::settings::PollSettings;
use crate::operations::diff::{ResultKind, TextStyle, compared_sides};
use crate::session::resource::RemoteProject;
use crate::session::response_output::format_json;
use crate::session::{CommandResult, Session};
use crate::workspace::checkout_files::is_reviewed_file;
use agent_task::{FinishedTask, TaskFollower, TaskOutcome};
use branch_review::BranchReview;
use fix_comparison::FixComparison;
use fix_report::FixReport;
use remote_branches::{RemoteBranches, describe_foreign_change, list_foreign_changes, rejected_fix_failure};
use serde_json::{Value, json};
use sluicegate_base::text::{List, format_count, quote_shell_word};
use sluicegate_git::CommitId;
use sluicegate_pipelines::findings::Report;
use sluicegate_platform::api::{AGENT_NAME, AgentConfig, NewTask};
use sluicegate_platform::follow::Pace;
use task_findings::TaskFindings;
use task_message::{TaskBranches, build_message};
use tool_grants::ToolGrants;

/// Default time to wait for the agent, in seconds.
const DEFAULT_TIMEOUT_SECONDS: u64 = 1800;

/// Maximum number of files that an error lists.
const MAX_LISTED_FILES: usize = 20;

/// Runs `sluicegate fix --agent`, after translating the arguments of `fix` into a selection.
pub(crate) fn run_fix(session: &Session, args: &FixArgs) -> CommandResult {
    let selection = SelectionArgs {
        paths: args.paths.clone(),
        all: args.all,
        range: RangeArgs {
            base: args.base.clone(),
            head: args.agent_fix.head.clone(),
            ..RangeArgs::default()
        },
        ..SelectionArgs::default()
    };
    run_agent_fix(session, &args.agent_fix, &selection, args.output.output)
}

/// Reviews the commit or reads its report, has the agent fix the findings on a new branch, and reviews that branch.
/// `selection` has the revisions to review, and the paths that restrict the findings.
fn run_agent_fix(
    session: &Session,
    args: &AgentFixArgs,
    selection: &SelectionArgs,
    output: OutputFormat,
) -> CommandResult {
    let review = BranchReview::open(session, selection, args.branch.clone())?;
    let sources = &review.workspace.sources;
    let environment = sources.resolve_environment(args.environment.clone())?;
    let poll_settings = sources.resolve_poll_settings(&args.pace, DEFAULT_TIMEOUT_SECONDS)?;
    let paths = resolve_selected_paths(session, &review, selection)?;
    let (workspace, head) = (&review.workspace, &review.target.head);
    workspace.print_uncommitted_files_note(session, head, "fix", &is_reviewed_file);
    let report = match &args.from {
        Some(file) => review.read_report(file)?,
        None => review.request_review(&review.target, &[])?,
    };
    let task_findings = TaskFindings::from_report(&report, &paths);
    if let Some(note) = task_findings.describe_local_fixes() {
        session.ui.say(&note);
    }
    if task_findings.is_empty() {
        return report_no_findings(session, output, args.plan, &review.target, &report);
    }
    let branches = RemoteBranches::for_new_task(
        &review.workspace.repo,
        &review.target,
        args.target_branch.as_deref(),
    )?;
    let mut fix = AgentFix {
        session,
        is_plan: args.plan,
        output,
        review,
        report,
        task_findings,
        branches,
    };
    let grants = ToolGrants::new(args.plan, &args.allow);
    match fix.run_task(&grants, environment, &poll_settings)? {
        TaskOutcome::Interrupted(status) => Ok(status),
        TaskOutcome::Unfinished(failure) => {
            // A moved branch is worse than a task that did not finish. A failed query of the remote is not: the failure
            // of the task tells the user how to go on.
            match fix.branches.find_fix_commit(&fix.review.workspace.repo) {
                Err(moved_branch) if moved_branch.status() == ExitStatus::GateFailed => Err(moved_branch),
                Ok(_) | Err(_) => Err(failure),
            }
        }
        TaskOutcome::Finished(task) if args.plan => {
            fix.print_task_messages(&task)?;
            fix.reject_pushed_branch()?;
            Ok(ExitStatus::Success)
        }
        TaskOutcome::Finished(task) => fix.verify_branch(&task),
    }
}

/// A fix with its findings and branches.
struct AgentFix<'a> {
    session: &'a Session,
    is_plan: bool,
    output: OutputFormat,
    review: BranchReview<'a>,
    /// The report of the review before the fix.
    report: Report,
    task_findings: TaskFindings,
    branches: RemoteBranches,
}

impl AgentFix<'_> {
    /// Creates the task on the platform and follows it until it ends.
    fn run_task(
        &self,
        grants: &ToolGrants,
        environment: String,
        poll_settings: &PollSettings,
    ) -> Result<TaskOutcome, Failure> {
        let project = self.review.create_project_client()?;
        let task = self.build_task(grants, &project, environment);
        let finding_count = format_count(self.task_findings.list_findings().len(), "finding");
        let fix_branch = &self.branches.fix_branch;
        self.session.ui.say(&if self.is_plan {
            format!("asking the agent to plan fixes for {finding_count}")
        } else {
            format!("asking the agent to fix {finding_count} on the new branch {fix_branch}")
        });
        let follower = TaskFollower {
            session: self.session,
            platform: &project.platform,
            grants,
            pace: Pace::new(poll_settings.first_interval, poll_settings.time_limit),
            message_interval: poll_settings.first_interval,
            prints_messages_as_result: self.is_plan && self.output == OutputFormat::Text,
        };
        self.session.block_on(follower.run_task(&task))?
    }

    /// Returns the request to create the task: the instruction, the branches and the granted tools.
    fn build_task(&self, grants: &ToolGrants, project: &RemoteProject, environment: String) -> NewTask {
        let branches = &self.branches;
        let task_branches = TaskBranches {
            source: &branches.reviewed_branch,
            target: &branches.fix_branch,
        };
        NewTask {
            message: build_message(&self.task_findings, &task_branches, grants, self.is_plan),
            agent_config: AgentConfig {
                name: Some(AGENT_NAME.to_owned()),
                mode: Some(if self.is_plan { "PLAN" } else { "ACT" }.to_owned()),
                project_id: Some(project.id.to_string()),
                source_branch_name: Some(branches.reviewed_branch.clone()),
                environment_name: Some(environment),
                target_branch_name: Some(branches.fix_branch.clone()),
                ..AgentConfig::default()
            },
            granted_permissions: grants.permissions(),
        }
    }

    /// Prints all messages of a task as JSON; they contain the plan. Does nothing for text, because each message was
    /// printed when it was read.
    fn print_task_messages(&self, task: &FinishedTask) -> Result<(), Failure> {
        match self.output {
            OutputFormat::Text => Ok(()),
            OutputFormat::Json => {
                let document = build_plan_document(Some(&task.id), &task.messages);
                self.session.ui.print_result(&format_json(&document))
            }
        }
    }

    /// Fails if the agent pushed the branch of the fix although it was asked only for a plan.
    fn reject_pushed_branch(&self) -> Result<(), Failure> {
        match self.branches.find_fix_commit(&self.review.workspace.repo)? {
            None => Ok(()),
            Some(commit) => Err(rejected_fix_failure(format!(
                "the agent was asked only for a plan, but pushed {} to branch `{}`",
                commit.short(),
                self.branches.fix_branch
            ))),
        }
    }

    /// Fetches the branch that the agent pushed, prints its changes and reviews it. Prints which findings are fixed,
    /// left and new, and returns the exit status for them. Fails without a review if the branch is missing or changes
    /// other files.
    fn verify_branch(&mut self, task: &FinishedTask) -> CommandResult {
        let is_pushed = self
            .branches
            .find_fix_commit(&self.review.workspace.repo)?
            .is_some();
        if !is_pushed {
            return Err(missing_branch_failure(&task.id, &self.branches));
        }
        let commit = self.branches.fetch_fix_branch(&mut self.review.workspace)?;
        if self.output == OutputFormat::Text {
            self.session.ui.print_result(&self.render_changes(&commit)?)?;
        }
        self.reject_foreign_changes(&commit)?;
        let fix_target = Target {
            head: commit.clone(),
            branch: Some(self.branches.fix_branch.clone()),
            ..self.review.target.clone()
        };
        let paths: Vec<&str> = self.task_findings.list_file_paths().into_iter().collect();
        let later_report = self.review.request_review(&fix_target, &paths)?;
        let comparison = FixComparison::new(&self.report, &later_report, &self.task_findings);
        let result = FixReport {
            task: &task.id,
            branches: &self.branches,
            commit: &commit,
            comparison: &comparison,
            omitted_count: self.task_findings.omitted_count,
        };
        self.session.ui.print_result(&match self.output {
            OutputFormat::Text => result.render_text(),
            OutputFormat::Json => format_json(&result.to_document()),
        })?;
        let status = choose_exit_status(&comparison);
        if status != ExitStatus::Success {
            self.session
                .annotate_printed_failure(status, &result.describe_problem());
        }
        Ok(status)
    }

    /// Returns the changes between the reviewed commit and `commit` as text, as `diff` prints them.
    fn render_changes(&self, commit: &CommitId) -> Result<String, Failure> {
        let range = format!("{}..{commit}", self.branches.reviewed_commit);
        let args = DiffArgs {
            // As on the command line, the first path of a diff may be a range.
            paths: vec![range.into()],
            ..DiffArgs::default()
        };
        let comparison = compared_sides::compare_revisions(self.session, &args, ResultKind::Diff)?;
        Ok(comparison.render_text(&TextStyle::for_terminal(self.session)))
    }

    /// Fails if the agent changed anything but the content of the pipelines that have a finding of the task.
    fn reject_foreign_changes(&self, commit: &CommitId) -> Result<(), Failure> {
        let snapshot = self.review.workspace.repo.snapshot(commit.clone());
        let base = std::slice::from_ref(&self.branches.reviewed_commit);
        let changes = snapshot.find_changes(base, &|_| true)?;
        let files: Vec<String> = list_foreign_changes(&changes, &self.task_findings.list_file_paths())
            .into_iter()
            .map(describe_foreign_change)
            .collect();
        if files.is_empty() {
            return Ok(());
        }
        let message = format!(
            "the agent changed files that are not part of the task, so the branch `{}` was not reviewed: {}",
            self.branches.fix_branch,
            List::with_limit(files, MAX_LISTED_FILES)
        );
        Err(rejected_fix_failure(message)
            .with_hint("do not merge the branch; run the command again, or fix the findings manually"))
    }
}

/// Returns the exit status for a fix after its review: undecided if the review has doubts, but no failure.
fn choose_exit_status(comparison: &FixComparison) -> ExitStatus {
    if comparison.is_failure() {
        ExitStatus::GateFailed
    } else if comparison.is_success() {
        ExitStatus::Success
    } else {
        ExitStatus::Undecided
    }
}

/// Returns the paths that the user passed to restrict the findings, relative to the repository root.
fn resolve_selected_paths(
    session: &Session,
    review: &BranchReview<'_>,
    selection: &SelectionArgs,
) -> Result<Vec<String>, Failure> {
    let workspace = &review.workspace;
    let snapshot = workspace.repo.snapshot(review.target.head.clone());
    workspace.resolve_typed_paths(session, &selection.paths, &snapshot, &review.target.bases)
}

/// Returns the document of a plan in the schema `sluicegate.agent-plan/v1`. Without a finding to fix, there is no task.
fn build_plan_document(task_id: Option<&str>, messages: &[Value]) -> Value {
    json!({ "schema": "sluicegate.agent-plan/v1", "taskId": task_id, "results": messages })
}

/// Reports that no finding can be fixed. If the review is incomplete, fails as undecided instead, because findings may
/// be missing.
fn report_no_findings(
    session: &Session,
    output: OutputFormat,
    is_plan: bool,
    target: &Target,
    report: &Report,
) -> CommandResult {
    let is_incomplete = report.is_open || !report.unreviewed_files.is_empty();
    if is_incomplete {
        let message = "the review is undecided, and it has no findings to fix";
        return Err(Failure::from_message(ExitStatus::Undecided, message)
            .with_hint("run `sluicegate review` to see why"));
    }
    session.ui.print_result(&match output {
        OutputFormat::Text => "nothing to fix: no finding that the agent can fix fails the gate\n".to_owned(),
        OutputFormat::Json if is_plan => format_json(&build_plan_document(None, &[])),
        OutputFormat::Json => format_json(&fix_report::build_document_without_task(target, report.verdict)),
    })?;
    Ok(ExitStatus::Success)
}

/// Returns the failure of a task that finished although the agent pushed no branch.
fn missing_branch_failure(id: &str, branches: &RemoteBranches) -> Failure {
    let id_word = quote_shell_word(id);
    let message = format!(
        "task {id} finished, but the remote has no branch `{}`",
        branches.fix_branch
    );
    Failure::from_message(ExitStatus::RemoteFailed, message).with_hint(format!(
        "run `sluicegate tasks messages {id_word}` to see what the agent did"
    ))
}
