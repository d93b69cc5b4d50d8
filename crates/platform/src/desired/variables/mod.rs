//! Project variables from a file: parsing, comparison with the project, and the changes to apply.

mod apply;
mod change;
mod compare;
mod file;
mod value;

pub(crate) use apply::{Applied, apply, refused_overrides};
pub(crate) use change::VariableStep;
pub(crate) use compare::{check_names, compare, read_project};
pub(crate) use file::{WantedVariable, read};
pub(crate) use value::typed_text;
