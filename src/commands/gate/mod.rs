//! The gate: selects the pipelines of a change, reviews them, reports the result, publishes what passed, and verifies
//! it later.

mod adoption;
pub(super) mod asking;
pub(super) mod changed;
pub(super) mod check;
pub(super) mod ci;
mod compare;
pub(super) mod context;
pub(super) mod deliver;
pub(super) mod diff;
pub(super) mod gate_changes;
pub(super) mod gate_files;
pub(super) mod interface;
pub(super) mod judgement;
mod local_fallback;
mod misnamed;
pub(super) mod moving;
pub(super) mod outdated;
pub(super) mod past;
mod places;
pub(super) mod platform_folder;
mod policy_settings;
mod project;
pub(super) mod publish;
pub(super) mod report;
pub(super) mod review;
pub(super) mod rules;
pub(super) mod selecting;
mod standard_input;
mod typed;
mod unanswered;
pub(super) mod unselected;
pub(super) mod unusable;
pub(super) mod verify;
pub(super) mod waivers;
mod waiving;
pub(super) mod workspace;
