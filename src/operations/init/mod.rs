//! The files that `init` writes: looks at the repository, plans, writes and explains.

pub(crate) mod adopt;
pub(crate) mod config;
pub(crate) mod figures;
pub(crate) mod flags;
pub(crate) mod git_diff;
pub(crate) mod hosts;
pub(crate) mod look;
pub(crate) mod plan;
pub(crate) mod tell;
pub(crate) mod today;
pub(crate) mod write;
