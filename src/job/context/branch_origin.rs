//! The source of the branch of a run. An inferred branch must not decide what is published.

/// The source of the branch of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchOrigin {
    /// The host, the job or the checkout names the branch.
    Named,
    /// The branch is one of the branches that contain head, and may be the wrong one.
    Inferred,
}
