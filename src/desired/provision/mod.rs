//! A project with all that belongs to it, from one file: five steps in the API document's order, each done once.

mod check;
mod state;
mod steps;

pub use check::{Names, ProvisionPlan, SecretPlan, SecretSource, plan};
pub use state::{Mark, Record, State, StateError, Step};
pub use steps::{Stopped, Told, apply};
