//! The gate: selects what a change touches, judges it, tells the result, publishes what passed, proves it later.

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
mod misnamed;
pub(super) mod outdated;
pub(super) mod past;
pub(super) mod platform_folder;
pub(super) mod publish;
pub(super) mod report;
pub(super) mod review;
pub(super) mod rules;
mod typed;
mod unanswered;
pub(super) mod unselected;
pub(super) mod verify;
pub(super) mod waivers;
mod waiving;
pub(super) mod workspace;
