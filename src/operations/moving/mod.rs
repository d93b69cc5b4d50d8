//! Moves files and updates every reference to them, or repairs broken references.

pub(crate) mod carry_out;
pub(crate) mod committed;
pub(crate) mod edit;
pub(crate) mod links;
pub(crate) mod place;
pub(crate) mod plan;
pub(crate) mod read;
pub(crate) mod tell;
