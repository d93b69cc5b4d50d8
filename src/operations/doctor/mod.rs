//! The checks of `doctor`.

pub(crate) mod check;
pub(crate) mod local;
pub(crate) mod remote;
