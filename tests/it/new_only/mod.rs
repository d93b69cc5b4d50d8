//! `--new-only`: known findings do not fail the gate, new ones do.

mod edit_histories;
mod excluded_paths;
mod finding_subjects;
mod known_findings;
mod missing_start;
mod published_version;
