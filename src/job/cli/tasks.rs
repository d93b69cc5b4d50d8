//! `sluicegate tasks`.

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

Exit codes with --wait: 0 finished; 8 failed, stopped by somebody, not in time, or in
need of a decision: then that is shown, with the command that answers it.";

const DECIDE: &str = "Examples:
  sluicegate tasks decide 9f1b3d2c-5a7e-4c0d-8f9b-1357e2d4b6a8 \\
      --approve tool-1 --wait
  sluicegate tasks decide 9f1b3d2c-5a7e-4c0d-8f9b-1357e2d4b6a8 --deny tool-1
  sluicegate tasks decide 4b6a8e2d-3579-4f1b-9c0d-2c5a7e9f1b3d \\
      --answer 'question-1:0=yes'";

/// Tasks of the agent.
#[derive(Debug, Clone, Args)]
#[command(after_help = format!("Examples:\n  {LIST}\n  sluicegate tasks messages {ID} --follow"))]
pub struct TasksArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub verb: TasksVerb,
}

/// What to do with tasks.
#[derive(Debug, Clone, Subcommand)]
pub enum TasksVerb {
    /// Give the agent a task
    #[command(after_help = CREATE)]
    Create(CreateTaskArgs),
    /// List tasks; of those that are STOPPED, whether they are finished or wait
    #[command(after_help = format!("Example:\n  {LIST}"))]
    List(ListTasksArgs),
    /// Show one in detail, with what it waits for
    #[command(after_help = format!("Example:\n  sluicegate tasks show {ID}"))]
    Show(TaskArgs),
    /// Show what was said and done
    #[command(after_help = format!("Example:\n  sluicegate tasks messages {ID} --follow"))]
    Messages {
        /// The task
        id: String,
        /// Go on until the task is finished (0) or failed (8); at most 3600 seconds
        #[arg(long)]
        follow: bool,
        /// Events in one request, 1 to 1000
        #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
        /// How long to follow.
        #[command(flatten)]
        pace: PaceArgs,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Send a follow-up message
    #[command(after_help = format!("Example:\n  sluicegate tasks send {ID} \\\n      --message 'Now push the branch' --approve git_push --wait"))]
    Send {
        /// The task
        id: String,
        /// What to say.
        #[command(flatten)]
        message: MessageArgs,
        /// From now on ACT or PLAN
        #[arg(long, value_name = "MODE")]
        mode: Option<String>,
        /// From now on write to this branch
        #[arg(long, value_name = "NAME")]
        target_branch: Option<String>,
        /// Approve a tool in advance, besides those that are; repeatable
        #[arg(long, value_name = "TOOL")]
        grant: Vec<String>,
        /// Whether to wait.
        #[command(flatten)]
        wait: WaitArgs,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Answer what the agent waits for
    #[command(after_help = DECIDE)]
    Decide(DecideArgs),
    /// Stop the agent; it wraps up first
    #[command(after_help = format!("Example:\n  sluicegate tasks stop {ID}"))]
    Stop(TaskArgs),
    /// Delete a task with all its data; not while it runs
    #[command(after_help = format!("Example:\n  sluicegate tasks delete {ID}"))]
    Delete(TaskArgs),
    /// Replace what the agent may use without asking
    #[command(after_help = format!("Example:\n  sluicegate tasks permissions {ID} \\\n      --grant create_file --grant git_commit"))]
    Permissions {
        /// The task
        id: String,
        /// What it may use.
        #[command(flatten)]
        tools: GrantArgs,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// One task.
#[derive(Debug, Clone, Args)]
pub struct TaskArgs {
    /// The task
    pub id: String,
    /// How to show it.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// What the agent may use without asking.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub struct GrantArgs {
    /// All tools that are approved from now on; repeatable
    #[arg(long, value_name = "TOOL")]
    pub grant: Vec<String>,
    /// Approve none
    #[arg(long)]
    pub clear: bool,
}

/// What is said to the agent.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub struct MessageArgs {
    /// The instruction
    #[arg(long, value_name = "TEXT")]
    pub message: Option<String>,
    /// A file that holds the instruction
    #[arg(long, value_name = "PATH")]
    pub message_file: Option<PathBuf>,
}

/// Whether to wait for the agent, and what to answer it meanwhile.
#[derive(Debug, Clone, Args)]
pub struct WaitArgs {
    /// Wait until the task is finished, failed, or in need of a decision; at most 3600 seconds
    #[arg(long)]
    pub wait: bool,
    /// While waiting, approve this tool whenever it is asked for; repeatable
    #[arg(long = "approve", value_name = "TOOL", requires = "wait")]
    pub tools: Vec<String>,
    /// How long such an approval holds
    #[arg(long, value_name = "SCOPE", default_value = "once")]
    pub scope: ApprovalScope,
    /// How long to wait.
    #[command(flatten)]
    pub pace: PaceArgs,
}

/// How long an approval holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ApprovalScope {
    /// For this one use.
    #[default]
    Once,
    /// For the rest of the task.
    Conversation,
}

/// Give the agent a task.
#[derive(Debug, Clone, Args)]
#[command(group = ArgGroup::new("written").args(["target_branch", "generate_branch"]).required(true).multiple(true))]
pub struct CreateTaskArgs {
    /// What to do.
    #[command(flatten)]
    pub message: MessageArgs,
    /// ACT makes changes, PLAN only plans
    #[arg(long, value_name = "MODE")]
    pub mode: String,
    /// Where pipelines are run [env: SLUICEGATE_ENVIRONMENT]
    #[arg(long, value_name = "NAME")]
    pub environment: Option<String>,
    /// The branch that is read, and that a new one begins at
    #[arg(long, value_name = "NAME")]
    pub source_branch: String,
    /// The new branch that is written to
    #[arg(long, value_name = "NAME")]
    pub target_branch: Option<String>,
    /// Let the agent name that branch; ignored where it is named
    #[arg(long)]
    pub generate_branch: bool,
    /// A service graph of the knowledge layer
    #[arg(long, value_name = "ID")]
    pub graph_id: Option<String>,
    /// A folder of the project that the work is kept to
    #[arg(long, value_name = "PATH")]
    pub working_directory: Option<String>,
    /// Approve a tool in advance; repeatable
    #[arg(long, value_name = "TOOL")]
    pub grant: Vec<String>,
    /// Whether to wait.
    #[command(flatten)]
    pub wait: WaitArgs,
    /// How to show it.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// List tasks.
#[derive(Debug, Clone, Args)]
pub struct ListTasksArgs {
    /// Of all projects, not only the one that is set
    #[arg(long)]
    pub all_projects: bool,
    /// Only those on this branch
    #[arg(long, value_name = "ID")]
    pub branch_id: Option<String>,
    /// Only those that are RUNNING, STOPPING, STOPPED or ERRORED
    #[arg(long, value_name = "STATUS")]
    pub status: Option<String>,
    /// How to show it.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Answer what the agent waits for.
#[derive(Debug, Clone, Args)]
pub struct DecideArgs {
    /// The task
    pub id: String,
    /// Let the tool with this id be used; repeatable
    #[arg(long, value_name = "TOOL_ID")]
    pub approve: Vec<String>,
    /// Do not let it be used; repeatable
    #[arg(long, value_name = "TOOL_ID")]
    pub deny: Vec<String>,
    /// Choose an option for a part (from 0) of a question; repeatable
    #[arg(long, value_name = "ID:PART=OPTION", required_unless_present_any = ["approve", "deny"])]
    pub answer: Vec<String>,
    /// How long an approval holds
    #[arg(long, value_name = "SCOPE", default_value = "once")]
    pub scope: ApprovalScope,
    /// Wait until the task is finished, failed, or in need of another decision; at most 3600 seconds
    #[arg(long)]
    pub wait: bool,
    /// How long to wait.
    #[command(flatten)]
    pub pace: PaceArgs,
    /// How to show it.
    #[command(flatten)]
    pub output: OutputArgs,
}
