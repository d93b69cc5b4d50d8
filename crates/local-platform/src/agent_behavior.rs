//! The behavior of the simulated agent in a task to fix findings.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The way in which the agent carries out a task to fix findings. Every value except the first is a misbehavior that
/// tests how a client reacts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentBehavior {
    /// Fixes the findings that it can fix, commits, and pushes the new branch.
    #[default]
    Obedient,
    /// Also edits a file without a finding.
    EditsOtherFile,
    /// Also edits the rules file, so that it has no rule.
    EditsRules,
    /// Also renames a component so that its name violates the naming convention.
    AddsFinding,
    /// Works until the task is stopped.
    NeverStops,
    /// Asks a question before it edits a file.
    Asks,
    /// Requests to run a pipeline before it edits a file.
    RunsPipeline,
    /// Commits, but does not push the branch.
    SkipsPush,
    /// Also moves the source branch to the agent's commit.
    MovesSourceBranch,
    /// Pushes a commit without the history of the source branch.
    RewritesHistory,
}

impl AgentBehavior {
    /// Every behavior, each with its name on the command line.
    pub const NAMES: [(Self, &'static str); 10] = [
        (Self::Obedient, "obedient"),
        (Self::EditsOtherFile, "edits-other-file"),
        (Self::EditsRules, "edits-rules"),
        (Self::AddsFinding, "adds-finding"),
        (Self::NeverStops, "never-stops"),
        (Self::Asks, "asks"),
        (Self::RunsPipeline, "runs-pipeline"),
        (Self::SkipsPush, "skips-push"),
        (Self::MovesSourceBranch, "moves-source-branch"),
        (Self::RewritesHistory, "rewrites-history"),
    ];
}

impl fmt::Display for AgentBehavior {
    /// Writes the name that selects the behavior on the command line. [`AgentBehavior::NAMES`] has a name for each
    /// behavior, so the default is never used.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(behavior, _)| behavior == self);
        f.write_str(name.map_or("obedient", |(_, name)| name))
    }
}

/// The text is not the name of a behavior.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown behavior `{0}`")]
pub struct UnknownBehavior(String);

impl FromStr for AgentBehavior {
    type Err = UnknownBehavior;

    /// Parses a name in [`AgentBehavior::NAMES`].
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let behavior = Self::NAMES.iter().find(|(_, name)| *name == text);
        behavior
            .map(|(behavior, _)| *behavior)
            .ok_or_else(|| UnknownBehavior(text.to_owned()))
    }
}
