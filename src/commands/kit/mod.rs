//! What every command uses: the client, how results and failures are shown, signals.

pub(super) mod client;
pub(super) mod failure;
pub(super) mod named_file;
pub(super) mod output;
pub(super) mod published;
pub(super) mod resource;
pub(super) mod signals;
pub(super) mod table;
