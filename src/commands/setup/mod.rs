//! How a project comes to the gate and tries it: files for the CI host, a look at what is missing, a platform on this machine.

pub(super) mod demo;
pub(super) mod doctor;
pub(super) mod init;
pub(super) mod manual;
pub(super) mod serve;
