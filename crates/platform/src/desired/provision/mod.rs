//! Provisions a project and its resources from a file: five steps in the API document's order, each done once.

mod check;
mod state;
mod steps;

pub use check::{KnownNames, ProvisionPlan, SecretSource, plan};
pub use state::{Mark, ProvisionState, ProvisionStep, StateError};
pub use steps::{StepTold, Stopped, apply};
