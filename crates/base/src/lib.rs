//! Helpers that several packages of sluicegate use. Nothing here knows pipelines, reviews or git, and nothing reads the
//! environment or uses the network.
//!
//! Begin with [`text`]: it makes untrusted text safe to show. [`input`] reads files up to a size limit, [`overlap`]
//! reads while other threads compute. [`mutex_lock`] locks shared values. [`file_defect`],
//! [`duplicate_key`], [`named_fields`] and [`unexpanded_value`] find misleading content: a file that git did not check
//! out, JSON with two meanings, an array in place of an object, a variable that was not replaced. [`globs`] matches
//! paths. [`remote_url`] compares the addresses of repositories. [`redaction`] removes secrets. [`address`] is the
//! address of the project. [`mod@words`] defines the names of an enum's values in one list.

pub mod text;

pub mod input;
pub mod mutex_lock;
pub mod overlap;

pub mod duplicate_key;
pub mod file_defect;
pub mod named_fields;
pub mod unexpanded_value;

pub mod address;
pub mod globs;
pub mod redaction;
pub mod remote_url;
pub mod words;

mod secret_search;
