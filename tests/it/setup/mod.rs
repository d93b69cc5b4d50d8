//! `sluicegate schema`, `completions` and `man`, and the installation of the program.

#[cfg(unix)]
mod installer;
#[cfg(unix)]
mod release_files;
mod schema_completions_man;
mod schemas;
