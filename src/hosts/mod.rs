//! Clients for the APIs of CI hosts that show the result of a review.
//!
//! A host's API has another origin than the platform's and needs another token, so its client shares only the
//! transport with the platform's.

mod azure_thread;
mod code_insights;
mod comment_thread;
mod comments;

pub(crate) use code_insights::CodeInsights;
pub(crate) use comment_thread::Thread;
pub(crate) use comments::{CommentChange, write_comment};

/// What to do if the host does not have a result of an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissingResult {
    Creation,
    Omission,
}
