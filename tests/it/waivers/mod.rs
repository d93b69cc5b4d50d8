//! Waivers, and `sluicegate waivers`.

mod renamed_pipelines;
mod waiver_effects;
