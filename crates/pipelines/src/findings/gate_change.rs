//! A change to the gate configuration.

/// A changed file of the gate configuration.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GateChange {
    /// The path from the repository root, with `/`.
    pub path: String,
    /// The changes in the file, as sentences of limited length; empty if they are unknown.
    pub descriptions: Vec<String>,
}
