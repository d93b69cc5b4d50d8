//! Provisions a project and its resources from a file: five steps in the API document's order, each done once.

mod check;
mod state;
mod steps;

pub(crate) use check::{KnownNames, ProvisionPlan, SecretSource, plan};
pub(crate) use state::{Mark, ProvisionState, ProvisionStep, StateError};
pub(crate) use steps::{StepTold, Stopped, apply};
