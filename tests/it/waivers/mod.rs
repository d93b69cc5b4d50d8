//! Waivers, and `sluicegate waivers`.

mod renamed_pipelines;
mod reported_findings;
mod waiver_effects;
