//! The behavior of the simulated agent in a task to fix findings.

use serde::{Deserialize, Serialize};

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
