//! The context of a run on a CI host: the event, branch and commit of the run, and the base of its change.
//!
//! Detection is a pure function of the captured environment and the event's payload, so that each event is a fixture in
//! a test. Hosts often check out a commit that is in no branch (a trial merge); this module returns the commit of the
//! source branch, which exists on the remote. It never reads the repository: `context` compares the host's context with
//! the repository.
//!
//! Each host has one file, with its `mod` line and its line in the table below.

mod azure;
mod bitbucket;
mod buildkite;
mod ci_context;
mod circleci;
mod error;
mod gitea;
mod github;
mod gitlab;
mod jenkins;
mod none;
mod payload;
mod unknown;

pub use ci_context::{BaseHint, CiContext, HistoryFetch, TargetCopy, TargetRepository, Trigger};
pub use error::CiError;

use crate::env::Env;
use std::fmt;
use std::str::FromStr;

/// Declares the hosts: name on the command line, variant, file. Detection uses this order.
macro_rules! hosts {
    ($($(#[doc = $doc:literal])+ $name:literal $host:ident $file:ident;)+) => {
        /// The CI host that runs the program.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Host { $($(#[doc = $doc])+ $host),+ }

        impl Host {
            /// Every host, in the order of detection.
            pub const ALL: &[Self] = &[$(Self::$host),+];

            /// Returns the name for `--ci`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$host => $name),+ }
            }

            /// Returns the instruction that makes this host fetch the full history, or `None` without a known host. The
            /// module of the host links the documentation.
            pub const fn full_history_setting(self) -> Option<&'static str> {
                match self { $(Self::$host => $file::FULL_HISTORY_SETTING),+ }
            }

            /// Returns whether the variables show that this host runs the job. The module of the host decides.
            fn is_detected(self, env: &Env) -> bool {
                match self { $(Self::$host => $file::is_detected(env)),+ }
            }

            /// Reads the context of the job with the module of this host.
            fn read_context(self, env: &Env) -> Result<CiContext, CiError> {
                match self { $(Self::$host => $file::read_context(env)),+ }
            }

            /// Reads the repository of the change's target with the module of this host.
            fn read_target_repository(self, env: &Env) -> TargetRepository {
                match self { $(Self::$host => $file::read_target_repository(env)),+ }
            }
        }
    };
}

// Gitea and Forgejo also set GitHub's variables, so they come first. `Unknown` matches the environment of every host,
// and `None` every environment, so they are last.
hosts! {
    /// Gitea or Forgejo Actions.
    "gitea" Gitea gitea;
    /// GitHub Actions.
    "github" GitHub github;
    /// GitLab CI/CD.
    "gitlab" GitLab gitlab;
    /// Azure Pipelines.
    "azure" Azure azure;
    /// Bitbucket Pipelines.
    "bitbucket" Bitbucket bitbucket;
    /// CircleCI.
    "circleci" CircleCi circleci;
    /// Buildkite.
    "buildkite" Buildkite buildkite;
    /// Jenkins.
    "jenkins" Jenkins jenkins;
    /// A CI host that is not in this list.
    "unknown" Unknown unknown;
    /// No CI host: a local run.
    "none" None none;
}

impl Host {
    /// Returns whether the run is local: no CI host runs it.
    pub const fn is_local(self) -> bool {
        matches!(self, Self::None)
    }

    /// Returns the name of the host for people. It differs from the value of `--ci` for a run without a known host.
    pub fn describe(self) -> String {
        match self {
            Self::None => "none (local run)".to_owned(),
            Self::Unknown => "CI, unknown host".to_owned(),
            host => host.name().to_owned(),
        }
    }

    /// Returns the product name of the host, for messages.
    const fn label(self) -> &'static str {
        match self {
            Self::Gitea => "Gitea or Forgejo",
            Self::GitHub => "GitHub",
            Self::GitLab => "GitLab",
            Self::Azure => "Azure Pipelines",
            Self::Bitbucket => "Bitbucket",
            Self::CircleCi => "CircleCI",
            Self::Buildkite => "Buildkite",
            Self::Jenkins => "Jenkins",
            Self::Unknown | Self::None => self.name(),
        }
    }

    /// Returns the value of a variable that this host always sets for the kind of run.
    fn require_variable<'e>(self, env: &'e Env, variable: &'static str) -> Result<&'e str, CiError> {
        env.get(variable)
            .ok_or(CiError::Variable { host: self, variable })
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error for an unknown host name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a CI host (--ci, SLUICEGATE_CI); valid values: auto, {known}", known = join_host_names())]
pub struct UnknownHost(String);

/// Returns the names of all hosts, for messages.
fn join_host_names() -> String {
    Host::ALL
        .iter()
        .map(|host| host.name())
        .collect::<Vec<_>>()
        .join(", ")
}

impl FromStr for Host {
    type Err = UnknownHost;

    /// Parses the name of a host; the error lists all names.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|host| host.name() == name)
            .ok_or_else(|| UnknownHost(name.to_owned()))
    }
}

impl Host {
    /// Returns the first host in the order of [`Host::ALL`] whose variables are set in this environment, or
    /// [`Host::None`] for a local run.
    pub fn detect(env: &Env) -> Self {
        let mut hosts = Self::ALL.iter().copied();
        hosts.find(|host| host.is_detected(env)).unwrap_or(Self::None)
    }
}

/// Reads the context of this run from the variables of `requested_host`. Without a requested host, the host is
/// detected. It is an error if only a part of a known host's variables is set.
pub fn detect_context(env: &Env, requested_host: Option<Host>) -> Result<CiContext, CiError> {
    let host = requested_host.unwrap_or_else(|| Host::detect(env));
    if requested_host.is_none() && matches!(host, Host::Unknown | Host::None) {
        unknown::reject_incomplete_host(env)?;
    }
    Ok(CiContext {
        target_repository: host.read_target_repository(env),
        ..host.read_context(env)?
    })
}

#[cfg(test)]
mod tests;
