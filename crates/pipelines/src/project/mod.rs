//! Checks of the project: broken references between files.
//!
//! A rule evaluates one pipeline, but many real problems are between pipelines. Begin with `check`, which lists the
//! checks. `find` derives findings from a project's facts without reading files; the gate decides which facts are read,
//! and from which commit. `words` contains the messages, which a publish also uses, because it rejects the same
//! problems.

mod check;
mod circles;
mod find;
mod manual;
mod renames;
mod shared_side;
mod suggestions;
mod words;

pub use check::{CheckLevels, ProjectCheck};
pub use find::Project;
pub use manual::{ProjectDocumentation, reference};
pub use renames::Renames;
pub use shared_side::SharedSide;
pub use suggestions::{CallSuggestions, ComponentSuggestions};
pub use words::{
    NO_PIPELINE, NOT_THERE, ambiguous_call, missing_call, missing_script, shared_pipeline,
    undeclared_parameter, unusable_script,
};
