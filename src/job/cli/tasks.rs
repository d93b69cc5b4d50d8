//! `sluicegate tasks`.

use super::values::parse_name;
use super::{OutputArgs, PaceArgs};
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use std::path::PathBuf;

const ID: &str = "e2d4b6a8-1357-4f9b-8c0d-5a7e9f1b3d2c";
const LIST: &str = "sluicegate tasks list --status STOPPED";

const CREATE: &str = "Examples:
  sluicegate tasks create --message 'Remove orders without lines' --mode ACT \\
      --environment test --source-branch main --generate-branch
  sluicegate tasks create --message-file task.md --mode ACT --environment test \\
      --source-branch main --target-branch without-empty-orders --wait \\
      --grant create_file --approve run_pipeline --approve git_commit

Exit codes with --wait: 0 the task is finished; 8 the task failed, was stopped, did not
finish in time, or waits for a decision. A pending decision is printed with the command
that answers it.";

const DECIDE: &str = "Examples:
  sluicegate tasks decide 9f1b3d2c-5a7e-4c0d-8f9b-1357e2d4b6a8 \\
      --approve tool-1 --wait
  sluicegate tasks decide 9f1b3d2c-5a7e-4c0d-8f9b-1357e2d4b6a8 --deny tool-1
  sluicegate tasks decide 4b6a8e2d-3579-4f1b-9c0d-2c5a7e9f1b3d \\
      --answer 'question-1:0=yes'";

/// Creates, shows, answers and stops the agent's tasks.
#[derive(Debug, Clone, Args)]
#[command(after_help = format!("Examples:\n  {LIST}\n  sluicegate tasks messages {ID} --follow"))]
pub struct TasksArgs {
    #[command(subcommand)]
    pub verb: TasksVerb,
}

