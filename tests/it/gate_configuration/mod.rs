//! Changes to the gate configuration are reported, and unusable files of it fail the change.

mod changes;
mod hidden_gate_configuration;
mod linked_files;
mod links;
mod named_files;
mod pushes;
mod unusable_files;
