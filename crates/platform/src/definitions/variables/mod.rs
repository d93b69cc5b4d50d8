//! Project variables from a file: parsing, comparison with the project, and the changes to apply.

mod project_comparison;
mod project_state;
mod step_execution;
mod type_change;
mod typed_value;
mod variable_step;
mod variables_file;

pub use project_comparison::{build_variable_steps, check_types_and_behaviours};
pub use project_state::fetch_project_state;
pub use step_execution::{StepOutcome, describe_lost_override, execute_steps, list_unconfirmed_overrides};
pub use typed_value::parse_variable_argument;
pub use variable_step::VariableStep;
pub use variables_file::{VariableDefinition, read_variables};
