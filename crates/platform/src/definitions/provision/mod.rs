//! Provisions a project and its resources from a file: five steps in the API document's order, each done once.

mod provision_plan;
mod provision_run;
mod provision_state;

pub use provision_plan::{PlatformNames, ProvisionPlan, SecretSource, read_plan};
pub use provision_run::{ProvisionError, StepProgress, run_steps};
pub use provision_state::{ProvisionState, ProvisionStep, StateError, StepMark, StepRecord};
