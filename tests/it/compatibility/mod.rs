//! Breaking changes for consumers of shared pipelines, and documents of earlier versions.

mod breaks_in_publishes;
mod breaks_in_reviews;
mod documents_of_version_0_1;
mod unreadable_pipelines;