/// Subcommands of `sluicegate tasks`.
#[derive(Debug, Clone, Subcommand)]
pub enum TasksVerb {
    /// Create a task for the agent
    #[command(after_help = CREATE)]
    Create(CreateTaskArgs),
    /// List tasks, and show whether each STOPPED task is finished or waiting
    #[command(after_help = format!("Example:\n  {LIST}"))]
    List(ListTasksArgs),
    /// Show a task in detail, including pending decisions
    #[command(after_help = format!("Example:\n  sluicegate tasks show {ID}"))]
    Show(TaskArgs),
    /// Show the messages and tool calls of a task
    #[command(after_help = format!("Example:\n  sluicegate tasks messages {ID} --follow"))]
    Messages {
        /// ID of the task
        id: String,
        /// Keep printing messages until the task is finished (exit code 0) or failed (exit code 8)
        #[arg(long, group = "waiting")]
        follow: bool,
        /// Maximum number of events per request, 1 to 1000
        #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
        #[command(flatten)]
        pace: PaceArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Send a follow-up message to a task
    #[command(after_help = format!("Example:\n  sluicegate tasks send {ID} \\\n      --message 'Now push the branch' --approve git_push --wait"))]
    Send {
        /// ID of the task
        id: String,
        #[command(flatten)]
        message: MessageArgs,
        /// Mode for the rest of the task: ACT (make changes) or PLAN (only plan)
        #[arg(long, value_name = "MODE", value_parser = parse_name)]
        mode: Option<String>,
        /// Branch to write to for the rest of the task
        #[arg(long, value_name = "NAME", value_parser = parse_name)]
        target_branch: Option<String>,
        /// Approve this additional tool in advance (repeatable)
        #[arg(long, value_name = "TOOL", value_parser = parse_name)]
        grant: Vec<String>,
        #[command(flatten)]
        wait: WaitArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Answer the pending decisions of a task
    #[command(after_help = DECIDE)]
    Decide(DecideArgs),
    /// Stop a task; the agent wraps up first
    #[command(after_help = format!("Example:\n  sluicegate tasks stop {ID}"))]
    Stop(TaskArgs),
    /// Delete a task with all its data; fails while the task is running
    #[command(after_help = format!("Example:\n  sluicegate tasks delete {ID}"))]
    Delete(TaskArgs),
    /// Replace the list of tools that the agent may use without approval
    #[command(after_help = format!("Example:\n  sluicegate tasks permissions {ID} \\\n      --grant create_file --grant git_commit"))]
    Permissions {
        /// ID of the task
        id: String,
        #[command(flatten)]
        tools: GrantArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Arguments of the subcommands that only need the ID.
#[derive(Debug, Clone, Args)]
pub struct TaskArgs {
    /// ID of the task
    pub id: String,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The tools that the agent may use without approval.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub struct GrantArgs {
    /// Approve this tool in advance, and remove tools that are not listed (repeatable)
    #[arg(long, value_name = "TOOL", value_parser = parse_name)]
    pub grant: Vec<String>,
    /// Remove all approvals
    #[arg(long)]
    pub clear: bool,
}

/// The message to the agent.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub struct MessageArgs {
    /// Instruction for the agent
    #[arg(long, value_name = "TEXT")]
    pub message: Option<String>,
    /// Read the instruction from this file
    #[arg(long, value_name = "PATH")]
    pub message_file: Option<PathBuf>,
}

/// Flags for waiting and for the approvals meanwhile.
#[derive(Debug, Clone, Args)]
pub struct WaitArgs {
    /// Wait until the task is finished, failed, or waits for a decision
    #[arg(long, group = "waiting")]
    pub wait: bool,
    /// While waiting, approve this tool whenever the agent requests it (repeatable)
    #[arg(long = "approve", value_name = "TOOL", requires = "wait", value_parser = parse_name)]
    pub tools: Vec<String>,
    /// Scope of each approval
    #[arg(long, value_name = "SCOPE", default_value = "once", requires = "tools")]
    pub scope: ApprovalScope,
    #[command(flatten)]
    pub pace: PaceArgs,
}

/// The scope of an approval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ApprovalScope {
    /// Approve only this use of the tool.
    #[default]
    Once,
    /// Approve the tool for the rest of the task.
    Conversation,
}

/// Arguments of `sluicegate tasks create`.
#[derive(Debug, Clone, Args)]
#[command(group = ArgGroup::new("written").args(["target_branch", "generate_branch"]).required(true).multiple(true))]
pub struct CreateTaskArgs {
    #[command(flatten)]
    pub message: MessageArgs,
    /// Mode of the task: ACT (make changes) or PLAN (only plan)
    #[arg(long, value_name = "MODE", value_parser = parse_name)]
    pub mode: String,
    /// Environment to run pipelines in [env: SLUICEGATE_ENVIRONMENT]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub environment: Option<String>,
    /// Branch to read from, and to create a new branch from
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub source_branch: String,
    /// New branch to write to
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub target_branch: Option<String>,
    /// Let the agent choose the name of the new branch; ignored with --target-branch
    #[arg(long)]
    pub generate_branch: bool,
    /// ID of the service graph to use from the knowledge layer
    #[arg(long, value_name = "ID", value_parser = parse_name)]
    pub graph_id: Option<String>,
    /// Restrict the agent's work to this directory of the project
    #[arg(long, value_name = "PATH", value_parser = parse_name)]
    pub working_directory: Option<String>,
    /// Approve a tool in advance (repeatable)
    #[arg(long, value_name = "TOOL", value_parser = parse_name)]
    pub grant: Vec<String>,
    #[command(flatten)]
    pub wait: WaitArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Arguments of `sluicegate tasks list`.
#[derive(Debug, Clone, Args)]
pub struct ListTasksArgs {
    /// List the tasks of all projects, not only of --project-id
    #[arg(long)]
    pub all_projects: bool,
    /// List only tasks that write to this branch, or read from it if they have no target branch
    #[arg(long, value_name = "NAME", conflicts_with = "branch_id", value_parser = parse_name)]
    pub branch: Option<String>,
    /// List only tasks on the branch with this ID
    #[arg(long, value_name = "ID", value_parser = parse_name)]
    pub branch_id: Option<String>,
    /// List only tasks with this status: RUNNING, STOPPING, STOPPED or ERRORED
    #[arg(long, value_name = "STATUS", value_parser = parse_name)]
    pub status: Option<String>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Arguments of `sluicegate tasks decide`.
#[derive(Debug, Clone, Args)]
#[command(group = ArgGroup::new("decision").args(["approve", "deny", "answer"]).required(true).multiple(true))]
pub struct DecideArgs {
    /// ID of the task
    pub id: String,
    /// Approve the tool call with this ID (repeatable)
    #[arg(long, value_name = "TOOL_ID", value_parser = parse_name)]
    pub approve: Vec<String>,
    /// Deny the tool call with this ID (repeatable)
    #[arg(long, value_name = "TOOL_ID", value_parser = parse_name)]
    pub deny: Vec<String>,
    /// Choose an option for a part of a question, with parts counted from 0 (repeatable)
    #[arg(long, value_name = "ID:PART=OPTION")]
    pub answer: Vec<String>,
    /// Scope of each approval
    #[arg(long, value_name = "SCOPE", default_value = "once", requires = "approve")]
    pub scope: ApprovalScope,
    /// Wait until the task is finished, failed, or waits for another decision
    #[arg(long, group = "waiting")]
    pub wait: bool,
    #[command(flatten)]
    pub pace: PaceArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}
