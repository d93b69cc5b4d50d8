//! `sluicegate schema`, `completions` and `man`, and the installation of the program.

mod completions;
#[cfg(unix)]
mod installer;
#[cfg(unix)]
mod release_files;
mod schema_help_man;
mod schemas;
