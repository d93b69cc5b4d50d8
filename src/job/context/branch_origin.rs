//! The source of the branch of a run. A branch that was only found must not decide what is published.

/// The source of the branch of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchOrigin {
    /// The host, the job or the checkout names the branch.
    Named,
    /// The branch is one of those that contain the head; another one may be meant.
    Inferred,
}
