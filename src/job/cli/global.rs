//! The flags that every command accepts.

use super::values::{output_path_parser, parse_name};
use super::{ColorChoice, GateChanges};
use crate::job::ci::Host;
use crate::job::policy::PolicySource;
use clap::{ArgAction, Args};
use std::path::PathBuf;

pub const HEADING: &str = "Global options";

/// Flags for the platform, the credentials, the repository and the output.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = HEADING)]
pub struct GlobalArgs {
    /// Configuration file to read [env: SLUICEGATE_CONFIG] [default: sluicegate.yaml at the repository root]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// URL of the platform, with or without a trailing / or /v1 [env: SLUICEGATE_BASE_URL]
    #[arg(long, global = true, value_name = "URL")]
    pub base_url: Option<String>,
    /// ID of the project on the platform [env: SLUICEGATE_PROJECT_ID]
    #[arg(long, global = true, value_name = "UUID")]
    pub project_id: Option<String>,
    /// Version of the agent that runs the project's pipelines; a review sends it to the platform [env:
    /// SLUICEGATE_AGENT_VERSION]
    #[arg(long, global = true, value_name = "VERSION")]
    pub agent_version: Option<String>,
    /// Read the token from this file [env: SLUICEGATE_TOKEN_FILE]; to pass the token itself, set SLUICEGATE_TOKEN
    #[arg(long, global = true, value_name = "PATH")]
    pub token_file: Option<PathBuf>,
    /// Read the token from the output of this command [env: SLUICEGATE_TOKEN_COMMAND]
    #[arg(long, global = true, value_name = "CMD")]
    pub token_command: Option<String>,
    /// Path of the git repository [env: SLUICEGATE_REPO] [default: detected from the current directory]
    #[arg(long, global = true, value_name = "PATH")]
    pub repo: Option<PathBuf>,
    /// Name of the platform's hidden directory at the repository root [env: SLUICEGATE_CONFIG_DIR] [default: detected]
    #[arg(long, global = true, value_name = "NAME")]
    pub config_dir: Option<String>,
    /// File with the rules of the team, relative to the repository root, or off to skip these rules [env:
    /// SLUICEGATE_TEAM_RULES] [default: sluicegate-rules.yaml in the directory of the configuration file]
    #[arg(long, global = true, value_name = "PATH")]
    pub team_rules: Option<String>,
    /// PEM file with additional root certificates to trust [env: SLUICEGATE_CA_CERT]
    #[arg(long, global = true, value_name = "PEM")]
    pub ca_cert: Option<PathBuf>,
    /// PEM file with the client certificate for the platform [env: SLUICEGATE_CLIENT_CERT, a path or the PEM itself]
    #[arg(long, global = true, value_name = "PEM")]
    pub client_cert: Option<PathBuf>,
    /// PEM file with the key of the client certificate [env: SLUICEGATE_CLIENT_KEY, a path or the PEM itself]
    /// [default: the file of the certificate]
    #[arg(long, global = true, value_name = "PEM")]
    pub client_key: Option<PathBuf>,
    /// Timeout for each request, in seconds [env: SLUICEGATE_TIMEOUT] [default: 60]
    #[arg(
        long,
        global = true,
        value_name = "SECONDS",
        visible_alias = "request-timeout"
    )]
    pub timeout: Option<u64>,
    /// Maximum number of retries for a failed request [env: SLUICEGATE_RETRIES] [default: 4]
    #[arg(long, global = true, value_name = "N")]
    pub retries: Option<u32>,
    // The names of the hosts are in the table of `ci`.
    #[arg(long, global = true, value_name = "HOST", help = build_ci_help())]
    pub ci: Option<String>,
    /// Additional URL of the repository that the change goes to, for example of a mirror that the job clones
    /// (repeatable) [env: SLUICEGATE_TARGET_REPOSITORY]
    #[arg(long, global = true, value_name = "URL", value_parser = parse_name)]
    pub target_repository: Vec<String>,
    /// Where to read the gate configuration from [env: SLUICEGATE_POLICY] [default: auto]
    #[arg(long, global = true, value_name = "VERSION")]
    pub policy: Option<PolicySource>,
    /// How to treat a change that edits the gate configuration together with other files
    /// [env: SLUICEGATE_GATE_CHANGES] [default: warn]
    #[arg(long, global = true, value_name = "ACTION")]
    pub gate_changes: Option<GateChanges>,
    /// Run as if the program was started in this directory
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Write the result to this file instead of standard output; set its format with -o
    #[arg(long, global = true, value_name = "PATH", value_parser = output_path_parser())]
    pub out: Option<PathBuf>,
    /// When to color the output [env: SLUICEGATE_COLOR, NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, CLICOLOR]
    /// [default: auto]
    #[arg(long, global = true, value_name = "WHEN")]
    pub color: Option<ColorChoice>,
    /// Print only results and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print more detail (-vv: every HTTP request)
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
}

/// Returns the help of `--ci` with the names of all hosts.
fn build_ci_help() -> String {
    let hosts = Host::ALL
        .iter()
        .filter(|host| !matches!(host, Host::Unknown | Host::None));
    let names: Vec<&str> = hosts.map(|host| host.name()).collect();
    format!(
        "CI host of this job: auto (detect it), {}, unknown (any other host) or none (a local run, which reads the gate \
         configuration from the checkout) [env: SLUICEGATE_CI] [default: auto]",
        names.join(", ")
    )
}
