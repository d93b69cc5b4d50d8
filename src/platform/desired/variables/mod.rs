//! Project variables as a file says: what the file is, how the project differs from it, and how it is made so.

mod apply;
mod change;
mod compare;
mod file;
mod value;

pub use apply::{Applied, apply, refused_overrides};
pub use change::VariableStep;
pub use compare::{compare, read_project};
pub use file::{WantedVariable, read};
pub use value::typed_text;
