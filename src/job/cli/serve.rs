//! `sluicegate serve`.

use super::ReviewRequestFields;
use clap::{Args, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use uuid::Uuid;

const EXAMPLES: &str = "Examples:
  sluicegate serve
  sluicegate serve --listen 127.0.0.1:8080 --data ./platform \\
      --project 6f1d3c1e-8a3b-4c56-9a0e-0d7b6c1f2a10=../sales.git \\
      --token s3cret=admin

The first line on standard output is `listening on http://ADDRESS`. Without --token, one is generated and printed.";

/// Arguments of `sluicegate serve`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    /// Address to listen on; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Directory of the embedded database, created if missing [default: in memory]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Add a project with this local repository as its remote (repeatable)
    #[arg(long, value_name = "UUID=REPOSITORY")]
    pub project: Vec<ProjectFlag>,
    /// Accept this token with a role: super-admin, admin or member (repeatable)
    #[arg(long, value_name = "TOKEN=ROLE", hide_possible_values = true)]
    pub token: Vec<TokenFlag>,
    /// Replace the neutral names of the API with the names in this file: a map in YAML or JSON with any of WAREHOUSE_A,
    /// WAREHOUSE_B, git_provider_a, source_db_a, CLOUD_A_KEY_VAULT [default: the neutral names]
    #[arg(long, value_name = "FILE")]
    pub vocabulary: Option<PathBuf>,
    /// Fields that a review request must have
    #[arg(long, value_name = "FIELDS", default_value = "pipelines")]
    pub review_request: ReviewRequestFields,
    /// Behavior of the simulated agent in a task to fix findings. Every value but `obedient` simulates a mistake
    #[arg(long, value_name = "BEHAVIOR", default_value = "obedient")]
    pub agent_behavior: AgentBehaviorFlag,
}

/// Behavior of the simulated agent in a task to fix findings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum AgentBehaviorFlag {
    /// Fix the findings of two rules, commit and push
    #[default]
    Obedient,
    /// Also edit a file without a finding
    EditsOtherFile,
    /// Also remove all rules from the rules file
    EditsRules,
    /// Also rename a component so that its name violates the naming convention
    AddsFinding,
    /// Keep working until the task is stopped
    NeverStops,
    /// Ask the user a question first
    Asks,
    /// Request permission to run a pipeline first
    RunsPipeline,
    /// Commit the fixes, but do not push the branch
    SkipsPush,
    /// Also move the source branch to the commit
    MovesSourceBranch,
    /// Push a commit without the history of the source branch
    RewritesHistory,
}

/// A project and its remote repository, `UUID=REPOSITORY`.
#[derive(Debug, Clone)]
pub struct ProjectFlag {
    pub id: Uuid,
    pub repository: PathBuf,
}

impl FromStr for ProjectFlag {
    type Err = String;

    /// Parses `UUID=REPOSITORY`. The error states which part is missing or invalid.
    fn from_str(text: &str) -> Result<Self, String> {
        let (id, repository) = text.split_once('=').ok_or("expected UUID=REPOSITORY")?;
        let id = Uuid::parse_str(id).map_err(|_| format!("{id:?} is not a UUID"))?;
        if repository.is_empty() {
            return Err("the repository after the `=` is missing".to_owned());
        }
        Ok(Self {
            id,
            repository: PathBuf::from(repository),
        })
    }
}

/// A token and its role, `TOKEN=ROLE`. The debug output hides the token.
#[derive(Clone)]
pub struct TokenFlag {
    pub token: secrecy::SecretString,
    pub role: String,
}

impl std::fmt::Debug for TokenFlag {
    /// Writes only the role. The token is a secret and never appears in debug output.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TokenFlag(***={})", self.role)
    }
}

impl FromStr for TokenFlag {
    type Err = &'static str;

    /// Parses `TOKEN=ROLE`, split at the last `=`, because a token may contain `=`. The error states which part is
    /// missing.
    fn from_str(text: &str) -> Result<Self, &'static str> {
        let (token, role) = text.rsplit_once('=').ok_or("expected TOKEN=ROLE")?;
        if token.is_empty() {
            return Err("the token before the `=` is missing");
        }
        Ok(Self {
            token: token.into(),
            role: role.to_owned(),
        })
    }
}
