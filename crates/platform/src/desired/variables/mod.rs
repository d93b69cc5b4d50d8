//! Project variables from a file: parsing, comparison with the project, and the changes to apply.

mod apply;
mod change;
mod compare;
mod file;
mod value;

pub use apply::{Applied, apply, refused_overrides};
pub use change::VariableStep;
pub use compare::{check_names, compare, read_project};
pub use file::{WantedVariable, read};
pub use value::typed_text;
