//! The CI hosts' own APIs, as far as a review is shown through them.
//!
//! A host's API is another origin than the platform's and takes another token, so its client shares nothing with the
//! platform's but the way requests are sent.

mod code_insights;
mod comments;

pub(crate) use code_insights::CodeInsights;
pub(crate) use comments::{Kept, Thread, keep_comment};
