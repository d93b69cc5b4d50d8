//! A project with all that belongs to it, from one file: five steps in the API document's order, each done once.

mod check;
mod state;
mod steps;

pub use check::{KnownNames, ProvisionPlan, SecretSource, plan};
pub use state::{Mark, ProvisionState, ProvisionStep, StateError};
pub use steps::{StepTold, Stopped, apply};
