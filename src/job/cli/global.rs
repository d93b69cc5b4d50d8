//! The flags that every command takes.

use super::{ColorChoice, GateChanges};
use crate::job::policy::Choice;
use clap::{ArgAction, Args};
use std::path::PathBuf;

pub(super) const HEADING: &str = "Global options";

/// Where the platform is, who we are, which repository, how to talk.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = HEADING)]
pub struct GlobalArgs {
    /// The configuration file [env: SLUICEGATE_CONFIG] [default: sluicegate.yaml at the repository root]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The platform, with or without a trailing / or /v1 [env: SLUICEGATE_BASE_URL]
    #[arg(long, global = true, value_name = "URL")]
    pub base_url: Option<String>,
    /// The project [env: SLUICEGATE_PROJECT_ID]
    #[arg(long, global = true, value_name = "UUID")]
    pub project_id: Option<String>,
    /// The Agent-Version header of a review [env: SLUICEGATE_AGENT_VERSION]
    #[arg(long, global = true, value_name = "VERSION")]
    pub agent_version: Option<String>,
    /// A file that holds the token [env: SLUICEGATE_TOKEN_FILE]; the token itself only by SLUICEGATE_TOKEN
    #[arg(long, global = true, value_name = "PATH")]
    pub token_file: Option<PathBuf>,
    /// A command whose output is the token [env: SLUICEGATE_TOKEN_COMMAND]
    #[arg(long, global = true, value_name = "CMD")]
    pub token_command: Option<String>,
    /// The git repository [env: SLUICEGATE_REPO] [default: found from the current folder]
    #[arg(long, global = true, value_name = "PATH")]
    pub repo: Option<PathBuf>,
    /// The platform's hidden folder at the repository root [env: SLUICEGATE_CONFIG_DIR] [default: found]
    #[arg(long, global = true, value_name = "NAME")]
    pub config_dir: Option<String>,
    /// Extra root certificates, a PEM file [env: SLUICEGATE_CA_CERT]
    #[arg(long, global = true, value_name = "PEM")]
    pub ca_cert: Option<PathBuf>,
    /// One request's limit in seconds [env: SLUICEGATE_TIMEOUT] [default: 60]
    #[arg(long, global = true, value_name = "SECONDS")]
    pub timeout: Option<u64>,
    /// Tries after the first [env: SLUICEGATE_RETRIES] [default: 4]
    #[arg(long, global = true, value_name = "N")]
    pub retries: Option<u32>,
    /// The CI host: auto, github, gitea, gitlab, azure, bitbucket, jenkins, circleci, buildkite, none
    /// [env: SLUICEGATE_CI] [default: auto]
    #[arg(long, global = true, value_name = "HOST")]
    pub ci: Option<String>,
    /// Which version of the configuration file counts; `auto` is the base's in CI [env: SLUICEGATE_POLICY] [default: auto]
    #[arg(long, global = true, value_name = "VERSION")]
    pub policy: Option<Choice>,
    /// What a change of the gate's own files, together with others, means: `fail` ends in 1
    /// [env: SLUICEGATE_GATE_CHANGES] [default: warn]
    #[arg(long, global = true, value_name = "ACTION")]
    pub gate_changes: Option<GateChanges>,
    /// Write the result to this file instead of standard output; -o is the format
    #[arg(long, global = true, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Colour in what people read [env: SLUICEGATE_COLOR, NO_COLOR] [default: auto]
    #[arg(long, global = true, value_name = "WHEN")]
    pub color: Option<ColorChoice>,
    /// Only results and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more; -vv shows each request
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
}
