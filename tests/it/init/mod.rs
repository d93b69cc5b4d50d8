//! `sluicegate init`.

mod adoption;
mod jobs_and_configuration;
mod signed_job;
