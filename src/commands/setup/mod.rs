//! Commands to set up and try the gate: files for the CI host, checks of the setup, a local platform.

pub(super) mod demo;
pub(super) mod doctor;
pub(super) mod init;
pub(super) mod manual;
pub(super) mod serve;
