//! What was asked, and where: flags, variables, files, host and repository become settings and one target.
//!
//! Begin with [`cli`], then [`settings`]: file, environment and flags become resolved values, and [`policy`] is the
//! layer of them that a change may not write. [`ci`] says what the host tells, [`context`] holds that against the
//! repository.

pub mod ci;
pub mod cli;
pub mod context;
pub mod policy;
pub mod settings;
