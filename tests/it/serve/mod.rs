//! `sluicegate serve` as a process.

mod killed_server;
mod server_process;
