//! Evaluates the commit of the event, whatever the job checked out or changed on disk.

mod damaged_objects;
mod foreign_owner;
mod git_attributes;
mod jenkins_merges;
mod modified_files;
mod other_commits;
mod partial_clones;
mod planted_objects;
mod unusual_repositories;
