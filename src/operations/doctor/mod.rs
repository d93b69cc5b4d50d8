//! The checks of `doctor`.

mod clone_checks;
pub(crate) mod doctor_check;
pub(crate) mod doctor_settings;
pub(crate) mod local_checks;
pub(crate) mod remote_checks;
mod request_limit;
