//! Checks of the project: references between files that lead nowhere.
//!
//! A rule judges one pipeline; what breaks in real repositories is between them. Begin with `check`: it lists the checks. `find` makes
//! findings of a project's facts, pure and without a file read: which facts are read, and of which commit, is for
//! the gate to say. `words` has the sentences, which a publish says too, as it refuses the same.

mod check;
mod circles;
mod find;
mod manual;
mod words;

pub use check::{CheckLevels, ProjectCheck};
pub use find::{Project, SharedSide};
pub use manual::{ProjectDocumentation, reference};
pub use words::{
    NO_PIPELINE, NOT_THERE, ambiguous_call, missing_call, missing_script, shared_pipeline,
    undeclared_parameter,
};
